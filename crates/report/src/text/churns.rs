//! The churns of a report, commit by commit.

use super::{View, hunk_text, point_text, ranges, status_text, widest, witness};
use crate::RepoPath;
use crate::escape::{shortened, source_line, visible};
use crate::model::{Causes, Churn, Claim, Fact, FunctionReport, HunkRef, IdentityKind, LineRef, Version};
use crate::palette::Slot;
use crate::steps::{Changed, by_cause, steps};
use crate::unmarked;
use crate::witness::Witness;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Columns that a fact may take before it pushes its status to the right.
const FACT_WIDTH: usize = 64;
/// Column of what follows `because of`, `kept by`, `for example`.
const DETAIL: usize = 18;
/// Source lines of each side shown as causes, unless `-v`.
const CAUSES_SHOWN: usize = 4;
/// Lines that an example's input takes, unless `-v`.
const INPUT_LINES: usize = 3;
/// Hunks named beside a function, unless `-v`.
const HUNKS_SHOWN: usize = 3;

/// Functions of one file that came or went that are named.
const COMINGS_SHOWN: usize = 5;

/// Writes each step from version to version that has churns, or functions that came or went.
pub(super) fn write(view: &View, out: &mut dyn Write) -> io::Result<()> {
    for mut step in steps(view.report, !view.options.verbose) {
        write_heading(view, step.from, step.to, out)?;
        if !view.options.verbose {
            super::alike::write(view, &super::alike::taken(&mut step.changed), out)?;
        }
        let twins = match view.options.verbose {
            true => Vec::new(),
            false => super::alike::twins(&mut step.changed),
        };
        let mut twins = twins.iter();
        let status_at = status_column(&step.changed);
        for changed in &step.changed {
            write_function(view, changed, status_at, out)?;
            super::alike::write_twins(view, twins.next().map(Vec::as_slice).unwrap_or_default(), out)?;
            write_affected(view, changed.function, (step.from, step.to), out)?;
            if !changed.seen_by.is_empty() {
                let names: Vec<String> =
                    changed.seen_by.iter().map(|n| format!("{}()", visible(n))).collect();
                write_callers(view, &names, out)?;
            }
        }
        super::changes::write_objects(view, &step.objects, out)?;
        super::changes::write_compiled(view, &step.compiled, out)?;
        for comings in &step.comings {
            let all: Vec<String> = comings.functions.iter().map(visible).collect();
            let most = if view.options.verbose || all.len() <= COMINGS_SHOWN + 1 {
                all.len()
            } else {
                COMINGS_SHOWN
            };
            let more = match all.len() - most {
                0 => String::new(),
                n => format!(" and {n} more; -v lists them"),
            };
            let between = if comings.word == "renamed" { ", " } else { " " };
            writeln!(out, "  {}  {}: {}{more}", comings.file, comings.word, all[..most].join(between))?;
        }
    }
    Ok(())
}

pub(super) fn write_heading(view: &View, from: Version, to: Version, out: &mut dyn Write) -> io::Result<()> {
    let mut line = view.line();
    let Some(version) = view.version(to) else { return Ok(()) };
    let word = if version.commit.is_some() { "commit " } else { "" };
    line.paint(Slot::Commit, &format!("{word}{}", view.short_name(version)));
    if !version.summary.is_empty() {
        line.plain(" ").plain(&visible(&version.summary));
    }
    if let Some(who) = version.commit.as_ref().and_then(|id| view.options.signatures.get(id)) {
        line.paint(Slot::Status, &format!("  ({})", visible(who)));
    }
    // Between neighbours it is clear what the commit is compared with.
    if let Some(base) = view.version(from).filter(|_| from + 1 != to) {
        line.plain(", against ").paint(Slot::Commit, &view.short_name(base));
    }
    writeln!(out)?;
    line.write(out)
}

fn status_column(changed: &[Changed]) -> usize {
    let of = |c: &Churn| -> Vec<String> {
        c.removed.iter().chain(&c.added).map(|f| visible(&*unmarked::beside(f, c))).collect()
    };
    let texts: Vec<String> = changed.iter().flat_map(Changed::churns).flat_map(of).collect();
    6 + widest(&texts, FACT_WIDTH).max(24) + 3
}

fn write_function(view: &View, changed: &Changed, status_at: usize, out: &mut dyn Write) -> io::Result<()> {
    let function = changed.function;
    let mut line = view.line();
    line.plain("  ").paint(Slot::File, &function.file.to_string());
    line.plain(&format!("  {}()", visible(&function.name)));
    if let Some(from) = &function.identity.from {
        line.plain(&format!("  {} {}", identity_word(function.identity.kind), visible(from)));
    }
    let of_changes = changed.changes.iter().flat_map(|c| &c.hunks);
    let mut hunks: Vec<&HunkRef> = changed.churns().flat_map(|c| &c.hunks).chain(of_changes).collect();
    hunks.sort();
    hunks.dedup();
    let shown = if view.options.verbose { hunks.len() } else { HUNKS_SHOWN };
    line.pad_to(status_at.max(line.column() + 2));
    for hunk in hunks.iter().take(shown) {
        if hunk.file != function.file {
            line.plain(&format!("{} ", hunk.file));
        }
        line.paint(Slot::Hunk, &hunk_text(hunk)).plain(" ");
    }
    if hunks.len() > shown {
        line.paint(Slot::Hunk, &format!("… {} more", hunks.len() - shown));
    }
    line.write(out)?;
    super::changes::write(view, &changed.function.file, &changed.changes, out)?;
    // An example that stands there already is not repeated.
    let mut shown: BTreeSet<(String, Vec<String>)> = BTreeSet::new();
    for (point, churns) in &changed.points {
        let version = churns.first().map(|c| c.to);
        // Where the change itself is told, that something differs at the exit is only shown by its example, and that a
        // pointer may be null in one line: what is new is what is done with it.
        let is_told = !changed.changes.is_empty() && !view.options.verbose;
        let is_undescribed = |c: &&Churn| c.removed.is_empty() && c.added.is_empty();
        let (undescribed, described): (Vec<_>, Vec<_>) = by_cause(churns)
            .into_iter()
            .partition(|g| is_told && g.iter().all(|c| is_undescribed(c) || follows_nothing_now(c)));
        for same_cause in &undescribed {
            let (differs, leads_nowhere): (Vec<&Churn>, Vec<&Churn>) =
                same_cause.iter().copied().partition(is_undescribed);
            for fact in leads_nowhere.iter().flat_map(|c| &c.added) {
                let mut line = view.line();
                line.plain("    also    ").plain(&visible(&fact.text));
                line.paint(Slot::Status, "; -v shows when").write(out)?;
            }
            write_examples(view, function, &differs, status_at, &mut shown, out)?;
        }
        if !described.is_empty() {
            writeln!(out, "    {}", point_text(point, version))?;
        }
        for same_cause in &described {
            write_churns(view, function, same_cause, status_at, &mut shown, out)?;
        }
    }
    Ok(())
}

/// Whether a churn says that the newer version follows a pointer that is null on its example, or a member's address
/// behind one.
fn follows_nothing_now(churn: &Churn) -> bool {
    let undefined = churn.witness.as_ref().and_then(|w| w.new.undefined.as_ref());
    churn.claim == Claim::DiffersUnderUb
        && churn.removed.is_empty()
        && undefined.is_some_and(|event| matches!(&*event.kind, "null" | "bad-pointer"))
}

/// How many inputs a step affects.
fn write_affected(
    view: &View,
    function: &FunctionReport,
    step: (Version, Version),
    out: &mut dyn Write,
) -> io::Result<()> {
    for affected in function.affects.iter().filter(|a| (a.from, a.to) == step) {
        let when = affected.when.as_ref().map_or(String::new(), |when| format!(", when {when}"));
        let mut line = view.line();
        line.plain("      ").paint(Slot::Status, &visible(format!("{}{when}", affected.text)));
        line.write(out)?;
    }
    Ok(())
}

/// The callers that see a function's change, in one line.
fn write_callers(view: &View, names: &[String], out: &mut dyn Write) -> io::Result<()> {
    let mut line = view.line();
    line.plain("      seen by").pad_to(DETAIL);
    let mut shown = 0;
    for name in names {
        let comma = if shown == 0 { "" } else { ", " };
        if shown > 0 && line.column() + comma.len() + name.chars().count() + 12 > view.options.width {
            break;
        }
        line.plain(comma).plain(name);
        shown += 1;
    }
    if shown < names.len() {
        line.plain(&format!(" and {} more", names.len() - shown));
    }
    line.write(out)
}

pub(crate) fn identity_word(kind: IdentityKind) -> &'static str {
    match kind {
        IdentityKind::Same => "was",
        IdentityKind::Renamed => "renamed from",
        IdentityKind::Moved => "moved from",
        IdentityKind::Split => "split from",
        IdentityKind::Merged => "merged from",
    }
}

fn write_churns(
    view: &View,
    function: &FunctionReport,
    churns: &[&Churn],
    status_at: usize,
    shown: &mut BTreeSet<(String, Vec<String>)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for churn in churns {
        for fact in &churn.removed {
            write_fact(view, '-', (fact, churn), status_at, out)?;
        }
        for fact in &churn.added {
            write_fact(view, '+', (fact, churn), status_at, out)?;
        }
        if churn.removed.is_empty() && churn.added.is_empty() {
            writeln!(out, "    ~ {}", undescribed(churn))?;
        }
        if view.options.verbose && !churn.id.is_empty() {
            let id = format!("id {}", visible(&churn.id));
            writeln!(out, "      {}", view.options.palette.paint(Slot::Status, id))?;
        }
        // Where one of them has an example, that is what is seen of all.
        let is_seen = churns.iter().any(|c| c.witness.is_some());
        if let Some(remark) = remark(churn).filter(|_| !is_seen) {
            writeln!(out, "      {}", view.options.palette.paint(Slot::Status, remark))?;
        }
    }
    if let Some(first) = churns.first() {
        let mut causes = first.causes.clone();
        causes.shared = churns.iter().flat_map(|c| c.causes.shared.iter().cloned()).collect();
        causes.shared.sort();
        causes.shared.dedup();
        write_causes(view, &function.file, &causes, out)?;
    }
    write_examples(view, function, churns, status_at, shown, out)
}

/// Writes inputs that show churns, and what each version does on them, but for those that stand there already.
fn write_examples(
    view: &View,
    function: &FunctionReport,
    churns: &[&Churn],
    status_at: usize,
    shown: &mut BTreeSet<(String, Vec<String>)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    // One input may be the example of several churns.
    let mut examples: Vec<(String, Vec<String>, &Witness)> = Vec::new();
    let room = view.options.width.saturating_sub(DETAIL).max(40);
    for (churn, witness) in churns.iter().filter_map(|c| Some((c, c.witness.as_ref()?))) {
        let input = witness::input_text(witness, &function.name);
        let effect = witness::effect_text(witness, &churn.subject, churns.len() > 1, room);
        match examples.iter_mut().find(|(i, ..)| *i == input) {
            Some((_, effects, _)) if effects.contains(&effect) => {}
            Some((_, effects, _)) => effects.push(effect),
            None => examples.push((input, vec![effect], witness)),
        }
    }
    for (input, effects, witness) in &mut examples {
        if effects.len() > 1 {
            effects.retain(|e| e != witness::UNNAMED);
        }
        if !shown.insert((input.clone(), effects.clone())) {
            continue;
        }
        write_example(view, input, effects, witness, status_at, out)?;
    }
    Ok(())
}

/// Says what a churn is about that no short fact describes; the example says how.
pub(crate) fn undescribed(churn: &Churn) -> String {
    match churn.subject.as_str() {
        "output" => "what it prints differs".into(),
        "end" => "how it ends differs".into(),
        "memory" => "what it leaves in memory differs".into(),
        "" => "behaviour differs".into(),
        name => format!("{} differs", visible(name)),
    }
}

/// What the claim says beyond the facts and the example.
pub(crate) fn remark(churn: &Churn) -> Option<&'static str> {
    match churn.claim {
        Claim::NoLongerProvable if !churn.added.is_empty() => {
            Some("no input was found that shows a difference")
        }
        Claim::NoLongerProvable => Some("no longer provable; not refuted either"),
        // The facts name the event.
        Claim::DiffersUnderUb | Claim::NoLongerHolds | Claim::NowHolds | Claim::Changed => None,
    }
}

fn write_fact(
    view: &View,
    sign: char,
    (fact, churn): (&Fact, &Churn),
    status_at: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let slot = if sign == '-' { Slot::Removed } else { Slot::Added };
    let mut line = view.line();
    line.plain("    ").paint(slot, &format!("{sign} {}", visible(&*unmarked::beside(fact, churn))));
    line.pad_to(status_at.max(line.column() + 2)).paint(Slot::Status, &status_text(fact));
    if let Some(held) = churn.held().filter(|_| sign == '-') {
        line.paint(Slot::Status, &format!(", {held}"));
    }
    line.write(out)?;
    if view.options.verbose && !fact.assumptions.is_empty() {
        let names: Vec<String> = fact.assumptions.iter().map(visible).collect();
        let mut line = view.line();
        line.plain("      ").paint(Slot::Status, &format!("assuming {}", names.join(", "))).write(out)?;
    }
    Ok(())
}

fn write_causes(view: &View, file: &RepoPath, causes: &Causes, out: &mut dyn Write) -> io::Result<()> {
    let sides = [('-', Slot::Removed, &causes.removed), ('+', Slot::Added, &causes.added)];
    let limit = if view.options.verbose { usize::MAX } else { CAUSES_SHOWN };
    let digits = sides
        .iter()
        .flat_map(|(_, _, lines)| lines.iter().take(limit))
        .map(|line| place(file, line).chars().count())
        .max()
        .unwrap_or(0);
    let mut label = Some("because of");
    for (sign, slot, lines) in sides {
        let others = if sign == '-' { &causes.added } else { &causes.removed };
        for (row, cause) in lines.iter().enumerate().take(limit) {
            let mut line = view.line();
            line.plain("      ").plain(label.take().unwrap_or_default()).pad_to(DETAIL);
            let source = source_of(cause);
            let room = view.options.width.saturating_sub(DETAIL + digits + 3).max(20);
            let source = around_difference(&source, others.get(row).map(source_of).as_deref(), room);
            let text = format!("{sign}{:<digits$}  {source}", place(file, cause));
            line.paint(slot, text.trim_end()).write(out)?;
        }
        if lines.len() > limit {
            let mut line = view.line();
            line.pad_to(DETAIL).paint(slot, &format!("{sign}… {} more lines", lines.len() - limit));
            line.write(out)?;
        }
    }
    if !causes.shared.is_empty() {
        // Where no line of the function changed, it is what its lines mean that did.
        let label = label.map_or("      kept by", |_| "      because of");
        let mut line = view.line();
        let room = if view.options.verbose { usize::MAX } else { view.options.width.saturating_sub(DETAIL) };
        let lines = shortened(&kept_by(file, &causes.shared), room.max(20));
        let lines = if label.ends_with("of") { format!("what it uses in {lines}") } else { lines };
        line.plain(label).pad_to(DETAIL).plain(&lines).write(out)?;
    }
    Ok(())
}

fn source_of(line: &LineRef) -> String {
    source_line(line.text.as_deref().unwrap_or_default())
}

/// Shortens a line to `room` characters. What a long line begins with in common with the line that it
/// replaces, or that replaces it, goes first.
fn around_difference(line: &str, other: Option<&str>, room: usize) -> String {
    /// Characters of the common beginning that stay.
    const CONTEXT: usize = 12;
    let common = other.map_or(0, |other| line.chars().zip(other.chars()).take_while(|(a, b)| a == b).count());
    let length = line.chars().count();
    if length <= room || common <= CONTEXT {
        return shortened(line, room);
    }
    let skipped = (common - CONTEXT).min(length + 1 - room);
    let rest: String = line.chars().skip(skipped).collect();
    shortened(&format!("…{rest}"), room)
}

fn place(function_file: &RepoPath, line: &LineRef) -> String {
    if line.file == *function_file { line.line.to_string() } else { format!("{}:{}", line.file, line.line) }
}

/// `9 10 12-15 area.h:3`.
fn kept_by(function_file: &RepoPath, lines: &[LineRef]) -> String {
    let mut files: BTreeMap<&RepoPath, Vec<u32>> = BTreeMap::new();
    for line in lines {
        files.entry(&line.file).or_default().push(line.line);
    }
    let own = files.remove(function_file).map(ranges);
    let others = files.into_iter().map(|(file, lines)| format!("{file}:{}", ranges(lines).replace(' ', ",")));
    own.into_iter().chain(others).collect::<Vec<_>>().join(" ")
}

/// Breaks a list at its commas into lines of at most `room` characters; the last of at most `most`
/// lines is cut.
fn wrapped(text: &str, room: usize, most: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut row = String::new();
    for part in text.split_inclusive(", ") {
        if !row.is_empty()
            && row.chars().count() + part.trim_end().chars().count() > room
            && rows.len() + 1 < most
        {
            rows.push(std::mem::take(&mut row));
        }
        row.push_str(part);
    }
    rows.push(row);
    rows.iter().map(|row| shortened(row.trim_end(), room)).collect()
}

/// The example in one line if it fits, else what goes in above what comes out.
fn write_example(
    view: &View,
    input: &str,
    effects: &[String],
    witness: &Witness,
    status_at: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let effect = effects.join(", ");
    let most = if view.options.verbose { usize::MAX } else { INPUT_LINES };
    let mut rows = wrapped(input, view.options.width.saturating_sub(DETAIL).max(40), most);
    let last = rows.pop().unwrap_or_default();
    let mut line = view.line();
    line.plain("      for example").pad_to(DETAIL);
    for row in rows {
        line.plain(&row).write(out)?;
        line = view.line();
        line.pad_to(DETAIL);
    }
    line.plain(&last);
    let fits = line.column() + 4 + effect.chars().count() <= status_at.max(view.options.width - 10);
    if fits && !input.is_empty() {
        line.plain("    ");
    } else if !input.is_empty() {
        line.write(out)?;
        line = view.line();
        line.pad_to(DETAIL);
    }
    line.plain(&effect);
    line.pad_to(status_at.max(line.column() + 2)).paint(Slot::Status, "replayed").write(out)?;
    if view.options.verbose && !witness.relies_on.is_empty() {
        let names: Vec<String> = witness.relies_on.iter().map(visible).collect();
        let mut line = view.line();
        line.pad_to(DETAIL).paint(Slot::Status, &format!("relies on {}", names.join(", "))).write(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{around_difference, wrapped};

    #[test]
    fn long_inputs_are_wrapped() {
        assert_eq!(wrapped("a = 1, b = 2", 80, 3), ["a = 1, b = 2"]);
        assert_eq!(wrapped("a = 1, b = 2, c = 3", 13, 3), ["a = 1, b = 2,", "c = 3"]);
        assert_eq!(wrapped("a = 1, b = 2, c = 3", 6, 2), ["a = 1,", "b = 2…"]);
        assert_eq!(wrapped("", 5, 2), [""]);
    }

    #[test]
    fn long_lines_show_where_they_differ() {
        let old = "if (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa && b < c)";
        let new = "if (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa && b <= c)";
        assert_eq!(around_difference(old, Some(new), 50), old);
        assert_eq!(around_difference(old, Some(new), 20), "…aaaaaaaaa && b < c)");
        assert_eq!(around_difference(new, Some(old), 20), "…aaaaaaaa && b <= c)");
        assert_eq!(around_difference(old, None, 10), "if (aaaaa…");
        assert_eq!(around_difference(old, Some("return 0;"), 10), "if (aaaaa…");
    }
}
