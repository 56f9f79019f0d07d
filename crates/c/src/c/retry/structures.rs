//! Unknown functions that give structures: `emit(gen, MOV_REG(1, 2))`, where `emit` takes a `struct insn`.
//!
//! What nobody declares gives an `int`, and an `int` is no structure: everything around the call is an error. Where
//! the value goes says what it is: to a parameter, to a variable that is declared there, to the caller.

use super::super::scan::ItemKind;
use super::{Evidence, Guesses, IMPLICIT_CALL};

impl Evidence<'_> {
    /// Guesses at them, where something is said to have the wrong type.
    pub(super) fn structures(&self, out: &mut Guesses) {
        let is_wrong = |message: &str| {
            message.starts_with("incompatible type") || message.starts_with("invalid initializer")
        };
        if !self.diagnostics.iter().any(|d| d.severity.is_fatal() && is_wrong(&d.message)) {
            return;
        }
        for name in self.named(IMPLICIT_CALL) {
            let mut calls = self.text.places(name).iter().filter(|i| self.text.at(**i + 1) == "(");
            if let Some(tag) = calls.find_map(|&i| self.wanted_at(i)) {
                out.prototypes.insert(name.to_owned(), format!("struct {tag}; struct {tag} {name}();"));
            }
        }
    }

    /// The tag of the structure that is wanted where a value begins.
    fn wanted_at(&self, at: usize) -> Option<&str> {
        let text = &self.text;
        let before = |steps: usize| at.checked_sub(steps).map_or("", |i| text.at(i));
        match before(1) {
            "=" if before(4) == "struct" => text.name(at - 3),
            "return" => {
                let item = self.items.iter().find(|item| item.tokens.contains(&at))?;
                let ItemKind::Function { at: name, .. } = item.kind else { return None };
                self.tag_in(item.tokens.start, name)
            }
            "(" | "," => {
                let (open, place) = self.argument_at(at)?;
                let callee = text.name(open.checked_sub(1)?)?;
                self.parameter(callee, place)
            }
            _ => None,
        }
    }

    /// Where the list of arguments begins in which a value stands, and how many stand before it.
    fn argument_at(&self, at: usize) -> Option<(usize, usize)> {
        let (mut depth, mut place) = (0usize, 0);
        for i in (at.saturating_sub(400)..at).rev() {
            match self.text.at(i) {
                ")" | "]" | "}" => depth += 1,
                "(" if depth == 0 => return Some((i, place)),
                "(" | "[" | "{" => depth = depth.checked_sub(1)?,
                "," if depth == 0 => place += 1,
                ";" => return None,
                _ => {}
            }
        }
        None
    }

    /// The tag of the structure that a function of the unit takes at a place.
    fn parameter(&self, callee: &str, place: usize) -> Option<&str> {
        let text = &self.text;
        let of_item = self.items.iter().filter_map(|item| {
            let at = match &item.kind {
                ItemKind::Function { name, at, .. } => (name == callee).then_some(*at),
                ItemKind::Other if item.declares.iter().any(|n| n == callee) => {
                    text.places_in(callee, &item.tokens).first().copied()
                }
                _ => None,
            };
            at.filter(|at| text.at(at + 1) == "(")
        });
        of_item.into_iter().find_map(|at| {
            let end = text.after_group(at + 1, text.tokens.len());
            let (mut start, mut depth, mut left) = (at + 2, 0usize, place);
            for i in at + 2..end {
                match text.at(i) {
                    "(" | "[" => depth += 1,
                    ")" if depth == 0 => return (left == 0).then(|| self.tag_in(start, i)).flatten(),
                    ")" | "]" => depth -= 1,
                    "," if depth == 0 && left == 0 => return self.tag_in(start, i),
                    "," if depth == 0 => (left, start) = (left - 1, i + 1),
                    _ => {}
                }
            }
            None
        })
    }

    /// The tag of the structure that a declaration is of, by value.
    fn tag_in(&self, start: usize, end: usize) -> Option<&str> {
        let text = &self.text;
        let at = (start..end).find(|i| text.at(*i) == "struct")?;
        let is_value = (at..end).all(|i| !matches!(text.at(i), "*" | "[" | "("));
        text.name(at + 1).filter(|_| is_value)
    }
}
