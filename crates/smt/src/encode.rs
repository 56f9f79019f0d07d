//! Terms as Z3's.
//!
//! Bit-vectors, truth values and floats have Z3's own sorts (floats the theory of IEEE-754, round to
//! nearest even), memory is an array of bytes, the states are uninterpreted sorts. Operators mean
//! what [`Op::eval`] says; where it reports an event, Z3's total functions have some value, and who
//! asks has to assert that the event does not happen.
//!
//! What Z3 has no exact operator for is an uninterpreted function with the facts that hold of it:
//! C's `fmod`, copies of very large regions, conversions of output. That is sound for proofs; a
//! model may be one of the uninterpreted function only, so models are evaluated before they count.
//!
//! Encoded terms are kept by [`TermId`]: an encoder serves one pool and one context.

use super::floats;
use crate::ir::{App, Const, Extended, Leaf, Op, Rounding, Sort, Term, TermId, TermPool, Uf};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use z3::ast::{Array, Ast, BV, Bool, Dynamic, Float, RoundingMode};
use z3::{FuncDecl, Sort as Z3Sort, Symbol};

/// Regions of more bytes are copied or cleared by an uninterpreted function.
pub(super) const EXACT_BYTES: u64 = 64;

/// Something that could not be encoded; only a defect of the maker of the term can cause it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllSorted(pub TermId);

/// What an uninterpreted function of Z3 stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Function {
    Uf(Uf),
    /// C's `fmod`.
    Remainder,
    Copy(u64),
    Zero(u64),
    Literal(Arc<[u8]>),
    Conversion(Arc<str>),
}

pub(super) struct Encoder {
    pointer_bits: u16,
    terms: FxHashMap<TermId, Dynamic>,
    functions: FxHashMap<(Function, Vec<Sort>), FuncDecl>,
    /// What holds of an encoded term by the meaning of its operator.
    facts: FxHashMap<TermId, Vec<Bool>>,
}

impl Encoder {
    pub fn new(pointer_bits: u16) -> Encoder {
        Encoder {
            pointer_bits,
            terms: FxHashMap::default(),
            functions: FxHashMap::default(),
            facts: FxHashMap::default(),
        }
    }

    pub fn pointer_bits(&self) -> u16 {
        self.pointer_bits
    }

    /// Returns the encoding of a term that was encoded before.
    pub fn get(&self, id: TermId) -> Option<&Dynamic> {
        self.terms.get(&id)
    }

    /// Encodes a condition and everything below it.
    pub fn condition(&mut self, pool: &TermPool, id: TermId) -> Result<Bool, IllSorted> {
        let mut cone = pool.reachable(&[id]);
        cone.retain(|t| !self.terms.contains_key(t));
        for t in cone {
            let encoded = self.term(pool, t).ok_or(IllSorted(t))?;
            self.terms.insert(t, encoded);
        }
        self.terms.get(&id).and_then(Dynamic::as_bool).ok_or(IllSorted(id))
    }

    /// Returns what has to be asserted with a query whose cone is `cone`: the facts about the terms
    /// in it, that objects have addresses of their own, and that a conversion does not succeed when
    /// the input ended before it.
    pub fn side_conditions(&self, pool: &TermPool, cone: &[TermId]) -> Vec<Bool> {
        let mut conditions = Vec::new();
        let mut addresses: Vec<&Dynamic> = Vec::new();
        let mut conversions: FxHashMap<(&str, &[TermId]), Bool> = FxHashMap::default();
        for t in cone {
            conditions.extend(self.facts.get(t).into_iter().flatten().cloned());
            match pool.get(*t) {
                Term::Leaf(Leaf::LocalAddr { .. } | Leaf::SymbolAddr { .. }) => {
                    addresses.extend(self.terms.get(t));
                }
                Term::App(App::Uf(Uf::InputOk { conversion } | Uf::InputEnd { conversion }), args) => {
                    let Some(happens) = self.terms.get(t).and_then(Dynamic::as_bool) else { continue };
                    // The cone has each of the two at most once for equal arguments.
                    if let Some(other) = conversions.insert((conversion, args), happens.clone()) {
                        conditions.push(Bool::and(&[happens, other]).not());
                    }
                }
                _ => {}
            }
        }
        for a in &addresses {
            if let Some(a) = a.as_bv() {
                conditions.push(a.ne(BV::from_u64(0, a.get_size())));
            }
        }
        if addresses.len() > 1 {
            conditions.push(Dynamic::distinct(&addresses));
        }
        conditions
    }

    fn sort(&self, sort: Sort) -> Z3Sort {
        match sort {
            Sort::Bool => Z3Sort::bool(),
            Sort::Bv(w) => Z3Sort::bitvector(u32::from(w)),
            Sort::F32 => Z3Sort::float32(),
            Sort::F64 => Z3Sort::double(),
            Sort::F80 => floats::extended(),
            Sort::Mem => {
                Z3Sort::array(&Z3Sort::bitvector(u32::from(self.pointer_bits)), &Z3Sort::bitvector(8))
            }
            Sort::Stdin => Z3Sort::uninterpreted(Symbol::from("Stdin")),
            Sort::Out => Z3Sort::uninterpreted(Symbol::from("Out")),
            Sort::World => Z3Sort::uninterpreted(Symbol::from("World")),
        }
    }

    fn term(&mut self, pool: &TermPool, id: TermId) -> Option<Dynamic> {
        let sort = pool.sort(id);
        match pool.get(id) {
            Term::Const(c) => constant(*c),
            // Even numbers name leaves, odd ones functions; names of the source may hold anything.
            Term::Leaf(_) => Some(Dynamic::new_const(Symbol::Int(id.0.checked_mul(2)?), &self.sort(sort))),
            Term::App(app, args) => match app {
                App::Op(op) => self.operator(pool, id, *op, args),
                App::Uf(uf) => self.apply(pool, Function::Uf(uf.clone()), args, sort),
                App::Load { sort, bytes } => {
                    let (memory, at) = (self.memory(*args.first()?)?, self.address(*args.get(1)?)?);
                    from_bytes(*sort, load(&memory, &at, *bytes)?)
                }
                App::Store { bytes } => {
                    let (memory, at) = (self.memory(*args.first()?)?, self.address(*args.get(1)?)?);
                    let stored = *args.get(2)?;
                    let bits = to_bits(self.get(stored)?, &nan_sign(stored))?;
                    Some((&store(memory, &at, &resized(&bits, bits_of(*bytes)?))).into())
                }
                App::CopyBytes { bytes } if *bytes > EXACT_BYTES => {
                    self.apply(pool, Function::Copy(*bytes), args, sort)
                }
                App::ZeroBytes { bytes } if *bytes > EXACT_BYTES => {
                    self.apply(pool, Function::Zero(*bytes), args, sort)
                }
                App::CopyBytes { bytes } => {
                    let mut memory = self.memory(*args.first()?)?;
                    let (to, from) = (self.address(*args.get(1)?)?, self.address(*args.get(2)?)?);
                    let data: Vec<Dynamic> = (0..*bytes).map(|k| memory.select(&plus(&from, k))).collect();
                    for (k, byte) in data.iter().enumerate() {
                        memory = memory.store(&plus(&to, k as u64), byte);
                    }
                    Some(Dynamic::from_ast(&memory))
                }
                App::ZeroBytes { bytes } => {
                    let (mut memory, at) = (self.memory(*args.first()?)?, self.address(*args.get(1)?)?);
                    for k in 0..*bytes {
                        memory = memory.store(&plus(&at, k), &BV::from_u64(0, 8));
                    }
                    Some(Dynamic::from_ast(&memory))
                }
                App::OutLiteral(bytes) => self.apply(pool, Function::Literal(bytes.clone()), args, sort),
                App::OutConversion(text) => self.apply(pool, Function::Conversion(text.clone()), args, sort),
            },
        }
    }

    /// Applies an uninterpreted function.
    fn apply(&mut self, pool: &TermPool, f: Function, args: &[TermId], result: Sort) -> Option<Dynamic> {
        let domain: Vec<Sort> = args.iter().map(|&a| pool.sort(a)).collect();
        let key = (f, domain);
        if !self.functions.contains_key(&key) {
            let domain: Vec<Z3Sort> = key.1.iter().map(|&s| self.sort(s)).collect();
            let name = Symbol::Int(2 * self.functions.len() as u32 + 1);
            let f = FuncDecl::new(name, &domain.iter().collect::<Vec<_>>(), &self.sort(result));
            self.functions.insert(key.clone(), f);
        }
        let args: Option<Vec<&dyn Ast>> = args.iter().map(|a| Some(self.get(*a)? as &dyn Ast)).collect();
        Some(self.functions.get(&key)?.apply(&args?))
    }

    fn memory(&self, id: TermId) -> Option<Array> {
        self.get(id)?.as_array()
    }

    fn address(&self, id: TermId) -> Option<BV> {
        self.get(id)?.as_bv().filter(|a| a.get_size() == u32::from(self.pointer_bits))
    }

    fn operator(&mut self, pool: &TermPool, id: TermId, op: Op, ids: &[TermId]) -> Option<Dynamic> {
        let args: Vec<Dynamic> = ids.iter().map(|a| self.get(*a).cloned()).collect::<Option<_>>()?;
        let sorts: Vec<Sort> = ids.iter().map(|&a| pool.sort(a)).collect();
        match (op, &args[..]) {
            (Op::And | Op::Or, _) => {
                let conditions: Vec<Bool> = args.iter().map(Dynamic::as_bool).collect::<Option<_>>()?;
                let b = if op == Op::And { Bool::and(&conditions) } else { Bool::or(&conditions) };
                Some((&b).into())
            }
            (Op::Not, [a]) => Some((&a.as_bool()?.not()).into()),
            (Op::Eq, [a, b]) if sorts[0] == sorts[1] => Some((&a.safe_eq(b.clone()).ok()?).into()),
            (Op::Ite, [c, a, b]) if sorts[1] == sorts[2] => Some(c.as_bool()?.ite(a, b)),
            (Op::FRem, [a, b]) if sorts[0] == sorts[1] => {
                let result = self.apply(pool, Function::Remainder, ids, sorts[0])?;
                let facts = remainder_facts(&a.as_float()?, &b.as_float()?, &result.as_float()?);
                self.facts.insert(id, facts);
                Some(result)
            }
            (_, [a, rest @ ..]) if sorts[0].is_float() => {
                if sorts.iter().any(|&s| s != sorts[0]) {
                    return None;
                }
                let rest: Vec<Float> = rest.iter().map(Dynamic::as_float).collect::<Option<_>>()?;
                let open = match op {
                    Op::FMin | Op::FMax => first_zero(id),
                    _ => nan_sign(*ids.last()?),
                };
                float_operator(op, &a.as_float()?, &rest, sorts[0], &open)
            }
            (Op::SToF(s) | Op::UToF(s), [a]) => {
                let f = floats::from_integer(&a.as_bv()?, matches!(op, Op::SToF(_)), s)?;
                Some((&f).into())
            }
            (Op::BitsToF(s), [a]) => Some((&floats::from_bits(&a.as_bv()?, s)?).into()),
            (_, [a]) => bv_unary(op, &a.as_bv()?),
            (Op::SDiv | Op::SRem, [a, _]) if power_of_two(pool, ids[1]).is_some() => {
                Some(shifted_division(op, &a.as_bv()?, power_of_two(pool, ids[1])?))
            }
            (_, [a, b]) if op == Op::Concat || sorts[0] == sorts[1] => {
                bv_binary(op, &a.as_bv()?, &b.as_bv()?)
            }
            _ => None,
        }
    }
}

/// The exponent of a constant that is a power of two beyond one.
fn power_of_two(pool: &TermPool, t: TermId) -> Option<u32> {
    let k = pool.as_const(t)?.signed()?;
    (k > 1 && k & (k - 1) == 0).then(|| k.trailing_zeros())
}

/// Signed division by a power of two, and its remainder, by shifts: Z3's own division costs a circuit.
fn shifted_division(op: Op, a: &BV, exponent: u32) -> Dynamic {
    let width = a.get_size();
    let by = |k: u32| BV::from_u64(u64::from(k), width);
    // Negative numbers are rounded up.
    let sign = a.bvashr(by(width - 1)).bvlshr(by(width - exponent));
    let quotient = a.bvadd(&sign).bvashr(by(exponent));
    if op == Op::SDiv {
        return (&quotient).into();
    }
    (&a.bvsub(quotient.bvshl(by(exponent)))).into()
}

fn constant(c: Const) -> Option<Dynamic> {
    Some(match c {
        Const::Bool(b) => (&Bool::from_bool(b)).into(),
        Const::Bv { width, bits } => (&bv(bits, u32::from(width))).into(),
        Const::F32(b) => (&Float::from_f32(f32::from_bits(b))).into(),
        Const::F64(b) => (&Float::from_f64(f64::from_bits(b))).into(),
        Const::F80(x) => (&floats::from_bits(&bv(x.to_bits(), 80), Sort::F80)?).into(),
    })
}

fn bv(bits: u128, width: u32) -> BV {
    if width <= 64 {
        BV::from_u64(bits as u64, width)
    } else {
        BV::from_u64((bits >> 64) as u64, width - 64).concat(BV::from_u64(bits as u64, 64))
    }
}

fn bv_unary(op: Op, a: &BV) -> Option<Dynamic> {
    let wider = |w: u16| u32::from(w).checked_sub(a.get_size());
    let r = match op {
        Op::Neg => a.bvneg(),
        Op::BitNot => a.bvnot(),
        Op::Zext(w) => a.zero_ext(wider(w)?),
        Op::Sext(w) => a.sign_ext(wider(w)?),
        Op::Trunc(w) if w > 0 && u32::from(w) <= a.get_size() => a.extract(u32::from(w) - 1, 0),
        _ => return None,
    };
    Some((&r).into())
}

fn bv_binary(op: Op, a: &BV, b: &BV) -> Option<Dynamic> {
    let r = match op {
        Op::Add => a.bvadd(b),
        Op::Sub => a.bvsub(b),
        Op::Mul => a.bvmul(b),
        Op::UDiv => a.bvudiv(b),
        Op::SDiv => a.bvsdiv(b),
        Op::URem => a.bvurem(b),
        Op::SRem => a.bvsrem(b),
        Op::BitAnd => a.bvand(b),
        Op::BitOr => a.bvor(b),
        Op::BitXor => a.bvxor(b),
        Op::Shl => a.bvshl(b),
        Op::LShr => a.bvlshr(b),
        Op::AShr => a.bvashr(b),
        Op::Concat => a.concat(b),
        Op::Ult => return Some((&a.bvult(b)).into()),
        Op::Ule => return Some((&a.bvule(b)).into()),
        Op::Slt => return Some((&a.bvslt(b)).into()),
        Op::Sle => return Some((&a.bvsle(b)).into()),
        _ => return None,
    };
    Some((&r).into())
}

/// The sign of a NaN that a term has as its value: C leaves it to the machine, and Z3 has but one NaN.
fn nan_sign(of: TermId) -> Bool {
    Bool::new_const(format!("nan_sign!{}", of.0))
}

/// Which of two zeros of different signs the term is, as the smaller or greater one: C leaves it open.
fn first_zero(term: TermId) -> Bool {
    Bool::new_const(format!("first_zero!{}", term.0))
}

/// `open`: what C leaves open, the sign of the last operand, if it is a NaN, or which of two zeros is taken.
fn float_operator(op: Op, a: &Float, rest: &[Float], sort: Sort, open: &Bool) -> Option<Dynamic> {
    let nearest = RoundingMode::round_nearest_ties_to_even();
    let truth = |b: Bool| Some(Dynamic::from(&b));
    let value = |f: Float| Some(Dynamic::from(&f));
    match (op, rest) {
        (Op::FAdd, [b]) => value(nearest.add(a.clone(), b.clone())),
        (Op::FSub, [b]) => value(nearest.sub(a.clone(), b.clone())),
        (Op::FMul, [b]) => value(nearest.mul(a.clone(), b.clone())),
        (Op::FDiv, [b]) => value(nearest.div(a.clone(), b.clone())),
        (Op::FFma, [b, c]) => value(a.fma(b.clone(), c.clone())),
        (Op::FSqrt, []) => value(a.sqrt()),
        (Op::FNeg, []) => value(a.unary_neg()),
        (Op::FAbs, []) => value(a.unary_abs()),
        (Op::FRound(r), []) => value(a.round_to_integral_with_rounding_mode(&match r {
            Rounding::Floor => RoundingMode::round_towards_negative(),
            Rounding::Ceil => RoundingMode::round_towards_positive(),
            Rounding::Trunc => RoundingMode::round_towards_zero(),
            Rounding::Away => RoundingMode::round_nearest_ties_to_away(),
            Rounding::Even => nearest,
        })),
        (Op::FMin | Op::FMax, [b]) => {
            let before = if op == Op::FMin { a.lt(b.clone()) } else { a.gt(b.clone()) };
            let tie = Bool::and(&[a.eq_fpa(b.clone()), open.clone()]);
            let first = Bool::or(&[b.is_nan(), before, tie]);
            value(a.is_nan().ite(b, &first.ite(a, b)))
        }
        (Op::FCopysign, [b]) => {
            let size = a.unary_abs();
            value(b.is_nan().ite(open, &b.is_negative()).ite(&size.unary_neg(), &size))
        }
        (Op::FEq, [b]) => truth(a.eq_fpa(b.clone())),
        (Op::FLt, [b]) => truth(a.lt(b.clone())),
        (Op::FLe, [b]) => truth(a.le(b.clone())),
        (Op::FIsNan, []) => truth(a.is_nan()),
        (Op::FIsInf, []) => truth(a.is_infinite()),
        (Op::FSignbit, []) => truth(a.is_nan().ite(open, &a.is_negative())),
        (Op::FToF(s), []) if s == sort => value(a.clone()),
        (Op::FToF(s), []) => value(a.to_fp_with_rounding_mode(&nearest, &floats::float_sort(s)?)),
        (Op::FToS(w), []) => {
            let b = a.to_sbv_with_rounding_mode(&RoundingMode::round_towards_zero(), u32::from(w));
            Some((&b).into())
        }
        (Op::FToU(w), []) => {
            let b = a.to_ubv_with_rounding_mode(&RoundingMode::round_towards_zero(), u32::from(w));
            Some((&b).into())
        }
        (Op::FToBits, []) => Some((&signed_bits(a, open)).into()),
        _ => None,
    }
}

/// Returns the bits of a float, those of the canonical NaN for every NaN (Z3 leaves them open).
pub(super) fn float_bits(f: &Float) -> BV {
    let ieee = f.to_ieee_bv();
    let (nan, bits) = match ieee.get_size() {
        32 => (Const::f32(f32::NAN), ieee),
        64 => (Const::f64(f64::NAN), ieee),
        _ => (Const::F80(Extended::NAN), floats::with_leading_bit(&ieee)),
    };
    f.is_nan().ite(&bv(nan.to_bits(), bits.get_size()), &bits)
}

/// Returns the bits of a float; of a NaN those of the canonical one with this sign.
fn signed_bits(f: &Float, sign: &Bool) -> BV {
    let bits = float_bits(f);
    let width = bits.get_size();
    let one = BV::from_u64(1, width);
    let top = one.bvshl(BV::from_u64(u64::from(width) - 1, width));
    Bool::and(&[f.is_nan(), sign.clone()]).ite(&bits.bvor(&top), &bits)
}

/// Facts about `r`, C's `fmod(a, b)`: its special cases, its sign and its bounds. Z3's own remainder
/// rounds the quotient to nearest, which is C's `remainder`.
fn remainder_facts(a: &Float, b: &Float, r: &Float) -> Vec<Bool> {
    let same = |x: &Float, y: &Float| Ast::eq(x, y.clone());
    let undefined = Bool::or(&[a.is_nan(), b.is_nan(), a.is_infinite(), b.is_zero()]);
    let defined = undefined.not();
    let (size_a, size_b, size_r) = (a.unary_abs(), b.unary_abs(), r.unary_abs());
    vec![
        undefined.iff(r.is_nan()),
        Bool::and(&[defined.clone(), size_a.lt(size_b.clone())]).implies(same(r, a)),
        Bool::and(&[defined.clone(), size_a.eq_fpa(size_b.clone())]).implies(r.is_zero()),
        defined.implies(Bool::and(&[
            r.is_negative().iff(a.is_negative()),
            size_r.lt(size_b),
            size_r.le(size_a),
        ])),
    ]
}

fn bits_of(bytes: u64) -> Option<u32> {
    (1..=16).contains(&bytes).then_some(8 * bytes as u32)
}

fn resized(a: &BV, width: u32) -> BV {
    match a.get_size() {
        w if w < width => a.zero_ext(width - w),
        w if w > width => a.extract(width - 1, 0),
        _ => a.clone(),
    }
}

fn plus(address: &BV, k: u64) -> BV {
    if k == 0 { address.clone() } else { address.bvadd(BV::from_u64(k, address.get_size())) }
}

fn load(memory: &Array, at: &BV, bytes: u64) -> Option<BV> {
    bits_of(bytes)?;
    let mut word = memory.select(at).as_bv()?;
    for k in 1..bytes {
        word = memory.select(&plus(at, k)).as_bv()?.concat(word);
    }
    Some(word)
}

fn store(mut memory: Array, at: &BV, bits: &BV) -> Array {
    for k in 0..bits.get_size() / 8 {
        memory = memory.store(&plus(at, u64::from(k)), &bits.extract(8 * k + 7, 8 * k));
    }
    memory
}

/// Returns the bits of a value; `sign` is that of a NaN.
fn to_bits(value: &Dynamic, sign: &Bool) -> Option<BV> {
    if let Some(b) = value.as_bool() {
        return Some(b.ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1)));
    }
    value.as_bv().or_else(|| value.as_float().map(|f| signed_bits(&f, sign)))
}

/// Reads bytes as a value.
fn from_bytes(sort: Sort, word: BV) -> Option<Dynamic> {
    let word = resized(&word, u32::from(sort.bits()?));
    match sort {
        Sort::Bool => Some((&Ast::eq(&word, BV::from_u64(1, 1))).into()),
        Sort::F32 | Sort::F64 | Sort::F80 => Some((&floats::from_bits(&word, sort)?).into()),
        _ => Some((&word).into()),
    }
}
