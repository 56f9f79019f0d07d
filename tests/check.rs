//! `git invdiff check` from outside: what it says of a change, in words and as data, and its exit code.

mod support;

use std::process::Output;
use support::TempRepo;

fn invdiff(repo: &TempRepo, words: &str) -> Output {
    repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words.split_whitespace()).output().unwrap()
}

/// A repository with one version of `a.c` committed and another one in the working tree.
fn repository(old: &str, new: &str, policy: &str) -> TempRepo {
    let repo = TempRepo::new().file("a.c", old).file(".invdiff.yaml", policy).commit("first");
    repo.write("a.c", new);
    repo
}

/// Checks exit code and parts of the output.
#[track_caller]
fn check(repo: &TempRepo, words: &str, code: i32, said: &[&str]) -> String {
    let output = invdiff(repo, words);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}\n{text}\n{error}");
    said.iter().for_each(|part| assert!(text.contains(part), "{words}: {part}\n{text}"));
    text
}

fn clamp(fix: &str) -> String {
    format!(
        "#include <assert.h>\nint clamp(int x)\n{{\n    if (x < 0)\n        x = {fix};\n    assert(x >= 0);\n    return x;\n}}\n"
    )
}

#[test]
fn a_regression_is_shown_with_its_input() {
    let repo = repository(&clamp("0"), &clamp("x + 1"), "");
    let said = [
        "regressions\n  a.c  clamp()  assertion  x >= 0  line 6\n      for example  x = -",
        "      before       returns 0\n      after        fails at line 6\n",
        "\n1 regression; 1 changed function looked at\n",
    ];
    check(&repo, "check", 1, &said);
    check(&repo, "check --staged", 0, &["no regression; no function changed\n"]);
    check(&repo, "check --function nothing", 0, &["no regression; no function changed\n"]);
    check(&repo, "check -- b.c", 0, &["no regression"]);
    repo.git(["add", "a.c"]);
    check(&repo, "check --staged", 1, &said);
    let json: serde_json::Value =
        serde_json::from_str(&check(&repo, "check --staged --json", 1, &[])).expect("JSON");
    let assertion = &json["assertions"][0];
    assert_eq!(assertion["violation"], "regression");
    assert_eq!(assertion["outcome"]["2"], "fail");
    assert_eq!(assertion["counterexample"]["old"]["end"], "return");
    assert!(json["cost"]["solver_queries"].is_u64());
    let yaml: serde_json::Value =
        serde_yaml::from_str(&check(&repo, "check --staged --format yaml", 1, &[])).expect("YAML");
    assert_eq!(yaml["assertions"], json["assertions"]);
}

#[test]
fn what_a_change_makes_undefined_is_a_regression() {
    let mean = |check: &str| {
        format!(
            "int mean(int sum, int n)\n{{\n    if ({check})\n        return 0;\n    return sum / n;\n}}\n"
        )
    };
    let repo = repository(&mean("n <= 0"), &mean("n < 0"), "");
    check(
        &repo,
        "check",
        1,
        &[
            "regressions\n  a.c  mean()  division  no division by zero  line 5\n      for example  sum = 0, n = 0",
            "      before       returns 0\n      after        undefined (division-by-zero, line 5)\n",
        ],
    );
    let repo = repository(&mean("n <= 0"), &mean("n < 0"), "gate: {block: [assertion]}\n");
    check(&repo, "check", 0, &["line 5  not blocked\n"]);
    // Nobody says how long the array is.
    let last = |k: &str| format!("int last(const int *a, int n)\n{{\n    return n > 0 ? a[{k}] : 0;\n}}\n");
    let repo = repository(&last("0"), &last("n - 1"), "");
    let text = check(&repo, "check", 0, &["no regression, 1 possible; "]);
    assert_eq!(text.lines().count(), 1, "{text}");
    check(
        &repo,
        "check -v",
        0,
        &["possible, if callers pass such an input\n  a.c  last()  bounds  no access out of"],
    );
}

#[test]
fn what_breaks_nothing_is_one_line() {
    let repo = repository(&clamp("0"), &clamp("1"), "");
    let text = check(&repo, "check --strict", 0, &["no regression, 1 kept; 1 changed function looked at\n"]);
    assert_eq!(text.lines().count(), 1, "{text}");
    let same = repository(&clamp("0"), &clamp("0"), "");
    assert_eq!(check(&same, "check", 0, &[]), "no regression; no function changed\n");
}

#[test]
fn what_was_broken_before_is_counted() {
    let repo = repository(&clamp("x + 1"), &clamp("x + 2"), "");
    let text = check(&repo, "check", 0, &["no regression, 1 broken before, too; "]);
    assert_eq!(text.lines().count(), 1, "{text}");
    check(&repo, "check -v", 0, &["broken before, too\n  a.c  clamp()  assertion  x >= 0  line 6\n"]);
    let mended = repository(&clamp("x + 1"), &clamp("0"), "");
    check(&mended, "check", 0, &["fixed\n  a.c  clamp()  assertion  x >= 0  line 6\n", "1 fixed"]);
}

#[test]
fn the_policy_says_what_is_an_objection() {
    let policy = "gate: {block: [pinned]}\n";
    let repo = repository(&clamp("0"), &clamp("x + 1"), policy);
    check(&repo, "check", 0, &["x >= 0  line 6  not blocked\n", "1 regression"]);
    // A change cannot loosen its own gate.
    let repo = repository(&clamp("0"), &clamp("x + 1"), "");
    repo.write(".invdiff.yaml", policy);
    check(&repo, "check", 1, &["x >= 0  line 6\n"]);
}

#[test]
fn what_is_open_counts_under_strict_only() {
    let collatz = |k: &str| {
        format!(
            "#include <assert.h>\nunsigned steps(unsigned n)\n{{\n    unsigned k = {k}, m = n;\n    while (m > 1) {{\n        m = m % 2 ? 3 * m + 1 : m / 2;\n        k++;\n    }}\n    assert(k != 2000000003u);\n    return k;\n}}\n"
        )
    };
    let repo = repository(&collatz("0"), &collatz("1"), "");
    check(
        &repo,
        "check",
        0,
        &["undecided\n  a.c  steps()  assertion  k != 2000000003u  line 9", "1 undecided"],
    );
    check(&repo, "check --strict", 3, &["1 undecided"]);
}
