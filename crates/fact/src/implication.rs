//! What follows from what, by rules on trees: before a solver is asked, and where none is at hand.
//!
//! Every rule holds in C's arithmetic, whatever the types: numbers are compared only with numbers of the same
//! sign and suffix, since `x >= -1` means something else of an unsigned `x`; no bound is made sharper by one,
//! since `x` may be a float; and equations of two values, which in facts mean identity, give no order, since
//! both may be NaN.

use crate::formula::{Claim, Formula};
use crate::syntax::{Binary, Expression, Integer, Kind, Unary};

/// Whether formulas that hold together say a further one. No is no answer.
pub fn follows(premises: &[&Formula], goal: &Formula) -> bool {
    let mut known: Vec<&Expression> = goal.conditions().iter().flat_map(|c| c.chain(Binary::And)).collect();
    let given = known.clone();
    for premise in premises {
        let is_given = |c: &Expression| c.chain(Binary::And).into_iter().all(|part| entailed(&given, part));
        if premise.conditions().iter().all(is_given) {
            if premise.claim() == goal.claim() && *premise.claim() != Claim::Words {
                return true;
            }
            known.extend(premise.holds().map(|e| e.chain(Binary::And)).into_iter().flatten());
        }
    }
    goal.holds().is_some_and(|e| e.chain(Binary::And).into_iter().all(|part| entailed(&known, part)))
}

/// Whether one of some expressions entails another.
fn entailed(known: &[&Expression], goal: &Expression) -> bool {
    known.iter().any(|k| entails(k, goal))
}

/// Whether one condition entails another, each for itself.
pub fn entails(known: &Expression, goal: &Expression) -> bool {
    let alternatives = known.chain(Binary::Or);
    if alternatives.len() > 1 {
        return alternatives.into_iter().all(|a| entails(a, goal));
    }
    let both = known.chain(Binary::And);
    if both.len() > 1 {
        return both.into_iter().any(|k| entails(k, goal));
    }
    if let parts @ [_, _, ..] = goal.chain(Binary::Or).as_slice() {
        return parts.iter().any(|g| entails(known, g));
    }
    if let parts @ [_, _, ..] = goal.chain(Binary::And).as_slice() {
        return parts.iter().all(|g| entails(known, g));
    }
    known == goal || compared(known, goal)
}

fn compared(known: &Expression, goal: &Expression) -> bool {
    let (Some((op, left, right)), Some((wanted, l, r))) = (known.comparison(), goal.comparison()) else {
        return false;
    };
    // The sides of the goal as those of what is known stand.
    let turned = |op: Binary| op.turned().unwrap_or(op);
    for (op, left, right) in [(op, left, right), (turned(op), right, left)] {
        for (wanted, l, r) in [(wanted, l, r), (turned(wanted), r, l)] {
            if left == l
                && (right == r && implies(op, wanted, literal(r).is_some()) || bounds(op, right, wanted, r))
            {
                return true;
            }
        }
    }
    false
}

/// Whether a comparison of two sides gives another one of the same. `of_number`: one side is a number.
fn implies(op: Binary, wanted: Binary, of_number: bool) -> bool {
    use Binary::{Eq, Ge, Gt, Le, Lt, Ne};
    match op {
        Eq => wanted == Eq || of_number && matches!(wanted, Le | Ge),
        Lt => matches!(wanted, Lt | Le | Ne),
        Gt => matches!(wanted, Gt | Ge | Ne),
        _ => op == wanted,
    }
}

/// Whether a bound by one number gives a bound by another.
fn bounds(op: Binary, by: &Expression, wanted: Binary, than: &Expression) -> bool {
    use Binary::{Eq, Ge, Gt, Le, Lt, Ne};
    let (Some(a), Some(b)) = (literal(by), literal(than)) else { return false };
    if a.suffix != b.suffix || (a.value < 0) != (b.value < 0) {
        return false;
    }
    let (a, b) = (a.value, b.value);
    match (op, wanted) {
        (Eq | Le, Lt) | (Eq | Le | Lt, Ne) if op != Eq => a < b || op == Lt && a == b,
        (Eq, Lt) => a < b,
        (Eq, Gt) => a > b,
        (Eq, Ne) => a != b,
        (Eq | Le | Lt, Le) | (Lt, Lt) => a <= b,
        (Eq | Ge | Gt, Ge) | (Gt, Gt) => a >= b,
        (Ge, Gt | Ne) => a > b,
        (Gt, Ne) => a >= b,
        _ => false,
    }
}

/// A number as it is written.
struct Literal {
    value: i128,
    suffix: (bool, u8, bool),
}

fn literal(e: &Expression) -> Option<Literal> {
    match &e.kind {
        Kind::Integer(Integer { value, unsigned, longs, hexadecimal }) => {
            Some(Literal { value: i128::from(*value), suffix: (*unsigned, *longs, *hexadecimal) })
        }
        Kind::Character(c) => Some(Literal { value: i128::from(*c), suffix: (false, 0, false) }),
        Kind::Unary(Unary::Minus, inner) => {
            literal(inner).filter(|l| l.value > 0 && !l.suffix.0).map(|l| Literal { value: -l.value, ..l })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(premises: &[&str], goal: &str, expected: bool) {
        let premises: Vec<Formula> = premises.iter().map(|p| Formula::read(*p)).collect();
        let found = follows(&premises.iter().collect::<Vec<_>>(), &Formula::read(goal));
        assert_eq!(found, expected, "{premises:?} give {goal}");
    }

    #[test]
    fn bounds_give_looser_ones() {
        check(&["x >= 3"], "x >= 1", true);
        check(&["x >= 3"], "x > 2", true);
        check(&["x >= 3"], "0 <= x", true);
        check(&["x > 3"], "x != 3", true);
        check(&["x >= 1"], "x >= 3", false);
        check(&["x < 3"], "x <= 3", true);
        check(&["x <= 3"], "x < 3", false);
        check(&["x == 5"], "x <= 7", true);
        check(&["x == 5"], "x != 6", true);
        check(&["x == 5"], "x != 5", false);
        check(&["c == 'a'"], "c >= 'A'", true);
    }

    #[test]
    fn signs_and_types_are_not_mixed() {
        check(&["x >= 3"], "x >= -1", false);
        check(&["x >= -1"], "x >= -5", true);
        check(&["x >= 5u"], "x >= 3", false);
        check(&["x == y"], "x <= y", false);
        check(&["x < y"], "y > x", true);
        check(&["x < y"], "y != x", true);
        check(&["x > 0"], "x >= 1", false);
    }

    #[test]
    fn alternatives_and_conditions() {
        check(&["\\result == -1 || \\result == -3"], "\\result >= -3", true);
        check(&["\\result == -1 || \\result == 3"], "\\result >= -1", false);
        check(&["x == 1"], "x == 1 || x == 2", true);
        check(&["x >= 1 && y == 2"], "y <= 2", true);
        check(&["n < 0 ==> x == 1"], "n < 0 && m ==> x >= 1", true);
        check(&["n < 0 ==> x == 1"], "n < 5 ==> x >= 1", false);
        check(&["n < 5 ==> x == 1"], "n < 0 ==> x == 1", true);
        check(&["n > 5 ==> x == 1"], "n > 0 ==> x == 1", false);
        check(&["n <= 9 ==> x == 1"], "n <= 5 ==> x == 1", true);
        check(&["n < 0 ==> calls f(n)"], "n < 0 ==> calls f(n)", true);
        check(&["calls f(n)"], "calls f(m)", false);
        check(&["x == (n ? ... : 1)"], "x == (n ? ... : 1)", false);
    }
}
