//! What the names of a written fact stand for: at the end of one run, and in the analysis.

use crate::fact::Expression;
use crate::fact::term::{self, Scope, Typed, Untranslated, When};
use crate::interp::{self, FinalObject, Identity, Outcome, Program, Target, Value};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable, find_var};
use crate::invariant::point::Point;
use crate::invariant::task::Task;
use crate::invariant::witness::run::Run;
use crate::ir::{
    App, CType, Const, Expr, FloatKind, Function, Instr, Leaf, Op, Sort, Term, TermId, TermPool, Uf, Unit,
    VarId, VarKind,
};
use crate::mvicfg::{ClassId, ClassSet};

/// One version's side of a run. Pointers are the address of a symbol that names their object, plus
/// an offset, so that nothing depends on where objects lie.
pub(super) struct RunSide<'a> {
    pub unit: &'a Unit,
    pub body: &'a Function,
    pub program: &'a Program,
    pub run: &'a Run,
    /// Which of the run's outcomes.
    pub old: bool,
    pub pool: TermPool,
}

/// Whether a written fact holds at the end of one side of a run; `None` where the run does not say: it ends
/// otherwise, on what machines disagree about, or not all that the fact speaks of is there.
///
/// Errors: what no run could say.
pub(super) fn holds_at_end(
    task: &Task,
    (run, old): (&Run, bool),
    class: ClassId,
    written: &Expression,
) -> Result<Option<bool>, Untranslated> {
    let outcome = if old { &run.old } else { &run.new };
    let speaks = outcome.end == interp::End::Return
        && !outcome.portability.open_sign
        && !outcome.portability.platform_dependent;
    if !speaks || !task.admits(run, old, class) {
        return Ok(None);
    }
    let (unit, body) = (&*task.units[class], &*task.graph.bodies[class]);
    let mut side = RunSide { unit, body, program: &task.programs[class], run, old, pool: TermPool::new() };
    let term = term::condition(written, &mut side)?;
    Ok(side.pool.as_const(term).and_then(|c| c.as_bool()))
}

impl RunSide<'_> {
    fn outcome(&self) -> &Outcome {
        if self.old { &self.run.old } else { &self.run.new }
    }

    fn bits(&self) -> u16 {
        self.unit.data_model.pointer_bits()
    }

    fn address(&mut self, symbol: String, offset: i64) -> TermId {
        let bits = self.bits();
        let base = self.pool.leaf(Leaf::SymbolAddr { symbol: symbol.into(), bits });
        let offset = self.pool.bv(bits, i128::from(offset));
        self.pool.op(Op::Add, &[base, offset])
    }

    fn target(&mut self, target: &Target) -> Option<TermId> {
        match target {
            Target::Object { identity, offset } => Some(self.address(symbol(identity)?, *offset)),
            Target::Function(name) => Some(self.address(format!("code:{name}"), 0)),
            Target::Dangling => None,
        }
    }

    /// A value of the input as a term.
    pub fn entry_value(&mut self, value: &Value) -> TermId {
        match value {
            Value::Const(c) => self.pool.constant(*c),
            Value::Pointer { object, offset } => self.address(format!("input:{}", object.0), *offset),
            Value::Function(name) => self.address(format!("code:{name}"), 0),
            Value::Global { symbol, offset } => self.address(format!("global:{symbol}"), *offset),
        }
    }

    /// The object that a symbol of ours names, as the run found or left it.
    fn object_named(&self, symbol: &str, when: When) -> Option<FinalObject> {
        let (kind, name) = symbol.split_once(':')?;
        let identity = match kind {
            "global" => Identity::Global(name.into()),
            "input" => Identity::Input(interp::ObjectId(name.parse().ok()?)),
            "heap" if when == When::Here => Identity::Allocated(name.parse().ok()?),
            _ => return None,
        };
        if when == When::Here {
            return interp::final_object((self.program, self.outcome()), &identity);
        }
        let given = self.run.input.objects.iter().find(|o| match (&identity, &o.storage) {
            (Identity::Global(s), interp::Storage::Global(g)) => s == g,
            (Identity::Input(id), _) => o.id == *id,
            _ => false,
        });
        let Some(o) = given else { return interp::initial_object(self.program, &identity) };
        let pointer = |(offset, value): &(u64, Value)| {
            let target = match value {
                Value::Pointer { object, offset } => {
                    Target::Object { identity: Identity::Input(*object), offset: *offset }
                }
                Value::Function(name) => Target::Function(name.clone()),
                Value::Global { symbol, offset } => {
                    Target::Object { identity: Identity::Global(symbol.clone()), offset: *offset }
                }
                Value::Const(_) => Target::Dangling,
            };
            interp::FinalPointer { offset: *offset, target }
        };
        Some(FinalObject {
            identity,
            live: true,
            bytes: o.bytes.clone(),
            undefined: o.undefined.clone(),
            pointers: o.pointers.iter().map(pointer).collect(),
        })
    }
}

/// Names objects whose content outlives the run.
fn symbol(identity: &Identity) -> Option<String> {
    match identity {
        Identity::Global(symbol) => Some(format!("global:{symbol}")),
        Identity::Input(id) => Some(format!("input:{}", id.0)),
        Identity::Allocated(n) => Some(format!("heap:{n}")),
        Identity::Result => None,
    }
}

/// Whether a parameter keeps its value all the way.
pub(super) fn is_kept(body: &Function, v: VarId) -> bool {
    let exposed = |e: &Expr| {
        let mut found = false;
        e.for_each(&mut |e| found |= matches!(e, Expr::Addr(crate::ir::Object::Local(o)) if *o == v));
        found
    };
    !body.var(v).in_memory
        && body.nodes.iter().all(|n| match &n.instr {
            Instr::Assign { dst, value } => *dst != v && !exposed(value),
            Instr::Load { dst, .. } => *dst != v,
            Instr::Call { dst, .. } => *dst != Some(v),
            Instr::Unknown { writes, .. } => !writes.contains(&v),
            _ => true,
        })
}

impl Scope for RunSide<'_> {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn variable(&mut self, name: &str, when: When) -> Option<Typed> {
        let v = find_var(self.body, name, 0)?;
        let var = self.body.var(v);
        let (ty, sort) = (var.ty.clone(), var.sort?);
        let position = self.body.params.iter().position(|p| *p == v);
        if when == When::Entry || position.is_some() && is_kept(self.body, v) {
            let zero = Value::Const(Const::zero(sort)?);
            let value = self.run.input_of(self.old).arguments.get(position?).cloned().unwrap_or(zero);
            // A program's arguments are not in the input's list.
            let known = &*self.body.name != "main";
            return known.then(|| Typed { term: self.entry_value(&value), ty });
        }
        let c = self.outcome().local(v)?;
        Some(Typed { term: self.pool.constant(c), ty })
    }

    fn object(&mut self, name: &str) -> Option<Typed> {
        let (symbol, ty) = global(self.unit, self.body, name)?;
        Some(Typed { term: self.address(format!("global:{symbol}"), 0), ty })
    }

    fn result(&mut self) -> Option<Typed> {
        let (returned, target) = (self.outcome().returned, self.outcome().returned_target.clone());
        let term = match target {
            Some(target) => self.target(&target)?,
            None => self.pool.constant(returned?),
        };
        Some(Typed { term, ty: self.body.ret.clone() })
    }

    fn input(&mut self, k: u64) -> Option<Typed> {
        let index = usize::try_from(k).ok()?.checked_sub(1)?;
        let c = (*self.outcome().read.values.get(index)?)?;
        let ty = match c.sort() {
            Sort::F32 => CType::Float(FloatKind::F32),
            Sort::F64 => CType::Float(FloatKind::F64),
            Sort::F80 => CType::Float(FloatKind::LongDouble),
            sort => CType::Int { bits: sort.bits()?, signed: true, name: "".into() },
        };
        Some(Typed { term: self.pool.constant(c), ty })
    }

    fn load(&mut self, addr: TermId, sort: Sort, bytes: u64, when: When) -> Option<TermId> {
        let (base, offset) = match self.pool.as_op(addr, Op::Add) {
            Some(&[a, b]) => match (self.pool.as_const(a), self.pool.as_const(b)) {
                (Some(k), None) => (b, k.signed()?),
                (None, Some(k)) => (a, k.signed()?),
                _ => return None,
            },
            _ => (addr, 0),
        };
        let Term::Leaf(Leaf::SymbolAddr { symbol, .. }) = self.pool.get(base).clone() else { return None };
        let object = self.object_named(&symbol, when).filter(|o| o.live)?;
        let start = u64::try_from(offset).ok()?;
        let range = usize::try_from(start).ok()?..usize::try_from(start.checked_add(bytes)?).ok()?;
        let raw = object.bytes.get(range.clone())?;
        if object.undefined.get(range).is_some_and(|flags| flags.contains(&true)) {
            return None;
        }
        let width = u64::from(self.bits() / 8);
        let overlaps =
            |p: &&interp::FinalPointer| p.offset < start + bytes && start < p.offset.saturating_add(width);
        if let Some(pointer) = object.pointers.iter().find(overlaps) {
            let whole = pointer.offset == start && bytes == width;
            return if whole { self.target(&pointer.target) } else { None };
        }
        let value = raw.iter().rev().fold(0u128, |acc, b| acc << 8 | u128::from(*b));
        Some(self.pool.constant(Const::from_bits(sort, value)?))
    }

    fn length(&mut self, addr: TermId, when: When) -> Option<TermId> {
        const LONGEST: u64 = 8192;
        let bits = self.bits();
        for k in 0..LONGEST {
            let at = self.moved(addr, k);
            let byte = self.load(at, Sort::Bv(8), 1, when)?;
            if self.pool.as_const(byte)?.to_bits() == 0 {
                return Some(self.pool.bv(bits, i128::from(k)));
            }
        }
        None
    }
}

impl RunSide<'_> {
    /// An address so many bytes further.
    fn moved(&mut self, addr: TermId, by: u64) -> TermId {
        let bits = self.bits();
        let by = self.pool.bv(bits, i128::from(by));
        self.pool.op(Op::Add, &[addr, by])
    }
}

/// A global, or a static of the function.
fn global(unit: &Unit, body: &Function, name: &str) -> Option<(std::sync::Arc<str>, CType)> {
    let found = unit.global(name).or_else(|| unit.global(&format!("{}.{name}", body.name)))?;
    Some((found.symbol.clone(), found.ty.clone()))
}

/// The exit of one class in the analysis.
pub(super) struct Exit<'e, 'a> {
    pub engine: &'e mut FunctionAnalysis<'a>,
    pub class: ClassId,
}

impl Exit<'_, '_> {
    /// The term with loops cut, under well-formed input, when it rests on nothing unknown.
    fn known(&mut self, term: TermId) -> Option<TermId> {
        let cut = self.engine.cut(term);
        let shown = self.engine.shown(self.class, cut);
        let e = &self.engine.e;
        (!e.rests_on_havoc(shown) && !e.rests_on_indeterminate(shown)).then_some(shown)
    }

    fn at_exit(&mut self, subject: &Observable) -> Option<TermId> {
        let single = ClassSet::single(self.class);
        let exit = Point::exit(self.engine.task.graph);
        let (_, val) =
            observable::values_at(&mut self.engine.e, subject, &exit, &single).into_iter().next()?;
        self.known(val.term)
    }

    fn body(&self) -> &Function {
        &self.engine.task.graph.bodies[self.class]
    }
}

impl Scope for Exit<'_, '_> {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.engine.e.pool
    }

    fn unit(&self) -> &Unit {
        &self.engine.task.units[self.class]
    }

    fn variable(&mut self, name: &str, when: When) -> Option<Typed> {
        let v = find_var(self.body(), name, 0)?;
        let var = self.body().var(v);
        let (kind, ty, sort, name) = (var.kind, var.ty.clone(), var.sort?, var.name.clone());
        let term = match when {
            When::Entry if kind == VarKind::Param => self.pool().leaf(Leaf::Param { name, sort }),
            When::Entry => return None,
            When::Here => self.at_exit(&Observable::Variable { name, ordinal: 0 })?,
        };
        Some(Typed { term, ty })
    }

    fn object(&mut self, name: &str) -> Option<Typed> {
        let (symbol, ty) = global(self.unit(), self.body(), name)?;
        let bits = self.unit().data_model.pointer_bits();
        Some(Typed { term: self.pool().leaf(Leaf::SymbolAddr { symbol, bits }), ty })
    }

    fn result(&mut self) -> Option<Typed> {
        let ty = self.body().ret.clone();
        Some(Typed { term: self.at_exit(&Observable::Result)?, ty })
    }

    fn input(&mut self, _: u64) -> Option<Typed> {
        None
    }

    fn load(&mut self, addr: TermId, sort: Sort, bytes: u64, when: When) -> Option<TermId> {
        let memory = match when {
            When::Entry => self.pool().leaf(Leaf::Memory),
            When::Here => self.at_exit(&Observable::Memory)?,
        };
        let read = self.pool().app(App::Load { sort, bytes }, &[memory, addr]);
        self.known(read)
    }

    /// As the evaluator has it: what `strlen` gives for the address and what it reads.
    fn length(&mut self, addr: TermId, when: When) -> Option<TermId> {
        let memory = match when {
            When::Entry => self.pool().leaf(Leaf::Memory),
            When::Here => self.at_exit(&Observable::Memory)?,
        };
        let part = Sort::Bv(self.unit().data_model.pointer_bits());
        let length =
            self.pool().app(App::Uf(Uf::Call { callee: "strlen:result".into(), part }), &[addr, memory]);
        self.known(length)
    }
}
