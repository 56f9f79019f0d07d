//! Truth values: comparisons, connectives, and choices by them.

use super::types::{Level, Ty, usual};
use super::{Renderer, Text, literal};
use crate::ir::{App, Const, Leaf, Op, Sort, Term, TermId};

/// Returns whether text of an operator binds no tighter than `==` does.
pub(super) fn binds_weaker_than_equality(op: Op, sort: Sort) -> bool {
    sort == Sort::Bool || matches!(op, Op::Ite | Op::BitAnd | Op::BitOr | Op::BitXor | Op::Concat)
}

/// How operands of a comparison are read.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    Signed,
    Unsigned,
    /// Equality of bit patterns.
    Bits,
}

impl Renderer<'_> {
    /// Renders a truth value.
    pub(super) fn condition(&mut self, t: TermId) -> Text {
        self.term(t)
    }

    /// Renders a truth value as 0 or 1; the macros that classify floats promise only non-zero.
    fn truth(&mut self, t: TermId) -> Text {
        let x = self.condition(t);
        match self.pool.get(t) {
            Term::App(App::Op(Op::FIsNan | Op::FIsInf | Op::FSignbit), _) if self.c => {
                Text::new(format!("{} != 0", x.at(Level::Relation)), Level::Equality, Ty::INT)
            }
            _ => x,
        }
    }

    /// Renders the opposite of a truth value.
    fn negation(&mut self, t: TermId) -> Text {
        if let Term::App(App::Op(op), args) = self.pool.get(t)
            && self.named(t).is_none()
            && let &[a, b] = args.as_slice()
        {
            match op {
                Op::Eq if self.pool.sort(a).is_float() && self.c => {}
                Op::Eq => return self.equality("!=", a, b),
                Op::FEq => return self.float_comparison("!=", Level::Equality, a, b),
                Op::Slt => return self.order("<=", b, a, Reading::Signed),
                Op::Sle => return self.order("<", b, a, Reading::Signed),
                Op::Ult => return self.order("<=", b, a, Reading::Unsigned),
                Op::Ule => return self.order("<", b, a, Reading::Unsigned),
                _ => {}
            }
        }
        if let Some(&[inner]) = self.pool.as_op(t, Op::Not) {
            return self.condition(inner);
        }
        let x = self.condition(t);
        Text::new(format!("!{}", x.at(Level::Unary)), Level::Unary, Ty::INT)
    }

    /// Renders an operator that yields a truth value.
    pub(super) fn relation(&mut self, op: Op, args: &[TermId]) -> Text {
        match (op, args) {
            (Op::Not, &[a]) => self.negation(a),
            (Op::And, _) => self.conjunction(args),
            (Op::Or, _) => self.junction(" || ", Level::Or, args),
            (Op::Eq, &[a, b]) => self.equality("==", a, b),
            (Op::Slt, &[a, b]) => self.order("<", a, b, Reading::Signed),
            (Op::Sle, &[a, b]) => self.order("<=", a, b, Reading::Signed),
            (Op::Ult, &[a, b]) => self.order("<", a, b, Reading::Unsigned),
            (Op::Ule, &[a, b]) => self.order("<=", a, b, Reading::Unsigned),
            (Op::FEq, &[a, b]) => self.float_comparison("==", Level::Equality, a, b),
            (Op::FLt, &[a, b]) => self.float_comparison("<", Level::Relation, a, b),
            (Op::FLe, &[a, b]) => self.float_comparison("<=", Level::Relation, a, b),
            (Op::FIsNan, &[a]) => self.classification("isnan", a),
            (Op::FIsInf, &[a]) => self.classification("isinf", a),
            (Op::FSignbit, &[a]) => self.classification("signbit", a),
            _ => self.cannot("...", Sort::Bool),
        }
    }

    fn classification(&mut self, name: &str, a: TermId) -> Text {
        let x = self.float_value(a);
        Text::new(format!("{name}({})", x.text), Level::Primary, Ty::INT)
    }

    /// Orders operands so that those which may be undefined come after those which cannot: a term
    /// has forgotten which of them the source tests first.
    fn guards_first(&self, args: &[TermId]) -> Vec<TermId> {
        const EXAMINED: usize = 200;
        let mut ordered = args.to_vec();
        if args.len() <= 8 {
            ordered.sort_by_cached_key(|&a| self.pool.has_some(a, EXAMINED, |t| self.may_be_undefined(t)));
        }
        ordered
    }

    fn may_be_undefined(&self, t: TermId) -> bool {
        match self.pool.get(t) {
            Term::App(App::Load { .. }, _) => true,
            Term::App(App::Op(Op::UDiv | Op::SDiv | Op::URem | Op::SRem), args) => {
                args.get(1).is_none_or(|&d| self.pool.as_const(d).is_none())
            }
            _ => false,
        }
    }

    fn junction(&mut self, symbol: &str, level: Level, args: &[TermId]) -> Text {
        // `&&` inside `||` gets parentheses, as compilers ask for.
        let inner = if level == Level::Or { Level::BitOr } else { Level::And };
        let parts: Vec<String> = self
            .guards_first(args)
            .into_iter()
            .map(|a| {
                let x = self.condition(a);
                if x.level == level { x.text } else { x.at(inner) }
            })
            .collect();
        Text::new(parts.join(symbol), level, Ty::INT)
    }

    /// Renders a conjunction, bounds of one thing as a range: `0 <= x && x <= 9`.
    fn conjunction(&mut self, args: &[TermId]) -> Text {
        let args = &self.guards_first(args);
        let mut parts: Vec<String> = Vec::new();
        let mut used = vec![false; args.len()];
        for (i, &a) in args.iter().enumerate() {
            if used.get(i) != Some(&false) {
                continue;
            }
            let pair = args.iter().enumerate().find_map(|(j, &b)| {
                let free = j != i && used.get(j) == Some(&false);
                free.then(|| self.range(a, b).or_else(|| self.range(b, a)).map(|r| (j, r))).flatten()
            });
            if let Some((j, (low, high))) = pair {
                used[j] = true;
                for (op, x, y) in [low, high] {
                    let (symbol, reading) = order_of(op);
                    parts.push(self.comparison(symbol, x, y, reading).at(Level::And));
                }
            } else {
                parts.push(self.condition(a).at(Level::And));
            }
        }
        Text::new(parts.join(" && "), Level::And, Ty::INT)
    }

    /// Returns both comparisons if the first bounds something from below by a constant and the
    /// second the same thing from above.
    #[expect(clippy::type_complexity, reason = "two comparisons, each an operator with operands")]
    fn range(&self, low: TermId, high: TermId) -> Option<((Op, TermId, TermId), (Op, TermId, TermId))> {
        let bound = |t: TermId| match self.pool.get(t) {
            Term::App(App::Op(op @ (Op::Slt | Op::Sle | Op::Ult | Op::Ule)), args) => match args.as_slice() {
                &[a, b] => Some((*op, a, b)),
                _ => None,
            },
            _ => None,
        };
        let (l, h) = (bound(low)?, bound(high)?);
        let constant = self.pool.as_const(l.1).is_some();
        (constant && l.2 == h.1 && order_of(l.0).1 == order_of(h.0).1).then_some((l, h))
    }

    /// An order with a constant on the left is turned round.
    fn order(&mut self, symbol: &str, a: TermId, b: TermId, reading: Reading) -> Text {
        if self.constancy(a) > self.constancy(b) {
            let turned = if symbol == "<" { ">" } else { ">=" };
            return self.bounded(turned, b, a, reading);
        }
        self.bounded(symbol, a, b, reading)
    }

    /// What is more constant stands on the right: numbers, constants, objects of the file.
    fn constancy(&self, t: TermId) -> u8 {
        let is_const =
            |symbol: &str| self.naming.unit.and_then(|u| u.global(symbol)).is_some_and(|g| g.is_const);
        let symbol = |t: TermId| match self.pool.get(t) {
            Term::Leaf(Leaf::SymbolAddr { symbol, .. }) => Some(symbol.clone()),
            _ => None,
        };
        match self.pool.get(t) {
            Term::Const(_) => 3,
            Term::App(App::Load { .. }, args) => match args.get(1).and_then(|address| symbol(*address)) {
                Some(symbol) => 1 + u8::from(is_const(&symbol)),
                None => 0,
            },
            _ => 0,
        }
    }

    /// `x > 4` where the source has a name for 5 and none for 4: `x >= FIVE`.
    fn bounded(&mut self, symbol: &str, a: TermId, b: TermId, reading: Reading) -> Text {
        let beside = match symbol {
            ">" => Some((">=", 1)),
            "<=" => Some(("<", 1)),
            ">=" => Some((">", -1)),
            "<" => Some(("<=", -1)),
            _ => None,
        };
        let signed = reading == Reading::Signed;
        let value = self
            .pool
            .as_const(b)
            .filter(|_| !self.naming.macros.is_empty() && self.pool.as_const(a).is_none());
        let value = value.and_then(|c| if signed { c.signed() } else { i128::try_from(c.unsigned()?).ok() });
        if let (Some((other, step)), Some(value)) = (beside, value)
            && self.naming.macro_of(value).is_none()
            && let Some(name) =
                self.naming.macro_of(value + step).filter(|_| value + step > 0).map(str::to_owned)
        {
            let x = self.compared(a, reading);
            let is_signed = x.ty.integer(self.pointer_bits()).1;
            if is_signed == signed {
                return Text::new(format!("{} {other} {name}", x.at(Level::Shift)), Level::Relation, Ty::INT);
            }
        }
        self.comparison(symbol, a, b, reading)
    }

    fn equality(&mut self, symbol: &str, a: TermId, b: TermId) -> Text {
        let (a, b) = if self.constancy(a) > self.constancy(b) { (b, a) } else { (a, b) };
        match self.pool.sort(a) {
            Sort::Bv(_) => self.comparison(symbol, a, b, Reading::Bits),
            Sort::F32 | Sort::F64 | Sort::F80 => self.float_identity(symbol, a, b),
            Sort::Bool => {
                let (l, r) = (self.truth(a).at(Level::Unary), self.truth(b).at(Level::Unary));
                Text::new(format!("{l} {symbol} {r}"), Level::Equality, Ty::INT)
            }
            sort => self.cannot("...", sort),
        }
    }

    /// Renders a comparison of bit-vectors so that C compares the values that are meant.
    fn comparison(&mut self, symbol: &str, a: TermId, b: TermId, reading: Reading) -> Text {
        let width = self.pool.sort(a).bits().unwrap_or(32);
        let (ca, cb) = (self.pool.as_const(a), self.pool.as_const(b));
        let mut l = self.compared(a, reading);
        let mut r = self.compared(b, reading);
        match (ca, cb) {
            (Some(c), None) => l = self.constant_beside(c, &r, reading),
            (None, Some(c)) => r = self.constant_beside(c, &l, reading),
            _ => {
                if let Some(again) = self.address_beside(b, (&r, &l)) {
                    r = again;
                } else if let Some(again) = self.address_beside(a, (&l, &r)) {
                    l = again;
                }
            }
        }
        if reading == Reading::Bits && width < 32 && ca.is_none() && cb.is_none() {
            // Equal bytes are unequal `int`s when only one of them is sign-extended.
            let bits = self.pointer_bits();
            let (tl, tr) = (l.ty.integer(bits), r.ty.integer(bits));
            if tl.1 != tr.1 && tl.0 == width && tr.0 == width {
                l = self.cast(&l, width, tr.1);
            }
        }
        let common = usual(self.promoted(&l), self.promoted(&r));
        let negative = |x: &Text, constant: Option<Const>| match constant {
            Some(_) => x.text.starts_with('-'),
            None => x.ty.integer(self.pointer_bits()).1,
        };
        let same_bits = reading == Reading::Bits && common.0 == width;
        if !common.1 && !same_bits && (negative(&l, ca) || negative(&r, cb)) {
            if ca.is_none() {
                l = self.cast(&l, width, true);
            } else {
                r = self.cast(&r, width, true);
            }
        }
        let level = if symbol.ends_with("==") || symbol == "!=" { Level::Equality } else { Level::Relation };
        // Comparisons do not chain, and bit operators bind weaker than a reader expects.
        let text = format!("{} {symbol} {}", l.at(Level::Shift), r.at(Level::Shift));
        Text::new(text, level, Ty::INT)
    }

    fn compared(&mut self, t: TermId, reading: Reading) -> Text {
        match reading {
            Reading::Signed => self.strict(t, true),
            Reading::Unsigned => self.strict(t, false),
            Reading::Bits => self.value(t, None),
        }
    }

    /// Renders a constant in the manner of what it is compared with.
    fn constant_beside(&self, c: Const, other: &Text, reading: Reading) -> Text {
        let Const::Bv { width, .. } = c else { return literal::plain(c) };
        let (bits, is_signed) = other.ty.integer(self.pointer_bits());
        let signed = match reading {
            Reading::Signed => true,
            Reading::Unsigned => false,
            Reading::Bits => bits < width || is_signed,
        };
        if let Some(named) = self.enumerator(c, &other.ty) {
            return named;
        }
        if let Some(name) = self.naming.compared_with(&other.text, c) {
            return Text::new(name.to_owned(), Level::Primary, Ty::INT);
        }
        // Pointers and numbers are tested against zero without a word.
        let is_tested = c.unsigned() == Some(0);
        if let Some(named) = self.macro_of(c, signed || other.ty.is_pointer()).filter(|_| !is_tested) {
            return named;
        }
        let special = other.ty.is_pointer() || matches!(other.ty, Ty::Int { character: true, .. });
        if special && (signed || other.ty.is_pointer()) {
            return literal::like(c, &other.ty, self.pointer_bits());
        }
        literal::decimal(c, signed)
    }

    fn float_comparison(&mut self, symbol: &str, level: Level, a: TermId, b: TermId) -> Text {
        let turned = match symbol {
            "<" => ">",
            "<=" => ">=",
            same => same,
        };
        if self.pool.as_const(a).is_some() && self.pool.as_const(b).is_none() {
            return self.float_comparison_as_is(turned, level, b, a);
        }
        self.float_comparison_as_is(symbol, level, a, b)
    }

    fn float_comparison_as_is(&mut self, symbol: &str, level: Level, a: TermId, b: TermId) -> Text {
        let (mut l, r) = (self.term(a), self.term(b));
        // Two floats compare as their widened values do; two integers do not.
        let sort = self.pool.sort(a);
        let wanted = Ty::of_sort(sort);
        let narrow_pair = l.ty.is_float() && r.ty.is_float();
        if l.ty != wanted && r.ty != wanted && !narrow_pair {
            l = self.cast_float(&l, sort);
        }
        let text = format!("{} {symbol} {}", l.at(Level::Shift), r.at(Level::Shift));
        Text::new(text, level, Ty::INT)
    }

    /// Identity of IEEE values. People read `==`; plain C has to tell NaNs and signs of zeros.
    fn float_identity(&mut self, symbol: &str, a: TermId, b: TermId) -> Text {
        let not = if symbol == "!=" { "!" } else { "" };
        let constant = self.pool.as_const(b);
        if constant.is_some_and(Const::is_nan) {
            let x = self.float_value(a);
            return Text::new(format!("{not}isnan({})", x.text), Level::Unary, Ty::INT);
        }
        let exact = constant.is_some_and(|v| !v.is_float_zero());
        if !self.c || exact {
            return self.float_comparison_as_is(symbol, Level::Equality, a, b);
        }
        let (x, y) = (self.float_value(a), self.float_value(b));
        let (xs, ys) = (x.at(Level::Relation), y.at(Level::Relation));
        if constant.is_some() {
            let sign = if y.text.starts_with('-') { "" } else { "!" };
            return Text::new(format!("{xs} == 0 && {sign}signbit({})", x.text), Level::And, Ty::INT);
        }
        let same_sign = format!("!signbit({}) == !signbit({})", x.text, y.text);
        let text = format!("({xs} == {ys} && {same_sign}) || (isnan({}) && isnan({}))", x.text, y.text);
        Text::new(text, Level::Or, Ty::INT)
    }

    /// `condition ? a : b`; a truth value as an integer is the condition itself.
    pub(super) fn choice(&mut self, condition: TermId, a: TermId, b: TermId, sort: Sort) -> Text {
        if let (Sort::Bv(width), Some(x), Some(y)) = (sort, self.pool.as_const(a), self.pool.as_const(b)) {
            if (x, y) == (Const::bv(width, 1), Const::bv(width, 0)) {
                return self.truth(condition);
            }
            if (x, y) == (Const::bv(width, 0), Const::bv(width, 1)) {
                return self.negation(condition);
            }
        }
        let c = self.condition(condition);
        let (l, r) = self.branches(a, b, sort);
        let ty = self.common_type(&l, &r, sort);
        // The middle operand is bracketed by `?` and `:`, the last one may be a choice itself.
        let text = format!("{} ? {} : {}", c.at(Level::Or), l.at(Level::Or), r.at(Level::Conditional));
        Text::new(text, Level::Conditional, ty)
    }

    fn branches(&mut self, a: TermId, b: TermId, sort: Sort) -> (Text, Text) {
        match sort {
            Sort::F32 | Sort::F64 | Sort::F80 => self.float_pair(a, b, sort),
            Sort::Bv(width) => {
                let (mut l, mut r) = (self.term(a), self.term(b));
                match (self.pool.as_const(a), self.pool.as_const(b)) {
                    (Some(c), None) => l = self.constant_beside(c, &r, Reading::Bits),
                    (None, Some(c)) => r = self.constant_beside(c, &l, Reading::Bits),
                    _ => {}
                }
                let common = usual(self.promoted(&l), self.promoted(&r));
                let signed = |x: &Text| x.ty.integer(self.pointer_bits()).1 && !is_number(x);
                if common.0 < width && !common.1 && (signed(&l) || signed(&r)) {
                    let sign = self.promoted(&l).1;
                    l = self.cast(&l, width, sign);
                }
                (l, r)
            }
            _ => (self.term(a), self.term(b)),
        }
    }

    fn common_type(&self, l: &Text, r: &Text, sort: Sort) -> Ty {
        if l.ty == r.ty || l.ty.is_pointer() {
            return l.ty.clone();
        }
        if r.ty.is_pointer() {
            return r.ty.clone();
        }
        match sort {
            Sort::Bv(_) => {
                let (bits, signed) = usual(self.promoted(l), self.promoted(r));
                Ty::int(bits, signed)
            }
            other => Ty::of_sort(other),
        }
    }
}

/// Returns whether text is a number without a sign.
fn is_number(x: &Text) -> bool {
    x.text.bytes().all(|b| b.is_ascii_digit())
}

fn order_of(op: Op) -> (&'static str, Reading) {
    match op {
        Op::Slt => ("<", Reading::Signed),
        Op::Sle => ("<=", Reading::Signed),
        Op::Ult => ("<", Reading::Unsigned),
        _ => ("<=", Reading::Unsigned),
    }
}
