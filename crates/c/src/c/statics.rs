//! Static assertions: what a unit demands when it is compiled, and whether it fails.
//!
//! The checker says which fail; where it had to guess, or where a size is that of a type of the library, whose
//! own headers we do not read, nothing is known.

use super::parse::Parsed;
use super::scan::ItemKind;
use crate::ir::StaticAssertion;
use std::collections::BTreeSet;
use std::ops::Range;

/// What the checker says of one that fails.
const FAILED: &str = "static assertion failed";
/// Types of the library whose sizes are those of the machine.
const PLAIN: [&str; 8] =
    ["size_t", "ssize_t", "ptrdiff_t", "wchar_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t"];

/// The static assertions of a unit, in order. Cost: one walk over its tokens.
pub fn statics(parsed: &Parsed) -> Vec<StaticAssertion> {
    let text = parsed.text();
    let keywords = (0..parsed.tokens.len()).filter(|&k| text.at(k) == "_Static_assert");
    let found: Vec<usize> = keywords.collect();
    if found.is_empty() {
        return Vec::new();
    }
    let fatal = || parsed.diagnostics.iter().filter(|d| d.severity.is_fatal());
    let is_sure = parsed.prelude.is_empty() && fatal().all(|d| d.message.starts_with(FAILED));
    let failing: Vec<_> =
        fatal().filter(|d| d.message.starts_with(FAILED)).filter_map(|d| parsed.place(d.span)).collect();
    let foreign = foreign(parsed);
    let one = |at: usize| {
        let place = parsed.place(parsed.tokens.get(at)?.report_span())?;
        let end = close(parsed, at + 1)?;
        let last = parsed.place(parsed.tokens.get(end)?.report_span()).map_or(place.line, |p| p.line);
        let condition = at + 2..comma(parsed, at + 2..end);
        let depends = condition.clone().any(|k| foreign.contains(text.at(k)));
        let fails = failing
            .iter()
            .any(|f| f.file == place.file && (place.line..=last.max(place.line)).contains(&f.line));
        Some(StaticAssertion {
            file: place.file,
            line: place.line,
            text: words(parsed, condition).into(),
            fails: (is_sure && !depends || !fails).then_some(fails),
        })
    };
    found.into_iter().filter_map(one).collect()
}

/// The token that closes the parenthesis which a token opens.
fn close(parsed: &Parsed, open: usize) -> Option<usize> {
    let text = parsed.text();
    let mut depth = 0usize;
    for k in open..parsed.tokens.len() {
        match text.at(k) {
            "(" => depth += 1,
            ")" if depth <= 1 => return Some(k),
            ")" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Where the condition ends: at the comma before the message, if there is one.
fn comma(parsed: &Parsed, inside: Range<usize>) -> usize {
    let text = parsed.text();
    let mut depth = 0i32;
    let mut last = inside.end;
    for k in inside {
        match text.at(k) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 => last = k,
            _ => {}
        }
    }
    last
}

/// Tokens as people write them.
fn words(parsed: &Parsed, tokens: Range<usize>) -> String {
    let text = parsed.text();
    let mut out = String::new();
    let mut before = "";
    for k in tokens {
        let word = text.at(k);
        let tight = matches!(word, ")" | "]" | "," | "." | "->" | "[")
            || matches!(before, "" | "(" | "[" | "!" | "." | "->")
            || word == "(" && before.chars().all(|c| c.is_alphanumeric() || c == '_');
        out.push_str(if tight { "" } else { " " });
        out.push_str(word);
        before = word;
    }
    out
}

/// Names that headers of the library declare, as far as a size may rest on them.
fn foreign(parsed: &Parsed) -> BTreeSet<&str> {
    let plain =
        |n: &str| PLAIN.contains(&n) || n.ends_with("_t") && n.trim_start_matches('u').starts_with("int");
    let of_library = |tokens: &Range<usize>| {
        let first = parsed.tokens.get(tokens.start);
        first
            .and_then(|t| parsed.place(t.report_span()))
            .is_some_and(|p| p.file.to_string_lossy().starts_with('<'))
    };
    let items = parsed.items.iter().filter(|i| !matches!(i.kind, ItemKind::Function { .. }));
    let items = items.filter(|i| of_library(&i.tokens));
    items.flat_map(|i| &i.declares).map(String::as_str).filter(|n| !plain(n)).collect()
}
