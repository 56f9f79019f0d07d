//! `git invdiff discover` from outside: what it says, first runs from files, bad input.

use crate::support::TempRepo;
use serde_json::Value;

const CLAMP: &str = "\
static int calls;
int clamp(int x, int lo, int hi)
{
    calls++;
    if (x < lo)
        return lo;
    if (x > hi)
        return hi;
    return x;
}
void reset(void) { calls = 3; }
";

fn repository() -> TempRepo {
    TempRepo::new().file("clamp.c", CLAMP).commit("one")
}

fn run(repo: &TempRepo, words: &[&str]) -> (i32, String, String) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.current_dir(repo.path()).arg("discover").args(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn check(repo: &TempRepo, words: &[&str], code: i32, parts: &[&str]) {
    let (status, out, err) = run(repo, words);
    assert_eq!(status, code, "{words:?}\n{out}\n{err}");
    for part in parts {
        assert!(out.contains(part) || err.contains(part), "{part}\n{out}\n{err}");
    }
}

#[test]
fn a_function_is_told_with_its_turns() {
    let parts = [
        "clamp.c:clamp()\n  turn  invariants",
        "at exit\n",
        "x < lo ==> \\result == lo",
        "x <= hi ==> \\result == (x > lo ? x : lo)",
        "calls == \\old(calls) + 1",
        "proved",
    ];
    let repo = repository();
    check(&repo, &["HEAD", "--", "clamp.c:clamp"], 0, &parts);
    check(&repo, &["--function", "cl*", "--all"], 0, &parts);
}

#[test]
fn a_harness_says_what_is_free() {
    let repo = repository();
    let words = ["--harness", "reset(); clamp(?, 0, 5..9)", "--", "clamp.c"];
    check(&repo, &words, 0, &["after  reset(); clamp(?, 0, 5..9)", "calls == 4 ", "\\result >= 0 "]);
    let wrong = |harness: &str, part: &str| {
        check(&repo, &["--harness", harness, "--", "clamp.c"], 129, &[part]);
    };
    wrong("clamp(", "column 7: '?', a number or LOW..HIGH expected");
    wrong("clamp(1)", "clamp() has 3 parameters, and the harness gives 1");
    wrong("gone(); clamp(?, ?, ?)", "gone() is not defined in the file");
    wrong("clamp(?, 5000000000, ?)", "argument 2 of clamp() does not fit its type");
}

#[test]
fn json_has_the_words_of_the_contract() {
    let repo = repository();
    let (code, out, err) = run(&repo, &["--json", "HEAD", "--", "clamp.c:clamp"]);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let function = &report["functions"][0];
    assert_eq!(function["function"], "clamp");
    let first = &function["iterations"][0];
    for key in ["index", "invariants", "refuted", "added", "tests", "solver_queries", "states", "reused"] {
        assert!(first[key].is_u64(), "{key}: {first}");
    }
    let invariants = function["invariants"].as_array().unwrap();
    let counted = invariants.iter().find(|i| i["text"] == "calls == \\old(calls) + 1").unwrap();
    assert_eq!((&counted["status"], &counted["point"]), (&"proved".into(), &"exit".into()));
    assert!(counted["samples"].as_u64().unwrap() > 10);
}

#[test]
fn first_runs_come_from_a_file() {
    let repo = repository();
    let file = |name: &str, text: &str| std::fs::write(repo.path().join(name), text).unwrap();
    file("runs.csv", "x,lo,hi\n1,0,5\n2,0,5\n3,0,5\n4,0,5\n5,0,5\n0,0,5\n");
    let words = ["-v", "--inputs", "runs.csv", "--", "clamp.c:clamp"];
    // What these suggest is refuted by symbolic execution.
    check(&repo, &words, 0, &["refuted\n", "\\result == x at exit", "by x = "]);
    let wrong = |text: &str, part: &str| {
        file("wrong.csv", text);
        check(&repo, &["--inputs", "wrong.csv", "--", "clamp.c:clamp"], 129, &[part]);
    };
    wrong("x,low\n1,2\n", "'low' is no input of clamp()");
    wrong("x,lo\n1\n", "line 2, column");
    wrong("x\n", "it has no runs");
    wrong("x\n5000000000\n", "x = 5000000000 is no value of its type");
    check(&repo, &["--inputs", "gone.csv", "--", "clamp.c:clamp"], 129, &["gone.csv: No such file"]);
}

#[test]
fn a_trace_of_daikon_gives_first_runs() {
    let repo = repository();
    let mut trace = "decl-version 2.0\nppt clamp.c.clamp():::ENTER\nppt-type enter\n".to_owned();
    for name in ["x", "lo", "hi"] {
        trace +=
            &format!("variable {name}\nvar-kind variable\ndec-type int\nrep-type int\ncomparability 1\n");
    }
    for x in 0..6 {
        trace += &format!(
            "\nclamp.c.clamp():::ENTER\nthis_invocation_nonce\n{x}\nx\n{x}\n1\nlo\n0\n1\nhi\n5\n1\n"
        );
    }
    std::fs::write(repo.path().join("a.dtrace"), &trace).unwrap();
    let words = ["-v", "--inputs", "a.dtrace", "--", "clamp.c:clamp"];
    check(&repo, &words, 0, &["\\result == x at exit", "by x = "]);
    // What comes before a fault counts.
    std::fs::write(repo.path().join("a.dtrace"), trace + "\nclamp.c.clamp():::ENTER\nx\n7\n").unwrap();
    check(&repo, &words, 0, &["what comes before is taken", "\\result == x at exit"]);
    std::fs::write(repo.path().join("a.dtrace"), "other.c.g():::ENTER\nx\n7\n1\n").unwrap();
    check(&repo, &words, 129, &["line 1: 'other.c.g():::ENTER' is not declared"]);
}

#[test]
fn of_a_range_is_told_what_one_version_lost() {
    let repo = repository();
    let repo = repo.file("clamp.c", CLAMP.replace("x > hi", "x > hi && hi != 77")).commit("two");
    let parts = [
        "version 1  HEAD~1",
        "version 2  HEAD",
        "- x >= lo ==> \\result <= hi at exit",
        "proved  broken by x = ",
        "hi = 77",
        "held by all versions\n",
        "x < lo ==> \\result == lo at exit",
    ];
    check(&repo, &["HEAD~1..HEAD", "--", "clamp.c:clamp"], 0, &parts);
    let (_, out, _) = run(&repo, &["--json", "HEAD~1..HEAD", "--", "clamp.c:clamp"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let function = &report["functions"][0];
    assert_eq!(function["versions"].as_array().unwrap().len(), 2);
    let lost =
        function["changes"].as_array().unwrap().iter().find(|c| c["text"] == "x >= lo ==> \\result <= hi");
    assert_eq!(lost.unwrap()["sign"], "-");
    // Nothing is lost where nothing changed.
    let repo = repo.file("other.c", "int g;").commit("three");
    let (_, out, _) = run(&repo, &["--json", "HEAD~1..HEAD", "--", "clamp.c:clamp"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["functions"][0]["changes"], serde_json::json!([]));
}

#[test]
fn what_is_not_there_is_said() {
    let repo = repository();
    check(&repo, &["--", "clamp.c:clmp"], 0, &["no function has this name"]);
    check(&repo, &["--confidence", "1.5", "--", "clamp.c:clamp"], 129, &["confidence 1.5 is not"]);
    check(&repo, &[], 129, &["no function is named", "-- FILE:FUNCTION"]);
}
