//! Files of a tree that the range does not touch but that name what it changes.
//!
//! They are found by a search for identifiers, without preprocessing. Where a header has a function or a
//! macro that stands for a name, those that name it count, too.

use super::units::{is_header, is_source};
use crate::frontend::c::slice::Items;
use crate::history::SourceTree;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Files of a version that are searched for names.
pub(super) const MAX_SEARCHED: usize = 4000;
/// Bytes of the largest file that is parsed for nothing but the names in it.
const MAX_FILE_BYTES: usize = 256 << 10;
/// Headers through which a name is followed.
const MAX_HEADERS: usize = 3;

/// What was found, and what a limit left out.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub files: Vec<PathBuf>,
    /// Files that were not searched.
    pub unsearched: usize,
    /// Files that have one of the names and are not among `files`.
    pub left_out: usize,
}

impl Found {
    /// What a limit left out, for people; `what`: in which role the files are missed.
    pub fn notices(&self, what: &str) -> Vec<String> {
        let searched = (self.unsearched > 0)
            .then(|| format!("note: {} more files were not searched for {what}", self.unsearched));
        let looked_at = (self.left_out > 0).then(|| {
            format!("note: {} more files that name what changed were not looked at for {what}", self.left_out)
        });
        searched.into_iter().chain(looked_at).collect()
    }
}

/// The C sources of a tree, but for `known` ones, that have one of the names among their identifiers: at
/// most `most`, those first that have one of the `preferred`. Cost: reads the C files of the tree.
pub(super) fn naming(
    tree: &dyn SourceTree,
    known: &BTreeSet<PathBuf>,
    names: &BTreeSet<Arc<str>>,
    preferred: &BTreeSet<&[u8]>,
    most: usize,
) -> Found {
    let mut found = Found::default();
    if names.is_empty() {
        return found;
    }
    let all = tree.paths();
    let mut paths: Vec<&PathBuf> = all.iter().filter(|p| is_source(p) && !known.contains(*p)).collect();
    paths.sort();
    found.unsearched = paths.len().saturating_sub(MAX_SEARCHED);
    paths.truncate(MAX_SEARCHED);
    let names = through_headers(tree, &all, names);
    let wanted: BTreeSet<&[u8]> = names.iter().map(|n| n.as_bytes()).collect();
    let has = |p: &&PathBuf| tree.read(p).is_some_and(|text| mentions(&text, &wanted));
    let mut naming: Vec<&PathBuf> = paths.into_par_iter().filter(has).collect();
    let total = naming.len();
    naming.retain(|p| tree.read(p).is_some_and(|text| text.len() <= MAX_FILE_BYTES));
    naming.sort_by_key(|p| tree.read(p).is_none_or(|text| !mentions(&text, preferred)));
    naming.truncate(most);
    found.left_out = total - naming.len();
    found.files = naming.into_iter().cloned().collect();
    found
}

/// The names, and those of functions and macros in headers that use one of them.
fn through_headers(tree: &dyn SourceTree, all: &[PathBuf], names: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    let headers: Vec<&PathBuf> = all.iter().filter(|p| is_header(p)).take(MAX_SEARCHED).collect();
    let mut names = names.clone();
    for _ in 0..MAX_HEADERS {
        let wanted: BTreeSet<&[u8]> = names.iter().map(|n| n.as_bytes()).collect();
        let uses = |p: &&PathBuf| {
            let text = tree.read(p).filter(|text| mentions(text, &wanted))?;
            Some(Items::of(&text).users(&|word| wanted.contains(word.as_bytes())))
        };
        let more: Vec<String> = headers.par_iter().filter_map(uses).flatten().collect();
        let before = names.len();
        names.extend(more.into_iter().map(Arc::from));
        if names.len() == before {
            break;
        }
    }
    names
}

/// Whether one of the names is among a text's identifiers.
pub(super) fn mentions(text: &[u8], names: &BTreeSet<&[u8]>) -> bool {
    if names.is_empty() {
        return false;
    }
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    // Most words begin with no name's first letter, or are as long as none.
    let (mut begins, mut lengths) = ([false; 256], 0_u64);
    let bit = |name: &[u8]| 1_u64 << name.len().min(63);
    for name in names {
        lengths |= bit(name);
        begins[usize::from(name.first().copied().unwrap_or_default())] = true;
    }
    let may_be =
        |word: &[u8]| word.first().is_some_and(|b| begins[usize::from(*b)]) && lengths & bit(word) != 0;
    text.split(|b| !is_part(b)).any(|word| may_be(word) && names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[track_caller]
    fn check(files: &[(&str, &str)], name: &str, expected: &[&str]) {
        let tree = MemoryTree::new(files.iter().copied());
        let names = BTreeSet::from([Arc::from(name)]);
        let found = naming(&tree, &BTreeSet::from(["known.c".into()]), &names, &BTreeSet::new(), 4);
        assert_eq!(found.files, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{files:?}");
    }

    #[test]
    fn words_are_names() {
        let long = "x".repeat(80);
        let names: BTreeSet<&[u8]> = [b"ab".as_slice(), b"_a1", long.as_bytes()].into();
        for (text, expected) in [
            ("", false),
            ("ab", true),
            ("abc a b", false),
            ("(ab)", true),
            ("x_a1", false),
            ("+_a1;", true),
            ("xab", false),
            (&*format!("-{long}-"), true),
            (&*format!("{long}x"), false),
        ] {
            assert_eq!(mentions(text.as_bytes(), &names), expected, "{text}");
        }
        assert!(!mentions(b"ab", &BTreeSet::new()));
    }

    #[test]
    fn files_are_found_by_identifiers() {
        let a = ("a.c", "int f(void) { return g(); }");
        check(&[a, ("b.c", "int gg;"), ("known.c", "g")], "g", &["a.c"]);
        check(&[a, ("h.h", "int g(void);"), ("c.c", "#include \"h.h\"\nint x;")], "g", &["a.c"]);
    }

    #[test]
    fn headers_pass_names_on() {
        let macros = ("h.h", "int g(void);\n#define CALL() g()\n#define TWICE() (CALL() + CALL())\n");
        check(&[macros, ("c.c", "int x(void) { return TWICE(); }")], "g", &["c.c"]);
        let inline = ("h.h", "static inline int wrap(void) { return g(); }\n");
        check(&[inline, ("c.c", "int x(void) { return wrap(); }"), ("d.c", "int y;")], "g", &["c.c"]);
    }
}
