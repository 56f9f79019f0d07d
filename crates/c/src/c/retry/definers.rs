//! Macros of missing headers that begin the definition of a function and take its name: `START_TEST(test_add) {`.
//!
//! A parser takes each of them for an old-style definition of one function, `START_TEST`, again and again. They become
//! the macro that such a header has, `#define START_TEST(name) void name(void)`, so that each function has its name. Two
//! arguments are a suite and a test, and both are the name.

use super::super::scan::{Item, ItemKind, Text};
use super::Guesses;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the functions of a macro have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definer {
    /// Arguments that their names are made of.
    names: usize,
    /// One of them returns a value.
    returns: bool,
}

impl Definer {
    /// The line of a prelude that says so.
    pub fn define(self, name: &str) -> String {
        let ty = if self.returns { "int" } else { "void" };
        match self.names {
            1 => format!("#define {name}(a, ...) {ty} a(void)\n"),
            _ => format!("#define {name}(a, b, ...) {ty} a##_##b(void)\n"),
        }
    }
}

/// Guesses at the macros of a unit that begin definitions, and at what ends them, such as `END_TEST`. A name in old style
/// is one of them if no function could be called so: it is defined more than once, or is written in capitals.
pub fn guess(text: Text<'_>, items: &[Item], out: &mut Guesses) {
    let found = definers(text, items);
    for item in items {
        // Of what follows a definition, the next one's item begins with it, or the end of the file does.
        let (until, is_one) = match &item.kind {
            ItemKind::Function { name, at, .. } => (*at, found.contains_key(name.as_str())),
            _ => (item.tokens.end, !found.is_empty() && item.tokens.end == text.tokens.len()),
        };
        let words = item.tokens.start..until;
        if is_one && words.clone().all(|i| is_mark(text, i)) {
            let named = words.filter_map(|i| text.name(i)).filter(|name| is_in_capitals(name));
            out.macros.extend(named.map(|name| (name.to_owned(), false)));
        }
    }
    out.definers.extend(found.into_iter().map(|(name, definer)| (name.to_owned(), definer)));
}

fn definers<'t>(text: Text<'t>, items: &'t [Item]) -> BTreeMap<&'t str, Definer> {
    let mut found: BTreeMap<&str, (usize, Definer)> = BTreeMap::new();
    for item in items {
        let ItemKind::Function { name, at, body } = &item.kind else { continue };
        let close = text.after_group(at + 1, *body);
        // `NAME(a, b) {`, and before it nothing that could be its type.
        let is_bare = |i: &usize| text.name(*i).is_some() && matches!(text.at(i + 1), "," | ")");
        let names = [at + 2, at + 4].iter().take_while(|i| **i < close && is_bare(i)).count();
        let is_untyped = (item.tokens.start..*at).all(|i| is_mark(text, i));
        if close != *body || names == 0 || !is_untyped {
            continue;
        }
        let returns = |i: usize| text.at(i) == "return" && text.at(i + 1) != ";";
        let own = Definer { names, returns: (*body..item.tokens.end).any(returns) };
        let (times, known) = found.entry(name).or_insert((0, own));
        *times += 1;
        *known = Definer { names: known.names.min(own.names), returns: known.returns || own.returns };
    }
    found.retain(|name, (times, _)| *times > 1 || is_in_capitals(name));
    // What is named elsewhere, too, may be a function after all.
    let mut left: BTreeMap<&str, usize> = found.iter().map(|(name, (times, _))| (*name, *times)).collect();
    for at in 0..if left.is_empty() { 0 } else { text.tokens.len() } {
        let Some(times) = left.get_mut(text.at(at)) else { continue };
        match times.checked_sub(1) {
            Some(less) => *times = less,
            None => _ = found.remove(text.at(at)),
        }
    }
    found.into_iter().map(|(name, (_, definer))| (name, definer)).collect()
}

fn is_mark(text: Text<'_>, at: usize) -> bool {
    matches!(text.at(at), "static" | "inline" | "extern") || text.name(at).is_some_and(is_in_capitals)
}

fn is_in_capitals(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_uppercase()) && !name.bytes().any(|b| b.is_ascii_lowercase())
}
