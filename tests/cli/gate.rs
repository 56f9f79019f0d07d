//! The gate end to end: git runs the hooks, the hooks run the real engine.

use crate::support::TempRepo;
use std::process::Output;

fn git(repo: &TempRepo, words: &[&str]) -> Output {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    repo.command_of("git").env("PATH", format!("{}:{path}", folder.display())).args(words).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn repository(source: &str, policy: &str) -> TempRepo {
    let repo = TempRepo::new().file("a.c", source).file(".invdiff.yaml", policy).commit("first");
    // A debug build on a busy machine is not what the limit is about.
    let repo = repo.config("invdiff.timeoutSeconds", "0");
    assert!(git(&repo, &["invdiff", "hook", "install"]).status.success());
    repo
}

fn commit(repo: &TempRepo, source: &str) -> Output {
    repo.write("a.c", source);
    git(repo, &["commit", "-q", "-a", "-m", "next"])
}

/// Commits one version of `a.c` after another, and checks whether git went on and what was said.
#[track_caller]
fn check(policy: &str, old: &str, new: &str, goes_on: bool, said: &str) -> TempRepo {
    let repo = repository(old, policy);
    let output = commit(&repo, new);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(if goes_on { 0 } else { 1 }), "{text}");
    assert!(text.contains(said) && (!said.is_empty() || text.is_empty()), "{text}");
    repo
}

const PIN: &str = "pinned: [{function: area, at: exit, holds: \"\\\\result >= 0\"}]\n";

fn area(condition: &str) -> String {
    format!(
        "int area(int a, int b)\n{{\n    if ({condition})\n        return 0;\n    return a / 8 * (b / 8 % 8);\n}}\n"
    )
}

#[test]
fn a_broken_assertion_stops_the_commit() {
    let clamp = |fix: &str| {
        format!(
            "#include <assert.h>\nint clamp(int x)\n{{\n    if (x < 0)\n        x = {fix};\n    assert(x >= 0);\n    return x;\n}}\n"
        )
    };
    let said = "error: this commit breaks what held before\n  a.c:clamp: x >= 0 no longer holds at 6 (x = -";
    check("", &clamp("0"), &clamp("x + 1"), false, said);
    // It failed before.
    let output = check("", &clamp("x + 1"), &clamp("x + 2"), true, "a.c:clamp: ");
    assert_eq!(output.git(["log", "--format=%s"]), "next\nfirst");
    check("gate: {block: [pinned]}\n", &clamp("0"), &clamp("1"), true, "a.c:clamp: ");
}

#[test]
fn an_assertion_of_a_callee_counts_where_the_caller_breaks_it() {
    let program = |value: &str| {
        format!(
            "#include <assert.h>\n#include <stdio.h>\nstatic void show(int n)\n{{\n    assert(n > 0);\n    printf(\"%d\\n\", n);\n}}\nint main(void)\n{{\n    show({value});\n    return 0;\n}}\n"
        )
    };
    check("", &program("1"), &program("0"), false, "a.c:main: n > 0 no longer holds at 5");
}

#[test]
fn a_refuted_pin_stops_the_commit() {
    let (both, one) = (area("a < 0 || b < 0"), area("a < 0"));
    check(PIN, &both, &one, false, "error: this commit breaks what held before\n  a.c:area: \\result >= 0");
    check("", &both, &one, true, "warning: this commit changes what callers can see");
    // A change cannot loosen its own gate, nor take a pin back along with what it protects.
    let repo = repository(&both, PIN);
    repo.write(".invdiff.yaml", "gate: {block: []}\n");
    let output = commit(&repo, &one);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("pin removed, still checked"), "{}", stderr(&output));
}

#[test]
fn what_becomes_undefined_stops_the_commit() {
    let mean = |check: &str| {
        format!(
            "int mean(int sum, int n)\n{{\n    if ({check})\n        return 0;\n    return sum / n;\n}}\n"
        )
    };
    let said =
        "error: this commit breaks what held before\n  a.c:mean: now division by zero at 5 (sum = 0, n = 0)";
    check("", &mean("n <= 0"), &mean("n < 0"), false, said);
    check("gate: {block: [assertion]}\n", &mean("n <= 0"), &mean("n < 0"), true, "now division by zero");
}

#[test]
fn a_violation_that_no_generated_input_meets_is_found() {
    let f = |k: &str| format!("unsigned f(unsigned x)\n{{\n    return x == 305419897u ? {k} : 1;\n}}\n");
    let pin = "pinned: [{function: \"a.c:f\", holds: \"\\\\result < 8 && x == \\\\old(x)\"}]\n";
    check(pin, &f("7"), &f("8"), false, "no longer holds at 4 (x = 305419897)");
}

#[test]
fn pins_speak_of_memory() {
    let grow = |by: &str| {
        format!(
            "struct buf {{ int len, cap; }};\nvoid grow(struct buf *b)\n{{\n    if (b->cap < 16)\n        b->cap = {by};\n}}\n"
        )
    };
    let pin = "pinned: [{function: grow, holds: \"b->cap >= 16\"}]\n";
    check(pin, &grow("16"), &grow("32"), true, "a.c:grow");
    check(pin, &grow("16"), &grow("15"), false, "a.c:grow: b->cap >= 16 no longer holds at 6 (b = &{");
}

#[test]
fn pins_speak_of_states_of_resources() {
    let load = |end: &str| {
        format!(
            "#include <stdio.h>\nint load(const char *name, int k)\n{{\n    FILE *f = fopen(name, \"r\");\n    if (!f)\n        return -1;\n    {end}\n        return -2;\n    fclose(f);\n    return k;\n}}\n"
        )
    };
    let pin = "pinned: [{function: load, holds: \"f is closed\"}]\n";
    let closes = load("if (k < 0 && !fclose(f))");
    check(pin, &closes, &load("if (k < -1 && !fclose(f))"), true, "a.c:load");
    check(pin, &closes, &load("if (k < 0)"), false, "a.c:load: f is closed no longer holds at ");
    let said =
        "pinned fact 'f is shut' was not checked: no protocol says that a resource 'is shut'; they say: ";
    check(&pin.replace("closed", "shut"), &closes, &load("if (k < 0)"), true, said);
}

#[test]
fn pins_speak_of_lengths() {
    let used = |sign: &str| {
        format!(
            "#include <string.h>\nstruct buf {{ char *text; int at; }};\nint used(const struct buf *b)\n{{\n    if (!b || !b->text)\n        return 0;\n    return b->at {sign} strlen(b->text + b->at);\n}}\n"
        )
    };
    let value = "b == NULL || b->text == NULL ? 0 : b->at + strlen(b->text + b->at)";
    let pin = format!("pinned: [{{function: used, holds: \"\\\\result == ((int)({value}))\"}}]\n");
    check(&pin, &used("+"), &used("-"), false, "a.c:used: ");
    check(&pin, &used("+"), &used(" + 0 +"), true, "");
}

#[test]
fn a_pin_that_means_nothing_is_said() {
    let (old, new) = (area("a < 0"), area("a < 9"));
    let pin = PIN.replace("\\\\result", "volume");
    check(&pin, &old, &new, true, "pinned fact 'volume >= 0' was not checked: no value of 'volume' here");
    let pin = PIN.replace(">= 0", ">= ");
    let repo = repository(&old, &pin);
    let output = git(&repo, &["invdiff", "HEAD"]);
    assert_eq!(output.status.code(), Some(128));
    let said = "fatal: .invdiff.yaml: pinned[0], of function 'area': '\\result >= ': Expected an expression";
    assert!(stderr(&output).starts_with(said), "{}", stderr(&output));
}

#[test]
fn what_breaks_nothing_gets_trailers_and_a_note_that_follows() {
    let repo = check(PIN, &area("a < 0 || b < 0"), &area("a < 9 || b < 0"), true, "warning: ");
    let parsed = repo.git(["interpret-trailers", "--parse", ".git/COMMIT_EDITMSG"]);
    assert!(parsed.starts_with("Invariant-Churn: a.c:area: "), "{parsed}");
    assert!(parsed.contains("\nInvariant-Kept: "), "{parsed}");
    let note = |repo: &TempRepo, commit: &str| repo.git(["notes", "--ref=invdiff", "show", commit]);
    assert!(note(&repo, "HEAD").contains(&repo.id("HEAD")));
    assert!(git(&repo, &["commit", "-q", "--amend", "-m", "reworded"]).status.success());
    assert!(note(&repo, "HEAD").contains(&repo.id("HEAD")));
    assert!(repo.git(["log", "-1", "--format=%B"]).contains("reworded\n\nInvariant-Churn: "));
    repo.git(["checkout", "-q", "-b", "other", "HEAD~1"]);
    repo.write("b.c", "int g(void) { return 1; }\n");
    repo.git(["add", "b.c"]);
    assert!(git(&repo, &["commit", "-q", "-m", "other"]).status.success());
    repo.git(["checkout", "-q", "main"]);
    let output = git(&repo, &["rebase", "-q", "other"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(note(&repo, "HEAD").contains(&repo.id("HEAD")));
    let preview = git(&repo, &["-c", "core.editor=cp \"$1\" seen; true", "commit", "--amend"]);
    assert!(preview.status.success(), "{}", stderr(&preview));
}

/// Functions that put what is above `k` into a list; no fact at an exit says what `k` does.
fn putting(functions: usize, k: u32) -> String {
    let head = "struct s { int seen[8]; };\nint next(struct s *, int);\nvoid put(struct s *, int);\n";
    let f = |n: usize| {
        format!(
            "int f{n}(struct s *p, int n)\n{{\n    int r = 0;\n    for (int i = 0; i < n; i++) {{\n        if (next(p, i) > {k}) {{\n            p->seen[i] = r++;\n            put(p, i);\n        }}\n    }}\n    return r;\n}}\n"
        )
    };
    head.to_owned() + &(0..functions).map(f).collect::<String>()
}

#[test]
fn what_no_fact_says_is_told_by_the_local_view() {
    let (old, new) = (putting(1, 3), putting(1, 4));
    let said =
        "warning: this commit changes what the code does\n  a.c:f0: when next(p, i) == 4: calls put(p, i);";
    let repo = check("", &old, &new, true, said);
    // Trailers say it, too.
    let message = repo.git(["log", "-1", "--format=%B"]);
    assert!(message.contains("Invariant-Churn: a.c:f0: when next(p, i) == 4"), "{message}");
    // Six are told, of eight five.
    let lines = |functions: usize| {
        // The note asks for facts, which is not what is looked at.
        let repo = repository(&putting(functions, 3), "").config("invdiff.hooks.post-commit", "off");
        let output = commit(&repo, &putting(functions, 4));
        (stderr(&output).matches("  a.c:f").count(), stderr(&output).contains("  and 3 more\n"))
    };
    assert_eq!((lines(6), lines(8)), ((6, false), (5, true)));
}
