//! Functions as control-flow graphs of instructions.
//!
//! Node 0 is the entry ([`Instr::Nop`]), node 1 the exit, which every `return` leads to. Nodes hold
//! one instruction each. A `Branch` has two successors, the true one first; `Return` goes to the
//! exit; a call that never returns and `Unreachable` have none; every other node has one.
//!
//! Every node belongs to one source statement ([`Stmt`]); temporaries never live across statements,
//! so that versions can be aligned statement by statement whatever the numbering of temporaries.

use super::{Binding, CType, Expr, FileId, RecordId, Sort, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Index into [`Function::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index into [`Function::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Index into [`Function::stmts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarKind {
    Param,
    Local,
    /// Made by lowering; holds a value between instructions of one statement.
    Temp,
}

/// Local variable, parameter or temporary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Var {
    /// Source name; temporaries are numbered within their statement (`%0`).
    pub name: Arc<str>,
    /// Which of several locals of this name, in source order, from 0 (shadowing, sibling scopes).
    pub ordinal: u32,
    pub kind: VarKind,
    pub ty: CType,
    /// `None` for aggregates, which always live in memory.
    pub sort: Option<Sort>,
    /// Lives in memory under [`super::Object::Local`]: its address is taken, or it is an aggregate,
    /// or it is `volatile`. A parameter in memory has its incoming value there at entry.
    pub in_memory: bool,
    /// Bytes; 0 for an array of variable length, which has a size once it was measured.
    pub size: u64,
    pub span: Span,
}

impl Var {
    /// Whether the object's size is computed where its declaration is executed.
    pub fn is_variable_length(&self) -> bool {
        let mut ty = &self.ty;
        while let CType::Array(element, length) = ty {
            if length.is_none() {
                return self.in_memory && self.size == 0;
            }
            ty = element;
        }
        false
    }

    /// Returns how many bytes of a scalar's object its value takes: a `long double` has padding.
    pub fn value_bytes(&self) -> u64 {
        self.sort.map_or(self.size, Sort::bytes)
    }
}

/// How an instruction reads or writes memory: little endian, exactly `bytes` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub sort: Sort,
    pub bytes: u64,
    pub volatile: bool,
    /// Declared type of the object accessed, for display and for signedness.
    pub ty: CType,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// By symbol; the definition may be in this unit, in another, a library model, or nowhere.
    Direct(Arc<str>),
    /// Through a function pointer.
    Indirect(Expr),
}

/// Reason of the [`Instr::Unknown`] behind a call of `setjmp`: it stands for the later returns of the
/// call. The interpreter does them at the `longjmp`, and passes over it.
pub const RETURNS_TWICE: &str = "setjmp";

/// Instruction of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instr {
    /// Entry, exit, joins, labels.
    Nop,
    /// A local's lifetime begins without an initialiser: its value is indeterminate from here. That of an
    /// array of variable length ends: it is no object until it is measured again.
    Declare(VarId),
    /// The type of an array of variable length is computed. Each of `lengths` (as wide as pointers,
    /// signed) must be positive, and their product times `element` a size that objects can have;
    /// anything else is undefined. `var` begins its life as a new, indeterminate object of that size.
    Measure {
        var: Option<VarId>,
        lengths: Vec<Expr>,
        element: u64,
    },
    /// `dst` is a variable that is not in memory.
    Assign {
        dst: VarId,
        value: Expr,
    },
    Load {
        dst: VarId,
        addr: Expr,
        access: Access,
    },
    Store {
        addr: Expr,
        value: Expr,
        access: Access,
    },
    /// Copies an aggregate; the regions are equal or do not overlap.
    Copy {
        dst: Expr,
        src: Expr,
        bytes: u64,
    },
    /// Sets `bytes` bytes to zero (initialisers of aggregates).
    Zero {
        dst: Expr,
        bytes: u64,
    },
    /// Arguments of aggregate type are passed as the address of a copy; an aggregate result is
    /// written to the address in `result_to`. `arg_types` are the promoted or declared types.
    Call {
        dst: Option<VarId>,
        callee: Callee,
        args: Vec<Expr>,
        arg_types: Vec<CType>,
        ret: CType,
        result_to: Option<Expr>,
        noreturn: bool,
    },
    /// `cond` is of sort `Bool`.
    Branch {
        cond: Expr,
    },
    Return {
        value: Option<Expr>,
    },
    /// Control must not get here (`__builtin_unreachable`).
    Unreachable,
    /// An effect that lowering does not model: havocs `writes`, and all of memory and the world
    /// when `anything` is set. It may read all of memory and the world. With the reason
    /// [`RETURNS_TWICE`] nothing is missing: it stands behind a call of `setjmp`, where control arrives
    /// again from any later `longjmp`, with whatever state that left.
    Unknown {
        reason: Arc<str>,
        /// The source with its types, where `$k` stands for `reads[k]`: equal texts do the same to
        /// equal states.
        text: Arc<str>,
        /// What the names in the text denote: variables, addresses of objects and functions.
        reads: Vec<Expr>,
        writes: Vec<VarId>,
        anything: bool,
        /// The parser skipped text here: control may also go where the graph has no edge, and not come by at all.
        skips: bool,
    },
}

impl Instr {
    /// Returns whether control arrives here again from a `longjmp` ([`RETURNS_TWICE`]).
    pub fn is_second_return(&self) -> bool {
        matches!(self, Instr::Unknown { reason, .. } if **reason == *RETURNS_TWICE)
    }

    /// The variable that is not in memory and that the instruction gives a value.
    pub fn written(&self) -> Option<VarId> {
        match self {
            Instr::Assign { dst, .. } | Instr::Load { dst, .. } => Some(*dst),
            Instr::Call { dst, .. } => *dst,
            _ => None,
        }
    }

    /// Calls `f` on every expression that the instruction evaluates, not on parts of these.
    pub fn for_each_operand(&self, f: &mut impl FnMut(&Expr)) {
        match self {
            Instr::Assign { value, .. } => f(value),
            Instr::Load { addr, .. } => f(addr),
            Instr::Store { addr, value, .. } => [addr, value].into_iter().for_each(f),
            Instr::Copy { dst, src, .. } => [dst, src].into_iter().for_each(f),
            Instr::Zero { dst, .. } => f(dst),
            Instr::Measure { lengths, .. } => lengths.iter().for_each(f),
            Instr::Call { callee, args, result_to, .. } => {
                args.iter().chain(result_to).for_each(&mut *f);
                if let Callee::Indirect(e) = callee {
                    f(e);
                }
            }
            Instr::Branch { cond } => f(cond),
            Instr::Return { value } => value.iter().for_each(f),
            Instr::Unknown { reads, .. } => reads.iter().for_each(f),
            Instr::Nop | Instr::Declare(_) | Instr::Unreachable => {}
        }
    }

    /// As [`Instr::for_each_operand`], and they may be changed.
    pub fn for_each_operand_mut(&mut self, f: &mut impl FnMut(&mut Expr)) {
        match self {
            Instr::Assign { value, .. } => f(value),
            Instr::Load { addr, .. } => f(addr),
            Instr::Store { addr, value, .. } => [addr, value].into_iter().for_each(f),
            Instr::Copy { dst, src, .. } => [dst, src].into_iter().for_each(f),
            Instr::Zero { dst, .. } => f(dst),
            Instr::Measure { lengths, .. } => lengths.iter_mut().for_each(f),
            Instr::Call { callee, args, result_to, .. } => {
                args.iter_mut().chain(result_to).for_each(&mut *f);
                if let Callee::Indirect(e) = callee {
                    f(e);
                }
            }
            Instr::Branch { cond } => f(cond),
            Instr::Return { value } => value.iter_mut().for_each(f),
            Instr::Unknown { reads, .. } => reads.iter_mut().for_each(f),
            Instr::Nop | Instr::Declare(_) | Instr::Unreachable => {}
        }
    }

    /// Functions that the instruction calls by name, or may: those that the text of an unknown effect
    /// names.
    pub fn named_callees(&self) -> Vec<&Arc<str>> {
        let named = |e| match e {
            &Expr::Addr(super::Object::Function(ref name)) => Some(name),
            _ => None,
        };
        match self {
            Instr::Call { callee: Callee::Direct(name), .. } => vec![name],
            Instr::Unknown { reads, .. } => reads.iter().filter_map(named).collect(),
            _ => Vec::new(),
        }
    }

    /// Calls `f` on every expression of the instruction, parts included.
    pub fn for_each_expr(&self, f: &mut impl FnMut(&Expr)) {
        self.for_each_operand(&mut |e| e.for_each(f));
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub instr: Instr,
    pub succs: Vec<NodeId>,
    pub stmt: StmtId,
    pub span: Span,
}

/// Source statement (or header of a compound one: `if (c)`, `for`'s three parts are three).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stmt {
    pub span: Span,
    /// Nesting depth of the statement in the body, from 0.
    pub depth: u32,
    /// The source text of the line for display is read from the file; this is the kind: `if`,
    /// `while`, `for-step`, `expr`, `return`, `decl`, `label`, `switch`, `case`, `entry`, `exit`.
    pub kind: &'static str,
}

/// Something that lowering could not express, for coverage and for `unknowns` of the report.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unknown {
    pub line: u32,
    pub reason: Arc<str>,
}

/// An assertion for whose failure no node stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settled {
    pub line: u32,
    pub text: Arc<str>,
    /// It checks nothing (`NDEBUG`); else its condition is true whatever happens, or it is never reached.
    pub compiled_out: bool,
}

/// A function definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    pub name: Arc<str>,
    pub is_static: bool,
    pub binding: Binding,
    pub variadic: bool,
    /// Parameters in order; they are the first variables.
    pub params: Vec<VarId>,
    pub ret: CType,
    pub vars: Vec<Var>,
    pub nodes: Vec<Node>,
    pub stmts: Vec<Stmt>,
    /// From the declarator's first line to the closing brace's line.
    pub span: Span,
    /// Reasons for which not every fact can be proved; empty when fully lowered.
    pub unknowns: Vec<Unknown>,
    /// Assertions that cannot fail; no meaning of the body depends on them.
    pub settled: Vec<Settled>,
    /// Names of invented types, fields or constants that the body uses (front end, honesty about
    /// types); facts that involve them are never `proved`.
    pub invented: Vec<Arc<str>>,
    pub records: RecordUses,
}

/// What the text of a body does with records, where instructions only have bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordUses {
    /// Members that it names, with their places in bits.
    pub members: BTreeSet<(RecordId, Arc<str>, u64)>,
    /// Records to or from which pointers are converted: bytes are looked at as something else.
    pub recast: BTreeSet<RecordId>,
    /// Those of them that bytes are taken for: a pointer to what is neither a record nor `void` becomes one to them,
    /// but in the form of `container_of`.
    pub viewed: BTreeSet<RecordId>,
    /// What `sizeof` gave.
    pub sizes: BTreeSet<SizeOf>,
}

/// A number in instructions that `sizeof` gave.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SizeOf {
    /// Where the text of the instructions begins: their file, line and column.
    pub at: (FileId, u32, u32),
    pub value: u64,
    pub of: Measured,
}

/// What `sizeof` was asked of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measured {
    /// A record, by itself or as the type of an expression.
    Record(RecordId),
    /// A variable, by its name and the place of its declaration: that holds of copies of the body, too.
    Variable(Arc<str>, (FileId, u32, u32)),
    /// A member of a record, with its offset.
    Member(RecordId, Arc<str>, u64),
    /// Something else, or it is not certain what: an equal number stands beside it.
    Other,
}

impl RecordUses {
    pub fn extend(&mut self, other: &RecordUses) {
        self.members.extend(other.members.iter().cloned());
        self.recast.extend(&other.recast);
        self.viewed.extend(&other.viewed);
        self.sizes.extend(other.sizes.iter().cloned());
    }
}

impl Function {
    pub const ENTRY: NodeId = NodeId(0);
    pub const EXIT: NodeId = NodeId(1);

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.0 as usize]
    }

    /// Returns every node's predecessors, in node order.
    pub fn preds(&self) -> Vec<Vec<NodeId>> {
        let mut preds = vec![Vec::new(); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            for s in &node.succs {
                preds[s.0 as usize].push(NodeId(i as u32));
            }
        }
        preds
    }
}
