//! The `scanf` family.
//!
//! Objects are written byte for byte as the conversion's length says, whatever their declared type:
//! `%lf` into a `float` is out of bounds, `%f` into a `double` leaves half of it as it was.

use super::output::problem;
use super::stdio::input_stream;
use super::{Arguments, Model, row};
use crate::interp::format::scan::{Cursor, ScanRun, ScanValue, scan};
use crate::interp::generate::Request;
use crate::interp::machine::{Machine, Run};
use crate::ir::{Const, UndefinedKind};

pub(super) const MODELS: &[Model] = &[
    row("scanf", |m, a| scan_stdin(m, a, 0)),
    row("__isoc99_scanf", |m, a| scan_stdin(m, a, 0)),
    row("fscanf", |m, a| {
        input_stream(m, a, 0)?;
        scan_stdin(m, a, 1)
    }),
    row("sscanf", |m, a| {
        let text = m.memory.string(a.word(0)?, u64::MAX)?;
        let directives = m.memory.string(a.word(1)?, u64::MAX)?;
        let directives = m.program.scanf_format(&directives).map_err(problem)?;
        let mut cursor = Cursor::new(&text);
        let run = scan(&directives, m.program.data_model(), &mut cursor);
        m.platform_dependent |= cursor.version_dependent;
        store(m, a, 2, &run)?;
        a.integer(run.result as i128)
    }),
];

fn scan_stdin(m: &mut Machine<'_>, a: &Arguments<'_>, at: usize) -> Run<Option<Const>> {
    let text = m.memory.string(a.word(at)?, u64::MAX)?;
    let directives = m.program.scanf_format(&text).map_err(problem)?;
    m.streams.prepare(&Request::Format(&directives));
    let mut cursor = Cursor::new(m.streams.unread());
    let run = scan(&directives, m.program.data_model(), &mut cursor);
    let (consumed, end, version) = (cursor.position(), cursor.hit_end, cursor.version_dependent);
    m.streams.position += consumed;
    m.streams.end_seen |= end;
    m.platform_dependent |= version;
    store(m, a, at + 1, &run)?;
    for (target, value) in &run.stores {
        let sort = target.object_sort(m.program.data_model());
        match value {
            ScanValue::Integer(v) | ScanValue::Pointer(v) => {
                m.inputs.push(sort.and_then(|s| Const::from_bits(s, *v as u128)));
            }
            ScanValue::Float(v) => m.inputs.push(Some(Const::f32(*v))),
            ScanValue::Double(v) => m.inputs.push(Some(Const::f64(*v))),
            ScanValue::Chars(bytes) => match bytes.as_slice() {
                [one] => m.inputs.push(Some(Const::bv(8, *one as i128))),
                _ => m.inputs.push(None),
            },
            ScanValue::String(_) => m.inputs.push(None),
            ScanValue::Consumed(_) => {}
        }
    }
    a.integer(run.result as i128)
}

/// Writes the converted values to where the arguments point.
fn store(m: &mut Machine<'_>, a: &Arguments<'_>, first: usize, run: &ScanRun) -> Run<()> {
    let model = m.program.data_model();
    for (i, (target, value)) in run.stores.iter().enumerate() {
        let missing = a.values.len() <= first + i;
        if missing || a.types.get(first + i).is_some_and(|t| !t.is_pointer()) {
            return Err(UndefinedKind::FormatMismatch.into());
        }
        let to = a.word(first + i)?;
        let bytes = target.object_sort(model).and_then(|s| s.bits()).unwrap_or(8) as u64 / 8;
        match value {
            ScanValue::Integer(v) | ScanValue::Pointer(v) | ScanValue::Consumed(v) => {
                m.memory.store(to, bytes, *v as u128)?;
            }
            ScanValue::Float(v) => m.memory.store(to, 4, Const::f32(*v).to_bits())?,
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
