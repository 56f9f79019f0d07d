//! Functions that are too large to be read, or whose loops have several entries: what runs alone show of
//! their change.

use crate::invariant::findings::{ClassFacts, OpenKind, PointDiff, Undecided};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable;
use crate::invariant::point::Point;

impl FunctionAnalysis<'_> {
    /// The exit, with what differs there in some run of two versions; all else stays open, for this reason.
    pub(in crate::invariant) fn shown_by_runs(&mut self, reason: &str, kind: OpenKind) -> PointDiff {
        let point = Point::exit(self.task.graph);
        let place = point.kind;
        self.diff = PointDiff { point, ..PointDiff::default() };
        let nothing = ClassFacts { unknown: true, ..ClassFacts::default() };
        for subject in observable::at(self.task.graph, place).iter().filter(|s| s.is_observable()) {
            for &(from, to) in &self.task.pairs.clone() {
                let runs = self.task.runs(from, to);
                if self.witness(&runs, subject, from, to).is_some() {
                    self.compare(subject, from, to, &nothing, &nothing);
                }
            }
        }
        self.diff.undecided = vec![Undecided { kind, ..Undecided::fact("all facts", reason) }];
        self.tell_what_is_reached();
        std::mem::take(&mut self.diff)
    }
}
