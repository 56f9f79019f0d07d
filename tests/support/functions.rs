//! What the tokens of a C file tell of its functions: where they stand, and of what types their locals are said
//! to be. Whatever is not plain is left out.

use super::edits::{Kind, Token, closing, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Words that begin statements, or stand in them, and name nothing.
const STATEMENTS: [&str; 12] =
    ["break", "case", "continue", "default", "do", "else", "for", "goto", "if", "return", "switch", "while"];

/// A function of a file.
pub struct Function {
    pub name: String,
    pub range: Range<usize>,
    /// What stands before its name.
    pub result: String,
    /// By the name of a parameter or local, its type; none where that is no plain one, or there are several.
    pub locals: BTreeMap<String, Option<String>>,
}

/// What the files of a project say everywhere.
#[derive(Default)]
pub struct Project {
    /// Macros, and whether they take arguments.
    pub macros: BTreeMap<String, bool>,
    /// The words of their bodies.
    pub expanded: BTreeSet<String>,
    /// Types that are integers at least as wide as `int`.
    pub wide: BTreeSet<String>,
}

/// Integers that are not promoted.
const WIDE: [&str; 9] = [
    "int",
    "unsigned",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "size_t",
    "long unsigned int",
];

impl Project {
    pub fn of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Project {
        let mut found =
            Project { wide: WIDE.iter().map(|w| (*w).to_owned()).collect(), ..Project::default() };
        for text in texts.clone() {
            found.read_macros(text);
        }
        // A type may be made of another.
        for _ in 0..2 {
            for text in texts.clone() {
                found.read_types(text);
            }
        }
        found
    }

    fn read_macros(&mut self, text: &str) {
        let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
        for line in joined.lines() {
            let Some(rest) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
            let Some(rest) = rest.strip_prefix("define").map(str::trim_start) else { continue };
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let (name, body) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            let takes = body.starts_with('(');
            *self.macros.entry(name.to_owned()).or_default() |= takes;
            self.expanded.extend(body.split(|c| !is_word(c)).filter(|w| !w.is_empty()).map(str::to_owned));
        }
    }

    fn read_types(&mut self, text: &str) {
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("typedef ") else { continue };
            let words: Vec<&str> = rest.split(';').next().unwrap_or_default().split_whitespace().collect();
            if let Some((name, of)) = words.split_last()
                && self.wide.contains(&of.join(" "))
            {
                self.wide.insert((*name).to_owned());
            }
        }
    }

    pub fn is_macro(&self, word: &str) -> bool {
        self.macros.contains_key(word)
    }
}

/// The functions of a text that hold no preprocessor line.
pub fn functions(text: &str) -> Vec<Function> {
    let all = tokens(text, &(0..text.len()));
    let word = |i: usize| all.get(i).map_or("", |t| &text[t.range.clone()]);
    let mut found = Vec::new();
    let mut first = 0;
    let mut at = 0;
    while at < all.len() {
        match word(at) {
            ";" => first = at + 1,
            "{" => {
                let Some(end) = closing(text, &all, at) else { break };
                let range = all[first].range.start..all[end].range.end;
                // A macro of several lines may stand before it.
                let is_line = |l: &str| l.trim_start().starts_with('#') || l.trim_end().ends_with('\\');
                let has_lines = text[range.clone()].lines().any(is_line);
                if word(at - usize::from(at > 0)) == ")" && !has_lines {
                    found.extend(function(text, &all, first, at, range));
                }
                at = end;
                first = end + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn function(text: &str, all: &[Token], first: usize, body: usize, range: Range<usize>) -> Option<Function> {
    let word = |i: usize| &text[all[i].range.clone()];
    let open = (first..body).rev().find(|i| closing(text, all, *i) == Some(body - 1) && word(*i) == "(")?;
    let name = open.checked_sub(1).filter(|n| *n > first && all[*n].kind == Kind::Word)?;
    let mut function = Function {
        name: word(name).to_owned(),
        result: text[all[first].range.start..all[name].range.start].trim().to_owned(),
        locals: BTreeMap::new(),
        range,
    };
    let mut from = open + 1;
    for at in open + 1..body {
        if at == body - 1 || word(at) == "," {
            if let Some((ty, name)) = declarator(text, all, from, at, "") {
                function.declare(name, ty);
            }
            from = at + 1;
        }
    }
    let end = closing(text, all, body)?;
    for at in body + 1..end {
        let begins = matches!(word(at - 1), ";" | "{" | "}") || word(at - 1) == "(" && word(at - 2) == "for";
        if begins && all[at].kind == Kind::Word && !STATEMENTS.contains(&word(at)) {
            function.declared(text, all, at, end);
        }
    }
    Some(function)
}

/// `T *x` between two tokens, of which the second is none of it.
fn declarator(
    text: &str,
    all: &[Token],
    from: usize,
    to: usize,
    base: &str,
) -> Option<(Option<String>, String)> {
    let word = |i: usize| &text[all[i].range.clone()];
    let end = (from..to).find(|i| word(*i) == "[").unwrap_or(to);
    let name = end.checked_sub(1).filter(|n| *n >= from && all[*n].kind == Kind::Word)?;
    let ty: Vec<&str> = (from..name).map(word).collect();
    let plain = end == to
        && (from..name).all(|i| all[i].kind == Kind::Word || word(i) == "*")
        && !ty.contains(&"static")
        && !ty.contains(&"volatile");
    let ty: Vec<&str> = ty.into_iter().filter(|w| *w != "register").collect();
    let ty = format!("{base} {}", ty.join(" ")).trim().to_owned();
    (!ty.is_empty()).then(|| (plain.then_some(ty), word(name).to_owned()))
}

impl Function {
    fn declare(&mut self, name: String, ty: Option<String>) {
        self.locals.entry(name).and_modify(|t| *t = None).or_insert(ty);
    }

    /// Notes what a declaration declares, if one begins at a token.
    fn declared(&mut self, text: &str, all: &[Token], at: usize, end: usize) {
        let word = |i: usize| all.get(i).map_or("", |t| &text[t.range.clone()]);
        let words = (at..end).take_while(|i| all[*i].kind == Kind::Word).count();
        let stars = (at + words..end).take_while(|i| word(*i) == "*").count();
        let base_words = if stars > 0 { words } else { words.saturating_sub(1) };
        let mut from = at + base_words;
        if base_words == 0 || all.get(from + stars).is_none_or(|t| t.kind != Kind::Word) {
            return;
        }
        let base: Vec<&str> = (at..from).map(word).filter(|w| *w != "register").collect();
        let base = if base.contains(&"static") { "static".to_owned() } else { base.join(" ") };
        loop {
            let stop = (from..end).find(|i| matches!(word(*i), "=" | "," | ";" | ")"));
            let Some(stop) = stop else { return };
            let Some((ty, name)) = declarator(text, all, from, stop, &base) else { return };
            self.declare(name, ty.filter(|_| base != "static"));
            let mut next = stop;
            while next < end && !matches!(word(next), "," | ";") {
                next = if matches!(word(next), "(" | "[" | "{") {
                    closing(text, all, next).map_or(end, |c| c + 1)
                } else {
                    next + 1
                };
            }
            if next >= end || word(next) == ";" {
                return;
            }
            from = next + 1;
        }
    }

    /// The type of a local that is a plain one, and as such.
    pub fn type_of(&self, name: &str) -> Option<&str> {
        self.locals.get(name)?.as_deref()
    }
}
