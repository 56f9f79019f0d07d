//! Structures whose layout differs between versions, narrowed types, sizes, line numbers, objects that
//! nobody writes.

use super::kit::Pair;

/// A type of one version's unit is not looked up in the other's, which numbers its structures otherwise.
#[test]
fn structures_that_only_one_version_has_cost_no_answer() {
    let list = "struct s { int a; int b; struct s *next; };\n";
    let more = "struct q1 { int a; }; struct q2 { struct q1 x; }; struct q3 { int r; };\n";
    let sum = |by: &str| {
        format!("void f(struct s *p, int n) {{ while (p && n-- > 0) {{ p->b += {by}; p = p->next; }} }}\n")
    };
    let old = format!("{list}{}", sum("p->a"));
    let new = format!("{more}{list}{}", sum("p->a + 1"));
    for (old, new) in [(&old, &new), (&new, &old)] {
        let pair = Pair::new(old, new);
        pair.says("check HEAD~1..HEAD", 0, &["no regression"], &["no function changed", "internal error"]);
        pair.says("diff HEAD~1..HEAD", 0, &["p->b: ", "replayed"], &["internal error"]);
    }
}

/// A member in front of the others: each version is told by its own members, and inputs are rows of members.
#[test]
fn a_new_member_moves_no_facts_to_others() {
    let pair = Pair::new(
        "struct reb { void *pruning; int n; };\n\
         int f(struct reb *r) { if (r->pruning) return 0; return r->n > 3 ? 3 : 1; }\n",
        "struct reb { void *log; void *pruning; int n; };\n\
         int f(struct reb *r) { if (r->log) return 0; if (r->pruning) return 0; return r->n > 3 ? 3 : 1; }\n",
    );
    let unsaid = ["r->log != NULL && r->pruning != NULL ==>", "no input was found"];
    pair.says("diff HEAD~1..HEAD", 0, &["r = &{log: ", "replayed"], &unsaid);
    let pair = Pair::new(
        "struct reb { void *pruning; int n; };\nint f(struct reb *r) { if (r->pruning) return 0; return 3; }\n",
        "struct reb { void *log; void *pruning; int n; };\nint f(struct reb *r) { if (r->pruning) return 0; return 4; }\n",
    );
    pair.says("diff HEAD~1..HEAD", 0, &["3 -> 4", "replayed"], &unsaid);
}

/// Members that change places, lie in arrays, and lead on to others: a run of each version on the same members.
#[test]
fn inputs_are_members() {
    let pairs = [
        ("struct s { int a; int b; };", "struct s { int b; int a; };", "r->a - r->b"),
        (
            "struct s { char c; int a; int b; };",
            "struct s { int a; char c; long d; int b; };",
            "r->a - 2 * r->b + r->c",
        ),
        (
            "struct t { int x; }; struct s { struct t u[2]; int a; };",
            "struct t { int w, x; }; struct s { struct t u[2]; int a; };",
            "r->u[1].x - r->a",
        ),
        (
            "struct s { struct s *next; int a; };",
            "struct s { int k; int a; struct s *next; };",
            "r->next ? r->next->a : r->a",
        ),
    ];
    for (old, new, value) in pairs {
        let f = |types: &str, k: u32| {
            format!("{types}\nint f(struct s *r) {{ return ({value}) > 0 ? {k} : 1; }}\n")
        };
        let pair = Pair::new(&f(old, 3), &f(new, 4));
        pair.says(
            "diff HEAD~1..HEAD",
            0,
            &["3 -> 4", "replayed"],
            &["1 -> 4", "3 -> 1", "no input was found"],
        );
    }
}

/// Nothing says that the function is the same; that it fails on no new input may be said.
#[track_caller]
fn is_told(pair: &Pair, function: &str) {
    for (words, denial) in [
        ("diff HEAD~1..HEAD", "no semantic change"),
        ("check HEAD~1..HEAD", "no function changed"),
        ("condition HEAD~1..HEAD", "no function differs"),
    ] {
        let (_, out, err) = pair.run(words);
        assert!(!out.contains(denial), "{words}: {denial}\n{out}\n{err}");
    }
    pair.says(&format!("blame {function}"), 0, &["two"], &[]);
}

/// Equal offsets are those of other members: the function reads another one, whatever its bytes.
#[test]
fn equal_bytes_of_other_members_are_a_change() {
    let r = |members: &str| format!("struct r {{ {members} }};\n");
    let (old, new) = (r("int a; int n;"), r("int n; int a;"));
    let functions = [
        ("int f(struct r *r) { return r->a; }", "int f(struct r *r) { return r->n; }"),
        ("int f(void *v) { return ((struct r *)v)->a; }", "int f(void *v) { return ((struct r *)v)->n; }"),
        ("int f(struct r *r) { return r->a - 2 * r->n; }", "int f(struct r *r) { return r->n - 2 * r->a; }"),
        (
            "struct r f(int x) { struct r r = {x, 2}; return r; }",
            "struct r f(int x) { struct r r = {x, 2}; return r; }",
        ),
        ("int *f(struct r *r) { return &r->a; }", "int *f(struct r *r) { return &r->n; }"),
        ("struct r g; int f(void) { return g.a; }", "struct r g; int f(void) { return g.n; }"),
        (
            "static struct r s; static int *at = &s.a; void set(int v) { s.a = v; } int f(void) { return *at; }",
            "static struct r s; static int *at = &s.n; void set(int v) { s.a = v; } int f(void) { return *at; }",
        ),
    ];
    for (before, after) in functions {
        let pair = Pair::new(&format!("{old}{before}\n"), &format!("{new}{after}\n"));
        is_told(&pair, "a.c:f");
    }
    // As a program: what one function writes, another one reads by another name.
    let program = |r: &str, member: &str| {
        format!(
            "{r}static struct r s;\nvoid set(int v) {{ s.a = v; }}\nint get(void) {{ return s.{member}; }}\nint main(void) {{ set(3); return get(); }}\n"
        )
    };
    let pair = Pair::new(&program(&old, "a"), &program(&new, "n"));
    let (was, is) = pair.runs(&[], "");
    assert_ne!(was, is);
    is_told(&pair, "a.c:get");
}

/// What sees the bytes of a structure sees that its members lie elsewhere.
#[test]
fn what_sees_a_layout_is_not_the_same() {
    let head = "#include <stdio.h>\n#include <string.h>\n#include <stddef.h>\n";
    let old = "struct r { int a; int n; };\n";
    let new = "struct r { int n; int a; };\n";
    let more = "struct r { long id; int a; int n; };\n";
    let functions = [
        (new, "int f(struct r *r) { int x; memcpy(&x, r, sizeof x); return x; }"),
        (new, "int f(struct r *r) { char *p = (char *)r; return p[0]; }"),
        (new, "void f(FILE *out, struct r *r) { fwrite(r, 1, 4, out); }"),
        (new, "union u { struct r r; int raw[2]; }; int f(union u *u) { return u->raw[0] - u->r.a; }"),
        (more, "int f(struct r *r) { return (int)sizeof *r + r->a; }"),
        (more, "int f(void) { return (int)offsetof(struct r, n); }"),
        (new, "int f(struct r *r) { return &r->a < &r->n; }"),
        (new, "struct r f(int x) { struct r r = {x, 2}; return r; }"),
        (new, "static struct r g = {1, 2}; int f(void) { return g.a; }"),
        (new, "void see(struct r *); void f(int x) { struct r r = {.a = x, .n = 1}; see(&r); }"),
    ];
    for (layout, f) in functions {
        is_told(&Pair::new(&format!("{head}{old}{f}\n"), &format!("{head}{layout}{f}\n")), "a.c:f");
    }
    let bits = |r: &str| format!("struct r {{ {r} int n; }};\nint f(struct r *r) {{ return r->a; }}\n");
    is_told(&Pair::new(&bits("unsigned a : 3, b : 5;"), &bits("unsigned b : 5, a : 3;")), "a.c:f");
}

/// Members that lie elsewhere are the same members to whom only names them.
#[test]
fn a_layout_alone_changes_nothing() {
    let head = "#include <stdlib.h>\n#include <string.h>\n#include <assert.h>\n";
    let old = "struct r { int a; int n; struct r *next; };\n";
    let layouts = [
        "struct r { struct r *next; int n; int a; };\n",
        "struct r { long id; int a; int n; struct r *next; };\n",
        "struct r { int a; int n; struct r *next; char extra[9]; };\n",
        "struct r { char c; int a; int n; struct r *next; } __attribute__((packed));\n",
        "struct r { int a; _Alignas(16) int n; struct r *next; };\n",
    ];
    let functions = [
        "int f(struct r *r) { int s = 0; for (; r; r = r->next) s += r->a * 2 - r->n; return s; }",
        "int f(struct r *r, int k) { r[k].a = r->n; return r[1].n + (int)(&r[k] - r); }",
        "struct r f(int x) { struct r r = {.a = x, .n = 3}, q; q = r; return q; }",
        "static struct r g[2] = {{.a = 1}, {.n = 4}}; int f(int i) { return i & 1 ? g[1].n : g[0].a++; }",
        "struct r *f(int x) { struct r *r = malloc(sizeof *r); if (r) { memset(r, 0, sizeof *r); r->n = x; } return r; }",
        "void f(struct r *r) { while (r) { struct r *n = r->next; free(r); r = n; } }",
        "static int h(struct r *r) { assert(r->a > 0); return 10 / r->a; } int f(struct r *r) { return h(r); }",
        "void f(struct r *r, const struct r *q) { struct r s; memcpy(&s, q, sizeof s); *r = s; r->a++; }",
    ];
    for (k, f) in functions.iter().enumerate() {
        let layout = layouts[k % layouts.len()];
        Pair::new(&format!("{head}{old}{f}\n"), &format!("{head}{layout}{f}\n")).is_no_change();
    }
}

/// The numbers of `__LINE__` are none of the function's doing, also where a callee prints them; equal numbers
/// beside them in one macro call are.
#[test]
fn line_numbers_of_callees_are_no_change() {
    let check = "#include <stdio.h>\n#include <stdlib.h>\nstatic int n;\nstatic void fail(const char *file, int line) { fprintf(stderr, \"%s:%d\\n\", file, line); exit(line > 255 ? 255 : 1); }\n#define CHECK(c) do { if (!(c)) fail(__FILE__, __LINE__); } while (0)\n";
    let deep = "static int deep(int a) { for (int i = 0; i < a; i++) { CHECK(i < 9); n += i; } return n; }\nint f(int a) { CHECK(a < 100); return deep(a) + 1; }\n";
    // The constant is the number of its line in the second version.
    Pair::new(&format!("{check}{deep}"), &format!("{check}\n\n\n{deep}")).is_no_change();
    // In both versions, and another one: that is a change.
    let at = |k: u32, lines: &str| {
        format!(
            "#include <stdlib.h>\n#define CHECK(c) do {{ if (!(c)) exit(__LINE__ > 0); }} while (0)\n{lines}int f(int a) {{ CHECK(a < {k}); return a; }}\nint main(void) {{ return f(4); }}\n"
        )
    };
    let pair = Pair::new(&at(4, "\n"), &at(5, "\n\n"));
    let (old, new) = pair.runs(&[], "");
    assert_ne!(old, new);
    is_told(&pair, "a.c:f");
    // Beside an edit that changes nothing.
    let log = |lines: &str, end: &str| {
        format!(
            "#include <stdio.h>\nstatic void say(int line, const char *m) {{ printf(\"%d: %s\\n\", line, m); }}\n{lines}static int deep(int a) {{ if (a > 7) say(__LINE__, \"big\"); return a; }}\nint f(int a) {{ int r = deep(a); {end} }}\n"
        )
    };
    let pair = Pair::new(&log("", "return r + 1;"), &log("\n\n", "return 1 + r;"));
    pair.says("diff HEAD~1..HEAD", 0, &["no semantic change"], &["big"]);
}

/// Bytes that are copied into other things show how a structure is laid out.
#[test]
fn copies_into_other_things_see_layouts() {
    let is_told = |pair: &Pair, function: &str| {
        pair.says("diff HEAD~1..HEAD", 0, &[], &["no semantic change"]);
        pair.says("check HEAD~1..HEAD", 0, &[], &["no function changed"]);
        pair.says("condition HEAD~1..HEAD", 0, &[], &["no function differs"]);
        pair.says(&format!("blame {function}"), 0, &["two"], &[]);
    };
    let text = |members: &str| {
        format!(
            "struct s {{ {members} }};\nstatic void set(struct s *o, int a) {{ o->x = a; o->y = 2; }}\nint use(int a) {{ int t[2] = {{0, 0}}; struct s s; set(&s, a); __builtin_memcpy(t, &s, 8); return t[0]; }}\n"
        )
    };
    let pair = Pair::new(&text("int x; int y;"), &text("int y; int x;"));
    is_told(&pair, "a.c:use");
    let text = |members: &str| {
        format!(
            "#include <string.h>\nstruct s {{ {members} }};\nvoid f(unsigned char *o, int a) {{ struct s s; memset(&s, 0, sizeof s); s.x = a; memcpy(o, &s, sizeof s); }}\n"
        )
    };
    is_told(&Pair::new(&text("int x; int y;"), &text("int y; int x;")), "a.c:f");
    // Between structures of one type it is a copy of members.
    let text = |members: &str| {
        format!(
            "#include <string.h>\nstruct s {{ {members} }};\nint f(int a) {{ struct s s, t; memset(&s, 0, sizeof s); s.x = a; memcpy(&t, &s, sizeof s); return t.x; }}\n"
        )
    };
    Pair::new(&text("int x; int y;"), &text("int y; int x;")).is_no_change();
}
