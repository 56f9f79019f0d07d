//! What a run tells about how to get elsewhere: the edges that it took, and what their
//! conditions compared, with the places of the input that the compared values came from.
//!
//! This is the feedback of coverage-guided fuzzing. The correspondence of compared values and input bytes
//! (Aschermann et al., "REDQUEEN: Fuzzing with Input-to-State Correspondence", NDSS 2019) needs no guess
//! here: the machine knows where each register was loaded from.

use super::code::Value;
use super::ids::DefinitionId;
use super::input::ObjectId;
use crate::ir::{Const, Op, Sort};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Counters of branch edges; two edges may share one.
const EDGES: usize = 1 << 13;
/// Counters that are looked at together.
const BLOCK: usize = 64;
/// Comparisons that are kept of one place of the code, and of all.
pub(super) const MAX_OF_SITE: u32 = 4;
pub(super) const MAX_COMPARISONS: usize = 192;
/// Where in the input a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    Argument {
        index: usize,
        sort: Sort,
    },
    /// So many bytes of an object.
    Object {
        object: ObjectId,
        offset: u64,
        bytes: u64,
    },
    /// The result of the `nth` call of what nobody defines.
    Call {
        callee: Arc<str>,
        nth: u32,
        sort: Sort,
    },
}

/// What an address leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressTarget {
    Object(ObjectId, i64),
    Function(Arc<str>),
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub value: Const,
    /// What the value is but for a number that is added.
    pub origin: Option<(Origin, i128)>,
    /// The value is an address.
    pub is_address: bool,
    /// What an address leads to, where every version and machine has it.
    pub target: Option<AddressTarget>,
}

/// What a run compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// An operator's sides, and the way that the branch did not take.
    Values { op: Op, sides: Box<[Operand; 2]>, untaken: Edge },
    /// Bytes of an object from an offset on, and what they were compared with.
    Text { object: ObjectId, offset: u64, other: Vec<u8> },
}

/// A way out of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge(usize);

impl Edge {
    pub(super) fn new(definition: DefinitionId, node: u32, taken: bool) -> Edge {
        let key = (definition.0 as u64) << 33 | u64::from(node) << 1 | u64::from(taken);
        Edge((key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - EDGES.trailing_zeros())) as usize)
    }

    /// Whether some run whose edges were joined to these took it.
    pub fn is_known(self, known: &[u8]) -> bool {
        known.get(self.0).is_some_and(|n| *n != 0)
    }
}

/// CoverageMap of one run.
#[derive(Clone, Default)]
pub struct CoverageMap {
    edges: Vec<u8>,
    pub(super) explanation: Option<Explanation>,
}

#[derive(Clone, Default)]
pub(super) struct Explanation {
    /// By register of the machine.
    pub origins: Vec<Option<(Origin, i128)>>,
    /// By address of what was stored.
    pub stored: HashMap<u64, (Origin, i128)>,
    pub comparisons: Vec<Compared>,
    pub counts: BTreeMap<(DefinitionId, u32), u32>,
}

impl CoverageMap {
    /// One that notes the edges.
    pub fn new() -> CoverageMap {
        CoverageMap { edges: vec![0; EDGES], explanation: None }
    }

    /// One that notes the comparisons, too. Cost: a run several times as long.
    pub fn explaining() -> CoverageMap {
        CoverageMap { edges: vec![0; EDGES], explanation: Some(Explanation::default()) }
    }

    /// Joins the edges to those of earlier runs; whether some edge was new, or taken more often by an
    /// order of magnitude.
    pub fn join(&self, known: &mut Vec<u8>) -> bool {
        known.resize(EDGES, 0);
        let mut new = false;
        // A run takes few edges: most of the counters are passed by in blocks.
        for (known, edges) in known.chunks_mut(BLOCK).zip(self.edges.chunks(BLOCK)) {
            if edges.iter().fold(0, |any, n| any | n) == 0 {
                continue;
            }
            for (k, n) in known.iter_mut().zip(edges).filter(|(_, n)| **n != 0) {
                let class = class_of(*n);
                new |= *k & class == 0;
                *k |= class;
            }
        }
        new
    }

    pub fn into_comparisons(self) -> Vec<Compared> {
        self.explanation.map(|e| e.comparisons).unwrap_or_default()
    }

    pub(super) fn way(&mut self, definition: DefinitionId, node: u32, taken: bool) {
        if let Some(n) = self.edges.get_mut(Edge::new(definition, node, taken).0) {
            *n = n.saturating_add(1);
        }
    }
}

/// How often, as one bit: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, more.
fn class_of(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        _ => 128,
    }
}

impl Explanation {
    pub fn origin(&self, e: &Value, base: usize) -> Option<(Origin, i128)> {
        match e {
            Value::Var(v) => self.origins.get(base + *v as usize)?.clone(),
            Value::Unary { op: Op::Zext(_) | Op::Sext(_) | Op::Trunc(_), a, .. } => self.origin(a, base),
            Value::Binary { op: op @ (Op::Add | Op::Sub), ab, .. } => {
                let (inner, shift) = match (&ab[0], &ab[1]) {
                    (inner, Value::Const(c)) if *op == Op::Add => (inner, c.signed()?),
                    (inner, Value::Const(c)) => (inner, c.signed()?.checked_neg()?),
                    (Value::Const(c), inner) if *op == Op::Add => (inner, c.signed()?),
                    _ => return None,
                };
                let (origin, earlier) = self.origin(inner, base)?;
                Some((origin, earlier.checked_add(shift)?))
            }
            _ => None,
        }
    }

    pub fn set(&mut self, register: usize, origin: Option<(Origin, i128)>) {
        if register >= self.origins.len() {
            if origin.is_none() {
                return;
            }
            self.origins.resize(register + 1, None);
        }
        self.origins[register] = origin;
    }
}
