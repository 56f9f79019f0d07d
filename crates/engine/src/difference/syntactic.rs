//! diffCond (Beyer et al.), the syntactic detector: both programs are followed for as long as their
//! operations are the same; the first one that is not begins what has to be verified.

use super::automaton::Loc;
use super::body::Kind;
use super::graph::{Builder, Edge, Graph, Role};
use super::model::Model;
use std::collections::{BTreeMap, VecDeque};

type Pair = (Loc, Loc);

/// Runs the detector.
pub(super) fn graph(model: &Model) -> Graph {
    let builder = Builder::new(&model.new, &model.new_functions);
    let first = (model.old.start(), model.new.start());
    if !model.start.is_empty() {
        return Graph::everything(builder.place(first.1));
    }
    let mut graph = Graph { nodes: vec![(builder.place(first.1), Role::Aligned)], edges: Vec::new() };
    let mut pairs: BTreeMap<Pair, usize> = BTreeMap::from([(first, 0)]);
    let mut bugs: BTreeMap<Loc, usize> = BTreeMap::new();
    let mut work = VecDeque::from([first]);
    while let Some(pair) = work.pop_front() {
        let from = pairs[&pair];
        for (label, at, partner) in successors(model, pair) {
            let next = graph.nodes.len();
            let to = match partner {
                Some(old) => *pairs.entry((old, at)).or_insert(next),
                None => *bugs.entry(at).or_insert(next),
            };
            if to == next {
                let role = if partner.is_some() { Role::Aligned } else { Role::Bug };
                graph.nodes.push((builder.place(at), role));
                work.extend(partner.map(|old| (old, at)));
            }
            graph.edges.push(Edge { from, label, to });
        }
    }
    if graph.edges.is_empty() && differs_at_once(model, first) {
        return Graph::everything(builder.place(first.1));
    }
    graph
}

/// The modified program begins with an operation of its own that nothing follows.
fn differs_at_once(model: &Model, (old, new): Pair) -> bool {
    let (was, is) = (model.old.step(old), model.new.step(new));
    let both_end = matches!((&was.kind, &is.kind), (Kind::Leave, Kind::Leave));
    !both_end && (was.text != is.text)
}

/// Labels and targets of the modified program's operations, with where the original one is then if it
/// did the same.
fn successors(model: &Model, (old, new): Pair) -> Vec<(usize, Loc, Option<Loc>)> {
    let (was, is) = (model.old.step(old), model.new.step(new));
    let same_text = was.text == is.text;
    match (&was.kind, &is.kind) {
        (_, Kind::Skip | Kind::Fail | Kind::Halt) => Vec::new(),
        (_, Kind::Leave) => {
            let Some((caller, Some(next))) = model.new.leave(new) else { return Vec::new() };
            let alike = matches!(was.kind, Kind::Leave)
                && model.old.body(old).frame == model.new.body(new).frame
                && model
                    .old
                    .leave(old)
                    .is_some_and(|(c, _)| model.old.step(c).text == model.new.step(caller).text);
            vec![(0, next, model.old.leave(old).and_then(|(_, n)| n).filter(|_| alike))]
        }
        (_, Kind::Call(call)) => match (model.old.entered(old), model.new.entered(new)) {
            (was_in, Some(body)) => {
                let alike = same_text
                    && was_in.is_some_and(|b| model.old.bodies[b].frame == model.new.bodies[body].frame);
                let partner = was_in.filter(|_| alike).map(|b| model.old.enter(old, b));
                vec![(0, model.new.enter(new, body), partner)]
            }
            (was_in, None) => {
                let alike = same_text && was_in.is_none() && model.is_same_call(was, call);
                let partner = model.old.succ(old, 0).filter(|_| alike);
                // What happens within the call is to be verified, too, if it is another one.
                let next = model.new.succ(new, 0).or((!alike).then_some(new));
                next.map(|n| (0, n, partner)).into_iter().collect()
            }
        },
        (_, Kind::Plain | Kind::Branch(_)) => {
            let labels = 0..model.new.succs(new).len();
            let edge = |label: usize| {
                let partner = model.old.succ(old, label).filter(|_| same_text);
                Some((label, model.new.succ(new, label)?, partner))
            };
            labels.filter_map(edge).collect()
        }
    }
}
