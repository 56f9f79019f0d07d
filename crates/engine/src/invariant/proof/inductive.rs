//! Inductive facts at loop heads (`docs/design/symbolic-evaluation.md`; Houdini: Flanagan and Leino,
//! FME 2001).
//!
//! Candidates come from the states that runs reach at the heads. A set of them is kept in which each
//! holds on every first arrival and, if all of the set held at every earlier arrival at any head, at
//! the next one: what cannot be proved so is dropped, until nothing changes. All heads of a class
//! are one induction, over the sequence of arrivals; the cut terms `L[h, x]` stand for an arrival's
//! values, so a fact about them holds of what they mean inside the loop (the current arrival) and
//! after it (the last one).
//!
//! A fact is only assumed where its head was reached: elsewhere the cut term means nothing. Whether it was
//! is a condition over cut terms, which a head that is yet to be reached may fulfil as well; so nothing is
//! assumed of heads that stand behind an arrival. A fact of what no loop changes, which is the same at all
//! heads, would prove itself.

use crate::invariant::candidate::observed::Quantity;
use crate::invariant::candidate::polynomial::Prover;
use crate::invariant::candidate::quantified::ForAll;
use crate::invariant::candidate::templates::Candidate;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable;
use crate::invariant::point::{Kind, Point};
use crate::invariant::proof::known::Inductive;
use crate::invariant::proof::known::{Known, Standing};
use crate::invariant::proof::{abstraction, relevance};
use crate::ir::{App, CType, Op, TermId};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg};
use crate::semantics::{Evaluator, Part, Place, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};

/// Loops of one function, candidates of one loop and questions for one class.
const MAX_LOOPS: usize = 8;
const MAX_CANDIDATES: usize = 160;
/// The same where a change is looked at.
const MAX_BRIEF: usize = 48;
const MAX_QUESTIONS: u64 = 400;
const MAX_BRIEF_QUESTIONS: u64 = 60;
/// Questions under the whole of large conditions, of which parts are tried first.
const MAX_LARGE_QUESTIONS: u64 = 100;
const MAX_BRIEF_LARGE_QUESTIONS: u64 = 4;

/// A head of one class while its facts are looked for.
struct Head {
    /// Index among the points.
    point: usize,
    node: MvId,
    /// Condition of the first arrival.
    reach: TermId,
    /// What the calls before it guarantee.
    before: TermId,
    known: BTreeMap<String, Known>,
    first: Values,
    /// Condition, from an arrival to the next one, of each way back, with the values it brings.
    back: Vec<(TermId, Values)>,
    candidates: BTreeSet<Candidate>,
    /// Those about elements of arrays.
    quantified: BTreeSet<Candidate>,
    /// What candidates say of the cut terms, once it was looked up.
    supposed: BTreeMap<Candidate, TermId>,
    /// What its values take for granted.
    assumed: BTreeSet<String>,
}

/// Terms and types of variables.
type Values = BTreeMap<String, (TermId, CType)>;

impl FunctionAnalysis<'_> {
    /// Returns what the loops of a class guarantee of its cut terms.
    pub(in crate::invariant) fn loop_facts(&mut self, class: ClassId) -> TermId {
        self.find_inductive();
        match self.inductive.as_ref().and_then(|i| i.facts.get(&class)) {
            Some(t) => *t,
            None => self.e.pool.bool(true),
        }
    }

    /// Finds the inductive facts of all loops of all classes, once.
    pub(in crate::invariant) fn find_inductive(&mut self) {
        if self.inductive.is_some() {
            return;
        }
        self.inductive = Some(Inductive::default());
        let points = Point::loops(&self.e);
        if points.len() > MAX_LOOPS {
            return;
        }
        // What is asked for properties alone looks at no point, and elements have names, too.
        if self.namings.is_empty() {
            let point = std::mem::replace(&mut self.diff.point, Point::exit(self.task.graph));
            self.namings = self.name_values();
            self.diff.point = point;
        }
        let all = self.task.graph.all_classes();
        let mut heads: BTreeMap<ClassId, Vec<Head>> = BTreeMap::new();
        let mut found = Inductive::default();
        for (i, point) in points.into_iter().enumerate() {
            let standing = self.suggested(i, &point, &mut heads);
            found.heads.push((point, standing));
        }
        for class in all.iter() {
            let mut heads = heads.remove(&class).unwrap_or_default();
            let nothing = self.e.pool.bool(true);
            self.weaken(class, &mut heads, nothing);
            // What holds of the elements of arrays may need what holds of indices, not the other way.
            let settled = self.conjunction(&heads, &|_| true);
            let scalars: Vec<BTreeSet<Candidate>> = heads
                .iter_mut()
                .map(|h| std::mem::replace(&mut h.candidates, std::mem::take(&mut h.quantified)))
                .collect();
            self.weaken(class, &mut heads, settled);
            for (head, scalars) in heads.iter_mut().zip(scalars) {
                head.candidates.extend(scalars);
            }
            let facts = self.conjunction(&heads, &|_| true);
            found.facts.insert(class, facts);
            // All heads are one induction, which rests on what any of them takes for granted.
            let left = heads.iter().filter(|h| !h.candidates.is_empty());
            let mut assumed: BTreeSet<String> = left.flat_map(|h| h.assumed.iter().cloned()).collect();
            if heads.iter().flat_map(|h| &h.candidates).any(|c| matches!(c, Candidate::ForAll(_))) {
                assumed.append(&mut self.elements_assumed);
            }
            self.elements_assumed.clear();
            let elements = self.element_facts(&heads);
            found.elements.insert(class, elements);
            for head in heads {
                let Some((_, standing)) = found.heads.get_mut(head.point) else { continue };
                for candidate in head.candidates {
                    let proved = Standing::proved(&candidate, &head.known, &assumed);
                    standing.entry(candidate).or_default().insert(class, proved);
                }
            }
            found.assumed.insert(class, assumed);
        }
        self.inductive = Some(found);
    }

    /// Prepares the classes' heads at one point; returns what the data refutes.
    fn suggested(
        &mut self,
        index: usize,
        point: &Point,
        heads: &mut BTreeMap<ClassId, Vec<Head>>,
    ) -> BTreeMap<Candidate, BTreeMap<ClassId, Standing>> {
        let mut standing: BTreeMap<Candidate, BTreeMap<ClassId, Standing>> = BTreeMap::new();
        let classes: Vec<ClassId> = point.nodes.keys().copied().collect();
        let known: BTreeMap<ClassId, BTreeMap<String, Known>> =
            classes.iter().map(|&c| (c, self.known(c, point, true))).collect();
        let mut rows = BTreeMap::new();
        let mut candidates = BTreeSet::new();
        for &c in &classes {
            let r = self.rows(c, point, known[&c].keys().cloned().collect());
            candidates.extend(self.suggested_of(c, &known[&c], &r, Some(Kind::Loop)));
            candidates.extend(self.written_candidates(&known[&c], &r));
            rows.insert(c, r);
        }
        candidates.retain(|candidate| !self.is_stated(candidate, &known));
        // Of a change few facts of loops are told: they help with those after the loop.
        let most = if self.is_brief() { MAX_BRIEF } else { MAX_CANDIDATES };
        let (guarded, plain): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|c| matches!(c, Candidate::Given(..)));
        for (c, known) in known {
            let mut own = BTreeSet::new();
            for candidate in plain.iter().chain(&guarded) {
                match self.refuting_row(candidate, &known, &rows[&c]) {
                    Some(run) => {
                        let refuted = Standing::Refuted(Box::new(run));
                        standing.entry(candidate.clone()).or_default().insert(c, refuted);
                    }
                    None if own.len() < most => _ = own.insert(candidate.clone()),
                    None => {}
                }
            }
            let quantified = self.quantified(c, point, &known);
            let head = self.head(index, c, point, known, own);
            heads.entry(c).or_default().extend(head.map(|h| Head { quantified, ..h }));
        }
        standing
    }

    /// The terms that the induction of one head is about.
    fn head(
        &mut self,
        point: usize,
        class: ClassId,
        at: &Point,
        known: BTreeMap<String, Known>,
        candidates: BTreeSet<Candidate>,
    ) -> Option<Head> {
        let node = *at.nodes.get(&class)?;
        let single = ClassSet::single(class);
        let (_, reach) = self.e.reach_from_entry(node, &single).into_iter().next()?;
        let mut assumed: BTreeSet<String> = known.values().flat_map(|k| k.assumed.iter().cloned()).collect();
        let used = &mut assumed;
        let first = self.values(class, &known, used, |e, place| e.on_first_arrival(place, node, &single))?;
        let flow = &self.e.flow.classes[class];
        let latches = flow.preds[node.0 as usize].iter().copied();
        let latches: Vec<(MvId, u8)> = latches.filter(|&(p, _)| flow.is_back_edge(p, node)).collect();
        let mut back = Vec::new();
        for (latch, label) in latches {
            let (_, way) = self.e.reach_along(latch, label, node, &single).into_iter().next()?;
            let way = self.e.pool.and(way.term, reach.term);
            let (way, used) = self.separated(class, way);
            assumed.extend(used);
            let calls = self.calls_before(class, latch, true, false);
            let way = self.e.pool.and(way, calls);
            let way = self.cut(way);
            let values =
                self.values(class, &known, &mut assumed, |e, place| e.after(place, latch, &single))?;
            back.push((way, values));
        }
        let reach = self.cut(reach.term);
        let calls = self.calls_before(class, node, false, false);
        let before = self.cut(calls);
        let quantified = BTreeSet::new();
        let supposed = BTreeMap::new();
        Some(Head {
            point,
            node,
            reach,
            before,
            known,
            first,
            back,
            candidates,
            quantified,
            supposed,
            assumed,
        })
    }

    /// The values of what is known, as one class has them somewhere, with loops cut.
    fn values(
        &mut self,
        class: ClassId,
        known: &BTreeMap<String, Known>,
        assumed: &mut BTreeSet<String>,
        of: impl Fn(&mut Evaluator, Place) -> Part<Val>,
    ) -> Option<Values> {
        let mut values = Values::new();
        for (name, k) in known {
            let term = match self.quantities.get(name).cloned() {
                None => {
                    let place = self.place(class, name)?;
                    of(&mut self.e, place).into_iter().next()?.1.term
                }
                Some(Quantity::Cell { address, sort, bytes, at_entry: false }) => {
                    let (_, memory) = of(&mut self.e, Place::Memory).into_iter().next()?;
                    self.e.pool.app(App::Load { sort, bytes }, &[memory.term, address])
                }
                // What was given at entry is the same everywhere.
                Some(Quantity::Parameter(_) | Quantity::Cell { .. }) => k.val.term,
                Some(Quantity::Memory) => of(&mut self.e, Place::Memory).into_iter().next()?.1.term,
            };
            let (term, used) = self.separated(class, term);
            assumed.extend(used);
            let term = self.cut(term);
            values.insert(name.clone(), (term, k.ty.clone()));
        }
        Some(values)
    }

    pub(in crate::invariant) fn place(&self, class: ClassId, key: &str) -> Option<Place> {
        let v = observable::find_key(&self.task.graph.bodies[class], key)?;
        let place = self.e.places.of_var(self.task.graph.var_map[class][v.0 as usize]);
        matches!(place, Place::Var(_)).then_some(place)
    }

    /// The term with cut terms as mere unknowns: what is proved of them so holds whatever the loop
    /// computes, and the solver need not look into what it computes from.
    pub(in crate::invariant) fn cut(&mut self, term: TermId) -> TermId {
        abstraction::without_loops(&mut self.e.pool, term)
    }

    /// Whether a change is looked at, and not all that can be said.
    fn is_brief(&self) -> bool {
        !self.task.options.all && !self.task.pairs.is_empty()
    }

    /// Drops candidates until the rest is inductive, given what is settled.
    fn weaken(&mut self, class: ClassId, heads: &mut [Head], settled: TermId) {
        let asked = |e: &Self| {
            e.deciders.lemmas.settled().asked()
                + e.deciders.elements.settled().asked()
                + e.deciders.large.settled().asked()
        };
        for head in heads.iter_mut() {
            head.supposed = head.candidates.iter().map(|c| (c.clone(), self.supposed(head, c))).collect();
        }
        let share = if self.is_brief() { MAX_BRIEF_QUESTIONS } else { MAX_QUESTIONS };
        let mut until = asked(self) + share;
        loop {
            let mut dropped = false;
            for h in 0..heads.len() {
                let ways = 0..=heads[h].back.len();
                for way in ways {
                    if asked(self) >= until {
                        // Facts with a guard are many, and first to be given up; then relations.
                        let kinds: [fn(&Candidate) -> bool; 3] =
                            [|c| matches!(c, Candidate::Given(..)), |c| c.variables().len() > 1, |_| true];
                        let all = || heads.iter().flat_map(|h| &h.candidates);
                        let Some(goes) = kinds.into_iter().find(|kind| all().any(*kind)) else { return };
                        heads.iter_mut().for_each(|h| h.candidates.retain(|c| !goes(c)));
                        until += share;
                        dropped = true;
                    }
                    let kept = self.kept_along(class, heads, (h, way), settled);
                    dropped |= kept.len() < heads[h].candidates.len();
                    heads[h].candidates = kept;
                }
            }
            if !dropped {
                return;
            }
        }
    }

    /// The candidates of a head that hold when it is reached on a way: first (way 0), or back again.
    fn kept_along(
        &mut self,
        class: ClassId,
        heads: &[Head],
        (h, way): (usize, usize),
        settled: TermId,
    ) -> BTreeSet<Candidate> {
        let head = &heads[h];
        let (under, values) = match way.checked_sub(1).and_then(|w| head.back.get(w)) {
            // The first arrival at this head, behind arrivals at others.
            None => {
                let before = self.heads_before(class, head.node);
                let others = self.conjunction(heads, &|g| before.contains(&g.node));
                (self.e.pool.and(head.before, others), (head.reach, &head.first))
            }
            Some((condition, values)) => {
                let mut earlier = self.heads_before(class, head.node);
                earlier.extend(self.heads_within(class, head.node));
                let all = self.conjunction(heads, &|g| earlier.contains(&g.node));
                (self.e.pool.and(all, settled), (*condition, values))
            }
        };
        let (condition, values) = values;
        let under = self.e.pool.and(condition, under);
        let mut kept = BTreeSet::new();
        let mut asked = Vec::new();
        for candidate in &head.candidates {
            // Beside what is settled a fact about elements needs itself only, and the solver little.
            if let Candidate::ForAll(f) = candidate {
                let own = match way {
                    0 => condition,
                    _ => {
                        let own = self.supposed(head, candidate);
                        let own = self.e.pool.and(own, settled);
                        self.e.pool.and(condition, own)
                    }
                };
                if self.shows_elements(class, f, candidate, own, head, values) {
                    kept.insert(candidate.clone());
                }
                continue;
            }
            let of = |x: &str| values.get(x).cloned();
            let Some(goal) = candidate.term(&mut self.e.pool, &of) else { continue };
            let evident = match candidate {
                Candidate::Equation(_) => self.follows(under, goal),
                _ => candidate.is_evident(&self.e.pool, &of),
            };
            match candidate {
                _ if evident => _ = kept.insert(candidate.clone()),
                Candidate::Equation(_) => {}
                _ => asked.push((candidate.clone(), goal)),
            }
        }
        let goals: Vec<TermId> = asked.iter().map(|(_, goal)| *goal).collect();
        let shown = self.lemmas_of(under, &goals);
        kept.extend(asked.into_iter().zip(shown).filter(|(_, shown)| *shown).map(|((c, _), _)| c));
        kept
    }

    /// The facts about elements of all heads, where their heads are reached.
    fn element_facts(&mut self, heads: &[Head]) -> Vec<(ForAll, TermId)> {
        let mut found = Vec::new();
        for head in heads {
            for candidate in &head.candidates {
                let Candidate::ForAll(f) = candidate else { continue };
                found.push(((**f).clone(), self.supposed(head, candidate)));
            }
        }
        found
    }

    /// What the loops of a class guarantee of those elements that a term reads.
    pub(in crate::invariant) fn instances(&mut self, class: ClassId, root: TermId) -> TermId {
        let mut all = self.e.pool.bool(true);
        let known = self.inductive.as_ref().and_then(|i| i.elements.get(&class)).cloned();
        let parts = self.e.pool.reachable(&[root]);
        for (f, fact) in known.unwrap_or_default() {
            for (k, index) in f.indices_in(&mut self.e.pool, &parts, fact) {
                let instance = abstraction::replaced(&mut self.e.pool, fact, k, index);
                all = self.e.pool.and(all, instance);
            }
        }
        all
    }

    /// Whether a candidate about elements is proved for these values.
    fn shows_elements(
        &mut self,
        class: ClassId,
        f: &ForAll,
        candidate: &Candidate,
        under: TermId,
        head: &Head,
        values: &Values,
    ) -> bool {
        let Some(goal) = candidate.term(&mut self.e.pool, &|x| values.get(x).cloned()) else { return false };
        let index = head.known.get(&f.bound).map(|k| k.as_term().0);
        let Some((bound, _)) = values.get(&f.bound) else { return false };
        self.shows_for_all(class, f, under, goal, (*bound, index))
    }

    /// Asks whether the goal holds: first whatever memory holds and calls return, which is far easier,
    /// then as it is.
    pub(in crate::invariant) fn lemma(&mut self, under: TermId, goal: TermId) -> smt::Truth {
        let pool = &mut self.e.pool;
        let (given, wanted) = abstraction::plain(pool, under, &[goal]);
        if (given, wanted.as_slice()) == (under, &[goal]) {
            return self.deciders.lemmas.holds(pool, under, goal);
        }
        match self.deciders.elements.holding(pool, given, &wanted).as_slice() {
            [true] => smt::Truth::Holds,
            _ => self.deciders.lemmas.holds(&mut self.e.pool, under, goal),
        }
    }

    /// Asks which of the goals hold, as [`FunctionAnalysis::lemma`] does of one.
    pub(in crate::invariant) fn lemmas_of(&mut self, under: TermId, goals: &[TermId]) -> Vec<bool> {
        let most = if self.is_brief() { MAX_BRIEF_LARGE_QUESTIONS } else { MAX_LARGE_QUESTIONS };
        let pool = &mut self.e.pool;
        let (given, wanted) = abstraction::plain(pool, under, goals);
        let large = relevance::is_large(pool, under);
        if given == under && wanted == goals && !large {
            return self.deciders.lemmas.holding(pool, under, goals);
        }
        let mut shown = match large {
            true => self.lemmas_of_parts(given, &wanted),
            false => self.deciders.elements.holding(pool, given, &wanted),
        };
        let pool = &mut self.e.pool;
        let open: Vec<usize> = (0..goals.len()).filter(|&i| !shown[i]).collect();
        let left: Vec<TermId> = open.iter().map(|&i| goals[i]).collect();
        let settled = match large {
            true => self.deciders.large.holding_until(pool, under, &left, most),
            false => self.deciders.lemmas.holding(pool, under, &left),
        };
        open.into_iter().zip(settled).for_each(|(i, holds)| shown[i] = holds);
        shown
    }

    /// The same under large conditions: each goal under what these say of its inputs.
    fn lemmas_of_parts(&mut self, under: TermId, goals: &[TermId]) -> Vec<bool> {
        let pool = &mut self.e.pool;
        let conjuncts = relevance::Conjuncts::of(pool, under);
        let mut asked: BTreeMap<TermId, Vec<(usize, TermId)>> = BTreeMap::new();
        for (i, &goal) in goals.iter().enumerate() {
            let (given, goal) = conjuncts.about(pool, goal);
            asked.entry(given).or_default().push((i, goal));
        }
        let mut shown = vec![false; goals.len()];
        for (given, group) in asked {
            let goals: Vec<TermId> = group.iter().map(|(_, goal)| *goal).collect();
            let found = self.deciders.elements.holding(pool, given, &goals);
            group.into_iter().zip(found).for_each(|((i, _), holds)| shown[i] = holds);
        }
        shown
    }

    /// Whether an equation follows from those among the conditions by rewriting alone.
    pub(in crate::invariant) fn follows(&mut self, under: TermId, goal: TermId) -> bool {
        let pool = &mut self.e.pool;
        let side = pool.args(goal).first().copied();
        let Some(width) = side.and_then(|a| pool.sort(a).bits()) else {
            return pool.as_const(goal).and_then(|c| c.as_bool()) == Some(true);
        };
        let mut conditions = Vec::new();
        let mut work = vec![under];
        while let Some(c) = work.pop() {
            match pool.as_op(c, Op::And) {
                Some(parts) => work.extend(parts.iter().copied()),
                None => conditions.push(c),
            }
        }
        conditions.sort_unstable();
        Prover::new(pool, width, &conditions).shows(pool, goal)
    }

    /// What one candidate says of the cut terms of its head.
    fn supposed(&mut self, head: &Head, candidate: &Candidate) -> TermId {
        if let Some(fact) = head.supposed.get(candidate) {
            return *fact;
        }
        let value = |x: &str| head.known.get(x).map(|k| (k.val.term, k.ty.clone()));
        let Some(fact) = candidate.term(&mut self.e.pool, &value) else { return self.e.pool.bool(true) };
        let fact = self.cut(fact);
        let unreached = self.e.pool.not(head.reach);
        self.e.pool.or(unreached, fact)
    }

    /// The heads from which control may have come to a node without a way back.
    fn heads_before(&self, class: ClassId, node: MvId) -> BTreeSet<MvId> {
        let flow = &self.e.flow.classes[class];
        let order = |n: MvId| flow.order[n.0 as usize];
        flow.loops.iter().map(|l| l.head).filter(|h| order(*h) < order(node)).collect()
    }

    /// The heads of the loop at a head and of those in it.
    fn heads_within(&self, class: ClassId, node: MvId) -> BTreeSet<MvId> {
        let flow = &self.e.flow.classes[class];
        let Some(l) = flow.loop_at[node.0 as usize] else { return BTreeSet::new() };
        let body = &flow.loops[l].body;
        flow.loops.iter().map(|l| l.head).filter(|h| body.contains(h)).collect()
    }

    /// What the candidates of some heads say of the cut terms.
    fn conjunction(&mut self, heads: &[Head], of: &dyn Fn(&Head) -> bool) -> TermId {
        let mut all = Vec::new();
        for head in heads.iter().filter(|h| of(h)) {
            for candidate in &head.candidates {
                all.push(self.supposed(head, candidate));
            }
        }
        all.push(self.e.pool.bool(true));
        self.e.pool.op(Op::And, &all)
    }

    /// Condition of being at a point of a class, with what its loops guarantee without further
    /// assumptions, cut and under the assumption that input is well formed.
    pub(in crate::invariant) fn state_at(&mut self, class: ClassId, node: MvId) -> TermId {
        self.state(class, node, None)
    }

    /// The same for memory without overlaps, with what that takes for granted.
    pub(in crate::invariant) fn separated_state(
        &mut self,
        class: ClassId,
        node: MvId,
    ) -> (TermId, BTreeSet<String>) {
        let mut assumed = BTreeSet::new();
        let under = self.state(class, node, Some(&mut assumed));
        (under, assumed)
    }

    fn state(&mut self, class: ClassId, node: MvId, assumed: Option<&mut BTreeSet<String>>) -> TermId {
        let single = ClassSet::single(class);
        let mut under = self.e.pool.bool(true);
        for (_, v) in self.e.reach_from_entry(node, &single) {
            under = self.e.pool.and(under, v.term);
        }
        let mut facts = self.e.pool.bool(true);
        let mut taken = BTreeSet::new();
        if !self.e.flow.classes[class].loops.is_empty() && node != Mvicfg::ENTRY {
            let found = self.loop_facts(class);
            taken = self.inductive.as_ref().and_then(|i| i.assumed.get(&class)).cloned().unwrap_or_default();
            if taken.is_empty() || assumed.is_some() {
                facts = found;
            }
        }
        let calls = self.calls_before(class, node, false, true);
        if let Some(assumed) = assumed {
            let (clear, used) = self.separated(class, under);
            under = clear;
            assumed.extend(used);
            assumed.extend(taken);
        }
        under = self.e.pool.and(under, calls);
        under = self.cut(under);
        if self.e.pool.as_const(facts).is_none() {
            let instances = self.instances(class, under);
            facts = self.e.pool.and(facts, instances);
        }
        under = self.e.pool.and(under, facts);
        let under = self.shown(class, under);
        if node != Mvicfg::EXIT {
            return under;
        }
        let defined = self.defined(class);
        let defined = self.cut(defined);
        self.e.pool.and(under, defined)
    }
}
