//! Writes a report in the format that was asked for.

use super::{CliError, Context, Format};
use crate::report::text::TextOptions;
use crate::report::{Report, json, porcelain, text, yaml};
use std::collections::BTreeMap;

/// Formats of a report, the default first.
pub const FORMATS: [Format; 4] = [Format::Text, Format::Json, Format::Yaml, Format::Porcelain];

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
    pub left_alone: BTreeMap<String, String>,
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
        Format::Text | Format::Dot | Format::Svg | Format::Automaton | Format::ResidualC => {
            let mut options = TextOptions {
                palette: context.output.palette().clone(),
                width: context.output.width(),
                verbose: context.globals.verbose > 0,
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
