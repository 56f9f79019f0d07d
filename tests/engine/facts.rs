//! Facts that must, and must not, come out of small programs.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Claim, Effect, End, LineRef, Report};

fn analyse(versions: &[&str]) -> Report {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", *v)]).collect();
    diff(&memory::request(&files, c::Options::default(), Options::default()))
}

fn invariants(report: &Report, function: &str) -> Vec<String> {
    let f = report.functions.iter().filter(|f| f.name == function);
    f.flat_map(|f| &f.points).flat_map(|p| &p.version_invariants).map(|f| f.text.clone()).collect()
}

/// `-` and `+` facts of the churns of a function, in order.
fn churns(report: &Report, function: &str) -> Vec<String> {
    let f = report.functions.iter().filter(|f| f.name == function);
    let churns = f.flat_map(|f| &f.points).flat_map(|p| &p.churns);
    churns
        .flat_map(|c| {
            let removed = c.removed.iter().map(|f| format!("- {}", f.text));
            removed.chain(c.added.iter().map(|f| format!("+ {}", f.text))).collect::<Vec<_>>()
        })
        .collect()
}

/// A program that looks whether a conversion succeeded may see it fail.
#[test]
fn checked_input_may_fail() {
    let old = "#include <stdio.h>\nint main(void) { int a; scanf(\"%d\", &a); return 0; }\n";
    let new =
        "#include <stdio.h>\nint main(void) { int a; if (scanf(\"%d\", &a) != 1) return 1; return 0; }\n";
    let report = analyse(&[old, new]);
    assert!(
        !invariants(&report, "main").iter().any(|t| t == "\\result == 0"),
        "{:?}",
        invariants(&report, "main")
    );
}

#[test]
fn a_result_that_changes_has_a_witness() {
    let report = analyse(&["int f(int a) { return a + 1; }", "int f(int a) { return a + 2; }"]);
    assert_eq!(churns(&report, "f"), ["- \\result == a + 1", "+ \\result == a + 2"]);
    let churn = &report.functions[0].points[0].churns[0];
    assert_eq!(churn.claim, Claim::Changed);
    assert!(churn.witness.is_some());
}

#[test]
fn equal_values_are_no_churn() {
    for (old, new) in [
        ("int f(int a) { return a * 2; }", "int f(int a) { return a + a; }"),
        ("int f(int a) { if (a) return 1; return 0; }", "int f(int a) { return a != 0; }"),
        ("int f(int a, int b) { return a & b; }", "int f(int b1, int b2) { return b2 & b1; }"),
        ("unsigned f(unsigned a) { return a % 8; }", "unsigned f(unsigned a) { return a & 7; }"),
        (
            "int f(int n) { int s = 0; for (int i = 0; i < 4; i++) s += n; return s; }",
            "int f(int n) { return n * 4; }",
        ),
    ] {
        let report = analyse(&[old, new]);
        assert_eq!(churns(&report, "f"), [""; 0], "{new}");
    }
}

#[test]
fn callers_see_what_a_callee_changes() {
    let old = "static int g(int a) { return a; }\nint f(int a) { return g(a) + 1; }";
    let new = "static int g(int a) { return -a; }\nint f(int a) { return g(a) + 1; }";
    let report = analyse(&[old, new]);
    assert_eq!(churns(&report, "f"), ["- \\result == a + 1", "+ \\result == 1 - a"]);
}

/// What rests on a type that was guessed is never called proved.
#[test]
fn guessed_types_prove_nothing() {
    let report = analyse(&["int f(foo_t a) { return (int)a + 1; }", "int f(foo_t a) { return (int)a + 2; }"]);
    let points = report.functions.iter().flat_map(|f| &f.points);
    for fact in points.flat_map(|p| &p.churns).flat_map(|c| c.removed.iter().chain(&c.added)) {
        assert!(fact.status.values().all(|s| *s != git_invdiff::report::Status::Proved), "{}", fact.text);
        assert!(fact.assumptions.contains(&"invented-type(foo_t)".to_string()), "{:?}", fact.assumptions);
    }
}

/// Checks the churns of `f`, and that each was shown by a run.
#[track_caller]
fn check_churns(old: &str, new: &str, expected: &[&str]) {
    let report = analyse(&[old, new]);
    assert_eq!(churns(&report, "f"), expected, "{new}");
    let points = report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points);
    assert!(points.flat_map(|p| &p.churns).all(|c| c.witness.is_some()), "{new}");
}

const ROW: &str = "struct row { int len; char *text; int at[4]; };\nstruct { int cx, cy; } E;\nint count;\n";

#[test]
fn memory_changes_place_by_place() {
    for (old, new, expected) in [
        ("E.cx++;", "E.cx += 2;", ["- E.cx == \\old(E.cx) + 1", "+ E.cx == \\old(E.cx) + 2"]),
        ("count += n;", "count -= n;", ["- count == n + \\old(count)", "+ count == \\old(count) - n"]),
        ("r->len = n;", "r->len = n + 1;", ["- r->len == n", "+ r->len == n + 1"]),
        ("r->at[2] = 1;", "r->at[2] = 5;", ["- r->at[2] == 1", "+ r->at[2] == 5"]),
        (
            "r->text[1] = 0;",
            "r->text[1] = 'x';",
            ["- \\old(r->text)[1] == '\\0'", "+ \\old(r->text)[1] == 'x'"],
        ),
        (
            "if (n > 3) count = 0;",
            "if (n > 3) count = 1;",
            ["- count == (n > 3 ? 0 : \\old(count))", "+ count == (n > 3 ? 1 : \\old(count))"],
        ),
    ] {
        let f = |body: &str| format!("{ROW}void f(struct row *r, int n) {{ {body} }}");
        check_churns(&f(old), &f(new), &expected);
    }
}

#[test]
fn places_in_memory_may_be_equal() {
    for (old, new) in [
        ("E.cx = n; E.cy = 1;", "E.cy = 1; E.cx = n;"),
        ("E.cx += 2;", "E.cx++; E.cx++;"),
        ("if (n) count = 1; else count = 0;", "count = n != 0;"),
        ("count = 2 * n;", "count = n + n;"),
    ] {
        let f = |body: &str| format!("{ROW}void f(int n) {{ {body} }}");
        let report = analyse(&[&f(old), &f(new)]);
        assert_eq!(churns(&report, "f"), [""; 0], "{new}");
        assert!(report.complete, "{new}");
    }
}

#[test]
fn places_that_versions_share_are_invariants() {
    let f = |k: i32| format!("{ROW}int f(int n) {{ E.cx++; count = n; return {k}; }}");
    let found = invariants(&analyse(&[&f(1), &f(2)]), "f");
    for expected in ["E.cx == \\old(E.cx) + 1", "count == n"] {
        assert!(found.contains(&expected.to_string()), "{found:?}");
    }
}

/// Checks the example of the first churn of `f`: the cells of its memory by object, and the effect.
#[track_caller]
fn check_example(old: &str, new: &str, arguments: &[&str], memory: &[(&str, &str)], effect: (&str, &str)) {
    use git_invdiff::report::Value;
    let report = analyse(&[old, new]);
    let f = report.functions.iter().find(|f| f.name == "f").expect("f changes");
    let churn = &f.points[0].churns[0];
    let witness = churn.witness.as_ref().expect("a witness");
    let text = |v: &Value| match v {
        Value::Text(text) => text.clone(),
        Value::Pointer { object, offset } => format!("&{object} + {offset}"),
    };
    let given: Vec<String> = witness.arguments.iter().map(|a| text(&a.value)).collect();
    assert_eq!(given, arguments);
    let cells = witness.memory.iter().flat_map(|o| o.cells.iter());
    let cells: Vec<(String, String)> = cells.map(|(k, v)| (k.clone(), text(v))).collect();
    let expected: Vec<(String, String)> =
        memory.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    assert_eq!(cells, expected);
    let value =
        |run: &git_invdiff::report::Run| run.values.get(&churn.subject).cloned().or(run.returned.clone());
    assert_eq!(
        (value(&witness.old).as_deref(), value(&witness.new).as_deref()),
        (Some(effect.0), Some(effect.1))
    );
}

#[test]
fn examples_are_as_simple_as_the_difference_allows() {
    let f = |body: &str| format!("{ROW}int f(struct row *r, int n, char *s) {{ {body} }}");
    check_example(
        &f("return r && r->text[0] == 'q' ? n : 0;"),
        &f("return r && r->text[0] == 'q' ? n + 1 : 0;"),
        &["&m1 + 0", "0", "NULL"],
        &[("text", "&m2 + 0"), ("", "\"q\"")],
        ("0", "1"),
    );
    check_example(
        &f("r->len = n; return 0;"),
        &f("r->len = 2 * n; return 0;"),
        &["&m1 + 0", "1", "NULL"],
        &[],
        ("1", "2"),
    );
    check_example(
        &f("E.cx = n * n; return 0;"),
        &f("E.cx = n + n; return 0;"),
        &["NULL", "1", "NULL"],
        &[],
        ("1", "2"),
    );
}

/// What a caller shows of a callee's change is told at the callee.
#[test]
fn a_callee_s_change_is_told_once() {
    let f = |k: i32| {
        format!(
            "int g(int a) {{ return a * {k}; }}\nint f(int a) {{ return g(a); }}\nint h(int a) {{ return f(a) + 1; }}"
        )
    };
    let report = analyse(&[&f(3), &f(5)]);
    let through = |name: &str| -> Vec<Vec<String>> {
        let f = report.functions.iter().filter(|f| f.name == name).flat_map(|f| &f.points);
        f.flat_map(|p| &p.churns).map(|c| c.through.clone()).collect()
    };
    assert_eq!(through("g"), [Vec::<String>::new()]);
    assert_eq!(through("f"), [["a.c:g"]]);
    assert_eq!(through("h"), [["a.c:g"]]);
}

/// An input of one version is nothing for another that lays its objects out otherwise.
#[test]
fn other_layouts_give_no_examples() {
    let f =
        |fields: &str| format!("struct s {{ {fields} }};\nint f(struct s *p) {{ return p ? p->len : 0; }}");
    let report = analyse(&[&f("int len; int cap;"), &f("int kind; int len; int cap;")]);
    let churns: Vec<_> = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).collect();
    assert!(churns.iter().all(|c| c.witness.is_none()), "{churns:?}");
}

#[test]
fn arguments_follow_their_parameters() {
    let old = "int f(int a, int b) { return a - b; }";
    let report = analyse(&[old, "int f(int b, int a) { return a - b; }"]);
    assert_eq!(churns(&report, "f"), [""; 0]);
    check_example(old, "int f(int k, int a, int b) { return a - b + k; }", &["1", "0", "0"], &[], ("0", "1"));
}

/// The sign of a zero is a difference, but not one that a reader sees.
#[test]
fn examples_show_plain_differences_first() {
    let f = |value: &str| format!("#include <math.h>\nfloat f(float b, float h) {{ return {value}; }}");
    check_example(&f("b * h"), &f("fabsf(b * h)"), &["-1.0", "1.0"], &[], ("-1.0", "1.0"));
}

/// Lengths that no object has are events, not defects of ours.
#[test]
fn absurd_lengths_are_survived() {
    let f = |call: &str| {
        format!("#include <string.h>\nvoid f(char *a, char *b, long n) {{ if (a && b) {call}; }}")
    };
    let report = analyse(&[&f("memcpy(a, b, n)"), &f("memmove(a, b, n - 1)")]);
    let points = report.functions.iter().flat_map(|f| &f.points);
    let reasons: Vec<_> = points.flat_map(|p| &p.undecided).map(|u| u.reason.clone()).collect();
    assert!(reasons.iter().all(|r| !r.contains("internal error")), "{reasons:?}");
}

/// What follows `setjmp` may have been run before, so nothing is known of what it writes.
#[test]
fn setjmp_may_return_again() {
    let code = "#include <setjmp.h>\njmp_buf b; void g(void);\n\
                int f(int c) { int k = 0; setjmp(b); k = k + 1; if (k < 3) g(); return k STEP; }\n";
    let report = analyse(&[&code.replace("STEP", ""), &code.replace("STEP", "+ 1")]);
    let told = [invariants(&report, "f"), churns(&report, "f")].concat();
    assert!(!told.iter().any(|t| t.contains("\\result == 1") || t.contains("\\result == 2")), "{told:?}");
}

/// Whatever `longjmp` may bring back was seen by no fact before; a run shows what it does.
#[test]
fn nothing_is_proved_across_a_second_return() {
    use git_invdiff::report::Status;
    let head = "#include <setjmp.h>\n#include <stdio.h>\njmp_buf b; int count; void g(int *);\n";
    // Each body with what must not be said of its versions.
    for (body, old, new, wrong) in [
        // A local that lives in a register, and one that a callee may write.
        ("int k = c; if (setjmp(b)) return k STEP; k = 5; longjmp(b, 1);", "", "+ 1", "\\result == c"),
        ("int k = 1; g(&k); k = 2; if (setjmp(b)) return k STEP; k = 3; g(0); return 0;", "", "+ 1", "== 2"),
        // A local in memory that is followed like a register.
        ("int k; *&k = 1; setjmp(b); c = k; k = 3; g(0); return c STEP;", "", "+ 1", "\\result == 1"),
        // Output and globals from before the jump stay.
        (
            "count = 0; if (setjmp(b)) return 0; count++; puts(\"a\"); STEP; return 1;",
            "g(0)",
            "longjmp(b, 1)",
            "output ==",
        ),
        (
            "count = 0; if (setjmp(b)) return 0; count++; STEP; return 0;",
            "g(0)",
            "longjmp(b, 1)",
            "count == 0",
        ),
        ("count = 0; setjmp(b); c = count; count = 1; g(0); return c STEP;", "", "+ 1", "\\result == 0"),
        // The results of two calls are not the same value.
        ("int v = setjmp(b); STEP; return v;", "g(0)", "longjmp(b, 4)", "\\result == 0"),
        (
            "if (c) { STEP; setjmp(b); if (count) return 1; longjmp(b, 1); } return 0;",
            "",
            "g(0)",
            "ends in longjmp",
        ),
        ("if (c) { setjmp(b); STEP; longjmp(b, 1); } return 0;", "", "g(0)", "ends in longjmp"),
        ("if (c) { STEP; if (setjmp(b) == 0) longjmp(b, 1); } return 0;", "", "g(0)", "ends in longjmp"),
    ] {
        let f = |step: &str| format!("{head}int f(int c) {{ {} }}\n", body.replace("STEP", step));
        let report = analyse(&[&f(old), &f(new)]);
        let points = || report.functions.iter().flat_map(|f| &f.points);
        let churned = points().flat_map(|p| &p.churns).flat_map(|c| c.removed.iter().chain(&c.added));
        let facts = points().flat_map(|p| &p.version_invariants).chain(churned);
        let proved: Vec<&str> = facts
            .filter(|f| f.status.values().any(|s| *s == Status::Proved))
            .map(|f| &*f.text)
            .filter(|t| t.contains(wrong))
            .collect();
        assert_eq!(proved, [""; 0], "{body}");
        let f = report.functions.iter().find(|f| f.name == "f").expect("f changes");
        assert!(f.unknowns.iter().all(|u| u.reason == "setjmp") && !f.complete, "{body}: {f:?}");
    }
}

/// A difference that a run shows is told, though nothing is proved.
#[test]
fn a_second_return_is_replayed() {
    let f = |k: i32| {
        format!(
            "#include <setjmp.h>\nint f(int c) {{ jmp_buf b; int v = setjmp(b); if (v == 0) longjmp(b, {k}); return v; }}"
        )
    };
    let report = analyse(&[&f(3), &f(4)]);
    let churns: Vec<_> = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).collect();
    let witness = churns.iter().find_map(|c| c.witness.as_ref()).expect("a witness");
    assert_eq!((witness.old.returned.as_deref(), witness.new.returned.as_deref()), (Some("3"), Some("4")));
}

/// A jump to a caller's buffer ends the run, and gives no value.
#[test]
fn jumps_to_a_caller_end_the_function() {
    let f = |text: &str| {
        format!(
            "#include <setjmp.h>\n#include <stdio.h>\njmp_buf b; int f(void) {{ puts(\"{text}\"); longjmp(b, 1); }}"
        )
    };
    let report = analyse(&[&f("a"), &f("b")]);
    let mut churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let witness = churns.find_map(|c| c.witness.as_ref()).expect("a witness");
    assert_eq!((witness.calls.len(), witness.old.end), (0, End::Exit));
    assert!(invariants(&report, "f").iter().any(|t| t == "ends in longjmp()"));
}

/// What was printed or stored before a run ends otherwise than by return counts as well.
#[test]
fn what_comes_before_an_abnormal_end_is_compared() {
    let head = "#include <stdio.h>\n#include <stdlib.h>\n#include <setjmp.h>\njmp_buf b; int count; void die(void);\n";
    let analyse = |body: &str, text: &str| {
        let f = |text: &str| format!("{head}int f(unsigned c) {{ {} }}\n", body.replace("TEXT", text));
        analyse(&[&f("\"a\""), &f(text)])
    };
    let exit = "if (c > 3) { puts(TEXT); exit(1); } return 0;";
    for body in [exit, "puts(TEXT); abort();", "if (c * c == 289) { puts(TEXT); longjmp(b, 1); } return 0;"] {
        let report = analyse(body, "\"b\"");
        let churns: Vec<_> =
            report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).collect();
        assert_eq!(churns.iter().map(|c| &*c.subject).collect::<Vec<_>>(), ["output"], "{body}");
        assert!(churns[0].witness.is_some(), "{body}");
        assert_eq!(analyse(body, "\"a\" \"\"").summary.churns, 0, "{body}");
    }
    // Memory at such an end is not looked into.
    let report = analyse("if (c > 3) { count = *TEXT; longjmp(b, 1); } return 0;", "\"b\"");
    assert!(!report.complete, "{report:?}");
    // `exit` leaves nobody to look.
    let report = analyse("if (c > 3) { count = *TEXT; exit(1); } return 0;", "\"b\"");
    assert!(report.complete && report.summary.churns == 0, "{report:?}");
}

/// A parameter of another type gets the same argument, converted; that it does not fit as it is says
/// nothing of the program.
#[test]
fn arguments_follow_the_types_of_parameters() {
    let old = "int f(const char *s, int n) { if (n < 1 || !s) return 0; return s[0] == 'x'; }";
    let report = analyse(&[old, &old.replace("int n", "long n")]);
    assert!(!churns(&report, "f").iter().any(|t| t.contains("undefined")), "{:?}", churns(&report, "f"));
    for c in report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns) {
        assert!(c.witness.as_ref().is_none_or(|w| w.old.undefined.is_none()), "{c:?}");
    }
    // Truncation is a difference, and is shown.
    let report = analyse(&["int f(int n) { return n != 0; }", "int f(long n) { return n != 0; }"]);
    let witness = report
        .functions
        .iter()
        .flat_map(|f| &f.points)
        .flat_map(|p| &p.churns)
        .find_map(|c| c.witness.as_ref());
    assert!(witness.is_some(), "{report:?}");
}

/// The same number in a wider type is the same value; one version without a result is no silence.
#[test]
fn results_of_other_types() {
    let report = analyse(&["int f(int a) { return a % 7; }", "long f(int a) { return a % 7; }"]);
    assert_eq!(churns(&report, "f"), [""; 0]);
    let report = analyse(&["int f(int a) { return a; }", "void f(int a) { }"]);
    let open = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.undecided);
    assert_eq!(open.map(|u| &*u.text).collect::<Vec<_>>(), ["\\result"]);
    // What is returned no more is told where it was.
    let change = &report.functions[0].changes[0];
    let texts = |of: &[Effect]| of.iter().map(|e| e.text.clone()).collect::<Vec<_>>();
    let delta = &change.deltas[0];
    assert_eq!((texts(&delta.before), texts(&delta.now)), (vec!["returns a".into()], vec!["returns".into()]));
    assert_eq!(report.summary.hunks_not_analysed, 0);
}

/// Lines of a callee that is newly called were not added.
#[test]
fn only_changed_lines_are_causes() {
    let code = "int puts(const char *);\nstatic void say(const char *s) {\n    puts(s);\n}\n\
                int main(void) {\n    say(\"a\");\nMORE    return 0;\n}\n";
    let report = analyse(&[&code.replace("MORE", ""), &code.replace("MORE", "    say(\"b\");\n")]);
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let added: Vec<Vec<u32>> = churns.map(|c| c.causes.added.iter().map(|l| l.line).collect()).collect();
    assert_eq!(added, [[7]]);
}

/// Facts of `f` on parts of the inputs, with all that can be said.
fn agreements(old: &str, new: &str) -> Vec<String> {
    let files = [vec![("a.c", old)], vec![("a.c", new)]];
    let options = Options { all: true, ..Options::default() };
    let report = diff(&memory::request(&files, c::Options::default(), options));
    let facts = invariants(&report, "f").into_iter();
    facts.filter(|t| t.contains("==>") && t.contains("\\result")).collect()
}

#[test]
fn versions_agree_on_a_part_of_the_inputs() {
    let check = |ty: &str, old: &str, new: &str, expected: &[&str]| {
        let of = |body: &str| format!("{ty} f({ty} a, {ty} b, {ty} c, {ty} d) {{ {body} }}");
        assert_eq!(agreements(&of(old), &of(new)), expected, "{old} {new}");
    };
    // Of floats that `==` calls equal one may be -0.0.
    check("float", "return a;", "return b;", &["a == b && b != 0.0f ==> \\result == b"]);
    check("float", "return 1 / a;", "return 1 / b;", &["a == b && b != 0.0f ==> \\result == 1.0f / b"]);
    check(
        "float",
        "return (b - a) / (c - d);",
        "return (a - b) / (d - c);",
        &["c - d != 0.0f && (a - b) / (c - d) != 0.0f ==> \\result == (a - b) / (d - c)"],
    );
    check(
        "float",
        "return a > 0 ? a : b;",
        "return a > 1 ? a : b;",
        &["!(a > 0.0f) ==> \\result == b", "a > 1.0f ==> \\result == a"],
    );
    check(
        "int",
        "int m = a; if (b > m) m = b; if (c > m) m = c; return m;",
        "int m = a; if (b > m) m = b; if (c > a) m = c; return m;",
        &["b <= a && c <= a ==> \\result == a", "b <= a && a < c ==> \\result == c"],
    );
    check("unsigned", "return a / 2;", "return a / 2 + 1;", &[]);
}

/// Memory runs out only where that is what differs, and at requests that both versions make.
#[test]
fn a_refused_request_is_an_input() {
    const BEFORE: &str = "#include <stdlib.h>\n";
    let refusals = |old: &str, new: &str| -> Vec<String> {
        let of = |body: &str| format!("{BEFORE}int *f(int n) {{ {body} }}");
        let report = analyse(&[&of(old), &of(new)]);
        let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
        let calls = churns.filter_map(|c| c.witness.as_ref()).flat_map(|w| &w.calls);
        calls.map(|c| format!("{} {} {:?}", c.nth, c.callee, c.returned)).collect()
    };
    let plain = "int *p = malloc(sizeof *p); *p = n; return p;";
    let checked = "int *p = malloc(sizeof *p); if (!p) return NULL; *p = n; return p;";
    assert_eq!(refusals(plain, checked), ["1 malloc Some(\"NULL\")"]);
    assert_eq!(refusals(checked, plain), ["1 malloc Some(\"NULL\")"]);
    let grown = "int *p = malloc(4); if (!p) return 0; int *q = realloc(p, 8); ";
    let lost = format!("{grown} q[1] = n; return q;");
    let kept = format!("{grown} if (!q) return p; q[1] = n; return q;");
    assert_eq!(refusals(&lost, &kept), ["1 realloc Some(\"NULL\")"]);
    // New requests, and a difference that shows without.
    assert_eq!(refusals("return 0;", "free(malloc(n)); return 0;"), [""; 0]);
    assert_eq!(refusals(plain, &checked.replace("= n", "= n + 1")), [""; 0]);
}

/// The callers' own checks change, but what happens happens in the callee.
#[test]
fn an_event_is_told_where_it_happens() {
    let make =
        |check: &str| format!("static int *make(int n) {{ int *p = malloc(4); {check} *p = n; return p; }}");
    let user = |check: &str| format!("int *f(int n) {{ int *p = make(n); {check} return p; }}");
    let program = |a: &str, b: &str| format!("#include <stdlib.h>\n{}\n{}\n", make(a), user(b));
    let report = analyse(&[&program("", ""), &program("if (!p) return 0;", "if (!p) exit(1);")]);
    assert_eq!(churns(&report, "make"), ["- undefined: access through a null pointer at line 2"]);
    let f = report.functions.iter().find(|f| f.name == "f").expect("f");
    let through: Vec<&[String]> =
        f.points.iter().flat_map(|p| &p.churns).map(|c| c.through.as_slice()).collect();
    assert_eq!(through, [["a.c:make"]]);
}

#[test]
fn values_are_said_in_plain_c() {
    let old = "int count; int f(int n) { count += n; return n; }";
    let new = "int count; int f(int n) { count += n; return n + 1; }";
    let plain = |old: &str, new: &str| -> Vec<(String, Option<String>)> {
        let files = [vec![("a.c", old)], vec![("a.c", new)]];
        let options = Options { all: true, ..Options::default() };
        let report = diff(&memory::request(&files, c::Options::default(), options));
        let points = report.functions.into_iter().flat_map(|f| f.points);
        points.flat_map(|p| p.version_invariants).map(|f| (f.text, f.c)).collect()
    };
    let sum = ("count == n + \\old(count)".to_owned(), Some("count == n + invdiff_old_count".to_owned()));
    assert!(plain(old, new).contains(&sum), "{:?}", plain(old, new));
    let old = "double d; int f(double x) { d = x; return 1; }";
    let identity = Some("(isnan(d) ? isnan(x) : d == (x) && !signbit(d) == !signbit(x))".to_owned());
    let found = plain(old, &old.replace('1', "2"));
    assert!(found.contains(&("d == x".to_owned(), identity)), "{found:?}");
    let old = "int f(int n) { int k = n > 3 ? 2 : n; return k + 1; }";
    let new = "int f(int n) { int k = n > 3 ? 2 : n; return k + 2; }";
    let found = plain(old, new);
    assert!(found.iter().any(|(t, c)| t.starts_with("k == ") && c.as_deref() == Some(t)), "{found:?}");
    assert!(found.iter().all(|(t, c)| !t.contains("\\result") || c.is_none()), "{found:?}");
}

#[test]
fn a_second_return_is_said_to_be_unknown() {
    let source = |k: u8| {
        format!(
            "#include <setjmp.h>\njmp_buf b; int f(int a) {{\n  if (setjmp(b)) return {k};\n  return a;\n}}\n"
        )
    };
    let report = analyse(&[&source(1), &source(2)]);
    let f = report.functions.iter().find(|f| f.name == "f").expect("f");
    let said: Vec<(u32, &str)> = f.unknowns.iter().map(|u| (u.line, u.reason.as_str())).collect();
    assert_eq!(said, [(3, "setjmp"), (3, "setjmp")]);
}

/// What a function found in memory before it wrote there is no fact about memory at the exit.
#[test]
fn calls_that_read_memory_say_which() {
    let f = |n: &str| {
        format!(
            "#include <string.h>\nint x;\nvoid f(char *s, char *b) {{ if (strcmp(s, b)) {{ strcpy(b, s); x = {n}; }} else x = 0; }}"
        )
    };
    let report = analyse(&[&f("1"), &f("2")]);
    assert_eq!(
        churns(&report, "f"),
        ["- x == (\\old(strcmp(s, b)) != 0)", "+ x == (\\old(strcmp(s, b)) == 0 ? 0 : 2)"]
    );
    assert_eq!(
        invariants(&report, "f"),
        ["\\old(strcmp(s, b)) == 0 ==> x == 0", "\\old(strcmp(s, b)) != 0 ==> calls strcpy(b, s)"]
    );
}

/// Input that is made up while a program runs is read as it would be from a file.
#[test]
fn replayed_input_is_read_in_the_same_pieces() {
    let f = |end: &str| {
        format!(
            "#include <stdio.h>\nint main(void) {{ char b[64]; int n; while ((n = fread(b, 1, 64, stdin)) > 0) printf(\"%d{end}\", n); return 0; }}"
        )
    };
    let report = analyse(&[&f(","), &f(";")]);
    let witness = report.functions[0].points[0].churns[0].witness.as_ref().unwrap();
    let stdin = witness.stdin.clone().unwrap();
    let pieces: String = stdin.as_bytes().chunks(64).map(|c| format!("{},", c.len())).collect();
    assert_eq!(witness.old.stdout, Some(pieces), "{stdin:?}");
}

/// Checks that no run is shown for a change of `f`: none means the same in both versions.
#[track_caller]
fn check_no_witness(old: &str, new: &str) {
    let report = analyse(&[old, new]);
    let points = report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points);
    let shown = points.flat_map(|p| &p.churns).filter(|c| c.witness.is_some());
    assert_eq!(shown.map(|c| &*c.subject).collect::<Vec<_>>(), [""; 0], "{new}");
}

#[test]
fn inputs_mean_the_same_in_both_versions() {
    // Other parameters took the place of the old ones.
    check_no_witness(
        "int f(const char *s, int n) { return s[0] + n; }",
        "struct p { const char *s; };\nint f(struct p *q) { return q->s[0]; }",
    );
    check_no_witness(
        "struct a { int x, y; };\nint f(struct a *p) { return p->x; }",
        "struct b { int u, x; };\nint f(struct b *p) { return p->x; }",
    );
    // No pointer of the old version leads to a function that is new.
    let old = "typedef int (*fn)(int);\nint f(fn g) { return g ? 1 : 2; }";
    let new = "typedef int (*fn)(int);\nstatic int m(int x) { return x; }\n\
               int f(fn g) { return g == m ? 3 : g ? 1 : 2; }";
    check_no_witness(old, new);
    // What an unknown function leaves in memory is not known to be uninitialised.
    let call = "void fill(char *);\nint f(void) { char b[4]; fill(b);";
    check_no_witness(&format!("{call} return b[0] == 1; }}"), &format!("{call} return 0; }}"));
}

/// An allocator of another file knows what it was asked for.
#[test]
fn how_large_what_an_unknown_function_gives_is_is_not_known() {
    let version = |allocator: &str, write: &str| {
        format!(
            "#include <stdlib.h>\nvoid *mk(unsigned long);\nvoid give(void *);\nint f(unsigned n) {{\n  \
             int *p = {allocator};\n  if (!p) return 1;\n  {write}\n  give(p);\n  return 0;\n}}\n"
        )
    };
    let undefined = |allocator: &str, write: &str| {
        let report = analyse(&[&version(allocator, ""), &version(allocator, write)]);
        churns(&report, "f").iter().filter(|c| c.contains("out of bounds")).count()
    };
    assert_eq!(undefined("mk(n * 4 + 4)", "p[0] = 0;"), 0);
    // What the library gives has the size that was asked for.
    assert_eq!(undefined("malloc(4)", "p[0] = 0;"), 0);
    assert_eq!(undefined("malloc(4)", "p[1] = 0;"), 1);
}

/// A name stands for the function of the unit at hand.
#[test]
fn functions_of_one_name_are_told_apart() {
    let version =
        |n: u8| format!("static int f(int a) {{ return a + {n}; }}\nint g(int a) {{ return f(a); }}");
    let (old, new) = (version(1), version(2));
    let other = ("b.c", "int f(int a) { return a / 100; }");
    let files = [vec![("a.c", &*old), other], vec![("a.c", &*new), other]];
    let report = diff(&memory::request(&files, c::Options::default(), Options::default()));
    let churn = &report.functions.iter().find(|f| f.name == "f").unwrap().points[0].churns[0];
    assert!(churn.witness.is_some(), "{churn:?}");
}

/// What only moves stays what it is, whatever `__LINE__` says.
#[test]
fn line_numbers_are_no_change() {
    let code = "void fail(const char *, int);\n#define CHECK(c) if (!(c)) fail(#c, __LINE__)\n\
                int f(int a) {\n  CHECK(a > 0);\n  return __LINE__ + a;\n}\n";
    let report = analyse(&[code, &format!("/* moved */\n{code}")]);
    assert!(report.functions.is_empty(), "{:?}", report.functions);
    assert_eq!(report.summary.hunks_not_analysed, 0);
    // Where the function itself changes, its constants are what they are.
    let new = format!("\n{}", code.replace("return __LINE__ + a", "return __LINE__ - a"));
    let report = analyse(&[code, &new]);
    assert_eq!(churns(&report, "f")[..2], ["- \\result == a + 5", "+ \\result == 6 - a"]);
}

/// A `main` gets the same arguments whatever parameters it has; another program's is another.
#[test]
fn mains_are_compared_as_programs() {
    let include = "#include <stdio.h>\n";
    let old =
        format!("{include}int main(int argc, char **argv) {{ puts(argv[0] ? \"a\" : \"b\"); return 0; }}");
    let new = format!("{include}int main(void) {{ puts(\"c\"); return 0; }}");
    let report = analyse(&[&old, &new]);
    assert!(report.functions[0].points[0].churns[0].witness.is_some());
    let files = [vec![("a.c", &*old)], vec![("b.c", &*new)]];
    let report = diff(&memory::request(&files, c::Options::default(), Options::default()));
    assert!(report.functions.iter().all(|f| f.points.is_empty()), "{:?}", report.functions);
}

/// A choice is one operand of `==`, also where it is widened.
#[test]
fn what_a_widened_value_is_made_of_stays_together() {
    let f = |k: u8| format!("long g; int f(int b, int c) {{ g = b > 2 ? c + 10 : c; return {k}; }}");
    let report = analyse(&[&f(1), &f(2)]);
    let of_g: Vec<String> = invariants(&report, "f").into_iter().filter(|t| t.starts_with("g ==")).collect();
    assert_eq!(of_g, ["g == (b > 2 ? c + 10 : c)"]);
}

/// Numbers of two narrow types are promoted before they are compared: of equal bits they may differ.
#[test]
fn narrow_values_of_the_other_sign_are_cast() {
    let f = |code: &str, k: u8| format!("int g; {code} {{ g = {k}; int w = v; return w; }}");
    let check = |code: &str, expected: &str| {
        let report = analyse(&[&f(code, 1), &f(code, 2)]);
        let of_result = |t: &String| t.starts_with("\\result ==");
        assert_eq!(invariants(&report, "f").into_iter().find(of_result).as_deref(), Some(expected), "{code}");
    };
    check("short f(unsigned short v)", "\\result == (short)v");
    check("unsigned char f(signed char v)", "\\result == (unsigned char)v");
    check("short f(short v)", "\\result == v");
    check("unsigned f(int v)", "\\result == v");
}

/// Bytes are read as their own version lays them out; that a type has another layout is no difference.
#[test]
fn each_version_has_its_own_layout() {
    let f = |field: &str, k: u8| {
        format!(
            "void *calloc(unsigned long, unsigned long);\nstruct m {{ int n; {field} char grow; }};\n\
             struct m *f(void) {{\n    struct m *p = calloc(1, sizeof *p);\n    if (p) p->grow = {k};\n    return p;\n}}"
        )
    };
    let report = analyse(&[&f("", 1), &f("char load;", 1)]);
    assert_eq!(report.summary.churns, 0, "{:?}", report.functions);
    let open = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.undecided);
    assert_eq!(open.clone().count(), 0, "{:?}", open.collect::<Vec<_>>());
    let report = analyse(&[&f("", 1), &f("char load;", 2)]);
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let values: Vec<_> =
        churns.filter_map(|c| c.witness.as_ref()).map(|w| (&w.old.values, &w.new.values)).collect();
    let grow = |v: &std::collections::BTreeMap<String, String>| v.get("\\result->grow").cloned();
    let shown = values.iter().any(|(old, new)| {
        let chars =
            |k: u8| [format!("{k}"), format!("'\\x{k:02x}'"), format!("'\\{k:03o}'"), format!("'\\{k}'")];
        grow(old).is_some_and(|t| chars(1).contains(&t)) && grow(new).is_some_and(|t| chars(2).contains(&t))
    });
    assert!(shown, "{values:?}");
    assert!(values.iter().all(|(old, _)| !old.contains_key("\\result->load")), "{values:?}");
}

/// Guards are numbers of the branches, not of what was tried before.
#[test]
fn guards_are_those_of_the_code() {
    let f = |k: u8| {
        format!(
            "int g;\nint f(int *i, int n) {{\n    g = {k};\n    while (*i < n && *i != 77)\n        (*i)++;\n    \
             return *i;\n}}"
        )
    };
    let files = [f(1), f(2)];
    let files = [vec![("a.c", &*files[0])], vec![("a.c", &*files[1])]];
    let options = Options { all: true, ..Options::default() };
    let report = diff(&memory::request(&files, c::Options::default(), options));
    let guards: std::collections::BTreeSet<String> = invariants(&report, "f")
        .iter()
        .filter_map(|t| Some(t.split_once(" ==> ")?.0.to_owned()))
        .filter(|g| g.starts_with("\\old(*i) ") && !g.contains('n'))
        .collect();
    let numbers = guards.iter().filter_map(|g| g.rsplit(' ').next()?.parse::<i64>().ok());
    let odd: Vec<i64> = numbers.filter(|n| ![-1, 0, 1, 76, 77, 78].contains(n)).collect();
    assert!(odd.is_empty(), "{guards:?}");
}

/// No fact is on both sides of a churn, nor listed twice, and literals of the old version have their text.
#[test]
fn what_is_said_is_said_once() {
    let f = |more: &str| {
        format!(
            "int f(const int *a, const int *b, int n, int m)\n{{\n    if (a[0] * a[1] + b[2] > b[3] - a[4] && n * m != a[5] + \
             b[6] && (n ^ m) < a[7] * b[8] && a[9] * a[10] < b[11]{more})\n        return 1;\n    return 0;\n}}\n\
             const char *g(void)\n{{\n    return \"1.{}\";\n}}\n",
            more.len()
        )
    };
    let report = analyse(&[&f(""), &f(" && n > 5")]);
    let points = || report.functions.iter().flat_map(|f| &f.points);
    assert!(points().flat_map(|p| &p.churns).count() >= 2, "{:?}", report.functions);
    for churn in points().flat_map(|p| &p.churns) {
        let both = churn.removed.iter().filter(|r| churn.added.iter().any(|a| a.text == r.text));
        assert_eq!(both.count(), 0, "{churn:?}");
        let ends = churn.witness.iter().flat_map(|w| [&w.old, &w.new]);
        for returned in ends.filter_map(|run| run.returned.as_ref()) {
            assert!(!returned.contains(".str"), "{returned}");
        }
    }
    for point in points() {
        let texts: std::collections::BTreeSet<_> = point.version_invariants.iter().map(|f| &f.text).collect();
        assert_eq!(texts.len(), point.version_invariants.len());
    }
}

/// Constants that are defined elsewhere are not known here.
#[test]
fn imported_constants_are_unknown() {
    let f = |constant: &str, n: u8| {
        format!(
            "extern const char *{constant} t[2];\nconst char *f(void *p, int n) {{ if (!p) return t[1]; if (n > {n}) return \
             t[0]; return 0; }}"
        )
    };
    let report = analyse(&[&f("const", 3), &f("const", 4)]);
    assert!(
        !invariants(&report, "f").iter().any(|t| t == "\\result == NULL"),
        "{:?}",
        invariants(&report, "f")
    );
    let report = analyse(&[&f("", 3), &f("const", 3)]);
    let churns = || report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    assert!(
        !churns().flat_map(|c| &c.added).any(|f| f.text == "\\result == NULL"),
        "{:?}",
        churns().collect::<Vec<_>>()
    );
    assert!(!churns().any(|c| c.witness.is_some()));
    let number = "extern const int k;\nint f(void) { return k; }";
    let report = analyse(&[number, &number.replace("return k", "return k + 1")]);
    let facts: Vec<String> = churns_of(&report);
    assert!(!facts.iter().any(|t| t == "\\result == 0" || t == "\\result == 1"), "{facts:?}");
}

fn churns_of(report: &Report) -> Vec<String> {
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    churns.flat_map(|c| c.removed.iter().chain(&c.added)).map(|f| f.text.clone()).collect()
}

/// A function that takes its structure as a `void *` reads the same member elsewhere.
#[test]
fn members_that_move_are_no_change() {
    let f = |member: &str| {
        format!(
            "struct s {{ int mode; {member} int err; }};\nlong h(void *file)\n{{\n    struct s *p = (struct s *)file;\n    if \
             (file == NULL)\n        return -1;\n    return p->err;\n}}"
        )
        .replace("NULL", "(void *)0")
    };
    let report = analyse(&[&f("long raw;"), &f("")]);
    assert_eq!(report.summary.churns, 0, "{:?}", churns_of(&report));
    let open = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.undecided);
    assert!(open.clone().any(|u| u.reason.contains("layout")), "{:?}", open.collect::<Vec<_>>());
    let changed = f("").replace("p->err", "p->err + 1");
    assert_ne!(analyse(&[&f(""), &changed]).summary.churns, 0);
    assert_ne!(analyse(&[&f("long raw;"), &changed]).summary.churns, 0);
}

/// Pointers to functions lead to functions of their type.
#[test]
fn functions_of_the_input_are_of_their_type() {
    let f = |n: u8| {
        format!(
            "typedef unsigned long word;\nstruct item {{ int x; }};\nstruct hooks {{ word (*op)(word n, const struct item *i); }};\n\
             word sum(word n, const struct item *i) {{ return i ? n + i->x : n; }}\nint other(int n, struct item *i) {{ return n; }}\n\
             word third(word n, struct hooks *h) {{ return n; }}\nword f(struct hooks *h, word n)\n{{\n    struct item i = {{ 2 }};\n    \
             if (!h || !h->op)\n        return 0;\n    return h->op(n, &i) + {n};\n}}"
        )
    };
    let report = analyse(&[&f(1), &f(3)]);
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let text: Vec<String> =
        churns.filter_map(|c| c.witness.as_ref()).map(|w| format!("{:?}", w.memory)).collect();
    assert!(text.iter().any(|t| t.contains("sum")), "{text:?}");
    assert!(!text.iter().any(|t| t.contains("other") || t.contains("third")), "{text:?}");
}

/// Of an undefined event the new condition that avoids it is a cause, and so is the line where it was.
#[test]
fn causes_of_undefined_events() {
    let causes = |old: &str, new: &str| {
        let report = analyse(&[old, new]);
        let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| p.churns.clone());
        let undefined: Vec<_> =
            churns.filter(|c| c.claim == git_invdiff::report::Claim::DiffersUnderUb).collect();
        let lines = |lines: &[git_invdiff::report::LineRef]| lines.iter().map(|l| l.line).collect::<Vec<_>>();
        undefined.first().map(|c| (lines(&c.causes.removed), lines(&c.causes.added))).unwrap_or_default()
    };
    let f = |check: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nstruct r {{ int n; char *p; }};\nvoid f(struct r *r)\n{{\n{check}    \
             r->p = malloc(r->n);\n    r->p[0] = 1;\n}}\n"
        )
    };
    let new = f("    if (r->n < 1) {\n        printf(\"no\\n\");\n        exit(1);\n    }\n");
    let (_, added) = causes(&f(""), &new);
    assert!(added.contains(&6), "{added:?}");
    let g = |first: &str, then: &str| {
        format!("struct o {{ int x; }};\nint g(struct o *o)\n{{\n    {first}\n    {then}\n}}\n")
    };
    let (removed, _) =
        causes(&g("int x = o->x;", "return x != 0;"), &g("if (!o) return 0;", "return o->x != 0;"));
    assert!(removed.contains(&4), "{removed:?}");
}

/// What functions keep that only a macro changed is no news, unless they do not keep all of it.
#[test]
fn facts_of_untouched_functions_are_not_told() {
    let f = |version: u8| {
        format!(
            "#define VERSION {version}\nint used(int n)\n{{\n    if (n < 0)\n        return -1;\n    return VERSION;\n}}\n\
             int f(int n)\n{{\n    int k = VERSION;\n    k = 0;\n    if (n < 0)\n        return -1;\n    return k;\n}}\n"
        )
    };
    let report = analyse(&[&f(1), &f(2)]);
    assert!(invariants(&report, "f").is_empty(), "{:?}", invariants(&report, "f"));
    assert!(
        invariants(&report, "used").iter().any(|t| t.contains("-1")),
        "{:?}",
        invariants(&report, "used")
    );
    let report = analyse(&[&f(1), &f(1).replace("    k = 0;\n", "    k = 0;\n    k += 0;\n    n = n;\n")]);
    assert!(report.functions.is_empty() || !invariants(&report, "f").is_empty());
}

/// Where only a jump goes elsewhere, the lines that changed are the cause.
#[test]
fn jumps_that_go_elsewhere_are_causes() {
    let f = |body: &str| {
        format!(
            "int f(const int *a)\n{{\n    int last = -1;\n    for (int i = 3; i >= 0; i--) {{\n{body}    }}\n    return \
             last;\n}}\n"
        )
    };
    let old = f("        if (a[i] != 0)\n            last = i;\n        break;\n");
    let new = f("        if (a[i] != 0) {\n            last = i;\n            break;\n        }\n");
    let report = analyse(&[&old, &new]);
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let churns: Vec<_> = churns.filter(|c| c.observable).collect();
    assert!(!churns.is_empty());
    for c in churns {
        let within = |lines: &[git_invdiff::report::LineRef]| lines.iter().all(|l| (5..=8).contains(&l.line));
        assert!(!c.causes.added.is_empty() && within(&c.causes.added), "{:?}", c.causes);
        assert!(within(&c.causes.removed), "{:?}", c.causes);
    }
}

/// To copy a field that was never written is no use of it; to add to it is.
#[test]
fn indeterminate_values_may_be_copied() {
    let f = |copy: &str| {
        format!(
            "#include <stdlib.h>\nstruct s {{ unsigned a, b, c; }};\nint f(int n)\n{{\n    struct s *s = malloc(sizeof *s);\n    \
             if (!s)\n        return 0;\n    s->c = n;\n    {copy}\n    int r = s->c + 1;\n    free(s);\n    return r;\n}}"
        )
    };
    let undefined = |report: &Report| churns_of(report).iter().any(|t| t.starts_with("undefined"));
    assert!(!undefined(&analyse(&[&f(""), &f("s->b = s->a;")])));
    assert!(undefined(&analyse(&[&f(""), &f("s->b = s->a; s->c += s->b;")])));
}

/// How large an object behind a pointer is was made up from its type: code that takes it for another
/// structure does not leave it.
#[test]
fn structures_of_other_types_are_not_left() {
    let f = |code: &str| {
        format!(
            "struct in {{ int x; }};\nstruct more {{ int x; int y[10]; }};\nstruct o {{ struct in *state; }};\n\
             int f(struct o *o)\n{{\n    if (!o || !o->state)\n        return -1;\n    {code}\n}}"
        )
    };
    let report = analyse(&[
        &f("return o->state->x;"),
        &f("struct more *s = (struct more *)o->state; return s->x + s->y[3];"),
    ]);
    assert!(!churns_of(&report).iter().any(|t| t.starts_with("undefined")), "{:?}", churns_of(&report));
}

/// A request for memory is refused in both versions or in none.
#[test]
fn the_same_request_is_refused() {
    let f = |more: &str| {
        format!(
            "#include <stdlib.h>\nstruct s {{ char *path; int *n; }};\nstatic void destroy(struct s *s) {{ if (s->path) \
             free(s->path); free(s->n); free(s); }}\nstruct s *f(void)\n{{\n    {more}\n    struct s *s = malloc(sizeof \
             *s);\n    if (!s)\n        return 0;\n    s->path = malloc(3);\n    if (!s->path) {{\n        destroy(s);\n        \
             return 0;\n    }}\n    s->n = malloc(4);\n    return s;\n}}"
        )
    };
    let report = analyse(&[&f(""), &f("char *q = malloc(5);\n    free(q);")]);
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    assert_eq!(churns.clone().count(), 0, "{:?}", churns.collect::<Vec<_>>());
}

/// A result that is no longer a parameter is one change, though a relation of both is lost with it.
#[test]
fn a_lost_fact_is_told_once() {
    let report = analyse(&["int f(int x) { return x; }", "int f(int x) { return x + 1; }"]);
    assert_eq!(churns_of(&report), ["\\result == x", "\\result == x + 1"]);
}

/// A header that defines functions is a unit: what they guarantee is said of them, whoever includes it.
#[test]
fn functions_of_headers_are_analysed() {
    let old = "#ifndef L_H\n#define L_H\nint f(int a);\n#ifdef L_IMPLEMENTATION\n#include <stdlib.h>\nint f(int a) { return abs(a % 8); }\n#endif\n#endif\n";
    let new = old.replace("% 8", "% 16");
    let user = "#define L_IMPLEMENTATION\n#include \"l.h\"\nint main(void) { return f(13); }\n";
    let files = |header| vec![("a.c", user), ("l.h", header)];
    for alone in [false, true] {
        let versions: Vec<Vec<(&str, &str)>> =
            [old, &new].map(|h| files(h).into_iter().skip(usize::from(alone)).collect()).into();
        let report = diff(&memory::request(&versions, c::Options::default(), Options::default()));
        assert_eq!(
            churns(&report, "f"),
            [
                "- \\result == (a % 8 < 0 ? -(a % 8) : a % 8)",
                "+ \\result == (a % 16 < 0 ? -(a % 16) : a % 16)"
            ],
            "{alone}"
        );
        assert_eq!(invariants(&report, "f"), ["\\result >= 0", "\\result <= 15"]);
        let f = report.functions.iter().find(|f| f.name == "f").expect("f");
        assert_eq!(f.file, std::path::Path::new("l.h").into());
        assert_eq!(churns(&report, "main").is_empty(), alone);
    }
}

/// Others call what a header defines, and write to its variables: what its own text shows is not all.
#[test]
fn headers_have_no_callers_of_their_own_only() {
    let header = |k: &str| {
        format!(
            "static int (*hook)(int) = 0;\nstatic int one(int a) {{ return a + {k}; }}\n\
             static int half(int n) {{ return n >= 0 ? n / 2 : -100; }}\n\
             static int twice(void) {{ return half(8) + {k}; }}\n\
             static int call(int a) {{ return hook ? hook(a) + {k} : {k}; }}\n\
             static void set(void) {{ hook = one; }}\n"
        )
    };
    let versions: Vec<String> = [header("1"), header("2")].into();
    let versions: Vec<Vec<(&str, &str)>> = versions.iter().map(|h| vec![("l.h", h.as_str())]).collect();
    let report = diff(&memory::request(
        &versions,
        c::Options::default(),
        Options { whole: true, ..Options::default() },
    ));
    let facts = format!("{:?} {:?}", invariants(&report, "call"), churns(&report, "call"));
    assert!(!facts.contains("one"), "{facts}");
    assert!(!facts.contains("a + 1"), "{facts}");
    assert!(!churns(&report, "twice").is_empty());
}

/// That a check returns where it stands is no reason to doubt it: no input is known that fails it.
#[test]
fn checks_that_moved_are_the_same() {
    let source = |declared: &str, k: &str| {
        format!(
            "static unsigned g(int n) {{ unsigned s = 1; for (int i = 0; i < n; i++) s = s * 31 + (7 ^ (s >> 3)); return s; }}\n\
             #define CHECK(x) do {{ if (!(x)) return __LINE__; }} while (0)\n\
             int f(void) {{\n{declared}\n  CHECK(g(300) != 5);\n  CHECK(g({k}) != 2);\n  return 0;\n}}\n"
        )
    };
    let report = analyse(&[&source("  int i;\n  (void)i;", "400"), &source("", "400")]);
    assert_eq!(churns(&report, "f"), [""; 0]);
    let report = analyse(&[&source("  int i;\n  (void)i;", "400"), &source("  CHECK(g(7) != 3);", "400")]);
    assert_eq!(
        churns(&report, "f"),
        [
            "- \\result == 0 || \\result == 6 || \\result == 7",
            "+ \\result == 0 || \\result == 4 || \\result == 5 || \\result == 6"
        ]
    );
}

/// All facts of one version.
fn whole(source: &str) -> Report {
    let options = Options { whole: true, all: true, ..Options::default() };
    diff(&memory::request(&[vec![("a.c", source)]], c::Options::default(), options))
}

/// What is stored in a type without sign is no longer the negative number that it was: the text says so.
#[test]
fn conversions_that_change_the_value_are_said() {
    let report = whole(
        "struct s { int len; unsigned short tag; signed char c; unsigned flag : 3; };\n\
         void copied(struct s *s, signed char v) { struct s c = *s; c.tag = v; c.len = 1; *s = c; }\n\
         void stored(struct s *s, signed char v) { s->tag = v; }\n\
         unsigned short returned(struct s *s) { return s->c; }\n\
         float rounded(long a) { return a; }\n\
         double exact(int a) { return a; }\n\
         int shifted(struct s *s) { s->flag = s->len; s->len = s->flag; return 100 << s->len; }\n",
    );
    for (function, fact) in [
        ("copied", "s->tag == (unsigned short)v"),
        ("stored", "s->tag == (unsigned short)v"),
        ("returned", "\\result == (unsigned short)s->c"),
        ("rounded", "\\result == (float)a"),
        ("exact", "\\result == a"),
        ("shifted", "\\result == 100 << (\\old(s->len) & 7)"),
    ] {
        let facts = invariants(&report, function);
        assert!(facts.iter().any(|f| f == fact), "{fact} {facts:?}");
    }
}

/// Two loops of the same text are two: what ended the first one does not hold while the second one runs.
#[test]
fn a_loop_is_not_the_one_before_it() {
    let report = whole(
        "int f(const char *s) { int k = 0; while (s[k]) k++; int i = 0; while (s[i]) i++; return k - i; }\n",
    );
    let facts = invariants(&report, "f");
    assert!(facts.iter().any(|f| f == "i >= 0"), "{facts:?}");
    let is_wrong = |f: &String| f.starts_with("i <= ") || f.ends_with("s[k] == '\\0'") || f == "i == 0";
    assert!(!facts.iter().any(is_wrong), "{facts:?}");
}

/// What an early guard returns is told also where the rest of the function returns the same, for reasons
/// that nobody can name.
#[test]
fn early_guards_are_cases_of_their_own() {
    let text = r#"
typedef struct { int type; char *s; } T;
extern void *(*allocate)(unsigned long);
const char *parse(T *item, const char *str, const char **end)
{
    const char *p = str + 1;
    int len = 0;
    char *out;
    if (*str != '"') { *end = str; return 0; }
    while (*p != '"' && *p && ++len) p++;
    out = (char *)allocate(len + 1);
    if (!out) return 0;
    item->s = out;
    item->type = 16;
    return p;
}
const char *find(const char *str, const char **end)
{
    const char *p = str + 1;
    int len = 0;
    if (*str != '"') { *end = str; return 0; }
    while (*p != '"' && *p && ++len) { p++; if (len > 4) { *end = str; return 0; } }
    return p;
}
"#;
    let report =
        analyse(&[text, &text.replace("len > 4", "len >= 5").replace("int len = 0", "int len = 0, k")]);
    for function in ["parse", "find"] {
        let told = invariants(&report, function);
        for wanted in ["\\old(*str) != '\"' ==> \\result == NULL", "\\old(*str) != '\"' ==> *end == str"] {
            assert!(told.iter().any(|t| t == wanted), "{wanted}: {told:#?}");
        }
        // A way that contradicts itself is none.
        assert!(!told.iter().any(|t| t.starts_with("\\result == ")), "{told:#?}");
    }
}

/// Where a loop goes round not at all, the result is known though all of its conditions are not.
#[test]
fn ways_without_a_loop_are_cases() {
    let text = "
typedef struct N { struct N *child; int type; } N;
extern void *(*allocate)(unsigned long);
N *make(const int *numbers, int count)
{
    int i;
    N *n, *a = allocate(sizeof(N));
    for (i = 0; a && i < count; i++) {
        n = allocate(sizeof(N));
        if (!n) return 0;
        n->type = numbers[i];
        a->child = n;
    }
    return a;
}
";
    let report = analyse(&[text, &text.replace("int i;", "int i = 0;").replace("N *n,", "N *n = 0,")]);
    let told = invariants(&report, "make");
    let wanted = "count <= 0 ==> \\result == (*\\old(allocate))(16)";
    assert!(told.iter().any(|t| t == wanted), "{told:#?}");
    let refused = "(*\\old(allocate))(16) == 0 ==> \\result == NULL";
    assert!(told.iter().any(|t| t == refused), "{told:#?}");
}

/// Where a number ends in a text is stored whole: what held a pointer before takes no part in it.
#[test]
fn the_end_of_a_number_is_one_pointer() {
    let text = "
#include <stdlib.h>
struct item { int type; double value; };
const char *number(struct item *item, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (text == end) return NULL;
    item->value = value;
    item->type = 8;
    return end;
}
long plain(const char *text, char **end) { return strtol(text, end, 10); }
long any(const char *text, char **end, int base) { return strtol(text, end, base); }
";
    let report =
        analyse(&[text, &text.replace("char *end;", "char *end = NULL;").replace("{ return", "{return")]);
    let told = invariants(&report, "number");
    assert!(told.iter().any(|t| t == "\\result != NULL ==> item->type == 8"), "{told:#?}");
    let newer = text.replace("return strtol(text, end", "return 1 + strtol(text, end");
    let files = [vec![("a.c", text)], vec![("a.c", newer.as_str())]];
    let options = Options { all: true, ..Options::default() };
    let report = diff(&memory::request(&files, c::Options::default(), options));
    let told = invariants(&report, "plain");
    assert!(told.iter().any(|t| t.starts_with("*end == (end == NULL")), "{told:#?}");
    // Of a base that there is not, the standard does not say that anything is stored.
    let told = invariants(&report, "any");
    assert!(!told.iter().any(|t| t.starts_with("*end == (end == NULL")), "{told:#?}");
}

/// A function that the unit points to may be what a pointer of the input leads to, the library's, too.
#[test]
fn functions_that_are_pointed_to_are_inputs() {
    let text = "
#include <stdlib.h>
struct hooks { void *(*allocate)(size_t size); };
static struct hooks defaults = { malloc };
int f(const struct hooks *hooks, int n)
{
    int *p = hooks ? hooks->allocate(sizeof(int)) : defaults.allocate(sizeof(int));
    if (!p) return -1;
    if (!hooks) return 0;
    *p = n;
    return *p + 1;
}
";
    let report = analyse(&[text, &text.replace("*p + 1", "*p + 2")]);
    let f = report.functions.iter().find(|f| f.name == "f").expect("the function is told of");
    assert!(f.points.iter().flat_map(|p| &p.churns).any(|c| c.witness.is_some()), "{f:#?}");
}

/// Where the whole value is beyond words, the cases that a run breaks say what changed.
#[test]
fn cases_say_what_changed() {
    let text = r#"
const char *parse(const char *str, int *kind)
{
    const char *p = str;
    int len = 0;
    if (!str) return 0;
    if (*str == '#') { *kind = 3; return 0; }
    while (*p && *p != ',') { p++; if (++len > 9) return 0; if (*p == '"') p++; if (!*p) return 0; }
    return p + len;
}
"#;
    let newer = text.replace("*kind = 3; return 0", "*kind = 4; return str");
    let told = churns(&analyse(&[newer.as_str(), text]), "parse");
    assert!(told.iter().any(|t| t == "- str != NULL && \\old(*str) == '#' ==> \\result == str"), "{told:#?}");
    assert!(told.iter().any(|t| t == "+ \\old(*str) == '#' ==> \\result == NULL"), "{told:#?}");
    let told = churns(&analyse(&[text, newer.as_str()]), "parse");
    assert!(told.iter().any(|t| t == "- \\old(*str) == '#' ==> \\result == NULL"), "{told:#?}");
}

/// What an outcome meant, and means no more, is told of the place that differs.
#[test]
fn lost_outcomes_say_what_changed() {
    let text = "
#include <stdlib.h>
struct item { int type; char *text; };
char *copy(struct item *item, const char *text, void *(*allocate)(size_t))
{
    size_t k = 0, n = 0;
    char *copy;
    while (text[n] && text[n] != '.') { if (text[n] == '(') return NULL; n++; }
    copy = allocate(n + 1);
    if (!copy) return NULL;
    for (; k < n; k++) copy[k] = text[k];
    copy[n] = 0;
    item->text = copy;
    item->type = 16;
    return copy;
}
void *(*known)(size_t) = malloc;
";
    let told = churns(&analyse(&[text, &text.replace("= 16", "= 8")]), "copy");
    assert!(told.iter().any(|t| t == "- \\result != NULL ==> item->type == 16"), "{told:#?}");
    assert!(told.iter().any(|t| t == "+ \\result != NULL ==> item->type == 8"), "{told:#?}");
}

/// What changed in a statement of several lines is told by the lines that changed, also inside the arguments
/// of a macro, all of which the compiler places where the macro's name is.
#[test]
fn causes_are_the_lines_that_changed() {
    let text = r#"
#define CHECK(condition) do { if (!(condition)) return 7; } while (0)
int g(int a, int b, int c);
int f(int x, int y)
{
    int k = g(x,
              y,
              3);
    if (x > 3 &&
        y > 4 &&
        k > 5)
        return 1;
    CHECK(x != 2 && /* ) */
          y != 9);
    return x +
        y * 2;
}
"#;
    let check = |from: &str, to: &str| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        let line = text.lines().position(|l| l.contains(from)).expect("it is there") as u32 + 1;
        let report = analyse(&[text, &text.replace(from, to)]);
        let churns: Vec<_> =
            report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).collect();
        assert!(!churns.is_empty(), "{from}");
        for churn in churns {
            let lines = |refs: &[LineRef]| refs.iter().map(|l| l.line).collect::<Vec<_>>();
            let causes = (lines(&churn.causes.removed), lines(&churn.causes.added));
            assert_eq!(causes, (vec![line], vec![line]), "{from}: {churn:#?}");
            assert_eq!(churn.hunks.len(), 1, "{from}: {churn:#?}");
        }
    };
    check("3);", "4);");
    check("y > 4", "y > 5");
    check("k > 5", "k > 6");
    check("y * 2", "y * 3");
    check("y != 9", "y != 8");
    check("x != 2", "x != 1");
}

/// What one version calls is no matter of another, which does not call it so.
#[test]
fn shared_cases_speak_of_calls_that_all_versions_make() {
    let text = r"
int g(int a);
int f(int x, int y)
{
    int k = g(3);
    if (x > 3 && k > 5)
        return 1;
    return x + y;
}
";
    let report = analyse(&[text, &text.replace("g(3)", "g(4)")]);
    let told = invariants(&report, "f");
    assert!(told.iter().any(|t| t == "x <= 3 ==> \\result == x + y"), "{told:#?}");
    assert!(told.iter().all(|t| !t.contains("g(")), "{told:#?}");
}

/// Where a line stands is nothing that a program does, also where it is printed.
#[test]
fn numbers_of_lines_that_are_printed_are_no_change() {
    let text = r#"
#include <stdio.h>
#include <stdlib.h>
#define FAIL(why) do { fprintf(stderr, "%s (line %d)\n", why, __LINE__); exit(1); } while (0)
int f(const int *p)
{
    if (!p)
        FAIL("null");
    return *p + 1;
}
"#;
    let subjects = |newer: &str| {
        let report = analyse(&[text, newer]);
        let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
        churns.map(|c| c.subject.clone()).collect::<Vec<_>>()
    };
    let moved = text.replace("    if (!p)", "    int k = 2;\n\n    if (!p)").replace("*p + 1", "*p + k");
    assert_eq!(subjects(&moved), ["\\result"]);
    let worded = moved.replace("FAIL(\"null\")", "FAIL(\"p is null\")");
    let told = subjects(&worded);
    assert!(told.contains(&"output".to_owned()) && told.contains(&"\\result".to_owned()), "{told:?}");
}

/// A bound that the type has is none that a function keeps.
#[test]
fn bounds_of_types_are_not_told_of_elements() {
    let text = r"
int f(const int *a, int n)
{
    int i, s = 0;
    for (i = 0; i < n; i++)
        if (a[i] == 2147483647) s++;
        else if (a[i] == 0) s = 0;
    return s & 1;
}
int g(const int *a, int n)
{
    int i;
    for (i = 0; i < n; i++)
        if (a[i] == 2147483647) return 1;
    return 0;
}
";
    let report = analyse(&[text, &text.replace("s & 1", "s & 3").replace("return 0", "return 3")]);
    let told = invariants(&report, "f");
    assert!(!told.is_empty() && told.iter().all(|t| !t.contains("<= 2147483647")), "{told:#?}");
    let told = invariants(&report, "g");
    // Of bounds of one number the tighter one is told.
    assert!(told.iter().any(|t| t == "n > 1 && a[1] == 2147483647 ==> \\result == 1"), "{told:#?}");
}

/// What a parameter was at entry is no observable: that a function counts down a copy is told to nobody.
#[test]
fn facts_of_parameters_alone_are_not_told() {
    let text =
        "int f(unsigned n)\n{\n    int k = 0;\n    while (n > 10) { n -= 3; k++; }\n    return k & 1;\n}\n";
    let report = analyse(&[text, &text.replace("k & 1", "k & 3")]);
    let told = invariants(&report, "f");
    assert!(told.iter().all(|t| t.contains("\\result")), "{told:#?}");
}

/// The counters of two loops may have one name; what is known of one is not known of the other.
#[test]
fn counters_of_one_name_are_two() {
    let text = "int work(int a, int b) { int n = (a & 7) + 2, r = 0, v[9];\n\
                for (int i = 0; i < n; i++) v[i] = b % 10;\n\
                for (int i = 0; i < n; i++) r += v[i];\n\
                return r; }\n";
    let options = Options { all: true, whole: true, ..Options::default() };
    let report = diff(&memory::request(&[vec![("a.c", text)]], c::Options::default(), options));
    let facts = invariants(&report, "work");
    assert!(facts.iter().any(|f| f == "n <= 9"), "{facts:?}");
    // `a == 7` makes nine rounds, after which `r` may be -81 or 81.
    let bound =
        |f: &String| f.rsplit_once("r >= -").or(f.rsplit_once("r <= ")).map(|(_, n)| n.parse::<i64>());
    let tight = |f: &&String| bound(f).is_some_and(|n| n.is_ok_and(|n| n < 81));
    assert_eq!(facts.iter().find(tight), None);
}

/// A structure that a call returns is written where it goes: two calls give two of them.
#[test]
fn returned_structures_are_written() {
    let f = |k: u8| {
        format!(
            "struct p {{ int x, y; }};\nint g;\nstatic struct p next(struct p v) {{ struct p r = {{v.x + 1, v.y * 2}}; return r; }}\n\
             int f(int a) {{ struct p v = {{a & 7, 1}}; g = {k}; struct p w = next(v); int first = w.x; w = next(w); \
             return first == w.x; }}\nint h(int a) {{ struct p v = {{a & 7, 1}}; g = {k}; int first = 0; for (int i = 0; \
             i < 3; i++) {{ v = next(v); if (i == 1) first = v.x; }} return first == v.x; }}"
        )
    };
    let report = analyse(&[&f(1), &f(2)]);
    for name in ["f", "h"] {
        let told = invariants(&report, name);
        assert!(!told.iter().any(|t| t == "\\result == 1" || t.contains("\\old(%")), "{name}: {told:?}");
    }
}

/// What a function prints of a structure that it is given by value is what the structure holds.
#[test]
fn printed_structures_are_read() {
    let f = |k: u8| {
        format!(
            "int printf(const char *, ...);\nstruct p {{ double x, y; }};\nstatic struct p show(struct p v) {{ struct p r = {{v.y, \
             v.x}}; printf(\"%g\\n\", v.x); return r; }}\nvoid f(int a) {{ struct p v = {{a + {k}, 1}}; show(v); }}"
        )
    };
    let report = analyse(&[&f(1), &f(2)]);
    let told = churns_of(&report);
    assert!(!told.is_empty() || report.functions.iter().any(|f| !f.complete), "{told:?}");
}

/// Inside of `\old`, a place is the one of the entry: what a variable came to hold has no name there.
#[test]
fn places_of_the_entry_are_not_named_by_later_values() {
    let source = |k: u8| {
        format!(
            "int table[8]; unsigned char g1; int g0, count;\nint f(int a, int b) {{ g1 = (count <= 13 ? g0 : b) % 12; table[g1] &= 4; return {k}; }}\n"
        )
    };
    let report = analyse(&[&source(1), &source(2)]);
    let all = invariants(&report, "f").into_iter().chain(churns(&report, "f"));
    let wrong: Vec<String> = all.filter(|t| t.contains("\\old(table[g1])")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
