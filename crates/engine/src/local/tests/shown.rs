//! Places, ends and ways that are told as the source has them.

use super::{check, told};

#[test]
fn a_branch_that_returns_is_no_way_out_of_the_loop() {
    check(
        "int f(int n, int k)",
        "for (int i = 0; i < n; i++) {\nif (!foreign(i)) continue;\nif (foreign(i + 1) != 0) break;\nif (foreign(i + 2)) return 1;\nreturn 2;\n}\nreturn foreign(7);",
        "for (int i = 0; i < n; i++) {\nif (!foreign(i)) continue;\nif (foreign(i + 1) != 0 && k != 1) break;\nif (foreign(i + 2)) return 1;\nreturn 2;\n}\nreturn foreign(7);",
        &["foreign(i + 1) != 0 && k == 1 | leaves the loop | goes on at line 15, which calls foreign()"],
    );
}

#[test]
fn what_has_no_name_is_told_by_the_source() {
    check(
        "void *make(void); struct c { int id; long more; }; void use(void *);\nvoid f(int n)",
        "use(0);",
        "struct c *p = make();\np->id = n;\nuse(p);",
        &[" | calls use(NULL) | calls make(); calls use(make()); sets p->id to n"],
    );
}

#[test]
fn a_macro_that_writes_is_told_by_its_use() {
    check(
        "struct q { struct q *first, **last; };\n#define INIT(h) do { (h)->first = 0; (h)->last = &(h)->first; } while (0)\nint take(struct q *); struct q known;\nint f(int n)",
        "return foreign(1);",
        "INIT(&known);\nreturn foreign(1);",
        &[" |  | calls INIT(&known)"],
    );
}

#[test]
fn a_macro_that_does_not_return_is_told_once() {
    check(
        "_Noreturn void fatal_(const char *, int, const char *);\n#define fatal(m) fatal_(__FILE__, 1, m)\nint f(int n)",
        "return n;",
        "if (n == 7) fatal(\"seven\");\nreturn n;",
        &["n == 7 | returns 7 | ends in fatal(\"seven\")"],
    );
}

#[test]
fn what_a_comparison_gives_is_a_number() {
    check(
        "#define true 1\n#define OK 0\nint f(int n)",
        "int r = foreign(n);\nif (r == OK) return foreign(true);\nreturn 3;",
        "int r = foreign(n);\nif (r == OK) return foreign(true);\nreturn r != OK;",
        &[" | returns 3 | returns r != OK"],
    );
}

#[test]
fn either_of_two_conditions_is_one_row() {
    check(
        "int most;\nint f(int n)",
        "return foreign(n);",
        "if (n < 0 || n >= most) return -1;\nreturn foreign(n);",
        &["n < 0 || n >= most | returns foreign(n) | returns -1"],
    );
    check(
        "int f(const char *s, int k)",
        "return foreign(k);",
        "if (strcmp(s, \"tr\") == 0 || strcmp(s, \"az\") == 0 || k == 9) return -1;\nreturn foreign(k);",
        &["strcmp(s, \"tr\") == 0 || strcmp(s, \"az\") == 0 || k == 9 | returns foreign(k) | returns -1"],
    );
}

#[test]
fn what_a_macro_tests_is_its_own_matter() {
    check(
        "void note(const char *, const char *);\n#define NOTE(a, b) note(a, b)\nint f(int n)",
        "return foreign(n);",
        "NOTE(\"n\", n & 4 ? \"\" : \"no-\");\nreturn foreign(n);",
        &[" |  | calls NOTE(\"n\", …)"],
    );
    check(
        "struct q { struct q *first, **last; }; struct q one, two;\n#define JOIN(a, b) do { if ((b)->first) { *(a)->last = (b)->first; (a)->last = (b)->last; } } while (0)\nint f(int n)",
        "return foreign(n);",
        "foreign(3);\nJOIN(&one, &two);\nreturn foreign(n);",
        &[" |  | calls foreign(3); calls JOIN(&one, &two)"],
    );
}

#[test]
fn an_assertion_that_says_something_else_is_told() {
    // Found in http-parser d9275da4.
    check(
        "#include <assert.h>\nint f(unsigned short a, unsigned long b)",
        "assert(a + 1 <= b);\nreturn foreign(a);",
        "assert((unsigned long)(a + 1) <= b);\nreturn foreign(a);",
        &[
            "b < (unsigned long)(a + 1) | fails assert(a + 1 <= b) | fails assert((unsigned long)(a + 1) <= b)",
        ],
    );
}

#[test]
fn of_calls_through_pointers_the_arguments_that_differ_are_told() {
    // Found in xz c6c42582: `calls (*coder->lzma.code)(coder->lzma.coder, dict, in, in_pos, …)`, where `…` is the change.
    check(
        "struct coder { void *state; int (*code)(void *, const char *, unsigned long *, unsigned long); };\n\
         struct decoder { unsigned long compressed_size; struct coder inner; };\n\
         int f(struct decoder *decoder, const char *input, unsigned long *position, unsigned long size)",
        "decoder->inner.code(decoder->inner.state, input, position, size);\nreturn 0;",
        "decoder->inner.code(decoder->inner.state, input, position, *position + decoder->compressed_size + 1);\nreturn 0;",
        &[
            " | calls (*decoder->inner.code)(…, size) | calls (*decoder->inner.code)(…, *position + decoder->compressed_size + 1)",
        ],
    );
}

#[test]
fn of_uses_of_a_macro_the_one_that_is_new_is_told() {
    // Found in cryptsetup 3da919f8: calls of both uses were matched crosswise.
    check(
        "void reset(void); void say(const char *, const char *); void one(void); void two(void);\n\
         #define RUN(x, t) do { reset(); say(#x, t); x(); } while (0)\nint f(int n)",
        "RUN(one, \"first\");\nreturn foreign(n);",
        "RUN(two, \"second\");\nRUN(one, \"first\");\nreturn foreign(n);",
        &[" |  | calls RUN(two, \"second\")"],
    );
}

#[test]
fn paths_that_meet_on_the_way_to_another_change_are_the_same() {
    // Found in p11-kit 27a4012: the empty statements of macros were taken for one another.
    check(
        "void note(const char *, ...); int wr(void *, const char *, const void *); void del(void *); extern const int OK;\n\
         #define FAIL(x, v) do { if (x) { } else { note(\"%s %s\", #x, __func__); return v; } } while (0)\n\
         #define REACHED(v) do { note(\"%s\", __func__); return v; } while (0)\nvoid *f(void *dd)",
        "void *d = dd; del(&d);\nint r = wr(d, \"\", \"NEW\");\nFAIL(r == OK, 0);\nr = wr(d, \"LAST\", d);\nFAIL(r == OK, 0);\nreturn d;",
        "void *d = dd; del(&d);\nint r = wr(d, \"\", \"NEW\");\nif (r != OK) {\ndel(&d);\nREACHED(0);\n}\nr = wr(d, \"LAST\", d);\nif (r != OK) {\ndel(&d);\nREACHED(0);\n}\nreturn d;",
        &[
            "r != OK |  | calls del(&d)",
            "r != OK | calls FAIL(…, 0) | calls REACHED(0)",
            "r != OK |  | calls del(&d)",
            "r != OK | calls FAIL(…, 0) | calls REACHED(0)",
        ],
    );
}

#[test]
fn of_long_texts_what_differs_is_told() {
    let text =
        |more: &str| format!("p->data = \"{}{more}{}\";", "long text, ".repeat(12), "and more, ".repeat(12));
    check(
        "void f(struct s *p)",
        &text("here "),
        &text("there "),
        &[
            " | sets p->data to \"…ext, long text, here and more, a…\" | sets p->data to \"…ext, long text, there and more, a…\"",
        ],
    );
}

#[test]
fn a_pointer_to_anything_has_the_name_that_says_to_what() {
    check(
        "int most;\nint f(void *data)",
        "struct s *p = data;\nreturn p->cap;",
        "struct s *q = (struct s *)data;\nif (q->n < 0) return -1;\nq->cap = 3;\nreturn q->cap;",
        &[
            "q->n < 0 | returns p->cap | returns -1",
            "q->n >= 0 | returns p->cap | returns 3; sets q->cap to 3",
        ],
    );
}

#[test]
fn results_of_another_type_are_numbers() {
    // Found in p11-kit e909c65.
    let text = |ty: &str, ok: &str, bad: &str| {
        format!(
            "typedef _Bool bool;\nint foreign(int);\nstatic {ty} f(int n)\n{{\nunsigned long r = (unsigned long)foreign(n);\nif (r != 0) return {bad};\nreturn {ok};\n}}\n"
        )
    };
    assert_eq!(
        super::told(&text("bool", "1", "0"), &text("unsigned long", "r", "r")),
        [" | returns 0 | returns r", " | returns 1 | returns r"]
    );
    assert_eq!(super::told(&text("bool", "r != 0", "r == 0"), &text("int", "r != 0", "r == 0")), [""; 0]);
}

#[test]
fn brackets_around_a_result_are_left_out_if_they_are_around_all_of_it() {
    // Found in openssh 786cb6a14.
    let old = "if (k == 7) return -1;\nreturn (p->n);";
    let bodies = |call: &str| (old.to_owned(), format!("if (k == 8) return -1;\nreturn {call};"));
    let (old, new) = bodies("(p->n)");
    check(
        "int f(struct s *p, int k)",
        &old,
        &new,
        &["k == 7 | returns -1 | returns p->n", "k == 8 | returns p->n | returns -1"],
    );
    assert_eq!(
        ["(a)(b)", "(a)", "((a)(b))", "a(b)", "(a))"].map(super::super::texts::unwrapped),
        ["(a)(b)", "a", "(a)(b)", "a(b)", "(a))"]
    );
}

#[test]
fn what_moves_behind_a_guard_is_told_by_the_guard() {
    // Found in nghttp3 9af0cbec8: two changes of a variable for one assignment.
    let head = "int h2(int, int);\nint f(int n, int k, int *t)";
    check(
        head,
        "int i = h2(n, k);\nint d = 0;\nwhile (d < n) { if (t[i] == k) return i; ++d; i = (i + 1) & 7; }\nreturn 0;",
        "int i;\nint d = 0;\nif (k == 0) return 9;\ni = h2(n, k);\nwhile (d < n) { if (t[i] == k) return i; ++d; i = (i + 1) & 7; }\nreturn 0;",
        &["k == 0 | calls h2(n, k); comes to the loop of line 17 | returns 9"],
    );
}

#[test]
fn a_branch_that_returns_out_of_a_loop_is_told_by_what_it_returns() {
    // Found in nghttp3 c4f5f136a.
    check(
        "int f(int n, int *t)",
        "int i;\nfor (i = 0; i < n; ++i) {\nif (t[i] > 5) {\nreturn 7;\n}\n}\nreturn 3;",
        "int i;\nfor (i = 0; i < n; ++i) {\nif (t[i] > 6) {\nreturn 7;\n}\n}\nreturn 3;",
        &["t[i] == 6 | returns 7 | next round"],
    );
}

#[test]
fn addresses_are_those_of_the_members_that_a_call_takes() {
    // Found in nghttp3 a96eb4466: `init(p)`, and in b7ca2f9db: `read(&p->state.code.last)`.
    let head = "struct code { int last; }; struct state { struct code code; int n; };\n\
                struct all { struct state first; struct state second; };\n\
                void init(struct state *); void code(struct code *); void last(int *); void any(void *);\n\
                int f(struct all *p)";
    check(
        head,
        "return 0;",
        "init(&p->first);\ninit(&p->second);\ncode(&p->second.code);\nlast(&p->second.code.last);\nany(p);\nreturn 0;",
        &[" |  | calls init(&p->first); calls init(&p->second); calls code(&p->second.code); \
           calls last(&p->second.code.last); calls any(p)"],
    );
}

#[test]
fn an_index_in_the_place_of_a_pointer_is_no_obstacle() {
    // Found in nginx 42f8df65b: open, as the solver was given the index as what the address begins with.
    check(
        "struct text { unsigned long len; unsigned char *data; };\nint f(struct text *v)",
        "unsigned long i, a = 0, b = 0;\nfor (i = 0; i < v->len; i++)\nif (v->data[i] == '$') {\nif (v->data[i + 1] >= '1' && v->data[i + 1] <= '9') a++;\nelse b++;\n}\nreturn a * 100 + b;",
        "unsigned long i, a = 0, b = 0;\nfor (i = 0; i < v->len; i++)\nif (v->data[i] == '$') {\nif (i + 1 < v->len && v->data[i + 1] >= '1' && v->data[i + 1] <= '9') a++;\nelse b++;\n}\nreturn a * 100 + b;",
        &["v->data[i + 1] >= '1' && v->data[i + 1] <= '9' && v->len <= i + 1 | \
           sets a to a + 1 | sets b to b + 1"],
    );
}

#[test]
fn that_a_version_leaves_what_the_other_one_sets_goes_without_saying() {
    check(
        "int g(int);\nint f(int c)",
        "int n = g(c);\ng(1);\nreturn n + g(n);",
        "int n = g(c);\nif (c > 3) n = 0;\ng(1);\nreturn n + g(n);",
        &["c > 3 |  | sets n to 0"],
    );
}

#[test]
fn a_switch_over_what_a_call_gives_is_told_by_the_call() {
    // Found in mdadm 327df88fe: `a test of line 866 holds`.
    check(
        "enum words { NONE, ONE, TWO, THREE };\nint f(char *s, int k)",
        "switch (find(s)) {\ncase ONE: return 4;\ncase TWO: return 5;\ndefault: foreign(k);\n}\nreturn 6;",
        "switch (find(s)) {\ncase ONE: return 4;\ncase TWO: return 5;\ncase THREE: foreign(9); break;\ndefault: foreign(k);\n}\nreturn 6;",
        &["find(s) == THREE | calls foreign(k) | calls foreign(9)"],
    );
}

#[test]
fn what_a_macro_of_another_line_has_in_it_names_nothing() {
    // Found in lvm2 8f39af43d: `n <= _LOG_DEBUG` for `n < sizeof(struct part)`.
    check(
        "#define _LOG_DEBUG 7\n#define log_debug(x) print(_LOG_DEBUG, x)\nstruct part { long guid; };\nvoid print(int, int);\nint f(unsigned n)",
        "foreign(n);\nreturn 3;",
        "if (n < sizeof(struct part)) {\nlog_debug(n);\nreturn 0;\n}\nforeign(n);\nreturn 3;",
        &["n <= 7 | calls foreign(n); returns 3 | calls print(_LOG_DEBUG, n); returns 0"],
    );
}

#[test]
fn structures_that_are_handed_over_are_compared_by_what_they_hold() {
    // Found in lvm2 f2d8dd712: `sets ret to s`, the place that one version copies the structure to.
    let head = "struct all { int n, more; };\nint make(struct all); int one(int, int); int other(int, int);\nint f(struct all s, int k)";
    check(
        head,
        "int r = one(k, make(s));\nforeign(r);\nreturn r;",
        "int r = other(k, make(s));\nforeign(r);\nreturn r;",
        &[" | calls one(k, make(s)) | calls other(k, make(s))"],
    );
    check(
        head,
        "s.n = 1;\nreturn make(s);",
        "s.n = 2;\nreturn make(s);",
        &[" | sets s.n to 1 | sets s.n to 2"],
    );
    check(
        head,
        "s.n = 1;\nforeign(7);\nreturn 1 + make(s);",
        "s.n = 1;\nforeign(7);\ns.more = 2;\nreturn 1 + make(s);",
        &[" |  | sets s.more to 2"],
    );
}

#[test]
fn structures_have_other_numbers_in_each_version() {
    // Found in nghttp3 3b4a5dc9c: a crash, as the newer version has more of them.
    let own = "struct t { int n; };";
    let more: String = (0..9).map(|k| format!("struct more{k} {{ int a; long b; }};\n")).collect();
    super::relaid::check_relaid(
        [own, &format!("{more}{own}")],
        "int f(struct t *p)",
        ["if (p->n > 3) return 1;\nreturn 0;", "if (p->n > 4) return 1;\nreturn 0;"],
        &["p->n == 4 | returns 1 | returns 0"],
    );
}

/// Found in iproute2 7340b539: `addattr_nest(&req->n, sizeof(*req),` and on the next line `INET_CONF | NESTED)`.
#[test]
fn arguments_go_on_behind_a_line() {
    let head = "#define CONF 7\n#define NESTED 32768\nvoid f(int n)";
    check(
        head,
        "other(n,\n    CONF);",
        "other(n,\n    CONF | NESTED);",
        &[" | calls other(n, CONF) | calls other(n, CONF | NESTED)"],
    );
    // A comment may hold anything.
    check(
        head,
        "other(n, /* a), */\n    CONF);",
        "other(n, /* a), */\n    CONF | NESTED);",
        &[" | calls other(n, CONF) | calls other(n, 32775)"],
    );
}

const BIG: &str = "struct c { int on, off; unsigned low : 30; };\n#define PICK(c, k) ((c)->on * 3 + (c)->off * 5 + (k) * (c)->on * 11 + (c)->off * (c)->off * 13 + (c)->off * (k) * 17)\n#define SET(s, c, k) ((s)->on = PICK(c, k))\nvoid f(struct c *s, struct c *c, struct c *e, int k)";

#[test]
fn a_value_that_is_long_is_told_by_the_source() {
    check(BIG, "", "s->on = PICK(c, k);", &[" |  | sets s->on to PICK(c, k)"]);
    check(BIG, "", "s->low = PICK(c, k);", &[" |  | sets s->low to PICK(c, k)"]);
    check(BIG, "", "SET(s, c, k);", &[" |  | sets s->on by SET(s, c, k)"]);
    // What the code itself writes is not what it was.
    check(BIG, "foreign(1);", "c = e;\ns->on = PICK(c, k);\nforeign(1);", &[" |  | sets s->on"]);
    check(
        BIG,
        "",
        "c->off = foreign(k);\ns->on = PICK(c, k) + c->off;",
        &[" |  | calls foreign(k); sets c->off to foreign(k); sets s->on"],
    );
}

/// A place that only the source has a name for has no type here: a number is told as it stands there.
#[test]
fn a_number_is_told_without_a_cast() {
    for members in ["_Bool a, b", "signed char a, b", "unsigned a : 1, b : 1"] {
        let text = |test: &str| {
            format!(
                "struct y {{ char *s; {members}; }};\nstruct t {{ struct y *y; int n; }};\nint rd(struct t *, int *);\nint f(struct t *t)\n{{\n{test}\nt->y->b = 1;\nreturn 0;\n}}\n"
            )
        };
        let rows = told(&text("rd(t, &t->n);\nif (t->y)"), &text("if (rd(t, &t->n) == 0 &&\nt->y)"));
        assert!(rows.iter().any(|row| row.contains("| sets t->y->b to 1 |")), "{rows:?}");
    }
}

/// Tests that lead to a place are told but for assertions, which hold wherever anything comes behind them.
#[test]
fn assertions_on_the_way_are_no_tests() {
    let text = |body: &str| {
        format!(
            "void failed(void) __attribute__((noreturn));\n#define CHECK(c) ((c) ? (void)0 : failed())\nint foreign(int);\nint f(int *p, int n)\n{{\nif (n == 7) {{\nCHECK(p);\nCHECK(*p && n);\n{body}\n}}\nreturn 0;\n}}\n"
        )
    };
    let changes = super::changes(&text("foreign(1);"), &text("foreign(2);"));
    let tests: Vec<_> = changes.iter().filter_map(|c| c.tests.clone()).collect();
    assert_eq!(tests, ["n == 7 (line 6)"]);
}

/// A value that is long is told where nothing else tells of it.
#[test]
fn long_values_of_variables_are_told() {
    let long =
        "table_of_sizes[kind] * width_of_rows * table_of_channels[table_of_inner_layouts[layout_of_pixels]]";
    check(
        "int f(int width_of_rows, int kind, int layout_of_pixels, const int *table_of_sizes, \
         const int *table_of_channels, const int *table_of_inner_layouts)",
        "int n = width_of_rows * table_of_sizes[kind]; for (int i = 0; i < n; i++) lock(n); return n;",
        &format!("int n = {long}; for (int i = 0; i < n; i++) lock(n); return n;"),
        &[&format!(" | sets n to table_of_sizes[kind] * width_of_rows | sets n to {long}")],
    );
}

/// What each version sets in its own way is told beside what else it sets, also where the value has no words.
#[test]
fn values_without_words_are_told_beside_others() {
    let head = "void f(struct s *p, int n, int other_parameter, int another_parameter)";
    let body = |k: u32| {
        format!(
            "p->n = n + {k};\np->cap = (n + other_parameter * another_parameter) * (n + {k}) * (another_parameter - n) +\n    \
             (another_parameter + 7) * (other_parameter - 9) * (n - 11) * (n + other_parameter);"
        )
    };
    let expected = " | sets p->n to n + 2; sets p->cap | sets p->n to n + 3; sets p->cap to another value";
    check(head, &body(2), &body(3), &[expected]);
}
