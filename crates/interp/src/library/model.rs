//! What a model of a library function is, and what it gets: the arguments of its call.

use crate::ir::{CType, Const, Sort, UndefinedKind};
use crate::machine::Machine;
use crate::stop::Run;

/// A library function's model.
pub(crate) struct Model {
    pub name: &'static str,
    pub run: fn(&mut Machine<'_>, &Arguments<'_>) -> Run<Option<Const>>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Makes a table's row.
pub(super) const fn row(
    name: &'static str,
    run: fn(&mut Machine<'_>, &Arguments<'_>) -> Run<Option<Const>>,
) -> Model {
    Model { name, run }
}

/// Arguments of a call of a library function.
pub(crate) struct Arguments<'a> {
    pub name: &'static str,
    pub values: &'a [Const],
    pub types: &'a [CType],
    pub ret: &'a CType,
    pub pointer_bits: u16,
    /// More than the sign of the result may be looked at.
    pub is_sized: bool,
}

impl Arguments<'_> {
    pub(super) fn value(&self, i: usize) -> Run<Const> {
        Ok(self.values.get(i).copied().ok_or(UndefinedKind::BadCall)?)
    }

    /// Returns an integer argument as its type reads it.
    pub(super) fn int(&self, i: usize) -> Run<i128> {
        let c = self.value(i)?;
        let signed = self.types.get(i).is_none_or(CType::is_signed);
        let v = if signed { c.signed() } else { c.unsigned().map(|u| u as i128) };
        Ok(v.ok_or(UndefinedKind::BadCall)?)
    }

    /// Returns the low 32 bits of an integer argument as an `int`.
    pub(super) fn i32(&self, i: usize) -> Run<i32> {
        Ok(self.int(i)? as i32)
    }

    /// Returns an unsigned argument (`size_t`) or a pointer's address.
    pub(super) fn word(&self, i: usize) -> Run<u64> {
        Ok(self.value(i)?.unsigned().ok_or(UndefinedKind::BadCall)? as u64)
    }

    /// Returns a floating argument.
    pub(super) fn float(&self, i: usize) -> Run<f64> {
        Ok(self.value(i)?.float().ok_or(UndefinedKind::BadCall)?)
    }

    /// Returns an integer result, in the width of the declared result.
    pub fn integer(&self, v: i128) -> Run<Option<Const>> {
        let sort = self.ret.sort(self.pointer_bits);
        Ok(match sort {
            Some(Sort::Bv(w)) => Some(Const::bv(w, v)),
            // Declared otherwise than the library has it: the caller notices.
            _ => Some(Const::bv(32, v)),
        }
        .filter(|_| *self.ret != CType::Void))
    }

    /// Returns a pointer result.
    pub(super) fn address(&self, v: u64) -> Run<Option<Const>> {
        Ok(Some(Const::bv(self.pointer_bits, v as i128)))
    }

    /// Returns the width of the result in bits.
    pub(super) fn result_bits(&self) -> u16 {
        self.ret.sort(self.pointer_bits).and_then(Sort::bits).unwrap_or(32)
    }

    pub(super) fn pointer_bytes(&self) -> u64 {
        self.pointer_bits as u64 / 8
    }
}

/// Returns nothing, for functions whose result is `void`.
pub(super) const NOTHING: Run<Option<Const>> = Ok(None);
