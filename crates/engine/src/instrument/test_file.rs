//! A runnable C test for a churn that has a witness.
//!
//! The test includes the source under test, so that it reaches static functions and builds against either
//! version (`-DINVDIFF_SOURCE`). It sets up the witness's input, runs the function, or the program, in a
//! child process (`driver.c`), and says by its exit status as which version that behaved: 0 the old one, 1
//! the new one, 2 neither. A *check* compares one thing that can be seen with what the replay saw in each.

use super::asserts::Source;
use super::check::{Check, Seen};
use super::condition::Site;
use super::constant::{c_extended, c_integer, c_real, pointer};
use super::externals::{externals, makes_streams, notes_calls, replaces, takes_ours};
use super::image::image;
use crate::analysis::VersionInput;
use crate::frontend::c;
use crate::frontend::c::outline::FunctionOutline;
use crate::interp::asks_streams;
use crate::invariant::Observable;
use crate::ir::{CType, Callee, FloatKind, Function, Global, Instr, Linkage};
use crate::report::escape::visible;
use crate::report::{
    CallResult, Churn, End, FunctionRef, FunctionReport, LineRef, RepoPath, Report, Run, Value, Version,
};
use crate::report::{Storage, VersionInfo, Witness, WitnessKind};
use crate::semantics::c_text::{RESULT, string_literal};
use crate::semantics::type_text::spelled;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A test, or why there is none.
#[derive(Clone, Debug)]
pub struct WitnessTest {
    /// Id of the churn.
    pub churn: String,
    pub file: RepoPath,
    pub function: String,
    pub from: Version,
    pub to: Version,
    pub text: Result<String, String>,
}

impl WitnessTest {
    /// Name of the test's file: stable, as the churn's id is.
    pub fn file_name(&self) -> String {
        let id = self.churn.get(..8).unwrap_or(&self.churn);
        format!("witness-{}-{id}.c", self.function)
    }
}

/// Makes a test of every churn that has a witness, in the order of the report.
pub fn witness_tests(report: &Report, versions: &[VersionInput], options: &c::Options) -> Vec<WitnessTest> {
    let mut sources = Sources { versions, options, known: BTreeMap::new() };
    let mut tests = Vec::new();
    for f in &report.functions {
        for churn in f.points.iter().flat_map(|p| &p.churns) {
            let Some(witness) = &churn.witness else { continue };
            let text = test_text(f, churn, witness, report, &mut sources);
            tests.push(WitnessTest {
                churn: churn.id.clone(),
                file: f.file.clone(),
                function: f.name.clone(),
                from: churn.from,
                to: churn.to,
                text,
            });
        }
    }
    tests
}

/// Files of versions, each read once.
struct Sources<'a> {
    versions: &'a [VersionInput],
    options: &'a c::Options,
    known: BTreeMap<(Version, RepoPath), Result<Source, String>>,
}

impl Sources<'_> {
    fn load(&mut self, version: Version, file: &RepoPath) -> Result<&Source, String> {
        let (versions, options) = (self.versions, self.options);
        let load = || {
            let input = versions.iter().find(|v| v.info.index == version);
            let input = input.ok_or_else(|| "the version is not at hand".to_owned())?;
            Source::load(&*input.tree, &file.to_utf8_path(), options).map_err(|e| e.to_string())
        };
        self.known.entry((version, file.clone())).or_insert_with(load).as_ref().map_err(Clone::clone)
    }
}

/// A function in one version.
struct FunctionVersion<'a> {
    source: &'a Source,
    function: &'a Function,
    outline: &'a FunctionOutline,
    place: &'a FunctionRef,
}

impl<'a> FunctionVersion<'a> {
    fn new(source: &'a Source, place: &'a FunctionRef) -> Result<FunctionVersion<'a>, String> {
        let outline = source.outline.functions.iter().find(|f| f.name == place.name);
        match (source.unit.function(&place.name), outline) {
            (Some(function), Some(outline)) => Ok(FunctionVersion { source, function, outline, place }),
            _ => Err("the function is not defined in the file itself".into()),
        }
    }
}

fn test_text(
    f: &FunctionReport,
    churn: &Churn,
    witness: &Witness,
    report: &Report,
    sources: &mut Sources<'_>,
) -> Result<String, String> {
    let place = |v: Version| f.identity.versions.get(&v).ok_or("the function is not in both versions");
    let (old_place, new_place) = (place(churn.from)?, place(churn.to)?);
    sources.load(churn.from, &old_place.file)?;
    sources.load(churn.to, &new_place.file)?;
    let known = |v: Version, p: &FunctionRef| match sources.known.get(&(v, p.file.clone())) {
        Some(Ok(source)) => Ok(source),
        _ => Err("the file cannot be read".to_owned()),
    };
    let old = FunctionVersion::new(known(churn.from, old_place)?, old_place)?;
    let new = FunctionVersion::new(known(churn.to, new_place)?, new_place)?;
    let test = Test { churn, witness, old, new, report };
    test.text()
}

struct Test<'a> {
    churn: &'a Churn,
    witness: &'a Witness,
    old: FunctionVersion<'a>,
    new: FunctionVersion<'a>,
    report: &'a Report,
}

/// How the driver and the stand-ins name symbols.
const SYMBOLS: &str = "#define INVDIFF_TEXT_OF(x) #x\n#define INVDIFF_TEXT(x) INVDIFF_TEXT_OF(x)\n\
    #define INVDIFF_SYMBOL(name) __asm__(INVDIFF_TEXT(__USER_LABEL_PREFIX__) name)\n\n";

/// Helpers of every test that runs one function.
const DRIVER: &str = include_str!("driver.c");

impl Test<'_> {
    fn text(&self) -> Result<String, String> {
        if self.comes_from_elsewhere() {
            return Err("what changed is in another file, which no test of this one has in it".into());
        }
        if let Some(why) = self.hindrance() {
            return Err(why);
        }
        let is_program = self.witness.kind == WitnessKind::Program;
        let body = if is_program { self.set_up()? } else { self.call()? };
        if is_program && self.ends()?.0 == self.ends()?.1 {
            return Err("the difference is in nothing that a process shows".into());
        }
        let mut out = self.header();
        let file = string_literal(self.new.place.file.as_bytes());
        let _ = write!(out, "#ifndef INVDIFF_SOURCE\n#define INVDIFF_SOURCE {file}\n#endif\n");
        let has_main = [&self.old, &self.new].map(|side| side.source.unit.function("main").is_some());
        if is_program {
            out.push_str("#define INVDIFF_PROGRAM\n");
        } else {
            let name = &self.new.place.name;
            let _ = write!(out, "#ifndef INVDIFF_ENTRY\n#define INVDIFF_ENTRY {name}\n#endif\n");
        }
        match has_main {
            _ if is_program => out.push_str("#define INVDIFF_HAS_MAIN\n#include INVDIFF_SOURCE\n\n"),
            [true, true] => out.push_str("#define INVDIFF_HAS_MAIN\n#include INVDIFF_SOURCE\n\n"),
            [false, false] => out.push_str("#include INVDIFF_SOURCE\n\n"),
            _ => {
                out.push_str("/* A test has a main of its own. */\n#define main invdiff_program_main\n");
                out.push_str("#include INVDIFF_SOURCE\n#undef main\n\n");
            }
        }
        let tail = self.tail(&body)?;
        out.push_str(&self.forgotten(&tail));
        out.push_str(&tail);
        Ok(out)
    }

    /// What stands behind the source.
    fn tail(&self, body: &str) -> Result<String, String> {
        let mut out = SYMBOLS.to_owned();
        out.push_str(DRIVER);
        let externals = externals(&self.old.source.unit, &self.new.source.unit);
        if !externals.is_empty() {
            out.push_str("\n/* What the source uses and does not define: it does nothing and gives what the example says, or 0. */\n");
            out.push_str(&externals);
        }
        let _ = write!(out, "\n{}", self.plan()?);
        out.push_str(body);
        Ok(out)
    }

    /// Takes the source's macros back whose names stand in a text, which means something else by them.
    fn forgotten(&self, text: &str) -> String {
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let macros: BTreeSet<&String> =
            [&self.old, &self.new].into_iter().flat_map(|side| &side.source.macros).collect();
        let used: Vec<String> = macros
            .into_iter()
            .filter(|m| words.contains(m.as_str()))
            .map(|m| format!("#undef {m}\n"))
            .collect();
        if used.is_empty() { String::new() } else { used.concat() + "\n" }
    }

    /// Why a test beside the source would not be what it says, whatever it tests.
    fn hindrance(&self) -> Option<String> {
        let sides = [&self.old, &self.new];
        if sides.iter().any(|side| side.source.has_our_names) {
            return Some("the file has names that begin with invdiff_, as a test's do".into());
        }
        if self.witness.relies_on.iter().any(|what| what == "layouts") {
            return Some("structures of its input lie otherwise in the two versions".into());
        }
        if let Some(name) = sides.iter().find_map(|side| takes_ours(&side.source.unit)) {
            return Some(format!("the file has a {name} of its own, or calls it, and a test needs it"));
        }
        let is_constant = |name: &str| {
            let is_one = |g: &Global| *g.name == *name && g.is_const && g.linkage == Linkage::Import;
            sides.iter().any(|side| side.source.unit.globals.iter().any(is_one))
        };
        if let Some(m) =
            self.witness.memory.iter().find(|m| m.storage == Storage::Global && is_constant(&m.id))
        {
            return Some(format!("it gives a value to {}, a constant of another file", m.id));
        }
        if let Some(why) = sides.iter().find_map(|side| self.is_linked_oddly(side)) {
            return Some(why.into());
        }
        // Streams that are made up, and others that are not, by the same functions.
        if sides.iter().any(|side| makes_streams(&side.source.unit))
            && self.witness.calls.iter().any(|call| asks_streams(&call.callee))
        {
            return Some("it asks streams that it makes, and others".into());
        }
        let own = |file: &&RepoPath| sides.iter().all(|side| side.place.file != **file);
        let other = self.witness.elsewhere.iter().find(own)?;
        Some(format!(
            "it runs what is defined in {other}, which a test of {} has not in it",
            self.new.place.file
        ))
    }

    /// What a linker makes of a version that a test cannot.
    fn is_linked_oddly(&self, side: &FunctionVersion<'_>) -> Option<&'static str> {
        let unit = &side.source.unit;
        let hooks = unit.functions.iter().any(|f| f.binding.before_main.is_some());
        if self.witness.kind != WitnessKind::Program && (hooks || !unit.hooks.init_array.is_empty()) {
            return Some("what runs before main in the file changes what the function finds");
        }
        let is_late = unit.functions.iter().any(|f| f.binding.after_main.is_some())
            || ["atexit", "on_exit"].iter().any(|name| unit.names_function(name));
        let ends = [&self.witness.old, &self.witness.new].map(|run| run.end);
        if self.witness.kind == WitnessKind::Program && is_late && ends.contains(&End::Abort) {
            return Some("what runs after main ends one of the versions, when a test is over");
        }
        if unit.functions.iter().any(|f| f.binding.label.is_some()) {
            return Some("the file gives functions other symbols than their names");
        }
        let is_called = |name: &str| {
            let calls = unit.functions.iter().flat_map(|f| &f.nodes).map(|n| &n.instr);
            calls
                .into_iter()
                .any(|i| matches!(i, Instr::Call { callee: Callee::Direct(n), .. } if **n == *name))
        };
        let inline = unit.functions.iter().filter(|f| f.binding.is_inline);
        let mut called = inline.filter(|f| f.name == side.function.name || is_called(&f.name));
        called.next().map(|_| "it calls an inline function whose external definition is in another file")
    }

    /// Whether all lines that changed are in files that the source under test does not read: what they define
    /// would be replaced.
    fn comes_from_elsewhere(&self) -> bool {
        let causes = &self.churn.causes;
        let read = |line: &LineRef| {
            let units = [&self.old.source.unit, &self.new.source.unit];
            units.iter().any(|u| u.files.iter().any(|f| RepoPath::from(f.as_path()) == line.file))
        };
        let mut lines = causes.removed.iter().chain(&causes.added).peekable();
        lines.peek().is_some() && !lines.any(read)
    }

    fn header(&self) -> String {
        let version = |v: Version| self.report.versions.iter().find(|i| i.index == v);
        let name = |v: Version| version(v).map_or(format!("version {v}"), version_name);
        let place = |p: &FunctionRef| format!("{}() of {}", p.name, p.file);
        let mut lines = vec![
            format!("What a churn of {} shows (id {}).", place(self.new.place), self.churn.id),
            format!("old  {}", name(self.churn.from)),
            format!("new  {}", name(self.churn.to)),
        ];
        lines.extend(self.churn.removed.iter().map(|f| format!("  - {}", f.text)));
        lines.extend(self.churn.added.iter().map(|f| format!("  + {}", f.text)));
        lines.push(String::new());
        lines.push(format!("old  {}", told(&self.witness.old)));
        lines.push(format!("new  {}", told(&self.witness.new)));
        lines.push(String::new());
        lines.push("Build it against either version, with that version's folders for headers:".into());
        let mut command = "cc -fwrapv -ffp-contract=off -w -DINVDIFF_SOURCE='\"PATH\"'".to_owned();
        if self.old.place.name != self.new.place.name {
            let _ = write!(command, " (old: -DINVDIFF_ENTRY={})", self.old.place.name);
        }
        lines.push(format!("  {command} THIS-FILE -lm"));
        lines.push(format!(
            "where PATH is a version's {}; without -D it is looked up as an include is.",
            self.new.place.file
        ));
        for (word, run) in [("old", &self.witness.old), ("new", &self.witness.new)] {
            if run.end == End::Undefined {
                lines.push(format!("What {word} does there is undefined: it may behave as anything."));
            }
        }
        lines.push(
            "Exit status: 0 it behaves as old, 1 as new, 2 as neither, 3 the test could not run.".into(),
        );
        if !self.witness.relies_on.is_empty() {
            lines.push(format!("It relies on: {}.", self.witness.relies_on.join(", ")));
        }
        let line = |l: &String| format!(" * {}", visible(l).replace("*/", "* /")).trim_end().to_owned();
        format!("/*\n{}\n */\n", lines.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    /// Both ends as the driver compares them.
    fn ends(&self) -> Result<(String, String), String> {
        let differ = self.witness.old.exit != self.witness.new.exit;
        let is_program = self.witness.kind == WitnessKind::Program;
        let end = |run: &Run| -> Result<String, String> {
            if run.stdout_base64.is_some() {
                return Err("the output is no text".into());
            }
            let how = match run.end {
                // A process cannot tell them apart.
                End::Return if is_program => "exit",
                End::Return => "return",
                End::Exit => "exit",
                End::Abort => "abort",
                End::Signal => "signal",
                End::Undefined => "undefined",
                End::Fuel => "fuel",
            };
            // A signal leaves no status.
            let has_status = run.end == End::Exit || is_program && run.end == End::Return;
            let code = run.exit.filter(|_| differ && has_status).map_or(-1, |c| c & 255);
            let out = string_literal(run.stdout.as_deref().unwrap_or_default().as_bytes());
            Ok(format!("{{\"{how}\", {code}, {out}, sizeof {out} - 1}}"))
        };
        Ok((end(&self.witness.old)?, end(&self.witness.new)?))
    }

    fn plan(&self) -> Result<String, String> {
        if self.witness.stdin_base64.is_some() {
            return Err("the input is no text".into());
        }
        let input = string_literal(self.witness.stdin.as_deref().unwrap_or_default().as_bytes());
        let mut out = String::new();
        let argv = match &self.witness.argv {
            Some(words) => {
                let words: Vec<String> = words.iter().map(|w| string_literal(w.as_bytes())).collect();
                let _ = writeln!(out, "static char *const invdiff_argv[] = {{{}, 0}};", words.join(", "));
                "invdiff_argv"
            }
            None => "0",
        };
        let (old, new) = self.ends()?;
        let _ = writeln!(
            out,
            "static const struct invdiff_plan invdiff_plan = {{\n    {input}, sizeof {input} - 1, {argv},\n    \
             {{{old},\n     {new}}}\n}};"
        );
        Ok(out)
    }

    /// The call with its input and its checks.
    fn call(&self) -> Result<String, String> {
        let parameters = &self.new.outline.parameters;
        if *parameters != self.old.outline.parameters {
            return Err("the versions take different parameters".into());
        }
        if self.new.outline.result.is_none() {
            return Err("the function's declaration is not a plain one".into());
        }
        let gives = |run: &Run| run.end != End::Return || run.returned.is_some();
        if self.has_result() && gives(&self.witness.old) != gives(&self.witness.new) {
            return Err("one version returns no value, and reading what is not there is undefined".into());
        }
        let mut checks = self.checks();
        checks.extend(self.calls()?);
        let (old, new) = self.ends()?;
        if old == new && checks.iter().all(|c| c.old == c.new) {
            return Err("the difference is in nothing that has a name in C".into());
        }
        let mut out = self.set_up()?;
        let _ = write!(out, "\nstatic void invdiff_call {parameters}\n{{\n");
        checks.iter().flat_map(|c| &c.before).for_each(|line| _ = writeln!(out, "    {line}"));
        let names: Vec<&str> = self.site().params().map(|p| &*p.name).collect();
        let call = format!("INVDIFF_ENTRY({})", names.join(", "));
        match self.has_result() {
            true => _ = writeln!(out, "    __typeof__({call}) {RESULT} = {call};"),
            false => _ = writeln!(out, "    {call};"),
        }
        for check in &checks {
            let _ = writeln!(out, "    {}", check.print);
            let _ = writeln!(out, "    invdiff_judge_value({}, {});", check.old, check.new);
        }
        out.push_str(
            "}\n\nstatic void invdiff_run(void)\n{\n    invdiff_is_set_up = 1;\n    invdiff_set_up();\n",
        );
        let arguments = self.arguments()?;
        let _ = writeln!(out, "    invdiff_call({});\n}}", arguments.join(", "));
        Ok(out)
    }

    /// What puts the memory in place, and says what undefined functions give.
    fn set_up(&self) -> Result<String, String> {
        let image = image(self.witness, &self.new.source.unit)?;
        let mut out = String::new();
        if !image.objects.is_empty() {
            let _ = writeln!(out, "static char *{};", image.objects.join(", *"));
        }
        out.push_str("\nstatic void invdiff_set_up(void)\n{\n");
        image.statements.iter().for_each(|s| _ = writeln!(out, "    {s}"));
        for call in &self.witness.calls {
            if let Some(given) = self.given(call)? {
                let _ = writeln!(out, "    invdiff_give(\"{}\", {}, {given});", call.callee, call.nth);
            }
        }
        out.push_str("}\n");
        Ok(out)
    }

    /// What a call gives, as an integer and as a real number; none where that is 0.
    ///
    /// Errors: it is a function of the library, which is not replaced.
    fn given(&self, call: &CallResult) -> Result<Option<String>, String> {
        let name = &call.callee;
        let Some(text) = call.returned.as_deref().filter(|text| *text != "0") else { return Ok(None) };
        let units = [&self.new.source.unit, &self.old.source.unit];
        if !units.iter().any(|unit| replaces(unit, name)) {
            return Err(format!("what {name}() gives is not a test's to say"));
        }
        let prototype = units.iter().find_map(|u| u.prototypes.iter().find(|p| *p.name == **name));
        let given = match (self.witness.object_given(call), prototype.map(|p| &p.ret)) {
            (Some((object, offset)), _) => {
                let value = Value::Pointer { object: object.id.clone(), offset };
                format!("(long long){}, 0", pointer(&value, self.witness))
            }
            (None, Some(CType::Float(FloatKind::LongDouble))) => format!("0, {}", c_extended(text)),
            (None, Some(CType::Float(_))) => format!("0, {}", c_real(text)),
            (None, Some(CType::Pointer(_))) if text == "NULL" => return Ok(None),
            (None, Some(CType::Pointer(_))) if text == "not NULL" => "1, 0".into(),
            (None, Some(CType::Pointer(_))) => format!("(long long)(long)({text}), 0"),
            _ => format!("{}, 0", c_integer(text)),
        };
        Ok(Some(given))
    }

    fn site(&self) -> Site<'_> {
        let FunctionVersion { source, function, outline, .. } = &self.new;
        let offset = outline.body.as_ref().map_or(0, |b| b.start);
        Site { unit: &source.unit, function, outline, offset }
    }

    fn has_result(&self) -> bool {
        self.new.function.ret != CType::Void && self.old.function.ret != CType::Void
    }

    fn arguments(&self) -> Result<Vec<String>, String> {
        let site = self.site();
        if site.params().count() != self.witness.arguments.len() {
            return Err("an argument is missing".into());
        }
        let one = |(argument, var): (&crate::report::Argument, &crate::ir::Var)| {
            let text = match &argument.value {
                crate::report::Value::Text(text) => text.as_str(),
                crate::report::Value::Pointer { .. } => "",
            };
            match &var.ty {
                CType::Pointer(_) | CType::Array(..) => Ok(pointer(&argument.value, self.witness)),
                CType::Float(FloatKind::F32) => Ok(format!("(float)({})", c_real(text))),
                CType::Float(FloatKind::F64) => Ok(format!("(double)({})", c_real(text))),
                CType::Float(FloatKind::LongDouble) => Ok(format!("(long double)({})", c_extended(text))),
                // Old-style definitions convert nothing.
                CType::Int { .. } | CType::Bool => {
                    let cast = spelled(&var.ty).map_or(String::new(), |ty| format!("({ty})"));
                    Ok(format!("{cast}{}", c_integer(text)))
                }
                _ => Err(format!("{} is passed by value", argument.name)),
            }
        };
        self.witness.arguments.iter().zip(site.params()).map(one).collect()
    }

    /// What can be seen after the call.
    fn checks(&self) -> Vec<Check> {
        let (old, new) = (&self.witness.old, &self.witness.new);
        let site = self.site();
        let mut checks = Vec::new();
        if self.has_result() {
            let place = Seen::result(self.new.function.ret.clone());
            checks.extend(Check::new(
                "returned",
                place,
                &site,
                old.returned.as_deref(),
                new.returned.as_deref(),
            ));
        }
        for (k, name) in self.places().into_iter().enumerate() {
            let Some(place) = Seen::read(name, k, &site, self.has_result()) else { continue };
            let value = |run: &Run| run.values.get(name).cloned();
            checks.extend(Check::new(name, place, &site, value(old).as_deref(), value(new).as_deref()));
        }
        checks
    }

    /// What only one run calls, for a churn of calls.
    ///
    /// Errors: the functions are the library's, which are not replaced, or pointers take part, whose
    /// values are none of C's.
    fn calls(&self) -> Result<Option<Check>, String> {
        let subject = self.churn.subject.as_str();
        if subject != Observable::Calls.name() {
            return Ok(None);
        }
        let of = |run: &Run| -> Result<Vec<String>, String> {
            let text = run.values.get(subject).map_or("", String::as_str);
            calls_in(text).into_iter().map(|call| self.noted(call)).collect()
        };
        let (old, new) = (of(&self.witness.old)?, of(&self.witness.new)?);
        let made = |yes: &[String], no: &[String]| {
            let yes = yes.iter().map(|c| format!("invdiff_called({c})"));
            let no = no.iter().map(|c| format!("!invdiff_called({c})"));
            yes.chain(no).collect::<Vec<_>>().join(" && ")
        };
        Ok(Some(Check {
            before: Vec::new(),
            print: "invdiff_dprintf(invdiff_record, \"calls:%s\", invdiff_calls);".into(),
            old: made(&old, &new),
            new: made(&new, &old),
        }))
    }

    /// A call as the stubs note it.
    fn noted(&self, call: &str) -> Result<String, String> {
        let (name, arguments) = call.split_once('(').ok_or("a call has no name")?;
        let is_noted = [self.old.source, self.new.source].iter().any(|s| notes_calls(&s.unit, name));
        let arguments = arguments.trim_end_matches(')');
        let plain = |a: &str| a.is_empty() || a == "NULL" || a.parse::<i128>().is_ok();
        if !is_noted || !arguments.split(", ").all(plain) {
            return Err(format!("it is a call of {name}() that a test does not see"));
        }
        Ok(string_literal(format!("\n{call}\n").as_bytes()))
    }

    /// Names of the values of the runs that can be seen from outside.
    fn places(&self) -> Vec<&str> {
        let values = [&self.witness.old.values, &self.witness.new.values];
        let mut names: Vec<&str> = values.iter().flat_map(|v| v.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let subject = self.churn.subject.as_str();
        names.retain(|n| subject == "memory" || *n == subject);
        names
    }
}

/// The calls of a list; none where it says so.
fn calls_in(text: &str) -> Vec<&str> {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(')') {
        calls.push(rest[..=end].trim_start_matches(", "));
        rest = &rest[end + 1..];
    }
    calls
}

fn version_name(v: &VersionInfo) -> String {
    match &v.commit {
        Some(id) => format!("{} {}", id.get(..12).unwrap_or(id), v.summary),
        None => v.name.clone(),
    }
}

/// A run in words.
fn told(run: &Run) -> String {
    let end = match (run.end, &run.returned) {
        (End::Return, Some(value)) => format!("returns {value}"),
        (End::Return, None) => "returns".into(),
        (End::Exit, _) => "exits".into(),
        (End::Abort, _) => "aborts".into(),
        (End::Signal, _) => "is killed by a signal".into(),
        (End::Undefined, _) => match &run.undefined {
            Some(u) => format!("does something undefined in line {}: {}", u.line, u.kind),
            None => "does something undefined".into(),
        },
        (End::Fuel, _) => "does not end".into(),
    };
    let code = run.exit.map(|c| format!(", exit status {c}")).unwrap_or_default();
    let out = run.stdout.as_ref().filter(|o| !o.is_empty());
    let out = out.map(|o| format!(", prints {}", string_literal(o.as_bytes()))).unwrap_or_default();
    let values: String = run.values.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
    format!("{end}{code}{out}{values}")
}
