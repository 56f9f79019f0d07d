//! Functions and objects of one unit as texts, with the names that they lead to: what hashes of what a change
//! can reach are made of (`reach.rs`). They do not depend on what else is loaded.

use super::units::LoadedUnit;
use crate::ir::{Callee, Expr, Function, Global, InitPiece, Instr, Linkage, Object};
use crate::mvicfg::{key, positions};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// The text of one function or object, and the names that it leads to, in order.
#[derive(Debug)]
pub(super) struct Part {
    pub text: String,
    /// Of an object that holds functions: the same without their names.
    pub nameless: Option<String>,
    /// Functions by name, objects by symbol.
    pub names: Vec<(bool, Arc<str>)>,
    /// The functions among them whose address is taken.
    pub taken: Vec<Arc<str>>,
    /// It calls what a pointer says.
    pub calls_pointers: bool,
}

/// The parts of one unit; they do not depend on what else is loaded.
#[derive(Debug)]
pub(super) struct UnitParts {
    pub functions: Vec<Part>,
    /// By global: none for literals, whose symbols say what is in them.
    pub objects: Vec<Option<Part>>,
    /// By global: its initial value by the members that have it, once that was asked.
    pub images: Vec<OnceLock<Option<Arc<str>>>>,
}

impl UnitParts {
    /// Cost: a walk over the unit.
    pub fn of(loaded: &LoadedUnit) -> UnitParts {
        let functions = loaded.functions.iter().map(|f| function_part(&f.function, &f.inlined)).collect();
        let is_function = |symbol: &str| loaded.unit.global(symbol).is_none();
        let object = |g: &Global| (g.linkage != Linkage::Literal).then(|| object_part(g, &is_function));
        let images = loaded.unit.globals.iter().map(|_| OnceLock::new()).collect();
        UnitParts { functions, objects: loaded.unit.globals.iter().map(object).collect(), images }
    }
}

fn function_part(f: &Function, inlined: &Function) -> Part {
    let (text, callees) = key::body_and_callees(f, positions::are_compared(inlined));
    let mut names: Vec<(bool, Arc<str>)> = callees.into_iter().map(|name| (true, name)).collect();
    for name in objects_of(f) {
        names.push((false, name));
    }
    let (mut taken, mut calls_pointers) = (Vec::new(), false);
    for node in &f.nodes {
        calls_pointers |= matches!(node.instr, Instr::Call { callee: Callee::Indirect(_), .. });
        node.instr.for_each_expr(&mut |e| {
            if let Expr::Addr(Object::Function(name)) = e {
                if !names.contains(&(true, name.clone())) {
                    names.push((true, name.clone()));
                }
                taken.push(name.clone());
            }
        });
    }
    let size: u64 = f.vars.iter().map(|v| v.size).sum();
    Part { text: format!("{text} {size}"), nameless: None, names, taken, calls_pointers }
}

/// The objects that a body names.
pub(super) fn objects_of(f: &Function) -> BTreeSet<Arc<str>> {
    let mut symbols = BTreeSet::new();
    for node in &f.nodes {
        node.instr.for_each_expr(&mut |e| {
            if let Expr::Addr(Object::Global(symbol)) = e {
                symbols.insert(symbol.clone());
            }
        });
    }
    symbols
}

fn object_part(g: &Global, is_function: &dyn Fn(&str) -> bool) -> Part {
    let mut names = Vec::new();
    for piece in &g.init {
        names.extend(piece.symbols().iter().map(|symbol| (is_function(symbol), symbol.clone())));
    }
    let taken: Vec<Arc<str>> =
        names.iter().filter(|(is_function, _)| *is_function).map(|(_, name)| name.clone()).collect();
    let nameless = (!taken.is_empty()).then(|| image_text(g, &|symbol| is_function(symbol)));
    Part { text: image_text(g, &|_| false), nameless, names, taken, calls_pointers: false }
}

/// What an object begins with, as a hash; some symbols in it are left out.
fn image_text(g: &Global, is_left_out: &dyn Fn(&str) -> bool) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{} {} ", g.symbol, g.size).as_bytes());
    for piece in &g.init {
        match piece {
            InitPiece::Bytes { offset, bytes } => {
                hasher.update(&offset.to_le_bytes());
                hasher.update(bytes);
            }
            InitPiece::Address { offset, symbol, plus } => {
                let symbol = if is_left_out(symbol) { "" } else { symbol };
                hasher.update(format!("&{symbol} {plus} {offset}").as_bytes());
            }
            InitPiece::Unknown { offset, size, text, symbols } => {
                hasher.update(format!("?{text} {symbols:?} {size} {offset}").as_bytes());
            }
        };
    }
    hasher.finalize().to_hex()[..32].to_string()
}
