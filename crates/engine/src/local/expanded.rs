//! What macros do, told by the macros' own calls: `warn(_("%s"), path)` for the three functions that it stands for,
//! `TAILQ_INIT(&list)` for the two members that it sets.
//!
//! A use of a macro is told where each call that a path makes out of it is to be told; where both versions would say
//! the same then, the functions are told as ever. Of its arguments those are shown that are the same whenever they
//! are evaluated, or that a call of the use has, too.

use super::calls::{argument_words, shortened};
use super::difference::{Difference, Item};
use super::effect::{Effect, EffectKind, Verb, Words};
use super::machine::Event;
use super::side::expansion;
use super::source_tests;
use super::texts::{is_name, is_short};
use super::words::{Precision, Speaker};
use crate::ir::{FileId, Function, VarId, VarKind};
use crate::mvicfg::{ClassId, MvId};
use crate::semantics::c_text::Naming;
use std::collections::BTreeMap;

/// Lines that one use is spread over.
const MOST_LINES: u32 = 8;

/// Places that a macro writes which makes no call, and is told all the same.
const FEWEST_WRITES: usize = 2;

/// A use of a macro, by its name and the line that it begins on.
type Use = (String, u32);

impl Speaker<'_> {
    /// By item of a version: the use that is told in its place, or nothing where an item before it tells it.
    pub(super) fn uses(&mut self, class: ClassId, d: &Difference) -> BTreeMap<usize, Option<Effect>> {
        let mut told = BTreeMap::new();
        if self.precision != Precision::Names {
            return told;
        }
        let (own, others) = (self.uses_of(class, d), self.uses_of(class.other(), d));
        // In what two that read alike differ, the functions tell.
        let own: Vec<_> =
            own.into_iter().filter(|(_, text, _)| others.iter().all(|o| o.1 != *text)).collect();
        // Calls of two uses that follow one another may be matched crosswise: what both versions write is no news
        // beside what one does.
        let stays: Vec<bool> = own.iter().map(|(line, ..)| self.is_written_in_both(class, *line)).collect();
        let has_news = stays.contains(&false);
        for ((line, text, items), stays) in own.into_iter().zip(stays) {
            told.extend(items.iter().map(|k| (*k, None)));
            if stays && has_news {
                continue;
            }
            // A use that does not return is told by that.
            let is_end = |item: &Item| matches!(item, Item::Ends(Some(e)) if items.iter().any(|k| is_call_at(&d.items[class][*k], e.node)));
            let (at, kind, verb) = match d.items[class].iter().position(is_end) {
                Some(end) => (Some(end), EffectKind::End, Verb::EndsIn),
                None => (items.first().copied(), EffectKind::Call, Verb::Calls),
            };
            let effect = Effect { kind, words: Words::new(verb, text), line: Some(line) };
            told.extend(at.map(|k| (k, Some(effect))));
        }
        told
    }

    /// Whether something that stands on a line of a version stands on the same words in the other.
    fn is_written_in_both(&self, class: ClassId, line: u32) -> bool {
        let text = |class: ClassId, line: u32| (self.source)(class, line).map(|text| text.trim().to_owned());
        let of_line = |n: &MvId| {
            let node = self.graph.node(*n);
            ClassId::PAIR.iter().all(|c| node.classes.contains(*c)) && self.line(class, *n) == line
        };
        let nodes = (0..self.graph.nodes.len()).map(|n| MvId(n as u32)).filter(of_line);
        let own = text(class, line);
        own.is_some()
            && nodes.map(|n| text(class.other(), self.line(class.other(), n))).any(|other| other == own)
    }

    /// The uses of which all calls that a version makes are to be told: by line and words, with the items.
    fn uses_of(&mut self, class: ClassId, d: &Difference) -> Vec<(u32, String, Vec<usize>)> {
        let mut items: BTreeMap<Use, Vec<usize>> = BTreeMap::new();
        for (k, item) in d.items[class].iter().enumerate() {
            let of = match item {
                Item::Call(event) => self.macro_use(class, event),
                Item::Write { node, .. } | Item::Fill { node, .. } => {
                    node.and_then(|node| self.writing_use(class, node))
                }
                _ => None,
            };
            if let Some(of) = of {
                items.entry(of).or_default().push(k);
            }
        }
        let mut found = Vec::new();
        for (of, all) in items {
            if self.is_defined_anew(class, &of, d, &all) {
                continue;
            }
            // One place that is written has a name of its own.
            let calls = all.iter().any(|k| matches!(d.items[class][*k], Item::Call(_)));
            if !calls && all.len() < FEWEST_WRITES {
                continue;
            }
            let told = |e: &Event| {
                all.iter().any(|k| matches!(&d.items[class][*k], Item::Call(told) if told.node == e.node))
            };
            let mut made = d.events[class].iter().filter(|e| self.macro_use(class, e).as_ref() == Some(&of));
            if made.all(told)
                && !self.is_told_by_functions(class, d, &all)
                && let Some(text) = self.use_text(class, d, (&of, &all))
            {
                found.push((of.1, text, all));
            }
        }
        found
    }

    /// Whether a macro of the file means something else in the other version, or nothing: its name says nothing to who
    /// knows the other, and what it does is the news.
    fn is_defined_anew(&self, class: ClassId, of: &Use, d: &Difference, all: &[usize]) -> bool {
        /// Lines in which a definition is looked for.
        const MOST: u32 = 20_000;
        let node = |item: &Item| match item {
            Item::Call(event) => Some(event.node),
            Item::Write { node, .. } | Item::Fill { node, .. } => *node,
            _ => None,
        };
        let mut uses = all.iter().filter_map(|k| expansion(self.graph, class, node(&d.items[class][*k])?));
        let Some((file, line)) = uses.find_map(|used| used.spelled) else { return false };
        let of_version = |class: ClassId, line: u32| {
            source_tests::definition(&of.0, line, &|line| (self.source)(class, line))
        };
        let Some(own) = of_version(class, line).filter(|_| file == FileId(0)) else { return false };
        let other = class.other();
        let lines = (1..MOST).map_while(|line| Some((line, (self.source)(other, line)?)));
        let mut theirs = lines.filter(|(_, text)| source_tests::defines(text, &of.0)).map(|(line, _)| line);
        !theirs.any(|line| of_version(other, line).as_ref() == Some(&own))
    }

    /// Whether the other version makes one of the calls, or another in its place, without a macro: they are told in the
    /// same words.
    fn is_told_by_functions(&self, class: ClassId, d: &Difference, all: &[usize]) -> bool {
        let call = |item: &Item| if let Item::Call(event) = item { Some(event.clone()) } else { None };
        let sites: Vec<_> = all.iter().filter_map(|k| call(&d.items[class][*k])).map(|e| e.site).collect();
        let others = d.items[class.other()].iter().filter_map(call);
        others.filter(|o| sites.contains(&o.site)).any(|o| self.macro_use(class.other(), &o).is_none())
    }

    /// The use of a macro that a call comes out of; of a call that an argument makes none.
    fn macro_use(&self, class: ClassId, event: &Event) -> Option<Use> {
        let name = &expansion(self.graph, class, event.node).filter(|_| !event.rounds)?.name;
        let line = self.line(class, event.node);
        let callee = event.callee.as_deref()?;
        let is_argument = |words: Vec<String>| words.iter().any(|w| called(w).any(|name| name == callee));
        (!self.written_arguments(class, line, name).is_some_and(is_argument)).then(|| (name.clone(), line))
    }

    /// The use of a macro that an assignment comes out of.
    fn writing_use(&self, class: ClassId, node: MvId) -> Option<Use> {
        let name = &expansion(self.graph, class, node)?.name;
        let line = self.line(class, node);
        self.written_arguments(class, line, name).map(|_| (name.clone(), line))
    }

    fn use_text(
        &mut self,
        class: ClassId,
        d: &Difference,
        ((name, line), all): (&Use, &[usize]),
    ) -> Option<String> {
        let events = all.iter().filter_map(|k| match &d.items[class][*k] {
            Item::Call(event) => Some(event),
            _ => None,
        });
        let events: Vec<&Event> = events.collect();
        // The header of a library may say by a macro what the function of that name does.
        if events.iter().any(|e| {
            e.callee.as_deref().is_none_or(|callee| callee == name || callee.starts_with("__invdiff"))
        }) {
            return None;
        }
        let words = self.written_arguments(class, *line, name)?;
        let unit = self.sides[class].version.unit;
        // What another macro calls in an argument would not be told.
        let is_function = |name: &str| {
            unit.functions.iter().any(|f| *f.name == *name)
                || unit.prototypes.iter().any(|p| *p.name == *name)
        };
        let is_known =
            |w: &String| text_of(w).is_some() || called(w).all(|name| name == "sizeof" || is_function(name));
        if !words.iter().all(is_known) {
            return None;
        }
        let naming = self.naming(class, &d.events[class]);
        let shown: Vec<String> = events.iter().flat_map(|e| self.argument_texts(&naming, e)).collect();
        let body = &self.graph.bodies[class];
        let is_variable =
            |w: &str| body.vars.iter().any(|v| *v.name == *w) || unit.globals.iter().any(|g| *g.name == *w);
        let told = |word: String| {
            let is_size = word.starts_with("sizeof") && is_short(&word);
            let is_kept = |w: &str| {
                body.vars.iter().zip(0..).any(|(v, k)| {
                    *v.name == *w && (is_never_written(body, VarId(k)) || self.is_kept(class, VarId(k), d))
                })
            };
            let is_place = word.strip_prefix('&').is_some_and(is_name);
            let is_same = is_number(&word)
                || is_name(&word) && (!is_variable(&word) || is_kept(&word))
                || word.is_empty()
                || is_size
                || is_place;
            let shown = |word: &str| shown.iter().any(|s| s == word);
            match text_of(&word) {
                Some(text) => text,
                None if is_same || shown(&word) => word,
                None if shown(uncast(&word)) => uncast(&word).to_owned(),
                None => "…".to_owned(),
            }
        };
        let words = words.into_iter().map(told);
        Some(shortened(name, words.collect()))
    }

    /// Whether a variable has the value all along a path that it has where the path begins.
    fn is_kept(&self, class: ClassId, v: VarId, d: &Difference) -> bool {
        let Some(merged) = self.graph.var_map[class].get(v.0 as usize) else { return false };
        let is_run = d.events[class].iter().any(|e| e.rounds);
        let writes = |n: &MvId| self.graph.node(*n).instr.written() == Some(*merged);
        !is_run && !self.graph.bodies[class].var(v).in_memory && !d.visited[class].iter().any(writes)
    }

    /// The words of each argument of a call.
    fn argument_texts(&mut self, naming: &Naming, event: &Event) -> Vec<String> {
        let text = self.call(naming, event);
        let callee = event.callee.as_deref().unwrap_or_default();
        argument_words(&text, callee).unwrap_or_default()
    }

    /// The arguments of a macro's, or a function's, only use on a line, which may go on behind it. Where comments or
    /// directives stand among them they are not read.
    pub(super) fn written_arguments(&self, class: ClassId, line: u32, name: &str) -> Option<Vec<String>> {
        let mut text = (self.source)(class, line)?;
        for more in 1..=MOST_LINES {
            if let Some(words) = argument_words(&text, name) {
                return Some(words);
            }
            let next = (self.source)(class, line + more)?;
            let next = next.trim();
            let is_other = |text: &str| ["//", "/*"].iter().any(|mark| text.contains(mark));
            if !text.contains(name) || next.starts_with('#') || is_other(&text) || is_other(next) {
                return None;
            }
            text.push(' ');
            text.push_str(next);
        }
        None
    }
}

fn is_call_at(item: &Item, node: MvId) -> bool {
    matches!(item, Item::Call(e) if e.node == node)
}

/// Whether a variable is what it is from the beginning: a parameter that nothing is assigned to.
fn is_never_written(body: &Function, v: VarId) -> bool {
    let var = body.var(v);
    var.kind == VarKind::Param && !var.in_memory && body.nodes.iter().all(|n| n.instr.written() != Some(v))
}

/// A string, or one that is handed to a function or a macro alone: `_("text")`. Strings behind one another are one.
fn text_of(word: &str) -> Option<String> {
    let (open, inner, close) = match word.split_once('(') {
        Some((name, rest)) if is_name(name) => (format!("{name}("), rest.strip_suffix(')')?, ")"),
        _ => (String::new(), word, ""),
    };
    let mut text = String::new();
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let part = rest.strip_prefix('"')?;
        let mut escaped = false;
        let end = part.find(|c: char| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        text.push_str(&part[..end]);
        rest = part[end + 1..].trim_start();
    }
    (!inner.trim().is_empty()).then(|| format!("{open}\"{text}\"{close}"))
}

/// What stands behind a cast: `(int)pid`.
fn uncast(word: &str) -> &str {
    let inside = |w: &str| w.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | '*'));
    match word.strip_prefix('(').and_then(|w| w.split_once(')')) {
        Some((ty, rest)) if inside(ty) && !rest.trim().is_empty() => rest.trim(),
        _ => word,
    }
}

/// The names behind which a bracket opens.
fn called(word: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.match_indices('(').filter_map(move |(at, _)| {
        let before = word[..at].trim_end();
        let start = before.rfind(|c| !is_part(c)).map_or(0, |i| i + 1);
        Some(&before[start..]).filter(|name| is_name(name))
    })
}

fn is_number(word: &str) -> bool {
    word.strip_prefix('-').unwrap_or(word).starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::{called, text_of, uncast};

    #[test]
    fn strings_behind_one_another_are_one() {
        for (word, expected) in [
            ("\"a\"", Some("\"a\"")),
            ("_(\"a %s\"\t\"b\")", Some("_(\"a %s\u{62}\")")),
            ("\"a\\\"\" \"b\"", Some("\"a\\\"b\"")),
            ("\"a\" SEP \"b\"", None),
            ("_(x)", None),
            ("f(\"a\", 1)", None),
            ("", None),
            ("\"a", None),
        ] {
            assert_eq!(text_of(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn casts_and_calls_are_seen() {
        for (word, rest) in [
            ("(int)pid", "pid"),
            ("(void *) esp", "esp"),
            ("(a + b)", "(a + b)"),
            ("(x)", "(x)"),
            ("f(x)", "f(x)"),
        ] {
            assert_eq!(uncast(word), rest);
        }
        assert_eq!(called("f (a, g(b)) + (c)").collect::<Vec<_>>(), ["f", "g"]);
    }
}
