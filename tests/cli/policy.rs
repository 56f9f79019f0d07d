//! What the policy of `.invdiff.yaml` lets pass: rules for paths, the age of lost facts, suppressions.

use crate::support::TempRepo;
use serde_json::Value;
use std::process::Output;

fn run(repo: &TempRepo, program: &str, words: &[&str]) -> Output {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    repo.command_of(program).env("PATH", format!("{}:{path}", folder.display())).args(words).output().unwrap()
}

/// Runs `git invdiff`, checks exit code and parts of both streams together, and returns these.
#[track_caller]
fn check(repo: &TempRepo, words: &[&str], code: i32, said: &[&str]) -> String {
    let output = run(repo, "git-invdiff", words);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}\n{text}");
    said.iter().for_each(|part| assert!(text.contains(part), "{words:?}: {part}\n{text}"));
    text
}

fn clamp(fix: &str) -> String {
    format!(
        "#include <assert.h>\nint clamp(int x)\n{{\n    if (x < 0)\n        x = {fix};\n    assert(x >= 0);\n    return x;\n}}\n"
    )
}

/// A repository whose working tree breaks the assertion of `file`.
fn broken(file: &str, policy: &str) -> TempRepo {
    let repo = TempRepo::new().file(file, clamp("0")).file(".invdiff.yaml", policy).commit("first");
    repo.write(file, clamp("x + 1"));
    repo
}

/// The id of the only property that is broken.
fn id(repo: &TempRepo) -> String {
    let output = run(repo, "git-invdiff", &["check", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["assertions"][0]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn rules_are_for_their_paths() {
    let policy = "gate:\n  rules:\n  - {paths: [tests], block: []}\n  - {paths: [\"**/core/*\"], block: [assertion]}\n";
    check(&broken("a.c", policy), &["check"], 1, &["1 regression"]);
    check(&broken("tests/a.c", policy), &["check"], 0, &["1 regression", "not blocked"]);
    check(&broken("tests/core/a.c", policy), &["check"], 1, &["1 regression"]);
    // The user's own word wins.
    let repo = broken("tests/a.c", policy).config("invdiff.block", "assertion");
    check(&repo, &["check"], 1, &["1 regression"]);
}

#[test]
fn a_change_cannot_bring_the_rule_that_frees_it() {
    let repo = broken("tests/a.c", "");
    repo.write(".invdiff.yaml", "gate:\n  rules:\n  - {paths: [tests], block: []}\n");
    check(&repo, &["check"], 1, &["1 regression"]);
    // Nor take away one that is stricter.
    let strict = "gate: {block: [], rules: [{paths: [tests], block: [assertion]}]}\n";
    let repo = broken("tests/a.c", strict);
    repo.write(".invdiff.yaml", "gate: {block: []}\n");
    check(&repo, &["check"], 1, &["1 regression"]);
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    for (rule, said) in [
        ("{block: []}", "missing field"),
        ("{paths: [a], blocks: []}", "unknown key 'blocks'"),
        ("{paths: [a], block: [asertion]}", "gate.rules[0].block: unknown name 'asertion'"),
        ("{paths: [\":(nonsense)a\"]}", "gate.rules[0].paths"),
    ] {
        check(&broken("a.c", &format!("gate: {{rules: [{rule}]}}\n")), &["check"], 128, &[said]);
    }
}

#[test]
fn what_is_suppressed_is_shown_with_its_reason_and_blocks_nothing() {
    let policy = "# ours\nversion: 1 # the first\n";
    let repo = broken("a.c", policy);
    let id = id(&repo);
    check(&repo, &["check", "-v"], 1, &["1 regression", &id]);
    check(&repo, &["suppress", &id, "--reason", "callers see to it", "--until", "9999-12-31"], 0, &[]);
    let text = std::fs::read_to_string(repo.path().join(".invdiff.yaml")).expect("a file");
    let entry = format!("  - {{id: \"{id}\", reason: \"callers see to it\", until: 9999-12-31}}\n");
    assert_eq!(text, format!("{policy}suppress:\n{entry}"));
    // It is not in the base yet.
    check(&repo, &["check"], 1, &["1 regression"]);
    repo.git(["commit", "-q", ".invdiff.yaml", "-m", "known"]);
    check(&repo, &["check"], 0, &["1 regression (1 suppressed)", "suppressed: callers see to it"]);
    // Lines and names of files are no part of the id.
    repo.write("a.c", "\n\n".to_owned() + &clamp("x + 1"));
    check(&repo, &["check"], 0, &["suppressed: "]);
    repo.git(["mv", "a.c", "b.c"]);
    check(&repo, &["check"], 0, &["suppressed: "]);
    // Another fault is not the one that is known.
    repo.write("b.c", clamp("0").replace("x >= 0", "x >= 0 && x < 9"));
    check(&repo, &["check"], 0, &["does not hold"]);
    check(&repo, &["suppress", &id, "--reason", "again"], 128, &["is suppressed already: callers see to it"]);
}

#[test]
fn a_suppression_that_is_over_is_named_and_does_not_count() {
    let repo = broken("a.c", "");
    let id = id(&repo);
    let policy = format!("suppress:\n- {{id: {id}, reason: for now, until: 2001-01-31}}\n");
    let repo = broken("a.c", &policy);
    let said = format!("the suppression of {id} (for now) ended on 2001-01-31 and no longer counts");
    check(&repo, &["check"], 1, &["1 regression", &said]);
}

#[test]
fn a_change_cannot_prolong_a_suppression_for_itself() {
    let repo = broken("a.c", "");
    let policy = |day: &str| format!("suppress:\n- {{id: {}, reason: for now, until: {day}}}\n", id(&repo));
    let repo = broken("a.c", &policy("2001-01-31"));
    repo.write(".invdiff.yaml", policy("9999-12-31"));
    check(&repo, &["check"], 1, &["1 regression"]);
}

#[test]
fn suppress_refuses_what_makes_no_sense() {
    let repo = broken("a.c", "suppress: [{id: a, reason: b}]\n");
    let id = "0123456789abcdef";
    check(&repo, &["suppress", "xyz", "--reason", "r"], 129, &["not the id of a finding"]);
    check(&repo, &["suppress", id], 129, &["--reason"]);
    check(&repo, &["suppress", id, "--reason", " "], 129, &["the reason is empty"]);
    check(&repo, &["suppress", id, "--reason", "r", "--until", "soon"], 129, &["'soon' is not a day"]);
    check(&repo, &["suppress", id, "--reason", "r", "--until", "2001-01-31"], 129, &["in the past"]);
    check(&repo, &["suppress", id, "--reason", "r"], 128, &["by hand", "hint: add: {id: "]);
    let text = std::fs::read_to_string(repo.path().join(".invdiff.yaml")).expect("a file");
    assert_eq!(text, "suppress: [{id: a, reason: b}]\n");
}

/// Commits three versions of `f` under the hooks and returns what git said of the last one.
fn third_commit(policy: &str) -> String {
    let f = |value: &str| format!("int f(int x)\n{{\n    return {value};\n}}\n");
    let repo = TempRepo::new().file("a.c", f("x + 1")).file(".invdiff.yaml", policy).commit("first");
    let repo = repo.config("invdiff.timeoutSeconds", "0");
    check(&repo, &["notes", "add", "HEAD"], 0, &[]);
    check(&repo, &["hook", "install"], 0, &[]);
    repo.write("b.c", "int y;\n");
    repo.git(["add", "b.c"]);
    assert!(run(&repo, "git", &["commit", "-q", "-m", "second"]).status.success());
    repo.write("a.c", f("x + 2"));
    let output = run(&repo, "git", &["commit", "-q", "-a", "-m", "third"]);
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_young_fact_is_lost_without_a_word() {
    assert_eq!(third_commit("gate: {age: 3}\n"), "");
    assert!(third_commit("gate: {age: 2}\n").contains("warning: this commit changes what callers can see"));
    assert!(third_commit("gate: {age: 3, warn: [churn]}\n").contains("warning: this commit changes"));
    let rule = "gate: {age: 1, rules: [{paths: [a.c], age: 9}]}\n";
    assert_eq!(third_commit(rule), "");
}

/// Four versions of `f` with notes: the second changes another file, the third a comment, the last loses what held.
fn old_fact_lost() -> TempRepo {
    let f = |value: &str, more: &str| {
        format!(
            "#include <assert.h>\nint f(int x)\n{{\n    int r = {value};{more}\n    assert(r >= 0);\n    return r;\n}}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", f("x & 15", "")).commit("first");
    let repo = repo.file("b.c", "int y;\n").commit("second");
    let repo = repo.file("a.c", f("x & 15", " /* the low bits */")).commit("third");
    repo.file("a.c", f("x - 1", " /* the low bits */")).commit("fourth")
}

#[test]
fn the_age_of_what_is_lost_is_told_by_notes() {
    let repo = old_fact_lost();
    // Of two versions alone nothing is known.
    let json = |words: &[&str]| -> Value {
        let output = run(&repo, env!("CARGO_BIN_EXE_git-invdiff"), words);
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let churn = |report: &Value| {
        let churns = report["functions"][0]["points"][0]["churns"].as_array().expect("churns").clone();
        churns.into_iter().find(|c| c["subject"] == "\\result").expect("a churn of the result")
    };
    let diff = ["diff", "HEAD~1..HEAD", "--json"];
    let young = churn(&json(&diff));
    assert_eq!(young["age"], Value::Null);
    let check_json = ["check", "HEAD~1..HEAD", "--json"];
    assert_eq!(json(&check_json)["assertions"][0].get("age"), None);
    check(&repo, &["notes", "add", "HEAD~3..HEAD~1"], 0, &[]);
    check(&repo, &["notes", "add", "HEAD~3"], 0, &[]);
    let old = churn(&json(&diff));
    assert_eq!(old["age"], 3);
    assert!(old["rank"].as_f64() > young["rank"].as_f64(), "{old} {young}");
    check(&repo, &["diff", "HEAD~1..HEAD"], 0, &["proved, held 3 versions"]);
    check(&repo, &["check", "HEAD~1..HEAD"], 1, &["r >= 0  line 5  held 3 versions"]);
    assert_eq!(json(&check_json)["assertions"][0]["age"], 3);
}

#[test]
fn the_age_of_what_is_lost_is_told_by_reports_that_are_kept() {
    let repo = old_fact_lost();
    let young = |range: &str| {
        let output = run(&repo, env!("CARGO_BIN_EXE_git-invdiff"), &["diff", range]);
        !String::from_utf8_lossy(&output.stdout).contains(", held")
    };
    // What was looked at in part tells nothing of a commit.
    for words in [["diff", "HEAD~2..HEAD~1", "--effort", "quick"], ["diff", "HEAD~2..HEAD~1", "--", "b.c"]] {
        check(&repo, &words, 0, &[]);
    }
    assert!(young("HEAD~1..HEAD"));
    // The commits between: the fact goes on; without the one that brings it, its age is not known.
    check(&repo, &["diff", "HEAD~2..HEAD~1", "--effort", "deep"], 0, &[]);
    check(&repo, &["diff", "HEAD~3..HEAD~2", "--effort", "deep"], 0, &[]);
    assert!(young("HEAD~1..HEAD"));
    check(&repo, &["diff", "4b825dc642cb6eb9a060e54bf8d69288fbee4904..HEAD~3", "--effort", "deep"], 0, &[]);
    check(&repo, &["diff", "HEAD~1..HEAD"], 0, &["proved, held 3 versions"]);
    check(&repo, &["check", "HEAD~1..HEAD"], 1, &["r >= 0  line 5  held 3 versions"]);
    // A cache that is not asked knows nothing.
    let output = run(&repo, env!("CARGO_BIN_EXE_git-invdiff"), &["diff", "HEAD~1..HEAD", "--no-cache"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains(", held"));
}

#[test]
fn the_age_of_what_is_lost_is_told_by_the_range() {
    let repo = old_fact_lost();
    check(
        &repo,
        &["diff", "--effort", "deep", "HEAD~3..HEAD"],
        0,
        &["proved, held 3 versions", "r >= 0  line 5  held 3 versions"],
    );
    check(&repo, &["diff", "HEAD~2..HEAD"], 0, &["proved, held 2 versions"]);
    // What notes know goes on where the range begins.
    check(&repo, &["notes", "add", "HEAD~3..HEAD~2"], 0, &[]);
    check(&repo, &["notes", "add", "HEAD~3"], 0, &[]);
    check(&repo, &["diff", "HEAD~2..HEAD"], 0, &["proved, held 3 versions"]);
}

/// Also where a hunk is compiled in another configuration alone, the second run has the report from the cache.
#[test]
fn reports_that_look_at_other_configurations_are_kept() {
    let text = |k: u32| {
        format!("int f(int x)\n{{\n#ifdef FAST\n    return x + {k};\n#endif\n    return x + {k};\n}}\n")
    };
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two");
    let report = || -> Value {
        let words = ["diff", "HEAD~1..HEAD", "--json"];
        let output = run(&repo, env!("CARGO_BIN_EXE_git-invdiff"), &words);
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let (mut fresh, mut kept) = (report(), report());
    assert!(fresh["cost"]["nodes_visited"].as_u64() > Some(0), "{}", fresh["cost"]);
    assert_eq!(kept["cost"]["nodes_visited"], 0, "{}", kept["cost"]);
    fresh["cost"] = Value::Null;
    kept["cost"] = Value::Null;
    assert_eq!(fresh, kept);
}
