//! Statements about memory (pointers, structs, texts, the heap) and calls.

use super::Maker;

impl Maker {
    pub(super) fn memory(&mut self) {
        match self.below(4) {
            0 | 1 if !self.pointers.is_empty() => self.through_pointer(),
            1 | 2 if !self.nodes.is_empty() => self.through_node(),
            3 if !self.texts.is_empty() => self.through_text(),
            _ => self.owned(),
        }
    }

    fn through_pointer(&mut self) {
        let p = self.one_of(&self.pointers.clone());
        let q = self.one_of(&self.pointers.clone());
        let (v, e) = (self.target(), self.integer(1));
        // Out-parameters are seldom checked.
        let guard = if self.chance(30) { format!("if ({p} && {q})\n        ") } else { String::new() };
        match self.below(9) {
            0 | 1 => self.line(&format!("{guard}*{p} = {e};")),
            2 => self.line(&format!("{guard}*{p} += {e};")),
            3 => {
                let t = self.name("t");
                self.line(&format!("long {t} = *{p};\n    *{p} = *{q};\n    *{q} = {t};"));
            }
            4 => {
                let i = self.index(4);
                self.line(&format!("{guard}{p}[{i}] = {e};"));
            }
            5 => {
                let i = self.index(4);
                self.line(&format!("{guard}{v} = {q}[{i}];"));
            }
            6 => {
                self.line(&format!("*{p} = 1;\n    *{q} = 2;\n    {v} = *{p};"));
            }
            7 => {
                let (i, n) = (self.counter("i"), 1 + self.below(5));
                let value = self.one(&["0", "I", "V"]).replace('I', &i).replace('V', &v);
                self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++)\n        {p}[{i}] = {value};"));
            }
            _ => {
                let (i, r) = (self.counter("i"), self.name("r"));
                let n = if self.integers.contains(&"n".to_string()) { "n" } else { "4" };
                self.line(&format!("int {r} = -1;"));
                self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++)"));
                self.line(&format!(
                    "    if ({p}[{i}] == {e}) {{\n            {r} = {i};\n            break;\n        }}"
                ));
                self.integers.push(r.clone());
                self.written.push(r);
            }
        }
    }

    fn through_node(&mut self) {
        let (s, t) = (self.one_of(&self.nodes.clone()), self.one_of(&self.nodes.clone()));
        let (v, e) = (self.target(), self.integer(1));
        match self.below(9) {
            0 => self.line(&format!("if ({s} == NULL)\n        return -1;")),
            1 => self.line(&format!("{s}->len++;")),
            2 => {
                let field = self.one(&["len", "tag", "flag", "sum", "at[1]"]);
                self.line(&format!("{s}->{field} = {e};"));
            }
            3 => self.line(&format!("{v} = {s}->len;")),
            4 => self.line(&format!("if ({s} && {s}->next)\n        {s}->next->len = {s}->len;")),
            5 => {
                let (k, at) = (self.name("k"), self.name("c"));
                self.line(&format!("int {k} = 0;"));
                self.line(&format!(
                    "for (struct node *{at} = {s}; {at} && {k} < 10; {at} = {at}->next)\n        {k}++;"
                ));
                self.integers.push(k);
            }
            6 => self.line(&format!("{s}->len = 0;\n    {t}->len = {s}->len + 1;")),
            7 => {
                let i = self.index(4);
                self.line(&format!("{s}->at[{i}] = {v};\n    {s}->sum += {s}->at[{i}];"));
            }
            _ => {
                let copy = self.name("c");
                self.line(&format!("struct node {copy} = *{s};\n    {copy}.tag = {v};\n    {copy}.next = NULL;\n    *{s} = {copy};"));
            }
        }
    }

    fn through_text(&mut self) {
        let text = self.one_of(&self.texts.clone());
        let k = self.name("k");
        match self.below(4) {
            0 => self.line(&format!("int {k} = 0;\n    while ({text}[{k}])\n        {k}++;")),
            1 => self.line(&format!("int {k} = {text} ? (int)strlen({text}) : 0;")),
            2 => self.line(&format!(
                "int {k} = {text} && {text}[0] >= '0' && {text}[0] <= '9' ? {text}[0] - '0' : -1;"
            )),
            _ => {
                let at = self.name("c");
                self.line(&format!("int {k} = 0;"));
                self.line(&format!("for (const char *{at} = {text}; *{at}; {at}++)\n        if (*{at} == ' ')\n            {k}++;"));
            }
        }
        self.integers.push(k.clone());
        self.written.push(k);
    }

    /// Memory of the function's own: arrays, addresses of locals, the heap.
    fn owned(&mut self) {
        if self.chance(40) {
            return self.varying();
        }
        let (v, e) = (self.target(), self.integer(1));
        match self.below(6) {
            0 => {
                let (m, i) = (self.name("m"), self.index(4));
                self.line(&format!("int *{m} = malloc(4 * sizeof *{m});"));
                self.line(&format!("if (!{m})\n        return 0;\n    memset({m}, 0, 4 * sizeof *{m});"));
                self.line(&format!("{m}[{i}] = {e};\n    {v} = {m}[1];\n    free({m});"));
            }
            1 => {
                let (a, i, j) = (self.name("w"), self.index(4), self.index(4));
                self.line(&format!("int {a}[4] = {{1, 2}};\n    {a}[{i}] = {e};\n    {v} = {a}[{j}];"));
            }
            2 => {
                let (x, p) = (self.name("v"), self.name("z"));
                let c = self.condition();
                self.line(&format!("int {x} = 3;\n    int *{p} = {c} ? &{x} : &count;\n    *{p} = {e};"));
                self.integers.push(x);
            }
            3 => {
                let (i, k) = (self.index(8), self.below(4));
                self.line(&format!("gs.at[{k}] = table[{i}];\n    gs.len = {e};"));
            }
            4 => self.line(&format!("gs.flag = {v};\n    {v} = gs.flag;")),
            _ => {
                let (c, u) = (self.name("c"), self.leaf());
                self.line(&format!(
                    "static int {c} = 1;\n    if ({c} < 9)\n        {c}++;\n    {v} = {c} + (({u}) & 1);"
                ));
            }
        }
    }

    /// Memory whose size is computed: arrays of variable length and `alloca`. Some lengths are 0.
    fn varying(&mut self) {
        let (v, e, l) = (self.target(), self.integer(1), self.leaf());
        let (a, n, i) = (self.name("w"), self.name("n"), self.counter("i"));
        let least = u32::from(!self.chance(10));
        let length = format!("(int)((unsigned)({l}) & 3) + {least}");
        match self.below(6) {
            0 => {
                self.line(&format!("int {n} = {length}, {a}[{n}];"));
                self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++)\n        {a}[{i}] = {e};"));
                self.line(&format!("{v} = {a}[{n} - 1];\n    {n} = sizeof {a};"));
                self.integers.push(n);
            }
            1 => {
                self.line(&format!("int {n} = {length}, {a}[2][{n}];"));
                self.line(&format!("memset({a}, 0, sizeof {a});\n    {a}[1][{n} - 1] = {e};"));
                self.line(&format!("{v} = {a}[1][0] + (int)(&{a}[1][0] - &{a}[0][0]);"));
            }
            2 => {
                self.line(&format!("for (int {i} = 1; {i} < 4; {i}++) {{"));
                self.line(&format!("    char {a}[{i} + 1];\n        {a}[{i}] = {e};"));
                self.line(&format!("    {v} = {a}[{i}] + (int)sizeof {a};\n    }}"));
            }
            3 => {
                let index = self.index(4);
                self.line(&format!("int {n} = {length}, {a}[{n}];"));
                self.line(&format!("{a}[0] = {e};\n    {a}[{n} - 1] = 2;\n    {v} = {a}[{index}];"));
            }
            4 => {
                self.line(&format!("int {n} = {length}, {a}[2][{n}];\n    {a}[1][{n} - 1] = {e};"));
                self.line(&format!("{v} = last(2, {n}, {a});"));
            }
            _ => {
                self.line(&format!(
                    "int {n} = {length};\n    int *{a} = __builtin_alloca({n} * sizeof *{a});"
                ));
                self.line(&format!("{a}[0] = 1;\n    {a}[{n} - 1] = {e};\n    {v} = {a}[0];"));
            }
        }
    }

    pub(super) fn calling(&mut self) {
        let (v, e) = (self.target(), self.integer(1));
        let (low, high) = (self.below(4), 5 + self.below(100));
        match self.below(9) {
            0 | 1 => self.line(&format!("{v} = clamp({e}, {low}, {high});")),
            2 => {
                let f = self.one(&["twice", "negate"]);
                self.line(&format!("{v} = {f}({e});"));
            }
            3 => {
                let i = self.index(2);
                self.line(&format!("{v} = ops[{i}]({e});"));
            }
            4 => self.line(&format!("{v} = depth(({e}) & 7);")),
            5 => {
                let b = self.leaf();
                self.line(&format!("{v} = gcd({e}, {b});"));
            }
            6 => self.line(&format!("{v} = next_id();")),
            7 => {
                let place = self.one(&["&count", "&count", "&count", "NULL"]);
                self.line(&format!("{v} = bump({place});"));
            }
            _ => {
                let f = self.name("fn");
                let c = self.condition();
                self.line(&format!("int (*{f})(int) = {c} ? twice : negate;\n    {v} = {f}({e});"));
            }
        }
    }
}
