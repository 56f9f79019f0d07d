//! Shares of the inputs whose number is too large to count, by a sample.
//!
//! The sample is of the whole domain, each input as likely as it counts, and the same each time. The paths that were
//! not counted are held against it: how many of the sample take one of them and end well, fail, or meet the target.

use super::conditions::Tree;
use super::paths::{End, Path};
use crate::count::{Counter, Estimate, wilson};
use crate::ir::eval::{Assignment, Program};
use crate::ir::{TermId, TermPool};

const SEED: u64 = 1;
/// Inputs of a sample.
const INPUTS: u64 = 10_000;
/// Fewer say too little.
const MIN_INPUTS: u64 = 200;
/// Terms that are evaluated.
const MAX_TERMS: u64 = 50_000_000;

/// A sample of the domain, the same each time; none where so many terms are too many to evaluate.
pub(super) fn drawn(pool: &TermPool, counter: &Counter, terms: usize) -> Vec<Assignment> {
    let n = INPUTS.min(MAX_TERMS / (terms as u64).max(1));
    counter.sample(pool, SEED, if n < MIN_INPUTS { 0 } else { n })
}

/// A path of which something is too large to count.
pub(super) struct Open<'a> {
    pub path: &'a Path,
    /// Its inputs are counted: what is open is how many meet the target.
    pub is_counted: bool,
    pub meets: Meets,
}

/// Whether inputs of a path meet the target.
pub(super) enum Meets {
    All,
    None,
    /// Those that meet this.
    If(TermId),
    Unknown,
}

/// Shares that hold what was counted, and estimates of the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// How many inputs were tried.
    pub inputs: u64,
    pub success: Estimate,
    pub failure: Estimate,
    pub grey: Estimate,
    /// Its interval holds what is grey besides.
    pub target: Estimate,
}

/// What was counted, as shares of the domain.
pub(super) struct Exact {
    pub success: f64,
    pub failure: f64,
    pub target: f64,
    /// Inputs that do not meet the target.
    pub off_target: f64,
}

/// How many of a sample do what, of those that paths which were not counted take.
#[derive(Default)]
struct Hits {
    success: u64,
    failure: u64,
    target: u64,
    off_target: u64,
}

/// Estimates what open paths come to; `None`: there is no input, or too much to evaluate.
pub(super) fn sampled(pool: &TermPool, counter: &Counter, open: &[Open], exact: &Exact) -> Option<Sampled> {
    let mut roots: Vec<TermId> = open.iter().flat_map(|o| &o.path.conditions).copied().collect();
    roots.extend(open.iter().filter_map(|o| match o.meets {
        Meets::If(t) => Some(t),
        _ => None,
    }));
    roots.sort_unstable();
    roots.dedup();
    let program = Program::new(pool, &roots);
    let tree = Tree::of(open.iter().map(|o| &o.path.conditions));
    let inputs = drawn(pool, counter, program.terms().len());
    let mut hits = Hits::default();
    for input in &inputs {
        let run = program.run(pool, input);
        let Some(o) = tree.taken(&mut |c| run.holds(c) == Some(true)).and_then(|i| open.get(i)) else {
            continue;
        };
        match o.path.end {
            _ if o.is_counted => {}
            End::Grey(_) => {}
            End::Failure(_) => hits.failure += 1,
            End::Return(_) | End::Exit(_) | End::Settled => hits.success += 1,
        }
        let meets = match o.meets {
            Meets::All => Some(true),
            Meets::None => Some(false),
            Meets::If(t) => run.holds(t),
            Meets::Unknown => None,
        };
        hits.target += u64::from(meets == Some(true));
        hits.off_target += u64::from(meets == Some(false));
    }
    (!inputs.is_empty()).then(|| shares(&hits, inputs.len() as u64, exact))
}

fn shares(hits: &Hits, n: u64, exact: &Exact) -> Sampled {
    let more = |counted: f64, hits: u64| {
        let e = wilson(hits, n);
        // What was counted as something else is not this.
        let most = |share: f64| (counted + share).min(1.0);
        Estimate { share: most(e.share), low: most(if hits == 0 { 0.0 } else { e.low }), high: most(e.high) }
    };
    let (success, failure) = (more(exact.success, hits.success), more(exact.failure, hits.failure));
    let known = more(exact.success + exact.failure, hits.success + hits.failure);
    let rest = |share: f64| (1.0 - share).max(0.0);
    let grey = Estimate { share: rest(known.share), low: rest(known.high), high: rest(known.low) };
    let (on, off) = (more(exact.target, hits.target), more(exact.off_target, hits.off_target));
    let high = rest(off.low).max(on.low);
    let target = Estimate { share: (on.low + high) / 2.0, low: on.low, high };
    Sampled { inputs: n, success, failure, grey, target }
}
