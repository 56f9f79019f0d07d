//! How hard an input is to read.

use crate::interp::{Input, ObjectInit, Storage, Value};
use crate::ir::{CType, Const};

/// How hard an input is to read; less is better.
pub(in crate::invariant) fn complexity(input: &Input) -> u64 {
    let arguments = input.arguments.iter().map(value_complexity).sum::<u64>();
    let objects = input.objects.iter().map(object_complexity).sum::<u64>();
    let words = input.stdin.split(|b| b.is_ascii_whitespace());
    let stdin = words.map(|w| if w == b"0" { 1 } else { text_complexity(w) }).sum::<u64>();
    let argv = input.argv.iter().map(|a| 20 + text_complexity(a)).sum::<u64>();
    let calls = input.calls.iter().map(|c| 50 + value_complexity(&c.result)).sum::<u64>();
    arguments + objects + stdin + input.stdin.len() as u64 + argv + calls
}

pub(super) fn value_complexity(v: &Value) -> u64 {
    match v {
        Value::Const(c) => number_complexity(*c),
        Value::Pointer { offset: 0, .. } => 30,
        Value::Pointer { .. } => 60,
        Value::Function(_) | Value::Global { .. } => 30,
    }
}

pub(super) fn number_complexity(c: Const) -> u64 {
    if let Some(v) = c.nearest_f64() {
        let text = format!("{v:?}");
        return match () {
            _ if v.to_bits() == 0 => 0,
            _ if v == 1.0 => 2,
            _ if v.is_finite() => 3 + text.len() as u64,
            _ => 40,
        };
    }
    match c.signed().unwrap_or(0) {
        0 => 0,
        1 => 2,
        -1 => 3,
        2 => 4,
        v => 5 + v.unsigned_abs().to_string().len() as u64 + u64::from(v < 0),
    }
}

fn text_complexity(text: &[u8]) -> u64 {
    let byte = |b: &u8| match b {
        0 => 0,
        b'a' => 2,
        b'0' | b'1' => 3,
        b if b.is_ascii_alphanumeric() => 4,
        b' '..=b'~' => 5,
        _ => 12,
    };
    text.iter().map(byte).sum()
}

fn object_complexity(o: &ObjectInit) -> u64 {
    let pointers = o.pointers.iter().map(|(_, v)| 10 + value_complexity(v)).sum::<u64>();
    // Fields are mostly as wide as an `int` or wider, and mostly zero.
    let zero = number_complexity(Const::bv(64, 0));
    let word = |w: &[u8]| {
        let bits = w.iter().rev().fold(0u32, |bits, b| bits << 8 | u32::from(*b));
        if bits == 0 {
            return zero;
        }
        let value = if w.len() == 4 { i128::from(bits as i32) } else { i128::from(bits) };
        number_complexity(Const::bv(64, value)) + 8
    };
    let bytes = if is_text(&o.ty) { text_complexity(&o.bytes) } else { o.bytes.chunks(4).map(word).sum() };
    let global = if matches!(o.storage, Storage::Global(_)) { 200 } else { 0 };
    20 + global + pointers + bytes + o.bytes.len() as u64 / 8 + o.undefined.len() as u64
}

pub(super) fn is_char(ty: &CType) -> bool {
    matches!(ty, CType::Int { bits: 8, .. })
}

pub(super) fn is_text(ty: &CType) -> bool {
    is_char(ty) || matches!(ty, CType::Array(e, _) if is_char(e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{input, int, leads, number, object};

    #[test]
    fn plain_numbers_are_the_easiest_to_read() {
        let hard = |c: Const| number_complexity(c);
        let of = |n: i128| hard(Const::bv(32, n));
        for (easier, harder) in [(0, 1), (1, -1), (-1, 2), (2, 3), (9, 10), (7, -7), (99, 100)] {
            assert!(of(easier) < of(harder), "{easier} and {harder}");
        }
        assert_eq!(hard(Const::f64(0.0)), 0);
        assert!(hard(Const::f64(-0.0)) > 0, "the sign of a zero is hard to see");
        assert!(
            hard(Const::f64(0.5)) < hard(Const::f64(0.123))
                && hard(Const::f64(1e300)) < hard(Const::f64(f64::NAN))
        );
    }

    #[test]
    fn letters_are_easier_to_read_than_other_bytes() {
        let order: [&[u8]; 7] = [b"\0", b"a", b"0", b"z", b"!", b"\n", b"\xff\xff"];
        for pair in order.windows(2) {
            assert!(text_complexity(pair[0]) < text_complexity(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn an_input_is_as_hard_to_read_as_all_its_parts() {
        let plain = input(&[number(0)], &[]);
        let with = |change: &dyn Fn(&mut Input)| {
            let mut more = plain.clone();
            change(&mut more);
            complexity(&more)
        };
        let least = complexity(&plain);
        assert!(with(&|i| i.arguments[0] = number(1)) > least);
        assert!(with(&|i| i.objects.push(object(1, int(), &[0; 4], &[]))) > least);
        assert!(with(&|i| i.stdin = b"0".to_vec()) > least);
        assert!(with(&|i| i.argv.push(b"a".to_vec())) > least);
        assert!(with(&|i| i.arguments[0] = leads(1, 4)) > with(&|i| i.arguments[0] = leads(1, 0)));
        let global = |o: &mut ObjectInit| o.storage = Storage::Global("g".into());
        let given = object(1, int(), &[0; 4], &[]);
        let mut own = given.clone();
        global(&mut own);
        assert!(object_complexity(&own) > object_complexity(&given));
    }
}
