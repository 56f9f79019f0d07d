//! Templates that a person wrote, at the points of a function: where all their places are there, they are tried as
//! candidates from data are (module `relations`), and told whatever else says the same.

use crate::fact::Formula;
use crate::invariant::candidate::fitted::Row;
use crate::invariant::candidate::observed::number;
use crate::invariant::candidate::samples::{self, Rows};
use crate::invariant::candidate::templates::Candidate;
use crate::invariant::candidate::written::{self, Entry, WrittenTemplate};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::{Kind, Point};
use crate::invariant::proof::known::{Known, Standing};
use crate::mvicfg::{ClassId, ClassSet};
use std::collections::{BTreeMap, BTreeSet};

impl FunctionAnalysis<'_> {
    /// Tries the templates at the point; at loop heads the induction does.
    pub(in crate::invariant) fn written_relations(&mut self) {
        let templates = self.task.specification.templates;
        let point = self.diff.point.clone();
        if templates.is_empty() || point.kind == Kind::Loop {
            return;
        }
        let wanted: BTreeSet<String> = templates.iter().flat_map(WrittenTemplate::places).collect();
        let classes: Vec<ClassId> = point.nodes.keys().copied().collect();
        let (mut known, mut rows) = (BTreeMap::new(), BTreeMap::new());
        let mut candidates: BTreeSet<Candidate> = BTreeSet::new();
        for &c in &classes {
            let here = self.known_places(c, &point, &wanted);
            let seen = self.rows(c, &point, here.keys().cloned().collect());
            candidates.extend(self.written_candidates(&here, &seen));
            let applies = |t: &&WrittenTemplate| t.places().iter().all(|p| here.contains_key(p));
            self.diff.applied.extend(templates.iter().filter(applies).map(|t| t.text.clone()));
            known.insert(c, here);
            rows.insert(c, seen);
        }
        let candidates: Vec<Candidate> = candidates.into_iter().collect();
        let mut standings: Vec<BTreeMap<ClassId, Standing>> =
            candidates.iter().map(|_| BTreeMap::new()).collect();
        for &c in &classes {
            let fits = |x: &&Candidate| x.variables().iter().all(|v| known[&c].contains_key(*v));
            let here: Vec<Candidate> = candidates.iter().filter(fits).cloned().collect();
            let shown: BTreeSet<Candidate> =
                self.shown_together(c, &point, &here, &known[&c], &rows[&c]).into_iter().cloned().collect();
            for (candidate, standing) in candidates.iter().zip(&mut standings) {
                if here.contains(candidate) {
                    let holds = shown.contains(candidate);
                    let found = self.try_candidate((c, &point), candidate, &known[&c], &rows[&c], holds);
                    standing.insert(c, found);
                }
            }
        }
        for (candidate, standing) in candidates.iter().zip(&standings) {
            self.diff.asked.insert(Formula::read(observable::shown(&candidate.text())).text().to_owned());
            self.consolidate_relation(candidate, standing);
        }
    }

    /// The candidates of the templates whose places are all known.
    pub(in crate::invariant) fn written_candidates(
        &self,
        known: &BTreeMap<String, Known>,
        rows: &Rows,
    ) -> Vec<Candidate> {
        let Some(unit) = self.task.units.last() else { return Vec::new() };
        let applies = |t: &&WrittenTemplate| t.places().iter().all(|p| known.contains_key(p));
        let here: Vec<&WrittenTemplate> = self.task.specification.templates.iter().filter(applies).collect();
        if here.is_empty() {
            return Vec::new();
        }
        let values = |row| -> Row {
            Box::new(move |x: &str| {
                let ty = &known.get(x)?.ty;
                number(samples::Row::value(row, rows.column(x)?)?, ty).filter(|_| !ty.is_pointer())
            })
        };
        let seen: Vec<Row> = rows.rows.iter().map(values).collect();
        here.into_iter().flat_map(|t| t.relations(unit.data_model, &seen)).map(Candidate::Written).collect()
    }

    /// The values of places in one class at a point, as far as they are there.
    fn known_places(
        &mut self,
        class: ClassId,
        point: &Point,
        wanted: &BTreeSet<String>,
    ) -> BTreeMap<String, Known> {
        let mut known = BTreeMap::new();
        let bare = |x: &String| x.strip_prefix("\\old(").and_then(|x| x.strip_suffix(')')).map(str::to_owned);
        let named: BTreeSet<String> = wanted.iter().map(|x| bare(x).unwrap_or_else(|| x.clone())).collect();
        let single = ClassSet::single(class);
        let graph = self.task.graph;
        for s in observable::at(graph, point.kind) {
            let is_value = matches!(s, Observable::Result | Observable::Variable { .. });
            if !is_value || !named.contains(&s.key()) {
                continue;
            }
            let Some(ty) = observable::type_of(graph, &s, class) else { continue };
            for (_, val) in observable::values_at(&mut self.e, &s, point, &single) {
                if let Some(k) = self.as_known(class, ty.clone(), val) {
                    known.insert(s.key(), k);
                }
            }
        }
        let (unit, body) = (self.task.units[class].clone(), graph.bodies[class].clone());
        for name in named.iter().filter(|n| !n.starts_with('\\')) {
            if observable::find_var(&body, name, 0).is_some() {
                continue;
            }
            let mut scope = Entry { pool: &mut self.e.pool, unit: &unit, body: &body, last: None };
            if let Some(place) = written::address(name, &mut scope) {
                self.known_place(class, point, place, name, &mut known);
            }
        }
        for name in wanted.iter().filter_map(bare) {
            self.known_before(class, point, &name, &mut known);
        }
        known.retain(|name, _| wanted.contains(name));
        known
    }
}
