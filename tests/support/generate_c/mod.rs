//! Random C programs for oracles: plain functions that somebody might have written (clamps, counters,
//! searches, out-parameters, small state machines) made of operations at the edges of C: overflow,
//! shifts, mixed signedness, aliasing pointers, gotos, switches that fall through, special floats.
//!
//! The seed decides everything. Each program has functions `f0`, `f1`, ... with parameters, to be
//! called by a driver on any arguments, and a `main` that reads integers from standard input and
//! prints what the functions computed. Programs compile without errors. On some inputs they may do
//! something undefined (an index or a divisor that nobody guards): oracles leave those runs out.
//! Everything is initialised, and calls stand alone, so that no effect is unsequenced.

mod expressions;
mod flow;
mod places;

use std::fmt::Write;

/// What a program is mostly made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Integers,
    Loops,
    Memory,
    Flow,
    Floats,
    Calls,
}

impl Class {
    pub const ALL: [Class; 6] =
        [Class::Integers, Class::Loops, Class::Memory, Class::Flow, Class::Floats, Class::Calls];

    pub fn name(self) -> &'static str {
        match self {
            Class::Integers => "integers",
            Class::Loops => "loops",
            Class::Memory => "memory",
            Class::Flow => "flow",
            Class::Floats => "floats",
            Class::Calls => "calls",
        }
    }
}

/// A generated program.
pub struct Program {
    pub class: Class,
    pub source: String,
}

/// Makes the program of a seed.
pub fn program(seed: u64) -> Program {
    let class = Class::ALL[(seed % Class::ALL.len() as u64) as usize];
    let mut maker = Maker { state: seed.wrapping_mul(0x2545_f491_4f6c_dd1d), ..Maker::new(class) };
    maker.declarations();
    maker.helpers();
    for _ in 0..3 {
        maker.function();
    }
    maker.main();
    Program { class, source: maker.out }
}

const INTEGERS: [&str; 10] = [
    "int",
    "int",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "short",
    "unsigned short",
    "signed char",
    "unsigned char",
];

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer(&'static str),
    Float(&'static str),
    /// Pointer to integers of this type.
    Integers(&'static str),
    Node,
    Text,
}

struct Parameter {
    name: &'static str,
    kind: Kind,
}

struct Signature {
    result: &'static str,
    parameters: Vec<Parameter>,
}

struct Maker {
    class: Class,
    state: u64,
    out: String,
    /// Integer and float places that may be read, and those that may be written.
    integers: Vec<String>,
    floats: Vec<String>,
    written: Vec<String>,
    written_floats: Vec<String>,
    /// Pointers to integers, nodes and texts in scope.
    pointers: Vec<String>,
    nodes: Vec<String>,
    texts: Vec<String>,
    /// Result type of the function at hand.
    result: &'static str,
    /// Numbers of names made in the function at hand, of open loops, and of blocks within blocks.
    names: u32,
    loops: u32,
    depth: u32,
    signatures: Vec<Signature>,
}

impl Maker {
    fn new(class: Class) -> Maker {
        Maker {
            class,
            state: 0,
            out: String::new(),
            integers: Vec::new(),
            floats: Vec::new(),
            written: Vec::new(),
            written_floats: Vec::new(),
            pointers: Vec::new(),
            nodes: Vec::new(),
            texts: Vec::new(),
            result: "int",
            names: 0,
            loops: 0,
            depth: 0,
            signatures: Vec::new(),
        }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }

    /// True so many times out of a hundred.
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn one_of(&mut self, of: &[String]) -> String {
        of[self.below(of.len() as u64) as usize].clone()
    }

    fn integer_type(&mut self) -> &'static str {
        self.one(&INTEGERS)
    }

    fn float_type(&mut self) -> &'static str {
        self.one(&["double", "double", "float", "long double"])
    }

    /// A name for the counter of one loop; every other loop takes the same one, as people do.
    fn counter(&mut self, prefix: &str) -> String {
        let name = self.name(prefix);
        match name.ends_with(['0', '2', '4', '6', '8']) {
            true => prefix.to_owned(),
            false => name,
        }
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth as usize);
        let _ = writeln!(self.out, "{indent}{text}");
    }

    fn declarations(&mut self) {
        self.out
            .push_str("#include <limits.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n");
        self.out.push_str("#include <string.h>\n\n");
        let flag = self.one(&["unsigned flag : 3;", "int flag : 5;", "unsigned char flag;"]);
        let tag = self.one(&["short", "signed char", "unsigned short"]);
        let _ = writeln!(
            self.out,
            "struct node {{ int len; {tag} tag; {flag} long sum; struct node *next; int at[4]; double w; }};"
        );
        for name in ["g0", "g1"] {
            let (ty, value) = (self.integer_type(), self.below(9));
            let _ = writeln!(self.out, "{ty} {name} = {value};");
        }
        self.out.push_str("static int count;\nint table[8] = {3, 1, 4, 1, 5, 9, 2, 6};\nstruct node gs;\ndouble gd = 0.5;\n");
        self.out.push_str("static const int primes[4] = {2, 3, 5, 7};\n\n");
    }

    /// Functions that others call: small, recursive, through pointers.
    fn helpers(&mut self) {
        self.out
            .push_str("static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }\n");
        self.out
            .push_str("static int twice(int v) { return 2 * v; }\nstatic int negate(int v) { return -v; }\n");
        self.out.push_str("static int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 1); }\n");
        self.out.push_str("static unsigned gcd(unsigned a, unsigned b) { return b ? gcd(b, a % b) : a; }\n");
        self.out.push_str("static int bump(int *p) { if (!p) return -1; (*p)++; return *p; }\n");
        self.out.push_str("static int next_id(void) { static int id = 0; if (id < 50) id++; return id; }\n");
        self.out.push_str("static int last(int n, int m, int a[n][m]) { return a[n - 1][m - 1]; }\n");
        self.out.push_str("static int (*const ops[2])(int) = {twice, negate};\n\n");
    }

    fn enter(&mut self) {
        self.integers = ["g0", "g1", "count", "gs.len", "gs.tag"].map(String::from).to_vec();
        self.written = ["g0", "g1", "count", "gs.len"].map(String::from).to_vec();
        self.floats = vec!["gd".into()];
        self.written_floats = vec!["gd".into()];
        (self.pointers, self.nodes, self.texts) = (Vec::new(), Vec::new(), Vec::new());
        (self.names, self.loops, self.depth) = (0, 0, 1);
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        let mut list = Vec::new();
        let extra =
            |m: &mut Maker, kind, names: [&'static str; 2], percent: u64, list: &mut Vec<Parameter>| {
                for name in names {
                    if m.chance(percent) {
                        list.push(Parameter { name, kind });
                    }
                }
            };
        for name in ["a", "b"] {
            let ty = self.integer_type();
            list.push(Parameter { name, kind: Kind::Integer(ty) });
        }
        let (memory, floats) = (self.class == Class::Memory, self.class == Class::Floats);
        let element = if self.chance(70) { "int" } else { self.integer_type() };
        let often = |is: bool| if is { 70 } else { 12 };
        extra(self, Kind::Integers(element), ["p", "q"], often(memory), &mut list);
        extra(self, Kind::Node, ["s", "t"], often(memory) / 2, &mut list);
        extra(self, Kind::Text, ["str", "key"], often(memory) / 4, &mut list);
        let real = self.float_type();
        extra(self, Kind::Float(real), ["x", "y"], often(floats), &mut list);
        if self.class == Class::Loops || self.chance(20) {
            list.push(Parameter { name: "n", kind: Kind::Integer("int") });
        }
        list
    }

    fn function(&mut self) {
        self.enter();
        let parameters = self.parameters();
        let (real, plain) = (self.class == Class::Floats && self.chance(60), self.chance(60));
        self.result = match () {
            () if real => self.float_type(),
            () if plain => "int",
            () => self.integer_type(),
        };
        let mut list = Vec::new();
        for p in &parameters {
            let name = p.name;
            match p.kind {
                Kind::Integer(ty) | Kind::Float(ty) => list.push(format!("{ty} {name}")),
                Kind::Integers(ty) => list.push(format!("{ty} *{name}")),
                Kind::Node => list.push(format!("struct node *{name}")),
                Kind::Text => list.push(format!("const char *{name}")),
            }
            match p.kind {
                Kind::Integer(_) => self.integers.push(name.into()),
                Kind::Float(_) => self.floats.push(name.into()),
                Kind::Integers(_) => self.pointers.push(name.into()),
                Kind::Node => self.nodes.push(name.into()),
                Kind::Text => self.texts.push(name.into()),
            }
        }
        let head = format!("{} f{}({})", self.result, self.signatures.len(), list.join(", "));
        let _ = writeln!(self.out, "{head}\n{{");
        if self.chance(25) {
            // Parameters are variables, too.
            self.written.push("a".into());
        }
        let statements = 1 + self.below(4);
        self.body(statements);
        for _ in 0..self.pointers.len() + self.nodes.len() + self.texts.len() {
            self.memory();
        }
        self.leave();
        self.out.push_str("}\n\n");
        self.signatures.push(Signature { result: self.result, parameters });
    }

    /// Ends a function with a value that says something.
    fn leave(&mut self) {
        let value = self.returned();
        self.line(&format!("return {value};"));
    }

    fn returned(&mut self) -> String {
        if matches!(self.result, "float" | "double") {
            return if self.chance(60) { self.one_of(&self.floats.clone()) } else { self.float(2) };
        }
        match self.below(6) {
            0 => self.one(&["0", "1", "-1", "INT_MAX"]).into(),
            1 => self.condition(),
            2 => self.integer(2),
            3 => format!("({}) % {}", self.integer(1), 2 + self.below(9)),
            _ => self.one_of(&self.integers.clone()),
        }
    }

    fn main(&mut self) {
        self.out.push_str("int main(void)\n{\n    static struct node nodes[2];\n    static int in[6];\n");
        self.out.push_str("    for (int round = 0; round < 3; round++) {\n        int got = 0;\n");
        self.out.push_str("        while (got < 6 && scanf(\"%d\", &in[got]) == 1)\n            got++;\n");
        self.out.push_str("        if (got < 2)\n            break;\n        nodes[0].next = in[0] & 1 ? &nodes[1] : NULL;\n");
        self.depth = 2;
        for (k, signature) in std::mem::take(&mut self.signatures).iter().enumerate() {
            self.call(k, signature);
        }
        self.out.push_str("        printf(\"%ld %ld %d %d %d %ld\\n\", (long)g0, (long)g1, count, gs.len, gs.tag, gs.sum);\n");
        self.out.push_str("        printf(\"%d %d %ld\\n\", nodes[0].len, nodes[0].tag, nodes[1].sum);\n");
        self.out.push_str("        for (int i = 0; i < 8; i++)\n            printf(\"%d \", table[i]);\n");
        self.out
            .push_str("        printf(\"%g\\n\", gd == gd ? gd : 0.0);\n    }\n    return count & 7;\n}\n");
    }

    fn call(&mut self, k: usize, signature: &Signature) {
        self.line("{");
        self.depth += 1;
        let mut arguments = Vec::new();
        for (i, p) in signature.parameters.iter().enumerate() {
            let read = format!("in[{}]", i % 6);
            match p.kind {
                Kind::Integer(_) => arguments.push(read),
                Kind::Float(_) => arguments.push(format!("{read} / 4.0")),
                Kind::Integers(ty) => {
                    if p.name == "p" || !arguments.iter().any(|a| a.starts_with("room")) {
                        self.line(&format!("static {ty} room[16] = {{1, 2, 3}};"));
                    }
                    arguments.push(format!("room + ({read} & 3)"));
                }
                Kind::Node => arguments.push(format!("&nodes[{read} & 1]")),
                Kind::Text => arguments.push(format!("{read} & 1 ? \"a1 b22\" : \"zz\"")),
            }
        }
        let call = format!("f{k}({})", arguments.join(", "));
        if matches!(signature.result, "float" | "double") {
            self.line(&format!("double r = {call};"));
            self.line("printf(\"%.17g\\n\", r == r ? r : 0.0);");
        } else {
            self.line(&format!("printf(\"%ld\\n\", (long){call});"));
        }
        if arguments.iter().any(|a| a.starts_with("room")) {
            self.line("for (int i = 0; i < 16; i++)");
            self.line("    printf(\"%ld \", (long)room[i]);");
            self.line("printf(\"\\n\");");
        }
        self.depth -= 1;
        self.line("}");
    }
}
