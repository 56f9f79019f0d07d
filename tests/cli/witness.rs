//! `git invdiff witness`: each test builds against both versions, and its exit status tells them apart.

use crate::asserted::has_compiler;
use crate::support::TempRepo;
use crate::support::oracle::shared;
use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::instrument::{WitnessTest, witness_tests};
use std::path::Path;
use std::process::Command;

/// The tests of a pair of versions of one file.
fn tests_of(old: &str, new: &str) -> Vec<WitnessTest> {
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    let request = memory::request(&versions, c::Options::default(), Options::default());
    witness_tests(&diff(&request), &request.versions, &request.options)
}

/// Builds a test against a source and returns its exit status and what it said.
fn outcome(folder: &Path, test: &str, source: &str) -> (Option<i32>, String) {
    let write =
        |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("the file is written");
    write("test.c", test);
    write("version.c", source);
    let built = invdiff_testing::compiler()
        .current_dir(folder)
        .args(["-fwrapv", "-ffp-contract=off", "-w", "-DINVDIFF_SOURCE=\"version.c\"", "test.c"])
        .args(["-o", "test", "-lm"])
        .output()
        .expect("cc runs");
    assert!(built.status.success(), "{}\n{test}", String::from_utf8_lossy(&built.stderr));
    let out = Command::new(folder.join("test")).output().expect("the test runs");
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Whether the old version (0), or the new one, may do anything on the test's input.
fn is_undefined(test: &str, version: usize) -> bool {
    let word = ["old", "new"][version];
    test.contains(&format!("What {word} does there is undefined"))
}

/// Checks that every test of a pair tells the versions apart; returns how many there are, and why others
/// could not be made.
fn check(old: &str, new: &str) -> (usize, Vec<String>) {
    let folder = invdiff_testing::scratch();
    let (mut made, mut refused) = (0, Vec::new());
    for test in tests_of(old, new) {
        match &test.text {
            Ok(text) => {
                for (source, expected) in [(old, 0), (new, 1)] {
                    if is_undefined(text, expected) {
                        continue;
                    }
                    let (status, said) = outcome(folder.path(), text, source);
                    assert_eq!(status, Some(expected as i32), "{said}\n{text}\n----\n{source}");
                }
                made += 1;
            }
            Err(why) => refused.push(why.clone()),
        }
    }
    (made, refused)
}

/// Functions with one place that changes: the text, and what stands at `@` in both versions.
const PAIRS: [(&str, [&str; 2]); 22] = [
    ("int f(int a, int b) { return a @ b; }", ["+", "-"]),
    ("static unsigned char f(unsigned char a) { return a @ 1; } int g(int x) { return f(x); }", ["+", "*"]),
    ("long long f(long long a) { return a @ 9223372036854775807LL; }", ["&", "|"]),
    ("_Bool f(int a) { return a @ 3; }", [">", ">="]),
    ("double f(double a, float b) { return a @ b; }", ["+", "-"]),
    ("float f(float a) { return @0.0f * a; }", ["", "-"]),
    (
        "struct s { char c; int n; unsigned b : 3; double d; }; void f(struct s *p) { if (p) p->n += @; }",
        ["1", "2"],
    ),
    ("struct s { unsigned a : 5; int b : 7; }; int f(struct s *p) { return p->b @ 3; }", ["<", ">"]),
    (
        "struct n { struct n *next; int v; }; int f(struct n *p) { return p && p->next ? p->next->v @ 1 : 0; }",
        ["+", "-"],
    ),
    ("void f(int *a, int n) { for (int i = 0; i < n && i < 4; i++) a[i] = i @ 1; }", ["+", "-"]),
    ("int f(const char *s) { int n = 0; while (*s) if (*s++ == '@') n++; return n; }", ["a", "b"]),
    ("int g = 3; int f(int a) { g += a @ 1; return g; }", ["*", "+"]),
    ("static int count; void f(void) { count @= 3; }", ["+", "^"]),
    ("int table[4] = {1, 2, 3}; int f(int i) { return table[i & 3] @ 1; }", ["+", "-"]),
    ("int f(a, b) long a; char b; { return a @ b; }", ["<", ">"]),
    (
        "void read_key(int); int status(int); int f(int a) { read_key(a); return status(a) + (a @ 2); }",
        ["+", "-"],
    ),
    ("extern int shared; int f(int a) { return shared + (a @ 2); }", ["|", "&"]),
    ("#include <stdio.h>\nvoid f(int a) { printf(\"%d 100%%\\n\", a @ 1); }", ["+", "-"]),
    ("#include <stdlib.h>\nint f(int a) { if (a @ 5) abort(); return a; }", ["==", "=="]),
    ("int *f(int *p, int n) { return n @ 0 ? p : 0; }", [">", "<"]),
    ("int f(int a, int b) { return b @ ? a / b : 0; }", ["!= 0", ">= 0"]),
    (
        "#include <stdio.h>\nint main(void) { int a = 0; if (scanf(\"%d\", &a) != 1) return 2; printf(\"%d\\n\", a @ 2); return 0; }",
        ["*", "+"],
    ),
];

#[test]
fn tests_tell_versions_apart() {
    if !has_compiler() {
        return;
    }
    for (text, [old, new]) in PAIRS {
        let (mut made, refused) = check(&text.replace('@', old), &text.replace('@', new));
        // Of equal versions there is nothing to tell.
        made += usize::from(old == new);
        assert!(made > 0, "no test of\n{text}\n{refused:?}");
    }
}

/// Calls of what nobody defines are noted by what stands in for it.
#[test]
fn other_calls_are_told_apart() {
    if !has_compiler() {
        return;
    }
    let pairs = [
        ("void sink(int a, unsigned char b); int f(int a) { if (a > 3) sink(a, @); return a; }", ["1", "2"]),
        ("int put(const void *p, long n); void f(long n) { put(0, n @ 1); }", ["+", "-"]),
        ("void on(void); void off(void); void f(int a) { if (a) @(); }", ["on", "off"]),
        ("void sink(int a); void f(int a) { if (a > 0) { @ } }", ["sink(1);", ""]),
    ];
    for (text, [old, new]) in pairs {
        let (made, refused) = check(&text.replace('@', old), &text.replace('@', new));
        assert!(made > 0 && refused.is_empty(), "{text}: {refused:?}");
    }
    // The library's functions do what they do.
    let open =
        |mode: &str| format!("#include <stdio.h>\nFILE *f(const char *p) {{ return fopen(p, \"{mode}\"); }}");
    let (made, refused) = check(&open("r"), &open("w"));
    assert_eq!((made, refused.len()), (0, 1), "{refused:?}");
}

/// What nobody defines gives what the witness says, also objects.
#[test]
fn results_of_others_tell_versions_apart() {
    if !has_compiler() {
        return;
    }
    let pairs = [
        ("int g(void); int f(void) { if (g() == 7) return @; return 0; }", ["1", "2"]),
        ("int g(int); int f(void) { g(1); if (g(2) == -5) return @; return 0; }", ["1", "2"]),
        ("double g(void); int f(void) { return g() > 2.5 ? @ : 0; }", ["1", "2"]),
        (
            "char *g(int); int f(void) { char *s = g(2); if (s && s[0] == 'A') return @; return 0; }",
            ["1", "2"],
        ),
        (
            "struct s { int n; struct s *next; }; struct s *g(void);\n\
             int f(void) { struct s *p = g(); return p && p->next ? p->next->n @ 2 : 0; }",
            ["+", "*"],
        ),
        (
            "#include <stdio.h>\n#include <stdlib.h>\nchar *g(void); void h(char *);\n\
             int main(void) { char *a = g(); printf(\"%s\\n\", a); h(a); a = g(); printf(\"%s@\\n\", a); return 0; }",
            ["", "!"],
        ),
    ];
    for (text, [old, new]) in pairs {
        let (made, refused) = check(&text.replace('@', old), &text.replace('@', new));
        assert!(made > 0 && refused.is_empty(), "{text}: {made} {refused:?}");
    }
}

#[test]
fn ends_are_told_apart() {
    if !has_compiler() {
        return;
    }
    let text = "#include <stdlib.h>\n#include <assert.h>\nint f(int a) { @; return a; }";
    for (old, new) in [
        ("if (a == 5) abort()", "if (a == 6) abort()"),
        ("if (a < 0) exit(1)", "if (a < -1) exit(1)"),
        ("assert(a != 7)", "assert(a > 7)"),
        ("", "if (a > 3) for (;;) ;"),
    ] {
        let (made, refused) = check(&text.replace('@', old), &text.replace('@', new));
        let undecided = new.contains("for (;;)");
        assert!(made > 0 || undecided, "no test of {old} and {new}: {refused:?}");
    }
}

/// The pairs of Table II, as programs.
#[test]
fn tests_of_student_programs_tell_versions_apart() {
    let Some(itsp) = shared("subjects/itsp").filter(|_| has_compiler()) else { return };
    let table = std::fs::read_to_string(itsp.join("table2.csv")).expect("table2.csv is there");
    let (mut made, mut pairs) = (0, 0);
    for row in table.lines().skip(1) {
        let mut cells = row.split(',');
        let (Some(pair), Some(task)) = (cells.next(), cells.next()) else { continue };
        let read = |v: &str| std::fs::read_to_string(itsp.join(task).join(pair).join(v)).unwrap_or_default();
        let (found, refused) = check(&read("v1.c"), &read("v2.c"));
        println!("{pair}: {found} tests, not made: {refused:?}");
        pairs += 1;
        made += usize::from(found > 0);
    }
    assert!(made * 10 >= pairs * 9, "{made} of {pairs} pairs have a test");
}

#[test]
fn the_command_writes_files() {
    if !has_compiler() {
        return;
    }
    let text = "#include \"limits.inc\"\nint clamp(int a) { return a > LIMIT ? LIMIT : a @ 0; }\n";
    let repo =
        TempRepo::new().file("src/limits.inc", "#define LIMIT 9\n").file("src/a.c", text.replace('@', "|"));
    let repo = repo.commit("one").file("src/a.c", text.replace('@', "&")).commit("two");
    let run = |words: &[&str]| {
        let out = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words).output().expect("it runs");
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let listed = run(&["witness", "HEAD~1..HEAD", "--output-dir", "tests"]);
    let file = listed.lines().next().expect("a test is listed");
    assert!(file.starts_with("tests/witness-clamp-"), "{listed}");
    let json: serde_json::Value =
        serde_json::from_str(&run(&["witness", "HEAD~1..HEAD", "--json"])).expect("it is JSON");
    assert_eq!(json["tests"][0]["function"], "clamp");
    // From the top of a checkout the source is found as an include is.
    let built =
        invdiff_testing::compiler().current_dir(repo.path()).args(["-w", "-I.", file, "-o", "t"]).output();
    let built = built.expect("cc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let status = Command::new(repo.path().join("t")).output().expect("the test runs").status;
    assert_eq!(status.code(), Some(1));
}
