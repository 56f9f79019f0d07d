//! Programs that call functions of their file, or have what these do written out.
//!
//! What is told of two versions as they are is held against runs, and what is told of them with calls written out
//! ([`super::super::extracted`]), too: of two such bodies the second one is only taken where it says less.

use super::programs::{HEAD, edited, program};
use super::{Counts, check_told, last, unit, whole_only};
use crate::local::extracted::inlined;
use crate::local::side::Version;
use crate::local::{Share, UNITS, compare, compare_bodies};
use crate::testing::Random;

/// What may be called.
const CALLEES: &str = "
static int n_of(struct s *p) { return p->n; }
static int k_of(struct s *q) { int k = q->k; return k; }
static struct s *next_of(struct s *p) { return p->next; }
static int sum(int a, int b) { int x = a + b; return x; }
static int larger(int x, int y) { if (x > y) return x; return y; }
static int half(int x) { unsigned u = (unsigned)x; return (int)(u >> 1); }
static void set(struct s *p, int v) { p->n = v; }
static void tell(int x) { act(x); if (x > 2) act(x - 1); }
static int taken(struct s *p) { int n = p->n; p->n = 0; return n; }
";

/// Statements with calls, and the same with what these do in their place.
const STATEMENTS: [(&str, &str); 16] = [
    ("if (n_of(p) != k_of(p)) return -7;", "if (p->n != p->k) return -7;"),
    ("if (n_of(p) > n_of(q)) x = 2;", "if (p->n > q->n) x = 2;"),
    ("x = sum(n_of(p), k_of(q));", "x = p->n + q->k;"),
    ("y = larger(a, b) - larger(x, y);", "y = (a > b ? a : b) - (x > y ? x : y);"),
    (
        "if (sum(a, x) == sum(b, y) && half(x) < 3) act(x);",
        "if (a + x == b + y && (int)((unsigned)x >> 1) < 3) act(x);",
    ),
    ("q = next_of(p);\nif (q) x = n_of(q);", "q = p->next;\nif (q) x = q->n;"),
    ("set(p, n_of(q));", "p->n = q->n;"),
    ("tell(sum(x, y));", "act(x + y);\nif (x + y > 2) act(x + y - 1);"),
    ("x = half(half(a));", "x = (int)((unsigned)(int)((unsigned)a >> 1) >> 1);"),
    ("y = sum(sum(a, b), larger(x, n_of(p)));", "y = a + b + (x > p->n ? x : p->n);"),
    (
        "if (half(a) != half(b)) goto out;",
        "if ((int)((unsigned)a >> 1) != (int)((unsigned)b >> 1)) goto out;",
    ),
    ("if (p && n_of(p) == k_of(p)) return larger(a, 1);", "if (p && p->n == p->k) return a > 1 ? a : 1;"),
    ("x = taken(p) - n_of(p);", "x = p->n;\np->n = 0;"),
    ("y = foreign(n_of(p)) + n_of(p);", "y = foreign(p->n) + p->n;"),
    (
        "while (half(y) > n_of(p)) y = half(y);",
        "while ((int)((unsigned)y >> 1) > p->n) y = (int)((unsigned)y >> 1);",
    ),
    (
        "x = n_of(p) == n_of(q) ? half(x) : half(y);",
        "x = p->n == q->n ? (int)((unsigned)x >> 1) : (int)((unsigned)y >> 1);",
    ),
];

fn text(lines: &[String]) -> String {
    super::text(lines).replacen(HEAD, &format!("{HEAD}{CALLEES}"), 1)
}

/// Both versions: a few statements as calls, written out, or not there, and at times another edit.
fn pair(random: &mut Random) -> [String; 2] {
    let mut old = program(random);
    old.truncate(4);
    let mut new = match random.below(3) {
        0 => edited(random, &old),
        _ => old.clone(),
    };
    for _ in 0..1 + random.below(2) {
        let (called, written) = random.pick(&STATEMENTS);
        let at = 1 + random.below(old.len().min(new.len()) as u64) as usize;
        let put = |lines: &mut Vec<String>, text: &str| lines.insert(at.min(lines.len()), text.to_owned());
        let (before, now) = match random.below(6) {
            0 => (None, Some(called)),
            1 => (Some(called), None),
            2 => (None, Some(written)),
            3 => (Some(called), Some(written)),
            _ => (Some(written), Some(called)),
        };
        before.iter().for_each(|text| put(&mut old, text));
        now.iter().for_each(|text| put(&mut new, text));
    }
    [text(&old), text(&new)]
}

fn checked(old: &str, new: &str, (states, seed): (u64, u64), counts: &mut [Counts; 2]) {
    let units = [old, new].map(unit);
    let bodies = [0, 1].map(|k: usize| last(&units[k]));
    let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
    // As it is printed: of which bodies it tells is not said, so that whole runs are looked at alone.
    if let Some((changes, _)) = compare(version(0), version(1), &|_, _| None, Share::of(1)) {
        whole_only([version(0), version(1)], &changes, (old, new), (states, seed), &mut counts[0]);
    }
    let mut told = |versions: [Version; 2]| {
        let [before, now] = versions;
        if let Some((changes, _)) = compare_bodies(before, now, &|_, _| None, (Share::of(1), UNITS)) {
            check_told(versions, &changes, (old, new), (states, seed), &mut counts[1]);
        }
    };
    told([version(0), version(1)]);
    if let Some(bodies) = inlined(version(0), version(1)) {
        let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
        told([version(0), version(1)]);
    }
}

#[test]
fn what_is_told_of_calls_holds_of_what_they_do() {
    let count = crate::testing::tier::rounds("INVDIFF_CALLEES", 100, 2_000) as u64;
    let mut counts = [Counts::default(); 2];
    for k in 0..count {
        let mut random = Random(k.wrapping_mul(0x2545_f491_4f6c_dd1d) + 17);
        let [old, new] = pair(&mut random);
        checked(&old, &new, (40, k), &mut counts);
    }
    println!("{counts:?}");
    assert_eq!(counts.iter().map(|c| c.violations).sum::<u64>(), 0, "{counts:?}");
    let [printed, bodies] = counts;
    assert!(printed.whole > 2 * count && bodies.met > 2 * count && bodies.unmet > 2 * count, "{counts:?}");
}
