//! Whether facts, as texts, imply another: all are read as the engine reads pinned facts, over one
//! state before and one behind the call.

use git_invdiff::fact;
use git_invdiff::fact::term::{self, Scope, Typed, When};
use git_invdiff::ir::{App, CType, Function, Leaf, Sort, TermId, TermPool, Unit};
use git_invdiff::smt::{Limits, Solver, Verdict};

/// What one question may cost.
const RLIMIT: u64 = 6_000_000;

/// Reads facts about one function, and asks what follows.
pub struct Implications<'a> {
    names: Names<'a>,
}

/// A fact with what it is about.
#[derive(Clone)]
pub struct Read {
    text: String,
    condition: TermId,
}

struct Names<'a> {
    unit: &'a Unit,
    function: &'a Function,
    /// Parameters that keep their values.
    kept: Vec<String>,
    pool: TermPool,
}

impl<'a> Implications<'a> {
    pub fn new(unit: &'a Unit, function: &'a Function, kept: Vec<String>) -> Implications<'a> {
        Implications { names: Names { unit, function, kept, pool: TermPool::new() } }
    }

    /// A fact as a condition; `None` where it is about something else than these states.
    pub fn read(&mut self, text: &str) -> Option<Read> {
        let parsed = fact::parse(text).ok()?;
        let condition = term::condition(&parsed, &mut self.names).ok()?;
        Some(Read { text: text.to_owned(), condition })
    }

    /// Whether the goal follows from one of the facts that name one of its subjects, or from all of those.
    pub fn follows(&mut self, facts: &[Read], goal: &Read, subjects: &[String]) -> bool {
        let is_about = |f: &&Read| subjects.iter().any(|s| f.text.contains(s.as_str()));
        let facts: Vec<TermId> = facts.iter().filter(is_about).map(|f| f.condition).collect();
        let (pool, bits) = (&mut self.names.pool, self.names.unit.data_model.pointer_bits());
        // A fresh solver: what stays open costs later questions.
        let mut proves = |facts: &[TermId]| {
            let mut solver = Solver::new(Limits { rlimit: RLIMIT, pointer_bits: bits });
            matches!(solver.prove(pool, facts, goal.condition), Verdict::Unsat)
        };
        facts.contains(&goal.condition)
            || proves(&[])
            || facts.iter().any(|f| proves(&[*f]))
            || facts.len() > 1 && proves(&facts)
    }
}

impl Names<'_> {
    fn memory(&mut self, when: When) -> TermId {
        self.pool.leaf(match when {
            When::Entry => Leaf::Memory,
            When::Here => Leaf::Havoc { key: "exit".into(), sort: Sort::Mem },
        })
    }
}

impl Scope for Names<'_> {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn variable(&mut self, name: &str, when: When) -> Option<Typed> {
        let v = self.function.params.iter().map(|v| self.function.var(*v)).find(|v| &*v.name == name)?;
        let known = when == When::Entry || self.kept.iter().any(|k| k == name);
        let leaf = Leaf::Param { name: v.name.clone(), sort: v.sort? };
        known.then(|| Typed { term: self.pool.leaf(leaf), ty: v.ty.clone() })
    }

    fn object(&mut self, name: &str) -> Option<Typed> {
        let g = self.unit.global(name)?;
        let leaf = Leaf::SymbolAddr { symbol: g.symbol.clone(), bits: self.unit.data_model.pointer_bits() };
        Some(Typed { term: self.pool.leaf(leaf), ty: g.ty.clone() })
    }

    fn result(&mut self) -> Option<Typed> {
        let ty: CType = self.function.ret.clone();
        let sort = ty.sort(self.unit.data_model.pointer_bits())?;
        Some(Typed { term: self.pool.leaf(Leaf::Param { name: "\\result".into(), sort }), ty })
    }

    fn input(&mut self, _: u64) -> Option<Typed> {
        None
    }

    fn load(&mut self, addr: TermId, sort: Sort, bytes: u64, when: When) -> Option<TermId> {
        let memory = self.memory(when);
        Some(self.pool.app(App::Load { sort, bytes }, &[memory, addr]))
    }
}
