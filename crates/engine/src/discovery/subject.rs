//! The function that is looked at: its inputs, the state that it begins in, and its variables.

use super::harness::{Argument, Call, Harness};
use super::heads::{self, Head};
use super::members::{self, AccessPath};
use super::sequences::{self, Array, Part};
use super::{Over, Point};
use crate::infer::{Kind, Variable};
use crate::interp::{self, End, Identity, Input, ObjectId, ObjectInit, Program, Storage, Value};
use crate::ir::{CType, Callee, Const, Function, Global, Instr, Leaf, TermId, TermPool, Unit};
use crate::quantify::{Candidate, candidates, followed};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why there is nothing to look at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("{0}() is not defined in the file")]
    NoFunction(String),
    #[error("{function}() has {has} parameters, and the harness gives {given}")]
    Arguments { function: String, has: usize, given: usize },
    #[error("argument {position} of {function}() is no number")]
    NoNumber { function: String, position: usize },
    #[error("argument {position} of {function}() does not fit its type")]
    OutOfType { function: String, position: usize },
    #[error("{function}(), which the harness calls first, does not return ({how})")]
    NoReturn { function: String, how: &'static str },
    #[error("what {function}() leaves in {object} holds a pointer, which a harness cannot carry on")]
    Pointer { function: String, object: String },
}

/// Something that runs may begin with: its values are free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Free {
    pub name: Arc<str>,
    /// What stands for it in conditions.
    pub term: TermId,
    pub kind: Kind,
    pub low: i128,
    pub high: i128,
    place: FreePlace,
}

impl Free {
    /// Whether it is an object of the file.
    pub fn is_global(&self) -> bool {
        matches!(self.place, FreePlace::Global(..))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FreePlace {
    Parameter(usize),
    Global(Arc<str>, u64),
}

/// Where the value of a variable is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Of a parameter, at entry.
    Parameter(usize),
    /// Of an object, by symbol: at entry, or where the point is.
    Global {
        symbol: Arc<str>,
        is_old: bool,
    },
    Result,
    /// A member of what a parameter leads to at entry: as it is then, or where the point is.
    Behind {
        parameter: usize,
        way: AccessPath,
        is_old: bool,
    },
    /// A member of an object of the file, by symbol and offset, likewise.
    Part {
        symbol: Arc<str>,
        offset: u64,
        is_old: bool,
    },
    /// Of a variable of the function, where the point is.
    Local(crate::ir::VarId),
    /// Of an array that a parameter leads to.
    Array {
        array: Array,
        part: Part,
    },
}

/// How a number lies in memory: of what kind, in how many bytes.
pub type Cell = (Kind, u64);

/// A variable with where its value comes from, and its width in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    pub variable: Variable,
    pub source: Source,
    pub bytes: u64,
}

impl Looked {
    pub(super) fn cell(&self) -> Cell {
        (self.variable.kind, self.bytes)
    }

    /// Whether it is memory behind a pointer, which a run without inputs of its own makes up.
    pub fn is_made_up(&self) -> bool {
        match &self.source {
            Source::Behind { is_old, .. } => *is_old,
            Source::Array { array, .. } => array.is_old,
            _ => false,
        }
    }

    /// Whether it is something that the function leaves, and not what it is given.
    pub fn is_left(&self) -> bool {
        matches!(
            self.source,
            Source::Result
                | Source::Global { is_old: false, .. }
                | Source::Behind { is_old: false, .. }
                | Source::Part { is_old: false, .. }
        ) || matches!(&self.source, Source::Array { array, part } if sequences::is_left(array, part))
    }
}

/// A function as it is looked at.
pub struct Subject<'a> {
    pub function: &'a Function,
    pub unit: &'a Unit,
    pub program: &'a Program,
    pub free: Vec<Free>,
    /// Candidates of the path explorer that are free, and all arguments.
    pub candidates: Vec<Candidate>,
    /// What globals hold at entry, where a harness ran before.
    pub contents: BTreeMap<Arc<str>, Vec<u8>>,
    /// Globals begin as they are initialised, or as the harness left them.
    pub is_initial: bool,
    /// Arguments that are no free inputs.
    given: BTreeMap<usize, Const>,
    pub entry: Vec<Looked>,
    pub exit: Vec<Looked>,
    /// Heads of loops, where these are looked at.
    pub heads: Vec<Head>,
}

impl<'a> Subject<'a> {
    /// Prepares a function. Cost: runs of the harness's calls.
    pub fn new(
        function: &'a Function,
        unit: &'a Unit,
        program: &'a Program,
        harness: Option<&Harness>,
        over: Over,
        pool: &mut TermPool,
    ) -> Result<Subject<'a>, Problem> {
        let mut subject = Subject {
            function,
            unit,
            program,
            free: Vec::new(),
            candidates: Vec::new(),
            contents: BTreeMap::new(),
            is_initial: harness.is_some() || &*function.name == "main",
            given: BTreeMap::new(),
            entry: Vec::new(),
            exit: Vec::new(),
            heads: Vec::new(),
        };
        for call in harness.into_iter().flat_map(|h| &h.before) {
            subject.run_before(call)?;
        }
        subject.take_inputs(harness.map(|h| &h.last), pool)?;
        subject.look(over);
        Ok(subject)
    }

    /// Looks at the heads of loops, too.
    pub fn look_at_heads(&mut self, over: Over) {
        self.heads = heads::of(self, over);
    }

    /// All points that have variables.
    pub fn points(&self) -> impl Iterator<Item = Point> + use<> {
        [Point::Entry, Point::Exit].into_iter().chain((0..self.heads.len()).map(Point::Head))
    }

    fn run_before(&mut self, call: &Call) -> Result<(), Problem> {
        let name = &call.function;
        let f = self.program.function(name).ok_or_else(|| Problem::NoFunction(name.clone()))?;
        check_count(f, call)?;
        let argument = |(k, (a, p)): (usize, (&Argument, &crate::ir::VarId))| {
            let Argument::Number(n) = *a else { return Ok(Value::Const(Const::bv(32, 0))) };
            constant(&f.var(*p).ty, f.var(*p).sort, n)
                .map(Value::Const)
                .ok_or(Problem::OutOfType { function: name.clone(), position: k + 1 })
        };
        let arguments = call.arguments.iter().zip(&f.params).enumerate().map(argument);
        let arguments: Vec<Value> = arguments.collect::<Result<_, _>>()?;
        let input = Input { arguments, objects: self.contents(&[]), ..Input::default() };
        let outcome = interp::run(self.program, name, &input, &interp::Limits::default());
        if outcome.end != End::Return {
            return Err(Problem::NoReturn { function: name.clone(), how: outcome.end.name() });
        }
        for object in outcome.left.memory {
            let Identity::Global(symbol) = object.identity else { continue };
            if !object.pointers.is_empty() {
                return Err(Problem::Pointer { function: name.clone(), object: symbol.to_string() });
            }
            self.contents.insert(symbol, object.bytes);
        }
        Ok(())
    }

    fn take_inputs(&mut self, call: Option<&Call>, pool: &mut TermPool) -> Result<(), Problem> {
        let f = self.function;
        if let Some(call) = call {
            check_count(f, call)?;
        }
        let mut all = candidates(f, self.unit, pool);
        // Floats stay what they are given.
        all.retain(|c| c.float.is_none());
        for (k, p) in f.params.iter().enumerate() {
            let var = f.var(*p);
            let argument = call.and_then(|c| c.arguments.get(k)).copied().unwrap_or(Argument::Any);
            let known = var.sort.and_then(|sort| {
                let term = pool.leaf(Leaf::Param { name: var.name.clone(), sort });
                all.iter().find(|c| c.global.is_none() && c.term == term)
            });
            let problem = |is_type: bool| match is_type {
                true => Problem::OutOfType { function: f.name.to_string(), position: k + 1 },
                false => Problem::NoNumber { function: f.name.to_string(), position: k + 1 },
            };
            let (low, high) = match (argument, known) {
                (Argument::Any, None) => {
                    self.free.extend(pointer(var, k, pool));
                    continue;
                }
                (_, None) => return Err(problem(false)),
                (Argument::Any, Some(c)) => c.whole,
                (Argument::Number(n), Some(_)) => (n, n),
                (Argument::Range(low, high), Some(_)) => (low, high),
            };
            let Some(c) = known else { continue };
            if low < c.whole.0 || high > c.whole.1 {
                return Err(problem(true));
            }
            if low == high && argument != Argument::Any {
                self.given.extend(constant(&var.ty, var.sort, low).map(|value| (k, value)));
            }
            let kind = kind_of(&var.ty).unwrap_or(Kind::Truth);
            let place = FreePlace::Parameter(k);
            self.free.push(Free { name: c.name.clone(), term: c.term, kind, low, high, place });
            self.candidates.push(c.clone());
        }
        for c in all.into_iter().filter(|_| !self.is_initial) {
            let Some((symbol, bytes)) = c.global.clone() else { continue };
            let kind = self.unit.global(&symbol).and_then(|g| kind_of(&g.ty)).unwrap_or(Kind::Truth);
            let (low, high) = c.whole;
            let place = FreePlace::Global(symbol, bytes);
            self.free.push(Free { name: c.name.clone(), term: c.term, kind, low, high, place });
            self.candidates.push(c);
        }
        Ok(())
    }

    /// Chooses the variables of both points.
    fn look(&mut self, over: Over) {
        let f = self.function;
        let globals = self.globals();
        let written = written(f, self.unit);
        if over == Over::All {
            for (k, p) in f.params.iter().enumerate() {
                let var = f.var(*p);
                let Some(kind) = kind_of(&var.ty) else { continue };
                let (source, bytes) = (Source::Parameter(k), var.size);
                let variable = |name: String| Variable { name, kind };
                self.entry.push(Looked {
                    variable: variable(var.name.to_string()),
                    source: source.clone(),
                    bytes,
                });
                let name = if is_kept(f, *p) { var.name.to_string() } else { format!("\\old({})", var.name) };
                self.exit.push(Looked { variable: variable(name), source, bytes });
            }
            if let Some(kind) = kind_of(&f.ret) {
                let variable = Variable { name: "\\result".into(), kind };
                let bytes = f.ret.sort(64).map_or(0, |s| s.bytes());
                self.exit.insert(0, Looked { variable, source: Source::Result, bytes });
            }
        }
        for (name, symbol, kind, bytes) in globals {
            let looked = |name: String, is_old: bool| Looked {
                variable: Variable { name, kind },
                source: Source::Global { symbol: symbol.clone(), is_old },
                bytes,
            };
            self.entry.push(looked(name.clone(), true));
            self.exit.push(looked(name.clone(), false));
            // What nothing writes is what it was.
            if written.contains(&symbol) && !self.is_initial {
                self.exit.push(looked(format!("\\old({name})"), true));
            }
        }
        let (mut entry, mut exit) = members::of(self);
        let is_chosen = |l: &Looked| over == Over::All || matches!(l.source, Source::Part { .. });
        entry.retain(is_chosen);
        exit.retain(is_chosen);
        self.entry.extend(entry);
        self.exit.extend(exit);
        if over == Over::All {
            self.exit.extend(sequences::at_exit(self));
        }
    }

    /// The objects of the file that the function or what it calls names.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'a Global> + use<'a> {
        let mut named: BTreeSet<Arc<str>> = BTreeSet::new();
        for node in followed(self.function, self.unit).into_iter().flat_map(|g| &g.nodes) {
            node.instr.for_each_expr(&mut |e| {
                if let crate::ir::Expr::Addr(crate::ir::Object::Global(symbol)) = e {
                    named.insert(symbol.clone());
                }
            });
        }
        self.unit.globals.iter().filter(move |g| named.contains(&g.symbol) && !g.is_known_constant())
    }

    /// Those of them that are numbers, truth values or pointers: name, symbol, kind, bytes.
    fn globals(&self) -> Vec<(String, Arc<str>, Kind, u64)> {
        let told = self.objects().filter(|g| *g.name == *g.symbol);
        told.filter_map(|g| Some((g.name.to_string(), g.symbol.clone(), kind_of(&g.ty)?, g.size))).collect()
    }

    /// The input that gives the free inputs these values, upon another one that has the rest.
    pub fn input(&self, values: &[i128], base: &Input) -> Input {
        let mut arguments = base.arguments.clone();
        let zero = |p: &crate::ir::VarId| {
            let sort = self.function.var(*p).sort;
            Value::Const(sort.and_then(Const::zero).unwrap_or(Const::bv(64, 0)))
        };
        let missing = self.function.params.iter().skip(arguments.len()).map(zero);
        arguments.extend(missing.collect::<Vec<_>>());
        for (k, value) in &self.given {
            arguments.get_mut(*k).into_iter().for_each(|a| *a = Value::Const(*value));
        }
        let mut globals = Vec::new();
        for (free, value) in self.free.iter().zip(values) {
            match &free.place {
                // What it leads to is the other input's.
                FreePlace::Parameter(_) if free.kind == Kind::Pointer && *value != 0 => {}
                FreePlace::Parameter(k) => {
                    let var = self.function.params.get(*k).map(|p| self.function.var(*p));
                    let value = var.and_then(|v| constant(&v.ty, v.sort, *value));
                    if let (Some(at), Some(value)) = (arguments.get_mut(*k), value) {
                        *at = Value::Const(value);
                    }
                }
                FreePlace::Global(symbol, bytes) => {
                    let count = usize::try_from(*bytes).unwrap_or(0).min(16);
                    let bytes = value.to_le_bytes().get(..count).unwrap_or_default().to_vec();
                    globals.push((symbol.clone(), bytes));
                }
            }
        }
        let mut objects = base.objects.clone();
        let is_replaced = |o: &ObjectInit| match &o.storage {
            Storage::Global(symbol) => self.is_initial || globals.iter().any(|(s, _)| s == symbol),
            _ => false,
        };
        objects.retain(|o| !is_replaced(o));
        let next = objects.iter().map(|o| o.id.0 + 1).max().unwrap_or(0);
        let more = self.contents(&globals);
        objects.extend(more.into_iter().map(|o| ObjectInit { id: ObjectId(o.id.0 + next), ..o }));
        Input { arguments, objects, ..base.clone() }
    }

    /// The objects that begin otherwise than they are initialised.
    fn contents(&self, more: &[(Arc<str>, Vec<u8>)]) -> Vec<ObjectInit> {
        let all = self.contents.iter().chain(more.iter().map(|(s, b)| (s, b)));
        let object = |(k, (symbol, bytes)): (usize, (&Arc<str>, &Vec<u8>))| {
            let ty = self.unit.global(symbol).map_or(CType::Void, |g| g.ty.clone());
            let id = ObjectId(u32::try_from(k).unwrap_or(u32::MAX));
            let (storage, bytes) = (Storage::Global(symbol.clone()), bytes.clone());
            ObjectInit { id, ty, storage, bytes, undefined: Vec::new(), pointers: Vec::new() }
        };
        all.enumerate().map(object).collect()
    }

    /// The variables of a point.
    pub fn variables(&self, point: Point) -> &[Looked] {
        match point {
            Point::Entry => &self.entry,
            Point::Exit => &self.exit,
            Point::Head(k) => self.heads.get(k).map_or(&[], |h| &h.variables),
        }
    }

    /// The variables of entry and exit for a trace: at the exit what is looked at at the entry, as it is there.
    pub fn traced(&self) -> (Vec<Looked>, Vec<Looked>) {
        let left = |l: &Looked| {
            let source = match &l.source {
                Source::Parameter(k) => {
                    self.function.params.get(*k).map_or(Source::Result, |p| Source::Local(*p))
                }
                Source::Global { symbol, .. } => Source::Global { symbol: symbol.clone(), is_old: false },
                Source::Behind { parameter, way, .. } => {
                    Source::Behind { parameter: *parameter, way: way.clone(), is_old: false }
                }
                Source::Part { symbol, offset, .. } => {
                    Source::Part { symbol: symbol.clone(), offset: *offset, is_old: false }
                }
                other => other.clone(),
            };
            Looked { source, ..l.clone() }
        };
        // Of arrays nothing is written: their parts have no names that Daikon knows.
        let result = self.exit.iter().filter(|l| l.source == Source::Result).cloned();
        (self.entry.clone(), result.chain(self.entry.iter().map(left)).collect())
    }

    /// An input as a reader sees it: the free inputs with their values.
    pub fn text(&self, values: &[i128]) -> String {
        let one = |(free, value): (&Free, &i128)| match (free.kind, value) {
            (Kind::Pointer, 0) => format!("{} = NULL", free.name),
            (Kind::Pointer, _) => format!("{} leads somewhere", free.name),
            _ => format!("{} = {value}", free.name),
        };
        self.free.iter().zip(values).map(one).collect::<Vec<_>>().join(", ")
    }
}

/// A pointer that is a parameter: whether it is null is free.
fn pointer(var: &crate::ir::Var, k: usize, pool: &mut TermPool) -> Option<Free> {
    let sort = var.sort.filter(|_| var.ty.is_pointer())?;
    let term = pool.leaf(Leaf::Param { name: var.name.clone(), sort });
    let place = FreePlace::Parameter(k);
    Some(Free { name: var.name.clone(), term, kind: Kind::Pointer, low: 0, high: 1, place })
}

fn check_count(f: &Function, call: &Call) -> Result<(), Problem> {
    let (has, given) = (f.params.len(), call.arguments.len());
    match has == given {
        true => Ok(()),
        false => Err(Problem::Arguments { function: call.function.clone(), has, given }),
    }
}

/// A number as a constant of a type; `None` where the type does not have it.
fn constant(ty: &CType, sort: Option<crate::ir::Sort>, n: i128) -> Option<Const> {
    let sort = sort?;
    let width = sort.bits()?;
    let (low, high) = match ty {
        CType::Bool => (0, 1),
        _ if ty.is_signed() => (-(1i128 << (width - 1).min(126)), (1i128 << (width - 1).min(126)) - 1),
        _ => (0, (1i128 << width.min(126)) - 1),
    };
    let is_inside = (low..=high).contains(&n);
    match sort {
        crate::ir::Sort::Bool => is_inside.then_some(Const::Bool(n != 0)),
        _ => is_inside.then(|| Const::bv(width, n)),
    }
}

/// What kind of values a type has, where they are looked at.
pub(super) fn kind_of(ty: &CType) -> Option<Kind> {
    match ty {
        CType::Bool => Some(Kind::Truth),
        CType::Int { bits, signed, .. } if *bits <= 64 => {
            Some(Kind::Integer { bits: *bits, signed: *signed })
        }
        CType::Pointer(_) => Some(Kind::Pointer),
        _ => None,
    }
}

/// Whether a parameter keeps its value.
pub(super) fn is_kept(f: &Function, p: crate::ir::VarId) -> bool {
    let is_set = |n: &crate::ir::Node| match &n.instr {
        Instr::Assign { dst, .. } | Instr::Load { dst, .. } => *dst == p,
        Instr::Call { dst, .. } => *dst == Some(p),
        Instr::Unknown { writes, .. } => writes.contains(&p),
        _ => false,
    };
    !f.var(p).in_memory && !f.nodes.iter().any(is_set)
}

/// The objects that a function or what it calls may write: all whose address it has otherwise than to read them,
/// and all where a call is not followed.
fn written(f: &Function, unit: &Unit) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    for node in followed(f, unit).into_iter().flat_map(|g| &g.nodes) {
        match &node.instr {
            Instr::Load { .. } => {}
            Instr::Call { callee: Callee::Direct(name), .. }
                if unit.callee(name).is_none() && !interp::is_library(name) =>
            {
                return unit.globals.iter().map(|g| g.symbol.clone()).collect();
            }
            Instr::Call { callee: Callee::Indirect(_), .. } => {
                return unit.globals.iter().map(|g| g.symbol.clone()).collect();
            }
            instr => instr.for_each_expr(&mut |e| {
                if let crate::ir::Expr::Addr(crate::ir::Object::Global(symbol)) = e {
                    found.insert(symbol.clone());
                }
            }),
        }
    }
    found
}

impl Subject<'_> {
    /// A free input as a variable of the entry.
    pub fn looked(&self, free: &Free) -> Looked {
        let (source, bytes) = match &free.place {
            FreePlace::Parameter(k) => (Source::Parameter(*k), 0),
            FreePlace::Global(symbol, bytes) => {
                (Source::Global { symbol: symbol.clone(), is_old: true }, *bytes)
            }
        };
        Looked { variable: Variable { name: free.name.to_string(), kind: free.kind }, source, bytes }
    }

    /// The free input that an object of the file is.
    pub fn free_global(&self, symbol: &str) -> Option<&Free> {
        let is_it = |f: &&Free| matches!(&f.place, FreePlace::Global(s, _) if **s == *symbol);
        self.free.iter().find(is_it)
    }

    /// What an argument is that is not free.
    pub fn given(&self, parameter: usize) -> Option<Const> {
        self.given.get(&parameter).copied()
    }

    /// The conditions that the free inputs meet, as far as their types do not say so.
    pub fn premises(&self, pool: &mut TermPool) -> Vec<TermId> {
        let mut all = Vec::new();
        for free in self.free.iter().filter(|f| f.kind != Kind::Pointer) {
            let Some(width) = pool.sort(free.term).bits() else { continue };
            let (is_signed, bits) = match free.kind {
                Kind::Integer { bits, signed } => (signed, bits),
                _ => (false, 1),
            };
            let whole = match is_signed {
                true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
                false => (0, (1i128 << width.min(126)) - 1),
            };
            let at_most = if is_signed { crate::ir::Op::Sle } else { crate::ir::Op::Ule };
            let (low, high) = (pool.bv(width, free.low), pool.bv(width, free.high));
            let high_end = if bits == 1 { 1 } else { whole.1 };
            if free.low > whole.0 {
                all.push(pool.op(at_most, &[low, free.term]));
            }
            if free.high < whole.1 && (bits != 1 || free.high <= high_end) {
                all.push(pool.op(at_most, &[free.term, high]));
            }
        }
        all
    }
}
