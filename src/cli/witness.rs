//! `git invdiff witness`: a runnable C test for every churn that has a witness.

use super::diff_args::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::instrument::{self, WitnessTest};
use crate::report::filter::{Filter, FunctionGlob};
use crate::report::unseen;
use crate::report::{RepoPath, SCHEMA, Version};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Runnable C tests for the churns that have a witness
///
/// Each file includes the source under test, so that it builds against any version of it:
/// `cc -w -DINVDIFF_SOURCE='"src/a.c"' witness-f-0123abcd.c -lm && ./a.out`. Its exit status says which
/// version that was: 0 the old one, 1 the new one, 2 neither, 3 the test could not run. What it expects,
/// and how to build it, stands at its top.
#[derive(Args, Clone, Debug)]
pub struct WitnessArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Write the tests to <DIR>
    #[arg(long, value_name = "DIR", default_value = "invdiff-witnesses")]
    pub output_dir: PathBuf,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,
}

pub fn run(args: WitnessArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let repository = analyse::open(context)?;
    let diff = DiffArgs { range: args.range, function: args.function.clone(), ..DiffArgs::default() };
    let (mut report, versions, options) = analyse::report_with_versions(&repository, &diff, context)?;
    let functions = args.function.iter().map(|glob| FunctionGlob::parse(glob)).collect();
    Filter { functions, ..Filter::default() }.apply(&mut report);
    let tests = instrument::witness_tests(&report, &versions, &options);
    let mut entries = Vec::new();
    for test in &tests {
        let written = match &test.text {
            Ok(text) => {
                let path = args.output_dir.join(test.file_name());
                super::output::write_file(&path, text.as_bytes())?;
                Some(path)
            }
            Err(_) => None,
        };
        entries.push(Entry::of(test, written));
    }
    match format {
        Format::Json => {
            let list = Listing { schema: SCHEMA, tests: entries };
            let text = serde_json::to_string_pretty(&list).map_err(|e| CliError::fatal(e.to_string()))?;
            writeln!(context.output, "{text}")?;
        }
        _ => {
            for path in entries.iter().filter_map(|e| e.written.as_ref()) {
                writeln!(context.output, "{path}")?;
            }
        }
    }
    for (test, why) in tests.iter().filter_map(|t| Some((t, t.text.as_ref().err()?))) {
        context.warn(&format!("no test for a churn of {}() of {}: {why}", test.function, test.file));
    }
    if tests.is_empty() {
        let unseen = unseen::of_hunks(&report).map(|h| format!("; not looked at: {h}")).unwrap_or_default();
        context.say(&format!("no churn of this range has a witness{unseen}"));
    }
    Ok(ExitCode::Done)
}

/// What `--json` says.
#[derive(Serialize)]
struct Listing<'a> {
    schema: &'static str,
    tests: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    churn: &'a str,
    file: &'a RepoPath,
    function: &'a str,
    from: Version,
    to: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<RepoPath>,
    /// Why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

impl<'a> Entry<'a> {
    fn of(test: &'a WitnessTest, written: Option<PathBuf>) -> Entry<'a> {
        Entry {
            churn: &test.churn,
            file: &test.file,
            function: &test.function,
            from: test.from,
            to: test.to,
            written: written.as_ref().map(RepoPath::from),
            why: test.text.as_ref().err().map(String::as_str),
        }
    }
}
