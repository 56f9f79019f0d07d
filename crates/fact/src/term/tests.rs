//! Facts in C over the terms of a made-up point: what they mean there, and what is refused.

use super::*;
use crate::ir::{Record, RecordId};
use crate::parser::parse;

/// `x` is 7 (entry: 3), `c` an unsigned char 200, `d` 0.5, `p` points to `{1, 2}` (a struct pair).
struct Fixed {
    pool: TermPool,
    unit: Unit,
}

impl Fixed {
    fn typed(&mut self, c: Const, ty: CType) -> Option<Typed> {
        Some(Typed { term: self.pool.constant(c), ty })
    }
}

impl Scope for Fixed {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    fn unit(&self) -> &Unit {
        &self.unit
    }

    fn variable(&mut self, name: &str, when: When) -> Option<Typed> {
        let pair = CType::Pointer(CType::Record(RecordId(0)).into());
        match name {
            "x" => self.typed(Const::bv(32, if when == When::Here { 7 } else { 3 }), integer(32, true)),
            "c" => self.typed(Const::bv(8, 200), integer(8, false)),
            "d" => self.typed(Const::f64(0.5), CType::Float(FloatKind::F64)),
            "p" => self.typed(Const::bv(64, 4096), pair),
            "q" => self.typed(Const::bv(64, 0), pair),
            _ => None,
        }
    }

    fn object(&mut self, _: &str) -> Option<Typed> {
        None
    }

    fn result(&mut self) -> Option<Typed> {
        self.typed(Const::bv(32, -1), integer(32, true))
    }

    fn input(&mut self, k: u64) -> Option<Typed> {
        self.typed(Const::bv(32, i128::from(k)), integer(32, true))
    }

    fn load(&mut self, addr: TermId, sort: Sort, _: u64, _: When) -> Option<TermId> {
        let value = match self.pool.as_const(addr)?.unsigned()? {
            4096 => 1,
            4100 => 2,
            _ => return None,
        };
        Some(self.pool.constant(Const::from_bits(sort, value)?))
    }
}

/// Evaluates a fact: its truth, or the beginning of why it has none.
fn check(fact: &str, expected: std::result::Result<bool, &str>) {
    let int = |name: &str, offset| Field { name: name.into(), offset, bits: None, ty: integer(32, true) };
    let record = Record {
        name: "pair".into(),
        is_union: false,
        size: 8,
        align: 4,
        fields: vec![int("a", 0), int("b", 4)],
        invented: false,
    };
    let unit = Unit { records: vec![record], ..Unit::default() };
    let mut scope = Fixed { pool: TermPool::new(), unit };
    let found = condition(&parse(fact).expect(fact), &mut scope);
    match (found, expected) {
        (Ok(term), Ok(truth)) => assert_eq!(scope.pool.as_const(term), Some(Const::Bool(truth)), "{fact}"),
        (Err(error), Err(text)) => assert!(error.0.contains(text), "{fact}: {error}"),
        (found, _) => panic!("{fact}: {found:?}"),
    }
}

#[test]
fn conversions_are_those_of_c() {
    check("\\result >= 0", Ok(false));
    check("\\result < 0u", Ok(false));
    check("c + 100 == 300", Ok(true));
    check("(unsigned char)(c + 100) == 44", Ok(true));
    check("x / 2 == 3 && -x / 2 == -3 && -x % 2 == -1", Ok(true));
    check("d * 2 == 1", Ok(true));
    check("x / 2.0 == 3.5 && fabs(-d) == d", Ok(true));
    check("(x > 3) + (x > 5) == 2", Ok(true));
    check("-1 >> 1 == -1 && 0x80000000 >> 31 == 1", Ok(true));
    check("(int)2.9 == 2 && (_Bool)0.5 == 1", Ok(true));
    check("INT_MAX + 1 == INT_MIN", Ok(true));
}

#[test]
fn states_and_inputs_are_told_apart() {
    check("\\old(x) == 3 && x == 7", Ok(true));
    check("\\input(2) == 2", Ok(true));
    check("x > 0 ==> \\result > 0", Ok(false));
    check("x < 0 ==> \\result > 0", Ok(true));
    check("x == 7 ? \\result < 0 : 0", Ok(true));
}

#[test]
fn memory_is_followed() {
    check("p->a == 1 && (*p).b == 2", Ok(true));
    check("*&p->b == 2 && p[0].b == 2", Ok(true));
    check("&p->b - &p->a == 1 && p + 1 > p", Ok(true));
    check("q != NULL ==> q->a > 0", Ok(true));
    check("q->a == 0", Err("memory"));
}

#[test]
fn what_has_no_value_says_so() {
    check("y > 0", Err("no value of 'y'"));
    check("p->z", Err("no member 'z'"));
    check("f(x) == 1", Err("calls of 'f'"));
    check("\\at(x, Here)", Err("\\at"));
}
