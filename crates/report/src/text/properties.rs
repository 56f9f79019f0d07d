//! Broken promises: assertions and pinned facts that no longer hold, each with the input that shows it.

use super::View;
use super::check::overtaken;
use super::witness::input_text;
use crate::assertion::{Assertion, AssertionOutcome};
use crate::escape::{shortened, visible};
use crate::model::Report;
use crate::palette::Slot;
use std::io::{self, Write};

fn broken(report: &Report) -> impl Iterator<Item = &Assertion> {
    let newest = report.versions.last().map_or(0, |v| v.index);
    report.assertions.iter().filter(move |a| a.is_lost(newest))
}

pub(super) fn has_any(report: &Report) -> bool {
    broken(report).next().is_some()
}

pub(super) fn write(view: &View, out: &mut dyn Write) -> io::Result<()> {
    if !has_any(view.report) {
        return Ok(());
    }
    writeln!(out, "\n{}", view.options.palette.paint(Slot::Heading, "no longer kept"))?;
    let mut all: Vec<&Assertion> = broken(view.report).collect();
    crate::longest_kept_first(&mut all);
    for a in all {
        let kind = a.kind.words();
        let failing = a.outcome.iter().rev().find(|(_, o)| **o == AssertionOutcome::Fail).map(|(v, _)| *v);
        let mut line = view.line();
        line.plain("  ").paint(Slot::File, &a.file.to_string());
        line.plain(&format!("  {}()  {kind}  ", visible(&a.function)));
        line.paint(Slot::Removed, &visible(&a.text));
        if let Some(at) = failing.and_then(|v| a.lines.get(&v)).or(a.lines.values().next_back()) {
            line.plain(&format!("  line {at}"));
        }
        if a.guarded.is_some() && a.counterexample.is_none() {
            line.paint(Slot::Status, &format!("  {}", overtaken(a)));
        }
        if let Some(held) = a.held() {
            line.paint(Slot::Status, &format!("  {held}"));
        }
        line.write(out)?;
        let Some(witness) = a.counterexample.as_ref().or(a.guarded.as_ref()) else { continue };
        let room = view.options.width.saturating_sub(16).max(40);
        let mut line = view.line();
        line.plain("      for example ").plain(&shortened(&input_text(witness, &a.function), room));
        line.pad_to(view.options.width.saturating_sub(10)).paint(Slot::Status, "  replayed").write(out)?;
    }
    Ok(())
}
