//! File names that are not UTF-8, as text and back.
//!
//! What reads C names files in UTF-8. In the names that it gets, a byte that is part of no UTF-8 is a
//! character at the end of the last private plane: U+10FF80 for 0x80 to U+10FFFF for 0xFF.

use super::object::{Mode, bytes_of_path, path_of_bytes};
use super::tree::SourceTree;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The character of byte 0.
const FIRST: u32 = 0x0010_FF00;

/// Returns a path that is UTF-8; the path itself if it is.
pub fn utf8_path(path: &Path) -> PathBuf {
    if path.to_str().is_some() {
        return path.to_owned();
    }
    let mut text = String::new();
    for chunk in bytes_of_path(path).utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(FIRST + u32::from(*byte))));
    }
    PathBuf::from(text)
}

/// Returns the bytes of a path, whether it came through [`utf8_path`] or not.
pub fn bytes_of_utf8_path(path: &Path) -> Vec<u8> {
    let Some(text) = path.to_str().filter(|text| text.chars().any(|c| byte_of(c).is_some())) else {
        return bytes_of_path(path);
    };
    let mut bytes = Vec::new();
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn byte_of(c: char) -> Option<u8> {
    u32::from(c).checked_sub(FIRST).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| *byte >= 0x80)
}

/// A tree whose paths are UTF-8.
pub struct Utf8Tree {
    tree: Arc<dyn SourceTree>,
    listing: OnceLock<Arc<[PathBuf]>>,
}

impl Utf8Tree {
    pub fn new(tree: Arc<dyn SourceTree>) -> Utf8Tree {
        Utf8Tree { tree, listing: OnceLock::new() }
    }
}

fn original(path: &Path) -> PathBuf {
    path_of_bytes(&bytes_of_utf8_path(path))
}

impl SourceTree for Utf8Tree {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.tree.read(&original(path))
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        let listing = self.listing.get_or_init(|| {
            let paths = self.tree.paths();
            if paths.iter().all(|path| path.to_str().is_some()) {
                return paths;
            }
            let mut named: Vec<PathBuf> = paths.iter().map(|path| utf8_path(path)).collect();
            named.sort();
            named.into()
        });
        listing.clone()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        self.tree.content_id(&original(path))
    }

    fn modes(&self) -> Vec<(PathBuf, Mode)> {
        self.tree.modes().into_iter().map(|(path, mode)| (utf8_path(&path), mode)).collect()
    }

    fn link(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.tree.link(&original(path))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn every_name_comes_back() {
        for name in [&b"a/b.c"[..], "caf\u{e9}.c".as_bytes(), b"caf\xe9.c", b"\xff\xfe/\xc3.c"] {
            let path = path_of_bytes(name);
            let text = utf8_path(&path);
            assert!(text.to_str().is_some());
            assert_eq!(bytes_of_utf8_path(&text), name);
            assert_eq!(text == path, std::str::from_utf8(name).is_ok());
            let tree = Utf8Tree::new(Arc::new(MemoryTree::new([(&path, "int x;")])));
            assert_eq!(&*tree.paths(), std::slice::from_ref(&text));
            assert!(tree.read(&text).is_some() && tree.content_id(&text).is_some());
        }
    }
}
