//! Where the statements of a file's functions stand in its bytes: what an edit of the source has to know.
//!
//! The statements are read off the preprocessed tokens, so that macros and conditionals mean here what
//! they mean to the analysis, and each token says whether it is *direct*: written in the file itself and
//! not brought by a macro or a header. Only places between direct tokens can be edited. What is inside
//! parentheses (statement expressions of GNU C) is not looked into.

use super::parse::Parsed;
use super::scan::{ItemKind, Text, is_type_word};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// The functions of a file, in source order.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    pub functions: Vec<FunctionOutline>,
    /// Names that an item of the unit declares at file scope.
    pub declared: BTreeSet<String>,
}

/// One function definition. Offsets are bytes from the file's start.
#[derive(Clone, Debug, Default)]
pub struct FunctionOutline {
    pub name: String,
    /// First byte of the definition.
    pub start: usize,
    /// Type of the result as a declaration's specifier can spell it; `None` where none can.
    pub result: Option<String>,
    /// The parameters as they are declared, from the parenthesis behind the name to the body, old-style
    /// declarations included.
    pub parameters: String,
    /// Between the braces of the body; `None` where a macro brings one of them or the file ends before.
    pub body: Option<Range<usize>>,
    /// The body ends with a `return`, so that control does not fall off its end.
    pub ends_with_return: bool,
    pub returns: Vec<ReturnSite>,
    pub loops: Vec<LoopSite>,
    /// In the order in which they end; those inside another come before it.
    pub statements: Vec<StatementSite>,
    pub locals: Vec<LocalName>,
    /// Names at file scope that mean something where the function begins.
    pub declared: BTreeSet<String>,
}

/// A `return` statement.
#[derive(Clone, Debug)]
pub struct ReturnSite {
    /// From 1.
    pub line: u32,
    /// `None` where a macro brings a part of the statement.
    pub edit: Option<ReturnEdit>,
}

#[derive(Clone, Debug)]
pub struct ReturnEdit {
    pub keyword: Range<usize>,
    pub has_value: bool,
    /// Offset of the semicolon.
    pub semicolon: usize,
}

/// A loop statement.
#[derive(Clone, Debug)]
pub struct LoopSite {
    /// Lines by which the head may be named: of the keyword, of the condition.
    pub lines: Vec<u32>,
    /// `None` where a macro brings a part that would have to be edited.
    pub edit: Option<LoopEdit>,
}

/// Where code that runs at every arrival at the head belongs.
#[derive(Clone, Debug)]
pub enum LoopEdit {
    /// Before this condition, which may be empty (`for (;;)`).
    Condition { text: Range<usize>, is_empty: bool },
    /// At the start of this block.
    Block { start: usize },
    /// Before this statement, which then needs braces.
    Statement { text: Range<usize> },
}

/// A statement, or a declaration of a block, whose ends are written in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementSite {
    /// From its first token to its last; a label is not part of it.
    pub range: Range<usize>,
    /// Another statement can be put before it as it is. Where not, both need braces.
    pub in_block: bool,
}

/// A name that a block declares.
#[derive(Clone, Debug)]
pub struct LocalName {
    pub name: String,
    /// From behind the declarator to the end of its block.
    pub scope: Range<usize>,
}

/// Nested statements beyond which a function is left alone.
const DEEPEST: usize = 400;

/// Words that begin a declaration and name no type.
const DECLARING: [&str; 15] = [
    "static",
    "extern",
    "register",
    "auto",
    "typedef",
    "const",
    "volatile",
    "__const",
    "__volatile__",
    "inline",
    "_Thread_local",
    "__thread",
    "_Alignas",
    "__extension__",
    "_Static_assert",
];

/// Words in front of a function's name that say nothing of its result.
const NO_TYPE: [&str; 11] = [
    "static",
    "extern",
    "inline",
    "__inline",
    "__inline__",
    "_Noreturn",
    "__noreturn__",
    "register",
    "auto",
    "__extension__",
    "_Thread_local",
];

/// Reads the outline of the unit's own file.
pub fn outline(parsed: &Parsed) -> Outline {
    let places = Places::new(parsed);
    let text = parsed.text();
    let mut out = Outline::default();
    let mut typedefs: BTreeSet<String> = BTreeSet::new();
    for item in &parsed.items {
        if let ItemKind::Function { name, at, body } = &item.kind
            && places.is_own(item.tokens.start)
        {
            out.declared.insert(name.clone());
            let function = FunctionOutline {
                name: name.clone(),
                start: places.offset(item.tokens.start),
                result: result_type(text, item.tokens.start..*at),
                parameters: spelled(text, at + 1..*body),
                declared: out.declared.clone(),
                ..FunctionOutline::default()
            };
            let end = item.tokens.end;
            let mut body_of =
                Body { text, places: &places, typedefs: typedefs.clone(), end, function, depth: 0, last: "" };
            body_of.read(*body);
            out.functions.push(body_of.function);
        }
        out.declared.extend(item.declares.iter().cloned());
        if item.kind == ItemKind::Typedef {
            typedefs.extend(item.declares.iter().cloned());
        }
    }
    out
}

fn spelled(text: Text<'_>, tokens: Range<usize>) -> String {
    tokens.map(|at| text.at(at)).collect::<Vec<_>>().join(" ")
}

/// Spells the type that a function's specifiers and stars say.
fn result_type(text: Text<'_>, tokens: Range<usize>) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    let mut at = tokens.start;
    while at < tokens.end {
        match text.at(at) {
            "__attribute__" | "__attribute" | "_Alignas" => {
                at = text.after_group(at + 1, tokens.end);
                continue;
            }
            "(" | "{" | "[" => return None,
            word if NO_TYPE.contains(&word) => {}
            word => words.push(word),
        }
        at += 1;
    }
    Some(if words.iter().all(|w| *w == "*") {
        format!("int {}", words.concat()).trim().to_owned()
    } else {
        words.join(" ")
    })
}

/// Where the tokens of a unit stand in its own file.
struct Places {
    /// By token: the bytes, where the token is direct.
    direct: Vec<Option<Range<usize>>>,
    /// By token: offset of the token, of the macro call that brought it, or of what comes before.
    offsets: Vec<usize>,
    lines: Vec<u32>,
    own: Vec<bool>,
    bytes: Vec<u8>,
}

impl Places {
    fn new(parsed: &Parsed) -> Places {
        let sources = &parsed.session.sources;
        let n = parsed.tokens.len();
        let mut places = Places {
            direct: Vec::with_capacity(n),
            offsets: Vec::with_capacity(n),
            lines: Vec::with_capacity(n),
            own: Vec::with_capacity(n),
            bytes: Vec::new(),
        };
        let (mut offset, mut line) = (0, 0);
        for token in &parsed.tokens {
            let span = token.report_span();
            let file = sources.lookup_file(span.lo).map(|id| sources.file(id));
            let own = file.filter(|f| f.included_from.is_none() && Path::new(&f.name) == parsed.path);
            if let Some(file) = own {
                if places.bytes.is_empty() {
                    places.bytes = file.bytes().to_vec();
                }
                offset = span.lo.saturating_sub(file.start) as usize;
                line = sources.lookup(span.lo).map_or(line, |l| l.line);
            }
            let direct = own.filter(|_| token.expansion.is_dummy());
            places.direct.push(direct.map(|f| {
                let at = |p: u32| p.saturating_sub(f.start) as usize;
                at(token.span.lo)..at(token.span.hi)
            }));
            places.offsets.push(offset);
            places.lines.push(line);
            places.own.push(own.is_some());
        }
        places
    }

    fn direct(&self, token: usize) -> Option<Range<usize>> {
        self.direct.get(token).cloned().flatten()
    }

    fn is_own(&self, token: usize) -> bool {
        self.own.get(token).copied().unwrap_or(false)
    }

    fn offset(&self, token: usize) -> usize {
        self.offsets.get(token).or(self.offsets.last()).copied().unwrap_or(0)
    }

    fn line(&self, token: usize) -> u32 {
        self.lines.get(token).or(self.lines.last()).copied().unwrap_or(0)
    }

    /// Whether a directive stands in these bytes: what is between is then not what one compiler sees.
    fn has_directive(&self, bytes: Range<usize>) -> bool {
        let text = self.bytes.get(bytes).unwrap_or_default();
        text.split(|b| *b == b'\n').skip(1).any(|line| line.trim_ascii_start().starts_with(b"#"))
    }
}

/// Reads one body.
struct Body<'a> {
    text: Text<'a>,
    places: &'a Places,
    typedefs: BTreeSet<String>,
    /// One past the function's last token.
    end: usize,
    function: FunctionOutline,
    depth: usize,
    /// First word of the last statement of the body so far.
    last: &'a str,
}

impl Body<'_> {
    fn read(&mut self, open: usize) {
        let close = self.text.after_group(open, self.end).saturating_sub(1);
        let is_closed = close > open && self.text.at(close) == "}";
        if let (true, Some(open), Some(close)) =
            (is_closed, self.places.direct(open), self.places.direct(close))
        {
            self.function.body = Some(open.end..close.start);
        }
        self.block(open);
        self.function.ends_with_return = self.last == "return";
    }

    /// Reads the block that opens at a token; returns the token after it.
    fn block(&mut self, open: usize) -> usize {
        let after = self.text.after_group(open, self.end);
        let close = after.saturating_sub(1);
        let mut at = open + 1;
        while at < close {
            if self.depth == 0 {
                self.last = self.text.at(at);
            }
            at = match self.is_declaration(at) {
                true => {
                    let next = self.declaration(at, close, close);
                    self.add_statement(at, next, true);
                    next
                }
                false => self.statement(at, close, true),
            };
        }
        after
    }

    fn is_declaration(&self, at: usize) -> bool {
        let word = self.text.at(at);
        if is_type_word(word) || DECLARING.contains(&word) {
            return true;
        }
        let named = self.text.name(at).is_some_and(|n| self.typedefs.contains(n) && !self.is_hidden(n, at));
        // `T * x;` is a declaration if `T` is a type; `T:` is a label.
        named && self.text.at(at + 1) != ":"
    }

    /// Whether a block's own name hides a type's.
    fn is_hidden(&self, name: &str, at: usize) -> bool {
        let here = self.places.offset(at);
        self.function.locals.iter().any(|l| l.name == name && l.scope.contains(&here))
    }

    /// Reads a declaration whose names live until the token `until`; returns the token after it.
    fn declaration(&mut self, at: usize, end: usize, until: usize) -> usize {
        let after = self.after_semicolon(at, end);
        let names = self.text.declarators(at, after);
        if self.text.at(at) == "typedef" {
            self.typedefs.extend(names);
        } else {
            let scope = self.places.offset(at)..self.places.offset(until);
            self.function
                .locals
                .extend(names.into_iter().map(|name| LocalName { name, scope: scope.clone() }));
        }
        after
    }

    fn after_semicolon(&self, mut at: usize, end: usize) -> usize {
        while at < end {
            match self.text.at(at) {
                "(" | "[" | "{" => at = self.text.after_group(at, end),
                ";" => return at + 1,
                _ => at += 1,
            }
        }
        end
    }

    fn add_statement(&mut self, at: usize, after: usize, in_block: bool) {
        let Some(last) = self.places.direct(after.saturating_sub(1)) else { return };
        // A macro may bring the first token, but not one before it as well.
        let start = self.places.offset(at);
        let begins =
            self.places.is_own(at) && at.checked_sub(1).is_none_or(|b| self.places.offset(b) < start);
        let range = start..last.end;
        if begins && (in_block || !self.places.has_directive(range.clone())) {
            self.function.statements.push(StatementSite { range, in_block });
        }
    }

    /// Reads a statement; returns the token after it.
    fn statement(&mut self, at: usize, end: usize, in_block: bool) -> usize {
        if at >= end || self.depth >= DEEPEST {
            return end;
        }
        self.depth += 1;
        let after = self.statement_here(at, end, in_block).clamp(at + 1, end.max(at + 1));
        self.depth -= 1;
        if !self.is_labelled(at) {
            self.add_statement(at, after, in_block);
        }
        after
    }

    fn is_labelled(&self, at: usize) -> bool {
        matches!(self.text.at(at), "case" | "default")
            || self.text.name(at).is_some() && self.text.at(at + 1) == ":"
    }

    fn statement_here(&mut self, at: usize, end: usize, in_block: bool) -> usize {
        match self.text.at(at) {
            "{" => self.block(at),
            ";" => at + 1,
            "if" => self.if_statement(at, end),
            "switch" => {
                let body = self.text.after_group(at + 1, end);
                // Control jumps into the body, never to its start.
                match self.text.at(body) {
                    "{" => self.block(body),
                    _ => self.statement(body, end, false),
                }
            }
            "while" => {
                let body = self.text.after_group(at + 1, end);
                let edit = self.condition(at + 1, body.saturating_sub(1));
                self.function.loops.push(LoopSite { lines: self.lines(at, at + 2), edit });
                self.statement(body, end, false)
            }
            "for" => self.for_statement(at, end),
            "do" => self.do_statement(at, end),
            "return" => self.return_statement(at, end),
            "case" | "default" => {
                let after = self.after_colon(at, end);
                self.statement(after, end, in_block)
            }
            _ if self.text.name(at).is_some() && self.text.at(at + 1) == ":" => {
                self.statement(at + 2, end, in_block)
            }
            _ => self.after_semicolon(at, end),
        }
    }

    /// `else if` chains may be long.
    fn if_statement(&mut self, mut at: usize, end: usize) -> usize {
        loop {
            let then = self.text.after_group(at + 1, end);
            let after = self.statement(then, end, false);
            if after >= end || self.text.at(after) != "else" {
                return after;
            }
            if self.text.at(after + 1) != "if" {
                return self.statement(after + 1, end, false);
            }
            at = after + 1;
        }
    }

    /// Returns the token after the colon of a `case`.
    fn after_colon(&self, mut at: usize, end: usize) -> usize {
        let mut questions = 0usize;
        while at < end {
            match self.text.at(at) {
                "(" | "[" | "{" => {
                    at = self.text.after_group(at, end);
                    continue;
                }
                "?" => questions += 1,
                ":" if questions == 0 => return at + 1,
                ":" => questions -= 1,
                _ => {}
            }
            at += 1;
        }
        end
    }

    fn lines(&self, keyword: usize, condition: usize) -> Vec<u32> {
        let mut lines = vec![self.places.line(keyword), self.places.line(condition)];
        lines.dedup();
        lines
    }

    /// The text between two tokens as a condition.
    fn condition(&self, before: usize, after: usize) -> Option<LoopEdit> {
        let text = self.places.direct(before)?.end..self.places.direct(after)?.start;
        let is_empty = before + 1 == after;
        (!self.places.has_directive(text.clone())).then_some(LoopEdit::Condition { text, is_empty })
    }

    fn for_statement(&mut self, at: usize, end: usize) -> usize {
        let body = self.text.after_group(at + 1, end);
        let close = body.saturating_sub(1);
        let first = self.after_semicolon(at + 2, close).saturating_sub(1);
        let second = self.after_semicolon(first + 1, close).saturating_sub(1);
        let declares = self.is_declaration(at + 2);
        let known = self.function.locals.len();
        if declares {
            self.declaration(at + 2, first + 1, close);
        }
        let edit = self.condition(first, second);
        let lines = self.lines(at, if first + 1 == second { at } else { first + 1 });
        self.function.loops.push(LoopSite { lines, edit });
        let declared = known..self.function.locals.len();
        // What the body declares comes behind; the end of the scope is known only after it.
        for local in self.function.locals.get_mut(declared.clone()).unwrap_or_default() {
            local.scope.end = usize::MAX;
        }
        let after = self.statement(body, end, false);
        // What is put behind the statement stands before the next token.
        let last = self.places.direct(after.saturating_sub(1));
        let until = last.map_or(self.places.offset(after), |range| range.end);
        for local in self.function.locals.get_mut(declared).unwrap_or_default() {
            local.scope.end = until;
        }
        after
    }

    fn do_statement(&mut self, at: usize, end: usize) -> usize {
        let site = self.function.loops.len();
        let line = self.places.line(at);
        self.function.loops.push(LoopSite { lines: vec![line], edit: None });
        let after = self.statement(at + 1, end, false);
        let edit = match (self.places.direct(at + 1), self.places.direct(after.saturating_sub(1))) {
            (Some(open), _) if self.text.at(at + 1) == "{" => Some(LoopEdit::Block { start: open.end }),
            (Some(first), Some(last)) => {
                let text = first.start..last.end;
                let whole = !self.places.has_directive(text.clone());
                whole.then_some(LoopEdit::Statement { text })
            }
            _ => None,
        };
        if let Some(site) = self.function.loops.get_mut(site) {
            site.edit = edit;
        }
        self.after_semicolon(after, end)
    }

    fn return_statement(&mut self, at: usize, end: usize) -> usize {
        let after = self.after_semicolon(at, end);
        let semicolon = after.saturating_sub(1);
        let edit = match (self.places.direct(at), self.places.direct(semicolon)) {
            (Some(keyword), Some(last)) if self.text.at(semicolon) == ";" => {
                let edit = ReturnEdit {
                    has_value: semicolon > at + 1,
                    semicolon: last.start,
                    keyword: keyword.clone(),
                };
                (!self.places.has_directive(keyword.end..last.start)).then_some(edit)
            }
            _ => None,
        };
        self.function.returns.push(ReturnSite { line: self.places.line(at), edit });
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::parse::{Options, parse};
    use crate::history::MemoryTree;

    fn of(source: &str) -> Outline {
        let tree = MemoryTree::new([("a.c", source), ("h.h", "static int in_header(void) { return 1; }\n")]);
        outline(&parse(&tree, Path::new("a.c"), &Options::default()).unwrap())
    }

    /// Returns what stands between `return` and `;`, or `macro`, of every return.
    fn returns(source: &str) -> Vec<String> {
        let text = |r: &ReturnSite| match &r.edit {
            Some(e) => source[e.keyword.end..e.semicolon].trim().to_owned(),
            None => "macro".to_owned(),
        };
        of(source).functions.iter().flat_map(|f| &f.returns).map(text).collect()
    }

    #[test]
    fn statements_may_begin_with_a_macro() {
        let source = "#define A(x) f(x)\n#define B x = 1; x = 2\nint f(int x) { A(1); B; return x; }\n";
        let sites = of(source).functions[0].statements.clone();
        let texts: Vec<&str> = sites.iter().map(|s| &source[s.range.clone()]).collect();
        assert_eq!(texts, ["A(1);", "return x;"]);
    }

    #[test]
    fn statements_know_whether_one_can_be_put_before_them() {
        let source = "#define M x = 1;\nint f(int x) { int y = 1; M\nif (x) y = 2; else { y = 3; }\n\
            l: y = 4; switch (x) { case 1: y = 5; default: ; } while (x) x--; return y; }\n";
        let sites = of(source).functions[0].statements.clone();
        let texts: Vec<String> = sites
            .iter()
            .map(|s| format!("{}{}", if s.in_block { "" } else { "!" }, &source[s.range.clone()]))
            .collect();
        let short = ["int y = 1;", "!y = 2;", "y = 3;", "!{ y = 3; }", "y = 4;", "y = 5;", ";", "!x--;"];
        for text in short {
            assert!(texts.iter().any(|t| t == text), "{text}: {texts:?}");
        }
        assert!(texts.iter().any(|t| t.starts_with("switch")) && !texts.iter().any(|t| t.starts_with("l:")));
        assert!(!texts.iter().any(|t| t.contains("M")), "a macro brings it");
    }

    #[test]
    fn returns_are_found_wherever_they_stand() {
        let source = "#define TWICE(x) ((x) * 2)\n#define LEAVE return 7\n#define MINUS -1;\n#include \"h.h\"\n\
            int f(int a) { if (a) return 1; else if (a > 2) { return TWICE(a); } else return a ? 2 : 3;\n\
            switch (a) { case 1 ? 2 : 3: return 4; default: ; }\nwhile (a) do return 5; while (0);\n\
            out: return (int){6};\nLEAVE;\nreturn MINUS\n({ return 8; });\nfor (;;) return 9; }\n";
        assert_eq!(
            returns(source),
            ["1", "TWICE(a)", "a ? 2 : 3", "4", "5", "(int){6}", "macro", "macro", "9"]
        );
        assert_eq!(returns("int f(int a) { return\n#if 1\n a\n#endif\n; }"), ["macro"]);
        assert_eq!(returns("void f(void) { return; }"), [""]);
    }

    #[test]
    fn a_body_that_does_not_end_has_no_place() {
        for source in ["int f(int a) { ", "int f(int a) { return a;", "int f(int a) { g(a"] {
            let bodies: Vec<_> = of(source).functions.into_iter().map(|f| f.body).collect();
            assert_eq!(bodies, [None], "{source}");
        }
    }

    #[test]
    fn results_are_spelled() {
        let types = |source: &str| -> Vec<Option<String>> {
            of(source).functions.into_iter().map(|f| f.result).collect()
        };
        let spelled = |text: &str| Some(text.to_owned());
        assert_eq!(
            types(
                "#define API(t) t\nf() { } static inline API(const char *) g(a) int a; { }\nstruct s h(void) { }"
            ),
            [spelled("int"), spelled("const char *"), spelled("struct s")]
        );
        assert_eq!(types("int (*f(int x))(int) { return 0; }"), [None]);
        assert_eq!(types("*f(void) { return 0; }"), [spelled("int *")]);
    }

    #[test]
    fn names_have_scopes() {
        let source = "typedef int T;\nint f(int n) { T a; { T *b = 0, c; n; } for (int i = 0; i < n; i++) { int d; } T:\nreturn 0; }";
        let f = of(source).functions.remove(0);
        let scopes: Vec<(&str, &str)> = f
            .locals
            .iter()
            .map(|l| (l.name.as_str(), source[l.scope.clone()].trim()))
            .map(|(name, text)| (name, &text[text.len().saturating_sub(6)..]))
            .collect();
        let expected = [("a", "turn 0;"), ("b", "c; n;"), ("c", "c; n;"), ("i", "int d; }"), ("d", "int d;")];
        let ends: Vec<(&str, bool)> = scopes
            .iter()
            .zip(expected)
            .map(|((n, s), (_, e))| (*n, e.ends_with(s) || s.ends_with(e)))
            .collect();
        assert_eq!(ends, [("a", true), ("b", true), ("c", true), ("i", true), ("d", true)], "{scopes:?}");
    }

    #[test]
    fn heads_of_loops_are_found() {
        let source = "int f(int n) {\n while (n) n--;\n for (;;) break;\n for (int i = 0;\n i < n; i++) ;\n do n++; while (n);\n do { } while (n); return 0; }";
        let f = of(source).functions.remove(0);
        let text = |l: &LoopSite| match &l.edit {
            Some(LoopEdit::Condition { text, is_empty }) => {
                format!("{}{is_empty}", source[text.clone()].trim())
            }
            Some(LoopEdit::Block { start }) => format!("block {}", &source[*start..*start + 2]),
            Some(LoopEdit::Statement { text }) => format!("statement {}", &source[text.clone()]),
            None => "none".into(),
        };
        let found: Vec<String> = f.loops.iter().map(text).collect();
        assert_eq!(found, ["nfalse", "true", "i < nfalse", "statement n++;", "block  }"]);
        assert_eq!(f.loops[2].lines, [4, 5]);
    }
}
