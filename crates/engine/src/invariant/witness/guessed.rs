//! Whether what is undefined in a run rests on a pointer that was guessed.
//!
//! Of a type that nobody declares the front end guesses the members from how they are used, and may take an array
//! for a pointer. What such a member holds is then an input like any other, and null among its values: what a run
//! that follows it does there says nothing of the program. A pointer that the text declares is none of these,
//! whatever it leads to.

use crate::interp::{End, Outcome, Program};
use crate::ir::{CType, Expr, Function, Instr, Object, UndefinedKind, Unit, VarId};
use std::collections::BTreeSet;

/// Whether a run ends at an access through a pointer that was read from an object of a guessed type.
pub(super) fn rests_on_guess(program: &Program, o: &Outcome) -> bool {
    use UndefinedKind::{BadPointer, NullDereference, OutOfBounds, UseAfterFree};
    let End::Undefined { kind: NullDereference | BadPointer | OutOfBounds | UseAfterFree, place } = &o.end
    else {
        return false;
    };
    let Some((f, unit)) = program.function(&place.function).zip(program.unit_of(&place.function)) else {
        return false;
    };
    !f.invented.is_empty() && Guesses { f, unit }.are_followed_on(place.line)
}

struct Guesses<'p> {
    f: &'p Function,
    unit: &'p Unit,
}

impl Guesses<'_> {
    /// Whether something that is used on a line was read from an object of a guessed type, however often it was
    /// handed on since.
    fn are_followed_on(&self, line: u32) -> bool {
        let mut asked: BTreeSet<VarId> = BTreeSet::new();
        let mut open: Vec<VarId> = Vec::new();
        let here = self.f.nodes.iter().filter(|n| n.span.line == line);
        here.for_each(|n| n.instr.for_each_expr(&mut |e| open.extend(variable(e))));
        while let Some(var) = open.pop() {
            if !asked.insert(var) {
                continue;
            }
            for instr in self.f.nodes.iter().map(|n| &n.instr).filter(|i| i.written() == Some(var)) {
                match instr {
                    Instr::Load { addr, .. } if self.is_guessed(addr) => return true,
                    Instr::Load { .. } | Instr::Assign { .. } => {
                        instr.for_each_expr(&mut |e| open.extend(variable(e)));
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// Whether an address lies in an object of a guessed type.
    fn is_guessed(&self, addr: &Expr) -> bool {
        let mut found = false;
        addr.for_each(&mut |e| {
            let ty = match e {
                Expr::Addr(Object::Global(symbol)) => self.unit.global(symbol).map(|g| &g.ty),
                Expr::Addr(Object::Local(v)) => Some(&self.f.var(*v).ty),
                Expr::Var(v) => self.f.var(*v).ty.target(),
                _ => None,
            };
            found |= ty.is_some_and(|ty| self.holds_guess(ty));
        });
        found
    }

    fn holds_guess(&self, ty: &CType) -> bool {
        match ty {
            CType::Array(element, _) => self.holds_guess(element),
            CType::Record(id) => self.unit.records.get(id.0 as usize).is_some_and(|r| r.invented),
            _ => false,
        }
    }
}

fn variable(e: &Expr) -> Option<VarId> {
    if let Expr::Var(v) = e { Some(*v) } else { None }
}
