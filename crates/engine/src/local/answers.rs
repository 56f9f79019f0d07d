//! Which calls of two paths answer alike, and what is left of a path without what its version's own calls do.
//!
//! Calls that stand in each other's place share what they give and what they leave if they call one function with the
//! same arguments; others have answers of their own. What a call of one version alone does to memory is taken out
//! (`docs/design/local-differences.md`), but for errno, which is looked at because of it.

use super::compare::{Comparer, order, tags};
use super::machine::{End, Event, Hazard, Literal, Path};
use super::mistake::{Mistake, is_made};
use super::side::call_types;
use super::sites::{Tag, is_statement};
use super::tested::reads;
use super::widened;
use crate::ir::{App, Const, Instr, LOOP_VALUE, Leaf, Rebuilt, Sort, Term, TermId, TermPool, Uf};
use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};
use crate::mvicfg::{MvId, Mvicfg};
use crate::semantics::library;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// A path with what its version's own calls did taken out.
pub(super) struct Settled {
    pub path: Path,
    pub apart: bool,
}

/// Why nothing is known of two paths, where a statement that is not modelled does not stand in both, in the same state
/// as far as its names go, among the same calls.
pub(super) fn unmodelled(graph: &Mvicfg, old: &Path, new: &Path) -> Option<String> {
    let is_unknown = |e: &&Event| is_statement(e.callee.as_deref());
    let [mine, theirs] = [old, new].map(|path| path.events.iter().filter(is_unknown).collect::<Vec<_>>());
    let Instr::Unknown { reason, .. } = &graph.node(mine.first().or(theirs.first())?.node).instr else {
        return None;
    };
    let of = |events: &[&Event]| events.iter().map(|e| (e.tag, e.callee.clone())).collect::<Vec<_>>();
    let (before, after) = (tags(old), tags(new));
    let common = |path: &Path| -> Vec<Tag> {
        order(path).into_iter().filter(|tag| before.contains(tag) && after.contains(tag)).collect()
    };
    (of(&mine) != of(&theirs) || common(old) != common(new)).then(|| reason.to_string())
}

/// A call whose result is tested, and how.
#[derive(Clone)]
struct Tested {
    node: MvId,
    callee: Option<Arc<str>>,
    result: TermId,
    tests: BTreeSet<TermId>,
}

impl Comparer<'_> {
    /// Both paths without what the calls did that only one of them makes.
    pub(super) fn settled(&mut self, old: &Path, new: &Path) -> (Settled, Settled) {
        let (of_old, of_new) = (tags(old), tags(new));
        let a = self.without(old, |e| !of_new.contains(&e.tag));
        let b = self.without(new, |e| !of_old.contains(&e.tag));
        (a, b)
    }

    /// The newer path with the answers of the older one's calls, where calls are aligned ([`aligned_calls`]).
    pub(super) fn aligned(&mut self, old: &Path, new: &Path) -> Path {
        let mut path = new.clone();
        for (i, j) in aligned_calls(&old.events, &new.events) {
            let (theirs, mine) = (&old.events[i], path.events[j].clone());
            // Loops of one version answer nothing of the other's.
            if theirs.rounds || mine.rounds {
                continue;
            }
            let taken = path.events.iter().any(|e| e.tag == theirs.tag);
            // Sites that were matched may call different functions.
            if taken && theirs.tag != mine.tag || theirs.tag == mine.tag && theirs.memory.1 == mine.memory.1 {
                continue;
            }
            let tag = theirs.tag;
            let mut renamed = vec![];
            if let (Some(r), Some(t)) = (mine.result, theirs.result)
                && self.pool.sort(r) == self.pool.sort(t)
            {
                renamed.push((r, t));
            }
            if let (Term::App(App::Uf(Uf::Call { .. }), args), Term::App(App::Uf(uf), _)) =
                (self.pool.get(mine.memory.1).clone(), self.pool.get(theirs.memory.1).clone())
            {
                renamed.push((mine.memory.1, self.pool.app(App::Uf(uf), &args)));
            }
            for (from, to) in renamed {
                self.rename(&mut path, from, to);
            }
            (path.events[j].tag, path.events[j].site) = (tag, tag);
        }
        self.tell_apart(old, &mut path);
        path
    }

    /// Gives calls answers of their own that stand in the place of the other version's and call another function, or
    /// with other arguments.
    fn tell_apart(&mut self, old: &Path, path: &mut Path) {
        // As long as two answers count as one, what the paths rest on may exclude each other: of the newer one's
        // conditions those count that ask no answer.
        let mut terms: Vec<TermId> = old.literals.iter().map(|l| l.term).collect();
        let asked = path.literals.iter().map(|l| l.term).chain(self.premises.conditions.iter().copied());
        terms.extend(asked.filter(|t| !asks_answers(&self.pool, *t)));
        let joint = terms.into_iter().fold(self.pool.bool(true), |all, t| self.pool.and(all, t));
        for k in 0..path.events.len() {
            let mine = path.events[k].clone();
            let Some(theirs) = old.events.iter().find(|e| e.tag == mine.tag && !mine.rounds) else {
                continue;
            };
            let is_same_function = theirs.callee == mine.callee || is_made(Mistake::CalleesIgnored);
            if is_same_function
                && (self.is_equal_call(theirs, &mine, joint)
                    || self.is_equal_but_for_own(old, path, k, joint))
            {
                self.widen_answer(theirs, &mine, path);
                continue;
            }
            // Numbers of nodes and of loops are below.
            let tag = mine.tag + 3 * self.graph.nodes.len() as Tag;
            let mut renamed = Vec::new();
            if let Some(result) = mine.result {
                let name = format!("{LOOP_VALUE}call {tag}").into();
                let sort = self.pool.sort(result);
                renamed.push((result, self.pool.leaf(Leaf::Param { name, sort })));
            }
            let after = self.pool.get(mine.memory.1).clone();
            let other = match &after {
                _ if mine.memory.0 == mine.memory.1 => None,
                Term::App(App::Uf(_), args) => {
                    let name = mine.callee.as_deref().unwrap_or("*");
                    let callee = format!("{name}#{tag}:Memory").into();
                    let uf = Uf::Call { callee, part: Sort::Mem };
                    Some(self.pool.app(App::Uf(uf), args))
                }
                // What it leaves in errno.
                Term::App(app, args) => {
                    let name = format!("{LOOP_VALUE}errno {tag}").into();
                    let number = self.pool.leaf(Leaf::Param { name, sort: Sort::Bv(32) });
                    let args: Vec<TermId> = args.iter().take(2).copied().chain([number]).collect();
                    Some(self.pool.app(app.clone(), &args))
                }
                _ => None,
            };
            renamed.extend(other.map(|other| (mine.memory.1, other)));
            for (from, to) in renamed {
                self.rename(path, from, to);
            }
            path.events[k].tag = tag;
        }
    }

    /// Makes what a call gives to the newer path the older one's number, where the function has a wider type now.
    fn widen_answer(&mut self, theirs: &Event, mine: &Event, path: &mut Path) {
        let (Some(narrow), Some(wide)) = (theirs.result, mine.result) else { return };
        let widths = [narrow, wide].map(|t| self.pool.sort(t).bits());
        let ([Some(m), Some(n)], Some((ty, _))) = (widths, call_types(self.graph, theirs.class, theirs.node))
        else {
            return;
        };
        if m < n
            && let Some(number) = widened::extended(&mut self.pool, narrow, ty, n)
        {
            self.rename(path, wide, number);
        }
    }

    /// Results of calls of the newer path that stand in the place of another call of the older one, each with that one's.
    pub(super) fn replaced(&self, old: &Path, new: &Path) -> Vec<(TermId, TermId)> {
        let of = |mine: &Event| {
            let is_its_place = |e: &&Event| {
                e.site == mine.site && e.tag != mine.tag && self.replaceable.contains(&(e.node, mine.node))
            };
            let theirs = old.events.iter().find(is_its_place)?;
            Some((mine.result?, theirs.result?))
        };
        new.events.iter().filter_map(of).collect()
    }

    /// The calls of a region that one version alone makes and tests, each with the one of the other version that it
    /// takes the place of, where what is asked of their results is the same: where there is one in each version, or of
    /// the same functions in the same order but for names; else those of a function that is called once in each.
    pub(super) fn replaceable(&mut self, older: &[Path], newer: &[Path]) -> BTreeSet<(MvId, MvId)> {
        let (old, new) = (self.tested_calls(older), self.tested_calls(newer));
        let own = |calls: &[Tested], others: &[Tested]| -> Vec<Tested> {
            calls.iter().filter(|c| !others.iter().any(|o| o.node == c.node)).cloned().collect()
        };
        let (old, new) = (own(&old, &new), own(&new, &old));
        if are_renamed(&old, &new) {
            let all = || old.iter().zip(&new);
            return match all().all(|(theirs, mine)| self.are_asked_alike(theirs, mine)) {
                true => all().map(|(theirs, mine)| (theirs.node, mine.node)).collect(),
                false => BTreeSet::new(),
            };
        }
        let only = |of: &[Tested], like: &Tested| -> Option<Tested> {
            let mut found = of.iter().filter(|c| c.callee.is_some() && c.callee == like.callee);
            found.next().filter(|_| found.next().is_none()).cloned()
        };
        let once = old.iter().filter_map(|call| only(&old, call).zip(only(&new, call)));
        let alike: Vec<(Tested, Tested)> = once.collect();
        let alike = alike.into_iter().filter(|(theirs, mine)| self.are_asked_alike(theirs, mine));
        alike.map(|(theirs, mine)| (theirs.node, mine.node)).collect()
    }

    /// Whether what is asked of the result of a newer call is asked of that of an older one.
    fn are_asked_alike(&mut self, theirs: &Tested, mine: &Tested) -> bool {
        self.pool.sort(theirs.result) == self.pool.sort(mine.result)
            && mine.tests.iter().all(|test| {
                let test = self.rename_term(*test, mine.result, theirs.result);
                let negation = self.pool.not(test);
                theirs.tests.contains(&test) || theirs.tests.contains(&negation)
            })
    }

    /// The calls of some paths whose results are tested, in the order in which they are made.
    fn tested_calls(&self, paths: &[Path]) -> Vec<Tested> {
        let mut found: Vec<Tested> = Vec::new();
        for path in paths {
            for literal in &path.literals {
                let asked = reads(&self.pool, [literal.term]);
                for event in path.events.iter().filter(|e| !e.rounds) {
                    let Some(result) = event.result.filter(|r| asked.contains(r)) else { continue };
                    match found.iter_mut().find(|t| t.node == event.node) {
                        Some(known) => _ = known.tests.insert(literal.term),
                        None => found.push(Tested {
                            node: event.node,
                            callee: event.callee.clone(),
                            result,
                            tests: BTreeSet::from([literal.term]),
                        }),
                    }
                }
            }
        }
        found.sort_by_key(|t| t.node);
        found
    }

    /// Conditions with the answers of other calls in the place of some.
    pub(super) fn with_answers(
        &mut self,
        literals: &[Literal],
        answers: &[(TermId, TermId)],
    ) -> Vec<Literal> {
        let mut found = literals.to_vec();
        for (from, to) in answers {
            found.iter_mut().for_each(|l| l.term = self.rename_term(l.term, *from, *to));
        }
        found
    }

    /// Whether a call of both paths gets the same arguments if calls that only one of them makes leave memory as it is.
    fn is_equal_but_for_own(&mut self, old: &Path, path: &Path, k: usize, joint: TermId) -> bool {
        let (a, b) = self.settled(old, path);
        let mine = &b.path.events[k];
        let theirs = a.path.events.iter().find(|e| e.tag == mine.tag);
        (a.apart || b.apart) && theirs.is_some_and(|theirs| self.is_equal_call(theirs, mine, joint))
    }

    /// Memory as before, but for an errno of a call's own.
    fn with_errno(&mut self, before: TermId, tag: Tag) -> TermId {
        let bits = self.sides[1].version.unit.data_model.pointer_bits();
        let errno = self.pool.leaf(Leaf::SymbolAddr { symbol: library::ERRNO.into(), bits });
        let name = format!("{LOOP_VALUE}errno {tag}").into();
        let number = self.pool.leaf(Leaf::Param { name, sort: Sort::Bv(32) });
        self.pool.app(App::Store { bytes: 4 }, &[before, errno, number])
    }

    fn rename_term(&mut self, t: TermId, from: TermId, to: TermId) -> TermId {
        self.pool.rebuilt(t, &|_, t| if t == from { Rebuilt::By(to) } else { Rebuilt::Kept })
    }

    fn rename(&mut self, path: &mut Path, from: TermId, to: TermId) {
        let (pool, mut known) = (&mut self.pool, FxHashMap::from_iter([(from, to)]));
        path.map_terms(&mut |t| pool.rebuilt_among(t, &mut known, |_, _, _| Rebuilt::Kept));
    }

    fn without(&mut self, whole: &Path, is_own: impl Fn(&Event) -> bool) -> Settled {
        let mut path = whole.clone();
        let mut apart = false;
        let mut stripped = Vec::new();
        for k in 0..path.events.len() {
            let event = path.events[k].clone();
            let (before, after) = event.memory;
            // Nothing asks what a call leaves behind that does not come back.
            let is_last = path.end == End::Ends && k + 1 == path.events.len();
            if !is_own(&event) || before == after || is_last {
                continue;
            }
            apart = true;
            // What it leaves in errno is looked at because of it.
            let with_errno = self.with_errno(before, event.tag);
            self.rename(&mut path, after, with_errno);
            let mut past = PastErrno::new((with_errno, before));
            path.map_terms(&mut |t| past.of(&mut self.pool, t));
            stripped.push((with_errno, before));
        }
        for (with_errno, before) in stripped.into_iter().rev() {
            path.memory = self.rename_term(path.memory, with_errno, before);
        }
        // A path that rests on what a call changes is there all the same.
        let terms: Vec<TermId> = path.literals.iter().map(|l| l.term).collect();
        let is_never = |pool: &mut TermPool, t: TermId| {
            let negation = pool.not(t);
            pool.as_const(t) == Some(Const::FALSE) || terms.contains(&negation)
        };
        if terms.iter().any(|t| is_never(&mut self.pool, *t)) {
            path.literals = whole.literals.clone();
        }
        if apart {
            // That something is undefined may be so for want of what the calls write.
            let is_same =
                |k: usize, h: &Hazard| whole.hazards.get(k).is_some_and(|w| w.condition == h.condition);
            let mut k = 0;
            path.hazards.retain(|h| {
                k += 1;
                is_same(k - 1, h)
            });
            path.whole = Some(Rc::new(whole.clone()));
        }
        Settled { path, apart }
    }
}

/// Whether calls are of the same functions in the same order, but for names: each function's calls became one other
/// function's, which had none.
fn are_renamed(old: &[Tested], new: &[Tested]) -> bool {
    let names = |of: &[Tested]| of.iter().map(|c| c.callee.clone()).collect::<Vec<_>>();
    let (old, new) = (names(old), names(new));
    let pairs = || old.iter().zip(&new);
    let is_one = |(a, b): (&Option<Arc<str>>, &Option<Arc<str>>)| {
        a == b
            || a.is_some()
                && b.is_some()
                && !new.contains(a)
                && !old.contains(b)
                && pairs().all(|(p, q)| (p == a) == (q == b))
    };
    old.len() == new.len() && (old.len() == 1 || pairs().all(is_one))
}

/// Which calls of two paths stand in each other's place, in order: those of one function with the same arguments;
/// between these, those of one function; between these one by one, where there are as many in both.
fn aligned_calls(old: &[Event], new: &[Event]) -> Vec<(usize, usize)> {
    let calls = [old, new].map(|all| all.iter().map(|e| (&e.callee, &e.args)).collect::<Vec<_>>());
    let names = [old, new].map(|all| all.iter().map(|e| &e.callee).collect::<Vec<_>>());
    let mut pairs = Vec::new();
    for op in aligned(Algorithm::Lcs, &calls[0], &calls[1]) {
        let (a, b) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            pairs.extend(a.zip(b));
            continue;
        }
        let (Some(of_old), Some(of_new)) = (names[0].get(a.clone()), names[1].get(b.clone())) else {
            continue;
        };
        for op in aligned(Algorithm::Lcs, of_old, of_new) {
            let (inner_a, inner_b) = (op.old_range(), op.new_range());
            if matches!(op, DiffOp::Equal { .. }) || inner_a.len() == inner_b.len() {
                pairs.extend(inner_a.map(|k| k + a.start).zip(inner_b.map(|k| k + b.start)));
            }
        }
    }
    pairs
}

/// What is read elsewhere than in errno, read from memory in which a call has not written that: nobody has its address.
struct PastErrno {
    /// Memory in which the call has written errno, and memory before that.
    errno: (TermId, TermId),
    known: FxHashMap<TermId, TermId>,
    memories: FxHashMap<TermId, TermId>,
}

impl PastErrno {
    fn new(errno: (TermId, TermId)) -> PastErrno {
        PastErrno { errno, known: FxHashMap::default(), memories: FxHashMap::default() }
    }

    fn of(&mut self, pool: &mut TermPool, t: TermId) -> TermId {
        let PastErrno { errno, known, memories } = self;
        pool.rebuilt_among(t, known, |pool, t, known| {
            let Term::App(app @ App::Load { .. }, args) = pool.get(t).clone() else { return Rebuilt::Kept };
            match args.as_slice() {
                &[memory, address] if !is_errno(pool, address) => {
                    let address = known.get(&address).copied().unwrap_or(address);
                    let memory = without_errno(pool, memory, *errno, known, memories);
                    Rebuilt::By(pool.app(app, &[memory, address]))
                }
                _ => Rebuilt::Kept,
            }
        })
    }
}

fn is_errno(pool: &TermPool, address: TermId) -> bool {
    matches!(pool.get(address), Term::Leaf(Leaf::SymbolAddr { symbol, .. }) if &**symbol == library::ERRNO)
}

/// Memory in which a call has not written errno. `known`: what becomes of its parts; `memories`: of memory so far.
fn without_errno(
    pool: &mut TermPool,
    memory: TermId,
    errno: (TermId, TermId),
    known: &FxHashMap<TermId, TermId>,
    memories: &mut FxHashMap<TermId, TermId>,
) -> TermId {
    let (mut chain, mut inner) = (Vec::new(), memory);
    while inner != errno.0
        && !memories.contains_key(&inner)
        && let Term::App(_, args) = pool.get(inner)
        && let Some(before) = args.first().copied().filter(|m| pool.sort(*m) == Sort::Mem)
    {
        chain.push(inner);
        inner = before;
    }
    let end = match inner == errno.0 {
        true => errno.1,
        // Memory that does not begin there stays as it is.
        false => memories.get(&inner).copied().unwrap_or(inner),
    };
    let is_other = end == inner;
    for link in chain.into_iter().rev() {
        let before =
            pool.args(link).first().map_or(inner, |before| memories.get(before).copied().unwrap_or(end));
        let made = match pool.get(link).clone() {
            Term::App(app, args) if !is_other => {
                let rest = args.iter().skip(1).map(|a| known.get(a).copied().unwrap_or(*a));
                let args: Vec<TermId> = std::iter::once(before).chain(rest).collect();
                pool.app(app, &args)
            }
            _ => link,
        };
        memories.insert(link, made);
    }
    match memory == errno.0 {
        true => errno.1,
        false => memories.get(&memory).copied().unwrap_or(memory),
    }
}

/// Whether a condition has to do with what calls gave or left.
pub(super) fn asks_answers(pool: &TermPool, t: TermId) -> bool {
    pool.reachable(&[t]).into_iter().any(|r| match pool.get(r) {
        Term::Leaf(Leaf::Param { name, .. }) => {
            name.strip_prefix(LOOP_VALUE).is_some_and(|n| n.starts_with("call ") || n.starts_with("errno "))
        }
        Term::App(App::Uf(Uf::Call { part, .. }), _) => *part == Sort::Mem,
        _ => false,
    })
}
