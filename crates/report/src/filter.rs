//! Which facts of a report to show: a pure function from report to report.
//!
//! Filters only take away. The analysis may use the same filters to do less; a fact that passes them
//! is the same either way. Verdicts of hunks stay those of the whole range.

use super::model::{
    Change, Churn, Fact, FunctionReport, HunkRef, HunkReport, Point, PointKind, Report, Status, Summary,
    Version,
};
use super::{LineRef, ObjectReport, RepoPath};
use std::collections::BTreeSet;

/// What to keep; an empty list keeps everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub functions: Vec<FunctionGlob>,
    /// Variables; `result` stands for `\result` too.
    pub variables: Vec<String>,
    /// Points at these lines, in any version.
    pub at: Vec<SourceLine>,
    /// Facts that these source lines affect.
    pub affected_by: Vec<SourceLine>,
    pub points: Vec<PointKind>,
    pub templates: Vec<String>,
    pub statuses: Vec<Status>,
    /// Facts of these versions; churns and changes are of two, and none of them passes.
    pub held: HeldIn,
    pub without_churns: bool,
    pub without_invariants: bool,
}

/// The versions in which a fact is to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldIn {
    /// These, and maybe others.
    pub by: BTreeSet<Version>,
    /// This one and all later ones, and not the one before.
    pub since: Option<Version>,
    /// An older one than the newest that has the function, and not this one.
    pub lost: bool,
}

impl HeldIn {
    pub fn is_empty(&self) -> bool {
        *self == HeldIn::default()
    }

    fn passes(&self, fact: &Fact) -> bool {
        let is_held = |v: &Version| fact.versions.contains(v) && fact.reached.get(v) != Some(&false);
        let all: BTreeSet<Version> = fact.versions.iter().chain(fact.not_held.keys()).copied().collect();
        let begins = |since: &Version| {
            let before = all.range(..since).next_back();
            all.contains(since) && all.range(since..).all(is_held) && before.is_none_or(|v| !is_held(v))
        };
        let newest = all.last();
        self.by.iter().all(is_held)
            && self.since.as_ref().is_none_or(begins)
            && (!self.lost || all.iter().any(is_held) && newest.is_some_and(|v| !is_held(v)))
    }
}

/// `GLOB` or `FILE:GLOB` with `*` and `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionGlob {
    file: Option<String>,
    name: String,
}

impl FunctionGlob {
    pub fn parse(text: &str) -> FunctionGlob {
        match text.rsplit_once(':') {
            Some((file, name)) => FunctionGlob { file: Some(file.to_owned()), name: name.to_owned() },
            None => FunctionGlob { file: None, name: text.to_owned() },
        }
    }

    /// Whether a function of this name in this file is meant.
    pub fn matches(&self, file: &RepoPath, name: &str) -> bool {
        glob_matches(self.name.as_bytes(), name.as_bytes())
            && self.file.as_ref().is_none_or(|glob| glob_matches(glob.as_bytes(), file.as_bytes()))
    }
}

/// A line of a file; the path is relative to the top of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    pub file: RepoPath,
    pub line: u32,
}

impl SourceLine {
    /// Reads `FILE:LINE`; `None` if there is no file or no line.
    pub fn parse(text: &str) -> Option<SourceLine> {
        let (file, line) = text.rsplit_once(':')?;
        let line = line.parse().ok().filter(|line| *line > 0)?;
        (!file.is_empty()).then(|| SourceLine { file: file.into(), line })
    }
}

/// Matches `*` (any bytes) and `?` (one byte); everything else stands for itself.
pub fn glob_matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut g, mut t) = (0, 0);
    // Where to go on if the text after the last star does not match.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some(b'*') => {
                retry = Some((g + 1, t));
                g += 1;
            }
            Some(c) if *c == b'?' || text.get(t) == Some(c) => {
                g += 1;
                t += 1;
            }
            _ => match retry {
                Some((after_star, from)) => {
                    retry = Some((after_star, from + 1));
                    g = after_star;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    glob.iter().skip(g).all(|c| *c == b'*')
}

impl Filter {
    /// Whether everything passes.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Takes away what does not pass, and what is then empty; counts again.
    pub fn apply(&self, report: &mut Report) {
        if self.is_empty() {
            return;
        }
        report.functions.retain(|f| self.passes_function(f));
        for function in &mut report.functions {
            let mut points = std::mem::take(&mut function.points);
            points.retain(|point| self.passes_point(function, point));
            for point in &mut points {
                self.apply_to_point(function, point);
            }
            points.retain(|p| {
                let is_bare = p.version_invariants.is_empty() && p.subset_invariants.is_empty();
                !p.churns.is_empty() || !is_bare || !p.undecided.is_empty()
            });
            function.points = points;
            let mut changes = std::mem::take(&mut function.changes);
            changes.retain(|change| self.passes_change(function, change));
            function.changes = changes;
        }
        report.objects.retain(|o| self.passes_object(o));
        let hides_compiled = |h: &HunkReport| !self.passes_compiled(h);
        report.hunks.iter_mut().filter(|h| hides_compiled(h)).for_each(|h| h.compiled.clear());
        report.summary = Summary::of(report);
    }

    /// An object has no facts; by functions those are asked for that read it, by variables its name.
    fn passes_object(&self, object: &ObjectReport) -> bool {
        let of_facts = !self.templates.is_empty()
            || !self.statuses.is_empty()
            || !self.points.is_empty()
            || !self.held.is_empty();
        let reads = |glob: &FunctionGlob| {
            let own = object.function.iter().chain(&object.readers.first);
            own.into_iter().any(|name| glob.matches(&object.file, name))
        };
        let within = |start: u32, lines: u32, line: u32| line >= start && line - start < lines;
        let is_at = |at: &SourceLine| {
            let here = object.file == at.file && object.lines.values().any(|line| *line == at.line);
            let hunk = |h: &HunkRef| {
                h.file == at.file
                    && (within(h.old_start, h.old_lines, at.line)
                        || within(h.new_start, h.new_lines, at.line))
            };
            here || object.hunks.iter().any(hunk)
        };
        !self.without_churns
            && !of_facts
            && (self.functions.is_empty() || self.functions.iter().any(reads))
            && (self.variables.is_empty() || self.variables.contains(&object.name))
            && (self.at.is_empty() || self.at.iter().any(is_at))
            && (self.affected_by.is_empty() || self.affected_by.iter().any(is_at))
    }

    /// What conditions have compiled is of no function, variable or fact; by lines those of its hunk count.
    fn passes_compiled(&self, hunk: &HunkReport) -> bool {
        let within = |start: u32, lines: u32, line: u32| line >= start && line - start < lines;
        let is_at = |at: &SourceLine| {
            hunk.file == at.file
                && (within(hunk.old_start, hunk.old_lines, at.line)
                    || within(hunk.new_start, hunk.new_lines, at.line))
        };
        let by_line = Filter { at: Vec::new(), affected_by: Vec::new(), ..self.clone() };
        let by_line = Filter { without_invariants: false, ..by_line };
        let meets = |all: &[SourceLine]| all.is_empty() || all.iter().any(is_at);
        by_line.is_empty() && meets(&self.at) && meets(&self.affected_by)
    }

    fn passes_function(&self, function: &FunctionReport) -> bool {
        let matches = |glob: &FunctionGlob| {
            let places = function.identity.versions.values();
            glob.matches(&function.file, &function.name)
                || places.into_iter().any(|p| glob.matches(&p.file, &p.name))
        };
        self.functions.is_empty() || self.functions.iter().any(matches)
    }

    /// Changes are no facts: what is asked of facts none of them has. Lines are those of their regions and hunks.
    fn passes_change(&self, function: &FunctionReport, change: &Change) -> bool {
        let of_facts = !self.variables.is_empty()
            || !self.templates.is_empty()
            || !self.statuses.is_empty()
            || !self.points.is_empty()
            || !self.held.is_empty();
        let within = |start: u32, lines: u32, line: u32| line >= start && line - start < lines;
        let is_at = |at: &SourceLine| {
            let place =
                |(version, line): (&u32, &u32)| *line == at.line && file_in(function, *version) == &at.file;
            let hunk = |h: &HunkRef| {
                h.file == at.file
                    && (within(h.old_start, h.old_lines, at.line)
                        || within(h.new_start, h.new_lines, at.line))
            };
            change.at.lines.iter().any(place) || change.hunks.iter().any(hunk)
        };
        !self.without_churns
            && !of_facts
            && (self.at.is_empty() || self.at.iter().any(is_at))
            && (self.affected_by.is_empty() || self.affected_by.iter().any(is_at))
    }

    fn passes_point(&self, function: &FunctionReport, point: &Point) -> bool {
        let is_at = |at: &SourceLine| is_at(function, point, at);
        (self.points.is_empty() || self.points.contains(&point.kind))
            && (self.at.is_empty() || self.at.iter().any(is_at))
    }

    fn apply_to_point(&self, function: &FunctionReport, point: &mut Point) {
        let is_kept = |fact: &Fact| {
            !self.without_invariants
                && self.passes_fact(fact)
                && self.held.passes(fact)
                && self.fact_is_affected(function, fact)
        };
        point.version_invariants.retain(is_kept);
        point.subset_invariants.retain(is_kept);
        point.if_reached.retain(is_kept);
        point.churns.retain_mut(|churn| {
            let affected = self.affected_by.is_empty()
                || self.churn_is_affected(churn)
                || churn.removed.iter().chain(&churn.added).any(|f| self.fact_is_affected(function, f));
            // A churn that no short fact describes is judged by what it is about.
            let bare = churn.removed.is_empty() && churn.added.is_empty();
            let about = Fact { variables: vec![churn.subject.clone()], ..Fact::default() };
            churn.removed.retain(|fact| self.passes_fact(fact));
            churn.added.retain(|fact| self.passes_fact(fact));
            let left = !(churn.removed.is_empty() && churn.added.is_empty());
            let told = !self.without_churns && self.held.is_empty();
            told && affected && (left || bare && self.passes_fact(&about))
        });
    }

    fn passes_fact(&self, fact: &Fact) -> bool {
        let about = |name: &String| {
            fact.variables.iter().any(|v| v == name || v.strip_prefix('\\') == Some(name.as_str()))
        };
        (self.variables.is_empty() || self.variables.iter().any(about))
            && (self.templates.is_empty() || self.templates.contains(&fact.template))
            && (self.statuses.is_empty()
                || fact.status.values().max().is_some_and(|weakest| self.statuses.contains(weakest)))
    }

    fn fact_is_affected(&self, function: &FunctionReport, fact: &Fact) -> bool {
        let rests_on = |at: &SourceLine| {
            fact.lines
                .iter()
                .any(|(version, lines)| lines.contains(&at.line) && file_in(function, *version) == &at.file)
        };
        self.affected_by.is_empty() || self.affected_by.iter().any(rests_on)
    }

    /// A line affects a churn if it is among its causes, or inside one of its hunks.
    fn churn_is_affected(&self, churn: &Churn) -> bool {
        let within = |start: u32, lines: u32, line: u32| line >= start && line - start < lines;
        self.affected_by.iter().any(|at| {
            let is_it = |cause: &LineRef| cause.line == at.line && cause.file == at.file;
            let causes = &churn.causes;
            causes.removed.iter().chain(&causes.added).chain(&causes.shared).any(is_it)
                || churn.hunks.iter().any(|hunk| {
                    hunk.file == at.file
                        && (within(hunk.old_start, hunk.old_lines, at.line)
                            || within(hunk.new_start, hunk.new_lines, at.line))
                })
        })
    }
}

impl Report {
    /// Whether facts were asked for at a line, of any version.
    pub fn has_point_at(&self, at: &SourceLine) -> bool {
        self.functions.iter().any(|f| f.points.iter().any(|point| is_at(f, point, at)))
    }
}

fn is_at(function: &FunctionReport, point: &Point, at: &SourceLine) -> bool {
    let is_it = |(version, line): (&u32, &u32)| *line == at.line && file_in(function, *version) == &at.file;
    point.lines.iter().any(is_it)
}

/// Where a function was in a version.
fn file_in(function: &FunctionReport, version: u32) -> &RepoPath {
    function.identity.versions.get(&version).map_or(&function.file, |place| &place.file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Causes;

    fn fact(variable: &str, template: &str, status: Status, line: u32) -> Fact {
        Fact {
            variables: vec![variable.into()],
            template: template.into(),
            text: variable.into(),
            status: [(1, Status::Proved), (2, status)].into(),
            lines: [(2, vec![line])].into(),
            ..Fact::default()
        }
    }

    fn report() -> Report {
        let hunk = HunkRef { file: "a.c".into(), old_start: 20, old_lines: 2, new_start: 30, new_lines: 0 };
        let cause = LineRef { file: "a.h".into(), line: 4, text: None };
        let churn = Churn {
            removed: vec![fact("x", "constant", Status::Proved, 8)],
            added: vec![fact("\\result", "range", Status::Likely, 9)],
            causes: Causes { shared: vec![cause], ..Causes::default() },
            hunks: vec![hunk],
            ..Churn::default()
        };
        let point = |kind, line, invariant| Point {
            kind,
            lines: [(2, line)].into(),
            version_invariants: vec![invariant],
            churns: vec![churn.clone()],
            ..Point::default()
        };
        let function = |name: &str| FunctionReport {
            file: "a.c".into(),
            name: name.into(),
            points: vec![
                point(PointKind::Exit, 15, fact("y", "constant", Status::Bounded, 7)),
                point(PointKind::Loop, 12, fact("z", "linear", Status::Proved, 6)),
            ],
            ..FunctionReport::default()
        };
        Report { functions: vec![function("push"), function("pop")], ..Report::default() }
    }

    /// `function@line: invariants / churned facts` for each point that is left.
    #[track_caller]
    fn check(filter: Filter, expected: &str) {
        let mut report = report();
        filter.apply(&mut report);
        let mut left = Vec::new();
        for function in &report.functions {
            for point in &function.points {
                let text = |facts: Vec<&Fact>| facts.iter().map(|f| f.text.as_str()).collect::<String>();
                let churned = point.churns.iter().flat_map(|c| c.removed.iter().chain(&c.added)).collect();
                let held = point.version_invariants.iter().collect();
                let line = line_text(point);
                left.push(format!("{}@{line}:{}/{}", function.name, text(held), text(churned)));
            }
        }
        assert_eq!(left.join(" "), expected);
        assert_eq!(report.summary, Summary::of(&report));
    }

    fn line_text(point: &Point) -> String {
        point.lines.values().map(u32::to_string).collect()
    }

    fn one(change: impl FnOnce(&mut Filter)) -> Filter {
        let mut filter = Filter { functions: vec![FunctionGlob::parse("push")], ..Filter::default() };
        change(&mut filter);
        filter
    }

    #[test]
    fn functions_and_points() {
        check(one(|_| ()), r"push@15:y/x\result push@12:z/x\result");
        check(Filter { functions: vec![FunctionGlob::parse("b.c:p*")], ..Filter::default() }, "");
        check(one(|f| f.points = vec![PointKind::Loop]), r"push@12:z/x\result");
        check(one(|f| f.at = SourceLine::parse("a.c:15").into_iter().collect()), r"push@15:y/x\result");
    }

    /// What differs, and no short fact says how, is judged by what it is about.
    #[test]
    fn churns_without_facts() {
        let left = |filter: Filter| {
            let mut report = report();
            for churn in report.functions.iter_mut().flat_map(|f| &mut f.points).flat_map(|p| &mut p.churns) {
                (churn.removed, churn.added) = (Vec::new(), Vec::new());
                churn.subject = "memory".into();
            }
            filter.apply(&mut report);
            report.functions.iter().flat_map(|f| &f.points).map(|p| p.churns.len()).sum::<usize>()
        };
        assert_eq!(left(one(|_| ())), 2);
        assert_eq!(left(one(|f| f.points = vec![PointKind::Loop])), 1);
        assert_eq!(left(one(|f| f.variables = vec!["memory".into()])), 2);
        assert_eq!(left(one(|f| f.variables = vec!["x".into()])), 0);
        assert_eq!(left(one(|f| f.affected_by = SourceLine::parse("a.c:21").into_iter().collect())), 2);
        assert_eq!(left(one(|f| f.affected_by = SourceLine::parse("a.c:22").into_iter().collect())), 0);
    }

    #[test]
    fn facts() {
        check(one(|f| f.variables = vec!["x".into()]), "push@15:/x push@12:/x");
        check(one(|f| f.variables = vec!["result".into()]), r"push@15:/\result push@12:/\result");
        check(one(|f| f.templates = vec!["linear".into()]), "push@12:z/");
        check(one(|f| f.statuses = vec![Status::Bounded]), "push@15:y/");
        check(one(|f| f.without_churns = true), "push@15:y/ push@12:z/");
        check(one(|f| f.without_invariants = true), r"push@15:/x\result push@12:/x\result");
    }

    /// A fact of versions, and of others in which it is not held.
    #[test]
    fn versions_that_hold_a_fact() {
        let fact = |held: &[Version], others: &[Version]| Fact {
            versions: held.to_vec(),
            not_held: others.iter().map(|v| (*v, crate::NotHeld::Refuted)).collect(),
            ..Fact::default()
        };
        let all = [
            fact(&[1, 2, 3, 4], &[]),
            fact(&[1, 2, 3], &[4]),
            fact(&[3, 4], &[1, 2]),
            fact(&[1, 3, 4], &[2]),
            fact(&[2], &[1, 3, 4]),
            // The function is not in versions 1 and 4; of version 3 no run comes to the point.
            Fact { reached: [(2, true), (3, false)].into(), ..fact(&[2, 3], &[]) },
        ];
        let by =
            |versions: &[Version]| HeldIn { by: versions.iter().copied().collect(), ..HeldIn::default() };
        let since = |v| HeldIn { since: Some(v), ..HeldIn::default() };
        let lost = HeldIn { lost: true, ..HeldIn::default() };
        for (held, expected) in [
            (HeldIn::default(), vec![0, 1, 2, 3, 4, 5]),
            (by(&[1, 2, 3]), vec![0, 1]),
            (by(&[2]), vec![0, 1, 4, 5]),
            (by(&[3, 4]), vec![0, 2, 3]),
            (since(1), vec![0]),
            (since(3), vec![2, 3]),
            (since(2), vec![]),
            (lost.clone(), vec![1, 4, 5]),
            (HeldIn { by: [1].into(), ..lost }, vec![1]),
        ] {
            let passed: Vec<usize> = (0..all.len()).filter(|&k| held.passes(&all[k])).collect();
            assert_eq!(passed, expected, "{held:?}");
        }
        check(one(|f| f.held = by(&[7])), "");
    }

    #[test]
    fn what_a_line_affects() {
        let by = |text: &str| one(|f| f.affected_by = SourceLine::parse(text).into_iter().collect());
        let both = r"push@15:/x\result push@12:/x\result";
        check(by("a.c:7"), "push@15:y/");
        check(by("a.c:8"), both);
        check(by("a.h:4"), both);
        check(by("a.c:21"), both);
        check(by("a.c:22"), "");
        check(by("a.c:30"), "");
    }

    #[test]
    fn globs() {
        for (glob, text, expected) in [
            ("p*", "push", true),
            ("*u*h", "push", true),
            ("p?sh", "push", true),
            ("p?h", "push", false),
            ("*", "", true),
            ("", "x", false),
            ("a*b*c", "aXbXbXd", false),
        ] {
            assert_eq!(glob_matches(glob.as_bytes(), text.as_bytes()), expected, "{glob} {text}");
        }
        assert_eq!(SourceLine::parse("a.c:0"), None);
        assert_eq!(SourceLine::parse(":3"), None);
        assert_eq!(SourceLine::parse("a.c"), None);
    }
}
