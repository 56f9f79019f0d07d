//! `math.h`. What IEEE-754 fixes goes through [`Op`]; the rest is the C library of the machine that
//! runs this program, the one that compiled programs use there, too.

use super::model::{Arguments, Model, row};
use crate::ir::{CType, Const, Extended, FloatKind, Op, Rounding, Sort, UndefinedKind};
use crate::machine::Machine;
use crate::stop::Run;

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

/// Makes the rows of a function that is an operator, for `double`, `float` and `long double`.
macro_rules! operators {
    ($($name:literal $name_f:literal $name_l:literal $op:expr, $n:literal;)*) => {
        &[$(
            row($name, |m, a| operator(m, a, $op, $n)),
            row($name_f, |m, a| operator(m, a, $op, $n)),
            row($name_l, |m, a| operator(m, a, $op, $n)),
        )*]
    };
}

const OPERATORS: &[Model] = operators! {
    "fabs" "fabsf" "fabsl" Op::FAbs, 1;
    "sqrt" "sqrtf" "sqrtl" Op::FSqrt, 1;
    "floor" "floorf" "floorl" Op::FRound(Rounding::Floor), 1;
    "ceil" "ceilf" "ceill" Op::FRound(Rounding::Ceil), 1;
    "trunc" "truncf" "truncl" Op::FRound(Rounding::Trunc), 1;
    "round" "roundf" "roundl" Op::FRound(Rounding::Away), 1;
    "rint" "rintf" "rintl" Op::FRound(Rounding::Even), 1;
    "nearbyint" "nearbyintf" "nearbyintl" Op::FRound(Rounding::Even), 1;
    "roundeven" "roundevenf" "roundevenl" Op::FRound(Rounding::Even), 1;
    "fmod" "fmodf" "fmodl" Op::FRem, 2;
    "fmin" "fminf" "fminl" Op::FMin, 2;
    "fmax" "fmaxf" "fmaxl" Op::FMax, 2;
    "copysign" "copysignf" "copysignl" Op::FCopysign, 2;
    "fma" "fmaf" "fmal" Op::FFma, 3;
};

const OTHERS: &[Model] = &[
    row("lround", |_, a| to_integer(a, Rounding::Away)),
    row("lroundf", |_, a| to_integer(a, Rounding::Away)),
    row("lroundl", |_, a| to_integer(a, Rounding::Away)),
    row("llround", |_, a| to_integer(a, Rounding::Away)),
    row("llroundf", |_, a| to_integer(a, Rounding::Away)),
    row("llroundl", |_, a| to_integer(a, Rounding::Away)),
    row("lrint", |_, a| to_integer(a, Rounding::Even)),
    row("lrintf", |_, a| to_integer(a, Rounding::Even)),
    row("lrintl", |_, a| to_integer(a, Rounding::Even)),
    row("llrint", |_, a| to_integer(a, Rounding::Even)),
    row("llrintf", |_, a| to_integer(a, Rounding::Even)),
    row("llrintl", |_, a| to_integer(a, Rounding::Even)),
    row("ldexp", scale),
    row("ldexpf", scale),
    row("scalbn", scale),
    row("scalbnf", scale),
    row("scalbln", scale),
    row("scalblnf", scale),
    row("ldexpl", scale),
    row("scalbnl", scale),
    row("scalblnl", scale),
    row("ilogb", |_, a| a.integer(c::ilogb(a.float(0)?) as i128)),
    row("ilogbf", |_, a| a.integer(c::ilogb(a.float(0)?) as i128)),
    row("frexp", split_exponent),
    row("frexpf", split_exponent),
    row("frexpl", split_extended_exponent),
    row("modf", split_integer),
    row("modff", split_integer),
    row("modfl", split_extended_integer),
    row("isnan", |_, a| a.integer(a.value(0)?.is_nan() as i128)),
    row("isnanl", |_, a| a.integer(a.value(0)?.is_nan() as i128)),
    row("isnanf", |_, a| a.integer(a.float(0)?.is_nan() as i128)),
    row("isinf", infinity_sign),
    row("isinff", infinity_sign),
    row("isinfl", infinity_sign),
    row("isinf_sign", infinity_sign),
    row("finite", |_, a| is_finite(a)),
    row("finitel", |_, a| is_finite(a)),
    row("finitef", |_, a| a.integer(a.float(0)?.is_finite() as i128)),
    row("isfinite", |_, a| is_finite(a)),
    row("isnormal", |_, a| match a.value(0)? {
        Const::F32(b) => a.integer(f32::from_bits(b).is_normal() as i128),
        Const::F80(x) => a.integer(x.is_normal() as i128),
        other => a.integer(other.float().is_some_and(f64::is_normal) as i128),
    }),
    row("huge_val", |_, _| Ok(Some(Const::f64(f64::INFINITY)))),
    row("huge_valf", |_, _| Ok(Some(Const::f32(f32::INFINITY)))),
    row("inf", |_, _| Ok(Some(Const::f64(f64::INFINITY)))),
    row("inff", |_, _| Ok(Some(Const::f32(f32::INFINITY)))),
    row("nan", |_, _| Ok(Some(Const::f64(f64::NAN)))),
    row("huge_vall", |_, _| Ok(Some(Const::F80(Extended::INFINITY)))),
    row("infl", |_, _| Ok(Some(Const::F80(Extended::INFINITY)))),
    row("nanl", |_, _| Ok(Some(Const::F80(Extended::NAN)))),
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
    // The name tells the format: all versions of it share this function.
    let single = a.name.ends_with('f');
    let mut args = Vec::with_capacity(n);
    for i in 0..n {
        args.push(match a.value(i)? {
            wide @ Const::F80(_) if is_extended(a) => wide,
            _ if is_extended(a) => return Err(UndefinedKind::BadCall.into()),
            _ if single => Const::f32(narrow(a, i)?),
            _ => Const::f64(a.float(i)?),
        });
    }
    m.events.open_sign |= op.asks_open_sign(&args);
    let result = op.eval(&args)?;
    if matches!(op, Op::FSqrt | Op::FRem) {
        let floats: Vec<f64> = args.iter().filter_map(|c| c.nearest_f64()).collect();
        finish(m, a, &floats, result.nearest_f64().unwrap_or(0.0))?;
    }
    Ok(Some(result))
}

/// Rounds to an integer of the result's type; out of range is an event.
fn to_integer(a: &Arguments<'_>, rounding: Rounding) -> Run<Option<Const>> {
    let rounded = Op::FRound(rounding).eval(&[a.value(0)?])?;
    Ok(Some(Op::FToS(a.result_bits()).eval(&[rounded])?))
}

fn scale(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let n = a.int(1)?.clamp(i32::MIN as i128, i32::MAX as i128) as i32;
    if let Const::F80(x) = a.value(0)? {
        let r = x.scaled(n);
        if x.is_finite() && !x.is_zero() && (r.is_infinite() || r.is_zero()) {
            m.set_errno(ERANGE)?;
        }
        return Ok(Some(Const::F80(r)));
    }
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

/// Returns an argument of a function of `long double`.
fn extended(a: &Arguments<'_>, i: usize) -> Run<Extended> {
    if let Const::F80(x) = a.value(i)? { Ok(x) } else { Err(UndefinedKind::BadCall.into()) }
}

/// Whether the function is declared with a result of type `long double`.
fn is_extended(a: &Arguments<'_>) -> bool {
    matches!(a.ret, CType::Float(FloatKind::LongDouble))
}

fn split_extended_exponent(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let x = extended(a, 0)?;
    let (fraction, exponent) = if x.is_zero() || !x.is_finite() {
        (x, 0)
    } else {
        let (significand, exponent) = x.parts();
        let e = exponent + 64 - significand.leading_zeros() as i32;
        (x.scaled(-e), e)
    };
    m.memory.store(a.word(1)?, 4, exponent as u32 as u128)?;
    Ok(Some(Const::F80(fraction)))
}

fn split_extended_integer(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let x = Const::F80(extended(a, 0)?);
    let whole = Op::FRound(Rounding::Trunc).eval(&[x])?;
    let rest = if extended(a, 0)?.is_infinite() {
        Const::F80(Extended::ZERO)
    } else {
        Op::FSub.eval(&[x, whole])?
    };
    m.memory.store(a.word(1)?, Sort::F80.bytes(), whole.to_bits())?;
    Ok(Some(Op::FCopysign.eval(&[rest, x])?))
}

fn is_finite(a: &Arguments<'_>) -> Run<Option<Const>> {
    a.integer(match a.value(0)? {
        Const::F80(x) => x.is_finite(),
        _ => a.float(0)?.is_finite(),
    } as i128)
}

fn infinity_sign(_: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    // An infinity stays one.
    let x = match a.value(0)? {
        Const::F80(x) if !x.is_infinite() => 0.0,
        c => c.nearest_f64().ok_or(UndefinedKind::BadCall)?,
    };
    a.integer(if x.is_infinite() { x.signum() as i128 } else { 0 })
}
