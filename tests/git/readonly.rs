//! Asking changes nothing: every command that is not named for a change leaves every byte of the
//! repository, the work tree and the home folder as it was.

use super::state::{differing, divide, edits, program_in, state, three, three_and_edits};
use super::*;
use std::path::Path;

/// Runs commands in a folder of the repository, and compares everything before and after each.
#[track_caller]
fn check(repo: &TempRepo, folder: &Path, commands: &[&str]) {
    let elsewhere = tempfile::tempdir().unwrap();
    let before = state(&repo.root());
    for words in commands {
        let words = words.replace("OUT", &elsewhere.path().display().to_string());
        let words: Vec<&str> = words.split(' ').collect();
        let output = program_in(repo, folder, &words).output().unwrap();
        let said = stderr(&output);
        assert!(matches!(output.status.code(), Some(0 | 1 | 128)), "{words:?} {:?} {said}", output.status);
        assert!(!said.contains("panicked"), "{words:?} {said}");
        let changed = differing(&before, &state(&repo.root()));
        assert!(changed.is_empty(), "{words:?} changed {changed:?}");
    }
}

const SHORT: [&str; 12] = [
    "HEAD~2..HEAD",
    "--staged",
    "diff --no-cache",
    "check",
    "check --staged",
    "trailers",
    "trailers HEAD",
    "notes show",
    "notes list",
    "hook status",
    "blame src/a.c:f",
    "doctor",
];

#[test]
fn no_command_that_asks_changes_anything() {
    let repo = three_and_edits(TempRepo::new());
    // The index no longer knows the times of this file; git itself would refresh it.
    repo.write("lib/b.c", divide("g", 3));
    assert!(invdiff(&repo, &["notes", "add", "HEAD~1"]).status.success());
    check(&repo, repo.path(), &SHORT);
    check(
        &repo,
        repo.path(),
        &[
            "--json HEAD~2..HEAD",
            "--porcelain -z HEAD~2...HEAD",
            "--format yaml HEAD~1",
            "check --format sarif HEAD~2..HEAD",
            "check --format github HEAD~2..HEAD",
            "check --format gitlab HEAD~2..HEAD",
            "assert HEAD --output-dir OUT/copies",
            "witness HEAD~1..HEAD --output-dir OUT/tests",
            "graph HEAD~1..HEAD",
            "condition HEAD~1..HEAD",
            "bisect f:exit:\\result==a/2 HEAD~2..HEAD",
            "notes show HEAD~1 HEAD",
            "notes setup -n",
            "notes remove --ignore-missing HEAD",
            "notes prune",
            "hook uninstall",
            "hook run pre-commit",
            "hook run pre-push origin nowhere",
            "cache info",
            "doctor --coverage",
            "explain constant",
            "bugreport",
            "completions bash",
            "man",
            "demo",
            "-h",
            "--version",
        ],
    );
}

#[test]
fn nor_does_it_while_something_is_in_progress() {
    let repo = three(TempRepo::new()).run(["checkout", "-q", "-b", "side", "HEAD~2"]);
    let repo = repo.file("src/a.c", divide("f", 7)).commit("side");
    assert!(!repo.git_output(["merge", "main"]).status.success());
    check(&repo, repo.path(), &SHORT);
    repo.git(["merge", "--abort"]);
    assert!(!repo.git_output(["rebase", "main"]).status.success());
    check(&repo, repo.path(), &SHORT);
    repo.git(["rebase", "--abort"]);
    assert!(!repo.git_output(["cherry-pick", "main"]).status.success());
    check(&repo, repo.path(), &SHORT);
}

#[test]
fn nor_does_it_in_other_kinds_of_repositories() {
    let origin = three(TempRepo::new());
    let bare = origin.bare();
    check(&bare, bare.path(), &SHORT);
    let sparse = edits(origin.clone_with(&[])).run(["sparse-checkout", "set", "--sparse-index", "src"]);
    check(&sparse, sparse.path(), &SHORT);
    let linked = origin.linked_worktree("linked", "HEAD");
    std::fs::write(linked.join("src/a.c"), divide("f", 9)).unwrap();
    check(&origin, &linked, &SHORT);
    if let Some(reftable) = TempRepo::reftable().map(three_and_edits) {
        check(&reftable, reftable.path(), &SHORT);
    }
    let unborn = TempRepo::new().file("src/a.c", divide("f", 2)).stage();
    check(&unborn, unborn.path(), &SHORT);
}

#[test]
fn a_lock_of_another_git_and_a_folder_that_cannot_be_written_disturb_nothing() {
    let repo = three_and_edits(TempRepo::new());
    let free = program_in(&repo, repo.path(), &["--porcelain", "--staged"]).output().unwrap();
    repo.write(".git/index.lock", "");
    check(&repo, repo.path(), &SHORT);
    let locked = program_in(&repo, repo.path(), &["--porcelain", "--staged"]).output().unwrap();
    assert_eq!((stdout(&free), stderr(&free)), (stdout(&locked), stderr(&locked)));
    let readonly =
        |on: bool| repo.command_of("chmod").args(["-R", if on { "a-w" } else { "u+w" }, ".git"]).status();
    readonly(true).unwrap();
    check(&repo, repo.path(), &SHORT);
    readonly(false).unwrap();
}
