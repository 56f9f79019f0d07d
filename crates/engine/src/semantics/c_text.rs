//! Terms as C that a reader recognises.
//!
//! A term has lost the types of the C it came from: a bit-vector is neither signed nor unsigned,
//! and every conversion is an operator. Rendering gives each piece of text the C type that it would
//! have as an expression ([`Ty`]) and keeps one invariant: *converted to the width of the term, the
//! text's value is the term's value*. Conversions that C makes by itself (promotion, the usual
//! arithmetic conversions) therefore need no cast, and every other one gets it. Parentheses are the
//! least that C's precedence asks for, but for `&&` inside `||`.
//!
//! Two dialects: text for people, which adds `\old(x)`, `\at(x, L)`, `\input(k)` and calls the
//! analysis knows nothing about, and plain C, which exists only where C can say it.
//!
//! Sources: C17 6.3.1 (conversions), 6.4.4 (types of literals), 6.5 (precedence); ACSL for `\old`.

mod arithmetic;
mod bits;
mod condition;
mod literal;
mod lvalue;
mod naming;
mod types;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use bits::render_bits;
pub use literal::{float_literal, integer_literal, string_contents, string_literal, written_literal};
pub use lvalue::{Extent, extent, render_address_of, render_lvalue};
pub use naming::{Named, Naming};

use crate::ir::{App, CType, Const, Leaf, Literal, Op, Sort, Term, TermId, TermPool, Uf};
use std::collections::BTreeMap;
use types::{Enumeration, Level, Ty};

/// Plain C that compiles at the point, given the snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CText {
    pub text: String,
    /// Auxiliary variables that hold entry values, by name.
    pub snapshots: Vec<Snapshot>,
}

/// An entry value that plain C has to keep in a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// `invdiff_old_...`.
    pub name: String,
    /// What it is initialised with at entry.
    pub expression: String,
    pub ty: Option<CType>,
}

/// Returns text of a term for people; what does not fit [`Naming::max_len`] bytes is `...`.
pub fn render(pool: &TermPool, term: TermId, naming: &Naming) -> String {
    render_typed(pool, term, naming, None)
}

/// Returns text of a term that is the value of something of this C type, which decides how
/// constants look (`'a'`, `NULL`, `-1`).
pub fn render_typed(pool: &TermPool, term: TermId, naming: &Naming, ty: Option<&CType>) -> String {
    rendered(pool, term, naming, ty).text
}

fn rendered(pool: &TermPool, term: TermId, naming: &Naming, ty: Option<&CType>) -> Text {
    let ty = ty.map(Ty::of);
    let at = |depth| Renderer::new(pool, naming, false, depth).given(term, ty.as_ref());
    let mut text = at(120);
    for depth in [40, 20, 14, 10, 8, 7, 6, 5, 4, 3, 2, 1] {
        if text.text.len() <= naming.max_len {
            break;
        }
        text = at(depth);
    }
    text
}

/// Returns text that the value named by `left` is the value of the term (`c == 2`). Floats are
/// compared by identity of the IEEE value in plain C; the text writes `==`.
pub fn render_equation(
    pool: &TermPool,
    left: &str,
    term: TermId,
    naming: &Naming,
    ty: Option<&CType>,
) -> String {
    if pool.as_const(term).is_some_and(|c| c.is_nan()) {
        return format!("isnan({left})");
    }
    format!("{left} == {}", operand(pool, term, &rendered(pool, term, naming, ty)))
}

/// Returns plain C of a term, `None` where C cannot say it or it is longer than the limit.
pub fn render_c(pool: &TermPool, term: TermId, naming: &Naming, ty: Option<&CType>) -> Option<CText> {
    let (text, snapshots) = rendered_c(pool, term, naming, ty)?;
    Some(CText { text: text.text, snapshots })
}

fn rendered_c(
    pool: &TermPool,
    term: TermId,
    naming: &Naming,
    ty: Option<&CType>,
) -> Option<(Text, Vec<Snapshot>)> {
    let mut renderer = Renderer::new(pool, naming, true, 120);
    let text = renderer.given(term, ty.map(Ty::of).as_ref());
    let snapshots = renderer.snapshots.into_values().collect();
    (!renderer.failed && text.text.len() <= naming.max_len).then_some((text, snapshots))
}

/// Name of the result in plain C.
pub const RESULT: &str = "invdiff_result";

/// Returns plain C that the value named by `left` is the value of the term, `None` where C cannot say
/// it: of input and long terms.
pub fn render_c_equation(
    pool: &TermPool,
    left: &str,
    term: TermId,
    naming: &Naming,
    ty: Option<&CType>,
) -> Option<String> {
    let left = match left {
        "\\result" => RESULT,
        left if left.contains('\\') => return None,
        left => left,
    };
    if pool.as_const(term).is_some_and(|c| c.is_nan()) {
        return Some(format!("isnan({left})"));
    }
    let (text, _) = rendered_c(pool, term, naming, ty)?;
    let right = &text.text;
    let plain = |c: crate::ir::Const| !c.is_float_zero() && !c.is_nan();
    if pool.sort(term).is_float() && !pool.as_const(term).is_some_and(plain) {
        // Identity of the IEEE value (`docs/design/machine-semantics.md`): NaN is itself, the zeros are
        // not each other.
        return Some(format!(
            "(isnan({left}) ? isnan({right}) : {left} == ({right}) && !signbit({left}) == !signbit({right}))"
        ));
    }
    Some(format!("{left} == {}", operand(pool, term, &text)))
}

/// A term's text as the right side of `==`: with parentheses where it binds weaker, as what a widened
/// term is made of may do.
fn operand(pool: &TermPool, term: TermId, text: &Text) -> String {
    if is_compound(pool, term) { format!("({})", text.text) } else { text.at(Level::Shift) }
}

/// Whether a term is put in parentheses beside `==`, whatever its text.
fn is_compound(pool: &TermPool, term: TermId) -> bool {
    match pool.get(term) {
        Term::App(App::Op(op), _) => condition::binds_weaker_than_equality(*op, pool.sort(term)),
        _ => false,
    }
}

/// Text with what its context must know.
#[derive(Clone, Debug)]
struct Text {
    text: String,
    level: Level,
    ty: Ty,
}

impl Text {
    fn new(text: impl Into<String>, level: Level, ty: Ty) -> Text {
        Text { text: text.into(), level, ty }
    }

    /// Returns the text for a place that needs at least this level.
    fn at(&self, level: Level) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text.clone() }
    }
}

struct Renderer<'a> {
    pool: &'a TermPool,
    naming: &'a Naming<'a>,
    /// Plain C.
    c: bool,
    /// Something was met that C cannot say, or that was left out.
    failed: bool,
    /// Levels of terms that may still be entered.
    depth: usize,
    /// Terms that may still be entered.
    budget: usize,
    /// Inside `\old`: entry values are meant already.
    in_old: bool,
    /// As [`Naming::target`], for one side of a comparison: what the other side leads to.
    beside: Option<CType>,
    snapshots: BTreeMap<String, Snapshot>,
}

impl<'a> Renderer<'a> {
    fn new(pool: &'a TermPool, naming: &'a Naming<'a>, c: bool, depth: usize) -> Renderer<'a> {
        Renderer {
            pool,
            naming,
            c,
            failed: false,
            depth,
            budget: naming.max_len.saturating_mul(2).max(16),
            in_old: false,
            beside: None,
            snapshots: BTreeMap::new(),
        }
    }

    /// Renders a whole value, constants in the manner of a type.
    fn value(&mut self, t: TermId, ty: Option<&Ty>) -> Text {
        match (self.pool.as_const(t), ty) {
            (Some(c), Some(ty)) => self.constant(c, ty),
            _ => {
                let x = self.term(t);
                let signed = ty.filter(|ty| !ty.is_pointer()).map(|ty| ty.integer(self.pointer_bits()).1);
                self.narrow(x, t, signed)
            }
        }
    }

    /// Renders a whole value of a type: an address as that of what pointers of the type lead to.
    fn given(&mut self, t: TermId, ty: Option<&Ty>) -> Text {
        let text = self.value(t, ty);
        let to = ty.map(|ty| Text::new("", Level::Primary, ty.clone()));
        to.and_then(|to| self.address_beside(t, (&text, &to))).unwrap_or(text)
    }

    /// Renders a constant as one compared with, or assigned to, something of a type.
    fn constant(&self, c: Const, ty: &Ty) -> Text {
        // A null pointer is none of the numbers; one that leads nowhere has the sign that its macro has.
        let is_null = ty.is_pointer() && c.unsigned() == Some(0);
        let signed = ty.is_pointer() || ty.integer(self.pointer_bits()).1;
        let number = || (!is_null).then(|| self.macro_of(c, signed))?;
        let named = self.enumerator(c, ty).or_else(number);
        named.unwrap_or_else(|| literal::like(c, ty, self.naming.pointer_bits()))
    }

    /// The macro that an integer is written as. One that has to be read as unsigned has a value of its own.
    fn macro_of(&self, c: Const, signed: bool) -> Option<Text> {
        let value = if signed { c.signed()? } else { i128::try_from(c.unsigned()?).ok()? };
        self.naming.macro_of(value).map(|name| Text::new(name, Level::Primary, literal::integer(value).ty))
    }

    /// The enumerator that a constant of this type is.
    fn enumerator(&self, c: Const, ty: &Ty) -> Option<Text> {
        let Ty::Int { names: Enumeration(Some(names)), .. } = ty else { return None };
        self.naming.enumerator(c, names).map(|name| Text::new(name, Level::Primary, Ty::INT))
    }

    /// The name of a term. In `\old(...)` names are those of the entry, where what a variable came to hold has
    /// none; a variable that a quantifier binds keeps its own.
    fn named(&self, t: TermId) -> Option<&Named> {
        let is_bound = || matches!(self.pool.get(t), Term::Leaf(Leaf::Param { .. }));
        self.naming.names.get(&t).filter(|_| !self.in_old || is_bound())
    }

    /// Renders a term; see the module's invariant.
    fn term(&mut self, t: TermId) -> Text {
        if let Some(named) = self.named(t) {
            return Text::new(named.text.clone(), Level::Primary, Ty::of(&named.ty));
        }
        if self.depth == 0 || self.budget == 0 {
            self.failed = true;
            return Text::new("...", Level::Primary, Ty::of_sort(self.pool.sort(t)));
        }
        self.depth -= 1;
        self.budget -= 1;
        let text = self.node(t);
        self.depth += 1;
        text
    }

    fn node(&mut self, t: TermId) -> Text {
        let pool = self.pool;
        match pool.get(t) {
            Term::Const(c) => literal::plain(*c),
            Term::Leaf(leaf) => self.leaf(leaf),
            Term::App(App::Op(op), args) => self.operator(*op, args, pool.sort(t)),
            Term::App(App::Uf(uf), args) => self.uninterpreted(uf, args, pool.sort(t)),
            Term::App(App::Load { sort, bytes }, args) => match args.as_slice() {
                &[memory, address] => {
                    let access = lvalue::Access { sort: *sort, bytes: *bytes, bits: None };
                    self.load(memory, address, access)
                }
                _ => self.cannot("...", *sort),
            },
            Term::App(..) => self.cannot("...", pool.sort(t)),
        }
    }

    /// Returns text that plain C does not have.
    fn cannot(&mut self, text: impl Into<String>, sort: Sort) -> Text {
        self.failed = true;
        Text::new(text, Level::Primary, Ty::of_sort(sort))
    }

    fn leaf(&mut self, leaf: &Leaf) -> Text {
        let known = self.naming.types.get(leaf).map(Ty::of);
        match leaf {
            Leaf::Param { name, sort } => {
                let ty = known.unwrap_or_else(|| Ty::of_sort(*sort));
                if self.naming.old_params.contains(name) && !self.in_old {
                    let declared = self.naming.types.get(leaf).cloned();
                    return self.old(Text::new(name.as_ref(), Level::Primary, ty), declared);
                }
                Text::new(name.as_ref(), Level::Primary, ty)
            }
            Leaf::SymbolAddr { symbol, .. } => self.symbol_address(symbol),
            Leaf::LocalAddr { key, bits } => {
                let target = self.naming.types.get(leaf).cloned();
                let text = format!("&{}", naming::local_name(key));
                match target {
                    Some(CType::Array(element, _)) => {
                        Text::new(&text[1..], Level::Primary, Ty::Pointer(Some((*element).clone())))
                    }
                    target => Text::new(text, Level::Unary, Ty::pointer(target, *bits)),
                }
            }
            Leaf::Indeterminate { key, sort } => {
                self.cannot(format!("\\uninitialised({})", naming::local_name(key)), *sort)
            }
            Leaf::Havoc { key, sort } => self.cannot(format!("\\unknown({key})"), *sort),
            Leaf::Memory => self.cannot("\\memory", Sort::Mem),
            Leaf::Stdin => self.cannot("\\stdin", Sort::Stdin),
            Leaf::World => self.cannot("\\world", Sort::World),
            Leaf::NoOutput => self.cannot("\\nothing", Sort::Out),
        }
    }

    /// Address of a global, a literal or a function.
    fn symbol_address(&mut self, symbol: &str) -> Text {
        match self.naming.unit.and_then(|u| u.global(symbol)) {
            Some(global) if global.linkage == crate::ir::Linkage::Literal => {
                let char_type = global.ty.target().cloned();
                let name = literal::narrow_text(global)
                    .and_then(|text| self.naming.macros.get(&Literal::Text(text)));
                let text = name.map_or_else(|| literal::written_literal(global), |name| name.to_string());
                Text::new(text, Level::Primary, Ty::Pointer(char_type))
            }
            Some(global) => match &global.ty {
                CType::Array(element, _) => {
                    let ty = Ty::Pointer(Some((**element).clone()));
                    Text::new(global.name.as_ref(), Level::Primary, ty)
                }
                other => {
                    Text::new(format!("&{}", global.name), Level::Unary, Ty::Pointer(Some(other.clone())))
                }
            },
            // Functions decay by themselves.
            None => Text::new(symbol, Level::Primary, Ty::Pointer(None)),
        }
    }

    /// Wraps an entry value whose name means something else at the point.
    fn old(&mut self, text: Text, declared: Option<CType>) -> Text {
        if !self.c {
            return Text::new(format!("\\old({})", text.text), Level::Primary, text.ty);
        }
        let words: Vec<&str> = text
            .text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .collect();
        let mut name = format!("invdiff_old_{}", words.join("_"));
        // Different expressions may consist of the same words.
        while self.snapshots.get(&name).is_some_and(|s| s.expression != text.text) {
            name.push('_');
        }
        let snapshot = Snapshot { name: name.clone(), expression: text.text, ty: declared };
        self.snapshots.insert(name.clone(), snapshot);
        Text::new(name, Level::Primary, text.ty)
    }

    fn uninterpreted(&mut self, uf: &Uf, args: &[TermId], sort: Sort) -> Text {
        match uf {
            Uf::Input { .. } => self.input("\\input", args, sort),
            Uf::InputOk { .. } => self.input("\\input_ok", args, sort),
            Uf::InputEnd { .. } => self.input("\\input_end", args, sort),
            Uf::InputRest { .. } => self.cannot("\\stdin", sort),
            Uf::Library { name, .. } => {
                let list = self.arguments(args);
                let text = format!("{name}({list})");
                // Memory and strings as arguments are not C's.
                let pure = args.iter().all(|&a| self.pool.sort(a).bits().is_some());
                if !pure || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.failed = true;
                }
                Text::new(text, Level::Primary, Ty::of_sort(sort))
            }
            Uf::Call { callee, .. } => {
                let name = naming::callee_name(callee);
                let text = match (name, args) {
                    _ if callee.ends_with(":errno") => format!("\\at(errno, after_{name})"),
                    _ if callee.ends_with(":stored") => {
                        let to = args.get(1).map_or("...".into(), |to| self.term(*to).at(Level::Unary));
                        // `*&end` is `end`.
                        let place = to.strip_prefix('&').map_or_else(|| format!("*{to}"), str::to_owned);
                        return Text {
                            ty: Ty::of(&CType::Pointer(CType::Void.into())),
                            ..self.cannot(format!("\\at({place}, after_{name})"), sort)
                        };
                    }
                    // Through a pointer, which is the last that is passed before the states.
                    ("*", _) => self.indirect_call(args),
                    _ => self.call(name, args),
                };
                let ty = self.naming.return_type(name).unwrap_or_else(|| Ty::of_sort(sort));
                Text { ty, ..self.cannot(text, sort) }
            }
            Uf::Loop { hash, place, .. } => {
                let name = self.naming.loops.get(&(hash.clone(), place.clone()));
                let (text, ty) = match name {
                    Some(named) => (named.text.as_str(), Ty::of(&named.ty)),
                    None => (place.as_ref(), Ty::of_sort(sort)),
                };
                let text = format!("{text}@loop");
                Text { ty, ..self.cannot(text, sort) }
            }
        }
    }

    /// Renders what a call through a pointer gave.
    fn indirect_call(&mut self, args: &[TermId]) -> String {
        let pool = self.pool;
        let values: Vec<TermId> = args.iter().copied().filter(|&a| pool.sort(a).bits().is_some()).collect();
        let Some((function, given)) = values.split_last() else { return "...".into() };
        let function = self.term(*function).at(Level::Unary);
        let words: Vec<String> = given.iter().map(|&a| self.term(a).text).collect();
        format!("(*{function})({})", words.join(", "))
    }

    /// Renders what a call gave. A function that only reads memory gives the same for the same memory,
    /// so its text says which: `strlen(s)` alone is the length of `s` at the point.
    fn call(&mut self, name: &str, args: &[TermId]) -> String {
        let pool = self.pool;
        let reads_only = args.iter().all(|&a| pool.sort(a) != Sort::World);
        let mut memories = args.iter().filter(|&&a| pool.sort(a) == Sort::Mem).peekable();
        let has_memory = memories.peek().is_some();
        let at_entry = memories.all(|&m| matches!(pool.get(m), Term::Leaf(_)));
        let old = reads_only && has_memory && at_entry && self.naming.old_memory && !self.in_old;
        self.in_old |= old;
        let call = format!("{name}({})", self.arguments(args));
        self.in_old &= !old;
        match self.earlier_calls(name, args) {
            0 if old => format!("\\old({call})"),
            0 if reads_only && !at_entry => format!("\\at({call}, after_write)"),
            0 => call,
            n => format!("\\at({call}, call{})", n + 1),
        }
    }

    /// Renders the arguments that are values, leaving memory, streams and the world out.
    fn arguments(&mut self, args: &[TermId]) -> String {
        let values: Vec<TermId> =
            args.iter().copied().filter(|&a| self.pool.sort(a).bits().is_some()).collect();
        let texts: Vec<String> = values.iter().map(|&a| self.term(a).at(Level::Assignment)).collect();
        texts.join(", ")
    }

    /// Counts calls of the same name in the states that a call starts from.
    fn earlier_calls(&self, name: &str, args: &[TermId]) -> usize {
        let mut count = 0;
        let mut state = args.iter().copied().find(|&a| self.pool.sort(a) == Sort::World);
        let mut steps = 0;
        while let Some(s) = state.filter(|_| steps < 1000) {
            steps += 1;
            state = match self.pool.get(s) {
                Term::App(App::Uf(Uf::Call { callee, .. }), inner) => {
                    count += usize::from(naming::callee_name(callee) == name);
                    inner.iter().copied().find(|&a| self.pool.sort(a) == Sort::World)
                }
                _ => None,
            };
        }
        count
    }

    /// Renders what a conversion gives in a state of standard input. A state that depends on a
    /// condition gives a value that does.
    fn input(&mut self, what: &str, args: &[TermId], sort: Sort) -> Text {
        let text = match args.first() {
            Some(&state) => self.input_in(what, state, 0),
            None => format!("{what}(?)"),
        };
        let conditional = text.contains(" ? ");
        let level = if conditional { Level::Conditional } else { Level::Primary };
        Text { level, ..self.cannot(text, sort) }
    }

    fn input_in(&mut self, what: &str, state: TermId, after: usize) -> String {
        let (mut state, mut k) = (state, after);
        loop {
            match self.pool.get(state) {
                Term::App(App::Uf(Uf::InputRest { conversion }), args) => {
                    k += usize::from(naming::is_value_conversion(conversion));
                    let Some(&before) = args.first() else { return format!("{what}(?)") };
                    state = before;
                }
                Term::Leaf(Leaf::Stdin) => return format!("{what}({})", k + 1),
                Term::App(App::Uf(Uf::Loop { .. }), _) => return format!("{what}(\\stdin@loop + {})", k + 1),
                Term::App(App::Uf(Uf::Call { callee, .. }), _) => {
                    let name = naming::callee_name(callee);
                    return format!("\\at({what}({}), {name})", k + 1);
                }
                Term::App(App::Op(Op::Ite), args) => {
                    let &[condition, a, b] = args.as_slice() else { return format!("{what}(?)") };
                    if self.depth == 0 || self.budget == 0 {
                        return "...".into();
                    }
                    self.depth -= 1;
                    self.budget -= 1;
                    let (then, otherwise) = (self.input_in(what, a, k), self.input_in(what, b, k));
                    let text = if then == otherwise {
                        then
                    } else {
                        let condition = self.condition(condition).at(Level::Or);
                        let then = if then.contains(" ? ") { format!("({then})") } else { then };
                        format!("{condition} ? {then} : {otherwise}")
                    };
                    self.depth += 1;
                    return text;
                }
                _ => return format!("{what}(?)"),
            }
        }
    }
}
