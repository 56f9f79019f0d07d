//! Structures that nobody declared: their members are guessed from how the unit uses them.
//!
//! `desc->type` on a type of a header that is missing says that there is a member `type`, and how it is used
//! says what it holds: it is called, followed as a pointer, indexed, has members itself, or else is a number.
//! Where a member lies is nobody's to know. It gets a place that follows from its name alone, so that two
//! versions of a unit, and two units of a version, agree on it whichever members each of them mentions; members
//! whose names fall on one place move on, in the order of their names. No two members overlap: that a type is a
//! union is not seen. Every function that uses such a type says so (`invented-type(T)`, see `honesty`).

use super::super::scan::{Item, ItemKind, Text, Words};
use super::{INVENTED, Kind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

/// Room for members in an invented structure, by how many structures hold it in one another: places of eight bytes,
/// and behind them places of members that are structures themselves.
const ROOM: [(usize, usize); 4] = [(128, 4), (16, 2), (8, 1), (4, 0)];

/// All places of a structure, those of what it holds included.
fn size(level: usize) -> usize {
    ROOM.get(level).map_or(0, |(plain, inner)| plain + inner * size(level + 1))
}

/// Structures within each other, by value or through pointers, that are followed from one use.
const DEPTH: usize = 4;

/// What a member holds, as far as its uses tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Holds {
    Number,
    /// A pointer to the first of some numbers.
    Numbers,
    /// A structure.
    Record,
    /// A pointer to a structure.
    Pointer,
    /// A pointer to the first of some pointers to structures.
    Pointers,
    Function,
}

/// The members of one structure by their names.
pub type Members = BTreeMap<String, Holds>;

/// Invented structures, by tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// Structures of which nothing is declared.
    pub whole: BTreeMap<String, Members>,
    /// Members that declared structures lack.
    pub more: BTreeMap<String, Members>,
}

/// Prefix of the tag under which the prelude declares the members that a declared structure lacks.
pub const MORE: &str = "__invdiff_more_";

impl Records {
    /// Notes a structure of which nothing is declared, with what the variables declared with `name`, a typedef's
    /// or the tag itself, show of it.
    pub fn invent(&mut self, text: &Words<'_>, items: &[Item], tag: &str, name: &str) {
        if self.whole.contains_key(tag) {
            return;
        }
        self.whole.insert(tag.to_owned(), Members::new());
        for variable in variables(text, items, name) {
            for Access { member, .. } in variable.accesses(text) {
                self.add(text, tag, member, DEPTH);
            }
        }
    }

    /// Notes the structure that an object of another file is, or points to.
    pub fn invent_for_object(&mut self, text: &Words<'_>, tag: &str, object: &str) {
        self.whole.entry(tag.to_owned()).or_default();
        for member in accessed(text, object) {
            self.add(text, tag, member, DEPTH);
        }
    }

    /// Notes the structure that the results of a function point to.
    pub fn invent_for_result(&mut self, text: &Words<'_>, tag: &str, function: &str) {
        self.whole.entry(tag.to_owned()).or_default();
        let calls = text.places(function).iter().filter(|i| text.at(**i + 1) == "(");
        let ends = calls.map(|i| text.after_group(i + 1, text.tokens.len()));
        let members: Vec<&str> =
            ends.filter(|i| text.at(*i) == "->").filter_map(|i| text.name(i + 1)).collect();
        members.into_iter().for_each(|member| self.add(text, tag, member, DEPTH));
    }

    /// Notes a member that an error says is missing. `tag` is an invented one or a declared structure's.
    pub fn add_missing(&mut self, text: &Words<'_>, tag: &str, member: &str) {
        if self.whole.contains_key(tag) {
            return self.add(text, tag, member, DEPTH);
        }
        // It is declared, but its own type is not known yet.
        if super::tokens::body(text.text, tag, 0)
            .is_some_and(|body| body.clone().any(|i| text.at(i) == member))
        {
            return;
        }
        let holds = holds(text, member, None);
        self.more.entry(tag.to_owned()).or_default().insert(member.to_owned(), holds);
        self.add_inner(text, tag, member, holds, DEPTH);
    }

    fn add(&mut self, text: &Words<'_>, tag: &str, member: &str, depth: usize) {
        if self.whole.get(tag).is_some_and(|known| known.contains_key(member)) {
            return;
        }
        let mut found = holds(text, member, self.held_as(tag).as_deref());
        if depth < 2 && found == Holds::Record {
            found = Holds::Number;
        }
        self.whole.entry(tag.to_owned()).or_default().insert(member.to_owned(), found);
        self.add_inner(text, tag, member, found, depth);
    }

    /// The member that a structure is known by.
    fn held_as(&self, tag: &str) -> Option<String> {
        let members =
            self.whole.iter().chain(&self.more).flat_map(|(t, m)| m.keys().map(move |name| (t, name)));
        members.into_iter().find(|(t, name)| is_inner_tag(tag, t, name)).map(|(_, name)| name.clone())
    }

    /// Notes the structure that a member is, or points to, with what its uses show of it.
    fn add_inner(&mut self, text: &Words<'_>, tag: &str, member: &str, holds: Holds, depth: usize) {
        if depth > 0 && matches!(holds, Holds::Record | Holds::Pointer | Holds::Pointers) {
            let inner = inner_tag(tag, member);
            self.whole.entry(inner.clone()).or_default();
            for next in accessed(text, member) {
                self.add(text, &inner, next, depth - 1);
            }
        }
    }

    /// Declares the structures, each behind those that it holds.
    pub fn declare(&self, out: &mut String) {
        for tag in self.whole.keys() {
            _ = writeln!(out, "struct {tag};");
        }
        let mut done = BTreeSet::new();
        for tag in self.whole.keys() {
            self.declare_one(tag, &mut done, out);
        }
        for (tag, members) in &self.more {
            for inner in held(tag, members) {
                self.declare_one(&inner, &mut done, out);
            }
            _ = write!(out, "struct {MORE}{tag} {{ ");
            for (name, holds) in members {
                _ = write!(out, "{} ", declaration(tag, name, *holds));
            }
            out.push_str("};\n");
        }
    }

    fn declare_one(&self, tag: &str, done: &mut BTreeSet<String>, out: &mut String) {
        let Some(members) = self.whole.get(tag).filter(|_| done.insert(tag.to_owned())) else { return };
        // What is held is small, wherever else it stands by itself.
        let level = self.level(tag, ROOM.len() - 1);
        let ((plain_places, inner_places), inner_size) = (ROOM[level], size(level + 1));
        held(tag, members).for_each(|inner| self.declare_one(&inner, done, out));
        let (inner, plain): (Vec<_>, Vec<_>) = members.iter().partition(|(_, h)| **h == Holds::Record);
        _ = write!(out, "struct {tag} {{ ");
        let mut next = 0;
        for (place, name, holds) in placed(&plain, plain_places) {
            gap(out, next, (place - next) * 8);
            _ = write!(out, "{} ", declaration(tag, name, holds));
            next = place + 1;
        }
        gap(out, next, plain_places.saturating_sub(next) * 8);
        if inner_places > 0 {
            let mut next = 0;
            for (place, name, holds) in placed(&inner, inner_places) {
                gap(out, plain_places + next, (place - next) * inner_size * 8);
                _ = write!(out, "{} ", declaration(tag, name, holds));
                next = place + 1;
            }
            gap(out, plain_places + next, inner_places.saturating_sub(next) * inner_size * 8);
        } else {
            inner.iter().for_each(|(name, holds)| _ = write!(out, "{} ", declaration(tag, name, **holds)));
        }
        out.push_str("};\n");
    }

    /// How many structures hold one in one another, at most `most`.
    fn level(&self, tag: &str, most: usize) -> usize {
        if most == 0 {
            return 0;
        }
        let holds = |(t, members): &(&String, &Members)| {
            members.iter().any(|(name, h)| *h == Holds::Record && is_inner_tag(tag, t, name))
        };
        let more = self.more.iter().filter(holds).map(|_| 1);
        let holders = self.whole.iter().filter(holds);
        holders.map(|(t, _)| 1 + self.level(t, most - 1)).chain(more).max().unwrap_or(0)
    }
}

/// Tags of what a structure holds by value.
fn held<'a>(tag: &'a str, members: &'a Members) -> impl Iterator<Item = String> + 'a {
    members.iter().filter(|(_, h)| **h == Holds::Record).map(move |(name, _)| inner_tag(tag, name))
}

fn inner_tag(tag: &str, member: &str) -> String {
    format!("{INVENTED}{}_{member}", tag.strip_prefix(INVENTED).unwrap_or(tag))
}

/// Whether a tag is that of a member ([`inner_tag`]).
fn is_inner_tag(inner: &str, tag: &str, member: &str) -> bool {
    let outer = inner.strip_suffix(member).and_then(|t| t.strip_suffix('_'));
    outer.and_then(|t| t.strip_prefix(INVENTED)) == Some(tag.strip_prefix(INVENTED).unwrap_or(tag))
}

fn declaration(tag: &str, name: &str, holds: Holds) -> String {
    let inner = inner_tag(tag, name);
    match holds {
        Holds::Number => format!("long {name};"),
        Holds::Numbers => format!("long *{name};"),
        Holds::Record => format!("struct {inner} {name};"),
        Holds::Pointer => format!("struct {inner} *{name};"),
        Holds::Pointers => format!("struct {inner} **{name};"),
        Holds::Function => format!("long (*{name})();"),
    }
}

/// Leaves room before the next member.
fn gap(out: &mut String, at: usize, bytes: usize) {
    if bytes > 0 {
        _ = write!(out, "char __invdiff_gap{at}[{bytes}]; ");
    }
}

/// Gives each member the place that its name asks for, or the next free one, in the order of places; what finds
/// none stands behind them all.
fn placed<'a>(members: &[(&'a String, &'a Holds)], places: usize) -> Vec<(usize, &'a str, Holds)> {
    let mut taken: BTreeMap<usize, (&str, Holds)> = BTreeMap::new();
    for (name, holds) in members {
        let wanted = hash(name) as usize % places;
        let free = (0..places).map(|i| (wanted + i) % places).find(|p| !taken.contains_key(p));
        let free = free.unwrap_or(places.max(taken.len()));
        taken.insert(free, (name, **holds));
    }
    taken.into_iter().map(|(place, (name, holds))| (place, name, holds)).collect()
}

/// FNV-1a: the same on every machine.
pub fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// What a member holds by how it is used, behind the member that its structure is known by if it is used there.
fn holds(text: &Words<'_>, member: &str, behind: Option<&str>) -> Holds {
    let places = text.places(member).iter().copied();
    let uses: Vec<usize> = places.filter(|&i| i > 0 && matches!(text.at(i - 1), "." | "->")).collect();
    let own: Vec<usize> =
        uses.iter().copied().filter(|&i| i > 1 && behind.is_some_and(|b| text.at(i - 2) == b)).collect();
    let uses = if own.is_empty() { uses } else { own };
    let one = |i: usize| {
        let mut next = i + 1;
        let indexed = text.at(next) == "[";
        while text.at(next) == "[" {
            next = text.after_group(next, text.tokens.len());
        }
        // `(a->b)->c`, as macros write it.
        let mut first = first_of_row(text.text, i);
        while text.at(next) == ")"
            && first > 0
            && text.at(first - 1) == "("
            && text.name(first.wrapping_sub(2)).is_none()
        {
            (next, first) = (next + 1, first - 1);
        }
        match (text.at(next), indexed) {
            ("(", false) => Holds::Function,
            ("->", true) => Holds::Pointers,
            ("->", false) | (".", true) => Holds::Pointer,
            (".", false) => Holds::Record,
            (_, true) => Holds::Numbers,
            _ if is_followed(text.text, i) => Holds::Numbers,
            _ => Holds::Number,
        }
    };
    uses.into_iter().map(one).max().unwrap_or(Holds::Number)
}

/// Where a row of members begins: `a->b.c`.
fn first_of_row(text: Text<'_>, member: usize) -> usize {
    let mut first = member;
    while first >= 2 && matches!(text.at(first - 1), "." | "->") && text.name(first - 2).is_some() {
        first -= 2;
    }
    first
}

/// Whether what stands there, by itself or as the last of a row of members, is followed as a pointer: `*a->b.c`.
pub fn is_followed(text: Text<'_>, member: usize) -> bool {
    let first = first_of_row(text, member);
    let is_number = |i: usize| text.at(i).starts_with(|c: char| c.is_ascii_digit());
    let ends_operand = |i: usize| text.name(i).is_some() || matches!(text.at(i), ")" | "]") || is_number(i);
    first >= 2 && text.at(first - 1) == "*" && !ends_operand(first - 2)
}

/// Names of members that follow a variable or member anywhere: `v.x`, `v->x`, `v[i].x`.
fn accessed<'a>(text: &Words<'a>, variable: &str) -> BTreeSet<&'a str> {
    let uses = text.places(variable).to_vec();
    accesses(text, uses, text.tokens.len()).map(|access| access.member).collect()
}

/// An access of a variable's member: `v.x`, `v->x`, `v[i].x`.
struct Access<'a> {
    member: &'a str,
    is_arrow: bool,
    /// It is that of an element.
    is_indexed: bool,
}

/// The accesses of a variable's members behind its uses; also those that its initialiser names.
fn accesses<'a>(
    text: &Words<'a>,
    uses: Vec<usize>,
    end: usize,
) -> impl Iterator<Item = Access<'a>> + use<'a> {
    let text = text.text;
    uses.into_iter().flat_map(move |at| {
        let mut out = Vec::new();
        let mut next = at + 1;
        while text.at(next) == "[" {
            next = text.after_group(next, end);
        }
        if matches!(text.at(next), "." | "->") {
            let (is_arrow, is_indexed) = (text.at(next) == "->", next > at + 1);
            out.extend(text.name(next + 1).map(|member| Access { member, is_arrow, is_indexed }));
        }
        if text.at(next) == "=" && text.at(next + 1) == "{" {
            let close = text.after_group(next + 1, end);
            let begins = |i: usize| text.at(i) == "." && matches!(text.at(i - 1), "{" | ",");
            let members = (next + 2..close).filter(|&i| begins(i)).filter_map(|i| text.name(i + 1));
            out.extend(members.map(|member| Access { member, is_arrow: false, is_indexed: false }));
        }
        out
    })
}

/// A variable, parameter or member that is declared with a type.
struct Variable<'a> {
    name: &'a str,
    is_pointer: bool,
    /// It is declared with elements.
    is_array: bool,
    /// A variable or parameter of a function, and no member.
    is_local: bool,
    /// Where the bracket around a conversion to a pointer ends, whose operand it is: what stands behind it alone tells
    /// of the type.
    cast: Option<usize>,
    /// Where it can be used.
    within: Range<usize>,
}

impl<'a> Variable<'a> {
    /// Its uses; a member of a local's name is another thing.
    fn uses(&self, text: &Words<'a>) -> Vec<usize> {
        if let Some(end) = self.cast {
            return vec![end];
        }
        let is_member = |i: usize| i > 0 && matches!(text.at(i - 1), "." | "->");
        let all = text.places_in(self.name, &self.within).iter().copied();
        all.filter(|i| !self.is_local || !is_member(*i)).collect()
    }

    fn accesses(&self, text: &Words<'a>) -> impl Iterator<Item = Access<'a>> + use<'a> {
        accesses(text, self.uses(text), self.within.end)
    }

    /// Whether it is set to the null pointer, or compared with it.
    fn may_be_null(&self, text: &Words<'a>) -> bool {
        let is_null = |i: usize| (0..NULL.len()).all(|k| text.at(i + k) == NULL[k]);
        let asks = |i: &usize| matches!(text.at(i + 1), "=" | "==" | "!=") && is_null(i + 2);
        self.uses(text).iter().any(asks)
    }
}

/// `NULL` as our headers write it.
const NULL: [&str; 7] = ["(", "(", "void", "*", ")", "0", ")"];

fn variables<'a>(text: &Words<'a>, items: &[Item], type_name: &str) -> Vec<Variable<'a>> {
    let mut out = Vec::new();
    for item in items {
        let is_local = matches!(item.kind, ItemKind::Function { .. });
        for &at in text.places_in(type_name, &item.tokens) {
            let (mut next, mut is_pointer) = (at + 1, false);
            while matches!(text.at(next), "*" | "const" | "volatile" | "restrict" | "__restrict") {
                is_pointer |= text.at(next) == "*";
                next += 1;
            }
            let is_cast = is_pointer && text.at(next) == ")";
            next += usize::from(is_cast);
            let name = text.name(next).filter(|_| text.at(next + 1) != "(");
            // `((T *)p)->x` reads what `p` points to, and `(T *)p->x` converts another type's member.
            let cast = is_cast.then_some(next + 1);
            if cast.is_some_and(|end| text.at(end) != ")") {
                continue;
            }
            let within = if is_local { item.tokens.clone() } else { 0..text.tokens.len() };
            let is_array = text.at(next + 1) == "[";
            out.extend(name.map(|name| Variable { name, is_pointer, is_array, is_local, cast, within }));
        }
    }
    out
}

/// Whether a name that is used at a place is a variable or a member of a type.
pub fn declares(text: &Words<'_>, items: &[Item], type_name: &str, name: &str, at: usize) -> bool {
    variables(text, items, type_name).iter().any(|v| v.name == name && v.within.contains(&at))
}

/// What an unknown type is, by how its variables are used.
pub fn kind(text: &Words<'_>, items: &[Item], type_name: &str) -> Kind {
    let mut found = Kind::Number;
    for variable in variables(text, items, type_name) {
        if found == Kind::Number && !variable.is_pointer && variable.may_be_null(text) {
            found = Kind::Pointer;
        }
        for access in variable.accesses(text) {
            // What has elements without being declared so leads to them.
            let is_led_to = access.is_arrow || access.is_indexed && !variable.is_array;
            found = match (variable.is_pointer, is_led_to) {
                (false, true) if found == Kind::Number => Kind::Pointer,
                (true, true) | (false, false) => Kind::Record,
                _ => found,
            };
        }
    }
    found
}
