//! Preconditions: what holds of a function's arguments at every call of it
//! (`docs/design/symbolic-evaluation.md`).
//!
//! Of a static function whose address is nowhere taken all calls stand in its unit. What the states
//! before all of them give of the arguments holds whenever the function is entered; facts that rest
//! on it list it (`callers(n >= 0)`). Calls inside the function itself may assume what is to be shown
//! (Houdini): the outermost call comes from elsewhere.

use crate::invariant::candidate::observed::is_countable;
use crate::invariant::candidate::observed::{is_alike, number};
use crate::invariant::candidate::templates::Candidate;
use crate::invariant::proof::interface::Parameter;
use crate::ir::{Expr, Function};
use std::collections::BTreeSet;

/// Numbers that one argument takes which are told one by one.
const MAX_NUMBERS: usize = 4;
/// Preconditions of one function.
const MAX_FACTS: usize = 8;

/// What holds of the arguments of one function at the calls that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Precondition {
    pub(super) params: Vec<Parameter>,
    pub(super) facts: BTreeSet<Candidate>,
}

impl Precondition {
    /// Returns what may hold of a function's arguments, as these calls of it show them.
    pub fn possible(f: &Function, calls: &[&[Expr]]) -> Precondition {
        let param = |p: &crate::ir::VarId| {
            let var = f.var(*p);
            Some(Parameter { name: var.name.to_string(), ty: var.ty.clone(), sort: var.sort? })
        };
        let params: Vec<Parameter> = f.params.iter().filter_map(param).collect();
        let usable = params.len() == f.params.len() && calls.iter().all(|c| c.len() == params.len());
        let mut facts = BTreeSet::new();
        for (k, p) in params.iter().enumerate().filter(|(_, p)| usable && is_countable(&p.ty)) {
            let x = || p.name.clone();
            if p.ty.is_pointer() {
                facts.insert(Candidate::NonNull(x()));
                continue;
            }
            let number = |call: &&[Expr]| match call.get(k)? {
                Expr::Const(c) => number(*c, &p.ty),
                _ => None,
            };
            let numbers: Option<BTreeSet<i128>> = calls.iter().map(number).collect();
            match numbers.filter(|n| (1..=MAX_NUMBERS).contains(&n.len())) {
                Some(n) => _ = facts.insert(Candidate::OneOf(x(), n.into_iter().collect())),
                None if p.ty.is_signed() => facts.extend([0, 1].map(|least| Candidate::AtLeast(x(), least))),
                None => _ = facts.insert(Candidate::AtLeast(x(), 1)),
            }
            for q in params.iter().filter(|q| q.name != p.name && is_alike(&p.ty, &q.ty)) {
                facts.insert(Candidate::Less(x(), q.name.clone()));
                facts.insert(Candidate::LessEq(x(), q.name.clone()));
            }
        }
        Precondition { params, facts }
    }

    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// The facts that the others do not say more tightly, the first few.
    pub fn settled(mut self) -> Precondition {
        let all = self.facts.clone();
        let strict = |x: &str, y: &str| all.contains(&Candidate::Less(x.into(), y.into()));
        self.facts.retain(|c| match c {
            Candidate::LessEq(x, y) => !strict(x, y),
            _ => !all.iter().any(|o| o.is_tighter_than(c)),
        });
        self.facts = self.facts.into_iter().take(MAX_FACTS).collect();
        self
    }

    /// How a fact that rests on it says so.
    pub(super) fn assumptions(&self) -> BTreeSet<String> {
        self.facts.iter().map(|c| format!("callers({})", c.text())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{int, integer, pointer, straight, v};
    use crate::ir::CType;

    /// What may hold of the arguments of a function of these parameters, by its calls.
    #[track_caller]
    fn check(params: &[(&str, CType)], calls: &[&[Expr]], expected: &[&str]) {
        let f = straight("f", params, &[]);
        let possible = Precondition::possible(&f, calls);
        assert_eq!(possible.facts.iter().map(Candidate::text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_few_constants_are_told_one_by_one() {
        let n: &[(&str, CType)] = &[("n", int())];
        let k = |k| [Expr::bv(32, k)];
        check(n, &[&k(3), &k(-1), &k(3)], &["n == -1 || n == 3"]);
        check(n, &[&k(1), &k(2), &k(3), &k(4), &k(5)], &["n >= 0", "n >= 1"]);
        check(n, &[&k(3), &[v(0)]], &["n >= 0", "n >= 1"]);
    }

    #[test]
    fn what_is_not_known_may_have_a_sign_or_lead_somewhere() {
        check(&[("p", pointer(int()))], &[&[v(0)]], &["p != NULL"]);
        check(&[("u", integer(32, false))], &[&[v(0)]], &["u >= 1"]);
        check(
            &[("a", integer(32, false)), ("b", integer(32, false))],
            &[&[v(0), v(1)]],
            &["a >= 1", "b >= 1", "a < b", "b < a", "a <= b", "b <= a"],
        );
    }

    #[test]
    fn calls_of_another_number_of_arguments_say_nothing() {
        check(&[("n", int()), ("m", int())], &[&[v(0)]], &[]);
        check(&[("n", int())], &[&[v(0), v(1)]], &[]);
    }

    #[test]
    fn what_others_say_more_tightly_is_left_out() {
        let facts = BTreeSet::from([
            Candidate::AtLeast("n".into(), 0),
            Candidate::AtLeast("n".into(), 1),
            Candidate::Less("n".into(), "m".into()),
            Candidate::LessEq("n".into(), "m".into()),
            Candidate::LessEq("m".into(), "k".into()),
        ]);
        let settled = Precondition { params: Vec::new(), facts }.settled();
        let texts: Vec<String> = settled.facts.iter().map(Candidate::text).collect();
        assert_eq!(texts, ["n >= 1", "n < m", "m <= k"]);
        let assumed =
            BTreeSet::from(["callers(n >= 1)", "callers(n < m)", "callers(m <= k)"].map(str::to_owned));
        assert_eq!(settled.assumptions(), assumed);
    }

    #[test]
    fn the_first_few_facts_are_kept() {
        let facts = (0..20).map(|k| Candidate::NonNull(format!("p{k:02}"))).collect();
        let settled = Precondition { params: Vec::new(), facts }.settled();
        assert_eq!(settled.facts.len(), MAX_FACTS);
        assert!(!settled.is_empty() && Precondition::default().settled().is_empty());
    }
}
