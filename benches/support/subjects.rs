//! Where the papers' subjects are, and how times are taken.

use git_invdiff::report::Report;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder of shared data: what `INVDIFF_SHARED` says, else `../shared`. Says so where it is absent.
pub fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("INVDIFF_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    if !shared.join("subjects").is_dir() {
        println!("skipped: the shared subjects are not there; INVDIFF_SHARED names their folder");
        return None;
    }
    Some(shared)
}

/// The report of the fastest of a few analyses, with its time.
pub fn measured(analyse: impl Fn() -> Report) -> (Report, Duration) {
    const REPETITIONS: usize = 3;
    let timed = || {
        let start = Instant::now();
        let report = analyse();
        (report, start.elapsed())
    };
    let mut best = timed();
    for _ in 1..REPETITIONS {
        let again = timed();
        if again.1 < best.1 {
            best = again;
        }
    }
    best
}
