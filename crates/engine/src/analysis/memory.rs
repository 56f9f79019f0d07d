//! Requests over sources in memory, without a repository: for tests and for embedding.

use super::request::{FileChange, Hunk};
use super::request::{Options, Request, VersionInput};
use crate::frontend::c;
use crate::history::{MemoryTree, SourceTree};
use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};
use crate::report::VersionInfo;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns a request over versions that are given as files, oldest first.
pub fn request(versions: &[Vec<(&str, &str)>], options: c::Options, analysis: Options) -> Request {
    let trees: Vec<Arc<dyn SourceTree>> = versions
        .iter()
        .map(|files| Arc::new(MemoryTree::new(files.iter().copied())) as Arc<dyn SourceTree>)
        .collect();
    let inputs = trees.iter().enumerate().map(|(i, tree)| VersionInput {
        info: VersionInfo { index: i as u32 + 1, name: format!("v{}", i + 1), ..VersionInfo::default() },
        tree: tree.clone(),
    });
    let changes = trees.windows(2).map(|w| changes(&*w[0], &*w[1])).collect();
    Request { versions: inputs.collect(), changes, options, analysis }
}

/// Compares two trees file by file; no renames. Files of equal identity are not read.
pub fn changes(old: &dyn SourceTree, new: &dyn SourceTree) -> Vec<FileChange> {
    let paths: BTreeSet<_> = old.paths().iter().chain(new.paths().iter()).cloned().collect();
    let mut changes = Vec::new();
    for path in paths {
        if old.content_id(&path) == new.content_id(&path) {
            continue;
        }
        let (a, b) = (old.read(&path), new.read(&path));
        if a == b {
            continue;
        }
        let text =
            |x: &Option<Arc<[u8]>>| String::from_utf8_lossy(x.as_deref().unwrap_or_default()).into_owned();
        changes.push(FileChange {
            old_path: a.is_some().then(|| path.clone()),
            new_path: b.is_some().then(|| path.clone()),
            hunks: hunks(&text(&a), &text(&b)),
            opaque: None,
        });
    }
    changes
}

/// Returns the changed lines of two texts, in the numbers of `git diff -U0`.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut hunks = Vec::new();
    for op in aligned(Algorithm::Myers, &a, &b) {
        let (o, n) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        // git numbers an empty side by the line before it.
        let start = |r: &std::ops::Range<usize>| r.start as u32 + u32::from(!r.is_empty());
        hunks.push(Hunk {
            old_start: start(&o),
            old_lines: o.len() as u32,
            new_start: start(&n),
            new_lines: n.len() as u32,
        });
    }
    hunks
}
