//! Models of Z3 as concrete inputs.

use super::encode::{Encoder, float_bits};
use crate::ir::eval::{Assignment, Program};
use crate::ir::{App, Const, Sort, Term, TermId, TermPool};
use z3::ast::{BV, Dynamic};

/// How often bytes are read at addresses that bytes read before decide.
const POINTER_DEPTH: usize = 8;

/// Input that Z3 found for a satisfiable query.
#[derive(Clone, Debug)]
pub struct Model {
    pub input: Assignment,
    /// Whether evaluating the query on `input` makes it true. When not, the model is one of
    /// uninterpreted functions that the meaning of the terms excludes, and says nothing.
    pub confirmed: bool,
}

/// Reads the values of leaves, of applications of uninterpreted functions and of the bytes that the
/// terms of `cone` read from memories that are not computed, and evaluates the query on them.
pub(super) fn read(
    pool: &TermPool,
    encoder: &Encoder,
    model: &z3::Model,
    cone: &[TermId],
    query: &[TermId],
) -> Model {
    let mut input = Assignment::new();
    for &t in cone {
        if let Term::Leaf(_) | Term::App(App::Uf(_), _) = pool.get(t)
            && let Some(c) = encoder.get(t).and_then(|d| value(model, d, pool.sort(t)))
        {
            input.set(t, c);
        }
    }
    let program = Program::new(pool, query);
    let mut confirmed = false;
    for _ in 0..POINTER_DEPTH {
        let run = program.run(pool, &input);
        let open = run.open_bytes(pool);
        confirmed = query.iter().all(|&q| run.holds(q) == Some(true));
        drop(run);
        if open.is_empty() {
            break;
        }
        for (memory, root, address) in open {
            let byte = encoder
                .get(memory)
                .and_then(|m| byte(model, m, address, encoder.pointer_bits()))
                .unwrap_or(0);
            input.set_byte_of(root, address, byte);
        }
    }
    Model { input, confirmed }
}

fn byte(model: &z3::Model, memory: &Dynamic, address: u64, pointer_bits: u16) -> Option<u8> {
    let at = BV::from_u64(address, u32::from(pointer_bits));
    let byte = model.eval(&memory.as_array()?.select(&at), true)?;
    byte.as_bv()?.as_u64().map(|b| b as u8)
}

fn value(model: &z3::Model, term: &Dynamic, sort: Sort) -> Option<Const> {
    match sort {
        Sort::Bool => model.eval(&term.as_bool()?, true)?.as_bool().map(Const::Bool),
        Sort::Bv(_) => Const::from_bits(sort, bits(model, &term.as_bv()?)?),
        Sort::F32 | Sort::F64 | Sort::F80 => {
            Const::from_bits(sort, bits(model, &float_bits(&term.as_float()?))?)
        }
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
