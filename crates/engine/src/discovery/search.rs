//! Symbolic execution with candidates asserted: inputs that break one, and one input of every path.
//!
//! Without *separation* an assertion is passed by the inputs that meet it, as `assert` has it, and every further
//! question has its condition. With it each is asked for alone. With *restriction* an assertion that was broken is
//! not asked for again on other paths (section 3.2 and 4 of the paper).

use super::Point;
use super::assertion::{Here, Values};
use super::solver::{Answer, Asker};
use super::subject::Subject;
use crate::infer::{Kind, Shape};
use crate::ir::eval::Assignment;
use crate::ir::{NodeId, TermId, TermPool};
use crate::quantify::{End, Explored, Explorer, Limits, Start, is_undefined};
use std::collections::BTreeSet;

/// How it is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Each assertion is checked alone.
    pub separation: bool,
    /// At most one input that breaks an assertion is looked for.
    pub restriction: bool,
    /// Answers are kept.
    pub reuse: bool,
}

impl Default for Configuration {
    fn default() -> Configuration {
        Configuration { separation: true, restriction: true, reuse: true }
    }
}

/// What a search found.
#[derive(Default)]
pub struct Searched {
    /// Values of the free inputs, of all that was found: paths, and what breaks assertions.
    pub tests: Vec<Vec<i128>>,
    pub states: u64,
    pub paths: usize,
    /// Candidates, by position, that are not shown to hold on every path.
    pub open: BTreeSet<usize>,
    /// Those of which that is so only because of a bound of the exploration.
    pub bounded: BTreeSet<usize>,
    /// Why not every path was followed to its end.
    pub cut: BTreeSet<&'static str>,
}

/// Searches once.
pub fn search(
    subject: &Subject,
    pool: &mut TermPool,
    asker: &mut Asker,
    candidates: &[(Point, Shape)],
    configuration: Configuration,
    paths: usize,
) -> Searched {
    let premises = subject.premises(pool);
    let mut search = Search {
        subject,
        pool,
        asker,
        candidates,
        configuration,
        broken: BTreeSet::new(),
        is_assuming: false,
        found: Searched { states: 1, ..Searched::default() },
    };
    let entry = search.asserted(Point::Entry, Here::Entry, premises.clone());
    let conditions = if configuration.separation { premises } else { entry };
    let limits = Limits { paths, ..Limits::default() };
    let start = Start {
        candidates: &subject.candidates,
        contents: &subject.contents,
        is_initial: subject.is_initial,
        conditions: &conditions,
    };
    let Search { pool, asker, .. } = &mut search;
    let explorer = Explorer::new(subject.function, subject.unit, pool, start, &mut **asker, limits);
    let explored = explorer.watching(subject.heads.iter().map(|h| h.node), MOST_ARRIVALS).explore();
    search.found.states += explored.states - 1;
    search.found.paths = explored.paths.len();
    if explored.is_cut || search.asker.is_spent() {
        search.found.cut.insert("more paths than the bound");
        search.found.bounded.extend(later(candidates));
    }
    search.rounds(&explored, &conditions);
    for path in &explored.paths {
        let left = match &path.end {
            End::Return(_) => search.asserted(Point::Exit, Here::End(path), path.conditions.clone()),
            End::Grey(reason) if is_undefined(reason) => continue,
            End::Grey(reason) => {
                search.found.cut.insert(reason);
                search.leave(&path.conditions, BOUNDS.contains(reason));
                path.conditions.clone()
            }
            End::Failure(_) | End::Exit(_) | End::Settled => path.conditions.clone(),
        };
        if let Answer::Yes(inputs) = search.asker.known(search.pool, &left) {
            search.test(&inputs);
        }
    }
    search.found
}

/// Reasons of ours why a path is not followed to its end.
const BOUNDS: [&str; 2] = ["a path longer than the bound", "calls deeper than the bound"];

/// Arrivals at a head of a loop that are looked at: each is a question for each candidate.
const MOST_ARRIVALS: usize = 48;

/// The candidates of points behind the entry, by position.
fn later(candidates: &[(Point, Shape)]) -> impl Iterator<Item = usize> + '_ {
    candidates.iter().enumerate().filter(|(_, (point, _))| *point != Point::Entry).map(|(k, _)| k)
}

struct Search<'s, 'a> {
    subject: &'s Subject<'a>,
    pool: &'s mut TermPool,
    asker: &'s mut Asker,
    candidates: &'s [(Point, Shape)],
    configuration: Configuration,
    /// Candidates that were broken.
    broken: BTreeSet<usize>,
    /// An assertion was passed that is not known to hold: what follows is shown for those that meet it alone.
    is_assuming: bool,
    found: Searched,
}

impl Search<'_, '_> {
    /// Asks for inputs that break what is said of heads of loops, at each arrival. Other than at the exit an assertion
    /// that was passed is no condition of what comes behind: paths are as the function has them.
    fn rounds(&mut self, explored: &Explored, entry: &[TermId]) {
        let heads: Vec<NodeId> = self.subject.heads.iter().map(|h| h.node).collect();
        if heads.is_empty() || !self.candidates.iter().any(|(point, _)| matches!(point, Point::Head(_))) {
            return;
        }
        for (conditions, arrival) in explored.tree.arrivals(entry) {
            let Some(k) = heads.iter().position(|node| *node == arrival.node) else { continue };
            self.asserted(Point::Head(k), Here::Head(arrival), conditions);
        }
        for (k, _) in heads.iter().enumerate().filter(|(_, node)| explored.unseen.contains(node)) {
            self.found.cut.insert("more rounds than the bound");
            let all: Vec<usize> = self.positions(Point::Head(k)).collect();
            self.found.bounded.extend(all);
        }
    }

    /// Asks for inputs that break the candidates of a point, and gives the conditions of those that pass all.
    fn asserted(&mut self, point: Point, here: Here, mut conditions: Vec<TermId>) -> Vec<TermId> {
        let subject = self.subject;
        let values = Values::new(subject, self.pool, point, here);
        for (k, (at, shape)) in self.candidates.iter().enumerate() {
            if *at != point || self.configuration.restriction && self.broken.contains(&k) {
                continue;
            }
            let Some(condition) = values.condition(self.pool, shape) else {
                self.found.open.insert(k);
                continue;
            };
            match self.pool.as_const(condition).and_then(|c| c.as_bool()) {
                Some(true) => continue,
                Some(false) => {
                    // Whoever comes here breaks it. At the exit the path has a test of its own.
                    self.broken.insert(k);
                    self.found.open.insert(k);
                    if let (Point::Head(_), Answer::Yes(inputs)) =
                        (point, self.asker.known(self.pool, &conditions))
                    {
                        self.test(&inputs);
                    }
                    continue;
                }
                None => {}
            }
            let negation = self.pool.not(condition);
            let breaking = [conditions.as_slice(), &[negation]].concat();
            match self.asker.ask(self.pool, &breaking) {
                Answer::Yes(inputs) => {
                    self.broken.insert(k);
                    self.found.open.insert(k);
                    self.found.states += 1;
                    self.test(&inputs);
                }
                Answer::Unknown => {
                    self.found.open.insert(k);
                }
                Answer::No if self.is_assuming => _ = self.found.open.insert(k),
                Answer::No => {}
            }
            if !self.configuration.separation {
                conditions.push(condition);
                self.is_assuming |= self.found.open.contains(&k);
                self.found.states += 1;
                if matches!(self.asker.ask(self.pool, &conditions), Answer::No) {
                    if self.is_assuming {
                        let rest: Vec<usize> = self.positions(point).filter(|rest| *rest > k).collect();
                        self.found.open.extend(rest);
                    }
                    break;
                }
            }
        }
        conditions
    }

    /// Takes down which candidates are not shown because a path was left. What holds under a condition that the path
    /// contradicts does not need it.
    fn leave(&mut self, conditions: &[TermId], is_bound: bool) {
        let values = Values::new(self.subject, self.pool, Point::Exit, Here::Entry);
        let mut apart: Vec<(Shape, bool)> = Vec::new();
        for k in later(self.candidates) {
            let Some((_, Shape::Given { when, .. })) = self.candidates.get(k) else {
                self.left(k, is_bound);
                continue;
            };
            let known = apart.iter().find(|(shape, _)| shape == &**when).map(|(_, is)| *is);
            let is_apart = known.unwrap_or_else(|| {
                let condition = values.condition(self.pool, when);
                let is = condition.is_some_and(|condition| {
                    let all = [conditions, &[condition]].concat();
                    matches!(self.asker.ask(self.pool, &all), Answer::No)
                });
                apart.push(((**when).clone(), is));
                is
            });
            if !is_apart {
                self.left(k, is_bound);
            }
        }
    }

    /// The candidates of a point, by position.
    fn positions(&self, point: Point) -> impl Iterator<Item = usize> + use<'_> {
        let all = self.candidates.iter().enumerate();
        all.filter(move |(_, (at, _))| *at == point).map(|(k, _)| k)
    }

    fn left(&mut self, k: usize, is_bound: bool) {
        if is_bound { &mut self.found.bounded } else { &mut self.found.open }.insert(k);
    }

    fn test(&mut self, inputs: &Assignment) {
        let value = |free: &super::subject::Free| {
            let bits = inputs.get(free.term).map(|c| match free.kind {
                Kind::Integer { signed: true, .. } => c.signed().unwrap_or(0),
                Kind::Pointer => i128::from(c.to_bits() != 0),
                _ => i128::try_from(c.to_bits()).unwrap_or(0),
            });
            bits.unwrap_or(0).clamp(free.low, free.high)
        };
        let values: Vec<i128> = self.subject.free.iter().map(value).collect();
        self.found.tests.push(values);
    }
}
