//! Counts against enumeration: every input of a domain is run by the interpreter, in both versions of a
//! program, and the counts of `quantify` have to be those of the runs.
//!
//! `INVDIFF_QUANTIFY=500 cargo test --release --test oracle quantify -- --nocapture` tries so many programs;
//! `INVDIFF_QUANTIFY_FROM` is the first seed, `INVDIFF_QUANTIFY_INPUTS` the most inputs of a domain.

use crate::generate_c;
use crate::mutants;
use crate::mutants::Random;
use crate::support::tier::rounds;
use git_invdiff::analysis::quantify::{Choice, Counted, Problem, Quantified, TargetChoice, Wanted, quantify};
use git_invdiff::analysis::{Options, Request, memory};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::{
    Comparison, Difference, End, Input, Limits, ObjectId, ObjectInit, Observation, Outcome, Program, Storage,
    Value, compare, run_traced,
};
use git_invdiff::ir::{Const, Function, Global, Instr, NodeId};
use git_invdiff::quantify::{Comparison as Found, Keeper, Totals};
use git_invdiff::semantics::fixed;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Reasons that say of all inputs of a path that they do something undefined.
pub(crate) const UNDEFINED: [&str; 6] = [
    "a division by zero, or one that overflows",
    "a shift by too much",
    "a signed overflow",
    "a conversion of a float that does not fit",
    "an access out of bounds",
    "a write to a constant",
];

/// Every input counts once, on the usual domain.
pub fn even(limits: git_invdiff::quantify::Limits) -> Choice {
    Choice {
        domains: BTreeMap::new(),
        weights: BTreeMap::new(),
        factors: Vec::new(),
        lengths: BTreeMap::new(),
        asked: BTreeSet::new(),
        is_projects: false,
        target: TargetChoice::Assertion,
        is_target_only: false,
        limits,
        with_first: false,
        tree: None,
        suite: None,
    }
}

/// An input of integers with its range.
pub type Integer = (String, (i128, i128));

/// The inputs of a function; `None`: one is no integer.
pub fn integers(q: &Quantified) -> Option<Vec<Integer>> {
    q.inputs.iter().map(|i| Some((i.name.clone(), i.range.as_whole()?))).collect()
}

/// Trees that are kept.
#[derive(Default)]
pub struct Trees(Mutex<BTreeMap<Vec<String>, Vec<u8>>>);

impl Keeper for Trees {
    fn get(&self, parts: &[String]) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(parts).cloned()
    }

    fn put(&self, parts: &[String], value: &[u8]) {
        self.0.lock().unwrap().insert(parts.to_vec(), value.to_vec());
    }
}

pub(crate) fn program(source: &str) -> Option<Program> {
    let tree = MemoryTree::new([("a.c", source)]);
    let mut unit = frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).ok()?.unit;
    fixed::settle(&mut unit);
    Some(Program::new(vec![Arc::new(unit)]))
}

/// What the runs of a version come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Success,
    Failure,
    Undefined,
}

fn class(o: &Outcome) -> Class {
    match &o.end {
        _ if o.overflowed() => Class::Undefined,
        End::Return | End::Exit(_) => Class::Success,
        End::AssertFailed { .. } | End::Abort => Class::Failure,
        _ => Class::Undefined,
    }
}

/// The line where a run failed.
fn failed_at(o: &Outcome) -> Option<u32> {
    match (&o.end, &o.ending.aborted) {
        (End::AssertFailed { place, .. }, _) => Some(place.line),
        (End::Abort, Some(place)) => Some(place.line),
        _ => None,
    }
}

#[derive(Default, Debug)]
struct Truth {
    /// By version.
    success: [i128; 2],
    failure: [i128; 2],
    /// Neither run is undefined, and they differ, or they are the same, or that depends on what one asks.
    differing: i128,
    same: i128,
    either: i128,
    /// Of these, one version comes to a changed line of the function.
    reaching: i128,
    /// Of those that differ or may, neither version comes to one.
    apart: i128,
    /// By version and node: decisions for and against.
    branches: [BTreeMap<NodeId, (i128, i128)>; 2],
}

/// What the tests saw, so that they cannot pass without having seen it.
#[derive(Default, Debug)]
struct Seen {
    functions: usize,
    exact: usize,
    inputs: i128,
    failing: usize,
    grey: usize,
    differing: usize,
    compared_exactly: usize,
    branches: usize,
    kept: usize,
    taken_over: usize,
    pruned: usize,
}

pub(crate) fn global<'p>(program: &'p Program, name: &str) -> Option<&'p Global> {
    program.units().iter().find_map(|u| u.global(name))
}

fn one_value(input: &mut Input, program: &Program, function: &str, name: &str, value: i128) {
    let Some(f) = program.function(function) else { return };
    if let Some(i) = f.params.iter().position(|p| &*f.var(*p).name == name) {
        let width = f.var(f.params[i]).sort.and_then(|s| s.bits()).unwrap_or(32);
        input.arguments.resize(f.params.len().max(input.arguments.len()), Value::Const(Const::bv(32, 0)));
        input.arguments[i] = Value::Const(Const::bv(width, value));
        return;
    }
    // A version that does not mention it has no such object.
    let Some(global) = global(program, name) else { return };
    // What one version never writes is there what it is written as.
    if global.is_known_constant() {
        return;
    }
    let bytes = value.to_le_bytes()[..global.size as usize].to_vec();
    let (id, ty) = (ObjectId(100 + input.objects.len() as u32), global.ty.clone());
    let storage = Storage::Global(global.symbol.clone());
    input.objects.push(ObjectInit { id, ty, storage, bytes, undefined: Vec::new(), pointers: Vec::new() });
}

/// How often a run decides each branch of its entry function, both ways, and whether it comes to some lines.
struct Trace {
    nodes: Vec<NodeId>,
    watched: Vec<NodeId>,
}

impl Trace {
    fn of(f: &Function) -> Trace {
        let watched = (0..f.nodes.len() as u32).map(NodeId).collect();
        Trace { nodes: Vec::new(), watched }
    }

    fn run(&mut self, p: &Program, name: &str, input: &Input, limits: &Limits) -> Outcome {
        self.nodes.clear();
        let nodes = &mut self.nodes;
        let mut observe = |n: NodeId, _: &mut Observation| {
            nodes.push(n);
            ControlFlow::Continue(())
        };
        run_traced(p, name, input, limits, &self.watched, &mut observe)
    }

    fn decisions<'a>(&'a self, f: &'a Function) -> impl Iterator<Item = (NodeId, bool)> + 'a {
        let pairs = self.nodes.windows(2).filter(|w| matches!(f.node(w[0]).instr, Instr::Branch { .. }));
        pairs.map(|w| (w[0], f.node(w[0]).succs[0] == w[1]))
    }

    fn comes_to(&self, f: &Function, lines: &BTreeSet<u32>) -> bool {
        let is_code = |n: &&NodeId| !matches!(f.node(**n).instr, Instr::Nop);
        self.nodes.iter().filter(is_code).any(|n| lines.contains(&f.node(*n).span.line))
    }
}

fn enumerate(programs: [&Program; 2], q: &Quantified) -> Truth {
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let mut truth = Truth::default();
    let functions = programs.map(|p| p.function(&q.name).expect("both versions have it"));
    let inputs = integers(q).expect("all are integers");
    for (name, _) in &inputs {
        let is_parameter = |f: &Function| f.params.iter().any(|p| &*f.var(*p).name == name);
        let has_one = programs.iter().any(|p| global(p, name).is_some());
        assert!(has_one || functions.iter().any(|f| is_parameter(f)), "{name} is no parameter and no global");
    }
    let mut traces = functions.map(Trace::of);
    let changed = [&q.lines[0].old, &q.lines[0].new];
    let mut values: Vec<i128> = inputs.iter().map(|(_, range)| range.0).collect();
    for _ in 0..q.size {
        let mut one = |v: usize| {
            let mut input = Input::default();
            for ((name, _), value) in inputs.iter().zip(&values) {
                one_value(&mut input, programs[v], &q.name, name, *value);
            }
            traces[v].run(programs[v], &q.name, &input, &limits)
        };
        let outcomes = [one(0), one(1)];
        let classes = [class(&outcomes[0]), class(&outcomes[1])];
        for v in 0..2 {
            truth.success[v] += i128::from(classes[v] == Class::Success);
            truth.failure[v] += i128::from(classes[v] == Class::Failure);
            for (node, taken) in traces[v].decisions(functions[v]).filter(|_| classes[v] != Class::Undefined)
            {
                let counts = truth.branches[v].entry(node).or_default();
                *(if taken { &mut counts.0 } else { &mut counts.1 }) += 1;
            }
        }
        if !classes.contains(&Class::Undefined) {
            let reaches = |v: usize| traces[v].comes_to(functions[v], changed[v]);
            let is_reached = reaches(0) || reaches(1);
            truth.reaching += i128::from(is_reached);
            let same = truth.same;
            let same_line = match (failed_at(&outcomes[0]), failed_at(&outcomes[1])) {
                (Some(a), Some(b)) => q.lines[0].same.get(&a).map(|a| *a == b),
                _ => Some(true),
            };
            let [a, b] = [0, 1].map(|v| (programs[v], &outcomes[v]));
            let is_over = outcomes[0].end != End::Return;
            match (compare(a, b), same_line) {
                // Nobody sees the memory of a program that has ended.
                (Comparison::Different(Difference::Memory(_)), Some(true)) if is_over => truth.same += 1,
                (_, None) => truth.either += 1,
                (_, Some(false)) | (Comparison::Different(_), _) => truth.differing += 1,
                (Comparison::Equal, _) => truth.same += 1,
                (Comparison::Undecided, _) => truth.either += 1,
            }
            truth.apart += i128::from(!is_reached && truth.same == same);
        }
        for ((_, range), value) in inputs.iter().zip(&mut values) {
            *value += 1;
            if *value <= range.1 {
                break;
            }
            *value = range.0;
        }
    }
    truth
}

/// A target of a function.
fn a_target(counted: &[Quantified], random: &mut Random) -> TargetChoice {
    let newest = counted.iter().find_map(|q| Some((q, q.versions.last()?.as_ref()?)));
    let line = newest.and_then(|(q, c)| {
        let own: Vec<u32> =
            c.totals.branches.iter().filter(|b| b.function == q.name).map(|b| b.line).collect();
        Some((q.file.clone(), *own.get(random.below(own.len().max(1)))?))
    });
    match (random.below(5), line) {
        (0, Some((file, line))) => TargetChoice::Line(file, line),
        (1, Some((file, line))) => TargetChoice::Branch(file, line),
        (2, _) => TargetChoice::Return(random.below(9) as i128 - 1),
        (3, _) => TargetChoice::Churn,
        _ => TargetChoice::Assertion,
    }
}

/// Counts nothing but a target: what meets it with all paths meets it, and no more than may.
fn pruned(
    request: &Request,
    choice: &Choice,
    wanted: &Wanted,
    target: TargetChoice,
    seen: &mut Seen,
    what: &str,
) {
    let counted = |is_target_only| {
        let choice = Choice { target: target.clone(), is_target_only, ..choice.clone() };
        quantify(request, &choice, wanted, &Trees::default())
    };
    let (Ok(full), Ok(own)) = (counted(false), counted(true)) else { return };
    for (full, own) in full.iter().zip(&own) {
        let what = format!("{target:?} {}() {what}", full.name);
        assert!(own.steps.is_empty() && own.is_target_only, "{what}");
        for (v, pair) in full.versions.iter().zip(&own.versions).enumerate() {
            let (Some(a), Some(b)) = pair else { continue };
            // Inputs that are not read any more are none.
            let of = |t: &Totals, n: i128| n * (full.size * own.size / t.size);
            let (a, b, states) = (&a.totals, &b.totals, (a.states, b.states));
            let what = format!("version {} {a:?}\n{b:?}\n{what}", v + 1);
            let is_cut = |t: &Totals| t.reasons.keys().any(|why| !UNDEFINED.contains(why));
            if is_cut(a) || is_cut(b) {
                continue;
            }
            assert!(of(a, a.target) <= of(b, b.target), "{what}");
            assert!(of(b, b.target + b.uncertain) <= of(a, a.target + a.uncertain), "{what}");
            seen.pruned += usize::from(states.1 < states.0);
        }
    }
}

/// What comparisons found, without the numbers of terms.
fn found(q: &Quantified) -> Vec<Result<Found, &'static str>> {
    let numberless = |c: &Found| Found { pieces: vec![Vec::new(); c.pieces.len()], ..c.clone() };
    q.steps.iter().map(|step| step.as_ref().map(numberless).map_err(|why| *why)).collect()
}

fn calls_itself(p: &Program, name: &str) -> bool {
    let Some(f) = p.function(name) else { return false };
    f.nodes.iter().any(|n| n.instr.named_callees().iter().any(|callee| ***callee == *name))
}

/// Counts every function of two versions, on domains of at most `most` inputs, and holds it against runs.
fn check(old: &str, new: &str, random: &mut Random, most: i128, seen: &mut Seen, what: &str) {
    let (Some(a), Some(b)) = (program(old), program(new)) else { return };
    let request = memory::request(
        &[vec![("a.c", old)], vec![("a.c", new)]],
        c::Options::default(),
        Options { jobs: 1, ..Options::default() },
    );
    let limits = git_invdiff::quantify::Limits { paths: 3000, work: 3_000_000, ..Default::default() };
    let mut choice = even(limits);
    let trees = Trees::default();
    let all = |_: &git_invdiff::report::RepoPath, name: &str| name != "main";
    let names = quantify(&request, &choice, &Wanted { is_it: &all, is_named: false }, &trees);
    for q in names.unwrap_or_default() {
        let is_it = |_: &git_invdiff::report::RepoPath, name: &str| name == &*q.name;
        let wanted = Wanted { is_it: &is_it, is_named: true };
        let Some(inputs) = integers(&q) else { continue };
        let parameters = |p: &Program| {
            let f = p.function(&q.name)?;
            let known = |v| inputs.iter().any(|(name, _)| *f.var(v).name == **name);
            f.params.iter().all(|v| known(*v)).then_some(f.params.len())
        };
        if parameters(&a).is_none() || parameters(&a) != parameters(&b) {
            continue;
        }
        let mut width = 60;
        while i128::pow(width, inputs.len() as u32) > most && width > 1 {
            width -= 1;
        }
        choice.domains.clear();
        for (name, (low, high)) in &inputs {
            let range = match (low, random.below(8)) {
                _ if *high == 1 => (0, 1),
                (0, _) => (0, width - 1),
                (_, 0) => (i128::from(i32::MAX) - width + 1, i128::from(i32::MAX)),
                (_, 1) => (i128::from(i32::MIN), i128::from(i32::MIN) + width - 1),
                _ => (-(width / 2), width - 1 - width / 2),
            };
            choice.domains.insert(name.clone(), range.into());
        }
        let mut counted = quantify(&request, &choice, &wanted, &trees);
        if let Err(Problem::OutOfType { .. }) = counted {
            for range in choice.domains.values_mut() {
                let signed = range.as_whole().is_some_and(|range| range.0 < 0 || range.1 > 1_000_000);
                let half = width.min(100) / 2;
                *range = if signed { (-half, width.min(100) - 1 - half).into() } else { *range };
            }
            counted = quantify(&request, &choice, &wanted, &trees);
        }
        let counted = counted.unwrap_or_else(|e| panic!("{what}: {e:?}"));
        // From the trees that were kept it is the same, and nothing is followed anew.
        let again = quantify(&request, &choice, &wanted, &trees).unwrap_or_else(|e| panic!("{what}: {e:?}"));
        for (q, kept) in counted.iter().zip(&again) {
            assert_eq!(found(q), found(kept), "{what}\n{old}\n=====\n{new}");
            assert_eq!(q.differ_when, kept.differ_when, "{what}\n{old}\n=====\n{new}");
            let spent = |c: &Counted| c.totals.reasons.contains_key(git_invdiff::quantify::TOO_LARGE);
            let is_spent = q.versions.iter().flatten().any(spent);
            for (one, other) in q.versions.iter().zip(&kept.versions) {
                let (Some(one), Some(other)) = (one, other) else { continue };
                assert_eq!(
                    (&one.totals, one.states),
                    (&other.totals, other.states),
                    "{what}\n{old}\n=====\n{new}"
                );
                let is_cut = is_spent || one.totals.reasons.contains_key("more paths than the bound");
                assert!(is_cut || other.explored == 0, "{what}\n{old}\n=====\n{new}");
                seen.kept += usize::from(!is_cut);
                seen.taken_over += usize::from(one.explored < one.states);
            }
        }
        let target = a_target(&counted, random);
        pruned(&request, &choice, &wanted, target, seen, &format!("{what}\n{old}\n=====\n{new}"));
        for q in counted.iter().filter(|q| q.size <= 2 * most) {
            judge([&a, &b], q, seen, &format!("{what}, {}()\n{old}\n=====\n{new}", q.name));
        }
    }
}

fn judge(programs: [&Program; 2], q: &Quantified, seen: &mut Seen, what: &str) {
    let truth = enumerate(programs, q);
    seen.functions += 1;
    seen.inputs += q.size;
    let mut all_exact = true;
    for (v, counted) in q.versions.iter().enumerate() {
        let t = &counted.as_ref().expect("both versions have it").totals;
        let what = format!("version {}: {t:?}\n{truth:?}\n{:?} {what}", v + 1, q.inputs);
        assert_eq!(t.success + t.failure + t.grey, q.size, "{what}");
        assert!(t.success >= 0 && t.failure >= 0 && t.grey >= 0, "{what}");
        assert!(t.success <= truth.success[v] && t.failure <= truth.failure[v], "{what}");
        let named: i128 =
            t.reasons.iter().filter(|(why, _)| UNDEFINED.contains(why)).map(|(_, g)| g.inputs).sum();
        let undefined = q.size - truth.success[v] - truth.failure[v];
        assert!(named <= undefined, "{what}");
        if named == t.grey {
            assert_eq!((t.success, t.failure), (truth.success[v], truth.failure[v]), "{what}");
            // Of a function that calls itself, the trace has the outermost call alone.
            let own =
                t.branches.iter().filter(|b| b.function == q.name && !calls_itself(programs[v], &q.name));
            for b in own {
                let counts = truth.branches[v].get(&b.node).copied().unwrap_or_default();
                assert_eq!((b.taken, b.not_taken), counts, "line {}, {:?} {what}", b.line, b.node);
                seen.branches += 1;
            }
            seen.exact += 1;
        } else {
            all_exact = false;
        }
        seen.failing += usize::from(t.failure > 0);
        seen.grey += usize::from(t.grey > 0);
    }
    // What one version never writes does not begin there as in the other.
    let is_fixed = |p: &Program, name: &str| {
        p.units().iter().any(|u| u.global(name).is_some_and(|g| g.is_known_constant()))
    };
    let is_alike = q.inputs.iter().all(|i| is_fixed(programs[0], &i.name) == is_fixed(programs[1], &i.name));
    if let Some(Ok(c)) = q.steps.first().filter(|_| is_alike) {
        let what = format!("{c:?}\n{truth:?}\n{:?} {what}", q.inputs);
        assert_eq!(c.same + c.differing + c.open, q.size, "{what}");
        assert!(
            c.differing <= truth.differing + truth.either && c.same <= truth.same + truth.either,
            "{what}"
        );
        assert!(c.disturbed <= c.differing && c.same >= 0 && c.differing >= 0 && c.open >= 0, "{what}");
        seen.differing += usize::from(c.differing > 0 && c.same > 0);
        let is_exact = c.differing == truth.differing && c.same == truth.same;
        if all_exact {
            // Those that differ by a declaration alone are counted, too.
            let all = truth.reaching + truth.apart;
            assert!(c.reaching <= all, "{what}");
            assert!((truth.reaching..=all).contains(&c.reaching) || !is_exact, "{what}");
        }
        seen.compared_exactly += usize::from(all_exact && is_exact);
    }
}

/// A small program of integers: branches, loops, arrays, calls, assertions; now and then undefined.
fn small(seed: u64) -> String {
    made(seed, false)
}

/// The same; `is_checked`: without what a compiler's checks of undefined operations miss, or find where we see none.
pub(crate) fn made(seed: u64, is_checked: bool) -> String {
    let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut m = Maker { random, out: String::new(), depth: 1, is_checked };
    m.out.push_str(
        "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n\nint total;\nstatic int mode = 1;\n",
    );
    m.out.push_str("static const int primes[4] = {2, 3, 5, 7};\nstruct pair { int left; short right; };\n\n");
    m.out.push_str("static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }\n");
    m.out.push_str("static int power(int v, int n) { return n <= 0 ? 1 : v * power(v, n - 1); }\n");
    m.out.push_str("static void add(int *to, int by) { *to += by; }\n\n");
    let types = ["int", "int", "short", "signed char", "unsigned char", "unsigned", "long"];
    let (a, b) = (types[m.random.below(7)], types[m.random.below(7)]);
    let _ = writeln!(m.out, "int f({a} a, {b} b)\n{{");
    let given = if is_checked { " = 0" } else { "" };
    let _ =
        writeln!(m.out, "    int x = 0, y = 1, t[5] = {{1, 2, 3}}, u{given};\n    struct pair s = {{4, 5}};");
    for _ in 0..3 + m.random.below(5) {
        m.statement();
    }
    let value = m.value(2);
    let _ = writeln!(m.out, "    return {value};\n}}");
    m.out
}

struct Maker {
    random: Random,
    out: String,
    depth: usize,
    is_checked: bool,
}

impl Maker {
    /// What is shifted to the left: a compiler's check finds each shift of a negative number undefined.
    fn shifted(&self, value: &str) -> String {
        if self.is_checked { format!("({value} & 1023)") } else { value.to_owned() }
    }

    fn one(&mut self, of: &[&str]) -> String {
        of[self.random.below(of.len())].to_owned()
    }

    fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.below(4) == 0 {
            return match self.random.below(12) {
                0 => format!("{}", self.random.below(12) as i64 - 4),
                1 => "total".into(),
                2 => "mode".into(),
                3 => self.one(&["s.left", "s.right"]),
                4 => self.one(&["t[0]", "t[4]", "primes[2]"]),
                _ => self.one(&["a", "a", "b", "b", "x", "y"]),
            };
        }
        let (l, r) = (self.value(depth - 1), self.value(depth - 1));
        match self.random.below(22) {
            0..4 => format!("{l} + {r}"),
            4..7 => format!("({l} - {r})"),
            7 | 8 => format!("({l}) * {}", self.random.below(7) as i64 - 2),
            9 => format!("({l}) * ({r})"),
            10 => format!("({l}) / {}", 1 + self.random.below(5)),
            11 => format!("({l}) / ({r})"),
            12 => format!("({l}) % {}", 2 + self.random.below(6)),
            13 => format!("(({l}) & {})", self.random.below(16)),
            14 => format!("({} << {})", self.shifted(&format!("({l})")), self.random.below(4)),
            15 => format!("(({l}) >> {})", self.random.below(4)),
            16 => format!("clamp({l}, -3, {})", 2 + self.random.below(6)),
            17 => format!("({} ? {l} : {r})", self.condition()),
            18 => format!("t[({l}) & 3]"),
            19 => format!("primes[({l}) & 3]"),
            20 => format!("abs({l})"),
            _ => format!("-({l})"),
        }
    }

    fn condition(&mut self) -> String {
        let (l, r) = (self.value(1), self.value(1));
        let c = format!("{l} {} {r}", self.one(&["<", "<=", ">", ">=", "==", "!="]));
        match self.random.below(5) {
            0 => format!("{c} && {} > {}", self.one(&["a", "b", "x"]), self.random.below(5)),
            1 => format!("{c} || {} < {}", self.one(&["a", "b", "y"]), self.random.below(5)),
            _ => c,
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.depth));
    }

    fn block(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        for _ in 0..1 + self.random.below(2) {
            self.statement();
        }
        self.depth -= 1;
        self.line("}");
    }

    fn statement(&mut self) {
        let value = self.value(2);
        match self.random.below(if self.depth > 2 { 14 } else { 20 }) {
            0..4 => {
                let place = self.one(&["x", "x", "y", "s.left", "s.right", "t[2]", "total", "mode"]);
                self.line(&format!("{place} = {value};"));
            }
            4 | 5 => {
                let place = self.one(&["x", "y", "total", "t[1]"]);
                self.line(&format!("{place} += {value};"));
            }
            6 => {
                let index = self.one(&["a & 3", "b & 3", "a", "x", "y & 7"]);
                self.line(&format!("t[{index}] = {value};"));
            }
            7 | 8 => {
                let c = self.condition();
                self.line(&format!("assert({c});"));
            }
            9 => {
                let text = self.one(&[
                    "\"%d\\n\", x",
                    "\"x%d,%d\\n\", x, y",
                    "\"here\\n\"",
                    "\"%d%d\", x, y",
                    "\"%x \", y",
                ]);
                self.line(&format!("printf({text});"));
            }
            10 => self.line(&format!("add(&x, {value});")),
            11 => {
                let c = self.condition();
                self.line(&format!("if ({c}) u = {value};"));
                if self.random.below(3) == 0 {
                    self.line("x += u;");
                }
            }
            12 => {
                let c = self.condition();
                let what = self.one(&["return 7;", "exit(3);", "abort();", "return x;", "y = power(a, 3);"]);
                self.line(&format!("if ({c}) {what}"));
            }
            13 => {
                let (l, r) = (self.one(&["a", "b", "x"]), self.random.below(40));
                self.line(&format!("y = {} << {r};", self.shifted(&l)));
            }
            14..17 => {
                let c = self.condition();
                self.block(&format!("if ({c})"));
                if self.random.below(2) == 0 {
                    self.block("else");
                }
            }
            17 | 18 => {
                let name = format!("i{}", self.depth);
                let limit = match self.random.below(3) {
                    0 => "(b & 3)".to_owned(),
                    _ => format!("{}", 2 + self.random.below(3)),
                };
                self.block(&format!("for (int {name} = 0; {name} < {limit}; {name}++)"));
            }
            _ => {
                self.line(&format!("switch ({value}) {{"));
                self.line("case 1: x++; break;");
                self.line("case 3: y--;");
                self.line("case 4: x = y; break;");
                self.line("default: total++;");
                self.line("}");
            }
        }
    }
}

/// Changes a number or a comparison of a small program.
pub(crate) fn changed(source: &str, random: &mut Random) -> String {
    let begin = source.find("int f(").unwrap_or(0);
    for _ in 0..40 {
        let choices = [
            (" < ", " <= "),
            (" > ", " >= "),
            (" == ", " != "),
            (" + ", " - "),
            (" += ", " -= "),
            ("3", "4"),
        ];
        let (old, new) = choices[random.below(choices.len())];
        let places: Vec<usize> = source[begin..].match_indices(old).map(|(i, _)| begin + i).collect();
        if let Some(&at) = places.get(random.below(places.len())) {
            let text = format!("{}{new}{}", &source[..at], &source[at + old.len()..]);
            if program(&text).is_some() {
                return text;
            }
        }
    }
    source.to_owned()
}

fn most() -> i128 {
    rounds("INVDIFF_QUANTIFY_INPUTS", 4000, 20_000) as i128
}

#[test]
fn counts_of_small_programs_are_those_of_all_their_runs() {
    let (from, programs) =
        (rounds("INVDIFF_QUANTIFY_FROM", 0, 0) as u64, rounds("INVDIFF_QUANTIFY", 11, 500) as u64);
    let mut seen = Seen::default();
    for seed in from..from + programs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let old = small(seed);
        let new = changed(&old, &mut random);
        check(&old, &new, &mut random, most(), &mut seen, &format!("small program {seed}"));
    }
    println!("{seen:?}");
    let functions = seen.functions;
    assert!(functions * 3 >= programs as usize * 2, "{seen:?}");
    assert!(seen.exact * 10 >= functions * 2 * 8, "most counts are to be exact: {seen:?}");
    assert!(seen.compared_exactly * 2 >= functions, "{seen:?}");
    assert!(seen.branches > functions, "{seen:?}");
    assert!(seen.failing > 0 && seen.grey > 0 && seen.differing > 0, "{seen:?}");
    assert!(seen.kept > 0 && seen.taken_over > 0 && seen.pruned > 0, "{seen:?}");
}

#[test]
fn counts_of_programs_at_the_edges_of_c_contradict_no_run() {
    let (from, programs) =
        (rounds("INVDIFF_QUANTIFY_FROM", 0, 0) as u64, rounds("INVDIFF_QUANTIFY", 11, 500) as u64);
    let mut seen = Seen::default();
    for seed in from..from + programs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let old = mutants::with_assertions(&generate_c::program(seed).source, &mut random);
        let new = mutants::mutant(&old, &mut random);
        check(&old, &new, &mut random, most() / 4, &mut seen, &format!("program {seed}"));
    }
    println!("{seen:?}");
    assert!(seen.functions > 0 && seen.exact > 0, "{seen:?}");
}
