//! The gate on one changed function: how long `git invdiff check --staged` takes in a clone of zlib,
//! from cold and again.
//!
//! `cargo bench --bench precommit [-- <function>...]` clones the history `zlib` of the folder that
//! `INVDIFF_HISTORIES` names into a temporary folder, stages one edit after another, and runs the
//! built program on each twice: with an empty cache, and with what the first run left there. Counts
//! are exact; times are of this machine as it is.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Targets.
const COLD: Duration = Duration::from_secs(3);
const WARM: Duration = Duration::from_secs(1);

/// One change of one function.
struct Edit {
    file: &'static str,
    function: &'static str,
    /// The first place with this text is changed.
    old: &'static str,
    new: &'static str,
}

const fn edit(file: &'static str, function: &'static str, old: &'static str, new: &'static str) -> Edit {
    Edit { file, function, old, new }
}

const EDITS: [Edit; 12] = [
    edit("adler32.c", "adler32_combine_", "if (len2 < 0)", "if (len2 <= -1)"),
    edit("adler32.c", "adler32_z", "if (len < 16) {", "if (len < 8) {"),
    edit("inflate.c", "inflateStateCheck", "state->mode > SYNC", "state->mode >= SYNC"),
    edit("inflate.c", "inflatePrime", "if (bits > 16 ||", "if (bits > 15 ||"),
    edit("inflate.c", "updatewindow", "if (copy >= state->wsize)", "if (copy > state->wsize)"),
    edit("inflate.c", "inflate", "if (len > 15 || len > state->wbits)", "if (len > state->wbits)"),
    edit("deflate.c", "deflateInit2_", "if (windowBits == 8) windowBits = 9;", ""),
    edit("gzlib.c", "gzbuffer", "size = 8;", "size = 2;"),
    edit("gzwrite.c", "gz_comp", "if (writ < 0) {", "if (writ <= 0) {"),
    edit("trees.c", "bi_windup", "if (s->bi_valid > 8) {", "if (s->bi_valid >= 9) {"),
    edit("trees.c", "gen_codes", "(code + bl_count[bits - 1]) << 1;", "(code + bl_count[bits - 1]) * 2;"),
    edit("compress.c", "compress2", "*destLen = stream", "if (err == Z_STREAM_END) *destLen = stream"),
];

fn main() {
    let Some(folder) = std::env::var_os("INVDIFF_HISTORIES") else {
        println!("skipped: INVDIFF_HISTORIES not set");
        return;
    };
    let history = Path::new(&folder).join("zlib");
    if !history.is_dir() {
        println!("skipped: {} is absent", history.display());
        return;
    }
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let clone = temporary.path().join("zlib");
    let status = Command::new("git").args(["clone", "-q"]).arg(&history).arg(&clone).status();
    assert!(status.is_ok_and(|s| s.success()), "git clone");
    // cargo adds options of its own, such as --bench.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    println!("{:<18} {:>7} {:>7}  queries  nodes  what is said", "function", "cold", "warm");
    let (mut slow, mut count) = (0, 0);
    for edit in EDITS.iter().filter(|e| words.is_empty() || words.iter().any(|w| w == e.function)) {
        count += 1;
        slow += usize::from(!measure(&clone, edit));
    }
    println!("{count} edits, {slow} above {} s cold or {} s warm", COLD.as_secs(), WARM.as_secs());
}

/// Measures one edit; returns whether it kept to the targets.
fn measure(clone: &Path, edit: &Edit) -> bool {
    git(clone, &["reset", "-q", "--hard"]);
    let path = clone.join(edit.file);
    let text = std::fs::read_to_string(&path).expect("a source of zlib");
    if !text.contains(edit.old) {
        println!("{:<18} this zlib has no such line", edit.function);
        return true;
    }
    std::fs::write(&path, text.replacen(edit.old, edit.new, 1)).expect("a file that can be written");
    git(clone, &["add", "-u"]);
    run(clone, &["cache", "clear"]);
    let (cold, report) = run(clone, &["check", "--staged", "--json"]);
    let (warm, again) = run(clone, &["check", "--staged", "--json"]);
    assert_eq!(report["assertions"], again["assertions"], "the cache changes nothing");
    let count = |name: &str| report["cost"][name].as_u64().unwrap_or(0);
    let said = report["assertions"].as_array().map_or(0, Vec::len);
    println!(
        "{:<18} {:>5.2} s {:>5.2} s  {:>7}  {:>5}  {said} properties",
        edit.function,
        cold.as_secs_f64(),
        warm.as_secs_f64(),
        count("solver_queries"),
        count("nodes_visited"),
    );
    cold <= COLD && warm <= WARM
}

fn git(clone: &Path, words: &[&str]) {
    let status = Command::new("git").arg("-C").arg(clone).args(words).status();
    assert!(status.is_ok_and(|s| s.success()), "git {words:?}");
}

/// Runs the built program; what it prints is JSON, or nothing.
fn run(clone: &Path, words: &[&str]) -> (Duration, Value) {
    let begin = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_git-invdiff")).arg("-C").arg(clone).args(words).output();
    let output = output.expect("the program runs");
    (begin.elapsed(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}
