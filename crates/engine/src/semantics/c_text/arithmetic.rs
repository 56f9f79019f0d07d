//! Operators on integers and floats, and the casts that they need.

use super::types::{Level, Ty, integer_name, usual};
use super::{Renderer, Text, literal};
use crate::ir::{App, Const, Op, Rounding, Sort, Term, TermId};

/// `constant + sum of coefficient * term`, read as signed.
pub(super) struct Linear {
    pub terms: Vec<(i128, TermId)>,
    pub constant: i128,
}

impl Renderer<'_> {
    fn width(&self, t: TermId) -> u16 {
        self.pool.sort(t).bits().unwrap_or(32)
    }

    pub(super) fn pointer_bits(&self) -> u16 {
        self.naming.pointer_bits()
    }

    pub(super) fn promoted(&self, x: &Text) -> (u16, bool) {
        x.ty.promoted(self.pointer_bits())
    }

    pub(super) fn cast(&self, x: &Text, bits: u16, signed: bool) -> Text {
        if !matches!(bits, 8 | 16 | 32 | 64 | 128) {
            return self.cut(x, bits, signed);
        }
        let name = integer_name(bits, signed, self.naming.model());
        Text::new(format!("({name}){}", x.at(Level::Unary)), Level::Unary, Ty::int(bits, signed))
    }

    /// Cuts to a width for which C has no type: by a mask, or by shifting the sign up and down.
    fn cut(&self, x: &Text, bits: u16, signed: bool) -> Text {
        if !signed {
            let mask = literal::mask(Const::Bv { width: 128, bits: Const::mask(bits) });
            let (width, sign) = usual(self.promoted(x), self.promoted(&mask));
            let text = format!("{} & {}", x.at(Level::Unary), mask.text);
            return Text::new(text, Level::BitAnd, Ty::int(width, sign));
        }
        let whole = if bits < 32 { 32 } else { 64 };
        let up = self.cast(x, whole, false);
        let distance = whole - bits.min(whole);
        let name = integer_name(whole, true, self.naming.model());
        let text = format!("({name})({} << {distance}) >> {distance}", up.text);
        Text::new(text, Level::Shift, Ty::int(whole, true))
    }

    pub(super) fn cast_float(&self, x: &Text, sort: Sort) -> Text {
        let name = match sort {
            Sort::F32 => "float",
            Sort::F80 => "long double",
            _ => "double",
        };
        Text::new(format!("({name}){}", x.at(Level::Unary)), Level::Unary, Ty::of_sort(sort))
    }

    /// Renders an operand whose value, not only its low bits, counts: it is read as signed or as
    /// unsigned.
    pub(super) fn strict(&mut self, t: TermId, signed: bool) -> Text {
        if let Some(c) = self.pool.as_const(t) {
            return literal::decimal(c, signed);
        }
        let width = self.width(t);
        let x = self.term(t);
        let (bits, is_signed) = x.ty.integer(self.pointer_bits());
        let fits = if bits < width { signed || !is_signed } else { bits == width && signed == is_signed };
        if fits { x } else { self.cast(&x, width, signed) }
    }

    /// Makes a value that stands alone: nothing but its own type converts it, so a wider one is
    /// cut by a cast. Truth values and choices between small constants fit as they are. Of two narrow
    /// types the one with sign and the one without are promoted to other numbers.
    pub(super) fn narrow(&self, x: Text, t: TermId, signed: Option<bool>) -> Text {
        let width = match self.pool.sort(t) {
            Sort::Bv(width) => width,
            // What rounding may change is another number.
            sort if sort.is_float() && !x.ty.is_float() => {
                let exact = match sort {
                    Sort::F32 => 24,
                    Sort::F80 => 64,
                    _ => 53,
                };
                let (bits, _) = x.ty.integer(self.pointer_bits());
                return if bits > exact { self.cast_float(&x, sort) } else { x };
            }
            _ => return x,
        };
        let small = |&a: &TermId| self.pool.as_const(a).and_then(Const::signed).is_some_and(|v| v >= 0);
        let constants = self.pool.as_op(t, Op::Ite).is_some_and(|args| args.iter().skip(1).all(small));
        match x.ty {
            Ty::Int { bits, signed: s, .. } if bits > width && !constants => {
                self.cast(&x, width, signed.unwrap_or(s))
            }
            Ty::Int { bits, signed: s, .. } if bits == width && width < 32 && !constants => match signed {
                Some(wanted) if wanted != s => self.cast(&x, width, wanted),
                _ => x,
            },
            // A negative value of a narrower type is another one where a type without sign is promoted.
            Ty::Int { bits, signed: true, .. } if bits < width && width < 32 && signed == Some(false) => {
                self.cast(&x, width, false)
            }
            _ => x,
        }
    }

    pub(super) fn operator(&mut self, op: Op, args: &[TermId], sort: Sort) -> Text {
        use Op::*;
        match (op, args) {
            (Ite, &[c, a, b]) => self.choice(c, a, b, sort),
            _ if sort == Sort::Bool => self.relation(op, args),
            (Add | Sub | Neg, _) => self.sum_of(op, args, sort),
            (Mul, &[a, b]) if self.pool.as_const(a).is_some() || self.pool.as_const(b).is_some() => {
                self.sum_of(op, &[a, b], sort)
            }
            (Mul, &[a, b]) => self.modular("*", Level::Product, op, a, b),
            (BitAnd, &[a, b]) => self.modular("&", Level::BitAnd, op, a, b),
            (BitOr, &[a, b]) => self.modular("|", Level::BitOr, op, a, b),
            (BitXor, &[a, b]) => self.modular("^", Level::BitXor, op, a, b),
            (SDiv | UDiv, &[a, b]) => self.quotient("/", a, b, op == SDiv),
            (SRem | URem, &[a, b]) => self.quotient("%", a, b, op == SRem),
            (Shl | LShr | AShr, &[a, k]) => self.shift(op, a, k),
            (BitNot, &[a]) => {
                let x = self.wide(a);
                let (bits, signed) = self.promoted(&x);
                Text::new(format!("~{}", x.at(Level::Unary)), Level::Unary, Ty::int(bits, signed))
            }
            (Zext(_), &[a]) => self.zero_extension(a),
            (Sext(_), &[a]) => self.strict(a, true),
            (Trunc(width), &[a]) => self.bit_field(a, width).unwrap_or_else(|| self.term(a)),
            (Concat, &[h, l]) => self.concatenation(h, l, sort),
            (FToS(w), &[a]) => self.float_to_int(a, w, true),
            (FToU(w), &[a]) => self.float_to_int(a, w, false),
            (FToBits | BitsToF(_), &[a]) => {
                let text = format!("\\bits({})", self.term(a).text);
                self.cannot(text, sort)
            }
            _ => self.float_operator(op, args, sort),
        }
    }

    fn float_to_int(&mut self, a: TermId, bits: u16, signed: bool) -> Text {
        let x = self.float_value(a);
        self.cast(&x, bits, signed)
    }

    /// Renders an operand at least as wide as its term, with whatever signedness.
    fn wide(&mut self, t: TermId) -> Text {
        let x = match self.pool.as_const(t) {
            Some(c) => literal::decimal(c, true),
            None => self.term(t),
        };
        let (bits, signed) = self.promoted(&x);
        if bits < self.width(t) { self.cast(&x, self.width(t), signed) } else { x }
    }

    fn zero_extension(&mut self, a: TermId) -> Text {
        if let Term::App(App::Op(Op::Trunc(k)), inner) = self.pool.get(a)
            && !matches!(k, 8 | 16 | 32 | 64)
            && let &[inner] = inner.as_slice()
        {
            let (k, field) = (*k, self.bit_field(inner, *k));
            if let Some(field) = field {
                let (_, signed) = field.ty.integer(self.pointer_bits());
                return if signed { self.cut(&field, k, false) } else { field };
            }
            let x = self.term(inner);
            return self.cut(&x, k, false);
        }
        self.strict(a, false)
    }

    fn concatenation(&mut self, h: TermId, l: TermId, sort: Sort) -> Text {
        let (width, shift) = (sort.bits().unwrap_or(64), self.width(l));
        let high = self.strict(h, false);
        let high = self.cast(&high, width.next_power_of_two().max(32), false);
        let low = self.strict(l, false);
        let text = format!("{} << {shift} | {}", high.at(Level::Unary), low.at(Level::Shift));
        Text::new(text, Level::BitOr, high.ty)
    }

    /// Collects a sum of bit-vectors.
    pub(super) fn linear(&self, roots: &[(i128, TermId)], width: u16) -> Linear {
        let signed = |v: i128| Const::bv(width, v).signed().unwrap_or(v);
        let mut sum = Linear { terms: Vec::new(), constant: 0 };
        let mut stack: Vec<(i128, TermId)> = roots.iter().rev().copied().collect();
        while let Some((k, t)) = stack.pop() {
            if let Some(c) = self.pool.as_const(t) {
                let value = c.signed().unwrap_or(0).wrapping_mul(k);
                sum.constant = signed(sum.constant.wrapping_add(value));
                continue;
            }
            let named = self.named(t).is_some();
            match self.pool.get(t) {
                Term::App(App::Op(op), args) if !named => match (op, args.as_slice()) {
                    (Op::Add, &[a, b]) => stack.extend([(k, b), (k, a)]),
                    (Op::Sub, &[a, b]) => stack.extend([(k.wrapping_neg(), b), (k, a)]),
                    (Op::Neg, &[a]) => stack.push((k.wrapping_neg(), a)),
                    (Op::Mul, &[a, b]) => match (self.pool.as_const(a), self.pool.as_const(b)) {
                        (_, Some(c)) => stack.push((signed(k.wrapping_mul(c.signed().unwrap_or(0))), a)),
                        (Some(c), _) => stack.push((signed(k.wrapping_mul(c.signed().unwrap_or(0))), b)),
                        _ => sum.terms.push((k, t)),
                    },
                    _ => sum.terms.push((k, t)),
                },
                _ => sum.terms.push((k, t)),
            }
        }
        sum
    }

    fn sum_of(&mut self, op: Op, args: &[TermId], sort: Sort) -> Text {
        let width = sort.bits().unwrap_or(32);
        let roots: Vec<(i128, TermId)> = match (op, args) {
            (Op::Neg, &[a]) => vec![(-1, a)],
            (Op::Sub, &[a, b]) => vec![(1, a), (-1, b)],
            (Op::Mul, &[a, b]) => match (self.pool.as_const(a), self.pool.as_const(b)) {
                (_, Some(c)) => vec![(c.signed().unwrap_or(0), a)],
                (Some(c), _) => vec![(c.signed().unwrap_or(0), b)],
                _ => return self.modular("*", Level::Product, op, a, b),
            },
            _ => args.iter().map(|&a| (1, a)).collect(),
        };
        let linear = self.linear(&roots, width);
        if width == self.pointer_bits()
            && let Some(text) = self.address(&linear)
        {
            return text;
        }
        self.integer_sum(&linear, width)
    }

    /// Renders a sum: positive summands, then negative ones, the constant last.
    pub(super) fn integer_sum(&mut self, sum: &Linear, width: u16) -> Text {
        let mut ordered: Vec<(i128, TermId)> = sum.terms.iter().copied().filter(|s| s.0 > 0).collect();
        let negative: Vec<(i128, TermId)> = sum.terms.iter().copied().filter(|s| s.0 <= 0).collect();
        let constant_first = ordered.is_empty() && sum.constant > 0 && !negative.is_empty();
        ordered.extend(negative);
        let mut parts: Vec<(bool, Text)> = ordered.iter().map(|&(k, t)| self.summand(k, t, width)).collect();
        if sum.constant != 0 || parts.is_empty() {
            let at = if constant_first { 0 } else { parts.len() };
            let magnitude = i128::try_from(sum.constant.unsigned_abs()).unwrap_or(i128::MAX);
            parts.insert(at, (sum.constant < 0, literal::integer(magnitude)));
        }
        // Only a coefficient takes the sign in: `-(7 % x)` is not `-7 % x`.
        let scaled = ordered.first().is_some_and(|&(k, _)| k.unsigned_abs() != 1);
        self.widen_first(&mut parts, width);
        let mut out: Option<Text> = None;
        for (minus, part) in parts {
            out = Some(match out {
                None if !minus => part,
                None => {
                    let (bits, signed) = self.promoted(&part);
                    let (operand, level) = match scaled {
                        true => (part.text.clone(), Level::Product),
                        false => (operand_of_minus(&part), Level::Unary),
                    };
                    Text::new(format!("-{operand}"), level, Ty::int(bits, signed))
                }
                Some(left) => {
                    let (bits, signed) = usual(self.promoted(&left), self.promoted(&part));
                    let sign = if minus { '-' } else { '+' };
                    let text = format!("{} {sign} {}", left.at(Level::Sum), part.at(Level::Product));
                    Text::new(text, Level::Sum, Ty::int(bits, signed))
                }
            });
        }
        out.unwrap_or_else(|| literal::integer(0))
    }

    /// Renders `|k| * t`, and whether it is subtracted.
    fn summand(&mut self, k: i128, t: TermId, width: u16) -> (bool, Text) {
        let mut x = self.term(t);
        let magnitude = k.unsigned_abs();
        if magnitude != 1 {
            let (bits, signed) = self.promoted(&x);
            if bits < width {
                x = self.cast(&x, width, signed);
            }
            let factor = literal::integer(i128::try_from(magnitude).unwrap_or(i128::MAX));
            let (bits, signed) = usual(self.promoted(&factor), self.promoted(&x));
            let text = format!("{} * {}", factor.text, x.at(Level::Unary));
            x = Text::new(text, Level::Product, Ty::int(bits, signed));
        }
        (k < 0, x)
    }

    /// Casts the first operand if C would add the first two in a type that is too narrow.
    fn widen_first(&self, parts: &mut [(bool, Text)], width: u16) {
        let (bits, minus) = match parts {
            [(minus, a), (_, b), ..] => (usual(self.promoted(a), self.promoted(b)).0, *minus),
            [(true, a)] => (self.promoted(a).0, true),
            _ => return,
        };
        let is_literal = |t: &Text| t.text.bytes().all(|b| b.is_ascii_digit());
        if parts.iter().all(|(_, part)| is_literal(part)) {
            return;
        }
        let lone_minus = minus && parts.first().is_some_and(|(_, a)| self.promoted(a).0 < width);
        if bits < width || lone_minus {
            let which = usize::from(parts.first().is_some_and(|(_, a)| is_literal(a)) && parts.len() > 1);
            if let Some((_, x)) = parts.get_mut(which) {
                let (_, signed) = self.promoted(x);
                *x = self.cast(x, width, signed);
            }
        }
    }

    /// A mask by the name that the source has for it, or for its complement: first what it writes beside what is
    /// masked.
    fn flag(&self, c: Const, beside: Option<&str>) -> Option<Text> {
        let Const::Bv { width, bits } = c else { return None };
        let complement = Const::Bv { width, bits: !bits & Const::mask(width) };
        let written = |c: Const| {
            let name = self.naming.compared_with(beside?, c)?;
            Some(Text::new(name, Level::Primary, literal::integer(0).ty))
        };
        let not = |x: Text| Text::new(format!("~{}", x.text), Level::Unary, x.ty);
        written(c)
            .or_else(|| written(complement).map(not))
            .or_else(|| self.macro_of(c, false))
            .or_else(|| self.macro_of(complement, false).map(not))
    }

    /// Operators whose low bits depend on the operands' low bits only.
    fn modular(&mut self, symbol: &str, level: Level, op: Op, a: TermId, b: TermId) -> Text {
        let bitwise = op != Op::Mul;
        let (a, b) = self.compound_first(a, b, |t| matches!(t, Term::App(App::Op(o), _) if *o == op));
        let width = self.width(a);
        let [of_a, of_b] = [a, b].map(|t| match self.pool.as_const(t) {
            Some(_) => None,
            None => Some(self.term(t)),
        });
        let masked = of_a.as_ref().or(of_b.as_ref()).map(|x| x.text.clone());
        let operand = |t: TermId, known: Option<Text>| match self.pool.as_const(t) {
            Some(c) if bitwise => self.flag(c, masked.as_deref()).unwrap_or_else(|| literal::mask(c)),
            Some(c) => literal::decimal(c, true),
            None => known.unwrap_or_else(|| literal::integer(0)),
        };
        let (mut l, r) = (operand(a, of_a), operand(b, of_b));
        if l.ty.is_pointer() {
            l = self.cast(&l, self.pointer_bits(), false);
        }
        let (pl, pr) = (self.promoted(&l), self.promoted(&r));
        let mut ty = usual(pl, pr);
        // Extension by the sign, or by zeros, commutes with bitwise operators.
        if ty.0 < width && !(bitwise && pl.1 == pr.1) {
            l = self.cast(&l, width, pl.1);
            ty = usual((width, pl.1), pr);
        }
        let (left, right) = if bitwise {
            // People group mixed bit operators by parentheses.
            let own = if l.level == level { level } else { Level::Unary };
            (l.at(own), r.at(Level::Unary))
        } else {
            (l.at(level), r.at(Level::Unary))
        };
        Text::new(format!("{left} {symbol} {right}"), level, Ty::int(ty.0, ty.1))
    }

    /// Orders commuting operands so that a chain of one operator needs no parentheses.
    fn compound_first(&self, a: TermId, b: TermId, chain: impl Fn(&Term) -> bool) -> (TermId, TermId) {
        if chain(self.pool.get(b)) && !chain(self.pool.get(a)) { (b, a) } else { (a, b) }
    }

    fn quotient(&mut self, symbol: &str, a: TermId, b: TermId, signed: bool) -> Text {
        let width = self.width(a);
        let (mut l, mut r) = (self.strict(a, signed), self.strict(b, signed));
        let mut ty = usual(self.promoted(&l), self.promoted(&r));
        if signed && (ty.0 < width || !ty.1) {
            if self.pool.as_const(a).is_some() {
                r = self.cast(&r, width, true);
            } else {
                l = self.cast(&l, width, true);
            }
            ty = usual(self.promoted(&l), self.promoted(&r));
        }
        let text = format!("{} {symbol} {}", l.at(Level::Product), r.at(Level::Unary));
        Text::new(text, Level::Product, Ty::int(ty.0, ty.1))
    }

    fn shift(&mut self, op: Op, a: TermId, count: TermId) -> Text {
        let width = self.width(a);
        let mut l = match op {
            Op::Shl => self.wide(a),
            _ => self.strict(a, op == Op::AShr),
        };
        // The count may reach the promoted width of an operand that is narrower than the term.
        let (bits, _) = self.promoted(&l);
        let small = self.pool.as_const(count).is_some_and(|c| c.to_bits() < u128::from(bits));
        if bits < width && !small {
            l = self.cast(&l, width, op == Op::AShr);
        }
        // The count is below the width, so that its own width does not matter.
        let mut k = count;
        while let Term::App(App::Op(Op::Zext(_) | Op::Sext(_)), args) = self.pool.get(k)
            && let &[inner] = args.as_slice()
        {
            k = inner;
        }
        let r = match self.pool.as_const(k) {
            Some(c) => literal::decimal(c, false),
            // A field of few bits is a count that a sign would make another one.
            None => {
                let x = self.term(k);
                self.narrow(x, k, (self.width(k) < 8).then_some(false))
            }
        };
        let (bits, signed) = self.promoted(&l);
        let symbol = if op == Op::Shl { "<<" } else { ">>" };
        let text = format!("{} {symbol} {}", l.at(Level::Unary), r.at(Level::Unary));
        Text::new(text, Level::Shift, Ty::int(bits, signed))
    }

    /// Renders a float operand as an expression of floating type.
    pub(super) fn float_value(&mut self, t: TermId) -> Text {
        let x = self.term(t);
        if x.ty.is_float() { x } else { self.cast_float(&x, self.pool.sort(t)) }
    }

    /// Renders two float operands so that C computes in the format of `sort`.
    pub(super) fn float_pair(&mut self, a: TermId, b: TermId, sort: Sort) -> (Text, Text) {
        let (mut l, r) = (self.term(a), self.term(b));
        let wanted = Ty::of_sort(sort);
        if l.ty == wanted || r.ty == wanted {
            return (l, r);
        }
        l = self.cast_float(&l, sort);
        (l, r)
    }

    fn float_operator(&mut self, op: Op, args: &[TermId], sort: Sort) -> Text {
        use Op::*;
        let name = match op {
            FAbs => "fabs",
            FSqrt => "sqrt",
            FRem => "fmod",
            FFma => "fma",
            FMin => "fmin",
            FMax => "fmax",
            FCopysign => "copysign",
            FRound(Rounding::Floor) => "floor",
            FRound(Rounding::Ceil) => "ceil",
            FRound(Rounding::Trunc) => "trunc",
            FRound(Rounding::Away) => "round",
            FRound(Rounding::Even) => "rint",
            _ => "",
        };
        if !name.is_empty() {
            let suffix = match sort {
                Sort::F32 => "f",
                Sort::F80 => "l",
                _ => "",
            };
            let list: Vec<String> = args.iter().map(|&a| self.term(a).at(Level::Conditional)).collect();
            return Text::new(
                format!("{name}{suffix}({})", list.join(", ")),
                Level::Primary,
                Ty::of_sort(sort),
            );
        }
        match (op, args) {
            (FAdd, &[a, b]) => self.float_sum(a, b, sort),
            (FSub, &[a, b]) => self.float_binary("-", Level::Sum, a, b, sort),
            (FMul, &[a, b]) => {
                let chain = |t: &Term| matches!(t, Term::App(App::Op(FMul | FDiv), _));
                let (a, b) = self.compound_first(a, b, chain);
                let constant_last = self.pool.as_const(b).is_some() && !chain(self.pool.get(a));
                let (a, b) = if constant_last { (b, a) } else { (a, b) };
                self.float_binary("*", Level::Product, a, b, sort)
            }
            (FDiv, &[a, b]) => self.float_binary("/", Level::Product, a, b, sort),
            (FNeg, &[a]) => {
                let x = self.float_value(a);
                Text::new(format!("-{}", operand_of_minus(&x)), Level::Unary, x.ty)
            }
            (FToF(to), &[a]) if to.bits() > self.pool.sort(a).bits() => self.float_value(a),
            (FToF(_), &[a]) => {
                let x = self.term(a);
                match x.ty {
                    // Widened and narrowed again.
                    Ty::F32 => x,
                    Ty::F64 if sort == Sort::F64 => x,
                    Ty::F64 | Ty::F80 => self.cast_float(&x, sort),
                    // Integers that `double` holds exactly are rounded once.
                    Ty::Int { bits, .. } if bits <= 32 => self.cast_float(&x, sort),
                    _ => self.cast_float(&self.cast_float(&x, self.pool.sort(a)), sort),
                }
            }
            (SToF(_), &[a]) => self.strict(a, true),
            (UToF(_), &[a]) => self.strict(a, false),
            _ => self.cannot("...", sort),
        }
    }

    /// `a + b`, with subtraction where one of them is negated: `FSub` does not occur in terms.
    fn float_sum(&mut self, a: TermId, b: TermId, sort: Sort) -> Text {
        let negated = |t: TermId| self.pool.as_op(t, Op::FNeg).and_then(|x| x.first().copied());
        if let Some(x) = negated(b) {
            return self.float_binary("-", Level::Sum, a, x, sort);
        }
        if let Some(x) = negated(a) {
            return self.float_binary("-", Level::Sum, b, x, sort);
        }
        let chain = |t: &Term| matches!(t, Term::App(App::Op(Op::FAdd | Op::FSub), _));
        let (a, b) = self.compound_first(a, b, chain);
        let (a, b) = if self.pool.as_const(a).is_some() { (b, a) } else { (a, b) };
        match self.pool.as_const(b) {
            Some(c) if c.is_negative_float() => {
                let magnitude = match c {
                    Const::F32(bits) => Const::F32(bits & 0x7fff_ffff),
                    Const::F64(bits) => Const::F64(bits & (u64::MAX >> 1)),
                    Const::F80(x) => Const::F80(x.abs()),
                    other => other,
                };
                let (l, r) = (self.term(a), literal::float(magnitude));
                let text = format!("{} - {}", l.at(Level::Sum), r.text);
                Text::new(text, Level::Sum, Ty::of_sort(sort))
            }
            _ => self.float_binary("+", Level::Sum, a, b, sort),
        }
    }

    fn float_binary(&mut self, symbol: &str, level: Level, a: TermId, b: TermId, sort: Sort) -> Text {
        let (l, r) = self.float_pair(a, b, sort);
        // Floats do not associate: the right operand of a chain keeps its parentheses.
        let above = if level == Level::Sum { Level::Product } else { Level::Unary };
        let text = format!("{} {symbol} {}", l.at(level), r.at(above));
        Text::new(text, level, Ty::of_sort(sort))
    }
}

/// Returns the operand of a unary minus, so that no `--` appears.
fn operand_of_minus(x: &Text) -> String {
    if x.text.starts_with('-') { format!("({})", x.text) } else { x.at(Level::Unary) }
}
