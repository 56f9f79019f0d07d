//! Annotations: comments in the form of ACSL that say what is to hold.
//!
//! `/*@ requires P; ensures Q; */` stands before a definition, `/*@ assert P; */` between statements;
//! `//@` serves as well. What else such a comment says is named and left alone.
//!
//! Source: ACSL 1.x, "Function contracts" and "Assertions"; an `@` at the beginning of a line of a
//! comment is white space.

use super::survey::{Piece, logical_line, piece};
use std::ops::Range;

/// What a clause says of its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Callers see to it.
    Requires,
    /// It holds when the function returns.
    Ensures,
    /// It holds here.
    Assert,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    pub word: Word,
    pub condition: String,
    pub line: u32,
    /// The function whose contract it belongs to.
    pub function: Option<String>,
    /// Bytes of the comment.
    pub comment: Range<usize>,
}

impl Clause {
    /// Whether another one says the same, wherever it stands.
    pub fn says_the_same(&self, other: &Clause) -> bool {
        (self.word, &self.condition, &self.function) == (other.word, &other.condition, &other.function)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    pub clauses: Vec<Clause>,
    /// Lines with what is not understood there.
    pub open: Vec<(u32, String)>,
}

/// Whether a source may have annotations at all.
pub fn may_have(source: &[u8]) -> bool {
    source.windows(3).any(|w| w == b"/*@" || w == b"//@")
}

/// Returns the annotations of a source. Cost: linear in it.
pub fn annotations(source: &[u8]) -> Annotations {
    let mut found = Annotations::default();
    let (mut at, mut depth, mut fresh, mut last) = (0, 0u32, true, b';');
    while let Some(rest) = source.get(at..).filter(|r| !r.is_empty()) {
        if fresh && rest[0] == b'#' {
            at += logical_line(rest).length.max(1);
            continue;
        }
        let (token, length) = piece(rest);
        let end = (at + length.max(1)).min(source.len());
        match rest[0] {
            b'\n' => fresh = true,
            b' ' | b'\t' | b'\r' => {}
            _ if token.is_none() => {
                if rest.starts_with(b"/*@") || rest.starts_with(b"//@") {
                    let inside = depth > 0 && matches!(last, b';' | b'{' | b'}' | b':');
                    found.read(source, at..end, inside);
                }
            }
            first => {
                match first {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                (fresh, last) = (false, first);
            }
        }
        at = end;
    }
    found
}

impl Annotations {
    /// Reads the clauses of one comment. `inside`: a statement may stand there.
    fn read(&mut self, source: &[u8], comment: Range<usize>, inside: bool) {
        let line = 1 + source[..comment.start].iter().filter(|b| **b == b'\n').count() as u32;
        let text = String::from_utf8_lossy(&source[comment.clone()]).into_owned();
        let text = text.trim_start_matches("/*@").trim_start_matches("//@").trim_end_matches("*/");
        let lines: Vec<&str> = text.lines().map(|l| l.trim().trim_start_matches('@').trim()).collect();
        let rest = source.get(comment.end..).unwrap_or_default();
        for clause in clauses(&lines.join(" ")) {
            let Some(clause) = clause else {
                self.open.push((line, "a clause without ';'".to_owned()));
                continue;
            };
            let (word, condition) =
                clause.split_once(|c: char| !c.is_alphanumeric()).unwrap_or((&clause, ""));
            let (word, function) = match word {
                "requires" => (Word::Requires, defined_next(rest)),
                "ensures" => (Word::Ensures, defined_next(rest)),
                "assert" if inside && !goes_on(rest) => (Word::Assert, None),
                "assert" => {
                    self.open.push((line, "assert where no statement stands".to_owned()));
                    continue;
                }
                other => {
                    self.open.push((line, other.to_owned()));
                    continue;
                }
            };
            if word != Word::Assert && function.is_none() {
                self.open.push((line, "a contract before no definition".to_owned()));
                continue;
            }
            let condition = condition.trim().to_owned();
            self.clauses.push(Clause { word, condition, line, function, comment: comment.clone() });
        }
    }
}

/// The parts that end with `;`, outside of parentheses and quotes; `None` for one that does not.
fn clauses(text: &str) -> Vec<Option<String>> {
    let bytes = text.as_bytes();
    let (mut found, mut start, mut at, mut depth) = (Vec::new(), 0, 0, 0i32);
    while let Some(rest) = bytes.get(at..).filter(|r| !r.is_empty()) {
        match rest[0] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth <= 0 => {
                found.push(text.get(start..at).map(|t| t.trim().to_owned()));
                start = at + 1;
            }
            _ => {}
        }
        at += piece(rest).1.max(1);
    }
    if text.get(start..).is_some_and(|t| !t.trim().is_empty()) {
        found.push(None);
    }
    found
}

/// Whether what follows belongs to the statement before.
fn goes_on(rest: &[u8]) -> bool {
    tokens(rest).next().is_some_and(
        |(token, _)| matches!(token, Some(Piece::Name(name)) if name == "else" || name == "while"),
    )
}

/// The function that is defined next, if nothing else stands before.
fn defined_next(rest: &[u8]) -> Option<String> {
    let (mut name, mut last, mut depth) = (None, None, 0u32);
    for (token, first) in tokens(rest) {
        match (token, first) {
            (Some(Piece::Open), _) => {
                let called = last.take().filter(|n: &String| !n.starts_with("__"));
                if depth == 0 && name.is_none() {
                    name = called;
                }
                depth += 1;
            }
            (Some(Piece::Close), _) => depth = depth.saturating_sub(1),
            (Some(Piece::Name(n)), _) => last = Some(n),
            (_, b'{') if depth == 0 => return name,
            (_, b';' | b'=' | b'}') if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Tokens with their first bytes, without comments and directives.
fn tokens(text: &[u8]) -> impl Iterator<Item = (Option<Piece>, u8)> + '_ {
    let (mut at, mut fresh) = (0, true);
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..).filter(|r| !r.is_empty())?;
            if fresh && rest[0] == b'#' {
                at += logical_line(rest).length.max(1);
                continue;
            }
            let (token, length) = piece(rest);
            at += length.max(1);
            fresh = rest[0] == b'\n' || fresh && rest[0].is_ascii_whitespace();
            if token.is_some() {
                return Some((token, rest[0]));
            }
        }
    })
}

/// Returns a source whose assertions are statements that fail as those of `assert.h` do; lines keep
/// their numbers.
pub fn with_assertions(source: &[u8], assertions: &[&Clause]) -> Vec<u8> {
    let mut out = Vec::with_capacity(source.len() + 128 * assertions.len());
    let mut from = 0;
    let mut rest = assertions;
    while let Some((first, _)) = rest.split_first() {
        let here = rest.iter().take_while(|c| c.comment == first.comment).count();
        let Some(before) = source.get(from..first.comment.start) else { break };
        out.extend_from_slice(before);
        out.extend_from_slice(b"{ _Noreturn void __invdiff_assert_fail(const char *);");
        for clause in &rest[..here] {
            let quoted = clause.condition.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!(" if (!({})) __invdiff_assert_fail(\"{quoted}\");", clause.condition);
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(b" }");
        let comment = source.get(first.comment.clone()).unwrap_or_default();
        out.extend(comment.iter().filter(|b| **b == b'\n'));
        from = first.comment.end;
        rest = &rest[here..];
    }
    out.extend_from_slice(source.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clauses as `line word function: condition`, and what is open as `line ? text`.
    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let found = annotations(source.as_bytes());
        let clause = |c: &Clause| {
            let function = c.function.as_deref().unwrap_or("-");
            format!("{} {:?} {function}: {}", c.line, c.word, c.condition)
        };
        let mut texts: Vec<String> = found.clauses.iter().map(clause).collect();
        texts.extend(found.open.iter().map(|(line, text)| format!("{line} ? {text}")));
        assert_eq!(texts, expected, "{source}");
    }

    #[test]
    fn contracts_belong_to_what_is_defined_next() {
        check(
            "/*@ requires n >= 0;\n  @ ensures \\result > n; */\nstatic int __attribute__((cold)) f(int n) { return n; }\n",
            &["1 Requires f: n >= 0", "1 Ensures f: \\result > n"],
        );
        check("//@ ensures \\result == 1;\n#define X (\nint one(void)\n{", &["1 Ensures one: \\result == 1"]);
        check("/*@ ensures x > 0; */ int f(int x);", &["1 ? a contract before no definition"]);
        check("/*@ ensures x > 0; */ int a[] = {1};", &["1 ? a contract before no definition"]);
        check("/*@ assigns *p; ensures a; */ void f() {}", &["1 Ensures f: a", "1 ? assigns"]);
        check("/*@ ensures a */ void f() {}", &["1 ? a clause without ';'"]);
    }

    #[test]
    fn assertions_stand_between_statements() {
        check("void f() { g();\n /*@ assert a(\";\") && b; */ h(); }", &["2 Assert -: a(\";\") && b"]);
        check("void f() { if (x) /*@ assert a; */ h(); }", &["1 ? assert where no statement stands"]);
        check("void f() { if (x) {} /*@ assert a; */ else {} }", &["1 ? assert where no statement stands"]);
        check("/*@ assert a; */", &["1 ? assert where no statement stands"]);
        check("char *s = \"/*@ assert a; */\"; // /*@ assert b; */\n#define M /*@ assert c; */\n", &[]);
        check("/* @ assert a; */", &[]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = b"void f() {\n/*@ assert x > 0;\n    assert s != \"a\"; */\ng(); }";
        let found = annotations(source).clauses;
        let text = with_assertions(source, &found.iter().collect::<Vec<_>>());
        let expected = "void f() {\n{ _Noreturn void __invdiff_assert_fail(const char *); if (!(x > 0)) __invdiff_assert_fail(\"x > 0\"); if (!(s != \"a\")) __invdiff_assert_fail(\"s != \\\"a\\\"\"); }\n\ng(); }";
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }
}
