//! Trailers as `git commit` makes them, through the hooks.

use super::*;

/// Commits what is staged with the words of an editor script, and returns whether git made a commit.
fn commit_with_editor(repo: &TempRepo, script: &str, args: &[&str]) -> Output {
    let editor = repo.root().join("editor");
    std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    make_executable(&editor);
    command(repo, "git").env("GIT_EDITOR", &editor).arg("commit").args(args).output().unwrap()
}

fn commit(repo: &TempRepo, text: &str, args: &[&str]) {
    repo.write("a.c", text);
    let output = git(repo, &[&["commit", "-q", "-a"], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
}

fn message(repo: &TempRepo) -> String {
    repo.git(["log", "-1", "--format=%B"])
}

fn churns(repo: &TempRepo) -> String {
    repo.git(["log", "-1", "--format=%(trailers:key=Invariant-Churn,valueonly,unfold)"]).trim().to_string()
}

fn repository() -> TempRepo {
    with_hooks(TempRepo::new().file("a.c", "0").file("b.c", "0").commit("first"))
}

#[test]
fn git_finds_what_the_hook_wrote() {
    let repo = repository();
    commit(&repo, "1", &["-m", "second"]);
    assert_eq!(message(&repo), "second\n\nInvariant-Churn: a.c:f: text: 0 -> 1\nInvariant-Kept: 1");
    assert_eq!(churns(&repo), "a.c:f: text: 0 -> 1");
    commit(&repo, "2", &["-m", "third", "-m", "Body.", "-s"]);
    let expected = "third\n\nBody.\n\nSigned-off-by: A U Thor <author@example.com>\n\
                    Invariant-Churn: a.c:f: text: 1 -> 2\nInvariant-Kept: 1";
    assert_eq!(message(&repo), expected);
}

#[test]
fn amending_leaves_no_double_and_compares_with_the_parent() {
    let repo = repository();
    commit(&repo, "1", &["-m", "second"]);
    commit(&repo, "2", &["--amend", "--no-edit"]);
    assert_eq!(churns(&repo), "a.c:f: text: 0 -> 2");
    commit(&repo, "3", &["--amend", "-m", "reworded"]);
    assert_eq!(churns(&repo), "a.c:f: text: 0 -> 3", "the same second as HEAD, but amended");
    let output = commit_with_editor(&repo, "echo 'more' >>\"$1\"", &["--amend"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(message(&repo).matches("Invariant-").count(), 2, "{}", message(&repo));
    assert_eq!(churns(&repo), "a.c:f: text: 0 -> 3");
    commit(&repo, "0", &["--amend", "--no-edit", "--allow-empty"]);
    assert_eq!(churns(&repo), "", "a change taken back takes its trailers along");
    commit(&repo, "4", &["-m", "after"]);
    assert_eq!(churns(&repo), "a.c:f: text: 0 -> 4", "an old amend is not remembered");
}

#[test]
fn the_first_commit_has_nothing_before_it() {
    let repo = with_hooks(TempRepo::new());
    repo.write("a.c", "1");
    repo.git(["add", "a.c"]);
    commit(&repo, "1", &["-m", "first"]);
    assert!(message(&repo).starts_with("first\n\nInvariant-Churn: a.c:f: "), "{}", message(&repo));
}

#[test]
fn an_empty_message_aborts() {
    let repo = repository();
    repo.write("a.c", "1");
    for args in [&["-a"][..], &["-a", "-v"], &["-a", "--cleanup=scissors"]] {
        let before = repo.id("HEAD");
        let output = commit_with_editor(&repo, ":", args);
        assert_eq!(output.status.code(), Some(1), "{args:?} {}", stderr(&output));
        assert_eq!(repo.id("HEAD"), before);
    }
}

#[test]
fn the_editor_shows_what_will_be_added() {
    for (args, config) in [
        (&["-a"][..], ""),
        (&["-a", "-v"], ""),
        (&["-a", "--cleanup=scissors"], ""),
        (&["-a"], "core.commentChar=;"),
        (&["-a", "-v"], "core.commentChar=auto"),
    ] {
        let mut repo = repository();
        if let Some((key, value)) = config.split_once('=') {
            repo = repo.config(key, value);
        }
        repo.write("a.c", "1");
        let script = format!(
            "cp \"$1\" '{0}'; sed -i '1i #subject\\n\\nBody.' \"$1\"",
            repo.root().join("seen").display()
        );
        let script = if config.is_empty() { script.replace("#subject", "subject") } else { script };
        let output = commit_with_editor(&repo, &script, args);
        assert!(output.status.success(), "{args:?} {config}: {}", stderr(&output));
        let seen = std::fs::read_to_string(repo.root().join("seen")).unwrap();
        let comment = if config == "core.commentChar=;" { ";" } else { "#" };
        assert!(
            seen.contains(&format!("{comment}   Invariant-Churn: a.c:f: text: 0 -> 1\n")),
            "{args:?} {seen}"
        );
        let subject = if comment == ";" { "#subject" } else { "subject" };
        if config != "core.commentChar=auto" {
            let expected =
                format!("{subject}\n\nBody.\n\nInvariant-Churn: a.c:f: text: 0 -> 1\nInvariant-Kept: 1");
            assert_eq!(message(&repo), expected, "{args:?} {config}");
        }
        assert_eq!(churns(&repo), "a.c:f: text: 0 -> 1");
    }
}

#[test]
fn messages_of_machines_are_left_alone() {
    let repo = repository();
    for (text, subject) in
        [("1", "fixup! first"), ("2", "squash! first"), ("3", "amend! first"), ("4", "Revert \"x\"")]
    {
        commit(&repo, text, &["-m", subject]);
        assert_eq!(message(&repo), format!("{subject}"));
    }
}

#[test]
fn merges_are_left_alone() {
    let repo = repository();
    repo.git(["checkout", "-q", "-b", "side"]);
    commit(&repo, "1", &["-m", "side"]);
    repo.git(["checkout", "-q", "main"]);
    repo.write("b.c", "1");
    commit(&repo, "0", &["-m", "main"]);
    let output = git(&repo, &["merge", "-q", "--no-ff", "-m", "joined", "side"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(message(&repo), "joined");
}

#[test]
fn only_what_is_committed_counts() {
    let repo = repository();
    repo.write("a.c", "staged");
    repo.git(["add", "a.c"]);
    repo.write("a.c", "unstaged");
    repo.write("b.c", "other");
    // `git commit b.c` commits b.c alone, although a.c is staged.
    let output = git(&repo, &["commit", "-q", "-m", "b alone", "b.c"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(message(&repo), "b alone");
    let output = git(&repo, &["commit", "-q", "-m", "a"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(churns(&repo), "a.c:f: text: 0 -> staged");
    assert_eq!(std::fs::read_to_string(repo.path().join("a.c")).unwrap(), "unstaged");
}

#[test]
fn trailers_survive_verbatim_and_line_ends() {
    let repo = repository().config("commit.cleanup", "verbatim");
    commit(&repo, "1", &["-m", "subject\r\n\r\nbody\r\n"]);
    assert_eq!(churns(&repo), "a.c:f: text: 0 -> 1");
}

/// Git runs no commit-msg then, and the message is that of the commit before.
#[test]
fn a_rebase_that_had_stopped_goes_on_with_new_trailers() {
    let conflict = |resolved: &str| {
        let repo = with_hooks(TempRepo::new().file("a.c", "0").commit("first"));
        let commit = |text: &str| {
            repo.write("a.c", text);
            assert!(git(&repo, &["commit", "-q", "-a", "-m", text]).status.success());
        };
        repo.git(["checkout", "-q", "-b", "topic"]);
        commit("1");
        repo.git(["checkout", "-q", "main"]);
        commit("2");
        repo.git(["checkout", "-q", "topic"]);
        assert!(!git(&repo, &["rebase", "-q", "main"]).status.success());
        repo.write("a.c", resolved);
        repo.git(["add", "a.c"]);
        let output = git(&repo, &["rebase", "--continue"]);
        assert!(output.status.success(), "{}", stderr(&output));
        repo
    };
    let message = |repo: &TempRepo| repo.git(["log", "-1", "--format=%B"]);
    let repo = conflict("3");
    assert_eq!(message(&repo), "1\n\nInvariant-Churn: a.c:f: text: 2 -> 3\nInvariant-Kept: 1");
    assert_eq!(message(&conflict("FAIL")), "1", "none are better than wrong ones");
    // Stopped to edit, with something staged: it is amended.
    let edit = |words: &[&str]| {
        let mut command = command(&repo, "git");
        command.env("GIT_SEQUENCE_EDITOR", "sed -i 1s/^pick/edit/").args(words).output().unwrap()
    };
    assert!(edit(&["rebase", "-q", "-i", "HEAD~1"]).status.success());
    repo.write("a.c", "4");
    repo.git(["add", "a.c"]);
    assert!(edit(&["rebase", "--continue"]).status.success());
    assert_eq!(message(&repo), "1\n\nInvariant-Churn: a.c:f: text: 2 -> 4\nInvariant-Kept: 1");
    // A commit of one's own meanwhile is like any other.
    assert!(edit(&["rebase", "-q", "-i", "HEAD~1"]).status.success());
    repo.write("a.c", "5");
    assert!(git(&repo, &["commit", "-q", "-a", "-m", "own"]).status.success());
    assert!(edit(&["rebase", "--continue"]).status.success());
    assert_eq!(message(&repo), "own\n\nInvariant-Churn: a.c:f: text: 4 -> 5\nInvariant-Kept: 1");
}
