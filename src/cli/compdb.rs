//! What the front end is told: the settings, and a compilation database's macros and folders for single files.
//!
//! A database that the user names (`--compdb`, `invdiff.compdb`) has to be there and whole. One that the tree's
//! `.invdiff.yaml` names is looked for in the work tree alone, and is only missed where it is not.

use super::{CliError, Context};
use crate::config::{CompdbChoice, Settings};
use crate::frontend::c::{self, compdb};
use crate::history::Repository;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns what the front end is told. Says what of a database was passed over.
pub fn front_end(
    repository: &Repository,
    settings: &Settings,
    context: &mut Context,
) -> Result<c::Options, CliError> {
    let configuration = settings.c.configuration.first().map_or("default", String::as_str);
    let defines = settings.defines_of(configuration);
    let mut options = c::Options {
        defines: defines.into_iter().map(|(name, value)| (name, Some(value))).collect(),
        undefines: settings.c.undefines.clone(),
        include_dirs: settings.c.include_dirs.clone(),
        data_model: settings.c.data_model,
        host_headers: settings.c.host_headers,
        ..c::Options::default()
    };
    if let Some(choice) = &settings.c.compdb {
        options.files = Arc::new(files(choice, repository, context)?);
    }
    Ok(options)
}

/// Files with options of their own.
pub type Files = std::collections::BTreeMap<PathBuf, Arc<c::FileOptions>>;

fn files(choice: &CompdbChoice, repository: &Repository, context: &mut Context) -> Result<Files, CliError> {
    let top = repository.work_dir();
    let path = match (choice.in_tree, top) {
        (false, _) => choice.path.clone(),
        (true, Some(top)) => top.join(&choice.path),
        (true, None) => {
            context.warn(&format!("{}: there is no work tree to find it in", choice.origin));
            return Ok(Files::new());
        }
    };
    let name = choice.path.display().to_string();
    let is_gone = choice.is_projects && !path.exists();
    if is_gone {
        context
            .warn(&format!("{}: no such file: {name}; macros and folders of it are missing", choice.origin));
        return Ok(Files::new());
    }
    let fatal = |text: String| CliError::fatal(format!("{}: {name}: {text}", choice.origin));
    let real = std::fs::canonicalize(&path).map_err(|e| fatal(e.to_string()))?;
    // What comes with the revisions does not choose files of the machine.
    if choice.is_projects && !top.is_some_and(|top| real.starts_with(top)) {
        return Err(fatal("a link leads out of the work tree".to_owned()));
    }
    let text = read(&real).map_err(fatal)?;
    let ground = compdb::Ground {
        top: top.map(Path::to_path_buf),
        folder: real.parent().unwrap_or(Path::new("/")).to_path_buf(),
        real: &|folder| std::fs::canonicalize(folder).ok(),
    };
    let found = compdb::read(&text, &ground).map_err(|text| {
        fatal(text)
            .hint("a build makes it: cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, meson setup, bear -- make")
    })?;
    tell(&name, &found, context);
    Ok(found.files)
}

/// Reads a database below the top of the work tree that nobody named; `None` where there is none of use.
pub fn lying_about(name: &str, repository: &Repository) -> Option<Files> {
    let top = repository.work_dir()?;
    let real = std::fs::canonicalize(top.join(name)).ok().filter(|real| real.starts_with(top))?;
    let folder = real.parent()?.to_path_buf();
    let ground = compdb::Ground {
        top: Some(top.to_path_buf()),
        folder,
        real: &|folder| std::fs::canonicalize(folder).ok(),
    };
    Some(compdb::read(&read(&real).ok()?, &ground).ok()?.files)
}

/// Reads a file up to the bound.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut text = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    file.take(compdb::LARGEST + 1).read_to_end(&mut text).map_err(|e| e.to_string())?;
    match text.len() as u64 > compdb::LARGEST {
        true => Err(format!("more than {} MB", compdb::LARGEST >> 20)),
        false => Ok(text),
    }
}

fn tell(name: &str, found: &compdb::Compdb, context: &mut Context) {
    let passed = |what: &compdb::Passed, text: &str| format!("{} {text} (first: {})", what.count, what.first);
    let mut missed = Vec::new();
    if found.outside.count > 0 {
        missed.push(passed(&found.outside, "outside the work tree"));
    }
    if found.nameless > 0 {
        missed.push(format!("{} without a file", found.nameless));
    }
    if !missed.is_empty() {
        let entries = found.entries;
        context.warn(&format!("{name}: of {entries} entries passed over: {}", missed.join(", ")));
    }
    if context.globals.verbose > 0 {
        context.say(&format!("{name}: macros and folders of {} files", found.files.len()));
        if found.repeated.count > 0 {
            let text = "further entries for a file that has one: the first counts";
            context.say(&format!("{name}: {}", passed(&found.repeated, text)));
        }
        if found.responses.count > 0 {
            context
                .say(&format!("{name}: {}", passed(&found.responses, "response files, which are not read")));
        }
    }
}
