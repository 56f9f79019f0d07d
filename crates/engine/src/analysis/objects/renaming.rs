//! Objects that a step gives another name, for who compares what uses them.

use super::{Found, Objects};
use crate::report::ObjectOutcome;
use std::path::PathBuf;
use std::sync::Arc;

/// An object that a step gives another name.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Renaming {
    pub step: usize,
    pub from: Arc<str>,
    pub to: Arc<str>,
    /// Where it is defined.
    pub file: PathBuf,
}

impl Objects {
    /// The objects of files that have another name.
    pub fn renamed(&self) -> Vec<Renaming> {
        let of = |f: &Found| {
            let from =
                f.was.as_ref().filter(|_| f.outcome == ObjectOutcome::Renamed && f.function.is_none())?;
            let file = f.new.as_ref()?.file.clone();
            Some(Renaming { step: f.step, from: from.as_str().into(), to: f.name.clone(), file })
        };
        self.found.iter().filter_map(of).collect()
    }
}
