//! A quick look at a unit's text before it is preprocessed.
//!
//! Two questions are answered from the bytes of the source and of every header of the tree that it
//! may include, conditions ignored: in which folders the headers lie that no configured folder has,
//! and whether preprocessing could explode. The second is an estimate: a macro's *weight* is the
//! number of tokens it may expand to, where an argument counts as often as its parameter stands in
//! the body. Names made by pasting cannot be followed, so many macros that paste twice or more are
//! suspicious by themselves.
//!
//! Cost: one pass over each file's bytes; what a file contributes is cached by content.

use super::files::{self, TreeFiles, in_tree};
use super::headers;
use super::parse::Options;
use super::platform;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Estimated tokens from which a unit is tried in a child process first.
const SUSPICIOUS_TOKENS: f64 = 2_000_000.0;
/// Macros that paste at least twice, from which on a unit is tried in a child process first.
const SUSPICIOUS_PASTES: usize = 64;
/// Bytes from which a unit is tried in a child process first.
const SUSPICIOUS_BYTES: u64 = 16 << 20;
/// Nesting before preprocessing from which on a unit is tried in a child process first.
const SUSPICIOUS_DEPTH: usize = 2_000;
/// Files looked at; a unit that includes more is not surveyed further.
const MAX_FILES: usize = 5_000;

/// What a survey found.
#[derive(Debug, Default)]
pub struct Survey {
    /// Folders to search last, in the order they were needed.
    pub folders: Vec<PathBuf>,
    /// Why preprocessing this unit may need too much memory or time, if it may.
    pub suspicion: Option<&'static str>,
    /// Macros by which its conditions ask what the system has (`platform`).
    pub asked: BTreeSet<String>,
}

#[derive(Debug)]
struct Include {
    name: PathBuf,
    quoted: bool,
}

#[derive(Debug)]
struct Macro {
    name: String,
    params: Vec<String>,
    body: Vec<Piece>,
    pastes: usize,
}

/// A token of text as far as the estimate needs it.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    Name(String),
    Open,
    Close,
    Other,
}

impl Piece {
    fn name(spelled: &[u8]) -> Piece {
        Piece::Name(String::from_utf8_lossy(spelled).into_owned())
    }
}

/// What one file contributes.
#[derive(Debug, Default)]
struct Facts {
    includes: Vec<Include>,
    macros: Vec<Macro>,
    /// Text outside directives: only calls nested in calls matter, so only names before an opening
    /// parenthesis and parentheses are kept.
    calls: Vec<Piece>,
    bytes: u64,
    /// Macros by which conditions ask what the system has.
    asked: Vec<String>,
    /// Deepest nesting of parentheses, and longest run of prefix operators in a condition.
    depth: usize,
}

/// Looks at the unit at `path` and at every header it may include.
pub fn survey(files: &TreeFiles<'_>, path: &Path, options: &Options) -> Survey {
    let mut out = Survey::default();
    let mut seen = BTreeSet::from([path.to_path_buf()]);
    let mut queue = VecDeque::from([path.to_path_buf()]);
    let mut all: Vec<Arc<Facts>> = Vec::new();
    let unit_folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    while let Some(file) = queue.pop_front() {
        if all.len() >= MAX_FILES {
            break;
        }
        let Some((bytes, id)) = files.content(&file) else { continue };
        let facts = cached_facts(&id, &bytes);
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        for include in &facts.includes {
            let own = include.quoted.then_some(&folder);
            let configured =
                own.into_iter().chain([&unit_folder]).chain(options.folders()).chain(&out.folders);
            let found = configured.map(|d| in_tree(&d.join(&include.name))).find(|p| files.has(p));
            let found = found.or_else(|| {
                if headers::is_library(include.name.to_str()?) {
                    return None;
                }
                let found = files.locate(&folder, &include.name)?;
                out.folders.push(files::folder(&include.name, &found)?);
                Some(found)
            });
            if let Some(found) = found.filter(|f| !seen.contains(f)) {
                seen.insert(found.clone());
                queue.push_back(found);
            }
        }
        all.push(facts);
    }
    out.suspicion = suspicion(&all);
    out.asked = all.iter().flat_map(|f| &f.asked).cloned().collect();
    out
}

fn suspicion(all: &[Arc<Facts>]) -> Option<&'static str> {
    if all.iter().map(|f| f.bytes).sum::<u64>() > SUSPICIOUS_BYTES {
        return Some("source size");
    }
    if all.iter().any(|f| f.depth > SUSPICIOUS_DEPTH) {
        return Some("nesting");
    }
    if all.iter().flat_map(|f| &f.macros).filter(|m| m.pastes >= 2).count() > SUSPICIOUS_PASTES {
        return Some("pasted macro names");
    }
    let mut macros: FxHashMap<&str, &Macro> = FxHashMap::default();
    for one in all.iter().flat_map(|f| &f.macros) {
        let longest = macros.entry(&one.name).or_insert(one);
        if one.body.len() > longest.body.len() {
            *longest = one;
        }
    }
    // Of macros that lead to each other the first one's weight says more.
    let mut names: Vec<&str> = macros.keys().copied().collect();
    names.sort_unstable();
    let mut estimate = Estimate { macros: &macros, weights: FxHashMap::default() };
    let calls: f64 = all.iter().map(|f| estimate.text(&f.calls, 0)).sum();
    let total = names.into_iter().map(|m| estimate.weight(m, 0)).fold(calls, f64::max);
    (total > SUSPICIOUS_TOKENS).then_some("macro expansion")
}

struct Estimate<'a> {
    macros: &'a FxHashMap<&'a str, &'a Macro>,
    /// `None` while a macro is being weighed: it does not expand inside itself.
    weights: FxHashMap<&'a str, Option<f64>>,
}

impl<'a> Estimate<'a> {
    /// Returns how many tokens a stretch of text may expand to.
    fn text(&mut self, pieces: &'a [Piece], depth: usize) -> f64 {
        let (mut total, mut factor) = (0.0, 1.0);
        let mut open: Vec<f64> = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Name(name) => {
                    let called = pieces.get(at + 1) == Some(&Piece::Open);
                    total += factor * self.weight(name, depth);
                    if called {
                        open.push(self.repeats(name));
                    }
                }
                Piece::Open => {
                    if !matches!(at.checked_sub(1).and_then(|b| pieces.get(b)), Some(Piece::Name(_))) {
                        open.push(1.0);
                    }
                    factor *= open.last().copied().unwrap_or(1.0);
                }
                Piece::Close => factor /= open.pop().unwrap_or(1.0),
                Piece::Other => total += factor,
            }
        }
        total
    }

    /// Returns how often the most repeated parameter stands in a macro's body.
    fn repeats(&self, name: &str) -> f64 {
        let Some(found) = self.macros.get(name) else { return 1.0 };
        let uses = |p: &String| found.body.iter().filter(|b| matches!(b, Piece::Name(n) if n == p)).count();
        found.params.iter().map(uses).max().unwrap_or(1).max(1) as f64
    }

    fn weight(&mut self, name: &str, depth: usize) -> f64 {
        let Some((&key, &found)) = self.macros.get_key_value(name) else { return 1.0 };
        if depth > 1_000 {
            return SUSPICIOUS_TOKENS * 2.0;
        }
        match self.weights.get(key) {
            Some(known) => known.unwrap_or(1.0),
            None => {
                self.weights.insert(key, None);
                let weight = self.text(&found.body, depth + 1);
                self.weights.insert(key, Some(weight));
                weight
            }
        }
    }
}

/// Returns a file's facts, from the cache when the same content was looked at before.
fn cached_facts(id: &str, bytes: &[u8]) -> Arc<Facts> {
    static CACHE: Mutex<Option<HashMap<String, Arc<Facts>>>> = Mutex::new(None);
    let cache = || CACHE.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(found) = cache().get_or_insert_default().get(id) {
        return found.clone();
    }
    // Other units need not wait for this one's headers.
    let made = Arc::new(facts(bytes));
    let mut cache = cache();
    let map = cache.get_or_insert_default();
    if map.len() > 4_000 {
        map.clear();
    }
    map.insert(id.to_owned(), made.clone());
    made
}

/// Reads a file's directives and calls in one pass.
fn facts(bytes: &[u8]) -> Facts {
    let mut out = Facts { bytes: bytes.len() as u64, ..Facts::default() };
    let mut rest = bytes;
    let mut fresh = true;
    let mut depth = 0usize;
    // What a parenthesis would make a call.
    let mut name = None;
    while let Some(&byte) = rest.first() {
        match byte {
            b'\n' => (fresh, rest) = (true, &rest[1..]),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => rest = &rest[1..],
            b'#' if fresh => {
                let line = logical_line(&rest[1..]);
                directive(&line.text, &mut out);
                rest = &rest[1 + line.length..];
            }
            _ => {
                fresh = false;
                let (shape, length) = shape(rest);
                // Only calls matter here: a name without arguments expands once.
                match shape {
                    Shape::None => {}
                    Shape::Name => name = rest.get(..length),
                    Shape::Open => {
                        depth += 1;
                        out.depth = out.depth.max(depth);
                        out.calls.extend(name.take().map(Piece::name));
                        out.calls.push(Piece::Open);
                    }
                    Shape::Close => {
                        depth = depth.saturating_sub(1);
                        name = None;
                        out.calls.push(Piece::Close);
                    }
                    Shape::Other => name = None,
                }
                rest = rest.get(length.max(1)..).unwrap_or_default();
            }
        }
    }
    out.calls.extend(name.map(Piece::name));
    out
}

/// Reads one token: its piece, `None` for comments, and its length in bytes.
pub fn piece(text: &[u8]) -> (Option<Piece>, usize) {
    let (shape, length) = shape(text);
    let piece = match shape {
        Shape::None => None,
        Shape::Name => text.get(..length).map(Piece::name),
        Shape::Open => Some(Piece::Open),
        Shape::Close => Some(Piece::Close),
        Shape::Other => Some(Piece::Other),
    };
    (piece, length)
}

/// What kind of piece a token is; none are spaces and comments.
enum Shape {
    None,
    Name,
    Open,
    Close,
    Other,
}

/// As [`piece`]; what a name is stands in the text.
fn shape(text: &[u8]) -> (Shape, usize) {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
    let Some(&first) = text.first() else { return (Shape::None, 0) };
    match first {
        b'(' => (Shape::Open, 1),
        b')' => (Shape::Close, 1),
        b'"' | b'\'' => (Shape::Other, literal(text, first)),
        b'/' if text.get(1) == Some(&b'*') => {
            (Shape::None, text.windows(2).skip(2).position(|w| w == b"*/").map_or(text.len(), |at| at + 4))
        }
        b'/' if text.get(1) == Some(&b'/') => (Shape::None, logical_line(text).length),
        b if b.is_ascii_digit() => {
            let length = text.iter().position(|b| !word(b) && *b != b'.').unwrap_or(text.len());
            (Shape::Other, length)
        }
        b if word(&b) => {
            let length = text.iter().position(|b| !word(b)).unwrap_or(text.len());
            (Shape::Name, length)
        }
        b' ' | b'\t' | b'\n' | b'\r' | b'\\' => (Shape::None, 1),
        _ => (Shape::Other, 1),
    }
}

/// Length of a string or character literal, which ends at the line's end at the latest.
fn literal(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&b) = text.get(at) {
        match b {
            b'\\' => at += 2,
            b'\n' => return at,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

pub struct Line {
    pub text: Vec<u8>,
    /// Bytes up to, not including, the newline that ends it.
    pub length: usize,
}

/// Returns the text up to the end of the line, with continued lines joined and comments blanked.
pub fn logical_line(text: &[u8]) -> Line {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&b) = text.get(at) {
        let next = text.get(at + 1).copied();
        match b {
            b'\n' => break,
            b'\\' if next == Some(b'\n') => at += 2,
            b'\\' if next == Some(b'\r') && text.get(at + 2) == Some(&b'\n') => at += 3,
            b'/' if next == Some(b'*') && at > 0 => {
                let rest = text.get(at + 2..).unwrap_or_default();
                at += 2 + rest.windows(2).position(|w| w == b"*/").map_or(rest.len(), |e| e + 2);
                out.push(b' ');
            }
            b'"' | b'\'' => {
                let length = literal(text.get(at..).unwrap_or_default(), b);
                out.extend_from_slice(text.get(at..at + length).unwrap_or_default());
                at += length;
            }
            _ => {
                out.push(b);
                at += 1;
            }
        }
    }
    Line { text: out, length: at.min(text.len()) }
}

fn directive(line: &[u8], out: &mut Facts) {
    let line = line.trim_ascii();
    let end = line.iter().position(|b| !b.is_ascii_alphabetic() && *b != b'_').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let rest = rest.trim_ascii();
    match word {
        b"include" | b"include_next" | b"import" => {
            let close = match rest.first() {
                Some(b'"') => b'"',
                Some(b'<') => b'>',
                _ => return,
            };
            let inner = rest.get(1..).unwrap_or_default();
            let Some(length) = inner.iter().position(|&b| b == close) else { return };
            let name = String::from_utf8_lossy(inner.get(..length).unwrap_or_default()).into_owned();
            out.includes.push(Include { name: PathBuf::from(name), quoted: close == b'"' });
        }
        b"ifdef" | b"ifndef" => out.asked.extend(questions(rest)),
        b"if" | b"elif" => {
            out.asked.extend(questions(rest));
            let (mut depth, mut run) = (0usize, 0usize);
            for &b in rest {
                match b {
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    b'!' | b'~' | b'-' | b'+' => run += 1,
                    b' ' | b'\t' => {}
                    _ => run = 0,
                }
                out.depth = out.depth.max(depth).max(run);
            }
        }
        b"define" => out.macros.extend(definition(rest)),
        _ => {}
    }
}

fn questions(condition: &[u8]) -> Vec<String> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let words = condition.split(|b| !is_word(b)).filter_map(|w| std::str::from_utf8(w).ok());
    words.filter(|w| platform::is_question(w)).map(str::to_owned).collect()
}

fn definition(text: &[u8]) -> Option<Macro> {
    let (Some(Piece::Name(name)), length) = piece(text) else { return None };
    let mut rest = text.get(length..)?;
    let mut params = Vec::new();
    if rest.first() == Some(&b'(') {
        let end = rest.iter().position(|&b| b == b')')?;
        params = String::from_utf8_lossy(rest.get(1..end)?)
            .split(',')
            .map(|p| {
                if p.trim() == "..." { "__VA_ARGS__" } else { p.trim().trim_end_matches("...") }.to_owned()
            })
            .filter(|p| !p.is_empty())
            .collect();
        rest = rest.get(end + 1..)?;
    }
    let pastes = rest.windows(2).filter(|w| w == b"##").count();
    let mut body = Vec::new();
    while !rest.is_empty() {
        let (found, length) = piece(rest);
        body.extend(found);
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    Some(Macro { name, params, body, pastes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    fn check(files: &[(&str, &str)], folders: &[&str], suspicion: Option<&str>) {
        let tree = MemoryTree::new(files.to_vec());
        let path = Path::new("src/a.c");
        let found = survey(&TreeFiles::new(&tree, path, false), path, &Options::default());
        assert_eq!(found.folders, folders.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(found.suspicion, suspicion);
    }

    #[test]
    fn headers_are_found_in_the_nearest_folder() {
        check(
            &[
                ("src/a.c", "#include \"x/b.h\"\n#include <stdio.h>"),
                ("src/inc/x/b.h", "#include \"c.h\""),
                ("src/inc/x/c.h", ""),
                ("other/deep/x/b.h", ""),
                ("compat/stdio.h", ""),
            ],
            &["src/inc"],
            None,
        );
        check(&[("src/a.c", "#include <b.h>"), ("p/b.h", ""), ("q/b.h", "")], &[], None);
        // Of two that are equally near the one that a build is told of is meant.
        let both = |at: &str| {
            let other = format!("{at}/b.h");
            check(&[("src/a.c", "#include <b.h>"), ("include/b.h", ""), (&other, "")], &["include"], None);
        };
        ["lib", "zlib"].into_iter().for_each(both);
        check(&[("src/a.c", "#include <b.h>"), ("p/include/b.h", ""), ("q/include/b.h", "")], &[], None);
    }

    #[test]
    fn doubling_is_suspicious() {
        let chain: String = (1..=22).map(|i| format!("#define X{i} X{} X{}\n", i - 1, i - 1)).collect();
        check(&[("src/a.c", &format!("#define X0 1 +\n{chain}int f(void) {{ return X22; }}"))], &[], {
            Some("macro expansion")
        });
        let nested = "D(".repeat(25) + "1" + &")".repeat(25);
        let text = format!("#define D(x) x x\nint f(void) {{ return {nested}; }}");
        check(&[("src/a.c", &text)], &[], Some("macro expansion"));
        check(&[("src/a.c", "#define M(x) ((x) * (x))\nint f(int a) { return M(M(M(a))); }")], &[], None);
    }
}
