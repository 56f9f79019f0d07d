//! Pairs of a few lines of C and what is told of their objects.
#![cfg(test)]

use crate::analysis::{Effort, Options, Request, diff, memory};
use crate::frontend::c;
use crate::report::{Effect, HunkVerdict, ObjectReport, Report};

fn request(old: &[(&str, &str)], new: &[(&str, &str)], jobs: usize) -> Request {
    let analysis = Options { jobs, effort: Effort::Quick, ..Options::default() };
    memory::request(&[old.to_vec(), new.to_vec()], c::Options::default(), analysis)
}

fn said(o: &ObjectReport) -> String {
    let effects = |all: &[Effect]| all.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join("; ");
    let coming = o.coming();
    let name = if coming.is_empty() { o.called() } else { format!("{} {coming}", o.called()) };
    let reason = o.reason.as_ref().map(|r| format!(" open: {r}")).unwrap_or_default();
    format!("{name}: {} -> {}{reason}", effects(&o.definitions.before), effects(&o.definitions.now))
}

fn verdicts(report: &Report) -> String {
    let of = |h: &crate::report::HunkReport| match h.verdict {
        HunkVerdict::Explained => "explained".to_owned(),
        HunkVerdict::Neutral => "neutral".to_owned(),
        HunkVerdict::NotAnalysed => h.why.clone().unwrap_or_default(),
    };
    report.hunks.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// Compares two versions of `a.c`: what is said of each object, and what became of the hunks.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str], hunks: &str) {
    let text = |t: &str| format!("{t}\nint main(void) {{ return 0; }}\n");
    let (old, new) = (text(old), text(new));
    let report = diff(&request(&[("a.c", &old)], &[("a.c", &new)], 1));
    let found: Vec<String> = report.objects.iter().map(said).collect();
    assert_eq!(found, expected, "{old} | {new}");
    assert_eq!(verdicts(&report), hunks, "{old} | {new}");
}

/// One initial value in the place of another.
#[track_caller]
fn changed(ty: &str, old: &str, new: &str, expected: &str) {
    let text = |value: &str| format!("{} = {value};", ty);
    check(&text(old), &text(new), &[expected], "explained");
}

#[test]
fn scalars_and_strings() {
    changed("int x", "10", "12", "x: starts as 10 -> starts as 12");
    changed("static const int x", "10", "0", "x: starts as 10 -> starts as 0");
    changed("double x", "1.5", "-1.5", "x: starts as 1.5 -> starts as -1.5");
    changed("char x", "'a'", "'b'", "x: starts as 'a' -> starts as 'b'");
    changed("unsigned char x", "'a'", "'b'", "x: starts as 'a' -> starts as 'b'");
    changed("unsigned char x", "97", "98", "x: starts as 97 -> starts as 98");
    changed("_Bool x", "0", "1", "x: starts as 0 -> starts as 1");
    changed("char *x", "\"a\"", "0", "x: starts as \"a\" -> starts as NULL");
    changed("const char x[]", "\"one\"", "\"two\"", "x: starts as \"one\" -> starts as \"two\"");
    let id = |n: u32, word: &str| format!("\"$Id: a.c,v 1.{n} $ {word}\"");
    changed("const char x[]", &id(1, "a"), &id(2, "a"), "x:  -> has another $Id$");
    changed(
        "const char x[]",
        &id(1, "a"),
        &id(1, "b"),
        "x: starts as \"$Id: a.c,v 1.1 $ a\" -> starts as \"$Id: a.c,v 1.1 $ b\"",
    );
    changed(
        "const char x[]",
        "\"a long usage text\\n  and more of it\\n  option producue\\n\"",
        "\"a long usage text\\n  and more of it\\n  option produce\\n\"",
        "x: starts as \"…\\n  option producue\\n\" -> starts as \"…\\n  option produce\\n\"",
    );
}

#[test]
fn elements_are_aligned() {
    changed("int x[4]", "{ 1, 2, 3 }", "{ 1, 5, 3 }", "x: [1] is 2 -> [1] is 5");
    changed("int x[]", "{ 1, 2 }", "{ 1, 2, 3 }", "x:  -> has 3 at [2]");
    changed("char *x[]", "{ \"a\", \"c\", 0 }", "{ \"a\", \"b\", \"c\", 0 }", "x:  -> has \"b\" after \"a\"");
    changed("char *x[]", "{ \"a\", \"b\", \"c\", 0 }", "{ \"a\", \"c\", 0 }", "x: has \"b\" after \"a\" -> ");
    let table = "struct s { const char *k, *v; } x[]";
    changed(
        table,
        "{ { \"a\", \"1\" }, { \"c\", \"3\" }, { 0 } }",
        "{ { \"a\", \"1\" }, { \"b\", \"2\" }, { \"c\", \"3\" }, { 0 } }",
        "x:  -> has { \"b\", \"2\" } after { \"a\", \"1\" }",
    );
    changed(
        table,
        "{ { \"a\", \"1\" }, { \"c\", \"3\" } }",
        "{ { \"a\", \"1\" }, { \"c\", \"4\" } }",
        "x: [1].v is \"3\" -> [1].v is \"4\"",
    );
}

#[test]
fn members_go_by_their_names() {
    let object = |value: &str| {
        format!(
            "struct o {{ int a; void (*f)(void); const char *s; double d; int n[2]; }};\nvoid g(void);\nvoid h(void);\nstruct o x = {{ {value} }};"
        )
    };
    let differs =
        |old: &str, new: &str, expected: &str| check(&object(old), &object(new), &[expected], "explained");
    differs(".a = 1, .f = g", ".a = 1, .f = h", "x: .f is g -> .f is h");
    differs(".a = 1", ".a = 1, .s = \"t\"", "x: .s is NULL -> .s is \"t\"");
    differs(".n = { 1, 2 }", ".n = { 1, 3 }", "x: .n[1] is 2 -> .n[1] is 3");
    differs(".d = 0.5, .a = 1", ".d = 1.5, .a = 2", "x: .a is 1; .d is 0.5 -> .a is 2; .d is 1.5");
}

/// Another name of the same type says nothing new; one that is qualified does.
#[test]
fn typedefs_are_what_they_stand_for() {
    let head = "typedef unsigned char u8, byte;\ntypedef const int ci;\ntypedef char *string;\ntypedef int wide __attribute__((aligned(16)));\n";
    let under = |old: &str, new: &str, expected: &[&str], hunks: &str| {
        check(&format!("{head}{old}"), &format!("{head}{new}"), expected, hunks);
    };
    under("static u8 t[4];", "static byte t[4];", &[], "neutral");
    under("static u8 t[4] = { 1 };", "static unsigned char t[4] = { 1 };", &[], "neutral");
    under("u8 *t;", "byte *t;", &[], "neutral");
    under("int *t;", "ci *t;", &["t: declared as int * t -> declared as ci * t"], "explained");
    under("ci *t;", "const int *t;", &[], "neutral");
    under("const string t = 0;", "const char *t = 0;", &["t: is const -> is not const"], "explained");
    under(
        "string const *t;",
        "char const **t;",
        &["t: declared as string const * t -> declared as char const * * t"],
        "explained",
    );
    under("int t;", "wide t;", &["t: declared as int t -> declared as wide t"], "explained");
}

#[test]
fn heads_are_told() {
    let versioned = |n: u32, ty: &str| {
        format!("#define RCSID(s) static const char id[] = s;\nRCSID(\"{n}\")\n{ty} x = 1;")
    };
    check(
        &versioned(1, "int"),
        &versioned(2, "int"),
        &["id: starts as \"1\" -> starts as \"2\""],
        "explained",
    );
    check("int x = 1;", "long x = 1;", &["x: has type int -> has type long"], "explained");
    check("int x = 1;", "static int x = 1;", &["x: is seen by other files -> is static"], "explained");
    check("int x = 1;", "const int x = 1;", &["x: is not const -> is const"], "explained");
    check("int x[40];", "int x[41];", &["x: has 40 elements -> has 41 elements"], "explained");
    check("char x[40];", "char x[41];", &["x: has 40 elements -> has 41 elements"], "explained");
    check(
        "static char *x = 0;",
        "static const char *x = 0;",
        &["x: declared as static char * x -> declared as static const char * x"],
        "explained",
    );
    check(
        "int x = 1;",
        "volatile int x = 1;",
        &["x: declared as int x -> declared as volatile int x"],
        "explained",
    );
}

#[test]
fn what_comes_and_goes() {
    check("", "static int x = 3;", &["x new:  -> starts as 3"], "explained");
    check("int x[2] = { 1 };", "", &["x gone: starts as { 1 } -> "], "explained");
    check("static int x = 7;", "static int y = 7;", &["y renamed from x:  -> "], "explained");
    // Zeros of several objects are no reason to take one for another.
    check(
        "static int x;",
        "static int y;\nstatic int z;",
        &["x gone: starts as 0 -> ", "y new:  -> starts as 0", "z new:  -> starts as 0"],
        "explained",
    );
    // One that names itself.
    let list = |name: &str| {
        format!("struct l {{ struct l *n, *p; }};\nstatic struct l {name} = {{ &{name}, &{name} }};")
    };
    check(&list("x"), &list("y"), &["y renamed from x:  -> "], "explained");
}

#[test]
fn objects_move_between_files() {
    let main = "int main(void) { return 0; }\n";
    let table = "const char *const names[] = { \"a\", \"b\" };\n";
    let with = |text: &str| format!("{text}{main}");
    let (full, empty) = (with(table), with(""));
    let other = "int f(void) { return 1; }\n";
    let moved = format!("{table}{other}");
    let report = diff(&request(&[("a.c", &full), ("b.c", other)], &[("a.c", &empty), ("b.c", &moved)], 1));
    let found: Vec<String> = report.objects.iter().map(said).collect();
    assert_eq!(found, ["names moved from a.c:  -> "]);
    assert_eq!(verdicts(&report), "explained explained");
    // With the whole file.
    let report = diff(&request(&[("a.c", table), ("b.c", other)], &[("b.c", &moved)], 1));
    let found: Vec<String> = report.objects.iter().map(said).collect();
    assert_eq!(found, ["names moved from a.c:  -> "]);
}

#[test]
fn what_is_written_otherwise_and_equal_is_neutral() {
    check("int x = 16;", "int x = 0x10;", &[], "neutral");
    check("int x = 0;", "int x;", &[], "neutral");
    check("int x[] = { 1, 2 };", "int x[2] = { [1] = 2, [0] = 1, };", &[], "neutral");
    check(
        "int x[] = { 1, 2 };",
        "int x[3] = { 1, 2, 0 };",
        &["x: has 2 elements -> has 3 elements"],
        "explained",
    );
    check(
        "int x[2];",
        "volatile int x[1 + 1];",
        &["x: declared as int x [ 2 ] -> declared as volatile int x [ 1 + 1 ]"],
        "explained",
    );
    check("char *x = \"ab\";", "char *x = \"a\" \"b\";", &[], "neutral");
    check(
        "struct s { int a, b; } x = { 1, 2 };",
        "struct s { int a, b; } x = { .b = 2, .a = 1 };",
        &[],
        "neutral",
    );
    check("extern int y;\nextern int x;", "extern int x;\nextern int y;", &[], "neutral neutral");
    check("", "extern int x;", &[], "neutral");
    check("int f(int);", "int f(int);\nint g(int);", &[], "neutral");
    check("extern int x;", "extern long x;", &[], "global");
}

#[test]
fn what_does_not_fold_is_open() {
    let why = "open:source with errors";
    check("int x = UNKNOWN_A;", "int x = UNKNOWN_B;", &["x:  ->  open: source with errors"], why);
    check("int x = UNKNOWN_A;", "int x  =  UNKNOWN_A; // the same", &[], "neutral");
    check(
        "foo_t x = 1;",
        "foo_t x = 4294967297;",
        &["x:  ->  open: a type that nothing declares"],
        "open:a type that nothing declares",
    );
}

#[test]
fn static_locals_have_their_function() {
    let f = |k: &str| format!("int f(int i)\n{{\n static const int t[] = {{ 1, {k} }};\n return t[i];\n}}");
    check(&f("2"), &f("3"), &["t of f(): [1] is 2 -> [1] is 3"], "explained");
    check(&f("2"), &f("1 + 1"), &[], "neutral");
    // One of a function that is new is told with it.
    check("", &f("2"), &[], "explained");
}

#[test]
fn macros_reach_what_they_are_used_in() {
    check(
        "#define N 1\n\nint x = N;",
        "#define N 2\n\nint x = N;",
        &["x: starts as 1 -> starts as 2"],
        "explained",
    );
    check("#define N 1\n\nint x = N;", "#define N (1)\n\nint x = N;", &[], "neutral");
}

#[test]
fn what_stands_behind_a_macro_says_nothing_of_its_objects() {
    let head = "int g(int);\nvoid *seen;\n#define TEST(n) static void n(void); void (*ptr_##n)(void) = &n; static void n(void)\n\
                #define OBJ(n, v) int obj_##n = v;\n";
    let test = |body: &str| format!("{head}TEST(one)\n{{\n  {body}\n}}\nOBJ(two, 2)\nvoid h(void)\n{{\n}}");
    check(&test("g(1);"), &test("g(2);"), &[], "explained");
    check(&test("seen = &ptr_one;"), &test("seen = 0;"), &[], "explained");
    let made = |call: &str| format!("{head}{call}\nint f(void)\n{{\n  return 3;\n}}");
    check(&made("OBJ(two, 2)"), &made("OBJ(two, 3)"), &["obj_two: starts as 2 -> starts as 3"], "explained");
    check(
        &made("OBJ(two, 2)"),
        &made("OBJ(two, 1 + 1)"),
        &["obj_two: declared as OBJ ( two , 2 ) -> declared as OBJ ( two , 1 + 1 )"],
        "explained",
    );
}

#[test]
fn names_with_lines_are_no_names() {
    let head = "struct t { const char *name; void (*run)(void); };\n#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n\
                #define TEST(n) static void n(void); static struct t data_##n = { #n, &n }; \\\n\
                \tstruct t *CAT(l, __LINE__) = &data_##n; static void n(void)\n";
    let test = |n: &str| format!("TEST({n})\n{{\n}}\n");
    let text = |names: &[&str]| format!("{head}{}", names.iter().map(|n| test(n)).collect::<String>());
    // Text before them, and others of them.
    check(&text(&["one", "two"]), &format!("\n\n\n{}", text(&["one", "two"])), &[], "neutral");
    check(
        &text(&["one", "two"]),
        &text(&["one", "extra", "two"]),
        &["data_extra new:  -> starts as { \"extra\", extra }", "l9 new:  -> starts as &data_extra"],
        "explained",
    );
    check(
        &text(&["one", "extra", "two"]),
        &text(&["one", "two"]),
        &["data_extra gone: starts as { \"extra\", extra } -> ", "l9 gone: starts as &data_extra -> "],
        "explained",
    );
    // A pointer to one is the same, too.
    let list =
        |before: &str, n: u32| format!("{head}{before}TEST(one)\n{{\n}}\nstruct t **all[] = {{ &l{n} }};");
    check(&list("", 6), &list("\n\n", 8), &[], "neutral neutral");
}

#[test]
fn several_are_counted() {
    let table = |n: usize| {
        let entries: Vec<String> = (0..n).map(|i| format!("\"entry {i}\"")).collect();
        format!("const char *x[] = {{ {}, 0 }};", entries.join(", "))
    };
    check(
        &table(3),
        &table(40),
        &["x:  -> has \"entry 3\", \"entry 4\", \"entry 5\" and 34 more after \"entry 2\""],
        "explained",
    );
    let row = |k: u32| {
        let all: Vec<String> = (0..20).map(|i| (i * k).to_string()).collect();
        format!("int x[20] = {{ {} }};", all.join(", "))
    };
    let report = diff(&request(&[("a.c", &row(1))], &[("a.c", &row(2))], 1));
    let o = &report.objects[0];
    assert_eq!((o.definitions.before.len(), o.definitions.now.len()), (7, 7));
    assert_eq!(o.definitions.now[6].text, "and 13 more");
}

/// Objects of many kinds.
const MANY: &str = "#define N 3\nstruct point { int x, y; };\nstatic const struct point points[N] = { { 1, 2 }, { 3, 4 } };\nconst char *names[] = { \"a\", \"b\", 0 };\nint (*hook)(void);\ndouble d = 1e10;\nchar buf[] = \"text\";\nunsigned char bytes[] = { 1, 2, 255 };\nunion u { int i; char c[4]; } u = { 7 };\nstruct b { unsigned a : 3, b : 5; } bits = { 5, 17 };\nint *p = &points_of[1];\nint main(void)\n{\n  static int n = 5;\n  return n + points[0].x;\n}\n";

#[test]
fn nothing_is_told_of_what_stays() {
    let report = diff(&request(&[("a.c", MANY)], &[("a.c", MANY)], 1));
    assert!(report.objects.is_empty() && report.hunks.is_empty());
    // White space, comments and lines say nothing.
    for new in
        [MANY.replace(", ", ",\n   "), MANY.replace(" = ", "\n  = /* as it was */ "), format!("\n\n{MANY}")]
    {
        let report = diff(&request(&[("a.c", MANY)], &[("a.c", &new)], 1));
        assert!(report.objects.is_empty(), "{:?}", report.objects);
        assert!(report.hunks.iter().all(|h| h.verdict == HunkVerdict::Neutral), "{:?}", report.hunks);
    }
}

#[test]
fn any_number_of_workers_says_the_same() {
    let new = MANY
        .replace("{ 3, 4 }", "{ 3, 5 }")
        .replace("\"b\"", "\"c\", \"d\"")
        .replace("17", "18")
        .replace("{ 7 }", "{ 8 }");
    let of = |jobs: usize| {
        let report = diff(&request(&[("a.c", MANY), ("b.c", MANY)], &[("a.c", &new), ("b.c", &new)], jobs));
        report.objects.iter().map(|o| format!("{} {} {}", o.file, o.id, said(o))).collect::<Vec<_>>()
    };
    let one = of(1);
    assert_eq!(one.len(), 8, "{one:#?}");
    assert_eq!(one, of(4));
    let said: Vec<&str> =
        one.iter().filter_map(|t| t.strip_prefix("a.c ")?.split_once(' ').map(|(_, s)| s)).collect();
    assert_eq!(
        said,
        [
            "points: [1].y is 4 -> [1].y is 5",
            "names: has \"b\" after \"a\" -> has \"c\", \"d\" after \"a\"",
            "u: starts as { .i = 7 } -> starts as { .i = 8 }",
            "bits: .b is 17 -> .b is 18",
        ]
    );
}

#[test]
fn numbers_are_told_by_the_names_of_the_source() {
    const NAMES: &str = "#define MOST 5\n#define SSL (-1)\nenum colour { RED, GREEN = 6 };\nstruct s { int a, b; enum colour c; };\n";
    let text = |value: &str| format!("{NAMES}struct s x = {value};");
    let (old, new) = (text("{ 1, 2, RED }"), text("{ MOST, SSL, GREEN }"));
    let expected = "x: .a is 1; .b is 2; .c is RED -> .a is MOST; .b is SSL; .c is GREEN";
    check(&old, &new, &[expected], "explained");
    // Written as a number.
    check(&text("{ 1, 2 }"), &text("{ 5, 2 }"), &["x: .a is 1 -> .a is 5"], "explained");
    check(&text("{ 5, 2 }"), &text("{ MOST, 3 }"), &["x: .b is 2 -> .b is 3"], "explained");
}

/// Numbers that names make, in a table whose name a macro makes and that a header declares.
#[test]
fn numbers_are_told_as_they_are_written_and_where() {
    let header = "#define MAKE(n) pre_##n\n#define A 1\n#define B 2\n#define C 4\n#define ROWS { 1, A }, { 2, A },\n\
                  struct row { int id; unsigned flags; };\nextern const struct row MAKE(table)[];\n";
    let body = |flags: &str| {
        format!(
            "#include \"t.h\"\nconst struct row MAKE(table)[] =\n{{\n  ROWS\n  {{ 3, A|C }},\n  {{ 4, {flags} }},\n}};\n"
        )
    };
    let (old, new) = (body("A | C"), body("A | B"));
    let report = diff(&request(&[("t.h", header), ("a.c", &old)], &[("t.h", header), ("a.c", &new)], 1));
    let found: Vec<String> = report.objects.iter().map(said).collect();
    assert_eq!(found, ["pre_table: [3].flags is A | C -> [3].flags is A | B"]);
    let object = &report.objects[0];
    assert_eq!(
        (object.file.to_string().as_str(), object.line(), object.told_line()),
        ("a.c", Some(2), Some(6))
    );
    assert_eq!(verdicts(&report), "explained");
    // Names whose meaning is another one now say nothing.
    let other = header.replace("C 4", "C 8");
    let report = diff(&request(&[("t.h", header), ("a.c", &old)], &[("t.h", &other), ("a.c", &old)], 1));
    let found: Vec<String> = report.objects.iter().map(said).collect();
    assert_eq!(found, ["pre_table: [2].flags is 5; [3].flags is 5 -> [2].flags is 9; [3].flags is 9"]);
    // Long ones from before what differs.
    let long = |last: &str| format!("A|B|{}{last}", "C|".repeat(40));
    let (old, new) = (body(&long("C")), body(&long("B|B<<4")));
    let report = diff(&request(&[("t.h", header), ("a.c", &old)], &[("t.h", header), ("a.c", &new)], 1));
    let found: Vec<String> = report.objects.iter().map(said).collect();
    assert_eq!(
        found,
        ["pre_table: [3].flags is …C|C|C|C|C|C|C|C|C|C|C|C -> [3].flags is …C|C|C|C|C|C|C|C|C|C|C|B|B<<4"]
    );
}
