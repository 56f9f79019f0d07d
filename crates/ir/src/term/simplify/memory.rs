//! Loads see through writes, writes have one order.
//!
//! Two addresses are known to be apart when
//! - they have different objects as bases (`&x + i` and `&y + j`: an index that leaves its object is
//!   an event of its own, after which nothing is claimed),
//! - they differ by a constant, or by a constant and multiples of a power of two (fields of the
//!   elements of one array), that keeps the regions apart,
//! - one is in a local and the other computed from nothing that can hold that local's address: what
//!   is given at entry cannot.

use super::super::{App, Const, LOOP_VALUE, Leaf, Op, Separation, Sort, Term, TermId, TermPool, Uf};
use super::linear::Linear;
use super::{bits, width};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Writes that a load looks through at most; beyond, it is left as it is.
const LOOKED_THROUGH: usize = 512;
/// Writes that a store looks through at most; fewer, because every store looks.
const SORTED_WRITES: usize = 64;
/// Terms that are searched for a local's address at most; beyond, they may hold it.
const SEARCHED: usize = 4096;
/// Nesting of joins, copies and partial writes that a load is pushed into at most.
const NESTED_LOADS: usize = 200;

/// What was found out about terms of a pool once.
#[derive(Default)]
pub(in super::super) struct Memo {
    loads: FxHashMap<(TermId, TermId, Sort, u64), TermId>,
    /// Whether the term may hold the address of the local.
    holds: FxHashMap<(TermId, TermId), bool>,
    /// Rules that are being applied inside one another right now.
    pub(super) nested: usize,
    /// What is taken to be apart right now.
    separation: Option<Rc<dyn Separation>>,
}

/// What a memo knew before something was assumed.
pub(in super::super) struct MemoSnapshot {
    loads: FxHashMap<(TermId, TermId, Sort, u64), TermId>,
    separation: Option<Rc<dyn Separation>>,
}

impl Memo {
    /// Begins to assume a separation; loads that were looked up without it are forgotten for the time
    /// being.
    pub(in super::super) fn assume(&mut self, separation: Option<Rc<dyn Separation>>) -> MemoSnapshot {
        let loads = std::mem::take(&mut self.loads);
        MemoSnapshot { loads, separation: std::mem::replace(&mut self.separation, separation) }
    }

    /// Ends what [`Memo::assume`] began.
    pub(in super::super) fn restore(&mut self, kept: MemoSnapshot) {
        self.loads = kept.loads;
        self.separation = kept.separation;
    }
}

/// Conditional pointers in two addresses that are taken apart at most.
const CONDITIONAL_POINTERS: usize = 2;

enum AddressRelation {
    Apart,
    /// The first address is the second plus this.
    Offset(i128),
    Unknown,
}

/// Splits an address into the object it points into and whether it has other addresses in it.
fn object(pool: &TermPool, address: &Linear) -> Option<TermId> {
    let is_address = |t| matches!(pool.get(t), Term::Leaf(Leaf::LocalAddr { .. } | Leaf::SymbolAddr { .. }));
    let mut found = address.terms.iter().filter(|&(&t, _)| is_address(t));
    match (found.next(), found.next()) {
        (Some((&t, 1)), None) => Some(t),
        _ => None,
    }
}

fn is_local(pool: &TermPool, t: TermId) -> bool {
    matches!(pool.get(t), Term::Leaf(Leaf::LocalAddr { .. }))
}

/// Compares the regions of `n` bytes at `a` and of `m` bytes at `b`.
fn place(pool: &mut TermPool, a: TermId, n: u64, b: TermId, m: u64) -> AddressRelation {
    place_within(pool, (a, n), (b, m), CONDITIONAL_POINTERS)
}

fn place_within(
    pool: &mut TermPool,
    (a, n): (TermId, u64),
    (b, m): (TermId, u64),
    pointers: usize,
) -> AddressRelation {
    let (x, y) = (Linear::of(pool, a), Linear::of(pool, b));
    let diff = x.clone().plus(&y, u128::MAX);
    if diff.terms.is_empty() {
        let d = Const::Bv { width: diff.width, bits: diff.constant }.signed().unwrap_or(0);
        return if d >= i128::from(m) || d <= -i128::from(n) {
            AddressRelation::Apart
        } else {
            AddressRelation::Offset(d)
        };
    }
    match (object(pool, &x), object(pool, &y)) {
        (Some(p), Some(q)) if p != q => return AddressRelation::Apart,
        (Some(p), None) if is_local(pool, p) && !may_hold(pool, b, p) => return AddressRelation::Apart,
        (None, Some(q)) if is_local(pool, q) && !may_hold(pool, a, q) => return AddressRelation::Apart,
        _ => {}
    }
    // Modulo the power of two that divides every coefficient the distance is known.
    let step = diff.terms.values().map(|c| 1u128 << c.trailing_zeros().min(64)).min().unwrap_or(1);
    let d = diff.constant % step;
    if d >= u128::from(m) && step - d >= u128::from(n) {
        return AddressRelation::Apart;
    }
    if are_other_elements(pool, &diff, n, m) {
        return AddressRelation::Apart;
    }
    let Some(separation) = pool.memo.separation.clone() else { return AddressRelation::Unknown };
    if separation.apart(pool, a, n, b, m) {
        return AddressRelation::Apart;
    }
    // Where a pointer is one of two, each of them may be known to lead elsewhere.
    for (address, x) in [(b, &y), (a, &x)] {
        if pointers == 0 {
            break;
        }
        let Some((p, q)) = alternatives(pool, x) else { continue };
        let apart = |pool: &mut TermPool, one| {
            let (a, b) = if address == b { (a, one) } else { (one, b) };
            matches!(place_within(pool, (a, n), (b, m), pointers - 1), AddressRelation::Apart)
        };
        if apart(pool, p) && apart(pool, q) {
            return AddressRelation::Apart;
        }
    }
    AddressRelation::Unknown
}

/// Whether a distance is one of elements whose indices, narrower than addresses, are different for sure:
/// `a[i]` and `a[i + 1]`, whether or not the sum wraps.
fn are_other_elements(pool: &TermPool, diff: &Linear, n: u64, m: u64) -> bool {
    let mut terms = diff.terms.iter();
    let (Some((&s, &c)), Some((&t, &d)), None) = (terms.next(), terms.next(), terms.next()) else {
        return false;
    };
    let mask = Const::mask(diff.width);
    let (Some((op, x)), Some((other, y))) = (extended(pool, s), extended(pool, t)) else { return false };
    let size = c.min(d);
    let narrow = pool.sort(x).bits().unwrap_or(u16::MAX);
    let fits = narrow < 64 && size < 1 << 32 && size << narrow <= 1 << (diff.width - 1);
    if op != other || pool.sort(x) != pool.sort(y) || c.wrapping_add(d) & mask != 0 || !fits {
        return false;
    }
    let indices = Linear::of(pool, x).plus(&Linear::of(pool, y), u128::MAX);
    if !indices.terms.is_empty() || indices.constant == 0 {
        return false;
    }
    let offset = Const::Bv { width: diff.width, bits: diff.constant }.signed().unwrap_or(i128::MAX);
    let size = size as i128;
    offset.abs() < size && size + offset >= i128::from(m) && size - offset >= i128::from(n)
}

/// What an address's part is extended from, and how.
fn extended(pool: &TermPool, t: TermId) -> Option<(Op, TermId)> {
    match pool.get(t) {
        Term::App(App::Op(op @ (Op::Sext(_) | Op::Zext(_))), args) => Some((*op, *args.first()?)),
        _ => None,
    }
}

/// The two addresses that a sum with a conditional pointer in it may be.
fn alternatives(pool: &mut TermPool, sum: &Linear) -> Option<(TermId, TermId)> {
    let conditional =
        |t: TermId| pool.as_op(t, Op::Ite).and_then(|args| Some((*args.get(1)?, *args.get(2)?)));
    let mut found =
        sum.terms.iter().filter(|&(_, &c)| c == 1).filter_map(|(&t, _)| Some((t, conditional(t)?)));
    let ((t, (p, q)), None) = (found.next()?, found.next()) else { return None };
    let mut rest = sum.clone();
    rest.terms.remove(&t);
    let rest = rest.build(pool);
    Some((pool.op(Op::Add, &[rest, p]), pool.op(Op::Add, &[rest, q])))
}

/// Returns whether the value of `t` may be or contain an address in the local `object`. Addresses
/// that were only read from or written to do not count, nor do truth values.
fn may_hold(pool: &mut TermPool, t: TermId, object: TermId) -> bool {
    if let Some(&known) = pool.memo.holds.get(&(t, object)) {
        return known;
    }
    let mut seen = FxHashSet::from_iter([t]);
    let mut stack = vec![t];
    let mut answer = false;
    while let Some(s) = stack.pop() {
        let args: &[TermId] = match pool.get(s) {
            Term::Const(_) => &[],
            Term::Leaf(Leaf::Havoc { .. } | Leaf::Indeterminate { .. }) => {
                answer = true;
                break;
            }
            Term::Leaf(_) if s == object => {
                answer = true;
                break;
            }
            // It stands for what a loop computes.
            Term::Leaf(Leaf::Param { name, .. }) if name.starts_with(LOOP_VALUE) => {
                answer = true;
                break;
            }
            Term::Leaf(_) => &[],
            // A loop may take addresses that its arguments do not show.
            Term::App(App::Uf(Uf::Loop { .. }), _) => {
                answer = true;
                break;
            }
            Term::App(App::Load { .. }, args) => args.get(..1).unwrap_or(&[]),
            Term::App(App::Store { .. }, args) => {
                // The memory below and the value; not the address.
                if let (Some(&m), Some(&v)) = (args.first(), args.get(2)) {
                    stack.extend([m, v].into_iter().filter(|&x| seen.insert(x)));
                }
                &[]
            }
            Term::App(App::CopyBytes { .. } | App::ZeroBytes { .. }, args) => args.get(..1).unwrap_or(&[]),
            Term::App(_, args) => args,
        };
        for &a in args {
            if pool.sort(a) != Sort::Bool && seen.insert(a) {
                stack.push(a);
            }
        }
        if seen.len() > SEARCHED {
            answer = true;
            break;
        }
    }
    pool.memo.holds.insert((t, object), answer);
    answer
}

/// Makes a load.
pub(super) fn load(pool: &mut TermPool, memory: TermId, at: TermId, sort: Sort, bytes: u64) -> TermId {
    load_below(pool, memory, at, sort, bytes, 0)
}

fn load_below(
    pool: &mut TermPool,
    memory: TermId,
    at: TermId,
    sort: Sort,
    bytes: u64,
    depth: usize,
) -> TermId {
    let key = (memory, at, sort, bytes);
    if let Some(&known) = pool.memo.loads.get(&key) {
        return known;
    }
    let loaded = forwarded(pool, memory, at, sort, bytes, depth);
    pool.memo.loads.insert(key, loaded);
    loaded
}

/// Terms of a pool beyond which loads stay as they are: looking through memories that differ by path
/// multiplies terms.
const CROWDED: usize = 100_000;

fn forwarded(pool: &mut TermPool, from: TermId, at: TermId, sort: Sort, bytes: u64, depth: usize) -> TermId {
    let mut memory = from;
    let plain = |pool: &mut TermPool, memory| pool.raw(App::Load { sort, bytes }, vec![memory, at]);
    let crowded = pool.len() > CROWDED;
    if !(1..=16).contains(&bytes) || sort.bits().is_none() || depth > NESTED_LOADS || crowded {
        return plain(pool, memory);
    }
    if let Some(&[c, p, q]) = pool.as_op(at, Op::Ite) {
        let then = load_below(pool, memory, p, sort, bytes, depth + 1);
        let otherwise = load_below(pool, memory, q, sort, bytes, depth + 1);
        return pool.ite(c, then, otherwise);
    }
    for _ in 0..LOOKED_THROUGH {
        let Term::App(app, args) = pool.get(memory) else { break };
        let (app, args) = (app.clone(), args.clone());
        let (below, to, covered) = match (&app, &args[..]) {
            (App::Op(Op::Ite), &[c, m, n]) => {
                let then = load_below(pool, m, at, sort, bytes, depth + 1);
                let otherwise = load_below(pool, n, at, sort, bytes, depth + 1);
                return pool.ite(c, then, otherwise);
            }
            (App::Store { bytes: n } | App::ZeroBytes { bytes: n }, &[m, to, ..]) => (m, to, *n),
            (App::CopyBytes { bytes: n }, &[m, to, _]) => (m, to, *n),
            (App::Uf(_), _) => {
                let assumed = pool.memo.separation.clone();
                let Some(before) = assumed.and_then(|s| s.before(pool, memory, at, bytes)) else { break };
                memory = before;
                continue;
            }
            _ => break,
        };
        let d = match place(pool, at, bytes, to, covered) {
            AddressRelation::Apart => {
                memory = below;
                continue;
            }
            AddressRelation::Unknown => break,
            AddressRelation::Offset(d) => d,
        };
        if let (App::CopyBytes { .. }, Some(&source)) = (&app, args.get(2)) {
            // Only a load that lies inside the copy reads the source.
            if d < 0 || d + i128::from(bytes) > i128::from(covered) {
                break;
            }
            let source = plus(pool, source, d);
            return load_below(pool, below, source, sort, bytes, depth + 1);
        }
        let stored = if let App::Store { .. } = app { args.get(2).copied() } else { None };
        if let Some(v) = stored
            && d == 0
            && covered == bytes
            && pool.sort(v) == sort
            && sort.bits().map(u64::from) == Some(8 * bytes)
        {
            return v;
        }
        let word = word_over(pool, below, at, bytes, (stored, covered, d), depth + 1);
        return from_word(pool, word, sort);
    }
    plain(pool, memory)
}

/// Makes the word of the `bytes` bytes at `at`, some of which a write of `covered` bytes gives that
/// starts at `at - d`; the others come from the memory below it.
fn word_over(
    pool: &mut TermPool,
    below: TermId,
    at: TermId,
    bytes: u64,
    (stored, covered, d): (Option<TermId>, u64, i128),
    depth: usize,
) -> TermId {
    let first = (-d).clamp(0, i128::from(bytes)) as u64;
    let end = (i128::from(covered) - d).clamp(0, i128::from(bytes)) as u64;
    let count = end - first;
    let middle = match stored {
        None => pool.bv(8 * count as u16, 0),
        Some(v) => {
            let word = to_word(pool, v, covered);
            let low = 8 * (i128::from(first) + d) as u16;
            bits::bits_of(pool, word, low, 8 * count as u16)
        }
    };
    let mut word = middle;
    if first > 0 {
        let low = load_below(pool, below, at, Sort::Bv(8 * first as u16), first, depth);
        word = pool.op(Op::Concat, &[word, low]);
    }
    if end < bytes {
        let n = bytes - end;
        let next = plus(pool, at, i128::from(end));
        let high = load_below(pool, below, next, Sort::Bv(8 * n as u16), n, depth);
        word = pool.op(Op::Concat, &[high, word]);
    }
    word
}

fn plus(pool: &mut TermPool, address: TermId, offset: i128) -> TermId {
    let k = pool.bv(width(pool, address), offset);
    pool.op(Op::Add, &[address, k])
}

/// Returns the bits that storing `v` writes to `bytes` bytes.
fn to_word(pool: &mut TermPool, v: TermId, bytes: u64) -> TermId {
    let bits = match pool.sort(v) {
        Sort::F32 | Sort::F64 | Sort::F80 => pool.op(Op::FToBits, &[v]),
        Sort::Bool => {
            let (one, zero) = (pool.bv(8, 1), pool.bv(8, 0));
            pool.ite(v, one, zero)
        }
        _ => v,
    };
    resized(pool, bits, 8 * bytes as u16)
}

/// Reads a word as a value of `sort`.
fn from_word(pool: &mut TermPool, word: TermId, sort: Sort) -> TermId {
    let bits = resized(pool, word, sort.bits().unwrap_or(8));
    match sort {
        Sort::F32 | Sort::F64 | Sort::F80 => pool.op(Op::BitsToF(sort), &[bits]),
        Sort::Bool => {
            let one = pool.bv(1, 1);
            pool.eq(bits, one)
        }
        _ => bits,
    }
}

fn resized(pool: &mut TermPool, t: TermId, w: u16) -> TermId {
    match width(pool, t) {
        from if from < w => pool.op(Op::Zext(w), &[t]),
        from if from > w => pool.op(Op::Trunc(w), &[t]),
        _ => t,
    }
}

/// Makes a store. An earlier store that this one covers is dropped, and stores to places apart are
/// put in the order of their addresses' ids, so that their order in the program does not matter.
pub(super) fn store(pool: &mut TermPool, memory: TermId, at: TermId, v: TermId, bytes: u64) -> TermId {
    // Writing back what is there changes nothing. (For floats it may: a NaN becomes canonical.)
    if let Term::App(App::Load { sort: sort @ Sort::Bv(w), bytes: n }, args) = pool.get(v)
        && (u64::from(*w), *n, args.get(1)) == (8 * bytes, bytes, Some(&at))
    {
        let sort = *sort;
        if load(pool, memory, at, sort, bytes) == v {
            return memory;
        }
    }
    // Stores apart from this one, outermost first.
    let mut above = Vec::new();
    let mut cursor = memory;
    let mut dropped = false;
    for _ in 0..SORTED_WRITES {
        let Term::App(App::Store { bytes: n }, args) = pool.get(cursor) else { break };
        let (n, &[below, to, old]) = (*n, &args[..]) else { break };
        match place(pool, to, n, at, bytes) {
            AddressRelation::Apart => above.push((to, old, n)),
            AddressRelation::Offset(d) if d >= 0 && d + i128::from(n) <= i128::from(bytes) => {
                cursor = below;
                dropped = true;
                break;
            }
            _ => break,
        }
        cursor = below;
    }
    let inner = above.iter().position(|&(to, ..)| to < at).unwrap_or(above.len());
    let raw = |pool: &mut TermPool, m, (to, value, n): (TermId, TermId, u64)| {
        pool.raw(App::Store { bytes: n }, vec![m, to, value])
    };
    let mut base = memory;
    if dropped {
        base = cursor;
        for &link in above[inner..].iter().rev() {
            base = raw(pool, base, link);
        }
    } else {
        for _ in 0..inner {
            base = pool.args(base).first().copied().unwrap_or(base);
        }
    }
    base = if dropped && inner == above.len() {
        // What lay below the dropped store may be covered or out of order too.
        store(pool, base, at, v, bytes)
    } else {
        raw(pool, base, (at, v, bytes))
    };
    for &link in above[..inner].iter().rev() {
        base = raw(pool, base, link);
    }
    base
}

/// Makes a copy of a region; one that a register can hold is a store of a load.
pub(super) fn copy(pool: &mut TermPool, memory: TermId, to: TermId, from: TermId, bytes: u64) -> TermId {
    if bytes == 0 || to == from {
        return memory;
    }
    if matches!(bytes, 1 | 2 | 4 | 8 | 16) {
        let word = load(pool, memory, from, Sort::Bv(8 * bytes as u16), bytes);
        return store(pool, memory, to, word, bytes);
    }
    pool.raw(App::CopyBytes { bytes }, vec![memory, to, from])
}

/// Makes a region of zeros; earlier stores inside it are dropped.
pub(super) fn zero(pool: &mut TermPool, memory: TermId, at: TermId, bytes: u64) -> TermId {
    if bytes == 0 {
        return memory;
    }
    if matches!(bytes, 1 | 2 | 4 | 8 | 16) {
        let word = pool.bv(8 * bytes as u16, 0);
        return store(pool, memory, at, word, bytes);
    }
    let mut base = memory;
    for _ in 0..SORTED_WRITES {
        let Term::App(App::Store { bytes: n }, args) = pool.get(base) else { break };
        let (n, &[below, to, _]) = (*n, &args[..]) else { break };
        match place(pool, to, n, at, bytes) {
            AddressRelation::Offset(d) if d >= 0 && d + i128::from(n) <= i128::from(bytes) => base = below,
            _ => break,
        }
    }
    pool.raw(App::ZeroBytes { bytes }, vec![base, at])
}
