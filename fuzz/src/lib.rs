//! What is asked of every reader of foreign bytes: that it does not panic, and a property of what it read.
//!
//! One function a reader, all of the same form. `cargo fuzz` calls them from `fuzz_targets/`; `cargo test` calls
//! them on the corpora and on mutations of them (`tests/engine/fuzz.rs` includes this folder by path).
//! A property that does not hold is a panic, which is what both of them look for.

mod envelopes;
mod facts;
mod formats;
mod git;
mod policy;
mod records;
mod source;
mod traces;

pub use envelopes::envelopes;
pub use facts::facts;
pub use formats::formats;
pub use git::{messages, names, objects, pathspecs};
pub use policy::{git_config, policy};
pub use records::notes;
pub use source::{c_source, source_text};
pub use traces::traces;

/// A body.
pub type Target = fn(&[u8]);

/// All of them, by the names of their corpora.
pub const TARGETS: [(&str, Target); 13] = [
    ("c_source", c_source),
    ("envelopes", envelopes),
    ("facts", facts),
    ("formats", formats),
    ("git_config", git_config),
    ("messages", messages),
    ("names", names),
    ("notes", notes),
    ("objects", objects),
    ("pathspecs", pathspecs),
    ("policy", policy),
    ("source_text", source_text),
    ("traces", traces),
];

/// Fails if a terminal would act on some character of a text; line ends are allowed where it has lines.
fn assert_plain(text: &str, has_lines: bool) {
    let acts = |c: char| c.is_control() && !(has_lines && c == '\n');
    assert!(!text.contains(acts), "control characters in {text:?}");
}

/// Splits at the first line end.
fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|b| *b == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, b""),
    }
}
