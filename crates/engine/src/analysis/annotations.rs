//! What annotations of the sources promise, for the gate: contracts become pinned facts and
//! requirements, assertions become statements.
//!
//! The newest version's annotations count, as its `assert`s do; a change cannot excuse itself, so a new
//! requirement of a function that was there counts from the next change on. What cannot be parsed is
//! named.

use super::lineage::VersionFiles;
use super::request::{Pin, Request, Requirement, VersionInput};
use super::units::is_source;
use crate::fact::{self, Expression, Kind, Postcondition};
use crate::frontend::c::annotations::{self, Annotations, Clause, Word};
use crate::history::SourceTree;
use crate::invariant::PinnedFact;
use crate::mvicfg::VersionId;
use crate::report::RepoPath;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A tree whose assertions in comments are statements. Ids stay: equal contents become equal ones.
struct Asserted(Arc<dyn SourceTree>);

impl SourceTree for Asserted {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        let bytes = self.0.read(path)?;
        if !is_source(path) || !annotations::may_have(&bytes) {
            return Some(bytes);
        }
        let found = annotations::annotations(&bytes).clauses;
        let plain = |c: &&Clause| c.word == Word::Assert && statement(&c.condition).is_ok();
        let assertions: Vec<&Clause> = found.iter().filter(plain).collect();
        Some(annotations::with_assertions(&bytes, &assertions).into())
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        self.0.paths()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        self.0.content_id(path)
    }
}

/// Whether an asserted condition is one of C without effects; otherwise why not.
fn statement(condition: &str) -> Result<(), String> {
    let parsed = fact::parse(condition).map_err(|e| e.to_string())?;
    match condition.contains(['\\', '"']) || condition.contains("==>") || calls(&parsed) {
        true => Err("no condition of plain C without calls".to_owned()),
        false => Ok(()),
    }
}

/// Whether an expression calls something.
fn calls(e: &Expression) -> bool {
    match &e.kind {
        Kind::Call(..) => true,
        Kind::Old(e) | Kind::At(e, _) | Kind::Unary(_, e) | Kind::Cast(_, e) => calls(e),
        Kind::Member { base, .. } => calls(base),
        Kind::Binary(_, a, b) | Kind::Index(a, b) => calls(a) || calls(b),
        Kind::Conditional(a, b, c) => calls(a) || calls(b) || calls(c),
        _ => false,
    }
}

/// Returns the request with assertions in comments as statements.
pub(super) fn asserted(request: &Request) -> Request {
    let tree = |v: &VersionInput| Arc::new(Asserted(v.tree.clone())) as Arc<dyn SourceTree>;
    let versions = request.versions.iter().map(|v| VersionInput { tree: tree(v), ..v.clone() });
    Request {
        versions: versions.collect(),
        changes: request.changes.clone(),
        options: request.options.clone(),
        analysis: request.analysis.clone(),
    }
}

/// Adds what a contract of the oldest version promises and the newest one does not.
fn drop_pin(clause: &Clause, path: &Path, pins: &mut Vec<Pin>) {
    let (Some(function), Ok(fact)) = (&clause.function, fact::parse(&clause.condition)) else { return };
    let fact = PinnedFact { text: clause.condition.clone(), fact: Postcondition::Holds(fact) };
    pins.push(Pin { function: format!("{}:{function}", path.display()), fact, is_dropped: true });
}

/// Adds the contracts of the files that are looked at; returns what is to be said of annotations.
pub(super) fn add_contracts(
    request: &mut Request,
    original: &Request,
    files: &[VersionFiles],
) -> Vec<String> {
    let of = |v: VersionId, path: &Path| -> Option<Annotations> {
        let bytes = original.versions.get(v.index())?.tree.read(path)?;
        annotations::may_have(&bytes).then(|| annotations::annotations(&bytes))
    };
    let (Some(oldest), Some(newest)) = (files.first(), files.last()) else { return Vec::new() };
    let mut notices = Vec::new();
    let mut say = |place: &RepoPath, line: u32, what: &str| {
        notices.push(format!("note: {place}:{line}: {what}"));
    };
    for (k, file) in newest.iter().enumerate() {
        let Some((path, _)) = file else { continue };
        let now = of(VersionId::new(files.len() - 1), path).unwrap_or_default();
        let before =
            oldest.get(k).and_then(Option::as_ref).map(|(path, loaded)| (of(VersionId::OLD, path), loaded));
        let place = RepoPath::from(path);
        let not_understood = |why: &str| format!("annotation not understood: {why}");
        let was = before.iter().filter_map(|(a, _)| a.as_ref()).flat_map(|a| &a.clauses);
        let pins = &mut request.analysis.specification.pins;
        let promises =
            |c: &&Clause| c.word == Word::Ensures && !now.clauses.iter().any(|n| n.says_the_same(c));
        was.filter(promises).for_each(|c| drop_pin(c, path, pins));
        now.open.iter().for_each(|(line, why)| say(&place, *line, &not_understood(why)));
        for clause in &now.clauses {
            let Some(function) = &clause.function else {
                statement(&clause.condition)
                    .unwrap_or_else(|why| say(&place, clause.line, &not_understood(&why)));
                continue;
            };
            let fact = match fact::parse(&clause.condition) {
                Ok(fact) => fact,
                Err(error) => {
                    say(&place, clause.line, &not_understood(&error.to_string()));
                    continue;
                }
            };
            let place_of = format!("{}:{function}", path.display());
            let (text, is_dropped) = (clause.condition.clone(), false);
            if clause.word == Word::Ensures {
                let fact = PinnedFact { text, fact: Postcondition::Holds(fact) };
                request.analysis.specification.pins.push(Pin { function: place_of, fact, is_dropped });
                continue;
            }
            let required = Requirement { function: place_of, fact: PinnedFact { text, fact }, is_dropped };
            let was_there = before.as_ref().is_some_and(|(_, loaded)| {
                loaded
                    .as_ref()
                    .is_ok_and(|unit| unit.functions.iter().any(|f| *f.function.name == **function))
            });
            let known = before.iter().filter_map(|(a, _)| a.as_ref()).flat_map(|a| &a.clauses);
            let mut same = known.filter(|c| c.word == Word::Requires && c.function == clause.function);
            if !was_there || same.any(|c| c.condition == clause.condition) {
                request.analysis.specification.requires.push(required);
            } else {
                let text = &clause.condition;
                let what = format!("requirement added, not yet in effect: {function}: {text}");
                say(&place, clause.line, &what);
            }
        }
    }
    notices
}
