//! The `printf` family.
//!
//! An argument whose bits a real machine would find where the conversion looks (an `int` for `%u`, a
//! `long` for `%d`) is taken; one of the other register class, or too narrow, is an event.

use super::model::{Arguments, Model, row};
use super::stdio::{Stream, put, stream};
use super::string::{place, put_truncated};
use super::varargs::{Remaining, missing, remaining};
use crate::format::spec::MAX_COUNT;
use crate::format::{
    ArgType, Conversion, Count, FormatProblem, Piece, PrintfValue, depends_on_nan_sign, render_conversion,
};
use crate::ir::{CType, Const, Sort, UndefinedKind};
use crate::machine::Machine;
use crate::stop::{Run, Stop};

const MISMATCH: UndefinedKind = UndefinedKind::FormatMismatch;

pub(super) const MODELS: &[Model] = &[
    row("printf", |m, a| print(m, a, Stream::Out, 0, false)),
    row("vprintf", |m, a| print(m, a, Stream::Out, 0, true)),
    row("fprintf", |m, a| {
        let to = stream(m, a, 0)?;
        print(m, a, to, 1, false)
    }),
    row("vfprintf", |m, a| {
        let to = stream(m, a, 0)?;
        print(m, a, to, 1, true)
    }),
    row("dprintf", |m, a| {
        let bytes = format(m, a, 1, false)?;
        match a.i32(0)? {
            1 => m.streams.stdout.extend_from_slice(&bytes),
            2 => m.streams.stderr.extend_from_slice(&bytes),
            _ => return Err(Stop::Unsupported("a file that is no standard stream".into())),
        }
        a.integer(bytes.len() as i128)
    }),
    row("sprintf", |m, a| print_to_memory(m, a, None, false)),
    row("vsprintf", |m, a| print_to_memory(m, a, None, true)),
    row("snprintf", |m, a| print_to_memory(m, a, Some(a.word(1)?), false)),
    row("vsnprintf", |m, a| print_to_memory(m, a, Some(a.word(1)?), true)),
    row("asprintf", |m, a| print_to_heap(m, a, false)),
    row("vasprintf", |m, a| print_to_heap(m, a, true)),
];

fn print(m: &mut Machine<'_>, a: &Arguments<'_>, to: Stream, at: usize, list: bool) -> Run<Option<Const>> {
    let bytes = format(m, a, at, list)?;
    put(m, to, &bytes)?;
    a.integer(bytes.len() as i128)
}

fn print_to_memory(
    m: &mut Machine<'_>,
    a: &Arguments<'_>,
    size: Option<u64>,
    list: bool,
) -> Run<Option<Const>> {
    let bytes = format(m, a, if size.is_some() { 2 } else { 1 }, list)?;
    put_truncated(m, a.word(0)?, size.unwrap_or(u64::MAX), &bytes)?;
    a.integer(bytes.len() as i128)
}

fn print_to_heap(m: &mut Machine<'_>, a: &Arguments<'_>, list: bool) -> Run<Option<Const>> {
    let mut bytes = format(m, a, 1, list)?;
    bytes.push(0);
    let addr = place(m, &bytes)?;
    m.memory.store(a.word(0)?, a.pointer_bytes(), addr as u128)?;
    a.integer(bytes.len() as i128 - 1)
}

/// Returns the bytes that the format at argument `at` makes of what follows it: of arguments, or of
/// a `va_list`.
fn format(m: &mut Machine<'_>, a: &Arguments<'_>, at: usize, list: bool) -> Run<Vec<u8>> {
    let text = m.memory.string(a.word(at)?, u64::MAX)?;
    let pieces = m.program.printf_format(&text).map_err(problem)?;
    let rest = if list { remaining(m, a, at + 1)? } else { Remaining::default() };
    let (values, types) = if list {
        (rest.values.as_slice(), rest.types.as_slice())
    } else {
        (a.values.get(at + 1..).unwrap_or(&[]), a.types.get(at + 1..).unwrap_or(&[]))
    };
    let mut cursor = Cursor { values, types, is_open: rest.is_open, next: 0 };
    let mut out = Vec::new();
    for piece in pieces.iter() {
        match piece {
            Piece::Literal(bytes) => out.extend_from_slice(bytes),
            Piece::Conversion(c) => {
                let bytes = cursor.convert(m, c, out.len())?;
                out.extend_from_slice(&bytes);
            }
        }
        if out.len() > m.limits.output {
            return Err(Stop::Fuel);
        }
    }
    Ok(out)
}

/// Translates what is wrong with a format.
pub(super) fn problem(e: crate::format::FormatError) -> Stop {
    match e.problem {
        FormatProblem::Undefined => MISMATCH.into(),
        FormatProblem::Unsupported | FormatProblem::TooLong => Stop::Unsupported(e.to_string()),
    }
}

struct Cursor<'a> {
    values: &'a [Const],
    types: &'a [CType],
    /// More arguments follow, which are not known.
    is_open: bool,
    next: usize,
}

impl Cursor<'_> {
    fn take(&mut self) -> Run<(Const, Option<&CType>)> {
        let i = self.next;
        self.next += 1;
        let value = *self.values.get(i).ok_or_else(|| missing(self.is_open, MISMATCH))?;
        Ok((value, self.types.get(i)))
    }

    fn count(&mut self, count: Option<Count>) -> Run<Option<i32>> {
        if count != Some(Count::Argument) {
            return Ok(None);
        }
        let v = self.take()?.0.signed().ok_or(MISMATCH)? as i32;
        if v.unsigned_abs() > MAX_COUNT {
            return Err(Stop::Unsupported("overlong field".into()));
        }
        Ok(Some(v))
    }

    fn convert(&mut self, m: &mut Machine<'_>, c: &Conversion, written: usize) -> Run<Vec<u8>> {
        let model = m.program.data_model();
        let resolved;
        let c = if c.arg_count() > 1 {
            let width = self.count(c.width)?;
            let precision = self.count(c.precision)?;
            resolved = c.resolve(width, precision);
            &resolved
        } else {
            c
        };
        let kind = c.arg_type();
        let (value, ty) = self.take()?;
        let is_pointer = ty.is_some_and(CType::is_pointer);
        let value = match (value, kind.promoted_sort(model)) {
            (Const::Bv { width, bits }, Sort::Bv(wanted)) if width >= wanted => bits as u64,
            (Const::F64(_) | Const::F32(_), Sort::F64) => {
                let value = PrintfValue::Double(value.float().unwrap_or(0.0));
                m.events.open_sign |= depends_on_nan_sign(c, value);
                return render_conversion(c, model, value).map_err(problem);
            }
            (Const::F80(x), Sort::F80) => {
                let value = PrintfValue::Extended(x);
                m.events.open_sign |= depends_on_nan_sign(c, value);
                return render_conversion(c, model, value).map_err(problem);
            }
            _ => return Err(MISMATCH.into()),
        };
        let bytes = match kind {
            ArgType::String => {
                let limit = if let Some(Count::Fixed(p)) = c.precision { p as u64 } else { u64::MAX };
                let text = m.memory.string(value, limit)?;
                render_conversion(c, model, PrintfValue::Bytes(&text))
            }
            ArgType::CountPointer(length) => {
                m.memory.store(value, length.int_bits(model) as u64 / 8, written as u128)?;
                Ok(Vec::new())
            }
            ArgType::Pointer => {
                m.noted.platform_dependent |= value != 0;
                render_conversion(c, model, PrintfValue::Pointer(value))
            }
            _ => {
                m.noted.platform_dependent |= is_pointer && value != 0;
                render_conversion(c, model, PrintfValue::Integer(value))
            }
        };
        bytes.map_err(problem)
    }
}
