//! The base of an address: what it is computed from, and how far from there it is.
//!
//! An access whose address is based on an object stays within that object, since anything else is undefined (C17
//! 6.5.6). Whoever tells accesses apart (mod-ref, difference verification, the evaluator's places) asks here.

use crate::ir::{Expr, Object, Op, VarId};

/// What an address is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<'e> {
    Object(&'e Object),
    /// What a pointer leads to that a variable holds.
    Behind(VarId),
}

/// Returns the base of an address and the bytes from there, where these are constant. `leads`: of which variables
/// is it known that what they lead to is one object's. An address that others take part in has no base.
pub fn based<'e>(e: &'e Expr, leads: &dyn Fn(VarId) -> bool) -> Option<(Base<'e>, Option<i128>)> {
    match e {
        Expr::Addr(object) => Some((Base::Object(object), Some(0))),
        Expr::Var(v) => leads(*v).then_some((Base::Behind(*v), Some(0))),
        Expr::Op { op: op @ (Op::Add | Op::Sub), args, .. } => {
            let [a, b] = args.as_slice() else { return None };
            let ((base, at), by) = match (based(a, leads), based(b, leads)) {
                (Some(base), None) => (base, b),
                (None, Some(base)) if *op == Op::Add => (base, a),
                _ => return None,
            };
            let mut is_plain = true;
            by.for_each(&mut |part| is_plain &= !matches!(part, Expr::Addr(_)));
            let constant = if let Expr::Const(c) = by { c.signed() } else { None };
            let moved = at.zip(constant).and_then(|(at, k)| match op {
                Op::Sub => at.checked_sub(k),
                _ => at.checked_add(k),
            });
            is_plain.then_some((base, moved))
        }
        _ => None,
    }
}

/// Returns the object that an address is based on.
pub fn object(e: &Expr) -> Option<(&Object, Option<i128>)> {
    match based(e, &|_| false)? {
        (Base::Object(object), at) => Some((object, at)),
        (Base::Behind(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::v;

    fn at(k: u32) -> Expr {
        Expr::Addr(Object::Local(VarId(k)))
    }

    fn sum(op: Op, a: Expr, b: Expr) -> Expr {
        Expr::op(op, vec![a, b])
    }

    #[test]
    fn the_base_is_found_behind_sums() {
        let local = Object::Local(VarId(3));
        let four = || Expr::bv(64, 4);
        assert_eq!(object(&at(3)), Some((&local, Some(0))));
        assert_eq!(object(&sum(Op::Add, four(), at(3))), Some((&local, Some(4))));
        assert_eq!(object(&sum(Op::Sub, sum(Op::Add, at(3), four()), four())), Some((&local, Some(0))));
        assert_eq!(object(&sum(Op::Add, at(3), v(0))), Some((&local, None)));
        assert_eq!(object(&sum(Op::Sub, four(), at(3))), None, "it is an offset there");
        assert_eq!(object(&v(0)), None);
    }

    #[test]
    fn an_address_of_several_objects_has_no_base() {
        assert_eq!(object(&sum(Op::Sub, at(1), at(2))), None);
        let masked = Expr::op(Op::And, vec![at(2), Expr::bv(64, 7)]);
        assert_eq!(object(&sum(Op::Add, at(1), masked)), None);
    }

    #[test]
    fn variables_lead_where_that_is_known() {
        let moved = sum(Op::Add, v(0), Expr::bv(64, 8));
        assert_eq!(based(&moved, &|v| v == VarId(0)), Some((Base::Behind(VarId(0)), Some(8))));
        assert_eq!(based(&moved, &|_| false), None);
        assert_eq!(based(&sum(Op::Add, at(1), v(0)), &|_| true), None, "either may be the base");
    }
}
