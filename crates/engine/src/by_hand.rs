//! Functions, units and runs that tests make by hand, without a front end.

use crate::interp::{End, Input, ObjectId, ObjectInit, Outcome, SourceLocation, Storage, Value};
use crate::ir::{
    Access, Binding, CType, Callee, Const, Expr, Field, Function, Global, InitPiece, Instr, Linkage, Node,
    NodeId, Record, RecordUses, Sort, Span, Stmt, StmtId, UndefinedKind, Unit, Var, VarId, VarKind,
};
use crate::mvicfg::ClassId;
use crate::semantics::{Callees, library};
use std::sync::Arc;

pub(crate) fn integer(bits: u16, signed: bool) -> CType {
    CType::Int { bits, signed, name: format!("{}int{bits}", if signed { "" } else { "u" }).into() }
}

pub(crate) fn int() -> CType {
    CType::Int { bits: 32, signed: true, name: "int".into() }
}

pub(crate) fn pointer(to: CType) -> CType {
    CType::Pointer(Arc::new(to))
}

pub(crate) fn array(of: CType, n: u64) -> CType {
    CType::Array(Arc::new(of), Some(n))
}

/// A variable that is not in memory; a parameter without a dot in front of its name, else a local.
fn var(name: &str, ty: &CType) -> Var {
    let local = name.starts_with('.');
    Var {
        name: name.trim_start_matches('.').into(),
        ordinal: 0,
        kind: if local { VarKind::Local } else { VarKind::Param },
        ty: ty.clone(),
        sort: ty.sort(64),
        in_memory: false,
        size: ty.sort(64).map_or(0, Sort::bytes),
        span: Span::default(),
    }
}

/// A function of these variables (parameters first, names of locals with a dot) and these nodes behind the
/// entry and the exit, each with its successors; control begins at the first of them, which is number 2.
pub(crate) fn function(name: &str, vars: &[(&str, CType)], nodes: &[(Instr, &[u32])]) -> Function {
    let vars: Vec<Var> = vars.iter().map(|(name, ty)| var(name, ty)).collect();
    let params = vars.iter().filter(|v| v.kind == VarKind::Param).count() as u32;
    let ends: [(Instr, &[u32]); 2] =
        [(Instr::Nop, if nodes.is_empty() { &[1] } else { &[2] }), (Instr::Nop, &[])];
    let all = ends.iter().chain(nodes).enumerate();
    let node = |(i, (instr, succs)): (usize, &(Instr, &[u32]))| Node {
        instr: instr.clone(),
        succs: succs.iter().map(|s| NodeId(*s)).collect(),
        stmt: StmtId(i as u32),
        span: Span { line: i as u32, ..Span::default() },
    };
    Function {
        name: name.into(),
        is_static: false,
        binding: Binding::default(),
        variadic: false,
        params: (0..params).map(VarId).collect(),
        ret: int(),
        vars,
        nodes: all.map(node).collect(),
        stmts: (0..nodes.len() + 2).map(|_| Stmt { span: Span::default(), depth: 0, kind: "expr" }).collect(),
        span: Span::default(),
        unknowns: Vec::new(),
        settled: Vec::new(),
        invented: Vec::new(),
        records: RecordUses::default(),
    }
}

/// The same of instructions one after the other.
pub(crate) fn straight(name: &str, vars: &[(&str, CType)], instrs: &[Instr]) -> Function {
    let next: Vec<[u32; 1]> =
        (0..instrs.len()).map(|i| [if i + 1 == instrs.len() { 1 } else { i as u32 + 3 }]).collect();
    let nodes: Vec<(Instr, &[u32])> = instrs.iter().cloned().zip(next.iter().map(|n| n.as_slice())).collect();
    function(name, vars, &nodes)
}

pub(crate) fn v(k: u32) -> Expr {
    Expr::Var(VarId(k))
}

pub(crate) fn access(ty: &CType) -> Access {
    let sort = ty.sort(64).expect("a scalar");
    Access { sort, bytes: sort.bytes(), volatile: false, ty: ty.clone() }
}

pub(crate) fn assign(dst: u32, value: Expr) -> Instr {
    Instr::Assign { dst: VarId(dst), value }
}

pub(crate) fn load(dst: u32, addr: Expr, ty: &CType) -> Instr {
    Instr::Load { dst: VarId(dst), addr, access: access(ty) }
}

pub(crate) fn store(addr: Expr, value: Expr, ty: &CType) -> Instr {
    Instr::Store { addr, value, access: access(ty) }
}

pub(crate) fn call(dst: Option<u32>, callee: Callee, args: Vec<Expr>) -> Instr {
    Instr::Call {
        dst: dst.map(VarId),
        callee,
        args,
        arg_types: Vec::new(),
        ret: int(),
        result_to: None,
        noreturn: false,
    }
}

pub(crate) fn named(callee: &str) -> Callee {
    Callee::Direct(callee.into())
}

/// A static object.
pub(crate) fn global(symbol: &str, ty: CType, size: u64, init: Vec<InitPiece>) -> Global {
    Global {
        symbol: symbol.into(),
        name: symbol.into(),
        ty,
        size,
        linkage: Linkage::Internal,
        is_const: false,
        is_fixed: false,
        init,
        span: Span::default(),
    }
}

/// A structure of members without padding but before those that need none.
pub(crate) fn record(name: &str, fields: &[(&str, u64, CType)], size: u64) -> Record {
    let field = |(name, offset, ty): &(&str, u64, CType)| Field {
        name: (*name).into(),
        offset: *offset,
        bits: None,
        ty: ty.clone(),
    };
    Record {
        name: name.into(),
        is_union: false,
        size,
        align: 8,
        fields: fields.iter().map(field).collect(),
        invented: false,
    }
}

/// A unit of which all is known.
pub(crate) fn unit(records: Vec<Record>, globals: Vec<Global>, functions: Vec<Function>) -> Unit {
    let functions = functions.into_iter().map(Arc::new).collect();
    Unit { records, globals, functions, is_whole: true, ..Unit::default() }
}

pub(crate) fn number(n: i128) -> Value {
    Value::Const(Const::bv(32, n))
}

pub(crate) fn leads(object: u32, offset: i64) -> Value {
    Value::Pointer { object: ObjectId(object), offset }
}

/// An object on the heap.
pub(crate) fn object(id: u32, ty: CType, bytes: &[u8], pointers: &[(u64, Value)]) -> ObjectInit {
    ObjectInit {
        id: ObjectId(id),
        ty,
        storage: Storage::Heap,
        bytes: bytes.to_vec(),
        undefined: Vec::new(),
        pointers: pointers.to_vec(),
    }
}

pub(crate) fn input(arguments: &[Value], objects: &[ObjectInit]) -> Input {
    Input { arguments: arguments.to_vec(), objects: objects.to_vec(), ..Input::default() }
}

pub(crate) fn place(line: u32) -> SourceLocation {
    SourceLocation { file: "a.c".into(), line, function: "f".into() }
}

pub(crate) fn undefined(kind: UndefinedKind) -> End {
    End::Undefined { kind, place: place(7) }
}

/// A run that ended so and did nothing else.
pub(crate) fn outcome(end: End) -> Outcome {
    Outcome {
        end,
        ending: Default::default(),
        returned: None,
        returned_target: None,
        left: Default::default(),
        output: Default::default(),
        read: Default::default(),
        overflow: None,
        assumed: Default::default(),
        heap: Default::default(),
        elsewhere: Vec::new(),
        portability: Default::default(),
        steps: 1,
    }
}

/// A run that returned a number.
pub(crate) fn returned(n: i128) -> Outcome {
    Outcome { returned: Some(Const::bv(32, n)), ..outcome(End::Return) }
}

/// Callees of which the library's are known, and no others.
pub(crate) struct LibraryOnly;

impl Callees for LibraryOnly {
    fn identity(&self, _: ClassId, _: &str) -> Option<Arc<str>> {
        None
    }

    fn global(&self, _: ClassId, _: &str) -> Option<&Global> {
        None
    }

    fn row(&self, _: ClassId, name: &str, _: &[Expr]) -> Option<&'static library::Row> {
        library::row(name)
    }
}
