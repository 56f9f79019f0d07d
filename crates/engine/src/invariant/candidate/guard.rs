//! Guards: comparisons of one value with a number, under which other things hold.

use crate::invariant::candidate::observed::number;
use crate::ir::{CType, Const, Op, TermId, TermPool};

/// Comparison of one value with a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Guard {
    pub x: String,
    pub test: Test,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Test {
    AtLeast(i128),
    AtMost(i128),
    Is(i128),
    IsNot(i128),
    Null,
    NonNull,
}

impl Guard {
    pub fn text(&self) -> String {
        let x = &self.x;
        match self.test {
            Test::AtLeast(1) => format!("{x} > 0"),
            Test::AtLeast(k) => format!("{x} >= {k}"),
            Test::AtMost(-1) => format!("{x} < 0"),
            Test::AtMost(k) => format!("{x} <= {k}"),
            Test::Is(k) => format!("{x} == {k}"),
            Test::IsNot(k) => format!("{x} != {k}"),
            Test::Null => format!("{x} == NULL"),
            Test::NonNull => format!("{x} != NULL"),
        }
    }

    /// Evaluates on one execution; `None` when the value is missing.
    pub fn holds(&self, value: &dyn Fn(&str) -> Option<(Const, CType)>) -> Option<bool> {
        let (c, ty) = value(&self.x)?;
        self.test.holds(c, &ty)
    }

    /// The guard as a term.
    pub fn term(
        &self,
        pool: &mut TermPool,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> Option<TermId> {
        let (t, ty) = value(&self.x)?;
        let width = pool.sort(t).bits()?;
        let (k, order) = match self.test {
            Test::AtLeast(k) | Test::AtMost(k) => (k, true),
            Test::Is(k) | Test::IsNot(k) => (k, false),
            Test::Null | Test::NonNull => (0, false),
        };
        let k = pool.bv(width, k);
        if order {
            let op = if ty.is_signed() { Op::Sle } else { Op::Ule };
            let sides = if matches!(self.test, Test::AtLeast(_)) { [k, t] } else { [t, k] };
            return Some(pool.op(op, &sides));
        }
        let equal = pool.eq(t, k);
        Some(if matches!(self.test, Test::IsNot(_) | Test::NonNull) { pool.not(equal) } else { equal })
    }
}

impl Test {
    pub(in crate::invariant) fn holds(self, c: Const, ty: &CType) -> Option<bool> {
        let n = || number(c, ty);
        Some(match self {
            Test::AtLeast(k) => n()? >= k,
            Test::AtMost(k) => n()? <= k,
            Test::Is(k) => n()? == k,
            Test::IsNot(k) => n()? != k,
            Test::Null => c.to_bits() == 0,
            Test::NonNull => c.to_bits() != 0,
        })
    }

    /// What is the opposite, under which other things hold.
    pub(super) fn opposite(self) -> Test {
        match self {
            Test::AtLeast(k) => Test::AtMost(k - 1),
            Test::AtMost(k) => Test::AtLeast(k + 1),
            Test::Is(k) => Test::IsNot(k),
            Test::IsNot(k) => Test::Is(k),
            Test::Null => Test::NonNull,
            Test::NonNull => Test::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::integer;

    const TESTS: [(Test, &str); 9] = [
        (Test::AtLeast(1), "x > 0"),
        (Test::AtLeast(-2), "x >= -2"),
        (Test::AtMost(-1), "x < 0"),
        (Test::AtMost(3), "x <= 3"),
        (Test::Is(-1), "x == -1"),
        (Test::Is(5), "x == 5"),
        (Test::IsNot(5), "x != 5"),
        (Test::Null, "x == NULL"),
        (Test::NonNull, "x != NULL"),
    ];

    fn guard(test: Test) -> Guard {
        Guard { x: "x".into(), test }
    }

    #[test]
    fn a_guard_reads_as_a_person_writes_it() {
        for (test, text) in TESTS {
            assert_eq!(guard(test).text(), text);
        }
    }

    #[test]
    fn the_term_of_a_guard_says_what_it_is_on_rows() {
        for (signed, range) in [(true, -8..8), (false, 0..16)] {
            let ty = integer(4, signed);
            for (k, (test, text)) in range.flat_map(|k| TESTS.map(|t| (k, t))) {
                if !signed && (text.contains('-') || test == Test::AtMost(-1)) {
                    continue;
                }
                let mut pool = TermPool::new();
                let x = pool.bv(4, k);
                let t = guard(test).term(&mut pool, &|_| Some((x, ty.clone()))).expect(text);
                let holds = guard(test).holds(&|_| Some((Const::bv(4, k), ty.clone())));
                assert_eq!(pool.as_const(t).and_then(Const::as_bool), holds, "{text} of {k}");
            }
        }
    }

    #[test]
    fn the_opposite_of_a_test_holds_where_it_does_not() {
        let ty = integer(4, true);
        for (k, (test, text)) in (-8..8).flat_map(|k| TESTS.map(|t| (k, t))) {
            let c = Const::bv(4, k);
            assert_eq!(test.opposite().holds(c, &ty), test.holds(c, &ty).map(|b| !b), "{text} of {k}");
        }
    }
}
