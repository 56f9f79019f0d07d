//! `git invdiff suppress`: writes into `.invdiff.yaml` that a finding is known and left alone.

use super::{CliError, Context, ExitCode, analyse};
use crate::config::{self, ConfigFile, FILE_NAME, Suppression, edit};
use clap::Args;

/// Says in .invdiff.yaml that a finding is known and left alone
///
/// Findings have ids that stay when lines, commits and files change: `check -v` shows them, and
/// `--format json`. Every other line and comment of the file stays as it is. A change cannot loosen its own gate:
/// the entry counts from the commit after the one that adds it.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff suppress 3f2a1b0c9d8e7f60 --reason 'callers check, see #12'\n  \
    git invdiff suppress 3f2a1b0c9d8e7f60 --reason 'until the parser is rewritten' --until 2027-06-30")]
pub struct SuppressArgs {
    /// Id of a churn or of a property
    #[arg(value_name = "ID")]
    pub id: String,

    /// Why it is left alone
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    /// The last day on which that counts, as 2027-06-30
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
}

pub fn run(args: SuppressArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if args.id.len() != 16 || !args.id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(CliError::usage(format!(
            "'{}' is not the id of a finding: 16 digits of 0-9 and a-f",
            args.id
        ))
        .hint("'git invdiff check -v' shows ids"));
    }
    if args.reason.trim().is_empty() {
        return Err(CliError::usage("the reason is empty"));
    }
    if let Some(day) = args.until.as_ref().filter(|day| !config::is_day(day)) {
        return Err(CliError::usage(format!("'{day}' is not a day, as 2027-06-30")));
    }
    let known = Suppression { id: args.id, reason: args.reason, until: args.until };
    let today = config::today();
    if known.is_over(&today) {
        return Err(CliError::usage(format!("--until lies in the past: today is {today}")));
    }
    let repository = analyse::open(context)?;
    let path = repository.require_work_dir()?.join(FILE_NAME);
    let text = match std::fs::read(&path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map_err(|_| CliError::fatal(format!("{FILE_NAME} is not UTF-8")))?
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(CliError::fatal(format!("cannot read '{FILE_NAME}'")).caused_by(&error)),
    };
    let text = edit::suppress(&text, &known)?;
    debug_assert!(ConfigFile::parse(FILE_NAME, text.as_bytes()).is_ok());
    // What a link leads to is edited, and stays where it is.
    let path = path.canonicalize().unwrap_or(path);
    super::output::write_file(&path, text.as_bytes())?;
    context.say(&format!("{} is suppressed in {FILE_NAME}", known.id));
    context.say("hint: commit it before the change that it is about: a change cannot loosen its own gate");
    Ok(ExitCode::Done)
}
