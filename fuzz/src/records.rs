//! Notes, which come with a fetch and may be anybody's.

use git_invdiff::report::text::TextOptions;
use git_invdiff::report::{Report, json, note, porcelain, text, trailer, yaml};
use git_invdiff::store::notes::{Note, union};

/// A written note reads the same; whatever a record says, no output has control characters in it.
pub fn notes(bytes: &[u8]) {
    let note = Note::parse(bytes);
    assert_eq!(Note::parse(&note.payload()), note);
    for line in &note.foreign {
        super::assert_plain(&git_invdiff::report::escape::visible(note::schema_of(line)), false);
    }
    let merged = union(bytes, &note.payload());
    assert_eq!(union(&merged, &merged), merged);
    for record in &note.records {
        shown(&note::report(record));
    }
}

fn shown(report: &Report) {
    let mut out = Vec::new();
    json::render(report, &mut out).expect("JSON is written");
    let back: Report = serde_json::from_slice(&out).expect("JSON is read");
    assert_eq!(back.functions, report.functions);
    for verbose in [false, true] {
        let options = TextOptions { verbose, ..TextOptions::default() };
        super::assert_plain(&written(|out| text::render(report, &options, out)), true);
        super::assert_plain(&written(|out| text::render_check(report, &options, out)), true);
    }
    super::assert_plain(&written(|out| yaml::render(report, out)), true);
    let lines = written(|out| porcelain::render(report, false, out));
    super::assert_plain(&lines.replace('\t', " "), true);
    for trailer in trailer::compose(report, trailer::DEFAULT_MAX) {
        super::assert_plain(&trailer.value, false);
    }
}

fn written(render: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    render(&mut out).expect("it is written");
    String::from_utf8(out).expect("it is text")
}
