//! Ask little first: what a first look at a range asks at exits of functions.
//!
//! The local view answers most hunks in milliseconds; what holds at the exit of a whole function takes runs and a
//! solver. So the local view comes first. Then facts at exits are asked of the functions of which it leaves something
//! open, and of small ones, where they cost little and say more: a result's formula, an input that shows the change.
//! Who asks for facts by name or by a filter, or for more effort, gets those of all functions
//! ([`super::request::Exits::All`]).
//!
//! A first look does not read other files for what takes the place of a definition or runs before a program, unless
//! there are few. Where such a thing may be, nothing is asked at exits, and nothing is said to be the same.

use super::classes::{Analysed, classify, is_changed, is_changed_by_callees_alone};
use super::convert::is_edited;
use super::function::{analyse_safely, not_asked, pins_of};
use super::lineage::{Lineage, Member};
use super::linked::Name;
use super::local::Locals;
use super::request::{Effort, Limits, Options, Request};
use super::shared_out;
use super::world::World;
use crate::invariant::Budget;
use crate::mvicfg::key;
use crate::report::{
    AssertionKind, ChangeVerdict, FunctionReport, FunctionStatus, OpenKind, RepoPath, Report, Undecided,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes of functions, with what is inlined, whose exits are looked at in passing.
const SMALL_NODES: usize = 100;

/// Nodes of functions which cost next to nothing whatever is asked.
const TINY_NODES: usize = 20;

/// Functions of which it is asked what something changes that is told nowhere: a function in a header.
const MAX_ELSEWHERE: usize = 8;

/// What is asked at a function's exit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// What runs and rules tell.
    Little,
    /// What a first look may ask of everything.
    All,
}

/// What is asked of the functions of a range.
#[derive(Default)]
pub(super) struct FirstLook {
    asked: Vec<Asked>,
    /// Functions of which what is left undecided is an open question: what was not asked, or in passing, is none.
    open: BTreeSet<(RepoPath, String)>,
    /// Functions that other files may see come and go.
    unseen: BTreeSet<(RepoPath, String)>,
    /// Functions that are the same but for functions that they call and that are told of.
    callers: BTreeSet<(RepoPath, String)>,
}

impl FirstLook {
    /// Chooses functions after the local view. `come_and_go`: the names that one version defines for other files and
    /// its neighbour does not; `is_linked`: other files were read for what such names mean there.
    pub fn of(
        (request, world): (&Request, &World),
        lineages: &[Lineage],
        locals: &Locals,
        (come_and_go, is_linked): (&BTreeSet<Name>, bool),
    ) -> FirstLook {
        let options = &request.analysis;
        let is_replaceable = || world.reaches.iter().any(|r| !r.weak_names().is_empty());
        let are_known = is_linked || !is_replaceable();
        let is_known = |m: &Member| is_linked || are_known && &*m.function.name != "main";
        let is_askable =
            |l: &Lineage| options.effort != Effort::Quick && l.members.iter().flatten().all(is_known);
        let is_pinned = |l: &Lineage| !pins_of(l, &options.specification.pins).is_empty();
        let changed: Vec<(usize, &Lineage)> =
            lineages.iter().enumerate().filter(|(_, l)| is_changed(l)).collect();
        let names: BTreeSet<&str> =
            changed.iter().filter_map(|(_, l)| l.newest()).map(|(_, m)| &*m.function.name).collect();
        let all: BTreeSet<&str> =
            lineages.iter().flat_map(|l| l.members.iter().flatten()).map(|m| &*m.function.name).collect();
        let tells = |k: usize| (0..request.versions.len()).any(|step| locals.differs(k, step));
        let mut look = FirstLook { asked: vec![Asked::Nothing; lineages.len()], ..FirstLook::default() };
        let (mut small, mut elsewhere, mut beside_text) = (Vec::new(), Vec::new(), Vec::new());
        for &(k, l) in &changed {
            let is_open = is_open(request, k, l, locals);
            match () {
                () if is_open || is_pinned(l) => look.asked[k] = Asked::All,
                // Where the local view tells nothing, there is nothing more to say.
                () if l.is_edited() => small.extend(tells(k).then(|| (l.size(), k))),
                () if !is_changed_by_callees_alone(l) => beside_text.push((l.size(), k)),
                () if calls_one_of(l, &names) && !changes_elsewhere(l, &all) => look.callers.extend(named(l)),
                () => elsewhere.push((l.size(), k)),
            }
            if is_open {
                look.open.extend(named(l));
            }
        }
        // What changes them is in none of the functions that are told of: in a header, in the numbers of lines.
        if !changed.iter().any(|(_, l)| l.is_edited()) {
            elsewhere.append(&mut beside_text);
        }
        elsewhere.sort_unstable();
        for &(_, k) in elsewhere.iter().take(MAX_ELSEWHERE) {
            look.asked[k] = Asked::All;
            look.open.extend(lineages.get(k).and_then(named));
        }
        small.sort_unstable();
        let mut taken = 0;
        for (size, k) in small {
            taken += size;
            look.asked[k] = match taken {
                ..=TINY_NODES => Asked::All,
                _ if taken <= SMALL_NODES => Asked::Little,
                _ => break,
            };
        }
        for (asked, l) in look.asked.iter_mut().zip(lineages) {
            if !is_askable(l) {
                *asked = Asked::Nothing;
            }
        }
        let comes_and_goes = |l: &&Lineage| {
            let mut names = l.members.iter().flatten().map(|m| (true, m.function.name.clone()));
            names.any(|name| come_and_go.contains(&name))
        };
        if !is_linked {
            look.unseen.extend(lineages.iter().filter(comes_and_goes).filter_map(named));
        }
        // Another definition may take the place of one that callers call.
        if !come_and_go.is_empty() {
            look.callers.clear();
        }
        look
    }

    /// Looks at exits.
    pub fn exits(&self, lineages: &[Lineage], world: &World, options: &Options) -> Vec<Analysed> {
        let all = shared_out(options, self.asked.iter().filter(|a| **a == Asked::All).count());
        // Without a unit to spend the solver is asked nothing.
        let limits = Limits { rlimit: 0, budget: Budget::GLANCE, ..options.limits };
        let little = Options { limits, ..options.clone() };
        let one = |(l, asked): (&Lineage, &Asked)| match asked {
            _ if world.watch.is_over() => not_asked(l, options),
            Asked::Nothing => not_asked(l, options),
            Asked::Little => analyse_safely(l, world, &little),
            Asked::All => analyse_safely(l, world, &all),
        };
        lineages.par_iter().zip(&self.asked).map(one).collect()
    }

    /// Takes out of a report what is no open question, and assertions that no input breaks: `check` judges them all.
    /// After the local view.
    pub fn drop_questions(&self, report: &mut Report, request: &Request) {
        let tells = |f: &FunctionReport| f.changes.iter().any(|c| c.verdict == ChangeVerdict::Differs);
        let is_something_told = report.functions.iter().any(tells)
            || report.objects.iter().any(|o| o.verdict == ChangeVerdict::Differs);
        for f in &mut report.functions {
            let place = (f.file.clone(), f.name.clone());
            if !self.open.contains(&place) {
                // What changes elsewhere is no question where something is told, and one there where it changes.
                let is_elsewhere = f.changes.is_empty() && is_something_told || self.callers.contains(&place);
                let is_told = tells(f) || is_elsewhere;
                drop_questions(f, is_told);
            }
            f.complete &= !self.unseen.contains(&place);
        }
        // Where all that is called does the same, so does who calls it.
        let is_caller = |f: &FunctionReport| self.callers.contains(&(f.file.clone(), f.name.clone()));
        if !is_something_told && report.functions.iter().all(|f| f.complete || is_caller(f)) {
            let sure = report.functions.iter_mut().filter(|f| f.outcome == FunctionStatus::Analysed);
            sure.for_each(|f| {
                f.complete |= f.unknowns.is_empty() && f.points.iter().all(|p| p.undecided.is_empty())
            });
        }
        if request.analysis.effort == Effort::Quick {
            report.functions.iter_mut().for_each(|f| f.points.clear());
        }
        report.assertions.retain(|a| a.violation.is_some() || a.kind == AssertionKind::Pinned);
    }
}

/// Takes out what was not asked, or in passing; `is_told`: and what may show in all runs.
fn drop_questions(f: &mut FunctionReport, is_told: bool) {
    // Loops go in step where each change does the same from any state.
    let is_neutral = !f.changes.is_empty() && f.changes.iter().all(|c| c.verdict == ChangeVerdict::Neutral);
    let is_settled = |u: &Undecided| is_told || is_neutral && u.kind == OpenKind::Endings;
    let is_question =
        |u: &Undecided| matches!(u.kind, OpenKind::AllRuns | OpenKind::Endings) && !is_settled(u);
    let is_left_out = f.points.iter().flat_map(|p| &p.undecided).any(|u| !is_question(u));
    f.raise = is_left_out.then(|| "--effort deep".to_owned());
    f.points.iter_mut().for_each(|p| p.undecided.retain(is_question));
    f.points.retain(|p| !p.churns.is_empty() || !p.version_invariants.is_empty() || !p.undecided.is_empty());
    // Of a function whose own text is the same it is not known what becomes of it through others.
    let is_seen = !f.changes.is_empty() && f.points.iter().all(|p| p.undecided.is_empty());
    f.complete |= is_seen && f.outcome == FunctionStatus::Analysed && f.unknowns.is_empty();
}

fn named(l: &Lineage) -> Option<(RepoPath, String)> {
    l.newest().map(|(_, m)| (RepoPath::from(m.file.as_path()), m.function.name.to_string()))
}

/// Whether a function calls one of these in some version.
fn calls_one_of(l: &Lineage, names: &BTreeSet<&str>) -> bool {
    let nodes = l.members.iter().flatten().flat_map(|m| &m.function.nodes);
    nodes.flat_map(|n| n.instr.named_callees()).any(|name| names.contains(&**name))
}

/// Whether what a function calls changes in functions that are not among those which are `compared`: those of headers.
fn changes_elsewhere(l: &Lineage, compared: &BTreeSet<&str>) -> bool {
    let bodies = |m: &Member| {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        let mut work = vec![&*m.function];
        while let Some(f) = work.pop() {
            let called = f.nodes.iter().flat_map(|n| n.instr.named_callees());
            for name in called.filter(|name| !compared.contains(&***name)) {
                let defined = m.unit.functions.iter().find(|g| *g.name == **name);
                let Some(g) = defined.filter(|_| !found.contains_key(&**name)) else { continue };
                found.insert(name.to_string(), key::exact_body_hash(g));
                work.push(g);
            }
        }
        found
    };
    let mut versions = l.members.iter().flatten().map(bodies);
    let first = versions.next();
    versions.any(|v| Some(v) != first)
}

/// Nodes of the largest version, with what is inlined.
/// Whether the local view leaves something of a function open, or does not speak of it, though its text changes.
fn is_open(request: &Request, k: usize, l: &Lineage, locals: &Locals) -> bool {
    let (class_of, _) = classify(l);
    let differs = |step: &usize| matches!(class_of[*step..*step + 2], [Some(a), Some(b)] if a != b);
    let steps = (0..class_of.len().saturating_sub(1)).filter(differs);
    (l.is_edited() || is_edited(request, l)) && locals.is_open(k, steps)
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Exits, Options, diff, memory};
    use crate::frontend::c;
    use crate::report::{FunctionReport, Report};

    /// The report of a first look at two versions of some files beside `others` more.
    fn look(versions: [&[(&str, &str)]; 2], others: usize) -> Report {
        let names: Vec<String> = (0..others).map(|k| format!("other{k}.h")).collect();
        let beside = || names.iter().map(|n| (n.as_str(), "int other;\n"));
        let versions = versions.map(|files| files.iter().copied().chain(beside()).collect());
        let options = Options { jobs: 1, exits: Exits::WhereOpen, ..Options::default() };
        diff(&memory::request(&versions, c::Options::default(), options))
    }

    #[track_caller]
    fn function<'r>(report: &'r Report, name: &str) -> &'r FunctionReport {
        report.functions.iter().find(|f| f.name == name).expect("the function")
    }

    fn churns(f: &FunctionReport) -> usize {
        f.points.iter().map(|p| p.churns.len()).sum()
    }

    #[test]
    fn small_functions_are_asked_and_large_ones_are_told_of() {
        let cases: String = (0..90).map(|k| format!("if (x == {k}) x += {};\n", k * 7 + 1)).collect();
        let text = |k: u32| {
            format!("int f(int x) {{ return x + {k}; }}\nint g(int x) {{ {cases} return x * {k}; }}\n")
        };
        let (old, new) = (text(1), text(2));
        let report = look([&[("a.c", &old)], &[("a.c", &new)]], 0);
        let [f, g] = ["f", "g"].map(|name| function(&report, name));
        assert!(churns(f) > 0 && f.raise.is_none(), "{f:?}");
        assert!(!g.changes.is_empty() && g.points.is_empty(), "{g:?}");
        assert_eq!(g.raise.as_deref(), Some("--effort deep"));
        assert!(report.complete);
    }

    #[test]
    fn what_changes_nothing_is_not_asked() {
        let text =
            |e: &str| format!("int f(int x) {{ int r = {e}; return r; }}\nint g(int x) {{ return f(x); }}\n");
        let (old, new) = (text("x + x"), text("2 * x"));
        let report = look([&[("a.c", &old)], &[("a.c", &new)]], 0);
        assert!(report.complete && report.functions.iter().all(|f| f.points.is_empty()), "{report:?}");
    }

    /// What it prints rests on what other files say of `x`, and of what runs before it.
    #[test]
    fn a_program_is_asked_where_all_files_can_be_read() {
        let text = |f: &str| {
            format!("#include <stdio.h>\nextern int x;\nint main(void) {{ printf(\"{f}\", x); return 0; }}\n")
        };
        let (old, new) = (text("%d"), text("<%d>"));
        for (others, is_asked) in [(3, true), (40, false)] {
            let report = look([&[("a.c", &old)], &[("a.c", &new)]], others);
            let main = function(&report, "main");
            assert_eq!((main.changes.len(), churns(main) > 0), (1, is_asked), "{main:?}");
        }
    }

    /// Another file may have a definition that takes the place of a weak one.
    #[test]
    fn names_that_come_and_go_are_seen_elsewhere() {
        let versions: [&[(&str, &str)]; 2] = [
            &[("b.c", "int g(int v) { return v + 2; }\n")],
            &[("b.c", "int unused(int v) { return v + 2; }\n")],
        ];
        assert!(look(versions, 3).complete);
        assert!(!look(versions, 40).complete);
    }

    #[test]
    fn what_a_function_of_a_header_does_is_told_though_the_header_stays() {
        let outer = "#include \"inner.h\"\nstatic inline int limit(int x) { return x > MOST ? MOST : x; }\n";
        let files = |inner: &'static str| {
            [
                ("a.c", "#include \"outer.h\"\nint work(int a) { return limit(a) + 1; }\n"),
                ("outer.h", outer),
                ("inner.h", inner),
            ]
        };
        let report = look([&files("#define MOST 30\n"), &files("#define MOST 24\n")], 0);
        let is_told = |report: &Report| {
            function(report, "limit")
                .changes
                .iter()
                .any(|c| c.verdict == crate::report::ChangeVerdict::Differs)
        };
        assert!(is_told(&report) && !function(&report, "work").complete, "{report:?}");
        // Beside one that is told to do the same.
        let both = |sum: &'static str, inner: &'static str| {
            let [(path, _), outer, inner] = files(inner);
            [(path, sum), outer, inner]
        };
        let old = "#include \"outer.h\"\nint twice(int a) { return a + a; }\nint work(int a) { return limit(twice(a)) + 1; }\n";
        let new = "#include \"outer.h\"\nint twice(int a) { return 2 * a; }\nint work(int a) { return limit(twice(a)) + 1; }\n";
        let report = look([&both(old, "#define MOST 30\n"), &both(new, "#define MOST 24\n")], 0);
        assert!(is_told(&report) && !report.complete, "{report:?}");
    }
}
