//! What is known at an aligned pair of locations: what may differ, and variables that are constant.

use super::body::fold;
use super::part::{Affected, ObjectId, Objects};
use super::side::{Loc, Side};
use crate::ir::{Const, Expr, Op};
use std::collections::BTreeMap;

/// Variables of one version with the one value they can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Constants(BTreeMap<ObjectId, Const>);

impl Constants {
    pub fn get(&self, object: ObjectId) -> Option<Const> {
        self.0.get(&object).copied()
    }

    pub fn set(&mut self, object: ObjectId, value: Option<Const>) {
        match value {
            Some(c) => _ = self.0.insert(object, c),
            None => _ = self.0.remove(&object),
        }
    }

    pub fn value(&self, side: &Side, at: Loc, e: &Expr) -> Option<Const> {
        let objects = &side.body(at).objects;
        fold(e, &|v| self.get(*objects.get(v.0 as usize)?))
    }

    /// Keeps what both know; returns whether something was lost.
    fn meet(&mut self, other: &Constants) -> bool {
        let before = self.0.len();
        self.0.retain(|object, c| other.get(*object) == Some(*c));
        self.0.len() < before
    }

    /// Learns from a condition that holds, or does not.
    pub fn learn(&mut self, side: &Side, at: Loc, cond: &Expr, holds: bool) {
        match cond {
            Expr::Op { op: Op::Not, args, .. } => {
                if let [inner] = args.as_slice() {
                    self.learn(side, at, inner, !holds);
                }
            }
            Expr::Op { op: Op::Eq, args, .. } if holds => {
                let ([Expr::Var(v), Expr::Const(c)] | [Expr::Const(c), Expr::Var(v)]) = args.as_slice()
                else {
                    return;
                };
                if let Some(object) = side.body(at).objects.get(v.0 as usize) {
                    self.set(*object, Some(*c));
                }
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub affected: Affected,
    pub old: Constants,
    pub new: Constants,
}

impl State {
    /// Takes in another state; returns whether this one says less now.
    pub fn join(&mut self, other: &State) -> bool {
        let affected = self.affected.join(&other.affected);
        let old = self.old.meet(&other.old);
        let new = self.new.meet(&other.new);
        affected || old || new
    }

    pub fn touches_any(&self, objects: &Objects, parts: &[super::part::Part]) -> bool {
        parts.iter().any(|p| self.affected.touches(objects, *p))
    }
}
