//! Which assertions of the older version are gone in the newer one, or say less there.
//!
//! What counts is the place: an assertion that a text diff keeps is kept. One that it does not keep stands in a
//! *gap*, between two statements that both versions have; what is asserted in the same gap of the newer version
//! took its place. A text that is asserted elsewhere, too, tells nothing.

use super::differencing::is_weaker;
use super::planted::Written;
use crate::ir::{Function, NodeId, TermPool};
use crate::mvicfg::{ClassId, Mvicfg};
use crate::smt;
use crate::symex::{Answers, Counts, Questions, Site, Sites};
use std::collections::{BTreeMap, BTreeSet};

/// An assertion of the older version.
pub struct Lost {
    pub was: Site,
    /// What took its place.
    pub now: Option<Site>,
    /// What its text became, at whatever place.
    pub text_became: Option<Site>,
}

/// Statements by their numbers: what stands before and behind a gap in the newer version.
type Gap = (Option<u32>, Option<u32>);

/// Returns the assertions of the older version that the newer one does not have, or not as strong, and the
/// questions that it took. `pairs`: which took the place of which by their texts. Cost: an alignment, and a question
/// for each clause.
pub fn lost(old: Written, new: Written, pairs: &[(Site, Site)], limits: smt::Limits) -> (Vec<Lost>, u64) {
    let mut pool = TermPool::new();
    let before = Sites::of(old.function, old.unit, &mut pool);
    let after = Sites::of(new.function, new.unit, &mut pool);
    let graph = Mvicfg::build(vec![old.function.clone(), new.function.clone()]);
    let places = Places::of(&graph, &before, &after);
    let (mut known, mut counts) = (Answers::new(), Counts::default());
    let mut questions = Questions::new(&mut known, limits);
    let mut found = Vec::new();
    for (gap, was) in &places.old {
        let was_there = before.sites[*was].clone();
        let text_became = pairs.iter().find(|(o, _)| *o == was_there).map(|(_, n)| n.clone());
        let now = match places.successor(*gap, *was, (&before, &after), pairs) {
            Successor::One(now) => now,
            Successor::None => {
                found.push(Lost { was: was_there, now: None, text_became });
                continue;
            }
            Successor::Unclear => continue,
        };
        let formulas = (before.formula(*was), after.formula(now));
        if is_weaker(&mut pool, &mut questions, &mut counts, formulas) {
            found.push(Lost { was: was_there, now: Some(after.sites[now].clone()), text_became });
        }
    }
    (found, counts.queries)
}

enum Successor {
    None,
    One(usize),
    Unclear,
}

/// The assertions that only one version has, each with its gap, in the order of the source.
struct Places {
    old: Vec<(Gap, usize)>,
    new: Vec<(Gap, usize)>,
}

impl Places {
    fn of(graph: &Mvicfg, before: &Sites, after: &Sites) -> Places {
        let [old, new] = graph.bodies.as_slice() else { return Places { old: Vec::new(), new: Vec::new() } };
        // Statements that both have, by the number in the older one.
        let inner = (0..old.nodes.len() as u32)
            .map(NodeId)
            .filter(|n| ![Function::ENTRY, Function::EXIT].contains(n));
        let shared = inner.filter_map(|n| {
            let there = graph.origin(graph.node_map[0][n.0 as usize], ClassId::NEW)?;
            Some((old.node(n).stmt.0, new.node(there).stmt.0))
        });
        let shared: BTreeMap<u32, u32> = shared.collect();
        let images: BTreeSet<u32> = shared.values().copied().collect();
        let in_old = |s: u32| -> Gap {
            (shared.range(..s).next_back().map(|(_, t)| *t), shared.range(s..).next().map(|(_, t)| *t))
        };
        let in_new =
            |t: u32| -> Gap { (images.range(..t).next_back().copied(), images.range(t..).next().copied()) };
        let alone =
            |f: &Function, sites: &Sites, is_shared: &dyn Fn(u32) -> bool| -> BTreeSet<(u32, usize)> {
                let all = sites.regions.iter().map(|r| (f.node(r.fail).stmt.0, r.site));
                all.filter(|(s, _)| !is_shared(*s)).collect()
            };
        let olds = alone(old, before, &|s| shared.contains_key(&s));
        let news = alone(new, after, &|t| images.contains(&t));
        Places {
            old: olds.into_iter().map(|(s, site)| (in_old(s), site)).collect(),
            new: news.into_iter().map(|(t, site)| (in_new(t), site)).collect(),
        }
    }

    /// What took the place of an assertion.
    fn successor(
        &self,
        gap: Gap,
        was: usize,
        (before, after): (&Sites, &Sites),
        pairs: &[(Site, Site)],
    ) -> Successor {
        let of = |all: &[(Gap, usize)]| -> Vec<usize> {
            all.iter().filter(|(g, _)| *g == gap).map(|(_, site)| *site).collect()
        };
        let (olds, news) = (of(&self.old), of(&self.new));
        let by_text = pairs.iter().find(|(o, _)| *o == before.sites[was]);
        let by_text = by_text.and_then(|(_, n)| after.sites.iter().position(|s| s == n));
        match by_text {
            Some(now) if news.contains(&now) => return Successor::One(now),
            // What cannot fail has no place.
            Some(now) if news.is_empty() && after.regions.iter().all(|r| r.site != now) => {
                return Successor::One(now);
            }
            _ => {}
        }
        let place = olds.iter().position(|site| *site == was);
        match place.and_then(|k| news.get(k)) {
            _ if news.is_empty() => Successor::None,
            Some(now) if olds.len() == news.len() => Successor::One(*now),
            _ => Successor::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{self, c};
    use crate::history::MemoryTree;
    use crate::ir::Unit;
    use std::path::Path;
    use std::sync::Arc;

    /// A function with this body.
    fn load(body: &str) -> (Arc<Unit>, Arc<Function>) {
        let text = format!("#include <assert.h>\nint f(int x, int y)\n{{\n{body}\nreturn x;\n}}\n");
        let tree = MemoryTree::new([("a.c", text.as_str())]);
        let loaded = frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).expect("C");
        let f = loaded.unit.functions.first().expect("a function").clone();
        (Arc::new(loaded.unit), f)
    }

    /// Expects `old -> new` for each, in the order of the source.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let (old, new) = (load(old), load(new));
        let (a, b) = (Written { function: &old.1, unit: &old.0 }, Written { function: &new.1, unit: &new.0 });
        let (found, _) = lost(a, b, &[], smt::Limits::default());
        let now = |l: &Lost| l.now.as_ref().map_or("-".to_owned(), |s| s.text.clone());
        let found: Vec<String> = found.iter().map(|l| format!("{} -> {}", l.was.text, now(l))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_says_less_at_the_same_place_is_found() {
        check("assert(x > 0);", "assert(x >= 0);", &["x > 0 -> x >= 0"]);
        check("assert(x > 0);", "assert(x > 1);", &[]);
        check("assert(x > 0);", "assert(0 < x);", &[]);
        check("assert(x > 0 && y > 0);", "assert(y > 0);", &["x > 0 && y > 0 -> y > 0"]);
        check("assert(x > 0);", "x++;", &["x > 0 -> -"]);
        check("assert(x > 0);\nassert(y > 0);", "assert(x > 1);\nassert(y > -1);", &["y > 0 -> y > -1"]);
    }

    #[test]
    fn what_stands_elsewhere_takes_no_place() {
        check("assert(x > 0);\ny++;", "y++;\nassert(x >= 0);", &["x > 0 -> -"]);
        check("assert(x > 0);\ny++;\nassert(x >= 0);", "y++;\nassert(x >= 0);", &["x > 0 -> -"]);
        // Of two it is not clear which.
        check("assert(x > 0);", "assert(x > -1);\nassert(x > -2);", &[]);
    }
}
