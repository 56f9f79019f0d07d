//! Branches of the modified program (the second half of Algorithm 2): which branch of the original one
//! answers, and what is done where none does.

use super::align::{Aligner, BRANCHES, LOOKAHEAD, Out, Pair, To, folded};
use super::assume;
use super::automaton::Loc;
use super::body::Kind;
use super::part::Part;
use super::state::State;
use crate::ir::Instr;

impl Aligner<'_> {
    /// Both edges of a branch of the modified program.
    pub(super) fn branch(&self, pair: &Pair, state: &State) -> Vec<Out> {
        let side = self.after();
        let step = side.step(pair.new);
        let Kind::Branch(atom) = &step.kind else { return Vec::new() };
        let constant = folded(side, pair.new, &state.new);
        let labels: Vec<bool> = match constant {
            Some(label) => vec![label],
            None => vec![true, false],
        };
        if step.traps && pair.until.is_some() {
            return vec![Out { label: 0, to: To::Bug(pair.new) }];
        }
        if pair.until.is_some() || constant.is_some() {
            let alone = |label: &bool| {
                let twin = self.twin(pair, state, *label).filter(|_| pair.until.is_none());
                self.edge_alone(pair, *label, twin.unwrap_or(pair.old), state.clone(), pair.until)
            };
            return labels.iter().filter_map(alone).collect();
        }
        let candidates = self.candidates(pair, state);
        let exact = candidates.iter().position(|c| self.old_atom(c.0).is_some_and(|a| a.text == atom.text));
        // A branch that comes before the one that the original program has takes none of its answers.
        let inserted = exact.is_none() && self.is_inserted(pair.new, &candidates);
        let mut outs = Vec::new();
        let mut open = Vec::new();
        for label in labels {
            let found = match exact {
                Some(i) => candidates.get(i),
                None if inserted => None,
                None => candidates
                    .iter()
                    .find(|c| self.answer(pair.new, label, c.0, &c.1).is_some_and(|(_, affected)| !affected)),
            };
            match found {
                Some((at, reached)) => outs.extend(self.edge_matched(pair, label, *at, reached)),
                None => open.push(label),
            }
        }
        if open.is_empty() {
            return outs;
        }
        if step.traps {
            return vec![Out { label: 0, to: To::Bug(pair.new) }];
        }
        let (old, state, until) = self.partner(pair, state, &candidates, inserted);
        outs.extend(open.into_iter().filter_map(|l| self.edge_alone(pair, l, old, state.clone(), until)));
        outs
    }

    /// Where the original program goes from the same branch, if the condition is the same constant there.
    fn twin(&self, pair: &Pair, state: &State, label: bool) -> Option<Loc> {
        let same = self.before().step(pair.old).text == self.after().step(pair.new).text;
        let constant = folded(self.before(), pair.old, &state.old).filter(|_| same)?;
        (constant == label).then(|| self.before().succ(pair.old, usize::from(!label)))?
    }

    pub(super) fn old_atom(&self, at: Loc) -> Option<&assume::Atom> {
        match &self.before().step(at).kind {
            Kind::Branch(atom) => Some(atom),
            _ => None,
        }
    }

    /// Which edge of a branch of the original program, reached in this state, an edge of the modified one's branch
    /// answers to, and whether that rests on something that may differ.
    fn answer(&self, at: Loc, label: bool, old: Loc, reached: &State) -> Option<(bool, bool)> {
        let (is, was) = (self.after().step(at), self.before().step(old));
        let Kind::Branch(atom) = &is.kind else { return None };
        let old_atom = self.old_atom(old)?;
        let objects = &self.model.objects;
        let same = assume::same(atom, label, old_atom);
        let affected = reached.touches_any(objects, &is.reads) || reached.touches_any(objects, &was.reads);
        if let Some(edge) = same.filter(|_| !affected) {
            return Some((edge, false));
        }
        // What may be undefined is so in the original program, too, if that computes the same.
        let is_computed = || atom.compared.iter().all(|e| old_atom.compared.contains(e));
        let implied = match is.traps && (affected || !is_computed()) {
            true => None,
            false => {
                let is_equal = |o| !reached.affected.touches(objects, Part::whole(o));
                assume::implied(atom, label, old_atom, [&reached.old, &reached.new], &is_equal)
            }
        };
        implied.map(|edge| (edge, false)).or(same.map(|edge| (edge, true)))
    }

    /// Branches that the original program comes to in any case, with what may differ there.
    fn candidates(&self, pair: &Pair, state: &State) -> Vec<(Loc, State)> {
        let (mut at, mut state) = (pair.old, state.clone());
        let mut found = Vec::new();
        for _ in 0..LOOKAHEAD {
            let is_branch = self.old_atom(at).is_some() && folded(self.before(), at, &state.old).is_none();
            if is_branch {
                found.push((at, state.clone()));
                if found.len() >= BRANCHES {
                    break;
                }
            }
            match self.skip(at, &mut state, true) {
                Some(next) => at = next,
                None => break,
            }
        }
        found
    }

    /// One edge of a branch, where the original program has a branch that answers.
    fn edge_matched(&self, pair: &Pair, label: bool, at: Loc, reached: &State) -> Option<Out> {
        let (old, new) = (self.before(), self.after());
        let is = new.step(pair.new);
        let (edge, affected) = self.answer(pair.new, label, at, reached)?;
        let index = usize::from(!label);
        let target = new.succ(pair.new, index)?;
        let to = if affected {
            let mut state = reached.clone();
            let behind = self.skip(at, &mut state, true);
            match behind.zip(new.meet(pair.new)) {
                _ if is.traps => To::Bug(pair.new),
                Some((behind, meet)) => {
                    self.learn(pair.new, label, &mut state);
                    self.arrive(behind, target, Some(meet), state)
                }
                None => self.bug(target),
            }
        } else {
            let mut state = reached.clone();
            self.learn(pair.new, label, &mut state);
            self.learn_old(at, edge, &mut state);
            self.arrive(old.succ(at, usize::from(!edge))?, target, None, state)
        };
        Some(Out { label: index, to })
    }

    /// What the modified program's variables must be on an edge.
    fn learn(&self, at: Loc, label: bool, state: &mut State) {
        let new = self.after();
        if let Instr::Branch { cond } = &new.body(at).function.node(at.node).instr {
            state.new.learn(new, at, cond, label);
        }
    }

    /// What the original program's variables must be on an edge.
    pub(super) fn learn_old(&self, at: Loc, label: bool, state: &mut State) {
        let old = self.before();
        if let Instr::Branch { cond } = &old.body(at).function.node(at.node).instr {
            state.old.learn(old, at, cond, label);
        }
    }

    pub(super) fn edge_alone(
        &self,
        pair: &Pair,
        label: bool,
        old: Loc,
        mut state: State,
        until: Option<Loc>,
    ) -> Option<Out> {
        let index = usize::from(!label);
        let target = self.after().succ(pair.new, index)?;
        self.learn(pair.new, label, &mut state);
        Some(Out { label: index, to: self.arrive(old, target, until, state) })
    }

    /// How a branch that matches none is gone about: where the original program waits meanwhile, and up
    /// to where the modified one goes alone.
    fn partner(
        &self,
        pair: &Pair,
        state: &State,
        candidates: &[(Loc, State)],
        inserted: bool,
    ) -> (Loc, State, Option<Loc>) {
        let waits = (pair.old, state.clone(), None);
        let Some(meet) = self.after().meet(pair.new) else { return waits };
        let Some((at, reached)) = candidates.first() else { return waits };
        if inserted {
            return (pair.old, state.clone(), Some(meet));
        }
        // An assertion is likely to come behind a new guard.
        let mut reached = reached.clone();
        let behind = match self.before().passes(*at) {
            Some(_) => None,
            None => self.skip(*at, &mut reached, true),
        };
        behind.map_or(waits, |behind| (behind, reached, Some(meet)))
    }

    /// Whether the modified program comes to the original's next branch behind this one.
    fn is_inserted(&self, branch: Loc, candidates: &[(Loc, State)]) -> bool {
        let side = self.after();
        let Some(expected) = candidates.first().and_then(|c| self.old_atom(c.0)) else { return false };
        let mut at = side.meet(branch);
        let mut branches = 0;
        for _ in 0..LOOKAHEAD {
            let Some(now) = at else { return false };
            at = match &side.step(now).kind {
                Kind::Branch(atom) if atom.text == expected.text => return true,
                Kind::Branch(_) if branches < BRANCHES => {
                    branches += 1;
                    side.meet(now)
                }
                Kind::Plain | Kind::Call(_) => side.succ(now, 0),
                _ => return false,
            };
        }
        false
    }
}
