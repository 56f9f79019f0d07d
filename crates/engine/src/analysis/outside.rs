//! What a step changes outside of the files that were asked for.
//!
//! Who names paths asks of the changes in these. Other files are read all the same, for what the changes reach
//! there; what is changed there itself is another matter.

use super::lineage::Lineage;
use super::request::Request;
use crate::mvicfg::VersionId;
use crate::report::{RepoPath, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The functions that steps change in files outside.
pub(super) struct Outside {
    /// By lineage and the older version of a step.
    steps: BTreeSet<(usize, usize)>,
    /// Functions that nothing else changes, by file and name.
    functions: BTreeSet<(RepoPath, String)>,
}

impl Outside {
    pub fn of(request: &Request, lineages: &[Lineage]) -> Outside {
        let mut found = Outside { steps: BTreeSet::new(), functions: BTreeSet::new() };
        // A gate judges all that a step does.
        if request.analysis.properties_only {
            return found;
        }
        let mut files = Files { request, known: BTreeMap::new() };
        for (l, lineage) in lineages.iter().enumerate() {
            let mut is_asked_for = false;
            for (step, pair) in lineage.members.windows(2).enumerate() {
                let (old, new) = match pair {
                    [None, None] => continue,
                    [Some(a), Some(b)] if a.is_written_as(b) => continue,
                    [Some(a), Some(b)] => (&a.file, &b.file),
                    [Some(one), None] | [None, Some(one)] => (&one.file, &one.file),
                    _ => continue,
                };
                match files.is_outside(step, old, new) {
                    true => _ = found.steps.insert((l, step)),
                    false => is_asked_for = true,
                }
            }
            let changes_outside = found.steps.range((l, 0)..(l + 1, 0)).next().is_some();
            if let (Some((_, newest)), true, false) = (lineage.newest(), changes_outside, is_asked_for) {
                let file = RepoPath::from(newest.file.as_path());
                found.functions.insert((file, newest.function.name.to_string()));
            }
        }
        found
    }

    pub fn has(&self, lineage: usize, step: usize) -> bool {
        self.steps.contains(&(lineage, step))
    }

    /// Takes the functions out of a report that are changed nowhere else.
    pub fn leave_out(&self, report: &mut Report) {
        if !self.functions.is_empty() {
            report.functions.retain(|f| !self.functions.contains(&(f.file.clone(), f.name.clone())));
        }
    }
}

/// Takes the objects out of a report that are changed outside.
pub(super) fn leave_out_objects(request: &Request, report: &mut Report) {
    let mut files = Files { request, known: BTreeMap::new() };
    report.objects.retain(|o| {
        let file = o.file.to_utf8_path();
        let step = (o.from as usize).saturating_sub(1);
        !files.is_outside(step, &file, &file)
    });
}

struct Files<'r> {
    request: &'r Request,
    /// By step and newer path.
    known: BTreeMap<(usize, PathBuf), bool>,
}

impl Files<'_> {
    /// Whether a step changes a file, and not for what was asked.
    fn is_outside(&mut self, step: usize, old: &Path, new: &Path) -> bool {
        let at = (step, new.to_path_buf());
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        let found = self.look(step, old, new);
        self.known.insert(at, found);
        found
    }

    fn look(&self, step: usize, old: &Path, new: &Path) -> bool {
        let changes = self.request.changes.get(step).map(Vec::as_slice).unwrap_or_default();
        let is_here = |p: &Option<PathBuf>, path: &Path| p.as_deref() == Some(path);
        let is_asked_for =
            |path: &Path| changes.iter().any(|c| is_here(&c.old_path, path) || is_here(&c.new_path, path));
        // Where no change is known, none was looked for.
        if changes.is_empty() || is_asked_for(old) || is_asked_for(new) {
            return false;
        }
        let read = |v: VersionId, path: &Path| self.request.versions[v].tree.read(path);
        let [from, to] = VersionId::of_step(step);
        read(from, old) != read(to, new)
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Effort, Options, diff, memory};
    use crate::frontend::c;

    /// What is told where only changes of `src` are asked for: functions and objects.
    #[track_caller]
    fn check(old: &[(&str, &str)], new: &[(&str, &str)], expected: &[&str]) {
        for effort in [Effort::Quick, Effort::Normal] {
            let analysis = Options { effort, ..Options::default() };
            let mut request = memory::request(&[old.to_vec(), new.to_vec()], c::Options::default(), analysis);
            for step in &mut request.changes {
                step.retain(|c| c.new_path.as_ref().is_some_and(|p| p.starts_with("src")));
            }
            let report = diff(&request);
            let mut told: Vec<String> = report.functions.iter().map(|f| f.name.clone()).collect();
            told.extend(report.objects.iter().map(|o| o.name.clone()));
            assert_eq!(told, expected, "{effort:?}");
        }
    }

    #[test]
    fn what_is_changed_elsewhere_is_not_told() {
        let source = |k: u32| format!("int g(int);\nint f(int a)\n{{\n  return g(a) + {k};\n}}\n");
        let test = |k: u32, more: &str| {
            format!("int f(int);\nint seen = {k};\nint t(void)\n{{\n  return f({k});\n}}\n{more}")
        };
        let more = "int other(void)\n{\n  return f(0);\n}\n";
        let (a, b) = (source(1), source(2));
        let (x, y) = (test(1, ""), test(2, more));
        check(&[("src/a.c", &a), ("tests/t.c", &x)], &[("src/a.c", &b), ("tests/t.c", &y)], &["f"]);
    }

    #[test]
    fn callers_that_are_not_changed_stay() {
        let source = |k: u32| format!("int f(int a)\n{{\n  return a + {k};\n}}\n");
        let test = "int f(int);\nint t(void)\n{\n  return f(3);\n}\n";
        let (a, b) = (source(1), source(2));
        let analysis = Options::default();
        let files =
            [vec![("src/a.c", a.as_str()), ("t.c", test)], vec![("src/a.c", b.as_str()), ("t.c", test)]];
        let report = diff(&memory::request(&files, c::Options::default(), analysis));
        let told: Vec<&str> = report.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(told, ["f", "t"]);
    }
}
