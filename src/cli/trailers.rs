//! `git invdiff trailers`: results as commit trailers.

use std::io::Write;
use std::path::PathBuf;

use super::{CliError, Context, ExitCode, Format, compare};
use crate::gate::ComparedTree;
use crate::report::trailer;
use crate::store::Git;
use crate::store::trailers::Style;
use clap::Args;

/// Results as commit trailers
#[derive(Args, Clone, Debug)]
pub struct TrailersArgs {
    /// Put the trailers into this commit message
    #[arg(long, value_name = "FILE")]
    pub in_place: Option<PathBuf>,

    /// A commit, or a range; none: the staged change
    #[arg(value_name = "REVISION")]
    pub revisions: Vec<String>,
}

pub fn run(args: TrailersArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json, Format::Yaml])?;
    let git = compare::repository(context)?;
    let settings = compare::settings(context)?;
    let (old, new) = sides(&git, &args.revisions)?;
    let report = compare::analyse(context, None)(&old, &new).map_err(|failure| CliError::fatal(failure.0))?;
    let trailers = trailer::compose(&report, settings.max_trailers);
    if let Some(path) = &args.in_place {
        let cannot = |verb: &str, error: &std::io::Error| {
            CliError::fatal(format!("cannot {verb} '{}'", path.display())).caused_by(error)
        };
        let message = std::fs::read(path).map_err(|error| cannot("read", &error))?;
        let style = Style::read(&git, &message)?;
        let replaced = style.replace(&message, &trailer::KEYS, &trailers);
        if replaced != message {
            std::fs::write(path, replaced).map_err(|error| cannot("write", &error))?;
        }
        return Ok(ExitCode::Done);
    }
    let rows: Vec<_> = trailers.iter().map(|t| serde_json::json!({"key": t.key, "value": t.value})).collect();
    match format {
        Format::Json => writeln!(context.output, "{}", serde_json::Value::Array(rows))?,
        Format::Yaml => {
            let text = serde_yaml::to_string(&rows)
                .map_err(|error| CliError::fatal("cannot write YAML").caused_by(&error))?;
            write!(context.output, "{text}")?;
        }
        _ => {
            for trailer in &trailers {
                writeln!(context.output, "{}: {}", trailer.key, trailer.value.trim())?;
            }
        }
    }
    Ok(ExitCode::Done)
}

/// The two versions that the trailers are about.
fn sides(git: &Git, revisions: &[String]) -> Result<(ComparedTree, ComparedTree), CliError> {
    match revisions {
        [] => {
            let head = git.object("HEAD^{commit}")?;
            Ok((head.map_or(ComparedTree::Nothing, ComparedTree::Commit), ComparedTree::Index))
        }
        [one] if !one.contains("..") => {
            let new = compare::commit(git, one)?;
            let parent = git.object(&format!("{new}^1^{{commit}}"))?;
            Ok((parent.map_or(ComparedTree::Nothing, ComparedTree::Commit), ComparedTree::Commit(new)))
        }
        [range] if !range.contains("...") => {
            let (old, new) = range.split_once("..").unwrap_or((range, ""));
            let or_head = |name: &str| if name.is_empty() { "HEAD".to_string() } else { name.to_string() };
            let old = compare::commit(git, &or_head(old))?;
            Ok((ComparedTree::Commit(old), ComparedTree::Commit(compare::commit(git, &or_head(new))?)))
        }
        _ => Err(CliError::usage("trailers takes one commit or one range A..B")),
    }
}
