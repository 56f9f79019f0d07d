//! Asks the verifier about a function of one C file, or of two versions of it:
//! `cargo run --example verify -- [--ilp32] FUNCTION NEW.c [OLD.c]`; `STEPS` bounds the work.

use git_invdiff::difference::{Concerns, Detector, Version, compare, remainder};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::Program;
use git_invdiff::ir::DataModel;
use git_invdiff::verifier::{Limits, Question, VerificationResult, verify};
use std::path::Path;
use std::sync::Arc;

fn program(path: &str, data_model: DataModel) -> Result<Program, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let tree = MemoryTree::new([("a.c", text.as_str())]);
    let options = c::Options { data_model, ..c::Options::default() };
    let loaded = frontend::load_unit(&tree, Path::new("a.c"), &options).map_err(|e| e.to_string())?;
    Ok(Program::new(vec![Arc::new(loaded.unit)]))
}

fn main() -> Result<(), String> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let ilp32 = args.iter().position(|a| a == "--ilp32").map(|i| args.remove(i)).is_some();
    let model = if ilp32 { DataModel::Ilp32 } else { DataModel::Lp64 };
    let [function, new, rest @ ..] = args.as_slice() else {
        return Err("usage: verify [--ilp32] FUNCTION NEW.c [OLD.c]".into());
    };
    let new = program(new, model)?;
    let old = rest.first().map(|path| program(path, model)).transpose()?;
    let version = |program| Version { program, function };
    let concerns = Concerns::of(&new);
    let left = old.as_ref().map(|old| {
        let graph = compare(version(old), version(&new), Detector::DiffDp, concerns);
        println!("harmless: {}", graph.is_harmless());
        remainder(&graph, &new)
    });
    let mut limits = Limits::default();
    if let Some(steps) = std::env::var("STEPS").ok().and_then(|s| s.parse().ok()) {
        limits.steps = steps;
    }
    let start = std::time::Instant::now();
    let answer = verify(&Question {
        old: old.as_ref().map(version),
        new: version(&new),
        concerns,
        remainder: left.as_ref(),
        limits,
    });
    match &answer.verdict {
        VerificationResult::Holds => println!("holds"),
        VerificationResult::Violated(pair) => println!("violated: {:?}", pair.input),
        VerificationResult::Open(why) => println!("open: {why}"),
    }
    println!("{:?}, {} ms", answer.effort, start.elapsed().as_millis());
    Ok(())
}
