//! The part of a file's text that a function depends on, read off its bytes without preprocessing.
//!
//! An *item* is a stretch of text at file scope: a function definition, a declaration, or a macro's
//! definition. The *slice* of a function is its own items and, transitively, the items of the same file
//! that define what they name. Two versions of a file with equal slices of a function mean the same by
//! it, as far as that file says: layout and comments take no part, other files are not looked at.
//!
//! Method: brackets are paired over the tokens of [`super::survey::piece`]; at `#else` the nesting is
//! what it was at its `#if`, since the branches of a conditional may each open the same block. Parameters
//! of old-style definitions are declarations between the parenthesis and the body. Too large a slice
//! costs a look at a change that is none; a definition that is not recognised is reported as missing.
//! Cost: one pass over the bytes.

use super::scan::{is_keyword, is_type_word};
use super::survey::{Piece, logical_line, piece};
use std::collections::{BTreeMap, BTreeSet};

/// The items of one file.
#[derive(Debug, Default)]
pub struct Items {
    items: Vec<Item>,
    /// By name: items that give it a meaning.
    by_name: BTreeMap<String, Vec<usize>>,
}

#[derive(Debug, Default)]
struct Item {
    tokens: Vec<String>,
    /// Names that it gives a meaning at file scope.
    declares: BTreeSet<String>,
    /// Names before the parentheses of a function definition; empty for everything else. One of them
    /// is the function's, others are macros around it.
    functions: Vec<String>,
}

/// Words by which text at file scope says what names and calls in other items lead to.
const LINKING: [&str; 9] =
    ["alias", "weakref", "ifunc", "asm", "__asm", "__asm__", "#pragma", "__alias__", "__weakref__"];
/// Words by which functions run around `main`.
const HOOKING: [&str; 5] = ["constructor", "destructor", "__constructor__", "__destructor__", "section"];

impl Item {
    fn has_one_of(&self, words: &[&str]) -> bool {
        // In a function's body they are its own.
        let head = self.tokens.iter().take_while(|t| *t != "{");
        head.into_iter().any(|t| words.contains(&t.as_str()))
    }
}

/// Declarations of parameters before the body of an old-style definition.
const MOST_PARAMETERS: usize = 40;

impl Items {
    /// Reads a file.
    pub fn of(text: &[u8]) -> Items {
        let mut reader = Reader::default();
        reader.read(text);
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, item) in reader.items.iter().enumerate() {
            for name in item.declares.iter().chain(&item.functions) {
                by_name.entry(name.clone()).or_default().push(i);
            }
        }
        Items { items: reader.items, by_name }
    }

    /// Names of the functions that the file defines, in order; of a definition that several names could
    /// be meant by, all of them.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(|i| &i.functions).map(String::as_str)
    }

    /// Names of functions and macros whose definitions have one of some words in them.
    pub fn users(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
        let stands = |i: &&Item| !i.functions.is_empty() || i.tokens.first().is_some_and(|t| t == "#define");
        let uses = |i: &&Item| i.tokens.iter().any(|t| is_wanted(t));
        let users = self.items.iter().filter(stands).filter(uses);
        users.flat_map(|i| i.functions.iter().chain(&i.declares)).cloned().collect()
    }

    /// Whether some token that is not in a function's body is one of some kind.
    pub fn has_outside_of_bodies(&self, is_wanted: &dyn Fn(&str) -> bool) -> bool {
        let head = |i: &Item| {
            let is_function = !i.functions.is_empty();
            i.tokens.iter().take_while(|t| !is_function || *t != "{").any(|t| is_wanted(t))
        };
        self.items.iter().any(head)
    }

    /// Whether the file defines a function, or an object, of a name that other files may use.
    pub fn is_defined_for_all(&self, name: &str, is_function: bool) -> bool {
        let own = |i: &Item| i.tokens.iter().any(|t| t == "static");
        let function = |i: &Item| i.functions.iter().any(|f| f == name);
        let object = |i: &Item| {
            let other = |t: &String| ["extern", "typedef", "#define"].contains(&t.as_str());
            i.functions.is_empty() && i.declares.contains(name) && !i.tokens.first().is_some_and(other)
        };
        let is_one = |i: &&usize| {
            let item = &self.items[**i];
            // `static` inside of a function's body is another matter.
            let head = item.tokens.iter().take_while(|t| *t != "(" && *t != "{").any(|t| t == "static");
            if is_function { function(item) && !head } else { object(item) && !own(item) }
        };
        self.by_name.get(name).is_some_and(|named| named.iter().any(|i| is_one(&i)))
    }

    fn definitions(&self, function: &str) -> impl Iterator<Item = usize> + use<'_> {
        let named = self.by_name.get(function).cloned().unwrap_or_default();
        let function = function.to_owned();
        named.into_iter().filter(move |i| self.items[*i].functions.contains(&function))
    }

    /// Hash of a function's slice; `None` if the file does not define it.
    pub fn slice(&self, function: &str) -> Option<String> {
        let mut work: Vec<usize> = self.definitions(function).collect();
        if work.is_empty() {
            return None;
        }
        let words = if function == "main" { &[&LINKING[..], &HOOKING[..]] } else { &[&LINKING[..], &[]] };
        let beside = (0..self.items.len()).filter(|i| words.iter().any(|w| self.items[*i].has_one_of(w)));
        work.extend(beside);
        let mut seen: BTreeSet<usize> = work.iter().copied().collect();
        while let Some(i) = work.pop() {
            let named = self.items[i].tokens.iter().filter_map(|t| self.by_name.get(t));
            for other in named.flatten() {
                if seen.insert(*other) {
                    work.push(*other);
                }
            }
        }
        // The order of items is not looked at.
        let mut texts: Vec<String> = seen.into_iter().map(|i| self.items[i].tokens.join("\n")).collect();
        texts.sort();
        Some(blake3::hash(texts.join("\n\n").as_bytes()).to_hex().to_string())
    }

    /// Whether a function that the file defines has such a token.
    pub fn has_token(&self, function: &str, is_wanted: &dyn Fn(&str) -> bool) -> bool {
        self.definitions(function).any(|i| self.items[i].tokens.iter().any(|token| is_wanted(token)))
    }

    /// Hash of a function's own text with its name left out; `None` if the file does not define it.
    pub fn text_without_name(&self, function: &str) -> Option<String> {
        let mut hasher = blake3::Hasher::new();
        let mut found = false;
        for i in self.definitions(function) {
            found = true;
            for token in &self.items[i].tokens {
                hasher.update(if token == function { b"()" } else { token.as_bytes() });
                hasher.update(b"\n");
            }
        }
        found.then(|| hasher.finalize().to_hex().to_string())
    }
}

/// What stands at a nesting of braces and parentheses.
#[derive(Clone, Copy, Default)]
struct Nesting {
    braces: usize,
    parentheses: usize,
}

#[derive(Default)]
struct Reader {
    items: Vec<Item>,
    current: Current,
    nesting: Nesting,
    /// Nesting at the `#if` of each open conditional.
    conditionals: Vec<Nesting>,
}

/// The item that is being read.
#[derive(Default)]
struct Current {
    item: Item,
    /// Names before a parenthesis at file scope.
    groups: Vec<String>,
    /// The last token was a name.
    name: Option<String>,
    /// Parentheses are open that may hold a declarator, as in `int (*f)(void)`.
    is_declarator: bool,
    assigned: bool,
    is_enum: bool,
    /// The braces that are open are those of a function.
    in_body: bool,
}

impl Reader {
    fn read(&mut self, text: &[u8]) {
        let mut at = 0;
        let mut line_begins = true;
        while let Some(&byte) = text.get(at) {
            let rest = text.get(at..).unwrap_or_default();
            if line_begins && byte == b'#' {
                let line = logical_line(rest);
                self.directive(&line.text);
                at += line.length.max(1);
                continue;
            }
            let (found, length) = piece(rest);
            let length = length.max(1);
            match found {
                None => line_begins |= byte == b'\n',
                Some(found) => {
                    line_begins = false;
                    let token = String::from_utf8_lossy(rest.get(..length).unwrap_or_default());
                    self.token(&found, &token);
                }
            }
            at += length;
        }
        self.end();
    }

    fn directive(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let rest = text.trim_start_matches('#').trim_start();
        let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        match word.as_str() {
            "if" | "ifdef" | "ifndef" => self.conditionals.push(self.nesting),
            "else" | "elif" => self.nesting = self.conditionals.last().copied().unwrap_or(self.nesting),
            "endif" => {
                self.conditionals.pop();
            }
            "define" => {
                let name = rest.get(word.len()..).unwrap_or_default().trim_start();
                let end = name.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(name.len());
                let (name, body) = name.split_at(end);
                let mut item = Item::default();
                item.declares.insert(name.to_owned());
                item.tokens = vec!["#define".to_owned(), name.to_owned()];
                item.tokens.extend(words(body));
                self.items.push(item);
                return;
            }
            _ => {}
        }
        if word == "pragma" && self.nesting.braces == 0 {
            let tokens: Vec<String> = words(rest);
            if tokens.iter().any(|t| t == "redefine_extname" || t == "weak") {
                let marked = std::iter::once("#pragma".to_owned()).chain(tokens).collect();
                self.items.push(Item { tokens: marked, ..Item::default() });
                return;
            }
        }
        if !self.current.item.tokens.is_empty() {
            self.current.item.tokens.push("#".to_owned());
            self.current.item.tokens.extend(words(rest));
        }
    }

    fn token(&mut self, found: &Piece, token: &str) {
        let outside = self.nesting.braces == 0 && self.nesting.parentheses == 0;
        match (found, token) {
            (Piece::Open, _) => {
                let in_declarator = self.nesting.parentheses == 1 && self.current.is_declarator;
                match self.current.name.take() {
                    // A function that returns a pointer to one.
                    Some(name) if outside || in_declarator => {
                        self.current.groups.push(name);
                        self.current.is_declarator = false;
                    }
                    Some(_) => {}
                    None => self.current.is_declarator |= outside && !self.current.assigned,
                }
                self.nesting.parentheses += 1;
            }
            (Piece::Close, _) | (_, "[") if self.nesting.parentheses == 1 && self.current.is_declarator => {
                self.current.declare();
                self.current.is_declarator = false;
                self.nesting.parentheses -= usize::from(token == ")");
            }
            (Piece::Close, _) => self.nesting.parentheses = self.nesting.parentheses.saturating_sub(1),
            (_, "{") if self.opens_linkage() => {
                self.current = Current::default();
                return;
            }
            (_, "{") => self.open(),
            (_, "}") => return self.close(),
            (_, ";") if outside => {
                self.current.declare();
                self.current.item.tokens.push(token.to_owned());
                return self.end();
            }
            (_, "=" | "[" | ",") if outside => {
                self.current.declare();
                self.current.assigned = token != ",";
            }
            (_, "=" | ",") if self.current.is_enum => self.current.declare(),
            (Piece::Name(name), _) => {
                let plain = !is_keyword(name) && !is_type_word(name) && !name.starts_with("__attribute");
                self.current.is_enum |= name == "enum" && outside;
                self.current.name = plain.then(|| name.clone());
                self.current.item.tokens.push(token.to_owned());
                return;
            }
            _ => {}
        }
        self.current.name = None;
        self.current.item.tokens.push(token.to_owned());
    }

    /// `extern "C" {` opens nothing.
    fn opens_linkage(&self) -> bool {
        matches!(self.current.item.tokens.as_slice(), [word, name] if word == "extern" && name.starts_with('"'))
    }

    fn open(&mut self) {
        if self.nesting.braces == 0 && self.nesting.parentheses == 0 {
            if self.current.item.tokens.is_empty() {
                self.take_parameters();
            }
            self.current.in_body = !self.current.groups.is_empty() && !self.current.assigned;
            // The tag of a structure.
            if !self.current.in_body {
                self.current.declare();
            }
        }
        self.nesting.braces += 1;
    }

    /// Joins the declarations of an old-style definition's parameters to it.
    fn take_parameters(&mut self) {
        let is_plain = |i: &&Item| i.functions.is_empty() && i.tokens.last().is_some_and(|t| t == ";");
        let before: Vec<&Item> = self.items.iter().rev().take(MOST_PARAMETERS).take_while(is_plain).collect();
        let Some(back) = before.iter().position(|i| !heads(&i.tokens).is_empty()) else { return };
        let start = self.items.len() - 1 - back;
        for item in self.items.split_off(start) {
            if self.current.groups.is_empty() {
                self.current.groups = heads(&item.tokens);
            }
            self.current.item.tokens.extend(item.tokens);
        }
    }

    fn close(&mut self) {
        if self.nesting.braces == 0 {
            // The end of `extern "C"`, or nothing that is understood.
            return;
        }
        if self.current.is_enum {
            self.current.declare();
        }
        self.current.name = None;
        self.nesting.braces -= 1;
        self.current.item.tokens.push("}".to_owned());
        if self.nesting.braces == 0 && self.current.in_body {
            self.nesting.parentheses = 0;
            self.end();
        }
    }

    fn end(&mut self) {
        let mut current = std::mem::take(&mut self.current);
        if current.item.tokens.is_empty() {
            return;
        }
        if current.in_body {
            current.item.functions = std::mem::take(&mut current.groups);
            current.item.declares.clear();
        } else if !current.groups.is_empty() && !current.assigned {
            // A prototype says nothing that its definition does not.
            current.item.declares.clear();
        }
        self.items.push(current.item);
    }
}

impl Current {
    /// The name before this token is one that the item declares.
    fn declare(&mut self) {
        if let Some(name) = self.name.take()
            && (!self.assigned || self.is_enum)
        {
            self.item.declares.insert(name);
        }
    }
}

/// The names before parentheses behind which an old-style parameter's declaration begins.
fn heads(tokens: &[String]) -> Vec<String> {
    let Some(open) = tokens.iter().position(|t| t == "(") else { return Vec::new() };
    let Some(close) = tokens.iter().position(|t| t == ")").filter(|c| *c > open) else { return Vec::new() };
    let name = open.checked_sub(1).and_then(|i| tokens.get(i)).filter(|n| !is_keyword(n));
    // Between the parentheses are names only, and behind them something.
    let inner = tokens.get(open + 1..close).unwrap_or_default();
    let names_only = inner.iter().enumerate().all(|(i, t)| (i % 2 == 1) == (t == ","));
    let goes_on = tokens.get(close + 1).is_some_and(|t| t != ";" && t != "," && t != "=" && t != "(");
    name.filter(|_| names_only && goes_on).map(|n| vec![n.clone()]).unwrap_or_default()
}

/// The tokens of a line.
fn words(line: &str) -> Vec<String> {
    let mut rest = line.as_bytes();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (token, length) = piece(rest);
        let length = length.clamp(1, rest.len());
        let (text, after) = rest.split_at(length);
        if token.is_some() {
            found.push(String::from_utf8_lossy(text).into_owned());
        }
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::Items;

    fn names(text: &str) -> String {
        Items::of(text.as_bytes()).functions().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn definitions_are_found() {
        for (text, expected) in [
            ("int f(int a) { return a; }\nstatic void g(void)\n{\n}\n", "f g"),
            ("int f(int a);\nint x = g(1);\nstruct s { int f(int); };\n", ""),
            ("local int f(a, b)\n    int a;\n    char *b;\n{ return a; }\nint h(void) {}", "f h"),
            ("static struct s *f(void) { return 0; }", "f"),
            ("int t[] = { 1, 2 }; int f(void) { if (x) { } }", "f"),
            (
                "#define M(a) { a\nint f(void)\n{\n#ifdef A\nif (a) {\n#else\nif (b) {\n#endif\n}\n}\nint g(void) {}",
                "f g",
            ),
            (
                "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void) { }\n#ifdef __cplusplus\n}\n#endif\nint g(void) { }",
                "f g",
            ),
            ("/* int f(void) { */ char *s = \"{\"; int g(void) { char c = '{'; }", "g"),
            ("typedef struct { int x; } T; T *f(T *t) { return t; }", "f"),
            ("int f(void) {", "f"),
            ("}}} int f(void) { }", "f"),
            ("int f(void) __attribute__((pure)); int g(void) { }", "g"),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    /// Whether the slice of `f` in `int f(void) { return g() + K; }` after `rest` differs for two rests.
    #[track_caller]
    fn check(one: &str, other: &str, differs: bool) {
        let slice = |rest: &str| {
            let text =
                format!("{rest}\nint f(void)\n{{\n    return g() + K + t[2] + sizeof(struct s) + E;\n}}\n");
            Items::of(text.as_bytes()).slice("f").expect("f is defined")
        };
        assert_eq!(slice(one) != slice(other), differs, "{one} | {other}");
    }

    #[test]
    fn slices_follow_names_through_the_file() {
        check("#define K 1", "#define K 2", true);
        check("#define K 1", "#define  K  1 /* one */", false);
        check("#define K L\n#define L 1", "#define K L\n#define L 2", true);
        check("#define M 1", "#define M 2", false);
        check("int g(void) { return 1; }", "int g(void) { return 2; }", true);
        check(
            "int g(void) { return h(); } int h(void) { return 1; }",
            "int g(void) { return h(); } int h(void) { return 2; }",
            true,
        );
        check("int h(void) { return 1; }", "int h(void) { return 2; }", false);
        check("static const int t[] = { 1 };", "static const int t[] = { 2 };", true);
        check("struct s { int a; };", "struct s { long a; };", true);
        check("enum { E = 1 };", "enum { E = 2 };", true);
        check("enum e { D, E };", "enum e { E, D };", true);
        check("int g(void) { return 1; }", "int g(void)\n{\n  // one\n  return 1;\n}", false);
        check("int g(a) int a; { return 1; }", "int g(a) int a; { return 2; }", true);
        check("int g(void);", "", false);
    }

    #[test]
    fn a_renamed_function_keeps_its_text() {
        let text = |name: &str, text: &str| Items::of(text.as_bytes()).text_without_name(name);
        assert_eq!(
            text("f", "int f(int n) { return f(n - 1); }"),
            text("g", "int g(int n) {\n return g(n-1); }")
        );
        assert_ne!(text("f", "int f(int n) { return n; }"), text("g", "int g(int n) { return n + 1; }"));
        assert_eq!(text("f", "int g(void) { }"), None);
    }

    #[test]
    fn hostile_texts_are_read() {
        for text in [
            "",
            "#",
            "#define",
            "#else\n#endif\n#endif",
            "((((",
            "{{{{",
            ")}",
            "\"",
            "'",
            "/*",
            "#define \\",
            "\u{fffd}\u{0}(",
        ] {
            assert_eq!(Items::of(text.as_bytes()).slice("f"), None, "{text:?}");
        }
        let deep = "{(".repeat(100_000);
        assert_eq!(Items::of(deep.as_bytes()).functions().count(), 0);
    }
}
