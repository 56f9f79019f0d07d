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
mod model;
mod numbers;
mod output;
mod own;
mod recall;
mod scan;
mod sort;
mod stdio;
mod string;
mod time;
mod varargs;

use super::code::LibraryRow;
use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use model::{Arguments, Model};
pub(crate) use own::{ASKED, MAKERS};
pub(crate) use recall::{answered, leave};

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

/// Returns where the model of a function stands, also under its `__builtin_` name.
pub(crate) fn find(name: &str) -> Option<LibraryRow> {
    static ALL: OnceLock<HashMap<&'static str, LibraryRow>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let rows = TABLES.iter().enumerate().flat_map(|(t, table)| {
            table.iter().enumerate().map(move |(r, m)| (m.name, LibraryRow { table: t as u8, row: r as u8 }))
        });
        rows.collect()
    });
    let found = all.get(name).copied();
    found.or_else(|| all.get(name.strip_prefix("__builtin_")?).copied())
}

/// Returns the model that stands there.
pub(crate) fn model(at: LibraryRow) -> Option<&'static Model> {
    TABLES.get(usize::from(at.table))?.get(usize::from(at.row))
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
    find(name).is_none() && (is_wide || DETERMINED.contains(&name))
}

#[cfg(test)]
mod tests;
