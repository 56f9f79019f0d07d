//! The lineage of one function by its text, back through versions: where it stood, and at which steps its text,
//! or that of what it names in its file, is another one.
//!
//! [`crate::frontend::c::slice`] says, without preprocessing, what of its file a function depends on. Where
//! that stays, the function is looked at as it is compiled, with all that it rests on (`ground.rs`), at the
//! steps that change one of the files that this takes.
//!
//! Where a step takes the function away from its place, it is looked for under the file's old name, then
//! under its own name in another file that the step changes, then as a function of another name and the
//! same text that the step takes away.

use super::ground::{Ground, Grounds};
use super::units::Units;
use super::workers::on_large_stack;
use crate::frontend::c::{self, slice::Items};
use crate::history::SourceTree;
use crate::mvicfg::VersionId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a function stands in one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionLocation {
    pub file: PathBuf,
    pub name: String,
}

/// A step between two neighbouring versions that does something to the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub from: VersionId,
    pub to: VersionId,
    pub after: FunctionLocation,
    /// `None`: the step brings the function.
    pub before: Option<FunctionLocation>,
    /// It is another one: its text, that of what it names in its file, or what it rests on in other files;
    /// else it only moved.
    pub is_edit: bool,
    /// The files that it rests on, where its own file does not tell of the change.
    pub rests_on: Vec<PathBuf>,
}

/// The paths of a changed file before and after a step.
pub type Moved = (Option<PathBuf>, Option<PathBuf>);

/// What tells the changed files of the step between two versions, with renames found.
type Changes<'a, E> = dyn FnMut([VersionId; 2]) -> Result<Vec<Moved>, E> + 'a;

/// Walks back from the newest version, step by step.
pub struct Follower<'a, E> {
    trees: &'a [Arc<dyn SourceTree>],
    changes: Box<Changes<'a, E>>,
    /// The version that is next looked at, and where the function is there.
    at: VersionId,
    place: Option<FunctionLocation>,
    /// By content.
    items: BTreeMap<String, Arc<Items>>,
    grounded: Option<Grounded>,
}

/// What tells changes that come from other files.
struct Grounded {
    units: Units,
    grounds: Grounds,
    /// What the function rests on in the version that is next looked at, once it is known.
    here: Option<(FunctionLocation, Ground)>,
    gaps: Gaps,
}

/// What may hide further steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// A limit left out some of the files that the function rests on.
    pub files: bool,
    /// It calls through pointers that functions of any file may have set.
    pub pointers: bool,
}

impl<'a, E> Follower<'a, E> {
    /// Begins at a place of the newest of the versions. `None`: the function is not there.
    pub fn new(
        trees: &'a [Arc<dyn SourceTree>],
        place: FunctionLocation,
        changes: impl FnMut([VersionId; 2]) -> Result<Vec<Moved>, E> + 'a,
    ) -> Option<Follower<'a, E>> {
        let at = VersionId::first(trees.len()).next_back()?;
        let (changes, items) = (Box::new(changes), BTreeMap::new());
        let mut follower = Follower { trees, changes, at, place: None, items, grounded: None };
        follower.slice(at, &place)?;
        follower.place = Some(place);
        Some(follower)
    }

    /// Sees what changes the function from other files, too.
    pub fn grounded(mut self, options: &c::Options, inline_depth: u32) -> Self {
        let units = Units::new(options.clone(), inline_depth);
        self.grounded =
            Some(Grounded { units, grounds: Grounds::default(), here: None, gaps: Gaps::default() });
        self
    }

    /// What was not looked at in the steps so far.
    pub fn gaps(&self) -> Gaps {
        self.grounded.as_ref().map(|g| g.gaps).unwrap_or_default()
    }

    /// The files that the function rests on, where a step changes one of them and with it the function as it is
    /// compiled.
    fn reached(&mut self, step: [VersionId; 2], place: &FunctionLocation) -> Result<Option<Vec<PathBuf>>, E> {
        let [old, new] = step.map(|v| &self.trees[v]);
        let Some(Grounded { units, grounds, here, gaps }) = self.grounded.as_mut() else { return Ok(None) };
        let mut ground = |tree: &Arc<dyn SourceTree>| on_large_stack(|| grounds.of(&**tree, place, units));
        let mut after = match here.take().filter(|(known, _)| known == place) {
            Some((_, known)) => known,
            None => ground(new),
        };
        gaps.files |= !after.is_whole;
        gaps.pointers |= after.calls_unknown;
        if after.reads.iter().all(|path| old.content_id(path) == new.content_id(path)) {
            // Another file may begin, or cease, to define what it names.
            if !after.is_open() || !grounds.is_touched([&**old, &**new], &(self.changes)(step)?, &after) {
                *here = Some((place.clone(), after));
                return Ok(None);
            }
            after = on_large_stack(|| grounds.of(&**new, place, units));
        }
        let mut ground = |tree: &Arc<dyn SourceTree>| on_large_stack(|| grounds.of(&**tree, place, units));
        let before = ground(old);
        let is_other = before.whole(place) != after.whole(place);
        let paths: BTreeSet<PathBuf> = before.paths().chain(after.paths()).cloned().collect();
        *here = Some((place.clone(), before));
        Ok(is_other.then(|| paths.into_iter().collect()))
    }

    /// Whether the function is another one after a step, with all that it rests on. What cannot be read is.
    pub fn is_other(&mut self, step: &Step) -> bool {
        let [old, new] = [step.from, step.to].map(|v| &self.trees[v]);
        let (Some(Grounded { units, grounds, .. }), Some(before)) = (self.grounded.as_mut(), &step.before)
        else {
            return true;
        };
        let mut whole = |tree: &Arc<dyn SourceTree>, place: &FunctionLocation| {
            on_large_stack(|| grounds.of(&**tree, place, units)).whole(place)
        };
        let whole = [whole(old, before), whole(new, &step.after)];
        whole[0] != whole[1] || whole[0].is_none()
    }

    /// What was known of a version that is passed over says nothing of the next.
    fn forget(&mut self) {
        if let Some(grounded) = &mut self.grounded {
            grounded.here = None;
        }
    }

    /// Where the function is in the version that was reached; `None` before the step that brings it.
    pub fn place(&self) -> Option<&FunctionLocation> {
        self.place.as_ref()
    }

    fn items(&mut self, version: VersionId, file: &Path) -> Option<Arc<Items>> {
        let tree = &self.trees[version];
        let id = tree.content_id(file)?;
        if let Some(known) = self.items.get(&id) {
            return Some(known.clone());
        }
        let items = Arc::new(Items::of(&tree.read(file)?));
        // Old contents are not met again.
        if self.items.len() >= 8 {
            self.items.clear();
        }
        self.items.insert(id, items.clone());
        Some(items)
    }

    fn slice(&mut self, version: VersionId, place: &FunctionLocation) -> Option<String> {
        self.items(version, &place.file)?.slice(&place.name)
    }

    /// Looks for the function before a step, where it is not at its place.
    fn origin(
        &mut self,
        [before, to]: [VersionId; 2],
        after: &FunctionLocation,
    ) -> Result<Option<FunctionLocation>, E> {
        let changes = (self.changes)([before, to])?;
        let renamed = changes.iter().find(|(_, new)| new.as_ref() == Some(&after.file));
        if let Some((Some(old), _)) = renamed {
            let place = FunctionLocation { file: old.clone(), name: after.name.clone() };
            if self.slice(before, &place).is_some() {
                return Ok(Some(place));
            }
        }
        let own = self.items(to, &after.file).and_then(|i| i.text_without_name(&after.name));
        let mut same_text = None;
        for (old, new) in &changes {
            let Some(old) = old else { continue };
            let Some(items) = self.items(before, old) else { continue };
            let left = new.as_ref().and_then(|new| self.items(to, new));
            let goes = |name: &str| left.as_ref().is_none_or(|l| l.functions().all(|n| n != name));
            let names = || items.functions().filter(|n| goes(n));
            // Every program has a `main`: its name tells nothing.
            if names().any(|n| n == after.name && n != "main") {
                return Ok(Some(FunctionLocation { file: old.clone(), name: after.name.clone() }));
            }
            let name = names().find(|n| items.text_without_name(n) == own && own.is_some());
            let place = name.map(|n| FunctionLocation { file: old.clone(), name: n.to_owned() });
            same_text = same_text.or(place);
        }
        Ok(same_text)
    }
}

impl<E> Iterator for Follower<'_, E> {
    type Item = Result<Step, E>;

    fn next(&mut self) -> Option<Result<Step, E>> {
        while let Some(from) = self.at.previous() {
            let after = self.place.clone()?;
            let to = std::mem::replace(&mut self.at, from);
            let id = |v: VersionId| self.trees[v].content_id(&after.file);
            let is_same_file = id(to).is_some() && id(to) == id(from);
            let new = if is_same_file { None } else { self.slice(to, &after) };
            let old = if is_same_file { None } else { self.slice(from, &after) };
            if is_same_file || old.is_some() {
                let rests_on = match is_same_file || old == new {
                    true => match self.reached([from, to], &after) {
                        Ok(Some(rests_on)) => rests_on,
                        Ok(None) => continue,
                        Err(error) => return Some(Err(error)),
                    },
                    false => {
                        self.forget();
                        Vec::new()
                    }
                };
                return Some(Ok(Step {
                    from,
                    to,
                    before: Some(after.clone()),
                    after,
                    is_edit: true,
                    rests_on,
                }));
            }
            self.forget();
            let before = match self.origin([from, to], &after) {
                Ok(before) => before,
                Err(error) => return Some(Err(error)),
            };
            let is_edit = before.as_ref().is_none_or(|b| match b.name == after.name {
                true => self.slice(from, b) != new,
                false => false,
            });
            self.place = before.clone();
            return Some(Ok(Step { from, to, after, before, is_edit, rests_on: Vec::new() }));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    /// Follows `name` of `a.c`; a step is `version kind place-before`.
    #[track_caller]
    fn check(versions: &[&[(&str, &str)]], name: &str, expected: &[&str]) {
        let trees: Vec<Arc<dyn SourceTree>> = versions
            .iter()
            .map(|files| Arc::new(MemoryTree::new(files.iter().copied())) as Arc<dyn SourceTree>)
            .collect();
        // Files of one content are one file.
        let changes = |step: [VersionId; 2]| -> Result<Vec<Moved>, ()> {
            let [old, new] = step.map(|v| versions[v]);
            let has = |list: &[(&str, &str)], path: &str| list.iter().any(|(p, _)| *p == path);
            let added = new.iter().filter(|(p, _)| !has(old, p)).map(|(path, text)| {
                let from = old.iter().find(|(p, t)| t == text && !has(new, p)).map(|(p, _)| PathBuf::from(p));
                (from, Some(PathBuf::from(path)))
            });
            let kept =
                old.iter().map(|(p, _)| (Some(PathBuf::from(p)), has(new, p).then(|| PathBuf::from(p))));
            Ok(added.chain(kept).collect())
        };
        let place = FunctionLocation { file: "a.c".into(), name: name.into() };
        let Some(follower) = Follower::new(&trees, place, changes) else {
            assert!(expected.is_empty(), "{versions:?}");
            return;
        };
        let steps: Vec<String> = follower
            .map(|s| {
                let s = s.expect("a step");
                let kind = if s.is_edit { "edit" } else { "move" };
                let place = s.before.map(|p| format!("{}:{}", p.file.display(), p.name));
                format!("{} {kind} {}", s.to.number(), place.unwrap_or_default())
            })
            .collect();
        assert_eq!(steps, expected, "{versions:?}");
    }

    const F: &str = "int f(void) { return 1; }\n";
    const OTHER: &str = "int f(void) { return 2; }\n";

    #[test]
    fn edits_are_steps_and_layout_is_none() {
        check(&[&[("a.c", F)], &[("a.c", OTHER)]], "f", &["2 edit a.c:f"]);
        check(&[&[("a.c", F)], &[("a.c", "/* */ int f(void)\n{ return 1; }")]], "f", &[]);
        check(&[&[("a.c", F)], &[("a.c", F), ("b.c", OTHER)]], "f", &[]);
        check(
            &[&[], &[("a.c", F)], &[("a.c", OTHER)], &[("a.c", F)]],
            "f",
            &["4 edit a.c:f", "3 edit a.c:f", "2 edit "],
        );
        check(&[&[("a.c", F)]], "g", &[]);
        check(&[&[("a.c", F)]], "f", &[]);
    }

    #[test]
    fn moves_and_renames_are_followed() {
        check(&[&[("b.c", F)], &[("a.c", F)], &[("a.c", OTHER)]], "f", &["3 edit a.c:f", "2 move b.c:f"]);
        let both = "int g(void) { return 3; }\nint f(void) { return 1; }\n";
        check(
            &[&[("a.c", "int x;"), ("b.c", both)], &[("a.c", OTHER), ("b.c", "int g(void) { return 3; }\n")]],
            "f",
            &["2 edit b.c:f"],
        );
        check(&[&[("a.c", "int g(void) { return 1; }")], &[("a.c", F)]], "f", &["2 move a.c:g"]);
        // Of another text: a new function.
        check(&[&[("a.c", "int g(void) { return 2; }")], &[("a.c", F)]], "f", &["2 edit "]);
        // The other one stays: a copy is no move.
        check(
            &[
                &[("a.c", "int g(void) { return 1; }")],
                &[("a.c", "int g(void) { return 1; } int f(void) { return 1; }")],
            ],
            "f",
            &["2 edit "],
        );
        let main = "int main(void) { return 1; }";
        check(&[&[("b.c", main)], &[("a.c", "int main(void) { return 2; }")]], "main", &["2 edit "]);
    }
}
