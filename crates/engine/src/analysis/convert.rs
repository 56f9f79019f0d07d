//! What the engine found, as the report's model: classes become versions, nodes become lines.

use super::ages;
use super::bindings;
use super::classes::{Analysed, version_pairs};
use super::lineage::{Lineage, Member, undeclared};
use super::propagated::{self, Changes};
use super::request::{Options, Request};
use super::witness;
use super::world::World;
use super::{implied, layouts, selection, subsets};
use crate::invariant::{self, Observable, PointDiff};
use crate::ir::{DataModel, RETURNS_TWICE};
use crate::mvicfg::{ClassId, ClassSet, VersionId, positions};
use crate::report::{
    Causes, Churn, Claim, Fact, FunctionRef, FunctionReport, FunctionStatus, HunkRef, Identity, IdentityKind,
    LineRef, NotHeld, OpenKind, Point, PointKind, RepoPath, Report, SettingsEcho, Status, Undecided,
    UnknownEntry, Version,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// Returns a report with everything but results.
pub fn empty_report(request: &Request) -> Report {
    let model = match request.options.data_model {
        DataModel::Lp64 => "LP64",
        DataModel::Ilp32 => "ILP32",
    };
    let mut report = Report {
        settings: SettingsEcho {
            data_model: model.into(),
            rlimit: request.analysis.limits.rlimit,
            unroll: request.analysis.limits.unroll,
            configuration: "default".into(),
            ..SettingsEcho::default()
        },
        versions: request.versions.iter().map(|v| v.info.clone()).collect(),
        ..Report::default()
    };
    report.tool.z3 = crate::smt::z3_version();
    report
}

/// Adds every function that the range changes.
pub fn fill(
    report: &mut Report,
    request: &Request,
    lineages: &[Lineage],
    analysed: &[Analysed],
    world: &World,
) {
    let differ = |l: usize| analysed.get(l).is_some_and(|a| a.diff.is_some());
    let changes = Changes::new(lineages, &differ, request.versions.len());
    for (i, (lineage, a)) in lineages.iter().zip(analysed).enumerate() {
        // What a function keeps is of interest where its own text changes, or where it does not keep all.
        let told = a.diff.iter().flat_map(|d| &d.points).any(|p| !p.churns.is_empty());
        let own = changes.touches(i, &a.class_of) && (told || is_edited(request, lineage));
        let kept = request.analysis.all || request.analysis.whole || own;
        let queries = &mut report.cost.solver_queries;
        if let Some(mut f) = function_report((request, world), lineage, a, kept, queries) {
            for churn in f.points.iter_mut().flat_map(|p| &mut p.churns) {
                churn.through = changes.of(i, churn);
            }
            report.functions.push(f);
        }
        if let Some(d) = &a.diff {
            report.cost.nodes_total += d.nodes_total;
            report.cost.nodes_visited += d.nodes_visited;
            report.cost.solver_queries += d.solver_queries;
        }
    }
    report.functions.sort_by(|a, b| (&a.file, &a.name).cmp(&(&b.file, &b.name)));
    propagated::settle_events(&mut report.functions);
    propagated::settle(&mut report.functions);
}

/// Whether some step of the range has a hunk within a function's text.
pub(super) fn is_edited(request: &Request, lineage: &Lineage) -> bool {
    lineage.members.windows(2).enumerate().any(|(step, pair)| {
        let [Some(old), Some(new)] = pair else { return true };
        let changes = request.changes.get(step).map(Vec::as_slice).unwrap_or_default();
        let meets = |m: &Member, start: u32, lines: u32| {
            let span = &m.function.span;
            // A side without lines names the line that the others come after.
            let (first, last) = if lines == 0 { (start, start + 1) } else { (start, start + lines - 1) };
            first <= span.end_line && last >= span.line
        };
        let of_file = changes.iter().filter(|c| c.new_path.as_deref() == Some(&new.file));
        let hunks = of_file.flat_map(|c| &c.hunks);
        old.file != new.file
            || hunks
                .into_iter()
                .any(|h| meets(new, h.new_start, h.new_lines) || meets(old, h.old_start, h.old_lines))
    })
}

fn repo_path(p: &Path) -> RepoPath {
    RepoPath::from(p)
}

/// `kept`: whether what it keeps is of interest. `queries`: counts what the solver is asked.
fn function_report(
    (request, world): (&Request, &World),
    lineage: &Lineage,
    a: &Analysed,
    kept: bool,
    queries: &mut u64,
) -> Option<FunctionReport> {
    let (newest, member) = lineage.newest()?;
    let n = request.versions.len();
    let is_renamed = || lineage.members.iter().flatten().any(|m| m.function.name != member.function.name);
    let is_everywhere = lineage.members.iter().flatten().count() == n;
    if a.diff.is_none() && is_everywhere {
        return is_renamed().then(|| function_of(lineage));
    }
    let mut f = function_of(lineage);
    f.unknowns = unknowns(lineage);
    match &a.diff {
        Some(diff) => {
            f.points.extend(diff.points.iter().map(|p| point(request, lineage, a, (p, kept), queries)));
            if !f.unknowns.is_empty() {
                f.outcome = FunctionStatus::PartlyAnalysed;
            }
            let is_decided = diff.is_decided() && f.points.iter().all(|p| p.undecided.is_empty());
            f.complete = f.unknowns.is_empty() && is_decided;
            // Where facts are asked for, they say so.
            if let Some(reason) = bound_otherwise(lineage, a).filter(|_| request.analysis.properties_only) {
                f.unknowns.push(reason);
                (f.outcome, f.complete) = (FunctionStatus::PartlyAnalysed, false);
            }
        }
        // Where the file could not be read, the function may well be there.
        None if VersionId::first(n)
            .any(|v| lineage.members[v].is_none() && world.is_unknown(v, &member.file)) =>
        {
            f.outcome = FunctionStatus::NotAnalysed;
            f.complete = false;
        }
        None if newest.next().index() < n => f.outcome = FunctionStatus::Removed,
        None => f.outcome = FunctionStatus::Added,
    }
    Some(f)
}

/// What is not in the function's text and changed, where no run showed a difference.
fn bound_otherwise(lineage: &Lineage, a: &Analysed) -> Option<UnknownEntry> {
    let entry = |(step, pair): (usize, &[Option<super::lineage::Member>])| {
        let [Some(old), Some(new)] = pair else { return None };
        let reason = bindings::reason(old, new)?.to_owned();
        let [_, version] = VersionId::of_step(step).map(VersionId::number);
        Some(UnknownEntry { version, line: new.function.span.line, reason })
    };
    lineage.members.windows(2).enumerate().filter(|_| !a.is_shown).find_map(entry)
}

fn open_kind(kind: invariant::OpenKind) -> OpenKind {
    match kind {
        invariant::OpenKind::Fact => OpenKind::Fact,
        invariant::OpenKind::AllRuns => OpenKind::AllRuns,
        invariant::OpenKind::Endings => OpenKind::Endings,
        invariant::OpenKind::LeftOut => OpenKind::LeftOut,
        invariant::OpenKind::NotBegun => OpenKind::NotBegun,
    }
}

/// A function of which nothing is said yet.
pub(super) fn function_of(lineage: &Lineage) -> FunctionReport {
    let present = VersionId::each(&lineage.members).filter(|(_, m)| m.is_some());
    let newest = lineage.newest().map(|(_, m)| m);
    FunctionReport {
        file: newest.map(|m| repo_path(&m.file)).unwrap_or_default(),
        name: newest.map_or_else(String::new, |m| m.function.name.to_string()),
        language: "c".into(),
        versions: present.map(|(v, _)| v.number()).collect(),
        identity: identity(lineage),
        outcome: FunctionStatus::Analysed,
        complete: true,
        unknowns: Vec::new(),
        changes: Vec::new(),
        affects: Vec::new(),
        raise: None,
        under: None,
        points: Vec::new(),
    }
}

fn identity(lineage: &Lineage) -> Identity {
    let mut identity = Identity::default();
    let mut previous: Option<&Member> = None;
    for (v, m) in VersionId::each(&lineage.members) {
        let Some(m) = m else { continue };
        let place = FunctionRef { file: repo_path(&m.file), name: m.function.name.to_string() };
        if let Some(p) = previous {
            let from = || Some(format!("{}:{}", RepoPath::from(&p.file), p.function.name));
            if p.function.name != m.function.name {
                (identity.kind, identity.from) = (IdentityKind::Renamed, from());
            } else if p.file != m.file {
                (identity.kind, identity.from) = (IdentityKind::Moved, from());
            }
        }
        identity.versions.insert(v.number(), place);
        previous = Some(m);
    }
    identity
}

fn unknowns(lineage: &Lineage) -> Vec<UnknownEntry> {
    let mut all = Vec::new();
    for (v, m) in VersionId::each(&lineage.members) {
        let Some(m) = m else { continue };
        for u in &m.function.unknowns {
            all.push(UnknownEntry { version: v.number(), line: u.line, reason: u.reason.to_string() });
        }
        // What `longjmp` brings back is lowered, but nothing is known of it.
        for node in m.function.nodes.iter().filter(|n| n.instr.is_second_return()) {
            let (line, reason) = (node.span.line, RETURNS_TWICE.to_owned());
            all.push(UnknownEntry { version: v.number(), line, reason });
        }
    }
    all.sort();
    all.dedup();
    all
}

fn point(
    request: &Request,
    lineage: &Lineage,
    a: &Analysed,
    (diff, kept): (&PointDiff, bool),
    queries: &mut u64,
) -> Point {
    let view = View {
        request,
        lineage,
        a,
        point: &diff.point.id,
        reached: &diff.reached,
        lines: RefCell::default(),
    };
    let kind = match diff.point.kind {
        invariant::Kind::Entry => PointKind::Entry,
        invariant::Kind::Exit => PointKind::Exit,
        invariant::Kind::Loop => PointKind::Loop,
        invariant::Kind::Line => PointKind::Line,
    };
    let mut point = Point { id: diff.point.id.clone(), kind, ..Point::default() };
    for (v, m) in VersionId::each(&lineage.members) {
        let Some(m) = m else { continue };
        let line = match (kind, a.class_of[v].and_then(|c| diff.point.lines.get(&c))) {
            (PointKind::Exit, _) => exit_line(m),
            (_, Some(&line)) => view.shift(v, &[line]).first().copied().unwrap_or(line),
            (_, None) => continue,
        };
        point.lines.insert(v.number(), line);
    }
    let classes: ClassSet = a.class_of.iter().flatten().copied().collect();
    let is_looked_at = kept || kind != PointKind::Exit;
    let tells_subsets = is_looked_at && request.analysis.subsets_of(request.versions.len());
    let subsets = tells_subsets.then(|| subsets::of(diff, &classes));
    // An invariant is a fact of every version that has the function.
    let shared = diff.invariants.iter().filter(|f| is_looked_at && classes.is_subset(&f.classes));
    let shared = shared.chain(subsets.iter().flat_map(|s| &s.whole));
    // Where no run comes, everything holds.
    let is_reached =
        |f: &&invariant::Fact| f.classes.iter().all(|c| invariant::speaks_of(&diff.reached, f, c));
    let (mut invariants, mut unreached): (Vec<_>, Vec<_>) = shared.partition(is_reached);
    unreached.extend(&diff.unreached);
    point.if_reached = unreached.into_iter().map(|f| view.fact(f, None)).collect();
    keep_visible(&request.analysis, diff, &mut invariants);
    // Two ways may lead to one text: the one that takes less for granted is told.
    invariants.sort_by_key(|f| f.assumptions.len());
    let mut told = BTreeSet::new();
    invariants.retain(|f| told.insert(f.text()));
    let is_selected = !request.analysis.has_locals() && !request.analysis.points.is_explicit();
    if is_selected {
        let order = |facts: &[&invariant::Fact]| match lineage.newest() {
            Some((_, m)) => implied::implied(&m.unit, &m.function, facts, request.analysis.is_local()),
            None => (vec![false; facts.len()], 0),
        };
        let (asked, others) = invariants.into_iter().partition(|f| diff.asked.contains(f.text()));
        let selected = selection::select(others, order);
        (invariants, point.left_out) = (selected.shown, selected.left_out);
        // What somebody asked for comes first, and whole.
        invariants.splice(0..0, Vec::<&invariant::Fact>::from_iter(asked));
        *queries += selected.queries;
    }
    if let Some(subsets) = &subsets {
        let mut some: Vec<&invariant::Fact> = subsets.some.iter().collect();
        keep_visible(&request.analysis, diff, &mut some);
        if is_selected {
            let (shown, left_out) = subsets::select(some, &invariants);
            (some, point.left_out) = (shown, point.left_out + left_out);
        }
        let told = some.into_iter().map(|f| view.fact_of_some(f, |c| subsets.not_held(diff, f, c)));
        point.subset_invariants = told.collect();
    }
    point.version_invariants = invariants.into_iter().map(|f| view.fact(f, None)).collect();
    point.undecided = diff
        .undecided
        .iter()
        .map(|u| Undecided {
            text: u.text.clone(),
            reason: u.reason.clone(),
            kind: open_kind(u.kind),
            ..Undecided::default()
        })
        .collect();
    for (from, to) in version_pairs(a.class_of.len(), request.analysis.all_pairs) {
        let (Some(x), Some(y)) = (a.class_of[from], a.class_of[to]) else { continue };
        let here: Vec<&invariant::Churn> = diff.churns.iter().filter(|c| (c.from, c.to) == (x, y)).collect();
        let observable = here.iter().any(|c| c.subject.is_observable());
        for c in here {
            let (old, new) = (lineage.members[from].as_ref(), lineage.members[to].as_ref());
            // Where no line changed that it rests on, a type did, or what a macro means.
            let untouched = || {
                let causes = view.causes(c, from, to);
                causes.removed.is_empty() && causes.added.is_empty()
            };
            // What a function returns or prints of its own objects is no matter of how inputs are laid out.
            let own = |old: &Member, new: &Member| {
                matches!(c.subject, Observable::Result | Observable::Output | Observable::Ends)
                    && !layouts::are_given(old, new)
            };
            let laid_out = |(old, new): (&Member, &Member)| {
                witness::is_layout_only(c, old, new)
                    || untouched() && layouts::differ(old, new) && !own(old, new)
            };
            if old.zip(new).is_some_and(laid_out) {
                let reason = "a type has another layout in the two versions";
                let undecided =
                    Undecided { text: c.subject.name(), reason: reason.into(), ..Undecided::default() };
                point.undecided.push(undecided);
                continue;
            }
            // No run can be one of a program that no compiler takes.
            let own = request.changes.get(from.number() as usize - 1).map(Vec::as_slice).unwrap_or_default();
            let undeclared = old.zip(new).map(|(old, new)| undeclared(old, new, own)).unwrap_or_default();
            if let Some(first) = undeclared.first() {
                let reason = format!("{}, of which one version does not say what it is", first.name);
                let undecided = Undecided { text: c.subject.name(), reason, ..Undecided::default() };
                point.undecided.push(undecided);
                continue;
            }
            // What was to be lost is said in the same words, but for where they stand: nothing is known
            // to have changed.
            if c.claim == invariant::Claim::NoLongerProvable || c.witness.is_none() && !c.added.is_empty() {
                let moved = old.zip(new).map(|(a, b)| positions::moved(&a.inlined, &b.inlined));
                let moved = moved.unwrap_or_default();
                let became = |a: &str, b: &str| positions::renumbered(a, &moved) == b;
                let said = |f: &invariant::Fact| {
                    c.added.iter().any(|o| f.formula.is_renumbered(&o.formula, &became))
                };
                let is_whole = c.added.len() == c.removed.len();
                if c.removed.iter().all(said) && (is_whole || c.claim == invariant::Claim::NoLongerProvable) {
                    continue;
                }
            }
            // A local matters by itself only when nothing that a caller sees tells of the change, and
            // where a function ends only when it is known to differ.
            let guess = c.claim == invariant::Claim::NoLongerProvable && kind == PointKind::Exit;
            if request.analysis.has_locals() || c.subject.is_observable() || !observable && !guess {
                let mut churn = view.churn(c, from, to);
                if let Some(age) = ages::in_range(diff, &a.class_of, c, from) {
                    churn.set_age(age);
                }
                point.churns.push(churn);
            }
        }
    }
    point
        .churns
        .sort_by(|a, b| (a.from, b.rank).partial_cmp(&(b.from, a.rank)).unwrap_or(std::cmp::Ordering::Equal));
    say_once(&mut point.churns);
    point
}

/// Leaves those that a caller or a user sees, unless others were asked for, too.
fn keep_visible(options: &Options, diff: &PointDiff, facts: &mut Vec<&invariant::Fact>) {
    if options.has_locals() || options.points.is_explicit() {
        return;
    }
    let outside = |v: &String| ["output", "end", "calls"].contains(&v.as_str()) || diff.cells.contains(v);
    let at_entry = |v: &String| v.starts_with("\\old(");
    let is_seen = |v: &String| outside(v) || v.starts_with('\\') && !at_entry(v);
    let is_told = |f: &invariant::Fact| {
        let is_asked = diff.asked.contains(f.text());
        is_asked || f.template == invariant::Template::Typestate || f.variables.iter().any(is_seen)
    };
    // What became of a parameter since the entry nobody sees: it is told where nothing else is.
    let observable = facts.iter().any(|f| is_told(f));
    let says_something = |f: &invariant::Fact| !observable && f.variables.iter().any(at_entry);
    facts.retain(|f| is_told(f) || says_something(f));
}

/// Leaves out what a churn that comes before says already of the same versions, and churns of which
/// nothing is left.
fn say_once(churns: &mut Vec<Churn>) {
    let mut said: BTreeSet<(Version, Version, bool, String)> = BTreeSet::new();
    churns.retain_mut(|c| {
        let says_something = |c: &Churn| !c.removed.is_empty() || !c.added.is_empty();
        let had_facts = says_something(c);
        let (from, to) = (c.from, c.to);
        c.removed.retain(|f| said.insert((from, to, false, f.text.clone())));
        c.added.retain(|f| said.insert((from, to, true, f.text.clone())));
        !had_facts || says_something(c)
    });
}

struct View<'a> {
    request: &'a Request,
    lineage: &'a Lineage,
    a: &'a Analysed,
    /// Id of the point that is shown.
    point: &'a str,
    reached: &'a invariant::ReachedByClass,
    /// By version: the lines of the function's file.
    lines: RefCell<BTreeMap<VersionId, Vec<String>>>,
}

impl View<'_> {
    fn member(&self, v: VersionId) -> Option<&Member> {
        self.lineage.members[v].as_ref()
    }

    /// A fact, for the versions of its classes or for one version.
    fn fact(&self, f: &invariant::Fact, only: Option<VersionId>) -> Fact {
        let versions: Vec<VersionId> = match only {
            Some(v) => vec![v],
            None => VersionId::first(self.a.class_of.len())
                .filter(|&v| self.a.class_of[v].is_some_and(|c| f.classes.contains(c)))
                .collect(),
        };
        let lineage_name = self.lineage.members.iter().flatten().next().map_or("", |m| &m.function.name);
        let id = stable_id(&[lineage_name, self.point, f.template.name(), &f.formula.identity()]);
        let mut lines = BTreeMap::new();
        for &v in &versions {
            if let Some(l) = self.a.class_of[v].and_then(|c| f.lines.get(&c)) {
                lines.insert(v.number(), self.shift(v, l));
            }
        }
        let proved = |v: VersionId| self.member(v).is_none_or(|m| m.inlined.invented.is_empty());
        let is_event = f.formula.is_undefined();
        let comes = |v: &VersionId| {
            let reached = |c| invariant::speaks_of(self.reached, f, c);
            (v.number(), self.a.class_of[*v].is_none_or(reached))
        };
        let reached = if is_event { BTreeMap::new() } else { versions.iter().map(comes).collect() };
        let mut assumptions = f.assumptions.clone();
        for m in versions.iter().filter_map(|&v| self.member(v)) {
            assumptions.extend(m.inlined.invented.iter().map(|name| format!("invented-type({name})")));
        }
        assumptions.sort();
        assumptions.dedup();
        let bounded = |v: VersionId| self.a.class_of[v].is_some_and(|c| f.bounds.contains_key(&c));
        let status = |v: &VersionId| {
            let status = match (proved(*v), bounded(*v)) {
                (false, _) => Status::Likely,
                (true, true) => Status::Bounded,
                (true, false) => Status::Proved,
            };
            (v.number(), status)
        };
        Fact {
            id,
            template: f.template.name().into(),
            variables: f.variables.clone(),
            text: f.text().to_owned(),
            c: f.c.clone(),
            // An undefined event was met by one replayed run; that is no statement about all.
            status: match is_event {
                true => BTreeMap::new(),
                false => versions.iter().map(status).collect(),
            },
            versions: versions.iter().map(|v| v.number()).collect(),
            bound: f.bounds.values().min().copied(),
            samples: None,
            assumptions,
            lines,
            reached,
            not_held: BTreeMap::new(),
        }
    }

    /// A fact of some versions, with what is known of the classes of the others.
    fn fact_of_some(&self, f: &invariant::Fact, not_held: impl Fn(ClassId) -> NotHeld) -> Fact {
        let others = VersionId::each(&self.a.class_of).filter_map(|(v, c)| Some((v, (*c)?)));
        let others = others.filter(|(_, c)| !f.classes.contains(*c));
        let not_held = others.map(|(v, c)| (v.number(), not_held(c))).collect();
        Fact { not_held, ..self.fact(f, None) }
    }

    fn shift(&self, v: VersionId, lines: &[u32]) -> Vec<u32> {
        shifted(self.lineage, self.a, v, lines)
    }

    fn causes(&self, c: &invariant::Churn, from: VersionId, to: VersionId) -> Causes {
        let refs = |v: VersionId, lines: &[u32]| -> Vec<LineRef> {
            self.shift(v, lines).into_iter().map(|l| self.line_ref(v, l)).collect()
        };
        let causes = Causes {
            removed: refs(from, &c.causes.removed),
            added: refs(to, &c.causes.added),
            shared: refs(to, &c.causes.shared),
        };
        let ran = c.causes.ran.as_ref().map(|[old, new]| {
            let moved = |v: VersionId, lines: &BTreeSet<u32>| {
                self.shift(v, &lines.iter().copied().collect::<Vec<_>>()).into_iter().collect()
            };
            [moved(from, old), moved(to, new)]
        });
        self.of_changed_lines(causes, from, to, ran)
    }

    fn churn(&self, c: &invariant::Churn, from: VersionId, to: VersionId) -> Churn {
        let causes = self.causes(c, from, to);
        let lineage_name = self.lineage.members.iter().flatten().next().map_or("", |m| &m.function.name);
        // What both sides say in the same words did not change: the rest did.
        let said = |by: &[invariant::Fact], f: &&invariant::Fact| by.iter().any(|o| o.formula == f.formula);
        let removed: Vec<Fact> = c
            .removed
            .iter()
            .filter(|f| !said(&c.added, f))
            .map(|f| self.fact(f, Some(self.version_of(f, from, to))))
            .collect();
        let added: Vec<Fact> =
            c.added.iter().filter(|f| !said(&c.removed, f)).map(|f| self.fact(f, Some(to))).collect();
        let texts: Vec<&str> = removed.iter().chain(&added).map(|f| f.id.as_str()).collect();
        let id = stable_id(&[lineage_name, self.point, &c.subject.name(), &texts.join(" ")]);
        let program = self.member(to).is_some_and(|m| &*m.function.name == "main");
        let pair = self.member(from).zip(self.member(to));
        let witness = c
            .witness
            .as_ref()
            .zip(pair)
            .map(|(run, (old, new))| witness::convert(Some(c), run, old, new, program));
        Churn {
            id,
            from: from.number(),
            to: to.number(),
            hunks: self.hunks(from, to, &causes),
            subject: c.subject.name(),
            removed,
            added,
            observable: c.subject.is_observable(),
            claim: match c.claim {
                invariant::Claim::NoLongerHolds => Claim::NoLongerHolds,
                invariant::Claim::NoLongerProvable => Claim::NoLongerProvable,
                invariant::Claim::NowHolds => Claim::NowHolds,
                invariant::Claim::Changed => Claim::Changed,
                invariant::Claim::DiffersUnderUb => Claim::DiffersUnderUb,
            },
            causes,
            witness,
            through: Vec::new(),
            object: None,
            age: None,
            rank: rank(c),
        }
    }

    /// The version of the pair in which a fact was found.
    fn version_of(&self, f: &invariant::Fact, from: VersionId, to: VersionId) -> VersionId {
        let holds = |v: VersionId, set: &ClassSet| self.a.class_of[v].is_some_and(|c| set.contains(c));
        if !holds(from, &f.classes) && holds(to, &f.classes) { to } else { from }
    }

    fn line_ref(&self, v: VersionId, line: u32) -> LineRef {
        let Some(m) = self.member(v) else { return LineRef::default() };
        let mut known = self.lines.borrow_mut();
        // A fact may rest on thousands of lines.
        let lines = known.entry(v).or_insert_with(|| {
            let bytes = self.request.versions[v].tree.read(&m.file);
            let line = |line: &[u8]| String::from_utf8_lossy(line).trim_end().to_owned();
            bytes.map_or(Vec::new(), |bytes| bytes.split(|&b| b == b'\n').map(line).collect())
        });
        let text = (line as usize).checked_sub(1).and_then(|k| lines.get(k)).cloned();
        LineRef { file: repo_path(&m.file), line, text }
    }

    /// The hunks that took the removed lines away and that brought the added ones.
    fn hunks(&self, from: VersionId, to: VersionId, causes: &Causes) -> Vec<HunkRef> {
        let mut found: BTreeSet<HunkRef> = BTreeSet::new();
        for line in &causes.removed {
            self.follow(line.line, from.index()..to.index(), true, &mut found);
        }
        for line in &causes.added {
            self.follow(line.line, from.index()..to.index(), false, &mut found);
        }
        found.into_iter().collect()
    }

    /// Leaves as removed and added the lines that hunks have: a new call of an old callee brings nodes of
    /// lines that nobody changed, and a macro or a type changes what untouched lines mean.
    /// `ran`: the lines of both versions that have a part in it, where this is known.
    fn of_changed_lines(
        &self,
        causes: Causes,
        from: VersionId,
        to: VersionId,
        ran: Option<[BTreeSet<u32>; 2]>,
    ) -> Causes {
        let changed = |line: &LineRef, forwards: bool| {
            let mut found = BTreeSet::new();
            self.follow(line.line, from.index()..to.index(), forwards, &mut found);
            !found.is_empty()
        };
        // What begins on a line may go on over more: those of them that changed stand for it.
        let of_extent = |v: VersionId, line: &LineRef, forwards: bool| -> Vec<LineRef> {
            let lines = line.line..=self.last_line(v, line.line);
            lines.map(|l| self.line_ref(v, l)).filter(|l| changed(l, forwards)).collect()
        };
        let once = |mut lines: Vec<LineRef>| {
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let removed = once(causes.removed.iter().flat_map(|l| of_extent(from, l, true)).collect());
        let kept: Vec<LineRef> =
            causes.added.iter().filter(|l| of_extent(to, l, false).is_empty()).cloned().collect();
        let added = once(causes.added.iter().flat_map(|l| of_extent(to, l, false)).collect());
        // A jump that goes elsewhere changes no value by itself: then it is what changed in the function.
        let own = |v: VersionId, forwards: bool| -> Vec<LineRef> {
            let nodes = self.member(v).into_iter().flat_map(|m| &m.function.nodes);
            let lines: BTreeSet<u32> = nodes.map(|n| n.span.line).filter(|l| *l != 0).collect();
            let ran = ran.as_ref().map(|[old, new]| if forwards { old } else { new });
            let lines = lines.into_iter().filter(|l| ran.is_none_or(|ran| ran.contains(l)));
            once(lines.flat_map(|l| of_extent(v, &self.line_ref(v, l), forwards)).collect())
        };
        let (removed, added) = match removed.is_empty() && added.is_empty() {
            true => (own(from, true), own(to, false)),
            false => (removed, added),
        };
        // Where no line changed, those that differ tell more than all that take part.
        let untouched = removed.is_empty() && added.is_empty() && !kept.is_empty();
        let shared = if untouched { Vec::new() } else { causes.shared };
        let shared: BTreeSet<LineRef> = shared.into_iter().chain(kept).collect();
        Causes { removed, added, shared: shared.into_iter().collect() }
    }

    /// The last line of what begins on a line of a version, in the function or a helper that is laid out in it.
    fn last_line(&self, v: VersionId, line: u32) -> u32 {
        let Some(m) = self.member(v) else { return line };
        let spans = m.inlined.nodes.iter().map(|n| &n.span);
        let here = spans.filter(|s| s.line == line && s.file == m.function.span.file);
        here.map(|s| s.end_line).fold(line, u32::max)
    }

    /// Follows a line through steps between versions, forwards from the first or backwards from the
    /// last, to the hunk that has it.
    fn follow(&self, mut line: u32, steps: Range<usize>, forwards: bool, found: &mut BTreeSet<HunkRef>) {
        let in_order: Vec<usize> = if forwards { steps.collect() } else { steps.rev().collect() };
        for step in in_order {
            let Some(new) = self.member(VersionId::new(step + 1)) else { return };
            let changes = self.request.changes.get(step).map(Vec::as_slice).unwrap_or_default();
            let Some(change) = changes.iter().find(|c| c.new_path.as_deref() == Some(&new.file)) else {
                continue;
            };
            let (mut grown, mut shrunk) = (0, 0);
            for h in &change.hunks {
                let sides = [(h.old_start, h.old_lines), (h.new_start, h.new_lines)];
                let [(start, lines), (_, others)] = if forwards { sides } else { [sides[1], sides[0]] };
                if line >= start && line < start + lines {
                    found.insert(HunkRef {
                        file: repo_path(&new.file),
                        old_start: h.old_start,
                        old_lines: h.old_lines,
                        new_start: h.new_start,
                        new_lines: h.new_lines,
                    });
                    return;
                }
                // A side without lines names the line that the others come after.
                if start + lines.max(1) <= line {
                    (grown, shrunk) = (grown + others, shrunk + lines);
                }
            }
            line = (line + grown).saturating_sub(shrunk);
        }
    }
}

/// The line that stands for a function's exit.
pub(super) fn exit_line(m: &Member) -> u32 {
    let exit = m.function.node(crate::ir::Function::EXIT).span.line;
    if exit > 0 { exit } else { m.function.span.end_line }
}

/// Lines of a class's first version as lines of another version of it: bodies are equal, so
/// instructions correspond one to one.
pub(super) fn shifted(lineage: &Lineage, a: &Analysed, v: VersionId, lines: &[u32]) -> Vec<u32> {
    let first = a.class_of[v].map(|c| a.representative[c]);
    let member = |v: VersionId| lineage.members[v].as_ref();
    let (Some(from), Some(to)) = (first.and_then(member), member(v)) else { return lines.to_vec() };
    if first == Some(v) {
        return lines.to_vec();
    }
    let mut shifted: Vec<u32> = lines
        .iter()
        .filter_map(|l| {
            let i = from.inlined.nodes.iter().position(|n| n.span.line == *l)?;
            to.inlined.nodes.get(i).map(|n| n.span.line)
        })
        .collect();
    shifted.sort_unstable();
    shifted.dedup();
    shifted
}

/// Importance: what callers see before what they do not, shown differences before suspected ones.
fn rank(c: &invariant::Churn) -> f64 {
    let subject = match c.subject {
        Observable::Output | Observable::Ends => 0.9,
        Observable::Result => 0.85,
        Observable::Calls => 0.84,
        Observable::Cell { .. } => 0.82,
        Observable::Memory => 0.8,
        Observable::Relation { observable: true, .. } => 0.6,
        Observable::Variable { .. } | Observable::Relation { .. } => 0.4,
    };
    let shown = if c.witness.is_some() { 0.09 } else { 0.0 };
    (subject + shown) * 100.0_f64.round() / 100.0
}

/// Stable id of texts: independent of lines, commits and paths.
pub fn stable_id(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for p in parts {
        hasher.update(p.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().to_hex()[..16].to_string()
}
