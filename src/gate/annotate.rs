//! Writes the notes of commits: analyses what has no note that still speaks of the commit.
//!
//! Notes are written in *batches*, each one notes commit: when so many commits are analysed, or when the
//! first of them has waited for so long. So a run that is ended loses a batch and no more, and a next one
//! leaves out what has a note. Writing costs a look at all notes; where that takes long, batches wait longer,
//! so that it stays a small part of the work.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{Analyse, ComparedTree};
use crate::analysis::Watch;
use crate::report::note;
use crate::store::notes::{Edit, Ends, Note, Notes, NotesError, Record, all_ends};

/// Commits of a batch where nobody says otherwise.
pub const BATCH: usize = 1000;

/// How long the first commit of a batch waits for the others.
const PATIENCE: Duration = Duration::from_secs(15);

/// How many times longer than writing the last batch took a batch waits.
const SHARE: u32 = 20;

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

/// How notes are written.
#[derive(Clone, Copy)]
pub struct Annotator<'a> {
    pub notes: &'a Notes<'a>,
    pub existing: Existing,
    /// Older records that may speak of the same trees (of commits before a rewrite).
    pub hints: &'a [Record],
    /// Bytes of one record.
    pub limit: usize,
    /// Most commits of a batch; 0 counts as 1.
    pub batch: usize,
    pub analyse: &'a Analyse,
    /// Told of each commit; when it is over, what is done is written and the rest left.
    pub watch: &'a dyn Watch,
}

impl Annotator<'_> {
    /// Writes the notes of `commits`, those that are here. `tell` gets what became of each batch as soon as it
    /// is written.
    ///
    /// A record of another schema in the same note is kept. The cost is one analysis for each commit that
    /// has no record with its trees.
    pub fn annotate<E: From<NotesError>>(
        &self,
        commits: &[String],
        tell: &mut dyn FnMut(Annotated) -> Result<(), E>,
    ) -> Result<(), E> {
        let present = self.notes.reader()?;
        let trees = |record: &Record| (record.tree.clone(), record.parent_tree.clone());
        let hints: Hints<'_> = self.hints.iter().map(|record| (trees(record), record)).collect();
        let mut patience = PATIENCE;
        for part in commits.chunks(self.batch.max(1)) {
            let ends: Vec<Ends> = all_ends(self.notes.git(), part)?.into_iter().flatten().collect();
            let payloads = present.read(&ends.iter().map(|ends| ends.commit.clone()).collect::<Vec<_>>())?;
            let mut batch = Batch::default();
            for ends in &ends {
                if self.watch.is_over() {
                    break;
                }
                let note = payloads.get(&ends.commit).map(|payload| Note::parse(payload)).unwrap_or_default();
                self.look(ends, &note, &hints, &mut batch);
                if batch.began.is_some_and(|began| began.elapsed() >= patience) {
                    tell(self.write(&mut batch, &mut patience)?)?;
                }
            }
            tell(self.write(&mut batch, &mut patience)?)?;
            if self.watch.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Finds the record of one commit, unless its note stays.
    fn look<'e>(&self, ends: &'e Ends, note: &Note, hints: &Hints<'_>, batch: &mut Batch<'e>) {
        if keeps(note, ends, self.existing) {
            let is_stale = !note.records.iter().any(|record| record.is_about(ends));
            batch.done.kept.push((ends.commit.clone(), is_stale));
            self.watch.done();
            return;
        }
        batch.began.get_or_insert_with(Instant::now);
        let reusable = || {
            let hint = || hints.get(&(ends.tree.clone(), ends.parent_tree.clone())).copied();
            note.records.iter().find(|record| record.same_trees(ends)).or_else(hint)
        };
        let record = match (self.existing, reusable()) {
            (Existing::Refresh, Some(record)) => record.renamed(ends),
            _ => {
                self.watch.begins(&ends.commit);
                let old = ends.parent.clone().map_or(ComparedTree::Nothing, ComparedTree::Commit);
                match (self.analyse)(&old, &ComparedTree::Commit(ends.commit.clone())) {
                    Ok(report) => note::record(&report, ends, self.limit),
                    // It was not let come to an end: that says nothing of the commit.
                    Err(_) if self.watch.is_over() => return,
                    Err(failure) => {
                        batch.done.failed.push((ends.commit.clone(), failure.to_string()));
                        self.watch.done();
                        return;
                    }
                }
            }
        };
        batch.records.push((ends, record));
        self.watch.done();
    }

    /// Writes a batch, which is empty then, and returns what became of it.
    fn write(&self, batch: &mut Batch<'_>, patience: &mut Duration) -> Result<Annotated, NotesError> {
        let Batch { records, mut done, .. } = std::mem::take(batch);
        let targets: Vec<String> = records.iter().map(|(ends, _)| ends.commit.clone()).collect();
        if targets.is_empty() {
            return Ok(done);
        }
        let by_id: BTreeMap<&str, _> =
            records.iter().map(|(ends, record)| (ends.commit.as_str(), (*ends, record))).collect();
        let begin = Instant::now();
        let edit = |id: &str, payload: Option<&[u8]>| {
            let mut note = payload.map(Note::parse).unwrap_or_default();
            let Some((ends, record)) = by_id.get(id) else { return Edit::Keep };
            // Another writer may have been here since the note was read.
            if keeps(&note, ends, self.existing) {
                return Edit::Keep;
            }
            note.replace((*record).clone());
            Edit::Set(note.payload())
        };
        let update = || self.notes.update("Notes added by 'git invdiff notes add'", &targets, edit);
        done.written = match update() {
            // Ctrl-C goes to git, too, which was at work for us; what is known is to be written all the same.
            Err(error) if error.is_by_signal() => update()?,
            written => written?,
        };
        *patience = PATIENCE.max(begin.elapsed() * SHARE);
        Ok(done)
    }
}

/// Hints by the trees that they speak of.
type Hints<'h> = BTreeMap<(String, Option<String>), &'h Record>;

/// What is not written yet.
#[derive(Default)]
struct Batch<'e> {
    /// When the first of its commits was begun.
    began: Option<Instant>,
    records: Vec<(&'e Ends, Record)>,
    done: Annotated,
}

fn keeps(note: &Note, ends: &Ends, existing: Existing) -> bool {
    match existing {
        Existing::Keep => !note.records.is_empty(),
        Existing::Refresh => matches!(note.records.as_slice(), [only] if only.is_about(ends)),
        Existing::Replace => false,
    }
}

/// Writes the notes of `commits` and returns what became of all of them; nobody watches.
pub fn annotate(
    notes: &Notes<'_>,
    commits: &[String],
    existing: Existing,
    hints: &[Record],
    limit: usize,
    analyse: &Analyse,
) -> Result<Annotated, NotesError> {
    let annotator = Annotator { notes, existing, hints, limit, batch: BATCH, analyse, watch: &Unwatched };
    let mut all = Annotated::default();
    annotator.annotate(commits, &mut |done: Annotated| {
        all.written.extend(done.written);
        all.kept.extend(done.kept);
        all.failed.extend(done.failed);
        Ok::<(), NotesError>(())
    })?;
    Ok(all)
}

struct Unwatched;

impl Watch for Unwatched {}
