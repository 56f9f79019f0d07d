//! Differences of one value: where versions compute different values that are equal but for one value of a
//! variable, that value is the condition, and what they compute there is what they do.
//!
//! Of an input on which the values differ the solver is asked whether they do for any other value of a variable
//! (`i == 255`, where `(unsigned char)(i + 1)` and `i + 1` differ).

use super::compare::Comparer;
use super::difference::Item;
use super::machine::{Literal, variable_leaf};
use crate::ir::eval::{Assignment, Fill, Value, evaluate};
use crate::ir::{App, Const, Op, Rebuilt, Sort, Term, TermId, TermPool, VarId, VarKind};
use crate::mvicfg::ClassId;
use crate::smt::{Decision, Truth};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ways in which numbers are filled in.
const FILLS: u64 = 8;
/// Variables that are tried.
const MAX_VARIABLES: usize = 3;

impl Comparer<'_> {
    /// Adds the condition under which the only values that differ do, if it is a value of a variable, and puts the
    /// value in its place elsewhere.
    pub(super) fn narrowed(
        &mut self,
        items: [Vec<Item>; 2],
        (mut literals, joint): (Vec<Literal>, TermId),
    ) -> ([Vec<Item>; 2], Vec<Literal>) {
        let literal = |term, node| Literal { term, class: ClassId::NEW, node, holds: true };
        let Some((a, b)) = only_values(&items) else {
            let sign = self.sign_of_call(&items, joint);
            literals.extend(sign.map(|sign| literal(sign, self.frontier)));
            return (items, literals);
        };
        let Some((leaf, value)) = self.only_input(a, b, joint) else {
            let sign = self.only_sign(a, b, joint);
            literals.extend(sign.map(|sign| literal(sign, self.frontier)));
            return (items, literals);
        };
        let value = self.pool.constant(value);
        let items = items.map(|list| list.into_iter().map(|i| self.under(i, leaf, value)).collect());
        let put = |l: Literal| Literal { term: self.put(l.term, leaf, value), ..l };
        let mut literals: Vec<Literal> = literals.into_iter().map(put).collect();
        literals.retain(|l| self.pool.as_const(l.term) != Some(Const::TRUE));
        let term = self.pool.eq(leaf, value);
        literals.push(literal(term, self.frontier));
        (items, literals)
    }

    /// As [`Comparer::only_sign`], of the one argument in which the only calls that differ do, if what else differs is
    /// made of what they give.
    fn sign_of_call(&mut self, items: &[Vec<Item>; 2], joint: TermId) -> Option<TermId> {
        let [[Item::Call(old), before @ ..], [Item::Call(new), now @ ..]] =
            [items[0].as_slice(), items[1].as_slice()]
        else {
            return None;
        };
        let follows = |pool: &mut TermPool, mine: &Item, theirs: &Item| {
            let Some((a, b)) = values(mine, theirs) else { return false };
            let Some((of_old, of_new)) = old.result.zip(new.result) else { return a == b };
            let put = |t: TermId| if t == of_new { Rebuilt::By(of_old) } else { Rebuilt::Kept };
            pool.rebuilt(b, &move |_, t| put(t)) == a
        };
        let all_follow = before.len() == now.len()
            && before.iter().zip(now).all(|(mine, theirs)| follows(&mut self.pool, mine, theirs));
        if !all_follow {
            return None;
        }
        let mut differing = old.args.iter().zip(&new.args).filter(|(a, b)| a != b);
        let is_pair = old.site == new.site && old.callee == new.callee && old.args.len() == new.args.len();
        let (&a, &b) = differing.next().filter(|_| is_pair)?;
        // Structures that are handed over are more than their addresses.
        let is_more = differing.next().is_some() || !old.copied.is_empty() || !new.copied.is_empty();
        let is_one = !is_more && self.pool.sort(a) == self.pool.sort(b);
        if is_one { self.only_sign(a, b, joint) } else { None }
    }

    /// A condition, and that the two values differ if these are all that does.
    pub(super) fn where_apart(&mut self, items: &[Vec<Item>; 2], joint: TermId) -> TermId {
        let Some((a, b)) = only_values(items) else { return joint };
        let same = self.pool.eq(a, b);
        let apart = self.pool.not(same);
        self.pool.and(joint, apart)
    }

    /// An input on which two values differ, where the solver says nothing of both: one on which the condition holds,
    /// with other numbers where nothing rests on them.
    pub(super) fn apart_on_data(&mut self, a: TermId, b: TermId, joint: TermId) -> Option<Assignment> {
        let never = self.pool.bool(false);
        let Truth::Fails(input) = self.decider.holds(&mut self.pool, joint, never) else { return None };
        (0..FILLS).find_map(|seed| {
            let input = input.clone().refilled(Fill::Varied { seed, palette: Arc::default() });
            let values = evaluate(&self.pool, &[joint, a, b], &input);
            let [Ok(Value::Const(Const::TRUE)), Ok(Value::Const(x)), Ok(Value::Const(y))] = &values[..]
            else {
                return None;
            };
            (x != y && !(x.is_nan() && y.is_nan())).then_some(input)
        })
    }

    fn put(&mut self, t: TermId, leaf: TermId, value: TermId) -> TermId {
        self.pool.rebuilt(t, &|_, t| if t == leaf { Rebuilt::By(value) } else { Rebuilt::Kept })
    }

    /// The variable and its value without which two values are equal.
    fn only_input(&mut self, a: TermId, b: TermId, joint: TermId) -> Option<(TermId, Const)> {
        let same = self.pool.eq(a, b);
        let Decision::Differ(input) = self.decider.equal(&mut self.pool, a, b, joint) else { return None };
        let leaves = self.few_variables(a, b)?;
        // What holds of every state here narrows nothing.
        let given = self.premises.conditions.clone();
        leaves.into_iter().find_map(|leaf| {
            let [Ok(Value::Const(value @ Const::Bv { .. }))] = evaluate(&self.pool, &[leaf], &input)[..]
            else {
                return None;
            };
            let constant = self.pool.constant(value);
            let is_it = self.pool.eq(leaf, constant);
            if given.contains(&is_it) {
                return None;
            }
            let goal = self.pool.or(same, is_it);
            matches!(self.decider.holds(&mut self.pool, joint, goal), Truth::Holds).then_some((leaf, value))
        })
    }

    /// That a variable is negative, without which two values are equal: it is signed in one version only, and an element
    /// or a sum of another width goes by it.
    fn only_sign(&mut self, a: TermId, b: TermId, joint: TermId) -> Option<TermId> {
        // What is read at one place is one value.
        let (a, b) = self.places(a, b).unwrap_or((a, b));
        if let Some(narrow) = self.extended_both_ways(a, b) {
            return self.is_negative(narrow);
        }
        let same = self.pool.eq(a, b);
        let given = self.premises.conditions.clone();
        let resigned: Vec<TermId> = self.resigned().collect();
        let leaves = self.few_variables(a, b)?;
        leaves.into_iter().filter(|leaf| resigned.contains(leaf)).find_map(|leaf| {
            let is_negative = self.is_negative(leaf)?;
            if given.contains(&is_negative) {
                return None;
            }
            let goal = self.pool.or(same, is_negative);
            matches!(self.decider.holds(&mut self.pool, joint, goal), Truth::Holds).then_some(is_negative)
        })
    }

    /// What is extended to two values, to one of them by its sign and to the other one without: they differ where it is
    /// negative.
    fn extended_both_ways(&self, a: TermId, b: TermId) -> Option<TermId> {
        let extended = |t: TermId| match self.pool.get(t) {
            Term::App(App::Op(op @ (Op::Sext(_) | Op::Zext(_))), of) => {
                of.first().map(|of| (*of, matches!(op, Op::Sext(_))))
            }
            _ => None,
        };
        let ((of, by_sign), (with, sign_of_other)) = extended(a).zip(extended(b))?;
        (of == with && by_sign != sign_of_other).then_some(of)
    }

    fn is_negative(&mut self, t: TermId) -> Option<TermId> {
        let Sort::Bv(width) = self.pool.sort(t) else { return None };
        let zero = self.pool.bv(width, 0);
        Some(self.pool.op(Op::Slt, &[t, zero]))
    }

    /// The variables that are signed in one version and not in the other.
    fn resigned(&self) -> impl Iterator<Item = TermId> + '_ {
        let [old, new] = ClassId::PAIR.map(|class| {
            let (names, body) = (&self.graph.var_map[class], &self.graph.bodies[class]);
            let signs = names.iter().zip(&body.vars).map(|(name, var)| (*name, var.ty.is_signed()));
            signs.collect::<BTreeMap<VarId, bool>>()
        });
        let is_other = move |(v, sign): &(VarId, bool)| new.get(v).is_some_and(|now| now != sign);
        let leaf = |(v, _)| self.pool.known_leaf(&variable_leaf(self.graph, v));
        old.into_iter().filter(is_other).filter_map(leaf)
    }

    /// The places at which two values are read in one memory, or that are made of what is, in the same way: values of
    /// equal places are equal.
    fn places(&self, a: TermId, b: TermId) -> Option<(TermId, TermId)> {
        let (Term::App(one, of), Term::App(other, with)) = (self.pool.get(a), self.pool.get(b)) else {
            return None;
        };
        if one != other || of.len() != with.len() {
            return None;
        }
        let mut differing = of.iter().zip(with).filter(|(x, y)| x != y);
        let (&x, &y) = differing.next()?;
        if differing.next().is_some() || self.pool.sort(x) != self.pool.sort(y) {
            return None;
        }
        match one {
            App::Load { .. } if self.pool.sort(x) != Sort::Mem => Some((x, y)),
            App::Op(_) => self.places(x, y),
            _ => None,
        }
    }

    /// The variables of the text that two values read, if they are few.
    fn few_variables(&mut self, a: TermId, b: TermId) -> Option<Vec<TermId>> {
        let read = self.pool.reachable(&[a, b]);
        let named = (0..self.graph.vars.len() as u32).map(VarId).filter(|v| {
            let var = &self.graph.vars[v.0 as usize];
            var.kind != VarKind::Temp && !var.in_memory && var.sort.is_some()
        });
        let leaves: Vec<TermId> = named
            .filter_map(|v| self.pool.known_leaf(&variable_leaf(self.graph, v)))
            .filter(|leaf| read.contains(leaf))
            .take(MAX_VARIABLES + 1)
            .collect();
        (leaves.len() <= MAX_VARIABLES).then_some(leaves)
    }

    fn under(&mut self, item: Item, leaf: TermId, value: TermId) -> Item {
        // What a version leaves as it is it does not set.
        if matches!(&item, Item::Variable(v, t) if *t == leaf && self.pool.known_leaf(&variable_leaf(self.graph, *v)) == Some(leaf))
        {
            return item;
        }
        let pool = &mut self.pool;
        let mut put =
            |t: TermId| pool.rebuilt(t, &|_, t| if t == leaf { Rebuilt::By(value) } else { Rebuilt::Kept });
        match item {
            Item::Variable(v, t) => Item::Variable(v, put(t)),
            Item::Return(t, node, memory) => Item::Return(t.map(&mut put), node, memory),
            Item::Write { address, bytes, value, node } => {
                Item::Write { address, bytes, value: put(value), node }
            }
            other => other,
        }
    }
}

/// The values of the only effect of both versions, which is the same but for them.
fn only_values(items: &[Vec<Item>; 2]) -> Option<(TermId, TermId)> {
    match [items[0].as_slice(), items[1].as_slice()] {
        [[old], [new]] => values(old, new),
        _ => None,
    }
}

/// The values of an effect of both versions.
fn values(old: &Item, new: &Item) -> Option<(TermId, TermId)> {
    match (old, new) {
        (Item::Variable(v, a), Item::Variable(w, b)) if v == w => Some((*a, *b)),
        (Item::Return(Some(a), ..), Item::Return(Some(b), ..)) => Some((*a, *b)),
        (
            Item::Write { address, bytes, value: a, .. },
            Item::Write { address: to, bytes: n, value: b, .. },
        ) if address == to && bytes == n => Some((*a, *b)),
        _ => None,
    }
}
