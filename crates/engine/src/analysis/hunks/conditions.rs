//! What the directives of conditions in a hunk do: to lines outside of it, under some macros, and here.

use super::super::conditionals::presence::{self, Presence};
use super::super::request::FileChange;
use super::super::units::{is_header, is_source};
use super::{Judge, Line, not};
use crate::frontend::c::lines::LineKind;
use crate::mvicfg::VersionId;
use crate::report::Compiled;
use std::path::{Path, PathBuf};

impl Judge<'_> {
    /// What becomes of a line of a hunk that is a directive of a condition; `None`: it is none.
    ///
    /// Where other lines are compiled than before, that is told; where that is so under the macros at hand, it must
    /// be known, too, what those lines do.
    pub(super) fn conditional(
        &mut self,
        pair: usize,
        change: &FileChange,
        side: usize,
        line: u32,
    ) -> Option<Line> {
        let presence = self.presence(pair, change)?;
        if !presence.all[side].contains(&line) {
            return None;
        }
        let Some(effect) = presence.directives.get(&(side, line)).cloned() else {
            return Some(Line::Neutral);
        };
        if effect.unknown {
            return Some(not("macro"));
        }
        let paths = [change.old_path.clone()?, change.new_path.clone()?];
        for lines in &effect.lines {
            let versions = VersionId::of_step(pair);
            let is_read = [0, 1].map(|side: usize| {
                let kind = self.kind(versions[side], &paths[side], lines[side]);
                !matches!(kind, None | Some(LineKind::Inactive))
            });
            let reader = match is_read {
                [true, false] => 0,
                [false, true] => 1,
                _ => continue,
            };
            if let Line::Not(why) = self.line(pair, versions[reader], &paths[reader], lines[reader]) {
                return Some(Line::Not(why));
            }
        }
        Some(if effect.differs { Line::Explained } else { Line::Neutral })
    }

    /// Whether a directive of a condition has lines compiled that were not, or may have.
    pub(super) fn changes_presence(
        &mut self,
        pair: usize,
        change: &FileChange,
        side: usize,
        line: u32,
    ) -> bool {
        let presence = self.presence(pair, change);
        let effect = presence.and_then(|p| p.directives.get(&(side, line)));
        effect.is_some_and(|e| e.unknown || e.differs)
    }

    /// What a hunk has compiled elsewhere, and what not any more.
    pub(super) fn compiled(&mut self, pair: usize, change: &FileChange, hunk: usize) -> Vec<Compiled> {
        self.presence(pair, change).and_then(|p| p.told.get(&hunk).cloned()).unwrap_or_default()
    }

    /// `None` for a file that one version alone has, and for what is no C.
    fn presence(&mut self, pair: usize, change: &FileChange) -> Option<&Presence> {
        let (Some(old), Some(new)) = (&change.old_path, &change.new_path) else { return None };
        let is_c = |path: &Path| is_source(path) || is_header(path);
        if change.opaque.is_some() || !is_c(new) {
            return None;
        }
        let key: (usize, PathBuf) = (pair, new.clone());
        if !self.presence.contains_key(&key) {
            let read = |version: VersionId, path: &Path| {
                self.request.versions[version].tree.read(path).unwrap_or_default()
            };
            let [from, to] = VersionId::of_step(pair);
            let texts = [read(from, old), read(to, new)];
            let hunks: Vec<[(u32, u32); 2]> = change
                .hunks
                .iter()
                .map(|h| [(h.old_start, h.old_lines), (h.new_start, h.new_lines)])
                .collect();
            let has_directive = [0, 1].into_iter().any(|side: usize| {
                let lines: Vec<&[u8]> = texts[side].split(|b| *b == b'\n').collect();
                hunks.iter().any(|h| touches_directive(&lines, h[side]))
            });
            let found = match has_directive {
                true => presence::compare([&texts[0], &texts[1]], &hunks),
                false => Presence::default(),
            };
            self.presence.insert(key.clone(), found);
        }
        self.presence.get(&key)
    }
}

/// Whether some lines have a directive in them, or go on with one.
fn touches_directive(text: &[&[u8]], (start, lines): (u32, u32)) -> bool {
    let first = (start as usize).saturating_sub(1);
    let inside = text.iter().skip(first).take(lines as usize);
    let goes_on =
        lines > 0 && first > 0 && text.get(first - 1).is_some_and(|l| l.trim_ascii_end().ends_with(b"\\"));
    goes_on || inside.into_iter().any(|line| line.contains(&b'#'))
}
