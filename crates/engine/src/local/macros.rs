//! Constants by the macros that the source writes them as near a region, and by the enumerators and characters that it
//! writes beside what is compared.
//!
//! Terms do not know how their constants were spelled. The lines around a region do ([`Unit::spelled`]): of what they
//! write for a value the nearest is meant, and where that is a number, or two names are equally near, the value stays
//! a number. What is written beside an operand ([`Unit::compared`]) is meant for that alone.

use super::side::Side;
use crate::ir::{FileId, Literal, Unit};
use crate::mvicfg::ClassId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

/// Lines around a region whose words tell what is meant: which name of a value, which member of a union.
pub(super) const WORDS_BEFORE: u32 = 12;
pub(super) const WORDS_BEHIND: u32 = 40;

/// What pointers are told by, and no number.
const NULL: &str = "NULL";

/// Names of values.
pub(super) type Macros = Rc<BTreeMap<Literal, Arc<str>>>;
/// Names of the values of operands.
pub(super) type Enumerators = Rc<BTreeMap<(Arc<str>, i128), Arc<str>>>;

/// What a value may be called where a region is told.
#[derive(Clone, Default)]
pub(super) struct NamedValues {
    /// In the words of each version.
    pub own: [Macros; 2],
    /// In what both have in common.
    pub both: Macros,
    /// In the words of each version.
    pub compared: [Enumerators; 2],
    /// In what both have in common.
    pub compared_both: Enumerators,
}

impl NamedValues {
    /// Reads the lines around what is told, by version. Of conditions those versions know that have lines of their own.
    pub fn around(sides: [&Side; 2], lines: &[BTreeSet<u32>; 2], has_own: [bool; 2]) -> NamedValues {
        let units = sides.map(|side| side.version.unit);
        let near = ClassId::PAIR.map(|c| {
            let is_own = sides[c].version.body.span.file == FileId(0);
            let mut found = if is_own { nearest(units[c], &lines[c]) } else { BTreeMap::new() };
            // What a name stands for must be the same in both.
            found.retain(|value, name| {
                let is_one =
                    |unit: &&Unit| unit.spells_only(name, value) && !unit.gaps.invented.contains_key(name);
                units.iter().all(is_one)
            });
            found
        });
        let told = || near.iter().zip(has_own).filter(|(_, has_own)| *has_own).map(|(known, _)| known);
        let mut both: BTreeMap<Literal, Arc<str>> =
            told().flatten().map(|(v, n)| (v.clone(), n.clone())).collect();
        both.retain(|value, name| told().all(|known| known.get(value).is_none_or(|other| other == name)));
        let compared = ClassId::PAIR.map(|c| {
            let span = &sides[c].version.body.span;
            let Some(near) = around(&lines[c]).filter(|_| span.file == FileId(0)) else {
                return BTreeMap::new();
            };
            // What stands near comes before what the rest of the function writes beside the same operand.
            let mut found = compared(units, c, span.line..=span.end_line);
            found.extend(compared(units, c, near));
            found.into_iter().filter_map(|(key, name)| Some((key, name?))).collect()
        });
        let mut compared_both = compared[1].clone();
        for (key, name) in &compared[0] {
            compared_both.entry(key.clone()).or_insert_with(|| name.clone());
        }
        compared_both.retain(|key, name| compared.iter().all(|c| c.get(key).is_none_or(|n| n == name)));
        NamedValues {
            own: near.map(Rc::new),
            both: Rc::new(both),
            compared: compared.map(Rc::new),
            compared_both: Rc::new(compared_both),
        }
    }
}

/// What one version writes beside operands on some lines. What has two names has none, nor has
/// what stands for another number in either version.
fn compared(
    units: [&Unit; 2],
    class: ClassId,
    range: RangeInclusive<u32>,
) -> BTreeMap<(Arc<str>, i128), Option<Arc<str>>> {
    let mut found: BTreeMap<(Arc<str>, i128), Option<Arc<str>>> = BTreeMap::new();
    for c in units[class].written.compared.iter().filter(|c| range.contains(&c.line)) {
        let name = Some(c.name.clone());
        let known = found.entry((c.operand.clone(), c.value)).or_insert_with(|| name.clone());
        if *known != name {
            *known = None;
        }
    }
    let is_one = |unit: &Unit, name: &Arc<str>, value: i128| {
        unit.enumerates_only(name, value)
            && unit.spells_only(name, &Literal::Number(value))
            && !unit.gaps.invented.contains_key(name)
    };
    for ((_, value), name) in &mut found {
        *name = name.take().filter(|name| units.iter().all(|unit| is_one(unit, name, *value)));
    }
    found
}

/// The lines whose words tell what is meant in some.
fn around(lines: &BTreeSet<u32>) -> Option<RangeInclusive<u32>> {
    let (first, last) = (lines.first()?, lines.last()?);
    Some(first.saturating_sub(WORDS_BEFORE)..=(*last).min(first + WORDS_BEHIND).max(*first))
}

/// Names of values where something is told that one version writes on some lines: what it writes there comes before
/// what stands around, and so does a number that it writes without a name.
pub(super) fn written_on(
    known: &Macros,
    units: [&Unit; 2],
    class: ClassId,
    lines: RangeInclusive<u32>,
) -> Macros {
    let mut own: BTreeMap<&Literal, Option<&Arc<str>>> = BTreeMap::new();
    for s in units[class].written.spelled.iter().filter(|s| lines.contains(&s.line)) {
        let name = s.name.as_ref().filter(|name| &***name != NULL);
        let is_one = |unit: &Unit, name: &Arc<str>| {
            unit.spells_only(name, &s.value) && !unit.gaps.invented.contains_key(name)
        };
        let name = name.filter(|name| units.iter().all(|unit| is_one(unit, name)));
        let first = own.entry(&s.value).or_insert(name);
        *first = first.filter(|first| Some(*first) == name);
    }
    // What a macro of another line has in it says nothing of these.
    let spelled = &units[class].written.spelled;
    let is_written = |value: &Literal, name: &Arc<str>| {
        let mut all =
            spelled.iter().filter(|s| s.value == *value && s.name.as_ref() == Some(name)).peekable();
        all.peek().is_none() || all.any(|s| !s.is_inner || lines.contains(&s.line))
    };
    let is_kept = known.iter().all(|(value, name)| is_written(value, name));
    if own.is_empty() && is_kept {
        return known.clone();
    }
    let mut found = (**known).clone();
    found.retain(|value, name| is_written(value, name));
    for value in own.keys() {
        // `x > 4` for `x >= FIVE`, and for `x >= 5`, has no name for the 4.
        if let Literal::Number(n) = value {
            let beside = [n.saturating_sub(1), n.saturating_add(1)].map(Literal::Number);
            beside.iter().filter(|b| !own.contains_key(b)).for_each(|b| _ = found.remove(b));
        }
    }
    for (value, name) in own {
        match name {
            Some(name) => _ = found.insert(value.clone(), name.clone()),
            None => _ = found.remove(value),
        }
    }
    Rc::new(found)
}

/// The names that stand nearest to some lines, by value.
fn nearest(unit: &Unit, lines: &BTreeSet<u32>) -> BTreeMap<Literal, Arc<str>> {
    let Some(range) = around(lines) else { return BTreeMap::new() };
    // By value: how far away, and the one name that it has there.
    let mut found: BTreeMap<&Literal, (u32, Option<&Arc<str>>)> = BTreeMap::new();
    for s in unit.written.spelled.iter().filter(|s| range.contains(&s.line)) {
        let away = lines.iter().map(|l| l.abs_diff(s.line)).min().unwrap_or(u32::MAX);
        // What every function writes says nothing about another line, nor does what names itself, or what a macro
        // of another line has in it.
        let names_itself = s.name.as_ref().is_some_and(|n| n.starts_with(['\'', '0']));
        let is_common = names_itself || matches!(s.value, Literal::Number(-1..=1));
        if s.name.as_ref().is_some_and(|name| &**name == NULL) {
            continue;
        }
        if (is_common || s.is_inner) && away > 0 {
            continue;
        }
        let name = s.name.as_ref();
        let known = found.entry(&s.value).or_insert((away, name));
        if away < known.0 {
            *known = (away, name);
        } else if away == known.0 && known.1 != name {
            known.1 = None;
        }
    }
    found.into_iter().filter_map(|(value, (_, name))| Some((value.clone(), name?.clone()))).collect()
}
