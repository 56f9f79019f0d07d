//! What changes where the text does: `when`, `before`, `now`, `else`.

use super::View;
use crate::ObjectReport;
use crate::change::NO_CALLER;
use crate::escape::{shortened, visible};
use crate::model::{Change, Compiled, Delta, Effect, HunkRef, HunkReport, Otherwise, When};
use crate::object::ObjectOutcome;
use crate::palette::Slot;
use crate::path::RepoPath;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Column of what follows `when`, `before`, `now`, `else`.
const DETAIL: usize = 12;
/// Effects of one side that are shown.
const EFFECTS_SHOWN: usize = 6;
/// Deltas of one region that are shown however long they are, unless `-v`.
const DELTAS_SHOWN: usize = 3;
/// The same where all of them are short, and how short.
const SHORT_DELTAS_SHOWN: usize = 6;
const SHORT: usize = 480;
/// Regions of one function that are shown, unless `-v`: who reads more of one function reads its source.
const REGIONS_SHOWN: usize = 24;
/// Regions and deltas of a function of a test: each of its checks is a way to its end, of which nobody wants to read.
const OF_TESTS: (usize, usize) = (4, 2);
/// Column of the hunks of an object.
const OBJECT_HUNKS: usize = 33;
/// Hunks named beside an object, unless `-v`.
const HUNKS_SHOWN: usize = 3;
/// Places of which one hunk says whether they are compiled, unless `-v`.
const PLACES_SHOWN: usize = 4;
/// Objects that came or went with one file that are named, unless `-v`.
const NAMES_SHOWN: usize = 5;

/// Objects that came or went alike from which on they have one line, unless `-v`.
const ALIKE: usize = 3;

/// Macros of a configuration that are named, unless `-v`.
const MACROS_SHOWN: usize = 3;

/// What is said for a row that would repeat the one of the region before.
const SAME: &str = "as above";
/// What is said where calls of one version alone were left out.
const APART: &str = "as before, but for what the calls do";

/// Writes the regions of a function of a file in which two versions differ.
pub(super) fn write(
    view: &View,
    file: &RepoPath,
    changes: &[&Change],
    out: &mut dyn Write,
) -> io::Result<()> {
    if view.options.verbose {
        return changes.iter().try_for_each(|c| write_change(view, c, None, usize::MAX, out));
    }
    let folded: Vec<(Change, usize)> = changes.iter().map(|c| folded(c)).collect();
    let mut last: Option<&Change> = None;
    let mut changes = folded.iter().peekable();
    let mut shown = 0;
    let (regions, deltas) = if file.is_of_tests() { OF_TESTS } else { (REGIONS_SHOWN, usize::MAX) };
    while let Some((change, left_out)) = changes.next() {
        if shown == regions {
            let more = super::counted(changes.count() + 1, "more change");
            return writeln!(out, "    … and {more} in this function; -v lists them");
        }
        shown += 1;
        if change.deltas.is_empty() && *left_out > 0 {
            write_left_out(view, *left_out, &place_text(view, change), out)?;
            continue;
        }
        write_change(view, change, last.and_then(only_delta), deltas_shown(change).min(deltas), out)?;
        write_left_out(view, *left_out, "", out)?;
        let mut again = Vec::new();
        while let Some((repeated, _)) =
            changes.next_if(|(c, n)| says_the_same(view, change, c) && n == left_out)
        {
            again.push(repeated);
        }
        write_again(view, &again, out)?;
        last = Some(change);
    }
    Ok(())
}

/// A region without what no caller here comes to, and how much that is.
fn folded(change: &Change) -> (Change, usize) {
    let mut given = change.clone();
    given.deltas.retain(|d| !d.no_caller);
    let left_out = change.deltas.len() - given.deltas.len();
    (given, left_out)
}

/// How many deltas of a region are shown: more of short ones.
fn deltas_shown(change: &Change) -> usize {
    let words = |e: &Effect| e.text.chars().count();
    let length = |d: &Delta| {
        let when = d.when.short.as_ref().unwrap_or(&d.when.text).chars().count();
        when + d.before.iter().chain(&d.now).map(words).sum::<usize>()
    };
    let lengths = change.deltas.iter().scan(0, |all, d| {
        *all += length(d);
        Some(*all)
    });
    lengths.take(SHORT_DELTAS_SHOWN).filter(|all| *all <= SHORT).count().max(DELTAS_SHOWN)
}

fn write_left_out(view: &View, count: usize, place: &str, out: &mut dyn Write) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let them = if count == 1 { "it" } else { "them" };
    let text = format!("{} {NO_CALLER}; -v tells {them}", super::counted(count, "difference"));
    write_row(view, "    and", None, &text, place, out)
}

/// Writes one region; what is long and was said of the one before is not said again.
fn write_change(
    view: &View,
    change: &Change,
    last: Option<&Delta>,
    limit: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let (Some((always, more)), false) = (in_common(change), view.options.verbose) {
        write_delta(view, change, (&always, None), true, out)?;
        write_delta(view, change, (&more, None), false, out)?;
        return write_apart(view, change, out);
    }
    // One more is told instead of that there is one.
    let limit = limit.saturating_add(usize::from(change.deltas.len() == limit.saturating_add(1)));
    let last = last.filter(|_| change.deltas.len() == 1);
    for (k, delta) in change.deltas.iter().take(limit).enumerate() {
        write_delta(view, change, (delta, last), k == 0, out)?;
    }
    write_rest(view, change, change.deltas.len().saturating_sub(limit), out)?;
    write_undeclared(view, change, out)
}

/// Where else the same is to be said: the lines of what surrounds them, one after the other.
fn write_again(view: &View, again: &[&Change], out: &mut dyn Write) -> io::Result<()> {
    let mut places: Vec<(Vec<u32>, Vec<String>)> = Vec::new();
    for change in again {
        let (line, around) = place(view, change);
        match places.iter_mut().find(|(lines, known)| !lines.is_empty() && line.is_some() && *known == around)
        {
            Some((lines, _)) => lines.extend(line),
            None => places.push((line.into_iter().collect(), around)),
        }
    }
    let said = |(lines, around): (Vec<u32>, Vec<String>)| {
        let lines = match lines.as_slice() {
            [] => None,
            [one] => Some(format!("at line {one}")),
            more => Some(format!("at lines {}", super::ranges(more.iter().copied()))),
        };
        lines.into_iter().chain(around).collect::<Vec<_>>().join(", ")
    };
    let places: Vec<String> = places.into_iter().map(said).filter(|place| !place.is_empty()).collect();
    match places.len() {
        0 => Ok(()),
        _ => write_row(view, "    again", None, &places.join("; "), "", out),
    }
}

/// The only thing that is to be said of a region.
fn only_delta(change: &Change) -> Option<&Delta> {
    change.deltas.first().filter(|_| change.deltas.len() == 1)
}

/// Whether the same is to be said of two regions, but for where they are.
fn says_the_same(view: &View, a: &Change, b: &Change) -> bool {
    let texts = |effects: &[Effect]| effects.iter().map(|e| e.text.clone()).collect::<Vec<_>>();
    let of = |d: &Delta| (d.when.text.clone(), texts(&d.before), texts(&d.now));
    let has_place = !place_text(view, b).is_empty();
    has_place
        && a.deltas.iter().map(of).eq(b.deltas.iter().map(of))
        && (&a.at.tests, &a.assumptions, a.otherwise) == (&b.at.tests, &b.assumptions, b.otherwise)
        && a.reason == b.reason
        && !a.deltas.is_empty()
}

/// Writes what became of objects, most of it as the effects of changes.
pub(super) fn write_objects(view: &View, objects: &[&ObjectReport], out: &mut dyn Write) -> io::Result<()> {
    let (with_files, others): (Vec<&ObjectReport>, Vec<&ObjectReport>) =
        objects.iter().partition(|o| !view.options.verbose && comes_with_its_file(o));
    write_names(&with_files, out)?;
    let mut groups: Vec<Vec<&ObjectReport>> = Vec::new();
    for object in others {
        match groups
            .iter_mut()
            .find(|g| !view.options.verbose && g.first().is_some_and(|o| come_alike(o, object)))
        {
            Some(known) => known.push(object),
            None => groups.push(vec![object]),
        }
    }
    for group in groups {
        match group.as_slice() {
            all if all.len() >= ALIKE => write_alike(view, all, out)?,
            few => write_each(view, few, out)?,
        }
    }
    Ok(())
}

/// Whether two objects came or went in the same way and nothing but their names tells them apart.
fn come_alike(a: &ObjectReport, b: &ObjectReport) -> bool {
    let texts = |o: &ObjectReport| {
        let all = o.definitions.before.iter().chain(&o.definitions.now);
        all.map(|e| e.text.clone()).collect::<Vec<_>>()
    };
    matches!(a.outcome, ObjectOutcome::Added | ObjectOutcome::Removed)
        && (a.outcome, &a.file, &a.ty, &a.under) == (b.outcome, &b.file, &b.ty, &b.under)
        && texts(a) == texts(b)
}

/// Writes objects that came or went alike, in one line: `gone in functions (int, starts as 0): count depth`.
fn write_alike(view: &View, all: &[&ObjectReport], out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = all.first() else { return Ok(()) };
    let effects = first.definitions.before.iter().chain(&first.definitions.now);
    let said = effects_text(&effects.cloned().collect::<Vec<_>>(), usize::MAX);
    let under = first.under.as_ref().map(|name| format!("under {}", under_text(view, name)));
    let parts: Vec<String> = [Some(visible(&first.ty)), Some(said), under].into_iter().flatten().collect();
    // Where functions have one of the same name, it is named once.
    let mut names: Vec<String> = Vec::new();
    for name in all.iter().map(|o| visible(&o.name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let shown = if names.len() <= NAMES_SHOWN + 1 { names.len() } else { NAMES_SHOWN };
    let more = match names.len() - shown {
        0 => String::new(),
        n => format!(" and {n} more; -v lists them"),
    };
    let within = if all.iter().all(|o| o.function.is_some()) { " in functions" } else { "" };
    let coming = format!("{}{within}", first.coming());
    writeln!(out, "  {}  {coming} ({}): {}{more}", first.file, parts.join(", "), names[..shown].join(" "))
}

fn write_each(view: &View, objects: &[&ObjectReport], out: &mut dyn Write) -> io::Result<()> {
    for object in objects {
        let mut line = view.line();
        line.plain("  ").paint(Slot::File, &object.file.to_string());
        line.plain(&format!("  {}", visible(object.called())));
        let coming = object.coming();
        if !coming.is_empty() {
            line.plain(&format!("  {}", visible(&coming)));
        }
        line.pad_to(OBJECT_HUNKS.max(line.column() + 2));
        let shown = if view.options.verbose { object.hunks.len() } else { HUNKS_SHOWN };
        for hunk in object.hunks.iter().take(shown) {
            line.paint(Slot::Hunk, &super::hunk_text(hunk)).plain(" ");
        }
        if object.hunks.len() > shown {
            line.paint(Slot::Hunk, &format!("… {} more", object.hunks.len() - shown));
        }
        line.write(out)?;
        let under = object.under.as_ref().map(|name| format!(", under {}", under_text(view, name)));
        let at = object.told_line().map(|line| format!("at line {line}"));
        let mut place = format!("{}{}", at.unwrap_or_default(), under.unwrap_or_default());
        let rows = [
            (
                "    type",
                None,
                if object.was.is_none() && !coming.is_empty() { visible(&object.ty) } else { String::new() },
            ),
            ("    before", Some(Slot::Removed), effects_text(&object.definitions.before, usize::MAX)),
            ("    now", Some(Slot::Added), effects_text(&object.definitions.now, usize::MAX)),
            ("    read by", None, visible(object.read_by().trim_start_matches("read by "))),
        ];
        for (label, slot, text) in rows.iter().filter(|(.., text)| !text.is_empty()) {
            write_row(view, label, *slot, text, &std::mem::take(&mut place), out)?;
        }
    }
    Ok(())
}

/// Whether a whole file is new or gone, and an object with it.
fn comes_with_its_file(object: &ObjectReport) -> bool {
    let is_whole = |h: &HunkRef| (h.old_start, h.old_lines) == (0, 0) || (h.new_start, h.new_lines) == (0, 0);
    matches!(object.outcome, ObjectOutcome::Added | ObjectOutcome::Removed)
        && !object.hunks.is_empty()
        && object.hunks.iter().all(is_whole)
}

/// Writes the names of objects that came or went with their files: a line for each file.
fn write_names(objects: &[&ObjectReport], out: &mut dyn Write) -> io::Result<()> {
    let mut files: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for object in objects {
        let key = (object.file.to_string(), object.coming());
        files.entry(key).or_default().push(visible(object.called()));
    }
    for ((file, coming), names) in files {
        let shown = if names.len() <= NAMES_SHOWN + 1 { names.len() } else { NAMES_SHOWN };
        let more = match names.len() - shown {
            0 => String::new(),
            n => format!(" and {n} more; -v lists them"),
        };
        writeln!(out, "  {file}  {coming}: {}{more}", names[..shown].join(" "))?;
    }
    Ok(())
}

/// Writes which lines conditions have compiled that were not, and which not any more.
pub(super) fn write_compiled(view: &View, hunks: &[&HunkReport], out: &mut dyn Write) -> io::Result<()> {
    for hunk in hunks {
        let mut places: Vec<(u32, u32)> = hunk.compiled.iter().map(|c| c.new).collect();
        places.dedup();
        // One that nothing ends changes all that is behind it.
        let shown = match view.options.verbose || places.len() <= PLACES_SHOWN + 1 {
            true => places.len(),
            false => PLACES_SHOWN,
        };
        let (first, rest) = places.split_at(shown);
        for place in first {
            let mut line = view.line();
            let of_place: Vec<&Compiled> = hunk.compiled.iter().filter(|c| c.new == *place).collect();
            line.plain("  ").paint(Slot::File, &hunk.file.to_string());
            line.plain(&format!("  {}", of_place.first().map(|c| c.lines()).unwrap_or_default()));
            line.pad_to(OBJECT_HUNKS.max(line.column() + 2));
            line.paint(Slot::Hunk, &super::hunk_text(&hunk.place()));
            line.write(out)?;
            for compiled in of_place {
                write_sides(view, compiled, out)?;
            }
        }
        if let (Some((from, _)), Some((_, to))) = (rest.first(), rest.last()) {
            let more = super::counted(rest.len(), "more place");
            writeln!(out, "    and {more} in lines {from}-{to}; -v lists them")?;
        }
    }
    Ok(())
}

fn write_sides(view: &View, compiled: &Compiled, out: &mut dyn Write) -> io::Result<()> {
    let [before, now] = compiled.sides();
    let rows = [
        ("    when", None, visible(&compiled.when)),
        ("    before", Some(Slot::Removed), before.to_owned()),
        ("    now", Some(Slot::Added), now.to_owned()),
    ];
    for (label, slot, text) in rows.iter().filter(|(.., text)| !text.is_empty()) {
        write_row(view, label, *slot, text, "", out)?;
    }
    Ok(())
}

/// What two deltas for the outcomes of one test have in common, and what one of them has more.
fn in_common(change: &Change) -> Option<(Delta, Delta)> {
    let [a, b] = change.deltas.as_slice() else { return None };
    let (more, less) = if a.now.len() > b.now.len() { (a, b) } else { (b, a) };
    let texts = |effects: &[Effect]| effects.iter().map(|e| e.text.clone()).collect::<Vec<_>>();
    let (long, short) = (texts(&more.now), texts(&less.now));
    let is_part = !short.is_empty() && long.starts_with(&short) && a.before.is_empty() && b.before.is_empty();
    if !is_part || change.otherwise != Otherwise::Same || !are_opposite(&a.when.text, &b.when.text) {
        return None;
    }
    let always = Delta { when: When::default(), ..less.clone() };
    let rest = more.now.iter().skip(short.len()).cloned().collect();
    Some((always, Delta { now: rest, ..more.clone() }))
}

/// Whether of two conditions one is the other's negation, as they are written.
fn are_opposite(a: &str, b: &str) -> bool {
    let one_test = |text: &str| !text.contains("&&") && !text.contains("||");
    let negated = |x: &str, y: &str| {
        let turned = x.matches(" == ").count() == 1 && x.replacen(" == ", " != ", 1) == y;
        turned || y == format!("!{x}") || y == format!("!({x})")
    };
    one_test(a) && one_test(b) && (negated(a, b) || negated(b, a))
}

fn write_delta(
    view: &View,
    change: &Change,
    (delta, last): (&Delta, Option<&Delta>),
    is_first: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut place = if is_first { place_text(view, change) } else { String::new() };
    // A condition of its own is more than what leads there.
    let is_own = |_: &&str| delta.when.text.is_empty();
    let tests = change.at.tests.as_deref().filter(is_own).map(visible);
    let fits = if is_first { fitting(change) } else { None };
    let tests = tests.into_iter().chain(fits).collect::<Vec<_>>().join("; ");
    let sides = |d: &Delta| {
        (when_text(view, d), effects_text(&d.before, EFFECTS_SHOWN), effects_text(&d.now, EFFECTS_SHOWN))
    };
    let (when, before, now) = sides(delta);
    let said = last.map(sides).unwrap_or_default();
    let is_long = |text: &str| text.chars().count() > view.options.width.saturating_sub(DETAIL).max(40);
    let once = |text: String, said: &str| if is_long(&text) && text == said { SAME.to_owned() } else { text };
    let rows = [
        ("    where", None, tests),
        ("    when", None, once(when, &said.0)),
        ("    before", Some(Slot::Removed), once(before, &said.1)),
        ("    now", Some(Slot::Added), once(now, &said.2)),
    ];
    for (label, slot, text) in rows.iter().filter(|(.., text)| !text.is_empty()) {
        write_row(view, label, *slot, text, &std::mem::take(&mut place), out)?;
    }
    Ok(())
}

/// What is taken for granted of members that got another number type: `n fits int and long`.
fn fitting(change: &Change) -> Option<String> {
    let fits: Vec<String> = change.assumptions.iter().filter(|a| a.contains(" fits ")).map(visible).collect();
    (!fits.is_empty()).then(|| fits.join("; "))
}

/// A condition; of a long one a part, unless `-v`.
fn when_text(view: &View, delta: &Delta) -> String {
    match delta.when.short.as_ref().filter(|_| !view.options.verbose) {
        Some(short) => format!("{}; -v tells all", visible(short)),
        None => visible(&delta.when.text),
    }
}

/// Writes a text behind a label, broken at its spaces, and a place at the right of the last row.
pub(super) fn write_row(
    view: &View,
    label: &str,
    slot: Option<Slot>,
    text: &str,
    place: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = wrapped(text, view.options.width.saturating_sub(DETAIL).max(40));
    for (k, row) in rows.iter().enumerate() {
        let mut line = view.line();
        line.plain(if k == 0 { label } else { "" }).pad_to(DETAIL);
        match slot {
            Some(slot) => line.paint(slot, row),
            None => line.plain(row),
        };
        if k + 1 == rows.len() && !place.is_empty() {
            let room = view.options.width.saturating_sub(place.chars().count());
            line.pad_to(room.max(line.column() + 4)).paint(Slot::Status, place);
        }
        line.write(out)?;
    }
    Ok(())
}

/// That what calls of one version do is left out, where nothing else is to be said of other states.
fn write_apart(view: &View, change: &Change, out: &mut dyn Write) -> io::Result<()> {
    if !change.assumptions.iter().any(|a| a == "calls-apart") {
        return Ok(());
    }
    let mut line = view.line();
    line.plain("    else").pad_to(DETAIL).plain(APART);
    line.write(out)
}

/// Names that a change rests on, and of which one version does not say what they are.
fn write_undeclared(view: &View, change: &Change, out: &mut dyn Write) -> io::Result<()> {
    let told = |a: &String| {
        let (when, name) = a.strip_prefix("undeclared-")?.strip_suffix(')')?.split_once('(')?;
        let says = if when == "now" { "no longer says" } else { "did not say" };
        Some(format!("the tree {says} what {} is", visible(name)))
    };
    for text in change.assumptions.iter().filter_map(told) {
        let mut line = view.line();
        line.plain("    also").pad_to(DETAIL).plain(&text);
        line.write(out)?;
    }
    Ok(())
}

/// What holds of all other states.
fn write_rest(view: &View, change: &Change, left: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut line = view.line();
    line.plain("    else").pad_to(DETAIL);
    let assumes = |name: &str| change.assumptions.iter().any(|a| a == name);
    let is_always = matches!(change.deltas.as_slice(), [only] if only.when.text.is_empty());
    let text = match (change.otherwise, left) {
        (Otherwise::Same, 0) if is_always => return Ok(()),
        (Otherwise::Same, 0) if assumes("calls-apart") => APART,
        (Otherwise::Same, 0) => "as before",
        (Otherwise::Same, n) => {
            line.plain(&format!("{}; -v lists them", super::counted(n, "more condition")));
            return line.write(out);
        }
        (Otherwise::Open, _) => "not known",
    };
    line.plain(text);
    if let (Otherwise::Open, Some(reason)) = (change.otherwise, &change.reason) {
        line.plain(&format!(": {}", visible(reason)));
    }
    if change.otherwise == Otherwise::Same && !assumes("calls-apart") {
        // What the newer version alone reads and writes has to be there.
        let invented = change.assumptions.iter().any(|a| a.starts_with("invented-type("));
        let status = match () {
            () if invented => "likely",
            () if assumes("valid-accesses") => "proved for valid accesses",
            () => "proved",
        };
        let within = if assumes("no-overflow") { ", where no sum overflows" } else { "" };
        let by = if assumes("by-members") { ", member by member" } else { "" };
        line.plain("  ").paint(Slot::Status, &format!("{status}{within}{by}"));
    }
    line.write(out)
}

/// A configuration; of one with many macros the first few, unless `-v`.
fn under_text(view: &View, name: &str) -> String {
    let macros: Vec<&str> = name.split(" && ").collect();
    match macros.len().saturating_sub(MACROS_SHOWN) {
        2.. if !view.options.verbose => {
            let shown = visible(macros[..MACROS_SHOWN].join(" && "));
            format!("{shown} && … ({} more)", macros.len() - MACROS_SHOWN)
        }
        _ => visible(name),
    }
}

fn place_text(view: &View, change: &Change) -> String {
    let (line, around) = place(view, change);
    let line = line.map(|l| format!("at line {l}"));
    line.into_iter().chain(around).collect::<Vec<_>>().join(", ")
}

/// The line of a region, and what surrounds it.
fn place(view: &View, change: &Change) -> (Option<u32>, Vec<String>) {
    let under = change.under.as_ref().map(|name| format!("under {}", under_text(view, name)));
    let around = change.at.context.as_ref().map(visible).into_iter().chain(under).collect();
    (change.at.lines.get(&change.to).copied(), around)
}

/// The first effects in one line: `calls f(a), g(b); returns -1`. How it ends is told in any case.
fn effects_text(effects: &[Effect], most: usize) -> String {
    let ends =
        |e: &&Effect| matches!(e.kind.as_str(), "return" | "end" | "goto" | "leave-loop" | "next-round");
    let end = effects.last().filter(ends).filter(|_| effects.len() > most);
    let (shown, left) = effects.split_at(most.min(effects.len()) - usize::from(end.is_some()).min(most));
    let mut text = String::new();
    let mut calls = false;
    for (k, effect) in shown.iter().enumerate() {
        let word = visible(&effect.text);
        let call = word.strip_prefix("calls ").filter(|_| calls);
        if k > 0 {
            text.push_str(if call.is_some() { ", " } else { "; " });
        }
        text.push_str(call.unwrap_or(&word));
        calls = effect.kind == "call" && word.starts_with("calls ");
    }
    match left.len() - usize::from(end.is_some()).min(left.len()) {
        0 => {}
        n => text.push_str(&format!(" and {n} more")),
    }
    if let Some(end) = end {
        text.push_str(&format!("; {}", visible(&end.text)));
    }
    text
}

/// Breaks a text at its spaces into rows of at most `room` characters.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut rows: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let fits =
            rows.last().is_none_or(|r| r.is_empty() || r.chars().count() + 1 + word.chars().count() <= room);
        if !fits {
            rows.push(String::new());
        }
        if let Some(row) = rows.last_mut() {
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(word);
        }
    }
    rows.iter().map(|r| shortened(r, room.max(40))).collect()
}

#[cfg(test)]
mod tests {
    use super::{View, are_opposite, in_common, write};
    use crate::RepoPath;
    use crate::change::samples::change;
    use crate::model::{Change, Report};
    use crate::text::TextOptions;

    #[test]
    fn outcomes_of_one_test() {
        for (a, b, expected) in [
            ("f(x) != 0", "f(x) == 0", true),
            ("f(x) == 0", "f(x) != 0", true),
            ("p", "!p", true),
            ("!(x > 1)", "x > 1", true),
            ("x == 1", "x != 2", false),
            ("x == 1 && y", "x != 1 && y", false),
            ("(a == b) == c", "(a != b) == c", false),
            ("a", "a", false),
        ] {
            assert_eq!(are_opposite(a, b), expected, "{a} | {b}");
        }
    }

    /// The rows of some changes, one after the other.
    fn rows(changes: &[Change], verbose: bool) -> String {
        let options = TextOptions { verbose, ..TextOptions::default() };
        let report = Report::default();
        let view = View { report: &report, options: &options };
        let mut out = Vec::new();
        write(&view, &RepoPath::from(&b"a.c"[..]), &changes.iter().collect::<Vec<_>>(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
        rows.filter(|row| !row.starts_with("else")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_no_caller_gives_is_folded() {
        let mut change = change(&["a | x | y", "b | x | z"]);
        change.deltas[1].no_caller = true;
        let text = |change: &Change, verbose| rows(std::slice::from_ref(change), verbose);
        let row = "and 1 difference for inputs that no caller here gives; -v tells it";
        assert_eq!(text(&change, false), format!("when a at line 13\nbefore x\nnow y\n{row}"));
        assert!(text(&change, true).contains("when b\n"), "{}", text(&change, true));
        change.deltas[0].no_caller = true;
        assert_eq!(
            text(&change, false),
            "and 2 differences for inputs that no caller here gives; -v tells them at line 13"
        );
    }

    #[test]
    fn of_very_many_regions_the_first_are_shown() {
        let many = |n: u32| -> Vec<Change> {
            let one = |k: u32| {
                let mut change = change(&[&format!("a == {k} | x | y")]);
                change.at.lines.insert(2, k);
                change
            };
            (1..=n).map(one).collect()
        };
        let last = |n: u32, verbose| rows(&many(n), verbose).lines().last().unwrap_or_default().to_owned();
        assert_eq!(last(24, false), "now y");
        assert_eq!(last(25, false), "… and 1 more change in this function; -v lists them");
        assert_eq!(last(100, false), "… and 76 more changes in this function; -v lists them");
        assert_eq!(last(100, true), "now y");
    }

    #[test]
    fn a_long_condition_is_told_in_part_and_says_so() {
        let mut long = change(&["a && b && c | x | y"]);
        long.deltas[0].when.short = Some("b && … (2 more)".into());
        let text = |verbose| rows(std::slice::from_ref(&long), verbose);
        assert!(text(false).starts_with("when b && … (2 more); -v tells all "), "{}", text(false));
        assert!(text(true).starts_with("when a && b && c "), "{}", text(true));
    }

    #[test]
    fn what_is_to_be_said_of_several_regions_is_said_once() {
        let at = |line: u32, text: &str| {
            let mut change = change(&[text]);
            change.at.lines.insert(2, line);
            change
        };
        let long = "calls a_function_with_a_long_name(first, second, third), another_one(fourth)";
        let guard = format!("p == NULL | calls f(p) | {long}");
        let other = format!("p == NULL | calls g(p) | {long}");
        let three = [at(3, &guard), at(7, &guard), at(9, &guard), at(12, &other)];
        let told = rows(&three, false);
        assert!(told.contains("now calls a_function"), "{told}");
        assert_eq!(told.matches("another_one").count(), 1, "{told}");
        assert!(told.contains("again at lines 7 9"), "{told}");
        assert!(told.ends_with("when p == NULL at line 12\nbefore calls g(p)\nnow as above"), "{told}");
        assert_eq!(rows(&three, true).matches("another_one").count(), 4);
        // What differs in its condition alone is no repetition.
        let apart = [at(3, "x > 1 | calls f() |"), at(7, "x > 2 | calls f() |")];
        assert_eq!(rows(&apart, false).matches("calls f()").count(), 2);
    }

    #[test]
    fn what_both_outcomes_do_is_told_once() {
        let one = change(&["x != 0 || calls f(); calls g()", "x == 0 || calls f()"]);
        let (always, more) = in_common(&one).unwrap();
        assert!(always.when.text.is_empty() && always.now.len() == 1);
        assert_eq!((more.when.text.as_str(), more.now[0].text.as_str()), ("x != 0", "calls g()"));
        assert!(
            in_common(&change(&["x != 0 | a | calls f(); calls g()", "x == 0 | a | calls f()"])).is_none()
        );
        assert!(in_common(&change(&["x != 0 || calls f(); calls g()", "y == 0 || calls f()"])).is_none());
        assert!(in_common(&change(&["x != 0 || calls f()", "x == 0 || calls g()"])).is_none());
    }
}
