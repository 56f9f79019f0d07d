//! Models of Z3 as concrete inputs.

use super::encode::{Encoder, float_bits, plus};
use crate::ir::eval::{Assignment, Program};
use crate::ir::{App, Const, Leaf, Sort, Term, TermId, TermPool};
use z3::ast::{BV, Dynamic};

/// Bytes of a region whose contents a model tells.
const TOLD_BYTES: u64 = 64;

/// Input that Z3 found for a satisfiable query.
#[derive(Clone, Debug)]
pub struct Model {
    pub input: Assignment,
    /// Whether evaluating the query on `input` makes it true. When not, the model is one of
    /// uninterpreted functions that the meaning of the terms excludes, and says nothing.
    pub confirmed: bool,
}

/// Reads the values of leaves, of applications of uninterpreted functions and of the bytes of the
/// entry memory that the terms of `cone` read, and evaluates the query on them.
pub(super) fn read(
    pool: &TermPool,
    encoder: &Encoder,
    model: &z3::Model,
    cone: &[TermId],
    query: &[TermId],
) -> Model {
    let mut input = Assignment::new();
    for &t in cone {
        match pool.get(t) {
            Term::Leaf(_) | Term::App(App::Uf(_), _) => {
                if let Some(c) = encoder.get(t).and_then(|d| value(model, d, pool.sort(t))) {
                    input.set(t, c);
                }
            }
            Term::App(App::Load { bytes, .. }, args) => {
                read_memory(pool, encoder, model, &mut input, args.get(1), *bytes);
            }
            Term::App(App::CopyBytes { bytes }, args) => {
                read_memory(pool, encoder, model, &mut input, args.get(2), *bytes);
            }
            _ => {}
        }
    }
    let run = Program::new(pool, query);
    let run = run.run(pool, &input);
    let confirmed = query.iter().all(|&q| run.holds(q) == Some(true));
    drop(run);
    Model { input, confirmed }
}

/// Reads a region of the entry memory. A load from a later memory reads the bytes there too, which
/// does no harm.
fn read_memory(
    pool: &TermPool,
    encoder: &Encoder,
    model: &z3::Model,
    input: &mut Assignment,
    address: Option<&TermId>,
    bytes: u64,
) {
    let entry = pool.known_leaf(&Leaf::Memory).and_then(|m| encoder.get(m)).and_then(Dynamic::as_array);
    let at = address.and_then(|a| encoder.get(*a)).and_then(Dynamic::as_bv);
    let (Some(entry), Some(at)) = (entry, at) else { return };
    let Some(at) = model.eval(&at, true) else { return };
    let Some(start) = at.as_u64() else { return };
    for k in 0..bytes.min(TOLD_BYTES) {
        let byte = model.eval(&entry.select(&plus(&at, k)), true);
        if let Some(b) = byte.and_then(|b| b.as_bv()).and_then(|b| b.as_u64()) {
            let mask = Const::mask(at.get_size() as u16) as u64;
            input.set_byte(start.wrapping_add(k) & mask, b as u8);
        }
    }
}

fn value(model: &z3::Model, term: &Dynamic, sort: Sort) -> Option<Const> {
    match sort {
        Sort::Bool => model.eval(&term.as_bool()?, true)?.as_bool().map(Const::Bool),
        Sort::Bv(_) => Const::from_bits(sort, bits(model, &term.as_bv()?)?),
        Sort::F32 | Sort::F64 => Const::from_bits(sort, bits(model, &float_bits(&term.as_float()?))?),
        _ => None,
    }
}

fn bits(model: &z3::Model, term: &BV) -> Option<u128> {
    let width = term.get_size();
    if width <= 64 {
        return model.eval(term, true)?.as_u64().map(u128::from);
    }
    let high = model.eval(&term.extract(width - 1, 64), true)?.as_u64()?;
    let low = model.eval(&term.extract(63, 0), true)?.as_u64()?;
    Some(u128::from(high) << 64 | u128::from(low))
}
