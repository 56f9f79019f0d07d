//! Writes the notes of commits: analyses what has no note that still speaks of the commit, and writes
//! all of them in one notes commit.

use std::collections::BTreeMap;

use super::{Analyse, Side};
use crate::report::note;
use crate::store::notes::{Edit, Ends, Note, Notes, NotesError, Record};

/// What happens to a note that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, stale or not.
    Keep,
    /// It stays if its trees are those of the commit; it gets the new names if only the names changed.
    Refresh,
    /// It is computed anew.
    Replace,
}

/// What became of the commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotated {
    /// Commits whose note was written.
    pub written: Vec<String>,
    /// Commits whose note was left alone, with whether it is stale.
    pub kept: Vec<(String, bool)>,
    /// Commits that could not be analysed, with the reason.
    pub failed: Vec<(String, String)>,
}

/// Writes the notes of `commits`. `hints` are older records that may speak of the same trees (of commits
/// before a rewrite). `limit` is the size of one record, in bytes.
///
/// A record of another schema in the same note is kept. The cost is one analysis for each commit that
/// has no record with its trees.
pub fn annotate(
    notes: &Notes<'_>,
    commits: &[Ends],
    existing: Existing,
    hints: &[Record],
    limit: usize,
    analyse: &Analyse,
) -> Result<Annotated, NotesError> {
    let ids: Vec<String> = commits.iter().map(|ends| ends.commit.clone()).collect();
    let present = notes.read(&ids)?;
    let trees = |record: &Record| (record.tree.clone(), record.parent_tree.clone());
    let hints: BTreeMap<_, &Record> = hints.iter().map(|record| (trees(record), record)).collect();
    let mut result = Annotated::default();
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    for ends in commits {
        let note = present.get(&ends.commit).map(|payload| Note::parse(payload)).unwrap_or_default();
        if keeps(&note, ends, existing) {
            result.kept.push((ends.commit.clone(), !note.records.iter().any(|r| r.is_about(ends))));
            continue;
        }
        let reusable = || {
            let hint = || hints.get(&(ends.tree.clone(), ends.parent_tree.clone())).copied();
            note.records.iter().find(|record| record.same_trees(ends)).or_else(hint)
        };
        if let (Existing::Refresh, Some(record)) = (existing, reusable()) {
            records.insert(ends.commit.clone(), record.renamed(ends));
            continue;
        }
        let old = ends.parent.clone().map_or(Side::Nothing, Side::Commit);
        match analyse(&old, &Side::Commit(ends.commit.clone())) {
            Ok(report) => {
                records.insert(ends.commit.clone(), note::record(&report, ends, limit));
            }
            Err(failure) => result.failed.push((ends.commit.clone(), failure.to_string())),
        }
    }
    let by_id: BTreeMap<&str, &Ends> = commits.iter().map(|ends| (ends.commit.as_str(), ends)).collect();
    let targets: Vec<String> = records.keys().cloned().collect();
    result.written = notes.update("Notes added by 'git invdiff notes add'", &targets, |id, payload| {
        let mut note = payload.map(Note::parse).unwrap_or_default();
        let (Some(record), Some(ends)) = (records.get(id), by_id.get(id)) else { return Edit::Keep };
        // Another writer may have been here since the note was read.
        if keeps(&note, ends, existing) {
            return Edit::Keep;
        }
        note.replace(record.clone());
        Edit::Set(note.payload())
    })?;
    Ok(result)
}

fn keeps(note: &Note, ends: &Ends, existing: Existing) -> bool {
    match existing {
        Existing::Keep => !note.records.is_empty(),
        Existing::Refresh => matches!(note.records.as_slice(), [only] if only.is_about(ends)),
        Existing::Replace => false,
    }
}
