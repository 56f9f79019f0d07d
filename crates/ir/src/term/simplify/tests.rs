//! Every normal form has the value of the term as written, on random terms and random inputs.

use super::super::eval::{Assignment, Fill, Palette, Program};
use super::super::{App, Leaf, TermId, TermPool, Uf};
use crate::{Const, Op, Rounding, Sort};
use std::sync::Arc;

/// Linear congruential generator of Knuth's MMIX; the high bits are the good ones.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

const WIDTHS: [u16; 4] = [8, 16, 32, 64];

/// A term as written, and in normal form.
type Both = (TermId, TermId);

struct Terms {
    pool: TermPool,
    all: Vec<Both>,
    random: Random,
}

impl Terms {
    fn new(seed: u64) -> Terms {
        let mut pool = TermPool::new();
        let mut all = Vec::new();
        let sorts = [Sort::Bool, Sort::F32, Sort::F64].into_iter().chain(WIDTHS.map(Sort::Bv));
        for sort in sorts {
            for name in ["a", "b", "c"] {
                let t = pool.leaf(Leaf::Param { name: format!("{name}{sort:?}").into(), sort });
                all.push((t, t));
            }
        }
        for v in [0, 1, -1, 2, 3, 4, 7, 8, 127, 128, 255] {
            for w in WIDTHS {
                let t = pool.bv(w, v);
                all.push((t, t));
            }
        }
        for v in [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -4.0, 0.1, 3.0, f64::NAN, f64::INFINITY, 1e-45] {
            for c in [Const::f32(v as f32), Const::f64(v)] {
                let t = pool.constant(c);
                all.push((t, t));
            }
        }
        let states = [Leaf::Memory, Leaf::NoOutput];
        for leaf in states {
            let t = pool.leaf(leaf);
            all.push((t, t));
        }
        Terms { pool, all, random: Random(seed) }
    }

    /// Picks a term of a sort, recent ones more often.
    fn pick(&mut self, sort: Sort) -> Both {
        let fitting: Vec<Both> =
            self.all.iter().copied().filter(|&(t, _)| self.pool.sort(t) == sort).collect();
        let n = fitting.len();
        let i = if self.random.below(2) == 0 {
            n - 1 - self.random.below(n.min(6))
        } else {
            self.random.below(n)
        };
        fitting[i]
    }

    fn add(&mut self, app: App, args: &[Both]) {
        let (written, normal): (Vec<TermId>, Vec<TermId>) = args.iter().copied().unzip();
        let both = (self.pool.raw(app.clone(), written), self.pool.app(app, &normal));
        assert_eq!(self.pool.sort(both.0), self.pool.sort(both.1));
        self.all.push(both);
    }

    fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len())]
    }

    fn grow(&mut self, kinds: &[usize]) {
        use Op::*;
        let w = self.one_of(&WIDTHS);
        let f = self.one_of(&[Sort::F32, Sort::F64]);
        let bv = Sort::Bv(w);
        let (op, sorts): (Op, Vec<Sort>) = match self.one_of(kinds) {
            0 => (self.one_of(&[And, Or]), vec![Sort::Bool; 2]),
            1 => (Not, vec![Sort::Bool]),
            2 => (Eq, vec![self.one_of(&[Sort::Bool, bv, bv, f]); 2]),
            3 | 4 => {
                let s = self.one_of(&[Sort::Bool, bv, f]);
                (Ite, vec![Sort::Bool, s, s])
            }
            5 | 6 => (self.one_of(&[Add, Sub, Mul]), vec![bv; 2]),
            7 => (self.one_of(&[UDiv, SDiv, URem, SRem, Shl, LShr, AShr]), vec![bv; 2]),
            8 => (self.one_of(&[BitAnd, BitOr, BitXor]), vec![bv; 2]),
            9 => (self.one_of(&[Neg, BitNot]), vec![bv]),
            10 => (self.one_of(&[Ult, Ule, Slt, Sle]), vec![bv; 2]),
            11 if w < 64 => (self.one_of(&[Zext(w * 2), Sext(w * 2), Zext(64)]), vec![bv]),
            11 => (Concat, vec![Sort::Bv(32); 2]),
            12 if w > 8 => (self.one_of(&[Trunc(w / 2), Trunc(8)]), vec![bv]),
            12 => (Concat, vec![Sort::Bv(8); 2]),
            13 | 14 => {
                (self.one_of(&[FAdd, FSub, FMul, FMul, FDiv, FMin, FMax, FCopysign, FRem]), vec![f; 2])
            }
            15 => {
                let r = self.one_of(&[Rounding::Floor, Rounding::Ceil, Rounding::Trunc, Rounding::Even]);
                (self.one_of(&[FNeg, FAbs, FSqrt, FIsNan, FIsInf, FSignbit, FToBits, FRound(r)]), vec![f])
            }
            _ => match self.random.below(5) {
                0 => (self.one_of(&[FEq, FLt, FLe]), vec![f; 2]),
                1 => (self.one_of(&[FToF(Sort::F32), FToF(Sort::F64)]), vec![f]),
                2 => (self.one_of(&[SToF(f), UToF(f)]), vec![bv]),
                3 => (self.one_of(&[FToS(w), FToU(w)]), vec![f]),
                _ => (BitsToF(f), vec![Sort::Bv(f.bits().unwrap_or(0))]),
            },
        };
        let args: Vec<Both> = sorts.into_iter().map(|s| self.pick(s)).collect();
        self.add(App::Op(op), &args);
    }

    /// The address of one of the two objects.
    fn object(&mut self, i: usize) -> Both {
        let leaf = match i {
            0 => Leaf::LocalAddr { key: "f:x#0".into(), bits: 64 },
            _ => Leaf::SymbolAddr { symbol: "g".into(), bits: 64 },
        };
        let t = self.pool.leaf(leaf);
        (t, t)
    }

    /// An address: an object or a pointer from outside, and sometimes an index.
    fn address(&mut self) -> Both {
        let base = match self.random.below(4) {
            0 | 1 => self.object(0),
            2 => self.object(1),
            _ => {
                let sort = Sort::Bv(64);
                let t = self.pool.leaf(Leaf::Param { name: "pointer".into(), sort });
                (t, t)
            }
        };
        if self.random.below(4) > 0 {
            return base;
        }
        // A small index, in elements of 8 bytes: it stays inside.
        let byte = self.pick(Sort::Bv(8));
        let three = self.pool.bv(8, 3);
        let eight = self.pool.bv(64, 8);
        let mut both = |op: Op, x: Both, y: Both| {
            (self.pool.raw(App::Op(op), vec![x.0, y.0]), self.pool.op(op, &[x.1, y.1]))
        };
        let small = both(Op::BitAnd, byte, (three, three));
        let wide =
            (self.pool.raw(App::Op(Op::Zext(64)), vec![small.0]), self.pool.op(Op::Zext(64), &[small.1]));
        let mut both = |op: Op, x: Both, y: Both| {
            (self.pool.raw(App::Op(op), vec![x.0, y.0]), self.pool.op(op, &[x.1, y.1]))
        };
        let scaled = both(Op::Mul, wide, (eight, eight));
        both(Op::Add, base, scaled)
    }

    fn grow_state(&mut self) {
        let (m, p) = (self.pick(Sort::Mem), self.address());
        let small = self.one_of(&[0, 1, 2, 3, 4, 8]);
        let offset = self.pool.bv(64, small);
        let p = (self.pool.raw(App::Op(Op::Add), vec![p.0, offset]), self.pool.op(Op::Add, &[p.1, offset]));
        let bytes = self.one_of(&[1u64, 2, 4, 8]);
        let sort = match bytes {
            4 if self.random.below(2) == 0 => Sort::F32,
            8 if self.random.below(2) == 0 => Sort::F64,
            _ => Sort::Bv(bytes as u16 * 8),
        };
        match self.random.below(9) {
            0..=2 => {
                let v = self.pick(sort);
                self.add(App::Store { bytes }, &[m, p, v]);
            }
            3..=5 => self.add(App::Load { sort, bytes }, &[m, p]),
            6 => {
                let bytes = self.one_of(&[3, 8, 16, 24]);
                self.add(App::ZeroBytes { bytes }, &[m, p]);
                // Regions are equal or disjoint.
                let (to, from) = (self.object(0), self.object(1));
                self.add(App::CopyBytes { bytes }, &[m, to, from]);
            }
            7 => {
                let (c, n) = (self.pick(Sort::Bool), self.pick(Sort::Mem));
                self.add(App::Op(Op::Ite), &[c, m, n]);
            }
            _ => {
                let (out, v) = (self.pick(Sort::Out), self.pick(Sort::Bv(32)));
                let literal: &[u8] = self.one_of(&[b"", b"a", b"xy"]);
                self.add(App::OutLiteral(literal.into()), &[out]);
                self.add(App::OutConversion("%d".into()), &[out, v]);
                let (a, b) = (self.pick(Sort::Out), self.pick(Sort::Out));
                self.add(App::Op(Op::Eq), &[a, b]);
                let (x, sort) = (self.pick(Sort::F64), Sort::F64);
                self.add(App::Uf(Uf::Library { name: "sin".into(), sort }), &[x]);
            }
        }
    }

    /// Compares the values of every pair on a few inputs.
    fn check(&self) {
        let roots: Vec<TermId> = self.all.iter().flat_map(|&(a, b)| [a, b]).collect();
        let program = Program::new(&self.pool, &roots);
        let palette = Arc::new(Palette::of_terms(&self.pool, program.terms()));
        for seed in 0..24 {
            let input = Assignment::filled(Fill::Varied { seed, palette: palette.clone() });
            let run = program.run(&self.pool, &input);
            for &(written, normal) in &self.all {
                // Where the term as written is undefined, anything goes.
                let equal = run.outcome(written).is_err() || run.same(written, normal) == Some(true);
                assert!(
                    equal,
                    "{} is {:?}, but {} is {:?} on {:?}",
                    self.show(written),
                    run.outcome(written),
                    self.show(normal),
                    run.outcome(normal),
                    run.inputs(&self.pool)
                );
            }
        }
    }

    fn show(&self, t: TermId) -> String {
        use super::super::Term;
        match self.pool.get(t) {
            Term::Const(c) => format!("{c:?}"),
            Term::Leaf(Leaf::Param { name, .. }) => format!("{name}"),
            Term::Leaf(l) => format!("{l:?}"),
            Term::App(app, args) => {
                let args: Vec<String> = args.iter().map(|&a| self.show(a)).collect();
                let name = if let App::Op(op) = app { format!("{op:?}") } else { format!("{app:?}") };
                format!("{name}({})", args.join(", "))
            }
        }
    }
}

/// Kinds of [`Terms::grow`]: all of them, and those about floats.
const ALL: [usize; 17] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const FLOATS: [usize; 8] = [2, 3, 13, 14, 15, 16, 16, 16];

/// Rounds for each random test; `INVDIFF_TEST_ROUNDS` multiplies them.
fn rounds(n: u64) -> u64 {
    n * std::env::var("INVDIFF_TEST_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1)
}

#[test]
fn random_terms_keep_their_values() {
    for seed in 0..rounds(200) {
        for kinds in [&ALL[..], &FLOATS] {
            let mut terms = Terms::new(seed);
            for _ in 0..60 {
                terms.grow(kinds);
            }
            terms.check();
        }
    }
}

/// One float operation in double, rounded to float, is the operation in float.
#[test]
fn double_rounding_is_innocuous() {
    let mut random = Random(1);
    for _ in 0..rounds(100_000) {
        let mut float = || f32::from_bits((random.below(1 << 16) << 16 | random.below(1 << 16)) as u32);
        let (a, mut b) = (float(), float());
        if random.below(2) == 0 {
            // Near in size, or with a subnormal result.
            b = f32::from_bits(a.to_bits() ^ random.below(1 << 24) as u32);
        }
        let (x, y) = (f64::from(a), f64::from(b));
        let same =
            |wide: f64, narrow: f32| assert_eq!(Const::f32(wide as f32), Const::f32(narrow), "{a:e} {b:e}");
        same(x + y, a + b);
        same(x * y, a * b);
        same(x / y, a / b);
        same(x.sqrt(), a.sqrt());
        same(x % y, a % b);
    }
}

#[test]
fn random_states_keep_their_values() {
    for seed in 0..rounds(150) {
        let mut terms = Terms::new(seed + 1000);
        for _ in 0..60 {
            if terms.random.below(3) == 0 { terms.grow(&ALL) } else { terms.grow_state() }
        }
        terms.check();
    }
}

/// Checks that C-like expressions over `a`, `b`, `c` in prefix notation have the same normal form.
fn check(sort: Sort, left: &str, right: &str) {
    let mut pool = TermPool::new();
    let (l, r) = (parse(&mut pool, sort, left), parse(&mut pool, sort, right));
    assert!(l == r, "{left} is not {right}: {:?} {:?}", pool.get(l), pool.get(r));
}

/// Reads `op(arg, ...)`, `a`, `12` or `p` (a truth value), and `name.F32` for leaves of a sort of
/// their own.
fn parse(pool: &mut TermPool, sort: Sort, text: &str) -> TermId {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('(') else {
        if let Ok(v) = text.parse::<f64>() {
            return pool.constant(match sort {
                Sort::Bv(w) => Const::bv(w, v as i128),
                Sort::F32 => Const::f32(v as f32),
                _ => Const::f64(v),
            });
        }
        let sort = match text {
            "p" | "q" => Sort::Bool,
            _ if text.ends_with(".F32") => Sort::F32,
            _ if text.ends_with(".I32") => Sort::Bv(32),
            _ => sort,
        };
        return pool.leaf(Leaf::Param { name: text.into(), sort });
    };
    let inside = &rest[..rest.len() - 1];
    let (mut depth, mut start, mut args) = (0, 0, Vec::new());
    for (i, c) in inside.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                args.push(parse(pool, sort, &inside[start..i]));
                start = i + 1;
            }
            _ => {}
        }
    }
    args.push(parse(pool, sort, &inside[start..]));
    let op = match name {
        "not" => Op::Not,
        "and" => Op::And,
        "or" => Op::Or,
        "eq" => Op::Eq,
        "ite" => Op::Ite,
        "+" => Op::Add,
        "-" => Op::Sub,
        "*" => Op::Mul,
        "<<" => Op::Shl,
        ">>" => Op::LShr,
        "&" => Op::BitAnd,
        "|" => Op::BitOr,
        "u/" => Op::UDiv,
        "neg" => Op::Neg,
        "<" => Op::Slt,
        "<=" => Op::Sle,
        "trunc8" => Op::Trunc(8),
        "zext64" => Op::Zext(64),
        "fadd" => Op::FAdd,
        "fsub" => Op::FSub,
        "fmul" => Op::FMul,
        "fdiv" => Op::FDiv,
        "fneg" => Op::FNeg,
        "fabs" => Op::FAbs,
        "feq" => Op::FEq,
        "flt" => Op::FLt,
        "fle" => Op::FLe,
        "isnan" => Op::FIsNan,
        "sqrt" => Op::FSqrt,
        "wide" => Op::FToF(Sort::F64),
        "narrow" => Op::FToF(Sort::F32),
        "float" => Op::SToF(Sort::F32),
        "double" => Op::SToF(Sort::F64),
        other => panic!("{other}"),
    };
    pool.op(op, &args)
}

#[test]
fn integers() {
    let i = Sort::Bv(32);
    check(i, "-(+(a,b),+(b,a))", "0");
    check(i, "+(*(2,a),-(b,a))", "+(b,a)");
    check(i, "<<(a,3)", "*(8,a)");
    check(i, "*(-(a,b),c)", "neg(*(c,-(b,a)))");
    check(i, "u/(a,8)", ">>(a,3)");
    check(i, "eq(+(a,1),+(b,1))", "eq(b,a)");
    check(i, "eq(*(3,a),6)", "eq(a,2)");
    check(i, "eq(ite(p,1,0),0)", "not(p)");
    check(i, "not(<(a,5))", "<=(5,a)");
    check(i, "<(a,10)", "<=(a,9)");
    check(i, "<(-1,a)", "<=(0,a)");
    check(i, "trunc8(+(a,256))", "trunc8(a)");
    check(i, "eq(zext64(a),zext64(b))", "eq(a,b)");
    // A field of a word is what was put there, and the others are what they were.
    check(i, "trunc8(>>(|(&(a,-261121),<<(&(b,255),10)),10))", "trunc8(b)");
    check(i, "trunc8(>>(|(&(a,-261121),<<(&(b,255),10)),20))", "trunc8(>>(a,20))");
    check(i, "trunc8(|(&(a,-261121),<<(&(b,255),10)))", "trunc8(a)");
    check(i, "ite(p,ite(q,a,b),b)", "ite(and(q,p),a,b)");
    check(i, "ite(<=(a,b),a,b)", "ite(<(b,a),b,a)");
    check(i, "and(p,or(not(p),q))", "and(p,q)");
    check(i, "and(eq(a,3),not(eq(a,4)))", "eq(a,3)");
    check(i, "and(<(a,b),<=(b,a))", "and(p,not(p))");
}

#[test]
fn floats() {
    let f = Sort::F32;
    check(f, "fsub(a,b)", "fadd(fneg(b),a)");
    check(f, "fmul(-1,a)", "fneg(fmul(1,a))");
    check(f, "fdiv(fneg(a),fmul(b,-2))", "fdiv(a,fmul(2,b))");
    check(f, "fdiv(a,4)", "fmul(0.25,a)");
    check(f, "fadd(a,a)", "fmul(a,2)");
    check(f, "fabs(fmul(fneg(a),b))", "fmul(fabs(b),fabs(a))");
    check(f, "fabs(fmul(0.5,fmul(a,b)))", "fmul(0.5,fabs(fmul(a,b)))");
    // The pair 270150: the same but for the sign of a zero.
    check(
        f,
        "fabs(fdiv(fsub(a,b),fsub(fmul(c,a),fmul(d,b))))",
        "fabs(fdiv(fsub(b,a),fsub(fmul(d,b),fmul(c,a))))",
    );
    check(f, "feq(fsub(fmul(a,d),fmul(c,b)),0)", "feq(fsub(fmul(c,b),fmul(a,d)),-0.0)");
    check(f, "narrow(fmul(wide(a),wide(b)))", "fmul(b,a)");
    check(f, "narrow(fsub(wide(a),wide(b)))", "fsub(a,b)");
    check(f, "narrow(sqrt(fneg(wide(a))))", "sqrt(fneg(a))");
    check(f, "flt(fneg(a),1)", "flt(-1,a)");
    check(f, "not(feq(a,a))", "isnan(fneg(a))");
    let d = Sort::F64;
    // Half of a product of floats is exact in double, in any order.
    check(d, "fmul(fmul(0.5,wide(h.F32)),wide(b.F32))", "fdiv(fmul(wide(b.F32),wide(h.F32)),2)");
    check(d, "flt(wide(h.F32),0.1)", "fle(wide(h.F32),0.09999999403953552)");
    check(d, "feq(wide(h.F32),0.1)", "and(p,not(p))");
    check(d, "narrow(wide(h.F32))", "h.F32");
    check(d, "flt(double(i.I32),2.5)", "fle(double(i.I32),2)");
    check(d, "isnan(double(i.I32))", "and(p,not(p))");
}

/// Which of two zeros is the smaller one, C leaves open, and libraries decide it by the order.
#[test]
fn the_smaller_of_two_has_an_order() {
    let mut pool = TermPool::new();
    let mut param = |name: &str| pool.leaf(Leaf::Param { name: name.into(), sort: Sort::F64 });
    let (x, y) = (param("x"), param("y"));
    for op in [Op::FMin, Op::FMax] {
        assert_ne!(pool.op(op, &[x, y]), pool.op(op, &[y, x]));
        assert_eq!(pool.op(op, &[x, x]), x);
        let (zero, minus) = (pool.constant(Const::f64(0.0)), pool.constant(Const::f64(-0.0)));
        let either = pool.op(op, &[zero, minus]);
        assert_eq!(pool.as_const(either), None);
    }
}

/// Comparisons with constants of converted integers and of widened floats, at all the edges.
#[test]
fn bounds_of_conversions() {
    let mut pool = TermPool::new();
    let byte = pool.leaf(Leaf::Param { name: "byte".into(), sort: Sort::Bv(8) });
    let float = pool.leaf(Leaf::Param { name: "float".into(), sort: Sort::F32 });
    let mut pairs = Vec::new();
    let edges = [-129.0, -128.0, -0.5, -0.0, 0.0, 0.1, 1.0, 1.5, 127.0, 128.0, 254.5, 255.0, 256.0, 1e300];
    let odd = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::from(f32::MAX) * 1.5, -1e300, 1e-60];
    for k in edges.into_iter().chain(odd) {
        let k = pool.constant(Const::f64(k));
        let d = Sort::F64;
        for (convert, x) in [(Op::SToF(d), byte), (Op::UToF(d), byte), (Op::FToF(d), float)] {
            let x = pool.op(convert, &[x]);
            for op in [Op::FEq, Op::FLt, Op::FLe, Op::Eq] {
                for args in [[x, k], [k, x]] {
                    pairs.push((pool.raw(App::Op(op), args.to_vec()), pool.op(op, &args)));
                }
            }
        }
    }
    let roots: Vec<TermId> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let program = Program::new(&pool, &roots);
    for v in [0, 1, 2, 126, 127, 128, 129, 254, 255] {
        let mut input = Assignment::new();
        input.set(byte, Const::bv(8, v));
        let near = [0.1f32.next_down(), 0.1, f32::MAX, f32::INFINITY, -f32::MAX, f32::NAN, 0.0, -0.0, 127.0];
        input.set(float, Const::f32(near[v as usize % near.len()]));
        let run = program.run(&pool, &input);
        for &(written, normal) in &pairs {
            assert_eq!(
                run.same(written, normal),
                Some(true),
                "{:?} {:?}",
                pool.get(written),
                pool.get(normal)
            );
        }
    }
}

/// Rewriting that holds of real numbers, but not of floats.
#[test]
fn floats_are_not_reals() {
    let mut pool = TermPool::new();
    let mut differ = |left: &str, right: &str| {
        let (l, r) = (parse(&mut pool, Sort::F32, left), parse(&mut pool, Sort::F32, right));
        assert!(l != r, "{left} is {right}");
    };
    differ("fsub(a,b)", "fneg(fsub(b,a))");
    differ("fadd(a,0)", "a");
    differ("fmul(fmul(0.5,a),b)", "fmul(0.5,fmul(a,b))");
    differ("fdiv(a,a)", "1");
    differ("fsub(a,a)", "0");
    differ("fdiv(a,3)", "fmul(a,0.3333333)");
    differ("feq(a,b)", "eq(a,b)");
    differ("not(flt(a,b))", "fle(b,a)");
    differ("feq(fsub(a,b),0)", "feq(a,b)");
    // 2^-1000 times a product of floats may be subnormal: no longer exact in any order.
    let mut differ = |left: &str, right: &str| {
        let (l, r) = (parse(&mut pool, Sort::F64, left), parse(&mut pool, Sort::F64, right));
        assert!(l != r, "{left} is {right}");
    };
    let (x, y, tiny) = ("wide(a.F32)", "wide(b.F32)", "9.332636185032189e-302");
    differ(&format!("fmul(fmul({x},{y}),{tiny})"), &format!("fmul({x},fmul({y},{tiny}))"));
    differ(&format!("fmul(fmul({x},{y}),0.1)"), &format!("fmul({x},fmul({y},0.1))"));
}

/// The memory forms: what a load gives after some stores.
#[test]
fn memory() {
    let mut pool = TermPool::new();
    let m = pool.leaf(Leaf::Memory);
    let x = pool.leaf(Leaf::LocalAddr { key: "f:x#0".into(), bits: 64 });
    let y = pool.leaf(Leaf::LocalAddr { key: "f:y#0".into(), bits: 64 });
    let p = pool.leaf(Leaf::Param { name: "p".into(), sort: Sort::Bv(64) });
    let v = pool.leaf(Leaf::Param { name: "v".into(), sort: Sort::Bv(32) });
    let f = pool.leaf(Leaf::Param { name: "f".into(), sort: Sort::F32 });
    let c = pool.leaf(Leaf::Param { name: "c".into(), sort: Sort::Bool });
    let store = |pool: &mut TermPool, m, at, v| pool.app(App::Store { bytes: 4 }, &[m, at, v]);
    let load = |pool: &mut TermPool, m, at, sort| pool.app(App::Load { sort, bytes: 4 }, &[m, at]);
    let word = Sort::Bv(32);

    // Through another local, and through a pointer that cannot point to a local.
    let one = store(&mut pool, m, x, v);
    let two = store(&mut pool, one, y, f);
    let three = store(&mut pool, two, p, f);
    assert_eq!(load(&mut pool, three, x, word), v);
    assert_eq!(load(&mut pool, three, y, Sort::F32), f);
    // The other way round: a store to a local does not change what p points to, ...
    let (before, after) = (load(&mut pool, m, p, word), load(&mut pool, one, p, word));
    assert_eq!(before, after);
    // ... unless p came out of a memory that holds the local's address.
    let escaped = pool.app(App::Store { bytes: 8 }, &[m, p, x]);
    let q = pool.app(App::Load { sort: Sort::Bv(64), bytes: 8 }, &[escaped, y]);
    let written = store(&mut pool, escaped, x, v);
    assert_ne!(load(&mut pool, written, q, word), load(&mut pool, escaped, q, word));
    // Bytes of a word, and a word of two halves.
    let offset = pool.bv(64, 2);
    let high = pool.op(Op::Add, &[x, offset]);
    let half = pool.app(App::Load { sort: Sort::Bv(16), bytes: 2 }, &[one, high]);
    let k = pool.bv(32, 16);
    let shifted = pool.op(Op::LShr, &[v, k]);
    assert_eq!(half, pool.op(Op::Trunc(16), &[shifted]));
    let rewritten = pool.app(App::Store { bytes: 2 }, &[one, high, half]);
    assert_eq!(load(&mut pool, rewritten, x, word), v);
    // Order of stores apart, stores over stores, and joins.
    let other = store(&mut pool, m, y, f);
    assert_eq!(store(&mut pool, other, x, v), two);
    assert_eq!(store(&mut pool, three, x, v), three);
    let joined = pool.ite(c, one, m);
    let loaded = load(&mut pool, joined, x, word);
    let entry = load(&mut pool, m, x, word);
    assert_eq!(loaded, pool.ite(c, v, entry));
}

#[test]
fn literals_join() {
    let mut pool = TermPool::new();
    let none = pool.leaf(Leaf::NoOutput);
    let mut print = |s: &[u8], out| pool.app(App::OutLiteral(s.into()), &[out]);
    let (a, whole) = (print(b"a", none), print(b"ab", none));
    let b = print(b"b", a);
    assert_eq!(print(b"", b), whole);
}

/// Long chains neither overflow the stack nor take long.
#[test]
fn long_chains() {
    let mut pool = TermPool::new();
    let m = pool.leaf(Leaf::Memory);
    let g = pool.leaf(Leaf::SymbolAddr { symbol: "g".into(), bits: 64 });
    let c = pool.leaf(Leaf::Param { name: "c".into(), sort: Sort::Bool });
    let (mut sum, mut parity, mut memory) = (pool.bv(64, 0), pool.bv(64, 0), m);
    for i in 0..5000 {
        let x = pool.leaf(Leaf::Param { name: format!("x{i}").into(), sort: Sort::Bv(64) });
        sum = pool.op(Op::Add, &[sum, x]);
        if i < 1000 {
            parity = pool.op(Op::BitXor, &[parity, x]);
        }
        let k = pool.bv(64, 8 * i);
        let at = pool.op(Op::Add, &[g, k]);
        let stored = pool.app(App::Store { bytes: 8 }, &[memory, at, sum]);
        memory = if i % 10 == 0 { pool.ite(c, stored, memory) } else { stored };
    }
    pool.op(Op::Trunc(8), &[sum]);
    pool.op(Op::Trunc(8), &[parity]);
    let first = pool.app(App::Load { sort: Sort::Bv(64), bytes: 8 }, &[memory, g]);
    let program = Program::new(&pool, &[first, sum, memory]);
    assert!(program.run(&pool, &Assignment::new()).constant(sum).is_ok());
}

/// Operators on arguments of the wrong sorts, or too few, are left alone.
#[test]
fn ill_sorted_terms_do_no_harm() {
    use Op::*;
    let mut pool = TermPool::new();
    let sorts = [Sort::Bool, Sort::Bv(8), Sort::Bv(32), Sort::F32, Sort::F64];
    let leaves: Vec<TermId> =
        sorts.iter().map(|&sort| pool.leaf(Leaf::Param { name: "x".into(), sort })).collect();
    let ops = [
        Not,
        And,
        Eq,
        Ite,
        Add,
        Mul,
        Shl,
        SDiv,
        BitXor,
        Slt,
        Ule,
        Zext(16),
        Sext(4),
        Trunc(16),
        Concat,
        Neg,
        LShr,
        FAdd,
        FMul,
        FDiv,
        FAbs,
        FRem,
        FMin,
        FLt,
        FEq,
        FIsNan,
        FToF(Sort::F32),
        FToS(8),
        SToF(Sort::F64),
        FToBits,
        BitsToF(Sort::F32),
        FCopysign,
        FRound(Rounding::Floor),
    ];
    for op in ops {
        pool.op(op, &[]);
        for &a in &leaves {
            pool.op(op, &[a]);
            for &b in &leaves {
                pool.op(op, &[a, b]);
                pool.op(op, &[a, b, a]);
            }
        }
    }
}
