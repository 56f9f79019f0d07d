//! Functions followed through versions: renames of files, moves between files, renames of functions.

use super::likeness;
use super::reach::Reach;
use super::request::FileChange;
use super::units::{LoadResult, LoadedFunction, LoadedUnit, is_header};
use crate::ir::{Callee, Function, Instr, Unit};
use crate::mvicfg::{ClassId, VersionId, key};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One function in one version.
#[derive(Clone)]
pub struct Member {
    pub unit: Arc<Unit>,
    /// As written.
    pub function: Arc<Function>,
    /// As analysed.
    pub inlined: Arc<Function>,
    pub file: PathBuf,
    /// Hash of `inlined`.
    pub body: Arc<str>,
    /// See [`Reach::values`].
    pub values: Arc<str>,
    /// What counts beside its text: see [`Reach::surroundings`].
    pub surroundings: Arc<str>,
}

/// A name of which the tree does not say in one version of a function what it is, though it does in the other: a guess there,
/// which no compiler takes.
pub(super) struct Undeclared<'m> {
    pub name: &'m Arc<str>,
    /// It is the newer version that does not.
    pub now: bool,
}

/// The names that are known in one version of a function alone; of one whose text is the same, whatever is a guess in the
/// other. `changes`: the files that the step changes.
pub(super) fn undeclared<'m>(
    old: &'m Member,
    new: &'m Member,
    changes: &[FileChange],
) -> Vec<Undeclared<'m>> {
    let meets = |m: &Member, start: u32, lines: u32| {
        start <= m.function.span.end_line && m.function.span.line < start.saturating_add(lines.max(1))
    };
    let of_file = changes.iter().find(|c| c.new_path.as_ref() == Some(&new.file));
    let untouched = of_file.is_none_or(|c| {
        !c.hunks.iter().any(|h| meets(old, h.old_start, h.old_lines) || meets(new, h.new_start, h.new_lines))
    });
    let alone = |of: &'m Member, other: &'m Member, now: bool| {
        let is_declared = move |name: &str| {
            let unit = &other.unit;
            other.function.vars.iter().any(|v| *v.name == *name)
                || unit.globals.iter().any(|g| *g.name == *name)
                || unit.prototypes.iter().any(|p| *p.name == *name)
        };
        // What is guessed for one function of a unit is for all.
        let known = |name: &Arc<str>| !other.unit.gaps.invented.contains_key(name);
        // What is declared with a guessed type is another matter.
        let guess = |name: &Arc<str>| {
            let why = of.unit.gaps.invented.get(name);
            why.is_some_and(|why| matches!(&**why, "unknown type" | "unknown macro or object"))
        };
        let names = of.function.invented.iter().filter(move |name| known(name) && guess(name));
        names.filter(move |name| untouched || is_declared(name)).map(move |name| Undeclared { name, now })
    };
    alone(old, new, false).chain(alone(new, old, true)).collect()
}

impl Member {
    /// A function of a loaded unit. `reach`: of its version.
    pub(super) fn new(loaded: &LoadedUnit, f: &LoadedFunction, file: &Path, reach: &Reach) -> Member {
        Member {
            unit: loaded.unit.clone(),
            function: f.function.clone(),
            inlined: f.inlined.clone(),
            file: file.to_path_buf(),
            body: f.body.clone(),
            values: reach.values(file, &f.inlined),
            surroundings: reach.surroundings(loaded, &f.function),
        }
    }
}

impl Member {
    /// Hash of the function as it is written.
    pub fn written(&self) -> Arc<str> {
        match Arc::ptr_eq(&self.function, &self.inlined) {
            true => self.body.clone(),
            false => key::body_hash(&self.function).into(),
        }
    }

    /// Whether two versions are written alike.
    pub fn is_written_as(&self, other: &Member) -> bool {
        Arc::ptr_eq(&self.function, &other.function) || self.written() == other.written()
    }
}

/// One function through the versions; `None` where it does not exist.
pub struct Lineage {
    pub members: Vec<Option<Member>>,
    /// For a caller that is there for its callees: their classes, by version. Empty for all others.
    pub salt: Vec<Vec<Option<ClassId>>>,
}

impl Lineage {
    /// Returns the newest member with its version.
    pub fn newest(&self) -> Option<(VersionId, &Member)> {
        VersionId::each(&self.members).rev().find_map(|(i, m)| Some((i, m.as_ref()?)))
    }

    /// Nodes of its largest version, with what is inlined.
    pub fn size(&self) -> usize {
        self.members.iter().flatten().map(|m| m.inlined.nodes.len()).max().unwrap_or(0)
    }

    /// Whether its own text, after preprocessing, is not the same in all versions that have it.
    pub fn is_edited(&self) -> bool {
        let mut members = self.members.iter().flatten();
        let first = members.next();
        members.any(|m| first.is_some_and(|first| !m.is_written_as(first)))
    }
}

/// Files of one version: for every file lineage its path and unit, where it exists.
pub type VersionFiles = Vec<Option<(PathBuf, LoadResult)>>;

/// Links functions between consecutive versions.
///
/// `files[v][k]` is file lineage `k` in version `v`. A function is linked to the one of the same
/// name in the same file lineage; then to the one of the same name that appears elsewhere (a move);
/// then to one with an equal body (a rename); then to one that is much like it ([`likeness`]).
pub(super) fn link(files: &[VersionFiles], reaches: &[Reach]) -> Vec<Lineage> {
    let n = files.len();
    let mut lineages: Vec<Lineage> = Vec::new();
    // Open ends of the previous version: (file lineage, name) -> lineage.
    let mut open: BTreeMap<(usize, Arc<str>), usize> = BTreeMap::new();
    let made = made_otherwise(files);
    for (v, version) in VersionId::each(files) {
        let mut here: BTreeMap<Id, Member> = BTreeMap::new();
        for (k, file) in version.iter().enumerate() {
            let Some((path, Ok(loaded))) = file else { continue };
            // What an included file defines belongs to that file, not to each that includes it.
            let own = loaded.functions.iter().filter(|f| f.function.span.file.0 == 0);
            // Where a header leaves names to those that include it, it says too little of its functions.
            let is_complete = |f: &&LoadedFunction| !is_header(path) || f.function.invented.is_empty();
            for f in own.filter(is_complete) {
                let member = Member::new(loaded, f, path, &reaches[v]);
                here.entry((k, f.function.name.clone())).or_insert(member);
            }
        }
        add_templates(&mut here, version, &reaches[v]);
        add_made(&mut here, version, (&made, &reaches[v]));
        let mut next_open = BTreeMap::new();
        let mut unlinked: Vec<(usize, Arc<str>)> = Vec::new();
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for id in here.keys() {
            match open.get(id) {
                Some(&l) => {
                    taken.insert(l);
                    next_open.insert(id.clone(), l);
                }
                None => unlinked.push(id.clone()),
            }
        }
        for pass in [Pass::Moved, Pass::Renamed] {
            unlinked.retain(|id| {
                let member = &here[id];
                let found = open.iter().find(|(old, l)| {
                    !taken.contains(l)
                        && match pass {
                            // Every program has a `main`: its name tells nothing.
                            Pass::Moved => old.1 == id.1 && &*id.1 != "main",
                            Pass::Renamed => {
                                let before = v
                                    .previous()
                                    .and_then(|w| Some((lineages[**l].members[w].as_ref()?, &reaches[w])));
                                before.is_some_and(|before| is_same(before, (member, &reaches[v])))
                            }
                        }
                });
                let Some((_, &l)) = found else { return true };
                taken.insert(l);
                next_open.insert(id.clone(), l);
                false
            });
        }
        let alike = alike(&lineages, v, (&open, &here), (&taken, &next_open, &unlinked));
        unlinked.retain(|id| !alike.iter().any(|(new, _)| new == id));
        next_open.extend(alike);
        for id in unlinked {
            lineages.push(Lineage { members: vec![None; n], salt: Vec::new() });
            next_open.insert(id, lineages.len() - 1);
        }
        for (id, member) in here {
            if let Some(&l) = next_open.get(&id) {
                lineages[l].members[v] = Some(member);
            }
        }
        open = next_open;
    }
    call_by_new_names(&mut lineages, reaches);
    lineages
}

/// Adds the functions of headers that say too little of them by themselves, as the files that include them make them: a
/// header is a template where it has names that they give it. Of those that one text makes the first counts.
fn add_templates(here: &mut BTreeMap<Id, Member>, version: &VersionFiles, reach: &Reach) {
    let files = || version.iter().enumerate().filter_map(|(k, file)| Some((k, file.as_ref()?)));
    let headers: BTreeMap<&Path, usize> =
        files().filter(|(_, (path, _))| is_header(path)).map(|(k, (path, _))| (path.as_path(), k)).collect();
    if headers.is_empty() {
        return;
    }
    let mut known: BTreeSet<(usize, u32)> =
        here.iter().map(|((k, _), m)| (*k, m.function.span.line)).collect();
    for (path, loaded) in files().map(|(_, file)| file).filter(|(path, _)| !is_header(path)) {
        let Ok(loaded) = loaded else { continue };
        for f in loaded.functions.iter().filter(|f| f.function.span.file.0 != 0) {
            let file = loaded.unit.files.get(f.function.span.file.0 as usize).unwrap_or(path);
            let Some(k) = headers.get(file.as_path()) else { continue };
            if known.insert((*k, f.function.span.line)) {
                let member = Member::new(loaded, f, file, reach);
                here.entry((*k, f.function.name.clone())).or_insert(member);
            }
        }
    }
}

/// Functions of headers that do not change and are written otherwise all the same: a macro of another header makes
/// them. By the file lineage of a unit that has them. Cost: one look-up for each function that a unit includes.
fn made_otherwise(files: &[VersionFiles]) -> BTreeSet<Id> {
    let own: Vec<BTreeSet<&Path>> = files.iter().map(own_files).collect();
    let mut found = BTreeSet::new();
    let mut named: BTreeSet<(&Path, &str)> = BTreeSet::new();
    for k in 0..files.iter().map(Vec::len).max().unwrap_or(0) {
        let mut before: BTreeMap<&str, &LoadedFunction> = BTreeMap::new();
        for (version, own) in files.iter().zip(&own) {
            let here = version.get(k).and_then(Option::as_ref);
            let included = here.into_iter().flat_map(|file| included(file, own));
            let here: BTreeMap<&str, (&Path, &LoadedFunction)> =
                included.map(|(file, f)| (&*f.function.name, (file, f))).collect();
            for (name, (file, f)) in &here {
                let is_written_as = |was: &LoadedFunction| {
                    was.body == f.body || key::body_hash(&was.function) == key::body_hash(&f.function)
                };
                let is_other = before.get(name).is_some_and(|was| !is_written_as(was));
                if is_other && named.insert((file, name)) {
                    found.insert((k, f.function.name.clone()));
                }
            }
            before = here.into_iter().map(|(name, (_, f))| (name, f)).collect();
        }
    }
    found
}

fn own_files(version: &VersionFiles) -> BTreeSet<&Path> {
    version.iter().flatten().map(|(path, _)| path.as_path()).collect()
}

/// The functions of a source file that stand in headers which are not among the files of its version, with these.
fn included<'l>(
    (path, loaded): &'l (PathBuf, LoadResult),
    own: &'l BTreeSet<&Path>,
) -> impl Iterator<Item = (&'l Path, &'l LoadedFunction)> {
    let loaded = loaded.as_ref().ok().filter(|_| !is_header(path));
    let of = |loaded: &'l Arc<LoadedUnit>| {
        let included = loaded.functions.iter().filter(|f| f.function.span.file.0 != 0);
        included.filter_map(|f| {
            let file = loaded.unit.files.get(f.function.span.file.0 as usize)?;
            Some((file.as_path(), f))
        })
    };
    loaded.into_iter().flat_map(of).filter(|(file, _)| !own.contains(file))
}

/// Adds such functions of one version.
fn add_made(here: &mut BTreeMap<Id, Member>, version: &VersionFiles, (made, reach): (&BTreeSet<Id>, &Reach)) {
    let own = own_files(version);
    for k in made.iter().map(|(k, _)| *k).collect::<BTreeSet<usize>>() {
        let Some(file) = version.get(k).and_then(Option::as_ref) else { continue };
        for (defined, f) in included(file, &own) {
            let id = (k, f.function.name.clone());
            if let (true, (_, Ok(loaded))) = (made.contains(&id), file) {
                here.entry(id).or_insert_with(|| Member::new(loaded, f, defined, reach));
            }
        }
    }
}

/// A function of a version: its file lineage and its name.
type Id = (usize, Arc<str>);

/// Of the functions of version `v` that are linked to none, those that a function of the version before is by another
/// name and with another body, and its lineage. `open`, `taken`: the lineages before, and which of them go on.
fn alike(
    lineages: &[Lineage],
    v: VersionId,
    (open, here): (&BTreeMap<Id, usize>, &BTreeMap<Id, Member>),
    (taken, linked, unlinked): (&BTreeSet<usize>, &BTreeMap<Id, usize>, &[Id]),
) -> Vec<(Id, usize)> {
    let is_open = |l: &usize| !taken.contains(l);
    if unlinked.is_empty() || open.values().all(|l| !is_open(l)) {
        return Vec::new();
    }
    let before = |l: usize| lineages[l].members[v.previous()?].as_ref().map(|m| &*m.function);
    let is_named = |id: &Id| &*id.1 != "main";
    let gone: Vec<(usize, (usize, &Function))> = open
        .iter()
        .filter(|(id, l)| is_open(l) && is_named(id))
        .filter_map(|(id, l)| Some((*l, (id.0, before(*l)?))))
        .collect();
    let come: Vec<(&Id, (usize, &Function))> = unlinked
        .iter()
        .filter(|id| is_named(id))
        .filter_map(|id| Some((id, (id.0, &*here.get(id)?.function))))
        .collect();
    let callers: Vec<(&Function, &Function)> =
        linked.iter().filter_map(|(id, l)| Some((before(*l)?, &*here.get(id)?.function))).collect();
    let [old, new] = [gone.iter().map(|g| g.1).collect::<Vec<_>>(), come.iter().map(|c| c.1).collect()];
    let pairs = likeness::pairs(&old, &new, &callers);
    pairs.into_iter().map(|(g, c)| (come[c].0.clone(), gone[g].0)).collect()
}

#[derive(Clone, Copy)]
enum Pass {
    Moved,
    Renamed,
}

/// Whether two functions are the same but for their names and those of what they call.
fn is_same((old, before): (&Member, &Reach), (new, after): (&Member, &Reach)) -> bool {
    let whole = |m: &Member, reach: &Reach| reach.whole(&m.file, &m.function.name);
    old.body == new.body || whole(old, before).is_some_and(|hash| Some(hash) == whole(new, after))
}

/// Where functions only got other names, their callers are the same: all versions call them by the newest
/// name in what is compared.
fn call_by_new_names(lineages: &mut [Lineage], reaches: &[Reach]) {
    for (v, reach) in VersionId::each(reaches) {
        let names = new_names(lineages, reaches, v);
        if names.is_empty() {
            continue;
        }
        for member in lineages.iter_mut().filter_map(|l| l.members[v].as_mut()) {
            let called = |name: &Arc<str>| {
                let (file, to) = names.get(name)?;
                (reach.file_of(&member.file, name).as_ref() == Some(file)).then(|| to.clone())
            };
            let mut body = (*member.inlined).clone();
            let mut is_other = false;
            for node in &mut body.nodes {
                if let Instr::Call { callee: Callee::Direct(name), .. } = &mut node.instr
                    && *name != member.function.name
                    && let Some(to) = called(name)
                {
                    (*name, is_other) = (to, true);
                }
            }
            if is_other {
                member.body = key::body_hash(&body).into();
                member.inlined = Arc::new(body);
            }
        }
    }
}

/// Functions of a version that are called something else in the newest one, and are the same: by name, where
/// they are and what they are called then.
pub(super) fn new_names(
    lineages: &[Lineage],
    reaches: &[Reach],
    v: VersionId,
) -> BTreeMap<Arc<str>, (PathBuf, Arc<str>)> {
    let mut names = BTreeMap::new();
    for l in lineages {
        if let (Some(m), Some((newest, n))) = (&l.members[v], l.newest())
            && m.function.name != n.function.name
            && is_same((m, &reaches[v]), (n, &reaches[newest]))
        {
            names.insert(m.function.name.clone(), (m.file.clone(), n.function.name.clone()));
        }
    }
    names
}
