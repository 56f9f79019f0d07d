//! Guesses at names that nobody declared, and the prelude that makes the parser accept them.
//!
//! A revision is read without the headers that a build would generate or that other projects
//! install, so types and macros are missing. One unknown macro before a definition makes the parser
//! lose it; an unknown type silently becomes `int`. After a pass over the unit this module looks at
//! what went wrong, guesses (a type of the library, a type that we invent, a macro that stood for
//! nothing), and the unit is parsed again under a prelude that says so. Every guess stays on record:
//! see `honesty`.

pub mod definers;
mod numbers;
pub mod operands;
mod prelude;
pub mod records;
pub mod shapes;
mod structures;
pub mod tokens;

use super::headers;
use super::scan::{Item, ItemKind, Text, Words, is_type_word};
pub use prelude::Prelude;
use records::Records;
use rucc_diag::Diagnostic;
use rucc_lex::PpTokenKind;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Passes over a unit, the first included.
pub const ROUNDS: usize = 8;

/// Codes of `rucc`'s diagnostics that guesses start from.
const UNKNOWN_TYPE: &str = "E0546";
const UNDECLARED: &str = "E0500";
const IMPLICIT_CALL: &str = "E0521";

/// What is said of a conditional that gives a pointer or a number.
const MISMATCH: &str = "pointer/integer type mismatch in conditional";

/// What an unknown name of a type, an object or a macro stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    Number,
    /// A number that is a constant by its name.
    Constant,
    /// A structure.
    Record,
    /// A pointer to a structure.
    Pointer,
    /// A pointer to the first of some numbers.
    Numbers,
}

impl Kind {
    fn is_number(self) -> bool {
        matches!(self, Kind::Number | Kind::Constant)
    }
}

/// Names that the unit uses and nobody declared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guesses {
    /// Types that we invent.
    pub types: BTreeMap<String, Kind>,
    /// Macros taken to stand for nothing; whether they take arguments.
    pub macros: BTreeMap<String, bool>,
    /// Macros that begin definitions of functions.
    pub definers: BTreeMap<String, definers::Definer>,
    /// Macros that are heads of loops: see [`shapes`].
    pub loops: BTreeSet<String>,
    /// Macros that give a type.
    pub shapes: BTreeMap<String, shapes::Shape>,
    /// Macros that are given types.
    pub operators: BTreeMap<String, operands::Operator>,
    /// Macros that stand beside a string, and are taken for one; whether they take arguments.
    pub strings: BTreeMap<String, bool>,
    /// Macros or objects that are used as numbers or structures: taken for objects of another file.
    pub objects: BTreeMap<String, Kind>,
    /// Macros that stand behind `case`, as they are written there, with their arguments.
    pub labels: BTreeSet<String>,
    /// Structures whose members nobody declared.
    pub records: Records,
    /// Library headers that declare a type the unit uses without including them.
    #[serde(deserialize_with = "headers::known")]
    pub headers: BTreeSet<&'static str>,
    /// Library functions called without a declaration, with their prototypes.
    pub prototypes: BTreeMap<String, String>,
    /// Tags of enumerations that nobody defines.
    pub enums: BTreeSet<String>,
    /// Functions that nobody declares, and whose results are followed: what these lead to. Of one that is no more than
    /// named, or whose type others have (`typeof(f) *g`), a number.
    pub results: BTreeMap<String, Kind>,
    /// Functions of the unit that are used before they are defined: declared there as they are defined.
    pub forward: BTreeSet<String>,
    /// Macros that say how long arrays of the file are.
    pub lengths: BTreeSet<String>,
}

/// Prefix of the tags of types that we invent.
pub const INVENTED: &str = "__invdiff_unknown_";

/// The string that a macro is taken for which stands beside one.
pub fn string_of(name: &str) -> String {
    format!("\"{{{name}}}\"")
}

/// How the declaration of an object that we invent begins.
pub const OBJECT: &str = "extern ";

/// Words that compilers for Windows have in the heads of functions and in pointers to them.
const CONVENTIONS: [&str; 6] = ["__cdecl", "__stdcall", "__fastcall", "__vectorcall", "WINAPI", "CALLBACK"];

/// What a pass over the unit left to be explained.
pub struct Evidence<'a> {
    pub text: Words<'a>,
    pub items: &'a [Item],
    pub diagnostics: &'a [Diagnostic],
    /// Functions that the scan found and the typed tree lacks.
    pub lost: &'a BTreeSet<String>,
}

/// Whether a pass left nothing to be explained but what the functions of the unit are called.
pub fn is_explained(diagnostics: &[Diagnostic], lost: &BTreeSet<String>) -> bool {
    let is_told = |d: &Diagnostic| matches!(d.code, Some(UNKNOWN_TYPE | UNDECLARED | IMPLICIT_CALL));
    lost.is_empty() && diagnostics.iter().all(|d| !d.severity.is_fatal() && !is_told(d))
}

impl Evidence<'_> {
    /// Returns the guesses before this pass with what this pass adds.
    pub fn refine(&self, before: &Guesses) -> Guesses {
        let mut out = before.clone();
        definers::guess(self.text.text, self.items, &mut out);
        let unknown = self.named(UNKNOWN_TYPE);
        let typedefs = self.typedefs();
        // What was unknown for want of something else, and is declared after all.
        self.quoted("conflicting types for ")
            .filter(|n| typedefs.contains(n))
            .for_each(|n| _ = out.types.remove(n));
        self.quoted("conflicting types for ").for_each(|n| _ = out.objects.remove(n));
        let wrong = self.items_with_errors();
        // Where the parser wants something else, what is wrong may stand further up.
        let is_stopped =
            self.diagnostics.iter().any(|d| d.severity.is_fatal() && d.message.starts_with("expected "));
        for (at, item) in self.items.iter().enumerate() {
            let lost = matches!(&item.kind, ItemKind::Function { name, .. } if self.lost.contains(name));
            if lost || (wrong.contains(&at) && !matches!(item.kind, ItemKind::Function { .. })) {
                self.head(item, &unknown, &typedefs, &mut out);
            }
            if wrong.contains(&at) {
                out.macros.extend(self.beside_object(item).map(|(name, called)| (name.to_owned(), called)));
                if !matches!(item.kind, ItemKind::Function { .. }) {
                    let calls = self.before_members(item).into_iter().map(|name| (name.to_owned(), true));
                    out.macros.extend(calls);
                }
            }
            // What was unknown where something before it was lost.
            if wrong.contains(&at) && item.kind == ItemKind::Typedef {
                item.declares.iter().for_each(|name| _ = out.types.remove(name));
            }
            if lost || wrong.contains(&at) {
                self.before_types(item, &typedefs, &mut out);
            }
            if lost || wrong.contains(&at) || !self.lost.is_empty() || is_stopped {
                out.macros.extend(self.called_before(item).map(|name| (name.to_owned(), true)));
                out.macros.extend(self.marked_by(item, &typedefs).map(|name| (name.to_owned(), false)));
            }
        }
        out.macros.extend(CONVENTIONS.iter().filter(|w| self.is_used(w)).map(|w| ((*w).to_owned(), false)));
        let is_reshaped = self.operands(&mut out) | self.shapes(&mut out);
        let undeclared = self.named(UNDECLARED);
        let named = undeclared
            .into_iter()
            .filter(|n| self.reads_as_type(n) && !self.is_indexed(n) && !self.is_declared(n));
        let types = unknown.iter().copied().chain(named).chain(self.types_of_pointers());
        for name in types {
            if out.macros.contains_key(name) || out.types.contains_key(name) || out.shapes.contains_key(name)
            {
                continue;
            }
            match headers::declaring_type(name) {
                Some(header) => _ = out.headers.insert(header),
                None => self.invent_type(name, &mut out),
            }
        }
        // What else is undeclared may be so for want of these.
        if is_reshaped {
            return out;
        }
        self.enums(&mut out);
        self.forward(&mut out);
        self.labels(&mut out);
        for name in self.named(UNDECLARED) {
            let known = out.types.contains_key(name)
                || headers::declaring_type(name).is_some_and(|header| out.headers.contains(header))
                || out.macros.contains_key(name)
                || out.strings.contains_key(name)
                || out.objects.contains_key(name)
                || self.is_declared(name)
                || out.forward.contains(name);
            if !known && let Some(header) = headers::defining_constant(name) {
                out.headers.insert(header);
            } else if !known && (self.gives_type(name) || self.is_called_elsewhere(name)) {
                out.results.insert(name.to_owned(), Kind::Number);
            } else if !known && self.begins_text(name) {
                out.strings.insert(name.to_owned(), false);
            } else if !known && let Some(kind) = self.reads_as(name) {
                if matches!(kind, Kind::Record | Kind::Pointer) {
                    out.records.invent_for_object(&self.text, &format!("{INVENTED}{name}"), name);
                }
                out.objects.insert(name.to_owned(), kind);
            }
        }
        self.lengths(&mut out);
        self.records(&mut out);
        self.strings(&mut out);
        self.texts(&mut out);
        self.constants(&mut out);
        self.structures(&mut out);
        let defined: BTreeSet<&str> =
            self.items.iter().flat_map(|i| &i.declares).map(String::as_str).collect();
        let unknown = |name: &&str| !defined.contains(name) && !out.prototypes.contains_key(*name);
        let called: Vec<&str> = self.named(IMPLICIT_CALL).into_iter().filter(unknown).collect();
        for name in called {
            if let Some(text) = headers::prototype(name).filter(|text| self.calls_fit(name, text)) {
                out.prototypes.insert(name.to_owned(), text);
            } else if let Some(kind) = self.result(name) {
                if kind == Kind::Pointer {
                    out.records.invent_for_result(&self.text, &format!("{INVENTED}{name}"), name);
                }
                out.results.insert(name.to_owned(), kind);
            }
        }
        out
    }

    /// Guesses at enumerations that are used and never defined.
    fn enums(&self, out: &mut Guesses) {
        let is_incomplete = |d: &Diagnostic| {
            let says = |words| d.message.contains(words);
            d.severity.is_fatal()
                && (says("isn't known") || says("incomplete type") || says("undefined type"))
        };
        if !self.diagnostics.iter().any(is_incomplete) {
            return;
        }
        out.enums.extend(self.undefined_enums().map(str::to_owned));
    }

    /// Tags of enumerations that the unit names and does not define.
    fn undefined_enums(&self) -> impl Iterator<Item = &str> {
        let text = &self.text;
        let tags = |defined: bool| {
            let places = text.places("enum").iter();
            places.filter(move |i| (text.at(**i + 2) == "{") == defined).filter_map(|i| text.name(i + 1))
        };
        let defined: BTreeSet<&str> = tags(true).collect();
        tags(false).filter(move |tag| !defined.contains(tag))
    }

    /// Whether a name is called in one place, and handed on in others: a function's.
    fn is_called_elsewhere(&self, name: &str) -> bool {
        let called = |i: &usize| self.text.at(i + 1) == "(";
        let (calls, others): (Vec<usize>, Vec<usize>) =
            self.text.places(name).iter().partition(|i| called(i));
        !calls.is_empty() && others.iter().all(|i| matches!(self.text.at(i + 1), "," | ")" | ";"))
    }

    /// Whether a declaration outside of functions, which did not parse perhaps, is of a name.
    fn is_declared(&self, name: &str) -> bool {
        let own = |item: &&Item| !matches!(item.kind, ItemKind::Function { .. });
        self.items.iter().filter(own).any(|item| item.declares.iter().any(|d| d == name))
    }

    /// Whether a name is used for nothing but its type.
    fn gives_type(&self, name: &str) -> bool {
        let text = &self.text;
        let is_typeof = |word: &str| matches!(word, "typeof" | "__typeof__" | "__typeof");
        let asks = |i: &usize| *i > 1 && is_typeof(text.at(i - 2)) && text.at(i + 1) == ")";
        text.places(name).iter().any(asks)
    }

    /// Functions of the unit that something before them uses: a header that is missing declares them.
    fn forward(&self, out: &mut Guesses) {
        let used: BTreeSet<&str> =
            self.named(UNDECLARED).into_iter().chain(self.named(IMPLICIT_CALL)).collect();
        let own = self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Function { name, .. } => Some(name),
            _ => None,
        });
        out.forward.extend(own.filter(|name| used.contains(name.as_str())).cloned());
    }

    /// What the result of a function leads to, by how the calls are used: `*f(x)`, `f(x)[i]`, `f(x)->m`.
    fn result(&self, name: &str) -> Option<Kind> {
        let text = &self.text;
        let calls = text.places(name).iter().filter(|i| **i > 1 && text.at(**i + 1) == "(");
        let mut followed = calls.filter_map(|&i| match text.at(text.after_group(i + 1, text.tokens.len())) {
            "->" => Some(Kind::Pointer),
            "[" => Some(Kind::Numbers),
            _ if records::is_followed(text.text, i) => Some(Kind::Numbers),
            _ => None,
        });
        let Some(first) = followed.next() else {
            return self.stands_for_pointer(name, true).then_some(Kind::Numbers);
        };
        followed.all(|kind| kind == first).then_some(first)
    }

    /// Whether a name is all that a text begins with: `char *path = NAME;`.
    fn begins_text(&self, name: &str) -> bool {
        let text = &self.text;
        text.places(name).iter().any(|&i| {
            let ends = matches!(text.at(i + 1), ";" | ",") && i > 3 && text.at(i - 1) == "=";
            let of_text = |variable: usize| match text.at(variable) {
                "*" => text.at(variable - 1) == "char",
                _ => text.at(variable - 1) == "*" && text.at(variable - 2) == "char",
            };
            let array =
                || text.at(i - 2) == "]" && text.at(text.before_group(i - 2).saturating_sub(2)) == "char";
            ends && (text.name(i - 2).is_some() && of_text(i - 2) || array())
        })
    }

    fn is_used(&self, name: &str) -> bool {
        !self.text.places(name).is_empty()
    }

    /// Returns the quoted names of all diagnostics with a code.
    fn named(&self, code: &str) -> BTreeSet<&str> {
        let quoted = |d: &'_ Diagnostic| -> Option<(usize, usize)> {
            let start = d.message.find('\'')? + 1;
            Some((start, start + d.message.get(start..)?.find('\'')?))
        };
        let mut out = BTreeSet::new();
        for one in self.diagnostics.iter().filter(|d| d.code == Some(code)) {
            out.extend(quoted(one).and_then(|(a, b)| one.message.get(a..b)).filter(|n| is_identifier(n)));
        }
        out
    }

    /// The names of what fatal messages that begin so speak of.
    fn quoted(&self, begins: &str) -> impl Iterator<Item = &str> {
        let all =
            self.diagnostics.iter().filter(move |d| d.severity.is_fatal() && d.message.starts_with(begins));
        all.filter_map(|d| d.message.split('\'').nth(1))
    }

    fn typedefs(&self) -> FxHashSet<&str> {
        let items = self.items.iter().filter(|i| i.kind == ItemKind::Typedef);
        items.flat_map(|i| &i.declares).map(String::as_str).collect()
    }

    fn items_with_errors(&self) -> BTreeSet<usize> {
        let fatal = || self.diagnostics.iter().filter(|d| d.severity.is_fatal());
        let places = Places::new(self.text.text, self.items, fatal());
        fatal().filter_map(|d| places.item(d)).collect()
    }

    /// Guesses at the names in a declaration's head that are neither its own nor a type.
    fn head(&self, item: &Item, unknown: &BTreeSet<&str>, typedefs: &FxHashSet<&str>, out: &mut Guesses) {
        let text = &self.text;
        let (own, end) = match item.kind {
            ItemKind::Function { at, body, .. } => (at, body),
            _ => match self.prototype_name(item) {
                Some(at) => (at, item.tokens.end.saturating_sub(1)),
                None => return,
            },
        };
        let mut typed = false;
        let mut plain: Vec<&str> = Vec::new();
        // The last one with a star behind it.
        let mut pointed = None;
        let mut at = item.tokens.start;
        while at < own {
            let word = text.at(at);
            if matches!(word, "struct" | "union" | "enum") {
                typed = true;
                at += 2;
                continue;
            }
            typed |= is_type_word(word) || typedefs.contains(word);
            if text.at(at + 1) == "(" {
                let close = text.after_group(at + 1, own);
                if let Some(name) = text.name(at) {
                    out.macros.insert(name.to_owned(), true);
                }
                at = close.max(at + 1);
                continue;
            }
            if let Some(name) = text.name(at).filter(|n| !typedefs.contains(n)) {
                pointed = if text.at(at + 1) == "*" { Some(plain.len()) } else { pointed };
                plain.push(name);
            }
            at += 1;
        }
        // One of them is the type when nothing else is: the one with a star, the one that the parser took for it, or
        // else the one that stands next to the name.
        let taken = || plain.iter().position(|n| unknown.contains(n));
        let ty = (!typed).then(|| pointed.or_else(taken).or(plain.len().checked_sub(1)));
        for (at, name) in plain.iter().enumerate() {
            if ty.flatten() == Some(at) {
                if headers::declaring_type(name).is_none() && !out.types.contains_key(*name) {
                    self.invent_type(name, out);
                }
            } else {
                out.macros.insert((*name).to_owned(), false);
            }
        }
        self.tail(own, end, out);
    }

    /// Guesses at names behind the parameters, and behind one parameter's name.
    fn tail(&self, own: usize, end: usize, out: &mut Guesses) {
        let text = &self.text;
        let close = text.after_group(own + 1, end);
        for at in own + 2..close.saturating_sub(1) {
            // A parameter's own name stands behind its type; behind a tag, a name is the parameter's.
            let is_named = text.name(at - 1).is_some()
                && is_type_word(text.at(at - 2))
                && !matches!(text.at(at - 2), "struct" | "union" | "enum");
            let last = matches!(text.at(at + 1), "," | ")");
            if let Some(name) = text.name(at).filter(|_| is_named && last) {
                out.macros.insert(name.to_owned(), false);
            }
        }
        if (close..end).any(|i| text.at(i) == ";") {
            return;
        }
        let mut at = close;
        while at < end {
            if matches!(text.at(at), "__attribute__" | "__asm__" | "asm") {
                at = text.after_group(at + 1, end);
                continue;
            }
            let arguments = text.at(at + 1) == "(";
            if let Some(name) = text.name(at) {
                out.macros.insert(name.to_owned(), arguments);
            }
            at = if arguments { text.after_group(at + 1, end) } else { at + 1 };
        }
    }

    /// Returns the index of the declared function's name in a prototype.
    fn prototype_name(&self, item: &Item) -> Option<usize> {
        let text = &self.text;
        if item.tokens.clone().any(|i| matches!(text.at(i), "=" | "{" | "typedef")) {
            return None;
        }
        // The last list at depth 0 belongs to the function, unless attributes follow.
        let mut at = item.tokens.start;
        let mut found = None;
        while at < item.tokens.end {
            if text.at(at) == "(" {
                let close = text.after_group(at, item.tokens.end);
                let is_typed = |from: usize, to: usize| {
                    (from..to).any(|i| is_type_word(text.at(i)) || matches!(text.at(i), "const" | "*"))
                };
                // `f(int x) FORMAT(1, 2)`, `f(int x) PURE FORMAT(1, 2)`
                let is_mark = found.is_some_and(|f| {
                    let behind = text.after_group(f + 1, at);
                    behind < at && !is_typed(behind, at) && is_typed(f + 1, behind) && !is_typed(at, close)
                });
                found = at.checked_sub(1).filter(|&b| text.name(b).is_some() && !is_mark).or(found);
                at = close;
            } else if matches!(text.at(at), "__attribute__" | "__asm__" | "asm") {
                at = text.after_group(at + 1, item.tokens.end);
            } else {
                at += 1;
            }
        }
        found
    }

    /// Returns whether an undeclared name stands where only a type can: `(T)x`, `(T *)`, `T *x;`.
    fn reads_as_type(&self, name: &str) -> bool {
        let text = &self.text;
        if text.places(name).iter().any(|i| *i > 0 && self.has_value(*i)) {
            return false;
        }
        text.places(name).iter().copied().filter(|&i| i > 0).any(|i| {
            let (before, next, after) = (text.at(i - 1), text.at(i + 1), text.at(i + 2));
            let stars = next == "*" && matches!(after, ")" | "*");
            let operand = text.name(i + 2).is_some() || matches!(after, "(" | "&" | "~" | "!");
            let cast =
                before == "(" && (stars || next == ")" && operand && text.name(i.wrapping_sub(2)).is_none());
            let size = before == "(" && next == ")" && operands::takes_type(text.at(i.wrapping_sub(2)));
            let declares = matches!(before, "{" | ";" | "}")
                && (text.name(i + 1).is_some() || next == "*" && text.name(i + 2).is_some())
                && (i + 2..i + 4).any(|j| matches!(text.at(j), ";" | "=" | "," | "["));
            cast || size || declares
        })
    }

    /// Whether a name stands where no type can: `x >= NAME`, `NAME + 1`, `(NAME)[0]`.
    fn has_value(&self, at: usize) -> bool {
        let (before, next) = (self.text.at(at - 1), self.text.at(at + 1));
        let compares = |word| matches!(word, "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" | "/" | "%");
        let is_operand = compares(before) || matches!(before, "=" | "return" | "+" | "-" | "?");
        let has_operand = compares(next) || matches!(next, "[" | "+" | "-" | "->" | "." | "?");
        is_operand || has_operand || next == ")" && matches!(self.text.at(at + 2), "[" | "->" | ".")
    }

    /// Returns what an undeclared name stands for: all its uses must say the same.
    fn reads_as(&self, name: &str) -> Option<Kind> {
        let text = &self.text;
        let places = text.places(name).iter().copied().filter(|i| *i > 0);
        // Where an address is taken, other uses say of what.
        let (others, addresses): (Vec<usize>, Vec<usize>) = places.partition(|i| !self.is_address(*i));
        // Of nothing but an address is known that something lies there.
        if others.is_empty() && !addresses.is_empty() {
            return Some(Kind::Record);
        }
        let kinds: BTreeSet<Kind> = others.into_iter().map(|i| self.kind_at(i)).collect::<Option<_>>()?;
        match kinds.into_iter().collect::<Vec<_>>().as_slice() {
            [one] => Some(*one),
            // What is handed on by its name may be a pointer.
            [Kind::Number, one @ (Kind::Numbers | Kind::Pointer)] => Some(*one),
            _ => None,
        }
    }

    fn is_indexed(&self, name: &str) -> bool {
        self.text.places(name).iter().any(|i| self.text.at(i + 1) == "[")
    }

    /// Returns what an undeclared name is used as at one place: `None` where it is called, or is part of a string.
    fn kind_at(&self, at: usize) -> Option<Kind> {
        let text = &self.text;
        let is_string = |word: &str| word.ends_with('"');
        let (before, next) = (text.at(at - 1), text.at(at + 1));
        let is_odd = |before| matches!(before, "." | "->" | "goto" | "struct" | "union" | "enum");
        if is_odd(before) || text.name(at + 1).is_some() || is_string(next) || is_string(before) {
            return None;
        }
        match next {
            "." => Some(Kind::Record),
            "->" => Some(Kind::Pointer),
            "[" => match text.at(text.after_group(at + 1, text.tokens.len())) {
                "." => Some(Kind::Pointer),
                "->" => None,
                _ => Some(Kind::Numbers),
            },
            "(" | "" => None,
            _ => (!self.is_address(at)).then_some(Kind::Number),
        }
    }

    /// Whether the address of what stands there is taken, by itself.
    fn is_address(&self, at: usize) -> bool {
        let text = &self.text;
        let (before, next) = (at.wrapping_sub(2), text.at(at + 1));
        let is_operator = text.name(before).is_none() && !matches!(text.at(before), ")" | "]");
        text.at(at.wrapping_sub(1)) == "&" && is_operator && !matches!(next, "." | "->" | "[" | "(")
    }

    fn invent_type(&self, name: &str, out: &mut Guesses) {
        // A number by its name.
        if numbers::of_name(name) != "int" {
            out.types.insert(name.to_owned(), Kind::Number);
            return;
        }
        let kind = match records::kind(&self.text, self.items, name) {
            Kind::Number if self.only_pointed_to(name) => {
                out.types.insert(name.to_owned(), Kind::Record);
                return;
            }
            kind => kind,
        };
        if kind != Kind::Number {
            out.records.invent(&self.text, self.items, &format!("{INVENTED}{name}"), name);
        }
        out.types.insert(name.to_owned(), kind);
    }

    /// Guesses at the structures that errors complain of.
    fn records(&self, out: &mut Guesses) {
        let text = &self.text;
        for one in self.diagnostics.iter().filter(|d| d.severity.is_fatal()) {
            let message = one.message.as_str();
            let mut quoted = message.split('\'').skip(1).step_by(2);
            let (first, last) = (quoted.next(), quoted.last());
            let Some(first) = first else { continue };
            let last = last.unwrap_or(first);
            let untagged = |name: &str| name.rsplit(' ').next().unwrap_or_default().to_owned();
            if message.contains("has no member named") {
                if is_identifier(last) && !first.starts_with("union ") {
                    let tag = match first.contains('<') {
                        true => self.nameless(one.span.lo, last).map(str::to_owned),
                        false => Some(untagged(first)),
                    };
                    let Some(tag) = tag else { continue };
                    let own = format!("{INVENTED}{tag}");
                    let tag = if out.records.whole.contains_key(&own) { own } else { tag };
                    out.records.add_missing(text, &tag, last);
                }
            } else if message.contains("undefined type") || message.contains("incomplete type '") {
                self.undefined(tag_of(last), out);
            } else if message.contains("isn't known") || message.contains("has incomplete type") {
                // A variable or a member of a structure that is not known.
                let places = text.places(first).iter().filter(|i| **i > 1);
                let tags: BTreeSet<&str> = places.filter_map(|i| self.tag_before(*i)).collect();
                tags.into_iter().for_each(|tag| self.undefined(Some(tag), out));
            }
        }
    }

    /// The typedef of the structure without a tag whose member is asked for from a place of the source on, by what
    /// stands before the member.
    fn nameless(&self, place: u32, member: &str) -> Option<&str> {
        let text = &self.text;
        let from = text.tokens.iter().position(|t| t.report_span().lo == place)?;
        let until = text.tokens.len().min(from + 64);
        let is_it = |i: &usize| text.at(*i) == member && matches!(text.at(i - 1), "." | "->");
        let at = (from + 2..until).find(is_it)?;
        let base = text.name(at - 2)?;
        let of = |item: &&Item| item.kind == ItemKind::Typedef;
        let mut names = self.items.iter().filter(of).flat_map(|item| &item.declares).map(String::as_str);
        names.find(|name| records::declares(text, self.items, name, base, at))
    }

    /// The tag of the structure as which a name is declared at a place, where `struct tag` stands before it or a
    /// typedef of that.
    fn tag_before(&self, at: usize) -> Option<&str> {
        let text = &self.text;
        if text.at(at.checked_sub(2)?) == "struct" {
            return text.name(at - 1);
        }
        let is_named = |i: &&usize| **i > 2 && text.at(**i - 2) == "struct" && text.at(**i - 3) == "typedef";
        let named = text.places(text.name(at - 1)?).iter().find(is_named)?;
        text.name(named - 1)
    }

    /// Guesses at a structure that is used before, or without, its definition.
    fn undefined(&self, tag: Option<&str>, out: &mut Guesses) {
        let Some(tag) = tag.filter(|t| is_identifier(t)) else { return };
        let text = &self.text;
        let mut places = text.places(tag).iter().copied().filter(|i| *i > 0);
        let is_defined = places.any(|i| text.at(i - 1) == "struct" && text.at(i + 1) == "{");
        match headers::declaring_tag(tag) {
            _ if is_defined => {}
            Some(header) => _ = out.headers.insert(header),
            None => {
                let name = tag.strip_prefix(INVENTED).unwrap_or(tag);
                out.records.invent(text, self.items, tag, name);
            }
        }
    }

    /// Guesses at what stands behind `case`.
    fn labels(&self, out: &mut Guesses) {
        let text = &self.text;
        let (undeclared, called) = (self.named(UNDECLARED), self.named(IMPLICIT_CALL));
        for &at in text.places("case") {
            let Some((colon, label)) = tokens::label_at(text.text, at) else { continue };
            let name = text.at(at + 1);
            let is_number = |name: &str| {
                let is_object = out.objects.get(name).is_some_and(|kind| kind.is_number());
                is_object || undeclared.contains(name) && self.reads_as(name) == Some(Kind::Number)
            };
            if label == name {
                if is_number(name) {
                    out.labels.insert(label);
                }
            } else if called.contains(name)
                || self.is_no_constant(at..colon) && {
                    (at + 1..colon).filter_map(|i| text.name(i)).any(is_number)
                }
            {
                out.labels.insert(label);
            }
        }
        for label in &out.labels {
            out.objects.insert(label.clone(), Kind::Number);
        }
    }

    /// Whether an error says that what stands behind `case` is no constant.
    fn is_no_constant(&self, label: Range<usize>) -> bool {
        let is_it = |d: &&Diagnostic| d.message.contains("case label does not reduce");
        let wrong: Vec<u32> = self.diagnostics.iter().filter(is_it).map(|d| d.span.lo).collect();
        let tokens = self.text.tokens.get(label).unwrap_or_default();
        tokens.iter().any(|t| wrong.contains(&t.report_span().lo))
    }

    /// Guesses at names beside strings: nothing but a macro can stand there.
    fn strings(&self, out: &mut Guesses) {
        let text = &self.text;
        let is_string = |i: usize| text.tokens.get(i).is_some_and(|t| t.kind == PpTokenKind::StringLit);
        for at in (1..text.tokens.len()).filter(|&i| is_string(i)) {
            if let Some(name) = text.name(at - 1).filter(|n| !out.macros.contains_key(*n)) {
                out.strings.insert(name.to_owned(), false);
            }
            if let Some(name) = text.name(at + 1).filter(|n| !out.macros.contains_key(*n)) {
                out.strings.insert(name.to_owned(), text.at(at + 2) == "(");
            }
        }
    }

    fn only_pointed_to(&self, name: &str) -> bool {
        let text = &self.text;
        text.places(name).iter().all(|&i| {
            let next = if text.at(i + 1) == "const" { text.at(i + 2) } else { text.at(i + 1) };
            next == "*"
        })
    }
}

/// The tag of a structure as errors write its type, which may be qualified.
fn tag_of(ty: &str) -> Option<&str> {
    let mut words = ty.split(' ').skip_while(|word| matches!(*word, "const" | "volatile"));
    words.next().filter(|word| *word == "struct")?;
    words.next()
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The items in which diagnostics lie.
pub struct Places {
    by_position: FxHashMap<u32, Option<usize>>,
}

impl Places {
    /// Cost: a pass over the tokens.
    pub fn new<'d>(
        text: Text<'_>,
        items: &[Item],
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    ) -> Places {
        let mut by_position: FxHashMap<u32, Option<usize>> =
            diagnostics.into_iter().map(|d| (d.span.lo, None)).collect();
        if by_position.is_empty() {
            return Places { by_position };
        }
        // What is missing is said to be missing behind the token before.
        for of in [|span: rucc_diag::Span| span.lo, |span: rucc_diag::Span| span.hi] {
            for (at, item) in items.iter().enumerate() {
                for token in text.tokens.get(item.tokens.clone()).unwrap_or_default() {
                    if let Some(place) = by_position.get_mut(&of(token.report_span())) {
                        place.get_or_insert(at);
                    }
                }
            }
        }
        Places { by_position }
    }

    /// Returns the index of the item in which one of the diagnostics lies.
    pub fn item(&self, diagnostic: &Diagnostic) -> Option<usize> {
        *self.by_position.get(&diagnostic.span.lo)?
    }
}
