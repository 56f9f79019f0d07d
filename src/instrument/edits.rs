//! Insertions into a text.

use std::ops::Range;

/// Replacements of ranges of a text, which do not overlap.
#[derive(Debug, Default)]
pub struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Puts text at an offset, behind what was put there before.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.list.push((at..at, text.into()));
    }

    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.list.push((range, text.into()));
    }

    /// Returns the text with all edits done. Edits outside the text are not.
    pub fn apply(mut self, text: &[u8]) -> Vec<u8> {
        // What is put before a replaced range comes first.
        self.list.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for (range, new) in &self.list {
            let Some(kept) = text.get(at..range.start) else { continue };
            out.extend_from_slice(kept);
            out.extend_from_slice(new.as_bytes());
            at = range.end;
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_done_in_order_of_place() {
        let mut edits = Edits::default();
        edits.insert(3, "c");
        edits.insert(0, "a");
        edits.insert(3, "d");
        edits.replace(1..2, "b");
        edits.insert(1, "(");
        edits.insert(2, ")");
        assert_eq!(edits.apply(b"-x-"), b"a-(b)-cd");
    }
}
