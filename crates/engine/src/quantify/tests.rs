//! What a version takes over from an older one's tree is what it would find itself.

use super::totals::{Work, totals_within};
use super::*;
use crate::count::{Counter, Domain, Input, Values};
use crate::frontend::{c, load_unit};
use crate::history::MemoryTree;
use crate::ir::{Function, TermPool, Unit};
use std::collections::BTreeMap;
use std::path::Path as File;

fn unit(text: &str) -> Unit {
    let tree = MemoryTree::new([("a.c", text)]);
    load_unit(&tree, File::new("a.c"), &c::Options::default()).unwrap().unit
}

/// Explores the last function of a text, with or without an older version's tree.
fn explored<'a>(
    unit: &'a Unit,
    older: Option<(&'a Unit, &'a Explored)>,
    pool: &mut TermPool,
    counter: &mut Counter,
) -> Explored {
    explored_toward(None, unit, older, pool, counter)
}

/// The same, with nothing but a target asked.
fn explored_toward<'a>(
    target: Option<&Target>,
    unit: &'a Unit,
    older: Option<(&'a Unit, &'a Explored)>,
    pool: &mut TermPool,
    counter: &mut Counter,
) -> Explored {
    let aim = |f: &Function, unit: &Unit| target.map(|t| Aim::at(t.clone(), f, unit));
    let f = unit.functions.last().unwrap();
    let nothing = BTreeMap::new();
    let own = candidates(f, unit, pool);
    let start = Start { candidates: &own, contents: &nothing, is_initial: false, conditions: &[] };
    let limits = Limits::default();
    let mut inputs = Bounded::new(counter, limits.work);
    let own_aim = aim(f, unit);
    let Some((old_unit, old)) = older else {
        return Explorer::new(f, unit, pool, start, &mut inputs, limits).toward(own_aim.as_ref()).explore();
    };
    let g = old_unit.functions.last().unwrap();
    let theirs = candidates(g, old_unit, pool);
    let place = |c: &Candidate| own.iter().position(|d| c == d).map(|k| k as u32);
    let places = theirs.iter().map(place).collect();
    let their_aim = aim(g, old_unit);
    let side = |function, unit, candidates, aim| Code { function, unit, candidates, aim };
    let old_side = side(g, old_unit, &theirs, their_aim.as_ref());
    let pairing = Pairing::of(old_side, side(f, unit, &own, own_aim.as_ref()));
    let memo = Memo::new(&old.tree, &pairing, places);
    Explorer::new(f, unit, pool, start, &mut inputs, limits).toward(own_aim.as_ref()).with(&memo).explore()
}

fn counter(units: [&Unit; 2], pool: &mut TermPool) -> Counter {
    let mut inputs: Vec<Input> = Vec::new();
    for unit in units {
        for c in candidates(unit.functions.last().unwrap(), unit, pool) {
            if inputs.iter().all(|i| i.term != c.term) {
                let (range, values) = match c.float {
                    Some(sort) => c.usual().numbers(sort).unwrap(),
                    None => (c.usual().as_whole().unwrap(), Values::Own),
                };
                inputs.push(Input { values, ..Input::even(c.term, range) });
            }
        }
    }
    Counter::new(Domain { inputs })
}

/// States of the newer version, and those that are new. Whatever is taken over is what a full run finds.
fn states(old: &str, new: &str) -> (u64, u64) {
    let (old, new) = (unit(old), unit(new));
    let mut pool = TermPool::new();
    let mut counter = counter([&old, &new], &mut pool);
    let before = explored(&old, None, &mut pool, &mut counter);
    let full = explored(&new, None, &mut pool, &mut counter);
    let found = explored(&new, Some((&old, &before)), &mut pool, &mut counter);
    let said = |e: &Explored| {
        let of = |p: &Path| {
            let turns: Vec<_> = p.turns.iter().cloned().collect();
            format!(
                "{:?} {:?} {:?} {turns:?} {:?} {:?} {:?}",
                p.conditions, p.end, p.lines, p.stdout, p.stderr, p.written
            )
        };
        e.paths.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(said(&full), said(&found));
    assert_eq!((full.states, full.is_cut, &full.used), (found.states, found.is_cut, &found.used));
    assert_eq!(full.tree.steps(), found.tree.steps());
    assert_eq!(full.explored, full.states);
    (found.states, found.explored)
}

const THREE: &str = "int total;\nint f(int x, int y) {\n  if (x > 3)\n    total += 1;\n  else\n    total = y;\n  \
    if (y == 7) {\n    int k = x + 1;\n    return k;\n  }\n  return 0;\n}\n";

#[test]
fn nothing_is_explored_again_where_nothing_changed() {
    assert_eq!(states(THREE, THREE), (7, 0));
    // Lines move, comments come.
    assert_eq!(
        states(THREE, &format!("/* more\n lines */\n\n{}", THREE.replace("total = y;", "total\n=\ny;"))),
        (7, 0)
    );
}

#[test]
fn only_paths_through_what_changed_are_explored_again() {
    assert_eq!(states(THREE, &THREE.replace("x + 1", "x + 2")), (7, 2));
    assert_eq!(states(THREE, &THREE.replace("return 0", "return 1")), (7, 2));
    // Behind the first branch.
    assert_eq!(states(THREE, &THREE.replace("total = y", "total = y - 1")), (7, 3));
    // In front of all.
    let (all, new) = states(THREE, &THREE.replace("x > 3", "x > 4"));
    assert_eq!(all, new);
    let (all, new) = states(THREE, &THREE.replace("int y) {", "int y) { y = y * 2;"));
    assert_eq!(all, new);
}

#[test]
fn new_paths_and_lost_ones() {
    let more = THREE.replace("return k;", "if (k > 5) return k;\n    return -k;");
    assert_eq!(states(THREE, &more).1, 4);
    assert_eq!(states(&more, THREE).1, 2);
    // A variable more, a temporary more.
    assert_eq!(states(THREE, &THREE.replace("return k;", "int m = k * 2; return m - k;")).1, 2);
}

#[test]
fn what_an_instruction_names_counts() {
    let text = "static const int limit = 5;\nstatic int twice(int x) { return x + x; }\n\
        int f(int x) { if (x < 0) return 0; if (x < limit) return twice(x); return 7; }\n";
    assert_eq!(states(text, text), (5, 0));
    let (_, new) = states(text, &text.replace("x + x", "x * 3"));
    assert_eq!(new, 1);
    // All that comes behind the test of the limit.
    let (_, new) = states(text, &text.replace("limit = 5", "limit = 6"));
    assert_eq!(new, 3);
    let body = text.replace("static int twice(int x) { return x + x; }", "int twice(int x);");
    assert_eq!(states(text, &body).1, 1);
    assert_eq!(states(&body, text).1, 1);
}

#[test]
fn undefined_inputs_are_parted_off_again() {
    let text = "int f(int x, int y) {\n  int a[4] = {1, 2, 3, 4};\n  int q = 100 / y;\n  if (q > 20)\n    return a[x];\n  return q;\n}\n";
    let (all, new) = states(text, text);
    assert!(all > 8 && new == 0, "{all} {new}");
    let (all, new) = states(text, &text.replace("return q;", "return q + 1;"));
    assert!(new > 0 && new < all / 2, "{all} {new}");
    let (all, new) = states(text, &text.replace("100 / y", "90 / y"));
    assert_eq!(all, new);
}

#[test]
fn loops_and_output() {
    let text = "#include <stdio.h>\nint f(int n) {\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    s += i;\n  if (s > 20)\n    printf(\"%d\\n\", s);\n  return s;\n}\n";
    assert_eq!(states(text, text).1, 0);
    let (all, new) = states(text, &text.replace("%d", "<%d>"));
    assert!(new > 0 && new < all / 2, "{all} {new}");
    let (_, new) = states(text, &text.replace("s += i", "s += i + 1"));
    assert!(new > 0);
}

#[test]
fn a_global_that_becomes_an_input_is_not_overlooked() {
    let text = "int g;\nint f(int x) { g = 2; if (x) return g; return 1; }\n";
    let reads = "int g;\nint f(int x) { g = g + 2; if (x) return g; return 1; }\n";
    states(text, reads);
    states(reads, text);
    let (_, new) = states(THREE, &THREE.replace("int total;", "unsigned total;"));
    assert!(new > 0);
}

#[test]
fn a_name_that_moves_to_another_temporary_is_told_apart() {
    let text = "int h(int);\nint f(int x) { int a = x > 1, b = x > 2; return a ? b ? 3 : 4 : b ? 5 : 6; }\n";
    let swapped = text.replace("int a = x > 1, b = x > 2", "int b = x > 1, a = x > 2");
    let (all, new) = states(text, &swapped);
    assert_eq!(all, new);
}

#[test]
fn a_tree_that_was_kept_comes_back_without_a_question() {
    let unit = unit(THREE);
    let mut pool = TermPool::new();
    let mut first = counter([&unit, &unit], &mut pool);
    let full = explored(&unit, None, &mut pool, &mut first);
    let bytes = encoded(&full).unwrap();
    let tree = decoded(&bytes).unwrap().tree;
    let f = unit.functions.last().unwrap();
    let nothing = BTreeMap::new();
    let own = candidates(f, &unit, &mut pool);
    let start = Start { candidates: &own, contents: &nothing, is_initial: false, conditions: &[] };
    let mut second = counter([&unit, &unit], &mut pool);
    let limits = Limits::default();
    let memo = Memo::same(&tree);
    let mut inputs = Bounded::new(&mut second, limits.work);
    let again = Explorer::new(f, &unit, &mut pool, start, &mut inputs, limits).with(&memo).explore();
    assert_eq!((again.states, again.explored, again.paths.len()), (full.states, 0, full.paths.len()));
    assert_eq!(second.questions().asked, 0);
    assert!(first.questions().asked > 0);
    assert!(full.paths.iter().zip(&again.paths).all(|(a, b)| a.conditions == b.conditions && a.end == b.end));
    // What is cut off is asked again.
    assert!(decoded(&bytes[..bytes.len() - 2]).is_none());
}

/// What is behind a parting is taken over where the call parts inputs off, and the path does not end there again.
#[test]
fn calls_that_part_inputs_off_end_no_path_twice() {
    let text = "#include <stdlib.h>\nint f(int x, int y) { int a = abs(x * 214748364); if (y > 3) return a; return y + 1; }\n";
    assert_eq!(states(text, text).1, 0);
    let (all, new) = states(text, &text.replace("y + 1", "y + 2"));
    assert!(new > 0 && new < all, "{all} {new}");
}

/// How many inputs two versions differ on, and come to a changed line on, exactly and as a sample says.
fn differing(limit: i64, high: i128) -> ((f64, f64), ChangeSample) {
    let text = |limit: i64| {
        format!(
            "int f(long x, long y) {{\n  if (x * y < {limit})\n    return 1;\n  return x > y ? 2 : 3;\n}}\n"
        )
    };
    let (old, new) = (unit(&text(limit)), unit(&text(limit + 37)));
    let mut pool = TermPool::new();
    let Domain { mut inputs } = counter([&old, &new], &mut pool).domain().clone();
    inputs.iter_mut().for_each(|i| i.range = (0, high));
    let lines = Lines { old: [2].into(), new: [2].into(), same: BTreeMap::new() };
    let mut found = [20_000_000, 0].map(|work| {
        let mut counter = Counter::new(Domain { inputs: inputs.clone() });
        let mut versions = [&old, &new].map(|unit| explored(unit, None, &mut pool, &mut counter));
        for e in &mut versions {
            e.paths.iter_mut().for_each(|p| p.count = None);
            totals(e, &mut pool, &mut counter, &Target::Assertion, work).unwrap();
        }
        // What is known of paths is not what is asked here.
        let mut counter = Counter::new(Domain { inputs: inputs.clone() });
        let limits = Limits { work, ..Limits::default() };
        let candidates = candidates(new.functions.last().unwrap(), &new, &mut pool);
        let (pool, counter) = (&mut pool, &mut counter);
        let mut comparer = Comparer { pool, counter, candidates: &candidates, lines: &lines, limits };
        comparer.compare_all(&versions[0], &versions[1]).unwrap()
    });
    let (sampled, exact) = (found[1].sampled.take().expect("nothing was counted"), &found[0]);
    assert!(exact.open == 0 && exact.sampled.is_none() && found[1].open > 0);
    let size = ((high + 1) * (high + 1)) as f64;
    ((exact.differing as f64 / size, exact.reaching as f64 / size), sampled)
}

#[test]
fn estimates_of_a_change_hold_what_is_counted() {
    let mut held = 0;
    for k in 0..60 {
        let ((differing, reaching), sampled) = differing(5 * k + 1, i128::from(20 + k));
        let is_in = |share: f64, e: crate::count::Estimate| e.low <= share && share <= e.high;
        assert!(differing > 0.0 && is_in(reaching, sampled.reaching));
        assert!(sampled.differing.high - sampled.differing.low < 0.03, "{sampled:?}");
        held += usize::from(is_in(differing, sampled.differing));
    }
    assert!(held >= 57, "{held} of 60");
}

/// Texts of two versions, whose paths are counted one by one and input by input, and compared so.
const SWEPT: [(&str, &str); 6] = [
    (THREE, "x + 1"),
    (
        "int f(int x, int y) {\n  if (x * y > 20 && x % 3 == y)\n    return x + 7;\n  return y * y;\n}\n",
        "x + 7",
    ),
    ("int f(int x, int y) {\n  int q = 100 / y;\n  if (q > x)\n    q = x << y;\n  return q;\n}\n", "x << y"),
    (
        "#include <assert.h>\nint f(int n, int k) {\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    s += i ^ k;\n  \
        assert(s < 40);\n  return s;\n}\n",
        "i ^ k",
    ),
    (
        "int f(int x, int y) {\n  int s = 0;\n  for (int i = 0; i < 2; i++)\n    \
            s += (x * y + i) % 5 == (y ^ i) / 3 ? x : s > x * x;\n  return s;\n}\n",
        "/ 3",
    ),
    (
        "#include <stdio.h>\nint g;\nint f(double d, int x) {\n  if (d * d < x)\n    g = x;\n  printf(\"%d\\n\", g);\n  \
        return d > 1.5;\n}\n",
        "d * d",
    ),
];

#[test]
fn what_is_counted_input_by_input_is_what_is_counted_path_by_path() {
    let (mut paths, mut differing, mut failing) = (0, 0, 0);
    for (text, part) in SWEPT {
        let (old, new) = (unit(text), unit(&text.replace(part, &format!("{part} - 1"))));
        let mut pool = TermPool::new();
        let mut counter = counter([&old, &new], &mut pool);
        let versions = [&old, &new].map(|unit| {
            let mut e = explored(unit, None, &mut pool, &mut counter);
            let found = [20_000_000, 0].map(|by_path| {
                // What is known of paths is not what is asked here.
                let mut counter = Counter::new(counter.domain().clone());
                e.paths.iter_mut().for_each(|p| p.count = None);
                let work = Work { by_path, by_input: 20_000_000 - by_path };
                let found = totals_within(&mut e, &mut pool, &mut counter, &Target::Return(3), work).unwrap();
                (found, e.paths.iter().map(|p| p.count).collect::<Vec<_>>())
            });
            assert_eq!(found[0], found[1], "{text}");
            assert!(found[1].0.sampled.is_none());
            paths += e.paths.len();
            failing += found[0].0.failure;
            e
        });
        let lines = Lines { old: [4].into(), new: [4].into(), same: (1..20).map(|l| (l, l)).collect() };
        let candidates = candidates(new.functions.last().unwrap(), &new, &mut pool);
        let (pool, counter, limits) = (&mut pool, &mut counter, Limits::default());
        let mut comparer = Comparer { pool, counter, candidates: &candidates, lines: &lines, limits };
        let said = |mut c: Comparison| {
            c.pieces.sort();
            c
        };
        let by_path = said(comparer.compare(&versions[0], &versions[1]).unwrap());
        let by_input = said(comparer.swept(&versions[0], &versions[1]).unwrap());
        assert!(!by_path.is_large);
        assert_eq!(by_path, by_input, "{text}");
        differing += by_path.differing;
    }
    assert!(paths >= 50 && differing > 100 && failing > 0, "{paths} {differing} {failing}");
}

#[test]
fn ways_of_inputs_are_the_paths_that_inputs_take() {
    let mut paths = 0;
    for text in SWEPT.map(|(text, _)| text) {
        let unit = unit(text);
        let mut pool = TermPool::new();
        let mut counter = counter([&unit, &unit], &mut pool);
        let mut all = explored(&unit, None, &mut pool, &mut counter);
        let limits = Limits { work: 5_000_000, ..Limits::default() };
        let f = unit.functions.last().unwrap();
        let (nothing, own) = (BTreeMap::new(), candidates(f, &unit, &mut pool));
        let start = Start { candidates: &own, contents: &nothing, is_initial: false, conditions: &[] };
        let mut follow = |pool: &mut TermPool, inputs: &mut dyn Inputs| {
            Explorer::new(f, &unit, pool, start, inputs, limits).explore()
        };
        let domain = counter.domain().clone();
        let mut ways = Ways::of(&mut pool, &mut counter, limits, &mut follow).unwrap();
        let mut taken = follow(&mut pool, &mut ways);
        let [a, b] = [&mut all, &mut taken].map(|e| {
            let mut counter = Counter::new(domain.clone());
            let found = totals(e, &mut pool, &mut counter, &Target::Return(3), limits.work).unwrap();
            (found.success, found.failure, found.grey, found.target, found.reasons, found.branches)
        });
        assert_eq!(a, b, "{text}");
        let counted = |p: &Path| !matches!(p.end, End::Grey(_)) && p.count.is_some_and(|n| n > 0);
        let ends = |e: &Explored| {
            let of = |p: &Path| (p.count, p.lines.clone(), format!("{:?}", p.end));
            e.paths.iter().filter(|p| counted(p)).map(of).collect::<Vec<_>>()
        };
        assert_eq!(ends(&all), ends(&taken), "{text}");
        assert!(taken.paths.iter().all(|p| p.count != Some(0)), "{text}");
        paths += taken.paths.len();
    }
    assert!(paths >= 25, "{paths}");
}

/// Inputs that meet a target, and those of which that is not known; states and instructions of the tree.
fn met(target: &Target, e: &mut Explored, pool: &mut TermPool, counter: &mut Counter) -> (i128, i128) {
    let t = totals(e, pool, counter, target, Limits::default().work).unwrap();
    (t.target, t.uncertain)
}

/// Counts a target of both versions with all paths and with nothing but the target asked, the newer one also from what
/// the older one has: the same inputs meet it. Instructions of the newer version with all paths, and without.
fn toward(target: &Target, old: &str, new: &str) -> (u64, u64) {
    let (old, new) = (unit(old), unit(new));
    let mut pool = TermPool::new();
    let mut counter = counter([&old, &new], &mut pool);
    let mut steps = (0, 0);
    for u in [&old, &new] {
        let mut full = explored(u, None, &mut pool, &mut counter);
        let mut own = explored_toward(Some(target), u, None, &mut pool, &mut counter);
        steps = (full.tree.steps(), own.tree.steps());
        let (least, open) = met(target, &mut full, &mut pool, &mut counter);
        let (own_least, own_open) = met(target, &mut own, &mut pool, &mut counter);
        assert!(least <= own_least && own_least + own_open <= least + open, "{target:?}");
        assert!(own.tree.steps() <= full.tree.steps());
    }
    let mut before = explored_toward(Some(target), &old, None, &mut pool, &mut counter);
    before.tree.keep_counts(&before.paths);
    let mut own = explored_toward(Some(target), &new, None, &mut pool, &mut counter);
    let mut after = explored_toward(Some(target), &new, Some((&old, &before)), &mut pool, &mut counter);
    let ends =
        |e: &Explored| e.paths.iter().map(|p| (p.conditions.clone(), p.end.clone())).collect::<Vec<_>>();
    assert_eq!(ends(&own), ends(&after), "{target:?}");
    assert_eq!(own.tree.steps(), after.tree.steps());
    let own = met(target, &mut own, &mut pool, &mut counter);
    assert_eq!(own, met(target, &mut after, &mut pool, &mut counter), "{target:?}");
    steps
}

const LATER: &str = "#include <assert.h>\nstatic int half(int v) {\n  if (v == 4)\n    v = 8;\n  return v / 2;\n}\n\
    int f(int x, int y) {\n  int n = 0;\n  if (x > 3) {\n    assert(y != 9);\n    n = half(y);\n  }\n  \
    for (int i = 0; i < 4; i++)\n    if (((x ^ y) >> i & 1) == 1)\n      n += half(x);\n  \
    if (n == 2)\n    return -1;\n  return 7;\n}\n";

#[test]
fn a_path_ends_where_its_target_is_settled() {
    let lines = |l: u32| Target::Lines([l].into());
    let branch = |l: u32| Target::Branch([l].into());
    // Behind the assertion nothing is followed; in front of it nothing is known.
    let (all, own) = toward(&Target::Assertion, LATER, LATER);
    assert!(own * 20 < all, "{own} of {all}");
    let (all, own) = toward(&lines(11), LATER, LATER);
    assert!(own * 20 < all, "{own} of {all}");
    // The callee is called again and again.
    for target in [lines(4), branch(3), branch(15), lines(16), lines(18), branch(17)] {
        let (all, own) = toward(&target, LATER, LATER);
        assert!(own < all, "{target:?} {own} of {all}");
    }
    for target in [Target::Return(7), Target::Return(-1), Target::Return(0), lines(1)] {
        toward(&target, LATER, LATER);
    }
}

/// A tree that ends where a target is settled may be taken over only where the newer version settles it, too.
#[test]
fn what_is_taken_over_stands_to_the_target_as_before() {
    let edits = [
        ("return 7;", "assert(x);\n  return 7;"),
        ("return v / 2;", "assert(v != 3);\n  return v / 2;"),
        ("assert(y != 9);", ";"),
        ("n += half(x)", "n += x"),
        ("v = 8", "v = 9"),
        ("return -1", "return 7"),
        ("return 7", "return x > 5 ? 7 : 1"),
    ];
    let targets = [
        Target::Assertion,
        Target::Return(7),
        Target::Return(-1),
        Target::Lines([4].into()),
        Target::Lines([18, 19].into()),
        Target::Branch([15].into()),
        Target::Branch([3].into()),
    ];
    for (from, to) in edits {
        let edited = LATER.replace(from, to);
        assert_ne!(edited, LATER);
        for target in &targets {
            toward(target, LATER, &edited);
            toward(target, &edited, LATER);
        }
    }
}

/// A call of which nothing is known may meet a target.
#[test]
fn unknown_calls_do_not_settle_a_target() {
    let text = "#include <assert.h>\nvoid g(void);\nextern void (*h)(void);\nint f(int x) {\n  if (x > 2)\n    g();\n  \
        if (x < -2)\n    h();\n  return x;\n}\n";
    let unit = unit(text);
    let mut pool = TermPool::new();
    let mut counter = counter([&unit, &unit], &mut pool);
    for target in [Target::Assertion, Target::Lines([2].into())] {
        let mut own = explored_toward(Some(&target), &unit, None, &mut pool, &mut counter);
        assert_eq!(met(&target, &mut own, &mut pool, &mut counter), (0, 15), "{target:?}");
    }
}
