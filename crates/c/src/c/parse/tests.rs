//! What a unit is read as: functions, errors that are left, and what was invented for want of headers.

use super::*;
use crate::history::MemoryTree;

/// Parses `a.c` beside the given other files and lists its functions and errors.
fn check(files: &[(&str, &str)], functions: &[&str], errors: &[&str]) {
    let parsed = parse(&MemoryTree::new(files.to_vec()), Path::new("a.c"), &Options::default()).unwrap();
    let tree = &parsed.checked.tast;
    let found: Vec<_> = tree
        .top_level()
        .iter()
        .filter(|&&d| tree[d].body.is_some())
        .filter_map(|&d| tree[d].name.map(|n| parsed.session.interner.resolve(n).to_owned()))
        .collect();
    let wrong: Vec<_> =
        parsed.diagnostics.iter().filter(|d| d.severity.is_fatal()).map(|d| d.message.as_str()).collect();
    assert_eq!((found, wrong), (functions.iter().map(|s| s.to_string()).collect(), errors.to_vec()));
}

#[test]
fn includes_resolve_beside_the_file_then_anywhere() {
    let header = "#define TWICE(x) ((x) * 2)\n";
    check(
        &[("a.c", "#include <t.h>\nint f(int n) { return TWICE(n); }"), ("inc/deep/t.h", header)],
        &["f"],
        &[],
    );
}

#[test]
fn headers_of_test_frameworks_are_there() {
    let test = "START_TEST(add)\n{\nck_assert_int_eq(1 + 1, 2);\nck_assert_str_eq(\"a\", \"a\");\nck_assert(_i == 0);\n}\nEND_TEST\n";
    let suite = "void more(TCase *tc) { tcase_add_test(tc, add); tcase_add_loop_test(tc, add, 0, 2); }\n";
    check_invented(&format!("#include <check.h>\n{test}{suite}"), &["add", "more"], &[], &[]);
    let test = "static void add(void **state) { int *p = mock_ptr_type(int *); assert_int_equal(*p + mock_type(int), 2); will_return(add, p); assert_non_null(*state); if (!p) skip(); }\n";
    let run = "int all(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(add), cmocka_unit_test_teardown(add, all)}; return cmocka_run_group_tests(tests, NULL, NULL); }\n";
    check_invented(&format!("#include <cmocka.h>\n{test}{run}"), &["add", "all"], &[], &[]);
    // The project's own comes first.
    check(
        &[("a.c", "#include <check.h>\nint f(void) { return OWN; }"), ("lib/check.h", "#define OWN 1\n")],
        &["f"],
        &[],
    );
}

/// Parses one file and lists what was invented.
fn check_invented(source: &str, functions: &[&str], names: &[&str], macros: &[&str]) {
    check(&[("a.c", source)], functions, &[]);
    let tree = MemoryTree::new([("a.c", source)]);
    let parsed = parse(&tree, Path::new("a.c"), &Options::default()).unwrap();
    let found: Vec<_> = parsed.invented.names.keys().map(|n| &**n).collect();
    assert_eq!(
        (found, parsed.invented.macros.iter().map(String::as_str).collect()),
        (names.to_vec(), macros.to_vec())
    );
}

#[test]
fn unknown_macros_lose_no_function() {
    check_invented(
        "API int f(void) { return 1; }
int g(void) { return f(); }",
        &["f", "g"],
        &[],
        &["API"],
    );
    check_invented("EXPORT(int x) int f(void) { return 1; }", &["f"], &[], &["EXPORT"]);
    check_invented("static LOCAL char t[9] = \"\"; int f(void) { return t[0]; }", &["f"], &[], &["LOCAL"]);
    check_invented("int f(void) COLD { return 1; }", &["f"], &[], &["COLD"]);
    check_invented("int f(int a UNUSED, char *b) { return 1; }", &["f"], &[], &["UNUSED"]);
    check_invented("RET CALL f(void) { return 1; }", &["f"], &["RET"], &["CALL"]);
    check_invented("API RET *f(void) { return 0; }", &["f"], &["RET"], &["API"]);
    let unused = "int f(__unused int a, __unused short b) { return 1; }\nint g(void) { return f(1, 2); }";
    check_invented(unused, &["f", "g"], &[], &["__unused"]);
    check_invented("int f(ATTR(1) char *b) { return 1; }", &["f"], &[], &["ATTR"]);
    let packed =
        "struct a { int x; } __packed;\nstruct b { int y; } __packed;\nint f(struct b *p) { return p->y; }";
    check_invented(packed, &["f"], &[], &["__packed"]);
}

#[test]
fn macros_that_take_the_name_of_a_function_are_guessed() {
    let test = |name: &str, line: &str| format!("START_TEST({name})\n{{\n{line}\n}}\nEND_TEST\n");
    let both = test("add", "g(1);") + &test("sub", "if (g(2)) return; g(3);");
    check_invented(&both, &["add", "sub"], &[], &["END_TEST", "START_TEST"]);
    check_invented(&test("add", "g(1);"), &["add"], &[], &["END_TEST", "START_TEST"]);
    check_invented(
        "TEST(list, add) { g(1); }\nTEST(list, sub) { return g(2); }",
        &["list_add", "list_sub"],
        &[],
        &["TEST"],
    );
    check_invented(
        "static DEFINE(f) { return g(1); }\nDEFINE(g, int) { return f(); }",
        &["f", "g"],
        &[],
        &["DEFINE"],
    );
    // Small letters are a macro's where they define more than one function.
    check_invented("test(a) { g(1); }\ntest(b) { g(2); }", &["a", "b"], &[], &["test"]);
    // Functions in old style.
    check_invented(
        "f(a, b) { return a + b; }\nmain(argc, argv) char **argv; { return f(1, 2); }",
        &["f", "main"],
        &[],
        &[],
    );
    check_invented(
        "int F(a) { return a; }\nG(b) { return F(b); }\nint h(c) int c; { return G(c); }",
        &["F", "G", "h"],
        &[],
        &[],
    );
}

#[test]
fn macros_that_change_the_shape_of_code_are_guessed() {
    let each = "int f(struct s *a) { int n = 0; struct s *x; each(x, a) { n++; } return n; }";
    check_invented(each, &["f"], &["each"], &["each"]);
    let local = "int f(void) { autofree char *s = g(); auto_free T *t = h(); return s != 0; }";
    check_invented(local, &["f"], &["T"], &["auto_free", "autofree"]);
    let typed = "typedef struct { int x; } T;\nint f(void) { autoptr(T) t = g(); held(T) u = {0}; return t->x + u.x; }";
    check_invented(typed, &["f"], &[], &["autoptr", "held"]);
    check_invented(
        "int f(STACK_OF(T) *s, int n) { return n; }",
        &["f"],
        &["__invdiff_unknown_STACK_OF"],
        &["STACK_OF"],
    );
    check_invented("enum e { A, MORE LAST = 128 };\nint f(void) { return LAST; }", &["f"], &[], &["MORE"]);
    check_invented("enum e { A, B = 3 SIZED(e) };\nint f(void) { return B; }", &["f"], &[], &["SIZED"]);
    check_invented("MAKE(a)\nMAKE_MORE(b)\nint f(void) { return 1; }", &["f"], &[], &["MAKE", "MAKE_MORE"]);
    let unused = "int f(int UNUSED(a), int UNUSED(b), int c) { return c; }";
    check_invented(unused, &["f"], &[], &["UNUSED"]);
    check_invented("LICENSE(\"GPL\");\nint f(void) { return 1; }", &["f"], &[], &["LICENSE"]);
    check_invented(
        "void g(const char *s, ...) FORMAT(1, 2);\nint f(void) { return 1; }",
        &["f"],
        &[],
        &["FORMAT"],
    );
}

#[test]
fn a_table_with_functions_is_no_function() {
    let table = "enum e { A }; static enum e g(int x) { return A; }\n\
                 static const struct { int n; enum e (*run)(int); } table[] = { { 1, g }, };\n\
                 int f(int x NOTE) { return table[0].run(x); }";
    check_invented(table, &["g", "f"], &[], &["NOTE"]);
}

#[test]
fn trees_and_bit_strings_of_the_system_are_there() {
    let source = "#include <sys/tree.h>\n#include <bitstring.h>\n\
                  struct s { int x; RB_ENTRY(s) at; bitstr_t *bits; };\nRB_HEAD(all, s);\n\
                  int cmp(struct s *a, struct s *b) { return a->x - b->x; }\n\
                  RB_GENERATE(all, s, at, cmp)\n\
                  int f(struct all *t, int n) { struct s *p; RB_FOREACH(p, all, t) if (bit_test(p->bits, n)) return p->x; return 0; }";
    check_invented(source, &["cmp", "f"], &[], &[]);
}

#[test]
fn unknown_types_are_on_record() {
    let source = "struct s { T a; int b; };\nint f(struct s *p) { return p->b; }\nint g(void) { return 0; }";
    check_invented(source, &["f", "g"], &["T", "s"], &[]);
    let tree = MemoryTree::new([("a.c", source)]);
    let parsed = parse(&tree, Path::new("a.c"), &Options::default()).unwrap();
    assert_eq!(parsed.invented.in_function("f"), [Arc::from("s")]);
    assert_eq!(parsed.invented.in_function("g"), []);
    check_invented("int f(void *p) { return (T *)p == 0; }", &["f"], &["T"], &[]);
    let pointers = "typedef T (*made)(int);\nstruct s { U (*run)(int); int n; };\nint f(made m, struct s *p) { return p->n; }";
    check_invented(pointers, &["f"], &["T", "U", "made", "s"], &[]);
    check_invented("int f(FILE *p, size_t n) { return 0; }", &["f"], &[], &[]);
}

#[test]
fn library_functions_are_known_without_a_header() {
    let tree = MemoryTree::new([("a.c", "float f(float x) { return 0.5f * fabs(x); }")]);
    let parsed = parse(&tree, Path::new("a.c"), &Options::default()).unwrap();
    let text = rucc_sema::print(&parsed.checked.tast, &parsed.checked.types, &parsed.session.interner);
    assert!(text.contains("fabs : double(double)"), "{text}");
}

#[test]
fn macro_calls_have_a_place() {
    let tree = MemoryTree::new([("a.c", "#define SQ(x) ((x)*(x))\nint f(int n) {\n  return SQ(n);\n}\n")]);
    let parsed = parse(&tree, Path::new("a.c"), &Options::default()).unwrap();
    let token = parsed.tokens.iter().find(|t| !t.expansion.is_dummy()).unwrap();
    let place = parsed.place(token.report_span()).unwrap();
    assert_eq!((place.line, place.column, place.macro_name.as_deref()), (3, 10, Some("SQ")));
}

/// Parses one file without an error and returns its prelude.
fn prelude(source: &str) -> String {
    check(&[("a.c", source)], &["f"], &[]);
    parse(&MemoryTree::new([("a.c", source)]), Path::new("a.c"), &Options::default()).unwrap().prelude
}

/// Checks what the prelude declares in the structure `tag`, but for the gaps.
fn check_members(source: &str, tag: &str, members: &str) {
    let prelude = prelude(source);
    let line = prelude.lines().find(|l| l.starts_with(&format!("struct {tag} {{")));
    let body = line.and_then(|l| l.split_once('{')).map_or("", |(_, b)| b.trim_end_matches("};"));
    let kept = body.split(';').map(str::trim).filter(|m| !m.starts_with("char __invdiff_gap"));
    let mut kept: Vec<&str> = kept.filter(|m| !m.is_empty()).collect();
    kept.sort();
    assert_eq!(kept.join("; "), members, "{prelude}");
}

#[test]
fn members_nobody_declared_are_guessed_from_their_uses() {
    check_members("int f(T *p) { return p->a; }", "__invdiff_unknown_T", "long a");
    check_members(
        "int f(void) { T v; g(&v); v.a = 1; return v.b; }",
        "__invdiff_unknown_T",
        "long a; long b",
    );
    check_members("int f(struct s *p) { return p->a + p->b; }", "s", "long a; long b");
    check_members("int f(void) { struct s v; v.a = 1; return v.a; }", "s", "long a");
    let held = "int f(struct s *p) { p->fn(3); return p->to->x + p->in.y + p->v[2] + p->l[1].z + *p->q; }";
    let expected = "long (*fn)(); long *q; long *v; struct __invdiff_unknown_s_in in; \
                    struct __invdiff_unknown_s_l *l; struct __invdiff_unknown_s_to *to";
    check_members(held, "s", expected);
    check_members(held, "__invdiff_unknown_s_in", "long y");
    // What is held within what is held.
    let nested = "int f(T *p) { return p->in.data.x; }";
    check_members(nested, "__invdiff_unknown_T_in", "struct __invdiff_unknown_T_in_data data");
    check_members(nested, "__invdiff_unknown_T_in_data", "long x");
    check_members("int f(void) { return opt.a; }", "__invdiff_unknown_opt", "long a");
    // Members of one name are told apart by what they stand behind.
    let two = "int f(T *p, struct u *q) { return p->data.l[0] + q->bar.l.x; }";
    check_members(two, "__invdiff_unknown_T_data", "long *l");
    check_members(two, "__invdiff_unknown_u_bar", "struct __invdiff_unknown_u_bar_l l");
    // A member of another structure has the name of a variable, and a handle is a pointer.
    let handle =
        "#include <stddef.h>\nint f(struct s { struct { int x; } h; } *p) { T h = NULL; return p->h.x; }";
    assert!(prelude(handle).contains("typedef struct __invdiff_unknown_T *T;"), "{}", prelude(handle));
    // What is indexed and handed on is a pointer; what is measured and indexed is no type.
    assert!(prelude("int g(); int f(void) { v[0] = 1; return g(v); }").contains("long *v"));
    assert!(prelude("int f(void) { return sizeof(v) / sizeof(v[0]) + v[1]; }").contains("long *v"));
    assert!(prelude("int g(); int f(void) { return g(&v) + v; }").contains("int v;"));
    check_members("T v = { .a = 1 }; int f(void) { return v.a; }", "__invdiff_unknown_T", "long a");
    // A typedef of a pointer.
    check_members("int f(T p) { return p->a; }", "__invdiff_unknown_T", "long a");
    // What a declared structure lacks.
    check_members(
        "struct s { int a; }; int f(struct s *p) { return p->a + p->b; }",
        "__invdiff_more_s",
        "long b",
    );
    check_members(
        "typedef struct { int a; } S; int f(S *p) { return p->a + p->b; }",
        "__invdiff_more_S",
        "long b",
    );
    // A member whose own type is unknown is not lacking.
    let late = "struct s { struct t in; int a; }; int f(struct s *p) { return p->in.x + p->a; }";
    check_members(late, "t", "long x");
    assert!(!prelude(late).contains("__invdiff_more"));
    // Those of the library come from its headers.
    assert!(prelude("int f(void) { struct stat s; g(&s); return s.st_size; }").contains("<sys/stat.h>"));
}

#[test]
fn a_member_lies_where_its_name_says() {
    let place = |source: &str, name: &str| {
        let parsed =
            parse(&MemoryTree::new([("a.c", source)]), Path::new("a.c"), &Options::default()).unwrap();
        let names = &parsed.session.interner;
        let records: Vec<_> = parsed.checked.types.records().collect();
        let fields = records.iter().flat_map(|(_, info)| &info.fields);
        fields
            .filter(|f| f.name.is_some_and(|n| names.resolve(n) == name))
            .map(|f| f.offset)
            .collect::<Vec<_>>()
    };
    let one = place("int f(T *p) { return p->number; }", "number");
    let other = place("int g(T *p) { return p->kind + p->number + p->size; }", "number");
    assert_eq!((one.len(), &one), (1, &other));
}

#[test]
fn macros_nobody_defined_stand_for_strings_and_labels() {
    assert!(prelude("int f(void) { return open(DIR \"/a\", 0); }").contains("#define DIR \"{DIR}\""));
    assert!(prelude("int f(void) { return open(\"a\" SUFFIX(3), 0); }").contains("#define SUFFIX(...)"));
    let source = "int f(int c) { switch (c) { case KEY: return 1; case F(2): return c == F(2); } return 0; }";
    check(&[("a.c", source)], &["f"], &[]);
    let parsed = parse(&MemoryTree::new([("a.c", source)]), Path::new("a.c"), &Options::default()).unwrap();
    assert_eq!(parsed.labels, [Arc::from("F(2)"), Arc::from("KEY")]);
    assert_eq!(parsed.invented.in_function("f"), [Arc::from("F(2)"), Arc::from("KEY")]);
}

#[test]
fn unknown_names_that_are_no_variables_are_constants() {
    let is_constant = |body: &str, name: &str| {
        let made = read(body).prelude;
        let [constant, variable] =
            ["const ", ""].map(|word| made.contains(&format!("extern {word}int {name};\n")));
        assert!(constant != variable, "{body}\n{made}");
        constant
    };
    // Found in yajl 263adf5: they begin as their type, whose values are never followed, is called.
    assert!(is_constant("int f(void) { status s = get(); return s == status_ok; }", "status_ok"));
    assert!(is_constant(
        "int f(void *p) { gen g = (gen)p; return gen_status_ok == get(g); }",
        "gen_status_ok"
    ));
    assert!(is_constant("int f(enum json_type t) { return t == json_type_null; }", "json_type_null"));
    // Other names say nothing.
    assert!(!is_constant("int f(void) { status s = get(); return s == statuses; }", "statuses"));
    assert!(!is_constant("int f(void) { status_t s = get(); return s == status_ok; }", "status_ok"));
    assert!(!is_constant("int f(base *p) { p->n = 1; return p->n == base_count; }", "base_count"));
    assert!(!is_constant("int f(u8 n) { return n + u8_count; }", "u8_count"));
    // What is written, whose address is taken, or what is followed is none.
    let uses = [
        "status_ok = 1",
        "status_ok |= 1",
        "status_ok++",
        "--status_ok",
        "get(&status_ok)",
        "get(*status_ok)",
    ];
    for used in uses {
        let body = format!("int f(void) {{ status s = get(0); {used}; return s == status_ok; }}");
        assert!(!is_constant(&body, "status_ok"));
    }
}

/// Parses one file without an error, and says whether its function `f` rests on guesses.
fn check_guess(source: &str, declared: &str, named: &[&str]) {
    let prelude = prelude(source);
    assert!(prelude.contains(declared), "{source}\n{prelude}");
    let parsed = parse(&MemoryTree::new([("a.c", source)]), Path::new("a.c"), &Options::default()).unwrap();
    let found: Vec<_> = parsed.invented.in_function("f").iter().map(|n| &**n).collect();
    assert_eq!(found, named, "{source}");
}

#[test]
fn what_a_missing_header_declares_is_guessed() {
    // Qualified structures, enumerations, results that are followed, texts, lengths.
    check_guess("int f(const struct s *p) { return p->a; }", "struct s {", &["s"]);
    check_guess("int f(void) { enum e x = 1; return x; }", "enum e {", &["e"]);
    check_guess("int f(void) { return *name(3) == 'a'; }", "char *name();", &["name"]);
    check_guess("int f(void) { return name(3)[1]; }", "char *name();", &["name"]);
    check_guess("int f(void) { return at(3)->a + at(2)->b; }", "*at();", &["at"]);
    check_guess("char *f(int c, char *p) { return c ? name(c) : p; }", "char *name();", &["name"]);
    check_guess("char *f(int c, char *p) { return c ? NAME : p; }", "#define NAME", &["NAME"]);
    check_guess("char *p = NAME; int f(void) { return *p; }", "#define NAME", &["p"]);
    check_guess(
        "struct t { int n[MANY]; }; int f(struct t *p) { return p->n[0] + MANY; }",
        "extern const int MANY;",
        &["MANY", "t"],
    );
    check_guess("extern __typeof__(g) *h; int f(int x) { return h(x); }", "long g();", &["h"]);
    // A macro's call without a semicolon before a declaration.
    let cleanup =
        "typedef struct t T;\nDEFINE_CLEANUP(T, t_free)\ntypedef int number;\nint f(number n) { return n; }";
    check_invented(cleanup, &["f"], &[], &["DEFINE_CLEANUP"]);
    // `(a->b)->c`, as macros write it.
    check_members(
        "int f(T *p) { return (p->a)->b; }",
        "__invdiff_unknown_T",
        "struct __invdiff_unknown_T_a *a",
    );
    // The name behind a tag is the parameter's.
    check_invented(
        "int f(int a, enum kind type, T *p) { return a + type; } enum kind { A };",
        &["f"],
        &["T"],
        &[],
    );
    // A header that is read for another name may define it.
    check_guess("int f(struct ifreq *p) { return IFF_UP + p->ifr_flags; }", "#ifndef IFF_UP", &[]);
}

#[test]
fn macros_that_are_given_types_are_guessed() {
    check_guess(
        "int f(int n) { char b[BOUND (long)]; b[0] = n; return b[0]; }",
        "#define BOUND(a0) BOUND(#a0)",
        &["BOUND"],
    );
    check_guess(
        "struct t { int a; }; int f(void *p, int n) { return MAKE(n, struct t, 2) + MAKE(3, struct t, n); }",
        "#define MAKE(a0, a1, a2) MAKE(a0, #a1, a2)",
        &["MAKE"],
    );
    check_guess("int f(int n) { return n + alignof(long); }", "#define alignof _Alignof", &[]);
    let member =
        "struct t { int a, b; }; int f(int *p) { struct t *q = container_of(p, struct t, b); return q->a; }";
    check_guess(member, "#define container_of(p, T, m)", &[]);
    let asserted = "int f(int n) { static_assert(alignof(struct statv) % alignof(word) == 0); return n; }";
    check_guess(asserted, "#define static_assert(...)", &[]);
    // It may give a type, or be the head of a loop.
    check_guess("int f(void) { PTR(struct t) p = g(); return p->a; }", "#define PTR(T) T", &["t"]);
}

fn read(source: &str) -> Parsed {
    parse(&MemoryTree::new([("a.c", source)]), Path::new("a.c"), &Options::default()).unwrap()
}

#[test]
fn macros_before_members_and_pointers_to_functions_stand_for_nothing() {
    let parsed = read(
        "struct t { int n; };\nstruct s {\n    int a;\n    WARN(\"no\" \"use\")\n    ALIGNED(LINE) struct t first;\n    \
         ALIGNED(64) struct t last; };\n\
         extern EXPORT void (*hook)(int);\n\
         int f(struct s *p) { hook(p->a); return p->first.n + p->last.n; }",
    );
    for name in ["WARN(...)", "ALIGNED(...)", "EXPORT"] {
        assert!(parsed.prelude.contains(&format!("#define {name}")), "{}", parsed.prelude);
    }
    assert!(!parsed.diagnostics.iter().any(|d| d.severity.is_fatal()), "{:?}", parsed.diagnostics);
    // What is never closed, or stands behind what is wrong, has an end all the same.
    read("struct s { int a 1; };\nBEGIN(x)\nint f(void) { return 1; }");
    read("struct s { int a; ALIGNED(64; };\nint f (int n) { return n; }\nstruct u { A(");
    read("int a[] = { 1 } } ;\nA(2) int b;\n; B(");
}

#[test]
fn types_of_functions_are_declared_in_brackets() {
    let parsed = read(
        "typedef void(update)(int *);\nextern update *MUTABLE renew;\n\
         int f(int n) { renew(&n); return n; }",
    );
    assert!(!parsed.prelude.contains("update"), "{}", parsed.prelude);
    assert!(parsed.prelude.contains("#define MUTABLE"), "{}", parsed.prelude);
    assert!(!parsed.diagnostics.iter().any(|d| d.severity.is_fatal()), "{:?}", parsed.diagnostics);
    // The type was unknown in the first pass.
    let parsed = read(
        "MAKE_THEM(int, i)\ntypedef void(update)(int *);\nextern update *renew;\n\
         int f(int n) { renew(&n); return n; }",
    );
    assert!(!parsed.prelude.contains("update"), "{}", parsed.prelude);
}

#[test]
fn an_object_may_have_a_macro_before_its_name() {
    let object =
        "struct map SECTION(\"maps\") m = { .type = 3, .size = 4 };\nint f(void) { return look(&m); }";
    let parsed = read(object);
    assert!(parsed.prelude.contains("#define SECTION(...)"), "{}", parsed.prelude);
    assert!(!parsed.prelude.contains("#define m"), "{}", parsed.prelude);
}

/// `u16` where no header says what it is.
#[test]
fn numbers_are_known_by_their_names() {
    let source = "struct r { ev_uint16_t port; }; int f(ev_uint16_t *n, struct r *r) { ev_uint16_t v = *n % 7; r->port = v & 3; return v | *n; }";
    check_guess(source, "typedef unsigned short ev_uint16_t;", &["ev_uint16_t", "r"]);
}

#[test]
fn marks_behind_a_prototype_are_no_functions() {
    let source = "FTS *\nopen_it (char *const *, int, int (*) (const ENT **, const ENT **))\n  PURE FREED_BY (close_it, 1)\n  NONNULL ((1)) RETURNS_NONNULL;\nint f(char **a) { FTS *p = open_it (a, 1, 0); return p->n; }";
    check(&[("a.c", source)], &["f"], &[]);
}

/// Of the C library's functions, too, a project may have its own.
#[test]
fn a_prototype_is_guessed_where_calls_fit_it() {
    check(&[("a.c", "int f(int n) { error(\"no such %d\", n); return n; }")], &["f"], &[]);
    assert!(prelude("int f(int n) { error(1, 0, \"no such %d\", n); return n; }").contains("error("));
    assert!(!prelude("int f(int n) { error(\"no such %d\", n); return n; }").contains("error("));
}

#[test]
fn something_lies_at_an_address() {
    check_guess(
        "int f(void) { add(&table); return 1; }",
        "extern struct __invdiff_unknown_table table;",
        &["table"],
    );
}

/// One that is called in one place, and handed on in another.
#[test]
fn functions_are_known_by_their_calls() {
    check_guess("int f(int n) { apply(each, n); each(n); return n; }", "long each();", &["each"]);
}

#[test]
fn functions_are_declared_before_their_uses() {
    let source =
        "int f(char *p) { return g(p) + call(h); } static char *g(char *p) { return p; } void h(int x) { }";
    check(&[("a.c", source)], &["g", "h", "f"], &[]);
    let parsed = parse(&MemoryTree::new([("a.c", source)]), Path::new("a.c"), &Options::default()).unwrap();
    assert!(parsed.invented.names.is_empty(), "{:?}", parsed.invented);
    let kinds: Vec<_> = parsed.items.iter().map(|i| i.declares.join(" ")).collect();
    assert_eq!(kinds, ["f", "g", "h"]);
}

#[test]
fn one_file_has_options_of_its_own() {
    let mut own = FileOptions { include_dirs: vec!["inc".into()], ..FileOptions::default() };
    own.quote_dirs.push("q".into());
    own.system_dirs.push("sys".into());
    for (name, value) in [("A", None), ("B", Some("2")), ("C", Some("3"))] {
        own.define(name, value.map(str::to_owned));
    }
    own.undefine("D");
    let files = Arc::new(BTreeMap::from([(PathBuf::from("a.c"), Arc::new(own))]));
    let defines = vec![("B".to_owned(), Some("20".to_owned())), ("D".to_owned(), None)];
    let options = Options { defines, undefines: vec!["C".to_owned()], files, ..Options::default() };
    let of = options.of(Path::new("a.c"));
    let named = |n: &str, v: Option<&str>| (n.to_owned(), v.map(str::to_owned));
    assert_eq!(of.defines, [named("A", None), named("B", Some("20")), named("D", None)]);
    assert_eq!(of.undefines, ["C"]);
    assert_eq!(*options.of(Path::new("b.c")), options);

    let source = "#include \"one.h\"\n#include <two.h>\n#include <stdio.h>\n#ifdef A\nONE f(TWO x, THREE y) { return 0; }\n#endif\n";
    let tree = MemoryTree::new([
        ("a.c", source),
        ("b.c", source),
        ("q/one.h", "typedef int ONE;"),
        ("inc/two.h", "typedef int TWO;"),
        ("sys/stdio.h", "typedef int THREE;"),
    ]);
    let parsed = |path: &str| parse(&tree, Path::new(path), &options).unwrap();
    let (a, b) = (parsed("a.c"), parsed("b.c"));
    assert!(a.is_clean() && a.invented.names.is_empty(), "{:?}", a.diagnostics);
    assert_eq!(
        (a.items.iter().filter(|i| matches!(i.kind, ItemKind::Function { .. })).count(), b.lost.len()),
        (1, 0)
    );
    assert!(!b.items.iter().any(|i| matches!(i.kind, ItemKind::Function { .. })));
    let key = |options: &Options| unit_key(&tree, Path::new("a.c"), &a.reads, options);
    assert_ne!(key(&options), key(&Options { files: Arc::default(), ..options.clone() }));
}

#[test]
fn a_configuration_that_is_copied_stands_for_its_copy() {
    let source = "#include \"config.h\"\nint f(void) { return level; }\n";
    let parse = |files: &[(&str, &str)]| {
        let tree = MemoryTree::new(files.iter().copied());
        super::parse(&tree, Path::new("src/a.c"), &Options::default()).unwrap()
    };
    let own = parse(&[("src/a.c", source), ("config.def.h", "static int level = 3;\n")]);
    assert!(own.is_clean(), "{:?}", own.diagnostics);
    let item = &own.items[0];
    let place = own.place(own.tokens[item.tokens.start].report_span()).unwrap();
    assert_eq!((place.file.as_path(), place.line), (Path::new("config.def.h"), 1));
    // The file itself, where it is there.
    let both = parse(&[("src/a.c", source), ("config.def.h", "int other;\n"), ("config.h", "int level;\n")]);
    assert!(both.is_clean());
    assert!(!parse(&[("src/a.c", source), ("other.def.h", "int level;\n")]).is_clean());
}
/// Words of a pragma are none of the code, wherever it stands: nothing is guessed of them.
#[test]
fn pragmas_tell_nothing_about_macros_nobody_defined() {
    let source = |pragma: &str| {
        format!(
            "typedef struct {{ int a; }} mem;\nstatic\n{pragma}mem const none = {{ 0 }};\nint f(U64 x) {{ const U64 n = ((U64)1) << 3; return x + n + none.a; }}\n"
        )
    };
    let plain = prelude(&source(""));
    assert!(plain.contains("U64"), "{plain}");
    for pragma in [
        "#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Wall\"\n",
        "#pragma message(\"mem\")\n",
        "_Pragma(\"clang diagnostic ignored \\\"-Wall\\\"\")\n",
    ] {
        assert_eq!(prelude(&source(pragma)), plain, "{pragma}");
    }
}

#[test]
fn invented_numbers_have_the_width_that_their_names_say() {
    let widths = [
        ("U64", "unsigned long"),
        ("u64", "unsigned long"),
        ("le16", "unsigned short"),
        ("gint64", "long"),
        ("my_uint8_t", "unsigned char"),
        ("s8", "signed char"),
        ("QWORD", "unsigned long"),
        ("mode64", "int"),
        ("point", "int"),
        ("int128", "int"),
    ];
    for (name, ty) in widths {
        let made = prelude(&format!("{name} f({name} a) {{ {name} b = a + 1; return b; }}"));
        assert!(made.contains(&format!("typedef {ty} {name};\n")), "{name}: {made}");
    }
    let made = prelude("DWORD f(DWORD a) { DWORD b = a + 1; return b; }");
    assert_eq!(made, "#include <windows.h>\n");
}

#[test]
fn conversions_of_members_say_nothing_of_the_type() {
    let source = |operand: &str| {
        format!(
            "struct s {{ char *text[4]; }};\nvoid free(void *);\nvoid f(struct s *p) {{ letters k = 1; free((letters *){operand} - k); }}\n"
        )
    };
    assert!(
        prelude(&source("p->text[1]")).contains("typedef int letters;"),
        "{}",
        prelude(&source("p->text[1]"))
    );
    let made = prelude("int f(void *p) { return ((letters *)p)->first; }\n");
    assert!(made.contains("typedef struct __invdiff_unknown_letters letters;"), "{made}");
}

#[test]
fn words_of_calling_conventions_stand_for_nothing() {
    let source = "typedef int (__cdecl *reset)(int h);\nstatic struct { reset again; } all;\nint f(int h) { return all.again(h); }\n";
    assert!(prelude(source).contains("#define __cdecl\n"), "{}", prelude(source));
}

#[test]
fn unknown_functions_give_the_structures_that_are_wanted() {
    let head =
        "struct insn { int code; };\nstruct gen { int n; };\nvoid emit(struct gen *g, struct insn i);\n";
    let made = |function: &str| prelude(&format!("{head}{function}\n"));
    let wanted = "struct insn; struct insn MOV();\n";
    for function in [
        "void f(struct gen *g) { emit(g, MOV(1, 2)); }",
        "int f(void) { struct insn x = MOV(3, 4); return x.code; }",
        "struct insn f(int n) { return MOV(n); }",
    ] {
        assert_eq!(made(function), wanted, "{function}");
    }
    // A pointer to one is another matter.
    assert!(!made("void f(void) { struct insn *x = MOV(3); (void)x; }").contains("struct insn MOV"));
}

/// A type of the library that a cast and `sizeof` name is no object, too.
#[test]
fn a_type_of_the_library_is_no_object() {
    let made = prelude(
        "int f(Elf64_Sym *s) { return s->st_size != sizeof(Elf64_Sym) && (Elf64_Sym *)s->st_value; }\n",
    );
    assert_eq!(made, "#include <elf.h>\n");
}

/// A header of the project that is missing includes those of the library, most likely.
#[test]
fn constants_of_the_library_are_what_they_are() {
    let made = prelude("int f(int fd) { char t[PATH_MAX]; t[0] = fd == EINTR; return t[0]; }\n");
    assert_eq!(made, "#include <errno.h>\n#include <limits.h>\n");
}

/// Everything about a unit that does not depend on how names are numbered.
fn shown(parsed: &Parsed) -> String {
    let text = parsed.text();
    let places = |(i, t): (usize, &Tok)| format!("{} {:?} {:?}", text.at(i), t.span, parsed.place(t.span));
    let tokens: Vec<String> = parsed.tokens.iter().enumerate().map(places).collect();
    let lists = (&parsed.items, &parsed.lost, &parsed.invented, &parsed.labels, &parsed.reads);
    format!("{tokens:?} {lists:?} {} {:?}", parsed.prelude, parsed.diagnostics)
}

#[test]
fn one_pass_gives_what_all_passes_do() {
    let sources = [
        "int f(void) { return 1; }",
        "API T f(T *a) { return a->b ? a->c.d : v[1]; }\nint g(void) { return h(1)->x; }",
        "START_TEST(a) { } END_TEST\nSTART_TEST(b) { } END_TEST\nint f(void) { list_each(x, y) { f(); } return 0; }",
        "STACK_OF(T) *s; int f(int n) { switch (n) { case L(5): return EINTR; } return alignof(T) + BOUND(struct s); }",
        "#include \"e.h\"\nint f(void) { char *s = DIR \"/\"; enum e x = g(s); return open(s, x); }\nint g(char *s) { return *s; }",
        "int a[SIZE];\nDWORD f(struct stat *p) { return p->st_size + sizeof(wchar_t); }\nva_list v;",
        // The header is read where the macro is defined, which the best pass may do without.
        "#ifdef API\n#include \"e.h\"\n#endif\nAPI int f(void) { return 1; }",
        "#ifndef API\n#include \"e.h\"\n#endif\nAPI int f(void) { return 1; }",
    ];
    for source in sources {
        let tree = MemoryTree::new([("a.c", source), ("e.h", "enum e { A };\n")]);
        let (path, options) = (Path::new("a.c"), Options::default());
        let all = parse(&tree, path, &options).unwrap();
        let files = TreeFiles::new(&tree, path, false);
        let opts = session_options(path, &options, &survey::survey(&files, path, &options));
        let tried = serde_json::to_string(&try_here(&tree, path, &options).unwrap()).unwrap();
        let unit = Unit { files: &files, path, opts: &opts };
        let one = in_one_pass(unit, serde_json::from_str(&tried).unwrap()).unwrap();
        assert_eq!(shown(&one), shown(&all));
        assert!(one.reads.iter().any(|(path, _)| path == Path::new("e.h")) == source.contains("e.h"));
    }
}

/// What is a member by value of a structure, or a variable, has a size, though the headers here do not say which.
#[test]
fn structures_that_are_declared_only_and_held_by_value_are_invented() {
    let uses = "int f(struct dec *d) { use(&d->model); return d->loaded; }\n";
    let held =
        "typedef struct Model Model; void use(const Model *);\nstruct dec { int loaded; Model model; };\n";
    check_invented(&format!("{held}{uses}"), &["f"], &["Model", "dec"], &[]);
    let held =
        "struct Model; void use(const struct Model *);\nstruct dec { int loaded; struct Model model; };\n";
    check_invented(&format!("{held}{uses}"), &["f"], &["Model", "dec"], &[]);
    let variable = "typedef struct Model Model; void use(Model *); void f(void) { Model m; use(&m); }\n";
    check_invented(variable, &["f"], &["Model"], &[]);
}
