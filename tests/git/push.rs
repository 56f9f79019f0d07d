//! `pre-push`, run by `git push`: what is compared for which kind of push, and what stops it.

use super::*;

/// A repository with hooks whose remote `origin` is a bare one that has `main`.
fn pushed() -> (TempRepo, TempRepo) {
    let repo = with_hooks(TempRepo::new().file("a.c", "0").commit("c0").file("a.c", "1").commit("c1"));
    let remote = repo.bare();
    let url = remote.path().display().to_string();
    let repo = repo.run(["remote", "add", "origin", &url]).run(["fetch", "-q", "origin"]);
    (repo, remote)
}

/// Commits without hooks, so that only the push looks at it.
fn next(repo: TempRepo, text: &str) -> TempRepo {
    let repo = repo.file("a.c", text);
    repo.git(["commit", "-q", "-a", "--allow-empty", "--no-verify", "-m", text]);
    repo
}

/// Pushes, and returns whether git went on and what was said.
fn push(repo: &TempRepo, words: &[&str]) -> (bool, String) {
    let output = git(repo, &[&["push", "-q"], words].concat());
    (output.status.success(), stderr(&output))
}

#[track_caller]
fn check(repo: &TempRepo, words: &[&str], goes_on: bool, part: &str) {
    let (success, said) = push(repo, words);
    assert_eq!(success, goes_on, "{words:?} {said}");
    assert!(said.contains(part), "{words:?} {said}");
    assert!(!part.is_empty() || said.is_empty(), "{words:?} {said}");
}

const BLOCKED: &str = "error: this push breaks what held before";

#[test]
fn a_push_that_breaks_something_is_stopped_and_says_how_to_go_on() {
    let (repo, remote) = pushed();
    let base = repo.id("HEAD");
    let repo = next(repo, "BUG");
    let (goes_on, said) = push(&repo, &["origin", "main"]);
    assert!(!goes_on);
    for part in [BLOCKED, "(refs/heads/main, ", "a.c:f: no bug", "git invdiff check", "git push --no-verify"]
    {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(remote.id("main"), base);
    check(&repo, &["--no-verify", "origin", "main"], true, "");
    // What the remote has already is not looked at again.
    check(&next(repo, "BUG"), &["origin", "main"], true, "");
}

#[test]
fn new_branches_are_compared_with_what_the_remote_has() {
    let (repo, _remote) = pushed();
    let repo = next(next(repo.run(["checkout", "-q", "-b", "topic"]), "2"), "BUG");
    check(&repo, &["origin", "topic"], false, BLOCKED);
    check(&repo, &["origin", "HEAD~1:refs/heads/topic"], true, "");
    check(&repo, &["origin", "HEAD:refs/heads/other"], false, "(refs/heads/other, ");
    check(&next(repo, "3"), &["origin", "topic"], true, "");
}

#[test]
fn a_remote_that_has_nothing_gets_everything() {
    let repo = with_hooks(TempRepo::new().file("a.c", "0").commit("c0"));
    let repo = next(repo, "BUG");
    let empty = TempRepo::init(&["--bare"]);
    let url = empty.path().display().to_string();
    check(&repo, &[&url, "main"], true, "");
    // By its address, without tracking refs: what the ref was is known.
    check(&next(next(repo, "1"), "BUG"), &[&url, "main:main"], true, "");
}

#[test]
fn tags_are_what_they_are_on() {
    let (repo, _remote) = pushed();
    let repo = repo.run(["tag", "good"]);
    let repo = next(repo, "BUG").run(["tag", "-a", "-m", "t", "bad"]).run(["tag", "light"]);
    let repo = repo.run(["tag", "blob", "HEAD:a.c"]);
    check(&repo, &["origin", "good", "blob"], true, "");
    check(&repo, &["origin", "bad"], false, BLOCKED);
    check(&repo, &["origin", "light"], false, "(refs/tags/light, ");
    check(&repo, &["origin", "--tags"], false, BLOCKED);
}

#[test]
fn deletions_and_notes_are_none_of_our_business() {
    let (repo, remote) = pushed();
    let repo = next(repo.run(["push", "-q", "--no-verify", "origin", "main:gone"]), "BUG");
    check(&repo, &["origin", "--delete", "gone"], true, "");
    assert!(!remote.git(["branch"]).contains("gone"));
    repo.git(["notes", "add", "-m", "x"]);
    check(&repo, &["origin", "refs/notes/commits"], true, "");
    repo.git(["push", "-q", "--no-verify", "origin", "main~1:refs/heads/gone"]);
    check(&repo, &["origin", ":gone", "main"], false, BLOCKED);
}

#[test]
fn forced_pushes_begin_where_the_ways_part() {
    let (repo, _remote) = pushed();
    let repo = next(repo.run(["checkout", "-q", "-b", "topic"]), "2");
    check(&repo, &["origin", "topic"], true, "");
    let repo = next(repo.run(["reset", "-q", "--hard", "main"]), "BUG");
    check(&repo, &["--force", "origin", "topic"], false, BLOCKED);
    let repo = next(repo, "3");
    check(&repo, &["--force", "origin", "topic"], true, "");
    // The remote's ref moved meanwhile, to something that is not here.
    let other = repo.clone_with(&["--branch=topic"]);
    let url = repo.git(["config", "remote.origin.url"]);
    let other = other.run(["remote", "set-url", "origin", &url]).file("a.c", "4").commit("elsewhere");
    other.git(["push", "-q", "--force", "origin", "topic"]);
    check(&next(repo, "BUG"), &["--force", "origin", "topic"], false, BLOCKED);
}

#[test]
fn merges_are_compared_with_what_the_remote_had() {
    let (repo, _remote) = pushed();
    // The remote breaks it on its own; merging that in is no news.
    let repo = next(repo.run(["checkout", "-q", "-b", "theirs"]), "BUG");
    repo.git(["push", "-q", "--no-verify", "origin", "theirs:main"]);
    let repo =
        repo.run(["checkout", "-q", "main"]).file("b.c", "b").commit("ours").merge(&["theirs"], "merge");
    check(&repo, &["origin", "main"], true, "");
    // A side branch that breaks it, merged here.
    let (repo, _remote) = pushed();
    let repo = next(repo.run(["checkout", "-q", "-b", "side"]), "BUG").run(["checkout", "-q", "main"]);
    let repo = repo.file("b.c", "b").commit("ours").merge(&["side"], "merge");
    check(&repo, &["origin", "main"], false, BLOCKED);
}

#[test]
fn thousands_of_refs_are_compared_once() {
    let (repo, remote) = pushed();
    let repo = next(repo, "2");
    let head = repo.id("HEAD");
    let refs: String = (0..2000).map(|n| format!("create refs/heads/many/{n} {head}\n")).collect();
    repo.write("refs", refs);
    let file = std::fs::File::open(repo.path().join("refs")).unwrap();
    assert!(repo.command_of("git").args(["update-ref", "--stdin"]).stdin(file).status().unwrap().success());
    let log = repo.path().join(".git/analyses");
    let mut push = command(&repo, "git");
    let pushed = push.env("INVDIFF_TEST_GATE_LOG", &log).args(["push", "-q", "origin", "refs/heads/many/*"]);
    let output = pushed.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 1);
    assert_eq!(remote.git(["for-each-ref", "refs/heads/many"]).lines().count(), 2000);
}

#[test]
fn a_hook_that_was_there_gets_the_same_input_and_may_ignore_it() {
    let (repo, _remote) = pushed();
    assert!(invdiff(&repo, &["hook", "uninstall"]).status.success());
    let hook = repo.path().join(".git/hooks/pre-push");
    std::fs::write(&hook, "#!/bin/sh\ncat >\"$GIT_DIR/seen\"\n").unwrap();
    make_executable(&hook);
    assert!(invdiff(&repo, &["hook", "install"]).status.success());
    let repo = next(repo, "BUG");
    let output =
        command(&repo, "git").env("GIT_DIR", ".git").args(["push", "-q", "origin", "main"]).output().unwrap();
    assert!(stderr(&output).contains(BLOCKED), "{}", stderr(&output));
    let seen = std::fs::read_to_string(repo.path().join(".git/seen")).unwrap();
    assert_eq!(seen, format!("refs/heads/main {} refs/heads/main {}\n", repo.id("HEAD"), repo.id("HEAD~1")));
    // It says no, without reading.
    let chained = hook.with_file_name("pre-push.before-invdiff");
    std::fs::write(&chained, "#!/bin/sh\necho theirs says no >&2; exit 3\n").unwrap();
    check(&repo, &["origin", "main"], false, "theirs says no");
    std::fs::write(&chained, "#!/bin/sh\nexit 0\n").unwrap();
    check(&repo, &["origin", "main"], false, BLOCKED);
    // Nothing to push: nothing to read, for either.
    std::fs::write(&chained, "#!/bin/sh\nwhile read -r a b; do echo \"got $a\" >&2; exit 1; done\n").unwrap();
    check(&repo, &["--no-verify", "origin", "main"], true, "");
    check(&repo, &["origin", "main"], true, "");
}

#[test]
fn what_is_not_finished_in_time_is_said_and_goes_on() {
    let (repo, _remote) = pushed();
    let repo = next(repo.config("invdiff.timeoutSeconds", "1"), "STUCK");
    check(&repo, &["origin", "main"], true, "going on without it");
    let repo = next(repo, "CRASH");
    check(&repo, &["origin", "main"], true, "going on without it");
}

#[test]
fn the_policy_is_that_of_both_ends() {
    // With the real program: a push that takes its own gate away is stopped by that of its base.
    let bug = |fix: &str| {
        format!(
            "void abort(void);\nint f(int x)\n{{\n    if (x < 0)\n        x = {fix};\n    if (x < 0)\n        abort();\n    return x;\n}}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", bug("0")).commit("c0").config("invdiff.timeoutSeconds", "0");
    let remote = repo.bare();
    let repo = repo
        .run(["remote", "add", "origin", &remote.path().display().to_string()])
        .run(["fetch", "-q", "origin"]);
    assert!(invdiff(&repo, &["hook", "install"]).status.success());
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let push = |repo: &TempRepo| {
        let output = repo
            .command_of("git")
            .env("PATH", &path)
            .args(["push", "-q", "origin", "main"])
            .output()
            .unwrap();
        (output.status.success(), stderr(&output))
    };
    let repo = repo.file(".invdiff.yaml", "gate: {block: []}\n").file("a.c", bug("x + 1")).commit("both");
    let (goes_on, said) = push(&repo);
    assert!(!goes_on && said.contains(BLOCKED) && said.contains("a.c:f"), "{said}");
    // Where the remote has the looser policy, it counts.
    let repo =
        repo.run(["push", "-q", "--no-verify", "origin", "main"]).file("a.c", bug("0")).commit("right again");
    assert!(push(&repo).0);
    let repo = repo.file("a.c", bug("x + 2")).commit("wrong again");
    let (goes_on, said) = push(&repo);
    assert!(goes_on, "{said}");
}
