//! A report in the order in which people read it: commit by commit, the most important first.
//!
//! A *step* goes from one version to another. What a caller shows of a callee's change is told at the
//! callee, which names the caller.

use super::model::{
    Change, ChangeVerdict, Churn, FunctionReport, FunctionStatus, HunkReport, Point, Report, Version,
};
use super::object::{is_told_at_object, told_objects};
use super::{ObjectReport, RepoPath};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What changed from one version to another.
pub struct Step<'a> {
    pub from: Version,
    pub to: Version,
    /// Functions with churns.
    pub changed: Vec<Changed<'a>>,
    pub comings: Vec<Comings<'a>>,
    /// Objects of which something is told, by file and line.
    pub objects: Vec<&'a ObjectReport>,
    /// Hunks that have other lines compiled than before.
    pub compiled: Vec<&'a HunkReport>,
}

/// The churns of one function in one step, best first.
pub struct Changed<'a> {
    pub function: &'a FunctionReport,
    /// What differs where the text does, in the order of the text.
    pub changes: Vec<&'a Change>,
    pub points: Vec<(&'a Point, Vec<&'a Churn>)>,
    /// Names of the functions that show this one's change to their callers.
    pub seen_by: Vec<&'a str>,
}

/// Functions of one file that appear, disappear, or get another name in one step.
pub struct Comings<'a> {
    /// `new`, `gone` or `renamed`.
    pub word: &'static str,
    pub file: &'a RepoPath,
    /// `f()`, or `f() from g()`.
    pub functions: Vec<String>,
}

impl<'a> Changed<'a> {
    fn nothing(function: &'a FunctionReport) -> Changed<'a> {
        Changed { function, changes: Vec::new(), points: Vec::new(), seen_by: Vec::new() }
    }

    pub fn churns(&self) -> impl Iterator<Item = &'a Churn> + '_ {
        self.points.iter().flat_map(|(_, churns)| churns.iter().copied())
    }
}

/// Puts churns of one cause together, wherever in the order they are.
pub fn by_cause<'a>(churns: &[&'a Churn]) -> Vec<Vec<&'a Churn>> {
    let mut groups: Vec<Vec<&Churn>> = Vec::new();
    let same =
        |a: &Churn, b: &Churn| (&a.causes.removed, &a.causes.added) == (&b.causes.removed, &b.causes.added);
    for churn in churns {
        match groups.iter_mut().find(|c| c.first().is_some_and(|first| same(first, churn))) {
            Some(group) => group.push(churn),
            None => groups.push(vec![churn]),
        }
    }
    groups
}

/// Returns the steps that have churns, or functions that came or went, oldest first. With `fold`, churns
/// that a callee tells are left out at their callers, and those that an object tells at its readers.
pub fn steps(report: &Report, fold: bool) -> Vec<Step<'_>> {
    let told = report.told();
    let mut callers: BTreeMap<(Version, &String), Vec<&str>> = BTreeMap::new();
    let mut steps: BTreeMap<(Version, Version), Vec<Changed>> = BTreeMap::new();
    for function in &report.functions {
        let mut by_step: BTreeMap<(Version, Version), Changed> = BTreeMap::new();
        for (point, churn) in function.points.iter().flat_map(|p| p.churns.iter().map(move |c| (p, c))) {
            if fold && is_told_at_object(report, churn) {
                continue;
            }
            let is_told = |callee: &&String| told.contains(&(churn.from, (*callee).clone()));
            if let Some(callee) = churn.through.iter().find(is_told).filter(|_| fold) {
                let names = callers.entry((churn.from, callee)).or_default();
                if !names.contains(&function.name.as_str()) {
                    names.push(&function.name);
                }
                continue;
            }
            let changed = by_step.entry((churn.to, churn.from)).or_insert_with(|| Changed::nothing(function));
            match changed.points.iter_mut().find(|(p, _)| std::ptr::eq(*p, point)) {
                Some((_, churns)) => churns.push(churn),
                None => changed.points.push((point, vec![churn])),
            }
        }
        for change in function.changes.iter().filter(|c| c.verdict == ChangeVerdict::Differs) {
            let changed =
                by_step.entry((change.to, change.from)).or_insert_with(|| Changed::nothing(function));
            changed.changes.push(change);
        }
        for (step, changed) in by_step {
            steps.entry(step).or_default().push(changed);
        }
    }
    let mut comings = comings_and_goings(report, &steps);
    for step in comings.keys() {
        steps.entry(*step).or_default();
    }
    let mut objects: BTreeMap<(Version, Version), Vec<&ObjectReport>> = BTreeMap::new();
    for object in told_objects(report) {
        objects.entry((object.to, object.from)).or_default().push(object);
        steps.entry((object.to, object.from)).or_default();
    }
    let mut compiled: BTreeMap<(Version, Version), Vec<&HunkReport>> = BTreeMap::new();
    for hunk in report.hunks.iter().filter(|h| !h.compiled.is_empty()) {
        compiled.entry((hunk.to, hunk.from)).or_default().push(hunk);
        steps.entry((hunk.to, hunk.from)).or_default();
    }
    let mut all = Vec::new();
    for ((to, from), mut changed) in steps {
        sort_by_importance(&mut changed);
        for c in &mut changed {
            let name = format!("{}:{}", c.function.file, c.function.name);
            c.seen_by = callers.get(&(from, &name)).cloned().unwrap_or_default();
        }
        let comings = comings.remove(&(to, from)).unwrap_or_default();
        let objects = objects.remove(&(to, from)).unwrap_or_default();
        let compiled = compiled.remove(&(to, from)).unwrap_or_default();
        all.push(Step { from, to, changed, comings, objects, compiled });
    }
    all
}

fn importance(a: &Churn, b: &Churn) -> Ordering {
    b.observable.cmp(&a.observable).then_with(|| b.rank.total_cmp(&a.rank))
}

/// Best churn first, at every level; equals stay in the report's order.
fn sort_by_importance(changed: &mut [Changed]) {
    fn best_first<'c>(a: Option<&'c Churn>, b: Option<&'c Churn>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => importance(a, b),
            _ => Ordering::Equal,
        }
    }
    for function in changed.iter_mut() {
        for (_, churns) in &mut function.points {
            churns.sort_by(|a, b| importance(a, b));
        }
        function.points.sort_by(|(_, a), (_, b)| best_first(a.first().copied(), b.first().copied()));
    }
    changed.sort_by(|a, b| best_first(a.churns().next(), b.churns().next()));
}

/// Functions that appear or disappear, or of which nothing but another name is told, by step.
fn comings_and_goings<'a>(
    report: &'a Report,
    steps: &BTreeMap<(Version, Version), Vec<Changed>>,
) -> BTreeMap<(Version, Version), Vec<Comings<'a>>> {
    /// By what happened to them, and by file.
    type ByFile<'a> = BTreeMap<(&'static str, String), Comings<'a>>;
    let mut names: BTreeMap<(Version, Version), ByFile> = BTreeMap::new();
    for function in &report.functions {
        let under = function.under.as_ref().map(|macros| format!(" under {macros}")).unwrap_or_default();
        let own = |word, to| (word, (to, to - 1), format!("{}(){under}", function.name));
        let came = match function.outcome {
            FunctionStatus::Added => function.versions.first().map(|v| own("new", *v)),
            FunctionStatus::Removed => function.versions.last().map(|v| own("gone", v + 1)),
            _ => None,
        };
        let is_told = |step: &(Version, Version)| {
            steps.get(step).is_some_and(|all| all.iter().any(|c| std::ptr::eq(c.function, function)))
        };
        let came = came.filter(|(_, step, _)| step.0 > 1 && !is_told(step));
        let renamed = renamed(function).filter(|(step, _)| !is_told(step));
        for (word, step, text) in came.into_iter().chain(renamed.map(|(step, text)| ("renamed", step, text)))
        {
            let files = names.entry(step).or_default();
            let none = || Comings { word, file: &function.file, functions: Vec::new() };
            files.entry((word, function.file.to_string())).or_insert_with(none).functions.push(text);
        }
    }
    names.into_iter().map(|(step, files)| (step, files.into_values().collect())).collect()
}

/// The steps in which a function got another name: `f() from g()`.
fn renamed(function: &FunctionReport) -> impl Iterator<Item = ((Version, Version), String)> + '_ {
    let versions = function.identity.versions.iter();
    let pairs = versions.clone().zip(versions.skip(1));
    pairs.filter(|((_, old), (_, new))| old.name != new.name).map(|((from, old), (to, new))| {
        let text = format!("{}() from {}()", new.name, old.name);
        ((*to, *from), text)
    })
}
