//! Residual programs: copies of a source in which executions end where nothing is left to verify.
//!
//! A statement that no execution passes unless the condition covers it already is *cut off*: `exit(0)`
//! stands before it. Where only some of the ways that lead to a statement are covered, a variable of the copy
//! tells which one was taken (`states.rs`). All other statements stay as they are, so on inputs that the condition does not
//! cover the copy behaves as its original.

use super::asserts::Source;
use super::edits::Edits;
use super::states;
use crate::analysis::difference::Compared;
use crate::difference::Remainder;
use crate::frontend::c::outline::{FunctionOutline, StatementSite};
use crate::ir::{Function, Instr, NodeId};
use crate::semantics::pointers;

/// A residual program.
#[derive(Clone, Debug, Default)]
pub struct Residual {
    pub text: Vec<u8>,
    /// Statements that are cut off.
    pub cuts: usize,
    /// Why nothing could be cut off.
    pub why: Option<String>,
}

/// Cuts off what a remainder leaves out of the file of one of its units. `compared`: the comparison that it is of, if
/// that is one of a function of the file alone.
pub fn residual(
    source: &Source,
    remainder: &Remainder,
    unit: usize,
    compared: Option<&Compared>,
) -> Residual {
    let untouched = |why: &str| Residual { text: source.bytes.to_vec(), cuts: 0, why: Some(why.to_owned()) };
    if source.unit.function("exit").is_some() || source.unit.global("exit").is_some() {
        return untouched("the file has an exit of its own");
    }
    let mut edits = Edits::default();
    let mut cuts = Vec::new();
    for outline in &source.outline.functions {
        let looked_at = remainder.functions.contains(&(unit, outline.name.as_str().into()));
        let Some(f) = source.unit.function(&outline.name).filter(|_| looked_at) else { continue };
        let f = pointers::resolve(f, &source.unit).unwrap_or_else(|| f.clone());
        for site in cut_sites(&f, outline, &source.bytes, &|n| remainder.has(unit, &outline.name, n)) {
            put_before(&mut edits, site, "exit(0); ");
            cuts.push(site);
        }
    }
    let is_cut =
        |s: &StatementSite| cuts.iter().any(|c| c.range.start <= s.range.start && s.range.end <= c.range.end);
    let is_ours = source.has_our_names || source.unit.global(states::STATE).is_some();
    let moves = compared.filter(|_| !is_ours).and_then(|c| states::moves(c, source, &is_cut));
    let mut cuts = cuts.len();
    if let (Some(moves), Some(compared)) = (moves, compared)
        && let Some(body) = entry(source, &compared.name)
    {
        edits.insert(body, states::at_entry());
        moves.code.iter().for_each(|(site, code)| put_before(&mut edits, site, code));
        edits.insert(0, states::declaration());
        cuts += moves.cuts;
    }
    if cuts > 0 {
        // The lines keep their numbers. Verifiers that have no library of their own read that it does not return.
        edits.insert(0, "/*@ assigns \\nothing; ensures \\false; */\nextern void exit(int);\n#line 1\n");
    }
    Residual { text: edits.apply(&source.bytes), cuts, why: None }
}

/// Where the body of a function begins.
fn entry(source: &Source, name: &str) -> Option<usize> {
    let f = source.outline.functions.iter().find(|f| f.name == name)?;
    Some(f.body.as_ref()?.start)
}

fn put_before(edits: &mut Edits, site: &StatementSite, code: &str) {
    match site.in_block {
        true => edits.insert(site.range.start, code),
        false => {
            edits.insert(site.range.start, format!("{{ {code}"));
            edits.insert(site.range.end, " }");
        }
    }
}

pub(super) fn line_starts(text: &[u8]) -> Vec<usize> {
    let ends = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
    std::iter::once(0).chain(ends).collect()
}

/// Where the nodes of a function stand in the file; `None` when some node that is left over has no place.
fn places(f: &Function, lines: &[usize], left: &dyn Fn(NodeId) -> bool) -> Option<Vec<(usize, bool)>> {
    let mut found = Vec::new();
    for (i, node) in f.nodes.iter().enumerate() {
        let left = left(NodeId(i as u32));
        if matches!(node.instr, Instr::Nop) && !left {
            continue;
        }
        let own = (node.span.file.0 == 0 && node.span.line > 0).then_some(&node.span);
        let start = own.and_then(|s| {
            lines.get(s.line as usize - 1).map(|at| at + s.col as usize - usize::from(s.col > 0))
        });
        match start {
            Some(at) => found.push((at, left)),
            None if left && !matches!(node.instr, Instr::Nop) => return None,
            None => {}
        }
    }
    Some(found)
}

/// The outermost statements that no execution which is left over passes; of neighbours the first.
fn cut_sites<'o>(
    f: &Function,
    outline: &'o FunctionOutline,
    text: &[u8],
    left: &dyn Fn(NodeId) -> bool,
) -> Vec<&'o StatementSite> {
    let Some(places) = places(f, &line_starts(text), left) else { return Vec::new() };
    let idle = |s: &&StatementSite| {
        let mut inside = places.iter().filter(|(at, _)| s.range.contains(at)).peekable();
        inside.peek().is_some() && inside.all(|(_, left)| !left)
    };
    let mut sites: Vec<&StatementSite> = outline.statements.iter().filter(idle).collect();
    sites.sort_by_key(|s| (s.range.start, std::cmp::Reverse(s.range.end)));
    let mut cut: Vec<&StatementSite> = Vec::new();
    for site in sites {
        let covered = cut.last().is_some_and(|c| site.range.start < c.range.end);
        if !covered {
            cut.push(site);
        }
    }
    // What comes right behind a cut is reached by no way of its own.
    let mut end = None;
    cut.retain(|site| {
        let between = end.map(|e| text.get(e..site.range.start).unwrap_or_default());
        end = Some(site.range.end);
        !(site.in_block && between.is_some_and(|t| t.iter().all(u8::is_ascii_whitespace)))
    });
    cut
}
