//! Notes, messages and repositories that nobody would write on purpose; and that asking changes nothing.

use super::*;
use git_invdiff::gate::annotate::{Existing, annotate};
use git_invdiff::store::notes::{Note, Notes};
use std::collections::BTreeMap;
use std::path::Path;

/// Every file below a folder with its bytes, but for those that are ours and may go at any time.
fn files(folder: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && entry.path().ends_with(".git/invdiff") => {}
            kind if kind.is_dir() => found.extend(files(&entry.path())),
            _ => drop(found.insert(entry.path(), std::fs::read(entry.path()).unwrap_or_default())),
        }
    }
    found
}

#[test]
fn asking_changes_nothing() {
    let repo = TempRepo::new().file("a.c", "0").commit("c0").file("a.c", "1").commit("c1");
    let git = git_of(&repo);
    let commits = [repo.id("HEAD")];
    let notes = Notes::new(&git, NotesRef::default());
    annotate(&notes, &commits, Existing::Keep, &[], 1 << 20, &stand_in(git.clone())).unwrap();
    repo.write("a.c", "staged");
    repo.git(["add", "a.c"]);
    repo.write("a.c", "unstaged");
    let before = files(&repo.root());
    for words in [
        &["notes", "list"][..],
        &["notes", "show"],
        &["notes", "show", "--json"],
        &["notes", "show", "HEAD~1"],
        &["notes", "setup", "-n"],
        &["notes", "remove", "HEAD~1"],
        &["notes", "prune"],
        &["trailers"],
        &["trailers", "HEAD"],
        &["hook", "status"],
        &["hook", "uninstall"],
        &["hook", "run", "pre-push", "origin", "x"],
        &["hook", "run", "post-rewrite", "rebase"],
        &["hook", "run", "commit-msg"],
        &["hook", "run", "commit-msg", "no-such-file"],
    ] {
        let output = invdiff(&repo, words);
        assert!(matches!(output.status.code(), Some(0 | 128)), "{words:?} {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        assert!(files(&repo.root()) == before, "{words:?} changed something");
    }
}

#[test]
fn notes_that_cannot_be_read_are_shown_as_such() {
    let long = format!("{}{}", "[".repeat(100_000), "\u{1b}[31m\n");
    let wrong_types = "{\"schema\":\"invdiff/1\",\"text\":7,\"commit\":[],\"tree\":null}\n";
    for payload in ["\n", "not json", "\0\u{1}\u{2}", "{\"schema\":", long.as_str(), wrong_types] {
        let repo = TempRepo::new().file("a.c", "0").commit("c0");
        repo.write("payload", payload);
        let blob = repo.git(["hash-object", "-w", "payload"]);
        repo.git(["notes", "--ref=invdiff", "add", "--allow-empty", "-C", &blob, "HEAD"]);
        let list = invdiff(&repo, &["notes", "list"]);
        assert_eq!(stdout(&list), format!("{} foreign\n", repo.id("HEAD")));
        let shown = invdiff(&repo, &["notes", "show"]);
        assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
        assert!(!stdout(&shown).contains('\u{1b}'));
    }
}

#[test]
fn a_note_that_is_gone_is_named_and_can_be_removed() {
    let repo = TempRepo::new().file("a.c", "0").commit("c0").file("a.c", "1").commit("c1");
    for commit in ["HEAD", "HEAD~1"] {
        repo.git(["notes", "--ref=invdiff", "add", "-m", &format!("note of {commit}"), commit]);
    }
    let blob = repo.git(["notes", "--ref=invdiff", "list", "HEAD"]);
    std::fs::remove_file(repo.path().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let listed = |states: [&str; 2]| {
        let (old, new) = (repo.id("HEAD~1"), repo.id("HEAD"));
        let mut lines = [format!("{old} {}", states[0]), format!("{new} {}", states[1])];
        lines.sort();
        assert_eq!(stdout(&invdiff(&repo, &["notes", "list"])).trim_end(), lines.join("\n").trim_end());
    };
    listed(["foreign", "unreadable"]);
    let said =
        format!("fatal: the note on {} cannot be read: object {blob} is missing\nhint: ", repo.id("HEAD"));
    for words in [&["notes", "show"][..], &["notes", "add", "--force", "HEAD"]] {
        let output = invdiff(&repo, words);
        assert_eq!(output.status.code(), Some(128), "{words:?}");
        assert!(stderr(&output).starts_with(&said), "{words:?} {}", stderr(&output));
    }
    assert_eq!(invdiff(&repo, &["notes", "remove", "HEAD"]).status.code(), Some(0));
    assert_eq!(stdout(&invdiff(&repo, &["notes", "list"])), format!("{} foreign\n", repo.id("HEAD~1")));
}

#[test]
fn hostile_records_are_printed_harmlessly() {
    let repo = TempRepo::new().file("a.c", "0").commit("c0");
    let record = format!(
        "{{\"schema\":\"invdiff/1\",\"text\":\"\\u001b[31m red; \\nnext\",\"commit\":\"{}\",\"parent\":null,\
         \"tree\":\"{}\",\"parent_tree\":null,\"functions\":{{\"not\":\"a list\"}},\"omitted\":[\"\\u0007\"]}}",
        repo.id("HEAD"),
        repo.id("HEAD^{tree}")
    );
    repo.git(["notes", "--ref=invdiff", "add", "-m", &record, "HEAD"]);
    assert_eq!(Note::parse(record.as_bytes()).records.len(), 1);
    for words in
        [&["notes", "show"][..], &["notes", "show", "--json"], &["notes", "show", "--format", "yaml"]]
    {
        let shown = invdiff(&repo, words);
        assert_eq!(shown.status.code(), Some(0), "{words:?} {}", stderr(&shown));
        let text = stdout(&shown);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{words:?} {text:?}");
    }
}

#[test]
fn a_notes_ref_that_holds_no_notes_is_an_error_or_nothing() {
    let repo = TempRepo::new().file("a.c", "0").commit("c0");
    let blob = repo.git(["hash-object", "-w", "a.c"]);
    repo.git(["update-ref", "refs/notes/invdiff", "HEAD"]);
    assert_eq!(stdout(&invdiff(&repo, &["notes", "list"])), "");
    repo.git(["update-ref", "refs/notes/invdiff", &blob]);
    let git = git_of(&repo);
    let commits = [repo.id("HEAD")];
    let notes = Notes::new(&git, NotesRef::default());
    assert!(annotate(&notes, &commits, Existing::Keep, &[], 1 << 20, &stand_in(git.clone())).is_err());
    assert_eq!(repo.id("refs/notes/invdiff"), blob);
}

#[test]
fn a_killed_writer_leaves_nothing_behind() {
    let repo = TempRepo::new().file("a.c", "0").commit("c0");
    let git = git_of(&repo);
    let commits = [repo.id("HEAD")];
    let notes = Notes::new(&git, NotesRef::default());
    // What a writer leaves that dies before the ref moves: objects, a lock, half a pack.
    let folder = repo.path().join(".git");
    std::fs::create_dir_all(folder.join("objects/pack")).unwrap();
    std::fs::write(folder.join("objects/pack/tmp_pack_dead"), "PACK").unwrap();
    std::fs::create_dir_all(folder.join("refs/notes")).unwrap();
    std::fs::write(folder.join("refs/notes/invdiff.lock"), "").unwrap();
    assert_eq!(stdout(&invdiff(&repo, &["notes", "list"])), "", "reading needs no lock");
    std::fs::remove_file(folder.join("refs/notes/invdiff.lock")).unwrap();
    let done = annotate(&notes, &commits, Existing::Keep, &[], 1 << 20, &stand_in(git.clone())).unwrap();
    assert_eq!(done.written.len(), 1);
}

#[test]
fn messages_of_any_bytes_come_through() {
    let repo = with_hooks(TempRepo::new().file("a.c", "0").commit("c0"));
    for (text, message) in [
        ("1", &b"caf\xe9 \xff\n\nbody \x1b[31m\n"[..]),
        ("2", b"one line without end"),
        ("3", b"subject\n\n- \xf0\x9f\xa6\x80\n\n\n\n"),
        ("4", b"Invariant-Churn: as the subject\n"),
    ] {
        repo.write("a.c", text);
        repo.write("../message", message);
        let output = git(&repo, &["commit", "-q", "-a", "-F", "../message"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let made = repo.git_bytes(["cat-file", "commit", "HEAD"]);
        // Git itself takes a message that is not UTF-8 for Latin-1.
        let whole = String::from_utf8(message.to_vec());
        let whole = whole.unwrap_or_else(|_| message.iter().map(|&byte| char::from(byte)).collect());
        let body = whole.trim_end().as_bytes();
        assert!(made.windows(body.len()).any(|w| w == body), "{text}");
        let found = repo.git(["log", "-1", "--format=%(trailers:key=Invariant-Kept,valueonly)"]);
        assert_eq!(found.trim(), "1", "{text}");
    }
}

#[test]
fn an_empty_repository_has_no_notes() {
    let repo = TempRepo::new();
    assert_eq!(stdout(&invdiff(&repo, &["notes", "list"])), "");
    for words in [
        &["notes", "show"][..],
        &["notes", "add"],
        &["notes", "show", "nowhere"],
        &["notes", "add", "--", "-x..y"],
    ] {
        let output = invdiff(&repo, words);
        assert!(matches!(output.status.code(), Some(128 | 129)), "{words:?} {}", stderr(&output));
        assert!(!stderr(&output).is_empty());
    }
}

#[test]
fn a_folder_for_temporary_files_that_is_not_there_is_named() {
    let repo = TempRepo::new().file("a.c", "int a;\n").commit("one");
    let output = super::state::program_in(&repo, repo.path(), &["notes", "add"])
        .env("TMPDIR", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(128));
    assert!(stderr(&output).contains("temporary file in '/nonexistent'"), "{}", stderr(&output));
}
