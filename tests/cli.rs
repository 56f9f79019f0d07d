//! The command line from outside: exit codes, help, messages.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `git-invdiff <words>` in `folder` with nothing of the user's configuration.
fn invdiff(folder: &Path, words: &str) -> Output {
    command(folder, words).output().expect("the binary runs")
}

fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-invdiff"));
    let inherited: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    for name in inherited.iter().filter(|n| n.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder))
        .args(words.split_whitespace());
    command
}

/// Checks exit code and a part of standard output and of standard error, outside a repository.
#[track_caller]
fn check(words: &str, code: i32, stdout: &str, stderr: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = invdiff(folder.path(), words);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}\n{out}\n{err}");
    assert!(out.contains(stdout) && (out.is_empty() || !stdout.is_empty()), "{words}: stdout\n{out}");
    assert!(err.contains(stderr) && (err.is_empty() || !stderr.is_empty()), "{words}: stderr\n{err}");
}

#[test]
fn help_works_outside_a_repository() {
    check("-h", 0, "Usage: git invdiff [<options>] [<range> | <rev>...]", "");
    check("diff -h", 0, "--exit-code", "");
    check("notes add -h", 0, "--force", "");
    check("check -h", 0, "not in this version", "");
    check("--version", 0, concat!("git-invdiff ", env!("CARGO_PKG_VERSION")), "");
}

#[test]
fn usage_errors_exit_129() {
    check("--no-such-option", 129, "", "error: unexpected argument '--no-such-option'");
    check("diff --points nowhere", 129, "", "invalid value 'nowhere'");
    check("--format json --json HEAD", 129, "", "cannot be used with");
    check("-C", 129, "", "a value is required");
    check("hook", 129, "", "Usage");
    for reserved in
        ["check", "assert", "witness", "condition", "discover", "quantify", "rank", "blame", "bisect"]
    {
        let words = format!("{reserved} --any HEAD~1..HEAD");
        check(&words, 129, "", &format!("error: '{reserved}' is not available in this version"));
    }
}

#[test]
fn fatal_errors_exit_128() {
    check("-C no-such-folder HEAD", 128, "", "fatal: cannot change to 'no-such-folder'");
    check("-o no/such/folder/file HEAD", 128, "", "fatal: cannot write 'no/such/folder/file'");
}

#[test]
fn commands_that_need_a_repository_say_so() {
    check("cache info", 128, "", "fatal: not a git repository");
    check("HEAD~1..HEAD", 128, "", "hint: change into a repository");
    check("frobnicate", 128, "", "fatal: not a git repository");
    check("doctor", 1, "bad   repository  none here", "");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = command(folder.path(), "completions bash").stdout(writer).stderr(Stdio::piped()).output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty());
}

#[test]
fn results_go_to_a_file_only_if_the_command_succeeds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (words, written) in [("-o out diff", false), ("-o out completions zsh", true)] {
        let output = invdiff(folder.path(), words);
        assert_eq!(output.status.success(), written, "{words}");
        assert!(output.stdout.is_empty());
        assert_eq!(folder.path().join("out").exists(), written, "{words}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn manual_pages_are_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = invdiff(folder.path(), "-q man pages");
    assert!(output.status.success() && output.stdout.is_empty());
    for page in ["git-invdiff.1", "git-invdiff-diff.1", "git-invdiff-notes.1", "git-invdiff-check.1"] {
        let text = std::fs::read_to_string(folder.path().join("pages").join(page)).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn completions_are_printed() {
    for shell in ["bash", "zsh", "fish"] {
        check(&format!("completions {shell}"), 0, "invdiff", "");
    }
}
