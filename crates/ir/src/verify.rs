//! Well-formedness of a function's IR: what every analysis may rely on, checked.
//!
//! For tests and for front ends under development; a function that lowering made has no complaint.
//! Checked are successors by kind of node, indices, sorts of all expressions and instructions, and
//! that temporaries are assigned on every path before they are used (a forward must-analysis).

use super::{CType, Expr, Function, Instr, NodeId, Object, Op, Sort, VarId, VarKind};

/// Returns one line for each violated rule, in node order; empty for a well-formed function.
///
/// Cost: linear in the instructions, times the temporaries / 64 for the order of assignments.
pub fn verify(f: &Function, pointer_bits: u16) -> Vec<String> {
    let mut v = Verifier { f, pointer: Sort::Bv(pointer_bits), bits: pointer_bits, complaints: Vec::new() };
    v.shape();
    if v.complaints.is_empty() {
        (0..f.nodes.len()).for_each(|n| v.node(n));
    }
    if v.complaints.is_empty() {
        v.temporaries();
    }
    v.complaints
}

struct Verifier<'f> {
    f: &'f Function,
    pointer: Sort,
    bits: u16,
    complaints: Vec<String>,
}

impl Verifier<'_> {
    fn say(&mut self, node: usize, what: &str) {
        let line = self.f.nodes.get(node).map_or(0, |n| n.span.line);
        self.complaints.push(format!("{} node {node} line {line}: {what}", self.f.name));
    }

    /// Successors and indices.
    fn shape(&mut self) {
        let f = self.f;
        if f.nodes.len() < 2 || f.params.iter().enumerate().any(|(i, p)| p.0 as usize != i) {
            self.say(0, "no entry, no exit, or parameters that are not the first variables");
        }
        if f.params.len() > f.vars.len() {
            self.say(0, "parameters without variables");
        }
        for (n, node) in f.nodes.iter().enumerate() {
            let expected = match &node.instr {
                _ if n == 1 => 0,
                Instr::Branch { .. } => 2,
                Instr::Unreachable | Instr::Call { noreturn: true, .. } => 0,
                _ => 1,
            };
            if node.succs.len() != expected {
                self.say(n, &format!("{} successors instead of {expected}", node.succs.len()));
            }
            if node.succs.iter().any(|s| s.0 as usize >= f.nodes.len() || *s == Function::ENTRY) {
                self.say(n, "successor out of range");
            }
            if n < 2 && node.instr != Instr::Nop {
                self.say(n, "entry or exit is no `Nop`");
            }
            if matches!(node.instr, Instr::Return { .. }) != node.succs.contains(&Function::EXIT) && n > 0 {
                self.say(n, "returns and edges to the exit differ");
            }
            if node.stmt.0 as usize >= f.stmts.len() {
                self.say(n, "statement out of range");
            }
        }
    }

    /// Returns the sort of a variable that is read or written by name.
    fn register(&mut self, n: usize, v: VarId) -> Option<Sort> {
        match self.f.vars.get(v.0 as usize) {
            Some(var) if !var.in_memory && var.sort.is_some() => var.sort,
            _ => {
                self.say(n, &format!("variable {} is no register", v.0));
                None
            }
        }
    }

    fn expect(&mut self, n: usize, what: &str, have: Option<Sort>, want: Sort) {
        if have.is_some_and(|s| s != want) {
            self.say(n, &format!("{what} is {have:?} instead of {want:?}"));
        }
    }

    fn node(&mut self, n: usize) {
        let pointer = self.pointer;
        let f = self.f;
        let Some(node) = f.nodes.get(n) else { return };
        match &node.instr {
            Instr::Nop | Instr::Unreachable => {}
            Instr::Declare(v) => {
                if v.0 as usize >= f.vars.len() {
                    self.say(n, "variable out of range");
                }
            }
            Instr::Measure { var, lengths, .. } => {
                if var.is_some_and(|v| f.vars.get(v.0 as usize).is_none_or(|v| !v.in_memory)) {
                    self.say(n, "measured variable is not in memory");
                }
                for e in lengths {
                    let length = self.expr(n, e);
                    self.expect(n, "length", length, pointer);
                }
            }
            Instr::Assign { dst, value } => {
                let have = self.expr(n, value);
                if let Some(want) = self.register(n, *dst) {
                    self.expect(n, "value", have, want);
                }
            }
            Instr::Load { dst, addr, access } => {
                let addr = self.expr(n, addr);
                self.expect(n, "address", addr, pointer);
                let dst = self.register(n, *dst);
                self.expect(n, "destination", dst, access.sort);
                self.access(n, access);
            }
            Instr::Store { addr, value, access } => {
                let addr = self.expr(n, addr);
                self.expect(n, "address", addr, pointer);
                let value = self.expr(n, value);
                self.expect(n, "value", value, access.sort);
                self.access(n, access);
            }
            Instr::Copy { dst, src, .. } => {
                for e in [dst, src] {
                    let addr = self.expr(n, e);
                    self.expect(n, "address", addr, pointer);
                }
            }
            Instr::Zero { dst, .. } => {
                let addr = self.expr(n, dst);
                self.expect(n, "address", addr, pointer);
            }
            Instr::Call { .. } => self.call(n, &node.instr),
            Instr::Branch { cond } => {
                let cond = self.expr(n, cond);
                self.expect(n, "condition", cond, Sort::Bool);
            }
            Instr::Return { value } => {
                let Some(value) = value else { return };
                let have = self.expr(n, value);
                match &f.ret {
                    CType::Void => self.say(n, "value returned from a function without one"),
                    ret => self.expect(n, "result", have, ret.sort(self.bits).unwrap_or(pointer)),
                }
            }
            Instr::Unknown { reads, writes, .. } => {
                for e in reads {
                    self.expr(n, e);
                }
                for v in writes {
                    self.register(n, *v);
                }
            }
        }
    }

    fn access(&mut self, n: usize, access: &super::Access) {
        if access.sort.bits().map(u64::from) != Some(access.bytes * 8) {
            self.say(n, &format!("access of {} bytes as {:?}", access.bytes, access.sort));
        }
    }

    fn call(&mut self, n: usize, instr: &Instr) {
        let Instr::Call { dst, callee, args, arg_types, ret, result_to, .. } = instr else { return };
        if args.len() != arg_types.len() {
            self.say(n, "arguments and their types differ in number");
        }
        if let super::Callee::Indirect(e) = callee {
            let have = self.expr(n, e);
            self.expect(n, "callee", have, self.pointer);
        }
        for (arg, ty) in args.iter().zip(arg_types) {
            let have = self.expr(n, arg);
            self.expect(n, "argument", have, ty.sort(self.bits).unwrap_or(self.pointer));
        }
        if let Some(dst) = dst {
            let have = self.register(n, *dst);
            match ret.sort(self.bits) {
                Some(sort) => self.expect(n, "result", have, sort),
                None => self.say(n, "register for a result that is no scalar"),
            }
        }
        if let Some(e) = result_to {
            let have = self.expr(n, e);
            self.expect(n, "address of the result", have, self.pointer);
        }
    }

    /// Returns an expression's sort; `None` when it has none, which was then said.
    fn expr(&mut self, n: usize, e: &Expr) -> Option<Sort> {
        match e {
            Expr::Const(c) => Some(c.sort()),
            Expr::Var(v) => self.register(n, *v),
            Expr::Addr(Object::Local(v)) => {
                let in_memory = self.f.vars.get(v.0 as usize).is_some_and(|v| v.in_memory);
                if !in_memory {
                    self.say(n, &format!("address of variable {}, which is not in memory", v.0));
                }
                Some(self.pointer)
            }
            Expr::Addr(_) => Some(self.pointer),
            Expr::Op { op, args, .. } => {
                let sorts: Vec<Option<Sort>> = args.iter().map(|a| self.expr(n, a)).collect();
                let sorts: Vec<Sort> = sorts.into_iter().collect::<Option<_>>()?;
                if !fits(*op, &sorts) {
                    self.say(n, &format!("{op:?} of {sorts:?}"));
                    return None;
                }
                Some(op.result_sort(&sorts))
            }
        }
    }

    /// Temporaries are assigned before they are used, on every path.
    fn temporaries(&mut self) {
        let f = self.f;
        let words = f.vars.len().div_ceil(64);
        // What is assigned at a node's start; `None` while the node was not reached.
        let mut known: Vec<Option<Vec<u64>>> = vec![None; f.nodes.len()];
        let mut start = vec![0u64; words];
        for (i, v) in f.vars.iter().enumerate() {
            if v.kind != VarKind::Temp || v.in_memory {
                start[i / 64] |= 1 << (i % 64);
            }
        }
        known[0] = Some(start);
        let mut work = vec![NodeId(0)];
        while let Some(id) = work.pop() {
            let Some(Some(mut now)) = known.get(id.0 as usize).cloned() else { continue };
            written(&f.node(id).instr, &mut |v| now[v.0 as usize / 64] |= 1 << (v.0 % 64));
            for s in &f.node(id).succs {
                let at = &mut known[s.0 as usize];
                let meet: Vec<u64> = match at {
                    Some(old) => old.iter().zip(&now).map(|(a, b)| a & b).collect(),
                    None => now.clone(),
                };
                if at.as_ref() != Some(&meet) {
                    *at = Some(meet);
                    work.push(*s);
                }
            }
        }
        for (n, at) in known.iter().enumerate() {
            let Some(at) = at else { continue };
            let mut missing = None;
            read(&f.nodes[n].instr, &mut |v| {
                if at[v.0 as usize / 64] >> (v.0 % 64) & 1 == 0 {
                    missing = Some(v);
                }
            });
            if let Some(v) = missing {
                self.say(n, &format!("temporary {} is not assigned on every path", v.0));
            }
        }
    }
}

/// Returns whether an operator takes arguments of these sorts.
fn fits(op: Op, sorts: &[Sort]) -> bool {
    use Op::*;
    let bv = |s: &Sort| matches!(s, Sort::Bv(_));
    let width = |s: &Sort| if let Sort::Bv(w) = s { *w } else { 0 };
    match (op, sorts) {
        (And | Or, _) => sorts.iter().all(|s| *s == Sort::Bool),
        (Not, [a]) => *a == Sort::Bool,
        (Eq, [a, b]) => a == b,
        (Ite, [c, a, b]) => *c == Sort::Bool && a == b,
        (Neg | BitNot, [a]) => bv(a),
        (Zext(w) | Sext(w), [a]) => bv(a) && w > width(a),
        (Trunc(w), [a]) => bv(a) && w < width(a),
        (Concat, [a, b]) => bv(a) && bv(b),
        (SToF(s) | UToF(s), [a]) => bv(a) && s.is_float(),
        (BitsToF(s), [a]) => bv(a) && s.is_float() && s.bits() == a.bits(),
        (FToF(s), [a]) => a.is_float() && s.is_float(),
        (FNeg | FAbs | FSqrt | FRound(_) | FIsNan | FIsInf | FSignbit | FToS(_) | FToU(_) | FToBits, [a]) => {
            a.is_float()
        }
        (FFma, [a, b, c]) => a.is_float() && a == b && b == c,
        (FAdd | FSub | FMul | FDiv | FRem | FMin | FMax | FCopysign | FEq | FLt | FLe, [a, b]) => {
            a.is_float() && a == b
        }
        (
            Add | Sub | Mul | UDiv | SDiv | URem | SRem | BitAnd | BitOr | BitXor | Shl | LShr | AShr | Ult
            | Ule | Slt | Sle,
            [a, b],
        ) => bv(a) && a == b,
        _ => false,
    }
}

fn written(instr: &Instr, f: &mut impl FnMut(VarId)) {
    match instr {
        Instr::Assign { dst, .. } | Instr::Load { dst, .. } | Instr::Call { dst: Some(dst), .. } => f(*dst),
        Instr::Unknown { writes, .. } => writes.iter().for_each(|v| f(*v)),
        _ => {}
    }
}

fn read(instr: &Instr, f: &mut impl FnMut(VarId)) {
    match instr {
        Instr::Assign { value, .. } => value.for_each_var(f),
        Instr::Load { addr, .. } => addr.for_each_var(f),
        Instr::Store { addr, value, .. } => {
            addr.for_each_var(f);
            value.for_each_var(f);
        }
        Instr::Copy { dst, src, .. } => {
            dst.for_each_var(f);
            src.for_each_var(f);
        }
        Instr::Zero { dst, .. } => dst.for_each_var(f),
        Instr::Measure { lengths, .. } => lengths.iter().for_each(|e| e.for_each_var(f)),
        Instr::Call { callee, args, result_to, .. } => {
            if let super::Callee::Indirect(e) = callee {
                e.for_each_var(f);
            }
            args.iter().chain(result_to).for_each(|e| e.for_each_var(f));
        }
        Instr::Branch { cond } => cond.for_each_var(f),
        Instr::Return { value: Some(value) } => value.for_each_var(f),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Node, Span, Stmt, StmtId};

    /// Checks what is said of a function with these nodes between entry and exit.
    fn check(instrs: Vec<(Instr, Vec<u32>)>, expected: &[&str]) {
        let node = |(instr, succs): (Instr, Vec<u32>)| Node {
            instr,
            succs: succs.into_iter().map(NodeId).collect(),
            stmt: StmtId(0),
            span: Span::default(),
        };
        let mut all = vec![(Instr::Nop, vec![2]), (Instr::Nop, vec![])];
        all.extend(instrs);
        let var = |kind| super::super::Var {
            name: "v".into(),
            ordinal: 0,
            kind,
            ty: CType::Bool,
            sort: Some(Sort::Bv(8)),
            in_memory: false,
            size: 1,
            span: Span::default(),
        };
        let f = Function {
            name: "f".into(),
            is_static: false,
            binding: Default::default(),
            variadic: false,
            params: vec![VarId(0)],
            ret: CType::Bool,
            vars: vec![var(VarKind::Param), var(VarKind::Temp)],
            nodes: all.into_iter().map(node).collect(),
            stmts: vec![Stmt { span: Span::default(), depth: 0, kind: "entry" }],
            span: Span::default(),
            unknowns: Vec::new(),
            settled: Vec::new(),
            invented: Vec::new(),
            records: Default::default(),
        };
        let said = verify(&f, 64);
        assert_eq!(said.len(), expected.len(), "{said:?}");
        said.iter().zip(expected).for_each(|(s, e)| assert!(s.contains(e), "{s}"));
    }

    #[test]
    fn each_rule_has_its_complaint() {
        let var = |v| Expr::Var(VarId(v));
        let ret = |e| (Instr::Return { value: Some(e) }, vec![1]);
        let test = || Instr::Branch { cond: Expr::op(Op::Eq, vec![var(0), Expr::bv(8, 0)]) };
        let set = || Instr::Assign { dst: VarId(1), value: var(0) };
        check(vec![ret(var(0))], &[]);
        check(vec![(set(), vec![3]), ret(var(1))], &[]);
        check(vec![ret(var(1))], &["not assigned"]);
        check(vec![(test(), vec![3, 4]), (set(), vec![4]), ret(var(1))], &["not assigned"]);
        check(vec![(test(), vec![3]), ret(var(0))], &["1 successors instead of 2"]);
        check(vec![(Instr::Branch { cond: var(0) }, vec![3, 3]), ret(var(0))], &["condition"]);
        check(vec![ret(Expr::bv(32, 0))], &["result"]);
        check(vec![ret(Expr::op(Op::Add, vec![var(0), Expr::bv(32, 0)]))], &["Add of"]);
        check(vec![ret(Expr::Addr(Object::Local(VarId(0))))], &["not in memory", "result"]);
        check(vec![(Instr::Nop, vec![1])], &["edges to the exit"]);
    }
}
