//! Expressions without side effects.

use super::Maker;

const EDGES: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "10",
    "100",
    "127",
    "255",
    "-128",
    "32767",
    "65535u",
    "INT_MAX",
    "INT_MIN",
    "UINT_MAX",
    "4294967296L",
];

impl Maker {
    pub(super) fn integer(&mut self, depth: u32) -> String {
        if depth == 0 || self.chance(15) {
            return self.leaf();
        }
        let (a, b) = (self.integer(depth - 1), self.integer(depth - 1));
        match self.below(20) {
            0..6 => format!("({a} {} {b})", self.one(&["+", "-", "*", "+", "-"])),
            6..8 => format!("({a} {} {b})", self.one(&["&", "|", "^"])),
            8 | 9 => self.divided(&a, &b),
            10 | 11 => {
                let by = if self.chance(85) { format!("({b} & 7)") } else { b };
                format!("({a} {} {by})", self.one(&["<<", ">>"]))
            }
            12 => format!("({} {a})", self.one(&["-", "~", "!"])),
            13 | 14 => format!("(({}){a})", self.integer_type()),
            15 => format!("({} ? {a} : {b})", self.condition()),
            16 => format!("({a} {} {})", self.one(&["+", "-", "*", "%"]), 1 + self.below(16)),
            17 => self.condition(),
            18 if !self.floats.is_empty() => self.converted(),
            _ => self.leaf(),
        }
    }

    fn divided(&mut self, a: &str, b: &str) -> String {
        let op = self.one(&["/", "%"]);
        match self.below(4) {
            0 => format!("({a} {op} {b})"),
            1 => format!("({b} == 0 || {b} == -1 ? 0 : {a} {op} {b})"),
            _ => format!("({a} {op} {})", self.one(&["2", "3", "4", "7", "10", "16", "-3"])),
        }
    }

    /// A float as an integer: seldom without a guard.
    fn converted(&mut self) -> String {
        let x = self.float(1);
        if self.chance(15) {
            return format!("((int){x})");
        }
        format!("({x} > -1e9 && {x} < 1e9 ? (int){x} : 0)")
    }

    pub(super) fn leaf(&mut self) -> String {
        match self.below(10) {
            0..7 => self.one_of(&self.integers.clone()),
            7 => self.one(&EDGES).into(),
            8 => self.below(12).to_string(),
            _ => match self.below(3) {
                0 => format!("table[{}]", self.index(8)),
                1 => format!("primes[{}]", self.index(4)),
                _ => self.one_of(&self.integers.clone()),
            },
        }
    }

    /// An index below a bound: constant, masked, or seldom a bare variable.
    pub(super) fn index(&mut self, bound: u64) -> String {
        let v = self.one_of(&self.integers.clone());
        match self.below(20) {
            0..8 => self.below(bound).to_string(),
            8..18 => format!("({v}) & {}", bound - 1),
            18 => format!("(unsigned)({v}) % {bound}"),
            _ => v,
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let a = self.one_of(&self.integers.clone());
        let b = if self.chance(50) { self.leaf() } else { self.below(20).to_string() };
        match self.below(12) {
            0..7 => format!("({a} {} {b})", self.one(&["<", ">", "<=", ">=", "==", "!="])),
            7 => format!("({a} > 0 && {a} < {b})"),
            8 => format!("({a} == {b} || {a} < -{})", self.below(9)),
            9 if !self.nodes.is_empty() => format!("({} != NULL)", self.one_of(&self.nodes.clone())),
            9 if !self.pointers.is_empty() => format!("(!{})", self.one_of(&self.pointers.clone())),
            10 if !self.floats.is_empty() => self.float_condition(),
            _ => format!("(({a} & {}) != 0)", 1 << self.below(6)),
        }
    }

    pub(super) fn float_condition(&mut self) -> String {
        let (x, y) = (self.one_of(&self.floats.clone()), self.float(1));
        match self.below(8) {
            0..5 => format!("({x} {} {y})", self.one(&["<", ">", "<=", ">=", "==", "!="])),
            5 => format!("({x} == {x})"),
            6 => format!("isnan({x})"),
            _ => format!("({x} != 0)"),
        }
    }

    pub(super) fn float(&mut self, depth: u32) -> String {
        if depth == 0 || self.chance(20) {
            return match self.below(8) {
                0..5 => self.one_of(&self.floats.clone()),
                5 => self.one(&["0.5", "-3.25", "1e10", "0.1f", "0.1L", "100.0", "1e308"]).into(),
                _ => self.one(&["0.0", "-0.0", "1.0", "2.0f"]).into(),
            };
        }
        let (a, b) = (self.float(depth - 1), self.float(depth - 1));
        match self.below(12) {
            0..6 => format!("({a} {} {b})", self.one(&["+", "-", "*", "/"])),
            6 | 7 => {
                format!("{}({a})", self.one(&["fabs", "floor", "sqrt", "ceil", "sqrtl", "fabsl", "floorl"]))
            }
            8 => format!("({}){}", self.float_type(), self.leaf()),
            9 => format!("({a} {} {b} ? {a} : {b})", self.one(&["<", ">=", "!="])),
            10 => format!("(float)({a})"),
            _ => format!("(- {a})"),
        }
    }
}
