//! Guesses at names that nobody declared, and the prelude that makes the parser accept them.
//!
//! A revision is read without the headers that a build would generate or that other projects
//! install, so types and macros are missing. One unknown macro before a definition makes the parser
//! lose it; an unknown type silently becomes `int`. After a pass over the unit this module looks at
//! what went wrong, guesses (a type of the library, a type that we invent, a macro that stood for
//! nothing), and the unit is parsed again under a prelude that says so. Every guess stays on record:
//! see `honesty`.

use super::headers;
use super::scan::{Item, ItemKind, Text, is_type_word};
use rucc_diag::Diagnostic;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Passes over a unit, the first included.
pub const ROUNDS: usize = 5;

/// Codes of `rucc`'s diagnostics that guesses start from.
const UNKNOWN_TYPE: &str = "E0546";
const UNDECLARED: &str = "E0500";
const IMPLICIT_CALL: &str = "E0521";

/// Names that the unit uses and nobody declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guesses {
    /// Types that we invent; whether it is only ever pointed to.
    pub types: BTreeMap<String, bool>,
    /// Macros taken to stand for nothing; whether they take arguments.
    pub macros: BTreeMap<String, bool>,
    /// Macros or objects that are used as numbers: taken for objects of another file.
    pub objects: BTreeSet<String>,
    /// Library headers that declare a type the unit uses without including them.
    pub headers: BTreeSet<&'static str>,
    /// Library functions called without a declaration, with their prototypes.
    pub prototypes: BTreeMap<String, String>,
}

impl Guesses {
    /// Returns the text to put before the unit's first line.
    pub fn prelude(&self) -> String {
        let mut out = String::new();
        for header in &self.headers {
            out += &format!("#include <{header}>\n");
        }
        for text in self.prototypes.values() {
            out += &format!("{text}\n");
        }
        for (name, pointed) in &self.types {
            let ty = if *pointed { format!("struct {INVENTED}{name}") } else { "int".to_owned() };
            out += &format!("typedef {ty} {name};\n");
        }
        for name in &self.objects {
            out += &format!("{OBJECT}{name};\n");
        }
        for (name, arguments) in &self.macros {
            out += &format!("#define {name}{}\n", if *arguments { "(...)" } else { "" });
        }
        out
    }
}

/// Prefix of the tags of types that we invent.
pub const INVENTED: &str = "__invdiff_unknown_";

/// How an object is declared that we invent.
pub const OBJECT: &str = "extern int ";

/// What a pass over the unit left to be explained.
pub struct Evidence<'a> {
    pub text: Text<'a>,
    pub items: &'a [Item],
    pub diagnostics: &'a [Diagnostic],
    /// Functions that the scan found and the typed tree lacks.
    pub lost: &'a BTreeSet<String>,
}

impl Evidence<'_> {
    /// Returns the guesses before this pass with what this pass adds.
    pub fn refine(&self, before: &Guesses) -> Guesses {
        let mut out = before.clone();
        let unknown = self.named(UNKNOWN_TYPE);
        let typedefs = self.typedefs();
        let wrong = self.items_with_errors();
        for (at, item) in self.items.iter().enumerate() {
            let lost = matches!(&item.kind, ItemKind::Function { name, .. } if self.lost.contains(name));
            if lost || (wrong.contains(&at) && !matches!(item.kind, ItemKind::Function { .. })) {
                self.head(item, &unknown, &typedefs, &mut out);
            }
        }
        let types = unknown
            .iter()
            .copied()
            .chain(self.named(UNDECLARED).into_iter().filter(|n| self.reads_as_type(n)));
        for name in types {
            if out.macros.contains_key(name) || out.types.contains_key(name) {
                continue;
            }
            match headers::declaring_type(name) {
                Some(header) => _ = out.headers.insert(header),
                None => _ = out.types.insert(name.to_owned(), self.only_pointed_to(name)),
            }
        }
        for name in self.named(UNDECLARED) {
            let known = out.types.contains_key(name) || out.macros.contains_key(name);
            if !known && self.reads_as_number(name) {
                out.objects.insert(name.to_owned());
            }
        }
        let defined: BTreeSet<&str> =
            self.items.iter().flat_map(|i| &i.declares).map(String::as_str).collect();
        for name in self.named(IMPLICIT_CALL) {
            if !defined.contains(name)
                && let Some(text) = headers::prototype(name)
            {
                out.prototypes.insert(name.to_owned(), text);
            }
        }
        out
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

    fn typedefs(&self) -> BTreeSet<&str> {
        let items = self.items.iter().filter(|i| i.kind == ItemKind::Typedef);
        items.flat_map(|i| &i.declares).map(String::as_str).collect()
    }

    fn items_with_errors(&self) -> BTreeSet<usize> {
        let places = Places::new(self.text, self.items);
        self.diagnostics.iter().filter(|d| d.severity.is_fatal()).filter_map(|d| places.item(d)).collect()
    }

    /// Guesses at the names in a declaration's head that are neither its own nor a type.
    fn head(&self, item: &Item, unknown: &BTreeSet<&str>, typedefs: &BTreeSet<&str>, out: &mut Guesses) {
        let text = self.text;
        let (own, end) = match item.kind {
            ItemKind::Function { at, body, .. } => (at, body),
            _ => match self.prototype_name(item) {
                Some(at) => (at, item.tokens.end.saturating_sub(1)),
                None => return,
            },
        };
        let mut typed = false;
        let mut plain: Vec<&str> = Vec::new();
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
            plain.extend(text.name(at).filter(|n| !typedefs.contains(n)));
            at += 1;
        }
        // One of them is the type when nothing else is: the one that the parser took for it, or
        // else the one that stands next to the name.
        let ty =
            (!typed).then(|| plain.iter().position(|n| unknown.contains(n)).or(plain.len().checked_sub(1)));
        for (at, name) in plain.iter().enumerate() {
            if ty.flatten() == Some(at) {
                if headers::declaring_type(name).is_none() {
                    out.types.entry((*name).to_owned()).or_insert(self.only_pointed_to(name));
                }
            } else {
                out.macros.insert((*name).to_owned(), false);
            }
        }
        self.tail(own, end, out);
    }

    /// Guesses at names behind the parameters, and behind one parameter's name.
    fn tail(&self, own: usize, end: usize, out: &mut Guesses) {
        let text = self.text;
        let close = text.after_group(own + 1, end);
        for at in own + 2..close.saturating_sub(1) {
            let after_name = text.name(at - 1).is_some() && matches!(text.at(at - 2), "*" | "," | "(")
                || text.name(at - 1).is_some() && is_type_word(text.at(at - 2));
            let last = matches!(text.at(at + 1), "," | ")");
            let name = text.name(at).filter(|_| after_name && last && is_type_word(text.at(at - 2)));
            if let Some(name) = name {
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
        let text = self.text;
        if item.tokens.clone().any(|i| matches!(text.at(i), "=" | "{" | "typedef")) {
            return None;
        }
        // The last list at depth 0 belongs to the function, unless attributes follow.
        let mut at = item.tokens.start;
        let mut found = None;
        while at < item.tokens.end {
            if text.at(at) == "(" {
                found = at.checked_sub(1).filter(|&b| text.name(b).is_some()).or(found);
                at = text.after_group(at, item.tokens.end);
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
        let text = self.text;
        (1..self.text.tokens.len()).filter(|&i| text.at(i) == name).any(|i| {
            let (before, next, after) = (text.at(i - 1), text.at(i + 1), text.at(i + 2));
            let stars = next == "*" && matches!(after, ")" | "*");
            let operand = text.name(i + 2).is_some() || matches!(after, "(" | "&" | "~" | "!");
            let cast =
                before == "(" && (stars || next == ")" && operand && text.name(i.wrapping_sub(2)).is_none());
            let size = before == "(" && next == ")" && text.at(i.wrapping_sub(2)) == "sizeof";
            let declares = matches!(before, "{" | ";" | "}")
                && (text.name(i + 1).is_some() || next == "*" && text.name(i + 2).is_some())
                && (i + 2..i + 4).any(|j| matches!(text.at(j), ";" | "=" | "," | "["));
            cast || size || declares
        })
    }

    /// Returns whether an undeclared name stands only where a number may: it is not called, has no members or
    /// elements, and is no part of a string.
    fn reads_as_number(&self, name: &str) -> bool {
        let text = self.text;
        let is_string = |word: &str| word.ends_with('"');
        let mut uses = (1..text.tokens.len()).filter(|&i| text.at(i) == name).peekable();
        uses.peek().is_some()
            && uses.all(|i| {
                let (before, next) = (text.at(i - 1), text.at(i + 1));
                let is_address = before == "&"
                    && text.name(i.wrapping_sub(2)).is_none()
                    && !matches!(text.at(i.wrapping_sub(2)), ")" | "]");
                !matches!(next, "(" | "." | "->" | "[" | "=" | "++" | "--" | "")
                    && text.name(i + 1).is_none()
                    && !is_string(next)
                    && !is_string(before)
                    && !is_address
                    && !matches!(before, "." | "->" | "goto" | "case" | "struct" | "union" | "enum")
            })
    }

    fn only_pointed_to(&self, name: &str) -> bool {
        let text = self.text;
        (0..text.tokens.len()).filter(|&i| text.at(i) == name).all(|i| {
            let next = if text.at(i + 1) == "const" { text.at(i + 2) } else { text.at(i + 1) };
            next == "*"
        })
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Finds the item that a position of the source belongs to.
pub struct Places {
    by_position: HashMap<u32, usize>,
}

impl Places {
    pub fn new(text: Text<'_>, items: &[Item]) -> Places {
        let mut by_position = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            for token in text.tokens.get(item.tokens.clone()).unwrap_or_default() {
                by_position.entry(token.report_span().lo).or_insert(at);
            }
        }
        Places { by_position }
    }

    /// Returns the index of the item in which a diagnostic lies.
    pub fn item(&self, diagnostic: &Diagnostic) -> Option<usize> {
        self.by_position.get(&diagnostic.span.lo).copied()
    }
}
