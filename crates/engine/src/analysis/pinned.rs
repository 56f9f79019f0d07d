//! A tree in which macros are what was asked for, whatever its headers make of them.
//!
//! A branch of `#if FEATURE` is asked for by defining `FEATURE`, and a header may say `#define FEATURE 0` all the same,
//! for want of another macro that a build would give. Here lines that define or undefine what was asked for are left
//! out, but for those of the files that are looked at, whose text is what the question is about.

use crate::history::SourceTree;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct Pinned {
    tree: Arc<dyn SourceTree>,
    /// The files that stay as they are.
    files: BTreeSet<PathBuf>,
    macros: BTreeSet<String>,
}

impl Pinned {
    pub fn new(tree: Arc<dyn SourceTree>, files: BTreeSet<PathBuf>, macros: BTreeSet<String>) -> Pinned {
        Pinned { tree, files, macros }
    }

    /// The bytes without those lines, each of which leaves an empty one; `None` where there are none.
    fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out: Option<Vec<u8>> = None;
        let mut at = 0;
        // A definition goes on over lines that end so.
        let mut goes_on = false;
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let is_left_out = goes_on || self.is_asked_for(line);
            goes_on = is_left_out && line.trim_ascii_end().ends_with(b"\\");
            if is_left_out && out.is_none() {
                out = Some(bytes[..at].to_vec());
            }
            if let Some(out) = &mut out {
                out.extend_from_slice(match is_left_out {
                    true => &line[line.len() - usize::from(line.ends_with(b"\n"))..],
                    false => line,
                });
            }
            at += line.len();
        }
        out
    }

    /// Whether a line defines one of the macros, or makes one undefined.
    fn is_asked_for(&self, line: &[u8]) -> bool {
        let Some(directive) = line.trim_ascii_start().strip_prefix(b"#") else { return false };
        let directive = directive.trim_ascii_start();
        let rest = directive.strip_prefix(b"define").or_else(|| directive.strip_prefix(b"undef"));
        let Some(rest) = rest.filter(|r| r.first().is_some_and(u8::is_ascii_whitespace)) else {
            return false;
        };
        let rest = rest.trim_ascii_start();
        let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(rest.len());
        std::str::from_utf8(&rest[..end]).is_ok_and(|name| self.macros.contains(name))
    }
}

impl SourceTree for Pinned {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        let bytes = self.tree.read(path)?;
        let without = if self.files.contains(path) { None } else { self.without(&bytes) };
        Some(without.map_or(bytes, Into::into))
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        self.tree.paths()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        let id = self.tree.content_id(path)?;
        let is_other = !self.files.contains(path) && self.without(&self.tree.read(path)?).is_some();
        let names = || self.macros.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        Some(if is_other { format!("{id} without {}", names()) } else { id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn definitions_of_what_is_asked_for_are_left_out() {
        let tree = MemoryTree::new([
            ("a.h", "#if X\n# define A \\\n 0\n#undef A\n#define AB 1\n#endif\n"),
            ("a.c", "#define A 2\n"),
        ]);
        let pinned =
            Pinned::new(Arc::new(tree), BTreeSet::from(["a.c".into()]), BTreeSet::from(["A".to_owned()]));
        let read =
            |path: &str| pinned.read(Path::new(path)).map(|b| String::from_utf8_lossy(&b).into_owned());
        assert_eq!(read("a.h").as_deref(), Some("#if X\n\n\n\n#define AB 1\n#endif\n"));
        assert_eq!(read("a.c").as_deref(), Some("#define A 2\n"));
        assert_ne!(pinned.content_id(Path::new("a.h")), pinned.tree.content_id(Path::new("a.h")));
        assert_eq!(pinned.content_id(Path::new("a.c")), pinned.tree.content_id(Path::new("a.c")));
    }
}
