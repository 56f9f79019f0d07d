//! Comparisons, after a call, of what can be seen with what the replay saw in each version.

use super::condition::{Site, each};
use super::constant::{c_extended, c_integer, c_real};
use crate::ir::{CType, FloatKind};
use crate::semantics::c_parse::{self, Expression, Kind};
use crate::semantics::c_text::{RESULT, string_contents};

/// A value that can be seen after the call, as an expression over the call's parameters.
#[derive(Clone, Debug)]
pub struct Seen {
    text: String,
    ty: CType,
    /// Declarations before the call, of entry values that lead to the place.
    before: Vec<String>,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Check {
    /// Declarations before the call.
    pub before: Vec<String>,
    /// A statement that records the value.
    pub print: String,
    /// Whether it is what the old version, or the new one, gives.
    pub old: String,
    pub new: String,
}

impl Seen {
    pub fn result(ty: CType) -> Seen {
        Seen { text: RESULT.into(), ty, before: Vec::new() }
    }

    /// Reads a place as reports name it; `None` where it has no name outside the function.
    pub fn read(name: &str, number: usize, site: &Site<'_>, has_result: bool) -> Option<Seen> {
        let parsed = c_parse::parse(name).ok()?;
        let ty = site.type_of(&parsed)?;
        let mut seen = Seen { text: String::new(), ty, before: Vec::new() };
        let mut is_visible = true;
        each(&parsed, &mut |e| is_visible &= e.kind != Kind::Result || has_result);
        each(&parsed, &mut |e| {
            if let Kind::Name(n) = &e.kind {
                is_visible &= is_outside(n, site);
            }
        });
        // A parameter is the callee's own copy.
        let is_own = matches!(&parsed.kind, Kind::Name(n) if site.params().any(|p| *p.name == **n));
        if !is_visible || is_own {
            return None;
        }
        seen.text = seen.rewritten(name, &parsed, number);
        Some(seen)
    }

    /// The text with the result and entry values under their names here.
    fn rewritten(&mut self, text: &str, e: &Expression, number: usize) -> String {
        let mut spans: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        each(e, &mut |e| match &e.kind {
            Kind::Result => spans.push((e.span.clone(), RESULT.into())),
            Kind::Old(inner) => {
                let name = format!("invdiff_old_{number}_{}", spans.len());
                let value = text.get(inner.span.clone()).unwrap_or_default();
                self.before.push(format!("__typeof__({value}) {name} = {value};"));
                spans.push((e.span.clone(), name));
            }
            _ => {}
        });
        spans.sort_by_key(|(span, _)| span.start);
        let (mut out, mut at) = (String::new(), 0);
        for (span, new) in spans {
            if span.start >= at {
                out.push_str(text.get(at..span.start).unwrap_or_default());
                out.push_str(&new);
                at = span.end;
            }
        }
        out + text.get(at..).unwrap_or_default()
    }
}

/// Whether a name means the same beside the call as in the function: a parameter, or a global.
fn is_outside(name: &str, site: &Site<'_>) -> bool {
    let is_param = site.params().any(|p| &*p.name == name);
    is_param || site.unit.globals.iter().any(|g| *g.symbol == *name)
}

impl Check {
    /// Makes a check; `None` where the replay's words for a value are no C. A run without a value did not
    /// get there.
    pub fn new(
        label: &str,
        seen: Seen,
        site: &Site<'_>,
        old: Option<&str>,
        new: Option<&str>,
    ) -> Option<Check> {
        let kind = Shape::of(&seen.ty)?;
        let e = &seen.text;
        let is = |text: Option<&str>| match text {
            Some(text) => kind.is(e, text, site),
            None => Some("0".into()),
        };
        let (format, value) = kind.printed(e);
        let label = string_contents(label.as_bytes()).replace('%', "%%");
        let print = format!("fprintf(invdiff_record, \"{label}: {format}\\n\", {value});");
        Some(Check { print, old: is(old)?, new: is(new)?, before: seen.before })
    }
}

/// How values of a type are compared and printed.
enum Shape {
    Signed,
    Unsigned,
    Single,
    Double,
    Extended,
    Pointer,
    Text,
}

impl Shape {
    fn of(ty: &CType) -> Option<Shape> {
        Some(match ty {
            CType::Int { signed: true, .. } => Shape::Signed,
            CType::Int { .. } | CType::Bool => Shape::Unsigned,
            CType::Float(FloatKind::F32) => Shape::Single,
            CType::Float(FloatKind::F64) => Shape::Double,
            CType::Float(FloatKind::LongDouble) => Shape::Extended,
            CType::Pointer(_) => Shape::Pointer,
            CType::Array(element, Some(_)) if matches!(**element, CType::Int { bits: 8, .. }) => Shape::Text,
            _ => return None,
        })
    }

    fn printed(&self, e: &str) -> (&'static str, String) {
        match self {
            Shape::Signed => ("%lld", format!("(long long)({e})")),
            Shape::Unsigned => ("%llu", format!("(unsigned long long)({e})")),
            Shape::Single => ("%.9g", format!("(double)({e})")),
            Shape::Double => ("%.17g", format!("(double)({e})")),
            Shape::Extended => ("%.21Lg", format!("(long double)({e})")),
            Shape::Pointer => ("%s", format!("({e}) ? \"a pointer\" : \"NULL\"")),
            Shape::Text => ("%.64s", format!("(const char *)({e})")),
        }
    }

    fn is(&self, e: &str, text: &str, site: &Site<'_>) -> Option<String> {
        let is_number = text.parse::<f64>().is_ok() || text.ends_with("NAN") || text.ends_with("INFINITY");
        match self {
            Shape::Signed if is_number => Some(format!("({e}) == {}", c_integer(text))),
            Shape::Unsigned if is_number => Some(format!("({e}) == {}", c_integer(text))),
            Shape::Single if is_number => Some(format!("invdiff_same({e}, (float)({}))", c_real(text))),
            Shape::Double if is_number => Some(format!("invdiff_same({e}, {})", c_real(text))),
            Shape::Extended if is_number => Some(format!("invdiff_same({e}, {})", c_extended(text))),
            Shape::Pointer if text == "NULL" => Some(format!("({e}) == 0")),
            Shape::Pointer if text.starts_with('"') => {
                Some(format!("({e}) != 0 && !strcmp((const char *)({e}), {text})"))
            }
            Shape::Pointer => match address(text, site) {
                Some(to) => Some(format!("(const char *)({e}) == (const char *)({to})")),
                // A new object, one that was freed: some pointer.
                None => Some(format!("({e}) != 0")),
            },
            Shape::Text if text.starts_with('"') => {
                Some(format!("!memcmp((const char *)({e}), {text}, sizeof {text} - 1)"))
            }
            _ => None,
        }
    }
}

/// An address that nothing but parameters, globals and objects of the input make.
fn address(text: &str, site: &Site<'_>) -> Option<String> {
    let number = |name: &str| name.strip_prefix('m').is_some_and(|n| n.parse::<u32>().is_ok());
    if let Some(object) = text.strip_prefix('&').filter(|name| number(name)) {
        return Some(object.to_owned());
    }
    let mut is_plain = true;
    each(&c_parse::parse(text).ok()?, &mut |e| match &e.kind {
        Kind::Name(n) => is_plain &= is_outside(n, site),
        Kind::Member { .. } | Kind::Unary(c_parse::Unary::Dereference, _) | Kind::Call(..) | Kind::Old(_) => {
            is_plain = false;
        }
        Kind::Result => is_plain = false,
        _ => {}
    });
    is_plain.then(|| text.to_owned())
}
