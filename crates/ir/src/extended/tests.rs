//! The format against the C compiler's `long double`, and text against the C library's.

use super::*;
use std::fmt::Write as _;
use std::process::Command;

/// Random values of which many are at the edges of the format.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = self.0 ^ self.0 >> 29;
        x.wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ x >> 32
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn value(&mut self) -> Extended {
        let fraction = match self.below(5) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX << self.below(64),
            3 => 1 << self.below(63),
            _ => self.next(),
        };
        let exponent = match self.below(6) {
            0 => self.below(3),
            1 => 0x7fff - self.below(3),
            2 => self.below(0x8000),
            _ => 16383 + 70 - self.below(140),
        };
        let sign = u128::from(self.below(2)) << 79;
        Extended::from_bits(sign | u128::from(exponent) << 64 | u128::from(fraction))
    }
}

fn hex(x: u128) -> String {
    format!("{:#x}ull, {:#x}", x as u64, (x >> 64) as u16)
}

const PRELUDE: &str = r#"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long u64;
static long double ld(u64 low, unsigned short high) {
    long double x = 0;
    memcpy(&x, &low, 8);
    memcpy((char *)&x + 8, &high, 2);
    return x;
}
static void show(long double x) {
    u64 low; unsigned short high;
    memcpy(&low, &x, 8);
    memcpy(&high, (char *)&x + 8, 2);
    if (x != x) { low = 3ull << 62; high = 0x7fff; }
    printf("%04x%016llx\n", high, low);
}
static void show_double(double d) { u64 b; memcpy(&b, &d, 8); if (d != d) b = 0x7ffull << 52 | 1ull << 51; printf("%llx\n", b); }
static void show_float(float d) { unsigned b; memcpy(&b, &d, 4); if (d != d) b = 0x7fc00000; printf("%x\n", b); }
"#;

/// Compiles and runs C statements; `None` where the machine has no compiler or another format.
fn run_c(statements: &str) -> Option<Vec<String>> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return None;
    }
    let dir = tempfile::tempdir().ok()?;
    let (source, program) = (dir.path().join("a.c"), dir.path().join("a"));
    std::fs::write(&source, format!("{PRELUDE}int main(void) {{\n{statements}return 0;\n}}\n")).ok()?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O0", "-w", "-fno-builtin", "-o"]).arg(&program).arg(&source).arg("-lm");
    let built = compiler.output().ok()?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(&program).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// What [`Op::eval`] gives, as the C program writes it.
fn shown(c: Const) -> String {
    match c {
        Const::F80(x) => format!("{:020x}", x.to_bits()),
        Const::Bool(b) => u8::from(b).to_string(),
        Const::Bv { bits, .. } => format!("{bits:x}"),
        Const::F32(b) => format!("{b:x}"),
        Const::F64(b) => format!("{b:x}"),
    }
}

#[test]
fn operators_are_those_of_the_compiler() {
    let mut random = Random(7);
    let binary = [
        (Op::FAdd, "show(a + b)"),
        (Op::FSub, "show(a - b)"),
        (Op::FMul, "show(a * b)"),
        (Op::FDiv, "show(a / b)"),
        (Op::FRem, "show(fmodl(a, b))"),
        (Op::FMin, "show(fminl(a, b))"),
        (Op::FMax, "show(fmaxl(a, b))"),
        (Op::FCopysign, "show(copysignl(a, b))"),
        (Op::FEq, "printf(\"%d\\n\", a == b)"),
        (Op::FLt, "printf(\"%d\\n\", a < b)"),
        (Op::FLe, "printf(\"%d\\n\", a <= b)"),
        (Op::FFma, "show(fmal(a, b, c))"),
    ];
    let unary = [
        (Op::FNeg, "show(-a)"),
        (Op::FAbs, "show(fabsl(a))"),
        (Op::FSqrt, "show(sqrtl(a))"),
        (Op::FRound(Rounding::Floor), "show(floorl(a))"),
        (Op::FRound(Rounding::Ceil), "show(ceill(a))"),
        (Op::FRound(Rounding::Trunc), "show(truncl(a))"),
        (Op::FRound(Rounding::Away), "show(roundl(a))"),
        (Op::FRound(Rounding::Even), "show(rintl(a))"),
        (Op::FIsNan, "printf(\"%d\\n\", a != a)"),
        (Op::FToF(Sort::F32), "show_float((float)a)"),
        (Op::FToF(Sort::F64), "show_double((double)a)"),
        (Op::FToS(32), "printf(\"%x\\n\", (int)a)"),
        (Op::FToS(64), "printf(\"%llx\\n\", (long long)a)"),
        (Op::FToU(64), "printf(\"%llx\\n\", (u64)a)"),
        (Op::FToU(8), "printf(\"%x\\n\", (unsigned char)a)"),
    ];
    let (mut statements, mut expected) = (String::from("long double a, b, c;\n"), Vec::new());
    let mut ask = |op: Op, values: &[Extended; 3], n: usize, call: &str| {
        let args: Vec<Const> = values[..n].iter().map(|x| Const::F80(*x)).collect();
        // Where C leaves it open there is nothing to compare.
        let Ok(result) = op.eval(&args) else { return };
        let open_zero = matches!(op, Op::FMin | Op::FMax) && values[0].is_zero() && values[1].is_zero();
        if open_zero || (op == Op::FCopysign && values.iter().any(|x| x.is_nan())) {
            return;
        }
        let [a, b, c] = values.map(|x| hex(x.to_bits()));
        writeln!(statements, "a = ld({a}); b = ld({b}); c = ld({c}); {call};").unwrap();
        expected.push((format!("{op:?} of {values:?}"), shown(result)));
    };
    for _ in 0..150 {
        for (op, call) in binary {
            let n = if op == Op::FFma { 3 } else { 2 };
            let mut values = [random.value(), random.value(), random.value()];
            if random.below(4) == 0 {
                values[1] = values[0];
            }
            ask(op, &values, n, call);
        }
        for (op, call) in unary {
            ask(op, &[random.value(), Extended::ZERO, Extended::ZERO], 1, call);
        }
    }
    let Some(lines) = run_c(&statements) else { return };
    assert_eq!(lines.len(), expected.len());
    for (line, (what, ours)) in lines.iter().zip(&expected) {
        assert_eq!(line, ours, "{what}");
    }
}

#[test]
fn conversions_are_those_of_the_compiler() {
    let mut random = Random(8);
    let (mut statements, mut expected) = (String::new(), Vec::new());
    for _ in 0..300 {
        let bits = random.next() >> random.below(64);
        let from = [
            (
                Op::SToF(Sort::F80),
                Const::bv(64, bits.into()),
                format!("show((long double)(long long){bits}ull);"),
            ),
            (Op::UToF(Sort::F80), Const::bv(64, bits.into()), format!("show((long double){bits}ull);")),
            (Op::SToF(Sort::F80), Const::bv(32, bits.into()), format!("show((long double)(int){bits}ull);")),
            (
                Op::FToF(Sort::F80),
                Const::f64(f64::from_bits(bits)),
                format!("{{ u64 b = {bits}ull; double d; memcpy(&d, &b, 8); show(d); }}"),
            ),
        ];
        for (op, c, statement) in from {
            writeln!(statements, "{statement}").unwrap();
            expected.push((format!("{op:?} of {c:?}"), shown(op.eval(&[c]).unwrap())));
        }
    }
    let Some(lines) = run_c(&statements) else { return };
    for (line, (what, ours)) in lines.iter().zip(&expected) {
        assert_eq!(line, ours, "{what}");
    }
}

#[test]
fn texts_are_those_of_the_library() {
    let mut random = Random(9);
    let (mut statements, mut expected) = (String::new(), Vec::new());
    for i in 0..200 {
        let x = random.value().abs();
        if !x.is_finite() {
            continue;
        }
        let (precision, decimal) = (random.below(30) as usize, Decimal::of(x));
        let literal = x.to_string();
        writeln!(statements, "show({literal});").unwrap();
        expected.push((format!("literal {literal}"), shown(Const::F80(x))));
        let of = hex(x.to_bits());
        writeln!(statements, "printf(\"%.{precision}Lf\\n\", ld({of}));").unwrap();
        expected.push((format!("%.{precision}Lf of {literal}"), decimal.fixed(precision)));
        let (mut digits, exponent) = decimal.scientific(precision);
        if precision > 0 {
            digits.insert(1, '.');
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        writeln!(statements, "printf(\"%.{precision}Le\\n\", ld({of}));").unwrap();
        expected
            .push((format!("%.{precision}Le of {literal}"), format!("{digits}e{sign}{:02}", exponent.abs())));
        let text = format!("{}.{}e{}", random.next() >> random.below(64), random.next(), i64::from(i) - 100);
        writeln!(statements, "show(strtold(\"{text}\", 0));").unwrap();
        expected.push((text.clone(), shown(Const::F80(Extended::parse(&text).unwrap().0))));
    }
    let Some(lines) = run_c(&statements) else { return };
    for (line, (what, ours)) in lines.iter().zip(&expected) {
        assert_eq!(line, ours, "{what}");
    }
}

#[test]
fn patterns_of_no_value_are_told() {
    assert!(Extended::is_value(Extended::from_f64(-2.5).to_bits()));
    assert!(Extended::is_value(1) && Extended::is_value(0));
    for pattern in [1 << 63, 1 << 64, 0x7fff << 64, 0x7fff << 64 | 1] {
        assert!(!Extended::is_value(pattern), "{pattern:x}");
        assert!(Extended::is_value(Extended::from_bits(pattern).to_bits()), "{pattern:x}");
    }
}
