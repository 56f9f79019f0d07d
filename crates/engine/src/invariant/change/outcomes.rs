//! Facts by what a function returns: `\result == 0 ==> *out == \old(*out)`,
//! `\result != NULL ==> \result->key == key`.
//!
//! The callers of a function look at its result first. So its values are taken apart into *outcomes*:
//! a constant, everything else, or the condition under which it is something else. Under an outcome a
//! place in memory often has one value where it has several in all, an object that was allocated has a
//! name (the place that leads to it, or `\result`), and so has the place at which a loop stopped. Three
//! kinds of facts are read off: what places hold, what places below such names hold, and what the
//! conditions of getting to the exit say of the result. None of them is a guess: each is a part of
//! what the terms say under the outcome, and the solver is only asked which values that leaves.

use crate::fact::{Binary, Expression, Formula, Kind as FactKind, Unary};
use crate::invariant::change::event;
use crate::invariant::fact::{Fact, Template};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::Kind;
use crate::invariant::proof::abstraction;
use crate::invariant::text;
use crate::ir::{App, CType, Leaf, Op, Sort, Term, TermId};
use crate::mvicfg::{ClassId, ClassSet, Mvicfg};
use crate::semantics::c_text::{self, Named, Naming};
use crate::semantics::{Lines, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Outcomes of one function, and facts of each.
const MAX_OUTCOMES: usize = 4;
const MAX_FACTS: usize = 12;
/// Facts that are shown where not all are asked for.
const MAX_SHOWN: usize = 6;
/// Questions to the solver for one class.
const MAX_QUESTIONS: usize = 32;
/// Places in memory that are looked at.
const MAX_PLACES: usize = 16;
/// Bytes of a fact that a reader still takes in.
const MAX_LENGTH: usize = 100;
/// Bytes of a condition on the inputs that stands for an outcome.
const MAX_CONDITION: usize = 40;
/// Terms of the values that are looked at.
const MAX_TERMS: usize = 3000;

/// A part of the executions, by what they return.
struct ResultCase {
    /// Condition on the result as a reader sees it; empty: always.
    text: String,
    condition: TermId,
    /// Other outcomes are parts of it.
    is_wide: bool,
    /// What is returned, where it is one value.
    value: Option<TermId>,
}

/// A place in memory at the exit.
struct Held {
    address: TermId,
    sort: Sort,
    bytes: u64,
    value: TermId,
    /// What was taken for granted of the value.
    assumed: BTreeSet<String>,
}

/// What is known of one class at the exit.
struct Exit {
    class: ClassId,
    result: TermId,
    ty: CType,
    reach: TermId,
    memory: Option<Val>,
    places: Vec<Held>,
    /// What was taken for granted of the result, and of all of it.
    assumed: BTreeSet<String>,
    all_assumed: BTreeSet<String>,
    causes: Rc<Lines>,
    questions: usize,
}

/// A fact's text, and the places it is about.
struct Said {
    words: String,
    cells: Vec<String>,
    /// The place whose value it is, by index, where only that takes something for granted.
    place: Option<usize>,
}

impl FunctionAnalysis<'_> {
    /// Adds the facts by outcome that all classes share, and those of some where these are told.
    pub(in crate::invariant) fn outcomes(&mut self) {
        let all = self.task.graph.all_classes();
        if self.diff.point.kind != Kind::Exit || !self.undefined_classes().is_empty() {
            return;
        }
        let facts = all.iter().flat_map(|class| self.outcome_facts(class)).collect();
        let mut merged = Fact::merged(facts);
        let told: Vec<Formula> = self.diff.invariants.iter().map(|f| f.formula.clone()).collect();
        let is_told = |f: &Fact| told.iter().any(|t| *t == f.formula || t.is_exchanged(&f.formula));
        self.say_in_churns(&merged);
        merged.retain(|f| (self.task.options.subsets || f.classes == all) && !is_told(f));
        let (mut merged, mut some): (Vec<Fact>, Vec<Fact>) =
            merged.into_iter().partition(|f| f.classes == all);
        if !self.task.options.all {
            merged.truncate(MAX_SHOWN);
            some.truncate(MAX_SHOWN);
        }
        merged.extend(some);
        for fact in &merged {
            self.diff.cells.extend(fact.variables.iter().filter(|v| *v != "\\result").cloned());
        }
        self.diff.invariants.extend(merged);
    }

    fn outcome_facts(&mut self, class: ClassId) -> Vec<Fact> {
        let Some(mut exit) = self.exit_of(class) else { return Vec::new() };
        let mut found: Vec<Fact> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for outcome in self.outcomes_of(&exit) {
            let mut said = self.said_of(&mut exit, &outcome);
            said.truncate(MAX_FACTS);
            for Said { words, cells, place } in said {
                let text = match outcome.text.is_empty() {
                    true => words.clone(),
                    false => format!("{} ==> {words}", outcome.text),
                };
                // What was said of more executions is said of these, too.
                if outcome.is_wide && !seen.insert(words.clone()) || seen.contains(&words) && !outcome.is_wide
                {
                    continue;
                }
                if text.len() <= MAX_LENGTH {
                    found.push(self.outcome_fact(&exit, text, cells, place));
                }
            }
        }
        // What is left as it was comes after what is made.
        found.sort_by_key(|f| is_left(&f.formula));
        found
    }

    fn outcome_fact(&self, exit: &Exit, text: String, cells: Vec<String>, place: Option<usize>) -> Fact {
        let assumed = match place.and_then(|at| exit.places.get(at)) {
            Some(held) => exit.assumed.union(&held.assumed).cloned().collect(),
            None => exit.all_assumed.iter().cloned().collect(),
        };
        let mut variables = cells;
        variables.push("\\result".into());
        variables.sort();
        variables.dedup();
        Fact {
            template: Template::Functional,
            variables,
            formula: Formula::read(text),
            c: None,
            classes: ClassSet::single(exit.class),
            assumptions: assumed,
            lines: BTreeMap::from([(exit.class, self.lines(&exit.causes, exit.class))]),
            bounds: BTreeMap::new(),
        }
    }

    /// What a class returns, where it is a number or a pointer, and what it leaves in memory.
    fn exit_of(&mut self, class: ClassId) -> Option<Exit> {
        let ty = self.task.graph.bodies[class].ret.clone();
        if !matches!(ty, CType::Int { .. } | CType::Bool | CType::Pointer(_)) {
            return None;
        }
        let (point, single) = (self.diff.point.clone(), ClassSet::single(class));
        let (_, result) = observable::values_at(&mut self.e, &Observable::Result, &point, &single).pop()?;
        let mut assumed = BTreeSet::new();
        let returned = self.clear(class, result.term, &mut assumed)?;
        let (_, reach) = self.e.reach_from_entry(Mvicfg::EXIT, &single).into_iter().next()?;
        let reach = self.clear(class, reach.term, &mut assumed)?;
        let memory = observable::values_at(&mut self.e, &Observable::Memory, &point, &single).pop();
        let raw = memory.map(|(_, m)| m);
        let mut all_assumed = assumed.clone();
        let memory = raw.clone().map(|m| {
            let mut used = BTreeSet::new();
            let clear = self.clear(class, m.term, &mut used);
            all_assumed.extend(clear.map(|_| used).unwrap_or_default());
            Val { term: clear.unwrap_or(m.term), ..m }
        });
        let causes = result.causes.clone();
        let places = Vec::new();
        let result = returned;
        let mut exit =
            Exit { class, result, ty, reach, memory, places, assumed, all_assumed, causes, questions: 0 };
        self.add_places(&mut exit, raw.map(|m| m.term));
        Some(exit)
    }

    /// A value under what is assumed of memory and input; `None` where it is not known.
    fn clear(&mut self, class: ClassId, term: TermId, assumed: &mut BTreeSet<String>) -> Option<TermId> {
        let formed = self.shown(class, term);
        if formed != term {
            assumed.insert("stdin-well-formed".into());
        }
        let defined = self.defined(class);
        let formed = abstraction::under(&mut self.e.pool, formed, defined);
        let (clear, used) = self.separated(class, formed);
        assumed.extend(used);
        let open = self.e.rests_on_havoc(clear) || self.e.rests_on_indeterminate(clear);
        (!open && self.e.pool.reachable(&[clear]).len() <= MAX_TERMS).then_some(clear)
    }

    /// The places that a class writes, with what they hold. `raw`: memory with nothing taken for granted.
    fn add_places(&mut self, exit: &mut Exit, raw: Option<TermId>) {
        let (Some(memory), Some(raw)) = (exit.memory.clone(), raw) else { return };
        for ((address, bytes), sort) in self.written_places(memory.term).into_iter().take(MAX_PLACES) {
            let held = self.e.pool.app(App::Load { sort, bytes }, &[raw, address]);
            let mut assumed = BTreeSet::new();
            if let Some(value) = self.clear(exit.class, held, &mut assumed) {
                exit.all_assumed.extend(assumed.iter().cloned());
                exit.places.push(Held { address, sort, bytes, value, assumed });
            }
        }
    }

    /// The outcomes of a class.
    fn outcomes_of(&mut self, exit: &Exit) -> Vec<ResultCase> {
        let always = self.e.pool.bool(true);
        let mut found = vec![ResultCase {
            text: String::new(),
            condition: always,
            is_wide: true,
            value: Some(exit.result),
        }];
        let Some(cases) = event::cases(&mut self.e.pool, exit.result) else { return found };
        let mut constants: BTreeSet<TermId> =
            cases.iter().map(|c| c.what).filter(|t| self.e.pool.as_const(*t).is_some()).collect();
        let is_open = cases.iter().any(|c| !constants.contains(&c.what));
        if exit.ty.is_pointer() {
            let null = self.e.pool.bv(self.task.pointer_bits, 0);
            constants.retain(|t| *t == null);
            if is_open {
                constants.insert(null);
            }
        }
        if constants.is_empty() || constants.len() > MAX_OUTCOMES || !is_open && constants.len() == 1 {
            return found;
        }
        let ty = exit.ty.clone();
        let naming = self.namings[exit.class].clone();
        // The condition on the inputs may say it better than what is not returned.
        let others: Vec<_> = cases.iter().filter(|c| !constants.contains(&c.what)).cloned().collect();
        if let ([case], false) = (others.as_slice(), exit.ty.is_pointer()) {
            let words = text::term(&self.e.pool, case.condition, &naming, None);
            let is_simple = words.len() <= MAX_CONDITION && !words.contains('(');
            if is_simple && self.is_plain(&Formula::read(words.as_str())) {
                let (condition, value) = (case.condition, Some(case.what));
                found.push(ResultCase { text: words, condition, is_wide: true, value });
            }
        }
        for &k in &constants {
            let word = text::term(&self.e.pool, k, &naming, Some(&ty));
            let condition = self.e.pool.eq(exit.result, k);
            let text = format!("\\result == {word}");
            found.push(ResultCase { text, condition, is_wide: false, value: None });
            if is_open && constants.len() == 1 {
                let condition = self.differing(&cases, k);
                let value = self.one_value(&cases, k);
                let text = format!("\\result != {word}");
                found.push(ResultCase { text, condition, is_wide: false, value });
            }
        }
        found
    }

    /// Condition under which a value of several cases is not the constant.
    fn differing(&mut self, cases: &[event::Guarded<TermId>], k: TermId) -> TermId {
        let pool = &mut self.e.pool;
        let mut any = pool.bool(false);
        for case in cases {
            let same = pool.eq(case.what, k);
            let other = pool.not(same);
            let here = pool.and(case.condition, other);
            any = pool.or(any, here);
        }
        any
    }

    /// The one value that is not the constant.
    fn one_value(&self, cases: &[event::Guarded<TermId>], k: TermId) -> Option<TermId> {
        let mut others = cases.iter().filter(|c| c.what != k);
        match (others.next(), others.next()) {
            (Some(c), None) => Some(c.what),
            _ => None,
        }
    }

    /// What is said under an outcome.
    fn said_of(&mut self, exit: &mut Exit, outcome: &ResultCase) -> Vec<Said> {
        let mut naming = self.namings[exit.class].clone();
        if let Some(value) = outcome.value
            && self.needs_name(value, &naming)
        {
            naming.names_mut().insert(value, Named { text: "\\result".into(), ty: exit.ty.clone() });
        }
        let mut said = Vec::new();
        let indices = self.named_indices(exit, outcome, &naming);
        // Places that mean the same at entry name the objects that others are in.
        let mut inner = Vec::new();
        for at in 0..exit.places.len() {
            let Some(what) = self.left(exit, at, outcome) else {
                said.extend(self.nullness(exit, at, outcome));
                continue;
            };
            let Held { address, sort, bytes, value, .. } = exit.places[at];
            let Some(name) = self.cell_name(address, sort, bytes) else {
                inner.push((at, what));
                continue;
            };
            let place = Observable::Cell { name: name.as_str().into(), address, sort, bytes };
            let Some(ty) = self.cell_type(exit.class, &place) else { continue };
            // Whether its words take nothing from other places.
            let parts = self.e.pool.reachable(&[what, address]);
            let base = &self.namings[exit.class].names;
            let lent = |t: &TermId| naming.names.contains_key(t) && !base.contains_key(t);
            let own = !parts.iter().any(|t| lent(t) || indices.names.contains_key(t));
            // What holds anyway is said elsewhere, but for the names that an outcome gives.
            // That an element is left as it was says little beside what is written.
            let memory = self.e.pool.leaf(Leaf::Memory);
            let before = self.e.pool.app(App::Load { sort, bytes }, &[memory, address]);
            let told = self.is_told_whole(&name) || what == before && name.contains('[');
            let name = match self.e.pool.reachable(&[address]).iter().any(|t| indices.names.contains_key(t)) {
                // `b->bytes[b->length]` rather than `b->bytes[\\old(b->length) + 1]`.
                true => self.plain_place(exit, at, &indices).unwrap_or(name),
                false => name,
            };
            if !told && what != value || naming.names.get(&what).is_some_and(|n| n.text == "\\result") {
                let now = self.words_now(exit, (&name, what, &ty), &naming, &indices);
                let (words, own) = match now {
                    Some(words) => (Some(words), false),
                    None => (self.held_words(&name, what, &ty, &naming, outcome), own),
                };
                let (cells, place) = (vec![name.clone()], own.then_some(at));
                said.extend(words.map(|words| Said { words, cells, place }));
            }
            if self.needs_name(what, &naming) && !naming.names.contains_key(&what) {
                let text = if name.starts_with('*') { format!("({name})") } else { name };
                naming.names_mut().insert(what, Named { text, ty });
            }
        }
        for (at, what) in inner {
            let Held { address, sort, bytes, .. } = exit.places[at];
            let Some(place) = c_text::render_lvalue(&self.e.pool, address, sort, bytes, &naming) else {
                continue;
            };
            if !self.is_plain(&Formula::read(place.text.as_str())) {
                continue;
            }
            let words = self.held_words(&place.text, what, &place.ty, &naming, outcome);
            let cells = vec![place.text];
            said.extend(words.map(|words| Said { words, cells, place: None }));
        }
        said.extend(self.conditions(exit, outcome, &naming));
        said
    }

    /// The naming with sums that places hold under an outcome named by these places.
    fn named_indices<'n>(
        &mut self,
        exit: &mut Exit,
        outcome: &ResultCase,
        naming: &Naming<'n>,
    ) -> Naming<'n> {
        let mut found = naming.clone();
        found.names_mut().clear();
        for at in 0..exit.places.len() {
            let Some(what) = self.left(exit, at, outcome) else { continue };
            let Held { address, sort, bytes, .. } = exit.places[at];
            let is_sum = self.e.pool.as_op(what, Op::Add).is_some();
            let Some(name) = self.cell_name(address, sort, bytes).filter(|_| is_sum) else { continue };
            let place = Observable::Cell { name: name.as_str().into(), address, sort, bytes };
            if let Some(ty @ CType::Int { .. }) = self.cell_type(exit.class, &place) {
                found.names_mut().entry(what).or_insert(Named { text: name, ty });
            }
        }
        found
    }

    /// What a place holds in words that speak of memory at the exit only, where what was read there is there
    /// still: `*item == s->items[s->top]`.
    fn words_now(
        &mut self,
        exit: &mut Exit,
        (name, what, ty): (&str, TermId, &CType),
        naming: &Naming,
        indices: &Naming,
    ) -> Option<String> {
        let memory = exit.memory.as_ref()?.term;
        let before = self.e.pool.leaf(Leaf::Memory);
        let Term::App(App::Load { .. }, args) = self.e.pool.get(what) else { return None };
        let address = args.get(1).copied().filter(|_| args.first() == Some(&before))?;
        let parts = self.e.pool.reachable(&[address]);
        if memory == before || !parts.iter().any(|t| indices.names.contains_key(t)) {
            return None;
        }
        let Term::App(app, _) = self.e.pool.get(what).clone() else { return None };
        let left = self.e.pool.app(app, &[memory, address]);
        let (left, used) = self.separated(exit.class, left);
        if left != what {
            return None;
        }
        let mut naming = naming.clone();
        naming.names_mut().extend(indices.names.iter().map(|(t, n)| (*t, n.clone())));
        naming.old_memory = false;
        let words = c_text::render_equation(&self.e.pool, name, what, &naming, Some(ty));
        let said = Formula::read(words.as_str());
        let plain = self.is_plain(&said) && !said.speaks_of_entry() && words != format!("{name} == {name}");
        // All that it reads must be named by what holds it now.
        let named = |t: &TermId| indices.names.contains_key(t);
        let reads = |t: &TermId| matches!(self.e.pool.get(*t), Term::App(App::Load { .. }, _));
        let hidden: BTreeSet<TermId> =
            parts.iter().filter(|t| named(t)).flat_map(|t| self.e.pool.reachable(&[*t])).collect();
        let bare = parts.iter().any(|t| reads(t) && !hidden.contains(t));
        if !plain || bare {
            return None;
        }
        exit.all_assumed.extend(used);
        Some(words)
    }

    /// A place in words that speak of memory at the exit only.
    fn plain_place(&self, exit: &Exit, at: usize, naming: &Naming) -> Option<String> {
        let Held { address, sort, bytes, .. } = *exit.places.get(at)?;
        let place = c_text::render_lvalue(&self.e.pool, address, sort, bytes, naming)?;
        let words = Formula::read(place.text.as_str());
        (self.is_plain(&words) && !words.speaks_of_entry()).then_some(place.text)
    }

    /// Whether both the result and a place have facts that say all of them, and not all facts are asked for.
    fn is_told_whole(&self, name: &str) -> bool {
        let told = |name: &str| {
            let whole = |f: &Fact| {
                matches!(f.template, Template::Functional | Template::Constant)
                    && f.variables == [name]
                    && f.formula
                        .always()
                        .and_then(|_| f.formula.equation())
                        .is_some_and(|(l, _)| l.to_string() == name)
                    && !f.formula.calls(&allocates)
            };
            self.diff.invariants.iter().any(whole)
        };
        !self.task.options.all && told("\\result") && told(name)
    }

    /// Whether a formula speaks of nothing but what the reader of a header knows.
    fn is_plain(&self, formula: &Formula) -> bool {
        // Of an entry value at a place that only the exit knows ACSL says nothing.
        let mixed = formula.speaks_of_entry() && formula.speaks_of_result();
        let strange = |e: &Expression| match &e.kind {
            FactKind::At(..) | FactKind::Conditional(..) => true,
            FactKind::Cast(ty, _) => ty.pointers > 0,
            _ => false,
        };
        self.is_readable(formula) && !mixed && !formula.any(&strange)
    }

    /// Whether a value has no words of its own at the exit that mean the same everywhere.
    fn needs_name(&self, t: TermId, naming: &Naming) -> bool {
        if self.e.pool.as_const(t).is_some() {
            return false;
        }
        let words = text::term(&self.e.pool, t, naming, None);
        !self.is_plain(&Formula::read(words.as_str())) || words.contains('(') && !words.starts_with("\\old(")
    }

    /// What a place holds, in words; nothing where that is no news.
    fn held_words(
        &mut self,
        name: &str,
        what: TermId,
        ty: &CType,
        naming: &Naming,
        outcome: &ResultCase,
    ) -> Option<String> {
        let words = c_text::render_equation(&self.e.pool, name, what, naming, Some(ty));
        let said = Formula::read(words.as_str());
        if self.is_plain(&said) && !said.calls(&allocates) && words != format!("{name} == {name}") {
            return Some(words);
        }
        if !ty.is_pointer() {
            return None;
        }
        let null = self.e.pool.bv(self.task.pointer_bits, 0);
        let is_null = self.e.pool.eq(what, null);
        let is_null = abstraction::under(&mut self.e.pool, is_null, outcome.condition);
        let never = self.e.pool.as_const(is_null).and_then(|c| c.as_bool()) == Some(false);
        never.then(|| format!("{name} != NULL"))
    }

    /// The one value that a place has under an outcome.
    fn left(&mut self, exit: &mut Exit, at: usize, outcome: &ResultCase) -> Option<TermId> {
        let value = exit.places[at].value;
        let value = abstraction::under(&mut self.e.pool, value, outcome.condition);
        let cases = event::cases(&mut self.e.pool, value)?;
        if cases.len() == 1 {
            return Some(value);
        }
        let mut left = None;
        for case in cases {
            if !self.may_be(exit, outcome, case.condition) {
                continue;
            }
            if left.is_some() {
                return None;
            }
            left = Some(abstraction::under(&mut self.e.pool, case.what, outcome.condition));
        }
        left
    }

    /// Whether a pointer that may have several values is null under an outcome, or never.
    fn nullness(&mut self, exit: &mut Exit, at: usize, outcome: &ResultCase) -> Option<Said> {
        let Held { address, sort, bytes, value, .. } = exit.places[at];
        let name = self.cell_name(address, sort, bytes)?;
        let place = Observable::Cell { name: name.as_str().into(), address, sort, bytes };
        if !self.cell_type(exit.class, &place)?.is_pointer() || outcome.text.is_empty() {
            return None;
        }
        let null = self.e.pool.bv(self.task.pointer_bits, 0);
        let is_null = self.e.pool.eq(value, null);
        let other = self.e.pool.not(is_null);
        let relation = match (self.may_be(exit, outcome, other), self.may_be(exit, outcome, is_null)) {
            (false, _) => "==",
            (true, false) => "!=",
            (true, true) => return None,
        };
        let words = format!("{name} {relation} NULL");
        Some(Said { words, cells: vec![name], place: Some(at) })
    }

    /// Whether a condition may hold in an outcome; yes, where it is not known.
    fn may_be(&mut self, exit: &mut Exit, outcome: &ResultCase, condition: TermId) -> bool {
        let pool = &mut self.e.pool;
        let under = pool.and(outcome.condition, exit.reach);
        let under = abstraction::without_loops(pool, under);
        let condition = abstraction::without_loops(pool, condition);
        let (under, condition) =
            (abstraction::without_loads(pool, under), abstraction::without_loads(pool, condition));
        let not = pool.not(condition);
        if pool.as_const(not).and_then(|c| c.as_bool()) == Some(true) {
            return false;
        }
        exit.questions += 1;
        exit.questions > MAX_QUESTIONS
            || !matches!(self.deciders.elements.holds(pool, under, not), smt::Truth::Holds)
    }

    /// What getting to the exit says of the memory that the result leads to.
    fn conditions(&mut self, exit: &mut Exit, outcome: &ResultCase, naming: &Naming) -> Vec<Said> {
        let Some(value) = outcome.value.filter(|v| naming.names.contains_key(v)) else { return Vec::new() };
        let reach = abstraction::under(&mut self.e.pool, exit.reach, outcome.condition);
        let mut parts = self.conjuncts(reach);
        parts.extend(self.conjuncts(outcome.condition));
        parts.sort_unstable();
        parts.dedup();
        let mut said = Vec::new();
        for part in parts {
            let Some((part, naming)) = self.read_at_exit(exit, part, value, naming) else { continue };
            // Alternatives of the result are told by outcomes of their own.
            let is_choice = self.e.pool.as_op(part, Op::Or).is_some_and(|alternatives| {
                let leads = |t: &TermId| self.reads_at(*t, value);
                !alternatives.iter().all(leads)
            });
            let words = text::term(&self.e.pool, part, &naming, None);
            let words = Formula::read(words);
            if self.is_plain(&words) && words.speaks_of_result() && !is_choice {
                said.push(turned(words));
            }
        }
        said.sort_by(|a, b| a.text().cmp(b.text()));
        let said = joined(said).into_iter();
        said.map(|f| Said { words: f.text().to_owned(), cells: Vec::new(), place: None }).collect()
    }

    /// A condition that reads memory where the result leads to, in terms of memory at the exit, with the
    /// naming that says so. What was read before must be there still.
    fn read_at_exit<'n>(
        &mut self,
        exit: &mut Exit,
        part: TermId,
        value: TermId,
        naming: &Naming<'n>,
    ) -> Option<(TermId, Naming<'n>)> {
        let pool = &self.e.pool;
        let loads: Vec<TermId> = pool
            .reachable(&[part])
            .into_iter()
            .filter(|t| matches!(pool.get(*t), Term::App(App::Load { .. }, _)))
            .collect();
        if !self.reads_at(part, value) {
            return None;
        }
        let mut naming = naming.clone();
        let Some(memory) = exit.memory.as_ref().map(|m| m.term) else { return Some((part, naming)) };
        let mut part = part;
        let now = self.e.pool.leaf(Leaf::Memory);
        for load in loads {
            let Term::App(app, args) = self.e.pool.get(load).clone() else { continue };
            let &[from, address] = args.as_slice() else { continue };
            if from == memory {
                part = abstraction::replaced(&mut self.e.pool, part, memory, now);
                continue;
            }
            let left = self.e.pool.app(app, &[memory, address]);
            let (left, used) = self.separated(exit.class, left);
            if left != load {
                return None;
            }
            exit.all_assumed.extend(used);
        }
        naming.old_memory = false;
        Some((part, naming))
    }

    /// Whether a term reads memory at a place that a value leads to.
    fn reads_at(&self, t: TermId, value: TermId) -> bool {
        let pool = &self.e.pool;
        pool.reachable(&[t]).into_iter().any(|t| match pool.get(t) {
            Term::App(App::Load { .. }, args) => {
                args.get(1).is_some_and(|a| pool.reachable(&[*a]).contains(&value))
            }
            _ => false,
        })
    }

    fn conjuncts(&self, root: TermId) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut work = vec![root];
        while let Some(c) = work.pop() {
            match self.e.pool.as_op(c, Op::And) {
                Some(parts) => work.extend(parts.iter().copied()),
                None => found.push(c),
            }
        }
        found
    }
}

/// Whether a fact says of a place that it is left as it was.
fn is_left(formula: &Formula) -> bool {
    formula.equation().is_some_and(|(_, right)| matches!(right.kind, FactKind::Old(_)))
}

/// Whether a function is one that allocates, by its name.
fn allocates(name: &str) -> bool {
    name.ends_with("alloc")
}

/// A comparison with what speaks of the result on the left.
fn turned(words: Formula) -> Formula {
    let is_result = |e: &Expression| e.kind == FactKind::Result;
    let is_whole = |e: &Expression| match &e.kind {
        FactKind::Binary(op, ..) => {
            op.is_comparison()
                || matches!(
                    op,
                    Binary::And | Binary::Or | Binary::BitAnd | Binary::BitOr | Binary::Shl | Binary::Shr
                )
        }
        FactKind::Unary(op, _) => *op == Unary::AddressOf,
        FactKind::Conditional(..) => true,
        _ => false,
    };
    match words.always().and_then(Expression::comparison) {
        Some((_, left, right))
            if !left.any(&is_result)
                && right.any(&is_result)
                && !left.any(&is_whole)
                && !right.any(&is_whole) =>
        {
            words.turned().unwrap_or(words)
        }
        _ => words,
    }
}

/// `x <= y` and `x >= y` as `x == y`.
fn joined(said: Vec<Formula>) -> Vec<Formula> {
    let sides = |f: &Formula, wanted: Binary| {
        let (op, left, right) = f.always()?.comparison()?;
        (op == wanted).then(|| (left.clone(), right.clone()))
    };
    let least: Vec<_> = said.iter().filter_map(|f| sides(f, Binary::Ge)).collect();
    let most: Vec<_> =
        said.iter().filter_map(|f| sides(f, Binary::Le)).filter(|s| least.contains(s)).collect();
    let is_bound = |f: &Formula| {
        let bound = sides(f, Binary::Le).or_else(|| sides(f, Binary::Ge));
        bound.is_some_and(|s| most.contains(&s))
    };
    let mut found: Vec<Formula> = said.into_iter().filter(|f| !is_bound(f)).collect();
    found.extend(most.into_iter().map(|(x, y)| Formula::of(Expression::binary(Binary::Eq, x, y))));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_stands_on_the_left() {
        for (words, expected) in [
            ("key == a[\\result]", "a[\\result] == key"),
            ("key < \\result->key", "\\result->key > key"),
            ("*\\result == 0", "*\\result == 0"),
            ("x == 1 || y == *\\result", "x == 1 || y == *\\result"),
        ] {
            assert_eq!(turned(Formula::read(words)).text(), expected);
        }
    }

    #[test]
    fn two_bounds_are_an_equation() {
        let check = |list: &[&str], expected: &[&str]| {
            let found = joined(list.iter().map(|s| Formula::read(*s)).collect());
            assert_eq!(found.iter().map(Formula::text).collect::<Vec<_>>(), expected);
        };
        check(&["a <= b", "a >= b", "c <= d"], &["c <= d", "a == b"]);
        check(&["a <= b", "a >= c"], &["a <= b", "a >= c"]);
    }
}
