//! The region injection oracle: states are put at the point of a change, both versions run from there to their end
//! by an executor that shares nothing with the comparison, and the *printed* condition is read back and evaluated.
//! Where no condition holds and the rest is said to be the same, both must do the same; a neutral region must be
//! one from every state.
//!
//! Programs are generated, with one edit each. The executor has values, not terms; calls answer alike in both
//! versions and write nothing, as the comparison takes for granted; states on which the older version does
//! something undefined are passed over, for nothing is said of them.

use super::change::{Change, Verdict};
use super::side::Version;
use super::widened::Widened;
use super::{compare, unplaced};
use crate::fact::term::{self, Scope, Typed, When};
use crate::fact::{self};
use crate::frontend::{c, load_unit};
use crate::history::MemoryTree;
use crate::ir::{
    App, Const, Expr, Function, Instr, LOOP_VALUE, Leaf, Object, Op, Sort, Term, TermId, TermPool, Unit,
    VarId,
};
use crate::local::side::successor;
use crate::mvicfg::{MvId, Mvicfg};
use crate::testing::Random;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A state at a point.
struct State {
    vars: BTreeMap<VarId, Const>,
    /// What memory holds where nothing was written follows from this.
    seed: u64,
    memory: BTreeMap<u64, u8>,
}

impl State {
    fn byte(&self, address: u64) -> u8 {
        let small = [0, 0, 0, 1, 2, 3, 255];
        let drawn = Random(self.seed ^ address.wrapping_mul(0x9e37)).draw();
        self.memory.get(&address).copied().unwrap_or(if address.is_multiple_of(4) {
            small[drawn as usize % 7]
        } else {
            0
        })
    }
}

/// What a run does.
#[derive(Debug, PartialEq)]
struct Done {
    result: Option<Const>,
    calls: Vec<(String, Vec<Const>)>,
    memory: BTreeMap<u64, u8>,
}

/// Where locals lie that live in memory; nobody sees them when the function ends.
const LOCALS: u64 = 0x7000_0000;

fn address(graph: &Mvicfg, object: &Object) -> Option<u64> {
    match object {
        Object::Local(v) => {
            let var = &graph.vars[v.0 as usize];
            let hash: u64 = var.name.bytes().fold(0, |h, b| (h * 31 + u64::from(b)) % 997);
            Some(LOCALS + hash * 64)
        }
        _ => None,
    }
}

/// A value; `None`: undefined, or nothing that the executor knows.
fn value(graph: &Mvicfg, state: &State, e: &Expr) -> Option<Const> {
    match e {
        Expr::Const(c) => Some(*c),
        Expr::Var(v) => state.vars.get(v).copied(),
        Expr::Addr(object) => Some(Const::bv(64, i128::from(address(graph, object)?))),
        Expr::Op { op, args, .. } => {
            let args: Option<Vec<Const>> = args.iter().map(|a| value(graph, state, a)).collect();
            op.eval(&args?).ok()
        }
    }
}

fn read(state: &State, at: u64, sort: Sort, bytes: u64) -> Option<Const> {
    let bits = (0..bytes).rev().fold(0u128, |all, k| all << 8 | u128::from(state.byte(at.wrapping_add(k))));
    Const::from_bits(sort, bits)
}

/// An address that may be read and written: not null.
fn place(graph: &Mvicfg, state: &State, e: &Expr) -> Option<u64> {
    let at = value(graph, state, e)?.unsigned()? as u64;
    (at >= 4096).then_some(at)
}

/// Runs one version from a node to its end; `None`: it does something undefined, or takes too long, or comes to
/// one of the points (again), of which what is told says nothing.
fn run(graph: &Mvicfg, class: usize, from: MvId, again: (&[MvId], &mut bool), state: State) -> Option<Done> {
    let mut comes = |node: MvId, _: &State| {
        *again.1 |= again.0.contains(&node);
        !*again.1
    };
    run_past(graph, class, from, &mut comes, state)
}

/// The same, until `comes` says that it is enough.
fn run_past(
    graph: &Mvicfg,
    class: usize,
    from: MvId,
    comes: &mut dyn FnMut(MvId, &State) -> bool,
    state: State,
) -> Option<Done> {
    let mut state = state;
    let (mut calls, mut node) = (Vec::new(), from);
    for _ in 0..400 {
        if !comes(node, &state) {
            return None;
        }
        let mut label = 0;
        match &graph.node(node).instr {
            Instr::Nop => {}
            Instr::Declare(v) => _ = state.vars.remove(v),
            Instr::Assign { dst, value: e } => {
                let value = value(graph, &state, e)?;
                state.vars.insert(*dst, value);
            }
            Instr::Load { dst, addr, access } => {
                let value = read(&state, place(graph, &state, addr)?, access.sort, access.bytes)?;
                state.vars.insert(*dst, value);
            }
            Instr::Store { addr, value: e, access } => {
                let (at, value) = (place(graph, &state, addr)?, value(graph, &state, e)?);
                (0..access.bytes).for_each(|k| {
                    state.memory.insert(at + k, (value.to_bits() >> (8 * k)) as u8);
                });
            }
            Instr::Call { dst, callee: crate::ir::Callee::Direct(name), args, .. } => {
                let args: Option<Vec<Const>> = args.iter().map(|a| value(graph, &state, a)).collect();
                calls.push((name.to_string(), args?));
                if let (Some(dst), Some((name, args))) = (dst, calls.last()) {
                    let sort = graph.vars[dst.0 as usize].sort?;
                    state.vars.insert(*dst, answer(state.seed, name, args, sort)?);
                }
            }
            Instr::Branch { cond } => label = u8::from(!value(graph, &state, cond)?.as_bool()?),
            Instr::Return { value: e } => {
                let result = match e {
                    Some(e) => Some(value(graph, &state, e)?),
                    None => None,
                };
                state.memory.retain(|at, _| *at < LOCALS);
                let untouched = State { vars: BTreeMap::new(), seed: state.seed, memory: BTreeMap::new() };
                // Writing what is there is no write.
                state.memory.retain(|at, byte| untouched.byte(*at) != *byte);
                return Some(Done { result, calls, memory: state.memory });
            }
            _ => return None,
        }
        if node == Mvicfg::EXIT {
            return Some(Done { result: None, calls, memory: state.memory });
        }
        node = successor(graph, class, node, label)?;
    }
    None
}

/// What a function answers: another one, or with other arguments, something else.
fn answer(seed: u64, name: &str, args: &[Const], sort: Sort) -> Option<Const> {
    let asked = name.bytes().map(u128::from).chain(args.iter().map(|a| a.to_bits()));
    let asked = asked.fold(seed ^ 0xca11, |all, b| all.wrapping_mul(0x0100_0000_01b3) ^ b as u64);
    Const::from_bits(sort, [0u128, 1, 5, 0xffff_ffff][Random(asked).below(4) as usize])
}

/// Names of a printed condition, as terms over the state.
struct Point<'a> {
    pool: TermPool,
    graph: &'a Mvicfg,
    body: &'a Function,
    class: usize,
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

const HEAD: &str =
    "struct s { int n; int k; struct s *next; };\nint foreign(int);\nint other(int, int);\nvoid act(int);\n";

/// A function with one statement marked for the edit, as lines.
fn program(random: &mut Random) -> Vec<String> {
    let simple = |r: &mut Random| -> String {
        let v = r.pick(&["a", "b", "x", "y"]);
        let w = r.pick(&["a", "b", "x", "y"]);
        let k = r.pick(&["0", "1", "2", "3", "7", "-1"]);
        match r.below(12) {
            0 => format!("{v} = {w} + {k};"),
            1 => format!("{v} = {w} * 2 - {k};"),
            2 => format!("p->n = {v};"),
            3 => format!("{v} = p->k;"),
            4 => format!("act({v});"),
            5 => format!("{v} = foreign({w});"),
            6 => format!("p->k = {w} + {k};"),
            7 => format!("q = p->next;\nif (q) {v} = q->n;"),
            8 => format!("{v} = {w} & {k};"),
            9 => format!("u = (unsigned){v};\n{w} = (int)(u >> 1);"),
            10 => format!("if ({v} > {w}) {v} = {k};"),
            _ => format!("{v} = {k};"),
        }
    };
    let condition = |r: &mut Random| -> String {
        let v = r.pick(&["a", "b", "x", "y", "p->n"]);
        let w = r.pick(&["a", "b", "0", "1", "3", "p->k"]);
        let op = r.pick(&["<", "<=", "==", "!=", ">", ">="]);
        format!("{v} {op} {w}")
    };
    let mut lines = vec!["int x = 0, y = 1; unsigned u = 0; struct s *q = p;".to_owned()];
    for _ in 0..4 + random.below(5) {
        match random.below(8) {
            0 => lines.push(format!("if ({}) {{ {} }}", condition(random), simple(random))),
            1 => lines.push(format!("if ({}) return {};", condition(random), random.pick(&["-1", "x", "a"]))),
            2 => {
                let (c, s, t) = (condition(random), simple(random), simple(random));
                lines.push(format!("if ({c}) {{ {s} }} else {{ {t} }}"));
            }
            3 => {
                // Names say which variable is meant when a condition is read back.
                let (i, s) = (lines.len(), simple(random));
                lines.push(format!("for (int i{i} = 0; i{i} < 3; i{i}++) {{ {s} }}"));
            }
            4 => lines.push(format!("if ({} && {}) goto out;", condition(random), condition(random))),
            _ => lines.push(simple(random)),
        }
    }
    lines
}

/// One edit of one line.
fn edited(random: &mut Random, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    let at = 1 + random.below(lines.len() as u64 - 1) as usize;
    let swaps = [
        ("<=", "<"),
        ("<", "<="),
        ("==", "!="),
        (" + ", " - "),
        ("return -1", "return -2"),
        ("foreign(a)", "foreign(b)"),
        ("act(", "foreign("),
        ("&&", "||"),
        ("p->n", "p->k"),
        ("> ", ">= "),
        ("3", "4"),
        ("goto out", "return 9"),
        ("x", "y"),
        ("(unsigned)", "(unsigned char)"),
    ];
    match random.below(6) {
        0 => _ = lines.remove(at),
        1 => lines.insert(
            at,
            random
                .pick(&[
                    "act(x);",
                    "if (!p) return -3;",
                    "x = y;",
                    "if (a < b) return y;",
                    "p->n = 0;",
                    "for (int j = 0; j < 2; j++) { act(j); if (j == a) return 5; }",
                    "while (y > 3) y = y / 2;",
                    "if (p && a > 0) { do { p->n = p->n - 3; } while (p->n > 0); }",
                ])
                .to_owned(),
        ),
        2 if at + 1 < lines.len() => lines.swap(at, at + 1),
        _ => {
            let (from, to) = random.pick(&swaps);
            match lines[at].contains(from) {
                true => lines[at] = lines[at].replacen(from, to, 1),
                false => lines[at] = format!("{{ {} }}", lines[at]),
            }
        }
    }
    lines
}

/// A variable of its own that counts the rounds of a loop, and is looked at behind it.
fn counted(random: &mut Random, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    let Some(at) = lines.iter().position(|l| l.starts_with("for (")) else { return lines };
    let Some(end) = lines[at].rfind('}') else { return lines };
    lines[at].insert_str(end, random.pick(&["w = w + 1; ", "if (x > y) w = 1; ", "w = x; "]));
    lines.insert(at + 1, random.pick(&["if (w > 1) act(w);", "if (w) return -7;", "x = x + w;"]).to_owned());
    lines.insert(at, "int w = 0;".to_owned());
    lines
}

/// A variable that has another value from one line on, and the uses of which take that back.
fn scaled(random: &mut Random, lines: &[String]) -> Vec<String> {
    let v = random.pick(&["x", "y", "a", "b"]);
    let at = 1 + random.below(lines.len() as u64) as usize;
    let back = 1 + random.below(lines.len() as u64) as usize;
    let mut lines = lines.to_vec();
    lines.insert(at.max(back), format!("{v} = {v} - 1;"));
    let forth = match random.below(2) {
        0 => format!("{v} = {v} + 1;"),
        _ => format!("if (a > 0) {v} = {v} + 1; else {v} = 1 + {v};"),
    };
    lines.insert(at.min(back), forth);
    lines
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
    let (old_unit, new_unit) = (unit(old), unit(new));
    let last = |u: &Unit| -> Arc<Function> { Arc::new(u.functions.last().unwrap().clone()) };
    let bodies = (last(&old_unit), last(&new_unit));
    let versions =
        (Version { body: &bodies.0, unit: &old_unit }, Version { body: &bodies.1, unit: &new_unit });
    let Some((changes, _)) = compare(versions.0, versions.1, &|_, _| None) else { return };
    let widened = Widened::of(unplaced(&bodies.0), unplaced(&bodies.1));
    let graph = Mvicfg::build(widened.bodies.to_vec());
    counts.pairs += 1;
    // A second region may differ behind the first: only of a single one that differs the ends can be held
    // against what is said of it.
    whole((&graph, &widened), &changes, (old, new), states, seed, counts);
    let differing = changes.iter().filter(|c| c.verdict != Verdict::Neutral).count();
    for change in &changes {
        counts.regions += 1;
        counts.neutral += u64::from(change.verdict == Verdict::Neutral);
        counts.open += u64::from(matches!(change.verdict, Verdict::Open(_)) || change.rest.is_some());
        if differing > 1 || differing == 1 && change.verdict == Verdict::Neutral || change.rest.is_some() {
            continue;
        }
        // A region that was compared through another one is the same only after it: runs from between say nothing.
        if changes.iter().any(|c| c.way.covers) && !change.way.covers {
            continue;
        }
        let conditions = conditions(&graph, &new_unit, change, counts);
        let Some((pools, conditions)) = conditions else { continue };
        for k in 0..states {
            // A state that tests on the way would not have let through is none at the point.
            let drawn =
                (0..DRAWS).map(|n| seed ^ k.wrapping_mul(0x5851_f42d) ^ n.wrapping_mul(0x9e37_79b9_7f4a));
            let assigned = |seed: u64| {
                let mut state = state(&graph, &widened, &mut Random(seed));
                change.way.held.iter().for_each(|test| assign(&graph, &mut state, test));
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
                Instr::Branch { cond } => match value(&graph, &state(), cond).and_then(Const::as_bool) {
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
                false => [0, 1].map(|class: usize| successor(&graph, class, at, label)),
            };
            let [Some(first), Some(second)] = to else { continue };
            let [a, b] = [(0, first), (1, second)]
                .map(|(class, to): (usize, MvId)| run(&graph, class, to, (&points, &mut again), state()));
            let Some(a) = a.filter(|_| !again) else { continue };
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
fn holds(graph: &Mvicfg, state: &State, test: &(usize, (MvId, MvId), bool)) -> bool {
    let (class, (from, last), holds) = *test;
    let mut state = State { vars: state.vars.clone(), seed: state.seed, memory: state.memory.clone() };
    let found = match &graph.node(last).instr {
        Instr::Assign { dst, .. } => {
            let before = state.vars.get(dst).copied();
            before.and_then(|b| made(graph, &mut state, class, (from, last)).map(|made| made == b))
        }
        _ => made(graph, &mut state, class, (from, last)).and_then(Const::as_bool),
    };
    found == Some(holds)
}

/// Makes a state one in which an assignment was made.
fn assign(graph: &Mvicfg, state: &mut State, (class, nodes, _): &(usize, (MvId, MvId), bool)) {
    let Instr::Assign { dst, .. } = &graph.node(nodes.1).instr else { return };
    let mut after = State { vars: state.vars.clone(), seed: state.seed, memory: state.memory.clone() };
    if let Some(value) = made(graph, &mut after, *class, *nodes) {
        state.vars.insert(*dst, value);
    }
}

/// The value that a branch or an assignment comes to by the instructions before it.
fn made(graph: &Mvicfg, state: &mut State, class: usize, (from, last): (MvId, MvId)) -> Option<Const> {
    let mut node = from;
    while node != last {
        match &graph.node(node).instr {
            Instr::Assign { dst, value: e } => _ = state.vars.insert(*dst, value(graph, state, e)?),
            Instr::Load { dst, addr, access } => {
                let value = read(state, place(graph, state, addr)?, access.sort, access.bytes)?;
                state.vars.insert(*dst, value);
            }
            _ => return None,
        }
        node = successor(graph, class, node, 0)?;
    }
    let (Instr::Branch { cond: e } | Instr::Assign { value: e, .. }) = &graph.node(node).instr else {
        return None;
    };
    value(graph, state, e)
}

/// Where every region is neutral, the functions are the same from their entries.
fn whole(
    (graph, widened): (&Mvicfg, &Widened),
    changes: &[Change],
    (old, new): (&str, &str),
    states: u64,
    seed: u64,
    counts: &mut Counts,
) {
    if changes.iter().any(|c| c.verdict != Verdict::Neutral || c.apart) {
        return;
    }
    for k in 0..states {
        let state = || state(graph, widened, &mut Random(seed ^ k.wrapping_mul(0x1656_67b1)));
        let [a, b] = [0, 1].map(|class: usize| run(graph, class, Mvicfg::ENTRY, (&[], &mut false), state()));
        if b.is_none() && changes.iter().any(|c| c.valid) {
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
        let mut point = Point { pool: TermPool::new(), graph, body: &graph.bodies[1], class: 1, unit };
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
    State { vars, seed: random.draw(), memory: BTreeMap::new() }
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

/// Variables by other types.
const RETYPED: [(&str, &str); 6] = [
    ("int x = 0, y = 1;", "long x = 0, y = 1;"),
    ("int x = 0, y = 1;", "signed char x = 0; int y = 1;"),
    ("unsigned u", "unsigned char u"),
    ("unsigned u", "unsigned long u"),
    ("int f(int a,", "int f(long a,"),
    ("int f(int a, int b,", "int f(int a, unsigned short b,"),
];

/// What is told of two programs is told of them, too, where the newer one's structures are laid out otherwise.
#[test]
fn layouts_make_no_difference() {
    let heads = [
        "struct s { struct s *next; long more; int k; char pad[3]; int n; };",
        "struct s { int n; int k; char pad[12]; struct s *next; char last[7]; };",
        "struct s { int k; int n; struct s *next; };",
    ];
    let count = crate::testing::tier::rounds("INVDIFF_LAYOUTS", 150, 3_000) as u64;
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
            let (changes, _) = compare(version(0), version(1), &|_, _| None).unwrap();
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
    let count = crate::testing::tier::rounds("INVDIFF_LAYOUTS", 150, 3_000) as u64;
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
            let (changes, _) = compare(version(0), version(1), &|_, _| None)?;
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
    let count = crate::testing::tier::rounds("INVDIFF_STATES", 600, 10_000) as u64;
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
    let count = crate::testing::tier::rounds("INVDIFF_STATES", 600, 10_000) as u64;
    let (mut seen, mut of_memory) = (0u64, 0u64);
    for k in 0..count {
        let mut random = Random(k.wrapping_mul(0x2545_f491_4f6c_dd1d) + 9);
        let source = text(&program(&mut random));
        let unit = unit(&source);
        let body = Arc::new(unit.functions.last().unwrap().clone());
        let graph = Mvicfg::build(vec![body.clone(), body.clone()]);
        let flow = crate::mvicfg::Flow::new(&graph);
        let version = Version { body: &body, unit: &unit };
        let pure = std::collections::BTreeSet::new();
        let side = super::side::Side {
            class: 0,
            version,
            layout: &unit,
            flow: &flow.classes[0],
            tags: super::sites::tags(&graph)[0].clone(),
            pure: &pure,
            displaced: Default::default(),
            fits: Default::default(),
        };
        let tested = super::tested::Tested::of(&graph, &side);
        let widened = Widened::of(body.clone(), body.clone());
        for round in 0..20 {
            let start = state(&graph, &widened, &mut Random(k ^ (round * 0x1656_67b1)));
            let mut comes = |node: MvId, state: &State| {
                for test in tested.before(node) {
                    seen += 1;
                    of_memory += u64::from(test.is_of_memory());
                    let held = holds(&graph, state, &(0, test.nodes(), test.holds));
                    assert!(held, "at {node} {:?} {}\n{source}", test.nodes(), test.holds);
                }
                true
            };
            run_past(&graph, 0, Mvicfg::ENTRY, &mut comes, start);
        }
    }
    assert!(seen > 100 * count && of_memory > count, "{seen} {of_memory}");
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
