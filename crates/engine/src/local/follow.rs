//! A path that goes on through common code, as far as it is decided.

use super::machine::{End, Machine, Path, Step};
use super::side::{Side, successor};
use super::tested::reads;
use super::text_tests::{self, Exclusions};
use crate::ir::{Const, Instr, Op, Rebuilt, TermId, TermPool, Unit, VarId, VarKind};
use crate::mvicfg::{MvId, Mvicfg};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that are followed, but for tests.
const MAX_STEPS: usize = 60;
/// Tests that are decided: a `switch` may have many.
const MAX_TESTS: usize = 400;

/// Instructions of the test of a loop.
const MAX_OF_TEST: usize = 20;

/// What conditions that hold say of terms.
pub(super) struct Known {
    /// What is equal to a constant, and what is true or false.
    values: BTreeMap<TermId, TermId>,
    conditions: Vec<TermId>,
}

impl Known {
    pub fn of(pool: &mut TermPool, conditions: &[TermId]) -> Known {
        let mut known = Known { values: BTreeMap::new(), conditions: conditions.to_vec() };
        for &c in conditions {
            for c in pool.as_op(c, Op::And).map_or_else(|| vec![c], <[TermId]>::to_vec) {
                known.learn(pool, c);
            }
        }
        known
    }

    fn learn(&mut self, pool: &mut TermPool, condition: TermId) {
        let (yes, no) = (pool.bool(true), pool.bool(false));
        self.values.insert(condition, yes);
        let negation = pool.not(condition);
        self.values.insert(negation, no);
        if let Some(&[a, b]) = pool.as_op(condition, Op::Eq) {
            match (pool.as_const(a), pool.as_const(b)) {
                (None, Some(_)) => _ = self.values.insert(a, b),
                (Some(_), None) => _ = self.values.insert(b, a),
                _ => {}
            }
        }
    }

    /// A term under the conditions.
    pub fn simplified(&self, pool: &mut TermPool, t: TermId) -> TermId {
        if self.values.is_empty() {
            return t;
        }
        let values = self.values.clone();
        pool.rebuilt(t, &move |_, t| match values.get(&t) {
            Some(value) => Rebuilt::By(*value),
            None => Rebuilt::Kept,
        })
    }

    /// Whether a test holds for what is known, as far as constants and tests of texts say.
    fn decides(&self, pool: &mut TermPool, units: [&Unit; 2], test: TermId) -> Option<bool> {
        let simple = self.simplified(pool, test);
        if let Some(known) = pool.as_const(simple).and_then(Const::as_bool) {
            return Some(known);
        }
        if !text_tests::asks(pool, test) {
            return None;
        }
        let asked = reads(pool, self.conditions.iter().copied().chain([test]));
        let exclusions = Exclusions::of(pool, &asked, units);
        let negation = pool.not(test);
        let is_false = |t: TermId| exclusions.contradict(&[self.conditions.as_slice(), &[t]].concat());
        match (is_false(test), is_false(negation)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    }

    pub fn is_true(&self, pool: &mut TermPool, t: TermId) -> bool {
        let t = self.simplified(pool, t);
        pool.as_const(t) == Some(Const::TRUE)
    }
}

/// Where a path comes from its end on, until something is not decided by what is known: a branch, the rounds of a
/// loop, something that is not modelled.
pub(super) fn onwards(
    graph: &Mvicfg,
    pool: &mut TermPool,
    (side, units): (&Side, [&Unit; 2]),
    path: &Path,
    known: &Known,
) -> Path {
    onwards_to(graph, pool, (side, units), path, (known, &BTreeSet::new()))
}

/// The same, at most to one of some nodes.
pub(super) fn onwards_to(
    graph: &Mvicfg,
    pool: &mut TermPool,
    (side, units): (&Side, [&Unit; 2]),
    path: &Path,
    (known, goals): (&Known, &BTreeSet<MvId>),
) -> Path {
    let mut path = path.clone();
    let End::At(start) = path.end else { return path };
    path.node = start;
    let (mut steps, mut tests) = (0, 0);
    while steps < MAX_STEPS && tests < MAX_TESTS {
        let node = path.node;
        // What comes after the exit is the caller's.
        if node == Mvicfg::EXIT || goals.contains(&node) {
            break;
        }
        // A loop is told by its head, if it is entered.
        if let Some(l) = side.flow.loop_at[node.0 as usize] {
            let own = path.visited.iter().any(|n| is_in_loop(side, *n, l));
            let Some(next) = (!own).then(|| past(graph, pool, (side, units), &path, (known, l))).flatten()
            else {
                break;
            };
            path = next;
            continue;
        }
        let mut next = path.clone();
        next.visited.insert(node);
        let mut machine = Machine { graph, pool, side };
        let Ok(step) = machine.step(&mut next) else { break };
        match step {
            Step::End(end) => {
                next.end = end;
                return next;
            }
            Step::Next => match successor(graph, side.class, node, 0) {
                Some(to) => (next.node, steps) = (to, steps + 1),
                None => break,
            },
            Step::Branch(condition) => {
                tests += 1;
                let label = match known.decides(pool, units, condition) {
                    Some(true) => 0,
                    Some(false) => 1,
                    None => break,
                };
                let Some(to) = successor(graph, side.class, node, label) else { break };
                next.node = to;
            }
        }
        path = next;
    }
    path.end = End::At(path.node);
    path
}

/// A path that has come to the head of a loop, behind that loop, if its test says at once that there is no round:
/// whichever way it takes where it is not decided, which leads to one place and does nothing.
fn past(
    graph: &Mvicfg,
    pool: &mut TermPool,
    (side, units): (&Side, [&Unit; 2]),
    path: &Path,
    (known, of): (&Known, usize),
) -> Option<Path> {
    let (mut ways, mut left): (Vec<Path>, Vec<Path>) = (vec![path.clone()], Vec::new());
    let mut steps = 0;
    while let Some(mut way) = ways.pop() {
        steps += 1;
        let node = way.node;
        way.visited.insert(node);
        let labels: &[u8] = match (Machine { graph, pool, side }).step(&mut way).ok()? {
            Step::End(_) => return None,
            Step::Next => &[0],
            Step::Branch(condition) => match known.decides(pool, units, condition) {
                Some(true) => &[0],
                Some(false) => &[1],
                None => &[0, 1],
            },
        };
        let is_quiet = way.events.len() == path.events.len() && way.memory == path.memory;
        if steps > MAX_OF_TEST || !is_quiet {
            return None;
        }
        for label in labels {
            let to = successor(graph, side.class, node, *label)?;
            let mut next = way.clone();
            next.node = to;
            match is_in_loop(side, to, of) {
                true if side.flow.loop_at[to.0 as usize].is_some() => return None,
                true => ways.push(next),
                false => left.push(next),
            }
        }
    }
    // The one on which most must be defined.
    let most = left.iter().max_by_key(|way| (way.accesses.len(), way.hazards.len()))?.clone();
    let is_alike = |way: &Path| {
        let hazards: Vec<TermId> = most.hazards.iter().map(|h| h.condition).collect();
        way.node == most.node
            && way.accesses.is_subset(&most.accesses)
            && way.hazards.iter().all(|h| hazards.contains(&h.condition))
            && has_written_temporaries_alone(graph, path, way)
    };
    left.iter().all(is_alike).then_some(most)
}

/// Whether all that a path has written since is in the middle of a statement.
fn has_written_temporaries_alone(graph: &Mvicfg, before: &Path, path: &Path) -> bool {
    let is_temporary = |v: &VarId| graph.vars.get(v.0 as usize).is_some_and(|v| v.kind == VarKind::Temp);
    path.written().all(|v| is_temporary(&v) || path.value(v) == before.value(v))
}

/// Whether a node is one of a loop of this side's version.
pub(super) fn is_in_loop(side: &Side, node: MvId, of: usize) -> bool {
    side.flow.loops.get(of).is_some_and(|l| l.body.contains(&node))
}

/// The first node from one on that does something.
pub(super) fn past_joins(graph: &Mvicfg, side: &Side, mut at: MvId) -> MvId {
    for _ in 0..20 {
        match (&graph.node(at).instr, successor(graph, side.class, at, 0)) {
            (Instr::Nop, Some(next)) => at = next,
            _ => break,
        }
    }
    at
}

/// Whether a node stands within the text of a loop: a branch that returns, and so makes no further round.
pub(super) fn is_written_in(graph: &Mvicfg, side: &Side, node: MvId, l: usize) -> bool {
    let body = &graph.bodies[side.class];
    let stmt = |node: MvId| Some(body.node(graph.origin(node, side.class)?).stmt.0 as usize);
    let head = side.flow.loops[l].head;
    let (Some(from), Some(to)) = (stmt(head), stmt(past_joins(graph, side, node))) else { return false };
    let depth = |k: usize| body.stmts.get(k).map_or(0, |s| s.depth);
    from < to && (from + 1..=to).all(|k| depth(k) > depth(from))
}
