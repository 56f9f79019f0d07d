//! What git keeps: commit messages, patterns of paths, names, and the bytes of objects.

use git_invdiff::history::{
    IndexEntry, Kind, Object, ObjectFormat, ObjectSource, Objects, Oid, Pathspec, Result, bytes_of_utf8_path,
    rfc3339, utf8_path,
};
use git_invdiff::report::escape::{c_quoted, c_unquoted, visible};
use git_invdiff::report::filter::{SourceLine, glob_matches};
use git_invdiff::report::palette::Paint;
use git_invdiff::report::trailer::{CHURN, KEPT, KEYS};
use git_invdiff::store::grafts;
use git_invdiff::store::notes::NotesRef;
use git_invdiff::store::trailers::{Style, Trailer};
use std::path::{Component, Path, PathBuf};

/// Trailers that were added are found; adding them twice is adding them once; of a message that had none of
/// ours, taking them out gives the message.
pub fn messages(message: &[u8]) {
    let styles = [
        Style::default(),
        Style { comment: b";".to_vec(), separators: b"=:".to_vec(), known: vec!["fixes".to_owned()] },
        Style { comment: b"//".to_vec(), ..Style::default() },
    ];
    let trailer = |key, value: &str| Trailer { key, value: value.to_owned() };
    let new = [trailer(CHURN, "a.c:f: x\r\nForged: y\u{1b}[31m"), trailer(KEPT, "3")];
    for style in styles {
        let added = style.replace(message, &KEYS, &new);
        assert_eq!(style.replace(&added, &KEYS, &new), added, "added twice");
        if style.is_empty(message) {
            assert_eq!(added, message);
            continue;
        }
        let removed = style.replace(&added, &KEYS, &[]);
        assert_eq!(style.replace(&removed, &KEYS, &[]), removed, "removed twice");
        if style.subject(message).is_some_and(|s| !has_ours(s)) {
            assert_eq!(style.subject(&removed), style.subject(message));
        }
        if !has_ours(message) {
            assert_eq!(style.values(&added, KEPT), ["3"]);
            // Blank lines at the end of the text are not kept.
            let text = |bytes: &[u8]| -> Vec<Vec<u8>> {
                let lines = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end);
                lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
            };
            assert_eq!(text(&removed), text(message), "taken out again");
        }
    }
}

fn has_ours(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).to_ascii_lowercase().contains("invariant-")
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// The first line is a pattern, the others are paths. What is meant by a pattern is not meant by its exclusion;
/// without regard to case no less is meant; a path means itself.
pub fn pathspecs(bytes: &[u8]) {
    let (pattern, rest) = super::first_line(bytes);
    let pattern = String::from_utf8_lossy(pattern);
    let of = |pattern: &str| Pathspec::new([pattern], Path::new("src")).ok();
    let Some(spec) = of(&pattern) else { return };
    let with =
        |magic: &str| if pattern.starts_with(':') { None } else { of(&format!(":({magic}){pattern}")) };
    let (others, literal) = (with("exclude"), with("literal"));
    // All but some letters are fewer without regard to case.
    let wider = with("icase").filter(|_| !pattern.contains('['));
    for line in rest.split(|b| *b == b'\n').take(20) {
        let path = path_of(line);
        let meant = spec.matches(&path);
        assert!(others.as_ref().is_none_or(|o| o.matches(&path) != meant), "exclude {pattern:?} {path:?}");
        assert!(!meant || wider.as_ref().is_none_or(|w| w.matches(&path)), "icase {pattern:?} {path:?}");
        let by_letter = literal.as_ref().is_some_and(|l| l.matches(&path));
        assert!(meant || !by_letter, "literal {pattern:?} {path:?}");
        let named = utf8_path(&path);
        // As git writes paths: without `.`, empty parts and a `/` at the end.
        let written: PathBuf = path.components().filter(|c| matches!(c, Component::Normal(_))).collect();
        let is_plain = !line.is_empty() && written.as_os_str() == path.as_os_str();
        if let (true, Some(text)) = (is_plain, named.to_str()) {
            let own = of(&format!(":(top,literal){text}")).expect("a path is a pattern");
            assert!(own.matches(&path), "{path:?}");
        }
    }
}

/// Names are quoted and read back; references and places are what they look like.
pub fn names(bytes: &[u8]) {
    let quoted = c_quoted(bytes);
    super::assert_plain(&quoted, false);
    assert_eq!(c_unquoted(&quoted).as_deref(), Some(bytes));
    super::assert_plain(&visible(bytes), false);
    let text = String::from_utf8_lossy(bytes);
    // Characters that stand for bytes are what a path that is no text becomes.
    if !text.contains(|c: char| u32::from(c) >= 0x10_ff80) {
        let named = utf8_path(&path_of(bytes));
        assert!(named.to_str().is_some());
        assert_eq!(bytes_of_utf8_path(&named), bytes);
    }
    assert!(glob_matches(b"*", bytes) && glob_matches(&vec![b'?'; bytes.len()], bytes));
    assert!(glob_matches(bytes, bytes), "a name matches itself");
    if let Ok(name) = NotesRef::parse(&text) {
        assert_eq!(NotesRef::parse(name.as_str()).ok(), Some(name.clone()));
    }
    if let Some(place) = SourceLine::parse(&text) {
        assert!(place.line > 0 && text.starts_with(&*String::from_utf8_lossy(place.file.as_bytes())));
    }
    assert_eq!(Paint::parse(&text), Paint::parse(&text.to_ascii_uppercase()));
    for (commit, parents) in grafts::parse(&text) {
        let is_id = |id: &String| id.len() >= 40 && id.bytes().all(|b| b"0123456789abcdef".contains(&b));
        assert!(is_id(&commit) && parents.iter().all(is_id));
    }
    let _ = c_unquoted(&text);
}

/// A repository that gives the same bytes whatever it is asked for.
struct Always {
    kind: Kind,
    bytes: Vec<u8>,
}

impl ObjectSource for Always {
    fn object(&self, _: Oid) -> Result<Object> {
        Ok(Object { kind: self.kind, bytes: self.bytes.as_slice().into() })
    }

    fn resolve(&self, _: &str) -> Result<Option<Oid>> {
        Ok(None)
    }

    fn merge_base(&self, _: Oid, _: Oid) -> Result<Option<Oid>> {
        Ok(None)
    }

    fn index(&self) -> Result<Vec<IndexEntry>> {
        Ok(Vec::new())
    }
}

/// No entry of a tree leads out of it; a commit's summary is one line; a chain of tags ends.
pub fn objects(bytes: &[u8]) {
    for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
        let id = Oid::from_str_ext(&"ab".repeat(if format == ObjectFormat::Sha1 { 20 } else { 32 }), format);
        let id = id.expect("an id");
        let of = |kind| {
            let source = Always { kind, bytes: bytes.to_vec() };
            Objects::new(Box::new(source), format, Default::default()).expect("objects")
        };
        let trees = of(Kind::Tree);
        for entry in trees.tree(id).iter().flat_map(|entries| entries.iter()) {
            assert!(!matches!(&*entry.name, b"" | b"." | b".."), "{entry:?}");
            assert!(!entry.name.contains(&b'/') && !entry.name.contains(&0), "{entry:?}");
            // A tree that holds itself is walked as deep as the path is long.
            let deep = PathBuf::from_iter(std::iter::repeat_n(path_of(&entry.name), 3));
            let _ = trees.find(id, &deep);
            assert!(trees.find(id, &path_of(&entry.name)).is_ok_and(|found| found.is_some()), "{entry:?}");
        }
        if let Ok(commit) = of(Kind::Commit).commit(id) {
            assert!(!commit.summary.contains('\n'), "{commit:?}");
            let time = rfc3339(commit.time);
            assert!(time.len() >= 20 && time.is_ascii(), "{time}");
        }
        assert!(of(Kind::Tag).peel(id).is_err(), "a tag of itself");
    }
}
