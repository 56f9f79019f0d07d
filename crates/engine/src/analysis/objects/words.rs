//! What differs between two initial values, in words.
//!
//! Members are compared by their names, elements are aligned by a longest common subsequence, so that a new entry of
//! a table is one entry and not all that follow; elements of tables of the same length are compared by their
//! places where that says less. Of strings the part is told that differs. Each *row* says what the older value has
//! and what the newer one has in its place.

use super::value::{Leaf, Value};
use crate::local::excerpt;
use crate::mvicfg::alignment::{self, Algorithm, DiffOp};
use std::collections::BTreeMap;

/// Rows that are told; the rest is counted.
pub(super) const MAX_ROWS: usize = 6;
/// Characters of a value.
const LONGEST: usize = 72;
/// Elements in a row that are told.
const MAX_ELEMENTS: usize = 3;
/// Elements of tables that are aligned, but for what they begin and end with in common.
const MAX_ALIGNED: usize = 5_000;

/// What the older value has and what the newer one has in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub before: Option<String>,
    pub now: Option<String>,
    /// Where either is written.
    pub at: [Option<u32>; 2],
}

impl Row {
    pub fn both(before: impl Into<String>, now: impl Into<String>) -> Row {
        Row { before: Some(before.into()), now: Some(now.into()), at: [None; 2] }
    }

    /// What only one version has, by its side.
    pub fn alone(side: usize, text: String, line: Option<u32>) -> Row {
        match side {
            0 => Row { before: Some(text), now: None, at: [line, None] },
            _ => Row { before: None, now: Some(text), at: [None, line] },
        }
    }

    fn written(self, old: &Value, new: &Value) -> Row {
        Row { at: [old.line(), new.line()], ..self }
    }
}

/// The rows of two values; and whether what is told of some depends on what is not known.
#[derive(Default)]
pub(super) struct Rows {
    pub rows: Vec<Row>,
    pub has_unknown: bool,
}

/// What an object begins with, in short.
pub(super) fn shown(value: &Value) -> String {
    shortened(&value.text(), LONGEST)
}

fn shortened(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Compares two values. Cost: what aligns their elements.
pub(super) fn differences(old: &Value, new: &Value) -> Rows {
    let mut rows = Rows::default();
    compare(old, new, "", &mut rows);
    rows
}

/// `is`, of what has a name in the object, and `starts as` of the object.
fn said(path: &str, text: &str) -> String {
    if path.is_empty() { format!("starts as {text}") } else { format!("{path} is {text}") }
}

fn compare(old: &Value, new: &Value, path: &str, out: &mut Rows) {
    if old.key() == new.key() {
        // The same text of what does not fold is the same.
        return;
    }
    match (old, new) {
        (Value::Record(a), Value::Record(b)) => members(a, b, path, out),
        (Value::Array(a), Value::Array(b)) => elements(a, b, path, out),
        (Value::Text { bytes: a, .. }, Value::Text { bytes: b, .. }) => {
            if let (Some(before), Some(now)) = (without_keywords(a), without_keywords(b))
                && before.0 == now.0
            {
                let text = format!("another ${}$", String::from_utf8_lossy(now.1));
                out.rows.push(Row::alone(1, having(path, &text), new.line()));
                return;
            }
            let row = Row::both(said(path, &excerpt(a, b)), said(path, &excerpt(b, a)));
            out.rows.push(row.written(old, new));
        }
        _ => {
            out.has_unknown |= old.has_unknown() || new.has_unknown();
            let (before, now) = as_written(old, new).unwrap_or_else(|| apart(&old.text(), &new.text()));
            out.rows.push(Row::both(said(path, &before), said(path, &now)).written(old, new));
        }
    }
}

/// Two numbers as the source writes them, where names in it say more and differ.
fn as_written(old: &Value, new: &Value) -> Option<(String, String)> {
    let (Value::Leaf(old), Value::Leaf(new)) = (old, new) else { return None };
    let is_number = |l: &Leaf| l.text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '\''));
    let text = |l: &Leaf| match &l.written {
        Some(written) if is_number(l) => written.to_string(),
        _ => l.text.clone(),
    };
    let (before, now) = (text(old), text(new));
    (before != now && (old.written.is_some() || new.written.is_some())).then(|| apart_in_names(&before, &now))
}

/// Two expressions without what both begin with, as far as they are long; names stay whole.
fn apart_in_names(old: &str, new: &str) -> (String, String) {
    /// Characters before what differs.
    const BEFORE: usize = 24;
    if old.chars().count().max(new.chars().count()) <= LONGEST {
        return (old.to_owned(), new.to_owned());
    }
    let common = old.char_indices().zip(new.chars()).take_while(|((_, a), b)| a == b);
    let common = common.last().map_or(0, |((at, c), _)| at + c.len_utf8());
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let kept = old[..common].char_indices().rev().take(BEFORE).last().map_or(0, |(at, _)| at);
    // From the first name in it on.
    let rest = &old[kept..common];
    let inner = rest.find(|c| !is_name(c)).map_or(rest.len(), |n| n + rest[n..].find(is_name).unwrap_or(0));
    let from = if kept == 0 { 0 } else { kept + inner };
    let cut = |text: &str| match from {
        0 => shortened(text, LONGEST),
        from => format!("…{}", shortened(&text[from..], LONGEST)),
    };
    (cut(old), cut(new))
}

/// A string without what a version control system writes into it, `$Id: a.c,v 1.2 …$`, and the keyword; `None` where
/// it has none.
fn without_keywords(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let parts: Vec<&[u8]> = text.split(|b| *b == b'$').collect();
    let keyword = |part: &&[u8]| {
        let word = &part[..part.iter().position(|b| *b == b':')?];
        let is_word =
            word.iter().all(u8::is_ascii_alphabetic) && word.first().is_some_and(u8::is_ascii_uppercase);
        is_word.then_some(word.len())
    };
    // What stands between two dollar signs: the last part is behind the last of them.
    let inner = parts.len().saturating_sub(1);
    let found = parts.iter().enumerate().filter(|(k, _)| *k > 0 && *k < inner);
    let first = found.clone().find_map(|(_, part)| Some(&part[..keyword(part)?]))?;
    let cut = |(k, part): (usize, &&[u8])| match keyword(part).filter(|_| k > 0 && k < inner) {
        Some(length) => part[..length].to_vec(),
        None => part.to_vec(),
    };
    Some((parts.iter().enumerate().map(cut).collect::<Vec<_>>().join(&b'$'), first))
}

/// Two texts, cut so that they differ to the eye.
fn apart(old: &str, new: &str) -> (String, String) {
    let (before, now) = (shortened(old, LONGEST), shortened(new, LONGEST));
    if before != now {
        return (before, now);
    }
    let common = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let rest = |text: &str| {
        let behind: String = text.chars().skip(common.saturating_sub(8)).collect();
        format!("…{}", shortened(&behind, LONGEST))
    };
    match old == new {
        // The same to the eye, and not the same bytes.
        true => (format!("{before} (other bytes)"), now),
        false => (rest(old), rest(new)),
    }
}

fn members(
    old: &[(std::sync::Arc<str>, Value)],
    new: &[(std::sync::Arc<str>, Value)],
    path: &str,
    out: &mut Rows,
) {
    let before: BTreeMap<&str, &Value> = old.iter().map(|(n, v)| (&**n, v)).collect();
    let after: BTreeMap<&str, &Value> = new.iter().map(|(n, v)| (&**n, v)).collect();
    for (name, value) in new {
        let path = format!("{path}.{name}");
        match before.get(&**name) {
            Some(known) => compare(known, value, &path, out),
            None if value.is_zero() => {}
            None => out.rows.push(Row::alone(1, said(&path, &shown(value)), value.line())),
        }
    }
    for (name, value) in old.iter().filter(|(name, v)| !after.contains_key(&**name) && !v.is_zero()) {
        let path = format!("{path}.{name}");
        out.rows.push(Row::alone(0, said(&path, &shown(value)), value.line()));
    }
}

/// Elements up to the last that is not zero.
fn used(all: &[Value]) -> &[Value] {
    let used = all.iter().rposition(|v| !v.is_zero()).map_or(0, |last| last + 1);
    all.get(..used).unwrap_or_default()
}

fn elements(old: &[Value], new: &[Value], path: &str, out: &mut Rows) {
    let is_same_length = old.len() == new.len();
    let (a, b) = (used(old), used(new));
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut number = |v: &Value| {
        let next = numbers.len() as u32;
        *numbers.entry(v.key()).or_insert(next)
    };
    let (x, y): (Vec<u32>, Vec<u32>) =
        (a.iter().map(&mut number).collect(), b.iter().map(&mut number).collect());
    let by_place = x.iter().zip(&y).filter(|(p, q)| p != q).count() + x.len().abs_diff(y.len());
    let ops = aligned(&x, &y);
    let changed: usize = ops.as_ref().map_or(usize::MAX, |ops| {
        let of = |op: &DiffOp| match op {
            DiffOp::Equal { .. } => 0,
            op if op.old_range().len() == op.new_range().len() => op.old_range().len(),
            op => op.old_range().len() + op.new_range().len(),
        };
        ops.iter().map(of).sum()
    });
    match ops {
        Some(ops) if !(is_same_length && by_place <= changed) => {
            for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
                replaced((a, op.old_range()), (b, op.new_range()), path, out);
            }
        }
        _ => {
            let zero = |all: &[Value], i: usize| all.get(i).cloned();
            for i in 0..a.len().max(b.len()) {
                if let (Some(p), Some(q)) = (zero(old, i), zero(new, i)) {
                    compare(&p, &q, &format!("{path}[{i}]"), out);
                }
            }
            if a.len() != b.len() && !is_same_length {
                let (before, now) = (replaced_rest(a, b.len()), replaced_rest(b, a.len()));
                let line = |all: &[Value], from: usize| all.get(from).and_then(Value::line);
                let (was, is) = (line(a, b.len()), line(b, a.len()));
                out.rows.extend(before.map(|t| Row::alone(0, having(path, &t), was)));
                out.rows.extend(now.map(|t| Row::alone(1, having(path, &t), is)));
            }
        }
    }
}

/// The elements of one table beyond the length of the other.
fn replaced_rest(all: &[Value], from: usize) -> Option<String> {
    let rest = all.get(from..).filter(|rest| !rest.is_empty())?;
    Some(format!("{} from [{from}] on", listed(rest)))
}

/// Aligns elements; `None` where there are too many.
fn aligned(old: &[u32], new: &[u32]) -> Option<Vec<DiffOp>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let inner = (old.len() - head - tail).max(new.len() - head - tail);
    (inner <= MAX_ALIGNED).then(|| alignment::aligned(Algorithm::Myers, old, new))
}

/// Whether two elements are one that was changed, and not one in the place of another.
fn is_same_entry(old: &Value, new: &Value) -> bool {
    let first = |v: &Value| match v {
        Value::Record(members) => {
            members.iter().find(|(_, v)| !v.is_zero()).map(|(n, v)| (n.clone(), v.key()))
        }
        _ => None,
    };
    match (old, new) {
        (Value::Record(_), Value::Record(_)) => first(old).is_some() && first(old) == first(new),
        (Value::Array(_), Value::Array(_)) => false,
        _ => true,
    }
}

type Part<'a> = (&'a [Value], std::ops::Range<usize>);

/// Elements that others took the place of.
fn replaced((old, from): Part, (new, to): Part, path: &str, out: &mut Rows) {
    let (a, b) = (old.get(from.clone()).unwrap_or_default(), new.get(to.clone()).unwrap_or_default());
    let pairs = a.len() == b.len() && a.iter().zip(b).all(|(x, y)| is_same_entry(x, y));
    if pairs {
        for (k, (x, y)) in a.iter().zip(b).enumerate() {
            compare(x, y, &format!("{path}[{}]", to.start + k), out);
        }
        return;
    }
    let place = |all: &[Value], start: usize| match start.checked_sub(1).and_then(|i| all.get(i)) {
        Some(known) if is_telling(known) => format!(" after {}", shown(known)),
        _ => format!(" at [{start}]"),
    };
    let text = |part: &[Value], all: &[Value], start: usize| {
        (!part.is_empty()).then(|| having(path, &format!("{}{}", listed(part), place(all, start))))
    };
    let line = |part: &[Value]| part.iter().find_map(Value::line);
    out.rows.push(Row {
        before: text(a, old, from.start),
        now: text(b, new, to.start),
        at: [line(a), line(b)],
    });
}

/// Whether an element is known by itself: others are known by their place.
fn is_telling(v: &Value) -> bool {
    match v {
        Value::Text { bytes, .. } => bytes.iter().any(|b| !b.is_ascii_whitespace()),
        Value::Record(_) => !v.is_zero(),
        Value::Leaf(leaf) => {
            leaf.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '&') && !leaf.is_zero
        }
        Value::Array(_) => false,
    }
}

fn having(path: &str, what: &str) -> String {
    if path.is_empty() { format!("has {what}") } else { format!("{path} has {what}") }
}

/// Elements, the first few.
fn listed(all: &[Value]) -> String {
    let texts: Vec<String> = all.iter().take(MAX_ELEMENTS).map(shown).collect();
    let more = all.len().saturating_sub(MAX_ELEMENTS);
    let texts = texts.join(", ");
    if more > 0 { format!("{texts} and {more} more") } else { texts }
}
