//! `git invdiff assert`: copies of sources compile, behave as the originals, and would fail if a fact did
//! not hold; patches are what `git apply` takes.

use crate::asserted::{analyse, check, choice, compile, copy_of, has_compiler, run_program};
use crate::support::TempRepo;
use crate::support::oracle::shared;
use crate::support::tier;
use git_invdiff::frontend::c;
use git_invdiff::history::MemoryTree;
use git_invdiff::instrument::{FunctionFacts, PlacedFact, ProgramPoint, Source, copies, insert};
use git_invdiff::report::{PointKind, Report};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Inputs for programs that read numbers.
fn numbers() -> Vec<String> {
    let texts =
        ["1 2 3 4 5 6 7 8 9\n", "-3 7 0 0 1 1 2 2\n", "5\n1 2 3 4 5\n", "0 0 0 0\n", "12 4 100 -100 3\n"];
    texts.iter().map(|t| (*t).to_owned()).collect()
}

/// The inputs that the course tested a program with, which are well formed.
fn course_inputs(program: &Path) -> Vec<String> {
    let tests = program.parent().map(|pair| std::fs::read(pair.join("tests.json")).unwrap_or_default());
    let tests: Vec<BTreeMap<String, String>> =
        serde_json::from_slice(&tests.unwrap_or_default()).unwrap_or_default();
    tests.into_iter().filter_map(|mut t| t.remove("input")).collect()
}

#[test]
fn copies_of_student_programs_pass() {
    let Some(root) = shared("subjects/itsp").filter(|_| has_compiler()) else { return };
    let table = std::fs::read_to_string(root.join("table1_selection.csv")).expect("the table is there");
    let files: Vec<&str> = table.lines().skip(1).filter_map(|row| row.split(',').nth(4)).collect();
    let (mut facts, mut inputs) = (0, 0);
    for file in files.iter().step_by(3) {
        let source = std::fs::read_to_string(root.join(file)).expect("the subject is there");
        let well_formed = course_inputs(&root.join(file));
        inputs += well_formed.len();
        facts += check(&source, &well_formed, &["stdin-well-formed"])
            .unwrap_or_else(|why| panic!("{file}: {why}"));
        facts += check(&source, &numbers(), &[]).unwrap_or_else(|why| panic!("{file}: {why}"));
    }
    let programs = files.len().div_ceil(3);
    println!("{programs} programs, {inputs} inputs of the course, {facts} facts");
    assert!(inputs > 50 && facts >= 2 * programs, "{inputs} inputs and {facts} facts are few");
}

#[test]
fn copies_of_seed_programs_compile() {
    let Some(root) = shared("subjects/seed").filter(|_| has_compiler()) else { return };
    let mut facts = 0;
    for name in ["median/v1.c", "trityp/v2.c", "h2_fig1/v3.c", "quant_fig5/v1.c", "diffdp_fig2/v2.c"] {
        let Ok(source) = std::fs::read_to_string(root.join(name)) else { continue };
        let Some(copy) = copy_of(&source, &[]) else { continue };
        syntax(&copy.copy.text, Path::new("."), &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        facts += copy.copy.facts;
    }
    assert!(facts > 5, "{facts} facts are few");
}

/// Asks the compiler whether a text is C that stands in a folder.
fn syntax(text: &[u8], folder: &Path, options: &[&str]) -> Result<(), String> {
    let temporary = tempfile::Builder::new().suffix(".c").tempfile().map_err(|e| e.to_string())?;
    std::fs::write(temporary.path(), text).map_err(|e| e.to_string())?;
    let folder = folder.display();
    let out = invdiff_testing::compiler()
        .args(["-fsyntax-only", "-w", "-fwrapv", &format!("-I{folder}")])
        .args(options)
        .arg(temporary.path())
        .output()
        .map_err(|e| e.to_string())?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// Returns wherever C lets them stand; each program prints what its functions give.
const NASTY: [&str; 12] = [
    // What a loop declares is no name behind it.
    "static int t[1];\nint f(int a)\n{\n    if (!a)\n        return 0;\n    for (unsigned int j = 0; j < 1; j++) {\n        \
     int i = 0;\n        while (i < a && i < 9) {\n            if (t[j] > i)\n                return 5;\n            i++;\n        \
     }\n    }\n    return 1;\n}",
    "static int g;\nstatic void touch(int a)\n{\n    for (unsigned int j = 0; j < 1; j++) {\n        while (a > 9)\n            a \
     -= 9;\n        g = a;\n    }\n}\nint f(int a) { touch(a); return g & 1; }",
    // Branches without braces, `else` behind a return, a nested `do`.
    "int f(int a) { if (a > 3) return 3; else if (a < 0) return 0; else do return a; while (0); }\n",
    // Macros in values, around values, and as the whole statement.
    "#define TWICE(x) ((x) * 2)\n#define LEAVE return 1\n#define MINUS_ONE -1;\n\
     int f(int a) { if (a == 1) return MINUS_ONE if (a == 2) LEAVE; return TWICE(a) & 7; }\n",
    // Old style, with a comment and a comma in the value.
    "f(a, b) int a; char b; { return (b = 1, /* a; */ a & 3) // last\n ; }\n",
    // Labels, switches, fall through.
    "int f(int a) { switch (a & 3) { case 0: return 1; case 1 ? 2 : 3: default: goto out; case 1: a = 2; }\n\
     return 2;\nout: return 3; }\n",
    // Conditionals inside a statement are left alone; those around one are not.
    "int f(int a) {\n#if 1\n  if (a) return 1;\n#else\n  if (a) return x;\n#endif\n  return\n#ifdef X\n 2\n#else\n 0\n#endif\n  ;\n}\n",
    // Carriage returns and tabs.
    "int f(int a)\r\n{\r\n\tif (a < 0)\r\n\t\treturn 0;\r\n\treturn a & 15;\r\n}\r\n",
    // Structures and pointers as results, a hidden name, a nested scope.
    "struct p { int x, y; }; typedef struct { int n; } box; static struct p g(int a) { struct p p = {a & 1, 2}; return p; }\n\
     static box h(int a) { box b = {a & 3}; { int a = 9; b.n += a - 9; } return b; }\n\
     static const char *s(int a) { return a ? \"yes\" : \"no\"; }\n\
     int f(int a) { int r = g(a).x + h(a).n; if (s(a)[0] == 'y') { int r = 4; return r; } return r; }\n",
    // Loops of all kinds, with heads that are macros or empty, and a condition with a comma.
    "#define BELOW(i, n) ((i) < (n))\n\
     int f(int a) { int i = 0, k = 0, n = a & 15; for (i = 0; BELOW(i, n); i++) k++;\n\
     while (i > 0, i-- > 0) if (k > 2) k--;\nfor (;;) { if (++i > 4) break; }\ndo k += 2; while (k < 8);\n\
     do { k--; } while (k > 20); return k > 0; }\n",
    // Pointers that may be null where facts look through them.
    "struct n { struct n *next; int v; };\n\
     int count(const struct n *p) { const struct n *c = 0; int k = 0; if (p == 0) { return 0; }\n\
     c = p->next; while (c != 0) { k++; c = c->next; } return k; }\n\
     int f(int a) { struct n x = {0, 1}, y = {&x, 2}; return count(a & 1 ? &y : 0); }\n",
    // Parameters that change, globals, and functions without a result.
    "int g, *q = &g; void set(int v) { if (v < 0) { v = -v; g = 1; return; } g = v & 31; }\n\
     int f(int a) { a = a & 255; set(a); a++; *q += 1; return a; }\n",
];

#[test]
fn copies_of_nasty_programs_pass() {
    if !has_compiler() {
        return;
    }
    let main = "\n#include <stdio.h>\nint main(void) { int a; while (scanf(\"%d\", &a) == 1) printf(\"%d\\n\", f(a, 1)); \
                return 0; }\n";
    for text in NASTY {
        let text = text.replace("int f(int a)", "int f(int a, int unused)");
        let facts = check(&format!("{text}{main}"), &numbers(), &[]).unwrap_or_else(|why| panic!("{why}"));
        assert!(facts > 0, "nothing asserted in\n{text}");
    }
}

/// Facts of one version in the text of another that breaks them: the assertions have teeth.
#[test]
fn assertions_fail_where_facts_do_not_hold() {
    if !has_compiler() {
        return;
    }
    let text = "#include <stdio.h>\nint f(int a) { int i = 0; while (i < 10) i += STEP; return RESULT; }\n\
                int main(void) { printf(\"%d\\n\", f(3)); return 0; }\n";
    let good = text.replace("STEP", "1").replace("RESULT", "a * 0 + 7");
    let (report, _) = analyse(&[("a.c", &good)]);
    for (step, result, holds) in [("1", "7", true), ("1", "8", false)] {
        let source = text.replace("STEP", step).replace("RESULT", result);
        let copy = with_facts(&source, &report);
        let folder = invdiff_testing::scratch();
        let program = compile(&copy, folder.path(), "p").expect("it compiles");
        assert_eq!(run_program(&program, b"").status.success(), holds, "{}", String::from_utf8_lossy(&copy));
    }
}

/// The facts of a report in another source.
fn with_facts(source: &str, report: &Report) -> Vec<u8> {
    let tree = MemoryTree::new([("a.c", source)]);
    let source = Source::load(&tree, Path::new("a.c"), &c::Options::default()).expect("it can be read");
    let facts: Vec<FunctionFacts<'_>> = report
        .functions
        .iter()
        .map(|f| {
            let exits = f.points.iter().filter(|p| p.kind == PointKind::Exit);
            let facts = exits.flat_map(|p| &p.version_invariants);
            let facts = facts.map(|fact| PlacedFact { place: ProgramPoint::Exit, fact }).collect();
            FunctionFacts { name: &f.name, facts }
        })
        .collect();
    insert(&source, &facts).text
}

#[test]
fn patches_apply_and_give_the_same_files() {
    let source = "int f(int a)\n{\n\tif (a < 0)\n\t\treturn 0;\n\treturn a & 15;\n}";
    let other = "int g(int a) {\r\n  return a & 1;\r\n}\r\n";
    let repo = TempRepo::new().file("src/a.c", source).file("b c.c", other).commit("one");
    let repo = repo.file("src/a.c", source.replace("15", "7")).commit("two");
    let invdiff = |words: &[&str]| {
        let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
        let out = command.args(words).output().expect("the binary runs");
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        out
    };
    invdiff(&["assert", "HEAD", "-o", "facts.patch"]);
    repo.git(["apply", "--check", "facts.patch"]);
    repo.git(["apply", "facts.patch"]);
    invdiff(&["assert", "HEAD", "--output-dir", "copies"]);
    for file in ["src/a.c", "b c.c"] {
        let read = |path: PathBuf| std::fs::read(path).expect("the file is there");
        let (applied, copy) = (read(repo.path().join(file)), read(repo.path().join("copies").join(file)));
        assert!(String::from_utf8_lossy(&copy).contains("assert(invdiff_result"), "{file}");
        assert_eq!(applied, copy, "{file}");
    }
    // Over the range only what both versions keep is asserted, in the newest text.
    let out = invdiff(&["assert", "HEAD~1..HEAD"]);
    let patch = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(patch.contains("diff --git a/src/a.c b/src/a.c") && !patch.contains("b c.c"), "{patch}");
    assert!(patch.contains("assert(invdiff_result >= 0);") && !patch.contains("& 15)"), "{patch}");
    let list = invdiff(&["assert", "--json", "HEAD", "--function", "g"]);
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).expect("it is JSON");
    assert_eq!(list["files"][0]["file"], "b c.c");
    assert_eq!(list["files"].as_array().map(Vec::len), Some(1));
}

/// Files of real histories, at their newest commit.
#[test]
fn copies_of_real_sources_compile() {
    let root = std::env::var_os("INVDIFF_HISTORIES").map(PathBuf::from);
    let Some(root) = root.filter(|_| has_compiler()) else {
        tier::skipped("histories", "INVDIFF_HISTORIES not set");
        return;
    };
    for (history, file, function) in [
        ("kilo", "kilo.c", "editor*Row*"),
        ("cJSON", "cJSON.c", "*case_insensitive*"),
        ("zlib", "adler32.c", "*"),
    ] {
        let folder = invdiff_testing::scratch();
        let git = |words: &[&str]| {
            Command::new("git").arg("-C").arg(root.join(history)).args(words).output().expect("git runs")
        };
        let archive = folder.path().join("tree.tar");
        if !git(&["archive", "-o", &archive.display().to_string(), "HEAD"]).status.success() {
            println!("skipped: no {history}");
            continue;
        }
        let tar = Command::new("tar").current_dir(folder.path()).args(["xf", "tree.tar"]).status();
        assert!(tar.expect("tar runs").success());
        let out = Command::new(env!("CARGO_BIN_EXE_git-invdiff"))
            .args(["-C", &root.join(history).display().to_string(), "assert", "HEAD", "--no-cache"])
            .args(["--function", function, "--output-dir", &folder.path().display().to_string(), "--", file])
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{history}: {said}");
        println!("{history}: {said}");
        let text = std::fs::read(folder.path().join(file)).expect("the copy is there");
        assert!(String::from_utf8_lossy(&text).contains("assert("), "{history}: {said}");
        syntax(&text, folder.path(), &[]).unwrap_or_else(|why| panic!("{history}: {why}"));
    }
}

/// What is left out is said, with the reason.
#[test]
fn what_is_left_out_has_a_reason() {
    let source =
        "int f(int a) {\n#define R return 3\n  { int inner = a; if (inner > 4) R; }\n  return 3;\n}\n";
    let (report, newest) = analyse(&[("a.c", source)]);
    let (files, _) = copies(&report, &newest, &c::Options::default(), &choice());
    let left: Vec<_> = files.iter().flat_map(|f| &f.copy.left_out).collect();
    let by_macro = left.iter().find(|l| l.why == "a macro brings the return in line 3");
    assert!(by_macro.is_some_and(|l| l.partly), "{left:?}");
}
