//! How many inputs a change affects, in the default report: where the project's file says a domain or a profile.

use super::cached::AnalysisCache;
use super::quantify::{affected, limits};
use crate::analysis::quantify::{Choice, Quantified, Wanted, quantify};
use crate::analysis::{Effort, Request};
use crate::config::Settings;
use crate::history::Repository;
use crate::report::{FunctionReport, RepoPath, Report};
use std::collections::BTreeSet;

/// Adds the numbers to the functions whose change is told and that have an input of which something is configured.
/// What cannot be counted so is said once. Nothing at `quick`.
pub(super) fn add(report: &mut Report, request: &Request, settings: &Settings, repository: &Repository) {
    if settings.quantify.is_empty() || request.analysis.effort == Effort::Quick {
        return;
    }
    let tree = request.versions.last().map(|v| v.tree.clone());
    let (mut choice, profile) = match affected::configured(settings, tree.as_deref()) {
        Ok(found) => found,
        Err(error) => return report.notices.push(format!("no inputs were counted: {error}")),
    };
    // At normal effort the numbers are to cost little beside what they are of.
    let is_deep = request.analysis.effort == Effort::Deep;
    choice.limits = limits(if is_deep { "normal" } else { "quick" });
    let is_told =
        |f: &&FunctionReport| !f.changes.is_empty() || f.points.iter().any(|p| !p.churns.is_empty());
    let told: BTreeSet<(RepoPath, String)> =
        report.functions.iter().filter(is_told).map(|f| (f.file.clone(), f.name.clone())).collect();
    if told.is_empty() {
        return;
    }
    let is_it = |file: &RepoPath, name: &str| told.contains(&(file.clone(), name.to_owned()));
    let wanted = Wanted { is_it: &is_it, is_named: true };
    match quantify(request, &choice, &wanted, &AnalysisCache::trees(repository, settings)) {
        Ok(found) => found.iter().for_each(|q| add_to(report, q, &choice)),
        Err(problem) => {
            report.notices.push(format!("no inputs were counted: {}", affected::problem(problem, &profile)));
        }
    }
}

fn add_to(report: &mut Report, q: &Quantified, choice: &Choice) {
    let file = RepoPath::from(&q.file);
    let is_it = |f: &&mut FunctionReport| f.file == file && *f.name == *q.name;
    if let Some(function) = report.functions.iter_mut().find(is_it) {
        function.affects = affected::of(q, choice);
    }
}
