//! The git configuration that lets notes follow rewrites, appear in `git log`, and be fetched.

use super::{NotesError, NotesRef};
use crate::store::Git;

/// One value of a key of the repository's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    pub value: String,
}

impl Entry {
    /// Adds the value beside those that the key has.
    pub fn add(&self, git: &Git) -> Result<(), NotesError> {
        git.run(&["config", "--local", "--add", &self.key, &self.value], b"")?;
        Ok(())
    }

    /// Returns the command that takes the value out again, for a POSIX shell.
    pub fn undo(&self) -> String {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        format!("git config --local --fixed-value --unset-all {} {}", quoted(&self.key), quoted(&self.value))
    }
}

/// Returns what is not configured yet. `remote` is left out when there is no such remote.
///
/// Only the tracking ref of one remote is ever overwritten by a fetch, never our own notes.
pub fn missing(git: &Git, name: &NotesRef, remote: &str) -> Result<Vec<Entry>, NotesError> {
    let entry = |key: String, value: &str| Entry { key, value: value.to_string() };
    let mut wanted = vec![
        entry("notes.rewriteRef".into(), name.as_str()),
        entry("notes.displayRef".into(), name.as_str()),
        entry(format!("notes.{}.mergeStrategy", name.short()), "cat_sort_uniq"),
    ];
    if git.find(&["config", "--get", &format!("remote.{remote}.url")])?.is_some() {
        let refspec = format!("+{name}:refs/notes/{remote}/{}", name.short());
        wanted.push(entry(format!("remote.{remote}.fetch"), &refspec));
    }
    let mut missing = Vec::new();
    for entry in wanted {
        let present = git.find(&["config", "--get-all", &entry.key])?.unwrap_or_default();
        if !present.lines().any(|value| covers(value, &entry.value)) {
            missing.push(entry);
        }
    }
    Ok(missing)
}

/// Tells whether a configured value, perhaps ending in `*`, says the same.
fn covers(present: &str, wanted: &str) -> bool {
    present == wanted || present.strip_suffix('*').is_some_and(|prefix| wanted.starts_with(prefix))
}
