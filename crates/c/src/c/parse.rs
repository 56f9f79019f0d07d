//! One translation unit from bytes to a typed tree.
//!
//! Terms: a *unit* is a source file with everything it includes; the *tree* is the version of the
//! repository it is read from; the *prelude* is text of ours that stands before the first line.
//!
//! Broken input is normal input: whatever can be parsed is, and the diagnostics say what could not.
//! Only a unit beyond a cap is [`Rejected`] as a whole.

use super::files::{self, TreeFiles};
use super::guard::Rejected;
use super::honesty::{self, Invented};
use super::reading::{Reading, Unit};
use super::retry::{self, Guesses, ROUNDS};
use super::scan::{Item, ItemKind, Text, Words};
use super::survey::Survey;
use super::{child, guard, headers, platform, survey};
use crate::history::SourceTree;
use crate::ir::DataModel;
use rucc_base::Interner;
use rucc_diag::{Diagnostic, Severity, SourceMap, Span};
use rucc_lex::{PpTokenKind, TokenFlags};
use rucc_pp::Tok;
use rucc_sema::Checked;
use rucc_session::{Session, Std};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// What a unit is parsed under, beside its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Macros defined before the first line, in order; `None` defines as 1.
    pub defines: Vec<(String, Option<String>)>,
    /// Macros undefined after `defines`.
    pub undefines: Vec<String>,
    /// Folders of the tree that includes are looked up in, after the including file's own.
    pub include_dirs: Vec<PathBuf>,
    /// Those that only quoted includes are looked up in, before `include_dirs`.
    pub quote_dirs: Vec<PathBuf>,
    /// Those that come after `include_dirs` and before the library's headers.
    pub system_dirs: Vec<PathBuf>,
    pub data_model: DataModel,
    /// Read the machine's own library headers instead of the embedded ones. Results then depend
    /// on the machine.
    pub host_headers: bool,
    /// What single files are parsed under beside all that ([`Options::of`]).
    pub files: Arc<BTreeMap<PathBuf, Arc<FileOptions>>>,
}

/// What one file is parsed under beside what all are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileOptions {
    pub defines: Vec<(String, Option<String>)>,
    pub undefines: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
    pub quote_dirs: Vec<PathBuf>,
    pub system_dirs: Vec<PathBuf>,
}

impl FileOptions {
    /// Defines a macro (`NAME` or `NAME(PARAMETERS)`); the last word on it counts.
    pub fn define(&mut self, name: &str, value: Option<String>) {
        self.forget(name);
        self.defines.push((name.to_owned(), value));
    }

    pub fn undefine(&mut self, name: &str) {
        self.forget(name);
        self.undefines.push(name.to_owned());
    }

    fn forget(&mut self, name: &str) {
        self.defines.retain(|(known, _)| plain(known) != plain(name));
        self.undefines.retain(|known| plain(known) != plain(name));
    }
}

/// A macro's name without its parameters.
fn plain(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

impl Options {
    /// Returns what the file at `path` is parsed under. What is said of all files wins over what is said of one:
    /// the one comes from a build, the other from who asks.
    pub fn of(&self, path: &Path) -> Cow<'_, Options> {
        let Some(own) = self.files.get(path) else { return Cow::Borrowed(self) };
        let mut macros = (**own).clone();
        for (name, value) in &self.defines {
            macros.define(name, value.clone());
        }
        self.undefines.iter().for_each(|name| macros.undefine(name));
        let join = |all: &[PathBuf], own: &[PathBuf]| all.iter().chain(own).cloned().collect();
        Cow::Owned(Options {
            defines: macros.defines,
            undefines: macros.undefines,
            include_dirs: join(&self.include_dirs, &own.include_dirs),
            quote_dirs: join(&self.quote_dirs, &own.quote_dirs),
            system_dirs: join(&self.system_dirs, &own.system_dirs),
            data_model: self.data_model,
            host_headers: self.host_headers,
            files: Arc::default(),
        })
    }

    /// The folders that includes are looked up in.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> + Clone {
        self.quote_dirs.iter().chain(&self.include_dirs).chain(&self.system_dirs)
    }
}

/// A parsed unit. Ids of types, declarations and symbols belong to this value only.
#[derive(Debug)]
pub struct Parsed {
    pub session: Session,
    pub checked: Checked,
    /// The unit's tokens after preprocessing: `span` is the spelling, `expansion` the outermost
    /// macro call.
    pub tokens: Vec<Tok>,
    pub diagnostics: Vec<Diagnostic>,
    /// Every path that was tried in the tree, with the id of its content (`None`: no such file),
    /// sorted: equal answers for all of them mean an equal parse.
    pub reads: Vec<(PathBuf, Option<String>)>,
    /// The unit's source file.
    pub path: PathBuf,
    /// Top-level items in token order, functions that the parser lost included.
    pub items: Vec<Item>,
    /// Functions defined in active text that the typed tree lacks.
    pub lost: BTreeSet<String>,
    pub invented: Invented,
    /// Labels behind `case` that are no constants (`retry::tokens::number_of`), by name.
    pub labels: Vec<Arc<str>>,
    /// Text of ours that stood before the first line to make up for names that nobody declares.
    pub prelude: String,
    /// Positions at which outermost macro calls start.
    calls: FxHashSet<u32>,
}

/// A place in a file of the unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// Path in the tree, or an embedded header's, which starts with `<`.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// In bytes, from 1.
    pub column: u32,
    /// Line of the last byte of the construct.
    pub end_line: u32,
    /// Name of the macro whose call starts here, if the construct came out of one.
    pub macro_name: Option<Arc<str>>,
}

/// Bytes of a definition before a constant of it.
const LONGEST_DEFINITION: usize = 1024;

impl Parsed {
    /// Returns the tokens as text.
    pub fn text(&self) -> Text<'_> {
        Text { tokens: &self.tokens, interner: &self.session.interner }
    }

    /// Returns a hash of a function's text after preprocessing.
    pub fn text_hash(&self, function: &str) -> Arc<str> {
        let is_it = |i: &&Item| matches!(&i.kind, ItemKind::Function { name, .. } if name == function);
        let text = self.text();
        let mut hasher = blake3::Hasher::new();
        for i in self.items.iter().filter(is_it).flat_map(|i| i.tokens.clone()) {
            hasher.update(text.at(i).as_bytes());
            hasher.update(b"\n");
        }
        hasher.finalize().to_hex()[..16].into()
    }

    /// Returns where a span of the typed tree lies; `None` for spans that the parser made up.
    pub fn place(&self, span: Span) -> Option<SourcePosition> {
        if span.is_dummy() {
            return None;
        }
        let sources = &self.session.sources;
        let start = sources.lookup(span.lo)?;
        let last = span.hi.saturating_sub(1).max(span.lo);
        let end = sources.lookup(last).filter(|e| e.file == start.file).unwrap_or(start);
        Some(SourcePosition {
            file: self.path_of(&sources.file(start.file).name),
            line: start.line,
            column: start.column,
            end_line: end.line.max(start.line),
            macro_name: self.macro_at(span.lo),
        })
    }

    /// Returns the name of the macro whose outermost call starts at `position`.
    pub(super) fn macro_at(&self, position: u32) -> Option<Arc<str>> {
        if !self.calls.contains(&position) {
            return None;
        }
        let file = self.session.sources.file(self.session.sources.lookup_file(position)?);
        let text = file.bytes().get((position - file.start) as usize..)?;
        let end = text.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(text.len());
        std::str::from_utf8(text.get(..end)?).ok().filter(|t| !t.is_empty()).map(Arc::from)
    }

    /// Returns where the definition begins of the macro without arguments in which a position is, and its name; of
    /// one that is long nothing.
    pub(super) fn defined_at(&self, position: u32) -> Option<(u32, Arc<str>)> {
        let file = self.session.sources.file(self.session.sources.lookup_file(position)?);
        let bytes = file.bytes();
        let mut start = (position - file.start) as usize;
        let first = start.saturating_sub(LONGEST_DEFINITION);
        // A line goes on behind a backslash.
        while let Some(before) = start.checked_sub(1).filter(|b| *b >= first)
            && !(bytes.get(before) == Some(&b'\n')
                && before.checked_sub(1).and_then(|b| bytes.get(b)) != Some(&b'\\'))
        {
            start = before;
        }
        let line = std::str::from_utf8(bytes.get(start..(position - file.start) as usize)?).ok()?;
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let name = rest.strip_prefix([' ', '\t'])?.trim_start();
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let is_plain = name.get(end..)?.starts_with([' ', '\t']);
        let name = name.get(..end).filter(|n| is_plain && !n.is_empty())?;
        Some((file.start + start as u32, name.into()))
    }

    /// Returns the path in the tree of a file that the unit has read under a name.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        files::path_of(name, &self.path, &self.reads)
    }

    /// Returns whether nothing at all was wrong with the unit or a header it uses.
    pub fn is_clean(&self) -> bool {
        !self.diagnostics.iter().any(|d| matches!(d.severity, Severity::Error | Severity::Ice))
    }
}

/// Preprocesses, parses and checks the file at `path`.
///
/// Runs on a thread of its own with a large stack. Cost is linear in the number of tokens, about
/// 5 ms for an ordinary file, and up to five times that when names are missing.
pub fn parse(tree: &dyn SourceTree, path: &Path, options: &Options) -> Result<Parsed, Rejected> {
    let options = &*options.of(path);
    guard::on_large_stack(path, || parse_here(tree, path, options))
}

/// Returns an identity of the unit at `path` under some options: two units with equal keys parse equally.
///
/// `reads` are those of an earlier parse ([`Parsed::reads`]), asked again of `tree`; no file is
/// read. Cost: one look-up for each path.
pub fn unit_key(
    tree: &dyn SourceTree,
    path: &Path,
    reads: &[(PathBuf, Option<String>)],
    options: &Options,
) -> String {
    child::unit_key(tree, reads, &options.of(path))
}

/// Parses in this process, after a trial in another one when the unit looks explosive. The caller provides the stack.
fn parse_here(tree: &dyn SourceTree, path: &Path, options: &Options) -> Result<Parsed, Rejected> {
    let files = TreeFiles::new(tree, path, options.host_headers);
    let survey = survey::survey(&files, path, options);
    let tried = if survey.suspicion.is_some() { child::trial(tree, path, options)? } else { None };
    let opts = session_options(path, options, &survey);
    let unit = Unit { files: &files, path, opts: &opts };
    match tried {
        Some(tried) => in_one_pass(unit, tried),
        None => Ok(in_passes(unit)?.0),
    }
}

/// What all passes over a unit came to.
#[derive(Serialize, Deserialize)]
pub(super) struct Tried {
    guesses: Guesses,
    /// See [`Parsed::reads`].
    reads: Vec<(PathBuf, Option<String>)>,
}

/// Parses in this process for another one that will parse the same. The caller provides the stack.
pub(super) fn try_here(tree: &dyn SourceTree, path: &Path, options: &Options) -> Result<Tried, Rejected> {
    let files = TreeFiles::new(tree, path, options.host_headers);
    let opts = session_options(path, options, &survey::survey(&files, path, options));
    let (parsed, guesses) = in_passes(Unit { files: &files, path, opts: &opts })?;
    Ok(Tried { guesses, reads: parsed.reads })
}

/// Reads a unit as another process came to read it in all passes. What these asked of the tree belongs to the unit: the
/// guesses follow from it.
fn in_one_pass(unit: Unit<'_>, tried: Tried) -> Result<Parsed, Rejected> {
    let Tried { guesses, reads } = tried;
    unit.files.learn(reads);
    let mut reading = Reading::new(unit, &guesses)?;
    let run = reading.run(&guesses)?;
    Ok(run.finish(reading, unit.path, unit.files, &guesses))
}

/// Reads a unit in as many passes as help. Returns the guesses of the best one, too.
fn in_passes(unit: Unit<'_>) -> Result<(Parsed, Guesses), Rejected> {
    let Unit { files, path, .. } = unit;
    let mut guesses = Guesses::default();
    let mut reading = Reading::new(unit, &guesses)?;
    let mut best = reading.run(&guesses)?;
    // The best pass's, where another one has begun since.
    let mut left = None;
    let (mut tried, mut worse) = (guesses.clone(), None);
    for _ in 1..ROUNDS {
        let next = worse.as_ref().unwrap_or(&best).refine(&reading.session.interner, &tried);
        if next == tried {
            break;
        }
        files.restart();
        if !reading.put_before(&next)? {
            let other = Reading::new(unit, &next)?;
            left.get_or_insert(std::mem::replace(&mut reading, other));
        }
        let again = reading.run(&next)?;
        tried = next;
        if again.losses() <= best.losses() {
            (best, guesses, worse, left) = (again, tried.clone(), None, None);
        } else if worse.is_none() {
            // What a guess brings to light may be explained by the next one.
            worse = Some(again);
        } else {
            break;
        }
    }
    Ok((best.finish(left.unwrap_or(reading), path, files, &guesses), guesses))
}

/// Result of one pass over the unit.
pub(super) struct Run {
    /// Where the tokens lie. Names are those of the session that the run was in.
    sources: SourceMap,
    checked: Checked,
    tokens: Rc<Vec<Tok>>,
    diagnostics: Vec<Diagnostic>,
    items: Vec<Item>,
    /// Functions that the scan found and the typed tree lacks.
    lost: BTreeSet<String>,
    /// See [`Run::code`]; `None`: what the unit has.
    code: OnceCell<Option<(Vec<Tok>, Vec<Item>)>>,
}

impl Run {
    pub(super) fn new(
        sources: SourceMap,
        checked: Checked,
        tokens: Rc<Vec<Tok>>,
        diagnostics: Vec<Diagnostic>,
        interner: &Interner,
    ) -> Run {
        let items = own_items(Text { tokens: &tokens, interner });
        let tree = &checked.tast;
        let defined: BTreeSet<&str> = tree
            .top_level()
            .iter()
            .filter(|&&d| tree[d].body.is_some())
            .filter_map(|&d| tree[d].name.map(|n| interner.resolve(n)))
            .collect();
        let lost = items
            .iter()
            .filter_map(|i| match &i.kind {
                ItemKind::Function { name, .. } if !defined.contains(name.as_str()) => Some(name.clone()),
                _ => None,
            })
            .collect();
        Run { sources, checked, tokens, diagnostics, items, lost, code: OnceCell::new() }
    }

    #[cfg(test)]
    pub(super) fn parts(&self) -> (&SourceMap, &[Tok], &[Diagnostic]) {
        (&self.sources, &self.tokens, &self.diagnostics)
    }

    /// How bad the pass was: lost functions first, then errors.
    fn losses(&self) -> (usize, usize) {
        (self.lost.len(), self.diagnostics.iter().filter(|d| d.severity.is_fatal()).count())
    }

    fn refine(&self, interner: &Interner, guesses: &Guesses) -> Guesses {
        let Run { diagnostics, lost, .. } = self;
        let (tokens, items) = self.code(interner);
        let text = Text { tokens, interner };
        if retry::is_explained(diagnostics, lost) {
            let mut known = guesses.clone();
            retry::definers::guess(text, items, &mut known);
            return known;
        }
        let text = Words::new(text);
        retry::Evidence { text, items, diagnostics, lost }.refine(guesses)
    }

    /// The tokens without the pragmas among them, and their items. What is next and what was invented both follow from
    /// these.
    fn code(&self, interner: &Interner) -> (&[Tok], &[Item]) {
        let code = self.code.get_or_init(|| {
            let tokens = without_pragmas(&self.tokens)?;
            let items = own_items(Text { tokens: &tokens, interner });
            Some((tokens, items))
        });
        match code {
            Some((tokens, items)) => (tokens, items),
            None => (&self.tokens, &self.items),
        }
    }

    fn finish(self, of: Reading<'_>, path: &Path, files: &TreeFiles<'_>, guesses: &Guesses) -> Parsed {
        let (tokens, items) = self.code(&of.session.interner);
        let text = Text { tokens, interner: &of.session.interner };
        let invented = honesty::invented(text, items, &self.diagnostics, guesses);
        let calls = self.tokens.iter().filter(|t| !t.expansion.is_dummy()).map(|t| t.expansion.lo).collect();
        Parsed {
            prelude: guesses.prelude(&|_| false).to_string(),
            labels: guesses.labels.iter().map(|l| Arc::from(l.as_str())).collect(),
            invented,
            calls,
            session: of.finish(self.sources),
            checked: self.checked,
            // Nobody else has them: the reading has come to its end.
            tokens: Rc::unwrap_or_clone(self.tokens),
            diagnostics: self.diagnostics,
            items: self.items,
            lost: self.lost,
            reads: files.reads(),
            path: path.to_path_buf(),
        }
    }
}

/// Options of the `rucc` session: a fixed target, never the machine's own.
pub(super) fn session_options(path: &Path, options: &Options, survey: &Survey) -> rucc_session::Options {
    let triple = match options.data_model {
        DataModel::Lp64 => "x86_64-unknown-linux-gnu",
        DataModel::Ilp32 => "i686-unknown-linux-gnu",
    };
    // Both triples are in the table of rucc-tuple; its own default is the machine's target.
    let triple = triple.parse().unwrap_or_else(|_| unreachable!("{triple} is a known target"));
    let mut out = rucc_session::Options::new(triple);
    (out.std, out.error_limit, out.permissive) = (Std::C17, 0, true);
    out.defines = options
        .defines
        .iter()
        .map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("1")))
        .collect();
    let said = options.defines.iter().map(|(name, _)| name.as_str());
    let said = said.chain(options.undefines.iter().map(String::as_str)).collect();
    let found = platform::answers(&survey.asked, &said, options.data_model);
    out.defines.extend(found.into_iter().map(|(name, value)| format!("{name}={value}")));
    out.undefines = options.undefines.clone();
    if let Some(folder) = path.parent() {
        out.search.push_bracket(folder);
    }
    options.quote_dirs.iter().for_each(|d| out.search.push_quote(d));
    options.include_dirs.iter().for_each(|d| out.search.push_bracket(d));
    options.system_dirs.iter().for_each(|d| out.search.push_system(d));
    if options.host_headers {
        out.search.push_system(rucc_session::runtime::DIR);
        headers::HOST_DIRS.iter().for_each(|d| out.search.push_system(d));
    } else {
        // Ours stand before the compiler's own: its `setjmp.h` only passes on to the library's.
        out.search.push_system(headers::DIR);
        out.search.push_system(rucc_session::runtime::DIR);
    }
    survey.folders.iter().for_each(|d| out.search.push_after(d));
    out.search.push_after(super::files::ANYWHERE);
    out.search.push_after(headers::TESTS);
    out
}

/// The tokens without the pragmas that the preprocessor passes on, if there are some: what stands in one is no word of
/// the code.
fn without_pragmas(tokens: &[Tok]) -> Option<Vec<Tok>> {
    let begins_line = |t: &Tok| t.flags.has(TokenFlags::START_OF_LINE);
    let is_pragma = |t: &Tok| begins_line(t) && matches!(t.kind, PpTokenKind::Punct(p) if p.as_str() == "#");
    let mut is_within = false;
    let is_code = |t: &&Tok| {
        is_within = is_pragma(t) || is_within && !begins_line(t);
        !is_within
    };
    tokens.iter().any(is_pragma).then(|| tokens.iter().filter(is_code).copied().collect())
}

/// The items of a unit, without the declarations that we put into it.
fn own_items(text: Text<'_>) -> Vec<Item> {
    let mut items = text.items();
    let start = |item: &Item| text.tokens.get(item.tokens.start).map(|t| t.report_span().lo);
    let is_function = |item: &&Item| matches!(item.kind, ItemKind::Function { .. });
    let definitions: BTreeSet<u32> = items.iter().filter(is_function).filter_map(start).collect();
    items.retain(|item| !retry::tokens::is_copy(text, item, &definitions));
    items
}

#[cfg(test)]
mod tests;
