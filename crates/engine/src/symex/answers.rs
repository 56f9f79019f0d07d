//! Questions to the solver, known by what they say: whether an input meets some conditions.
//!
//! The name of a question is a hash of its conditions, whatever pool their terms belong to and in whatever order
//! they were made. Each is put in a pool and to a solver of its own, in an order that follows from the name; so the
//! answer, the input that it gives, and what it costs follow from the name alone. That is why an answer of an
//! earlier run is as good as a new one: it saves the question, and changes nothing else.
//!
//! An exploration asks of path conditions, so what is kept of it is its decided path conditions, each with an input
//! that takes the path, and the inputs on which assertions fail.

use crate::ir::eval::Assignment;
use crate::ir::{App, Const, Leaf, Op, Sort, Term, TermId, TermPool};
use crate::smt;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What all questions of a pool may cost, in multiples of the limit of one.
const TOTAL: u64 = 16;
/// How often the limit is halved: what stays open is seldom alone.
const HALVINGS: u64 = 3;
/// Most answers that are kept of one version of a function.
const MAX_KEPT: usize = 4_000;

/// Hash of a term, or of a question.
type Digest = u128;

/// What is known of some conditions.
#[derive(Clone, Debug)]
pub enum Answer {
    /// With an input that meets them, where there is one that evaluation confirms.
    Feasible(Option<Assignment>),
    Infeasible,
    Open,
}

impl Answer {
    pub fn is_infeasible(&self) -> bool {
        matches!(self, Answer::Infeasible)
    }
}

/// An answer without a pool.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    verdict: Feasibility,
    /// What it cost, in the solver's units.
    units: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Feasibility {
    Feasible(Option<Model>),
    Infeasible,
    Open,
}

/// An input without a pool.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    values: BTreeMap<Digest, Const>,
    /// Bytes by memory and address.
    bytes: Vec<((u128, u64), u8)>,
}

/// Questions with their answers.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    known: BTreeMap<Digest, Known>,
}

impl Answers {
    pub fn new() -> Answers {
        Answers::default()
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Adds what another one knows.
    pub fn join(&mut self, more: Answers) {
        for (question, known) in more.known {
            self.known.entry(question).or_insert(known);
        }
    }

    /// The answers as they are kept; of too many, some.
    pub fn entries(&self) -> Vec<Entry> {
        self.known.iter().take(MAX_KEPT).map(|(question, known)| Entry::of(*question, known)).collect()
    }

    /// The answers that were kept; `None` where one is none.
    pub fn of(entries: &[Entry]) -> Option<Answers> {
        let known: Option<BTreeMap<Digest, Known>> = entries.iter().map(Entry::read).collect();
        Some(Answers { known: known? })
    }
}

/// An answer as it is kept. Numbers of more than 64 bits are in hexadecimal digits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    question: String,
    /// `+`, `-`, or `?`.
    answer: String,
    units: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<EntryModel>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryModel {
    /// Term, sort, bits.
    values: Vec<(String, String, String)>,
    /// Memory, address, byte.
    bytes: Vec<(String, u64, u8)>,
}

impl Entry {
    fn of(question: Digest, known: &Known) -> Entry {
        let (answer, model) = match &known.verdict {
            Feasibility::Feasible(model) => ("+", model.as_ref()),
            Feasibility::Infeasible => ("-", None),
            Feasibility::Open => ("?", None),
        };
        let value = |(term, c): (&Digest, &Const)| Some((hex(*term), sort_text(c.sort())?, hex(c.to_bits())));
        let model = model.map(|m| EntryModel {
            values: m.values.iter().filter_map(value).collect(),
            bytes: m.bytes.iter().map(|((root, at), byte)| (hex(*root), *at, *byte)).collect(),
        });
        Entry { question: hex(question), answer: answer.into(), units: known.units, model }
    }

    fn read(&self) -> Option<(Digest, Known)> {
        let number = |text: &str| u128::from_str_radix(text, 16).ok();
        let model = |m: &EntryModel| -> Option<Model> {
            let value = |(term, sort, bits): &(String, String, String)| {
                Some((number(term)?, Const::from_bits(sort_of(sort)?, number(bits)?)?))
            };
            let byte = |(root, at, byte): &(String, u64, u8)| Some(((number(root)?, *at), *byte));
            Some(Model {
                values: m.values.iter().map(value).collect::<Option<_>>()?,
                bytes: m.bytes.iter().map(byte).collect::<Option<_>>()?,
            })
        };
        let verdict = match (self.answer.as_str(), &self.model) {
            ("+", Some(m)) => Feasibility::Feasible(Some(model(m)?)),
            ("+", None) => Feasibility::Feasible(None),
            ("-", None) => Feasibility::Infeasible,
            ("?", None) => Feasibility::Open,
            _ => return None,
        };
        Some((number(&self.question)?, Known { verdict, units: self.units }))
    }
}

fn hex(n: u128) -> String {
    format!("{n:x}")
}

/// The sorts that inputs have.
fn sort_text(sort: Sort) -> Option<String> {
    Some(match sort {
        Sort::Bool => "b".into(),
        Sort::Bv(width) => format!("v{width}"),
        Sort::F32 => "f".into(),
        Sort::F64 => "d".into(),
        Sort::F80 => "x".into(),
        _ => return None,
    })
}

fn sort_of(text: &str) -> Option<Sort> {
    Some(match text {
        "b" => Sort::Bool,
        "f" => Sort::F32,
        "d" => Sort::F64,
        "x" => Sort::F80,
        _ => Sort::Bv(text.strip_prefix('v')?.parse().ok().filter(|w| (1..=128).contains(w))?),
    })
}

/// What became of a question.
pub struct Asked {
    pub answer: Answer,
    /// It was not asked before in this pool.
    pub is_new: bool,
    /// The solver was asked.
    pub was_put: bool,
}

/// Puts questions about the terms of one pool.
pub struct Questions<'k> {
    known: &'k mut Answers,
    limits: smt::Limits,
    digests: FxHashMap<TermId, Digest>,
    met: FxHashSet<Digest>,
    /// Units of all questions, and how many stayed open, whether they were put or known.
    spent: u64,
    open: u64,
}

impl<'k> Questions<'k> {
    pub fn new(known: &'k mut Answers, limits: smt::Limits) -> Questions<'k> {
        Questions {
            known,
            limits,
            digests: FxHashMap::default(),
            met: FxHashSet::default(),
            spent: 0,
            open: 0,
        }
    }

    /// Asks for an input that meets all conditions. Cost: linear in their terms, and the solver's where the answer
    /// is not known.
    pub fn ask(&mut self, pool: &TermPool, conditions: &[TermId]) -> Asked {
        self.digest_all(pool, conditions);
        let mut ordered: Vec<(Digest, TermId)> = conditions.iter().map(|c| (self.digest(*c), *c)).collect();
        ordered.sort_unstable();
        ordered.dedup_by_key(|(d, _)| *d);
        // None at all would be no limit.
        let limit = (self.limits.rlimit >> self.open.min(HALVINGS)).max(1);
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{limit} {}", self.limits.pointer_bits).as_bytes());
        ordered.iter().for_each(|(d, _)| _ = hasher.update(&d.to_le_bytes()));
        let question = first_bits(&hasher);
        let is_new = self.met.insert(question);
        if is_new && self.spent >= self.limits.rlimit.saturating_mul(TOTAL) {
            // What is too much here is too much in every run.
            self.met.remove(&question);
            return Asked { answer: Answer::Open, is_new, was_put: false };
        }
        let was_put = !self.known.known.contains_key(&question);
        let known = match self.known.known.get(&question) {
            Some(known) => known.clone(),
            None => {
                let known = self.put(pool, &ordered, limit);
                self.known.known.insert(question, known.clone());
                known
            }
        };
        if is_new {
            self.spent = self.spent.saturating_add(known.units);
            self.open += u64::from(known.verdict == Feasibility::Open);
        }
        let answer = match known.verdict {
            Feasibility::Feasible(model) => Answer::Feasible(model.map(|m| self.here(pool, conditions, &m))),
            Feasibility::Infeasible => Answer::Infeasible,
            Feasibility::Open => Answer::Open,
        };
        Asked { answer, is_new, was_put }
    }

    fn digest(&self, t: TermId) -> Digest {
        self.digests.get(&t).copied().unwrap_or_default()
    }

    /// Hashes what is reachable and was not hashed yet: arguments of a commutative operator without their order,
    /// which is one of the pool's.
    fn digest_all(&mut self, pool: &TermPool, roots: &[TermId]) {
        for t in pool.reachable(roots) {
            if self.digests.contains_key(&t) {
                continue;
            }
            let mut hasher = blake3::Hasher::new();
            match pool.get(t) {
                Term::Const(c) => _ = hasher.update(format!("c{c:?}").as_bytes()),
                Term::Leaf(leaf) => _ = hasher.update(format!("l{leaf:?}").as_bytes()),
                Term::App(app, args) => {
                    hasher.update(format!("a{app:?}").as_bytes());
                    let mut args: Vec<Digest> = args.iter().map(|a| self.digest(*a)).collect();
                    if commutes(app) {
                        args.sort_unstable();
                    }
                    args.iter().for_each(|d| _ = hasher.update(&d.to_le_bytes()));
                }
            }
            self.digests.insert(t, first_bits(&hasher));
        }
    }

    /// Asks the solver, in a pool that has nothing but the question.
    fn put(&self, pool: &TermPool, ordered: &[(Digest, TermId)], limit: u64) -> Known {
        let (mut alone, mut copies) = (TermPool::new(), FxHashMap::default());
        let roots: Vec<TermId> =
            ordered.iter().map(|(_, t)| self.copied(pool, *t, &mut alone, &mut copies)).collect();
        let limits = smt::Limits { rlimit: limit, ..self.limits };
        let mut solver = smt::Solver::new(limits);
        let verdict = match solver.check(&alone, &roots) {
            smt::Verdict::Unsat => Feasibility::Infeasible,
            smt::Verdict::Sat(model) if model.confirmed => {
                let mut values = BTreeMap::new();
                for (t, copy) in &copies {
                    if let (true, Some(c)) = (is_input(pool, *t), model.input.get(*copy)) {
                        values.insert(self.digest(*t), c);
                    }
                }
                Feasibility::Feasible(Some(Model { values, bytes: model.input.bytes() }))
            }
            smt::Verdict::Sat(_) => Feasibility::Feasible(None),
            smt::Verdict::Unknown(_) => Feasibility::Open,
        };
        Known { verdict, units: solver.statistics().rlimit }
    }

    /// Copies a term to another pool, in the order of hashes.
    fn copied(
        &self,
        from: &TermPool,
        root: TermId,
        to: &mut TermPool,
        copies: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        let ordered = |t: TermId| match from.get(t) {
            Term::App(app, args) => {
                let mut args = args.clone();
                if commutes(app) {
                    args.sort_by_key(|a| self.digest(*a));
                }
                args
            }
            _ => Vec::new(),
        };
        let mut stack = vec![(root, false)];
        while let Some((t, is_ready)) = stack.pop() {
            if copies.contains_key(&t) {
                continue;
            }
            let args = ordered(t);
            if !is_ready {
                stack.push((t, true));
                stack.extend(args.iter().rev().map(|a| (*a, false)));
                continue;
            }
            let copy = match from.get(t) {
                Term::Const(c) => to.constant(*c),
                Term::Leaf(leaf) => to.leaf(leaf.clone()),
                Term::App(app, _) => {
                    let args: Vec<TermId> = args.iter().filter_map(|a| copies.get(a).copied()).collect();
                    to.app(app.clone(), &args)
                }
            };
            copies.insert(t, copy);
        }
        copies.get(&root).copied().unwrap_or(root)
    }

    /// An input in the terms of the pool.
    fn here(&self, pool: &TermPool, conditions: &[TermId], model: &Model) -> Assignment {
        let mut input = Assignment::new();
        for t in pool.reachable(conditions) {
            if let (true, Some(c)) = (is_input(pool, t), model.values.get(&self.digest(t))) {
                input.set(t, *c);
            }
        }
        for ((root, at), byte) in &model.bytes {
            input.set_byte_of(*root, *at, *byte);
        }
        input
    }
}

fn first_bits(hasher: &blake3::Hasher) -> Digest {
    let mut bits = [0; 16];
    bits.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Digest::from_le_bytes(bits)
}

fn commutes(app: &App) -> bool {
    matches!(app, App::Op(op) if op.commutes() || matches!(op, Op::And | Op::Or))
}

/// Whether an input fixes the value of a term.
fn is_input(pool: &TermPool, t: TermId) -> bool {
    match pool.get(t) {
        Term::Leaf(leaf) => !matches!(leaf, Leaf::Memory | Leaf::Stdin | Leaf::World | Leaf::NoOutput),
        Term::App(app, _) => matches!(app, App::Uf(_)),
        Term::Const(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs<const N: usize>(pool: &mut TermPool, names: [&str; N]) -> [TermId; N] {
        names.map(|x| pool.leaf(Leaf::Param { name: x.into(), sort: Sort::Bv(32) }))
    }

    /// `a + b < c`, `c < 100`, over inputs that are made in this order.
    fn conditions(pool: &mut TermPool, order: [&str; 3]) -> ([TermId; 2], BTreeMap<String, TermId>) {
        let leaves = inputs(pool, order);
        let of: BTreeMap<String, TermId> = order.iter().map(|n| n.to_string()).zip(leaves).collect();
        let sum = pool.op(Op::Add, &[of["a"], of["b"]]);
        let hundred = pool.bv(32, 100);
        ([pool.op(Op::Slt, &[sum, of["c"]]), pool.op(Op::Slt, &[of["c"], hundred])], of)
    }

    #[test]
    fn a_question_has_one_answer_whatever_came_before() {
        let ask = |order: [&str; 3], before: bool, known: &mut Answers| {
            let mut pool = TermPool::new();
            let (c, of) = conditions(&mut pool, order);
            let mut questions = Questions::new(known, smt::Limits::default());
            if before {
                questions.ask(&pool, &[c[0]]);
            }
            let asked = questions.ask(&pool, &[c[1], c[0]]);
            let Answer::Feasible(Some(model)) = asked.answer else { panic!("an input") };
            let values: Vec<Option<Const>> = ["a", "b", "c"].map(|n| model.get(of[n])).to_vec();
            (values, asked.was_put)
        };
        let first = ask(["a", "b", "c"], false, &mut Answers::new());
        assert_eq!(ask(["c", "b", "a"], true, &mut Answers::new()), first);
        let mut kept = Answers::new();
        assert_eq!(ask(["b", "a", "c"], true, &mut kept), first);
        // Known by now, and known from what was written down.
        assert_eq!(ask(["c", "a", "b"], false, &mut kept), (first.0.clone(), false));
        let text = serde_json::to_vec(&kept.entries()).unwrap();
        let entries: Vec<Entry> = serde_json::from_slice(&text).unwrap();
        let mut read = Answers::of(&entries).unwrap();
        assert_eq!(ask(["c", "a", "b"], false, &mut read), (first.0, false));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        let entry = |answer: &str, question: &str, sort: &str| Entry {
            question: question.into(),
            answer: answer.into(),
            units: 0,
            model: Some(EntryModel {
                values: vec![("1".into(), sort.into(), "7".into())],
                bytes: Vec::new(),
            }),
        };
        assert_eq!(Answers::of(&[entry("+", "ab", "v32")]).map(|a| a.len()), Some(1));
        for wrong in [
            entry("-", "ab", "v32"),
            entry("!", "ab", "v32"),
            entry("+", "xyz", "v32"),
            entry("+", "ab", "v0"),
        ] {
            assert!(Answers::of(&[wrong]).is_none());
        }
    }

    #[test]
    fn limits_count_what_is_known_as_what_is_asked() {
        let mut known = Answers::new();
        for was_put in [true, false] {
            let mut pool = TermPool::new();
            let (c, _) = conditions(&mut pool, ["a", "b", "c"]);
            let mut questions = Questions::new(&mut known, smt::Limits { rlimit: 1, pointer_bits: 64 });
            let asked = questions.ask(&pool, &c);
            assert!(matches!(asked.answer, Answer::Open) && asked.is_new && asked.was_put == was_put);
            assert_eq!(questions.open, 1);
        }
    }
}
