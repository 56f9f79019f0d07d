//! Copies of sources whose functions record their calls: what they are given, as records of a trace of Daikon's.
//!
//! Behind the opening brace of a function comes one declaration, on the same line, whose initialiser records the call;
//! in front of the file comes what it needs (`recorder.c`), and `#line`. So lines stay what they were, a block may still
//! begin with declarations, and braces pair as before whatever macros are defined. Looked at are parameters and objects
//! that the file defines, by name; nothing behind a pointer is read. A record is one `write` at the end of the trace, so
//! that several processes and threads may do it at a time.
//!
//! What may not compile is left out: a head that is compiled in several ways, names that are macros, too, inline
//! definitions with external linkage (C11 6.7.4, 3: nothing of the file alone may be named there).

use super::asserts::Source;
use super::edits::Edits;
use crate::frontend::c;
use crate::frontend::c::outline::FunctionOutline;
use crate::history::SourceTree;
use crate::infer::Kind;
use crate::infer::daikon::{Point, Traced, entry_point, record_parts, silent_point};
use crate::ir::{CType, FileId, Function, Linkage};
use std::fmt::Write;
use std::path::Path;

/// Calls of a function that one process records.
pub const MOST_CALLS: u64 = 100_000;
/// Bytes of a trace to which nothing more is added.
pub const MOST_BYTES: u64 = 1 << 28;
/// Variables of one function, and bytes of a name: a record is put together on the stack.
const MOST_VARIABLES: usize = 40;
const MOST_NAME: usize = 120;
/// C guarantees literals of 509 bytes, and some compilers warn of longer ones.
const MOST_POINT: usize = 350;
/// Digits of a number, and its sign.
const NUMBER: usize = 20;

/// A function that is to record its calls, with what it is given: parameters, and objects of the file.
#[derive(Clone, Debug)]
pub struct ToRecord {
    pub function: String,
    pub inputs: Vec<Traced>,
}

/// A copy of a file.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// `None` where nothing in it records.
    pub text: Option<Vec<u8>>,
    pub functions: Vec<Recorded>,
    /// Functions that record nothing, and why.
    pub left_out: Vec<(String, &'static str)>,
}

/// A function that records its calls.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub function: String,
    /// The point of its records.
    pub point: Point,
    /// The point that says that a process made more calls than are recorded.
    pub over: Point,
}

/// Where records go, and what sets a file's names apart from another one's.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    pub path: &'a [u8],
    pub number: usize,
}

/// Makes the copy of a file. Errors: as `frontend::load_unit`.
pub fn record(
    tree: &dyn SourceTree,
    (path, name): (&Path, &str),
    options: &c::Options,
    wanted: &[ToRecord],
    trace: Trace<'_>,
) -> Result<Recording, c::Rejected> {
    let source = Source::load(tree, path, options)?;
    let mut recording = Recording::default();
    let (mut edits, mut helpers) = (Edits::default(), String::new());
    for (k, one) in wanted.iter().enumerate() {
        match Head::of(&source, one) {
            Ok(head) => {
                let point = entry_point(name, &one.function, &head.inputs);
                let over = silent_point(name, &one.function, "LIMIT");
                if over.name.text().len() > MOST_POINT {
                    recording.left_out.push((one.function.clone(), "the name of its file is too long"));
                    continue;
                }
                let (helper, call) = head.code((trace.number, k), &point, &over);
                helpers += &helper;
                edits.insert(head.at, call);
                recording.functions.push(Recorded { function: one.function.clone(), point, over });
            }
            Err(why) => recording.left_out.push((one.function.clone(), why)),
        }
    }
    if !helpers.is_empty() {
        // A mark of the encoding stays in front.
        let start = if source.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        edits.insert(start, prelude(trace, &helpers));
        recording.text = Some(edits.apply(&source.bytes));
    }
    Ok(recording)
}

/// What stands in front of a file.
fn prelude(trace: Trace<'_>, helpers: &str) -> String {
    let text = include_str!("recorder.c")
        .replace("@TRACE@", &literal(trace.path))
        .replace("@BYTES@", &MOST_BYTES.to_string())
        .replace("@CALLS@", &format!("{MOST_CALLS}UL"))
        .replace("@FUNCTIONS@", helpers);
    format!("{}#line 1\n", text.replace("_@", &format!("_{}", trace.number)))
}

/// Bytes as a literal of C; what is not plain is escaped.
fn literal(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b if b.is_ascii_alphanumeric() || b" /.,:;_-+=()<>[]{}".contains(b) => out.push(char::from(*b)),
            b => _ = write!(out, "\\{b:03o}"),
        }
    }
    out + "\""
}

/// The head of a function that can record.
struct Head<'s> {
    function: &'s Function,
    inputs: Vec<Traced>,
    /// Behind the brace of its body.
    at: usize,
}

impl<'s> Head<'s> {
    fn of(source: &'s Source, wanted: &ToRecord) -> Result<Head<'s>, &'static str> {
        let outline = source.outline.functions.iter().find(|f| f.name == wanted.function);
        let function = source.unit.function(&wanted.function);
        let (Some(outline), Some(function)) = (outline, function) else {
            return Err("it is not defined in the file itself");
        };
        let body = outline.body.clone().ok_or("a macro brings its braces")?;
        let head = source.bytes.get(outline.start..body.start).unwrap_or_default();
        if source.has_our_names {
            return Err("the file has names that begin with invdiff_, as those of copies do");
        }
        if has_directive(head) {
            return Err("its head is compiled in several ways");
        }
        if function.binding.is_inline {
            return Err("it is an inline definition of a function that other files have, too");
        }
        if source.bytes.get(body.clone()).unwrap_or_default().trim_ascii_start().starts_with(b"__label__") {
            return Err("its body begins with labels");
        }
        if wanted.function.len() > MOST_NAME {
            return Err("its name is too long");
        }
        let sight = Sight { source, outline, head, branches: Branches::of(&source.bytes) };
        let inputs = wanted.inputs.iter().filter(|i| sight.sees(i)).take(MOST_VARIABLES).cloned();
        Ok(Head { function, inputs: inputs.collect(), at: body.start })
    }

    /// The function that records a call, and the declaration that calls it.
    fn code(&self, (file, k): (usize, usize), point: &Point, over: &Point) -> (String, String) {
        let name = format!("invdiff_enter_{file}_{k}");
        let (mut parameters, mut arguments, mut steps) = (Vec::new(), Vec::new(), String::new());
        let parts = record_parts(point);
        let size: usize = parts.iter().map(|p| p.len() + NUMBER).sum();
        for (i, (part, input)) in parts.iter().zip(self.inputs.iter().map(Some).chain([None])).enumerate() {
            let _ = writeln!(
                steps,
                "    invdiff_to = invdiff_copy_{file}(invdiff_to, {});",
                literal(part.as_bytes())
            );
            let Some(input) = input else { continue };
            let (ty, argument, value, is_signed) = self.passed(input, file, &format!("invdiff_a{i}"));
            parameters.push(format!("{ty}invdiff_a{i}"));
            arguments.push(argument);
            let signed = u8::from(is_signed);
            let _ = writeln!(steps, "    invdiff_to = invdiff_number_{file}(invdiff_to, {value}, {signed});");
        }
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let last = record_parts(over).concat();
        let helper = format!(
            "static __attribute__((__unused__, __noinline__)) invdiff_u8_{file} {name}({parameters})\n{{\n    \
             static unsigned long invdiff_count;\n    char invdiff_record[{size}];\n    \
             char *invdiff_to = invdiff_record;\n    \
             if (!invdiff_more_{file}(&invdiff_count, {}, {}L))\n        return 0;\n{steps}    \
             invdiff_put_{file}(invdiff_record, (long)(invdiff_to - invdiff_record));\n    return 0;\n}}\n",
            literal(last.as_bytes()),
            last.len()
        );
        let entered = format!(" invdiff_u8_{file} invdiff_entered_{file}_{k} __attribute__((__unused__))");
        (helper, format!("{entered} = {name}({});", arguments.join(", ")))
    }

    /// How a value is handed to the function that records it: parameter, argument, number, whether that has a sign.
    fn passed(&self, input: &Traced, file: usize, parameter: &str) -> (String, String, String, bool) {
        let (name, word) = (&input.variable.name, format!("invdiff_u64_{file}"));
        let is_code = || {
            let param =
                self.function.params.iter().map(|p| self.function.var(*p)).find(|v| *v.name == **name);
            param.is_none_or(|v| matches!(v.ty.target(), Some(CType::Function(_)) | None))
        };
        match input.variable.kind {
            Kind::Integer { bits, signed } => {
                let width = [8, 16, 32].into_iter().find(|w| bits <= *w).unwrap_or(64);
                let ty = format!("invdiff_{}{width}_{file}", if signed { 's' } else { 'u' });
                let value = parameter.to_owned();
                (format!("{word} "), format!("({word})({ty})({name})"), value, signed)
            }
            // A function has no address that is one of objects.
            Kind::Pointer if !is_code() => {
                let value = format!("{parameter} ? 1U : 0U");
                ("const volatile void *".to_owned(), name.clone(), value, false)
            }
            _ => (format!("{word} "), format!("({word})(({name}) != 0)"), parameter.to_owned(), false),
        }
    }
}

/// What the start of a function's body sees.
struct Sight<'s> {
    source: &'s Source,
    outline: &'s FunctionOutline,
    head: &'s [u8],
    branches: Branches,
}

impl Sight<'_> {
    /// Whether a name means there what it is to mean, under whatever macros.
    fn sees(&self, input: &Traced) -> bool {
        let name = &input.variable.name;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(is_word) {
            return false;
        }
        if self.source.macros.contains(name) {
            return false;
        }
        match input.is_global {
            false => has_word(self.head, name.as_bytes()),
            true => self.sees_object(name),
        }
    }

    /// An object that the file itself defines, wherever it defines the function, and that no parameter hides.
    fn sees_object(&self, name: &str) -> bool {
        let Some(global) = self.source.unit.globals.iter().find(|g| *g.name == *name && *g.symbol == *name)
        else {
            return false;
        };
        let is_own = global.span.file == FileId(0) && global.span.expansion.is_none();
        let is_defined = matches!(global.linkage, Linkage::External | Linkage::Internal);
        let at = line_start(&self.source.bytes, global.span.line);
        is_own
            && is_defined
            && self.outline.declared.contains(name)
            && !has_word(self.head, name.as_bytes())
            && self.branches.at(self.outline.start).starts_with(self.branches.at(at))
    }
}

/// Whether a line begins with a directive.
fn has_directive(text: &[u8]) -> bool {
    text.split(|b| *b == b'\n').skip(1).any(|line| line.trim_ascii_start().starts_with(b"#"))
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    text.split(|b| !b.is_ascii_alphanumeric() && *b != b'_').any(|w| w == word)
}

/// Offset of a line, from 1.
fn line_start(text: &[u8], line: u32) -> usize {
    let before = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    text.split_inclusive(|b| *b == b'\n').take(before).map(<[u8]>::len).sum()
}

/// The conditionals of a file: which branches stand around each place.
struct Branches(Vec<(usize, Vec<usize>)>);

impl Branches {
    fn of(text: &[u8]) -> Branches {
        let (mut all, mut open, mut at, mut next) = (vec![(0, Vec::new())], Vec::new(), 0, 0);
        let mut is_comment = false;
        for line in text.split_inclusive(|b| *b == b'\n') {
            let word = line.trim_ascii_start().strip_prefix(b"#").filter(|_| !is_comment);
            let word = word.unwrap_or_default().trim_ascii_start();
            let is_branch = match word {
                w if w.starts_with(b"if") => true,
                w if w.starts_with(b"el") => {
                    open.pop();
                    true
                }
                w if w.starts_with(b"endif") => {
                    open.pop();
                    all.push((at, open.clone()));
                    false
                }
                _ => false,
            };
            if is_branch {
                next += 1;
                open.push(next);
                all.push((at, open.clone()));
            }
            is_comment = is_open(line, is_comment);
            at += line.len();
        }
        Branches(all)
    }

    /// The branches around a place, the outermost first.
    fn at(&self, offset: usize) -> &[usize] {
        let last = self.0.partition_point(|(at, _)| *at <= offset);
        last.checked_sub(1).and_then(|k| self.0.get(k)).map_or(&[], |(_, open)| open)
    }
}

/// Whether a comment is open behind a line.
fn is_open(line: &[u8], mut is_comment: bool) -> bool {
    let mut rest = line;
    while rest.len() > 1 {
        let (two, ends) = (rest.get(..2).unwrap_or_default(), is_comment);
        match (two, ends) {
            (b"*/", true) => (is_comment, rest) = (false, rest.get(1..).unwrap_or_default()),
            (b"/*", false) => (is_comment, rest) = (true, rest.get(1..).unwrap_or_default()),
            (b"//", false) => return false,
            _ => {}
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    is_comment
}

#[cfg(test)]
mod tests;
