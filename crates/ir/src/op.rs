//! Pure operators and their one concrete meaning.
//!
//! [`Op::eval`] is the reference: the interpreter and the constant folder call it, and the SMT
//! encoding is tested against it. Integers wrap; where C leaves an operation undefined (division by
//! zero, shift count out of range, float to integer out of range) `eval` returns the event instead
//! of a value. Floats follow IEEE-754 with round to nearest even and no contraction
//! (`docs/design/machine-semantics.md`).

use super::{Const, Extended, Sort, extended};

/// Rounding of a float to an integral float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rounding {
    Floor,
    Ceil,
    Trunc,
    /// C's `round`: nearest, ties away from zero.
    Away,
    /// C's `rint` and `nearbyint` in the default mode: nearest, ties to even.
    Even,
}

/// Pure operator. Arguments are of equal sort unless said otherwise; the arity is fixed but for
/// `And`, `Or` (any number of truth values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    // Truth values.
    Not,
    And,
    Or,
    /// Identity of two values of any one sort. On floats it is identity of the IEEE value
    /// (`NaN` equals `NaN`, `0.0` differs from `-0.0`); C's `==` is `FEq`.
    Eq,
    /// `[condition, then, else]`.
    Ite,
    // Bit-vectors.
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Neg,
    BitNot,
    BitAnd,
    BitOr,
    BitXor,
    /// Shifts: the count is of the same width as the value, read as unsigned; counts of the width
    /// or more are events.
    Shl,
    LShr,
    AShr,
    Ult,
    Ule,
    Slt,
    Sle,
    /// To this width, which is larger.
    Zext(u16),
    Sext(u16),
    /// Low bits, to this width, which is smaller.
    Trunc(u16),
    /// `[high, low]`, of any widths.
    Concat,
    // Floats.
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// C's `fmod`.
    FRem,
    FNeg,
    FAbs,
    FSqrt,
    /// `[a, b, c]`: `a * b + c` rounded once.
    FFma,
    FRound(Rounding),
    /// C's `fmin`/`fmax`: a NaN loses against a number.
    FMin,
    FMax,
    /// `[magnitude, sign]`.
    FCopysign,
    /// IEEE comparisons: false on NaN.
    FEq,
    FLt,
    FLe,
    FIsNan,
    FIsInf,
    /// Sign bit as a truth value.
    FSignbit,
    // Conversions. The target sort is in the operator.
    /// Between float sorts.
    FToF(Sort),
    /// Signed or unsigned bit-vector to float.
    SToF(Sort),
    UToF(Sort),
    /// Float to bit-vector of this width, towards zero; out of range (after truncation) and NaN
    /// are events.
    FToS(u16),
    FToU(u16),
    /// Bits of a float as a bit-vector, and back.
    FToBits,
    BitsToF(Sort),
}

/// Kinds of undefined behaviour, by the names that reports use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UndefinedKind {
    DivisionByZero,
    /// `INT_MIN / -1` and `INT_MIN % -1`.
    DivisionOverflow,
    ShiftCount,
    FloatToInt,
    SignedOverflow,
    Uninitialised,
    NullDereference,
    OutOfBounds,
    UseAfterFree,
    /// A pointer that points to nothing the interpreter knows.
    BadPointer,
    /// Write to a string literal or `const` object.
    ReadOnly,
    /// An argument of the wrong type or a missing one for a conversion of `printf`/`scanf`.
    FormatMismatch,
    /// A non-`void` function's missing return value was used.
    MissingReturn,
    Unreachable,
    /// Call with arguments that the function's definition does not accept.
    BadCall,
    /// `longjmp` to a call of a function that has ended.
    DeadJump,
    /// An array of variable length with no elements, or with more than an object can have.
    ArrayLength,
}

impl UndefinedKind {
    /// Returns the stable word of the JSON contract.
    pub fn name(self) -> &'static str {
        match self {
            UndefinedKind::DivisionByZero => "division-by-zero",
            UndefinedKind::DivisionOverflow => "division-overflow",
            UndefinedKind::ShiftCount => "shift-count",
            UndefinedKind::FloatToInt => "float-to-int",
            UndefinedKind::SignedOverflow => "overflow",
            UndefinedKind::Uninitialised => "uninitialised",
            UndefinedKind::NullDereference => "null",
            UndefinedKind::OutOfBounds => "bounds",
            UndefinedKind::UseAfterFree => "use-after-free",
            UndefinedKind::BadPointer => "bad-pointer",
            UndefinedKind::ReadOnly => "read-only",
            UndefinedKind::FormatMismatch => "format",
            UndefinedKind::MissingReturn => "missing-return",
            UndefinedKind::Unreachable => "unreachable",
            UndefinedKind::BadCall => "bad-call",
            UndefinedKind::DeadJump => "dead-jump",
            UndefinedKind::ArrayLength => "array-length",
        }
    }
}

impl Op {
    /// Returns the sort of the result for arguments of these sorts (which must fit the operator).
    pub fn result_sort(self, args: &[Sort]) -> Sort {
        use Op::*;
        let first = args.first().copied().unwrap_or(Sort::Bool);
        match self {
            Not | And | Or | Eq | Ult | Ule | Slt | Sle | FEq | FLt | FLe | FIsNan | FIsInf | FSignbit => {
                Sort::Bool
            }
            Ite => args.get(1).copied().unwrap_or(Sort::Bool),
            Zext(w) | Sext(w) | Trunc(w) | FToS(w) | FToU(w) => Sort::Bv(w),
            Concat => Sort::Bv(args.iter().filter_map(|s| s.bits()).sum()),
            FToF(s) | SToF(s) | UToF(s) | BitsToF(s) => s,
            FToBits => Sort::Bv(first.bits().unwrap_or(64)),
            _ => first,
        }
    }

    /// Returns whether the order of the two arguments does not matter for the IEEE or bit-vector
    /// value. `FAdd` and `FMul` commute exactly because NaNs are canonical.
    pub fn commutes(self) -> bool {
        use Op::*;
        matches!(self, And | Or | Eq | Add | Mul | BitAnd | BitOr | BitXor | FAdd | FMul | FEq)
    }

    /// The value on constants that every machine has: none where it is undefined, or has a sign that C leaves open.
    pub fn folded(self, args: &[Const]) -> Option<Const> {
        self.eval(args).ok().filter(|_| !self.asks_open_sign(args))
    }

    /// Whether the value has, or is, a sign that C leaves open: of a NaN, which x86 makes negative, or of the
    /// smaller or greater of two zeros, of which compilers and libraries take either.
    pub fn asks_open_sign(self, args: &[Const]) -> bool {
        match (self, args) {
            (Op::FSignbit | Op::FToBits | Op::FCopysign, [.., last]) => last.is_nan(),
            (Op::FMin | Op::FMax, [a, b]) => {
                // Of different bits, and neither the smaller one.
                !a.is_nan() && a != b && Op::FEq.eval(args) == Ok(Const::TRUE)
            }
            _ => false,
        }
    }

    /// Evaluates on constants.
    ///
    /// Errors: the undefined event, or `BadCall` when the arguments do not fit the operator (which
    /// only a defect of a front end can cause).
    pub fn eval(self, args: &[Const]) -> Result<Const, UndefinedKind> {
        use Const as C;
        use Op::*;
        const BAD: UndefinedKind = UndefinedKind::BadCall;
        // The most frequent case first: the interpreter spends its time here.
        if let [C::Bv { width, bits: a }, C::Bv { width: w2, bits: b }] = args
            && width == w2
            && !matches!(self, Eq | Concat)
        {
            return self.eval_bv2(*width, *a, *b);
        }
        match (self, args) {
            (Not, [C::Bool(a)]) => Ok(C::Bool(!a)),
            (And, _) => args.iter().try_fold(true, |acc, a| Some(acc & a.as_bool()?)).map(C::Bool).ok_or(BAD),
            (Or, _) => args.iter().try_fold(false, |acc, a| Some(acc | a.as_bool()?)).map(C::Bool).ok_or(BAD),
            (Eq, [a, b]) if a.sort() == b.sort() => Ok(C::Bool(a == b)),
            (Ite, [C::Bool(c), a, b]) => Ok(if *c { *a } else { *b }),
            (Concat, [C::Bv { width: wh, bits: h }, C::Bv { width: wl, bits: l }]) if wh + wl <= 128 => {
                Ok(C::Bv { width: wh + wl, bits: (h << wl) | l })
            }
            (Zext(w), [C::Bv { bits, .. }]) => Ok(C::Bv { width: w, bits: *bits }),
            (Sext(w), [a @ C::Bv { .. }]) => Ok(C::bv(w, a.signed().ok_or(BAD)?)),
            (Trunc(w), [C::Bv { bits, .. }]) => Ok(C::Bv { width: w, bits: bits & C::mask(w) }),
            (SToF(s), [a @ C::Bv { .. }]) => int_to_float(s, a.signed().ok_or(BAD)?).ok_or(BAD),
            (UToF(s), [C::Bv { bits, .. }]) => uint_to_float(s, *bits).ok_or(BAD),
            (BitsToF(s), [C::Bv { bits, .. }]) => C::from_bits(s, *bits).ok_or(BAD),
            (FToBits, [C::F32(b)]) => Ok(C::bv(32, *b as i128)),
            (FToBits, [C::F64(b)]) => Ok(C::bv(64, *b as i128)),
            (_, [a @ C::Bv { width, bits }]) => self.eval_bv1(*a, *width, *bits),
            (_, [C::F32(_) | C::F64(_), ..]) => self.eval_float(args),
            (_, [C::F80(_), ..]) => extended::eval(self, args),
            _ => Err(BAD),
        }
    }

    fn eval_bv1(self, a: Const, width: u16, bits: u128) -> Result<Const, UndefinedKind> {
        match self {
            Op::Neg => Ok(Const::bv(width, a.signed().unwrap_or(0).wrapping_neg())),
            Op::BitNot => Ok(Const::Bv { width, bits: !bits & Const::mask(width) }),
            _ => Err(UndefinedKind::BadCall),
        }
    }

    fn eval_bv2(self, width: u16, a: u128, b: u128) -> Result<Const, UndefinedKind> {
        use UndefinedKind::*;
        let signed = |bits: u128| Const::Bv { width, bits }.signed().unwrap_or(0);
        let bv = |v: u128| Ok(Const::Bv { width, bits: v & Const::mask(width) });
        let shift_fits = b < width as u128;
        let signed_min = || a == 1u128 << (width - 1);
        match self {
            Op::Add => bv(a.wrapping_add(b)),
            Op::Sub => bv(a.wrapping_sub(b)),
            Op::Mul => bv(a.wrapping_mul(b)),
            Op::UDiv | Op::URem | Op::SDiv | Op::SRem if b == 0 => Err(DivisionByZero),
            Op::SDiv | Op::SRem if signed_min() && signed(b) == -1 => Err(DivisionOverflow),
            Op::UDiv => bv(a / b),
            Op::URem => bv(a % b),
            Op::SDiv => bv((signed(a) / signed(b)) as u128),
            Op::SRem => bv((signed(a) % signed(b)) as u128),
            Op::BitAnd => bv(a & b),
            Op::BitOr => bv(a | b),
            Op::BitXor => bv(a ^ b),
            Op::Shl | Op::LShr | Op::AShr if !shift_fits => Err(ShiftCount),
            Op::Shl => bv(a << b),
            Op::LShr => bv(a >> b),
            Op::AShr => bv((signed(a) >> b) as u128),
            Op::Ult => Ok(Const::Bool(a < b)),
            Op::Ule => Ok(Const::Bool(a <= b)),
            Op::Slt => Ok(Const::Bool(signed(a) < signed(b))),
            Op::Sle => Ok(Const::Bool(signed(a) <= signed(b))),
            _ => Err(BadCall),
        }
    }

    fn eval_float(self, args: &[Const]) -> Result<Const, UndefinedKind> {
        const BAD: UndefinedKind = UndefinedKind::BadCall;
        // Conversions and predicates need no arithmetic in the narrow format: widening is exact.
        let wide = args[0].float().ok_or(BAD)?;
        match self {
            Op::FIsNan => return Ok(Const::Bool(wide.is_nan())),
            Op::FIsInf => return Ok(Const::Bool(wide.is_infinite())),
            Op::FSignbit => return Ok(Const::Bool(wide.is_sign_negative())),
            Op::FToF(Sort::F32) => return Ok(Const::f32(wide as f32)),
            Op::FToF(Sort::F64) => return Ok(Const::f64(wide)),
            Op::FToF(Sort::F80) => return Ok(Const::F80(Extended::from_f64(wide))),
            Op::FToS(w) => return float_to_int(wide, w, true),
            Op::FToU(w) => return float_to_int(wide, w, false),
            _ => {}
        }
        match args {
            [Const::F32(_), ..] => {
                let v =
                    floats::<f32>(
                        args,
                        |c| if let Const::F32(b) = c { Some(f32::from_bits(*b)) } else { None },
                    )?;
                float_op!(self, v, f32, Const::f32)
            }
            _ => {
                let v =
                    floats::<f64>(
                        args,
                        |c| if let Const::F64(b) = c { Some(f64::from_bits(*b)) } else { None },
                    )?;
                float_op!(self, v, f64, Const::f64)
            }
        }
    }
}

/// Float operators for one format. `fmod`, `sqrt`, `fma` and the roundings of Rust's core library
/// are the exact IEEE ones.
macro_rules! float_op {
    ($op:expr, $v:expr, $t:ty, $wrap:expr) => {{
        let (v, n): ([$t; 3], usize) = $v;
        match ($op, v.get(..n).unwrap_or(&[])) {
            (Op::FAdd, &[a, b]) => Ok($wrap(a + b)),
            (Op::FSub, &[a, b]) => Ok($wrap(a - b)),
            (Op::FMul, &[a, b]) => Ok($wrap(a * b)),
            (Op::FDiv, &[a, b]) => Ok($wrap(a / b)),
            (Op::FRem, &[a, b]) => Ok($wrap(a % b)),
            (Op::FNeg, &[a]) => Ok($wrap(-a)),
            (Op::FAbs, &[a]) => Ok($wrap(a.abs())),
            (Op::FSqrt, &[a]) => Ok($wrap(a.sqrt())),
            (Op::FFma, &[a, b, c]) => Ok($wrap(a.mul_add(b, c))),
            (Op::FRound(r), &[a]) => Ok($wrap(match r {
                Rounding::Floor => a.floor(),
                Rounding::Ceil => a.ceil(),
                Rounding::Trunc => a.trunc(),
                Rounding::Away => a.round(),
                Rounding::Even => a.round_ties_even(),
            })),
            (Op::FMin, &[a, b]) => Ok($wrap(if a.is_nan() {
                b
            } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
                a
            } else {
                b
            })),
            (Op::FMax, &[a, b]) => Ok($wrap(if a.is_nan() {
                b
            } else if b.is_nan() || a > b || (a == b && b.is_sign_negative()) {
                a
            } else {
                b
            })),
            (Op::FCopysign, &[a, b]) => Ok($wrap(a.copysign(b))),
            (Op::FEq, &[a, b]) => Ok(Const::Bool(a == b)),
            (Op::FLt, &[a, b]) => Ok(Const::Bool(a < b)),
            (Op::FLe, &[a, b]) => Ok(Const::Bool(a <= b)),
            _ => Err(UndefinedKind::BadCall),
        }
    }};
}
use float_op;

/// Returns the arguments as floats of one format (at most three, without allocating) and their
/// number.
fn floats<T: Copy + Default>(
    args: &[Const],
    get: impl Fn(&Const) -> Option<T>,
) -> Result<([T; 3], usize), UndefinedKind> {
    let mut out = [T::default(); 3];
    for (i, c) in args.iter().enumerate() {
        *out.get_mut(i).ok_or(UndefinedKind::BadCall)? = get(c).ok_or(UndefinedKind::BadCall)?;
    }
    Ok((out, args.len()))
}

fn int_to_float(sort: Sort, v: i128) -> Option<Const> {
    match sort {
        Sort::F32 => Some(Const::f32(v as f32)),
        Sort::F64 => Some(Const::f64(v as f64)),
        Sort::F80 => Some(Const::F80(Extended::from_signed(v))),
        _ => None,
    }
}

fn uint_to_float(sort: Sort, v: u128) -> Option<Const> {
    match sort {
        Sort::F32 => Some(Const::f32(v as f32)),
        Sort::F64 => Some(Const::f64(v as f64)),
        Sort::F80 => Some(Const::F80(Extended::from_unsigned(v))),
        _ => None,
    }
}

/// Truncates towards zero; the bounds are compared as floats, which is exact because powers of two
/// are representable.
fn float_to_int(v: f64, width: u16, signed: bool) -> Result<Const, UndefinedKind> {
    let t = v.trunc();
    let (low, high) = if signed {
        (-(2f64.powi(width as i32 - 1)), 2f64.powi(width as i32 - 1))
    } else {
        (0.0, 2f64.powi(width as i32))
    };
    if !(t >= low && t < high) {
        return Err(UndefinedKind::FloatToInt);
    }
    let bits = if t < 0.0 { (t as i128) as u128 } else { t as u128 };
    Ok(Const::Bv { width, bits: bits & Const::mask(width) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i(v: i128) -> Const {
        Const::bv(32, v)
    }

    #[test]
    fn integers_wrap_and_report_events() {
        assert_eq!(Op::Add.eval(&[i(i32::MAX as i128), i(1)]), Ok(i(i32::MIN as i128)));
        assert_eq!(Op::SDiv.eval(&[i(-7), i(2)]), Ok(i(-3)));
        assert_eq!(Op::SRem.eval(&[i(-7), i(2)]), Ok(i(-1)));
        assert_eq!(Op::SDiv.eval(&[i(1), i(0)]), Err(UndefinedKind::DivisionByZero));
        assert_eq!(Op::SDiv.eval(&[i(i32::MIN as i128), i(-1)]), Err(UndefinedKind::DivisionOverflow));
        assert_eq!(Op::Shl.eval(&[i(1), i(32)]), Err(UndefinedKind::ShiftCount));
        assert_eq!(Op::AShr.eval(&[i(-8), i(1)]), Ok(i(-4)));
        assert_eq!(Op::LShr.eval(&[Const::bv(8, -8), Const::bv(8, 1)]), Ok(Const::bv(8, 124)));
    }

    #[test]
    fn signs_that_c_leaves_open_are_told() {
        let f = Const::f64;
        for op in [Op::FMin, Op::FMax] {
            assert!(op.asks_open_sign(&[f(0.0), f(-0.0)]) && op.asks_open_sign(&[f(-0.0), f(0.0)]));
            assert_eq!(op.folded(&[f(0.0), f(-0.0)]), None);
            assert!(!op.asks_open_sign(&[f(-0.0), f(-0.0)]) && !op.asks_open_sign(&[f(1.0), f(-0.0)]));
            assert!(!op.asks_open_sign(&[f(f64::NAN), f(0.0)]));
        }
        assert!(Op::FCopysign.asks_open_sign(&[f(1.0), f(f64::NAN)]));
        assert!(!Op::FCopysign.asks_open_sign(&[f(f64::NAN), f(1.0)]));
        assert!(Op::FToBits.asks_open_sign(&[f(f64::NAN)]) && !Op::FAdd.asks_open_sign(&[f(0.0), f(-0.0)]));
    }

    #[test]
    fn floats_are_ieee() {
        assert_eq!(Op::FAdd.eval(&[Const::f32(0.1), Const::f32(0.2)]), Ok(Const::f32(0.1f32 + 0.2f32)));
        assert_eq!(Op::FEq.eval(&[Const::f64(0.0), Const::f64(-0.0)]), Ok(Const::TRUE));
        assert_eq!(Op::Eq.eval(&[Const::f64(0.0), Const::f64(-0.0)]), Ok(Const::FALSE));
        assert_eq!(Op::FEq.eval(&[Const::f64(f64::NAN), Const::f64(f64::NAN)]), Ok(Const::FALSE));
        assert_eq!(Op::FMax.eval(&[Const::f64(f64::NAN), Const::f64(1.0)]), Ok(Const::f64(1.0)));
        assert_eq!(Op::FRound(Rounding::Even).eval(&[Const::f64(2.5)]), Ok(Const::f64(2.0)));
        assert_eq!(Op::FRound(Rounding::Away).eval(&[Const::f64(2.5)]), Ok(Const::f64(3.0)));
    }

    #[test]
    fn float_to_int_bounds_are_exact() {
        assert_eq!(Op::FToS(32).eval(&[Const::f64(2147483647.9)]), Ok(i(2147483647)));
        assert_eq!(Op::FToS(32).eval(&[Const::f64(2147483648.0)]), Err(UndefinedKind::FloatToInt));
        assert_eq!(Op::FToS(32).eval(&[Const::f64(-2147483648.9)]), Ok(i(-2147483648)));
        assert_eq!(Op::FToS(32).eval(&[Const::f64(f64::NAN)]), Err(UndefinedKind::FloatToInt));
        assert_eq!(Op::FToU(8).eval(&[Const::f32(-0.5)]), Ok(Const::bv(8, 0)));
        assert_eq!(Op::FToU(64).eval(&[Const::f64(18446744073709549568.0)]), Ok(Const::bv(64, -2048)));
    }
}
