//! What stands behind `sizeof` in the text, and what a number was asked of.
//!
//! The text is read without the tree: a name may be a type's or an object's.

use crate::c::scan::{Text, is_keyword};
use rucc_base::{Interner, Symbol};
use rucc_pp::Tok;
use rucc_sema::ExprId;
use std::collections::BTreeMap;

/// Tokens in the parentheses of one `sizeof` that are looked at.
const LONG: usize = 64;

/// What stands behind one `sizeof`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A `struct` or `union` by its tag.
    Tag(Symbol),
    /// A name alone, with or without parentheses: of a type, or of an object.
    Name(Symbol),
    /// Anything else: the first name in it, and the last word of the parentheses around.
    Other(Option<Symbol>, Option<Symbol>),
}

/// What a number was asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Expression(ExprId),
    Record(rucc_types::RecordId),
    /// Nobody knows.
    Other,
}

/// By place what stands behind each `sizeof` there. Of one macro call all stand where it does, in their order.
pub(super) fn written(tokens: &[Tok], interner: &Interner) -> BTreeMap<u32, Vec<Written>> {
    let text = Text { tokens, interner };
    let mut found: BTreeMap<u32, Vec<Written>> = BTreeMap::new();
    for (k, tok) in tokens.iter().enumerate() {
        if text.at(k) != "sizeof" {
            continue;
        }
        let word = |at: usize| tokens.get(at).and_then(|t| t.value).filter(|_| is_word(text.at(at)));
        let (mut at, mut open) = (k + 1, 0);
        while text.at(at) == "(" {
            (at, open) = (at + 1, open + 1);
        }
        while matches!(text.at(at), "const" | "volatile") {
            at += 1;
        }
        let is_tag = matches!(text.at(at), "struct" | "union");
        let at = at + usize::from(is_tag);
        let closes = (0..open).all(|i| text.at(at + 1 + i) == ")");
        let ends = open > 0 || !matches!(text.at(at + 1), "." | "->" | "[" | "(" | "++" | "--");
        let what = match word(at).filter(|_| closes && ends) {
            Some(tag) if is_tag => Written::Tag(tag),
            Some(name) if !is_keyword(text.at(at)) => Written::Name(name),
            _ => {
                let skipped = |at: &usize| matches!(text.at(*at), "(" | "*" | "&" | "+" | "-");
                let first =
                    (k + 1..tokens.len()).find(|at| !skipped(at)).filter(|at| !is_keyword(text.at(*at)));
                let behind = text.after_group(k + 1, tokens.len().min(k + LONG));
                let last = (k + 1..behind.saturating_sub(1)).rev().find(|at| text.at(*at) != ")");
                Written::Other(first.and_then(word), last.and_then(word))
            }
        };
        found.entry(tok.report_span().lo).or_default().push(what);
    }
    found
}

fn is_word(s: &str) -> bool {
    s.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}
