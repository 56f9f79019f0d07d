//! Tests of the models: one call a line.

use crate::ir::{
    CType, Callee, Const, Expr, FloatKind, Function, Global, InitPiece, Instr, Linkage, Node, NodeId, Object,
    Sort, Span, Stmt, StmtId, UndefinedKind, Unit, Var, VarId, VarKind,
};
use crate::{End, Input, Limits, Outcome, Program, run};
use std::sync::Arc;

/// An argument: a string literal, the 32 bytes of `buf` (which hold a text), or a number.
#[derive(Clone)]
enum A {
    S(&'static str),
    /// `buf + n`.
    B(u64),
    I(i128),
    L(i128),
    D(f64),
    F(f32),
}
use A::*;

fn int(bits: u16) -> CType {
    CType::Int { bits, signed: true, name: "int".into() }
}

fn pointer() -> CType {
    CType::Pointer(Arc::new(int(8)))
}

fn global(symbol: &str, bytes: Vec<u8>, linkage: Linkage) -> Global {
    Global {
        symbol: symbol.into(),
        name: symbol.into(),
        ty: CType::Array(Arc::new(int(8)), Some(bytes.len() as u64)),
        size: bytes.len() as u64,
        linkage,
        is_const: false,
        is_fixed: false,
        init: vec![InitPiece::Bytes { offset: 0, bytes }],
        span: Span::default(),
    }
}

/// Calls a library function in a program of its own; `buf` starts as `text`.
fn call(name: &str, ret: CType, args: &[A], text: &str, stdin: &str) -> Outcome {
    let mut content = text.as_bytes().to_vec();
    content.resize(32, 0);
    let mut unit = Unit { files: vec!["t.c".into()], ..Unit::default() };
    unit.globals.push(global("buf", content, Linkage::External));
    let addr = |symbol: &str| Expr::Addr(Object::Global(symbol.into()));
    let (mut exprs, mut types) = (vec![], vec![]);
    for (i, a) in args.iter().enumerate() {
        let (e, t) = match a {
            S(text) => {
                let symbol = format!(".str:{i}");
                unit.globals.push(global(&symbol, [text.as_bytes(), b"\0"].concat(), Linkage::Literal));
                (addr(&symbol), pointer())
            }
            B(n) => (Expr::op(crate::ir::Op::Add, vec![addr("buf"), Expr::bv(64, *n as i128)]), pointer()),
            I(v) => (Expr::bv(32, *v), int(32)),
            L(v) => (Expr::bv(64, *v), int(64)),
            D(v) => (Expr::Const(Const::f64(*v)), CType::Float(FloatKind::F64)),
            F(v) => (Expr::Const(Const::f32(*v)), CType::Float(FloatKind::F32)),
        };
        exprs.push(e);
        types.push(t);
    }
    let sort = ret.sort(64);
    let node = |instr, next: &[u32]| Node {
        instr,
        succs: next.iter().map(|n| NodeId(*n)).collect(),
        stmt: StmtId(0),
        span: Span { line: 1, ..Span::default() },
    };
    let result = Var {
        name: "r".into(),
        ordinal: 0,
        kind: VarKind::Local,
        ty: ret.clone(),
        sort: sort.or(Some(Sort::Bv(32))),
        in_memory: false,
        size: 8,
        span: Span::default(),
    };
    let value = sort.map(|_| Expr::Var(VarId(0)));
    let instr = Instr::Call {
        dst: sort.map(|_| VarId(0)),
        callee: Callee::Direct(name.into()),
        args: exprs,
        arg_types: types,
        ret: ret.clone(),
        result_to: None,
        noreturn: false,
    };
    unit.functions.push(Arc::new(Function {
        name: "f".into(),
        is_static: false,
        binding: Default::default(),
        variadic: false,
        params: vec![],
        ret,
        vars: vec![result],
        nodes: vec![
            node(Instr::Nop, &[2]),
            node(Instr::Nop, &[]),
            node(instr, &[3]),
            node(Instr::Return { value }, &[1]),
        ],
        stmts: vec![Stmt { span: Span::default(), depth: 0, kind: "entry" }],
        span: Span::default(),
        unknowns: vec![],
        settled: vec![],
        invented: vec![],
        records: Default::default(),
    }));
    let program = Program::new(vec![Arc::new(unit)]);
    run(&program, "f", &Input { stdin: stdin.into(), ..Input::default() }, &Limits::default())
}

/// Checks an `int` or `long` result.
fn check(name: &str, args: &[A], expected: i128) {
    let o = call(name, int(32), args, "", "");
    assert_eq!((&o.end, o.returned.and_then(Const::signed)), (&End::Return, Some(expected)), "{name}");
}

/// Checks what a call leaves in `buf`, up to the second NUL.
fn check_buffer(name: &str, args: &[A], text: &str, expected: &str) {
    let o = call(name, pointer(), args, text, "");
    let buf = o.left.memory.first().map(|m| m.bytes.clone()).unwrap_or_default();
    let expected = expected.as_bytes();
    assert_eq!((&o.end, buf.get(..expected.len())), (&End::Return, Some(expected)), "{name}");
}

/// Checks a floating result by its bits.
fn check_float(name: &str, args: &[A], expected: f64) {
    let o = call(name, CType::Float(FloatKind::F64), args, "", "");
    assert_eq!(o.returned, Some(Const::f64(expected)), "{name}");
}

#[test]
fn strings() {
    check("strlen", &[S("abc")], 3);
    check("strcmp", &[S("abc"), S("abd")], -1);
    check("strncmp", &[S("abc"), S("abd"), L(2)], 0);
    check("strcasecmp", &[S("ABC"), S("abc")], 0);
    check("memcmp", &[S("a\u{0}b"), S("a\u{0}a"), L(3)], 1);
    check("strspn", &[S("aab1"), S("ab")], 3);
    check("strcspn", &[S("xyz1"), S("0123")], 3);
    check_buffer("strcpy", &[B(0), S("hey")], "xxxxxxx", "hey\0xxx");
    check_buffer("strcat", &[B(0), S("hey")], "ab", "abhey\0");
    check_buffer("strncpy", &[B(0), S("hey"), L(5)], "xxxxxxx", "hey\0\0xx");
    check_buffer("strncat", &[B(0), S("hey"), L(2)], "ab", "abhe\0");
    check_buffer("memset", &[B(1), I('z' as i128), L(2)], "abcd", "azzd");
    check_buffer("memmove", &[B(1), B(0), L(3)], "abcd", "aabc");
    check_buffer("strtok", &[B(0), S(", ")], ", ab,c", ", ab\0c");
}

#[test]
fn strings_without_an_end_are_out_of_bounds() {
    let o = call("strlen", int(32), &[B(0)], "abcdefghabcdefghabcdefghabcdefgh", "");
    assert!(matches!(o.end, End::Undefined { kind: UndefinedKind::OutOfBounds, .. }));
    let o = call("strcpy", pointer(), &[S("abc"), S("d")], "", "");
    assert!(matches!(o.end, End::Undefined { kind: UndefinedKind::ReadOnly, .. }));
    let o = call("free", CType::Void, &[B(0)], "", "");
    assert!(matches!(o.end, End::Undefined { kind: UndefinedKind::BadPointer, .. }));
}

#[test]
fn characters_and_numbers() {
    check("isdigit", &[I('7' as i128)], 2048);
    check("isalpha", &[I(-1)], 0);
    check("toupper", &[I('q' as i128)], 'Q' as i128);
    check("abs", &[I(-5)], 5);
    check("atoi", &[S(" -42x")], -42);
    check("strtol", &[S("0x1fz"), L(0), I(0)], 31);
    check("rand", &[], 1_804_289_383);
    check("popcount", &[I(-1)], 32);
    check("clz", &[I(1)], 31);
    check_float("atof", &[S("1e3")], 1000.0);
}

#[test]
fn mathematics() {
    check_float("pow", &[D(2.0), D(0.5)], 2f64.sqrt());
    check_float("fmod", &[D(-7.0), D(4.0)], -3.0);
    check_float("round", &[D(-2.5)], -3.0);
    check_float("copysign", &[D(0.0), D(-1.0)], -0.0);
    check_float("ldexp", &[D(1.0), I(-1074)], f64::from_bits(1));
    check_float("frexp", &[D(12.0), B(0)], 0.75);
    check_float("modf", &[D(-1.25), B(0)], -0.25);
    check("lround", &[D(2.5)], 3);
    // Which of two zeros is the smaller one is another one elsewhere.
    for (a, b, is_open) in [(0.0, -0.0, true), (-0.0, 0.0, true), (0.0, 0.0, false), (1.0, -0.0, false)] {
        let o = call("fmin", CType::Float(FloatKind::F64), &[D(a), D(b)], "", "");
        assert_eq!(o.portability.open_sign, is_open, "{a} {b}");
    }
    let o = call("sqrtf", CType::Float(FloatKind::F32), &[F(2.0)], "", "");
    assert_eq!(o.returned, Some(Const::f32(2f32.sqrt())));
}

#[test]
fn output_and_input() {
    let o = call("printf", int(32), &[S("%d %s %.2f %c\n"), I(-3), S("hey"), D(2.675), I(65)], "", "");
    assert_eq!(o.output.stdout, b"-3 hey 2.67 A\n");
    let o = call("printf", int(32), &[S("%d"), D(1.0)], "", "");
    assert!(matches!(o.end, End::Undefined { kind: UndefinedKind::FormatMismatch, .. }));
    let o = call("scanf", int(32), &[S("%d,%d"), B(0), B(4)], "", " 1,x");
    assert_eq!((o.returned, o.read.values.len()), (Some(Const::bv(32, 1)), 1));
    let o = call("scanf", int(32), &[S("%d"), B(30)], "", "5");
    assert!(matches!(o.end, End::Undefined { kind: UndefinedKind::OutOfBounds, .. }));
    check_buffer("snprintf", &[B(0), L(4), S("%d"), I(12345)], "", "123\0");
    let o = call("puts", int(32), &[S("x")], "", "");
    assert_eq!((o.output.stdout, o.output.stdout_lost), (b"x\n".to_vec(), vec![]));
}

#[test]
fn ends() {
    let o = call("exit", CType::Void, &[I(-1)], "", "");
    assert_eq!((o.end, o.ending.exit_code), (End::Exit(255), Some(255)));
    assert_eq!(call("abort", CType::Void, &[], "", "").end, End::Abort);
    let o = call("__invdiff_assert_fail", CType::Void, &[S("x > 0")], "", "");
    assert!(matches!(o.end, End::AssertFailed { text, .. } if text == "x > 0"));
    let o = call("nobody_knows", int(32), &[I(7)], "", "");
    assert_eq!((o.returned, o.assumed.calls.len()), (Some(Const::bv(32, 0)), 1));
}
