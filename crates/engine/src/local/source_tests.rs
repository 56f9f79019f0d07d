//! Tests as they stand in the source, for conditions that the names of the point do not say.
//!
//! A statement's condition is a tree of `&&`, `||` and `!` over operands, and lowering makes one branch of each, in
//! their order (`&&` and `||` decide by branches in C, 6.5.13 and 6.5.14). Where the text has as many operands as
//! the statement has branches, the operand of a branch is the one at its place.

use crate::ir::{FileId, Function, Instr, Node, NodeId};

/// Lines over which a condition is followed: operands stand on lines of their own.
pub(super) const MAX_LINES: u32 = 16;
/// Lines of a macro's definition that is read.
const MAX_DEFINITION: u32 = 60;
/// What a condition follows.
const KEYWORDS: [&str; 3] = ["if", "while", "for"];
/// Characters of the longest operand that is told.
const LONGEST: usize = 80;

/// The operand that a branch tests, as it is written.
pub(super) fn operand(
    body: &Function,
    branch: NodeId,
    source: &dyn Fn(u32) -> Option<String>,
) -> Option<String> {
    let span = &body.node(branch).span;
    let mut text = String::new();
    for line in span.line..span.line + MAX_LINES {
        // Which lines of a condition are compiled is not read.
        let Some(more) = source(line).filter(|more| !more.trim_start().starts_with('#')) else { break };
        text.push_str(&more);
        text.push(' ');
    }
    let start = usize::try_from(span.col).ok()?.checked_sub(1)?;
    let text = text.get(start..)?;
    operand_at(body, branch, condition(text).or_else(|| before_mark(text))?)
}

/// The operand of a branch that a macro of the file made, as the macro's definition has it, with the arguments of the
/// use in the places of the parameters. It is the one at the branch's place among all of the use, if there are as many
/// of them.
pub(super) fn operand_of_macro(
    body: &Function,
    branch: NodeId,
    source: &dyn Fn(u32) -> Option<String>,
    arguments: &dyn Fn() -> Option<Vec<String>>,
) -> Option<String> {
    let span = &body.node(branch).span;
    let of = span.expansion.as_deref()?;
    let line = of.spelled.filter(|(file, _)| *file == FileId(0))?.1;
    let (parameters, text) = definition(&of.name, line, source)?;
    let is_of_use = |n: &Node| {
        matches!(n.instr, Instr::Branch { .. }) && (n.span.line, n.span.col) == (span.line, span.col)
    };
    let branches: Vec<usize> = (0..body.nodes.len()).filter(|k| is_of_use(&body.nodes[*k])).collect();
    let place = branches.iter().position(|k| *k == branch.0 as usize)?;
    // What an argument tests is no test of the definition.
    let arguments = if parameters.is_empty() { Vec::new() } else { arguments()? };
    if arguments.iter().any(|argument| ["?", "&&", "||"].iter().any(|of| argument.contains(of))) {
        return None;
    }
    let operands = tests_of(&text)?;
    let operand = operands.get(place).filter(|_| operands.len() == branches.len())?;
    let parameter = |word: &str| parameters.iter().position(|p| p == word);
    if words(operand).all(|word| parameter(word).is_none()) {
        return Some(operand.clone());
    }
    let told = pieces(operand).map(|piece| match parameter(piece) {
        Some(k) => arguments.get(k).cloned(),
        None => Some(piece.to_owned()),
    });
    told.collect::<Option<String>>().filter(|text| text.chars().count() <= LONGEST)
}

/// The parameters of a macro, and what it stands for, of which something is on a line.
pub(super) fn definition(
    name: &str,
    line: u32,
    source: &dyn Fn(u32) -> Option<String>,
) -> Option<(Vec<String>, String)> {
    let goes_on = |text: &str| text.trim_end().ends_with('\\');
    let mut first = line;
    let head = loop {
        let text = source(first)?;
        let directive =
            text.trim_start().strip_prefix('#').map(|rest| rest.trim_start().strip_prefix("define"));
        if let Some(rest) = directive {
            let head = rest?.trim_start();
            // Of a macro whose name only begins so it is another one's.
            break (words(head).next() == Some(name)).then(|| head[name.len()..].to_owned())?;
        }
        first = first.checked_sub(1).filter(|first| first + MAX_DEFINITION > line)?;
        goes_on(&source(first)?).then_some(())?;
    };
    let (parameters, head) = match head.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map(|(list, rest)| (list.to_owned(), rest.to_owned()))?,
        None => (String::new(), head),
    };
    let mut text = String::new();
    let mut next = head;
    for line in first + 1..first + MAX_DEFINITION {
        let is_last = !goes_on(&next);
        text.push_str(next.trim_end().trim_end_matches('\\'));
        text.push(' ');
        if is_last {
            let parameters = parameters.split(',').map(|p| p.trim().to_owned());
            return Some((parameters.filter(|p| !p.is_empty()).collect(), text));
        }
        next = source(line)?;
    }
    None
}

/// Whether a line is the first of a macro's definition.
pub(super) fn defines(line: &str, name: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define"));
    rest.is_some_and(|rest| words(rest.trim_start()).next() == Some(name))
}

/// The operands of all tests of a text in their order, but for those that are numbers; `None` where one may be in
/// something else than the condition of a statement.
fn tests_of(text: &str) -> Option<Vec<String>> {
    let (mut found, mut conditions, mut at) = (Vec::new(), 0, 0);
    for piece in pieces(text) {
        if KEYWORDS.contains(&piece) {
            let condition = condition(&text[at..])?;
            conditions += ["&&", "||"].iter().map(|of| condition.matches(of).count()).sum::<usize>();
            for operand in operands(condition) {
                let operand = operand.split_whitespace().collect::<Vec<_>>().join(" ");
                match operand.chars().all(|c| c.is_ascii_digit()) {
                    true => {}
                    false if operand.chars().count() > LONGEST => return None,
                    false => found.push(operand),
                }
            }
        }
        at += piece.len();
    }
    let all = ["&&", "||"].iter().map(|of| text.matches(of).count()).sum::<usize>();
    let is_other = text.contains(['?', '#']) || words(text).any(|word| word == "switch");
    (all == conditions && !is_other).then_some(found)
}

/// Of a condition, the operand at the place that a branch has among those of its statement.
fn operand_at(body: &Function, branch: NodeId, condition: &str) -> Option<String> {
    let node = body.node(branch);
    let branches: Vec<NodeId> = (0..body.nodes.len() as u32)
        .map(NodeId)
        .filter(|n| body.node(*n).stmt == node.stmt && matches!(body.node(*n).instr, Instr::Branch { .. }))
        .collect();
    let place = branches.iter().position(|n| *n == branch)?;
    let operands = operands(condition);
    let operand = operands.get(place).filter(|_| operands.len() == branches.len())?;
    let operand = operand.split_whitespace().collect::<Vec<_>>().join(" ");
    let has_comment = ["//", "/*"].iter().any(|mark| operand.contains(mark));
    (operand.chars().count() <= LONGEST && !operand.is_empty() && !has_comment).then_some(operand)
}

/// A text in words and what is between them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter(|piece| piece.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
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
    use super::{before_mark, condition, definition, negated, operands, tests_of};

    #[test]
    fn tests_of_a_macro_are_in_their_order() {
        let lines = [
            "#define A 1",
            "#define M(x, y) do { \\",
            "  if (x && (s).n) f(); \\",
            "  for (; y; ) g(); \\",
            "} while (0)",
            "z",
        ];
        let source = |line: u32| lines.get(line as usize - 1).map(|text| (*text).to_owned());
        for line in [2, 3] {
            let (parameters, text) = definition("M", line, &source).unwrap();
            assert_eq!(parameters, ["x", "y"]);
            assert_eq!(tests_of(&text).unwrap(), ["x", "(s).n", "y"]);
        }
        assert_eq!(definition("A", 1, &source), Some((Vec::new(), " 1 ".into())));
        // Another macro whose name begins so.
        assert_eq!(definition("M", 1, &|_| Some("#define MORE(x) if (x) f();".into())), None);
        assert_eq!(definition("M", 6, &source), None);
        assert_eq!(definition("N", 3, &source), None);
        for text in ["if (a) b = c && d;", "x ? 1 : 2", "if (a", "switch (a) { }", "if (a ## b) c();"] {
            assert_eq!(tests_of(text), None, "{text}");
        }
    }

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
