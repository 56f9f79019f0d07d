//! What runs around `main` and after a program's end takes part in what a program shows.

use crate::invariant::findings::Undecided;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::ir::library::control::{Ends, ends};
use crate::ir::{Callee, Instr};
use crate::mvicfg::ClassId;

impl FunctionAnalysis<'_> {
    /// Whether two classes are programs around which, or after which, something else may run.
    pub(in crate::invariant) fn is_hooked(&self, from: ClassId, to: ClassId) -> bool {
        let program = |c: &ClassId| &*self.task.graph.bodies[*c].name == "main";
        let watched = |c: &ClassId| self.task.programs[*c].is_watched_at_exit();
        [from, to].iter().all(program) && [from, to].iter().any(watched)
    }

    /// Where a function may end the program, what it leaves in memory is seen by what runs afterwards; it is
    /// not compared there.
    pub(in crate::invariant) fn memory_at_ends(&mut self) {
        let may_end = |c: ClassId| {
            self.task.graph.bodies[c].nodes.iter().any(|n| match &n.instr {
                Instr::Call { callee: Callee::Direct(name), .. } => {
                    matches!(ends(name), Some(Ends::Exit | Ends::Quickly | Ends::Thread))
                }
                _ => false,
            })
        };
        for &(from, to) in &self.task.pairs.clone() {
            if (may_end(from) || may_end(to)) && self.is_own(from, to) && !self.is_told(from, to) {
                let reason = "something may run after the program's end";
                self.diff.undecided.push(Undecided::fact("memory at the end", reason));
            }
        }
    }
}
