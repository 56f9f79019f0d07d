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
    pair.says("diff HEAD~1..HEAD", 0, &["a.c  f()"], &["not fully analysed", "open question"]);
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

#[test]
fn complex_numbers_and_vectors_are_compared() {
    open_edit(COMPLEX, "*= 2.0", "*= 3.0");
    open_edit(COMPLEX, "1.0i", "2.0i");
    open_edit(COMPLEX, "__real__", "__imag__");
    open_edit(VECTOR, "a + a", "a - a");
    open_edit(VECTOR, "b[1]", "b[2]");
    open_edit(VECTOR, "2, 3", "3, 3");
}

#[test]
fn conditions_results_and_initialisers_are_compared() {
    let condition =
        "int f(_Complex double z)\n{\n    if (__real__ z > 1.0)\n        return 1;\n    return 2;\n}\n";
    open_edit(condition, "> 1.0", "> 2.0");
    let wide =
        "int f(_Complex double z)\n{\n    switch ((int)z) { case 1: return 3; default: return 4; }\n}\n";
    open_edit(wide, "(int)z", "(int)(z * 2.0)");
    let loops = "int f(_Complex double z)\n{\n    int n = 0;\n    while (__imag__ z > n)\n        n++;\n    return n;\n}\n";
    open_edit(loops, "> n", ">= n");
}

/// What a statement expression that is not modelled may do: leave by a jump.
#[test]
fn a_jump_out_of_what_is_not_modelled_is_seen() {
    let text = "int f(int x)\n{\n    int y = ({ _Complex double z = x; if (__real__ z > 3.0) return 7; __imag__ z > 1.0; });\n    return y * 0;\n}\n";
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
    let text = "static int g(int x)\n{\n    for (int i = 0; i < x; i++)\n        x += 3;\n    return x;\n}\ndouble f(int x)\n{\n    _Complex double z = g(x) + 1.0i;\n    return __real__ z;\n}\n";
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
