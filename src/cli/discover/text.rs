//! Discovered invariants as text for people.

use crate::analysis::discover::Found;
use crate::cli::CliError;
use crate::discovery::{Discovered, Iteration, Point, Status};
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

/// Writes all functions.
pub(super) fn write(
    found: &[Found],
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
        match &f.discovered {
            Ok(d) => function(d, shown, out)?,
            // One alone is the command's error.
            Err(why) if found.len() > 1 => writeln!(out, "  not looked at: {}", visible(&why.to_string()))?,
            Err(_) => {}
        }
    }
    Ok(())
}

fn function(d: &Discovered, shown: &Shown, out: &mut impl Write) -> Result<(), CliError> {
    turns(&d.iterations, out)?;
    for point in [Point::Entry, Point::Exit] {
        let of_point = || d.invariants.iter().filter(|i| i.point == point);
        if of_point().next().is_none() {
            continue;
        }
        writeln!(out, "  at {}", point.name())?;
        for i in of_point().filter(|i| shown.all || !i.is_implied) {
            let status = match i.status {
                Status::Proved => "proved".to_owned(),
                Status::Bounded => "bounded".to_owned(),
                Status::Likely => format!("likely({})", i.samples),
            };
            writeln!(out, "    {:width$}  {status}", visible(&i.text), width = STATUS)?;
        }
        let implied = of_point().filter(|i| i.is_implied).count();
        if implied > 0 && !shown.all {
            writeln!(out, "    … and {implied} that these say, too (--all)")?;
        }
    }
    if shown.refuted && !d.refuted.is_empty() {
        writeln!(out, "  refuted")?;
        for r in &d.refuted {
            let text = format!("{} at {}", visible(&r.text), r.point.name());
            let input = if r.input.is_empty() { "any input".to_owned() } else { visible(&r.input) };
            writeln!(out, "    {text:STATUS$}  by {input}  (turn {})", r.iteration)?;
        }
    }
    if d.invariants.is_empty() {
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
