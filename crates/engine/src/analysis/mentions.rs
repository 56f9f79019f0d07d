//! Which files a changed header can change anything for.
//!
//! A header that every file includes makes each of them a unit that the range touches; nearly always only a few
//! of them name what changed. The changed pieces of the header (`c::declared`) give a set of names; whatever in
//! other headers mentions one of these adds its own (a macro that uses the changed one, a structure that holds
//! the changed one), until nothing is added. What is read under other conditions than before (`#if`) counts as
//! changed. A source that mentions none of the names is read as before, token by token but for declarations that it
//! does not use. A header that is read in one of the versions alone (`#include`) counts with all that it declares. Where
//! that header is not there, or a change is not understood, every file that includes the header counts.
//!
//! A structure that gets a member is laid out anew, and that is all that most files which use it see of it: they
//! name its members, and do so as before. Where they are many, those are left out that name no member that changed
//! ([`Reached::left_out`]).

use super::units::{included_names, is_header, is_source};
use crate::frontend::c;
use crate::frontend::c::declared::{Decides, Paste, Piece, conditional, conditions, pieces};
use crate::frontend::c::headers;
use crate::history::SourceTree;
use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The `#include` lines of a tree.
pub struct Includes {
    /// By C file, the last components of the names that it includes.
    by_file: Vec<(PathBuf, Vec<String>)>,
}

impl Includes {
    /// Cost: reads every C file of the tree.
    pub fn of(tree: &dyn SourceTree) -> Includes {
        let paths = tree.paths();
        let files: Vec<&PathBuf> = paths.iter().filter(|p| is_source(p) || is_header(p)).collect();
        let known: HashSet<String> = files.iter().map(|p| name(p)).collect();
        let names = |p: &PathBuf| {
            let mut all = tree.read(p).map(|b| included_names(&b)).unwrap_or_default();
            // What is not there, and is made as a copy of one that is.
            let missing = all.iter().filter(|n| !known.contains(*n));
            let copied = missing.filter_map(|n| Some(format!("{}.def.h", n.strip_suffix(".h")?)));
            let copied: Vec<String> = copied.filter(|n| known.contains(n)).collect();
            all.extend(copied);
            all
        };
        Includes { by_file: files.par_iter().map(|p| ((*p).clone(), names(p))).collect() }
    }

    /// Returns the source files that include one of the files, directly or through others, found by the names
    /// in their `#include` lines.
    pub fn sources<'p>(&self, headers: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
        let mut wanted: BTreeSet<String> = headers.into_iter().map(|h| name(h)).collect();
        loop {
            let before = wanted.len();
            for (p, names) in &self.by_file {
                if names.iter().any(|n| wanted.contains(n)) {
                    wanted.insert(name(p));
                }
            }
            if wanted.len() == before {
                break;
            }
        }
        let hit = |names: &[String]| names.iter().any(|n| wanted.contains(n));
        let found = self.by_file.iter().filter(|(p, names)| is_source(p) && hit(names));
        found.map(|(p, _)| p.clone()).collect()
    }

    /// Files that others include: a header that nobody does, such as a list of exports, changes nothing.
    fn shared(&self) -> impl Iterator<Item = &PathBuf> {
        let named: BTreeSet<&str> = self.by_file.iter().flat_map(|(_, n)| n).map(String::as_str).collect();
        let files = self.by_file.iter().map(|(p, _)| p);
        files.filter(move |p| named.contains(&*name(p)))
    }
}

fn name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Texts taken apart, each once however often it is looked at: most headers are the same in both versions of a step,
/// and when another configuration is looked at.
#[derive(Default)]
pub struct Taken(Mutex<HashMap<blake3::Hash, Arc<Vec<Piece>>>>);

impl Taken {
    fn pieces(&self, text: &[u8]) -> Arc<Vec<Piece>> {
        let key = blake3::hash(text);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return found.clone();
        }
        let found = Arc::new(pieces(text));
        known().insert(key, found.clone());
        found
    }
}

/// A header before and after, where it is there.
pub type Header = (Option<PathBuf>, Option<PathBuf>);

/// What changed headers can change anything for.
#[derive(Debug, Default)]
pub struct Reached {
    /// The sources, and for each header that is left without one a source that includes it, so that it is read at
    /// all.
    pub sources: BTreeSet<PathBuf>,
    /// How many more only see that structures are laid out anew.
    pub left_out: usize,
    /// The names of what changed in the headers themselves.
    changed: HashSet<String>,
}

impl Reached {
    /// Keeps so many sources, those first that name the most of what changed itself, and of them the shorter ones;
    /// returns how many are left out.
    pub fn keep(&mut self, tree: &dyn SourceTree, most: usize) -> usize {
        let Some(more) = self.sources.len().checked_sub(most).filter(|more| *more > 0) else { return 0 };
        let rank = |path: &PathBuf| {
            let text = tree.read(path).unwrap_or_default();
            let named: HashSet<&str> = words(&text).filter(|word| self.changed.contains(*word)).collect();
            (Reverse(named.len()), text.len(), path.clone())
        };
        let mut ranked: Vec<_> = self.sources.par_iter().map(rank).collect();
        ranked.sort_unstable();
        self.sources = ranked.into_iter().take(most).map(|(.., path)| path).collect();
        more
    }
}

/// Returns the sources that changed headers can change anything for; of those that only see how structures are laid
/// out all or none, none where they are more than `most`.
pub fn reached(
    (old, new): (&dyn SourceTree, &dyn SourceTree),
    includes: &Includes,
    headers: &[Header],
    (taken, most): (&Taken, usize),
) -> Reached {
    let whole = closed((old, new), includes, headers, (taken, false));
    if whole.sources.len() <= most {
        return whole;
    }
    let by_members = closed((old, new), includes, headers, (taken, true));
    match whole.sources.difference(&by_members.sources).count() {
        left_out if left_out > most => Reached { left_out, ..by_members },
        _ => whole,
    }
}

/// The sources that changed headers can change anything for; of structures only members count if `by_members` is set.
fn closed(
    (old, new): (&dyn SourceTree, &dyn SourceTree),
    includes: &Includes,
    headers: &[Header],
    (taken, by_members): (&Taken, bool),
) -> Reached {
    let paths = |h: &Header| h.0.iter().chain(&h.1).cloned().collect::<Vec<_>>();
    let (mut names, mut found) = (Names::new(taken, by_members), BTreeSet::new());
    let mut limited: Vec<&Header> = Vec::new();
    for header in headers {
        let text = |tree: &dyn SourceTree, p: &Option<PathBuf>| p.as_ref().and_then(|p| tree.read(p));
        let (before, after) = (text(old, &header.0), text(new, &header.1));
        match (before, after) {
            (Some(a), Some(b))
                if is_plain(header) && names.add_changed(&name_of(header), (&a, old), (&b, new)) =>
            {
                limited.push(header)
            }
            _ => found.extend(includes.sources(&paths(header))),
        }
    }
    let changed: HashSet<String> = names.every().cloned().collect();
    let reached = |sources| Reached { sources, left_out: 0, changed };
    if limited.is_empty() {
        return reached(found);
    }
    let candidates = includes.sources(limited.iter().flat_map(|h| h.0.iter().chain(&h.1)));
    if !names.close(old, includes) {
        found.extend(candidates);
        return reached(found);
    }
    let is_named =
        |p: &&PathBuf| old.read(p).is_some_and(|text| names.are_in(&text) || names.are_made_in(&text));
    found.extend(candidates.par_iter().filter(is_named).cloned().collect::<Vec<_>>());
    for header in limited {
        let readers = includes.sources(&paths(header));
        if !readers.iter().any(|p| found.contains(p)) {
            found.extend(readers.into_iter().next());
        }
    }
    reached(found)
}

/// Whether both are headers of declarations, not tables that are included in the middle of something.
fn is_plain(header: &Header) -> bool {
    header.0.iter().chain(&header.1).all(|p| p.extension().is_some_and(|e| e == "h"))
}

/// Names whose meaning may have changed.
struct Names<'t> {
    taken: &'t Taken,
    all: HashSet<String>,
    /// Members that changed, and whatever else has their names.
    members: HashSet<String>,
    /// What the macros of headers put together with `##`.
    pastes: Vec<(String, Paste)>,
    /// Names of headers that count with all that they declare.
    read: HashSet<String>,
    /// Names of headers that were read before in both versions, where that is asked.
    before: HashSet<String>,
    /// Of structures of which only members changed, take these members alone.
    by_members: bool,
}

impl<'t> Names<'t> {
    fn new(taken: &'t Taken, by_members: bool) -> Names<'t> {
        Names {
            taken,
            all: HashSet::new(),
            members: HashSet::new(),
            pastes: Vec::new(),
            read: HashSet::new(),
            before: HashSet::new(),
            by_members,
        }
    }

    /// Adds the names of the pieces in which two texts differ; returns false where there is no telling.
    fn add_changed(
        &mut self,
        own: &str,
        (before, old): (&[u8], &dyn SourceTree),
        (after, new): (&[u8], &dyn SourceTree),
    ) -> bool {
        let names_lines = |text: &[u8]| text.windows(8).any(|w| w == b"__LINE__");
        if names_lines(before) || names_lines(after) {
            return false;
        }
        let (before, after) = (self.taken.pieces(before), self.taken.pieces(after));
        let (was, is) = (conditions(&before), conditions(&after));
        let texts = |list: &[Piece]| list.iter().map(|p| p.text.clone()).collect::<Vec<_>>();
        // The header itself is being read when others are that it includes.
        let mut read: Vec<(String, &[Vec<&str>])> = vec![(own.to_owned(), &[])];
        for op in aligned(Algorithm::Myers, &texts(&before), &texts(&after)) {
            let gone = before.get(op.old_range()).unwrap_or_default();
            let come = after.get(op.new_range()).unwrap_or_default();
            if matches!(op, DiffOp::Equal { .. }) {
                let both = gone.iter().zip(op.old_range()).zip(op.new_range());
                let stayed = both.clone().filter(|((_, old), new)| was.get(*old) == is.get(*new));
                read.extend(stayed.filter_map(|((piece, _), new)| Some((included(piece)?, &*is[new]))));
                let moved = both.filter(|((_, old), new)| was.get(*old) != is.get(*new));
                for ((piece, _), _) in moved {
                    if !self.add(piece, new) {
                        return false;
                    }
                }
                continue;
            }
            let other = |piece: &Piece, others: &[Piece]| {
                let of = |p: &Piece| piece.record.as_ref()?.changed(p.record.as_ref()?);
                others.iter().find_map(of)
            };
            let pairs = gone.iter().zip(op.old_range()).map(|(p, at)| (p, other(p, come), old, &was[at]));
            let others = come.iter().zip(op.new_range()).map(|(p, at)| (p, other(p, gone), new, &is[at]));
            for (piece, members, tree, conditions) in pairs.chain(others) {
                if let Some(members) = members.filter(|_| self.by_members) {
                    self.members.extend(members);
                    continue;
                }
                let is_read = |(name, under): &&(String, &[Vec<&str>])| {
                    conditions.starts_with(under) && is_guarded(name, tree, self.taken)
                };
                self.before = match piece.decides {
                    Some(Decides::Reads) => read.iter().filter(is_read).map(|(n, _)| n.clone()).collect(),
                    _ => HashSet::new(),
                };
                let is_known = self.add(piece, tree);
                self.before.clear();
                if !is_known {
                    return false;
                }
            }
        }
        true
    }

    /// Adds what a piece gives a meaning to; returns false where that may be anything. What a conditional decides is
    /// told by what stands in it, and what `#error` says gives no name a meaning.
    fn add(&mut self, piece: &Piece, tree: &dyn SourceTree) -> bool {
        match (piece.decides, &piece.reach) {
            _ if piece.is_message() => true,
            (Some(Decides::Reads), _) => self.add_included(piece, tree),
            (Some(_), _) => true,
            (None, Some(names)) => {
                self.all.extend(names.iter().cloned());
                true
            }
            (None, None) => false,
        }
    }

    /// Adds all that the headers declare which a directive reads; returns false where that is not known.
    fn add_included(&mut self, piece: &Piece, tree: &dyn SourceTree) -> bool {
        let Some(included) = included(piece).filter(|name| name.ends_with(".h")) else { return false };
        if self.read.contains(&included) || self.before.contains(&included) {
            return true;
        }
        let mut texts = meant(&included, tree);
        // Beside one of the tree, which may go on with it (`#include_next`).
        texts.extend(headers::library(&included).map(|t| t.as_bytes().into()));
        self.read.insert(included);
        let is_known = |text: &Arc<[u8]>| self.taken.pieces(text).iter().all(|piece| self.add(piece, tree));
        !texts.is_empty() && texts.iter().all(is_known)
    }

    /// Adds a piece that mentions a name: of a structure the members that do, and that it is laid out anew.
    fn add_mentioning(&mut self, piece: &Piece, tree: &dyn SourceTree) -> bool {
        let is_name = |word: &str| self.all.contains(word) || self.members.contains(word);
        let members = piece.record.as_ref().filter(|_| self.by_members).and_then(|r| r.mentioning(is_name));
        match members {
            Some(members) => {
                self.members.extend(members);
                true
            }
            None => self.add(piece, tree),
        }
    }

    /// Adds all that stands in the conditional of a directive.
    fn add_decided(&mut self, list: &[Piece], at: usize, tree: &dyn SourceTree) -> bool {
        let inside = conditional(list, at).and_then(|range| list.get(range));
        inside.is_some_and(|inside| inside.iter().all(|piece| self.add(piece, tree)))
    }

    /// Adds what mentions a name, until nothing does; returns false where what mentions one may mean anything.
    fn close(&mut self, tree: &dyn SourceTree, includes: &Includes) -> bool {
        let texts: Vec<(&PathBuf, _)> =
            includes.shared().filter_map(|p| tree.read(p).map(|text| (p, text))).collect();
        let mut known: BTreeMap<&PathBuf, Arc<Vec<Piece>>> = BTreeMap::new();
        for (path, text) in &texts {
            if text.windows(2).any(|w| w == b"##") {
                let list = self.taken.pieces(text);
                self.pastes.extend(list.iter().flat_map(pastes));
                known.insert(path, list);
            }
        }
        for (path, text) in &texts {
            if !known.contains_key(path) && self.are_called_in(text) {
                known.insert(path, self.taken.pieces(text));
            }
        }
        add_handed_on(&mut self.pastes, known.values().flat_map(|list| list.iter()));
        loop {
            let before = self.every().count();
            for (path, text) in &texts {
                if !known.contains_key(path) && !self.are_in(text) && !self.are_called_in(text) {
                    continue;
                }
                let list = known.entry(path).or_insert_with(|| self.taken.pieces(text)).clone();
                for (at, piece) in
                    list.iter().enumerate().filter(|(_, p)| self.mentioned(p)).collect::<Vec<_>>()
                {
                    let is_known = match piece.decides {
                        // `#ifdef NAME` decides about what stands behind it.
                        Some(Decides::Opens | Decides::Turns | Decides::Closes) => {
                            self.add_decided(&list, at, tree)
                        }
                        _ => piece.is_remark() || self.add_mentioning(piece, tree),
                    };
                    if !is_known {
                        return false;
                    }
                }
            }
            if self.every().count() == before {
                return true;
            }
        }
    }

    fn mentioned(&self, piece: &Piece) -> bool {
        // That a structure has a member of the name of another's is no mention.
        let uses = piece.record.as_ref().map_or(&piece.mentions, |record| &record.uses);
        piece.mentions.iter().any(|name| self.all.contains(name))
            || uses.iter().any(|name| self.members.contains(name))
            || self.are_made(piece, &self.pastes)
    }

    fn are_made(&self, piece: &Piece, pastes: &[(String, Paste)]) -> bool {
        let called = pastes.iter().filter(|(name, _)| piece.mentions.contains(name));
        let is_made = |(called, paste): &(String, Paste)| self.every().any(|n| piece.makes(n, called, paste));
        called.into_iter().any(is_made)
    }

    /// Whether a text calls a macro that puts names together.
    fn are_called_in(&self, text: &[u8]) -> bool {
        !self.pastes.is_empty() && words(text).any(|word| self.pastes.iter().any(|(name, _)| name == word))
    }

    /// Whether a text puts one of the names together, with its own macros or those of headers.
    fn are_made_in(&self, text: &[u8]) -> bool {
        let has_own = text.windows(2).any(|w| w == b"##");
        if !has_own && !self.are_called_in(text) {
            return false;
        }
        let list = self.taken.pieces(text);
        let mut all = self.pastes.clone();
        all.extend(list.iter().flat_map(pastes));
        add_handed_on(&mut all, list.iter());
        list.iter().any(|piece| self.are_made(piece, &all))
    }

    /// Whether a text has one of the names, in whatever place.
    fn are_in(&self, text: &[u8]) -> bool {
        words(text).any(|word| self.all.contains(word) || self.members.contains(word))
    }

    fn every(&self) -> impl Iterator<Item = &String> {
        self.all.iter().chain(&self.members)
    }
}

/// The words of a text, in whatever place.
fn words(text: &[u8]) -> impl Iterator<Item = &str> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$' || !b.is_ascii();
    text.split(move |b| !is_word(b)).filter(|w| !w.is_empty()).filter_map(|w| std::str::from_utf8(w).ok())
}

/// The texts of the tree that an include may read.
fn meant(included: &str, tree: &dyn SourceTree) -> Vec<Arc<[u8]>> {
    let found: Vec<_> =
        tree.paths().iter().filter(|p| p.ends_with(included)).filter_map(|p| tree.read(p)).collect();
    if !found.is_empty() {
        return found;
    }
    c::copy_of(tree, Path::new(included)).and_then(|p| tree.read(&p)).into_iter().collect()
}

/// Whether a header says nothing when it is read again.
fn is_guarded(included: &str, tree: &dyn SourceTree, taken: &Taken) -> bool {
    let is_guard = |piece: &Piece| piece.text == "# pragma once" || piece.decides == Some(Decides::Opens);
    meant(included, tree).iter().all(|text| taken.pieces(text).first().is_some_and(is_guard))
}

fn name_of(header: &Header) -> String {
    header.1.as_deref().or(header.0.as_deref()).map(name).unwrap_or_default()
}

/// The name that an `#include` has between its marks; `None` for other directives, and where a macro says it.
fn included(piece: &Piece) -> Option<String> {
    let text: String = piece.text.split_whitespace().collect();
    let name = text.strip_prefix("#include_next").or_else(|| text.strip_prefix("#include"))?;
    let between = |open: char, close: char| name.strip_prefix(open)?.strip_suffix(close);
    between('"', '"').or_else(|| between('<', '>')).map(|name| name.trim_start_matches("../").to_owned())
}

/// What a macro puts together, by its name.
fn pastes(piece: &Piece) -> impl Iterator<Item = (String, Paste)> {
    let name = piece.reach.iter().flatten().next().cloned().unwrap_or_default();
    piece.pastes.iter().map(move |paste| (name.clone(), paste.clone()))
}

/// Adds what macros put together by handing their arguments to those that do. Cost: once through what all pieces
/// mention.
fn add_handed_on<'p>(known: &mut Vec<(String, Paste)>, pieces: impl Iterator<Item = &'p Piece>) {
    if known.is_empty() {
        return;
    }
    let mut mentioning: HashMap<&str, Vec<&Piece>> = HashMap::new();
    // What is no macro has no arguments to hand on.
    for piece in pieces.filter(|p| p.is_macro()) {
        piece.mentions.iter().for_each(|name| mentioning.entry(name).or_default().push(piece));
    }
    let mut seen: HashSet<(String, Paste)> = known.iter().cloned().collect();
    let mut next = 0;
    while let Some((called, paste)) = known.get(next).cloned() {
        for piece in mentioning.get(&*called).into_iter().flatten() {
            let name = piece.reach.iter().flatten().next().cloned().unwrap_or_default();
            let made = piece.hands_on(&called, &paste).into_iter().map(|made| (name.clone(), made));
            known.extend(made.filter(|made| seen.insert(made.clone())));
        }
        next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    /// The sources that are reached when `h.h` goes from one text to another beside some other files.
    fn check(before: &str, after: &str, others: &[(&str, &str)], reached: &[&str]) {
        let files = |h: &'static str, text: &str| -> Vec<(String, String)> {
            let others = others.iter().map(|(p, t)| (p.to_string(), t.to_string()));
            others.chain([(h.to_owned(), text.to_owned())]).collect()
        };
        let tree =
            |text: &str| MemoryTree::new(files("h.h", text).iter().map(|(p, t)| (p.as_str(), t.as_str())));
        let (old, new) = (tree(before), tree(after));
        let header = (Some(PathBuf::from("h.h")), Some(PathBuf::from("h.h")));
        let all = super::reached(
            (&old, &new),
            &Includes::of(&old),
            std::slice::from_ref(&header),
            (&Taken::default(), usize::MAX),
        );
        assert_eq!(all.sources.iter().map(|p| p.to_string_lossy()).collect::<Vec<_>>(), reached);
        assert_eq!(all.left_out, 0);
    }

    /// As [`check`], and none is taken for a layout alone: what is left out.
    fn check_members(before: &str, after: &str, others: &[(&str, &str)], reached: &[&str], left_out: usize) {
        let tree = |text: &str| {
            MemoryTree::new(others.iter().copied().chain([("h.h", text)]).map(|(p, t)| (p, t.to_owned())))
        };
        let header = (Some(PathBuf::from("h.h")), Some(PathBuf::from("h.h")));
        let (old, new) = (tree(before), tree(after));
        let found = super::reached((&old, &new), &Includes::of(&old), &[header], (&Taken::default(), 0));
        assert_eq!(found.sources.iter().map(|p| p.to_string_lossy()).collect::<Vec<_>>(), reached);
        assert_eq!(found.left_out, left_out);
    }

    #[test]
    fn an_error_gives_no_name_a_meaning() {
        let b = (
            "b.c",
            "#include \"h.h\"\n#if V != 2\n#error another version\n#endif\nint v(void) { return V; }",
        );
        let t = ("t.c", "#include \"b.c\"\nint t(void) { return 1; }");
        let u = ("u.c", "#include \"b.c\"\nint u(void) { return v(); }");
        check("#define V 1\n", "#define V 2\n", &[b, t, u], &["b.c", "u.c"]);
        check("#error one\nint x;", "#error two\nint x;", &[A, B], &["a.c"]);
    }

    #[test]
    fn layouts_alone_are_left_out_where_many_see_them() {
        let k = ("k.c", "#include \"h.h\"\nint k(struct s *p) { return p->k; }");
        check_members("struct s { int m; int k; };", "struct s { int m; long k; };", &[B, k], &["k.c"], 1);
        // Some source has to read the header.
        check_members("struct s { int m; };", "struct s { int k; int m; };", &[A, B, C], &["a.c"], 1);
        check_members("struct s { int m; };", "struct t { int m; };", &[A, B, C], &["b.c"], 0);
        // A macro that uses the member.
        let d = ("d.c", "#include \"h.h\"\nint d(struct s *p) { return GET(p); }");
        let get = "\n#define GET(p) (p)->k\n";
        let [old, new] =
            ["struct s { int m; int k; };", "struct s { int m; long k; };"].map(|s| s.to_owned() + get);
        check_members(&old, &new, &[B, d], &["d.c"], 1);
    }

    const A: (&str, &str) = ("a.c", "#include \"h.h\"\nint a(void) { return f(1) + K; }");
    const B: (&str, &str) = ("b.c", "#include \"h.h\"\nint b(struct s *p) { return p->m; }");
    const O: (&str, &str) = ("o.c", "#include \"o.h\"\n");
    const C: (&str, &str) = ("c.c", "int c(void) { return f(2); }");

    #[test]
    fn includers_follow_headers() {
        let tree = MemoryTree::new([
            ("a.c", "#include \"x/b.h\"\n"),
            ("x/b.h", "  # include <c.h>\n"),
            ("c.h", ""),
            ("d.c", "#include <stdio.h>\n"),
        ]);
        assert_eq!(Includes::of(&tree).sources(&[PathBuf::from("c.h")]), [PathBuf::from("a.c")]);
    }

    #[test]
    fn only_who_names_it_is_reached() {
        check("int f(int);", "int f(int);\nint g(void);\nint f2;", &[A, B, C], &["a.c"]);
        check("int f(int);", "long f(int);", &[A, B, C], &["a.c"]);
        check("struct s { int m; };", "struct s { int k, m; };", &[A, B, C], &["b.c"]);
        check("#define K 1\nint f(int);", "#define K 2\nint f(int);", &[A, B, C], &["a.c"]);
        check("// one\nint f(int);", "// two\nint f(int);", &[A, B, C], &["a.c"]);
    }

    #[test]
    fn what_nobody_includes_changes_nothing() {
        check("int f(int);", "long f(int);", &[A, B, ("lib.def", "EXPORTS\n f @1\n")], &["a.c"]);
    }

    #[test]
    fn names_lead_to_names() {
        let middle =
            ("mid.h", "#include \"h.h\"\n#define K (BASE + 1)\nstruct s { struct inner i; int m; };\n");
        let a = ("a.c", "#include \"mid.h\"\nint a(void) { return K; }");
        let b = ("b.c", "#include \"mid.h\"\nint b(struct s *p) { return p->m; }");
        check("#define BASE 1", "#define BASE 2", &[middle, a, b], &["a.c"]);
        check("struct inner { int x; };", "struct inner { long x; };", &[middle, a, b], &["b.c"]);
        let pastes = ("p.h", "#define CALL(n) n##_run()\n");
        let a = ("a.c", "#include \"h.h\"\n#include \"p.h\"\nint a(void) { return CALL(it); }");
        check("int it_run(void);", "long it_run(void);", &[pastes, a, B], &["a.c"]);
        // Through macros that hand on what they are given.
        let pastes = (
            "p.h",
            "#define PUT(a, b) a##b\n#define JOIN(a, b) PUT(a, b)\n#define CALL(n) JOIN(n, _run)()\n",
        );
        let other = ("o.c", "#include \"h.h\"\n#include \"p.h\"\nint o(void) { return CALL(that); }");
        check("int it_run(void);", "long it_run(void);", &[pastes, a, other], &["a.c"]);
    }

    #[test]
    fn conditions_reach_what_stands_under_them() {
        check("#ifdef X\nint f(int);\n#endif", "#ifndef X\nint f(int);\n#endif", &[A, B, C], &["a.c"]);
        check("#ifdef X\nint f(int);\n#endif", "int f(int);", &[A, B, C], &["a.c"]);
        let other = |name: &str| {
            format!("#if A\n#define K 1\n#elif {name}\n#define K 2\n#endif\nstruct s {{ int m; }};")
        };
        check(&other("B"), &other("C"), &[A, B, C], &["a.c"]);
        // The text is the same, and another conditional ends before it.
        let [old, new] = ["#if X\nint f(int);\n#endif\nint g;", "#if X\n#endif\nint f(int);\nint g;"];
        check(old, new, &[A, B, C], &["a.c"]);
        check("#define ON 1", "#define ON 0", &[("o.h", "#if ON\nstruct s;\n#endif"), O, A, B], &["b.c"]);
    }

    #[test]
    fn a_header_that_is_read_counts_with_what_it_declares() {
        let x = ("x.h", "#ifndef X_H\n#define X_H\n#include \"y.h\"\nextern int unused;\n#endif");
        let y = ("y.h", "#include \"x.h\"\nstruct s { int m; };");
        let include = "#include \"x.h\"\nint f(int);";
        check("int f(int);", include, &[A, B, C, x, y], &["b.c"]);
        check(include, "int f(int);", &[A, B, C, x, y], &["b.c"]);
        check(&format!("#if P\n{include}\n#endif"), include, &[A, B, C, x, y], &["a.c", "b.c"]);
        let e = ("e.c", "#include \"h.h\"\nint e(void) { uint8_t c = 1; return c; }");
        check("int f(int);", "#include <stdint.h>\nint f(int);", &[A, B, C, e], &["e.c"]);
        // It includes what was read before, and the header that includes it.
        let g = ("g.h", "#ifndef G\n#define G\nint f(int);\n#endif");
        let back = ("x.h", "#include \"h.h\"\n#include \"g.h\"\nstruct s { int m; };");
        let texts = |head: &str, behind: &str| {
            ["", "#include \"x.h\"\n"].map(|x| format!("#ifndef H\n{head}{x}{behind}extern int z;\n#endif"))
        };
        let [old, new] = texts("#include \"g.h\"\n", "");
        check(&old, &new, &[A, B, C, g, back], &["b.c"]);
        check(&old, &new, &[A, B, C, ("g.h", "int f(int);"), back], &["a.c", "b.c"]);
        let [old, new] = texts("", "#include \"g.h\"\n");
        check(&old, &new, &[A, B, C, g, back], &["a.c", "b.c"]);
        let [old, new] = texts("#ifdef P\n#include \"g.h\"\n#endif\n", "");
        check(&old, &new, &[A, B, C, g, back], &["a.c", "b.c"]);
        // Another header asks whether it was read.
        let asks = ("o.h", "#ifdef X_H\nint f(int);\n#endif");
        check("int f(int);", include, &[A, B, C, x, y, asks, ("o.c", "#include \"o.h\"\n")], &["a.c", "b.c"]);
        // What it declares is not known.
        let odd = ("x.h", "struct o { FIELDS const int x; };");
        check("int f(int);", include, &[A, B, C, odd], &["a.c", "b.c"]);
        check("int f(int);", "#include X_FILE\nint f(int);", &[A, B, C, x], &["a.c", "b.c"]);
    }

    #[test]
    fn what_decides_reaches_everyone() {
        let all = ["a.c", "b.c"];
        check("int f(int);", "#include <x.h>\nint f(int);", &[A, B, C], &all);
        let include = |name| format!("#if {name}\n#include <x.h>\n#endif\nint f(int);");
        check(&include("X"), &include("Y"), &[A, B, C], &all);
        check("#define ON 1", "#define ON 0", &[("o.h", "#if ON\n#include <x.h>\n#endif"), O, A, B], &all);
        check("int f(int);", "int f(int) { return __LINE__; }", &[A, B, C], &all);
    }
}
