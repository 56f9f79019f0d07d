//! Constants as the unit's own file spells them, so that reports can name them as it does.
//!
//! A macro without arguments whose tokens are a constant expression of numbers, or a string, stands for a
//! [`Literal`]: `PATH_MAX`, `E_BAD` for `(-7)`, `FLAG` for `((u8)1 << 4)`; so it does within the expansion of another.
//! With a minus before it, it names the negative number: `-EINVAL`. A character that prints is its own name, and so is a number that is not decimal. Of what the file writes without a
//! name, as it is or by an enumerator, only the values that have one somewhere are kept: they tell that a name is not
//! the only way to mean the value.

use crate::c::files::normal;
use crate::c::parse::Parsed;
use crate::c::scan::{Text, is_type_word};
use crate::ir::{Literal, Spelled};
use rucc_diag::{SourceFile, Span};
use rucc_lex::PpTokenKind;
use rucc_pp::Tok;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Enumerators with their values, by enumeration.
type Enumerations = BTreeMap<Arc<str>, Vec<(Arc<str>, i128)>>;

/// By place: where the macro is defined whose definition it is in, and its name.
type Definitions = BTreeMap<u32, Option<(u32, Arc<str>)>>;

/// What typedefs stand for, and how wide pointers are, which is what a cast's type means.
pub(super) struct Types<'a> {
    pub typedefs: &'a BTreeMap<Arc<str>, Arc<str>>,
    pub pointer_bits: u16,
}

impl Types<'_> {
    /// The bits of an integer type in words, and whether it is signed.
    fn integer(&self, words: &[&str]) -> Option<(u32, bool)> {
        let meaning = match words {
            [name] => self.typedefs.get(*name).map_or(*name, |m| m),
            _ => "",
        };
        let words: Vec<&str> = if meaning.is_empty() { words.to_vec() } else { meaning.split(' ').collect() };
        let has = |word: &str| words.contains(&word);
        let is_known = |w: &&str| matches!(*w, "unsigned" | "signed" | "char" | "short" | "int" | "long");
        if words.is_empty() || !words.iter().all(is_known) {
            return None;
        }
        let bits = match () {
            () if has("char") => 8,
            () if has("short") => 16,
            () if words.iter().filter(|w| **w == "long").count() > 1 => 64,
            () if has("long") => u32::from(self.pointer_bits),
            () => 32,
        };
        Some((bits, !has("unsigned")))
    }
}

/// Tokens of the longest constant that is looked into.
const LONGEST: usize = 32;

/// Returns the constants of the unit's own file that are written as macros, and where the same values stand
/// without; by line.
pub(super) fn spelled(parsed: &Parsed, enumerations: &Enumerations, types: &Types) -> Vec<Spelled> {
    let enumerators: BTreeMap<&str, i128> =
        enumerations.values().flatten().map(|(name, value)| (&**name, *value)).collect();
    let sources = &parsed.session.sources;
    let path = normal(&parsed.path);
    let is_own = |f: &&SourceFile| normal(Path::new(&f.name)) == path;
    let own: Vec<Range<u32>> = sources.files().iter().filter(is_own).map(|f| f.start..f.end).collect();
    let (text, tokens) = (parsed.text(), &parsed.tokens);
    let mut found = Vec::new();
    let mut definitions = Definitions::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let (first, place) = (at, token.report_span());
        at += 1;
        let is_macro = !token.expansion.is_dummy();
        if is_macro {
            at += tokens[at..].iter().take_while(|t| t.expansion == token.expansion).count();
        }
        let enumerator = match token.kind {
            PpTokenKind::Ident if !is_macro => enumerators.get(text.at(first)),
            _ => None,
        };
        let may_be = is_macro
            || enumerator.is_some()
            || matches!(token.kind, PpTokenKind::Number | PpTokenKind::CharConst | PpTokenKind::StringLit);
        if !may_be || !own.iter().any(|range| range.contains(&place.lo)) {
            continue;
        }
        let whole =
            || (Constant { text, types, at: first, end: at }).whole().filter(|_| at - first <= LONGEST);
        let written = enumerator.map(|n| Literal::Number(*n)).or_else(whole);
        let name = match is_macro {
            true => parsed.macro_at(place.lo).filter(|_| !has_arguments(parsed, place)),
            false => own_name(text.at(first)),
        };
        let mut is_inner = false;
        let all = match written {
            Some(value) if name.is_some() || !is_macro => match is_negative(text, first) {
                true => vec![negative(value, name)],
                false => vec![(value, name)],
            },
            _ if is_macro => {
                is_inner = true;
                within((parsed, types), first..at, &mut definitions)
            }
            _ => Vec::new(),
        };
        let line = sources.lookup(place.lo).map(|l| l.line);
        let all = all.into_iter();
        found.extend(all.filter_map(|(value, name)| Some(Spelled { line: line?, value, name, is_inner })));
    }
    let named: BTreeSet<Literal> =
        found.iter().filter(|s| s.name.is_some()).map(|s| s.value.clone()).collect();
    found.retain(|s| named.contains(&s.value));
    found.sort_by_key(|s| s.line);
    found
}

/// The number that a macro without arguments stands for whose expansion begins at a token, the macro, and the token
/// behind.
pub(super) fn macro_at(parsed: &Parsed, types: &Types, first: usize) -> Option<(i128, Arc<str>, usize)> {
    let (tokens, text) = (&parsed.tokens, parsed.text());
    let token = tokens.get(first)?;
    let is_more = |t: &Tok| t.expansion == token.expansion;
    if token.expansion.is_dummy() || first.checked_sub(1).and_then(|i| tokens.get(i)).is_some_and(is_more) {
        return None;
    }
    let end = first + tokens.iter().skip(first).take(LONGEST + 1).take_while(|t| is_more(t)).count();
    let place = token.report_span();
    let name = parsed.macro_at(place.lo).filter(|_| !has_arguments(parsed, place))?;
    match (Constant { text, types, at: first, end }).whole()? {
        Literal::Number(n) => Some((n, name, end)),
        Literal::Text(_) => None,
    }
}

/// What a constant with a minus before it is.
fn negative(value: Literal, name: Option<Arc<str>>) -> (Literal, Option<Arc<str>>) {
    match value {
        Literal::Number(n) => (Literal::Number(n.saturating_neg()), name.map(|n| format!("-{n}").into())),
        text => (text, name),
    }
}

/// Whether a minus stands before a token that is no operator between two values.
pub(super) fn is_negative(text: Text<'_>, at: usize) -> bool {
    let is_value = |i: usize| {
        let word = text.at(i);
        let is_end = matches!(word, ")" | "]") || word.starts_with(|c: char| c.is_ascii_digit() || c == '\'');
        is_end || text.name(i).is_some_and(|n| !matches!(n, "return" | "case"))
    };
    at > 1 && text.at(at - 1) == "-" && !is_value(at - 2)
}

/// Whether a bracket stands behind a place.
fn has_arguments(parsed: &Parsed, place: Span) -> bool {
    let sources = &parsed.session.sources;
    let file = sources.lookup_file(place.lo).map(|f| sources.file(f));
    let behind = file.and_then(|f| f.bytes().get((place.hi - f.start) as usize..));
    behind.and_then(|text| text.iter().find(|b| !b.is_ascii_whitespace())) == Some(&b'(')
}

/// The constants in the expansion of a macro that is none: those that other macros stand for, and numbers.
/// Each place is looked at once.
fn within(
    (parsed, types): (&Parsed, &Types),
    range: Range<usize>,
    definitions: &mut Definitions,
) -> Vec<(Literal, Option<Arc<str>>)> {
    let (text, tokens) = (parsed.text(), &parsed.tokens);
    let mut made_by = |t: &Tok| {
        let known = definitions.entry(t.span.lo).or_insert_with(|| parsed.defined_at(t.span.lo));
        known.clone()
    };
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let first = at;
        at += 1;
        let made = made_by(&tokens[first]);
        if let Some((_, name)) = &made {
            let mut is_more = |t: &Tok| made_by(t) == made;
            let rest = &tokens[at..range.end];
            let close = text.after_group(first, range.end.min(first + LONGEST));
            // What stands in brackets may have other macros in it.
            at = match text.at(first) == "("
                && is_more(&tokens[close - 1])
                && !tokens[close..range.end].first().is_some_and(&mut is_more)
            {
                true => close,
                false => at + rest.iter().take(LONGEST).take_while(|t| is_more(t)).count(),
            };
            let value = (Constant { text, types, at: first, end: at }).whole();
            found.extend(value.map(|value| (value, Some(name.clone()))));
        } else if let PpTokenKind::Number = tokens[first].kind {
            let value = (Constant { text, types, at: first, end: at }).whole();
            found.extend(value.map(|value| (value, None)));
        }
    }
    found
}

/// A character that says what it is, or a number that is not decimal.
pub(super) fn own_name(word: &str) -> Option<Arc<str>> {
    let is_own = match word.as_bytes() {
        [b'\'', c, b'\''] => c.is_ascii_graphic(),
        // Small ones are written alike.
        [b'0', _, ..] => number(word).is_some_and(|n| n > 9),
        _ => false,
    };
    is_own.then(|| word.into())
}

/// A constant expression that is read off tokens; what is none has no value.
struct Constant<'a> {
    text: Text<'a>,
    types: &'a Types<'a>,
    at: usize,
    end: usize,
}

impl<'a> Constant<'a> {
    fn word(&self) -> &'a str {
        if self.at < self.end { self.text.at(self.at) } else { "" }
    }

    fn whole(mut self) -> Option<Literal> {
        let value = match self.string() {
            Some(text) => Literal::Text(text),
            None => Literal::Number(self.binary(0)?),
        };
        (self.at == self.end).then_some(value)
    }

    /// Strings behind one another, with nothing that has to be decoded.
    fn string(&mut self) -> Option<Arc<str>> {
        let mut bytes = String::new();
        let begin = self.at;
        while let Some(part) = self.word().strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
            bytes.push_str(Some(part).filter(|p| !p.contains('\\'))?);
            self.at += 1;
        }
        (self.at > begin).then(|| bytes.into())
    }

    /// Operators that bind tighter than a level, on the left of one another.
    fn binary(&mut self, level: u8) -> Option<i128> {
        let mut value = self.unary()?;
        while let Some(own) = binding(self.word()).filter(|own| *own > level) {
            let op = self.word();
            self.at += 1;
            let right = self.binary(own)?;
            value = match op {
                "*" => value.checked_mul(right)?,
                "/" => value.checked_div(right)?,
                "%" => value.checked_rem(right)?,
                "+" => value.checked_add(right)?,
                "-" => value.checked_sub(right)?,
                "<<" => {
                    value.checked_mul(1i128.checked_shl(u32::try_from(right).ok().filter(|n| *n < 64)?)?)?
                }
                ">>" => value >> u32::try_from(right).ok().filter(|n| *n < 64)?,
                "&" => value & right,
                "^" => value ^ right,
                _ => value | right,
            };
        }
        Some(value)
    }

    /// The type of a cast whose bracket was read, if it is one.
    fn cast(&mut self) -> Option<(u32, bool)> {
        let close =
            (self.at..self.end).find(|i| self.text.name(*i).is_none() && !is_type_word(self.text.at(*i)))?;
        let words: Vec<&str> = (self.at..close).map(|i| self.text.at(i)).collect();
        let behind = (close..self.end).find(|i| self.text.at(*i) != "*").filter(|i| *i > close);
        if let Some(behind) = behind.filter(|i| !words.is_empty() && self.text.at(*i) == ")") {
            // `(void *)-1`: pointers that lead nowhere are small numbers of either sign.
            self.at = behind + 1;
            return Some((self.types.pointer_bits.into(), true));
        }
        let found = self.types.integer(&words).filter(|_| self.text.at(close) == ")")?;
        self.at = close + 1;
        Some(found)
    }

    fn unary(&mut self) -> Option<i128> {
        let word = self.word();
        self.at += 1;
        match word {
            "-" => self.unary()?.checked_neg(),
            "+" => self.unary(),
            "~" => Some(!self.unary()?),
            "(" if let Some((bits, signed)) = self.cast() => {
                let value = self.unary()?;
                let low = value & ((1 << bits) - 1);
                Some(if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low })
            }
            "(" => {
                let value = self.binary(0)?;
                (self.word() == ")").then_some(())?;
                self.at += 1;
                Some(value)
            }
            _ => number(word),
        }
    }
}

fn binding(operator: &str) -> Option<u8> {
    Some(match operator {
        "*" | "/" | "%" => 6,
        "+" | "-" => 5,
        "<<" | ">>" => 4,
        "&" => 3,
        "^" => 2,
        "|" => 1,
        _ => return None,
    })
}

/// The value of a number or a character.
pub(super) fn number(word: &str) -> Option<i128> {
    if let Some(c) = word.strip_prefix('\'').and_then(|w| w.strip_suffix('\'')) {
        return match *c.as_bytes() {
            [b'\\', b'0'] => Some(0),
            [b'\\', b'n'] => Some(10),
            [b'\\', b't'] => Some(9),
            [b'\\', b'r'] => Some(13),
            [b'\\', byte @ (b'\\' | b'\'' | b'"')] => Some(i128::from(byte)),
            [byte] if byte != b'\\' && byte.is_ascii() => Some(i128::from(byte)),
            _ => None,
        };
    }
    super::spans::integer(word)
}

#[cfg(test)]
mod tests {
    use crate as frontend;
    use crate::history::MemoryTree;
    use crate::ir::Literal;
    use std::path::Path;

    fn check(source: &str, expected: &[(u32, &str, Option<&str>)]) {
        let tree = MemoryTree::new([("t.c", source.as_bytes())]);
        let unit = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses").unit;
        let text = |value: &Literal| match value {
            Literal::Number(n) => n.to_string(),
            Literal::Text(text) => format!("{text:?}"),
        };
        let found: Vec<(u32, String, Option<&str>)> =
            unit.written.spelled.iter().map(|s| (s.line, text(&s.value), s.name.as_deref())).collect();
        let expected: Vec<(u32, String, Option<&str>)> =
            expected.iter().map(|(l, v, n)| (*l, (*v).to_owned(), *n)).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn macros_that_are_constants_have_values() {
        check("#define N 5\nint f(void) { return N; }\n", &[(2, "5", Some("N"))]);
        check("#define N (-7)\nint f(void) { return N; }\n", &[(2, "-7", Some("N"))]);
        check("#define N (1u << 4 | 0x3)\nint f(void) { return N; }\n", &[(2, "19", Some("N"))]);
        check("#define N 2 + 3 * 4 - 1\nint f(void) { return N; }\n", &[(2, "13", Some("N"))]);
        check("#define N 'x'\nint f(void) { return N; }\n", &[(2, "120", Some("N"))]);
        check("#define A 5\n#define N (A + 1)\nint f(void) { return N; }\n", &[(3, "6", Some("N"))]);
        check("#define P \"/a\" \"/b\"\nconst char *p = P;\n", &[(2, "\"/a/b\"", Some("P"))]);
    }

    #[test]
    fn what_is_no_constant_has_none() {
        check("#define N(x) 5\nint f(void) { return N(1); }\n", &[]);
        check("#define N x + 5\nint f(int x) { return N; }\n", &[]);
        check("#define N ((float)5)\nint f(void) { return N; }\n", &[]);
        check("#define N ((t)5)\nstruct t { int x; };\nint f(int t) { return N; }\n", &[]);
        check("#define N 1.5\ndouble f(void) { return N; }\n", &[]);
        check("#define N 1 / 0\n#define M 1 << 900\nint x = 1;\n", &[]);
        check("#define P \"a\\n\"\nconst char *p = P;\n", &[]);
    }

    #[test]
    fn a_cast_gives_a_number_of_its_type() {
        check("#define N ((int)5)\nint f(void) { return N; }\n", &[(2, "5", Some("N"))]);
        check("#define N ((unsigned char)300)\nint f(void) { return N; }\n", &[(2, "44", Some("N"))]);
        check("#define N ((signed char)200)\nint f(void) { return N; }\n", &[(2, "-56", Some("N"))]);
        let head = "typedef unsigned int u32;\ntypedef u32 rc;\n#define LAYER(n) ((rc)(n << 16))\n";
        check(
            &format!(
                "{head}#define N ((rc)(LAYER(6) | ((rc)11)))\n#define BACK(r) return r;\nrc f(void) {{ BACK(N) }}\n"
            ),
            &[(6, "393227", Some("N"))],
        );
        check("#define N ((unsigned)-1)\nunsigned f(void) { return N; }\n", &[(2, "4294967295", Some("N"))]);
    }

    #[test]
    fn a_name_with_a_minus_is_of_the_negative_number() {
        let head = "#define E 10\nenum { BAD = 3 };\n";
        check(&format!("{head}int f(void) {{ return -E; }}\n"), &[(3, "-10", Some("-E"))]);
        check(
            &format!("{head}int f(int x) {{\nif (x == -E) return -10;\nreturn x - E; }}\n"),
            &[(4, "-10", Some("-E")), (4, "-10", None), (5, "10", Some("E"))],
        );
        check(
            &format!("{head}int f(int x) {{\nreturn x ? -E : (-E); }}\n"),
            &[(4, "-10", Some("-E")), (4, "-10", Some("-E"))],
        );
        check(
            &format!("{head}#define NEG(e) (-(e))\nint f(void) {{ return NEG(E); }}\n"),
            &[(4, "10", Some("E"))],
        );
    }

    #[test]
    fn numbers_that_are_not_decimal_name_themselves() {
        check(
            "int f(void) { return 0700 + 0x8000 + 448 + 07 + 0; }\n",
            &[(1, "448", Some("0700")), (1, "32768", Some("0x8000")), (1, "448", None)],
        );
    }

    #[test]
    fn macros_within_others_are_named() {
        check(
            "#define FLAG (1u << 4)\n#define SET(x) ((x) |= FLAG, \\\n (x) += 16)\nvoid f(int x) { SET(x); }\n",
            &[(4, "16", Some("FLAG")), (4, "16", None)],
        );
        check("#define N 5\n#define ID(x) x\nint f(void) { return ID(N); }\n", &[(3, "5", Some("N"))]);
    }

    #[test]
    fn characters_name_themselves() {
        check(
            "int f(int x)\n{\nif (x == 'K') return 75;\nif (x == '\\n') return 10;\nreturn 3;\n}\n",
            &[(3, "75", Some("'K'")), (3, "75", None)],
        );
    }

    #[test]
    fn equal_values_without_a_name_are_kept() {
        check(
            "#define N 5\nint f(int x)\n{\n    if (x == 5) return 3;\n    return N;\n}\n",
            &[(4, "5", None), (5, "5", Some("N"))],
        );
        check(
            "#define N 0\nenum e { A };\nint f(char *p, enum e x)\n{\n*p = '\\0';\nif (x == A) return 3;\nreturn N;\n}\n",
            &[(2, "0", None), (5, "0", None), (6, "0", None), (7, "0", Some("N"))],
        );
    }
}
