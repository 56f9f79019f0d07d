//! Accounting of source hunks: what became of every changed line (`docs/design/reach-of-a-change.md`).
//!
//! A hunk is *explained* when a churn names it, when it lies in a function that has churns or that it
//! makes or removes, or when it changes a declaration or a macro that reaches a function with churns.
//! It is *neutral* when all of its lines lie where nothing changes what the program does: comments,
//! functions whose instructions are the same, or that were analysed to the end without a churn.
//! Otherwise it was *not analysed*, and the reason is that of its first line that was not: a
//! declaration that reaches no churn is reported as what it is, since other files and other
//! configurations may depend on it.

use super::classes::Analysed;
use super::conditionals::Own;
use super::conditionals::presence::Presence;
use super::configurations::INACTIVE;
use super::layouts;
use super::lineage::{Lineage, Member, VersionFiles};
use super::local::{Locals, Told};
use super::new_names::NewNames;
use super::objects::{Objects, is_mere_declaration, uses};
use super::reach::Reach;
use super::request::{FileChange, Hunk, Request};
use super::units::{LoadedUnit, is_header, is_source};
use crate::frontend::c::lines::LineKind;
use crate::frontend::line_kinds;
use crate::history::SourceTree;
use crate::ir::{Function, Unit};
use crate::mvicfg::{VersionId, key};
use crate::report::{ChangeVerdict, HunkRef, HunkReport, HunkVerdict, Pending, RepoPath, Report, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use types::Types;

/// What a range was seen to hold.
pub(super) struct Seen<'a> {
    pub files: &'a [VersionFiles],
    pub lineages: &'a [Lineage],
    pub analysed: &'a [Analysed],
    pub reaches: &'a [Reach],
    /// Steps at which not all files were taken that read a changed header.
    pub cut: &'a BTreeSet<usize>,
}

/// Gives every hunk of the range its verdict.
pub(super) fn account(
    report: &mut Report,
    request: &Request,
    seen: &Seen,
    (locals, objects): (&Locals, &Objects),
) {
    let Seen { files, lineages, analysed, reaches, cut } = *seen;
    let churning = churning(report);
    let (kinds, code) = (BTreeMap::new(), BTreeMap::new());
    let mut judge = Judge {
        request,
        files,
        lineages,
        analysed,
        reaches,
        cut,
        locals,
        objects,
        churning,
        kinds,
        at_hand: AtHand::default(),
        presence: BTreeMap::new(),
        types: Types::default(),
        new_names: NewNames::of(lineages, request.changes.len(), objects.renamed()),
        code,
    };
    let mut told: BTreeMap<(usize, PathBuf, Arc<str>), Vec<HunkRef>> = BTreeMap::new();
    let mut hunks = Vec::new();
    for (i, changes) in request.changes.iter().enumerate() {
        for change in changes {
            let Some(path) = change.new_path.as_ref().or(change.old_path.as_ref()) else { continue };
            // What git shows no lines of has changed all the same.
            let whole = [Hunk { old_start: 0, old_lines: 0, new_start: 0, new_lines: 0 }];
            let opaque = change.opaque.is_some() && change.hunks.is_empty();
            for (k, hunk) in (if opaque { &whole[..] } else { &change.hunks }).iter().enumerate() {
                let (verdict, why, pending) = judge.hunk(report, i, change, hunk);
                let types = std::mem::take(&mut judge.types.told);
                hunks.push(HunkReport {
                    from: i as u32 + 1,
                    to: i as u32 + 2,
                    file: RepoPath::from(path.as_path()),
                    old_start: hunk.old_start,
                    old_lines: hunk.old_lines,
                    new_start: hunk.new_start,
                    new_lines: hunk.new_lines,
                    verdict,
                    why,
                    compiled: judge.compiled(i, change, k),
                    pending,
                });
                let is_told = |h: &&HunkReport| h.verdict == HunkVerdict::Explained;
                for (at, (_, name)) in hunks.last().filter(is_told).into_iter().cycle().zip(types) {
                    told.entry((i, path.clone(), name)).or_default().push(at.place());
                }
            }
        }
    }
    report.hunks = hunks;
    for ((step, path, name), at) in told {
        let change = judge.types.known.get(&(step, name.clone()));
        report.objects.extend(change.map(|c| c.report(&name, (step as Version + 1, &path), at)));
    }
}

/// Functions of which something is told, by version, file and name.
pub(super) type Churning = BTreeSet<(Version, PathBuf, String)>;

/// The functions with churns or changes.
pub(super) fn churning(report: &Report) -> Churning {
    let mut found = Churning::new();
    for f in &report.functions {
        let churns = f.points.iter().flat_map(|p| &p.churns).flat_map(|c| [c.from, c.to]);
        let told = f.changes.iter().filter(|c| c.verdict == ChangeVerdict::Differs);
        for v in churns.chain(told.flat_map(|c| [c.from, c.to])) {
            let place = f.identity.versions.get(&v);
            found.extend(place.map(|p| (v, p.file.to_utf8_path(), p.name.clone())));
        }
    }
    found
}

/// Whether something is told of a function at a step.
pub(super) fn has_churn(churning: &Churning, lineage: &Lineage, step: usize) -> bool {
    VersionId::of_step(step).into_iter().any(|v| {
        let is_it =
            |m: &Member| churning.contains(&(v.number(), m.file.clone(), m.function.name.to_string()));
        lineage.members[v].as_ref().is_some_and(is_it)
    })
}

/// The hunks of a range whose text was not read, whatever is asked of the rest: branches that are not taken,
/// what the parser could not place, functions that it lost, declarations that reach no function.
pub(super) fn unread(
    request: &Request,
    files: &[VersionFiles],
    lineages: &[Lineage],
    reaches: &[Reach],
) -> Vec<HunkReport> {
    let analysed: Vec<Analysed> = lineages.iter().map(Analysed::classes_alone).collect();
    let mut judge = Judge {
        request,
        files,
        lineages,
        analysed: &analysed,
        reaches,
        cut: &BTreeSet::new(),
        locals: &Locals::default(),
        objects: &Objects::default(),
        churning: BTreeSet::new(),
        kinds: BTreeMap::new(),
        at_hand: AtHand::default(),
        presence: BTreeMap::new(),
        types: Types::default(),
        new_names: NewNames::of(lineages, request.changes.len(), Vec::new()),
        code: BTreeMap::new(),
    };
    let mut found = Vec::new();
    for (pair, changes) in request.changes.iter().enumerate() {
        for change in changes {
            let Some(path) = change.new_path.as_deref().or(change.old_path.as_deref()) else { continue };
            for hunk in change.hunks.iter().filter(|_| is_source(path) || is_header(path)) {
                let why = (!judge.is_same_code(pair, change, hunk)).then(|| judge.unread(pair, change, hunk));
                found.extend(why.flatten().map(|why| HunkReport {
                    from: pair as u32 + 1,
                    to: pair as u32 + 2,
                    file: RepoPath::from(path),
                    old_start: hunk.old_start,
                    old_lines: hunk.old_lines,
                    new_start: hunk.new_start,
                    new_lines: hunk.new_lines,
                    verdict: HunkVerdict::NotAnalysed,
                    why: Some(why.to_owned()),
                    ..HunkReport::default()
                }));
            }
        }
    }
    found
}

/// What is known of one line.
enum Line {
    /// Reaches a function with churns, or makes or removes one.
    Explained,
    Neutral,
    Not(String),
}

fn not(why: &str) -> Line {
    Line::Not(why.to_owned())
}

/// The hunk that is judged.
#[derive(Clone, Copy, Default)]
struct AtHand {
    /// It takes lines away or adds some, and not both: a statement in it that both versions have is somewhere else in
    /// the other one.
    one_sided: bool,
    /// What it does itself was looked at, and is nothing.
    alone: bool,
    /// It does more than declare types that one version alone has, which nothing else can see.
    has_others: bool,
}

struct Judge<'a> {
    request: &'a Request,
    /// By version.
    reaches: &'a [Reach],
    files: &'a [VersionFiles],
    lineages: &'a [Lineage],
    analysed: &'a [Analysed],
    cut: &'a BTreeSet<usize>,
    locals: &'a Locals,
    objects: &'a Objects,
    /// Functions with churns, by version, file and name.
    churning: Churning,
    /// By version and path.
    kinds: BTreeMap<(VersionId, PathBuf), Option<Vec<LineKind>>>,
    at_hand: AtHand,
    /// By step and newer path.
    presence: BTreeMap<(usize, PathBuf), Presence>,
    types: Types,
    new_names: NewNames<'a>,
    /// By step and newer path.
    code: BTreeMap<(usize, PathBuf), code::FileCode>,
}

/// Whether a `.i` file is an interface for SWIG, whose directives begin with a percent sign, and not C after preprocessing.
fn is_interface(tree: &dyn SourceTree, path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "i")
        && tree.read(path).is_some_and(|text| text.split(|b| *b == b'\n').any(|line| line.starts_with(b"%")))
}

impl Judge<'_> {
    fn hunk(
        &mut self,
        report: &Report,
        pair: usize,
        change: &FileChange,
        hunk: &Hunk,
    ) -> (HunkVerdict, Option<String>, Pending) {
        let path = change.new_path.as_deref().or(change.old_path.as_deref()).unwrap_or(Path::new(""));
        let mut pending = Pending::default();
        let is_c = is_source(path) || is_header(path);
        if !is_c || is_interface(&*self.request.versions[pair + 1].tree, path) {
            return (HunkVerdict::NotAnalysed, Some("not-c".into()), pending);
        }
        if let Some(why) = change.opaque {
            return (HunkVerdict::NotAnalysed, Some(why.into()), pending);
        }
        if explained(report, pair, path, hunk) {
            return (HunkVerdict::Explained, None, pending);
        }
        if self.is_same_code(pair, change, hunk) {
            return (HunkVerdict::Neutral, None, pending);
        }
        let [from, to] = VersionId::of_step(pair);
        let sides = [
            (from, change.old_path.as_deref(), hunk.old_start, hunk.old_lines),
            (to, change.new_path.as_deref(), hunk.new_start, hunk.new_lines),
        ];
        self.at_hand =
            AtHand { one_sided: (hunk.old_lines == 0) != (hunk.new_lines == 0), ..AtHand::default() };
        // Lines that hold no statement are looked at where those that do tell nothing.
        for alone in [false, true] {
            self.at_hand.alone = alone;
            if let Some(why) = self.lines(pair, change, sides, &mut pending) {
                return (HunkVerdict::NotAnalysed, Some(why), pending);
            }
            if pending.told || !pending.inactive.is_empty() {
                break;
            }
        }
        match (pending.inactive.is_empty(), pending.told) {
            (false, _) => (HunkVerdict::NotAnalysed, Some(INACTIVE.into()), pending),
            (true, true) => (HunkVerdict::Explained, None, pending),
            (true, false) => match told_there(report, pair, path, hunk) {
                Some(Ok(())) => (HunkVerdict::Explained, None, pending),
                Some(Err(why)) => (HunkVerdict::NotAnalysed, Some(why), pending),
                None if self.holds_open_function(pair, change, hunk) => {
                    (HunkVerdict::NotAnalysed, Some("undecided".to_owned()), pending)
                }
                None if is_header(path) && self.at_hand.has_others && self.cut.contains(&pair) => {
                    (HunkVerdict::NotAnalysed, Some("limit:files".to_owned()), pending)
                }
                None => match self.guessed_type(pair, change, hunk) {
                    Some(name) => {
                        let why = format!("open:the type {name}, which nothing declares");
                        (HunkVerdict::NotAnalysed, Some(why), pending)
                    }
                    None => (HunkVerdict::Neutral, None, pending),
                },
            },
        }
    }

    /// What becomes of the lines of a hunk; `Some`: why the first of them is not known of which that is so.
    fn lines(
        &mut self,
        pair: usize,
        change: &FileChange,
        sides: [(VersionId, Option<&Path>, u32, u32); 2],
        pending: &mut Pending,
    ) -> Option<String> {
        for (side, (version, path, start, lines)) in sides.into_iter().enumerate() {
            let Some(path) = path else { continue };
            let inside = start..start.saturating_add(lines);
            let own = self.own_directives(version, path, inside.clone());
            for line in inside {
                let is_new_or_gone = change.old_path.is_none() || change.new_path.is_none();
                let conditional = self.conditional(pair, change, side, line);
                pending.told |= matches!(conditional, Some(Line::Explained));
                let is_of_one_version = self.is_type_of_one_version(pair, change, version, line);
                self.at_hand.has_others |=
                    !is_of_one_version && !matches!(self.kind(version, path, line), Some(LineKind::Blank));
                let found = match own.get(&line) {
                    _ if matches!(conditional, Some(Line::Not(_))) => conditional.unwrap_or(Line::Neutral),
                    Some(Own::Branch(first)) => self.line(pair, version, path, *first),
                    _ if conditional.is_some() => Line::Neutral,
                    Some(Own::Group) => Line::Neutral,
                    // What directives of a file do that one version has shows in what is told as new or gone, and
                    // in those that include it.
                    None if is_new_or_gone && self.kind(version, path, line) == Some(LineKind::Directive) => {
                        Line::Neutral
                    }
                    None => self.line(pair, version, path, line),
                };
                match found {
                    Line::Neutral => {}
                    Line::Explained => pending.told = true,
                    Line::Not(why) if why == "layout" && self.tells_type(pair, change, version, line) => {
                        pending.told = true;
                    }
                    Line::Not(why) if why == "layout" && self.is_settled_in_file(pair, path) => {}
                    Line::Not(why) if why == "layout" && is_of_one_version => {}
                    Line::Not(why) if why == INACTIVE => _ = pending.inactive.insert((side, line)),
                    Line::Not(why) => return Some(why),
                }
            }
        }
        None
    }

    /// Whether all of a changed function's text is in a hunk, and what becomes of the function is not known: a line
    /// with several declarations goes by the first of them.
    fn holds_open_function(&self, pair: usize, change: &FileChange, hunk: &Hunk) -> bool {
        let (Some(old), Some(new)) = (&change.old_path, &change.new_path) else { return false };
        let holds = |m: &Member, path: &Path, start: u32, lines: u32| {
            let span = &m.function.span;
            is_same(&m.file, path) && start <= span.line && span.end_line < start.saturating_add(lines)
        };
        self.lineages.iter().zip(self.analysed).enumerate().any(|(i, (l, a))| {
            let (Some(Some(was)), Some(Some(is))) = (l.members.get(pair), l.members.get(pair + 1)) else {
                return false;
            };
            a.class_of[pair] != a.class_of[pair + 1]
                && holds(was, old, hunk.old_start, hunk.old_lines)
                && holds(is, new, hunk.new_start, hunk.new_lines)
                && !self.is_settled(pair, i)
        })
    }

    /// The directives of conditions among lines of a hunk that choose between lines of the hunk alone: what they
    /// choose is told of those lines.
    fn own_directives(&self, version: VersionId, path: &Path, inside: Range<u32>) -> BTreeMap<u32, Own> {
        let bytes = self.request.versions[version].tree.read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        super::conditionals::own(&text, inside)
    }

    /// Why the first line of a hunk that was not read was not.
    fn unread(&mut self, pair: usize, change: &FileChange, hunk: &Hunk) -> Option<&'static str> {
        let [from, to] = VersionId::of_step(pair);
        let sides = [
            (from, change.old_path.as_deref(), hunk.old_start, hunk.old_lines),
            (to, change.new_path.as_deref(), hunk.new_start, hunk.new_lines),
        ];
        for (version, path, start, lines) in sides {
            let Some(path) = path else { continue };
            if is_header(path) && self.readers(version, path).is_empty() {
                continue;
            }
            for line in start..start.saturating_add(lines) {
                let why = match self.kind(version, path, line) {
                    Some(LineKind::Inactive) => INACTIVE,
                    None | Some(LineKind::Other) => "unparsed",
                    Some(LineKind::Directive)
                        if self.changes_presence(pair, change, version.side(pair), line) =>
                    {
                        "macro"
                    }
                    Some(LineKind::Function(name))
                        if !is_header(path) && self.member(version, path, line, &name).is_none() =>
                    {
                        "lost"
                    }
                    Some(LineKind::Prototype(name))
                        if !self.has_users(pair, &name) && !self.is_seen_by_users(pair, path, &name) =>
                    {
                        "prototype"
                    }
                    Some(LineKind::Global(name))
                        if !self.has_users(pair, &name) && !self.is_read(version, path, &name) =>
                    {
                        "global"
                    }
                    Some(LineKind::Type(name))
                        if self.reached(pair, path, &name).is_empty()
                            && !self.has_users(pair, &name)
                            && !self.is_laid_out_anew(pair, path, &name)
                            && !self.is_settled_in_file(pair, path) =>
                    {
                        "layout"
                    }
                    Some(_) => continue,
                };
                return Some(why);
            }
        }
        None
    }

    /// Whether a table of functions holds the same ones under other names.
    fn begins_alike(&self, pair: usize, path: &Path, name: &str) -> bool {
        let begins = |version: VersionId| -> Option<BTreeSet<_>> {
            let (reach, units) = (self.reaches.get(version.index())?, self.readers(version, path));
            let of = |u: &&Arc<Unit>| {
                let g = u.globals.iter().find(|g| *g.name == *name)?;
                let holds_functions = g.init.iter().flat_map(|p| p.symbols()).any(|s| u.global(s).is_none());
                reach.begins(&u.path, &g.symbol).filter(|_| holds_functions)
            };
            units.iter().map(of).collect()
        };
        let [from, to] = VersionId::of_step(pair);
        begins(from).is_some_and(|old| !old.is_empty() && begins(to) == Some(old))
    }

    /// Whether a function leads to an object that a file defines, of the units that read the file.
    fn is_read(&self, version: VersionId, path: &Path, name: &str) -> bool {
        let Some(reach) = self.reaches.get(version.index()) else { return false };
        self.readers(version, path).iter().any(|unit| {
            let mut named = unit.globals.iter().filter(|g| *g.name == *name);
            named.any(|g| !reach.readers(&unit.path, &g.symbol).is_empty())
        })
    }

    /// Whether a function that was compared has a name in its text.
    fn has_users(&self, pair: usize, name: &str) -> bool {
        let here = |l: &Lineage| {
            VersionId::of_step(pair)
                .into_iter()
                .any(|v| l.members[v].as_ref().is_some_and(|m| self.names(v, m, name)))
        };
        self.lineages.iter().any(here)
    }

    fn line(&mut self, pair: usize, version: VersionId, path: &Path, line: u32) -> Line {
        let file = self.files[version].iter().flatten().find(|(p, _)| is_same(p, path));
        if let Some((_, Err(why))) = file {
            return Line::Not(format!("limit:{why}"));
        }
        let Some(kind) = self.kind(version, path, line) else { return not("unparsed") };
        if !matches!(kind, LineKind::Blank) && is_header(path) && self.readers(version, path).is_empty() {
            return not("not-included");
        }
        match kind {
            // Where a comment swallows code, the comment's own lines have done it.
            LineKind::Blank if self.swallows(pair, path) => {
                match self.function(pair, version, path, line, "") {
                    Line::Not(_) => Line::Neutral,
                    known => known,
                }
            }
            LineKind::Blank => Line::Neutral,
            LineKind::Inactive => not(INACTIVE),
            LineKind::Global(name) if self.begins_alike(pair, path, &name) => Line::Neutral,
            LineKind::Global(name) => match self.object(pair, version, path, line) {
                Some(known) => known,
                None if self.is_mere_declaration(pair, version, path, line, &name) => Line::Neutral,
                None => self.declaration(pair, path, &name, "global"),
            },
            // What a source that comes or goes declares, its functions show.
            LineKind::Prototype(_) | LineKind::Type(_) | LineKind::Directive
                if self.is_one_sided(pair, path) =>
            {
                Line::Neutral
            }
            LineKind::Prototype(name) => match self.declaration(pair, path, &name, "prototype") {
                Line::Not(_) if self.is_seen_by_users(pair, path, &name) => Line::Neutral,
                Line::Not(_) if self.is_mere_declaration(pair, version, path, line, &name) => Line::Neutral,
                known => known,
            },
            LineKind::Type(name) if self.is_laid_out_anew(pair, path, &name) => {
                self.but_for_objects(pair, path, Line::Neutral)
            }
            LineKind::Type(name) => match self.declaration(pair, path, &name, "layout") {
                Line::Not(_) if self.is_settled_in_users(pair, path, &name) => {
                    self.but_for_objects(pair, path, Line::Neutral)
                }
                known => known,
            },
            LineKind::Other => not("unparsed"),
            LineKind::Directive => {
                let known = self.directive(pair, version, path, line);
                self.but_for_objects(pair, path, known)
            }
            LineKind::Function(name) if is_header(path) => match self.member(version, path, line, &name) {
                Some(_) => self.function(pair, version, path, line, &name),
                None => self.header_function(pair, path, &name),
            },
            LineKind::Function(name) => self.function(pair, version, path, line, &name),
        }
    }

    /// What is told of the objects whose definition a line is of.
    fn object(&self, pair: usize, version: VersionId, path: &Path, line: u32) -> Option<Line> {
        self.objects.line(pair, version.side(pair), path, line).map(line_of)
    }

    /// What has changed no function has not done nothing if an object begins otherwise by it.
    fn but_for_objects(&self, pair: usize, path: &Path, known: Line) -> Line {
        match known {
            Line::Neutral => self.objects.by(pair, path).map_or(Line::Neutral, line_of),
            known => known,
        }
    }

    /// Whether a line is of a declaration that defines nothing, that the other version has too or has nothing
    /// else in the place of, and that changes nothing of the functions that read it which is not told.
    fn is_mere_declaration(
        &self,
        pair: usize,
        version: VersionId,
        path: &Path,
        line: u32,
        name: &str,
    ) -> bool {
        let settled = |i: &usize| {
            let members = VersionId::each(&self.lineages[*i].members).skip(pair).take(2);
            let mut both = members.filter_map(|(v, m)| Some((v, m.as_ref()?)));
            self.is_settled(pair, *i) || !both.any(|(v, m)| uses(&m.function, name) || self.names(v, m, name))
        };
        let of = (pair, version.side(pair));
        is_mere_declaration(self.request, of, path, line, name)
            && self.reached(pair, path, name).iter().all(settled)
    }

    /// What a line belongs to, as the first unit that reads the file sees it.
    fn kind(&mut self, version: VersionId, path: &Path, line: u32) -> Option<LineKind> {
        // What a limit left out is not read for this alone.
        let mut files = self.files[version].iter().flatten();
        if files.any(|(p, loaded)| loaded.is_err() && is_same(p, path)) {
            return None;
        }
        let reader = self.loaded(version, path).into_iter().next();
        if let Some(kind) = reader.and_then(|l| l.lines.get(path)?.kind(line)) {
            return Some(kind.clone());
        }
        let unit = reader.map_or(path, |l| &l.unit.path);
        let key = (version, path.to_path_buf());
        if !self.kinds.contains_key(&key) {
            let tree = &self.request.versions[version].tree;
            let kinds = line_kinds(&**tree, unit, path, &self.request.options);
            self.kinds.insert(key.clone(), kinds);
        }
        self.kinds.get(&key)?.as_ref()?.get((line as usize).checked_sub(1)?).cloned()
    }

    /// The units of a version that read a file.
    fn readers(&self, version: VersionId, path: &Path) -> Vec<&Arc<Unit>> {
        self.loaded(version, path).into_iter().map(|l| &l.unit).collect()
    }

    /// As [`Judge::readers`], as they were loaded.
    fn loaded(&self, version: VersionId, path: &Path) -> Vec<&Arc<LoadedUnit>> {
        let units = self.files[version].iter().flatten().filter_map(|(_, loaded)| loaded.as_ref().ok());
        let mut found: Vec<_> = units.filter(|l| has(&l.unit.files, path)).collect();
        // A header means what those make of it that include it.
        found.sort_by_key(|l| is_header(&l.unit.path));
        found
    }

    /// The functions that a change outside of their text has changed: those of units that read the
    /// file, if they have no hunk of their own or name what was declared.
    fn reached(&self, pair: usize, path: &Path, name: &str) -> Vec<usize> {
        let is_reached = |i: &usize| {
            let (Some(l), Some(a)) = (self.lineages.get(*i), self.analysed.get(*i)) else { return false };
            let sides = VersionId::of_step(pair).map(|v| l.members[v].as_ref());
            let reads = sides.iter().flatten().any(|m| has(&m.unit.files, path));
            reads
                && a.class_of[pair] != a.class_of[pair + 1]
                && (!self.has_own_hunk(pair, sides)
                    || VersionId::of_step(pair)
                        .into_iter()
                        .zip(sides)
                        .any(|(v, m)| m.is_some_and(|m| self.names(v, m, name))))
        };
        (0..self.lineages.len()).filter(is_reached).collect()
    }

    fn has_own_hunk(&self, pair: usize, sides: [Option<&Member>; 2]) -> bool {
        let changes = self.request.changes.get(pair).map(Vec::as_slice).unwrap_or_default();
        let touches = |m: &Member, start: u32, lines: u32| {
            start <= m.function.span.end_line && start.saturating_add(lines) > m.function.span.line
        };
        changes.iter().any(|c| {
            c.hunks.iter().any(|h| {
                let old = sides[0].filter(|m| c.old_path.as_ref() == Some(&m.file));
                let new = sides[1].filter(|m| c.new_path.as_ref() == Some(&m.file));
                old.is_some_and(|m| touches(m, h.old_start, h.old_lines))
                    || new.is_some_and(|m| touches(m, h.new_start, h.new_lines))
            })
        })
    }

    /// Whether a function's text has a name in it.
    fn names(&self, version: VersionId, m: &Member, name: &str) -> bool {
        let Some(bytes) = self.request.versions[version].tree.read(&m.file) else { return false };
        let (first, last) = (m.function.span.line as usize, m.function.span.end_line as usize);
        let lines =
            bytes.split(|b| *b == b'\n').skip(first.saturating_sub(1)).take((last + 1).saturating_sub(first));
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        !name.is_empty() && lines.flat_map(|l| l.split(|b| !is_part(b))).any(|word| word == name.as_bytes())
    }

    /// Whether nothing about a function stayed open between two versions, or at least where its text differs; one
    /// that is new or gone is told by itself.
    fn is_settled(&self, pair: usize, lineage: usize) -> bool {
        self.analysed.get(lineage).is_some_and(|a| is_settled(a, pair))
            || self.locals.is_told(lineage, pair)
            || self.is_made(pair, lineage)
    }

    /// Whether one version of a pair has a function alone.
    fn is_made(&self, pair: usize, lineage: usize) -> bool {
        self.analysed
            .get(lineage)
            .is_some_and(|a| a.class_of[pair].is_none() != a.class_of[pair + 1].is_none())
    }

    /// Whether a function is the same as it stands, with its macros expanded: what is another is what it calls or
    /// reads, and told there.
    fn is_as_written(&self, pair: usize, lineage: usize) -> bool {
        let members = self.lineages.get(lineage).map(|l| (l.members.get(pair), l.members.get(pair + 1)));
        let Some((Some(Some(old)), Some(Some(new)))) = members else { return false };
        old.surroundings == new.surroundings && key::body_hash(&old.function) == key::body_hash(&new.function)
    }

    fn has_churn(&self, pair: usize, lineage: usize) -> bool {
        let Some(l) = self.lineages.get(lineage) else { return false };
        if self.request.analysis.properties_only {
            // No facts are sought; the change was looked at where it counts.
            let decided = |a: &Analysed| a.class_of[pair] != a.class_of[pair + 1] && is_settled(a, pair);
            return self.analysed.get(lineage).is_some_and(decided);
        }
        has_churn(&self.churning, l, pair)
            && self.analysed.get(lineage).is_some_and(|a| a.class_of[pair] != a.class_of[pair + 1])
    }

    /// Whether all that changes of a type is where its members lie, and all that has to do with it in the
    /// units that read the file, of which there is something, does the same.
    fn is_laid_out_anew(&self, pair: usize, path: &Path, name: &str) -> bool {
        let mut used = false;
        for (l, a) in self.lineages.iter().zip(self.analysed) {
            let (Some(Some(old)), Some(Some(new))) = (l.members.get(pair), l.members.get(pair + 1)) else {
                // One that is new or gone is told by itself.
                continue;
            };
            if ![old, new].iter().any(|m| has(&m.unit.files, path)) {
                continue;
            }
            if layouts::is_touched(old, new, name) {
                used = true;
                if a.class_of[pair] != a.class_of[pair + 1] {
                    return false;
                }
            }
        }
        let units = |version: VersionId| self.readers(version, path).into_iter().cloned().collect::<Vec<_>>();
        let [from, to] = VersionId::of_step(pair);
        used && layouts::begin_alike(&units(from), &units(to))
    }
}

/// The line on which a directive begins that a line goes on with.
fn first_line(text: &[u8], line: u32) -> &[u8] {
    let lines: Vec<&[u8]> = text.split(|b| *b == b'\n').take(line as usize).collect();
    let goes_on = |line: &&&[u8]| line.trim_ascii_end().ends_with(b"\\");
    let before = lines.iter().rev().skip(1).take_while(goes_on).count();
    lines.len().checked_sub(before + 1).and_then(|k| lines.get(k)).copied().unwrap_or_default()
}

/// Whether two paths of one repository are the same: they are written alike, and a comparison part by part, as paths
/// have it, was a seventh of a large commit's time.
fn is_same(a: &Path, b: &Path) -> bool {
    a.as_os_str() == b.as_os_str()
}

fn has(files: &[PathBuf], path: &Path) -> bool {
    files.iter().any(|f| is_same(f, path))
}

fn line_of(told: Result<Told, &str>) -> Line {
    match told {
        Ok(Told::Differs) => Line::Explained,
        Ok(_) => Line::Neutral,
        Err(why) => Line::Not(format!("open:{why}")),
    }
}

/// The last line of a function's head.
fn head_end(f: &Function) -> u32 {
    let lines = f.nodes.iter().skip(2).map(|n| n.span.line).filter(|line| *line > 0);
    lines.min().map_or(f.span.end_line, |first| first.saturating_sub(1))
}

/// Whether nothing about a function stayed open between two versions.
pub(super) fn is_settled(a: &Analysed, pair: usize) -> bool {
    a.class_of[pair] == a.class_of[pair + 1] || a.diff.as_ref().is_some_and(|d| d.is_decided())
}

fn explained(report: &Report, pair: usize, path: &Path, hunk: &Hunk) -> bool {
    let file = RepoPath::from(path);
    let points = report.functions.iter().flat_map(|f| &f.points);
    points.flat_map(|p| &p.churns).filter(|c| c.from as usize == pair + 1).any(|c| {
        c.hunks
            .iter()
            .any(|h| h.file == file && (h.old_start, h.new_start) == (hunk.old_start, hunk.new_start))
    })
}

/// What is said, where functions change, of a hunk that nothing else is said of: a line may hold more than one thing,
/// and goes by the first of them. `Err`: why that is open.
fn told_there(report: &Report, pair: usize, path: &Path, hunk: &Hunk) -> Option<Result<(), String>> {
    let file = RepoPath::from(path);
    let is_it =
        |h: &HunkRef| h.file == file && (h.old_start, h.new_start) == (hunk.old_start, hunk.new_start);
    let changes = report.functions.iter().flat_map(|f| f.changes.iter().map(move |c| (f, c)));
    let here = changes.filter(|(_, c)| c.from as usize == pair + 1 && c.hunks.iter().any(is_it));
    let mut found = None;
    for (f, change) in here {
        match change.verdict {
            ChangeVerdict::Neutral => {}
            ChangeVerdict::Open if f.complete => {}
            ChangeVerdict::Open => {
                let why = change.reason.as_ref().map_or("undecided".to_owned(), |why| format!("open:{why}"));
                return Some(Err(why));
            }
            ChangeVerdict::Differs => found = Some(Ok(())),
        }
    }
    found
}

mod code;
mod conditions;
mod declarations;
mod functions;
mod types;

#[cfg(test)]
mod tests;
