//! Small edits of C functions: mutants of one token, and edits that change nothing of what a function
//! does. They work on tokens and know nothing of what the functions are for.

use std::ops::Range;

/// One edited file.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What was done, with its line.
    pub what: String,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Number,
    Mark,
    Other,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub range: Range<usize>,
}

const MARKS: [&str; 29] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "<", ">", "&", "|",
];

/// Tokens of a text without comments and preprocessor lines.
pub fn tokens(text: &str, within: &Range<usize>) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut fresh = true;
    while at < bytes.len() && at < within.end {
        let rest = &text[at..];
        let first = bytes[at];
        let end = if first == b'\n' {
            fresh = true;
            at += 1;
            continue;
        } else if first.is_ascii_whitespace() {
            at += 1;
            continue;
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |e| e + 2);
            continue;
        } else if rest.starts_with("//") || first == b'#' && fresh {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if first == b'"' || first == b'\'' {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != first {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        } else if first.is_ascii_alphanumeric() || first == b'_' {
            at + rest
                .find(|c: char| {
                    !(c.is_ascii_alphanumeric() || c == '_' || c == '.' && first.is_ascii_digit())
                })
                .unwrap_or(rest.len())
        } else {
            at + MARKS.iter().find(|m| rest.starts_with(**m)).map_or(1, |m| m.len())
        };
        fresh = false;
        let kind = match first {
            b'"' | b'\'' => Kind::Other,
            _ if first.is_ascii_digit() => Kind::Number,
            _ if first.is_ascii_alphabetic() || first == b'_' => Kind::Word,
            _ => Kind::Mark,
        };
        if at >= within.start {
            found.push(Token { kind, range: at..end.min(bytes.len()) });
        }
        at = end;
    }
    found
}

/// The bytes of some lines, from 1, both included.
pub fn lines(text: &str, from: u32, to: u32) -> Range<usize> {
    let mut starts = vec![0];
    starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
    let at = |line: u32| starts.get(line as usize).copied().unwrap_or(text.len());
    at(from.saturating_sub(1))..at(to)
}

pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

pub fn replaced(text: &str, range: &Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..range.start], &text[range.end..])
}

/// What is put for a token, one at a time.
const SWAPS: [(&str, &[&str]); 26] = [
    ("<", &["<=", ">"]),
    ("<=", &["<", ">="]),
    (">", &[">=", "<"]),
    (">=", &[">", "<="]),
    ("==", &["!=", "<="]),
    ("!=", &["==", "<"]),
    ("+", &["-"]),
    ("-", &["+"]),
    ("*", &["+"]),
    ("/", &["*"]),
    ("%", &["/"]),
    ("&&", &["||"]),
    ("||", &["&&"]),
    ("&", &["|"]),
    ("|", &["&"]),
    ("^", &["|"]),
    ("<<", &[">>"]),
    (">>", &["<<"]),
    ("++", &["--"]),
    ("--", &["++"]),
    ("+=", &["-=", "="]),
    ("-=", &["+=", "="]),
    ("*=", &["+="]),
    ("break", &["continue"]),
    ("!", &[""]),
    ("~", &["-"]),
];

/// All mutants of one token of a function's body, in the order of the text.
pub fn mutants(text: &str, function: &Range<usize>) -> Vec<Edit> {
    let mut found = Vec::new();
    let all = tokens(text, function);
    let body = all.iter().position(|t| &text[t.range.clone()] == "{").unwrap_or(all.len());
    for token in &all[body..] {
        let word = &text[token.range.clone()];
        let mut puts: Vec<String> = Vec::new();
        if let Some((_, by)) = SWAPS.iter().find(|(from, _)| *from == word) {
            puts.extend(by.iter().map(|s| (*s).to_owned()));
        }
        if let (Kind::Number, Ok(n)) = (token.kind, word.parse::<u64>()) {
            puts.push((n + 1).to_string());
            puts.extend(n.checked_sub(1).map(|m| m.to_string()));
        }
        for by in puts {
            let what = format!("line {}: '{word}' became '{by}'", line_of(text, token.range.start));
            found.push(Edit { what, text: replaced(text, &token.range, &by) });
        }
    }
    found
}

/// What a word of a function stands for, as far as the tokens around it tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Called,
    Member,
    Plain,
}

/// Words behind which a value stands.
const BEFORE_VALUES: [&str; 6] = ["case", "do", "else", "goto", "return", "sizeof"];

/// Words that are no names.
const NO_NAMES: [&str; 30] = [
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "int", "long", "register", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "union", "unsigned", "void", "while",
];

/// All mutants of one name of a function's body, in the order of the text: each is swapped for the name of
/// the same role that stands before it, whatever its type (what is no C then is no mutant).
pub fn name_mutants(text: &str, function: &Range<usize>) -> Vec<Edit> {
    let all = tokens(text, function);
    let word = |i: usize| all.get(i).map_or("", |t| &text[t.range.clone()]);
    let role = |i: usize| match () {
        () if word(i + 1) == "(" => Role::Called,
        () if i > 0 && matches!(word(i - 1), "." | "->") => Role::Member,
        () => Role::Plain,
    };
    let body = (0..all.len()).position(|i| word(i) == "{").unwrap_or(all.len());
    let is_name = |i: &usize| {
        // Two words beside each other are a type and what it declares.
        let is_word = |k: usize| all.get(k).is_some_and(|t| t.kind == Kind::Word);
        let ends_type = |k: usize| is_word(k) && !BEFORE_VALUES.contains(&word(k));
        let declared = is_word(i + 1) || *i > 0 && ends_type(*i - 1);
        is_word(*i) && !NO_NAMES.contains(&word(*i)) && !declared
    };
    let names: Vec<usize> = (0..all.len()).filter(is_name).collect();
    let mut found = Vec::new();
    for (k, &i) in names.iter().enumerate().filter(|(_, i)| **i >= body) {
        let same = |j: &&usize| role(**j) == role(i) && word(**j) != word(i);
        let Some(&by) = names[..k].iter().rev().find(same).or_else(|| names[k..].iter().find(same)) else {
            continue;
        };
        let what = format!("line {}: '{}' became '{}'", line_of(text, all[i].range.start), word(i), word(by));
        found.push(Edit { what, text: replaced(text, &all[i].range, word(by)) });
    }
    found
}

/// All mutants of one text, character, truth value, or number that is not plain decimal, in the order of the text.
pub fn literal_mutants(text: &str, function: &Range<usize>) -> Vec<Edit> {
    let mut found = Vec::new();
    for token in tokens(text, function) {
        let word = &text[token.range.clone()];
        let hexadecimal = || {
            let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"))?;
            let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
            Some(format!("{:#x}", u64::from_str_radix(digits, 16).ok()?.wrapping_add(1)))
        };
        let by = match token.kind {
            Kind::Other if word == "\"\"" => Some("\"?\"".to_owned()),
            Kind::Other if word.starts_with('"') => Some("\"\"".to_owned()),
            Kind::Other if word == "'?'" => Some("'!'".to_owned()),
            Kind::Other => Some("'?'".to_owned()),
            Kind::Number => hexadecimal(),
            Kind::Word if word == "true" => Some("false".to_owned()),
            Kind::Word if word == "false" => Some("true".to_owned()),
            _ => None,
        };
        if let Some(by) = by {
            let what = format!("line {}: {word} became {by}", line_of(text, token.range.start));
            found.push(Edit { what, text: replaced(text, &token.range, &by) });
        }
    }
    found
}

/// Edits after which a function does the same. `locals`: names of its parameters and locals.
pub fn preserving(text: &str, function: &Range<usize>, name: &str, locals: &[String]) -> Vec<Edit> {
    preserving_by_kind(text, function, name, locals).into_iter().flat_map(|(_, edits)| edits).collect()
}

/// The same, by what they do.
pub fn preserving_by_kind(
    text: &str,
    function: &Range<usize>,
    name: &str,
    locals: &[String],
) -> [(&'static str, Vec<Edit>); 8] {
    [
        ("local renamed", renamed(text, function, locals)),
        ("formatting", reformatted(text, function).into_iter().collect()),
        ("operands turned", commuted(text, function)),
        ("assignment spelled out", with_long_assignments(text, function)),
        ("for as while", as_while(text, function)),
        ("De Morgan", de_morgan(text, function)),
        ("declarations swapped", swapped_declarations(text, function)),
        ("result through a helper", with_helper(text, function, name)),
    ]
}

fn renamed(text: &str, function: &Range<usize>, locals: &[String]) -> Vec<Edit> {
    let all = tokens(text, function);
    let word = |i: usize| &text[all[i].range.clone()];
    let rename = |local: &String| {
        let mut out = text.to_owned();
        let mut count = 0;
        for i in (0..all.len()).rev() {
            let is_member = i > 0 && matches!(word(i - 1), "." | "->");
            if all[i].kind == Kind::Word && word(i) == local && !is_member {
                out = replaced(&out, &all[i].range, &format!("{local}_of_ours"));
                count += 1;
            }
        }
        (count > 1).then(|| Edit { what: format!("{local} renamed"), text: out })
    };
    locals.iter().filter_map(rename).collect()
}

/// Every token of the body on a line of its own.
fn reformatted(text: &str, function: &Range<usize>) -> Option<Edit> {
    if text[function.clone()].lines().any(|l| l.trim_start().starts_with('#')) {
        return None;
    }
    let words: Vec<&str> = tokens(text, function).iter().map(|t| &text[t.range.clone()]).collect();
    let what = "formatting".to_owned();
    Some(Edit { what, text: replaced(text, function, &format!("{}\n", words.join("\n"))) })
}

/// `a + b` as `b + a`, `a < b` as `b > a`, where nothing binds tighter around it.
fn commuted(text: &str, function: &Range<usize>) -> Vec<Edit> {
    const TURNED: [(&str, &str); 11] = [
        ("+", "+"),
        ("*", "*"),
        ("==", "=="),
        ("!=", "!="),
        ("&", "&"),
        ("|", "|"),
        ("^", "^"),
        ("<", ">"),
        (">", "<"),
        ("<=", ">="),
        (">=", "<="),
    ];
    let all = tokens(text, function);
    let word = |i: usize| &text[all[i].range.clone()];
    let mut found = Vec::new();
    for i in 2..all.len().saturating_sub(2) {
        let Some((_, turned)) = TURNED.iter().find(|(op, _)| *op == word(i)) else { continue };
        let simple = |k: usize| matches!(all[k].kind, Kind::Word | Kind::Number) && word(k) != "return";
        let opens = matches!(word(i - 2), "(" | "=" | "," | "return" | "&&" | "||" | "[" | ";");
        let closes = matches!(word(i + 2), ")" | ";" | "," | "&&" | "||" | "]");
        // `(` behind a type is a declaration, and `f(a` of a macro may be anything.
        let types =
            ["int", "char", "unsigned", "float", "double", "const", "long", "struct", "void", "size_t"];
        if !(simple(i - 1) && simple(i + 1) && opens && closes) || types.contains(&word(i - 1)) {
            continue;
        }
        let range = all[i - 1].range.start..all[i + 1].range.end;
        let by = format!("{} {turned} {}", word(i + 1), word(i - 1));
        let what = format!("line {}: {} as {by}", line_of(text, range.start), &text[range.clone()]);
        found.push(Edit { what, text: replaced(text, &range, &by) });
    }
    found
}

/// `x += e;` as `x = x + (e);`, `x++;` as `x += 1;`.
fn with_long_assignments(text: &str, function: &Range<usize>) -> Vec<Edit> {
    let all = tokens(text, function);
    let word = |i: usize| &text[all[i].range.clone()];
    let mut found = Vec::new();
    for i in 1..all.len().saturating_sub(2) {
        let begins = matches!(word(i - 1), ";" | "{" | "}" | ")") && all[i].kind == Kind::Word;
        let Some(op) = word(i + 1).strip_suffix('=').filter(|op| ["+", "-", "*", "&", "|", "^"].contains(op))
        else {
            if begins && matches!(word(i + 1), "++" | "--") && word(i + 2) == ";" {
                let range = all[i].range.start..all[i + 1].range.end;
                let by = format!("{} {}= 1", word(i), &word(i + 1)[..1]);
                let what = format!("line {}: {by}", line_of(text, range.start));
                found.push(Edit { what, text: replaced(text, &range, &by) });
            }
            continue;
        };
        let Some(end) = (i + 2..all.len()).find(|k| word(*k) == ";").filter(|_| begins) else { continue };
        let value = &text[all[i + 2].range.start..all[end].range.start];
        let range = all[i].range.start..all[end].range.start;
        let by = format!("{0} = {0} {op} ({value})", word(i));
        let what = format!("line {}: {by}", line_of(text, range.start));
        found.push(Edit { what, text: replaced(text, &range, &by) });
    }
    found
}

/// Where the bracket that opens at a token closes.
pub fn closing(text: &str, all: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, t) in all.iter().enumerate().skip(open) {
        match &text[t.range.clone()] {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// The last token of the statement that begins at a token.
pub fn statement(text: &str, all: &[Token], from: usize) -> Option<usize> {
    let word = |i: usize| all.get(i).map(|t| &text[t.range.clone()]);
    match word(from)? {
        "{" => closing(text, all, from),
        "for" | "while" | "switch" => statement(text, all, closing(text, all, from + 1)? + 1),
        "if" => {
            let end = statement(text, all, closing(text, all, from + 1)? + 1)?;
            if word(end + 1) == Some("else") { statement(text, all, end + 2) } else { Some(end) }
        }
        "do" => (statement(text, all, from + 1)? + 1..all.len()).find(|k| word(*k) == Some(";")),
        _ => {
            let mut i = from;
            loop {
                match word(i)? {
                    "(" | "[" | "{" => i = closing(text, all, i)? + 1,
                    ";" => return Some(i),
                    _ => i += 1,
                }
            }
        }
    }
}

/// `for (a; b; c) s` as `{ a; while (b) { s c; } }`, where nothing continues.
fn as_while(text: &str, function: &Range<usize>) -> Vec<Edit> {
    let all = tokens(text, function);
    let word = |i: usize| &text[all[i].range.clone()];
    let mut found = Vec::new();
    for i in 0..all.len() {
        if word(i) != "for" {
            continue;
        }
        let Some(close) = closing(text, &all, i + 1) else { continue };
        let marks: Vec<usize> = (i + 2..close).filter(|k| word(*k) == ";").collect();
        let (&[first, second], Some(end)) = (marks.as_slice(), statement(text, &all, close + 1)) else {
            continue;
        };
        if (close + 1..end).any(|k| matches!(word(k), "continue" | "case")) {
            continue;
        }
        let span = |from: usize, to: usize| {
            if from < to { &text[all[from].range.start..all[to - 1].range.end] } else { "" }
        };
        let (init, cond, step) = (span(i + 2, first), span(first + 1, second), span(second + 1, close));
        let cond = if cond.is_empty() { "1" } else { cond };
        let by = format!("{{ {init}; while ({cond}) {{ {} {step}; }} }}", span(close + 1, end + 1));
        let range = all[i].range.start..all[end].range.end;
        let what = format!("line {}: for as while", line_of(text, range.start));
        found.push(Edit { what, text: replaced(text, &range, &by) });
    }
    found
}

/// `if (a && b)` as `if (!(!(a) || !(b)))`.
fn de_morgan(text: &str, function: &Range<usize>) -> Vec<Edit> {
    let all = tokens(text, function);
    let word = |i: usize| &text[all[i].range.clone()];
    let mut found = Vec::new();
    for i in 0..all.len() {
        if !matches!(word(i), "if" | "while") {
            continue;
        }
        let Some(close) = closing(text, &all, i + 1) else { continue };
        let mut depth = 0;
        let mut cuts = Vec::new();
        for k in i + 1..close {
            match word(k) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                "&&" | "||" | "?" if depth == 1 => cuts.push(k),
                _ => {}
            }
        }
        let Some(&first) = cuts.first() else { continue };
        if cuts.iter().any(|k| word(*k) != word(first)) || word(first) == "?" {
            continue;
        }
        let mut parts = Vec::new();
        let mut from = i + 2;
        for cut in cuts.iter().chain([&close]) {
            parts.push(format!("!({})", &text[all[from].range.start..all[cut - 1].range.end]));
            from = cut + 1;
        }
        let other = if word(first) == "&&" { " || " } else { " && " };
        let by = format!("!({})", parts.join(other));
        let range = all[i + 2].range.start..all[close - 1].range.end;
        let what = format!("line {}: {by}", line_of(text, range.start));
        found.push(Edit { what, text: replaced(text, &range, &by) });
    }
    found
}

/// Two neighbouring declarations or assignments of constants the other way round.
fn swapped_declarations(text: &str, function: &Range<usize>) -> Vec<Edit> {
    let all = tokens(text, function);
    let word = |i: usize| &text[all[i].range.clone()];
    // `int x = 1;` or `x = 1;`, from its first token; what it gives a value, and its last token.
    let constant = |from: usize| -> Option<(usize, usize)> {
        let begins = from > 0 && matches!(word(from - 1), ";" | "{" | "}");
        let equals = (from + 1..all.len().min(from + 4)).find(|k| word(*k) == "=")?;
        let plain = (from..equals).all(|k| all[k].kind == Kind::Word && word(k) != "static");
        let ends = equals + 2 < all.len() && word(equals + 2) == ";";
        (begins && plain && ends && all[equals + 1].kind == Kind::Number).then_some((equals - 1, equals + 2))
    };
    let mut found = Vec::new();
    for i in 0..all.len() {
        let Some((name, end)) = constant(i) else { continue };
        let Some((other, last)) = constant(end + 1).filter(|(other, _)| word(*other) != word(name)) else {
            continue;
        };
        let (a, b) = (all[i].range.start..all[end].range.end, all[end + 1].range.start..all[last].range.end);
        let by = format!("{} {}", &text[b.clone()], &text[a.clone()]);
        let what = format!("line {}: {} and {} swapped", line_of(text, a.start), word(name), word(other));
        found.push(Edit { what, text: replaced(text, &(a.start..b.end), &by) });
    }
    found
}

/// The value that a function returns goes through a helper.
fn with_helper(text: &str, function: &Range<usize>, name: &str) -> Vec<Edit> {
    let all = tokens(text, function);
    let word = |i: usize| &text[all[i].range.clone()];
    let Some(at) = (0..all.len()).find(|i| word(*i) == name) else { return Vec::new() };
    let ty: Vec<&str> = (0..at).map(word).filter(|w| !["static", "inline", "extern"].contains(w)).collect();
    let plain = ty.iter().all(|w| w.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '*'));
    if !plain || ty == ["void"] || ty.is_empty() {
        return Vec::new();
    }
    let ty = ty.join(" ");
    let mut found = Vec::new();
    for i in at..all.len() {
        let end = (i + 1..all.len()).find(|k| word(*k) == ";");
        let Some(end) = end.filter(|e| word(i) == "return" && *e > i + 1) else { continue };
        let range = all[i + 1].range.start..all[end].range.start;
        let edited = replaced(text, &range, &format!("handed_on({})", &text[range.clone()]));
        let helper = format!("static {ty} handed_on({ty} value) {{ return value; }}\n");
        let what = format!("line {}: the result goes through a helper", line_of(text, range.start));
        let text = format!("{}{helper}{}", &edited[..function.start], &edited[function.start..]);
        found.push(Edit { what, text });
    }
    found
}
