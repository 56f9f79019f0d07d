//! Notes under load: many writers, killed writers, several clones, rewritten commits, newer schemas.

use super::long_ranges::until;
use super::random::Random;
use super::state::{Run, divide, program_in};
use super::watched::{Stop, WatchedGit, When, Whom};
use super::*;
use crate::support::tier::rounds;
use git_invdiff::store::notes::Note;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A history of `count` commits without C, made at once.
fn long(count: usize) -> TempRepo {
    let repo = TempRepo::new().file("a.c", divide("f", 2)).commit("base");
    let mut stream = String::new();
    for n in 0..count {
        let from = if n == 0 { "from refs/heads/main^0\n" } else { "" };
        let text = format!("{n}\n");
        stream += &format!(
            "commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\nx{from}M 100644 inline n.txt\ndata {}\n{text}",
            text.len()
        );
    }
    repo.write(".git/stream", stream);
    let file = std::fs::File::open(repo.path().join(".git/stream")).unwrap();
    assert!(repo.command_of("git").args(["fast-import", "--quiet"]).stdin(file).status().unwrap().success());
    repo.run(["reset", "-q", "--hard"])
}

fn ids(repo: &TempRepo, range: &str) -> Vec<String> {
    repo.git(["rev-list", "--first-parent", range]).lines().map(str::to_owned).collect()
}

fn annotated(repo: &TempRepo) -> usize {
    repo.git(["notes", "--ref=invdiff", "list"]).lines().count()
}

fn payload(repo: &TempRepo, commit: &str) -> Vec<u8> {
    repo.git_bytes(["notes", "--ref=invdiff", "show", commit])
}

#[test]
fn crowds_of_writers_lose_nothing() {
    let writers = rounds("INVDIFF_WRITERS", 32, 200);
    let range = format!("HEAD~{writers}..HEAD");
    let repo = long(writers);
    let start = |commit: &String| -> Child {
        let mut command = program_in(&repo, repo.path(), &["--no-cache", "notes", "add", commit]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<Child> = ids(&repo, &range).iter().map(start).collect();
    for writer in running {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(annotated(&repo), writers);
    for commit in ids(&repo, &range) {
        let note = Note::parse(&payload(&repo, &commit));
        assert_eq!((note.records.len(), note.records[0].commit.as_str()), (1, commit.as_str()));
    }
    assert_eq!(repo.git(["rev-list", "--count", "refs/notes/invdiff"]), writers.to_string());
}

/// Ends a process and, if `all`, what it has started, the hard way.
fn kill(child: &mut Child, all: bool) {
    let id = rustix::process::Pid::from_child(child);
    let signal = rustix::process::Signal::KILL;
    let _ = if all {
        rustix::process::kill_process_group(id, signal)
    } else {
        rustix::process::kill_process(id, signal)
    };
    child.wait().unwrap();
}

/// The run that is killed renews the notes of a history that speak of other commits with the same trees, which takes no
/// analysis, so that every kill falls near to where notes are read and written.
#[test]
fn a_killed_run_leaves_the_old_notes_or_the_new_ones() {
    let commits = rounds("INVDIFF_KILLED", 140, 500);
    let repo = long(commits);
    let range = format!("HEAD~{commits}..HEAD");
    let all = ids(&repo, &range);
    assert!(invdiff(&repo, &["notes", "add", &range]).status.success());
    let git = git_of(&repo);
    let notes = git_invdiff::store::notes::Notes::new(&git, NotesRef::default());
    let other = "f".repeat(40);
    let rename = |_: &str, payload: Option<&[u8]>| {
        let mut note = Note::parse(payload.unwrap());
        note.records[0].commit.clone_from(&other);
        git_invdiff::store::notes::Edit::Set(note.payload())
    };
    assert_eq!(notes.update("old", &all, rename).unwrap().len(), commits);
    let watched = WatchedGit::beside(&repo);
    let run = |stop: Option<Stop>| {
        let mut command = program_in(&repo, repo.path(), &["notes", "add", "--stale"]);
        watched.watch(&mut command, stop);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
    };
    let tip = repo.id("refs/notes/invdiff");
    assert!(run(None).success());
    let calls = watched.called();
    let writes = 1 + calls.iter().rposition(|command| command == "fast-import").unwrap();
    let mut random = Random::new(11);
    let (mut olds, mut news) = (0, 0);
    for round in 0..rounds("INVDIFF_KILLS", 4, 50) {
        repo.git(["update-ref", "refs/notes/invdiff", &tip]);
        let stop = Stop {
            call: if round < 4 { writes } else { 1 + random.below(calls.len()) },
            when: if round % 2 == 0 { When::Before } else { When::After },
            whom: if round % 4 < 2 { Whom::Caller } else { Whom::Group },
            signal: Signal::KILL,
        };
        assert!(!run(Some(stop)).success(), "{stop:?}");
        if let Whom::Caller = stop.whom {
            watched.await_orphan();
        }
        // Git's own lock may be left by a git that was killed; git says how to take it away.
        let _ = std::fs::remove_file(repo.path().join(".git/refs/notes/invdiff.lock"));
        let now = repo.id("refs/notes/invdiff");
        let is_new = now != tip;
        if is_new {
            news += 1;
            assert_eq!(repo.id(&format!("{now}^")), tip);
        } else {
            olds += 1;
        }
        let found = notes.read(&all).unwrap();
        assert_eq!(found.len(), commits);
        for (commit, payload) in found {
            let note = Note::parse(&payload);
            assert_eq!((note.records.len(), note.foreign.len()), (1, 0), "{stop:?}");
            assert_eq!(note.records[0].commit, if is_new { commit } else { other.clone() }, "{stop:?}");
        }
    }
    println!("{olds} kills left the old notes, {news} the new ones; a run calls git {} times", calls.len());
    assert!(olds > 0 && news > 0);
    assert_eq!(repo.git(["fsck", "--no-dangling", "--connectivity-only"]), "");
    // And the next run works.
    repo.git(["update-ref", "refs/notes/invdiff", &tip]);
    assert!(run(None).success());
    assert_eq!(Note::parse(&payload(&repo, &all[commits - 1])).records[0].commit, all[commits - 1]);
}

/// A history of `count` commits, each of which changes a function in C.
fn long_in_c(count: usize) -> TempRepo {
    let repo = TempRepo::new().file("a.c", divide("f", 2)).commit("base");
    let mut stream = String::new();
    for n in 0..count {
        let from = if n == 0 { "from refs/heads/main^0\n" } else { "" };
        let text = divide("f", u32::try_from(n).unwrap() + 3);
        stream += &format!(
            "commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\nx{from}M 100644 inline a.c\ndata {}\n{text}",
            text.len()
        );
    }
    git_of(&repo).run(&["fast-import", "--quiet"], stream.as_bytes()).unwrap();
    repo.run(["reset", "-q", "--hard"])
}

/// The run that is killed analyses commits, of which every other one has an old note. What it has analysed is in the
/// cache, so that each of the runs is killed somewhere further on.
#[test]
fn a_run_that_is_killed_while_it_analyses_damages_nothing() {
    use std::os::unix::process::CommandExt;
    let commits = rounds("INVDIFF_KILLED", 140, 500);
    let repo = long_in_c(commits);
    let range = format!("HEAD~{commits}..HEAD");
    let all = ids(&repo, &range);
    let git = git_of(&repo);
    let notes = git_invdiff::store::notes::Notes::new(&git, NotesRef::default());
    assert!(invdiff(&repo, &["notes", "add", "HEAD"]).status.success());
    let sample = Note::parse(&payload(&repo, "HEAD")).records.remove(0);
    let had: Vec<String> = all.iter().step_by(2).cloned().collect();
    let old = |commit: &str| {
        let record = git_invdiff::store::notes::Record {
            commit: commit.to_owned(),
            tree: "e".repeat(40),
            ..sample.clone()
        };
        Note { records: vec![record], foreign: Vec::new() }.payload()
    };
    let set = |commit: &str, _: Option<&[u8]>| git_invdiff::store::notes::Edit::Set(old(commit));
    assert_eq!(notes.update("old", &had, set).unwrap().len(), commits / 2);
    let tip = repo.id("refs/notes/invdiff");
    let run = || {
        let mut command = program_in(&repo, repo.path(), &["notes", "add", "--force", &range]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap()
    };
    let cache = repo.path().join(".git/invdiff/cache/v1");
    let known = || {
        let folders = cache.read_dir().into_iter().flatten().flatten();
        folders.map(|folder| folder.path().read_dir().map_or(0, Iterator::count)).sum::<usize>()
    };
    let (mut random, mut killed) = (Random::new(23), 0);
    while killed < rounds("INVDIFF_KILLS", 2, 50) {
        let mut child = run();
        let enough = known() + random.below(commits / 8);
        if !until(&mut child, |_| known() > enough) {
            // All is known by now: from the beginning.
            repo.git(["update-ref", "refs/notes/invdiff", &tip]);
            assert!(invdiff(&repo, &["cache", "clear"]).status.success());
            continue;
        }
        kill(&mut child, killed % 3 != 0);
        assert_eq!(repo.id("refs/notes/invdiff"), tip, "nothing is written before all is known");
        killed += 1;
    }
    for (commit, payload) in notes.read(&all).unwrap() {
        assert_eq!(payload, old(&commit));
    }
    assert_eq!(repo.git(["fsck", "--no-dangling", "--connectivity-only"]), "");
    // The next run takes up what they had done, and writes on top of what was there.
    assert!(run().wait().unwrap().success());
    repo.git(["merge-base", "--is-ancestor", &tip, "refs/notes/invdiff"]);
    let found = notes.read(&all).unwrap();
    assert_eq!(found.len(), commits);
    let trees = repo.git(["log", "--format=%H %T", &range]);
    let trees: BTreeMap<&str, &str> = trees.lines().filter_map(|line| line.split_once(' ')).collect();
    for (commit, payload) in found {
        let note = Note::parse(&payload);
        assert_eq!((note.records.len(), note.foreign.len()), (1, 0));
        let record = &note.records[0];
        assert_eq!((&record.commit, Some(record.tree.as_str())), (&commit, trees.get(&*commit).copied()));
        assert!(note.records[0].text.contains("1 churn"), "{}", note.records[0].text);
    }
}

#[test]
fn clones_that_share_at_once_converge() {
    let origin = long(24).bare();
    let clones: Vec<TempRepo> = (0..4).map(|_| origin.clone_with(&[])).collect();
    let all = ids(&clones[0], "HEAD~24..HEAD");
    std::thread::scope(|scope| {
        for (clone, part) in clones.iter().zip(all.chunks(6)) {
            scope.spawn(move || {
                for commits in part.chunks(3) {
                    let words: Vec<&str> =
                        ["notes", "add"].into_iter().chain(commits.iter().map(String::as_str)).collect();
                    assert!(invdiff(clone, &words).status.success());
                    let output = invdiff(clone, &["notes", "sync"]);
                    assert!(output.status.success(), "{}", stderr(&output));
                }
            });
        }
    });
    for clone in &clones {
        assert!(invdiff(clone, &["notes", "sync"]).status.success());
        assert_eq!(annotated(clone), 24);
        assert_eq!(clone.id("refs/notes/invdiff"), origin.id("refs/notes/invdiff"));
    }
}

/// Of a commit that only a colleague has, the note comes with the others. It is no orphan: to prune it would
/// take it from everybody.
#[test]
fn notes_of_commits_that_were_not_fetched_are_no_orphans() {
    let origin = long(2).bare();
    let (theirs, ours) = (origin.clone_with(&[]), origin.clone_with(&[]));
    let theirs = theirs.file("a.c", divide("f", 5)).commit("not pushed");
    let commit = theirs.id("HEAD");
    let done = |repo: &TempRepo, words: &[&str]| {
        let run = Run::of(&mut program_in(repo, repo.path(), words));
        assert_eq!(run.code, Some(0), "{words:?} {}", run.err);
        run
    };
    done(&theirs, &["notes", "add", "HEAD", "HEAD~1"]);
    done(&theirs, &["notes", "sync"]);
    done(&ours, &["notes", "sync"]);
    assert!(done(&ours, &["notes", "list"]).out.contains(&format!("{commit} elsewhere\n")));
    assert!(!done(&ours, &["doctor"]).out.contains("prune"));
    let run = done(&ours, &["notes", "prune"]);
    assert_eq!(run.out, "");
    assert!(run.err.contains("--shared"), "{}", run.err);
    done(&ours, &["notes", "sync"]);
    assert_eq!((annotated(&ours), annotated(&origin)), (2, 2));
    // What nobody else has is one, and all of them are where one knows better.
    let ours = ours.file("a.c", divide("f", 6)).commit("dropped");
    let dropped = ours.id("HEAD");
    done(&ours, &["notes", "add"]);
    let ours = ours.run(["reset", "-q", "--hard", "HEAD~1"]);
    ours.git(["reflog", "expire", "--expire=now", "--all"]);
    ours.git(["gc", "-q", "--prune=now"]);
    assert!(done(&ours, &["doctor"]).out.contains("1 on commits that are gone"));
    assert_eq!(done(&ours, &["notes", "prune"]).out, format!("{dropped}\n"));
    assert_eq!(done(&ours, &["notes", "prune", "--shared"]).out, format!("{commit}\n"));
    done(&ours, &["notes", "sync"]);
    assert_eq!(annotated(&origin), 1);
}

/// A partial clone has the names of notes, but not what they say, until it is asked to fetch them.
#[test]
fn a_partial_clone_gets_its_notes_by_sync() {
    let source = long(4);
    assert!(invdiff(&source, &["notes", "add", "HEAD~4..HEAD"]).status.success());
    let origin = source.config("uploadpack.allowFilter", "true");
    let repo = origin.clone_with(&["--filter=blob:none"]);
    let run = |words: &[&str]| Run::of(&mut program_in(&repo, repo.path(), words));
    assert_eq!(run(&["notes", "setup"]).code, Some(0));
    repo.git(["fetch", "-q"]);
    repo.git(["update-ref", "refs/notes/invdiff", "refs/notes/origin/invdiff"]);
    for words in [&["notes", "show"][..], &["notes", "add"]] {
        let refused = run(words);
        assert_eq!(refused.code, Some(128), "{words:?} {}", refused.err);
        assert!(
            refused.err.contains("partial clone") && refused.err.contains("notes sync"),
            "{}",
            refused.err
        );
        assert!(!refused.err.contains("notes remove"), "{}", refused.err);
    }
    let packs = || std::fs::read_dir(repo.path().join(".git/objects/pack")).unwrap().count();
    let before = packs();
    let sync = run(&["notes", "sync"]);
    assert_eq!((sync.code, sync.out.as_str()), (Some(0), "origin: received notes\n"), "{}", sync.err);
    assert!(packs() <= before + 3, "they come all at once");
    assert_eq!(run(&["notes", "sync"]).out, "origin: nothing to exchange\n");
    assert!(run(&["notes", "show"]).out.contains("note on"));
    assert_eq!(run(&["notes", "list"]).out.matches(" current\n").count(), 4);
    // Of a clone that has none of them yet, too.
    let repo = origin.clone_with(&["--filter=blob:none"]);
    assert!(invdiff(&repo, &["notes", "sync"]).status.success());
    assert!(invdiff(&repo, &["notes", "show", "HEAD~3..HEAD"]).status.success());
}

/// As `git fetch` does: the remote of the branch, or the only one.
#[test]
fn the_usual_remote_is_that_of_git() {
    let origin = long(2).bare();
    let repo = origin.clone_with(&["--origin", "up"]);
    let run = |words: &[&str]| Run::of(&mut program_in(&repo, repo.path(), words));
    assert!(run(&["notes", "setup"]).out.contains("remote.up.fetch"));
    assert_eq!(run(&["notes", "add"]).code, Some(0));
    assert_eq!(run(&["notes", "sync"]).out, "up: sent notes\n");
    repo.git(["remote", "add", "origin", "/nowhere"]);
    assert_eq!(run(&["notes", "sync"]).out, "up: nothing to exchange\n");
    repo.git(["checkout", "-q", "--detach"]);
    assert!(run(&["notes", "sync"]).err.contains("/nowhere"));
    for name in ["../x.git", "nosuch", "/nowhere", "https://example.invalid/x"] {
        let refused = run(&["notes", "sync", name]);
        assert_eq!(refused.code, Some(128));
        assert!(
            refused.err.starts_with("fatal: there is no remote") && refused.err.contains("git remote add")
        );
    }
}

#[test]
fn a_newer_schema_is_left_alone_and_named() {
    let repo =
        TempRepo::new().file("a.c", divide("f", 2)).commit("one").file("a.c", divide("f", 4)).commit("two");
    let line = "{\"schema\":\"invdiff/9\",\"commit\":\"x\",\"new\":[1,2]}";
    repo.git(["notes", "--ref=invdiff", "add", "-m", line]);
    let shown = Run::of(&mut program_in(&repo, repo.path(), &["notes", "show"]));
    assert!(shown.out.contains("invdiff/9"), "{}", shown.out);
    for words in [&["notes", "add"][..], &["notes", "add", "--force"], &["notes", "add", "HEAD~1"]] {
        let run = Run::of(&mut program_in(&repo, repo.path(), words));
        assert_eq!(run.code, Some(0), "{}", run.err);
        let note = repo.git(["notes", "--ref=invdiff", "show"]);
        assert!(note.lines().any(|found| found == line), "{note}");
    }
    let note = Note::parse(&payload(&repo, "HEAD"));
    assert_eq!((note.records.len(), note.foreign.len()), (1, 1));
}

#[test]
fn notes_have_a_limit_and_say_what_is_left_out() {
    let repo =
        TempRepo::new().file("a.c", divide("f", 2)).commit("one").file("a.c", divide("f", 4)).commit("two");
    assert!(invdiff(&repo, &["notes", "add"]).status.success());
    let whole = payload(&repo, "HEAD").len();
    let repo = repo.config("invdiff.noteLimit", "1k");
    assert!(invdiff(&repo, &["notes", "add", "--force"]).status.success());
    let short = payload(&repo, "HEAD");
    assert!(short.len() <= 1024 && short.len() < whole, "{} of {whole}", short.len());
    let text = stdout(&invdiff(&repo, &["notes", "show"]));
    assert!(
        text.contains("1 churn (1 observable)") && text.contains("a.c:f: \\result: a / 2 -> a / 4"),
        "{text}"
    );
    let record = &Note::parse(&short).records[0];
    assert_eq!(record.omitted, ["functions"]);
}

#[test]
fn a_lock_that_was_left_is_named() {
    let locked = || {
        let repo = long(3);
        assert!(invdiff(&repo, &["notes", "add", "HEAD~1"]).status.success());
        let lock = repo.path().join(".git/refs/notes/invdiff.lock");
        std::fs::write(&lock, "").unwrap();
        (repo.id("refs/notes/invdiff"), repo, lock)
    };
    // All wait for theirs at once.
    let waiting = [&["notes", "add"][..], &["notes", "remove", "HEAD~1"]].map(|words| {
        let (tip, repo, lock) = locked();
        let mut command = program_in(&repo, repo.path(), words);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        (tip, repo, lock, child)
    });
    let [(_, repo, lock), _] = waiting.map(|(tip, repo, lock, child)| {
        let output = child.wait_with_output().unwrap();
        let (code, err) = (output.status.code(), stderr(&output));
        assert_eq!(code, Some(128), "{err}");
        let rm = "rm '.git/refs/notes/invdiff.lock'";
        assert!(err.contains("is in the way") && err.contains(rm), "{err}");
        assert_eq!((repo.id("refs/notes/invdiff"), lock.exists()), (tip.clone(), true));
        (tip, repo, lock)
    });
    age_by(&lock, 150);
    let doctor = stdout(&invdiff(&repo, &["doctor"]));
    assert!(
        doctor.contains(".git/refs/notes/invdiff.lock has been in the way of the notes for 2 min"),
        "{doctor}"
    );
    // One that was made just now may be in use.
    std::fs::write(&lock, "").unwrap();
    let doctor = stdout(&invdiff(&repo, &["doctor"]));
    assert!(!doctor.contains("lock "), "{doctor}");
    // A lock that goes away in time is no more than a moment lost.
    let watched = WatchedGit::beside(&repo);
    let mut command = program_in(&repo, repo.path(), &["notes", "add"]);
    watched.watch(&mut command, None);
    let mut waiting = command.spawn().unwrap();
    let attempts = || watched.called().iter().filter(|command| *command == "fast-import").count();
    assert!(until(&mut waiting, |_| attempts() > 1), "it tries only once");
    assert_eq!(annotated(&repo), 1);
    std::fs::remove_file(&lock).unwrap();
    assert!(waiting.wait().unwrap().success());
    assert_eq!(annotated(&repo), 2);
    assert!(!stdout(&invdiff(&repo, &["doctor"])).contains("lock "));
}

/// As `git gc` takes it for as long as it packs refs. Notes are written beside it.
#[test]
fn a_lock_that_is_not_in_the_way_is_not_named() {
    let repo = long(2);
    assert!(invdiff(&repo, &["notes", "add", "HEAD~1"]).status.success());
    repo.git(["pack-refs", "--all"]);
    let lock = repo.path().join(".git/packed-refs.lock");
    std::fs::write(&lock, "").unwrap();
    age(&lock);
    let doctor = stdout(&invdiff(&repo, &["doctor"]));
    assert!(!doctor.contains("lock "), "{doctor}");
    for words in [&["notes", "add"][..], &["notes", "remove", "HEAD~1"]] {
        let run = Run::of(&mut program_in(&repo, repo.path(), words));
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
    assert!(annotated(&repo) == 1 && lock.exists());
}

/// Makes a file an hour old.
fn age(path: &std::path::Path) {
    age_by(path, 3600);
}

fn age_by(path: &std::path::Path, seconds: u64) {
    let then = std::time::SystemTime::now() - Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn a_lock_of_reftables_is_named() {
    let Some(repo) = TempRepo::reftable() else {
        eprintln!("skipped: this git has no reftables");
        return;
    };
    let repo = repo.file("a.c", divide("f", 2)).commit("one");
    let lock = repo.path().join(".git/reftable/tables.list.lock");
    std::fs::write(&lock, "").unwrap();
    let run = Run::of(&mut program_in(&repo, repo.path(), &["notes", "add"]));
    assert!(run.code == Some(128) && run.err.contains("reftable/tables.list.lock"), "{}", run.err);
    std::fs::remove_file(&lock).unwrap();
    assert!(invdiff(&repo, &["notes", "add"]).status.success());
}

/// The records of the note on a commit.
fn records(repo: &TempRepo, commit: &str) -> Vec<git_invdiff::store::notes::Record> {
    Note::parse(&repo.git_output(["notes", "--ref=invdiff", "show", commit]).stdout).records
}

/// As `git`, with an editor for the list of a rebase and for messages.
fn with_editor(repo: &TempRepo, sed: &str, words: &[&str]) {
    let mut command = command(repo, "git");
    command.env("GIT_SEQUENCE_EDITOR", format!("sed -i -e '{sed}'")).env("GIT_EDITOR", "sed -i -e 1s/$/x/");
    command.args(words);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?} {}", stderr(&output));
}

#[test]
fn notes_follow_every_kind_of_rewriting() {
    for (rewrite_ref, hands_on) in [(false, true), (true, true), (false, false)] {
        let repo = with_hooks(TempRepo::new().file("a.c", "0").file("b", "").commit("c0"));
        if rewrite_ref {
            repo.git(["config", "notes.rewriteRef", "refs/notes/invdiff"]);
        }
        if !hands_on {
            // As managers of hooks do that keep git's lines to themselves.
            let script = "#!/bin/sh\nexec git-invdiff hook run post-rewrite \"$1\" </dev/null\n";
            repo.write(".git/hooks/post-rewrite", script);
        }
        for n in 1..=4 {
            repo.write("a.c", n.to_string());
            assert!(git(&repo, &["commit", "-q", "-a", "-m", &format!("c{n}")]).status.success());
        }
        // Each commit has one record, which is about it.
        let check = |commits: &[&str]| {
            for commit in commits {
                let found = records(&repo, commit);
                let id = repo.id(commit);
                assert_eq!(found.len(), 1, "{commit} {rewrite_ref} {hands_on}");
                assert_eq!(
                    (&found[0].commit, &found[0].tree),
                    (&id, &repo.id(&format!("{commit}^{{tree}}")))
                );
                assert_eq!(found[0].parent, Some(repo.id(&format!("{commit}^"))));
            }
        };
        check(&["HEAD", "HEAD~1", "HEAD~2", "HEAD~3"]);
        assert!(git(&repo, &["rebase", "-q", "--apply", "--force-rebase", "HEAD~3"]).status.success());
        check(&["HEAD", "HEAD~1", "HEAD~2", "HEAD~3"]);
        with_editor(&repo, "1s/^pick/reword/", &["rebase", "-q", "-i", "HEAD~3"]);
        check(&["HEAD", "HEAD~1", "HEAD~2"]);
        with_editor(&repo, "2s/^pick/fixup/", &["rebase", "-q", "-i", "HEAD~3"]);
        check(&["HEAD", "HEAD~1"]);
        with_editor(&repo, "2s/^pick/squash/", &["rebase", "-q", "-i", "HEAD~2"]);
        check(&["HEAD"]);
        assert!(
            !repo.git(["log", "-1", "--format=%B"]).contains("Invariant-"),
            "melded messages have no trailers"
        );
        repo.write("b", "other");
        assert!(git(&repo, &["commit", "-q", "-a", "-m", "b"]).status.success());
        assert!(git(&repo, &["commit", "-q", "--amend", "-m", "b, reworded"]).status.success());
        check(&["HEAD", "HEAD~1"]);
        // A pick is a commit of its own.
        repo.git(["branch", "pick"]);
        assert!(git(&repo, &["checkout", "-q", "-b", "elsewhere", "HEAD~2"]).status.success());
        assert!(git(&repo, &["cherry-pick", "pick"]).status.success());
        check(&["HEAD"]);
        assert!(
            git(&repo, &["commit", "-q", "--amend", "--no-edit", "--date=now", "--reset-author"])
                .status
                .success()
        );
        check(&["HEAD"]);
    }
}

#[test]
fn what_was_rewritten_without_hooks_is_found_by_doctor_and_renewed() {
    let repo =
        TempRepo::new().file("a.c", divide("f", 2)).commit("one").file("a.c", divide("f", 4)).commit("two");
    assert!(invdiff(&repo, &["notes", "add", "HEAD~1", "HEAD"]).status.success());
    let old = repo.id("HEAD");
    // As a filter does it: other commits, other trees, notes copied along.
    let repo = repo.file("a.c", divide("f", 8)).stage().run(["commit", "-q", "--amend", "-m", "rewritten"]);
    repo.git(["notes", "--ref=invdiff", "copy", &old, "HEAD"]);
    let doctor = stdout(&invdiff(&repo, &["doctor"]));
    assert!(doctor.contains("1 stale") && doctor.contains("git invdiff notes add --stale"), "{doctor}");
    let run = Run::of(&mut program_in(&repo, repo.path(), &["notes", "add", "--stale"]));
    assert_eq!((run.code, run.out.trim()), (Some(0), repo.id("HEAD").as_str()), "{}", run.err);
    let doctor = stdout(&invdiff(&repo, &["doctor"]));
    assert!(!doctor.contains("stale"), "{doctor}");
    assert_eq!(records(&repo, "HEAD")[0].tree, repo.id("HEAD^{tree}"));
}

#[test]
fn one_rebase_writes_notes_once() {
    let repo = with_hooks(TempRepo::new().file("a.c", "0").commit("c0"));
    for n in 1..=3 {
        repo.write("a.c", n.to_string());
        assert!(git(&repo, &["commit", "-q", "-a", "-m", &format!("c{n}")]).status.success());
    }
    let count =
        |repo: &TempRepo| repo.git(["rev-list", "--count", "refs/notes/invdiff"]).parse::<usize>().unwrap();
    assert_eq!(count(&repo), 3);
    with_editor(&repo, "1s/^pick/reword/", &["rebase", "-q", "-i", "HEAD~3"]);
    assert_eq!(count(&repo), 4, "post-commit leaves the picks of a rebase to post-rewrite");
}
