//! What tests of texts have to do with each other: `strcmp`, `strncmp`, `memcmp` and those that ignore case.
//!
//! Each result is a number that follows from the arguments and from memory, and nothing else is known of it. So states
//! would be told in which a text is `"on"` and `"off"` at once, or in which `memcmp` and `strncmp` disagree about the
//! same bytes. That a result is 0 says of a text how it begins: of two that say this of one text, one may imply the
//! other, or both may exclude each other. And no text is as long as half of all addresses: `strlen(s) + 1` is not 0.

use super::calls::literal;
use super::machine::Literal;
use crate::ir::{App, Op, Sort, Term, TermId, TermPool, Uf, Unit};
use std::collections::BTreeSet;

/// Tests that are held against each other.
const MOST_TESTS: usize = 32;

/// How far two texts are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// To their ends.
    Whole,
    /// To their ends, or so many bytes.
    Most(TermId),
    /// So many bytes.
    Bytes(TermId),
}

/// A call of a function whose result is 0 where texts are alike.
struct TextTest {
    result: TermId,
    texts: [TermId; 2],
    memory: TermId,
    extent: Extent,
    ignores_case: bool,
}

/// Conditions of which no two that stand together hold.
#[derive(Default)]
pub(super) struct Exclusions(Vec<(TermId, TermId)>);

impl Exclusions {
    /// Those of the tests among some terms. `units`: those whose literals are read.
    pub fn of(pool: &mut TermPool, asked: &BTreeSet<TermId>, units: [&Unit; 2]) -> Exclusions {
        let tests: Vec<TextTest> = asked.iter().filter_map(|t| test(pool, *t)).take(MOST_TESTS).collect();
        let mut found = Vec::new();
        for (k, a) in tests.iter().enumerate() {
            for (j, b) in tests.iter().enumerate().filter(|(j, b)| *j != k && a.memory == b.memory) {
                let (is_alike, is_other) = (alike(pool, a.result), alike(pool, b.result));
                let said = beginnings(a, b, pool, units);
                if a.implies(b, pool) || said.as_ref().is_some_and(|(p, q)| p.implies(q)) {
                    found.push((is_alike, pool.not(is_other)));
                } else if k < j && said.is_some_and(|(p, q)| p.excludes(&q)) {
                    found.push((is_alike, is_other));
                }
            }
        }
        found.extend(kinds(pool, asked));
        Exclusions(found)
    }

    /// Whether conditions do not hold together.
    pub fn contradict(&self, conditions: &[TermId]) -> bool {
        self.0.iter().any(|(a, b)| conditions.contains(a) && conditions.contains(b))
    }

    /// Leaves out what others imply.
    pub fn shorten(&self, pool: &mut TermPool, literals: &mut Vec<Literal>) {
        let mut k = 0;
        while let Some(own) = literals.get(k).map(|l| l.term) {
            let not = pool.not(own);
            let is_there = |t: TermId| literals.iter().any(|l| l.term == t);
            let is_implied =
                |(a, b): &(TermId, TermId)| *a == not && is_there(*b) || *b == not && is_there(*a);
            match self.0.iter().any(is_implied) {
                true => _ = literals.remove(k),
                false => k += 1,
            }
        }
    }
}

/// What is of one kind of characters is of another, too (C17, 7.4.1).
const KINDS: [(&str, &str); 4] =
    [("isblank", "isspace"), ("isalpha", "isalnum"), ("ispunct", "isprint"), ("isgraph", "isprint")];

/// Of two tests of one character: that it is of a kind, and not of one that this kind is part of.
fn kinds(pool: &mut TermPool, asked: &BTreeSet<TermId>) -> Vec<(TermId, TermId)> {
    let kind = |t: &TermId| match pool.get(*t) {
        Term::App(App::Uf(Uf::Library { name, .. }), args) => {
            let known = KINDS.iter().flat_map(|(a, b)| [*a, *b]).find(|kind| *kind == &**name)?;
            Some((known, *args.first()?, *t))
        }
        _ => None,
    };
    let tests: Vec<(&str, TermId, TermId)> = asked.iter().filter_map(kind).take(MOST_TESTS).collect();
    let mut found = Vec::new();
    for (part, of, narrow) in &tests {
        for (_, _, wide) in tests.iter().filter(|(whole, c, _)| c == of && KINDS.contains(&(*part, *whole))) {
            let (is_none, is_other) = (alike(pool, *narrow), alike(pool, *wide));
            found.push((pool.not(is_none), is_other));
        }
    }
    found
}

/// Whether a test is made of a text.
pub(super) fn asks(pool: &TermPool, t: TermId) -> bool {
    pool.reachable(&[t]).into_iter().any(|t| test(pool, t).is_some())
}

/// That a result is 0.
fn alike(pool: &mut TermPool, result: TermId) -> TermId {
    let width = pool.sort(result).bits().unwrap_or(32);
    let zero = pool.bv(width, 0);
    pool.eq(result, zero)
}

fn test(pool: &TermPool, t: TermId) -> Option<TextTest> {
    let Term::App(App::Uf(Uf::Call { callee, part: Sort::Bv(_) }), args) = pool.get(t) else { return None };
    let (extent, ignores_case): (fn(TermId) -> Extent, bool) = match callee.strip_suffix(":result")? {
        "strcmp" => (|_| Extent::Whole, false),
        "strcasecmp" => (|_| Extent::Whole, true),
        "strncmp" => (Extent::Most, false),
        "strncasecmp" => (Extent::Most, true),
        "memcmp" | "bcmp" => (Extent::Bytes, false),
        _ => return None,
    };
    match **args {
        [a, b, memory] if extent(a) == Extent::Whole => {
            Some(TextTest { result: t, texts: [a, b], memory, extent: Extent::Whole, ignores_case })
        }
        [a, b, n, memory] if extent(n) != Extent::Whole => {
            Some(TextTest { result: t, texts: [a, b], memory, extent: extent(n), ignores_case })
        }
        _ => None,
    }
}

impl TextTest {
    /// Whether texts that this test finds alike the other one, of the same texts, finds alike.
    fn implies(&self, other: &TextTest, pool: &TermPool) -> bool {
        let [a, b] = self.texts;
        let is_same = other.texts == [a, b] || other.texts == [b, a];
        // Whether no text ends within so many bytes.
        let is_inside = |n: TermId| self.texts.iter().any(|text| is_length(pool, n, *text, self.memory));
        let covers = |n: TermId, m: TermId| n == m || at_most(pool, m, n);
        is_same
            && (other.ignores_case || !self.ignores_case)
            && match (self.extent, other.extent) {
                (Extent::Whole, Extent::Whole | Extent::Most(_)) => true,
                (Extent::Whole, Extent::Bytes(n)) => !self.ignores_case && is_inside(n),
                (Extent::Most(n) | Extent::Bytes(n), Extent::Most(m)) => covers(n, m),
                (Extent::Bytes(n), Extent::Bytes(m)) => covers(n, m),
                (Extent::Most(n), Extent::Bytes(m)) => n == m && is_inside(n),
                (Extent::Most(_) | Extent::Bytes(_), Extent::Whole) => false,
            }
    }

    /// How a text begins that is found alike with the other one, which is a literal.
    fn beginning(&self, text: TermId, pool: &TermPool, units: [&Unit; 2]) -> Option<Beginning> {
        let [a, b] = self.texts;
        let other = if a == text { b } else { a };
        let mut known = units.iter().filter_map(|unit| literal(pool, unit, other));
        let mut bytes = known.next()?;
        if known.any(|more| more != bytes) {
            return None;
        }
        bytes.push(0);
        let n = |n: TermId| usize::try_from(pool.as_const(n)?.unsigned()?).ok();
        match self.extent {
            Extent::Whole => {}
            Extent::Most(most) => bytes.truncate(n(most)?),
            Extent::Bytes(all) => {
                let all = n(all).filter(|all| *all <= bytes.len())?;
                bytes.truncate(all);
            }
        }
        Some(Beginning { bytes, ignores_case: self.ignores_case })
    }
}

/// What two tests say of a text that both compare with literals.
fn beginnings(
    a: &TextTest,
    b: &TextTest,
    pool: &TermPool,
    units: [&Unit; 2],
) -> Option<(Beginning, Beginning)> {
    let text = *a.texts.iter().find(|text| b.texts.contains(text))?;
    Some((a.beginning(text, pool, units)?, b.beginning(text, pool, units)?))
}

/// How a text begins, its terminator included.
struct Beginning {
    bytes: Vec<u8>,
    ignores_case: bool,
}

impl Beginning {
    fn implies(&self, other: &Beginning) -> bool {
        let begins = |own: &[u8], theirs: &[u8]| own.starts_with(theirs);
        match (self.ignores_case, other.ignores_case) {
            (false, false) => begins(&self.bytes, &other.bytes),
            (true, false) => false,
            (_, true) => {
                let [own, theirs] = [self, other].map(|b| b.bytes.to_ascii_lowercase());
                [&own, &theirs].iter().all(|b| b.is_ascii()) && begins(&own, &theirs)
            }
        }
    }

    /// What case means for bytes that are not ASCII is the locale's.
    fn excludes(&self, other: &Beginning) -> bool {
        if !self.ignores_case && !other.ignores_case {
            return self.bytes.iter().zip(&other.bytes).any(|(a, b)| a != b);
        }
        let [own, theirs] = [self, other].map(|b| b.bytes.to_ascii_lowercase());
        own.is_ascii() && theirs.is_ascii() && own.iter().zip(&theirs).any(|(a, b)| a != b)
    }
}

/// Whether a number is the length of a text.
fn is_length(pool: &TermPool, n: TermId, text: TermId, memory: TermId) -> bool {
    matches!(pool.get(n), Term::App(app, args) if is_strlen(app) && **args == [text, memory])
}

fn is_strlen(app: &App) -> bool {
    matches!(app, App::Uf(Uf::Call { callee, .. }) if &**callee == "strlen:result")
}

/// That lengths among some terms are those of objects: these have fewer bytes than half of all addresses.
pub(super) fn lengths(pool: &mut TermPool, asked: &BTreeSet<TermId>) -> Vec<TermId> {
    let is_length = |t: &&TermId| matches!(pool.get(**t), Term::App(app, _) if is_strlen(app));
    let found: Vec<TermId> = asked.iter().filter(is_length).copied().collect();
    let bounded = |t: TermId| {
        let zero = pool.bv(pool.sort(t).bits().unwrap_or(64), 0);
        pool.op(Op::Sle, &[zero, t])
    };
    found.into_iter().map(bounded).collect()
}

/// Whether one number is seen to be at most another one.
fn at_most(pool: &TermPool, m: TermId, n: TermId) -> bool {
    let number = |t: TermId| pool.as_const(t).and_then(|c| c.unsigned());
    number(m).zip(number(n)).is_some_and(|(m, n)| m <= n)
}
