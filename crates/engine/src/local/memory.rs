//! What paths leave in memory, held against each other write by write.
//!
//! Memory is a term: what is stored where, on top of the memory at the point. Two terms that are not the same are
//! taken apart into their writes; what only one has differs, and so does what both write to one place in other
//! values.

use super::compare::{Comparer, Found, is_whole};
use super::difference::Item;
use super::machine::{End, Path};
use super::mistake::{Mistake, is_made};
use crate::ir::{App, Leaf, Op, Sort, Term, TermId, TermPool, Uf};
use crate::mvicfg::{ClassId, MvId};
use crate::smt::Decision;

/// Bytes at an address, and what they become.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Write {
    address: TermId,
    bytes: u64,
    to: Written,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Value(TermId),
    /// What is at an address.
    Copy(TermId),
    Zeros,
}

/// Bytes of the largest place whose parts are compared.
const MOST_BYTES: u64 = 64;
/// Writes of a path that are looked at one by one.
const MOST_WRITES: usize = 16;

impl Comparer<'_> {
    /// Memory without what was written to locals that end with the function. A structure is returned by its address:
    /// what was written to that one, the caller gets.
    pub(super) fn kept(&mut self, memory: TermId, end: &End) -> TermId {
        if !is_whole(end) {
            return memory;
        }
        let returned = match end {
            End::Return(Some(value)) => self.pool.reachable(&[*value]),
            _ => Vec::new(),
        };
        let is_returned = |pool: &TermPool, to: TermId| {
            let is_local = |t: &TermId| matches!(pool.get(*t), Term::Leaf(Leaf::LocalAddr { .. }));
            pool.reachable(&[to]).iter().any(|t| is_local(t) && returned.contains(t))
        };
        let mut memory = memory;
        while let Term::App(App::Store { .. } | App::ZeroBytes { .. } | App::CopyBytes { .. }, args) =
            self.pool.get(memory)
        {
            let (Some(&below), Some(&to)) = (args.first(), args.get(1)) else { break };
            if !is_local(&self.pool, to) || is_returned(&self.pool, to) {
                break;
            }
            memory = below;
        }
        memory
    }

    /// What the sides write to memory in different ways.
    pub(super) fn memory_items(&mut self, paths: [&Path; 2], joint: TermId, found: &mut Found) {
        let memories = ClassId::PAIR.map(|c| self.kept(paths[c].memory, &paths[c].end));
        if memories[0] == memories[1] || is_made(Mistake::MemoryIgnored) {
            return;
        }
        let reason = || "what is left in memory".to_owned();
        let writes = memories.map(|m| self.writes(m));
        let [Some(old), Some(new)] = writes else {
            return found.unsure(reason, [None, None]);
        };
        let mut differs = false;
        for (side, (mine, theirs)) in [(&old, &new), (&new, &old)].into_iter().enumerate() {
            let mut mine = mine.clone();
            mine.sort_by_key(|w| paths[side].stored.iter().rposition(|(to, _)| *to == w.address));
            for w in mine.iter().filter(|w| !theirs.contains(w)) {
                let stored = paths[side].stored.iter().rfind(|(to, _)| *to == w.address);
                let item = w.item(stored.map(|(_, node)| *node));
                let is_there = theirs.iter().find(|o| o.address == w.address && o.bytes == w.bytes);
                // What both leave there is the same, whatever writes it: part by part, or what was there before.
                let is_in_pieces = |all: &[Write]| all.iter().any(|o| o.is_partly(w, &self.pool));
                if (is_there.is_none() || is_in_pieces(&old) || is_in_pieces(&new))
                    && self.is_same_there(memories, w, joint)
                {
                    continue;
                }
                if let (Some(Written::Value(other)), Written::Value(value)) = (is_there.map(|o| o.to), w.to) {
                    match self.equal(value, other, joint) {
                        Decision::Equal => continue,
                        Decision::Open { .. } if !self.is_evident(value, other) => {
                            let mut both = [None, None];
                            both[side] = Some(item);
                            found.unsure(reason, both);
                            continue;
                        }
                        _ => {}
                    }
                }
                differs = true;
                found.items[side].push(item);
            }
        }
        let is_silent = !differs && found.items.iter().all(Vec::is_empty);
        if is_silent
            && !self.writes_the_same(memories, joint)
            && !self.leaves_the_same(memories, [&old, &new], joint)
        {
            found.unsure(reason, [None, None]);
        }
    }

    /// Whether two memories that come of one by writes alone have the same wherever one of these went.
    fn leaves_the_same(&mut self, memories: [TermId; 2], writes: [&[Write]; 2], joint: TermId) -> bool {
        if writes.iter().any(|all| all.len() > MOST_WRITES) {
            return false;
        }
        let [old, new] = memories.map(|m| begins_at(&self.pool, m));
        old.is_some() && old == new && writes.concat().iter().all(|w| self.is_same_there(memories, w, joint))
    }

    /// Whether two memories come of the same writes and calls in the same order.
    fn writes_the_same(&mut self, memories: [TermId; 2], joint: TermId) -> bool {
        let [mut a, mut b] = memories;
        while a != b {
            let (Term::App(f, x), Term::App(g, y)) = (self.pool.get(a), self.pool.get(b)) else {
                return false;
            };
            let is_write = matches!(
                f,
                App::Store { .. } | App::CopyBytes { .. } | App::ZeroBytes { .. } | App::Uf(Uf::Call { .. })
            );
            if f != g || !is_write || x.len() != y.len() {
                return false;
            }
            let (x, y) = (x.clone(), y.clone());
            let rest = x.iter().zip(&y).skip(1);
            let rest: Vec<(TermId, TermId)> = rest.map(|(p, q)| (*p, *q)).collect();
            if !rest.into_iter().all(|(p, q)| matches!(self.equal(p, q, joint), Decision::Equal)) {
                return false;
            }
            let (Some(below), Some(under)) = (x.first(), y.first()) else { return false };
            (a, b) = (*below, *under);
        }
        true
    }

    /// Whether both memories have the same where a write went, as far as that is small.
    fn is_same_there(&mut self, memories: [TermId; 2], w: &Write, joint: TermId) -> bool {
        if w.bytes > MOST_BYTES {
            return false;
        }
        let own = match w.to {
            Written::Value(value) => Some(self.pool.sort(value)),
            Written::Copy(_) | Written::Zeros => None,
        };
        let own = own.filter(|sort| sort.bits().map(u64::from) == Some(w.bytes * 8));
        let Some(address_bits) = self.pool.sort(w.address).bits() else { return false };
        let mut at = 0;
        while at < w.bytes {
            let part = || [8, 4, 2, 1].into_iter().find(|n| at + n <= w.bytes).unwrap_or(1);
            let bytes = if own.is_some() { w.bytes } else { part() };
            let sort = own.unwrap_or(Sort::Bv(bytes as u16 * 8));
            let offset = self.pool.bv(address_bits, i128::from(at));
            let address = self.pool.op(Op::Add, &[w.address, offset]);
            let [old, new] = memories.map(|m| self.pool.app(App::Load { sort, bytes }, &[m, address]));
            if !matches!(self.equal(old, new, joint), Decision::Equal) {
                return false;
            }
            at += bytes;
        }
        true
    }

    /// The writes that made a memory, in the order of its term: `None` where something else wrote as well.
    fn writes(&mut self, memory: TermId) -> Option<Vec<Write>> {
        let mut found = Vec::new();
        let mut at = memory;
        loop {
            match self.pool.get(at) {
                Term::Leaf(_) => return Some(found),
                Term::App(App::Store { bytes }, args) => {
                    let &[below, address, value] = args.as_slice() else { return None };
                    found.push(Write { address, bytes: *bytes, to: Written::Value(value) });
                    at = below;
                }
                Term::App(App::CopyBytes { bytes }, args) => {
                    let &[below, address, from] = args.as_slice() else { return None };
                    found.push(Write { address, bytes: *bytes, to: Written::Copy(from) });
                    at = below;
                }
                Term::App(App::ZeroBytes { bytes }, args) => {
                    let &[below, address] = args.as_slice() else { return None };
                    found.push(Write { address, bytes: *bytes, to: Written::Zeros });
                    at = below;
                }
                Term::App(App::Uf(Uf::Call { .. }), args) => at = *args.first()?,
                _ => return None,
            }
        }
    }
}

impl Write {
    /// Whether it goes to a part of where another one goes, or to more.
    fn is_partly(&self, other: &Write, pool: &TermPool) -> bool {
        let [(own, start), (theirs, begin)] = [self, other].map(|w| taken_apart(pool, w.address));
        let [end, until] = [(start, self), (begin, other)].map(|(at, w)| at + i128::from(w.bytes));
        own == theirs && start < until && begin < end && (start, end) != (begin, until)
    }

    fn item(&self, node: Option<MvId>) -> Item {
        let Write { address, bytes, to } = *self;
        match to {
            Written::Value(value) => Item::Write { address, bytes, value, node },
            Written::Copy(from) => Item::Fill { address, from: Some(from), node },
            Written::Zeros => Item::Fill { address, from: None, node },
        }
    }
}

/// What an address is a number of bytes behind, and that number.
fn taken_apart(pool: &TermPool, address: TermId) -> (Vec<TermId>, i128) {
    let parts = pool.as_op(address, Op::Add).unwrap_or(std::slice::from_ref(&address));
    let offset = |t: &TermId| pool.as_const(*t).and_then(|c| c.signed());
    let base = parts.iter().filter(|t| offset(t).is_none()).copied().collect();
    (base, parts.iter().filter_map(offset).sum())
}

/// The memory that writes alone lead to; `None` where a call stands among them.
fn begins_at(pool: &TermPool, memory: TermId) -> Option<TermId> {
    let mut at = memory;
    loop {
        match pool.get(at) {
            Term::Leaf(_) => return Some(at),
            Term::App(App::Store { .. } | App::CopyBytes { .. } | App::ZeroBytes { .. }, args) => {
                at = *args.first()?;
            }
            _ => return None,
        }
    }
}

fn is_local(pool: &TermPool, address: TermId) -> bool {
    match pool.get(address) {
        Term::Leaf(Leaf::LocalAddr { .. }) => true,
        Term::App(App::Op(Op::Add), args) => {
            args.iter().filter(|a| matches!(pool.get(**a), Term::Leaf(Leaf::LocalAddr { .. }))).count() == 1
        }
        _ => false,
    }
}
