//! Values of witnesses as C.

use crate::report::{Storage, Value, Witness};

/// An integer constant, of a type that holds it.
pub fn c_integer(text: &str) -> String {
    match (text.parse::<i64>(), text.parse::<u64>()) {
        (Ok(i64::MIN), _) => "(-9223372036854775807LL - 1)".into(),
        (Ok(k), _) if i32::try_from(k).is_err() || k == i64::from(i32::MIN) => format!("{k}LL"),
        (Ok(k), _) => k.to_string(),
        (_, Ok(k)) => format!("{k}ULL"),
        // A character, or the name of an enumerator.
        _ => text.to_owned(),
    }
}

pub fn c_real(text: &str) -> String {
    match text {
        "NAN" => "__builtin_nan(\"\")".into(),
        "-NAN" => "-__builtin_nan(\"\")".into(),
        "INFINITY" => "__builtin_inf()".into(),
        "-INFINITY" => "-__builtin_inf()".into(),
        _ => text.to_owned(),
    }
}

/// A `long double` as a C expression.
pub fn c_extended(text: &str) -> String {
    if text.ends_with(|c: char| c.is_ascii_hexdigit()) { format!("{text}L") } else { c_real(text) }
}

/// The variable that leads to an object of the input.
pub fn object_name(id: &str) -> String {
    format!("invdiff_{id}")
}

/// A pointer of the input.
pub fn pointer(value: &Value, witness: &Witness) -> String {
    match value {
        Value::Text(text) if text == "NULL" => "0".into(),
        Value::Text(text) => format!("(void *)({text})"),
        Value::Pointer { object, offset } => {
            let is_global = witness.memory.iter().any(|m| m.id == *object && m.storage == Storage::Global);
            let start = if is_global { format!("(char *)&{object}") } else { object_name(object) };
            format!("(void *)({start} + {offset})")
        }
    }
}
