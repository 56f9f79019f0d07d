//! `git invdiff notes add` over many commits: in batches, on many machines, ended and taken up again.

use super::random::Random;
use super::state::{Run, divide, program_in};
use super::*;
use crate::support::tier::rounds;
use git_invdiff::analysis::{Ended, Watch};
use git_invdiff::gate::annotate::{Annotated, Annotator, Existing};
use git_invdiff::store::notes::{Note, Notes, NotesError};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A history of `count` commits in C behind the first one; every fourth is a merge of a branch of one commit.
fn history(count: usize) -> TempRepo {
    let repo = TempRepo::new().file("a.c", divide("f", 2)).commit("base");
    let mut stream = String::from("reset refs/heads/main\nfrom refs/heads/main^0\n\n");
    let commit = |branch: &str, n: usize, lines: &str| {
        let text = divide("f", u32::try_from(n).unwrap() + 3);
        format!(
            "commit refs/heads/{branch}\ncommitter A <a@b> {n} +0000\ndata 1\nx{lines}M 100644 inline a.c\ndata {}\n{text}\n",
            text.len()
        )
    };
    for n in 0..count {
        if n % 4 == 3 {
            stream += &format!("reset refs/heads/side\nfrom refs/heads/main^0\n\n{}", commit("side", n, ""));
            stream += &commit("main", n, "merge refs/heads/side\n");
        } else {
            stream += &commit("main", n, "");
        }
    }
    git_of(&repo).run(&["fast-import", "--quiet"], stream.as_bytes()).unwrap();
    repo.run(["reset", "-q", "--hard"]).run(["update-ref", "-d", "refs/heads/side"])
}

/// Lines `blob commit` of a notes ref.
fn blobs(repo: &TempRepo, name: &str) -> String {
    let mut lines: Vec<String> =
        repo.git(["notes", "--ref", name, "list"]).lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// How many notes there are by now.
fn annotated(repo: &TempRepo) -> usize {
    let there = repo.git_output(["show-ref", "--verify", "--quiet", "refs/notes/invdiff"]).status.success();
    if there { blobs(repo, "invdiff").lines().count() } else { 0 }
}

fn all(repo: &TempRepo) -> Vec<String> {
    repo.git(["rev-list", "--reverse", "HEAD"]).lines().map(str::to_owned).collect()
}

fn run(repo: &TempRepo, words: &[&str]) -> Run {
    Run::of(&mut program_in(repo, repo.path(), words))
}

/// What one process writes of all commits.
fn by_one_process(repo: &TempRepo) -> String {
    let words = ["notes", "--ref", "one", "add", "--all"];
    let whole = run(repo, &words);
    assert_eq!((whole.code, whole.err.as_str()), (Some(0), ""));
    let expected = blobs(repo, "one");
    assert_eq!(expected.lines().count(), all(repo).len());
    assert!(run(repo, &["cache", "clear"]).code == Some(0));
    expected
}

/// A run in a process group of its own, as a shell starts it.
fn start(repo: &TempRepo, words: &[&str]) -> Child {
    let mut command = program_in(repo, repo.path(), words);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0).spawn().unwrap()
}

/// Waits until something is so, or the child is over; tells which.
pub fn until(child: &mut Child, mut is_so: impl FnMut(&Child) -> bool) -> bool {
    loop {
        if is_so(child) {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Ends after so many analyses.
struct Ends(AtomicUsize);

impl Watch for Ends {
    fn begins(&self, _: &str) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn ended(&self) -> Option<Ended> {
        (self.0.load(Ordering::Relaxed) == 0).then_some(Ended::Interrupted)
    }
}

#[test]
fn nothing_is_analysed_twice() {
    let repo = history(11);
    let git = git_of(&repo);
    let notes = Notes::new(&git, NotesRef::default());
    let asked: Arc<Mutex<Vec<ComparedTree>>> = Arc::default();
    let (inner, log) = (stand_in(git.clone()), asked.clone());
    let analyse: Analyse = Arc::new(move |old, new| {
        log.lock().unwrap().push(new.clone());
        inner(old, new)
    });
    let commits = all(&repo);
    let (mut sizes, mut told) = (Vec::new(), Vec::new());
    for most in [1, 4, 2, 100, 100] {
        let watch = Ends(AtomicUsize::new(most));
        let annotator = Annotator {
            notes: &notes,
            existing: Existing::Keep,
            hints: &[],
            limit: 1 << 20,
            batch: 3,
            analyse: &analyse,
            watch: &watch,
        };
        let mut tell = |done: Annotated| {
            assert!(done.written.len() <= 3);
            told.extend(done.written);
            Ok::<(), NotesError>(())
        };
        annotator.annotate(&commits, &mut tell).unwrap();
        sizes.push(annotated(&repo));
    }
    assert_eq!(sizes, [1, 5, 7, commits.len(), commits.len()], "what is done is written when it ends");
    let mut wanted: Vec<ComparedTree> = commits.iter().cloned().map(ComparedTree::Commit).collect();
    assert_eq!(*asked.lock().unwrap(), wanted, "each commit once, oldest first");
    told.sort_unstable();
    wanted.sort_unstable_by_key(|side| format!("{side:?}"));
    assert_eq!(told.into_iter().map(ComparedTree::Commit).collect::<Vec<_>>(), wanted);
}

#[test]
fn a_run_that_is_killed_at_any_time_is_taken_up_by_the_next_one() {
    let repo = history(40);
    let expected = by_one_process(&repo);
    let mut random = Random::new(5);
    let (mut kills, mut before) = (0, 0);
    for round in 0..rounds("INVDIFF_KILLS", 1, 10) {
        let batch = format!("{}", 1 + round % 3);
        let mut child = start(&repo, &["notes", "add", "--all", "--batch", &batch]);
        let more = 1 + random.below(4);
        let is_running = until(&mut child, |_| annotated(&repo) >= before + more);
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        child.wait().unwrap();
        // A git that was killed leaves its lock, and says which it is.
        let _ = std::fs::remove_file(repo.path().join(".git/refs/notes/invdiff.lock"));
        let now = blobs(&repo, "invdiff");
        assert!(now.lines().all(|line| expected.contains(line)), "round {round}: no note is half");
        assert!(now.lines().count() >= before, "round {round}: nothing is lost");
        (before, kills) = (now.lines().count(), kills + usize::from(is_running));
    }
    assert!(kills > 0, "every run was over before it was killed");
    let last = run(&repo, &["notes", "add", "--all"]);
    assert_eq!(last.code, Some(0), "{}", last.err);
    assert_eq!(last.out.lines().count(), all(&repo).len() - before, "what had a note is left out");
    assert_eq!(blobs(&repo, "invdiff"), expected);
    assert_eq!(repo.git(["fsck", "--no-dangling", "--connectivity-only"]), "");
}

#[test]
fn a_signal_lets_the_batch_be_written() {
    let repo = history(60);
    let count = all(&repo).len();
    // A terminal sends Ctrl-C to all that runs there, children too; others send it to the process.
    for (signal, whole, code) in [(Signal::INT, true, 130), (Signal::TERM, false, 143)] {
        let before = annotated(&repo);
        let mut child = start(&repo, &["notes", "add", "--all", "--batch", "2"]);
        assert!(until(&mut child, |_| annotated(&repo) > before), "it was over before");
        let id = Pid::from_child(&child);
        let sent = if whole { kill_process_group(id, signal) } else { kill_process(id, signal) };
        sent.unwrap();
        let output = child.wait_with_output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        let now = annotated(&repo);
        assert!(now > before && now < count);
        let line =
            format!("stopped: {now} of {count} commits have a note; the same command goes on from there");
        assert!(said.contains(&line), "{said}");
    }
    let now = annotated(&repo);
    let last = run(&repo, &["notes", "add", "--all"]);
    assert_eq!((last.code, last.out.lines().count()), (Some(0), count - now), "{}", last.err);
    assert_eq!(last.err, format!("{now} commits have a note already; --force replaces them\n"));
    assert_eq!(repo.git(["fsck", "--no-dangling", "--connectivity-only"]), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_ends_at_once() {
    let repo = history(1);
    // A writer waits for this one's turn, and cannot end.
    std::fs::create_dir_all(repo.path().join(".git/invdiff")).unwrap();
    let turn = std::fs::File::create(repo.path().join(".git/invdiff/notes.lock")).unwrap();
    turn.lock().unwrap();
    let mut child = start(&repo, &["notes", "add", "--all"]);
    let waits = |child: &Child| {
        let files = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
        files.filter_map(|file| file.path().read_link().ok()).any(|to| to.ends_with("invdiff/notes.lock"))
    };
    assert!(until(&mut child, waits));
    for signal in [Signal::INT, Signal::TERM] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    // Of two signals that wait the later may be taken first.
    assert!(matches!(child.wait().unwrap().signal(), Some(2 | 15)));
    assert_eq!(annotated(&repo), 0);
}

#[test]
fn what_is_left_out_is_said_once() {
    let repo = history(4);
    let (count, head) = (all(&repo).len(), repo.id("HEAD"));
    let said = |words: &[&str]| run(&repo, &[&["notes", "add"], words].concat()).err;
    assert_eq!(said(&["--all"]), "");
    assert_eq!(said(&["--all"]), format!("{count} commits have a note already; --force replaces them\n"));
    assert_eq!(said(&["HEAD~3..HEAD"]), "3 commits have a note already; --force replaces them\n");
    assert_eq!(said(&["HEAD~1..HEAD"]), "1 commit has a note already; --force replaces it\n");
    assert_eq!(said(&["HEAD"]), format!("warning: {head} has a note already; --force replaces it\n"));
    assert_eq!(said(&["-q", "--all"]), "");
    repo.git(["notes", "--ref=invdiff", "copy", "-f", "HEAD~1", "HEAD"]);
    let stale = said(&["--all"]);
    assert!(stale.contains("warning: 1 commit has a note that speaks of other trees"), "{stale}");
    assert!(stale.contains("notes add --stale"), "{stale}");
}

#[test]
fn all_of_a_history_is_more_than_the_way_of_first_parents() {
    let repo = history(8);
    let way = repo.git(["rev-list", "--first-parent", "--count", "HEAD~4..HEAD"]);
    let few = run(&repo, &["notes", "add", "HEAD~4..HEAD"]);
    assert_eq!((few.code, few.out.lines().count().to_string()), (Some(0), way), "{}", few.err);
    let some = run(&repo, &["notes", "--ref", "some", "add", "--all", "HEAD~4..HEAD"]);
    assert_eq!(some.out.lines().count().to_string(), repo.git(["rev-list", "--count", "HEAD~4..HEAD"]));
    let every = run(&repo, &["notes", "--ref", "every", "add", "--all"]);
    assert_eq!(every.out.lines().collect::<Vec<_>>(), all(&repo));
    let unborn = run(&TempRepo::new(), &["notes", "add", "--all"]);
    assert_eq!(unborn.code, Some(128), "{}", unborn.err);
}

#[test]
fn shares_together_are_what_one_process_writes() {
    let repo = history(16);
    let expected = by_one_process(&repo);
    let mut refs = Vec::new();
    for index in 1..=3 {
        let (share, name) = (format!("{index}/3"), format!("shares/{index}"));
        let done = run(&repo, &["notes", "--ref", &name, "add", "--all", "--shard", &share]);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
        // New commits change nothing of who has which.
        let part = run(&repo, &["notes", "--ref", "part", "add", "--shard", &share, "HEAD~2..HEAD"]);
        assert!(part.out.lines().all(|commit| done.out.contains(commit)), "{}", part.out);
        refs.push(name);
    }
    // By a short name, in full, and as something that was fetched.
    let tip = repo.id("refs/notes/shares/3");
    repo.git(["update-ref", "refs/fetched/3", &tip]);
    let words = ["notes", "merge", "shares/1", "refs/notes/shares/2", "fetched/3"];
    let merged = run(&repo, &words);
    assert_eq!((merged.code, merged.err.as_str()), (Some(0), ""));
    let count = |name: &str| blobs(&repo, name).lines().count();
    let line = |at: &str, name: &str| format!("{at}: {0} notes, {0} new here\n", count(name));
    assert_eq!(
        merged.out,
        line("refs/notes/shares/1", "shares/1")
            + &line("refs/notes/shares/2", "shares/2")
            + &line("refs/fetched/3", "shares/3")
    );
    assert_eq!(blobs(&repo, "invdiff"), expected);
    assert!(run(&repo, &words).out.lines().all(|line| line.ends_with("notes, nothing new")));
    assert_eq!(run(&repo, &["notes", "add", "--all"]).out, "", "nothing is left to do");
}

#[test]
fn joined_notes_keep_everybodys_lines() {
    let repo = history(2);
    let foreign = |text: &str| format!("{{\"schema\":\"other/1\",\"x\":\"{text}\"}}");
    assert_eq!(run(&repo, &["notes", "add"]).code, Some(0));
    assert_eq!(run(&repo, &["notes", "--ref", "two", "add", "--all"]).code, Some(0));
    repo.git(["notes", "--ref=invdiff", "append", "-m", &foreign("ours"), "HEAD"]);
    repo.git(["notes", "--ref=two", "append", "-m", &foreign("theirs"), "HEAD"]);
    let merged = run(&repo, &["notes", "merge", "two"]);
    assert_eq!(merged.out, "refs/notes/two: 3 notes, 2 new here, 1 joined with ours\n", "{}", merged.err);
    let note = Note::parse(&repo.git_bytes(["notes", "--ref=invdiff", "show", "HEAD"]));
    assert_eq!((note.records.len(), note.foreign.len()), (1, 2));
    // A name that is none keeps the others from being taken.
    let (tip, bare) = (repo.id("refs/notes/invdiff"), repo.id("HEAD"));
    repo.git(["notes", "--ref=two", "append", "-m", &foreign("later"), "HEAD"]);
    let wrong = run(&repo, &["notes", "merge", "two", "thr\u{1b}ee"]);
    assert_eq!((wrong.code, repo.id("refs/notes/invdiff")), (Some(128), tip));
    assert!(wrong.err.contains("there are no notes 'thr\\x1bee'"), "{}", wrong.err);
    for odd in ["", "-x", "..", "HEAD", &bare, "refs/heads/main/", "refs/heads"] {
        assert!(matches!(run(&repo, &["notes", "merge", odd]).code, Some(128 | 129)), "{odd}");
    }
    assert_eq!(run(&repo, &["notes", "merge"]).code, Some(129));
    // A branch of sources is no part of notes.
    let tip = repo.id("refs/notes/invdiff");
    assert_eq!(
        run(&repo, &["notes", "merge", "refs/heads/main"]).out,
        "refs/heads/main: 0 notes, nothing new\n"
    );
    assert_eq!(repo.id("refs/notes/invdiff"), tip);
}

#[test]
fn what_is_no_share_is_a_usage_error() {
    let repo = history(1);
    for bad in ["0/2", "3/2", "1/0", "half", "1"] {
        let refused = run(&repo, &["notes", "add", "--all", "--shard", bad]);
        assert_eq!(refused.code, Some(129));
        assert!(refused.err.contains("I from 1 to N"), "{}", refused.err);
    }
    assert_eq!(annotated(&repo), 0);
    for pair in [["--stale", "--all"], ["--stale", "--shard=1/2"]] {
        assert_eq!(run(&repo, &["notes", "add", pair[0], pair[1]]).code, Some(129));
    }
}

#[test]
fn progress_without_a_terminal_is_lines() {
    let repo = history(3);
    let quiet = run(&repo, &["notes", "--ref", "quiet", "add", "--all"]);
    assert_eq!(quiet.err, "");
    let told = run(&repo, &["notes", "add", "--all", "--progress"]);
    let lines: Vec<&str> = told.err.lines().collect();
    assert!(lines[0].starts_with("1/4, ") && lines[0].contains(" left"), "{lines:?}");
    assert!(lines[lines.len() - 1].starts_with("4/4, "), "{lines:?}");
    assert_eq!(told.out.lines().count(), 4);
}
