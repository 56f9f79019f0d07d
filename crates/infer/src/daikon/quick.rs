//! Records that look exactly as their point's do, read where they lie.
//!
//! Most of a trace is the same lines again and again. A record that is there as a whole, whose names are as they are
//! declared and whose values are plain decimal numbers is read without making lines of it; whatever is otherwise is left
//! to who reads lines, and means there what it means.

use super::declarations::Point;
use super::names::escaped;
use super::trace::Column;
use super::values::is_held;
use crate::table::Kind;

/// How a record of a point looks.
pub(super) struct Pattern {
    name: Vec<u8>,
    variables: Vec<(Vec<u8>, Column)>,
}

/// What was read.
pub(super) struct Read {
    pub bytes: usize,
    pub lines: u64,
}

impl Pattern {
    pub fn of(point: &Point, columns: &[Column]) -> Pattern {
        let line = |name: &str| format!("{}\n", escaped(name)).into_bytes();
        let variables = point.variables.iter().zip(columns).map(|(v, c)| (line(&v.name), *c)).collect();
        Pattern { name: line(point.name.text()), variables }
    }

    /// Reads the record at the start of a text, blank lines before it aside; `None` where that is not one of this
    /// pattern, or not all of one. The row is made anew.
    pub fn read(&self, text: &[u8], row: &mut Vec<Option<i128>>) -> Option<Read> {
        row.clear();
        let mut lines = 0;
        let blank = text.iter().take_while(|b| **b == b'\n').count();
        let mut rest = text.get(blank..)?.strip_prefix(&*self.name)?;
        if let Some(nonce) = rest.strip_prefix(b"this_invocation_nonce\n") {
            let (_, after) = number(nonce)?;
            (rest, lines) = (after, 2);
        }
        for (name, column) in &self.variables {
            let kind = match column {
                Column::Constant(value) => {
                    row.push(*value);
                    continue;
                }
                Column::Read(kind) => *kind,
                Column::Passed => return None,
            };
            let (n, after) = number(rest.strip_prefix(&**name)?)?;
            if !is_held(kind, n) {
                return None;
            }
            let [b'0' | b'1', b'\n', after @ ..] = after else { return None };
            row.push(Some(if kind == Kind::Pointer { i128::from(n != 0) } else { n }));
            (rest, lines) = (after, lines + 3);
        }
        let rest = rest.strip_prefix(b"\n")?;
        Some(Read { bytes: text.len() - rest.len(), lines: lines + 2 + blank as u64 })
    }
}

/// The decimal number of a line, and what comes behind it.
fn number(text: &[u8]) -> Option<(i128, &[u8])> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    // Of 18 digits none overflows.
    let mut n: i64 = 0;
    let mut count = 0;
    while let Some(digit @ b'0'..=b'9') = digits.get(count) {
        n = 10 * n + i64::from(digit - b'0');
        count += 1;
        if count > 18 {
            return None;
        }
    }
    let rest = digits.get(count..)?.strip_prefix(b"\n")?;
    let n = i128::from(n);
    // A zero in front means another base elsewhere.
    let is_plain = count == 1 || count > 1 && digits.first() != Some(&b'0');
    is_plain.then_some((if is_negative { -n } else { n }, rest))
}
