//! Lines that other configurations compile than before, though their own text stays.
//!
//! The *presence condition* of a line is the nest of conditions around it (Thüm et al., *A Classification and Survey
//! of Analysis Strategies for Software Product Lines*, 2014). A hunk that holds `#if`, `#elif`, `#else` or `#endif`
//! changes it for lines outside of the hunk. Those are the same in both versions and stand in the same order, so that
//! each has one condition before and one now. Where the two agree whatever macros are, the edit does nothing; where
//! they do not, *when* they do not is what the edit does.

use super::condition::{Atoms, Condition, parse};
use crate::frontend::c::lines::code;
use crate::report::Compiled;
use std::collections::{BTreeMap, BTreeSet};

/// Conjunctions that are told of a condition.
const MAX_CUBES: usize = 3;

/// What the directives of conditions in the hunks of a file do to lines outside of all hunks.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Presence {
    /// By side and line of a directive that lies in a hunk: what it does. Those that are not there do nothing.
    pub directives: BTreeMap<(usize, u32), Effect>,
    /// What is told, by the hunk that does it first.
    pub told: BTreeMap<usize, Vec<Compiled>>,
    /// By side: the lines of all directives of conditions.
    pub all: [BTreeSet<u32>; 2],
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::analysis) struct Effect {
    /// The conditions of some lines differ.
    pub differs: bool,
    /// Of some lines it is not known whether they do.
    pub unknown: bool,
    /// Lines, older and newer, whose conditions differ.
    pub lines: BTreeSet<[u32; 2]>,
}

/// The lines of the hunks of a file: where they start and how many they are, before and now.
pub(in crate::analysis) type Hunks = [[(u32, u32); 2]];

/// A branch of a nest, and the number of its group.
#[derive(Clone, Debug)]
struct Level {
    taken: Condition,
    group: usize,
}

/// The nests of a text.
struct Nests {
    /// By line of code.
    lines: BTreeMap<u32, Vec<Level>>,
    /// By group: the lines of its directives.
    groups: Vec<Vec<u32>>,
    /// By name: the lines that define or undefine it.
    defined: BTreeMap<String, Vec<u32>>,
}

/// Compares the nests of the lines that two texts share.
pub(in crate::analysis) fn compare(texts: [&[u8]; 2], hunks: &Hunks) -> Presence {
    let nests = texts.map(nests);
    let all = [0, 1].map(|side: usize| nests[side].groups.iter().flatten().copied().collect());
    let mut found = Presence { all, ..Presence::default() };
    let hunk_of = |side: usize, line: u32| {
        hunks.iter().position(|h| h[side].0 <= line && line < h[side].0.saturating_add(h[side].1))
    };
    let outside = |side: usize| -> Vec<(&u32, &Vec<Level>)> {
        nests[side].lines.iter().filter(|(line, _)| hunk_of(side, **line).is_none()).collect()
    };
    let (old, new) = (outside(0), outside(1));
    let mut verdicts = Verdicts::new(&nests, &|side, line| hunk_of(side, line).is_some());
    let mut run: Option<(usize, Vec<Compiled>)> = None;
    for ((was, before), (is, now)) in old.iter().zip(&new) {
        let verdict = verdicts.of(before, now);
        // Directives that lie in hunks, in the order in which they are met.
        let rest = verdict.same.min(before.len()).min(now.len());
        let directives: Vec<(usize, u32)> = [(0, &before[rest..]), (1, &now[rest..])]
            .into_iter()
            .flat_map(|(side, levels)| levels.iter().map(move |l| (side, l.group)))
            .flat_map(|(side, group)| nests[side].groups[group].iter().map(move |line| (side, *line)))
            .filter(|(side, line)| hunk_of(*side, *line).is_some())
            .collect();
        let is_known = old.len() == new.len() && verdict.told.is_some() && !directives.is_empty();
        let told = verdict.told.as_deref().unwrap_or_default();
        if verdict.same == before.len() && verdict.same == now.len() || is_known && told.is_empty() {
            run = None;
            continue;
        }
        for at in &directives {
            let effect = found.directives.entry(*at).or_default();
            effect.unknown |= !is_known;
            effect.differs |= is_known;
            effect.lines.extend(is_known.then_some([**was, **is]));
        }
        let first = directives.iter().filter_map(|(side, line)| hunk_of(*side, *line)).min();
        let (Some(hunk), true) = (first, is_known) else {
            run = None;
            continue;
        };
        let all = found.told.entry(hunk).or_default();
        match &mut run {
            Some((at, known)) if *at == hunk && known.as_slice() == told => {
                let from = all.len().saturating_sub(told.len());
                all.iter_mut().skip(from).for_each(|c| (c.old.1, c.new.1) = (**was, **is));
            }
            _ => {
                all.extend(told.iter().cloned().map(|c| Compiled {
                    old: (**was, **was),
                    new: (**is, **is),
                    ..c
                }));
                run = Some((hunk, told.to_vec()));
            }
        }
    }
    found
}

/// What is said of two nests.
#[derive(Clone)]
struct NestComparison {
    /// Levels from the outermost that are the same.
    same: usize,
    /// When lines are compiled in one version alone, as far as that is known.
    told: Option<Vec<Compiled>>,
}

struct Verdicts<'n> {
    known: BTreeMap<(Vec<Condition>, Vec<Condition>), NestComparison>,
    /// Macros that a hunk defines: what they are is another matter before and now.
    moved: BTreeSet<&'n str>,
}

impl<'n> Verdicts<'n> {
    fn new(nests: &'n [Nests; 2], is_in_hunk: &dyn Fn(usize, u32) -> bool) -> Verdicts<'n> {
        let mut moved = BTreeSet::new();
        for (side, nests) in nests.iter().enumerate() {
            let in_hunk = |lines: &Vec<u32>| lines.iter().any(|line| is_in_hunk(side, *line));
            moved.extend(nests.defined.iter().filter(|(_, l)| in_hunk(l)).map(|(name, _)| name.as_str()));
        }
        Verdicts { known: BTreeMap::new(), moved }
    }

    fn of(&mut self, before: &[Level], now: &[Level]) -> NestComparison {
        let conditions = |levels: &[Level]| levels.iter().map(|l| l.taken.clone()).collect::<Vec<_>>();
        let key = (conditions(before), conditions(now));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let same = key.0.iter().zip(&key.1).take_while(|(a, b)| a == b).count();
        let given = Condition::And(key.0[..same].to_vec());
        let [old, new] = [&key.0, &key.1].map(|all| Condition::And(all[same..].to_vec()));
        let told = match key.0.len() == same && key.1.len() == same {
            true => Some(Vec::new()),
            false => self.difference(&given, &old, &new),
        };
        let verdict = NestComparison { same, told };
        self.known.insert(key, verdict.clone());
        verdict
    }

    fn difference(&self, given: &Condition, old: &Condition, new: &Condition) -> Option<Vec<Compiled>> {
        let [asked, before, now] = [given, old, new].map(Condition::names);
        let in_both = before.intersection(&now).chain(&asked).copied();
        if in_both.into_iter().any(|name| self.moved.contains(name)) {
            return None;
        }
        // What is around both counts where it can be understood together with them.
        let always = Condition::Constant(true);
        let (atoms, given) = match Atoms::of(&[given, old, new]) {
            Some(atoms) => (atoms, given),
            None => (Atoms::of(&[old, new])?, &always),
        };
        let only = |a: &Condition, b: &Condition| {
            atoms.cubes(&Condition::And(vec![given.clone(), a.clone(), b.clone().not()]), given)
        };
        let mut told = Vec::new();
        for (cubes, now) in [(only(new, old), true), (only(old, new), false)] {
            if cubes.is_empty() {
                continue;
            }
            let mut when = cubes.iter().take(MAX_CUBES).cloned().collect::<Vec<_>>().join(" || ");
            if cubes.len() > MAX_CUBES {
                when.push_str(" || …");
            }
            told.push(Compiled { when, now, ..Compiled::default() });
        }
        Some(told)
    }
}

fn nests(text: &[u8]) -> Nests {
    let code = code(text);
    let physical: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
    let lines_of = |first: u32| {
        let goes_on = |line: &u32| {
            physical.get(*line as usize - 1).is_some_and(|l| l.trim_ascii_end().ends_with(b"\\"))
        };
        let last = (first..).find(|line| !goes_on(line)).unwrap_or(first);
        first..=last
    };
    let guard = guard(&code);
    let mut found = Nests { lines: BTreeMap::new(), groups: Vec::new(), defined: BTreeMap::new() };
    // By level: where it is taken, its group, and the conditions of the branches so far.
    let mut nest: Vec<(Level, Vec<Condition>)> = Vec::new();
    for (line, text) in &code {
        let text = text.split("//").next().unwrap_or_default();
        let directive = text.trim_start().strip_prefix('#').map(str::trim_start);
        let (word, rest) = directive
            .map_or(("", ""), |d| d.split_at(d.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(d.len())));
        let name = || rest.split_whitespace().next().unwrap_or_default();
        let condition = || match word {
            "ifdef" | "elifdef" => Condition::Defined(name().to_owned()),
            "ifndef" if guard.as_deref() == Some(name()) => Condition::Constant(true),
            "ifndef" | "elifndef" => Condition::Defined(name().to_owned()).not(),
            _ => parse(rest),
        };
        let but_for = |before: &[Condition], own: Option<Condition>| {
            let all: Vec<Condition> = before.iter().cloned().map(Condition::not).chain(own).collect();
            Condition::And(all)
        };
        match word {
            "if" | "ifdef" | "ifndef" => {
                let condition = condition();
                found.groups.push(lines_of(*line).collect());
                let level = Level { taken: condition.clone(), group: found.groups.len() - 1 };
                nest.push((level, vec![condition]));
                continue;
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => {
                let Some((mut level, mut before)) = nest.pop() else { continue };
                found.groups[level.group].extend(lines_of(*line));
                if word != "endif" {
                    let own = (word != "else").then(condition);
                    level.taken = but_for(&before, own.clone());
                    before.extend(own);
                    nest.push((level, before));
                }
                continue;
            }
            "define" | "undef" => {
                let name = rest.trim_start().split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next();
                found.defined.entry(name.unwrap_or_default().to_owned()).or_default().push(*line);
            }
            _ => {}
        }
        found.lines.insert(*line, nest.iter().map(|(level, _)| level.clone()).collect());
    }
    found
}

/// The macro that keeps a header from being read twice: its first line of code asks for it, its second defines it.
fn guard(code: &BTreeMap<u32, String>) -> Option<String> {
    let mut lines = code.values().map(|l| l.split_whitespace().collect::<Vec<_>>());
    let (first, second) = (lines.next()?, lines.next()?);
    let asked = match first.as_slice() {
        ["#ifndef", name] | ["#", "ifndef", name] => *name,
        _ => return None,
    };
    second.contains(&asked).then(|| asked.to_owned())
}

#[cfg(test)]
mod tests {
    use super::compare;
    use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};

    fn told(old: &str, new: &str) -> (Vec<String>, bool) {
        let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let ops = aligned(Algorithm::Myers, &a, &b);
        let at = |start: usize, len: usize| (start as u32 + u32::from(len > 0), len as u32);
        let hunks: Vec<_> = ops
            .iter()
            .filter(|op| !matches!(op, DiffOp::Equal { .. }))
            .map(|op| {
                [
                    at(op.old_range().start, op.old_range().len()),
                    at(op.new_range().start, op.new_range().len()),
                ]
            })
            .collect();
        let found = compare([old.as_bytes(), new.as_bytes()], &hunks);
        let all = found.told.values().flatten();
        let words = |c: &crate::report::Compiled| {
            format!("{} {}-{}: {}", if c.now { "+" } else { "-" }, c.new.0, c.new.1, c.when)
        };
        (all.map(words).collect(), found.directives.values().any(|e| e.unknown))
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let (found, unknown) = told(old, new);
        assert_eq!(found, expected);
        assert!(!unknown);
    }

    const GROUP: &str = "a;\n#ifdef A\nb;\nc;\n#else\nd;\n#endif\ne;\n";

    #[test]
    fn a_reworded_condition() {
        let new = GROUP.replace("#ifdef A", "#if defined(A) || defined(B)");
        check(GROUP, &new, &["+ 3-4: B && !A", "- 6-6: B && !A"]);
        check(GROUP, &GROUP.replace("#ifdef A", "# if (defined A) /* x */"), &[]);
        check(
            GROUP,
            &GROUP.replace("#ifdef A", "#if A"),
            &["- 3-4: defined(A) && A == 0", "+ 6-6: defined(A) && A == 0"],
        );
    }

    #[test]
    fn a_new_group_around_old_lines() {
        check("a;\nb;\nc;\n", "a;\n#if X\nb;\n#endif\nc;\n", &["- 3-3: X == 0"]);
        check("a;\n#if 0\nb;\n#endif\nc;\n", "a;\nb;\nc;\n", &["+ 2-2: "]);
        check("a;\n#if 1\nb;\n#endif\nc;\n", "a;\nb;\nc;\n", &[]);
    }

    #[test]
    fn branches_that_are_written_in_one() {
        let old = "#ifdef A\na;\n#else\n#if defined(B)\nb;\n#endif\n#endif\n";
        check(old, "#ifdef A\na;\n#elif defined(B)\nb;\n#endif\n", &[]);
        check(
            old,
            "#ifdef A\na;\n#elif defined(C)\nb;\n#endif\n",
            &["+ 4-4: C && !A && !B", "- 4-4: B && !A && !C"],
        );
    }

    #[test]
    fn conditions_around_both_count() {
        let old = "#ifdef A\n#ifdef B\nb;\n#endif\n#endif\n";
        check(old, &old.replace("#ifdef B", "#if defined(A) && defined(B)"), &[]);
        check(old, &old.replace("#ifdef B", "#if defined(A)"), &["+ 3-3: !B"]);
        let guarded = |c: &str| format!("#ifndef G_H\n#define G_H\n#ifdef {c}\nb;\n#endif\n#endif\n");
        check(&guarded("A"), &guarded("B"), &["+ 4-4: B && !A", "- 4-4: A && !B"]);
    }

    #[test]
    fn a_condition_may_have_lines() {
        let old = "#if defined(A) && \\\n    defined(B)\nb;\n#endif\n";
        check(old, &old.replace("(B)", "(C)"), &["+ 3-3: A && C && !B", "- 3-3: A && B && !C"]);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let (_, unknown) = told("#if A & 1\nb;\n#endif\n", "#if A & 3\nb;\n#endif\n");
        assert!(unknown);
        let (_, unknown) = told("#define A 1\n#if A > 1\nb;\n#endif\n", "#undef A\n#if A\nb;\n#endif\n");
        assert!(unknown);
        let (_, unknown) = told("x\n#if A\nb;\n#endif\n", "#define B 1\n#if B\nb;\n#endif\n");
        assert!(!unknown);
    }
}
