//! The number of points of a box that meet a formula.
//!
//! Each step either narrows the ranges, multiplies parts that have no input in common, adds disjoint
//! alternatives, counts a polytope, or cuts along one input and goes on in the slices.

use crate::bounds::Bounds;
use crate::boxes::{Masks, Weighted};
use crate::formula::{Builder, Formula, Known, Linear};
use crate::lattice::{Range, width};
use crate::monotone;
use crate::polytope::Polytope;
use crate::tables::{Table, Tables};
use crate::vertices::Half;
use crate::{Domain, bits};
use invdiff_ir::{Term, TermId, TermPool};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The outcome of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Exact(i128),
    /// It took more than the work that was granted, or numbers of more than 128 bits.
    TooLarge,
    /// The conditions rest on something that is no input, or on undefined behaviour.
    Unknown,
}

/// Counts over one domain with the terms of one pool, and keeps what it learns of terms.
pub struct Counter {
    pub(crate) domain: Domain,
    /// What is counted of the domain; none: all of it, once.
    pub(crate) boxes: Vec<Weighted>,
    masks: Masks,
    known: Known,
    /// The same with quotients.
    more: Known,
    bounds: FxHashMap<TermId, Range>,
    tables: Tables,
    /// Inputs of a term.
    inputs: FxHashMap<TermId, Arc<BTreeSet<usize>>>,
    /// Whether a term rests on inputs of the domain alone.
    closed: FxHashMap<TermId, bool>,
    /// What was counted: paths of another version have the same conditions where nothing changed.
    answers: FxHashMap<Vec<TermId>, i128>,
    /// Conditions of the answers.
    kept: usize,
    questions: Questions,
}

/// How much was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// Counts that were made.
    pub asked: u64,
    /// Counts that were known from before.
    pub known: u64,
}

/// Conditions of all answers that are kept.
const MAX_KEPT: usize = 8_000_000;

impl Counter {
    /// A counter for the terms of one pool: no terms of another may be asked of it.
    pub fn new(domain: Domain) -> Counter {
        Counter {
            domain,
            boxes: Vec::new(),
            masks: Masks::default(),
            known: Known::default(),
            more: Known::with_quotients(),
            bounds: FxHashMap::default(),
            tables: Tables::default(),
            inputs: FxHashMap::default(),
            closed: FxHashMap::default(),
            answers: FxHashMap::default(),
            kept: 0,
            questions: Questions::default(),
        }
    }

    /// How much was asked so far.
    pub fn questions(&self) -> Questions {
        self.questions
    }

    /// The domain that is counted over.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Whether a term's value follows from the inputs of the domain.
    pub fn is_closed(&mut self, pool: &TermPool, t: TermId) -> bool {
        if let Some(known) = self.closed.get(&t) {
            return *known;
        }
        let domain = &self.domain;
        let is_input = |t: &TermId| match pool.get(*t) {
            Term::Leaf(_) => domain.position(*t).is_some(),
            Term::App(invdiff_ir::App::Op(_), _) | Term::Const(_) => true,
            Term::App(..) => false,
        };
        let found = pool.reachable(&[t]).iter().all(is_input);
        self.closed.insert(t, found);
        found
    }

    /// Bounds of a bit-vector as a signed number, from those of the inputs.
    pub fn bounds(&mut self, pool: &TermPool, t: TermId) -> Option<Range> {
        Bounds { pool, domain: &self.domain, known: &mut self.bounds }.of(t, 0)
    }

    /// Counts the inputs that meet all conditions. `work`: conditions that are looked at, slices,
    /// alternatives and evaluations, one each, more for large terms; what is left of it stays there.
    pub fn count(&mut self, pool: &TermPool, conditions: &[TermId], work: &mut u64) -> Count {
        if let Some(n) = self.answers.get(conditions) {
            self.questions.known += 1;
            return Count::Exact(*n);
        }
        self.questions.asked += 1;
        let found = self.counted(pool, conditions, work);
        if let Count::Exact(n) = found
            && self.kept + conditions.len() <= MAX_KEPT
        {
            self.kept += conditions.len();
            self.answers.insert(conditions.to_vec(), n);
        }
        found
    }

    fn counted(&mut self, pool: &TermPool, conditions: &[TermId], work: &mut u64) -> Count {
        if !conditions.iter().all(|c| self.is_closed(pool, *c)) {
            return Count::Unknown;
        }
        if self.domain.inputs.iter().any(|i| i.range.0 > i.range.1) {
            return Count::Exact(0);
        }
        let mut builder = Builder::new(pool, &self.domain, &mut self.known);
        let formulas: Vec<Formula> = conditions.iter().map(|c| builder.condition(*c)).collect();
        if !formulas.iter().any(Formula::has_terms) {
            return self.solved(pool, conditions, formulas, &BTreeSet::new(), work);
        }
        // What is evaluated for few inputs is simplest; else with quotients if these say more.
        let first = within(work, (*work / 2).min(FEW_EVALUATIONS), |work| {
            self.solved(pool, conditions, formulas.clone(), &BTreeSet::new(), work)
        });
        if first != Count::TooLarge {
            return first;
        }
        let half = *work / 2;
        let found = within(work, half, |work| self.with_quotients(pool, conditions, false, work));
        if found != Count::TooLarge {
            return found;
        }
        // A mere look is not worth more.
        if *work > FEW_EVALUATIONS / 2 {
            let half = *work / 2;
            let found = within(work, half, |work| self.by_bits(pool, conditions, work));
            if found != Count::TooLarge {
                return found;
            }
            let half = *work / 2;
            let found = within(work, half, |work| self.with_quotients(pool, conditions, true, work));
            if found != Count::TooLarge {
                return found;
            }
        }
        self.solved(pool, conditions, formulas, &BTreeSet::new(), work)
    }

    fn by_bits(&mut self, pool: &TermPool, conditions: &[TermId], work: &mut u64) -> Count {
        let Some(left) = work.checked_sub(16 * conditions.len() as u64) else { return Count::TooLarge };
        *work = left;
        if self.boxes.is_empty() {
            return bits::count(pool, &self.domain, conditions, work).map_or(Count::TooLarge, Count::Exact);
        }
        let mut domain = self.domain.clone();
        let mut sum = 0i128;
        for b in self.boxes.iter().filter(|b| b.has_points()) {
            domain.inputs.iter_mut().zip(&b.ranges).for_each(|(input, range)| input.range = *range);
            let n = bits::count(pool, &domain, conditions, work).and_then(|n| n.checked_mul(b.weight));
            let Some(more) = n.and_then(|n| sum.checked_add(n)) else { return Count::TooLarge };
            sum = more;
        }
        Count::Exact(sum)
    }

    /// Counts with quotients and remainders as inputs. `is_partial`: although some is still evaluated.
    fn with_quotients(
        &mut self,
        pool: &TermPool,
        conditions: &[TermId],
        is_partial: bool,
        work: &mut u64,
    ) -> Count {
        let Some(left) = work.checked_sub(4 * conditions.len() as u64) else { return Count::TooLarge };
        *work = left;
        let mut builder = Builder::new(pool, &self.domain, &mut self.more);
        let mut formulas: Vec<Formula> = conditions.iter().map(|c| builder.condition(*c)).collect();
        if formulas.iter().any(Formula::has_terms) != is_partial {
            return Count::TooLarge;
        }
        let inputs = self.domain.inputs.len();
        let used = self.more.quotients.as_ref().and_then(|q| q.define(inputs, &mut formulas));
        let Some(used) = used.filter(|used| !is_partial || !used.is_empty()) else { return Count::TooLarge };
        self.solved(pool, &[], formulas, &used, work)
    }

    /// Counts over the domain and some quotients. `conditions`: of the first formulas.
    fn solved(
        &mut self,
        pool: &TermPool,
        conditions: &[TermId],
        formulas: Vec<Formula>,
        quotients: &BTreeSet<usize>,
        work: &mut u64,
    ) -> Count {
        let mut ranges: Vec<Range> = self.domain.inputs.iter().map(|i| i.range).collect();
        let mut all: Vec<usize> = (0..ranges.len()).collect();
        all.extend(quotients);
        ranges.extend(self.more.quotients.iter().flat_map(|q| &q.ranges));
        let mut solver = Solver {
            pool,
            domain: &self.domain,
            tables: &mut self.tables,
            inputs: &mut self.inputs,
            work,
            stopped: None,
        };
        if self.boxes.is_empty() {
            return match solver.count(ranges, &all, formulas, 0) {
                Some(n) => Count::Exact(n),
                None => solver.stopped.unwrap_or(Count::TooLarge),
            };
        }
        let boxes = &self.boxes;
        let left = self.masks.left(boxes.len(), conditions, |c, b| match (formulas.get(c), boxes.get(b)) {
            (Some(f), Some(b)) => solver.simplified(&b.ranges, f.clone()) == Some(Formula::False),
            _ => false,
        });
        let mut sum = Some(0i128);
        for b in left.iter().filter_map(|b| boxes.get(*b)).filter(|b| b.has_points()) {
            let mut ranges = ranges.clone();
            ranges.iter_mut().zip(&b.ranges).for_each(|(range, own)| *range = *own);
            let n = solver.count(ranges, &all, formulas.clone(), 0);
            sum = sum.zip(n).and_then(|(sum, n)| sum.checked_add(n.checked_mul(b.weight)?));
            if sum.is_none() {
                return solver.stopped.unwrap_or(Count::TooLarge);
            }
        }
        sum.map_or(Count::TooLarge, Count::Exact)
    }
}

/// Counts with a part of the work.
fn within(work: &mut u64, part: u64, f: impl FnOnce(&mut u64) -> Count) -> Count {
    let mut left = part;
    let found = f(&mut left);
    *work -= part - left;
    found
}

/// As [`Counter::count`], once.
pub fn count(pool: &TermPool, domain: &Domain, conditions: &[TermId], work: &mut u64) -> Count {
    Counter::new(domain.clone()).count(pool, conditions, work)
}

/// Steps inside one another.
const MAX_DEPTH: usize = 300;
/// Work for which it is not asked whether quotients say more.
const FEW_EVALUATIONS: u64 = 100_000;
/// So many inputs are gone through one by one, where something is evaluated.
const FEW_POINTS: i128 = 1 << 16;
/// So many numbers of a float are evaluated as soon as what grows with them is found.
const FEW_NUMBERS: i128 = 100;
/// So many slices are counted sooner than what is cut is counted whole.
const FEW_SLICES: i128 = 40;

struct Solver<'a> {
    pool: &'a TermPool,
    domain: &'a Domain,
    tables: &'a mut Tables,
    /// Inputs of a term.
    inputs: &'a mut FxHashMap<TermId, Arc<BTreeSet<usize>>>,
    work: &'a mut u64,
    stopped: Option<Count>,
}

/// What is left of a conjunction.
enum Left {
    Nothing,
    Parts(Vec<Formula>),
}

impl Solver<'_> {
    fn spend(&mut self, n: u64) -> Option<()> {
        let Some(left) = self.work.checked_sub(n) else {
            *self.work = 0;
            self.stopped = Some(Count::TooLarge);
            return None;
        };
        *self.work = left;
        Some(())
    }

    /// Counts the points over some inputs. `None`: it was given up.
    fn count(
        &mut self,
        mut ranges: Vec<Range>,
        over: &[usize],
        parts: Vec<Formula>,
        depth: usize,
    ) -> Option<i128> {
        self.spend(1)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let Left::Parts(parts) = self.narrowed(&mut ranges, parts)? else { return Some(0) };
        let mut all = 1i128;
        let groups = self.components(&parts);
        let bound: BTreeSet<usize> = groups.iter().flat_map(|(inputs, _)| inputs).copied().collect();
        for (inputs, parts) in groups {
            let n = self.component(&ranges, &inputs, parts, depth)?;
            all = all.checked_mul(n)?;
            if all == 0 {
                return Some(0);
            }
        }
        // Last, since none times too many is none.
        for i in over.iter().filter(|i| !bound.contains(i)) {
            let range = *ranges.get(*i)?;
            let mass = self.domain.inputs.get(*i).map_or_else(|| width(range), |input| input.mass(range));
            all = all.checked_mul(mass?)?;
        }
        Some(all)
    }

    /// Narrows ranges by what is said of one input, and drops what holds on all of the box.
    fn narrowed(&mut self, ranges: &mut [Range], parts: Vec<Formula>) -> Option<Left> {
        let mut parts = parts;
        loop {
            self.spend(parts.len() as u64)?;
            let before = ranges.to_vec();
            let mut kept = Vec::new();
            // Taken from the end: what is evaluated comes last, behind the conditions that guard it.
            let mut open = parts;
            open.sort_by_key(|p| !matches!(p, Formula::Term(..)));
            while let Some(part) = open.pop() {
                match self.simplified(ranges, part)? {
                    Formula::True => {}
                    Formula::False => return Some(Left::Nothing),
                    Formula::And(more) => open.extend(more),
                    Formula::AtMost(l) => match l.terms.as_slice() {
                        &[(i, c)] => {
                            let (low, high) = ranges.get_mut(i).map(|r| (&mut r.0, &mut r.1))?;
                            let limit = l.constant.checked_neg()?;
                            match c > 0 {
                                true => *high = (*high).min(limit.div_euclid(c)),
                                // x >= ceil(constant / -c)
                                false => {
                                    let least = limit.div_euclid(c.checked_neg()?).checked_neg()?;
                                    *low = (*low).max(least);
                                }
                            }
                            if *low > *high {
                                return Some(Left::Nothing);
                            }
                        }
                        _ => kept.push(Formula::AtMost(l)),
                    },
                    other => kept.push(other),
                }
            }
            parts = kept;
            if *ranges == *before {
                return Some(Left::Parts(parts));
            }
        }
    }

    /// A formula as it is on a box that is not empty.
    fn simplified(&mut self, ranges: &[Range], part: Formula) -> Option<Formula> {
        Some(match part {
            Formula::AtMost(l) => {
                let (low, high) = l.range(ranges)?;
                match (low > 0, high <= 0) {
                    (true, _) => Formula::False,
                    (_, true) => Formula::True,
                    _ => Formula::AtMost(substituted(ranges, &l)?),
                }
            }
            Formula::Term(t, value) => {
                let inputs = self.inputs_of(t);
                let fixed = inputs.iter().all(|i| ranges.get(*i).is_some_and(|(low, high)| low == high));
                match fixed {
                    true => match self.evaluated(ranges, t)? {
                        Some(holds) if holds == value => Formula::True,
                        Some(_) => Formula::False,
                        // Undefined there; another condition may leave that input out.
                        None => Formula::Term(t, value),
                    },
                    false => self.with_one_left(ranges, t, &inputs, value)?,
                }
            }
            Formula::And(parts) => {
                let mut kept = Vec::new();
                for part in parts {
                    match self.simplified(ranges, part)? {
                        Formula::True => {}
                        Formula::False => return Some(Formula::False),
                        other => kept.push(other),
                    }
                }
                if kept.is_empty() { Formula::True } else { Formula::And(kept) }
            }
            Formula::Or(parts) => {
                let mut kept = Vec::new();
                for part in parts {
                    match self.simplified(ranges, part)? {
                        Formula::False => {}
                        Formula::True => return Some(Formula::True),
                        other => kept.push(other),
                    }
                }
                match kept.len() {
                    0 => Formula::False,
                    1 => kept.pop()?,
                    _ => Formula::Or(kept),
                }
            }
            constant => constant,
        })
    }

    /// A term of which all inputs but one are fixed, as ranges of that one where it is a comparison of floats.
    fn with_one_left(
        &mut self,
        ranges: &[Range],
        t: TermId,
        inputs: &BTreeSet<usize>,
        value: bool,
    ) -> Option<Formula> {
        let opaque = Formula::Term(t, value);
        let mut free = inputs.iter().filter(|i| ranges.get(**i).is_none_or(|(low, high)| low < high));
        let (Some(one), None) = (free.next(), free.next()) else { return Some(opaque) };
        let is_wide = ranges.get(*one).and_then(|r| width(*r)).is_none_or(|w| w > FEW_NUMBERS);
        if inputs.len() < 2 || !is_wide || !monotone::is_candidate(self.pool, t) {
            return Some(opaque);
        }
        self.spend(FEW_NUMBERS as u64)?;
        let found = monotone::of_one(self.pool, self.domain, t, ranges, *one);
        Some(match (found, value) {
            (Some(found), true) => found,
            (Some(found), false) => found.not()?,
            (None, _) => opaque,
        })
    }

    fn inputs_of(&mut self, t: TermId) -> Arc<BTreeSet<usize>> {
        let (pool, domain) = (self.pool, self.domain);
        let find = || {
            let below = pool.reachable(&[t]);
            Arc::new(below.into_iter().filter_map(|t| domain.position(t)).collect())
        };
        self.inputs.entry(t).or_insert_with(find).clone()
    }

    /// Whether a term holds where its inputs are fixed; inside `None`: it is undefined. Outside: too much work.
    fn evaluated(&mut self, ranges: &[Range], t: TermId) -> Option<Option<bool>> {
        let mut table = self.table(t);
        let found = self.spend(table.cost(ranges)).and_then(|()| table.holds(self.pool, self.domain, ranges));
        self.tables.put(table);
        found
    }

    fn table(&mut self, t: TermId) -> Box<Table> {
        let inputs = self.inputs_of(t);
        self.tables.take(self.pool, self.domain, t, &inputs)
    }

    /// Counts input by input where something is evaluated and there are few; `None`: it was given up.
    fn enumerated(&mut self, ranges: &[Range], over: &[usize], parts: &[Formula]) -> Option<i128> {
        let mut tables: Vec<(TermId, Box<Table>)> = Vec::new();
        for part in parts {
            if let Formula::Term(t, _) = part
                && tables.iter().all(|(known, _)| known != t)
            {
                tables.push((*t, self.table(*t)));
            }
        }
        let found = self.enumerated_with(ranges, over, parts, &mut tables);
        tables.into_iter().for_each(|(_, table)| self.tables.put(table));
        found
    }

    fn enumerated_with(
        &mut self,
        ranges: &[Range],
        over: &[usize],
        parts: &[Formula],
        tables: &mut [(TermId, Box<Table>)],
    ) -> Option<i128> {
        let weight = over.iter().try_fold(1i128, |all, i| {
            let pieces = self.pieces(*i, *ranges.get(*i)?);
            all.checked_mul(pieces.first()?.1)
        })?;
        let mut at: Vec<Range> = ranges.to_vec();
        over.iter().try_for_each(|i| {
            let low = ranges.get(*i)?.0;
            *at.get_mut(*i)? = (low, low);
            Some(())
        })?;
        let mut all = 0i128;
        loop {
            self.spend(1)?;
            let mut holds = Some(true);
            for part in parts {
                let own = match part {
                    Formula::AtMost(l) => Some(l.range(&at)?.1 <= 0),
                    Formula::Term(t, value) => {
                        let (_, table) = tables.iter_mut().find(|(known, _)| known == t)?;
                        self.spend(table.cost(&at) - 1)?;
                        table.holds(self.pool, self.domain, &at)?.map(|holds| holds == *value)
                    }
                    _ => return None,
                };
                match own {
                    Some(true) => {}
                    Some(false) => {
                        holds = Some(false);
                        break;
                    }
                    None => holds = None,
                }
            }
            match holds {
                Some(true) => all += weight,
                Some(false) => {}
                // Undefined, and nothing leaves it out.
                None => {
                    self.stopped = Some(Count::Unknown);
                    return None;
                }
            }
            if !next(&mut at, ranges, over) {
                return Some(all);
            }
        }
    }

    fn inputs_in(&mut self, part: &Formula, found: &mut BTreeSet<usize>) {
        match part {
            Formula::True | Formula::False => {}
            Formula::AtMost(l) => found.extend(l.terms.iter().map(|(i, _)| *i)),
            Formula::Term(t, _) => found.extend(self.inputs_of(*t).iter()),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|p| self.inputs_in(p, found)),
        }
    }

    /// The parts by the inputs that connect them.
    fn components(&mut self, parts: &[Formula]) -> Vec<(BTreeSet<usize>, Vec<Formula>)> {
        let mut groups: Vec<(BTreeSet<usize>, Vec<Formula>)> = Vec::new();
        for part in parts {
            let mut inputs = BTreeSet::new();
            self.inputs_in(part, &mut inputs);
            let mut group = (inputs, vec![part.clone()]);
            let (touched, apart) = groups.into_iter().partition(|(g, _)| !g.is_disjoint(&group.0));
            groups = apart;
            let touched: Vec<(BTreeSet<usize>, Vec<Formula>)> = touched;
            for (inputs, parts) in touched {
                group.0.extend(inputs);
                group.1.extend(parts);
            }
            groups.push(group);
        }
        groups
    }

    /// The ranges of equal weight within a range; a quotient counts once.
    fn pieces(&self, i: usize, range: Range) -> Vec<(Range, i128)> {
        self.domain.inputs.get(i).map_or_else(|| vec![(range, 1)], |input| input.pieces(range))
    }

    fn component(
        &mut self,
        ranges: &[Range],
        inputs: &BTreeSet<usize>,
        parts: Vec<Formula>,
        depth: usize,
    ) -> Option<i128> {
        let over: Vec<usize> = inputs.iter().copied().collect();
        if let Some(at) = parts.iter().position(|p| matches!(p, Formula::Or(_))) {
            return self.alternatives(ranges, &over, parts, at, depth);
        }
        // Inside, each value of an input counts the same.
        for &i in inputs {
            let range = *ranges.get(i)?;
            let pieces = self.pieces(i, range);
            if pieces.iter().all(|(r, _)| *r == range) && !pieces.is_empty() {
                continue;
            }
            let mut all = 0i128;
            for (piece, _) in pieces {
                let mut slice = ranges.to_vec();
                *slice.get_mut(i)? = piece;
                all = all.checked_add(self.count(slice, &over, parts.clone(), depth + 1)?)?;
            }
            return Some(all);
        }
        let evaluated = parts.iter().filter(|p| matches!(p, Formula::Term(..)));
        let mut cut = BTreeSet::new();
        evaluated.cloned().collect::<Vec<_>>().iter().for_each(|p| self.inputs_in(p, &mut cut));
        if cut.is_empty()
            && let Some(n) = self.closed(ranges, &over, &parts)
        {
            return Some(n);
        }
        let points = over.iter().try_fold(1i128, |all, i| all.checked_mul(width(*ranges.get(*i)?)?));
        if !cut.is_empty() && points.is_some_and(|n| n <= FEW_POINTS && n <= i128::from(*self.work)) {
            return self.enumerated(ranges, &over, &parts);
        }
        // What cannot be paid for is not begun.
        if points.is_none_or(|n| n > i128::from(*self.work)) && self.rest_on_all(&parts, inputs) {
            self.stopped = Some(Count::TooLarge);
            return None;
        }
        // The shortest of the inputs that can still be cut.
        let choice = if cut.is_empty() { inputs } else { &cut };
        let wide = choice.iter().filter_map(|i| Some((width(*ranges.get(*i)?)?, *i))).filter(|(w, _)| *w > 1);
        let Some((slices, along)) = wide.min() else {
            // Nothing is left to cut, and something undefined is left.
            self.stopped = Some(Count::Unknown);
            return None;
        };
        // Nor are more slices.
        if u128::try_from(slices).ok()? > u128::from(*self.work) {
            self.stopped = Some(Count::TooLarge);
            return None;
        }
        let (low, high) = *ranges.get(along)?;
        let mut all = 0i128;
        for value in low..=high {
            let mut slice = ranges.to_vec();
            *slice.get_mut(along)? = (value, value);
            all = all.checked_add(self.count(slice, &over, parts.clone(), depth + 1)?)?;
        }
        Some(all)
    }

    /// Whether all parts are evaluated, and only where all of these inputs are fixed: then there is no way around any
    /// of the points.
    fn rest_on_all(&mut self, parts: &[Formula], inputs: &BTreeSet<usize>) -> bool {
        parts.iter().all(|part| match part {
            Formula::Term(t, _) => *self.inputs_of(*t) == *inputs && !monotone::is_candidate(self.pool, *t),
            _ => false,
        })
    }

    /// Counts what is linear without slices, but for few of them. `None`: numbers are too large, or work does not
    /// suffice.
    fn closed(&mut self, ranges: &[Range], over: &[usize], parts: &[Formula]) -> Option<i128> {
        let own: Vec<Range> = over.iter().map(|i| ranges.get(*i).copied()).collect::<Option<_>>()?;
        if over.len() > 2 {
            let mut widths: Vec<i128> = own.iter().map(|r| width(*r)).collect::<Option<_>>()?;
            widths.sort_unstable();
            let slices = widths.iter().rev().skip(2).try_fold(1i128, |all, w| all.checked_mul(*w));
            if slices.is_some_and(|n| n <= FEW_SLICES) {
                return None;
            }
        }
        let half = |p: &Formula| {
            let Formula::AtMost(l) = p else { return None };
            let factor = |i: &usize| l.terms.iter().find(|(j, _)| i == j).map_or(0, |(_, c)| *c);
            Some(Half { a: over.iter().map(factor).collect(), b: l.constant.checked_neg()? })
        };
        let halves = parts.iter().map(half).collect::<Option<_>>()?;
        // What is too much to count whole may still be cut.
        let mut work = *self.work / 2;
        let granted = work;
        let points = Polytope { ranges: own, halves }.points(&mut work);
        *self.work -= granted - work;
        let points = points?;
        over.iter().try_fold(points, |all, i| {
            let pieces = self.pieces(*i, *ranges.get(*i)?);
            all.checked_mul(pieces.first()?.1)
        })
    }

    /// Adds the alternatives of one part: each without those before it.
    fn alternatives(
        &mut self,
        ranges: &[Range],
        over: &[usize],
        mut parts: Vec<Formula>,
        at: usize,
        depth: usize,
    ) -> Option<i128> {
        let Formula::Or(choices) = parts.swap_remove(at) else { return None };
        let mut all = 0i128;
        for choice in choices {
            let mut one = parts.clone();
            parts.push(choice.not()?);
            one.push(choice);
            all = all.checked_add(self.count(ranges.to_vec(), over, one, depth + 1)?)?;
        }
        Some(all)
    }
}

/// The next point of a box, whose last input changes first; whether there is one.
fn next(at: &mut [Range], ranges: &[Range], over: &[usize]) -> bool {
    for i in over.iter().rev() {
        let (Some(own), Some((low, high))) = (at.get_mut(*i), ranges.get(*i)) else { continue };
        if own.0 < *high {
            *own = (own.0 + 1, own.0 + 1);
            return true;
        }
        *own = (*low, *low);
    }
    false
}

/// A sum with the inputs that have one value left put in.
fn substituted(ranges: &[Range], l: &Linear) -> Option<Linear> {
    let mut rest = Linear { terms: Vec::new(), constant: l.constant };
    for (i, c) in &l.terms {
        let (low, high) = *ranges.get(*i)?;
        match low == high {
            true => rest.constant = rest.constant.checked_add(c.checked_mul(low)?)?,
            false => rest.terms.push((*i, *c)),
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests;
