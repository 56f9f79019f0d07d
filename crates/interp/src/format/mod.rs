//! Formatted input and output of the C library, exactly: what `printf` writes for a value and what
//! `scanf` and the `strto*` functions read from bytes.
//!
//! The reference is glibc in the C locale on x86-64; where the C standard leaves a choice, glibc's
//! is taken, and where C leaves the behaviour undefined parsing gives a [`FormatError`] instead of
//! a guess. Everything here is a pure function of its arguments, so that the interpreter, the
//! library models and the witness generator share one meaning.
//!
//! - [`spec`]: format strings taken apart into pieces, with the C type each conversion expects.
//! - [`printf`]: one conversion of one value to bytes.
//! - [`scan`]: one directive against a stream of bytes.
//! - [`number`]: text to integers and floats, as `strtol`, `strtod`, ...
//!
//! Not supported, and said so by [`FormatError`]: wide characters, positional
//! arguments (`%1$d`), the `m` extensions of glibc.

pub mod number;
pub mod printf;
pub mod scan;
pub mod spec;

#[cfg(test)]
mod oracle;

pub use printf::{PrintfValue, depends_on_nan_sign, render_conversion};
pub use scan::{Cursor, ScanFail, ScanRun, ScanValue, scan, scan_conversion};
pub use spec::{
    ArgType, Conversion, Count, Flags, FormatError, FormatProblem, Length, Piece, ScanConversion,
    ScanDirective, ScanSet, parse_printf, parse_scanf,
};
