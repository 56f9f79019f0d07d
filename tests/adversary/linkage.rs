//! What runs before and after `main`, and which definition a name leads to: constructors, `atexit`,
//! aliases, weak definitions, cleanup, nested functions.

use super::kit::Pair;

impl Pair {
    /// The compiled versions differ, and no command denies a change; `blame` of each function names the
    /// commit.
    #[track_caller]
    fn is_told(&self, functions: &[&str]) {
        let (old, new) = self.runs(&[], "");
        assert_ne!(old, new, "the pair shows nothing");
        for (words, denial) in [
            ("diff HEAD~1..HEAD", "no semantic change"),
            ("check HEAD~1..HEAD", "no function changed"),
            ("condition HEAD~1..HEAD", "no function differs"),
        ] {
            let (_, out, err) = self.run(words);
            assert!(!out.contains(denial), "{words}: {denial}\n{out}\n{err}");
        }
        for function in functions {
            let (_, out, err) = self.run(&format!("blame {function}"));
            assert!(out.contains("two"), "blame {function}\n{out}\n{err}");
        }
    }

    /// The newer version with its facts as assertions, compiled and run, ends as it does without.
    #[track_caller]
    fn keeps_its_facts(&self) {
        let folder = invdiff_testing::scratch();
        let out = folder.path().to_string_lossy().into_owned();
        let (status, said, err) = self.run_words(&["assert", "HEAD", "--output-dir", &out, "--", "*.c"]);
        assert_eq!(status, Some(0), "{said}\n{err}");
        let files = self.newest().iter().map(|(path, text)| {
            let copy = std::fs::read_to_string(folder.path().join(path)).unwrap_or_else(|_| text.clone());
            (path.clone(), copy)
        });
        let files: Vec<(String, String)> = files.collect();
        let (_, plain) = self.runs(&[], "");
        let asserted = super::kit::compile_and_run(&files, &[], "");
        assert_eq!(asserted, plain, "{files:?}");
    }
}

/// A pair of programs of one file, told as changes of these functions.
#[track_caller]
fn check(old: &str, new: &str, functions: &[&str]) -> Pair {
    let pair = Pair::new(old, new);
    pair.is_told(functions);
    pair.keeps_its_facts();
    pair
}

/// The same of a text with one place that differs.
#[track_caller]
fn edit(text: &str, from: &str, to: &str, functions: &[&str]) -> Pair {
    assert!(text.contains(from), "{from}");
    check(text, &text.replacen(from, to, 1), functions)
}

const CONSTRUCTOR: &str = "#include <stdio.h>
static int x = 1;
__attribute__((constructor)) static void init(void) { x = 5; }
int main(void) {
    printf(\"%d\\n\", x);
    return 0;
}
";

#[test]
fn a_constructor_that_is_none_any_more() {
    let pair = edit(CONSTRUCTOR, "__attribute__((constructor)) ", "", &["a.c:init", "a.c:main"]);
    pair.says(
        "diff --effort deep HEAD~1..HEAD",
        0,
        &["what it prints differs", "\"5\\n\" -> \"1\\n\"", "replayed"],
        &[],
    );
    edit(CONSTRUCTOR, "x = 5", "x = 6", &["a.c:init", "a.c:main"]);
    edit(CONSTRUCTOR, "constructor", "destructor", &["a.c:init", "a.c:main"]);
    // Numbers say the order.
    let two = CONSTRUCTOR.replace(
        "int main",
        "__attribute__((constructor(102))) static void more(void) { x = x * 10; }\nint main",
    );
    edit(&two, "(constructor)", "(constructor(101))", &["a.c:init", "a.c:main"]);
    let array = CONSTRUCTOR.replace("__attribute__((constructor)) ", "").replace(
        "int main",
        "__attribute__((section(\".init_array\"), used)) static void (*p)(void) = init;\nint main",
    );
    edit(&array, ".init_array", ".fini_array", &["a.c:main"]);
}

#[test]
fn what_is_printed_after_main() {
    let text = "#include <stdio.h>
#include <stdlib.h>
static int x = 1;
__attribute__((destructor)) static void bye(void) { printf(\"%d\\n\", x); }
int main(void) {
    x = 2;
    return 0;
}
";
    let pair = edit(text, "x = 2", "x = 3", &["a.c:main"]);
    pair.says("diff HEAD~1..HEAD", 0, &["\"2\\n\" -> \"3\\n\"", "replayed"], &[]);
    edit(text, "__attribute__((destructor)) ", "", &["a.c:bye", "a.c:main"]);
    let exits = text.replace("return 0", "exit(0)");
    edit(&exits, "x = 2", "x = 3", &["a.c:main"]);
    edit(&exits, "exit(0)", "_exit(0)", &["a.c:main"]);
}

const AT_EXIT: &str = "#include <stdio.h>
#include <stdlib.h>
static int x = 1;
static void one(void) { printf(\"one %d\\n\", x); }
static void two(void) { printf(\"two %d\\n\", x); }
static void set(void) { atexit(one); }
int main(void) {
    set();
    x = 2;
    return 0;
}
";

#[test]
fn handlers_see_memory_and_print() {
    edit(AT_EXIT, "x = 2", "x = 3", &["a.c:main"]);
    edit(AT_EXIT, "atexit(one)", "atexit(two)", &["a.c:set"]);
    edit(AT_EXIT, "atexit(one)", "(void)0", &["a.c:set"]);
    let pointer = AT_EXIT.replace("atexit(one)", "int (*p)(void (*)(void)) = atexit; p(one); atexit(two)");
    edit(&pointer, "x = 2", "x = 3", &["a.c:main"]);
    let on_exit = AT_EXIT
        .replace("one(void)", "one(int status, void *p)")
        .replace("\\n\\\", x", "\\n\\\", *(int *)p + status")
        .replace("atexit(one)", "on_exit(one, &x)");
    edit(&on_exit, "x = 2", "x = 3", &["a.c:main"]);
    let quick = AT_EXIT
        .replace("atexit(one)", "at_quick_exit(one)")
        .replace("return 0", "fflush(stdout); quick_exit(0)");
    let quick = quick.replace("printf(\"one %d\\n\", x);", "printf(\"one %d\\n\", x); fflush(stdout);");
    edit(&quick, "x = 2", "x = 3", &["a.c:main"]);
    edit(&quick, "quick_exit(0)", "exit(0)", &["a.c:main"]);
}

#[test]
fn nobody_sees_memory_after_a_program_without_handlers() {
    let text = "int x = 1;\nint main(void) {\n    x = 2;\n    return 0;\n}\n";
    let pair = Pair::new(text, &text.replace("x = 2", "x = 3"));
    pair.says("diff HEAD~1..HEAD", 0, &["no semantic change"], &[]);
}

#[test]
fn a_constructor_in_another_file() {
    let main =
        "#include <stdio.h>\nextern int x;\nint main(void) {\n    printf(\"%d\\n\", x);\n    return 0;\n}\n";
    let other = "int x = 1;\n__attribute__((constructor)) void init(void) {\n    x = 7;\n}\n";
    let plain = other.replace("__attribute__((constructor)) ", "");
    let pair = Pair::of(&[("a.c", main), ("b.c", other)], &[("a.c", main), ("b.c", &plain)]);
    pair.is_told(&["b.c:init"]);
    pair.keeps_its_facts();
    // What a run of `main` shows accounts for it.
    let changed = main.replace("%d\\n", "%d!\\n");
    let pair = Pair::of(&[("a.c", main), ("b.c", other)], &[("a.c", &changed), ("b.c", other)]);
    pair.is_told(&["a.c:main"]);
    pair.keeps_its_facts();
}

#[test]
fn an_alias_of_another_function() {
    let text = "#include <stdio.h>
int one(int v) { return v + 1; }
int two(int v) { return v + 2; }
int g(int v) __attribute__((alias(\"one\")));
int f(int v) {
    return g(v) * 3;
}
int main(void) {
    printf(\"%d\\n\", f(4));
    return 0;
}
";
    edit(text, "alias(\"one\")", "alias(\"two\")", &["a.c:f"]);
    edit(text, "v + 1", "v + 5", &["a.c:one"]);
    let weak = text.replace("alias(\"one\")", "weak, alias(\"one\")");
    edit(&weak, "alias(\"one\")", "alias(\"two\")", &["a.c:f"]);
    edit(&weak, "v + 1", "v + 5", &["a.c:one"]);
    let reference = text.replace(
        "int g(int v) __attribute__((alias(\"one\")));",
        "static int g(int v) __attribute__((weakref(\"one\")));",
    );
    edit(&reference, "weakref(\"one\")", "weakref(\"two\")", &["a.c:f"]);
    let data = "#include <stdio.h>
int one = 1, two = 2;
extern int g __attribute__((alias(\"one\")));
int f(void) {
    one = 5;
    g = g + 2;
    return one;
}
int main(void) {
    printf(\"%d\\n\", f());
    return 0;
}
";
    edit(data, "alias(\"one\")", "alias(\"two\")", &["a.c:f"]);
}

#[test]
fn a_label_that_leads_elsewhere() {
    let text = "#include <stdio.h>
int one(int v) { return v + 1; }
int two(int v) { return v + 2; }
extern int g(int v) __asm__(\"one\");
int f(int v) {
    return g(v) * 3;
}
int main(void) {
    printf(\"%d\\n\", f(4));
    return 0;
}
";
    edit(text, "__asm__(\"one\")", "__asm__(\"two\")", &["a.c:f"]);
    edit(text, "v + 1", "v + 5", &["a.c:one"]);
    let pragma = text.replace(
        "extern int g(int v) __asm__(\"one\");",
        "extern int g(int v);\n#pragma redefine_extname g one",
    );
    edit(&pragma, "extname g one", "extname g two", &["a.c:f"]);
    // Across files.
    let a = text.replace("int one(int v) { return v + 1; }\nint two(int v) { return v + 2; }\n", "");
    let b = "int h(int v) __asm__(\"one\");\nint h(int v) {\n    return v + 1;\n}\nint two(int v) {\n    return v + 2;\n}\n";
    let new = a.replace("__asm__(\"one\")", "__asm__(\"two\")");
    let pair = Pair::of(&[("a.c", &a), ("b.c", b)], &[("a.c", &new), ("b.c", b)]);
    pair.is_told(&["a.c:f"]);
    pair.keeps_its_facts();
    let changed = b.replace("v + 1", "v + 8");
    let pair = Pair::of(&[("a.c", &a), ("b.c", b)], &[("a.c", &a), ("b.c", &changed)]);
    pair.is_told(&["b.c:h"]);
    pair.keeps_its_facts();
}

#[test]
fn weak_definitions_give_way() {
    let a = "#include <stdio.h>
__attribute__((weak)) int g(int v) { return v + 1; }
int f(int v) {
    return g(v) * 3;
}
int main(void) {
    printf(\"%d\\n\", f(4));
    return 0;
}
";
    let b = "int g(int v) {\n    return v + 2;\n}\n";
    let none = "int unused(int v) {\n    return v - 2;\n}\n";
    let both = |old: (&str, &str), new: (&str, &str), functions: &[&str]| {
        let pair = Pair::of(&[("a.c", old.0), ("b.c", old.1)], &[("a.c", new.0), ("b.c", new.1)]);
        pair.is_told(functions);
        pair.keeps_its_facts();
    };
    both((a, b), (a, &b.replace("v + 2", "v + 3")), &["b.c:g"]);
    both((a, none), (&a.replace("v + 1", "v + 9"), none), &["a.c:g"]);
    both((a, b), (&a.replace("* 3", "* 4"), b), &["a.c:f"]);
    let pragma = a.replace("__attribute__((weak)) ", "#pragma weak g\n");
    both((&pragma, b), (&pragma, &b.replace("v + 2", "v + 3")), &["b.c:g"]);
    // With nothing behind the symbol.
    let hook = "#include <stdio.h>
extern void hook(void) __attribute__((weak));
int f(void) {
    if (hook) return 1;
    return 2;
}
int main(void) {
    printf(\"%d\\n\", f());
    return 0;
}
";
    edit(hook, "return 2", "return 3", &["a.c:f"]);
}

#[test]
fn cleanups_run_where_scopes_end() {
    let text = "#include <stdio.h>
static int seen[8];
static int n;
static void bye(int *p) { seen[n++ & 7] = *p; }
int f(int x) {
    __attribute__((cleanup(bye))) int a = 1;
    for (int i = 0; i < 3; i++) {
        __attribute__((cleanup(bye))) int b = 10 + i;
        if (i == x) break;
        if (i + 5 == x) continue;
        if (x == 9) goto out;
        if (x == 8) return a++;
    }
    a = 3;
out:
    return a;
}
int main(void) {
    for (int x = 0; x < 10; x++) {
        int r = f(x);
        printf(\"%d:%d\", x, r);
        for (int i = 0; i < n; i++) printf(\" %d\", seen[i]);
        n = 0;
        puts(\"\");
    }
    return 0;
}
";
    edit(text, "a = 3", "a = 4", &["a.c:f"]);
    edit(text, "10 + i", "20 + i", &["a.c:f"]);
    edit(text, "__attribute__((cleanup(bye))) int b", "int b", &["a.c:f"]);
    edit(text, "return a++", "return ++a", &["a.c:f"]);
    edit(text, "= *p", "= -*p", &["a.c:bye"]);
}

#[test]
fn nested_functions_write_what_is_around_them() {
    let text = "#include <stdio.h>
int f(int x) {
    int total = 0;
    void add(int k) {
        total += k;
        if (k > 2) goto end;
        total += 100;
    end:
        total += 1;
    }
    int twice(int k) { add(k); return 2 * k; }
    for (int i = 0; i < 4; i++) add(i);
    int r = twice(x);
    return total + r;
}
int main(void) {
    printf(\"%d\\n\", f(3));
    return 0;
}
";
    edit(text, "total += k", "total += 2 * k", &["a.c:f"]);
    edit(text, "return 2 * k", "return 3 * k", &["a.c:f"]);
    edit(text, "k > 2", "k > 1", &["a.c:f"]);
    let pointer = "#include <stdio.h>
static void each(void (*p)(int), int n) { for (int i = 0; i < n; i++) p(i); }
int f(int n) {
    int total = 0;
    void add(int k) { total += k; }
    each(add, n);
    return total;
}
int main(void) {
    printf(\"%d\\n\", f(3));
    return 0;
}
";
    edit(pointer, "total += k", "total += 2 * k", &["a.c:f"]);
    let recursive = text.replace("void add(int k) {", "void add(int k) {\n        if (k > 5) add(k - 3);");
    edit(&recursive, "total += k", "total += 2 * k", &["a.c:f"]);
}

#[test]
fn text_beside_c_is_compared() {
    let text = "#include <stdio.h>
__asm__(\".globl magic\\nmagic:\\n  movl $41, %eax\\n  ret\\n\");
int magic(void);
int f(int v) {
    return magic() + v;
}
int main(void) {
    printf(\"%d\\n\", f(1));
    return 0;
}
";
    edit(text, "$41", "$42", &["a.c:f"]);
    let chosen = "#include <stdio.h>
static int one(int v) { return v + 1; }
static int two(int v) { return v + 2; }
typedef int fn(int);
static fn *pick(void) { return one; }
int g(int v) __attribute__((ifunc(\"pick\")));
int f(int v) {
    return g(v) * 3;
}
int main(void) {
    printf(\"%d\\n\", f(4));
    return 0;
}
";
    edit(chosen, "return one", "return two", &["a.c:pick"]);
}

#[test]
fn static_functions_of_one_name_in_several_files() {
    let a = "#include <stdio.h>
int h(int v);
static int g(int v) { return v + 1; }
int f(int v) {
    return g(v) * 3 + h(v);
}
int main(void) {
    printf(\"%d\\n\", f(4));
    return 0;
}
";
    let b = "static int g(int v) {\n    return v + 2;\n}\nint h(int v) {\n    return g(v);\n}\n";
    let changed = b.replace("v + 2", "v + 3");
    let pair = Pair::of(&[("a.c", a), ("b.c", b)], &[("a.c", a), ("b.c", &changed)]);
    pair.is_told(&["b.c:g"]);
    pair.keeps_its_facts();
}

#[test]
fn equal_programs_with_all_of_these() {
    for text in [CONSTRUCTOR, AT_EXIT] {
        let moved = text.replacen("\n", "\n/* moved */\n", 1);
        let pair = Pair::new(text, &moved);
        pair.is_no_change();
        pair.keeps_its_facts();
    }
}

/// A pair of several files of which only some change: no denial, and what `main` is shown to print is what
/// the compiled programs print.
#[track_caller]
fn linked(old: &[(&str, &str)], new: &[(&str, &str)], functions: &[&str]) {
    let pair = Pair::of(old, new);
    pair.is_told(functions);
    let (before, after) = pair.runs(&[], "");
    let (_, out, err) = pair.run("diff HEAD~1..HEAD");
    let printed = |text: &str| text.replace('\n', "\\n");
    let shown = format!("prints \"{}\" -> \"{}\"", printed(&before.stdout), printed(&after.stdout));
    assert!(!out.contains("prints") || out.contains(&shown), "{shown}\n{out}\n{err}");
}

const SHOWS: &str = "#include <stdio.h>
extern int x;
int main(void) {
    printf(\"%d\\n\", x);
    return 0;
}
";

#[test]
fn what_runs_around_main_in_files_that_stay() {
    let shouted = SHOWS.replace("%d", "<%d>");
    let hook = "extern int x;\n__attribute__((constructor)) static void init(void) { x = 7; }\n";
    fn main(text: &str) -> (&str, &str) {
        ("a.c", text)
    }
    let x = ("b.c", "int x = 1;\n");
    linked(&[main(SHOWS), x, ("c.c", hook)], &[main(&shouted), x, ("c.c", hook)], &["a.c:main"]);
    let (header, named) = (
        ("first.h", "#define FIRST __attribute__((constructor))\n"),
        "#include \"first.h\"\nextern int x;\nFIRST static void init(void) { x = 7; }\n",
    );
    linked(
        &[main(SHOWS), x, ("c.c", named), header],
        &[main(&shouted), x, ("c.c", named), header],
        &["a.c:main"],
    );
    // Only the value of an object is elsewhere.
    linked(&[main(SHOWS), x], &[main(&shouted), x], &["a.c:main"]);
    let ends = (
        "c.c",
        "#include <stdio.h>\nextern int x;\n__attribute__((destructor)) static void bye(void) { printf(\"%d\\n\", x); }\n",
    );
    let sets = "extern int x;\nint main(void) {\n    x = 2;\n    return 0;\n}\n";
    linked(&[main(sets), x, ends], &[main(&sets.replace("= 2", "= 3")), x, ends], &["a.c:main"]);
    // The caller of what changes is run with what is around it.
    let calls = (
        "m.c",
        "#include <stdio.h>\nint g(int);\nextern int x;\nint main(void) {\n    printf(\"%d\\n\", g(x));\n    return 0;\n}\n",
    );
    let g = "int g(int v) {\n    return v + 1;\n}\n";
    linked(
        &[main(g), calls, x, ("c.c", hook)],
        &[main(&g.replace("+ 1", "+ 2")), calls, x, ("c.c", hook)],
        &["a.c:g", "m.c:main"],
    );
    // It comes and goes.
    linked(&[main(SHOWS), x, ("c.c", hook)], &[main(SHOWS), x], &["a.c:main"]);
    linked(&[main(SHOWS), x], &[main(SHOWS), x, ("c.c", hook)], &["a.c:main"]);
}

#[test]
fn strong_definitions_that_come_and_go_in_other_files() {
    let a = "#include <stdio.h>
__attribute__((weak)) int g(int v) { return v + 1; }
__attribute__((weak)) int lim = 1;
int f(int v) {
    return g(v) * 3 + lim;
}
int main(void) {
    printf(\"%d\\n\", f(4));
    return 0;
}
";
    let (a, b) = (("a.c", a), "int g(int v) {\n    return v + 2;\n}\nint lim = 2;\n");
    let all = ["a.c:f", "a.c:main"];
    let with = |old: &str, new: &str| linked(&[a, ("b.c", old)], &[a, ("b.c", new)], &all);
    with(b, &b.replace("int g", "int unused"));
    with(b, &b.replace("int g", "int unused").replace("v + 2", "v + 9"));
    with(&b.replace("int g", "int unused"), b);
    with(b, &b.replace("int lim", "int unused"));
    with(b, &b.replace("int lim = 2", "int lim = 3"));
    with(b, &b.replace("v + 2", "v + 3"));
    linked(&[a, ("b.c", b)], &[a], &all);
    // What `main` prints is what the strong ones make of it.
    let changed = a.1.replace("%d", "<%d>");
    linked(&[a, ("b.c", b)], &[("a.c", &changed), ("b.c", b)], &["a.c:main"]);
}

#[test]
fn objects_that_several_files_declare() {
    let shows = SHOWS.replace("extern int x", "int x");
    let changed = shows.replace("%d", "<%d>");
    let b = |value: &str| format!("int x = {value};\n");
    let flags = ["-fcommon"];
    for (old, new) in [((&shows, "5"), (&changed, "5")), ((&shows, "5"), (&shows, "6"))] {
        let pair = Pair::of(&[("a.c", old.0), ("b.c", &b(old.1))], &[("a.c", new.0), ("b.c", &b(new.1))]);
        let (before, after) = pair.runs(&flags, "");
        assert_ne!(before, after);
        let shown = format!("\"{}\" -> \"{}\"", before.stdout, after.stdout).replace('\n', "\\n");
        pair.says("diff --effort deep HEAD~1..HEAD", 0, &[&shown], &[]);
        let (_, out, err) = pair.run("blame a.c:main");
        assert!(out.contains("two"), "{out}\n{err}");
    }
}

#[test]
fn other_names_alone_change_nothing() {
    let renamed = |text: &str| {
        let pair = Pair::new(text, &text.replace("odd", "is_odd").replace("count", "tally"));
        pair.is_no_change();
        pair
    };
    renamed(
        "#include <stdio.h>
static int count(void) { static int n = 3; static const char *t[] = {\"a\", \"b\"}; return n++ + *t[n & 1]; }
static int other(void) { static int n = 3; return n--; }
int f(void) { return count() + other(); }
int main(void) { printf(\"%d\\n\", f()); return 0; }
",
    );
    renamed(
        "#include <stdio.h>
static int odd(int);
static int even(int v) { return v ? odd(v - 1) : 1; }
static int odd(int v) { return v ? even(v - 1) : 0; }
int f(int v) { return even(v); }
int main(void) { printf(\"%d\\n\", f(10)); return 0; }
",
    );
    // Which of two that are alike is called is another matter.
    let two = "#include <stdio.h>
static int a(int v) { static int n; return n += v; }
static int b(int v) { static int n; return n += v; }
int main(void) { printf(\"%d %d\\n\", a(1), a(2)); return b(0); }
";
    edit(two, "a(2)", "b(2)", &["a.c:main"]);
}

#[test]
fn assertions_of_what_nobody_calls_by_name() {
    let text = |register: &str| {
        format!(
            "#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <assert.h>
static int x;
static void on(int s) {{ assert(x == 1); }}
static void end(void) {{ on(0); }}
int main(void) {{
    x = 1;
    {register}
    puts(\"ok\");
    return 0;
}}
"
        )
    };
    for register in ["atexit(end);", "signal(SIGUSR1, on); raise(SIGUSR1);"] {
        let text = text(register);
        let said = ["new or changed that do", "a.c  main()"];
        Pair::new(&text, &text.replace("x == 1", "x == 2")).says("check HEAD~1..HEAD", 0, &said, &[]);
        let worse = text.replace("assert(x", "x++; assert(x");
        let pair = Pair::new(&text, &worse);
        pair.says("check HEAD~1..HEAD", 1, &["1 regression"], &[]);
        // Callers whose text stays are counted apart.
        let (_, out, err) = pair.run("diff HEAD~1..HEAD");
        assert!(!out.contains("in 2 of 1") && !out.contains("in 3 of"), "{out}\n{err}");
    }
}

/// What an attribute makes of arithmetic is not modelled; what makes none of it is no change.
#[test]
fn attributes_of_optimisation_are_compared() {
    let f = |attribute: &str| {
        format!("__attribute__(({attribute})) double f(double x) {{ return x + 1e300 - 1e300; }}\n")
    };
    let pairs = [
        ("optimize(\"O2\")", "optimize(\"fast-math\")"),
        ("noinline", "noinline, __optimize__(\"fast-math\")"),
        ("target(\"sse2\")", "target(\"fma\")"),
    ];
    for (old, new) in pairs {
        let pair = Pair::new(&f(old), &f(new));
        pair.says("diff HEAD~1..HEAD", 0, &["open question"], &["no semantic change"]);
        pair.says("check HEAD~1..HEAD", 0, &[], &["no function changed"]);
    }
    Pair::new(&f("noinline"), &f("noinline, cold")).is_no_change();
}

/// A call in a unit leads to its inline definition or to the external one beside it.
#[test]
fn inline_definitions_beside_external_ones_count() {
    let a = |k: &str| {
        format!(
            "#include <assert.h>\ninline int twice(int x) {{ return {k} * x; }}\nint f(int x) {{ int r = twice(x & 7); assert(r < 15); return r; }}\n"
        )
    };
    let b = "int twice(int x) { return 2 * x; }\n";
    let (old, new) = (a("2"), a("3"));
    let pair = Pair::of(&[("a.c", &old), ("b.c", b)], &[("a.c", &new), ("b.c", b)]);
    pair.is_a_change_of("a.c:f");
}

/// What attributes promise compilers decides what becomes of calls, where the body does not keep it.
#[test]
fn promises_to_compilers_are_compared() {
    let counter = "static int n;\nint f(int x)\n{\n    return n += x;\n}\n";
    for attribute in ["const", "pure"] {
        let pair =
            Pair::new(counter, &counter.replace("int f", &format!("__attribute__(({attribute})) int f")));
        pair.says("diff HEAD~1..HEAD", 0, &[], &["no semantic change"]);
        pair.says("check --strict HEAD~1..HEAD", 3, &["not fully analysed"], &["no function changed"]);
        pair.says("blame a.c:f", 0, &["two"], &[]);
    }
    let kept = "int f(int x)\n{\n    int t[2] = {x, 3};\n    return t[x & 1];\n}\n";
    Pair::new(kept, &kept.replace("int f", "__attribute__((const)) int f")).is_no_change();
}

/// A buffer that its own unit never arms leads nowhere.
#[test]
fn jumps_through_buffers_that_nothing_sets_are_undefined() {
    let text = "#include <setjmp.h>\nstatic jmp_buf j;\nint f(int x)\n{\n    if (x > 3) return 2;\n    return 1;\n}\n";
    let pair = Pair::new(text, &text.replace("return 2", "longjmp(j, 1)"));
    let out = pair.says("diff HEAD~1..HEAD", 0, &["a.c  f()"], &["returns 2 -> exits", "no semantic change"]);
    assert!(out.contains("undefined"), "{out}");
}
