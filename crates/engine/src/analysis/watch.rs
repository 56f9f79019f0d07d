//! Told how far the work is, and asked whether there is time left.

/// Told how far the work is, from any worker.
pub trait Watch: Sync {
    /// So many more functions are going to be analysed.
    fn more(&self, _functions: usize) {}
    /// One of them (`file: name()`) is begun.
    fn begins(&self, _function: &str) {}
    /// One of them is done.
    fn done(&self) {}
    /// A file is begun to be read.
    fn reads(&self, _file: &str) {}
    /// Why nothing more is to be begun, if so: what is not begun then stays open.
    fn ended(&self) -> Option<Ended> {
        None
    }
}

impl dyn Watch + '_ {
    /// Whether nothing more is to be begun.
    pub fn is_over(&self) -> bool {
        self.ended().is_some()
    }
}

/// Why the work ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Time was limited.
    OutOfTime,
    /// The user did not want to wait.
    Interrupted,
}

impl Ended {
    /// Why something stays open.
    pub fn reason(self) -> &'static str {
        match self {
            Ended::OutOfTime => "not finished within the time limit",
            Ended::Interrupted => "interrupted",
        }
    }

    /// The name of what kept a file from being read, in the reason of a hunk.
    pub(super) fn limit(self) -> &'static str {
        match self {
            Ended::OutOfTime => "time",
            Ended::Interrupted => "interrupt",
        }
    }

    /// What happened, for people.
    pub(super) fn told(self) -> &'static str {
        match self {
            Ended::OutOfTime => "the time limit was met",
            Ended::Interrupted => "interrupted, and this is not all",
        }
    }
}

/// Watches nothing.
pub(super) struct Unwatched;

impl Watch for Unwatched {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Exits, Options, diff_watched, memory};
    use crate::frontend::c;
    use crate::report::{ChangeVerdict, FunctionReport, FunctionStatus, HunkVerdict, Report};
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Ends when it was asked so often.
    struct EndsAfter(AtomicUsize);

    impl Watch for EndsAfter {
        fn ended(&self) -> Option<Ended> {
            let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            left.is_err().then_some(Ended::Interrupted)
        }
    }

    fn told(report: &Report) -> BTreeSet<String> {
        let told = report.functions.iter().flat_map(|f| f.changes.iter().map(move |c| (f, c)));
        let told = told.filter(|(_, c)| c.verdict != ChangeVerdict::Open);
        told.map(|(f, c)| format!("{} {:?} {:?}", f.name, c.verdict, c.deltas)).collect()
    }

    #[test]
    fn what_is_told_before_an_early_end_is_true_and_not_all() {
        let old =
            "int a(int x) { return x + 1; }\nint b(int x) { return x * 2; }\nint c(int x) { return b(x); }\n";
        let new = "int a(int x) { return x + 2; }\nint b(int x) { return x + x; }\nint c(int x) { return b(x) + 3; }\n";
        let versions = [old, new].map(|text| vec![("a.c", text), ("b.c", "int k(void) { return 1; }\n")]);
        for exits in [Exits::WhereOpen, Exits::All] {
            let options = Options { jobs: 1, exits, ..Options::default() };
            let request = memory::request(&versions, c::Options::default(), options);
            let after = |n: usize| diff_watched(&request, &EndsAfter(AtomicUsize::new(n)));
            let all = after(usize::MAX);
            assert!(all.notices.is_empty() && told(&all).len() > 1, "{:?}", all.notices);
            let mut ended = 0;
            for n in 0.. {
                let report = after(n);
                if report.notices.is_empty() {
                    assert_eq!(report.functions, all.functions);
                    break;
                }
                ended += 1;
                assert!(report.notices.iter().any(|n| n.starts_with("interrupted, and this is not all")));
                assert!(!report.complete);
                assert!(told(&report).is_subset(&told(&all)), "{:?}", told(&report));
                // A file that was read in one version alone says nothing of what came or went.
                let came_or_went =
                    |f: &FunctionReport| matches!(f.outcome, FunctionStatus::Added | FunctionStatus::Removed);
                assert!(!report.functions.iter().any(came_or_went), "after {n}: {:?}", report.functions);
                assert!(report.objects.iter().all(|o| all.objects.contains(o)), "after {n}");
                let kept =
                    report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.version_invariants);
                let known = all.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.version_invariants);
                let known: BTreeSet<&String> = known.map(|fact| &fact.id).collect();
                assert!(kept.into_iter().all(|fact| known.contains(&fact.id)), "after {n}");
                for (hunk, whole) in report.hunks.iter().zip(&all.hunks) {
                    let is_known = hunk.verdict != HunkVerdict::NotAnalysed;
                    assert!(!is_known || hunk.verdict == whole.verdict, "after {n}: {hunk:?}");
                }
            }
            assert!(ended > 3, "{ended}");
        }
    }
}
