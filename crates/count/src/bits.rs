//! Counts by the bits of words, from the lowest up.
//!
//! Sums, masks, shifts by constants and comparisons are automata that read all inputs bit by bit: a sum has a carry, a
//! comparison what the bits so far say. The inputs that come to the same states are counted together (Bartzis and
//! Bultan, "Efficient symbolic representations for arithmetic constraints in verification", 2003). A shift to the
//! right needs bits that are still to come: these are guessed, and each guess is held against them.

use crate::Domain;
use invdiff_ir::{App, Op, Sort, Term, TermId, TermPool};
use rustc_hash::FxHashMap;

/// Bits of a word.
const MAX_WIDTH: u16 = 128;
/// Places by which a word is shifted, and up to which factors go.
const MAX_SHIFT: u32 = 12;
const MAX_FACTOR: i128 = 1 << 12;
/// Automata of one count.
const MAX_NODES: usize = 400;
/// Inputs and guesses, of whose bits all are tried at each place.
const MAX_READ: usize = 6;
/// Terms inside one another.
const MAX_DEPTH: usize = 100;

/// What yields a bit at each place; `usize` is an earlier node. Behind its word's last bit, what it yields is not used.
#[derive(Clone, Debug)]
enum Node {
    /// What is read, by position.
    Read(usize),
    Constant(i128),
    Not(usize),
    Binary(Op, usize, usize),
    /// `factor * a + b`; the state is the carry.
    Sum {
        factor: u32,
        a: usize,
        b: usize,
    },
    /// Moved up; the state are the bits that wait.
    Later {
        of: usize,
        by: u32,
    },
    /// Moved down; the state are the last guesses, which are read.
    Sooner {
        of: usize,
        by: u32,
        guess: usize,
        width: u16,
        is_signed: bool,
    },
    /// Behind the last bit of a word comes 0, or the last bit again, which is the state.
    Extended {
        of: usize,
        width: u16,
        is_signed: bool,
    },
}

/// What is known behind the last bit; `usize` is an earlier verdict, but for those of nodes.
#[derive(Clone, Debug)]
enum Acceptance {
    Constant(bool),
    /// Of nodes: the first is less. The state: so it is by the bits so far.
    Less {
        a: usize,
        b: usize,
        width: u16,
        is_signed: bool,
    },
    /// Of nodes, the same way.
    Equal {
        a: usize,
        b: usize,
        width: u16,
    },
    Not(usize),
    And(Vec<usize>),
    Or(Vec<usize>),
    Same(usize, usize),
    Choice(usize, usize, usize),
}

/// The automata of some conditions.
struct Automata<'a> {
    pool: &'a TermPool,
    domain: &'a Domain,
    nodes: Vec<Node>,
    verdicts: Vec<Acceptance>,
    /// The states of nodes, then of verdicts, at the beginning.
    starts: [Vec<u32>; 2],
    /// Bits of what is read, inputs and guesses.
    read: Vec<u16>,
    /// Node of each input that is used.
    inputs: FxHashMap<usize, usize>,
    words: FxHashMap<TermId, usize>,
    truths: FxHashMap<TermId, usize>,
}

/// Counts the inputs that meet all conditions; `None`: an operator is no automaton of few states, an input has unequal
/// weights, or it is more work than granted.
pub(crate) fn count(pool: &TermPool, domain: &Domain, conditions: &[TermId], work: &mut u64) -> Option<i128> {
    let mut all = Automata {
        pool,
        domain,
        nodes: Vec::new(),
        verdicts: Vec::new(),
        starts: [Vec::new(), Vec::new()],
        read: Vec::new(),
        inputs: FxHashMap::default(),
        words: FxHashMap::default(),
        truths: FxHashMap::default(),
    };
    let mut wanted = conditions.iter().map(|c| all.truth(*c, 0)).collect::<Option<Vec<_>>>()?;
    let mut weight = 1i128;
    for (i, input) in domain.inputs.iter().enumerate() {
        let Some(&node) = all.inputs.get(&i) else {
            weight = weight.checked_mul(input.mass(input.range)?)?;
            continue;
        };
        match input.pieces(input.range).as_slice() {
            [] => return Some(0),
            &[(range, one)] => {
                weight = weight.checked_mul(one)?;
                wanted.extend(all.within(node, pool.sort(input.term), range)?);
            }
            _ => return None,
        }
    }
    all.run(&wanted, work)?.checked_mul(weight)
}

impl Automata<'_> {
    fn node(&mut self, node: Node, start: u32) -> usize {
        self.nodes.push(node);
        self.starts[0].push(start);
        self.nodes.len() - 1
    }

    fn verdict(&mut self, verdict: Acceptance) -> usize {
        self.starts[1].push(u32::from(matches!(verdict, Acceptance::Equal { .. })));
        self.verdicts.push(verdict);
        self.verdicts.len() - 1
    }

    /// That a node is in a range.
    fn within(&mut self, node: usize, sort: Sort, (low, high): (i128, i128)) -> Option<[usize; 2]> {
        let (width, is_signed) = (width(sort)?, low < 0);
        let [low, high] = [low, high].map(|n| self.node(Node::Constant(n), 0));
        let below = self.verdict(Acceptance::Less { a: node, b: low, width, is_signed });
        let above = self.verdict(Acceptance::Less { a: high, b: node, width, is_signed });
        Some([self.verdict(Acceptance::Not(below)), self.verdict(Acceptance::Not(above))])
    }

    fn truth(&mut self, t: TermId, depth: usize) -> Option<usize> {
        if let Some(known) = self.truths.get(&t) {
            return Some(*known);
        }
        let verdict = self.judged(t, depth)?;
        let found = self.verdict(verdict);
        self.truths.insert(t, found);
        Some(found)
    }

    fn judged(&mut self, t: TermId, depth: usize) -> Option<Acceptance> {
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(c) = self.pool.as_const(t) {
            return c.as_bool().map(Acceptance::Constant);
        }
        if self.domain.position(t).is_some() {
            let (a, b) = (self.word(t, depth)?, self.node(Node::Constant(1), 0));
            return Some(Acceptance::Equal { a, b, width: 1 });
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        if let (Op::Slt | Op::Sle | Op::Ult | Op::Ule | Op::Eq, &[a, b]) = (op, args.as_slice())
            && let Sort::Bv(width) = self.pool.sort(a)
        {
            let (a, b) = (self.word(a, depth + 1)?, self.word(b, depth + 1)?);
            let is_signed = matches!(op, Op::Slt | Op::Sle);
            return Some(match op {
                Op::Eq => Acceptance::Equal { a, b, width },
                Op::Slt | Op::Ult => Acceptance::Less { a, b, width, is_signed },
                _ => Acceptance::Not(self.verdict(Acceptance::Less { a: b, b: a, width, is_signed })),
            });
        }
        let of: Vec<usize> = args.iter().map(|a| self.truth(*a, depth + 1)).collect::<Option<_>>()?;
        match (op, of.as_slice()) {
            (Op::Not, &[a]) => Some(Acceptance::Not(a)),
            (Op::And, _) => Some(Acceptance::And(of)),
            (Op::Or, _) => Some(Acceptance::Or(of)),
            (Op::Eq, &[a, b]) => Some(Acceptance::Same(a, b)),
            (Op::Ite, &[c, a, b]) => Some(Acceptance::Choice(c, a, b)),
            _ => None,
        }
    }

    fn word(&mut self, t: TermId, depth: usize) -> Option<usize> {
        if let Some(known) = self.words.get(&t) {
            return Some(*known);
        }
        if depth > MAX_DEPTH || self.nodes.len() > MAX_NODES {
            return None;
        }
        let width = width(self.pool.sort(t))?;
        let found = match self.domain.position(t) {
            Some(input) => {
                let node = Node::Read(self.reading(width)?);
                let node = self.node(node, 0);
                self.inputs.insert(input, node);
                node
            }
            None => self.operation(t, width, depth)?,
        };
        self.words.insert(t, found);
        Some(found)
    }

    /// A place from which bits are read.
    fn reading(&mut self, width: u16) -> Option<usize> {
        self.read.push(width);
        (self.read.len() <= MAX_READ).then_some(self.read.len() - 1)
    }

    fn operation(&mut self, t: TermId, width: u16, depth: usize) -> Option<usize> {
        if let Some(c) = self.pool.as_const(t) {
            return Some(self.node(Node::Constant(c.signed()?), 0));
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        let constant = |t: TermId| self.pool.as_const(t);
        match (op, args.as_slice()) {
            (Op::Add | Op::Sub | Op::BitAnd | Op::BitOr | Op::BitXor, &[a, b]) => {
                let (a, b) = (self.word(a, depth + 1)?, self.word(b, depth + 1)?);
                Some(match op {
                    Op::Add => self.node(Node::Sum { factor: 1, a, b }, 0),
                    Op::Sub => self.difference(a, b),
                    _ => self.node(Node::Binary(op, a, b), 0),
                })
            }
            (Op::Neg, &[a]) => {
                let (zero, a) = (self.node(Node::Constant(0), 0), self.word(a, depth + 1)?);
                Some(self.difference(zero, a))
            }
            (Op::BitNot, &[a]) => {
                let a = self.word(a, depth + 1)?;
                Some(self.node(Node::Not(a), 0))
            }
            (Op::Mul, &[a, b]) => {
                let (a, by) = match constant(b) {
                    Some(by) => (a, by),
                    None => (b, constant(a)?),
                };
                self.multiple(a, by.signed()?, depth)
            }
            (Op::Shl | Op::LShr | Op::AShr, &[a, b]) => {
                let by = u32::try_from(constant(b)?.unsigned()?).ok()?;
                self.moved(op, a, by, width, depth)
            }
            (Op::Zext(_) | Op::Sext(_), &[a]) => {
                let (inner, of) = (self.pool.sort(a).bits()?, self.word(a, depth + 1)?);
                Some(self.node(Node::Extended { of, width: inner, is_signed: matches!(op, Op::Sext(_)) }, 0))
            }
            (Op::Trunc(_), &[a]) => self.word(a, depth + 1),
            _ => None,
        }
    }

    /// `a + ~b + 1`.
    fn difference(&mut self, a: usize, b: usize) -> usize {
        let b = self.node(Node::Not(b), 0);
        self.node(Node::Sum { factor: 1, a, b }, 1)
    }

    fn multiple(&mut self, a: TermId, by: i128, depth: usize) -> Option<usize> {
        let factor = by.checked_abs().filter(|by| *by <= MAX_FACTOR)? as u32;
        let (a, zero) = (self.word(a, depth + 1)?, self.node(Node::Constant(0), 0));
        let product = self.node(Node::Sum { factor, a, b: zero }, 0);
        Some(if by < 0 { self.difference(zero, product) } else { product })
    }

    fn moved(&mut self, op: Op, a: TermId, by: u32, width: u16, depth: usize) -> Option<usize> {
        let of = self.word(a, depth + 1)?;
        if by == 0 {
            return Some(of);
        }
        if by > MAX_SHIFT || by >= u32::from(width) {
            return None;
        }
        if op == Op::Shl {
            return Some(self.node(Node::Later { of, by }, 0));
        }
        let guess = self.reading(width - by as u16)?;
        Some(self.node(Node::Sooner { of, by, guess, width, is_signed: op == Op::AShr }, 0))
    }

    /// Counts the inputs for which all of some verdicts are true.
    fn run(&self, wanted: &[usize], work: &mut u64) -> Option<i128> {
        let start: Vec<u32> = self.starts.concat();
        let mut states = FxHashMap::from_iter([(start, 1i128)]);
        let cost = 2 + (self.nodes.len() + self.verdicts.len()) as u64 / 4;
        for place in 0..self.places() {
            let mut next: FxHashMap<Vec<u32>, i128> = FxHashMap::default();
            let open: Vec<usize> =
                (0..self.read.len()).filter(|r| self.read.get(*r).is_some_and(|w| place < *w)).collect();
            for (state, n) in &states {
                for choice in 0..1u32 << open.len() {
                    *work = work.checked_sub(cost)?;
                    let mut bits = vec![false; self.read.len()];
                    for (k, r) in open.iter().enumerate() {
                        *bits.get_mut(*r)? = choice >> k & 1 == 1;
                    }
                    if let Some(to) = self.step(state, place, &bits)
                        && !wanted.iter().any(|w| self.is_lost(&to, *w))
                    {
                        let count = next.entry(to).or_default();
                        *count = count.checked_add(*n)?;
                    }
                }
            }
            states = next;
        }
        let accepted = |state: &Vec<u32>| {
            let truths = self.truths_of(state);
            wanted.iter().all(|w| truths.get(*w) == Some(&true))
        };
        states.iter().filter(|(state, _)| accepted(state)).try_fold(0i128, |all, (_, n)| all.checked_add(*n))
    }

    /// How many bits matter.
    fn places(&self) -> u16 {
        let of_node = self.nodes.iter().map(|n| match n {
            Node::Extended { width, .. } | Node::Sooner { width, .. } => *width,
            _ => 0,
        });
        let of_verdict = self.verdicts.iter().map(|v| match v {
            Acceptance::Less { width, .. } | Acceptance::Equal { width, .. } => *width,
            _ => 0,
        });
        of_node.chain(of_verdict).chain(self.read.iter().copied()).max().unwrap_or(0)
    }

    /// Whether a verdict cannot become true: two words are not equal.
    fn is_lost(&self, state: &[u32], verdict: usize) -> bool {
        matches!(self.verdicts.get(verdict), Some(Acceptance::Equal { .. }))
            && state.get(self.nodes.len() + verdict) == Some(&0)
    }

    /// The states behind a bit; `None`: a guess was wrong.
    fn step(&self, state: &[u32], place: u16, read: &[bool]) -> Option<Vec<u32>> {
        let mut next = state.to_vec();
        let mut bits: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for (node, own) in self.nodes.iter().zip(&mut next) {
            let out = output(node, own, place, read, &bits)?;
            bits.push(out);
        }
        for (verdict, own) in self.verdicts.iter().zip(next.iter_mut().skip(self.nodes.len())) {
            let bit = |i: &usize| bits.get(*i).copied();
            match verdict {
                Acceptance::Less { a, b, width, is_signed } if place < *width && bit(a)? != bit(b)? => {
                    let is_sign = *is_signed && place + 1 == *width;
                    *own = u32::from(bit(if is_sign { a } else { b })?);
                }
                Acceptance::Equal { a, b, width } if place < *width && bit(a)? != bit(b)? => *own = 0,
                _ => {}
            }
        }
        Some(next)
    }

    /// All verdicts in a last state.
    fn truths_of(&self, state: &[u32]) -> Vec<bool> {
        let mut truths: Vec<bool> = Vec::with_capacity(self.verdicts.len());
        for (verdict, own) in self.verdicts.iter().zip(state.iter().skip(self.nodes.len())) {
            let of = |i: &usize| truths.get(*i).copied().unwrap_or(false);
            let truth = match verdict {
                Acceptance::Constant(c) => *c,
                Acceptance::Less { .. } | Acceptance::Equal { .. } => *own == 1,
                Acceptance::Not(a) => !of(a),
                Acceptance::And(all) => all.iter().all(of),
                Acceptance::Or(any) => any.iter().any(of),
                Acceptance::Same(a, b) => of(a) == of(b),
                Acceptance::Choice(c, a, b) => of(if of(c) { a } else { b }),
            };
            truths.push(truth);
        }
        truths
    }
}

/// What a node yields at a place, where its state is `own`; `None`: a guess was wrong.
fn output(node: &Node, own: &mut u32, place: u16, read: &[bool], bits: &[bool]) -> Option<bool> {
    let bit = |i: &usize| bits.get(*i).copied();
    Some(match node {
        Node::Read(r) => *read.get(*r)?,
        Node::Constant(c) => c >> place.min(127) & 1 == 1,
        Node::Not(a) => !bit(a)?,
        Node::Binary(Op::BitAnd, a, b) => bit(a)? && bit(b)?,
        Node::Binary(Op::BitOr, a, b) => bit(a)? || bit(b)?,
        Node::Binary(_, a, b) => bit(a)? != bit(b)?,
        Node::Sum { factor, a, b } => {
            let sum = *own + factor * u32::from(bit(a)?) + u32::from(bit(b)?);
            *own = sum >> 1;
            sum & 1 == 1
        }
        Node::Later { of, by } => {
            let waiting = *own | u32::from(bit(of)?) << by;
            *own = waiting >> 1;
            waiting & 1 == 1
        }
        Node::Sooner { of, by, guess, width, is_signed } => {
            let now = u32::from(place);
            if now >= *by && place < *width && (*own & 1 == 1) != bit(of)? {
                return None;
            }
            let out = match now + by < u32::from(*width) {
                true => *read.get(*guess)?,
                false => *is_signed && *own >> (by - 1) & 1 == 1,
            };
            *own = *own >> 1 | u32::from(out) << (by - 1);
            out
        }
        Node::Extended { of, width, is_signed } => {
            if place < *width {
                *own = u32::from(bit(of)? && *is_signed);
                bit(of)?
            } else {
                *own == 1
            }
        }
    })
}

fn width(sort: Sort) -> Option<u16> {
    match sort {
        Sort::Bool => Some(1),
        Sort::Bv(width) => Some(width).filter(|w| *w <= MAX_WIDTH),
        _ => None,
    }
}
