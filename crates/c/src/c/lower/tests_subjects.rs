//! What lowering makes of whole files is well-formed IR.

use crate as frontend;
use crate::history::MemoryTree;
use crate::ir::verify;
use std::path::{Path, PathBuf};

/// Loads every C file of the tree at `root` (headers of the tree included) and returns the number
/// of functions and what is wrong with them.
fn complaints(root: &Path) -> (usize, Vec<String>) {
    let mut files = Vec::new();
    collect(root, &mut files);
    files.sort();
    let texts: Vec<(String, Vec<u8>)> = files
        .iter()
        .filter_map(|p| {
            Some((p.strip_prefix(root).ok()?.to_string_lossy().into_owned(), std::fs::read(p).ok()?))
        })
        .collect();
    let tree = MemoryTree::new(texts.iter().map(|(p, t)| (p.as_str(), t.as_slice())).collect::<Vec<_>>());
    let (mut functions, mut said) = (0, Vec::new());
    for (path, _) in texts.iter().filter(|(p, _)| p.ends_with(".c")) {
        let Ok(loaded) = frontend::load_unit(&tree, Path::new(path), &Default::default()) else { continue };
        functions += loaded.unit.functions.len();
        for f in &loaded.unit.functions {
            let all = verify(f, loaded.unit.data_model.pointer_bits());
            said.extend(all.into_iter().map(|line| format!("{path}: {line}")));
        }
    }
    (functions, said)
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.extension().and_then(|e| e.to_str()) {
            Some("c" | "h") => out.push(path),
            _ if path.is_dir() && path.file_name().is_some_and(|n| n != ".git") => collect(&path, out),
            _ => {}
        }
    }
}

fn check(root: &Path) {
    let (functions, said) = complaints(root);
    println!("{}: {functions} functions, {} complaints", root.display(), said.len());
    assert!(said.is_empty(), "{} complaints\n{}", said.len(), said[..said.len().min(20)].join("\n"));
}

#[test]
fn fixtures_are_well_formed() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"));
}

#[test]
fn subjects_are_well_formed() {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("INVDIFF_SHARED").map_or_else(default, PathBuf::from);
    let subjects = shared.join("subjects");
    if !subjects.is_dir() {
        crate::testing::tier::skipped("shared", "shared data absent");
        return;
    }
    for set in ["itsp", "seed", "svcomp"] {
        check(&subjects.join(set));
    }
}

/// Takes the checked-out files of every history under `INVDIFF_HISTORIES`.
#[test]
fn real_programs_are_well_formed() {
    let Some(folder) = std::env::var_os("INVDIFF_HISTORIES") else {
        crate::testing::tier::skipped("histories", "INVDIFF_HISTORIES not set");
        return;
    };
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        check(&entry.path());
    }
}
