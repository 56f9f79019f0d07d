//! Macros of missing headers that change the shape of code, so that a parser stops where they stand.
//!
//! Where it stops tells what they are for: a call with a block behind it is the head of a loop (`json_foreach(x, a) {`),
//! a name before the type of a local declaration stands for nothing (`autofree char *s = ...;`), a call before the name
//! that is declared gives the type (`autoptr(T) x = ...;`, `STACK_OF(T) *s`), a name without a comma among enumerators
//! stands for nothing, and so does a call at the top of a file (`MODULE_LICENSE("GPL");`). What wraps the names of
//! parameters gives them (`int f(int UNUSED(a), int UNUSED(b))`).
//!
//! What the head of a loop does to its variables nobody knows: it becomes `while (json_foreach(&x, &a)) {`, a call of a
//! function of another file that may write them ([`enter_loops`]).

use super::super::headers;
use super::super::scan::{Item, ItemKind, Text, is_type_word};
use super::{Evidence, Guesses, INVENTED, is_identifier};
use rucc_base::Interner;
use rucc_diag::Diagnostic;
use rucc_lex::{PpTokenKind, Punct};
use rucc_pp::Tok;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The type that a macro with a type in brackets gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// Its argument.
    Same,
    /// A pointer to it.
    Pointer,
    /// A structure of its own.
    Record,
}

impl Shape {
    /// The line of a prelude that says so.
    pub fn define(self, name: &str) -> String {
        match self {
            Shape::Same => format!("#define {name}(T) T\n"),
            Shape::Pointer => format!("#define {name}(T) T *\n"),
            Shape::Record => format!("#define {name}(...) struct {INVENTED}{name}\n"),
        }
    }
}

/// Words that a statement or a declaration begins with.
const BEGINS: [&str; 5] = [";", "{", "}", ":", "else"];

/// Words that are followed by a group and are no macros.
const STATEMENTS: [&str; 5] = ["if", "while", "for", "switch", "return"];

impl Evidence<'_> {
    /// Guesses at what stands where the parser wanted something else; whether there was anything new.
    pub(super) fn shapes(&self, out: &mut Guesses) -> bool {
        let known = (out.macros.len(), out.loops.len(), out.shapes.len());
        // `f(int UNUSED(a), int UNUSED(b))`
        let called = |n: &&str| self.text.places(n).iter().any(|i| self.text.at(i + 1) == "(");
        let wrapped = self.quoted("redefinition of parameter ").filter(called);
        out.shapes.extend(wrapped.map(|n| (n.to_owned(), Shape::Same)));
        let fatal = self.diagnostics.iter().filter(|d| d.severity.is_fatal());
        let expected = fatal.filter(|d| d.message.starts_with("expected "));
        // With whether the body of a function was wanted there.
        let stops: BTreeMap<u32, bool> =
            expected.map(|d| (d.span.lo, d.message.starts_with("expected a function body"))).collect();
        // What is missing is said to be missing behind the token before.
        let place = |at: usize| self.text.tokens.get(at).map(|t| t.report_span());
        let tokens = if stops.is_empty() { 0 } else { self.text.tokens.len() };
        for at in 1..tokens {
            let stop = place(at).and_then(|p| stops.get(&p.lo));
            if let Some(wants_body) = stop.or_else(|| place(at - 1).and_then(|p| stops.get(&p.hi))) {
                self.stopped_at(at, *wants_body, out);
            }
        }
        known != (out.macros.len(), out.loops.len(), out.shapes.len())
    }

    fn stopped_at(&self, at: usize, wants_body: bool, out: &mut Guesses) {
        let text = &self.text;
        let begins = |i: usize| i == 0 || BEGINS.contains(&text.at(i - 1));
        let unknown = |i: usize| {
            let name = text.name(i)?;
            let is_own = self.text.places(name).iter().any(|p| *p + 1 < i && text.at(*p + 1) == "{");
            (!is_own && !is_type_word(name) && !STATEMENTS.contains(&name)).then(|| name.to_owned())
        };
        // `NAME(...)` before the place.
        let before = text.at(at - 1) == ")";
        let call = if before {
            text.before_group(at - 1).checked_sub(1).and_then(|i| Some((i, unknown(i)?)))
        } else {
            None
        };
        let mut mark = |name: String, arguments: bool| {
            let is_known = out.types.contains_key(&name) || out.shapes.contains_key(&name);
            if !is_known {
                out.macros.insert(name, arguments);
            }
        };
        match (text.at(at), call) {
            ("{", Some((i, name))) if begins(i) => _ = out.loops.insert(name),
            ("*", Some((_, name))) => _ = out.shapes.insert(name, Shape::Record),
            (word, Some((i, name))) if begins(i) && is_type_word(word) => mark(name, true),
            // `DEFINE_ONE(x)` and `DEFINE_OTHER(y)` on lines of their own.
            (_, Some((_, name))) if wants_body && text.at(at + 1) == "(" => mark(name, true),
            (_, Some((i, name))) if begins(i) && text.name(at).is_some() && self.declares_at(at) => {
                let shape = if name.contains("ptr") { Shape::Pointer } else { Shape::Same };
                out.shapes.insert(name, shape);
            }
            // `NAME char *x`, and `NAME T *x` where the place is the star.
            (word, None) if is_type_word(word) && begins(at - 1) => {
                if let Some(name) = unknown(at - 1) {
                    mark(name, false);
                }
            }
            ("*", None)
                if at > 1 && begins(at - 2) && text.name(at - 1).is_some() && self.declares_at(at + 1) =>
            {
                if let Some(name) = unknown(at - 2) {
                    mark(name, false);
                }
            }
            (_, None) if text.name(at).is_some() && self.is_among_enumerators(at) => {
                // `NAME A = 1,`: the parser stops at what is behind; `3 NAME(x) }`: at the name.
                let first = if text.name(at - 1).is_some() { at - 1 } else { at };
                if let Some(name) = unknown(first) {
                    mark(name, text.at(first + 1) == "(");
                }
            }
            _ => {}
        }
        // `NAME("text");` and nothing else.
        let alone = self.items.iter().find(|item| item.tokens.contains(&at)).map(|item| item.tokens.clone());
        if let Some(item) = alone
            && text.at(item.start + 1) == "("
            && text.after_group(item.start + 1, item.end) + 1 == item.end
            && let Some(name) = unknown(item.start)
        {
            out.macros.insert(name, true);
        }
    }

    /// Names before the type of a parameter, `f(NAME int x)`, and behind the body of a structure that is declared
    /// more than once: `} NAME;`.
    pub(super) fn before_types(&self, item: &Item, typedefs: &FxHashSet<&str>, out: &mut Guesses) {
        let text = &self.text;
        let end = if let ItemKind::Function { body, .. } = item.kind { body } else { item.tokens.end };
        for at in item.tokens.start + 1..end {
            let Some(name) = text.name(at).filter(|n| !typedefs.contains(n)) else { continue };
            let begins = matches!(text.at(at - 1), "(" | ",") && headers::declaring_type(name).is_none();
            let behind = match text.at(at + 1) {
                "(" => text.after_group(at + 1, end),
                _ => at + 1,
            };
            if begins && behind < end && is_type_word(text.at(behind)) {
                out.macros.insert(name.to_owned(), behind > at + 1);
            }
            let is_conflict = |d: &Diagnostic| {
                d.message.starts_with("conflicting types for") && d.message.contains(&format!("'{name}'"))
            };
            if text.at(at - 1) == "}" && text.at(at + 1) == ";" && self.diagnostics.iter().any(is_conflict) {
                out.macros.insert(name.to_owned(), false);
            }
        }
    }

    /// The macro whose call stands before a declaration, without a semicolon: `DEFINE_TYPE(t, free)` and then
    /// `typedef ...`.
    pub(super) fn called_before(&self, item: &Item) -> Option<&str> {
        let text = &self.text;
        let (start, end) = (item.tokens.start, item.tokens.end);
        let name = text.name(start).filter(|_| text.at(start + 1) == "(")?;
        let behind = text.after_group(start + 1, end);
        // What declares the parameters of an old-style definition begins with none of these.
        let declares = matches!(text.at(behind), "typedef" | "extern" | "static")
            || (is_type_word(text.at(behind)) || text.name(behind).is_some())
                && !text.declares_one_of(start + 2..behind - 1, behind..end);
        (behind < end && declares).then_some(name)
    }

    /// The macro that stands between the type of an object and its name, and whether it is called: `struct s
    /// SECTION("maps") x = ...;`, `struct s *MUTABLE x;`.
    pub(super) fn beside_object(&self, item: &Item) -> Option<(&str, bool)> {
        let text = &self.text;
        let (start, end) = (item.tokens.start, item.tokens.end);
        let mut head = (start + 1..end).take_while(|i| !matches!(text.at(*i), "=" | "{" | "typedef" | ";"));
        let is_marked = |i: usize| text.at(i - 1) == "*" && self.declares_at(i + 1);
        let at = head.find(|i| text.name(*i).is_some() && (text.at(i + 1) == "(" || is_marked(*i)))?;
        if text.at(at + 1) != "(" {
            return text.name(at).map(|name| (name, false));
        }
        let behind = text.after_group(at + 1, end);
        let has_type = is_type_word(text.at(at - 1)) || text.name(at - 1).is_some() || text.at(at - 1) == "*";
        (has_type && self.declares_at(behind)).then(|| text.name(at).map(|name| (name, true)))?
    }

    /// The macro that a declaration begins with, where its type stands behind: `EXPORT const struct s x`, `extern EXPORT
    /// void (*f)(void)`.
    pub(super) fn marked_by(&self, item: &Item, typedefs: &FxHashSet<&str>) -> Option<&str> {
        let text = &self.text;
        let end = item.tokens.end;
        let is_known = |n: &str| typedefs.contains(n) || headers::declaring_type(n).is_some();
        let is_qualifier =
            |w: &str| matches!(w, "const" | "volatile" | "static" | "extern" | "inline" | "register");
        let start = item.tokens.clone().find(|i| !is_qualifier(text.at(*i)))?;
        let name = text.name(start).filter(|n| !is_known(n))?;
        let first = (start + 1..end).find(|i| !is_qualifier(text.at(*i)))?;
        let is_type = is_type_word(text.at(first)) || typedefs.contains(text.at(first));
        let is_call = text.at(first + 1) == "(" && text.at(first + 2) != "*";
        (is_type && !is_call).then_some(name)
    }

    /// The macros whose calls stand before members of structures: `ALIGNED(64) struct s m;`.
    pub(super) fn before_members(&self, item: &Item) -> Vec<&str> {
        let text = &self.text;
        let end = item.tokens.end;
        let mut found = Vec::new();
        for start in item.tokens.clone().filter(|i| matches!(text.at(*i), "{" | ";" | "}")) {
            let (mut at, mut calls) = (start + 1, Vec::new());
            while let Some(name) = text.name(at).filter(|_| at + 1 < end && text.at(at + 1) == "(") {
                calls.push(name);
                at = text.after_group(at + 1, end);
            }
            let is_named = |i: usize| text.name(i).is_some() || text.at(i) == "*";
            let is_type = is_type_word(text.at(at)) || text.name(at).is_some() && is_named(at + 1);
            if at < end && is_type {
                found.append(&mut calls);
            }
        }
        found
    }

    /// Unknown types of pointers to functions, which the parser takes for the names that are declared:
    /// `typedef T (*f)(int);`.
    pub(super) fn types_of_pointers(&self) -> BTreeSet<&str> {
        let text = &self.text;
        let is_odd = |d: &&Diagnostic| d.severity.is_fatal() && d.message.contains("' declared as ");
        let quoted = self.diagnostics.iter().filter(is_odd).filter_map(|d| d.message.split('\'').nth(1));
        let gives = |name: &&str| {
            let begins =
                |i: usize| matches!(text.at(i), "typedef" | "const" | "static" | "extern" | ";" | "{" | "}");
            let is_type = |i: usize| i > 0 && begins(i - 1) && text.at(i + 1) == "(" && text.at(i + 2) == "*";
            is_identifier(name) && text.places(name).iter().any(|i| is_type(*i))
        };
        quoted.filter(gives).collect()
    }

    /// Whether a name that is declared stands there: `x;`, `x = ...`, `x, ...`.
    pub(super) fn declares_at(&self, at: usize) -> bool {
        self.text.name(at).is_some() && matches!(self.text.at(at + 1), "=" | ";" | "," | "[")
    }

    /// Whether the bracket around a place is that of an enumeration.
    fn is_among_enumerators(&self, at: usize) -> bool {
        /// Tokens of the longest one that is looked through.
        const LONGEST: usize = 4_000;
        let text = &self.text;
        let mut depth = 0usize;
        for i in (at.saturating_sub(LONGEST)..at).rev() {
            match text.at(i) {
                "}" | ")" => depth += 1,
                "{" | "(" if depth == 0 => {
                    return text.at(i) == "{"
                        && i > 0
                        && (text.at(i - 1) == "enum" || i > 1 && text.at(i - 2) == "enum");
                }
                "{" | "(" => depth -= 1,
                ";" if depth == 0 => return false,
                _ => {}
            }
        }
        false
    }
}

/// Writes `while (NAME(&x, y + 1)) {` where `NAME(x, y + 1) {` stands.
pub fn enter_loops(tokens: Vec<Tok>, interner: &mut Interner, loops: &BTreeSet<String>) -> Vec<Tok> {
    let word = interner.intern("while");
    // What is put before a token.
    let mut before: BTreeMap<usize, Vec<(PpTokenKind, bool)>> = BTreeMap::new();
    {
        let text = Text { tokens: &tokens, interner };
        for at in 1..tokens.len() {
            let is_head = text.at(at + 1) == "(" && text.name(at).is_some_and(|n| loops.contains(n));
            let close = if is_head { text.after_group(at + 1, tokens.len()) } else { continue };
            if text.at(close) != "{" {
                continue;
            }
            let head = [(PpTokenKind::Ident, true), (PpTokenKind::Punct(Punct::LParen), false)];
            before.entry(at).or_default().extend(head);
            let ends = |i: usize| matches!(text.at(i), "," | "(" | ")");
            let plain = (at + 2..close - 1).filter(|&i| ends(i - 1) && ends(i + 1) && text.name(i).is_some());
            for i in plain {
                before.entry(i).or_default().push((PpTokenKind::Punct(Punct::Amp), false));
            }
            before.entry(close).or_default().push((PpTokenKind::Punct(Punct::RParen), false));
        }
    }
    let mut out = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.into_iter().enumerate() {
        for (kind, is_word) in before.remove(&at).unwrap_or_default() {
            let mut made = token;
            (made.kind, made.value) = (kind, is_word.then_some(word));
            out.push(made);
        }
        out.push(token);
    }
    out
}
