//! Verification tasks of SV-Benchmarks, verified in full, and by what the conditions of two detectors leave.

use git_invdiff::difference::{Concerns, Detector, Version, compare, remainder};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::{Program, run_pair};
use git_invdiff::ir::DataModel;
use git_invdiff::verifier::{Effort, Limits, Question, VerificationResult, verify};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a task is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All of the new program.
    Full,
    /// What a condition leaves.
    Condition(Detector),
}

/// What was said of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Harmless,
    Holds,
    Regression,
    Open,
}

pub struct Row {
    pub said: Said,
    pub effort: Effort,
    pub time: Duration,
}

const LIMITS: Limits = Limits { steps: 400_000, runs: 10_000, run_steps: 4_000_000 };

pub fn program(text: &str) -> Program {
    let tree = MemoryTree::new([("a.c", text)]);
    let options = c::Options { data_model: DataModel::Ilp32, ..c::Options::default() };
    Program::new(vec![Arc::new(frontend::load_unit(&tree, Path::new("a.c"), &options).unwrap().unit)])
}

pub fn ask(old: &Program, new: &Program, way: Way) -> Row {
    let start = Instant::now();
    let version = |program| Version { program, function: "main" };
    let (old, new) = (version(old), version(new));
    let concerns = Concerns::of(new.program);
    let left = match way {
        Way::Full => None,
        Way::Condition(detector) => {
            let graph = compare(old, new, detector, concerns);
            if graph.is_harmless() {
                return Row { said: Said::Harmless, effort: Effort::default(), time: start.elapsed() };
            }
            Some(remainder(&graph, new.program))
        }
    };
    let answer =
        verify(&Question { old: Some(old), new, concerns, remainder: left.as_ref(), limits: LIMITS });
    let said = match &answer.verdict {
        VerificationResult::Holds => Said::Holds,
        VerificationResult::Violated(pair) => {
            // The witness once more, on its own.
            let limits = git_invdiff::interp::Limits::default();
            let again = run_pair((old.program, "main"), (new.program, "main"), &pair.input, &limits);
            assert_eq!(again.new.end.name(), "abort", "{:?}", again.new.end);
            assert!(again.old.end.is_definite() && !again.old.overflowed(), "{:?}", again.old.end);
            assert_ne!(again.old.end, again.new.end);
            Said::Regression
        }
        VerificationResult::Open(why) => {
            eprintln!("open: {why}, {:?}", answer.effort);
            Said::Open
        }
    };
    Row { said, effort: answer.effort, time: start.elapsed() }
}
