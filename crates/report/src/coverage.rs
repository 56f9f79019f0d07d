//! How much of a revision's source is understood: counts for `doctor --coverage`.

use super::RepoPath;
use super::escape::visible;
use super::palette::{Palette, Slot};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Counts over the functions that are defined in the active preprocessor branches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    pub schema: String,
    /// Full object id.
    pub commit: Option<String>,
    /// How the revision was asked for.
    pub name: String,
    /// Source files looked at; headers count where they are included.
    pub files: usize,
    pub functions: usize,
    pub fully_lowered: usize,
    pub partly_lowered: usize,
    /// Functions of either kind whose text names types or constants whose meaning was guessed.
    pub rest_on_guesses: usize,
    /// Functions of either kind that call `setjmp`: every state is thought possible when it returns
    /// again, so that little is proved of them.
    pub return_twice: usize,
    /// Found in the source, but absent from what was lowered.
    pub lost: usize,
    /// Functions that are not fully lowered, by reason; one with several reasons counts for each.
    pub reasons: BTreeMap<String, usize>,
    /// Files of which nothing could be read, with the reason.
    pub rejected: BTreeMap<String, String>,
}

impl Coverage {
    /// Counts a function that was lowered; `reasons` says what of it was not understood.
    pub fn add_function<'r>(&mut self, reasons: impl IntoIterator<Item = &'r str>) {
        let reasons: BTreeSet<&str> = reasons.into_iter().collect();
        self.functions += 1;
        if reasons.is_empty() {
            self.fully_lowered += 1;
        } else {
            self.partly_lowered += 1;
        }
        for reason in reasons {
            *self.reasons.entry(reason.to_owned()).or_default() += 1;
        }
    }

    /// Counts a function that was found but not lowered.
    pub fn add_lost(&mut self, reason: &str) {
        self.functions += 1;
        self.lost += 1;
        *self.reasons.entry(reason.to_owned()).or_default() += 1;
    }

    pub fn add_rejected(&mut self, file: &RepoPath, reason: &str) {
        self.rejected.insert(file.to_text(), reason.to_owned());
    }

    /// Writes the table that a person reads.
    pub fn render(&self, palette: &Palette, out: &mut dyn Write) -> io::Result<()> {
        let id: String = self.commit.iter().flat_map(|id| id.chars().take(7)).collect();
        let files = if self.files == 1 { "file" } else { "files" };
        let heading = format!("{} {id}", visible(&self.name));
        writeln!(
            out,
            "{}: {} C source {files}\n",
            palette.paint(Slot::Commit, heading.trim_end()),
            self.files
        )?;
        writeln!(out, "functions found   {:>7}", self.functions)?;
        for (label, count) in [
            ("fully lowered", self.fully_lowered),
            ("partly lowered", self.partly_lowered),
            ("lost", self.lost),
        ] {
            writeln!(out, "  {label:<15} {count:>7}  {:>5} %", percent(count, self.functions))?;
        }
        let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), reason.as_str()));
        let beside = [
            (self.rest_on_guesses, "name types or constants that nothing declares"),
            (self.return_twice, "call setjmp, after which any state is thought possible"),
        ];
        let mut gap = "\n";
        for (count, what) in beside.iter().filter(|(count, _)| *count > 0) {
            writeln!(out, "{gap}{count} of them {what}")?;
            gap = "";
        }
        if !reasons.is_empty() {
            writeln!(out, "\n{}", palette.paint(Slot::Heading, "functions not fully lowered, by reason"))?;
        }
        for (reason, count) in reasons {
            writeln!(out, "  {count:>7}  {}", visible(reason))?;
        }
        if !self.rejected.is_empty() {
            writeln!(out, "\n{}", palette.paint(Slot::Heading, "files not read"))?;
        }
        for (file, reason) in &self.rejected {
            let file = palette.paint(Slot::File, visible(file));
            writeln!(out, "  {file}  {}", visible(reason))?;
        }
        Ok(())
    }
}

/// Tenths of a percent, rounded down, so that 100 means all.
fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1000).checked_div(whole).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table() {
        let mut coverage = Coverage { name: "HEAD".into(), files: 2, ..Coverage::default() };
        (0..997).for_each(|_| coverage.add_function([]));
        coverage.add_function(["inline assembly", "inline assembly", "vfork"]);
        coverage.add_function(["vfork"]);
        coverage.return_twice = 12;
        coverage.add_lost("macro \x1b");
        coverage.add_rejected(&"x.c".into(), "too deep");
        let mut out = Vec::new();
        coverage.render(&Palette::plain(), &mut out).unwrap();
        let expected = "\
HEAD: 2 C source files

functions found      1000
  fully lowered       997   99.7 %
  partly lowered        2    0.2 %
  lost                  1    0.1 %

12 of them call setjmp, after which any state is thought possible

functions not fully lowered, by reason
        2  vfork
        1  inline assembly
        1  macro \\x1b

files not read
  x.c  too deep
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn all_of_nothing_is_no_division_by_zero() {
        assert_eq!(percent(0, 0), "0.0");
        assert_eq!(percent(999, 1000), "99.9");
        assert_eq!(percent(3, 3), "100.0");
    }
}
