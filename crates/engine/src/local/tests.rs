//! What is told of typical changes, in the words that are printed: the twelve of the design among them.

use super::{Change, Effect, Share, Verdict, Version, compare};
use crate::frontend::{c, load_unit};
use crate::history::MemoryTree;
use crate::ir::{Function, Unit};
use crate::mvicfg::ClassId;
use std::path::Path;
use std::sync::Arc;

mod apart;
mod dead;
mod decided;
mod declared;
mod extracted;
mod factored;
mod given;
mod held;
mod inside;
mod lengths;
mod members;
mod named;
mod other_names;
mod pieces;
mod placed;
mod relaid;
mod renumbered;
mod replaced;
mod shown;
mod sums;
mod text_tests;
mod unmodelled;
mod unseen;
mod volatile;

fn unit(text: &str) -> Unit {
    let tree = MemoryTree::new([("a.c", text)]);
    load_unit(&tree, Path::new("a.c"), &c::Options::default()).unwrap().unit
}

fn effects(of: &[Effect]) -> String {
    of.iter().map(|e| e.words.to_string()).collect::<Vec<_>>().join("; ")
}

/// The regions of the last function of two texts that are not neutral: `when | before | now`, a delta each.
fn told(old: &str, new: &str) -> Vec<String> {
    let changes = changes(old, new);
    let mut lines = Vec::new();
    for change in changes {
        match &change.verdict {
            Verdict::Neutral => {}
            Verdict::Open(reason) => lines.push(format!("open: {reason}")),
            Verdict::Differs => {
                for d in &change.deltas {
                    lines.push(format!("{} | {} | {}", d.when, effects(&d.before), effects(&d.now)));
                }
                if change.rest.is_some() {
                    lines.push("else open".to_owned());
                }
            }
        }
    }
    lines
}

fn changes(old: &str, new: &str) -> Vec<Change> {
    let (old_unit, new_unit) = (unit(old), unit(new));
    let last = |u: &Unit| -> Arc<Function> { u.functions.last().unwrap().clone() };
    let bodies = (last(&old_unit), last(&new_unit));
    let texts = [old, new];
    let source = |class: ClassId, line: u32| texts[class].lines().nth(line as usize - 1).map(str::to_owned);
    compare(
        Version { body: &bodies.0, unit: &old_unit },
        Version { body: &bodies.1, unit: &new_unit },
        &source,
        Share::of(1),
    )
    .unwrap()
    .0
}

/// Whether anything is known of two bodies, whatever way structures lie.
fn is_compared(found: &Option<(Vec<Change>, usize)>) -> bool {
    let is_seen = |c: &Change| c.verdict == Verdict::Open(super::LAYOUT_SEEN.to_owned());
    found.as_ref().is_some_and(|(changes, _)| !changes.iter().any(is_seen))
}

const BEFORE: &str = "
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
struct s { int n; int cap; char *data; struct s *next; };
int foreign(int);
int other(int, int);
void lock(int); void unlock(int);
";

/// Two bodies of one function, what is told.
#[track_caller]
fn check(head: &str, old: &str, new: &str, expected: &[&str]) {
    let text = |body: &str| format!("{BEFORE}{head}\n{{\n{body}\n}}\n");
    assert_eq!(told(&text(old), &text(new)), expected, "\n{old}\n-->\n{new}");
}

#[test]
fn the_same_is_nothing() {
    check("int f(int x)", "return x;", "return x;", &[]);
    check("int f(int x)", "int y = x; return y;", "int z = x; return z;", &[]);
    check("int f(int x)", "return x + x;", "return 2 * x;", &[]);
    check("int f(int x)", "if (!(x > 1)) return 1; return 0;", "if (x <= 1) return 1; return 0;", &[]);
}

#[test]
fn a_null_check() {
    check(
        "int f(struct s *p)",
        "foreign(1);\nreturn p->n;",
        "foreign(1);\nif (!p) return -1;\nreturn p->n;",
        &["p == NULL | undefined at line 13: p is NULL | returns -1"],
    );
}

#[test]
fn one_more_round() {
    check(
        "void f(int n)",
        "for (int i = 0; i < n; i++)\n foreign(i);",
        "for (int i = 0; i <= n; i++)\n foreign(i);",
        &["i == n | leaves the loop | calls foreign(i); goes another round"],
    );
}

#[test]
fn a_condition_more() {
    check(
        "int f(struct s *p, int k)",
        "while (p) {\nif (p->n == k) break;\np = p->next;\n}\nreturn foreign(k);",
        "while (p) {\nif (p->n == k || p->cap < 0) break;\np = p->next;\n}\nreturn foreign(k);",
        &["p->n != k && p->cap < 0 | next round | leaves the loop"],
    );
}

#[test]
fn another_result() {
    check(
        "int f(int x)",
        "if (x < 0) return -1;\nreturn x;",
        "if (x < 0) return -2;\nreturn x;",
        &[" | returns -1 | returns -2"],
    );
}

#[test]
fn one_call_more() {
    check(
        "int f(char *b, int x)",
        "if (x < 0) {\nreturn -1;\n}\nfree(b);\nreturn 0;",
        "if (x < 0) {\nfree(b);\nreturn -1;\n}\nfree(b);\nreturn 0;",
        &[" |  | calls free(b)"],
    );
    check("void f(int x)", "foreign(x);", "foreign(x + 1);", &[" | calls foreign(x) | calls foreign(x + 1)"]);
    check("void f(int x)", "foreign(x);", "other(x, 0);", &[" | calls foreign(x) | calls other(x, 0)"]);
}

#[test]
fn a_tail_that_was_merged() {
    check(
        "int f(int x)",
        "if (x < 0) { foreign(x); return -1; }\nif (x > 9) { foreign(x); return -1; }\nreturn 0;",
        "if (x < 0) goto bad;\nif (x > 9) goto bad;\nreturn 0;\nbad:\nforeign(x);\nreturn -1;",
        &[],
    );
}

#[test]
fn memory() {
    check(
        "void f(struct s *p, int n)",
        "p->n = n;\nforeign(n);",
        "p->n = n + 1;\nforeign(n);",
        &[" | sets p->n to n | sets p->n to n + 1"],
    );
    check("void f(struct s *p)", "foreign(1);", "foreign(1);\np->cap = 0;", &[" |  | sets p->cap to 0"]);
}

#[test]
fn a_hoisted_value_is_followed() {
    check(
        "int f(char *s, int n)",
        "if (n != (int)strlen(s))\n return 1;\nreturn 0;",
        "int k = (int)strlen(s);\nif (n != k)\n return 1;\nreturn 0;",
        &[],
    );
}

#[test]
fn the_condition_of_a_branch() {
    check(
        "int f(int n)",
        "if (n > 4)\n return foreign(n);\nreturn 0;",
        "if (n >= 4)\n return foreign(n);\nreturn 0;",
        &["n == 4 | returns 0 | returns foreign(n)"],
    );
}

#[test]
fn what_only_one_way_takes_back_is_told() {
    // The way on which c is 0 comes to the second region, too.
    check(
        "int f(int c)",
        "int y = 0, z;\nif (c) y = 1;\nforeign(0);\nz = y;\nreturn z;",
        "int y = 0, z;\nif (c) y = 2;\nforeign(0);\nz = y - 1;\nreturn z;",
        &[" | returns y | returns y - 1"],
    );
    // Here every way goes through both.
    check(
        "int f(int c)",
        "int y, z;\ny = 1;\nlock(0);\nz = y;\nreturn z;",
        "int y, z;\ny = 2;\nlock(0);\nz = y - 1;\nreturn z;",
        &[],
    );
}

#[test]
fn source_with_errors_is_open() {
    check("int f(int c)", "return c;", "return c <== 1;", &["open: source with errors"]);
    check("int f(int c)", "return c;", "int k; return k;", &[" | returns c | returns k (line 12)"]);
}

/// The tests that lead to the first change.
#[track_caller]
fn leads(old: &str, new: &str, expected: &str) {
    let head = "int foreign(int); enum kind { A, B }; int f(int n, int k)\n{\n";
    let changes = changes(&format!("{head}{old}\n}}"), &format!("{head}{new}\n}}"));
    let told = changes.iter().find(|c| c.verdict == Verdict::Differs).and_then(|c| c.tests.clone());
    assert_eq!(told.unwrap_or_default(), expected, "{old}\n-->\n{new}");
}

#[test]
fn tests_that_lead_to_a_change() {
    let inside =
        |test: &str, body: &str| format!("int r = 0;\n{test}\n{{ r = foreign(1);\n{body} }}\nreturn r;");
    let both = |test: &str, expected: &str| {
        leads(&inside(test, ""), &inside(test, "foreign(2);"), expected);
    };
    both("if (n > 1)", "n > 1 (line 4)");
    both("if (n > 1 && k)", "n > 1 (line 4) && k (line 4)");
    // Either may have led there.
    both("if (n > 1 || k)", "");
    both("if (k) foreign(3); else", "!k (line 4)");
    both("if (k) if (n == 2)", "n == 2 (line 4)");
    // What a loop tests is told as the loop.
    both("while (foreign(n))", "");
    leads(
        &inside("if (k) while (foreign(n))", ""),
        &inside("if (k) while (foreign(n))", "foreign(2);"),
        "k (line 4)",
    );
    both("switch (n) { case A: return 1;\ncase B: r = 3;", "case B (line 5)");
    let case = |body: &str| {
        format!("switch (n) {{\ncase A: return 1;\ncase B:\nforeign(3);\n{body}break; }}\nreturn 0;")
    };
    leads(&case(""), &case("foreign(2);\n"), "case B (line 5)");
    let default = |body: &str| {
        format!("if (k) switch (n) {{\ncase A: return 1;\ndefault:\nforeign(3);\n{body}break; }}\nreturn 0;")
    };
    leads(&default(""), &default("foreign(2);\n"), "k (line 3)");
    // Behind a join nothing of it is left.
    leads(
        "if (k) foreign(1);\nforeign(3);\nreturn 0;",
        "if (k) foreign(1);\nforeign(3);\nforeign(2);\nreturn 0;",
        "",
    );
    // One arm of a test whose arms have met, and one of two tests that lead to the same.
    leads("if (k) n = 2;\nreturn n;", "if (k) n = 2;\nforeign(n);\nreturn n;", "");
    leads("if (k) foreign(1);\nreturn n;", "if (k) foreign(1);\nforeign(n);\nreturn n;", "");
    leads(
        "if (k > 1 || n)\nreturn 1;\nreturn n;",
        "if (k > 1 || n) { foreign(n);\nreturn 1; }\nreturn n;",
        "",
    );
    leads(
        "if (k) goto end;\nforeign(1);\nend:\nreturn n;",
        "if (k) goto end;\nforeign(1);\nend:\nforeign(2);\nreturn n;",
        "",
    );
    leads("if (k)\nreturn 1;\nreturn n;", "if (k) { foreign(n);\nreturn 1; }\nreturn n;", "k (line 3)");
    leads("if (k) n = 2;\nforeign(n);\nreturn n;", "if (k) n = 2;\nreturn n;", "");
    // A condition of its own is more.
    leads(
        "if (k) { foreign(1); if (n > 4) return 1; }\nreturn 0;",
        "if (k) { foreign(1); if (n >= 4) return 1; }\nreturn 0;",
        "",
    );
}

#[test]
fn conditions_are_of_the_types_of_now() {
    check(
        "int f(int n, int k)",
        "int t = n; foreign(0); for (; t < k; t++) foreign(t); return 0;",
        "unsigned t = n; foreign(0); for (; t < k; t++) foreign(t); return 0;",
        &[
            "(int)t < k && (unsigned)k <= t | calls foreign(t); enters the loop | skips the loop",
            "k <= (int)t && t < (unsigned)k | skips the loop | calls foreign(t); enters the loop",
        ],
    );
}

#[test]
fn what_goes_on_is_followed_to_where_it_is_the_same() {
    let tail = "if (n == 0) abort();\nreturn n;";
    check(
        "int f(int n, int c)",
        &format!("if (c) n = strlen((char *)0 + c);\n{tail}"),
        &format!("if (c) return strlen((char *)0 + c);\n{tail}"),
        &["(unsigned)strlen(c) == 0 | ends in abort() | returns 0"],
    );
    check(
        "int f(int n, int c)",
        &format!("if (c) n = c & 7;\n{tail}"),
        &format!("if (c) return c & 7;\n{tail}"),
        &["(c & 7) == 0 | ends in abort() | returns 0"],
    );
    // Nothing is gained.
    check(
        "int f(int n, int c)",
        &format!("if (c) n = c & 7;\n{tail}"),
        &format!("if (c) return -1;\n{tail}"),
        &[" | goes on at line 13 | returns -1"],
    );
}

#[test]
fn order_of_calls() {
    check(
        "void f(int a, int b)",
        "lock(a);\nlock(b);",
        "lock(b);\nlock(a);",
        &[" |  | calls lock(b) here, and not where line 13 was"],
    );
}

#[test]
fn formats_that_print_the_same() {
    check("void f(size_t n)", "printf(\"%lu\\n\", n);", "printf(\"%zu\\n\", n);", &[]);
    check(
        "void f(size_t n)",
        "printf(\"%lu\\n\", n);",
        "printf(\"%lx\\n\", n);",
        &[r#" | calls printf("%lu\n", n) | calls printf("%lx\n", n)"#],
    );
}

#[test]
fn of_long_calls_the_arguments_that_differ_are_told() {
    let text = |word: &str| {
        format!(
            "printf(\"Usage: %s [options] {word}\\n  -f, --force     forces, which is dangerous\\n  -s, \
             --syslog    prints to syslog, not to standard error\\n\", s);"
        )
    };
    check(
        "void f(char *s)",
        &text("[names]"),
        &text("names"),
        &[
            r#" | calls printf("Usage: %s [options] [names]\n  -f, --force  …", …) | calls printf("Usage: %s [options] names\n  -f, --force  …", …)"#,
        ],
    );
    let nine = "int g(int, int, int, int, const char *, const char *, int, ...);\n\
                void f(struct s *previous, struct s *following)";
    let call = |more: &str| {
        format!(
            "g(previous->cap, following->cap, previous->n, following->n, previous->data, following->data, \
             following->next->n{more});"
        )
    };
    check(nine, &call(""), &call(", previous->next->n"), &[" | calls g(…) | calls g(…, previous->next->n)"]);
}

#[test]
fn a_wider_variable() {
    let body = "for (i = 0; i < p->n; i++) foreign(p->cap);";
    check_heads(
        ["void f(struct s *p) { unsigned char i;", "void f(struct s *p) { int i;"],
        body,
        &["i == 255 | sets i to 0 | sets i to 256"],
    );
    let body = "for (i = 0; i < n; i++) foreign(1);";
    check_heads(
        ["void f(unsigned n) { unsigned char i;", "void f(unsigned n) { unsigned long i;"],
        body,
        &[
            "(unsigned char)(i + 1) < n && n <= i + 1 | calls foreign(1); goes another round | leaves the loop",
            "n != 0 && n > 256 && i == 255 | sets i to 0 | sets i to 256",
        ],
    );
    check_heads(["int f(int x) {", "int f(long x) {"], "return x < 3 ? 1 : foreign(2);", &[]);
    check_heads(
        ["long f(int x) {", "long f(long x) {"],
        "return x + 1;",
        &["x == 2147483647 | returns -2147483648 | returns 2147483648"],
    );
}

/// One body under two heads, which is the same but for `}`.
#[track_caller]
fn check_heads(heads: [&str; 2], body: &str, expected: &[&str]) {
    let text = |k: usize| format!("{BEFORE}{}\n{body}\n}}\n", heads[k]);
    assert_eq!(told(&text(0), &text(1)), expected, "\n{}\n-->\n{}\n{body}", heads[0], heads[1]);
}

#[test]
fn an_array_of_another_length() {
    check(
        "int f(char *s)",
        "char buf[64] = \"\";\nfor (int i = 0; s[i]; i++)\n buf[i] = s[i];\nreturn foreign(buf[0]);",
        "char buf[128] = \"\";\nfor (int i = 0; s[i]; i++)\n buf[i] = s[i];\nreturn foreign(buf[0]);",
        &[" | buf has 64 elements | buf has 128 elements"],
    );
    check(
        "int f(char *s)",
        "char buf[64];\nsnprintf(buf, sizeof buf, s);\nreturn foreign(buf[0]);",
        "char buf[128];\nsnprintf(buf, sizeof buf, s);\nreturn foreign(buf[0]);",
        &[" | buf has 64 elements | buf has 128 elements"],
    );
}

/// `first` and `second` begin with one size; `second` grows.
#[track_caller]
fn check_sizes(bodies: [&str; 2], expected: &[&str]) {
    let heads = [
        "struct a { int x, y, c, d; };\nstruct b { int u, v, w, z; };\ntypedef struct { long k, l; } grown;\n\
         struct m { char one[16], two[16]; };",
        "struct a { int x, y, c, d; };\nstruct b { int u, v, w, z, t, s; };\ntypedef struct { long k, l, m; } grown;\n\
         struct m { char one[16], two[128]; };",
    ];
    let arrays = |n: u32| {
        format!(
            "#define PUT(b, s) snprintf(b, sizeof(b), s)\n#define NEW(t) malloc(sizeof(t))\n\
             #define CLEAR(p) memset((p), 0, sizeof(*(p)))\n#define FIELD(t, f) sizeof(((t *)0)->f)\n\
             void use(void *, ...);\n\
             void f(struct a *p, struct b *q, struct m *m, grown *g, const char *s)\n{{\nchar first[16];\nchar second[{n}];\n"
        )
    };
    let text = |k: usize| {
        let n = [16, 128][k];
        let tail = "use(first, second, p, q, m, g);";
        format!("{BEFORE}{}\n{}{}\n{tail}\n}}\n", heads[k], arrays(n), bodies[k])
    };
    let lines = told(&text(0), &text(1));
    let lines: Vec<&String> = lines.iter().filter(|l| !l.contains("second has 16 elements")).collect();
    assert_eq!(lines, expected, "\n{}\n-->\n{}", text(0), text(1));
}

#[test]
fn sizes_of_what_did_not_grow_stay() {
    let check = |body: &str| check_sizes([body, body], &[]);
    check("snprintf(first, sizeof(first), s);");
    check("snprintf(second, sizeof(second), s);");
    check("snprintf(first, sizeof first, s);\nsnprintf(second, sizeof second, s);");
    check("memset(first, 0, sizeof(first));\nmemset(second, 0, sizeof(second));");
    check("use(malloc(sizeof(struct a)));\nuse(malloc(sizeof(struct b)));\nuse(malloc(sizeof(grown)));");
    check("use(0, sizeof *p);\nuse(0, sizeof(*q));");
    check("use(0, sizeof m->one);\nuse(0, sizeof m->two);\nuse(0, sizeof *m);");
    check("PUT(first, s);\nPUT(second, s);\nPUT(m->one, s);\nPUT(m->two, s);");
    check("use(NEW(struct a));\nuse(NEW(struct b));\nuse(NEW(grown));\nCLEAR(p);\nCLEAR(q);");
    check("use(0, FIELD(struct m, one));\nuse(0, FIELD(struct m, two));");
    check("use(0, __builtin_offsetof(struct m, two));\nuse(0, sizeof(struct b));");
    check("memcpy(first, s, 16);\nsnprintf(second, sizeof second, s);");
    check("for (unsigned long i = 0; i < sizeof first; i++)\n first[i] = 0;");
    check("for (unsigned long i = 0; i < sizeof second; i++)\n second[i] = 0;");
    check("use(&q[1], sizeof(second));\nuse(&first[3], sizeof q->u, 8, sizeof second);");
    check("{\nchar second[16];\nsnprintf(second, sizeof second, s);\nuse(second);\n}");
}

#[test]
fn sizes_of_something_else_are_told() {
    let check = |old: &str, new: &str, expected: &[&str]| check_sizes([old, new], expected);
    let put = |n: &str, m: &str| format!(" | calls snprintf(first, {n}, s) | calls snprintf(first, {m}, s)");
    check("snprintf(first, sizeof first, s);", "snprintf(first, 128, s);", &[&put("sizeof first", "128")]);
    check(
        "snprintf(first, sizeof first, s);",
        "snprintf(first, sizeof second, s);",
        &[&put("sizeof first", "sizeof second")],
    );
    check("PUT(first, s);", "snprintf(first, sizeof second, s);", &[&put("16", "sizeof second")]);
    check(
        "memset(first, 0, sizeof first);\nuse(0);\nmemset(second, 0, sizeof second);",
        "memset(first, 0, 128);\nuse(0);\nmemset(second, 0, sizeof second);",
        &[" | calls memset(first, 0, sizeof first) | calls memset(first, 0, 128)"],
    );
    let made = |a: &str, b: &str| {
        let one = |n: &str| format!("calls malloc({n}); calls use(malloc({n}))");
        format!(" | {} | {}", one(a), one(b))
    };
    let (a, b) = ("sizeof(struct a)", "sizeof(struct b)");
    check("use(malloc(sizeof(struct a)));", "use(malloc(sizeof(struct b)));", &[&made(a, b)]);
    check("use(NEW(struct a));", "use(NEW(struct b));", &[&made("16", "24")]);
    check("use(NEW(struct a));", "use(NEW(grown));", &[&made("16", "24")]);
    check("use(malloc(16));", "use(malloc(sizeof(struct b)));", &[&made("16", b)]);
    check(
        "use(0, sizeof m->one);",
        "use(0, sizeof m->two);",
        &[" | calls use(NULL, sizeof m->one) | calls use(NULL, sizeof m->two)"],
    );
    check(
        "use(0, FIELD(struct m, one));",
        "use(0, FIELD(struct m, two));",
        &[" | calls use(NULL, 16) | calls use(NULL, 128)"],
    );
    // Of two in one statement neither is known.
    check(
        "use(0, sizeof first, sizeof second);",
        "use(0, 128UL, sizeof second);",
        &[" | calls use(NULL, sizeof first, sizeof second) | calls use(NULL, 128, sizeof second)"],
    );
    check(
        "use(0, sizeof second, 16UL);",
        "use(0, sizeof second, 128UL);",
        &[" | calls use(NULL, sizeof second, 16) | calls use(NULL, sizeof second, 128)"],
    );
}

#[test]
fn another_array_of_the_same_name() {
    let block =
        |n: u32, k: u32| format!("if (k > {k}) {{\nchar buf[{n}];\nsnprintf(buf, sizeof buf, s);\n}}\n");
    let lengths = |bodies: [&str; 2]| -> Vec<String> {
        let text = |k: usize| format!("{BEFORE}void f(char *s, int k)\n{{\n{}}}\n", bodies[k]);
        told(&text(0), &text(1)).into_iter().filter(|l| l.contains("elements")).collect()
    };
    // It came, and went, before the one that stays.
    assert_eq!(lengths([&block(16, 3), &format!("{}{}", block(8, 9), block(16, 3))]), [""; 0]);
    assert_eq!(lengths([&format!("{}{}", block(8, 9), block(16, 3)), &block(16, 3)]), [""; 0]);
    let both = |n: u32, m: u32| format!("{}{}", block(n, 9), block(m, 3));
    assert_eq!(lengths([&both(16, 16), &both(64, 16)]), [" | buf has 16 elements | buf has 64 elements"]);
    assert_eq!(lengths([&block(16, 3), &both(8, 64)]), [" | buf has 16 elements | buf has 8 elements"]);
}

#[test]
fn equal_values_are_left_in_memory() {
    check(
        "static int kept, wanted; int run(const char *); int f(const char *cmd, int keep)",
        "kept = keep;\nreturn run(cmd);",
        "kept = (keep || wanted);\nreturn run(cmd);",
        &[
            "keep != 0 | sets kept to keep | sets kept to 1",
            "wanted != 0 && keep == 0 | sets kept to 0 | sets kept to 1",
        ],
    );
}

#[test]
fn floats_that_differ() {
    check(
        "double f(double *p, char c)",
        "double n = *p;\nswitch (c) {\ncase 'K': n *= 1000.0; break;\ncase 'M': n *= 1000000.0; break;\n\
         case 'G': n *= 1e9; break;\ncase 'T': n *= 1e12; break;\n}\nreturn n;",
        "double n = *p;\nif (foreign(c) < 1)\n return 0;\nswitch (c) {\ncase 'K': n *= 1000.0; break;\n\
         case 'M': n *= 1000000.0; break;\ncase 'G': n *= 1e9; break;\ncase 'T': n *= 1e12; break;\n}\nreturn n;",
        &[
            "foreign(c) <= 0 | goes on at line 15 | calls foreign(c); returns 0.0",
            "foreign(c) > 0 |  | calls foreign(c)",
        ],
    );
}

#[test]
fn where_control_goes_is_told_under_what_decides() {
    let text = |end: &str| format!("int y = 0, z = 0;\nif (x > 3)\n{{\nz = 1;\n{end}\nreturn y * 10 + z;");
    check(
        "int f(int x)",
        &text("}\ny = 2;"),
        &text("y = 2;\n}"),
        &["x <= 3 | returns z + 20 | returns 10 * y + z"],
    );
    // Both outcomes lead elsewhere: one change, each under its own.
    check(
        "int f(int x)",
        "if (x > 3)\nreturn 1;\nreturn 2;",
        "if (x > 3)\ngoto two;\nreturn 1;\ntwo:\nreturn 2;",
        &["x > 3 | returns 1 | returns 2", "x <= 3 | returns 2 | returns 1"],
    );
    // A name of a variable is its value at the point.
    check(
        "int f(int x)",
        "int z = 0;\nif (x > 3)\ngoto out;\nz = 2;\nout:\nz += 1;\nreturn z;",
        "int z = 0;\nif (x > 3)\ngoto out;\nout:\nz = 2;\nz += 1;\nreturn z;",
        &[" | returns z + 1 | returns 3"],
    );
    // Labels may change places.
    let cases = |all: &[&str]| format!("switch (x) {{\n{}\n}}\nreturn 0;", all.join("\n"));
    let [one, two, rest] = ["case 1:\nreturn 1;", "case 2:\nreturn 4;", "default:\nreturn 7;"];
    check("int f(int x)", &cases(&[one, two, rest]), &cases(&[rest, one, two]), &[]);
    check("int f(int x)", &cases(&[one, two]), &cases(&[two, one]), &[]);
}

#[test]
fn whole_structures_are_copied() {
    check("void f(struct s *p, struct s *q)", "p->n = 1;", "p->n = 1; *p = *q;", &[" |  | sets *p to *q"]);
    check("void f(struct s *p, struct s *q)", "*p = *q;", "*p = *q;", &[]);
    check(
        "void f(struct s *p, struct s *q, int c)",
        "if (c > 1) *p = *q;",
        "if (c > 2) *p = *q;",
        &["c == 2 | sets *p to *q | "],
    );
}

#[test]
fn the_same_writes_under_a_condition() {
    check(
        "void f(struct s *p, int k)",
        "p->n = k;",
        "p->n = (k || p->cap);",
        &[
            "k != 0 | sets p->n to k | sets p->n to 1",
            "p->cap != 0 && k == 0 | sets p->n to 0 | sets p->n to 1",
        ],
    );
}

#[test]
fn what_is_undecided_beside_a_difference_is_told_with_it() {
    let f = |more: &str| format!("p->data = malloc(64);\n{more}p->n++;\nreturn p->data + p->n;");
    check(
        "char *f(struct s *p)",
        &f(""),
        &f("if (p->data == NULL) return NULL;\n"),
        &["p->data == NULL | returns p->data + (p->n + 1); sets p->n to p->n + 1 | returns NULL"],
    );
}

#[test]
fn a_call_that_was_moved_takes_its_result_along() {
    let guard = "if (n < 13) { lock(1); return 0; }\n";
    let call = "k = foreign(n);\n";
    check(
        "int f(int n)",
        &format!("int k;\n{call}{guard}return k + 1;"),
        &format!("int k;\n{guard}{call}return k + 1;"),
        &["n <= 12 | calls foreign(n) | "],
    );
}

#[test]
fn null_pointers_that_the_library_allows() {
    check(
        "void f(struct s *p)",
        "foreign(1);",
        "char *r = NULL; foreign(1); free(r);",
        &[" |  | calls free(NULL)"],
    );
    check(
        "void f(int n)",
        "foreign(1);",
        "int r = 0; foreign(1); if (n) printf(\"%d\", r);",
        &["n != 0 |  | calls printf(\"%d\", 0)"],
    );
    check(
        "size_t f(char *p)",
        "if (!p) return 0; return strlen(p);",
        "return strlen(p);",
        &["p == NULL | returns 0 | undefined at line 12: p is NULL"],
    );
}

#[test]
fn the_call_that_ends_is_the_last_one() {
    check(
        "void f(int n)",
        "if (n) { foreign(1); exit(2); } foreign(3);",
        "foreign(3);",
        &["n != 0 | calls foreign(1); ends in exit(2) | calls foreign(3); returns"],
    );
}

#[test]
fn a_variable_is_no_name_of_a_number() {
    check(
        "void f(int n)",
        "foreign(65);",
        "int m; m = 64; foreign(m);",
        &[" | calls foreign(65) | calls foreign(64)"],
    );
}

#[test]
fn what_an_own_call_may_have_written_is_not_said_to_be_as_before() {
    let told = told(
        &format!(
            "{BEFORE}char *get(int);\nchar *get_r(int, char **);\nvoid f(int n)\n{{\nputs(get(n));\nforeign(1);\n}}"
        ),
        &format!(
            "{BEFORE}char *get(int);\nchar *get_r(int, char **);\nvoid f(int n)\n{{\nchar *m = NULL;\nputs(get_r(n, &m));\nfree(m);\nforeign(1);\n}}"
        ),
    );
    assert!(
        told.iter().any(|t| t.contains("free(m)")) && told.iter().all(|t| !t.contains("free(NULL)")),
        "{told:?}"
    );
}

#[test]
fn macros_with_locals_of_their_own() {
    let head = "#define CHECK(e) do { int v = (e); if (v != 5) { printf(\"%s %d\\n\", #e, v); exit(1); } } while (0)\n";
    let text = |rows: &[u32]| {
        let rows: String = rows.iter().map(|k| format!("CHECK(foreign({k}));\n")).collect();
        format!("{head}void f(void)\n{{\n{rows}}}")
    };
    let row = |k: u32, of: [&[u32]; 2]| {
        let told = told(&format!("{BEFORE}{}", text(of[0])), &format!("{BEFORE}{}", text(of[1])));
        let is_it = |t: &String| t.contains(&format!("foreign({k})"));
        assert!(!told.is_empty() && told.iter().all(is_it), "{told:?}");
    };
    row(1, [&[2, 3], &[1, 2, 3]]);
    row(2, [&[1, 3], &[1, 2, 3]]);
    row(2, [&[1, 2, 3], &[1, 3]]);
}
