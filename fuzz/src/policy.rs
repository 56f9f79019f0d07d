//! `.invdiff.yaml` and what `git config --list` prints.

use git_invdiff::config::{
    ConfigFile, FILE_NAME, GitConfig, Listing, Overrides, Settings, Suppression, edit, join_policies,
};

/// A policy compared with itself has not changed, and an edit of the file adds its entry and nothing else.
pub fn policy(bytes: &[u8]) {
    let file = match ConfigFile::parse(FILE_NAME, bytes) {
        Ok(file) => file,
        Err(error) => {
            assert!(error.origin.starts_with(FILE_NAME) && !error.message.is_empty(), "{error:?}");
            return;
        }
    };
    let joined = join_policies(&file, &file);
    assert_eq!(joined.changes, Vec::<String>::new());
    assert_eq!((&joined.file.pinned, &joined.file.suppress), (&file.pinned, &file.suppress));
    let _ = Settings::join(&file, &GitConfig::default(), |_| None, &Overrides::default());

    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let reason = "a \"quoted\" reason: # with \\ and\nlines".to_owned();
    let known = Suppression { id: "0123456789abcdef".to_owned(), reason, until: None };
    if let Ok(edited) = edit::suppress(text, &known) {
        let mut expected = file;
        expected.suppress.push(known);
        let found = ConfigFile::parse(FILE_NAME, edited.as_bytes()).expect("an edited file is read");
        assert_eq!(found, expected);
        let kept = edited.lines().filter(|line| text.lines().any(|l| l == *line)).count();
        assert!(kept + 1 >= text.lines().count(), "lines were lost: {edited:?}");
    }
}

/// Settings that are read name where they come from when they are wrong.
pub fn git_config(bytes: &[u8]) {
    let config = match GitConfig::of(&Listing::new(bytes.to_vec())) {
        Ok(config) => config,
        Err(error) => {
            assert!(!error.message.is_empty() && error.hint.is_some(), "{error:?}");
            return;
        }
    };
    let keys: Vec<&str> = config.keys().collect();
    assert!(keys.is_sorted(), "{keys:?}");
    let join = || Settings::join(&ConfigFile::default(), &config, |_| None, &Overrides::default());
    assert_eq!(format!("{:?}", join()), format!("{:?}", join()));
    let _ = config.renames();
}
