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
    pub fn apply(self, text: &[u8]) -> Vec<u8> {
        self.done(text, false)
    }

    /// As [`Edits::apply`]; `__LINE__` is what it was wherever text stays, and that of the place in what is put
    /// there.
    pub fn apply_on_lines(self, text: &[u8]) -> Vec<u8> {
        self.done(text, true)
    }

    fn done(mut self, text: &[u8], keeps_lines: bool) -> Vec<u8> {
        // What is put before a replaced range comes first.
        self.list.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = Vec::with_capacity(text.len());
        let (mut at, mut line) = (0, 1);
        for (range, new) in &self.list {
            let Some(kept) = text.get(at..range.start) else { continue };
            out.extend_from_slice(kept);
            line += lines(kept);
            let end = line + lines(text.get(range.clone()).unwrap_or_default());
            match keeps_lines {
                true => put_on_lines(&mut out, new, line, end),
                false => out.extend_from_slice(new.as_bytes()),
            }
            (at, line) = (range.end, end);
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        out
    }
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// Puts text whose lines all count as one, before what begins in another.
fn put_on_lines(out: &mut Vec<u8>, new: &str, line: usize, next: usize) {
    let mut pieces = new.split_inclusive('\n').peekable();
    while let Some(piece) = pieces.next() {
        out.extend_from_slice(piece.as_bytes());
        if piece.ends_with('\n') {
            let line = if pieces.peek().is_some() { line } else { next };
            out.extend_from_slice(format!("#line {line}\n").as_bytes());
        }
    }
    if !new.ends_with('\n') && next != line {
        out.extend_from_slice(format!("\n#line {next}\n").as_bytes());
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

    #[test]
    fn lines_stay_what_they_were() {
        let mut edits = Edits::default();
        edits.insert(0, "new\n");
        edits.insert(2, "x\ny");
        edits.replace(4..7, "one");
        let text = String::from_utf8(edits.apply_on_lines(b"a\nb\nc\nd e")).expect("it is text");
        assert_eq!(text, "new\n#line 1\na\nx\n#line 2\nyb\none\n#line 4\n e");
    }
}
