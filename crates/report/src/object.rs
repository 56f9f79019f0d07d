//! Objects with static storage whose definitions a step changes: the model, and what every format says of one in
//! the same way.

use super::RepoPath;
use super::change::{OneLine, one_line};
use super::escape::{shortened, visible};
use super::model::{ChangeVerdict, Churn, Effect, HunkRef, Report, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One object of a program in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectReport {
    /// Stable: hashes the object's name, what is said of it, and an ordinal on ties.
    pub id: String,
    pub from: Version,
    pub to: Version,
    /// Path in version `to`, or in `from` if it is gone.
    pub file: RepoPath,
    pub name: String,
    /// The function that has it, if it is `static` in one.
    pub function: Option<String>,
    #[serde(rename = "type")]
    pub ty: String,
    pub outcome: ObjectOutcome,
    /// What it was called, or the file in which it was.
    pub was: Option<String>,
    /// Where it is defined.
    pub lines: BTreeMap<Version, u32>,
    /// Those that its definition meets; none where only what it uses has changed.
    pub hunks: Vec<HunkRef>,
    /// The configuration, if not the default one.
    pub under: Option<String>,
    #[serde(flatten)]
    pub definitions: Definitions,
    #[serde(flatten)]
    pub readers: Readers,
    pub verdict: ChangeVerdict,
    /// What keeps it open.
    pub reason: Option<String>,
}

/// What the definitions say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Definitions {
    /// What the older one says, as far as the newer one does not.
    pub before: Vec<Effect>,
    pub now: Vec<Effect>,
}

/// Functions that name an object, among those that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Readers {
    /// The first few.
    #[serde(rename = "readers")]
    pub first: Vec<String>,
    /// How many there are beside them.
    #[serde(rename = "more_readers", skip_serializing_if = "is_zero")]
    pub more: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// What became of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectOutcome {
    Added,
    Removed,
    /// It has another name.
    Renamed,
    /// It is in another file.
    Moved,
    #[default]
    Changed,
}

impl ObjectOutcome {
    /// `new`, `gone`, `renamed from`, `moved from`; nothing for one that only changed.
    pub fn word(self) -> &'static str {
        match self {
            ObjectOutcome::Added => "new",
            ObjectOutcome::Removed => "gone",
            ObjectOutcome::Renamed => "renamed from",
            ObjectOutcome::Moved => "moved from",
            ObjectOutcome::Changed => "",
        }
    }
}

/// The objects of which something is told; of others it is known only that they may differ.
pub fn told_objects(report: &Report) -> impl Iterator<Item = &ObjectReport> {
    report.objects.iter().filter(|o| o.verdict == ChangeVerdict::Differs)
}

/// Whether a churn says of a function what a report tells of an object that it reads.
pub fn is_told_at_object(report: &Report, churn: &Churn) -> bool {
    let is_it =
        |o: &ObjectReport| churn.object.as_ref() == Some(&o.name) && (o.from, o.to) == (churn.from, churn.to);
    churn.object.is_some() && told_objects(report).any(is_it)
}

impl ObjectReport {
    /// `options`, and of one in a function `lext of inflate_table()`, as it is.
    pub fn called(&self) -> String {
        match &self.function {
            Some(function) => format!("{} of {function}()", self.name),
            None => self.name.clone(),
        }
    }

    /// `new`, `renamed from limit`, as it is; empty for one that only changed.
    pub fn coming(&self) -> String {
        let was = self.was.as_ref().map(|was| format!(" {was}")).unwrap_or_default();
        match self.outcome {
            ObjectOutcome::Changed => String::new(),
            outcome => format!("{}{was}", outcome.word()),
        }
    }

    /// The line of it in the newer version, or in the older one if it is gone.
    pub fn line(&self) -> Option<u32> {
        self.lines.get(&self.to).or_else(|| self.lines.get(&self.from)).copied()
    }

    /// The line of what is told of it, if it is one; otherwise that of its definition.
    pub fn told_line(&self) -> Option<u32> {
        let Definitions { before, now } = &self.definitions;
        let told = if now.is_empty() { before } else { now };
        match told.first().and_then(|e| e.line) {
            Some(line) if told.iter().all(|e| e.line == Some(line)) => Some(line),
            _ => self.line(),
        }
    }

    /// `read by f(), g() and 3 more`, as it is; empty if nobody is known to read it.
    pub fn read_by(&self) -> String {
        let names: Vec<String> = self.readers.first.iter().map(|name| format!("{name}()")).collect();
        let more =
            if self.readers.more > 0 { format!(" and {} more", self.readers.more) } else { String::new() };
        if names.is_empty() { String::new() } else { format!("read by {}{more}", names.join(", ")) }
    }

    /// Says what changed in one line, escaped: `renamed from limit`, `starts as 10 -> starts as 12`. What either
    /// version has may take `room` characters.
    pub fn in_one_line(&self, room: usize) -> String {
        let part = |text: &str| shortened(&visible(text), room);
        let under = self.under.as_ref().map(|name| format!("under {}: ", part(name))).unwrap_or_default();
        let coming = self.coming();
        if matches!(self.outcome, ObjectOutcome::Added | ObjectOutcome::Removed) {
            let value =
                self.definitions.now.iter().chain(&self.definitions.before).next().map(|e| part(&e.text));
            let value = value.map(|v| format!(", {v}")).unwrap_or_default();
            return format!("{under}{coming}{value}");
        }
        let (mut before, mut now) = (self.definitions.before.iter(), self.definitions.now.iter());
        let first = (before.next(), now.next());
        // What stands behind the first on either side is more.
        let more = before.count().max(now.count());
        let said = match (&first, coming.is_empty()) {
            ((None, None), false) => String::new(),
            _ => one_line(&OneLine { before: text(first.0), now: text(first.1), more, room }),
        };
        let coming = [part(&coming), said].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>();
        format!("{under}{}", coming.join("; "))
    }
}

fn text(effect: Option<&Effect>) -> String {
    effect.map(|e| e.text.clone()).unwrap_or_default()
}

/// Objects for tests.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// `limit` of `a.c` at line 3; what either version has, apart by `;`.
    pub fn object(outcome: ObjectOutcome, before: &str, now: &str) -> ObjectReport {
        let effect = |t: &str| Effect { kind: "value".into(), text: t.trim().into(), ..Effect::default() };
        let effects = |t: &str| t.split(';').filter(|t| !t.trim().is_empty()).map(effect).collect();
        let hunk = HunkRef { file: "a.c".into(), old_start: 3, old_lines: 1, new_start: 3, new_lines: 1 };
        ObjectReport {
            id: "o1".into(),
            from: 1,
            to: 2,
            file: "a.c".into(),
            name: "limit".into(),
            ty: "int".into(),
            outcome,
            lines: [(1, 3), (2, 3)].into(),
            hunks: vec![hunk],
            definitions: Definitions { before: effects(before), now: effects(now) },
            verdict: ChangeVerdict::Differs,
            ..ObjectReport::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::object;
    use super::*;

    #[test]
    fn an_object_is_one_line() {
        use ObjectOutcome::{Added, Changed, Moved, Removed, Renamed};
        let was =
            |outcome, before, now| ObjectReport { was: Some("old".into()), ..object(outcome, before, now) };
        for (object, expected) in [
            (object(Changed, "starts as 1", "starts as 2"), "starts as 1 -> starts as 2"),
            (object(Changed, "", "has \"x\" after \"y\""), "now also has \"x\" after \"y\""),
            (object(Changed, "has \"x\"", ""), "no longer has \"x\""),
            (object(Changed, "[1] is 2; [2] is 3", "[1] is 4; [2] is 5"), "[1] is 2 -> [1] is 4; and 1 more"),
            (object(Added, "", "starts as 2"), "new, starts as 2"),
            (object(Removed, "starts as 2", ""), "gone, starts as 2"),
            (was(Renamed, "", ""), "renamed from old"),
            (was(Moved, "starts as 1", "starts as 2"), "moved from old; starts as 1 -> starts as 2"),
            (object(Changed, "starts as \u{1b}", "starts as 2"), "starts as \\x1b -> starts as 2"),
        ] {
            assert_eq!(object.in_one_line(99), expected);
        }
    }

    #[test]
    fn a_row_of_a_table_has_its_line() {
        let mut o = object(ObjectOutcome::Changed, "[1] is 1; [2] is 1", "[1] is 2; [2] is 2");
        assert_eq!(o.told_line(), Some(3));
        o.definitions.now[0].line = Some(7);
        assert_eq!(o.told_line(), Some(3));
        o.definitions.now[1].line = Some(7);
        assert_eq!(o.told_line(), Some(7));
        (o.definitions.now, o.definitions.before[0].line) = (Vec::new(), Some(5));
        o.definitions.before.truncate(1);
        assert_eq!(o.told_line(), Some(5));
    }

    #[test]
    fn who_reads_it_is_counted() {
        let mut o = object(ObjectOutcome::Changed, "", "");
        assert_eq!(o.read_by(), "");
        o.readers.first = vec!["f".into(), "g".into()];
        assert_eq!(o.read_by(), "read by f(), g()");
        o.readers.more = 3;
        assert_eq!(o.read_by(), "read by f(), g() and 3 more");
        o.function = Some("h".into());
        assert_eq!(o.called(), "limit of h()");
    }
}
