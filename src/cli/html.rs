//! Gathers what a page shows beside the report: sources, graphs, and who made the commits.

use super::render::{Manner, short_ids_of};
use super::{CliError, Context};
use crate::analysis::{Request, VersionInput, illustrate};
use crate::report::html::{self, Signature, Sources, Surroundings};
use crate::report::{RepoPath, Report, Version};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes the page of a report on what was asked of the analysis.
pub fn write(
    report: &Report,
    request: &Request,
    manner: &Manner,
    context: &mut Context,
) -> Result<(), CliError> {
    let ids: Vec<&String> = report.versions.iter().filter_map(|v| v.commit.as_ref()).collect();
    let surroundings = Surroundings {
        sources: &Trees { versions: &request.versions, known: RefCell::default() },
        illustrations: &illustrate(request, report),
        short_ids: short_ids_of(&ids, context),
        signatures: signatures(&ids, context),
        filtered: manner.filtered,
        properties: manner.properties,
        left_alone: manner.left_alone.clone(),
    };
    // A page is for a browser; a pager would show its source.
    context.output.without_pager();
    html::render(report, &surroundings, &mut context.output)?;
    Ok(())
}

/// Lines of files.
type Known = BTreeMap<(Version, RepoPath), Arc<Vec<String>>>;

/// Sources in the trees of the versions.
struct Trees<'a> {
    versions: &'a [VersionInput],
    /// Files that were read, the last few.
    known: RefCell<Known>,
}

impl Sources for Trees<'_> {
    fn lines(&self, version: Version, file: &RepoPath) -> Arc<Vec<String>> {
        const KEPT: usize = 32;
        let key = (version, file.clone());
        let mut known = self.known.borrow_mut();
        if let Some(lines) = known.get(&key) {
            return lines.clone();
        }
        let input = self.versions.iter().find(|v| v.info.index == version);
        let bytes = input.and_then(|v| v.tree.read(&file.to_utf8_path()));
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        let lines = Arc::new(text.lines().map(str::to_owned).collect::<Vec<_>>());
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(key, lines.clone());
        lines
    }
}

/// Authors of commits and their dates, as the mailmap has them. Cost: one process.
fn signatures(ids: &[&String], context: &Context) -> BTreeMap<String, Signature> {
    if ids.is_empty() {
        return BTreeMap::new();
    }
    let output = context
        .git()
        .args(["log", "--no-walk=unsorted", "--no-show-signature", "--no-color", "--format=%H%x00%aN%x00%aI"])
        .arg("--end-of-options")
        .args(ids)
        .arg("--")
        .output();
    let Ok(output) = output else { return BTreeMap::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let signature = |line: &str| {
        let mut fields = line.split('\0').map(str::to_owned);
        let (id, author, date) = (fields.next()?, fields.next()?, fields.next()?);
        Some((id, Signature { author, date }))
    };
    text.lines().filter_map(signature).collect()
}
