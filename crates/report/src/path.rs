//! Paths inside a repository: byte strings, which JSON and YAML cannot hold as they are.

use super::escape;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::path::{Path, PathBuf};

/// A path relative to the top of the tree, with `/`.
///
/// Serialised as a string. A path that is not UTF-8, or that itself begins with a double quote, is
/// written in git's C quoting (`"b\377.c"`, quotes included), so the form is lossless: a serialised
/// path that begins with a double quote is always quoted, any other is the path itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn to_path(&self) -> PathBuf {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            PathBuf::from(std::ffi::OsStr::from_bytes(&self.0))
        }
        #[cfg(not(unix))]
        {
            PathBuf::from(String::from_utf8_lossy(&self.0).into_owned())
        }
    }

    /// Whether the path says that it is code of tests: a folder or the file is called so.
    pub fn is_of_tests(&self) -> bool {
        let text = self.to_text().to_ascii_lowercase();
        let mut parts = text.split('/').rev();
        let stem = parts.next().and_then(|file| file.split('.').next()).unwrap_or_default();
        let is_test = |name: &str| {
            matches!(name, "test" | "tests" | "testing" | "testsuite" | "unittest" | "unittests")
        };
        let words = || stem.split(['_', '-']);
        parts.any(is_test) || words().next().is_some_and(is_test) || words().next_back().is_some_and(is_test)
    }

    /// Returns the path as the analysis names it: in UTF-8 (see [`crate::history::utf8_path`]).
    pub fn to_utf8_path(&self) -> PathBuf {
        crate::history::utf8_path(&self.to_path())
    }

    /// Returns the lossless text form described above.
    pub fn to_text(&self) -> String {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.starts_with('"') => text.to_owned(),
            _ => escape::force_c_quoted(&self.0),
        }
    }

    /// Reads the form of [`RepoPath::to_text`]; `None` if a quoted path is malformed.
    pub fn from_text(text: &str) -> Option<RepoPath> {
        escape::c_unquoted(text).map(RepoPath)
    }
}

/// For people: nothing in it that a terminal would act on, and quoted as git quotes when odd.
impl fmt::Display for RepoPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(&self.0) {
            Ok(text) if escape::visible(text) == text && !text.contains('"') => out.write_str(text),
            _ => out.write_str(&escape::force_c_quoted(&self.0)),
        }
    }
}

impl From<&[u8]> for RepoPath {
    fn from(bytes: &[u8]) -> RepoPath {
        RepoPath(bytes.to_vec())
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> RepoPath {
        RepoPath(text.as_bytes().to_vec())
    }
}

impl From<&Path> for RepoPath {
    fn from(path: &Path) -> RepoPath {
        RepoPath(crate::history::bytes_of_utf8_path(path))
    }
}

impl From<&PathBuf> for RepoPath {
    fn from(path: &PathBuf) -> RepoPath {
        RepoPath::from(path.as_path())
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RepoPath, D::Error> {
        let text = String::deserialize(deserializer)?;
        RepoPath::from_text(&text).ok_or_else(|| de::Error::custom("malformed quoted path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_tests_is_known_by_its_path() {
        let is_of_tests = |path: &str| RepoPath::from(path.as_bytes()).is_of_tests();
        for path in
            ["test/a.c", "src/tests/x/a.c", "src/test_parse.c", "parse-test.c", "Tests/a.h", "lib/test.c"]
        {
            assert!(is_of_tests(path), "{path}");
        }
        for path in ["src/a.c", "testify/a.c", "src/latest.c", "contest.c", "src/attest_key.c"] {
            assert!(!is_of_tests(path), "{path}");
        }
    }

    #[test]
    fn every_path_survives_json() {
        for bytes in [&b"src/a.c"[..], "caf\u{e9}.c".as_bytes(), b"\"odd", b"b\xff\n.c", b"a\\b"] {
            let path = RepoPath::from(bytes);
            let json = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<RepoPath>(&json).unwrap(), path, "{json}");
        }
    }

    #[test]
    fn people_see_utf8_but_no_control_characters() {
        assert_eq!(RepoPath::from("café.c").to_string(), "café.c");
        assert_eq!(RepoPath::from("a\x1b[m.c").to_string(), "\"a\\033[m.c\"");
    }
}
