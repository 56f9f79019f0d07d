//! The words of calls: whom they call and with what.
//!
//! Of two calls of one function whose words are long or the same, the arguments that differ are told, and of
//! strings the part in which they do.

use super::machine::Event;
use super::texts::{LONGEST_VALUE, current, is_name, is_plain, is_short};
use crate::ir::{CType, Global, Leaf, Linkage, Term, TermId, TermPool, Unit};
use crate::semantics::c_text::{Naming, render, render_address_of, render_typed};
use crate::semantics::output::constant_string;

/// Characters of a string that are shown around what differs.
const AROUND: usize = 16;
/// Characters of a string that are shown of what differs.
const LONGEST_STRING: usize = 48;

/// Characters of a string of which it is still understood what it says.
const SHORTEST_BEGINNING: usize = 20;

/// The words of a call. `types`: of its arguments, as the naming's unit has them.
pub(super) fn call_text(
    pool: &mut TermPool,
    naming: &Naming,
    types: &[CType],
    (event, names): (&Event, Option<&[String]>),
) -> String {
    let given: Vec<TermId> = event.args.iter().map(|a| current(pool, *a, event.memory.0)).collect();
    let (name, first) = called(pool, naming, event);
    let args = given.get(first..).unwrap_or_default();
    // Where the result is a structure, the place that it goes to comes last.
    let written = if args.len() == types.len() + 1 { types.len() } else { args.len() };
    let args = args.get(..written).unwrap_or(args);
    let short = Naming { max_len: LONGEST_VALUE, ..naming.clone() };
    let mut words: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(k, a)| {
            let written = names.and_then(|n| n.get(k));
            let is_character = |n: &str| n.len() > 2 && n.starts_with('\'') && n.ends_with('\'');
            // `CONF | NESTED`
            let are_flags = |n: &str| n.split('|').all(|flag| is_name(flag.trim())) && is_short(n);
            let is_told = |n: &String| are_flags(n) || is_character(n) || n.contains("sizeof") && is_short(n);
            let name = written.filter(|n| is_told(n) && pool.as_const(*a).is_some());
            let text = name.cloned().unwrap_or_else(|| argument(pool, *a, &short, types.get(k)));
            // The size of an array whose length varies has no name.
            let is_size = |n: &&String| n.contains("sizeof") && is_short(n);
            let text = written.filter(|n| is_size(n) && !is_plain(&text)).cloned().unwrap_or(text);
            let string =
                || naming.unit.and_then(|unit| whole_literal(pool, unit, *a)).map(|bytes| quoted(&bytes));
            if is_plain(&text) { text } else { string().unwrap_or_else(|| "…".to_owned()) }
        })
        .collect();
    // `va_arg` and its like go by names and arguments of ours.
    let own = name.strip_prefix("__builtin_").filter(|name| name.starts_with("va_"));
    if let (Some("va_arg"), Some(kind)) = (own, words.last_mut()) {
        *kind = "…".to_owned();
    }
    shortened(own.unwrap_or(&name), words)
}

/// The words for whom a call calls, and where its arguments begin: behind a pointer to what is called.
fn called(pool: &mut TermPool, naming: &Naming, event: &Event) -> (String, usize) {
    match (&event.callee, event.args.first()) {
        (Some(name), _) => (name.to_string(), 0),
        (None, Some(pointer)) => {
            let pointer = current(pool, *pointer, event.memory.0);
            let text = render(pool, pointer, naming);
            (if is_short(&text) { format!("(*{text})") } else { "a function pointer".to_owned() }, 1)
        }
        (None, None) => ("a function pointer".to_owned(), 0),
    }
}

/// A word with a string literal that is so many characters shorter at its end; `None` where too little is left to be
/// understood, and where the string is cut already.
fn beginning(word: &str, by: usize) -> Option<String> {
    let (open, close) = (word.find('"')?, word.rfind('"')?);
    let text: Vec<char> = word.get(open + 1..close)?.chars().collect();
    let is_escaped = |k: usize| text[..k].iter().rev().take_while(|c| **c == '\\').count() % 2 == 1;
    // One that is cut already, and several.
    if text.last() == Some(&'…') || (0..text.len()).any(|k| text[k] == '"' && !is_escaped(k)) {
        return None;
    }
    let mut left = text.len().checked_sub(by + 1).filter(|n| *n >= SHORTEST_BEGINNING)?;
    while is_escaped(left) {
        left -= 1;
    }
    let kept: String = text[..left].iter().collect();
    Some(format!("{}\"{kept}…\"{}", &word[..open], &word[close + 1..]))
}

/// A call of which the longest arguments are cut, strings at their ends, or left out until it is short enough.
pub(super) fn shortened(name: &str, mut words: Vec<String>) -> String {
    let width = |words: &[String]| {
        name.chars().count() + 2 + words.iter().map(|w| w.chars().count() + 2).sum::<usize>()
    };
    while width(&words) > LONGEST_VALUE {
        let longest = words.iter().enumerate().filter(|(_, w)| *w != "…").max_by_key(|(_, w)| w.len());
        let Some((k, word)) = longest else { break };
        words[k] = beginning(word, width(&words) - LONGEST_VALUE).unwrap_or_else(|| "…".to_owned());
    }
    words.dedup_by(|a, b| a == "…" && b == "…");
    format!("{name}({})", words.join(", "))
}

/// The words of an argument. A pointer to a structure that is handed over as one to what the structure begins with is
/// that to the member.
fn argument(pool: &TermPool, t: TermId, naming: &Naming, ty: Option<&CType>) -> String {
    let target = match ty {
        Some(CType::Pointer(to)) => Some(&**to),
        _ => None,
    };
    let is_scalar =
        |ty: &CType| matches!(ty, CType::Int { .. } | CType::Float(_) | CType::Pointer(_) | CType::Bool);
    let member = target
        .filter(|to| is_scalar(to) || matches!(to, CType::Record(_)))
        .and_then(|to| render_address_of(pool, t, to, naming));
    let whole = !target.is_some_and(is_scalar);
    decayed(&member.unwrap_or_else(|| render_typed(pool, t, &Naming { whole, ..naming.clone() }, ty)))
}

/// The words of a call beside another of the same function: only the arguments that differ, others are `…`;
/// `None` where these have no words.
/// `units` have the literals of this call and of the other.
pub(super) fn differing(
    pool: &mut TermPool,
    (naming, units): (&Naming, [&Unit; 2]),
    types: &[CType],
    (event, other): (&Event, &Event),
) -> Option<String> {
    let (name, first) = called(pool, naming, event);
    if event.callee != other.callee || event.args.get(..first) != other.args.get(..first) {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    let mut is_wordless = false;
    let args = event.args.get(first..).unwrap_or_default();
    let written = if args.len() == types.len() + 1 { types.len() } else { args.len() };
    for (k, arg) in args.iter().take(written).enumerate() {
        let theirs = other.args.get(first + k).copied();
        if theirs == Some(*arg) {
            if words.last().is_none_or(|w| w != "…") {
                words.push("…".to_owned());
            }
            continue;
        }
        let string = whole_literal(pool, units[0], *arg);
        let text = match string {
            Some(bytes) => {
                let before = theirs.and_then(|t| whole_literal(pool, units[1], t));
                excerpt(&bytes, before.as_deref().unwrap_or_default())
            }
            None => {
                let now = current(pool, *arg, event.memory.0);
                argument(pool, now, naming, types.get(k))
            }
        };
        is_wordless |= !is_plain(&text);
        words.push(if is_plain(&text) { text } else { "…".to_owned() });
    }
    // What differs has no words.
    if is_wordless && words.iter().all(|w| w == "…") {
        return None;
    }
    Some(format!("{name}({})", words.join(", ")))
}

/// The part of a string in which it differs from another, as C writes it.
pub(crate) fn excerpt(bytes: &[u8], other: &[u8]) -> String {
    let before = bytes.iter().zip(other).take_while(|(a, b)| a == b).count();
    let behind = bytes[before..].iter().rev().zip(other[before.min(other.len())..].iter().rev());
    let behind = behind.take_while(|(a, b)| a == b).count();
    let start = if before > AROUND + 4 { before - AROUND } else { 0 };
    let differs = (bytes.len() - behind).min(before + LONGEST_STRING).max(before);
    let end = if bytes.len() - differs > AROUND + 4 { differs + AROUND } else { bytes.len() };
    let text = characters(&bytes[start..end]);
    let dots = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("\"{}{text}{}\"", dots(start > 0), dots(end < bytes.len()))
}

/// A string as C writes it.
fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", characters(bytes))
}

fn characters(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(spelled).collect()
}

/// A character as it stands in a literal.
fn spelled(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\{:03o}", u32::from(c)),
        c => c.to_string(),
    }
}

/// The bytes of a string literal of `char`, up to the first zero: the text that a function reads there.
pub(super) fn literal(pool: &TermPool, unit: &Unit, t: TermId) -> Option<Vec<u8>> {
    constant_string(narrow_literal(pool, unit, t)?, 0)
}

/// The bytes of a string literal of `char` that has no zero but the one that ends it.
pub(super) fn whole_literal(pool: &TermPool, unit: &Unit, t: TermId) -> Option<Vec<u8>> {
    let global = narrow_literal(pool, unit, t)?;
    constant_string(global, 0).filter(|bytes| bytes.len() as u64 + 1 == global.size)
}

fn narrow_literal<'u>(pool: &TermPool, unit: &'u Unit, t: TermId) -> Option<&'u Global> {
    let Term::Leaf(Leaf::SymbolAddr { symbol, .. }) = pool.get(t) else { return None };
    let global = unit.global(symbol).filter(|g| g.linkage == Linkage::Literal)?;
    let CType::Array(element, _) = &global.ty else { return None };
    matches!(**element, CType::Int { bits: 8, .. }).then_some(global)
}

/// A text in which arrays are named as one writes them: `p->name` for `&p->name[0]`.
pub(super) fn decayed(text: &str) -> String {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '>' | '[' | ']');
    let mut out = String::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(at) = rest.find('&') {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        before = head.chars().last().unwrap_or(before);
        let path = &tail[1..];
        let end = path.find(|c| !is_path(c)).unwrap_or(path.len());
        let is_unary = matches!(before, ' ' | '(' | ',' | '!' | '*')
            && path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        match path[..end].strip_suffix("[0]").filter(|p| is_unary && !p.ends_with(['-', '.', '>'])) {
            Some(array) => out.push_str(array),
            None => out.push_str(&tail[..1 + end]),
        }
        before = '&';
        rest = &path[end..];
    }
    out.push_str(rest);
    out
}

/// The arguments of a call as they stand in a line, where it is the only one of that function there.
pub(super) fn argument_words(line: &str, callee: &str) -> Option<Vec<String>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut starts = line.match_indices(callee).filter(|(at, _)| {
        let (before, after) = (&line[..*at], line[at + callee.len()..].trim_start());
        !before.ends_with(is_word) && after.starts_with('(')
    });
    let (at, _) = starts.next().filter(|_| line.matches(callee).count() == 1)?;
    let list = line[at + callee.len()..].trim_start().strip_prefix('(')?;
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0);
    let mut quote = None;
    let mut escaped = false;
    for c in list.chars() {
        match (quote, c) {
            // What is quoted is no name.
            (None, '"' | '\'') => quote = Some(c),
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, ')') if depth == 0 => {
                words.push(word.trim().to_owned());
                return Some(words);
            }
            (None, ',') if depth == 0 => words.push(std::mem::take(&mut word).trim().to_owned()),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) => {}
        }
        if c != ',' || depth > 0 || quote.is_some() {
            word.push(c);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{argument_words, decayed, excerpt, shortened};

    #[test]
    fn arrays_are_named_as_one_writes_them() {
        for (text, expected) in [
            ("strcmp(&e->d_name[0], s) == 0", "strcmp(e->d_name, s) == 0"),
            ("&a[0]", "a"),
            ("f(&a.b[0].c, &a[0][1])", "f(&a.b[0].c, &a[0][1])"),
            ("(x & y[0]) != 0 && &p->q[0] == z", "(x & y[0]) != 0 && p->q == z"),
            ("x &&y[0]", "x &&y[0]"),
        ] {
            assert_eq!(decayed(text), expected);
        }
    }

    #[track_caller]
    fn check(line: &str, expected: Option<&[&str]>) {
        let found = argument_words(line, "f");
        assert_eq!(found, expected.map(|e| e.iter().map(|w| (*w).to_owned()).collect()), "{line}");
    }

    #[test]
    fn arguments_are_those_of_the_only_call() {
        check("  x = f(A, b + 1, g(c, d));", Some(&["A", "b + 1", "g(c, d)"]));
        check("f (\"a, b)\", ',', N);", Some(&["\"a, b)\"", "','", "N"]));
        check("f(\"a\\\"b, c\", N)", Some(&["\"a\\\"b, c\"", "N"]));
        check("f(a); f(b);", None);
        check("gf(a); f(b)", None);
        check("f(a,", None);
        check("xf(a)", None);
    }

    /// A message says what it is about, and no escape is cut.
    #[test]
    fn of_a_long_call_the_beginning_of_its_text_stays() {
        let call =
            |text: &str| shortened("message", vec!["WARN".into(), format!("\"{text}\""), "name".into()]);
        let long = "delayed compression of %s is ignored, because compression is disabled there";
        let cut = "delayed compression of %s is ignored, because compress…";
        assert_eq!(call(long), format!("message(WARN, \"{cut}\", name)"));
        assert_eq!(call("short"), "message(WARN, \"short\", name)");
        let escapes = "\\\\n".repeat(60);
        let told = call(&escapes);
        let kept = told.split('"').nth(1).map(|t| t.trim_end_matches('…')).unwrap_or_default();
        assert!(kept.len() > 20 && !kept.ends_with('\\') && told.contains('…'), "{told}");
        let two = vec!["\"a\" \"b\"".to_owned() + &"x".repeat(90)];
        assert_eq!(shortened("f", two), "f(…)");
    }

    #[test]
    fn of_strings_the_part_that_differs_is_told() {
        for (text, other, expected) in [
            ("abc", "abd", "\"abc\""),
            ("a\nb\"", "", "\"a\\nb\\\"\""),
            (
                "\t-k, --set-version VERSION   Use VERSION instead of $(uname -r)\n\t-b, --basedir DIR",
                "\t-k, --set-version VERSION   Use VERSION instead of `uname -r`\n\t-b, --basedir DIR",
                "\"…SION instead of $(uname -r)\\n\\t-b, --basedir DIR\"",
            ),
            ("0123456789012345678901234", "01234567890123456789012345", "\"…9012345678901234\""),
        ] {
            assert_eq!(excerpt(text.as_bytes(), other.as_bytes()), expected);
        }
    }
}
