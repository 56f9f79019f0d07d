//! `refs/notes/invdiff`: what git reads there, who may write at once, what survives.

use super::*;
use git_invdiff::gate::annotate::{Annotated, Existing, annotate};
use git_invdiff::store::notes::{Edit, Note, Notes};

/// A repository with `count` commits, each with its number in `a.c`.
fn history(count: usize) -> TempRepo {
    (0..count).fold(TempRepo::new(), |repo, n| repo.file("a.c", format!("{n}\n")).commit(&format!("c{n}")))
}

fn commits(repo: &TempRepo) -> Vec<String> {
    repo.git(["rev-list", "--reverse", "HEAD"]).lines().map(str::to_string).collect()
}

fn add(repo: &TempRepo, commits: &[String], existing: Existing) -> Annotated {
    let git = git_of(repo);
    let notes = Notes::new(&git, NotesRef::default());
    annotate(&notes, commits, existing, &[], 1 << 20, &stand_in(git.clone())).unwrap()
}

/// What git itself shows of a note.
fn shown(repo: &TempRepo, commit: &str) -> String {
    repo.git(["notes", "--ref=invdiff", "show", commit])
}

fn notes_commits(repo: &TempRepo) -> usize {
    repo.git(["rev-list", "--count", "refs/notes/invdiff"]).parse().unwrap()
}

#[test]
fn git_reads_what_we_write() {
    for repo in [history(3), TempRepo::sha256().file("a.c", "0").commit("c0").file("a.c", "1").commit("c1")] {
        let all = commits(&repo);
        assert_eq!(add(&repo, &all, Existing::Keep).written.len(), all.len());
        assert_eq!(notes_commits(&repo), 1, "all notes of a run are one notes commit");
        for commit in &all {
            let note = Note::parse(shown(&repo, commit).as_bytes());
            assert_eq!(note.records.len(), 1);
            assert_eq!(&note.records[0].commit, commit);
            assert_eq!(note.records[0].tree, repo.id(&format!("{commit}^{{tree}}")));
        }
        assert_eq!(Note::parse(shown(&repo, &all[0]).as_bytes()).records[0].parent, None);
        let list = invdiff(&repo, &["notes", "list"]);
        assert!(all.iter().all(|commit| stdout(&list).contains(&format!("{commit} current"))), "{list:?}");
        let json = invdiff(&repo, &["notes", "show", "--json", "HEAD"]);
        assert!(stdout(&json).contains("\"stale\": false"), "{json:?}");
    }
}

#[test]
fn a_note_that_is_there_stays_unless_forced() {
    let repo = history(2);
    let all = commits(&repo);
    add(&repo, &all, Existing::Keep);
    let before = repo.id("refs/notes/invdiff");
    let again = add(&repo, &all, Existing::Keep);
    assert_eq!((again.written.len(), again.kept.len()), (0, 2));
    assert_eq!(
        add(&repo, &all, Existing::Replace).written,
        Vec::<String>::new(),
        "the same bytes are no change"
    );
    assert_eq!(repo.id("refs/notes/invdiff"), before);
}

#[test]
fn lines_of_other_schemas_survive() {
    let repo = history(1);
    let foreign = "{\"schema\":\"invdiff/9\",\"x\":1}";
    repo.git(["notes", "--ref=invdiff", "add", "-m", foreign, "HEAD"]);
    add(&repo, &commits(&repo), Existing::Keep);
    let note = Note::parse(shown(&repo, "HEAD").as_bytes());
    assert_eq!((note.records.len(), note.foreign.as_slice()), (1, &[foreign.as_bytes().to_vec()][..]));
}

#[test]
fn any_fan_out_is_read_and_kept() {
    let repo = history(2);
    let all = commits(&repo);
    add(&repo, &all, Existing::Keep);
    // The same notes at another depth, the first one twice, and a file that is no note.
    let blob = |commit: &str| repo.git(["notes", "--ref=invdiff", "list", commit]);
    let deep = |commit: &str| format!("{}/{}/{}", &commit[..2], &commit[2..4], &commit[4..]);
    let index = repo.root().join("index");
    let plumb = |args: &[&str]| {
        let output = repo.command_of("git").env("GIT_INDEX_FILE", &index).args(args).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).trim().to_string()
    };
    for (path, commit) in [(deep(&all[0]), &all[0]), (all[0].clone(), &all[1]), (deep(&all[1]), &all[1])] {
        plumb(&["update-index", "--add", "--cacheinfo", &format!("100644,{},{path}", blob(commit))]);
    }
    plumb(&["update-index", "--add", "--cacheinfo", &format!("100644,{},README", blob(&all[0]))]);
    let tree = plumb(&["write-tree"]);
    let commit = plumb(&["commit-tree", "-m", "other depth", &tree]);
    plumb(&["update-ref", "refs/notes/invdiff", &commit]);
    let git = git_of(&repo);
    let notes = Notes::new(&git, NotesRef::default());
    assert_eq!(
        notes.read(&all).unwrap()[&all[0]].split(|&b| b == b'\n').filter(|l| !l.is_empty()).count(),
        2
    );
    add(&repo, &all, Existing::Replace);
    for commit in &all {
        assert_eq!(Note::parse(shown(&repo, commit).as_bytes()).records[0].commit, *commit);
        assert_eq!(shown(&repo, commit).lines().count(), 1);
    }
    assert!(repo.git(["ls-tree", "--name-only", "refs/notes/invdiff"]).contains("README"));
}

#[test]
fn many_notes_are_what_git_would_have_written() {
    let repo = history(1);
    let git = git_of(&repo);
    // 600 commits without files are quick to make.
    let stream: String = (0..600)
        .map(|n| format!("commit refs/heads/many\ncommitter A <a@b> {n} +0000\ndata 1\nx\n"))
        .collect();
    git.run(&["fast-import", "--quiet"], stream.as_bytes()).unwrap();
    let all: Vec<String> = repo.git(["rev-list", "many"]).lines().map(str::to_string).collect();
    let notes = Notes::new(&git, NotesRef::default());
    let written = notes.update("many", &all, |id, _| Edit::Set(format!("{id}\n").into_bytes())).unwrap();
    assert_eq!(written.len(), 600);
    assert_eq!(repo.git(["notes", "--ref=invdiff", "list"]).lines().count(), 600);
    assert_eq!(shown(&repo, &all[77]), all[77]);
    // Git goes on from there, and we go on from git.
    repo.git(["notes", "--ref=invdiff", "remove", &all[77]]);
    notes
        .update("one", &all[77..78], |_, old| {
            assert_eq!(old, None);
            Edit::Set(b"new\n".to_vec())
        })
        .unwrap();
    assert_eq!(shown(&repo, &all[77]), "new");
    assert_eq!(notes.list().unwrap().len(), 600);
}

#[test]
fn eight_writers_lose_nothing() {
    let repo = history(24);
    let all = commits(&repo);
    std::thread::scope(|scope| {
        for part in all.chunks(3) {
            scope.spawn(|| assert_eq!(add(&repo, part, Existing::Keep).written.len(), 3));
        }
    });
    assert_eq!(repo.git(["notes", "--ref=invdiff", "list"]).lines().count(), 24);
    assert_eq!(notes_commits(&repo), 8);
    assert_eq!(repo.git(["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn a_commit_that_cannot_be_analysed_does_not_keep_others_from_their_notes() {
    let repo = history(1).file("a.c", "FAIL").commit("bad").file("a.c", "1").commit("good");
    let done = add(&repo, &commits(&repo), Existing::Keep);
    assert_eq!((done.written.len(), done.failed.len()), (2, 1));
    assert_eq!(done.failed[0].1, "told to fail");
}

#[test]
fn stale_notes_are_said_to_be_stale() {
    let repo = history(2);
    add(&repo, &commits(&repo), Existing::Keep);
    repo.git(["notes", "--ref=invdiff", "copy", "-f", "HEAD~1", "HEAD"]);
    assert!(stdout(&invdiff(&repo, &["notes", "list"])).contains(&format!("{} stale", repo.id("HEAD"))));
    assert!(stdout(&invdiff(&repo, &["notes", "show", "HEAD"])).contains("stale"));
    let again = add(&repo, &commits(&repo), Existing::Keep);
    assert_eq!(again.kept, [(repo.id("HEAD~1"), false), (repo.id("HEAD"), true)]);
    assert_eq!(add(&repo, &commits(&repo), Existing::Refresh).written, [repo.id("HEAD")]);
}

#[test]
fn notes_are_removed_and_pruned() {
    let repo = history(3);
    add(&repo, &commits(&repo), Existing::Keep);
    assert!(invdiff(&repo, &["notes", "remove", "HEAD~1"]).status.success());
    let again = invdiff(&repo, &["notes", "remove", "HEAD~1"]);
    assert_eq!(again.status.code(), Some(128));
    assert!(stderr(&again).contains("--ignore-missing"));
    assert!(invdiff(&repo, &["notes", "remove", "--ignore-missing", "HEAD~1", "HEAD~2"]).status.success());
    let gone = repo.id("HEAD");
    let repo = repo.run(["reset", "-q", "--hard", "HEAD~1"]);
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    assert_eq!(stdout(&invdiff(&repo, &["notes", "list"])), format!("{gone} gone\n"));
    assert_eq!(stdout(&invdiff(&repo, &["notes", "prune"])), format!("{gone}\n"));
    assert_eq!(repo.git(["notes", "--ref=invdiff", "list"]), "");
}

#[test]
fn a_shallow_clone_is_not_pruned() {
    let shallow = history(3).shallow(1);
    let output = invdiff(&shallow, &["notes", "prune"]);
    assert_eq!(output.status.code(), Some(128));
    assert!(stderr(&output).contains("--unshallow"));
}

#[test]
fn two_clones_converge() {
    let origin = history(4).bare();
    let (one, two) = (origin.clone_with(&[]), origin.clone_with(&[]));
    let all = commits(&one);
    let sync = |repo: &TempRepo| {
        let output = invdiff(repo, &["notes", "sync"]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(sync(&one), "origin: nothing to exchange\n");
    add(&one, &all[..2], Existing::Keep);
    add(&two, &all[1..], Existing::Keep);
    assert_eq!(sync(&one), "origin: sent notes\n");
    assert_eq!(sync(&two), "origin: received and sent notes\n");
    assert_eq!(sync(&one), "origin: received notes\n");
    assert_eq!(one.id("refs/notes/invdiff"), two.id("refs/notes/invdiff"));
    for commit in &all {
        assert_eq!(
            Note::parse(shown(&one, commit).as_bytes()).records.len(),
            1,
            "equal notes are merged to one"
        );
    }
    // What one side removes stays removed, while the other adds.
    assert!(invdiff(&one, &["notes", "remove", &all[0]]).status.success());
    let git = git_of(&two);
    let other = Notes::new(&git, NotesRef::default());
    other
        .update("other", &all[3..], |_, old| Edit::Set([old.unwrap_or_default(), b"{}\n"].concat()))
        .unwrap();
    assert_eq!(sync(&one), "origin: sent notes\n");
    assert_eq!(sync(&two), "origin: received and sent notes\n");
    sync(&one);
    assert_eq!(one.git(["notes", "--ref=invdiff", "list"]).lines().count(), 3);
    assert_eq!(shown(&one, &all[3]).lines().count(), 2);
}

#[test]
fn a_rejected_push_is_an_error_that_says_why() {
    let repo = history(1).bare().clone_with(&[]);
    add(&repo, &commits(&repo), Existing::Keep);
    repo.git(["remote", "set-url", "origin", "/nonexistent"]);
    let output = invdiff(&repo, &["notes", "sync"]);
    assert_eq!(output.status.code(), Some(128));
    assert!(stderr(&output).contains("/nonexistent"), "{}", stderr(&output));
}

#[test]
fn setup_adds_what_is_absent_and_its_undo_takes_it_out() {
    let repo = history(1).bare().clone_with(&[]);
    let before = repo.git(["config", "--local", "--list"]);
    let dry = invdiff(&repo, &["notes", "setup", "-n"]);
    assert_eq!(repo.git(["config", "--local", "--list"]), before);
    let first = invdiff(&repo, &["notes", "setup"]);
    assert_eq!(stdout(&dry).replace("would add", "added"), stdout(&first));
    let refspec = repo.git(["config", "--get-all", "remote.origin.fetch"]);
    assert!(refspec.contains("+refs/notes/invdiff*:refs/notes/origin/invdiff*"), "{refspec}");
    assert_eq!(stdout(&invdiff(&repo, &["notes", "setup"])), "nothing to add\n");
    let text = stdout(&first);
    let undo: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("undo")).collect();
    assert_eq!(undo.len(), 4);
    for line in undo {
        assert!(repo.command_of("sh").args(["-c", line]).status().unwrap().success(), "{line}");
    }
    assert_eq!(repo.git(["config", "--local", "--list"]), before);
}

/// While there are no notes yet, here or in the remote, git works as before, and says nothing.
#[test]
fn setup_disturbs_no_command_of_git() {
    for push in [false, true] {
        let origin = history(1).bare();
        let repo = origin.clone_with(&[]);
        let setup: &[&str] = if push { &["notes", "setup", "--push"] } else { &["notes", "setup"] };
        assert!(invdiff(&repo, setup).status.success());
        let quiet = |words: &[&str]| {
            let output = repo.git_output(words.iter().copied());
            assert!(output.status.success(), "{words:?} {}", stderr(&output));
            assert!(!stderr(&output).contains("warning") && !stderr(&output).contains("fatal"), "{words:?}");
        };
        let all: [&[&str]; 6] = [
            &["fetch"],
            &["pull", "-q"],
            &["commit", "-q", "--allow-empty", "-m", "next"],
            &["commit", "-q", "--amend", "--allow-empty", "-m", "amended"],
            &["log", "-1"],
            &["push", "-q"],
        ];
        all.iter().for_each(|words| quiet(words));
        assert_eq!(origin.id("main"), repo.id("HEAD"));
        // With notes: they are shown, fetched, and pushed if that was asked for.
        add(&repo, &commits(&repo), Existing::Keep);
        quiet(&["fetch"]);
        quiet(&["push", "-q"]);
        let there = origin.git_output(["rev-parse", "--verify", "-q", "refs/notes/invdiff"]);
        assert_eq!(there.status.success(), push);
        assert!(invdiff(&repo, &["notes", "sync"]).status.success());
        let other = origin.clone_with(&[]);
        assert!(invdiff(&other, setup).status.success());
        assert!(other.git_output(["fetch", "-q"]).status.success());
        assert_eq!(other.id("refs/notes/origin/invdiff"), repo.id("refs/notes/invdiff"));
        assert!(repo.git(["log", "-1"]).contains("Notes (invdiff):"));
        // Nobody's notes are overwritten.
        let tip = origin.id("refs/notes/invdiff");
        repo.git(["notes", "--ref=invdiff", "remove", "HEAD"]);
        assert!(invdiff(&other, &["notes", "sync"]).status.success());
        other.git(["notes", "--ref=invdiff", "append", "-m", "{}", "HEAD~1"]);
        assert!(invdiff(&other, &["notes", "sync"]).status.success());
        let moved = origin.id("refs/notes/invdiff");
        assert_ne!(tip, moved);
        let pushed = repo.git_output(["push", "-q"]);
        assert_eq!((pushed.status.success(), origin.id("refs/notes/invdiff")), (!push, moved));
        assert!(invdiff(&repo, &["notes", "sync"]).status.success());
        quiet(&["push", "-q"]);
    }
}

#[test]
fn refs_elsewhere_are_refused() {
    let repo = history(1);
    let output = invdiff(&repo, &["notes", "--ref", "refs/heads/main", "list"]);
    assert_eq!(output.status.code(), Some(129));
    let repo = repo.config("invdiff.notesRef", "refs/heads/main");
    assert_eq!(invdiff(&repo, &["notes", "list"]).status.code(), Some(128));
}

#[test]
fn reftables_and_bare_repositories_work() {
    let bare = history(2).bare();
    assert_eq!(add(&bare, &commits(&bare), Existing::Keep).written.len(), 2);
    let Some(repo) = TempRepo::reftable() else { return eprintln!("skipped: this git knows no reftable") };
    let repo = repo.file("a.c", "0").commit("c0");
    assert_eq!(add(&repo, &commits(&repo), Existing::Keep).written.len(), 1);
    assert_eq!(add(&repo, &commits(&repo), Existing::Keep).kept.len(), 1);
}
