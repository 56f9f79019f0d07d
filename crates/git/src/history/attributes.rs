//! What `.gitattributes` says about the files that changed, asked of git once a range.

use super::error::Result;
use super::object::{bytes_of_path, path_of_bytes};
use super::range::{Version, VersionKind};
use super::repository::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why a file of a range is counted but not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exclusion {
    /// Attribute `linguist-generated`.
    Generated,
    /// Attribute `-invdiff`.
    Attribute,
    /// `paths` in the configuration.
    Configured,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    generated: bool,
    off: bool,
    /// Attribute `diff`: set means text, unset means binary.
    text: Option<bool>,
}

/// The attributes of some paths, as of the newest version.
#[derive(Clone, Debug, Default)]
pub(super) struct AttributeMap {
    files: BTreeMap<PathBuf, Attributes>,
}

impl AttributeMap {
    /// Asks git about `paths`. Cost: one process, none when there are no paths.
    pub(super) fn load(
        repository: &Repository,
        newest: &Version,
        paths: &BTreeSet<PathBuf>,
    ) -> Result<AttributeMap> {
        if paths.is_empty() {
            return Ok(AttributeMap::default());
        }
        let mut input = Vec::new();
        for path in paths {
            input.extend(bytes_of_path(path));
            input.push(0);
        }
        let git = repository.git();
        let ask = |place: Option<String>, input: Vec<u8>| {
            let mut arguments = vec!["check-attr".to_owned(), "-z".to_owned(), "--stdin".to_owned()];
            arguments.extend(place);
            arguments.extend(["diff", "invdiff", "linguist-generated"].map(str::to_owned));
            git.filter(&arguments, input)
        };
        let place = match newest.kind {
            VersionKind::Commit { id } => Some(format!("--source={id}")),
            VersionKind::Index => Some("--cached".to_owned()),
            VersionKind::Worktree | VersionKind::Empty => None,
        };
        // Git before 2.40 has no `--source`; the attributes of the working tree are then the next best.
        let answer = match (ask(place.clone(), input.clone()), place) {
            (Err(_), Some(_)) => ask(None, input)?,
            (answer, _) => answer?,
        };
        let mut map = AttributeMap::default();
        let mut fields = answer.split(|&b| b == 0);
        while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next()) {
            let entry = map.files.entry(path_of_bytes(path)).or_default();
            match (name, value) {
                (b"diff", b"set") => entry.text = Some(true),
                (b"diff", b"unset") => entry.text = Some(false),
                (b"invdiff", b"unset" | b"false") => entry.off = true,
                (b"linguist-generated", b"set" | b"true") => entry.generated = true,
                _ => {}
            }
        }
        Ok(map)
    }

    pub(super) fn exclusion(&self, path: &Path) -> Option<Exclusion> {
        let attributes = self.files.get(path)?;
        match attributes {
            Attributes { off: true, .. } => Some(Exclusion::Attribute),
            Attributes { generated: true, .. } => Some(Exclusion::Generated),
            _ => None,
        }
    }

    /// Returns whether an attribute says that a file is text or that it is not.
    pub(super) fn text(&self, path: &Path) -> Option<bool> {
        self.files.get(path)?.text
    }
}
