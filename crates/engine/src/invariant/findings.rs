//! What is found of one function: facts by class, churns between classes, and questions that stayed open.

use crate::interp::FinalObject;
use crate::invariant::change::cell::CellChange;
use crate::invariant::fact::Fact;
use crate::invariant::obligation::properties::Property;
use crate::invariant::observable::Observable;
use crate::invariant::point::Point;
use crate::invariant::witness::attribution::CauseLines;
use crate::invariant::witness::reached;
use crate::invariant::witness::runs::Run;
use crate::ir::TermId;
use crate::mvicfg::VersionSet;
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
    pub from: usize,
    pub to: usize,
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

/// A question that stayed open.
pub struct Undecided {
    pub text: String,
    pub reason: String,
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
    pub refuted: BTreeMap<String, VersionSet>,
    /// Which classes come here.
    pub reached: reached::ByClass,
    /// Texts of facts that were asked for by a template: they are told whatever else says the same.
    pub asked: BTreeSet<String>,
    /// Texts of the templates whose places are all there.
    pub applied: BTreeSet<String>,
    /// Of a function whose own text stays, something is not known to be the same; no run shows a difference.
    pub silent: bool,
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

/// Facts of a subject in one class, with what they rest on.
#[derive(Clone, Default)]
pub(super) struct Side {
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
    pub fn nothing(reason: String) -> FunctionDiff {
        let undecided = vec![Undecided { text: "all facts".into(), reason }];
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
