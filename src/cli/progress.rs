//! Progress on standard error, for what takes longer than a second.

use super::Context;
use super::interrupt::Asked;
use crate::analysis::{Ended, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a run stays silent.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress line. Nothing is drawn before [`PATIENCE`] has passed, nor ever if standard error is
/// no terminal; it disappears when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Hanging up tells the waiting thread that the work is over.
    over: Option<mpsc::Sender<()>>,
    /// When what is not begun is to stay open.
    deadline: Option<Instant>,
    /// Says the same, when an interrupt came.
    asked: Asked,
}

impl Progress {
    pub fn new(context: &Context) -> Progress {
        let globals = &context.globals;
        let wanted =
            globals.progress || !globals.quiet && !globals.no_progress && std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        let mut progress = Progress { bar, over: None, deadline: None, asked: context.asked_to_end() };
        if wanted {
            let (over, work_ends) = mpsc::channel();
            progress.over = Some(over);
            let bar = progress.bar.clone();
            std::thread::spawn(move || {
                if work_ends.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                    show(&bar);
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
        self.bar.set_message(crate::report::escape::visible(text));
    }
}

impl Watch for Progress {
    fn more(&self, units: usize) {
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed} {wide_msg}") {
            self.bar.set_style(style);
        }
        self.bar.set_length(self.bar.length().unwrap_or(0) + units as u64);
    }

    fn begins(&self, unit: &str) {
        self.working_on(unit);
    }

    fn done(&self) {
        self.bar.inc(1);
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
