//! A suite of tests on a function's versions.

use super::{Inputs, Lineage, trees};
use crate::count::{Counter, Decimal, Input};
use crate::ir::TermPool;
use crate::ir::eval::Assignment;
use crate::mvicfg::VersionId;
use crate::quantify::{
    ChangeCoverage, Comparer, Coverage, Explored, Limits, Lines, change_coverage, coverage, taken,
};

/// Tests: a value for each name.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Decimal>>,
}

/// What a suite covers of a function.
#[derive(Clone, Debug, Default)]
pub struct Tested {
    /// Tests within the domain.
    pub inside: usize,
    /// Tests that are not: they cover nothing.
    pub outside: usize,
    /// Inputs that the suite does not name: they are 0.
    pub zero: Vec<String>,
    pub versions: Vec<Option<Coverage>>,
    pub steps: Vec<Option<ChangeCoverage>>,
}

/// The tests within the domain, and how many are not. An input that is not named is 0, as for `discover`.
fn assignments(
    suite: &Suite,
    inputs: &Inputs,
    counter: &Counter,
    pool: &TermPool,
) -> (Vec<Assignment>, usize) {
    let columns: Vec<Option<usize>> =
        inputs.all.iter().map(|c| suite.names.iter().position(|name| *name == *c.name)).collect();
    let mut outside = 0;
    let mut found = Vec::new();
    for row in &suite.rows {
        let value = |(column, input): (&Option<usize>, &Input)| {
            let value = column.and_then(|k| row.get(k)).copied().unwrap_or(Decimal::whole(0));
            input.values.number(pool.sort(input.term), value)
        };
        let values: Option<Vec<i128>> = columns.iter().zip(&counter.domain().inputs).map(value).collect();
        let Some(values) = values.filter(|values| counter.has(values)) else {
            outside += 1;
            continue;
        };
        let mut test = Assignment::new();
        for (k, (c, value)) in inputs.all.iter().zip(&values).enumerate() {
            counter
                .domain()
                .constant(pool, k, *value)
                .into_iter()
                .for_each(|constant| test.set(c.term, constant));
        }
        found.push(test);
    }
    (found, outside)
}

/// A function whose versions are counted.
pub(super) struct Subject<'a> {
    pub inputs: &'a Inputs,
    pub explored: &'a [Option<Explored>],
    pub l: &'a Lineage,
    /// Of each step.
    pub lines: &'a [Lines],
    pub limits: Limits,
}

/// What a suite covers of all versions of a function.
pub(super) fn tested(suite: &Suite, subject: &Subject, pool: &mut TermPool, counter: &mut Counter) -> Tested {
    let Subject { inputs, explored, l, lines, limits } = *subject;
    let (tests, outside) = assignments(suite, inputs, counter, pool);
    let is_named = |name: &str| suite.names.iter().any(|n| n == name);
    let zero = inputs.all.iter().map(|c| c.name.to_string()).filter(|name| !is_named(name)).collect();
    let mut found = Tested { inside: tests.len(), outside, zero, ..Tested::default() };
    let mut paths: Vec<Vec<Option<usize>>> = Vec::new();
    for e in explored {
        let taken = e.as_ref().map(|e| taken(e, &trees::trie(e, pool, counter), pool, &tests));
        found.versions.push(e.as_ref().zip(taken.as_ref()).and_then(|(e, taken)| coverage(e, taken)));
        paths.push(taken.unwrap_or_default());
    }
    for (step, lines) in lines.iter().enumerate() {
        let of = |v: VersionId| Some((explored[v].as_ref()?, paths[v].as_slice()));
        let [from, to] = VersionId::of_step(step);
        let is_alike = |_: &_| super::parameters(l, from) == super::parameters(l, to);
        let pair = of(from).zip(of(to)).filter(is_alike);
        let candidates = &inputs.all;
        let mut comparer = Comparer { pool: &mut *pool, counter: &mut *counter, candidates, lines, limits };
        found.steps.push(pair.and_then(|(old, new)| change_coverage(&mut comparer, old, new)));
    }
    found
}
