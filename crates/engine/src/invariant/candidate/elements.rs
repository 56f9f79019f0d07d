//! Facts about all elements of arrays that loops have passed: which are tried, and how they are proved.
//!
//! Where a loop reads or writes `a[i]`, an integer variable being the index, its body suggests what
//! may hold of the elements that it has passed: that they compare with another variable, with a
//! constant, with the same element of another array, with their neighbours, or with an element whose
//! index the loop keeps. There is no data for these; induction decides: of the element that the loop is
//! at, and of the others, which have no byte in common with it.

use crate::fact::Formula;
use crate::invariant::candidate::observed::Quantity;
use crate::invariant::candidate::observed::number;
use crate::invariant::candidate::polynomial::Equation;
use crate::invariant::candidate::quantified::{
    Comparison, Edge, Element, ForAll, MEMORY, Other, unknown_index,
};
use crate::invariant::candidate::templates::Candidate;
use crate::invariant::change::event;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::point::Point;
use crate::invariant::proof::abstraction;
use crate::invariant::proof::known::Known;
use crate::ir::{CType, Expr, Instr, Leaf, Op, Sort, TermId};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg};
use crate::semantics::c_text::{self, Named};
use crate::semantics::{Place, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};

/// Arrays of one loop, and candidates.
const MAX_ARRAYS: usize = 3;
const MAX_CANDIDATES: usize = 64;
/// Facts of loops that are tried at the exit.
const MAX_CARRIED: usize = 4;
/// Numbers that a function returns and that facts at its exit may depend on.
const MAX_RETURNED: usize = 3;

impl FunctionAnalysis<'_> {
    /// Adds memory to what is known at a point where a class has loops.
    pub(in crate::invariant) fn known_memory(
        &mut self,
        class: ClassId,
        point: &Point,
        known: &mut BTreeMap<String, Known>,
    ) {
        if self.e.flow.classes[class].loops.is_empty() {
            return;
        }
        let Some(&node) = point.nodes.get(&class) else { return };
        let single = ClassSet::single(class);
        let Some((_, val)) = self.e.before(Place::Memory, node, &single).into_iter().next() else { return };
        // What happened to it is no cause of a fact about elements.
        let val = Val { term: val.term, causes: Default::default(), guards: Default::default() };
        if let Some(k) = self.as_known(class, CType::Void, val) {
            known.insert(MEMORY.into(), k);
            self.quantities.insert(MEMORY.into(), Quantity::Memory);
        }
    }

    /// What the accesses of a loop suggest about the elements that it has passed.
    pub(in crate::invariant) fn quantified(
        &mut self,
        class: ClassId,
        point: &Point,
        known: &BTreeMap<String, Known>,
    ) -> BTreeSet<Candidate> {
        let mut found = BTreeSet::new();
        if !known.contains_key(MEMORY) {
            return found;
        }
        let Some(&head) = point.nodes.get(&class) else { return found };
        let indexed = self.indexed(class, head, known);
        let mut arrays: Vec<&Indexed> = Vec::new();
        for access in &indexed {
            let same = |a: &&Indexed| (&a.element, &a.index) == (&access.element, &access.index);
            if arrays.len() < MAX_ARRAYS && !arrays.iter().any(same) {
                arrays.push(access);
            }
        }
        for Indexed { element, index, .. } in arrays.iter().copied() {
            let others = self.others_of(class, head, known, (element, index), &indexed);
            for other in others {
                for (from, to) in self.ranges(class, head, known, index, &other) {
                    for comparison in Comparison::ALL {
                        if element.always_compares(comparison, &other) {
                            continue;
                        }
                        if found.len() < MAX_CANDIDATES {
                            found.insert(Candidate::ForAll(Box::new(ForAll {
                                given: None,
                                bound: index.clone(),
                                down: self.goes_down(class, head, index),
                                from: from.clone(),
                                to: to.clone(),
                                element: element.clone(),
                                comparison,
                                other: other.clone(),
                            })));
                        }
                    }
                }
            }
        }
        found
    }

    /// What the elements of an array may compare with.
    fn others_of(
        &mut self,
        class: ClassId,
        head: MvId,
        known: &BTreeMap<String, Known>,
        (element, index): (&Element, &String),
        indexed: &[Indexed],
    ) -> Vec<Other> {
        let compared = |(x, k): &(&String, &Known)| {
            *x != index && matches!(k.ty, CType::Int { .. }) && !x.starts_with("\\old")
        };
        let mut values: Vec<(&String, &Known)> = known.iter().filter(compared).collect();
        // What the loop changes may be made of the elements.
        values.sort_by_key(|(_, k)| self.is_given(k.as_term().0));
        let mut others: Vec<Other> = Vec::new();
        let accesses: Vec<&Indexed> = indexed.iter().filter(|a| a.element == *element).collect();
        if accesses.iter().any(|a| a.index == *index && a.plus != 0) {
            others.push(Other::Previous);
        }
        let at: BTreeSet<&String> = accesses.iter().filter(|a| a.plus == 0).map(|a| &a.index).collect();
        let written = self.is_written_in(head, class);
        others.extend(at.into_iter().filter(|x| *x != index || written).map(|x| Other::At(x.clone())));
        let elements: BTreeSet<&Element> = indexed.iter().map(|a| &a.element).collect();
        others.extend(elements.into_iter().filter(|e| *e > element).map(|e| Other::Element(e.clone())));
        others.push(Other::Constant(0));
        others.extend(self.constants_of(class, head, element).into_iter().map(Other::Constant));
        others.extend(values.into_iter().map(|(x, _)| Other::Value(x.clone())));
        others
    }

    /// Whether a loop of a class writes memory.
    fn is_written_in(&self, head: MvId, class: ClassId) -> bool {
        let flow = &self.e.flow.classes[class];
        let Some(l) = flow.loop_at[head.0 as usize] else { return false };
        let writes = |n: &MvId| matches!(self.task.graph.node(*n).instr, Instr::Store { .. });
        flow.loops[l].body.iter().any(writes)
    }

    /// The ranges of indices that a loop has passed: those before its index, or those after it.
    fn ranges(
        &mut self,
        class: ClassId,
        head: MvId,
        known: &BTreeMap<String, Known>,
        index: &str,
        other: &Other,
    ) -> Vec<(Edge, Edge)> {
        let first = self.first_value(class, head, known, index);
        if self.goes_down(class, head, index) {
            let Some(Edge { name: Some(last), plus: 0 }) = first else { return Vec::new() };
            return vec![
                (Edge::value(index, 1), Edge::value(&last, 1)),
                (Edge::value(index, 0), Edge::value(&last, 0)),
            ];
        }
        let to = Edge::value(index, 0);
        if *other == Other::Previous {
            return vec![(Edge::constant(1), to), (Edge::constant(1), Edge::value(index, 1))];
        }
        let named = first.clone().filter(|e| e.name.is_some());
        let lows: BTreeSet<i128> =
            first.iter().filter(|e| e.name.is_none()).map(|e| e.plus).chain([0]).collect();
        match named {
            Some(low) => vec![(low, to)],
            None => lows.into_iter().map(|low| (Edge::constant(low), to.clone())).collect(),
        }
    }

    /// Whether every way through a loop makes a variable smaller by a constant.
    fn goes_down(&mut self, class: ClassId, head: MvId, name: &str) -> bool {
        let Some(place) = self.place(class, name) else { return false };
        let (flow, single) = (&self.e.flow.classes[class], ClassSet::single(class));
        let back: Vec<MvId> = flow.preds[head.0 as usize]
            .iter()
            .filter(|(p, _)| flow.is_back_edge(*p, head))
            .map(|(p, _)| *p)
            .collect();
        let steps = back.into_iter().map(|latch| {
            let (_, after) = self.e.after(place, latch, &single).into_iter().next()?;
            let &[_, step] = self.e.pool.as_op(after.term, Op::Add)? else { return None };
            self.e.pool.as_const(step)?.signed()
        });
        let steps: Option<Vec<i128>> = steps.collect();
        steps.is_some_and(|s| !s.is_empty() && s.iter().all(|k| *k < 0))
    }

    /// Constants that a loop stores or compares, as numbers of an element's type.
    fn constants_of(&self, class: ClassId, head: MvId, element: &Element) -> BTreeSet<i128> {
        const MOST: usize = 3;
        let flow = &self.e.flow.classes[class];
        let mut found = BTreeSet::new();
        let Some(l) = flow.loop_at[head.0 as usize] else { return found };
        for &node in &flow.loops[l].body {
            let mut add = |e: &Expr| {
                let Expr::Const(c) = e else { return };
                found.extend(element.number_of(*c).filter(|k| *k != 0));
            };
            match &self.task.graph.node(node).instr {
                Instr::Store { value, .. } => value.for_each(&mut add),
                Instr::Branch { cond } => cond.for_each(&mut |e| {
                    if let Expr::Op { op: Op::Eq | Op::Slt | Op::Sle | Op::Ult | Op::Ule, args, .. } = e {
                        args.iter().for_each(&mut add);
                    }
                }),
                _ => {}
            }
        }
        found.into_iter().take(MOST).collect()
    }

    /// The constant, or the given value, that a variable is when control first comes to a loop.
    fn first_value(
        &mut self,
        class: ClassId,
        head: MvId,
        known: &BTreeMap<String, Known>,
        name: &str,
    ) -> Option<Edge> {
        let place = self.place(class, name)?;
        let single = ClassSet::single(class);
        let (_, first) = self.e.on_first_arrival(place, head, &single).into_iter().next()?;
        if let Some(c) = self.e.pool.as_const(first.term) {
            return c.signed().map(Edge::constant);
        }
        let same = |(_, k): &(&String, &Known)| k.as_term().0 == first.term && self.is_given(first.term);
        known.iter().find(same).map(|(x, _)| Edge::value(x, 0))
    }

    /// The elements that a loop accesses by an integer variable, with the variable.
    fn indexed(&mut self, class: ClassId, head: MvId, known: &BTreeMap<String, Known>) -> Vec<Indexed> {
        let graph = self.task.graph;
        let flow = &self.e.flow.classes[class];
        let Some(l) = flow.loop_at[head.0 as usize] else { return Vec::new() };
        let nodes: Vec<_> = flow.loops[l].body.iter().copied().collect();
        let single = ClassSet::single(class);
        let indices: Vec<(String, TermId, bool)> = known
            .iter()
            .filter(|(x, k)| matches!(k.ty, CType::Int { .. }) && !x.contains(['\\', '>', '.', '*']))
            .map(|(x, k)| (x.clone(), k.as_term().0, k.ty.is_signed()))
            .collect();
        let mut found = Vec::new();
        for node in nodes {
            let (Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. }) =
                &graph.node(node).instr
            else {
                continue;
            };
            let Sort::Bv(_) = access.sort else { continue };
            let Some((_, at)) = self.e.expr(addr, node, &single).into_iter().next() else { continue };
            let (at, _) = self.separated(class, at.term);
            let at = self.cut(at);
            let Some(extent) = c_text::extent(&self.e.pool, at, access.bytes, &self.namings[class]) else {
                continue;
            };
            let (signed, bytes, sort) = (access.ty.is_signed(), access.bytes, access.sort);
            for (x, index, is_signed) in &indices {
                let Some(plus) = self.distance(&extent.base, (bytes, at), (*index, *is_signed)) else {
                    continue;
                };
                let blank =
                    Element { start: extent.base, bytes, sort, signed, text: String::new(), is_char: false };
                let index_sort = self.e.pool.sort(*index);
                if let Some((text, is_char)) = self.element_text(class, &blank, *is_signed, index_sort) {
                    let element = Element { text, is_char, ..blank };
                    found.push(Indexed { element, index: x.clone(), plus });
                }
            }
        }
        found
    }

    /// How far an address is from the element at an index: none, or one before or after it.
    fn distance(
        &mut self,
        start: &TermId,
        (bytes, at): (u64, TermId),
        (index, signed): (TermId, bool),
    ) -> Option<i128> {
        let bits = self.task.pointer_bits;
        let width = self.e.pool.sort(index).bits()?;
        let element =
            Element { start: *start, bytes, sort: Sort::Bv(8), signed, text: String::new(), is_char: false };
        [0, -1, 1].into_iter().find(|plus| {
            let pool = &mut self.e.pool;
            let k = pool.bv(width, *plus);
            let moved = pool.op(Op::Add, &[index, k]);
            element.address(pool, moved, signed, bits) == Some(at)
        })
    }

    /// `a[k]`, where the array has a name.
    fn element_text(
        &mut self,
        class: ClassId,
        e: &Element,
        signed: bool,
        index: Sort,
    ) -> Option<(String, bool)> {
        let k = self.e.pool.leaf(Leaf::Param { name: "\\element".into(), sort: index });
        let at = e.address(&mut self.e.pool, k, signed, self.task.pointer_bits)?;
        let mut naming = self.namings.get(class.index())?.clone();
        let bits = index.bits()?;
        let ty = CType::Int { bits, signed, name: "".into() };
        naming.names_mut().insert(k, Named { text: "k".into(), ty });
        let named = c_text::render_lvalue(&self.e.pool, at, e.sort, e.bytes, &naming)?;
        let CType::Int { name, .. } = &named.ty else { return None };
        let is_char = **name == *"char";
        self.is_readable(&Formula::read(named.text.as_str())).then_some((named.text, is_char))
    }

    /// What loops' facts about elements suggest at the exit: other bounds and other values.
    pub(in crate::invariant) fn quantified_at_exit(
        &mut self,
        class: ClassId,
        known: &BTreeMap<String, Known>,
    ) -> BTreeSet<Candidate> {
        self.find_inductive();
        let mut proved: Vec<ForAll> = Vec::new();
        for (_, standings) in self.inductive.iter().flat_map(|i| &i.heads) {
            for (candidate, standing) in standings {
                if let (Candidate::ForAll(f), true) = (candidate, standing.contains_key(&class)) {
                    proved.push((**f).clone());
                }
            }
        }
        let numbers: Vec<&String> = known
            .iter()
            .filter(|(x, k)| matches!(k.ty, CType::Int { .. }) && !x.contains(['>', '.', '*']))
            .map(|(x, _)| x)
            .collect();
        // What follows from others need not be asked again.
        let weaker = |f: &ForAll| proved.iter().any(|other| other.is_tighter_than(f));
        let proved: Vec<ForAll> = proved.iter().filter(|f| !weaker(f)).cloned().collect();
        let (returned, is_flag) = self.numbers_returned(known);
        let mut found = BTreeSet::new();
        for f in proved.into_iter().take(MAX_CARRIED) {
            for bound in numbers.iter().filter(|x| !is_flag || **x != "\\result").take(6) {
                let f = moved_to(&f, bound);
                let is_given = known.get(*bound).is_some_and(|k| self.is_given(k.as_term().0));
                for f in [Some(f.clone()), of_result(&f)].into_iter().flatten() {
                    let numbers = f.numbers();
                    if !numbers.iter().all(|x| known.contains_key(*x)) {
                        continue;
                    }
                    if is_given && !numbers.contains(&"\\result") {
                        found.extend(returned.iter().map(|c| ForAll { given: Some(*c), ..f.clone() }));
                    }
                    found.insert(f);
                }
            }
        }
        let elements = found.into_iter().take(MAX_CANDIDATES).map(|f| Candidate::ForAll(Box::new(f)));
        elements.chain(self.equations_at_exit(class, known)).collect()
    }

    /// Equations that loops keep, of what has their variables' values at the exit. Runs that get there may
    /// be too few to suggest them.
    fn equations_at_exit(&mut self, class: ClassId, known: &BTreeMap<String, Known>) -> Vec<Candidate> {
        let mut kept: Vec<(MvId, Equation)> = Vec::new();
        for (point, standings) in self.inductive.iter().flat_map(|i| &i.heads) {
            let Some(&head) = point.nodes.get(&class) else { continue };
            for (candidate, standing) in standings {
                if let (Candidate::Equation(e), true) = (candidate, standing.contains_key(&class)) {
                    kept.push((head, e.clone()));
                }
            }
        }
        let mut found = Vec::new();
        for (head, equation) in kept.into_iter().take(MAX_CARRIED) {
            let names: BTreeMap<String, String> = equation
                .variables()
                .into_iter()
                .filter_map(|x| Some((x.to_owned(), self.name_at_exit(class, head, x, known)?)))
                .collect();
            let renamed = equation.renamed(&|x| names.get(x).cloned());
            found.extend(renamed.map(Candidate::Equation));
        }
        found
    }

    /// What has the value at the exit that a variable has on the last arrival at a loop; what callers see
    /// first.
    fn name_at_exit(
        &mut self,
        class: ClassId,
        head: MvId,
        name: &str,
        known: &BTreeMap<String, Known>,
    ) -> Option<String> {
        let place = self.place(class, name)?;
        let single = ClassSet::single(class);
        let (_, value) = self.e.before(place, head, &single).into_iter().next()?;
        let value = self.cut(value.term);
        let same = known.iter().filter(|(_, k)| k.as_term().0 == value).map(|(x, _)| x);
        let rank = |x: &&String| (!x.contains(['*', '>', '[', '\\']), x.starts_with("\\old"));
        same.min_by_key(rank).cloned()
    }

    /// Proves a fact about elements: of the one that the loop is at, and of the others. `next`: what the
    /// moving end is on the next arrival; `index`: where the loop is. Indices are narrower than addresses
    /// or do not wrap, so that elements of different indices have no byte in common.
    pub(in crate::invariant) fn shows_for_all(
        &mut self,
        class: ClassId,
        f: &ForAll,
        under: TermId,
        goal: TermId,
        (next, index): (TermId, Option<TermId>),
    ) -> bool {
        let (goal, used) = self.separated(class, goal);
        let goal = self.cut(goal);
        self.elements_assumed.extend(used);
        let Some(index) = index else { return false };
        let bits = self.task.pointer_bits;
        let moving = f.moving();
        let sort = self.e.pool.sort(next);
        let width = sort.bits().unwrap_or(u16::MAX);
        let k = unknown_index(&mut self.e.pool, sort);
        if let Some(few) = self.few_indices(f, next) {
            return few.into_iter().all(|i| {
                let i = self.e.pool.bv(width, i);
                self.holds_at(under, goal, k, i)
            });
        }
        if width > bits {
            return self.holds_of_elements(under, goal);
        }
        // What this round adds to the range.
        let plus = if f.down { moving.plus - 1 } else { moving.plus };
        let plus = self.e.pool.bv(width, plus);
        let index = self.e.pool.op(Op::Add, &[index, plus]);
        if !self.holds_at(under, goal, k, index) {
            return false;
        }
        let mut others = vec![index];
        // What is in the range is not where an end is that does not belong to it.
        others.extend(f.is_open().then_some(next));
        let elsewhere = f.apart_from(&mut self.e.pool, goal, k, &others);
        let same = self.e.pool.eq(k, index);
        let not_here = self.e.pool.not(same);
        let under = self.e.pool.and(under, not_here);
        self.holds_of_elements(under, elsewhere)
    }

    /// Asks about the element at one index.
    fn holds_at(&mut self, under: TermId, goal: TermId, k: TermId, index: TermId) -> bool {
        let pool = &mut self.e.pool;
        let (under, goal) =
            (abstraction::replaced(pool, under, k, index), abstraction::replaced(pool, goal, k, index));
        self.holds_of_elements(under, goal)
    }

    fn holds_of_elements(&mut self, under: TermId, goal: TermId) -> bool {
        let pool = &mut self.e.pool;
        let (under, goal) = (abstraction::without_loads(pool, under), abstraction::without_loads(pool, goal));
        let (under, goal) =
            (abstraction::ordered(pool, under, under), abstraction::ordered(pool, goal, under));
        matches!(self.deciders.elements.holds(pool, under, goal), smt::Truth::Holds)
    }

    /// The indices of a range whose ends are small numbers; the moving one is `next`.
    fn few_indices(&self, f: &ForAll, next: TermId) -> Option<Vec<i128>> {
        const MOST: i128 = 3;
        let next = self.e.pool.as_const(next)?.signed()?;
        let end = |e: &Edge| match &e.name {
            Some(x) => (*x == f.bound).then_some(next + e.plus),
            None => Some(e.plus),
        };
        let (from, to) = (end(&f.from)?, end(&f.to)?);
        (from..=from + MOST).contains(&to).then(|| (from..to).collect())
    }

    /// A few constants that a class may return, and whether it returns nothing else.
    fn numbers_returned(&mut self, known: &BTreeMap<String, Known>) -> (Vec<i128>, bool) {
        let nothing = (Vec::new(), false);
        let Some(result) = known.get("\\result").filter(|k| matches!(k.ty, CType::Int { .. })) else {
            return nothing;
        };
        let (term, ty) = result.as_term();
        let Some(cases) = event::cases(&mut self.e.pool, term) else { return nothing };
        let is_flag = cases.iter().all(|c| self.e.pool.as_const(c.what).is_some());
        let numbers = cases.iter().filter_map(|c| number(self.e.pool.as_const(c.what)?, &ty));
        let numbers: BTreeSet<i128> = numbers.collect();
        (numbers.into_iter().take(MAX_RETURNED).collect(), is_flag)
    }

    /// Whether the exit is the point in question, of a class with loops.
    pub(in crate::invariant) fn has_passed_loops(&self, class: ClassId, point: &Point) -> bool {
        point.nodes.get(&class) == Some(&Mvicfg::EXIT) && !self.e.flow.classes[class].loops.is_empty()
    }
}

/// An element that a loop accesses: the one `plus` beyond that at an index.
struct Indexed {
    element: Element,
    index: String,
    plus: i128,
}

/// The fact of a range that ends at a bound instead of where the loop is.
fn moved_to(f: &ForAll, bound: &str) -> ForAll {
    let mut f = f.clone();
    if !f.down {
        f.to.name = Some(bound.into());
        f.bound = bound.into();
    }
    f
}

/// The fact with the result in place of a variable that elements are compared with, or are found by.
fn of_result(f: &ForAll) -> Option<ForAll> {
    let result = || "\\result".to_owned();
    let other = match &f.other {
        Other::Value(_) => Other::Value(result()),
        Other::At(_) => Other::At(result()),
        _ => return None,
    };
    Some(ForAll { other, ..f.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::TermPool;

    fn fact(other: Other, down: bool) -> ForAll {
        let start = TermPool::new().bv(64, 0);
        let element = Element {
            start,
            bytes: 4,
            sort: Sort::Bv(32),
            signed: true,
            text: "a[k]".into(),
            is_char: false,
        };
        let (from, to) = (Edge::constant(0), Edge::value("i", 0));
        ForAll {
            given: None,
            bound: "i".into(),
            down,
            from,
            to,
            element,
            comparison: Comparison::AtMost,
            other,
        }
    }

    #[test]
    fn a_range_that_grows_upwards_ends_at_another_bound() {
        let moved = moved_to(&fact(Other::Constant(1), false), "n");
        assert_eq!(moved.text(), "\\forall integer k; 0 <= k && k < n ==> a[k] <= 1");
        assert_eq!(moved.bound, "n");
        let down = fact(Other::Constant(1), true);
        assert_eq!(moved_to(&down, "n"), down);
    }

    #[test]
    fn the_result_takes_the_place_of_a_variable_only() {
        let of = |other| of_result(&fact(other, false)).map(|f| f.other);
        assert_eq!(of(Other::Value("m".into())), Some(Other::Value("\\result".into())));
        assert_eq!(of(Other::At("best".into())), Some(Other::At("\\result".into())));
        assert_eq!(of(Other::Constant(1)), None);
        assert_eq!(of(Other::Previous), None);
    }
}
