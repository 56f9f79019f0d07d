//! What was not looked at is said, in the last line and as data; advice that helps when followed.

use super::kit::Pair;

const F: &str = "int f(int x) { return x; }\n";

/// A pair of which nothing but one hunk differs, and the words for why it was not looked at.
#[track_caller]
fn check(old: &str, new: &str, why: &str) {
    let pair = Pair::new(&format!("{F}{old}\n"), &format!("{F}{new}\n"));
    let said = format!("not looked at: 1 hunk ({why})");
    for words in ["HEAD~1..HEAD", "check HEAD~1..HEAD"] {
        pair.says(words, 0, &[&said], &["no semantic change", "no function changed"]);
        pair.says(&format!("{words} --strict"), 3, &[&said], &[]);
        let json = pair.json(words);
        assert_eq!(json["complete"], false, "{words}: {old} {new}");
        assert_eq!(json["not_looked_at"][0], format!("1 hunk ({why})"), "{words}");
    }
    let (_, out, _) = pair.run("HEAD~1..HEAD --porcelain");
    assert!(out.trim_end().ends_with("incomplete"), "{out}");
    let (_, out, _) = pair.run("HEAD~1..HEAD --format sarif");
    assert!(out.contains(&said), "{out}");
    let (_, _, err) = pair.run("witness HEAD~1..HEAD");
    assert!(err.contains(&said), "{err}");
}

#[test]
fn what_was_not_looked_at_is_said() {
    let inactive = "inactive preprocessor branch";
    check(
        "#ifdef NO\nint g(void) { return 1; }\n#endif",
        "#ifdef NO\nint g(void) { return 2; }\n#endif",
        inactive,
    );
    check("#if 0\nint y = 1;\n#endif", "#if 0\nint y = 2;\n#endif", inactive);
    check("", "@@@ $$$ int (((", "text that the parser could not place");
    check("int g(int);", "int g(long);", "prototype");
}

#[test]
fn condition_says_what_was_not_read() {
    let branch = |k: u32| format!("{F}#ifdef NO\nint g(void) {{ return {k}; }}\n#endif\n");
    let pair = Pair::new(&branch(1), &branch(2));
    let said =
        ["no function differs in what was read", "not looked at: 1 hunk (inactive preprocessor branch)"];
    pair.says("condition --exit-code HEAD~1..HEAD", 0, &said, &[]);
    let json = pair.json("condition HEAD~1..HEAD");
    assert_eq!(json["not_looked_at"][0]["why"], "inactive-branch");
    // What no parser could place may be part of the program.
    let pair = Pair::new(F, &format!("{F}@@@ $$$ int (((\n"));
    pair.says("condition --exit-code HEAD~1..HEAD", 1, &["not looked at: 1 hunk"], &[]);
    assert_eq!(pair.json("condition HEAD~1..HEAD")["harmless"], false);
}

#[test]
fn ordinary_commits_are_quiet() {
    let commented = format!("/* a */\n{F}");
    for (old, new) in [
        (&[("a.c", F)][..], &[("a.c", commented.as_str())][..]),
        (&[("a.c", F), ("README.md", "a\n")], &[("a.c", F), ("README.md", "b\n")]),
        (&[("a.c", F)], &[("a.c", "int f(int x)\n{\n    return x;\n}\n")]),
    ] {
        let pair = Pair::of(old, new);
        for words in ["HEAD~1..HEAD", "check HEAD~1..HEAD", "check HEAD~1..HEAD --strict"] {
            pair.says(words, 0, &[], &["not looked at"]);
        }
        pair.says("check HEAD~1..HEAD", 0, &["no regression; no function changed"], &[]);
        assert_eq!(pair.json("HEAD~1..HEAD")["complete"], true);
        let (status, out, _) = pair.run("condition --exit-code HEAD~1..HEAD");
        assert_eq!(status, Some(0), "{out}");
    }
}
