//! What the renderer is told about names and types.

use super::types::Ty;
use crate::ir::{CType, Const, DataModel, Function, Leaf, Literal, TermId, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A name with its declared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub text: String,
    pub ty: CType,
}

/// Names of numbers, by the text that the source writes them beside.
pub type ByOperand = BTreeMap<(Arc<str>, i128), Arc<str>>;

/// Names and types of the leaves of terms at one program point.
#[derive(Clone, Debug, Default)]
pub struct Naming<'a> {
    /// Records, globals and prototypes.
    pub unit: Option<&'a Unit>,
    /// Declared types of parameters ([`Leaf::Param`]) and of the objects behind addresses of locals
    /// ([`Leaf::LocalAddr`]).
    pub types: Rc<BTreeMap<Leaf, CType>>,
    /// Terms that have a name at the point, which is shown instead of what they are.
    pub names: Rc<BTreeMap<TermId, Named>>,
    /// Parameters that may have another value at the point than at entry: shown as `\old(p)`.
    pub old_params: BTreeSet<Arc<str>>,
    /// Memory may differ from what it was at entry: loads from entry memory are `\old(...)`.
    pub old_memory: bool,
    /// Names of values at loop heads, by the loop's hash and the place's label.
    pub loops: BTreeMap<(Arc<str>, Arc<str>), Named>,
    /// An address is that of the outermost structure that begins there, and not of its first member.
    pub whole: bool,
    /// An address is that of what has this type and begins there, if anything has.
    pub target: Option<CType>,
    /// Constants of enumerations are told by the enumerators that all of these name them by; none: as numbers.
    pub enumerators: Vec<&'a Unit>,
    /// Words of the source at the point, with how many lines they are away: of the members of a union that lie at
    /// one place, the nearest is meant.
    pub words: Rc<BTreeMap<String, u32>>,
    /// The macros that the source writes constants as at the point.
    pub macros: Rc<BTreeMap<Literal, Arc<str>>>,
    /// The enumerators that the source writes for values of operands at the point; operands without blanks.
    pub compared: Rc<ByOperand>,
    /// Longest text, in bytes.
    pub max_len: usize,
}

impl<'a> Naming<'a> {
    /// Length of texts that a line of a report can hold with some patience.
    pub const DEFAULT_LEN: usize = 240;

    /// Returns the naming at a function's entry: its parameters and locals with their types.
    pub fn of_function(unit: &'a Unit, function: &Function) -> Naming<'a> {
        let bits = unit.data_model.pointer_bits();
        let mut types = BTreeMap::new();
        for var in &function.vars {
            let key = format!("{}#{}", var.name, var.ordinal).into();
            types.insert(Leaf::LocalAddr { key, bits }, var.ty.clone());
        }
        for var in function.params.iter().filter_map(|v| function.vars.get(v.0 as usize)) {
            let sort = var.sort.unwrap_or(crate::ir::Sort::Mem);
            types.insert(Leaf::Param { name: var.name.clone(), sort }, var.ty.clone());
        }
        Naming { unit: Some(unit), types: Rc::new(types), max_len: Naming::DEFAULT_LEN, ..Naming::default() }
    }

    pub fn names_mut(&mut self) -> &mut BTreeMap<TermId, Named> {
        Rc::make_mut(&mut self.names)
    }

    pub fn types_mut(&mut self) -> &mut BTreeMap<Leaf, CType> {
        Rc::make_mut(&mut self.types)
    }

    /// The first enumerator of an enumeration that has this value, where constants are to be told by names.
    pub(super) fn enumerator(&self, c: Const, enumeration: &str) -> Option<&'a str> {
        let Const::Bv { bits, .. } = c else { return None };
        let value = |v: i128| c.signed() == Some(v) || u128::try_from(v) == Ok(bits);
        let of = |unit: &&'a Unit| {
            let mut named = unit.enumerations.get(enumeration)?.iter();
            let name = &*named.find(|(_, v)| value(*v))?.0;
            (!unit.gaps.invented.contains_key(name)).then_some(name)
        };
        let name = of(self.enumerators.first()?)?;
        self.enumerators.iter().all(|unit| of(unit) == Some(name)).then_some(name)
    }

    /// The macro that a number is written as at the point.
    pub(super) fn macro_of(&self, value: i128) -> Option<&str> {
        self.macros.get(&Literal::Number(value)).map(|name| &**name)
    }

    /// The enumerator that the source writes for a value beside a text.
    pub fn compared_with(&self, text: &str, value: Const) -> Option<&str> {
        if self.compared.is_empty() {
            return None;
        }
        let operand: Arc<str> = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().into();
        // What does not fit as a signed number is written as it is as an unsigned one.
        let values = [value.signed(), value.unsigned().and_then(|v| i128::try_from(v).ok())];
        let mut named = values.into_iter().flatten().filter_map(|v| self.compared.get(&(operand.clone(), v)));
        named.next().map(|name| &**name)
    }

    pub(super) fn model(&self) -> DataModel {
        self.unit.map_or(DataModel::Lp64, |u| u.data_model)
    }

    pub(super) fn pointer_bits(&self) -> u16 {
        self.model().pointer_bits()
    }

    pub(super) fn size_of(&self, ty: &CType) -> Option<u64> {
        match self.unit {
            Some(unit) => unit.size_of(ty),
            None => size_of_scalar(&Unit::default(), ty),
        }
    }

    pub(super) fn return_type(&self, function: &str) -> Option<Ty> {
        let unit = self.unit?;
        let ret = match unit.function(function) {
            Some(f) => &f.ret,
            None => &unit.prototypes.iter().find(|p| &*p.name == function)?.ret,
        };
        Some(Ty::of(ret))
    }
}

/// Size of a type that involves no record.
fn size_of_scalar(unit: &Unit, ty: &CType) -> Option<u64> {
    match ty {
        CType::Record(_) => None,
        CType::Array(t, n) => size_of_scalar(unit, t)?.checked_mul((*n)?),
        other => unit.size_of(other),
    }
}

/// Returns the source name in the key of a local (`function:name#ordinal` or `name#ordinal`).
pub(super) fn local_name(key: &str) -> &str {
    let name = key.rsplit_once(':').map_or(key, |(_, n)| n);
    name.rsplit_once('#').map_or(name, |(n, _)| n)
}

/// Returns the function's name in the name of an uninterpreted call (`name#identity:part`).
pub(super) fn callee_name(callee: &str) -> &str {
    callee.split([':', '@', '#']).next().unwrap_or(callee)
}

/// Returns whether a step of reading standard input yields a value, so that it counts in
/// `\input(k)`. White space, literal text and suppressed conversions do not.
pub(super) fn is_value_conversion(conversion: &str) -> bool {
    conversion != "ws" && !conversion.starts_with("lit:") && !conversion.starts_with("%*")
}
