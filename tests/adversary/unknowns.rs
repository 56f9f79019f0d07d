//! Effects that are not understood: equal only if their text, operands, types and what they may read are
//! equal; builtins and atomics that are modelled.

use super::kit::Pair;

/// An edit of something that is not modelled: every command tells of it, and the strict check stops.
#[track_caller]
fn open(old: &str, new: &str) {
    let pair = Pair::new(old, new);
    pair.is_a_change_of("a.c:f");
    pair.says("check --strict HEAD~1..HEAD", 3, &["not fully analysed"], &[]);
    let report = pair.json("diff HEAD~1..HEAD");
    let f = report["functions"].as_array().unwrap().iter().find(|f| f["name"] == "f").unwrap();
    assert_eq!((&f["outcome"], &f["complete"]), (&"partly-analysed".into(), &false.into()), "{f}");
    assert!(f["unknowns"].as_array().is_some_and(|u| !u.is_empty()), "{f}");
    pair.says("condition HEAD~1..HEAD", 0, &["verify"], &["harmless: it fails"]);
}

/// The same with one place of a text replaced.
#[track_caller]
fn open_edit(text: &str, from: &str, to: &str) {
    assert!(text.contains(from), "{from}");
    open(text, &text.replacen(from, to, 1));
}

/// An edit of something that is modelled, which changes what a program prints or returns.
#[track_caller]
fn told_edit(text: &str, from: &str, to: &str) {
    assert!(text.contains(from), "{from}");
    let pair = Pair::new(text, &text.replacen(from, to, 1));
    let (old, new) = pair.runs(&[], "5 3\n");
    assert_ne!(old, new, "{text}");
    // No assertion fails, so `condition` may well say that it is harmless.
    pair.says("condition HEAD~1..HEAD", 0, &["f()"], &["no function differs"]);
    pair.says("check --strict HEAD~1..HEAD", 0, &[], &["not fully analysed", "no function changed"]);
    pair.says("blame a.c:f", 0, &["two"], &[]);
    pair.says("diff --effort deep HEAD~1..HEAD", 0, &["a.c  f()"], &["not fully analysed", "open question"]);
    pair.says("diff HEAD~1..HEAD", 0, &["f()", "told"], &["not fully analysed", "open question"]);
}

#[track_caller]
fn equal_edit(text: &str, from: &str, to: &str) {
    assert!(text.contains(from), "{from}");
    Pair::new(text, &text.replace(from, to)).is_no_change();
}

const ASM: &str = "int f(int x)\n{\n    int y = x + 1;\n    int r;\n    __asm__(\"mov %1, %0\" : \"=r\"(r) : \"r\"(y) : \"cc\");\n    return r;\n}\n";
const COMPLEX: &str =
    "double f(double x)\n{\n    _Complex double z = x + 1.0i;\n    z *= 2.0;\n    return __real__ z;\n}\n";
const VECTOR: &str = "typedef int v4 __attribute__((vector_size(16)));\nint f(int x)\n{\n    v4 a = {x, 2, 3, 4};\n    v4 b = a + a;\n    return b[1];\n}\n";

#[test]
fn the_text_of_assembly_counts() {
    open_edit(ASM, "mov %1", "lea 1(%1)");
    open_edit(ASM, "\"cc\"", "\"memory\"");
    open_edit(ASM, "\"=r\"", "\"=&r\"");
    open_edit(ASM, "\"r\"(y)", "\"r\"(x)");
}

#[test]
fn what_it_reads_counts() {
    open_edit(ASM, "x + 1", "x + 2");
    let global = "static int g = 1;\nint f(int x)\n{\n    int r;\n    g = x;\n    __asm__(\"nop\" : \"=r\"(r));\n    return r;\n}\n";
    open_edit(global, "g = x", "g = x + 1");
    // Types and layouts, too.
    open_edit(ASM, "int y", "long y");
    let record = "struct s { int a; int b; };\nint f(struct s *p)\n{\n    int r;\n    __asm__(\"mov %1, %0\" : \"=r\"(r) : \"m\"(*p));\n    return r;\n}\n";
    open_edit(record, "int a; int b;", "int b; int a;");
}

/// Prints what `f` makes of a number.
const PRINTED: &str = "#include <stdio.h>\nint main(void) { printf(\"%g\\n\", (double)f(2)); return 0; }\n";

#[test]
fn complex_numbers_and_vectors_are_compared() {
    let complex = format!("{COMPLEX}{PRINTED}");
    told_edit(&complex, "*= 2.0", "*= 3.0");
    told_edit(&complex, "__real__", "__imag__");
    // Nobody looks at this part.
    equal_edit(&complex, "1.0i", "2.0i");
    let vector = format!("{VECTOR}{PRINTED}");
    told_edit(&vector, "a + a", "a - a");
    told_edit(&vector, "b[1]", "b[2]");
    told_edit(&vector, "2, 3", "3, 3");
}

/// Parts that are beyond a model: what a library function without one is given and gives.
#[test]
fn conditions_results_and_initialisers_are_compared() {
    let start = "double cabs(_Complex double);\n";
    let condition = format!(
        "{start}int f(double x)\n{{\n    if (cabs(x + 1.0i) > 1.0)\n        return 1;\n    return 2;\n}}\n"
    );
    open_edit(&condition, "> 1.0", "> 2.0");
    open_edit(&condition, "1.0i", "2.0i");
    let wide = format!(
        "{start}int f(double x)\n{{\n    switch ((int)cabs(x)) {{ case 1: return 3; default: return 4; }}\n}}\n"
    );
    open_edit(&wide, "cabs(x)", "cabs(x * 2.0)");
    let loops = format!(
        "{start}int f(double x)\n{{\n    int n = 0;\n    while (cabs(x) > n)\n        n++;\n    return n;\n}}\n"
    );
    open_edit(&loops, "> n", ">= n");
    let asserted = "#include <assert.h>\nint f(_Complex double z)\n{\n    double r = __real__ z;\n    assert(!(r > 0) || r > -1.0);\n    return 2;\n}\n";
    let pair = Pair::new(asserted, &asserted.replacen("r > -1.0", "r > 1.0", 1));
    pair.is_a_change_of("a.c:f");
}

/// What a statement expression may do: leave by a jump.
#[test]
fn a_jump_out_of_what_is_not_modelled_is_seen() {
    let complex = "int f(int x)\n{\n    int y = ({ _Complex double z = x; if (__real__ z > 1.0) return 7; __imag__ z > 1.0; });\n    return y * 0;\n}\n";
    told_edit(&format!("{complex}{PRINTED}"), "return 7", "return 8");
    let text = "int f(int x)\n{\n    int y = ({ int z; __asm__(\"mov %1, %0\" : \"=r\"(z) : \"r\"(x)); if (z > 3) return 7; z > 1; });\n    return y * 0;\n}\n";
    open_edit(text, "return 7", "return 8");
    let pair = Pair::new(text, &text.replacen("y * 0", "y * 0 + 0", 1));
    let (_, out, _) = pair.run("diff HEAD~1..HEAD -v");
    assert!(!out.contains("\\result == 0"), "{out}");
    let goes = "int f(int x)\n{\n    __asm__ goto(\"jmp %l0\" : : : : away);\n    return 1;\naway:\n    return 2;\n}\n";
    open_edit(goes, "jmp %l0", "nop # %l0");
    let pair = Pair::new(goes, &goes.replacen("return 1", "return 1 + 0", 1));
    let (_, out, _) = pair.run("diff HEAD~1..HEAD -v");
    assert!(!out.contains("\\result == 1"), "{out}");
}

/// A function that only something unknown names is called by it.
#[test]
fn callees_of_what_is_not_modelled_count() {
    let text = "double cabs(_Complex double);\nstatic int g(int x)\n{\n    for (int i = 0; i < x; i++)\n        x += 3;\n    return x;\n}\ndouble f(int x)\n{\n    return cabs(g(x) + 1.0i);\n}\n";
    let pair = Pair::new(text, &text.replacen("+= 3", "+= 4", 1));
    let (_, out, _) = pair.run("condition HEAD~1..HEAD");
    assert!(out.contains("f()") && out.contains("verify"), "{out}");
}

#[test]
fn equal_unknowns_are_no_change() {
    for text in [ASM, COMPLEX, VECTOR] {
        equal_edit(text, "    ", "        ");
        equal_edit(text, "return", "/* so */ return");
    }
    equal_edit(ASM, "y", "renamed");
    equal_edit(COMPLEX, "z", "renamed");
    equal_edit(VECTOR, "v4 b = a + a;\n    return b", "v4 c = a + a;\n    return c");
    let used = "#define TWICE(e) e *= 2.0\ndouble f(double x)\n{\n    _Complex double z = x;\n    TWICE(z);\n    return __real__ z;\n}\n";
    equal_edit(used, "TWICE(z)", "z *= 2.0");
}

/// Assembly without code keeps a compiler from moving things, and nothing else.
#[test]
fn barriers_do_nothing() {
    let text = "int f(int x)\n{\n    __asm__ volatile(\"\" : \"+r\"(x) : : \"memory\");\n    return x + 1;\n}\nint main(void) { return f(1); }\n";
    told_edit(text, "x + 1", "x + 2");
}

#[test]
fn bits_are_modelled() {
    let main = "\n#include <stdio.h>\nint main(void) { unsigned x; if (scanf(\"%u\", &x) != 1) x = 12; printf(\"%d\\n\", f(x)); return 0; }\n";
    let f = |body: &str| format!("int f(unsigned x)\n{{\n    {body}\n}}{main}");
    told_edit(&f("return __builtin_popcount(x & 1);"), "x & 1", "x");
    told_edit(&f("return __builtin_parity(x | 2);"), "| 2", "| 1");
    told_edit(&f("return x ? __builtin_clz(x) : 32;"), "clz", "ctz");
    told_edit(&f("return __builtin_ffs(x);"), "ffs", "clrsb");
    told_edit(&f("return __builtin_bswap32(x) >> 24;"), ">> 24", ">> 8");
    told_edit(&f("return __builtin_popcountll(x + 1ull);"), "1ull", "2ull");
}

#[test]
fn overflow_is_modelled() {
    let main =
        "\n#include <stdio.h>\nint main(void) { printf(\"%d %d\\n\", f(100, 200), f(1, 2)); return 0; }\n";
    let f = |op: &str, ty: &str| {
        format!(
            "int f(int a, int b)\n{{\n    {ty} r;\n    if (__builtin_{op}_overflow(a, b, &r))\n        return -1;\n    return r;\n}}{main}"
        )
    };
    told_edit(&f("add", "unsigned char"), "unsigned char", "short");
    told_edit(&f("mul", "short"), "mul", "sub");
    told_edit(&f("mul", "signed char"), "return -1", "return -2");
}

#[test]
fn atomics_are_modelled() {
    let main = "\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", f(4)); return 0; }\n";
    let f = |body: &str| format!("static int a = 4;\nint f(int x)\n{{\n    {body}\n}}{main}");
    told_edit(&f("return __sync_fetch_and_add(&a, x);"), "fetch_and_add", "add_and_fetch");
    told_edit(&f("__atomic_store_n(&a, x, 5); return a;"), "x, 5", "x + 1, 5");
    told_edit(
        &f("int e = 4; if (__atomic_compare_exchange_n(&a, &e, 9, 0, 5, 5)) return a; return e;"),
        "9, 0",
        "8, 0",
    );
    told_edit(&f("_Atomic int n = x; n += 2; return n++;"), "n++", "++n");
}

#[test]
fn a_left_out_middle_is_evaluated_once() {
    let text = "static int n;\nstatic long g(void) { return ++n; }\nint f(void)\n{\n    n = 0;\n    long a = g() ?: 5;\n    return n * 10 + a;\n}\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", f()); return 0; }\n";
    told_edit(text, "n * 10", "n * 20");
    let pair = Pair::new(text, &text.replacen("+ a", "+ a + 0", 1));
    pair.says("diff HEAD~1..HEAD", 0, &["no semantic change"], &[]);
}

#[test]
fn generic_selection_reads_the_value() {
    let text = "int f(void)\n{\n    const char c = 1;\n    char t[3];\n    return _Generic(c, char: 1, default: 2) * 10 + _Generic(t, char *: 3, default: 4);\n}\nint main(void) { return f(); }\n";
    told_edit(text, "char: 1", "char: 5");
    let dead = Pair::new(text, &text.replacen("default: 2", "default: 6", 1));
    dead.is_no_change();
}

/// Two versions of a program that run differently: told or open, never denied.
#[track_caller]
fn undenied(text: &str, from: &str, to: &str) {
    assert!(text.contains(from), "{from}");
    let pair = Pair::new(text, &text.replacen(from, to, 1));
    let (old, new) = pair.runs(&[], "");
    assert_ne!(old, new, "{text}");
    let denials = [
        ("diff", "no semantic change"),
        ("check", "no function changed"),
        ("condition", "no function differs"),
    ];
    for (command, denial) in denials {
        let (_, out, err) = pair.run(&format!("{command} HEAD~1..HEAD"));
        assert!(!out.contains(denial), "{command}\n{out}\n{err}");
    }
    let report = pair.json("diff HEAD~1..HEAD");
    assert!(!report["functions"].as_array().unwrap().is_empty(), "{report}");
}

const TABLE: &str = "int f(int a, int b)\n{\n    static void *const table[] = {&&zero, &&one, &&two};\n    int r = 0;\n    goto *table[(unsigned)a % 3u];\nzero: r = 1; goto end;\none: r = b & 63; goto end;\ntwo: r = -1;\nend:\n    return r;\n}\n#include <stdio.h>\nint main(void) { printf(\"%d %d %d\\n\", f(0, 9), f(1, 9), f(2, 9)); return 0; }\n";

#[test]
fn labels_are_values() {
    told_edit(TABLE, "&&one, &&two", "&&two, &&one");
    told_edit(TABLE, "r = 1;", "r = 2;");
    told_edit(TABLE, "b & 63", "b & 1");
    equal_edit(TABLE, "r = -1", "r = 1 - 2");
    let chosen = "int f(int a)\n{\n    void *p = a > 0 ? &&pos : &&neg;\n    int r = 0;\nagain:\n    goto *p;\npos:\n    if (r++ < a) { p = a > 7 ? &&neg : &&pos; goto again; }\n    return r;\nneg:\n    return -1;\n}\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", f(5) + f(8)); return 0; }\n";
    told_edit(chosen, "a > 7", "a > 4");
    // Where they are reckoned with nothing is known, and all is compared.
    let apart = "int f(int a)\n{\n    static const int jumps[] = {&&one - &&one, &&two - &&one};\n    goto *(&&one + jumps[a & 1]);\none: return 1;\ntwo: return 2;\n}\nint main(void) { return f(1); }\n";
    undenied(apart, "&&one - &&one, &&two - &&one", "&&two - &&one, &&one - &&one");
    undenied(apart, "return 2", "return 3");
}

#[test]
fn initial_values_that_do_not_fold_are_not_zero() {
    let complex = "static const _Complex double z = 1.0 + 2.0i;\nint f(int a)\n{\n    return (int)__imag__ z + a;\n}\nint main(void) { return f(1); }\n";
    undenied(complex, "2.0i", "3.0i");
    let part = "static const _Complex double z[2] = {1, 3 + 2.0i};\nint f(void)\n{\n    return *((double *)z + 2) > 3.5;\n}\nint main(void) { return f(); }\n";
    undenied(part, "3 + 2.0i", "4 + 2.0i");
    undenied(part, "> 3.5", "> 2.5");
    // No fact says that what does not fold is zero.
    let beyond = "static int x[9];\nstatic const long at = (long)(&x[3] + 1);\nint f(void)\n{\n    return at > 7;\n}\n";
    let pair = Pair::new(beyond, &beyond.replace("> 7", "> 8"));
    pair.says("diff --all HEAD~1..HEAD", 0, &["a.c  f()"], &["exit, line 6  \\result == 0"]);
    let address = "static int x[9];\nstatic const long at = (long)(&x[3] + 1);\nlong f(void) { return at - (long)x; }\nint main(void) { return (int)f(); }\n";
    undenied(address, "x[3] + 1", "x[3] + 2");
    let literal = "struct p { int a, b; };\nstatic struct p *q = &(struct p){1, 2};\nstatic const char *s = \"hello\" + 1;\nint f(void) { return q->b + s[0]; }\nint main(void) { return f(); }\n";
    undenied(literal, "{1, 2}", "{1, 3}");
    undenied(literal, "\" + 1", "\" + 2");
    let later = "static int x;\nstatic void *t[2] = {[0] = &x, [0] = 0};\nint f(void) { return t[0] == 0; }\nint main(void) { return f(); }\n";
    undenied(later, "[0] = &x, [0] = 0", "[0] = 0, [0] = &x");
}

/// Each access counts, whatever memory holds in the end.
#[test]
fn volatile_accesses_are_seen() {
    let edits = [
        ("int f(volatile int *p) { *p = 1; *p = 2; return 0; }", "*p = 1; ", ""),
        ("volatile int reg; int f(void) { reg; return 1; }", "reg; return", "return"),
        ("int f(volatile int *p) { for (int i = 0; i < 2; i++) *p = 7; return 0; }", "i < 2", "i < 3"),
        ("int f(volatile int *p) { int x = *p; return x - x; }", "x - x", "x - *p"),
        ("int f(volatile int *p, int c) { if (c > 3) (void)*p; return 0; }", "c > 3", "c > 4"),
    ];
    for (text, from, to) in edits {
        let pair = Pair::new(text, &text.replacen(from, to, 1));
        pair.says("diff HEAD~1..HEAD", 0, &[], &["no semantic change"]);
        pair.says("check HEAD~1..HEAD", 0, &[], &["no function changed"]);
    }
    equal_edit("int f(volatile int *p, int a) { *p = a; return a * 2; }", "a * 2", "a + a");
}

/// A half of a complex number goes by the function that gives it.
#[test]
fn halves_of_complex_numbers_have_their_names() {
    for (ty, suffix) in [("double", ""), ("float", "f"), ("long double", "l")] {
        let text = |k: u32| {
            format!(
                "#include <complex.h>\n{ty} re({ty} _Complex z) {{ return creal{suffix}(z) + {k}; }}\n{ty} im({ty} _Complex z) {{ return cimag{suffix}(z) * {k}; }}\n"
            )
        };
        let pair = Pair::new(&text(3), &text(2));
        let (re, im) = (format!("creal{suffix}(z)"), format!("cimag{suffix}(z)"));
        pair.says("diff HEAD~1..HEAD --effort quick", 0, &[&re, &im], &["*)&z"]);
        pair.says("diff HEAD~1..HEAD", 0, &["at exit", &re, &im], &["*)&z"]);
    }
    // Without the header there is no such function.
    let text = |k: u32| format!("double re(double _Complex z) {{ return __real__ z + {k}; }}\n");
    Pair::new(&text(3), &text(2)).says("diff HEAD~1..HEAD --effort quick", 0, &["__real__ z"], &["creal"]);
}
