//! Facts of a report in the C of a driver: `\result`, `\old(...)` and `==>` become plain C around one
//! call of the function.

use super::interface::Interface;
use git_invdiff::fact::{self, Binary, Expression, Kind, Unary};
use git_invdiff::report::{Fact as Reported, PointKind, Report, Status};
use std::collections::BTreeSet;

/// A proved fact at a function's exit.
#[derive(Clone, Debug)]
pub struct Fact {
    pub function: String,
    pub text: String,
    pub template: String,
    pub assumptions: Vec<String>,
}

/// The exit facts of a report on one version that are proved, each once.
pub fn proved_at_exit(report: &Report) -> Vec<Fact> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for f in &report.functions {
        for p in f.points.iter().filter(|p| p.kind == PointKind::Exit) {
            for fact in &p.version_invariants {
                if is_proved(fact) && seen.insert((f.name.clone(), fact.text.clone())) {
                    found.push(Fact {
                        function: f.name.clone(),
                        text: fact.text.clone(),
                        template: fact.template.clone(),
                        assumptions: fact.assumptions.clone(),
                    });
                }
            }
        }
    }
    found
}

fn is_proved(fact: &Reported) -> bool {
    fact.status.values().all(|s| *s == Status::Proved)
}

/// What the runs have to satisfy for a fact to speak of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    Nothing,
    /// Distinct objects, pointers to their beginnings, well-formed input.
    Tame,
    /// Something that drivers do not know of.
    Unknown,
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Functions, called by a driver; there is no input.
    Functions,
    /// A whole program, whose objects are as it makes them.
    Program,
}

/// What the runs of a fact with these assumptions have to satisfy.
pub fn demand(assumptions: &[String], setting: Setting) -> Demand {
    let of = |name: &str| match name {
        // What drivers are compiled with, and what holds of runs that came to an end.
        "-fwrapv" | "terminates" => Demand::Nothing,
        "stdin-well-formed" if setting == Setting::Program => Demand::Tame,
        _ if is_about_objects(name) && setting == Setting::Functions => Demand::Tame,
        // An index out of its array is undefined.
        _ if name.starts_with("model(") || name.starts_with("in-bounds(") => Demand::Nothing,
        _ => Demand::Unknown,
    };
    let demands: Vec<Demand> = assumptions.iter().map(|a| of(a)).collect();
    [Demand::Unknown, Demand::Tame].into_iter().find(|d| demands.contains(d)).unwrap_or(Demand::Nothing)
}

fn is_about_objects(assumption: &str) -> bool {
    assumption.starts_with("no-interior-pointer(") || assumption.starts_with("\\separated(")
}

impl Fact {
    pub fn demand(&self) -> Demand {
        demand(&self.assumptions, Setting::Functions)
    }
}

/// A fact in C: what is to be kept at the entry, and the condition behind the call.
pub struct InC {
    pub kept: Vec<String>,
    pub condition: String,
}

/// Says a fact in C; `None` where a driver cannot look at what it is about (locals, input, ends).
pub fn in_c(fact: &Fact, interface: &Interface) -> Option<InC> {
    let parsed = fact::parse(&fact.text).or_else(|_| fact::parser::parse_printed(&fact.text)).ok()?;
    let mut writer = Writer { text: &fact.text, interface, kept: Vec::new(), at_entry: false, index: None };
    let is_value = matches!(fact.template.as_str(), "functional" | "constant");
    let condition = writer.fact(&parsed, is_value)?;
    Some(InC { kept: writer.kept, condition })
}

/// Functions of the library that a fact may call: others (`malloc`) stand for what a call of the run gave.
const PURE: [&str; 32] = [
    "strlen", "strcmp", "strncmp", "memcmp", "strchr", "abs", "labs", "isnan", "isinf", "isfinite",
    "signbit", "fabs", "fabsf", "floor", "floorf", "ceil", "ceilf", "sqrt", "sqrtf", "trunc", "truncf",
    "round", "roundf", "fmin", "fmax", "fminf", "fmaxf", "fmod", "isdigit", "isalpha", "isspace", "toupper",
];

/// Elements of an array that are looked at.
const MOST_ELEMENTS: u32 = 300;

struct Writer<'a> {
    text: &'a str,
    interface: &'a Interface,
    kept: Vec<String>,
    at_entry: bool,
    /// The index of all elements that is spoken of.
    index: Option<String>,
}

impl Writer<'_> {
    /// The whole fact; an equation that states a value means identity, which C's `==` is not for floats.
    fn fact(&mut self, e: &Expression, is_value: bool) -> Option<String> {
        match &e.kind {
            Kind::Binary(Binary::Implies, a, b) => {
                let (a, b) = (self.say(a)?, self.fact(b, is_value)?);
                Some(format!("(!({a}) || ({b}))"))
            }
            Kind::Binary(Binary::Eq, a, b) if is_value => {
                let (a, b) = (self.say(a)?, self.say(b)?);
                Some(format!("IVD_SAME({a}, {b})"))
            }
            _ => self.say(e),
        }
    }

    fn say(&mut self, e: &Expression) -> Option<String> {
        Some(match &e.kind {
            Kind::Integer(_) | Kind::Character(_) | Kind::Float { .. } => {
                self.text.get(e.span.clone())?.to_owned()
            }
            Kind::Name(name) if self.index.as_ref() == Some(name) => name.clone(),
            Kind::Name(name) => {
                if !self.interface.has(name, self.at_entry) {
                    return None;
                }
                name.clone()
            }
            Kind::Result if self.interface.result_is_value => "ivd_result".into(),
            // Of each element what it was is not kept.
            Kind::Old(_) if self.index.is_some() => return None,
            // What guards an element is evaluated before it is looked at.
            Kind::ForAll(index, inner) if self.index.is_none() => {
                self.index = Some(index.clone());
                let said = self.say(inner);
                self.index = None;
                format!(
                    "({{ int ivd_all = 1; for (long {index} = 0; {index} < {MOST_ELEMENTS} && ivd_all; {index}++) ivd_all = {}; ivd_all; }})",
                    said?
                )
            }
            Kind::Old(inner) => {
                let outer = std::mem::replace(&mut self.at_entry, true);
                let said = self.say(inner);
                self.at_entry = outer;
                if outer {
                    return said;
                }
                self.kept.push(said?);
                format!("IVD_KEPT({})", self.kept.len() - 1)
            }
            Kind::Result | Kind::At(..) | Kind::Input(_) | Kind::Text(_) => return None,
            Kind::ForAll(..) | Kind::CallThrough(..) => return None,
            Kind::Unary(op, a) => format!("({} {})", op.symbol(), self.say(a)?),
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.say(a)?, self.say(b)?);
                match op {
                    Binary::Implies => format!("(!({a}) || ({b}))"),
                    op => format!("({a} {} {b})", op.symbol()),
                }
            }
            Kind::Conditional(c, a, b) => {
                format!("({} ? {} : {})", self.say(c)?, self.say(a)?, self.say(b)?)
            }
            Kind::Call(name, arguments) => {
                if !PURE.contains(&name.as_str()) || self.interface.functions.contains(name) {
                    return None;
                }
                let said: Option<Vec<String>> = arguments.iter().map(|a| self.say(a)).collect();
                format!("{name}({})", said?.join(", "))
            }
            Kind::Index(a, i) => format!("{}[{}]", self.say(a)?, self.say(i)?),
            Kind::Member { base, name, arrow } => {
                format!("{}{}{name}", self.say(base)?, if *arrow { "->" } else { "." })
            }
            Kind::Cast(ty, a) => {
                format!("(({}{}){})", ty.base, "*".repeat(ty.pointers as usize), self.say(a)?)
            }
        })
    }
}
