//! Static assertions of a range: those that were removed, and those that fail now. What fails to compile is
//! worse than what fails when it runs.

use super::lineage::VersionFiles;
use crate::ir::StaticAssertion;
use crate::report::{
    Assertion, AssertionMatch, AssertionOutcome, DecidedBy, RepoPath, Report, SettledBy, Version, Violation,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// By file and text, in order.
type Known<'a> = BTreeMap<(&'a PathBuf, &'a str), Vec<&'a StaticAssertion>>;

/// Those of a version, each once, however many units read its header.
fn of(version: &VersionFiles) -> Known<'_> {
    let mut met: BTreeSet<(&PathBuf, u32, &str)> = BTreeSet::new();
    let mut known = Known::new();
    for (_, loaded) in version.iter().flatten() {
        let Ok(loaded) = loaded else { continue };
        for s in &loaded.unit.statics {
            let is_own = !s.file.to_string_lossy().starts_with('<');
            if is_own && met.insert((&s.file, s.line, &s.text)) {
                known.entry((&s.file, &s.text)).or_default().push(s);
            }
        }
    }
    known
}

/// Adds what became of them from the first version of a range to its last; those that hold in both are left
/// out.
pub(super) fn tell(report: &mut Report, by_version: &[VersionFiles]) {
    let (Some(old), Some(new)) = (by_version.first(), by_version.last()) else { return };
    let versions = (1, by_version.len() as Version);
    let (before, after) = (of(old), of(new));
    let fails = |known: &Known<'_>| known.values().flatten().any(|s| s.fails == Some(true));
    let did_not_compile = fails(&before);
    let none = Vec::new();
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let (a, b) = (before.get(key).unwrap_or(&none), after.get(key).unwrap_or(&none));
        for k in 0..a.len().max(b.len()) {
            report.assertions.extend(told((a.get(k).copied(), b.get(k).copied()), versions, did_not_compile));
        }
    }
}

fn told(
    (old, new): (Option<&StaticAssertion>, Option<&StaticAssertion>),
    (first, last): (Version, Version),
    did_not_compile: bool,
) -> Option<Assertion> {
    let fails = |s: Option<&StaticAssertion>| s.is_some_and(|s| s.fails == Some(true));
    if old.is_some() && new.is_some_and(|s| s.fails == Some(false)) && !fails(old) {
        return None;
    }
    let outcome = |s: &StaticAssertion| match s.fails {
        Some(true) => AssertionOutcome::Fail,
        Some(false) => AssertionOutcome::NotFail,
        None => AssertionOutcome::Unknown,
    };
    let sides = || [(first, old), (last, new)].into_iter().filter_map(|(v, s)| Some((v, s?)));
    let broken = match did_not_compile {
        true => Violation::Preexisting,
        false => Violation::Regression,
    };
    Some(Assertion {
        file: RepoPath::from(new.or(old)?.file.as_path()),
        text: new.or(old)?.text.to_string(),
        matched: match (old, new) {
            (Some(_), Some(_)) => AssertionMatch::Unchanged,
            (None, _) => AssertionMatch::New,
            (_, None) => AssertionMatch::Removed,
        },
        lines: sides().map(|(v, s)| (v, s.line)).collect(),
        outcome: sides().map(|(v, s)| (v, outcome(s))).collect(),
        decided_by: DecidedBy::Compiler,
        settled_by: sides()
            .filter(|(_, s)| outcome(s) != AssertionOutcome::Unknown)
            .map(|(v, _)| (v, SettledBy::Compiler))
            .collect(),
        violation: fails(new).then_some(broken),
        ..Assertion::default()
    })
}

/// Files whose static assertions fail in the last version and not in the first, with the reason.
pub(super) fn failing(by_version: &[VersionFiles]) -> Vec<(RepoPath, String)> {
    let (Some(old), Some(new)) = (by_version.first(), by_version.last()) else { return Vec::new() };
    let (before, after) = (of(old), of(new));
    if before.values().flatten().any(|s| s.fails == Some(true)) {
        return Vec::new();
    }
    let failing = after.values().flatten().filter(|s| s.fails == Some(true));
    let words = |s: &&StaticAssertion| {
        let why = format!("it does not compile: the static assertion {} in line {} fails", s.text, s.line);
        (RepoPath::from(s.file.as_path()), why)
    };
    failing.map(words).collect()
}
