//! `git invdiff condition`: which executions of the last version may violate what the first does not.

use super::diff_args::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::analysis::VersionInput;
use crate::analysis::difference::{Choice, Compared, Differences};
use crate::difference::{Detector, Extent, Remainder, Role};
use crate::frontend::c;
use crate::instrument::{self, Residual, Source};
use crate::report::escape::visible;
use crate::report::filter::FunctionGlob;
use crate::report::palette::Slot;
use crate::report::unseen;
use crate::report::{RepoPath, SCHEMA, VersionInfo};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// What of a change is left to verify, as a condition for verifiers
///
/// Compares the first and the last version of the range, function by function, without a solver. A
/// function is harmless if no input on which the first version passes its assertions makes the last one
/// fail. Of the others the condition says which executions need not be looked at.
///
/// Formats: text; json; automaton, the assumption automaton that CPAchecker reads (`__TRUE`: covered,
/// `__FALSE`: to be verified); residual-c, the source of the last version, in which executions end where
/// nothing is left to verify. In a verification task (`reach_error`, `__VERIFIER_*`) `abort()` is an
/// assumption, elsewhere a failure.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff condition HEAD~1..HEAD                          what is harmless, what is to be looked at\n  \
    git invdiff condition --format automaton --function main    for a conditional model checker\n  \
    git invdiff condition --format residual-c A..B -- src/a.c   a program for any verifier\n  \
    git invdiff condition --detector diffcond A..B              by text alone, for comparison")]
pub struct ConditionArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,

    /// How differences are found: by data dependences and assertions, or by text
    #[arg(long, value_name = "NAME", default_value = "diffdp")]
    pub detector: DetectorChoice,

    /// Undefined behaviour is a failure, too
    #[arg(long)]
    pub undefined: bool,

    /// Write one file for each automaton or residual program below <DIR>
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,

    /// Exit 1 if something is left to verify
    #[arg(long)]
    pub exit_code: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DetectorChoice {
    Diffdp,
    Diffcond,
}

pub fn run(args: ConditionArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json, Format::Automaton, Format::ResidualC])?;
    let repository = analyse::open(context)?;
    let choice = Choice {
        detector: match args.detector {
            DetectorChoice::Diffdp => Detector::DiffDp,
            DetectorChoice::Diffcond => Detector::DiffCond,
        },
        undefined: args.undefined,
    };
    // The two ends are what a condition is about.
    let range = RangeArgs { endpoints: true, ..args.range.clone() };
    let diff = DiffArgs { range, ..DiffArgs::default() };
    let (mut found, versions, options) = analyse::differences(&repository, &diff, &choice, context)?;
    let globs: Vec<FunctionGlob> = args.function.iter().map(|glob| FunctionGlob::parse(glob)).collect();
    if !globs.is_empty() {
        found.compared.retain(|c| globs.iter().any(|g| g.matches(&RepoPath::from(&c.file), &c.name)));
        found.added.retain(|a| globs.iter().any(|g| g.matches(&RepoPath::from(&a.file), &a.name)));
    }
    for (file, why) in &found.unread {
        context.warn(&format!("{file} is not compared: {why}"));
    }
    for notice in &found.notices {
        context.say(notice);
    }
    let newest = versions.last().ok_or_else(|| CliError::fatal("the range has no version"))?;
    match format {
        Format::Json => {
            let text = serde_json::to_string_pretty(&Report::of(&found, &choice))
                .map_err(|e| CliError::fatal(e.to_string()))?;
            writeln!(context.output, "{text}")?;
        }
        Format::Automaton => automata(&args, &found, newest, context)?,
        Format::ResidualC => residuals(&args, &found, newest, &options, context)?,
        _ => text(&found, context)?,
    }
    Ok(match args.exit_code && !is_harmless(&found) {
        true => ExitCode::Objection,
        false => ExitCode::Done,
    })
}

/// Whether nothing of a function is left, of what runs behind it neither.
fn is_proved(c: &Compared) -> bool {
    c.extent() == Extent::Nothing && c.at_exit.is_empty()
}

fn is_harmless(found: &Differences) -> bool {
    // What another configuration compiles is no part of this program, and neither is what reaches no function.
    let apart = |why: &str| ["inactive-branch", "global", "layout"].contains(&why);
    let read = found.hunks.iter().all(|h| h.why.as_deref().is_some_and(apart));
    let all = read && found.unread.is_empty() && found.notices.is_empty();
    found.compared.iter().all(is_proved) && found.added.is_empty() && all
}

/// Where the results of one kind go.
struct Files<'a> {
    folder: Option<&'a PathBuf>,
    /// What there is one of.
    what: &'a str,
    results: Vec<(PathBuf, Vec<u8>)>,
}

impl Files<'_> {
    fn write(self, context: &mut Context) -> Result<(), CliError> {
        match (self.folder, self.results.as_slice()) {
            (None, []) => context.say("nothing in this range is left to verify, or can be compared"),
            (None, [(_, text)]) => context.output.write_all(text)?,
            (None, _) => {
                return Err(CliError::usage(format!("this range has {} {}s", self.results.len(), self.what))
                    .hint("choose one with --function or a path, or give --output-dir"));
            }
            (Some(folder), _) => {
                for (path, text) in &self.results {
                    // A tree may name anything; nothing is written outside the folder.
                    if !path.components().all(|c| matches!(c, Component::Normal(_))) {
                        continue;
                    }
                    let target = folder.join(path);
                    super::output::write_file(&target, text)?;
                    writeln!(context.output, "{}", RepoPath::from(&target))?;
                }
            }
        }
        Ok(())
    }
}

fn automata(
    args: &ConditionArgs,
    found: &Differences,
    newest: &VersionInput,
    context: &mut Context,
) -> Result<(), CliError> {
    let read = |path: &Path| newest.tree.read(path);
    let one = |c: &&Compared| {
        let name = format!("{}-{}.spc", c.file.to_string_lossy().replace('/', "-"), c.name);
        (PathBuf::from(name), instrument::automaton(c, &read).into_bytes())
    };
    let results = chosen(args, found).iter().map(one).collect();
    Files { folder: args.output_dir.as_ref(), what: "condition", results }.write(context)
}

/// The functions that were asked for; all by which an execution may begin where none was.
fn chosen<'d>(args: &ConditionArgs, found: &'d Differences) -> Vec<&'d Compared> {
    match args.function.is_empty() {
        true => found.entries(),
        false => found.compared.iter().collect(),
    }
}

fn residuals(
    args: &ConditionArgs,
    found: &Differences,
    newest: &VersionInput,
    options: &c::Options,
    context: &mut Context,
) -> Result<(), CliError> {
    let mut files: BTreeMap<&PathBuf, Vec<&Compared>> = BTreeMap::new();
    for c in chosen(args, found) {
        files.entry(&c.file).or_default().push(c);
    }
    let mut results = Vec::new();
    for (path, compared) in files {
        let mut remainder = Remainder::default();
        compared.iter().for_each(|c| remainder.join(c.remainder.clone()));
        let alone = if let [only] = compared.as_slice() { Some(*only) } else { None };
        let source = match Source::load(&*newest.tree, path, options) {
            Ok(source) => source,
            Err(why) => {
                context.warn(&format!("{}: {why}", RepoPath::from(path)));
                continue;
            }
        };
        let Residual { text, cuts, why } = instrument::residual(&source, &remainder, 0, alone);
        let file = RepoPath::from(path);
        match why {
            Some(why) => context.warn(&format!("{file}: nothing is cut off: {why}")),
            None => context.say(&format!("{file}: {}", count(cuts, "place", "places") + " cut off")),
        }
        results.push((path.clone(), text));
    }
    Files { folder: args.output_dir.as_ref(), what: "residual program", results }.write(context)
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// What a person sees.
fn text(found: &Differences, context: &mut Context) -> Result<(), CliError> {
    let palette = context.output.palette().clone();
    let verbose = context.globals.verbose > 0;
    let name = |v: &VersionInfo| visible(v.name.as_bytes());
    let out = &mut context.output;
    writeln!(out, "{} against {}", name(&found.new), name(&found.old))?;
    let mut file = None;
    for c in &found.compared {
        if file != Some(&c.file) {
            let path = RepoPath::from(&c.file).to_string();
            writeln!(out, "\n{}", palette.paint(Slot::File, path))?;
            file = Some(&c.file);
        }
        let called = if c.changed { "" } else { "  (what it calls or reads changed)" };
        writeln!(out, "  {}(){called}", visible(c.name.as_bytes()))?;
        match c.extent() {
            Extent::Nothing if !c.at_exit.is_empty() => {
                let names: Vec<String> =
                    c.at_exit.iter().map(|(_, name)| format!("{}()", visible(name.as_bytes()))).collect();
                let text = format!(
                    "fails on no new input by itself; not looked at, when the program ends: {}",
                    names.join(", ")
                );
                writeln!(out, "    {}", palette.paint(Slot::Warning, text))?;
            }
            Extent::Nothing => {
                writeln!(out, "    {}", palette.paint(Slot::Added, "harmless: it fails on no new input"))?;
            }
            Extent::Everything => {
                let all = format!("verify everything: lines {}", span(c.lines));
                writeln!(out, "    {}", palette.paint(Slot::Warning, all))?;
            }
            Extent::Some => {
                let open = lines(&c.open_lines);
                let open = if open.is_empty() { "what it calls".to_owned() } else { format!("lines {open}") };
                let of = format!("verify {open} of {}", span(c.lines));
                writeln!(out, "    {}", palette.paint(Slot::Warning, of))?;
                if !c.begins.is_empty() {
                    writeln!(out, "    may fail from line {} on", lines(&c.begins))?;
                }
            }
        }
        if verbose {
            let condition = c.graph.condition();
            let states = count(condition.open.len() + condition.accepting.len(), "state", "states");
            let accepting = condition.accepting.len();
            let transitions = count(condition.edges.len(), "transition", "transitions");
            writeln!(out, "    condition: {states}, {accepting} of them accepting, {transitions}")?;
        }
    }
    for a in &found.added {
        let (file, name) = (RepoPath::from(&a.file), visible(a.name.as_bytes()));
        writeln!(
            out,
            "\n{file}\n  {name}()\n    {}",
            palette.paint(Slot::Warning, "new: verify everything")
        )?;
    }
    let harmless = found.compared.iter().filter(|c| is_proved(c)).count();
    let all = found.compared.len() + found.added.len();
    match all {
        0 if found.unread.is_empty() && found.hunks.is_empty() => writeln!(out, "\nno function differs")?,
        0 => writeln!(out, "\nno function differs in what was read")?,
        _ => writeln!(
            out,
            "\n{harmless} of {} proved harmless, without a solver",
            count(all, "function", "functions")
        )?,
    }
    if let Some(hunks) = unseen::words(found.hunks.iter()) {
        writeln!(out, "not looked at: {hunks}")?;
    }
    Ok(())
}

fn span((first, last): (u32, u32)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Numbers with runs joined: `3, 5-7`.
fn lines(numbers: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for n in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *n => *last = *n,
            _ => runs.push((*n, *n)),
        }
    }
    runs.into_iter().map(span).collect::<Vec<_>>().join(", ")
}

/// What `--json` says.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    detector: &'static str,
    undefined: bool,
    versions: [&'a VersionInfo; 2],
    harmless: bool,
    functions: Vec<FunctionEntry<'a>>,
    added: Vec<Named<'a>>,
    unread: Vec<Unread<'a>>,
    /// What a limit left out.
    notices: &'a [String],
    not_looked_at: &'a [crate::report::HunkReport],
}

#[derive(Serialize)]
struct Named<'a> {
    file: RepoPath,
    name: &'a str,
}

#[derive(Serialize)]
struct Unread<'a> {
    file: &'a RepoPath,
    why: &'a str,
}

#[derive(Serialize)]
struct FunctionEntry<'a> {
    #[serde(flatten)]
    named: Named<'a>,
    lines: [u32; 2],
    /// Its own text differs.
    changed: bool,
    entry: bool,
    /// `nothing`, `some` or `everything` is left to verify.
    verify: &'static str,
    verify_lines: &'a BTreeSet<u32>,
    begins: &'a BTreeSet<u32>,
    /// Functions that run when the program ends and read what this one writes; nothing looked at them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_exit: Vec<&'a str>,
    condition: ConditionEntry<'a>,
}

/// The automaton: executions start in state 0, and are covered in an accepting one.
#[derive(Serialize)]
struct ConditionEntry<'a> {
    states: Vec<StateEntry<'a>>,
    transitions: Vec<TransitionEntry>,
}

#[derive(Serialize)]
struct StateEntry<'a> {
    id: usize,
    /// `open`, `accepting`, or `bug`: all that follows is to be verified.
    kind: &'static str,
    file: RepoPath,
    function: &'a str,
    line: u32,
}

#[derive(Serialize)]
struct TransitionEntry {
    from: usize,
    to: usize,
    /// Which edge of a branch: true or false.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<bool>,
}

impl<'a> Report<'a> {
    fn of(found: &'a Differences, choice: &Choice) -> Report<'a> {
        Report {
            schema: SCHEMA,
            detector: match choice.detector {
                Detector::DiffDp => "diffdp",
                Detector::DiffCond => "diffcond",
            },
            undefined: choice.undefined,
            versions: [&found.old, &found.new],
            harmless: is_harmless(found),
            functions: found.compared.iter().map(FunctionEntry::of).collect(),
            added: found
                .added
                .iter()
                .map(|a| Named { file: RepoPath::from(&a.file), name: &a.name })
                .collect(),
            notices: &found.notices,
            not_looked_at: &found.hunks,
            unread: found.unread.iter().map(|(file, why)| Unread { file, why }).collect(),
        }
    }
}

impl<'a> FunctionEntry<'a> {
    fn of(c: &'a Compared) -> FunctionEntry<'a> {
        let condition = c.graph.condition();
        let is_branch = |n: usize| c.graph.edges.iter().filter(|e| e.from == n).any(|e| e.label > 0);
        let states = condition.open.iter().chain(&condition.accepting).map(|id| StateEntry {
            id: *id,
            kind: match c.graph.nodes[*id].1 {
                _ if !condition.open.contains(id) => "accepting",
                Role::Bug => "bug",
                _ => "open",
            },
            file: RepoPath::from(&c.spots[*id].file),
            function: &c.graph.nodes[*id].0.function,
            line: c.spots[*id].line,
        });
        let transitions = condition.edges.iter().map(|e| TransitionEntry {
            from: e.from,
            to: e.to,
            taken: is_branch(e.from).then_some(e.label == 0),
        });
        FunctionEntry {
            named: Named { file: RepoPath::from(&c.file), name: &c.name },
            lines: [c.lines.0, c.lines.1],
            changed: c.changed,
            entry: c.is_entry,
            verify: match c.extent() {
                Extent::Nothing => "nothing",
                Extent::Some => "some",
                Extent::Everything => "everything",
            },
            verify_lines: &c.open_lines,
            begins: &c.begins,
            at_exit: c.at_exit.iter().map(|(_, name)| &**name).collect(),
            condition: ConditionEntry { states: states.collect(), transitions: transitions.collect() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_lines_are_joined() {
        assert_eq!(lines(&BTreeSet::from([1, 2, 3, 7, 9, 10])), "1-3, 7, 9-10");
        assert_eq!(lines(&BTreeSet::new()), "");
    }
}
