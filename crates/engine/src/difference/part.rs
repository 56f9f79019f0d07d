//! What operations read and write, named so that two versions can speak of the same thing.
//!
//! An *object* is a variable of a function, an object with static storage, what pointers lead to, or a
//! part of the outside; a *part* is a range of its bytes. Variables are told apart by function and not
//! by call: on every path at most one call of a function is followed at a time. `Affected` is the set
//! of change-affected variables of the diffDP paper: whatever is not in it has the same value in both
//! versions.

use std::collections::{BTreeSet, HashMap};

pub(super) type ObjectId = u32;
/// A function by name and, but for those of the unit under comparison, its file.
pub(super) type FrameId = u32;

/// All memory that a pointer may lead to.
pub(super) const ANY: ObjectId = 0;
/// Whatever a function elsewhere may see: memory, all static objects and the outside.
pub(super) const ALL: ObjectId = 1;
/// Whatever there is, variables of functions included.
pub(super) const EVERYTHING: ObjectId = 2;
pub(super) const STDIN: ObjectId = 3;
/// Files, clock, allocation, random numbers.
pub(super) const WORLD: ObjectId = 4;
/// Values of `__VERIFIER_nondet_*` that were not asked for yet.
pub(super) const INPUT: ObjectId = 5;
const FIRST_NAMED: ObjectId = 6;

/// A range of bytes of an object, `to` excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Part {
    pub object: ObjectId,
    pub from: u64,
    pub to: u64,
}

impl Part {
    pub fn whole(object: ObjectId) -> Part {
        Part { object, from: 0, to: u64::MAX }
    }
}

/// A part that is written. A *strong* write replaces all of it; others may leave it as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub part: Part,
    pub strong: bool,
}

#[derive(Clone, Copy)]
struct Named {
    /// The function whose variable it is.
    frame: Option<FrameId>,
    /// A pointer may lead to it.
    exposed: bool,
}

/// The objects of both versions, by name.
pub(super) struct Objects {
    ids: HashMap<String, ObjectId>,
    named: Vec<Named>,
}

impl Objects {
    pub fn new() -> Objects {
        let outside = Named { frame: None, exposed: false };
        Objects { ids: HashMap::new(), named: vec![outside; FIRST_NAMED as usize] }
    }

    pub fn variable(&mut self, frame: FrameId, name: &str) -> ObjectId {
        self.id(format!("{frame} {name}"), Some(frame))
    }

    pub fn global(&mut self, symbol: &str, unit: &str) -> ObjectId {
        self.id(format!("&{symbol}@{unit}"), None)
    }

    fn id(&mut self, name: String, frame: Option<FrameId>) -> ObjectId {
        let next = self.named.len() as ObjectId;
        let id = *self.ids.entry(name).or_insert(next);
        if id == next {
            self.named.push(Named { frame, exposed: false });
        }
        id
    }

    pub fn expose(&mut self, object: ObjectId) {
        if let Some(named) = self.named.get_mut(object as usize) {
            named.exposed = true;
        }
    }

    fn is_exposed(&self, object: ObjectId) -> bool {
        self.named.get(object as usize).is_some_and(|n| n.exposed)
    }

    pub fn frame(&self, object: ObjectId) -> Option<FrameId> {
        self.named.get(object as usize)?.frame
    }

    /// Whether code elsewhere may read or write the object.
    fn is_shared(&self, object: ObjectId) -> bool {
        self.frame(object).is_none() || self.is_exposed(object)
    }
}

/// Parts whose values may differ between the versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Affected(BTreeSet<Part>);

impl Affected {
    /// Returns whether what a part holds may differ.
    pub fn touches(&self, objects: &Objects, part: Part) -> bool {
        let mut parts = self.0.iter();
        match part.object {
            EVERYTHING => !self.0.is_empty(),
            ALL => parts.any(|p| objects.is_shared(p.object)),
            ANY => parts.any(|p| matches!(p.object, ANY | ALL) || objects.is_exposed(p.object)),
            object => parts.any(|p| match p.object {
                ALL => objects.is_shared(object),
                ANY => objects.is_exposed(object),
                other => other == object && p.from < part.to && part.from < p.to,
            }),
        }
    }

    pub fn add(&mut self, part: Part) {
        self.0.insert(part);
    }

    /// The part holds the same in both versions from here on.
    pub fn remove(&mut self, part: Part) {
        self.0.retain(|p| p.object != part.object || p.from < part.from || p.to > part.to);
    }

    /// Forgets the variables of a function: they are new, or gone, in both versions.
    pub fn forget(&mut self, objects: &Objects, frame: FrameId) {
        self.0.retain(|p| objects.frame(p.object) != Some(frame));
    }

    /// Adds what is affected there; returns whether there was something new.
    pub fn join(&mut self, other: &Affected) -> bool {
        let before = self.0.len();
        self.0.extend(&other.0);
        self.0.len() > before
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(object: ObjectId, from: u64, to: u64) -> Part {
        Part { object, from, to }
    }

    #[test]
    fn parts_of_one_object_are_told_apart() {
        let mut objects = Objects::new();
        let g = objects.global("g", "");
        let mut affected = Affected::default();
        affected.add(part(g, 4, 8));
        assert!(!affected.touches(&objects, part(g, 0, 4)));
        assert!(affected.touches(&objects, part(g, 0, 5)));
        affected.remove(part(g, 4, 6));
        assert!(affected.touches(&objects, part(g, 4, 8)), "half of it is still another");
        affected.remove(part(g, 0, 8));
        assert!(affected.is_empty());
    }

    #[test]
    fn pointers_lead_to_what_is_exposed_only() {
        let mut objects = Objects::new();
        let (private, exposed) = (objects.variable(0, "a"), objects.variable(0, "b"));
        objects.expose(exposed);
        let mut affected = Affected::default();
        affected.add(Part::whole(private));
        assert!(!affected.touches(&objects, Part::whole(ANY)));
        affected.add(Part::whole(ANY));
        assert!(affected.touches(&objects, Part::whole(exposed)));
        affected.remove(Part::whole(private));
        assert!(!affected.touches(&objects, Part::whole(private)));
        let mut all = Affected::default();
        all.add(Part::whole(ALL));
        assert!(all.touches(&objects, Part::whole(STDIN)) && all.touches(&objects, Part::whole(exposed)));
        assert!(!all.touches(&objects, Part::whole(private)));
    }

    #[test]
    fn objects_are_known_by_name_and_function() {
        let mut objects = Objects::new();
        let (a, b) = (objects.variable(0, "x"), objects.variable(1, "x"));
        assert!(a != b && a == objects.variable(0, "x"));
        let (g, h) = (objects.global("g", ""), objects.global("g", "other.c"));
        assert!(g != h && g == objects.global("g", "") && g >= FIRST_NAMED);
        assert!(objects.is_shared(g) && !objects.is_shared(a));
    }

    #[test]
    fn the_variables_of_a_function_are_forgotten_alone() {
        let mut objects = Objects::new();
        let (own, other, g) = (objects.variable(3, "x"), objects.variable(4, "x"), objects.global("g", ""));
        let mut affected = Affected::default();
        [own, other, g].into_iter().for_each(|o| affected.add(Part::whole(o)));
        affected.forget(&objects, 3);
        assert!(!affected.touches(&objects, Part::whole(own)));
        assert!(affected.touches(&objects, Part::whole(other)) && affected.touches(&objects, Part::whole(g)));
    }

    #[test]
    fn joining_tells_whether_something_is_new() {
        let mut affected = Affected::default();
        let mut more = Affected::default();
        more.add(part(STDIN, 0, 4));
        assert!(affected.join(&more) && !affected.join(&more));
        assert!(affected.touches(&Objects::new(), Part::whole(EVERYTHING)));
        assert!(!Affected::default().touches(&Objects::new(), Part::whole(EVERYTHING)));
    }
}
