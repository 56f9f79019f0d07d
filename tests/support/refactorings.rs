//! Edits of real functions that change nothing, as people make them: values hoisted into locals, statements and
//! values extracted into functions, statements reordered, casts that convert nothing. Each is made only where the
//! tokens say that it changes nothing; what has to do with macros is left alone.

use super::edits::{Edit, Kind, Token, closing, line_of, replaced, statement, tokens};
use super::functions::{Function, Project};
use std::collections::BTreeSet;
use std::ops::Range;

const KEYWORDS: [&str; 14] = [
    "break", "case", "continue", "default", "do", "else", "for", "goto", "if", "return", "sizeof", "switch",
    "while", "defined",
];
const ASSIGNS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// A function, its tokens, and what is known of them.
struct Reader<'a> {
    text: &'a str,
    all: Vec<Token>,
    f: &'a Function,
    project: &'a Project,
    /// Locals whose addresses are taken.
    exposed: BTreeSet<&'a str>,
}

/// All edits of a function, by what they do.
pub fn refactorings(text: &str, f: &Function, project: &Project) -> Vec<(&'static str, Vec<Edit>)> {
    let all = tokens(text, &f.range);
    let mut exposed = BTreeSet::new();
    for pair in all.windows(2) {
        if &text[pair[0].range.clone()] == "&" {
            exposed.insert(&text[pair[1].range.clone()]);
        }
    }
    let r = Reader { text, all, f, project, exposed };
    vec![
        ("value hoisted", r.hoisted()),
        ("bound hoisted", r.bounds()),
        ("result in a local", r.results()),
        ("statements extracted", r.extracted()),
        ("value extracted", r.values()),
        ("statements reordered", r.reordered()),
        ("declarations reordered", r.declarations()),
        ("cast", r.casts()),
        ("%lu and %zu", r.formats()),
        ("comma of for written out", r.commas()),
        ("branches exchanged", r.exchanged()),
        ("else dropped", r.without_else()),
        ("index as pointer", r.pointers()),
        ("test of a pointer", r.null_tests()),
        ("while as for", r.whiles()),
    ]
}

impl<'a> Reader<'a> {
    fn word(&self, i: usize) -> &'a str {
        self.all.get(i).map_or("", |t| &self.text[t.range.clone()])
    }

    fn is_word(&self, i: usize) -> bool {
        self.all.get(i).is_some_and(|t| t.kind == Kind::Word)
    }

    fn is_number(&self, i: usize) -> bool {
        self.all.get(i).is_some_and(|t| t.kind == Kind::Number)
            && self.word(i).len() < 10
            && self.word(i).bytes().all(|b| b.is_ascii_digit())
    }

    fn is_member(&self, i: usize) -> bool {
        i > 0 && matches!(self.word(i - 1), "." | "->")
    }

    /// The text of some tokens, the last one not included.
    fn span(&self, range: Range<usize>) -> &'a str {
        if range.is_empty() {
            return "";
        }
        &self.text[self.all[range.start].range.start..self.all[range.end - 1].range.end]
    }

    fn bytes(&self, range: &Range<usize>) -> Range<usize> {
        self.all[range.start].range.start..self.all[range.end - 1].range.end
    }

    fn edit(&self, range: &Range<usize>, by: &str) -> Edit {
        let bytes = self.bytes(range);
        let what = format!("line {}: {}", line_of(self.text, bytes.start), by.replace('\n', " "));
        Edit { what, text: replaced(self.text, &bytes, by) }
    }

    /// With a helper before the function.
    fn edit_with(&self, range: &Range<usize>, by: &str, helper: &str) -> Edit {
        let mut edit = self.edit(range, by);
        edit.what = format!("{} with {}", edit.what, helper.trim_end());
        edit.text.insert_str(self.f.range.start, helper);
        edit
    }

    /// The type of a local that nothing but the function's own text reaches.
    fn type_of(&self, i: usize) -> Option<&'a str> {
        let name = self.word(i);
        let own = !self.exposed.contains(name) && !self.project.is_macro(name);
        self.f.type_of(name).filter(|_| own && !self.is_member(i) && self.word(i + 1) != "(")
    }

    fn body(&self) -> usize {
        (0..self.all.len()).find(|i| self.word(*i) == "{").unwrap_or(self.all.len())
    }

    /// Statements of blocks, each from its first token to the one behind its last; none that a label leads to.
    fn statements(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut depth = 0;
        let mut i = self.body();
        while i + 1 < self.all.len() {
            match self.word(i) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                // What initialises an array or a structure.
                "{" if matches!(self.word(i - 1), "=" | "," | ")") && self.is_initialiser(i) => {
                    let Some(end) = closing(self.text, &self.all, i) else { break };
                    i = end;
                }
                _ => {}
            }
            i += 1;
            let begins = depth == 0 && matches!(self.word(i - 1), ";" | "{" | "}");
            let labelled =
                self.word(i + 1) == ":" || matches!(self.word(i), "case" | "default" | "}" | ";" | "else");
            let tail = self.word(i) == "while" && self.word(i - 1) == "}";
            if begins
                && !labelled
                && !tail
                && let Some(end) = statement(self.text, &self.all, i)
            {
                found.push(i..end + 1);
            }
        }
        found
    }

    fn is_initialiser(&self, open: usize) -> bool {
        matches!(self.word(open - 1), "=" | ",")
    }

    fn is_simple(&self, s: &Range<usize>) -> bool {
        let first = self.word(s.start);
        first != "{" && !KEYWORDS.contains(&first) && self.word(s.end - 1) == ";"
    }

    fn is_declaration(&self, s: &Range<usize>) -> bool {
        self.is_simple(s)
            && self.is_word(s.start)
            && (self.is_word(s.start + 1)
                || self.word(s.start + 1) == "*"
                    && self.is_word(s.start + 2)
                    && !self.f.locals.contains_key(self.word(s.start)))
    }

    /// Names that a statement assigns to.
    fn written(&self, s: &Range<usize>) -> BTreeSet<&'a str> {
        let changes = |i: &usize| {
            let behind = self.word(i + 1);
            let before = self.word(i.wrapping_sub(1));
            ASSIGNS.contains(&behind) || matches!(behind, "++" | "--") || matches!(before, "++" | "--")
        };
        s.clone()
            .filter(|i| self.is_word(*i) && !self.is_member(*i) && changes(i))
            .map(|i| self.word(i))
            .collect()
    }

    fn calls(&self, s: &Range<usize>) -> bool {
        s.clone().any(|i| self.is_word(i) && self.word(i + 1) == "(" && !KEYWORDS.contains(&self.word(i)))
    }

    fn names_macro(&self, s: &Range<usize>) -> bool {
        // A constant is named in capitals.
        let constant =
            |word: &str| !self.project.macros[word] && !word.bytes().any(|b| b.is_ascii_lowercase());
        s.clone().any(|i| {
            let word = self.word(i);
            self.is_word(i) && self.project.is_macro(word) && !constant(word)
        })
    }

    fn has(&self, s: &Range<usize>, words: &[&str]) -> bool {
        s.clone().any(|i| words.contains(&self.word(i)))
    }

    /// Locals and numbers alone, and what computes with them.
    fn is_pure(&self, s: &Range<usize>) -> bool {
        s.clone().all(|i| match self.all[i].kind {
            Kind::Word => self.type_of(i).is_some(),
            Kind::Number => true,
            Kind::Mark => matches!(
                self.word(i),
                "+" | "-" | "&" | "|" | "^" | "(" | ")" | "<" | ">" | "<=" | ">=" | "==" | "!="
            ),
            Kind::Other => false,
        }) && !s.clone().any(|i| self.is_word(i) && self.word(i + 1) == "(")
            && !(s.start > 0
                && s.clone().any(|i| self.word(i) == "&" && !self.is_word(i - 1) && self.word(i - 1) != ")"))
    }

    /// The type of `x op y` where both are plain.
    fn sum_type(&self, i: usize) -> Option<&'a str> {
        let op = self.word(i);
        if !matches!(op, "+" | "-" | "*" | "&" | "|" | "^") {
            return None;
        }
        let of = |k: usize| {
            self.type_of(k).map(|t| t.strip_prefix("const ").filter(|u| !u.contains('*')).unwrap_or(t))
        };
        let left = of(i - 1)?;
        let wide = self.project.wide.contains(left);
        let pointed = left.ends_with('*') && matches!(op, "+" | "-");
        match of(i + 1) {
            Some(right) => (wide && left == right).then_some(left),
            None => ((wide || pointed) && self.is_number(i + 1)).then_some(left),
        }
    }

    /// `a op b` that stands by itself within some tokens.
    fn stands_alone(&self, i: usize) -> bool {
        // A comparison binds tighter than `&`.
        let compared = |k: usize| {
            matches!(self.word(i), "+" | "-" | "*") && matches!(self.word(k), "<" | ">" | "<=" | ">=")
        };
        let begins = matches!(self.word(i - 2), "(" | "=" | "," | "return" | "[") || compared(i - 2);
        let ends = matches!(self.word(i + 2), ")" | ";" | "," | "]" | "&&" | "||" | "?") || compared(i + 2);
        begins && ends
    }

    /// `s(a + b);` as `T hoisted = a + b; s(hoisted);`.
    fn hoisted(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for s in self.statements() {
            let end = match self.word(s.start) {
                "if" => closing(self.text, &self.all, s.start + 1).map_or(s.start, |c| c + 1),
                "return" => s.end,
                _ if self.is_simple(&s) && !self.is_declaration(&s) => s.end,
                _ => continue,
            };
            let within = s.start..end;
            if self.names_macro(&within) {
                continue;
            }
            for i in s.start + 3..end.saturating_sub(2) {
                let Some(ty) = self.sum_type(i).filter(|_| self.stands_alone(i)) else { continue };
                let before = s.start..i - 1;
                let of = [self.word(i - 1), self.word(i + 1)];
                let written = self.written(&before);
                let plain = self.word(s.start + 1) == "=";
                let changed = of.iter().any(|n| written.contains(n) && !(plain && *n == self.word(s.start)))
                    || of
                        .iter()
                        .any(|n| self.word(s.start) == *n && self.written(&(s.start + 1..end)).contains(n));
                if changed || self.has(&before, &["&&", "||", "?", "sizeof"]) {
                    continue;
                }
                let by = format!(
                    "{ty} hoisted = {};\n    {}hoisted{}",
                    self.span(i - 1..i + 2),
                    &self.text[self.all[s.start].range.start..self.all[i - 1].range.start],
                    &self.text[self.all[i + 1].range.end..self.all[s.end - 1].range.end]
                );
                found.push(self.edit(&s, &by));
            }
        }
        found
    }

    /// `for (; i < n - 1;)` as `T bound = n - 1; for (; i < bound;)`.
    fn bounds(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for s in self.statements() {
            if !matches!(self.word(s.start), "for" | "while") || self.names_macro(&s) {
                continue;
            }
            let Some(close) = closing(self.text, &self.all, s.start + 1) else { continue };
            let first = match self.word(s.start) {
                "for" => (s.start + 2..close).find(|i| self.word(*i) == ";").unwrap_or(close) + 1,
                _ => s.start + 2,
            };
            let changes = self.written(&s);
            let compares = |k: usize| matches!(self.word(k), "<" | ">" | "<=" | ">=" | "==" | "!=");
            for at in first + 1..close.saturating_sub(1) {
                // What is compared with is `n`, or `n - 1`.
                let (end, ty) = match matches!(self.word(at + 1), "+" | "-" | "*") {
                    true => (at + 3, self.sum_type(at + 1)),
                    false => (at + 1, self.type_of(at)),
                };
                let Some(ty) = ty.filter(|_| compares(at - 1) && matches!(self.word(end), ";" | ")")) else {
                    continue;
                };
                let changed = (at..end).any(|k| changes.contains(self.word(k)));
                if changed || self.has(&(first..at), &["&&", "||", "?", "("]) {
                    continue;
                }
                let by = format!(
                    "{ty} bound = {};\n    {}bound{}",
                    self.span(at..end),
                    &self.text[self.all[s.start].range.start..self.all[at].range.start],
                    &self.text[self.all[end - 1].range.end..self.all[s.end - 1].range.end]
                );
                found.push(self.edit(&s, &by));
            }
        }
        found
    }

    /// What the function returns, as a type that can be written once more.
    fn result(&self) -> Option<String> {
        let words = self
            .f
            .result
            .split_whitespace()
            .filter(|w| !matches!(*w, "static" | "inline" | "extern") && !self.project.is_macro(w));
        let ty = words.collect::<Vec<_>>().join(" ");
        let plain = ty.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '*' | ' '));
        (plain && !ty.is_empty() && ty != "void").then_some(ty)
    }

    /// `return e;` as `{ T kept = e; return kept; }`.
    fn results(&self) -> Vec<Edit> {
        let Some(ty) = self.result() else { return Vec::new() };
        let mut found = Vec::new();
        for i in self.body()..self.all.len() {
            let Some(end) =
                statement(self.text, &self.all, i).filter(|e| self.word(i) == "return" && *e > i + 2)
            else {
                continue;
            };
            let by =
                format!("{{\n        {ty} kept = {};\n        return kept;\n    }}", self.span(i + 1..end));
            let value = i + 1..end;
            if !self.names_macro(&value) {
                found.push(self.edit(&(i..end + 1), &by));
            }
        }
        found
    }

    /// Parameters and arguments for what some tokens read; none where that is not plain.
    fn arguments(&self, s: &Range<usize>) -> Option<(String, String)> {
        let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
        let inner = self.declared_in(s);
        for i in s.clone().filter(|i| self.is_word(*i) && !self.is_member(*i)) {
            let name = self.word(i);
            if !self.f.locals.contains_key(name) || inner.contains(name) || arguments.contains(&name) {
                continue;
            }
            // What is done to a copy of a structure is not done to it.
            if self.project.expanded.contains(name) || self.word(i + 1) == "." {
                return None;
            }
            parameters.push(format!("{} {name}", self.type_of(i)?));
            arguments.push(name);
        }
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        Some((parameters, arguments.join(", ")))
    }

    /// Locals that are declared in some tokens and stand nowhere else.
    fn declared_in(&self, s: &Range<usize>) -> BTreeSet<&'a str> {
        let stands = |name: &str, within: &Range<usize>| {
            within.clone().filter(|i| self.is_word(*i) && self.word(*i) == name).count()
        };
        let whole = 0..self.all.len();
        let names = s.clone().filter(|i| self.is_word(*i)).map(|i| self.word(i));
        names.filter(|n| self.f.locals.contains_key(*n) && stands(n, s) == stands(n, &whole)).collect()
    }

    /// One to three statements as a call of a new function.
    fn extracted(&self) -> Vec<Edit> {
        const JUMPS: [&str; 9] =
            ["return", "goto", "break", "continue", "case", "default", "alloca", "setjmp", "va_arg"];
        let all = self.statements();
        let mut found = Vec::new();
        for (k, first) in all.iter().enumerate() {
            for number in 0..3 {
                let mut end = first.end;
                let mut reached = true;
                for _ in 0..number {
                    match all[k..].iter().find(|s| s.start == end) {
                        Some(next) => end = next.end,
                        None => reached = false,
                    }
                }
                let s = first.start..end;
                let declares = self.is_declaration(first) && number == 0;
                if !reached || declares || self.has(&s, &JUMPS) || s.len() < 8 || self.names_macro(&s) {
                    continue;
                }
                let inner = self.declared_in(&s);
                if self.written(&s).iter().any(|n| self.f.locals.contains_key(*n) && !inner.contains(n)) {
                    continue;
                }
                let Some((parameters, arguments)) = self.arguments(&s) else { continue };
                let helper =
                    format!("static void extracted({parameters})\n{{\n    {}\n}}\n\n", self.span(s.clone()));
                found.push(self.edit_with(&s, &format!("extracted({arguments});"), &helper));
            }
        }
        found
    }

    /// `x = e;` as `x = extracted(...)`.
    fn values(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for s in self.statements().iter().filter(|s| self.is_simple(s)) {
            if self.word(s.start + 1) != "=" || s.len() < 6 || self.names_macro(s) {
                continue;
            }
            let value = s.start + 2..s.end - 1;
            let Some(ty) = self.type_of(s.start).filter(|_| self.written(&value).is_empty()) else {
                continue;
            };
            let Some((parameters, arguments)) = self.arguments(&value) else { continue };
            let helper = format!(
                "static {ty} extracted({parameters})\n{{\n    return {};\n}}\n\n",
                self.span(value.clone())
            );
            found.push(self.edit_with(&value, &format!("extracted({arguments})"), &helper));
        }
        found
    }

    /// What an assignment of something plain sets: a local, or a member of what a local points to.
    fn target(&self, s: &Range<usize>) -> Option<(&'a str, Option<&'a str>)> {
        self.type_of(s.start)?;
        let (member, value) = match (self.word(s.start + 1), self.word(s.start + 3)) {
            ("=", _) => (None, s.start + 2),
            ("->", "=") => (Some(self.word(s.start + 2)), s.start + 4),
            _ => return None,
        };
        (self.is_simple(s) && self.is_pure(&(value..s.end - 1))).then_some((self.word(s.start), member))
    }

    /// Two assignments that have nothing to do with each other the other way round.
    fn reordered(&self) -> Vec<Edit> {
        let all = self.statements();
        let mut found = Vec::new();
        for pair in all.iter().filter_map(|a| Some((a, all.iter().find(|b| b.start == a.end)?))) {
            let (a, b) = pair;
            let (Some((x, m)), Some((y, n))) = (self.target(a), self.target(b)) else { continue };
            let mentions =
                |s: &Range<usize>, name| s.clone().any(|i| self.word(i) == name && !self.is_member(i));
            let apart = match (m, n) {
                (None, None) => !mentions(b, x) && !mentions(a, y),
                (Some(m), Some(n)) => x == y && m != n && ![m, n].iter().any(|w| self.project.is_macro(w)),
                (None, Some(_)) => !mentions(b, x),
                (Some(_), None) => !mentions(a, y),
            };
            if apart {
                let by = format!("{}\n    {}", self.span(b.clone()), self.span(a.clone()));
                found.push(self.edit(&(a.start..b.end), &by));
            }
        }
        found
    }

    /// Two declarations the other way round.
    fn declarations(&self) -> Vec<Edit> {
        let all = self.statements();
        let mut found = Vec::new();
        for (a, b) in all.iter().filter_map(|a| Some((a, all.iter().find(|b| b.start == a.end)?))) {
            let single = |s: &Range<usize>| {
                let equals = s.clone().find(|i| matches!(self.word(*i), "=" | ";"))?;
                let value = equals + 1..s.end.saturating_sub(1).max(equals + 1);
                let plain = self.is_declaration(s)
                    && !self.has(s, &[",", "[", "static", "typedef", "struct"])
                    && self.is_pure(&value);
                plain.then(|| self.word(equals - 1))
            };
            let (Some(x), Some(y)) = (single(a), single(b)) else { continue };
            if self.has(a, &[y]) || self.has(b, &[x]) {
                continue;
            }
            let by = format!("{}\n    {}", self.span(b.clone()), self.span(a.clone()));
            found.push(self.edit(&(a.start..b.end), &by));
        }
        found
    }

    /// `x = e;` as `x = (T)(e);`, and an argument `x` as `(T)x`.
    fn casts(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for s in self.statements().iter().filter(|s| self.is_simple(s) && self.word(s.start + 1) == "=") {
            let value = s.start + 2..s.end - 1;
            if let Some(ty) =
                self.type_of(s.start).filter(|_| !self.has(&value, &[",", "="]) && !self.names_macro(&value))
            {
                found.push(self.edit(&value, &format!("({ty})({})", self.span(value.clone()))));
            }
        }
        for i in self.body()..self.all.len().saturating_sub(1) {
            let Some(ty) = self.type_of(i).filter(|_| matches!(self.word(i + 1), "," | ")")) else {
                continue;
            };
            let open = (0..i)
                .rev()
                .find(|o| self.word(*o) == "(" && closing(self.text, &self.all, *o).is_some_and(|c| c > i));
            let Some(callee) = open.and_then(|o| o.checked_sub(1)) else { continue };
            let called = self.is_word(callee)
                && !KEYWORDS.contains(&self.word(callee))
                && !self.project.is_macro(self.word(callee));
            if called && matches!(self.word(i - 1), "(" | ",") {
                found.push(self.edit(&(i..i + 1), &format!("({ty}){}", self.word(i))));
            }
        }
        found
    }

    /// `%lu` as `%zu`, and the other way round: on LP64 both are of one type.
    fn formats(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for i in self.body()..self.all.len() {
            let literal = self.word(i);
            let (from, to) = if literal.contains("%lu") { ("%lu", "%zu") } else { ("%zu", "%lu") };
            let printed = (i.saturating_sub(6)..i).any(|k| self.word(k).ends_with("printf"));
            if literal.starts_with('"') && literal.contains(from) && printed {
                found.push(self.edit(&(i..i + 1), &literal.replace(from, to)));
            }
        }
        found
    }

    /// `for (a, b; c; d, e) s` as `a; b; for (; c; ) { s d; e; }`.
    fn commas(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for s in self.statements().into_iter().filter(|s| self.word(s.start) == "for") {
            let Some(close) = closing(self.text, &self.all, s.start + 1) else { continue };
            let marks: Vec<usize> = (s.start + 2..close).filter(|k| self.word(*k) == ";").collect();
            let &[first, second] = marks.as_slice() else { continue };
            let (init, step) = (s.start + 2..first, second + 1..close);
            let declares = self.is_word(init.start)
                && (self.is_word(init.start + 1) || self.word(init.start + 1) == "*");
            let continues = self.has(&(close + 1..s.end), &["continue", "case"]);
            if !self.has(&init, &[","]) && !self.has(&step, &[","])
                || declares
                || continues
                || self.calls(&init)
                || self.calls(&step)
            {
                continue;
            }
            let written = |r: Range<usize>| {
                let parts = self.span(r).split(',').map(|p| format!("{}; ", p.trim())).filter(|p| p != "; ");
                parts.collect::<String>()
            };
            let by = format!(
                "{{\n    {}\n    for (; {}; ) {{\n    {}\n    {}\n    }}\n    }}",
                written(init),
                self.span(first + 1..second),
                self.span(close + 1..s.end),
                written(step)
            );
            found.push(self.edit(&s, &by));
        }
        found
    }

    /// The condition of an `if`, what it does, and what it does otherwise.
    fn branches(&self, i: usize) -> Option<[Range<usize>; 3]> {
        let close = closing(self.text, &self.all, i + 1)?;
        let end = statement(self.text, &self.all, close + 1)?;
        let other = statement(self.text, &self.all, end + 2).filter(|_| self.word(end + 1) == "else")?;
        Some([i + 2..close, close + 1..end + 1, end + 2..other + 1])
    }

    /// `if (c) a else b` as `if (!(c)) b else a`.
    fn exchanged(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for i in (self.body()..self.all.len()).filter(|i| self.word(*i) == "if") {
            let Some([c, a, b]) = self.branches(i) else { continue };
            let (c, a, b_text) = (self.span(c), self.span(a), self.span(b.clone()));
            let by = format!("if (!({c})) {{\n    {b_text}\n    }} else {{\n    {a}\n    }}");
            found.push(self.edit(&(i..b.end), &by));
        }
        found
    }

    /// `if (c) { ...; return x; } else b` without the `else`.
    fn without_else(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for s in self.statements().into_iter().filter(|s| self.word(s.start) == "if") {
            let Some([_, a, b]) = self.branches(s.start) else { continue };
            let last = self.statements().into_iter().rfind(|t| t.end + 1 == a.end && t.start > a.start);
            let last = last.unwrap_or(a);
            if matches!(self.word(last.start), "return" | "goto" | "break" | "continue") {
                let by = format!("{}\n    {}", self.span(s.start..b.start - 1), self.span(b));
                found.push(self.edit(&s, &by));
            }
        }
        found
    }

    /// `a[i]` as `*(a + i)`.
    fn pointers(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for i in self.body() + 1..self.all.len().saturating_sub(4) {
            let index =
                self.is_number(i + 2) || self.is_word(i + 2) && !self.project.is_macro(self.word(i + 2));
            let shape = self.word(i + 1) == "["
                && index
                && self.word(i + 3) == "]"
                && self.f.locals.contains_key(self.word(i));
            let before = matches!(
                self.word(i - 1),
                "(" | "=" | "," | ";" | "{" | "}" | "return" | "+" | "<" | ">" | "==" | "!=" | "&&" | "||"
            );
            let behind = !matches!(self.word(i + 4), "[" | "." | "->" | "++" | "--");
            if shape && before && behind && self.type_of(i).is_some_and(|t| t.ends_with('*')) {
                found.push(self.edit(&(i..i + 4), &format!("*({} + {})", self.word(i), self.word(i + 2))));
            }
        }
        found
    }

    /// `if (p)` as `if (p != 0)`, `if (!p)` as `if (p == 0)`.
    fn null_tests(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for i in (self.body()..self.all.len().saturating_sub(5))
            .filter(|i| matches!(self.word(*i), "if" | "while"))
        {
            let negated = usize::from(self.word(i + 2) == "!");
            let name = i + 2 + negated;
            let (word, op) = (self.word(name), self.word(name + 1));
            let pointer = self.f.type_of(word).is_some();
            if pointer && op == ")" {
                let by = format!("{word} {} 0", if negated == 1 { "==" } else { "!=" });
                found.push(self.edit(&(i + 2..name + 1), &by));
            } else if pointer
                && negated == 0
                && self.word(name + 3) == ")"
                && matches!(self.word(name + 2), "NULL" | "Z_NULL" | "0")
            {
                let by = match op {
                    "==" => format!("!{word}"),
                    "!=" => word.to_owned(),
                    _ => continue,
                };
                found.push(self.edit(&(i + 2..name + 3), &by));
            }
        }
        found
    }

    /// `while (c)` as `for (; c;)`.
    fn whiles(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        for s in self.statements().into_iter().filter(|s| self.word(s.start) == "while") {
            if let Some(close) = closing(self.text, &self.all, s.start + 1) {
                let by = format!("for (; {};)", self.span(s.start + 2..close));
                found.push(self.edit(&(s.start..close + 1), &by));
            }
        }
        found
    }
}
