//! Provers: how one obligation is shown to hold in one class, in the order in which they are tried.
//!
//! | prover | method | which part |
//! | --- | --- | --- |
//! | (runs) | the class runs on inputs of all versions | every obligation; an input that breaks it settles it |
//! | [`AtThePoint`] | symbolic execution of all paths at once, with what is inductive at loop heads (abstract interpretation) | every obligation that no run breaks |
//! | [`Unrolling`] | the same with loops laid out, where none goes on any further | assertions in functions with loops |
//! | [`KInduction`] | k-induction ([`crate::invariant::proof::k_induction`]) | assertions in loops of functions that are looked at for their own sake |
//!
//! Runs are no prover: what they do not break they leave open. A model that a prover finds against an obligation is
//! run like any other input, and counts where that run breaks it.

use crate::fact::{Expression, Method, term};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::name_resolution::Exit;
use crate::invariant::obligation::properties::{at_entry, fails};
use crate::invariant::obligation::resource_state::PinnedState;
use crate::invariant::observable;
use crate::invariant::proof::abstraction;
use crate::ir::eval::Assignment;
use crate::ir::{App, Op, Term, TermId, TermPool};
use crate::mvicfg::{ClassId, Mvicfg};
use crate::smt::Truth;
use std::rc::Rc;

/// What is to be shown of a class.
pub(super) enum Asked<'a> {
    /// No assertion of this line fails.
    Assertion { line: u32 },
    /// A condition holds wherever it returns.
    Condition(&'a Expression),
    /// A resource is in a state wherever it returns.
    State(Rc<PinnedState<'a>>),
}

/// What a prover shows.
#[derive(Default)]
pub(super) struct Shown {
    pub holds: bool,
    /// A model that may break it, with the terms that it is of.
    pub model: Option<(Assignment, Vec<TermId>)>,
}

impl Shown {
    pub fn whether(holds: bool) -> Shown {
        Shown { holds, model: None }
    }

    fn against(model: Assignment, of: Vec<TermId>) -> Shown {
        Shown { holds: false, model: Some((model, of)) }
    }
}

/// A means of showing that an obligation holds.
pub(super) trait Prover {
    fn method(&self) -> Method;

    /// What it shows of a class. Cost: questions to the solver, within the limits of the analysis.
    ///
    /// Errors: why the obligation has no meaning in the class.
    fn judge(&self, engine: &mut FunctionAnalysis, asked: &Asked, class: ClassId) -> Result<Shown, String>;
}

/// The provers, in their order.
pub(super) const ORDER: [&dyn Prover; 3] = [&AtThePoint, &Unrolling, &KInduction];

struct AtThePoint;

impl Prover for AtThePoint {
    fn method(&self) -> Method {
        Method::Proof
    }

    fn judge(&self, engine: &mut FunctionAnalysis, asked: &Asked, class: ClassId) -> Result<Shown, String> {
        match asked {
            Asked::Assertion { line } => Ok(engine.passed(class, *line)),
            Asked::Condition(fact) => {
                let goal = term::condition(fact, &mut Exit { engine, class }).map_err(|e| e.to_string())?;
                let always = engine.e.pool.bool(true);
                Ok(engine.implied_at_exit(class, always, goal))
            }
            Asked::State(pinned) => pinned.prove(engine, class),
        }
    }
}

struct Unrolling;

impl Prover for Unrolling {
    fn method(&self) -> Method {
        Method::Unrolling
    }

    fn judge(&self, engine: &mut FunctionAnalysis, asked: &Asked, class: ClassId) -> Result<Shown, String> {
        let Asked::Assertion { line } = asked else { return Ok(Shown::default()) };
        Ok(Shown::whether(engine.never_fails(class, *line)))
    }
}

struct KInduction;

impl Prover for KInduction {
    fn method(&self) -> Method {
        Method::KInduction
    }

    fn judge(&self, engine: &mut FunctionAnalysis, asked: &Asked, class: ClassId) -> Result<Shown, String> {
        let Asked::Assertion { line } = asked else { return Ok(Shown::default()) };
        Ok(Shown::whether(engine.task.is_own() && engine.holds_by_k_induction(class, *line)))
    }
}

impl FunctionAnalysis<'_> {
    /// What callers of a class see to, as the project says.
    fn required(&mut self, class: ClassId) -> TermId {
        let mut all = self.e.pool.bool(true);
        for required in &self.task.specification.requires {
            let fact = at_entry(&required.fact);
            if let Ok(term) = term::condition(&fact, &mut Exit { engine: self, class }) {
                all = self.e.pool.and(all, term);
            }
        }
        all
    }

    /// Whether no assertion of a line fails, as far as the conditions of getting to its failing ends tell.
    fn passed(&mut self, class: ClassId, line: u32) -> Shown {
        let graph = self.task.graph;
        let mut holds = true;
        for node in observable::abnormal_ends(&self.e, class) {
            if !fails(&graph.node(node).instr) || graph.line(node, class) != line {
                continue;
            }
            let (reached, required) = (self.state_at(class, node), self.required(class));
            let reached = self.e.pool.and(reached, required);
            if self.e.rests_on_havoc(reached) {
                holds = false;
                continue;
            }
            match self.met(reached) {
                Ok(None) => {}
                Ok(Some(model)) => return Shown::against(model, vec![reached]),
                Err(_) => holds = false,
            }
        }
        Shown::whether(holds)
    }

    /// Whether a goal holds wherever a class returns under a condition.
    pub(super) fn implied_at_exit(&mut self, class: ClassId, condition: TermId, goal: TermId) -> Shown {
        let [condition, goal] = [condition, goal].map(|term| {
            let term = self.cut(term);
            self.shown(class, term)
        });
        let (reached, required) = (self.state_at(class, Mvicfg::EXIT), self.required(class));
        let under = self.e.pool.and(reached, required);
        let under = self.e.pool.and(under, condition);
        match self.deciders.points.holds(&mut self.e.pool, under, goal) {
            Truth::Holds => {
                let traps = [condition, goal].iter().any(|&t| can_trap(&self.e.pool, t));
                Shown::whether(!traps)
            }
            Truth::Fails(model) => Shown::against(model, vec![under, goal]),
            Truth::Open { .. } => Shown::default(),
        }
    }

    /// Returns a model of a condition, or that there is none. What is easier to ask is asked first: whatever is
    /// read where, and without products.
    pub(in crate::invariant) fn met(
        &mut self,
        condition: TermId,
    ) -> Result<Option<Assignment>, &'static str> {
        let pool = &mut self.e.pool;
        let blind = abstraction::without_loads(pool, condition);
        let linear = abstraction::without_products(pool, blind);
        let mut asked = vec![condition];
        for weaker in [linear, blind] {
            if asked.contains(&weaker) {
                continue;
            }
            let pool = &mut self.e.pool;
            let mut found = self.deciders.lemmas.satisfiable(pool, weaker);
            // What lemmas may cost may be spent.
            if found.is_err() && self.task.is_own() {
                found = self.deciders.points.satisfiable(pool, weaker);
            }
            if matches!(found, Ok(None)) {
                return Ok(None);
            }
            asked.push(weaker);
        }
        self.deciders.points.satisfiable(&mut self.e.pool, condition)
    }
}

/// Whether a term has an operator that C leaves undefined for some operands: the solver gives it a
/// value there, which proves nothing.
fn can_trap(pool: &TermPool, term: TermId) -> bool {
    pool.reachable(&[term]).iter().any(|t| {
        matches!(
            pool.get(*t),
            Term::App(
                App::Op(
                    Op::UDiv | Op::SDiv | Op::URem | Op::SRem | Op::Shl | Op::LShr | Op::AShr | Op::FToS(_) | Op::FToU(_)
                ),
                args
            ) if args.get(1).is_none_or(|b| pool.as_const(*b).is_none())
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Const, Leaf, Sort};

    #[test]
    fn every_prover_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = ORDER.iter().map(|p| p.method().name()).collect();
        assert_eq!(names.len(), ORDER.len());
        assert!(!names.contains(Method::Runs.name()), "runs come before all provers");
    }

    #[test]
    fn operators_that_may_be_undefined_prove_nothing() {
        let mut pool = TermPool::new();
        let mut leaf = |name: &str, sort| pool.leaf(Leaf::Param { name: name.into(), sort });
        let (x, y, d) = (leaf("x", Sort::Bv(32)), leaf("y", Sort::Bv(32)), leaf("d", Sort::F64));
        let three = pool.constant(Const::bv(32, 3));
        let mut traps = |op, args: &[TermId]| {
            let t = pool.op(op, args);
            can_trap(&pool, t)
        };
        assert!(traps(Op::SDiv, &[x, y]) && traps(Op::URem, &[x, y]) && traps(Op::Shl, &[x, y]));
        assert!(traps(Op::FToS(32), &[d]), "it may not fit");
        assert!(!traps(Op::SDiv, &[x, three]) && !traps(Op::AShr, &[x, three]));
        assert!(!traps(Op::Add, &[x, y]));
    }
}
