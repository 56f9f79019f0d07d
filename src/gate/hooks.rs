//! What each git hook does. One function a hook, all called by [`run`].
//!
//! Only `pre-commit` and `pre-push` can make git stop, and only for a replayed regression. Whatever goes wrong inside
//! us (no answer in time, a repository we cannot read) is one warning line and the commit goes on.

mod message;
mod push;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::age;
use super::annotate::{Annotated, Existing, annotate};
use super::memory::Memory;
use super::policy::{Policy, judge};
use super::{Analyse, ComparedTree, Failure, PolicyOf};
use crate::fault;
use crate::report::{Report, escape::visible, unseen};
use crate::store::notes::{self, Note, Notes, NotesError, NotesRef, Record};
use crate::store::{Git, GitError};

/// Time for what was begun before the limit was met.
const GRACE: Duration = Duration::from_secs(2);

/// Lines of one kind that are worth a look before each commit.
const MAX_LINES: usize = 5;

/// The hooks that are known, in the order git runs them.
pub const NAMES: [&str; 6] =
    ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-push"];

/// What hooks need to know.
#[derive(Clone, Debug)]
pub struct HookSettings {
    pub policy: Policy,
    /// What the change does to the policy, one line each; it cannot loosen its own gate.
    pub policy_changes: Vec<String>,
    /// Time for the analysis; what is not decided by then only warns. `None`: no limit.
    pub timeout: Option<Duration>,
    /// Most trailers of a message.
    pub max_trailers: usize,
    /// Most bytes of a note's record.
    pub note_limit: usize,
    pub notes_ref: NotesRef,
    /// Hooks that the user has switched off.
    pub off: BTreeSet<&'static str>,
}

/// Everything around one run of a hook.
pub struct Hook<'a> {
    pub git: &'a Git,
    pub settings: &'a HookSettings,
    /// A first look, for who waits to commit.
    pub glance: Analyse,
    /// A first look at properties alone; ends by itself when the time is over, with what it has.
    pub gate: Analyse,
    /// Everything, for notes.
    pub analyse: Analyse,
    /// As `gate`, and with the time that a push may take.
    pub check: Analyse,
    /// What stops a change between two commits; that of a commit to be made is in the settings.
    pub policy: PolicyOf,
    /// Standard error.
    pub stderr: &'a mut dyn Write,
}

/// Why a hook could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Notes(#[from] NotesError),
    #[error(transparent)]
    Analysis(#[from] Failure),
    #[error("cannot read or write '{path}': {cause}")]
    File { path: String, cause: std::io::Error },
    #[error("git gave no message file")]
    NoMessageFile,
    #[error("no answer within {0} s")]
    Timeout(u64),
    /// The hook before has already met it, and said so if it was `pre-commit`.
    #[error("{0}")]
    Again(Failure),
}

/// What git is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookOutcome {
    Continue,
    Stop,
}

/// Runs the hook `name` with git's arguments and standard input. A hook that is not in [`NAMES`] does
/// nothing. Errors are warnings: the caller gets [`HookOutcome::Continue`].
pub fn run(name: &str, args: &[OsString], stdin: &[u8], hook: &mut Hook<'_>) -> HookOutcome {
    let file = args.first().map(Path::new);
    let arg = |index: usize| args.get(index).and_then(|arg| arg.to_str());
    let result = match name {
        "pre-commit" => pre_commit(hook),
        "prepare-commit-msg" => advisory(message::prepare(hook, file, arg(1), arg(2))),
        "commit-msg" => advisory(message::finish(hook, file)),
        "post-commit" => advisory(post_commit(hook)),
        "post-rewrite" => advisory(post_rewrite(hook, arg(0), stdin)),
        "pre-push" => pre_push(hook, arg(0), stdin),
        _ => Ok(HookOutcome::Continue),
    };
    result.unwrap_or_else(|error| {
        // One commit says one trouble once; but a gate that did not look always says so.
        if matches!(error, HookError::Again(_)) && name != "pre-commit" {
            return HookOutcome::Continue;
        }
        say(hook, &format!("warning: invdiff {name}: {}; going on without it", one_line(&error.to_string())));
        HookOutcome::Continue
    })
}

fn advisory(result: Result<(), HookError>) -> Result<HookOutcome, HookError> {
    result.map(|()| HookOutcome::Continue)
}

/// Compares HEAD with the index, stops for a replayed regression, and says what callers will see if
/// there is time for that.
fn pre_commit(hook: &mut Hook<'_>) -> Result<HookOutcome, HookError> {
    let policy_changes = &hook.settings.policy_changes;
    if !policy_changes.is_empty() {
        say(hook, "warning: this commit changes the policy of .invdiff.yaml");
        policy_changes.iter().for_each(|line| say(hook, &format!("  {}", visible(line))));
    }
    let old = head(hook.git)?;
    let report = analysed(hook, old)?;
    Ok(judged(hook, report))
}

/// Says what a report means for the commit.
fn judged(hook: &mut Hook<'_>, report: Report) -> HookOutcome {
    // A bound that was met is worth a line in a report, not one at every commit.
    for notice in report.notices.iter().filter(|notice| !notice.starts_with("note: ")) {
        say(hook, &format!("warning: invdiff: {}", visible(notice)));
    }
    if let Some(unseen) = unseen::worth_a_warning(&report) {
        say(hook, &format!("warning: invdiff: not looked at: {}", visible(unseen)));
    }
    let report = aged(hook, report);
    let verdict = judge(&report, &hook.settings.policy);
    for known in &verdict.expired {
        say(hook, &format!("warning: invdiff: {}", visible(known.over())));
    }
    if verdict.warnings.is_empty() && verdict.changes.is_empty() && verdict.blocked.is_empty() {
        return HookOutcome::Continue;
    }
    say_some(hook, "warning: this commit changes what callers can see", &verdict.warnings);
    say_some(hook, "warning: this commit changes what the code does", &verdict.changes);
    if verdict.blocked.is_empty() {
        say(hook, "hint: look closer with 'git invdiff HEAD^!' when the commit is made");
        return HookOutcome::Continue;
    }
    say(hook, "error: this commit breaks what held before");
    verdict.blocked.iter().for_each(|line| say(hook, &format!("  {line}")));
    let staged = if stays_staged() { " --staged" } else { "" };
    say(hook, &format!("hint: look closer with 'git invdiff check{staged}'"));
    if let [id, ..] = verdict.ids.as_slice() {
        say(hook, &format!("hint: if it is known and left alone: git invdiff suppress {id} --reason ..."));
        say(
            hook,
            "hint: which counts once it is committed: git add .invdiff.yaml && git commit .invdiff.yaml",
        );
    }
    say(hook, "hint: commit anyway with 'git commit --no-verify' or INVDIFF_SKIP=1");
    HookOutcome::Stop
}

/// Whether what was to be committed is in the index when the commit was stopped: `commit -a` and
/// `commit PATH` hand hooks an index of their own, and drop it then.
fn stays_staged() -> bool {
    let index = std::env::var_os("GIT_INDEX_FILE");
    index.is_none_or(|path| Path::new(&path).extension().is_none_or(|e| e != "lock"))
}

/// Adds how long lost facts had held, as far as notes know.
fn aged(hook: &Hook<'_>, mut report: Report) -> Report {
    let notes = Notes::new(hook.git, hook.settings.notes_ref.clone());
    // Where notes cannot be read, nothing is known.
    let nothing_kept = |_: &str, _: Option<&str>| None;
    let asked = age::Asked { longest: hook.settings.policy.longest_age(), changes: true };
    let _ = age::fill(&mut report, hook.git, (&notes, &nothing_kept), "HEAD", asked);
    report
}

/// Writes the note of the new commit. Leaves picks of a rebase to `post-rewrite`, and merges to
/// `git invdiff notes add`.
fn post_commit(hook: &mut Hook<'_>) -> Result<(), HookError> {
    if rebasing(hook.git)? || hook.git.object("HEAD^2")?.is_some() {
        return Ok(());
    }
    let commit = notes::ends(hook.git, "HEAD")?.commit;
    annotate_in_time(hook, vec![commit], Vec::new())
}

/// Lets notes follow rewritten commits: copied where both trees are the same, else computed anew.
/// Several old commits that became one give one note. An amend within a rebase is left to the end of the
/// rebase, which tells what became of the commits that it began with. Managers of hooks may keep git's lines
/// to themselves; then what git has on disk tells the same.
fn post_rewrite(hook: &mut Hook<'_>, command: Option<&str>, stdin: &[u8]) -> Result<(), HookError> {
    if command == Some("amend") && rebasing(hook.git)? {
        return Ok(());
    }
    let pairs = match (rewritten(stdin), command) {
        (pairs, Some("rebase")) if pairs.is_empty() => rebased(hook.git)?,
        (pairs, Some("amend")) if pairs.is_empty() => amended(hook.git)?,
        (pairs, _) => pairs,
    };
    let store = Notes::new(hook.git, hook.settings.notes_ref.clone());
    let old: Vec<String> = pairs.iter().map(|(old, _)| old.clone()).collect();
    let mut new: Vec<String> = Vec::new();
    let mut hints: Vec<Record> = Vec::new();
    let payloads = store.read(&old)?;
    for (before, after) in &pairs {
        let Some(payload) = payloads.get(before) else { continue };
        hints.extend(Note::parse(payload).records);
        if !new.contains(after) {
            new.push(after.clone());
        }
    }
    annotate_in_time(hook, new, hints)
}

/// Stops what breaks something of what the remote has.
fn pre_push(hook: &mut Hook<'_>, remote: Option<&str>, stdin: &[u8]) -> Result<HookOutcome, HookError> {
    let Some(remote) = remote else { return Ok(HookOutcome::Continue) };
    remind_of_notes(hook, remote)?;
    push::run(hook, remote, stdin)
}

/// Reminds of notes that the remote does not have, if notes were shared with it before.
fn remind_of_notes(hook: &mut Hook<'_>, remote: &str) -> Result<(), HookError> {
    let own = &hook.settings.notes_ref;
    let Ok(tracking) = NotesRef::parse(&format!("refs/notes/{remote}/{}", own.short())) else {
        return Ok(());
    };
    let (ours, theirs) = (hook.git.object(own.as_str())?, hook.git.object(tracking.as_str())?);
    if theirs.is_some() && ours.is_some() && ours != theirs {
        let remote = visible(remote);
        say(
            hook,
            &format!("hint: notes are not pushed along; share them with 'git invdiff notes sync {remote}'"),
        );
    }
    Ok(())
}

fn annotate_in_time(hook: &mut Hook<'_>, commits: Vec<String>, hints: Vec<Record>) -> Result<(), HookError> {
    if commits.is_empty() {
        return Ok(());
    }
    let (git, settings) = (hook.git.clone(), hook.settings.clone());
    let analyse = remembering(hook.git, &hook.analyse);
    let done = within(settings.timeout, move || {
        let store = Notes::new(&git, settings.notes_ref);
        annotate(&store, &commits, Existing::Refresh, &hints, settings.note_limit, &analyse)
    })?;
    let Annotated { failed, .. } = done?;
    if let Some((commit, reason)) = failed.first() {
        let commit = commit.get(..12).unwrap_or(commit);
        let more = if failed.len() > 1 { format!(" (and {} more)", failed.len() - 1) } else { String::new() };
        say(hook, &format!("warning: invdiff: no note on {commit}: {}{more}", one_line(reason)));
    }
    Ok(())
}

/// Takes a first look at what the index changes, within the time limit, unless the hook before had the same question.
fn analysed(hook: &Hook<'_>, old: ComparedTree) -> Result<Report, HookError> {
    let memory = Memory::of(hook.git)?;
    let key = memory.key(hook.git, &old, &ComparedTree::Index)?;
    if let Some(answer) = memory.recall(&key) {
        return answer.map_err(HookError::Again);
    }
    let answer = looked_at(hook, &old);
    match &answer {
        Ok(report) => memory.keep(&key, &Ok(report.clone())),
        Err(error) => memory.keep(&key, &Err(Failure(error.to_string()))),
    }
    answer
}

/// What becomes of properties, which alone can stop a commit, and then, unless the time is over, what the code does
/// otherwise.
fn looked_at(hook: &Hook<'_>, old: &ComparedTree) -> Result<Report, HookError> {
    let begin = Instant::now();
    let limit = hook.settings.timeout;
    let asked = |analyse: &Analyse| {
        let (analyse, old) = (analyse.clone(), old.clone());
        move || analyse(&old, &ComparedTree::Index)
    };
    let properties = within(limit.map(|limit| limit + GRACE), asked(&hook.gate))??;
    let left = limit.map(|limit| limit.saturating_sub(begin.elapsed()));
    if left == Some(Duration::ZERO) {
        return Ok(properties);
    }
    let changes = match within(left, asked(&hook.glance)).and_then(|changes| Ok(changes?)) {
        Ok(changes) => changes,
        Err(_) if !judge(&properties, &hook.settings.policy).blocked.is_empty() => return Ok(properties),
        Err(error) => return Err(error),
    };
    let notices = properties.notices.into_iter().filter(|notice| !changes.notices.contains(notice));
    let notices = changes.notices.iter().cloned().chain(notices).collect();
    Ok(Report { assertions: properties.assertions, notices, ..changes })
}

/// Returns the analysis with what the memory knows to fail in front of it: who waited once for the limit does not
/// wait again.
fn remembering(git: &Git, analyse: &Analyse) -> Analyse {
    let (git, analyse) = (git.clone(), analyse.clone());
    std::sync::Arc::new(move |old, new| {
        let recall = |memory: Memory| memory.recall(&memory.key(&git, old, new).ok()?)?.err();
        Memory::of(&git).ok().and_then(recall).map_or_else(|| analyse(old, new), Err)
    })
}

/// Runs `work` on a thread of its own. When the time is over the thread is left behind; the process of a
/// hook ends soon after.
fn within<T: Send + 'static>(
    limit: Option<Duration>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HookError> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = sender.send(work());
    });
    let crashed = || HookError::Analysis(Failure(format!("internal error; {}", fault::ADVICE)));
    match limit {
        None => receiver.recv().map_err(|_| crashed()),
        Some(limit) => receiver.recv_timeout(limit).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => HookError::Timeout(limit.as_secs().max(1)),
            mpsc::RecvTimeoutError::Disconnected => crashed(),
        }),
    }
}

/// The commit that a new one will have as its parent.
fn head(git: &Git) -> Result<ComparedTree, HookError> {
    Ok(git.object("HEAD^{commit}")?.map_or(ComparedTree::Nothing, ComparedTree::Commit))
}

fn rebasing(git: &Git) -> Result<bool, HookError> {
    Ok(git.own_dir()?.join("rebase-merge").exists() || git.own_dir()?.join("rebase-apply").exists())
}

/// Reads the list that git hands to `post-rewrite` at the end of a rebase, from where git keeps it.
fn rebased(git: &Git) -> Result<Vec<(String, String)>, HookError> {
    let lists =
        [git.own_dir()?.join("rebase-merge/rewritten-list"), git.own_dir()?.join("rebase-apply/rewritten")];
    Ok(lists
        .iter()
        .find_map(|list| std::fs::read(list).ok())
        .map(|list| rewritten(&list))
        .unwrap_or_default())
}

/// What `HEAD` was before it was amended, as far as its reflog knows.
fn amended(git: &Git) -> Result<Vec<(String, String)>, HookError> {
    let action = git.find(&["reflog", "show", "-1", "--format=%gs", "HEAD"])?.unwrap_or_default();
    if !action.starts_with("commit (amend)") {
        return Ok(Vec::new());
    }
    let ends = (git.object("HEAD@{1}")?, git.object("HEAD")?);
    Ok(if let (Some(old), Some(new)) = ends { vec![(old, new)] } else { Vec::new() })
}

/// Reads lines `old new[ extra]`; skips what is no pair of object ids.
fn rewritten(stdin: &[u8]) -> Vec<(String, String)> {
    let is_id = |word: &str| matches!(word.len(), 40 | 64) && word.bytes().all(|b| b.is_ascii_hexdigit());
    let text = String::from_utf8_lossy(stdin);
    let pair = |line: &str| {
        let mut words = line.split_whitespace().filter(|word| is_id(word)).map(str::to_string);
        Some((words.next()?, words.next()?))
    };
    text.lines().filter_map(pair).collect()
}

fn one_line(text: &str) -> String {
    visible(text.lines().next().unwrap_or_default())
}

/// Prints a heading and the first lines below it, unless there are none.
fn say_some(hook: &mut Hook<'_>, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    say(hook, heading);
    // One too many is not worth a line that says so.
    let most = if lines.len() > MAX_LINES + 1 { MAX_LINES } else { lines.len() };
    lines.iter().take(most).for_each(|line| say(hook, &format!("  {line}")));
    if most < lines.len() {
        say(hook, &format!("  and {} more", lines.len() - most));
    }
}

/// Prints a line; a closed standard error is no reason to fail.
fn say(hook: &mut Hook<'_>, line: &str) {
    let _ = writeln!(hook.stderr, "{line}");
}

fn read(path: &Path) -> Result<Vec<u8>, HookError> {
    std::fs::read(path).map_err(|cause| HookError::File { path: path.display().to_string(), cause })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), HookError> {
    std::fs::write(path, bytes).map_err(|cause| HookError::File { path: path.display().to_string(), cause })
}
