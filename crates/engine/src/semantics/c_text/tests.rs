//! Term in, text out.

use super::*;
use crate::ir::{Const, DataModel, Field, FloatKind, Global, Linkage, Op, Prototype, Record, RecordId, Unit};
use std::sync::Arc;

fn int(bits: u16, signed: bool, name: &str) -> CType {
    CType::Int { bits, signed, name: name.into() }
}

fn pointer(t: CType) -> CType {
    CType::Pointer(Arc::new(t))
}

fn field(name: &str, offset: u64, ty: CType) -> Field {
    Field { name: name.into(), offset, bits: None, ty }
}

fn unit() -> Unit {
    let array = CType::Array(Arc::new(int(32, true, "int")), Some(4));
    let node = Record {
        name: "node".into(),
        is_union: false,
        size: 40,
        align: 8,
        fields: vec![
            field("len", 0, int(32, true, "int")),
            field("tag", 4, int(8, true, "char")),
            field("next", 8, pointer(CType::Record(RecordId(0)))),
            field("v", 16, array.clone()),
            field("w", 32, CType::Float(FloatKind::F64)),
        ],
        invented: false,
    };
    let record = |name: &str, size: u64, fields: Vec<Field>| Record {
        name: name.into(),
        is_union: false,
        size,
        align: 8,
        fields,
        invented: false,
    };
    let global = |name: &str, ty: CType| Global {
        symbol: name.into(),
        name: name.into(),
        ty,
        size: 40,
        linkage: Linkage::External,
        is_const: false,
        is_fixed: false,
        init: vec![],
        span: Default::default(),
    };
    Unit {
        data_model: DataModel::Lp64,
        records: vec![
            node,
            Record {
                name: "hidden".into(),
                is_union: false,
                size: 0,
                align: 1,
                fields: vec![],
                invented: false,
            },
            record("list", 8, vec![field("prev", 0, pointer(CType::Record(RecordId(2))))]),
            record(
                "queue",
                24,
                vec![field("list", 0, CType::Record(RecordId(2))), field("n", 8, array.clone())],
            ),
            record("shown", 32, vec![field("queue", 8, CType::Record(RecordId(3)))]),
        ],
        globals: vec![
            global("counter", int(32, true, "int")),
            global("table", array),
            global("head", CType::Record(RecordId(0))),
        ],
        prototypes: vec![Prototype {
            name: "size".into(),
            ret: int(64, false, "unsigned long"),
            params: vec![],
            variadic: false,
            unspecified: false,
            noreturn: false,
        }],
        ..Unit::default()
    }
}

/// A pool with parameters of usual types.
struct Lab {
    pool: TermPool,
    unit: Unit,
}

/// Parameters by name: `x y n` int, `u v` unsigned, `c` char, `b` unsigned char, `l` long, `m`
/// unsigned long, `f g` float, `d e` double, `p q` struct node *, `h` pointer to an incomplete type,
/// `r` to a queue, `z` to what has one, `a` int *, `s` char *.
fn type_of(name: &str) -> CType {
    match name {
        "u" | "v" => int(32, false, "unsigned int"),
        "r" => pointer(CType::Record(RecordId(3))),
        "z" => pointer(CType::Record(RecordId(4))),
        "c" => int(8, true, "char"),
        "b" => int(8, false, "unsigned char"),
        "l" => int(64, true, "long"),
        "m" => int(64, false, "unsigned long"),
        "f" | "g" => CType::Float(FloatKind::F32),
        "d" | "e" => CType::Float(FloatKind::F64),
        "p" | "q" => pointer(CType::Record(RecordId(0))),
        "h" => pointer(CType::Record(RecordId(1))),
        "a" => pointer(int(32, true, "int")),
        "s" => pointer(int(8, true, "char")),
        _ => int(32, true, "int"),
    }
}

impl Lab {
    fn new() -> Lab {
        Lab { pool: TermPool::new(), unit: unit() }
    }

    fn x(&mut self, name: &str) -> TermId {
        let sort = type_of(name).sort(64).unwrap_or(Sort::Bv(32));
        self.pool.leaf(Leaf::Param { name: name.into(), sort })
    }

    fn k(&mut self, v: i128) -> TermId {
        self.pool.bv(32, v)
    }

    fn d(&mut self, v: f64) -> TermId {
        self.pool.constant(Const::f64(v))
    }

    fn f(&mut self, v: f32) -> TermId {
        self.pool.constant(Const::f32(v))
    }

    fn op(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.pool.op(op, args)
    }

    fn wide(&mut self, t: TermId) -> TermId {
        self.op(Op::Sext(64), &[t])
    }

    fn load(&mut self, base: TermId, index: Option<(i128, TermId)>, offset: i128, sort: Sort) -> TermId {
        let memory = self.pool.leaf(Leaf::Memory);
        self.load_in(memory, base, index, offset, sort)
    }

    fn load_in(
        &mut self,
        memory: TermId,
        base: TermId,
        index: Option<(i128, TermId)>,
        offset: i128,
        sort: Sort,
    ) -> TermId {
        let mut address = base;
        if let Some((size, i)) = index {
            let (i, size) = (self.wide(i), self.pool.bv(64, size));
            let scaled = self.op(Op::Mul, &[i, size]);
            address = self.op(Op::Add, &[address, scaled]);
        }
        let offset = self.pool.bv(64, offset);
        let address = self.op(Op::Add, &[address, offset]);
        let bytes = u64::from(sort.bits().unwrap_or(8)) / 8;
        self.pool.app(App::Load { sort, bytes }, &[memory, address])
    }

    fn symbol(&mut self, name: &str) -> TermId {
        self.pool.leaf(Leaf::SymbolAddr { symbol: name.into(), bits: 64 })
    }

    fn naming(&self) -> Naming<'_> {
        let mut naming = Naming { unit: Some(&self.unit), max_len: Naming::DEFAULT_LEN, ..Naming::default() };
        for name in "x y n u v c b l m f g d e p q h a s r z".split(' ') {
            let ty = type_of(name);
            let sort = ty.sort(64).unwrap_or(Sort::Bv(32));
            naming.types_mut().insert(Leaf::Param { name: name.into(), sort }, ty);
        }
        naming
    }

    #[track_caller]
    fn check(&self, t: TermId, expected: &str) {
        assert_eq!(render(&self.pool, t, &self.naming()), expected);
    }

    fn c(&self, t: TermId) -> Option<String> {
        render_c(&self.pool, t, &self.naming(), None).map(|c| c.text)
    }
}

#[test]
fn sums_of_integers() {
    let mut l = Lab::new();
    let (x, y, n, three) = (l.x("x"), l.x("y"), l.x("n"), l.k(3));
    let t = l.op(Op::Sub, &[x, three]);
    l.check(t, "x - 3");
    let t = l.op(Op::Sub, &[three, x]);
    l.check(t, "3 - x");
    let t = l.op(Op::Neg, &[x]);
    l.check(t, "-x");
    let t = l.op(Op::Mul, &[t, three]);
    l.check(t, "-3 * x");
    let t = l.op(Op::SRem, &[three, x]);
    let t = l.op(Op::Neg, &[t]);
    l.check(t, "-(3 % x)");
    let double = l.op(Op::Add, &[x, x]);
    let t = l.op(Op::Sub, &[double, y]);
    let t = l.op(Op::Add, &[t, three]);
    l.check(t, "2 * x - y + 3");
    let xy = l.op(Op::Mul, &[x, y]);
    let t = l.op(Op::Mul, &[xy, n]);
    l.check(t, "x * y * n");
    let sum = l.op(Op::Add, &[x, y]);
    let t = l.op(Op::Mul, &[sum, n]);
    l.check(t, "n * (x + y)");
    let t = l.op(Op::SDiv, &[sum, three]);
    l.check(t, "(x + y) / 3");
    let t = l.op(Op::SRem, &[x, y]);
    l.check(t, "x % y");
}

#[test]
fn conversions_are_shown_only_where_c_would_not_make_them() {
    let mut l = Lab::new();
    let (x, y, u, c, b, long) = (l.x("x"), l.x("y"), l.x("u"), l.x("c"), l.x("b"), l.x("l"));
    let one = l.k(1);
    // Implicit: promotion, and widening by a wider operand.
    let cc = l.op(Op::Sext(32), &[c]);
    let t = l.op(Op::Add, &[cc, one]);
    l.check(t, "c + 1");
    let bb = l.op(Op::Zext(32), &[b]);
    let t = l.op(Op::Add, &[bb, x]);
    let text = render(&l.pool, t, &l.naming());
    assert!(text == "b + x" || text == "x + b", "{text}");
    let xl = l.wide(x);
    let t = l.op(Op::Add, &[long, xl]);
    assert_eq!(render(&l.pool, t, &l.naming()).replace("l + x", "x + l"), "x + l");
    // Explicit: the addition itself is wide.
    let yl = l.wide(y);
    let t = l.op(Op::Add, &[xl, yl]);
    l.check(t, "(long)x + y");
    let t = l.op(Op::Mul, &[xl, yl]);
    l.check(t, "(long)x * y");
    // Signedness against the declared type.
    let t = l.op(Op::UDiv, &[x, y]);
    l.check(t, "(unsigned)x / (unsigned)y");
    let t = l.op(Op::Slt, &[x, u]);
    l.check(t, "x < (int)u");
    let zero_extended = l.op(Op::Zext(64), &[u]);
    let t = l.op(Op::Slt, &[xl, zero_extended]);
    l.check(t, "(long)x < u");
    // Narrowing.
    let t = l.op(Op::Trunc(32), &[long]);
    l.check(t, "(int)l");
    let t = l.op(Op::Trunc(8), &[x]);
    l.check(t, "(signed char)x");
    let byte = render_typed(&l.pool, t, &l.naming(), Some(&type_of("b")));
    assert_eq!(byte, "(unsigned char)x");
}

#[test]
fn bits_and_shifts() {
    let mut l = Lab::new();
    let (x, u, n) = (l.x("x"), l.x("u"), l.x("n"));
    let (mask, inverse, one, four) = (l.k(0xff), l.k(!0xf), l.k(1), l.k(4));
    let t = l.op(Op::BitOr, &[x, mask]);
    l.check(t, "x | 0xff");
    let t = l.op(Op::BitOr, &[x, inverse]);
    l.check(t, "x | ~0xf");
    let a = l.op(Op::BitXor, &[x, n]);
    let t = l.op(Op::BitOr, &[a, u]);
    let text = render(&l.pool, t, &l.naming());
    assert!(text == "(x ^ n) | u" || text == "u | (x ^ n)", "{text}");
    let t = l.op(Op::Shl, &[one, n]);
    l.check(t, "1 << n");
    let t = l.op(Op::AShr, &[x, four]);
    l.check(t, "x >> 4");
    let t = l.op(Op::LShr, &[x, n]);
    l.check(t, "(unsigned)x >> n");
    let t = l.op(Op::BitNot, &[x]);
    l.check(t, "~x");
    let bit = l.op(Op::Trunc(1), &[u]);
    let t = l.op(Op::Zext(32), &[bit]);
    l.check(t, "u & 1");
    let t = l.op(Op::Sext(32), &[bit]);
    l.check(t, "(int)((unsigned)u << 31) >> 31");
}

#[test]
fn comparisons() {
    let mut l = Lab::new();
    let (x, y, u, c, p) = (l.x("x"), l.x("y"), l.x("u"), l.x("c"), l.x("p"));
    let (zero, ten) = (l.k(0), l.k(10));
    let low = l.op(Op::Sle, &[zero, x]);
    l.check(low, "x >= 0");
    let high = l.op(Op::Sle, &[x, ten]);
    let t = l.op(Op::And, &[high, low]);
    l.check(t, "0 <= x && x <= 10");
    let less = l.op(Op::Slt, &[x, y]);
    let t = l.op(Op::Or, &[t, less]);
    assert!(render(&l.pool, t, &l.naming()).contains("(0 <= x && x <= 10)"));
    let t = l.op(Op::Not, &[less]);
    l.check(t, "y <= x");
    let eq = l.op(Op::Eq, &[x, y]);
    let t = l.op(Op::Not, &[eq]);
    l.check(t, "x != y");
    let t = l.op(Op::Ult, &[u, ten]);
    assert!(["u < 10", "u <= 9"].contains(&render(&l.pool, t, &l.naming()).as_str()));
    let cc = l.op(Op::Sext(32), &[c]);
    let letter = l.k(97);
    let t = l.op(Op::Eq, &[cc, letter]);
    l.check(t, "c == 'a'");
    let null = l.pool.bv(64, 0);
    let t = l.op(Op::Eq, &[p, null]);
    l.check(t, "p == NULL");
    let t = l.op(Op::Not, &[t]);
    l.check(t, "p != NULL");
}

#[test]
fn choices() {
    let mut l = Lab::new();
    let (x, y, n) = (l.x("x"), l.x("y"), l.x("n"));
    let less = l.op(Op::Slt, &[x, y]);
    let t = l.op(Op::Ite, &[less, y, x]);
    l.check(t, "x < y ? y : x");
    let one = l.k(1);
    let sum = l.op(Op::Add, &[t, one]);
    l.check(sum, "(x < y ? y : x) + 1");
    let other = l.op(Op::Slt, &[n, x]);
    let nested = l.op(Op::Ite, &[other, n, t]);
    l.check(nested, "n < x ? n : x < y ? y : x");
    let zero = l.k(0);
    let truth = l.op(Op::Ite, &[less, one, zero]);
    l.check(truth, "x < y");
    assert_eq!(render_equation(&l.pool, "\\result", truth, &l.naming(), None), "\\result == (x < y)");
    assert_eq!(render_equation(&l.pool, "n", sum, &l.naming(), None), "n == (x < y ? y : x) + 1");
}

#[test]
fn floats() {
    let mut l = Lab::new();
    let (f, g, d, e, x) = (l.x("f"), l.x("g"), l.x("d"), l.x("e"), l.x("x"));
    let (half, half_f) = (l.d(0.5), l.f(0.5));
    let t = l.op(Op::FMul, &[half_f, f]);
    l.check(t, "0.5f * f");
    let t = l.op(Op::FMul, &[t, g]);
    l.check(t, "0.5f * f * g");
    let t = l.op(Op::FAbs, &[t]);
    l.check(t, "fabsf(0.5f * f * g)");
    let de = l.op(Op::FMul, &[d, e]);
    let t = l.op(Op::FMul, &[half, de]);
    l.check(t, "d * e * 0.5");
    let minus = l.op(Op::FSub, &[d, e]);
    l.check(minus, "d - e");
    let t = l.op(Op::FAdd, &[minus, half]);
    l.check(t, "d - e + 0.5");
    let t = l.op(Op::FSub, &[d, minus]);
    l.check(t, "d - (d - e)");
    let t = l.op(Op::FSub, &[d, half]);
    l.check(t, "d - 0.5");
    // Widening is implicit beside a double, explicit where nothing else is one.
    let (fd, gd) = (l.op(Op::FToF(Sort::F64), &[f]), l.op(Op::FToF(Sort::F64), &[g]));
    let t = l.op(Op::FMul, &[half, fd]);
    l.check(t, "0.5 * f");
    let tenth = l.d(0.1);
    let t = l.op(Op::FMul, &[tenth, fd]);
    let narrowed = l.op(Op::FToF(Sort::F32), &[t]);
    l.check(narrowed, "(float)(0.1 * f)");
    let t = l.op(Op::FMul, &[fd, gd]);
    l.check(t, "(double)f * g");
    let xd = l.op(Op::SToF(Sort::F64), &[x]);
    let t = l.op(Op::FDiv, &[xd, half]);
    assert!(["x / 0.5", "2.0 * x"].contains(&render(&l.pool, t, &l.naming()).as_str()));
    let t = l.op(Op::FDiv, &[xd, xd]);
    l.check(t, "(double)x / x");
    let t = l.op(Op::FToS(32), &[d]);
    l.check(t, "(int)d");
    let t = l.op(Op::FSqrt, &[fd]);
    l.check(t, "sqrt(f)");
    let t = l.op(Op::FNeg, &[d]);
    l.check(t, "-d");
}

#[test]
fn float_literals() {
    let check = |c: Const, expected: &str| assert_eq!(float_literal(c), expected);
    check(Const::f32(0.1), "0.1f");
    check(Const::f64(0.1), "0.1");
    check(Const::f64(2.0), "2.0");
    check(Const::f32(-0.0), "-0.0f");
    check(Const::f64(1e300), "1e300");
    check(Const::f64(f64::INFINITY), "INFINITY");
    check(Const::f64(f64::NEG_INFINITY), "-INFINITY");
    check(Const::f32(f32::NAN), "NAN");
}

#[test]
fn float_identity_is_spelled_out_in_c() {
    let mut l = Lab::new();
    let (d, e, zero, half) = (l.x("d"), l.x("e"), l.d(0.0), l.d(0.5));
    let t = l.op(Op::Eq, &[d, e]);
    l.check(t, "d == e");
    assert_eq!(l.c(t).as_deref(), Some("(d == e && !signbit(d) == !signbit(e)) || (isnan(d) && isnan(e))"));
    let t = l.op(Op::Eq, &[d, zero]);
    assert_eq!(l.c(t).as_deref(), Some("d == 0 && !signbit(d)"));
    let t = l.op(Op::Eq, &[d, half]);
    assert_eq!(l.c(t).as_deref(), Some("d == 0.5"));
    let t = l.op(Op::FEq, &[d, e]);
    assert_eq!(l.c(t).as_deref(), Some("d == e"));
    let t = l.op(Op::Not, &[t]);
    l.check(t, "d != e");
    let less = l.op(Op::FLt, &[half, d]);
    l.check(less, "d > 0.5");
    let t = l.op(Op::Not, &[less]);
    l.check(t, "!(d > 0.5)");
}

#[test]
fn memory_through_pointers() {
    let mut l = Lab::new();
    let (p, a, s, x) = (l.x("p"), l.x("a"), l.x("s"), l.x("x"));
    let (head, table, counter) = (l.symbol("head"), l.symbol("table"), l.symbol("counter"));
    let t = l.load(p, None, 0, Sort::Bv(32));
    l.check(t, "p->len");
    let next = l.load(p, None, 8, Sort::Bv(64));
    l.check(next, "p->next");
    let t = l.load(next, None, 32, Sort::F64);
    l.check(t, "p->next->w");
    let t = l.load(p, None, 20, Sort::Bv(32));
    l.check(t, "p->v[1]");
    let t = l.load(p, Some((4, x)), 16, Sort::Bv(32));
    l.check(t, "p->v[x]");
    let t = l.load(p, Some((40, x)), 4, Sort::Bv(8));
    l.check(t, "p[x].tag");
    let t = l.load(a, None, 0, Sort::Bv(32));
    l.check(t, "*a");
    let t = l.load(a, Some((4, x)), 0, Sort::Bv(32));
    l.check(t, "a[x]");
    let t = l.load(s, None, 2, Sort::Bv(8));
    l.check(t, "s[2]");
    let t = l.load(counter, None, 0, Sort::Bv(32));
    l.check(t, "counter");
    let t = l.load(table, Some((4, x)), 0, Sort::Bv(32));
    l.check(t, "table[x]");
    let t = l.load(head, None, 8, Sort::Bv(64));
    l.check(t, "head.next");
    let t = l.load(a, None, 0, Sort::Bv(8));
    l.check(t, "*(signed char *)a");
}

#[test]
fn bytes_of_incomplete_types_are_counted_in_chars() {
    let mut l = Lab::new();
    let (h, eight) = (l.x("h"), l.pool.bv(64, 8));
    let t = l.op(Op::Add, &[h, eight]);
    l.check(t, "(char *)h + 8");
    let t = l.load(h, None, 8, Sort::Bv(32));
    l.check(t, "*(int *)((char *)h + 8)");
}

#[test]
fn addresses() {
    let mut l = Lab::new();
    let (p, q, a, x, head) = (l.x("p"), l.x("q"), l.x("a"), l.x("x"), l.symbol("head"));
    let (four, eight) = (l.pool.bv(64, 4), l.pool.bv(64, 8));
    let wide = l.wide(x);
    let bytes = l.op(Op::Mul, &[wide, four]);
    let t = l.op(Op::Add, &[a, bytes]);
    l.check(t, "a + x");
    let t = l.op(Op::Sub, &[a, four]);
    l.check(t, "a - 1");
    let t = l.op(Op::Add, &[p, eight]);
    l.check(t, "&p->next");
    l.check(head, "&head");
    let t = l.op(Op::Eq, &[p, q]);
    l.check(t, "p == q");
}

#[test]
fn an_address_is_that_of_what_the_other_side_leads_to() {
    let mut l = Lab::new();
    let (r, z, eight) = (l.x("r"), l.x("z"), l.pool.bv(64, 8));
    let inner = l.op(Op::Add, &[z, eight]);
    l.check(inner, "&z->queue.list.prev");
    let t = l.op(Op::Eq, &[r, inner]);
    l.check(t, "r == &z->queue");
    let t = l.op(Op::Not, &[t]);
    l.check(t, "r != &z->queue");
    let given = |ty: &CType| render_typed(&l.pool, inner, &l.naming(), Some(ty));
    assert_eq!(given(&type_of("r")), "&z->queue");
    assert_eq!(given(&pointer(CType::Record(RecordId(2)))), "&z->queue.list");
    // Nothing there is one.
    assert_eq!(given(&type_of("p")), "&z->queue.list.prev");
}

#[test]
fn entry_values_are_marked_where_they_may_have_changed() {
    let mut l = Lab::new();
    let (x, p, y) = (l.x("x"), l.x("p"), l.x("y"));
    let field = l.load(p, None, 0, Sort::Bv(32));
    let t = l.op(Op::Add, &[x, y]);
    let t = l.op(Op::Add, &[t, field]);
    let mut naming = l.naming();
    naming.old_params.insert("x".into());
    naming.old_memory = true;
    let text = render(&l.pool, t, &naming);
    assert!(text.contains("\\old(x)") && text.contains("\\old(p->len)") && text.contains(" y "), "{text}");
    let c = render_c(&l.pool, t, &naming, None).map(|c| (c.text, c.snapshots.len()));
    let Some((text, 2)) = c else { panic!("{c:?}") };
    assert!(text.contains("invdiff_old_x") && text.contains("invdiff_old_p_len"), "{text}");
}

/// What a variable came to hold is not what it held at entry.
#[test]
fn names_of_later_values_are_none_at_entry() {
    let mut l = Lab::new();
    let (x, y) = (l.x("x"), l.x("y"));
    let sum = l.op(Op::Add, &[x, y]);
    let a = l.x("a");
    let element = l.load(a, Some((4, sum)), 0, Sort::Bv(32));
    let mut naming = l.naming();
    naming.old_memory = true;
    naming.names_mut().insert(
        sum,
        Named { text: "n".into(), ty: CType::Int { name: "int".into(), bits: 32, signed: true } },
    );
    assert_eq!(render(&l.pool, sum, &naming), "n");
    assert_eq!(render(&l.pool, element, &naming), "\\old(a[x + y])");
}

#[test]
fn input_and_calls_are_not_plain_c() {
    let mut l = Lab::new();
    let d: Arc<str> = "%d".into();
    let mut stdin = l.pool.leaf(Leaf::Stdin);
    let mut values = Vec::new();
    for conversion in ["%d", "ws", "%d"] {
        let conversion: Arc<str> = conversion.into();
        let uf = Uf::Input { conversion: d.clone(), sort: Sort::Bv(32) };
        values.push(l.pool.app(App::Uf(uf), &[stdin]));
        stdin = l.pool.app(App::Uf(Uf::InputRest { conversion }), &[stdin]);
    }
    let t = l.op(Op::Add, &[values[0], values[2]]);
    l.check(t, "\\input(1) + \\input(2)");
    assert_eq!(l.c(t), None);
    let x = l.x("x");
    let world = l.pool.leaf(Leaf::World);
    let uf = Uf::Call { callee: "size:result".into(), part: Sort::Bv(64) };
    let t = l.pool.app(App::Uf(uf), &[x, world]);
    l.check(t, "size(x)");
    let uf = Uf::Library { name: "sin".into(), sort: Sort::F64 };
    let angle = l.x("d");
    let t = l.pool.app(App::Uf(uf), &[angle]);
    assert_eq!(l.c(t).as_deref(), Some("sin(d)"));
    let uf = Uf::Loop { hash: "h".into(), place: "v1".into(), sort: Sort::Bv(32) };
    let t = l.pool.app(App::Uf(uf), &[x]);
    l.check(t, "v1@loop");
    let t = l.pool.leaf(Leaf::Indeterminate { key: "f:k#0".into(), sort: Sort::Bv(32) });
    l.check(t, "\\uninitialised(k)");
}

#[test]
fn long_texts_are_cut() {
    let mut l = Lab::new();
    let (x, y) = (l.x("x"), l.x("y"));
    let mut t = x;
    for _ in 0..200 {
        let product = l.op(Op::Mul, &[t, y]);
        t = l.op(Op::BitXor, &[product, t]);
    }
    let text = render(&l.pool, t, &l.naming());
    assert!(text.len() <= Naming::DEFAULT_LEN && text.contains("..."), "{text}");
    assert_eq!(l.c(t), None);
}

#[test]
fn constants_look_like_what_they_are_values_of() {
    let mut l = Lab::new();
    let minus = l.pool.bv(32, -1);
    let typed = |l: &Lab, t, ty: &CType| render_typed(&l.pool, t, &l.naming(), Some(ty));
    assert_eq!(typed(&l, minus, &type_of("x")), "-1");
    assert_eq!(typed(&l, minus, &type_of("u")), "4294967295");
    let letter = l.pool.bv(8, 10);
    assert_eq!(typed(&l, letter, &type_of("c")), "'\\n'");
    assert_eq!(typed(&l, letter, &type_of("b")), "10");
    let null = l.pool.bv(64, 0);
    assert_eq!(typed(&l, null, &type_of("p")), "NULL");
}
