//! Which version invariants a reader wants of a function: what callers see first, short ones first,
//! none that another one says already, and not too many.

use crate::fact::{Expression, Kind};
use crate::invariant::{Fact, Template};
use crate::semantics::library;
use std::collections::BTreeSet;

/// Invariants of one point that are shown unless all are asked for.
const MOST: usize = 6;
/// Longest text of one, in characters; longer ones are read by nobody.
const LONGEST: usize = 100;
/// Longest value that makes bounds of the same variable superfluous.
const PLAIN: usize = 60;

/// What is shown of a point.
pub(super) struct Selected<'f> {
    pub(super) shown: Vec<&'f Fact>,
    pub(super) left_out: usize,
    /// Questions to the solver.
    pub(super) queries: u64,
}

/// Selects what is shown. `implied_by_others` says of each of some facts, the most wanted first, whether the
/// others say it, with the questions that it asked.
pub(super) fn select<'f>(
    facts: Vec<&'f Fact>,
    implied_by_others: impl Fn(&[&Fact]) -> (Vec<bool>, u64),
) -> Selected<'f> {
    let is_value = |f: &&&Fact| matches!(f.template, Template::Constant | Template::Functional);
    let is_plain = |f: &&&Fact| f.text().len() <= PLAIN && !names_a_call(f);
    // The variable of a condition is given no value by what holds under it.
    let valued = |f: &'f Fact| {
        let claimed = f.formula.holds();
        let speaks_of = move |v: &str| claimed.is_some_and(|c| c.any(&|e| e.to_string() == v));
        f.variables.iter().filter(move |v| speaks_of(v))
    };
    let values = facts.iter().filter(is_value).filter(is_plain);
    let plain: BTreeSet<&String> = values.flat_map(|f| valued(f)).collect();
    let implied = |f: &&Fact| {
        let of_run = matches!(f.template, Template::Event | Template::Typestate);
        !is_value(&f) && !of_run && f.variables.iter().all(|v| plain.contains(v))
    };
    let (implied, mut rest): (Vec<&Fact>, Vec<&Fact>) = facts.into_iter().partition(implied);
    let subject = |f: &Fact| match f.variables.first().map(String::as_str) {
        Some("\\result") => 0,
        Some("output" | "end") => 1,
        Some("calls") => 4,
        _ if f.template == Template::Typestate => 4,
        _ if f.variables.iter().any(|v| v.starts_with('\\')) => 2,
        _ => 3,
    };
    rest.sort_by(|a, b| (subject(a), a.text().len(), a.text()).cmp(&(subject(b), b.text().len(), b.text())));
    let (mut shown, long): (Vec<&Fact>, Vec<&Fact>) =
        rest.into_iter().partition(|f| f.text().chars().count() <= LONGEST);
    let (said, queries) = implied_by_others(&shown);
    let all = shown.len();
    let mut said = said.into_iter();
    shown.retain(|_| said.next() != Some(true));
    shown.truncate(MOST);
    let left_out = implied.len() + long.len() + all - shown.len();
    Selected { shown, left_out, queries }
}

/// Whether a value is that of a call of the program's own functions, of which bounds may say more than
/// its text does.
fn names_a_call(fact: &Fact) -> bool {
    let through = |e: &Expression| matches!(e.kind, Kind::CallThrough(..));
    fact.formula.calls(&|name| library::row(name).is_none()) || fact.formula.any(&through)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Formula;
    use crate::mvicfg::ClassSet;
    use std::collections::BTreeMap;

    #[track_caller]
    fn check(facts: &[(Template, &str, &str)], shown: &[&str], left_out: usize) {
        let fact = |(template, variables, text): &(Template, &str, &str)| Fact {
            template: *template,
            variables: variables.split(' ').map(str::to_owned).collect(),
            formula: Formula::read(*text),
            c: None,
            classes: ClassSet::new(),
            assumptions: Vec::new(),
            lines: BTreeMap::new(),
            bounds: BTreeMap::new(),
        };
        let facts: Vec<Fact> = facts.iter().map(fact).collect();
        let nothing = |facts: &[&Fact]| (vec![false; facts.len()], 0);
        let found = select(facts.iter().collect(), nothing);
        assert_eq!(
            (found.shown.iter().map(|f| f.text()).collect::<Vec<_>>(), found.left_out),
            (shown.to_vec(), left_out)
        );
    }

    #[test]
    fn values_make_bounds_superfluous() {
        use Template::{Functional, Range};
        check(
            &[(Range, "\\result", "\\result >= 0"), (Functional, "\\result", "\\result == n & 7")],
            &["\\result == n & 7"],
            1,
        );
        check(&[(Range, "\\result", "\\result >= 0")], &["\\result >= 0"], 0);
        let case = (Functional, "\\result n", "\\result == -1 ==> n == 7");
        check(&[(Range, "\\result", "\\result <= 0"), case], &["\\result <= 0", case.2], 0);
        for (value, bounded) in
            [("g(n)", true), ("2 * g(n + 1)", true), ("abs(n)", false), ("\\old(n) * (n)", false)]
        {
            let text = format!("\\result == {value}");
            let facts = [(Range, "\\result", "\\result >= 0"), (Functional, "\\result", text.as_str())];
            let both = ["\\result >= 0", text.as_str()];
            check(&facts, if bounded { &both } else { &both[1..] }, usize::from(!bounded));
        }
    }

    #[test]
    fn what_callers_see_comes_first_and_long_facts_do_not_come() {
        use Template::{Event, Functional, Range};
        let long = format!("\\result == {}", "a + ".repeat(40));
        check(
            &[
                (Functional, "count", "count == n"),
                (Event, "end", "n < 0 ==> abort()"),
                (Functional, "\\result", &long),
                (Range, "\\result", "\\result >= 0"),
            ],
            &["\\result >= 0", "n < 0 ==> abort()", "count == n"],
            1,
        );
    }
}
