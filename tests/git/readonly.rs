//! Asking changes nothing: every command that is not named for a change leaves every byte of the
//! repository, the work tree and the home folder as it was; one that is changes nothing else.

use super::state::{differing, divide, edits, program_in, state, three, three_and_edits};
use super::*;
use clap::CommandFactory;
use std::path::Path;

/// Runs commands in a folder of the repository, and compares everything before and after each.
#[track_caller]
fn check(repo: &TempRepo, folder: &Path, commands: &[&str]) {
    let elsewhere = invdiff_testing::scratch();
    let before = state(&repo.root());
    for words in commands {
        let words = words.replace("OUT", &elsewhere.path().display().to_string());
        let words: Vec<&str> = words.split(' ').collect();
        let output = program_in(repo, folder, &words).output().unwrap();
        let said = stderr(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 128 | 129)),
            "{words:?} {:?} {said}",
            output.status
        );
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

const LONG: [&str; 35] = [
    "--json HEAD~2..HEAD",
    "--porcelain -z HEAD~2...HEAD",
    "--format yaml HEAD~1",
    "--format html HEAD~2..HEAD",
    "check --format sarif HEAD~2..HEAD",
    "check --format github HEAD~2..HEAD",
    "check --format gitlab HEAD~2..HEAD",
    "check --format html HEAD~2..HEAD",
    "assert HEAD",
    "assert HEAD --output-dir OUT/copies",
    "witness HEAD~1..HEAD --output-dir OUT/tests",
    "graph HEAD~1..HEAD",
    "condition HEAD~1..HEAD",
    "bisect f:exit:\\result==a/2 HEAD~2..HEAD",
    "notes show HEAD~1 HEAD",
    "notes setup -n",
    "notes remove --ignore-missing HEAD",
    "notes prune",
    "notes sync",
    "hook uninstall",
    "hook run pre-commit",
    "hook run pre-push origin nowhere",
    "hook run post-rewrite rebase",
    "cache info",
    "doctor --coverage",
    "explain constant",
    "bugreport",
    "completions bash",
    "man",
    "demo",
    "discover",
    "discover --run true -- src/a.c:f",
    "quantify HEAD~1..HEAD",
    "rank HEAD",
    "-h",
];

/// Commands that are named for a change, and below which folder or file it may be.
const WRITING: [(&str, &[&str]); 21] = [
    ("notes add HEAD~1 HEAD", NOTES),
    ("notes add --force HEAD", NOTES),
    ("notes --ref other add --all --shard 1/1", NOTES),
    ("notes merge other", NOTES),
    ("notes remove HEAD", NOTES),
    ("notes sync", NOTES),
    ("notes prune", NOTES),
    ("notes add --stale", NOTES),
    ("notes setup", &[".git/config"]),
    ("trailers --in-place MESSAGE", &["message"]),
    ("hook install", &[".git/hooks"]),
    ("hook run prepare-commit-msg MESSAGE", &["message"]),
    ("hook run commit-msg MESSAGE", &["message"]),
    ("hook run post-commit", NOTES),
    ("hook run post-rewrite amend", NOTES),
    ("hook uninstall", &[".git/hooks"]),
    ("suppress 0123456789abcdef --reason known", &[".invdiff.yaml"]),
    ("cache clear", &[]),
    ("assert HEAD --output-dir out", &["out"]),
    ("witness HEAD~1..HEAD --output-dir out", &["out"]),
    ("--json -o out/report.json HEAD~1..HEAD", &["out/report.json"]),
];

/// What writing notes may change: our own ref, the one that follows the remote's, and new objects.
const NOTES: &[&str] = &[".git/refs/notes", ".git/logs/refs/notes", ".git/objects"];

/// The words that name each command, in the definition of the command line.
fn commands(command: &clap::Command, before: &str, found: &mut Vec<String>) {
    let inner: Vec<&clap::Command> = command.get_subcommands().collect();
    for one in &inner {
        commands(one, &format!("{before}{} ", one.get_name()), found);
    }
    if inner.is_empty() {
        found.push(before.to_owned());
    }
}

#[test]
fn no_command_is_forgotten() {
    let mut all = Vec::new();
    commands(&git_invdiff::cli::Cli::command(), "", &mut all);
    assert!(all.len() > 25, "{all:?}");
    let writing = WRITING.iter().map(|(words, _)| *words);
    let lines: Vec<String> =
        SHORT.into_iter().chain(LONG).chain(writing).map(|words| format!("{words} ")).collect();
    for command in all {
        assert!(lines.iter().any(|line| line.starts_with(&command)), "nothing runs '{command}'");
    }
    for name in git_invdiff::gate::hooks::NAMES {
        let hook = format!("hook run {name} ");
        assert!(lines.iter().any(|line| line.starts_with(&hook)), "nothing runs '{hook}'");
    }
}

#[test]
fn a_command_that_is_named_for_a_change_changes_nothing_else() {
    let origin = three(TempRepo::new()).bare();
    let repo = three_and_edits(origin.clone_with(&[]).run(["reset", "-q", "--hard", "HEAD~1"]));
    repo.write("message", "title\n");
    for (words, places) in WRITING {
        let before = state(&repo.root());
        let line = words.replace("MESSAGE", "message");
        let words: Vec<&str> = line.split(' ').collect();
        let output = program_in(&repo, repo.path(), &words).output().unwrap();
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        let after = state(&repo.root());
        let changed = differing(&before, &after);
        for path in &changed {
            let inside = path.strip_prefix(repo.path()).unwrap_or(path);
            assert!(places.iter().any(|place| inside.starts_with(place)), "{line} changed {path:?}");
            let is_object = inside.starts_with(".git/objects");
            assert!(!is_object || !before.contains_key(path), "{line} changed the object {path:?}");
        }
        // Pruning and renewing found nothing to do, and the second run of a hook or of an analysis nothing new.
        let idle = ["notes prune", "notes add --stale", "notes add --force HEAD", "cache clear"]
            .contains(&line.as_str())
            || line.starts_with("hook run");
        assert!(idle || !changed.is_empty(), "{line} did nothing: {}", stderr(&output));
    }
}

#[test]
fn no_command_that_asks_changes_anything() {
    let repo = three_and_edits(TempRepo::new());
    // The index no longer knows the times of this file; git itself would refresh it.
    repo.write("lib/b.c", divide("g", 3));
    assert!(invdiff(&repo, &["notes", "add", "HEAD~1"]).status.success());
    check(&repo, repo.path(), &SHORT);
    check(&repo, repo.path(), &LONG);
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
