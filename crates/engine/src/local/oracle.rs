//! The region injection oracle: states are put at the point of a change, both versions run from there to their end
//! by an executor that shares nothing with the comparison, and the *printed* condition is read back and evaluated.
//! Where no condition holds and the rest is said to be the same, both must do the same; a neutral region must be
//! one from every state.
//!
//! Programs are generated, with one edit each ([`programs`]); [`callees`]: such as call functions of the file. The
//! [`executor`] has values, not terms. States on which the older version does something undefined are passed over, for
//! nothing is said of them.

mod callees;
mod executor;
mod programs;

use super::change::{Change, Verdict};
use super::side::Version;
use super::tested::Outcome;
use super::widened::Widened;
use super::{Share, compare, unplaced};
use crate::fact::term::{self, Scope, Typed, When};
use crate::fact::{self};
use crate::frontend::{c, load_unit};
use crate::history::MemoryTree;
use crate::ir::{
    App, Const, Function, Instr, LOOP_VALUE, Leaf, Op, Sort, Term, TermId, TermPool, Unit, VarId,
};
use crate::local::side::successor;
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use crate::testing::Random;
use executor::{State, place, read, run, run_past, value};
use programs::{HEAD, RETYPED, counted, edited, program, scaled, summed, switched};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Names of a printed condition, as terms over the state.
struct Point<'a> {
    pool: TermPool,
    graph: &'a Mvicfg,
    body: &'a Function,
    class: ClassId,
    unit: &'a Unit,
}

impl Scope for Point<'_> {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn variable(&mut self, name: &str, _when: When) -> Option<Typed> {
        let k = self.body.vars.iter().position(|v| &*v.name == name && !v.in_memory)?;
        let v = self.graph.var_map[self.class][k];
        let leaf = self.pool.leaf(super::machine::variable_leaf(self.graph, v));
        let ty = self.body.vars[k].ty.clone();
        let term = match (ty.sort(64), self.pool.sort(leaf)) {
            (Some(Sort::Bv(own)), Sort::Bv(wide)) if own < wide => self.pool.op(Op::Trunc(own), &[leaf]),
            _ => leaf,
        };
        Some(Typed { term, ty })
    }

    fn object(&mut self, _name: &str) -> Option<Typed> {
        None
    }

    fn result(&mut self) -> Option<Typed> {
        None
    }

    fn input(&mut self, _k: u64) -> Option<Typed> {
        None
    }

    fn load(&mut self, addr: TermId, sort: Sort, bytes: u64, _when: When) -> Option<TermId> {
        let memory = self.pool.leaf(super::machine::memory_leaf());
        Some(self.pool.app(App::Load { sort, bytes }, &[memory, addr]))
    }
}

/// The value of a term over a state.
fn evaluate(pool: &TermPool, state: &State, t: TermId) -> Option<Const> {
    match pool.get(t) {
        Term::Const(c) => Some(*c),
        Term::Leaf(Leaf::Param { name, .. }) => {
            let number = name.strip_prefix(LOOP_VALUE)?.split(':').next()?.parse().ok()?;
            state.vars.get(&VarId(number)).copied()
        }
        Term::App(App::Op(op), args) => {
            let choice = if *op == Op::Ite { evaluate(pool, state, args[0])?.as_bool() } else { None };
            if let Some(c) = choice {
                return evaluate(pool, state, args[if c { 1 } else { 2 }]);
            }
            let args: Option<Vec<Const>> = args.iter().map(|a| evaluate(pool, state, *a)).collect();
            op.eval(&args?).ok()
        }
        Term::App(App::Load { sort, bytes }, args) => {
            let at = evaluate(pool, state, args[1])?.unsigned()? as u64;
            read(state, at, *sort, *bytes)
        }
        _ => None,
    }
}

/// How often what was claimed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub pairs: u64,
    pub regions: u64,
    pub neutral: u64,
    pub open: u64,
    /// States on which a condition holds, and those of them on which runs differ to their ends.
    pub met: u64,
    pub differ: u64,
    /// States on which none does, or of neutral regions: both must do the same.
    pub unmet: u64,
    /// Runs of whole functions of which nothing is told.
    pub whole: u64,
    pub violations: u64,
}

fn text(lines: &[String]) -> String {
    format!(
        "{HEAD}int f(int a, int b, struct s *p)\n{{\n{}\nout:\nact(y);\nreturn x;\n}}\n",
        lines.join("\n")
    )
}

fn unit(text: &str) -> Unit {
    let tree = MemoryTree::new([("a.c", text)]);
    load_unit(&tree, Path::new("a.c"), &c::Options::default()).unwrap().unit
}

/// Checks one pair of programs on so many states.
pub(super) fn check(old: &str, new: &str, states: u64, seed: u64, counts: &mut Counts) {
    let units = [old, new].map(unit);
    let bodies = [0, 1].map(|k: usize| last(&units[k]));
    let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
    let Some((changes, _)) = compare(version(0), version(1), &|_, _| None, Share::of(1)) else { return };
    check_told([version(0), version(1)], &changes, (old, new), (states, seed), counts);
}

fn last(unit: &Unit) -> Arc<Function> {
    unit.functions.last().unwrap().clone()
}

/// Checks that two bodies do the same from their entries where nothing is told of them.
fn whole_only(
    versions: [Version; 2],
    changes: &[Change],
    texts: (&str, &str),
    states: (u64, u64),
    counts: &mut Counts,
) {
    let widened = Widened::of(unplaced(versions[0].body), unplaced(versions[1].body));
    let graph = Mvicfg::build(widened.bodies.to_vec());
    whole((&graph, &widened), versions.map(|v| v.unit), changes, texts, states, counts);
}

/// Checks what was told of two bodies.
fn check_told(
    versions: [Version; 2],
    changes: &[Change],
    (old, new): (&str, &str),
    (states, seed): (u64, u64),
    counts: &mut Counts,
) {
    let units = versions.map(|v| v.unit);
    let widened = Widened::of(unplaced(versions[0].body), unplaced(versions[1].body));
    let graph = Mvicfg::build(widened.bodies.to_vec());
    counts.pairs += 1;
    // A second region may differ behind the first: only of a single one that differs the ends can be held
    // against what is said of it.
    whole((&graph, &widened), units, changes, (old, new), (states, seed), counts);
    let differing = changes.iter().filter(|c| c.verdict != Verdict::Neutral).count();
    for change in changes {
        counts.regions += 1;
        counts.neutral += u64::from(change.verdict == Verdict::Neutral);
        counts.open += u64::from(matches!(change.verdict, Verdict::Open(_)) || change.rest.is_some());
        if differing > 1 || differing == 1 && change.verdict == Verdict::Neutral || change.rest.is_some() {
            continue;
        }
        // What rests on what a call does is not said of what functions of the unit do.
        if change.apart && units.iter().any(|u| u.functions.len() > 1) {
            continue;
        }
        // A region that was compared through another one is the same only after it: runs from between say nothing.
        if changes.iter().any(|c| c.way.covers) && !change.way.covers {
            continue;
        }
        let conditions = conditions(&graph, units[1], change, counts);
        let Some((pools, conditions)) = conditions else { continue };
        for k in 0..states {
            // A state that tests on the way would not have let through is none at the point.
            let drawn =
                (0..DRAWS).map(|n| seed ^ k.wrapping_mul(0x5851_f42d) ^ n.wrapping_mul(0x9e37_79b9_7f4a));
            let assigned = |seed: u64| {
                let mut state = state(&graph, &widened, &mut Random(seed));
                change.way.held.iter().for_each(|test| assign(&graph, &mut state, test));
                compare_anew(&graph, &mut state, change.way.frontier.node);
                state
            };
            let can_be = |seed: &u64| {
                let state = assigned(*seed);
                change.way.held.iter().all(|test| holds(&graph, &state, test))
            };
            let Some(drawn) = drawn.into_iter().find(can_be) else { continue };
            let mut random = Random(drawn);
            let state = || assigned(drawn);
            let mut again = false;
            let points: Vec<MvId> =
                change.way.also.iter().copied().chain([change.way.frontier.node]).collect();
            // A state at an edge is one that takes it.
            let at = change.way.frontier.node;
            let label = match &graph.node(at).instr {
                Instr::Branch { cond } => match value(&graph.vars, &state(), cond).and_then(Const::as_bool) {
                    Some(holds) => u8::from(!holds),
                    None => continue,
                },
                _ => change.way.frontier.label,
            };
            if label != change.way.frontier.label && !change.way.from_node && !change.way.is_later {
                continue;
            }
            let to = match change.way.is_later {
                true => change.way.frontier.to.map(Some),
                false => ClassId::PAIR.map(|class| successor(&graph, class, at, label)),
            };
            let [Some(first), Some(second)] = to else { continue };
            executor::has_wrapped();
            let [a, b] = [(ClassId::OLD, first), (ClassId::NEW, second)]
                .map(|(class, to)| run((&graph, units[class]), class, to, (&points, &mut again), state()));
            let Some(a) = a.filter(|_| !again) else { continue };
            if executor::has_wrapped() && changes.iter().any(|c| c.unwrapped) {
                continue;
            }
            if b.is_none() && changes.iter().any(|c| c.valid) {
                continue;
            }
            let here = state();
            let met = conditions.iter().zip(&pools).any(|(c, p)| {
                c.is_none_or(|c| evaluate(p, &here, c).and_then(Const::as_bool).unwrap_or(true))
            });
            _ = random.draw();
            let same = b.as_ref() == Some(&a);
            match met && change.verdict == Verdict::Differs {
                true => {
                    counts.met += 1;
                    counts.differ += u64::from(!same);
                }
                false => {
                    counts.unmet += 1;
                    if !same {
                        counts.violations += 1;
                        println!("VIOLATION\n{old}\n-->\n{new}\n{change:?}\n{a:?}\n{b:?}\n{:?}", here.vars);
                        return;
                    }
                }
            }
        }
    }
}

/// States that are drawn until the tests hold.
const DRAWS: u64 = 30;

/// Whether a test of one version ends as it is said to in a state, or an assignment leaves it as it is; where that is
/// not defined, no state is asked for.
fn holds(graph: &Mvicfg, state: &State, (class, alternatives): &(ClassId, Vec<Outcome>)) -> bool {
    alternatives.iter().any(|&((from, last), holds)| {
        let mut state = state.clone();
        let found = match &graph.node(last).instr {
            Instr::Assign { dst, .. } => {
                let before = state.vars.get(dst).copied();
                before.and_then(|b| made(graph, &mut state, *class, (from, last)).map(|made| made == b))
            }
            _ => made(graph, &mut state, *class, (from, last)).and_then(Const::as_bool),
        };
        found == Some(holds)
    })
}

/// Makes a state one in which an assignment was made.
fn assign(graph: &Mvicfg, state: &mut State, (class, alternatives): &(ClassId, Vec<Outcome>)) {
    let [(nodes, _)] = alternatives.as_slice() else { return };
    let Instr::Assign { dst, .. } = &graph.node(nodes.1).instr else { return };
    let mut after = state.clone();
    if let Some(value) = made(graph, &mut after, *class, *nodes) {
        state.vars.insert(*dst, value);
    }
}

/// Makes a state at a test of a `switch` one in which the statement has computed what it compares.
fn compare_anew(graph: &Mvicfg, state: &mut State, at: MvId) {
    let body = &graph.bodies[0];
    let Some(here) = graph.origin(at, ClassId::OLD).map(|n| body.node(n).stmt) else { return };
    if body.stmts.get(here.0 as usize).is_none_or(|s| s.kind != "switch") {
        return;
    }
    for (k, _) in body.nodes.iter().enumerate().filter(|(_, n)| n.stmt == here) {
        let made = match &graph.node(graph.node_map[0][k]).instr {
            Instr::Assign { dst, value: e } => value(&graph.vars, state, e).map(|v| (*dst, v)),
            Instr::Load { dst, addr, access } => place(&graph.vars, state, addr)
                .and_then(|at| read(state, at, access.sort, access.bytes))
                .map(|v| (*dst, v)),
            _ => continue,
        };
        // What cannot be read leads nowhere.
        let Some((dst, value)) = made else { return state.vars.clear() };
        state.vars.insert(dst, value);
    }
}

/// The value that a branch or an assignment comes to by the instructions before it.
fn made(graph: &Mvicfg, state: &mut State, class: ClassId, (from, last): (MvId, MvId)) -> Option<Const> {
    let mut node = from;
    while node != last {
        match &graph.node(node).instr {
            Instr::Assign { dst, value: e } => _ = state.vars.insert(*dst, value(&graph.vars, state, e)?),
            Instr::Load { dst, addr, access } => {
                let value = read(state, place(&graph.vars, state, addr)?, access.sort, access.bytes)?;
                state.vars.insert(*dst, value);
            }
            _ => return None,
        }
        node = successor(graph, class, node, 0)?;
    }
    let (Instr::Branch { cond: e } | Instr::Assign { value: e, .. }) = &graph.node(node).instr else {
        return None;
    };
    value(&graph.vars, state, e)
}

/// Where every region is neutral, the functions are the same from their entries.
fn whole(
    (graph, widened): (&Mvicfg, &Widened),
    units: [&Unit; 2],
    changes: &[Change],
    (old, new): (&str, &str),
    (states, seed): (u64, u64),
    counts: &mut Counts,
) {
    if changes.iter().any(|c| c.verdict != Verdict::Neutral || c.apart) {
        return;
    }
    for k in 0..states {
        let state = || state(graph, widened, &mut Random(seed ^ k.wrapping_mul(0x1656_67b1)));
        executor::has_wrapped();
        let [a, b] = ClassId::PAIR
            .map(|class| run((graph, units[class]), class, Mvicfg::ENTRY, (&[], &mut false), state()));
        let leaves_word = executor::has_wrapped() && changes.iter().any(|c| c.unwrapped);
        if leaves_word || b.is_none() && changes.iter().any(|c| c.valid) {
            continue;
        }
        counts.whole += 1;
        if a.is_some() && a != b {
            counts.violations += 1;
            println!("VIOLATION of the whole\n{old}\n-->\n{new}\n{changes:?}\n{a:?}\n{b:?}");
            return;
        }
    }
}

/// The printed conditions of a change, read back, each with its pool; `None` where one cannot be read.
fn conditions(
    graph: &Mvicfg,
    unit: &Unit,
    change: &Change,
    counts: &mut Counts,
) -> Option<(Vec<TermPool>, Vec<Option<TermId>>)> {
    let (mut pools, mut terms) = (Vec::new(), Vec::new());
    for delta in &change.deltas {
        let mut point =
            Point { pool: TermPool::new(), graph, body: &graph.bodies[1], class: ClassId::NEW, unit };
        let term = match delta.when.is_empty() {
            true => None,
            false => {
                let tree = fact::parse(&delta.when).ok();
                match tree.and_then(|tree| term::condition(&tree, &mut point).ok()) {
                    Some(t) => Some(t),
                    None => {
                        counts.open += 1;
                        return None;
                    }
                }
            }
        };
        pools.push(point.pool);
        terms.push(term);
    }
    Some((pools, terms))
}

fn state(graph: &Mvicfg, widened: &Widened, random: &mut Random) -> State {
    let pointers: [i128; 4] = [0, 0x1000, 0x2000, 0x1004];
    let numbers: [i128; 12] = [0, 1, 2, 3, 4, 5, 7, -1, -2, 255, 0x7fff_ffff, -0x8000_0000];
    let mut vars = BTreeMap::new();
    for (k, var) in graph.vars.iter().enumerate() {
        if let (Some(sort), false) = (var.sort, var.in_memory) {
            let Sort::Bv(width) = sort else { continue };
            let number = if var.ty.is_pointer() { random.pick(&pointers) } else { random.pick(&numbers) };
            vars.insert(VarId(k as u32), Const::bv(width, number));
        }
    }
    widened.relate(graph, &mut vars);
    State { vars, seed: random.draw(), memory: BTreeMap::new(), written: BTreeMap::new() }
}

/// Runs generated pairs.
pub(super) fn pairs(count: u64, states: u64, from: u64) -> Counts {
    let mut counts = Counts::default();
    for k in from..from + count {
        let mut random = Random(k.wrapping_mul(0x2545_f491_4f6c_dd1d) + 1);
        let old = program(&mut random);
        let mut new = edited(&mut random, &old);
        // Edits that depend on each other.
        if k.is_multiple_of(3) {
            new = match random.below(4) {
                0 => edited(&mut random, &new),
                3 => counted(&mut random, &old),
                1 => scaled(&mut random, &old),
                _ => edited(&mut random, &edited(&mut Random(k), &new)),
            };
        }
        if k % 11 == 9 {
            new = summed(&mut random, &old);
        }
        let mut old = old;
        if k % 7 == 4 {
            [old, new] = switched(&mut random, &old);
        }
        let mut newer = text(&new);
        if k % 5 == 1 {
            let (from, to) = random.pick(&RETYPED);
            newer = newer.replacen(from, to, 1);
        }
        let (a, b) = if k % 10 == 6 { (newer, text(&old)) } else { (text(&old), newer) };
        check(&a, &b, states, k, &mut counts);
    }
    counts
}

/// What is told of two programs is told of them, too, where the newer one's structures are laid out otherwise.
#[test]
fn layouts_make_no_difference() {
    let heads = [
        "struct s { struct s *next; long more; int k; char pad[3]; int n; };",
        "struct s { int n; int k; char pad[12]; struct s *next; char last[7]; };",
        "struct s { int k; int n; struct s *next; };",
    ];
    let count = crate::testing::tier::rounds("INVDIFF_LAYOUTS", 60, 3_000) as u64;
    let mut differing = 0;
    for k in 0..count {
        let mut random = Random(k.wrapping_mul(0x2545_f491_4f6c_dd1d) + 3);
        let old = program(&mut random);
        let new = edited(&mut random, &old);
        let plain = HEAD.lines().next().unwrap();
        let head = random.pick(&heads);
        let told = |a: &str, b: &str| {
            let units = [unit(a), unit(b)];
            let bodies = [0, 1].map(|k: usize| Arc::new(units[k].functions.last().unwrap().clone()));
            let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
            let (changes, _) = compare(version(0), version(1), &|_, _| None, Share::of(1)).unwrap();
            changes.into_iter().map(|c| (c.lines, c.verdict, c.deltas, c.rest)).collect::<Vec<_>>()
        };
        let (old, new) = (text(&old), text(&new));
        let known = told(&old, &new);
        differing += u64::from(!known.is_empty());
        assert_eq!(told(&old, &new.replacen(plain, head, 1)), known, "{head}\n{old}\n-->\n{new}");
        assert_eq!(told(&old.replacen(plain, head, 1), &new), known, "{head} before\n{old}\n-->\n{new}");
    }
    assert!(differing * 2 > count, "{differing}");
}

/// The same of bit-fields, that other ones come between, or that lie in several units. What is told of two programs
/// with the one layout is told of them with the others.
#[test]
fn bit_fields_make_no_difference() {
    let base = "struct s { int n : 20; int k : 9; struct s *next; };";
    let heads = [
        "struct s { int more : 1; int n : 20; unsigned on : 2; int k : 9; struct s *next; };",
        "struct s { struct s *next; unsigned more : 30; int k : 9; int n : 20; };",
        "struct s { int n : 20; long way; int k : 9; struct s *next; };",
    ];
    let count = crate::testing::tier::rounds("INVDIFF_LAYOUTS", 60, 3_000) as u64;
    let (mut differing, mut compared) = (0u64, 0u64);
    for k in 0..count {
        let mut random = Random(k.wrapping_mul(0x2545_f491_4f6c_dd1d) + 5);
        let old = program(&mut random);
        let new = edited(&mut random, &old);
        let plain = HEAD.lines().next().unwrap();
        let head = random.pick(&heads);
        let told = |a: &str, b: &str| {
            let units = [unit(a), unit(b)];
            let bodies = [0, 1].map(|k: usize| Arc::new(units[k].functions.last().unwrap().clone()));
            let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
            let (changes, _) = compare(version(0), version(1), &|_, _| None, Share::of(1))?;
            Some(changes.into_iter().map(|c| (c.lines, c.verdict, c.deltas, c.rest)).collect::<Vec<_>>())
        };
        let (old, new) = (text(&old).replacen(plain, base, 1), text(&new).replacen(plain, base, 1));
        let known = told(&old, &new);
        differing += u64::from(known.as_ref().is_some_and(|k| !k.is_empty()));
        for (old, new) in [(old.clone(), new.replacen(base, head, 1)), (old.replacen(base, head, 1), new)] {
            let found = told(&old, &new);
            // What takes the bytes of a unit for something else has no counterpart.
            let (Some(found), Some(known)) = (found, &known) else { continue };
            compared += 1;
            let what = format!("{found:?}\n{known:?}\n{head}\n{old}\n-->\n{new}");
            assert!(found == *known, "{what}");
        }
    }
    assert!(differing * 2 > count && compared > count, "{differing} {compared} of {count}");
}

#[test]
fn what_is_told_holds_of_states() {
    let count = crate::testing::tier::rounds("INVDIFF_STATES", 200, 10_000) as u64;
    let counts = pairs(count, 60, 0);
    println!("{counts:?}");
    assert_eq!(counts.violations, 0);
    assert!(counts.met >= 5 * count && counts.unmet >= 5 * count, "{counts:?}");
    assert!(counts.differ * 2 >= counts.met, "{counts:?}");
}

/// What a wrong engine says does not hold of states, or it says too little.
#[test]
fn mistakes_are_caught() {
    use super::mistake::{MISTAKE, Mistake as M};
    let body =
        |line: &str| vec!["int x = 0, y = 1; unsigned u = 0; struct s *q = p;".to_owned(), line.to_owned()];
    let mistakes = [
        (M::MemoryIgnored, "p->n = a;", "p->n = b;"),
        (M::CalleesIgnored, "act(a);", "foreign(a);"),
        (M::ArgumentsIgnored, "act(a);", "act(b);"),
        (M::ResultsIgnored, "if (a < b) return a;", "if (a < b) return b;"),
        (M::VariablesIgnored, "x = a;", "x = b;"),
        (M::DeltasLost, "if (a < b) { act(1); return 1; }", "if (b < a) { act(2); return 2; }"),
        (M::AllTheSame, "x = a;", "x = b;"),
        (M::AllOpen, "x = a;", "x = b;"),
        (M::BranchesExchanged, "if (a < b) x = 1;", "if (a <= b) x = 1;"),
        (M::AccessesGranted, "x = a;", "x = p->n; x = a;"),
        (M::SumsGranted, "if (a < b) x = 1;", "if (a <= b - 1) x = 1;"),
        (M::TestsKept, "if (a == 1) return 2; a = b;", "if (a == 1) return 2; a = b; if (a == 1) return 5;"),
    ];
    let random = crate::testing::tier::rounds("INVDIFF_MISTAKES", 0, 3_000) as u64;
    for (mistake, old, new) in mistakes {
        let mut counts = Counts::default();
        MISTAKE.set(Some(mistake));
        check(&text(&body(old)), &text(&body(new)), 300, 1, &mut counts);
        let many = pairs(random, 30, 0);
        MISTAKE.set(None);
        println!("{mistake:?}: {counts:?} {many:?}");
        let says_nothing = |c: &Counts| c.met == 0 && c.open > 0;
        assert!(counts.violations > 0 || says_nothing(&counts), "{mistake:?}: {counts:?}");
        assert!(random == 0 || many.violations > 0 || says_nothing(&many), "{mistake:?}: {many:?}");
        // Without the mistake what is said of the two holds.
        let mut right = Counts::default();
        check(&text(&body(old)), &text(&body(new)), 300, 1, &mut right);
        assert!(right.violations == 0 && right.met + right.unmet > 0, "{mistake:?}: {right:?}");
    }
}

/// What is said to hold at a node holds each time that a run comes there.
#[test]
fn tests_hold_where_runs_come() {
    let count = crate::testing::tier::rounds("INVDIFF_STATES", 200, 10_000) as u64;
    let (mut seen, mut of_memory, mut joined) = (0u64, 0u64, 0u64);
    for k in 0..count {
        let mut random = Random(k.wrapping_mul(0x2545_f491_4f6c_dd1d) + 9);
        let mut lines = program(&mut random);
        if k % 5 == 2 {
            [lines, _] = switched(&mut random, &lines);
        }
        let source = text(&lines);
        let unit = unit(&source);
        let body = unit.functions.last().unwrap().clone();
        let graph = Mvicfg::build(vec![body.clone(), body.clone()]);
        let flow = crate::mvicfg::Flow::new(&graph);
        let version = Version { body: &body, unit: &unit };
        let pure = std::collections::BTreeSet::new();
        let side = super::side::Side {
            class: ClassId::OLD,
            version,
            layout: &unit,
            beside: &unit,
            flow: &flow.classes[0],
            tags: super::sites::tags(&graph)[0].clone(),
            pure: &pure,
            displaced: Default::default(),
            escapes: crate::semantics::escapes::Escapes::of(&graph, ClassId::OLD),
            fits: Default::default(),
        };
        let tested = super::tested::Tested::of(&graph, &side);
        let widened = Widened::of(body.clone(), body.clone());
        for round in 0..20 {
            let start = state(&graph, &widened, &mut Random(k ^ (round * 0x1656_67b1)));
            let mut comes = |node: MvId, state: &dyn Fn() -> State| {
                let held = tested.before(node);
                if held.is_empty() {
                    return true;
                }
                let state = state();
                for test in held {
                    seen += 1;
                    of_memory += u64::from(test.is_of_memory());
                    let alternatives = test.alternatives();
                    joined += u64::from(alternatives.len() > 1);
                    let held = holds(&graph, &state, &(ClassId::OLD, alternatives.clone()));
                    assert!(held, "at {node} {alternatives:?}\n{source}");
                }
                true
            };
            run_past((&graph, &unit), ClassId::OLD, Mvicfg::ENTRY, &mut comes, start);
        }
    }
    assert!(seen > 100 * count && of_memory > count && joined > count, "{seen} {of_memory} {joined}");
}

#[test]
fn an_executor_sees_what_differs() {
    let one =
        |body: &str| vec!["int x = 0, y = 1; unsigned u = 0; struct s *q = p;".to_owned(), body.to_owned()];
    let mut counts = Counts::default();
    check(&text(&one("if (a < b) x = 1;")), &text(&one("if (a <= b) x = 1;")), 200, 7, &mut counts);
    assert!(counts.met > 0 && counts.unmet > 0 && counts.violations == 0, "{counts:?}");
    // Where x is 1 already, nothing differs.
    assert!(counts.differ * 4 >= counts.met * 3, "{counts:?}");
}
