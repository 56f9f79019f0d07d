//! The stable line format for scripts, version 1; `docs/porcelain.md` is its definition.

use super::change::{sides, told};
use super::escape::{c_quoted, force_c_quoted};
use super::model::{Change, Churn, Fact, FunctionReport, NotHeld, Point, PointKind, Report, Version};
use super::object::told_objects;
use super::text::status_text;
use super::{ObjectReport, RepoPath, Summary};
use serde::Serialize;
use std::io::{self, Write};

/// Writes the whole report. `nul`: records end with NUL and paths are raw.
pub fn render(report: &Report, nul: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Porcelain { out, nul };
    writer.record("invdiff", &["v1"], None)?;
    for version in &report.versions {
        let commit = version.commit.as_deref().unwrap_or_default();
        writer.record("version", &[&version.index.to_string(), commit, &version.name], None)?;
    }
    for hunk in &report.hunks {
        let fields = [
            hunk.from.to_string(),
            hunk.to.to_string(),
            word(&hunk.verdict),
            hunk.why.clone().unwrap_or_default(),
            format!("{},{}", hunk.old_start, hunk.old_lines),
            format!("{},{}", hunk.new_start, hunk.new_lines),
        ];
        writer.record("hunk", &fields, Some(&hunk.file))?;
        for compiled in &hunk.compiled {
            let lines = |(first, last): (u32, u32)| format!("{first},{last}");
            let side = if compiled.now { "now" } else { "before" };
            let fields = [side, &lines(compiled.old), &lines(compiled.new), &compiled.when];
            writer.record("compiled", &fields, Some(&hunk.file))?;
        }
    }
    for (index, function) in report.functions.iter().enumerate() {
        writer.function(&(index + 1).to_string(), function)?;
    }
    for object in told_objects(report) {
        writer.object(object)?;
    }
    let s = Summary::of(report);
    let counts =
        [s.functions, s.version_invariants, s.churns, s.observable_churns, s.undecided, s.hunks_not_analysed];
    let mut fields: Vec<String> = counts.iter().map(usize::to_string).collect();
    fields.push(if report.complete { "complete".into() } else { "incomplete".into() });
    writer.record("end", &fields, None)
}

struct Porcelain<'a> {
    out: &'a mut dyn Write,
    nul: bool,
}

impl Porcelain<'_> {
    fn record<F: AsRef<str>>(&mut self, kind: &str, fields: &[F], path: Option<&RepoPath>) -> io::Result<()> {
        self.out.write_all(kind.as_bytes())?;
        for field in fields {
            write!(self.out, "\t{}", field_text(field.as_ref()))?;
        }
        if let Some(path) = path {
            self.out.write_all(b"\t")?;
            if self.nul {
                self.out.write_all(path.as_bytes())?;
            } else {
                self.out.write_all(c_quoted(path.as_bytes()).as_bytes())?;
            }
        }
        self.out.write_all(if self.nul { b"\0" } else { b"\n" })
    }

    fn function(&mut self, number: &str, function: &FunctionReport) -> io::Result<()> {
        let whole = if function.complete { "complete" } else { "partial" };
        let fields = vec![number.to_owned(), word(&function.outcome), whole.into(), function.name.clone()];
        let oldest = function.identity.versions.values().next().map(|place| &place.file);
        let oldest = oldest.filter(|file| **file != function.file);
        match oldest {
            Some(old) if !self.nul => {
                let fields: Vec<String> = fields.iter().map(|f| field_text(f)).collect();
                let (new, old) = (c_quoted(function.file.as_bytes()), c_quoted(old.as_bytes()));
                writeln!(self.out, "function\t{}\t{new}\t{old}", fields.join("\t"))?;
            }
            _ => self.record("function", &fields, Some(&function.file))?,
        }
        if let Some(old) = oldest.filter(|_| self.nul) {
            self.record::<&str>("from", &[], Some(old))?;
        }
        for change in told(function) {
            self.change(number, change)?;
        }
        for point in &function.points {
            self.point(number, point)?;
        }
        Ok(())
    }

    fn change(&mut self, number: &str, change: &Change) -> io::Result<()> {
        let fields = [
            number.to_owned(),
            change.at.lines.get(&change.to).copied().unwrap_or(0).to_string(),
            change.from.to_string(),
            change.to.to_string(),
            word(&change.otherwise),
            change.assumptions.join(","),
            change.under.clone().unwrap_or_default(),
            change.id.clone(),
        ];
        self.record("change", &fields, None)?;
        for delta in &change.deltas {
            let (before, now) = sides(delta);
            self.record("delta", &[&change.id, &delta.evidence, &delta.when.text, &before, &now], None)?;
        }
        Ok(())
    }

    fn object(&mut self, object: &ObjectReport) -> io::Result<()> {
        let fields = [
            object.from.to_string(),
            object.to.to_string(),
            word(&object.outcome),
            object.line().unwrap_or(0).to_string(),
            object.under.clone().unwrap_or_default(),
            object.id.clone(),
            object.function.clone().unwrap_or_default(),
            object.name.clone(),
            object.ty.clone(),
            object.was.clone().unwrap_or_default(),
        ];
        self.record("object", &fields, Some(&object.file))?;
        for (side, effects) in [("before", &object.definitions.before), ("now", &object.definitions.now)] {
            for effect in effects {
                self.record("value", &[&object.id, side, &effect.text], None)?;
            }
        }
        for reader in &object.readers.first {
            self.record("reader", &[&object.id, reader], None)?;
        }
        Ok(())
    }

    fn point(&mut self, number: &str, point: &Point) -> io::Result<()> {
        for churn in &point.churns {
            self.churn(number, point, churn)?;
        }
        for (name, facts) in [("invariant", &point.version_invariants), ("if-reached", &point.if_reached)] {
            for fact in facts {
                let versions: Vec<String> = fact.versions.iter().map(Version::to_string).collect();
                let line = line_in(point, fact.versions.last().copied());
                let mut fields =
                    vec![number.to_owned(), point.id.clone(), kind(point), line, versions.join(",")];
                fields.extend(fact_fields(fact));
                self.record(name, &fields, None)?;
            }
        }
        for fact in &point.subset_invariants {
            let joined = |versions: &mut dyn Iterator<Item = &Version>| {
                versions.map(Version::to_string).collect::<Vec<_>>().join(",")
            };
            let refuted = fact.not_held.iter().filter(|(_, why)| **why == NotHeld::Refuted);
            let mut fields = vec![
                number.to_owned(),
                point.id.clone(),
                kind(point),
                line_in(point, fact.versions.last().copied()),
                joined(&mut fact.versions.iter()),
                joined(&mut refuted.map(|(v, _)| v)),
            ];
            fields.extend(fact_fields(fact));
            self.record("subset", &fields, None)?;
        }
        for question in &point.undecided {
            let limit = question.limit.as_deref().unwrap_or_default();
            self.record("undecided", &[number, &point.id, limit, &question.text], None)?;
        }
        Ok(())
    }

    fn churn(&mut self, number: &str, point: &Point, churn: &Churn) -> io::Result<()> {
        let seen = if churn.observable { "observable" } else { "internal" };
        let fields = [
            number.to_owned(),
            point.id.clone(),
            kind(point),
            line_in(point, Some(churn.to)),
            churn.from.to_string(),
            churn.to.to_string(),
            word(&churn.claim),
            seen.to_owned(),
            churn.id.clone(),
        ];
        self.record("churn", &fields, None)?;
        for (name, facts) in [("removed", &churn.removed), ("added", &churn.added)] {
            for fact in facts {
                let mut fields = vec![churn.id.clone()];
                fields.extend(fact_fields(fact));
                self.record(name, &fields, None)?;
            }
        }
        let causes = &churn.causes;
        for (side, lines) in
            [("removed", &causes.removed), ("added", &causes.added), ("shared", &causes.shared)]
        {
            for line in lines {
                self.record("cause", &[&churn.id, side, &line.line.to_string()], Some(&line.file))?;
            }
        }
        if let Some(witness) = &churn.witness {
            let json = serde_json::to_string(witness).map_err(io::Error::other)?;
            let end = if self.nul { '\0' } else { '\n' };
            write!(self.out, "example\t{}\t{}{end}", field_text(&churn.id), ascii_json(&json))?;
        }
        Ok(())
    }
}

fn fact_fields(fact: &Fact) -> [String; 4] {
    [fact.template.clone(), status_text(fact), fact.id.clone(), fact.text.clone()]
}

fn kind(point: &Point) -> String {
    let name = match point.kind {
        PointKind::Entry => "entry",
        PointKind::Exit => "exit",
        PointKind::Loop => "loop",
        PointKind::Line => "line",
    };
    name.to_owned()
}

/// The point's line in `version`, or in the newest version that has one.
fn line_in(point: &Point, version: Option<Version>) -> String {
    let line = version.and_then(|v| point.lines.get(&v)).or_else(|| point.lines.values().next_back());
    line.copied().unwrap_or(0).to_string()
}

/// An enumeration's name in the model.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// A field is never empty; what could be mistaken for an empty one is quoted.
fn field_text(text: &str) -> String {
    match text {
        "" => "-".to_owned(),
        "-" => force_c_quoted(b"-"),
        text => c_quoted(text.as_bytes()),
    }
}

/// Outside ASCII every character of JSON stands in a string, where it may be escaped.
fn ascii_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::samples;
    use crate::{
        Causes, Claim, FunctionRef, FunctionStatus, HunkReport, HunkVerdict, Identity, IdentityKind, LineRef,
        Status, Undecided, VersionInfo, Witness,
    };

    fn sample() -> Report {
        let fact = |text: &str, versions: &[Version]| Fact {
            id: "f1".into(),
            template: "functional".into(),
            text: text.into(),
            versions: versions.to_vec(),
            status: versions.iter().map(|v| (*v, Status::Proved)).collect(),
            ..Fact::default()
        };
        let churn = Churn {
            id: "c1".into(),
            from: 1,
            to: 2,
            removed: vec![fact("b == 3", &[1])],
            observable: true,
            claim: Claim::NoLongerHolds,
            causes: Causes {
                added: vec![LineRef { file: "n\tw.c".into(), line: 12, text: None }],
                ..Causes::default()
            },
            witness: Some(Witness { stdin: Some("\u{e9}\n".into()), ..Witness::default() }),
            ..Churn::default()
        };
        let point = Point {
            id: "exit".into(),
            lines: [(1, 15), (2, 17)].into(),
            version_invariants: vec![fact("\\result == 1", &[1, 2])],
            subset_invariants: vec![Fact {
                not_held: [(2, NotHeld::Refuted)].into(),
                ..fact("b == 3", &[1])
            }],
            undecided: vec![Undecided { text: "-".into(), ..Undecided::default() }],
            churns: vec![churn],
            ..Point::default()
        };
        let place = |file: &str| FunctionRef { file: file.into(), name: "f".into() };
        let function = FunctionReport {
            file: "n\tw.c".into(),
            name: "f".into(),
            outcome: FunctionStatus::Analysed,
            complete: true,
            identity: Identity {
                versions: [(1, place("old.c")), (2, place("n\tw.c"))].into(),
                kind: IdentityKind::Moved,
                from: None,
            },
            changes: vec![
                samples::change(&["p ==\t\u{e9} | undefined at line 13 | calls f(); returns -1", "| x |"]),
                Change { verdict: crate::ChangeVerdict::Open, ..samples::change(&["a | b | c"]) },
            ],
            points: vec![point],
            ..FunctionReport::default()
        };
        let hunk = HunkReport {
            from: 1,
            to: 2,
            file: "n\tw.c".into(),
            old_start: 12,
            old_lines: 1,
            new_start: 12,
            new_lines: 2,
            verdict: HunkVerdict::Explained,
            why: None,
            ..HunkReport::default()
        };
        let version = |index, name: &str| VersionInfo { index, name: name.into(), ..VersionInfo::default() };
        Report {
            versions: vec![version(1, "HEAD"), version(2, "WORKTREE")],
            hunks: vec![hunk],
            functions: vec![function],
            ..Report::default()
        }
    }

    fn rendered(nul: bool) -> String {
        let mut out = Vec::new();
        render(&sample(), nul, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_record_is_as_documented() {
        let json = r#"{"kind":"call","entry":"","arguments":[],"memory":[],"calls":[],"stdin":"\u00e9\n","stdin_base64":null,"argv":null,"relies_on":[],"old":{"end":"return","return":null,"stdout":null,"exit":null,"values":{},"undefined":null},"new":{"end":"return","return":null,"stdout":null,"exit":null,"values":{},"undefined":null}}"#;
        let expected = [
            "invdiff v1",
            "version 1 - HEAD",
            "version 2 - WORKTREE",
            r#"hunk 1 2 explained - 12,1 12,2 "n\tw.c""#,
            r#"function 1 analysed complete f "n\tw.c" old.c"#,
            "change 1 13 1 2 same - - d1",
            r#"delta d1 satisfiable "p_==\t\303\251" undefined_at_line_13 calls_f();_returns_-1"#,
            "delta d1 satisfiable - x -",
            "churn 1 exit exit 17 1 2 no-longer-holds observable c1",
            "removed c1 functional proved f1 b_==_3",
            r#"cause c1 added 12 "n\tw.c""#,
            &format!("example c1 {json}"),
            r#"invariant 1 exit exit 17 1,2 functional proved f1 "\\result_==_1""#,
            "subset 1 exit exit 15 1 2 functional proved f1 b_==_3",
            r#"undecided 1 exit - "-""#,
            "end 1 1 1 1 1 0 complete",
        ];
        let got = rendered(false).replace(' ', "_").replace('\t', " ");
        assert_eq!(got, expected.map(|line| format!("{line}\n")).concat());
    }

    #[test]
    fn with_nul_paths_are_raw() {
        let got = rendered(true);
        let records: Vec<_> = got.split_terminator('\0').collect();
        assert_eq!(records[4], "function\t1\tanalysed\tcomplete\tf\tn\tw.c");
        assert_eq!(records[5], "from\told.c");
        assert!(!got.contains('\n'));
    }

    /// The definition names every kind of record.
    #[test]
    fn every_kind_of_record_is_documented() {
        let definition = include_str!("../../../docs/porcelain.md");
        for record in rendered(true).split_terminator('\0') {
            let kind = record.split('\t').next().unwrap();
            assert!(definition.contains(&format!("`{kind}`")), "{kind}");
        }
    }
}
