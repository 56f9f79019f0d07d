//! Copies as a patch, in the format of `git diff`.

use super::copies::CopiedFile;
use crate::mvicfg::alignment::{Algorithm, DiffOp, DiffTag, aligned, group_diff_ops};
use crate::report::escape;
use std::ops::Range;

/// Lines around a change.
const CONTEXT: usize = 3;

/// Returns the copies as a patch that `git apply` takes on the version that was copied.
pub fn patch(files: &[CopiedFile]) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files.iter().filter(|f| f.copy.text != *f.original) {
        let name = |side: &str| escape::c_quoted(&[side.as_bytes(), file.path.as_bytes()].concat());
        let (old, new) = (name("a/"), name("b/"));
        out.extend_from_slice(format!("diff --git {old} {new}\n--- {old}\n+++ {new}\n").as_bytes());
        hunks(&file.original, &file.copy.text, &mut out);
    }
    out
}

/// Lines end at a line feed and nowhere else, as git sees them.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|b| *b == b'\n').collect()
}

fn hunks(old: &[u8], new: &[u8], out: &mut Vec<u8>) {
    let (old, new) = (lines(old), lines(new));
    let ops = aligned(Algorithm::Myers, &old, &new);
    for group in group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = first.old_range().start..last.old_range().end;
        let after = first.new_range().start..last.new_range().end;
        out.extend_from_slice(format!("@@ -{} +{} @@\n", place(&before), place(&after)).as_bytes());
        group.iter().for_each(|op| change(op, &old, &new, out));
    }
}

/// An empty side is named by the line before it.
fn place(range: &Range<usize>) -> String {
    format!("{},{}", range.start + usize::from(!range.is_empty()), range.len())
}

fn change(op: &DiffOp, old: &[&[u8]], new: &[&[u8]], out: &mut Vec<u8>) {
    let mut write = |sign: u8, lines: Option<&[&[u8]]>| {
        for line in lines.unwrap_or_default() {
            out.push(sign);
            out.extend_from_slice(line);
            if line.last() != Some(&b'\n') {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    };
    if op.tag() == DiffTag::Equal {
        return write(b' ', old.get(op.old_range()));
    }
    write(b'-', old.get(op.old_range()));
    write(b'+', new.get(op.new_range()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::Asserted;

    #[test]
    fn patches_are_in_gits_format() {
        let copy = Asserted { text: b"a\r\nnew\nb".to_vec(), ..Asserted::default() };
        let file = CopiedFile { path: "x y.c".into(), original: b"a\r\nb".to_vec().into(), copy };
        let expected = "diff --git a/x y.c b/x y.c\n--- a/x y.c\n+++ b/x y.c\n@@ -1,2 +1,3 @@\n a\r\n+new\n b\n\
            \\ No newline at end of file\n";
        assert_eq!(String::from_utf8(patch(&[file])).unwrap(), expected);
    }
}
