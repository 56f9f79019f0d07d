//! Tests as they stand in the source, for conditions that the names of the point do not say.
//!
//! A statement's condition is a tree of `&&`, `||` and `!` over operands, and lowering makes one branch of each, in
//! their order (`&&` and `||` decide by branches in C, 6.5.13 and 6.5.14). Where the text has as many operands as
//! the statement has branches, the operand of a branch is the one at its place.

use crate::ir::{Function, Instr, NodeId};

/// Lines over which a condition is followed.
pub(super) const MAX_LINES: u32 = 6;
/// Characters of the longest operand that is told.
const LONGEST: usize = 80;

/// The operand that a branch tests, as it is written.
pub(super) fn operand(
    body: &Function,
    branch: NodeId,
    source: &dyn Fn(u32) -> Option<String>,
) -> Option<String> {
    let node = body.node(branch);
    let branches: Vec<NodeId> = (0..body.nodes.len() as u32)
        .map(NodeId)
        .filter(|n| body.node(*n).stmt == node.stmt && matches!(body.node(*n).instr, Instr::Branch { .. }))
        .collect();
    let place = branches.iter().position(|n| *n == branch)?;
    let span = &node.span;
    let mut text = String::new();
    for line in span.line..span.line + MAX_LINES {
        text.push_str(&source(line).unwrap_or_default());
        text.push(' ');
    }
    let start = usize::try_from(span.col).ok()?.checked_sub(1)?;
    let text = text.get(start..)?;
    let operands = operands(condition(text).or_else(|| before_mark(text))?);
    let operand = operands.get(place).filter(|_| operands.len() == branches.len())?;
    let operand = operand.split_whitespace().collect::<Vec<_>>().join(" ");
    (operand.chars().count() <= LONGEST && !operand.is_empty()).then_some(operand)
}

/// The condition of the statement that a text begins with.
fn condition(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(|c: char| c == '}' || c.is_whitespace());
    let text = text.strip_prefix("else").map_or(text, str::trim_start);
    let (word, rest) = ["if", "while", "for"].iter().find_map(|w| Some((*w, text.strip_prefix(w)?)))?;
    let inside = rest.trim_start().strip_prefix('(')?;
    let inside = &inside[..end(inside, &|c| c == ')')?];
    if word != "for" {
        return Some(inside);
    }
    let second = &inside[end(inside, &|c| c == ';')? + 1..];
    Some(&second[..end(second, &|c| c == ';')?])
}

/// What stands before the only `?` of the statement that a text begins with.
fn before_mark(text: &str) -> Option<&str> {
    let mut found = None;
    // Where what is within brackets began, or behind the last comma or assignment in it.
    let mut starts = vec![text.strip_prefix("return").map_or(0, |rest| text.len() - rest.len())];
    let (mut quote, mut escaped, mut last) = (None, false, ' ');
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, ';') if starts.len() == 1 => return found,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => starts.push(at + 1),
            (None, ')' | ']' | '}') => _ = starts.pop(),
            (None, '?') if found.is_some() => return None,
            (None, '?') => found = text.get(*starts.last()?..at),
            (None, ',') => *starts.last_mut()? = at + 1,
            (None, '=') if !matches!(last, '=' | '!' | '<' | '>') && !text[at + 1..].starts_with('=') => {
                *starts.last_mut()? = at + 1;
            }
            _ => {}
        }
        last = c;
    }
    None
}

/// Where a character stands that is in no brackets and no quotes.
fn end(text: &str, is_end: &dyn Fn(char) -> bool) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0u32, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, c) if depth == 0 && is_end(c) => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The operands of `&&`, `||` and `!`, from left to right.
fn operands(text: &str) -> Vec<&str> {
    for operator in ["||", "&&"] {
        let first = operator.chars().next().unwrap_or(' ');
        let mut from = 0;
        while let Some(at) = end(&text[from..], &|c| c == first) {
            if text[from + at..].starts_with(operator) {
                let mut found = operands(&text[..from + at]);
                found.extend(operands(&text[from + at + 2..]));
                return found;
            }
            from += at + 1;
        }
    }
    let inner = text.trim();
    let inner = inner.strip_prefix('!').filter(|rest| !rest.starts_with('=')).map_or(inner, str::trim);
    let is_whole = |rest: &str| end(rest, &|c| c == ')') == Some(rest.len() - 1);
    match inner.strip_prefix('(').filter(|rest| is_whole(rest)) {
        Some(rest) => operands(&rest[..rest.len() - 1]),
        None if inner.len() < text.len() && inner.starts_with('!') => operands(inner),
        None => vec![inner],
    }
}

/// An operand that is one `==` or `!=` turned into the other one; `None` where something binds less.
pub(super) fn negated(text: &str) -> Option<String> {
    let binds_less = |c: char| matches!(c, '&' | '|' | '^' | '?' | ',' | '=' | '!');
    let at = end(text, &|c| matches!(c, '=' | '!'))?;
    let (left, rest) = text.split_at(at);
    let (operator, right) = rest.split_at_checked(2)?;
    let turned = match operator {
        "==" => "!=",
        "!=" => "==",
        _ => return None,
    };
    let is_one = !left.ends_with(['<', '>', '+', '-', '*', '/', '%'])
        && [left, right].iter().all(|side| end(side, &binds_less).is_none());
    is_one.then(|| format!("{left}{turned}{right}"))
}

#[cfg(test)]
mod tests {
    use super::{before_mark, condition, negated, operands};

    #[test]
    fn an_equality_is_turned_where_it_is_all() {
        let turned = |text: &str| negated(text);
        assert_eq!(turned("s == NULL").as_deref(), Some("s != NULL"));
        assert_eq!(turned("(p = f(a, b)) != '='").as_deref(), Some("(p = f(a, b)) == '='"));
        for text in
            ["a & b == c", "a == b != c", "a <= b", "a = b == c", "!a == b", "a ? b == c : d", "f(a == b)"]
        {
            assert_eq!(turned(text), None, "{text}");
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(condition(text).map(operands).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn what_stands_before_a_question_mark_is_found() {
        fn found(text: &str) -> Option<&str> {
            before_mark(text).map(str::trim)
        }
        assert_eq!(found("printf(\"?\", p->name ? p->name : none); x;"), Some("p->name"));
        assert_eq!(found("return a == b ? 1 : 2;"), Some("a == b"));
        assert_eq!(found("x = (y, z >= 1) ? f(1) : 2; a ? b : c;"), Some("(y, z >= 1)"));
        assert_eq!(found("x = a ? b ? 1 : 2 : 3;"), None);
        assert_eq!(found("x = a;"), None);
    }

    #[test]
    fn operands_are_in_their_order() {
        check("if (a) b();", &["a"]);
        check("if (!a) b();", &["a"]);
        check("} else if (a && !b || c) {", &["a", "b", "c"]);
        check("if (!(a || (b && c)))", &["a", "b", "c"]);
        check("while (f(a && b, ')') != 0 && c & d)", &["f(a && b, ')') != 0", "c & d"]);
        check("for (int i = 0; i < n && p[i]; i++)", &["i < n", "p[i]"]);
        check("if ((a) && (b))", &["a", "b"]);
        check("if (!!a)", &["a"]);
        check("if (a | b || c)", &["a | b", "c"]);
        check("if (a", &[]);
        check("x = a && b;", &[]);
    }
}
