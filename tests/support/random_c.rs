//! Random C programs whose behaviour is defined under `-fwrapv`: divisors and shift counts are
//! guarded, loops are bounded, calls stand alone so that no effect is unsequenced, and everything
//! is initialised. Each reads integers from standard input and prints all that it computed.

use std::fmt::Write;

const TYPES: [&str; 9] = [
    "int",
    "unsigned",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "long",
    "unsigned long",
    "_Bool",
];

/// Makes the program of a seed.
pub fn program(seed: u64) -> String {
    let mut p = Maker { state: seed, out: String::new(), names: vec![], depth: 0, loops: 0, functions: 0 };
    p.out.push_str("#include <stdio.h>\n#include <math.h>\n");
    p.out.push_str("struct s { short a; unsigned b : 5; int c : 7; long d; unsigned char e[3]; };\n");
    p.out.push_str("static int toint(double d) { return d > -1e9 && d < 1e9 ? (int)d : 7; }\n");
    p.out.push_str("int ga[8] = {3, 1, 4, 1, 5};\nstruct s gs = {1, 2, -3, 4, {5, 6}};\ndouble gd = 0.5; long double gl = 0.1L;\n");
    for i in 0..4 {
        let (ty, value) = (p.ty(), p.below(200) as i64 - 100);
        let _ = writeln!(p.out, "{ty} g{i} = {value};");
    }
    for _ in 0..3 {
        p.function();
    }
    p.main();
    p.out
}

struct Maker {
    state: u64,
    out: String,
    /// Integer lvalues in scope.
    names: Vec<String>,
    depth: u32,
    loops: u32,
    functions: u32,
}

impl Maker {
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn ty(&mut self) -> &'static str {
        self.one(&TYPES)
    }

    fn globals() -> Vec<String> {
        let names = ["g0", "g1", "g2", "g3", "gs.a", "gs.b", "gs.c", "gs.d", "gs.e[1]"];
        names.iter().map(|n| n.to_string()).collect()
    }

    fn function(&mut self) {
        let (ret, a, b) = (self.ty(), self.ty(), self.ty());
        let _ = writeln!(self.out, "static {ret} f{}({a} a, {b} b, double x) {{", self.functions);
        self.names = Maker::globals();
        self.names.extend(["a".into(), "b".into()]);
        self.body(4);
        let value = self.expr(3);
        let _ = writeln!(self.out, "return {value};\n}}");
        self.functions += 1;
    }

    fn main(&mut self) {
        self.out.push_str("int main(void) {\nint a = 0, b = 0; double x = 1.5;\n");
        self.out.push_str(
            "for (int round = 0; round < 4 && scanf(\"%d%d\", &a, &b) >= 1; round++) {\nx = a / 4.0;\n",
        );
        self.names = Maker::globals();
        self.names.extend(["a".into(), "b".into()]);
        self.body(8);
        self.out.push_str("printf(\"%ld %ld %ld %ld %d %u %d %ld %d\\n\", (long)g0, (long)g1, (long)g2, (long)g3, gs.a, gs.b, gs.c, gs.d, gs.e[1]);\n");
        self.out.push_str("printf(\"%d %d %.17g %.17g %.21Lg\", a, b, x == x ? x : 0, gd == gd ? gd : 0, gl == gl ? gl : 0);\n");
        self.out.push_str("for (int i = 0; i < 8; i++) printf(\" %d\", ga[i]);\nputchar('\\n');\n}\n");
        let value = self.expr(2);
        let _ = writeln!(self.out, "return ({value}) & 127;\n}}");
    }

    fn body(&mut self, statements: u64) {
        let scope = self.names.len();
        for i in 0..2 + self.below(3) {
            let (ty, value) = (self.ty(), self.expr(2));
            let name = format!("l{}_{i}", self.depth);
            let _ = writeln!(self.out, "{ty} {name} = {value};");
            self.names.push(name);
        }
        for _ in 0..1 + self.below(statements) {
            self.statement();
        }
        self.names.truncate(scope);
    }

    fn block(&mut self) {
        self.depth += 1;
        self.out.push_str("{\n");
        if self.depth < 4 {
            self.body(3);
        }
        self.out.push_str("}\n");
        self.depth -= 1;
    }

    fn target(&mut self) -> String {
        if self.below(4) == 0 {
            let index = self.expr(1);
            return format!("ga[({index}) & 7]");
        }
        let i = self.below(self.names.len() as u64) as usize;
        self.names[i].clone()
    }

    fn statement(&mut self) {
        match self.below(14) {
            0..4 => {
                let (t, e) = (self.target(), self.expr(3));
                let op = self.one(&["=", "=", "+=", "-=", "*=", "&=", "|=", "^="]);
                let _ = writeln!(self.out, "{t} {op} {e};");
            }
            4 => {
                let (t, op) = (self.target(), self.one(&["++", "--"]));
                let _ = writeln!(self.out, "{t}{op};");
            }
            5 => {
                let (d, e) = (self.one(&["x", "gd", "gl"]), self.float(3));
                let _ = writeln!(self.out, "{d} = {e};");
            }
            6..8 => {
                let c = self.expr(2);
                let _ = write!(self.out, "if ({c}) ");
                self.block();
                if self.below(2) == 0 {
                    self.out.push_str("else ");
                    self.block();
                }
            }
            8..10 => {
                let (i, n) = (self.loops, self.below(6));
                self.loops += 1;
                let _ = write!(self.out, "for (int i{i} = 0; i{i} < {n}; i{i}++) ");
                self.out.push_str("{\n");
                let leave = self.expr(2);
                let word = self.one(&["break", "continue"]);
                let _ = writeln!(self.out, "if (({leave}) == {n}) {word};\nga[i{i}] += i{i};");
                self.block();
                self.out.push_str("}\n");
            }
            10 => {
                let e = self.expr(2);
                let _ = writeln!(self.out, "switch (({e}) & 3) {{ case 0: g0++;");
                self.statement();
                let end = self.one(&["break;", ""]);
                let _ = writeln!(self.out, "{end} case 2: g1 ^= 5; break; default: gs.c--; }}");
            }
            11 if self.functions > 0 => {
                let f = self.below(self.functions as u64);
                let (a, b, x) = (self.expr(2), self.expr(2), self.float(1));
                let i = self.below(self.names.len() as u64) as usize;
                let t = self.names[i].clone();
                let _ = writeln!(self.out, "{t} = f{f}({a}, {b}, {x});");
            }
            12 => {
                let (c, e) = (self.expr(1), self.expr(2));
                let _ =
                    writeln!(self.out, "{{ int *p = ({c}) ? &ga[2] : ga + 5; *p++ = {e}; *p -= p[-1]; }}");
            }
            _ => {
                let e = self.expr(2);
                let _ = writeln!(self.out, "{{ struct s t = gs; t.c = {e}; t.b++; gs = t; }}");
            }
        }
    }

    fn expr(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(6) == 0 {
            return self.leaf();
        }
        let a = self.expr(depth - 1);
        let b = self.expr(depth - 1);
        match self.below(12) {
            0..4 => format!("({a} {} {b})", self.one(&["+", "-", "*", "&", "|", "^"])),
            4 => format!("({b} == 0 || {b} == -1 ? {a} : {a} {} {b})", self.one(&["/", "%"])),
            5 => format!("({a} {} ({b} & 7))", self.one(&["<<", ">>"])),
            6..8 => format!("({a} {} {b})", self.one(&["<", ">", "<=", ">=", "==", "!=", "&&", "||"])),
            8 => format!("({} {a})", self.one(&["-", "~", "!", "+"])),
            9 => format!("(({}){a})", self.ty()),
            10 => format!("({a} ? {b} : {})", self.leaf()),
            _ => format!("toint({})", self.float(2)),
        }
    }

    fn leaf(&mut self) -> String {
        match self.below(8) {
            0..5 => {
                let i = self.below(self.names.len() as u64) as usize;
                self.names[i].clone()
            }
            5 => format!("ga[{}]", self.below(8)),
            6 => self
                .one(&["0", "1", "-1", "7", "255", "32768", "65535u", "2147483647", "4294967296L", "'a'"])
                .into(),
            _ => format!("{}", self.below(1000)),
        }
    }

    fn float(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.one(&["x", "gd", "0.5", "-3.25", "1e10", "(float)x", "gl", "gl", "0.1L"]).into();
        }
        let (a, b) = (self.float(depth - 1), self.float(depth - 1));
        match self.below(7) {
            0..4 => format!("({a} {} {b})", self.one(&["+", "-", "*", "/"])),
            4 => format!("(double){}", self.leaf()),
            5 => format!("{}({a})", self.one(&["fabs", "floor", "sqrt", "ceil", "fabsl", "sqrtl", "roundl"])),
            _ => format!("({a} {} {b} ? {a} : {b})", self.one(&["<", ">=", "!="])),
        }
    }
}
