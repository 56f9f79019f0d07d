//! `git invdiff quantify` and `git invdiff rank`: how many inputs a change affects, in numbers.

use super::diff::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::analysis::VersionInput;
use crate::analysis::quantify::{Choice, Problem, Quantified, TargetChoice, Wanted};
use crate::config::nearest;
use crate::quantify::{Comparison, Limits, Totals};
use crate::report::escape::visible;
use crate::report::filter::FunctionGlob;
use crate::report::{RepoPath, SCHEMA};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// How many inputs reach a change, behave differently after it, or fail
///
/// Counts, without running anything and without a solver, over a bounded domain of each function's
/// integer parameters and the integer globals that it reads: exact numbers of inputs. What cannot be
/// followed or counted is grey; success, failure and grey add up to the domain. An assertion that fails,
/// and abort(), is a failure. Signed arithmetic wraps.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff quantify HEAD~1..HEAD                              on a small domain, which is stated\n  \
    git invdiff quantify --domain x=-10..9 --domain y=0..99 A..B   on this one\n  \
    git invdiff quantify --target return=-1 --function parse A..B  how often it returns -1")]
pub struct QuantifyArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    #[command(flatten)]
    pub choice: ChoiceArgs,
}

/// Candidate fixes in the order of their failures
///
/// Each revision is a candidate. The one with the fewest failing inputs comes first; what is grey counts
/// as failing. Ties are said.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Example:\n  \
    git invdiff rank --domain x=0..99 --function f broken fix-1 fix-2")]
pub struct RankArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    #[command(flatten)]
    pub choice: ChoiceArgs,
}

#[derive(Args, Clone, Debug)]
pub struct ChoiceArgs {
    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,

    /// Values of an input, ends included; default: -10..9, 0..19 where it has no sign, 0..1 for truth values
    #[arg(long, value_name = "NAME=LOW..HIGH")]
    pub domain: Vec<String>,

    /// What is counted: assertion, return=VALUE, line:FILE:N, churn
    #[arg(long, value_name = "TARGET", default_value = "assertion")]
    pub target: String,
}

pub fn run(args: QuantifyArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let choice = args.choice.parsed()?;
    let (found, versions) = found(&args.range, &args.choice, &choice, context)?;
    match format {
        Format::Json => {
            let targets: Vec<Value> = found.iter().map(|q| target_json(q, &args.choice.target)).collect();
            print_json(
                &json!({ "schema": SCHEMA, "versions": infos(&versions), "targets": targets }),
                context,
            )?;
        }
        _ => text(&found, &versions, &args.choice.target, context)?,
    }
    Ok(ExitCode::Done)
}

pub fn rank(args: RankArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let choice = args.choice.parsed()?;
    let (found, versions) = found(&args.range, &args.choice, &choice, context)?;
    let function = match found.as_slice() {
        [one] => one,
        [] => return Err(CliError::fatal("no function has more than one body among these revisions")),
        more => {
            let names: Vec<String> = more.iter().map(title).collect();
            return Err(CliError::usage(format!("{} functions differ: {}", more.len(), names.join(", ")))
                .hint("choose one with --function"));
        }
    };
    let ranking = ranking(function, &versions);
    match format {
        Format::Json => {
            let entries: Vec<Value> = ranking.iter().map(|r| r.json(function)).collect();
            print_json(
                &json!({ "schema": SCHEMA, "versions": infos(&versions), "ranking": entries }),
                context,
            )?;
        }
        _ => {
            writeln!(context.output, "{}", heading(function))?;
            for r in &ranking {
                let tie = if r.is_tied { "  tied" } else { "" };
                let grey =
                    if r.grey > 0 { format!(", grey {}", share(r.grey, r.size)) } else { String::new() };
                let failure = share(r.failure, r.size);
                writeln!(
                    context.output,
                    "  {:>2}  {}  fails on {failure}{grey}{tie}",
                    r.place,
                    visible(r.revision.as_bytes())
                )?;
            }
            if ranking.iter().any(|r| r.grey > 0) {
                writeln!(context.output, "  grey inputs count as failures for the order")?;
            }
        }
    }
    Ok(ExitCode::Done)
}

fn infos(versions: &[VersionInput]) -> Value {
    versions.iter().map(|v| serde_json::to_value(&v.info).unwrap_or_default()).collect()
}

fn print_json(value: &Value, context: &mut Context) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| CliError::fatal(e.to_string()))?;
    writeln!(context.output, "{text}")?;
    Ok(())
}

fn found(
    range: &RangeArgs,
    asked: &ChoiceArgs,
    choice: &Choice,
    context: &mut Context,
) -> Result<(Vec<Quantified>, Vec<VersionInput>), CliError> {
    let repository = analyse::open(context)?;
    let (range, named) = without_function(range);
    let globs: Vec<FunctionGlob> =
        asked.function.iter().chain(&named).map(|glob| FunctionGlob::parse(glob)).collect();
    let is_it = |file: &RepoPath, name: &str| globs.is_empty() || globs.iter().any(|g| g.matches(file, name));
    let wanted = Wanted { is_it: &is_it, is_named: !globs.is_empty() };
    let diff = DiffArgs { range, ..DiffArgs::default() };
    let (found, versions) = analyse::quantify(&repository, &diff, choice, context, &wanted)?;
    let found = found.map_err(refused)?;
    if found.is_empty() {
        let by_line = matches!(choice.target, TargetChoice::Line(..));
        let what = if by_line {
            "no changed function has this line"
        } else {
            "no function that is asked for differs"
        };
        context.warn(what);
    }
    Ok((found, versions))
}

/// Takes `FILE:FUNCTION` out of the paths.
fn without_function(range: &RangeArgs) -> (RangeArgs, Option<String>) {
    let mut range = range.clone();
    let is_function = |path: &std::ffi::OsString| {
        path.to_str()?
            .rsplit_once(':')
            .filter(|(file, name)| !file.is_empty() && super::history::is_name(name))?;
        path.to_str().map(str::to_owned)
    };
    let named = range.paths.iter().find_map(is_function);
    range.paths.retain(|p| is_function(p).is_none());
    (range, named)
}

fn refused(problem: Problem) -> CliError {
    match problem {
        Problem::NoInput { name, known } => {
            let error = CliError::usage(format!("'{name}' is no input of a function that differs"));
            match (nearest(&name, known.iter().map(String::as_str)), known.is_empty()) {
                (Some(near), _) => error.hint(format!("did you mean '{near}'?")),
                (None, false) => error.hint(format!("inputs: {}", known.join(", "))),
                (None, true) => error.hint("inputs are integer parameters, and globals that are read"),
            }
        }
        Problem::OutOfType { name, whole: (low, high) } => {
            CliError::usage(format!("the domain of '{name}' leaves its type, which has {low}..{high}"))
        }
        Problem::TooLarge { function } => {
            CliError::usage(format!("the domain of {function}() has more than 2^120 inputs"))
                .hint("give smaller ranges with --domain NAME=LOW..HIGH")
        }
        Problem::NoCode { line, function, is_branch } => {
            let what = if is_branch { "branch" } else { "code" };
            CliError::usage(format!("line {line} has no {what} of {function}()"))
        }
    }
}

impl ChoiceArgs {
    fn parsed(&self) -> Result<Choice, CliError> {
        let mut domains = BTreeMap::new();
        for text in &self.domain {
            let (name, range) = domain(text)?;
            if domains.insert(name.clone(), range).is_some() {
                return Err(CliError::usage(format!("'{name}' has two domains")));
            }
        }
        Ok(Choice { domains, target: target(&self.target)?, limits: Limits::default(), with_first: false })
    }
}

/// Reads `NAME=LOW..HIGH`. Columns count from 1.
fn domain(text: &str) -> Result<(String, (i128, i128)), CliError> {
    let wrong = |column: usize, what: &str| {
        CliError::usage(format!("domain '{text}', column {column}: {what}"))
            .hint("a domain is NAME=LOW..HIGH, for example --domain x=-10..9")
    };
    let (name, range) = text.split_once('=').ok_or_else(|| wrong(text.len() + 1, "expected '='"))?;
    if !super::history::is_name(name) {
        return Err(wrong(1, "expected the name of an input"));
    }
    let column = name.len() + 2;
    let (low, high) = range.split_once("..").ok_or_else(|| wrong(column, "expected LOW..HIGH"))?;
    let number = |text: &str, column| {
        text.parse::<i64>().map(i128::from).or_else(|_| {
            text.parse::<u64>().map(i128::from).map_err(|_| wrong(column, "expected a number of 64 bits"))
        })
    };
    let second = column + low.len() + 2;
    let (low, high) = (number(low, column)?, number(high, second)?);
    if low > high {
        return Err(wrong(second, "the range is empty: its end is below its start"));
    }
    Ok((name.to_owned(), (low, high)))
}

fn target(text: &str) -> Result<TargetChoice, CliError> {
    let unknown = || {
        CliError::usage(format!("unknown target '{text}'"))
            .hint("targets: assertion, return=VALUE, line:FILE:N, churn")
    };
    if let Some(value) = text.strip_prefix("return=") {
        return value.parse::<i64>().map(|v| TargetChoice::Return(v.into())).map_err(|_| unknown());
    }
    if let Some((file, line)) = text.strip_prefix("line:").and_then(|rest| rest.rsplit_once(':')) {
        return line.parse().map(|n| TargetChoice::Line(PathBuf::from(file), n)).map_err(|_| unknown());
    }
    match text {
        "assertion" => Ok(TargetChoice::Assertion),
        "churn" => Ok(TargetChoice::Churn),
        _ => Err(unknown()),
    }
}

/// `10 of 400 (2.5 %)`.
fn share(n: i128, of: i128) -> String {
    format!("{n} of {of} ({} %)", percent(n, of))
}

/// Exact where four digits suffice, else rounded with `~` in front.
fn percent(n: i128, of: i128) -> String {
    let Some(scaled) = n.checked_mul(1_000_000).filter(|_| of > 0) else {
        return "~".to_owned() + &format!("{:.4}", fraction(n, of) * 100.0);
    };
    let (whole, rest) = (scaled / of, scaled % of);
    if rest != 0 {
        return format!("~{:.4}", fraction(n, of) * 100.0);
    }
    let text = format!("{}.{:04}", whole / 10_000, whole % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn fraction(n: i128, of: i128) -> f64 {
    if of == 0 { 0.0 } else { n as f64 / of as f64 }
}

fn title(q: &Quantified) -> String {
    format!("{}:{}", RepoPath::from(&q.file), visible(q.name.as_bytes()))
}

/// The function and its domain.
fn heading(q: &Quantified) -> String {
    let size = q.size;
    let range = |(name, (low, high), usual): &(String, (i128, i128), bool)| {
        format!("{}={low}..{high}{}", visible(name.as_bytes()), if *usual { " (default)" } else { "" })
    };
    let inputs: Vec<String> = q.inputs.iter().map(range).collect();
    let domain = if inputs.is_empty() { "no inputs".to_owned() } else { inputs.join(", ") };
    let plural = if size == 1 { "input" } else { "inputs" };
    format!("{}()\n  domain   {size} {plural}: {domain}", title(q))
}

fn text(
    found: &[Quantified],
    versions: &[VersionInput],
    target: &str,
    context: &mut Context,
) -> Result<(), CliError> {
    let out = &mut context.output;
    for (i, q) in found.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", heading(q))?;
        for (v, counted) in q.versions.iter().enumerate() {
            let name = versions.get(v).map_or(String::new(), |v| visible(v.info.name.as_bytes()));
            let Some(counted) = counted else {
                writeln!(out, "  version {}  {name}  it is not there", v + 1)?;
                continue;
            };
            writeln!(out, "  version {}  {name}", v + 1)?;
            totals_text(&counted.totals, target, out)?;
            if let Some(step) = q.steps.get(v) {
                writeln!(out, "  from version {} to {}", v + 1, v + 2)?;
                match step {
                    Ok(c) => comparison_text(c, counted.totals.size, out)?,
                    Err(why) => writeln!(out, "    not compared: {why}")?,
                }
            }
        }
    }
    Ok(())
}

fn totals_text(t: &Totals, target: &str, out: &mut impl Write) -> Result<(), CliError> {
    writeln!(out, "    success  {}", share(t.success, t.size))?;
    writeln!(out, "    failure  {}", share(t.failure, t.size))?;
    writeln!(out, "    grey     {}", share(t.grey, t.size))?;
    if t.grey > 0 {
        for (why, grey) in &t.reasons {
            let paths = if grey.paths == 1 { "path" } else { "paths" };
            let inputs = if grey.inputs > 0 { format!("{}, ", share(grey.inputs, t.size)) } else { String::new() };
            writeln!(out, "             {why}: {inputs}{} {paths}", grey.paths)?;
        }
    }
    if target != "assertion" {
        let least = if t.uncertain > 0 { "at least " } else { "" };
        writeln!(out, "    {}  {least}{}", visible(target.as_bytes()), share(t.target, t.size))?;
    }
    for b in &t.branches {
        let all = b.taken + b.not_taken;
        writeln!(out, "    line {}  true on {}, of those that come there", b.line, share(b.taken, all))?;
    }
    Ok(())
}

fn comparison_text(c: &Comparison, size: i128, out: &mut impl Write) -> Result<(), CliError> {
    let least = if c.open > 0 { "at least " } else { "" };
    writeln!(out, "    reach the change    {least}{}", share(c.reaching, size))?;
    writeln!(out, "    behave differently  {least}{}", share(c.differing, size))?;
    if c.failing_differs > 0 {
        writeln!(out, "    fail in one alone   {least}{}", share(c.failing_differs, size))?;
    }
    if c.open > 0 {
        writeln!(out, "    not known           {}", share(c.open, size))?;
    } else if c.differing == 0 {
        writeln!(out, "    proved harmless on this domain")?;
    }
    if !c.dependent.is_empty() {
        let lines: Vec<String> = c.dependent.iter().map(u32::to_string).collect();
        writeln!(out, "    branches that depend on it: line {}", lines.join(", "))?;
    }
    Ok(())
}

fn number(n: i128, of: i128) -> Value {
    json!({ "count": n.to_string(), "fraction": fraction(n, of) })
}

fn target_json(q: &Quantified, target: &str) -> Value {
    let size = q.size;
    let domain: serde_json::Map<String, Value> = q
        .inputs
        .iter()
        .map(|(name, (low, high), _)| (name.clone(), json!([wide(*low), wide(*high)])))
        .collect();
    let version = |(v, counted): (usize, &Option<crate::analysis::quantify::Counted>)| {
        let c = counted.as_ref()?;
        let t = &c.totals;
        let branches: Vec<Value> = t.branches.iter().map(|b| {
            let conditional = fraction(b.taken, b.taken + b.not_taken);
            json!({ "line": b.line, "true": b.taken.to_string(), "false": b.not_taken.to_string(), "conditional": conditional })
        }).collect();
        let probability = fraction(t.target, t.size);
        Some(json!({
            "index": v + 1, "target_count": t.target.to_string(), "success": t.success.to_string(),
            "failure": t.failure.to_string(), "grey": t.grey.to_string(), "probability": probability,
            "interval": [probability, fraction(t.target + t.uncertain, t.size).min(1.0)],
            "nodes": c.states, "explored": c.states, "branches": branches
        }))
    };
    let steps: Vec<Value> = (1..).zip(&q.steps).map(|(v, step): (usize, _)| match step {
        Ok(c) => json!({
            "from": v, "to": v + 1, "reaching": number(c.reaching, size), "differing": number(c.differing, size),
            "failing_differs": number(c.failing_differs, size), "open": number(c.open, size),
            "dependent_branches": c.dependent
        }),
        Err(why) => json!({ "from": v, "to": v + 1, "not_compared": why }),
    }).collect();
    let last = q.steps.last().and_then(|s| s.as_ref().ok());
    json!({
        "file": RepoPath::from(&q.file), "function": &*q.name, "target": target,
        "line": target.strip_prefix("line:").and_then(|t| t.rsplit_once(':')?.1.parse::<u32>().ok()),
        "domain": domain, "domain_size": size.to_string(), "method": "exact",
        "versions": q.versions.iter().enumerate().filter_map(version).collect::<Vec<_>>(),
        "changed_inputs": last.map(|c| json!({ "reaching": number(c.reaching, size), "differing": number(c.differing, size) })),
        "dependent_branches": last.map(|c| &c.dependent), "steps": steps
    })
}

/// A bound of a 64-bit type as a number.
fn wide(n: i128) -> Value {
    i64::try_from(n).map(Value::from).or_else(|_| u64::try_from(n).map(Value::from)).unwrap_or_default()
}

/// A candidate with its place.
struct Ranked {
    place: usize,
    is_tied: bool,
    revision: String,
    failure: i128,
    grey: i128,
    size: i128,
}

/// The candidates that have the function: fewest failures first, what is grey taken as failing.
fn ranking(q: &Quantified, versions: &[VersionInput]) -> Vec<Ranked> {
    let mut all: Vec<Ranked> = Vec::new();
    for (v, counted) in q.versions.iter().enumerate() {
        let (Some(c), Some(version)) = (counted, versions.get(v)) else { continue };
        all.push(Ranked {
            place: 0,
            is_tied: false,
            revision: version.info.name.clone(),
            failure: c.totals.failure,
            grey: c.totals.grey,
            size: c.totals.size,
        });
    }
    all.sort_by_key(|r| r.failure + r.grey);
    let keys: Vec<i128> = all.iter().map(|r| r.failure + r.grey).collect();
    for (i, r) in all.iter_mut().enumerate() {
        r.place = 1 + keys.iter().filter(|k| **k < keys[i]).count();
        r.is_tied = keys.iter().filter(|k| **k == keys[i]).count() > 1;
    }
    all
}

impl Ranked {
    fn json(&self, q: &Quantified) -> Value {
        json!({
            "place": self.place, "revision": self.revision, "function": &*q.name, "tied": self.is_tied,
            "failure": number(self.failure, self.size), "grey": number(self.grey, self.size)
        })
    }
}
