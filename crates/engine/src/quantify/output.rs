//! What a path prints, and when two paths print differently.
//!
//! The output of a stream is a sequence of literal bytes and of conversions with their values, as in
//! `docs/design/facts.md`. Calls of `printf`, `fprintf`, `puts`, `putchar`, `fputs` and `fputc` add to it.

use crate::ir::{DataModel, Op, Sort, TermId, TermPool};
use crate::semantics::output::{Piece, pieces, render};

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// Bytes as they are; never two in a row, never none.
    Literal(Vec<u8>),
    /// A value under a conversion.
    Value(String, TermId),
}

/// What a stream got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output(pub Vec<Atom>);

impl Output {
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Atom::Literal(before)) => before.extend_from_slice(bytes),
            _ => self.0.push(Atom::Literal(bytes.to_vec())),
        }
    }

    /// The low byte of a number.
    pub(super) fn character(&mut self, pool: &mut TermPool, value: TermId) {
        let value = match pool.sort(value) {
            Sort::Bv(width) if width > 8 => pool.op(Op::Trunc(8), &[value]),
            _ => value,
        };
        match pool.as_const(value).and_then(|c| c.unsigned()) {
            Some(n) => self.literal(&[(n & 0xff) as u8]),
            None => self.0.push(Atom::Value("%c".to_owned(), value)),
        }
    }

    /// What a format prints; `None`: that is not followed, or an argument does not fit. `text` gives the
    /// bytes of a constant string.
    pub(super) fn formatted(
        &mut self,
        pool: &mut TermPool,
        format: &[u8],
        args: &[TermId],
        model: DataModel,
        text: &dyn Fn(&TermPool, TermId) -> Option<Vec<u8>>,
    ) -> Option<()> {
        let mut args = args.iter();
        for piece in pieces(format, model)? {
            match piece {
                Piece::Literal(bytes) => self.literal(&bytes),
                Piece::Value { conversion, sort } => {
                    let value = *args.next().filter(|a| pool.sort(**a) == sort)?;
                    match pool.as_const(value).and_then(|c| render(&conversion, c, model)) {
                        Some(bytes) => self.literal(&bytes),
                        None if conversion == "%c" => self.character(pool, value),
                        None => self.0.push(Atom::Value(conversion, value)),
                    }
                }
                Piece::String { conversion } => {
                    let bytes = text(pool, *args.next()?).filter(|_| conversion == "%s")?;
                    self.literal(&bytes);
                }
            }
        }
        Some(())
    }
}

/// When two paths, or parts of what they leave, differ: elsewhere they are equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    /// Where this holds they differ.
    pub differ: TermId,
    /// Where this holds, and not `differ`, it is not known.
    pub unknown: TermId,
}

impl Difference {
    /// No difference.
    pub fn none(pool: &mut TermPool) -> Difference {
        Difference { differ: pool.bool(false), unknown: pool.bool(false) }
    }

    /// They differ where all is known so far.
    pub fn certain(&mut self, pool: &mut TermPool) {
        let known = pool.not(self.unknown);
        self.differ = pool.or(self.differ, known);
    }

    /// Nothing more is known.
    pub fn lost(&mut self, pool: &mut TermPool) {
        self.unknown = pool.bool(true);
    }

    /// They differ where two values do.
    pub fn values(&mut self, pool: &mut TermPool, a: TermId, b: TermId) {
        if a == b {
            return;
        }
        if pool.sort(a) != pool.sort(b) {
            return self.lost(pool);
        }
        let same = pool.eq(a, b);
        let other = pool.not(same);
        self.differ = pool.or(self.differ, other);
    }

    /// Both of two differences.
    pub fn and(&mut self, pool: &mut TermPool, other: Difference) {
        self.differ = pool.or(self.differ, other.differ);
        self.unknown = pool.or(self.unknown, other.unknown);
    }
}

/// Compares what two paths print. Different values are different texts only where the text tells where the
/// value's ends.
pub(super) fn difference(pool: &mut TermPool, a: &Output, b: &Output) -> Difference {
    let mut found = Difference::none(pool);
    for (i, pair) in a.0.iter().zip(&b.0).enumerate() {
        match pair {
            (Atom::Literal(x), Atom::Literal(y)) if x == y => {}
            (Atom::Literal(x), Atom::Literal(y)) => {
                let is_last = a.0.len() == i + 1 && b.0.len() == i + 1;
                let is_apart = !x.starts_with(y) && !y.starts_with(x);
                if is_last || is_apart {
                    found.certain(pool);
                } else {
                    found.lost(pool);
                }
                return found;
            }
            (Atom::Value(c, x), Atom::Value(d, y)) if c == d && pool.sort(*x) == pool.sort(*y) => {
                if x == y {
                    continue;
                }
                let same = pool.eq(*x, *y);
                let other = pool.not(same);
                if is_told_apart(a, i) && is_told_apart(b, i) {
                    let known = pool.not(found.unknown);
                    let other = pool.and(known, other);
                    found.differ = pool.or(found.differ, other);
                } else {
                    found.unknown = pool.or(found.unknown, other);
                }
            }
            _ => {
                found.lost(pool);
                return found;
            }
        }
    }
    // One goes on where the other ends, and every atom is a byte at least.
    if a.0.len() != b.0.len() {
        found.certain(pool);
    }
    found
}

/// Whether different values of an atom are different texts whatever follows: it is one byte, or a number
/// without a width that no digit follows.
fn is_told_apart(output: &Output, i: usize) -> bool {
    let Some(Atom::Value(conversion, _)) = output.0.get(i) else { return true };
    let is_number =
        matches!(conversion.as_str(), "%d" | "%u" | "%x" | "%ld" | "%lu" | "%lld" | "%llu" | "%lx");
    let ends = match output.0.get(i + 1) {
        None => true,
        Some(Atom::Literal(bytes)) => bytes.first().is_some_and(|b| !b.is_ascii_hexdigit()),
        Some(Atom::Value(..)) => false,
    };
    conversion == "%c" || is_number && ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Leaf;

    fn value(pool: &mut TermPool, name: &str) -> TermId {
        pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) })
    }

    #[test]
    fn numbers_without_an_end_are_not_told_apart() {
        let mut pool = TermPool::new();
        let (x, y) = (value(&mut pool, "x"), value(&mut pool, "y"));
        let number = |v| Atom::Value("%d".to_owned(), v);
        let of = |pool: &mut TermPool, end: Atom, v| {
            let mut one = Output(vec![number(v), end.clone()]);
            if end == Atom::Literal(Vec::new()) {
                one.0.pop();
            }
            let other = Output(vec![number(x), one.0.get(1).cloned().unwrap_or(number(x))]);
            let d = difference(pool, &one, &other);
            (pool.as_const(d.differ).is_some(), pool.as_const(d.unknown).is_some())
        };
        // 1 and 12 print what 11 and 2 print.
        assert_eq!(of(&mut pool, number(x), y), (true, false));
        assert_eq!(of(&mut pool, Atom::Literal(b"\n".to_vec()), y), (false, true));
        assert_eq!(of(&mut pool, Atom::Literal(b"3".to_vec()), y), (true, false));
    }

    #[test]
    fn texts_that_part_differ_and_parts_of_one_are_joined() {
        let mut pool = TermPool::new();
        let x = value(&mut pool, "x");
        let mut a = Output::default();
        a.literal(b"1");
        a.literal(b"2");
        let mut b = Output::default();
        b.literal(b"12");
        assert_eq!(a, b);
        b.0.push(Atom::Value("%d".to_owned(), x));
        let d = difference(&mut pool, &a, &b);
        assert_eq!(pool.as_const(d.differ), Some(crate::ir::Const::Bool(true)));
    }
}
