//! Discovered invariants as text for people.

use crate::analysis::VersionInput;
use crate::analysis::discover::{Found, Refused};
use crate::cli::CliError;
use crate::discovery::{Discovered, HeadPlace, Iteration, Point, Status, Told, place};
use crate::mvicfg::VersionId;
use crate::report::RepoPath;
use crate::report::escape::visible;
use std::io::Write;

/// What is shown.
pub(super) struct Shown {
    /// Also what others say, too.
    pub all: bool,
    /// Also what was refuted, each with an input that did.
    pub refuted: bool,
}

/// Column of what is known of an invariant.
const STATUS: usize = 52;
/// Invariants of all versions that are shown.
const MOST_HELD: usize = 12;
/// What the engine proves beside them that is shown at a point.
const MOST_TOLD: usize = 8;

/// Writes all functions.
pub(super) fn write(
    found: &[Found],
    versions: &[VersionInput],
    harness: Option<&str>,
    shown: &Shown,
    out: &mut impl Write,
) -> Result<(), CliError> {
    for (i, f) in found.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        let with = harness.map_or(String::new(), |h| format!("   after  {}", visible(h)));
        writeln!(out, "{}:{}(){with}", RepoPath::from(&f.file), visible(f.name.as_bytes()))?;
        match f.versions.as_slice() {
            [Some(Ok(d))] => function(d, shown, out)?,
            [Some(Err(why))] if found.len() > 1 => not_looked_at(why, out)?,
            // One alone is the command's error.
            [_] | [] => {}
            _ => story(f, versions, shown, out)?,
        }
    }
    Ok(())
}

fn not_looked_at(why: &Refused, out: &mut impl Write) -> Result<(), CliError> {
    writeln!(out, "  not looked at: {}", visible(why.to_string()))?;
    Ok(())
}

/// What became of a function's invariants.
fn story(f: &Found, versions: &[VersionInput], shown: &Shown, out: &mut impl Write) -> Result<(), CliError> {
    for (v, d) in VersionId::each(&f.versions) {
        let name = versions.get(v.index()).map_or(String::new(), |v| visible(v.info.name.as_bytes()));
        write!(out, "  version {}  {name:12}", v.number())?;
        match d {
            None => writeln!(out, "  it is not there")?,
            Some(Err(why)) => not_looked_at(why, out)?,
            Some(Ok(d)) => {
                let turns = if d.iterations.len() == 1 { "turn" } else { "turns" };
                let (runs, count) = (d.runs, d.invariants.len());
                writeln!(out, "  {count} invariants, {runs} runs, {} {turns}", d.iterations.len())?;
                for why in &d.cut {
                    writeln!(out, "    not every path was followed: {why}")?;
                }
            }
        }
        let here = || f.story.changes.iter().filter(|c| c.to == v);
        for c in here() {
            let sign = if c.is_lost { '-' } else { '+' };
            let text = format!("{} at {}", visible(&c.text), place(c.point, heads(f, v)));
            let by = if c.is_lost { "broken by" } else { "before broken by" };
            let input = if c.input.is_empty() { "any input".to_owned() } else { visible(&c.input) };
            writeln!(out, "    {sign} {text:STATUS$}  {}  {by} {input}", status(c.status, c.samples))?;
        }
    }
    let held = || f.story.held.iter();
    let newest = VersionId::each(&f.versions).rev().find(|(_, d)| matches!(d, Some(Ok(_))));
    let newest = newest.map_or(VersionId::OLD, |(v, _)| v);
    if held().next().is_some() {
        writeln!(out, "  held by all versions")?;
    }
    let most = if shown.all { usize::MAX } else { MOST_HELD };
    for h in held().take(most) {
        let text = format!("{} at {}", visible(&h.text), place(h.point, heads(f, newest)));
        writeln!(out, "    {text:width$}  {}", status(h.status, h.samples), width = STATUS + 2)?;
    }
    let more = held().count().saturating_sub(most);
    if more > 0 {
        writeln!(out, "    … and {more} more (--all)")?;
    }
    Ok(())
}

/// The loops of a version.
fn heads(f: &Found, version: VersionId) -> &[HeadPlace] {
    match &f.versions[version] {
        Some(Ok(d)) => &d.heads,
        _ => &[],
    }
}

fn status(status: Status, samples: usize) -> String {
    match status {
        Status::Proved => "proved".to_owned(),
        Status::Bounded => "bounded".to_owned(),
        Status::Likely => format!("likely({samples})"),
    }
}

fn function(d: &Discovered, shown: &Shown, out: &mut impl Write) -> Result<(), CliError> {
    turns(&d.iterations, out)?;
    let of_heads = (0..d.heads.len()).map(Point::Head);
    for point in [Point::Entry].into_iter().chain(of_heads).chain([Point::Exit]) {
        let of_point = || d.invariants.iter().filter(|i| i.point == point);
        let told: Vec<&Told> = d.told.iter().filter(|t| t.point == point).collect();
        if of_point().next().is_none() && told.is_empty() {
            continue;
        }
        writeln!(out, "  at {}", place(point, &d.heads))?;
        for i in of_point().filter(|i| shown.all || !i.is_implied) {
            let known = status(i.status, i.samples);
            writeln!(out, "    {:width$}  {known}", visible(&i.text), width = STATUS)?;
        }
        beside(&told, shown, out)?;
        let implied = of_point().filter(|i| i.is_implied).count();
        if implied > 0 && !shown.all {
            writeln!(out, "    … and {implied} that these say, too (--all)")?;
        }
    }
    if shown.refuted && !d.refuted.is_empty() {
        writeln!(out, "  refuted")?;
        for r in &d.refuted {
            let text = format!("{} at {}", visible(&r.text), place(r.point, &d.heads));
            let input = if r.input.is_empty() { "any input".to_owned() } else { visible(&r.input) };
            writeln!(out, "    {text:STATUS$}  by {input}  (turn {})", r.iteration)?;
        }
    }
    if d.invariants.is_empty() && d.told.is_empty() {
        writeln!(out, "  nothing holds of all runs")?;
    }
    for why in &d.cut {
        writeln!(out, "  not every path was followed: {why}")?;
    }
    if d.is_unfinished {
        writeln!(out, "  the candidates still changed when the turns allowed were over")?;
    }
    let refuted = match (d.refuted.len(), shown.refuted) {
        (0, _) | (_, true) => String::new(),
        (n, false) => format!(", {n} refuted (-v says by what)"),
    };
    writeln!(out, "  {} runs{refuted}", d.runs)?;
    Ok(())
}

/// What the engine proves, and no run suggested.
fn beside(told: &[&Told], shown: &Shown, out: &mut impl Write) -> Result<(), CliError> {
    let most = if shown.all { usize::MAX } else { MOST_TOLD };
    for t in told.iter().take(most) {
        let given = match t.assumptions.is_empty() {
            true => String::new(),
            false => format!(", if {}", visible(t.assumptions.join(", "))),
        };
        writeln!(out, "    {:width$}  proved{given}", visible(&t.text), width = STATUS)?;
    }
    let more = told.len().saturating_sub(most);
    if more > 0 {
        writeln!(out, "    … and {more} more that the engine proves (--all)")?;
    }
    Ok(())
}

fn turns(turns: &[Iteration], out: &mut impl Write) -> Result<(), CliError> {
    let heads = ["turn", "invariants", "refuted", "new", "tests", "queries", "kept answers", "states"];
    writeln!(out, "  {}", heads.join("  "))?;
    for t in turns {
        let numbers = [
            t.index as u64,
            t.invariants as u64,
            t.refuted as u64,
            t.added as u64,
            t.tests as u64,
            t.queries,
            t.reused,
            t.states,
        ];
        let cells = heads.iter().zip(numbers).map(|(head, n)| format!("{n:>width$}", width = head.len()));
        writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}
