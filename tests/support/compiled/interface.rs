//! What a caller sees of a function: parameters, globals, result; and the places of its state whose
//! values a driver writes down.

use git_invdiff::ir::{CType, Expr, Function, Global, Instr, Linkage, Object, Unit, VarId, VarKind};
use std::collections::BTreeSet;

pub struct Interface {
    pub name: String,
    /// Name, type, and whether the value is the same all the way.
    pub parameters: Vec<(String, CType, bool)>,
    pub globals: Vec<(String, CType)>,
    locals: BTreeSet<String>,
    pub functions: BTreeSet<String>,
    pub result: CType,
    pub result_is_value: bool,
}

impl Interface {
    pub fn of(unit: &Unit, f: &Function) -> Interface {
        let parameters = f.params.iter().map(|&v| {
            let var = f.var(v);
            (var.name.to_string(), var.ty.clone(), is_kept(f, v))
        });
        let locals = f.vars.iter().filter(|v| v.kind == VarKind::Local).map(|v| v.name.to_string());
        let globals = unit.globals.iter().filter(|g| is_visible(g));
        Interface {
            name: f.name.to_string(),
            parameters: parameters.collect(),
            locals: locals.collect(),
            globals: globals.map(|g| (g.name.to_string(), g.ty.clone())).collect(),
            functions: unit.functions.iter().map(|f| f.name.to_string()).collect(),
            result: f.ret.clone(),
            result_is_value: f.ret != CType::Void,
        }
    }

    /// Whether a driver knows what a name in a fact stands for.
    pub fn has(&self, name: &str, at_entry: bool) -> bool {
        if let Some((_, _, kept)) = self.parameters.iter().find(|(p, ..)| p == name) {
            return at_entry || *kept;
        }
        !self.locals.contains(name)
    }
}

/// Named at file scope, and no constant, nor an object that the unit never writes: no caller can have set
/// that.
pub fn is_visible(g: &Global) -> bool {
    let is_named = matches!(g.linkage, Linkage::External | Linkage::Internal) && g.symbol == g.name;
    is_named && !g.is_known_constant()
}

/// Whether a parameter keeps its value all the way.
fn is_kept(f: &Function, v: VarId) -> bool {
    let exposed = |e: &Expr| {
        let mut found = false;
        e.for_each(&mut |e| found |= matches!(e, Expr::Addr(Object::Local(o)) if *o == v));
        found
    };
    !f.var(v).in_memory
        && f.nodes.iter().all(|n| match &n.instr {
            Instr::Assign { dst, value } => *dst != v && !exposed(value),
            Instr::Load { dst, .. } => *dst != v,
            Instr::Call { dst, .. } => *dst != Some(v),
            Instr::Unknown { writes, .. } => !writes.contains(&v),
            _ => true,
        })
}

/// A value of a function's state that is written down.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// As facts name it.
    pub name: String,
    pub ty: CType,
    pub place: Place,
    pub is_input: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Result,
    Parameter,
    Global,
    /// In memory that a parameter points to.
    Cell,
}

/// Most values of one state.
const MAX_COLUMNS: usize = 60;

/// The integers and pointers that a caller can look at, before and after the call.
pub fn columns(unit: &Unit, i: &Interface) -> Vec<Column> {
    let mut found = Vec::new();
    let scalar = |ty: &CType| matches!(ty, CType::Int { .. } | CType::Bool);
    let mut add = |name: String, ty: &CType, place: Place, is_input: bool| {
        if found.len() < MAX_COLUMNS {
            found.push(Column { name, ty: ty.clone(), place, is_input });
        }
    };
    if scalar(&i.result) || i.result.is_pointer() {
        add("\\result".into(), &i.result, Place::Result, false);
    }
    for (name, ty, kept) in &i.parameters {
        if scalar(ty) {
            add(if *kept { name.clone() } else { format!("\\old({name})") }, ty, Place::Parameter, true);
        }
    }
    let mut both = |name: String, ty: &CType, place: Place| {
        add(format!("\\old({name})"), ty, place, true);
        add(name, ty, place, false);
    };
    for (name, ty) in &i.globals {
        match ty {
            CType::Record(id) => {
                for f in unit.record(*id).fields.iter().filter(|f| scalar(&f.ty) && !f.name.is_empty()) {
                    both(format!("{name}.{}", f.name), &f.ty, Place::Global);
                }
            }
            _ if scalar(ty) => both(name.clone(), ty, Place::Global),
            _ => {}
        }
    }
    for (name, ty, _) in i.parameters.iter().filter(|(_, _, kept)| *kept) {
        match ty.target() {
            Some(CType::Record(id)) if ty.is_pointer() => {
                for f in unit.record(*id).fields.iter().filter(|f| scalar(&f.ty) && !f.name.is_empty()) {
                    both(format!("{name}->{}", f.name), &f.ty, Place::Cell);
                }
            }
            Some(to) if scalar(to) && ty.is_pointer() => both(format!("*{name}"), to, Place::Cell),
            _ => {}
        }
    }
    found
}
