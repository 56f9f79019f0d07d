//! Facts as formulas over the words that they use: what a function returns, its variables, and memory,
//! now and at entry, are free symbols of their types.
//!
//! Nothing here knows what the function does: what follows among such formulas follows from what the
//! facts say, and a reader of one need not be told the other.

use crate::ir::{App, CType, Function, Instr, Leaf, Sort, TermId, TermPool, Unit, Var, VarId};
use crate::parser::parse;
use crate::syntax::{Binary, Expression, Kind};
use crate::term::{self, Scope, Typed, When};
use std::collections::BTreeMap;

/// The words of one point of a function.
pub struct Words<'u> {
    unit: &'u Unit,
    body: &'u Function,
    pub pool: TermPool,
    /// Symbols beside those of the function, with their types.
    symbols: BTreeMap<String, CType>,
    /// Reported facts so far.
    facts: usize,
}

impl<'u> Words<'u> {
    pub fn new(unit: &'u Unit, body: &'u Function) -> Words<'u> {
        Words { unit, body, pool: TermPool::new(), symbols: BTreeMap::new(), facts: 0 }
    }

    /// Makes a name mean a number of which nothing is known.
    pub fn declare(&mut self, name: &str, ty: CType) {
        self.symbols.insert(name.into(), ty);
    }

    /// Reads a condition as C means it; `None`: it has words that the reader does not know.
    pub fn condition(&mut self, text: &str) -> Option<TermId> {
        term::condition(&parse(&returned_object(text)).ok()?, self).ok()
    }

    /// Reads a condition that holds at the function's entry.
    pub fn at_entry(&mut self, text: &str) -> Option<TermId> {
        let condition = parse(text).ok()?;
        let span = condition.span.clone();
        term::condition(&Expression { kind: Kind::Old(Box::new(condition)), span }, self).ok()
    }

    /// Reads a fact of a report, whose equations of values mean identity: a NaN is what it is, too.
    /// Results of calls are symbols of their fact alone, since the same words may mean another call
    /// in another fact.
    pub fn reported(&mut self, text: &str) -> Option<TermId> {
        self.facts += 1;
        let text = &returned_object(text);
        let fact = self.named(parse(text).ok()?, text);
        term::condition(&identity(fact), self).ok()
    }

    /// The expression with every call of the unit's functions, and of `malloc`, as a name.
    fn named(&mut self, e: Expression, text: &str) -> Expression {
        let Expression { kind, span } = e;
        let mut inner = |e: Box<Expression>| Box::new(self.named(*e, text));
        let kind = match kind {
            Kind::Unary(op, a) => Kind::Unary(op, inner(a)),
            Kind::Binary(op, a, b) => Kind::Binary(op, inner(a), inner(b)),
            Kind::Conditional(c, a, b) => Kind::Conditional(inner(c), inner(a), inner(b)),
            Kind::Index(a, i) => Kind::Index(inner(a), inner(i)),
            Kind::Member { base, name, arrow } => Kind::Member { base: inner(base), name, arrow },
            Kind::Cast(ty, a) => Kind::Cast(ty, inner(a)),
            Kind::Call(name, args) => match self.returned(&name) {
                Some(ty) => {
                    let words: String = text[span.clone()].split_whitespace().collect();
                    let symbol = format!("{words} in fact {}", self.facts);
                    self.symbols.insert(symbol.clone(), ty);
                    Kind::Name(symbol)
                }
                None => Kind::Call(name, args.into_iter().map(|a| self.named(a, text)).collect()),
            },
            kind => kind,
        };
        Expression { kind, span }
    }

    /// Type of what a function returns, if it is known.
    fn returned(&self, function: &str) -> Option<CType> {
        match function {
            "malloc" | "calloc" | "realloc" => Some(CType::Pointer(CType::Void.into())),
            _ => self.unit.function(function).map(|f| f.ret.clone()),
        }
    }

    fn find(&self, name: &str) -> Option<(VarId, &'u Var)> {
        let at = self.body.vars.iter().position(|v| *v.name == *name && v.ordinal == 0)?;
        Some((VarId(at as u32), &self.body.vars[at]))
    }

    /// Whether a parameter has its first value all the way.
    fn is_kept(&self, v: VarId) -> bool {
        !self.body.vars[v.0 as usize].in_memory
            && self.body.nodes.iter().all(|n| match &n.instr {
                Instr::Assign { dst, .. } | Instr::Load { dst, .. } => *dst != v,
                Instr::Call { dst, .. } => *dst != Some(v),
                Instr::Unknown { writes, .. } => !writes.contains(&v),
                _ => true,
            })
    }

    /// Whether memory has its first content all the way.
    fn is_memory_kept(&self) -> bool {
        self.body.nodes.iter().all(|n| {
            !matches!(
                n.instr,
                Instr::Store { .. }
                    | Instr::Copy { .. }
                    | Instr::Zero { .. }
                    | Instr::Call { .. }
                    | Instr::Unknown { .. }
            )
        })
    }
}

impl Scope for Words<'_> {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn variable(&mut self, name: &str, when: When) -> Option<Typed> {
        if let Some(ty) = self.symbols.get(name).cloned() {
            let sort = ty.sort(self.unit.data_model.pointer_bits())?;
            let term = self.pool.leaf(Leaf::Param { name: name.into(), sort });
            return Some(Typed { term, ty });
        }
        let (v, var) = self.find(name)?;
        let is_param = self.body.params.contains(&v);
        if when == When::Entry && !is_param {
            return None;
        }
        let first = is_param && (when == When::Entry || self.is_kept(v));
        let word = if first { format!("\\old({name})") } else { name.to_owned() };
        let term = self.pool.leaf(Leaf::Param { name: word.into(), sort: var.sort? });
        Some(Typed { term, ty: var.ty.clone() })
    }

    fn object(&mut self, name: &str) -> Option<Typed> {
        let bits = self.unit.data_model.pointer_bits();
        if name == RETURNED {
            let term = self.pool.leaf(Leaf::LocalAddr { key: name.into(), bits });
            return Some(Typed { term, ty: self.body.ret.clone() });
        }
        if let Some((_, var)) = self.find(name).filter(|(_, v)| v.sort.is_none()) {
            let term = self.pool.leaf(Leaf::LocalAddr { key: name.into(), bits });
            return Some(Typed { term, ty: var.ty.clone() });
        }
        let found = self.unit.global(name)?;
        let term = self.pool.leaf(Leaf::SymbolAddr { symbol: found.symbol.clone(), bits });
        Some(Typed { term, ty: found.ty.clone() })
    }

    fn result(&mut self) -> Option<Typed> {
        let ty: CType = self.body.ret.clone();
        let sort = ty.sort(self.unit.data_model.pointer_bits())?;
        let term = self.pool.leaf(Leaf::Param { name: "\\result".into(), sort });
        Some(Typed { term, ty })
    }

    fn input(&mut self, _: u64) -> Option<Typed> {
        None
    }

    fn load(&mut self, addr: TermId, sort: Sort, bytes: u64, when: When) -> Option<TermId> {
        let memory = match when == When::Entry || self.is_memory_kept() {
            true => self.pool.leaf(Leaf::Memory),
            false => self.pool.leaf(Leaf::Havoc { key: "memory".into(), sort: Sort::Mem }),
        };
        Some(self.pool.app(App::Load { sort, bytes }, &[memory, addr]))
    }
}

/// `c ==> l == r` as `c ==> l == r || l != l && r != r`.
fn identity(e: Expression) -> Expression {
    let Expression { kind, span } = e;
    let binary = |op, a: Expression, b: Expression| Expression {
        kind: Kind::Binary(op, Box::new(a), Box::new(b)),
        span: span.clone(),
    };
    match kind {
        Kind::Binary(Binary::Implies, c, goal) => binary(Binary::Implies, *c, identity(*goal)),
        Kind::Binary(Binary::And, a, b) => binary(Binary::And, identity(*a), identity(*b)),
        Kind::Binary(Binary::Eq, l, r) => {
            let nan = |x: &Expression| binary(Binary::Ne, x.clone(), x.clone());
            let both = binary(Binary::And, nan(&l), nan(&r));
            let equal = binary(Binary::Eq, *l, *r);
            binary(Binary::Or, equal, both)
        }
        kind => Expression { kind, span },
    }
}

/// Name of the structure that a function returns.
const RETURNED: &str = "returned_object";

/// A fact with a name for the structure that is returned.
fn returned_object(text: &str) -> String {
    text.replace("\\result.", &format!("{RETURNED}."))
}
