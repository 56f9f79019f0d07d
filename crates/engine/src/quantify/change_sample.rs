//! How much of the inputs a change affects, by a sample, where pairs of paths are too large to count.
//!
//! Each input of the sample takes one path of each version, and what these two let others see is evaluated there.

use super::compare::{Comparer, Comparison};
use super::conditions::Tree;
use super::paths::{End, Explored, Path};
use super::sampled::drawn;
use crate::count::{Estimate, wilson};
use crate::ir::TermId;
use crate::ir::eval::{Assignment, Program};
use std::collections::BTreeMap;

/// Shares of the inputs: intervals hold what was counted, and of what is not known all or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeSample {
    /// How many inputs were tried.
    pub inputs: u64,
    pub reaching: Estimate,
    pub differing: Estimate,
}

/// How many of a sample do what.
#[derive(Default)]
struct Hits {
    reaching: u64,
    /// Neither version comes to the change, and nothing differs.
    passing: u64,
    differing: u64,
    same: u64,
}

impl Comparer<'_> {
    /// Estimates what a comparison leaves open; `None`: there is no input, or too much to evaluate.
    pub(super) fn sampled(
        &mut self,
        old: &Explored,
        new: &Explored,
        found: &Comparison,
    ) -> Option<ChangeSample> {
        let (known_old, known_new) = (known(old), known(new));
        let mut terms: Vec<TermId> =
            known_old.iter().chain(&known_new).flat_map(|p| &p.conditions).copied().collect();
        terms.sort_unstable();
        terms.dedup();
        let program = Program::new(self.pool, &terms);
        let inputs = drawn(self.pool, self.counter, program.terms().len());
        let trees = [&known_old, &known_new].map(|paths| Tree::of(paths.iter().map(|p| &p.conditions)));
        let mut pairs: BTreeMap<(usize, usize), Vec<&Assignment>> = BTreeMap::new();
        for input in &inputs {
            let run = program.run(self.pool, input);
            let [p, q] =
                [0, 1].map(|v| trees.get(v).and_then(|t| t.taken(&mut |c| run.holds(c) == Some(true))));
            if let Some(pair) = p.zip(q) {
                pairs.entry(pair).or_default().push(input);
            }
        }
        let mut hits = Hits::default();
        let is_program = old.is_program && new.is_program;
        for ((p, q), inputs) in pairs {
            let (Some(p), Some(q)) = (known_old.get(p), known_new.get(q)) else { continue };
            self.tally(p, q, is_program, &inputs, &mut hits);
        }
        let size = self.counter.size()? as f64;
        let share = |n: i128| n as f64 / size;
        let n = inputs.len() as u64;
        (n > 0).then(|| ChangeSample {
            inputs: n,
            reaching: between(hits.reaching, hits.passing, n, (share(found.reaching), 0.0)),
            differing: between(hits.differing, hits.same, n, (share(found.differing), share(found.same))),
        })
    }

    /// Adds the inputs that take two paths.
    fn tally(&mut self, p: &Path, q: &Path, is_program: bool, inputs: &[&Assignment], hits: &mut Hits) {
        let reaches = self.reaches(p, q);
        let found = self.difference(p, q, is_program);
        let program = Program::new(self.pool, &[found.differ, found.unknown]);
        for input in inputs {
            let run = program.run(self.pool, input);
            let (differ, unknown) = (run.holds(found.differ), run.holds(found.unknown));
            let is_same = differ == Some(false) && unknown == Some(false);
            hits.differing += u64::from(differ == Some(true));
            hits.same += u64::from(is_same);
            hits.reaching += u64::from(reaches || differ == Some(true));
            hits.passing += u64::from(!reaches && is_same);
        }
    }
}

/// The paths that do not end grey.
fn known(explored: &Explored) -> Vec<&Path> {
    explored.paths.iter().filter(|p| !matches!(p.end, End::Grey(_)) && p.count != Some(0)).collect()
}

/// The share of what `yes` of `n` inputs do and `no` do not, within what was counted of both.
fn between(yes: u64, no: u64, n: u64, (counted, counted_not): (f64, f64)) -> Estimate {
    let (yes, no) = (wilson(yes, n), wilson(no, n));
    let low = yes.low.max(counted);
    let high = (1.0 - no.low.max(counted_not)).max(low);
    Estimate { share: yes.share.clamp(low, high), low, high }
}
