//! Consolidation: from values per class to version invariants and churns (Invariant Diffs, Algorithm
//! 1, lines 13 and 14).
//!
//! A subject whose term is the same in several classes gives a fact of all of them. Where two
//! consecutive classes differ, a concrete run that shows the difference decides; then the solver;
//! what neither settles is said to be undecided.

use crate::cost;
use crate::interp::{FinalObject, Program};
use crate::invariant::candidate::quantity::Quantity;
use crate::invariant::change::cell::CellChange;
use crate::invariant::change::events::{drop_long, undefined_fact};
use crate::invariant::fact::Fact;
use crate::invariant::obligation::properties::{self, PinnedFact, Property};
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::{Kind, Point};
use crate::invariant::proof::abstraction;
use crate::invariant::proof::callees::Site;
use crate::invariant::proof::defined;
use crate::invariant::proof::inductive::Inductive;
use crate::invariant::proof::precondition::Precondition;
use crate::invariant::proof::separation::{LoopFrames, Regions};
use crate::invariant::proof::summary::{Summaries, Summary};
use crate::invariant::witness::attribution::CauseLines;
use crate::invariant::witness::inputs;
use crate::invariant::witness::reached;
use crate::invariant::witness::relaid;
use crate::invariant::witness::runs::{self, Budget, Difference, Run, RunCache};
use crate::invariant::witness::selection::Moves;
use crate::ir::{CType, Sort, TermId, Unit};
use crate::mvicfg::{Flow, MvId, Mvicfg, VersionSet};
use crate::semantics::c_text::Naming;
use crate::semantics::{Callees, Evaluator, Lines, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// What is asked of one function.
pub struct Task<'a> {
    pub graph: &'a Mvicfg,
    /// Pairs of classes of consecutive versions that differ.
    pub pairs: Vec<(usize, usize)>,
    /// For each pair, whether the function's own text differs, and not only a callee's.
    pub own: Vec<bool>,
    /// For each pair, whether objects that the function rests on begin with other values: then equal terms
    /// are no equal values.
    pub begins: Vec<bool>,
    /// The unit of each class, for names and types.
    pub units: Vec<Arc<Unit>>,
    /// The program of each class, for runs; the function's name in it is that of the body.
    pub programs: Vec<Arc<Program>>,
    /// Runs of these programs so far.
    pub kept: &'a RunCache,
    /// Facts that are to hold at the exit.
    pub pins: Vec<PinnedFact>,
    /// Conditions at the entry that callers see to, as the project says; properties are judged under them.
    pub requires: Vec<PinnedFact>,
    pub callees: &'a dyn Callees,
    pub summaries: &'a dyn Summaries,
    /// By class: what all callers see to, where they are known.
    pub given: Vec<Precondition>,
    pub pointer_bits: u16,
    pub points: Points,
    pub options: Options,
}

impl Task<'_> {
    /// Concrete runs of two classes on the same inputs.
    pub(super) fn runs(&self, from: usize, to: usize) -> Rc<Vec<Run>> {
        let entry = (&*self.graph.bodies[from].name, &*self.graph.bodies[to].name);
        self.kept.of(&self.programs[from], &self.programs[to], entry, self.options.budget)
    }
}

impl Task<'_> {
    /// What the small questions about the function may cost, beyond what was spent on it.
    fn allowance(&self) -> smt::Allowance {
        smt::Allowance::new(&self.kept.spending, self.share_of(LEMMAS))
    }

    /// Whether the function itself changed, or is looked at for its own sake; else only its callees did.
    pub(super) fn is_own(&self) -> bool {
        self.pairs.is_empty() || self.own.contains(&true)
    }

    /// What so many questions may cost that reach their limit, in a large graph fewer.
    fn share_of(&self, lemmas: u64) -> u64 {
        let nodes = (self.graph.nodes.len() as u64).max(1);
        let fewer = (lemmas * PLAIN_NODES / nodes).clamp(LEAST_LEMMAS, lemmas);
        self.options.rlimit / LEMMA_SHARE * fewer
    }
}

/// At which points facts are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    pub exit: bool,
    pub entry: bool,
    pub loops: Loops,
    /// Lines of the newest body.
    pub lines: Vec<u32>,
}

/// Whether facts at loop heads are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loops {
    No,
    /// Where the exit does not tell of a change.
    #[default]
    WhereUntold,
    Yes,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub rlimit: u64,
    /// Iterations of loops that nothing else settles.
    pub unroll: u32,
    /// Locals and their relations, too, where observables tell of the change already.
    pub all: bool,
    /// Pointers may lead to the same bytes, indices out of their arrays; otherwise that they do not is
    /// assumed where it matters, and listed.
    pub aliases: bool,
    pub budget: Budget,
}

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
    /// Which classes come here.
    pub reached: reached::ByClass,
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

/// Nodes of the largest graph that is analysed.
pub(super) const MAX_NODES: usize = 6000;

/// How often Z3 is asked about float arithmetic for one function; each question costs seconds.
const FLOAT_QUESTIONS: u32 = 1;

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

/// A question about a candidate may cost this part of a query's limit: there are many, and one that
/// is hard to prove is seldom one that a person would state.
const LEMMA_SHARE: u64 = 8;
/// All these questions together may cost as much as so many that reach their limit, in a graph of so many
/// nodes; in larger ones less, where Z3 seldom settles one, but not less than the third number.
const LEMMAS: u64 = 32;
const PLAIN_NODES: u64 = 45;
const LEAST_LEMMAS: u64 = 2;
/// The same of those about elements of arrays.
const ELEMENTS: u64 = 12;

/// Analyses one function.
pub fn diff_function(task: &Task) -> FunctionDiff {
    let _room = cost::enter(cost::Room::Invariant);
    let flow = Flow::new(task.graph);
    let nodes_total = task.graph.nodes.len() as u64;
    let too_large = task.graph.nodes.len() > MAX_NODES;
    if too_large || flow.classes.iter().any(|c| c.irreducible) {
        let reason = match too_large {
            true => format!("more than {MAX_NODES} instructions with callees and unrolled loops"),
            false => "irreducible control flow (a loop with several entries)".into(),
        };
        let properties = if task.points.exit { properties::check(task, None) } else { Vec::new() };
        let points = match task.points.exit && task.is_own() {
            true => vec![FunctionAnalysis::new(task, &flow).shown_by_runs(&reason)],
            false => FunctionDiff::nothing(reason).points,
        };
        return FunctionDiff { nodes_total, properties, points, ..FunctionDiff::default() };
    }
    let allowance = task.allowance();
    let mut engine = FunctionAnalysis::new(task, &flow);
    let points = engine.points();
    let properties = if task.points.exit { properties::check(task, Some(&mut engine)) } else { Vec::new() };
    FunctionDiff {
        points,
        properties,
        nodes_visited: engine.nodes_visited + engine.e.statistics.nodes_visited,
        nodes_total,
        cut_short: allowance.is_spent(),
        solver_queries: engine.solver_queries
            + engine.solver.solver().statistics().queries
            + engine.lemmas.solver().statistics().queries
            + engine.large.solver().statistics().queries
            + engine.elements.solver().statistics().queries
            + engine.recursions.as_ref().map_or(0, |d| d.solver().statistics().queries),
    }
}

/// Answer of the solver to whether two sides are equal.
enum Equality {
    Equal,
    /// With the replayed model, when it could be made an input.
    Differ(Option<Box<Run>>),
    /// With the reason.
    Open(&'static str),
}

/// What became of the question whether a subject changes between two classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    Reported,
    Open,
}

pub(super) struct FunctionAnalysis<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) e: Evaluator<'a>,
    pub(super) solver: smt::Decider,
    /// Decides the many small questions of candidates and inductions.
    pub(super) lemmas: smt::Decider,
    /// Decides those of them whose conditions are large (`relevance.rs`).
    pub(super) large: smt::Decider,
    /// Decides those about elements of arrays, which others must not keep from being asked.
    pub(super) elements: smt::Decider,
    /// Decides what is kept from call to call, once there is something to decide.
    pub(super) recursions: Option<smt::Decider>,
    /// Work of further evaluators and solvers.
    pub(super) nodes_visited: u64,
    pub(super) solver_queries: u64,
    /// Names of values at the exit, by class.
    pub(super) namings: Vec<Naming<'a>>,
    /// Pairs of classes whose memories differ in nothing but what cells tell.
    pub(super) settled_memory: BTreeSet<(usize, usize)>,
    /// What was found at the point in question.
    pub(super) diff: PointDiff,
    pub(super) inductive: Option<Inductive>,
    /// What candidates speak of beside the result and variables, by name.
    pub(super) quantities: BTreeMap<String, Quantity>,
    /// What proofs about elements of arrays took for granted so far.
    pub(super) elements_assumed: BTreeSet<String>,
    /// By class: see [`FunctionAnalysis::separated`].
    pub(super) known_regions: BTreeMap<usize, Rc<Regions>>,
    /// By class: what its loops write.
    pub(super) loop_frames: BTreeMap<usize, Rc<LoopFrames>>,
    /// By class: places that are only read or also written, by address, bytes and sort.
    pub(super) accessed: BTreeMap<usize, Vec<(bool, TermId, u64, Sort)>>,
    /// By class: see [`FunctionAnalysis::branch_terms`].
    pub(super) branch_terms: BTreeMap<usize, Rc<Vec<TermId>>>,
    /// By class: see [`FunctionAnalysis::defined`].
    pub(super) defined: BTreeMap<usize, TermId>,
    /// By class: calls whose results are used.
    pub(super) sites: BTreeMap<usize, Rc<Vec<Site>>>,
    /// By class: what holds of the function's own calls, once it was looked for.
    pub(super) own: BTreeMap<usize, Option<Arc<Summary>>>,
    /// See [`FunctionAnalysis::calls_before`].
    pub(super) call_facts: BTreeMap<(usize, MvId, bool, bool), TermId>,
    /// See [`crate::invariant::witness::selection::Moves`].
    pub(super) moves: Moves,
    /// Structures lie otherwise in some class than in another: addresses of two classes are not compared, and
    /// what facts of memory have in common is what they say.
    pub(super) relaid: bool,
    /// Texts that were compared so.
    pub(super) said: BTreeSet<String>,
}

impl<'a> FunctionAnalysis<'a> {
    /// Prepares the analysis of one function.
    pub(super) fn new(task: &'a Task<'a>, flow: &'a Flow) -> FunctionAnalysis<'a> {
        let limits = smt::Limits { rlimit: task.options.rlimit, pointer_bits: task.pointer_bits };
        let small = smt::Limits { rlimit: task.options.rlimit / LEMMA_SHARE, ..limits };
        let allowance = task.allowance();
        let elements = smt::Allowance::new(&Rc::default(), task.share_of(ELEMENTS));
        let lemmas = || smt::Decider::new(small, 0).sharing(allowance.clone());
        FunctionAnalysis {
            task,
            e: Evaluator::new(task.graph, flow, task.callees, task.pointer_bits),
            solver: smt::Decider::new(limits, FLOAT_QUESTIONS),
            lemmas: lemmas(),
            large: lemmas(),
            elements: smt::Decider::new(small, 0).sharing(elements),
            recursions: None,
            nodes_visited: 0,
            solver_queries: 0,
            namings: Vec::new(),
            settled_memory: BTreeSet::new(),
            diff: PointDiff::default(),
            inductive: None,
            quantities: BTreeMap::new(),
            elements_assumed: BTreeSet::new(),
            known_regions: BTreeMap::new(),
            loop_frames: BTreeMap::new(),
            accessed: BTreeMap::new(),
            branch_terms: BTreeMap::new(),
            defined: BTreeMap::new(),
            sites: BTreeMap::new(),
            own: BTreeMap::new(),
            call_facts: BTreeMap::new(),
            moves: Moves::default(),
            relaid: relaid::is_relaid(task),
            said: BTreeSet::new(),
        }
    }

    /// Analyses the points that are asked for.
    fn points(&mut self) -> Vec<PointDiff> {
        let mut found = Vec::new();
        let wanted = self.task.points.clone();
        if wanted.exit {
            found.push(self.point(Point::exit(self.task.graph)));
        }
        // A caller need not know what the loops do when it sees what they did.
        let told = |&(from, to): &(usize, usize)| {
            found
                .iter()
                .flat_map(|p| &p.churns)
                .any(|c| (c.from, c.to) == (from, to) && c.subject.is_observable())
        };
        let loops = match wanted.loops {
            Loops::No => false,
            Loops::WhereUntold => !self.task.pairs.iter().all(told),
            Loops::Yes => true,
        };
        let mut others = Vec::new();
        if wanted.entry {
            others.push(Point::entry(self.task.graph));
        }
        if loops {
            others.extend(self.loops_by_line());
        }
        others.extend(wanted.lines.iter().filter_map(|&line| Point::line(&self.e, line)));
        for point in others {
            found.push(self.point(point));
        }
        found
    }

    /// Analyses one point.
    fn point(&mut self, point: Point) -> PointDiff {
        let values = point.kind != Kind::Loop || self.task.options.all;
        self.diff = PointDiff { point, ..PointDiff::default() };
        self.namings = self.name_values();
        let watched = self.task.programs.iter().any(|p| p.is_watched_at_exit());
        let program = self.task.graph.bodies.iter().all(|b| &*b.name == "main") && !watched;
        for subject in observable::at(self.task.graph, self.diff.point.kind) {
            if !values {
                break;
            }
            if subject == Observable::Memory {
                // Nobody sees the memory of a program that has ended.
                if program {
                    continue;
                }
                self.cells();
            }
            self.subject(&subject);
        }
        if watched && self.diff.point.kind == Kind::Exit {
            self.memory_at_ends();
        }
        if self.task.is_own() {
            self.relations();
            if self.diff.point.kind == Kind::Exit {
                self.relations_through_calls();
                self.peeled_cases();
                self.outcomes();
                self.members_of_results();
                self.series();
                self.lengths();
                self.calls();
                self.typestates();
            }
        }
        self.keep_comparable();
        self.tell_what_is_reached();
        std::mem::take(&mut self.diff)
    }

    /// Compares a subject in all pairs of classes, and keeps what classes share of it.
    pub(super) fn subject(&mut self, subject: &Observable) -> Vec<((usize, usize), Verdict)> {
        let sides = self.sides(subject);
        let mut verdicts = Vec::new();
        for &(from, to) in &self.task.pairs.clone() {
            if *subject == Observable::Result && self.returns_nothing(from) != self.returns_nothing(to) {
                let reason = "only one of the versions returns a value";
                verdicts.push(((from, to), self.undecided(subject, from, to, reason)));
            }
            let (Some(a), Some(b)) = (sides.get(&from), sides.get(&to)) else { continue };
            let told = match subject {
                Observable::Memory => self.settled_memory.contains(&(from, to)),
                _ => !subject.is_observable() && !self.task.options.all && self.is_told(from, to),
            };
            let begins = subject.is_observable() && self.begins(from, to) || self.is_hooked(from, to);
            if (self.say_other(a, b) || a.unknown || b.unknown || begins)
                && !told
                && (self.is_own(from, to) || subject.is_observable())
            {
                verdicts.push(((from, to), self.compare(subject, from, to, a, b)));
            }
        }
        self.invariants(&sides);
        self.shared_cases(subject, &sides);
        verdicts
    }

    fn returns_nothing(&self, class: usize) -> bool {
        matches!(self.task.graph.bodies[class].ret, CType::Void)
    }

    /// Whether the function's own text differs between two classes. Where only a callee's does, a
    /// difference is worth a word when an input shows it.
    pub(super) fn is_own(&self, from: usize, to: usize) -> bool {
        let pairs = self.task.pairs.iter().zip(&self.task.own);
        pairs.filter(|(p, _)| **p == (from, to)).all(|(_, own)| *own)
    }

    /// Whether objects that the function rests on begin with other values.
    fn begins(&self, from: usize, to: usize) -> bool {
        self.task.pairs.iter().zip(&self.task.begins).any(|(p, begins)| *p == (from, to) && *begins)
    }

    /// Whether an observable tells of the change between two classes.
    pub(super) fn is_told(&self, from: usize, to: usize) -> bool {
        self.diff.churns.iter().any(|c| (c.from, c.to) == (from, to) && c.subject.is_observable())
    }

    /// Facts that several classes share.
    fn invariants(&mut self, sides: &BTreeMap<usize, Side>) {
        let mut merged: Vec<(FactKey, Fact)> = Vec::new();
        for side in sides.values() {
            for (key, fact) in &side.facts {
                match merged.iter_mut().find(|m| self.is_same_fact(m, (key, fact))) {
                    Some((_, f)) => {
                        f.classes = f.classes.union(&fact.classes);
                        f.lines.extend(fact.lines.clone());
                        f.assumptions.extend(fact.assumptions.iter().cloned());
                        f.assumptions.sort();
                        f.assumptions.dedup();
                    }
                    None => merged.push((key.clone(), fact.clone())),
                }
            }
        }
        self.said.extend(merged.iter().filter(|_| self.relaid).map(|(_, f)| f.text().to_owned()));
        // Of a class without a defined execution every fact holds.
        let empty = self.undefined_classes();
        for (_, fact) in merged.iter_mut().filter(|_| !empty.is_empty()) {
            fact.classes = fact.classes.union(&empty);
            fact.assumptions.push(defined::ASSUMPTION.into());
            fact.assumptions.sort();
        }
        // That all versions leave a place as it was is no news.
        let all = self.task.options.all;
        let unchanged =
            |f: &Fact| !all && f.variables.iter().any(|v| f.text() == format!("{v} == \\old({v})"));
        self.diff.invariants.extend(merged.into_iter().map(|(_, f)| f).filter(|f| !unchanged(f)));
    }

    /// Facts of a subject in every class.
    pub(super) fn sides(&mut self, subject: &Observable) -> BTreeMap<usize, Side> {
        let all = self.task.graph.all_classes();
        match subject {
            Observable::Ends => all.iter().map(|c| (c, self.ends_of(c))).collect(),
            _ => {
                let mut sides = BTreeMap::new();
                let point = self.diff.point.clone();
                for (set, val) in observable::values_at(&mut self.e, subject, &point, &all) {
                    for c in set.iter() {
                        let side = self.side(subject, c, &val);
                        sides.insert(c, side);
                    }
                }
                if *subject == Observable::Output {
                    all.iter().for_each(|c| self.add_output_at_ends(c, &mut sides));
                }
                sides
            }
        }
    }

    fn side(&mut self, subject: &Observable, class: usize, val: &Val) -> Side {
        let term = val.term;
        let causes = match subject {
            Observable::Cell { address, .. } => self.cell_causes(class, *address, val),
            _ => val.causes.clone(),
        };
        let val = &Val { causes, ..val.clone() };
        let unknown = self.e.rests_on_havoc(term);
        let empty = self.undefined_classes().contains(class);
        let mut side = Side {
            key: vec![term],
            facts: Vec::new(),
            causes: val.causes.clone(),
            guards: val.guards.clone(),
            unknown,
        };
        // Output is judged case by case.
        let open = *subject != Observable::Output && {
            let shown = self.defined_value(class, term);
            self.e.rests_on_indeterminate(shown)
        };
        if unknown || open || empty {
            return side;
        }
        side.facts = match subject {
            Observable::Output => self.output_facts(class, val),
            Observable::Memory => Vec::new(),
            _ => self.value_facts(subject, class, val),
        };
        side
    }

    /// Decides how a subject differs between two classes, and reports it.
    pub(super) fn compare(
        &mut self,
        subject: &Observable,
        from: usize,
        to: usize,
        a: &Side,
        b: &Side,
    ) -> Verdict {
        let graph = self.task.graph;
        let runs = self.task.runs(from, to);
        let mut found = match (subject, self.diff.point.kind) {
            (_, Kind::Exit) => self.witness(&runs, subject, from, to),
            (Observable::Variable { .. }, _) => {
                self.differing_run(&subject.key(), from, to).map(|r| (r, Difference::Defined))
            }
            _ => None,
        };
        if found.is_none() {
            if a.key == b.key && !a.unknown && !b.unknown {
                return Verdict::Same;
            }
            if !self.is_own(from, to) {
                self.diff.silent = true;
                return Verdict::Open;
            }
            if a.unknown || b.unknown {
                let reason = match self.e.is_exhausted() {
                    true => "the function's values grow beyond the limit of terms",
                    false => "an effect that is not modelled takes part",
                };
                return self.undecided(subject, from, to, reason);
            }
            if let ([ta], [tb]) = (a.key.as_slice(), b.key.as_slice())
                && self.e.pool.sort(*ta) != self.e.pool.sort(*tb)
            {
                let reason = "its type changes, and no input shows a difference";
                return self.undecided(subject, from, to, reason);
            }
            // That there is one end more or less is told as such.
            let more_ends = a.key.len() != b.key.len() && a.key.first() == b.key.first();
            if *subject == Observable::Output && more_ends {
                return Verdict::Open;
            }
            if self.relaid {
                return self.undecided(subject, from, to, relaid::REASON);
            }
            match self.equal(subject, from, to, a, b) {
                Equality::Equal => return Verdict::Same,
                Equality::Differ(run) => {
                    found = run.and_then(|r| self.witness(&[*r], subject, from, to));
                }
                Equality::Open(reason) => {
                    return self.undecided(subject, from, to, reason);
                }
            }
        }
        // An undefined event is one difference, whatever it keeps from being seen.
        let told_already = |c: &Churn| (c.from, c.to) == (from, to) && c.claim == Claim::DiffersUnderUb;
        if matches!(found, Some((_, Difference::Undefined))) && self.diff.churns.iter().any(told_already) {
            return Verdict::Reported;
        }
        let not_in = |side: &Side, other: &Side| -> Vec<Fact> {
            let facts =
                side.facts.iter().filter(|(k, f)| !other.facts.iter().any(|o| self.is_same_fact(o, (k, f))));
            facts.map(|(_, f)| f.clone()).collect()
        };
        let (mut removed, mut added) = (not_in(a, b), not_in(b, a));
        if matches!(subject, Observable::Output | Observable::Ends) && !self.task.options.all {
            drop_long(&mut removed, &mut added);
        }
        if removed.is_empty() && added.is_empty() {
            (removed, added) = self.cases_of_change(subject, (from, to), (a, b), found.as_ref());
        }
        let claim = match &found {
            Some((run, Difference::Undefined)) => {
                // The event stands on the side of the version that meets it.
                let events = undefined_fact(run, from, to, &graph.bodies[to].name, &self.task.units);
                if matches!(run.old.end, crate::interp::End::Undefined { .. }) {
                    removed = events;
                } else {
                    added = events;
                }
                Claim::DiffersUnderUb
            }
            Some(_) if removed.is_empty() && added.is_empty() => Claim::Changed,
            Some(_) if removed.is_empty() => Claim::NowHolds,
            Some(_) if added.is_empty() => Claim::NoLongerHolds,
            Some(_) => Claim::Changed,
            None => Claim::NoLongerProvable,
        };
        let texts = |facts: &[Fact]| facts.iter().map(|f| f.text().to_owned()).collect::<Vec<_>>();
        if found.is_none() && (removed.is_empty() || texts(&removed) == texts(&added)) {
            let reason = "the values differ in form, and no input shows a difference";
            return self.undecided(subject, from, to, reason);
        }
        let witness = found.as_ref().map(|(r, _)| r.clone());
        let causes = match &found {
            Some((run, Difference::Undefined)) => {
                let (a, b) = (self.with_event(from, &run.old, a), self.with_event(to, &run.new, b));
                self.causes_of_change((from, to), (&a, &b), witness.as_ref())
            }
            _ => self.causes_of_change((from, to), (a, b), witness.as_ref()),
        };
        let objects = match subject {
            Observable::Memory => witness.as_ref().and_then(|r| self.changed_object(r, from, to)),
            _ => None,
        };
        let cell = witness.as_ref().and_then(|r| self.cell_change(r, subject, from, to));
        self.diff.churns.push(Churn {
            from,
            to,
            subject: subject.clone(),
            removed,
            added,
            claim,
            causes,
            witness,
            cell,
            objects,
        });
        Verdict::Reported
    }

    pub(super) fn lines(&self, causes: &Lines, class: usize) -> Vec<u32> {
        let graph = self.task.graph;
        let nodes = causes.iter().filter(|&n| graph.nodes[n].classes.contains(class));
        let mut lines: Vec<u32> = nodes.map(|n| graph.line(n as MvId, class)).filter(|&l| l > 0).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Asks the solver whether a subject is equal on all inputs that reach the exit in both classes.
    /// A model is replayed.
    fn equal(&mut self, subject: &Observable, from: usize, to: usize, a: &Side, b: &Side) -> Equality {
        let mut pairs = a.key.iter().zip(&b.key).enumerate().filter(|(_, (x, y))| x != y);
        let (Some((at, (&ta, &tb))), None) = (pairs.next(), pairs.next()) else {
            return Equality::Differ(None);
        };
        if a.key.len() != b.key.len() || self.e.pool.sort(ta) != self.e.pool.sort(tb) {
            return Equality::Differ(None);
        }
        if self.e.pool.sort(ta) == Sort::Mem {
            // Equality of whole memories is beyond the solver; their parts are other questions.
            return Equality::Open("whether memory is the same as a whole is not asked");
        }
        let mut under = self.e.pool.bool(true);
        // The first value is the exit's, the others are those of other ends.
        for c in [from, to].into_iter().filter(|_| *subject != Observable::Ends) {
            let ends = observable::abnormal_ends(&self.e, c);
            let node = at.checked_sub(1).and_then(|i| ends.get(i)).copied().unwrap_or(Mvicfg::EXIT);
            for (_, v) in self.e.reach_from_entry(node, &VersionSet::single(c)) {
                under = self.e.pool.and(under, v.term);
            }
        }
        match self.solver.equal(&mut self.e.pool, ta, tb, under) {
            smt::Decision::Equal => Equality::Equal,
            smt::Decision::Differ(model) => {
                let graph = self.task.graph;
                let input = inputs::from_model(&self.e.pool, &model, &[ta, tb, under], &graph.bodies[to]);
                let entry = (&*graph.bodies[from].name, &*graph.bodies[to].name);
                let run = runs::replay(&self.task.programs[from], &self.task.programs[to], entry, input);
                Equality::Differ(Some(Box::new(run)))
            }
            smt::Decision::Open { reason } => Equality::Open(match reason {
                "too many multiplications" => "it has too many multiplications for the solver",
                "too many accesses of memory" => "it has too many accesses of memory for the solver",
                "float-questions" => "the solver is not asked again about real numbers",
                _ => "the solver did not decide within its limit",
            }),
        }
    }

    fn undecided(&mut self, subject: &Observable, from: usize, to: usize, reason: &str) -> Verdict {
        // Of locals nothing is asked but what can be answered, and cells are asked about as memory.
        // Where a cell tells of a change, what else there may be in memory is not asked.
        let cells_tell =
            |c: &Churn| (c.from, c.to) == (from, to) && matches!(c.subject, Observable::Cell { .. });
        let told = *subject == Observable::Memory && self.diff.churns.iter().any(cells_tell);
        if subject.is_observable() && !matches!(subject, Observable::Cell { .. }) && !told {
            self.diff.undecided.push(Undecided { text: subject.name(), reason: reason.into() });
        }
        Verdict::Open
    }

    /// The term under the assumption that input is well formed.
    pub(super) fn shown(&mut self, class: usize, term: TermId) -> TermId {
        let unchecked = &self.e.unchecked;
        let taken = |t: TermId| unchecked.get(&t).is_some_and(|set| set.contains(class));
        abstraction::well_formed(&mut self.e.pool, term, &taken)
    }

    pub(super) fn assumptions(&self, exact: TermId, shown: TermId) -> Vec<String> {
        if exact == shown { Vec::new() } else { vec!["stdin-well-formed".into()] }
    }
}
