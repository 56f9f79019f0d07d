//! The relation of the states of two classes at their heads, and the induction that keeps it: over the arrivals at all
//! heads of both, in step.
//!
//! A place that a loop writes has an unknown value at its head: at the current arrival while the loop runs, at the last
//! one behind it. The relation says what each such value of the newer class is, in unknowns of the older one; it is put
//! in the place of the value, so that what is left to compare is equal as it stands or speaks of numbers alone. The
//! unknowns of a head that was not reached may be anything: no value rests on them that is computed then, so the
//! relation may be taken to hold there, too.

use super::alike::Alike;
use super::guess::{States, Sum};
use super::variants::Variant;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable;
use crate::ir::{App, CType, Instr, LOOP_VALUE, Leaf, Op, Rebuilt, Sort, Term, TermId, Uf, VarId};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg};
use crate::semantics::{Part, Place, Val};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A head of one class.
struct Head {
    node: MvId,
    /// The loop around it, by its order.
    parent: Option<usize>,
    /// The condition of a first arrival, and of another arrival behind one.
    reach: TermId,
    again: TermId,
    /// By place that the loop writes: its value at the head, on a first arrival, and on the next one.
    here: BTreeMap<Place, TermId>,
    first: BTreeMap<Place, TermId>,
    next: BTreeMap<Place, TermId>,
}

/// What a place of the newer class may be, the likeliest first.
type Choices = BTreeMap<(usize, Place), Vec<TermId>>;

/// Two classes with their heads in pairs.
pub(super) struct Coupling<'e, 't> {
    engine: &'e mut FunctionAnalysis<'t>,
    sides: [Vec<Head>; 2],
    /// By class: the terms of values at heads, and what stands for them.
    unknowns: [FxHashMap<TermId, TermId>; 2],
    alike: Alike,
    /// What the loops of the older class keep, once it is asked for.
    facts: TermId,
}

fn only(part: Part<Val>) -> Option<TermId> {
    part.into_iter().next().map(|(_, v)| v.term)
}

impl<'e, 't> Coupling<'e, 't> {
    /// Pairs the loops of the classes 0 and 1; `None` where they are not as many, or nested otherwise.
    pub(super) fn of(engine: &'e mut FunctionAnalysis<'t>) -> Option<Coupling<'e, 't>> {
        let mut unknowns = [FxHashMap::default(), FxHashMap::default()];
        let mut sides = [Vec::new(), Vec::new()];
        for class in ClassId::PAIR {
            let (heads, known) = heads(engine, class)?;
            sides[class] = heads;
            unknowns[class] = known;
        }
        let shape = |side: &Vec<Head>| side.iter().map(|h| h.parent).collect::<Vec<_>>();
        let facts = engine.e.pool.bool(true);
        (shape(&sides[0]) == shape(&sides[1])).then(|| Coupling {
            engine,
            sides,
            unknowns,
            alike: Alike::default(),
            facts,
        })
    }

    /// Whether the classes go in step, and callers see the same of both.
    pub(super) fn holds(mut self, states: &States, variant: &Variant) -> bool {
        for class in ClassId::PAIR {
            self.put_unknowns(class);
        }
        if self.is_shown(states, variant) {
            return true;
        }
        // The sort of what loops keep that is worth its cost where something is missing.
        self.facts = self.engine.loop_facts(ClassId::OLD);
        self.alike = Alike::default();
        self.engine.e.pool.as_const(self.facts).is_none() && self.is_shown(states, variant)
    }

    fn is_shown(&mut self, states: &States, variant: &Variant) -> bool {
        let mut choices = self.choices(states, variant);
        loop {
            let relation = self.relation(&choices);
            let pairs: Vec<(usize, Place)> = choices.keys().copied().collect();
            let mut changed = false;
            for (k, place) in pairs {
                let Some(&is) = choices.get(&(k, place)).and_then(|c| c.first()) else { continue };
                if !self.is_kept(k, place, is, &relation) {
                    if let Some(left) = choices.get_mut(&(k, place)) {
                        left.remove(0);
                    }
                    changed = true;
                }
            }
            if self.alike.is_exhausted() {
                return false;
            }
            if !changed {
                return self.goes_in_step(&relation) && self.ends_alike(&relation);
            }
        }
    }

    /// Puts the unknowns of a class in the place of what loops compute.
    fn put_unknowns(&mut self, class: ClassId) {
        let known = std::mem::take(&mut self.unknowns[class]);
        let mut heads = std::mem::take(&mut self.sides[class]);
        for head in &mut heads {
            for t in [&mut head.reach, &mut head.again] {
                *t = self.replaced(*t, &known);
            }
            for values in [&mut head.here, &mut head.first, &mut head.next] {
                for t in values.values_mut() {
                    *t = self.replaced(*t, &known);
                }
            }
        }
        self.sides[class] = heads;
        self.unknowns[class] = known;
    }

    fn replaced(&mut self, term: TermId, by: &FxHashMap<TermId, TermId>) -> TermId {
        self.engine.e.pool.rebuilt(term, &|_, t| by.get(&t).map_or(Rebuilt::Kept, |b| Rebuilt::By(*b)))
    }

    /// What each place of the newer class may be.
    fn choices(&mut self, states: &States, variant: &Variant) -> Choices {
        let mut choices = Choices::new();
        for k in 0..self.sides[1].len() {
            let places: Vec<(Place, TermId)> = self.sides[1][k].here.iter().map(|(p, t)| (*p, *t)).collect();
            for (place, unknown) in places {
                let mut found = match place {
                    Place::Var(v) => self.observed(states, variant, k, v).unwrap_or_default(),
                    _ => Vec::new(),
                };
                if found.is_empty() {
                    found.extend(self.older(k, place));
                    found.extend(self.begun_alike(k, place));
                }
                let sort = self.engine.e.pool.sort(unknown);
                found.retain(|t| self.engine.e.pool.sort(*t) == sort);
                choices.insert((k, place), found);
            }
        }
        choices
    }

    /// What a variable of the newer class is in all runs that come to a head, itself first; `None`: no run does.
    fn observed(&mut self, states: &States, variant: &Variant, k: usize, var: VarId) -> Option<Vec<TermId>> {
        let graph = self.engine.task.graph;
        let local = |class: ClassId, v: VarId| graph.var_map[class].iter().position(|m| *m == v);
        let newer = VarId(local(ClassId::NEW, var)? as u32);
        let sort = graph.vars[var.0 as usize].sort;
        let older = &graph.bodies[0];
        let is_candidate = |v: &VarId| older.var(*v).sort == sort;
        let mut candidates: Vec<VarId> =
            (0..older.vars.len() as u32).map(VarId).filter(is_candidate).collect();
        let written = |v: &VarId| {
            let place = Place::Var(graph.var_map[0][v.0 as usize]);
            self.sides[0][k].here.contains_key(&place)
        };
        // The variable itself, then what the loop writes, then others.
        candidates.sort_by_key(|v| (local(ClassId::OLD, var) != Some(v.0 as usize), !written(v)));
        let sums = states.sums(k, variant, newer, &candidates)?;
        Some(sums.into_iter().filter_map(|sum| self.sum(k, &sum)).collect())
    }

    /// A sum of values of the older class at a head.
    fn sum(&mut self, k: usize, sum: &Sum) -> Option<TermId> {
        let mut all: Option<TermId> = None;
        for (factor, v) in &sum.of {
            let merged = *self.engine.task.graph.var_map[0].get(v.0 as usize)?;
            let place = self.engine.e.places.of_var(merged);
            let value = self.older(k, place)?;
            let pool = &mut self.engine.e.pool;
            let value = match (factor, pool.sort(value)) {
                (1, _) => value,
                (_, Sort::Bv(width)) => {
                    let factor = pool.bv(width, *factor);
                    pool.op(Op::Mul, &[value, factor])
                }
                _ => return None,
            };
            all = Some(match all {
                Some(before) => pool.op(Op::Add, &[before, value]),
                None => value,
            });
        }
        let pool = &mut self.engine.e.pool;
        match (all?, pool.sort(all?)) {
            (all, Sort::Bv(width)) if sum.and != 0 => {
                let and = pool.bv(width, sum.and);
                Some(pool.op(Op::Add, &[all, and]))
            }
            (all, _) => Some(all),
        }
    }

    /// The places of the older class that begin as one of the newer does.
    fn begun_alike(&self, k: usize, place: Place) -> Vec<TermId> {
        let [old, new] = ClassId::PAIR.map(|class| &self.sides[class][k]);
        let begins = new.first.get(&place);
        let alike = old.first.iter().filter(|(_, t)| Some(*t) == begins);
        alike.filter_map(|(p, _)| old.here.get(p)).copied().collect()
    }

    /// The value of a place at a head of the older class, if it has the place.
    fn older(&mut self, k: usize, place: Place) -> Option<TermId> {
        let head = &self.sides[0][k];
        if let Some(t) = head.here.get(&place) {
            return Some(*t);
        }
        if let Place::Var(v) = place
            && !self.engine.task.graph.var_map[0].contains(&v)
        {
            return None;
        }
        let node = head.node;
        let t = only(self.engine.e.before(place, node, &ClassSet::single(ClassId::OLD)))?;
        let known = self.unknowns[0].clone();
        Some(self.replaced(t, &known))
    }

    /// What stands for the unknowns of the newer class.
    fn relation(&self, choices: &Choices) -> FxHashMap<TermId, TermId> {
        let chosen = choices.iter().filter_map(|((k, place), c)| {
            let unknown = self.sides[1].get(*k)?.here.get(place)?;
            Some((*unknown, *c.first()?))
        });
        chosen.collect()
    }

    /// Whether a place of the newer class is what it is said to be, at every arrival.
    fn is_kept(&mut self, k: usize, place: Place, is: TermId, relation: &FxHashMap<TermId, TermId>) -> bool {
        let [old, new] = ClassId::PAIR.map(|class| &self.sides[class][k]);
        let (reach, again) = (old.reach, old.again);
        let pairs = |values: &BTreeMap<Place, TermId>| -> FxHashMap<TermId, TermId> {
            old.here.iter().filter_map(|(p, unknown)| Some((*unknown, *values.get(p)?))).collect()
        };
        let (at_first, at_next) = (pairs(&old.first), pairs(&old.next));
        let (Some(&first), Some(&next)) = (new.first.get(&place), new.next.get(&place)) else { return false };
        let (first, next) = (self.replaced(first, relation), self.replaced(next, relation));
        let expected = self.replaced(is, &at_first);
        if !self.same(first, expected, reach) {
            return false;
        }
        let expected = self.replaced(is, &at_next);
        let under = self.engine.e.pool.and(reach, again);
        self.same(next, expected, under)
    }

    fn same(&mut self, a: TermId, b: TermId, under: TermId) -> bool {
        let under = self.engine.e.pool.and(under, self.facts);
        let FunctionAnalysis { e, deciders, .. } = &mut *self.engine;
        if e.rests_on_havoc(a) || e.rests_on_havoc(b) || e.rests_on_havoc(under) {
            return false;
        }
        self.alike.are(&mut e.pool, &mut deciders.lemmas, (a, b), under)
    }

    /// Whether both classes come to their heads, and back, in step.
    fn goes_in_step(&mut self, relation: &FxHashMap<TermId, TermId>) -> bool {
        (0..self.sides[0].len()).all(|k| {
            let [old, new] =
                ClassId::PAIR.map(|class| (self.sides[class][k].reach, self.sides[class][k].again));
            let always = self.engine.e.pool.bool(true);
            let reach = self.replaced(new.0, relation);
            let again = self.replaced(new.1, relation);
            self.same(old.0, reach, always) && self.same(old.1, again, old.0)
        })
    }

    /// Whether callers see the same: at the exit, and at each other end.
    fn ends_alike(&mut self, relation: &FxHashMap<TermId, TermId>) -> bool {
        let ends = ClassId::PAIR.map(|class| observable::abnormal_ends(&self.engine.e, class));
        if ends[0].len() != ends[1].len() {
            return false;
        }
        let mut pairs: Vec<[MvId; 2]> = vec![[Mvicfg::EXIT; 2]];
        pairs.extend(ends[0].iter().zip(&ends[1]).map(|(a, b)| [*a, *b]));
        pairs.into_iter().all(|nodes| self.are_alike_at(nodes, relation))
    }

    fn are_alike_at(&mut self, nodes: [MvId; 2], relation: &FxHashMap<TermId, TermId>) -> bool {
        let is_exit = nodes[0] == Mvicfg::EXIT;
        // An exit that no way leads to.
        let comes = |class: ClassId| {
            let preds = &self.engine.e.flow.classes[class].preds;
            !preds[nodes[class].0 as usize].is_empty()
        };
        if comes(ClassId::OLD) != comes(ClassId::NEW) {
            return false;
        }
        if !comes(ClassId::OLD) {
            return true;
        }
        let mut places = vec![Place::Memory, Place::Out, Place::Stdin, Place::World];
        if is_exit && !matches!(self.engine.task.graph.bodies[0].ret, CType::Void) {
            places.push(Place::Result);
        }
        let Some([reach, others]) = self.of_both(relation, |engine, class| {
            only(engine.e.reach_from_entry(nodes[class], &ClassSet::single(class)))
        }) else {
            return false;
        };
        let always = self.engine.e.pool.bool(true);
        if !self.same(reach, others, always) {
            return false;
        }
        let mut pairs = Vec::new();
        for place in places {
            let Some(pair) = self.of_both(relation, |engine, class| {
                only(engine.e.before(place, nodes[class], &ClassSet::single(class)))
            }) else {
                return false;
            };
            pairs.push(pair);
        }
        if !is_exit {
            let Some(arguments) = self.arguments(nodes, relation) else { return false };
            pairs.extend(arguments);
        }
        pairs.into_iter().all(|[a, b]| self.same(a, b, reach))
    }

    /// The arguments of two calls that do not return, where they are of one function.
    fn arguments(
        &mut self,
        nodes: [MvId; 2],
        relation: &FxHashMap<TermId, TermId>,
    ) -> Option<Vec<[TermId; 2]>> {
        let graph = self.engine.task.graph;
        let [a, b] = nodes.map(|n| match &graph.node(n).instr {
            Instr::Call { callee, args, .. } => Some((callee, args)),
            _ => None,
        });
        let (a, b) = (a?, b?);
        if a.0 != b.0 || a.1.len() != b.1.len() {
            return None;
        }
        (0..a.1.len())
            .map(|i| {
                self.of_both(relation, |engine, class| {
                    let args = if class == ClassId::OLD { a.1 } else { b.1 };
                    only(engine.e.expr(args.get(i)?, nodes[class], &ClassSet::single(class)))
                })
            })
            .collect()
    }

    /// A term of each class, with the older one's unknowns alone.
    fn of_both(
        &mut self,
        relation: &FxHashMap<TermId, TermId>,
        of: impl Fn(&mut FunctionAnalysis, ClassId) -> Option<TermId>,
    ) -> Option<[TermId; 2]> {
        let mut found = [None; 2];
        for class in ClassId::PAIR {
            let t = of(self.engine, class)?;
            let known = self.unknowns[class].clone();
            let t = self.replaced(t, &known);
            found[class] = Some(if class == ClassId::NEW { self.replaced(t, relation) } else { t });
        }
        let [Some(a), Some(b)] = found else { return None };
        Some([a, b])
    }
}

type Found = (Vec<Head>, FxHashMap<TermId, TermId>);

/// The heads of a class in their order, and what stands for the values there.
fn heads(engine: &mut FunctionAnalysis, class: ClassId) -> Option<Found> {
    let flow = &engine.e.flow.classes[class];
    let nodes: Vec<MvId> =
        flow.rpo.iter().copied().filter(|n| flow.loop_at[n.0 as usize].is_some()).collect();
    let single = ClassSet::single(class);
    let (mut heads, mut unknowns) = (Vec::new(), FxHashMap::default());
    for (k, &node) in nodes.iter().enumerate() {
        let around = flow.loops.iter().filter(|l| l.head != node && l.body.contains(&node));
        let parent =
            around.min_by_key(|l| l.body.len()).and_then(|l| nodes.iter().position(|n| *n == l.head));
        let latches: Vec<(MvId, u8)> = flow.preds[node.0 as usize]
            .iter()
            .copied()
            .filter(|&(p, _)| flow.is_back_edge(p, node))
            .collect();
        let reach = only(engine.e.reach_from_entry(node, &single))?;
        let mut ways = Vec::new();
        for &(latch, label) in &latches {
            ways.push(only(engine.e.reach_along(latch, label, node, &single))?);
        }
        let never = engine.e.pool.bool(false);
        let again = ways.iter().fold(never, |any, w| engine.e.pool.or(any, *w));
        let (mut here, mut first, mut next) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for place in engine.e.loop_places(class, node) {
            let value = only(engine.e.before(place, node, &single))?;
            if !matches!(engine.e.pool.get(value), Term::App(App::Uf(Uf::Loop { .. }), _)) {
                return None;
            }
            // What is known of the older class's loops speaks of the values as they are cut.
            let unknown = match class {
                ClassId::OLD => engine.cut(value),
                _ => {
                    let name = format!("{LOOP_VALUE}newer:{k}.{place:?}").into();
                    let sort = engine.e.pool.sort(value);
                    engine.e.pool.leaf(Leaf::Param { name, sort })
                }
            };
            if unknowns.insert(value, unknown).is_some() {
                return None;
            }
            here.insert(place, value);
            first.insert(place, only(engine.e.on_first_arrival(place, node, &single))?);
            let mut values = Vec::new();
            for &(latch, _) in &latches {
                values.push(only(engine.e.after(place, latch, &single))?);
            }
            let mut brought = values.pop()?;
            for (value, way) in values.into_iter().zip(&ways) {
                brought = engine.e.pool.op(Op::Ite, &[*way, value, brought]);
            }
            next.insert(place, brought);
        }
        heads.push(Head { node, parent, reach, again, here, first, next });
    }
    Some((heads, unknowns))
}
