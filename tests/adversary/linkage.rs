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
        let folder = tempfile::tempdir().unwrap();
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
    pair.says("diff HEAD~1..HEAD", 0, &["what it prints differs", "\"5\\n\" -> \"1\\n\"", "replayed"], &[]);
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
