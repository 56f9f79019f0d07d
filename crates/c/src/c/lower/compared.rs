//! Where the unit's own file writes enumerators, characters and macros beside something else: `state == DONE`, `case 'q':` of
//! `switch (c)`, `state = DONE`, `flags & OPEN`; in what a macro stands for, too.
//!
//! The type of an `int` does not say by what names its values are to be told; the source may. A name is taken only for
//! the operand beside which it stands: another number of that value has none. Operands are names and
//! their members and elements; cost: one walk over the tokens.

use super::constants::{Types, is_negative, macro_at, number, own_name};
use crate::c::files::normal;
use crate::c::parse::Parsed;
use crate::c::scan::{Text, is_type_word};
use crate::ir::Compared;
use rucc_lex::PpTokenKind;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Tokens of the longest operand.
const LONGEST: usize = 24;
/// Calls whose results one name has, the last ones.
const MOST_CALLS: usize = 4;

/// Returns the names of numbers in the unit's own file that stand beside something, by line.
pub(super) fn compared(
    parsed: &Parsed,
    enumerators: &BTreeMap<Arc<str>, Option<i128>>,
    types: &Types,
) -> Vec<Compared> {
    let sources = &parsed.session.sources;
    let path = normal(&parsed.path);
    let text = parsed.text();
    let mut found = Vec::new();
    let (mut depth, mut switches) = (0usize, Vec::new());
    // Calls of this function that names are set to.
    let mut results: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (at, token) in parsed.tokens.iter().enumerate() {
        match text.at(at) {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    results.clear();
                }
                switches.retain(|(inside, _)| *inside <= depth);
            }
            "switch" => switches.push((depth + 1, in_brackets(text, at + 1))),
            "=" => {
                if let (Some(name), Some(call)) = (text.name(at.wrapping_sub(1)), call(text, at + 1)) {
                    results.entry(name).or_default().push(call);
                }
            }
            _ => {}
        }
        let word = text.at(at);
        let value = match token.kind {
            PpTokenKind::Ident => enumerators.get(word).copied().flatten(),
            _ if !token.expansion.is_dummy() => None,
            PpTokenKind::CharConst => own_name(word).and_then(|_| number(word)),
            _ => None,
        };
        let named = value.map(|value| (value, Arc::from(word), at + 1));
        let Some((value, name, end)) = named.or_else(|| macro_at(parsed, types, at)) else { continue };
        let (value, name, begin) = match is_negative(text, at) {
            true => (value.saturating_neg(), format!("-{name}").into(), at - 1),
            false => (value, name, at),
        };
        let operand = match (before(text, begin, 1), text.at(end)) {
            ("case", _) => switches.last().and_then(|(_, operand)| operand.clone()),
            ("==" | "!=" | "=", next) if ends(next) => ending(text, begin - 1),
            ("&" | "|" | "&=" | "|=", next) if ends(next) => ending(text, begin - 1),
            ("~", next) if ends(next) && matches!(before(text, begin, 2), "&" | "&=") => {
                ending(text, begin - 2)
            }
            (_, "==" | "!=") if begin == at => starting(text, end + 1),
            _ => None,
        };
        let Some(operand) = operand else { continue };
        let lo = token.report_span().lo;
        let place = sources.lookup(lo).zip(sources.lookup_file(lo));
        let own = place.filter(|(_, f)| normal(Path::new(&sources.file(*f).name)) == path);
        let Some((place, _)) = own else { continue };
        // What is beside a name is beside the calls whose results it has, too.
        let calls = results.get(&*operand).into_iter().flatten().rev().take(MOST_CALLS).cloned();
        found.extend(calls.chain([operand.clone()]).map(|operand| Compared {
            line: place.line,
            operand: operand.into(),
            value,
            name: name.clone(),
        }));
    }
    found.sort_by_key(|c: &Compared| c.line);
    found
}

fn before<'a>(text: Text<'a>, at: usize, steps: usize) -> &'a str {
    at.checked_sub(steps).map_or("", |i| text.at(i))
}

/// Whether nothing binds a value to a word behind it.
fn ends(word: &str) -> bool {
    matches!(word, ";" | ")" | "&&" | "||" | "?" | "," | ":")
}

fn is_part(text: Text, at: usize) -> bool {
    text.name(at).is_some() || matches!(text.at(at), "->" | "." | "[" | "]")
}

/// The operand, or the call, that a `(` at `open` and its bracket hold.
fn in_brackets(text: Text, open: usize) -> Option<String> {
    if let Some(call) = call_in_brackets(text, open) {
        return Some(call);
    }
    let end = (open + 1..open + 1 + LONGEST).find(|i| !is_part(text, *i))?;
    (text.at(open) == "(" && text.at(end) == ")").then(|| written(text, open + 1, end)).flatten()
}

fn call_in_brackets(text: Text, open: usize) -> Option<String> {
    call_before(text, open + 1, ")")
}

/// The call that is all of a value from a word on.
fn call(text: Text, start: usize) -> Option<String> {
    [";", ","].iter().find_map(|end| call_before(text, start, end))
}

/// The call from a word on, where another word stands behind it.
fn call_before(text: Text, start: usize, end: &str) -> Option<String> {
    let (is_call, mut depth) = (text.name(start).is_some() && text.at(start + 1) == "(", 0u32);
    let mut words = String::new();
    for at in (start..start + LONGEST).filter(|_| is_call) {
        let word = text.at(at);
        words.push_str(word);
        match word {
            "(" => depth += 1,
            ")" if depth <= 1 => return (depth == 1 && text.at(at + 1) == end).then_some(words),
            ")" => depth -= 1,
            "" => return None,
            _ => {}
        }
    }
    None
}

/// The operand that ends before a word, where nothing binds it to what is before.
fn ending(text: Text, end: usize) -> Option<String> {
    let mut start = end;
    while let Some(at) = start.checked_sub(1).filter(|at| end - at <= LONGEST) {
        // A parameter of a macro has brackets: `(p)->flags`.
        let is_bracketed = || {
            let behind = matches!(text.at(start), "->" | "." | "[");
            start < end && behind && text.at(at) == ")" && at > 1 && text.at(at - 2) == "("
        };
        start = match is_part(text, at) {
            true => at,
            false if is_bracketed() && text.name(at - 1).is_some() => at - 2,
            false => break,
        };
    }
    let is_whole = matches!(
        before(text, start, 1),
        "(" | ";" | "{" | "}" | "&&" | "||" | "?" | ":" | "," | "=" | "return" | "!" | ")" | "else"
    );
    // Behind a type's name it is declared.
    let is_declared = || {
        text.at(end) == "=" && {
            let before = before(text, start, 1);
            text.name(start.wrapping_sub(1)).is_some() || is_type_word(before)
        }
    };
    // Behind a cast it is another value, maybe.
    let is_cast = before(text, start, 1) == ")" && !matches!(text.at(end), "=");
    (is_whole && !is_cast || is_declared()).then(|| written(text, start, end)).flatten()
}

/// The operand that starts at a word, where nothing binds it to what is behind.
fn starting(text: Text, start: usize) -> Option<String> {
    let end = (start..start + LONGEST).find(|i| !is_part(text, *i))?;
    let is_whole = matches!(text.at(end), ")" | ";" | "&&" | "||" | "?" | ":" | ",");
    is_whole.then(|| written(text, start, end)).flatten()
}

fn written(text: Text, start: usize, end: usize) -> Option<String> {
    let mut words = (start..end).map(|i| text.at(i)).filter(|word| !matches!(*word, "(" | ")")).peekable();
    words.peek().filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))?;
    Some(words.collect())
}

#[cfg(test)]
mod tests {
    use crate as frontend;
    use crate::history::MemoryTree;
    use std::path::Path;

    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        let source = format!(
            "enum {{ A, B, C = 7 }};\nstruct s {{ int t; }};\nint f(struct s *p, int n)\n{{\n{body}\nreturn n;\n}}\n"
        );
        let tree = MemoryTree::new([("t.c", source.as_bytes())]);
        let unit = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses").unit;
        let of = |c: &crate::ir::Compared| format!("{}: {} {} {}", c.line, c.operand, c.name, c.value);
        assert_eq!(unit.written.compared.iter().map(of).collect::<Vec<_>>(), expected, "{body}");
    }

    #[test]
    fn enumerators_are_told_with_what_is_beside_them() {
        check("if (n == B) return 0;", &["5: n B 1"]);
        check("if (n > 3 && C != p->t) return 0;", &["5: p->t C 7"]);
        check("switch (n) { case 'q': return 1; }", &["5: n 'q' 113"]);
        check("switch (find(n, 2)) { case B: return 3; }", &["5: find(n,2) B 1"]);
        check("switch (find(n) + 1) { case B: return 3; }", &[]);
        check("int k = B;\nunsigned m = C, *q = A;", &["5: k B 1", "6: m C 7"]);
        check(
            "int k = find(n, 2);\nif (k == B) return 3;\nk = find(n) + 1;\nn = k == C;",
            &["6: find(n,2) B 1", "6: k B 1", "8: find(n,2) C 7", "8: k C 7"],
        );
        check("p->t = B;\nif (n) p->t = C;", &["5: p->t B 1", "6: p->t C 7"]);
        check(
            "switch (p->t) {\ncase A: n = 1; break;\ncase C: switch (n) { case B: return 3; }\ncase B: ;\n}",
            &["6: p->t A 0", "7: p->t C 7", "7: n B 1", "8: p->t B 1"],
        );
    }

    #[test]
    fn macros_are_told_with_what_is_beside_them() {
        let head = "#define E ((int)5)\n#define T \"x\"\n#define ONE(x) 1\n";
        check(&format!("{head}if (n == E) return 0;"), &["8: n E 5"]);
        check(
            &format!("{head}if (n != -E) return -E;\nif (E != p->t) n = -E;"),
            &["8: n -E -5", "9: p->t E 5", "9: n -E -5"],
        );
        check(
            &format!("{head}switch (n) {{\ncase E: return 1;\ncase -E: return 2; }}"),
            &["9: n E 5", "10: n -E -5"],
        );
        check(
            &format!("{head}if (n == E + 1 || n - E == 2) return ONE(2);\nif (n == ONE(1)) return 1;"),
            &[],
        );
    }

    #[test]
    fn flags_are_told_with_what_they_are_flags_of() {
        check("if (p->t & C) return 0;", &["5: p->t C 7"]);
        check("p->t |= C;\np->t &= ~B;\nn = p->t & ~C;", &["5: p->t C 7", "6: p->t B 1", "7: p->t C 7"]);
        let head = "#define HAS(q) (((q)->t & C) != 0)\n";
        check(&format!("{head}if (HAS(p)) return 0;"), &["6: p->t C 7"]);
        check(&format!("{head}if (HAS(p + 1) || HAS(&p[n])) return 0;"), &[]);
        check("return n & p->t & C;\nreturn (n | B) == 1;", &["6: n B 1"]);
        check("if (&p->t == (int *)&n) return -C & B;", &[]);
    }

    #[test]
    fn part_of_an_expression_is_no_operand() {
        check("if (n + p->t == B) return 0;", &[]);
        check("if ((char)n == B) return 0;", &[]);
        check("if (n == B + 1) return 0;\nif (B == n + 1) return 2;\nif (~n == B) return 4;", &[]);
        check("switch (n & 3) { case B: return 1; }", &[]);
        check("return n < B;", &[]);
    }
}
