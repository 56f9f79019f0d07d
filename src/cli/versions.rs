//! `--held-by`, `--since` and `--lost`: facts asked for by the versions that hold them.

use super::CliError;
use crate::history::Repository;
use crate::report::filter::HeldIn;
use crate::report::{Version, VersionInfo};
use clap::Args;
use std::collections::BTreeSet;

/// In which versions of the range a fact is to hold.
#[derive(Args, Clone, Debug, Default)]
pub struct VersionArgs {
    /// Only facts that all these versions hold, by their numbers: 1-3, 2,4; no churns
    #[arg(long, value_name = "VERSIONS", help_heading = "Filters")]
    pub held_by: Option<String>,

    /// Only facts that hold from this revision on, and did not before; no churns
    #[arg(long, value_name = "REVISION", help_heading = "Filters")]
    pub since: Option<String>,

    /// Only facts that an older version holds and the newest does not; no churns
    #[arg(long, help_heading = "Filters")]
    pub lost: bool,
}

impl VersionArgs {
    /// Whether facts are asked for by versions.
    pub fn is_any(&self) -> bool {
        self.lost || self.held_by.is_some() || self.since.is_some()
    }

    /// The filter, for the versions of a range, oldest first. Errors: what names none of them.
    pub fn held_in(&self, repository: &Repository, versions: &[VersionInfo]) -> Result<HeldIn, CliError> {
        let by = match &self.held_by {
            Some(text) => numbers(text, versions.len())?,
            None => BTreeSet::new(),
        };
        let since = self.since.as_ref().map(|revision| version_of(revision, repository, versions));
        Ok(HeldIn { by, since: since.transpose()?, lost: self.lost })
    }
}

/// Reads `1-3,5`, for so many versions.
fn numbers(text: &str, count: usize) -> Result<BTreeSet<Version>, CliError> {
    let mut found = BTreeSet::new();
    let newest = Version::try_from(count).unwrap_or(Version::MAX);
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<Version>().ok().filter(|_| !text.starts_with('+'));
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(CliError::usage(format!(
                "--held-by takes numbers of versions such as 2, 1-3 or 1,4-6, not '{text}'"
            ))
            .hint("the first lines of the output number the versions; --since takes a revision"));
        };
        if first > last {
            let error = CliError::usage(format!("--held-by {text}: {first} comes after {last}"));
            return Err(error.hint(format!("versions are numbered from the oldest: {last}-{first}")));
        }
        if first == 0 || last > newest {
            let which =
                if count == 1 { "1 version".to_owned() } else { format!("{count} versions, 1-{count}") };
            let error = CliError::fatal(format!("--held-by {text}: the range has {which}"));
            return Err(error.hint("name a longer range, or some of these"));
        }
        found.extend(first..=last);
    }
    Ok(found)
}

/// The version that a revision names.
fn version_of(
    revision: &str,
    repository: &Repository,
    versions: &[VersionInfo],
) -> Result<Version, CliError> {
    let id = repository.resolve(revision).map_err(|error| {
        CliError::fatal(format!("--since: {error}"))
            .hint("--since takes a revision of the range, such as HEAD~2 or an id")
    })?;
    let id = id.map(|id| id.to_string());
    let version = versions.iter().find(|v| id.is_some() && v.commit == id);
    version.map(|v| v.index).ok_or_else(|| {
        let name = |v: &VersionInfo| match &v.commit {
            Some(id) => id.chars().take(7).collect(),
            None => v.name.clone(),
        };
        let ends = match versions {
            [] => "none".to_owned(),
            [one] => name(one),
            [first, .., last] => format!("{} to {}", name(first), name(last)),
        };
        CliError::fatal(format!("--since {revision}: it is none of the versions of the range"))
            .hint(format!("these are {ends}; name one of them, or a range that has it"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, count: usize, expected: Result<&[Version], &str>) {
        match (numbers(text, count), expected) {
            (Ok(found), Ok(expected)) => {
                assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{text}")
            }
            (Err(error), Err(part)) => {
                assert!(error.message.contains(part) && !error.hints.is_empty(), "{text}: {error}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn versions_are_named_by_numbers() {
        check("2", 3, Ok(&[2]));
        check("1-3", 3, Ok(&[1, 2, 3]));
        check("1,4-6,5", 6, Ok(&[1, 4, 5, 6]));
        for text in ["", "x", "1-", "-2", "1--2", "1,", "1 2", "+1", "99999999999", "1-2-3"] {
            check(text, 3, Err("--held-by takes numbers of versions"));
        }
        check("3-1", 3, Err("3 comes after 1"));
        check("5-9", 3, Err("the range has 3 versions, 1-3"));
        check("0", 3, Err("the range has 3 versions"));
        check("2-4294967295", 3, Err("the range has 3 versions"));
        check("2", 1, Err("the range has 1 version"));
    }
}
