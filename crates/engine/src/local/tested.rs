//! Tests and assignments that still hold at a point: which states one version can be in there.
//!
//! A test on the way to a point holds at the point, too, if every way to the point takes it, and nothing on the way
//! from there writes what it reads; and a variable has the value that it was assigned, until either is written
//! (*available* conditions and copies: a forward analysis, with intersection where ways meet, of facts that edges of
//! branches and assignments generate and writes kill; Kildall, *A Unified Approach to Global Program Optimization*,
//! 1973). Both versions come to a point in the same state as long as all that lies before is the same, and then in one
//! that satisfies the facts of each of them: what would differ in any other state is no difference.

use super::machine::{Machine, Path, Step, memory_leaf, variable_leaf};
use super::mistake::{Mistake, is_made};
use super::region::Region;
use super::side::{Side, successor};
use crate::ir::{App, Callee, Expr, Instr, LOOP_VALUE, Leaf, Object, Term, TermId, TermPool, VarId, VarKind};
use crate::mvicfg::{IdSet, MvId, Mvicfg};
use crate::semantics::library;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Tests of one version that are kept, with either outcome.
const MAX_TESTS: usize = 1_000;
/// Tests of which one leads to a node.
const MAX_ALTERNATIVES: usize = 6;
/// Instructions of a statement that a test is made of.
const MAX_CHAIN: usize = 20;

/// A test and how it ended, or an assignment, which holds.
pub(super) struct Test {
    /// The instructions that make it: from the branch or assignment back to the first one that has to do with it.
    chain: Rc<[MvId]>,
    pub holds: bool,
    /// The variable that has the value.
    pub assigned: Option<VarId>,
    /// What it reads.
    vars: Rc<BTreeSet<VarId>>,
    memory: bool,
    /// It reads what calls may have written since that this version alone makes, or what any call may have if the test
    /// is its own.
    pub past_calls: bool,
    /// If it does not hold, this one does: control comes by one of several tests.
    or: Option<Rc<Test>>,
}

/// Instructions from the first to the last of a test, and how it ended.
#[cfg(test)]
pub(super) type Outcome = ((MvId, MvId), bool);

impl Test {
    /// The variable that an assignment gave a value, and that value, over the state in which it was made; `None` also
    /// where calls may have written what it reads.
    pub fn assignment(&self, graph: &Mvicfg, pool: &mut TermPool, side: &Side) -> Option<(TermId, TermId)> {
        let v = self.assigned.filter(|_| !self.past_calls)?;
        self.value_of(v, graph, pool, side)
    }

    fn value_of(
        &self,
        v: VarId,
        graph: &Mvicfg,
        pool: &mut TermPool,
        side: &Side,
    ) -> Option<(TermId, TermId)> {
        let mut path = Path::at(pool, *self.chain.last()?);
        let mut machine = Machine { graph, pool, side };
        for node in self.chain.iter().rev() {
            path.node = *node;
            machine.step(&mut path).ok()?;
        }
        let (value, after) = (machine.var(&path, v), machine.pool.leaf(variable_leaf(graph, v)));
        let is_quiet = path.events.is_empty() && path.memory == machine.pool.leaf(memory_leaf());
        let is_value = value != after && machine.pool.sort(value) == machine.pool.sort(after);
        (is_quiet && is_value).then_some((after, value))
    }

    /// What holds with it, over the state in which it was made; `None` where that is not known.
    pub fn term(&self, graph: &Mvicfg, pool: &mut TermPool, side: &Side) -> Option<TermId> {
        let own = self.own_term(graph, pool, side)?;
        let Some(or) = &self.or else { return Some(own) };
        let other = or.term(graph, pool, side)?;
        let either = pool.or(own, other);
        pool.as_const(either).is_none().then_some(either)
    }

    fn own_term(&self, graph: &Mvicfg, pool: &mut TermPool, side: &Side) -> Option<TermId> {
        let term = match self.assigned {
            Some(v) => {
                let (after, value) = self.value_of(v, graph, pool, side)?;
                pool.eq(after, value)
            }
            None => self.tested(graph, pool, side)?,
        };
        let term = if self.holds { term } else { pool.not(term) };
        pool.as_const(term).is_none().then_some(term)
    }

    /// What the branch asks.
    fn tested(&self, graph: &Mvicfg, pool: &mut TermPool, side: &Side) -> Option<TermId> {
        let mut path = Path::at(pool, *self.chain.last()?);
        let mut machine = Machine { graph, pool, side };
        for node in self.chain.iter().rev() {
            path.node = *node;
            let Step::Branch(term) = machine.step(&mut path).ok()? else { continue };
            let is_quiet = path.events.is_empty() && path.memory == machine.pool.leaf(memory_leaf());
            return is_quiet.then_some(term);
        }
        None
    }

    /// Whether this version alone makes the test: where it comes to other states by it, that is told there.
    pub fn is_own(&self, graph: &Mvicfg) -> bool {
        let is_own = self.chain.first().is_some_and(|n| graph.node(*n).classes.len() == 1);
        self.assigned.is_none() && is_own && self.or.as_ref().is_none_or(|or| or.is_own(graph))
    }

    /// The first instruction that has to do with it, and the branch or assignment, and how it ended; of alternatives each.
    #[cfg(test)]
    pub fn alternatives(&self) -> Vec<Outcome> {
        let mut found = vec![((*self.chain.last().unwrap(), self.chain[0]), self.holds)];
        found.extend(self.or.iter().flat_map(|or| or.alternatives()));
        found
    }

    #[cfg(test)]
    pub fn is_of_memory(&self) -> bool {
        self.memory
    }
}

/// The tests of one version, and where they hold.
pub(super) struct Tested {
    tests: Vec<Rc<Test>>,
    /// By branch or assignment: the tests that its edges make.
    made: BTreeMap<MvId, Vec<usize>>,
    /// By node to which tests alone lead: that one of them holds.
    joined: BTreeMap<MvId, usize>,
    read: Readers,
    /// By node: the tests that hold before it; `None` where control does not come. A number past those of the tests is
    /// the same test but for what calls do that this version alone makes: these are left out of what is compared, and
    /// so they are here. Of a test that this version alone makes, all calls are: in the states that it does not let
    /// through the versions go apart before, unless a call makes one of them, and what that does is told of no call.
    before: Vec<Option<IdSet<usize>>>,
}

impl Tested {
    pub fn of(graph: &Mvicfg, side: &Side) -> Tested {
        let (mut tests, mut by_node): (Vec<Rc<Test>>, BTreeMap<MvId, Vec<usize>>) = Default::default();
        // What is tested in several places is one test: it holds where ways meet each of which makes it somewhere.
        let mut alike: FxHashMap<(Vec<&Instr>, bool), Vec<usize>> = FxHashMap::default();
        for node in &side.flow.rpo {
            if tests.len() >= MAX_TESTS {
                break;
            }
            let own = made(graph, side, *node);
            let Some(first) = own.first() else { continue };
            let instrs = first.chain.iter().map(|n| &graph.node(*n).instr).collect();
            let numbers = alike.entry((instrs, first.is_own(graph))).or_insert_with(|| {
                let numbers = (tests.len()..tests.len() + own.len()).collect();
                tests.extend(own.into_iter().map(Rc::new));
                numbers
            });
            by_node.insert(*node, numbers.clone());
        }
        let mut joined = BTreeMap::new();
        for node in &side.flow.rpo {
            let edges = side.flow.preds.get(node.0 as usize).map_or(&[][..], Vec::as_slice);
            let test =
                |(node, label): &(MvId, u8)| Some(tests[*by_node.get(node)?.get(*label as usize)?].clone());
            let of_edges: Option<Vec<Rc<Test>>> = edges.iter().map(test).collect();
            let of_edges = of_edges.filter(|all| (2..=MAX_ALTERNATIVES).contains(&all.len()));
            if let Some(one) = of_edges.and_then(|all| either(&all)) {
                joined.insert(*node, tests.len());
                tests.push(Rc::new(one));
            }
        }
        let (read, before) = (Readers::of(&tests), vec![None; graph.nodes.len()]);
        let mut found = Tested { tests, made: by_node, joined, read, before };
        found.settle(graph, side);
        found
    }

    fn settle(&mut self, graph: &Mvicfg, side: &Side) {
        let mut changes = !self.tests.is_empty();
        while std::mem::take(&mut changes) {
            for node in &side.flow.rpo {
                let mut met: Option<IdSet<usize>> = (*node == Mvicfg::ENTRY).then(IdSet::new);
                for edge in side.flow.preds.get(node.0 as usize).into_iter().flatten() {
                    let Some(coming) = self.along(graph, side, *edge) else { continue };
                    met = Some(met.map_or(coming.clone(), |known| known.intersection(&coming)));
                }
                if let (Some(met), Some(test)) = (&mut met, self.joined.get(node)) {
                    met.insert(*test);
                    met.insert(*test + self.tests.len());
                }
                let known = &mut self.before[node.0 as usize];
                if *known != met {
                    (*known, changes) = (met, true);
                }
            }
        }
    }

    /// The tests that hold on an edge.
    fn along(&self, graph: &Mvicfg, side: &Side, (node, label): (MvId, u8)) -> Option<IdSet<usize>> {
        let before = self.before.get(node.0 as usize)?.as_ref()?;
        let instr = &graph.node(node).instr;
        let all = self.tests.len();
        let killed = match is_made(Mistake::TestsKept) {
            true => IdSet::new(),
            false => self.read.killed(graph, side, instr),
        };
        let mut found = before.difference(&killed);
        if matches!(instr, Instr::Call { .. }) {
            let is_own_call = graph.node(node).classes.len() == 1;
            for k in before.intersection(&killed).iter() {
                let test = &self.tests[k % all];
                if (is_own_call || test.is_own(graph)) && !writes(instr, test) {
                    found.insert(k % all + all);
                }
            }
        }
        if let Some(test) = self.made.get(&node).and_then(|of_edges| of_edges.get(label as usize)) {
            found.insert(*test);
            found.insert(*test + all);
        }
        Some(found)
    }

    /// The tests that hold where a region begins in this version.
    pub fn at(&self, graph: &Mvicfg, side: &Side, region: &Region, from_node: bool) -> Vec<Rc<Test>> {
        let frontier = &region.frontier;
        let edge = successor(graph, side.class, frontier.node, frontier.label);
        let is_behind_cut = region.is_later && edge != Some(frontier.to[side.class]);
        let found = match () {
            // What decides for the edge is told.
            () if from_node => self.before.get(frontier.node.0 as usize).cloned().flatten(),
            () if is_behind_cut => self.before.get(frontier.to[side.class].0 as usize).cloned().flatten(),
            () => self.along(graph, side, (frontier.node, frontier.label)),
        };
        let (Some(found), all) = (found, self.tests.len()) else { return Vec::new() };
        let past_calls = |test: &Test| Test {
            chain: test.chain.clone(),
            vars: test.vars.clone(),
            or: test.or.clone(),
            past_calls: true,
            ..*test
        };
        let told = |k: usize| match k.checked_sub(all) {
            None => Some(self.tests[k].clone()),
            Some(k) => (!found.contains(k)).then(|| Rc::new(past_calls(&self.tests[k]))),
        };
        found.iter().filter_map(told).collect()
    }
}

#[cfg(test)]
impl Tested {
    /// The tests that hold before a node.
    pub fn before(&self, node: MvId) -> Vec<&Rc<Test>> {
        let known = self.before.get(node.0 as usize).and_then(Option::as_ref);
        known.into_iter().flat_map(|all| all.iter()).filter_map(|k| self.tests.get(k)).collect()
    }
}

/// That one of several tests of branches holds.
fn either(tests: &[Rc<Test>]) -> Option<Test> {
    let (first, rest) = tests.split_first()?;
    let or = match rest {
        [] => None,
        more => Some(Rc::new(either(more)?)),
    };
    let vars = or.iter().flat_map(|or| or.vars.iter()).chain(first.vars.iter()).copied().collect();
    let memory = first.memory || or.as_ref().is_some_and(|or| or.memory);
    let is_branch = first.assigned.is_none();
    is_branch.then(|| Test { chain: first.chain.clone(), vars: Rc::new(vars), memory, or, ..**first })
}

/// Which tests read what, each by both of its numbers ([`Tested::before`]).
#[derive(Default)]
struct Readers {
    of_variable: BTreeMap<VarId, IdSet<usize>>,
    of_memory: IdSet<usize>,
    every: IdSet<usize>,
}

impl Readers {
    fn of(tests: &[Rc<Test>]) -> Readers {
        let mut found = Readers::default();
        let both = |set: &mut IdSet<usize>, k: usize| [k, k + tests.len()].map(|k| set.insert(k));
        for (k, test) in tests.iter().enumerate() {
            both(&mut found.every, k);
            test.vars.iter().for_each(|v| _ = both(found.of_variable.entry(*v).or_default(), k));
            if test.memory {
                both(&mut found.of_memory, k);
            }
        }
        found
    }

    /// The tests that read what an instruction may write.
    fn killed(&self, graph: &Mvicfg, side: &Side, instr: &Instr) -> IdSet<usize> {
        let of_variable = |v: &VarId| self.of_variable.get(v).cloned().unwrap_or_default();
        let more = match instr {
            Instr::Nop
            | Instr::Assign { .. }
            | Instr::Load { .. }
            | Instr::Branch { .. }
            | Instr::Return { .. } => IdSet::new(),
            Instr::Declare(v) => {
                let in_memory = graph.vars.get(v.0 as usize).is_none_or(|v| v.in_memory);
                let own = of_variable(v);
                if in_memory { own.union(&self.of_memory) } else { own }
            }
            Instr::Call { callee: Callee::Direct(name), args, result_to: None, .. }
                if is_quiet(side, name, args) =>
            {
                IdSet::new()
            }
            Instr::Call { .. }
            | Instr::Store { .. }
            | Instr::Copy { .. }
            | Instr::Zero { .. }
            | Instr::Measure { .. } => self.of_memory.clone(),
            Instr::Unreachable | Instr::Unknown { .. } => self.every.clone(),
        };
        match instr.written() {
            Some(v) => more.union(&of_variable(&v)),
            None => more,
        }
    }
}

/// Whether an instruction gives a variable of a test another value.
fn writes(instr: &Instr, test: &Test) -> bool {
    instr.written().is_some_and(|v| test.vars.contains(&v))
}

/// Whether a call gives a value and does nothing else.
fn is_quiet(side: &Side, name: &Arc<str>, args: &[Expr]) -> bool {
    let row = library::row_of_call(side.version.unit, name, args);
    side.pure.contains(name) || row.is_some_and(|r| !r.has_effect() && !r.errno && !r.asks_streams)
}

/// Whether an instruction reads what may be written: no constant.
fn reads_memory(side: &Side, instr: &Instr) -> bool {
    match instr {
        Instr::Load { addr: Expr::Addr(Object::Global(symbol)), .. } => !side.is_constant(symbol),
        Instr::Load { .. } | Instr::Call { .. } => true,
        _ => false,
    }
}

/// The tests that the edges of an instruction make: of a branch two, first the one that holds, of an assignment to a
/// variable that is in no memory one.
fn made(graph: &Mvicfg, side: &Side, node: MvId) -> Vec<Test> {
    let is_temp = |v: &VarId| graph.vars.get(v.0 as usize).is_none_or(|v| v.kind == VarKind::Temp);
    let assigned = match &graph.node(node).instr {
        Instr::Branch { .. } => None,
        Instr::Assign { dst, .. } if !is_temp(dst) => Some(*dst),
        _ => return Vec::new(),
    };
    let chain: Rc<[MvId]> = chain(graph, side, node).into();
    let (mut vars, mut made, mut memory) = (BTreeSet::new(), BTreeSet::new(), false);
    let mut is_own = true;
    for node in chain.iter().rev() {
        let instr = &graph.node(*node).instr;
        instr.for_each_operand(&mut |e| {
            e.for_each_var(&mut |v| match is_temp(&v) {
                true if made.contains(&v) => {}
                // What a `switch` compares: it has the value until it is written.
                true if assigned.is_none() => _ = vars.insert(v),
                true => is_own = false,
                false => _ = vars.insert(v),
            });
        });
        made.extend(instr.written());
        memory |= reads_memory(side, instr);
    }
    // What is made of the variable's value before says nothing of the one after.
    if !is_own || assigned.is_some_and(|v| !vars.insert(v)) {
        return Vec::new();
    }
    let vars = Rc::new(vars);
    let test = |holds: bool| Test {
        chain: chain.clone(),
        holds,
        assigned,
        vars: vars.clone(),
        memory,
        past_calls: false,
        or: None,
    };
    if assigned.is_some() { vec![test(true)] } else { vec![test(true), test(false)] }
}

/// The instructions before a branch or an assignment that do nothing but give its temporaries values, back from it.
fn chain(graph: &Mvicfg, side: &Side, branch: MvId) -> Vec<MvId> {
    let mut chain = vec![branch];
    let is_temp = |v: VarId| graph.vars.get(v.0 as usize).is_some_and(|v| v.kind == VarKind::Temp);
    while let Some(at) = chain.last()
        && let Some([(before, _)]) = side.flow.preds.get(at.0 as usize).map(Vec::as_slice)
        && chain.len() < MAX_CHAIN
    {
        let instr = &graph.node(*before).instr;
        let is_value = match instr {
            Instr::Assign { .. } | Instr::Load { .. } => true,
            Instr::Call { callee: Callee::Direct(name), args, .. } => is_quiet(side, name, args),
            _ => false,
        };
        if !is_value || !instr.written().is_some_and(is_temp) || chain.contains(before) {
            break;
        }
        chain.push(*before);
    }
    chain
}

/// The values of the state that terms are made of: variables, what is read from memory, results that follow from both.
pub(super) fn reads(pool: &TermPool, terms: impl IntoIterator<Item = TermId>) -> BTreeSet<TermId> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut work: Vec<TermId> = terms.into_iter().collect();
    while let Some(t) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        match pool.get(t) {
            Term::Leaf(Leaf::Param { name, .. }) if name.starts_with(LOOP_VALUE) => _ = found.insert(t),
            Term::App(app, args) => {
                if matches!(app, App::Load { .. } | App::Uf(_)) {
                    found.insert(t);
                }
                work.extend(args.iter().copied());
            }
            Term::Leaf(_) | Term::Const(_) => {}
        }
    }
    let memory = pool.known_leaf(&memory_leaf());
    found.retain(|t| Some(*t) != memory);
    found
}
