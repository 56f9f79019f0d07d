//! What values a variable has, and what a text says of them.
//!
//! A `boolean` is 0 or 1, a `hashcode` null or not, an `int` what the variable's type in C holds. Other
//! values are not looked at.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats": `rep-type`, data trace
//! records. ISO/IEC 9899:2024, 6.2.5 and 7.22.1: the types of C; their widths are those of 64-bit Linux.

use crate::csv::integer;
use crate::table::Kind;

/// What a single value looks like in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `boolean`.
    Boolean,
    /// `int`, of any width.
    Integer,
    /// `hashcode`: an address.
    Hashcode,
    /// `double`.
    Double,
    /// `java.lang.String`.
    Text,
}

const ELEMENTS: [(Element, &str); 5] = [
    (Element::Boolean, "boolean"),
    (Element::Integer, "int"),
    (Element::Hashcode, "hashcode"),
    (Element::Double, "double"),
    (Element::Text, "java.lang.String"),
];

/// What the values of a variable look like in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Representation {
    /// Each value.
    pub element: Element,
    /// Whether there are many at a time.
    pub is_array: bool,
}

impl Representation {
    pub(super) fn parse(text: &str) -> Option<Representation> {
        let single = text.strip_suffix("[]").or_else(|| text.strip_suffix("[..]"));
        let name = single.unwrap_or(text).trim_end();
        let (element, _) = ELEMENTS.into_iter().find(|(_, n)| *n == name)?;
        Some(Representation { element, is_array: single.is_some() })
    }

    pub(super) fn text(self) -> String {
        let name = ELEMENTS.into_iter().find(|(e, _)| *e == self.element).map_or("", |(_, name)| name);
        format!("{name}{}", if self.is_array { "[]" } else { "" })
    }
}

/// What values an integer of a type of C has. Of a type that is only a name, an enumeration's for one, all
/// that a `long` has.
pub(super) fn kind_of(declared: &str) -> Kind {
    let words = declared.split_whitespace().filter(|w| !matches!(*w, "const" | "volatile"));
    let (mut signed, mut bits, mut longs) = (true, None, 0);
    for word in words {
        match word {
            "bool" | "_Bool" | "boolean" => return Kind::Truth,
            "unsigned" => signed = false,
            "signed" => {}
            "int" => bits = bits.or(Some(32)),
            "char" | "byte" => bits = Some(8),
            "short" => bits = Some(16),
            "long" => longs += 1,
            "size_t" | "uintptr_t" => (bits, signed) = (Some(64), false),
            _ => {
                let (is_unsigned, n) = width(word);
                signed &= !is_unsigned;
                bits = Some(n.unwrap_or(64));
            }
        }
    }
    let bits = if longs > 0 { 64 } else { bits.unwrap_or(32) };
    Kind::Integer { bits, signed }
}

/// The width that a word tells, and whether it says `unsigned`: `_BitInt(24)`, `uint8_t`.
fn width(word: &str) -> (bool, Option<u16>) {
    if let Some(bits) = word.strip_prefix("_BitInt(").and_then(|w| w.strip_suffix(')')) {
        return (false, bits.parse().ok().filter(|n| *n > 0));
    }
    let (is_unsigned, rest) = match word.strip_prefix("uint") {
        Some(rest) => (true, Some(rest)),
        None => (false, word.strip_prefix("int").or_else(|| word.strip_prefix("__int"))),
    };
    let digits = rest.map(|rest| rest.strip_suffix("_t").unwrap_or(rest));
    let bits = digits.and_then(|d| d.parse().ok()).filter(|n| matches!(n, 8 | 16 | 32 | 64 | 128));
    (is_unsigned && bits.is_some(), bits)
}

/// The type that [`kind_of`] reads so.
pub(super) fn type_name(bits: u16, signed: bool) -> String {
    let name = match bits {
        8 if signed => return "signed char".to_owned(),
        8 => "char",
        16 => "short",
        32 => "int",
        64 => "long",
        128 => "__int128",
        _ => return format!("{}_BitInt({bits})", if signed { "" } else { "unsigned " }),
    };
    format!("{}{name}", if signed { "" } else { "unsigned " })
}

/// Whether a variable of a kind can hold a number; an address has 64 bits, and no sign or one.
pub(super) fn is_held(kind: Kind, n: i128) -> bool {
    match kind {
        Kind::Truth | Kind::Condition => n == 0 || n == 1,
        Kind::Pointer => i64::try_from(n).is_ok() || u64::try_from(n).is_ok(),
        Kind::Integer { bits, signed } | Kind::Least { bits, signed } | Kind::Most { bits, signed } => {
            match (bits, signed) {
                (0, _) => false,
                (128.., signed) => signed || n >= 0,
                (bits, true) => matches!(n >> (bits - 1), 0 | -1),
                (bits, false) => n >> bits == 0,
            }
        }
    }
}

/// The value that a text says; `None` if the kind has none that is written so. An address differs from run to
/// run: only whether it is null is told.
pub(super) fn value(kind: Kind, text: &str) -> Option<i128> {
    match (kind, text) {
        (Kind::Truth, "true") => Some(1),
        (Kind::Truth, "false") | (Kind::Pointer, "null") => Some(0),
        _ => {
            let n = integer(text).filter(|n| is_held(kind, *n))?;
            Some(if kind == Kind::Pointer { i128::from(n != 0) } else { n })
        }
    }
}

/// The text that [`value`] reads so.
pub(super) fn value_text(kind: Kind, n: i128) -> String {
    if kind == Kind::Pointer && n == 0 { "null".to_owned() } else { n.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Kind = Kind::Integer { bits: 32, signed: true };

    fn integer_kind(bits: u16, signed: bool) -> Kind {
        Kind::Integer { bits, signed }
    }

    #[test]
    fn types_of_c_have_a_width() {
        let kinds = [
            ("int", 32, true),
            ("unsigned int", 32, false),
            ("unsigned", 32, false),
            ("char", 8, true),
            ("signed char", 8, true),
            ("unsigned char", 8, false),
            ("short", 16, true),
            ("unsigned short int", 16, false),
            ("long", 64, true),
            ("long unsigned int", 64, false),
            ("long long int", 64, true),
            ("const volatile int", 32, true),
            ("uint8_t", 8, false),
            ("int64_t", 64, true),
            ("size_t", 64, false),
            ("__int128", 128, true),
            ("unsigned __int128", 128, false),
            ("unsigned _BitInt(24)", 24, false),
        ];
        for (text, bits, signed) in kinds {
            assert_eq!(kind_of(text), integer_kind(bits, signed), "{text}");
        }
        assert_eq!(kind_of("_Bool"), Kind::Truth);
        assert_eq!(kind_of("bool"), Kind::Truth);
    }

    #[test]
    fn a_type_that_is_a_name_has_the_width_of_long() {
        for text in ["enum color", "integer_t", "int7_t", "uint_fast_t", "_BitInt(0)", "T"] {
            assert_eq!(kind_of(text), integer_kind(64, true), "{text}");
        }
    }

    #[test]
    fn a_type_is_read_as_it_is_written() {
        for bits in [1, 8, 16, 24, 32, 64, 127, 128, 256] {
            for signed in [true, false] {
                assert_eq!(kind_of(&type_name(bits, signed)), integer_kind(bits, signed));
            }
        }
    }

    #[test]
    fn representations_are_read_as_they_are_written() {
        for (element, name) in ELEMENTS {
            for is_array in [true, false] {
                let representation = Representation { element, is_array };
                assert_eq!(Representation::parse(&representation.text()), Some(representation));
            }
            assert!(Representation::parse(&format!("{name}[..]")).is_some_and(|r| r.is_array));
        }
        assert_eq!(Representation::parse("float"), None);
        assert_eq!(Representation::parse("int[][]"), None);
        assert_eq!(Representation::parse(""), None);
    }

    #[test]
    fn an_integer_has_the_bounds_of_its_type() {
        let check = |bits, signed, least: i128, most: i128| {
            let kind = integer_kind(bits, signed);
            assert!(is_held(kind, least) && is_held(kind, most), "{bits} {signed}");
            assert!(!least.checked_sub(1).is_some_and(|n| is_held(kind, n)), "{bits} {signed}");
            assert!(!most.checked_add(1).is_some_and(|n| is_held(kind, n)), "{bits} {signed}");
        };
        check(1, true, -1, 0);
        check(1, false, 0, 1);
        check(8, true, -128, 127);
        check(8, false, 0, 255);
        check(64, true, i64::MIN.into(), i64::MAX.into());
        check(64, false, 0, u64::MAX.into());
        check(127, false, 0, i128::MAX);
        check(128, true, i128::MIN, i128::MAX);
        check(128, false, 0, i128::MAX);
        assert!(!is_held(integer_kind(0, true), 0));
    }

    #[test]
    fn integers_are_decimal_or_hexadecimal() {
        assert_eq!(value(INT, "-12"), Some(-12));
        assert_eq!(value(INT, "0x7f"), Some(127));
        for text in ["", "true", "null", "1.0", "2147483648", "0xffffffff"] {
            assert_eq!(value(INT, text), None, "{text}");
        }
    }

    #[test]
    fn booleans_are_words_or_numbers() {
        for (text, n) in [("true", 1), ("false", 0), ("1", 1), ("0", 0)] {
            assert_eq!(value(Kind::Truth, text), Some(n));
        }
        for text in ["2", "-1", "TRUE", "null", ""] {
            assert_eq!(value(Kind::Truth, text), None, "{text}");
        }
    }

    #[test]
    fn an_address_is_null_or_not() {
        for (text, n) in
            [("null", 0), ("0", 0), ("0x0", 0), ("0xffffffffffffffff", 1), ("134518928", 1), ("-8", 1)]
        {
            assert_eq!(value(Kind::Pointer, text), Some(n));
        }
        for text in ["0x10000000000000000", "NULL", "true", "p", ""] {
            assert_eq!(value(Kind::Pointer, text), None, "{text}");
        }
    }
}
