//! Format strings taken apart.
//!
//! A `printf` format is a sequence of literal bytes and conversions; a `scanf` format one of
//! whitespace, literal bytes and conversions. Parsing needs no argument, so a format that is a
//! string literal is parsed once for all runs. Combinations that C leaves undefined (`%hs`,
//! `%zf`, an unknown letter, `%` at the end) are errors; `%lf`, which C allows, is `%f`.

use crate::ir::{DataModel, Sort};
use std::fmt;

/// Flag characters of a `printf` conversion. `'` is accepted: in the C locale it has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flags {
    /// `-`: pad on the right.
    pub left: bool,
    /// `+`: a sign always.
    pub plus: bool,
    /// ` `: a space where `+` would put its sign.
    pub space: bool,
    /// `#`: alternative form.
    pub alternative: bool,
    /// `0`: pad with zeros.
    pub zero: bool,
}

/// Field width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Count {
    Fixed(u32),
    /// `*`: an `int` argument that comes before the value's.
    Argument,
}

/// Length modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Length {
    None,
    Hh,
    H,
    L,
    Ll,
    J,
    Z,
    T,
    /// `L`, of floats.
    BigL,
}

impl Length {
    /// Returns the width in bits of an integer of this length. `hh` and `h` give that of the value
    /// after its conversion to `char` or `short`.
    pub fn int_bits(self, model: DataModel) -> u16 {
        match self {
            Length::None => 32,
            Length::Hh => 8,
            Length::H => 16,
            Length::L | Length::Z | Length::T => model.pointer_bits(),
            Length::Ll | Length::J | Length::BigL => 64,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Length::None => "",
            Length::Hh => "hh",
            Length::H => "h",
            Length::L => "l",
            Length::Ll => "ll",
            Length::J => "j",
            Length::Z => "z",
            Length::T => "t",
            Length::BigL => "L",
        }
    }
}

/// C type that a conversion expects of its argument. For `scanf`, the type of the object that the
/// argument points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArgType {
    /// Integer of `length` before promotion: `int` for `hh` and `h` arguments of `printf`.
    Int {
        length: Length,
        signed: bool,
    },
    /// `scanf` only.
    Float,
    Double,
    LongDouble,
    /// `char *`: bytes up to a NUL, or fewer under a precision.
    String,
    /// `char` objects, as many as the width says; `scanf` only.
    Chars,
    /// `void *`.
    Pointer,
    /// Pointer to an integer of this length (`%n`); `printf` only.
    CountPointer(Length),
}

impl ArgType {
    /// Returns the sort of a `printf` argument after the default promotions.
    pub fn promoted_sort(self, model: DataModel) -> Sort {
        match self {
            ArgType::Int { length: Length::Hh | Length::H, .. } => Sort::Bv(32),
            ArgType::Int { length, .. } => Sort::Bv(length.int_bits(model)),
            ArgType::Float | ArgType::Double => Sort::F64,
            ArgType::LongDouble => Sort::F80,
            _ => Sort::Bv(model.pointer_bits()),
        }
    }

    /// Returns the sort of the object that `scanf` stores to, `None` for strings and characters.
    pub fn object_sort(self, model: DataModel) -> Option<Sort> {
        match self {
            ArgType::Int { length, .. } | ArgType::CountPointer(length) => {
                Some(Sort::Bv(length.int_bits(model)))
            }
            ArgType::Float => Some(Sort::F32),
            ArgType::Double => Some(Sort::F64),
            ArgType::LongDouble => Some(Sort::F80),
            ArgType::Pointer => Some(Sort::Bv(model.pointer_bits())),
            ArgType::String | ArgType::Chars => None,
        }
    }

    /// Returns whether an integer is read as two's complement.
    pub fn is_signed(self) -> bool {
        matches!(self, ArgType::Int { signed: true, .. } | ArgType::CountPointer(_))
    }
}

/// Conversion specification of `printf`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Conversion {
    pub flags: Flags,
    pub width: Option<Count>,
    pub precision: Option<Count>,
    pub length: Length,
    /// One of `diuxXocspnfFeEgGaA`.
    pub specifier: char,
    /// As written, `%` and all.
    pub source: String,
}

impl Conversion {
    /// Returns the type of the value's argument (the `*` arguments before it are `int`).
    pub fn arg_type(&self) -> ArgType {
        match self.specifier {
            'd' | 'i' => ArgType::Int { length: self.length, signed: true },
            'c' => ArgType::Int { length: Length::None, signed: true },
            's' => ArgType::String,
            'p' => ArgType::Pointer,
            'n' => ArgType::CountPointer(self.length),
            c if is_float_specifier(c) && self.length == Length::BigL => ArgType::LongDouble,
            c if is_float_specifier(c) => ArgType::Double,
            _ => ArgType::Int { length: self.length, signed: false },
        }
    }

    /// Returns the number of arguments that the conversion takes, `*` included.
    pub fn arg_count(&self) -> usize {
        let star = |c: Option<Count>| usize::from(c == Some(Count::Argument));
        1 + star(self.width) + star(self.precision)
    }

    /// Replaces `*` by the arguments' values, as C says: a negative width is the flag `-` and its
    /// absolute value, a negative precision is none.
    pub fn resolve(&self, width: Option<i32>, precision: Option<i32>) -> Conversion {
        let mut out = self.clone();
        if let (Some(Count::Argument), Some(w)) = (self.width, width) {
            out.flags.left |= w < 0;
            out.width = Some(Count::Fixed(w.unsigned_abs()));
        }
        if let (Some(Count::Argument), Some(p)) = (self.precision, precision) {
            out.precision = u32::try_from(p).ok().map(Count::Fixed);
        }
        out
    }

    /// Returns a spelling that is the same for conversions that render every value the same:
    /// `%i` is `%d`, `%lf` is `%f`, `%0.3f` is `%.3f`, `%.6f` is `%f`.
    pub fn canonical(&self) -> String {
        use fmt::Write;
        let c = if self.specifier == 'i' { 'd' } else { self.specifier };
        let float = is_float_specifier(c);
        let integer = "duxXo".contains(c);
        let width = self.width.filter(|w| *w != Count::Fixed(0));
        let precision = self.precision.filter(|p| !(float && !"aA".contains(c) && *p == Count::Fixed(6)));
        let signed = float || c == 'd';
        let f = self.flags;
        let zero_applies = width.is_some() && !f.left && (float || integer && precision.is_none());
        let mut out = String::from("%");
        for (on, letter) in [
            (f.left && width.is_some(), '-'),
            (f.plus && (signed || c == 'p'), '+'),
            (f.space && !f.plus && (signed || c == 'p'), ' '),
            (f.alternative && (float || "oxX".contains(c)), '#'),
            (f.zero && (zero_applies || c == 'p' && width.is_some()), '0'),
        ] {
            if on {
                out.push(letter);
            }
        }
        let mut count = |count: Option<Count>, prefix: &str| match count {
            Some(Count::Fixed(n)) => write!(out, "{prefix}{n}").is_ok(),
            Some(Count::Argument) => write!(out, "{prefix}*").is_ok(),
            None => true,
        };
        count(width, "");
        count(precision, ".");
        out.push_str(if float && self.length != Length::BigL { "" } else { self.length.text() });
        out.push(c);
        out
    }
}

/// Part of a `printf` format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// Bytes written as they are; `%%` is part of one. Neighbours are joined.
    Literal(Vec<u8>),
    Conversion(Conversion),
}

/// Characters of a `%[...]` conversion, complement already applied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScanSet([u128; 2]);

impl ScanSet {
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 7)] >> (byte & 127) & 1 == 1
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 7)] |= 1 << (byte & 127);
    }
}

impl fmt::Debug for ScanSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<u8> = (0..=255).filter(|&b| self.contains(b)).collect();
        write!(f, "ScanSet({})", members.escape_ascii())
    }
}

/// Conversion specification of `scanf`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScanConversion {
    /// `*`: reads, stores nothing and does not count.
    pub suppress: bool,
    /// Most bytes taken; never 0 (glibc reads a width of 0 as none).
    pub width: Option<u32>,
    pub length: Length,
    /// One of `diuxXopcsn[%fFeEgGaA`.
    pub specifier: char,
    /// Of `[`.
    pub set: Option<ScanSet>,
    /// As written, `%` and all.
    pub source: String,
}

impl ScanConversion {
    /// Returns the type of the object that the argument points to, `None` if nothing is stored.
    pub fn target(&self) -> Option<ArgType> {
        if self.suppress {
            return None;
        }
        match self.specifier {
            '%' => None,
            'd' | 'i' => Some(ArgType::Int { length: self.length, signed: true }),
            'n' => Some(ArgType::CountPointer(self.length)),
            'c' => Some(ArgType::Chars),
            's' | '[' => Some(ArgType::String),
            'p' => Some(ArgType::Pointer),
            c if is_float_specifier(c) => Some(match self.length {
                Length::None => ArgType::Float,
                Length::BigL => ArgType::LongDouble,
                _ => ArgType::Double,
            }),
            _ => Some(ArgType::Int { length: self.length, signed: false }),
        }
    }

    /// Returns whether whitespace is skipped before the conversion reads.
    pub fn skips_whitespace(&self) -> bool {
        !matches!(self.specifier, 'c' | '[' | 'n')
    }

    /// Returns a spelling that is the same for conversions that read every input the same.
    pub fn canonical(&self) -> String {
        let c = match self.specifier {
            'X' => 'x',
            c if is_float_specifier(c) => 'f',
            c => c,
        };
        if c == '[' {
            return self.source.clone();
        }
        let star = if self.suppress { "*" } else { "" };
        let width = self.width.map(|w| w.to_string()).unwrap_or_default();
        format!("%{star}{width}{}{c}", self.length.text())
    }
}

/// Part of a `scanf` format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScanDirective {
    /// Any run of whitespace, also none.
    Whitespace,
    /// Exactly these bytes.
    Literal(Vec<u8>),
    Conversion(ScanConversion),
}

/// What is wrong with a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormatProblem {
    /// C does not define it.
    Undefined,
    /// Defined by C, POSIX or glibc, but not modelled here.
    Unsupported,
    /// Width or precision above [`MAX_COUNT`].
    TooLong,
}

/// A format, or a value for it, that cannot be handled.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{} conversion `{text}` at byte {offset} of the format", match problem {
    FormatProblem::Undefined => "Undefined",
    FormatProblem::Unsupported => "Unsupported",
    FormatProblem::TooLong => "Overlong",
})]
pub struct FormatError {
    pub problem: FormatProblem,
    /// Byte offset of the `%` in the format; 0 when only a conversion is known.
    pub offset: usize,
    /// The conversion, up to the byte that is wrong, escaped.
    pub text: String,
}

impl FormatError {
    pub(super) fn new(problem: FormatProblem, source: &[u8]) -> FormatError {
        FormatError { problem, offset: 0, text: source.escape_ascii().to_string() }
    }
}

/// Largest width and precision; C's own limit is `INT_MAX`, which would take gigabytes.
pub const MAX_COUNT: u32 = 1 << 20;

pub(super) fn is_float_specifier(c: char) -> bool {
    "fFeEgGaA".contains(c)
}

/// Whitespace of the C locale.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Reader over a format.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the current `%`.
    start: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let hit = self.peek() == Some(byte);
        self.at += usize::from(hit);
        hit
    }

    fn source(&self) -> &[u8] {
        self.bytes.get(self.start..self.at).unwrap_or(&[])
    }

    fn error(&self, problem: FormatProblem) -> FormatError {
        FormatError { offset: self.start, ..FormatError::new(problem, self.source()) }
    }

    /// Reads decimal digits; `None` when there are none.
    fn number(&mut self) -> Result<Option<u32>, FormatError> {
        let mut value = None;
        while let Some(d @ b'0'..=b'9') = self.peek() {
            self.at += 1;
            let next = value.unwrap_or(0) * 10 + u32::from(d - b'0');
            if next > MAX_COUNT {
                return Err(self.error(FormatProblem::TooLong));
            }
            value = Some(next);
        }
        Ok(value)
    }

    fn length(&mut self) -> Length {
        let length = match self.peek() {
            Some(b'h') => Length::H,
            Some(b'l') => Length::L,
            Some(b'j') => Length::J,
            Some(b'z') => Length::Z,
            Some(b't') => Length::T,
            Some(b'L') => Length::BigL,
            _ => return Length::None,
        };
        self.at += 1;
        match length {
            Length::H if self.eat(b'h') => Length::Hh,
            Length::L if self.eat(b'l') => Length::Ll,
            other => other,
        }
    }

    /// Reads the conversion letter and checks that the length modifier goes with it.
    fn specifier(&mut self, length: Length) -> Result<char, FormatError> {
        let c = char::from(self.next().ok_or_else(|| self.error(FormatProblem::Undefined))?);
        let problem = match c {
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'n' if length != Length::BigL => return Ok(c),
            'p' if length == Length::None => return Ok(c),
            's' | 'c' | '[' => match length {
                Length::None => return Ok(c),
                Length::L => FormatProblem::Unsupported,
                _ => FormatProblem::Undefined,
            },
            _ if is_float_specifier(c) => match length {
                Length::None | Length::L | Length::BigL => return Ok(c),
                _ => FormatProblem::Undefined,
            },
            'C' | 'S' | 'm' | '$' | 'I' | 'q' | 'Z' => FormatProblem::Unsupported,
            _ => FormatProblem::Undefined,
        };
        Err(self.error(problem))
    }

    /// Returns the conversion's text; everything in it is ASCII by now, but for `%[`.
    fn source_text(&self) -> String {
        String::from_utf8_lossy(self.source()).into_owned()
    }
}

/// Parses a `printf` format (without its NUL).
///
/// Errors: the first conversion that is undefined, not supported, or too long.
pub fn parse_printf(format: &[u8]) -> Result<Vec<Piece>, FormatError> {
    let mut reader = Reader { bytes: format, at: 0, start: 0 };
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    while let Some(byte) = reader.next() {
        if byte != b'%' {
            literal.push(byte);
            continue;
        }
        reader.start = reader.at - 1;
        if reader.eat(b'%') {
            literal.push(b'%');
            continue;
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Conversion(printf_conversion(&mut reader)?));
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

fn printf_conversion(reader: &mut Reader) -> Result<Conversion, FormatError> {
    let mut flags = Flags::default();
    while let Some(byte) = reader.peek() {
        match byte {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternative = true,
            b'0' => flags.zero = true,
            b'\'' => {}
            _ => break,
        }
        reader.at += 1;
    }
    let width = if reader.eat(b'*') { Some(Count::Argument) } else { reader.number()?.map(Count::Fixed) };
    let precision = match reader.eat(b'.') {
        false => None,
        true if reader.eat(b'*') => Some(Count::Argument),
        true => Some(Count::Fixed(reader.number()?.unwrap_or(0))),
    };
    let length = reader.length();
    let specifier = reader.specifier(length)?;
    if specifier == '[' {
        return Err(reader.error(FormatProblem::Undefined));
    }
    Ok(Conversion { flags, width, precision, length, specifier, source: reader.source_text() })
}

/// Parses a `scanf` format (without its NUL).
///
/// Errors: the first conversion that is undefined, not supported, or too long.
pub fn parse_scanf(format: &[u8]) -> Result<Vec<ScanDirective>, FormatError> {
    let mut reader = Reader { bytes: format, at: 0, start: 0 };
    let mut directives = Vec::new();
    let mut literal = Vec::new();
    while let Some(byte) = reader.next() {
        if byte != b'%' && !is_space(byte) {
            literal.push(byte);
            continue;
        }
        if !literal.is_empty() {
            directives.push(ScanDirective::Literal(std::mem::take(&mut literal)));
        }
        if byte == b'%' {
            reader.start = reader.at - 1;
            directives.push(ScanDirective::Conversion(scanf_conversion(&mut reader)?));
        } else if directives.last() != Some(&ScanDirective::Whitespace) {
            directives.push(ScanDirective::Whitespace);
        }
    }
    if !literal.is_empty() {
        directives.push(ScanDirective::Literal(literal));
    }
    Ok(directives)
}

fn scanf_conversion(reader: &mut Reader) -> Result<ScanConversion, FormatError> {
    let plain = |reader: &Reader, specifier| ScanConversion {
        suppress: false,
        width: None,
        length: Length::None,
        specifier,
        set: None,
        source: reader.source_text(),
    };
    if reader.eat(b'%') {
        return Ok(plain(reader, '%'));
    }
    let suppress = reader.eat(b'*');
    let width = reader.number()?.filter(|&w| w > 0);
    let length = reader.length();
    let specifier = reader.specifier(length)?;
    let set = if specifier == '[' { Some(scan_set(reader)?) } else { None };
    Ok(ScanConversion { suppress, width, length, set, ..plain(reader, specifier) })
}

/// Reads the scan list after `[`. `a-z` is a range as everywhere but in the standard's letter;
/// a `-` at either end, or between bytes in falling order, stands for itself.
fn scan_set(reader: &mut Reader) -> Result<ScanSet, FormatError> {
    let complement = reader.eat(b'^');
    let mut set = ScanSet([0; 2]);
    if let Some(first @ (b']' | b'-')) = reader.peek() {
        set.insert(first);
        reader.at += 1;
    }
    loop {
        let before = reader.bytes.get(reader.at.wrapping_sub(1)).copied();
        match (reader.next(), reader.peek(), before) {
            (None, ..) => return Err(reader.error(FormatProblem::Undefined)),
            (Some(b']'), ..) => break,
            (Some(b'-'), Some(high), Some(low)) if high != b']' && low <= high => {
                (low..=high).for_each(|b| set.insert(b));
            }
            (Some(byte), ..) => set.insert(byte),
        }
    }
    if complement {
        set = ScanSet(set.0.map(|half| !half));
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printf(format: &str) -> String {
        match parse_printf(format.as_bytes()) {
            Ok(pieces) => pieces.iter().map(|p| format!("{}\n", show(p))).collect(),
            Err(e) => e.to_string(),
        }
    }

    fn show(piece: &Piece) -> String {
        match piece {
            Piece::Literal(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
            Piece::Conversion(c) => format!("{} {} {:?}", c.source, c.canonical(), c.arg_type()),
        }
    }

    #[test]
    fn printf_formats_come_apart() {
        assert_eq!(
            printf("a%%b%-05.3lld\n"),
            "\"a%b\"\n%-05.3lld %-5.3lld Int { length: Ll, signed: true }\n\"\\n\"\n"
        );
        assert_eq!(printf("%0.3f"), "%0.3f %.3f Double\n");
        assert_eq!(printf("%+.6lf"), "%+.6lf %+f Double\n");
        assert_eq!(printf("%*.*s"), "%*.*s %*.*s String\n");
        assert_eq!(printf("%+08.4x"), "%+08.4x %8.4x Int { length: None, signed: false }\n");
        assert_eq!(
            printf("%hhi%c%hn"),
            "%hhi %hhd Int { length: Hh, signed: true }\n%c %c Int { length: None, signed: true }\n%hn %hn CountPointer(H)\n"
        );
    }

    #[test]
    fn bad_formats_are_errors() {
        assert_eq!(printf("ab%"), "Undefined conversion `%` at byte 2 of the format");
        assert_eq!(printf("%hs"), "Undefined conversion `%hs` at byte 0 of the format");
        assert_eq!(printf("%1$d"), "Unsupported conversion `%1$` at byte 0 of the format");
        assert_eq!(printf("%Ld"), "Undefined conversion `%Ld` at byte 0 of the format");
        assert_eq!(printf("%9999999999d"), "Overlong conversion `%9999999` at byte 0 of the format");
        assert!(parse_scanf(b"%[abc").is_err());
        assert!(parse_scanf(b"%[]").is_err());
    }

    fn set(format: &str) -> String {
        match parse_scanf(format.as_bytes()).as_deref() {
            Ok([ScanDirective::Conversion(c)]) => format!("{:?}", c.set),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn scan_sets_have_ranges_and_complements() {
        assert_eq!(set("%[a-cx]"), "Some(ScanSet(abcx))");
        assert_eq!(set("%[]-]"), "Some(ScanSet(-]))");
        assert_eq!(set("%[c-a]"), "Some(ScanSet(-ac))");
        assert_eq!(set("%[a-]"), "Some(ScanSet(-a))");
        assert!(set("%[^\n]").contains("abc") && !set("%[^\n]").contains("\\n"));
    }

    #[test]
    fn scanf_formats_come_apart() {
        let directives = parse_scanf(b" %d ,%*3c%lf\t\n%%").unwrap_or_default();
        let shown: Vec<String> = directives
            .iter()
            .map(|d| match d {
                ScanDirective::Whitespace => "_".to_string(),
                ScanDirective::Literal(b) => String::from_utf8_lossy(b).into_owned(),
                ScanDirective::Conversion(c) => format!("{}:{:?}", c.canonical(), c.target()),
            })
            .collect();
        assert_eq!(
            shown.join(" "),
            "_ %d:Some(Int { length: None, signed: true }) _ , %*3c:None %lf:Some(Double) _ %%:None"
        );
    }

    #[test]
    fn star_arguments_resolve_as_c_says() {
        let Ok(pieces) = parse_printf(b"%*.*d") else { panic!("parses") };
        let [Piece::Conversion(c)] = pieces.as_slice() else { panic!("one piece") };
        assert_eq!(c.resolve(Some(-5), Some(-1)).canonical(), "%-5d");
        assert_eq!(c.resolve(Some(5), Some(2)).canonical(), "%5.2d");
        assert_eq!(c.arg_count(), 3);
    }
}
