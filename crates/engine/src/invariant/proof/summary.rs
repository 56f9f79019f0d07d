//! Summaries: what holds of a function's result whenever it returns, by its arguments
//! (`docs/design/symbolic-evaluation.md`).
//!
//! Candidates come from the runs of the function: shapes of the result, alone, beside a parameter,
//! and in the cases that functions tell apart first (`t == NULL`, `n == 0`). They are proved at the
//! exit. Where the function calls itself, the candidates are assumed of the inner calls, and those
//! that cannot be proved so are dropped until nothing changes (Houdini). A call that returns has
//! finitely many calls inside, so what is left holds of all of them by induction over their nesting.
//! Like all facts it speaks of executions that return, without an undefined event.
//!
//! A summary takes nothing for granted: it is used where its assumptions would have no name.

use crate::interp::{End, Identity, Target, Value};
use crate::invariant::candidate::guard::{Guard, Test};
use crate::invariant::candidate::observed::Observed;
use crate::invariant::candidate::observed::is_countable;
use crate::invariant::candidate::observed::{is_alike, number};
use crate::invariant::candidate::samples::side;
use crate::invariant::candidate::templates::{self, Candidate};
use crate::invariant::fact::Fact;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::Point;
use crate::invariant::proof::abstraction;
use crate::invariant::proof::interface::Parameter;
use crate::invariant::proof::interface::RESULT;
use crate::invariant::proof::interface::Site;
use crate::invariant::proof::interface::Summary;
use crate::invariant::proof::interface::Values;
use crate::invariant::proof::known::Standing;
use crate::invariant::task::Task;
use crate::invariant::witness::budget::MAX_NODES;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::ir::{CType, Const, LOOP_VALUE, Leaf, TermId};
use crate::mvicfg::{ClassId, ClassSet, Flow, Mvicfg};
use crate::semantics::Place;
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Candidates of one function, and how often they are weakened.
const MAX_CANDIDATES: usize = 40;
const MAX_ROUNDS: usize = 8;
/// Facts of one summary that are reported.
const MAX_TOLD: usize = 10;
/// Parameters that cases are told apart by.
const MAX_PARAMETERS: usize = 4;
/// Runs of one function that candidates are read off.
const MAX_ROWS: usize = 600;
/// Numbers of a parameter that make a case each.
const CASES: [i128; 6] = [0, 1, 2, 3, 4, -1];

/// Finds what holds of the result of a task's one class whenever it returns; `None`: nothing.
pub fn summarise(task: &Task) -> Option<Arc<Summary>> {
    let flow = Flow::new(task.graph);
    if flow.classes.iter().any(|c| c.irreducible) || task.graph.nodes.len() > MAX_NODES {
        return None;
    }
    let mut engine = FunctionAnalysis::new(task, &flow);
    engine.diff.point = Point::exit(task.graph);
    engine.namings = engine.name_values();
    if engine.calls_itself(ClassId::ONLY) {
        engine.own_summary(ClassId::ONLY)
    } else {
        engine.find_summary(ClassId::ONLY).map(Arc::new)
    }
}

impl FunctionAnalysis<'_> {
    /// Returns what holds of every call of the function itself that its body makes.
    pub(in crate::invariant) fn own_summary(&mut self, class: ClassId) -> Option<Arc<Summary>> {
        if let Some(known) = self.classes.own.get(&class) {
            return known.clone();
        }
        // While it is looked for, nothing is known of the inner calls.
        self.classes.own.insert(class, None);
        let found = if self.calls_itself(class) { self.find_summary(class).map(Arc::new) } else { None };
        self.classes.own.insert(class, found.clone());
        self.classes.call_facts.clear();
        found
    }

    /// Whether a class uses the result of a call of itself.
    pub(in crate::invariant) fn calls_itself(&mut self, class: ClassId) -> bool {
        self.sites(class).iter().any(|s| s.is_own())
    }

    /// Finds what holds of the result of a class whenever it returns.
    pub(in crate::invariant) fn find_summary(&mut self, class: ClassId) -> Option<Summary> {
        let body = self.task.graph.bodies[class].clone();
        if !is_countable(&body.ret) {
            return None;
        }
        let (params, values) = self.interface(class)?;
        let under = self.state_at(class, Mvicfg::EXIT);
        // Under assumptions nothing is known of other calls.
        let unchecked = self.e.unchecked.values().any(|set| set.contains(class));
        if unchecked || self.e.rests_on_havoc(under) {
            return None;
        }
        let rows = self.interface_rows(class, &params);
        let observed = observed(&params, &body.ret, &rows);
        let candidates = suggest(&observed);
        let sites: Rc<Vec<Site>> = self.sites(class);
        let own: Vec<&Site> = sites.iter().filter(|s| s.is_own()).collect();
        let facts = self.weakened(candidates, under, &values, &own)?;
        Some(Summary { params, ret: body.ret.clone(), facts: facts.into_iter().collect() })
    }

    /// The parameters of a class, and the values at entry and of the result that facts are about.
    fn interface(&mut self, class: ClassId) -> Option<(Vec<Parameter>, Values)> {
        let graph = self.task.graph;
        let body = graph.bodies[class].clone();
        let single = ClassSet::single(class);
        let (mut params, mut values) = (Vec::new(), Values::new());
        for p in &body.params {
            let var = body.var(*p);
            let sort = var.sort?;
            let place = self.e.places.of_var(graph.var_map[class][p.0 as usize]);
            let term = match place {
                Place::Var(_) => self.e.before(place, Mvicfg::ENTRY, &single).into_iter().next()?.1.term,
                _ => self.e.pool.leaf(Leaf::Param { name: var.name.clone(), sort }),
            };
            let name = var.name.to_string();
            values.insert(name.clone(), (term, var.ty.clone()));
            params.push(Parameter { name, ty: var.ty.clone(), sort });
        }
        let exit = Point::exit(graph);
        let (_, val) =
            observable::values_at(&mut self.e, &Observable::Result, &exit, &single).into_iter().next()?;
        let result = self.defined_value(class, val.term);
        let result = self.cut(result);
        if self.e.rests_on_havoc(result) || self.e.rests_on_indeterminate(result) {
            return None;
        }
        values.insert(RESULT.into(), (result, body.ret.clone()));
        // Two parameters of one name would be one.
        (values.len() == params.len() + 1).then_some((params, values))
    }

    /// Arguments and result of the runs of a class that returned.
    fn interface_rows(&mut self, class: ClassId, params: &[Parameter]) -> Vec<Vec<Option<Const>>> {
        let bits = self.task.pointer_bits;
        let mut rows = Vec::new();
        let mut lists = self.runs_of(class);
        if self.calls_itself(class) {
            lists.insert(0, (Rc::new(self.small_runs(class)), false));
        }
        for (list, old) in lists {
            let returned = |r: &&Run| side(r, old).end == End::Return;
            for run in list.iter().filter(returned).take(MAX_ROWS) {
                let input = run.input_of(old);
                let argument = |k: usize| match input.arguments.get(k)? {
                    Value::Const(c) => Some(*c),
                    Value::Pointer { object, offset } => {
                        Some(token(bits, &Identity::Input(*object), *offset))
                    }
                    Value::Global { symbol, offset } => {
                        Some(token(bits, &Identity::Global(symbol.clone()), *offset))
                    }
                    Value::Function(_) => None,
                };
                let mut row: Vec<Option<Const>> = (0..params.len()).map(argument).collect();
                let outcome = side(run, old);
                row.push(match &outcome.returned_target {
                    Some(Target::Object { identity, offset }) => Some(token(bits, identity, *offset)),
                    Some(_) => None,
                    None => outcome.returned,
                });
                rows.push(row);
            }
        }
        rows
    }

    /// Runs on the numbers that cases are made of: generated inputs are seldom small, and of large
    /// ones a recursion may not come to an end.
    fn small_runs(&mut self, class: ClassId) -> Vec<Run> {
        let body = &self.task.graph.bodies[class];
        let (program, name) = (&self.task.programs[class], &*body.name);
        let lists = self.runs_of(class);
        let like = lists.iter().flat_map(|(list, old)| list.iter().map(|r| r.input_of(*old))).next();
        let Some(like) = like.filter(|i| i.arguments.len() == body.params.len()) else { return Vec::new() };
        let mut runs = Vec::new();
        for (k, p) in body.params.iter().enumerate().take(MAX_PARAMETERS) {
            let CType::Int { bits, .. } = body.var(*p).ty else { continue };
            for n in CASES {
                let mut input = like.clone().into_owned();
                input.arguments[k] = Value::Const(Const::bv(bits, n));
                runs.push(runs::replay(program, program, (name, name), input));
            }
        }
        runs
    }

    /// Drops candidates until the rest can be proved of these values, assumed of the inner calls.
    fn weakened(
        &mut self,
        mut kept: BTreeSet<Candidate>,
        under: TermId,
        values: &Values,
        inner: &[&Site],
    ) -> Option<BTreeSet<Candidate>> {
        let mut rounds = 0;
        loop {
            // What holds of one number matters to others of its kind, and costs all questions.
            let general: Vec<&Candidate> = kept.iter().filter(|c| !is_of_number(c)).collect();
            let some = self.given(under, inner, &general);
            let all = self.given(under, inner, &kept.iter().collect::<Vec<_>>());
            let (numbers, others): (Vec<Candidate>, Vec<Candidate>) =
                kept.iter().cloned().partition(is_of_number);
            let mut left = self.proved_of(some, others, values);
            left.extend(self.proved_of(all, numbers, values));
            rounds += 1;
            if inner.is_empty() {
                return Some(left).filter(|l| !l.is_empty());
            }
            if left.len() == kept.len() || left.is_empty() || rounds >= MAX_ROUNDS {
                return Some(left).filter(|k| !k.is_empty() && k.len() == kept.len());
            }
            kept = left;
        }
    }

    /// The condition of being at the exit, with what candidates say of the inner calls.
    fn given(&mut self, under: TermId, inner: &[&Site], candidates: &[&Candidate]) -> TermId {
        let mut given = under;
        for site in inner {
            let facts = self.facts_of_call(site, candidates.iter().copied());
            given = self.e.pool.and(given, facts);
        }
        self.cut(given)
    }

    /// Those of the candidates that are proved of these values.
    pub(in crate::invariant) fn proved_of(
        &mut self,
        given: TermId,
        candidates: Vec<Candidate>,
        values: &Values,
    ) -> BTreeSet<Candidate> {
        let value = |x: &str| values.get(x).cloned();
        let pool = &mut self.e.pool;
        let goals: Vec<(Candidate, TermId)> =
            candidates.into_iter().filter_map(|c| c.term(pool, &value).map(|goal| (c, goal))).collect();
        let (evident, asked): (Vec<_>, Vec<_>) =
            goals.into_iter().partition(|(c, _)| c.is_evident(pool, &value));
        let (given, wanted) =
            abstraction::plain(pool, given, &asked.iter().map(|(_, g)| *g).collect::<Vec<_>>());
        let shown = self.kept_by_calls(given, &wanted);
        let proved = asked.into_iter().zip(shown).filter(|(_, shown)| *shown).map(|(goal, _)| goal);
        evident.into_iter().chain(proved).map(|(c, _)| c).collect()
    }

    fn kept_by_calls(&mut self, given: TermId, goals: &[TermId]) -> Vec<bool> {
        let limits = self.deciders.lemmas.solver().limits();
        let decider = self.deciders.recursions.get_or_insert_with(|| smt::Decider::apart(limits));
        decider.holding(&mut self.e.pool, given, goals)
    }

    /// The facts of a summary that the others do not imply, the general ones first.
    fn told(&mut self, summary: &Summary) -> Vec<Candidate> {
        let mut values = Values::new();
        for p in &summary.params {
            let leaf = self.e.pool.leaf(Leaf::Param { name: p.name.as_str().into(), sort: p.sort });
            values.insert(p.name.clone(), (leaf, p.ty.clone()));
        }
        let Some(sort) = summary.ret.sort(self.task.pointer_bits) else { return Vec::new() };
        let result = self.e.pool.leaf(Leaf::Param { name: format!("{LOOP_VALUE}{RESULT}").into(), sort });
        values.insert(RESULT.into(), (result, summary.ret.clone()));
        let rank = |c: &Candidate| match c {
            Candidate::Same(..) | Candidate::OneOf(..) => (0, 0),
            // The tightest first.
            Candidate::AtLeast(_, k) => (1, -k),
            Candidate::AtMost(_, k) => (1, *k),
            Candidate::Given(Guard { test: Test::Is(k), .. }, _) => (4, k.abs()),
            Candidate::Given(..) => (3, 0),
            _ => (2, 0),
        };
        let mut facts: Vec<&Candidate> = summary.facts.iter().collect();
        facts.sort_by_key(|c| rank(c));
        let (mut told, mut all) = (Vec::new(), self.e.pool.bool(true));
        for fact in facts {
            let Some(term) = fact.term(&mut self.e.pool, &|x| values.get(x).cloned()) else { continue };
            // Cases of single numbers are few where somebody reads them.
            let shown = self.task.options.all || !is_of_number(fact);
            if shown && told.len() < MAX_TOLD && self.kept_by_calls(all, &[term]) != [true] {
                told.push(fact.clone());
                all = self.e.pool.and(all, term);
            }
        }
        told
    }

    /// The facts of a class about its own calls, by the names of what is known at the exit.
    pub(in crate::invariant) fn summary_candidates(
        &mut self,
        class: ClassId,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Vec<Candidate> {
        let Some(summary) = self.own_summary(class) else { return Vec::new() };
        let name = |x: &str| {
            let old = format!("\\old({x})");
            if is_known(&old) { Some(old) } else { Some(x.to_owned()).filter(|x| is_known(x)) }
        };
        self.told(&summary).iter().filter_map(|c| c.renamed(&name)).collect()
    }

    /// Adds the facts at the exit that hold because of calls: of the function by itself, and of it by
    /// others.
    pub(in crate::invariant) fn relations_through_calls(&mut self) {
        let exit = Point::exit(self.task.graph);
        let mut found: BTreeMap<Candidate, BTreeMap<ClassId, Standing>> = BTreeMap::new();
        for class in self.task.graph.all_classes().iter() {
            let given = self.task.given.get(class.index()).is_some_and(|p| !p.is_empty());
            if self.own_summary(class).is_none() && !given {
                continue;
            }
            let known = self.known(class, &exit, self.task.options.all);
            let candidates = self.summary_candidates(class, &|x| known.contains_key(x));
            let values: Values = known.iter().map(|(x, k)| (x.clone(), k.as_term())).collect();
            let under = self.state_at(class, Mvicfg::EXIT);
            for candidate in self.proved_of(under, candidates, &values) {
                let standing = Standing::proved(&candidate, &known, &BTreeSet::new());
                found.entry(candidate).or_default().insert(class, standing);
            }
            self.relations_for_callers(class, &known, &mut found);
        }
        for (candidate, standings) in found {
            let fact = self.proved_fact(&candidate, &standings);
            let told = |f: &Fact| f.formula == fact.formula && fact.classes.is_subset(&f.classes);
            if !self.diff.invariants.iter().any(told) {
                self.diff.invariants.push(fact);
            }
        }
    }
}

/// A number that stands for a place: equal for equal ones only, and never zero.
fn token(bits: u16, identity: &Identity, offset: i64) -> Const {
    let hash = blake3::hash(format!("{identity:?}").as_bytes());
    let start = hash.as_bytes().iter().take(4).fold(0i128, |n, b| n << 8 | i128::from(*b));
    Const::bv(bits, ((start | 1) << 20) + i128::from(offset))
}

fn observed(params: &[Parameter], ret: &CType, rows: &[Vec<Option<Const>>]) -> Vec<Observed> {
    let names = params.iter().map(|p| (p.name.clone(), p.ty.clone())).chain([(RESULT.into(), ret.clone())]);
    let column = |k: usize| rows.iter().map(|r| r.get(k).copied().flatten()).collect();
    names.enumerate().map(|(k, (name, ty))| Observed { name, ty, values: column(k) }).collect()
}

/// The candidates that runs suggest. The last of the variables is the result.
fn suggest(vars: &[Observed]) -> BTreeSet<Candidate> {
    let mut found = BTreeSet::new();
    let Some((result, params)) = vars.split_last() else { return found };
    found.extend(of_result(result, params));
    for p in params.iter().filter(|p| is_countable(&p.ty)).take(MAX_PARAMETERS) {
        for when in guards(p) {
            let holds = |c: &Option<Const>| c.and_then(|c| when.test.holds(c, &p.ty)).unwrap_or(false);
            let part: Vec<bool> = p.values.iter().map(holds).collect();
            let only = |o: &Observed| Observed {
                values: o.values.iter().zip(&part).filter(|(_, p)| **p).map(|(v, _)| *v).collect(),
                ..o.clone()
            };
            let params: Vec<Observed> = params.iter().map(only).collect();
            for then in of_result(&only(result), &params) {
                if is_worth_a_case(&when, &then) && !found.contains(&then) && found.len() < MAX_CANDIDATES {
                    found.insert(Candidate::Given(when.clone(), Box::new(then)));
                }
            }
        }
    }
    found
}

/// Whether a case says something that is no accident of the numbers that were seen.
fn is_worth_a_case(when: &Guard, then: &Candidate) -> bool {
    let is_number = matches!(when.test, Test::Is(_) | Test::Null);
    match then {
        Candidate::OneOf(_, numbers) => is_number && numbers.len() == 1,
        // Of one number of a parameter that is said as a number.
        Candidate::Same(_, p) => !is_number || *p != when.x,
        Candidate::NonNull(_) | Candidate::Null(_) => true,
        Candidate::AtLeast(_, least) => !is_number && *least >= 0,
        Candidate::LessEq(..) | Candidate::Less(..) => !is_number,
        _ => false,
    }
}

/// Whether a fact is about one number of a parameter, other than zero.
fn is_of_number(c: &Candidate) -> bool {
    matches!(c, Candidate::Given(Guard { test: Test::Is(k), .. }, _) if *k != 0)
}

/// The cases of a parameter.
fn guards(p: &Observed) -> Vec<Guard> {
    let guard = |test| Guard { x: p.name.clone(), test };
    if p.ty.is_pointer() {
        return vec![guard(Test::Null), guard(Test::NonNull)];
    }
    let least = if p.ty.is_signed() { -1 } else { 0 };
    let mut found = vec![guard(Test::IsNot(0))];
    found.extend(CASES.iter().filter(|k| **k >= least).map(|&k| guard(Test::Is(k))));
    found
}

/// What holds of the result in these executions.
fn of_result(result: &Observed, params: &[Observed]) -> Vec<Candidate> {
    let values: Vec<Const> = result.values.iter().flatten().copied().collect();
    if values.is_empty() || values.len() < result.values.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let same = |p: &&Observed| p.values == result.values;
    if let Some(p) = params.iter().find(|p| p.ty.is_pointer() == result.ty.is_pointer() && same(p)) {
        found.push(Candidate::Same(RESULT.into(), p.name.clone()));
    }
    if result.ty.is_pointer() {
        if values.iter().all(|c| c.to_bits() != 0) {
            found.push(Candidate::NonNull(RESULT.into()));
        } else if values.iter().all(|c| c.to_bits() == 0) {
            found.push(Candidate::Null(RESULT.into()));
        }
        return found;
    }
    let numbers: BTreeSet<i128> = values.iter().filter_map(|c| number(*c, &result.ty)).collect();
    let (Some(&low), Some(&high)) = (numbers.first(), numbers.last()) else { return found };
    if numbers.len() <= 4 {
        found.push(Candidate::OneOf(RESULT.into(), numbers.iter().copied().collect()));
    }
    // Bounds that a person would state.
    let least = if result.ty.is_signed() { -1 } else { 1 };
    if low >= least {
        found.extend((least..=low.min(1)).map(|k| Candidate::AtLeast(RESULT.into(), k)));
    }
    if (0..=4096).contains(&high) && numbers.len() > 1 {
        found.push(Candidate::AtMost(RESULT.into(), high));
    }
    for p in params.iter().filter(|p| is_alike(&p.ty, &result.ty)) {
        found.extend(templates::compared(result, p));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(name: &str, values: &[i128]) -> Observed {
        let ty = CType::Int { bits: 32, signed: true, name: "int".into() };
        Observed { name: name.into(), ty, values: values.iter().map(|v| Some(Const::bv(32, *v))).collect() }
    }

    #[test]
    fn cases_of_a_parameter_are_suggested() {
        let n: Vec<i128> = (0..10).collect();
        let r: Vec<i128> = n.iter().map(|n| if *n == 0 { 7 } else { n * n }).collect();
        let found: Vec<String> =
            suggest(&[int("n", &n), int(RESULT, &r)]).iter().map(Candidate::text).collect();
        for expected in
            ["\\result >= 1", "n <= \\result", "n == 0 ==> \\result == 7", "n == 3 ==> \\result == 9"]
        {
            assert!(found.contains(&expected.to_owned()), "{found:?}");
        }
        assert!(!found.iter().any(|f| f.contains("n == 0 ==> \\result == 0")), "{found:?}");
    }
}
