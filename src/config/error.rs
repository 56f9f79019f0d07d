//! What is wrong with a setting, and where it was set.

/// A setting that cannot be used. The text quotes the file or command line, so whoever prints it
/// must escape control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {message}")]
pub struct ConfigError {
    /// Where it comes from: `.invdiff.yaml:3:5`, `file:.git/config`, `--templates`.
    pub origin: String,
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ConfigError {
    pub(super) fn new(origin: impl Into<String>, message: impl Into<String>) -> ConfigError {
        ConfigError { origin: origin.into(), message: message.into(), hint: None }
    }

    /// Adds the nearest known name as the hint.
    pub(super) fn or_known<'a>(
        mut self,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> ConfigError {
        let known: Vec<&str> = known.into_iter().collect();
        self.hint = Some(match super::names::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("known names: {}", known.join(", ")),
        });
        self
    }
}
