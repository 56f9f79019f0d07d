//! What of the guesses cannot be said in a prelude: changes of the unit's tokens before they are parsed.
//!
//! **Labels.** `case KEY_ENTER:` wants a constant, and whose value nobody knows is none. The name is an object of
//! another file wherever it is read; behind `case` stands a number that no program uses, which lowering turns into
//! a comparison with that object (`lower::stmts`). So no value is ever invented for it. A label with arguments,
//! `KEY_F(5)`, becomes one name, here and wherever else it is written.
//!
//! **Members** that a declared structure lacks go to its end, from where the prelude declares them (`records`).

use super::super::scan::Text;
use super::Guesses;
use super::records::MORE;
use rucc_base::Interner;
use rucc_lex::PpTokenKind;
use rucc_pp::Tok;
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
    const LENGTH: usize = 12;
    let colon = (case + 1..case + LENGTH).find(|&i| text.at(i) == ":")?;
    let plain = |i: usize| i == case + 1 || matches!(text.at(i), "(" | ")" | ",") || is_constant(text, i);
    if !(case + 1..colon).all(plain) || text.name(case + 1).is_none() {
        return None;
    }
    let is_call = text.at(case + 2) == "(" && text.after_group(case + 2, colon) == colon;
    (colon == case + 2 || is_call).then(|| (colon, (case + 1..colon).map(|i| text.at(i)).collect()))
}

fn is_constant(text: Text<'_>, at: usize) -> bool {
    let kind = text.tokens.get(at).map(|t| t.kind);
    matches!(kind, Some(PpTokenKind::Number | PpTokenKind::CharConst))
}

/// Changes the tokens as the guesses ask.
pub fn rewrite(tokens: Vec<Tok>, interner: &mut Interner, guesses: &Guesses) -> Vec<Tok> {
    let tokens = if guesses.labels.is_empty() { tokens } else { relabel(tokens, interner, guesses) };
    if guesses.records.more.is_empty() { tokens } else { extend(tokens, interner) }
}

/// Puts numbers for labels behind `case`, and single names for those with arguments.
fn relabel(mut tokens: Vec<Tok>, interner: &mut Interner, guesses: &Guesses) -> Vec<Tok> {
    /// What becomes of the tokens from one to another.
    enum Becomes {
        Number(usize),
        Name(usize),
    }
    let labels: Vec<&String> = guesses.labels.iter().take(MAX_LABELS).collect();
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
