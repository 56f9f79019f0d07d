//! Formats and numbers of the C library, which programs under analysis choose and feed.

use git_invdiff::interp::format::number::{Parsed, atof, strtod, strtof, strtol, strtold, strtoul};
use git_invdiff::interp::format::{
    ArgType, Conversion, Count, Cursor, Piece, PrintfValue, parse_printf, parse_scanf, render_conversion,
    scan,
};
use git_invdiff::ir::{DataModel, Extended};

/// Widths that are rendered here.
const WIDEST: u32 = 4096;

/// The first line is a format, the rest is the input. A conversion in its canonical spelling is the same
/// conversion; nothing reads beyond the end.
pub fn formats(bytes: &[u8]) {
    let (format, input) = super::first_line(bytes);
    match parse_printf(format) {
        Ok(pieces) => pieces.iter().for_each(|piece| {
            if let Piece::Conversion(conversion) = piece {
                printed(conversion, input);
            }
        }),
        Err(error) => {
            assert!(error.offset < format.len(), "{error:?}");
            super::assert_plain(&error.to_string(), false);
        }
    }
    if let Ok(directives) = parse_scanf(format) {
        for model in [DataModel::Lp64, DataModel::Ilp32] {
            let mut cursor = Cursor::new(input);
            let run = scan(&directives, model, &mut cursor);
            assert!(cursor.position() <= input.len());
            assert!((-1..=run.stores.len() as i32).contains(&run.result), "{run:?}");
        }
    }
    numbers(input);
}

fn printed(conversion: &Conversion, bytes: &[u8]) {
    let canonical = conversion.canonical();
    let again = parse_printf(canonical.as_bytes());
    match again.as_deref() {
        Ok([Piece::Conversion(again)]) => assert_eq!(again.canonical(), canonical),
        other => panic!("{canonical:?} of {conversion:?}: {other:?}"),
    }
    let resolved = conversion.resolve(Some(-7), Some(3));
    let is_wide = |count| matches!(count, Some(Count::Fixed(n)) if n > WIDEST);
    if is_wide(resolved.width) || is_wide(resolved.precision) {
        return;
    }
    let value = match conversion.arg_type() {
        ArgType::Int { .. } => PrintfValue::Integer(0x8000_0000_0000_0061),
        ArgType::Double => PrintfValue::Double(-1234.5e-7),
        ArgType::LongDouble => PrintfValue::Extended(strtold(bytes).value),
        ArgType::String => PrintfValue::Bytes(bytes),
        ArgType::Pointer | ArgType::CountPointer(_) => PrintfValue::Pointer(4096),
        ArgType::Float | ArgType::Chars => return,
    };
    if let Ok(out) = render_conversion(&resolved, DataModel::default(), value) {
        let is_text = !matches!(conversion.arg_type(), ArgType::String);
        assert!(!is_text || out.is_ascii() || conversion.specifier == 'c', "{conversion:?}: {out:?}");
        if let (Some(Count::Fixed(width)), true) = (resolved.width, conversion.specifier != 'n') {
            assert!(out.len() >= width as usize, "{conversion:?}: {out:?}");
        }
    }
}

fn numbers(text: &[u8]) {
    fn ends<T>(read: Parsed<T>, length: usize) -> T {
        assert!(read.consumed <= length);
        read.value
    }
    let n = text.len();
    for base in [0, 1, 2, 8, 10, 16, 36, 37] {
        let (wide, narrow) = (ends(strtol(text, base, 64), n), ends(strtol(text, base, 32), n));
        assert_eq!(narrow, wide.clamp(i32::MIN.into(), i32::MAX.into()), "base {base}");
        assert_eq!(strtoul(text, base, 64).consumed, strtol(text, base, 64).consumed);
    }
    ends(strtof(text), n);
    ends(strtold(text), n);
    let double = strtod(text);
    assert_eq!(atof(text).to_bits(), double.value.to_bits());
    let word = text.get(..double.consumed).and_then(|t| std::str::from_utf8(t).ok()).unwrap_or_default();
    let is_decimal = word.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    if let (true, Ok(value)) = (is_decimal && !word.is_empty(), word.parse::<f64>()) {
        assert_eq!(double.value.to_bits(), value.to_bits(), "{word:?}");
    }
    let plain = |b: &u8| b.is_ascii_hexdigit() || b".+-xXpP".contains(b);
    let length = text.iter().take_while(|b| plain(b)).count().min(64);
    if let Some((value, _)) = std::str::from_utf8(&text[..length]).ok().and_then(Extended::parse) {
        assert_eq!(value.negated().negated(), value);
    }
}
