//! Progress on standard error, for what takes longer than a second.
//!
//! On a terminal it is a line that is drawn anew and goes away. Elsewhere there is none, unless it is asked
//! for: then lines are written one below the other, as a log wants them, and not too many.

use super::Context;
use super::interrupt::Asked;
use crate::analysis::{Ended, Watch};
use crate::report::escape::visible;
use indicatif::{FormattedDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// How long a run stays silent.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two lines where there is no terminal.
const BETWEEN: Duration = Duration::from_secs(10);

/// What is counted, and how.
const FUNCTIONS: &str = "{bar:20} {pos}/{len} {elapsed} {wide_msg}";
/// Of commits there may be many: how long that takes yet is worth a guess.
const COMMITS: &str = "{bar:20} {pos}/{len} commits, {elapsed_precise}{left} {wide_msg}";

/// When the first unit was begun, and how many were done by then: what a resumed run leaves out takes no time, and
/// says nothing of how long the others will.
type Start = Arc<OnceLock<(u64, Instant)>>;

/// How long is left, in words, when so many of all units are done.
fn left(start: &Start, done: u64, all: u64) -> String {
    let Some((before, since)) = start.get() else { return String::new() };
    match (done.saturating_sub(*before), all.saturating_sub(done)) {
        (0, _) => String::new(),
        (own, rest) => format!(", about {} left", FormattedDuration(share(since.elapsed(), own, rest))),
    }
}

/// How long `rest` units take where `own` have taken so long.
fn share(elapsed: Duration, own: u64, rest: u64) -> Duration {
    let millis = elapsed.as_millis().saturating_mul(u128::from(rest)) / u128::from(own.max(1));
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// A progress line. Nothing is drawn before [`PATIENCE`] has passed, nor ever if standard error is
/// no terminal and nobody asked; it disappears when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// How units are shown.
    template: &'static str,
    /// Hanging up tells the waiting thread that the work is over.
    over: Option<mpsc::Sender<()>>,
    /// When what is not begun is to stay open.
    deadline: Option<Instant>,
    /// Says the same, when an interrupt came.
    asked: Asked,
    /// Lines are written; whether one was.
    lines: Option<AtomicBool>,
    start: Start,
}

impl Progress {
    pub fn new(context: &Context) -> Progress {
        Progress::with_template(context, FUNCTIONS)
    }

    /// Progress by commits.
    pub fn of_commits(context: &Context) -> Progress {
        Progress::with_template(context, COMMITS)
    }

    fn with_template(context: &Context, template: &'static str) -> Progress {
        let globals = &context.globals;
        let is_terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        let lines = (globals.progress && !is_terminal).then(AtomicBool::default);
        let (start, asked) = (Start::default(), context.asked_to_end());
        let mut progress = Progress { bar, template, over: None, deadline: None, asked, lines, start };
        let is_drawn = is_terminal && (globals.progress || !globals.quiet && !globals.no_progress);
        if is_drawn || progress.lines.is_some() {
            let (over, work_ends) = mpsc::channel();
            progress.over = Some(over);
            let (bar, start) = (progress.bar.clone(), progress.start.clone());
            let is_going_on =
                move |time| work_ends.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
            std::thread::spawn(move || match is_drawn {
                true if is_going_on(PATIENCE) => show(&bar),
                true => {}
                false => {
                    while is_going_on(BETWEEN) {
                        write_line(&bar, &start);
                    }
                }
            });
        }
        progress
    }

    /// What is not begun at `deadline` is to stay open.
    pub fn until(self, deadline: Option<Instant>) -> Progress {
        let mut progress = self;
        progress.deadline = deadline;
        progress
    }

    /// Says what is being done before there are units to count.
    pub fn working_on(&self, text: &str) {
        self.bar.set_message(visible(text));
    }

    /// Runs what writes to the terminal, without the line in its way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

/// Writes how far it is as a line.
fn write_line(bar: &ProgressBar, start: &Start) {
    let (done, all) = (bar.position(), bar.length().unwrap_or(0));
    let (elapsed, left) = (FormattedDuration(bar.elapsed()), left(start, done, all));
    let _ = writeln!(std::io::stderr(), "{done}/{all}, {elapsed}{left}  {}", bar.message());
}

impl Watch for Progress {
    fn more(&self, units: usize) {
        if let Ok(style) = ProgressStyle::with_template(self.template) {
            let start = self.start.clone();
            let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = out.write_str(&left(&start, state.pos(), state.len().unwrap_or(0)));
            };
            self.bar.set_style(style.with_key("left", left));
        }
        self.bar.set_length(self.bar.length().unwrap_or(0) + units as u64);
    }

    fn begins(&self, unit: &str) {
        let _ = self.start.set((self.bar.position(), Instant::now()));
        self.working_on(unit);
    }

    fn done(&self) {
        self.bar.inc(1);
        // The first and the last; those between come by the clock.
        let is_last = self.bar.length() == Some(self.bar.position());
        if self.lines.as_ref().is_some_and(|written| !written.swap(true, Ordering::Relaxed) || is_last) {
            write_line(&self.bar, &self.start);
        }
    }

    fn reads(&self, file: &str) {
        self.working_on(&format!("reading {file}"));
    }

    fn ended(&self) -> Option<Ended> {
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match self.asked.is_to_end() {
            true => Some(Ended::Interrupted),
            false => is_late().then_some(Ended::OutOfTime),
        }
    }
}

fn show(bar: &ProgressBar) {
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(200));
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.take();
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_was_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(share(minute, 6, 12), Duration::from_secs(120));
        assert_eq!(share(minute, 6, 0), Duration::ZERO);
        assert_eq!(share(minute, 0, 3), Duration::from_secs(180));
        // Before something is done, and where nothing is begun, there is no telling.
        let start = Start::default();
        assert_eq!(left(&start, 5, 9), "");
        start.set((5, Instant::now())).unwrap();
        assert_eq!(left(&start, 5, 9), "");
        assert_eq!(
            left(&start, 9, 9),
            ", about 0s left".replace("0s", &FormattedDuration(Duration::ZERO).to_string())
        );
    }
}
