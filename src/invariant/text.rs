//! Wording of facts in C.

use super::event::Atom;
use crate::ir::{CType, TermId, TermPool};

/// Returns C text of a term.
pub fn term(pool: &TermPool, t: TermId, _ty: Option<&CType>) -> String {
    format!("{:?}", pool.get(t))
}

/// Returns what a sequence prints, as a call of `printf`.
pub fn printed(pool: &TermPool, atoms: &[Atom]) -> String {
    let mut format = String::new();
    let mut args = String::new();
    for a in atoms {
        match a {
            Atom::Literal(bytes) => format.push_str(&c_string(bytes).replace('%', "%%")),
            Atom::Value(conversion, value) => {
                format.push_str(conversion);
                args.push_str(", ");
                args.push_str(&term(pool, *value, None));
            }
            Atom::Opaque(_) => format.push_str("..."),
        }
    }
    if atoms.is_empty() { "nothing".into() } else { format!("printf(\"{format}\"{args})") }
}

/// Returns bytes as the inside of a C string literal.
pub fn c_string(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &b in bytes {
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x20..=0x7e => out.push(b as char),
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out
}
