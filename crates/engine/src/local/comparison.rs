//! The changes of a function: its regions, each compared and put in words.

use super::change::{Change, Delta, Verdict};
use super::compare::Comparer;
use super::difference::{Difference, Outcome};
use super::given::Calls;
use super::macros::{NamedValues, WORDS_BEFORE, WORDS_BEHIND};
use super::mistake::{Mistake, is_made};
use super::region::{self, Cuts, Frontier, Region};
use super::side::Side;
use super::stores::Timing;
use super::tested::Tested;
use super::widened::Widened;
use super::words::{Precision, Speaker};
use crate::mvicfg::{ClassId, Flow, MvId, Mvicfg};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Regions of one function that are looked at.
const MAX_REGIONS: usize = 200;

/// Two versions of a function in one graph, and what tells of their source.
pub(super) struct Comparison<'c> {
    pub graph: &'c Mvicfg,
    pub flow: &'c Flow,
    pub widened: &'c Widened,
    pub source: &'c dyn Fn(ClassId, u32) -> Option<String>,
    pub by_members: bool,
}

impl Comparison<'_> {
    /// Compares region by region, in the order of the nodes.
    pub fn changes(&self, comparer: &mut Comparer, cuts: Cuts) -> Vec<Change> {
        let liveness = comparer.liveness;
        let reachable =
            ClassId::PAIR.map(|c| self.flow.classes[c].rpo.iter().copied().collect::<BTreeSet<MvId>>());
        comparer.common = region::common_nodes(self.graph, self.flow, liveness, cuts);
        let regions = region::regions(self.graph, (&comparer.common, liveness, cuts), &reachable);
        let tested = match regions.is_empty() {
            true => None,
            false => Some(ClassId::PAIR.map(|c| Tested::of(self.graph, comparer.sides[c]))),
        };
        let calls = match regions.is_empty() {
            true => Calls::default(),
            false => Calls::of(self.graph, comparer.sides, &mut comparer.pool),
        };
        let mut changes: Vec<Change> = Vec::new();
        // Frontiers within what an earlier region was compared through, to where both do the same again, by the
        // number of that region's change.
        let mut covered: BTreeMap<MvId, usize> = BTreeMap::new();
        // By change: the edge that it comes by, and where that leads.
        let mut starts: BTreeMap<usize, Frontier> = BTreeMap::new();
        let from_nodes = region::told_from_nodes(self.graph, &regions);
        // By node that is told from: the number of its first edge's change.
        let mut by_node: BTreeMap<MvId, usize> = BTreeMap::new();
        for ((k, region), from_node) in regions.iter().enumerate().zip(from_nodes) {
            let start = region.frontier.node;
            let lines = ClassId::PAIR.map(|c| lines(self.graph, c, region));
            if let Some(change) = covered.get(&start).and_then(|k| changes.get_mut(*k)) {
                change.lines.iter_mut().zip(lines).for_each(|(known, more)| known.extend(more));
                #[cfg(test)]
                (change.way.covers = true);
                continue;
            }
            let held = |c: ClassId| {
                let of_class = tested.as_ref().map(|both| &both[c]);
                let tests = of_class.map(|t| t.at(self.graph, comparer.sides[c], region, from_node));
                tests.unwrap_or_default()
            };
            comparer.given = ClassId::PAIR.map(held);
            #[cfg(test)]
            let held = comparer.given.clone();
            let outcome = match k < MAX_REGIONS {
                true if is_made(Mistake::AllOpen) => Outcome::open("a mistake"),
                true => comparer.compare(region, from_node),
                false => Outcome::open("too many regions"),
            };
            let words = Rc::new(self.words(comparer.sides, &lines));
            // Of a version without lines of its own, what is told stands where its paths go.
            let has_own = ClassId::PAIR.map(|c| !lines[c].is_empty());
            let told = ClassId::PAIR.map(|c| match has_own[c] {
                true => lines[c].clone(),
                false => visited(self.graph, (c, region.frontier.to[c]), &outcome.differences),
            });
            let mut speaker = Speaker {
                words,
                macros: NamedValues::around(comparer.sides, &told, has_own),
                graph: self.graph,
                sides: comparer.sides,
                pool: &mut comparer.pool,
                frontier: region.frontier,
                source: self.source,
                widened: self.widened,
                precision: Precision::Names,
                calls: &calls,
                own: [None, None],
                timing: Timing::default(),
            };
            let mut said = speaker.deltas(&outcome.differences);
            if is_made(Mistake::DeltasLost) {
                said.truncate(1);
            }
            let wordless = said.iter().any(Option::is_none);
            let deltas: Vec<Delta> = said.into_iter().flatten().collect();
            let bare = deltas.iter().any(|d| d.when.is_empty());
            let flows = [&self.flow.classes[0], &self.flow.classes[1]];
            let tests = bare.then(|| speaker.tests(flows, region, from_node)).flatten();
            let apart = outcome.apart || speaker.timing.left_out;
            let open = outcome.open.or_else(|| wordless.then(|| "a difference that has no words".to_owned()));
            let verdict = match (&open, deltas.is_empty()) {
                (None, true) => Verdict::Neutral,
                (_, false) => Verdict::Differs,
                (Some(reason), true) => Verdict::Open(reason.clone()),
            };
            let is_neutral = verdict == Verdict::Neutral;
            // No state comes this way, or none to the change.
            let is_idle = is_neutral && outcome.passed.is_none();
            let change = Change {
                at: ClassId::PAIR.map(|c| place(self.graph, c, region, from_node)),
                lines,
                in_loop: loop_line(self.graph, self.flow, region),
                from_line: None,
                tests,
                verdict,
                deltas,
                rest: open,
                apart,
                valid: outcome.valid && !is_made(Mistake::AccessesGranted),
                unwrapped: outcome.unwrapped && !is_made(Mistake::SumsGranted),
                by_members: self.by_members,
                fits: outcome.fits,
                #[cfg(test)]
                way: super::change::Way {
                    frontier: region.frontier,
                    from_node,
                    is_later: region.is_later,
                    covers: false,
                    also: Vec::new(),
                    held: ClassId::PAIR
                        .into_iter()
                        .flat_map(|c| held[c].iter().map(move |t| (c, t.alternatives())))
                        .collect(),
                },
            };
            let known = by_node.get(&start).filter(|_| from_node).and_then(|k| changes.get_mut(*k));
            if let (Some(known), false) = (known, is_neutral) {
                known.joins(change);
                continue;
            }
            // Edges that lead to the same code differ in the tests that came before alone: what is told of one of them
            // cannot be on the other, unless it is told there.
            let is_twin =
                |f: &Frontier, known: &Change| f.to == region.frontier.to && known.lines == change.lines;
            let twin = starts.iter().find(|(k, f)| !from_node && is_twin(f, &changes[**k])).map(|(k, _)| *k);
            let leads_there = |k: usize| starts.get(&k).is_some_and(|f| f.to == region.frontier.to);
            let number = add(&mut changes, change, twin, &leads_there);
            if !is_idle && !from_node {
                starts.entry(number).or_insert(region.frontier);
            }
            if from_node && !is_neutral {
                by_node.insert(start, number);
            }
            if is_neutral {
                let through = |n: &&MvId| region::is_reached_by_alone(self.graph, &region.frontier, **n);
                covered.extend(outcome.passed.iter().flatten().filter(through).map(|n| (*n, number)));
            }
        }
        self.tell_ways(&mut changes, &starts);
        changes
    }

    /// Where control comes to the same lines in more than one way, and other things are told of these, each says
    /// which it means.
    fn tell_ways(&self, changes: &mut [Change], starts: &BTreeMap<usize, Frontier>) {
        let at: Vec<Option<u32>> = changes.iter().map(|c| c.at[1]).collect();
        for i in 0..at.len() {
            let line = starts.get(&i).map_or(0, |f| self.graph.line(f.node, ClassId::NEW));
            let is_other = |j: usize| {
                at[j] == at[i]
                    && starts.get(&j).is_some_and(|f| Some(f.node) != starts.get(&i).map(|f| f.node))
            };
            if line > 0 && at[i].is_some() && (0..at.len()).any(is_other) {
                changes[i].from_line = Some(line);
            }
        }
    }

    /// The words of both sources around a region, where they may tell members of unions apart.
    fn words(&self, sides: [&Side; 2], lines: &[BTreeSet<u32>; 2]) -> BTreeMap<String, u32> {
        let mut words = BTreeMap::new();
        if sides.iter().any(|side| side.layout.records.iter().any(|r| r.is_union)) {
            for (c, lines) in ClassId::PAIR.into_iter().zip(lines) {
                add_words_around(&mut words, lines, &|line| (self.source)(c, line));
            }
        }
        words
    }
}

/// Adds a region, once where several edges lead into the same code: of a loop's head the edge from its end is
/// told, and not the one from before it. `twin`: the change that leads to the same code by another edge;
/// `leads_there`: whether one that is known does. Returns its number.
fn add(
    changes: &mut Vec<Change>,
    change: Change,
    twin: Option<usize>,
    leads_there: &dyn Fn(usize) -> bool,
) -> usize {
    let when = |c: &Change| c.deltas.iter().map(|d| d.when.clone()).collect::<Vec<_>>();
    // Two statements of one line are told each.
    let is_same = |(k, c): (usize, &Change)| {
        c.lines == change.lines
            && c.verdict == change.verdict
            && (c.deltas == change.deltas || when(c) == when(&change) && leads_there(k))
    };
    let Some(k) = changes.iter().enumerate().position(is_same) else {
        if let Some((k, known)) = twin.and_then(|k| Some((k, changes.get_mut(k)?))) {
            known.comes_also(change);
            return k;
        }
        changes.push(change);
        return changes.len() - 1;
    };
    let known = &mut changes[k];
    // Come to by more than one edge: no test leads there by itself.
    let tests = known.tests.take().filter(|t| change.tests.as_ref() == Some(t));
    let rest = known.rest.clone().or_else(|| change.rest.clone());
    if change.in_loop.is_some() && known.in_loop.is_none() {
        *known = change;
    }
    (known.rest, known.tests) = (rest, tests);
    k
}

/// The line at which a region begins in a version.
fn place(graph: &Mvicfg, class: ClassId, region: &Region, from_node: bool) -> Option<u32> {
    let first = region.frontier.to[class];
    let own = (!from_node && region.nodes[class].contains(&first)).then(|| graph.line(first, class));
    let line = own.filter(|l| *l > 0).unwrap_or_else(|| graph.line(region.frontier.node, class));
    (line > 0).then_some(line)
}

fn lines(graph: &Mvicfg, class: ClassId, region: &Region) -> BTreeSet<u32> {
    let body = &graph.bodies[class];
    let mut lines = BTreeSet::new();
    for node in region.nodes[class].iter().filter(|n| graph.node(**n).classes.len() == 1) {
        let Some(origin) = graph.origin(*node, class) else { continue };
        let span = &body.node(origin).span;
        if span.file == body.span.file && span.line > 0 {
            lines.extend(span.line..=span.end_line.clamp(span.line, span.line + 20));
        }
    }
    lines
}

/// The lines that paths of a version go through from a node on.
fn visited(graph: &Mvicfg, (class, from): (ClassId, MvId), differences: &[Difference]) -> BTreeSet<u32> {
    let nodes = differences.iter().flat_map(|d| &d.visited[class]).chain([&from]);
    nodes.map(|n| graph.line(*n, class)).filter(|line| *line > 0).collect()
}

fn loop_line(graph: &Mvicfg, flow: &Flow, region: &Region) -> Option<u32> {
    let flow = &flow.classes[1];
    // What stands behind a loop is reached from its head, and is not in it.
    let first = Some(region.frontier.to[1]).filter(|to| region.nodes[1].contains(to));
    let l = flow.innermost.get(region.frontier.node.0 as usize).copied().flatten()?;
    if first.is_some_and(|first| !flow.loops.get(l).is_some_and(|l| l.body.contains(&first))) {
        return None;
    }
    let line = graph.line(flow.loops.get(l)?.head, ClassId::NEW);
    (line > 0).then_some(line)
}

/// Adds the words of the source around some lines, by how many lines they are away; twice that, and of what does not
/// stand behind `.` or `->`, which may be no member, one more.
fn add_words_around(
    words: &mut BTreeMap<String, u32>,
    lines: &BTreeSet<u32>,
    source: &dyn Fn(u32) -> Option<String>,
) {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    // The tests that lead to a place come before it.
    for line in first.saturating_sub(WORDS_BEFORE).max(1)..=(*last).min(first + WORDS_BEHIND) {
        let away = lines.iter().map(|l| l.abs_diff(line)).min().unwrap_or(u32::MAX);
        let is_other = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let text = source(line).unwrap_or_default();
        let mut at = 0;
        for word in text.split(is_other) {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let is_member = before.ends_with('.') || before.ends_with("->");
            let away = away.saturating_mul(2).saturating_add(u32::from(!is_member));
            // Behind the word, and what ends it.
            at += word.len()
                + text.get(at + word.len()..).and_then(|t| t.chars().next()).map_or(0, char::len_utf8);
            let known = words.entry(word.to_owned()).or_insert(away);
            *known = away.min(*known);
        }
    }
}
