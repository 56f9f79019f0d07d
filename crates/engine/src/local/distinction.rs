//! What tells calls and results apart that are written alike in both versions and differ.
//!
//! `foreign(c)` is given another value where `c` has another type, or where a statement before it sets `c` to
//! something that has no short words. The type is told, or the statement; else which argument it is.

use super::difference::{Difference, Item};
use super::effect::{Effect, EffectKind, Verb, Words, says_the_same};
use super::machine::Event;
use super::side::call_types;
use super::words::{Precision, Speaker};
use crate::ir::{App, CType, Callee, Instr, Node, Op, Term, TermId, TermPool};
use crate::mvicfg::{ClassId, MvId};
use crate::semantics::type_text::spelled;
use std::sync::Arc;

/// Characters of the longest statement, or argument, that is told.
const LONGEST: usize = 60;

/// What is said of a version that leaves the loop.
/// What is returned where no words say it.
pub(super) const ANOTHER: &str = "another value";

/// Values that differ, with the same words in both versions.
struct Alike {
    values: [TermId; 2],
    /// What a parameter, or a result, is declared as.
    declared: [Option<CType>; 2],
    nodes: [MvId; 2],
    /// What stands there in the source.
    place: String,
    /// What is said of both.
    text: String,
}

impl Speaker<'_> {
    /// Adds to the words of each version what makes them differ, where that is known.
    pub(super) fn tell_apart(&mut self, d: &Difference, said: [&mut Vec<Effect>; 2]) {
        let [before, now] = &said;
        let calls = if says_the_same(before, now) { self.alike_calls(d) } else { None };
        let results = || self.alike_results(d).filter(|_| returns_the_same(before, now));
        let Some(alike) = calls.or_else(results) else { return };
        let is_call = !alike.text.is_empty();
        let another = || is_call.then(|| ["".to_owned(), format!(" with another {}", alike.place)]);
        let types = self.types(&alike, d);
        let Some(remarks) = types.or_else(|| self.origins(&alike, d)).or_else(another) else { return };
        let is_it = |e: &&mut Effect| match is_call {
            true => e.call() == Some(&*alike.text),
            false => e.kind == EffectKind::Return,
        };
        for (effects, remark) in said.into_iter().zip(remarks) {
            if let Some(effect) = effects.iter_mut().find(is_it) {
                effect.words.remark.push_str(&remark);
            }
        }
    }

    /// Says more of where versions go on, where each of them goes on somewhere: the line, and whom it calls.
    pub(super) fn tell_ways_apart(&self, d: &Difference, said: [&mut Vec<Effect>; 2]) {
        use EffectKind::{Goto, LeaveLoop, NextRound};
        let goes_on = |e: &Effect| matches!(e.kind, Goto | LeaveLoop | NextRound);
        if !said.iter().all(|effects| effects.iter().any(goes_on)) || says_the_same(said[0], said[1]) {
            return;
        }
        let both_leave = said.iter().all(|effects| effects.iter().any(|e| e.kind == LeaveLoop));
        for (class, effects) in ClassId::PAIR.into_iter().zip(said) {
            let to = d.items[class].iter().find_map(|item| match item {
                Item::At(node) => Some(*node),
                _ => None,
            });
            let is_it = |e: &&mut Effect| e.kind == Goto || both_leave && e.kind == LeaveLoop;
            let Some((node, effect)) = to.zip(effects.iter_mut().find(is_it)) else { continue };
            let line = self.line(ClassId::NEW, node);
            let words = &mut effect.words;
            if words.verb == Verb::LeavesTheLoop && line > 0 {
                words.at = words.at.or(Some(line));
            }
            if let Some(name) = self.called(class, node).filter(|_| words.at == Some(line)) {
                words.remark.push_str(&format!(", which calls {name}()"));
            }
        }
    }

    /// Says of what is written alike that it has another value: a number that is wider now. `false`: nothing is there of
    /// which that could be said.
    pub(super) fn tell_values_apart(&self, d: &Difference, [before, now]: [&mut Vec<Effect>; 2]) -> bool {
        let is_value = |e: &&mut Effect| match e.kind {
            EffectKind::Call | EffectKind::Return => true,
            EffectKind::Value | EffectKind::Write => e.sets(),
            _ => false,
        };
        let (old, new) = (before.iter_mut().find(is_value), now.iter_mut().find(is_value));
        let Some(effect) = new else { return false };
        if let Some((name, types)) = self.retyped_variable(d)
            && let Some(old) =
                old.filter(|e| e.sets() && *e.words.of == *name && e.words.to.starts_with(" to "))
        {
            old.words.remark.push_str(&format!(" (as {})", types[0]));
            effect.words.remark.push_str(&format!(" (as {})", types[1]));
            return true;
        }
        // Neither has words.
        if effect.words == Words::new(Verb::Returns, ANOTHER) {
            before
                .iter_mut()
                .filter(|e| e.words == effect.words)
                .for_each(|e| e.words.of = "a value".to_owned());
            return true;
        }
        let is_bare = effect.sets() && !effect.words.to.contains(" to ");
        let remark = if is_bare { " to another value" } else { ", of another value" };
        effect.words.remark.push_str(remark);
        true
    }

    /// The first variable that both versions set and have by another type.
    fn retyped_variable(&self, d: &Difference) -> Option<(Arc<str>, [String; 2])> {
        let of = |class: ClassId| {
            d.items[class].iter().find_map(|item| match item {
                Item::Variable(v, _) => {
                    let own = self.graph.var_map[class].iter().position(|known| known == v)?;
                    self.graph.bodies[class].vars.get(own)
                }
                _ => None,
            })
        };
        let (old, new) = (of(ClassId::OLD)?, of(ClassId::NEW)?);
        let types = [spelled(&old.ty)?, spelled(&new.ty)?];
        (old.name == new.name && types[0] != types[1]).then(|| (new.name.clone(), types))
    }

    /// The function that the statement of a node calls last.
    fn called(&self, class: ClassId, node: MvId) -> Option<Arc<str>> {
        let body = &self.graph.bodies[class];
        let stmt = body.node(self.graph.origin(node, class)?).stmt;
        let of_stmt = body.nodes.iter().filter(|n| n.stmt == stmt);
        let name = |n: &Node| match &n.instr {
            // What reads `errno` is a call only to the library's header.
            Instr::Call { callee: Callee::Direct(name), .. } if !name.starts_with("__") => Some(name.clone()),
            _ => None,
        };
        of_stmt.filter_map(name).next_back()
    }

    /// The first argument that differs of two calls that stand in each other's place.
    fn alike_calls(&mut self, d: &Difference) -> Option<Alike> {
        let of = |item: &Item| match item {
            Item::Call(e) | Item::Ends(Some(e)) if !e.rounds => Some(e.clone()),
            _ => None,
        };
        let both: [Vec<Event>; 2] = ClassId::PAIR.map(|c| d.items[c].iter().filter_map(of).collect());
        let is_pair = |a: &Event, b: &Event| a.site == b.site && a.callee == b.callee && a.args != b.args;
        let mut pairs = both[0].iter().flat_map(|a| both[1].iter().map(move |b| (a, b)));
        let (old, new) = pairs.find(|(a, b)| is_pair(a, b))?;
        let k = old.args.iter().zip(&new.args).position(|(a, b)| a != b)?;
        let name = new.callee.as_ref()?;
        let words = self.written_arguments(ClassId::NEW, self.line(ClassId::NEW, new.node), name);
        let words = words.and_then(|words| words.get(k).cloned());
        let is_short = |w: &String| !w.is_empty() && w.chars().count() <= LONGEST;
        let precision = std::mem::replace(&mut self.precision, Precision::Source);
        let naming = self.naming(ClassId::NEW, &d.events[1]);
        let text = self.call(&naming, new);
        self.precision = precision;
        let declared = [old, new].map(|e| call_types(self.graph, e.class, e.node)?.1.get(k).cloned());
        Some(Alike {
            values: [old.args[k], new.args[k]],
            declared,
            nodes: [old.node, new.node],
            place: words.filter(is_short).unwrap_or_else(|| format!("argument {}", k + 1)),
            text,
        })
    }

    fn alike_results(&self, d: &Difference) -> Option<Alike> {
        let of = |c: ClassId| {
            d.items[c].iter().find_map(|item| match item {
                Item::Return(Some(value), node, _) => Some((*value, *node)),
                _ => None,
            })
        };
        let (old, new) = (of(ClassId::OLD)?, of(ClassId::NEW)?);
        (old.0 != new.0).then(|| Alike {
            values: [old.0, new.0],
            declared: ClassId::PAIR.map(|c| Some(self.graph.bodies[c].ret.clone())),
            nodes: [old.1, new.1],
            place: self.returned_words(ClassId::NEW, new.1).unwrap_or_default(),
            text: String::new(),
        })
    }

    /// The types of both values, where these differ: of the variables that they are, or as they are declared.
    fn types(&mut self, alike: &Alike, d: &Difference) -> Option<[String; 2]> {
        let named = ClassId::PAIR.map(|c| {
            let inner = unconverted(self.pool, alike.values[c]);
            self.naming(c, &d.events[c]).names.get(&inner).map(|named| named.ty.clone())
        });
        for (types, is_named) in [(&named, true), (&alike.declared, false)] {
            let [old, new] = ClassId::PAIR.map(|c| types[c].as_ref().and_then(spelled));
            if let (Some(old), Some(new)) = (old, new)
                && old != new
            {
                let with = if is_named || !alike.text.is_empty() { &*alike.place } else { "" };
                let with = if with.is_empty() { String::new() } else { format!(" with {with}") };
                return Some([old, new].map(|ty| format!("{with} as {ty}")));
            }
        }
        None
    }

    /// The statements that the values come from, where these differ.
    fn origins(&self, alike: &Alike, d: &Difference) -> Option<[String; 2]> {
        let found = ClassId::PAIR.map(|c| self.origin(c, alike, d));
        let after = |s: Option<String>| s.map(|s| format!(" after {s}")).unwrap_or_default();
        (found[0] != found[1]).then(|| found.map(after))
    }

    /// The last statement of a path before a place that sets what stands there.
    fn origin(&self, class: ClassId, alike: &Alike, d: &Difference) -> Option<String> {
        let end = self.line(class, alike.nodes[class]);
        let sets = |n: &&MvId| {
            matches!(
                self.graph.node(**n).instr,
                Instr::Assign { .. } | Instr::Store { .. } | Instr::Call { .. }
            )
        };
        let mut lines: Vec<u32> =
            d.visited[class].iter().filter(sets).map(|n| self.line(class, *n)).filter(|l| *l < end).collect();
        lines.sort_unstable();
        lines.iter().rev().find_map(|l| assignment(&(self.source)(class, *l)?, &alike.place))
    }
}

/// Whether both versions return the same words, whatever lines these stand at.
fn returns_the_same(before: &[Effect], now: &[Effect]) -> bool {
    let words = |effects: &[Effect]| {
        let last = effects.iter().find(|e| e.kind == EffectKind::Return)?;
        Some(Words { remark: String::new(), ..last.words.clone() })
    };
    words(before).is_some() && words(before) == words(now)
}

/// A term without the conversions around it.
fn unconverted(pool: &TermPool, mut t: TermId) -> TermId {
    while let Term::App(App::Op(Op::Sext(_) | Op::Zext(_) | Op::Trunc(_)), args) = pool.get(t)
        && let &[inner] = args.as_slice()
    {
        t = inner;
    }
    t
}

/// The assignment to a place in a line, as it stands there.
fn assignment(line: &str, place: &str) -> Option<String> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '>' | '[' | ']');
    if place.is_empty() || !place.chars().all(is_path) || line.matches('"').count() % 2 == 1 {
        return None;
    }
    // What has no semicolon behind it goes on in the next line.
    let (whole, _) = line.rsplit_once(';')?;
    let statements: Vec<&str> = whole.split(';').collect();
    statements.iter().rev().find_map(|statement| {
        let (at, _) = statement.match_indices(place).find(|(at, _)| {
            let (before, behind) = (&statement[..*at], statement[at + place.len()..].trim_start());
            !before.ends_with(|c: char| is_path(c) || c == '*') && is_assigned(behind)
        })?;
        let text = &statement[at..];
        let mut depth = 0i32;
        let end = text.find(|c: char| {
            depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
            depth < 0 || depth == 0 && c == ','
        });
        let text = text[..end.unwrap_or(text.len())].trim();
        (text.chars().count() <= LONGEST).then(|| text.to_owned())
    })
}

/// Whether a text begins with an operator that assigns to what stands before it.
fn is_assigned(text: &str) -> bool {
    let operator = text.trim_start_matches(|c: char| "+-*/%&|^<>".contains(c));
    let sign = &text[..text.len() - operator.len()];
    let is_equal = operator.starts_with('=') && !operator.starts_with("==") && !matches!(sign, "<" | ">");
    is_equal || matches!(sign, "++" | "--")
}

#[cfg(test)]
mod tests {
    use super::assignment;

    #[test]
    fn assignments_are_found_as_they_stand() {
        for (line, place, expected) in [
            ("    int x = a + 1;", "x", Some("x = a + 1")),
            ("for (x = 0; x < n; x++)", "x", Some("x = 0")),
            ("x += f(a, b), y = 2;", "x", Some("x += f(a, b)")),
            ("i = 1; x = 2; n--;", "x", Some("x = 2")),
            ("p->n = n;", "p->n", Some("p->n = n")),
            ("x <<= 2;", "x", Some("x <<= 2")),
            ("q->p->n = n; xx = 3; x == 2; x <= 4; *x = 3; f(x);", "p->n", None),
            ("q->p->n = n; xx = 3; x == 2; x <= 4; *x = 3; f(x);", "x", None),
            ("x = \"a;", "x", None),
            ("x = a +", "x", None),
            ("x = 1;", "x + 1", None),
        ] {
            assert_eq!(assignment(line, place).as_deref(), expected, "{line}");
        }
    }
}
