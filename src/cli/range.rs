//! Which versions and which files a command is about.

use super::CliError;
use clap::Args;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Revisions and paths, as git takes them.
#[derive(Args, Clone, Debug, Default)]
pub struct RangeArgs {
    /// A..B (A and every commit on the first-parent way to B), A...B (from the merge base), or
    /// single revisions; none: HEAD against the working tree
    #[arg(value_name = "REVISION")]
    pub revisions: Vec<OsString>,

    /// HEAD, or the revision given, against the index
    #[arg(long, visible_alias = "cached")]
    pub staged: bool,

    /// Only the first and the last version of the range
    #[arg(long)]
    pub endpoints: bool,

    /// Only files that match; pathspecs as git's
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// Revisions and pathspecs, told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    pub revisions: Vec<String>,
    /// Relative to the current directory.
    pub paths: Vec<OsString>,
}

impl RangeArgs {
    /// Tells revisions from paths as git does. With `--` (`separated`) it stands between them.
    /// Without it no word may be both, and after the first path there are only paths; a word that is
    /// neither is left to be refused as a revision.
    pub fn split(
        &self,
        separated: bool,
        is_revision: impl Fn(&str) -> bool,
        is_path: impl Fn(&OsStr) -> bool,
    ) -> Result<Split, CliError> {
        let mut split = Split { revisions: Vec::new(), paths: self.paths.clone() };
        let mut words = self.revisions.iter();
        if separated {
            for word in words {
                let Some(text) = word.to_str() else { return Err(unknown(word)) };
                split.revisions.push(text.to_owned());
            }
            return Ok(split);
        }
        for word in words.by_ref() {
            match (word.to_str().filter(|text| is_revision(text)), is_path(word)) {
                (Some(text), false) => split.revisions.push(text.to_owned()),
                (None, true) => {
                    split.paths.push(word.clone());
                    break;
                }
                (Some(text), true) => {
                    return Err(CliError::fatal(format!(
                        "ambiguous argument '{text}': both revision and filename"
                    ))
                    .hint(SEPARATE));
                }
                // Neither: the repository knows best what is wrong with it as a revision.
                (None, false) => match word.to_str() {
                    Some(text) => split.revisions.push(text.to_owned()),
                    None => return Err(unknown(word)),
                },
            }
        }
        for word in words {
            if !is_path(word) {
                return Err(CliError::fatal(format!("'{}' is no path in the working tree", word.display()))
                    .hint(SEPARATE));
            }
            split.paths.push(word.clone());
        }
        Ok(split)
    }
}

const SEPARATE: &str =
    "use '--' to separate paths from revisions: git invdiff [<revision>...] -- [<path>...]";

fn unknown(word: &OsStr) -> CliError {
    CliError::fatal(format!(
        "ambiguous argument '{}': unknown revision or path not in the working tree",
        word.display()
    ))
    .hint(SEPARATE)
}

/// Whether a word names revisions: one, or a range whose ends `resolves` knows; an end left out is
/// HEAD.
pub fn is_revision(word: &str, resolves: impl Fn(&str) -> bool) -> bool {
    let end_resolves = |end: &str| resolves(if end.is_empty() { "HEAD" } else { end });
    if let Some((from, to)) = word.split_once("...").or_else(|| word.split_once("..")) {
        return !(from.is_empty() && to.is_empty()) && end_resolves(from) && end_resolves(to);
    }
    let plain = word.strip_prefix('^').unwrap_or(word);
    let plain = plain.strip_suffix("^!").or_else(|| plain.strip_suffix("^-")).unwrap_or(plain);
    end_resolves(plain)
}

/// Whether a word can be a path: it exists, or it is a pattern.
pub fn is_path(word: &OsStr) -> bool {
    let pattern = |text: &str| text.starts_with(':') || text.contains(['*', '?', '[']);
    Path::new(word).symlink_metadata().is_ok() || word.to_str().is_some_and(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that begin with a capital are revisions, words with a dot are paths.
    #[track_caller]
    fn check(words: &str, expected: Result<(&str, &str), &str>) {
        let separated = words.contains(" -- ");
        let (before, after) = words.split_once(" -- ").unwrap_or((words, ""));
        let list = |text: &str| text.split_whitespace().map(OsString::from).collect();
        let args = RangeArgs { revisions: list(before), paths: list(after), ..RangeArgs::default() };
        let resolves = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
        let got = args.split(
            separated,
            |word| is_revision(word, resolves),
            |word| word.to_string_lossy().contains(".c") || word == "Both",
        );
        match (got, expected) {
            (Ok(split), Ok((revisions, paths))) => {
                let joined = |paths: &[OsString]| {
                    paths.iter().map(|p| p.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
                };
                assert_eq!(
                    (split.revisions.join(" ").as_str(), joined(&split.paths).as_str()),
                    (revisions, paths)
                );
            }
            (Err(error), Err(part)) => assert!(error.message.contains(part), "{error}"),
            (got, expected) => panic!("{got:?} is not {expected:?}"),
        }
    }

    #[test]
    fn words_are_revisions_or_paths() {
        check("A..B", Ok(("A..B", "")));
        check("A..", Ok(("A..", "")));
        check("A...B a.c", Ok(("A...B", "a.c")));
        check("^A B", Ok(("^A B", "")));
        check("A^!", Ok(("A^!", "")));
        check("a.c b.c", Ok(("", "a.c b.c")));
        check("../a.c", Ok(("", "../a.c")));
        check("A B -- none", Ok(("A B", "none")));
        check("a.c -- b.c", Ok(("a.c", "b.c")));
        check("Both -- a.c", Ok(("Both", "a.c")));
        check("", Ok(("", "")));
    }

    #[test]
    fn what_could_be_both_is_an_error() {
        check("Both", Err("both revision and filename"));
        check("none", Ok(("none", "")));
        check("..", Ok(("..", "")));
        check("A a.c B", Err("no path"));
    }
}
