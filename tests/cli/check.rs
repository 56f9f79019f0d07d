//! `git invdiff check` from outside: what it says of a change, in words and as data, and its exit code.

use crate::support::TempRepo;
use serde_json::json;
use std::process::Output;

pub(super) fn invdiff(repo: &TempRepo, words: &str) -> Output {
    repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words.split_whitespace()).output().unwrap()
}

/// A repository with one version of `a.c` committed and another one in the working tree.
pub(super) fn repository(old: &str, new: &str, policy: &str) -> TempRepo {
    let repo = TempRepo::new().file("a.c", old).file(".invdiff.yaml", policy).commit("first");
    repo.write("a.c", new);
    repo
}

/// Checks exit code and parts of the output.
#[track_caller]
pub(super) fn check(repo: &TempRepo, words: &str, code: i32, said: &[&str]) -> String {
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

/// The input that shows a regression has nothing in it that does not matter.
#[test]
fn inputs_of_regressions_are_simplified() {
    let push = |full: &str| {
        format!(
            "#include <assert.h>\nstruct buf {{ int cap, n; int data[8]; }};\nint push(struct buf *b, int x)\n{{\n    if (!b || \
             b->n < 0 || {full})\n        return -1;\n    b->n++;\n    assert(b->n <= 8);\n    return b->n;\n}}\n"
        )
    };
    let repo = repository(&push("b->n >= 8"), &push("b->n > 8"), "");
    let text = check(&repo, "check", 1, &["push()  assertion  b->n <= 8", "for example  b = &{n: 8}"]);
    assert!(!text.contains("data") && !text.contains("cap"), "{text}");
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

/// A file with one function whose assertions change with its text.
fn grade(r: &str, assertions: &str) -> String {
    format!(
        "#include <assert.h>\nint grade(int x, int y)\n{{\n    int r = 1;\n    if (x > 5)\n        r = {r};\n    else if (y == 3)\n        r = 4;\n    {assertions}\n    return r;\n}}\n"
    )
}

/// The first assertion stands before the change, so that nothing can fail there that did not; of the others all is asked.
#[test]
fn what_difference_verification_covers_is_asked_of_nobody_else() {
    let text = |y: &str| {
        format!(
            "#include <assert.h>\nint f(int a, int b)\n{{\n    assert(a * a != 7);\n    int y = {y};\n    assert(y <= 3);\n    return y;\n}}\n"
        )
    };
    let repo = repository(&text("b & 3"), &text("b & 1"), "");
    let json: serde_json::Value = serde_json::from_str(&check(&repo, "check --json", 0, &[])).expect("JSON");
    let found = json["assertions"].as_array().unwrap();
    let decided: Vec<_> = found.iter().map(|a| (a["text"].as_str().unwrap(), &a["decided_by"])).collect();
    assert_eq!(
        decided,
        [("a * a != 7", &"difference-graph".into()), ("y <= 3", &"check-2".into())],
        "{json}"
    );
    check(&repo, "check --strict", 0, &["no regression, 2 kept; "]);
}

#[test]
fn assertions_that_are_new_or_changed_are_told_apart() {
    let kept = "assert(r > 0);";
    let old = grade("2", kept);
    let repo = repository(&old, &grade("3", "assert(r > 0 && r != 4);"), "");
    let said = [
        "new or changed, and does not hold\n  a.c  grade()  assertion  r > 0 && r != 4  line 9  what did not change does not meet it\n",
        "no regression, 1 new or changed that does not hold; ",
    ];
    check(&repo, "check", 0, &said);
    let json: serde_json::Value = serde_json::from_str(&check(&repo, "check --json", 0, &[])).expect("JSON");
    let a = &json["assertions"][0];
    assert_eq!(json["assertions"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(a["match"], "modified");
    assert_eq!(a["violation"], "bad-property-update");
    assert_eq!(a["decided_by"], "check-3");
    assert_eq!(a["difference"][0], "r != 4");
    assert_eq!((&a["lines"]["1"], &a["lines"]["2"]), (&9.into(), &9.into()));
    let repo = repository(&old, &grade("3", &format!("{kept}\n    assert(r != 3);")), "");
    check(&repo, "check", 0, &["r != 3  line 10  what changed does not meet it\n"]);
    let repo = repository(&old, &grade("0", "assert(r > 0 && r < 9);"), "");
    check(&repo, "check", 1, &["regressions\n  a.c  grade()  assertion  r > 0 && r < 9  line 9\n"]);
    let repo = repository(&old, &grade("2", "assert(r >= 0);"), "");
    let json: serde_json::Value = serde_json::from_str(&check(&repo, "check --json", 0, &[])).expect("JSON");
    assert_eq!(json["assertions"][0]["decided_by"], "implied");
    assert_eq!(json["assertions"][0]["outcome"]["2"], "not-fail");
}

/// An assertion that is new and fails is shown with an input, in a caller only with one that it served before.
#[test]
fn new_assertions_that_fail_have_an_example() {
    let half = |check: &str| {
        format!(
            "#include <assert.h>\nstatic int half(int x)\n{{\n    {check}\n    return x / 2;\n}}\nint f(int x)\n{{\n    \
             return half(x) + 1;\n}}\n"
        )
    };
    let repo = repository(&half(";"), &half("assert(x >= 0);"), "");
    let said = [
        "new or changed, and does not hold\n  a.c  f()  assertion  x >= 0  line 4\n      for example  x = -",
        "      before       returns 1\n      after        fails at line 4\n",
    ];
    check(&repo, "check", 0, &said);
    let first = |check: &str| {
        format!(
            "#include <assert.h>\nstatic int first(const int *p)\n{{\n    {check}\n    return *p;\n}}\nint f(const int *p)\n\
             {{\n    return first(p) + 1;\n}}\n"
        )
    };
    let repo = repository(&first(";"), &first("assert(p);"), "");
    let text = check(&repo, "check", 0, &["no regression"]);
    assert!(!text.contains("f()  assertion"), "{text}");
}

#[test]
fn the_difference_costs_less_than_everything() {
    let old = grade("2", "assert(r > 0);");
    let repo = repository(&old, &grade("2", "assert(r > 0);\n    assert(r < 5);"), "");
    check(&repo, "check --compare-full", 0, &["all assertions: ", "; their difference: "]);
    let json: serde_json::Value =
        serde_json::from_str(&check(&repo, "check --compare-full --json", 0, &[])).expect("JSON");
    let queries = |which: &str| json["cost"][which]["solver_queries"].as_u64().expect("a count");
    assert!(queries("incremental") <= queries("full"), "{}", json["cost"]);
}

/// What was found of a commit serves the check of the next one, and changes nothing that is said, even where what is
/// kept is damaged.
#[test]
fn outcomes_are_kept_for_the_next_commit() {
    let version = |limit: &str, assertions: &str| {
        format!(
            "#include <assert.h>\nstruct s {{ int a, b; }};\nint f(struct s *p, int x)\n{{\n    int r = 1;\n    if (x > 5)\n        \
             r = {limit};\n    else if (x * x == 9)\n        r = 4;\n    if (p && p->a > x && p->b == r)\n        r = -r;\n    \
             {assertions}\n    return r;\n}}\n"
        )
    };
    let first = version("3", "assert(r < 6);");
    let second = version("3", "assert(r < 6); assert(r != -4); assert(r >= -4);");
    let third = version("2", "assert(r < 6); assert(r != -4); assert(r >= -4 && r != 0);");
    let repo = TempRepo::new().file("a.c", &first).commit("first");
    let repo = repo.file("a.c", &second).commit("second").file("a.c", &third).commit("third");
    let asked = |words: &str| {
        let output = invdiff(&repo, words);
        let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let cost = json["cost"].take();
        (output.status.code(), json, cost["solver_queries"].as_u64().expect("a count"))
    };
    let question = "check HEAD~1..HEAD --json --compare-full";
    let (code, said, fresh) = asked(&format!("{question} --no-cache"));
    assert!(said["assertions"].to_string().contains("fail"), "{said}");
    asked("check HEAD~2..HEAD~1 --json");
    let (again, same, kept) = asked(question);
    assert_eq!((again, &same), (code, &said));
    assert!(kept < fresh, "{kept} of {fresh}");
    let text = |words: &str| invdiff(&repo, words).stdout;
    assert_eq!(text("check HEAD~1..HEAD"), text("check HEAD~1..HEAD --no-cache"));
    // Cut off in the middle, and something else altogether.
    for by in [|b: Vec<u8>| b[..b.len() / 2].to_vec(), |b: Vec<u8>| vec![b'7'; b.len()]] {
        let mut folders = vec![repo.path().join(".git/invdiff/cache")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path => std::fs::write(&path, by(std::fs::read(&path).expect("a file"))).expect("a file"),
                }
            }
        }
        let (again, same, cost) = asked(question);
        assert_eq!((again, &same, cost), (code, &said, fresh));
        asked("check HEAD~2..HEAD~1 --json");
    }
}

#[test]
fn callers_see_to_what_the_configuration_requires() {
    let requires = "requires: [{function: twice, holds: \"x >= 0 && x < 1000\"}]\n";
    let twice = |k: &str| {
        format!(
            "#include <assert.h>\nint twice(int x)\n{{\n    int y = {k};\n    assert(y >= x);\n    return y;\n}}\n"
        )
    };
    // It wraps only for numbers that nobody passes.
    let repo = repository(&twice("x"), &twice("x + x"), "");
    check(&repo, "check", 1, &["1 regression"]);
    let repo = repository(&twice("x"), &twice("x + x"), requires);
    check(&repo, "check --strict", 0, &["no regression, 1 kept"]);
    let repo = repository(&twice("x"), &twice("x + x - 9"), requires);
    check(&repo, "check", 1, &["1 regression"]);
    // A change cannot excuse itself.
    let repo = repository(&twice("x"), &twice("x + x"), "");
    repo.write(".invdiff.yaml", requires);
    check(&repo, "check", 1, &["1 regression"]);
    let repo = repository(&twice("x"), &twice("x + x"), "requires: [{function: twice, holds: \"x >=\"}]\n");
    assert_eq!(invdiff(&repo, "check").status.code(), Some(128));
}

/// Assertions about floats are decided by intervals, and inputs of verification tasks by their values.
#[test]
fn what_the_engine_leaves_open_is_verified() {
    let task = |bound: &str| {
        format!(
            "extern float __VERIFIER_nondet_float(void);\nextern void abort(void);\nextern void __assert_fail(const char *, const \
             char *, unsigned int, const char *) __attribute__((noreturn));\nvoid reach_error(void) {{ __assert_fail(\"0\", \"a.c\", 3, \
             \"reach_error\"); }}\nint main(void)\n{{\n    float x = __VERIFIER_nondet_float();\n    if (!(x > -0.5f && x < {bound}))\n        \
             abort();\n    float y = x - x * x * x / 6.0f + x * x * x * x * x / 120.0f;\n    if (!(y < 0.5f))\n        reach_error();\n    \
             return 0;\n}}\n"
        )
    };
    let text =
        check(&repository(&task("0.4f"), &task("0.6f"), ""), "check", 1, &["reach_error() is not called"]);
    assert!(text.contains("__VERIFIER_nondet_float") && text.contains("before"), "{text}");
    check(&repository(&task("0.4f"), &task("0.5f"), ""), "check --strict", 0, &["no regression"]);
    // It fails before, too.
    check(&repository(&task("0.7f"), &task("0.6f"), ""), "check", 0, &["no regression"]);
}

#[test]
fn contracts_in_comments_are_kept() {
    let area = |condition: &str| {
        format!(
            "/*@ requires a < 10000 && b < 10000;\n  @ ensures \\result >= 0;\n  @ assigns \\nothing; */\nint area(int a, int b)\n{{\n    if ({condition})\n        return 0;\n    return a * b;\n}}\n"
        )
    };
    let repo = repository(&area("a < 0 || b < 0"), &area("a < 0"), "");
    let said =
        ["a.c  area()  pinned fact  \\result >= 0", "1 regression", "annotation not understood: assigns"];
    check(&repo, "check", 1, &said);
    // Without the requirement it would overflow.
    let repo = repository(&area("a < 0 || b < 0"), &area("b < 0 || a < 0"), "");
    check(&repo, "check", 0, &["no regression, 1 kept"]);
    let without = |text: &str| text.replace("\\result >= 0", "\\result >=");
    let repo = repository(&without(&area("a < 0 || b < 0")), &without(&area("a < 0")), "");
    check(&repo, "check", 0, &["annotation not understood: "]);
}

#[test]
fn assertions_in_comments_are_kept() {
    let clamp = |fix: &str, at: &str| {
        format!("int clamp(int x)\n{{\n    if (x < 0)\n        x = {fix};\n    {at}\n    return x;\n}}\n")
    };
    let text = "/*@ assert x >= 0; */";
    let repo = repository(&clamp("0", text), &clamp("x + 1", text), "");
    check(&repo, "check", 1, &["a.c  clamp()  assertion  x >= 0  line 5"]);
    let repo = repository(&clamp("0", text), &clamp("1", text), "");
    check(&repo, "check", 0, &["no regression, 1 kept"]);
    let other = "/*@ assert \\valid(&x); */";
    let repo = repository(&clamp("0", other), &clamp("1", other), "");
    check(&repo, "check", 0, &["a.c:5: annotation not understood: "]);
    // A comment says nothing to the program itself.
    let output = invdiff(&repository(&clamp("0", text), &clamp("x + 1", text), ""), "diff --json");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("__invdiff_assert_fail"));
}

/// A caller that did something undefined anyway was not made worse; one that worked was, by an assertion
/// that had held there.
#[test]
fn what_was_undefined_before_is_not_broken() {
    let source = |k: u32, u: &str| {
        format!(
            "#include <assert.h>\nstatic void g(int a)\n{{\n    assert(a < 50);\n}}\nint f(int a)\n{{\n    int u{u};\n    if (a < {k})\n        \
             g(a);\n    return u + a;\n}}\n"
        )
    };
    let versions = |u: &str| repository(&source(50, u), &source(51, u), "");
    let text = check(&versions(""), "check", 0, &["no regression"]);
    assert!(!text.contains("regressions\n"), "{text}");
    check(&versions(" = 3"), "check", 1, &["regression", "  a.c  f()  assertion  a < 50  line 4\n"]);
}

/// An assertion that is new in a callee is told as one that is new in the function itself.
#[test]
fn new_assertions_of_callees_are_new() {
    let source = |assertion: &str| {
        format!(
            "#include <assert.h>\nint h(int a);\nvoid g(int a)\n{{\n    {assertion}\n}}\nint f(int a)\n{{\n    \
             g(a);\n    return a;\n}}\n"
        )
    };
    let versions = repository(&source("(void)a;"), &source("assert(h(a) == 1);"), "");
    let said = ["no regression, 2 new or changed that do not hold", "f()", "g()"];
    check(&versions, "check", 0, &said);
}

/// Assertions behind loops over arrays are judged by what the loops keep.
#[test]
fn assertions_behind_loops_over_arrays_are_judged() {
    let source = |step: &str, last: &str| {
        format!(
            "#include <assert.h>\nint f(int *a, int n, int k)\n{{\n    int s = 0;\n    for (int i = 0; i < n; {step}) {{\n        \
             a[i] = k;\n        s = {last};\n    }}\n    assert(n <= 0 || s == n - 1);\n    return s;\n}}\n"
        )
    };
    let versions = |step: &str, last: &str| repository(&source("i++", "i"), &source(step, last), "");
    let text = check(&versions("i += 1", "i + 0 * k"), "check --strict", 0, &["no regression, 1 kept; "]);
    assert!(!text.contains("not fully analysed"), "{text}");
    check(&versions("i++", "i + 1"), "check", 1, &["1 regression"]);
}

/// Which of the engines found an outcome, version by version.
#[test]
fn what_settled_each_version_is_told() {
    let text = |first: &str, second: &str| {
        format!(
            "#include <assert.h>\nint f(int x)\n{{\n    int r = x;\n    if (x < 0)\n        r = {first};\n    assert(r >= 0);\n    return r;\n}}\n\
             int g(int x)\n{{\n    int y = x & 7;\n    assert(y < 8);\n    return {second};\n}}\n"
        )
    };
    let repo = repository(&text("0", "y"), &text("x + 1", "y + 1"), "");
    let text =
        check(&repo, "check -v HEAD", 1, &["settled by   runs\n", "settled by   difference verification\n"]);
    assert!(!check(&repo, "check HEAD", 1, &[]).contains("settled by"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&check(&repo, "check --format json HEAD", 1, &[])).unwrap();
    let settled: Vec<_> = json["assertions"].as_array().unwrap().iter().map(|a| &a["settled_by"]).collect();
    assert_eq!(settled, [&json!({"1": "proof", "2": "runs"}), &json!({"2": "difference-verification"})]);
}
