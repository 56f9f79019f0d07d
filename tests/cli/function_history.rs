//! `git invdiff blame` and `bisect` from outside: what they find in small histories, and what they refuse.

use crate::support::TempRepo;
use serde_json::Value;
use std::process::Output;

fn invdiff(repo: &TempRepo, words: &[&str]) -> Output {
    repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words).output().unwrap()
}

/// Checks exit code and a part of each stream; returns standard output.
#[track_caller]
fn check(repo: &TempRepo, words: &[&str], code: i32, said: &[&str]) -> String {
    let output = invdiff(repo, words);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}\n{text}\n{error}");
    let all = format!("{text}{error}");
    said.iter().for_each(|part| assert!(all.contains(part), "{words:?}: {part}\n{all}"));
    text
}

fn json(repo: &TempRepo, words: &[&str]) -> Value {
    serde_json::from_str(&check(repo, words, 0, &[])).expect("JSON")
}

/// The commits of an answer of `blame`, newest first: `summary kind`.
fn blamed(answer: &Value) -> Vec<String> {
    let text = |c: &Value, key: &str| c[key].as_str().unwrap_or_default().to_owned();
    let commits = answer["commits"].as_array().expect("commits");
    commits.iter().map(|c| format!("{} {}", text(c, "summary"), text(c, "kind"))).collect()
}

fn returning(name: &str, value: &str) -> String {
    format!("int {name}(int x)\n{{\n    return {value};\n}}\n")
}

/// `f` is made, reformatted, changed, left alone, rewritten to the same, renamed to `g`, and moved.
fn story() -> TempRepo {
    let other = "int other(void) { return 1; }\n";
    TempRepo::new()
        .file("a.c", returning("f", "x + 1"))
        .commit("make")
        .file("a.c", "int f(int x) { return x + 1; } /* one line */\n")
        .commit("reformat")
        .file("a.c", returning("f", "x + 2"))
        .commit("change")
        .file("b.c", other)
        .commit("unrelated")
        .file("a.c", returning("f", "2 + x"))
        .commit("rewrite")
        .file("a.c", returning("g", "2 + x"))
        .commit("rename")
        .remove("a.c")
        .file("b.c", format!("{other}{}", returning("g", "2 + x")))
        .commit("move")
        .file("b.c", format!("{other}{}", returning("g", "x > 0 ? 2 + x : 0")))
        .commit("change again")
}

#[test]
fn blame_names_the_commits_that_changed_facts() {
    let repo = story();
    let answer = json(&repo, &["blame", "b.c:g", "--json"]);
    let all = ["change again changed", "move moved", "rename moved", "change changed", "make created"];
    assert_eq!(blamed(&answer), all);
    assert_eq!(answer["searched"], 8);
    assert_eq!(answer["complete"], true);
    let changed = &answer["commits"][3];
    assert_eq!(changed["author"], "A U Thor");
    assert_eq!(changed["commit"], repo.id("HEAD~5").as_str());
    assert_eq!((&changed["file"], &changed["name"]), (&"a.c".into(), &"f".into()));
    let churn = &changed["functions"][0]["points"][0]["churns"][0];
    assert_eq!(churn["removed"][0]["text"], "\\result == x + 1");
    assert_eq!(churn["added"][0]["text"], "\\result == x + 2");
    assert_eq!(answer["commits"][1]["from"], "a.c:g");
    assert_eq!(answer["commits"][2]["from"], "a.c:f");
    let text =
        check(&repo, &["blame", "b.c:g"], 0, &["- \\result == x + 1", "+ \\result == x + 2", "was a.c:f"]);
    assert!(text.ends_with("\n2 commits changed its facts; 4 of 8 changed its text\n"), "{text}");
    // From the cache it is the same.
    assert_eq!(check(&repo, &["blame", "b.c:g"], 0, &[]), text);
    assert_eq!(blamed(&json(&repo, &["blame", "b.c:g", "HEAD~1..", "--json"])), all[..1]);
    assert_eq!(blamed(&json(&repo, &["blame", "-n", "2", "b.c:g", "--json"])), all[..2]);
    assert_eq!(blamed(&json(&repo, &["blame", "a.c:f", "", "HEAD~4", "--json"])), all[3..]);
    assert_eq!(blamed(&json(&repo, &["blame", "b.c:g", "HEAD..HEAD", "--json"])), [""; 0]);
}

#[test]
fn blame_is_limited_to_a_variable() {
    let two =
        |n: &str, result: &str| format!("int n;\nint f(int x)\n{{\n    n = {n};\n    return {result};\n}}\n");
    let repo = TempRepo::new()
        .file("a.c", two("1", "x"))
        .commit("make")
        .file("a.c", two("2", "x"))
        .commit("of n")
        .file("a.c", two("2", "x + 1"))
        .commit("of the result");
    assert_eq!(blamed(&json(&repo, &["blame", "a.c:f", "n", "--json"])), ["of n changed", "make created"]);
    let result = ["of the result changed", "make created"];
    assert_eq!(blamed(&json(&repo, &["blame", "a.c:f", "\\result", "--json"])), result);
    assert_eq!(blamed(&json(&repo, &["blame", "a.c:f", "nothing", "--json"])), ["make created"]);
}

#[test]
fn blame_looks_at_callees_of_the_file() {
    let two = |k: &str| {
        format!("static int k(int x) {{ return {k}; }}\nint f(int x)\n{{\n    return k(x) + 1;\n}}\n")
    };
    let repo =
        TempRepo::new().file("a.c", two("x")).commit("make").file("a.c", two("x + 1")).commit("callee");
    assert_eq!(blamed(&json(&repo, &["blame", "a.c:f", "--json"])), ["callee changed", "make created"]);
}

#[test]
fn blame_uses_notes_that_speak_of_the_commit() {
    let repo = story();
    let commit = repo.id("HEAD~5");
    check(&repo, &["notes", "add", &commit], 0, &[]);
    let fresh = check(&repo, &["blame", "b.c:g"], 0, &[]);
    // A note that says something else is believed, so it was read.
    let note = repo.git(["notes", "--ref=invdiff", "show", &commit]).replace("x + 2", "x + 22");
    repo.git(["notes", "--ref=invdiff", "add", "-f", "-m", &note, &commit]);
    check(&repo, &["blame", "b.c:g"], 0, &["+ \\result == x + 22"]);
    // Not about a commit with other trees.
    let stale = note.replace(&repo.id(&format!("{commit}^{{tree}}")), &"0".repeat(40));
    repo.git(["notes", "--ref=invdiff", "add", "-f", "-m", &stale, &commit]);
    assert_eq!(check(&repo, &["blame", "b.c:g"], 0, &[]), fresh);
}

#[test]
fn blame_refuses_what_is_not_there() {
    let repo = story();
    check(&repo, &["blame", "b.c:h"], 128, &["fatal: there is no function 'h' in b.c of HEAD"]);
    check(&repo, &["blame", "b.c:othr"], 128, &["hint: did you mean 'other'?"]);
    check(&repo, &["blame", "a.c:f"], 128, &["fatal: there is no file a.c in HEAD"]);
    check(&repo, &["blame", "b.c"], 129, &["error: 'b.c' is not FILE:FUNCTION"]);
    check(&repo, &["blame", "b.c:g", "x", "nowhere"], 128, &["nowhere"]);
    check(&repo, &["blame"], 129, &["required"]);
    check(&TempRepo::new(), &["blame", "a.c:f"], 128, &["fatal: "]);
    check(&repo, &["-C", "..", "blame", "a.c:f"], 128, &["not a git repository"]);
}

#[test]
fn blame_ends_at_the_cut_of_a_shallow_clone() {
    let repo = story().shallow(2);
    let output = invdiff(&repo, &["blame", "b.c:g"]);
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("change again") && !text.contains("is new"), "{text}{error}");
    assert!(error.contains("shallow"), "{error}");
}

/// `clamp` holds `\result >= 0` until `break it`.
fn broken() -> TempRepo {
    let clamp = |low: &str, rest: &str| {
        format!("{rest}int clamp(int x)\n{{\n    if (x < 0)\n        return {low};\n    return x;\n}}\n")
    };
    TempRepo::new()
        .file("a.c", clamp("0", ""))
        .commit("good")
        .file("a.c", clamp("0 + 0", ""))
        .commit("still good")
        .file("b.c", "int y;\n")
        .commit("elsewhere")
        .file("a.c", clamp("x / 2", ""))
        .commit("break it")
        .file("a.c", clamp("x", ""))
        .commit("still broken")
        .file("a.c", clamp("x", "int z;\n"))
        .commit("unrelated")
}

#[test]
fn bisect_names_the_commit_with_an_input() {
    let repo = broken();
    let said = [
        "broken by commit ",
        " break it\n",
        "for example  x = -",
        "before       returns 0",
        "after        returns -",
    ];
    check(&repo, &["bisect", "a.c:clamp: \\result >= 0", "HEAD~5..HEAD"], 0, &said);
    check(
        &repo,
        &["bisect", "--function", "a.c:clamp", "\\result >= 0", "HEAD~5..", "--exit-code"],
        1,
        &said,
    );
    let found = json(&repo, &["bisect", "a.c:clamp: \\result >= 0", "HEAD~5..HEAD", "--json"]);
    assert_eq!(found["outcome"], "found");
    assert_eq!(found["commit"]["commit"], repo.id(":/^break it").as_str());
    assert_eq!(found["witness"]["old"]["return"], "0");
    assert_eq!((&found["searched"], &found["text_changes"]), (&5.into(), &3.into()));
    assert!(found["asked"].as_array().expect("a list").len() <= 4, "{found}");
}

#[test]
fn bisect_says_when_there_is_nothing_to_find() {
    let repo = broken();
    let outcome = |condition: &str, range: &str| {
        json(&repo, &["bisect", condition, range, "--json"])["outcome"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(outcome("a.c:clamp: \\result >= 0", "HEAD~5..HEAD~3"), "holds");
    assert_eq!(outcome("a.c:clamp: \\result <= x || x < 0", "HEAD~5..HEAD"), "holds");
    assert_eq!(outcome("a.c:clamp: \\result > 0", "HEAD~5..HEAD"), "never-held");
    assert_eq!(outcome("a.c:clamp: \\result >= 0", "HEAD~1..HEAD"), "never-held");
    check(
        &repo,
        &["bisect", "a.c:clamp: \\result >= 0", "HEAD~5..HEAD~3", "--exit-code"],
        0,
        &["holds at the end"],
    );
    check(&repo, &["bisect", "a.c:clamp: \\result > 0", "HEAD~5..HEAD"], 0, &["did not hold at the start"]);
}

#[test]
fn bisect_passes_over_what_it_cannot_decide() {
    // An odd number has a cube root, which neither runs nor a solver that may not search find.
    let open = "(int)((unsigned)x * (unsigned)x * (unsigned)x)";
    let repo = TempRepo::new()
        .config("invdiff.rlimit", "1")
        .file("a.c", returning("f", "1"))
        .commit("good")
        .file("a.c", returning("f", open))
        .commit("open")
        .file("a.c", returning("f", "1234567"))
        .commit("bad");
    let words = ["bisect", "a.c:f: \\result != 1234567", "HEAD~2..HEAD"];
    let text = check(&repo, &words, 0, &["unknown ", "one of these commits broke it"]);
    assert!(text.contains(" open\n") && text.contains(" bad\n"), "{text}");
    check(&repo, &[&words[..], &["--strict"]].concat(), 3, &[]);
    let open = ["bisect", "a.c:f: \\result != 1234567", "HEAD~2..HEAD~1", "--strict"];
    check(&repo, &open, 3, &["could not be decided at the end of the range"]);
}

#[test]
fn bisect_finds_what_another_file_broke() {
    let header = |limit: &str| format!("#define LIMIT {limit}\n");
    let f = "#include \"limit.h\"\nint f(int x)\n{\n    return x > LIMIT ? LIMIT : x;\n}\n";
    let repo = TempRepo::new()
        .file("a.c", f)
        .file("limit.h", header("9"))
        .commit("nine")
        .file("b.c", "int y;\n")
        .commit("unrelated")
        .file("limit.h", header("90"))
        .commit("ninety")
        .file("b.c", "int z;\n")
        .commit("unrelated, too");
    let said = ["broken by commit ", " ninety\n", "before       returns 9", "after        returns "];
    check(&repo, &["bisect", "a.c:f: \\result <= 9", "HEAD~3..HEAD"], 0, &said);
}

#[test]
fn bisect_follows_names_and_begins_where_the_function_does() {
    let repo = TempRepo::new()
        .file("b.c", "int y;\n")
        .commit("before")
        .file("a.c", returning("f", "1"))
        .commit("make")
        .file("a.c", returning("g", "1"))
        .commit("rename")
        .file("a.c", returning("g", "0"))
        .commit("break");
    check(&repo, &["bisect", "a.c:g: \\result == 1", "HEAD~3..HEAD"], 0, &["broken by commit ", " break\n"]);
    check(
        &repo,
        &["bisect", "a.c:g: \\result == 7", "HEAD~3..HEAD"],
        0,
        &["never held since commit ", " make\n"],
    );
}

#[test]
fn bisect_refuses_what_makes_no_sense() {
    let repo = broken();
    let bisect = |condition: &str, range: &str, code: i32, said: &str| {
        check(&repo, &["bisect", condition, range], code, &[said]);
    };
    bisect(
        "a.c:clamp: \\result >=",
        "HEAD~2..HEAD",
        129,
        "error: the condition '\\result >=' cannot be read",
    );
    bisect(
        "a.c:clamp: nothing > 0",
        "HEAD~2..HEAD",
        129,
        "error: the condition 'nothing > 0' cannot be asked",
    );
    bisect("\\result >= 0", "HEAD~2..HEAD", 129, "error: which function is the condition about?");
    bisect("a.c:nothing: \\result >= 0", "HEAD~2..HEAD", 128, "fatal: there is no function 'nothing' in a.c");
    bisect("c.c:clamp: \\result >= 0", "HEAD~2..HEAD", 128, "fatal: there is no file c.c");
    bisect("a.c:clamp: \\result >= 0", "HEAD..HEAD", 128, "fatal: the range 'HEAD..HEAD' is empty");
    bisect("a.c:clamp: \\result >= 0", "HEAD..HEAD~2", 128, "hint: the older version comes first");
    bisect("a.c:clamp: \\result >= 0", "HEAD", 129, "error: 'HEAD' is not a range A..B");
    bisect("a.c:clamp: \\result >= 0", "nowhere..HEAD", 128, "nowhere");
}

/// A function that has the name of one of the library's and is not known to be it.
#[test]
fn bisect_shows_names_as_people_write_them() {
    let text = |value: &str| format!("int fopen(int x);\n{}", returning("f", value));
    let repo = TempRepo::new()
        .file("a.c", text("fopen(x)"))
        .commit("one")
        .file("a.c", text("fopen(x) + 1"))
        .commit("two");
    let words = ["bisect", "a.c:f: \\result == fopen*(x)", "HEAD~1..HEAD"];
    check(&repo, &words, 129, &["the condition '\\result == fopen(x)' cannot be asked"]);
}
