//! `git invdiff notes`: results in git notes under `refs/notes/invdiff`.

use super::{CliError, Context, ExitCode};
use clap::{Args, Subcommand};

/// Results in git notes
#[derive(Args, Clone, Debug)]
pub struct NotesArgs {
    /// Notes ref, under refs/notes/
    #[arg(long = "ref", value_name = "REF", global = true)]
    pub notes_ref: Option<String>,

    #[command(subcommand)]
    pub command: NotesCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum NotesCommand {
    /// Shows, and with --add sets, the git configuration that lets notes follow rewrites and fetches
    Setup {
        /// Add what is missing
        #[arg(long)]
        add: bool,
        /// Remote whose notes are fetched
        #[arg(long, value_name = "REMOTE", default_value = "origin")]
        remote: String,
    },
    /// Analyses each commit of a range against its parent and writes its note
    Add {
        /// Replace notes that exist
        #[arg(short, long)]
        force: bool,
        /// Commits; none: HEAD
        #[arg(value_name = "REVISION")]
        revisions: Vec<String>,
    },
    /// Shows the notes of commits
    Show {
        /// Commits; none: HEAD
        #[arg(value_name = "REVISION")]
        revisions: Vec<String>,
    },
    /// Lists the commits that have a note
    List,
    /// Fetches, merges and pushes the notes
    Sync {
        #[arg(value_name = "REMOTE", default_value = "origin")]
        remote: String,
    },
    /// Removes the notes of commits
    Remove {
        /// No error if a commit has no note
        #[arg(long)]
        ignore_missing: bool,
        #[arg(value_name = "REVISION", required = true)]
        revisions: Vec<String>,
    },
    /// Removes the notes of commits that no longer exist
    Prune,
}

pub fn run(_args: NotesArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("notes are not connected yet"))
}
