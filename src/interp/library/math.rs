//! `math.h`. What IEEE-754 fixes goes through [`Op`]; the rest is the C library of the machine that
//! runs this program, the one that compiled programs use there, too.

use super::{Arguments, Model, row};
use crate::interp::machine::{Machine, Run};
use crate::ir::{Const, Op, Rounding};

const EDOM: i32 = 33;
const ERANGE: i32 = 34;

/// Declares functions of the C mathematics library in both precisions.
macro_rules! libm {
    ($($one:ident $one_f:ident)*; $($two:ident $two_f:ident)*) => {
        mod c {
            // SAFETY (`safe fn`): these functions take and return floats by value, accept every
            // float, and touch no memory but `errno` and the floating environment, which belong to
            // the calling thread.
            #[link(name = "m")]
            unsafe extern "C" {
                $(pub safe fn $one(x: f64) -> f64; pub safe fn $one_f(x: f32) -> f32;)*
                $(pub safe fn $two(x: f64, y: f64) -> f64; pub safe fn $two_f(x: f32, y: f32) -> f32;)*
                pub safe fn ldexp(x: f64, n: i32) -> f64;
                pub safe fn ldexpf(x: f32, n: i32) -> f32;
                pub safe fn ilogb(x: f64) -> i32;
            }
        }
        const LIBM: &[Model] = &[
            $(row(stringify!($one), |m, a| one(m, a, c::$one)),
              row(stringify!($one_f), |m, a| one_f(m, a, c::$one_f)),)*
            $(row(stringify!($two), |m, a| two(m, a, c::$two)),
              row(stringify!($two_f), |m, a| two_f(m, a, c::$two_f)),)*
        ];
    };
}

libm! {
    sin sinf cos cosf tan tanf asin asinf acos acosf atan atanf
    sinh sinhf cosh coshf tanh tanhf asinh asinhf acosh acoshf atanh atanhf
    exp expf exp2 exp2f expm1 expm1f log logf log10 log10f log2 log2f log1p log1pf
    cbrt cbrtf erf erff erfc erfcf tgamma tgammaf logb logbf;
    pow powf atan2 atan2f hypot hypotf fdim fdimf remainder remainderf nextafter nextafterf
}

/// Makes the rows of a function that is an operator, for `double` and `float`.
macro_rules! operators {
    ($($name:literal $name_f:literal $op:expr, $n:literal;)*) => {
        &[$(row($name, |m, a| operator(m, a, $op, $n)), row($name_f, |m, a| operator(m, a, $op, $n)),)*]
    };
}

const OPERATORS: &[Model] = operators! {
    "fabs" "fabsf" Op::FAbs, 1;
    "sqrt" "sqrtf" Op::FSqrt, 1;
    "floor" "floorf" Op::FRound(Rounding::Floor), 1;
    "ceil" "ceilf" Op::FRound(Rounding::Ceil), 1;
    "trunc" "truncf" Op::FRound(Rounding::Trunc), 1;
    "round" "roundf" Op::FRound(Rounding::Away), 1;
    "rint" "rintf" Op::FRound(Rounding::Even), 1;
    "nearbyint" "nearbyintf" Op::FRound(Rounding::Even), 1;
    "roundeven" "roundevenf" Op::FRound(Rounding::Even), 1;
    "fmod" "fmodf" Op::FRem, 2;
    "fmin" "fminf" Op::FMin, 2;
    "fmax" "fmaxf" Op::FMax, 2;
    "copysign" "copysignf" Op::FCopysign, 2;
    "fma" "fmaf" Op::FFma, 3;
};

const OTHERS: &[Model] = &[
    row("lround", |_, a| to_integer(a, Rounding::Away)),
    row("lroundf", |_, a| to_integer(a, Rounding::Away)),
    row("llround", |_, a| to_integer(a, Rounding::Away)),
    row("llroundf", |_, a| to_integer(a, Rounding::Away)),
    row("lrint", |_, a| to_integer(a, Rounding::Even)),
    row("lrintf", |_, a| to_integer(a, Rounding::Even)),
    row("llrint", |_, a| to_integer(a, Rounding::Even)),
    row("llrintf", |_, a| to_integer(a, Rounding::Even)),
    row("ldexp", scale),
    row("ldexpf", scale),
    row("scalbn", scale),
    row("scalbnf", scale),
    row("scalbln", scale),
    row("scalblnf", scale),
    row("ilogb", |_, a| a.integer(c::ilogb(a.float(0)?) as i128)),
    row("ilogbf", |_, a| a.integer(c::ilogb(a.float(0)?) as i128)),
    row("frexp", split_exponent),
    row("frexpf", split_exponent),
    row("modf", split_integer),
    row("modff", split_integer),
    row("isnan", |_, a| a.integer(a.float(0)?.is_nan() as i128)),
    row("isnanf", |_, a| a.integer(a.float(0)?.is_nan() as i128)),
    row("isinf", infinity_sign),
    row("isinff", infinity_sign),
    row("isinf_sign", infinity_sign),
    row("finite", |_, a| a.integer(a.float(0)?.is_finite() as i128)),
    row("finitef", |_, a| a.integer(a.float(0)?.is_finite() as i128)),
    row("isfinite", |_, a| a.integer(a.float(0)?.is_finite() as i128)),
    row("isnormal", |_, a| match a.value(0)? {
        Const::F32(b) => a.integer(f32::from_bits(b).is_normal() as i128),
        other => a.integer(other.float().is_some_and(f64::is_normal) as i128),
    }),
    row("huge_val", |_, _| Ok(Some(Const::f64(f64::INFINITY)))),
    row("huge_valf", |_, _| Ok(Some(Const::f32(f32::INFINITY)))),
    row("inf", |_, _| Ok(Some(Const::f64(f64::INFINITY)))),
    row("inff", |_, _| Ok(Some(Const::f32(f32::INFINITY)))),
    row("nan", |_, _| Ok(Some(Const::f64(f64::NAN)))),
    row("nanf", |_, _| Ok(Some(Const::f32(f32::NAN)))),
];

/// All rows.
pub(super) const GROUPS: [&[Model]; 3] = [LIBM, OPERATORS, OTHERS];

/// Returns an argument as `float`, when it was passed as such or fits.
fn narrow(a: &Arguments<'_>, i: usize) -> Run<f32> {
    Ok(a.float(i)? as f32)
}

fn one(m: &mut Machine<'_>, a: &Arguments<'_>, f: extern "C" fn(f64) -> f64) -> Run<Option<Const>> {
    let x = a.float(0)?;
    finish(m, a, &[x], f(x))
}

fn two(m: &mut Machine<'_>, a: &Arguments<'_>, f: extern "C" fn(f64, f64) -> f64) -> Run<Option<Const>> {
    let (x, y) = (a.float(0)?, a.float(1)?);
    finish(m, a, &[x, y], f(x, y))
}

fn one_f(m: &mut Machine<'_>, a: &Arguments<'_>, f: extern "C" fn(f32) -> f32) -> Run<Option<Const>> {
    let x = narrow(a, 0)?;
    let r = f(x);
    finish(m, a, &[x as f64], r as f64)?;
    Ok(Some(Const::f32(r)))
}

fn two_f(m: &mut Machine<'_>, a: &Arguments<'_>, f: extern "C" fn(f32, f32) -> f32) -> Run<Option<Const>> {
    let (x, y) = (narrow(a, 0)?, narrow(a, 1)?);
    let r = f(x, y);
    finish(m, a, &[x as f64, y as f64], r as f64)?;
    Ok(Some(Const::f32(r)))
}

/// Sets `errno` as glibc does: a NaN out of numbers is a domain error; an infinity out of finite
/// numbers, and a zero that exp or pow did not reach exactly, are range errors.
fn finish(m: &mut Machine<'_>, a: &Arguments<'_>, args: &[f64], result: f64) -> Run<Option<Const>> {
    let exponential = ["exp", "exp2", "pow", "ldexp", "scalbn", "scalbln"];
    let name = a.name.strip_suffix('f').unwrap_or(a.name);
    let vanished = result == 0.0
        && exponential.contains(&name)
        && args.iter().all(|x| x.is_finite())
        && args.first() != Some(&0.0);
    if result.is_nan() && !args.iter().any(|x| x.is_nan()) {
        m.set_errno(EDOM)?;
    } else if vanished || (result.is_infinite() && args.iter().all(|x| x.is_finite())) {
        m.set_errno(ERANGE)?;
    }
    Ok(Some(Const::f64(result)))
}

fn operator(m: &mut Machine<'_>, a: &Arguments<'_>, op: Op, n: usize) -> Run<Option<Const>> {
    // The declared result tells the format: both versions of a name share this function.
    let single = a.name.ends_with('f');
    let mut args = Vec::with_capacity(n);
    for i in 0..n {
        args.push(if single { Const::f32(narrow(a, i)?) } else { Const::f64(a.float(i)?) });
    }
    if op == Op::FCopysign && args.get(1).is_some_and(|c| c.is_nan()) {
        m.events.nan_sign = true;
    }
    let result = op.eval(&args)?;
    if matches!(op, Op::FSqrt | Op::FRem) {
        let floats: Vec<f64> = args.iter().filter_map(|c| c.float()).collect();
        finish(m, a, &floats, result.float().unwrap_or(0.0))?;
    }
    Ok(Some(result))
}

/// Rounds to an integer of the result's type; out of range is an event.
fn to_integer(a: &Arguments<'_>, rounding: Rounding) -> Run<Option<Const>> {
    let rounded = Op::FRound(rounding).eval(&[Const::f64(a.float(0)?)])?;
    Ok(Some(Op::FToS(a.result_bits()).eval(&[rounded])?))
}

fn scale(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let n = a.int(1)?.clamp(i32::MIN as i128, i32::MAX as i128) as i32;
    let x = a.float(0)?;
    if a.name.ends_with('f') {
        let r = c::ldexpf(x as f32, n);
        finish(m, a, &[x], r as f64)?;
        return Ok(Some(Const::f32(r)));
    }
    finish(m, a, &[x], c::ldexp(x, n))
}

/// Returns a float result in the function's format.
fn in_format(a: &Arguments<'_>, v: f64) -> Const {
    if a.name.ends_with('f') && a.name != "modf" { Const::f32(v as f32) } else { Const::f64(v) }
}

fn split_exponent(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let x = a.float(0)?;
    let (fraction, exponent) = if x == 0.0 || !x.is_finite() {
        (x, 0)
    } else {
        let e = c::ilogb(x) + 1;
        (c::ldexp(x, -e), e)
    };
    m.memory.store(a.word(1)?, 4, exponent as u32 as u128)?;
    Ok(Some(in_format(a, fraction)))
}

fn split_integer(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let x = a.float(0)?;
    let whole = x.trunc();
    let fraction = if x.is_infinite() { 0f64.copysign(x) } else { (x - whole).copysign(x) };
    let whole = in_format(a, whole);
    let bytes = if matches!(whole, Const::F32(_)) { 4 } else { 8 };
    m.memory.store(a.word(1)?, bytes, whole.to_bits())?;
    Ok(Some(in_format(a, fraction)))
}

fn infinity_sign(_: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let x = a.float(0)?;
    a.integer(if x.is_infinite() { x.signum() as i128 } else { 0 })
}
