//! Tokens of facts.

use crate::interp::format::number;
use crate::ir::Const;
use crate::parser::ParseError;
use crate::syntax::Integer;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    /// Word after a backslash.
    Backslash(String),
    Integer(Integer),
    Character(i32),
    /// A string as it is spelled between its quotes.
    Text(String),
    Float(Const),
    Symbol(&'static str),
    End,
}

impl Token {
    pub fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Backslash(word) => format!("`\\{word}`"),
            Token::Integer(i) => format!("`{}`", i.value),
            Token::Character(_) => "a character".into(),
            Token::Text(_) => "a string".into(),
            Token::Float(_) => "a number".into(),
            Token::Symbol(s) => format!("`{s}`"),
            Token::End => "the end".into(),
        }
    }
}

/// Longest first. Some are known only so that errors can name them.
const SYMBOLS: [&str; 33] = [
    "==>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "++", "--", "(", ")", "[", "]", ".", ",",
    "?", ":", "!", "~", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", ";",
];

#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The text is the engine's: operators stand between spaces, and there are strings, temporaries (`%1`),
    /// values in loops (`x@loop`), and functions of which not everything is said (`fopen*`).
    printed: bool,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str, printed: bool) -> Lexer<'a> {
        Lexer { text, at: 0, printed }
    }

    pub fn is_printed(&self) -> bool {
        self.printed
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Returns the next token and where it is.
    pub fn token(&mut self) -> Result<(Token, Range<usize>), ParseError> {
        self.at = self.text.len() - self.rest().trim_start().len();
        let start = self.at;
        let rest = self.rest();
        let token = match rest.chars().next() {
            None => Token::End,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => Token::Name(self.name()),
            Some('%') if self.printed && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => {
                self.at += 1;
                Token::Name(format!("%{}", self.word()))
            }
            Some('\\') => {
                self.at += 1;
                Token::Backslash(self.name())
            }
            Some(c) if c.is_ascii_digit() || number_starts(rest) => self.number()?,
            Some('\'') => self.character()?,
            Some('"') if self.printed => self.string()?,
            Some('"') => return Err(ParseError::new(start, "Strings cannot be compared in a fact")),
            Some(c) => self.symbol(c)?,
        };
        Ok((token, start..self.at))
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or("")
    }

    fn name(&mut self) -> String {
        let mut name = self.word().to_owned();
        while self.printed && self.rest().starts_with(['*', '@']) {
            self.at += 1;
            let mark = if self.text.as_bytes().get(self.at - 1) == Some(&b'*') { '*' } else { '@' };
            name.push(mark);
            name.push_str(self.word());
        }
        name
    }

    fn string(&mut self) -> Result<Token, ParseError> {
        let mut escaped = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let inside = self.rest().get(1..at).unwrap_or_default().to_owned();
                    self.at += at + 1;
                    return Ok(Token::Text(inside));
                }
                _ => {}
            }
        }
        Err(ParseError::new(self.at, "A string that does not end"))
    }

    fn symbol(&mut self, c: char) -> Result<Token, ParseError> {
        let rest = self.rest();
        if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        if c == '=' {
            self.at += 1;
            return Ok(Token::Symbol("="));
        }
        Err(ParseError::new(self.at, format!("Unexpected character {}", c.escape_default())))
    }

    fn number(&mut self) -> Result<Token, ParseError> {
        let start = self.at;
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
        let float = number::strtod(bytes);
        let octal = bytes.first() == Some(&b'0') && bytes.get(1).is_some_and(u8::is_ascii_digit);
        let base = if hexadecimal {
            16
        } else if octal {
            8
        } else {
            10
        };
        let whole = number::strtoul(bytes, base, 64);
        let is_float = float.consumed > whole.consumed && {
            let inside = rest.get(..float.consumed).unwrap_or("");
            let marks: &[char] = if hexadecimal { &['.', 'p', 'P'] } else { &['.', 'e', 'E'] };
            inside.contains(marks)
        };
        self.at += if is_float { float.consumed } else { whole.consumed };
        let suffix_start = self.at;
        let suffix = self.word().to_ascii_lowercase();
        let bad =
            |what: &str| Err(ParseError::new(start, format!("{what} {}", rest_of(rest, self.at - start))));
        if is_float {
            return match suffix.as_str() {
                "" => Ok(Token::Float(Const::f64(float.value))),
                "f" => Ok(Token::Float(Const::f32(number::strtof(bytes).value))),
                "l" => Ok(Token::Float(Const::F80(number::strtold(bytes).value))),
                _ => Err(ParseError::new(suffix_start, format!("Suffix `{suffix}` of a float is not known"))),
            };
        }
        if whole.range_error {
            return bad("Integer too large:");
        }
        let (unsigned, longs) = match suffix.as_str() {
            "" => (false, 0),
            "u" => (true, 0),
            "l" => (false, 1),
            "ll" => (false, 2),
            "ul" | "lu" => (true, 1),
            "ull" | "llu" => (true, 2),
            _ => return bad("Malformed number"),
        };
        Ok(Token::Integer(Integer { value: whole.value, unsigned, longs, hexadecimal: hexadecimal || octal }))
    }

    fn character(&mut self) -> Result<Token, ParseError> {
        let start = self.at;
        let bytes = self.rest().as_bytes();
        let bad = || ParseError::new(start, "Malformed character constant");
        let (value, len) = match bytes {
            [_, b'\\', rest @ ..] => {
                let (value, len) = escape(rest).ok_or_else(bad)?;
                (value, 2 + len)
            }
            [_, c @ (0x20..=0x26 | 0x28..=0x7e), ..] => (i32::from(*c), 2),
            _ => return Err(bad()),
        };
        if bytes.get(len) != Some(&b'\'') {
            return Err(bad());
        }
        self.at += len + 1;
        Ok(Token::Character(value))
    }
}

/// Returns whether a text starts like `.5`.
fn number_starts(text: &str) -> bool {
    matches!(text.as_bytes(), [b'.', b'0'..=b'9', ..])
}

fn rest_of(text: &str, len: usize) -> String {
    format!("`{}`", text.get(..len).unwrap_or(text))
}

/// Returns the value and the length of an escape after its backslash. Characters are signed.
fn escape(text: &[u8]) -> Option<(i32, usize)> {
    let simple = |v: u8| Some((i32::from(v), 1));
    match text {
        [b'n', ..] => simple(b'\n'),
        [b't', ..] => simple(b'\t'),
        [b'r', ..] => simple(b'\r'),
        [b'a', ..] => simple(7),
        [b'b', ..] => simple(8),
        [b'f', ..] => simple(12),
        [b'v', ..] => simple(11),
        [c @ (b'\\' | b'\'' | b'"' | b'?'), ..] => simple(*c),
        [b'x', rest @ ..] => {
            let len = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            let value = number::strtoul(rest.get(..len)?, 16, 64).value;
            (len > 0 && value < 256).then_some((i32::from(value as u8 as i8), 1 + len))
        }
        [b'0'..=b'7', ..] => {
            let len = text.iter().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
            let value = number::strtoul(text.get(..len)?, 8, 64).value;
            (value < 256).then_some((i32::from(value as u8 as i8), len))
        }
        _ => None,
    }
}
