//! The conditions of changes in words: the literals of two paths over names of the point.
//!
//! Bounds of one value are joined into ranges, tests that are written alike are told apart by their lines, and what no
//! name of the point can say is said by the operand of its test as it stands in the source.

use super::calls::decayed;
use super::follow::Known;
use super::machine::{Event, Literal};
use super::macros::{self, Macros};
use super::side::{expansion, successor};
use super::texts::{LONGEST_CONDITION, is_operand, is_plain};
use super::words::{self, Speaker};
use super::{rounds, source_tests};
use crate::ir::{FileId, Instr, Node, Op, Term, TermId, TermPool};
use crate::mvicfg::{ClassId, Loop, MvId};
use crate::semantics::c_text::{Naming, render};
use std::collections::{BTreeMap, BTreeSet};

/// Tests that are told of a long condition.
const MOST_TOLD: usize = 2;

/// What a call gave in some pairs of paths, and the nodes at which either version makes it.
type OneCall = (BTreeSet<TermId>, BTreeSet<MvId>);

/// One literal of a condition in words, and how one would say that it does not hold.
struct Said {
    literal: Literal,
    text: String,
    negation: String,
}

impl<'s> Speaker<'s> {
    /// A test by its place in the source, with its text where it stands there by itself.
    pub(super) fn test(&self, literal: &Literal) -> String {
        self.test_told(literal, false)
    }

    /// The same; `is_apart`: with what tells it from another test of its words, its place among those of its line or
    /// the version that makes it.
    fn test_told(&self, literal: &Literal, is_apart: bool) -> String {
        let class = literal.class;
        let only = self.graph.node(literal.node).classes.len() == 1;
        // What both versions have is told by where it is now, unless one of them is meant.
        let line = self.line(if only || is_apart { class } else { ClassId::NEW }, literal.node);
        let version = match class == ClassId::OLD {
            true if only || is_apart => " before",
            false if !only && is_apart => " now",
            _ => "",
        };
        let expansion = expansion(self.graph, class, literal.node);
        let place = match self.place_on_line(literal).filter(|_| is_apart) {
            Some(k) => format!("{} test of line {line}{version}", ordinal(k)),
            None => format!("line {line}{version}"),
        };
        let place = place + &expansion.map(|of| format!(", {}", of.name)).unwrap_or_default();
        if let Some(head) = self.run_to_its_end(literal) {
            return format!("the loop of line {}{version} runs to its end", self.line(class, head));
        }
        let text = self.written_test(literal);
        // What a round found is not what holds before the first.
        if let (Some(head), Some(text)) = (self.left(literal), &text) {
            let found = match literal.holds {
                true => text.clone(),
                false => source_tests::negated(text).unwrap_or_else(|| format!("!({text})")),
            };
            return format!("the loop of line {}{version} finds {found} ({place})", self.line(class, head));
        }
        match (text, literal.holds) {
            (Some(text), true) => format!("{text} ({place})"),
            (Some(text), false) if is_operand(&text) => format!("!{text} ({place})"),
            (Some(text), false) if let Some(turned) = source_tests::negated(&text) => {
                format!("{turned} ({place})")
            }
            (Some(text), false) => format!("!({text}) ({place})"),
            (None, _) if let Some(told) = self.passed(literal, version) => told,
            (None, holds) => {
                let name = expansion.map(|m| format!(" ({})", m.name)).unwrap_or_default();
                let word = if holds { "holds" } else { "fails" };
                let which = match self.place_on_line(literal) {
                    // Beside others of the line that is said of these.
                    Some(0) if !is_apart => "the".to_owned(),
                    Some(k) => format!("the {}", ordinal(k)),
                    None if self.is_one_of_several(literal) => "a".to_owned(),
                    None => "the".to_owned(),
                };
                format!("{which} test of line {line}{name}{version} {word}")
            }
        }
    }

    fn said_by_test(&self, literal: Literal, is_apart: bool) -> Said {
        let told = |holds: bool| self.test_told(&Literal { holds, ..literal }, is_apart);
        Said { literal, text: told(literal.holds), negation: told(!literal.holds) }
    }

    /// What a test tests, as it stands in the source, or in the definition of the macro that it comes out of.
    fn written_test(&self, literal: &Literal) -> Option<String> {
        let class = literal.class;
        let origin = self.graph.origin(literal.node, class)?;
        let body = &self.graph.bodies[class];
        let source = |line: u32| (self.source)(class, line);
        let Some(of) = expansion(self.graph, class, literal.node) else {
            return source_tests::operand(body, origin, &source);
        };
        let arguments = || self.written_arguments(class, self.line(class, literal.node), &of.name);
        source_tests::operand_of_macro(body, origin, &source, &arguments)
    }

    /// Which one a test is, from 0, of those of its line that come out of the same macro or none, where they are several.
    fn place_on_line(&self, literal: &Literal) -> Option<usize> {
        // What both versions have is told by its line now.
        let class =
            if self.graph.node(literal.node).classes.len() == 1 { literal.class } else { ClassId::NEW };
        let body = &self.graph.bodies[class];
        let origin = self.graph.origin(literal.node, class)?;
        let name = |n: &Node| n.span.expansion.as_ref().map(|of| of.name.clone());
        let own = body.node(origin);
        let is_beside = |n: &Node| {
            matches!(n.instr, Instr::Branch { .. }) && n.span.line == own.span.line && name(n) == name(own)
        };
        let beside: Vec<usize> = (0..body.nodes.len()).filter(|k| is_beside(&body.nodes[*k])).collect();
        beside.iter().position(|k| *k == origin.0 as usize).filter(|_| beside.len() > 1)
    }

    /// Of a test without words: the loop that it leaves, or the use of a macro that ends in nothing else than it.
    fn passed(&self, literal: &Literal, version: &str) -> Option<String> {
        let (class, node) = (literal.class, literal.node);
        let leads_to = |holds: bool| successor(self.graph, class, node, u8::from(!holds));
        let side = self.sides[class];
        let body = &self.graph.bodies[class];
        let stmt = |node: MvId| Some(body.node(self.graph.origin(node, class)?).stmt);
        // A test of the loop's own, not one of what it does.
        let left = |l: &&Loop| {
            l.body.contains(&node)
                && stmt(node) == stmt(l.head)
                && leads_to(literal.holds).is_some_and(|to| !l.body.contains(&to))
        };
        if let Some(own) = side.flow.loops.iter().filter(left).max_by_key(|l| l.body.len()) {
            return Some(format!("behind the loop of line {}{version}", self.line(class, own.head)));
        }
        // Of `assert(a && b)` that `a` holds says nothing of both.
        if self.is_one_of_several(literal) {
            return None;
        }
        let name = &expansion(self.graph, class, node)?.name;
        let ends = |holds: bool| {
            let to = leads_to(holds).map(|to| &self.graph.node(to).instr);
            matches!(to, Some(Instr::Call { noreturn: true, .. }))
        };
        let word = match (ends(literal.holds), ends(!literal.holds)) {
            (true, false) => "fails",
            (false, true) => "holds",
            _ => return None,
        };
        let line = self.line(class, node);
        let words = self.written_arguments(class, line, name)?.join(", ");
        Some(format!("{name}({words}) {word} (line {line}{version})"))
    }

    /// Whether a test is one of several in its statement: an operand of `&&` or `||`.
    fn is_one_of_several(&self, literal: &Literal) -> bool {
        let body = &self.graph.bodies[literal.class];
        let Some(origin) = self.graph.origin(literal.node, literal.class) else { return false };
        let of_statement = body.nodes.iter().filter(|n| n.stmt == body.node(origin).stmt);
        of_statement.filter(|n| matches!(n.instr, Instr::Branch { .. })).count() > 1
    }

    /// The head of the loop that a path ran as a whole, where it left it by the tests that it begins with.
    fn run_to_its_end(&self, literal: &Literal) -> Option<MvId> {
        let own = self.loop_left(literal)?;
        rounds::opening(self.graph, literal.class, own).contains(&literal.node).then_some(own.head)
    }

    /// The head of the loop that a path ran as a whole, where a literal says by which edge it left it.
    fn left(&self, literal: &Literal) -> Option<MvId> {
        self.loop_left(literal).map(|own| own.head)
    }

    fn loop_left(&self, literal: &Literal) -> Option<&'s Loop> {
        let Term::Leaf(leaf) = self.pool.get(literal.term) else { return None };
        let side = self.sides[literal.class];
        let left = side.flow.loops.iter().filter(|l| l.body.contains(&literal.node));
        left.max_by_key(|l| l.body.len()).filter(|_| rounds::is_exit(leaf))
    }

    /// Adds the line to the names of results of calls that are written alike and are different calls.
    fn tell_calls_apart(&self, namings: &mut [Naming<'s>; 2], all: &[Vec<Event>; 2]) {
        // By words: calls that are one, each by their results and nodes.
        let mut groups: BTreeMap<String, Vec<OneCall>> = BTreeMap::new();
        for (naming, events) in namings.iter().zip(all) {
            for event in events {
                let Some(result) = event.result else { continue };
                let Some(named) = naming.names.get(&result) else { continue };
                let calls = groups.entry(named.text.clone()).or_default();
                let is_one =
                    |(results, nodes): &OneCall| results.contains(&result) || nodes.contains(&event.node);
                let (mut same, others): (Vec<_>, Vec<_>) =
                    std::mem::take(calls).into_iter().partition(is_one);
                same.push((BTreeSet::from([result]), BTreeSet::from([event.node])));
                let whole = same.into_iter().reduce(|mut a, b| {
                    a.0.extend(b.0);
                    a.1.extend(b.1);
                    a
                });
                *calls = others;
                calls.extend(whole);
            }
        }
        for (class, (naming, events)) in ClassId::PAIR.into_iter().zip(namings.iter_mut().zip(all)) {
            let mut done = BTreeSet::new();
            for event in events {
                let Some(result) = event.result.filter(|r| done.insert(*r)) else { continue };
                let Some(named) = naming.names_mut().get_mut(&result) else { continue };
                if groups.get(&named.text).is_some_and(|calls| calls.len() > 1) {
                    let is_old = class == ClassId::OLD && self.graph.node(event.node).classes.len() == 1;
                    let before = if is_old { " before" } else { "" };
                    let line = self.graph.line(event.node, class);
                    named.text = format!("{} (line {line}{before})", named.text);
                }
            }
        }
    }

    /// A conjunction of conditions, empty: always; and the part of a long one that the change made.
    pub(super) fn condition(
        &mut self,
        literals: &[Literal],
        events: &[[Vec<Event>; 2]],
    ) -> (String, Option<String>) {
        let mut said: Vec<Said> = Vec::new();
        let all = ClassId::PAIR
            .map(|class| events.iter().flat_map(|e| e[class].iter().cloned()).collect::<Vec<Event>>());
        let mut namings = ClassId::PAIR.map(|class| self.as_now(class, &all[class]));
        self.tell_calls_apart(&mut namings, &all);
        let combined = combined(self.pool, literals);
        let is_one_of_several = combined.len() > 1;
        for (term, literal) in combined {
            let mut naming = namings[literal.class].clone();
            naming.macros = self.macros_of(&naming, &literal);
            let text = decayed(&render(self.pool, term, &naming));
            said.push(match is_plain(&text) && text.chars().count() <= LONGEST_CONDITION {
                false => self.said_by_test(literal, false),
                true => {
                    let is_choice = is_one_of_several && self.pool.as_op(term, Op::Or).is_some();
                    let negation = self.pool.not(term);
                    let negation = decayed(&render(self.pool, negation, &naming));
                    Said { literal, negation, text: if is_choice { format!("({text})") } else { text } }
                }
            });
        }
        // The same words for two things: each is told by its test.
        let unsigned = |text: &str| text.replace("!=", "==");
        let is_double = |k: usize| {
            said.iter().enumerate().any(|(j, s)| j != k && unsigned(&s.text) == unsigned(&said[k].text))
        };
        let doubles: Vec<usize> = (0..said.len()).filter(|k| is_double(*k)).collect();
        for k in doubles {
            said[k] = self.said_by_test(said[k].literal, false);
        }
        // Nor do two tests contradict one another of which one holds and one does not.
        let is_contradicted = |k: usize| said.iter().any(|other| other.text == said[k].negation);
        let opposites: Vec<usize> = (0..said.len()).filter(|k| is_contradicted(*k)).collect();
        for k in opposites {
            said[k] = self.said_by_test(said[k].literal, true);
        }
        // One test that both make, each in a state of its own.
        let is_of_both = |k: usize| {
            let of = |k: usize| (said[k].literal.node, said[k].literal.class, said[k].literal.term);
            let (node, class, term) = of(k);
            let is_common = self.graph.node(node).classes.len() == 2;
            is_common && (0..said.len()).map(of).any(|(n, c, t)| n == node && c != class && t != term)
        };
        let of_both: Vec<usize> = (0..said.len()).filter(|k| is_of_both(*k)).collect();
        for k in of_both {
            said[k] = self.said_by_test(said[k].literal, true);
        }
        let mut parts: Vec<(String, bool)> = Vec::new();
        for said in said {
            if parts.iter().all(|(known, _)| *known != said.text) {
                parts.push((said.text, self.is_made(&said.literal)));
            }
        }
        let whole = parts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" && ");
        let short = part(&parts).filter(|_| whole.chars().count() > LONGEST_CONDITION);
        (whole, short)
    }

    /// Names of constants where a test is told.
    fn macros_of(&self, naming: &Naming, literal: &Literal) -> Macros {
        let (class, known) = (literal.class, naming.macros.clone());
        let body = &self.graph.bodies[class];
        let Some(origin) = self.graph.origin(literal.node, class) else { return known };
        let span = &body.node(origin).span;
        match span.file == FileId(0) && span.line > 0 {
            true => {
                let units = self.sides.map(|side| side.version.unit);
                macros::written_on(&known, units, class, span.line..=span.end_line.max(span.line))
            }
            false => known,
        }
    }

    /// Whether a test is one that the change made or took away, or the one from which the versions part.
    fn is_made(&self, literal: &Literal) -> bool {
        self.graph.node(literal.node).classes.len() == 1 || literal.node == self.frontier.node
    }
}

/// 0 is `1st`.
fn ordinal(k: usize) -> String {
    let n = k + 1;
    let end = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}

/// The parts of a conjunction that the change made, with how many others there are; `None` where that is no shorter.
fn part(parts: &[(String, bool)]) -> Option<String> {
    let is_made = parts.iter().any(|(_, is_made)| *is_made);
    let own = parts.iter().filter(|(_, made)| *made || !is_made).take(MOST_TOLD);
    let own: Vec<&str> = own.map(|(text, _)| text.as_str()).collect();
    match parts.len().saturating_sub(own.len()) {
        // One is as soon read as counted.
        0 | 1 => None,
        more => Some(format!("{} && … ({more} more)", own.join(" && "))),
    }
}

/// One conjunction for two: where one implies the other, or they differ in one literal and its negation.
pub(super) fn joined(pool: &mut TermPool, a: &[Literal], b: &[Literal]) -> Option<Vec<Literal>> {
    let terms = |of: &[Literal]| of.iter().map(|l| l.term).collect::<Vec<TermId>>();
    let (x, y) = (terms(a), terms(b));
    if x.iter().all(|t| y.contains(t)) {
        return Some(a.to_vec());
    }
    if y.iter().all(|t| x.contains(t)) {
        return Some(b.to_vec());
    }
    let only_a: Vec<TermId> = x.iter().copied().filter(|t| !y.contains(t)).collect();
    let only_b: Vec<TermId> = y.iter().copied().filter(|t| !x.contains(t)).collect();
    let ([p], [q]) = (only_a.as_slice(), only_b.as_slice()) else { return None };
    let negation = pool.not(*p);
    (negation == *q).then(|| a.iter().copied().filter(|l| l.term != *p).collect())
}

/// Joins differences with the same effects whose conditions differ in one test's outcome only.
pub(super) fn merge(pool: &mut TermPool, said: &mut Vec<words::Said>) {
    let mut merged = true;
    while merged {
        merged = false;
        'pairs: for i in 0..said.len() {
            for j in i + 1..said.len() {
                if (&said[i].before, &said[i].now) != (&said[j].before, &said[j].now) {
                    continue;
                }
                if let Some(literals) = joined(pool, &said[i].literals, &said[j].literals) {
                    said[i].literals = literals;
                    said.remove(j);
                    merged = true;
                    break 'pairs;
                }
            }
        }
    }
}

/// Conditions without those that others imply; two bounds that meet are an equation.
fn combined(pool: &mut TermPool, literals: &[Literal]) -> Vec<(TermId, Literal)> {
    let mut all: Vec<(TermId, Literal)> = Vec::new();
    for l in literals {
        if !all.iter().any(|(t, _)| *t == l.term) {
            all.push((l.term, *l));
        }
    }
    meet(pool, &mut all);
    bound(pool, &mut all);
    let mut k = 0;
    while k < all.len() && all.len() > 1 {
        let others: Vec<TermId> =
            all.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, (t, _))| *t).collect();
        let known = Known::of(pool, &others);
        match known.is_true(pool, all[k].0) {
            true => _ = all.remove(k),
            false => k += 1,
        }
    }
    all
}

/// Two terms each of which is at most the other are equal.
fn meet(pool: &mut TermPool, all: &mut Vec<(TermId, Literal)>) {
    let mut k = 0;
    while k < all.len() {
        let mut equation = None;
        for op in [Op::Sle, Op::Ule] {
            let Some(&[a, b]) = pool.as_op(all[k].0, op) else { continue };
            let swapped = |t: TermId| pool.as_op(t, op) == Some(&[b, a][..]);
            if let Some(j) = all.iter().position(|(t, _)| swapped(*t)) {
                equation = Some((j, a, b));
            }
        }
        if let Some((j, a, b)) = equation {
            all[k].0 = pool.eq(a, b);
            all.remove(j);
            k = 0;
            continue;
        }
        k += 1;
    }
}

/// A bound of a term by a constant: whether it is read as signed, and the range that the bound leaves.
fn range(pool: &TermPool, t: TermId) -> Option<(bool, TermId, i128, i128)> {
    let read = |signed: bool, t: TermId| {
        let c = pool.as_const(t)?;
        if signed { c.signed() } else { c.unsigned().and_then(|u| i128::try_from(u).ok()) }
    };
    for (op, signed, by) in [(Op::Sle, true, 0), (Op::Slt, true, 1), (Op::Ule, false, 0), (Op::Ult, false, 1)]
    {
        let Some(&[a, b]) = pool.as_op(t, op) else { continue };
        return match (read(signed, a), read(signed, b)) {
            (None, Some(k)) => Some((signed, a, i128::MIN, k - by)),
            (Some(k), None) => Some((signed, b, k + by, i128::MAX)),
            _ => None,
        };
    }
    None
}

/// Of several bounds of one term the tightest; where they leave one number, that.
fn bound(pool: &mut TermPool, all: &mut Vec<(TermId, Literal)>) {
    let mut k = 0;
    while k < all.len() {
        let Some((signed, x, low, high)) = range(pool, all[k].0) else {
            k += 1;
            continue;
        };
        let other = (0..all.len()).filter(|j| *j != k).find_map(|j| {
            let (s, y, l, h) = range(pool, all[j].0)?;
            ((s, y) == (signed, x)).then_some((j, l, h))
        });
        match other {
            // Implied by the other.
            Some((_, l, h)) if l >= low && h <= high => _ = all.remove(k),
            Some((j, l, h)) if l.max(low) == h.min(high) => {
                let width = pool.sort(x).bits().unwrap_or(32);
                let number = pool.bv(width, l.max(low));
                all[k].0 = pool.eq(x, number);
                all.remove(j);
                k = 0;
            }
            _ => k += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ordinal, part};

    #[test]
    fn places_are_counted_as_one_says_them() {
        let said: Vec<String> = [0, 1, 2, 3, 10, 11, 12, 20, 110].into_iter().map(ordinal).collect();
        assert_eq!(said, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th"]);
    }

    #[test]
    fn of_a_long_condition_what_the_change_made_is_told() {
        for (parts, expected) in [
            (&["a", "+b", "c", "+d"][..], Some("b && d && … (2 more)")),
            (&["a", "+b"], None),
            // What both versions test is all there is.
            (&["a", "b", "c", "d"], Some("a && b && … (2 more)")),
            (&["+a", "+b"], None),
            (&["+a", "+b", "+c"], None),
            (&[], None),
        ] {
            let of = |p: &&str| (p.trim_start_matches('+').to_owned(), p.starts_with('+'));
            let parts: Vec<(String, bool)> = parts.iter().map(of).collect();
            assert_eq!(part(&parts).as_deref(), expected, "{parts:?}");
        }
    }
}
