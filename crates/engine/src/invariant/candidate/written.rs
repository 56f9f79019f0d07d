//! Templates that a person wrote: `p->len <= p->cap`, `area <= w * h`, `?a * x + ?b * y == ?c`.
//!
//! A template is an expression of the language of facts over *places*: variables, `\result`, members of what
//! parameters lead to, globals, and `\old` of these. It applies to a function where all of its places are there.
//! Without unknowns it is a candidate as it stands; with unknowns, executions say which numbers they are
//! (`docs/design/facts.md`): the coefficients of an equation are the null space of the data (module `polynomial`),
//! a modulus is looked for among small ones, and a bound is the largest or smallest value seen. Whatever executions
//! suggest is then proved or left out, as every candidate.
//!
//! Numbers are computed as C does, modulo the width of their type where C says nothing; where an order is claimed
//! of something that may wrap around so, that it does not is an assumption of the fact, by name.

use crate::fact::term::{self, Scope, Typed, When};
use crate::fact::{Binary, Expression, Kind, ParseError, Unary, parse_template};
use crate::invariant::candidate::fitted::Row;
use crate::invariant::candidate::fitted::{self, has_unknown, is_unknown};
use crate::invariant::fact::Template;
use crate::ir::{CType, Const, DataModel, Leaf, Sort, TermId, TermPool, Unit};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Letters of the longest template, and most of them.
const LONGEST: usize = 200;
pub const MOST: usize = 32;
/// Names that are numbers of C, and no places.
const CONSTANTS: [&str; 9] =
    ["NULL", "true", "false", "INT_MAX", "INT_MIN", "UINT_MAX", "LONG_MAX", "LONG_MIN", "ULONG_MAX"];

/// A template as it was written.
#[derive(Clone, PartialEq)]
pub struct WrittenTemplate {
    pub text: String,
    pub(super) tree: Expression,
}

impl fmt::Debug for WrittenTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WrittenTemplate").field(&self.text).finish()
    }
}

fn mistake<T>(at: &Expression, message: impl Into<String>) -> Result<T, ParseError> {
    Err(ParseError { offset: at.span.start, message: message.into() })
}

impl WrittenTemplate {
    /// Reads a template.
    ///
    /// Errors: what is wrong with it, and the column.
    pub fn parse(text: &str) -> Result<WrittenTemplate, ParseError> {
        if text.len() > LONGEST {
            let message = format!("A template longer than {LONGEST} bytes");
            return Err(ParseError { offset: LONGEST, message });
        }
        let tree = parse_template(text)?;
        check_condition(&tree)?;
        check_parts(&tree)?;
        fitted::check(&tree)?;
        if places(&tree).is_empty() {
            return mistake(&tree, "A template names no variable");
        }
        Ok(WrittenTemplate { text: text.to_owned(), tree })
    }

    /// The places that it speaks of, as facts write them.
    pub(in crate::invariant) fn places(&self) -> BTreeSet<String> {
        places(&self.tree)
    }

    /// The candidates: the template itself, or what executions say that its unknowns may be. A row has the values
    /// of names.
    pub(in crate::invariant) fn relations(&self, model: DataModel, rows: &[Row]) -> Vec<Relation> {
        if !has_unknown(&self.tree) {
            return vec![Relation::new(&self.tree, model)];
        }
        let tree = named(&self.tree, false, &mut |_| {});
        fitted::fit(&tree, rows).iter().map(|e| Relation::new(e, model)).collect()
    }
}

/// Whether the whole is a condition.
fn check_condition(e: &Expression) -> Result<(), ParseError> {
    match &e.kind {
        Kind::Binary(Binary::Implies | Binary::Or | Binary::And, a, b) => {
            check_condition(a)?;
            check_condition(b)
        }
        Kind::Unary(Unary::Not, inner) => check_condition(inner),
        Kind::Binary(op, ..) if op.is_comparison() => Ok(()),
        _ => mistake(e, "A template is a comparison, as in `x <= y`"),
    }
}

/// Whether all parts are such that executions and proofs can tell of them.
fn check_parts(e: &Expression) -> Result<(), ParseError> {
    match &e.kind {
        Kind::Call(..) | Kind::CallThrough(..) => return mistake(e, "A template calls no function"),
        Kind::Float(_) => return mistake(e, "Numbers of templates are whole"),
        Kind::At(..) | Kind::Input(_) | Kind::ForAll(..) | Kind::Text(_) => {
            return mistake(e, "A template speaks of variables, `\\result` and `\\old(e)`");
        }
        Kind::Unary(Unary::AddressOf, _) => return mistake(e, "A template takes no address"),
        Kind::Cast(ty, _)
            if ty.pointers > 0 || ty.base.starts_with("struct") || ty.base.starts_with("union") =>
        {
            return mistake(e, "A template casts to numbers only");
        }
        Kind::Old(inner) if inner.any(&|e| matches!(e.kind, Kind::Old(_) | Kind::Result)) => {
            return mistake(e, "`\\old` is of what there was at the entry");
        }
        // What C leaves undefined for some operand holds of nothing.
        Kind::Binary(op @ (Binary::Div | Binary::Rem), _, right)
            if !(*op == Binary::Rem && is_unknown(right)) && right.number().is_none_or(|n| n < 1) =>
        {
            let what = if *op == Binary::Div { "divided" } else { "reduced" };
            return mistake(right, format!("What is {what} by may be 0; write a number from 1 on"));
        }
        Kind::Binary(Binary::Shl | Binary::Shr, _, right)
            if right.number().is_none_or(|n| !(0..=31).contains(&n)) =>
        {
            return mistake(right, "A shift is by a number from 0 to 31");
        }
        _ => {}
    }
    e.operands().into_iter().try_for_each(check_parts)
}

/// Whether an expression is a place as a whole.
fn is_place(e: &Expression) -> bool {
    match &e.kind {
        Kind::Name(n) => !CONSTANTS.contains(&n.as_str()) && n != "SIZE_MAX" && !is_unknown(e),
        Kind::Result | Kind::Member { .. } | Kind::Index(..) => true,
        Kind::Unary(op, _) => *op == Unary::Dereference,
        _ => false,
    }
}

fn places(e: &Expression) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    named(e, false, &mut |name| _ = found.insert(name.to_owned()));
    found
}

/// The expression with each place as a name, which is called back.
fn named(e: &Expression, old: bool, then: &mut impl FnMut(&str)) -> Expression {
    if is_place(e) {
        let name = if old { format!("\\old({e})") } else { e.to_string() };
        then(&name);
        return Expression::new(Kind::Name(name));
    }
    let mut of = |e: &Expression| Box::new(named(e, old, then));
    let kind = match &e.kind {
        Kind::Old(inner) => return named(inner, true, then),
        Kind::Unary(op, a) => Kind::Unary(*op, of(a)),
        Kind::Binary(op, a, b) => Kind::Binary(*op, of(a), of(b)),
        Kind::Conditional(c, a, b) => Kind::Conditional(of(c), of(a), of(b)),
        Kind::Cast(ty, a) => Kind::Cast(ty.clone(), of(a)),
        other => other.clone(),
    };
    Expression::new(kind)
}

/// A condition over places, by the names of their values at a point.
#[derive(Clone)]
pub struct Relation {
    text: Arc<str>,
    /// With names for places.
    tree: Arc<Expression>,
    names: Arc<[String]>,
    /// For the sizes of types.
    model: DataModel,
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Relation").field(&self.text).finish()
    }
}

impl PartialEq for Relation {
    fn eq(&self, other: &Relation) -> bool {
        self.text == other.text
    }
}

impl Eq for Relation {}

impl PartialOrd for Relation {
    fn partial_cmp(&self, other: &Relation) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Relation {
    fn cmp(&self, other: &Relation) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Relation {
    fn new(e: &Expression, model: DataModel) -> Relation {
        let mut names = BTreeSet::new();
        let tree = named(e, false, &mut |name| _ = names.insert(name.to_owned()));
        Relation {
            text: e.to_string().into(),
            tree: Arc::new(tree),
            names: names.into_iter().collect(),
            model,
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What its facts are listed as.
    pub fn template(&self) -> Template {
        match &self.tree.kind {
            Kind::Binary(Binary::Eq, a, b) => {
                let has_rest = [a, b].iter().any(|e| matches!(e.kind, Kind::Binary(Binary::Rem, ..)));
                if has_rest { Template::Congruence } else { Template::Linear }
            }
            _ => Template::Comparison,
        }
    }

    /// As a term; `None` where a name has no value, or C has no such operation.
    pub fn term(
        &self,
        pool: &mut TermPool,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> Option<TermId> {
        let unit = Unit { data_model: self.model, ..Unit::default() };
        term::condition(&self.tree, &mut Names { pool, value, unit: &unit }).ok()
    }

    /// Whether it holds of some values; `None` when one is missing.
    pub fn holds(&self, value: &dyn Fn(&str) -> Option<(Const, CType)>) -> Option<bool> {
        let mut pool = TermPool::new();
        let mut values = Vec::new();
        for name in self.names.iter() {
            let (c, ty) = value(name)?;
            values.push((name.as_str(), pool.constant(c), ty));
        }
        let known = |x: &str| values.iter().find(|(name, ..)| *name == x).map(|(_, t, ty)| (*t, ty.clone()));
        let term = self.term(&mut pool, &known)?;
        pool.as_const(term)?.as_bool()
    }

    /// What is taken for granted where an order is claimed of signed numbers that are computed: that they do not
    /// wrap around.
    pub fn assumed(&self, ty: &dyn Fn(&str) -> Option<CType>) -> Option<String> {
        let is_order = |e: &Expression| {
            matches!(e.kind, Kind::Binary(Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge, ..))
        };
        let is_sum = |e: &&Expression| match &e.kind {
            Kind::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl, ..) => true,
            Kind::Unary(Unary::Minus, a) => a.number().is_none(),
            _ => false,
        };
        let wraps = |name: &String| match ty(name) {
            Some(CType::Int { bits, signed, .. }) => signed || bits < 32,
            _ => true,
        };
        if !self.tree.any(&is_order) || !self.names.iter().any(wraps) {
            return None;
        }
        let mut found = None;
        self.tree.each(&mut |e| {
            if found.is_none() && is_sum(&e) {
                found = Some(format!("no-overflow({e})"));
            }
        });
        found
    }
}

/// Names stand for given terms.
struct Names<'a> {
    pool: &'a mut TermPool,
    value: &'a dyn Fn(&str) -> Option<(TermId, CType)>,
    unit: &'a Unit,
}

impl Scope for Names<'_> {
    fn pool(&mut self) -> &mut TermPool {
        self.pool
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn variable(&mut self, name: &str, _: When) -> Option<Typed> {
        (self.value)(name).map(|(term, ty)| Typed { term, ty })
    }

    fn object(&mut self, _: &str) -> Option<Typed> {
        None
    }

    fn result(&mut self) -> Option<Typed> {
        None
    }

    fn input(&mut self, _: u64) -> Option<Typed> {
        None
    }

    fn load(&mut self, _: TermId, _: Sort, _: u64, _: When) -> Option<TermId> {
        None
    }
}

/// The place that an expression names in the entry's state: where its bytes are.
pub(in crate::invariant) fn address(place: &str, scope: &mut Entry) -> Option<(TermId, Sort, u64)> {
    let tree = crate::fact::parse(place).ok()?;
    term::condition(&tree, scope).ok()?;
    scope.last
}

/// Names as they are at a function's entry.
pub(in crate::invariant) struct Entry<'a> {
    pub pool: &'a mut TermPool,
    pub unit: &'a Unit,
    pub body: &'a crate::ir::Function,
    /// What was read last.
    pub last: Option<(TermId, Sort, u64)>,
}

impl Scope for Entry<'_> {
    fn pool(&mut self) -> &mut TermPool {
        self.pool
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn variable(&mut self, name: &str, _: When) -> Option<Typed> {
        let v = self.body.params.iter().find(|p| *self.body.var(**p).name == *name)?;
        let var = self.body.var(*v);
        let term = self.pool.leaf(Leaf::Param { name: var.name.clone(), sort: var.sort? });
        Some(Typed { term, ty: var.ty.clone() })
    }

    fn object(&mut self, name: &str) -> Option<Typed> {
        let own = format!("{}.{name}", self.body.name);
        let found = self.unit.global(name).or_else(|| self.unit.global(&own))?;
        let bits = self.unit.data_model.pointer_bits();
        let term = self.pool.leaf(Leaf::SymbolAddr { symbol: found.symbol.clone(), bits });
        Some(Typed { term, ty: found.ty.clone() })
    }

    fn result(&mut self) -> Option<Typed> {
        None
    }

    fn input(&mut self, _: u64) -> Option<Typed> {
        None
    }

    fn load(&mut self, addr: TermId, sort: Sort, bytes: u64, _: When) -> Option<TermId> {
        self.last = Some((addr, sort, bytes));
        let memory = self.pool.leaf(Leaf::Memory);
        Some(self.pool.app(crate::ir::App::Load { sort, bytes }, &[memory, addr]))
    }
}

#[cfg(test)]
mod tests;
