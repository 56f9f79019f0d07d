//! Daikon's file formats: declarations of program points, and traces of what their variables held.
//!
//! - [`declarations`]: `.decls`: the points. [`variables`]: what is told of their variables.
//! - [`trace`]: `.dtrace`: samples of points, read one at a time; [`quick`]: those that look as most do. [`tables`]: of all samples of a trace.
//! - [`calls`]: runs of functions, written. [`text`]: invariants as Daikon prints them.
//! - [`values`]: what values a variable has, and what a text says of them.
//! - [`names`]: of points and variables.
//! - [`lines`]: of a file, which gzip may have packed.
//!
//! Names are Daikon's in the files and C's in tables: `return` is `\result`, `orig(x)` is `\old(x)`, and
//! `::g` is the global `g`, unless the point has another `g` that hides it. Both kinds of file may be packed
//! by gzip.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", version 5.8, appendix "File formats": records,
//! version 2.0 of declarations, nonsensical values.

mod calls;
mod declarations;
mod lines;
mod names;
mod quick;
mod tables;
mod text;
mod trace;
mod values;
mod variables;

pub use calls::{
    Call, Calls, OfFunction, Traced, entry_point, silent_point, write_calls, write_declarations,
};
pub use declarations::{Declarations, Point};
pub use names::{FunctionPoint, PointName, c_name, daikon_name};
pub use tables::{read_tables, tables, write_tables};
pub use text::{RULE, said};
pub use trace::{read_trace, record_parts, write_record};
pub use values::{Element, Representation};
pub use variables::Declared;

use lines::MAX_LINE;
use std::io;

/// Why a file is not read further.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct Error {
    /// The last line that was looked at, counted from 1.
    pub line: u64,
    /// What is wrong there.
    pub fault: Fault,
}

/// A trace that is read to its middle.
#[derive(Debug, thiserror::Error)]
#[error("{error} (after {records} records)")]
pub struct Failure {
    /// How many samples were whole, and handed on.
    pub records: u64,
    /// What came then.
    pub error: Error,
}

/// What can be wrong with a line, or with what is to be written; the messages say it.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("cannot be read: {0}")]
    Read(io::Error),
    #[error("more than {MAX_LINE} bytes")]
    Long,
    #[error("no UTF-8")]
    Encoding,
    #[error("declarations of version {0}, not 2.0")]
    Version(String),
    #[error("'{0}' begins no declaration")]
    Record(String),
    #[error("'{field}' is no field of '{owner}'")]
    Field { field: String, owner: String },
    #[error("'{field}' of '{owner}' a second time")]
    Again { field: String, owner: String },
    #[error("'{field}' of '{owner}' says nothing")]
    Empty { field: String, owner: String },
    #[error("'{variable}' has no '{field}'")]
    Missing { variable: String, field: &'static str },
    #[error("'{text}' is no rep-type for '{variable}'")]
    Type { variable: String, text: String },
    #[error("'{variable}' is declared twice in '{point}'")]
    Twice { point: String, variable: String },
    #[error("'{0}' was declared otherwise before")]
    Otherwise(String),
    #[error("'{value}' is no value of '{variable}', declared as {declared}")]
    Value { variable: String, value: String, declared: String },
    #[error("'{0}' is not declared: the trace may be another program's")]
    Point(String),
    #[error("the record of '{point}' ends before the {part} of '{variable}'")]
    Ends { point: String, variable: String, part: &'static str },
    #[error("'{found}' in a record of '{point}', where '{expected}' is declared")]
    Name { point: String, found: String, expected: String },
    #[error("'{found}' after the last variable of '{point}'")]
    More { point: String, found: String },
    #[error("'{text}' for whether '{variable}' was modified, which is 0, 1 or 2")]
    Modified { variable: String, text: String },
    #[error("a row of {found} values for the {expected} variables of '{point}'")]
    Row { point: String, found: usize, expected: usize },
}
