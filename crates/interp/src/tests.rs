//! Tests of the machine on functions that are built by hand.

use super::*;
use crate::ir::{
    Access, CType, Callee, Const, DataModel, Expr, Function, Instr, Node, NodeId, Object, Op, Sort, Span,
    Stmt, StmtId, UndefinedKind, Unit, Var, VarId, VarKind,
};
use std::ops::ControlFlow;
use std::sync::Arc;

fn int() -> CType {
    CType::Int { bits: 32, signed: true, name: "int".into() }
}

/// Builds a straight-line function over `int` variables; branches are patched in by `jump`.
struct Builder(Function);

impl Builder {
    fn new(name: &str, params: &[&str]) -> Builder {
        let stmts = vec![Stmt { span: Span::default(), depth: 0, kind: "entry" }];
        let f = Function {
            name: name.into(),
            is_static: false,
            binding: Default::default(),
            variadic: false,
            params: Vec::new(),
            ret: int(),
            vars: Vec::new(),
            nodes: Vec::new(),
            stmts,
            span: Span::default(),
            unknowns: Vec::new(),
            settled: Vec::new(),
            invented: Vec::new(),
            records: Default::default(),
        };
        let mut b = Builder(f);
        b.emit(Instr::Nop);
        b.emit(Instr::Nop);
        b.0.nodes[0].succs = vec![NodeId(2)];
        b.0.nodes[1].succs = vec![];
        for p in params {
            let v = b.var(p, false);
            b.0.params.push(v);
        }
        b
    }

    fn var(&mut self, name: &str, in_memory: bool) -> VarId {
        self.0.vars.push(Var {
            name: name.into(),
            ordinal: 0,
            kind: VarKind::Local,
            ty: int(),
            sort: Some(Sort::Bv(32)),
            in_memory,
            size: 4,
            span: Span::default(),
        });
        VarId(self.0.vars.len() as u32 - 1)
    }

    fn emit(&mut self, instr: Instr) -> u32 {
        let n = self.0.nodes.len() as u32;
        let next = if matches!(instr, Instr::Return { .. }) { 1 } else { n + 1 };
        let span = Span { line: n, ..Span::default() };
        self.0.nodes.push(Node { instr, succs: vec![NodeId(next)], stmt: StmtId(0), span });
        n
    }

    fn jump(&mut self, node: u32, succs: &[u32]) {
        self.0.nodes[node as usize].succs = succs.iter().map(|&s| NodeId(s)).collect();
    }
}

fn program(functions: Vec<Function>) -> Program {
    let functions = functions.into_iter().map(Arc::new).collect();
    let unit = Unit { functions, files: vec!["t.c".into()], data_model: DataModel::Lp64, ..Unit::default() };
    Program::new(vec![Arc::new(unit)])
}

fn n(v: i128) -> Expr {
    Expr::bv(32, v)
}

fn call(p: &Program, name: &str, args: &[i128]) -> Outcome {
    let arguments = args.iter().map(|&a| Value::Const(Const::bv(32, a))).collect();
    run(p, name, &Input { arguments, ..Input::default() }, &Limits::default())
}

fn kind(o: &Outcome) -> Option<(UndefinedKind, u32)> {
    if let End::Undefined { kind, place } = &o.end { Some((*kind, place.line)) } else { None }
}

#[test]
fn arithmetic_wraps_and_notes_the_line() {
    let mut b = Builder::new("f", &["x"]);
    let x = Expr::Var(VarId(0));
    b.emit(Instr::Return { value: Some(Expr::signed(Op::Add, vec![x, n(1)])) });
    let p = program(vec![b.0]);
    let o = call(&p, "f", &[41]);
    assert_eq!((o.returned, o.overflowed()), (Some(Const::bv(32, 42)), false));
    let o = call(&p, "f", &[i32::MAX as i128]);
    assert_eq!(o.returned, Some(Const::bv(32, i32::MIN as i128)));
    assert_eq!(o.overflow.map(|p| p.line), Some(2));
}

#[test]
fn loops_run_until_fuel_is_out() {
    let mut b = Builder::new("f", &["x"]);
    let x = VarId(0);
    let head = b.emit(Instr::Branch { cond: Expr::op(Op::Slt, vec![n(0), Expr::Var(x)]) });
    let body = b.emit(Instr::Assign { dst: x, value: Expr::op(Op::Sub, vec![Expr::Var(x), n(1)]) });
    let exit = b.emit(Instr::Return { value: Some(Expr::Var(x)) });
    b.jump(head, &[body, exit]);
    b.jump(body, &[head]);
    let p = program(vec![b.0]);
    let o = call(&p, "f", &[1000]);
    assert_eq!((o.end.clone(), o.local(x)), (End::Return, Some(Const::bv(32, 0))));
    let input = Input { arguments: vec![Value::Const(Const::bv(32, 1000))], ..Input::default() };
    let o = run(&p, "f", &input, &Limits { fuel: 100, ..Limits::default() });
    assert_eq!(o.end, End::Fuel);
    let mut seen = Vec::new();
    let limits = Limits::default();
    run_traced(&p, "f", &input, &limits, &[NodeId(head)], &mut |_, o| {
        seen.push(o.value(x));
        ControlFlow::Continue(())
    });
    assert_eq!((seen.len(), seen[1]), (1001, Some(Const::bv(32, 999))));
    let o = run_traced(&p, "f", &input, &limits, &[NodeId(head)], &mut |_, _| ControlFlow::Break(()));
    assert_eq!((o.end, o.steps), (End::Fuel, 2));
}

/// To copy is no use; what is made of the copy is.
#[test]
fn uninitialised_uses_end_the_run() {
    let mut b = Builder::new("f", &[]);
    let x = b.var("x", true);
    let y = b.var("y", false);
    let access = Access { sort: Sort::Bv(32), bytes: 4, volatile: false, ty: int() };
    b.emit(Instr::Load { dst: y, addr: Expr::Addr(Object::Local(x)), access });
    b.emit(Instr::Return { value: Some(Expr::Var(y)) });
    assert_eq!(kind(&call(&program(vec![b.0]), "f", &[])), Some((UndefinedKind::Uninitialised, 3)));
}

#[test]
fn pointers_beyond_an_object_are_out_of_bounds() {
    let check = |offset: i128, expected| {
        let mut b = Builder::new("f", &[]);
        let x = b.var("x", true);
        let access = Access { sort: Sort::Bv(32), bytes: 4, volatile: false, ty: int() };
        let addr = Expr::op(Op::Add, vec![Expr::Addr(Object::Local(x)), Expr::bv(64, offset)]);
        b.emit(Instr::Store { addr, value: n(7), access });
        b.emit(Instr::Return { value: Some(n(0)) });
        assert_eq!(kind(&call(&program(vec![b.0]), "f", &[])), expected);
    };
    check(0, None);
    check(1, Some((UndefinedKind::OutOfBounds, 2)));
    check(-4, Some((UndefinedKind::OutOfBounds, 2)));
    check(1 << 40, Some((UndefinedKind::BadPointer, 2)));
}

#[test]
fn where_no_object_of_the_size_lies_is_noted() {
    let misaligned = |offset: i128| {
        let mut b = Builder::new("f", &[]);
        let x = b.var("x", true);
        b.0.vars[x.0 as usize].size = 16;
        let access = Access { sort: Sort::Bv(32), bytes: 4, volatile: false, ty: int() };
        let addr = Expr::op(Op::Add, vec![Expr::Addr(Object::Local(x)), Expr::bv(64, offset)]);
        b.emit(Instr::Store { addr, value: n(7), access });
        b.emit(Instr::Return { value: Some(n(0)) });
        let ran = call(&program(vec![b.0]), "f", &[]);
        assert_eq!(ran.end, End::Return);
        ran.portability.misaligned
    };
    assert_eq!([0, 1, 2, 4, 7].map(misaligned), [false, true, true, false, true]);
}

#[test]
fn recursion_uses_no_native_stack() {
    let mut b = Builder::new("f", &["x"]);
    let (x, r) = (VarId(0), b.var("r", false));
    let test = b.emit(Instr::Branch { cond: Expr::op(Op::Eq, vec![Expr::Var(x), n(0)]) });
    let zero = b.emit(Instr::Return { value: Some(n(0)) });
    let again = b.emit(Instr::Call {
        dst: Some(r),
        callee: Callee::Direct("f".into()),
        args: vec![Expr::op(Op::Sub, vec![Expr::Var(x), n(1)])],
        arg_types: vec![int()],
        ret: int(),
        result_to: None,
        noreturn: false,
    });
    b.emit(Instr::Return { value: Some(Expr::op(Op::Add, vec![Expr::Var(r), n(1)])) });
    b.jump(test, &[zero, again]);
    let p = program(vec![b.0]);
    assert_eq!(call(&p, "f", &[1500]).returned, Some(Const::bv(32, 1500)));
    assert_eq!(call(&p, "f", &[30_000]).end, End::Fuel);
    let input = Input { arguments: vec![Value::Const(Const::bv(32, 50_000))], ..Input::default() };
    let o = run(&p, "f", &input, &Limits { depth: 100_000, ..Limits::default() });
    assert_eq!(o.returned, Some(Const::bv(32, 50_000)));
}

#[test]
#[ignore = "a measurement, not a check: cargo test -- --ignored --nocapture speed"]
fn speed() {
    let mut b = Builder::new("f", &["x"]);
    let x = VarId(0);
    let head = b.emit(Instr::Branch { cond: Expr::op(Op::Slt, vec![n(0), Expr::Var(x)]) });
    let body = b.emit(Instr::Assign { dst: x, value: Expr::signed(Op::Sub, vec![Expr::Var(x), n(1)]) });
    let exit = b.emit(Instr::Return { value: Some(Expr::Var(x)) });
    b.jump(head, &[body, exit]);
    b.jump(body, &[head]);
    let p = program(vec![b.0]);
    let time = |times: u32, arg: i128| {
        let start = std::time::Instant::now();
        let steps: u64 = (0..times).map(|_| call(&p, "f", &[arg]).steps).sum();
        (start.elapsed().as_nanos() as u64 / times as u64, steps / times as u64)
    };
    println!("{:?} ns and steps for a short run, {:?} for a long one", time(10_000, 1), time(3, 200_000));
}

#[test]
fn generated_inputs_find_constants_and_equal_arguments() {
    let mut b = Builder::new("f", &["x", "y"]);
    let (x, y) = (Expr::Var(VarId(0)), Expr::Var(VarId(1)));
    let magic = Expr::op(Op::Eq, vec![x.clone(), n(123_456)]);
    let equal = Expr::op(Op::Eq, vec![x, y]);
    let both = |a: Expr, b: Expr| Expr::op(Op::Ite, vec![a, n(1), Expr::op(Op::Ite, vec![b, n(2), n(3)])]);
    b.emit(Instr::Return { value: Some(both(magic, equal)) });
    let p = program(vec![b.0]);
    let results = |seed| {
        let mut g = Generator::new(&p, "f", seed);
        (0..200).map(|_| run(&p, "f", &g.next(), &Limits::default()).returned).collect::<Vec<_>>()
    };
    assert_eq!(results(1), results(1));
    for v in 1..=3 {
        assert!(results(1).contains(&Some(Const::bv(32, v))), "{v}");
    }
}

#[test]
fn a_pair_of_versions_is_told_apart() {
    let version = |k: i128| {
        let mut b = Builder::new("f", &["x"]);
        let sum = Expr::op(Op::Add, vec![Expr::Var(VarId(0)), n(k)]);
        b.emit(Instr::Return { value: Some(sum) });
        program(vec![b.0])
    };
    let verdict = |a: &Program, b: &Program| {
        run_pair((a, "f"), (b, "f"), &Input::default(), &Limits::default()).verdict
    };
    let (one, two) = (version(1), version(2));
    assert_eq!(verdict(&one, &one), Comparison::Equal);
    assert_eq!(verdict(&one, &two), Comparison::Different(Difference::Returned));
}
