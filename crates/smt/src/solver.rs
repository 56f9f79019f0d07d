//! The solver of one function's analysis.
//!
//! A fresh Z3 context and one incremental solver; each query is asserted between push and pop. A
//! query may cost a number of Z3's resource units and never a time, and the context has seen only
//! this solver's queries, so the same queries in the same order have the same answers, models and
//! costs in every run, on every thread and machine (of one version of Z3).
//!
//! On real code a query is decided within a tenth of the limit or not at all, and a function that has
//! one hopeless query has more of the same kind. So each query that stays open halves what the next
//! may cost, and all together may cost a few times the limit.

use super::budget::Allowance;
use super::context::{fresh, limit_to, within};
use super::encode::Encoder;
use super::model::{self, Model};
use crate::ir::{Const, Op, Sort, Term, TermId, TermPool};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use z3::ast::Bool;
use z3::{Context, SatResult};

/// What a query may cost, and the width of addresses.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Z3's resource units for the first query; 5 million are about 1 to 3 s.
    pub rlimit: u64,
    pub pointer_bits: u16,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rlimit: 2_000_000, pointer_bits: 64 }
    }
}

/// Answer to "is there an input on which all these conditions hold?"
#[derive(Clone, Debug)]
pub enum Verdict {
    Unsat,
    Sat(Model),
    /// With the reason, `rlimit` when the limit was reached.
    Unknown(&'static str),
}

impl Verdict {
    pub fn is_unsat(&self) -> bool {
        matches!(self, Verdict::Unsat)
    }
}

/// Counts of a solver's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Queries that Z3 answered.
    pub queries: u64,
    /// Queries that were answered by an earlier one.
    pub cached: u64,
    /// Queries that stayed open.
    pub unknown: u64,
    /// Resource units that Z3 counted.
    pub rlimit: u64,
}

/// What all queries together may cost, in multiples of the limit of one.
const TOTAL: u64 = 16;
/// How often the limit is halved.
const HALVINGS: u64 = 3;
/// A question about float arithmetic gets this part of the limit: it is slower by unit than others,
/// and what it does not settle early it seldom settles at all.
const FLOAT_SHARE: u64 = 2;
/// The same of questions about whole memories.
const MEMORY_SHARE: u64 = 8;

pub struct Solver {
    limits: Limits,
    /// `None` until something is asked: most functions never do, and a context costs milliseconds.
    session: Option<Session>,
    cache: FxHashMap<Vec<TermId>, Verdict>,
    statistics: Statistics,
    /// Every query has a solver of its own.
    apart: bool,
    /// See [`Solver::leave_memory_beyond`].
    memory_terms: usize,
    /// What it may spend together with others.
    allowance: Option<Allowance>,
}

/// A context of Z3 and what lives in it.
struct Session {
    encoder: Encoder,
    incremental: z3::Solver,
    /// Dropped last: everything above lives in it.
    context: Context,
}

impl Session {
    fn new(limits: Limits) -> Session {
        let context = fresh(limits.rlimit);
        let incremental = within(&context, z3::Solver::new);
        Session { encoder: Encoder::new(limits.pointer_bits), incremental, context }
    }
}

impl Solver {
    /// Makes a solver for the terms of one pool.
    pub fn new(limits: Limits) -> Solver {
        Solver {
            limits,
            session: None,
            cache: FxHashMap::default(),
            statistics: Statistics::default(),
            apart: false,
            memory_terms: usize::MAX,
            allowance: None,
        }
    }

    /// Leaves queries about memory of more terms open: Z3 is busy with the arrays of such long before it counts units.
    pub fn leave_memory_beyond(&mut self, terms: usize) {
        self.memory_terms = terms;
    }

    /// Gives every query a solver of its own: some milliseconds more for each, but all bits go to a SAT
    /// solver, which is far better at sums and their order.
    pub fn ask_apart(&mut self) {
        self.apart = true;
    }

    /// Bounds what all queries together may cost, also those of other solvers.
    pub fn share(&mut self, allowance: Allowance) {
        self.allowance = Some(allowance);
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Asks for an input on which all the assertions hold.
    pub fn check(&mut self, pool: &TermPool, assertions: &[TermId]) -> Verdict {
        self.check_for(pool, assertions, 1)
    }

    /// The same for a query that stands for several and may cost as much as they. That one of these
    /// stays open says nothing of single ones.
    pub fn check_for(&mut self, pool: &TermPool, assertions: &[TermId], weight: u64) -> Verdict {
        let Some(query) = normalised(pool, assertions) else { return Verdict::Unsat };
        if let Some(known) = self.cache.get(&query) {
            self.statistics.cached += 1;
            return known.clone();
        }
        let is_spent = self.allowance.as_ref().is_some_and(Allowance::is_spent);
        if is_spent || self.statistics.rlimit >= self.limits.rlimit.saturating_mul(TOTAL) {
            return Verdict::Unknown("rlimit");
        }
        let cone = pool.reachable(&query);
        let of_memory = cone.iter().any(|&t| pool.sort(t) == Sort::Mem);
        if of_memory && cone.len() > self.memory_terms {
            // It counts as one that was asked in vain: what is left for others does not depend on how that is known.
            let units = self.limit(weight, MEMORY_SHARE);
            self.statistics.unknown += 1;
            self.statistics.rlimit += units;
            self.allowance.iter().for_each(|allowance| allowance.charge(cone.len(), units, true));
            return Verdict::Unknown("size");
        }
        let _room = invdiff_cost::enter(invdiff_cost::Room::Smt);
        let mut session = self.session.take().unwrap_or_else(|| Session::new(self.limits));
        let context = session.context.clone();
        let verdict = within(&context, || self.ask(&mut session, pool, (&query, &cone), weight));
        self.session = Some(session);
        if let (Verdict::Unknown(_), 1) = (&verdict, weight) {
            self.statistics.unknown += 1;
        }
        self.cache.insert(query, verdict.clone());
        verdict
    }

    /// Asks for an input on which the hypotheses hold and the goal does not: `Unsat` is a proof.
    pub fn prove(&mut self, pool: &mut TermPool, hypotheses: &[TermId], goal: TermId) -> Verdict {
        let mut query = hypotheses.to_vec();
        query.push(pool.not(goal));
        self.check(pool, &query)
    }

    /// What the next query may cost that stands for so many, of a kind that is given one of so many parts.
    fn limit(&self, weight: u64, share: u64) -> u64 {
        (self.limits.rlimit >> self.statistics.unknown.min(HALVINGS)) * weight / share
    }

    fn ask(
        &mut self,
        session: &mut Session,
        pool: &TermPool,
        (query, cone): (&[TermId], &[TermId]),
        weight: u64,
    ) -> Verdict {
        let mut conditions = Vec::with_capacity(query.len());
        for &q in query {
            match session.encoder.condition(pool, q) {
                Ok(c) => conditions.push(c),
                Err(_) => return Verdict::Unknown("ill-sorted term"),
            }
        }
        conditions.extend(session.encoder.side_conditions(pool, cone));
        self.statistics.queries += 1;
        // For floats the one-shot solver's tactics (all bits to a SAT solver) are much faster than
        // the incremental one.
        let floats = cone.iter().any(|&t| pool.sort(t).is_float() && is_operation(pool, t));
        let share = match cone.iter().any(|&t| pool.sort(t) == Sort::Mem) {
            _ if floats => FLOAT_SHARE,
            true => MEMORY_SHARE,
            false => 1,
        };
        limit_to(&mut session.context, self.limit(weight, share));
        if floats || self.apart {
            let once = z3::Solver::new();
            return self.run(&once, &session.encoder, pool, query, cone, &conditions);
        }
        session.incremental.push();
        let verdict = self.run(&session.incremental, &session.encoder, pool, query, cone, &conditions);
        session.incremental.pop(1);
        verdict
    }

    fn run(
        &mut self,
        solver: &z3::Solver,
        encoder: &Encoder,
        pool: &TermPool,
        query: &[TermId],
        cone: &[TermId],
        conditions: &[Bool],
    ) -> Verdict {
        for c in conditions {
            solver.assert(c);
        }
        let before = spent(solver);
        let result = solver.check();
        let units = spent(solver).saturating_sub(before);
        self.statistics.rlimit += units;
        if let Some(allowance) = &self.allowance {
            let of_memory = cone.iter().any(|&t| pool.sort(t) == Sort::Mem);
            allowance.charge(cone.len(), units, of_memory);
        }
        match result {
            SatResult::Unsat => Verdict::Unsat,
            SatResult::Sat => match solver.get_model() {
                Some(m) => Verdict::Sat(model::read(pool, encoder, &m, cone, query)),
                None => Verdict::Unknown("no model"),
            },
            SatResult::Unknown => Verdict::Unknown(match solver.get_reason_unknown() {
                Some(r) if r.contains("resource") || r.contains("canceled") => "rlimit",
                _ => "incomplete",
            }),
        }
    }
}

/// Returns the resource units that the solver's context has counted so far.
fn spent(solver: &z3::Solver) -> u64 {
    match solver.get_statistics().value("rlimit count") {
        Some(z3::StatisticsValue::UInt(n)) => u64::from(n),
        _ => 0,
    }
}

fn is_operation(pool: &TermPool, t: TermId) -> bool {
    matches!(pool.get(t), Term::App(crate::ir::App::Op(op), _) if *op != Op::Ite)
}

/// Splits conjunctions, sorts, drops what is true; `None` when something is false.
fn normalised(pool: &TermPool, assertions: &[TermId]) -> Option<Vec<TermId>> {
    let mut conditions = BTreeSet::new();
    for &a in assertions {
        match pool.as_op(a, Op::And) {
            Some(members) => conditions.extend(members.iter().copied()),
            None => _ = conditions.insert(a),
        }
    }
    if conditions.iter().any(|&c| pool.as_const(c) == Some(Const::FALSE)) {
        return None;
    }
    conditions.retain(|&c| pool.as_const(c) != Some(Const::TRUE) || pool.sort(c) != Sort::Bool);
    Some(conditions.into_iter().collect())
}
