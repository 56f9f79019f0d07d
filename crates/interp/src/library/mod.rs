//! Concrete models of the C library: one table a header, one row a function.
//!
//! A model gets its arguments as constants with their C types and works on the machine's memory and
//! streams. To add a function, add a row to the table of its header. A name that no table has is an
//! unknown function: its result comes from the input, or is assumed and listed.
//!
//! Results are those of glibc on x86-64 where the standard leaves a choice (`isdigit` gives 2048,
//! `strcmp` a difference of bytes, `rand` the TYPE_3 generator), since that is what witnesses are
//! checked against.

mod builtin;
mod ctype;
mod environment;
mod jump;
mod math;
mod memory;
mod numbers;
mod output;
mod own;
mod random;
mod recall;
mod scan;
mod sort;
mod stdio;
mod string;
mod time;
mod varargs;

use super::machine::{Machine, Run};
use crate::ir::{CType, Const, UndefinedKind};
use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use own::{ASKED, MAKERS};
pub(crate) use random::Random;
pub(crate) use recall::{Left, answered, leave};

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
const fn row(name: &'static str, run: fn(&mut Machine<'_>, &Arguments<'_>) -> Run<Option<Const>>) -> Model {
    Model { name, run }
}

const TABLES: [&[Model]; 17] = [
    stdio::MODELS,
    output::MODELS,
    scan::MODELS,
    ctype::MODELS,
    string::MODELS,
    memory::MODELS,
    numbers::MODELS,
    math::GROUPS[0],
    math::GROUPS[1],
    math::GROUPS[2],
    sort::MODELS,
    environment::MODELS,
    recall::MODELS,
    builtin::MODELS,
    jump::MODELS,
    varargs::MODELS,
    time::MODELS,
];

/// Returns the model of a function, also under its `__builtin_` name.
pub(crate) fn model(name: &str) -> Option<&'static Model> {
    static ALL: OnceLock<HashMap<&'static str, &'static Model>> = OnceLock::new();
    let all = ALL.get_or_init(|| TABLES.iter().flat_map(|t| t.iter()).map(|m| (m.name, m)).collect());
    let found = all.get(name).copied();
    found.or_else(|| all.get(name.strip_prefix("__builtin_")?).copied())
}

/// Functions of the library without a model whose results follow from what they get, beside those of wide
/// characters: whatever an input says of them may be what they never give.
const DETERMINED: [&str; 60] = [
    "a64l",
    "asctime",
    "asctime_r",
    "basename",
    "cabs",
    "carg",
    "ccos",
    "cexp",
    "clog",
    "conj",
    "cpow",
    "cproj",
    "csin",
    "csqrt",
    "ctime",
    "ctime_r",
    "difftime",
    "dirname",
    "div",
    "ecvt",
    "erf",
    "erfc",
    "fcvt",
    "fnmatch",
    "gcvt",
    "getsubopt",
    "gmtime",
    "htonl",
    "htons",
    "imaxdiv",
    "inet_addr",
    "inet_aton",
    "inet_ntoa",
    "inet_ntop",
    "inet_pton",
    "j0",
    "j1",
    "l64a",
    "ldiv",
    "lgamma",
    "lldiv",
    "localtime",
    "localtime_r",
    "mblen",
    "mbstowcs",
    "mbtowc",
    "mktime",
    "nextafter",
    "ntohl",
    "ntohs",
    "remquo",
    "strerror",
    "strfmon",
    "strptime",
    "strsignal",
    "strverscmp",
    "tgamma",
    "wctomb",
    "wcstombs",
    "y0",
];

/// Whether a function without a model gives what follows from its arguments, which an input makes up.
pub(crate) fn is_determined(name: &str) -> bool {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let is_wide = ["wcs", "wmem", "isw", "tow"].iter().any(|start| name.starts_with(start));
    model(name).is_none() && (is_wide || DETERMINED.contains(&name))
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
    fn value(&self, i: usize) -> Run<Const> {
        Ok(self.values.get(i).copied().ok_or(UndefinedKind::BadCall)?)
    }

    /// Returns an integer argument as its type reads it.
    fn int(&self, i: usize) -> Run<i128> {
        let c = self.value(i)?;
        let signed = self.types.get(i).is_none_or(CType::is_signed);
        let v = if signed { c.signed() } else { c.unsigned().map(|u| u as i128) };
        Ok(v.ok_or(UndefinedKind::BadCall)?)
    }

    /// Returns the low 32 bits of an integer argument as an `int`.
    fn i32(&self, i: usize) -> Run<i32> {
        Ok(self.int(i)? as i32)
    }

    /// Returns an unsigned argument (`size_t`) or a pointer's address.
    fn word(&self, i: usize) -> Run<u64> {
        Ok(self.value(i)?.unsigned().ok_or(UndefinedKind::BadCall)? as u64)
    }

    /// Returns a floating argument.
    fn float(&self, i: usize) -> Run<f64> {
        Ok(self.value(i)?.float().ok_or(UndefinedKind::BadCall)?)
    }

    /// Returns an integer result, in the width of the declared result.
    pub fn integer(&self, v: i128) -> Run<Option<Const>> {
        let sort = self.ret.sort(self.pointer_bits);
        Ok(match sort {
            Some(crate::ir::Sort::Bv(w)) => Some(Const::bv(w, v)),
            // Declared otherwise than the library has it: the caller notices.
            _ => Some(Const::bv(32, v)),
        }
        .filter(|_| *self.ret != CType::Void))
    }

    /// Returns a pointer result.
    fn address(&self, v: u64) -> Run<Option<Const>> {
        Ok(Some(Const::bv(self.pointer_bits, v as i128)))
    }

    /// Returns the width of the result in bits.
    fn result_bits(&self) -> u16 {
        self.ret.sort(self.pointer_bits).and_then(crate::ir::Sort::bits).unwrap_or(32)
    }

    fn pointer_bytes(&self) -> u64 {
        self.pointer_bits as u64 / 8
    }
}

/// Returns nothing, for functions whose result is `void`.
const NOTHING: Run<Option<Const>> = Ok(None);

#[cfg(test)]
mod tests;
