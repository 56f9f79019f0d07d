//! Where declarations of objects stand in the text of a file, and the words that they consist of.
//!
//! A *declaration* goes from behind the last semicolon, or the last brace of a function, to its own semicolon. Its
//! *head* is all that comes before the initial value: specifiers, attributes, the declarator. The text is read as it
//! stands, before the preprocessor: directives are passed over, and so macros count by their names. That is enough
//! to tell which lines belong to an object that the front end found, and whether a head is written as it was.

use super::survey::{self, Piece};
use std::ops::RangeInclusive;

/// Tokens behind a line in which the name of a declaration is looked for.
const NEAR: usize = 64;

/// Stands for the declared name in a head.
pub const SELF: &str = "\\self";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    text: String,
    line: u32,
}

/// The words of a file, without comments and directives.
#[derive(Clone, Debug, Default)]
pub struct Words {
    tokens: Vec<Token>,
    /// By token: where the bracket is that belongs to it.
    pairs: Vec<Option<usize>>,
}

/// The text of one object's declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub lines: RangeInclusive<u32>,
    /// What comes before the initial value, with [`SELF`] for the name.
    pub head: Vec<String>,
    /// The initial value.
    pub value: Vec<String>,
}

impl Words {
    /// Cost: one walk over the text.
    pub fn of(bytes: &[u8]) -> Words {
        let mut tokens = Vec::new();
        let (mut at, mut line, mut fresh) = (0usize, 1u32, true);
        while let Some(&b) = bytes.get(at) {
            let rest = bytes.get(at..).unwrap_or_default();
            let (piece, length) = match b {
                b'#' if fresh => (None, survey::logical_line(rest).length),
                0x0b | 0x0c => (None, 1),
                _ => survey::piece(rest),
            };
            let end = (at + length.max(1)).min(bytes.len());
            let text = bytes.get(at..end).unwrap_or_default();
            fresh = match (b, &piece) {
                (b'\n', _) => true,
                (_, Some(_)) => false,
                (_, None) => fresh,
            };
            if piece.is_some() {
                let text = match piece {
                    Some(Piece::Name(name)) => name,
                    _ => String::from_utf8_lossy(text).into_owned(),
                };
                tokens.push(Token { text, line });
            }
            line += text.iter().filter(|b| **b == b'\n').count() as u32;
            at = end;
        }
        let pairs = paired(&tokens);
        Words { tokens, pairs }
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| &t.text)
    }

    fn pair(&self, at: usize) -> Option<usize> {
        self.pairs.get(at).copied().flatten()
    }

    /// The declaration of a name that the front end found at a line.
    pub fn declaration(&self, line: u32, name: &str) -> Option<Declaration> {
        let Some(at) = self.named(line, name) else { return self.made(line) };
        let (start, commas) = self.start(at);
        self.declared(at, start, &commas, name)
    }

    /// Whether the name of the declaration at a line is written there, and not made by a macro.
    pub fn is_written(&self, line: u32, name: &str) -> bool {
        self.named(line, name).is_some()
    }

    /// The declaration of the word at `at`, which starts at another.
    fn declared(&self, at: usize, start: usize, commas: &[usize], name: &str) -> Option<Declaration> {
        let (mut equals, mut comma, mut last) = (None, None, at);
        let mut i = at + 1;
        while i < self.tokens.len() {
            match self.text(i) {
                ";" => {
                    last = i;
                    break;
                }
                "}" => break,
                "=" if comma.is_none() => equals = equals.or(Some(i)),
                "," => comma = comma.or(Some(i)),
                "(" | "[" | "{" => i = self.pair(i).unwrap_or(i),
                _ => {}
            }
            last = i;
            i += 1;
        }
        let own_end = comma.unwrap_or(if self.text(last) == ";" { last } else { last + 1 });
        let head_end = equals.unwrap_or(own_end);
        let words = |from: usize, to: usize| -> Vec<String> {
            let is_self = |i: usize| i == at && self.text(i) == name;
            (from..to.max(from)).map(|i| if is_self(i) { SELF } else { self.text(i) }.to_owned()).collect()
        };
        let head = match commas.first() {
            None => words(start, head_end),
            // Of several in one declaration: what all share, and its own.
            Some(own) => {
                let specifiers = (start..at).find(|i| matches!(self.text(*i + 1), "=" | "," | "[" | "("));
                let mut head = words(start, specifiers.unwrap_or(start));
                head.extend(words(own + 1, head_end));
                head
            }
        };
        Some(Declaration {
            lines: self.tokens.get(start)?.line..=self.tokens.get(last)?.line,
            head,
            value: equals.map(|e| words(e + 1, own_end)).unwrap_or_default(),
        })
    }

    /// Where the name stands that is declared at a line.
    fn named(&self, line: u32, name: &str) -> Option<usize> {
        let first = self.tokens.partition_point(|t| t.line < line);
        let is_name = |i: &usize| self.text(*i) == name;
        let declares = |i: &usize| {
            is_name(i) && matches!(self.text(*i + 1), "=" | "[" | ";" | "," | ")" | "__attribute__")
        };
        let near = self.near(first, line);
        let at = near.iter().find(|i| declares(i)).or_else(|| near.iter().find(|i| is_name(i)));
        // In the body of a function that stands in one line.
        let inside = || {
            let on_line = first..self.tokens.partition_point(|t| t.line <= line);
            let is_declarator =
                |i: &usize| i.checked_sub(1).is_some_and(|b| self.is_word(b) || self.text(b) == "*");
            on_line.clone().find(|i| declares(i) && is_declarator(i))
        };
        at.copied().or_else(inside)
    }

    /// The words from a line on up to where its declaration ends at the latest: what a function that begins there
    /// has in its body belongs to none.
    fn near(&self, first: usize, line: u32) -> Vec<usize> {
        let mut found = Vec::new();
        let mut i = first;
        while let Some(token) = self.tokens.get(i).filter(|_| found.len() < NEAR) {
            found.push(i);
            let is_body = token.text == "{" && !self.is_inside(i);
            if token.line > line && (token.text == ";" || is_body) {
                break;
            }
            i = if is_body { self.pair(i).unwrap_or(i) + 1 } else { i + 1 };
        }
        found
    }

    /// The declaration at a line whose name is not written there: a macro makes it. Where a declarator goes on
    /// behind the macro it is that; otherwise only the call is known to belong to it.
    fn made(&self, line: u32) -> Option<Declaration> {
        let first = self.tokens.partition_point(|t| t.line < line);
        let mut found: Option<(usize, usize)> = None;
        let mut i = first;
        while self.tokens.get(i).is_some_and(|t| t.line == line) && !matches!(self.text(i), "{" | ";" | "=") {
            let close = Some(i + 1).filter(|open| self.text(*open) == "(").and_then(|open| self.pair(open));
            let last = close.unwrap_or(i);
            if self.is_macro(i) {
                let goes_on = matches!(self.text(last + 1), "=" | "[" | ";");
                let start = self.specifiers(i);
                if goes_on && (close.is_some() || self.text(last + 1) != ";") {
                    return self.declared(last, start, &[], "");
                }
                // Calls before words.
                let is_better = found.is_none_or(|(at, end)| at == end && close.is_some());
                if is_better {
                    found = Some((i, last));
                }
            }
            i = last + 1;
        }
        let (at, last) = found?;
        let start = self.specifiers(at);
        Some(Declaration {
            lines: self.tokens.get(start)?.line..=self.tokens.get(last)?.line,
            head: (start..=last).map(|i| self.text(i).to_owned()).collect(),
            value: Vec::new(),
        })
    }

    /// The first of the words in a row that end with one.
    fn specifiers(&self, at: usize) -> usize {
        at - (0..at).rev().take_while(|i| self.is_word(*i) || self.text(*i) == "*").count()
    }

    fn is_word(&self, at: usize) -> bool {
        self.text(at).starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// The first word of the declaration in which a word stands, and the commas before that word which tell
    /// declared names apart, the nearest first.
    fn start(&self, at: usize) -> (usize, Vec<usize>) {
        let mut commas = Vec::new();
        let mut start = at;
        while let Some(before) = start.checked_sub(1) {
            match self.text(before) {
                ";" | "{" => break,
                "}" => match self.pair(before).filter(|open| self.is_inside(*open)) {
                    Some(open) => start = open,
                    None => break,
                },
                ")" | "]" => match self.pair(before) {
                    Some(open) => start = open,
                    None => break,
                },
                // An argument of a macro that declares it: what stands before that is another declaration.
                "(" if matches!(self.text(at.saturating_sub(1)), "," | "(")
                    && before.checked_sub(1).is_some_and(|m| self.is_macro(m)) =>
                {
                    let is_word = |i: &usize| super::scan::is_keyword(self.text(*i));
                    let first = (0..before - 1).rev().take_while(is_word).last();
                    return (first.unwrap_or(before - 1), Vec::new());
                }
                // The name stands in brackets itself.
                "(" | "[" => {
                    commas.clear();
                    start = before;
                }
                "," => {
                    commas.push(before);
                    start = before;
                }
                _ => start = before,
            }
        }
        (start, commas)
    }

    /// Whether a word may be the name of a macro.
    fn is_macro(&self, at: usize) -> bool {
        let text = self.text(at);
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !super::scan::is_keyword(text)
    }

    /// Whether a brace is one of a type or of an initial value, and not of a function.
    fn is_inside(&self, open: usize) -> bool {
        let before = |n: usize| open.checked_sub(n).map_or("", |i| self.text(i));
        before(1) == "=" || is_type_word(before(1)) || is_type_word(before(2))
    }

    /// Whether a name may be defined at file scope, by the text alone: `extern` declarations are none.
    pub fn may_define(&self, name: &str) -> bool {
        self.at_file_scope(name).next().is_some()
    }

    /// The line at which a name is defined at file scope, by the text alone: with a value, if one has it.
    pub fn definition_line(&self, name: &str) -> Option<u32> {
        let ends = |i: &usize| matches!(self.text(*i + 1), "=" | "[" | ";" | "," | ")" | "__attribute__");
        let all: Vec<usize> = self.at_file_scope(name).filter(ends).collect();
        let line = |i: usize| self.tokens.get(i).map(|t| t.line);
        let has_value = |i: &usize| {
            let found = line(*i).and_then(|line| self.declaration(line, name));
            found.is_some_and(|d| !d.value.is_empty())
        };
        all.iter().copied().find(has_value).or(all.first().copied()).and_then(line)
    }

    /// The line of the declarator before the initial value that has a line in it.
    pub fn initialised_around(&self, line: u32) -> Option<u32> {
        let first = self.tokens.partition_point(|t| t.line < line);
        let behind = self.tokens.partition_point(|t| t.line <= line);
        let equals = (0..behind).rev().take_while(|i| *i >= first || self.text(*i) != ";");
        let is_value = |i: &usize| {
            let first = if self.text(*i) == "=" { i + 1 } else { return false };
            let last = if self.text(first) == "{" { self.pair(first).unwrap_or(first) } else { first };
            self.tokens.get(last).is_some_and(|t| t.line >= line)
        };
        // The outermost: designators have values, too.
        let found = equals.filter(is_value).last()?;
        let mut before = found.checked_sub(1)?;
        // Of an array its length, and of a macro its arguments, belong to the declarator.
        while let Some(open) = self.pair(before).filter(|open| *open < before) {
            before = open.checked_sub(1)?;
        }
        self.tokens.get(before).map(|t| t.line)
    }

    /// Where a name stands at file scope, but for `extern` declarations.
    fn at_file_scope(&self, name: &str) -> impl Iterator<Item = usize> {
        let mut found = Vec::new();
        let mut i = 0;
        while i < self.tokens.len() {
            let is_open = self.text(i) == "{";
            if is_open && !self.is_linkage(i) {
                i = self.pair(i).unwrap_or(i);
            } else if self.text(i) == name {
                let (start, commas) = self.start(i);
                let own = commas.first().map_or(start, |comma| comma + 1);
                let is_tag = i.checked_sub(1).is_some_and(|b| is_type_word(self.text(b)));
                let is_declared = !is_tag && !(own..i).any(|k| self.text(k) == "=") && !self.is_parameter(i);
                if is_declared && !matches!(self.text(start), "extern" | "typedef") {
                    found.push(i);
                }
            }
            i += 1;
        }
        found.into_iter()
    }

    /// A name in brackets of its own is declared, as by a macro; one behind a type is a parameter.
    fn is_parameter(&self, at: usize) -> bool {
        let before = |n: usize| at.checked_sub(n).map_or("", |i| self.text(i));
        let is_alone = before(1) == "(" || before(1) == "*" && before(2) == "(";
        matches!(self.text(at + 1), ")" | ",") && !is_alone && self.is_in_brackets(at)
    }

    fn is_in_brackets(&self, at: usize) -> bool {
        let mut i = at;
        while let Some(before) = i.checked_sub(1) {
            match self.text(before) {
                ";" | "{" | "}" => return false,
                "(" => return true,
                ")" => i = self.pair(before).unwrap_or(before),
                _ => i = before,
            }
        }
        false
    }

    /// `extern "C" {`
    fn is_linkage(&self, open: usize) -> bool {
        let before = |n: usize| open.checked_sub(n).map_or("", |i| self.text(i));
        before(1).starts_with('"') && before(2) == "extern"
    }

    /// The words of the declaration that stands at a line, of whatever it is.
    pub fn statement_at(&self, line: u32) -> Option<Vec<String>> {
        let first = self.tokens.partition_point(|t| t.line < line);
        let (start, _) = self.start(first);
        let mut words = Vec::new();
        for i in start..self.tokens.len() {
            words.push(self.text(i).to_owned());
            if self.text(i) == ";" {
                return Some(words);
            }
        }
        None
    }

    /// Whether a name stands anywhere in the file.
    pub fn names(&self, name: &str) -> bool {
        self.tokens.iter().any(|t| t.text == name)
    }

    /// How often the same declaration stands in the file.
    pub fn count(&self, statement: &[String]) -> usize {
        let is_it = |i: &usize| {
            let starts = i.checked_sub(1).is_none_or(|b| matches!(self.text(b), ";" | "}" | "{"));
            starts && statement.iter().enumerate().all(|(k, word)| self.text(i + k) == word)
        };
        (0..self.tokens.len()).filter(is_it).count()
    }
}

fn is_type_word(word: &str) -> bool {
    matches!(word, "struct" | "union" | "enum")
}

/// Brackets that belong together.
fn paired(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let closes = match token.text.as_str() {
            "(" => ")",
            "[" => "]",
            "{" => "}",
            ")" | "]" | "}" => {
                // Branches of conditionals may open what they do not close.
                if let Some(known) = open.iter().rposition(|(_, closes)| *closes == token.text) {
                    let (at, _) = open[known];
                    open.truncate(known);
                    (pairs[at], pairs[i]) = (Some(i), Some(at));
                }
                continue;
            }
            _ => continue,
        };
        open.push((i, closes));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines, the head and the initial value of `x`, which stands at a line.
    #[track_caller]
    fn check(text: &str, line: u32, expected: &str) {
        let found = Words::of(text.as_bytes()).declaration(line, "x").map(|d| {
            format!("{}-{} {} | {}", d.lines.start(), d.lines.end(), d.head.join(" "), d.value.join(" "))
        });
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn declarations_have_lines_and_heads() {
        check("int x;", 1, "1-1 int \\self | ");
        check("int a;\nstatic\nint x = 1;\nint b;", 3, "2-3 static int \\self | 1");
        check("// c\nint x[] = {\n  1, /* , */\n  2,\n};\n", 2, "2-5 int \\self [ ] | { 1 , 2 , }");
        check("void f(void) { }\nchar *x = \"};\";", 2, "2-2 char * \\self | \"};\"");
        check(
            "void f(int a)\n{\n  g(a);\n  static const int x = 1;\n}\n",
            4,
            "4-4 static const int \\self | 1",
        );
        check("struct { int a; } x = { 1 };", 1, "1-1 struct { int a ; } \\self | { 1 }");
        check("struct s {\n int a;\n} x;\n", 3, "1-3 struct s { int a ; } \\self | ");
        check("#define N 1\nint x = N;", 2, "2-2 int \\self | N");
        check("static LIST_HEAD(x);", 1, "1-1 static LIST_HEAD ( \\self ) | ");
        check("int (*x)(int, int) = f;", 1, "1-1 int ( * \\self ) ( int , int ) | f");
        check("int a = 1, *x = 0, c;", 1, "1-1 int * \\self | 0");
        check("int x = 1, b;", 1, "1-1 int \\self | 1");
        check("int a[] = { 1 }, x = 2;", 1, "1-1 int \\self | 2");
        // A macro makes the name: what stands behind its call is something else.
        check("int g;\nTEST(one)\n{\n  g(1);\n}\nint h;", 2, "2-2 TEST ( one ) | ");
        check("TEST(one) { g(1); }", 1, "1-1 TEST ( one ) | ");
        check("TEST(a)\n{ x = 1; use(x, 2); }", 1, "1-1 TEST ( a ) | ");
        check("static TEST(one,\n two)\n{\n}\nint x = 3;", 1, "1-2 static TEST ( one , two ) | ");
        check("OBJ(one)\nOBJ(two)\nint f(void) { return 3; }", 2, "2-2 OBJ ( two ) | ");
        check("void f(void);\nstatic OBJ(one);\nint h;", 2, "2-2 static OBJ ( one ) | ");
        check("int PRE(one) = 4;", 1, "1-1 int PRE ( one ) | 4");
        check("static int *NAME[2] = { 4 };", 1, "1-1 static int * NAME [ 2 ] | { 4 }");
        check("#if A\nint f(void) {\n#else\nint f(int a) {\n#endif\n}\nint x = 1;", 7, "7-7 int \\self | 1");
    }

    #[test]
    fn names_at_file_scope() {
        let check = |text: &str, expected: bool| {
            assert_eq!(Words::of(text.as_bytes()).may_define("x"), expected, "{text}");
        };
        check("int x;", true);
        check("int a, x = 3;", true);
        check("extern int x;", false);
        check("int f(void) { return x; }", false);
        check("extern \"C\" {\nint x;\n}", true);
        check("// x\n#define x 1\n", false);
        check("int *p = &x;", false);
        check("int f(int x);", false);
        check("LIST_HEAD(x);", true);
        check("enum x { A };\nstruct x;", false);
    }

    #[test]
    fn definitions_are_found_by_name() {
        let check = |text: &str, expected: Option<u32>| {
            assert_eq!(Words::of(text.as_bytes()).definition_line("x"), expected, "{text}");
        };
        check("extern int x;\nint x = 1;", Some(2));
        check(
            "static const int x[2];\nint f(void) { return x[0]; }\nstatic const int x[2] = { 1 };",
            Some(3),
        );
        check("extern int x;", None);
        check("int x;", Some(1));
        check("int f(int x) { return x; }\nint x;", Some(2));
    }

    #[test]
    fn values_belong_to_declarators() {
        let check = |text: &str, line: u32, expected: Option<u32>| {
            assert_eq!(Words::of(text.as_bytes()).initialised_around(line), expected, "{text}");
        };
        let table = "int f(void) { return 1; }\nconst int\nNAME(a)[2] =\n{\n  { .x = 1 },\n  2\n};\nint b;";
        check(table, 5, Some(3));
        check(table, 6, Some(3));
        check(table, 8, None);
        check("int x = 1;", 1, Some(1));
        check("int a = 1;\nint PRE(y)\n = 1;", 3, Some(2));
        check("", 1, None);
    }

    #[test]
    fn statements_are_counted() {
        let words = Words::of(b"extern int a;\nint f(int);\n#if 1\nextern int a;\n#endif\n");
        let at = |line: u32| words.statement_at(line).map(|s| (s.join(" "), words.count(&s)));
        assert_eq!(at(1), Some(("extern int a ;".into(), 2)));
        assert_eq!(at(2), Some(("int f ( int ) ;".into(), 1)));
        assert_eq!(at(9), None);
    }
}
