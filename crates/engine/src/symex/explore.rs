//! The paths of a function, depth first, and the assertions that fail on some of them.
//!
//! Every state keeps an input that meets its path condition. At a branch the side that this input
//! takes needs no question; the other one is asked for. An assertion is checked alone: the question is
//! whether the path condition allows that it does not hold, and the path goes on as if it held no
//! matter what, so that one that fails hides none behind it.

use super::known::Known;
use super::machine::{Machine, State, Step};
use super::site::{Region, Sites, stand_ins, substituted};
use super::trie::{Answer, At, Trie};
use crate::cost;
use crate::ir::eval::{Assignment, Program};
use crate::ir::{Function, Instr, NodeId, Op, TermId, TermPool, Unit};
use crate::smt;
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

/// What explorations cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Questions that were put to the solver, whatever it remembers.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// On all paths that the direction asks for.
    Holds,
    Fails,
    Open,
}

/// What became of a target.
#[derive(Clone, Debug)]
pub struct Finding {
    pub verdict: Verdict,
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
pub struct Explorer<'a> {
    pub f: &'a Function,
    pub unit: &'a Unit,
    pub sites: &'a Sites,
    pub pool: &'a mut TermPool,
    pub solver: &'a mut smt::Solver,
    /// What is known already, and what will be; without it every question is asked.
    pub trie: Option<&'a mut Trie>,
    pub limits: Limits,
    /// What holds at the entry.
    pub requires: &'a [TermId],
    pub counts: Counts,
}

/// A path in the making.
#[derive(Clone)]
struct Path {
    state: State,
    conditions: Vec<TermId>,
    /// Meets the conditions.
    model: Option<Assignment>,
    at: At,
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
    complete: bool,
}

impl Explorer<'_> {
    /// Checks targets on the paths of a direction. `confirm` says whether a suspicion is a failure;
    /// what it does not confirm leaves the target open. A target that has failed is not looked at again.
    pub fn check(
        &mut self,
        targets: &[Target],
        direction: Direction,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
    ) -> Vec<Finding> {
        let _room = cost::enter(cost::Room::Symex);
        let fresh = Finding { verdict: Verdict::Holds, model: None };
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
            complete: true,
        };
        search.useful = self.useful(&search);
        let machine = Machine { f: self.f, unit: self.unit };
        let state = machine.entry(self.pool);
        let mut start = Path {
            state,
            conditions: Vec::new(),
            model: Some(Assignment::new()),
            at: Trie::ROOT,
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
            if self.counts.queries >= self.limits.queries || self.counts.paths >= self.limits.paths {
                search.complete = false;
                break;
            }
            self.follow(path, &mut search, confirm, &mut work);
            if search.findings.iter().all(|f| f.verdict == Verdict::Fails) {
                break;
            }
        }
        if !search.complete {
            let open = search.findings.iter_mut().filter(|f| f.verdict == Verdict::Holds);
            open.for_each(|f| f.verdict = Verdict::Open);
        }
        search.findings
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
            of.into_iter().any(|(_, f)| f.verdict != Verdict::Fails)
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
                search.complete = false;
                return;
            }
            let sites = self.sites;
            if let Some(region) = sites.at(node) {
                if !matches!(search.direction, Direction::Through(_)) || path.passed {
                    self.assertions(&path, region, search, confirm);
                }
                path.state.node = region.exit;
                continue;
            }
            match search.direction {
                Direction::Through(nodes) => path.passed |= nodes.contains(&node),
                Direction::Around(nodes) if nodes.contains(&node) => return,
                _ => {}
            }
            let wanted = path.passed || search.leads[node.0 as usize];
            if node == Function::EXIT || !wanted || !search.useful[node.0 as usize] {
                self.counts.paths += 1;
                return;
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
                        search.complete = false;
                        return;
                    }
                    self.branch(path, cond, yes, no, work);
                    return;
                }
                (Step::LeftOut, _) => {
                    search.complete = false;
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
        if let Some(trie) = &mut self.trie {
            path.at = trie.then(path.at, literal);
        }
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
        let at = self.trie.as_mut().map(|trie| trie.then(path.at, literal));
        if let (Some(trie), Some(at)) = (&self.trie, at)
            && let Some(known) = trie.answer(at)
        {
            return known.clone();
        }
        self.counts.queries += 1;
        let answer = match self.solver.check(self.pool, &all) {
            smt::Verdict::Unsat => Answer::Infeasible,
            smt::Verdict::Sat(model) => Answer::Feasible(Some(model.input).filter(|_| model.confirmed)),
            smt::Verdict::Unknown(_) => Answer::Open,
        };
        if let (Some(trie), Some(at)) = (&mut self.trie, at) {
            trie.set(at, answer.clone());
        }
        answer
    }

    /// Checks the targets of a region in a state: one question for each that the path condition does not
    /// settle as it stands. An input that one fails on is tried on the others.
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
            if target.site == region.site && search.findings[k].verdict != Verdict::Fails {
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
            match self.ask(path, fails) {
                Answer::Infeasible => {}
                Answer::Feasible(Some(model)) => self.suspect(path, &model, &mut left, search, confirm),
                Answer::Feasible(None) | Answer::Open => search.findings[k].verdict = Verdict::Open,
            }
            left.retain(|(other, _)| *other != k);
        }
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
                    *finding = Finding { verdict: Verdict::Fails, model: Some(model.clone()) };
                    failed = true;
                }
                false => finding.verdict = Verdict::Open,
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

/// Whether a node does something: what a change of it may affect.
pub(super) fn acts(i: &Instr) -> bool {
    !matches!(i, Instr::Nop)
}
