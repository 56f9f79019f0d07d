//! Ranges and revisions, as `git rev-list` and `git rev-parse` read them.

use super::state::{Run, divide, json, program_in, three, three_and_edits};
use super::*;

/// The commits of the versions that the words name; what is no commit by its name.
fn versions(repo: &TempRepo, words: &str) -> Vec<String> {
    let result = json(repo, &[&words.split(' ').collect::<Vec<_>>()[..], &["--", "none.c"]].concat());
    let name = |v: &serde_json::Value| v["commit"].as_str().or(v["name"].as_str()).unwrap().to_owned();
    result["versions"].as_array().unwrap().iter().map(name).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// A merge, an octopus, a criss-cross and an orphan.
fn tangled() -> TempRepo {
    let branch = |repo: TempRepo, name: &str, from: &str| {
        let repo = repo.run(["checkout", "-q", "-b", name, from]);
        repo.file(format!("{name}.c"), divide(name, 2)).commit(name)
    };
    let repo = three(TempRepo::new()).run(["tag", "-a", "-m", "t", "v1"]);
    let repo = branch(branch(repo, "x", "v1"), "y", "v1~1").run(["checkout", "-q", "main"]);
    let repo = repo.merge(&["x", "y"], "octopus");
    let repo = branch(branch(repo, "p", "main"), "q", "main").run(["tag", "q1"]).merge(&["p"], "q with p");
    let repo = repo.run(["checkout", "-q", "p"]).merge(&["q1"], "p with q");
    let repo = repo.run(["checkout", "-q", "main"]).merge(&["p"], "main with p");
    let repo = repo.run(["checkout", "-q", "--orphan", "alone"]).file("z.c", divide("z", 2)).commit("alone");
    repo.run(["checkout", "-q", "main"])
}

#[test]
fn every_range_is_its_start_and_what_rev_list_says() {
    let repo = tangled();
    let all = lines(&repo.git(["rev-list", "--all"]));
    assert!(all.len() >= 12);
    for from in &all {
        for to in &all {
            let range = format!("{from}..{to}");
            let own = lines(&repo.git(["rev-list", "--first-parent", "--reverse", &range]));
            let chain = lines(&repo.git(["rev-list", "--first-parent", to]));
            // A base off the way is said, and a range backwards is its two ends.
            if own.is_empty() || !chain.contains(from) {
                continue;
            }
            assert_eq!(versions(&repo, &range), [std::slice::from_ref(from), &own[..]].concat(), "{range}");
        }
    }
}

#[test]
fn three_dots_begin_at_the_merge_base() {
    let repo = tangled();
    for (from, to) in [("x", "main"), ("y", "x"), ("x", "y"), ("v1", "q"), ("p", "main"), ("main", "x")] {
        let base = repo.git(["merge-base", from, to]);
        let found = versions(&repo, &format!("{from}...{to}"));
        assert_eq!(found.first(), Some(&base), "{from}...{to}");
        assert_eq!(found.last(), Some(&repo.id(&format!("{to}^{{commit}}"))), "{from}...{to}");
    }
    let none = invdiff(&repo, &["alone...main"]);
    assert_eq!(none.status.code(), Some(128));
    assert!(stderr(&none).starts_with("fatal: "), "{}", stderr(&none));
}

#[test]
fn revisions_mean_what_they_mean_to_git() {
    let repo = tangled();
    let repo = repo.run(["branch", "--track", "tracking", "main"]).run(["checkout", "-q", "tracking"]);
    let repo = repo.file("src/a.c", divide("f", 64)).commit("ahead: of main");
    for name in [
        "HEAD",
        "@",
        "v1",
        "v1^{}",
        "main~1",
        "main^2",
        "main^",
        "@{u}",
        "tracking@{upstream}",
        "@{-1}",
        "HEAD@{1}",
        "main@{0}",
        "main^{/one}",
        "HEAD^{commit}",
        "refs/tags/v1",
        "tags/v1",
        "heads/main",
    ] {
        let id = repo.id(&format!("{name}^{{commit}}"));
        assert_eq!(versions(&repo, &format!("{name} alone")), [id, repo.id("alone")], "{name}");
    }
    assert_eq!(versions(&repo, ":/two alone")[0], repo.id(":/two"));
    let described = repo.git(["describe", "HEAD"]);
    let short = repo.git(["rev-parse", "--short=7", "HEAD"]);
    for name in [described, short] {
        assert_eq!(versions(&repo, &format!("alone {name}"))[1], repo.id("HEAD"), "{name}");
    }
    let expected = [repo.id("main"), repo.id("HEAD")];
    for words in
        ["@{u}..", "@{u}..@", "^@{u} HEAD", "HEAD ^main", "main..HEAD", "HEAD^!", "HEAD^-", "@{u}...HEAD"]
    {
        assert_eq!(versions(&repo, words), expected, "{words}");
    }
    assert_eq!(versions(&repo, "main v1 HEAD"), [repo.id("main"), repo.id("v1^{}"), repo.id("HEAD")]);
    assert_eq!(versions(&repo, "alone^!"), ["EMPTY".to_owned(), repo.id("alone")]);
    assert_eq!(versions(&repo, "--endpoints v1~2..main"), [repo.id("v1~2"), repo.id("main")]);
}

#[test]
fn the_ends_that_are_no_commits_have_names() {
    let repo = three_and_edits(TempRepo::new());
    let head = repo.id("HEAD");
    assert_eq!(json(&repo, &["--staged"])["versions"][1]["name"], "INDEX");
    assert_eq!(json(&repo, &["--cached", "HEAD~1"])["versions"][0]["commit"], repo.id("HEAD~1"));
    let disk = json(&repo, &[]);
    assert_eq!(
        (&disk["versions"][0]["commit"], &disk["versions"][1]["name"]),
        (&head.into(), &"WORKTREE".into())
    );
    // An untracked file that is not ignored is there, as for 'git add -A'.
    let files: Vec<_> =
        disk["functions"].as_array().unwrap().iter().map(|f| f["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["src/a.c", "src/new.c"]);
    repo.write(".git/info/exclude", "new.c\n");
    assert_eq!(json(&repo, &[])["functions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_merge_is_what_it_brought_to_its_branch() {
    let repo = tangled();
    let octopus = json(&repo, &["main~1^!"]);
    let names: Vec<_> =
        octopus["functions"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["x", "y"]);
    let said = invdiff(&repo, &["main~1^!"]);
    assert!(stdout(&said).contains("2 functions added"), "{}", stdout(&said));
}

#[test]
fn what_names_nothing_is_refused_with_a_hint() {
    let repo = three(TempRepo::new()).file("both", "x").commit("four").run(["branch", "both"]);
    for (words, part) in [
        ("nosuch", "unknown revision 'nosuch'"),
        ("nosuch..HEAD", "unknown revision 'nosuch"),
        ("both", "ambiguous argument 'both': both revision and filename"),
        ("HEAD:src/a.c", "names a blob, not a commit"),
        ("HEAD~9", "unknown revision 'HEAD~9'"),
        ("HEAD~1..HEAD HEAD", "HEAD~1..HEAD"),
        ("^HEAD", "HEAD"),
        ("--staged HEAD~1 HEAD", "HEAD"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let run = Run::of(&mut program_in(&repo, repo.path(), &words));
        assert_eq!(run.code, Some(128), "{words:?} {}", run.err);
        assert!(run.err.starts_with("fatal: ") && run.err.contains(part), "{words:?} {}", run.err);
        assert_eq!(run.out, "");
    }
    // What is no command is taken for a revision; of a slip that is said.
    for (words, name) in
        [(&["notse", "list"][..], "notes"), (&["chek"], "check"), (&["-q", "docter"], "doctor")]
    {
        let run = Run::of(&mut program_in(&repo, repo.path(), words));
        let expected = format!("hint: did you mean 'git invdiff {name}'?");
        assert!(run.code == Some(128) && run.err.contains(&expected), "{}", run.err);
    }
    let run = Run::of(&mut program_in(&repo, repo.path(), &["diff", "chek"]));
    assert!(!run.err.contains("did you mean"), "{}", run.err);
    let hint = Run::of(&mut program_in(&repo, repo.path(), &["both"]));
    assert!(hint.err.contains("use '--' to separate paths from revisions"), "{}", hint.err);
    assert_eq!(Run::of(&mut program_in(&repo, repo.path(), &["both", "--"])).code, Some(0));
    assert_eq!(Run::of(&mut program_in(&repo, repo.path(), &["--", "both"])).code, Some(0));
}
