//! `git invdiff cache`: what the cache holds, and emptying it; what becomes of the one that machines share.

use super::{CliError, Context, ExitCode, analyse, shared};
use crate::config::{ConfigFile, GitConfig, Overrides, Settings};
use crate::report::escape::visible;
use crate::store::cache::Cache;
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::PathBuf;

/// The cache under the git directory: info, clear
#[derive(Args, Clone, Debug)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub command: CacheCommand,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum CacheCommand {
    /// Where it is and how much it holds; which cache is shared, and who reads and writes it
    Info,
    /// Removes all of it
    Clear,
}

pub fn run(args: CacheArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let common_dir = common_dir(context)?;
    let settings = settings(context);
    let cache = match settings.as_ref().and_then(|settings| settings.cache.dir.as_ref()) {
        Some(folder) => Cache::at(&common_dir.join(folder)),
        None => Cache::of(&common_dir),
    };
    let failed = |action: &str, error: &std::io::Error| {
        CliError::fatal(format!("cannot {action} '{}'", cache.folder().display())).caused_by(error)
    };
    let usage = cache.usage().map_err(|e| failed("read", &e))?;
    let held = format!("{} entries, {} bytes", usage.entries, usage.bytes);
    match args.command {
        CacheCommand::Info => {
            let folder = visible(cache.folder().as_os_str().as_encoded_bytes());
            writeln!(context.output, "{folder}\n{held}")?;
            for line in settings.iter().flat_map(shared::described) {
                writeln!(context.output, "{}", visible(&line))?;
            }
        }
        CacheCommand::Clear => {
            cache.clear().map_err(|e| failed("remove", &e))?;
            if !context.globals.quiet {
                writeln!(context.output, "removed {held}")?;
            }
        }
    }
    Ok(ExitCode::Done)
}

/// What the user has set. Where that cannot be read, there is still a cache to remove.
fn settings(context: &Context) -> Option<Settings> {
    let repository = analyse::open(context).ok()?;
    let git = GitConfig::load(repository.git()).ok()?;
    let variable = |name: &str| std::env::var(name).ok();
    Settings::join(&ConfigFile::default(), &git, variable, &Overrides::default()).ok()
}

/// The git directory that all worktrees of the repository share.
fn common_dir(context: &Context) -> Result<PathBuf, CliError> {
    let output = context
        .git()
        .args(["rev-parse", "--git-common-dir"])
        .output()
        .map_err(|e| CliError::fatal("cannot run git").caused_by(&e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(CliError::fatal(said.trim_end().trim_start_matches("fatal: ")));
    }
    let bytes = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
    Ok(crate::report::RepoPath::from(bytes).to_path())
}
