//! Comparisons, after a call, of what can be seen with what the replay saw in each version.

use super::condition::Site;
use super::constant::{c_extended, c_integer, c_real, object_name};
use crate::fact::{self, Expression, Kind};
use crate::ir::{CType, FloatKind};
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
        let parsed = fact::parse(name).ok()?;
        let ty = site.type_of(&parsed)?;
        let mut seen = Seen { text: String::new(), ty, before: Vec::new() };
        let mut is_visible = true;
        parsed.each(&mut |e| is_visible &= e.kind != Kind::Result || has_result);
        parsed.each(&mut |e| {
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
        e.each(&mut |e| match &e.kind {
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
        let (is_old, is_new) = match kind {
            Shape::Pointer => pointers(e, old, new, site)?,
            Shape::Text => texts(e, old, new)?,
            _ => {
                let is = |text: Option<&str>| text.map_or(Some("0".into()), |text| kind.is(e, text));
                (is(old)?, is(new)?)
            }
        };
        let (format, value) = kind.printed(e);
        let label = string_contents(label.as_bytes()).replace('%', "%%");
        let print = format!("invdiff_dprintf(invdiff_record, \"{label}: {format}\\n\", {value});");
        Some(Check { print, old: is_old, new: is_new, before: seen.before })
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

    fn is(&self, e: &str, text: &str) -> Option<String> {
        let is_number = text.parse::<f64>().is_ok() || text.ends_with("NAN") || text.ends_with("INFINITY");
        match self {
            Shape::Signed if is_number => Some(format!("({e}) == {}", c_integer(text))),
            Shape::Unsigned if is_number => Some(format!("({e}) == {}", c_integer(text))),
            Shape::Single if is_number => Some(format!("invdiff_same({e}, (float)({}))", c_real(text))),
            Shape::Double if is_number => Some(format!("invdiff_same({e}, {})", c_real(text))),
            Shape::Extended if is_number => Some(format!("invdiff_same({e}, {})", c_extended(text))),
            _ => None,
        }
    }
}

/// What is known of a pointer.
#[derive(PartialEq)]
enum Led {
    /// The run did not get there.
    Nowhere,
    Null,
    /// To this place.
    To(String),
    /// To a text.
    Text(String),
    /// To something that has no name: a new object, one that was freed, one of another file.
    Somewhere,
}

/// Whether a pointer is what the old run, or the new one, has in it. `None`: a test cannot tell.
fn pointers(e: &str, old: Option<&str>, new: Option<&str>, site: &Site<'_>) -> Option<(String, String)> {
    let led = |text: Option<&str>| match text {
        None => Led::Nowhere,
        Some("NULL") => Led::Null,
        Some(text) if text.starts_with('"') => Led::Text(text.to_owned()),
        Some(text) => address(text, site).map_or(Led::Somewhere, Led::To),
    };
    let (a, b) = (led(old), led(new));
    let is = |led: &Led, other: &Led| {
        let known = match led {
            Led::Nowhere => "0".to_owned(),
            Led::Null => format!("({e}) == 0"),
            Led::To(to) => format!("(const char *)({e}) == (const char *)({to})"),
            Led::Text(text) => format!("({e}) != 0 && invdiff_same_text((const char *)({e}), {text})"),
            Led::Somewhere => format!("({e}) != 0"),
        };
        match (led, other) {
            (Led::Text(_) | Led::Somewhere, Led::To(to)) => {
                format!("{known} && (const char *)({e}) != (const char *)({to})")
            }
            _ => known,
        }
    };
    // What has no name may hold the same text.
    let alike = |a: &Led, b: &Led| matches!((a, b), (Led::Text(_), Led::Somewhere));
    (!alike(&a, &b) && !alike(&b, &a)).then(|| (is(&a, &b), is(&b, &a)))
}

/// Whether the bytes of an array are what the old run, or the new one, has in it. Zeros at the end are left
/// out of the words for them.
fn texts(e: &str, old: Option<&str>, new: Option<&str>) -> Option<(String, String)> {
    let is_text = |text: Option<&str>| text.is_none_or(|t| t.starts_with('"'));
    if !is_text(old) || !is_text(new) {
        return None;
    }
    let size = |text: &str| format!("sizeof {text} - 1");
    let (a, b) = (old.unwrap_or("\"\""), new.unwrap_or("\"\""));
    let longest = format!("({0} > {1} ? {0} : {1})", size(a), size(b));
    let is = |text: Option<&str>| match text {
        Some(text) => format!("invdiff_holds((const char *)({e}), {longest}, {text}, {})", size(text)),
        None => "0".into(),
    };
    Some((is(old), is(new)))
}

/// An address that nothing but parameters, globals and objects of the input make.
fn address(text: &str, site: &Site<'_>) -> Option<String> {
    let number = |name: &str| name.strip_prefix('m').is_some_and(|n| n.parse::<u32>().is_ok());
    if let Some(object) = text.strip_prefix('&').filter(|name| number(name)) {
        return Some(object_name(object));
    }
    let mut is_plain = true;
    fact::parse(text).ok()?.each(&mut |e| match &e.kind {
        Kind::Name(n) => is_plain &= is_outside(n, site),
        Kind::Member { .. } | Kind::Unary(fact::Unary::Dereference, _) | Kind::Call(..) | Kind::Old(_) => {
            is_plain = false;
        }
        Kind::Result => is_plain = false,
        _ => {}
    });
    is_plain.then(|| text.to_owned())
}
