//! `git invdiff condition` from outside: formats, exit codes, what is said of whom.

use crate::support::TempRepo;
use std::process::Output;

const OLD: &str = include_str!("../../fixtures/difference/removed_guard/old.c");
const NEW: &str = include_str!("../../fixtures/difference/removed_guard/new.c");
const OLD_SUM: &str = include_str!("../../fixtures/difference/sum_in_loop/old.c");
const NEW_SUM: &str = include_str!("../../fixtures/difference/sum_in_loop/new.c");

fn two_commits() -> TempRepo {
    let repo = TempRepo::new().file("src/buy.c", OLD).file("sum.c", OLD_SUM).commit("one");
    repo.file("src/buy.c", NEW).file("sum.c", NEW_SUM).commit("two")
}

fn run(repo: &TempRepo, words: &str) -> Output {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    command.current_dir(repo.path()).args(words.split_whitespace()).output().unwrap()
}

/// Checks the exit code and that these parts are in what is printed.
#[track_caller]
fn check(words: &str, code: i32, parts: &[&str]) -> String {
    let repo = two_commits();
    let output = run(&repo, words);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}\n{out}\n{err}");
    for part in parts {
        assert!(out.contains(part) || err.contains(part), "{part}\n{out}\n{err}");
    }
    out.into_owned()
}

#[test]
fn the_text_says_what_is_harmless_and_what_is_to_be_looked_at() {
    check(
        "condition HEAD~1..HEAD",
        0,
        &[
            "src/buy.c\n  withdraw()\n    verify lines 6, 8-9 of 4-11\n    may fail from line 9 on\n",
            "sum.c\n  total()\n    harmless",
            "1 of 2 functions proved harmless, without a solver",
        ],
    );
    check("condition --exit-code HEAD~1..HEAD -- sum.c", 0, &["1 of 1 function proved harmless"]);
    check("condition --exit-code HEAD~1..HEAD -- src", 1, &["0 of 1 function"]);
    let syntactic = check("condition --detector diffcond HEAD~1..HEAD -- sum.c", 0, &["0 of 1 function"]);
    assert!(!syntactic.contains("harmless:"));
    check("condition HEAD..HEAD", 0, &["no function differs"]);
    check(
        "condition -v HEAD~1..HEAD -- sum.c",
        0,
        &["    condition: 1 state, 1 of them accepting, 0 transitions\n"],
    );
}

#[test]
fn a_new_function_is_to_be_verified_and_a_changed_callee_is_told() {
    let text = |c: u32| {
        format!(
            "#include <assert.h>\nstatic int k(int x) {{ return x + {c}; }}\n\
             int f(int x) {{ int y = k(x); assert(y != 9); return y; }}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", text(1)).commit("one");
    let repo = repo.file("a.c", text(2) + "int g(int x) { return x; }\n").commit("two");
    let out = run(&repo, "condition HEAD~1..HEAD --exit-code");
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(1));
    for part in [
        "k()\n    harmless",
        "f()  (what it calls or reads changed)\n    verify",
        "g()\n    new: verify everything",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn formats_are_for_other_programs() {
    let json = check("condition --json HEAD~1..HEAD", 0, &[]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "invdiff/1");
    assert_eq!(json["harmless"], false);
    assert_eq!(json["functions"][0]["name"], "withdraw");
    assert_eq!(json["functions"][0]["verify"], "some");
    assert_eq!(json["functions"][1]["verify"], "nothing");
    let automaton = check("condition --format automaton HEAD~1..HEAD -- src", 0, &[]);
    for part in [
        "OBSERVER AUTOMATON AssumptionAutomaton\n",
        "    MATCH \"[balance < 0]\" -> GOTO __TRUE;\n    MATCH \"[!(balance < 0)]\" -> GOTO S",
        "MATCH \"balance = balance - amount;\" -> GOTO S",
        "    TRUE -> GOTO __FALSE;\n\nEND AUTOMATON\n",
    ] {
        assert!(automaton.contains(part), "{part}\n{automaton}");
    }
    let covered = check("condition --format automaton HEAD~1..HEAD -- sum.c", 0, &[]);
    assert!(covered.contains("STATE USEFIRST Init :\n    TRUE -> GOTO __TRUE;"), "{covered}");
    let residual = check("condition --format residual-c HEAD~1..HEAD -- src", 0, &["2 places cut off"]);
    assert!(residual.contains("{ exit(0); return -1; }") && residual.contains("exit(0); return balance;"));
    check("condition --format residual-c HEAD~1..HEAD", 129, &["error: this range has 2 residual programs"]);
    check("condition --format dot HEAD~1..HEAD", 129, &["hint: formats: text, json, automaton, residual-c"]);
}

#[test]
fn several_results_go_to_a_folder() {
    let repo = two_commits();
    let output = run(&repo, "condition --format residual-c --output-dir out HEAD~1..HEAD");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "out/src/buy.c\nout/sum.c\n");
    assert!(repo.path().join("out/src/buy.c").exists());
    let output = run(&repo, "condition --format automaton --output-dir out HEAD~1..HEAD");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "out/src-buy.c-withdraw.spc\nout/sum.c-total.spc\n");
}

/// `y = x;` is reached in two ways, and on one of them nothing differs.
#[test]
fn the_residual_program_tells_the_ways_to_a_statement_apart() {
    let text = |c: u32| {
        format!(
            "#include <assert.h>\n#include <stdio.h>\nint main(int argc, char **argv)\n{{\n  int r = 1, y;\n  if (argc < 5)\n    r = {c};\n  \
             y = argc;\n  y++;\n  putchar('a');\n  assert(y != r);\n  return y;\n}}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", text(2)).commit("one");
    let repo = repo.file("a.c", text(3)).commit("two");
    let output = run(&repo, "condition --format residual-c HEAD~1..HEAD");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for part in [
        "static int invdiff_state = 1;\n/*@ assigns \\nothing; ensures \\false; */\nextern void exit(int);\n#line 1\n",
        "{ if (invdiff_state != 1) invdiff_state = 0;",
        "if (invdiff_state == ",
    ] {
        assert!(out.contains(part), "{part}\n{out}{err}");
    }
    // Not verified again: the way on which `r` is 1.
    let folder = invdiff_testing::scratch();
    if !crate::support::tier::has_compiler() {
        return;
    }
    std::fs::write(folder.path().join("a.c"), out.as_bytes()).unwrap();
    let cc =
        |args: &[&str]| invdiff_testing::compiler().current_dir(folder.path()).args(args).output().unwrap();
    let built = cc(&["-w", "-o", "a", "a.c"]);
    assert!(built.status.success(), "{out}{}", String::from_utf8_lossy(&built.stderr));
    let said = |arguments: &[&str]| {
        let run = std::process::Command::new(folder.path().join("a")).args(arguments).output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stdout).into_owned())
    };
    let four = ["1", "2", "3", "4"];
    assert_eq!(said(&four), (Some(0), String::new()), "covered: it ends where the ways meet\n{out}");
    assert_eq!(said(&[]), (Some(0), "a".into()), "to be verified: it goes on\n{out}");
    assert_eq!(said(&["1"]).0, None, "argc + 1 is 3: the new violation\n{out}");
}
