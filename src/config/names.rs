//! The known name that an unknown one was probably meant to be.

/// Returns the nearest of `known`, if it is near enough to be a slip of the keys.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_ascii_lowercase();
    let distance = |k: &str| strsim::damerau_levenshtein(&lower, &k.to_ascii_lowercase());
    let best = known.into_iter().map(|k| (distance(k), k)).min()?;
    let allowed = (name.len() / 3).max(1);
    (best.0 <= allowed).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_slips_are_corrected() {
        let known = ["rlimit", "unroll", "inline_depth", "block"];
        assert_eq!(nearest("rlimt", known), Some("rlimit"));
        assert_eq!(nearest("inlineDepth", known), Some("inline_depth"));
        assert_eq!(nearest("UNROLL", known), Some("unroll"));
        assert_eq!(nearest("timeout", known), None);
    }
}
