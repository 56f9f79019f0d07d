//! `strftime` of a given time, in the C locale.
//!
//! What depends on the time zone, on flags and widths, or on numbers that no date has ends the run without
//! an answer: releases of glibc differ there.

use super::string::put_truncated;
use super::{Arguments, Model, row};
use crate::interp::machine::{Machine, Run, Stop};
use crate::ir::Const;

pub(super) const MODELS: &[Model] = &[row("strftime", format)];

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn open<T>() -> Run<T> {
    Err(Stop::Unsupported("a time that is not followed".into()))
}

fn format(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    if m.call_counts.contains_key("setlocale") {
        return open();
    }
    let directives = m.memory.string(a.word(2)?, u64::MAX)?;
    let mut text = Vec::new();
    let mut bytes = directives.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => convert(m, a.word(3)?, bytes.next().copied(), &mut text)?,
            _ => text.push(*byte),
        }
    }
    // What does not fit leaves nobody knows what.
    if text.len() as u64 >= a.word(1)? {
        return open();
    }
    put_truncated(m, a.word(0)?, u64::MAX, &text)?;
    a.integer(text.len() as i128)
}

/// Appends what one conversion makes of the time at an address.
fn convert(m: &mut Machine<'_>, tm: u64, conversion: Option<u8>, out: &mut Vec<u8>) -> Run<()> {
    // The members that every date has, in the order of `struct tm`, with the values that they may have.
    let mut member = |k: u64, least: i32, most: i32| -> Run<i32> {
        let value = m.memory.load(tm.wrapping_add(4 * k), 4)? as u32 as i32;
        if (least..=most).contains(&value) { Ok(value) } else { open() }
    };
    let name = |names: &[&'static str], at: i32| names.get(at as usize).copied().unwrap_or("");
    let short = |name: &str| name.chars().take(3).collect::<String>();
    let text = match conversion {
        Some(b'%') => "%".to_owned(),
        Some(b'n') => "\n".to_owned(),
        Some(b't') => "\t".to_owned(),
        Some(b'S') => format!("{:02}", member(0, 0, 60)?),
        Some(b'M') => format!("{:02}", member(1, 0, 59)?),
        Some(b'H') => format!("{:02}", member(2, 0, 23)?),
        Some(b'I') => format!("{:02}", (member(2, 0, 23)? + 11) % 12 + 1),
        Some(b'p') => if member(2, 0, 23)? < 12 { "AM" } else { "PM" }.to_owned(),
        Some(b'd') => format!("{:02}", member(3, 1, 31)?),
        Some(b'e') => format!("{:2}", member(3, 1, 31)?),
        Some(b'm') => format!("{:02}", member(4, 0, 11)? + 1),
        Some(b'B') => name(&MONTHS, member(4, 0, 11)?).to_owned(),
        Some(b'b' | b'h') => short(name(&MONTHS, member(4, 0, 11)?)),
        // Years of four digits.
        Some(b'Y') => format!("{}", member(5, -900, 8099)? + 1900),
        Some(b'C') => format!("{}", (member(5, -900, 8099)? + 1900) / 100),
        Some(b'y') => format!("{:02}", (member(5, -900, 8099)? + 1900) % 100),
        Some(b'A') => name(&DAYS, member(6, 0, 6)?).to_owned(),
        Some(b'a') => short(name(&DAYS, member(6, 0, 6)?)),
        Some(b'w') => format!("{}", member(6, 0, 6)?),
        Some(b'u') => format!("{}", (member(6, 0, 6)? + 6) % 7 + 1),
        Some(b'j') => format!("{:03}", member(7, 0, 365)? + 1),
        Some(whole) => {
            let parts: &[u8] = match whole {
                b'F' => b"Y-m-d",
                b'D' => b"m/d/y",
                b'T' => b"H:M:S",
                b'R' => b"H:M",
                _ => return open(),
            };
            for part in parts {
                match part {
                    b'-' | b'/' | b':' => out.push(*part),
                    _ => convert(m, tm, Some(*part), out)?,
                }
            }
            return Ok(());
        }
        None => return open(),
    };
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
