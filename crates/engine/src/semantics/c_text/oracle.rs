//! Rendered C against the meaning of terms: random terms become functions of one C program, which
//! is compiled and run on inputs on which the terms have a value. Skipped without `cc`.

use super::*;
use crate::ir::eval::{Assignment, Program};
use crate::ir::{Const, FloatKind, Rounding};
use crate::testing::Random;
use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};
use std::process::Command;

/// Parameters: name, C type, IR type.
fn parameters() -> Vec<(&'static str, &'static str, CType)> {
    let int = |bits, signed, name: &str| CType::Int { bits, signed, name: name.into() };
    vec![
        ("x", "int", int(32, true, "int")),
        ("y", "int", int(32, true, "int")),
        ("u", "unsigned", int(32, false, "unsigned int")),
        ("v", "unsigned", int(32, false, "unsigned int")),
        ("c", "char", int(8, true, "char")),
        ("b", "unsigned char", int(8, false, "unsigned char")),
        ("h", "short", int(16, true, "short")),
        ("l", "long", int(64, true, "long")),
        ("m", "unsigned long", int(64, false, "unsigned long")),
        ("f", "float", CType::Float(FloatKind::F32)),
        ("g", "float", CType::Float(FloatKind::F32)),
        ("d", "double", CType::Float(FloatKind::F64)),
        ("e", "double", CType::Float(FloatKind::F64)),
        ("k", "long double", CType::Float(FloatKind::LongDouble)),
    ]
}

/// Makes up terms.
struct Terms(Random);

impl Deref for Terms {
    type Target = Random;

    fn deref(&self) -> &Random {
        &self.0
    }
}

impl DerefMut for Terms {
    fn deref_mut(&mut self) -> &mut Random {
        &mut self.0
    }
}

impl Terms {
    fn constant(&mut self, sort: Sort) -> Const {
        const FLOATS: [f64; 10] = [0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 3.0, 1e10, f64::INFINITY, -2.5];
        match sort {
            Sort::Bv(width) => {
                let shift = self.below(width.into());
                let small = [0, 1, 2, 3, 10, 255, -1, -2, 97][self.below(9) as usize];
                match self.below(4) {
                    0 => Const::bv(width, (self.draw() >> (64 - width) >> shift).into()),
                    1 => Const::bv(width, (1i128 << (width - 1)) - self.below(2) as i128),
                    _ => Const::bv(width, small),
                }
            }
            Sort::F32 => Const::f32(self.pick(&FLOATS) as f32),
            Sort::F64 => Const::f64(self.pick(&FLOATS)),
            Sort::F80 => {
                let near = Const::of_f64(sort, self.pick(&FLOATS)).map_or(0, Const::to_bits);
                Const::from_bits(sort, near ^ u128::from(self.below(2))).unwrap_or(Const::FALSE)
            }
            _ => Const::Bool(self.below(2) == 0),
        }
    }

    /// Makes a term of a sort.
    fn term(&mut self, pool: &mut TermPool, sort: Sort, depth: u32) -> TermId {
        if depth == 0 || self.below(8) == 0 {
            return self.atom(pool, sort);
        }
        let d = depth - 1;
        if self.below(8) == 0 {
            let c = self.term(pool, Sort::Bool, d);
            let (a, b) = (self.term(pool, sort, d), self.term(pool, sort, d));
            return pool.op(Op::Ite, &[c, a, b]);
        }
        match sort {
            Sort::Bool => self.condition(pool, d),
            Sort::Bv(width) => self.integer(pool, width, d),
            _ => self.float(pool, sort, d),
        }
    }

    fn atom(&mut self, pool: &mut TermPool, sort: Sort) -> TermId {
        let parameters = parameters();
        let fitting: Vec<&str> =
            parameters.iter().filter(|p| p.2.sort(64) == Some(sort)).map(|p| p.0).collect();
        if fitting.is_empty() || self.below(4) == 0 {
            let c = self.constant(sort);
            return pool.constant(c);
        }
        let name = self.pick(&fitting);
        pool.leaf(Leaf::Param { name: name.into(), sort })
    }

    fn condition(&mut self, pool: &mut TermPool, d: u32) -> TermId {
        use Op::*;
        match self.below(4) {
            0 => {
                let (a, b) = (self.term(pool, Sort::Bool, d), self.term(pool, Sort::Bool, d));
                let op = self.pick(&[And, Or, Or, Eq]);
                pool.op(op, &[a, b])
            }
            1 => {
                let a = self.term(pool, Sort::Bool, d);
                pool.op(Not, &[a])
            }
            2 => {
                let sort = self.pick(&[Sort::F32, Sort::F64, Sort::F80]);
                let (a, b) = (self.term(pool, sort, d), self.term(pool, sort, d));
                let op = self.pick(&[FEq, FLt, FLe, Eq]);
                pool.op(op, &[a, b])
            }
            _ => {
                let sort = Sort::Bv(self.pick(&[8, 16, 32, 32, 64]));
                let (a, b) = (self.term(pool, sort, d), self.term(pool, sort, d));
                let op = self.pick(&[Eq, Slt, Sle, Ult, Ule]);
                pool.op(op, &[a, b])
            }
        }
    }

    fn integer(&mut self, pool: &mut TermPool, width: u16, d: u32) -> TermId {
        use Op::*;
        match self.below(8) {
            0 => {
                let from = self.pick(&[8u16, 16, 32, 64]);
                let a = self.term(pool, Sort::Bv(from), d);
                let op = match from.cmp(&width) {
                    std::cmp::Ordering::Less => self.pick(&[Zext(width), Sext(width)]),
                    std::cmp::Ordering::Greater => Trunc(width),
                    std::cmp::Ordering::Equal => self.pick(&[Neg, BitNot]),
                };
                pool.op(op, &[a])
            }
            1 => {
                let sort = self.pick(&[Sort::F32, Sort::F64, Sort::F80]);
                let a = self.term(pool, sort, d);
                let op = self.pick(&[FToS(width), FToU(width)]);
                pool.op(op, &[a])
            }
            2 => {
                let (a, k) = (self.term(pool, Sort::Bv(width), d), self.below(width.into()));
                let k = pool.bv(width, k.into());
                let op = self.pick(&[Shl, LShr, AShr]);
                pool.op(op, &[a, k])
            }
            _ => {
                let (a, b) = (self.term(pool, Sort::Bv(width), d), self.term(pool, Sort::Bv(width), d));
                let op = self.pick(&[
                    Add, Add, Sub, Sub, Mul, Mul, UDiv, SDiv, URem, SRem, BitAnd, BitOr, BitXor, Shl, LShr,
                    AShr,
                ]);
                pool.op(op, &[a, b])
            }
        }
    }

    fn float(&mut self, pool: &mut TermPool, sort: Sort, d: u32) -> TermId {
        use Op::*;
        match self.below(6) {
            0 => {
                let width = self.pick(&[8, 16, 32, 64]);
                let a = self.term(pool, Sort::Bv(width), d);
                let op = self.pick(&[SToF(sort), UToF(sort)]);
                pool.op(op, &[a])
            }
            1 => {
                let other = self.pick(&match sort {
                    Sort::F32 => [Sort::F64, Sort::F80],
                    Sort::F64 => [Sort::F32, Sort::F80],
                    _ => [Sort::F32, Sort::F64],
                });
                let a = self.term(pool, other, d);
                pool.op(FToF(sort), &[a])
            }
            2 => {
                let a = self.term(pool, sort, d);
                let op = self.pick(&[FNeg, FAbs, FSqrt, FRound(Rounding::Floor), FRound(Rounding::Away)]);
                pool.op(op, &[a])
            }
            _ => {
                let (a, b) = (self.term(pool, sort, d), self.term(pool, sort, d));
                let op = self.pick(&[FAdd, FSub, FMul, FDiv]);
                pool.op(op, &[a, b])
            }
        }
    }
}

fn c_type(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "int",
        Sort::Bv(8) => "unsigned char",
        Sort::Bv(16) => "unsigned short",
        Sort::Bv(32) => "unsigned",
        Sort::Bv(_) => "unsigned long",
        Sort::F32 => "float",
        Sort::F80 => "long double",
        _ => "double",
    }
}

/// Bits of a value as the program prints them; every NaN is one.
fn shown(c: Const) -> u128 {
    if c.is_nan() { 0x7ff8 } else { c.to_bits() }
}

/// The C expression for one of the inputs.
fn argument(c: Const, ty: &str) -> String {
    match c {
        Const::F32(bits) => format!("f32({bits}u)"),
        Const::F64(bits) => format!("f64({bits}ul)"),
        Const::F80(x) => format!("f80({}ul, {}u)", x.to_bits() as u64, x.to_bits() >> 64),
        _ => format!("({ty}){}ul", c.to_bits()),
    }
}

#[test]
fn plain_c_means_what_the_term_means() {
    let mut random = Terms(Random(7));
    let mut pool = TermPool::new();
    let mut naming = Naming { max_len: 2000, ..Naming::default() };
    let mut leaves = Vec::new();
    for (name, _, ty) in parameters() {
        let leaf = Leaf::Param { name: name.into(), sort: ty.sort(64).unwrap_or(Sort::Bool) };
        leaves.push(pool.leaf(leaf.clone()));
        naming.types_mut().insert(leaf, ty);
    }
    let declared: Vec<String> = parameters().iter().map(|(n, t, _)| format!("{t} {n}")).collect();
    let mut source = String::from(
        "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n\
         static float f32(unsigned b) { float v; memcpy(&v, &b, 4); return v; }\n\
         static double f64(unsigned long b) { double v; memcpy(&v, &b, 8); return v; }\n\
         static long double f80(unsigned long b, unsigned short h) { long double v = 0; memcpy(&v, &b, 8); memcpy((char *)&v + 8, &h, 2); return v; }\n\
         static void pl(long double v) { unsigned __int128 b = 0; memcpy(&b, &v, 10); char t[41], *p = t + 40; *p = 0; if (v != v) b = 0x7ff8; do *--p = '0' + b % 10; while (b /= 10); puts(p); }\n\
         static void pf(float v) { unsigned b; memcpy(&b, &v, 4); printf(\"%u\\n\", v != v ? 0x7ff8 : b); }\n\
         static void pd(double v) { unsigned long b; memcpy(&b, &v, 8); printf(\"%lu\\n\", v != v ? 0x7ff8 : b); }\n",
    );
    let mut main = String::new();
    let mut expected = Vec::new();
    for i in 0..700 {
        let sort = random.pick(&[
            Sort::Bool,
            Sort::Bv(32),
            Sort::Bv(64),
            Sort::Bv(8),
            Sort::F32,
            Sort::F64,
            Sort::F80,
        ]);
        let term = random.term(&mut pool, sort, 4);
        let Some(c) = render_c(&pool, term, &naming, None) else { continue };
        let program = Program::new(&pool, &[term]);
        let _ = writeln!(
            source,
            "static {} t{i}({}) {{ return {}; }}",
            c_type(sort),
            declared.join(", "),
            c.text
        );
        for _ in 0..6 {
            let mut assignment = Assignment::new();
            let mut list = Vec::new();
            for (leaf, (_, ty, _)) in leaves.iter().zip(parameters()) {
                let value = random.constant(pool.sort(*leaf));
                assignment.set(*leaf, value);
                list.push(argument(value, ty));
            }
            // C may evaluate an operand that does not decide the term's value.
            let run = program.run(&pool, &assignment);
            let defined = program.terms().iter().all(|&t| run.outcome(t).is_ok());
            let Some(value) = run.constant(term).ok().filter(|_| defined) else { continue };
            let call = format!("t{i}({})", list.join(", "));
            let _ = match sort {
                Sort::F32 => writeln!(main, "pf({call});"),
                Sort::F64 => writeln!(main, "pd({call});"),
                Sort::F80 => writeln!(main, "pl({call});"),
                _ => writeln!(main, "printf(\"%lu\\n\", (unsigned long){call});"),
            };
            expected.push((shown(value).to_string(), format!("{} == {}; {call}", c_type(sort), c.text)));
        }
    }
    let _ = writeln!(source, "int main(void) {{\n{main}return 0;\n}}");
    let Some(actual) = compile_and_run(&source) else { return };
    assert_eq!(actual.len(), expected.len());
    let wrong: Vec<String> = expected
        .iter()
        .zip(&actual)
        .filter(|((e, _), a)| e != *a)
        .map(|((e, text), a)| format!("{text}\n  term {e}\n  C    {a}"))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        expected.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
    println!("{} values agree", expected.len());
}

/// Returns the lines that a program prints; `None` when there is no compiler.
fn compile_and_run(source: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().ok()?;
    let (file, program) = (folder.path().join("terms.c"), folder.path().join("terms"));
    std::fs::write(&file, source).ok()?;
    let cc = Command::new("cc")
        .args(["-O0", "-w", "-fwrapv", "-ffp-contract=off", "-o"])
        .args([&program, &file])
        .arg("-lm")
        .output();
    let Ok(cc) = cc else {
        crate::testing::tier::skipped("cc", "no C compiler");
        return None;
    };
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    let output = Command::new(&program).output().expect("the program starts");
    assert!(output.status.success(), "{:?}", output.status);
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect())
}
