//! What the documents name is there: files and folders of the repository, and how long the first pages may be.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// All documents, by their paths.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].iter().map(|name| root().join(name)).collect();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the documents are there").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|e| e == "md") => found.push(path),
                false => {}
            }
        }
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a document is a text");
        (path, text)
    };
    found.into_iter().map(read).collect()
}

/// Paths from the root in backquotes, and links to files, from the document's folder.
fn named(text: &str, folder: &Path) -> Vec<PathBuf> {
    const FOLDERS: [&str; 9] =
        ["crates/", "src/", "tests/", "docs/", "fuzz/", "packaging/", "hooks/", "fixtures/", "benches/"];
    let is_path = |word: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        FOLDERS.iter().any(|f| word.starts_with(f)) && word.chars().all(plain)
    };
    let quoted = text.split('`').skip(1).step_by(2).filter(|w| is_path(w)).map(|w| root().join(w));
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    let local = links.filter(|l| !l.contains("://") && !l.starts_with('#') && !l.contains(' '));
    let linked = local.map(|l| folder.join(l.split('#').next().unwrap_or(l)));
    quoted.chain(linked).collect()
}

#[test]
fn what_documents_name_is_there() {
    let mut missing = Vec::new();
    let mut count = 0;
    for (document, text) in documents() {
        let folder = document.parent().expect("a document is in a folder");
        for path in named(&text, folder) {
            count += 1;
            if !path.exists() {
                missing.push(format!("{}: {}", document.display(), path.display()));
            }
        }
    }
    assert!(count > 200, "only {count} paths were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn first_pages_are_short() {
    let text = |name: &str| std::fs::read_to_string(root().join(name)).expect("it is there");
    assert!(text("README.md").lines().count() <= 120);
    assert!(text("ARCHITECTURE.md").split_whitespace().count() <= 1500);
}

/// Every crate of the manifest has its line in the architecture.
#[test]
fn every_dependency_has_its_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("it is there");
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let section = manifest.split("[workspace.dependencies]").nth(1).and_then(|s| s.split("\n[").next());
    let names = section.into_iter().flat_map(str::lines).filter_map(|l| l.split_once(" =")).map(|(n, _)| n);
    let is_told = |name: &&str| {
        let family = name.split_once('-').map_or(*name, |(first, _)| first);
        architecture.contains(*name)
            || architecture.contains(&format!("{family}-*"))
            || name.starts_with("invdiff-")
    };
    let missing: Vec<&str> = names.filter(|n| !is_told(n)).collect();
    assert!(missing.is_empty(), "no reason is given for {missing:?}");
}
