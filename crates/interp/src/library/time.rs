//! `strftime` of a given time, in the C locale; times and dates of Greenwich.
//!
//! What depends on the time zone, on flags and widths, or on numbers that no date has ends the run without
//! an answer: releases of glibc differ there.

use super::model::{Arguments, Model, row};
use super::string::put_truncated;
use crate::ir::Const;
use crate::machine::Machine;
use crate::stop::{Run, Stop};

pub(super) const MODELS: &[Model] = &[
    row("strftime", format),
    row("gmtime_r", |m, a| {
        put_date(m, a.word(0)?, a.word(1)?)?;
        a.address(a.word(1)?)
    }),
    row("timegm", seconds),
];

/// Bytes of `struct tm`, with the offset and the name of its time zone.
const TM_OFFSET: u64 = 40;
const TM_ZONE: u64 = 48;
/// Days of an era of 400 years, and from 0000-03-01 to 1970-01-01.
const ERA: i64 = 146_097;
const EPOCH: i64 = 719_468;

/// Writes the date of the time at an address. Years that have no four digits are left open.
fn put_date(m: &mut Machine<'_>, from: u64, to: u64) -> Run<()> {
    let time = m.memory.load(from, 8)? as u64 as i64;
    let (days, second) = (time.div_euclid(86_400), time.rem_euclid(86_400));
    // Years are counted from March, so that a leap day is the last.
    let day = days + EPOCH;
    let (era, of_era) = (day.div_euclid(ERA), day.rem_euclid(ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let month = if march < 10 { march + 2 } else { march - 10 };
    let year = year + 400 * era + i64::from(month < 2);
    if !(1000..=9999).contains(&year) {
        return open();
    }
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let start = if month < 2 { of_year - 306 } else { of_year + 59 + i64::from(is_leap) };
    let members = [
        second % 60,
        second / 60 % 60,
        second / 3600,
        of_year - (153 * march + 2) / 5 + 1,
        month,
        year - 1900,
        (days + 4).rem_euclid(7),
        start,
        0,
    ];
    for (k, member) in (0u64..).zip(members) {
        m.memory.store(to.wrapping_add(4 * k), 4, member as u32 as u128)?;
    }
    m.memory.store(to.wrapping_add(TM_OFFSET), 8, 0)?;
    // The name of the zone is a text of the library.
    m.memory.undefine(to.wrapping_add(TM_ZONE), 8)?;
    Ok(())
}

/// The time of a date whose members are what dates have; others are left open.
fn seconds(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let tm = a.word(0)?;
    let mut member = |k: u64, least: i64, most: i64| -> Run<i64> {
        let value = m.memory.load(tm.wrapping_add(4 * k), 4)? as u32 as i32;
        if (least..=most).contains(&value.into()) { Ok(value.into()) } else { open() }
    };
    let (second, minute, hour) = (member(0, 0, 59)?, member(1, 0, 59)?, member(2, 0, 23)?);
    let (day, month, year) = (member(3, 1, 28)?, member(4, 0, 11)?, member(5, -900, 8099)? + 1900);
    let (march, year) = if month < 2 { (month + 10, year - 1) } else { (month - 2, year) };
    let of_era = year.rem_euclid(400);
    let days = 365 * of_era + of_era / 4 - of_era / 100 + (153 * march + 2) / 5 + day - 1;
    let days = year.div_euclid(400) * ERA + days - EPOCH;
    let time = days * 86_400 + hour * 3600 + minute * 60 + second;
    // It also says which days of the week and of the year these are.
    m.memory.store(tm.wrapping_add(24), 4, (days + 4).rem_euclid(7) as u128)?;
    m.memory.undefine(tm.wrapping_add(28), 4)?;
    m.memory.store(tm.wrapping_add(32), 4, 0)?;
    a.integer(time.into())
}

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
