//! What lowering does not express, as text: equal texts with equal operands do the same.
//!
//! The text spells the checked tree, not the source, so that layout, comments and macros take no part and
//! every type does, with the layouts of records. What a name denotes is an operand; the text only has its
//! number, so that a local that is renamed changes nothing. Where the checker gave up, the tokens of the
//! statement stand for what it lost.

use super::function::FnCx;
use super::sequencing;
use crate::ir::{CType, Expr, Object};
use rucc_sema::{
    AsmOperandList, Base, Const, ConstId, DeclId, DeclKind, ExprId, ExprKind, LabelId, Stmt, StmtId,
};
use rucc_types::{ArrayLen, TypeId, TypeKind};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// A part of a function that lowering does not express.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Expr(ExprId),
    Stmt(StmtId),
    Decl(DeclId),
    /// All of the function, by its tokens.
    Tokens,
}

/// Text of a part of a function, with `$k` for the k-th of what its names denote.
#[derive(Clone, Debug, Default)]
pub(super) struct Spelled {
    pub text: Arc<str>,
    pub reads: Vec<Expr>,
    /// Where the checker gave up, or the part is nested too deeply: the tokens that stand for the part.
    pub tokens: Option<String>,
    /// The parser made a statement of what it could not read.
    pub skips: bool,
}

/// Nesting beyond which the tokens say the rest.
const MAX_DEPTH: u32 = 500;

impl FnCx<'_, '_> {
    pub fn spelled(&mut self, part: Part) -> Spelled {
        let mut speller = Speller { cx: self, out: Spelling::default(), depth: 0 };
        match part {
            Part::Expr(e) => speller.expr(e),
            Part::Stmt(s) => speller.stmt(s),
            Part::Decl(d) => speller.declaration(d),
            Part::Tokens => speller.out.by_tokens = true,
        }
        let mut out = speller.out;
        let statement = (self.statements.from, self.statements.until);
        let is_within = statement.0 < statement.1 && !matches!(part, Part::Tokens);
        let extent = if is_within { statement } else { self.extent };
        let tokens = out.by_tokens.then(|| self.unit.spans.tokens_within(extent));
        tokens.iter().for_each(|t| out.text.push_str(t));
        Spelled { text: out.text.into(), reads: out.reads, tokens, skips: out.skips }
    }
}

#[derive(Default)]
struct Spelling {
    text: String,
    reads: Vec<Expr>,
    /// Variables of the part itself, in order of appearance.
    own: Vec<DeclId>,
    records: BTreeSet<u32>,
    by_tokens: bool,
    skips: bool,
}

struct Speller<'c, 'u, 'a> {
    cx: &'c mut FnCx<'u, 'a>,
    out: Spelling,
    depth: u32,
}

impl Speller<'_, '_, '_> {
    fn put(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    fn nested(&mut self, work: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.out.by_tokens = true;
            return;
        }
        self.depth += 1;
        self.put("(");
        work(self);
        self.put(")");
        self.depth -= 1;
    }

    fn expr(&mut self, e: ExprId) {
        self.nested(|s| {
            let expr = s.cx.unit.tast[e];
            match expr.kind {
                ExprKind::Error => s.out.by_tokens = true,
                ExprKind::Const(c) => s.constant(c),
                ExprKind::Str(id) => {
                    let text = format!("{:?}", s.cx.unit.tast[id]);
                    s.put(&text);
                }
                ExprKind::Decl(d) => s.name(d),
                ExprKind::CompoundLiteral(d) => s.declaration(d),
                ExprKind::LabelAddr(l) => s.label(l),
                ExprKind::StmtExpr(body) => s.stmt(body),
                kind => {
                    s.head(&format!("{kind:?}"));
                    match kind {
                        ExprKind::Assign { computation: ty, .. } | ExprKind::Overflow { at: ty, .. } => {
                            s.ty(ty);
                        }
                        _ => {}
                    }
                    let mut operands = Vec::new();
                    sequencing::for_each_operand(s.cx.unit.tast, e, &mut |x| operands.push(x));
                    operands.into_iter().for_each(|x| s.expr(x));
                }
            }
            let _ = write!(s.out.text, ":{:?}", expr.category);
            s.ty(expr.ty);
        });
    }

    /// Writes what a node of the tree is, without the numbers of its parts, which are this tree's own.
    fn head(&mut self, debug: &str) {
        let mut rest = debug;
        while let Some(at) = rest.find('#') {
            self.put(&rest[..at]);
            rest = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        }
        self.put(rest);
    }

    fn constant(&mut self, c: ConstId) {
        match self.cx.unit.tast[c] {
            Const::Address(a) => {
                let _ = write!(self.out.text, "&{}+", a.offset);
                match a.base {
                    Base::Decl(d) => self.name(d),
                    Base::Str(s) => {
                        let text = format!("{:?}", self.cx.unit.tast[s]);
                        self.put(&text);
                    }
                    Base::Label(l) => self.label(l),
                    Base::Absolute => {}
                }
            }
            Const::Apart { to, from } => {
                self.label(to);
                self.put("-");
                self.label(from);
            }
            value => {
                let _ = write!(self.out.text, "{value:?}");
            }
        }
    }

    fn label(&mut self, l: LabelId) {
        let name = self.cx.unit.names.resolve(self.cx.unit.tast[l].name).to_owned();
        self.put(&name);
    }

    /// Writes what a name denotes: an operand, or a variable of the part itself.
    fn name(&mut self, d: DeclId) {
        let unit = &self.cx.unit;
        let decl = &unit.tast[d];
        let denoted = if decl.kind == DeclKind::Function {
            Some(Expr::Addr(Object::Function(self.cx.unit.function_symbol(d))))
        } else if let Some(&var) = self.cx.variables.of.get(&d) {
            let in_memory = self.cx.variables.all.get(var.0 as usize).is_some_and(|v| v.in_memory);
            Some(if in_memory { self.cx.addr_of(var) } else { Expr::Var(var) })
        } else if unit.is_static(d) {
            let function = self.cx.name.clone();
            Some(Expr::Addr(Object::Global(self.cx.unit.symbol(d, Some(&function)))))
        } else {
            None
        };
        match denoted {
            Some(e) => self.operand(e),
            None => {
                let known = self.out.own.iter().position(|o| *o == d);
                let k = known.unwrap_or_else(|| {
                    self.out.own.push(d);
                    self.out.own.len() - 1
                });
                let _ = write!(self.out.text, "%{k}");
            }
        }
        // What a name is called, where it may live and what is bound to it show in nothing else.
        let decl = &self.cx.unit.tast[d];
        for label in [decl.register, decl.asm_label].into_iter().flatten() {
            let text = format!(" asm {:?}", self.cx.unit.tast[label]);
            self.put(&text);
        }
    }

    fn operand(&mut self, e: Expr) {
        let known = self.out.reads.iter().position(|r| *r == e);
        let k = known.unwrap_or_else(|| {
            self.out.reads.push(e);
            self.out.reads.len() - 1
        });
        let _ = write!(self.out.text, "${k}");
    }

    fn declaration(&mut self, d: DeclId) {
        self.nested(|s| {
            s.put("decl ");
            s.name(d);
            let decl = &s.cx.unit.tast[d];
            let (ty, init, cleanup) = (decl.ty, decl.init, decl.cleanup);
            let _ = write!(s.out.text, " {:?} {:?}", decl.duration, decl.alignment);
            s.ty(ty);
            if let Some(handler) = cleanup {
                s.put(" cleanup ");
                s.name(handler);
            }
            let Some(init) = init else { return };
            s.put(" =");
            for entry in s.cx.unit.tast[init].iter().copied() {
                let (at, bit, width) = (entry.offset, entry.bit_offset, entry.bit_width);
                let _ = write!(s.out.text, " {at}.{bit}.{width}.{}", entry.reverse);
                s.expr(entry.value);
            }
        });
    }

    fn ty(&mut self, ty: TypeId) {
        let canonical = self.cx.unit.types.canonical(ty);
        let spelled = self.cx.unit.spell(canonical);
        self.put(&spelled);
        let made = self.cx.unit.ctype(canonical);
        self.layout(&made);
        let mut inner = canonical;
        while let TypeKind::Array { elem, len } = self.cx.unit.types.kind(inner) {
            if let ArrayLen::Variable(id) = len {
                let length = self.cx.unit.tast.vla_size(id);
                match self.cx.variables.lengths.get(&length).cloned() {
                    Some(known) => self.operand(known),
                    None => self.expr(length),
                }
            }
            inner = self.cx.unit.types.canonical(elem);
        }
    }

    /// Writes the layouts of the records that a type is made of, each once.
    fn layout(&mut self, ty: &CType) {
        match ty {
            CType::Pointer(to) | CType::Array(to, _) => self.layout(to),
            CType::Opaque { size, .. } => {
                let _ = write!(self.out.text, "[{size}]");
            }
            CType::Int { bits, signed, .. } => {
                let _ = write!(self.out.text, "[{bits}{signed}]");
            }
            CType::Record(id) if self.out.records.insert(id.0) => {
                let Some(record) = self.cx.unit.ir_types.records.get(id.0 as usize).cloned() else { return };
                let _ = write!(self.out.text, "[{} {} {}", record.is_union, record.size, record.align);
                for field in &record.fields {
                    let _ = write!(self.out.text, " {} {} {:?} ", field.name, field.offset, field.bits);
                    self.layout(&field.ty);
                }
                self.put("]");
            }
            _ => {}
        }
    }

    fn stmt(&mut self, id: StmtId) {
        self.nested(|s| {
            let stmt = s.cx.unit.tast[id];
            s.head(&format!("{stmt:?}"));
            s.stmt_parts(stmt);
        });
    }

    fn stmt_parts(&mut self, stmt: Stmt) {
        match stmt {
            Stmt::Error => (self.out.by_tokens, self.out.skips) = (true, true),
            Stmt::Empty | Stmt::Break | Stmt::Continue | Stmt::Return(None) => {}
            Stmt::Expr(e) | Stmt::IndirectGoto(e) | Stmt::Return(Some(e)) => self.expr(e),
            Stmt::Block(list) => {
                let list = self.cx.unit.tast[list].to_vec();
                list.into_iter().for_each(|x| self.stmt(x));
            }
            Stmt::Decls(list) => {
                let list = self.cx.unit.tast[list].to_vec();
                list.into_iter().for_each(|d| self.declaration(d));
            }
            Stmt::If { cond, then, otherwise } => {
                self.expr(cond);
                self.stmt(then);
                otherwise.into_iter().for_each(|x| self.stmt(x));
            }
            Stmt::While { cond, body } | Stmt::DoWhile { body, cond } => {
                self.expr(cond);
                self.stmt(body);
            }
            Stmt::For { init, cond, step, body } => {
                init.into_iter().for_each(|x| self.stmt(x));
                cond.into_iter().chain(step).for_each(|x| self.expr(x));
                self.stmt(body);
            }
            Stmt::Switch { cond, body, .. } => {
                self.expr(cond);
                self.stmt(body);
            }
            Stmt::Case { case, body } => {
                let case = self.cx.unit.tast[case];
                let _ = write!(self.out.text, "{}..{}", case.low, case.high);
                self.stmt(body);
            }
            Stmt::Default { body } => self.stmt(body),
            Stmt::Label { label, body } => {
                self.label(label);
                self.stmt(body);
            }
            Stmt::Goto(label) => self.label(label),
            Stmt::Asm(id) => self.asm(id),
        }
    }

    fn asm(&mut self, id: rucc_sema::AsmId) {
        let asm = self.cx.unit.tast[id];
        let text = format!("{:?} {:?}", asm.quals, self.cx.unit.tast[asm.template]);
        self.put(&text);
        self.asm_operands(asm.outputs);
        self.put(" :");
        self.asm_operands(asm.inputs);
        for k in 0..self.cx.unit.tast[asm.clobbers].len() {
            let clobber = self.cx.unit.tast[asm.clobbers][k];
            let text = format!(" {:?}", self.cx.unit.tast[clobber]);
            self.put(&text);
        }
        for k in 0..self.cx.unit.tast[asm.labels].len() {
            self.put(" ");
            self.label(self.cx.unit.tast[asm.labels][k]);
        }
    }

    fn asm_operands(&mut self, list: AsmOperandList) {
        for k in 0..self.cx.unit.tast[list].len() {
            let operand = self.cx.unit.tast[list][k];
            let name = operand.name.map_or("", |n| self.cx.unit.names.resolve(n));
            let text = format!(" [{name}] {:?} {}", self.cx.unit.tast[operand.constraint], operand.memory);
            self.put(&text);
            self.expr(operand.value);
        }
    }
}
