//! The `scanf` family.
//!
//! Objects are written byte for byte as the conversion's length says, whatever their declared type:
//! `%lf` into a `float` is out of bounds, `%f` into a `double` leaves half of it as it was.

use super::model::{Arguments, Model, row};
use super::output::problem;
use super::own;
use super::stdio::input_stream;
use super::varargs::{Remaining, missing, remaining};
use crate::format::scan::{Cursor, ScanRun, ScanValue, scan};
use crate::generate::Request;
use crate::ir::{CType, Const, Sort, UndefinedKind};
use crate::machine::Machine;
use crate::stop::Run;

pub(super) const MODELS: &[Model] = &[
    row("scanf", |m, a| scan_stdin(m, a, 0, false)),
    row("vscanf", |m, a| scan_stdin(m, a, 0, true)),
    row("__isoc99_scanf", |m, a| scan_stdin(m, a, 0, false)),
    row("fscanf", |m, a| scan_stream(m, a, false)),
    row("__isoc99_fscanf", |m, a| scan_stream(m, a, false)),
    row("vfscanf", |m, a| scan_stream(m, a, true)),
    row("sscanf", |m, a| scan_text(m, a, false)),
    row("vsscanf", |m, a| scan_text(m, a, true)),
];

fn scan_text(m: &mut Machine<'_>, a: &Arguments<'_>, list: bool) -> Run<Option<Const>> {
    let text = m.memory.string(a.word(0)?, u64::MAX)?;
    let directives = m.memory.string(a.word(1)?, u64::MAX)?;
    let directives = m.program.scanf_format(&directives).map_err(problem)?;
    let mut cursor = Cursor::new(&text);
    let run = scan(&directives, m.program.data_model(), &mut cursor);
    m.noted.platform_dependent |= cursor.version_dependent;
    store(m, a, 2, &run, list)?;
    a.integer(run.result as i128)
}

fn scan_stream(m: &mut Machine<'_>, a: &Arguments<'_>, list: bool) -> Run<Option<Const>> {
    let Some(addr) = input_stream(m, a, 0)? else { return scan_stdin(m, a, 1, list) };
    let directives = m.memory.string(a.word(1)?, u64::MAX)?;
    let directives = m.program.scanf_format(&directives).map_err(problem)?;
    let text = own::with(m, addr, |s, memory| s.unread(memory))?;
    let mut cursor = Cursor::new(&text);
    let run = scan(&directives, m.program.data_model(), &mut cursor);
    m.noted.platform_dependent |= cursor.version_dependent;
    let (taken, end) = (cursor.position(), cursor.hit_end);
    own::with(m, addr, |s, _| {
        s.take(taken);
        s.end_seen |= end;
        Ok(())
    })?;
    store(m, a, 2, &run, list)?;
    a.integer(run.result as i128)
}

fn scan_stdin(m: &mut Machine<'_>, a: &Arguments<'_>, at: usize, list: bool) -> Run<Option<Const>> {
    let text = m.memory.string(a.word(at)?, u64::MAX)?;
    let directives = m.program.scanf_format(&text).map_err(problem)?;
    m.streams.prepare(&Request::Format(&directives));
    let model = m.program.data_model();
    let (run, consumed, end, version) = loop {
        let mut cursor = Cursor::new(m.streams.unread());
        let run = scan(&directives, model, &mut cursor);
        let result = (run, cursor.position(), cursor.hit_end, cursor.version_dependent);
        // Trailing white space in a format reads on until something else comes.
        if !result.2 || !m.streams.goes_on() {
            break result;
        }
    };
    m.streams.position += consumed;
    m.streams.end_seen |= end;
    m.noted.platform_dependent |= version;
    store(m, a, at + 1, &run, list)?;
    for (target, value) in &run.stores {
        let sort = target.object_sort(m.program.data_model());
        m.noted.inputs.extend(match value {
            ScanValue::Integer(v) | ScanValue::Pointer(v) => {
                Some(sort.and_then(|s| Const::from_bits(s, *v as u128)))
            }
            ScanValue::Float(v) => Some(Some(Const::f32(*v))),
            ScanValue::Extended(v) => Some(Some(Const::F80(*v))),
            ScanValue::Double(v) => Some(Some(Const::f64(*v))),
            ScanValue::Chars(bytes) if bytes.len() == 1 => {
                Some(bytes.first().map(|b| Const::bv(8, *b as i128)))
            }
            ScanValue::Chars(_) | ScanValue::String(_) => Some(None),
            ScanValue::Consumed(_) => None,
        });
    }
    a.integer(run.result as i128)
}

/// Writes the converted values to where the arguments point.
fn store(m: &mut Machine<'_>, a: &Arguments<'_>, first: usize, run: &ScanRun, list: bool) -> Run<()> {
    let model = m.program.data_model();
    let rest = if list { remaining(m, a, first)? } else { Remaining::default() };
    let (values, types) = if list {
        (rest.values.as_slice(), rest.types.as_slice())
    } else {
        (a.values.get(first..).unwrap_or(&[]), a.types.get(first..).unwrap_or(&[]))
    };
    for (i, (target, value)) in run.stores.iter().enumerate() {
        let pointer = types.get(i).is_none_or(CType::is_pointer);
        let given = values.get(i).copied();
        let given = given.ok_or_else(|| missing(rest.is_open, UndefinedKind::FormatMismatch))?;
        let to = Some(given).filter(|_| pointer).and_then(Const::unsigned);
        let to = to.ok_or(UndefinedKind::FormatMismatch)? as u64;
        let bytes = target.object_sort(model).and_then(|s| s.bits()).unwrap_or(8) as u64 / 8;
        match value {
            ScanValue::Integer(v) | ScanValue::Pointer(v) | ScanValue::Consumed(v) => {
                m.memory.store(to, bytes, *v as u128)?;
            }
            ScanValue::Float(v) => m.memory.store(to, 4, Const::f32(*v).to_bits())?,
            ScanValue::Extended(v) => m.memory.store(to, Sort::F80.bytes(), v.to_bits())?,
            ScanValue::Double(v) => m.memory.store(to, 8, Const::f64(*v).to_bits())?,
            ScanValue::String(text) => {
                let mut text = text.clone();
                text.push(0);
                m.memory.write(to, &text)?;
            }
            ScanValue::Chars(text) => m.memory.write(to, text)?,
        }
    }
    Ok(())
}
