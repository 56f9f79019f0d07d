//! Facts as conditions of C that a compiler takes at a place of a function.
//!
//! The text is the fact's own C (`report::Fact::c`), in which the result is `invdiff_result` and entry
//! values are `invdiff_old_...`; what these were made of is read off the fact's text. A condition is
//! refused where C might read it differently at the place than the fact means it: a name that is out of
//! scope or hidden, a call, a place in memory that may not be there. A pointer that a fact looks through is
//! compared with null first, an index with the array's bounds: a fact about `p->n` says nothing where there is
//! no `*p`.

use crate::fact::{self, Binary, Expression, Formula, Kind, Unary};
use crate::frontend::c::outline::FunctionOutline;
use crate::ir::library;
use crate::ir::{CType, Function, Global, Unit};
use crate::report::Fact;
use crate::semantics::type_text::spelled;
use std::collections::BTreeMap;
use std::ops::Range;

/// Name of the result in conditions.
pub const RESULT: &str = "invdiff_result";
const OLD: &str = "invdiff_old_";

/// A condition with what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub text: String,
    pub needs_result: bool,
    /// Declarations at the top of the body, by the name that they declare.
    pub snapshots: BTreeMap<String, String>,
}

/// Whether a function of the library has no effects or surprises; a fact that calls one that the file does not
/// declare is refused.
fn is_plain(name: &str) -> bool {
    library::row(name).is_some_and(|row| row.is_pure() && !row.has_effect() && !name.starts_with("__"))
}

/// A place in a function.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub unit: &'a Unit,
    pub function: &'a Function,
    pub outline: &'a FunctionOutline,
    /// Offset in the file.
    pub offset: usize,
}

/// Makes the condition of a fact at a site; the error says why there is none.
pub fn condition(fact: &Fact, site: Site<'_>) -> Result<Condition, String> {
    if matches!(fact.template.as_str(), "event" | "typestate") {
        return Err("speaks of what the function does, not of a value".into());
    }
    // Compilers call the members of their own structures as they like.
    let is_internal = |e: &Expression| matches!(&e.kind, Kind::Member { name, .. } if name.starts_with("__"));
    if Formula::read(fact.text.as_str()).any(&is_internal) {
        return Err("speaks of a member whose name only one compiler knows".into());
    }
    if fact.variables.iter().any(|v| v == "output" || v == "end") {
        return Err("speaks of output".into());
    }
    let text = match &fact.c {
        Some(c) => c.clone(),
        // Bounds and relations say the same in C, which has another name for the result.
        None if !matches!(fact.template.as_str(), "functional" | "constant") => fact.text.clone(),
        None => return Err("C cannot say it".into()),
    };
    let mut writer = Writer {
        site,
        text: &text,
        olds: olds(&fact.text)?,
        guards: Vec::new(),
        not_null: Vec::new(),
        decided: Vec::new(),
        made: None,
        in_place: false,
    };
    let expression = parse(&text)?;
    let mut made = Condition { text: String::new(), needs_result: false, snapshots: BTreeMap::new() };
    writer.made = Some(&mut made);
    let body = writer.text_of(&expression)?;
    let mut guards = std::mem::take(&mut writer.guards);
    guards.dedup();
    made.text = match guards.len() {
        0 => body,
        1 => format!("!{} || ({body})", guards.concat()),
        _ => format!("!({}) || ({body})", guards.join(" && ")),
    };
    Ok(made)
}

fn parse(text: &str) -> Result<Expression, String> {
    fact::parse(text).map_err(|_| "C cannot say it".to_owned())
}

/// The entry values that a fact's text names, by the names that its C gives them.
fn olds(text: &str) -> Result<BTreeMap<String, Option<String>>, String> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    if !Formula::read(text).speaks_of_entry() {
        return Ok(found);
    }
    parse(text)?.each(&mut |e| {
        if let Kind::Old(inner) = &e.kind {
            let expression = text.get(inner.span.clone()).unwrap_or_default();
            let known = found.entry(old_name(expression)).or_insert_with(|| Some(expression.to_owned()));
            // Different expressions may consist of the same words.
            if known.as_deref() != Some(expression) {
                *known = None;
            }
        }
    });
    Ok(found)
}

/// The name of an entry value in a fact's C.
fn old_name(expression: &str) -> String {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    format!("{OLD}{}", words.filter(|w| !w.is_empty()).collect::<Vec<_>>().join("_"))
}

/// The pointers that are not null where a condition came out as `outcome`.
fn not_null<'e>(e: &'e Expression, outcome: bool, found: &mut Vec<&'e Expression>) {
    match (&e.kind, outcome) {
        (Kind::Unary(Unary::Not, inner), _) => not_null(inner, !outcome, found),
        (Kind::Binary(Binary::And, a, b), true) | (Kind::Binary(Binary::Or, a, b), false) => {
            not_null(a, outcome, found);
            not_null(b, outcome, found);
        }
        (Kind::Binary(Binary::Ne, p, null), true) | (Kind::Binary(Binary::Eq, p, null), false) => {
            if matches!(&null.kind, Kind::Name(n) if n == "NULL") {
                found.push(p);
            }
        }
        _ => {}
    }
}

/// What is decided when the k-th part of an expression is evaluated: a condition and its outcome.
fn decided(e: &Expression, k: usize) -> Option<(&Expression, bool)> {
    match (&e.kind, k) {
        (Kind::Binary(Binary::And | Binary::Implies, a, _), 1) => Some((a, true)),
        (Kind::Binary(Binary::Or, a, _), 1) => Some((a, false)),
        (Kind::Conditional(c, ..), 1) => Some((c, true)),
        (Kind::Conditional(c, ..), 2) => Some((c, false)),
        _ => None,
    }
}

/// Writes a parsed condition down again.
struct Writer<'a> {
    site: Site<'a>,
    text: &'a str,
    olds: BTreeMap<String, Option<String>>,
    /// Pointers that have to be there, outer ones behind those that they are reached by.
    guards: Vec<String>,
    /// Source texts of pointers that the fact itself has found not to be null.
    not_null: Vec<String>,
    /// Source texts of what the fact decides before the current part.
    decided: Vec<&'a str>,
    made: Option<&'a mut Condition>,
    /// The expression that comes next is a part's whole, or its address is taken: no value of it is.
    in_place: bool,
}

impl<'a> Writer<'a> {
    fn source(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// The text of an expression, with its parts written anew.
    fn text_of(&mut self, e: &Expression) -> Result<String, String> {
        let is_place = std::mem::take(&mut self.in_place);
        if !is_place && matches!(self.site.type_of(e), Some(CType::Record(_))) {
            return Err("compares whole structures".into());
        }
        match &e.kind {
            Kind::Result => {
                if let Some(made) = &mut self.made {
                    made.needs_result = true;
                }
                Ok(RESULT.into())
            }
            Kind::Name(name) => self.name(name),
            Kind::Old(inner) => {
                let name = old_name(self.source(inner.span.clone()));
                self.snapshot(&name)
            }
            Kind::At(..) | Kind::Input(_) => Err("speaks of a state that has no name in C".into()),
            Kind::Binary(Binary::Implies, a, b) => {
                let a = self.text_of(a)?;
                let b = self.after_decision(e, 1, b)?;
                Ok(format!("(!({a}) || ({b}))"))
            }
            Kind::Binary(op, a, b) => {
                self.defined(*op, a, b)?;
                self.spliced(e)
            }
            Kind::Call(name, args) => self.call(name, args, e),
            Kind::Unary(Unary::Dereference, inner) => {
                self.reach(inner, None)?;
                self.spliced(e)
            }
            Kind::Member { base, arrow: true, .. } => {
                self.reach(base, None)?;
                self.spliced(e)
            }
            Kind::Index(base, index) => {
                self.reach(base, Some(index))?;
                self.spliced(e)
            }
            _ => self.spliced(e),
        }
    }

    fn spliced(&mut self, e: &Expression) -> Result<String, String> {
        let mut parts: Vec<(Range<usize>, String)> = Vec::new();
        let takes_place =
            matches!(e.kind, Kind::Member { arrow: false, .. } | Kind::Unary(Unary::AddressOf, _));
        for (k, child) in e.operands().into_iter().enumerate() {
            self.in_place = takes_place;
            parts.push((child.span.clone(), self.after_decision(e, k, child)?));
        }
        parts.sort_by_key(|(span, _)| span.start);
        let mut out = String::new();
        let mut at = e.span.start;
        for (span, text) in parts {
            out.push_str(self.source(at..span.start));
            out.push_str(&text);
            at = span.end;
        }
        out.push_str(self.source(at..e.span.end));
        Ok(out)
    }

    /// The text of the k-th part of an expression, which may rest on what the parts before decided.
    fn after_decision(&mut self, e: &Expression, k: usize, part: &Expression) -> Result<String, String> {
        let (known, decisions) = (self.not_null.len(), self.decided.len());
        if let Some((condition, outcome)) = decided(e, k) {
            self.decided.push(self.source(condition.span.clone()));
            let mut found = Vec::new();
            not_null(condition, outcome, &mut found);
            let text = self.text;
            let texts = found.into_iter().filter_map(|p| text.get(p.span.clone()));
            self.not_null.extend(texts.map(str::to_owned));
        }
        let text = self.text_of(part);
        self.not_null.truncate(known);
        self.decided.truncate(decisions);
        text
    }

    /// Sees to it that an operation is defined: a shift's count, a divisor. What the fact itself has decided
    /// about the operand before is enough.
    fn defined(&mut self, op: Binary, left: &Expression, right: &Expression) -> Result<(), String> {
        let is_constant = |e: &Expression| matches!(&e.kind, Kind::Integer(k) if k.value != 0);
        let is_shift = matches!(op, Binary::Shl | Binary::Shr);
        let is_integer = |e: &Expression| !matches!(self.site.type_of(e), Some(CType::Float(_)));
        let divides = matches!(op, Binary::Div | Binary::Rem) && is_integer(left) && is_integer(right);
        if !(is_shift || divides) {
            return Ok(());
        }
        let operand = self.source(right.span.clone());
        if is_constant(right) || self.decided.iter().any(|d| d.contains(operand)) {
            return Ok(());
        }
        let text = self.unprotected(right)?;
        match is_shift {
            true => {
                let left = self.unprotected(left)?;
                self.guard(format!("((unsigned long)({text}) < 8 * sizeof(({left}) + 0))"));
            }
            false => self.guard(format!("(({text}) != 0)")),
        }
        Ok(())
    }

    /// The text of what a guard names: guards stand before all that the fact itself decides.
    fn unprotected(&mut self, e: &Expression) -> Result<String, String> {
        let known = std::mem::take(&mut self.not_null);
        let text = self.text_of(e);
        self.not_null = known;
        text
    }

    fn name(&mut self, name: &str) -> Result<String, String> {
        match name {
            RESULT => {
                if let Some(made) = &mut self.made {
                    made.needs_result = true;
                }
                Ok(name.into())
            }
            "NULL" => Ok("(void *)0".into()),
            "INFINITY" | "NAN" => Err(format!("names {name}")),
            _ if name.starts_with(OLD) => self.snapshot(name),
            _ => {
                self.site.check_name(name)?;
                Ok(name.into())
            }
        }
    }

    /// `isnan` and `signbit` need a header that the file may not have; they are spelled out.
    fn call(&mut self, name: &str, args: &[Expression], e: &Expression) -> Result<String, String> {
        match (name, args) {
            ("isnan", [x]) => {
                let x = self.text_of(x)?;
                Ok(format!("(({x}) != ({x}))"))
            }
            ("isinf", [x]) => {
                let x = self.text_of(x)?;
                Ok(format!("(({x}) == ({x}) && ({x}) - ({x}) != 0)"))
            }
            ("signbit", [x]) => {
                let x = self.text_of(x)?;
                Ok(format!("(({x}) < 0 || (({x}) == 0 && 1.0 / ({x}) < 0))"))
            }
            _ if is_plain(name) && self.site.outline.declared.contains(name) => self.spliced(e),
            _ => Err(format!("calls {name}")),
        }
    }

    /// Sees to it that a place is there: `base[index]`, or what `base` points to.
    fn reach(&mut self, base: &Expression, index: Option<&Expression>) -> Result<(), String> {
        let constant = |i: &Expression| match &i.kind {
            Kind::Integer(k) => Some(k.value),
            _ => None,
        };
        if let Some(CType::Array(_, count)) = self.site.type_of(base) {
            return match (index, index.and_then(constant), count) {
                (None, ..) => Ok(()),
                (_, Some(k), Some(n)) if k < n => Ok(()),
                (Some(index), None, Some(n)) => {
                    let index = self.unprotected(index)?;
                    self.guard(format!("((unsigned long)({index}) < {n})"));
                    Ok(())
                }
                _ => Err("reads an element that may not be there".into()),
            };
        }
        if index.is_some_and(|i| constant(i).is_none()) {
            return Err("reads an element that may not be there".into());
        }
        let pointer = match &base.kind {
            Kind::Name(_) | Kind::Member { .. } | Kind::Index(..) | Kind::Unary(Unary::Dereference, _) => {
                base
            }
            Kind::Old(_) => base,
            _ => return Err("reads a place that may not be there".into()),
        };
        if self.not_null.iter().any(|p| p == self.source(pointer.span.clone())) {
            return Ok(());
        }
        // What leads to the pointer is reached first.
        let text = self.unprotected(pointer)?;
        self.guard(text);
        Ok(())
    }

    fn guard(&mut self, text: String) {
        if !self.guards.contains(&text) {
            self.guards.push(text);
        }
    }

    /// Names an entry value, whose declaration stands at the top of the body.
    fn snapshot(&mut self, name: &str) -> Result<String, String> {
        let known = self.olds.get(name).cloned().flatten();
        let expression = known.ok_or("its entry values cannot be told apart")?;
        let parsed = parse(&expression)?;
        let entry = Site { offset: self.site.outline.body.as_ref().map_or(0, |b| b.start), ..self.site };
        let mut inner = Writer {
            site: entry,
            text: &expression,
            olds: BTreeMap::new(),
            guards: Vec::new(),
            not_null: Vec::new(),
            decided: Vec::new(),
            made: None,
            in_place: false,
        };
        let value = inner.text_of(&parsed)?;
        let guards = inner.guards;
        let ty = entry.type_of(&parsed);
        let spelled = match ty {
            Some(CType::Array(..)) => Some(format!("__typeof__(&({value})[0])")),
            Some(CType::Record(_) | CType::Opaque { .. }) => return Err("keeps a whole structure".into()),
            Some(ty) => spelled(&ty),
            None => None,
        };
        let spelled = spelled.unwrap_or_else(|| format!("__typeof__({value})"));
        let declaration = match guards.is_empty() {
            true => format!("{spelled} {name} = {value};"),
            false => format!("{spelled} {name} = {} ? {value} : 0;", guards.join(" && ")),
        };
        // Where there was nothing to keep, the fact says nothing.
        if !guards.is_empty() {
            let was = format!("invdiff_had_{}", name.trim_start_matches(OLD));
            let text = format!("int {was} = {} ? 1 : 0;", guards.join(" && "));
            self.declare(was.clone(), text);
            if !self.guards.contains(&was) {
                self.guards.insert(0, was);
            }
        }
        self.declare(name.to_owned(), declaration);
        Ok(name.to_owned())
    }

    fn declare(&mut self, name: String, text: String) {
        if let Some(made) = &mut self.made {
            made.snapshots.insert(name, text);
        }
    }
}

impl<'a> Site<'a> {
    /// Whether the name means here what the fact means by it.
    fn check_name(&self, name: &str) -> Result<(), String> {
        let locals: Vec<_> = self.outline.locals.iter().filter(|l| l.name == name).collect();
        let is_param = self.params().any(|v| &*v.name == name);
        match (locals.as_slice(), is_param) {
            ([], true) => Ok(()),
            ([local], false) if local.scope.contains(&self.offset) => Ok(()),
            ([_], false) => Err(format!("{name} is out of scope there")),
            ([], false) if self.outline.declared.contains(name) => Ok(()),
            ([], false) => Err(format!("{name} is not declared there")),
            _ => Err(format!("{name} is declared more than once")),
        }
    }

    pub fn params(&self) -> impl Iterator<Item = &'a crate::ir::Var> {
        let function = self.function;
        function.params.iter().filter_map(|p| function.vars.get(p.0 as usize))
    }

    pub fn global(&self, name: &str) -> Option<&'a Global> {
        let local = format!("{}.{name}", self.function.name);
        let globals = &self.unit.globals;
        globals.iter().find(|g| *g.symbol == *local).or_else(|| globals.iter().find(|g| *g.symbol == *name))
    }

    /// The declared type of an expression, where it is evident.
    pub fn type_of(&self, e: &Expression) -> Option<CType> {
        match &e.kind {
            Kind::Result => Some(self.function.ret.clone()),
            Kind::Name(name) if name == RESULT => Some(self.function.ret.clone()),
            Kind::Name(name) => match self.function.vars.iter().find(|v| *v.name == **name) {
                Some(var) => Some(var.ty.clone()),
                None => self.global(name).map(|g| g.ty.clone()),
            },
            Kind::Old(inner) => self.type_of(inner),
            Kind::Unary(Unary::Dereference, inner) => target(self.type_of(inner)?),
            Kind::Index(base, _) => target(self.type_of(base)?),
            Kind::Member { base, name, arrow } => {
                let ty = self.type_of(base)?;
                let record = if *arrow { target(ty)? } else { ty };
                let CType::Record(id) = record else { return None };
                let fields = &self.unit.records.get(id.0 as usize)?.fields;
                fields.iter().find(|f| *f.name == **name).map(|f| f.ty.clone())
            }
            _ => None,
        }
    }
}

fn target(ty: CType) -> Option<CType> {
    match ty {
        CType::Pointer(t) | CType::Array(t, _) => Some((*t).clone()),
        _ => None,
    }
}
