//! Expressions as texts: C with as few parentheses as C needs, and those that compilers ask for.

use crate::ir::Const;
use crate::syntax::{Binary, Expression, Integer, Kind, TypeName, Unary};
use std::fmt;

/// How tightly parts bind that are no binary operators.
const CONDITIONAL: u8 = 2;
const UNARY: u8 = 13;
const POSTFIX: u8 = 14;
const PRIMARY: u8 = 15;

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Integer(i) => write!(out, "{i}"),
            Kind::Character(c) => write!(out, "{}", character(*c)),
            Kind::Float(c) => write!(out, "{}", float(*c)),
            Kind::Name(name) => out.write_str(name),
            Kind::Result => out.write_str("\\result"),
            Kind::Old(e) => write!(out, "\\old({e})"),
            Kind::At(e, label) => write!(out, "\\at({e}, {label})"),
            Kind::Input(k) => write!(out, "\\input({k})"),
            Kind::Unary(op, e) => {
                let operand = within(e, UNARY);
                // `--` and `&&` are other operators.
                match operand.starts_with(op.symbol())
                    && !matches!(op, Unary::Not | Unary::BitNot | Unary::Dereference)
                {
                    true => write!(out, "{}({operand})", op.symbol()),
                    false => write!(out, "{}{operand}", op.symbol()),
                }
            }
            Kind::Binary(op, a, b) => {
                let (left, right) = sides(*op, a, b);
                write!(out, "{left} {} {right}", op.symbol())
            }
            Kind::Conditional(c, a, b) => {
                let (c, b) = (within(c, CONDITIONAL + 1), within(b, CONDITIONAL));
                write!(out, "{c} ? {} : {b}", within(a, CONDITIONAL + 1))
            }
            Kind::Text(text) => write!(out, "\"{text}\""),
            Kind::ForAll(variable, e) => write!(out, "\\forall integer {variable}; {e}"),
            Kind::Call(name, arguments) => write!(out, "{name}({})", listed(arguments)),
            Kind::CallThrough(callee, arguments) => {
                write!(out, "{}({})", within(callee, POSTFIX), listed(arguments))
            }
            Kind::Index(base, index) => write!(out, "{}[{index}]", within(base, POSTFIX)),
            Kind::Member { base, name, arrow } => {
                let base = match base.kind {
                    // `1.x` begins with another number.
                    Kind::Integer(_) | Kind::Float(_) => format!("({base})"),
                    _ => within(base, POSTFIX),
                };
                write!(out, "{base}{}{name}", if *arrow { "->" } else { "." })
            }
            Kind::Cast(ty, e) => write!(out, "({ty}){}", within(e, UNARY)),
        }
    }
}

fn listed(arguments: &[Expression]) -> String {
    arguments.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Both sides of an operator, in parentheses where they are needed.
fn sides(op: Binary, a: &Expression, b: &Expression) -> (String, String) {
    let level = op.precedence();
    match op {
        // To the right, and without parentheses around what is said of all.
        Binary::Implies => (within(a, level + 1), within(b, level)),
        // `&&` inside `||` has parentheses, as compilers ask for, and so have shifts and bits among bits.
        Binary::Or => (mixed(a, op, Binary::BitOr.precedence()), mixed(b, op, Binary::BitOr.precedence())),
        Binary::BitOr | Binary::BitXor | Binary::BitAnd => {
            (mixed(a, op, Binary::Add.precedence()), mixed(b, op, Binary::Add.precedence()))
        }
        // Comparisons do not chain.
        _ if op.is_comparison() => (within(a, level + 1), within(b, level + 1)),
        _ => (within(a, level), within(b, level + 1)),
    }
}

/// An operand that stands as it is where it has the same operator, or binds tightly enough.
fn mixed(e: &Expression, op: Binary, least: u8) -> String {
    match &e.kind {
        Kind::Binary(own, ..) if *own == op => e.to_string(),
        _ => within(e, least),
    }
}

/// The expression, in parentheses if it binds less tightly.
fn within(e: &Expression, least: u8) -> String {
    if level(e) < least { format!("({e})") } else { e.to_string() }
}

fn level(e: &Expression) -> u8 {
    match &e.kind {
        Kind::Binary(op, ..) => op.precedence(),
        Kind::ForAll(..) => 0,
        Kind::Conditional(..) => CONDITIONAL,
        Kind::Unary(..) | Kind::Cast(..) => UNARY,
        Kind::Float(c) if float(*c).starts_with('-') => UNARY,
        Kind::Index(..) | Kind::Member { .. } | Kind::CallThrough(..) => POSTFIX,
        _ => PRIMARY,
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hexadecimal {
            true => write!(out, "{:#x}", self.value)?,
            false => write!(out, "{}", self.value)?,
        }
        out.write_str(if self.unsigned { "u" } else { "" })?;
        out.write_str(&"l".repeat(self.longs.into()))
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.base)?;
        let stars = "*".repeat(self.pointers as usize);
        if stars.is_empty() { Ok(()) } else { write!(out, " {stars}") }
    }
}

impl Unary {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Unary::Not => "!",
            Unary::Minus => "-",
            Unary::Plus => "+",
            Unary::BitNot => "~",
            Unary::Dereference => "*",
            Unary::AddressOf => "&",
        }
    }
}

fn character(c: i32) -> String {
    match u8::try_from(c) {
        Ok(0) => "'\\0'".into(),
        Ok(b'\n') => "'\\n'".into(),
        Ok(b'\t') => "'\\t'".into(),
        Ok(b'\r') => "'\\r'".into(),
        Ok(b @ (b'\'' | b'\\')) => format!("'\\{}'", char::from(b)),
        Ok(b @ 0x20..=0x7e) => format!("'{}'", char::from(b)),
        _ => format!("'\\{:03o}'", c as u8),
    }
}

/// The shortest text that reads back to the same value; too large a number has no digits of its own.
fn float(c: Const) -> String {
    const TOO_LARGE: &str = "1e99999";
    let is_infinite = c.nearest_f64().is_some_and(f64::is_infinite);
    match c {
        Const::F32(_) if is_infinite => format!("{TOO_LARGE}f"),
        Const::F32(bits) => format!("{:?}f", f32::from_bits(bits)),
        Const::F80(x) if x.is_finite() => x.to_string(),
        Const::F80(_) => format!("{TOO_LARGE}L"),
        _ if is_infinite => TOO_LARGE.into(),
        _ => c.nearest_f64().map_or_else(|| "NAN".into(), |v| format!("{v:?}")),
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::parse_printed;

    #[track_caller]
    fn check(text: &str) {
        let shown = parse_printed(text).map(|e| e.to_string());
        assert_eq!(shown.as_deref(), Ok(text));
    }

    #[test]
    fn what_is_read_is_written_as_it_was() {
        for text in [
            "\\result >= 0 && n <= 10",
            "\\result == (n > 0 ? \\old(*p) : -1)",
            "a || (b && c)",
            "(a || b) && c",
            "!(a || b) ==> x == \\old(E.row) + (\\old(E.off) + 1)",
            "(int)(unsigned char)c == 'a'",
            "*(int *)((char *)h + 8) == 0x7f",
            "(x & 15) == 0 && (x & (y << 2)) != 0",
            "a - (b - c) == a - b - c",
            "\\forall integer k; 0 <= k && k < n ==> s[k] != '\\0'",
            "\\result == 1 ==> (\\forall integer k; 0 <= k && k < n ==> a[k] <= a[k + 1])",
            "output == printf(\"%d\\n\", x + 1)",
            "fp == fopen*(name, \"r\\\"\") && \\at(x, after_f) == x@loop",
            "(&%1)->x == (size_t)n",
            "*(node *)p == -0.5",
            "p->next->key[2].a == 10u",
            "(*p)[1] == ~3",
            "-(-x) == !!y && (a < b) < c",
            "(1).x == 2",
            "(*\\old(hooks->allocate))(256, x) == NULL",
        ] {
            check(text);
        }
    }
}
