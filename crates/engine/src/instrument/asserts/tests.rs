//! Facts by hand, put into small sources.

use super::*;
use crate::history::MemoryTree;

fn fact(text: &str) -> Fact {
    let c = (!text.contains("\\old")).then(|| text.replace("\\result", RESULT));
    Fact { template: "range".into(), text: text.into(), c, ..Fact::default() }
}

fn copy_of(source: &str, function: &str, facts: &[(ProgramPoint, &str)]) -> Asserted {
    let tree = MemoryTree::new([("a.c", source)]);
    let source = Source::load(&tree, Path::new("a.c"), &c::Options::default()).unwrap();
    let facts: Vec<(ProgramPoint, Fact)> = facts.iter().map(|(place, text)| (*place, fact(text))).collect();
    let facts = facts.iter().map(|(place, fact)| PlacedFact { place: *place, fact }).collect();
    insert(&source, &[FunctionFacts { name: function, facts }])
}

/// Checks the copy without its `#include`.
#[track_caller]
fn check(source: &str, facts: &[(ProgramPoint, &str)], expected: &str) {
    let copy = copy_of(source, "f", facts);
    assert_eq!(copy.left_out, []);
    let text = String::from_utf8(copy.text).unwrap();
    assert_eq!(text.strip_prefix("#include <assert.h>\n").unwrap(), expected);
}

#[track_caller]
fn check_left_out(source: &str, place: ProgramPoint, fact: &str, why: &str) {
    let copy = copy_of(source, "f", &[(place, fact)]);
    assert_eq!(copy.text, source.as_bytes());
    assert_eq!(copy.left_out.iter().map(|l| l.why.as_str()).collect::<Vec<_>>(), [why]);
}

#[test]
fn results_are_kept_and_returned() {
    check(
        "int f(int a) {\n    if (a) return 1; else\n        return (a, 2);\n}\n",
        &[(ProgramPoint::Exit, "\\result >= 1")],
        "int f(int a) {\n    if (a) {\n        int invdiff_result = (1);\n        assert(invdiff_result >= 1);\n        \
         return invdiff_result;\n    } else\n        {\n            int invdiff_result = ((a, 2));\n            \
         assert(invdiff_result >= 1);\n            return invdiff_result;\n        }\n}\n",
    );
}

#[test]
fn functions_without_a_result_assert_at_their_end() {
    check(
        "int g;\nvoid f(void) { g = 1; }\n",
        &[(ProgramPoint::Exit, "g == 1")],
        "int g;\nvoid f(void) { g = 1; \n    assert(g == 1);\n}\n",
    );
}

#[test]
fn entry_values_are_kept() {
    let copy = copy_of(
        "struct s { int n; unsigned b : 3; };\nvoid f(struct s *p, int k) {\n\tp->n += k--;\n}\n",
        "f",
        &[
            (ProgramPoint::Exit, "p->n == \\old(p->n) + \\old(k)"),
            (ProgramPoint::Exit, "p->b == \\old(p->b)"),
        ],
    );
    assert_eq!(copy.left_out, []);
    let text = String::from_utf8(copy.text).unwrap();
    for part in [
        "\tint invdiff_old_k = k;\n",
        "\tint invdiff_old_p_n = p ? p->n : 0;\n",
        "\tunsigned int invdiff_old_p_b = p ? p->b : 0;\n",
        "\tassert(!(invdiff_had_p_n && p) || (p->n == invdiff_old_p_n + invdiff_old_k));\n",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
}

#[test]
fn heads_of_loops_assert_at_every_arrival() {
    check(
        "int f(int n) {\n  while ( n ) n--;\n  for (;;) break;\n  do n++; while (n < 3);\n}\n",
        &[
            (ProgramPoint::Loop(2), "n >= 0"),
            (ProgramPoint::Loop(3), "n == 0"),
            (ProgramPoint::Loop(4), "n <= 3"),
        ],
        "int f(int n) {\n  while ( assert(n >= 0), (n )) n--;\n  for (; assert(n == 0), 1;) break;\n  do {\n      \
         assert(n <= 3);\n      n++;\n  } while (n < 3);\n}\n",
    );
}

/// The condition of a fact about `p` where nothing else is known.
#[track_caller]
fn check_guards(fact: &str, expected: &str) {
    let source = "struct s { struct s *next; int n; };\nvoid f(struct s *p) { p = p; }\n";
    let copy = copy_of(source, "f", &[(ProgramPoint::Exit, fact)]);
    assert_eq!(copy.left_out, []);
    let text = String::from_utf8(copy.text).unwrap();
    assert!(text.contains(&format!("assert({expected});")), "{expected}\n{text}");
}

#[test]
fn pointers_are_looked_through_where_they_are_not_null() {
    check_guards("p->n == 1", "!p || (p->n == 1)");
    check_guards("p->next->n == 1", "!(p && p->next) || (p->next->n == 1)");
    check_guards("p != NULL && p->n == 1", "p != (void *)0 && p->n == 1");
    check_guards("p == NULL || p->n == 1", "p == (void *)0 || p->n == 1");
    check_guards("!(p != NULL && p->n > 1) || p->n == 2", "!(p != (void *)0 && p->n > 1) || p->n == 2");
    check_guards("p->n == 1 && p != NULL", "!p || (p->n == 1 && p != (void *)0)");
    check_guards("p != NULL && p->next->n == 1", "!(p && p->next) || (p != (void *)0 && p->next->n == 1)");
    check_guards(
        "!(p != NULL && p->next != NULL) || p->next->n == 1",
        "!(p != (void *)0 && p->next != (void *)0) || p->next->n == 1",
    );
    check_guards("(p == NULL ? 1 : p->n) == 1", "(p == (void *)0 ? 1 : p->n) == 1");
}

#[test]
fn indices_are_held_against_the_bounds() {
    check(
        "int t[4];\nint f(int i) {\n\treturn t[0];\n}\n",
        &[(ProgramPoint::Exit, "\\result == t[i]"), (ProgramPoint::Exit, "\\result == t[0]")],
        "int t[4];\nint f(int i) {\n\t{\n\t\tint invdiff_result = (t[0]);\n\t\t\
         assert(!((unsigned long)(i) < 4) || (invdiff_result == t[i]));\n\t\tassert(invdiff_result == t[0]);\n\t\t\
         return invdiff_result;\n\t}\n}\n",
    );
}

#[test]
fn statements_that_are_edited_twice_stay_whole() {
    check(
        "int f(int n) { do return n; while (n); }\n",
        &[(ProgramPoint::Exit, "\\result == n"), (ProgramPoint::Loop(1), "n != 3")],
        "int f(int n) { do {\n    assert(n != 3);\n    {\n    int invdiff_result = (n);\n    \
         assert(invdiff_result == n);\n    return invdiff_result;\n}\n} while (n); }\n",
    );
}

#[test]
fn the_header_stands_behind_the_others() {
    let source = "#define _GNU_SOURCE\n#include <stdio.h>\n#if 1\n#include <math.h>\n#endif\nint f(void) { return 1; }\n";
    let text =
        String::from_utf8(copy_of(source, "f", &[(ProgramPoint::Exit, "\\result == 1")]).text).unwrap();
    assert!(
        text.starts_with("#define _GNU_SOURCE\n#include <stdio.h>\n#include <assert.h>\n#if 1\n"),
        "{text}"
    );
}

#[test]
fn what_would_not_compile_or_mean_something_else_is_left_out() {
    let exit = ProgramPoint::Exit;
    check_left_out("int f(void) { { int k; } return 1; }\n", exit, "k == 1", "k is out of scope there");
    check_left_out("int f(int k) { { int k; } return 1; }\n", exit, "k == 1", "k is declared more than once");
    check_left_out("int f(void) { return 1; }\nint k;\n", exit, "k == 1", "k is not declared there");
    check_left_out(
        "#define R return 1\nint f(void) { R; }\n",
        exit,
        "\\result == 1",
        "a macro brings the return in line 2",
    );
    let whole = "struct s { int n; };\nstruct s f(struct s p) { return p; }\n";
    check_left_out(whole, exit, "p == p", "compares whole structures");
    check_left_out("int h(int);\nint f(void) { return 1; }\n", exit, "\\result == h(1)", "calls h");
    check_left_out(
        "void assert(int);\nint f(void) { return 1; }\n",
        exit,
        "\\result == 1",
        "the file has an assert of its own",
    );
    check_left_out(
        "int f(int *p, int i) { return 1; }\n",
        exit,
        "p[i] == 1",
        "reads an element that may not be there",
    );
    check_left_out(
        "int f(int n) { return 1; }\n",
        ProgramPoint::Loop(1),
        "n == 1",
        "no loop statement begins in its line",
    );
    check_left_out(
        "int f(int n) { while (n) ; while (n) ; return 1; }\n",
        ProgramPoint::Loop(1),
        "n == 1",
        "several loops begin in its line",
    );
}

#[test]
fn floats_need_no_header() {
    check(
        "double f(double x) { return x; }\n",
        &[(
            ProgramPoint::Exit,
            "(isnan(x) ? isnan(\\result) : \\result == x && !signbit(\\result) == !signbit(x))",
        )],
        "double f(double x) { {\n    double invdiff_result = (x);\n    assert((((x) != (x)) ? \
         ((invdiff_result) != (invdiff_result)) : invdiff_result == x && !((invdiff_result) < 0 || ((invdiff_result) == 0 \
         && 1.0 / (invdiff_result) < 0)) == !((x) < 0 || ((x) == 0 && 1.0 / (x) < 0))));\n    return \
         invdiff_result;\n} }\n",
    );
}
