//! What a parsed unit rests on that its text does not say.
//!
//! An unknown type becomes `int`, an enumerator with an unknown initialiser gets some value, a
//! field of incomplete type takes no room, and the tree does not show it: only a diagnostic does,
//! and it may lie in a header. A *name is invented* when its declaration has an error or when it is
//! one of our guesses; the property spreads to every declaration that holds such a type by value.
//! Functions are charged with the invented names that their tokens mention. Uses that go through a
//! chain of pointers do not show in the tokens; lowering finds those by the record's tag.

use super::retry::shapes::Shape;
use super::retry::{self, Guesses, INVENTED, Places};
use super::scan::{Item, ItemKind, Text};
use rucc_base::Symbol;
use rucc_diag::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names whose meaning was invented.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invented {
    /// Types (typedefs and tags), enumerators, variables and functions, with the reason.
    pub names: BTreeMap<Arc<str>, Arc<str>>,
    /// Per function of the unit, the invented names that it mentions, sorted.
    pub functions: BTreeMap<String, Vec<Arc<str>>>,
    /// Macros that were taken to stand for nothing.
    pub macros: BTreeSet<String>,
}

impl Invented {
    /// Returns whether a tag, typedef, enumerator or variable has an invented meaning.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Returns the invented names that a function mentions.
    pub fn in_function(&self, name: &str) -> &[Arc<str>] {
        self.functions.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Finds the invented names of a unit. Cost: a pass over the tokens per round of spreading, which
/// ends after as many rounds as types nest by value.
pub fn invented(text: Text<'_>, items: &[Item], diagnostics: &[Diagnostic], guesses: &Guesses) -> Invented {
    let mut names: BTreeMap<Arc<str>, Arc<str>> =
        guesses.types.keys().map(|n| (Arc::from(n.as_str()), Arc::from("unknown type"))).collect();
    let objects = guesses.objects.keys().chain(guesses.strings.keys());
    names.extend(objects.map(|n| (Arc::from(n.as_str()), Arc::from("unknown macro or object"))));
    names.extend(guesses.enums.iter().map(|n| (Arc::from(n.as_str()), Arc::from("unknown type"))));
    if !guesses.lengths.is_empty() {
        let is_guessed = |item: &&Item| {
            let mut lengths = retry::tokens::lengths(text, item).into_iter();
            lengths.any(|i| text.at(i) == retry::tokens::LENGTH)
        };
        let outside = items.iter().filter(|i| !matches!(i.kind, ItemKind::Function { .. }));
        let made = outside.filter(is_guessed).flat_map(|item| &item.declares);
        names.extend(made.map(|n| (Arc::from(n.as_str()), Arc::from("unknown length"))));
    }
    // What begins with a text that stands for a macro.
    let texts: BTreeSet<String> = guesses.strings.keys().map(|n| retry::string_of(n)).collect();
    if !texts.is_empty() {
        let outside = items.iter().filter(|i| !matches!(i.kind, ItemKind::Function { .. }));
        let made = outside.filter(|item| item.tokens.clone().any(|i| texts.contains(text.at(i))));
        let made = made.flat_map(|item| &item.declares);
        names.extend(made.map(|n| (Arc::from(n.as_str()), Arc::from("unknown macro"))));
    }
    let results = guesses.results.iter();
    names.extend(results.map(|(n, is)| {
        let why = if *is == retry::Kind::Number { "unknown function" } else { "unknown result" };
        (Arc::from(n.as_str()), Arc::from(why))
    }));
    let calls = guesses.operators.iter().filter(|(_, operator)| operator.is_unknown()).map(|(name, _)| name);
    names.extend(calls.map(|n| (Arc::from(n.as_str()), Arc::from("unknown macro"))));
    names.extend(guesses.loops.iter().map(|n| (Arc::from(n.as_str()), Arc::from("unknown loop"))));
    let structures = guesses.shapes.iter().filter(|(_, shape)| **shape == Shape::Record);
    names.extend(structures.map(|(n, _)| (Arc::from(format!("{INVENTED}{n}")), Arc::from("unknown macro"))));
    let records = guesses.records.whole.keys().chain(guesses.records.more.keys());
    names.extend(records.map(|n| (Arc::from(n.as_str()), Arc::from("unknown type"))));
    let fatal = || diagnostics.iter().filter(|d| d.severity.is_fatal());
    let places = Places::new(text, items, fatal());
    for one in fatal() {
        let Some(item) = places.item(one).and_then(|at| items.get(at)) else { continue };
        if !matches!(item.kind, ItemKind::Function { .. }) {
            for name in &item.declares {
                names.entry(Arc::from(name.as_str())).or_insert_with(|| Arc::from(one.message.as_str()));
            }
        }
    }
    let declarations: Vec<&Item> =
        items.iter().filter(|i| !matches!(i.kind, ItemKind::Function { .. })).collect();
    // A number is compared sooner than a word, and nearly no token is one of these.
    let mut known: FxHashSet<Symbol> = names.keys().filter_map(|name| text.interner.find(name)).collect();
    let is_known = |known: &FxHashSet<Symbol>, i: usize| {
        text.tokens.get(i).and_then(|t| t.value).is_some_and(|word| known.contains(&word))
    };
    let mut grown = !names.is_empty();
    while grown {
        grown = false;
        for item in &declarations {
            if item.declares.iter().all(|d| names.contains_key(d.as_str())) {
                continue;
            }
            let holds =
                |i: &usize| is_known(&known, *i) && text.name(*i).is_some() && holds_by_value(text, *i);
            let held = item.tokens.clone().find(holds);
            let Some(held) = held.and_then(|i| text.name(i)) else { continue };
            let why: Arc<str> = Arc::from(format!("holds {held}"));
            for name in item.declares.iter().filter(|d| *d != held) {
                grown |= names.insert(Arc::from(name.as_str()), why.clone()).is_none();
                known.extend(text.interner.find(name));
            }
        }
    }
    let by_name: FxHashMap<&str, &Arc<str>> = names.keys().map(|n| (&**n, n)).collect();
    // A macro that is taken for a string shows as one, and a label as a number.
    let mut shown: FxHashMap<String, &Arc<str>> = FxHashMap::default();
    shown.extend(
        names.keys().filter(|n| guesses.strings.contains_key(&***n)).map(|n| (retry::string_of(n), n)),
    );
    let labels = names.keys().filter(|n| guesses.labels.contains(&***n));
    shown.extend(labels.map(|n| (retry::tokens::number_of(n).to_string(), n)));
    let mut functions = BTreeMap::new();
    for item in items {
        let ItemKind::Function { name, .. } = &item.kind else { continue };
        if names.is_empty() {
            break;
        }
        let mut used: BTreeSet<&Arc<str>> = BTreeSet::new();
        for i in item.tokens.clone() {
            let called = || text.name(i).and_then(|n| by_name.get(n));
            used.extend(shown.get(text.at(i)).or_else(called));
        }
        let used: Vec<Arc<str>> = used.into_iter().filter(|n| &***n != name).cloned().collect();
        if !used.is_empty() {
            functions.insert(name.clone(), used);
        }
    }
    let macros = guesses.macros.keys().chain(guesses.shapes.keys());
    let macros = macros.chain(&guesses.loops).chain(guesses.definers.keys());
    Invented { names, functions, macros: macros.cloned().collect() }
}

/// Returns whether the type named at `index` is used by value rather than pointed to.
fn holds_by_value(text: Text<'_>, index: usize) -> bool {
    let mut next = index + 1;
    while matches!(text.at(next), "const" | "volatile") {
        next += 1;
    }
    text.at(next) != "*"
}
