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
    /// The state of a resource, by the protocol's word: `f`, `closed`.
    Is(Expression, String),
    /// A run did something that C leaves undefined.
    Undefined(Undefined),
    /// A text that was cut, or is longer or deeper than the limits of [`parser`].
    Words,
}

/// Something that C leaves undefined, at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// `division by zero`.
    pub what: String,
    pub line: u32,
    /// The function that the line is in, where that is another one.
    pub callee: Option<String>,
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
        let (conditions, claim, at) = match parser::statement(&text) {
            Ok(s) => {
                let claim = match s.said {
                    Said::Holds(e) => Claim::Holds(e),
                    Said::Calls(e) => Claim::Calls(e),
                    Said::Is(e, word) => Claim::Is(e, word),
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
        let place = event.callee.as_ref().map_or_else(String::new, |f| format!(" in {f}()"));
        let text = format!("undefined: {} at line {}{place}", event.what, event.line);
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
            Claim::Undefined(event) => format!("undefined: {}", event.what),
            _ => self.0.text.clone(),
        }
    }

    /// Whether some part of the conditions or the claim is so; of a text that was cut nothing is.
    pub fn any(&self, is_so: &dyn Fn(&Expression) -> bool) -> bool {
        let claimed = match &self.0.claim {
            Claim::Holds(e) | Claim::Calls(e) | Claim::Is(e, _) => e.any(is_so),
            Claim::Undefined(_) | Claim::Words => false,
        };
        claimed || self.0.conditions.iter().any(|e| e.any(is_so))
    }

    /// Whether it says something under conditions, its own or those of `\forall`.
    pub fn is_conditional(&self) -> bool {
        let implies = |e: &Expression| matches!(e.kind, Kind::Binary(Binary::Implies, ..));
        !self.0.conditions.is_empty() || self.any(&implies)
    }

    /// Whether another formula is the same equation with its sides exchanged, under the same conditions.
    pub fn is_exchanged(&self, other: &Formula) -> bool {
        let (Some((a, b)), Some((c, d))) = (self.equation(), other.equation()) else { return false };
        self.0.conditions == other.0.conditions && a == d && b == c
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
            Claim::Is(e, word) => format!("{e} is [{word}]"),
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
        check("\\old(row->render) is freed", "\\old(row->render) is [freed]");
        check("x > 0 ==> f is still open", "x > 0 / f is [still open]");
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
    fn an_event_is_the_same_on_another_line() {
        let at = |line| {
            let callee = Some("g".to_owned());
            Formula::undefined(Undefined { what: "division by zero".into(), line, callee })
        };
        assert_eq!(at(3).text(), "undefined: division by zero at line 3 in g()");
        assert_eq!(at(3).identity(), at(8).identity());
        assert_ne!(at(3), at(8));
    }
}
