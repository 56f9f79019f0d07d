//! What is proved must survive executions: every fact that a report calls proved is written down
//! again, read back as a pinned fact, and evaluated at the end of concrete runs. No run may refute it
//! in a version in which it is said to hold.

use crate::random_c;
use crate::support::oracle::shared;
use crate::support::tier::rounds;
use git_invdiff::analysis::{Options, Pin, Specification, diff, memory};
use git_invdiff::fact;
use git_invdiff::frontend::c;
use git_invdiff::invariant::PinnedFact;
use git_invdiff::report::{
    AssertionKind, AssertionOutcome, Fact, NotHeld, PointKind, Report, Status, Version,
};
use std::collections::BTreeMap;

fn analyse(old: &str, new: &str, pins: Vec<Pin>) -> Report {
    analyse_all(&[old, new], pins)
}

fn analyse_all(versions: &[&str], pins: Vec<Pin>) -> Report {
    let files: Vec<_> = versions.iter().map(|text| vec![("a.c", *text)]).collect();
    let specification = Specification { pins, ..Specification::default() };
    let options = Options { all: true, specification, ..Options::default() };
    diff(&memory::request(&files, c::Options::default(), options))
}

/// Facts at exits, by function and text, with the versions in which they were proved.
fn proved(report: &Report) -> BTreeMap<(String, String), Vec<Version>> {
    let mut found: BTreeMap<(String, String), Vec<Version>> = BTreeMap::new();
    for f in &report.functions {
        for p in f.points.iter().filter(|p| p.kind == PointKind::Exit) {
            let changed = p.churns.iter().flat_map(|c| c.removed.iter().chain(&c.added));
            for fact in p.version_invariants.iter().chain(changed) {
                // Runs give arguments that no caller gives.
                if fact.assumptions.iter().any(|a| a.starts_with("callers(")) {
                    continue;
                }
                found.entry((f.name.clone(), fact.text.clone())).or_default().extend(versions(fact));
            }
        }
    }
    found
}

fn versions(fact: &Fact) -> Vec<Version> {
    fact.status.iter().filter(|(_, s)| **s == Status::Proved).map(|(v, _)| *v).collect()
}

/// A functional fact means identity of the value, where C's `==` tells a NaN from itself.
fn identity(text: &str) -> String {
    let (condition, equation) = match text.split_once(" ==> ") {
        Some((c, e)) => (format!("{c} ==> "), e),
        None => (String::new(), text),
    };
    match equation.split_once(" == ") {
        // A set of values: `x == 1 || x == 2`.
        Some((l, r)) if r.contains(&format!(" || {l} == ")) => text.to_owned(),
        Some((l, r)) => format!("{condition}({l} == ({r}) || ({l} != {l} && ({r}) != ({r})))"),
        None => text.to_owned(),
    }
}

fn pin(function: &str, text: &str) -> Option<Pin> {
    let fact = PinnedFact { text: text.to_owned(), fact: fact::parse_postcondition(&identity(text)).ok()? };
    Some(Pin { function: function.to_owned(), fact, is_dropped: false })
}

/// Returns how many facts were tried and how many of those could be read back; the error names one
/// that a run refutes.
fn check(old: &str, new: &str) -> Result<(usize, usize), String> {
    let facts = proved(&analyse(old, new, Vec::new()));
    let pins: Vec<Pin> = facts.keys().filter_map(|(function, text)| pin(function, text)).collect();
    let read = pins.len();
    let report = analyse(old, new, pins);
    for a in report.assertions.iter().filter(|a| a.kind == AssertionKind::Pinned) {
        for v in facts.get(&(a.function.clone(), a.text.clone())).into_iter().flatten() {
            if a.outcome.get(v) == Some(&AssertionOutcome::Fail) {
                return Err(format!("{}: {} fails in version {v}\n{old}\n----\n{new}", a.function, a.text));
            }
        }
    }
    Ok((facts.len(), read))
}

/// Tries many pairs; some facts must have been read back, or nothing was tested.
fn check_all(pairs: impl Iterator<Item = (String, String)>) {
    let (mut facts, mut read) = (0, 0);
    for (old, new) in pairs {
        match check(&old, &new) {
            Ok((f, r)) => {
                facts += f;
                read += r;
            }
            Err(why) => panic!("{why}"),
        }
    }
    println!("{facts} facts, {read} of them read back");
    assert!(read > 4, "{read} of {facts} facts could be read back");
}

/// Facts of some of several versions: no run refutes one in a version that holds it, and nobody proves one in a version
/// that is said to break it. Returns how many versions that hold one were tried, and how many that break one.
fn check_subsets(versions: &[&str]) -> (usize, usize) {
    let report = analyse_all(versions, Vec::new());
    let mut facts: BTreeMap<(String, String), &Fact> = BTreeMap::new();
    for f in &report.functions {
        for p in f.points.iter().filter(|p| p.kind == PointKind::Exit) {
            let known = p
                .subset_invariants
                .iter()
                .filter(|fact| !fact.assumptions.iter().any(|a| a.starts_with("callers(")));
            facts.extend(known.map(|fact| ((f.name.clone(), fact.text.clone()), fact)));
        }
    }
    let judged = analyse_all(versions, facts.keys().filter_map(|(f, text)| pin(f, text)).collect());
    let (mut held, mut broken) = (0, 0);
    for a in judged.assertions.iter().filter(|a| a.kind == AssertionKind::Pinned) {
        let Some(fact) = facts.get(&(a.function.clone(), a.text.clone())) else { continue };
        let wrong = |what: &str| format!("{}: {} {what}\n{}", a.function, a.text, versions.join("\n----\n"));
        for v in self::versions(fact) {
            assert_ne!(
                a.outcome.get(&v),
                Some(&AssertionOutcome::Fail),
                "{}",
                wrong(&format!("held in {v}"))
            );
            held += usize::from(a.outcome.contains_key(&v));
        }
        for (v, _) in fact.not_held.iter().filter(|(_, why)| **why == NotHeld::Refuted) {
            assert_ne!(
                a.outcome.get(v),
                Some(&AssertionOutcome::NotFail),
                "{}",
                wrong(&format!("lost in {v}"))
            );
            broken += usize::from(a.outcome.contains_key(v));
        }
    }
    (held, broken)
}

#[test]
fn facts_of_some_versions_survive_runs() {
    let clamp = |body: &str| format!("int f(int n, int m) {{ int r = n; {body} return r; }}\n");
    let bodies = [
        "if (r < 0) r = 0;",
        "r /= 2;",
        "if (r < m) r = m;",
        "if (r < 0) r = 1;",
        "r &= 7;",
        "r |= 1;",
        "r = m - n;",
    ];
    let (mut held, mut broken) = (0, 0);
    let (orders, programs) =
        (rounds("INVDIFF_SUBSETS", 2, bodies.len()), rounds("INVDIFF_TRUTH", 1, 2) as u64);
    for k in 0..orders {
        let order = [0, 1, 3, 0, 2].map(|step| clamp(bodies[(k + step) % bodies.len()]));
        let found = check_subsets(&order.each_ref().map(String::as_str));
        (held, broken) = (held + found.0, broken + found.1);
    }
    for seed in 0..programs {
        let program = random_c::program(seed);
        let (one, other) = (mutated(&program, seed), mutated(&program, seed + 3));
        let found = check_subsets(&[&program, &one, &program, &other]);
        (held, broken) = (held + found.0, broken + found.1);
    }
    println!("held in {held} versions, broken in {broken}");
    assert!(held > 5 * orders && broken > 2 * orders, "held in {held} versions, broken in {broken}");
}

/// A program with one operator or constant changed.
fn mutated(program: &str, seed: u64) -> String {
    let swaps = [("+ ", "- "), ("< ", "<= "), (" 1", " 2"), ("* ", "+ "), (" 0", " 1"), ("> ", ">= ")];
    let (from, to) = swaps[seed as usize % swaps.len()];
    let body = program.find("main").unwrap_or(0);
    let places: Vec<usize> = program[body..].match_indices(from).map(|(i, _)| body + i).collect();
    match places.get(seed as usize % places.len().max(1)) {
        Some(&i) => format!("{}{to}{}", &program[..i], &program[i + from.len()..]),
        None => program.to_owned(),
    }
}

#[test]
fn facts_of_random_programs_survive_runs() {
    check_all((0..rounds("INVDIFF_TRUTH", 2, 4) as u64).map(|seed| {
        let program = random_c::program(seed);
        let other = mutated(&program, seed);
        (program, other)
    }));
}

#[test]
fn facts_of_student_programs_survive_runs() {
    let Some(root) = shared("subjects/itsp") else {
        return;
    };
    let table = std::fs::read_to_string(root.join("table1_selection.csv")).unwrap_or_default();
    let files: Vec<&str> = table.lines().skip(1).filter_map(|row| row.split(',').nth(4)).collect();
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    check_all(files.chunks_exact(2).map(|pair| (read(pair[0]), read(pair[1]))));
}

#[test]
fn facts_of_functions_survive_runs() {
    let bodies = [
        ("int f(int n) { int k = 0; while (n > 0) { n -= S; k++; } return k; }", ["3", "2"]),
        ("unsigned f(unsigned n) { unsigned k = 0; while (n) { n >>= S; k++; } return k; }", ["1", "2"]),
        ("int f(int a, int b) { int m = a; if (b < m) m = b S; return m; }", ["", "- 1"]),
        ("int f(int n) { int s = 0; for (int i = 0; i < n; i += S) s ^= i; return s & 1; }", ["1", "2"]),
        ("long f(const char *p) { const char *q = p; while (*q S) q++; return q - p; }", ["", "> ' '"]),
        ("int f(int *p, int n) { if (!p) return -1; *p = n S; return n > 0; }", ["+ 1", "+ 2"]),
        ("int g; int f(int n) { if (n < 0) return g; g = n S; return g % 4; }", ["* 2", "* 4"]),
    ];
    check_all(bodies.iter().map(|(body, [a, b])| (body.replace('S', a), body.replace('S', b))));
}

/// The bytes of an input mean something else in a global, or a field, that has become wider: no run that
/// sets it compares the versions.
#[test]
fn what_has_another_type_gets_no_bytes_of_the_other() {
    let check = |source: &str, old: &str, new: &str| {
        let [old, new] = [old, new].map(|ty| source.replace("TYPE", ty));
        let report = analyse(&old, &new, Vec::new());
        let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
        let shown: Vec<_> = churns.filter(|c| c.witness.is_some()).collect();
        assert!(shown.is_empty(), "{old}\n{new}\n{shown:#?}");
    };
    let global = "static TYPE count, size; char *screen;\nint f(void) { return count == 1 ? 2 : size > 3; }\n\
                  void put(char c) { count++; if (count > size) { size += 8; count = size - 1; } screen = &c - 0; screen = 0; }\n";
    check(global, "unsigned", "unsigned long");
    check(global, "unsigned long", "unsigned");
    let field = "struct s { long a; TYPE b; };\nint f(const struct s *s) { return s->b == 300 ? 1 : s->b == 0x7fffffff; }\n";
    check(field, "int", "short");
    check(field, "short", "int");
    let array = "char table[TYPE];\nint f(int i) { return i >= 0 && i < 4 && table[i] == 'x'; }\n";
    check(array, "8", "16");
}
