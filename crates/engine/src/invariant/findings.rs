//! What is found of one function: facts by class, churns between classes, and questions that stayed open.

use crate::interp::{End, FinalObject, Outcome};
use crate::invariant::change::cell_value::CellChange;
use crate::invariant::fact::{Fact, Template};
use crate::invariant::obligation::property::Property;
use crate::invariant::observable::Observable;
use crate::invariant::point::Point;
use crate::invariant::witness::run::Run;
use crate::ir::TermId;
use crate::mvicfg::{ClassId, ClassSet};
use crate::semantics::Lines;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Why a churn may say what it says (contract, `claim`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    NoLongerHolds,
    NoLongerProvable,
    NowHolds,
    Changed,
    DiffersUnderUb,
}

/// A change of a subject's facts between two classes.
pub struct Churn {
    pub from: ClassId,
    pub to: ClassId,
    pub subject: Observable,
    pub removed: Vec<Fact>,
    pub added: Vec<Fact>,
    pub claim: Claim,
    pub causes: CauseLines,
    pub witness: Option<Run>,
    /// For a cell: its values in the witness.
    pub cell: Option<CellChange>,
    /// For memory: the first object that differs at the end of the witness, in both runs.
    pub objects: Option<(FinalObject, FinalObject)>,
}

/// Lines that a change comes from.
#[derive(Clone, Debug, Default)]
pub struct CauseLines {
    /// Of the older class alone.
    pub removed: Vec<u32>,
    /// Of the newer class alone.
    pub added: Vec<u32>,
    /// Of the newer class, on which both rest.
    pub shared: Vec<u32>,
    /// The lines of each side that the run comes to that shows it, if one does. Where the terms do not say
    /// what a change comes from, others have no part in it.
    pub ran: Option<[BTreeSet<u32>; 2]>,
}

impl CauseLines {
    /// Whether some line belongs to one side alone.
    pub(in crate::invariant) fn is_one_sided(&self) -> bool {
        !(self.removed.is_empty() && self.added.is_empty())
    }
}

/// What an open question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenKind {
    /// A fact, or all of a function.
    #[default]
    Fact,
    /// Another difference than that of what the function does: which calls lead to it, how its types are laid out.
    AllRuns,
    /// Whether its loops end on the same inputs.
    Endings,
    /// A function that is larger than a first look takes.
    LeftOut,
    /// A function that was not begun when the work ended.
    NotBegun,
}

/// A question that stayed open.
pub struct Undecided {
    pub text: String,
    pub reason: String,
    pub kind: OpenKind,
}

impl Undecided {
    /// Of a fact, or of what the text names.
    pub fn fact(text: impl Into<String>, reason: impl Into<String>) -> Undecided {
        Undecided { text: text.into(), reason: reason.into(), kind: OpenKind::Fact }
    }

    /// Where another difference than that of what the function does may show.
    pub fn all_runs(kind: OpenKind, reason: impl Into<String>) -> Undecided {
        Undecided { text: "all runs".into(), reason: reason.into(), kind }
    }
}

/// All that was found at one point.
#[derive(Default)]
pub struct PointDiff {
    pub point: Point,
    pub invariants: Vec<Fact>,
    /// Names of places in memory that facts are about.
    pub cells: BTreeSet<String>,
    pub churns: Vec<Churn>,
    pub undecided: Vec<Undecided>,
    /// Facts that are no side of a churn, since no defined execution of their class comes here.
    pub unreached: Vec<Fact>,
    /// Classes in which a run breaks a fact that another class keeps, by the fact's text.
    pub refuted: BTreeMap<String, ClassSet>,
    /// Which classes come here.
    pub reached: ReachedByClass,
    /// Texts of facts that were asked for by a template: they are told whatever else says the same.
    pub asked: BTreeSet<String>,
    /// Texts of the templates whose places are all there.
    pub applied: BTreeSet<String>,
    /// Of a function whose own text stays, something is not known to be the same; no run shows a difference.
    pub silent: bool,
    /// Pairs of classes that do the same, and end on the same inputs.
    pub same: BTreeSet<(ClassId, ClassId)>,
}

/// What defined executions of a class do at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Some comes to the point.
    pub here: bool,
    /// Some ends, in whatever way; facts about how a function ends speak of these, too.
    pub ends: bool,
}

/// By class.
pub type ReachedByClass = BTreeMap<ClassId, Reached>;

impl Reached {
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.here |= outcome.end == End::Return;
        self.ends |= outcome.end.is_definite();
    }
}

/// Whether a fact speaks of executions that exist in a class; of what was not asked it does.
pub fn speaks_of(reached: &ReachedByClass, fact: &Fact, class: ClassId) -> bool {
    // What was done with a resource is said of all that happens, undefined or not.
    if fact.template == Template::Typestate {
        return true;
    }
    let of_ends = |v: &String| matches!(v.as_str(), "output" | "end" | "calls");
    let about_ends = !fact.variables.is_empty() && fact.variables.iter().all(of_ends);
    reached.get(&class).is_none_or(|r| r.here || about_ends && r.ends)
}

/// All that was found of a function.
#[derive(Default)]
pub struct FunctionDiff {
    /// The exit first.
    pub points: Vec<PointDiff>,
    pub nodes_visited: u64,
    pub nodes_total: u64,
    pub solver_queries: u64,
    pub properties: Vec<Property>,
    /// Not every fact was tried that the solver might have proved.
    pub cut_short: bool,
}

/// What became of the question whether a subject changes between two classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObservableVerdict {
    Same,
    Reported,
    Open,
}

/// Facts of a subject in one class, with what they rest on.
#[derive(Clone, Default)]
pub(super) struct ClassFacts {
    /// Identity of the subject's value: equal keys in two classes mean equal values.
    pub(super) key: Vec<TermId>,
    pub(super) facts: Vec<(FactKey, Fact)>,
    pub(super) causes: Rc<Lines>,
    pub(super) guards: Rc<Lines>,
    /// Nothing is known of the value.
    pub(super) unknown: bool,
}

/// What makes two facts of different classes the same fact.
pub(super) type FactKey = Vec<TermId>;

impl FunctionDiff {
    /// The answer when nothing could be decided.
    pub fn open(kind: OpenKind, reason: String) -> FunctionDiff {
        let undecided = vec![Undecided { kind, ..Undecided::fact("all facts", reason) }];
        FunctionDiff {
            points: vec![PointDiff { point: Point::unplaced_exit(), undecided, ..PointDiff::default() }],
            ..FunctionDiff::default()
        }
    }

    /// Adds what another look at the same function found.
    pub fn extend(&mut self, more: FunctionDiff) {
        self.points.extend(more.points);
        self.nodes_visited += more.nodes_visited;
        self.nodes_total += more.nodes_total;
        self.solver_queries += more.solver_queries;
        self.properties.extend(more.properties);
        self.cut_short |= more.cut_short;
    }

    /// Whether no question stayed open.
    pub fn is_decided(&self) -> bool {
        self.points.iter().all(|p| p.undecided.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_one_side_alone_is_a_cause() {
        let lines = |removed: &[u32], added: &[u32], shared: &[u32]| CauseLines {
            removed: removed.to_vec(),
            added: added.to_vec(),
            shared: shared.to_vec(),
            ran: None,
        };
        assert!(lines(&[3], &[], &[]).is_one_sided() && lines(&[], &[4], &[]).is_one_sided());
        assert!(!lines(&[], &[], &[5]).is_one_sided());
    }
}
