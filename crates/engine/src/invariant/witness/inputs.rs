//! Solver models as inputs of runs.
//!
//! A model gives values to parameters and to conversions from standard input; they become arguments
//! and bytes. What comes out is only a proposal: the replay decides whether it is a witness.

use crate::interp::{Input, ObjectId, ObjectInit, Storage, Value};
use crate::ir::eval::Assignment;
use crate::ir::{App, CType, Const, Function, Leaf, Term, TermId, TermPool, Uf};
use std::collections::BTreeMap;

/// Bytes, all zero, of an object that a pointer of a model leads to.
const POINTED_TO: usize = 256;

/// Returns the input that a model proposes for a function. `roots` are the terms of the query.
pub fn from_model(pool: &TermPool, model: &Assignment, roots: &[TermId], f: &Function) -> Input {
    let mut params: BTreeMap<&str, Const> = BTreeMap::new();
    let mut conversions: BTreeMap<usize, (&str, Const)> = BTreeMap::new();
    let reachable = pool.reachable(roots);
    for &t in &reachable {
        match pool.get(t) {
            Term::Leaf(Leaf::Param { name, .. }) => {
                if let Some(c) = model.get(t) {
                    params.insert(name, c);
                }
            }
            Term::App(App::Uf(Uf::Input { conversion, .. }), args) => {
                if let (Some(c), Some(state)) = (model.get(t), args.first()) {
                    conversions.insert(depth(pool, *state), (conversion, c));
                }
            }
            _ => {}
        }
    }
    let mut objects: Vec<ObjectInit> = Vec::new();
    let mut argument = |p: &crate::ir::VarId| {
        let var = f.var(*p);
        let zero = var.sort.and_then(Const::zero).unwrap_or(Const::bv(64, 0));
        let c = params.get(&*var.name).copied().filter(|c| Some(c.sort()) == var.sort).unwrap_or(zero);
        if !var.ty.is_pointer() || c.to_bits() == 0 {
            return Value::Const(c);
        }
        // An address is none until something is there.
        let id = ObjectId(objects.len() as u32);
        let bytes = vec![0; POINTED_TO];
        let (undefined, pointers) = (Vec::new(), Vec::new());
        objects.push(ObjectInit { id, ty: CType::Void, storage: Storage::Heap, bytes, undefined, pointers });
        Value::Pointer { object: id, offset: 0 }
    };
    let arguments = f.params.iter().map(&mut argument).collect();
    let mut stdin = Vec::new();
    let last = conversions.keys().next_back().copied();
    for k in 0..=last.unwrap_or(0) {
        match conversions.get(&k) {
            Some((conversion, c)) => write_conversion(&mut stdin, conversion, *c),
            // A conversion whose value does not matter.
            None if last.is_some() => stdin.extend_from_slice(b"0 "),
            None => {}
        }
    }
    Input { arguments, objects, stdin, ..Input::default() }
}

/// Number of conversions before a state of standard input, on its longest way.
fn depth(pool: &TermPool, state: TermId) -> usize {
    match pool.get(state) {
        Term::App(App::Uf(Uf::InputRest { conversion }), args) => {
            let here = usize::from(!conversion.starts_with("lit:") && &**conversion != "ws");
            here + args.first().map_or(0, |a| depth(pool, *a))
        }
        Term::App(App::Op(crate::ir::Op::Ite), args) => {
            args.iter().skip(1).map(|a| depth(pool, *a)).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// Writes text that a conversion reads back as the value.
fn write_conversion(stdin: &mut Vec<u8>, conversion: &str, value: Const) {
    if conversion == "getchar" || conversion.ends_with('c') {
        stdin.push(value.to_bits() as u8);
        return;
    }
    let text = match value {
        Const::F32(b) => format!("{:?}", f32::from_bits(b)),
        Const::F64(b) => format!("{:?}", f64::from_bits(b)),
        _ if conversion.ends_with('u') => value.unsigned().unwrap_or(0).to_string(),
        _ if conversion.ends_with(['x', 'X']) => format!("{:x}", value.to_bits()),
        _ if conversion.ends_with('o') => format!("{:o}", value.to_bits()),
        _ => value.signed().unwrap_or(0).to_string(),
    };
    stdin.extend_from_slice(text.as_bytes());
    stdin.push(b' ');
}
