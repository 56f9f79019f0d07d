//! Names of C as arguments have them.

/// Whether a word is a C identifier.
pub fn is_name(word: &str) -> bool {
    let part = |c: char| c == '_' || c.is_alphanumeric();
    word.chars().all(part) && word.chars().next().is_some_and(|c| !c.is_numeric())
}
