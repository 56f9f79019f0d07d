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

const SUM: &str = "\
int sum(int n, int m)
{
    int s = 0;
    for (int i = 0; i < 4; i++) {
        int t = i * 2;
        s += t;
        while (m > 0 && s > 100)
            m--;
    }
    return s;
}
";

#[test]
fn heads_of_loops_are_looked_at_where_that_is_asked_for() {
    let repo = TempRepo::new().file("sum.c", SUM).commit("one");
    let (_, out, _) = run(&repo, &["--", "sum.c:sum"]);
    assert!(!out.contains("head of the loop"), "{out}");
    let parts = [
        "at head of the loop at line 4\n",
        "i >= 0 ",
        "i <= 4 ",
        "proved",
        "at head of the loop at line 7\n",
    ];
    check(&repo, &["--points", "all", "--", "sum.c:sum"], 0, &parts);
    let (_, out, err) = run(&repo, &["--json", "--points", "loop", "--", "sum.c:sum"]);
    let report: Value = serde_json::from_str(&out).expect(&err);
    let all = report["functions"][0]["invariants"].as_array().unwrap();
    assert!(all.iter().all(|i| i["point"] == "loop" && (i["line"] == 4 || i["line"] == 7)), "{out}");
    check(
        &repo,
        &["--points", "line", "--", "sum.c:sum"],
        129,
        &["no single lines", "entry, exit, loop or all"],
    );
    // Of versions: by the order of their loops.
    let repo = repo.file("sum.c", format!("\n{}", SUM.replace("i < 4", "i < 5"))).commit("two");
    let parts = ["- i <= 4 at head of the loop at line 5", "i >= 0 at head of the loop at line 5"];
    check(&repo, &["--points", "loop", "HEAD~1..HEAD", "--", "sum.c:sum"], 0, &parts);
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
fn runs_are_written_for_daikon_and_read_again() {
    let repo = repository();
    let words = [
        "--write-dtrace",
        "w.dtrace",
        "--write-decls",
        "w.decls",
        "--format",
        "daikon",
        "--",
        "clamp.c:clamp",
    ];
    let (code, out, err) = run(&repo, &words);
    assert_eq!(code, 0, "{err}");
    let rule = "=".repeat(75);
    for part in [
        &*format!("{rule}\nclamp.c.clamp():::EXIT\n"),
        "(x < lo)  ==>  (return == lo)\n",
        "(x <= hi)  ==>  (return == max(x, lo))\n",
        "::calls == orig(::calls) + 1\n",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let read = |name: &str| std::fs::read_to_string(repo.path().join(name)).unwrap();
    let (trace, decls) = (read("w.dtrace"), read("w.decls"));
    assert!(trace.starts_with(&decls), "{decls}");
    let entry = "ppt clamp.c.clamp():::ENTER\nppt-type enter\nvariable x\n  var-kind variable\n  dec-type int\n  rep-type int\n";
    assert!(
        decls.contains(entry)
            && decls.contains("ppt clamp.c.clamp():::EXIT0\nppt-type subexit\nvariable return\n"),
        "{decls}"
    );
    // The same runs again: as many, and with them no others.
    let (_, out, _) = run(&repo, &["--json", "--", "clamp.c:clamp"]);
    let first: Value = serde_json::from_str(&out).unwrap();
    let records = trace.matches("clamp.c.clamp():::ENTER\nthis_invocation_nonce\n").count();
    assert_eq!(first["functions"][0]["runs"], records);
    let words = ["--inputs", "w.dtrace", "--write-dtrace", "again.dtrace", "--", "clamp.c:clamp"];
    check(&repo, &words, 0, &["x < lo ==> \\result == lo"]);
    let values = |text: &str| {
        let mut all: Vec<String> = text
            .split("\n\n")
            .filter(|record| record.contains(":::ENTER\nthis_invocation_nonce\n"))
            .map(|record| record.lines().skip(3).collect::<Vec<_>>().join(" "))
            .collect();
        all.sort();
        all.dedup();
        all
    };
    let again = values(&read("again.dtrace"));
    assert!(values(&trace).iter().all(|row| again.contains(row)), "{again:#?}");
    check(&repo, &["--write-dtrace", "clamp.c/a.dtrace", "--", "clamp.c:clamp"], 128, &["cannot write"]);
}

#[test]
fn members_behind_pointers_are_told_as_likely() {
    let text = "struct buf { int len; int cap; };\n\
        int push(struct buf *b, int n)\n{\n    if (!b)\n        return -1;\n    b->cap = 16;\n    b->len = n & 15;\n    return b->len;\n}\n";
    let repo = TempRepo::new().file("buf.c", text).commit("one");
    let parts = ["b->cap == 16 ", "\\result == b->len ", "likely("];
    check(&repo, &["--write-dtrace", "b.dtrace", "--", "buf.c:push"], 0, &parts);
    let trace = std::fs::read_to_string(repo.path().join("b.dtrace")).unwrap();
    let parts = [
        "variable b->len\n  var-kind field len\n  enclosing-var b\n  dec-type int\n  rep-type int\n",
        // Where the pointer is null there is no member.
        "b\nnull\n1\nn\n",
        "b->len\nnonsensical\n2\n",
    ];
    for part in parts {
        assert!(trace.contains(part), "{part}\n{trace}");
    }
    // What one version does likely and a run of the other refutes is a change, with how many runs say so.
    let repo = repo.file("buf.c", text.replace("cap = 16", "cap = n > 40 ? 32 : 16")).commit("two");
    check(
        &repo,
        &["HEAD~1..HEAD", "--", "buf.c:push"],
        0,
        &["- b->cap == 16 at exit", "  broken by b leads somewhere, n = "],
    );
    let (_, out, _) = run(&repo, &["--json", "HEAD~1..HEAD", "--", "buf.c:push"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let changes = report["functions"][0]["changes"].as_array().unwrap();
    let lost = changes.iter().find(|c| c["text"] == "b->cap == 16").unwrap();
    assert_eq!((&lost["sign"], &lost["status"]), (&"-".into(), &"likely".into()));
    assert!(lost["samples"].as_u64().unwrap() > 4, "{lost}");
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
