//! Arrays and strings behind parameters as variables: what is said of all elements, of one, or of a length.
//!
//! An *array* is what a parameter that keeps its value leads to, where that are numbers, with a *length*: a number that
//! the function compares with one of its own variables (an index), its result, or at the head of a loop one of its
//! locals. What is said of all elements is said by variables of the table that have one value a row
//! ([`crate::infer::Kind`]): the least and the greatest element stand for `a[k] >= x` and `a[k] <= x` of all `k`, and a
//! condition for what has no such number (sorted, one of them, each the same as before). Of an empty array the first
//! say nothing, so that no bound is read off it.
//!
//! Daikon's sequences have such invariants over one of them (elements in a range, sorted), and over one and a number
//! (member, each compares). What a pointer leads to is given by the run; symbolic execution does not follow it, so all
//! of this is likely at best, but what the engine proves.
//!
//! Source: Ernst et al. 2007, appendix A: invariants over sequences, and derived variables (`a[0]`, `a[n - 1]`).

use super::subject::{Cell, Looked, Source, Subject, is_kept, kind_of};
use crate::infer::{Kind, Relation, Shape, Variable};
use crate::interp::{Input, Storage, Value};
use crate::ir::{CType, Callee, Const, Expr, Function, Instr, Object, Op, Unit, VarId, VarKind};
use crate::quantify::followed;
use std::collections::{BTreeMap, BTreeSet};

/// Elements that are looked at; a longer array has no value.
const MOST_ELEMENTS: i128 = 256;
/// Bytes of a text.
const MOST_TEXT: i128 = 4_096;
/// Variables of one point, lengths of one array, and numbers that elements are compared with.
const MOST: usize = 72;
const MOST_LENGTHS: usize = 3;
const MOST_NUMBERS: usize = 5;
/// Names of an index that stands for all.
const INDICES: [&str; 5] = ["k", "j", "i", "m", "index"];

/// What a parameter leads to, with the number of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub parameter: usize,
    /// `None`: one element, or what ends with a zero.
    pub length: Option<Box<Source>>,
    /// Of what kind an element is, and how many bytes it has.
    pub element: Cell,
    /// As it is at entry.
    pub is_old: bool,
}

impl Array {
    /// Bytes from the first element to another one.
    pub fn offset(&self, at: i128) -> Option<i64> {
        i64::try_from(at.checked_mul(i128::from(self.element.1))?).ok()
    }
}

/// What an element is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Number(i128),
    Of(Box<Source>),
}

/// What of an array a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    First,
    Last,
    Least,
    Most,
    /// Whether neighbours compare so, from the first on.
    Sorted(Relation),
    /// Whether all elements compare so.
    Each(Relation, Operand),
    /// Whether some element is it.
    Exists(Operand),
    /// Whether all elements are what they were.
    Unchanged,
    /// Whether a number is their sum.
    Sum(Operand),
    /// Bytes in front of a zero.
    Text,
}

/// What is asked of a run.
pub enum Asked<'s> {
    Number(&'s Source),
    Element { at: i128, is_old: bool },
}

/// Whether it is about something that the function leaves: elements, or its result.
pub(super) fn is_left(array: &Array, part: &Part) -> bool {
    let is_result = |source: &Source| *source == Source::Result;
    let operand = match part {
        Part::Each(_, of) | Part::Exists(of) | Part::Sum(of) => Some(of),
        _ => None,
    };
    let of_result = matches!(operand, Some(Operand::Of(source)) if is_result(source));
    !array.is_old || of_result || array.length.as_deref().is_some_and(is_result)
}

/// The value of a part of an array in a run. Cost: linear in the elements.
pub(super) fn value(array: &Array, part: &Part, look: &mut dyn FnMut(Asked) -> Option<i128>) -> Option<i128> {
    let is_old = array.is_old;
    let mut element = |at: i128, is_old: bool| look(Asked::Element { at, is_old });
    match part {
        Part::First => return element(0, is_old),
        Part::Text => {
            for at in 0..MOST_TEXT {
                if element(at, is_old)? == 0 {
                    return Some(at);
                }
            }
            return None;
        }
        _ => {}
    }
    let length = look(Asked::Number(array.length.as_deref()?))?;
    if length > MOST_ELEMENTS {
        return None;
    }
    let mut all = Vec::new();
    for at in 0..length {
        all.push(look(Asked::Element { at, is_old })?);
    }
    let mut operand = |o: &Operand| match o {
        Operand::Number(k) => Some(*k),
        Operand::Of(source) => look(Asked::Number(source)),
    };
    let truth = |is: bool| Some(i128::from(is));
    match part {
        Part::Last => all.last().copied(),
        Part::Least => all.iter().min().copied(),
        Part::Most => all.iter().max().copied(),
        Part::Exists(of) => {
            let of = operand(of)?;
            truth(all.contains(&of))
        }
        Part::Sum(of) => {
            let of = operand(of)?;
            truth(all.iter().sum::<i128>() == of)
        }
        // What is said of no element says nothing of the row.
        Part::Sorted(_) if all.len() < 2 => None,
        Part::Each(..) | Part::Unchanged if all.is_empty() => None,
        Part::Sorted(relation) => {
            truth(all.iter().zip(all.iter().skip(1)).all(|(a, b)| relation.holds(*a, *b)))
        }
        Part::Each(relation, of) => {
            let of = operand(of)?;
            truth(all.iter().all(|v| relation.holds(*v, of)))
        }
        Part::Unchanged => {
            let mut is_same = true;
            for (at, v) in (0..).zip(&all) {
                is_same &= look(Asked::Element { at, is_old: true })? == *v;
            }
            truth(is_same)
        }
        Part::First | Part::Text => None,
    }
}

/// A variable by its name, where it is found.
#[derive(Clone)]
struct Named {
    name: String,
    source: Source,
}

/// The parts of arrays at the exit.
pub(super) fn at_exit(subject: &Subject) -> Vec<Looked> {
    let arrays = Arrays::of(subject);
    if arrays.pointers.is_empty() {
        return Vec::new();
    }
    let f = subject.function;
    let of_parameter =
        |(k, p): (usize, &VarId)| Named { name: f.var(*p).name.to_string(), source: Source::Parameter(k) };
    let kept: Vec<(usize, &VarId)> =
        f.params.iter().enumerate().filter(|(_, p)| is_kept(f, **p) && is_number(f, **p)).collect();
    let is_length = |(_, p): &(usize, &VarId)| arrays.lengths.contains(*p);
    let mut lengths: Vec<Named> = kept.iter().copied().filter(is_length).map(of_parameter).collect();
    let mut numbers: Vec<Named> = kept.iter().copied().filter(|p| !is_length(p)).map(of_parameter).collect();
    if matches!(kind_of(&f.ret), Some(Kind::Integer { .. })) {
        let result = Named { name: "\\result".into(), source: Source::Result };
        lengths.push(result.clone());
        numbers.insert(0, result);
    }
    arrays.parts(&lengths, &numbers, false)
}

/// The parts of arrays at the head of a loop, with the variables that are looked at there.
pub(super) fn at_head(subject: &Subject, here: &[Looked]) -> Vec<Looked> {
    let arrays = Arrays::of(subject);
    if arrays.pointers.is_empty() {
        return Vec::new();
    }
    let f = subject.function;
    let is_index = |l: &&Looked| match l.source {
        Source::Local(v) => is_number(f, v),
        Source::Parameter(k) => f.params.get(k).is_some_and(|p| arrays.lengths.contains(p)),
        _ => false,
    };
    let is_number = |l: &&Looked| {
        matches!(l.source, Source::Local(_) | Source::Parameter(_))
            && matches!(l.variable.kind, Kind::Integer { .. })
            && !l.variable.name.starts_with('\\')
    };
    let named = |l: &Looked| Named { name: l.variable.name.clone(), source: l.source.clone() };
    let is_plain = |l: &&Looked| !l.variable.name.starts_with('\\');
    let lengths: Vec<Named> = here.iter().filter(is_index).filter(is_plain).map(named).collect();
    let numbers: Vec<Named> = here.iter().filter(is_number).map(named).collect();
    arrays.parts(&lengths, &numbers, true)
}

/// Conditions over the variables of the exit that part runs by how many elements there are: none, some, or one.
pub(super) fn splitters(subject: &Subject) -> Vec<Shape> {
    let arrays = Arrays::of(subject);
    let is_length = |l: &Looked| match l.source {
        Source::Parameter(k) => subject.function.params.get(k).is_some_and(|p| arrays.lengths.contains(p)),
        _ => false,
    };
    if arrays.pointers.is_empty() {
        return Vec::new();
    }
    let lengths = subject.exit.iter().enumerate().filter(|(_, l)| is_length(l));
    let conditions = lengths.flat_map(|(x, _)| {
        let bound = |relation, k| Shape::Bound { x, relation, k };
        [bound(Relation::Greater, 0), bound(Relation::LessOrEqual, 0), Shape::OneOf { x, values: vec![1] }]
    });
    conditions.take(3 * MOST_LENGTHS).collect()
}

/// Makes arrays of numbers in an input, and texts, some times as long, with small numbers that may count their elements.
pub(super) fn enlarge(subject: &Subject, input: &mut Input) {
    const TIMES: usize = 4;
    for o in &mut input.objects {
        let CType::Array(element, Some(_)) = &o.ty else { continue };
        let is_plain = matches!(o.storage, Storage::Heap) && o.pointers.is_empty() && o.undefined.is_empty();
        let CType::Int { bits, .. } = **element else { continue };
        if !is_plain || o.bytes.len() > 1024 {
            continue;
        }
        let text = o.bytes.iter().position(|b| *b == 0).and_then(|end| o.bytes.get(..end));
        o.bytes = match text.filter(|t| bits == 8 && !t.is_empty()) {
            Some(text) => [text.repeat(TIMES), vec![0; 1 + o.bytes.len() - text.len()]].concat(),
            None => o.bytes.repeat(TIMES),
        };
        let count = o.bytes.len() as u64 / u64::from(bits.div_ceil(8)).max(1);
        o.ty = CType::Array(element.clone(), Some(count));
    }
    let f = subject.function;
    for (value, p) in input.arguments.iter_mut().zip(&f.params).filter(|(_, p)| is_number(f, **p)) {
        if let Value::Const(c) = value
            && let Some(bits) = f.var(*p).sort.and_then(crate::ir::Sort::bits)
            && let Some(n @ 2..=16) = c.signed()
        {
            *c = Const::bv(bits, n * TIMES as i128);
        }
    }
}

/// A number that may count: as wide as an index.
fn is_number(f: &Function, v: VarId) -> bool {
    matches!(kind_of(&f.var(v).ty), Some(Kind::Integer { bits: 16.., .. }))
}

/// A parameter that leads to numbers.
struct Pointer {
    parameter: usize,
    name: String,
    element: Cell,
}

/// The arrays of a function.
struct Arrays {
    pointers: Vec<Pointer>,
    /// Parameters that are lengths.
    lengths: BTreeSet<VarId>,
    /// Something may write behind pointers.
    is_written: bool,
    index: &'static str,
}

impl Arrays {
    fn of(subject: &Subject) -> Arrays {
        let (f, unit) = (subject.function, subject.unit);
        let pointer = |(k, p): (usize, &VarId)| {
            let var = f.var(*p);
            let to = var.ty.target().filter(|_| var.ty.is_pointer() && is_kept(f, *p))?;
            let kind = kind_of(to).filter(|kind| matches!(kind, Kind::Integer { .. }))?;
            Some(Pointer {
                parameter: k,
                name: var.name.to_string(),
                element: (kind, unit.size_of(to).filter(|bytes| (1..=8).contains(bytes))?),
            })
        };
        let is_free = |name: &&&str| f.vars.iter().all(|v| *v.name != ***name);
        Arrays {
            pointers: f.params.iter().enumerate().filter_map(pointer).collect(),
            lengths: lengths(f),
            is_written: is_written(f, unit),
            index: INDICES.iter().find(is_free).unwrap_or(&"any"),
        }
    }

    /// The variables: those of one element first, then those of all. `numbers`: what elements are compared with.
    fn parts(&self, lengths: &[Named], numbers: &[Named], is_head: bool) -> Vec<Looked> {
        let mut found = Vec::new();
        let numbers: Vec<&Named> = numbers.iter().take(MOST_NUMBERS).collect();
        let ages: &[bool] = match self.is_written {
            true => &[false, true],
            // What nothing writes is what it was.
            false => &[true],
        };
        for p in &self.pointers {
            for &is_old in ages {
                self.single(p, lengths, is_old, &mut found);
            }
        }
        for p in &self.pointers {
            for length in lengths.iter().filter(|l| l.name != p.name).take(MOST_LENGTHS) {
                let ages = if is_head { ages.get(..1).unwrap_or(ages) } else { ages };
                for &is_old in ages {
                    self.all(p, length, (&numbers, is_old), &mut found);
                }
            }
        }
        found.truncate(MOST);
        found
    }

    fn looked(&self, p: &Pointer, name: String, kind: Kind, array: Array, part: Part) -> Looked {
        let bytes = if part == Part::Text { 8 } else { p.element.1 };
        Looked { variable: Variable { name, kind }, source: Source::Array { array, part }, bytes }
    }

    /// Whether a value at entry has a name of its own.
    fn told(&self, text: String, is_old: bool) -> String {
        if is_old && self.is_written { format!("\\old({text})") } else { text }
    }

    /// The first element, the last one, and how long a text is.
    fn single(&self, p: &Pointer, lengths: &[Named], is_old: bool, found: &mut Vec<Looked>) {
        let (name, (kind, _)) = (&p.name, p.element);
        let array = |length: Option<&Named>| Array {
            parameter: p.parameter,
            length: length.map(|l| Box::new(l.source.clone())),
            element: p.element,
            is_old,
        };
        let counts: Vec<&Named> = lengths.iter().filter(|l| l.source != Source::Result).collect();
        let first = if counts.is_empty() { format!("*{name}") } else { format!("{name}[0]") };
        found.push(self.looked(p, self.told(first, is_old), kind, array(None), Part::First));
        for n in counts.into_iter().take(1).filter(|n| matches!(n.source, Source::Parameter(_))) {
            let last = self.told(format!("{name}[{} - 1]", n.name), is_old);
            found.push(self.looked(p, last, kind, array(Some(n)), Part::Last));
        }
        if matches!(kind, Kind::Integer { bits: 8, .. }) {
            let (text, kind) = (format!("strlen({name})"), Kind::Integer { bits: 64, signed: false });
            found.push(self.looked(p, self.told(text, is_old), kind, array(None), Part::Text));
        }
    }

    /// What is said of all elements.
    fn all(
        &self,
        p: &Pointer,
        length: &Named,
        (numbers, is_old): (&[&Named], bool),
        found: &mut Vec<Looked>,
    ) {
        let (k, n) = (self.index, &length.name);
        let element = |k: &str| self.told(format!("{}[{k}]", p.name), is_old);
        let one = element(k);
        let within = format!("0 <= {k} && {k} < {n}");
        let every = format!("\\forall integer {k}; {within} ==>");
        let mut add = |name: String, kind: Kind, part: Part| {
            let (length, element) = (Some(Box::new(length.source.clone())), p.element);
            let array = Array { parameter: p.parameter, length, element, is_old };
            found.push(self.looked(p, name, kind, array, part));
        };
        // Of a result that counts elements one is often the most, and of one all is true.
        if let Some((bits, signed)) = p.element.0.number().filter(|_| length.source != Source::Result) {
            add(format!("{every} {one}"), Kind::Least { bits, signed }, Part::Least);
            add(format!("{every} {one}"), Kind::Most { bits, signed }, Part::Most);
        }
        for relation in [Relation::Less, Relation::LessOrEqual, Relation::GreaterOrEqual] {
            let next = element(&format!("{k} + 1"));
            let name = format!(
                "\\forall integer {k}; 0 <= {k} && {k} + 1 < {n} ==> {one} {} {next}",
                relation.symbol()
            );
            add(name, Kind::Condition, Part::Sorted(relation));
        }
        let others = numbers.iter().filter(|o| o.source != length.source);
        let operands = others.map(|o| (o.name.clone(), Operand::Of(Box::new(o.source.clone()))));
        for (name, of) in [("0".to_owned(), Operand::Number(0))].into_iter().chain(operands) {
            for relation in [Relation::Equal, Relation::Different] {
                let text = format!("{every} {one} {} {name}", relation.symbol());
                add(text, Kind::Condition, Part::Each(relation, of.clone()));
            }
            let text = format!("\\exists integer {k}; {within} && {one} == {name}");
            add(text, Kind::Condition, Part::Exists(of.clone()));
            if name == "\\result" {
                let text = format!("{name} == \\sum(0, {n} - 1, \\lambda integer {k}; {one})");
                add(text, Kind::Condition, Part::Sum(of));
            }
        }
        if self.is_written && !is_old {
            add(format!("{every} {one} == \\old({}[{k}])", p.name), Kind::Condition, Part::Unchanged);
        }
    }
}

/// The parameters that count elements: those that are compared with a local; where there is a loop and no such one, all
/// that keep their value and are not compared with what memory holds.
fn lengths(f: &Function) -> BTreeSet<VarId> {
    let mut defined: BTreeMap<VarId, &Expr> = BTreeMap::new();
    let mut loaded: BTreeSet<VarId> = BTreeSet::new();
    let mut compared: Vec<(Expr, Expr)> = Vec::new();
    for node in &f.nodes {
        match &node.instr {
            Instr::Assign { dst, value } if f.var(*dst).kind == VarKind::Temp => {
                defined.insert(*dst, value);
            }
            Instr::Load { dst, .. } => _ = loaded.insert(*dst),
            _ => {}
        }
        node.instr.for_each_expr(&mut |e| {
            if let Expr::Op { op: Op::Slt | Op::Sle | Op::Ult | Op::Ule | Op::Eq, args, .. } = e
                && let [a, b] = args.as_slice()
            {
                compared.extend([(a.clone(), b.clone()), (b.clone(), a.clone())]);
            }
        });
    }
    let is_candidate = |p: &VarId| is_kept(f, *p) && is_number(f, *p);
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (a, b) in &compared {
        let Some(p) = plain(a, &defined).filter(|v| f.params.contains(v) && is_candidate(v)) else {
            continue;
        };
        let mut leaves = BTreeSet::new();
        variables(b, &defined, 0, &mut leaves);
        let is_index = |v: &VarId| f.var(*v).kind == VarKind::Local && !loaded.contains(v);
        if leaves.iter().any(is_index) {
            found.insert(p);
        } else if leaves.iter().any(|v| loaded.contains(v)) {
            others.insert(p);
        }
    }
    let has_loop = (0..).zip(&f.nodes).any(|(k, n)| n.succs.iter().any(|to| to.0 <= k));
    match found.is_empty() && has_loop {
        false => found,
        true => f.params.iter().copied().filter(|p| is_candidate(p) && !others.contains(p)).collect(),
    }
}

/// The variable that an expression is, whatever its width.
fn plain(e: &Expr, defined: &BTreeMap<VarId, &Expr>) -> Option<VarId> {
    match e {
        Expr::Var(v) => match defined.get(v) {
            Some(inner) if !matches!(inner, Expr::Var(w) if w == v) => plain_of(inner),
            _ => Some(*v),
        },
        _ => plain_of(e),
    }
}

/// The same without what temporaries are.
fn plain_of(e: &Expr) -> Option<VarId> {
    match e {
        Expr::Var(v) => Some(*v),
        Expr::Op { op: Op::Sext(_) | Op::Zext(_) | Op::Trunc(_), args, .. } => {
            args.first().and_then(plain_of)
        }
        _ => None,
    }
}

/// The variables of an expression, with those that temporaries stand for.
fn variables(e: &Expr, defined: &BTreeMap<VarId, &Expr>, depth: u32, found: &mut BTreeSet<VarId>) {
    const MOST_DEPTH: u32 = 4;
    let mut here = Vec::new();
    e.for_each(&mut |e| {
        if let Expr::Var(v) = e {
            here.push(*v);
        }
    });
    for v in here {
        found.insert(v);
        if let Some(inner) = defined.get(&v).filter(|_| depth < MOST_DEPTH) {
            variables(inner, defined, depth + 1, found);
        }
    }
}

/// Whether a function or what it calls may write behind pointers.
fn is_written(f: &Function, unit: &Unit) -> bool {
    let is_named = |addr: &Expr| {
        let mut has_object = false;
        addr.for_each(&mut |e| has_object |= matches!(e, Expr::Addr(Object::Local(_) | Object::Global(_))));
        has_object
    };
    followed(f, unit).into_iter().flat_map(|g| &g.nodes).any(|node| match &node.instr {
        Instr::Store { addr, .. } | Instr::Zero { dst: addr, .. } | Instr::Copy { dst: addr, .. } => {
            !is_named(addr)
        }
        Instr::Call { callee: Callee::Direct(name), .. } => {
            unit.callee(name).is_none() && !READERS.contains(&&**name)
        }
        Instr::Call { callee: Callee::Indirect(_), .. } | Instr::Unknown { .. } => true,
        _ => false,
    })
}

/// Functions of the library that write nothing that a caller has.
const READERS: [&str; 14] = [
    "strlen", "strcmp", "strncmp", "memcmp", "abs", "labs", "isdigit", "isalpha", "isspace", "isupper",
    "islower", "isalnum", "toupper", "tolower",
];
