//! Facts at loop heads and lines, what induction proves, and what is only bounded.

use git_invdiff::analysis::{Options, PointChoice, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Claim, PointKind, Report, Status};

fn analyse(old: &str, new: &str, points: PointChoice) -> Report {
    let files = [vec![("a.c", old)], vec![("a.c", new)]];
    diff(&memory::request(&files, c::Options::default(), Options { points, ..Options::default() }))
}

/// Facts of a kind of point: `=` in both versions, `-` and `+` churns, sorted.
fn facts(report: &Report, kind: PointKind) -> Vec<String> {
    let points = || report.functions.iter().flat_map(|f| &f.points).filter(move |p| p.kind == kind);
    let mut all: Vec<String> =
        points().flat_map(|p| &p.version_invariants).map(|f| format!("= {}", f.text)).collect();
    for churn in points().flat_map(|p| &p.churns) {
        all.extend(churn.removed.iter().map(|f| format!("- {}", f.text)));
        all.extend(churn.added.iter().map(|f| format!("+ {}", f.text)));
        let shown = matches!(churn.claim, Claim::NoLongerHolds | Claim::NowHolds | Claim::Changed);
        assert_eq!(shown, churn.witness.is_some(), "{churn:?}");
    }
    all.sort();
    all
}

fn loops() -> PointChoice {
    PointChoice { kinds: Some(vec![PointKind::Loop]), lines: Vec::new() }
}

const SUM: &str = "int sum(const int *a, int n) {\n    int s = 0, i = 0;\n    if (n < 0)\n        return -1;\n    \
                   while (i < n) {\n        s += a[i];\n        i += STEP;\n    }\n    return i;\n}\n";

/// `i <= n` is inductive for steps of one; for steps of two a run refutes it.
#[test]
fn induction_proves_and_runs_refute() {
    let report = analyse(&SUM.replace("STEP", "1"), &SUM.replace("STEP", "2"), loops());
    let found = facts(&report, PointKind::Loop);
    assert!(found.contains(&"- i <= n".to_string()), "{found:?}");
    assert!(found.contains(&"+ i % 2 == 0".to_string()), "{found:?}");
    // Near INT_MAX steps of two wrap: the sign is no invariant of both.
    assert!(!found.contains(&"= i >= 0".to_string()), "{found:?}");
}

/// Facts of an inner loop's head rest on those of the outer one.
#[test]
fn nested_loops_are_one_induction() {
    let code = "int tri(int n) {\n    int t = 0;\n    for (int i = 0; i < n; i++)\n        \
                for (int j = 0; j < i; j++)\n            t += WEIGHT;\n    return t;\n}\n";
    let report = analyse(&code.replace("WEIGHT", "1"), &code.replace("WEIGHT", "2"), loops());
    let found = facts(&report, PointKind::Loop);
    for expected in ["= i >= 0", "= j <= i"] {
        assert!(found.contains(&expected.to_string()), "{expected}: {found:?}");
    }
}

/// What holds after a loop may need what the loop keeps.
#[test]
fn the_exit_uses_what_loops_keep() {
    let report = analyse(
        &SUM.replace("STEP", "1"),
        &SUM.replace("i += STEP;", "i++; s ^= 1;"),
        PointChoice::default(),
    );
    let found = facts(&report, PointKind::Exit);
    assert!(found.contains(&"= n >= 0 ==> \\result == n".to_string()), "{found:?}");
}

/// A counter's sign is not inductive where it may wrap, and is checked up to the bound.
#[test]
fn what_is_not_inductive_is_bounded() {
    let code = "int bits(unsigned n) {\n    int k = 0;\n    EXTRA\n    while (n) {\n        n &= n - 1;\n        \
                k++;\n    }\n    return k;\n}\n";
    let report =
        analyse(&code.replace("EXTRA", ""), &code.replace("EXTRA", "n |= 1;"), PointChoice::default());
    let points = report.functions.iter().flat_map(|f| &f.points);
    let facts: Vec<_> = points.flat_map(|p| &p.version_invariants).collect();
    let sign = facts.iter().find(|f| f.text == "\\result >= 0");
    let sign = sign.unwrap_or_else(|| panic!("{facts:?}"));
    assert!(sign.status.values().all(|s| *s == Status::Bounded), "{sign:?}");
    assert_eq!(sign.bound, Some(8));
}

#[test]
fn facts_at_a_line() {
    let code = "int f(int a) {\n    int b = a * 2;\n    int c = b + K;\n    return c;\n}\n";
    let at = |line| PointChoice { kinds: None, lines: vec![("a.c".into(), line)] };
    let (old, new) = (code.replace('K', "1"), code.replace('K', "3"));
    let found = facts(&analyse(&old, &new, at(3)), PointKind::Line);
    assert!(found.contains(&"= b == 2 * a".to_string()), "{found:?}");
    let found = facts(&analyse(&old, &new, at(4)), PointKind::Line);
    for expected in ["- c == 2 * a + 1", "+ c == 2 * a + 3"] {
        assert!(found.contains(&expected.to_string()), "{expected}: {found:?}");
    }
}

/// What versions share of a value that changed in one case only.
#[test]
fn an_unchanged_case_stays_an_invariant() {
    let code = "int f(int n) {\n    if (n < 0)\n        return -1;\n    return n + K;\n}\n";
    let report = analyse(&code.replace('K', "1"), &code.replace('K', "2"), PointChoice::default());
    let found = facts(&report, PointKind::Exit);
    assert!(found.contains(&"= n < 0 ==> \\result == -1".to_string()), "{found:?}");
}

/// No execution of the old version is defined, so the facts of the new one are those of both.
#[test]
fn a_version_without_defined_runs_refutes_nothing() {
    let code = "#include <stdio.h>\nint main(void) {\n    int a;\n    scanf(\"%d\", TARGET);\n    printf(\"%d\", a + 1);\n    return a > 0;\n}\n";
    let report = analyse(&code.replace("TARGET", "a"), &code.replace("TARGET", "&a"), PointChoice::default());
    let points = report.functions.iter().flat_map(|f| &f.points);
    // It holds of that version for want of runs, which is no fact of it.
    let facts: Vec<_> = points.flat_map(|p| &p.if_reached).collect();
    let result = facts.iter().find(|f| f.variables == ["\\result"] && f.reached.get(&1) == Some(&false));
    assert!(result.is_some_and(|f| f.assumptions.contains(&"no-undefined-behaviour".into())), "{facts:?}");
}

/// Facts at the heads and the exit of a function, as the engine finds them for one version.
fn all_facts(source: &str) -> Vec<String> {
    let points = PointChoice { kinds: Some(vec![PointKind::Exit, PointKind::Loop]), lines: Vec::new() };
    let options = Options { all: true, whole: true, points, ..Options::default() };
    let report = diff(&memory::request(&[vec![("a.c", source)]], c::Options::default(), options));
    let points = report.functions.iter().flat_map(|f| &f.points);
    let facts = points.flat_map(|p| &p.version_invariants);
    let proved = |f: &&git_invdiff::report::Fact| f.status.values().all(|s| *s == Status::Proved);
    facts.filter(proved).map(|f| f.text.clone()).collect()
}

#[track_caller]
fn check_facts(source: &str, found: &[&str], not_found: &[&str]) {
    let facts = all_facts(source);
    for fact in found {
        assert!(facts.contains(&(*fact).to_owned()), "{fact}: {facts:#?}");
    }
    for fact in not_found {
        assert!(!facts.contains(&(*fact).to_owned()), "{fact}: {facts:#?}");
    }
}

/// What holds of all elements that a loop has passed; numbers compare as C promotes them.
#[test]
fn elements_behind_an_index() {
    check_facts(
        "int f(const int *a, int n) { int m = a[0]; for (int i = 1; i < n; i++) if (a[i] > m) m = a[i]; return m; }",
        &["\\forall integer k; 0 <= k && k < n ==> a[k] <= \\result", "*a <= m", "n > 0 ==> i <= n"],
        &["\\forall integer k; 0 <= k && k < n ==> a[k] < \\result"],
    );
    check_facts(
        "void f(unsigned char *p, unsigned n, unsigned char c) { for (unsigned i = 0; i < n; i++) p[i] = c; }",
        &["\\forall integer k; 0 <= k && k < n ==> p[k] == c"],
        &[],
    );
    check_facts(
        "void f(char *p, unsigned n, int c) { for (unsigned i = 0; i < n; i++) p[i] = c; }",
        &["i == n"],
        &[
            "\\forall integer k; 0 <= k && k < n ==> p[k] == c",
            "\\forall integer k; 0 <= k && k < i ==> p[k] == c",
        ],
    );
}

/// Equations hold modulo the width, which narrower numbers than `int` do not compute in.
#[test]
fn equations_between_counters() {
    check_facts(
        "int f(int n) { int x = n, y = 0; while (x > 0) { x--; y++; } return y; }",
        &["x + y == n"],
        &[],
    );
    check_facts(
        "unsigned f(unsigned a, unsigned b) { unsigned q = 0, r = a; while (b && r >= b) { r -= b; q++; } return q; }",
        &["b * q + r == a"],
        &[],
    );
    check_facts(
        "short f(short n) { short x = n, y = 0; while (x > 0) { x--; y++; } return y; }",
        &[],
        &["x + y == n"],
    );
}

/// Pointers are taken to lead to different objects, by name; a call leaves alone what it cannot write.
#[test]
fn memory_behind_writes() {
    let source = "struct s { int n, cap; int *d; }; static int hits; static void note(int *p) { *p = 1; hits++; }\n\
                  int f(struct s *s, int v) { s->d[s->n] = v; s->n++; note(s->d); return s->cap; }";
    check_facts(source, &["s->n == \\old(s->n) + 1", "\\result == \\old(s->cap)"], &[]);
    let freed = "#include <stdlib.h>\nstruct o { int n; }; int f(struct o *o) { if (--o->n == 0) { free(o); return 1; } return 0; }";
    check_facts(freed, &[], &["o->n == \\old(o->n) - 1"]);
    let loops = "struct s { int n, cap; int *d; }; int f(struct s *s, int k) { for (int i = 0; i < k; i++) s->d[i] = 0; return s->cap; }";
    check_facts(loops, &["\\result == \\old(s->cap)"], &[]);
}

/// A pointer's address that a loop computes may be that of a local.
#[test]
fn loops_may_find_the_address_of_a_local() {
    let source = "int f(int n) { int a = 0, b = 0; int *p = &a; while (n-- > 0) p = &b; *p = 5; return b; }";
    check_facts(source, &[], &["\\result == 0", "b == 0"]);
}

/// Where what lines mean has changed, and not the lines, other lines that changed are no causes of what
/// they had no part in.
#[test]
fn lines_that_no_run_came_to_are_no_causes() {
    let code = |limit: u32, word: &str| {
        format!(
            "int puts(const char *);\n#define LIMIT {limit}\nint f(int n) {{\n    int k = 0;\n    \
             for (int i = 0; i < n; i++)\n        k = (k * 7 + i) % LIMIT;\n    if (n == -77)\n        puts(\"{word}\");\n    \
             return k;\n}}\n"
        )
    };
    let report = analyse(&code(10, "a"), &code(20, "b"), PointChoice::default());
    let churns: Vec<_> = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).collect();
    let of = |subject: &str| churns.iter().find(|c| c.subject == subject).map(|c| &c.causes).unwrap();
    let lines = |of: &[git_invdiff::report::LineRef]| of.iter().map(|l| l.line).collect::<Vec<_>>();
    assert_eq!((lines(&of("\\result").removed), lines(&of("\\result").added)), (vec![], vec![]));
    assert!(lines(&of("\\result").shared).contains(&6), "{churns:#?}");
    assert_eq!((lines(&of("output").removed), lines(&of("output").added)), (vec![8], vec![8]));
}

/// A loop of a function that is called several times has one line and several heads: what holds at one of
/// them does not hold at the line.
#[test]
fn loops_of_several_calls_are_not_told() {
    let code = |calls: &str, k: u32| {
        format!(
            "static int upto(int from, int n) {{\n    int i = from;\n    while (i < n)\n        i++;\n    return i;\n}}\n\
             int f(int n) {{\n    if (n < 0 || n > 100)\n        return {k};\n    {calls}\n}}\n"
        )
    };
    let found = |calls: &str| {
        let options = Options { points: loops(), all: true, ..Options::default() };
        let files = [vec![("a.c", code(calls, 1))], vec![("a.c", code(calls, 2))]];
        let files: Vec<Vec<(&str, &str)>> =
            files.iter().map(|v| v.iter().map(|(n, t)| (*n, t.as_str())).collect()).collect();
        let report = diff(&memory::request(&files, c::Options::default(), options));
        let of_f = report.functions.into_iter().filter(|f| f.name == "f").collect();
        facts(&Report { functions: of_f, ..Report::default() }, PointKind::Loop)
    };
    let once = found("int ret = 0;\n    return ret + upto(5, n);");
    assert!(once.iter().any(|f| f.contains("ret == 0")), "{once:?}");
    let twice =
        found("int ret = 0;\n    if (upto(5, n) > 20)\n        ret = 1;\n    return ret + upto(-5, n);");
    assert_eq!(twice, Vec::<String>::new());
}
