//! Puts facts into a source as `assert`s, and changes nothing else.
//!
//! At the exit: `return e;` becomes a block that keeps the result, asserts and returns it; a function
//! without a result also asserts where control falls off its end. At the head of a loop the assertions come
//! before the condition (`while (assert(i >= 0), (i < n))`), in a `do` at the start of the body. Entry
//! values that a fact needs are kept at the top of the body.

use super::condition::{Condition, RESULT, Site, condition};
use super::edits::Edits;
use crate::frontend::c::outline::{FunctionOutline, LoopEdit, LoopSite, Outline, ReturnEdit};
use crate::frontend::{self, c};
use crate::history::SourceTree;
use crate::ir::{CType, Function, Unit};
use crate::report::Fact;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// A file of a version with what is known of its text.
pub struct Source {
    pub bytes: Arc<[u8]>,
    pub unit: Unit,
    pub outline: Outline,
    /// Something that it reads speaks of `NDEBUG`.
    pub may_switch_off: bool,
    /// Something that it reads speaks of `__LINE__`.
    pub counts_lines: bool,
    /// It has names that begin as those of what is written into copies and tests.
    pub has_our_names: bool,
    /// Macros that it defines, or a header of the tree that it reads.
    pub macros: BTreeSet<String>,
}

impl Source {
    /// Reads a file. Errors: as [`frontend::load_unit`].
    pub fn load(tree: &dyn SourceTree, path: &Path, options: &c::Options) -> Result<Source, c::Rejected> {
        let (unit, outline) = frontend::load_outlined(tree, path, options)?;
        let bytes = tree.read(path).ok_or_else(|| c::Rejected::Missing(path.to_path_buf()))?;
        let read = unit.files.iter().filter(|p| *p != path).filter_map(|p| tree.read(p));
        let texts: Vec<Arc<[u8]>> = std::iter::once(bytes.clone()).chain(read).collect();
        let has = |word: &[u8]| texts.iter().any(|t| t.windows(word.len()).any(|w| w == word));
        let may_switch_off =
            has(b"NDEBUG") || options.of(path).defines.iter().any(|(name, _)| name == "NDEBUG");
        let has_our_names = has(b"invdiff_") || has(b"INVDIFF_");
        let macros = texts.iter().flat_map(|t| defined(t)).collect();
        let counts_lines = has(b"__LINE__");
        Ok(Source { bytes, unit, outline, may_switch_off, counts_lines, has_our_names, macros })
    }
}

/// Names of the macros that a text defines.
fn defined(text: &[u8]) -> impl Iterator<Item = String> {
    text.split(|b| *b == b'\n').filter_map(|line| {
        let directive = line.trim_ascii().strip_prefix(b"#")?.trim_ascii_start();
        let rest = directive.strip_prefix(b"define")?.trim_ascii_start();
        let end = rest.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(rest.len());
        let name = String::from_utf8(rest.get(..end)?.to_vec()).ok()?;
        Some(name).filter(|n| !n.is_empty())
    })
}

/// Where a fact holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPoint {
    Entry,
    /// Wherever the function returns.
    Exit,
    /// At the head of the loop that begins in this line.
    Loop(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct PlacedFact<'a> {
    pub place: ProgramPoint,
    pub fact: &'a Fact,
}

/// The facts of one function.
#[derive(Clone, Debug)]
pub struct FunctionFacts<'a> {
    pub name: &'a str,
    pub facts: Vec<PlacedFact<'a>>,
}

/// A fact that is not in the copy, or not at each of its places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    pub function: String,
    pub fact: String,
    pub why: String,
    /// Some of its places have it.
    pub partly: bool,
}

/// A copy.
#[derive(Clone, Debug, Default)]
pub struct Asserted {
    pub text: Vec<u8>,
    /// Facts that stand at one place at least.
    pub facts: usize,
    pub left_out: Vec<LeftOut>,
}

/// Returns a copy of the source with these facts. Facts of functions that the file does not define are
/// left out.
pub fn insert(source: &Source, facts: &[FunctionFacts<'_>]) -> Asserted {
    let mut copy = Copy::new(source);
    if copy.has_own_assert() {
        copy.leave_all(facts, "the file has an assert of its own");
    } else if source.has_our_names {
        copy.leave_all(facts, "the file has names that begin with invdiff_, as those of copies do");
    } else if copy.switches_off() {
        copy.leave_all(facts, "the file switches its own assertions off (NDEBUG)");
    } else {
        facts.iter().for_each(|f| copy.function(f));
    }
    copy.finish()
}

/// A copy in the making.
struct Copy<'a> {
    source: &'a Source,
    edits: Edits,
    /// Offset of the first function with an assertion.
    first: Option<usize>,
    facts: usize,
    left_out: Vec<LeftOut>,
    eol: &'static str,
    /// One step of indentation.
    step: &'static str,
}

/// The conditions of one place, in order.
type Conditions = Vec<String>;

impl<'a> Copy<'a> {
    fn new(source: &'a Source) -> Copy<'a> {
        let newline = source.bytes.iter().position(|b| *b == b'\n');
        let before = newline.and_then(|n| n.checked_sub(1)).and_then(|n| source.bytes.get(n));
        let eol = if before == Some(&b'\r') { "\r\n" } else { "\n" };
        let is_indented = |line: &&[u8]| line.first().is_some_and(|b| matches!(b, b' ' | b'\t'));
        let step = match source.bytes.split(|b| *b == b'\n').find(is_indented) {
            Some([b'\t', ..]) => "\t",
            _ => "    ",
        };
        Copy { source, edits: Edits::default(), first: None, facts: 0, left_out: Vec::new(), eol, step }
    }

    fn finish(mut self) -> Asserted {
        if let Some(first) = self.first {
            self.include(first);
        }
        self.left_out.sort();
        self.left_out.dedup();
        let edits = self.edits;
        let text = match self.source.counts_lines {
            true => edits.apply_on_lines(&self.source.bytes),
            false => edits.apply(&self.source.bytes),
        };
        Asserted { text, facts: self.facts, left_out: self.left_out }
    }

    fn leave_out(&mut self, function: &str, fact: &Fact, why: impl Into<String>, partly: bool) {
        let (function, fact, why) = (function.to_owned(), fact.text.clone(), why.into());
        self.left_out.push(LeftOut { function, fact, why, partly });
    }

    fn leave_all(&mut self, facts: &[FunctionFacts<'_>], why: &str) {
        for f in facts {
            f.facts.iter().for_each(|p| self.leave_out(f.name, p.fact, why, false));
        }
    }

    /// `assert` of the library is a macro; anything else of that name is the file's.
    fn has_own_assert(&self) -> bool {
        self.source.outline.declared.contains("assert") || self.source.macros.contains("assert")
    }

    /// Whether assertions of the file are compiled out, which ours would switch on again.
    fn switches_off(&self) -> bool {
        self.source.unit.functions.iter().any(|f| f.settled.iter().any(|s| s.compiled_out))
    }

    fn function(&mut self, wanted: &FunctionFacts<'_>) {
        let outline = self.source.outline.functions.iter().find(|f| f.name == wanted.name);
        let function = self.source.unit.function(wanted.name);
        let (Some(outline), Some(function)) = (outline, function) else {
            let why = "the function is not defined in the file itself";
            return self.leave_all(std::slice::from_ref(wanted), why);
        };
        if outline.body.is_none() {
            let why = "a macro brings the function's braces";
            return self.leave_all(std::slice::from_ref(wanted), why);
        }
        let mut body =
            BodyCopy { copy: self, outline, function, snapshots: BTreeMap::new(), done: BTreeSet::new() };
        body.exits(&wanted.facts);
        body.loops(&wanted.facts);
        body.entry(&wanted.facts);
        body.finish();
    }

    /// Puts the header in: behind the last `#include` that stands before the first function in no
    /// conditional, so that macros that headers look at are defined; else before all.
    fn include(&mut self, first: usize) {
        let bytes = &self.source.bytes;
        let (mut depth, mut at, mut place) = (0usize, 0usize, 0usize);
        // Lists are included inside of initialisers, too.
        let mut braces = 0isize;
        let mut continued = false;
        for line in bytes.get(..first).unwrap_or_default().split_inclusive(|b| *b == b'\n') {
            at += line.len();
            let text = String::from_utf8_lossy(line).into_owned();
            let text = text.trim();
            let directive = (!continued).then(|| text.strip_prefix('#')).flatten().map(str::trim_start);
            continued = text.ends_with('\\');
            let Some(directive) = directive else {
                let of = |c| text.matches(c).count() as isize;
                braces += of('{') - of('}');
                continue;
            };
            if directive.starts_with("if") {
                depth += 1;
            } else if directive.starts_with("endif") {
                depth = depth.saturating_sub(1);
            } else if directive.starts_with("include") && depth == 0 && braces == 0 {
                if directive.contains("<assert.h>") && !self.source.may_switch_off {
                    return;
                }
                place = at;
            }
        }
        let on =
            if self.source.may_switch_off { format!("#undef NDEBUG{}", self.eol) } else { String::new() };
        self.edits.insert(place, format!("{on}#include <assert.h>{}", self.eol));
    }

    /// White space at the start of the line that holds an offset.
    fn indentation(&self, offset: usize) -> String {
        let before = self.source.bytes.get(..offset).unwrap_or_default();
        let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
        let line = before.get(start..).unwrap_or_default();
        let blank = line.iter().take_while(|b| matches!(b, b' ' | b'\t'));
        blank.map(|b| char::from(*b)).collect()
    }
}

/// One function of a copy.
struct BodyCopy<'c, 'a> {
    copy: &'c mut Copy<'a>,
    outline: &'a FunctionOutline,
    function: &'a Function,
    snapshots: BTreeMap<String, String>,
    /// Offsets of facts in the list of the function that stand somewhere.
    done: BTreeSet<usize>,
}

impl<'a> BodyCopy<'_, 'a> {
    fn site(&self, offset: usize) -> Site<'a> {
        Site { unit: &self.copy.source.unit, function: self.function, outline: self.outline, offset }
    }

    /// The conditions that some facts have at an offset. `result`: the result has a name there.
    fn conditions(
        &mut self,
        facts: &[(usize, &Fact)],
        offset: usize,
        result: bool,
    ) -> (Conditions, Vec<(usize, String)>) {
        let (mut found, mut refused) = (Conditions::new(), Vec::new());
        for &(index, fact) in facts {
            match condition(fact, self.site(offset)) {
                Ok(Condition { needs_result: true, .. }) if !result => {
                    refused.push((index, "the result has no name there".to_owned()));
                }
                Ok(c) if self.clashes(&c) => {
                    refused.push((index, "its entry values cannot be told apart".to_owned()));
                }
                Ok(c) => {
                    self.snapshots.extend(c.snapshots);
                    self.done.insert(index);
                    if !found.contains(&c.text) {
                        found.push(c.text);
                    }
                }
                Err(why) => refused.push((index, why)),
            }
        }
        (found, refused)
    }

    /// Whether another fact's entry value has the name of one of this condition's.
    fn clashes(&self, c: &Condition) -> bool {
        c.snapshots.iter().any(|(name, text)| self.snapshots.get(name).is_some_and(|known| known != text))
    }

    /// Says which facts found no place, or not all.
    fn settle(&mut self, facts: &[(usize, &Fact)], refused: Vec<(usize, String)>) {
        for (index, why) in refused {
            let partly = self.done.contains(&index);
            if let Some((_, fact)) = facts.iter().find(|(i, _)| *i == index) {
                self.copy.leave_out(&self.function.name, fact, why, partly);
            }
        }
    }

    fn exits(&mut self, all: &[PlacedFact<'_>]) {
        let facts = at(all, |p| p == ProgramPoint::Exit);
        if facts.is_empty() {
            return;
        }
        let mut refused = Vec::new();
        let outline = self.outline;
        if self.function.binding.odd_exits {
            let why = "a return in its text is not where the function ends";
            refused.extend(facts.iter().map(|(i, _)| (*i, why.to_owned())));
            return self.settle(&facts, refused);
        }
        for site in &outline.returns {
            let Some(edit) = &site.edit else {
                let why = format!("a macro brings the return in line {}", site.line);
                refused.extend(facts.iter().map(|(i, _)| (*i, why.clone())));
                continue;
            };
            refused.extend(self.return_statement(edit, &facts));
        }
        refused.extend(self.end_of_body(&facts));
        self.settle(&facts, refused);
    }

    fn is_void(&self) -> bool {
        self.function.ret == CType::Void
    }

    fn return_statement(&mut self, edit: &ReturnEdit, facts: &[(usize, &Fact)]) -> Vec<(usize, String)> {
        let named = edit.has_value && !self.is_void();
        let result = self.outline.result.clone().filter(|_| named);
        if named && result.is_none() {
            let why = "the type of the result has no name";
            return facts.iter().map(|(i, _)| (*i, why.to_owned())).collect();
        }
        let (conditions, refused) = self.conditions(facts, edit.keyword.start, result.is_some());
        if conditions.is_empty() {
            return refused;
        }
        let outer = format!("{}{}", self.copy.eol, self.copy.indentation(edit.keyword.start));
        let inner = format!("{outer}{}", self.copy.step);
        let asserts: String = conditions.iter().map(|c| format!("{inner}assert({c});")).collect();
        let bytes = &self.copy.source.bytes;
        let after = bytes.get(edit.keyword.end..).unwrap_or_default();
        let blank = after.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let keyword = edit.keyword.start..edit.keyword.end + if edit.has_value { blank } else { 0 };
        let behind = edit.semicolon..edit.semicolon + 1;
        let edits = &mut self.copy.edits;
        match result {
            Some(ty) => {
                edits.replace(keyword, format!("{{{inner}{ty} {RESULT} = ("));
                edits.replace(behind, format!(");{asserts}{inner}return {RESULT};{outer}}}"));
            }
            // A call without a result may be returned.
            None if edit.has_value => {
                edits.replace(keyword, format!("{{{inner}"));
                edits.replace(behind, format!(";{asserts}{inner}return;{outer}}}"));
            }
            None => {
                edits.replace(keyword, format!("{{{asserts}{inner}return"));
                edits.replace(behind, format!(";{outer}}}"));
            }
        }
        refused
    }

    /// Where control falls off the end: the result of `main` is 0 there, other results are nothing.
    fn end_of_body(&mut self, facts: &[(usize, &Fact)]) -> Vec<(usize, String)> {
        let is_main = &*self.function.name == "main";
        let is_reached = (is_main || self.is_void()) && !self.outline.ends_with_return;
        let Some(body) = self.outline.body.clone().filter(|_| is_reached) else {
            return Vec::new();
        };
        let (conditions, refused) =
            self.conditions(facts, body.end.saturating_sub(1), is_main && !self.is_void());
        if !conditions.is_empty() {
            let outer = format!("{}{}", self.copy.eol, self.copy.indentation(body.end));
            let inner = format!("{outer}{}", self.copy.step);
            let deeper = format!("{inner}{}", self.copy.step);
            let asserts =
                |at: &str| conditions.iter().map(|c| format!("{at}assert({c});")).collect::<String>();
            let text = match conditions.iter().any(|c| c.contains(RESULT)) {
                true => format!("{inner}{{{deeper}int {RESULT} = 0;{}{inner}}}", asserts(&deeper)),
                false => asserts(&inner),
            };
            self.copy.edits.insert(body.end, format!("{text}{outer}"));
        }
        refused
    }

    fn loops(&mut self, all: &[PlacedFact<'_>]) {
        let heads: BTreeSet<u32> = all
            .iter()
            .filter_map(|p| match p.place {
                ProgramPoint::Loop(line) => Some(line),
                _ => None,
            })
            .collect();
        let outline = self.outline;
        for line in heads {
            let facts = at(all, |p| p == ProgramPoint::Loop(line));
            let sites: Vec<&LoopSite> = outline.loops.iter().filter(|l| l.lines.contains(&line)).collect();
            let refused = match sites.as_slice() {
                [LoopSite { edit: Some(edit), .. }] => self.head(edit, &facts),
                [_] => everything(&facts, "a macro brings a part of the loop"),
                [] => everything(&facts, "no loop statement begins in its line"),
                _ => everything(&facts, "several loops begin in its line"),
            };
            self.settle(&facts, refused);
        }
    }

    fn head(&mut self, edit: &LoopEdit, facts: &[(usize, &Fact)]) -> Vec<(usize, String)> {
        let offset = match edit {
            LoopEdit::Condition { text, .. } | LoopEdit::Statement { text } => text.start,
            LoopEdit::Block { start } => *start,
        };
        let (conditions, refused) = self.conditions(facts, offset, false);
        if conditions.is_empty() {
            return refused;
        }
        let indentation = format!("{}{}", self.copy.eol, self.copy.indentation(offset));
        let inner = format!("{indentation}{}", self.copy.step);
        let statements: String = conditions.iter().map(|c| format!("{inner}assert({c});")).collect();
        let operands: String = conditions.iter().map(|c| format!("assert({c}), ")).collect();
        let edits = &mut self.copy.edits;
        match edit {
            LoopEdit::Condition { text, is_empty: true } => {
                edits.insert(text.end, format!(" {operands}1"));
            }
            LoopEdit::Condition { text, .. } => {
                let bytes = self.copy.source.bytes.get(text.clone()).unwrap_or_default();
                let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
                edits.insert(text.start + blank, format!("{operands}("));
                edits.insert(text.end, ")");
            }
            LoopEdit::Block { start } => edits.insert(*start, statements),
            LoopEdit::Statement { text } => {
                edits.insert(text.start, format!("{{{statements}{inner}"));
                edits.insert(text.end, format!("{indentation}}}"));
            }
        }
        refused
    }

    fn entry(&mut self, all: &[PlacedFact<'_>]) {
        let facts = at(all, |p| p == ProgramPoint::Entry);
        let Some(body) = self.outline.body.clone() else { return };
        let (conditions, refused) = self.conditions(&facts, body.start, false);
        self.settle(&facts, refused);
        let inner = self.inner(body.start);
        let kept: String = self.snapshots.values().map(|s| format!("{inner}{s}")).collect();
        let asserts: String = conditions.iter().map(|c| format!("{inner}assert({c});")).collect();
        if !kept.is_empty() || !asserts.is_empty() {
            self.copy.edits.insert(body.start, format!("{kept}{asserts}"));
        }
    }

    /// A new line inside the block whose brace stands at an offset.
    fn inner(&self, offset: usize) -> String {
        let outer = format!("{}{}", self.copy.eol, self.copy.indentation(offset));
        format!("{outer}{}", self.copy.step)
    }

    fn finish(self) {
        if self.done.is_empty() {
            return;
        }
        self.copy.facts += self.done.len();
        let start = self.outline.start;
        self.copy.first = Some(self.copy.first.map_or(start, |first| first.min(start)));
    }
}

/// The facts of a place, with their numbers in the list.
fn at<'f>(all: &[PlacedFact<'f>], wanted: impl Fn(ProgramPoint) -> bool) -> Vec<(usize, &'f Fact)> {
    all.iter().enumerate().filter(|(_, p)| wanted(p.place)).map(|(i, p)| (i, p.fact)).collect()
}

fn everything(facts: &[(usize, &Fact)], why: &str) -> Vec<(usize, String)> {
    facts.iter().map(|(i, _)| (*i, why.to_owned())).collect()
}

#[cfg(test)]
mod tests;
