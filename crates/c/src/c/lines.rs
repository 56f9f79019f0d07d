//! What each source line of a unit belongs to, so that every hunk of a range can be accounted for.
//!
//! Which branches of `#if` are active is asked of the preprocessor itself: a copy of the unit with a
//! marker after every conditional is preprocessed, and the markers that come out name the branches
//! that were taken. A file that is included several times is active where any inclusion was.
//! That is a second run; mostly the first one tells already ([`Lines`]): a branch that gave a token was taken,
//! and then the others of its conditional were not.

use super::files::TreeFiles;
use super::guard::Rejected;
use super::parse::{Options, Parsed, session_options};
use super::reading::preprocess;
use super::scan::{Item, ItemKind};
use super::{guard, survey};
use crate::history::SourceTree;
use rucc_diag::SourceBytes;
use rucc_session::FileSystem;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a line of source belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Nothing but white space and comments.
    Blank,
    /// In a branch of a conditional that is not taken.
    Inactive,
    /// A preprocessor directive, its continuation lines included.
    Directive,
    /// The head or body of a function definition.
    Function(Arc<str>),
    /// A variable at file scope, with its initialiser.
    Global(Arc<str>),
    Prototype(Arc<str>),
    /// A `struct`, `union`, `enum` or `typedef`.
    Type(Arc<str>),
    /// Anything else, such as text that the parser could not place.
    Other,
}

/// A preprocessor directive of a file.
#[derive(Debug)]
struct Directive {
    word: String,
    /// From 1.
    lines: RangeInclusive<u32>,
    /// Offset of the newline that ends it, or of the end of the file.
    end: usize,
}

/// A pass over a file's text: its directives, and which lines hold more than comments.
#[derive(Debug, Default)]
struct Layout {
    directives: Vec<Directive>,
    occupied: BTreeSet<u32>,
    lines: u32,
}

fn layout(bytes: &[u8]) -> Layout {
    let mut out = Layout::default();
    let (mut at, mut line, mut fresh) = (0usize, 1u32, true);
    while let Some(&b) = bytes.get(at) {
        match b {
            b'\n' => (line, fresh, at) = (line + 1, true, at + 1),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
            b'#' if fresh => {
                let rest = bytes.get(at + 1..).unwrap_or_default();
                let logical = survey::logical_line(rest);
                let end = at + 1 + logical.length;
                let last = line + newlines(bytes, at, end);
                let text = logical.text.trim_ascii();
                let length = text.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(text.len());
                let word = String::from_utf8_lossy(text.get(..length).unwrap_or_default()).into_owned();
                out.directives.push(Directive { word, lines: line..=last, end });
                out.occupied.extend(line..=last);
                (line, at) = (last, end);
            }
            _ => {
                fresh = false;
                let (piece, length) = survey::piece(bytes.get(at..).unwrap_or_default());
                let end = (at + length.max(1)).min(bytes.len());
                let last = line + newlines(bytes, at, end);
                if piece.is_some() {
                    out.occupied.extend(line..=last);
                } else if b == b'/' {
                    // A directive may follow a comment on its line.
                    fresh = true;
                }
                (line, at) = (last, end);
            }
        }
    }
    out.lines = if bytes.last() == Some(&b'\n') { line - 1 } else { line };
    out
}

/// A directive with one blank for all white space between its words, without a comment to the end of its line; what
/// literals hold is theirs.
fn evened(directive: &str) -> String {
    let mut out = String::new();
    let (mut quote, mut is_escaped) = (None, false);
    // `#include <a//b.h>` names a file.
    let names_file = directive.contains("include") || directive.contains("import");
    let directive = directive.trim();
    for (at, c) in directive.char_indices() {
        match quote {
            None if !names_file && directive[at..].starts_with("//") => break,
            None if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
                continue;
            }
            None => quote = matches!(c, '"' | '\'').then_some(c),
            Some(q) if c == q && !is_escaped => quote = None,
            Some(_) => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out
}

/// Code of a file as one text: where lines end matters at directives alone. Without what stands there for C++ only.
pub fn joined(code: &BTreeMap<u32, String>) -> String {
    let lines: Vec<&String> = code.values().collect();
    let mut out = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some(length) = for_other_language(&lines[at..]) {
            at += length;
            continue;
        }
        let end = if line.starts_with(" #") { "\n" } else { "" };
        out.extend([end, line, end]);
        at += 1;
    }
    out
}

/// How many lines a conditional has that only C++ takes, if lines begin with one.
fn for_other_language(lines: &[&String]) -> Option<usize> {
    let word = |line: &str| line.trim_start().strip_prefix('#').map(str::trim_start).map(str::to_owned);
    let opens = word(lines.first()?)?;
    let asked = opens.strip_prefix("ifdef ").or_else(|| {
        let defined = opens.strip_prefix("if defined")?.trim_start();
        Some(defined.strip_prefix('(').and_then(|d| d.strip_suffix(')')).unwrap_or(defined))
    });
    if asked?.trim() != "__cplusplus" {
        return None;
    }
    let mut depth = 0usize;
    for (k, directive) in lines.iter().enumerate().filter_map(|(k, line)| Some((k, word(line)?))) {
        match directive.as_str() {
            d if d.starts_with("if") => depth += 1,
            d if d.starts_with("el") && depth == 1 => return None,
            d if d.starts_with("endif") && depth == 1 => return Some(k + 1),
            d if d.starts_with("endif") => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the code of every line that has some, without comments and with white space evened out: two
/// texts of equal code are the same to a compiler. A piece that spans lines counts for its first one.
pub fn code(bytes: &[u8]) -> BTreeMap<u32, String> {
    let mut out: BTreeMap<u32, String> = BTreeMap::new();
    let (mut at, mut line, mut fresh) = (0usize, 1u32, true);
    // Operators without a blank between them are read together: `a+++b`.
    let is_operator = |b: u8| b"+-*/%&|^<>=!.#~?:".contains(&b);
    let mut after_operator = usize::MAX;
    while let Some(&b) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let (text, length) = match b {
            b'#' if fresh => {
                let logical = survey::logical_line(rest);
                let text = String::from_utf8_lossy(&logical.text).into_owned();
                (Some(evened(&text)), logical.length)
            }
            0x0b | 0x0c => (None, 1),
            _ => {
                let (piece, length) = survey::piece(rest);
                let text = rest.get(..length.max(1)).unwrap_or_default();
                (piece.map(|_| String::from_utf8_lossy(text).into_owned()), length)
            }
        };
        let end = (at + length.max(1)).min(bytes.len());
        fresh = match (b, &text) {
            (b'\n', _) => true,
            (_, Some(_)) => false,
            (_, None) => fresh,
        };
        if let Some(text) = text {
            let code = out.entry(line).or_default();
            if !(is_operator(b) && after_operator == at) {
                code.push(' ');
            }
            code.push_str(&text);
            after_operator = if is_operator(b) { end } else { usize::MAX };
        }
        (line, at) = (line + newlines(bytes, at, end), end);
    }
    out
}

fn newlines(bytes: &[u8], from: usize, to: usize) -> u32 {
    bytes.get(from..to).map_or(0, |b| b.iter().filter(|b| **b == b'\n').count() as u32)
}

/// Identifiers that stand after conditionals: this and the directive's number in its file.
const MARK: &str = "__invdiff_branch_";

/// Returns a file's text with a marker after every directive that opens a branch.
fn marked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let mut from = 0;
    for (number, directive) in layout(bytes).directives.iter().enumerate() {
        if opens_branch(&directive.word) {
            out.extend_from_slice(bytes.get(from..directive.end).unwrap_or_default());
            out.extend_from_slice(format!("\n{MARK}{number}").as_bytes());
            from = directive.end;
        }
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out.extend_from_slice(b"\n\n");
    out
}

fn opens_branch(word: &str) -> bool {
    matches!(word, "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else")
}

/// The unit's files with markers.
#[derive(Debug)]
struct Marked<'a, 't>(&'a TreeFiles<'t>);

impl FileSystem for Marked<'_, '_> {
    fn read(&self, path: &Path) -> io::Result<SourceBytes> {
        let bytes = self.0.read(path)?;
        // Library headers are nobody's hunk, and host headers may be large.
        if path.is_absolute() || path.starts_with(super::headers::DIR) {
            return Ok(bytes);
        }
        Ok(SourceBytes::new(marked(bytes.as_slice())))
    }

    fn identity(&self, path: &Path) -> PathBuf {
        self.0.identity(path)
    }
}

/// Returns, for every file of the tree that a unit read, the line ranges (from 1, ends included)
/// that lie in branches which are not taken under the unit's options; files without any are there
/// with an empty list.
///
/// Costs one more run of the preprocessor.
pub fn active_inactive_ranges(
    tree: &dyn SourceTree,
    unit: &Parsed,
    options: &Options,
) -> Result<BTreeMap<PathBuf, Vec<RangeInclusive<u32>>>, Rejected> {
    guard::on_large_stack(&unit.path, || {
        let files = TreeFiles::new(tree, &unit.path, options.host_headers);
        let survey = survey::survey(&files, &unit.path, options);
        let opts = session_options(&unit.path, options, &survey);
        let source = marked(&tree.read(&unit.path).ok_or_else(|| Rejected::Missing(unit.path.clone()))?);
        let text = preprocess(&Marked(&files), SourceBytes::new(source), &unit.path, &opts, &unit.prelude)?;
        files.check(&unit.path)?;
        let (sources, reads) = (&text.session.sources, files.reads());
        let mut taken: BTreeMap<PathBuf, BTreeSet<usize>> = BTreeMap::new();
        for file in sources.files() {
            let path = super::files::path_of(&file.name, &unit.path, &reads);
            if !path.starts_with(super::headers::DIR) && !path.is_absolute() {
                taken.entry(path).or_default();
            }
        }
        for token in &text.tokens {
            let Some(name) = token.ident().map(|s| text.session.interner.resolve(s)) else { continue };
            let Some(number) = name.strip_prefix(MARK).and_then(|n| n.parse().ok()) else { continue };
            let Some(file) = sources.lookup_file(token.span.lo) else { continue };
            let path = super::files::path_of(&sources.file(file).name, &unit.path, &reads);
            taken.entry(path).or_default().insert(number);
        }
        let ranges = |(path, taken): (PathBuf, BTreeSet<usize>)| {
            let layout = layout(&tree.read(&path)?);
            let ranges = inactive(&layout, &taken);
            Some((path, ranges))
        };
        Ok(taken.into_iter().filter_map(ranges).collect())
    })
}

/// Returns the inactive line ranges of a file, given which of its directives open taken branches.
fn inactive(layout: &Layout, taken: &BTreeSet<usize>) -> Vec<RangeInclusive<u32>> {
    let mut out: Vec<RangeInclusive<u32>> = Vec::new();
    // Whether each open branch is active, all enclosing ones considered.
    let mut open: Vec<bool> = Vec::new();
    let mut from = 1;
    for (number, directive) in layout.directives.iter().enumerate() {
        let conditional = opens_branch(&directive.word) || directive.word == "endif";
        if !conditional {
            continue;
        }
        let (first, last) = (*directive.lines.start(), *directive.lines.end());
        if open.last() == Some(&false) && from < first {
            out.push(from..=first - 1);
        }
        let opens = matches!(directive.word.as_str(), "if" | "ifdef" | "ifndef");
        if !opens {
            open.pop();
        }
        // The directive's own line belongs to the text around the whole conditional.
        if open.last() == Some(&false) {
            out.push(first..=last);
        }
        if directive.word != "endif" {
            let outer = open.last().copied().unwrap_or(true);
            open.push(outer && taken.contains(&number));
        }
        from = last + 1;
    }
    if open.last() == Some(&false) && from <= layout.lines {
        out.push(from..=layout.lines);
    }
    out.dedup_by(|next, before| {
        let joins = *before.end() + 1 == *next.start();
        if joins {
            *before = *before.start()..=*next.end();
        }
        joins
    });
    out
}

/// What the lines of a file belong to, as far as one pass over a unit says.
#[derive(Debug, Default)]
pub struct Lines {
    kinds: Vec<LineKind>,
    /// Branches of which nothing says whether they were taken.
    unsure: Vec<RangeInclusive<u32>>,
}

impl Lines {
    /// The lines of `file`, which `unit` has read. Cost: linear in the unit's tokens.
    pub fn of(tree: &dyn SourceTree, unit: &Parsed, file: &Path) -> Lines {
        let Some(bytes) = tree.read(file) else { return Lines::default() };
        let taken = taken(&layout(&bytes), unit, file);
        Lines { kinds: line_kinds(tree, unit, file, &taken.inactive), unsure: taken.unsure }
    }

    /// What a line (from 1) belongs to, or `None` where it takes another run to tell.
    pub fn kind(&self, line: u32) -> Option<&LineKind> {
        let is_sure = !self.unsure.iter().any(|range| range.contains(&line));
        self.kinds.get((line as usize).checked_sub(1)?).filter(|_| is_sure)
    }
}

/// Which branches of a file's conditionals were not taken, and of which there is no telling.
#[derive(Debug, Default, PartialEq, Eq)]
struct Taken {
    inactive: Vec<RangeInclusive<u32>>,
    unsure: Vec<RangeInclusive<u32>>,
}

/// Reads off the tokens of a unit which branches of a file were taken.
fn taken(layout: &Layout, unit: &Parsed, file: &Path) -> Taken {
    let conditionals = conditionals(layout);
    if conditionals.is_empty() {
        return Taken::default();
    }
    let stretches = stretches(unit, file);
    let places = unit.tokens.iter().map(|t| t.span.lo).filter(|at| stretches.iter().any(|s| s.contains(at)));
    let place = |at| unit.session.sources.lookup(at);
    let seen: BTreeSet<u32> = places.filter_map(place).map(|place| place.line).collect();
    by_tokens(&conditionals, &seen, stretches.len() == 1)
}

/// Where the text of a file stands among that of all that a unit has read, once for each time that it was included.
fn stretches(unit: &Parsed, file: &Path) -> Vec<Range<u32>> {
    let is_it = |f: &&rucc_diag::SourceFile| unit.path_of(&f.name) == file;
    let stretch = |f: &rucc_diag::SourceFile| f.start..f.start + f.bytes().len() as u32 + 1;
    unit.session.sources.files().iter().filter(is_it).map(stretch).collect()
}

/// The lines between the directives of a conditional, a range for each branch.
type Branches = Vec<RangeInclusive<u32>>;

/// As [`taken`]; `seen` are the lines that gave tokens, `once`: the file was included a single time.
fn by_tokens(conditionals: &[Branches], seen: &BTreeSet<u32>, once: bool) -> Taken {
    let mut out = Taken::default();
    for branches in conditionals {
        let Some(first) = branches.first() else { continue };
        let lies_in = |ranges: &[RangeInclusive<u32>]| ranges.iter().any(|r| r.contains(first.start()));
        if lies_in(&out.inactive) || lies_in(&out.unsure) {
            continue;
        }
        let (with, without): (Vec<_>, Vec<_>) = branches
            .iter()
            .filter(|b| !b.is_empty())
            .partition(|b| seen.range((*b).clone()).next().is_some());
        match (with.len(), once) {
            (1, true) => out.inactive.extend(without.into_iter().cloned()),
            _ => out.unsure.extend(without.into_iter().cloned()),
        }
    }
    out
}

/// The conditionals of a file, outer ones before inner ones.
fn conditionals(layout: &Layout) -> Vec<Branches> {
    let mut out: Vec<Branches> = Vec::new();
    // The open ones, with the line behind the last of their directives.
    let mut open: Vec<(usize, u32)> = Vec::new();
    for directive in &layout.directives {
        let (first, last) = (*directive.lines.start(), *directive.lines.end());
        if matches!(directive.word.as_str(), "if" | "ifdef" | "ifndef") {
            open.push((out.len(), last + 1));
            out.push(Vec::new());
            continue;
        }
        let is_end = directive.word == "endif";
        if !is_end && !opens_branch(&directive.word) {
            continue;
        }
        if let Some((at, from)) = open.pop() {
            out[at].push(from..=first.saturating_sub(1));
            if !is_end {
                open.push((at, last + 1));
            }
        }
    }
    for (at, from) in open {
        out[at].push(from..=layout.lines);
    }
    out
}

/// Returns what every line of `file` (the unit's own, or a header of the tree) belongs to; line n is
/// at index n - 1. `inactive` is the file's entry of [`active_inactive_ranges`].
pub fn line_kinds(
    tree: &dyn SourceTree,
    unit: &Parsed,
    file: &Path,
    inactive: &[RangeInclusive<u32>],
) -> Vec<LineKind> {
    let Some(bytes) = tree.read(file) else { return Vec::new() };
    let layout = layout(&bytes);
    let mut out = vec![LineKind::Other; layout.lines as usize];
    let mut set = |lines: RangeInclusive<u32>, kind: LineKind| {
        for line in lines {
            if let Some(slot) = out.get_mut((line as usize).saturating_sub(1)) {
                *slot = kind.clone();
            }
        }
    };
    let stretches = stretches(unit, file);
    for item in &unit.items {
        if let Some(lines) = item_lines(unit, item, &stretches) {
            set(lines, kind(unit, item));
        }
        // `struct s { ... } x;`: a type, and behind it, from the line of its last bracket on, an object.
        if let Some((tokens, name)) = body_of_type(unit, item)
            && let Some(lines) = item_lines(unit, &Item { tokens, ..item.clone() }, &stretches)
        {
            set(*lines.start()..=lines.end().saturating_sub(1), LineKind::Type(name));
        }
    }
    for directive in &layout.directives {
        set(directive.lines.clone(), LineKind::Directive);
    }
    for range in inactive {
        set(range.clone(), LineKind::Inactive);
    }
    for line in (1..=layout.lines).filter(|l| !layout.occupied.contains(l)) {
        set(line..=line, LineKind::Blank);
    }
    out
}

/// Returns the lines from an item's first to its last token in a file.
fn item_lines(unit: &Parsed, item: &Item, stretches: &[Range<u32>]) -> Option<RangeInclusive<u32>> {
    let place = |token: &rucc_pp::Tok| {
        let at = token.report_span().lo;
        let is_here = stretches.iter().any(|s| s.contains(&at));
        is_here.then(|| unit.session.sources.lookup(at)).flatten().map(|place| place.line)
    };
    let tokens = unit.tokens.get(item.tokens.clone())?;
    // An item lies in one file but for the rare one that includes its own middle.
    let first = tokens.first().and_then(place).or_else(|| tokens.iter().find_map(place))?;
    let last = tokens.last().and_then(place).or_else(|| tokens.iter().rev().find_map(place))?;
    Some(first..=last.max(first))
}

/// The tokens of a structure, union or enumeration that a declaration of an object defines, up to its bracket, and its tag.
fn body_of_type(unit: &Parsed, item: &Item) -> Option<(Range<usize>, Arc<str>)> {
    if item.kind != ItemKind::Other {
        return None;
    }
    let text = unit.text();
    let head = item.tokens.clone().take_while(|&i| text.at(i) != "=");
    let at = head.into_iter().find(|&i| matches!(text.at(i), "struct" | "union" | "enum"))?;
    let tag = text.name(at + 1).filter(|_| text.at(at + 2) == "{")?;
    Some((at..text.after_group(at + 2, item.tokens.end), Arc::from(tag)))
}

fn kind(unit: &Parsed, item: &Item) -> LineKind {
    let own = body_of_type(unit, item).map(|(_, tag)| tag);
    let mut names = item.declares.iter().filter(|name| own.as_deref() != Some(name.as_str()));
    let name: Arc<str> = Arc::from(names.next().map_or("", String::as_str));
    match &item.kind {
        ItemKind::Function { name, .. } => LineKind::Function(Arc::from(name.as_str())),
        ItemKind::Typedef | ItemKind::Record => LineKind::Type(name),
        ItemKind::Other if item.declares.is_empty() => LineKind::Other,
        ItemKind::Other => {
            let text = unit.text();
            let named = item.tokens.clone().find(|&i| text.at(i) == &*name);
            let called = named.is_some_and(|i| text.at(i + 1) == "(");
            let plain = !item.tokens.clone().any(|i| matches!(text.at(i), "=" | "{"));
            if called && plain { LineKind::Prototype(name) } else { LineKind::Global(name) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn what_is_for_another_language_is_no_code() {
        let text = |text: &str| joined(&code(text.as_bytes()));
        let plain = text("int a;\nint b;\n");
        for more in ["ifdef __cplusplus", "if defined(__cplusplus)", "if defined __cplusplus // why"] {
            assert_eq!(
                text(&format!("int a;\n#{more}\nextern \"C\" {{\n# if X\n# endif\n#endif\nint b;\n")),
                plain
            );
        }
        for more in ["ifdef __cplus", "ifndef __cplusplus", "if !defined(__cplusplus)"] {
            assert_ne!(text(&format!("int a;\n#{more}\nextern int c;\n#endif\nint b;\n")), plain);
        }
        assert_ne!(text("int a;\n#ifdef __cplusplus\n#else\nint c;\n#endif\nint b;\n"), plain);
    }

    #[test]
    fn white_space_in_literals_of_directives_is_theirs() {
        for (directive, expected) in [
            ("#define  A   1 /* one */", "#define A 1"),
            ("#define A \"a  b\"  2", "#define A \"a  b\" 2"),
            ("#define A '\\''  '  '", "#define A '\\'' '  '"),
            ("#define A \"//\" 1 // \"", "#define A \"//\" 1"),
            ("#include <a//b.h>", "#include <a//b.h>"),
        ] {
            let found = code(format!("{directive}\n").as_bytes());
            assert_eq!(found.values().map(|c| c.trim_start()).collect::<Vec<_>>(), [expected]);
        }
    }

    /// One letter a line: blank, inactive (x), directive (#), function, global, prototype, type,
    /// other (?).
    fn check(source: &str, expected: &str) {
        let tree = MemoryTree::new([("a.c", source), ("h.h", "#ifdef A\nint h(void);\n#endif\n")]);
        let options = Options::default();
        let unit = super::super::parse::parse(&tree, Path::new("a.c"), &options).unwrap();
        let ranges = active_inactive_ranges(&tree, &unit, &options).unwrap();
        let kinds = line_kinds(&tree, &unit, Path::new("a.c"), &ranges[Path::new("a.c")]);
        let letter = |k: &LineKind| match k {
            LineKind::Blank => 'b',
            LineKind::Inactive => 'x',
            LineKind::Directive => '#',
            LineKind::Function(_) => 'f',
            LineKind::Global(_) => 'g',
            LineKind::Prototype(_) => 'p',
            LineKind::Type(_) => 't',
            LineKind::Other => '?',
        };
        assert_eq!(kinds.iter().map(letter).collect::<String>(), expected, "{source}");
        // One pass says the same of every line of which it says anything.
        let lines = Lines::of(&tree, &unit, Path::new("a.c"));
        for (line, kind) in (1..).zip(&kinds) {
            assert!(lines.kind(line).is_none_or(|k| k == kind), "{source}: line {line}");
        }
    }

    /// The lines of a file of which one pass cannot say what they belong to.
    fn unsure(files: &[(&str, &str)], file: &str) -> Vec<u32> {
        let tree = MemoryTree::new(files.iter().copied());
        let unit = super::super::parse::parse(&tree, Path::new("a.c"), &Options::default()).unwrap();
        let lines = Lines::of(&tree, &unit, Path::new(file));
        (1..=lines.kinds.len() as u32).filter(|line| lines.kind(*line).is_none()).collect()
    }

    #[test]
    fn tokens_tell_which_branches_were_taken() {
        let check = |found: Vec<u32>, expected: &[u32]| assert_eq!(found, expected);
        let own = |text: &str| unsure(&[("a.c", text)], "a.c");
        check(own("int a;\nint f(void) { return a; }\n"), &[]);
        check(own("#ifdef A\nint a;\n#else\nlong a;\n#endif\nint b;\n"), &[]);
        check(own("#ifndef A\n#ifdef B\nint a;\n#else\nlong a;\n#endif\n#endif\n"), &[]);
        // Nothing says that a single branch was not taken, or what one without tokens did.
        check(own("#ifdef A\nint a;\n#endif\nint b;\n"), &[2]);
        check(own("#ifdef A\n#define B 1\n#else\n#define B 2\n#endif\nint b = B;\n"), &[]);
        check(own("#ifdef A\n#define B 1\n#else\n#define B 2\n#endif\nint b;\n"), &[2, 4]);
        // The inside of a branch of which nothing is known.
        check(own("#ifdef A\n#ifdef B\nint a;\n#endif\n#endif\nint b;\n"), &[2, 3, 4]);
        // A file that is read twice may be read differently.
        let twice = "#define T int\n#include \"h.h\"\n#define LONG\n#include \"h.h\"\n";
        let header = "#ifdef LONG\n#define N 1\n#else\nT a;\n#endif\n";
        check(unsure(&[("a.c", twice), ("h.h", header)], "h.h"), &[2]);
        check(unsure(&[("a.c", "#include \"h.h\"\n"), ("h.h", header)], "h.h"), &[]);
    }

    #[test]
    fn lines_belong_to_items() {
        check(
            "/* a\n b */ int x = 1;\n\nint f(int);\nstruct s {\n  int a;\n};\nint f(int a)\n{\n  // c\n  return a;\n}\n",
            "bgbptttffbff",
        );
        // Objects behind the type that they are of.
        check("extern struct s {\n  int a;\n} x,\n  *y[];\nstruct {\n  int a;\n} z;\n", "ttggggg");
    }

    #[test]
    fn code_is_what_a_compiler_sees() {
        let check = |a: &str, b: &str, same: bool| {
            let all = |text: &str| code(text.as_bytes()).into_values().collect::<String>();
            assert_eq!(all(a) == all(b), same, "{a:?} {b:?}");
        };
        check("int a,b; // x", "int a , b;\n/* y\n */", true);
        check("f( (x) )", "f((x))", true);
        check("a++ +b", "a+ ++b", false);
        check("\"a  b\"", "\"a b\"", false);
        check("#define f(x) 1", "#define f (x) 1", false);
        check("#define  A \\\n 1", "#define A 1 /* x */", true);
        check("a /* b", "a", true);
    }

    #[test]
    fn branches_not_taken_are_inactive() {
        check("#if 0\nint a;\n#elif 1\nint b;\n#else\nint c;\n#endif\nint d;\n", "#x#g#x#g");
        check(
            "#ifdef NO\n#if 1\nint a;\n#endif\n\n#else\nint f(void) {\n#ifdef NO\n x;\n#endif\nreturn 0; }\n#endif",
            "#xxxb#f#x#f#",
        );
        check("#define A \\\n 1\n#include \"h.h\"\n#if A\nint x;\n#endif\n", "####g#");
    }
}
