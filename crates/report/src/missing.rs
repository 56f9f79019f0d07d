//! What of a revision is not understood for want of a header or a name, and what helps: `doctor REVISION`.

use super::escape::visible;
use super::palette::{Palette, Slot};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// What is missing in a revision, dearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    pub schema: String,
    /// Full object id.
    pub commit: Option<String>,
    /// How the revision was asked for.
    pub name: String,
    pub now: Figures,
    pub causes: Vec<Cause>,
    /// Causes that are not listed.
    pub left_out: usize,
    /// What all lines that help do together, as one.
    pub together: Option<Advice>,
}

/// Functions that active text defines, and those of them that are understood as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    pub functions: usize,
    pub whole: usize,
}

impl Figures {
    /// More functions are whole, and fewer are not.
    pub fn is_better_than(self, other: Figures) -> bool {
        self.whole > other.whole && self.functions - self.whole < other.functions - other.whole
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    #[default]
    Header,
    Name,
}

/// A header that is not found, or a name that nothing declares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    pub kind: CauseKind,
    pub name: String,
    /// Functions that are not whole: those that use the name, or whose file includes the header.
    pub functions: usize,
    /// Files of the tree that have a header's name; none where it is nowhere.
    pub places: Vec<String>,
    /// The line of configuration that helps most, of those that were tried.
    pub advice: Option<Advice>,
}

/// A line of configuration, tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Advice {
    /// For `.invdiff.yaml`, or an option of the command line.
    pub line: String,
    pub before: Figures,
    pub after: Figures,
}

impl Advice {
    fn effect(&self) -> String {
        let Advice { before, after, .. } = self;
        let of = match after.functions == before.functions {
            true => String::new(),
            false => format!(" of {}", after.functions),
        };
        format!("{} of {} functions whole -> {}{of}", before.whole, before.functions, after.whole)
    }
}

impl Missing {
    /// Writes what a person reads.
    pub fn render(&self, palette: &Palette, out: &mut dyn Write) -> io::Result<()> {
        let id: String = self.commit.iter().flat_map(|id| id.chars().take(7)).collect();
        let heading = palette.paint(Slot::Commit, format!("{} {id}", visible(&self.name)).trim_end());
        let Figures { functions, whole } = self.now;
        writeln!(out, "{heading}: {whole} of {functions} functions whole")?;
        if self.causes.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "\n{}",
            palette.paint(Slot::Heading, "what the others lack, by functions that rest on it")
        )?;
        for cause in &self.causes {
            let what = match cause.kind {
                CauseKind::Header => format!("header {}, {}", cause.name, places(&cause.places)),
                CauseKind::Name => format!("name {}", cause.name),
            };
            writeln!(out, "  {:>7}  {}", cause.functions, visible(&what))?;
            if let Some(advice) = &cause.advice {
                let line = palette.paint(Slot::Added, visible(&advice.line));
                writeln!(out, "           {line}\n           {}", advice.effect())?;
            }
        }
        if self.left_out > 0 {
            writeln!(out, "  and {} more", self.left_out)?;
        }
        if let Some(all) = &self.together {
            let line = palette.paint(Slot::Added, visible(&all.line));
            writeln!(out, "\n{}\n  {line}\n  {}", palette.paint(Slot::Heading, "together"), all.effect())?;
        } else if self.causes.iter().all(|c| c.advice.is_none()) {
            writeln!(out, "\nno line of configuration that was tried helps")?;
        }
        Ok(())
    }
}

fn places(places: &[String]) -> String {
    match places {
        [] => "nowhere in the tree".to_owned(),
        [one] => format!("of that name: {one}"),
        [first, rest @ ..] => format!("of that name: {first} and {} more", rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_listed_with_what_helps() {
        let figures = |whole, functions| Figures { functions, whole };
        let advice = |line: &str, after| Advice { line: line.into(), before: figures(4, 9), after };
        let header = Cause {
            name: "p\x1b.h".into(),
            functions: 5,
            places: vec!["a/p.h".into(), "b/p.h".into()],
            advice: Some(advice("c: {include_dirs: [a]}", figures(8, 9))),
            ..Cause::default()
        };
        let name = Cause { kind: CauseKind::Name, name: "X".into(), functions: 1, ..Cause::default() };
        let mut missing = Missing {
            name: "HEAD".into(),
            now: figures(4, 9),
            causes: vec![header, name],
            left_out: 2,
            together: Some(advice("c: {include_dirs: [a]}", figures(9, 10))),
            ..Missing::default()
        };
        let mut out = Vec::new();
        missing.render(&Palette::plain(), &mut out).unwrap();
        let expected = "\
HEAD: 4 of 9 functions whole

what the others lack, by functions that rest on it
        5  header p\\x1b.h, of that name: a/p.h and 1 more
           c: {include_dirs: [a]}
           4 of 9 functions whole -> 8
        1  name X
  and 2 more

together
  c: {include_dirs: [a]}
  4 of 9 functions whole -> 9 of 10
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        missing.causes.clear();
        let mut out = Vec::new();
        missing.render(&Palette::plain(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "HEAD: 4 of 9 functions whole\n");
    }

    #[test]
    fn better_means_more_whole_and_fewer_that_are_not() {
        let figures = |whole, functions| Figures { functions, whole };
        assert!(figures(5, 9).is_better_than(figures(4, 9)));
        assert!(!figures(5, 10).is_better_than(figures(4, 9)));
        assert!(!figures(4, 5).is_better_than(figures(4, 9)));
    }
}
