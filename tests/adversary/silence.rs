//! What was not looked at is said, in the last line and as data; advice that helps when followed.

use super::kit::Pair;

const F: &str = "int f(int x) { return x; }\n";

/// A pair of which nothing but one hunk differs, and the words for why it was not looked at.
#[track_caller]
fn check(old: &str, new: &str, why: &str) {
    let pair = Pair::new(&format!("{F}{old}\n"), &format!("{F}{new}\n"));
    let said = format!("not looked at: 1 hunk ({why})");
    for words in ["HEAD~1..HEAD", "check HEAD~1..HEAD"] {
        pair.says(words, 0, &[&said], &["no semantic change", "no function changed"]);
        pair.says(&format!("{words} --strict"), 3, &[&said], &[]);
        let json = pair.json(words);
        assert_eq!(json["complete"], false, "{words}: {old} {new}");
        assert_eq!(json["not_looked_at"][0], format!("1 hunk ({why})"), "{words}");
    }
    let (_, out, _) = pair.run("HEAD~1..HEAD --porcelain");
    assert!(out.trim_end().ends_with("incomplete"), "{out}");
    let (_, out, _) = pair.run("HEAD~1..HEAD --format sarif");
    assert!(out.contains(&said), "{out}");
    let (_, _, err) = pair.run("graph HEAD~1..HEAD");
    assert!(err.contains(&said), "graph: {err}");
    for words in ["assert HEAD~1..HEAD", "condition HEAD~1..HEAD"] {
        let (_, out, err) = pair.run(words);
        assert!(out.contains(&said) || err.contains(&said), "{words}: {out}{err}");
    }
    for words in ["witness HEAD~1..HEAD", "HEAD~1..HEAD --format github", "HEAD~1..HEAD --format gitlab"] {
        let (_, _, err) = pair.run(words);
        assert!(err.contains(&said), "{words}: {err}");
    }
}

/// What a command says to run next works as it is printed, and says what was promised.
#[test]
fn advice_names_the_range() {
    let source = |f: &str| {
        format!("#include <math.h>\ndouble g(double *p, int n)\n{{\n    return {f}(p[n], p[0]) + p[1];\n}}\n")
    };
    let pair = Pair::new(&source("unknown_a"), &source("remquo_of_ours"));
    let (_, out, err) = pair.run("check HEAD~1..HEAD");
    for (at, _) in out.match_indices("'git invdiff ") {
        let words = &out[at + "'git invdiff ".len()..];
        let words = words.split('\'').next().unwrap_or_default();
        let (status, said, problems) = pair.run(words);
        assert!(status == Some(0) && said.contains(" two"), "{words}\n{said}\n{problems}");
    }
    assert!(!out.contains("(git invdiff"), "{out}\n{err}");
}

#[test]
fn what_was_not_looked_at_is_said() {
    let inactive = "inactive preprocessor branch";
    check("#if 0\nint g(void) { return 1; }\n#endif", "#if 0\nint g(void) { return 2; }\n#endif", inactive);
    check("#if 0\nint y = 1;\n#endif", "#if 0\nint y = 2;\n#endif", inactive);
    check("", "@@@ $$$ int (((", "text that the parser could not place");
    check("int g(int);", "int g(long);", "prototype");
}

#[test]
fn condition_says_what_was_not_read() {
    let branch = |k: u32| format!("{F}#ifdef NO\nint g(void) {{ return {k}; }}\n#endif\n");
    let pair = Pair::new(&branch(1), &branch(2));
    let said =
        ["no function differs in what was read", "not looked at: 1 hunk (inactive preprocessor branch)"];
    pair.says("condition --exit-code HEAD~1..HEAD", 0, &said, &[]);
    let json = pair.json("condition HEAD~1..HEAD");
    assert_eq!(json["not_looked_at"][0]["why"], "inactive-branch");
    // What no parser could place may be part of the program.
    let pair = Pair::new(F, &format!("{F}@@@ $$$ int (((\n"));
    pair.says("condition --exit-code HEAD~1..HEAD", 1, &["not looked at: 1 hunk"], &[]);
    assert_eq!(pair.json("condition HEAD~1..HEAD")["harmless"], false);
}

/// Declarations that reach no function are no part of what `condition` looked at.
#[test]
fn condition_says_what_reaches_no_function() {
    let text = |k: u32| format!("enum {{ K = {k} }};\n_Static_assert(K < 9, \"k\");\n{F}");
    let pair = Pair::new(&text(3), &text(4));
    pair.says("condition HEAD~1..HEAD", 0, &["not looked at: 1 hunk"], &[]);
    // A function reads this one.
    let text = |k: u32| format!("static int n = {k};\nint g(void) {{ return n++; }}\n");
    let pair = Pair::new(&text(3), &text(4));
    pair.says("condition HEAD~1..HEAD", 0, &[], &["not looked at"]);
}

/// How two runs end is said, whatever differs in it.
#[test]
fn ends_that_differ_have_words() {
    let ends = |k: u32| format!("#include <stdlib.h>\nint f(int a) {{ if (a > 7) exit({k}); return a; }}\n");
    let pair = Pair::new(&ends(1), &ends(2));
    pair.says("diff HEAD~1..HEAD", 0, &["exit status 1 -> 2"], &["no name here"]);
    let fails = |text: &str| {
        format!("#include <assert.h>\nint f(int a) {{ assert(a < 9 && \"{text}\"); return a; }}\n")
    };
    let pair = Pair::new(&fails("small"), &fails("tiny"));
    pair.says("diff HEAD~1..HEAD", 0, &["another message"], &["no name here"]);
    let fails = |k: u32| {
        format!(
            "#include <assert.h>\nstruct s {{ int v; }}; int f(struct s *p) {{ assert(p->v < {k}); return p->v; }}\n"
        )
    };
    let pair = Pair::new(&fails(9), &fails(3));
    pair.says("diff HEAD~1..HEAD", 0, &["-> aborts"], &["no name here", "another message"]);
}

#[test]
fn ordinary_commits_are_quiet() {
    let commented = format!("/* a */\n{F}");
    for (old, new) in [
        (&[("a.c", F)][..], &[("a.c", commented.as_str())][..]),
        (&[("a.c", F), ("README.md", "a\n")], &[("a.c", F), ("README.md", "b\n")]),
        (&[("a.c", F)], &[("a.c", "int f(int x)\n{\n    return x;\n}\n")]),
    ] {
        let pair = Pair::of(old, new);
        for words in ["HEAD~1..HEAD", "check HEAD~1..HEAD", "check HEAD~1..HEAD --strict"] {
            pair.says(words, 0, &[], &["not looked at"]);
        }
        pair.says("check HEAD~1..HEAD", 0, &["no regression; no function changed"], &[]);
        assert_eq!(pair.json("HEAD~1..HEAD")["complete"], true);
        let (status, out, _) = pair.run("condition --exit-code HEAD~1..HEAD");
        assert_eq!(status, Some(0), "{out}");
    }
}

#[test]
fn answers_about_one_function_say_what_is_missing() {
    // More files than are looked at.
    let names: Vec<String> = (1..=12).map(|k| format!("b{k}.c")).collect();
    let bodies: Vec<String> = (1..=12).map(|k| format!("int g{k}(int x) {{ return x; }}\n")).collect();
    let calls: Vec<String> = (1..=12).map(|k| format!("g{k}(x)")).collect();
    let prototypes: String = (1..=12).map(|k| format!("int g{k}(int);\n")).collect();
    let a = format!("{prototypes}int f(int x) {{ return ({}) & 1; }}\n", calls.join(" ^ "));
    let mut old: Vec<(&str, &str)> = vec![("a.c", &a)];
    old.extend(names.iter().zip(&bodies).map(|(n, b)| (n.as_str(), b.as_str())));
    let changed = bodies[0].replace("return x", "return x + 1");
    let mut new = old.clone();
    new[1].1 = &changed;
    let pair = Pair::of(&old, &new);
    let said = ["not looked at: some files that it rests on"];
    pair.says("blame a.c:f", 0, &said, &[]);
    pair.says("blame a.c:f --strict", 3, &said, &[]);
    let json = pair.json("blame a.c:f");
    assert_eq!(json["complete"], false);
    assert_eq!(json["not_looked_at"][0], "some files that it rests on");
    let (_, out, _) = pair.run_words(&["bisect", "a.c:f: \\result <= 1", "HEAD~1..HEAD"]);
    assert!(out.contains(said[0]), "{out}");
    // What is not read of the files in which it is.
    let commented = format!("{F}/* a */\n/* b */\n");
    let broken = format!("{commented}@@@ $$$ int (((\n");
    let pair = Pair::new(&commented, &broken.replace("return x", "return x + 1"));
    pair.says("blame a.c:f", 0, &["not looked at: 1 hunk"], &[]);
    let (_, _, err) = pair.run("graph HEAD~1..HEAD");
    let partly = Pair::new(
        "int f(int x) { __asm__(\"nop\" : \"+r\"(x)); return x; }\n",
        "int f(int x) { __asm__(\"nop\" : \"+r\"(x)); return x + 1; }\n",
    );
    let (_, _, more) = partly.run("graph HEAD~1..HEAD");
    assert!(more.contains("not looked at: a.c: f() in part"), "{err}\n{more}");
}

#[test]
fn a_prototype_of_what_was_compared_is_no_gap() {
    let with = |g: &str| {
        format!(
            "static int {g}(int);\nint f(int x) {{ return {g}(x); }}\nstatic int {g}(int x) {{ return x; }}\n"
        )
    };
    let pair = Pair::new(&with("g"), &with("h"));
    for words in ["HEAD~1..HEAD", "check HEAD~1..HEAD"] {
        pair.says(&format!("{words} --strict"), 0, &[], &["not looked at"]);
    }
}

#[test]
fn what_no_run_can_do_with_a_changed_function_is_said() {
    let thread = "#include <stdio.h>
#include <pthread.h>
#include <assert.h>
static int x;
static void *go(void *p) { x = 1; return p; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, go, 0);
    pthread_join(t, 0);
    assert(x == 1);
    return 0;
}
";
    let pair = Pair::new(thread, &thread.replace("x = 1", "x = 2"));
    let said = ["main() gives go() away, and what pthread_create() does with it is not known"];
    pair.says("check HEAD~1..HEAD", 0, &[said[0], "1 note above"], &[]);
    pair.says("check HEAD~1..HEAD --strict", 3, &said, &[]);
    // What is set elsewhere for the environment of others.
    let main = "#include <stdlib.h>
#include <assert.h>
void setup(void);
int main(void) {
    setup();
    const char *m = getenv(\"MODE\");
    assert(m && *m == 'a');
    return 0;
}
";
    let setup = "#include <stdlib.h>\nvoid setup(void) { setenv(\"MODE\", \"a\", 1); }\n";
    let pair = Pair::of(
        &[("a.c", main), ("b.c", setup)],
        &[("a.c", main), ("b.c", &setup.replace("\"a\"", "\"b\""))],
    );
    pair.says("check HEAD~1..HEAD", 1, &["1 regression"], &[]);
}

/// A commit that only breaks more is one that `blame` tells of.
#[test]
fn blame_tells_what_is_no_longer_kept() {
    let old = "int f(int *p)\n{\n    if (!p)\n        return -1;\n    int r = *p;\n    return r;\n}\n\
               int g(int a, int b)\n{\n    return f(a > 3 ? 0 : &b);\n}\n";
    let new = old.replace("    int r = *p;\n", "").replace("    if (!p)", "    int r = *p;\n    if (!p)");
    let pair = Pair::new(old, &new);
    let null = "no longer kept: no access through a null pointer, line 3";
    for function in ["a.c:f", "a.c:g"] {
        pair.says(&format!("blame {function}"), 0, &["two", null, "1 commit changed its facts"], &[]);
    }
    let guards = |body: &str| format!("#include <assert.h>\nint f(int a, int b) {{ {body} return r; }}\n");
    let pair = Pair::new(&guards("assert(b); int r = a / b;"), &guards("int r = a / b; assert(b);"));
    pair.says("blame a.c:f", 0, &["two", "no longer kept", "1 commit changed its facts"], &[]);
    // What it calls may not come back.
    let ends = |f: &str| {
        format!("static int g(int n) {{ return n == 3 {f}; }}\nint f(int a) {{ return g(a) + 1; }}\n")
    };
    Pair::new(&ends(""), &ends("? g(n) : 0 == 1")).says("blame a.c:f", 0, &["two"], &[]);
}

/// Who sets a pointer is not known from where it is called, and to say "no commit" is not enough.
#[test]
fn blame_says_what_pointers_may_hide() {
    let dev = "struct dev { int (*rd)(int); };\n";
    let caller = format!("{dev}int f(struct dev *d, int b) {{ return d->rd(b) + b; }}\n");
    let setter = |k: u32| {
        format!(
            "{dev}static int rd(int x) {{ return x + {k}; }}\nvoid init(struct dev *d) {{ d->rd = rd; }}\n"
        )
    };
    let pair = Pair::of(&[("a.c", &caller), ("b.c", &setter(1))], &[("a.c", &caller), ("b.c", &setter(2))]);
    let said = "not looked at: what else it may call through pointers";
    pair.says("blame a.c:f", 0, &[said], &[]);
    pair.says("blame a.c:f --strict", 3, &[said], &[]);
    assert_eq!(pair.json("blame a.c:f")["complete"], false);
    // A table that nobody writes is known, however much is in it.
    let table = |k: u32| {
        let functions: String =
            (0..6).map(|i| format!("static int f{i}(int x) {{ return x + {}; }}\n", i * k)).collect();
        format!(
            "{functions}static int (*const t[])(int) = {{f0, f1, f2, f3, f4, f5}};\nint f(int i) {{ return t[i & 3](i); }}\n"
        )
    };
    Pair::new(&table(1), &table(2)).says("blame a.c:f", 0, &["two"], &["not looked at"]);
}

/// From any state both versions fail; in a program that begins there only the newer one does.
#[test]
fn first_calls_are_looked_at() {
    let text = |k: u32| {
        format!("#include <assert.h>\nstatic int n = {k};\nvoid f(void) {{ n += 1; assert(n < 20); }}\n")
    };
    let pair = Pair::new(&text(10), &text(20));
    let said =
        ["possible, in a first call", "n < 20", "before       returns", "after        fails at line 3"];
    pair.says("check HEAD~1..HEAD", 0, &[&said[..], &["no regression, 1 possible"]].concat(), &["decided"]);
    pair.says("check --strict HEAD~1..HEAD", 0, &said, &[]);
    pair.says("condition --exit-code HEAD~1..HEAD", 1, &["verify"], &["1 of 1 function"]);
    let json = pair.json("check HEAD~1..HEAD");
    assert_eq!(json["assertions"][0]["decided_by"], "first-call", "{json}");
    // Both keep it, and there is but one first call.
    Pair::new(&text(10), &text(12)).says(
        "check --strict HEAD~1..HEAD",
        0,
        &["no regression; 1 changed"],
        &[],
    );
    // With arguments, it is shown where an input is found; elsewhere it is said.
    let with = |k: u32, limit: &str| {
        format!(
            "#include <assert.h>\nstatic int n = {k};\nvoid f(int x) {{ n += x & 7; assert({limit}); }}\n"
        )
    };
    let pair = Pair::new(&with(10, "n < 20"), &with(15, "n < 20"));
    pair.says("check HEAD~1..HEAD", 0, &["possible, in a first call", "x = "], &["decided"]);
    let pair = Pair::new(&with(10, "n < 30"), &with(15, "n < 30"));
    let open = "n begins with another value; what that does to the first call of a.c: f() was not decided";
    pair.says("check HEAD~1..HEAD", 0, &[open], &["possible"]);
    pair.says("check --strict HEAD~1..HEAD", 3, &[open], &[]);
    // What runs before it may set the object.
    let begun =
        |k: u32| format!("{}__attribute__((constructor)) static void init(void) {{ n = 1; }}\n", text(k));
    Pair::new(&begun(10), &begun(20)).says("check --strict HEAD~1..HEAD", 3, &["not decided"], &["possible"]);
    // Undefined behaviour counts.
    let divides = |k: u32| {
        format!("static int d = {k};\nvoid set(int v) {{ d = v; }}\nint f(void) {{ return 8 / d; }}\n")
    };
    Pair::new(&divides(1), &divides(0)).says("check HEAD~1..HEAD", 0, &["possible, in a first call"], &[]);
    // Where the start is known, runs tell.
    let program = |k: u32| format!("{}int main(void) {{ f(); return 0; }}\n", text(k));
    Pair::new(&program(10), &program(20)).says("check HEAD~1..HEAD", 1, &["regression"], &["decided"]);
    // What cannot harm needs no word.
    let counts = |k: u32| format!("static unsigned n = {k};\nunsigned f(void) {{ return n++; }}\n");
    let pair = Pair::new(&counts(10), &counts(20));
    pair.says("check --strict HEAD~1..HEAD", 0, &["no regression"], &["decided"]);
    pair.says("condition --exit-code HEAD~1..HEAD", 0, &["harmless"], &[]);
}

/// What runs when a program ends may fail for what a changed function leaves, and no caller is at hand.
#[test]
fn what_runs_at_the_end_is_named() {
    let with = |mask: u32, hook: &str, rest: &str| {
        format!(
            "#include <assert.h>\n#include <stdlib.h>\nstatic int n;\nstatic int m;\nvoid work(int x) {{ n = x & {mask}; }}\n{hook} void fini(void) {{ {rest} }}\n"
        )
    };
    let destructor = "__attribute__((destructor)) static";
    let reads = "assert(n < 8);";
    let said =
        "a.c: fini() runs when the program ends and reads what a.c: work() may write; that was not looked at";
    let pair = Pair::new(&with(7, destructor, reads), &with(15, destructor, reads));
    pair.says("check HEAD~1..HEAD", 0, &[said], &[]);
    pair.says("check --strict HEAD~1..HEAD", 3, &[said], &[]);
    let left = "fails on no new input by itself; not looked at, when the program ends: fini()";
    pair.says("condition --exit-code HEAD~1..HEAD", 1, &[left, "0 of 1 function"], &["harmless:"]);
    assert_eq!(pair.json("condition HEAD~1..HEAD")["functions"][0]["at_exit"][0], "fini");
    // One that is registered, through a pointer, in what it calls.
    let registers = |mask: u32| {
        let text = with(mask, "static void look(int *p) { assert(*p < 8); } static", "look(&n);");
        format!("{text}void init(void) {{ atexit(fini); }}\n")
    };
    let pair = Pair::new(&registers(7), &registers(15));
    pair.says("check --strict HEAD~1..HEAD", 3, &[said], &[]);
    pair.says("condition --exit-code HEAD~1..HEAD", 1, &[left], &[]);
    // What reads something else, or cannot fail, is no matter for a condition.
    let other = "assert(m < 8);";
    let pair = Pair::new(&with(7, destructor, other), &with(15, destructor, other));
    pair.says("check --strict HEAD~1..HEAD", 0, &[], &["ends"]);
    pair.says("condition --exit-code HEAD~1..HEAD", 0, &["harmless"], &[]);
    // A program's own runs come to its end, where they find the way.
    let program = |mask: u32| {
        let main = "int main(int argc, char **argv) { (void)argv; work(argc + 8); return 0; }";
        format!("{}{main}\n", with(mask, destructor, reads))
    };
    Pair::new(&program(7), &program(15)).says("check HEAD~1..HEAD", 1, &["1 regression"], &[]);
    let seldom = |mask: u32| program(mask).replace("work(argc + 8)", "if (argc == 9) work(atoi(argv[8]))");
    Pair::new(&seldom(7), &seldom(15)).says("check --strict HEAD~1..HEAD", 3, &[said], &[]);
}

/// Which runs end is part of what a function does, though no fact at its exit says so.
#[test]
fn loops_that_end_on_other_inputs_are_a_change() {
    for (text, from, to) in [
        ("int f(int a) { while (a == 3) ; return a; }\n", "== 3", "== 4"),
        ("int f(int a) { for (;;) { if (a == 3) continue; break; } return a; }\n", "== 3", "== 4"),
        ("int f(int a) { volatile int x = a & 1; while (x) ; return 2; }\n", "(x)", "(!x)"),
        (
            "int f(int a) { int r = a & 15; while (r > 10) { if (a == 77) continue; break; } return 1; }\n",
            "== 77",
            "== 78",
        ),
        ("int f(int a) { while (a == 3) ; return 4; }\n", "while (a == 3) ; ", ""),
    ] {
        let pair = Pair::new(text, &text.replace(from, to));
        pair.says("diff HEAD~1..HEAD", 0, &[], &["no semantic change"]);
        pair.says("blame a.c:f", 0, &["two"], &[]);
    }
    // Behind a loop that is the same, and in one that counts, nothing is asked.
    let same = "int f(int a) { while (a == 3) ; return a + 1; }\n";
    Pair::new(same, &same.replace("a + 1", "1 + a")).is_no_change();
    let counts = "int f(int a) { int n = 0; for (int i = 0; i < 4; i++) n += a; return n; }\n";
    Pair::new(counts, &counts.replace("n += a", "n = a + n")).is_no_change();
}
