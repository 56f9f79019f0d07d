//! Facts of points that no defined run comes to.

use super::kit::Pair;
use serde_json::Value;

/// Members of a JSON list.
fn list<'v>(v: &'v Value, name: &str) -> Vec<&'v Value> {
    v[name].as_array().map(|a| a.iter().collect()).unwrap_or_default()
}

/// Checks at every exit which versions are said to be reached by what holds, and by what would hold.
#[track_caller]
fn check(old: &str, new: &str, claims: bool, unreached: Option<&str>) {
    let pair = Pair::new(old, new);
    let report = pair.json("diff --all HEAD~1..HEAD");
    let (mut held, mut open) = (0, 0);
    for point in list(&report, "functions").into_iter().flat_map(|f| list(f, "points")) {
        for fact in list(point, "version_invariants") {
            assert!(!fact["reached"].as_object().unwrap().values().any(|r| r == false), "{fact:#}");
            held += 1;
        }
        for fact in list(point, "if_reached") {
            assert_eq!(unreached.map(|v| &fact["reached"][v]), Some(&Value::Bool(false)), "{fact:#}");
            open += 1;
        }
        for churn in list(point, "churns") {
            for (side, version) in [("removed", "1"), ("added", "2")] {
                for fact in list(churn, side) {
                    let told = fact["text"].as_str().unwrap();
                    let is_event = told.starts_with("undefined: ");
                    assert!(is_event || fact["reached"][version] == true, "{side}: {fact:#}");
                }
            }
        }
    }
    assert_eq!((held > 0, open > 0), (claims, unreached.is_some()), "{report:#}");
}

#[test]
fn nothing_is_claimed_of_a_version_that_is_undefined_on_every_run() {
    let program = |read: &str| {
        format!(
            "#include <stdio.h>\nint main(void) {{ int n, s; {read}; s = n + 1; printf(\"%d\\n\", s); return 0; }}\n"
        )
    };
    check(&program("scanf(\"%d\", n)"), &program("scanf(\"%d\", &n)"), false, Some("1"));
    check(&program("scanf(\"%d\", &n)"), &program("scanf(\"%d\", n)"), false, Some("2"));
    let f = |first: &str| format!("int f(int a) {{ int r{first}; int t = r + a; return t > 3 ? 1 : 0; }}\n");
    check(&f(""), &f(" = 0"), false, Some("1"));
    let divides = |by: u32| format!("int f(int *p, int a) {{ int z = {by}; *p = a / z; return *p; }}\n");
    check(&divides(0), &divides(1), false, Some("1"));
    let null = |q: &str| format!("int f(int *p, int a) {{ int *q = {q}; *q = a; return a; }}\n");
    check(&null("0"), &null("p"), false, Some("1"));
}

#[test]
fn what_no_input_ends_has_no_exit() {
    let f = |on: &str| format!("int f(int a) {{ int r = 3; while ({on}) a++; return r; }}\n");
    // The head of the loop is come to; the exit is not.
    check(&f("1"), &f("a < 0"), true, None);
    let g = |k: i32| {
        format!("#include <stdlib.h>\nint f(int a) {{ int r = {k}; if (a < r) exit(1); abort(); }}\n")
    };
    // How it ends is known of runs that do.
    Pair::new(&g(4), &g(3)).is_a_change_of("a.c:f");
    // The other way round it is aborted on one input less: a change all the same, and no harm.
    let pair = Pair::new(&g(3), &g(4));
    pair.is_denied_nowhere();
    pair.says("condition --exit-code HEAD~1..HEAD", 0, &["fails on no new input"], &[]);
}

#[test]
fn what_runs_come_to_is_claimed_as_before() {
    let f = |k: i32| {
        format!(
            "int ext(int);\nint f(int a) {{ if (a < 0) return -{k}; if (a > 100) return 1; return ext(a); }}\n"
        )
    };
    check(&f(1), &f(2), true, None);
    // Few inputs come to the exit: the solver knows one.
    let f = |k: i32| {
        format!(
            "#include <stdlib.h>\nint f(unsigned a, int *p) {{ if (a * 7u != 123456789u) abort(); *p = {k}; return 5; }}\n"
        )
    };
    check(&f(1), &f(2), true, None);
}

#[test]
fn people_see_how_many_there_are() {
    let f = |first: &str| format!("int f(int a) {{ int r{first}; int t = r + a; return t > 3 ? 1 : 0; }}\n");
    let pair = Pair::new(&f(""), &f(" = 0"));
    pair.says(
        "diff HEAD~1..HEAD --all",
        0,
        &["\nheld if reached\n", "where no known run of version 1 comes"],
        &["held by both"],
    );
    pair.says(
        "diff HEAD~1..HEAD --all -v",
        0,
        &["if reached: no defined run of version 1 is known"],
        &["held by both"],
    );
    pair.says("diff HEAD~1..HEAD --porcelain --all", 0, &["if-reached"], &[]);
}

/// An assertion in another file is reached through a caller that stands beside what changed.
#[test]
fn callers_beside_what_changed_lead_to_other_files() {
    let other = |k: u32| {
        format!(
            "static int scale(int x) {{ return x * {k}; }}\nint other(int x) {{ return scale(x) + 1; }}\n"
        )
    };
    let user = "#include <assert.h>\nint other(int x);\n\
        static int scale(int x) { return x; }\n\
        int work(int a)\n{\n    int r = other(scale(a & 255));\n    assert(r <= 766);\n    return r;\n}\n";
    let (old, new) = (other(3), other(4));
    let pair = Pair::of(&[("other.c", &old), ("a.c", user)], &[("other.c", &new), ("a.c", user)]);
    pair.says("check HEAD~1..HEAD", 1, &["work()  assertion  r <= 766"], &["no regression"]);
}
