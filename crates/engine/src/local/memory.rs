//! What paths leave in memory, held against each other write by write.
//!
//! Memory is a term: what is stored where, on top of the memory at the point. Two terms that are not the same are
//! taken apart into their writes; what only one has differs, and so does what both write to one place in other
//! values.

use super::compare::{Comparer, Found, is_whole};
use super::difference::Item;
use super::machine::{End, Path};
use super::mistake::{Mistake, is_made};
use crate::ir::{App, Leaf, Op, Term, TermId, TermPool, Uf};
use crate::mvicfg::MvId;
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
        let memories = [0, 1].map(|c: usize| self.kept(paths[c].memory, &paths[c].end));
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
                // Writing what the other version leaves there as it is.
                if is_there.is_none() && self.is_there_already(memories[1 - side], w, joint) {
                    continue;
                }
                differs = true;
                found.items[side].push(item);
            }
        }
        if !differs && found.items.iter().all(Vec::is_empty) && !self.writes_the_same(memories, joint) {
            found.unsure(reason, [None, None]);
        }
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

    /// Whether a memory has the value at the place already.
    fn is_there_already(&mut self, memory: TermId, w: &Write, joint: TermId) -> bool {
        let Written::Value(value) = w.to else { return false };
        let sort = self.pool.sort(value);
        if sort.bits().map(u64::from) != Some(w.bytes * 8) {
            return false;
        }
        let there = self.pool.app(App::Load { sort, bytes: w.bytes }, &[memory, w.address]);
        matches!(self.equal(there, value, joint), Decision::Equal)
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
    fn item(&self, node: Option<MvId>) -> Item {
        let Write { address, bytes, to } = *self;
        match to {
            Written::Value(value) => Item::Write { address, bytes, value, node },
            Written::Copy(from) => Item::Fill { address, from: Some(from), node },
            Written::Zeros => Item::Fill { address, from: None, node },
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
