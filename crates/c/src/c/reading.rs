//! A unit behind a prelude: preprocessed once, parsed and checked as often as there are guesses.
//!
//! Terms: a unit's *own* files, tokens and diagnostics are those that the preprocessor gives behind the prelude.
//!
//! What the unit's own tokens are depends on the includes and on the macros of the prelude, not on its declarations.
//! So where only those change, the prelude is preprocessed by itself, and the unit's own tokens follow it as they are.
//! All positions are those that another run over everything would give: the unit's files, and the macros at the
//! prelude's end, move by as much as the prelude has grown, and so does whatever lies in them.

use super::files::TreeFiles;
use super::guard::{self, Rejected};
use super::parse::Run;
use super::retry::{self, Guesses, Prelude};
use super::scan::Text;
use rucc_diag::{Diagnostic, SourceBytes, SourceMap, SourceMapFull, Span};
use rucc_pp::{Context, Preprocessor, Tok};
use rucc_sema::Checker;
use rucc_session::{FileSystem, Session};
use std::path::Path;
use std::rc::Rc;

/// How the source map calls the prelude.
const PRELUDE: &str = "<prelude>";

/// A preprocessed unit.
pub struct Preprocessed {
    pub session: Session,
    pub tokens: Vec<Tok>,
    diagnostics: Vec<Diagnostic>,
    keywords: rucc_lex::Keywords,
    own: Own,
    /// Whether some file says that its lines are others (`#line`).
    has_lines: bool,
}

/// Indices at which the unit's own tokens, diagnostics and files begin.
#[derive(Clone, Copy)]
struct Own {
    token: usize,
    diagnostic: usize,
    file: usize,
}

/// Runs the preprocessor over `source`, which stands at `path`, behind the prelude.
pub fn preprocess(
    files: &dyn FileSystem,
    source: SourceBytes,
    path: &Path,
    opts: &rucc_session::Options,
    prelude: &str,
) -> Result<Preprocessed, Rejected> {
    let mut session = Session::new(opts.clone());
    // Keywords must be interned before anything else is.
    let keywords = rucc_lex::Keywords::new(&mut session.interner, opts.std, true).x86(true);
    let (mut pp, mut tokens) = begin(files, &mut session, prelude).map_err(|e| full(path, e))?;
    let mut diagnostics = pp.take_diagnostics();
    let own = Own { token: tokens.len(), diagnostic: diagnostics.len(), file: session.sources.files().len() };
    let name = path.to_string_lossy().into_owned();
    let file = session.sources.add_shared(name, source, None).map_err(|e| full(path, e))?;
    tokens.append(&mut pp.run(file, &mut context(files, &mut session)));
    diagnostics.append(&mut pp.take_diagnostics());
    let has_lines = !pp.line_directives().is_empty();
    Ok(Preprocessed { session, tokens, diagnostics, keywords, own, has_lines })
}

fn full(path: &Path, _: SourceMapFull) -> Rejected {
    Rejected::Limit { path: path.to_path_buf(), name: "source-bytes", value: u32::MAX.into() }
}

fn context<'a>(files: &'a dyn FileSystem, session: &'a mut Session) -> Context<'a> {
    let Session { opts, interner, sources, .. } = session;
    let mut cx = Context::new(interner, sources, files, &opts.search);
    cx.lex = rucc_lex::Options::for_dialect(opts.std, true, false);
    cx
}

/// Returns a preprocessor that has read the prelude, and the prelude's tokens.
fn begin(
    files: &dyn FileSystem,
    session: &mut Session,
    prelude: &str,
) -> Result<(Preprocessor, Vec<Tok>), SourceMapFull> {
    let mut pp = Preprocessor::new();
    let mut predef = rucc_pp::Predef::for_options(&session.opts);
    predef.timestamp = rucc_pp::Timestamp { date: "Jan  1 1970".into(), time: "00:00:00".into() };
    let target = session.target.clone();
    let mut cx = context(files, session);
    pp.predefine(&target, &predef, &mut cx)?;
    let mut tokens = Vec::new();
    if !prelude.is_empty() {
        let file = cx.sources.add(PRELUDE, prelude.as_bytes().to_vec())?;
        tokens.append(&mut pp.run(file, &mut cx));
    }
    Ok((pp, tokens))
}

/// The file that a reading is of, and how it is read.
#[derive(Clone, Copy)]
pub struct Unit<'a> {
    pub files: &'a TreeFiles<'a>,
    pub path: &'a Path,
    pub opts: &'a rucc_session::Options,
}

impl Unit<'_> {
    fn prelude(&self, guesses: &Guesses) -> Prelude {
        let is_own = |name: &str, define: &String| define.split_once('=') == Some((name, name));
        guesses.prelude(&|name| self.opts.defines.iter().any(|define| is_own(name, define)))
    }
}

/// One of the unit's own files.
struct OwnFile {
    name: String,
    bytes: SourceBytes,
    included_from: Option<Span>,
    system_from: Option<u32>,
}

/// How far what lies at some positions moves.
struct Shift {
    /// Positions from here on do.
    from: u32,
    /// Modulo 2^32.
    by: u32,
}

impl Shift {
    fn position(&self, at: u32) -> u32 {
        if at >= self.from && at != Span::DUMMY.lo { at.wrapping_add(self.by) } else { at }
    }

    fn span(&self, span: Span) -> Span {
        Span { lo: self.position(span.lo), hi: self.position(span.hi) }
    }

    fn token(&self, mut token: Tok) -> Tok {
        (token.span, token.expansion) = (self.span(token.span), self.span(token.expansion));
        token
    }

    fn diagnostic(&self, one: &mut Diagnostic) {
        one.span = self.span(one.span);
        one.children.iter_mut().for_each(|child| self.diagnostic(child));
    }
}

/// A unit behind the includes and macros of one prelude.
pub struct Reading<'a> {
    unit: Unit<'a>,
    pub session: Session,
    keywords: rucc_lex::Keywords,
    /// Those of the prelude as it is now.
    includes: String,
    macros: String,
    /// As the preprocessor gave them: nothing is rewritten yet.
    tokens: Rc<Vec<Tok>>,
    diagnostics: Vec<Diagnostic>,
    own: Own,
    files: Vec<OwnFile>,
    /// Where the unit's own files begin.
    start: u32,
    /// Where the macros of the prelude do; without a prelude, `start`.
    from: u32,
    has_lines: bool,
}

impl<'a> Reading<'a> {
    /// Preprocesses the unit behind the prelude of some guesses.
    pub fn new(unit: Unit<'a>, guesses: &Guesses) -> Result<Reading<'a>, Rejected> {
        let Unit { files, path, opts } = unit;
        let source = files.source(path).ok_or_else(|| Rejected::Missing(path.to_path_buf()))?;
        let prelude = unit.prelude(guesses);
        let read = preprocess(files, source, path, opts, &prelude.to_string())?;
        let all = read.session.sources.files();
        let copy = |file: &rucc_diag::SourceFile| OwnFile {
            name: file.name.clone(),
            bytes: file.shared_bytes(),
            included_from: file.included_from,
            system_from: file.system_from,
        };
        let mut reading = Reading {
            unit,
            files: all.iter().skip(read.own.file).map(copy).collect(),
            start: all.get(read.own.file).map_or(0, |file| file.start),
            from: 0,
            keywords: read.keywords,
            includes: String::new(),
            macros: String::new(),
            tokens: Rc::new(read.tokens),
            diagnostics: read.diagnostics,
            own: read.own,
            has_lines: read.has_lines,
            session: read.session,
        };
        reading.note(prelude);
        Ok(reading)
    }

    /// Notes behind what the unit stands.
    fn note(&mut self, prelude: Prelude) {
        let length = prelude.includes.len() + prelude.declarations.len();
        let is_prelude = |file: &&rucc_diag::SourceFile| file.name == PRELUDE;
        let file = self.session.sources.files().iter().take(self.own.file).find(is_prelude);
        self.from = file.map_or(self.start, |file| file.start + length as u32);
        (self.includes, self.macros) = (prelude.includes, prelude.macros);
    }

    /// Puts the prelude of other guesses before the unit; `false`, with nothing changed, where the unit's own tokens
    /// may be others then.
    pub fn put_before(&mut self, guesses: &Guesses) -> Result<bool, Rejected> {
        let prelude = self.unit.prelude(guesses);
        if self.has_lines || prelude.includes != self.includes || prelude.macros != self.macros {
            return Ok(false);
        }
        let full = |e| full(self.unit.path, e);
        self.session.sources = SourceMap::new();
        let text = prelude.to_string();
        let (mut pp, mut tokens) = begin(self.unit.files, &mut self.session, &text).map_err(full)?;
        let sources = &mut self.session.sources;
        let shift = Shift { from: self.from, by: sources.used().wrapping_sub(self.start) };
        self.start = sources.used();
        let (first_file, first_token) = (sources.files().len(), tokens.len());
        for file in &mut self.files {
            file.included_from = file.included_from.map(|at| shift.span(at));
            file.system_from = file.system_from.map(|at| shift.position(at));
            let id = sources
                .add_shared(file.name.clone(), file.bytes.clone(), file.included_from)
                .map_err(full)?;
            file.system_from.into_iter().for_each(|at| sources.mark_system_from(id, at));
        }
        let own = self.tokens.get(self.own.token..).unwrap_or_default();
        tokens.extend(own.iter().map(|token| shift.token(*token)));
        self.tokens = Rc::new(tokens);
        let before = pp.take_diagnostics();
        let first_diagnostic = before.len();
        self.diagnostics.splice(..self.own.diagnostic, before);
        self.diagnostics.iter_mut().skip(first_diagnostic).for_each(|one| shift.diagnostic(one));
        self.own = Own { token: first_token, diagnostic: first_diagnostic, file: first_file };
        self.note(prelude);
        Ok(true)
    }

    /// Parses and checks the unit as the guesses want its tokens. The checker runs even when the parse failed: it
    /// recovers well.
    pub fn run(&mut self, guesses: &Guesses) -> Result<Run, Rejected> {
        let Unit { files, path, opts } = self.unit;
        let tokens = match retry::tokens::is_needed(guesses) {
            true => {
                Rc::new(retry::tokens::rewrite((*self.tokens).clone(), &mut self.session.interner, guesses))
            }
            false => self.tokens.clone(),
        };
        files.check(path)?;
        let Session { interner, target, sources, .. } = &mut self.session;
        let interner = &*interner;
        guard::check_tokens(path, Text { tokens: &tokens, interner })?;
        let mut diagnostics = self.diagnostics.clone();
        let plain: Vec<_> = tokens.iter().map(|t| t.to_pp()).collect();
        let (lexed, errors) = rucc_lex::convert(
            &plain,
            &rucc_lex::Convert {
                keywords: &self.keywords,
                interner,
                target,
                std: opts.std,
                gnu: true,
                pedantic: false,
            },
        );
        diagnostics.extend(errors);
        let type_names: Vec<_> = target.type_names().iter().filter_map(|&(n, _)| interner.find(n)).collect();
        let parsed = rucc_parse::parse(
            &lexed,
            rucc_parse::Context {
                error_limit: 0,
                gnu: true,
                type_names: &type_names,
                ..rucc_parse::Context::new(interner, opts.std)
            },
        );
        diagnostics.extend(parsed.diagnostics);
        let mut checker = Checker::new(
            &parsed.ast,
            rucc_sema::Context {
                permissive: true,
                error_limit: 0,
                ..rucc_sema::Context::new(interner, target, opts.std)
            },
        );
        checker.check_unit();
        for p in &parsed.weak_pragmas {
            checker.pragma_weak(p.name, p.target, p.span);
        }
        for p in &parsed.extname_pragmas {
            checker.pragma_extname(p.old, p.new, p.span);
        }
        let checked = checker.finish();
        diagnostics.extend(checked.diagnostics.iter().cloned());
        Ok(Run::new(std::mem::take(sources), checked, tokens, diagnostics, interner))
    }

    /// Returns the session with the sources of one of its runs.
    pub fn finish(mut self, sources: SourceMap) -> Session {
        self.session.sources = sources;
        self.session
    }
}

#[cfg(test)]
mod tests;
