//! String literals that hold what `__LINE__` or `__FILE__` gave.
//!
//! `#define HERE __FILE__ ":" TEXT(__LINE__)` is another text wherever a line is added above its use or the file is
//! moved, and nothing about the program changed. Such a literal is *placed* ([`crate::ir::literal`]). The number in it
//! is a token that `#` made, of digits that are the line of the outermost macro call, where what stands there leads to
//! `__LINE__`: a number that equals its line by chance is none.

use super::spans::{arguments_length, rest_at, written_at};
use rucc_base::Interner;
use rucc_diag::{SourceMap, Span};
use rucc_lex::PpTokenKind;
use rucc_pp::Tok;
use rucc_session::Std;
use rucc_target::TargetInfo;
use std::collections::{BTreeMap, BTreeSet};

/// What stands for a number of a line, and the name of a file, in a literal that is told of.
const NUMBER: &[u8] = b"\"__LINE__\"";
const FILE: &[u8] = b"\"__FILE__\"";

/// A literal that says where it stands.
struct LineString {
    /// 0 where it says its file only.
    line: u32,
    /// Its bytes with `__LINE__` for the number and `__FILE__` for the name, terminator included.
    unplaced: Vec<u8>,
    /// Where such begin: the position of the outermost macro call, or their own.
    at: BTreeSet<u32>,
}

/// Those of a unit, by their bytes, terminator included.
#[derive(Default)]
pub(super) struct LineStrings(BTreeMap<Vec<u8>, LineString>);

impl LineStrings {
    /// Cost: a look at each token; the texts of all files where one may be such a number.
    pub fn of(sources: &SourceMap, interner: &Interner, tokens: &[Tok], target: &TargetInfo) -> LineStrings {
        let mut found = LineStrings::default();
        let text = |t: &Tok| t.value.map_or("", |v| interner.resolve(v)).as_bytes();
        let number = |t: &Tok| number_of(sources, t, text(t));
        let mut names: Option<BTreeSet<&[u8]>> = None;
        let is_string = |t: &Tok| t.kind == PpTokenKind::StringLit;
        for run in tokens.chunk_by(|a, b| is_string(a) && is_string(b)) {
            let Some(first) =
                run.first().filter(|_| run.iter().any(|t| number(t).is_some() || is_file(sources, t)))
            else {
                continue;
            };
            let names = names.get_or_insert_with(|| leading_to_line(sources));
            let leads =
                |t: &Tok| words(call_at(sources, t.report_span().lo)).any(|word| names.contains(word));
            let is_line = |t: &Tok| number(t).is_some() && leads(t);
            let bytes = |pieces: &[&[u8]]| {
                rucc_lex::strings(pieces, Std::default(), true, target).ok().map(|l| l.bytes(target))
            };
            let placed: Vec<&[u8]> = run.iter().map(text).collect();
            let without = |t: &Tok| match t {
                t if is_file(sources, t) => FILE,
                t if is_line(t) => NUMBER,
                t => text(t),
            };
            let unplaced: Vec<&[u8]> = run.iter().map(without).collect();
            if let Some((placed, unplaced)) = bytes(&placed).zip(bytes(&unplaced)).filter(|(a, b)| a != b) {
                let line = run.iter().filter(|t| is_line(t)).find_map(number).unwrap_or(0);
                let new = LineString { line, unplaced, at: BTreeSet::new() };
                found.0.entry(placed).or_insert(new).at.insert(first.report_span().lo);
            }
        }
        found
    }

    /// Of a literal that says where it stands the line, and the bytes without. Of one whose place is not known
    /// no other text than that of its bytes counts, which must be more than a number.
    pub fn get(&self, bytes: &[u8], at: Option<Span>) -> Option<(u32, Vec<u8>)> {
        let found = self.0.get(bytes)?;
        let is_there = match at {
            Some(span) => found.at.contains(&span.lo),
            None => bytes.iter().any(u8::is_ascii_alphabetic),
        };
        is_there.then(|| (found.line, found.unplaced.clone()))
    }
}

/// Whether a token is what `__FILE__` gave.
fn is_file(sources: &SourceMap, token: &Tok) -> bool {
    token.kind == PpTokenKind::StringLit
        && matches!(written_at(sources, token.span.lo), b"__FILE__" | b"__FILE_NAME__" | b"__BASE_FILE__")
}

/// The line of the macro call that a token comes out of, where it is a text that `#` made of that number.
fn number_of(sources: &SourceMap, token: &Tok, text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if token.kind != PpTokenKind::StringLit || rest_at(sources, token.span.lo).first() != Some(&b'#') {
        return None;
    }
    let number: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let at = token.report_span().lo;
    let first = sources.lookup(at)?.line;
    let last =
        sources.lookup(at + (call_at(sources, at).len() as u32).saturating_sub(1)).map_or(first, |l| l.line);
    (first..=last.max(first)).contains(&number).then_some(number)
}

/// The macro call that stands at a position, with its arguments.
fn call_at(sources: &SourceMap, at: u32) -> &[u8] {
    let name = written_at(sources, at).len() as u32;
    let length = name + arguments_length(rest_at(sources, at + name));
    rest_at(sources, at).get(..length as usize).unwrap_or(&[])
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| !b.is_ascii_alphanumeric() && *b != b'_').filter(|word| !word.is_empty())
}

/// `__LINE__` and the macros whose definitions lead to it.
fn leading_to_line(sources: &SourceMap) -> BTreeSet<&[u8]> {
    let mut definitions: Vec<(&[u8], &[u8])> = Vec::new();
    for file in sources.files() {
        let mut rest = file.bytes();
        while !rest.is_empty() {
            let (line, behind) = rest.split_at(logical_length(rest));
            rest = behind;
            let text = line.trim_ascii_start().strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
            let Some(body) = text.and_then(|t| t.strip_prefix(b"define")) else { continue };
            definitions.extend(words(body).next().map(|name| (name, body)));
        }
    }
    let mut found: BTreeSet<&[u8]> = BTreeSet::from([&b"__LINE__"[..]]);
    loop {
        let before = found.len();
        definitions.retain(|(name, body)| {
            let leads = words(body).skip(1).any(|word| found.contains(word));
            if leads {
                found.insert(name);
            }
            !leads
        });
        if found.len() == before {
            return found;
        }
    }
}

/// Length of the line that a text begins with, its end included; a backslash before the end takes the next one in.
fn logical_length(text: &[u8]) -> usize {
    let ends = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i);
    let goes_on = |end: &usize| text.get(..*end).is_some_and(|t| t.trim_ascii_end().ends_with(b"\\"));
    ends.into_iter().find(|end| !goes_on(end)).map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::{logical_length, words};
    use crate::history::MemoryTree;
    use crate::ir::literal;
    use std::path::Path;

    /// The literals with the number of a line in them, with `__LINE__` for it, behind the line.
    #[track_caller]
    fn check(source: &str, expected: &[(u32, &str)]) {
        let source = format!("#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n{source}");
        let tree = MemoryTree::new([("t.c", source.as_bytes())]);
        let loaded = crate::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
        let found = loaded.unit.globals.iter().filter_map(|g| {
            let (line, unplaced) = literal::placed(&g.symbol)?;
            let other = loaded.unit.global(&unplaced).expect("it is there, too");
            let bytes = other.constant_bytes(0, other.size).expect("it is a literal");
            Some((line, String::from_utf8(bytes).unwrap().trim_end_matches('\0').to_owned()))
        });
        let found: Vec<(u32, String)> = found.collect();
        let found: Vec<(u32, &str)> = found.iter().map(|(line, text)| (*line, &**text)).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn numbers_of_lines_in_literals_are_found() {
        let here = "#define HERE __FILE__ \":\" TEXT(__LINE__)\n";
        check(&format!("{here}const char *f(void) {{ return HERE; }}"), &[(4, "__FILE__:__LINE__")]);
        check(
            &format!("{here}const char *f(void) {{\n return \"at \" HERE \"\\n\"; }}"),
            &[(5, "at __FILE__:__LINE__\n")],
        );
        check(&format!("{here}const char *where = HERE;"), &[(4, "__FILE__:__LINE__")]);
        check("const char *f(void) { return TEXT(__LINE__); }", &[(3, "__LINE__")]);
        // Over lines, within an argument, twice.
        check(
            "#define LOG(t) g(t)\nvoid g(const char *);\nvoid f(void) { LOG(TEXT(__LINE__) \"x\"); }",
            &[(5, "__LINE__x")],
        );
        check("const char *f(void) { return __FILE__; }", &[(0, "__FILE__")]);
        check(
            "const char *f(void) { return TEXT(__LINE__) \"-\" TEXT(__LINE__); }",
            &[(3, "__LINE__-__LINE__")],
        );
    }

    #[test]
    fn other_numbers_are_none() {
        check("const char *f(void) { return TEXT(3); }", &[]);
        check("#define FOUR 4\nconst char *f(void) { return \"4\" TEXT(FOUR); }", &[]);
        check("int f(void) { return __LINE__; }\nconst char *g(void) { return TEXT(4); }", &[]);
        // It gets a name, and none of a number.
        check("const char *f(void) { return TEXT_(__LINE__); }", &[]);
        // Of the same bytes and elsewhere.
        check(
            "const char *f(void) { return TEXT(__LINE__); }\nconst char *g(void) { return \"3\"; }",
            &[(3, "__LINE__")],
        );
    }

    #[test]
    fn lines_end_where_nothing_takes_the_next_one_in() {
        assert_eq!(logical_length(b"a \\\nb\nc"), 6);
        assert_eq!(logical_length(b"a"), 1);
        assert_eq!(logical_length(b"\nb"), 1);
        assert_eq!(words(b"a_1(b, 2)").collect::<Vec<_>>(), [&b"a_1"[..], b"b", b"2"]);
    }
}
