//! Calls that are made on the way to the exit: `p != NULL ==> calls free(p)`.
//!
//! What a function does to the world it mostly does by calling. A call outside loops is made in just
//! the executions that get to it, whose condition is a term over the inputs, with arguments that are
//! such terms, too. Calls that only compute a value are left out (the facts of the value tell of
//! them), and so are those that print or read standard input (the output and `\input(k)` tell).
//! What versions do not share of these facts becomes a churn where a run shows it (`call_churns.rs`).

use crate::fact::Formula;
use crate::invariant::fact::{Fact, Template};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::CALLS;
use crate::invariant::text;
use crate::ir::{Callee, Expr, Instr, Leaf, Op, Rebuilt, Term, TermId, TermPool, literal};
use crate::mvicfg::{ClassId, ClassSet, MvId};
use crate::semantics::{Lines, library};
use std::collections::{BTreeMap, BTreeSet};

/// Calls of one class that are told of where nothing changes.
const MAX_CALLS: usize = 8;
/// Calls of one class that are compared.
const MAX_COMPARED: usize = 24;
/// Terms of a condition or an argument that is put into words.
const MAX_TERMS: usize = 200;
/// Bytes of the longest text of a condition.
const MAX_CONDITION: usize = 100;

/// A call of one class.
pub(in crate::invariant) struct Made {
    condition: TermId,
    pub(in crate::invariant) callee: String,
    arguments: Vec<TermId>,
    /// Which of its arguments the text names.
    pub(in crate::invariant) named: Vec<bool>,
    text: String,
    assumptions: BTreeSet<String>,
    pub(in crate::invariant) line: u32,
    /// What the arguments come from, with the call, and what decides whether it is made.
    pub(in crate::invariant) causes: Lines,
    pub(in crate::invariant) guards: Lines,
}

impl Made {
    pub(in crate::invariant) fn is_same(&self, other: &Made) -> bool {
        (self.condition, &self.callee, &self.arguments) == (other.condition, &other.callee, &other.arguments)
            && self.text == other.text
    }

    pub(in crate::invariant) fn fact(&self, class: ClassId) -> Fact {
        Fact {
            template: Template::Event,
            variables: vec![CALLS.into()],
            formula: Formula::read(self.text.as_str()),
            c: None,
            classes: ClassSet::single(class),
            assumptions: self.assumptions.iter().cloned().collect(),
            lines: BTreeMap::from([(class, vec![self.line])]),
            bounds: BTreeMap::new(),
        }
    }
}

impl FunctionAnalysis<'_> {
    /// Adds the calls that classes share, and those that a run shows to be others.
    pub(in crate::invariant) fn calls(&mut self) {
        let classes = self.task.graph.all_classes();
        let by_class: BTreeMap<ClassId, Vec<Made>> = classes.iter().map(|c| (c, self.calls_of(c))).collect();
        let mut merged: Vec<(&Made, Fact)> = Vec::new();
        for (&class, calls) in &by_class {
            for made in calls.iter().take(MAX_CALLS) {
                let fact = made.fact(class);
                match merged.iter_mut().find(|(m, _)| m.is_same(made)) {
                    Some((_, known)) => {
                        known.classes.insert(class);
                        known.lines.entry(class).or_default().push(made.line);
                        known.assumptions.extend(fact.assumptions);
                        known.assumptions.sort();
                        known.assumptions.dedup();
                    }
                    None => merged.push((made, fact)),
                }
            }
        }
        self.diff.invariants.extend(merged.into_iter().map(|(_, fact)| fact));
        for (from, to) in self.task.pairs.clone() {
            self.call_churn(from, to, &by_class[&from], &by_class[&to]);
        }
    }

    fn calls_of(&mut self, class: ClassId) -> Vec<Made> {
        let flow = &self.e.flow.classes[class];
        let outside = flow.rpo.iter().copied().filter(|&n| flow.innermost[n.0 as usize].is_none());
        let nodes: Vec<MvId> = outside.filter(|&n| self.is_worth_telling(n)).collect();
        let mut found = Vec::new();
        for node in nodes {
            if found.len() >= MAX_COMPARED || self.e.is_exhausted() {
                break;
            }
            found.extend(self.call_made(class, node));
        }
        found
    }

    /// Whether a node is a call that has an effect of its own.
    fn is_worth_telling(&self, node: MvId) -> bool {
        let Instr::Call { callee: Callee::Direct(name), noreturn: false, .. } =
            &self.task.graph.node(node).instr
        else {
            return false;
        };
        let internal = name.starts_with("__") || name.starts_with("va_");
        let defined = |c| self.task.callees.identity(c, name).is_some();
        let effect = match library::row(name) {
            Some(row) if !self.task.graph.all_classes().iter().any(defined) => {
                row.has_effect() && !row.prints && !row.scans
            }
            _ => true,
        };
        !internal && effect
    }

    fn call_made(&mut self, class: ClassId, node: MvId) -> Option<Made> {
        let graph = self.task.graph;
        let Instr::Call { callee: Callee::Direct(name), args, .. } = &graph.node(node).instr else {
            return None;
        };
        let single = ClassSet::single(class);
        let (_, reach) = self.e.reach_from_entry(node, &single).into_iter().next()?;
        let exact = self.shown(class, reach.term);
        let (condition, mut assumed) = self.separated(class, exact);
        assumed.extend(self.assumptions(reach.term, exact));
        if self.e.rests_on_havoc(condition) || self.e.rests_on_indeterminate(condition) {
            return None;
        }
        let when = match self.e.pool.as_const(condition).and_then(|c| c.as_bool()) {
            Some(true) => String::new(),
            Some(false) => return None,
            None if self.is_long(condition) => return None,
            None => text::term(&self.e.pool, condition, &self.namings[class], None),
        };
        if !when.is_empty()
            && (when.len() > MAX_CONDITION || !self.is_readable(&Formula::read(when.as_str())))
        {
            return None;
        }
        let mut arguments = Vec::new();
        let mut words = Vec::new();
        let mut named = Vec::new();
        let mut causes = Lines::default();
        causes.insert(node);
        for a in args {
            // Where a line stands is no fact about the program, and differs wherever one is added above.
            if is_line_number(a) {
                named.push(false);
                words.push("__LINE__".into());
                continue;
            }
            let (_, value) = self.e.expr(a, node, &single).into_iter().next()?;
            causes = causes.union(&value.causes).union(&value.guards);
            let told = unplaced(&mut self.e.pool, value.term);
            let (term, used) = self.separated(class, told);
            let open =
                self.is_long(term) || self.e.rests_on_havoc(term) || self.e.rests_on_indeterminate(term);
            let text = (!open).then(|| text::term(&self.e.pool, term, &self.namings[class], None));
            let text = text.filter(|text| self.is_readable(&Formula::read(text.as_str())));
            named.push(text.is_some());
            if text.is_some() {
                arguments.push(term);
                assumed.extend(used);
            }
            // Or some value that has no short name.
            words.push(text.unwrap_or_else(|| "_".into()));
        }
        let call = format!("calls {name}({})", words.join(", "));
        let text = if when.is_empty() { call } else { format!("{when} ==> {call}") };
        Some(Made {
            condition,
            callee: name.to_string(),
            arguments,
            named,
            text,
            assumptions: assumed,
            line: graph.line(node, class),
            causes,
            guards: reach.causes.union(&reach.guards),
        })
    }

    fn is_long(&self, term: TermId) -> bool {
        self.e.pool.has_some(term, MAX_TERMS, |_| false)
    }
}

/// A value with each literal in it that says where it stands as the one that does not.
fn unplaced(pool: &mut TermPool, t: TermId) -> TermId {
    pool.rebuilt(t, &|pool, t| match pool.get(t) {
        Term::Leaf(Leaf::SymbolAddr { symbol, bits }) => match (literal::placed(symbol), *bits) {
            (Some((_, symbol)), bits) => Rebuilt::By(pool.leaf(Leaf::SymbolAddr { symbol, bits })),
            _ => Rebuilt::Kept,
        },
        _ => Rebuilt::Kept,
    })
}

/// Whether an argument is what `__LINE__` gives, also converted.
fn is_line_number(e: &Expr) -> bool {
    match e {
        e if e.is_line_number() => true,
        Expr::Op { op: Op::Zext(_) | Op::Sext(_) | Op::Trunc(_), args, .. } => {
            args.iter().all(is_line_number)
        }
        _ => false,
    }
}
