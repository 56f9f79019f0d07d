//! The mutation test: mutants of one token whose originals' proved facts are pinned, and edits that
//! change nothing.

use super::edits::Edit;
use super::stops::{Gate, Original, originals};
use rayon::prelude::*;
use std::path::Path;

/// What became of some edits.
#[derive(Default)]
pub struct Counts {
    /// Mutants that compile and run.
    pub mutants: usize,
    /// Of these: some compiled run breaks a pinned fact.
    pub differ: usize,
    /// Of those that differ.
    pub stopped: usize,
    pub undecided: usize,
    /// Of those that no compiled run showed to differ.
    pub stopped_others: usize,
    pub missed: Vec<String>,
    /// Edits that change nothing.
    pub edits: usize,
    pub kept: usize,
    pub wrong: Vec<String>,
}

impl Counts {
    fn joined(mut self, other: Counts) -> Counts {
        self.mutants += other.mutants;
        self.differ += other.differ;
        self.stopped += other.stopped;
        self.undecided += other.undecided;
        self.stopped_others += other.stopped_others;
        self.missed.extend(other.missed);
        self.edits += other.edits;
        self.kept += other.kept;
        self.wrong.extend(other.wrong);
        self
    }

    pub fn print(&self) {
        println!(
            "{} mutants, {} of them differ in compiled runs: {} stopped ({:.1} %), {} undecided, {} missed; {} others stopped",
            self.mutants,
            self.differ,
            self.stopped,
            100.0 * self.stopped as f64 / self.differ.max(1) as f64,
            self.undecided,
            self.missed.len(),
            self.stopped_others,
        );
        println!(
            "{} edits that change nothing: {} kept, {} undecided, {} stopped",
            self.edits,
            self.kept,
            self.edits - self.kept - self.wrong.len(),
            self.wrong.len()
        );
        self.missed.iter().for_each(|m| println!("missed: {m}"));
        self.wrong.iter().for_each(|m| println!("wrong: {m}"));
    }
}

/// The C files of a folder, by name.
pub fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let mut found: Vec<(String, String)> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .filter_map(|p| {
            Some((p.file_name()?.to_string_lossy().into_owned(), std::fs::read_to_string(p).ok()?))
        })
        .collect();
    found.sort();
    found
}

/// `most` of some edits, evenly spread.
fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

/// Measures some files. `most`: mutants, and edits that change nothing, of one function.
pub fn measure(files: &[(String, String)], most: (usize, usize)) -> Counts {
    let found: Vec<Original> = files.par_iter().flat_map_iter(|(name, text)| originals(name, text)).collect();
    let work: Vec<(&Original, Edit, bool)> = found
        .iter()
        .flat_map(|o| {
            let mutants = spread(o.mutants(), most.0).into_iter().map(move |e| (o, e, true));
            mutants.chain(spread(o.preserving(), most.1).into_iter().map(move |e| (o, e, false)))
        })
        .collect();
    let one = |(o, edit, is_mutant): &(&Original, Edit, bool)| match is_mutant {
        true => mutant(o, edit),
        false => kept(o, edit),
    };
    work.par_iter().map(one).reduce(Counts::default, Counts::joined)
}

fn mutant(o: &Original, edit: &Edit) -> Counts {
    let mut counts = Counts::default();
    let Ok(broken) = o.broken_in_runs(edit) else { return counts };
    let (gate, _) = o.gate(edit);
    counts.mutants = 1;
    counts.differ = usize::from(!broken.is_empty());
    match (broken.is_empty(), gate) {
        (false, Gate::Stopped) => counts.stopped = 1,
        (false, Gate::Undecided) => counts.undecided = 1,
        (false, Gate::Kept) => {
            counts.missed.push(format!("{} {}: {}; {broken:?}", o.file, o.name, edit.what))
        }
        (true, Gate::Stopped) => counts.stopped_others = 1,
        (true, _) => {}
    }
    if std::env::var_os("INVDIFF_SHOW").is_some() {
        println!("{} {}: {}: {gate:?}, {broken:?}", o.file, o.name, edit.what);
    }
    counts
}

fn kept(o: &Original, edit: &Edit) -> Counts {
    let mut counts = Counts::default();
    // The edits are made of text; what a compiler refuses is none.
    if o.broken_in_runs(edit).is_err_and(|e| e.contains("error") || e.contains("read")) {
        return counts;
    }
    let (gate, stopped) = o.gate(edit);
    counts.edits = 1;
    match gate {
        Gate::Kept => counts.kept = 1,
        Gate::Undecided => {}
        Gate::Stopped => {
            let of: Vec<_> = stopped.iter().map(|a| format!("{} ({:?})", a.text, a.kind)).collect();
            counts.wrong.push(format!("{} {}: {}: {of:?}", o.file, o.name, edit.what));
        }
    }
    if std::env::var_os("INVDIFF_SHOW").is_some() {
        println!("{} {}: {}: {gate:?}", o.file, o.name, edit.what);
    }
    counts
}
