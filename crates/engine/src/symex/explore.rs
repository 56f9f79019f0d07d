//! The paths of a function, depth first, and the assertions that fail on some of them.
//!
//! Every state keeps an input that meets its path condition. At a branch the side that this input
//! takes needs no question; the other one is asked for. An assertion is checked alone: the question is
//! whether the path condition allows that it does not hold, and the path goes on as if it held no
//! matter what, so that one that fails hides none behind it.
//!
//! What is asked of an assertion on all its paths is one question, where [`Manner::Joined`] says so: whether some
//! path allows that it does not hold. Only what that leaves open is asked path by path.
//!
//! What becomes of a target does not depend on which others there are, as long as no limit is met.

use super::answers::{Answer, Questions};
use super::depend::Slice;
use super::known::Known;
use super::machine::{Machine, State, Step};
use super::site::{Region, Sites, stand_ins, substituted};
use crate::cost;
use crate::fact::Standing;
use crate::ir::eval::{Assignment, Program};
use crate::ir::{Function, NodeId, Op, TermId, TermPool, Unit};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Bounds of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Iterations of a loop.
    pub unroll: u32,
    pub queries: u64,
    pub paths: u64,
    /// Instructions of one path.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { unroll: 8, queries: 2_000, paths: 1_000, steps: 20_000 }
    }
}

/// How assertions are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// One question for all paths; what is known already is not counted.
    Joined,
    /// Path by path as they come, and every question is counted: plain symbolic execution.
    Plain,
}

/// Most paths that one question is about.
const MAX_JOINED: usize = 256;

/// What explorations cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Questions that were put to the solver.
    pub queries: u64,
    /// Paths that were followed to their ends.
    pub paths: u64,
    /// States behind decisions.
    pub states: u64,
}

/// Which paths are followed.
#[derive(Clone, Copy, Debug)]
pub enum Direction<'a> {
    All,
    /// From the first of these nodes on; a state from which none can be reached is left.
    Through(&'a BTreeSet<NodeId>),
    /// Up to the first of these nodes.
    Around(&'a BTreeSet<NodeId>),
}

/// An assertion to check, by what has to hold there over the stand-ins of [`Sites::formula`].
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub site: usize,
    pub holds: TermId,
}

/// What became of a target.
#[derive(Clone, Debug)]
pub struct Finding {
    pub verdict: Standing,
    /// An input that the target fails on, confirmed by the caller.
    pub model: Option<Assignment>,
}

/// An input on which an assertion seems to fail.
pub struct Suspicion<'a> {
    pub site: usize,
    pub pool: &'a TermPool,
    pub model: &'a Assignment,
    /// The path condition, and that the assertion does not hold.
    pub conditions: &'a [TermId],
}

/// Explores one function.
pub struct Explorer<'a, 'k> {
    pub f: &'a Function,
    pub unit: &'a Unit,
    pub sites: &'a Sites,
    pub pool: &'a mut TermPool,
    pub questions: &'a mut Questions<'k>,
    pub manner: Manner,
    /// Decisions outside of it are passed over; `None`: each counts.
    pub slice: Option<&'a Slice>,
    pub limits: Limits,
    /// What holds at the entry.
    pub requires: &'a [TermId],
    pub counts: Counts,
    /// Questions towards the limit, whether the answer was known before or not.
    pub asked: u64,
}

/// A path in the making.
#[derive(Clone)]
struct Path {
    state: State,
    conditions: Vec<TermId>,
    /// Meets the conditions.
    model: Option<Assignment>,
    visits: BTreeMap<NodeId, u32>,
    steps: u64,
    /// One of the nodes of the direction was passed.
    passed: bool,
}

/// What is left of one call of [`Explorer::check`].
struct Search<'t> {
    targets: &'t [Target],
    findings: Vec<Finding>,
    direction: Direction<'t>,
    /// Nodes from which one of the direction's can be reached.
    leads: Vec<bool>,
    /// Nodes from which an open target can be reached.
    useful: Vec<bool>,
    /// By target: nodes from which it can be reached.
    before: Vec<Vec<bool>>,
    /// By target: under which conditions over the inputs it does not hold, one a path, where that is still to be
    /// asked.
    pending: Vec<Vec<TermId>>,
}

impl Search<'_> {
    /// Paths end at a node without their ends being known.
    fn cut_at(&mut self, node: NodeId) {
        for (finding, before) in self.findings.iter_mut().zip(&self.before) {
            if finding.verdict == Standing::Holds && before[node.0 as usize] {
                finding.verdict = Standing::Open;
            }
        }
    }

    fn leave_open(&mut self, k: usize) {
        if self.findings[k].verdict == Standing::Holds {
            self.findings[k].verdict = Standing::Open;
        }
    }
}

impl Explorer<'_, '_> {
    /// Checks targets on the paths of a direction. `confirm` says whether a suspicion is a failure;
    /// what it does not confirm leaves the target open. A target that has failed is not looked at again.
    pub fn check(
        &mut self,
        targets: &[Target],
        direction: Direction,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
    ) -> Vec<Finding> {
        let _room = cost::enter(cost::Room::Symex);
        let fresh = Finding { verdict: Standing::Holds, model: None };
        let leads = match direction {
            Direction::Through(nodes) => self.leading_to(nodes),
            _ => vec![true; self.f.nodes.len()],
        };
        let mut search = Search {
            targets,
            findings: vec![fresh; targets.len()],
            direction,
            leads,
            useful: Vec::new(),
            before: targets.iter().map(|t| self.before(t.site)).collect(),
            pending: vec![Vec::new(); targets.len()],
        };
        search.useful = self.useful(&search);
        let machine = Machine { f: self.f, unit: self.unit };
        let state = machine.entry(self.pool);
        let mut start = Path {
            state,
            conditions: Vec::new(),
            model: Some(Assignment::new()),
            visits: BTreeMap::new(),
            steps: 0,
            passed: false,
        };
        let mut work = Vec::new();
        let all = self.requires.iter().fold(self.pool.bool(true), |all, r| self.pool.and(all, *r));
        if self.assume(&mut start, all) && !targets.is_empty() {
            work.push(start);
        }
        while let Some(path) = work.pop() {
            if self.asked >= self.limits.queries || self.counts.paths >= self.limits.paths {
                (0..targets.len()).for_each(|k| search.leave_open(k));
                break;
            }
            self.follow(path, &mut search, confirm, &mut work);
            if search.findings.iter().all(|f| f.verdict == Standing::Fails) {
                break;
            }
        }
        (0..targets.len()).for_each(|k| self.settle(k, &mut search, confirm));
        search.findings
    }

    /// Nodes from which an assertion can be reached.
    fn before(&self, site: usize) -> Vec<bool> {
        let regions = self.sites.regions.iter().filter(|r| r.site == site);
        self.leading_to(&regions.map(|r| r.entry).collect())
    }

    /// Nodes from which one of some nodes can be reached, these included.
    fn leading_to(&self, nodes: &BTreeSet<NodeId>) -> Vec<bool> {
        let preds = self.f.preds();
        let mut leads = vec![false; self.f.nodes.len()];
        let mut work: Vec<NodeId> = nodes.iter().copied().collect();
        while let Some(n) = work.pop() {
            if !std::mem::replace(&mut leads[n.0 as usize], true) {
                work.extend(&preds[n.0 as usize]);
            }
        }
        leads
    }

    fn useful(&self, search: &Search) -> Vec<bool> {
        let open = |site: usize| {
            let of = search.targets.iter().zip(&search.findings).filter(|(t, _)| t.site == site);
            of.into_iter().any(|(_, f)| f.verdict != Standing::Fails)
        };
        let regions = self.sites.regions.iter().filter(|r| open(r.site));
        self.leading_to(&regions.map(|r| r.entry).collect())
    }

    /// Follows a path to its next decision; what comes behind it is put on `work`.
    fn follow(
        &mut self,
        mut path: Path,
        search: &mut Search,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
        work: &mut Vec<Path>,
    ) {
        let machine = Machine { f: self.f, unit: self.unit };
        loop {
            let node = path.state.node;
            path.steps += 1;
            if path.steps > self.limits.steps {
                search.cut_at(node);
                return;
            }
            match search.direction {
                Direction::Through(nodes) => path.passed |= nodes.contains(&node),
                Direction::Around(nodes) if nodes.contains(&node) => return,
                _ => {}
            }
            let sites = self.sites;
            if let Some(region) = sites.at(node) {
                if !matches!(search.direction, Direction::Through(_)) || path.passed {
                    self.assertions(&path, region, search, confirm);
                }
                path.state.node = region.exit;
                continue;
            }
            let wanted = path.passed || search.leads[node.0 as usize];
            if node == Function::EXIT || !wanted || !search.useful[node.0 as usize] {
                self.counts.paths += 1;
                return;
            }
            if let Some(join) = self.slice.and_then(|s| s.passed_over(node)) {
                path.state.node = join;
                continue;
            }
            let step = machine.step(self.pool, &mut path.state);
            let succs = &self.f.node(node).succs;
            match (step, succs.as_slice()) {
                (Step::Next, &[next]) => path.state.node = next,
                (Step::Branch(cond), &[yes, no]) => {
                    let known = Known::of(self.pool, &path.conditions);
                    let cond = known.simplified(self.pool, cond);
                    if let Some(known) = self.pool.as_const(cond).and_then(|c| c.as_bool()) {
                        path.state.node = if known { yes } else { no };
                        continue;
                    }
                    let visits = path.visits.entry(node).or_default();
                    *visits += 1;
                    if *visits > self.limits.unroll + 1 {
                        search.cut_at(node);
                        return;
                    }
                    self.branch(path, cond, yes, no, work);
                    return;
                }
                (Step::LeftOut, _) => {
                    search.cut_at(node);
                    return;
                }
                _ => {
                    self.counts.paths += 1;
                    return;
                }
            }
        }
    }

    /// Splits a path at a decision; the side that the model takes is followed first.
    fn branch(&mut self, path: Path, cond: TermId, yes: NodeId, no: NodeId, work: &mut Vec<Path>) {
        let not = self.pool.not(cond);
        let taken =
            path.model.as_ref().and_then(|m| Program::new(self.pool, &[cond]).run(self.pool, m).holds(cond));
        let sides = match taken {
            Some(false) => [(cond, yes), (not, no)],
            _ => [(not, no), (cond, yes)],
        };
        for (literal, next) in sides {
            let mut side = path.clone();
            side.state.node = next;
            if self.assume(&mut side, literal) {
                self.counts.states += 1;
                work.push(side);
            }
        }
    }

    /// Adds a condition to a path; `false`: no input meets it.
    fn assume(&mut self, path: &mut Path, literal: TermId) -> bool {
        if let Some(known) = self.pool.as_const(literal).and_then(|c| c.as_bool()) {
            return known;
        }
        match self.ask(path, literal) {
            Answer::Infeasible => return false,
            Answer::Feasible(model) => path.model = model,
            Answer::Open => path.model = None,
        }
        path.conditions.push(literal);
        true
    }

    /// Whether a path allows one condition more.
    fn ask(&mut self, path: &Path, literal: TermId) -> Answer {
        let mut all = path.conditions.clone();
        all.push(literal);
        let together = self.pool.op(Op::And, &all);
        if self.pool.as_const(together).and_then(|c| c.as_bool()) == Some(false) {
            return Answer::Infeasible;
        }
        if let Some(model) = &path.model
            && Program::new(self.pool, &[literal]).run(self.pool, model).holds(literal) == Some(true)
        {
            return Answer::Feasible(Some(model.clone()));
        }
        self.put(&all)
    }

    fn put(&mut self, conditions: &[TermId]) -> Answer {
        let asked = self.questions.ask(self.pool, conditions);
        self.counts.queries += u64::from(asked.was_put || self.manner == Manner::Plain);
        self.asked += u64::from(asked.is_new);
        asked.answer
    }

    /// Checks the targets of a region in a state: one question for each that the path condition does not
    /// settle as it stands, at once or with those of other paths. An input that one fails on is tried on the others.
    fn assertions(
        &mut self,
        path: &Path,
        region: &Region,
        search: &mut Search,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
    ) {
        let known = Known::of(self.pool, &path.conditions);
        let mut left: Vec<(usize, TermId)> = Vec::new();
        for k in 0..search.targets.len() {
            let target = search.targets[k];
            if target.site == region.site && search.findings[k].verdict != Standing::Fails {
                let holds = self.in_state(path, target.holds);
                let fails = self.pool.not(holds);
                left.push((k, known.simplified(self.pool, fails)));
            }
        }
        while let Some(&(k, fails)) = left.first() {
            if self.pool.as_const(fails).and_then(|c| c.as_bool()) == Some(false) {
                left.remove(0);
                continue;
            }
            if self.manner == Manner::Joined && !self.is_met(path, fails) {
                let all: Vec<TermId> = path.conditions.iter().copied().chain([fails]).collect();
                let together = self.pool.op(Op::And, &all);
                if self.pool.as_const(together).and_then(|c| c.as_bool()) != Some(false) {
                    search.pending[k].push(together);
                }
                left.remove(0);
                continue;
            }
            match self.ask(path, fails) {
                Answer::Infeasible => {}
                Answer::Feasible(Some(model)) => self.suspect(path, &model, &mut left, search, confirm),
                Answer::Feasible(None) | Answer::Open => search.findings[k].verdict = Standing::Open,
            }
            left.retain(|(other, _)| *other != k);
        }
    }

    /// Whether the path's own input meets a condition.
    fn is_met(&self, path: &Path, literal: TermId) -> bool {
        let met = |m: &Assignment| Program::new(self.pool, &[literal]).run(self.pool, m).holds(literal);
        path.model.as_ref().and_then(met) == Some(true)
    }

    /// Asks for what is pending of a target: of many paths at once, and path by path only where that tells nothing.
    fn settle(&mut self, k: usize, search: &mut Search, confirm: &mut dyn FnMut(&Suspicion) -> bool) {
        let pending = std::mem::take(&mut search.pending[k]);
        for paths in pending.chunks(MAX_JOINED) {
            if search.findings[k].verdict == Standing::Fails {
                return;
            }
            let some = self.pool.op(Op::Or, paths);
            let fails = match self.put(&[some]) {
                Answer::Infeasible => continue,
                Answer::Feasible(Some(model)) => self.shown(k, paths, &model, search, confirm),
                Answer::Feasible(None) | Answer::Open => false,
            };
            if fails {
                return;
            }
            for path in paths {
                if self.asked >= self.limits.queries {
                    search.leave_open(k);
                    return;
                }
                let fails = match self.put(&[*path]) {
                    Answer::Infeasible => continue,
                    Answer::Feasible(Some(model)) => self.shown(k, &[*path], &model, search, confirm),
                    Answer::Feasible(None) | Answer::Open => false,
                };
                if fails {
                    return;
                }
                search.leave_open(k);
            }
        }
    }

    /// Has it confirmed that a target fails on an input, which may take any of some paths.
    fn shown(
        &mut self,
        k: usize,
        paths: &[TermId],
        model: &Assignment,
        search: &mut Search,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
    ) -> bool {
        let program = Program::new(self.pool, paths);
        let run = program.run(self.pool, model);
        let Some(taken) = paths.iter().find(|p| run.holds(**p) == Some(true)) else { return false };
        let site = search.targets[k].site;
        let fails = confirm(&Suspicion { site, pool: self.pool, model, conditions: &[*taken] });
        if fails {
            search.findings[k] = Finding { verdict: Standing::Fails, model: Some(model.clone()) };
        }
        fails
    }

    /// Has those targets confirmed that fail on an input, and takes them from the list.
    fn suspect(
        &mut self,
        path: &Path,
        model: &Assignment,
        left: &mut Vec<(usize, TermId)>,
        search: &mut Search,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
    ) {
        let roots: Vec<TermId> = left.iter().map(|(_, fails)| *fails).collect();
        let program = Program::new(self.pool, &roots);
        let run = program.run(self.pool, model);
        let failing: Vec<bool> = roots.iter().map(|t| run.holds(*t) == Some(true)).collect();
        let mut conditions = path.conditions.clone();
        let mut failed = false;
        for ((k, fails), _) in left.iter().zip(&failing).filter(|(_, failing)| **failing) {
            conditions.push(*fails);
            let site = search.targets[*k].site;
            let suspicion = Suspicion { site, pool: self.pool, model, conditions: &conditions };
            let finding = &mut search.findings[*k];
            match confirm(&suspicion) {
                true => {
                    *finding = Finding { verdict: Standing::Fails, model: Some(model.clone()) };
                    failed = true;
                }
                false => finding.verdict = Standing::Open,
            }
            conditions.pop();
        }
        let mut failing = failing.into_iter();
        left.retain(|_| !failing.next().unwrap_or(false));
        if failed {
            search.useful = self.useful(search);
        }
    }

    /// A condition over stand-ins, of the values in a state.
    fn in_state(&mut self, path: &Path, condition: TermId) -> TermId {
        let machine = Machine { f: self.f, unit: self.unit };
        let (vars, memory) = stand_ins(self.f, self.pool);
        let mut by: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (leaf, v) in vars {
            // What lives in memory is read from it.
            if !self.f.var(v).in_memory {
                by.insert(leaf, machine.var(self.pool, &path.state, v));
            }
        }
        if let Some(leaf) = memory {
            by.insert(leaf, path.state.memory);
        }
        substituted(self.pool, condition, &by)
    }
}
