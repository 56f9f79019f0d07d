//! Assertions that the newest version does not check any more: compiled out, where its text still has them
//! (`NDEBUG`, a macro of the project's own that became empty, a branch that is not taken), or removed.

use super::Request;
use super::lineage::{Lineage, Member};
use crate::frontend::c::lines;
use crate::ir::Settled;
use crate::report::{Assertion, AssertionKind, AssertionMatch, RepoPath, Version};

/// How an assertion that nothing checks was decided.
const NOTHING: &str = "compiled-out";

/// Marks what is compiled out of the newest version of a function, and adds what both versions compile out.
pub(super) fn mark(list: &mut Vec<Assertion>, lineage: &Lineage, request: &Request) {
    let last = lineage.members.len().saturating_sub(1);
    let Some(Some(new)) = lineage.members.last() else { return };
    let newest = last as Version + 1;
    let mut off: Vec<&Settled> = new.function.settled.iter().filter(|s| s.compiled_out).collect();
    let text = Written::of(request, last, new);
    for at in 0..list.len() {
        let a = &list[at];
        if a.kind != AssertionKind::Assertion || a.matched != AssertionMatch::Removed {
            continue;
        }
        if let Some(k) = off.iter().position(|s| *s.text == *a.text) {
            let line = off.remove(k).line;
            list[at].compiled_out = true;
            list[at].lines.insert(newest, line);
            continue;
        }
        let live = list.iter().filter(|b| b.lines.contains_key(&newest) && b.text == a.text).count();
        let old = a.lines.iter().next_back().and_then(|(v, line)| {
            let version = (*v as usize).checked_sub(1)?;
            let member = lineage.members.get(version)?.as_ref()?;
            Written::of(request, version, member)?.line(*line)
        });
        list[at].compiled_out = text.as_ref().zip(old).is_some_and(|(t, old)| t.count(&old, &a.text) > live);
    }
    let before = lineage.members.iter().rev().skip(1).flatten().next();
    for settled in off {
        let was =
            before.and_then(|m| m.function.settled.iter().find(|s| s.compiled_out && s.text == settled.text));
        let mut lines = std::collections::BTreeMap::from([(newest, settled.line)]);
        lines.extend(was.map(|s| (newest - 1, s.line)));
        list.push(Assertion {
            file: RepoPath::from(new.file.as_path()),
            function: new.function.name.to_string(),
            text: settled.text.to_string(),
            matched: if was.is_some() { AssertionMatch::Unchanged } else { AssertionMatch::New },
            lines,
            decided_by: NOTHING.into(),
            compiled_out: true,
            ..Assertion::default()
        });
    }
}

/// The code of a function as it is written, without comments and white space.
struct Written {
    lines: std::collections::BTreeMap<u32, String>,
}

impl Written {
    fn of(request: &Request, version: usize, m: &Member) -> Option<Written> {
        let bytes = request.versions.get(version)?.tree.read(&m.file)?;
        let inside = m.function.span.line..=m.function.span.end_line;
        let lines = lines::code(&bytes).into_iter().filter(|(line, _)| inside.contains(line));
        Some(Written { lines: lines.map(|(line, text)| (line, squeezed(&text))).collect() })
    }

    fn line(&self, line: u32) -> Option<String> {
        self.lines.get(&line).cloned()
    }

    /// How often an assertion is written that a line held in another version.
    fn count(&self, old_line: &str, assertion: &str) -> usize {
        let argument = format!("({})", squeezed(assertion));
        let all = squeezed(&self.lines.values().map(String::as_str).collect::<Vec<_>>().join(" "));
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let written = match old_line.find(&argument) {
            Some(at) => {
                let name = old_line[..at].rsplit(|c| !is_part(c)).next().unwrap_or_default();
                format!("{name}{argument}")
            }
            // The argument was expanded on its way.
            None => old_line.to_owned(),
        };
        let begins = |at: usize| !all[..at].ends_with(is_part);
        if written.is_empty() { 0 } else { all.match_indices(&written).filter(|(at, _)| begins(*at)).count() }
    }
}

/// A text without white space, but for a blank between words.
fn squeezed(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.ends_with(is_part) && word.starts_with(is_part) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
