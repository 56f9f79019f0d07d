//! What versions share: the version invariants, by the set of versions that they hold in, and facts of some of the
//! versions, by how these came to hold them.

use super::{Line, View, counted, point_text, ranges, status_text, widest};
use crate::escape::visible;
use crate::model::{Fact, FunctionReport, NotHeld, Point, Version};
use crate::palette::Slot;
use crate::subset::{self, Story};
use crate::unmarked;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Columns that a fact may take before it pushes its status to the right.
const FACT_WIDTH: usize = 72;

/// Facts shown of each set of versions where changes are told.
const HELD_BESIDE_CHANGES: usize = 3;

/// Sets of some of the versions that are told, the widest ones.
const SUBSETS: usize = 4;

struct Held<'a> {
    function: &'a FunctionReport,
    point: &'a Point,
    fact: &'a Fact,
}

/// Writes the sets of versions, those with the most versions first.
pub(super) fn write(view: &View, out: &mut dyn Write) -> io::Result<()> {
    let mut sets: BTreeMap<&[Version], Vec<Held>> = BTreeMap::new();
    for function in &view.report.functions {
        for point in &function.points {
            for fact in &point.version_invariants {
                sets.entry(&fact.versions).or_default().push(Held { function, point, fact });
            }
        }
    }
    let mut sets: Vec<_> = sets.into_iter().collect();
    sets.sort_by_key(|(versions, _)| std::cmp::Reverse(versions.len()));
    sets.iter().try_for_each(|(versions, facts)| write_set(view, versions, facts, out))?;
    let (subsets, folded) = subsets(view);
    subsets.iter().try_for_each(|(heading, facts)| write_list(view, heading, facts, out))?;
    let is_empty = sets.is_empty() && subsets.is_empty();
    let points = view.report.functions.iter().flat_map(|f| &f.points);
    let left_out = points.map(|p| p.left_out).sum::<usize>() + folded;
    if left_out > 0 && !is_empty {
        writeln!(out, "  … and {left_out} more with --all")?;
    }
    if_reached(view, is_empty, out)
}

/// Whether something is told of some of the versions.
pub(super) fn tells_subsets(view: &View) -> bool {
    !subsets(view).0.is_empty()
}

/// Facts of some versions with what is to be said of these, those of the most versions first; and how many are
/// left out, of which less is to be said.
fn subsets<'a>(view: &View<'a>) -> (Vec<(String, Vec<Held<'a>>)>, usize) {
    // Who asks for all facts, or for some by a filter, gets them.
    let every = view.options.held_limit == usize::MAX;
    let mut sets: BTreeMap<(std::cmp::Reverse<usize>, Vec<Version>, String), Vec<Held>> = BTreeMap::new();
    let mut folded = 0;
    for function in &view.report.functions {
        for point in &function.points {
            for fact in point.subset_invariants.iter().filter(|f| subset::is_listed(point, f)) {
                if !every && !subset::is_worth_telling(point, fact) {
                    folded += 1;
                    continue;
                }
                let order = std::cmp::Reverse(fact.versions.len());
                let key = (order, fact.versions.clone(), view.story_text(fact));
                sets.entry(key).or_default().push(Held { function, point, fact });
            }
        }
    }
    let most = if every { usize::MAX } else { SUBSETS };
    let mut sets: Vec<_> = sets.into_iter().map(|((.., heading), facts)| (heading, facts)).collect();
    let beyond = sets.drain(sets.len().min(most)..);
    let folded = folded + beyond.map(|(_, facts)| facts.len()).sum::<usize>();
    (sets, folded)
}

impl View<'_> {
    /// `held since version 2 (22cf117)`, `held by versions 1-3, lost in 4 (b3d64f8)`.
    pub(crate) fn story_text(&self, fact: &Fact) -> String {
        let at = |v: Version| match self.version(v) {
            Some(version) => format!("{v} ({})", self.short_name(version)),
            None => v.to_string(),
        };
        let held = held_by(&fact.versions);
        match Story::of(fact) {
            Story::Since(turn) => {
                let before = match turn.other {
                    NotHeld::Refuted => "",
                    NotHeld::Open => ", not known before",
                    NotHeld::NotReached => ", not reached before",
                    NotHeld::NoPoint => ", no such point before",
                };
                format!("held since version {}{before}", at(turn.at))
            }
            Story::Until(turn) | Story::Other(Some(turn)) if !turn.made => {
                let now = match turn.other {
                    NotHeld::Refuted => "lost",
                    NotHeld::Open => "not known",
                    NotHeld::NotReached => "not reached",
                    NotHeld::NoPoint => "no such point",
                };
                format!("{held}, {now} in {}", at(turn.at))
            }
            Story::Mended(lost, found)
                if (lost.other, found.other) == (NotHeld::Refuted, NotHeld::Refuted) =>
            {
                format!("broken in version {}, mended in {}", at(lost.at), at(found.at))
            }
            Story::Mended(lost, found) => {
                format!("{held}; not all is known from {} to {}", at(lost.at), at(found.at))
            }
            Story::Until(_) | Story::Other(_) => held,
        }
    }
}

/// `held by version 2`, `held by versions 1-3 5`.
fn held_by(versions: &[Version]) -> String {
    let several = if versions.len() == 1 { "" } else { "s" };
    format!("held by version{several} {}", ranges(versions.iter().copied()))
}

/// What would hold if its point were reached: listed with `-v` or `--all`, else counted. `alone`: nothing is
/// written before that it could go on from.
fn if_reached(view: &View, alone: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut sets: BTreeMap<Vec<Version>, Vec<Held>> = BTreeMap::new();
    for function in &view.report.functions {
        for point in &function.points {
            for fact in &point.if_reached {
                let unreached = fact.reached.iter().filter(|(_, reached)| !**reached).map(|(v, _)| *v);
                sets.entry(unreached.collect()).or_default().push(Held { function, point, fact });
            }
        }
    }
    let named = |unreached: &[Version]| match unreached {
        [one] => format!("version {one}"),
        several => format!("versions {}", ranges(several.iter().copied())),
    };
    if view.options.verbose {
        return sets.iter().try_for_each(|(unreached, facts)| {
            let heading =
                format!("if reached: no defined run of {} is known that comes there", named(unreached));
            write_list(view, &heading, facts, out)
        });
    }
    let which = match sets.keys().collect::<Vec<_>>().as_slice() {
        [] => return Ok(()),
        [one] => named(one),
        _ => "some version".to_owned(),
    };
    let n = sets.values().map(Vec::len).sum();
    if alone {
        let heading = view.options.palette.paint(Slot::Heading, "held if reached");
        let facts = counted(n, "fact");
        return writeln!(out, "\n{heading}\n  {facts} where no known run of {which} comes; -v lists them");
    }
    let hold = if n == 1 { "holds" } else { "hold" };
    writeln!(out, "  … and {n} that {hold} if reached, which no known run of {which} does; -v lists them")
}

fn write_set(view: &View, versions: &[Version], facts: &[Held], out: &mut dyn Write) -> io::Result<()> {
    let all = view.report.versions.len();
    let heading = match versions.len() {
        n if n == all && n == 2 => "held by both versions".to_owned(),
        n if n == all => format!("held by all {n} versions"),
        _ => held_by(versions),
    };
    write_list(view, &heading, facts, out)
}

fn write_list(view: &View, heading: &str, facts: &[Held], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", view.options.palette.paint(Slot::Heading, heading))?;
    // Beside what changed only a few of the facts that stayed are of interest.
    let limit = match super::told_changes(view.report).0 {
        0 => view.options.held_limit,
        _ => view.options.held_limit.min(HELD_BESIDE_CHANGES),
    };
    let limit = if view.options.held_limit == usize::MAX { usize::MAX } else { limit };
    let shown = if view.options.verbose { facts.len() } else { limit };
    let shown = facts.get(..shown).unwrap_or(facts);
    let files: Vec<String> = shown.iter().map(|h| h.function.file.to_string()).collect();
    let names: Vec<String> = shown.iter().map(|h| format!("{}()", visible(&h.function.name))).collect();
    let points: Vec<String> = shown.iter().map(|h| point_text(h.point, None)).collect();
    let texts: Vec<String> = shown.iter().map(|h| visible(&*unmarked::alone(h.fact))).collect();
    let name_at = 2 + widest(&files, 40) + 2;
    let point_at = name_at + widest(&names, 40) + 2;
    let text_at = point_at + widest(&points, 40) + 2;
    let status_at = text_at + widest(&texts, FACT_WIDTH) + 3;
    for (row, held) in shown.iter().enumerate() {
        let cell = |column: &[String]| column.get(row).cloned().unwrap_or_default();
        let mut line = view.line();
        line.plain("  ").paint(Slot::File, &cell(&files));
        for (column, at) in [(&names, name_at), (&points, point_at), (&texts, text_at)] {
            next_column(&mut line, at).plain(&cell(column));
        }
        next_column(&mut line, status_at).paint(Slot::Status, &status_text(held.fact)).write(out)?;
        if view.options.verbose && !held.fact.assumptions.is_empty() {
            let names: Vec<String> = held.fact.assumptions.iter().map(visible).collect();
            let mut line = view.line();
            line.pad_to(text_at).paint(Slot::Status, &format!("assuming {}", names.join(", ")));
            line.write(out)?;
        }
    }
    if facts.len() > shown.len() {
        writeln!(out, "  … and {} more; -v lists them", facts.len() - shown.len())?;
    }
    Ok(())
}

fn next_column<'l, 'p>(line: &'l mut Line<'p>, at: usize) -> &'l mut Line<'p> {
    let at = at.max(line.column() + 2);
    line.pad_to(at)
}
