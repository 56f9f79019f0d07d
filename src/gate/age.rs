//! How long a fact that a change takes away had held before the range, as far as the notes of earlier commits know, or
//! the cache, where a report on one of them is kept.
//!
//! Nothing is analysed: a fact is as old as the commit whose note says that it came, or that its function
//! did; a property at least as the last commit whose note speaks of its function. A commit of which neither a note nor
//! the cache speaks ends what is known, and so does one of which they say that the function was not understood.

use crate::report::{
    Change, ChangeVerdict, Churn, DecidedBy, Fact, FunctionReport, FunctionStatus, Report, note,
};
use crate::store::Git;
use crate::store::notes::{Note, Notes, NotesError, all_ends};
use std::collections::BTreeMap;

/// Commits before a range whose notes are asked, unless a policy asks for other ages.
pub const LONGEST: u32 = 100;

/// What is asked.
#[derive(Clone, Copy)]
pub struct Asked {
    /// Commits before the range that are asked.
    pub longest: u32,
    /// How old what a function no longer does is, too.
    pub changes: bool,
}

/// What is kept of a commit against its parent, which only a root has not.
pub type CommitReports<'k> = &'k dyn Fn(&str, Option<&str>) -> Option<Vec<FunctionReport>>;

/// Says how old what a report loses is: what is known within the range, and from the notes on `base`, its first
/// version, and the commits before that, at most `longest` of these, or from what is kept of them: an age of so many
/// may be more. Cost: some git processes, whatever the number; two where there are no notes.
pub fn fill(
    report: &mut Report,
    git: &Git,
    (notes, kept): (&Notes<'_>, CommitReports<'_>),
    base: &str,
    Asked { longest, changes }: Asked,
) -> Result<(), NotesError> {
    let is_changed = || report.functions.iter().flat_map(|f| &f.changes).any(does_otherwise);
    let known = match longest > 0 && (is_wanted(report) || changes && is_changed()) {
        true => history(git, (notes, kept), base, longest)?,
        false => Vec::new(),
    };
    let history: Vec<&Vec<FunctionReport>> = known.iter().collect();
    for function in &mut report.functions {
        let name = function.name.clone();
        for churn in function.points.iter_mut().flat_map(|p| &mut p.churns).filter(|c| lasts(c)) {
            let ages = churn.removed.iter().filter_map(|f| age(&history, f, &name, longest));
            // The oldest fact is the one that is missed.
            if let Some(before) = ages.max() {
                churn.set_age(before.saturating_add(churn.from.saturating_sub(1)));
            }
        }
    }
    for function in report.functions.iter_mut().filter(|_| changes) {
        let age = done_for(&history, &function.name, longest);
        function.changes.iter_mut().filter(|c| does_otherwise(c)).for_each(|change| change.age = age);
    }
    for assertion in &mut report.assertions {
        let Some((kept, first)) = assertion.kept_in() else { continue };
        // What the compiler decides belongs to no function.
        let goes_on = first == 1 && assertion.decided_by != DecidedBy::Compiler;
        let before = if goes_on { untouched(&history, &assertion.function) } else { 0 };
        assertion.age = Some(kept.saturating_add(before)).filter(|age| *age > 1);
    }
    Ok(())
}

/// Whether a report has something whose age notes may know.
pub fn is_wanted(report: &Report) -> bool {
    report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).any(lasts)
        || report.assertions.iter().any(|a| a.kept_in().is_some())
}

/// Whether code does something otherwise than the range's first version.
fn does_otherwise(change: &Change) -> bool {
    change.verdict == ChangeVerdict::Differs && change.from == 1
}

/// Whether a churn takes something away that the range's first version held already.
fn lasts(churn: &Churn) -> bool {
    !churn.removed.is_empty() && churn.from == churn.age.unwrap_or(1)
}

/// Versions before the base that have the same function, with all that matters to it: no note speaks of it.
fn untouched(history: &[&Vec<FunctionReport>], function: &str) -> u32 {
    let is_silent = |functions: &&&Vec<FunctionReport>| {
        functions.iter().all(|f| f.name != function || f.outcome == FunctionStatus::Unchanged)
    };
    u32::try_from(history.iter().take_while(is_silent).count()).unwrap_or(u32::MAX)
}

/// Versions up to the base for which a function had done what it does there, where that is known, or `longest`.
fn done_for(history: &[&Vec<FunctionReport>], function: &str, longest: u32) -> Option<u32> {
    let before = untouched(history, function);
    let all = u32::try_from(history.len()).unwrap_or(u32::MAX);
    (before < all || all == longest).then(|| before.saturating_add(1).min(longest))
}

/// What notes and the cache say of `base` and the commits before it, the newest first, up to the first of which they
/// say nothing.
fn history(
    git: &Git,
    (notes, kept): (&Notes<'_>, CommitReports<'_>),
    base: &str,
    longest: u32,
) -> Result<Vec<Vec<FunctionReport>>, NotesError> {
    let count = format!("--max-count={longest}");
    let listed = git.line(&["rev-list", "--first-parent", "--parents", &count, base, "--"])?;
    let commits: Vec<(&str, Option<&str>)> = listed
        .lines()
        .filter_map(|line| {
            let mut ids = line.split_whitespace();
            Some((ids.next()?, ids.next()))
        })
        .collect();
    let mut noted = match notes.exist()? {
        true => noted(git, notes, &commits.iter().map(|(c, _)| (*c).to_owned()).collect::<Vec<_>>())?,
        false => BTreeMap::new(),
    };
    let known =
        |(commit, parent): &(&str, Option<&str>)| noted.remove(*commit).or_else(|| kept(commit, *parent));
    Ok(commits.iter().map_while(known).collect())
}

/// What notes say, by commit.
fn noted(
    git: &Git,
    notes: &Notes<'_>,
    commits: &[String],
) -> Result<BTreeMap<String, Vec<FunctionReport>>, NotesError> {
    let payloads = notes.read_each(commits)?;
    let known: Vec<String> = payloads.keys().cloned().collect();
    let ends = if known.is_empty() { Vec::new() } else { all_ends(git, &known)? };
    let mut histories: BTreeMap<String, Vec<FunctionReport>> = BTreeMap::new();
    for (commit, ends) in known.into_iter().zip(ends) {
        let (Some(Ok(payload)), Some(ends)) = (payloads.get(&commit), ends) else { continue };
        let records = Note::parse(payload).records;
        let record = records.iter().find(|r| r.is_about(&ends) && r.omitted.is_empty());
        if let Some(record) = record {
            histories.insert(commit, note::report(record).functions);
        }
    }
    Ok(histories)
}

/// Versions that a fact of a function had held, from the newest note back to the one that brings it; all
/// that are known where they are `longest` and none brings it.
fn age(history: &[&Vec<FunctionReport>], fact: &Fact, function: &str, longest: u32) -> Option<u32> {
    for (age, functions) in (1..).zip(history) {
        let own = || functions.iter().filter(|f| f.name == function);
        let churns = functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
        let added = own().any(|f| f.outcome == FunctionStatus::Added);
        if added || churns.flat_map(|c| &c.added).any(|f| f.id == fact.id) {
            return Some(age);
        }
        if own().any(|f| matches!(f.outcome, FunctionStatus::NotAnalysed | FunctionStatus::PartlyAnalysed)) {
            return None;
        }
    }
    (history.len() as u64 == u64::from(longest)).then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Point;

    fn added(id: &str) -> Vec<FunctionReport> {
        let fact = Fact { id: id.into(), ..Fact::default() };
        let churns = vec![Churn { added: vec![fact], ..Churn::default() }];
        let points = vec![Point { churns, ..Point::default() }];
        vec![FunctionReport {
            name: "f".into(),
            points,
            outcome: FunctionStatus::Analysed,
            ..FunctionReport::default()
        }]
    }

    #[test]
    fn a_fact_is_as_old_as_the_note_that_brings_it() {
        let nothing = Vec::new();
        let new = vec![FunctionReport {
            name: "f".into(),
            outcome: FunctionStatus::Added,
            ..FunctionReport::default()
        }];
        let (a, b) = (added("a"), added("b"));
        let of = |history: &[&Vec<FunctionReport>], id: &str| {
            age(history, &Fact { id: id.into(), ..Fact::default() }, "f", 4)
        };
        assert_eq!(of(&[&a], "a"), Some(1));
        assert_eq!(of(&[&nothing, &b, &a], "a"), Some(3));
        assert_eq!(of(&[&nothing, &b], "a"), None);
        assert_eq!(of(&[&nothing, &new], "a"), Some(2));
        assert_eq!(of(&[], "a"), None);
        // As many as are asked for hold it: so many at least.
        assert_eq!(of(&[&nothing, &nothing, &nothing, &nothing], "a"), Some(4));
        let open = vec![FunctionReport {
            name: "f".into(),
            outcome: FunctionStatus::NotAnalysed,
            ..Default::default()
        }];
        assert_eq!(of(&[&nothing, &open, &a, &a], "a"), None);
    }

    #[test]
    fn a_property_is_as_old_as_the_last_change_of_its_function() {
        let (nothing, a) = (Vec::new(), added("a"));
        assert_eq!(untouched(&[&nothing, &nothing, &a, &nothing], "f"), 2);
        assert_eq!(untouched(&[&a, &nothing], "f"), 0);
        assert_eq!(untouched(&[], "f"), 0);
    }

    #[test]
    fn what_code_did_is_as_old_as_its_function_where_notes_reach_so_far() {
        let (nothing, a) = (Vec::new(), added("a"));
        let of = |history: &[&Vec<FunctionReport>]| done_for(history, "f", 4);
        assert_eq!(of(&[&a]), Some(1));
        assert_eq!(of(&[&nothing, &a, &nothing]), Some(2));
        // Nobody knows for how long before.
        assert_eq!(of(&[&nothing, &nothing]), None);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[&nothing, &nothing, &nothing, &nothing]), Some(4));
    }

    #[test]
    fn what_came_within_the_range_is_not_looked_for_before_it() {
        let lost = |from, age| Churn { from, age, removed: vec![Fact::default()], ..Churn::default() };
        assert!(lasts(&lost(1, None)) && lasts(&lost(3, Some(3))));
        assert!(!lasts(&lost(2, None)) && !lasts(&lost(3, Some(2))));
        assert!(!lasts(&Churn { from: 1, ..Churn::default() }));
    }
}
