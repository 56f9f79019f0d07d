//! Errors of the source that the typed tree does not show.
//!
//! The parser and the checker recover: an initialiser that does not parse is left out, a member that nobody
//! declared is skipped, a body ends where a brace was expected. What is left of such a statement reads as if it were
//! all of it. So every fatal diagnostic is looked for once more where it stands: a statement that has one, and of
//! which nothing became unknown for it, is followed by an unknown that may do anything; where there is no such
//! place (a head, a condition, a jump, a bracket without its other one, text behind the end of the body), nothing of the
//! function is known.

use super::super::parse::Parsed;
use super::super::scan::ItemKind;
use super::function::FnCx;
use crate::ir::{Expr, Instr, Unknown};
use rucc_diag::Span;
use rucc_sema::{DeclId, Stmt, StmtId};
use std::collections::BTreeMap;

/// Why what has an error is unknown.
pub(super) const ERRORS: &str = "source with errors";

/// What a fatal message about the head of a definition begins with if nothing of the definition is lost by it: it
/// contradicts another one.
const CONTRADICTIONS: [&str; 3] = ["conflicting types for", "static declaration of", "redefinition of"];

/// Where the fatal diagnostics of a unit stand.
#[derive(Default)]
pub(super) struct Errors {
    /// Positions, and whether they say no more than that another declaration says otherwise.
    at: BTreeMap<u32, bool>,
    /// Last positions of the definitions of functions in the text, by their first ones.
    ends: BTreeMap<u32, u32>,
}

impl Errors {
    /// Cost: a pass over the items of a unit with errors.
    pub fn new(parsed: &Parsed) -> Errors {
        let contradicts = |message: &str| CONTRADICTIONS.iter().any(|c| message.starts_with(c));
        let mut errors = Errors::default();
        for one in parsed.diagnostics.iter().filter(|d| d.severity.is_fatal()) {
            *errors.at.entry(one.span.lo).or_insert(true) &= contradicts(&one.message);
        }
        if errors.at.is_empty() {
            return errors;
        }
        let functions = parsed.items.iter().filter(|i| matches!(i.kind, ItemKind::Function { .. }));
        errors.ends = functions
            .filter_map(|item| {
                let tokens = parsed.tokens.get(item.tokens.clone())?;
                Some((tokens.first()?.report_span().lo, tokens.last()?.report_span().hi))
            })
            .collect();
        errors
    }

    /// Whether one stands between two positions; both count.
    fn within(&self, from: u32, to: u32) -> bool {
        from <= to && self.at.range(from..=to).next().is_some()
    }

    fn lose_of_head(&self, from: u32, to: u32) -> bool {
        from <= to && self.at.range(from..=to).any(|(_, contradicts)| !contradicts)
    }

    /// Where the text of a definition ends, of which some position is known.
    fn end_of(&self, position: u32) -> Option<u32> {
        self.ends.range(..=position).next_back().map(|(_, end)| *end).filter(|end| *end >= position)
    }
}

/// Whether each bracket among some tokens has its other one there: else what stands around them is not what the parser
/// took it for.
fn is_balanced(tokens: &str) -> bool {
    let mut open = Vec::new();
    tokens.split(' ').all(|token| match token {
        "(" | "[" | "{" => {
            open.push(token);
            true
        }
        ")" => open.pop() == Some("("),
        "]" => open.pop() == Some("["),
        "}" => open.pop() == Some("{"),
        _ => true,
    }) && open.is_empty()
}

impl FnCx<'_, '_> {
    /// Lowers the statements of a block, and answers for what was skipped between them.
    pub fn statements_of(&mut self, block: Span, list: &[StmtId]) {
        let around = (self.statements.from, self.statements.until);
        let starts: Vec<u32> = list.iter().map(|id| self.unit.tast.stmt_span(*id).lo).collect();
        let first = starts.first().map_or(block.hi, |lo| lo.saturating_sub(1));
        if self.unit.errors.within(block.lo + 1, first) {
            self.mark_error(Span { lo: block.lo, hi: first });
        }
        for (k, &id) in list.iter().enumerate() {
            let span = self.unit.tast.stmt_span(id);
            let (known, was_dead) = (self.found.unknowns.len(), self.graph.frontier.is_empty());
            let next = starts.get(k + 1).copied().unwrap_or(block.hi);
            (self.statements.from, self.statements.until) = (span.lo, next);
            self.statement(id);
            // What is missing is said to be missing at the end of what is there.
            let is_skipped = self.unit.errors.within(span.hi, next.saturating_sub(1));
            if is_skipped && known == self.found.unknowns.len() && !was_dead {
                self.mark_error(span);
            }
        }
        (self.statements.from, self.statements.until) = around;
    }

    /// Answers for the errors of a statement of its own text, of which `known` unknowns were there before it.
    pub fn answer_for_errors(&mut self, id: StmtId, known: usize, was_dead: bool) {
        let span = self.unit.tast.stmt_span(id);
        if was_dead || !self.unit.errors.within(span.lo, span.hi) {
            return;
        }
        let span_of = |id: StmtId| self.unit.tast.stmt_span(id);
        let (before, after) = match self.unit.tast[id] {
            Stmt::Block(_) | Stmt::Empty | Stmt::Error => return,
            Stmt::If { then: body, .. }
            | Stmt::While { body, .. }
            | Stmt::For { body, .. }
            | Stmt::Switch { body, .. }
            | Stmt::Case { body, .. }
            | Stmt::Default { body }
            | Stmt::Label { body, .. } => ((span.lo, span_of(body).lo.saturating_sub(1)), None),
            Stmt::DoWhile { body, .. } => {
                let body = span_of(body);
                ((span.lo, body.lo.saturating_sub(1)), Some((body.hi + 1, span.hi)))
            }
            _ => {
                if known == self.found.unknowns.len() {
                    self.mark_error(span);
                }
                return;
            }
        };
        let is_lost = |part: (u32, u32)| {
            let [first, last] = [part.0, part.1].map(|at| self.unit.spans.line(at));
            let is_there = |u: &Unknown| (first..=last.max(first)).contains(&u.line);
            self.unit.errors.within(part.0, part.1) && !self.found.unknowns[known..].iter().any(is_there)
        };
        if is_lost(before) || after.is_some_and(is_lost) {
            self.found.beyond = Some(ERRORS.into());
        }
    }

    /// Answers for errors in the head of the definition, and behind what was taken for its end.
    pub fn answer_for_outer_errors(&mut self, body: Span, id: DeclId) {
        let start = self.unit.tast.definition_span(id).lo;
        let end = self.unit.errors.end_of(body.lo).unwrap_or(body.hi);
        if self.unit.errors.lose_of_head(start, body.lo) || self.unit.errors.within(body.hi + 1, end) {
            self.found.beyond = Some(ERRORS.into());
        }
    }

    /// Makes unknown what the text at a place does: no more of it is known than that it has an error.
    fn mark_error(&mut self, span: Span) {
        if self.graph.frontier.is_empty() {
            self.found.beyond = Some(ERRORS.into());
            return;
        }
        self.start("expr", span);
        self.found.unknowns.push(Unknown { line: self.statements.span.line, reason: ERRORS.into() });
        // With what the parser skipped.
        let text = self.unit.spans.tokens_within((span.lo, span.hi.max(self.statements.until)));
        if !is_balanced(&text) {
            self.found.beyond = Some(ERRORS.into());
        }
        let writes = self.registers_in(&text);
        let reads = writes.iter().map(|v| Expr::Var(*v)).collect();
        let text = text.into();
        let (reason, anything, skips) = (ERRORS.into(), true, true);
        self.emit(Instr::Unknown { reason, text, reads, writes, anything, skips });
    }
}
