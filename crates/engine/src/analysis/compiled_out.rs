//! Assertions that the newest version does not check any more: compiled out, where its text still has them
//! (`NDEBUG`, a macro of the project's own that became empty, a branch that is not taken), or removed.

use super::Request;
use super::lineage::{Lineage, Member};
use crate::frontend::c::lines;
use crate::ir::library::control::{Ends, ends};
use crate::ir::{Callee, Instr, Node, Settled};
use crate::mvicfg::VersionId;
use crate::report::{Assertion, AssertionKind, AssertionMatch, DecidedBy, RepoPath, Unchecked};
use crate::symex;
use std::cell::LazyCell;
use std::collections::BTreeSet;

/// Adds assertions of the older version that the newest does not have and that nothing else speaks of: those
/// that could not fail, and macros of the project's own that end the program. Whether there are any.
pub(super) fn gone(list: &mut Vec<Assertion>, lineage: &Lineage, request: &Request) -> bool {
    let before = VersionId::each(&lineage.members).rev().skip(1).find_map(|(v, m)| Some((v, m.as_ref()?)));
    let (Some((v, old)), Some(Some(new))) = (before, lineage.members.last()) else { return false };
    let true_in = |m: &Member| -> Vec<(u32, String)> {
        let settled = m.function.settled.iter().filter(|s| !s.compiled_out);
        settled.map(|s| (s.line, s.text.to_string())).collect()
    };
    let guards = |v: VersionId, m: &Member| -> Vec<(u32, String)> {
        let calls = guarding(m);
        let written = (!calls.is_empty()).then(|| Written::of(request, v, m)).flatten();
        calls
            .iter()
            .filter_map(|(line, name)| Some((*line, written.as_ref()?.argument(*line, name)?)))
            .collect()
    };
    let (mut was, guarded) = (true_in(old), guards(v, old));
    if was.is_empty() && guarded.is_empty() {
        return false;
    }
    let mut left: Vec<String> =
        symex::assertions_of(&new.function, &new.unit).into_iter().map(|(_, text, _)| text).collect();
    left.extend(guards(VersionId::new(lineage.members.len() - 1), new).into_iter().map(|(_, text)| text));
    was.extend(guarded);
    was.sort();
    was.dedup();
    let version = v.number();
    let known = list.len();
    for (line, text) in was {
        let is_told = |a: &Assertion| a.lines.get(&version) == Some(&line);
        if let Some(k) = left.iter().position(|t| *t == text) {
            left.swap_remove(k);
        } else if !list.iter().any(is_told) {
            list.push(Assertion {
                file: RepoPath::from(new.file.as_path()),
                function: new.function.name.to_string(),
                text,
                matched: AssertionMatch::Removed,
                lines: [(version, line)].into(),
                decided_by: DecidedBy::CompiledOut,
                ..Assertion::default()
            });
        }
    }
    list.len() > known
}

/// Macros in a function that decide something and may end the program: their lines and names.
fn guarding(m: &Member) -> BTreeSet<(u32, &str)> {
    let nodes = &m.function.nodes;
    let at = |n: &'_ Node| Some((n.span.line, n.span.expansion.as_ref()?.name.clone()));
    // What a project's own assertion ends the program with.
    let is_end = |n: &Node| match &n.instr {
        Instr::Call { callee: Callee::Direct(name), .. } => {
            ends(name).is_some_and(|how| !matches!(how, Ends::Failed | Ends::Thread))
        }
        _ => false,
    };
    let decided: BTreeSet<(u32, String)> =
        nodes.iter().filter(|n| matches!(n.instr, Instr::Branch { .. })).filter_map(at).collect();
    let found = nodes.iter().filter(|n| is_end(n) && at(n).is_some_and(|place| decided.contains(&place)));
    found.filter_map(|n| Some((n.span.line, n.span.expansion.as_ref()?.name.as_str()))).collect()
}

/// Marks what is compiled out of the newest version of a function, and adds what both versions compile out.
pub(super) fn mark(list: &mut Vec<Assertion>, lineage: &Lineage, request: &Request) {
    let last = VersionId::new(lineage.members.len().saturating_sub(1));
    let Some(Some(new)) = lineage.members.last() else { return };
    let newest = last.number();
    let mut off: Vec<&Settled> = new.function.settled.iter().filter(|s| s.compiled_out).collect();
    // To read the file's text again is worth it only where something is gone.
    let text = LazyCell::new(|| Written::of(request, last, new));
    let checked = symex::assertions_of(&new.function, &new.unit);
    for at in 0..list.len() {
        let a = &list[at];
        if a.kind != AssertionKind::Assertion || a.matched != AssertionMatch::Removed {
            continue;
        }
        if let Some(k) = off.iter().position(|s| *s.text == *a.text) {
            let line = off.remove(k).line;
            list[at].unchecked.compiled_out = true;
            list[at].lines.insert(newest, line);
            continue;
        }
        let listed = list.iter().filter(|b| b.lines.contains_key(&newest) && b.text == a.text).count();
        // Of a function in which nothing else changes nothing else is listed.
        let live = listed.max(checked.iter().filter(|(_, text, _)| *text == a.text).count());
        let old = a.lines.iter().next_back().and_then(|(v, line)| {
            let version = VersionId::of_number(*v)?;
            let member = lineage.members.get(version.index())?.as_ref()?;
            Written::of(request, version, member)?.line(*line)
        });
        list[at].unchecked.compiled_out =
            text.as_ref().zip(old).is_some_and(|(t, old)| t.count(&old, &a.text) > live);
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
            decided_by: DecidedBy::CompiledOut,
            unchecked: Unchecked { compiled_out: true, ..Unchecked::default() },
            ..Assertion::default()
        });
    }
}

/// The code of a function as it is written, without comments and white space.
struct Written {
    lines: std::collections::BTreeMap<u32, String>,
}

impl Written {
    fn of(request: &Request, version: VersionId, m: &Member) -> Option<Written> {
        let bytes = request.versions[version].tree.read(&m.file)?;
        let inside = m.function.span.line..=m.function.span.end_line;
        let lines = lines::code(&bytes).into_iter().filter(|(line, _)| inside.contains(line));
        Some(Written { lines: lines.map(|(line, text)| (line, squeezed(&text))).collect() })
    }

    /// What a macro is called with that is called in a line; `None` where it is called more than once there.
    fn argument(&self, line: u32, name: &str) -> Option<String> {
        let text = self.lines.range(line..).map(|(_, t)| t.as_str()).collect::<Vec<_>>().join(" ");
        let first = self.line(line)?;
        let call = format!("{name}(");
        if first.matches(&call).count() != 1 {
            return None;
        }
        let inner = &text[text.find(&call)? + call.len()..];
        let mut depth = 1usize;
        let end = inner.char_indices().find_map(|(at, c)| {
            depth = match c {
                '(' => depth + 1,
                ')' => depth - 1,
                _ => depth,
            };
            (depth == 0).then_some(at)
        })?;
        inner.get(..end).map(str::to_owned).filter(|t| !t.is_empty())
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
