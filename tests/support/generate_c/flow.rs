//! Statements of control: branches, loops, jumps, and the small idioms of integers.

use super::{Class, Maker};

impl Maker {
    /// Declares some locals and makes statements.
    pub(super) fn body(&mut self, statements: u64) {
        let scope = (self.integers.len(), self.written.len(), self.floats.len(), self.written_floats.len());
        for _ in 0..1 + self.below(2) {
            let (ty, value) = (self.integer_type(), self.integer(1));
            let name = self.name("v");
            self.line(&format!("{ty} {name} = {value};"));
            self.integers.push(name.clone());
            self.written.push(name);
        }
        if self.class == Class::Floats {
            let (ty, value) = (self.float_type(), self.float(2));
            let name = self.name("d");
            self.line(&format!("{ty} {name} = {value};"));
            self.floats.push(name.clone());
            self.written_floats.push(name);
        }
        for _ in 0..statements {
            self.statement();
        }
        // What an inner block declared ends with it; the function's own are still there to return.
        if self.depth > 1 {
            self.integers.truncate(scope.0);
            self.written.truncate(scope.1);
            self.floats.truncate(scope.2);
            self.written_floats.truncate(scope.3);
        }
    }

    fn block(&mut self) {
        self.depth += 1;
        let statements = if self.depth < 4 { 1 + self.below(2) } else { 0 };
        self.body(statements);
        self.depth -= 1;
    }

    pub(super) fn target(&mut self) -> String {
        match self.below(12) {
            0 => format!("table[{}]", self.index(8)),
            1..8 => {
                // Locals before globals: the latest names.
                let n = self.written.len();
                let latest = self.below(n.min(3) as u64) as usize;
                self.written[n - 1 - latest].clone()
            }
            _ => self.one_of(&self.written.clone()),
        }
    }

    fn statement(&mut self) {
        let kind = if self.chance(45) { self.class } else { Class::ALL[self.below(6) as usize] };
        match kind {
            Class::Integers => self.arithmetic(),
            Class::Loops if self.loops < 2 => self.looping(),
            Class::Memory => self.memory(),
            Class::Flow => self.flow(),
            Class::Floats => self.floating(),
            Class::Calls => self.calling(),
            Class::Loops => self.arithmetic(),
        }
    }

    fn arithmetic(&mut self) {
        let v = self.target();
        match self.below(12) {
            0..4 => {
                let (e, op) = (self.integer(2), self.one(&["=", "=", "+=", "-=", "*=", "^=", "|=", "&="]));
                self.line(&format!("{v} {op} {e};"));
            }
            4 => {
                let op = self.one(&["++", "--"]);
                self.line(&format!("{v}{op};"));
            }
            5 | 6 => {
                let (low, high) = (self.below(5), 5 + self.below(200));
                self.line(&format!("if ({v} < {low})\n        {v} = {low};\n    else if ({v} > {high})\n        {v} = {high};"));
            }
            7 => self.line(&format!("{v} = {v} < 0 ? -{v} : {v};")),
            8 => {
                let (a, b) = (self.one_of(&self.integers.clone()), self.leaf());
                let op = self.one(&["<", ">"]);
                self.line(&format!("{v} = {a} {op} {b} ? {a} : {b};"));
            }
            9 => {
                let c = self.condition();
                self.line(&format!("{v} = {c};"));
            }
            10 => {
                let (a, m) = (self.integer(1), 2 + self.below(14));
                self.line(&format!("{v} = ({a}) % {m};"));
            }
            _ => {
                let (a, b) = (self.leaf(), self.leaf());
                let k = self.below(6);
                self.line(&format!("{v} = {a} > INT_MAX - 5 ? INT_MAX : {a} + {k};"));
                self.line(&format!("{v} |= {b};"));
            }
        }
    }

    fn flow(&mut self) {
        match self.below(9) {
            0..3 => {
                let c = self.condition();
                self.line(&format!("if ({c}) {{"));
                self.block();
                if self.chance(50) {
                    self.line("} else {");
                    self.block();
                }
                self.line("}");
            }
            3 | 4 => {
                let (c, value) = (self.condition(), self.returned());
                self.line(&format!("if ({c})\n        return {value};"));
            }
            5 | 6 => self.switch(),
            7 => self.jump(),
            _ => self.tangle(),
        }
    }

    fn switch(&mut self) {
        let (e, v) = (self.integer(1), self.target());
        self.line(&format!("switch (({e}) & 3) {{"));
        for k in 0..3 {
            let (value, end) = (self.leaf(), self.one(&["break;", "break;", "/* falls through */"]));
            self.line(&format!("case {k}: {v} = {value}; {end}"));
        }
        let op = self.one(&["++", "--", " = -1"]);
        self.line(&format!("default: {v}{op};\n    }}"));
    }

    /// Forward and backward gotos; the backward one is bounded.
    fn jump(&mut self) {
        let (label, c, v) = (self.name("L"), self.condition(), self.target());
        if self.chance(50) {
            self.line(&format!("if ({c})\n        goto {label};"));
            self.arithmetic();
            self.line(&format!("{v}++;\n{label}:;"));
            return;
        }
        let fuel = self.name("k");
        let most = 1 + self.below(12);
        self.line(&format!("int {fuel} = 0;\n{label}:"));
        self.line(&format!("{v} += {fuel};"));
        self.line(&format!("if (++{fuel} < {most} && {c})\n        goto {label};"));
        self.integers.push(fuel);
    }

    /// A jump into the middle of a loop: an irreducible graph.
    fn tangle(&mut self) {
        let (middle, fuel, c) = (self.name("M"), self.name("k"), self.condition());
        let (v, e) = (self.target(), self.leaf());
        self.line(&format!("int {fuel} = 5;"));
        self.line(&format!("if ({c})\n        goto {middle};"));
        self.line(&format!("while ({fuel} > 0) {{"));
        self.line(&format!("    {v} ^= {e};\n{middle}:\n        {fuel}--;\n    }}"));
        self.integers.push(fuel);
    }

    fn looping(&mut self) {
        self.loops += 1;
        let n = self.integers.contains(&"n".to_string());
        match self.below(9) {
            0..3 => self.counted(n),
            3 => {
                let (v, k) = (self.target(), self.name("k"));
                let step = self.one(&["/= 2", ">>= 1", "/= 10", "-= 3"]);
                let copy = self.name("u");
                let from = self.one_of(&self.integers.clone());
                self.line(&format!("int {k} = 0;\n    unsigned short {copy} = {from};"));
                let test = if step == "-= 3" { "> 2" } else { "> 0" };
                self.line(&format!(
                    "while ({copy} {test}) {{\n        {copy} {step};\n        {k}++;\n    }}"
                ));
                self.line(&format!("{v} = {k};"));
                self.integers.push(k);
            }
            4 => {
                let (k, c, v) = (self.name("k"), self.condition(), self.target());
                let most = 2 + self.below(9);
                self.line(&format!("int {k} = 0;\n    do {{"));
                self.line(&format!("    {k}++;\n        if ({c})\n            break;\n        {v} += {k};"));
                self.line(&format!("}} while ({k} < {most});"));
                self.integers.push(k);
            }
            5 => {
                let (i, j, v) = (self.counter("i"), self.counter("j"), self.target());
                let (m, bound) = (1 + self.below(6), if self.chance(50) { i.clone() } else { "4".into() });
                self.line(&format!("for (int {i} = 0; {i} < {m}; {i}++)"));
                self.line(&format!("    for (int {j} = 0; {j} < {bound}; {j}++)"));
                let e = self.one_of(&[i, j, "1".into()]);
                self.line(&format!("        {v} += {e};"));
            }
            6 => {
                let (x, bits) = (self.name("u"), self.name("k"));
                let from = self.one_of(&self.integers.clone());
                self.line(&format!("unsigned {x} = {from};\n    int {bits} = 0;"));
                self.line(&format!("while ({x}) {{\n        {x} &= {x} - 1;\n        {bits}++;\n    }}"));
                self.integers.push(bits.clone());
                self.written.push(bits);
            }
            _ => self.table_loop(),
        }
        self.loops -= 1;
    }

    /// `for` with a constant or data-dependent bound, and sometimes a way out.
    fn counted(&mut self, has_n: bool) {
        let i = self.name("i");
        let bound = match self.below(4) {
            0 => self.below(12).to_string(),
            1 | 2 if has_n => "n".into(),
            _ => format!("({} & 15)", self.one_of(&self.integers.clone())),
        };
        let fuel = if bound == "n" { format!(" && {i} < 1000") } else { String::new() };
        let step = self.one(&["++", "++", "++", " += 2", " += 3"]);
        self.line(&format!("int {i};"));
        self.line(&format!("for ({i} = 0; {i} < {bound}{fuel}; {i}{step}) {{"));
        self.integers.push(i.clone());
        if self.chance(40) {
            let (c, way) = (self.condition(), self.one(&["break", "continue", "break"]));
            self.line(&format!("    if ({c})\n            {way};"));
        }
        let (v, e) = (self.target(), self.one(&["1", "2", "I", "I * I"]).replace('I', &i));
        if v != i {
            let op = self.one(&["+=", "+=", "^=", "="]);
            self.line(&format!("    {v} {op} {e};"));
        }
        if self.depth < 3 && self.chance(30) {
            self.block();
        }
        self.line("}");
    }

    /// Loops over the global array: sum, maximum, search, filling.
    fn table_loop(&mut self) {
        let (i, r) = (self.counter("i"), self.name("r"));
        let e = self.leaf();
        let (start, step) = match self.below(4) {
            0 => ("0", format!("{r} += table[{i}];")),
            1 => ("table[0]", format!("if (table[{i}] > {r})\n            {r} = table[{i}];")),
            2 => (
                "-1",
                format!("if (table[{i}] == {e}) {{\n            {r} = {i};\n            break;\n        }}"),
            ),
            _ => ("8", format!("table[{i}] = {e};")),
        };
        self.line(&format!("int {r} = {start};"));
        self.line(&format!("for (int {i} = 0; {i} < 8; {i}++) {{\n        {step}\n    }}"));
        self.integers.push(r.clone());
        self.written.push(r);
    }

    fn floating(&mut self) {
        let d = self.one_of(&self.written_floats.clone());
        match self.below(7) {
            0..3 => {
                let e = self.float(2);
                self.line(&format!("{d} = {e};"));
            }
            3 => {
                let (c, e) = (self.float_condition(), self.float(1));
                self.line(&format!("if ({c})\n        {d} = {e};"));
            }
            4 => self.line(&format!(
                "if (!({d} >= 0))\n        {d} = 0;\n    else if ({d} > 100)\n        {d} = 100;"
            )),
            5 => {
                let (v, c) = (self.target(), self.float_condition());
                self.line(&format!("{v} = {c};"));
            }
            _ => {
                let (v, x) = (self.target(), self.float(1));
                self.line(&format!("if ({x} >= -100 && {x} <= 100)\n        {v} = (int)({x});"));
            }
        }
    }
}
