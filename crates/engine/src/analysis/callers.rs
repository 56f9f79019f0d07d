//! Callers whose own text stays, but whose behaviour a changed callee changes
//! (`docs/design/reach-of-a-change.md`).
//!
//! A caller is found by a search for the callee's name among the identifiers of the newest version's
//! sources; files that the range does not touch are parsed only then, a few at most. Callers are
//! reported for what a replayed input shows, never for what is merely no longer provable, and the
//! lines that cause it are the callee's. What a limit leaves out is said.

use super::classes::Analysed;
use super::lineage::{Lineage, Member, VersionFiles};
use super::linked::{self, MAX_LINKED, Name, Search};
use super::reach::Reach;
use super::request::{PointChoice, Request};
use super::units::{LoadResult, Units};
use super::world::World;
use super::{difference, elsewhere, function};
use crate::fact::Standing;
use crate::invariant::{Property, Undecided};
use crate::ir::{Callee, Expr, Instr, Object};
use crate::mvicfg::{ClassId, VersionId};
use crate::report::{FunctionReport, FunctionStatus, PointKind, RepoPath, Report, Version};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most files that are parsed for nothing but their callers.
const MAX_FILES: usize = 4;
/// Most callers of which it is asked, without a solver, whether the change may do them harm.
const MAX_ASKED: usize = 40;
/// Most callers that are analysed.
const MAX_CALLERS: usize = 8;

/// What was found beside the changed functions.
#[derive(Default)]
pub(super) struct Callers {
    pub lineages: Vec<Lineage>,
    pub analysed: Vec<Analysed>,
    /// What a limit left out, for people.
    pub notices: Vec<String>,
}

/// A function whose change its callers may see.
struct Changed<'a> {
    newest: &'a Member,
    /// By version; where only what objects begin with differs, by that.
    class_of: Vec<Option<ClassId>>,
    /// An input shows it, or it begins with other values; else it is open, and only callers at hand are asked.
    is_shown: bool,
}

/// Looks for callers of functions that observably changed, or may have: an input may show it in them (variadic
/// functions, handlers). Where only properties are asked for, what no run shows may be seen by an assertion all
/// the same.
pub(super) fn find(
    request: &Request,
    units: &Units,
    files: &[VersionFiles],
    lineages: &[Lineage],
    analysed: &[Analysed],
    world: &World,
) -> Callers {
    let mut found = Callers::default();
    // What is asserted may stand further up.
    let deep = request.analysis.properties_only;
    let budget = request.analysis.limits.budget;
    let changed: BTreeMap<Arc<str>, Changed> =
        lineages.iter().zip(analysed).filter_map(|(l, a)| changed(l, a, deep, &world.reaches)).collect();
    let is_narrow = request.analysis.function.is_some() || request.analysis.whole;
    if changed.is_empty() || is_narrow {
        return found;
    }
    // Callers in the same files have callers elsewhere in turn.
    let beside = lineages.iter().filter_map(Lineage::newest).map(|(_, m)| m);
    let beside = beside.filter(|m| deep && salt(own(m), &changed, deep, &world.reaches, 0).is_some());
    let through: Vec<&Member> = beside.collect();
    let mut more = all_elsewhere(request, units, files, (&changed, &through), deep, &mut found.notices);
    add_linked(request, units, files, &changed, &mut more);
    let wider;
    let world = match more.is_empty() {
        true => world,
        false => {
            let files = with_files(files, &more);
            let reaches = files.iter().map(Reach::of).collect();
            wider = World::new(&files, reaches, lineages, world.watch);
            &wider
        }
    };
    let mut candidates: Vec<Lineage> = Vec::new();
    for (lineage, a) in lineages.iter().zip(analysed).filter(|(_, a)| a.diff.is_none()) {
        // A function that is there all along.
        if a.class_of.iter().all(Option::is_some)
            && let Some((_, m)) = lineage.newest()
            && let Some(salt) = salt(own(m), &changed, deep, &world.reaches, a.class_of.len())
        {
            candidates.push(Lineage { members: lineage.members.clone(), salt });
        }
    }
    candidates.extend(callers_in(&more, &changed, deep, &world.reaches));
    let pinned = |l: &Lineage| {
        let about = |m: &Member| {
            request.analysis.specification.pins.iter().any(|p| p.is_about(&m.file, &m.function.name))
        };
        l.newest().is_some_and(|(_, m)| about(m))
    };
    if deep {
        // The nearest ones tell most.
        let direct = |l: &Lineage| {
            l.newest().is_some_and(|(_, m)| salt(own(m), &changed, false, &world.reaches, 0).is_some())
        };
        candidates.sort_by_key(|l| (!pinned(l), !direct(l), place(l)));
        let most = if budget.is_first_look() { MAX_CALLERS } else { MAX_ASKED };
        let more = candidates.len().saturating_sub(most);
        if more > 0 {
            found.notices.push(format!("note: {more} more callers of changed functions were not looked at"));
            candidates.truncate(most);
        }
        let at_stake: Vec<bool> = candidates
            .par_iter()
            .map(|l| pinned(l) || !world.watch.is_over() && !difference::is_harmless(l, world, true, budget))
            .collect();
        let mut at_stake = at_stake.into_iter();
        candidates.retain(|_| at_stake.next() == Some(true));
    }
    candidates.sort_by_key(|l| (!pinned(l), place(l)));
    if candidates.len() > MAX_CALLERS {
        let more = candidates.len() - MAX_CALLERS;
        found.notices.push(format!("note: {more} more callers of changed functions were not looked at"));
        candidates.truncate(MAX_CALLERS);
    }
    if deep {
        let given = candidates.iter().filter_map(|l| given_away(l, &changed, world));
        found.notices.extend(given.collect::<BTreeSet<String>>());
    }
    let points = PointChoice { kinds: Some(vec![PointKind::Exit]), ..PointChoice::default() };
    let options = super::Options { points, all: false, locals: false, ..request.analysis.clone() };
    // What callers show is one more input for what is told already: they share with what changed, and nobody waits
    // for a program's end.
    let mut options = match deep && !budget.is_first_look() {
        true => options,
        false => super::shared_out(&options, changed.len() + candidates.len()),
    };
    if !deep {
        options.limits.budget.patience = 0;
    }
    let results = function::analyse_all(&candidates, world, &options);
    for (lineage, mut a) in candidates.into_iter().zip(results) {
        let Some(diff) = &mut a.diff else { continue };
        for point in &mut diff.points {
            point.churns.retain(|c| c.subject.is_observable() && c.witness.is_some());
            point.invariants.clear();
            point.undecided.clear();
        }
        diff.points.retain(|p| !p.churns.is_empty());
        let newest = ClassId::new(a.representative.len().saturating_sub(1));
        let is_open = |p: &Property| deep && p.standing.get(&newest) == Some(&Standing::Open);
        diff.properties.retain(|p| is_open(p) || p.standing.values().any(|s| *s == Standing::Fails));
        let is_told = |p: &Property| !p.breaks.is_empty() || !p.starts.is_empty() || is_open(p);
        if !diff.points.is_empty() || diff.properties.iter().any(is_told) {
            found.lineages.push(lineage);
            found.analysed.push(a);
        }
    }
    found
}

/// Says where a caller hands a changed function to what nobody defines and no run can do: a thread, a library.
fn given_away(l: &Lineage, changed: &BTreeMap<Arc<str>, Changed>, world: &World) -> Option<String> {
    let (version, m) = l.newest()?;
    let names: BTreeSet<Name> = changed.keys().map(|name| (true, name.clone())).collect();
    let mut taken: Option<Arc<str>> = None;
    let reach = world.reaches.get(version.index())?;
    for node in &m.function.nodes {
        node.instr.for_each_expr(&mut |e| match e {
            Expr::Addr(Object::Function(name))
                if changed.contains_key(name) || reach.leads_to_one_of(&m.file, name, &names) =>
            {
                taken = Some(name.clone());
            }
            _ => {}
        });
    }
    let unknown = |name: &&Arc<str>| {
        world.resolve(version, &m.unit, name).is_none() && !crate::interp::is_library(name)
    };
    let called = m.function.nodes.iter().find_map(|n| match &n.instr {
        Instr::Call { callee: Callee::Direct(name), args, .. } if !args.is_empty() => {
            Some(name).filter(unknown)
        }
        _ => None,
    })?;
    let (file, name) = (RepoPath::from(&m.file), &m.function.name);
    Some(format!(
        "note: {file}: {name}() gives {}() away, and what {called}() does with it is not known",
        taken?
    ))
}

fn place(l: &Lineage) -> Option<(PathBuf, Arc<str>)> {
    l.newest().map(|(_, m)| (m.file.clone(), m.function.name.clone()))
}

/// A function whose change an input shows, or that is open, if it keeps its name; `any`: or any that changed,
/// or that other initial values change.
fn changed<'a>(
    l: &'a Lineage,
    a: &'a Analysed,
    any: bool,
    reaches: &[Reach],
) -> Option<(Arc<str>, Changed<'a>)> {
    let points = || a.diff.iter().flat_map(|d| &d.points);
    let told = points().flat_map(|p| &p.churns).any(|c| c.subject.is_observable() && c.witness.is_some());
    let is_open = any || points().any(|p| !p.undecided.is_empty());
    let class_of = match a.representative.len() > 1 {
        true => a.class_of.clone(),
        false => beginnings(l, reaches),
    };
    let begins = a.representative.len() <= 1 && class_of.iter().flatten().any(|c| *c > ClassId::OLD);
    let is_shown = told || a.is_shown || begins;
    let is_changed = is_shown || is_open && class_of.iter().flatten().any(|c| *c > ClassId::OLD);
    let (_, newest) = l.newest()?;
    let name = newest.function.name.clone();
    let kept = l.members.iter().flatten().all(|m| m.function.name == name);
    // Nobody calls a program's start.
    let found = Changed { newest, class_of, is_shown };
    (is_changed && kept && &*name != "main").then_some((name, found))
}

/// By version of a function that does the same in all of them, from which initial values it does it.
fn beginnings(l: &Lineage, reaches: &[Reach]) -> Vec<Option<ClassId>> {
    type Hash<'h> = dyn Fn(&Reach, &Member) -> Option<Arc<str>> + 'h;
    let kinds = |hash: &Hash| -> Vec<Option<ClassId>> {
        let mut known: Vec<Arc<str>> = Vec::new();
        let number = |(m, reach): (&Option<Member>, &Reach)| {
            let own = hash(reach, m.as_ref()?)?;
            Some(ClassId::new(known.iter().position(|k| *k == own).unwrap_or_else(|| {
                known.push(own);
                known.len() - 1
            })))
        };
        l.members.iter().zip(reaches).map(number).collect()
    };
    let does = kinds(&|reach, m| reach.does(&m.file, &m.function.name));
    match does.iter().flatten().any(|k| *k > ClassId::OLD) {
        true => does.iter().map(|k| k.map(|_| ClassId::OLD)).collect(),
        false => kinds(&|reach, m| reach.whole(&m.file, &m.function.name)),
    }
}

fn own(m: &Member) -> (&Path, &Arc<str>) {
    (&m.file, &m.function.name)
}

/// What tells the versions of a caller apart: the classes of the changed functions that it calls, by name or
/// through tables; `deep`: or that these call. `None`: it calls none.
fn salt(
    (file, name): (&Path, &Arc<str>),
    changed: &BTreeMap<Arc<str>, Changed>,
    deep: bool,
    reaches: &[Reach],
    versions: usize,
) -> Option<Vec<Vec<Option<ClassId>>>> {
    let called = reaches.last()?.callees(file, name, deep);
    let is_called = |other: &Arc<str>, c: &Changed| {
        // A function of its own with that name is another one.
        called.contains(&(c.newest.file.clone(), other.clone())) && other != name
    };
    let called: Vec<&Changed> =
        changed.iter().filter(|(name, c)| is_called(name, c)).map(|(_, c)| c).collect();
    let of = |v: VersionId| called.iter().map(|c| c.class_of.get(v.index()).copied().flatten()).collect();
    (!called.is_empty()).then(|| VersionId::first(versions).map(of).collect())
}

/// A file that the range does not touch, with the versions in which it is what it is in the newest one: under
/// a path limit it may have changed all the same.
type Further = (PathBuf, LoadResult, Vec<bool>);

/// Files that the range does not touch and that name some functions.
fn elsewhere(
    request: &Request,
    units: &Units,
    known: &BTreeSet<PathBuf>,
    names: &BTreeSet<Arc<str>>,
    most: usize,
    notices: &mut Vec<String>,
) -> Vec<Further> {
    let Some(version) = request.versions.last() else { return Vec::new() };
    // A promise about a caller is looked at first.
    let pinned: BTreeSet<&[u8]> =
        request.analysis.specification.pins.iter().map(|p| p.name().as_bytes()).collect();
    let found = elsewhere::naming(&*version.tree, known, names, &pinned, most);
    notices.extend(found.notices("callers"));
    let load = |path: PathBuf| {
        let loaded = units.load(&*version.tree, &path);
        let id = version.tree.content_id(&path);
        let same = request.versions.iter().map(|v| v.tree.content_id(&path) == id).collect();
        (path, loaded, same)
    };
    found.files.into_par_iter().map(load).filter(|(_, loaded, _)| loaded.is_ok()).collect()
}

/// Files elsewhere that name changed functions or those through which known files call these; `deep`: and
/// those that name the callers in them, in turn.
fn all_elsewhere(
    request: &Request,
    units: &Units,
    files: &[VersionFiles],
    (changed, through): (&BTreeMap<Arc<str>, Changed>, &[&Member]),
    deep: bool,
    notices: &mut Vec<String>,
) -> Vec<Further> {
    let mut known: BTreeSet<PathBuf> =
        files.last().into_iter().flatten().flatten().map(|(p, _)| p.clone()).collect();
    let visible = |m: &Member| !m.function.is_static && &*m.function.name != "main";
    let asked_for = changed.values().filter(|c| c.is_shown || deep);
    let named = asked_for.map(|c| c.newest).chain(through.iter().copied()).filter(|m| visible(m));
    let mut names: BTreeSet<Arc<str>> = named.map(|m| m.function.name.clone()).collect();
    let mut asked = BTreeSet::new();
    let mut all: Vec<Further> = Vec::new();
    loop {
        names.retain(|name| asked.insert(name.clone()));
        let more = elsewhere(request, units, &known, &names, MAX_FILES - all.len().min(MAX_FILES), notices);
        let is_last = more.is_empty() || !deep;
        known.extend(more.iter().map(|(path, _, _)| path.clone()));
        all.extend(more);
        if is_last {
            return all;
        }
        let reaches: Vec<Reach> = with_files(files, &all).iter().map(Reach::of).collect();
        let callers = callers_in(&all, changed, deep, &reaches);
        let newest = callers.iter().filter_map(Lineage::newest).map(|(_, m)| m).filter(|m| visible(m));
        names = newest.map(|m| m.function.name.clone()).collect();
    }
}

/// Adds what the programs are linked with that are among these files: they are run.
fn add_linked(
    request: &Request,
    units: &Units,
    files: &[VersionFiles],
    changed: &BTreeMap<Arc<str>, Changed>,
    more: &mut Vec<Further>,
) {
    let Some(version) = request.versions.last() else { return };
    let (memory, mut asked) = (linked::Memory::default(), Search::default());
    let mut room = MAX_LINKED;
    let Some(reach) = with_files(files, more).last().map(Reach::of) else { return };
    let named: BTreeSet<Name> = changed.keys().map(|name| (true, name.clone())).collect();
    let loaded = files.last().into_iter().flatten().flatten().map(|(path, loaded)| (path, loaded));
    let starts: Vec<PathBuf> = loaded
        .chain(more.iter().map(|(path, loaded, _)| (path, loaded)))
        .filter(|(_, loaded)| loaded.as_ref().is_ok_and(|l| l.unit.function("main").is_some()))
        .filter(|(path, _)| reach.leads_to_one_of(path, "main", &named))
        .map(|(path, _)| path.clone())
        .collect();
    while let Some(beside) = starts.first() {
        let wider = with_files(files, more);
        let Some(newest) = wider.last() else { return };
        let reach = Reach::of(newest);
        let defined = starts.iter().flat_map(|path| reach.missing(path, "main")).collect();
        let search =
            Search { defined, named: BTreeSet::new(), hooks: true, asserting: false }.without(&asked);
        let known = newest.iter().flatten().map(|(path, _)| path.clone()).collect();
        let paths = linked::search(&*version.tree, &known, &search, &memory).chosen(beside);
        asked.join(search);
        if paths.is_empty() || room == 0 {
            return;
        }
        for path in paths.into_iter().take(room) {
            room -= 1;
            let (loaded, id) = (units.load(&*version.tree, &path), version.tree.content_id(&path));
            let same = request.versions.iter().map(|v| v.tree.content_id(&path) == id).collect();
            more.push((path, loaded, same));
        }
    }
}

/// The files of all versions with further ones.
fn with_files(files: &[VersionFiles], more: &[Further]) -> Vec<VersionFiles> {
    let wider = files.iter().enumerate().map(|(v, version)| {
        let own = version.iter().cloned();
        let more = more.iter().map(|(path, loaded, same)| {
            same.get(v).is_some_and(|s| *s).then(|| (path.clone(), loaded.clone()))
        });
        own.chain(more).collect()
    });
    wider.collect()
}

/// The functions of further files that call changed ones.
fn callers_in(
    more: &[Further],
    changed: &BTreeMap<Arc<str>, Changed>,
    deep: bool,
    reaches: &[Reach],
) -> Vec<Lineage> {
    let mut lineages = Vec::new();
    for (path, loaded, same) in more {
        let Ok(loaded) = loaded else { continue };
        for f in loaded.functions.iter().filter(|f| f.function.span.file.0 == 0) {
            // Most call nothing that changed: of these nothing more is found out.
            let Some(salt) = salt((path, &f.function.name), changed, deep, reaches, same.len()) else {
                continue;
            };
            let member = |(v, same): (VersionId, &bool)| {
                let reach = reaches.get(v.index()).filter(|_| *same)?;
                Some(Member::new(loaded, f, path, reach))
            };
            let members: Vec<Option<Member>> = VersionId::each(same).map(member).collect();
            if members.last().is_some_and(Option::is_some) {
                lineages.push(Lineage { members, salt });
            }
        }
    }
    lineages
}

/// Where a function that is looked at for its own sake only calls what changed, and no run shows a difference,
/// that is not known to be none.
pub(super) fn leave_open(lineage: &Lineage, a: &mut Analysed, is_asked: bool) {
    let Some(diff) = a.diff.as_mut() else { return };
    // Two versions that were shown to do the same.
    if a.representative.len() == 2 && diff.points.iter().any(|p| !p.same.is_empty()) {
        return;
    }
    if lineage.salt.is_empty() && !(is_asked && diff.points.iter().any(|p| p.silent)) {
        return;
    }
    if diff.points.iter().all(|p| p.churns.is_empty())
        && let Some(point) = diff.points.first_mut()
    {
        let reason = "what it calls changed, and no input was found that shows a difference";
        point.undecided.push(Undecided::fact("all facts", reason));
    }
}

/// Gives the churns of callers the lines that changed their callees, and takes away facts that read
/// the same on both sides.
pub(super) fn explain(report: &mut Report, callers: &Callers) {
    let names: BTreeSet<(PathBuf, String)> =
        callers.lineages.iter().filter_map(place).map(|(file, name)| (file, name.to_string())).collect();
    let is_caller = |f: &FunctionReport| names.contains(&(f.file.to_utf8_path(), f.name.clone()));
    let mut sources: BTreeMap<(Version, Version, String), _> = BTreeMap::new();
    for f in report.functions.iter().filter(|f| !is_caller(f)) {
        for c in f.points.iter().flat_map(|p| &p.churns).filter(|c| c.observable && c.witness.is_some()) {
            let place = format!("{}:{}", f.file, f.name);
            let source = (c.causes.clone(), c.hunks.clone(), place);
            sources.entry((c.from, c.to, f.name.clone())).or_insert(source);
        }
    }
    for f in &mut report.functions {
        let Some(lineage) = callers
            .lineages
            .iter()
            .find(|l| place(l).is_some_and(|(file, name)| file == f.file.to_utf8_path() && *name == *f.name))
        else {
            continue;
        };
        f.outcome = FunctionStatus::Unchanged;
        f.complete = true;
        f.unknowns.clear();
        let called: BTreeSet<String> = lineage.newest().map(|(_, m)| direct_calls(m)).unwrap_or_default();
        for churn in f.points.iter_mut().flat_map(|p| &mut p.churns) {
            let removed: BTreeSet<String> = churn.removed.iter().map(|f| f.text.clone()).collect();
            let added: BTreeSet<String> = churn.added.iter().map(|f| f.text.clone()).collect();
            churn.removed.retain(|f| !added.contains(&f.text));
            churn.added.retain(|f| !removed.contains(&f.text));
            let of_callee = sources.iter().find(|((from, to, name), _)| {
                (*from, *to) == (churn.from, churn.to) && called.contains(name)
            });
            if let Some((_, (causes, hunks, place))) = of_callee {
                (churn.causes, churn.hunks) = (causes.clone(), hunks.clone());
                churn.through = vec![place.clone()];
            }
        }
    }
}

fn direct_calls(m: &Member) -> BTreeSet<String> {
    m.function.nodes.iter().flat_map(|n| n.instr.named_callees()).map(|name| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Options, diff, memory};
    use crate::frontend::c;
    use crate::report::FunctionStatus;

    /// `area.c` changes from one text to another; `main.c` and `other.c` stay. One line a function
    /// with churns: `*` marks an unchanged caller.
    #[track_caller]
    fn check(old: &str, new: &str, main: &str, expected: &[&str]) {
        let other = "int twice(int);\nint unrelated(int x) { return twice(x); }\n";
        let files = |text| vec![("area.c", text), ("main.c", main), ("other.c", other)];
        let request = memory::request(
            &[files(old), files(new)],
            c::Options::default(),
            Options { jobs: 1, ..Options::default() },
        );
        let report = diff(&request);
        let churning = report.functions.iter().filter(|f| f.points.iter().any(|p| !p.churns.is_empty()));
        let shown = churning.map(|f| {
            let mark = if f.outcome == FunctionStatus::Unchanged { "*" } else { "" };
            let churn = f.points.iter().flat_map(|p| &p.churns).next();
            let causes = churn.map(|c| c.causes.added.iter().map(|l| format!(" {}:{}", l.file, l.line)));
            format!("{mark}{}{}", f.name, causes.into_iter().flatten().collect::<String>())
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{:?}", report.notices);
    }

    #[test]
    fn a_caller_elsewhere_is_found_when_a_run_shows_it() {
        let area = |k: &str| format!("int area(int a)\n{{\n    return a * {k};\n}}\n");
        let main = "int area(int);\nint price(int a) { return area(a) + 1; }\nint sign(int a) { return area(a) * 0; }\nint none(int a) { return a; }\n";
        check(&area("2"), &area("3"), main, &["area area.c:3", "*price area.c:3"]);
        check(&area("2"), &area("2 + 0"), main, &[]);
        // A function of the file's own with that name is another one.
        let own = "static int area(int a) { return a; }\nint price(int a) { return area(a); }\n";
        check(&area("2"), &area("3"), own, &["area area.c:3"]);
        let hidden = |k: &str| format!("static {}int use(int a) {{ return area(a); }}\n", area(k));
        check(&hidden("2"), &hidden("3"), main, &["area area.c:3", "use area.c:3"]);
    }

    #[test]
    fn a_caller_in_the_same_file_is_found_too() {
        let body = "x = x * 3 + 1; ".repeat(60);
        let file = |k: &str| {
            format!(
                "int big(int x)\n{{\n    {body}\n    return x + {k};\n}}\nint use(int x) {{ return big(x); }}\n"
            )
        };
        check(&file("1"), &file("2"), "", &["big area.c:4", "*use area.c:4"]);
    }
}
