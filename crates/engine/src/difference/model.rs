//! Two versions of a program, ready to be aligned: the functions that the entry leads to, their objects
//! named alike, and what differs before the first instruction.

use super::automaton::Automaton;
use super::body::{
    Body, Call, Kind, Maker, Step, Texts, calls_nothing, global_object, is_beyond, is_failure,
};
use super::part::{ALL, Affected, FrameId, ObjectId, Objects, Part};
use super::{Concerns, Version};
use crate::interp::{self, DefinitionId, Program};
use crate::ir::{Callee, Expr, Function, Instr, Linkage, Object, Unit};
use crate::mvicfg::key;
use crate::mvicfg::members::{self, ByMembers};
use crate::semantics::{address, pointers};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Functions beyond which a program is not looked at.
const MAX_FUNCTIONS: usize = 2_000;

pub(super) struct Model<'p> {
    pub objects: Objects,
    pub old: Automaton,
    pub new: Automaton,
    /// What may differ when the entry function begins.
    pub start: Affected,
    sameness: OnceCell<Sameness>,
    versions: [(Version<'p>, Vec<Found>); 2],
    frames: HashMap<String, FrameId>,
    /// By index of the new version's bodies: unit and function.
    pub new_functions: Vec<(usize, Arc<str>)>,
}

struct Sameness {
    /// The same with all that they call.
    functions: BTreeSet<FrameId>,
    callbacks: Callbacks,
}

/// Which calls may lead to functions that are not the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Callbacks {
    /// Of functions elsewhere, which may call what the program has given away the address of.
    elsewhere: bool,
    /// Through pointers, which others may have set to whatever has a name outside its file.
    pointers: bool,
}

/// A function of a program as it is compared.
struct Found {
    definition: DefinitionId,
    unit: usize,
    function: Arc<Function>,
    /// By name and file.
    label: String,
}

impl<'p> Model<'p> {
    /// Returns `None` where there is something that this method cannot speak of: control that comes
    /// back through `longjmp`, handlers, threads, too many functions, no such function.
    pub fn build(old: Version<'p>, new: Version<'p>, concerns: Concerns) -> Option<Model<'p>> {
        let (was, is) = (reachable(&old)?, reachable(&new)?);
        let mut objects = Objects::new();
        let (mut texts, mut frames) = (Texts::default(), HashMap::new());
        let mut start = Affected::default();
        add_changed_globals(&old, &new, &mut objects, &mut start);
        if new.function != "main" && is_laid_out_anew((&old, &was), (&new, &is)) {
            // What others built by names of members is made of other bytes.
            start.add(Part::whole(ALL));
        }
        let mut make = |version: &Version, list: &[Found], other: Option<&[Found]>| -> Vec<Body> {
            let index: HashMap<DefinitionId, usize> =
                list.iter().enumerate().map(|(i, f)| (f.definition, i)).collect();
            let bodies = list.iter().map(|found| {
                let next = frames.len() as FrameId;
                let frame = *frames.entry(found.label.clone()).or_insert(next);
                let unit = &version.program.units()[found.unit];
                let resolve = |name: &str| {
                    let d = version.program.definition_from(found.unit, name)?;
                    Some(index.get(&d).copied().unwrap_or(usize::MAX))
                };
                let enterable = |i: usize, arguments: usize| {
                    list.get(i).is_some_and(|f| !f.function.variadic && f.function.params.len() == arguments)
                };
                let tag = tag(version, found.unit);
                let mut maker = Maker {
                    objects: &mut objects,
                    texts: &mut texts,
                    unit,
                    tag: &tag,
                    concerns: &concerns,
                    resolve: &resolve,
                    enterable: &enterable,
                };
                let counterpart = other.and_then(|o| o.iter().find(|f| f.label == found.label));
                maker.body(found.function.clone(), frame, counterpart.map(|f| &*f.function))
            });
            bodies.collect()
        };
        let old_bodies = make(&old, &was, None);
        let new_bodies = make(&new, &is, Some(&was));
        let new_functions = is.iter().map(|f| (f.unit, f.function.name.clone())).collect();
        expose_addresses(&old, &was, &mut objects);
        expose_addresses(&new, &is, &mut objects);
        Some(Model {
            objects,
            old: Automaton::new(old_bodies, concerns),
            new: Automaton::new(new_bodies, concerns),
            start,
            sameness: OnceCell::new(),
            versions: [(old, was), (new, is)],
            frames,
            new_functions,
        })
    }

    /// What is the same in both versions. Cost: a hash of every function, when it is asked for first.
    fn sameness(&self) -> &Sameness {
        self.sameness.get_or_init(|| {
            let [(old, was), (new, is)] = &self.versions;
            let (same, callbacks) = same(old, was, new, is);
            let functions = same.iter().filter_map(|label| self.frames.get(label).copied()).collect();
            Sameness { functions, callbacks }
        })
    }

    /// Whether a call, which the original program does by the step `was`, does the same in both.
    pub fn is_same_call(&self, was: &Step, call: &Call) -> bool {
        let Kind::Call(old) = &was.kind else { return false };
        let frame = |side: &Automaton, target: usize| side.bodies.get(target).map(|b| b.frame);
        match (old.target, call.target) {
            (Some(a), Some(b)) => {
                let (a, b) = (frame(&self.old, a), frame(&self.new, b));
                a == b && b.is_some_and(|b| self.sameness().functions.contains(&b))
            }
            (None, None) if call.callee.is_some() => !self.sameness().callbacks.elsewhere,
            (None, None) => !self.sameness().callbacks.pointers,
            _ => false,
        }
    }
}

/// Whether a function may come to violate the property at all, as far as calls by name tell. Cost: linear
/// in what it calls.
pub(super) fn may_fail(version: &Version, concerns: &Concerns) -> bool {
    let program = version.program;
    let Some(entry) = program.definition_by_name(version.function) else { return true };
    if version.function == "main" && program.has_hooks() {
        return true;
    }
    let mut seen: BTreeSet<DefinitionId> = BTreeSet::from([entry]);
    let mut work = vec![entry];
    while let Some(definition) = work.pop() {
        let unit = program.definition(definition).map_or(0, |d| d.unit);
        let Some(f) = program.function_of(definition) else { return true };
        for node in &f.nodes {
            match &node.instr {
                Instr::Unreachable | Instr::Call { callee: Callee::Indirect(_), .. } => return true,
                Instr::Unknown { .. } => return true,
                Instr::Call { callee: Callee::Direct(name), .. } => {
                    match program.definition_from(unit, name) {
                        _ if is_failure(name, concerns) => return true,
                        Some(_) if program.is_replaceable(unit, name) => return true,
                        Some(d) => work.extend(seen.insert(d).then_some(d)),
                        None if calls_nothing(name) && !is_beyond(name) => {}
                        None => return true,
                    }
                }
                _ => {}
            }
        }
    }
    concerns.undefined
}

/// What a file is called when static names of several are told apart: the file of the entry is the same
/// in both versions whatever its name.
fn tag(version: &Version, unit: usize) -> String {
    let entry = version.program.definition_by_name(version.function);
    let home = entry.and_then(|d| version.program.definition(d)).map(|d| d.unit);
    if home == Some(unit) {
        return String::new();
    }
    version.program.unit(unit).map_or_else(String::new, |u| u.path.to_string_lossy().into_owned())
}

/// The functions that the entry leads to by name, or that have their address taken; the entry first.
fn reachable(version: &Version) -> Option<Vec<Found>> {
    let program = version.program;
    if version.function == "main" && program.has_hooks() {
        return None;
    }
    let entry = program.definition_by_name(version.function)?;
    let mut work = vec![entry];
    work.extend(address_taken(program));
    let mut seen: BTreeSet<DefinitionId> = BTreeSet::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&definition) = work.get(at) {
        at += 1;
        if !seen.insert(definition) {
            continue;
        }
        let unit = program.definition(definition)?.unit;
        let f = program.function_of(definition)?;
        let unit_of = program.unit(unit)?;
        let function = Arc::new(pointers::resolve(f, unit_of).unwrap_or_else(|| f.clone()));
        if found.len() >= MAX_FUNCTIONS
            || function.binding.unmodelled.is_some()
            || function.nodes.iter().any(|n| n.instr.is_second_return())
        {
            return None;
        }
        for node in &function.nodes {
            if let Instr::Call { callee: Callee::Direct(name), .. } = &node.instr {
                let target = program.definition_from(unit, name);
                let is_beyond = target.is_none() && is_beyond(name);
                if is_beyond
                    || program.is_replaceable(unit, name)
                    || target.is_none() && program.is_opaque() && !interp::is_library(name)
                {
                    return None;
                }
                work.extend(target);
            }
        }
        let label = match definition == entry {
            true => "\\entry".to_owned(),
            false => format!("{}@{}", f.name, if f.is_static { tag(version, unit) } else { String::new() }),
        };
        found.push(Found { definition, unit, function, label });
    }
    Some(found)
}

/// Functions of the program whose address is used for anything but a call.
fn address_taken(program: &Program) -> BTreeSet<DefinitionId> {
    let mut found = BTreeSet::new();
    for (u, unit) in program.units().iter().enumerate() {
        let names = unit.functions_taken();
        found.extend(names.iter().filter_map(|n| program.definition_from(u, n)));
    }
    found
}

/// What makes a function what it is, but for the functions that it calls.
fn own_text(version: &Version, found: &Found) -> String {
    let f = &found.function;
    let layout: Vec<(u64, bool)> = f.vars.iter().map(|v| (v.size, v.in_memory)).collect();
    format!("{} {:?} {layout:?}", key::exact_body_hash(f), tag(version, found.unit))
}

/// Returns the labels of functions that are the same in both versions with all that they call, and
/// which calls may lead to others.
fn same(old: &Version, was: &[Found], new: &Version, is: &[Found]) -> (BTreeSet<String>, Callbacks) {
    let by_label: BTreeMap<&str, &Found> = was.iter().map(|f| (f.label.as_str(), f)).collect();
    let mut pairs: BTreeMap<&str, (&Found, &Found)> = BTreeMap::new();
    for f in is {
        if let Some(o) = by_label.get(f.label.as_str())
            && o.function.name == f.function.name
            && own_text(old, o) == own_text(new, f)
        {
            pairs.insert(&f.label, (*o, f));
        }
    }
    let labels = |list: &'_ [Found]| -> HashMap<DefinitionId, String> {
        list.iter().map(|f| (f.definition, f.label.clone())).collect()
    };
    let (old_labels, new_labels) = (labels(was), labels(is));
    let (old_taken, new_taken) = (address_taken(old.program), address_taken(new.program));
    // The addresses that a whole program uses are in it.
    let named = new.function != "main" && visible(old.program) != visible(new.program);
    let mut callbacks = Callbacks { elsewhere: false, pointers: named };
    loop {
        let before = (pairs.len(), callbacks);
        let kept: BTreeSet<&str> = pairs.keys().copied().collect();
        pairs.retain(|_, (o, f)| {
            f.function.nodes.iter().all(|n| match &n.instr {
                Instr::Call { callee: Callee::Direct(name), .. } => {
                    let a = old.program.definition_from(o.unit, name);
                    let b = new.program.definition_from(f.unit, name);
                    match (a, b) {
                        (None, None) => !callbacks.elsewhere || calls_nothing(name),
                        (Some(a), Some(b)) => {
                            let (a, b) = (old_labels.get(&a), new_labels.get(&b));
                            a == b && b.is_some_and(|l| kept.contains(l.as_str()))
                        }
                        _ => false,
                    }
                }
                Instr::Call { .. } | Instr::Unknown { .. } => !callbacks.pointers,
                _ => true,
            })
        });
        let differs = |taken: &BTreeSet<DefinitionId>, labels: &HashMap<DefinitionId, String>| {
            taken.iter().any(|d| labels.get(d).is_none_or(|l| !pairs.contains_key(l.as_str())))
        };
        callbacks.elsewhere |= differs(&old_taken, &old_labels) || differs(&new_taken, &new_labels);
        callbacks.pointers |= callbacks.elsewhere;
        if before == (pairs.len(), callbacks) {
            break;
        }
    }
    (pairs.keys().map(|label| (*label).to_owned()).collect(), callbacks)
}

/// The functions that have a name outside their files.
fn visible(program: &Program) -> BTreeMap<Arc<str>, String> {
    let functions = program.units().iter().flat_map(|u| &u.functions).filter(|f| !f.is_static);
    functions.map(|f| (f.name.clone(), key::exact_body_hash(f))).collect()
}

/// Whether some function finds the members of structures elsewhere than before, or others there.
fn is_laid_out_anew((old, was): (&Version, &[Found]), (new, is): (&Version, &[Found])) -> bool {
    let units = |v: &Version| v.program.units().iter().map(|u| u.layouts()).collect::<Vec<_>>();
    if units(old) == units(new) {
        return false;
    }
    let by_label: BTreeMap<&str, &Found> = was.iter().map(|f| (f.label.as_str(), f)).collect();
    is.iter().any(|f| {
        let Some(o) = by_label.get(f.label.as_str()) else { return true };
        let (Some(before), Some(after)) = (old.program.unit(o.unit), new.program.unit(f.unit)) else {
            return true;
        };
        let found = members::compare((&o.function, before), (&f.function, after));
        !matches!(found, ByMembers::Untouched | ByMembers::SameIfEqual)
    })
}

/// Static objects that begin differently. Those that are written are part of the input of a function that is no
/// program, and yet what they begin with is what its first call finds.
fn add_changed_globals(old: &Version, new: &Version, objects: &mut Objects, start: &mut Affected) {
    let is_program = new.function == "main";
    let mut images: BTreeMap<ObjectId, String> = BTreeMap::new();
    let image = |unit: &Unit, symbol: &str| {
        // What another unit defines is looked at there.
        let g = unit.global(symbol).filter(|g| g.linkage != Linkage::Import)?;
        let known = g.is_known_constant();
        let binding = if is_program || known { format!("{:?} {known}", g.linkage) } else { String::new() };
        Some(format!("{} {:?} {binding}", g.size, g.init))
    };
    let each = |version: &Version, objects: &mut Objects, f: &mut dyn FnMut(ObjectId, String)| {
        for (u, unit) in version.program.units().iter().enumerate() {
            for g in &unit.globals {
                let id = global_object(objects, unit, &tag(version, u), &g.symbol);
                if let Some(image) = image(unit, &g.symbol) {
                    f(id, image);
                }
            }
        }
    };
    each(old, objects, &mut |id, image| {
        images.insert(id, image);
    });
    let mut changed = Vec::new();
    each(new, objects, &mut |id, text| {
        if images.get(&id).is_some_and(|before| *before != text) {
            changed.push(id);
        }
    });
    changed.into_iter().for_each(|id| start.add(Part::whole(id)));
}

/// A pointer may lead to what an initialiser has the address of, or a function that is not compared has
/// used the address of for anything but accesses.
fn expose_addresses(version: &Version, compared: &[Found], objects: &mut Objects) {
    let program = version.program;
    let known: BTreeSet<(usize, &str)> = compared.iter().map(|f| (f.unit, &*f.function.name)).collect();
    for (u, unit) in program.units().iter().enumerate() {
        let mut symbols: BTreeSet<Arc<str>> = BTreeSet::new();
        for piece in unit.globals.iter().flat_map(|g| &g.init) {
            symbols.extend(piece.symbols().iter().cloned());
        }
        let others = unit.functions.iter().filter(|f| !known.contains(&(u, &*f.name)));
        for node in others.flat_map(|f| &f.nodes) {
            node.instr.for_each_operand(&mut |e| {
                if is_access(&node.instr, e) {
                    return;
                }
                e.for_each(&mut |x| {
                    if let Expr::Addr(Object::Global(symbol)) = x {
                        symbols.insert(symbol.clone());
                    }
                });
            });
        }
        let tag = tag(version, u);
        for symbol in symbols {
            let id = global_object(objects, unit, &tag, &symbol);
            objects.expose(id);
        }
    }
}

/// Whether an operand is the address of an access, evidently into one object.
fn is_access(instr: &Instr, operand: &Expr) -> bool {
    let address = match instr {
        Instr::Load { addr, .. } | Instr::Store { addr, .. } => std::ptr::eq(addr, operand),
        Instr::Copy { dst, src, .. } => std::ptr::eq(dst, operand) || std::ptr::eq(src, operand),
        Instr::Zero { dst, .. } => std::ptr::eq(dst, operand),
        _ => false,
    };
    address && address::object(operand).is_some()
}
