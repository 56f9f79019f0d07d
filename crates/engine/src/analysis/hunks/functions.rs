//! Lines of functions: what local differencing says of them, and what is said of the function.

use super::{Judge, Line, head_end, is_same, is_settled, not};
use crate::analysis::lineage::Member;
use crate::analysis::local::Told;
use crate::mvicfg::VersionId;
use std::ops::Range;
use std::path::Path;

impl Judge<'_> {
    /// The function in which a line lies, by the number of its lineage. What comes before its name, as
    /// a type on a line of its own, is outside of its span; `name` tells whose it is.
    pub(super) fn member(
        &self,
        version: VersionId,
        path: &Path,
        line: u32,
        name: &str,
    ) -> Option<(usize, &Member)> {
        let members = || {
            let all = self.lineages.iter().enumerate();
            all.filter_map(|(i, l)| Some((i, l.members[version].as_ref()?)))
                .filter(|(_, m)| is_same(&m.file, path))
        };
        let within = |m: &Member| (m.function.span.line..=m.function.span.end_line).contains(&line);
        // Another body between is one that was lost: of several functions of one name the last is known.
        let ahead = |m: &Member| {
            *m.function.name == *name
                && line < m.function.span.line
                && !self.has_braces(version, path, line..m.function.span.line)
        };
        members().find(|(_, m)| within(m)).or_else(|| members().find(|(_, m)| ahead(m)))
    }

    fn has_braces(&self, version: VersionId, path: &Path, lines: Range<u32>) -> bool {
        let Some(bytes) = self.request.versions[version].tree.read(path) else { return false };
        let text = bytes.split(|b| *b == b'\n').skip((lines.start as usize).saturating_sub(1));
        text.take(lines.len()).flatten().any(|b| matches!(b, b'{' | b'}'))
    }

    pub(super) fn function(
        &self,
        pair: usize,
        version: VersionId,
        path: &Path,
        line: u32,
        name: &str,
    ) -> Line {
        let Some((i, m)) = self.member(version, path, line, name) else {
            let filtered = self.request.analysis.function.is_some();
            return not(if filtered { "filtered" } else { "lost" });
        };
        let a = &self.analysed[i];
        let has_region = self.locals.has_region(i, pair, version.side(pair), line);
        let static_local = self.object(pair, version, path, line);
        match static_local {
            Some(known @ Line::Not(_)) => return known,
            // A statement beside it counts, too.
            Some(known) if !has_region => return known,
            Some(Line::Explained)
                if self.locals.line((i, pair), (version.side(pair), line), (false, false))
                    == Some(Told::Neutral) =>
            {
                return Line::Explained;
            }
            _ => {}
        }
        // What local differencing says of the line counts before what is said of the function.
        let told = match has_region {
            // Where a comment swallows code, the lines that changed are its own.
            false if self.swallows(pair, path) => None,
            // What a head says of types shows in the body.
            false if line <= head_end(&m.function) && self.locals.differs(i, pair) => Some(Told::Differs),
            // Nothing shows: a parameter that nothing reads.
            false if line <= head_end(&m.function) => self.locals.is_told(i, pair).then_some(Told::Neutral),
            _ => self.locals.line(
                (i, pair),
                (version.side(pair), line),
                (self.at_hand.alone, self.at_hand.one_sided),
            ),
        };
        match told {
            Some(Told::Differs) => return Line::Explained,
            Some(Told::Neutral) => return Line::Neutral,
            // Whatever else of the function is told, this is not; but for what was settled at its exit.
            Some(Told::Open) if !is_settled(a, pair) => {
                let why = self.locals.why_open(i, pair, version.side(pair), line);
                return Line::Not(why.map_or("undecided".to_owned(), |why| format!("open:{why}")));
            }
            Some(Told::Open) | None => {}
        }
        if a.class_of[pair].is_none() || a.class_of[pair + 1].is_none() || self.has_churn(pair, i) {
            return Line::Explained;
        }
        // What is not modelled is the same where its text and all that it may read are.
        let differs = a.class_of[pair] != a.class_of[pair + 1];
        if differs && m.function.unknowns.iter().any(|u| u.line == line) {
            return not("not-modelled");
        }
        let other = self.lineages[i].members[pair + 1 - version.side(pair)].as_ref();
        if other.is_some_and(|o| self.changes_static(m, o, line)) {
            return not("global");
        }
        if is_settled(a, pair) { Line::Neutral } else { not("undecided") }
    }

    /// Whether a line belongs to a static local that starts out differently in the other version.
    fn changes_static(&self, m: &Member, other: &Member, line: u32) -> bool {
        let prefix = format!("{}.", m.function.name);
        m.unit.globals.iter().any(|g| {
            let here = g.symbol.starts_with(&prefix)
                && g.span.file.0 == 0
                && (g.span.line..=g.span.end_line.max(g.span.line)).contains(&line);
            here && other.unit.global(&g.symbol).is_none_or(|o| (o.size, &o.init) != (g.size, &g.init))
        })
    }
}
