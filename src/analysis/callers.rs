//! Callers whose own text stays, but whose behaviour a changed callee changes (design D10).
//!
//! A caller is found by a search for the callee's name among the identifiers of the newest version's
//! sources; files that the range does not touch are parsed only then, a few at most. Callers are
//! reported for what a replayed input shows, never for what is merely no longer provable, and the
//! lines that cause it are the callee's. What a limit leaves out is said.

use super::classes::{self, Analysed, World};
use super::lineage::{Lineage, Member, VersionFiles};
use super::reach::Reach;
use super::units::{LoadResult, Units};
use super::{PointChoice, Request, difference, elsewhere};
use crate::invariant::{Standing, Undecided};
use crate::report::{FunctionReport, Outcome, PointKind, Report, Version};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
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

/// A function with a change that an input shows.
struct Changed<'a> {
    newest: &'a Member,
    class_of: &'a [Option<usize>],
}

/// Looks for callers of functions that observably changed.
pub(super) fn find(
    request: &Request,
    units: &Units,
    files: &[VersionFiles],
    lineages: &[Lineage],
    analysed: &[Analysed],
    world: &World,
) -> Callers {
    let mut found = Callers::default();
    let changed: BTreeMap<Arc<str>, Changed> =
        lineages.iter().zip(analysed).filter_map(|(l, a)| changed(l, a)).collect();
    let is_narrow = request.analysis.function.is_some() || request.analysis.whole;
    if changed.is_empty() || is_narrow {
        return found;
    }
    // What is asserted may stand further up.
    let deep = request.analysis.properties_only;
    let more = all_elsewhere(request, units, files, &changed, deep, &mut found.notices);
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
            && let Some(salt) = salt(m, &changed, deep, &world.reaches, a.class_of.len())
        {
            candidates.push(Lineage { members: lineage.members.clone(), salt });
        }
    }
    candidates.extend(callers_in(&more, &changed, deep, &world.reaches));
    let pinned = |l: &Lineage| {
        let about = |m: &Member| request.analysis.pins.iter().any(|p| p.is_about(&m.file, &m.function.name));
        l.newest().is_some_and(|(_, m)| about(m))
    };
    if deep {
        // The nearest ones tell most.
        let direct = |l: &Lineage| {
            l.newest().is_some_and(|(_, m)| salt(m, &changed, false, &world.reaches, 0).is_some())
        };
        candidates.sort_by_key(|l| (!pinned(l), !direct(l), place(l)));
        let more = candidates.len().saturating_sub(MAX_ASKED);
        if more > 0 {
            found.notices.push(format!("note: {more} more callers of changed functions were not looked at"));
            candidates.truncate(MAX_ASKED);
        }
        let at_stake: Vec<bool> = candidates
            .par_iter()
            .map(|l| pinned(l) || !world.watch.is_over() && !difference::is_harmless(l, world, true))
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
    let points = PointChoice { kinds: Some(vec![PointKind::Exit]), ..PointChoice::default() };
    let options = super::Options { points, all: false, locals: false, ..request.analysis.clone() };
    let results = classes::analyse_all(&candidates, world, &options);
    for (lineage, mut a) in candidates.into_iter().zip(results) {
        let Some(diff) = &mut a.diff else { continue };
        for point in &mut diff.points {
            point.churns.retain(|c| c.subject.is_observable() && c.witness.is_some());
            point.invariants.clear();
            point.undecided.clear();
        }
        diff.points.retain(|p| !p.churns.is_empty());
        diff.properties.retain(|p| p.standing.values().any(|s| *s == Standing::Fails));
        if !diff.points.is_empty() || diff.properties.iter().any(|p| !p.breaks.is_empty()) {
            found.lineages.push(lineage);
            found.analysed.push(a);
        }
    }
    found
}

fn place(l: &Lineage) -> Option<(PathBuf, Arc<str>)> {
    l.newest().map(|(_, m)| (m.file.clone(), m.function.name.clone()))
}

/// A function whose change an input shows, if it keeps its name.
fn changed<'a>(l: &'a Lineage, a: &'a Analysed) -> Option<(Arc<str>, Changed<'a>)> {
    let churns = a.diff.iter().flat_map(|d| &d.points).flat_map(|p| &p.churns);
    let told = churns.into_iter().any(|c| c.subject.is_observable() && c.witness.is_some());
    let shown = told || a.is_shown;
    let (_, newest) = l.newest()?;
    let name = newest.function.name.clone();
    let kept = l.members.iter().flatten().all(|m| m.function.name == name);
    // Nobody calls a program's start.
    (shown && kept && &*name != "main").then(|| (name, Changed { newest, class_of: &a.class_of }))
}

/// What tells the versions of a caller apart: the classes of the changed functions that it calls, by name or
/// through tables; `deep`: or that these call. `None`: it calls none.
fn salt(
    m: &Member,
    changed: &BTreeMap<Arc<str>, Changed>,
    deep: bool,
    reaches: &[Reach],
    versions: usize,
) -> Option<Vec<Vec<Option<usize>>>> {
    let called = reaches.last()?.callees(&m.file, &m.function.name, deep);
    let is_called = |name: &Arc<str>, c: &Changed| {
        // A function of its own with that name is another one.
        called.contains(&(c.newest.file.clone(), name.clone())) && *name != m.function.name
    };
    let called: Vec<&Changed> =
        changed.iter().filter(|(name, c)| is_called(name, c)).map(|(_, c)| c).collect();
    let of = |v: usize| called.iter().map(|c| c.class_of.get(v).copied().flatten()).collect();
    (!called.is_empty()).then(|| (0..versions).map(of).collect())
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
    let pinned: BTreeSet<&[u8]> = request.analysis.pins.iter().map(|p| p.name().as_bytes()).collect();
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

/// Files elsewhere that name changed functions; `deep`: and those that name the callers in them, in turn.
fn all_elsewhere(
    request: &Request,
    units: &Units,
    files: &[VersionFiles],
    changed: &BTreeMap<Arc<str>, Changed>,
    deep: bool,
    notices: &mut Vec<String>,
) -> Vec<Further> {
    let mut known: BTreeSet<PathBuf> =
        files.last().into_iter().flatten().flatten().map(|(p, _)| p.clone()).collect();
    let visible = |m: &Member| !m.function.is_static && &*m.function.name != "main";
    let mut names: BTreeSet<Arc<str>> =
        changed.iter().filter(|(_, c)| visible(c.newest)).map(|(n, _)| n.clone()).collect();
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
            let member = |(v, same): (usize, &bool)| {
                let reach = reaches.get(v).filter(|_| *same)?;
                Some(Member::new(loaded, f, path, reach))
            };
            let members: Vec<Option<Member>> = same.iter().enumerate().map(member).collect();
            let Some(newest) = members.last().and_then(Option::as_ref) else { continue };
            if let Some(salt) = salt(newest, changed, deep, reaches, same.len()) {
                lineages.push(Lineage { members, salt });
            }
        }
    }
    lineages
}

/// Where a function that is looked at for its own sake only calls what changed, and no run shows a difference,
/// that is not known to be none.
pub(super) fn leave_open(lineage: &Lineage, a: &mut Analysed) {
    let Some(diff) = a.diff.as_mut().filter(|_| !lineage.salt.is_empty()) else { return };
    if diff.points.iter().all(|p| p.churns.is_empty())
        && let Some(point) = diff.points.first_mut()
    {
        let reason = "what it calls changed, and no input was found that shows a difference".to_owned();
        point.undecided.push(Undecided { text: "all facts".to_owned(), reason });
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
    for f in report.functions.iter_mut() {
        let Some(lineage) = callers
            .lineages
            .iter()
            .find(|l| place(l).is_some_and(|(file, name)| file == f.file.to_utf8_path() && *name == *f.name))
        else {
            continue;
        };
        f.outcome = Outcome::Unchanged;
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
    use crate::report::Outcome;

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
            let mark = if f.outcome == Outcome::Unchanged { "*" } else { "" };
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
