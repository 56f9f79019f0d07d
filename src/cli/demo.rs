//! `git invdiff demo`: a small history, made on the spot, and the main job run on it.

use super::diff;
use super::diff_args::DiffArgs;
use super::{CliError, Context, ExitCode};
use clap::Args;
use git2::{Repository, Signature, Time};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes a small history in a temporary folder and runs the main job on it
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// Make the history in this new or empty folder and leave it there
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Commit message and content of each version.
const HISTORY: [(&str, &str); 3] = [
    ("compute the area", include_str!("demo/area1.c")),
    ("areas are never negative", include_str!("demo/area2.c")),
    ("refuse input that is no number", include_str!("demo/area3.c")),
];
const FILE: &str = "area.c";
/// The range that the demonstration looks at.
const RANGE: &str = "HEAD~2..HEAD";

pub fn run(args: DemoArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let temporary;
    let folder = match &args.keep {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|e| cannot_use(folder, &e))?;
            let is_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty {
                return Err(CliError::fatal(format!("'{}' is not an empty folder", folder.display())));
            }
            folder.canonicalize().map_err(|e| cannot_use(folder, &e))?
        }
        None => {
            temporary = tempfile::Builder::new().prefix("invdiff-demo-").tempdir()?;
            temporary.path().to_owned()
        }
    };
    let ids = make_history(&folder).map_err(|e| {
        CliError::fatal(format!("cannot make a repository in '{}'", folder.display())).caused_by(&e)
    })?;
    show_commands(&ids, context)?;
    let before = std::env::current_dir()?;
    std::env::set_current_dir(&folder).map_err(|e| cannot_use(&folder, &e))?;
    // A hook or `git -C` may have named another repository.
    context.globals.git_dir = Some(folder.join(".git"));
    let mut diff = DiffArgs::default();
    diff.range.revisions.push(RANGE.into());
    let result = diff::run(diff, context);
    // The folder cannot be removed everywhere while it is the current one.
    std::env::set_current_dir(before)?;
    result?;
    match &args.keep {
        Some(_) => writeln!(context.output, "\nThe history is in {}", folder.display())?,
        None => {
            writeln!(context.output, "\nNow yours: git invdiff HEAD~3..HEAD in a repository with C sources")?
        }
    }
    Ok(ExitCode::Done)
}

fn show_commands(ids: &[String], context: &mut Context) -> Result<(), CliError> {
    writeln!(context.output, "$ git log --oneline --reverse")?;
    for (id, (message, _)) in ids.iter().zip(HISTORY) {
        writeln!(context.output, "{} {message}", id.get(..7).unwrap_or(id))?;
    }
    writeln!(context.output, "\n$ git invdiff {RANGE}")?;
    Ok(())
}

/// Makes one commit of each version; authors and times are fixed, so the ids are the same everywhere.
fn make_history(folder: &Path) -> Result<Vec<String>, git2::Error> {
    let mut options = git2::RepositoryInitOptions::new();
    // The user's templates could bring hooks and settings.
    options.external_template(false).initial_head("main").no_reinit(true);
    let repository = Repository::init_opts(folder, &options)?;
    let mut parent: Option<git2::Oid> = None;
    let mut ids = Vec::new();
    for (age, (message, text)) in HISTORY.iter().enumerate() {
        let mut tree = repository.treebuilder(None)?;
        tree.insert(FILE, repository.blob(text.as_bytes())?, 0o100_644)?;
        let tree = repository.find_tree(tree.write()?)?;
        let time = Time::new(1_767_225_600 + 3600 * age as i64, 0);
        let author = Signature::new("A Programmer", "programmer@example.org", &time)?;
        let parents: Vec<_> = parent.map(|id| repository.find_commit(id)).transpose()?.into_iter().collect();
        let parents: Vec<_> = parents.iter().collect();
        let id = repository.commit(Some("HEAD"), &author, &author, message, &tree, &parents)?;
        parent = Some(id);
        ids.push(id.to_string());
    }
    let mut checkout = git2::build::CheckoutBuilder::new();
    repository.checkout_head(Some(checkout.force()))?;
    Ok(ids)
}

fn cannot_use(folder: &Path, error: &std::io::Error) -> CliError {
    CliError::fatal(format!("cannot use '{}'", folder.display())).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_is_the_same_everywhere() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ids = make_history(a.path()).unwrap();
        assert_eq!(ids.len(), HISTORY.len());
        assert_eq!(ids, make_history(b.path()).unwrap());
        let file = std::fs::read_to_string(a.path().join(FILE)).unwrap();
        assert_eq!(file, HISTORY[2].1);
    }
}
