//! Prints what the front end guesses of a file that misses headers, and which errors are left:
//! `cargo run -p invdiff-c --example guesses -- FOLDER FILE`.

use invdiff_c::c;
use invdiff_git::history::MemoryTree;
use std::path::{Path, PathBuf};

fn files(folder: &Path, below: &Path, out: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder.join(below)).into_iter().flatten().flatten() {
        let path = below.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => files(folder, &path, out),
            Ok(kind) if kind.is_file() => {
                out.extend(std::fs::read(entry.path()).map(|bytes| (path, bytes)));
            }
            _ => {}
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, file] = words.as_slice() else { return println!("usage: guesses FOLDER FILE") };
    let mut all = Vec::new();
    files(Path::new(folder), Path::new(""), &mut all);
    let tree = MemoryTree::new(all);
    let parsed = match c::parse::parse(&tree, Path::new(file), &c::Options::default()) {
        Ok(parsed) => parsed,
        Err(why) => return println!("{file}: {why:?}"),
    };
    println!("{}", parsed.prelude);
    println!("lost: {:?}", parsed.lost);
    for one in parsed.diagnostics.iter().filter(|d| d.severity.is_fatal()) {
        let at = parsed.place(one.span).map(|p| format!("{}:{}", p.file.display(), p.line));
        println!("{}: {}", at.unwrap_or_default(), one.message);
    }
}
