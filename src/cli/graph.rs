//! `git invdiff graph`: the multiversion control-flow graph as DOT or SVG.

use super::diff::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::analysis::Graph;
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
    let wanted = |graph: &Graph| {
        let file = RepoPath::from(&graph.file);
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(&file, &graph.function))
    };
    let graphs: Vec<Graph> =
        analyse::graphs(&repository, &diff, context)?.into_iter().filter(wanted).collect();
    if graphs.is_empty() {
        context.warn("no function has more than one body in this range");
    }
    if format == Format::Dot {
        // Several graphs in one file are what the DOT language allows.
        for graph in &graphs {
            context.output.write_all(graph.dot.as_bytes())?;
        }
        return Ok(ExitCode::Done);
    }
    let [graph] = graphs.as_slice() else {
        let names: Vec<String> =
            graphs.iter().map(|g| format!("{}:{}", g.file.display(), g.function)).collect();
        return Err(CliError::fatal("an SVG file holds one function")
            .hint(format!("name one with --function: {}", names.join(" "))));
    };
    let svg = draw(graph)?;
    context.output.write_all(&svg)?;
    Ok(ExitCode::Done)
}

/// Asks Graphviz for an SVG.
fn draw(graph: &Graph) -> Result<Vec<u8>, CliError> {
    let failed = |error: &std::io::Error| {
        CliError::fatal("cannot run 'dot', which draws SVG")
            .caused_by(error)
            .hint("install Graphviz, or take --format dot")
    };
    // From a file: a pipe could fill up while the other one does.
    let mut input = tempfile::tempfile()?;
    input.write_all(graph.dot.as_bytes())?;
    input.rewind()?;
    let output = Command::new("dot").arg("-Tsvg").stdin(input).output().map_err(|e| failed(&e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(CliError::fatal(format!("dot failed: {}", said.trim_end())));
    }
    Ok(output.stdout)
}
