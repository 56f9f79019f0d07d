//! `git invdiff notes add`: from one commit to all of a history.
//!
//! A long run may be ended at any time, by Ctrl-C, by whoever needs the machine, or by the machine: what is
//! written stays, and the same command goes on from there. To be *resumed* needs no state of its own, as
//! commits that have a note are left out.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::super::diff_args::EffortChoice;
use super::super::interrupt::{Asked, Interrupt};
use super::super::{CliError, Context, Progress, compare};
use super::shard::Shard;
use crate::analysis::{Ended, Watch};
use crate::fault;
use crate::gate::annotate::{Annotated, Annotator, BATCH, Existing};
use crate::gate::{Analyse, Failure};
use crate::store::Git;
use crate::store::notes::{Notes, Record};
use clap::Args;

/// How long a signal waits, at most, until it is looked at.
const TURN: Duration = Duration::from_millis(50);

/// Which commits get notes, and how.
#[derive(Args, Clone, Debug)]
pub struct AddArgs {
    /// Replace notes that exist
    #[arg(short, long)]
    pub force: bool,
    /// Renew what a rewrite of the history left behind: notes that speak of other trees than their
    /// commits have, and notes of commits that others took the place of
    #[arg(long, conflicts_with_all = ["force", "revisions", "all", "shard"])]
    pub stale: bool,
    /// All commits that lead to the revisions, not only those on the way of first parents
    #[arg(long)]
    pub all: bool,
    /// Only the share I of N, which follows from the commits' ids alone: 2/16 is the second of sixteen
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// How much is asked of each commit
    #[arg(long, value_name = "HOW")]
    pub effort: Option<EffortChoice>,
    /// Write notes when so many commits are analysed, or after some seconds
    #[arg(long, value_name = "N", default_value_t = BATCH, hide_short_help = true)]
    pub batch: usize,
    /// Commits or ranges; none: HEAD
    #[arg(value_name = "REVISION")]
    pub revisions: Vec<String>,
}

/// The commits that are to have notes.
pub struct Wanted {
    pub commits: Vec<String>,
    /// Each was named, and not by a range: of each something is said.
    pub is_each_named: bool,
}

impl Wanted {
    /// The commits that the arguments name, oldest first.
    pub fn of(git: &Git, args: &AddArgs) -> Result<Wanted, CliError> {
        let mut commits = match args.all {
            true => compare::all_commits(git, &args.revisions)?,
            false => compare::commits(git, &args.revisions)?,
        };
        if let Some(shard) = args.shard {
            commits.retain(|commit| shard.has(commit));
        }
        let is_each_named = !args.all && args.shard.is_none() && !compare::has_range(&args.revisions);
        Ok(Wanted { commits, is_each_named })
    }
}

/// How the notes of a run are made.
pub struct How<'a> {
    pub existing: Existing,
    pub hints: &'a [Record],
    pub limit: usize,
    pub batch: usize,
    pub effort: Option<EffortChoice>,
}

/// Writes notes and says which; returns what became of all commits. An error when a signal ended the run
/// before.
pub fn add(
    notes: &Notes<'_>,
    wanted: &Wanted,
    how: &How<'_>,
    context: &mut Context,
) -> Result<Annotated, CliError> {
    let interrupt =
        Interrupt::caught_once().map_err(|e| CliError::fatal("cannot catch signals").caused_by(&e))?;
    let asked = interrupt.asked();
    let analyse = ending(compare::analyse(context, how.effort), asked.clone());
    let course = Course { progress: Progress::of_commits(context), asked };
    course.more(wanted.commits.len());
    let annotator = Annotator {
        notes,
        existing: how.existing,
        hints: how.hints,
        limit: how.limit,
        batch: how.batch,
        analyse: &analyse,
        watch: &course,
    };
    let mut all = Annotated::default();
    let ended = annotator.annotate(&wanted.commits, &mut |done: Annotated| {
        course.progress.aside(|| tell(&done, wanted, context))?;
        all.written.extend(done.written);
        all.kept.extend(done.kept);
        all.failed.extend(done.failed);
        Ok::<(), CliError>(())
    });
    let Course { progress, asked } = course;
    drop(progress);
    if !wanted.is_each_named {
        summarise(&all, context);
    }
    match (asked.signal(), ended) {
        (None, ended) => ended.map(|()| all),
        (Some(signal), ended) => {
            // What shells make of the number of a signal.
            let status = u8::try_from(128 + signal).unwrap_or(u8::MAX);
            let mut stopped = stopped(&all, wanted.commits.len(), how.existing, status);
            stopped.causes.extend(ended.err().map(|error| error.message));
            Err(stopped)
        }
    }
}

/// Says what became of a batch.
fn tell(done: &Annotated, wanted: &Wanted, context: &mut Context) -> Result<(), CliError> {
    for (commit, stale) in done.kept.iter().filter(|_| wanted.is_each_named) {
        let why = if *stale { "a stale note" } else { "a note" };
        context.warn(&format!("{commit} has {why} already; --force replaces it"));
    }
    for (commit, reason) in &done.failed {
        context.warn(&format!("{commit}: {reason}"));
    }
    for commit in &done.written {
        writeln!(context.output, "{commit}")?;
    }
    // Who reads along, or after a kill, sees what is written.
    Ok(context.output.flush()?)
}

/// Says in a line what was left as it was.
fn summarise(all: &Annotated, context: &mut Context) {
    let stale = all.kept.iter().filter(|(_, stale)| *stale).count();
    let commits =
        |n: usize| if n == 1 { "1 commit has".to_owned() } else { format!("{} commits have", grouped(n)) };
    match all.kept.len() - stale {
        0 => {}
        1 => context.say("1 commit has a note already; --force replaces it"),
        n => context.say(&format!("{} a note already; --force replaces them", commits(n))),
    }
    if stale > 0 {
        let renews = "'git invdiff notes add --stale' renews such";
        context.warn(&format!("{} a note that speaks of other trees; {renews}", commits(stale)));
    }
}

/// A run that a signal ended.
fn stopped(all: &Annotated, wanted: usize, existing: Existing, status: u8) -> CliError {
    let (done, wanted) = (grouped(all.written.len() + all.kept.len()), grouped(wanted));
    let what = if existing == Existing::Replace { "a new note" } else { "a note" };
    let next = match existing {
        Existing::Replace => "the same command begins anew, with what is in the cache",
        _ => "the same command goes on from there",
    };
    CliError::stopped(status, format!("{done} of {wanted} commits have {what}; {next}"))
}

/// A number with a comma before every three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the analysis, which gives up when the run is to end. What was begun goes on beside, until the
/// process ends; a fault of one commit is no fault of the others.
fn ending(analyse: Analyse, asked: Asked) -> Analyse {
    Arc::new(move |old, new| {
        let (sender, receiver) = channel();
        let (analyse, old, new) = (analyse.clone(), old.clone(), new.clone());
        std::thread::spawn(move || {
            let _ = sender.send(fault::caught(|| analyse(&old, &new)));
        });
        loop {
            match receiver.recv_timeout(TURN) {
                Ok(Ok(answer)) => return answer,
                Ok(Err(said)) => return Err(Failure(said)),
                Err(RecvTimeoutError::Timeout) if asked.is_to_end() => {
                    return Err(Failure("ended".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure(format!("internal error; {}", fault::ADVICE)));
                }
            }
        }
    })
}

/// Shows how far a run is, and ends it when a signal asks for that.
struct Course {
    progress: Progress,
    asked: Asked,
}

impl Watch for Course {
    fn more(&self, commits: usize) {
        self.progress.more(commits);
    }

    fn begins(&self, commit: &str) {
        self.progress.begins(commit.get(..12).unwrap_or(commit));
    }

    fn done(&self) {
        self.progress.done();
    }

    fn ended(&self) -> Option<Ended> {
        self.asked.is_to_end().then_some(Ended::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
