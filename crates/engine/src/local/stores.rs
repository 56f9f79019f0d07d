//! What an assignment writes, and to which place as it stands in the source: for places that no name of the point
//! leads to, such as what a call has just made.

use super::calls::{excerpt, whole_literal};
use super::difference::{Difference, Item};
use super::effect::{Effect, SOMEWHERE, Verb, Words, says_the_same};
use super::machine::Event;
use super::side::expansion;
use super::source_tests::MAX_LINES;
use super::texts::{current, is_plain, is_short};
use super::words::{Speaker, assigned};
use crate::ir::{App, Instr, Leaf, Op, Stmt, Term, TermId, VarId, VarKind};
use crate::mvicfg::{ClassId, MvId};
use crate::semantics::c_text::{Named, Naming, render, render_lvalue};
use std::collections::BTreeSet;

/// How the keys of compound literals begin.
const LITERAL: &str = "<literal>";
/// A volatile object without a name.
const VOLATILE: &str = "a volatile object";
/// An array of variable length without one.
const ARRAY: &str = "an array of variable length";
/// Terms of a value that are looked at.
const MOST_TERMS: usize = 200;
/// Characters of the longest place that is told.
const LONGEST: usize = 60;

/// Values that are told as what they are when they are written: calls before it may have changed what they read.
#[derive(Clone, Copy, Default)]
pub(super) struct Timing {
    pub is_asked: bool,
    /// Something was told so.
    pub is_used: bool,
    /// A difference that then reads alike in both versions was left out: it is one of what calls do.
    pub left_out: bool,
}

/// Whether all that a difference has is what is written.
pub(super) fn is_written(d: &Difference) -> bool {
    d.items.iter().flatten().all(|item| matches!(item, Item::Write { .. }))
}

/// The depth of a function's own statements.
const TOP: u32 = 1;

impl Speaker<'_> {
    /// A value in the words of the memory that calls left when it was written: ` to p->n + 1`. Where the version itself
    /// has written what it reads, it would be read as what that was before, and has no such words.
    pub(super) fn at_its_time(&mut self, naming: &Naming, place: &Named, item: &Item) -> Option<String> {
        let Item::Write { value, .. } = item else { return None };
        if !self.timing.is_asked {
            return None;
        }
        let (mut memories, mut addresses) = (BTreeSet::new(), BTreeSet::new());
        let mut left = vec![*value];
        let mut seen = BTreeSet::new();
        while let Some(t) = left.pop().filter(|_| seen.len() < MOST_TERMS) {
            match self.pool.get(t) {
                _ if !seen.insert(t) => {}
                Term::App(App::Load { .. }, args) => {
                    memories.extend(args.first().copied());
                    addresses.extend(args.get(1).copied());
                    left.extend(args.get(1).copied());
                }
                Term::App(App::Op(_), args) => left.extend(args.iter().copied()),
                _ => {}
            }
        }
        let &[memory] = memories.into_iter().collect::<Vec<_>>().as_slice() else { return None };
        let is_own = |t: TermId| match self.pool.get(t) {
            Term::App(App::Store { .. } | App::CopyBytes { .. } | App::ZeroBytes { .. }, args) => {
                args.get(1).is_some_and(|to| addresses.contains(to))
            }
            _ => false,
        };
        if self.pool.reachable(&[memory]).into_iter().any(is_own) {
            return None;
        }
        let told = current(self.pool, *value, memory);
        let text = assigned(self.pool, naming, (&place.text, &place.ty), told);
        let is_told = told != *value && is_short(&text) && text != place.text;
        self.timing.is_used |= is_told;
        is_told.then_some(text)
    }

    /// Of a long text that is written where the other version writes another one, the part in which they differ.
    pub(super) fn excerpt(&self, class: ClassId, item: &Item, d: &Difference) -> Option<String> {
        let written = |item: &Item| match item {
            Item::Write { address, value, .. } => Some((None, Some(*address), *value)),
            Item::Variable(v, value) => Some((Some(*v), None, *value)),
            _ => None,
        };
        let (var, address, value) = written(item)?;
        let others = d.items[class.other()].iter().filter_map(written);
        let (.., theirs) = others.into_iter().find(|(v, a, _)| (*v, *a) == (var, address))?;
        let own = whole_literal(self.pool, self.sides[class].layout, value)?;
        let theirs = whole_literal(self.pool, self.sides[class.other()].layout, theirs)?;
        Some(excerpt(&own, &theirs))
    }

    /// The volatile object that is read, or written and with what.
    pub(super) fn volatile(&mut self, naming: &Naming, event: &Event) -> (String, String) {
        let unknown = || (VOLATILE.to_owned(), String::new());
        let (Instr::Load { access, .. } | Instr::Store { access, .. }) = &self.graph.node(event.node).instr
        else {
            return unknown();
        };
        let Some((address, written)) = event.args.split_first() else { return unknown() };
        let address = current(self.pool, *address, event.memory.0);
        let place = render_lvalue(self.pool, address, access.sort, access.bytes, naming);
        let place = place.filter(|n| is_plain(&n.text));
        let text = match &place {
            Some(named) => named.text.clone(),
            None => self.assigned_place(event.class, event.node).unwrap_or_else(|| VOLATILE.to_owned()),
        };
        let ty = place.map_or_else(|| access.ty.clone(), |named| named.ty);
        let value = written.first().map(|v| assigned(self.pool, naming, (&text, &ty), *v));
        let to = value.filter(|v| is_short(v)).map(|value| format!(" to {value}"));
        (text, to.unwrap_or_default())
    }

    /// An array of variable length, with how many elements it has.
    pub(super) fn measured(&mut self, naming: &Naming, event: &Event) -> String {
        let Instr::Measure { var: Some(v), .. } = &self.graph.node(event.node).instr else {
            return ARRAY.to_owned();
        };
        let name = self.graph.vars[v.0 as usize].name.to_string();
        let lengths = event.args.iter().skip(2).map(|n| {
            let text = render(self.pool, *n, naming);
            if is_short(&text) { format!("[{text}]") } else { "[…]".to_owned() }
        });
        name + &lengths.collect::<String>()
    }

    /// Says of what each version sets by a statement of its own, to values that have no words, that it has another value
    /// now.
    pub(super) fn tell_rewritten(&mut self, d: &Difference, [before, now]: [&mut Vec<Effect>; 2]) {
        let is_bare = |w: &Words| w.verb == Verb::Sets && w.to.is_empty();
        let both = |e: &&mut Effect| is_bare(&e.words) && before.iter().any(|o| o.words == e.words);
        if says_the_same(before, now) || !now.iter_mut().any(|e| both(&e)) {
            return;
        }
        let [old, new] = ClassId::PAIR.map(|class| {
            let is_own = |item: &&Item| match item {
                Item::Write { node: Some(node), .. } => self.graph.origin(*node, class.other()).is_none(),
                _ => false,
            };
            let own: Vec<Item> = d.items[class].iter().filter(is_own).cloned().collect();
            own.iter().filter_map(|item| self.effect(class, item, d)).map(|e| e.words).collect::<Vec<_>>()
        });
        let is_rewritten = |e: &&mut Effect| both(e) && old.contains(&e.words) && new.contains(&e.words);
        for effect in now.iter_mut().filter(is_rewritten) {
            effect.words.to = " to another value".to_owned();
        }
    }

    /// Whether an item is a write to a local variable that the other version lacks.
    pub(super) fn is_in_own_local(&self, class: ClassId, item: &Item) -> bool {
        let others = &self.graph.bodies[class.other()].vars;
        self.written_local(item).is_some_and(|key| {
            let name = key.split('#').next().unwrap_or_default();
            !key.starts_with('%') && others.iter().all(|v| *v.name != *name)
        })
    }

    /// Whether an item is a write to a local variable of a block that this version alone runs, from its beginning to its
    /// end: it ends with the block.
    pub(super) fn is_in_own_block(&self, class: ClassId, item: &Item, d: &Difference) -> bool {
        let Some(key) = self.written_local(item) else { return false };
        if d.items[class.other()].iter().any(|other| self.written_local(other) == Some(key)) {
            return false;
        }
        let body = &self.graph.bodies[class];
        let declared = body.vars.iter().find(|v| *key == format!("{}#{}", v.name, v.ordinal));
        let Some(line) = declared.map(|v| v.span.line) else { return false };
        let is_it = |s: &Stmt| s.kind == "decl" && s.span.line == line && s.depth > TOP;
        let Some(at) = body.stmts.iter().position(is_it) else { return false };
        // The statements of its block, and of those within.
        let is_of_block = |s: &&Stmt| s.depth >= body.stmts[at].depth;
        let before = body.stmts[..at].iter().rev().take_while(is_of_block).count();
        let behind = body.stmts[at..].iter().take_while(is_of_block).count();
        let block = at - before..at + behind;
        let is_within = |node: MvId| {
            self.graph.origin(node, class).is_none_or(|n| block.contains(&(body.node(n).stmt.0 as usize)))
        };
        !is_within(self.frontier.node) && !d.ends[class].is_some_and(is_within)
    }

    /// The local variable that an item writes to, by its key.
    fn written_local(&self, item: &Item) -> Option<&str> {
        let (Item::Write { address, .. } | Item::Fill { address, .. }) = item else { return None };
        let mut parts = self.pool.as_op(*address, Op::Add).unwrap_or(std::slice::from_ref(address)).iter();
        parts.find_map(|t| match self.pool.get(*t) {
            Term::Leaf(Leaf::LocalAddr { key, .. }) => Some(&**key),
            _ => None,
        })
    }

    /// Whether an item is a write to a compound literal, which has no name: what it is made for is told.
    pub(super) fn is_in_literal(&self, item: &Item) -> bool {
        self.written_local(item).is_some_and(|key| key.starts_with(LITERAL))
    }

    /// Whether an address is that of an object without a name: what a statement assigns to is another place.
    pub(super) fn is_ours(&self, address: TermId) -> bool {
        let mut parts = self.pool.as_op(address, Op::Add).unwrap_or(std::slice::from_ref(&address)).iter();
        parts.any(
            |t| matches!(self.pool.get(*t), Term::Leaf(Leaf::LocalAddr { key, .. }) if key.starts_with('%')),
        )
    }

    /// A write to a place that only the source has a name for.
    pub(super) fn written_there(
        &self,
        class: ClassId,
        naming: &Naming,
        item: &Item,
        d: &Difference,
    ) -> Words {
        let somewhere = Words::says(SOMEWHERE);
        let Item::Write { address, value, node, .. } = item else { return somewhere };
        let node = node.filter(|_| !self.is_ours(*address));
        let Some(place) = node.and_then(|node| self.assigned_place(class, node)) else {
            return somewhere;
        };
        // A number has the type of a place that is not known here.
        let is_number = self.pool.as_const(*value).is_some();
        let value = render(self.pool, *value, naming);
        let told = (is_short(&value) && value != place).then(|| format!(" to {value}"));
        let written = if is_number || told.is_none() { self.as_written(class, item, d) } else { None };
        Words::sets(place, written.or(told).unwrap_or_default())
    }

    /// The place that the statement of a node assigns to, where it does so once and by itself.
    pub(super) fn assigned_place(&self, class: ClassId, node: MvId) -> Option<String> {
        if expansion(self.graph, class, node).is_some() {
            return None;
        }
        let Assignment { place, .. } = assignment(&self.statement(class, node)?)?;
        let body = &self.graph.bodies[class];
        let stmt = body.node(self.graph.origin(node, class)?).stmt;
        match body.stmts.get(stmt.0 as usize).is_some_and(|s| s.kind == "decl") {
            true => place.split('[').next().map(str::to_owned),
            false => Some(place),
        }
    }

    /// What is written, as the source has it, where no value says it shortly: ` to c->on ? 1 : 0`, or the macro that
    /// does it: ` by SET(c, on)`. What else the code writes must not be named in it: it would be read as what that was
    /// before.
    pub(super) fn as_written(&self, class: ClassId, item: &Item, d: &Difference) -> Option<String> {
        let Item::Write { node: Some(node), .. } = item else { return None };
        if let Some(used) = expansion(self.graph, class, *node) {
            let words = self.written_arguments(class, self.line(class, *node), &used.name)?;
            let text = format!("{}({})", used.name, words.join(", "));
            return is_short(&text).then(|| format!(" by {text}"));
        }
        let Assignment { place, value } = assignment(&self.statement(class, *node)?)?;
        let value = value.filter(|text| is_short(text) && !text.contains(&place))?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = value.split(|c| !is_word(c)).collect();
        // A variable that is assigned to again has had other values.
        let body = self.graph.bodies.get(class.index())?;
        let written: Vec<VarId> = body.nodes.iter().filter_map(|n| n.instr.written()).collect();
        let is_steady = |v: VarId| {
            let first = usize::from(body.var(v).kind != VarKind::Param);
            !body.var(v).in_memory && written.iter().filter(|w| **w == v).count() <= first
        };
        let mut named =
            (0..body.vars.len() as u32).map(VarId).filter(|v| words.contains(&*body.var(*v).name));
        if !named.all(is_steady) {
            return None;
        }
        let is_other = |other: &Item| match other {
            Item::Write { node: Some(other), .. } if other != node => {
                let written = self.statement(class, *other).and_then(|text| assignment(&text));
                written.is_none_or(|other| value.contains(&other.place))
            }
            _ => false,
        };
        (!d.items[class].iter().any(is_other)).then(|| format!(" to {value}"))
    }

    /// The text from a node's place on.
    fn statement(&self, class: ClassId, node: MvId) -> Option<String> {
        let span = &self.graph.bodies[class].node(self.graph.origin(node, class)?).span;
        let mut text = String::new();
        for line in span.line..span.line + MAX_LINES {
            text.push_str(&(self.source)(class, line).unwrap_or_default());
            text.push(' ');
        }
        let start = usize::try_from(span.col).ok()?.checked_sub(1)?;
        text.get(start..).map(str::to_owned)
    }
}

/// A volatile object is told as what is written to it, and once; that it is read, where nothing else is told.
pub(super) fn tell_objects_once(effects: &mut Vec<Effect>) {
    let is_read = |e: &Effect| e.words.verb == Verb::Reads;
    if effects.iter().any(|e| !is_read(e)) {
        effects.retain(|e| !is_read(e));
    }
    let all: Vec<Words> = effects.iter().map(|e| e.words.clone()).collect();
    let mut k = 0;
    effects.retain(|e| {
        k += 1;
        let says_more = |other: &Words| {
            let is_same = other.verb == Verb::Sets && other.of == e.words.of;
            is_same && e.words.to.is_empty() && other.to.starts_with(" to ")
        };
        let is_told = |(at, other): (usize, &Words)| says_more(other) || at + 1 < k && *other == e.words;
        !e.sets() || !all.iter().enumerate().any(is_told)
    });
}

/// An assignment as it stands in the source.
struct Assignment {
    place: String,
    /// What is assigned, where that is all that becomes of the place.
    value: Option<String>,
}

/// The only assignment of the statement with which a text begins.
fn assignment(text: &str) -> Option<Assignment> {
    let statement = &text[..text.find(';')?];
    let (left, right) = match statement.find('=') {
        Some(at) => (&statement[..at], &statement[at + 1..]),
        None => (statement.trim_end().strip_suffix("++").or(statement.trim_end().strip_suffix("--"))?, ""),
    };
    let place = left.trim_end_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    // Comments, directives and texts are not taken apart.
    let value = right.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_value = left.len() == place.len() && is_balanced(&value) && !value.is_empty();
    let is_other =
        |value: &String| value.contains(['"', '\'', '#']) || ["/*", "//"].iter().any(|m| value.contains(m));
    let value = Some(value).filter(|value| is_value && !is_other(value));
    let place: String = place.trim().trim_end_matches("[]").replace(" ->", "->").replace("-> ", "->");
    let is_place = |c: char| c.is_ascii_alphanumeric() || "_.->[]()*&+ ".contains(c);
    // A word behind a word is a declaration; what is compared, called or assigned again is no place alone.
    let is_one = !right.contains('=') && !place.contains(", ") && is_balanced(&place);
    let is_declared = place.split(' ').map(str::trim).collect::<Vec<_>>().windows(2).any(|w| {
        let is_end = |c: char| c.is_ascii_alphanumeric() || c == '_';
        w[0].ends_with(is_end) && w[1].starts_with(|c: char| is_end(c) || c == '*')
    });
    let is_shown = place.chars().all(is_place) && place.chars().count() <= LONGEST && !place.is_empty();
    let begins = place.starts_with(|c: char| c.is_ascii_alphabetic() || "_*(".contains(c));
    (is_one && is_shown && begins && !is_declared).then_some(Assignment { place, value })
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0i32;
    let is_open = text.chars().all(|c| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        depth >= 0
    });
    is_open && depth == 0
}

#[cfg(test)]
mod tests {
    use super::assignment;

    #[test]
    fn the_place_of_an_assignment_is_read() {
        for (text, expected) in [
            ("rctx->fid = i; more = 2;", Some("rctx->fid")),
            ("fdcon[s].sent =\n 0;", Some("fdcon[s].sent")),
            ("*p++ = 'x';", Some("*p++")),
            ("(*list)->last += 2;", Some("(*list)->last")),
            ("p->n++;", Some("p->n")),
            ("int x = 1;", None),
            ("char *x = 1;", None),
            ("a = b = 1;", None),
            ("if ((r = f(x)) != 0) return;", None),
            ("x == y;", None),
            ("f(x);", None),
            ("= 1;", None),
            ("x = 1", None),
        ] {
            assert_eq!(assignment(text).map(|a| a.place).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_value_of_an_assignment_is_read() {
        for (text, expected) in [
            ("p->on = c->on ? 1 : 0; more = 2;", Some("c->on ? 1 : 0")),
            ("s.sent =\n  f(a,\n b);", Some("f(a, b)")),
            ("n += 2;", None),
            ("n++;", None),
            ("c = ';';", None),
            ("s = \"x\";", None),
            ("x = a /* b; c */ + 1;", None),
            ("x = a // b\n + 1;", None),
            ("x = a\n#if B\n + 1\n#endif\n;", None),
            ("x = f(a;", None),
        ] {
            assert_eq!(assignment(text).and_then(|a| a.value).as_deref(), expected, "{text}");
        }
    }
}
