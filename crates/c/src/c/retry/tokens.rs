//! What of the guesses cannot be said in a prelude: changes of the unit's tokens before they are parsed.
//!
//! **Labels.** `case KEY_ENTER:` wants a constant, and whose value nobody knows is none. The name is an object of
//! another file wherever it is read; behind `case` stands a number that no program uses, which lowering turns into
//! a comparison with that object (`lower::stmts`). So no value is ever invented for it. A label with arguments,
//! `KEY_F(5)`, becomes one name, here and wherever else it is written.
//!
//! **Members** that a declared structure lacks go to its end, from where the prelude declares them (`records`).

use super::super::scan::{Item, ItemKind, Text};
use super::Guesses;
use super::records::MORE;
use rucc_base::Interner;
use rucc_lex::PpTokenKind;
use rucc_pp::Tok;
use std::collections::BTreeSet;
use std::ops::Range;

/// The number that stands behind `case` for a label: as good as never written in C, and the same wherever the label
/// is. Where two labels of one `switch` should meet in it, the second is an error, as a number given twice is.
pub fn number_of(label: &str) -> u64 {
    0x5b00_0000 | (super::records::hash(label) & 0x00ff_ffff)
}

/// How the prelude calls the objects that labels read, before they get their names.
pub const LABEL: &str = "__invdiff_label_";

/// Labels are at most this many in a unit.
const MAX_LABELS: usize = 4096;

/// Returns what stands between `case` and its colon, as one word per token; `None` where that is not plain.
pub fn label_at(text: Text<'_>, case: usize) -> Option<(usize, String)> {
    /// Tokens of a label that is looked at.
    const LENGTH: usize = 24;
    let colon = (case + 1..case + LENGTH).find(|&i| text.at(i) == ":")?;
    let plain = |i: usize| i == case + 1 || matches!(text.at(i), "(" | ")" | ",") || is_constant(text, i);
    let is_call = || {
        let is_closed = text.at(case + 2) == "(" && text.after_group(case + 2, colon) == colon;
        is_closed && text.name(case + 1).is_some() && (case + 1..colon).all(plain)
    };
    let computes = |i: usize| is_operator(text.at(i)) || is_constant(text, i) || text.name(i).is_some();
    let is_known = colon > case + 1 && (is_call() || (case + 1..colon).all(computes));
    is_known.then(|| (colon, (case + 1..colon).map(|i| text.at(i)).collect()))
}

/// What constants are computed with, in brackets or not.
fn is_operator(word: &str) -> bool {
    matches!(word, "(" | ")" | "+" | "-" | "*" | "/" | "%" | "<<" | ">>" | "|" | "&" | "^" | "~" | "!")
}

/// Whether a label is computed from names: `((CLASS<<5)|KIND)`.
fn is_computed(label: &str) -> bool {
    !label.starts_with(|c: char| c.is_alphabetic() || c == '_')
        || label.contains(|c: char| is_operator(c.encode_utf8(&mut [0; 4])) && !matches!(c, '(' | ')'))
        || label.contains("<<")
        || label.contains(">>")
}

/// Where a text that is written at a place ends; `None` where another one is.
fn spelled_until(text: Text<'_>, at: usize, label: &str) -> Option<usize> {
    let (mut next, mut rest) = (at, label);
    while !rest.is_empty() {
        let word = text.at(next);
        rest = rest.strip_prefix(word).filter(|_| !word.is_empty())?;
        next += 1;
    }
    Some(next)
}

fn is_constant(text: Text<'_>, at: usize) -> bool {
    let kind = text.tokens.get(at).map(|t| t.kind);
    matches!(kind, Some(PpTokenKind::Number | PpTokenKind::CharConst))
}

/// Whether the guesses ask for changes of the tokens.
pub fn is_needed(guesses: &Guesses) -> bool {
    let Guesses { labels, lengths, loops, forward, records, .. } = guesses;
    let are_empty = [labels, lengths, loops, forward].into_iter().all(BTreeSet::is_empty);
    !(are_empty && records.more.is_empty())
}

/// Changes the tokens as the guesses ask.
pub fn rewrite(tokens: Vec<Tok>, interner: &mut Interner, guesses: &Guesses) -> Vec<Tok> {
    let tokens = if guesses.labels.is_empty() { tokens } else { relabel(tokens, interner, guesses) };
    let tokens = if guesses.lengths.is_empty() { tokens } else { measure(tokens, interner, guesses) };
    let tokens = match guesses.loops.is_empty() {
        true => tokens,
        false => super::shapes::enter_loops(tokens, interner, &guesses.loops),
    };
    let tokens = if guesses.forward.is_empty() { tokens } else { declare(tokens, interner, guesses) };
    if guesses.records.more.is_empty() { tokens } else { extend(tokens, interner) }
}

/// How long an array is taken to be of whose length nobody knows: a number that C hardly ever writes.
pub const LENGTH: &str = "251";

/// Places of tokens between the brackets of an item.
pub fn lengths(text: Text<'_>, item: &Item) -> Vec<usize> {
    let mut depth = 0usize;
    let mut found = Vec::new();
    for i in item.tokens.clone() {
        match text.at(i) {
            "[" => depth += 1,
            "]" => depth = depth.saturating_sub(1),
            _ if depth > 0 => found.push(i),
            _ => {}
        }
    }
    found
}

/// Puts a number for what nobody defines in the lengths of arrays.
fn measure(mut tokens: Vec<Tok>, interner: &mut Interner, guesses: &Guesses) -> Vec<Tok> {
    let places: Vec<usize> = {
        let text = Text { tokens: &tokens, interner };
        let items = text.items();
        let outside = items.iter().filter(|i| !matches!(i.kind, ItemKind::Function { .. }));
        let inside = outside.flat_map(|item| lengths(text, item));
        inside.filter(|i| text.name(*i).is_some_and(|n| guesses.lengths.contains(n))).collect()
    };
    let length = interner.intern(LENGTH);
    for at in places {
        if let Some(token) = tokens.get_mut(at) {
            token.kind = PpTokenKind::Number;
            token.value = Some(length);
        }
    }
    tokens
}

/// Declares functions before what uses them first, by the heads of their definitions. The copies stand where the
/// heads do: see `is_copy`.
fn declare(mut tokens: Vec<Tok>, interner: &Interner, guesses: &Guesses) -> Vec<Tok> {
    let mut copies: Vec<(usize, Vec<Tok>)> = Vec::new();
    {
        let text = Text { tokens: &tokens, interner };
        let items = text.items();
        for (k, item) in items.iter().enumerate() {
            let ItemKind::Function { name, at, body } = &item.kind else { continue };
            // The parameters of old-style definitions are declared behind the head.
            let is_old_style = || (text.after_group(at + 1, *body)..*body).any(|i| text.at(i) == ";");
            if !guesses.forward.contains(name) || is_old_style() {
                continue;
            }
            let uses = |item: &&Item| item.tokens.clone().any(|i| text.name(i) == Some(name));
            let Some(first) = items.iter().take(k).find(uses) else { continue };
            let end = item.tokens.clone().rev().find(|i| text.at(*i) == ";");
            let head = tokens.get(item.tokens.start..*body).map(<[Tok]>::to_vec);
            let semicolon = end.or_else(|| (0..tokens.len()).find(|i| text.at(*i) == ";"));
            if let (Some(mut head), Some(Some(semicolon))) = (head, semicolon.map(|i| tokens.get(i).copied()))
            {
                head.push(semicolon);
                copies.push((first.tokens.start, head));
            }
        }
    }
    copies.sort_by_key(|(at, _)| *at);
    for (at, copy) in copies.into_iter().rev() {
        tokens.splice(at..at, copy);
    }
    tokens
}

/// Whether an item is a declaration that [`declare`] made: it stands where a definition begins.
pub fn is_copy(text: Text<'_>, item: &Item, definitions: &BTreeSet<u32>) -> bool {
    let place = |item: &Item| text.tokens.get(item.tokens.start).map(|t| t.report_span().lo);
    !matches!(item.kind, ItemKind::Function { .. }) && place(item).is_some_and(|p| definitions.contains(&p))
}

/// Puts numbers for labels behind `case`, and single names for those with arguments.
fn relabel(mut tokens: Vec<Tok>, interner: &mut Interner, guesses: &Guesses) -> Vec<Tok> {
    /// What becomes of the tokens from one to another.
    enum Becomes {
        Number(usize),
        Name(usize),
    }
    let labels: Vec<&String> = guesses.labels.iter().take(MAX_LABELS).collect();
    let computed: Vec<usize> = (0..labels.len()).filter(|k| is_computed(labels[*k])).collect();
    let mut changes = Vec::new();
    {
        let text = Text { tokens: &tokens, interner };
        let mut at = 0;
        while at < tokens.len() {
            let word = text.at(at);
            let own = word.strip_prefix(LABEL).and_then(|n| n.parse().ok());
            if let Some(label) = own.filter(|n| *n < labels.len()) {
                changes.push((at, at + 1, Becomes::Name(label)));
            } else if word == "case"
                && let Some((colon, label)) = label_at(text, at)
                && let Ok(label) = labels.binary_search(&&label)
            {
                changes.push((at + 1, colon, Becomes::Number(label)));
                at = colon;
            } else if let Some((end, label)) = computed
                .iter()
                .find_map(|label| Some((spelled_until(text, at, labels.get(*label)?)?, *label)))
            {
                changes.push((at, end, Becomes::Name(label)));
                at = end - 1;
            } else if text.at(at + 1) == "(" && labels.iter().any(|l| l.split('(').next() == Some(word)) {
                let close = text.after_group(at + 1, tokens.len());
                let spelled: String = (at..close).map(|i| text.at(i)).collect();
                if let Ok(label) = labels.binary_search(&&spelled) {
                    changes.push((at, close, Becomes::Name(label)));
                    at = close - 1;
                }
            }
            at += 1;
        }
    }
    for (from, to, becomes) in changes.into_iter().rev() {
        let Some(first) = tokens.get_mut(from) else { continue };
        match becomes {
            Becomes::Number(label) => {
                first.kind = PpTokenKind::Number;
                first.value = labels.get(label).map(|l| interner.intern(&number_of(l).to_string()));
            }
            Becomes::Name(label) => {
                first.kind = PpTokenKind::Ident;
                first.value = labels.get(label).map(|l| interner.intern(l));
            }
        }
        tokens.drain(from + 1..to);
    }
    tokens
}

/// Moves the members that the prelude declares under [`MORE`] to the structures that lack them.
fn extend(mut tokens: Vec<Tok>, interner: &Interner) -> Vec<Tok> {
    let at = |tokens: &[Tok], i: usize| -> String { Text { tokens, interner }.at(i).to_owned() };
    let mut from = 0;
    while let Some(start) = (from..tokens.len()).find(|&i| at(&tokens, i).starts_with(MORE)) {
        from = start + 1;
        let tag = at(&tokens, start).split_off(MORE.len());
        let close = Text { tokens: &tokens, interner }.after_group(start + 1, tokens.len());
        // `struct __invdiff_more_T { ... } ;`
        let Some(Range { end, .. }) = body(Text { tokens: &tokens, interner }, &tag, close + 1) else {
            continue;
        };
        let Some(members) = tokens.get(start + 2..close - 1).map(<[Tok]>::to_vec) else { continue };
        tokens.splice(end..end, members);
        tokens.drain(start - 1..close + 1);
        from = start.saturating_sub(1);
    }
    tokens
}

/// The body of a structure that has a tag or a typedef's name, without its brackets.
pub fn body(text: Text<'_>, name: &str, from: usize) -> Option<Range<usize>> {
    let end = text.tokens.len();
    (from.max(1)..end).filter(|&i| text.at(i) == name).find_map(|i| {
        if matches!(text.at(i - 1), "struct" | "union") && text.at(i + 1) == "{" {
            return Some(i + 2..text.after_group(i + 1, end) - 1);
        }
        // `typedef struct { ... } T;`
        let closes = text.at(i - 1) == "}" && text.at(i + 1) == ";";
        closes.then(|| text.before_group(i - 1) + 1..i - 1)
    })
}
