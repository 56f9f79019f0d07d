//! What is asked of one function: its graph, its classes and their pairs, the points, and what it may cost.

use crate::fact::Expression;
use crate::interp::Program;
use crate::invariant::candidate::written::WrittenTemplate;
use crate::invariant::obligation::property::PinnedFact;
use crate::invariant::obligation::protocol::Protocol;
use crate::invariant::proof::interface::Summaries;
use crate::invariant::proof::precondition::Precondition;
use crate::invariant::witness::budget::Budget;
use crate::invariant::witness::relaying::layouts_differ;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::search::RunCache;
use crate::ir::{Function, Unit};
use crate::mvicfg::{ClassId, Mvicfg};
use crate::semantics::Callees;
use crate::smt;
use std::rc::Rc;
use std::sync::Arc;

/// What is asked of one function.
pub struct Task<'a> {
    pub graph: &'a Mvicfg,
    /// Pairs of classes of consecutive versions that differ.
    pub pairs: Vec<(ClassId, ClassId)>,
    /// For each pair, whether the function's own text differs, and not only a callee's.
    pub own: Vec<bool>,
    /// For each pair, whether objects that the function rests on begin with other values: then equal terms
    /// are no equal values.
    pub begins: Vec<bool>,
    /// The unit of each class, for names and types.
    pub units: Vec<Arc<Unit>>,
    /// The program of each class, for runs; the function's name in it is that of the body.
    pub programs: Vec<Arc<Program>>,
    /// Runs of these programs so far.
    pub kept: &'a RunCache,
    pub specification: Specification<'a>,
    pub callees: &'a dyn Callees,
    pub summaries: &'a dyn Summaries,
    /// By class: what all callers see to, where they are known.
    pub given: Vec<Precondition>,
    pub pointer_bits: u16,
    pub points: Points,
    pub options: Options,
}

/// What people write of a function.
#[derive(Default)]
pub struct Specification<'a> {
    /// Facts that are to hold at the exit.
    pub pins: Vec<PinnedFact>,
    /// Conditions at the entry that callers see to, as the project says; properties are judged under them.
    pub requires: Vec<PinnedFact<Expression>>,
    /// The project's own protocols, beside those that come with the program.
    pub protocols: &'a [Protocol],
    /// Templates that a person wrote.
    pub templates: &'a [WrittenTemplate],
}

impl Task<'_> {
    /// Concrete runs of two classes on the same inputs.
    pub(super) fn runs(&self, from: ClassId, to: ClassId) -> Rc<Vec<Run>> {
        let entry = (&*self.graph.bodies[from].name, &*self.graph.bodies[to].name);
        let budget = self.options.budget;
        let budget = if self.graph.nodes.len() > budget.nodes { budget.of_large() } else { budget };
        self.kept.of(&self.programs[from], &self.programs[to], entry, budget)
    }

    /// What the small questions about the function may cost, beyond what was spent on it.
    pub(super) fn allowance(&self) -> smt::Allowance {
        smt::Allowance::new(&self.kept.spending, self.share_of(LEMMAS))
    }

    /// Whether the function itself changed, or is looked at for its own sake; else only its callees did.
    pub(super) fn is_own(&self) -> bool {
        self.pairs.is_empty() || self.own.contains(&true)
    }

    /// Whether the classes lay structures out in different ways.
    pub(super) fn is_relaid(&self) -> bool {
        let sides: Vec<(&Function, &Unit)> =
            self.graph.bodies.iter().zip(&self.units).map(|(f, u)| (&**f, &**u)).collect();
        sides.windows(2).any(|w| layouts_differ(w[0], w[1]))
    }

    /// What so many questions may cost that reach their limit, in a large graph fewer.
    pub(super) fn share_of(&self, lemmas: u64) -> u64 {
        let nodes = (self.graph.nodes.len() as u64).max(1);
        let fewer = (lemmas * PLAIN_NODES / nodes).clamp(LEAST_LEMMAS, lemmas);
        self.options.rlimit / LEMMA_SHARE * fewer
    }
}

/// At which points facts are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    pub exit: bool,
    pub entry: bool,
    pub loops: Loops,
    /// Lines of the newest body.
    pub lines: Vec<u32>,
}

/// Whether facts at loop heads are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loops {
    No,
    /// Where the exit does not tell of a change.
    #[default]
    WhereUntold,
    Yes,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub rlimit: u64,
    /// Iterations of loops that nothing else settles.
    pub unroll: u32,
    /// Locals and their relations, too, where observables tell of the change already.
    pub all: bool,
    /// Of facts of some classes it is asked whether runs break them in the others.
    pub subsets: bool,
    /// Pointers may lead to the same bytes, indices out of their arrays; otherwise that they do not is
    /// assumed where it matters, and listed.
    pub aliases: bool,
    pub budget: Budget,
}

/// A question about a candidate may cost this part of a query's limit: there are many, and one that
/// is hard to prove is seldom one that a person would state.
pub(super) const LEMMA_SHARE: u64 = 8;
/// All these questions together may cost as much as so many that reach their limit, in a graph of so many
/// nodes; in larger ones less, where Z3 seldom settles one, but not less than the third number.
const LEMMAS: u64 = 32;
const PLAIN_NODES: u64 = 45;
const LEAST_LEMMAS: u64 = 2;
/// The same of those about elements of arrays.
pub(super) const ELEMENTS: u64 = 12;
