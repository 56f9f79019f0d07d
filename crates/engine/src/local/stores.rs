//! What an assignment writes, and to which place as it stands in the source: for places that no name of the point
//! leads to, such as what a call has just made.

use super::calls::{excerpt, whole_literal};
use super::difference::{Difference, Item};
use super::side::expansion;
use super::source_tests::MAX_LINES;
use super::words::Speaker;
use crate::mvicfg::MvId;

/// Characters of the longest place that is told.
const LONGEST: usize = 60;

impl Speaker<'_> {
    /// Of a long text that is written where the other version writes another one, the part in which they differ.
    pub(super) fn excerpt(&self, class: usize, item: &Item, d: &Difference) -> Option<String> {
        let written = |item: &Item| match item {
            Item::Write { address, value, .. } => Some((None, Some(*address), *value)),
            Item::Variable(v, value) => Some((Some(*v), None, *value)),
            _ => None,
        };
        let (var, address, value) = written(item)?;
        let others = d.items[1 - class].iter().filter_map(written);
        let (.., theirs) = others.into_iter().find(|(v, a, _)| (*v, *a) == (var, address))?;
        let own = whole_literal(self.pool, self.sides[class].layout, value)?;
        let theirs = whole_literal(self.pool, self.sides[1 - class].layout, theirs)?;
        Some(excerpt(&own, &theirs))
    }

    /// The place that the statement of a node assigns to, where it does so once and by itself.
    pub(super) fn assigned_place(&self, class: usize, node: MvId) -> Option<String> {
        if expansion(self.graph, class, node).is_some() {
            return None;
        }
        let span = &self.graph.bodies[class].node(self.graph.origin(node, class)?).span;
        let mut text = String::new();
        for line in span.line..span.line + MAX_LINES {
            text.push_str(&(self.source)(class, line).unwrap_or_default());
            text.push(' ');
        }
        let start = usize::try_from(span.col).ok()?.checked_sub(1)?;
        let found = place(text.get(start..)?)?;
        let body = &self.graph.bodies[class];
        let stmt = body.node(self.graph.origin(node, class)?).stmt;
        match body.stmts.get(stmt.0 as usize).is_some_and(|s| s.kind == "decl") {
            true => found.split('[').next().map(str::to_owned),
            false => Some(found),
        }
    }
}

/// The place that the only assignment of the statement writes to with which a text begins.
fn place(text: &str) -> Option<String> {
    let statement = &text[..text.find(';')?];
    let (left, right) = match statement.find('=') {
        Some(at) => (&statement[..at], &statement[at + 1..]),
        None => (statement.trim_end().strip_suffix("++").or(statement.trim_end().strip_suffix("--"))?, ""),
    };
    let left = left.trim_end_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let place: String = left.trim().trim_end_matches("[]").replace(" ->", "->").replace("-> ", "->");
    let is_place = |c: char| c.is_ascii_alphanumeric() || "_.->[]()*&+ ".contains(c);
    // A word behind a word is a declaration; what is compared, called or assigned again is no place alone.
    let is_one = !right.contains('=') && !place.contains(", ") && is_balanced(&place);
    let is_declared = place.split(' ').map(str::trim).collect::<Vec<_>>().windows(2).any(|w| {
        let is_end = |c: char| c.is_ascii_alphanumeric() || c == '_';
        w[0].ends_with(is_end) && w[1].starts_with(|c: char| is_end(c) || c == '*')
    });
    let is_shown = place.chars().all(is_place) && place.chars().count() <= LONGEST && !place.is_empty();
    let begins = place.starts_with(|c: char| c.is_ascii_alphabetic() || "_*(".contains(c));
    (is_one && is_shown && begins && !is_declared).then_some(place)
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0i32;
    let is_open = text.chars().all(|c| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        depth >= 0
    });
    is_open && depth == 0
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn the_place_of_an_assignment_is_read() {
        for (text, expected) in [
            ("rctx->fid = i; more = 2;", Some("rctx->fid")),
            ("fdcon[s].sent =\n 0;", Some("fdcon[s].sent")),
            ("*p++ = 'x';", Some("*p++")),
            ("(*list)->last += 2;", Some("(*list)->last")),
            ("p->n++;", Some("p->n")),
            ("int x = 1;", None),
            ("char *x = 1;", None),
            ("a = b = 1;", None),
            ("if ((r = f(x)) != 0) return;", None),
            ("x == y;", None),
            ("f(x);", None),
            ("= 1;", None),
            ("x = 1", None),
        ] {
            assert_eq!(place(text).as_deref(), expected, "{text}");
        }
    }
}
