//! What a run of the function begins with: `init(); update(?, 0..5, 1)`.
//!
//! The calls before the last one run as they stand. Of the last one's arguments a number is itself, `?` is any value
//! of the parameter's type, and `LOW..HIGH` any of these.

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    Number(i128),
    Any,
    Range(i128, i128),
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub function: String,
    pub arguments: Vec<Argument>,
}

/// Calls, of which the last is the one that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    pub before: Vec<Call>,
    pub last: Call,
}

/// Why a text is no harness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}")]
pub struct HarnessError {
    /// From 1, in characters.
    pub column: usize,
    pub what: String,
}

impl Harness {
    /// Reads a harness.
    pub fn parse(text: &str) -> Result<Harness, HarnessError> {
        let mut reader = Reader { text: text.chars().collect(), at: 0 };
        let mut calls = vec![reader.call()?];
        while reader.skips(';') {
            if reader.is_at_end() {
                break;
            }
            calls.push(reader.call()?);
        }
        if !reader.is_at_end() {
            return Err(reader.error("';' expected between calls"));
        }
        let last = calls.pop().ok_or_else(|| reader.error("a call expected"))?;
        let is_free = |a: &Argument| !matches!(a, Argument::Number(_));
        if let Some(call) = calls.iter().find(|c| c.arguments.iter().any(is_free)) {
            let what =
                format!("only the last call has free arguments, and {}() is not the last", call.function);
            return Err(HarnessError { column: 1, what });
        }
        Ok(Harness { before: calls, last })
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn error(&self, what: impl Into<String>) -> HarnessError {
        HarnessError { column: self.at + 1, what: what.into() }
    }

    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.blank();
        self.at >= self.text.len()
    }

    fn skips(&mut self, c: char) -> bool {
        self.blank();
        let is_it = self.text.get(self.at) == Some(&c);
        self.at += usize::from(is_it);
        is_it
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word: String = rest.iter().copied().take_while(|c| is_part(*c)).collect();
        self.at += word.chars().count();
        word
    }

    fn call(&mut self) -> Result<Call, HarnessError> {
        self.blank();
        let function = self.word(|c| c.is_alphanumeric() || c == '_');
        if function.is_empty() || function.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error("the name of a function expected"));
        }
        if !self.skips('(') {
            return Err(self.error(format!("'(' expected behind {function}")));
        }
        let mut arguments = Vec::new();
        if self.skips(')') {
            return Ok(Call { function, arguments });
        }
        loop {
            arguments.push(self.argument()?);
            if self.skips(')') {
                return Ok(Call { function, arguments });
            }
            if !self.skips(',') {
                return Err(self.error("',' or ')' expected"));
            }
        }
    }

    fn argument(&mut self) -> Result<Argument, HarnessError> {
        if self.skips('?') {
            return Ok(Argument::Any);
        }
        let start = self.at;
        let low = self.number()?;
        if self.text.get(self.at..self.at + 2) != Some(&['.', '.']) {
            return Ok(Argument::Number(low));
        }
        self.at += 2;
        let high = self.number()?;
        if high < low {
            self.at = start;
            return Err(self.error(format!("the range {low}..{high} is empty")));
        }
        Ok(Argument::Range(low, high))
    }

    fn number(&mut self) -> Result<i128, HarnessError> {
        self.blank();
        let start = self.at;
        let is_negative = self.skips('-');
        let digits = self.word(|c| c.is_ascii_alphanumeric());
        let size = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        match size {
            Ok(n) => Ok(if is_negative { -n } else { n }),
            Err(_) => {
                self.at = start;
                Err(self.error("'?', a number or LOW..HIGH expected"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Harness::parse(text).expect_err("refused").to_string()
    }

    #[test]
    fn calls_before_and_free_arguments() {
        let harness = Harness::parse(" init() ; set(3, -1);update( ?, 0..5, 0x10 );").expect("read");
        assert_eq!(harness.before.len(), 2);
        assert_eq!(harness.before[1].arguments, [Argument::Number(3), Argument::Number(-1)]);
        assert_eq!(harness.last.function, "update");
        assert_eq!(harness.last.arguments, [Argument::Any, Argument::Range(0, 5), Argument::Number(16)]);
        assert_eq!(Harness::parse("f()").expect("read").last.arguments, []);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_column() {
        assert_eq!(refused(""), "column 1: the name of a function expected");
        assert_eq!(refused("f"), "column 2: '(' expected behind f");
        assert_eq!(refused("f(x)"), "column 3: '?', a number or LOW..HIGH expected");
        assert_eq!(refused("f(3..1)"), "column 3: the range 3..1 is empty");
        assert_eq!(refused("f(?, 2"), "column 7: ',' or ')' expected");
        assert_eq!(refused("f(1) g(?)"), "column 6: ';' expected between calls");
        assert!(refused("f(?); g(?)").contains("only the last call"));
    }
}
