//! Pure expressions of instructions.
//!
//! An expression reads variables and nothing else: loads from memory, calls and assignments were
//! lifted into instructions of their own, so that everything inside one expression is evaluated
//! whenever the instruction is. That is why the undefined events of an instruction are just those
//! of the operators in it.

use super::{Const, Op, Sort, VarId};
use std::sync::Arc;

/// Something that has an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// A local variable or parameter that lives in memory ([`super::Var::in_memory`]).
    Local(VarId),
    /// A global, static or string literal by its symbol ([`super::Global::symbol`]).
    Global(Arc<str>),
    /// A function's code.
    Function(Arc<str>),
}

/// Pure expression tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    Const(Const),
    /// Value of a variable that is not in memory.
    Var(VarId),
    /// Address of an object, a bit-vector of the pointer width.
    Addr(Object),
    /// Operator applied to arguments. `signed_arith` marks `Add`, `Sub`, `Mul`, `Neg`, `Shl` of a
    /// signed C type: it wraps (as under `-fwrapv`), and the overflow is at the same time an event.
    Op {
        op: Op,
        args: Vec<Expr>,
        signed_arith: bool,
    },
}

impl Expr {
    pub fn op(op: Op, args: Vec<Expr>) -> Expr {
        Expr::Op { op, args, signed_arith: false }
    }

    pub fn signed(op: Op, args: Vec<Expr>) -> Expr {
        Expr::Op { op, args, signed_arith: true }
    }

    pub fn bv(width: u16, value: i128) -> Expr {
        Expr::Const(Const::bv(width, value))
    }

    /// Marks a constant as what `__LINE__` gave, which depends on where the text stands and not on what
    /// it says. The mark is an operation that changes nothing: `k | k`.
    pub fn marked_line_number(self) -> Expr {
        Expr::op(Op::BitOr, vec![self.clone(), self])
    }

    pub fn is_line_number(&self) -> bool {
        let Expr::Op { op: Op::BitOr, args, .. } = self else { return false };
        matches!(args.as_slice(), [Expr::Const(a), Expr::Const(b)] if a == b)
    }

    /// Returns the sort; `var_sort` tells those of variables.
    pub fn sort(&self, pointer_bits: u16, var_sort: &impl Fn(VarId) -> Sort) -> Sort {
        match self {
            Expr::Const(c) => c.sort(),
            Expr::Var(v) => var_sort(*v),
            Expr::Addr(_) => Sort::Bv(pointer_bits),
            Expr::Op { op, args, .. } => {
                let sorts: Vec<Sort> = args.iter().map(|a| a.sort(pointer_bits, var_sort)).collect();
                op.result_sort(&sorts)
            }
        }
    }

    /// Calls `f` on every variable that the expression reads, left to right, with repeats.
    pub fn for_each_var(&self, f: &mut impl FnMut(VarId)) {
        match self {
            Expr::Var(v) => f(*v),
            Expr::Op { args, .. } => args.iter().for_each(|a| a.for_each_var(f)),
            Expr::Const(_) | Expr::Addr(_) => {}
        }
    }

    /// Whether a constant is added to an address: to an object's, or to a variable that is a pointer.
    pub fn is_offset(&self, is_pointer: &impl Fn(VarId) -> bool) -> bool {
        let address = |mut e: &Expr| loop {
            match e {
                Expr::Addr(_) => return true,
                Expr::Var(v) => return is_pointer(*v),
                Expr::Op { op: Op::Add | Op::Sub, args, .. } if !args.is_empty() => e = &args[0],
                _ => return false,
            }
        };
        match self {
            Expr::Op { op: Op::Add | Op::Sub, args, .. } => {
                matches!(args.as_slice(), [base, Expr::Const(_)] if address(base))
            }
            _ => false,
        }
    }

    /// Calls `f` on every constant, but for those that are added to addresses.
    pub fn for_each_number(&self, is_pointer: &impl Fn(VarId) -> bool, f: &mut impl FnMut(&Const)) {
        match self {
            Expr::Const(c) => f(c),
            Expr::Op { args, .. } => {
                let all = if self.is_offset(is_pointer) { &args[..1] } else { args.as_slice() };
                all.iter().for_each(|a| a.for_each_number(is_pointer, f));
            }
            Expr::Var(_) | Expr::Addr(_) => {}
        }
    }

    /// Calls `f` on every node of the tree, parents first.
    pub fn for_each(&self, f: &mut impl FnMut(&Expr)) {
        f(self);
        if let Expr::Op { args, .. } = self {
            args.iter().for_each(|a| a.for_each(f));
        }
    }
}
