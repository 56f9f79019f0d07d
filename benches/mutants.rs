//! The whole mutation test: every function of `fixtures/textbook`, and of the shared subjects where
//! `INVDIFF_SHARED` names them. `INVDIFF_MUTANTS` and `INVDIFF_EDITS` are the most of one function,
//! `INVDIFF_FILES` takes the files whose names contain it, `INVDIFF_SHOW=1` prints each.

#[allow(dead_code, unused_imports, reason = "tests use the rest")]
#[path = "../tests/support/compiled/mod.rs"]
mod compiled;
#[allow(dead_code, reason = "another benchmark uses the rest")]
#[path = "../tests/support/edits.rs"]
mod edits;
#[path = "../tests/support/measure.rs"]
mod measure;
#[path = "../tests/support/stops.rs"]
mod stops;

use std::path::{Path, PathBuf};

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn main() {
    let mut files = measure::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/textbook"));
    if let Some(shared) = std::env::var_os("INVDIFF_SHARED").map(PathBuf::from) {
        for folder in ["median", "trityp"] {
            files.extend(measure::files(&shared.join("subjects/seed").join(folder)));
        }
    }
    if let Ok(part) = std::env::var("INVDIFF_FILES") {
        files.retain(|(name, _)| name.contains(&part));
    }
    let counts = measure::measure(&files, (number("INVDIFF_MUTANTS", 6), number("INVDIFF_EDITS", 3)));
    counts.print();
    assert!(counts.wrong.is_empty(), "an edit that changes nothing was stopped");
}
