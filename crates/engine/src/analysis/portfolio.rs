//! The portfolio: the engines that judge what must hold of a function, in the order in which they are tried.
//!
//! What must hold is an *obligation*: an assertion, a pinned fact, or a harm that is not to happen. How it stands in a
//! version is a [`Standing`](crate::fact::Standing), whoever says so. Each engine has the obligations of a function
//! with what those before it said, and judges what they left open:
//!
//! | engine | method | which part |
//! | --- | --- | --- |
//! | [`AsItStands`] | difference verification (diffDP) | assertions at which nothing fails that its condition leaves |
//! | the same | runs, then provers in their order ([`crate::invariant`], `obligation/provers.rs`): proof, unrolling, k-induction | all others; what is covered, by runs alone |
//! | [`PropertyDifferencing`] | symbolic execution (iProperty) | assertions that are open, new or changed: what their difference leaves, on impacted paths and others |
//! | [`Verifier`] | runs, abstract interpretation | assertions that are still open, where the condition leaves something |
//! | [`Weakened`] | all of these, with the old assertion put back | what an assertion does not say any more |
//!
//! The condition comes before anything else, since it asks no solver, and restricts all that follow (`difference.rs`);
//! the first engine looks at a function while its facts are looked for, so that both share its graph. `settled_by` of
//! the report names for each version who settled an obligation, and `decided_by` by which step.

use super::classes::Analysed;
use super::differencing::PropertyDifferencing;
use super::lineage::Lineage;
use super::properties::AsItStands;
use super::request::Options;
use super::verifying::Verifier;
use super::weakened::Weakened;
use super::world::World;
use crate::fault;
use crate::property::Comparison;
use crate::quantify::Keeper;
use crate::report::Assertion;
use rayon::prelude::*;

/// What all engines work with.
#[derive(Clone, Copy)]
pub(super) struct Means<'m> {
    pub world: &'m World<'m>,
    pub options: &'m Options,
    /// Where outcomes are kept from run to run.
    pub keeper: &'m dyn Keeper,
}

/// One function's obligations, on their way through the engines.
pub(super) struct Docket<'d> {
    pub lineage: &'d Lineage,
    pub analysed: &'d Analysed,
    pub obligations: Vec<Assertion>,
    /// What property differencing found.
    pub comparison: Option<Comparison>,
    /// Questions to the solver that are counted nowhere else.
    pub queries: u64,
}

/// An engine of the portfolio.
pub(super) trait Engine: Sync {
    /// Judges what it can of a function's obligations. Cost: nothing where none of its part is open.
    fn judge(&self, docket: &mut Docket, means: &Means);
}

/// The engines, in their order. The first says what was found while the functions were looked at.
const ORDER: [&dyn Engine; 4] = [&AsItStands, &PropertyDifferencing, &Verifier, &Weakened];

/// What was found of the obligations of functions while they were looked at.
pub(super) fn found<'d>(lineages: &'d [Lineage], analysed: &'d [Analysed], means: &Means) -> Vec<Docket<'d>> {
    judged(lineages, analysed, means, &ORDER[..1])
}

/// The obligations of functions, judged by all engines; each function on a worker.
pub(super) fn judge<'d>(lineages: &'d [Lineage], analysed: &'d [Analysed], means: &Means) -> Vec<Docket<'d>> {
    judged(lineages, analysed, means, &ORDER)
}

fn judged<'d>(
    lineages: &'d [Lineage],
    analysed: &'d [Analysed],
    means: &Means,
    engines: &[&dyn Engine],
) -> Vec<Docket<'d>> {
    let one = |(lineage, analysed): (&'d Lineage, &'d Analysed)| {
        let obligations = Vec::new();
        let mut docket = Docket { lineage, analysed, obligations, comparison: None, queries: 0 };
        for engine in engines {
            // A defect of ours costs what it would have added.
            if let Err(reason) = fault::caught(|| engine.judge(&mut docket, means)) {
                means.world.has_fault(lineage, &reason);
            }
        }
        docket
    };
    lineages.par_iter().zip(analysed).map(one).collect()
}
