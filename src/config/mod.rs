//! `.invdiff.yaml`, `git config invdiff.*`, the environment and flags, joined into one [`Settings`].
//!
//! The project's file is untrusted input and comes with the revisions; git's configuration, the
//! environment and the command line are the user's own and win over it.

pub mod edit;
mod error;
mod file;
mod git;
mod names;
mod policy;
mod quantify;
mod settings;
pub mod table;

pub use error::ConfigError;
pub use file::{
    AnalysisSection, CSection, ConfigFile, ConfigurationSection, DefineValue, FILE_NAME, GateRule,
    GateSection, Paths, PinnedSection, RequiresSection, Suppression, is_day,
};
pub use git::{GitConfig, KEYS, Listing, truth};
pub use names::nearest;
pub use policy::{JoinedPolicy, join_policies};
pub use quantify::{Bounds, Distribution, QuantifySection, Span};
pub use settings::{
    CacheSettings, CompdbChoice, GateSettings, Overrides, POINTS, Settings, TEMPLATES, variables,
};

use crate::history::{GitCommand, SourceTree};
use std::path::Path;

/// Returns the day it is, in UTC, as `2027-01-31`.
pub fn today() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let text = crate::history::rfc3339((seconds, 0));
    text.split('T').next().unwrap_or_default().to_owned()
}

impl GitConfig {
    /// Asks git, which knows every scope, includes, `git -c` and `GIT_CONFIG_COUNT`. Cost: one process.
    pub fn load(git: &GitCommand) -> Result<GitConfig, ConfigError> {
        let listed =
            git.read(&Listing::ARGUMENTS).map_err(|e| ConfigError::new("git config", e.to_string()))?;
        GitConfig::of(&Listing::new(listed))
    }
}

impl ConfigFile {
    /// Reads the file at the top of a version; a version without one says nothing.
    pub fn of_tree(tree: &dyn SourceTree) -> Result<ConfigFile, ConfigError> {
        match tree.read(Path::new(FILE_NAME)) {
            Some(bytes) => ConfigFile::parse(FILE_NAME, &bytes),
            None => Ok(ConfigFile::default()),
        }
    }

    /// Reads a file from disk (`--config`).
    pub fn read(path: &Path) -> Result<ConfigFile, ConfigError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| ConfigError::new(&name, e.to_string()))?;
        ConfigFile::parse(&name, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{OpenOptions, Repository};
    use crate::testing::TempRepo;

    #[test]
    fn git_is_asked_for_every_scope() {
        let repo = TempRepo::new().config("invdiff.unroll", "3").config("other.key", "x\ny");
        std::fs::write(repo.home().join("more"), "[invdiff]\n\thooks\n\tpoints = exit\n").expect("written");
        repo.git(["config", "--global", "include.path", "more"]);
        let mut variables = repo.environment();
        let command_line = [("COUNT", "1"), ("KEY_0", "invdiff.RLIMIT"), ("VALUE_0", "5k")];
        variables.extend(command_line.map(|(k, v)| (format!("GIT_CONFIG_{k}").into(), v.into())));
        let options = OpenOptions { variables, ..OpenOptions::at(repo.path()) };
        let repository = Repository::open(&options).expect("a repository");
        let git = GitConfig::load(repository.git()).expect("keys");
        let joined = Settings::join(&ConfigFile::default(), &git, |_| None, &Overrides::default());
        let joined = joined.expect("settings");
        assert_eq!((joined.analysis.unroll, joined.analysis.rlimit, joined.hooks), (3, 5120, true));
        assert_eq!(joined.analysis.points, ["exit"]);
    }
}
