//! A fact as a formula: what it says, under which conditions, and how that is written.
//!
//! The engine writes terms down in C (`semantics/c_text`); the formula keeps that text, as what people see and
//! ids hash, beside its tree, which every question about the fact is asked of.

use crate::parser::{self, Said};
use crate::syntax::{Binary, Expression, Kind};
use std::fmt;
use std::sync::Arc;

/// What a fact says where its conditions hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// A condition, or the way the program ends (`abort()`).
    Holds(Expression),
    /// The call is made.
    Calls(Expression),
    /// The state of a resource, in the protocol's words: `f`, `is closed`.
    State(Expression, String),
    /// A run did something that C leaves undefined.
    Undefined(Undefined),
    /// A text that was cut, or is longer or deeper than the limits of [`parser`].
    Words,
}

/// What is to hold where a function returns, as people write it.
#[derive(Clone, Debug, PartialEq)]
pub enum Postcondition {
    Holds(Expression),
    State(ResourceState),
}

/// The state of a resource, in a protocol's words, where all conditions hold: `n < 0 ==> in is closed`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceState {
    pub conditions: Vec<Expression>,
    pub resource: Expression,
    pub words: String,
}

/// Something that C leaves undefined, at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// `division by zero`.
    pub what: String,
    pub line: u32,
    pub within: Within,
}

/// Where a line is, beside in the function's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Within {
    Own,
    Callee(String),
    /// A file that the function's file includes.
    File(String),
}

/// A fact's text and tree. Cheap to copy; equal when written in the same way.
#[derive(Clone)]
pub struct Formula(Arc<Parts>);

struct Parts {
    text: String,
    conditions: Vec<Expression>,
    claim: Claim,
    /// Byte at which the claim begins.
    at: usize,
}

impl Formula {
    /// Reads what the engine wrote.
    pub fn read(text: impl Into<String>) -> Formula {
        let text = text.into();
        if let Some(event) = parser::undefined(&text) {
            return Formula(Arc::new(Parts {
                text,
                conditions: Vec::new(),
                claim: Claim::Undefined(event),
                at: 0,
            }));
        }
        let (conditions, claim, at) = match parser::statement(&text) {
            Ok(s) => {
                let claim = match s.said {
                    Said::Holds(e) => Claim::Holds(e),
                    Said::Calls(e) => Claim::Calls(e),
                    Said::State(e, words) => Claim::State(e, words),
                };
                (s.conditions, claim, s.at)
            }
            Err(_) => (Vec::new(), Claim::Words, 0),
        };
        Formula(Arc::new(Parts { text, conditions, claim, at }))
    }

    /// The expression as a fact that holds always.
    pub fn of(expression: Expression) -> Formula {
        Formula::read(expression.to_string())
    }

    /// That a run did something undefined.
    pub fn undefined(event: Undefined) -> Formula {
        let place = match &event.within {
            Within::Own => String::new(),
            Within::Callee(f) => format!(" in {f}()"),
            Within::File(path) => format!(" of {path}"),
        };
        let text = format!("{}{} at line {}{place}", parser::UNDEFINED, event.what, event.line);
        Formula(Arc::new(Parts { text, conditions: Vec::new(), claim: Claim::Undefined(event), at: 0 }))
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }

    pub fn conditions(&self) -> &[Expression] {
        &self.0.conditions
    }

    pub fn claim(&self) -> &Claim {
        &self.0.claim
    }

    /// The text of the claim without its conditions; all of a text that was cut.
    pub fn conclusion(&self) -> &str {
        self.0.text.get(self.0.at..).unwrap_or_default()
    }

    /// The condition that is claimed, if it is one.
    pub fn holds(&self) -> Option<&Expression> {
        match &self.0.claim {
            Claim::Holds(e) => Some(e),
            _ => None,
        }
    }

    /// The condition that is claimed without any other.
    pub fn always(&self) -> Option<&Expression> {
        self.holds().filter(|_| self.0.conditions.is_empty())
    }

    /// Left and right side, where the fact is an equation, under whatever conditions.
    pub fn equation(&self) -> Option<(&Expression, &Expression)> {
        match self.holds()?.comparison()? {
            (Binary::Eq, left, right) => Some((left, right)),
            _ => None,
        }
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self.0.claim, Claim::Undefined(_))
    }

    /// What stays the same when lines move: the text, of an undefined event without its line.
    pub fn identity(&self) -> String {
        match &self.0.claim {
            Claim::Undefined(event) => format!("{}{}", parser::UNDEFINED, event.what),
            _ => self.0.text.clone(),
        }
    }

    /// Whether some part of the conditions or the claim is so; of a text that was cut nothing is.
    pub fn any(&self, is_so: &dyn Fn(&Expression) -> bool) -> bool {
        let claimed = match &self.0.claim {
            Claim::Holds(e) | Claim::Calls(e) | Claim::State(e, _) => e.any(is_so),
            Claim::Undefined(_) | Claim::Words => false,
        };
        claimed || self.0.conditions.iter().any(|e| e.any(is_so))
    }

    /// Whether it says something under conditions, its own or those of `\forall`.
    pub fn is_conditional(&self) -> bool {
        let implies = |e: &Expression| matches!(e.kind, Kind::Binary(Binary::Implies, ..));
        !self.0.conditions.is_empty() || self.any(&implies)
    }

    /// The comparison that is claimed with its sides exchanged: `0 < x` as `x > 0`.
    pub fn turned(&self) -> Option<Formula> {
        let (op, left, right) = self.always()?.comparison()?;
        let of = |e: &Expression| self.0.text.get(e.span.clone()).unwrap_or_default();
        Some(Formula::read(format!("{} {} {}", of(right), op.turned()?.symbol(), of(left))))
    }

    /// Whether it speaks of values at the function's entry, as such.
    pub fn speaks_of_entry(&self) -> bool {
        self.any(&|e| matches!(e.kind, Kind::Old(_)))
    }

    /// Whether C can say it as it is written.
    pub fn is_c(&self) -> bool {
        let beyond = |e: &Expression| match &e.kind {
            Kind::Result | Kind::Old(_) | Kind::At(..) | Kind::Input(_) | Kind::ForAll(..) => true,
            Kind::Binary(op, ..) => *op == Binary::Implies,
            // `\errno`, temporaries, values in loops, and what is not said in full.
            Kind::Name(n) | Kind::Call(n, _) => n.contains(['\\', '%', '@', '*']),
            _ => false,
        };
        self.always().is_some() && !self.any(&beyond)
    }

    pub fn speaks_of_result(&self) -> bool {
        self.any(&|e| e.kind == Kind::Result)
    }

    /// Whether something was left out of what is written, of strings too.
    pub fn is_cut(&self) -> bool {
        let cut = |e: &Expression| matches!(&e.kind, Kind::Text(text) if text.contains("..."));
        self.0.claim == Claim::Words || self.any(&cut)
    }

    /// Whether another formula is the same equation with its sides exchanged, under the same conditions.
    pub fn is_exchanged(&self, other: &Formula) -> bool {
        let (Some((a, b)), Some((c, d))) = (self.equation(), other.equation()) else { return false };
        self.0.conditions == other.0.conditions && a == d && b == c
    }

    /// Whether it names a function that it calls, of which something is so.
    pub fn calls(&self, is_so: &dyn Fn(&str) -> bool) -> bool {
        self.any(&|e| matches!(&e.kind, Kind::Call(name, _) if is_so(name)))
    }

    /// Whether another formula says the same but for numbers, in strings too, and these became the other's.
    pub fn is_renumbered(&self, other: &Formula, became: &dyn Fn(&str, &str) -> bool) -> bool {
        let (a, b) = (&self.0, &other.0);
        let claimed = match (&a.claim, &b.claim) {
            (Claim::Holds(x), Claim::Holds(y)) | (Claim::Calls(x), Claim::Calls(y)) => {
                x.is_renumbered(y, became)
            }
            (Claim::State(x, s), Claim::State(y, t)) => s == t && x.is_renumbered(y, became),
            _ => a.text == b.text,
        };
        let same = |(x, y): (&Expression, &Expression)| x.is_renumbered(y, became);
        claimed
            && a.conditions.len() == b.conditions.len()
            && a.conditions.iter().zip(&b.conditions).all(same)
    }

    /// Whether it speaks of a temporary of the lowering (`&%1`): structures that are handed on and returned.
    pub fn names_temporary(&self) -> bool {
        self.any(&|e| matches!(&e.kind, Kind::Name(n) if n.starts_with('%')))
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Formula {}

impl fmt::Debug for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.0.text)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions, claim and conclusion.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let f = Formula::read(text);
        let claim = match f.claim() {
            Claim::Holds(e) => format!("holds {e}"),
            Claim::Calls(e) => format!("calls {e}"),
            Claim::State(e, words) => format!("{e} [{words}]"),
            Claim::Undefined(u) => format!("{u:?}"),
            Claim::Words => "words".into(),
        };
        let mut shown: Vec<String> = f.conditions().iter().map(ToString::to_string).collect();
        shown.push(claim);
        assert_eq!(shown.join(" / "), expected, "{text}");
        assert!(text.ends_with(f.conclusion()));
    }

    #[test]
    fn what_is_claimed_is_told_from_its_conditions() {
        check("\\result == n + 1", "holds \\result == n + 1");
        check("n < 0 ==> abort()", "n < 0 / holds abort()");
        check("n < 0 ==> m > 0 ==> x == 1", "n < 0 / m > 0 / holds x == 1");
        check("calls free(\\old(row->render))", "calls free(\\old(row->render))");
        check("p != NULL ==> calls f(p, \"a ==> b\")", "p != NULL / calls f(p, \"a ==> b\")");
        check("calls == 3", "holds calls == 3");
        check("\\old(row->render) is freed", "\\old(row->render) [is freed]");
        check("x > 0 ==> f stays open", "x > 0 / f [stays open]");
        check("x == (n ? ... : 2)", "words");
        check(
            "\\forall integer k; 0 <= k && k < n ==> a[k] == 0",
            "holds \\forall integer k; 0 <= k && k < n ==> a[k] == 0",
        );
    }

    #[test]
    fn sides_may_be_exchanged() {
        let same = |a: &str, b: &str| Formula::read(a).is_exchanged(&Formula::read(b));
        assert!(same("\\result == 0 ==> *p == n", "\\result == 0 ==> n == *p"));
        assert!(same("*p == n", "n == *p"));
        assert!(!same("*p <= n", "n <= *p"));
        assert!(!same("\\result == 0 ==> *p == n", "n == *p"));
    }

    #[test]
    fn temporaries_are_told_from_remainders_and_formats() {
        for fact in ["calls f(&%1)", "\\result == \\old(%0.x)", "x == (int)\\old(*(long *)&%12)"] {
            assert!(Formula::read(fact).names_temporary(), "{fact}");
        }
        for fact in ["x % 2 == 1", "output == printf(\"%5d\\n\", x)", "calls f(\"a\\\"%1\")", "c == '%'"] {
            assert!(!Formula::read(fact).names_temporary(), "{fact}");
        }
    }

    #[test]
    fn numbers_may_have_become_others() {
        let same = |a: &str, b: &str| {
            let became = |a: &str, b: &str| a.replace('3', "5") == b;
            Formula::read(a).is_renumbered(&Formula::read(b), &became)
        };
        assert!(same("n > 3 ==> exit(3)", "n > 5 ==> exit(5)"));
        assert!(same("a > 7 ==> output == \"3: big\\n\"", "a > 7 ==> output == \"5: big\\n\""));
        assert!(!same("n > 3 ==> exit(3)", "n > 5 ==> exit(6)"));
        assert!(!same("n > 3 ==> exit(3)", "m > 5 ==> exit(5)"));
        assert!(!same("f is closed", "f stays open"));
    }

    #[test]
    fn what_c_can_say_is_told() {
        for (text, expected) in [
            ("x <= n && p != NULL", true),
            ("x % 2 == 0", true),
            ("x == \\old(x)", false),
            ("n < 0 ==> x == 1", false),
            ("\\errno == 2", false),
            ("&%1 != NULL", false),
            ("x@loop >= 0", false),
        ] {
            assert_eq!(Formula::read(text).is_c(), expected, "{text}");
        }
    }

    #[test]
    fn an_event_is_the_same_on_another_line() {
        let at = |line| {
            let within = Within::Callee("g".into());
            Formula::undefined(Undefined { what: "division by zero".into(), line, within })
        };
        assert_eq!(at(3).text(), "undefined: division by zero at line 3 in g()");
        assert_eq!(Formula::read(at(3).text()).claim(), at(3).claim());
        assert_eq!(at(3).identity(), at(8).identity());
        assert_ne!(at(3), at(8));
    }
}
