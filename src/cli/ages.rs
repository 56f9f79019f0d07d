//! For how many versions what a range takes away had held before it, as far as notes know, or the cache.

use super::cached::AnalysisCache;
use super::{Context, compare};
use crate::config::Settings;
use crate::gate::age;
use crate::history::Repository;
use crate::report::Report;
use crate::store::notes::{Notes, NotesRef};

/// Adds to the ages of a report what the notes on the range's first version and the commits before it know, or what is
/// kept of them. A report that is kept does not have this: notes may come later.
pub fn add(report: &mut Report, repository: &Repository, settings: &Settings, context: &Context) {
    if !age::is_wanted(report) {
        return;
    }
    let base = report.versions.first().and_then(|v| v.commit.clone());
    // Before the root there is nothing.
    let asked = age::Asked { longest: if base.is_some() { age::LONGEST } else { 0 }, changes: false };
    let Ok(name) = NotesRef::parse(&settings.notes.notes_ref) else { return };
    let Ok(git) = compare::repository(context) else { return };
    // Where notes cannot be read, nothing is known.
    let commits = AnalysisCache::commits(repository, settings);
    let kept = |commit: &str, parent: Option<&str>| commits.of_commit(commit, parent);
    let notes = Notes::new(&git, name);
    let _ = age::fill(report, &git, (&notes, &kept), &base.unwrap_or_default(), asked);
}
