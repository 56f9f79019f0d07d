//! `git invdiff graph`: the multiversion control-flow graph as DOT or SVG.

use super::diff_args::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::report::RepoPath;
use crate::report::filter::FunctionGlob;
use clap::Args;
use std::io::{Seek, Write};
use std::process::Command;

/// The multiversion control-flow graph of a range, as DOT or SVG
#[derive(Args, Clone, Debug)]
pub struct GraphArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,
}

pub fn run(args: GraphArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Dot, Format::Svg])?;
    let repository = analyse::open(context)?;
    let diff = DiffArgs { range: args.range.clone(), function: args.function.clone(), ..DiffArgs::default() };
    let patterns: Vec<FunctionGlob> = args.function.iter().map(|glob| FunctionGlob::parse(glob)).collect();
    let wanted = |file: &RepoPath, name: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(file, name))
    };
    let drawing = analyse::draw(&repository, &diff, context, wanted)?;
    if drawing.functions == 0 {
        context.warn("no function has more than one body in this range");
    }
    for piece in &drawing.not_looked_at {
        context.warn(&format!("not looked at: {piece}"));
    }
    match format {
        Format::Svg => {
            let svg = svg(&drawing.dot)?;
            context.output.write_all(&svg)?;
        }
        _ => context.output.write_all(drawing.dot.as_bytes())?,
    }
    Ok(ExitCode::Done)
}

/// Asks Graphviz for an SVG.
fn svg(dot: &str) -> Result<Vec<u8>, CliError> {
    // From a file: a pipe could fill up while the other one does.
    let mut input = tempfile::tempfile()?;
    input.write_all(dot.as_bytes())?;
    input.rewind()?;
    let output = Command::new("dot").arg("-Tsvg").stdin(input).output().map_err(|error| {
        CliError::fatal("cannot run 'dot', which draws SVG")
            .caused_by(&error)
            .hint("install Graphviz, or take --format dot")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(CliError::fatal(format!("dot failed: {}", said.trim_end())));
    }
    Ok(output.stdout)
}
