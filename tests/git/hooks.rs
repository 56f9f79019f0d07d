//! Hooks as git runs them: what stops a commit, what never does, and whose hooks stay.

use super::*;
use git_invdiff::store::notes::Note;

fn repository() -> TempRepo {
    with_hooks(TempRepo::new().file("a.c", "0").file("b.c", "0").commit("first"))
}

fn try_commit(repo: &TempRepo, text: &str, args: &[&str]) -> Output {
    repo.write("a.c", text);
    git(repo, &[&["commit", "-q", "-a", "-m", "next"], args].concat())
}

/// The records of the note on a commit; none without a note.
fn records(repo: &TempRepo, commit: &str) -> Vec<git_invdiff::store::notes::Record> {
    let output = repo.git_output(["notes", "--ref=invdiff", "show", commit]);
    Note::parse(&output.stdout).records
}

#[test]
fn a_regression_stops_the_commit_and_says_how_to_go_on() {
    let repo = repository();
    let before = repo.id("HEAD");
    let output = try_commit(&repo, "BUG", &[]);
    assert_eq!((output.status.code(), repo.id("HEAD")), (Some(1), before));
    let said = stderr(&output);
    assert!(said.contains("a.c:f: no bug no longer holds at 1"), "{said}");
    assert!(said.trim_end().ends_with("--no-verify' or INVDIFF_SKIP=1"), "{said}");
    assert!(try_commit(&repo, "BUG", &["--no-verify"]).status.success());
    assert!(try_commit(&repo, "BUG", &["--allow-empty"]).status.success(), "it was there before");
}

#[test]
fn there_are_three_ways_around() {
    let repo = repository();
    repo.write("a.c", "BUG");
    let skipped =
        command(&repo, "git").env("INVDIFF_SKIP", "1").args(["commit", "-qam", "x"]).output().unwrap();
    assert!(!skipped.status.success(), "the stand-in does not read the environment; the real binary does");
    let real = |repo: &TempRepo| {
        repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"))
            .args(["hook", "run", "pre-commit"])
            .env("INVDIFF_SKIP", "1")
            .output()
            .unwrap()
    };
    assert_eq!((real(&repo).status.code(), stderr(&real(&repo))), (Some(0), String::new()));
    let repo = repo.config("invdiff.hooks.pre-commit", "off");
    let off = invdiff(&repo, &["hook", "run", "pre-commit"]);
    assert_eq!((off.status.code(), stderr(&off)), (Some(0), String::new()));
    assert!(stdout(&invdiff(&repo, &["hook", "status"])).contains("invdiff.hooks.pre-commit"));
}

#[test]
fn a_change_cannot_loosen_its_own_gate() {
    let repo = repository();
    repo.write(".invdiff.yaml", "gate: {block: [pinned]}\n");
    repo.git(["add", ".invdiff.yaml"]);
    let run = |repo: &TempRepo| stderr(&invdiff(repo, &["hook", "run", "pre-commit"]));
    assert!(run(&repo).contains("gate.block loses 'assertion', still in effect"), "{}", run(&repo));
    repo.write(".invdiff.yaml", "gate: {blok: [pinned]}\n");
    repo.git(["add", ".invdiff.yaml"]);
    assert!(run(&repo).contains("cannot be read in INDEX"), "{}", run(&repo));
    let repo = repo.config("invdiff.maxTrailer", "3");
    let output = invdiff(&repo, &["hook", "status"]);
    assert_eq!(output.status.code(), Some(128));
    assert!(stderr(&output).contains("hint: did you mean 'maxTrailers'?"), "{}", stderr(&output));
}

#[test]
fn warnings_do_not_stop() {
    let repo = repository();
    let output = try_commit(&repo, "1", &[]);
    assert!(output.status.success());
    assert!(stderr(&output).contains("a.c:f: text: 0 -> 1"), "{}", stderr(&output));
}

#[test]
fn our_own_trouble_does_not_stop() {
    for trouble in ["FAIL", "CRASH", "SLOW"] {
        let repo = repository().config("invdiff.timeoutSeconds", "1");
        let output = try_commit(&repo, trouble, &[]);
        assert!(output.status.success(), "{trouble}: {}", stderr(&output));
        assert_eq!(
            stderr(&output).matches("going on without it").count(),
            1,
            "{trouble}: {}",
            stderr(&output)
        );
        assert_eq!(repo.git(["log", "-1", "--format=%B"]), "next");
    }
}

#[test]
fn a_binary_that_is_gone_does_not_stop() {
    let repo = repository();
    std::fs::remove_file(repo.root().join("bin/git-invdiff")).unwrap();
    let output = try_commit(&repo, "BUG", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    if !stderr(&output).contains("is not on PATH") {
        eprintln!("skipped: a git-invdiff is installed on this machine");
    }
}

#[test]
fn only_what_is_staged_is_judged() {
    let repo = repository();
    repo.write("a.c", "fine");
    repo.git(["add", "a.c"]);
    repo.write("a.c", "BUG");
    assert!(git(&repo, &["commit", "-q", "-m", "staged"]).status.success());
    repo.git(["add", "a.c"]);
    repo.write("b.c", "1");
    assert!(git(&repo, &["commit", "-q", "-m", "b alone", "b.c"]).status.success());
    assert_eq!(git(&repo, &["commit", "-q", "-m", "the rest"]).status.code(), Some(1));
}

#[test]
fn one_commit_is_looked_at_once_and_once_for_its_note() {
    let repo = repository();
    let (log, notes) = (repo.root().join("log"), repo.root().join("notes"));
    let commit = |text: &str, args: &[&str]| {
        repo.write("a.c", text);
        let mut git = command(&repo, "git");
        git.env("INVDIFF_TEST_LOG", &log).env("INVDIFF_TEST_NOTE_LOG", &notes);
        let output = git.args(["commit", "-qam", "x"]).args(args).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read_to_string(&log).unwrap()
    };
    assert_eq!(commit("1", &[]), "0 -> 1\n");
    assert_eq!(records(&repo, "HEAD").len(), 1);
    assert_eq!(commit("2", &[]), "0 -> 1\n1 -> 2\n");
    assert_eq!(commit("3", &["--amend"]), "0 -> 1\n1 -> 2\n2 -> 3\n1 -> 3\n", "the gate asks about HEAD");
    repo.git(["config", "invdiff.timeoutSeconds", "1"]);
    assert_eq!(commit("SLOW", &[]).lines().count(), 5, "the time limit is met once");
    repo.git(["config", "--unset", "invdiff.timeoutSeconds"]);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "0 -> 1\n1 -> 2\n1 -> 3\n");
    // Another setting is another question.
    repo.git(["reset", "-q", "--soft", "HEAD~1"]);
    repo.git(["config", "invdiff.maxTrailers", "3"]);
    assert_eq!(commit("4", &[]).lines().count(), 6);
    repo.git(["reset", "-q", "--soft", "HEAD~1"]);
    repo.git(["config", "invdiff.maxTrailers", "4"]);
    assert_eq!(commit("4", &[]).lines().count(), 7);
}

#[test]
fn nothing_else_changes() {
    let repo = repository();
    repo.write("a.c", "BUG");
    repo.git(["add", "a.c"]);
    repo.write("b.c", "unstaged");
    repo.write("new.c", "untracked");
    let state = || {
        // Git itself caches trees in the index file meanwhile.
        let index = repo.git(["ls-files", "--stage", "-v"]);
        (repo.git(["status", "--porcelain"]), repo.git(["for-each-ref"]), index)
    };
    let before = state();
    assert_eq!(git(&repo, &["commit", "-q", "-m", "stopped"]).status.code(), Some(1));
    assert_eq!(state(), before);
}

#[test]
fn a_commit_gets_its_note() {
    let repo = repository();
    assert!(try_commit(&repo, "1", &[]).status.success());
    let found = records(&repo, "HEAD");
    assert_eq!((found.len(), &found[0].commit), (1, &repo.id("HEAD")));
    assert!(found[0].text.contains("text: 0 -> 1"), "{}", found[0].text);
}

#[test]
fn notes_follow_an_amend() {
    for rewrite_ref in [false, true] {
        let mut repo = repository();
        if rewrite_ref {
            repo = repo.config("notes.rewriteRef", "refs/notes/invdiff");
        }
        assert!(try_commit(&repo, "1", &[]).status.success());
        assert!(try_commit(&repo, "1", &["--amend", "-m", "reworded"]).status.success());
        let found = records(&repo, "HEAD");
        assert_eq!((found.len(), &found[0].commit), (1, &repo.id("HEAD")));
        assert!(try_commit(&repo, "2", &["--amend"]).status.success());
        let found = records(&repo, "HEAD");
        assert_eq!(found.len(), 1);
        assert!(found[0].text.contains("text: 0 -> 2"), "{}", found[0].text);
    }
}

#[test]
fn notes_follow_a_rebase() {
    for rewrite_ref in [false, true] {
        let mut repo = repository();
        if rewrite_ref {
            repo = repo.config("notes.rewriteRef", "refs/notes/invdiff");
        }
        repo.git(["checkout", "-q", "-b", "topic"]);
        assert!(try_commit(&repo, "1", &[]).status.success());
        assert!(try_commit(&repo, "2", &[]).status.success());
        repo.git(["checkout", "-q", "main"]);
        repo.write("b.c", "1");
        assert!(git(&repo, &["commit", "-q", "-a", "-m", "base moves"]).status.success());
        repo.git(["checkout", "-q", "topic"]);
        let output = git(&repo, &["rebase", "-q", "main"]);
        assert!(output.status.success(), "{}", stderr(&output));
        for (commit, change) in [("HEAD", "text: 1 -> 2"), ("HEAD~1", "text: 0 -> 1")] {
            let found = records(&repo, commit);
            assert_eq!(found.len(), 1, "{commit}");
            assert_eq!((&found[0].commit, found[0].text.contains(change)), (&repo.id(commit), true));
        }
    }
}

#[test]
fn commits_that_are_squashed_have_one_note() {
    let repo = repository();
    assert!(try_commit(&repo, "1", &[]).status.success());
    assert!(try_commit(&repo, "2", &[]).status.success());
    let output = command(&repo, "git")
        .env("GIT_SEQUENCE_EDITOR", "sed -i '2s/^pick/squash/'")
        .args(["rebase", "-q", "-i", "HEAD~2"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let found = records(&repo, "HEAD");
    assert_eq!(found.len(), 1);
    assert!(found[0].text.contains("text: 0 -> 2"), "{}", found[0].text);
    assert_eq!(repo.git(["log", "-1", "--format=%B"]), "next\n\nnext", "what the parts said is gone");
}

#[test]
fn linked_worktrees_share_the_hooks() {
    let repo = repository();
    let linked = repo.linked_worktree("linked", "HEAD");
    std::fs::write(linked.join("a.c"), "BUG").unwrap();
    let commit = |text: &str| {
        std::fs::write(linked.join("a.c"), text).unwrap();
        command(&repo, "git").current_dir(&linked).args(["commit", "-qam", "linked"]).output().unwrap()
    };
    assert_eq!(commit("BUG").status.code(), Some(1));
    let output = commit("1");
    assert!(output.status.success(), "{}", stderr(&output));
    let message =
        command(&repo, "git").current_dir(&linked).args(["log", "-1", "--format=%B"]).output().unwrap();
    assert!(stdout(&message).contains("Invariant-Churn: a.c:f: text: 0 -> 1"), "{}", stdout(&message));
}

#[test]
fn hooks_go_where_git_looks_for_them() {
    let repo = TempRepo::new().file("a.c", "0").file("sub/x", "").commit("first");
    let folder = repo.root().join("shared hooks");
    let repo = with_hooks(repo.config("core.hooksPath", folder.to_str().unwrap()));
    assert!(folder.join("pre-commit").is_file());
    assert_eq!(try_commit(&repo, "BUG", &[]).status.code(), Some(1));
    // A relative path is relative to the top, also from below.
    let repo = repo.config("core.hooksPath", "own-hooks");
    let below = repo
        .command_of(env!("CARGO_BIN_EXE_git-invdiff"))
        .current_dir(repo.path().join("sub"))
        .args(["hook", "install"])
        .output()
        .unwrap();
    assert!(below.status.success(), "{}", stderr(&below));
    assert!(repo.path().join("own-hooks/pre-commit").is_file(), "{}", stdout(&below));
}

#[test]
fn a_hook_that_was_there_runs_first_and_comes_back() {
    let repo = TempRepo::new().file("a.c", "0").commit("first");
    let hook = repo.path().join(".git/hooks/commit-msg");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let script = "#!/bin/sh\nif grep -q forbidden \"$1\"; then echo theirs says no >&2; exit 7; fi\necho by-them >>\"$1\"\nexit 0\n";
    std::fs::write(&hook, script).unwrap();
    make_executable(&hook);
    let repo = with_hooks(repo);
    assert!(stdout(&invdiff(&repo, &["hook", "status"])).contains("after the hook that was there before"));
    assert!(try_commit(&repo, "1", &[]).status.success());
    let message = repo.git(["log", "-1", "--format=%B"]);
    assert_eq!(message, "next\nby-them\n\nInvariant-Churn: a.c:f: text: 0 -> 1\nInvariant-Kept: 1");
    let refused = try_commit(&repo, "2", &["-m", "forbidden"]);
    assert!(!refused.status.success() && stderr(&refused).contains("theirs says no"), "{}", stderr(&refused));
    assert!(invdiff(&repo, &["hook", "uninstall"]).status.success());
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), script);
    assert!(!repo.path().join(".git/hooks/commit-msg.before-invdiff").exists());
    let repo = repo.config("x.y", "z");
    assert!(try_commit(&repo, "3", &[]).status.success());
    assert_eq!(repo.git(["log", "-1", "--format=%B"]), "next\nby-them");
}

#[test]
fn input_reaches_both_hooks() {
    let repo = TempRepo::new().file("a.c", "0").commit("first");
    let hook = repo.path().join(".git/hooks/post-rewrite");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\ncat >'{}'\n", repo.root().join("input").display())).unwrap();
    make_executable(&hook);
    let repo = with_hooks(repo);
    assert!(try_commit(&repo, "1", &[]).status.success());
    let old = repo.id("HEAD");
    assert!(try_commit(&repo, "2", &["--amend"]).status.success());
    let seen = std::fs::read_to_string(repo.root().join("input")).unwrap();
    assert_eq!(seen.trim(), format!("{old} {}", repo.id("HEAD")));
    assert_eq!(records(&repo, "HEAD").len(), 1);
}

#[test]
fn pushing_reminds_of_notes_only_where_they_are_shared() {
    let origin = TempRepo::new().file("a.c", "0").commit("first").bare();
    let repo = with_hooks(origin.clone_with(&[]));
    assert!(try_commit(&repo, "1", &[]).status.success());
    let output = git(&repo, &["push", "-q", "origin", "HEAD"]);
    assert!(output.status.success() && !stderr(&output).contains("hint: notes"), "{}", stderr(&output));
    assert!(invdiff(&repo, &["notes", "sync"]).status.success());
    assert!(try_commit(&repo, "2", &[]).status.success());
    let output = git(&repo, &["push", "-q", "origin", "HEAD"]);
    assert!(
        output.status.success() && stderr(&output).contains("git invdiff notes sync origin"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_repository_is_needed() {
    let folder = invdiff_testing::scratch();
    let repo = TempRepo::new();
    for words in [&["hook", "install"][..], &["notes", "list"], &["trailers"]] {
        let output = repo
            .command_of(env!("CARGO_BIN_EXE_git-invdiff"))
            .current_dir(folder.path())
            .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap())
            .args(words)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(128), "{words:?}");
        assert!(stderr(&output).starts_with("fatal: not a git repository"), "{}", stderr(&output));
    }
    assert_eq!(invdiff(&repo, &["hook", "run", "update"]).status.code(), Some(129));
    assert_eq!(invdiff(&repo, &["hook", "install", "update"]).status.code(), Some(129));
}
