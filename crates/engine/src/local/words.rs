//! Differences in words: C over the names in scope, plain verbs, nothing internal.
//!
//! A text that would need a name that the source does not have is not shown: a condition is then named by the
//! line of its test, a value by the words of its statement.

use super::calls::{call_text, differing, shortened};
use super::change::Delta;
use super::conditions::merge;
use super::difference::{Difference, Item};
use super::distinction::ANOTHER;
use super::effect::{
    Effect, EffectKind, SOMEWHERE, Verb, Words, leave_out_common, leave_out_idle, says_the_same,
};
use super::fitting::{negative, untagged};
use super::follow::{Known, is_in_loop, is_written_in, past_joins};
use super::given::Calls;
use super::machine::{Event, Hazard, Literal, Machine, Path, memory_leaf, variable_leaf};
use super::macros::NamedValues;
use super::own_names::OwnNames;
use super::region::Frontier;
use super::side::{Side, call_types};
use super::sites::{MEASURES, READS, WRITES, is_statement, statement_at};
use super::stores::{Timing, is_written, tell_objects_once};
use super::texts::{
    LONGEST_CONDITION, LONGEST_VALUE, current, is_name, is_operand, is_plain, is_short, is_tellable,
    own_names, unwrapped,
};
use super::widened::Widened;
use crate::ir::{
    self, App, CType, Callee, Expr, Instr, LOOP_VALUE, Leaf, Node, Sort, Term, TermId, TermPool,
    UndefinedKind, VarId, VarKind,
};
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use crate::semantics::c_text::{Named, Naming, render, render_bits, render_lvalue, render_typed};
use crate::semantics::library;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Functions that are named of those that a loop calls.
const MOST_CALLED: usize = 3;
/// What a failed assertion, or a clause of an annotation, calls.
const ASSERT_FAIL: &str = "__invdiff_assert_fail";

/// The words of a call that a failed assertion makes.
fn failed_assertion(call: &str) -> Option<String> {
    let rest = call.strip_prefix(ASSERT_FAIL)?;
    let clause = rest.strip_prefix("(\"").and_then(|t| t.strip_suffix("\")"));
    Some(clause.map_or("fails an assertion".to_owned(), |clause| format!("fails assert({clause})")))
}

/// Puts what was found in words.
pub(super) struct Speaker<'s> {
    pub graph: &'s Mvicfg,
    pub sides: [&'s Side<'s>; 2],
    pub pool: &'s mut TermPool,
    pub frontier: Frontier,
    /// The source line of a node, by class.
    pub source: &'s dyn Fn(ClassId, u32) -> Option<String>,
    pub widened: &'s Widened,
    pub precision: Precision,
    /// The words of the source around the region ([`Naming::words`]).
    pub words: Rc<BTreeMap<String, u32>>,
    pub macros: NamedValues,
    pub calls: &'s Calls,
    /// Names and types of each version's variables at the point, once asked for.
    pub own: [Option<OwnNames>; 2],
    pub timing: Timing,
}

/// How calls are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// Constants by the names that the source has for them.
    Names,
    Numbers,
    /// By what differs from the other version's call.
    Differences,
    /// As they stand in the source.
    Source,
}

/// A difference in words, but for its condition.
#[derive(Clone)]
pub(super) struct Said {
    pub literals: Vec<Literal>,
    pub before: Vec<Effect>,
    pub now: Vec<Effect>,
    /// What matters most has the smallest.
    pub order: usize,
}

impl<'s> Speaker<'s> {
    /// The deltas of a region, what matters most first. `None` stands for a difference that has no words.
    pub fn deltas(&mut self, differences: &[Difference]) -> Vec<Option<Delta>> {
        self.timing = Timing { is_asked: true, ..Timing::default() };
        let told = self.all_deltas(differences);
        if !told.is_empty() || !self.timing.left_out {
            return told;
        }
        // Something is told.
        self.timing = Timing::default();
        self.all_deltas(differences)
    }

    fn all_deltas(&mut self, differences: &[Difference]) -> Vec<Option<Delta>> {
        let mut said: Vec<Said> = Vec::new();
        let mut wordless = 0;
        for d in differences {
            self.timing.is_used = false;
            let [mut before, mut now] = ClassId::PAIR.map(|class| self.effects(class, d));
            if self.timing.is_used && says_the_same(&before, &now) && is_written(d) {
                self.timing.left_out = true;
                continue;
            }
            // The same names may stand for other numbers, and long calls differ where they were cut.
            for precise in [Precision::Numbers, Precision::Differences, Precision::Source] {
                if says_the_same(&before, &now) {
                    self.precision = precise;
                    [before, now] = ClassId::PAIR.map(|class| self.effects(class, d));
                    self.precision = Precision::Names;
                }
            }
            self.tell_apart(d, [&mut before, &mut now]);
            self.tell_ways_apart(d, [&mut before, &mut now]);
            self.tell_rewritten(d, [&mut before, &mut now]);
            leave_out_common(&mut before, &mut now);
            if says_the_same(&before, &now) && !self.tell_values_apart(d, [&mut before, &mut now]) {
                wordless += 1;
                continue;
            }
            let order = before.iter().chain(&now).map(|e| e.kind.importance()).min().unwrap_or(usize::MAX);
            said.push(Said { literals: d.literals.clone(), before, now, order });
        }
        merge(self.pool, &mut said);
        let events: Vec<[Vec<Event>; 2]> = differences.iter().map(|d| d.events.clone()).collect();
        self.join_rows(&mut said, &events);
        // What always holds is soon read, and other rows lean on it.
        said.sort_by_key(|s| (!s.literals.is_empty(), s.order, s.literals.len()));
        // What says nothing new comes last.
        let mut told: BTreeSet<String> = BTreeSet::new();
        let mut says_more = |s: &Said| {
            let texts = s.before.iter().map(|e| format!("-{}", e.words));
            let known = told.len();
            told.extend(texts.chain(s.now.iter().map(|e| format!("+{}", e.words))));
            told.len() > known
        };
        let (more, repeats): (Vec<Said>, Vec<Said>) = said.into_iter().partition(|s| says_more(s));
        let said = more.into_iter().chain(repeats);
        let mut deltas: Vec<Option<Delta>> = Vec::new();
        for mut s in said {
            leave_out_idle(&mut s.before, &mut s.now);
            let (when, short) = self.condition(&s.literals, &events);
            let no_caller = self.calls.rule_out(self.pool, &s.literals);
            let delta = Delta { when, short, no_caller, before: s.before, now: s.now };
            if !deltas.iter().flatten().any(|d| *d == delta) {
                deltas.push(Some(delta));
            }
        }
        tell_shorts_apart(&mut deltas);
        deltas.extend((0..wordless.min(1)).map(|_| None));
        deltas
    }

    /// Names at the point, as one version has them.
    pub(super) fn naming(&mut self, class: ClassId, events: &[Event]) -> Naming<'s> {
        let side: &'s Side<'s> = self.sides[class];
        let enumerators = match self.precision {
            Precision::Numbers => Vec::new(),
            _ => vec![side.version.unit],
        };
        let macros = match self.precision {
            Precision::Numbers => Rc::default(),
            _ => self.macros.own[class].clone(),
        };
        let compared = match self.precision {
            Precision::Numbers => Rc::default(),
            _ => self.macros.compared[class].clone(),
        };
        let (types, names) = self.own_names(class);
        let mut naming = Naming {
            unit: Some(side.layout),
            types,
            names,
            enumerators,
            macros,
            compared,
            words: self.words.clone(),
            max_len: LONGEST_CONDITION,
            ..Naming::default()
        };
        if let Some((term, named)) = self.switched(class, &naming) {
            naming.names_mut().entry(term).or_insert(named);
        }
        for (term, text, ty) in self.widened.values(self.graph, self.pool, class) {
            naming.names_mut().insert(term, Named { text, ty });
        }
        if let Some((term, named)) = self.errno() {
            naming.names_mut().insert(term, named);
        }
        for event in events {
            let Some(result) = event.result else { continue };
            let Some((ty, _)) = self.call_types(&naming, event) else { continue };
            let text = self.call(&naming, event);
            naming.names_mut().insert(result, Named { text, ty });
        }
        naming
    }

    /// The types of a call's result and of its arguments, as the naming's unit has them.
    fn call_types(&self, naming: &Naming, event: &Event) -> Option<(CType, Vec<CType>)> {
        let (ret, types) = call_types(self.graph, event.class, event.node)?;
        let (from, to) = (self.sides[event.class].layout, naming.unit?);
        let is_own = std::ptr::eq(from, to);
        let of = |ty: &CType| if is_own { ty.clone() } else { ir::retyped(ty, from, to) };
        Some((of(ret), types.iter().map(of).collect()))
    }

    /// What `errno` is at the point, if anything asks.
    fn errno(&mut self) -> Option<(TermId, Named)> {
        let address = self.pool.known_leaf(&Leaf::SymbolAddr { symbol: library::ERRNO.into(), bits: 64 })?;
        let memory = self.pool.known_leaf(&memory_leaf())?;
        let term = self.pool.app(App::Load { sort: Sort::Bv(32), bytes: 4 }, &[memory, address]);
        Some((
            term,
            Named { text: "errno".into(), ty: CType::Int { bits: 32, signed: true, name: "int".into() } },
        ))
    }

    /// Names at the point as one version has them, of the types that the newer one gives them: all conditions are read
    /// together.
    pub(super) fn as_now(&mut self, class: ClassId, events: &[Event]) -> Naming<'s> {
        let mut naming = self.naming(class, events);
        naming.enumerators = self.sides.iter().map(|side| side.version.unit).collect();
        naming.macros = self.macros.both.clone();
        naming.compared = self.macros.compared_both.clone();
        for (k, var) in self.graph.bodies[1].vars.iter().enumerate().filter(|_| class == ClassId::OLD) {
            let Some(&mv) = self.graph.var_map[1].get(k) else { continue };
            if var.kind != VarKind::Temp && !var.in_memory && var.sort.is_some() {
                let term = self.pool.leaf(variable_leaf(self.graph, mv));
                if let Some(named) = naming.names_mut().get_mut(&term).filter(|n| n.text == *var.name) {
                    // Numbers of records are each unit's own.
                    named.ty = ir::retyped(&var.ty, self.sides[1].layout, self.sides[0].layout);
                }
            }
        }
        naming
    }

    /// Variables without a name that hold what a named one has at the frontier: what a `switch` compares. By merged
    /// variable, with the one of the class's body.
    pub(super) fn kept(&self, class: ClassId) -> Vec<(VarId, VarId)> {
        let body = &self.graph.bodies[class];
        let Some(here) = self.graph.origin(self.frontier.node, class) else { return Vec::new() };
        let assigned = |n: &Node| match &n.instr {
            Instr::Assign { dst, value: Expr::Var(from) } if n.stmt == body.node(here).stmt => {
                Some((*dst, *from))
            }
            _ => None,
        };
        let is_kept = |(dst, from): &(VarId, VarId)| {
            let once = body.nodes.iter().filter(|n| n.instr.written() == Some(*dst)).count() == 1;
            let source = body.var(*from);
            once && body.var(*dst).kind == VarKind::Temp && source.kind != VarKind::Temp && !source.in_memory
        };
        let pairs = body.nodes.iter().filter_map(assigned).filter(is_kept);
        pairs
            .filter_map(|(dst, from)| Some((*self.graph.var_map[class].get(dst.0 as usize)?, from)))
            .collect()
    }

    /// What a `switch` compares, where the frontier is one of its tests: temporaries, with the expression that the
    /// statement gave them before, which means the same at each test.
    fn switched(&mut self, class: ClassId, naming: &Naming) -> Option<(TermId, Named)> {
        let body = &self.graph.bodies[class];
        let here = body.node(self.graph.origin(self.frontier.node, class)?).stmt;
        if body.stmts.get(here.0 as usize)?.kind != "switch" {
            return None;
        }
        let is_test = |n: &&Node| matches!(n.instr, Instr::Branch { .. } | Instr::Nop);
        let own = body.nodes.iter().enumerate().filter(|(_, n)| n.stmt == here && !is_test(n));
        let values: Vec<MvId> = own.filter_map(|(k, _)| self.graph.node_map[class].get(k).copied()).collect();
        let compared = self.graph.node(*values.last()?).instr.written()?;
        let mut path = Path::at(self.pool, *values.first()?);
        let mut machine = Machine { graph: self.graph, pool: self.pool, side: self.sides[class] };
        for node in values {
            path.node = node;
            machine.step(&mut path).ok()?;
        }
        let (leaf, value) = (variable_leaf(self.graph, compared), machine.var(&path, compared));
        let leaf = self.pool.leaf(leaf);
        let text = match path.events.as_slice() {
            [] if leaf != value => render(self.pool, value, naming),
            // What a call gives that the statement makes alone.
            [event] if event.result == Some(value) => self.call(naming, event),
            _ => return None,
        };
        let text = if is_operand(&text) { text } else { format!("({text})") };
        is_short(&text).then(|| (leaf, Named { text, ty: self.graph.vars[compared.0 as usize].ty.clone() }))
    }

    /// A call as it stands in the source.
    fn written(&self, event: &Event) -> Option<String> {
        let callee = event.callee.as_ref()?;
        let words = self.written_arguments(event.class, self.line(event.class, event.node), callee)?;
        Some(shortened(callee, words))
    }

    /// The words of a call. Constants that have names in the source are told by these, unless both versions then
    /// say the same.
    pub(super) fn call(&mut self, naming: &Naming, event: &Event) -> String {
        if event.callee.as_deref().is_some_and(|c| [READS, WRITES].contains(&c)) {
            let (place, to) = self.volatile(naming, event);
            return place + &to;
        }
        if event.callee.as_deref() == Some(MEASURES) {
            return self.measured(naming, event);
        }
        let is_asked = matches!(self.precision, Precision::Names | Precision::Source);
        let names = event.callee.as_ref().filter(|_| is_asked).and_then(|callee| {
            self.written_arguments(event.class, self.line(event.class, event.node), callee)
        });
        // A variable's name means its value at the point.
        let is_variable = |w: &str| {
            let unit = self.sides[event.class].version.unit;
            self.graph.bodies[event.class].vars.iter().any(|v| *v.name == *w)
                || unit.globals.iter().any(|g| *g.name == *w)
        };
        if let (Precision::Source, Some(callee), Some(words)) = (self.precision, &event.callee, &names) {
            return shortened(callee, words.clone());
        }
        let names = names.map(|words| {
            let names = |w: &str| w.split('|').any(|part| is_variable(part.trim()));
            words.into_iter().map(|w| if names(&w) { String::new() } else { w }).collect::<Vec<_>>()
        });
        let types = self.call_types(naming, event).map(|(_, types)| types).unwrap_or_default();
        call_text(self.pool, naming, &types, (event, names.as_deref()))
    }

    pub(super) fn line(&self, class: ClassId, node: MvId) -> u32 {
        self.graph.line(node, class)
    }

    fn effects(&mut self, class: ClassId, d: &Difference) -> Vec<Effect> {
        let (mut effects, mut inside): (Vec<Effect>, Vec<Effect>) = Default::default();
        let mut uses = self.uses(class, d);
        let is_shown = |item: &Item| !is_answer(class, item, d) && !self.is_in_literal(item);
        let shown: Vec<bool> = d.items[class].iter().map(is_shown).collect();
        for (k, item) in d.items[class].iter().enumerate().filter(|(k, _)| shown[*k]) {
            let effect = match uses.remove(&k) {
                Some(told) => told,
                None => self.effect(class, item, d),
            };
            let is_inside = self.is_in_own_local(class, item) || self.is_in_own_block(class, item, d);
            let told = if is_inside { &mut inside } else { &mut effects };
            told.extend(effect.filter(|e| !told.contains(e)));
        }
        // What the local variables of one version hold is of interest where nothing else is told.
        if effects.is_empty() {
            effects = inside;
        }
        // A call whose result is returned, or that does not return, is told once.
        let last: Vec<Words> = effects.iter().map(|e| e.words.clone()).collect();
        let ends = effects.iter().any(|e| e.kind == EffectKind::End);
        effects.retain(|e| {
            let call = &e.words.of;
            let is_it = |w: &Words| matches!(w.verb, Verb::Returns | Verb::EndsIn) && w.of == *call;
            let is_told = ends && call.starts_with(ASSERT_FAIL) || last.iter().any(is_it);
            e.words.verb != Verb::Calls || !is_told
        });
        // An assertion that fails in both versions says something else.
        for effect in &mut effects {
            let is_call = effect.words.verb == Verb::Calls;
            if let Some(text) = failed_assertion(&effect.words.of).filter(|_| is_call) {
                (effect.kind, effect.words) = (EffectKind::End, Words::says(text));
            }
        }
        tell_objects_once(&mut effects);
        effects
    }

    pub(super) fn effect(&mut self, class: ClassId, item: &Item, d: &Difference) -> Option<Effect> {
        let events = &d.events[class];
        let (kind, words, line) = match item {
            Item::Call(event) if event.rounds => {
                (EffectKind::Call, Words::says(self.rounds(class, event.node)), self.line(class, event.node))
            }
            Item::Call(event) if event.callee.as_deref().is_some_and(|c| [READS, WRITES].contains(&c)) => {
                let naming = Naming { max_len: LONGEST_VALUE, ..self.naming(class, events) };
                let (place, to) = self.volatile(&naming, event);
                let is_read = event.callee.as_deref() == Some(READS);
                let words = if is_read { Words::new(Verb::Reads, place) } else { Words::sets(place, to) };
                (EffectKind::Call, words, self.line(class, event.node))
            }
            Item::Call(event) if is_statement(event.callee.as_deref()) => {
                let line = self.line(class, event.node);
                (EffectKind::Call, Words::says(statement_at(line)), line)
            }
            Item::Call(event) => {
                let line = self.line(class, event.node);
                let naming = self.naming(class, events);
                let naming = Naming { max_len: LONGEST_VALUE, ..naming };
                let mut text = self.call(&naming, event);
                let is_other = |i: &&Item| matches!(i, Item::Call(o) if o.site == event.site);
                let other = d.items[class.other()].iter().find(is_other);
                let theirs = other.map(|other| {
                    let Item::Call(other) = other else { return String::new() };
                    let naming = self.naming(class.other(), &d.events[class.other()]);
                    self.call(&Naming { max_len: LONGEST_VALUE, ..naming }, other)
                });
                let is_cut = text.contains('…') || theirs.is_some_and(|t| t.contains('…'));
                if let Some(Item::Call(other)) = other
                    && (is_cut || self.precision == Precision::Differences)
                {
                    let units = [self.sides[class].layout, self.sides[class.other()].layout];
                    let types = self.call_types(&naming, event).map(|(_, types)| types).unwrap_or_default();
                    let told = differing(self.pool, (&naming, units), &types, (event, other));
                    text = told.or_else(|| self.written(event)).unwrap_or(text);
                }
                let words = match event.callee.as_deref() {
                    Some(MEASURES) => Words::says(format!("declares {text}")),
                    _ => Words::new(Verb::Calls, text),
                };
                (EffectKind::Call, words, line)
            }
            Item::Write { address, bytes, value, .. } => {
                // What calls leave in errno is theirs.
                let errno = Leaf::SymbolAddr { symbol: library::ERRNO.into(), bits: 64 };
                if self.pool.known_leaf(&errno) == Some(*address) && is_left_by_calls(self.pool, *value) {
                    return None;
                }
                let naming = self.naming(class, events);
                let negative = negative(self.pool, *value);
                let value = &untagged(self.pool, *value);
                let sort = self.pool.sort(*value);
                let place = match self.pool.known_leaf(&errno) == Some(*address) {
                    true => self.errno().map(|(_, named)| named),
                    false => render_lvalue(self.pool, *address, sort, *bytes, &naming),
                };
                let place = place.map(|n| Named { text: own_names(&n.text), ..n });
                match place.filter(|n| is_plain(&n.text)) {
                    Some(place) => {
                        let value = negative.unwrap_or_else(|| {
                            assigned(self.pool, &naming, (&place.text, &place.ty), *value)
                        });
                        let value = match is_short(&value) {
                            true => Some(value),
                            false => self
                                .at_its_time(&naming, &place, item)
                                .or_else(|| self.excerpt(class, item, d)),
                        };
                        // What a call in between may have changed.
                        if value.as_ref() == Some(&place.text) {
                            let words = Words::says(format!("restores {}", place.text));
                            return Some(Effect { kind: EffectKind::Write, words, line: None });
                        }
                        let to = match value.filter(|value| !value.is_empty()) {
                            Some(value) => format!(" to {value}"),
                            None => self.as_written(class, item, d).unwrap_or_default(),
                        };
                        (EffectKind::Write, Words::sets(place.text, to), 0)
                    }
                    None => match render_bits(self.pool, *address, *bytes, *value, &naming) {
                        Some(fields) => {
                            let written =
                                if fields.len() == 1 { self.as_written(class, item, d) } else { None };
                            let to = |value: &str| match is_short(value) {
                                true => format!(" to {value}"),
                                false => written.clone().unwrap_or_default(),
                            };
                            let own = |text: String| own_names(&text);
                            let (first, more) = fields.split_first()?;
                            let more = more.iter().map(|(field, value)| format!(", {field}{}", to(value)));
                            let to = to(&first.1) + &more.collect::<String>();
                            (EffectKind::Write, Words::sets(own(first.0.clone()), own(to)), 0)
                        }
                        None => (EffectKind::Write, self.written_there(class, &naming, item, d), 0),
                    },
                }
            }
            Item::Fill { address, from, node } => {
                let naming = self.naming(class, events);
                let at = |address: TermId| {
                    let text = render(self.pool, address, &naming);
                    let text = match text.strip_prefix('&') {
                        Some(place) => place.to_owned(),
                        None if is_operand(&text) => format!("*{text}"),
                        None => format!("*({text})"),
                    };
                    is_short(&text).then_some(text)
                };
                let to = match from {
                    Some(from) => at(*from).map(|text| format!(" to {text}")).unwrap_or_default(),
                    None => " to zeros".to_owned(),
                };
                let place = at(*address);
                let place = place.or_else(|| match self.is_ours(*address) {
                    true => None,
                    false => self.assigned_place(class, (*node)?),
                });
                let to = if place.as_ref().is_some_and(|t| to == format!(" to {t}")) { "" } else { &to };
                let words = place.map_or(Words::says(SOMEWHERE), |place| Words::sets(place, to));
                (EffectKind::Write, words, 0)
            }
            Item::Variable(v, value) => {
                let var = &self.graph.vars[v.0 as usize];
                if var.kind == VarKind::Temp {
                    return None;
                }
                let (name, ty) = (var.name.clone(), var.ty.clone());
                let mut naming = self.naming(class, events);
                self.forget(&mut naming, (class, *v));
                if *value == self.pool.leaf(variable_leaf(self.graph, *v)) {
                    (EffectKind::Value, Words::new(Verb::Leaves, &*name), 0)
                } else if matches!(self.pool.get(*value), Term::Leaf(Leaf::Indeterminate { .. })) {
                    (EffectKind::Value, Words::says(format!("leaves {name} without a value")), 0)
                } else {
                    let text = assigned(self.pool, &naming, (&name, &ty), *value);
                    let text = match is_short(&text) {
                        true => Some(text),
                        false => self.excerpt(class, item, d).or_else(|| is_tellable(&text).then_some(text)),
                    };
                    let to = text.map(|text| format!(" to {text}")).unwrap_or_default();
                    (EffectKind::Value, Words::sets(&*name, to), 0)
                }
            }
            Item::Return(value, node, memory) => {
                let line = self.line(class, *node);
                // What the condition says of it.
                let conditions: Vec<TermId> = d.literals.iter().map(|l| l.term).collect();
                let known = Known::of(self.pool, &conditions);
                let decided = value.map(|v| known.simplified(self.pool, v));
                let decided = decided.filter(|v| self.pool.as_const(*v).is_some());
                let value = decided.or_else(|| value.map(|v| current(self.pool, v, *memory)));
                (EffectKind::Return, self.returned(class, value, *node, events), line)
            }
            Item::Ends(last) => {
                let naming = self.naming(class, events);
                let words = last.as_ref().map_or(Words::says("ends"), |e| self.ending(&naming, e));
                (EffectKind::End, words, last.as_ref().map_or(0, |e| self.line(class, e.node)))
            }
            Item::At(node) => {
                let (kind, words) = self.place(class, *node, d);
                (kind, words, self.line(class, *node))
            }
            Item::Undefined(hazard) => {
                let line = self.line(class, hazard.node);
                (EffectKind::Undefined, Words::says(self.hazard(class, hazard, events)), line)
            }
        };
        Some(Effect { kind, words, line: (line > 0).then_some(line) })
    }

    fn returned(&mut self, class: ClassId, value: Option<TermId>, node: MvId, events: &[Event]) -> Words {
        let Some(value) = value else { return Words::new(Verb::Returns, "") };
        let words = self.returned_words(class, node);
        let is_constant = self.pool.as_const(value).is_some();
        // A constant that has a name is told by it.
        // A variable's name means its value at the point.
        let (body, unit) = (self.graph.bodies[class].clone(), self.sides[class].version.unit);
        let is_variable =
            |w: &str| body.vars.iter().any(|v| *v.name == *w) || unit.globals.iter().any(|g| *g.name == *w);
        let asks_names = self.precision != Precision::Numbers;
        let named = |w: &&String| asks_names && is_constant && is_name(w) && !is_variable(w);
        if let Some(name) = words.as_ref().filter(named) {
            return Words::new(Verb::Returns, &**name);
        }
        let mut naming = self.naming(class, events);
        // What a comparison gives is a number, whatever has that value elsewhere.
        let is_truth = |w: &String| w.replace("->", ".").contains(['<', '>', '!']) || w.contains("==");
        if words.as_ref().is_some_and(|w| is_truth(w) && !w.contains('?')) {
            naming.macros = Rc::default();
        }
        let ty = self.graph.bodies[class].ret.clone();
        let text = render_typed(self.pool, value, &naming, Some(&ty));
        match (is_short(&text) && self.precision != Precision::Source, words) {
            (true, _) => Words::new(Verb::Returns, text),
            (false, Some(words)) if words.chars().count() <= LONGEST_VALUE => {
                // What variables hold there, and not at the point.
                let mut names = words.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let before = if class == ClassId::OLD { " before" } else { "" };
                let is_told = names.any(is_variable) && !words.contains('(');
                let remark = is_told.then(|| format!(" (line {}{before})", self.line(class, node)));
                Words { remark: remark.unwrap_or_default(), ..Words::new(Verb::Returns, words) }
            }
            _ => Words::new(Verb::Returns, ANOTHER),
        }
    }

    /// What stands behind `return` in the source.
    pub(super) fn returned_words(&self, class: ClassId, node: MvId) -> Option<String> {
        if !matches!(self.graph.node(node).instr, Instr::Return { .. }) {
            return None;
        }
        let line = (self.source)(class, self.line(class, node))?;
        // Of several in one line none is known to be it.
        if line.matches("return").count() != 1 {
            return None;
        }
        let rest = &line[line.find("return")? + "return".len()..];
        let text = rest[..rest.find(';')?].trim();
        let text = unwrapped(text);
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Whether a node lies in a loop that a path ran as a whole.
    fn is_within_run(&self, class: ClassId, node: MvId, d: &Difference) -> bool {
        let side = self.sides[class];
        let runs = d.events[class].iter().filter(|e| e.rounds);
        runs.filter_map(|e| side.flow.loop_at[e.node.0 as usize]).any(|l| is_in_loop(side, node, l))
    }

    /// The words of a loop that was run as a whole: whom it calls, and what it sets otherwise.
    fn rounds(&self, class: ClassId, head: MvId) -> String {
        let side = self.sides[class];
        let line = self.line(class, head);
        let body = side.flow.loop_at[head.0 as usize].and_then(|l| side.flow.loops.get(l)).map(|l| &l.body);
        let mut called: Vec<String> = Vec::new();
        let mut writes = false;
        for node in body.into_iter().flatten() {
            match &self.graph.node(*node).instr {
                // To read `errno` is a call only to the library's header.
                Instr::Call { callee: Callee::Direct(name), .. } if &**name == "__errno_location" => {}
                Instr::Call { callee: Callee::Direct(name), .. } => called.push(format!("{name}()")),
                Instr::Call { .. } => called.push("a function pointer".to_owned()),
                Instr::Store { .. } | Instr::Copy { .. } | Instr::Zero { .. } => writes = true,
                _ => {}
            }
        }
        let mut seen = BTreeSet::new();
        called.retain(|name| seen.insert(name.clone()));
        let more = called.len().saturating_sub(MOST_CALLED);
        called.truncate(MOST_CALLED);
        if more > 0 {
            called.push(format!("{more} more"));
        }
        let what = match (called.is_empty(), writes) {
            (false, _) => format!(", which calls {}", called.join(", ")),
            (true, true) => ", which writes to memory".to_owned(),
            (true, false) => String::new(),
        };
        format!("runs the loop of line {line}{what}")
    }

    /// In which call a path ends. A clause of an annotation is a call of ours, which nobody has written.
    fn ending(&mut self, naming: &Naming, event: &Event) -> Words {
        let text = self.call(naming, event);
        failed_assertion(&text).map_or_else(|| Words::new(Verb::EndsIn, text), Words::says)
    }

    /// Where control goes on.
    fn place(&self, class: ClassId, node: MvId, d: &Difference) -> (EffectKind, Words) {
        let side = self.sides[class];
        let here = self.frontier.node;
        let around = side.flow.innermost.get(here.0 as usize).copied().flatten();
        // A loop whose head is one version's own.
        let ran = |n: &&MvId| d.events[class].iter().any(|e| e.rounds && e.node == **n);
        let left = d.visited[class].iter().filter(|n| !ran(n) && !self.is_within_run(class, **n, d));
        let own = left.filter_map(|n| side.flow.loop_at[n.0 as usize]).next();
        if node == Mvicfg::EXIT {
            return (EffectKind::Return, Words::new(Verb::Returns, ""));
        }
        if let Some(l) = own.or_else(|| side.flow.loop_at[node.0 as usize].filter(|l| Some(*l) != around)) {
            return match (is_in_loop(side, node, l), is_in_loop(side, here, l)) {
                (true, true) => (EffectKind::NextRound, Words::says("goes another round")),
                (true, false) => {
                    // Behind its test, or before it.
                    let verb = if own.is_some() { "enters" } else { "comes to" };
                    (EffectKind::Goto, Words::says(self.loop_ahead(verb, class, side.flow.loops[l].head)))
                }
                (false, true) => (EffectKind::LeaveLoop, Words::goes(Verb::LeavesTheLoop, None)),
                (false, false) => (EffectKind::Goto, Words::says("skips the loop")),
            };
        }
        if let Some(l) = around {
            if side.flow.loops[l].head == node {
                return (EffectKind::NextRound, Words::says("next round"));
            }
            if !is_in_loop(side, node, l) && !is_written_in(self.graph, side, node, l) {
                let line = Some(self.line(ClassId::NEW, past_joins(self.graph, side, node)))
                    .filter(|line| *line > 0);
                let far = line.filter(|_| !self.is_behind(side, node, l));
                return (EffectKind::LeaveLoop, Words::goes(Verb::LeavesTheLoop, far));
            }
        }
        // What both versions have is told by where it is now.
        let now = Some(self.line(ClassId::NEW, node)).filter(|line| *line > 0);
        match now.unwrap_or_else(|| self.line(class, node)) {
            0 => (EffectKind::Goto, Words::goes(Verb::GoesOn, None)),
            line => (EffectKind::Goto, Words::goes(Verb::GoesOn, Some(line))),
        }
    }

    /// What is done to a loop, and which one it is where that is not the line that is told of.
    fn loop_ahead(&self, verb: &str, class: ClassId, head: MvId) -> String {
        let (now, own) = (self.line(ClassId::NEW, head), self.line(class, head));
        match own == 0 || own == self.line(class, self.frontier.node) {
            true => format!("{verb} the loop"),
            false if now > 0 => format!("{verb} the loop of line {now}"),
            false => format!("{verb} the loop of line {own} before"),
        }
    }

    /// Whether a node is where a loop is left to by its own tests, or that is not known.
    fn is_behind(&self, side: &Side, node: MvId, l: usize) -> bool {
        let head = side.flow.loops[l].head;
        let is_test = |n: MvId| matches!(self.graph.node(n).instr, Instr::Branch { .. });
        let body = &side.flow.loops[l].body;
        let line = self.graph.line(head, side.class);
        // The operands of the loop's own test stand on its line.
        let mut exits = body
            .iter()
            .filter(|n| is_test(**n) && self.graph.line(**n, side.class) == line)
            .flat_map(|n| self.graph.node(*n).succs.iter())
            .filter(|e| e.classes.contains(side.class) && !body.contains(&e.to))
            .map(|e| e.to)
            .peekable();
        exits.peek().is_none()
            || exits.any(|to| past_joins(self.graph, side, to) == past_joins(self.graph, side, node))
    }

    fn hazard(&mut self, class: ClassId, hazard: &Hazard, events: &[Event]) -> String {
        let line = self.line(class, hazard.node);
        let naming = self.naming(class, events);
        let subject = render(self.pool, hazard.subject, &naming);
        let subject = if is_short(&subject) { Some(subject) } else { None };
        let what = match (hazard.kind, subject) {
            (UndefinedKind::NullDereference, Some(p)) => format!("{p} is NULL"),
            (UndefinedKind::NullDereference, None) => "a null pointer".to_owned(),
            (UndefinedKind::DivisionByZero, Some(d)) => format!("division by {d}, which is 0"),
            (UndefinedKind::DivisionByZero, None) => "division by zero".to_owned(),
            (_, Some(by)) => format!("shift by {by}"),
            (_, None) => "shift by the width or more".to_owned(),
        };
        format!("undefined at line {line}: {what}")
    }
}

/// Whether a value is one that a call left in `errno`.
fn is_left_by_calls(pool: &TermPool, value: TermId) -> bool {
    let is_left = |name: &str| name.strip_prefix(LOOP_VALUE).is_some_and(|n| n.starts_with("errno "));
    let is_it = |t: TermId| matches!(pool.get(t), Term::Leaf(Leaf::Param { name, .. }) if is_left(name));
    pool.reachable(&[value]).into_iter().any(is_it)
}

/// Whether all that is to be said of a value is that it is what a call gives, and both versions set the same thing to
/// what the calls give that stand in each other's place: the calls are told.
fn is_answer(class: ClassId, item: &Item, d: &Difference) -> bool {
    let of = |item: &Item| match item {
        Item::Variable(v, value) => Some((Some(*v), None, *value)),
        Item::Write { address, value, .. } => Some((None, Some(*address), *value)),
        _ => None,
    };
    let call_of = |class: ClassId, value: TermId| {
        d.items[class].iter().find_map(|i| match i {
            Item::Call(e) if e.result == Some(value) => Some(e.site),
            _ => None,
        })
    };
    let Some((var, address, value)) = of(item) else { return false };
    let Some(site) = call_of(class, value) else { return false };
    d.items[class.other()].iter().filter_map(of).any(|(other, place, value)| {
        (other, place) == (var, address) && call_of(class.other(), value) == Some(site)
    })
}

/// A value that is given to a place: a constant by the enumerator that the source gives it as.
pub(super) fn assigned(
    pool: &TermPool,
    naming: &Naming,
    (place, ty): (&str, &CType),
    value: TermId,
) -> String {
    let name = pool.as_const(value).and_then(|c| naming.compared_with(place, c));
    name.map_or_else(|| render_typed(pool, value, naming, Some(ty)), str::to_owned)
}

/// Conditions that are alike when they are short are told whole.
fn tell_shorts_apart(deltas: &mut [Option<Delta>]) {
    let all: Vec<String> = deltas.iter().flatten().filter_map(|d| d.short.clone()).collect();
    for delta in deltas.iter_mut().flatten() {
        let is_other = |text: &String| all.iter().filter(|t| *t == text).count() > 1;
        delta.short = delta.short.take().filter(|text| !is_other(text));
    }
}
