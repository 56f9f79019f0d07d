//! Constants by the names that the source has for them.

use super::told;

const COLOURS: &str = "enum colour { RED, GREEN = 5, BLUE };\n";

/// Functions of an enumeration that is declared as given.
fn check(declared: [&str; 2], bodies: [&str; 2], expected: &[&str]) {
    let text = |k: usize| {
        let (declared, body) = (declared[k], bodies[k]);
        format!(
            "{declared}struct s {{ enum colour c; int n; }};\nint f(struct s *s, enum colour c, int n)\n{{\n{body}\n}}\n"
        )
    };
    assert_eq!(told(&text(0), &text(1)), expected, "{bodies:?}");
}

#[test]
fn enumerators_are_told_by_name() {
    let both = [COLOURS, COLOURS];
    check(both, ["return n;", "if (c == BLUE) return 0;\nreturn n;"], &["c == BLUE | returns n | returns 0"]);
    check(
        both,
        ["s->n = n;\nreturn n;", "s->n = n;\nif (n > 3) s->c = GREEN;\nreturn n;"],
        &["n > 3 |  | sets s->c to GREEN"],
    );
    // A number that no enumerator has stays one, and so does what is no enumeration's.
    check(both, ["return n;", "if (c == 7) return 0;\nreturn n;"], &["c == 7 | returns n | returns 0"]);
    check(both, ["return n;", "if (n == 5) return 0;\nreturn n;"], &["n == 5 | returns 5 | returns 0"]);
    check(
        both,
        ["switch (c) { case RED: return 1; default: return 2; }", "return 2;"],
        &["c == RED | returns 1 | returns 2"],
    );
}

#[test]
fn enumerations_without_a_tag_have_the_name_of_their_typedef() {
    let text = |body: &str| {
        format!("typedef enum {{ STOP, GO }} light;\nint f(light l, int n)\n{{\n{body}return n;\n}}\n")
    };
    assert_eq!(told(&text(""), &text("if (l == GO) n = 0;\n")), ["l == GO | returns n | returns 0"]);
}

/// A name is no help where it means two numbers.
#[test]
fn a_name_that_stands_for_another_number_is_not_used() {
    let moved = "enum colour { RED, YELLOW, GREEN = 6, BLUE };\n";
    check(
        [COLOURS, moved],
        ["s->c = GREEN;\nreturn n;", "s->c = GREEN;\nreturn n;"],
        &[" | sets s->c to 5 | sets s->c to 6"],
    );
    check(
        [COLOURS, moved],
        ["return n;", "if (c == 6) return 0;\nreturn n;"],
        &["c == 6 | returns n | returns 0"],
    );
}

/// Members of a union lie at one place: the one that the code names is told.
#[test]
fn the_member_of_a_union_that_the_source_names_is_told() {
    let head = "struct token { int type; union { struct { int encoding; } start; struct { int major, minor; } version; struct { int at; } end; } data; };\n";
    let text = |test: &str| {
        format!("{head}int f(struct token *t, int n)\n{{\nif ({test}) return 1;\nreturn n;\n}}\n")
    };
    for (member, value) in [("version.major", 3), ("end.at", 4), ("start.encoding", 5)] {
        let was = text(&format!("t->data.{member} == 2 || n == 9"));
        let found = told(&was, &text(&format!("t->data.{member} == {value} || n == 9")));
        let named = |t: &String| t.contains(&format!("t->data.{member} == {value}"));
        assert!(found.iter().any(named), "{found:?}");
    }
}

/// A tag that two blocks declare names neither's constants.
#[test]
fn a_tag_with_two_meanings_names_nothing() {
    let text = |body: &str| {
        format!(
            "{COLOURS}int g(enum colour c) {{ return c; }}\nint f(int n)\n{{\nenum colour {{ A = 4, B, C }} c = n & 7;\n{body}return n;\n}}\n"
        )
    };
    let found = told(&text(""), &text("if (c == B) n = 0;\n"));
    assert!(!found.is_empty() && found.iter().all(|t| !t.contains("GREEN")), "{found:?}");
}

const LIMITS: &str =
    "#define MOST 5\n#define BAD (-7)\n#define FLAG 0x10\n#define PATH \"/usr/lib\"\n#define ZERO 0\n";

/// Functions under the macros given.
fn check_macros(declared: [&str; 2], bodies: [&str; 2], expected: &[&str]) {
    let text = |k: usize| {
        let (declared, body) = (declared[k], bodies[k]);
        format!(
            "{declared}struct s {{ unsigned flags; int n; }};\nint g(const char *, int);\n\
             int f(struct s *s, int n)\n{{\n{body}\n}}\n"
        )
    };
    assert_eq!(told(&text(0), &text(1)), expected, "{bodies:?}");
}

#[test]
fn macros_are_told_by_name_where_the_source_writes_them() {
    let both = [LIMITS, LIMITS];
    check_macros(
        both,
        ["return n;", "if (n > MOST) return BAD;\nreturn n;"],
        &["n > MOST | returns n | returns BAD"],
    );
    // As the source has it, and not by the number beside it.
    check_macros(
        both,
        ["return n;", "if (n >= MOST) return 0;\nreturn n;"],
        &["n >= MOST | returns n | returns 0"],
    );
    check_macros(
        both,
        ["return n;", "if (s->flags & FLAG) s->flags &= ~FLAG;\nreturn n;"],
        &["(s->flags & FLAG) != 0 |  | sets s->flags to s->flags & ~FLAG"],
    );
    check_macros(
        both,
        ["return g(\"x\", n);", "return g(PATH, n);"],
        &[" | returns g(\"x\", n) | returns g(PATH, n)"],
    );
    check_macros(
        both,
        ["s->n = n;\nreturn n;", "s->n = MOST;\nreturn n;"],
        &[" | sets s->n to n | sets s->n to MOST"],
    );
}

#[test]
fn numbers_that_the_source_writes_as_such_stay_numbers() {
    let both = [LIMITS, LIMITS];
    // The macro is near, and not what is meant.
    check_macros(
        both,
        ["s->n = MOST;\nreturn n;", "s->n = MOST;\nif (n > 5) return 0;\nreturn n;"],
        &["n > 5 | returns n | returns 0"],
    );
    // Both on one line.
    check_macros(
        both,
        ["return n;", "if (n == 5) s->n = MOST;\nreturn n;"],
        &["n == 5 |  | sets s->n to MOST"],
    );
    // A test that writes no number.
    check_macros(
        both,
        ["return n;", "if (!n) return ZERO + 3;\nreturn n;"],
        &["n == 0 | returns 0 | returns 3"],
    );
}

#[test]
fn what_is_no_number_has_no_macro() {
    const TYPES: &str =
        "#define NO 0\n#define FIVE 5\nenum e { RED = 5 };\nstruct s { struct s *next; char *c; int n; };\n";
    let text = |body: &str| format!("{TYPES}int f(struct s *s, int n)\n{{\n{body}\n}}\n");
    let check = |old: &str, new: &str, expected: &[&str]| {
        assert_eq!(told(&text(old), &text(new)), expected, "{new}");
    };
    let (old, new) = ("return n;", "s->next = (struct s *)0; return NO;");
    check(old, new, &[" | returns n | returns NO; sets s->next to NULL"]);
    let (old, new) = ("return n;", "*s->c = '\\0'; return n;");
    check(old, new, &[" |  | sets *s->c to '\\0'"]);
    // Written by an enumerator.
    let (old, new) = ("s->n = FIVE;\nreturn n;", "s->n = FIVE;\nif (n > 2)\nreturn RED;\nreturn n;");
    check(old, new, &["n > 2 | returns n | returns RED"]);
}

#[test]
fn a_macro_that_changes_is_told_by_its_numbers() {
    let six = LIMITS.replace("MOST 5", "MOST 6");
    let body = "if (n > MOST) s->n = MOST;\nreturn n;";
    check_macros(
        [LIMITS, &six],
        [body, body],
        &["n > 6 | sets s->n to 5 | sets s->n to 6", "n == 6 | sets s->n to 5 | "],
    );
}

#[test]
fn characters_are_told_as_such_where_the_source_writes_them() {
    let both = ["extern int has(struct s *s, int c);\n"; 2];
    check_macros(
        both,
        ["return n;", "if (n > 3 && has(s, 'K')) return 5;\nreturn n;"],
        &[
            "n > 3 && has(s, 'K') != 0 | returns n | calls has(s, 'K'); returns 5",
            "n > 3 && has(s, 'K') == 0 |  | calls has(s, 'K')",
        ],
    );
    check_macros(
        both,
        ["return n;", "if (n == 'K') return 5;\nreturn n;"],
        &["n == 'K' | returns 75 | returns 5"],
    );
    // A number that stands for itself stays one.
    check_macros(
        both,
        ["return n;", "if (n == 'K')\ns->n = 75;\nreturn n;"],
        &["n == 'K' |  | sets s->n to 75"],
    );
}

/// Of a version in which nothing is written anew, the line counts that both have.
#[test]
fn names_are_those_of_the_lines_that_a_version_goes_through() {
    let declared = "#define DIRTY 2\nstruct client { int n; unsigned flags; };\n";
    let text = |body: &str| {
        format!(
            "{declared}void put(struct client *);\nvoid f(struct client client, int n)\n{{\n{body}\nput(&client);\n}}\n"
        )
    };
    let check = |old: &str, new: &str, expected: &[&str]| {
        assert_eq!(told(&text(old), &text(new)), expected, "{new}");
    };
    check(
        "client.flags |= DIRTY;",
        "if (n > 3)\nclient.flags |= DIRTY;",
        &["n <= 3 | sets client.flags to client.flags | DIRTY | "],
    );
}

#[test]
fn numbers_that_are_not_decimal_are_told_as_they_are_written() {
    let both = [LIMITS, LIMITS];
    check_macros(both, ["return n;", "g(0, 0700);\nreturn n;"], &[" |  | calls g(NULL, 0700)"]);
    check_macros(
        both,
        ["g(0, 0x8000);\nreturn n;", "g(0, 32769);\nreturn n;"],
        &[" | calls g(NULL, 0x8000) | calls g(NULL, 32769)"],
    );
    // Another line's way of writing is none.
    check_macros(
        both,
        ["if (n == 3) g(0, 0700);\nreturn n;", "if (n == 3) g(0, 0700);\nif (n == 4) g(0, 448);\nreturn n;"],
        &["n == 4 |  | calls g(NULL, 448)"],
    );
}

#[test]
fn macros_within_the_expansion_of_another_are_told() {
    let raise = "#define RAISE(s) do { if (!((s)->flags & FLAG)) (s)->flags |= FLAG; } while (0)\n";
    let declared = format!("{LIMITS}{raise}");
    let both = [&*declared, &*declared];
    check_macros(
        both,
        ["return n;", "RAISE(s);\nreturn n;"],
        &["(s->flags & FLAG) == 0 |  | sets s->flags to s->flags | FLAG"],
    );
    // Where the same number stands without the name, too, it is not known which is meant.
    let both = format!("{LIMITS}#define RAISE(s) ((s)->flags & FLAG ? (s)->n = 16 : 0)\n");
    check_macros(
        [&both, &both],
        ["return n;", "RAISE(s);\nreturn n;"],
        &["(s->flags & 0x10) != 0 |  | sets s->n to 16"],
    );
}

/// A plain number has the enumerator's name beside the operand that the source compares it with alone.
#[test]
fn enumerators_of_numbers_are_told_where_the_source_writes_them() {
    let check = |old: &str, new: &str, expected: &[&str]| {
        let text = |body: &str| {
            format!(
                "enum {{ STOP, GO, WAIT }};\nstruct s {{ int l; int m; }};\nint f(struct s *s, int n)\n{{\n{body}\nreturn n;\n}}\n"
            )
        };
        assert_eq!(told(&text(old), &text(new)), expected, "{new}");
    };
    check("", "if (s->l == WAIT) n = 0;", &["s->l == WAIT | returns n | returns 0"]);
    check("", "if (s->l == WAIT && n == 2) n = 0;", &["s->l == WAIT && n == 2 | returns 2 | returns 0"]);
    check("", "switch (s->l) { case WAIT: n = 4; }", &["s->l == WAIT | returns n | returns 4"]);
    check("s->m = 2;", "s->m = 2; if (n > 7) s->l = WAIT;", &["n > 7 |  | sets s->l to WAIT"]);
    check(
        "if (s->l == WAIT) n = 0;",
        "if (s->l == WAIT) n = 0;\nif (s->m == 2) s->m = 1;",
        &["s->m == 2 |  | sets s->m to 1"],
    );
}

/// A number that a narrow member holds as a negative one.
#[test]
fn enumerators_that_fill_a_byte_are_told_by_name() {
    let text = |kind: &str| {
        format!(
            "enum {{ IMM = 2, MEM_IMM = 0x80 | 2 }};\nstruct op {{ unsigned char kind; int n; }};\nvoid f(struct op *op, int n)\n{{\nop->kind = {kind};\nop->n = n;\n}}\n"
        )
    };
    assert_eq!(told(&text("MEM_IMM"), &text("IMM")), [" | sets op->kind to MEM_IMM | sets op->kind to IMM"]);
}

/// What stands around a test says less of its constants than the test's own line.
#[test]
fn a_test_has_the_names_of_its_own_line() {
    let head = "#define CI_ADDR 3\n#define NAK 3\n#define MOST 9\n#define LEVEL 8\n#define LOG(n) ((n) | LEVEL)\nint g(int);\n";
    let text = |case: &str| {
        format!(
            "{head}int f(int type, int n)\n{{\nint r = 0;\nswitch (type) {{\n{case}case 7:\nr = NAK;\n}}\ng(LOG(n));\nreturn r;\n}}\n"
        )
    };
    let found = told(&text(""), &text("case CI_ADDR:\nif (n)\nreturn 5;\nr = NAK;\nbreak;\n"));
    assert!(!found.is_empty() && found.iter().all(|t| t.starts_with("type == CI_ADDR")), "{found:?}");
    let limit = |line: &str| format!("{head}int f(int n)\n{{\n{line}\ng(LOG(n));\nreturn 0;\n}}\n");
    assert_eq!(
        told(&limit(""), &limit("if (n >= MOST) return 1;")),
        ["n >= MOST | calls g(n | LEVEL); returns 0 | returns 1"]
    );
}

#[test]
fn what_a_program_leaves_in_errno_is_told() {
    let text = |set: &str| {
        format!(
            "#include <errno.h>\nint g(int);\nint f(int n)\n{{\nif (g(n)) {{\n{set}\nreturn -1;\n}}\nreturn 0;\n}}\n"
        )
    };
    assert_eq!(
        told(&text("errno = EISDIR;"), &text("errno = EINVAL;")),
        [" | sets errno to EISDIR | sets errno to EINVAL"]
    );
    assert_eq!(told(&text(""), &text("errno = n;")), [" |  | sets errno to n"]);
    let test = |name: &str| {
        format!(
            "#include <errno.h>\nint g(int);\nint f(int n)\n{{\nif (errno == {name}) return -1;\nreturn 0;\n}}\n"
        )
    };
    assert_eq!(
        told(&test("EISDIR"), &test("EINVAL")),
        ["errno == EISDIR | returns -1 | returns 0", "errno == EINVAL | returns 0 | returns -1"]
    );
}

const SAYS: &str = "int say(int, const char *);\nint get(int);\n#define GET(n) get(n)\nvoid note(int);\nextern int level;\n#define WARN(n, text) do { note(level); say(n, text); } while (0)\n#define _(text) text\n";

#[test]
fn what_a_macro_calls_is_told_as_the_macro() {
    let text = |body: &str| format!("{SAYS}int f(int n, int k)\n{{\n{body}\nreturn 0;\n}}\n");
    let check = |old: &str, new: &str, expected: &[&str]| {
        assert_eq!(told(&text(old), &text(new)), expected, "{old}\n-->\n{new}");
    };
    check("", "if (n == 3) WARN(n, _(\"three\"));", &["n == 3 |  | calls WARN(n, _(\"three\"))"]);
    check("if (n == 3) WARN(n,\n \"three\");", "", &["n == 3 | calls WARN(n, \"three\") | "]);
    // What an argument was when it was evaluated it need not be at the point.
    check("", "if (n == 3) { k = n * 2; WARN(k, \"six\"); }", &["n == 3 |  | calls WARN(…, \"six\")"]);
    // In what uses that read alike differ is told.
    check(
        "if (n == 3) WARN(k = 1, \"a\");",
        "if (n == 3) WARN(k = 2, \"a\");",
        &[" | calls say(1, \"a\") | calls say(2, \"a\")"],
    );
    check(
        "if (n == 3) WARN(1, \"a\");",
        "if (n == 3) WARN(2, \"a\");",
        &[" | calls WARN(1, \"a\") | calls WARN(2, \"a\")"],
    );
    // A call that is made in an argument is told, too; one of another macro stops the telling.
    check("", "WARN(get(n), \"g\");", &[" |  | calls WARN(get(n), \"g\"); calls get(n)"]);
    check("", "WARN(GET(n), \"g\");", &[" |  | calls note(level); calls get(n); calls say(get(n), \"g\")"]);
    check("", "WARN((int)sizeof(n) , \"s\");", &[" |  | calls WARN(…, \"s\")"]);
    // The older version makes one of its calls, too.
    check("note(level);", "WARN(n, \"b\");", &[" |  | calls WARN(n, \"b\")"]);
}

/// Literals as they are written: of wide characters, and with a zero within.
#[test]
fn literals_are_told_whole_and_with_their_width() {
    let text = |literal: &str| {
        format!(
            "#include <stddef.h>\nint use(const void *p, int n);\nint f(int n)\n{{\nif (n > 3)\nreturn use({literal}, n);\nreturn 0;\n}}\n"
        )
    };
    let cases = [
        (r#"L"ab""#, r#"L"ac""#, r#"L"ab""#, r#"L"ac""#),
        (r#"L"\\??\\""#, r#"L"\\\\""#, r#"L"\\??\\""#, r#"L"\\\\""#),
        (r#"u"a\u20ac""#, r#"u"a""#, r#"u"a\u20ac""#, r#"u"a""#),
        (r#"U"a\U0001F600""#, r#"U"a""#, r#"U"a\U0001f600""#, r#"U"a""#),
        (r#""a\0b""#, r#""a\0c""#, r#""a\000b""#, r#""a\000c""#),
        // The bytes are the same, the characters are not.
        (r#"L"""#, r#""\0\0\0""#, r#"L"""#, r#""\000\000\000""#),
    ];
    for (before, now, told_before, told_now) in cases {
        let expected = format!(" | returns use({told_before}, n) | returns use({told_now}, n)");
        assert_eq!(told(&text(before), &text(now)), [expected], "{before} {now}");
    }
}

/// Flags by the enumerators that stand beside what they are flags of, in macros too, and not by what has the same value
/// near.
#[test]
fn flags_are_told_by_name() {
    let text = |flags: &str, body: &str| {
        format!(
            "enum {{ {flags} }};\n#define POLLOUT 4\n#define ACTIVE(h) (((h)->flags & IS_ACTIVE) != 0)\n\
             struct h {{ unsigned flags; int *cb; }};\nint use(int);\nint f(struct h *s, int events)\n{{\n{body}\n\
             if (events & POLLOUT) return use(2);\nreturn 0;\n}}\n"
        )
    };
    let flags = "IS_ACTIVE = 4, IS_READING = 0x1000";
    assert_eq!(
        told(&text(flags, "if (ACTIVE(s)) use(1);"), &text(flags, "if (ACTIVE(s) && s->cb) use(1);")),
        ["(s->flags & IS_ACTIVE) != 0 && s->cb == NULL | calls use(1) | "]
    );
    // A flag that goes.
    assert_eq!(
        told(&text(flags, "s->flags &= ~IS_READING;\nuse(1);"), &text("IS_ACTIVE = 4", "use(1);")),
        [" | sets s->flags to s->flags & ~IS_READING | "]
    );
}

#[test]
fn pointers_that_lead_nowhere_are_told_by_name() {
    let text = |body: &str| {
        format!(
            "#include <sys/mman.h>\n#define UNSET ((void *) -1)\nstruct s {{ char *p; }};\nint use(void *);\n\
             int f(struct s *s, char *q)\n{{\n{body}\nreturn 0;\n}}\n"
        )
    };
    assert_eq!(told(&text(""), &text("s->p = UNSET;")), [" |  | sets s->p to UNSET"]);
    assert_eq!(
        told(&text("if (q) return use(q);"), &text("if (q && q != MAP_FAILED) return use(q);")),
        ["q == MAP_FAILED | returns use(q) | returns 0"]
    );
}

#[test]
fn a_test_of_a_macro_is_told_as_the_macro_has_it() {
    // Found in yajl 263adf5: `a test of line 45 (GEN_AND_RETURN) holds && a test of line 45 (GEN_AND_RETURN) fails`.
    let text = |body: &str| {
        format!(
            "#define DONE 5\nextern int again;\nint make(int);\nvoid reset(void);\n#define MAKE_AND_RETURN(func) \\\n  {{ \\\n    \
             int status_ = func; \\\n    if (status_ == DONE && again) {{ \\\n      reset(); \\\n      status_ = func; \\\n    \
             }} \\\n    return status_ == 0; \\\n  }}\nint f(int k)\n{{\n{body}\n}}\n"
        )
    };
    assert_eq!(
        told(&text("return make(k) == 0;"), &text("MAKE_AND_RETURN(make(k));")),
        [
            "make(k) (line 16) == DONE && again (line 16, MAKE_AND_RETURN) | returns 0 | calls MAKE_AND_RETURN(…); calls make(k); returns make(k) == 0"
        ]
    );
}

#[test]
fn tests_of_the_same_words_are_told_apart_by_their_place() {
    // Of a definition with a `?` it is not read which test is which.
    let text = |body: &str| {
        format!(
            "extern int again, generation_of_the_whole_stream_is_complete_and_all_of_it_was_written;\nint make(int);\n\
             #define MAKE(func) {{ int status_ = func; if (status_ == \
             generation_of_the_whole_stream_is_complete_and_all_of_it_was_written) {{ if (again) return 5; return 6; }} return status_ ? 1 : 0; }}\n\
             int f(int k)\n{{\n{body}\n}}\n"
        )
    };
    let told = told(&text("return make(k) ? 1 : 0;"), &text("MAKE(make(k));"));
    let of_new: Vec<&String> = told.iter().filter(|row| row.contains("|  | ")).collect();
    assert_eq!(
        of_new,
        [
            "the test of line 6 (MAKE) holds && the 2nd test of line 6 (MAKE) holds |  | returns 5",
            "the test of line 6 (MAKE) holds && the 2nd test of line 6 (MAKE) fails |  | returns 6",
        ]
    );
}

#[test]
fn a_test_of_many_lines_is_told_as_it_is_written() {
    // Found in xz 102ea0ed: `a test of line 1157 holds`, a condition of nine lines.
    let text = |body: &str| {
        format!(
            "extern struct {{ int a, b, c; }} all;\nint look(int);\nvoid fatal(int);\nint f(int n)\n{{\n{body}\nreturn 0;\n}}\n"
        )
    };
    let test = |more: &str| {
        format!(
            "int k = look(n);\nif (all.a == 7\n  || 9 - all.b\n    < k\n  || 9\n    - all.c{more}\n    < n) {{\nfatal(1);\n}}"
        )
    };
    let rows = |body: &str| told(&text("look(n);"), &text(body));
    assert_eq!(
        rows(&test("")),
        [
            "all.a == 7 (line 7) |  | calls fatal(1)",
            "all.a != 7 (line 7) && 9 - all.b < k (line 7) |  | calls fatal(1)",
            "all.a != 7 (line 7) && !(9 - all.b < k) (line 7) && 9 - all.c < n (line 7) |  | calls fatal(1)",
        ]
    );
    // An operand with a comment in it is not told, and which lines are compiled is not read.
    let last = |more: &str| rows(&test(more)).pop();
    assert_eq!(
        last(" // of it").as_deref(),
        Some(
            "all.a != 7 (line 7) && !(9 - all.b < k) (line 7) && the 3rd test of line 7 holds |  | calls fatal(1)"
        )
    );
    assert_eq!(
        last("\n#if 1\n    + n\n#endif\n").as_deref(),
        Some(
            "the test of line 7 fails && the 2nd test of line 7 fails && the 3rd test of line 7 holds |  | calls fatal(1)"
        )
    );
}

#[test]
fn a_macro_that_comes_with_the_change_is_told_by_what_it_does() {
    // Found in yajl 263adf5: `calls GEN_AND_RETURN(…)`, and not whom the new macro calls.
    let text = |definition: &str, body: &str| {
        format!(
            "int make(int);\nvoid reset(int, int);\n{definition}\nint f(int k)\n{{\n{body}\n  return make(k);\n}}\n"
        )
    };
    let (own, other) = ("#define AGAIN(n) reset(n, 1); reset(n, 2)", "#define AGAIN(n) reset(n, 1)");
    let with = "AGAIN(7);";
    let by_name = [" |  | calls AGAIN(7)"];
    assert_eq!(told(&text(own, ""), &text(own, with)), by_name);
    let by_functions = [" |  | calls reset(7, 1); calls reset(7, 2)"];
    assert_eq!(told(&text("", ""), &text(own, with)), by_functions);
    assert_eq!(told(&text(other, ""), &text(own, with)), by_functions);
    assert_eq!(told(&text("#define AGAIN_TOO 1", ""), &text(own, with)), by_functions);
}

#[test]
fn what_is_written_behind_calls_is_told_as_it_is_then() {
    // Found in xz 102ea0ed: `now sets totals.files` beside `before sets totals.files to totals.files + 1`.
    let text = |first: &str, last: &str| {
        format!(
            "extern struct {{ int files, n; }} all;\nint look(int);\nvoid f(int k)\n{{\n{first}\n++all.files;\n{last}\n}}\n"
        )
    };
    assert_eq!(
        told(&text("", ""), &text("look(k);\nall.n = 2 * all.files;", "")),
        [" |  | calls look(k); sets all.n to 2 * all.files"]
    );
    // What it has written itself would be read as what that was before.
    let rows = told(&text("", ""), &text("all.files = k;\nlook(k);\nall.n = 2 * all.files;", ""));
    assert!(rows.iter().all(|row| !row.contains("2 * all.files")), "{rows:?}");
}

#[test]
fn arguments_that_vary_are_fetched_by_the_name_of_the_source() {
    // Found in jansson f45f068: `__builtin_va_arg(ap, 65568) < 0`.
    let text = |body: &str| {
        format!(
            "#include <stdarg.h>\nvoid use(int);\nvoid f(va_list ap)\n{{\n  int n;\n{body}\n  use(n);\n}}\n"
        )
    };
    let new = "int k = va_arg(ap, int);\nif (k < 0) n = 0;\nelse n = k;";
    let rows = told(&text("n = va_arg(ap, int);"), &text(new)).join("\n");
    assert!(rows.starts_with("va_arg(ap, …) < 0 |") && !rows.contains("__builtin"), "{rows}");
}
