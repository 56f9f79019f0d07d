//! The git configuration that lets notes follow rewrites, appear in `git log`, and be fetched or pushed.
//!
//! Every ref is named with a `*` at its end. Git takes that as "if there is one"; of a ref that is named in
//! full and is not there yet, each `git log` and `git commit --amend` warns, and each `git fetch` and `git
//! push` fails.

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

/// Returns what is not configured yet. `remote` is left out when there is no such remote; pushing notes
/// along with branches is only for who asks for it (`push`).
///
/// Only the tracking ref of one remote is ever overwritten by a fetch, never our own notes, and never those of
/// a remote by a push.
pub fn missing(git: &Git, name: &NotesRef, remote: &str, push: bool) -> Result<Vec<Entry>, NotesError> {
    let entry = |key: String, value: String| Entry { key, value };
    let all = format!("{name}*");
    let mut wanted = vec![
        entry("notes.rewriteRef".into(), all.clone()),
        entry("notes.displayRef".into(), all.clone()),
        entry(format!("notes.{}.mergeStrategy", name.short()), "cat_sort_uniq".into()),
    ];
    if git.find(&["config", "--get", &format!("remote.{remote}.url")])?.is_some() {
        let refspec = format!("+{all}:refs/notes/{remote}/{}*", name.short());
        wanted.push(entry(format!("remote.{remote}.fetch"), refspec));
        let key = format!("remote.{remote}.push");
        if push && git.find(&["config", "--get-all", &key])?.is_none() {
            // With any refspec there, git pushes nothing but what refspecs say.
            wanted.push(entry(key.clone(), "HEAD".into()));
        }
        if push {
            wanted.push(entry(key, format!("{all}:{all}")));
        }
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
pub fn covers(present: &str, wanted: &str) -> bool {
    let without_star = |value: &str| value.replace('*', "");
    without_star(present) == without_star(wanted)
        || present.strip_suffix('*').is_some_and(|prefix| wanted.starts_with(prefix))
}
