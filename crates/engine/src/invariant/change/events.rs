//! Facts of what a user sees of a run: what is printed under which condition, and how it ends.

use crate::fact::{Formula, Undefined, Within};
use crate::interp;
use crate::invariant::change::event::{self, Case, Guarded};
use crate::invariant::fact::{Fact, Template};
use crate::invariant::findings::{ClassFacts, FactKey};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable;
use crate::invariant::proof::abstraction;
use crate::invariant::text;
use crate::invariant::witness::run::Run;
use crate::ir::library::control::ends_program;
use crate::ir::{Callee, Instr, TermId, UndefinedKind, Unit};
use crate::mvicfg::{ClassId, ClassSet, MvId};
use crate::semantics::{Place, Val};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Characters of a fact that a reader takes in at once.
const LONG: usize = 120;
/// Facts of one side of a change that are told of what is printed, and how it ends.
const MOST_TOLD: usize = 6;
/// Ways to one thing that is printed that are told.
const MOST_WAYS: usize = 3;

/// What facts about what one class prints have in common.
struct Printed {
    class: ClassId,
    assumptions: Vec<String>,
    lines: BTreeMap<ClassId, Vec<u32>>,
}

impl FunctionAnalysis<'_> {
    /// What a class prints under which condition. Where the condition is long, some ways to it are told.
    pub(in crate::invariant) fn output_facts(&mut self, class: ClassId, val: &Val) -> Vec<(FactKey, Fact)> {
        let shown = self.shown(class, val.term);
        let Some(cases) = event::all_cases(&mut self.e.pool, shown) else { return Vec::new() };
        let alone = cases.len() == 1;
        let about = Printed {
            class,
            assumptions: self.assumptions(val.term, shown),
            lines: BTreeMap::from([(class, self.lines(&val.causes, class))]),
        };
        let mut facts = Vec::new();
        let mut said = false;
        for case in cases {
            let is_empty = event::atoms(&self.e.pool, case.whole.what).is_empty();
            if is_empty && alone {
                continue;
            }
            let told = match self.printed(&about, &case.whole) {
                Some(whole) if self.task.options.all || !is_long(&whole.1) => vec![whole],
                whole => {
                    let some = self.printed_by_ways(&about, &case);
                    if some.is_empty() { whole.into_iter().collect() } else { some }
                }
            };
            said |= !is_empty && !told.is_empty();
            facts.extend(told);
        }
        // When nothing is printed is worth a word only beside what else is.
        if said { facts } else { Vec::new() }
    }

    /// The fact of one case.
    fn printed(&mut self, about: &Printed, case: &Guarded<TermId>) -> Option<(FactKey, Fact)> {
        let condition = case.condition;
        let what = abstraction::under(&mut self.e.pool, case.what, condition);
        if self.e.rests_on_indeterminate(what) || self.e.rests_on_indeterminate(condition) {
            return None;
        }
        let atoms = event::atoms(&self.e.pool, what);
        let naming = &self.namings[about.class];
        let printed = text::printed(&self.e.pool, &atoms, naming);
        let text = match self.e.pool.as_const(condition) {
            Some(_) => format!("output == {printed}"),
            None => {
                format!("{} ==> output == {printed}", text::term(&self.e.pool, condition, naming, None))
            }
        };
        let formula = Formula::read(text);
        if !self.is_readable_output(&formula) {
            return None;
        }
        let fact = Fact {
            template: Template::Event,
            variables: vec!["output".into()],
            formula,
            c: None,
            classes: ClassSet::single(about.class),
            assumptions: about.assumptions.clone(),
            lines: about.lines.clone(),
            bounds: BTreeMap::new(),
        };
        Some((vec![condition, what], fact))
    }

    /// The facts of the ways to a case that are told in few words; where none is, of the one that takes the fewest.
    fn printed_by_ways(&mut self, about: &Printed, case: &Case) -> Vec<(FactKey, Fact)> {
        let mut found = Vec::new();
        for way in &case.ways {
            for condition in event::refined(&mut self.e.pool, way.condition) {
                let way = Guarded { condition, what: case.whole.what };
                found.extend(self.printed(about, &way));
            }
        }
        found.sort_by(|(_, f), (_, g)| (f.text().len(), f.text()).cmp(&(g.text().len(), g.text())));
        found.dedup_by(|(k, _), (l, _)| k == l);
        let short = found.iter().take_while(|(_, f)| !is_long(f)).count();
        found.truncate(short.clamp(1, MOST_WAYS));
        found
    }

    /// The conditions under which a class ends otherwise than by return.
    pub(in crate::invariant) fn ends_of(&mut self, class: ClassId) -> ClassFacts {
        let mut side = ClassFacts::default();
        let single = ClassSet::single(class);
        for node in observable::abnormal_ends(&self.e, class) {
            let Some((_, val)) = self.e.reach_from_entry(node, &single).into_iter().next() else { continue };
            if self.e.pool.as_const(val.term).and_then(|c| c.as_bool()) == Some(false) {
                continue;
            }
            let (what, args) = self.describe_end(class, node, &single);
            side.key.push(val.term);
            side.key.extend(args);
            if !self.ends_program(node) {
                // Whoever takes over finds memory as it is.
                for (_, memory) in self.e.before(Place::Memory, node, &single) {
                    side.key.push(memory.term);
                    side.unknown |= self.e.rests_on_havoc(memory.term);
                }
            }
            let mut causes = (*side.causes).union(&val.causes).union(&val.guards);
            causes.insert(node);
            side.causes = Rc::new(causes);
            if self.e.rests_on_havoc(val.term) || self.may_come_back(class, node) {
                side.unknown = true;
                continue;
            }
            let shown = self.shown(class, val.term);
            if self.e.rests_on_indeterminate(shown) {
                continue;
            }
            let text = match self.e.pool.as_const(shown) {
                Some(_) => what.clone(),
                None => format!("{} ==> {what}", text::term(&self.e.pool, shown, &self.namings[class], None)),
            };
            let formula = Formula::read(text);
            if !self.is_readable(&formula) {
                continue;
            }
            let end_key = self.e.pool.bv(64, node.0.into());
            let fact = Fact {
                template: Template::Event,
                variables: vec!["end".into()],
                formula,
                c: None,
                classes: single.clone(),
                assumptions: self.assumptions(val.term, shown),
                lines: BTreeMap::from([(class, self.lines(&val.causes, class))]),
                bounds: BTreeMap::new(),
            };
            side.facts.push((vec![shown, end_key], fact));
        }
        side
    }

    /// Adds what a class has printed where it ends otherwise than by return. Facts tell of the exit
    /// alone, but versions are compared in both.
    pub(in crate::invariant) fn add_output_at_ends(
        &mut self,
        class: ClassId,
        sides: &mut BTreeMap<ClassId, ClassFacts>,
    ) {
        let single = ClassSet::single(class);
        for node in observable::abnormal_ends(&self.e, class) {
            // The first place is the exit's, which may be out of reach.
            let no_exit = || ClassFacts { key: vec![self.e.pool.bool(false)], ..ClassFacts::default() };
            let side = sides.entry(class).or_insert_with(no_exit);
            for (_, reach) in self.e.reach_from_entry(node, &single) {
                side.guards = Rc::new(side.guards.union(&reach.causes).union(&reach.guards));
            }
            for (_, out) in self.e.before(Place::Out, node, &single) {
                side.key.push(out.term);
                side.causes = Rc::new(side.causes.union(&out.causes));
                side.guards = Rc::new(side.guards.union(&out.guards));
                side.unknown |= self.e.rests_on_havoc(out.term);
            }
        }
    }

    /// Whether a call ends the whole program, as far as anybody sees.
    fn ends_program(&self, node: MvId) -> bool {
        match &self.task.graph.node(node).instr {
            Instr::Call { callee: Callee::Direct(name), .. } => ends_program(name),
            _ => false,
        }
    }

    /// Whether a call that does not return may arrive at a `setjmp` of the same function.
    fn may_come_back(&self, class: ClassId, node: MvId) -> bool {
        let graph = self.task.graph;
        let lands = |&n: &MvId| graph.node(n).instr.is_second_return();
        !self.ends_program(node) && self.e.flow.classes[class].rpo.iter().any(lands)
    }

    fn describe_end(&mut self, class: ClassId, node: MvId, single: &ClassSet) -> (String, Vec<TermId>) {
        let graph = self.task.graph;
        let Instr::Call { callee: Callee::Direct(name), args, .. } = &graph.node(node).instr else {
            return ("ends in a call that does not return".into(), Vec::new());
        };
        let mut terms = Vec::new();
        for a in args {
            if let Some((_, v)) = self.e.expr(a, node, single).into_iter().next() {
                terms.push(v.term);
            }
        }
        let what = match (&**name, terms.first()) {
            ("__invdiff_assert_fail", _) => "assertion fails".to_string(),
            ("abort", _) => "abort()".to_string(),
            ("exit" | "_Exit" | "_exit", Some(&t)) => {
                format!("exit({})", text::term(&self.e.pool, t, &self.namings[class], None))
            }
            (other, _) => format!("ends in {other}()"),
        };
        (what, terms)
    }
}

/// The undefined event that a run met in one of its versions, as a fact of that version.
pub(in crate::invariant) fn undefined_fact(
    run: &Run,
    from: ClassId,
    to: ClassId,
    function: &str,
    units: &[Arc<Unit>],
) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (outcome, class) in [(&run.old, from), (&run.new, to)] {
        if let crate::interp::End::Undefined { kind, place } = &outcome.end {
            facts.push(Fact {
                template: Template::Event,
                variables: vec!["end".into()],
                formula: undefined(*kind, place, function, &units[class]),
                c: None,
                classes: ClassSet::single(class),
                assumptions: Vec::new(),
                lines: BTreeMap::from([(class, vec![place.line])]),
                bounds: BTreeMap::new(),
            });
        }
    }
    facts
}

/// Names an undefined event in C's words.
pub(in crate::invariant) fn event_name(kind: UndefinedKind) -> &'static str {
    match kind {
        UndefinedKind::DivisionByZero => "division by zero",
        UndefinedKind::DivisionOverflow => "overflow in a division",
        UndefinedKind::ShiftCount => "shift by too many bits",
        UndefinedKind::FloatToInt => "float out of the integer's range",
        UndefinedKind::SignedOverflow => "signed overflow",
        UndefinedKind::Uninitialised => "use of an uninitialised value",
        UndefinedKind::NullDereference => "access through a null pointer",
        UndefinedKind::OutOfBounds => "access out of bounds",
        UndefinedKind::UseAfterFree => "access to freed memory",
        UndefinedKind::BadPointer => "access through a bad pointer",
        UndefinedKind::ReadOnly => "write to read-only memory",
        UndefinedKind::FormatMismatch => "argument that does not fit its format",
        UndefinedKind::MissingReturn => "use of a result that was not returned",
        UndefinedKind::Unreachable => "unreachable code is reached",
        UndefinedKind::BadCall => "call with arguments that do not fit",
        UndefinedKind::DeadJump => "longjmp to a call that has ended",
        UndefinedKind::ArrayLength => "array whose length is not positive",
    }
}

/// An undefined event, with the callee that it happens in.
fn undefined(kind: UndefinedKind, place: &interp::SourceLocation, function: &str, unit: &Unit) -> Formula {
    let within = match *place.function == *function {
        // A function's text may come from a file that is included.
        true if place.file != unit.path => Within::File(place.file.display().to_string()),
        true => Within::Own,
        false => Within::Callee(place.function.to_string()),
    };
    Formula::undefined(Undefined { what: event_name(kind).into(), line: place.line, within })
}

fn is_long(fact: &Fact) -> bool {
    fact.text().chars().count() > LONG
}

/// Of several events of one side of a change the long ones go, if a short one is left to tell of it, and of many
/// the longer ones.
pub(in crate::invariant) fn drop_long(side: &mut Vec<Fact>) {
    if side.iter().any(|f| !is_long(f)) {
        side.retain(|f| !is_long(f));
    }
    let mut lengths: Vec<usize> = side.iter().map(|f| f.text().len()).collect();
    lengths.sort_unstable();
    if let Some(&most) = lengths.get(MOST_TOLD - 1) {
        side.retain(|f| f.text().len() <= most);
        side.truncate(MOST_TOLD);
    }
}
