//! Macros of missing headers that are given types: `alignof(T)`, `container_of(p, T, m)`, `BOUND(T)`.
//!
//! A parser that takes one for a function stops at the type. Some have one meaning wherever they are defined. Any other
//! becomes a call of a function of another file that is given the type's name and the other operands as they are:
//! `#define BOUND(a) BOUND(#a)`. Which operands are types is what the parser stopped at; all calls must have as many.

use super::super::scan::{Words, is_keyword, is_type_word};
use super::shapes::Shape;
use super::{Evidence, Guesses};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a macro stands for that is given types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    /// `_Alignof`.
    Alignment,
    /// `__builtin_offsetof`.
    Offset,
    /// The structure that a pointer points into, given its type and the member.
    Container,
    /// A call that is given so many operands, of which some are types.
    Call { operands: usize, types: BTreeSet<usize> },
}

impl Operator {
    /// Whether nobody knows what it means.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Operator::Call { .. })
    }

    /// The line of a prelude that says so.
    pub fn define(&self, name: &str) -> String {
        match self {
            Operator::Alignment => format!("#define {name} _Alignof\n"),
            Operator::Offset => format!("#define {name}(T, m) __builtin_offsetof(T, m)\n"),
            Operator::Container => {
                format!("#define {name}(p, T, m) ((T *)((char *)(p) - __builtin_offsetof(T, m)))\n")
            }
            Operator::Call { operands, types } => {
                let list = |mark: &dyn Fn(usize) -> &'static str| {
                    (0..*operands).map(|k| format!("{}a{k}", mark(k))).collect::<Vec<_>>().join(", ")
                };
                let (named, given) = (list(&|_| ""), list(&|k| if types.contains(&k) { "#" } else { "" }));
                format!("#define {name}({named}) {name}({given})\n")
            }
        }
    }
}

/// Words whose operand may be a type.
pub(super) fn takes_type(word: &str) -> bool {
    matches!(word, "sizeof" | "alignof" | "_Alignof" | "__alignof__" | "__alignof")
}

/// How many operands stand in the brackets that open at a place: one at least.
pub(super) fn operands(text: &Words<'_>, open: usize) -> usize {
    let close = text.after_group(open, text.tokens.len());
    let mut found = 1;
    let mut i = open + 1;
    while i + 1 < close {
        match text.at(i) {
            "(" | "[" | "{" => i = text.after_group(i, close),
            word => {
                found += usize::from(word == ",");
                i += 1;
            }
        }
    }
    found
}

impl Evidence<'_> {
    /// Guesses at what is given types; whether there was anything new.
    pub(super) fn operands(&self, out: &mut Guesses) -> bool {
        let text = &self.text;
        let known = (out.operators.clone(), out.shapes.len());
        let is_it = |d: &&rucc_diag::Diagnostic| {
            d.severity.is_fatal()
                && (d.message.starts_with("expected ") || d.message.contains(" is a type name"))
        };
        let stops: BTreeSet<u32> = self.diagnostics.iter().filter(is_it).map(|d| d.span.lo).collect();
        let tokens = if stops.is_empty() { 0 } else { text.tokens.len() };
        for at in 1..tokens {
            let is_stop = text.tokens.get(at).is_some_and(|t| stops.contains(&t.report_span().lo));
            let is_type = is_type_word(text.at(at)) || text.name(at).is_some();
            if is_stop && is_type && matches!(text.at(at - 1), "(" | ",") {
                self.operand_at(at, out);
            }
        }
        if self.named(super::IMPLICIT_CALL).contains("static_assert") {
            out.macros.insert("static_assert".to_owned(), true);
        }
        known != (out.operators.clone(), out.shapes.len())
    }

    /// The parser stopped at a type that is an operand.
    fn operand_at(&self, at: usize, out: &mut Guesses) {
        let text = &self.text;
        let (mut depth, mut place) = (0usize, 0usize);
        let mut open = at;
        loop {
            let Some(before) = open.checked_sub(1) else { return };
            open = before;
            match text.at(open) {
                ")" | "]" | "}" => depth += 1,
                "(" if depth == 0 => break,
                "(" | "[" | "{" if depth > 0 => depth -= 1,
                "{" | "[" | ";" => return,
                "," if depth == 0 => place += 1,
                _ => {}
            }
        }
        let Some(name) = open.checked_sub(1).and_then(|i| text.name(i)) else { return };
        let is_own = self.items.iter().any(|item| item.declares.iter().any(|d| d == name));
        if is_keyword(name) || is_own || out.macros.contains_key(name) || out.shapes.contains_key(name) {
            return;
        }
        let close = text.after_group(open, text.tokens.len());
        // It gives a type, or is the head of a loop.
        let begins = open < 2 || matches!(text.at(open - 2), ";" | "{" | "}" | ":" | "else");
        if begins && self.declares_at(close) {
            let shape = if name.to_ascii_lowercase().contains("ptr") { Shape::Pointer } else { Shape::Same };
            out.shapes.insert(name.to_owned(), shape);
            return;
        }
        if text.name(close).is_some() || text.at(close) == "{" || begins && text.at(close) == "*" {
            return;
        }
        let operands = operands(text, open);
        let operator = match (name, operands) {
            ("alignof", 1) => Operator::Alignment,
            ("offsetof", 2) => Operator::Offset,
            ("container_of" | "list_entry" | "hlist_entry" | "rb_entry", 3) => Operator::Container,
            _ => Operator::Call { operands, types: BTreeSet::new() },
        };
        let known = out.operators.entry(name.to_owned()).or_insert(operator);
        if let Operator::Call { operands: all, types } = known
            && *all == operands
        {
            types.insert(place);
        }
    }

    /// Whether all calls of a name give as many arguments as a prototype wants: it may be another function's.
    pub(super) fn calls_fit(&self, name: &str, prototype: &str) -> bool {
        let Some(list) = prototype.find('(').and_then(|open| prototype.get(open + 1..)) else { return true };
        let (mut depth, mut wanted) = (0usize, 1usize);
        for c in list.chars() {
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                ',' if depth == 0 => wanted += 1,
                _ => {}
            }
        }
        let is_open = list.contains("...");
        let text = &self.text;
        text.places(name).iter().filter(|i| text.at(**i + 1) == "(").all(|i| {
            let given = operands(text, i + 1);
            if is_open { given + 1 >= wanted } else { given == wanted || given == 1 }
        })
    }
}
