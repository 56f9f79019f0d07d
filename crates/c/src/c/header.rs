//! Headers that define functions: libraries of one header, and inline functions.
//!
//! Such a header is read as a unit of its own, so that what its functions guarantee is said of them once
//! and not of every file that includes it. Others read it, too: none of its static names is known to be
//! used by its own text alone.

use super::parse::Options;
use crate::history::SourceTree;
use crate::ir::{Linkage, Unit};
use std::borrow::Cow;
use std::path::Path;

/// Returns whether a path names a header.
pub fn is_header(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "h" || e == "inc" || e == "def" || e == "tbl")
}

/// Returns whether a text seems to define a function: behind a list of parameters, or the declarations
/// of an old-style one, an opening brace at the outermost level.
pub fn defines_functions(text: &[u8]) -> bool {
    let mut scan = Scan { text, at: 0 };
    let (mut depth, mut last) = (0usize, b' ');
    while let Some(c) = scan.next_token() {
        match c {
            b'{' if depth == 0 && matches!(last, b')' | b';') => return true,
            // `extern "C" {` is no level.
            b'{' if depth == 0 && last == b'"' => {}
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        last = c;
    }
    false
}

/// Returns the options by which a file is read as a unit. The functions of many a library of one header
/// are there where a macro `..._IMPLEMENTATION` is defined, as one of those that include it does.
pub(crate) fn options<'o>(tree: &dyn SourceTree, path: &Path, options: &'o Options) -> Cow<'o, Options> {
    let text = if is_header(path) { tree.read(path) } else { None };
    let switches = text.map(|t| implementation_macros(&String::from_utf8_lossy(&t))).unwrap_or_default();
    let options = options.of(path);
    if switches.is_empty() {
        return options;
    }
    let mut own = options.into_owned();
    own.defines.extend(switches.into_iter().map(|name| (name, None)));
    Cow::Owned(own)
}

/// The macros that a text asks for by `#ifdef` or `#if defined`, and whose name ends as such ones do.
fn implementation_macros(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = directive.split(|c| !is_word(c)).next().unwrap_or_default();
        let Some(condition) = directive.strip_prefix(word).filter(|_| matches!(word, "if" | "ifdef")) else {
            continue;
        };
        let name = condition.split(|c| !is_word(c)).find(|w| w.ends_with("_IMPLEMENTATION"));
        let is_denied = condition.contains('!');
        found.extend(name.filter(|n| !is_denied && !found.iter().any(|f| f == n)).map(str::to_owned));
    }
    found
}

/// Makes what is known of a header's unit hold whoever includes it.
pub(crate) fn open(unit: &mut Unit) {
    unit.is_whole = false;
    for g in unit.globals.iter_mut().filter(|g| g.linkage == Linkage::Internal && !g.symbol.contains('.')) {
        g.linkage = Linkage::External;
    }
}

/// The characters of a text without comments, directives and what is in quotes.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    /// Returns the next character that is not blank; for quoted text its quote.
    fn next_token(&mut self) -> Option<u8> {
        loop {
            let c = *self.text.get(self.at)?;
            self.at += 1;
            match (c, self.text.get(self.at)) {
                (b'/', Some(b'*')) => self.skip_to(b"*/"),
                (b'/', Some(b'/')) | (b'#', _) => self.skip_line(),
                (b'"' | b'\'', _) => {
                    self.skip_quoted(c);
                    return Some(c);
                }
                _ if c.is_ascii_whitespace() => {}
                _ => return Some(c),
            }
        }
    }

    fn skip_to(&mut self, end: &[u8]) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|w| w == end);
        self.at = found.map_or(self.text.len(), |i| self.at + i + end.len());
    }

    /// Goes to the end of a line that may go on behind a backslash.
    fn skip_line(&mut self) {
        let mut before = [b' '; 2];
        while let Some(&c) = self.text.get(self.at) {
            let goes_on = before[1] == b'\\' || before == *b"\\\r";
            if c == b'\n' && !goes_on {
                return;
            }
            before = [before[1], c];
            self.at += 1;
        }
    }

    fn skip_quoted(&mut self, quote: u8) {
        while let Some(&c) = self.text.get(self.at) {
            self.at += if c == b'\\' { 2 } else { 1 };
            if c == quote || c == b'\n' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implementations_are_switched_on() {
        let cases: [(&str, &[&str]); 4] = [
            (
                "#ifdef A_IMPLEMENTATION\n#endif\n # if defined(B_IMPLEMENTATION) \n",
                &["A_IMPLEMENTATION", "B_IMPLEMENTATION"],
            ),
            ("#ifdef A_IMPLEMENTATION\n#ifdef A_IMPLEMENTATION", &["A_IMPLEMENTATION"]),
            ("#ifndef A_IMPLEMENTATION\n#if !defined(B_IMPLEMENTATION)\n#ifdef C\n", &[]),
            ("#define A_IMPLEMENTATION\n/* #ifdef */", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(implementation_macros(text), expected, "{text}");
        }
    }

    #[test]
    fn functions_are_told_from_declarations() {
        let cases: [(&str, bool); 14] = [
            ("static inline int f(int a) { return a; }", true),
            ("extern \"C\" {\nint f(void)\n{\n}\n}", true),
            ("int f(a) int a; { return a; }", true),
            ("int f(void) __attribute__((noinline)) /* { */ // x\n{ }", true),
            ("int a[] = { (1) };\nint f(void) { return 0; }", true),
            ("int f(int a);\nstruct s { int x; };", false),
            ("#define F(a) { a; }\n#define G(a) \\\n { a; }\nint f(void);", false),
            ("/* int f(void) { } */ char *s = \"f() {\";", false),
            ("int a[] = { (1), (2) };", false),
            ("enum e { A, B };\ntypedef struct { int x; } t;", false),
            ("char q = '\\''; char p = '{';", false),
            ("", false),
            ("\"", false),
            ("/*", false),
        ];
        for (text, expected) in cases {
            assert_eq!(defines_functions(text.as_bytes()), expected, "{text}");
        }
    }
}
