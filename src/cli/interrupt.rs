//! An interrupt (Ctrl-C, or `SIGTERM`) that is taken down, so that what was found before it can still be shown.
//!
//! The first one asks the work to end soon. When all is shown, the process ends as the signal would have ended it,
//! which is what shells and scripts look at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(unix)]
use signal_hook::{SigId, consts, flag, low_level};

/// Takes down interrupts until it is dropped; then signals do what they do by default.
pub struct Interrupt {
    /// The number of the signal that came; 0 for none.
    came: Arc<AtomicUsize>,
    /// From then on a signal does what it does by default.
    is_default: Arc<AtomicBool>,
    /// What makes a second signal end the process.
    #[cfg(unix)]
    second: Vec<SigId>,
}

/// Whether an interrupt came, for whoever works.
#[derive(Clone, Debug, Default)]
pub struct Asked(Arc<AtomicUsize>);

impl Asked {
    pub fn is_to_end(&self) -> bool {
        self.signal().is_some()
    }

    /// The number of the signal that came.
    pub fn signal(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }
}

impl Interrupt {
    /// Takes down each interrupt from now on.
    pub fn caught() -> io::Result<Interrupt> {
        Interrupt::taken_down(false)
    }

    /// Takes down the first interrupt from now on; a second one ends the process.
    pub fn caught_once() -> io::Result<Interrupt> {
        Interrupt::taken_down(true)
    }

    fn taken_down(once: bool) -> io::Result<Interrupt> {
        let (came, is_default): (Arc<AtomicUsize>, Arc<AtomicBool>) = Default::default();
        #[cfg(not(unix))]
        let _ = once;
        #[cfg(unix)]
        let mut second = Vec::new();
        #[cfg(unix)]
        for signal in [consts::SIGINT, consts::SIGTERM] {
            flag::register_conditional_default(signal, is_default.clone())?;
            flag::register_usize(signal, came.clone(), usize::try_from(signal).unwrap_or(usize::MAX))?;
            if once {
                // Behind what looks at the flag: the first signal passes.
                second.push(flag::register(signal, is_default.clone())?);
            }
        }
        Ok(Interrupt {
            came,
            is_default,
            #[cfg(unix)]
            second,
        })
    }

    /// The work is over, and what it found will be shown: by a pager, to which signals then belong, or not.
    pub fn work_is_over(&mut self, by_pager: bool) {
        #[cfg(unix)]
        self.second.drain(..).for_each(|id| {
            low_level::unregister(id);
        });
        self.is_default.store(!by_pager, Ordering::Relaxed);
    }

    pub fn asked(&self) -> Asked {
        Asked(self.came.clone())
    }

    pub fn is_there(&self) -> bool {
        self.asked().is_to_end()
    }

    /// Ends the process as the signal that came would have; returns where none did.
    pub fn end(&self) {
        #[cfg(unix)]
        if let Some(signal) = self.asked().signal().and_then(|signal| i32::try_from(signal).ok()) {
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.is_default.store(true, Ordering::Relaxed);
    }
}
