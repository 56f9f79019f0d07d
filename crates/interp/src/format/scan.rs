//! `scanf` against a stream of bytes, consuming exactly what glibc consumes.
//!
//! glibc reads byte by byte and can put back only the last byte read, so that a partial match is
//! lost: `%f` on `inx` takes all three bytes and fails. Its releases differ in a few corners (an
//! exponent letter without digits, `nan(`, a width that ends between `0` and `x`); there the
//! behaviour of 2.36 is taken and [`Cursor::version_dependent`] is set, so that no witness rests
//! on it.

use super::number;
use super::spec::{ArgType, ScanConversion, ScanDirective, is_float_specifier, is_space};
use crate::ir::{DataModel, Extended};

/// Position in a stream of bytes.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Where the current call of `scanf` began; `%n` counts from here.
    origin: usize,
    /// A read met the end of the stream (what `feof` tells).
    pub hit_end: bool,
    /// Releases of glibc disagree about something that was read.
    pub version_dependent: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor::at(bytes, 0)
    }

    /// Returns a cursor for a call that starts at a position.
    pub fn at(bytes: &'a [u8], position: usize) -> Cursor<'a> {
        Cursor { bytes, position, origin: position, hit_end: false, version_dependent: false }
    }

    /// Returns the number of bytes consumed since the start of the stream.
    pub fn position(&self) -> usize {
        self.position
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.position).copied();
        match byte {
            Some(_) => self.position += 1,
            None => self.hit_end = true,
        }
        byte
    }

    /// Puts the byte that was just read back; the end of the stream cannot be.
    fn unget(&mut self, byte: Option<u8>) {
        self.position -= usize::from(byte.is_some()).min(self.position);
    }

    fn skip_whitespace(&mut self) {
        let mut c = self.next();
        while c.is_some_and(is_space) {
            c = self.next();
        }
        self.unget(c);
    }
}

/// Why a directive failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanFail {
    /// Input was there, but does not match.
    Match,
    /// The stream ended before the directive's first byte: `EOF` if nothing was assigned yet.
    End,
}

/// Value that a conversion stores.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanValue {
    /// Cut to the object's width, zero-extended.
    Integer(u64),
    Float(f32),
    Double(f64),
    Extended(Extended),
    /// `%s`, `%[`: a NUL is stored after it.
    String(Vec<u8>),
    /// `%c`: stored without a NUL.
    Chars(Vec<u8>),
    Pointer(u64),
    /// `%n`; it does not count as an assignment.
    Consumed(u64),
}

/// Runs one directive other than a conversion.
///
/// Errors: the input does not match, or ended.
fn scan_plain(directive: &ScanDirective, cursor: &mut Cursor) -> Result<(), ScanFail> {
    match directive {
        ScanDirective::Whitespace => {
            cursor.skip_whitespace();
            Ok(())
        }
        ScanDirective::Literal(bytes) => bytes.iter().try_for_each(|&b| match cursor.next() {
            None => Err(ScanFail::End),
            Some(c) if c == b => Ok(()),
            c => {
                cursor.unget(c);
                Err(ScanFail::Match)
            }
        }),
        ScanDirective::Conversion(_) => Ok(()),
    }
}

/// Runs one conversion, the whitespace before it included. `None`: it stores nothing (`*`, `%%`).
///
/// Errors: the input does not match, or ended; what was consumed until then is gone.
pub fn scan_conversion(
    conversion: &ScanConversion,
    model: DataModel,
    cursor: &mut Cursor,
) -> Result<Option<ScanValue>, ScanFail> {
    if conversion.skips_whitespace() {
        cursor.skip_whitespace();
    }
    let value = match conversion.specifier {
        'n' => ScanValue::Consumed((cursor.position - cursor.origin) as u64),
        '%' => {
            scan_plain(&ScanDirective::Literal(vec![b'%']), cursor)?;
            return Ok(None);
        }
        'c' => ScanValue::Chars(bytes(cursor, Some(conversion.width.unwrap_or(1)), |_| true)?),
        's' => ScanValue::String(bytes(cursor, conversion.width, |b| !is_space(b))?),
        '[' => {
            let member = |b| conversion.set.is_some_and(|s| s.contains(b));
            let text = bytes(cursor, conversion.width, member)?;
            if text.is_empty() {
                return Err(ScanFail::Match);
            }
            ScanValue::String(text)
        }
        c if is_float_specifier(c) => {
            let text = Field::new(cursor, conversion.width).float()?;
            match conversion.length {
                super::Length::None => ScanValue::Float(parsed(number::strtof(&text))?),
                super::Length::BigL => ScanValue::Extended(parsed(number::strtold(&text))?),
                _ => ScanValue::Double(parsed(number::strtod(&text))?),
            }
        }
        c => integer(conversion, c, model, cursor)?,
    };
    Ok(Some(value).filter(|_| !conversion.suppress))
}

fn parsed<T>(p: number::Parsed<T>) -> Result<T, ScanFail> {
    if p.consumed == 0 { Err(ScanFail::Match) } else { Ok(p.value) }
}

fn bytes(cursor: &mut Cursor, width: Option<u32>, accept: impl Fn(u8) -> bool) -> Result<Vec<u8>, ScanFail> {
    let mut out = Vec::new();
    let mut c = cursor.next();
    if c.is_none() {
        return Err(ScanFail::End);
    }
    while let Some(b) = c {
        if !accept(b) {
            cursor.unget(c);
            break;
        }
        out.push(b);
        if width.is_some_and(|w| out.len() >= w as usize) {
            break;
        }
        c = cursor.next();
    }
    Ok(out)
}

fn integer(
    conversion: &ScanConversion,
    specifier: char,
    model: DataModel,
    cursor: &mut Cursor,
) -> Result<ScanValue, ScanFail> {
    let (base, signed) = match specifier {
        'd' => (10, true),
        'i' => (0, true),
        'u' => (10, false),
        'o' => (8, false),
        _ => (16, false),
    };
    let pointer = specifier == 'p';
    let (text, base) = Field::new(cursor, conversion.width).integer(base, pointer)?;
    let bits = if pointer { model.pointer_bits() } else { conversion.length.int_bits(model) };
    // Narrow targets get the low bits of a `long`, saturated as `strtol` does.
    let read = bits.max(model.pointer_bits());
    let wide = if signed {
        parsed(number::strtol(&text, base, read))? as u64
    } else {
        parsed(number::strtoul(&text, base, read))?
    };
    let value = wide & (u64::MAX >> (64 - u32::from(bits)));
    Ok(if pointer { ScanValue::Pointer(value) } else { ScanValue::Integer(value) })
}

/// The bytes of one number, collected under a width. `c` is the byte that was read last.
struct Field<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    /// Bytes that may still be taken; `None`: any number.
    width: Option<u32>,
    c: Option<u8>,
    text: Vec<u8>,
}

impl<'c, 'a> Field<'c, 'a> {
    fn new(cursor: &'c mut Cursor<'a>, width: Option<u32>) -> Field<'c, 'a> {
        Field { cursor, width, c: None, text: Vec::new() }
    }

    fn read(&mut self) {
        self.c = self.cursor.next();
    }

    fn spend(&mut self) {
        self.width = self.width.map(|w| w.saturating_sub(1));
    }

    fn full(&self) -> bool {
        self.width == Some(0)
    }

    fn take(&mut self) {
        self.text.extend(self.c);
    }

    fn is(&self, lower: u8) -> bool {
        self.c.is_some_and(|c| c.eq_ignore_ascii_case(&lower))
    }

    /// Reads the byte after a taken one; a match failure when the width or the input is used up.
    fn read_within(&mut self) -> Result<(), ScanFail> {
        if self.full() {
            return Err(ScanFail::Match);
        }
        self.read();
        self.spend();
        if self.c.is_none() { Err(ScanFail::Match) } else { Ok(()) }
    }

    /// Collects an integer; returns the text for `strtol` and the base that its prefix chose.
    fn integer(mut self, base: u32, pointer: bool) -> Result<(Vec<u8>, u32), ScanFail> {
        let mut base = base;
        self.read();
        if self.c.is_none() {
            return Err(ScanFail::End);
        }
        if matches!(self.c, Some(b'-' | b'+')) {
            self.take();
            self.spend();
            self.read();
        }
        if !self.full() && self.c == Some(b'0') {
            self.spend();
            self.take();
            self.read();
            if !self.full() && self.is(b'x') && (base == 0 || base == 16) {
                base = 16;
                self.spend();
                self.read();
            } else if base == 0 {
                base = 8;
            }
        }
        if base == 0 {
            base = 10;
        }
        while !self.full() && self.c.is_some_and(|c| char::from(c).is_digit(base)) {
            self.take();
            self.spend();
            self.read();
        }
        let nothing = matches!(self.text.as_slice(), [] | [b'+' | b'-']);
        if nothing && pointer && self.text.is_empty() && self.nil() {
            return Ok((vec![b'0'], base));
        }
        self.cursor.unget(self.c);
        if nothing { Err(ScanFail::Match) } else { Ok((self.text, base)) }
    }

    /// Reads `(nil)`, the null pointer, as `%p` writes it.
    fn nil(&mut self) -> bool {
        self.width.is_none_or(|w| w >= 5)
            && self.c == Some(b'(')
            && b"nil)".iter().all(|&b| {
                self.read();
                self.is(b)
            })
    }

    /// Collects a float; the text is for `strtod`.
    fn float(mut self) -> Result<Vec<u8>, ScanFail> {
        self.read();
        self.spend();
        if self.c.is_none() {
            return Err(ScanFail::End);
        }
        if matches!(self.c, Some(b'-' | b'+')) {
            self.take();
            self.read_within()?;
        }
        if self.is(b'n') {
            return self.nan();
        }
        if self.is(b'i') {
            return self.infinity();
        }
        self.digits()
    }

    /// Takes the current byte, then those of `word`, each of which must be there.
    fn word(&mut self, word: &[u8]) -> Result<(), ScanFail> {
        self.take();
        for &b in word {
            self.read_within()?;
            if !self.is(b) {
                return Err(ScanFail::Match);
            }
            self.take();
        }
        Ok(())
    }

    fn nan(mut self) -> Result<Vec<u8>, ScanFail> {
        self.word(b"an")?;
        if !self.full() && self.cursor.bytes.get(self.cursor.position) == Some(&b'(') {
            self.cursor.version_dependent = true;
        }
        Ok(self.text)
    }

    fn infinity(mut self) -> Result<Vec<u8>, ScanFail> {
        self.word(b"nf")?;
        if !self.full() {
            self.read();
            if self.is(b'i') {
                self.spend();
                self.word(b"nity")?;
            } else {
                self.cursor.unget(self.c);
            }
        }
        Ok(self.text)
    }

    fn digits(mut self) -> Result<Vec<u8>, ScanFail> {
        let (mut digit, mut point, mut exponent, mut hexadecimal) = (false, false, false, false);
        let signed = !self.text.is_empty();
        if !self.full() && self.c == Some(b'0') {
            self.take();
            self.read();
            self.spend();
            let x = self.is(b'x');
            self.cursor.version_dependent |= x && self.full();
            if x && !self.full() {
                hexadecimal = true;
                self.take();
                self.read();
                self.spend();
            } else {
                digit = true;
            }
        }
        let letter = if hexadecimal { b'p' } else { b'e' };
        loop {
            match self.c {
                Some(b'0'..=b'9') => digit = true,
                Some(c) if hexadecimal && !exponent && c.is_ascii_hexdigit() => digit = true,
                Some(b'-' | b'+') if exponent && self.ends_with(letter) => {}
                Some(c) if digit && !exponent && c.eq_ignore_ascii_case(&letter) => {
                    exponent = true;
                    point = true;
                }
                Some(b'.') if !point => point = true,
                c => {
                    self.cursor.unget(c);
                    break;
                }
            }
            self.take();
            if self.full() {
                break;
            }
            self.read();
            if self.c.is_none() {
                break;
            }
            self.spend();
        }
        let prefix = usize::from(signed) + if hexadecimal { 2 } else { 0 };
        self.cursor.version_dependent |= exponent && !self.text.last().is_some_and(u8::is_ascii_digit);
        if self.text.len() == prefix { Err(ScanFail::Match) } else { Ok(self.text) }
    }

    fn ends_with(&self, letter: u8) -> bool {
        self.text.last().is_some_and(|b| b.eq_ignore_ascii_case(&letter))
    }
}

/// What one call of `scanf` did.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanRun {
    /// Values to store, in the order of the arguments, with the type of each object.
    pub stores: Vec<(ArgType, ScanValue)>,
    /// Return value: assignments, or -1 (`EOF`).
    pub result: i32,
    /// Why it stopped early, if it did.
    pub fail: Option<ScanFail>,
}

/// Runs a whole format, from the cursor's position.
pub fn scan(directives: &[ScanDirective], model: DataModel, cursor: &mut Cursor) -> ScanRun {
    cursor.origin = cursor.position;
    let mut run = ScanRun { stores: Vec::new(), result: 0, fail: None };
    for directive in directives {
        let outcome = match directive {
            ScanDirective::Conversion(c) => {
                scan_conversion(c, model, cursor).map(|value| c.target().zip(value))
            }
            plain => scan_plain(plain, cursor).map(|()| None),
        };
        match outcome {
            Ok(Some((target, value))) => {
                run.result += i32::from(!matches!(value, ScanValue::Consumed(_)));
                run.stores.push((target, value));
            }
            Ok(None) => {}
            Err(fail) => {
                if fail == ScanFail::End && run.result == 0 {
                    run.result = -1;
                }
                run.fail = Some(fail);
                break;
            }
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::super::spec::parse_scanf;
    use super::*;

    /// Runs a format on a text and checks `result: values | rest`.
    fn check(format: &str, text: &str, expected: &str) {
        let directives = parse_scanf(format.as_bytes()).unwrap_or_default();
        let mut cursor = Cursor::new(text.as_bytes());
        let run = scan(&directives, DataModel::Lp64, &mut cursor);
        let values: Vec<String> = run.stores.iter().map(|(_, v)| show(v)).collect();
        let rest = text.get(cursor.position()..).unwrap_or("?");
        assert_eq!(
            format!("{}: {} | {rest}", run.result, values.join(" ")),
            expected,
            "{format:?} on {text:?}"
        );
    }

    fn show(value: &ScanValue) -> String {
        match value {
            ScanValue::Integer(v) | ScanValue::Pointer(v) | ScanValue::Consumed(v) => v.to_string(),
            ScanValue::Float(v) => format!("{v:?}f"),
            ScanValue::Double(v) => format!("{v:?}"),
            ScanValue::Extended(v) => v.to_string(),
            ScanValue::String(b) | ScanValue::Chars(b) => String::from_utf8_lossy(b).into_owned(),
        }
    }

    #[test]
    fn integers_consume_what_they_match() {
        check("%d%d", "12 -5 7", "2: 12 4294967291 |  7");
        check("%d", "x", "0:  | x");
        check("%d", "-x", "0:  | x");
        check("%d", "  ", "-1:  | ");
        check("%2d%d", "123", "2: 12 3 | ");
        check("%i %i %i", "010 0x1F 9", "3: 8 31 9 | ");
        check("%x", "0xg", "1: 0 | g");
        check("%o", "78", "1: 7 | 8");
        check("%d", "99999999999", "1: 1215752191 | ");
        check("%d", "99999999999999999999", "1: 4294967295 | ");
        check("%hhd", "300", "1: 44 | ");
        check("%*d%d", "1 2", "1: 2 | ");
        check("%*d%d", "1", "-1:  | ");
        check("%d%n", "12x", "1: 12 2 | x");
        check("%p%p", "0x1f (nil)", "2: 31 0 | ");
    }

    #[test]
    fn floats_lose_partial_matches() {
        check("%lf", "1.5e3x", "1: 1500.0 | x");
        check("%f", "inx", "0:  | ");
        check("%f", "infx", "1: inff | x");
        check("%f", "-infinity", "1: -inff | ");
        check("%f", "0x1.8p1 ", "1: 3.0f |  ");
        check("%f", "0xg", "0:  | g");
        check("%f", ".x", "0:  | x");
        check("%f", "-", "0:  | ");
        check("%3f", "1.234", "1: 1.2f | 34");
        check("%f", "1.00000005960464477539062500000000001", "1: 1.0000001f | ");
    }

    #[test]
    fn corners_of_some_releases_are_flagged() {
        let flagged = |text: &str| {
            let directives = parse_scanf(b"%f").unwrap_or_default();
            let mut cursor = Cursor::new(text.as_bytes());
            scan(&directives, DataModel::Lp64, &mut cursor);
            cursor.version_dependent
        };
        assert!(flagged("1e") && flagged("1e+x") && flagged("nan(1)"));
        assert!(!flagged("1e5") && !flagged("nan") && !flagged("0x1p3"));
    }

    #[test]
    fn characters_strings_and_literals() {
        check("%c%c", "a b", "2: a   | b");
        check(" %c", "\n a", "1: a | ");
        check("%3c", "ab", "1: ab | ");
        check("%s %3s", "  abc defg", "2: abc def | g");
        check("%[a-c]%[^\n]", "abcd e\n", "2: abc d e | \n");
        check("%[x]", "abc", "0:  | abc");
        check("a %d", "a5", "1: 5 | ");
        check("a,%d", "a;5", "0:  | ;5");
        check("%d%%%d", "5 %6", "2: 5 6 | ");
        check("%d, %d", "5", "1: 5 | ");
    }
}
