//! Ctrl-C and SIGTERM during a long run that has something in hand to be finished.
//!
//! The first signal is kept for whoever asks; the next one ends the process at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What shells add to the number of a signal that ended a process.
const BY_SIGNAL: u8 = 128;

/// Whether somebody wants the run to end.
#[derive(Clone, Debug)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    /// Exit status by the last signal; 0 without one.
    status: Arc<AtomicUsize>,
}

impl Stop {
    /// From now on signals are kept, for as long as the process runs.
    pub fn caught() -> io::Result<Stop> {
        let stop = Stop { asked: Arc::default(), status: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            let status = i32::from(BY_SIGNAL) + signal;
            // In this order: the first signal finds nothing asked yet.
            flag::register_conditional_shutdown(signal, status, stop.asked.clone())?;
            flag::register_usize(signal, stop.status.clone(), usize::try_from(status).unwrap_or(1))?;
            flag::register(signal, stop.asked.clone())?;
        }
        Ok(stop)
    }

    pub fn is_there(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The exit status to end with, if a signal came.
    pub fn status(&self) -> Option<u8> {
        let status = self.status.load(Ordering::Relaxed);
        u8::try_from(status).ok().filter(|&status| status > 0 && self.is_there())
    }
}
