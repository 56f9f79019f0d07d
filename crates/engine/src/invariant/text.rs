//! Wording of facts in C.

use crate::invariant::change::event::Atom;
use crate::ir::{CType, TermId, TermPool};
use crate::semantics::c_text::{self, Naming};

/// Returns C text of a term.
pub fn term(pool: &TermPool, t: TermId, naming: &Naming, ty: Option<&CType>) -> String {
    c_text::render_typed(pool, t, naming, ty)
}

/// Returns what a sequence prints, as a call of `printf`.
pub fn printed(pool: &TermPool, atoms: &[Atom], naming: &Naming) -> String {
    let mut format = String::new();
    let mut args = String::new();
    for a in atoms {
        match a {
            Atom::Literal(bytes) => format.push_str(&c_text::string_contents(bytes).replace('%', "%%")),
            Atom::Value(conversion, value) => {
                format.push_str(conversion);
                args.push_str(", ");
                args.push_str(&c_text::render(pool, widened(pool, *value), naming));
            }
            Atom::Opaque(_) => format.push_str("..."),
        }
    }
    match (atoms, args.is_empty()) {
        ([], _) => "\"\"".into(),
        ([Atom::Literal(bytes)], _) => c_text::string_literal(bytes),
        _ => format!("printf(\"{format}\"{args})"),
    }
}

/// A float is promoted when it is passed to `printf`; C does not write that.
fn widened(pool: &TermPool, value: TermId) -> TermId {
    use crate::ir::{Op, Sort};
    match pool.as_op(value, Op::FToF(Sort::F64)) {
        Some(&[narrow]) => narrow,
        _ => value,
    }
}
