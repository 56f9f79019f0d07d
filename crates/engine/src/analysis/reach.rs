//! Which functions a change can reach: for each function of a version, what it does and what that rests on.
//!
//! The functions and static objects of all units that were loaded are the nodes of a graph. A function leads
//! to what it calls, to the functions whose addresses it takes, and to the objects that it names; an object
//! leads to what its initial value holds the addresses of. The hash of a node is made of its own text and of
//! the hashes of all that it leads to; strongly connected parts (recursion) get theirs together. Functions go
//! by what they are and not by their names, so that one that only got another name is the same; objects go by
//! their names. What nobody loaded goes by its name alone.
//!
//! Two hashes: what a function *does*, from whatever state it is called in, rests on the objects whose values
//! are known ([`Global::is_known_constant`]); the *whole* rests on the initial values of all of them, too.

use super::bindings;
use super::lineage::VersionFiles;
use super::linked::Name;
use super::parts::{Part, objects_of};
use super::units::LoadedUnit;
use crate::ir::library::control::{Calls, calls};
use crate::ir::{Callee, Expr, Function, Global, Instr, Linkage, Object, Unit};
use crate::mvicfg::members;
use crate::semantics::pointers;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Whether another file may have the definition of an object: it says nothing of its value (`int x;` in
/// several files, as with `-fcommon`).
fn is_tentative(g: &Global) -> bool {
    g.linkage == Linkage::External && g.init.is_empty() && !g.is_const
}

/// A node by its place in what was loaded: unit, and function or object there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Id {
    Function(usize, usize),
    Object(usize, usize),
}

/// Functions and objects of one version.
pub(super) struct Reach {
    units: Vec<Arc<LoadedUnit>>,
    by_path: BTreeMap<PathBuf, usize>,
    /// By unit: what a name stands for there.
    own: Vec<BTreeMap<(bool, Arc<str>), Id>>,
    /// The same of names that other units define.
    external: BTreeMap<(bool, Arc<str>), Id>,
    /// Symbols of functions among these of which there is but a weak definition.
    weak: BTreeSet<Arc<str>>,
    opaque: OnceLock<String>,
    starters: OnceLock<Vec<(Id, BTreeSet<Id>)>>,
    graph: OnceLock<Graph>,
    does: OnceLock<BTreeMap<Id, Arc<str>>>,
    whole: OnceLock<BTreeMap<Id, Arc<str>>>,
}

struct Graph {
    ids: Vec<Id>,
    at: BTreeMap<Id, NodeIndex>,
    edges: DiGraph<(), ()>,
}

/// What a body does to objects beside reading them.
#[derive(Default)]
struct Touched {
    written: BTreeSet<Arc<str>>,
    /// Their addresses go elsewhere.
    given: BTreeSet<Arc<str>>,
    /// It writes where a pointer leads.
    through_pointers: bool,
}

impl Touched {
    fn by(f: &Function) -> Touched {
        let mut found = Touched::default();
        for node in &f.nodes {
            match &node.instr {
                Instr::Load { .. } | Instr::Branch { .. } => {}
                Instr::Store { addr, value, .. } => {
                    found.write(addr);
                    found.give(value);
                }
                Instr::Copy { dst, .. } | Instr::Zero { dst, .. } => found.write(dst),
                instr => instr.for_each_operand(&mut |e| found.give(e)),
            }
        }
        found
    }

    fn write(&mut self, address: &Expr) {
        let symbols = symbols_in(address);
        let mut is_local = false;
        address.for_each(&mut |e| is_local |= matches!(e, Expr::Addr(Object::Local(_))));
        self.through_pointers |= symbols.is_empty() && !is_local;
        self.written.extend(symbols);
    }

    fn give(&mut self, e: &Expr) {
        self.given.extend(symbols_in(e));
    }
}

fn symbols_in(e: &Expr) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    e.for_each(&mut |e| {
        if let Expr::Addr(Object::Global(symbol)) = e {
            found.insert(symbol.clone());
        }
    });
    found
}

impl Reach {
    /// Links what a version has. Cost: linear in declarations; hashes are made when they are asked for.
    pub fn of(files: &VersionFiles) -> Reach {
        let mut reach = Reach {
            units: Vec::new(),
            by_path: BTreeMap::new(),
            own: Vec::new(),
            external: BTreeMap::new(),
            weak: BTreeSet::new(),
            opaque: OnceLock::new(),
            starters: OnceLock::new(),
            graph: OnceLock::new(),
            does: OnceLock::new(),
            whole: OnceLock::new(),
        };
        for (path, loaded) in files.iter().flatten() {
            if let Ok(loaded) = loaded {
                reach.add(path, loaded);
            }
        }
        reach
    }

    fn add(&mut self, path: &Path, loaded: &Arc<LoadedUnit>) {
        let u = self.units.len();
        let mut own = BTreeMap::new();
        for (i, f) in loaded.functions.iter().enumerate() {
            let (key, id) = ((true, f.function.name.clone()), Id::Function(u, i));
            own.entry(key).or_insert(id);
            if !f.function.is_static {
                let symbol = f.function.binding.label.as_ref().unwrap_or(&f.function.name);
                self.add_symbol(symbol, id, f.function.binding.replaceable);
            }
        }
        for alias in &loaded.unit.aliases {
            if let Some(id) = own.get(&(true, alias.target.clone())).copied() {
                self.add_symbol(&alias.name, id, alias.is_weak);
            }
        }
        for (i, g) in loaded.unit.globals.iter().enumerate() {
            let (key, id) = ((false, g.symbol.clone()), Id::Object(u, i));
            match g.linkage {
                Linkage::Import | Linkage::Literal => continue,
                Linkage::Internal => {}
                Linkage::Weak => _ = self.external.entry(key.clone()).or_insert(id),
                // One that says what it begins with is the definition.
                Linkage::External => match self.external.get(&key) {
                    Some(known)
                        if !self
                            .object(*known)
                            .is_none_or(|k| k.init.is_empty() || k.linkage == Linkage::Weak) => {}
                    _ => _ = self.external.insert(key.clone(), id),
                },
            }
            own.entry(key).or_insert(id);
        }
        self.by_path.entry(path.to_path_buf()).or_insert(u);
        self.own.push(own);
        self.units.push(loaded.clone());
    }

    /// Notes what others call by a symbol: the first definition, a weak one only where there is no other.
    fn add_symbol(&mut self, symbol: &Arc<str>, id: Id, is_weak: bool) {
        let key = (true, symbol.clone());
        let gives_way = self.weak.contains(symbol) && !is_weak;
        if gives_way || !self.external.contains_key(&key) {
            self.external.insert(key, id);
            if is_weak {
                self.weak.insert(symbol.clone())
            } else {
                self.weak.remove(symbol)
            };
        }
    }

    /// The definition that a call in a file leads to; a weak one of the file may have been replaced.
    pub fn definition(&self, file: &Path, name: &str) -> Option<&Function> {
        match self.function(file, name)? {
            Id::Function(u, i) => Some(&self.units.get(u)?.functions.get(i)?.function),
            Id::Object(..) => None,
        }
    }

    /// As [`Reach::definition`], with its unit.
    pub fn defined(&self, file: &Path, name: &str) -> Option<(&Function, &Unit)> {
        match self.function(file, name)? {
            Id::Function(u, i) => {
                let loaded = self.units.get(u)?;
                Some((&loaded.functions.get(i)?.function, &loaded.unit))
            }
            Id::Object(..) => None,
        }
    }

    /// What tells the layouts of all units.
    pub fn layouts(&self) -> Vec<blake3::Hash> {
        self.units.iter().map(|u| u.unit.layouts()).collect()
    }

    /// What surrounds a function of a unit ([`super::bindings`]), and what runs before `main` and may give
    /// other values to the objects that it names.
    pub fn surroundings(&self, loaded: &LoadedUnit, f: &Function) -> Arc<str> {
        let around = bindings::surroundings(f, &loaded.unit, self.units.iter().map(|u| &**u));
        let Some(&unit) = self.by_path.get(&loaded.unit.path).filter(|_| !self.starters().is_empty()) else {
            return around;
        };
        let named = objects_of(f).into_iter().filter_map(|symbol| self.resolve(unit, &(false, symbol)));
        let began = self.began(&self.variables_of(named.collect(), false));
        if began.is_empty() { around } else { format!("{around}{began}").into() }
    }

    /// What may have been done before a function of a file is called, and counts for what it does then: what
    /// runs before `main` and names the same objects as it, or what it leads to; the functions that others
    /// may have left the addresses of, where it calls what a pointer says.
    pub fn beginnings(&self, file: &Path, name: &str) -> String {
        let Some(id) = self.function(file, name) else { return String::new() };
        let reached = self.reached(vec![id], true);
        let mut begun = match self.starters().is_empty() {
            true => String::new(),
            false => self.began(&self.variables_of(vec![id], true)),
        };
        if reached.iter().any(|id| self.part(*id).is_some_and(|p| p.calls_pointers)) {
            let does = self.does.get_or_init(|| self.hashes(false));
            let hashes: BTreeSet<&Arc<str>> = self.taken().iter().filter_map(|id| does.get(id)).collect();
            hashes.into_iter().for_each(|hash| begun.push_str(&format!("may call {hash}\n")));
        }
        begun
    }

    /// Whether a function of a file, or what it leads to, calls through a pointer that others may have set.
    pub fn calls_unknown(&self, file: &Path, name: &str) -> bool {
        let calls = |id: &Id| {
            let Id::Function(u, i) = *id else { return false };
            let is_plain = || self.part(*id).is_none_or(|p| !p.calls_pointers);
            let Some(loaded) = self.units.get(u).filter(|_| !is_plain()) else { return false };
            let own = loaded.functions.get(i).map(|f| &f.function);
            own.is_some_and(|f| pointers::calls_unknown(f, &loaded.unit))
        };
        let from = self.function(file, name).into_iter().collect();
        self.reached(from, true).iter().any(calls)
    }

    /// The functions whose address something takes.
    fn taken(&self) -> BTreeSet<Id> {
        let all = self.graph().ids.iter();
        let of = |id: &Id| -> Vec<Id> {
            let (Id::Function(u, _) | Id::Object(u, _)) = *id;
            let names = self.part(*id).map(|p| p.taken.as_slice()).unwrap_or_default();
            names.iter().filter_map(|name| self.resolve(u, &(true, name.clone()))).collect()
        };
        all.flat_map(of).collect()
    }

    /// The functions that run before `main`, with the variables that they, or what they lead to, name.
    fn starters(&self) -> &[(Id, BTreeSet<Id>)] {
        self.starters.get_or_init(|| {
            let starts = |l: &LoadedUnit, f: &Function| {
                f.binding.before_main.is_some() || l.unit.hooks.init_array.contains(&f.name)
            };
            let of = |(u, l): (usize, &Arc<LoadedUnit>)| -> Vec<Id> {
                let all = l.functions.iter().enumerate();
                all.filter(|(_, f)| starts(l, &f.function)).map(|(i, _)| Id::Function(u, i)).collect()
            };
            let ids = self.units.iter().enumerate().flat_map(of);
            ids.map(|id| (id, self.variables_of(vec![id], true))).collect()
        })
    }

    /// The functions that run when the program ends: destructors, and what is registered for that.
    fn finishers(&self) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        for (u, loaded) in self.units.iter().enumerate() {
            for (i, f) in loaded.functions.iter().enumerate() {
                let f = &f.function;
                if f.binding.after_main.is_some() || loaded.unit.hooks.fini_array.contains(&f.name) {
                    found.insert(Id::Function(u, i));
                }
                for node in &f.nodes {
                    let Instr::Call { callee: Callee::Direct(name), args, .. } = &node.instr else {
                        continue;
                    };
                    let Some(handler) = args.first().filter(|_| calls(name) == Some(Calls::AtEnd)) else {
                        continue;
                    };
                    match handler {
                        Expr::Addr(Object::Function(name)) => {
                            found.extend(self.resolve(u, &(true, name.clone())));
                        }
                        // One of those whose address something takes.
                        _ => found.extend(self.taken()),
                    }
                }
            }
        }
        found
    }

    /// The functions, by file and name, that run when the program ends and read an object that a function of a
    /// file, or what it leads to, may write; those that, or whose callees, `is_meant` says. Cost: little where
    /// nothing runs at the end; else a walk over all units.
    pub fn finishing(
        &self,
        file: &Path,
        name: &str,
        is_meant: &dyn Fn(&Function) -> bool,
    ) -> BTreeSet<(PathBuf, Arc<str>)> {
        let finishers = self.finishers();
        let Some(id) = self.function(file, name).filter(|_| !finishers.is_empty()) else {
            return BTreeSet::new();
        };
        let mut written = BTreeSet::new();
        let mut through_pointers = false;
        for id in self.reached(vec![id], true) {
            let Some((u, f)) = self.body(id) else { continue };
            let touched = Touched::by(f);
            through_pointers |= touched.through_pointers;
            let names = touched.written.into_iter().chain(touched.given);
            written.extend(names.filter_map(|symbol| self.resolve(u, &(false, symbol))));
        }
        if through_pointers {
            written.extend(self.given_away());
        }
        let reads = |f: &Id| self.variables_of(vec![*f], true).iter().any(|o| written.contains(o));
        let is_meant = |f: &Id| {
            let mut all = self.reached(vec![*f], true).into_iter();
            all.any(|id| self.body(id).is_some_and(|(_, f)| is_meant(f)))
        };
        finishers.iter().filter(|f| reads(f) && is_meant(f)).filter_map(|f| self.named(*f)).collect()
    }

    /// The objects whose addresses are put where pointers may get them from.
    fn given_away(&self) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        for id in &self.graph().ids {
            match *id {
                Id::Object(u, _) => {
                    let names = self.part(*id).map(|p| p.names.as_slice()).unwrap_or_default();
                    let objects = names.iter().filter(|(is_function, _)| !is_function);
                    found.extend(objects.filter_map(|name| self.resolve(u, name)));
                }
                Id::Function(u, _) => {
                    let given = self.body(*id).map(|(_, f)| Touched::by(f).given).unwrap_or_default();
                    found.extend(given.into_iter().filter_map(|s| self.resolve(u, &(false, s))));
                }
            }
        }
        found
    }

    fn body(&self, id: Id) -> Option<(usize, &Function)> {
        let Id::Function(u, i) = id else { return None };
        Some((u, &self.units.get(u)?.functions.get(i)?.function))
    }

    /// The objects with a name outside their files that what runs before `main` leads to, each with the hash of
    /// what that does.
    pub fn begun(&self) -> BTreeSet<(Arc<str>, Arc<str>)> {
        let mut found = BTreeSet::new();
        for (id, objects) in self.starters() {
            let does = self.does.get_or_init(|| self.hashes(false)).get(id);
            let external = objects.iter().filter_map(|o| self.object(*o));
            let external = external.filter(|g| g.linkage == Linkage::External);
            found.extend(external.filter_map(|g| Some((g.symbol.clone(), does?.clone()))));
        }
        found
    }

    /// The objects among these, and those that they lead to, whose values are not known; `deep`: through
    /// functions, too.
    fn variables_of(&self, from: Vec<Id>, deep: bool) -> BTreeSet<Id> {
        let mut found = self.reached(from, deep);
        let is_variable =
            |g: &Global| !g.is_known_constant() && !matches!(g.linkage, Linkage::Literal | Linkage::Import);
        found.retain(|id| self.object(*id).is_some_and(is_variable));
        found
    }

    /// These and what they lead to; through functions only if `deep`.
    fn reached(&self, mut work: Vec<Id>, deep: bool) -> BTreeSet<Id> {
        let mut seen: BTreeSet<Id> = work.iter().copied().collect();
        while let Some(id) = work.pop() {
            let next = self.leads_to(id).into_iter().filter_map(|(_, to)| to);
            let passed = |to: &Id| deep || matches!(to, Id::Object(..));
            work.extend(next.filter(|to| passed(to) && seen.insert(*to)));
        }
        seen
    }

    /// What runs before `main` and names one of these objects: by what it does.
    fn began(&self, objects: &BTreeSet<Id>) -> String {
        let touches = |(_, own): &&(Id, BTreeSet<Id>)| own.iter().any(|o| objects.contains(o));
        let does = self.does.get_or_init(|| self.hashes(false));
        let spelled = self.starters().iter().filter(touches).filter_map(|(id, _)| does.get(id));
        spelled.map(|hash| format!("begun by {hash}\n")).collect()
    }

    /// Whether a function of a file leads to objects that other files may write.
    pub fn shares_variables(&self, file: &Path, name: &str) -> bool {
        let Some(id) = self.function(file, name) else { return false };
        let is_shared = |id: &Id| self.object(*id).is_some_and(|g| g.linkage != Linkage::Internal);
        self.variables_of(vec![id], true).iter().any(is_shared)
    }

    /// A hash of all units with text that may define anything; empty where there is none.
    fn opaque(&self) -> &str {
        self.opaque.get_or_init(|| bindings::opaque_hash(self.units.iter().map(|u| &*u.unit)))
    }

    fn object(&self, id: Id) -> Option<&Global> {
        match id {
            Id::Object(u, i) => self.units.get(u)?.unit.globals.get(i),
            Id::Function(..) => None,
        }
    }

    /// The initial value of an object of structures, by their members.
    fn image(&self, id: Id) -> Option<&str> {
        let Id::Object(u, i) = id else { return None };
        let loaded = self.units.get(u)?;
        let g = loaded.unit.globals.get(i)?;
        let made = || Some(format!("{} {}", g.symbol, members::image(&loaded.unit, g)?).into());
        loaded.parts().images.get(i)?.get_or_init(made).as_deref()
    }

    fn part(&self, id: Id) -> Option<&Part> {
        match id {
            Id::Function(u, i) => self.units.get(u)?.parts().functions.get(i),
            Id::Object(u, i) => self.units.get(u)?.parts().objects.get(i)?.as_ref(),
        }
    }

    /// What a name in a unit stands for.
    fn resolve(&self, unit: usize, name: &(bool, Arc<str>)) -> Option<Id> {
        let own = self.own.get(unit)?.get(name);
        let external = || self.external.get(name);
        if !name.0 {
            // A weak object gives way, too, and one that another file may say the value of.
            let object = own.and_then(|id| self.object(*id));
            let is_weak = object.is_some_and(|g| g.linkage == Linkage::Weak || is_tentative(g));
            return if is_weak { external().or(own) } else { own.or_else(external) }.copied();
        }
        let u = &self.units.get(unit)?.unit;
        // Most names are of other files; functions under other names are few.
        let has_labels = || u.functions.iter().any(|f| f.binding.label.is_some());
        if own.is_none() && u.aliases.is_empty() && !has_labels() {
            return external().copied();
        }
        let named = u.meant(&name.1).and_then(|(f, _)| self.own.get(unit)?.get(&(true, f.name.clone())));
        match u.callee(&name.1) {
            Some(_) => named.copied(),
            None => self.external.get(name).or(named).copied(),
        }
    }

    fn function(&self, file: &Path, name: &str) -> Option<Id> {
        self.resolve(*self.by_path.get(file)?, &(true, name.into()))
    }

    /// Where the function is defined that a name in a file stands for.
    pub fn file_of(&self, file: &Path, name: &str) -> Option<PathBuf> {
        match self.function(file, name)? {
            Id::Function(u, _) | Id::Object(u, _) => Some(self.units.get(u)?.unit.path.clone()),
        }
    }

    #[allow(clippy::type_complexity, reason = "names of a part beside what they lead to")]
    fn leads_to(&self, id: Id) -> Vec<(&(bool, Arc<str>), Option<Id>)> {
        let (Id::Function(u, _) | Id::Object(u, _)) = id;
        let names = self.part(id).map(|p| p.names.as_slice()).unwrap_or_default();
        let mut found: Vec<_> = names.iter().map(|name| (name, self.resolve(u, name))).collect();
        // Compilers choose between an inline definition and the external one.
        let own = |name: &(bool, Arc<str>)| self.own.get(u)?.get(name).copied();
        let inline = names.iter().map(|name| (name, own(name).filter(|id| self.is_inline(*id))));
        found.extend(inline.filter(|other| other.1.is_some()));
        found
    }

    fn is_inline(&self, id: Id) -> bool {
        let Id::Function(u, i) = id else { return false };
        self.units.get(u).and_then(|l| l.functions.get(i)).is_some_and(|f| f.function.binding.is_inline)
    }

    fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| {
            let mut ids = Vec::new();
            for (u, loaded) in self.units.iter().enumerate() {
                ids.extend((0..loaded.functions.len()).map(|i| Id::Function(u, i)));
                ids.extend((0..loaded.unit.globals.len()).map(|i| Id::Object(u, i)));
            }
            let mut edges = DiGraph::with_capacity(ids.len(), ids.len() * 4);
            let at: BTreeMap<Id, NodeIndex> = ids.iter().map(|id| (*id, edges.add_node(()))).collect();
            for id in &ids {
                for (_, to) in self.leads_to(*id) {
                    if let Some(to) = to.and_then(|to| at.get(&to)) {
                        edges.update_edge(at[id], *to, ());
                    }
                }
            }
            Graph { ids, at, edges }
        })
    }

    fn hashes(&self, whole: bool) -> BTreeMap<Id, Arc<str>> {
        let graph = self.graph();
        let mut done: BTreeMap<Id, Arc<str>> = BTreeMap::new();
        // What others lead to comes first.
        for part in petgraph::algo::kosaraju_scc(&graph.edges) {
            let members: BTreeSet<Id> = part.into_iter().map(|n| graph.ids[n.index()]).collect();
            let texts = self.texts_of(&members, whole, &done);
            let mut all: Vec<&str> = texts.iter().map(|(_, t)| t.as_str()).collect();
            all.sort_unstable();
            let all = all.join("\n");
            let hash = |text: &str| -> Arc<str> {
                blake3::hash(format!("{text}\n\n{all}").as_bytes()).to_hex()[..32].into()
            };
            let found: Vec<(Id, Arc<str>)> = texts.iter().map(|(id, text)| (*id, hash(text))).collect();
            done.extend(found);
        }
        done
    }

    /// The texts of a strongly connected part. Its functions go by their order among these texts; by their
    /// names only where that tells too little.
    fn texts_of(
        &self,
        members: &BTreeSet<Id>,
        whole: bool,
        done: &BTreeMap<Id, Arc<str>>,
    ) -> Vec<(Id, String)> {
        let texts = |label: &BTreeMap<Id, String>| -> Vec<(Id, String)> {
            members.iter().map(|id| (*id, self.local_text(*id, whole, label, done))).collect()
        };
        let nameless = texts(&members.iter().map(|id| (*id, "\\inside".to_owned())).collect());
        if members.len() < 2 {
            return nameless;
        }
        let order: BTreeSet<&String> = nameless.iter().map(|(_, text)| text).collect();
        let is_told = order.len() == members.len();
        let label = |(id, text): &(Id, String)| {
            let name = || self.named(*id).map_or_else(|| format!("{id:?}"), |(_, name)| name.to_string());
            let rank = order.iter().position(|t| *t == text).unwrap_or_default();
            (*id, if is_told { format!("\\{rank}") } else { name() })
        };
        texts(&nameless.iter().map(label).collect())
    }

    /// The text of a node with the hashes of what it leads to outside of its strongly connected part, and
    /// what stands for the nodes inside.
    fn local_text(
        &self,
        id: Id,
        whole: bool,
        inside: &BTreeMap<Id, String>,
        done: &BTreeMap<Id, Arc<str>>,
    ) -> String {
        let Some(part) = self.part(id) else { return String::new() };
        // From any state an object that is written is only a name.
        if let Some(g) = self.object(id).filter(|g| !whole && !g.is_known_constant()) {
            return format!("object {} {}", g.symbol, g.size);
        }
        // Functions go by what they are, as the hashes that follow say.
        let mut text = part.nameless.as_ref().unwrap_or(&part.text).clone();
        for ((_, name), to) in self.leads_to(id) {
            text.push(' ');
            match to {
                Some(to) if to == id => text.push_str("\\self"),
                Some(to) if inside.contains_key(&to) => {
                    text.push_str(if matches!(to, Id::Object(..)) { name } else { &inside[&to] });
                }
                Some(to) => text.push_str(done.get(&to).map_or(name, |hash| hash)),
                // It may be in text that is not understood.
                None => {
                    text.push_str(name);
                    text.push_str(if bindings::is_library(name) { "" } else { self.opaque() });
                }
            }
        }
        text
    }

    /// What a function of a file does from any state, with all that it calls.
    pub fn does(&self, file: &Path, name: &str) -> Option<Arc<str>> {
        self.does.get_or_init(|| self.hashes(false)).get(&self.function(file, name)?).cloned()
    }

    /// The same with the initial values of all objects that take part.
    pub fn whole(&self, file: &Path, name: &str) -> Option<Arc<str>> {
        self.whole.get_or_init(|| self.hashes(true)).get(&self.function(file, name)?).cloned()
    }

    /// What an object of a file begins with, with all that it leads to.
    pub fn begins(&self, file: &Path, symbol: &str) -> Option<Arc<str>> {
        let id = self.by_path.get(file).and_then(|u| self.own.get(*u)?.get(&(false, symbol.into())))?;
        self.whole.get_or_init(|| self.hashes(true)).get(id).cloned()
    }

    /// The names that a function of a file leads to and that nothing that was loaded defines, and those of
    /// which only a weak definition was.
    pub fn missing(&self, file: &Path, name: &str) -> BTreeSet<Name> {
        let weak = self.weak_names();
        let mut found = BTreeSet::new();
        let mut seen: BTreeSet<Id> = BTreeSet::new();
        let mut work: Vec<Id> = self.function(file, name).into_iter().collect();
        while let Some(id) = work.pop() {
            for (name, to) in self.leads_to(id) {
                if weak.contains(name) {
                    found.insert(name.clone());
                }
                match to {
                    Some(to) => work.extend(seen.insert(to).then_some(to)),
                    // A text says itself what it is.
                    None if name.1.starts_with('.') => {}
                    None => _ = found.insert(name.clone()),
                }
            }
        }
        found
    }

    /// The names of which there is but a weak definition, and those that units define only weakly.
    pub fn weak_names(&self) -> BTreeSet<Name> {
        let mut found: BTreeSet<Name> = self.weak.iter().map(|name| (true, name.clone())).collect();
        for id in self.external.values() {
            if let Some(g) = self.object(*id).filter(|g| g.linkage == Linkage::Weak) {
                found.insert((false, g.symbol.clone()));
            }
        }
        found
    }

    /// The names that units define for all others, but for weak definitions.
    pub fn strong_names(&self) -> BTreeSet<Name> {
        let weak = self.weak_names();
        self.external.keys().filter(|name| !weak.contains(*name)).cloned().collect()
    }

    /// The objects that a function of a file leads to and of which another file may say what they begin with.
    pub fn tentative(&self, file: &Path, name: &str) -> BTreeSet<Name> {
        let mut found = BTreeSet::new();
        let mut seen: BTreeSet<Id> = BTreeSet::new();
        let mut work: Vec<Id> = self.function(file, name).into_iter().collect();
        while let Some(id) = work.pop() {
            if let Some(g) = self.object(id).filter(|g| is_tentative(g)) {
                found.insert((false, g.symbol.clone()));
            }
            let next = self.leads_to(id).into_iter().filter_map(|(_, to)| to);
            work.extend(next.filter(|to| seen.insert(*to)));
        }
        found
    }

    /// Whether a function of a file names one of these, itself or through the objects that it names.
    pub fn names_one_of(&self, file: &Path, name: &str, names: &BTreeSet<Name>) -> bool {
        self.finds(file, name, names, false)
    }

    /// Whether a function of a file, or what it leads to, names one of these.
    pub fn leads_to_one_of(&self, file: &Path, name: &str, names: &BTreeSet<Name>) -> bool {
        self.finds(file, name, names, true)
    }

    fn finds(&self, file: &Path, name: &str, names: &BTreeSet<Name>, deep: bool) -> bool {
        let mut seen: BTreeSet<Id> = BTreeSet::new();
        let mut work: Vec<Id> = self.function(file, name).into_iter().collect();
        while let Some(id) = work.pop() {
            for (name, to) in self.leads_to(id) {
                if names.contains(name) {
                    return true;
                }
                let passed = |to: &Id| deep || matches!(to, Id::Object(..));
                work.extend(to.filter(|to| passed(to) && seen.insert(*to)));
            }
        }
        false
    }

    /// The values of the objects that a body in a file rests on, as a hash: those that are known; of a
    /// program's start all initial values, of whatever it reaches.
    pub fn values(&self, file: &Path, body: &Function) -> Arc<str> {
        let Some(&unit) = self.by_path.get(file) else { return "".into() };
        let is_start = &*body.name == "main";
        let mut seen: BTreeSet<Id> = BTreeSet::new();
        let named = objects_of(body).into_iter().map(|symbol| (false, symbol));
        let mut work: Vec<Id> = named.filter_map(|name| self.resolve(unit, &name)).collect();
        let own: BTreeSet<Id> = work.iter().copied().collect();
        if is_start {
            work.extend(self.function(file, &body.name));
        }
        while let Some(id) = work.pop() {
            let passed = match self.object(id) {
                Some(g) => is_start || g.is_known_constant(),
                None => is_start,
            };
            if passed && seen.insert(id) {
                work.extend(self.leads_to(id).into_iter().filter_map(|(_, to)| to));
            }
        }
        let mut texts: Vec<&str> = seen
            .into_iter()
            .filter(|id| self.object(*id).is_some())
            .filter_map(|id| match own.contains(&id).then(|| self.image(id)).flatten() {
                // What a body names itself it takes by members, where layouts differ ([`super::layouts`]).
                Some(image) => Some(image),
                None => Some(self.part(id)?.text.as_str()),
            })
            .collect();
        texts.sort_unstable();
        blake3::hash(texts.join(" ").as_bytes()).to_hex()[..16].into()
    }

    /// The functions that a change of some objects reaches, by file and name: those that name one of them
    /// (true), and those that call these.
    pub fn readers(&self, file: &Path, symbol: &str) -> BTreeMap<(PathBuf, Arc<str>), bool> {
        let mut found = BTreeMap::new();
        let object = self.by_path.get(file).and_then(|u| self.own.get(*u)?.get(&(false, symbol.into())));
        let graph = self.graph();
        let Some(start) = object.and_then(|id| graph.at.get(id)) else { return found };
        let mut seen: BTreeSet<NodeIndex> = BTreeSet::from([*start]);
        let mut work = vec![(*start, true)];
        let mut at = 0;
        while let Some(&(node, direct)) = work.get(at) {
            at += 1;
            for from in graph.edges.neighbors_directed(node, petgraph::Direction::Incoming) {
                if !seen.insert(from) {
                    continue;
                }
                match self.named(graph.ids[from.index()]) {
                    Some(function) => {
                        found.insert(function, direct);
                        work.push((from, false));
                    }
                    // A table that leads to it is read for it.
                    None => work.push((from, direct)),
                }
            }
        }
        found
    }

    /// The functions, by file and name, that a function of a file calls or takes the address of, itself or
    /// through the objects that it names; `deep`: and those that these do.
    pub fn callees(&self, file: &Path, name: &str, deep: bool) -> BTreeSet<(PathBuf, Arc<str>)> {
        let mut found = BTreeSet::new();
        let mut seen: BTreeSet<Id> = BTreeSet::new();
        let mut work: Vec<Id> = self.function(file, name).into_iter().collect();
        while let Some(id) = work.pop() {
            for to in self.leads_to(id).into_iter().filter_map(|(_, to)| to) {
                let is_new = seen.insert(to);
                let named = self.named(to);
                if is_new && (deep || named.is_none()) {
                    work.push(to);
                }
                found.extend(named);
            }
        }
        found
    }

    /// Where a function is written, and its name.
    fn named(&self, id: Id) -> Option<(PathBuf, Arc<str>)> {
        let Id::Function(u, i) = id else { return None };
        let loaded = self.units.get(u)?;
        let f = &loaded.functions.get(i)?.function;
        let path = loaded.unit.files.get(f.span.file.0 as usize).unwrap_or(&loaded.unit.path);
        Some((path.clone(), f.name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::units::Units;
    use crate::frontend::c;
    use crate::history::MemoryTree;

    fn reach(files: &[(&str, &str)]) -> Reach {
        let tree = MemoryTree::new(files.iter().copied());
        let units = Units::new(c::Options::default(), 2);
        let load = |(path, _): &(&str, &str)| Some((PathBuf::from(path), units.load(&tree, Path::new(path))));
        Reach::of(&files.iter().map(load).collect())
    }

    /// Whether what `f` of `a.c` does, and the whole of it, differ between two versions.
    #[track_caller]
    fn check(old: &[(&str, &str)], new: &[(&str, &str)], does: bool, whole: bool) {
        let (old_reach, new_reach) = (reach(old), reach(new));
        let file = Path::new("a.c");
        let differs = |of: &dyn Fn(&Reach) -> Option<Arc<str>>| {
            of(&old_reach).expect("f") != of(&new_reach).expect("f")
        };
        assert_eq!(differs(&|r| r.does(file, "f")), does, "does: {old:?} | {new:?}");
        assert_eq!(differs(&|r| r.whole(file, "f")), whole, "whole: {old:?} | {new:?}");
    }

    fn one(old: &str, new: &str, does: bool, whole: bool) {
        check(&[("a.c", old)], &[("a.c", new)], does, whole);
    }

    #[test]
    fn initial_values_reach_their_readers() {
        let lim = |k: &str| format!("static int lim = {k}; int f(int x) {{ return x > lim; }} int g;");
        one(&lim("8"), &lim("9"), true, true);
        let count = |k: &str| format!("static int n = {k}; int f(void) {{ return n++; }}");
        one(&count("8"), &count("9"), false, true);
        let unread =
            |k: &str| format!("static int n = {k}; int f(void) {{ return 1; }} int g(void) {{ return n; }}");
        one(&unread("8"), &unread("9"), false, false);
        let deep = |k: &str| {
            format!(
                "static const int n = {k}; static int g(int x) {{ return x ? g(x - 1) : n; }} int f(int x) {{ return g(x); }}"
            )
        };
        one(&deep("8"), &deep("9"), true, true);
    }

    #[test]
    fn tables_lead_to_what_they_hold() {
        let table = |k: &str| {
            format!(
                "static int one(void) {{ return {k}; }} static int two(void) {{ return 7; }} static int (*const ops[])(void) = {{one, two}}; int f(int i) {{ return ops[i](); }}"
            )
        };
        one(&table("1"), &table("2"), true, true);
        let entry = |e: &str| {
            format!(
                "static int one(void) {{ return 1; }} static int two(void) {{ return 7; }} static int (*const ops[])(void) = {{one, {e}}}; int f(int i) {{ return ops[i](); }}"
            )
        };
        one(&entry("one"), &entry("two"), true, true);
        let text = |t: &str| {
            format!(
                "static const char *const names[] = {{\"a\", \"{t}\"}}; const char *f(int i) {{ return names[i]; }}"
            )
        };
        one(&text("b"), &text("c"), true, true);
    }

    #[test]
    fn other_files_count() {
        let a = ("a.c", "int g(int); extern const int lim; int f(int x) { return g(x) > lim; }");
        let with = |g: &'static str, lim: &'static str| [a, ("b.c", g), ("c.c", lim)];
        let (g, h) = ("int g(int x) { return x; }", "int g(int x) { return -x; }");
        check(&with(g, "const int lim = 1;"), &with(g, "const int lim = 1;"), false, false);
        check(&with(g, "const int lim = 1;"), &with(h, "const int lim = 1;"), true, true);
        check(&with(g, "const int lim = 1;"), &with(g, "const int lim = 2;"), true, true);
        check(&with(g, "int lim = 1;"), &with(g, "int lim = 2;"), false, true);
    }

    #[test]
    fn names_of_functions_do_not_count() {
        let text = |g: &str| {
            format!("int {g}(int x) {{ return x ? {g}(x - 1) : 0; }} int f(int x) {{ return {g}(x); }}")
        };
        one(&text("FormAdd"), &text("formadd"), false, false);
        one("int f(int x) { return a(x); }", "int f(int x) { return b(x); }", true, true);
        // Objects do: which of two is read matters.
        let which = |v: &str| format!("int a, b; int f(void) {{ return {v}; }}");
        one(&which("a"), &which("b"), true, true);
    }

    #[test]
    fn readers_are_found_backwards() {
        let r = reach(&[
            (
                "a.c",
                "int n = 1; static int *p = &n; int g(void) { return *p; } int f(void) { return g(); } int h(void) { return 1; }",
            ),
            ("b.c", "extern int n; int k(void) { return n; }"),
        ]);
        let found = r.readers(Path::new("a.c"), "n");
        let names: Vec<String> =
            found.iter().map(|((_, n), direct)| format!("{n}{}", if *direct { "" } else { "*" })).collect();
        assert_eq!(names, ["f*", "g", "k"]);
    }
}
