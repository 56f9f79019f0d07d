//! Conditions as assumption automata, in CPAchecker's language of specification automata.
//!
//! `__TRUE` is where the condition covers an execution, `__FALSE` where all of it is to be verified.
//! A transition matches the text of a statement, or of an assumption: `[x > 0]`, `[!(x > 0)]`. What a
//! verifier spells in another way matches none, and leads to `__FALSE`: more is verified then, never less.
//! Edges without a text of their own (joins, entries and ends of functions) change no state.

use crate::analysis::difference::{Compared, Spot};
use crate::difference::{Edge, GraphNode, Role};
use crate::ir::{Function, Instr, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Returns the automaton of one function's comparison. `text` has the sources of the last version.
pub fn automaton(compared: &Compared, text: &dyn Fn(&Path) -> Option<Arc<[u8]>>) -> String {
    let condition = compared.graph.condition();
    let mut from: BTreeMap<GraphNode, Vec<Edge>> = BTreeMap::new();
    for e in &condition.edges {
        from.entry(e.from).or_default().push(*e);
    }
    let writer = Writer { compared, text, open: &condition.open, from };
    writer.write()
}

struct Writer<'a> {
    compared: &'a Compared,
    text: &'a dyn Fn(&Path) -> Option<Arc<[u8]>>,
    open: &'a BTreeSet<GraphNode>,
    from: BTreeMap<GraphNode, Vec<Edge>>,
}

const SINKS: &str =
    "STATE __TRUE :\n    TRUE -> GOTO __TRUE;\n\nSTATE __FALSE :\n    TRUE -> GOTO __FALSE;\n\n";

impl Writer<'_> {
    fn write(&self) -> String {
        let mut out = String::from("OBSERVER AUTOMATON AssumptionAutomaton\n\n");
        let initial = self.name(0);
        let start = if initial.starts_with("__") { "Init".to_owned() } else { initial.clone() };
        let _ = write!(out, "INITIAL STATE {start};\n\n{SINKS}");
        if start != initial {
            let _ = write!(out, "STATE USEFIRST {start} :\n    TRUE -> GOTO {initial};\n\n");
        }
        let mut seen: BTreeSet<GraphNode> = BTreeSet::from([0]);
        let mut work = vec![0];
        while let Some(node) = work.pop() {
            if self.name(node).starts_with("__") {
                continue;
            }
            let mut targets = self.state(node, &mut out);
            targets.retain(|t| seen.insert(*t));
            work.extend(targets.into_iter().rev());
        }
        out.push_str("END AUTOMATON\n");
        out
    }

    fn name(&self, node: GraphNode) -> String {
        match self.compared.graph.nodes.get(node).map(|(_, role)| role) {
            _ if !self.open.contains(&node) => "__TRUE".to_owned(),
            Some(Role::Bug) | None => "__FALSE".to_owned(),
            Some(_) => format!("S{node}"),
        }
    }

    /// Writes one state; returns where its transitions lead.
    fn state(&self, node: GraphNode, out: &mut String) -> Vec<GraphNode> {
        let name = self.name(node);
        let spot = &self.compared.spots[node];
        let _ = writeln!(out, "// {}() line {}", spot.function.name, spot.line);
        let _ = writeln!(out, "STATE USEFIRST {name} :");
        let is_branch = matches!(spot.instr(), Some(Instr::Branch { .. }));
        let mut targets = Vec::new();
        for e in self.from.get(&node).into_iter().flatten() {
            let to = if is_branch { e.to } else { self.past_statement(node, e.to) };
            let text = match (is_branch, e.label) {
                (true, 0) => self.condition(spot).map(|c| format!("[{c}]")),
                (true, _) => self.condition(spot).map(|c| format!("[!({c})]")),
                (false, _) => self.statement(spot),
            };
            if let Some(text) = text {
                let _ = writeln!(out, "    MATCH {} -> GOTO {};", pattern(&text), self.name(to));
                targets.push(to);
            }
        }
        let _ = writeln!(out, "    MATCH \"\" -> GOTO {name};");
        let _ = writeln!(out, "    MATCH [Return edge from .*] -> GOTO {name};");
        // Before the first statement come the declarations of the file.
        let other = if node == 0 { &name } else { "__FALSE" };
        let _ = write!(out, "    TRUE -> GOTO {other};\n\n");
        targets
    }

    /// One statement may be several operations.
    fn past_statement(&self, from: GraphNode, first: GraphNode) -> GraphNode {
        let places = &self.compared.graph.nodes;
        let mut at = first;
        let mut seen = BTreeSet::new();
        while seen.insert(at) {
            let (spot, start) = (&self.compared.spots[at], &self.compared.spots[from]);
            let same = places[at].0.calls == places[from].0.calls && spot.stmt() == start.stmt();
            let returns = places[at].0.node == Function::EXIT;
            let goes_on = (same && !matches!(spot.instr(), Some(Instr::Branch { .. }))) || returns;
            match self.from.get(&at).map(Vec::as_slice) {
                Some([only]) if goes_on && !self.name(at).starts_with("__") => at = only.to,
                _ => break,
            }
        }
        at
    }

    /// Text of the operand of a statement's condition that a branch tests.
    fn condition(&self, spot: &Spot) -> Option<String> {
        let stmt = spot.stmt()?;
        let nodes = spot.function.nodes.iter();
        let tests: Vec<&Node> =
            nodes.filter(|n| n.stmt == stmt && matches!(n.instr, Instr::Branch { .. })).collect();
        let which = tests.iter().position(|n| spot.node().is_some_and(|m| std::ptr::eq(m, *n)))?;
        let span = &spot.statement()?.span;
        let bytes = (self.text)(&spot.file)?;
        let rest = from(&bytes, span.line, span.col)?;
        let condition = match rest.strip_prefix(b"if").or_else(|| rest.strip_prefix(b"while")) {
            Some(rest) => group(rest)?,
            // The second part of a `for`.
            None if self.is_loop_condition(spot) => &rest[..end(rest, &[b";"])?],
            None => return None,
        };
        let operands = operands(condition)?;
        (operands.len() == tests.len()).then(|| line(operands[which]))?
    }

    fn is_loop_condition(&self, spot: &Spot) -> bool {
        spot.statement().is_some_and(|s| s.kind == "for")
    }

    fn statement(&self, spot: &Spot) -> Option<String> {
        let span = &spot.statement()?.span;
        let bytes = (self.text)(&spot.file)?;
        let rest = from(&bytes, span.line, span.col)?;
        line(rest.get(..=end(rest, &[b";"])?)?)
    }
}

/// What matches a text: the text itself, or where it has quotes, of which the language's strings have none, a regular
/// expression, which has no brackets there and takes any character for one.
fn pattern(text: &str) -> String {
    if !text.contains(['"', '\\']) {
        return format!("\"{text}\"");
    }
    let mut out = String::from("[");
    for c in text.chars() {
        match c {
            '[' | ']' => out.push('.'),
            c if c.is_ascii_punctuation() && !matches!(c, '"' | '\'' | '_') => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push(']');
    out
}

/// The text of a file from a line and column on.
fn from(bytes: &[u8], line: u32, col: u32) -> Option<&[u8]> {
    let lines = bytes.split_inclusive(|b| *b == b'\n');
    let before: usize = lines.take((line as usize).checked_sub(1)?).map(<[u8]>::len).sum();
    bytes.get(before + (col as usize).checked_sub(1)?..)
}

/// Where the first of some tokens is, or the closing bracket around, outside brackets and strings; `None`
/// where there is a comment before that.
fn end(text: &[u8], ends: &[&[u8]]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&b) = text.get(at) {
        let here = &text[at..];
        match b {
            _ if depth == 0 && ends.iter().any(|e| here.starts_with(e)) => return Some(at),
            b'"' | b'\'' => {
                at += 1;
                while text.get(at).is_some_and(|c| *c != b) {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if here.starts_with(b"/*") || here.starts_with(b"//") => return None,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return Some(at),
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Some(text.len())
}

/// What stands in the parentheses that come next.
fn group(text: &[u8]) -> Option<&[u8]> {
    let rest = text.trim_ascii_start().strip_prefix(b"(")?;
    rest.get(..end(rest, &[])?)
}

/// The operands of `&&` and `||`, in the order in which they stand, out of parentheses and negations.
fn operands(text: &[u8]) -> Option<Vec<&[u8]>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let at = end(rest, &[b"&&", b"||", b"?"])?;
        let operand = rest.get(..at)?.trim_ascii();
        let bare = operand.strip_prefix(b"!").unwrap_or(operand).trim_ascii();
        let inner = group(bare).filter(|g| g.len() + 2 == bare.len());
        match inner.and_then(operands).filter(|inner| inner.len() > 1) {
            Some(inner) => found.extend(inner),
            None => found.push(operand),
        }
        match rest.get(at..) {
            Some([b'?', ..]) => return None,
            Some([_, _, next @ ..]) => rest = next,
            _ => return Some(found),
        }
    }
}

/// Text of one line; one of several would have to be spelled as the verifier's parser does.
fn line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text).trim().to_owned();
    (!text.is_empty() && !text.contains(['\n', '\r'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(condition: &str, expected: &[&str]) {
        let found: Vec<&str> = operands(condition.as_bytes())
            .unwrap_or_default()
            .into_iter()
            .map(|o| std::str::from_utf8(o).unwrap())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn conditions_are_split_into_what_branches_test() {
        check("x > 0", &["x > 0"]);
        check("x < 0 || f(a && b) > y", &["x < 0", "f(a && b) > y"]);
        check("!(result >= 0.0f && result < 1.0f)", &["result >= 0.0f", "result < 1.0f"]);
        check("(x == '|' || y)", &["x == '|'", "y"]);
        check("a && (b || !c)", &["a", "b", "!c"]);
        check("a ? b : c", &[]);
    }

    #[test]
    fn text_is_quoted() {
        assert_eq!(pattern("[x > t[1]]"), "\"[x > t[1]]\"");
        assert_eq!(pattern("puts(\"a\\n\");"), "[puts\\(\"a\\\\n\"\\)\\;]");
        assert_eq!(pattern("[t[0] == '\"']"), "[.t.0. \\=\\= '\"'.]");
        assert_eq!(line(b" x = 1; "), Some("x = 1;".to_owned()));
        assert_eq!(line(b"x =\n1;"), None);
    }
}
