//! The table of docs/git.md names tests that exist, for every point.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => sources(&path, found),
            path if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn every_convention_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("crates"), &mut files);
    sources(&root.join("tests"), &mut files);
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let table = std::fs::read_to_string(root.join("docs/git.md")).unwrap();
    let mut points = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let Ok(point) = cells[0].parse::<usize>() else { continue };
        points.push(point);
        let holders = cells[2];
        let names: Vec<&str> = holders.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty() || holders.starts_with("open: "), "{row}");
        for name in names {
            let test = format!("#[test]\nfn {name}()");
            let inner = format!("#[test]\n    fn {name}()");
            let is_there = |text: &String| {
                text.contains(&test) || text.contains(&inner) || text.contains(&format!("        fn {name}("))
            };
            assert!(texts.iter().any(is_there), "point {point}: there is no test '{name}'");
        }
    }
    assert_eq!(points, (1..=63).collect::<Vec<_>>());
}
