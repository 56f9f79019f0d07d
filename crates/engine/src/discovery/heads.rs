//! Heads of loops as points: where they are, and what has a name there.
//!
//! A *head* is the node through which every round of a natural loop begins, the first one, too: before the condition
//! of a `while` or a `for`, before the body of a `do`. Control *arrives* there once for each round, and once more to
//! leave where the condition is false.
//!
//! A local has a name there if it is *live*: some way on from the head reads it before it is written. What is not live
//! is out of scope, or what it holds does not matter. Of a local that lies in memory a use of its address is a read, but
//! for a plain assignment. A name that several variables have at a head is the innermost
//! one's, which a local is against a parameter or an object of the file; of two locals none is told.
//!
//! Source: Aho, Lam, Sethi and Ullman, *Compilers*, 9.2.5 (live variables) and 9.6 (natural loops).

use super::subject::{Looked, Source, Subject, is_kept, kind_of};
use super::{Over, Point, sequences};
use crate::infer::Variable;
use crate::ir::{Expr, Function, Instr, NodeId, Object, VarId, VarKind};
use crate::mvicfg::{ClassId, Flow, Mvicfg};
use crate::semantics::liveness::Liveness;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The head of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub node: NodeId,
    pub place: HeadPlace,
    pub variables: Vec<Looked>,
}

/// Where a loop is, for readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadPlace {
    pub line: u32,
    /// Which of the loops that begin in this line, from 1; 0 where it is the only one.
    pub of_line: usize,
    /// Loops around it.
    pub depth: usize,
}

impl HeadPlace {
    /// As a reader sees it.
    pub fn text(self) -> String {
        match self.of_line {
            0 => format!("head of the loop at line {}", self.line),
            k => format!("head of loop {k} at line {}", self.line),
        }
    }
}

/// A point by its name, with the line where it is a head; `heads`: of the function.
pub fn place(point: Point, heads: &[HeadPlace]) -> String {
    match point {
        Point::Head(k) => heads.get(k).map_or(String::new(), |h| h.text()),
        Point::Entry | Point::Exit => point.name().to_owned(),
    }
}

/// The heads of a function's loops, in the order of its text; none of one whose loops are entered at several places.
/// Cost: a few passes over the function.
pub(super) fn of(subject: &Subject, over: Over) -> Vec<Head> {
    let f = subject.function;
    let graph = Mvicfg::build(vec![Arc::new(f.clone())]);
    let flow = Flow::new(&graph);
    let Some(class) = flow.classes.first().filter(|c| !c.irreducible && !c.loops.is_empty()) else {
        return Vec::new();
    };
    let liveness = Liveness::new(&graph, &flow);
    let mut all = Vec::new();
    for l in &class.loops {
        let Some(&(_, node)) = graph.node(l.head).origins.first() else { continue };
        let around = class.loops.iter().filter(|o| o.head != l.head && o.body.contains(&l.head));
        let place = HeadPlace { line: line(f, node), of_line: 0, depth: around.count() };
        let merged = |v: VarId| graph.var_map.first().and_then(|m| m.get(v.0 as usize));
        let live = |v: VarId| match f.var(v).in_memory {
            true => is_used_from(f, node, v),
            false => merged(v).is_some_and(|v| liveness.before(ClassId::ONLY, l.head).contains(*v)),
        };
        all.push(Head { node, place, variables: variables(subject, over, &live) });
    }
    all.sort_by_key(|h| (h.place.line, h.node));
    let lines: Vec<u32> = all.iter().map(|h| h.place.line).collect();
    for (k, head) in all.iter_mut().enumerate() {
        let alike = |l: &&u32| **l == head.place.line;
        if lines.iter().filter(alike).count() > 1 {
            head.place.of_line = lines.iter().take(k + 1).filter(alike).count();
        }
    }
    all
}

/// Whether some way on from a node uses the address of a local before its life begins anew and before it is assigned to.
fn is_used_from(f: &Function, from: NodeId, v: VarId) -> bool {
    let is_address = |e: &Expr| matches!(e, Expr::Addr(Object::Local(o)) if *o == v);
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(n) = open.pop() {
        if !seen.insert(n) {
            continue;
        }
        let node = f.node(n);
        let (mut uses, mut is_assigned) = (0, false);
        node.instr.for_each_expr(&mut |e| uses += usize::from(is_address(e)));
        if let Instr::Store { addr, access, .. } = &node.instr
            && is_address(addr)
        {
            uses -= 1;
            is_assigned = access.bytes == f.var(v).size;
        }
        match (uses, &node.instr) {
            (1.., _) => return true,
            (_, Instr::Declare(o)) if *o == v => {}
            _ if is_assigned => {}
            _ => open.extend(&node.succs),
        }
    }
    false
}

fn line(f: &Function, node: NodeId) -> u32 {
    let n = f.node(node);
    let of_statement = f.stmts.get(n.stmt.0 as usize).map_or(0, |s| s.span.line);
    if of_statement > 0 { of_statement } else { n.span.line }
}

/// What is looked at where some variables are live.
fn variables(subject: &Subject, over: Over, live: &dyn Fn(VarId) -> bool) -> Vec<Looked> {
    let f = subject.function;
    let locals: Vec<VarId> = (0..f.vars.len())
        .filter_map(|k| u32::try_from(k).ok().map(VarId))
        .filter(|v| is_local(f, *v) && live(*v))
        .collect();
    let is_hidden = |name: &str| locals.iter().any(|v| *f.var(*v).name == *name);
    let mut all = Vec::new();
    if over == Over::All {
        for v in &locals {
            let var = f.var(*v);
            let is_twice = locals.iter().filter(|o| f.var(**o).name == var.name).count() > 1;
            let Some(kind) = kind_of(&var.ty).filter(|_| !is_twice) else { continue };
            let variable = Variable { name: var.name.to_string(), kind };
            all.push(Looked { variable, source: Source::Local(*v), bytes: var.size });
        }
        for (k, p) in f.params.iter().enumerate().filter(|(_, p)| !is_hidden(&f.var(**p).name)) {
            let var = f.var(*p);
            let Some(kind) = kind_of(&var.ty) else { continue };
            let looked = |name: String, source: Source| Looked {
                variable: Variable { name, kind },
                source,
                bytes: var.size,
            };
            if is_kept(f, *p) {
                all.push(looked(var.name.to_string(), Source::Parameter(k)));
                continue;
            }
            if !var.in_memory {
                all.push(looked(var.name.to_string(), Source::Local(*p)));
            }
            all.push(looked(format!("\\old({})", var.name), Source::Parameter(k)));
        }
    }
    let of_file = subject.exit.iter().filter(|l| match &l.source {
        Source::Global { symbol, .. } => subject.unit.global(symbol).is_none_or(|g| !is_hidden(&g.name)),
        _ => false,
    });
    all.extend(of_file.cloned());
    if over == Over::All {
        // Of a parameter that a local hides the name is another one's.
        let parts = sequences::at_head(subject, &all);
        all.extend(parts.into_iter().filter(|l| match &l.source {
            Source::Array { array, .. } => {
                f.params.get(array.parameter).is_some_and(|p| !is_hidden(&f.var(*p).name))
            }
            _ => true,
        }));
    }
    all
}

/// Whether a variable is one of the text that is no parameter.
fn is_local(f: &Function, v: VarId) -> bool {
    let var = f.var(v);
    var.kind != VarKind::Temp && !f.params.contains(&v) && !var.name.contains("::")
}
