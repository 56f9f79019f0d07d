//! Inputs of a function as comma-separated values: a line with the names of its parameters, in any order, and
//! under it a line of integers for each call.
//!
//! Numbers are decimal or hexadecimal (`0x`), with a sign or without; `true` and `false` are 1 and 0. Fields
//! may be quoted; blank lines and lines that open with `#` say nothing; a *column* is a field, counted from
//! 1.
//!
//! Source: RFC 4180, "Common Format and MIME Type for Comma-Separated Values (CSV) Files", 2005, for the
//! quotes. A quoted field does not go on in the next line here, as no name and no number does.

use std::collections::HashSet;
use std::io::{self, BufRead};

/// Why a text is not read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input fails, or is no UTF-8.
    #[error("line {line}: cannot be read: {source}")]
    Read { line: u64, source: io::Error },
    /// There is no first line.
    #[error("no line names the parameters")]
    Nameless,
    /// A field of the first line is empty.
    #[error("line {line}, column {column}: a parameter without a name")]
    Unnamed { line: u64, column: usize },
    /// A name of the first line was there before.
    #[error("line {line}, column {column}: '{name}' a second time")]
    Twice { line: u64, column: usize, name: String },
    /// A row has more fields or fewer than the first line.
    #[error("line {line}, column {column}: {found} values for {expected} names")]
    Ragged { line: u64, column: usize, found: usize, expected: usize },
    /// A field of a row is something else.
    #[error("line {line}, column {column}: '{text}' is no number for '{name}'")]
    Number { line: u64, column: usize, name: String, text: String },
    /// A quote has no partner, or text follows a quoted field.
    #[error("line {line}, column {column}: a quote out of place")]
    Quote { line: u64, column: usize },
}

/// Values of a function's parameters, a row for each call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table<T> {
    /// The parameters, in the order of the columns; each once.
    pub names: Vec<String>,
    /// A value for each name.
    pub rows: Vec<Vec<T>>,
}

/// Values that are integers.
pub type Inputs = Table<i128>;

impl Inputs {
    /// The rows, with the name at each value.
    pub fn named(&self) -> impl Iterator<Item = Vec<(String, i128)>> + '_ {
        self.rows.iter().map(|row| self.names.iter().cloned().zip(row.iter().copied()).collect())
    }
}

/// Reads a whole text.
pub fn read(input: impl BufRead) -> Result<Inputs, Error> {
    read_as(input, &number)
}

/// Reads a whole text whose values are of another kind; `value` reads one.
pub fn read_as<T>(mut input: impl BufRead, value: &dyn Fn(&str) -> Option<T>) -> Result<Table<T>, Error> {
    let mut inputs: Option<Table<T>> = None;
    let (mut text, mut line) = (String::new(), 0);
    loop {
        line += 1;
        text.clear();
        if input.read_line(&mut text).map_err(|source| Error::Read { line, source })? == 0 {
            return inputs.ok_or(Error::Nameless);
        }
        // Spreadsheets write a byte order mark.
        let row = if line == 1 { text.trim_start_matches('\u{feff}').trim() } else { text.trim() };
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let fields = fields(row, line)?;
        match &mut inputs {
            Some(inputs) => inputs.rows.push(values(&inputs.names, &fields, line, value)?),
            None => inputs = Some(Table { names: names(fields, line)?, rows: Vec::new() }),
        }
    }
}

fn names(fields: Vec<String>, line: u64) -> Result<Vec<String>, Error> {
    let mut seen = HashSet::new();
    for (name, column) in fields.iter().zip(1..) {
        if name.is_empty() {
            return Err(Error::Unnamed { line, column });
        }
        if !seen.insert(name) {
            return Err(Error::Twice { line, column, name: name.clone() });
        }
    }
    Ok(fields)
}

fn values<T>(
    names: &[String],
    fields: &[String],
    line: u64,
    read: &dyn Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Error> {
    let (found, expected) = (fields.len(), names.len());
    if found != expected {
        return Err(Error::Ragged { line, column: found.min(expected) + 1, found, expected });
    }
    let value = |((name, text), column): ((&String, &String), usize)| {
        read(text).ok_or_else(|| Error::Number { line, column, name: name.clone(), text: text.clone() })
    };
    names.iter().zip(fields).zip(1..).map(value).collect()
}

/// An integer, or a truth value as one.
pub fn number(text: &str) -> Option<i128> {
    match text {
        "true" => Some(1),
        "false" => Some(0),
        text => integer(text),
    }
}

/// The fields of a line, without quotes and the blanks around them.
fn fields(row: &str, line: u64) -> Result<Vec<String>, Error> {
    let mut fields = Vec::new();
    let mut rest = row;
    loop {
        let quote = Error::Quote { line, column: fields.len() + 1 };
        rest = rest.trim_start();
        let (field, after) = match rest.strip_prefix('"') {
            Some(opened) => quoted(opened).ok_or(quote)?,
            None => {
                let (field, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                if field.contains('"') {
                    return Err(quote);
                }
                (field.trim_end().to_owned(), after)
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Ok(fields),
        }
    }
}

/// A field whose opening quote has been read, and what follows: nothing, or a comma and more.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut field, mut rest) = (String::new(), text);
    loop {
        let (before, after) = rest.split_once('"')?;
        field += before;
        match after.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => {
                let after = after.trim_start();
                let is_end = after.is_empty() || after.starts_with(',');
                return is_end.then(|| (field.trim().to_owned(), after));
            }
        }
    }
}

/// An integer, decimal or hexadecimal, with a sign or without.
pub(crate) fn integer(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((digits, 10), |digits| (digits, 16));
    // A second sign would be taken.
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let size = u128::from_str_radix(digits, radix).ok()?;
    if is_negative { 0i128.checked_sub_unsigned(size) } else { i128::try_from(size).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, names: &[&str], rows: &[&[i128]]) {
        let inputs = read(text.as_bytes()).unwrap();
        assert_eq!(inputs.names, names, "{text}");
        assert_eq!(inputs.rows, rows, "{text}");
    }

    fn refuse(text: &str, message: &str) {
        assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
    }

    #[test]
    fn rows_are_read_under_their_names() {
        check("a,b\n1,2\n3,4\n", &["a", "b"], &[&[1, 2], &[3, 4]]);
        check("b , a\n 1 ,2", &["b", "a"], &[&[1, 2]]);
        check("a\n", &["a"], &[]);
    }

    #[test]
    fn a_row_has_a_name_at_each_value() {
        let inputs = read("n,k\n7,-1\n".as_bytes()).unwrap();
        assert_eq!(inputs.named().collect::<Vec<_>>(), [[("n".to_owned(), 7), ("k".to_owned(), -1)]]);
    }

    #[test]
    fn numbers_have_many_forms() {
        check(
            "a\n-5\n+5\n0x1F\n-0x10\n0Xff\ntrue\nfalse",
            &["a"],
            &[&[-5], &[5], &[31], &[-16], &[255], &[1], &[0]],
        );
    }

    #[test]
    fn the_least_and_the_largest_are_numbers() {
        assert_eq!(integer(&i128::MIN.to_string()), Some(i128::MIN));
        assert_eq!(integer(&i128::MAX.to_string()), Some(i128::MAX));
        assert_eq!(integer("170141183460469231731687303715884105728"), None);
        assert_eq!(integer("999999999999999999999999999999999999999999"), None);
    }

    #[test]
    fn what_looks_like_a_number_is_none() {
        for text in ["", "-", "0x", "--1", "-+1", "+-1", "0x-1", "1.5", "1e3", "1_0", "0xg", "12a", "٣"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn quotes_and_carriage_returns_say_nothing() {
        check("\"a\",\"b\"\r\n\"1\", \"0x2\" \r\n3,4\r\n", &["a", "b"], &[&[1, 2], &[3, 4]]);
        check("\"a,b\",\"say \"\"c\"\"\"\n1,2", &["a,b", "say \"c\""], &[&[1, 2]]);
    }

    #[test]
    fn blank_lines_and_comments_say_nothing() {
        check("# inputs\n\na,b\n\n# first\n1,2\n   \n  # second\n3,4\n\n", &["a", "b"], &[&[1, 2], &[3, 4]]);
        check("\u{feff}a\n1\n", &["a"], &[&[1]]);
    }

    #[test]
    fn a_ragged_row_is_refused() {
        refuse("a,b\n1,2\n1\n", "line 3, column 2: 1 values for 2 names");
        refuse("a,b\n1,2,3\n", "line 2, column 3: 3 values for 2 names");
        refuse("a,b\n1,2,\n", "line 2, column 3: 3 values for 2 names");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        refuse("a,b\n\n1,x\n", "line 3, column 2: 'x' is no number for 'b'");
        refuse("a,b\n1,\n", "line 2, column 2: '' is no number for 'b'");
        refuse("a\nTrue\n", "line 2, column 1: 'True' is no number for 'a'");
    }

    #[test]
    fn names_are_there_once() {
        refuse("a,b,a\n", "line 1, column 3: 'a' a second time");
        refuse("# c\na,,b\n", "line 2, column 2: a parameter without a name");
        refuse("", "no line names the parameters");
        refuse("# only a comment\n\n", "no line names the parameters");
    }

    #[test]
    fn quotes_have_their_place() {
        refuse("a,\"b\n1,2", "line 1, column 2: a quote out of place");
        refuse("a,b\n\"1\"2,3", "line 2, column 1: a quote out of place");
        refuse("a,b\n1,2\"", "line 2, column 2: a quote out of place");
    }

    #[test]
    fn other_encodings_are_refused() {
        let error = read(&b"a\n\xff\n"[..]).unwrap_err().to_string();
        assert!(error.starts_with("line 2: cannot be read"), "{error}");
    }
}
