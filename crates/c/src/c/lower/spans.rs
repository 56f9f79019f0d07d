//! Positions of the checker as [`ir::Span`]s.
//!
//! A token that came out of a macro is placed at the outermost call, and carries the macro's name
//! and the place inside its definition; `#line` is not followed.

use super::sizeof::{self, Written};
use crate::c::files;
use crate::c::scan::Text;
use crate::ir::{self, FileId, MacroUse};
use rucc_base::Interner;
use rucc_diag::{SourceMap, Span};
use rucc_lex::PpTokenKind;
use rucc_pp::Tok;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maps positions of one session.
pub(super) struct Spans<'a> {
    sources: &'a SourceMap,
    names: &'a Interner,
    tokens: &'a [Tok],
    /// Where the tokens stand, in the order of the text, with their numbers.
    places: OnceCell<Vec<(u32, usize)>>,
    /// Every file that was read, each path once; the unit's own first.
    pub files: Vec<PathBuf>,
    /// Index into `files` by the session's file number: a header read twice is one file here.
    file_of: Vec<u32>,
    /// First token of each outermost macro call, by the call's position: where it is spelled.
    calls: BTreeMap<u32, u32>,
    macros: BTreeMap<u32, Arc<MacroUse>>,
    /// Last lines of outermost macro calls with their arguments, by the call's position.
    ends: BTreeMap<u32, u32>,
    /// What `__LINE__` gave, by the position of the outermost call that it came out of, or its own.
    line_numbers: BTreeMap<u32, i128>,
    /// Where equal numbers stand beside these: by the same position the number, and which of its
    /// occurrences `__LINE__` gave.
    beside: BTreeMap<u32, (i128, Vec<bool>)>,
    /// Where `sizeof` stands, or the macro that it came out of: of what.
    pub sizes: BTreeMap<u32, Vec<Written>>,
}

/// The value of an integer as it is spelled.
pub(super) fn integer(text: &str) -> Option<i128> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => i128::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

impl<'a> Spans<'a> {
    pub fn new(
        sources: &'a SourceMap,
        interner: &'a Interner,
        tokens: &'a [Tok],
        (path, reads): (&Path, &[(PathBuf, Option<String>)]),
    ) -> Spans<'a> {
        let main = files::normal(path);
        let mut files = vec![main.clone()];
        let mut index = BTreeMap::from([(main, 0u32)]);
        let mut file_of = Vec::new();
        for file in sources.files() {
            let name = files::path_of(&file.name, path, reads);
            let next = files.len() as u32;
            let id = *index.entry(name.clone()).or_insert_with(|| {
                files.push(name);
                next
            });
            file_of.push(id);
        }
        let mut calls = BTreeMap::new();
        for tok in tokens.iter().filter(|t| !t.expansion.is_dummy()) {
            calls.entry(tok.expansion.lo).or_insert(tok.span.lo);
        }
        let is_line =
            |t: &&Tok| t.kind == PpTokenKind::Number && written_at(sources, t.span.lo) == b"__LINE__";
        let number = |t: &Tok| Some((t.report_span().lo, integer(interner.resolve(t.value?))?));
        let mut line_numbers: BTreeMap<u32, i128> =
            tokens.iter().filter(is_line).filter_map(number).collect();
        let mut beside: BTreeMap<u32, (i128, Vec<bool>)> = BTreeMap::new();
        for tok in tokens.iter().filter(|t| t.kind == PpTokenKind::Number && !line_numbers.is_empty()) {
            let Some((at, n)) = number(tok).filter(|(at, n)| line_numbers.get(at) == Some(n)) else {
                continue;
            };
            beside.entry(at).or_insert((n, Vec::new())).1.push(is_line(&tok));
        }
        beside.retain(|_, (_, occurrences)| occurrences.contains(&false));
        line_numbers.retain(|at, _| !beside.contains_key(at));
        let sizes = sizeof::written(tokens, interner);
        Spans {
            sources,
            names: interner,
            tokens,
            places: OnceCell::new(),
            files,
            file_of,
            calls,
            macros: BTreeMap::new(),
            ends: BTreeMap::new(),
            line_numbers,
            beside,
            sizes,
        }
    }

    /// Whether a macro call stands at a position.
    pub fn is_macro_call(&self, at: u32) -> bool {
        self.calls.contains_key(&at)
    }

    /// The tokens after preprocessing that stand from a position up to another.
    pub fn tokens_within(&self, (from, to): (u32, u32)) -> String {
        let text = Text { tokens: self.tokens, interner: self.names };
        let places = self.places.get_or_init(|| {
            let place = |(k, t): (usize, &Tok)| (t.report_span().lo, k);
            let mut all: Vec<(u32, usize)> = self.tokens.iter().enumerate().map(place).collect();
            all.sort_unstable();
            all
        });
        let start = places.partition_point(|(at, _)| *at < from);
        let inside = places.iter().skip(start).take_while(|(at, _)| *at < to);
        let mut found: Vec<usize> = inside.map(|(_, k)| *k).collect();
        found.sort_unstable();
        found.into_iter().map(|k| text.at(k)).collect::<Vec<_>>().join(" ")
    }

    /// The attributes by which compilers give operations another meaning, in order.
    pub fn options(&self) -> Vec<Arc<str>> {
        let word = |t: &Tok| t.value.map_or("", |v| self.names.resolve(v)).trim_matches('_');
        let is_option = |t: &Tok| matches!(word(t), "optimize" | "target" | "target_clones");
        let text = Text { tokens: self.tokens, interner: self.names };
        let mut found = Vec::new();
        // Only in the two parentheses of a list of attributes.
        let mut depth = 0u32;
        for (k, tok) in self.tokens.iter().enumerate() {
            if depth == 0 {
                depth = u32::from(word(tok) == "attribute");
                continue;
            }
            match text.at(k) {
                "(" => depth += 1,
                ")" if depth == 2 => depth = 0,
                ")" => depth -= 1,
                _ if depth == 3 && is_option(tok) => {
                    let until = |t: &str| t != ")";
                    let rest = (k..self.tokens.len()).map(|i| text.at(i));
                    let words: Vec<String> = rest.take_while(|t| until(t)).map(|t| t.to_string()).collect();
                    found.push(words.join(" ").into());
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a constant at this place is what `__LINE__` gave.
    pub fn is_line_number(&self, span: Span, value: i128) -> bool {
        self.line_numbers.get(&span.lo) == Some(&value)
    }

    /// Of the constants of a unit in order, with their places, those that `__LINE__` gave and that stand in one
    /// macro call with equal ones: the constants are as many as the numbers in the text, in their order.
    pub fn line_numbers_beside<E: Copy>(&self, constants: impl Iterator<Item = (E, Span, i128)>) -> Vec<E> {
        if self.beside.is_empty() {
            return Vec::new();
        }
        let mut found: BTreeMap<u32, Vec<E>> = BTreeMap::new();
        for (e, span, value) in constants {
            if self.beside.get(&span.lo).is_some_and(|(n, _)| *n == value) {
                found.entry(span.lo).or_default().push(e);
            }
        }
        let lines = |(at, list): (u32, Vec<E>)| -> Vec<E> {
            let occurrences = self.beside.get(&at).map(|(_, o)| o.as_slice()).unwrap_or_default();
            let fits = occurrences.len() == list.len();
            list.into_iter()
                .zip(occurrences)
                .filter(|(_, is_line)| fits && **is_line)
                .map(|(e, _)| e)
                .collect()
        };
        found.into_iter().flat_map(lines).collect()
    }

    /// Returns the place of a span; line 0 where it has none.
    pub fn span(&mut self, span: Span) -> ir::Span {
        let Some((file, line, col)) = self.place(span.lo) else { return ir::Span::default() };
        let last = span.hi.saturating_sub(1).max(span.lo);
        let end_line = self.place(last).filter(|(f, ..)| *f == file).map_or(line, |(_, l, _)| l.max(line));
        // Tokens of a macro call stand where its name does; the arguments may stand further down.
        let calls = [span.lo, last].map(|pos| self.end_of_call(pos).unwrap_or(line));
        let end_line = calls.into_iter().fold(end_line, u32::max);
        ir::Span { file, line, col, end_line, expansion: self.macro_at(span.lo) }
    }

    /// The line of a position in its file, 0 if it is in none.
    pub fn line(&self, pos: u32) -> u32 {
        self.place(pos).map_or(0, |(_, line, _)| line)
    }

    /// The file of a position.
    pub fn file(&self, pos: u32) -> Option<FileId> {
        self.place(pos).map(|(file, ..)| file)
    }

    /// What stands at a span in one line, if a name is in it and no comment; the arguments of a macro belong to it.
    pub fn named_text(&self, span: Span) -> Option<String> {
        /// Bytes of the longest.
        const LONGEST: usize = 400;
        let from = rest_at(self.sources, span.lo);
        let mut end = span.hi.checked_sub(span.lo)? as usize;
        let last = self.calls.range(span.lo..span.hi).next_back();
        if let Some((&call, _)) = last {
            let name = call + written_at(self.sources, call).len() as u32;
            if name >= span.hi {
                end = (name + arguments_length(rest_at(self.sources, name)) - span.lo) as usize;
            }
        }
        let text = std::str::from_utf8(from.get(..end.min(LONGEST + 1))?).ok()?;
        let is_plain = text.len() <= LONGEST && !["/*", "//", "#", "\\"].iter().any(|c| text.contains(c));
        (is_plain && has_name(text)).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn place(&self, pos: u32) -> Option<(FileId, u32, u32)> {
        let loc = self.sources.lookup(pos)?;
        let number = self.sources.lookup_file(pos)?.index();
        Some((FileId(*self.file_of.get(number)?), loc.line, loc.column))
    }

    /// The last line of the macro call whose name has the position in it.
    fn end_of_call(&mut self, pos: u32) -> Option<u32> {
        let (&call, _) = self.calls.range(..=pos).next_back()?;
        let name = written_at(self.sources, call).len() as u32;
        if pos >= call + name {
            return None;
        }
        if let Some(known) = self.ends.get(&call) {
            return Some(*known);
        }
        let arguments = arguments_length(rest_at(self.sources, call + name));
        let (_, line, _) = self.place(call + name + arguments.saturating_sub(1))?;
        self.ends.insert(call, line);
        Some(line)
    }

    fn macro_at(&mut self, pos: u32) -> Option<Arc<MacroUse>> {
        let spelled = *self.calls.get(&pos)?;
        if let Some(known) = self.macros.get(&pos) {
            return Some(known.clone());
        }
        let name = String::from_utf8_lossy(written_at(self.sources, pos)).into_owned();
        let spelled = self.place(spelled).map(|(file, line, _)| (file, line));
        let made = Arc::new(MacroUse { name, spelled });
        self.macros.insert(pos, made.clone());
        Some(made)
    }
}

/// Whether a text without comments has a name in it: numbers, characters and texts are none.
fn has_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        let rest = &bytes[at..];
        let word = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count();
        at += match b {
            b'"' | b'\'' => quoted_length(rest),
            b if b.is_ascii_alphabetic() || b == b'_' => return true,
            _ => word.max(1),
        };
    }
    false
}

/// The word that stands at a position; empty where there is none.
pub(super) fn written_at(sources: &SourceMap, pos: u32) -> &[u8] {
    let rest = rest_at(sources, pos);
    let len = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    rest.get(..len).unwrap_or(&[])
}

/// The text of a file from a position on.
pub(super) fn rest_at(sources: &SourceMap, pos: u32) -> &[u8] {
    let file = sources.lookup_file(pos).map(|f| sources.file(f));
    file.and_then(|f| f.bytes().get(pos.checked_sub(f.start)? as usize..)).unwrap_or(&[])
}

/// Length in bytes of the arguments in parentheses that a text begins with, after white space; 0 where there
/// are none. Texts, characters and comments in them are skipped.
pub(super) fn arguments_length(text: &[u8]) -> u32 {
    let (mut depth, mut at) = (0u32, 0usize);
    while let Some(&b) = text.get(at) {
        let rest = &text[at..];
        if let Some(length) = comment_length(rest) {
            at += length;
            continue;
        }
        at += if matches!(b, b'"' | b'\'') { quoted_length(rest) } else { 1 };
        match b {
            b'(' => depth += 1,
            b')' if depth == 1 => return at as u32,
            b')' if depth > 1 => depth -= 1,
            _ if depth == 0 && !b.is_ascii_whitespace() && b != b'\\' => return 0,
            _ => {}
        }
    }
    0
}

/// Length of the comment that a text begins with; one that never ends takes the rest.
fn comment_length(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"//") {
        return Some(text.iter().position(|b| *b == b'\n').unwrap_or(text.len()));
    }
    let body = text.strip_prefix(b"/*")?;
    Some(body.windows(2).position(|w| w == b"*/").map_or(text.len(), |n| n + 4))
}

/// Length of the text or character that begins with a quote, with both quotes.
fn quoted_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&b) = text.get(at) {
        at += match b {
            b'\\' => 2,
            _ if Some(&b) == text.first() => return at + 1,
            _ => 1,
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{arguments_length, has_name};

    #[test]
    fn names_are_no_numbers() {
        for (text, expected) in [
            ("A | B", true),
            ("0x1fUL + 3.5e3f", false),
            ("'a'", false),
            ("\"text\"", false),
            ("1 << N", true),
            ("", false),
            ("_x", true),
        ] {
            assert_eq!(has_name(text), expected, "{text}");
        }
    }

    #[test]
    fn arguments_end_with_their_parenthesis() {
        let check =
            |text: &str, expected: u32| assert_eq!(arguments_length(text.as_bytes()), expected, "{text}");
        check("(a)", 3);
        check(" \n(a, (b))) + (c)", 10);
        check("(\")\", ')', '\\'', \"\\\"\")x", 22);
        check("(a /* ) */, // )\n b)", 20);
        check(" /* none */ + (a)", 0);
        check("/ (a)", 0);
        check("", 0);
        check("(never", 0);
        check("(\"never)", 0);
        check("(/* never)", 0);
        check(")", 0);
    }
}
