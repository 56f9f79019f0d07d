//! How long a fact that a change takes away had held, as far as the notes of earlier commits know.
//!
//! Nothing is analysed: a fact is as old as the commit whose note says that it came, or that its function
//! did. A commit without a note that speaks of it ends what is known.

use crate::report::{Fact, FunctionReport, Outcome, Report, note};
use crate::store::Git;
use crate::store::notes::{Note, Notes, NotesError, all_ends};
use std::collections::BTreeMap;

/// Sets the age of each churn whose facts are known from the notes on `base` and the commits before it, at
/// most `longest` of them: an age of `longest` may be more. Cost: some git processes, whatever the number.
pub fn fill(
    report: &mut Report,
    git: &Git,
    notes: &Notes<'_>,
    base: &str,
    longest: u32,
) -> Result<(), NotesError> {
    let loses = |r: &Report| {
        r.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).any(|c| !c.removed.is_empty())
    };
    if longest == 0 || !loses(report) {
        return Ok(());
    }
    let count = format!("--max-count={longest}");
    let listed = git.line(&["rev-list", "--first-parent", &count, base, "--"])?;
    let commits: Vec<String> = listed.lines().map(str::to_owned).collect();
    let payloads = notes.read_each(&commits)?;
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
    let history: Vec<&Vec<FunctionReport>> = commits.iter().map_while(|c| histories.get(c)).collect();
    let complete = history.len() as u64 == u64::from(longest);
    for function in &mut report.functions {
        let name = function.name.clone();
        for churn in function.points.iter_mut().flat_map(|p| &mut p.churns) {
            let age = |fact: &Fact| age(&history, fact, &name).or(complete.then_some(longest));
            // The oldest fact is the one that is missed.
            churn.age = churn.removed.iter().filter_map(age).max();
        }
    }
    Ok(())
}

/// Versions that a fact of a function had held, from the newest note back to the one that brings it.
fn age(history: &[&Vec<FunctionReport>], fact: &Fact, function: &str) -> Option<u32> {
    let brings = |functions: &&Vec<FunctionReport>| {
        let added = functions.iter().any(|f| f.outcome == Outcome::Added && f.name == function);
        let churns = functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
        added || churns.flat_map(|c| &c.added).any(|f| f.id == fact.id)
    };
    let steps = history.iter().position(brings)?;
    u32::try_from(steps + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Churn, Point};

    fn added(id: &str) -> Vec<FunctionReport> {
        let fact = Fact { id: id.into(), ..Fact::default() };
        let churns = vec![Churn { added: vec![fact], ..Churn::default() }];
        let points = vec![Point { churns, ..Point::default() }];
        vec![FunctionReport {
            name: "f".into(),
            points,
            outcome: Outcome::Analysed,
            ..FunctionReport::default()
        }]
    }

    #[test]
    fn a_fact_is_as_old_as_the_note_that_brings_it() {
        let nothing = Vec::new();
        let new =
            vec![FunctionReport { name: "f".into(), outcome: Outcome::Added, ..FunctionReport::default() }];
        let (a, b) = (added("a"), added("b"));
        let of = |history: &[&Vec<FunctionReport>], id: &str| {
            age(history, &Fact { id: id.into(), ..Fact::default() }, "f")
        };
        assert_eq!(of(&[&a], "a"), Some(1));
        assert_eq!(of(&[&nothing, &b, &a], "a"), Some(3));
        assert_eq!(of(&[&nothing, &b], "a"), None);
        assert_eq!(of(&[&nothing, &new], "a"), Some(2));
        assert_eq!(of(&[], "a"), None);
    }
}
