//! Top-level items of a preprocessed unit, read off its tokens.
//!
//! The parser loses a function when a macro that nobody defined stands before it; this scan does
//! not, because it only pairs brackets. It says which functions a unit defines, where each begins
//! and ends, and which names an item declares and uses.

use rucc_base::{Interner, Symbol};
use rucc_lex::{PpTokenKind, TokenFlags};
use rucc_pp::Tok;
use rustc_hash::FxHashMap;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A function definition: its name, and where among the tokens the name and the opening brace
    /// stand.
    Function {
        name: String,
        at: usize,
        body: usize,
    },
    Typedef,
    /// `struct`, `union` or `enum` with a body and without a declarator.
    Record,
    /// Everything else: variables, prototypes, stray tokens.
    Other,
}

/// A stretch of tokens from one top-level boundary to the next.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: ItemKind,
    /// Indices into the unit's tokens.
    pub tokens: Range<usize>,
    /// Names that the item gives a meaning at file scope: tags, typedefs, enumerators, declarators.
    pub declares: Vec<String>,
}

/// Whether a word is none that a program may give a meaning to. Asked of every word: a comparison by length first.
pub fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "_Alignas"
            | "_Alignof"
            | "_Atomic"
            | "_Bool"
            | "_Complex"
            | "_Float128"
            | "_Generic"
            | "_Imaginary"
            | "_Noreturn"
            | "_Static_assert"
            | "_Thread_local"
            | "__alignof__"
            | "__asm"
            | "__asm__"
            | "__attribute"
            | "__attribute__"
            | "__builtin_va_list"
            | "__complex__"
            | "__const"
            | "__extension__"
            | "__inline"
            | "__inline__"
            | "__int128"
            | "__restrict"
            | "__restrict__"
            | "__signed__"
            | "__thread"
            | "__typeof__"
            | "__volatile__"
            | "asm"
            | "auto"
            | "break"
            | "case"
            | "char"
            | "const"
            | "continue"
            | "default"
            | "do"
            | "double"
            | "else"
            | "enum"
            | "extern"
            | "float"
            | "for"
            | "goto"
            | "if"
            | "inline"
            | "int"
            | "long"
            | "register"
            | "restrict"
            | "return"
            | "short"
            | "signed"
            | "sizeof"
            | "static"
            | "struct"
            | "switch"
            | "typedef"
            | "typeof"
            | "union"
            | "unsigned"
            | "void"
            | "volatile"
            | "while"
    )
}

/// Whether a keyword names a type by itself.
pub fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "_Bool"
            | "__builtin_va_list"
            | "__int128"
            | "__typeof__"
            | "char"
            | "double"
            | "enum"
            | "float"
            | "int"
            | "long"
            | "short"
            | "signed"
            | "struct"
            | "typeof"
            | "union"
            | "unsigned"
            | "void"
    )
}

/// The tokens of a unit as text.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub tokens: &'a [Tok],
    pub interner: &'a Interner,
}

impl<'a> Text<'a> {
    /// Returns the spelling of a token, empty beyond the end.
    pub fn at(&self, index: usize) -> &'a str {
        let Some(token) = self.tokens.get(index) else { return "" };
        match token.kind {
            PpTokenKind::Punct(p) => p.as_str(),
            _ => token.value.map_or("", |v: Symbol| self.interner.resolve(v)),
        }
    }

    /// As [`Text::at`], empty for what is no punctuator: nothing is looked up.
    fn punctuator(&self, index: usize) -> &'static str {
        match self.tokens.get(index).map(|token| token.kind) {
            Some(PpTokenKind::Punct(p)) => p.as_str(),
            _ => "",
        }
    }

    fn starts_line(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|t| t.flags.has(TokenFlags::START_OF_LINE))
    }

    /// Returns the token's text when it is an identifier and not a keyword.
    pub fn name(&self, index: usize) -> Option<&'a str> {
        let token = self.tokens.get(index)?;
        matches!(token.kind, PpTokenKind::Ident).then(|| self.at(index)).filter(|w| !is_keyword(w))
    }

    /// Returns the index after the bracket that closes the one at `open`, at most `end`.
    pub fn after_group(&self, open: usize, end: usize) -> usize {
        let mut depth = 0usize;
        for at in open..end {
            match self.punctuator(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        end
    }

    /// Returns the index of the bracket that the one at `close` closes, 0 if there is none.
    pub fn before_group(&self, close: usize) -> usize {
        let mut depth = 0usize;
        for at in (0..=close).rev() {
            match self.punctuator(at) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at;
                    }
                }
                _ => {}
            }
        }
        0
    }

    /// Returns every top-level item, in order.
    pub fn items(&self) -> Vec<Item> {
        let end = self.tokens.len();
        let (mut out, mut start, mut at) = (Vec::new(), 0, 0);
        while at < end {
            match self.at(at) {
                "(" | "[" => at = self.after_group(at, end),
                "{" => {
                    let close = self.after_group(at, end);
                    match self.function_name(start, at) {
                        Some((name, name_at)) => {
                            let kind = ItemKind::Function { name: name.to_owned(), at: name_at, body: at };
                            out.push(Item { kind, tokens: start..close, declares: vec![name.to_owned()] });
                            start = close;
                        }
                        // `extern "C" {`: what is inside is top level too.
                        None if start + 2 == at && self.at(start) == "extern" => start = at + 1,
                        None => {}
                    }
                    at = if start == at + 1 { start } else { close };
                }
                ";" => {
                    at += 1;
                    if !self.is_old_style_head(start, at) {
                        out.push(self.declaration(start..at));
                        start = at;
                    }
                }
                "}" => {
                    at += 1;
                    start = at;
                }
                // A pragma, which the preprocessor passes on, ends with its line.
                "#" => {
                    at = (at + 1..end).find(|&i| self.starts_line(i)).unwrap_or(end);
                    start = if start + 1 >= at || self.at(start) == "#" { at } else { start };
                }
                _ => at += 1,
            }
        }
        if start < end {
            out.push(Item { kind: ItemKind::Other, tokens: start..end, declares: Vec::new() });
        }
        out
    }

    /// Returns whether a stretch that ends with `;` is the head of an old-style definition with its
    /// first parameter declarations: a name with a list of bare names, then a declaration.
    fn is_old_style_head(&self, start: usize, end: usize) -> bool {
        let Some((_, name)) = self.called_names(start, end).first().copied() else { return false };
        // A macro in the body of a structure.
        if (start..name).any(|i| self.at(i) == "{") {
            return false;
        }
        let close = self.after_group(name + 1, end);
        let bare = (name + 2..close.saturating_sub(1)).all(|i| self.name(i).is_some() || self.at(i) == ",");
        let nonempty = close > name + 3;
        let declares = self.name(close).is_some() || is_type_word(self.at(close));
        // Parameters have no storage class but one.
        let declares = declares && !matches!(self.at(close), "typedef" | "extern" | "static");
        let declares = declares || matches!(self.at(close), "register" | "const");
        let no_assign = !(start..close).any(|i| matches!(self.at(i), "=" | "typedef"));
        bare && nonempty && declares && no_assign && self.declares_one_of(name + 2..close - 1, close..end)
    }

    /// Whether a stretch declares one of the names in another one: `int a, *b[3];`.
    pub fn declares_one_of(&self, names: Range<usize>, within: Range<usize>) -> bool {
        let ends = |i: usize| matches!(self.at(i + 1), ";" | "," | "[" | ")");
        within
            .filter(|&i| ends(i))
            .filter_map(|i| self.name(i))
            .any(|n| names.clone().any(|k| self.at(k) == n))
    }

    /// Returns the names followed by an opening parenthesis, with their indices.
    fn called_names(&self, start: usize, end: usize) -> Vec<(&'a str, usize)> {
        (start..end).filter(|&i| self.at(i + 1) == "(").filter_map(|i| Some((self.name(i)?, i))).collect()
    }

    /// Returns the name of the function whose body would open at `brace`.
    fn function_name(&self, start: usize, brace: usize) -> Option<(&'a str, usize)> {
        // An initialiser.
        if brace > start && self.at(brace - 1) == "=" {
            return None;
        }
        let mut depth = 0usize;
        let mut found = None;
        let mut at = start;
        while at < brace {
            match self.at(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "=" if depth == 0 => return None,
                // The body of a structure.
                "{" if depth == 0 => {
                    at = self.after_group(at, brace);
                    continue;
                }
                "__attribute__" | "__attribute" | "__asm__" | "asm" | "__asm" | "__typeof__" | "typeof"
                | "_Alignas" => {
                    at = self.after_group(at + 1, brace);
                    continue;
                }
                _ => {
                    if let Some(name) = self.name(at).filter(|_| self.at(at + 1) == "(") {
                        let close = self.after_group(at + 1, brace);
                        // `MACRO(x) int f(void) {`: a list followed by more declarator is not
                        // the parameters; `f(a) int a; {` has a semicolon instead.
                        let old_style = (close..brace).any(|i| self.at(i) == ";");
                        let more = (close..brace).any(|i| self.at(i) == "(" && self.name(i - 1).is_some());
                        if old_style || !more || depth > 0 {
                            return Some((name, at));
                        }
                        found = found.or(Some((name, at)));
                        at = close;
                        continue;
                    }
                }
            }
            at += 1;
        }
        found
    }

    /// Reads an item that ends with `;`.
    fn declaration(&self, tokens: Range<usize>) -> Item {
        let Range { start, end } = tokens.clone();
        let mut declares = Vec::new();
        let mut body = None;
        let mut at = start;
        while at < end {
            if matches!(self.at(at), "struct" | "union" | "enum") {
                let mut next = at + 1;
                while matches!(self.at(next), "__attribute__" | "_Alignas") {
                    next = self.after_group(next + 1, end);
                }
                let name = self.name(next);
                let open = if name.is_some() { next + 1 } else { next };
                if self.at(open) == "{" {
                    let close = self.after_group(open, end);
                    if self.at(at) == "enum" {
                        declares.extend(self.enumerators(open + 1, close - 1));
                    }
                    body = Some(close);
                    declares.extend(name.map(str::to_owned));
                    at = close;
                    continue;
                }
            }
            at += 1;
        }
        let declarators = self.declarators(body.unwrap_or(start), end);
        let kind = match self.at(start) {
            "typedef" => ItemKind::Typedef,
            _ if body.is_some() && declarators.is_empty() => ItemKind::Record,
            _ => ItemKind::Other,
        };
        declares.extend(declarators);
        Item { kind, tokens, declares }
    }

    fn enumerators(&self, start: usize, end: usize) -> Vec<String> {
        let first = |i: usize| i == start || self.at(i - 1) == ",";
        (start..end).filter(|&i| first(i)).filter_map(|i| self.name(i)).map(str::to_owned).collect()
    }

    /// Returns the names that stand where a declarator's name does: the last one before `;`, `,`,
    /// `=`, `[`, `(` at depth 0, or the one behind `(*`.
    pub(super) fn declarators(&self, start: usize, end: usize) -> Vec<String> {
        let (mut out, mut at, mut waiting) = (Vec::new(), start, true);
        while at < end {
            match self.at(at) {
                "," => (waiting, at) = (true, at + 1),
                "(" if waiting && self.at(at + 1) == "*" => {
                    let inner = (at + 1..self.after_group(at, end)).find_map(|i| self.name(i));
                    out.extend(inner.map(str::to_owned));
                    (waiting, at) = (false, self.after_group(at, end));
                }
                // `typedef void (handler)(int);`
                "(" if waiting && self.is_bracketed_name(at) => {
                    out.extend(self.name(at + 1).map(str::to_owned));
                    (waiting, at) = (false, at + 3);
                }
                "(" | "[" | "{" => at = self.after_group(at, end),
                "=" => (waiting, at) = (false, at + 1),
                _ => {
                    let ends = matches!(
                        self.at(at + 1),
                        ";" | "," | "=" | "[" | "(" | ":" | "__attribute__" | "__asm__"
                    );
                    // `T (*f)(int)`
                    let is_pointed = self.at(at + 1) == "(" && self.at(at + 2) == "*";
                    let is_type = is_pointed || self.is_bracketed_name(at + 1);
                    if let Some(name) = self.name(at).filter(|_| waiting && ends && !is_type) {
                        out.push(name.to_owned());
                        waiting = false;
                    }
                    at += 1;
                }
            }
        }
        out
    }

    /// Whether a name in brackets stands there that parameters follow.
    fn is_bracketed_name(&self, at: usize) -> bool {
        self.at(at) == "(" && self.name(at + 1).is_some() && self.at(at + 2) == ")" && self.at(at + 3) == "("
    }
}

/// The tokens of a unit with the places of every word at hand.
pub struct Words<'a> {
    pub text: Text<'a>,
    places: FxHashMap<Symbol, Vec<usize>>,
}

impl<'a> Words<'a> {
    /// Cost: a pass over the tokens.
    pub fn new(text: Text<'a>) -> Words<'a> {
        let mut places: FxHashMap<Symbol, Vec<usize>> = FxHashMap::default();
        for (at, token) in text.tokens.iter().enumerate() {
            if let Some(word) = token.value.filter(|_| matches!(token.kind, PpTokenKind::Ident)) {
                places.entry(word).or_default().push(at);
            }
        }
        Words { text, places }
    }

    /// Returns where a word stands, in order.
    pub fn places(&self, word: &str) -> &[usize] {
        let word = self.text.interner.find(word);
        word.and_then(|word| self.places.get(&word)).map_or(&[], Vec::as_slice)
    }

    /// Returns where a word stands within a stretch of tokens.
    pub fn places_in(&self, word: &str, within: &Range<usize>) -> &[usize] {
        let all = self.places(word);
        let from = all.partition_point(|p| *p < within.start);
        let to = all.partition_point(|p| *p < within.end);
        all.get(from..to).unwrap_or_default()
    }
}

impl<'a> std::ops::Deref for Words<'a> {
    type Target = Text<'a>;

    fn deref(&self) -> &Text<'a> {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, functions: &[&str], declared: &[&str]) {
        let mut interner = Interner::new();
        let (tokens, _) = rucc_lex::tokenize(source.as_bytes(), 0, rucc_lex::Options::new(), &mut interner);
        let tokens: Vec<Tok> = tokens.into_iter().filter(|t| !t.is_eof()).map(Tok::new).collect();
        let items = Text { tokens: &tokens, interner: &interner }.items();
        let (mut found, mut names) = (Vec::new(), Vec::new());
        for item in &items {
            match &item.kind {
                ItemKind::Function { name, .. } => found.push(name.as_str()),
                _ => names.extend(item.declares.iter().map(String::as_str)),
            }
        }
        assert_eq!((found, names), (functions.to_vec(), declared.to_vec()));
    }

    #[test]
    fn functions_are_found_whatever_stands_before_them() {
        check("int f(void) { return 0; }", &["f"], &[]);
        check("API int f(void) { } EXPORT(int) g(a, b) { }", &["f", "g"], &[]);
        check("int (*f(int x))(int) { }", &["f"], &[]);
        check("int f(a, b) int a; char *b; { }\nint x;", &["f"], &["x"]);
        check("__attribute__((noinline)) static int *f(void) __attribute__((cold)) { }", &["f"], &[]);
        check(
            "struct s { int (*m)(void); } v = { 0 }; int t[] = { 1 }; void f() { }",
            &["f"],
            &["s", "v", "t"],
        );
        check("struct s { ENTRY(s) next; }; int x; void f() { }", &["f"], &["s", "x"]);
    }

    #[test]
    fn declarations_name_what_they_declare() {
        check(
            "typedef struct { int a; } t; typedef int (*fn)(int); enum e { A, B = 2 };",
            &[],
            &["t", "fn", "A", "B", "e"],
        );
        check(
            "extern int f(int x), *p; static const char *const s[] = {\"a\"}, q;",
            &[],
            &["f", "p", "s", "q"],
        );
    }
}
