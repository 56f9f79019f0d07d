//! What relates two heads, as runs of both versions on the same inputs suggest.
//!
//! Nothing rests on a guess: what it says is proved, or dropped.

use super::variants::Variant;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::witness::runs;
use crate::ir::{Const, NodeId, Sort, VarId};
use crate::mvicfg::{ClassId, MvId};
use std::ops::ControlFlow;

/// Runs that are looked at, and arrivals of one.
const RUNS: usize = 40;
const ARRIVALS: usize = 40;
/// Variables of the older class that are tried in pairs, and the largest number that one is multiplied by.
const VARIABLES: usize = 12;
const FACTOR: i128 = 64;
/// Choices for one variable.
const CHOICES: usize = 6;

/// The variables of a body at an arrival, by number.
pub(super) type State = Vec<Option<Const>>;

/// The arrivals of some runs at each head of two bodies, as they are written.
#[derive(Default)]
pub(super) struct States {
    /// By side, head and run.
    arrivals: [Vec<Vec<Vec<State>>>; 2],
    /// By side: the heads, by the numbers of their bodies.
    heads: [Vec<NodeId>; 2],
    /// No loop stands in another.
    flat: bool,
}

/// A sum of variables of the older body, and a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub of: Vec<(i128, VarId)>,
    pub and: i128,
}

impl States {
    pub(super) fn are_flat(&self) -> bool {
        self.flat
    }

    /// The loops that both have.
    pub(super) fn loops(&self) -> usize {
        let [old, new] = &self.heads;
        old.len().min(new.len())
    }

    pub(super) fn heads(&self, side: usize) -> &[NodeId] {
        &self.heads[side]
    }

    /// Whether the runs do not speak against it that a head of both is reached in step, with so many first rounds
    /// laid out, and so many rounds made one.
    pub(super) fn may_go_in_step(&self, k: usize, first: [usize; 2], together: [usize; 2]) -> bool {
        let [Some(old), Some(new)] = [0, 1].map(|side| self.arrivals[side].get(k)) else { return true };
        let number = |side: usize, run: &[State]| match run.len() {
            // More may come.
            ARRIVALS => None,
            n => Some(n.saturating_sub(first[side]).div_ceil(together[side])),
        };
        old.iter().zip(new).all(|(x, y)| match (number(0, x), number(1, y)) {
            (Some(n), Some(m)) => n == m,
            _ => true,
        })
    }

    /// The states of both at a head, in step.
    fn pairs(&self, k: usize, variant: &Variant) -> Vec<[&State; 2]> {
        let [Some(old), Some(new)] = [0, 1].map(|side| self.arrivals[side].get(k)) else { return Vec::new() };
        let of = |side: usize, run: &'_ [State]| -> Vec<usize> {
            let first = variant.first.get(k).map_or(0, |first| first[side]);
            (first..run.len()).step_by(variant.together[side]).collect()
        };
        let mut found = Vec::new();
        for (x, y) in old.iter().zip(new) {
            let pairs = of(0, x).into_iter().zip(of(1, y));
            found.extend(pairs.filter_map(|(i, j)| Some([x.get(i)?, y.get(j)?])));
        }
        found
    }

    /// What a variable of the newer body may be at a head; `None`: nothing is known of it.
    pub(super) fn sums(
        &self,
        k: usize,
        variant: &Variant,
        var: VarId,
        candidates: &[VarId],
    ) -> Option<Vec<Sum>> {
        let rows: Vec<(Const, &State)> = self
            .pairs(k, variant)
            .into_iter()
            .filter_map(|[old, new]| Some((new.get(var.0 as usize).copied().flatten()?, old)))
            .collect();
        if rows.is_empty() {
            return None;
        }
        let mut found: Vec<Sum> = Vec::new();
        let plain = |v: VarId| Sum { of: vec![(1, v)], and: 0 };
        let value = |row: &State, v: VarId| row.get(v.0 as usize).copied().flatten();
        let is_same = |v: &&VarId| rows.iter().all(|(y, row)| value(row, **v).is_none_or(|x| x == *y));
        found.extend(candidates.iter().filter(is_same).map(|v| plain(*v)));
        let Sort::Bv(width) = rows[0].0.sort() else { return Some(found) };
        let column = |v: VarId| -> Option<Vec<i128>> {
            rows.iter().map(|(_, row)| value(row, v).and_then(Const::signed)).collect()
        };
        let Some(target) = rows.iter().map(|(y, _)| y.signed()).collect::<Option<Vec<i128>>>() else {
            return Some(found);
        };
        let columns: Vec<(VarId, Vec<i128>)> =
            candidates.iter().take(VARIABLES).filter_map(|v| Some((*v, column(*v)?))).collect();
        for (v, x) in &columns {
            found.extend(fitted(&target, &[x], width).map(|(k, and)| Sum { of: vec![(k[0], *v)], and }));
        }
        for (i, (v, x)) in columns.iter().enumerate() {
            for (w, y) in &columns[i + 1..] {
                let sum = fitted(&target, &[x, y], width).filter(|(k, _)| k.iter().all(|k| *k != 0));
                found.extend(sum.map(|(k, and)| Sum { of: vec![(k[0], *v), (k[1], *w)], and }));
            }
        }
        let mut seen: Vec<Sum> = Vec::new();
        found.retain(|s| {
            let is_new = !seen.contains(s);
            seen.push(s.clone());
            is_new
        });
        found.truncate(CHOICES);
        Some(found)
    }
}

/// The numbers that some columns are multiplied by, and one that is added, to give the target in every row, as numbers of
/// so many bits.
fn fitted(target: &[i128], columns: &[&Vec<i128>], width: u16) -> Option<(Vec<i128>, i128)> {
    /// Rows that factors are computed from: of large numbers sums may wrap.
    const TRIES: usize = 24;
    let row = |r: usize, c: usize| columns.get(c).map_or(0, |column| column[r] - column[0]);
    let fits = |factors: &[i128]| -> Option<i128> {
        if factors.iter().any(|k| k.abs() > FACTOR) {
            return None;
        }
        let at = |r: usize| factors.iter().zip(columns).map(|(k, c)| k * c[r]).sum::<i128>();
        let and = Const::bv(width, target[0] - at(0)).signed()?;
        let is_met = |r: usize| Const::bv(width, at(r) + and).signed() == Some(target[r]);
        (0..target.len()).all(is_met).then_some(and)
    };
    let rows = || 1..target.len().min(TRIES);
    if columns.len() == 1 {
        return rows().filter(|r| row(*r, 0) != 0).find_map(|r| {
            let factor = vec![divided(target[r] - target[0], row(r, 0))?];
            fits(&factor).map(|and| (factor, and))
        });
    }
    let two = |r: usize, s: usize| -> Option<Vec<i128>> {
        let ([a, b], [c, d]) = ([row(r, 0), row(r, 1)], [row(s, 0), row(s, 1)]);
        let determinant = a.checked_mul(d)?.checked_sub(b.checked_mul(c)?)?;
        let (p, q) = (target[r] - target[0], target[s] - target[0]);
        let x = divided(p.checked_mul(d)?.checked_sub(q.checked_mul(b)?)?, determinant)?;
        let y = divided(q.checked_mul(a)?.checked_sub(p.checked_mul(c)?)?, determinant)?;
        Some(vec![x, y])
    };
    rows().flat_map(|r| (r + 1..target.len().min(TRIES)).map(move |s| (r, s))).find_map(|(r, s)| {
        let factors = two(r, s)?;
        fits(&factors).map(|and| (factors, and))
    })
}

fn divided(a: i128, by: i128) -> Option<i128> {
    (by != 0 && a % by == 0).then(|| a / by)
}

impl FunctionAnalysis<'_> {
    /// The arrivals of some runs at the heads of two classes.
    pub(super) fn states_at_heads(&self, classes: [ClassId; 2]) -> States {
        let flows = classes.map(|c| &self.e.flow.classes[c]);
        let heads = [0, 1].map(|side| -> Vec<MvId> {
            let flow = flows[side];
            flow.rpo.iter().copied().filter(|n| flow.loop_at[n.0 as usize].is_some()).collect()
        });
        let is_alone = |flow: &crate::mvicfg::ClassFlow| {
            !flow
                .loops
                .iter()
                .any(|l| flow.loops.iter().any(|o| o.head != l.head && o.body.contains(&l.head)))
        };
        let mut states = States { flat: flows.iter().all(|f| is_alone(f)), ..States::default() };
        for side in 0..2 {
            let origin = |n: &MvId| self.task.graph.origin(*n, classes[side]);
            states.heads[side] = heads[side].iter().filter_map(origin).collect();
        }
        if heads.iter().any(Vec::is_empty) {
            return states;
        }
        let list = self.task.runs(classes[0], classes[1]);
        let stride = (list.len() / RUNS).max(1);
        for side in 0..2 {
            let class = classes[side];
            let Some(nodes) = self.written_nodes(class, &heads[side]) else { return states };
            let body = &self.task.graph.bodies[class];
            let mut by_head = vec![Vec::new(); nodes.len()];
            for (_, run) in
                list.iter().enumerate().filter(|(i, _)| *i < RUNS / 2 || i % stride == 0).take(RUNS)
            {
                let input = run.input_of(side == 0);
                for (k, node) in nodes.iter().enumerate() {
                    let mut arrivals: Vec<State> = Vec::new();
                    runs::watch(&self.task.programs[class], &body.name, &input, *node, &mut |state| {
                        let vars = (0..body.vars.len() as u32).map(VarId);
                        let is_scalar = |v: &VarId| body.var(*v).sort.is_some();
                        arrivals
                            .push(vars.map(|v| if is_scalar(&v) { state.value(v) } else { None }).collect());
                        match arrivals.len() == ARRIVALS {
                            true => ControlFlow::Break(()),
                            false => ControlFlow::Continue(()),
                        }
                    });
                    by_head[k].push(arrivals);
                }
            }
            states.arrivals[side] = by_head;
        }
        states
    }

    /// The nodes of the function as it is written that some heads are; `None` where one is a copy.
    fn written_nodes(&self, class: ClassId, heads: &[MvId]) -> Option<Vec<NodeId>> {
        let graph = self.task.graph;
        let written = self.task.units[class].function(&graph.bodies[class].name)?;
        let of =
            |head: &MvId| graph.origin(*head, class).filter(|node| (node.0 as usize) < written.nodes.len());
        heads.iter().map(of).collect()
    }
}
