//! `git invdiff check` where a change makes an assertion weaker: whether the new code needs that.

use super::check::{check, invdiff, repository};
use crate::support::TempRepo;

#[track_caller]
fn json(repo: &TempRepo, words: &str, code: i32) -> serde_json::Value {
    serde_json::from_str(&check(repo, words, code, &[])).expect("JSON")
}

/// A function with one assertion of `r`.
fn grade(r: &str, assertion: &str) -> String {
    format!(
        "#include <assert.h>\nint grade(int x, int y)\n{{\n    int r = 1;\n    if (x > 5)\n        r = {r};\n    else if (y == 3)\n        r = 4;\n    {assertion}\n    return r;\n}}\n"
    )
}

const OLD: &str = "assert(r > 0);";
const WEAKER: &str = "assert(r >= 0);";
const BLOCKS: &str = "gate: {block: [weakened]}\n";

#[test]
fn a_weaker_assertion_that_the_new_code_needs_is_told() {
    let repo = repository(&grade("2", OLD), &grade("0", WEAKER), "");
    let said = [
        "weakened, and the new code needs that\n  a.c  grade()  assertion  r >= 0  line 9  was r > 0\n      for example  x = ",
        "      before       returns 2\n      after        would fail r > 0 at line 9\n",
        "no regression, 1 weakened; 1 changed function looked at\n",
    ];
    check(&repo, "check", 0, &said);
    check(&repo, "check --strict", 0, &said);
    let json = json(&repo, "check --json", 0);
    let a = &json["assertions"][0];
    assert_eq!((&a["match"], &a["violation"]), (&"modified".into(), &serde_json::Value::Null));
    let weakened = &a["weakened"];
    assert_eq!(
        (&weakened["text"], &weakened["line"], &weakened["needed"]),
        (&"r > 0".into(), &9.into(), &"yes".into())
    );
    assert_eq!(weakened["witness"]["old"]["return"], "2");
    assert_eq!(weakened["witness"]["new"]["end"], "abort");
    assert_eq!(weakened["witness"]["relies_on"][0], "old-assertion-put-back");
}

#[test]
fn one_that_the_new_code_does_not_need_is_told_on_demand() {
    for new in [grade("2", WEAKER), grade("3", WEAKER)] {
        let repo = repository(&grade("2", OLD), &new, BLOCKS);
        let text = check(&repo, "check --strict", 0, &["no regression, 1 kept; "]);
        assert_eq!(text.lines().count(), 1, "{text}");
        check(&repo, "check -v", 0, &["r >= 0  line 9  was r > 0, which is kept, too\n"]);
        assert_eq!(json(&repo, "check --json", 0)["assertions"][0]["weakened"]["needed"], "no");
    }
}

#[test]
fn what_says_as_much_as_before_is_no_weaker() {
    for same in ["assert(0 < r);", "assert(r >= 1);", "assert(r > 0 && r < 9);", "assert(r > 1 - 1);"] {
        let repo = repository(&grade("2", OLD), &grade("3", same), BLOCKS);
        check(&repo, "check --strict", 0, &["no regression, 1 kept; "]);
        let json = json(&repo, "check --json", 0);
        assert_eq!(json["assertions"][0]["weakened"], serde_json::Value::Null, "{same}");
    }
}

/// What fails is a regression, or a change that does not hold, whatever else was weakened.
#[test]
fn what_fails_by_itself_is_no_weakening() {
    let repo = repository(&grade("2", OLD), &grade("-1", WEAKER), "");
    let text = check(&repo, "check", 1, &["regressions\n  a.c  grade()  assertion  r >= 0  line 9"]);
    assert!(!text.contains("1 weakened"), "{text}");
    // Reworded, it is the same.
    let repo = repository(&grade("2", OLD), &grade("0", "assert(0 < r);"), "");
    check(&repo, "check", 1, &["regressions\n  a.c  grade()  assertion  0 < r  line 9", "1 regression; "]);
    // It failed on the same inputs before.
    let repo = repository(&grade("0", OLD), &grade("0 * x", WEAKER), "");
    let text = check(&repo, "check", 0, &["no regression"]);
    assert!(!text.contains("weakened"), "{text}");
    check(&repo, "check -v", 0, &["was r > 0, which failed before, too"]);
}

#[test]
fn another_clause_of_it_may_be_lost() {
    let repo = repository(&grade("2", "assert(r > 0 && r < 5);"), &grade("7", "assert(r > 0);"), "");
    check(
        &repo,
        "check",
        0,
        &["assertion  r > 0  line 9  was r > 0 && r < 5\n", "would fail r > 0 && r < 5 at line 9\n"],
    );
}

#[test]
fn assertions_in_loops_are_put_back_where_they_were() {
    let sum = |step: &str, assertion: &str| {
        format!(
            "#include <assert.h>\nint sum(int n)\n{{\n    int s = 1;\n    for (int i = 0; i < n && i < 9; i++) {{\n        s = {step};\n        {assertion}\n    }}\n    return s;\n}}\n"
        )
    };
    let repo = repository(&sum("s + i", "assert(s > 0);"), &sum("s - 1 + i", "assert(s >= -1);"), "");
    check(
        &repo,
        "check",
        0,
        &["sum()  assertion  s >= -1  line 7  was s > 0\n      for example  n = 1", "1 weakened"],
    );
    let repo = repository(&sum("s + i", "assert(s > 0);"), &sum("s + 2", "assert(s >= -1);"), "");
    check(&repo, "check --strict", 0, &["no regression, 1 kept"]);
}

#[test]
fn each_function_and_assertion_is_judged_alone() {
    let two = |a: &str, b: &str, first: &str, second: &str| {
        format!(
            "#include <assert.h>\nint f(int x)\n{{\n    int r = {a};\n    assert({first});\n    return r + x;\n}}\nint g(int x)\n{{\n    int r = {a}, s = {b};\n    assert({first});\n    assert({second});\n    return r + s + x;\n}}\n"
        )
    };
    let repo = repository(&two("1", "1", "r > 0", "s > 0"), &two("0", "0", "r >= 0", "s >= 0"), "");
    let said = [
        "f()  assertion  r >= 0  line 5  was r > 0\n      for example  x = 0",
        "g()  assertion  r >= 0  line 11  was r > 0\n",
        "g()  assertion  s >= 0  line 12  was s > 0\n",
        "3 weakened",
    ];
    check(&repo, "check", 0, &said);
    let repo = repository(&two("1", "1", "r > 0", "s > 0"), &two("1", "0", "r >= 0", "s >= 0"), "");
    let text =
        check(&repo, "check", 0, &["g()  assertion  s >= 0  line 12  was s > 0\n", "1 weakened, 2 kept"]);
    assert!(!text.contains("f()"), "{text}");
}

#[test]
fn conditions_about_memory_and_calls_are_put_back_too() {
    let push = |full: &str, assertion: &str| {
        format!(
            "#include <assert.h>\nstruct buf {{ int cap, n; int data[8]; }};\nstatic int room(const struct buf *b)\n{{\n    return 8 - b->n;\n}}\nint push(struct buf *b, int x)\n{{\n    if (!b || b->n < 0 || {full})\n        return -1;\n    b->n++;\n    assert({assertion});\n    return b->n;\n}}\n"
        )
    };
    let repo = repository(&push("b->n >= 8", "b->n <= 8"), &push("b->n > 8", "b->n <= 9"), "");
    check(
        &repo,
        "check",
        0,
        &["push()  assertion  b->n <= 9  line 12  was b->n <= 8\n      for example  b = &{n: 8}"],
    );
    let repo = repository(&push("b->n >= 8", "room(b) >= 0"), &push("b->n > 8", "room(b) >= -1"), "");
    check(&repo, "check", 0, &["was room(b) >= 0\n", "1 weakened"]);
}

#[test]
fn a_removed_assertion_is_told_with_the_input_that_it_would_stop() {
    let repo = repository(&grade("2", OLD), &grade("0", ";"), "");
    let said = [
        "removed\n  a.c  grade()  assertion  r > 0  line 9  the new code breaks it\n      for example  x = ",
        "      before       returns 2\n      after        would fail r > 0 before line 10\n",
        "no regression, 1 removed; ",
    ];
    check(&repo, "check", 0, &said);
    assert_eq!(json(&repo, "check --json", 0)["assertions"][0]["weakened"]["needed"], "yes");
    let repo = repository(&grade("2", OLD), &grade("0", ";"), BLOCKS);
    check(&repo, "check", 1, &said[..1]);
    let repo = repository(&grade("2", OLD), &grade("3", ";"), BLOCKS);
    let text = check(&repo, "check", 0, &["removed\n  a.c  grade()  assertion  r > 0  line 9\n\n"]);
    assert!(!text.contains("for example"), "{text}");
}

#[test]
fn the_gate_blocks_it_where_it_is_told_to() {
    let repo = repository(&grade("2", OLD), &grade("0", WEAKER), "gate: {block: [assertion, weakened]}\n");
    check(&repo, "check", 1, &["1 weakened"]);
    assert!(invdiff(&repo, "hook install pre-commit").status.success());
    repo.git(["add", "a.c"]);
    let mut commit = repo.command_of("git");
    let path = format!("{}:{}", bin_folder(), std::env::var("PATH").unwrap_or_default());
    let output = commit.args(["commit", "-m", "second"]).env("PATH", path).output().expect("git");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success()
            && error.contains("r > 0 was weakened to r >= 0, and the new code needs that"),
        "{error}"
    );
    // Known, it does neither.
    let id = json(&repo, "check --json", 1)["assertions"][0]["id"].as_str().expect("an id").to_owned();
    let policy = format!("{BLOCKS}suppress: [{{id: \"{id}\", reason: agreed}}]\n");
    let repo = repository(&grade("2", OLD), &grade("0", WEAKER), &policy);
    check(&repo, "check", 0, &["was r > 0  suppressed: agreed\n"]);
    let repo = repository(&grade("2", OLD), &grade("0", WEAKER), "gate: {block: [weakend]}\n");
    let output = invdiff(&repo, "check");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(128));
    assert!(error.contains("gate.block") && error.contains("weakened"), "{error}");
}

fn bin_folder() -> String {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_git-invdiff"));
    binary.parent().map(|p| p.display().to_string()).unwrap_or_default()
}

#[test]
fn code_hosts_are_told() {
    for (policy, code, level, mark) in [("", 0, "warning", "::warning "), (BLOCKS, 1, "error", "::error ")] {
        let repo = repository(&grade("2", OLD), &grade("0", WEAKER), policy);
        let sarif = json(&repo, "check --format sarif", code);
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!((&result["ruleId"], &result["level"]), (&"property/weakened".into(), &level.into()));
        check(
            &repo,
            "check --format github",
            code,
            &[mark, "r > 0 was weakened to r >= 0, and the new code needs that"],
        );
        check(
            &repo,
            "check --format github",
            code,
            &[": before returns 2; after would fail r > 0 at line 9"],
        );
        check(&repo, "check --format html", code, &["Weakened"]);
    }
}

/// A contract in a comment is a pinned fact; one that the change drops or loosens is looked at as it was.
#[test]
fn contracts_that_are_loosened_are_looked_at_as_they_were() {
    let one = |ensures: &str, r: &str| {
        format!(
            "{ensures}\nint one(int x)\n{{\n    int r = 1;\n    if (x > 5)\n        r = {r};\n    return r;\n}}\n"
        )
    };
    let (old, weaker) = ("/*@ ensures \\result > 0; */", "/*@ ensures \\result >= 0; */");
    for (new, block, code) in [(weaker, "", 0), ("", "", 0), (weaker, BLOCKS, 1)] {
        let repo = repository(&one(old, "2"), &one(new, "0"), block);
        let said = [
            "weakened, and the new code needs that\n  a.c  one()  pinned fact  \\result > 0  line 8  dropped\n      for example  x = ",
        ];
        check(&repo, "check", code, &said);
        let repo = repository(&one(old, "2"), &one(new, "3"), block);
        let text = check(&repo, "check --strict", 0, &["no regression"]);
        assert!(!text.contains("weakened"), "{text}");
    }
}

/// What stands at another place took no place of it, and a text that is asserted twice tells nothing.
#[test]
fn an_assertion_goes_back_to_its_own_place() {
    let step = |first: &str, second: &str, value: &str| {
        format!(
            "#include <assert.h>\nint step(int x)\n{{\n    switch (x) {{\n    case 1:\n        x = {value};\n        assert({first});\n        break;\n    default:\n        if (x > 3)\n            assert({second});\n        else\n            x = 9;\n    }}\n    assert(x >= 3);\n    return x;\n}}\n"
        )
    };
    let repo = repository(&step("x == 3", "x > 3", "3"), &step("x >= 3", "x > 2", "4"), "");
    let text = check(
        &repo,
        "check",
        0,
        &["assertion  x >= 3  line 7  was x == 3\n      for example  x = 1 ", "1 weakened, "],
    );
    assert!(!text.contains("x > 2"), "{text}");
    let two = |r: &str, asserted: &str| {
        format!(
            "#include <assert.h>\nint two(int x)\n{{\n    int r = {r}, s = 2;\n    {asserted}\n    return r + s + x;\n}}\n"
        )
    };
    let moved = "assert(s > 0);\n    assert(r >= 0);";
    let repo = repository(&two("1", "assert(r > 0);\n    assert(s > 0);"), &two("0", moved), "");
    check(
        &repo,
        "check",
        0,
        &[
            "two()  assertion  r >= 0  line 6  was r > 0\n",
            "would fail r > 0 before line 5\n",
            "1 weakened, 1 kept",
        ],
    );
}

/// Where the old condition means nothing in the new code, the question stays open.
#[test]
fn what_cannot_be_put_back_is_an_open_question() {
    let of = |ty: &str, value: &str, assertion: &str| {
        format!(
            "#include <assert.h>\nint f(int x)\n{{\n    {ty} r = x > 3 ? {value} : 1;\n    assert({assertion});\n    return r;\n}}\n"
        )
    };
    let repo = repository(&of("int", "3", "r >= 0"), &of("unsigned", "-3", "r != 0"), BLOCKS);
    let said = "undecided\n  a.c  f()  assertion  r != 0  line 5  was r >= 0; whether the new code breaks that is not known\n\n";
    check(&repo, "check", 0, &[said]);
    check(&repo, "check --strict", 3, &["1 undecided"]);
    let message = "r != 0 was r >= 0; whether the new code breaks that is not known";
    check(&repo, "check --format github", 0, &["::notice ", message]);
}

/// An input that the old code stopped at another assertion shows no need.
#[test]
fn what_was_stopped_before_needs_nothing() {
    let two = |first: &str, second: &str, value: &str| {
        format!(
            "#include <assert.h>\nint two(int x, int y)\n{{\n    int r = y;\n    assert({first});\n    if (y <= 3)\n        r = {value};\n    assert({second});\n    return r;\n}}\n"
        )
    };
    let guarded = two("y <= 9 || y > 0", "r > -9", "y > 0 ? y : 0");
    let repo = repository(&two("y > 0", "r > 0", "y"), &guarded, BLOCKS);
    let text = check(&repo, "check", 0, &["no regression"]);
    assert!(!text.contains("1 weakened"), "{text}");
    let repo = repository(&two("y > 0", "r > 0", "y"), &two("y <= 9 || y > 0", "r > -9", "y - 1"), BLOCKS);
    check(&repo, "check", 1, &["was r > 0\n      for example  x = 0, y = 1 ", "1 weakened"]);
}
