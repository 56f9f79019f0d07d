//! What a program is linked with beside the files that were loaded: the files that define what it names,
//! those whose functions run around `main` without being called, strong definitions of weak names.
//!
//! They are found by their text, without preprocessing. Where several files define a name, the tree is one
//! of several programs; that of the same folder is taken, if it is but one.

use super::units::{is_header, is_source};
use super::{bindings, elsewhere};
use crate::frontend::c::slice::Items;
use crate::history::SourceTree;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Words by which a file has something run around `main`, in attributes and in names of sections.
const HOOKING: [&str; 9] = [
    "constructor",
    "destructor",
    "__constructor__",
    "__destructor__",
    "preinit_array",
    "init_array",
    "fini_array",
    "ctors",
    "dtors",
];

/// Most files that are parsed for nothing but what a program is linked with.
pub(super) const MAX_LINKED: usize = 8;
/// Most of them that are parsed only because a program's start calls what they define.
pub(super) const MAX_FURTHER: usize = 4;

/// A name: whether it is a function's.
pub(super) type Name = (bool, Arc<str>);

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Whoever defines one of these for other files.
    pub defined: BTreeSet<Name>,
    /// Whoever names one of these.
    pub named: BTreeSet<Arc<str>>,
    /// Whoever has something run around `main`.
    pub hooks: bool,
    /// Of those that define functions, only those whose functions assert something.
    pub asserting: bool,
}

/// Where it is.
#[derive(Debug, Default)]
pub(super) struct Linked {
    pub hooks: Vec<PathBuf>,
    pub named: Vec<PathBuf>,
    pub definers: BTreeMap<Name, Vec<PathBuf>>,
    /// Files that were not searched.
    pub unsearched: usize,
}

impl Search {
    /// What was not asked before.
    pub fn without(self, asked: &Search) -> Search {
        let library = |name: &Name| name.0 && bindings::is_library(&name.1);
        Search {
            defined: self.defined.difference(&asked.defined).filter(|n| !library(n)).cloned().collect(),
            named: self.named.difference(&asked.named).cloned().collect(),
            hooks: self.hooks && !asked.hooks,
            asserting: self.asserting,
        }
    }

    pub fn join(&mut self, other: Search) {
        self.defined.extend(other.defined);
        self.named.extend(other.named);
        self.hooks |= other.hooks;
    }
}

impl Linked {
    /// Whether a file is more than a definer of names that nothing else defines.
    pub fn decides(&self, path: &Path, is_replaceable: impl Fn(&Name) -> bool) -> bool {
        let is_in = |paths: &[PathBuf]| paths.iter().any(|p| p == path);
        is_in(&self.hooks)
            || is_in(&self.named)
            || self.definers.iter().any(|(name, paths)| is_in(paths) && is_replaceable(name))
    }

    /// The files that a program is linked with of which one file is known, those first that matter most.
    pub fn chosen(&self, beside: &Path) -> Vec<PathBuf> {
        let objects_first = self.definers.iter();
        let definers = objects_first.filter_map(|(_, paths)| chosen(paths, beside));
        let mut found: Vec<PathBuf> = Vec::new();
        for path in self.hooks.iter().chain(&self.named).chain(definers) {
            if !found.contains(path) {
                found.push(path.clone());
            }
        }
        found
    }
}

/// Of several files that define a name, the one of a folder; none where there is no single one.
pub(super) fn chosen<'p>(paths: &'p [PathBuf], beside: &Path) -> Option<&'p PathBuf> {
    let mut near = paths.iter().filter(|p| p.parent() == beside.parent());
    match (paths, near.next(), near.next()) {
        ([one], ..) => Some(one),
        (_, Some(one), None) => Some(one),
        _ => None,
    }
}

/// Files of which it is known, by content and words, whether they have something run around `main`.
#[derive(Default)]
pub(super) struct Memory {
    hooks: Mutex<BTreeMap<String, bool>>,
}

/// Searches the sources of a tree, but for `known` ones. Cost: reads them; those with one of the words are
/// cut into tokens.
pub(super) fn search(
    tree: &dyn SourceTree,
    known: &BTreeSet<PathBuf>,
    wanted: &Search,
    memory: &Memory,
) -> Linked {
    let mut found = Linked::default();
    let names: BTreeSet<&[u8]> = wanted.defined.iter().map(|(_, n)| n.as_bytes()).collect();
    let named: BTreeSet<&[u8]> = wanted.named.iter().map(|n| n.as_bytes()).collect();
    if names.is_empty() && named.is_empty() && !wanted.hooks {
        return found;
    }
    let all = tree.paths();
    let mut paths: Vec<&PathBuf> = all.iter().filter(|p| is_source(p) && !known.contains(*p)).collect();
    paths.sort();
    found.unsearched = paths.len().saturating_sub(elsewhere::MAX_SEARCHED);
    paths.truncate(elsewhere::MAX_SEARCHED);
    if paths.is_empty() {
        return found;
    }
    let hooking = if wanted.hooks { hooking_words(tree, &all) } else { BTreeSet::new() };
    let spelled = hooking.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let hooked = |path: &PathBuf, text: Option<&Arc<[u8]>>| {
        let key = format!("{} {spelled}", tree.content_id(path)?);
        if let Some(known) = memory.hooks.lock().ok()?.get(&key) {
            return Some(*known);
        }
        let is_hooked = has_hooks(text.cloned().or_else(|| tree.read(path))?.as_ref(), &hooking);
        memory.hooks.lock().ok()?.insert(key, is_hooked);
        Some(is_hooked)
    };
    let one = |path: &PathBuf| -> Option<(PathBuf, bool, bool, Vec<Name>)> {
        let text = if names.is_empty() && named.is_empty() { None } else { Some(tree.read(path)?) };
        let is_hook = wanted.hooks && hooked(path, text.as_ref()) == Some(true);
        let text = text.unwrap_or_else(|| Arc::from([]));
        let is_named = elsewhere::mentions(&text, &named);
        let mut defines = Vec::new();
        let has_name = if wanted.asserting { may_define } else { elsewhere::mentions };
        if has_name(&text, &names) {
            let items = Items::of(&text);
            // What has a start of its own is another program.
            let is_start = items.functions().any(|f| f == "main");
            let has = |(is_function, name): &&Name| items.is_defined_for_all(name, *is_function);
            let asserts = |name: &Name| name.0 && items.has_token(&name.1, &is_asserting);
            let fits =
                |name: &&Name| (&*name.1 == "main" || !is_start) && (!wanted.asserting || asserts(name));
            defines = wanted.defined.iter().filter(fits).filter(has).cloned().collect();
        }
        (is_hook || is_named || !defines.is_empty()).then(|| (path.clone(), is_hook, is_named, defines))
    };
    let all: Vec<_> = paths.into_par_iter().filter_map(one).collect();
    for (path, is_hook, is_named, defines) in all {
        if is_hook {
            found.hooks.push(path.clone());
        }
        if is_named {
            found.named.push(path.clone());
        }
        for name in defines {
            found.definers.entry(name).or_default().push(path.clone());
        }
    }
    found
}

/// Whether a text has one of the names before a parenthesis in a line that begins at its margin, as definitions
/// do: enough to leave out most files that only call it.
fn may_define(text: &[u8], names: &BTreeSet<&[u8]>) -> bool {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    text.split(|b| *b == b'\n').any(|line| {
        let Some(open) = line.iter().position(|b| *b == b'(') else { return false };
        let head = line.get(..open).unwrap_or_default().trim_ascii_end();
        let start = head.iter().rposition(|b| !is_part(b)).map_or(0, |last| last + 1);
        line.first().is_some_and(is_part) && names.contains(head.get(start..).unwrap_or_default())
    })
}

/// Whether a word asserts something, or may be a macro that does.
fn is_asserting(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.contains("assert") || word == "abort"
}

/// Whether a file defines a name for other files.
pub(super) fn defines(text: &[u8], (is_function, name): &Name) -> bool {
    let is_named = elsewhere::mentions(text, &BTreeSet::from([name.as_bytes()]));
    is_named && Items::of(text).is_defined_for_all(name, *is_function)
}

/// Whether a file has one of the words by which something runs around `main`.
pub(super) fn may_hook(text: &[u8]) -> bool {
    elsewhere::mentions(text, &HOOKING.iter().map(|w| w.as_bytes()).collect())
}

/// The words, and the names of macros and functions of headers that have one of them.
fn hooking_words(tree: &dyn SourceTree, all: &[PathBuf]) -> BTreeSet<String> {
    let mut words: BTreeSet<String> = HOOKING.iter().map(|w| (*w).to_owned()).collect();
    let plain: BTreeSet<&[u8]> = HOOKING.iter().map(|w| w.as_bytes()).collect();
    let headers: Vec<&PathBuf> = all.iter().filter(|p| is_header(p)).take(elsewhere::MAX_SEARCHED).collect();
    let users = |p: &&PathBuf| {
        let text = tree.read(p).filter(|text| elsewhere::mentions(text, &plain))?;
        Some(Items::of(&text).users(&|word| HOOKING.contains(&word)))
    };
    words.extend(headers.par_iter().filter_map(users).flatten().collect::<Vec<_>>());
    words
}

/// Whether a file has something run around the `main` of another one.
pub(super) fn has_hooks(text: &[u8], words: &BTreeSet<String>) -> bool {
    let bytes: BTreeSet<&[u8]> = words.iter().map(|w| w.as_bytes()).collect();
    if !elsewhere::mentions(text, &bytes) {
        return false;
    }
    let items = Items::of(text);
    let is_start = items.functions().any(|f| f == "main");
    !is_start
        && items.has_outside_of_bodies(&|token| {
            let mut parts = token.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            parts.any(|part| words.contains(part))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    const FILES: [(&str, &str); 6] = [
        ("main.c", "int main(void) { return g() + x; }"),
        ("b.c", "__attribute__((constructor)) static void init(void) { }"),
        ("c.c", "int g(void) { return 1; } /* a constructor */"),
        ("d/c.c", "int g(void) { return 2; } int x = 3; int f(void) { constructor(); }"),
        ("macro.h", "#define FIRST __attribute__((constructor))\n"),
        ("e.c", "FIRST static void first(void) { }\nint main(int c) { return weak_one(); }"),
    ];

    #[track_caller]
    fn check(wanted: Search, expected: &str) {
        let tree = MemoryTree::new(FILES);
        let found = search(&tree, &BTreeSet::from(["main.c".into()]), &wanted, &Memory::default());
        let definers: Vec<_> = found.definers.iter().map(|(n, p)| (&*n.1, p)).collect();
        assert_eq!(format!("{:?} {:?} {definers:?}", found.hooks, found.named), expected);
    }

    #[test]
    fn what_a_program_is_made_of_is_found_by_text() {
        check(Search { hooks: true, ..Search::default() }, "[\"b.c\"] [] []");
        check(Search { named: ["weak_one".into()].into(), ..Search::default() }, "[] [\"e.c\"] []");
        let names = [(true, "g".into()), (false, "x".into()), (true, "nowhere".into())];
        check(
            Search { defined: names.into(), ..Search::default() },
            "[] [] [(\"x\", [\"d/c.c\"]), (\"g\", [\"c.c\", \"d/c.c\"])]",
        );
        let both = ["c.c".into(), "d/c.c".into()];
        assert_eq!(chosen(&both, Path::new("main.c")), Some(&both[0]));
        assert_eq!(chosen(&both, Path::new("e/main.c")), None);
    }

    #[test]
    fn macros_of_headers_count() {
        let words = hooking_words(&MemoryTree::new(FILES), &FILES.map(|(p, _)| PathBuf::from(p)));
        assert!(words.contains("FIRST"));
        assert!(has_hooks(b"FIRST static void first(void) { }", &words));
        assert!(has_hooks(b"asm(\".section .init_array\");", &words));
        assert!(!has_hooks(b"static void first(void) { FIRST; }", &words));
    }
}
