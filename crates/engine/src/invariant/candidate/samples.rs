//! Values of variables at a point in the concrete runs of one class: the data that candidates are
//! read off, and the first thing that refutes them (`docs/design/solver.md` and `docs/design/facts.md`).
//!
//! At the exit a run gives one row, its outcome. Elsewhere runs are repeated with the point watched,
//! and every arrival is a row.

use crate::interp::{End, Input, Outcome, Value};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::find_key;
use crate::invariant::point::{Kind, Point};
use crate::invariant::task::Task;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::ir::{Const, NodeId};
use crate::mvicfg::ClassId;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Runs that are repeated to watch a point, arrivals of each that are kept (at least, at most), and
/// rows of all.
const WATCHED_RUNS: usize = 128;
const ARRIVALS: usize = 12;
const MAX_ARRIVALS: usize = 120;
const MAX_ROWS: usize = 400;
/// Arrivals among which the latest is kept, too.
const LATEST: usize = 64;

/// One state at the point.
pub(in crate::invariant) struct Row {
    /// Index of the run among [`Rows::runs`].
    run: usize,
    /// By name of [`Rows::names`].
    values: Vec<Option<Const>>,
}

/// States of one class at a point.
pub(in crate::invariant) struct Rows {
    pub(in crate::invariant) names: Vec<String>,
    pub(in crate::invariant) rows: Vec<Row>,
    /// Lists of runs with an index into each.
    runs: Vec<(Rc<Vec<Run>>, usize)>,
}

impl Row {
    pub(in crate::invariant) fn value(&self, column: usize) -> Option<Const> {
        self.values.get(column).copied().flatten()
    }
}

impl Rows {
    pub(in crate::invariant) fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// The run that a row comes from.
    pub(in crate::invariant) fn run(&self, row: &Row) -> Option<&Run> {
        self.runs.get(row.run).and_then(|(list, i)| list.get(*i))
    }
}

impl Task<'_> {
    /// The pairs of classes that are run side by side: those that are compared, or, where none are,
    /// every class and itself.
    pub(in crate::invariant) fn run_pairs(&self) -> Vec<(ClassId, ClassId)> {
        if self.pairs.is_empty() {
            return self.graph.all_classes().iter().map(|c| (c, c)).collect();
        }
        self.pairs.clone()
    }
}

impl FunctionAnalysis<'_> {
    /// Collects the values of named variables (and `\result`, at the exit) of a class at a point.
    pub(in crate::invariant) fn rows(&mut self, class: ClassId, point: &Point, names: Vec<String>) -> Rows {
        let mut rows = Rows { names, rows: Vec::new(), runs: Vec::new() };
        for (list, old) in self.runs_of(class) {
            match point.kind {
                Kind::Exit => self.exit_rows(class, &list, old, &mut rows),
                _ => self.watched_rows(class, point, &list, old, &mut rows),
            }
        }
        rows
    }

    /// The same of one run, which the class was the new side of.
    pub(in crate::invariant) fn rows_of(
        &self,
        class: ClassId,
        point: &Point,
        names: Vec<String>,
        run: Run,
    ) -> Rows {
        let mut rows = Rows { names, rows: Vec::new(), runs: Vec::new() };
        let list = Rc::new(vec![run]);
        match point.kind {
            Kind::Exit => self.exit_rows(class, &list, false, &mut rows),
            _ => self.watched_rows(class, point, &list, false, &mut rows),
        }
        rows
    }

    /// The runs in which a class took part, and whether it was the old one.
    pub(in crate::invariant) fn runs_of(&mut self, class: ClassId) -> Vec<(Rc<Vec<Run>>, bool)> {
        let mut found = Vec::new();
        for (from, to) in self.task.run_pairs() {
            if from == class {
                found.push((self.task.runs(from, to), true));
            } else if to == class {
                found.push((self.task.runs(from, to), false));
            }
        }
        found
    }

    fn exit_rows(&self, class: ClassId, list: &Rc<Vec<Run>>, old: bool, rows: &mut Rows) {
        for (i, run) in list.iter().enumerate() {
            let outcome = side(run, old);
            if outcome.end != End::Return || self.overlaps(&run.input_of(old)) {
                continue;
            }
            let values = rows.names.iter().map(|n| self.value_at_exit(class, n, run, old)).collect();
            rows.rows.push(Row { run: rows.runs.len(), values });
            rows.runs.push((list.clone(), i));
        }
    }

    pub(in crate::invariant) fn value_at_exit(
        &self,
        class: ClassId,
        name: &str,
        run: &Run,
        old: bool,
    ) -> Option<Const> {
        let o = side(run, old);
        if name == "\\result" {
            return o.returned;
        }
        if self.quantities.contains_key(name) {
            return self.quantity_at_exit(class, name, run, old);
        }
        let body = &self.task.graph.bodies[class];
        find_key(body, name).and_then(|v| o.local(v))
    }

    fn watched_rows(&self, class: ClassId, point: &Point, list: &Rc<Vec<Run>>, old: bool, rows: &mut Rows) {
        let Some(node) = self.watchable(class, point) else { return };
        let body = &self.task.graph.bodies[class];
        let names = rows.names.clone();
        // The first runs are the simplest; the others are picked evenly.
        let stride = (list.len() / (WATCHED_RUNS / 2)).max(1);
        let is_new = |i: usize| i == 0 || list[i].input != list[i - 1].input;
        let distinct = (0..list.len()).filter(|i| is_new(*i)).count();
        let picked =
            list.iter().enumerate().filter(|(i, _)| (*i < WATCHED_RUNS / 2 || i % stride == 0) && is_new(*i));
        let most = (MAX_ROWS / distinct.max(1)).clamp(ARRIVALS, MAX_ARRIVALS);
        for (i, run) in picked.take(WATCHED_RUNS) {
            if matches!(side(run, old).end, End::Undefined { .. }) || rows.rows.len() >= MAX_ROWS {
                continue;
            }
            let index = rows.runs.len();
            let mut arrivals = Vec::new();
            let mut sampled = Sampled::new(most);
            // Bounds are met at the end.
            let mut latest = None;
            let input = run.input_of(old);
            if self.overlaps(&input) {
                continue;
            }
            runs::watch(&self.task.programs[class], &body.name, &input, node, &mut |state| {
                let takes = sampled.takes();
                if !takes && sampled.arrived > LATEST {
                    return ControlFlow::Continue(());
                }
                let mut value = |n: &String| match find_key(body, n) {
                    Some(v) => state.value(v),
                    None => self.quantity_here(class, n, &input, state),
                };
                let values = names.iter().map(&mut value).collect();
                let row = Row { run: index, values };
                match takes {
                    true => arrivals.push(row),
                    false => latest = Some(row),
                }
                unless(arrivals.len() == most)
            });
            rows.rows.extend(arrivals);
            rows.rows.extend(latest);
            rows.runs.push((list.clone(), i));
        }
    }

    /// Whether two arguments lead to one object, where facts may take it that they do not: what such a run
    /// refutes may hold under that assumption, and proofs list it.
    pub(in crate::invariant) fn overlaps(&self, input: &Input) -> bool {
        let mut objects: Vec<String> = Vec::new();
        for argument in &input.arguments {
            let object = match argument {
                Value::Pointer { object, .. } => format!("{object:?}"),
                Value::Global { symbol, .. } => symbol.to_string(),
                _ => continue,
            };
            if objects.contains(&object) {
                return !self.task.options.aliases;
            }
            objects.push(object);
        }
        false
    }

    /// The node of the function as written that stands for the point; copies that inlining or
    /// unrolling made cannot be watched.
    pub(in crate::invariant) fn watchable(&self, class: ClassId, point: &Point) -> Option<NodeId> {
        let graph = self.task.graph;
        let node = graph.origin(*point.nodes.get(&class)?, class)?;
        let written = self.task.units[class].function(&graph.bodies[class].name)?;
        ((node.0 as usize) < written.nodes.len()).then_some(node)
    }

    /// The loop heads that their lines name. Of the loop of a function that is called several times, or of one
    /// in a loop that is laid out, nobody could tell which copy is meant.
    pub(in crate::invariant) fn loops_by_line(&self) -> Vec<Point> {
        let all = Point::loops(&self.e);
        let is_copy = |p: &Point| p.nodes.keys().any(|&class| self.watchable(class, p).is_none());
        let is_told = |p: &&Point| {
            let mut same = all.iter().filter(|q| q.lines == p.lines && q.nodes != p.nodes);
            !same.any(|q| is_copy(p) || is_copy(q))
        };
        all.iter().filter(is_told).cloned().collect()
    }

    /// Looks for a run in which a variable has other values at the point in one class than in the
    /// other.
    pub(in crate::invariant) fn differing_run(
        &mut self,
        key: &str,
        from: ClassId,
        to: ClassId,
    ) -> Option<Run> {
        let point = self.diff.point.clone();
        let list = self.task.runs(from, to);
        let (old, new) = (self.watchable(from, &point)?, self.watchable(to, &point)?);
        let comparable = list.iter().filter(|r| runs::is_comparable(r));
        comparable
            .take(WATCHED_RUNS)
            .find(|r| {
                let trace = |class: ClassId, node, old: bool| {
                    let body = &self.task.graph.bodies[class];
                    let var = find_key(body, key);
                    let mut values = Vec::new();
                    runs::watch(
                        &self.task.programs[class],
                        &body.name,
                        &r.input_of(old),
                        node,
                        &mut |state| {
                            values.push(var.and_then(|v| state.value(v)));
                            unless(values.len() == ARRIVALS)
                        },
                    );
                    values
                };
                let (a, b) = (trace(from, old, true), trace(to, new, false));
                a.iter().zip(&b).any(|(x, y)| x.is_some() && y.is_some() && !runs::same(*x, *y))
            })
            .cloned()
    }
}

/// Which arrivals of one run are kept: the first ones, and then fewer and fewer, since a loop may do
/// something else later.
struct Sampled {
    arrived: usize,
    next: usize,
    most: usize,
}

impl Sampled {
    fn new(most: usize) -> Sampled {
        Sampled { arrived: 0, next: 0, most }
    }

    /// Counts an arrival; whether it is kept.
    fn takes(&mut self) -> bool {
        self.arrived += 1;
        if self.arrived <= self.next {
            return false;
        }
        let first = self.most / 2;
        let step = if self.arrived < first { 1 } else { 1 + 4 * self.arrived / first.max(4) };
        self.next = self.next.max(self.arrived - 1) + step;
        true
    }
}

/// Breaks off when enough was seen.
fn unless(enough: bool) -> ControlFlow<()> {
    if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// What one class did in a run.
pub(in crate::invariant) fn side(run: &Run, old: bool) -> &Outcome {
    if old { &run.old } else { &run.new }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of so many arrivals are kept, of at most 12.
    fn kept(arrivals: usize) -> Vec<usize> {
        let mut sampled = Sampled::new(12);
        (1..=arrivals).filter(|_| sampled.takes()).collect()
    }

    #[test]
    fn the_first_arrivals_are_all_kept() {
        assert_eq!(kept(6), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn later_arrivals_are_kept_less_and_less() {
        let all = kept(1_000);
        let gaps: Vec<usize> = all.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps.windows(2).all(|g| g[0] <= g[1]), "{gaps:?}");
        assert!(gaps.last() > Some(&100) && all.len() < 30, "{all:?}");
    }

    #[test]
    fn a_row_has_values_by_the_names_of_its_columns() {
        let names = vec!["n".to_owned(), "i".to_owned()];
        let row = Row { run: 0, values: vec![None, Some(Const::bv(32, 3))] };
        let rows = Rows { names, rows: vec![row], runs: Vec::new() };
        let value = |x: &str| rows.column(x).map(|c| rows.rows[0].value(c));
        assert_eq!(value("i"), Some(Some(Const::bv(32, 3))));
        assert_eq!(value("n"), Some(None));
        assert_eq!(value("k"), None);
        assert!(rows.run(&rows.rows[0]).is_none());
    }
}
