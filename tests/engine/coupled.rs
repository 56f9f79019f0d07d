//! What two versions have in common beyond their text: loops that are moved, split or turned around, and recursions
//! that are written otherwise, are the same as a whole, and a twin of each that is not is never called so.

use git_invdiff::analysis::{Limits, Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{HunkVerdict, Report};

fn report(old: &str, new: &str) -> Report {
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    // As deep as the command asks on request.
    let limits = Limits { rlimit: 4 * Limits::default().rlimit, ..Limits::default() };
    let options = Options { jobs: 1, limits, ..Options::default() };
    diff(&memory::request(&versions, c::Options::default(), options))
}

/// Whether nothing that a caller sees is said to change, or to be open.
fn is_same(report: &Report) -> bool {
    let points = || report.functions.iter().flat_map(|f| &f.points);
    points().all(|p| p.undecided.is_empty() && p.churns.is_empty())
        && report.hunks.iter().all(|h| h.verdict == HunkVerdict::Neutral)
}

/// The newer version does the same, and its twin does not.
#[track_caller]
fn check(old: &str, new: &str, twin: &str) {
    let same = report(old, new);
    let open: Vec<_> = same.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.undecided).collect();
    assert!(is_same(&same), "{old}\n{new}\n{open:?}");
    assert!(!is_same(&report(old, twin)), "{old}\n{twin}");
}

#[test]
fn what_a_round_computes_may_be_carried_to_the_next() {
    let loop_of = |first: &str, body: &str| {
        format!(
            "int f(int n, int c) {{ int i = 0, j = {first}, x = 0; while (i < n) {{ {body} i++; }} return x; }}\n"
        )
    };
    let old = loop_of("0", "j = 5 * i + c; x = x + j;");
    check(&old, &loop_of("c", "x = x + j; j = j + 5;"), &loop_of("c", "x = x + j; j = j + 6;"));
}

#[test]
fn a_first_round_may_be_left_out() {
    let sum = |first: &str| {
        format!("int f(int n) {{ int i = {first}, x = 0; while (i <= n) {{ x = x + i; i++; }} return x; }}\n")
    };
    check(&sum("0"), &sum("1"), &sum("2"));
}

#[test]
fn a_counter_may_go_the_other_way() {
    let old = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += 3; return s; }\n";
    let down = |end: &str| {
        format!("int f(int n) {{ int s = 0; for (int i = n; i > {end}; i--) s += 3; return s; }}\n")
    };
    check(old, &down("0"), &down("1"));
}

#[test]
fn constants_and_copies_do_not_matter_to_floats() {
    let of = |first: &str, two: &str| {
        format!(
            "double f(double x, int n) {{ {first} double s = 1.0; for (int i = 0; i < n; i++) s = s * x + {two} * x / (i + 1); return s; }}\n"
        )
    };
    check(&of("", "2.0"), &of("double two = 2.0;", "two"), &of("double two = 2.5;", "two"));
}

#[test]
fn inner_loops_go_in_step_too() {
    let of = |bound: &str, step: &str| {
        format!(
            "int f(int n, int m) {{ int s = 0; int two = 2; for (int i = 0; i < n; i++) for (int j = 0; j < {bound}; j++) s += {step} * j; return s; }}\n"
        )
    };
    check(&of("m", "2"), &of("m", "two"), &of("m", "two + 1"));
}

#[test]
fn a_recursion_may_make_its_calls_under_other_tests() {
    let of = |body: &str| format!("int f(int m, int n) {{ int r = 0; {body} return r; }}\n");
    let old = of(
        "if (m == 0) r = n + 1; else if (m > 0 && n == 0) r = f(m - 1, 1); else r = f(m - 1, f(m, n - 1));",
    );
    let new = of(
        "if (m > 0 && n == 0) r = f(m - 1, 1); else if (m == 0) r = n + 1; else r = f(m - 1, f(m, n - 1));",
    );
    let twin = of(
        "if (m > 0 && n == 0) r = f(m - 1, 2); else if (m == 0) r = n + 1; else r = f(m - 1, f(m, n - 1));",
    );
    check(&old, &new, &twin);
}

#[test]
fn a_recursion_may_go_two_steps_at_once() {
    let old = "int f(int n) { if (n <= 1) return n; return n + f(n - 1); }\n";
    let two =
        |k: &str| format!("int f(int n) {{ if (n <= 1) return n; return n + (n - {k}) + f(n - 2); }}\n");
    check(old, &two("1"), &two("2"));
}

/// The one never returns: `f(1)` calls itself with 1.
#[test]
fn a_recursion_that_does_not_end_is_not_one_that_does() {
    let old = "int f(int n) { if (n <= 0) return 0; return f(n - 1); }\n";
    let new = "int f(int n) { if (n <= 0) return 0; return f(n); }\n";
    assert!(!is_same(&report(old, new)));
}

/// What one loop computes is the same where both end, and one does not.
#[test]
fn a_loop_that_does_not_end_is_not_one_that_does() {
    let old = "int f(int t, int c) { int x = 0; if (0 < t) while (0 < c) { x++; c = c - 1; } return x; }\n";
    let new =
        "int f(int t, int c) { int x = 0; while (0 < c) { if (0 < t) { x++; c = c - 1; } } return x; }\n";
    assert!(!is_same(&report(old, new)));
}
