//! What is known at an aligned pair of locations: what may differ, and variables that are constant or equal.

use super::automaton::{Automaton, Loc};
use super::body::fold;
use super::known::Known;
use super::part::{Affected, FrameId, ObjectId, Objects};
use crate::ir::{Const, Expr, Op, VarId};

/// What operations and conditions of a version say of its variables.
impl Known {
    pub fn value(&self, side: &Automaton, at: Loc, e: &Expr) -> Option<Const> {
        let objects = &side.body(at).objects;
        fold(e, &|v| self.get(*objects.get(v.0 as usize)?))
    }

    /// A variable gets the value that an operation assigns, which is that of another one where it copies that.
    pub fn assign(&mut self, side: &Automaton, at: Loc, object: ObjectId, value: Option<Const>) {
        self.set(object, value);
        if let Some((_, Expr::Var(v))) = &side.step(at).assigns
            && let Some(from) = side.body(at).objects.get(v.0 as usize)
        {
            self.equate(object, *from);
        }
    }

    /// Learns from a condition that holds, or does not.
    pub fn learn(&mut self, side: &Automaton, at: Loc, cond: &Expr, holds: bool) {
        match cond {
            Expr::Op { op: Op::Not, args, .. } => {
                if let [inner] = args.as_slice() {
                    self.learn(side, at, inner, !holds);
                }
            }
            Expr::Op { op: Op::Eq, args, .. } if holds => {
                let object = |v: &VarId| side.body(at).objects.get(v.0 as usize).copied();
                match args.as_slice() {
                    [Expr::Var(v), Expr::Const(c)] | [Expr::Const(c), Expr::Var(v)] => {
                        object(v).into_iter().for_each(|o| self.is(o, *c));
                    }
                    [Expr::Var(a), Expr::Var(b)] => {
                        object(a).zip(object(b)).into_iter().for_each(|(a, b)| self.equate(a, b));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub affected: Affected,
    pub old: Known,
    pub new: Known,
}

impl State {
    /// Takes in another state; returns whether this one says less now.
    pub fn join(&mut self, other: &State) -> bool {
        let affected = self.affected.join(&other.affected);
        let old = self.old.meet(&other.old);
        let new = self.new.meet(&other.new);
        affected || old || new
    }

    /// A function is left by both versions: its variables are gone.
    pub fn forget(&mut self, objects: &Objects, frame: FrameId) {
        self.affected.forget(objects, frame);
        self.old.forget(objects, frame);
        self.new.forget(objects, frame);
    }

    pub fn touches_any(&self, objects: &Objects, parts: &[super::part::Part]) -> bool {
        parts.iter().any(|p| self.affected.touches(objects, *p))
    }
}
