//! Writes a report in the format that was asked for.

use super::{CliError, Context, Format};
use crate::gate::policy::Policy;
use crate::report::finding::findings;
use crate::report::text::TextOptions;
use crate::report::{LeftAlone, Report, github, gitlab, json, porcelain, sarif, text, unseen, yaml};
use std::collections::BTreeMap;
use std::io::Write;

/// Formats of a report, the default first.
pub const FORMATS: [Format; 8] = [
    Format::Text,
    Format::Json,
    Format::Yaml,
    Format::Porcelain,
    Format::Sarif,
    Format::Gitlab,
    Format::Github,
    Format::Html,
];

/// What the text says differently from one run to another.
#[derive(Clone, Debug, Default)]
pub struct Manner {
    /// Filters have taken something away.
    pub filtered: bool,
    /// Show every version invariant.
    pub all: bool,
    /// Say what became of properties, and not of facts.
    pub properties: bool,
    /// Ids of properties whose loss blocks nothing, with why.
    pub left_alone: BTreeMap<String, LeftAlone>,
}

/// Findings of a report that block nothing, with why.
pub fn left_alone(report: &Report, policy: &Policy) -> BTreeMap<String, LeftAlone> {
    let churns =
        report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).map(|c| (&c.id, false));
    let changes = report.functions.iter().flat_map(|f| &f.changes).map(|c| (&c.id, false));
    let objects = report.objects.iter().map(|o| (&o.id, false));
    let changes = changes.chain(objects);
    let newest = report.versions.last().map_or(0, |v| v.index);
    let free =
        report.assertions.iter().map(|a| (&a.id, !policy.blocks(a, newest))).chain(churns).chain(changes);
    let why = |(id, tolerated): (&String, bool)| {
        let suppressed = policy.suppression(id).map(|known| LeftAlone::Suppressed(known.reason.clone()));
        let why = suppressed.or(tolerated.then_some(LeftAlone::Tolerated))?;
        Some((id.clone(), why))
    };
    free.filter_map(why).collect()
}

/// Writes `report` to the command's output.
pub fn write_report(
    report: &Report,
    manner: &Manner,
    format: Format,
    context: &mut Context,
) -> Result<(), CliError> {
    match format {
        Format::Json => json::render(report, &mut context.output)?,
        Format::Yaml => yaml::render(report, &mut context.output)?,
        Format::Porcelain => porcelain::render(report, context.globals.nul, &mut context.output)?,
        Format::Sarif | Format::Gitlab | Format::Github => {
            let found = findings(report, &manner.left_alone, !manner.properties);
            let out = &mut context.output;
            match format {
                Format::Sarif => {
                    let category = if manner.properties { "check" } else { "diff" };
                    sarif::render(report, &found, category, out)?;
                }
                Format::Gitlab => gitlab::render(&found, out)?,
                _ => {
                    github::render(&found, out)?;
                    append_summary(&github::summary(report, &found))?;
                }
            }
            // Neither has room for what is no finding.
            if format != Format::Sarif {
                unseen::pieces(report).iter().for_each(|p| context.say(&format!("not looked at: {p}")));
            }
        }
        // A page needs the sources: `super::html` writes it.
        Format::Html
        | Format::Text
        | Format::Dot
        | Format::Svg
        | Format::Automaton
        | Format::ResidualC
        | Format::Daikon => {
            let mut options = TextOptions {
                palette: context.output.palette().clone(),
                width: context.output.width(),
                verbose: context.globals.verbose > 0,
                rooms: context.globals.verbose > 1,
                filtered: manner.filtered,
                short_ids: short_ids(report, context),
                ..TextOptions::default()
            };
            if manner.all || manner.filtered {
                options.held_limit = usize::MAX;
            }
            options.left_alone.clone_from(&manner.left_alone);
            match manner.properties {
                true => text::render_check(report, &options, &mut context.output)?,
                false => text::render(report, &options, &mut context.output)?,
            }
        }
    }
    Ok(())
}

/// Appends to the summary of the step, where GitHub Actions names a file for it.
fn append_summary(text: &str) -> Result<(), CliError> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|p| !p.is_empty()) else { return Ok(()) };
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        CliError::fatal("cannot write the file that GITHUB_STEP_SUMMARY names").caused_by(&error)
    })
}

/// Abbreviates the commits' ids as `core.abbrev` says, which only git itself knows how to.
fn short_ids(report: &Report, context: &Context) -> BTreeMap<String, String> {
    let ids: Vec<&String> = report.versions.iter().filter_map(|v| v.commit.as_ref()).collect();
    short_ids_of(&ids, context)
}

/// As [`short_ids`], of some commits. Cost: one process.
pub fn short_ids_of(ids: &[&String], context: &Context) -> BTreeMap<String, String> {
    if ids.is_empty() {
        return BTreeMap::new();
    }
    let output = context
        .git()
        .args([
            "log",
            "--no-walk=unsorted",
            "--no-show-signature",
            "--no-color",
            "--format=%H %h",
            "--end-of-options",
        ])
        .args(ids)
        .arg("--")
        .output();
    let Ok(output) = output else { return BTreeMap::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(id, short)| (id.into(), short.into()))
        .collect()
}
