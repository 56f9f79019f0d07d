//! The history of one function: what `blame` and `bisect` have in common.

use super::compdb::front_end;
use super::diff_args::{DiffArgs, below_top};
use super::name::is_name;
use super::{CliError, Context, analyse, range};
use crate::analysis::text_lineage::{Follower, FunctionLocation, Moved, Step};
use crate::analysis::{self, FileChange, Request, VersionInput};
use crate::config::{Settings, nearest};
use crate::frontend::c;
use crate::frontend::c::slice::Items;
use crate::history::{self, ChangeOptions, RangeRequest, Repository, SourceTree, Version, utf8_path};
use crate::mvicfg::VersionId;
use crate::report::{RepoPath, Report};
use std::path::Path;
use std::sync::Arc;

/// A function through the commits of a range.
pub struct History<'r> {
    repository: &'r Repository,
    /// Oldest first.
    pub versions: Vec<Version>,
    inputs: Vec<VersionInput>,
    trees: Vec<Arc<dyn SourceTree>>,
    pub settings: Settings,
    changes: ChangeOptions,
    pub front_end: c::Options,
    pub analysis: analysis::Options,
    /// In the newest version.
    pub place: FunctionLocation,
}

impl<'r> History<'r> {
    /// Finds the commits of a range (`None`: all that lead to HEAD) and the function in the newest of
    /// them. Trees are not read yet, but the newest one.
    pub fn open(
        repository: &'r Repository,
        function: &str,
        range: Option<&str>,
        args: &DiffArgs,
        context: &mut Context,
    ) -> Result<History<'r>, CliError> {
        let place = place(function, &repository.prefix())?;
        let found = commits(repository, range)?;
        for warning in &found.warnings {
            context.warn(warning);
        }
        let settings = analyse::settings(repository, &found, args, context)?;
        // A commit is kept in the cache by its id: how far it is from HEAD changes.
        let named = |v: &Version| {
            let mut input = analyse::version_input(v);
            input.info.name = v.commit().unwrap_or_else(|| v.name.clone());
            input
        };
        let inputs: Vec<VersionInput> = found.versions.iter().map(named).collect();
        let history = History {
            repository,
            trees: inputs.iter().map(|v| v.tree.clone()).collect(),
            inputs,
            changes: analyse::change_options(repository, &[], &settings)?,
            front_end: front_end(repository, &settings, context)?,
            analysis: analyse::analysis_options(repository, args, &settings)?,
            versions: found.versions,
            settings,
            place,
        };
        history.check_place()?;
        Ok(history)
    }

    /// Refuses a function that the newest version does not have.
    fn check_place(&self) -> Result<(), CliError> {
        let (Some(tree), Some(newest)) = (self.trees.last(), self.versions.last()) else {
            return Err(CliError::fatal("the range has no version"));
        };
        let FunctionLocation { file, name } = &self.place;
        let shown = RepoPath::from(file);
        let Some(bytes) = tree.read(file) else {
            self.check_readable()?;
            return Err(CliError::fatal(format!("there is no file {shown} in {}", newest.name)).hint(
                "a file is named as it is called in the newest version, relative to the current directory",
            ));
        };
        let items = Items::of(&bytes);
        if items.functions().any(|f| f == name) {
            return Ok(());
        }
        let error = CliError::fatal(format!("there is no function '{name}' in {shown} of {}", newest.name));
        Err(match nearest(name, items.functions()) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => error,
        })
    }

    /// Refuses to go on where something could not be read: a file that a partial clone lacks would count
    /// as one that is not there.
    pub fn check_readable(&self) -> Result<(), CliError> {
        let objects = self.repository.objects();
        let unreadable = objects.unreadable();
        let failure = unreadable.first().and_then(|(id, _)| objects.source().object(*id).err());
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Walks back through the steps that do something to the function.
    pub fn steps(&self) -> Option<Follower<'_, CliError>> {
        let changes = |step: [VersionId; 2]| -> Result<Vec<Moved>, CliError> {
            let found = self.changes_in(step)?;
            let side = |s: &Option<history::FileSide>| s.as_ref().map(|s| utf8_path(&s.path));
            Ok(found.files.iter().map(|f| (side(&f.old), side(&f.new))).collect())
        };
        let follower = Follower::new(&self.trees, self.place.clone(), changes)?;
        Some(follower.grounded(&self.front_end, self.analysis.limits.inline_depth))
    }

    fn changes_in(&self, step: [VersionId; 2]) -> Result<history::Changes, CliError> {
        let [old, new] = step.map(|v| &self.versions[v]);
        Ok(self.repository.changes_between(old, new, &self.changes)?)
    }

    /// A version under the number 1 or 2, as half of a comparison.
    pub fn input(&self, version: VersionId, number: u32) -> VersionInput {
        let mut input = self.inputs[version].clone();
        input.info.index = number;
        input
    }

    /// Compares the function before and after the step to a version; from the cache, if it knows.
    pub fn compared(
        &self,
        step: &Step,
        before: &FunctionLocation,
        context: &Context,
    ) -> Result<Report, CliError> {
        let (from, to, after) = (step.from, step.to, &step.after);
        let changes = self.changes_in([from, to])?;
        let mut files = analyse::file_changes(&changes);
        // Nothing but the files that the function is in, and those that the change comes from, is read.
        files.retain(|f| {
            let is_own =
                f.old_path.as_ref() == Some(&before.file) || f.new_path.as_ref() == Some(&after.file);
            is_own || f.old_path.iter().chain(&f.new_path).any(|path| step.rests_on.contains(path))
        });
        for path in &step.rests_on {
            let is_there = files.iter().any(|f| f.new_path.as_ref() == Some(path));
            let both = [from, to].iter().all(|v| self.trees[*v].content_id(path).is_some());
            if !is_there && both {
                let (old_path, new_path) = (Some(path.clone()), Some(path.clone()));
                files.push(FileChange { old_path, new_path, hunks: Vec::new(), opaque: None });
            }
        }
        let request = Request {
            versions: vec![self.input(from, 1), self.input(to, 2)],
            changes: vec![files],
            options: self.front_end.clone(),
            analysis: analysis::Options { function: Some(after.name.clone()), ..self.analysis.clone() },
        };
        Ok(analyse::report_of_request(&request, Vec::new(), &self.settings, None, self.repository, context))
    }
}

/// Reads `FILE:FUNCTION`.
fn place(text: &str, prefix: &Path) -> Result<FunctionLocation, CliError> {
    let (file, name) = text
        .rsplit_once(':')
        .filter(|(file, name)| !file.is_empty() && is_name(name))
        .ok_or_else(|| CliError::usage(format!("'{text}' is not FILE:FUNCTION")))?;
    Ok(FunctionLocation { file: below_top(prefix, Path::new(file)), name: name.to_owned() })
}

/// The commits of a range, or of all that leads to a revision.
fn commits(repository: &Repository, range: Option<&str>) -> Result<history::Range, CliError> {
    let ask =
        |revisions: Vec<String>| repository.range(&RangeRequest { revisions, ..RangeRequest::default() });
    let tip = match range {
        Some(text) if text.contains("..") || text.ends_with("^!") || text.ends_with("^-") => {
            return Ok(ask(vec![text.to_owned()])?);
        }
        Some(revision) => revision,
        None => "HEAD",
    };
    if !range::is_revision(tip, |word| repository.resolve(word).is_ok()) {
        // The repository says what is wrong with it.
        repository.commit(tip)?;
    }
    let root = repository.objects().empty_tree();
    match ask(vec![format!("{root}..{tip}")]) {
        Err(_) if repository.is_shallow() => {
            // As far as the clone goes.
            let listed = repository.git().read(&["rev-list", "--first-parent", tip, "--"])?;
            let text = String::from_utf8_lossy(&listed);
            let edge = text.lines().next_back().unwrap_or(tip).to_owned();
            let mut found = ask(vec![format!("{edge}..{tip}")])?;
            found.warnings.push("this is a shallow clone: commits before its cut are not looked at".into());
            Ok(found)
        }
        found => Ok(found?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let read = |text: &str| place(text, Path::new("src")).map(|p| (p.file, p.name)).ok();
        assert_eq!(read("a.c:f"), Some(("src/a.c".into(), "f".to_owned())));
        assert_eq!(read("../x:y.c:f_1"), Some(("x:y.c".into(), "f_1".to_owned())));
        for bad in ["a.c", "a.c:", ":f", "a.c:1f", "a.c:f*", "a.c:f g"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
