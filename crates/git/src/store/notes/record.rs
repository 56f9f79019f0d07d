//! One line of a note: a self-contained record about one commit.
//!
//! A *record* is a JSON object in one line (hence also a YAML flow document). Git's own note merges
//! concatenate notes, sort their lines and drop duplicates; so a line says by itself what it is about,
//! and a reader takes lines in any order. A *foreign* line is one that this version cannot read: another
//! schema, another tool, damage. It is carried along untouched whenever a note is rewritten.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The schema that this version writes and reads.
pub const SCHEMA: &str = "invdiff/1";

/// What is known about a commit against its first parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub schema: String,
    /// The short summary a person reads; early in the line, because `git log` shows notes as they are.
    pub text: String,
    /// The commit, 40 or 64 hexadecimal digits.
    pub commit: String,
    /// The first parent; `None` for a root commit.
    pub parent: Option<String>,
    /// The tree of the commit, which says whether the record still speaks of it.
    pub tree: String,
    /// The tree of the first parent; `None` for a root commit.
    pub parent_tree: Option<String>,
    /// The functions of the report (contract section 3), opaque here.
    #[serde(default)]
    pub functions: Value,
    /// What was left out because of the size limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// Members that a later version added; they survive a rewrite.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Record {
    /// Returns the record's line, without the line end.
    pub fn line(&self) -> String {
        // A struct of strings and JSON values always serialises; an empty object would be read as foreign.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_string())
    }

    /// Tells whether the record speaks of this commit with these trees.
    pub fn is_about(&self, ends: &Ends) -> bool {
        self.commit == ends.commit && self.same_trees(ends)
    }

    /// Tells whether the record compares the same two trees, whatever the commits are called.
    pub fn same_trees(&self, ends: &Ends) -> bool {
        self.tree == ends.tree && self.parent_tree == ends.parent_tree
    }

    /// Returns the record under the names of another commit with the same trees.
    pub fn renamed(&self, ends: &Ends) -> Record {
        Record { commit: ends.commit.clone(), parent: ends.parent.clone(), ..self.clone() }
    }
}

/// A commit, its first parent and the trees of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    pub commit: String,
    pub parent: Option<String>,
    pub tree: String,
    pub parent_tree: Option<String>,
}

/// A note taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    pub records: Vec<Record>,
    /// Lines that could not be read as records of [`SCHEMA`].
    pub foreign: Vec<Vec<u8>>,
}

impl Note {
    /// Reads a note: concatenated, reordered and repeated records, blank lines, carriage returns.
    /// Never fails; what it cannot read is foreign.
    pub fn parse(payload: &[u8]) -> Note {
        let mut note = Note::default();
        let mut seen = BTreeSet::new();
        for line in payload.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
            if line.is_empty() || !seen.insert(line) {
                continue;
            }
            match read(line) {
                Some(record) => note.records.push(record),
                None => note.foreign.push(line.to_vec()),
            }
        }
        note
    }

    /// Returns the bytes of the note: one record a line, a line end after each, foreign lines last.
    pub fn payload(&self) -> Vec<u8> {
        let records = self.records.iter().map(|record| record.line().into_bytes());
        let mut bytes = Vec::new();
        for line in records.chain(self.foreign.iter().cloned()) {
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        bytes
    }

    /// Puts `record` in the place of all records that this version wrote before.
    pub fn replace(&mut self, record: Record) {
        self.records = vec![record];
    }
}

fn read(line: &[u8]) -> Option<Record> {
    let record: Record = serde_json::from_slice(line).ok()?;
    let ids = [Some(&record.commit), record.parent.as_ref(), Some(&record.tree), record.parent_tree.as_ref()];
    let known = record.schema == SCHEMA && ids.into_iter().flatten().all(|id| is_id(id));
    known.then_some(record)
}

/// Tells whether `text` is a full object id, SHA-1 or SHA-256.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(digit: char, text: &str) -> Record {
        let id = |c: char| c.to_string().repeat(40);
        Record {
            schema: SCHEMA.into(),
            commit: id(digit),
            parent: None,
            tree: id('e'),
            parent_tree: None,
            text: text.into(),
            functions: Value::Array(vec![]),
            omitted: vec![],
            rest: Map::new(),
        }
    }

    /// `a`, `b` and `f` stand for two records and a foreign line.
    fn check(lines: &str, records: &str, foreign: usize) {
        let text = |c: char| match c {
            'a' => record('a', "one\ttwo").line(),
            'b' => record('b', "b").line(),
            'f' => "{\"schema\":\"other/7\",\"x\":[1]}".to_string(),
            'x' => "\u{0}not json".to_string(),
            other => other.to_string(),
        };
        let payload: String = lines.chars().map(text).collect();
        let note = Note::parse(payload.as_bytes());
        let found: String = note.records.iter().filter_map(|r| r.commit.chars().next()).collect();
        assert_eq!((found.as_str(), note.foreign.len()), (records, foreign), "{lines:?}");
        assert_eq!(Note::parse(&note.payload()), note, "a written note reads the same: {lines:?}");
    }

    #[test]
    fn reads_what_note_merges_leave() {
        check("", "", 0);
        check("a\n", "a", 0);
        check("a", "a", 0);
        check("a\n\nb\n", "ab", 0);
        check("b\r\na\r\n", "ba", 0);
        check("a\na\nb\na\n", "ab", 0);
        check("f\na\n", "a", 1);
        check("x\nf\n\n\n", "", 2);
    }

    #[test]
    fn damaged_ids_are_foreign() {
        let good = record('a', "t").line();
        for bad in [
            good.replace("aaaa", "zzzz"),
            good.replace("invdiff/1", "invdiff/2"),
            good.replace('{', "["),
            good.replace("\"parent\":null", "\"parent\":\"\\u001b[31m\""),
            good.replace("\"parent_tree\":null", "\"parent_tree\":\"\""),
        ] {
            assert_eq!(Note::parse(bad.as_bytes()).records, []);
        }
    }

    #[test]
    fn numbers_come_back_as_they_were() {
        let line = record('a', "t").line().replace("[]", "[118446744073709551616, 0.99]");
        let note = Note::parse(line.as_bytes());
        assert_eq!(Note::parse(&note.payload()), note, "{line}");
    }

    #[test]
    fn members_of_later_versions_survive() {
        let line = record('a', "t").line().replace("\"text\"", "\"later\":{\"k\":1},\"text\"");
        let note = Note::parse(line.as_bytes());
        assert!(String::from_utf8_lossy(&note.payload()).contains("\"later\":{\"k\":1}"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_and_kept(payload in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
            let note = Note::parse(&payload);
            proptest::prop_assert_eq!(Note::parse(&note.payload()), note);
        }
    }
}
