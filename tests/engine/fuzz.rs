//! The bodies of the fuzz targets (`fuzz/src`) on their corpora and on mutations of them, the same at every run.
//! `cargo fuzz` looks further; this holds what it found, and that the targets are all there.

#[path = "../../fuzz/src/lib.rs"]
mod bodies;

use super::support::{Random, tier};
use bodies::{TARGETS, Target};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Pieces that mean something to some reader.
const WORDS: [&[u8]; 40] = [
    b"\n",
    b"\r\n",
    b"\0",
    b"\x1b[31m",
    b"\xff\xfe",
    b" ",
    b"\t",
    b":",
    b"#",
    b"(",
    b")",
    b"{",
    b"}",
    b"[",
    b"]",
    b"*",
    b"\\",
    b"\"",
    b"'",
    b",",
    b";",
    b"0",
    b"-1",
    b"4294967296",
    b"18446744073709551616",
    b"1e999",
    b"0x",
    b"%",
    b".",
    b"/",
    b"..",
    b"<<",
    b"\xe2\x80\xae",
    b"/*@ ",
    b"*/",
    b"return ",
    b"\\old(",
    b"Key: v\n",
    b"- ",
    b"==",
];

/// The texts of a target's corpus, by name.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = folder.read_dir().unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    files.into_iter().map(|file| (file.clone(), std::fs::read(&file).expect("a file"))).collect()
}

/// Changes a text in one to four places.
fn mutated(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() as u64 + 1) as usize;
        let length = (random.below(12) as usize).min(bytes.len() - at);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..at + length)),
            2 => drop(bytes.splice(at..at, random.pick(&WORDS).iter().copied())),
            3 => {
                let copy = bytes[at..at + length].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            4 => bytes.truncate(at),
            _ => {
                let from = random.below(other.len() as u64 + 1) as usize;
                drop(bytes.splice(at.., other[from..].iter().copied()));
            }
        }
    }
    bytes
}

#[track_caller]
fn run(name: &str, target: Target, bytes: &[u8]) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| target(bytes))) {
        println!("{name} fails on b\"{}\"", bytes.escape_ascii());
        std::panic::resume_unwind(payload);
    }
}

/// How many mutations of each text; the front end takes a thousand times as long as the others.
fn check(name: &str, few: usize, many: usize) {
    let (_, target) = TARGETS.into_iter().find(|(other, _)| *other == name).expect("a target");
    let texts = corpus(name);
    let mut random = Random(1);
    for (_, seed) in &texts {
        run(name, target, seed);
        for _ in 0..tier::rounds("INVDIFF_FUZZ", few, many) {
            let (_, other) = &texts[random.below(texts.len() as u64) as usize];
            run(name, target, &mutated(seed, other, &mut random));
        }
    }
}

#[test]
fn readers_of_bytes_keep_their_promises() {
    for (name, _) in TARGETS.into_iter().filter(|(name, _)| *name != "c_source") {
        check(name, 60, 5_000);
    }
}

#[test]
fn any_text_is_read_as_c() {
    check("c_source", 4, 500);
}

#[test]
fn every_target_is_one_that_cargo_fuzz_knows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    for (name, _) in TARGETS {
        let file = format!("fuzz_targets/{name}.rs");
        let text = std::fs::read_to_string(folder.join(&file)).expect(name);
        assert!(text.contains(&format!("invdiff_fuzz::{name}(bytes)")), "{file}");
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"{file}\"")), "{file} is no target");
        corpus(name);
    }
    let count = |folder: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder).read_dir().expect(folder).count()
    };
    assert_eq!((count("fuzz_targets"), count("corpus")), (TARGETS.len(), TARGETS.len()));
}
