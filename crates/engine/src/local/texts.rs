//! Texts that may be shown: how long they may be, and whether they say all in names of the source, which mean what
//! they do at one time.

use super::machine::memory_leaf;
use crate::ir::{App, Rebuilt, Term, TermId, TermPool};
use crate::mvicfg::members;

/// Longest text of a condition, in characters.
pub(super) const LONGEST_CONDITION: usize = 160;
/// Longest text of a value.
pub(super) const LONGEST_VALUE: usize = 80;

/// Whether a text needs no brackets behind `!`: outside of its own ones there are names and members only.
pub(super) fn is_operand(text: &str) -> bool {
    let mut depth = 0i32;
    text.replace("->", ".").chars().all(|c| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        depth > 0 || c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ')' | ']')
    })
}

/// A term in the words of the memory at its own time: what it reads there is what names mean there. Where it reads
/// what was at the point, too, names would mean two things, and it stays as it is.
pub(super) fn current(pool: &mut TermPool, t: TermId, memory: TermId) -> TermId {
    let at_point = pool.leaf(memory_leaf());
    let reads_point = |pool: &TermPool| {
        pool.reachable(&[t]).into_iter().any(
            |r| matches!(pool.get(r), Term::App(App::Load { .. }, args) if args.first() == Some(&at_point)),
        )
    };
    if memory == at_point || reads_point(pool) {
        return t;
    }
    pool.rebuilt(t, &|_, t| if t == memory { Rebuilt::By(at_point) } else { Rebuilt::Kept })
}

/// A text without the brackets around all of it.
pub(super) fn unwrapped(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    let is_one = inner.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    });
    if is_one { inner.trim() } else { text }
}

/// A text without the marks of members that the newer version has by another type. Marks of values that have no name
/// stay: these stand before a word.
pub(super) fn own_names(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut out = String::new();
    while let Some(c) = rest.next() {
        let is_mark = c == members::OTHER && !rest.peek().is_some_and(char::is_ascii_alphanumeric);
        out.extend((!is_mark).then_some(c));
    }
    out
}

/// Whether a text says everything in names of the source.
pub(super) fn is_plain(text: &str) -> bool {
    let is_made = text.contains("__invdiff_") || reads_by_offset(text);
    !is_made && (!text.contains("...") && !text.contains('\\') && !text.contains('%') || is_quoted(text))
}

/// Whether something is read by its offset, as another type: `*(long *)(p + 40)`. No source has it so, and where types
/// are guessed the offset is, too.
fn reads_by_offset(text: &str) -> bool {
    text.match_indices(" *)").any(|(at, end)| {
        let open = text[..at].rfind('(').unwrap_or(0);
        let behind = text[at + end.len()..].chars().next();
        text[..open].ends_with('*') && matches!(behind, Some('(' | '&' | '"'))
    })
}

/// Texts with string or character literals may hold what names may not.
fn is_quoted(text: &str) -> bool {
    let mut outside = String::new();
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None => outside.push(c),
        }
    }
    // The remainder is an operator; a number behind it is a temporary.
    let temporary = outside.as_bytes().windows(2).any(|w| w[0] == b'%' && w[1].is_ascii_digit());
    !outside.contains("...") && !outside.contains('\\') && !temporary
}

pub(super) fn is_short(text: &str) -> bool {
    is_plain(text) && text.chars().count() <= LONGEST_VALUE
}

/// Whether a text is told where nothing else would be.
pub(super) fn is_tellable(text: &str) -> bool {
    is_plain(text) && text.chars().count() <= LONGEST_CONDITION
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
