//! What `quantify` and `rank` are asked: domains, a profile, a target.

use super::super::CliError;
use super::profile::{self, Profile};
use crate::analysis::quantify::{Choice, TargetChoice};
use crate::cli::diff_args::EffortChoice;
use crate::config::{FILE_NAME, Settings, Span, nearest};
use crate::count::Interval;
use crate::history::SourceTree;
use crate::quantify::{LONGEST, Limits};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const TARGETS: &str = "targets: assertion, return=VALUE, line:FILE:N, branch:FILE:N, churn";

#[derive(Args, Clone, Debug)]
pub struct ChoiceArgs {
    /// Only functions whose name matches, changed or not; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,

    /// Values of an input, ends included, lengths of a string, len(NAME)=0..8, or floats in steps, x=-1..1:0.25; default:
    /// -10..9, 0..19 where it has no sign, 0..1 for truth values, -10..9:0.5 for floats
    #[arg(long, value_name = "NAME=LOW..HIGH")]
    pub domain: Vec<String>,

    /// How likely values are: lines INPUT,LOW,HIGH,PROBABILITY, or calls that were observed (CSV, .dtrace)
    #[arg(long, value_name = "FILE|NAME")]
    pub profile: Option<PathBuf>,

    /// What is counted: assertion, return=VALUE, line:FILE:N, branch:FILE:N, churn
    #[arg(long, value_name = "TARGET", default_value = "assertion")]
    pub target: String,

    /// How much is followed and counted before the rest is grey: a tenth at quick, five times as much at deep
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub effort: Option<EffortChoice>,
}

/// The bounds of an effort, by name.
pub(in crate::cli) fn limits(effort: &str) -> Limits {
    let Limits { paths, steps, all_steps, work, pairs } = Limits::default();
    match effort {
        "quick" => {
            Limits { paths: paths / 10, steps, all_steps: all_steps / 10, work: work / 10, pairs: pairs / 10 }
        }
        "deep" => {
            Limits { paths: paths * 5, steps, all_steps: all_steps * 5, work: work * 5, pairs: pairs * 5 }
        }
        _ => Limits::default(),
    }
}

/// What is asked, and the profile that it is asked with.
pub(super) struct Asked {
    pub choice: Choice,
    pub profile: Profile,
}

type Domains = BTreeMap<String, Interval>;

impl ChoiceArgs {
    /// The ranges that options give.
    pub fn domains(&self) -> Result<Domains, CliError> {
        let mut domains = Domains::new();
        for text in &self.domain {
            let (name, range) = domain(text)?;
            if domains.insert(name.clone(), range).is_some() {
                return Err(CliError::usage(format!("'{name}' has two domains")));
            }
        }
        Ok(domains)
    }

    pub fn target(&self) -> Result<TargetChoice, CliError> {
        target(&self.target)
    }

    /// What the options say, and where they do not, the configuration. `tree`: the newest version's.
    pub(super) fn asked(
        &self,
        settings: &Settings,
        tree: Option<&dyn SourceTree>,
    ) -> Result<Asked, CliError> {
        let own = self.domains()?;
        let of_file = settings.quantify.domain.iter().map(|(name, span)| (name.clone(), span.0));
        let mut domains: Domains = of_file.collect();
        let mut profile = match &self.profile {
            Some(path) => option(path, settings)?,
            None => configured(settings, tree)?.unwrap_or_default(),
        };
        for name in profile.distributed().into_iter().cloned().collect::<Vec<_>>() {
            domains.remove(&name);
            if !own.contains_key(&name) {
                continue;
            }
            // A nearer layer wins, but an option cannot contradict another one, or tear a distribution apart.
            if self.profile.is_some() || profile.weights.remove(&name).is_none() {
                return Err(CliError::usage(format!("'{name}' has a domain and a profile"))
                    .hint("the profile of an input says which values it has"));
            }
        }
        let mut asked: BTreeSet<String> = own.keys().cloned().collect();
        asked.extend(profile.named().into_iter().filter(|_| self.profile.is_some()).cloned());
        domains.extend(own);
        for (name, pieces) in &profile.weights {
            let low = pieces.iter().map(|((low, _), _)| *low).min().unwrap_or(0);
            let high = pieces.iter().map(|((_, high), _)| *high).max().unwrap_or(0);
            domains.insert(name.clone(), (low, high).into());
        }
        let is_length = |name: &String| parameter(name).is_some();
        let (texts, domains): (Domains, Domains) = domains.into_iter().partition(|(name, _)| is_length(name));
        let length =
            |(name, range): (&String, &Interval)| Some((parameter(name)?.to_owned(), range.as_whole()?));
        let lengths = texts.iter().filter_map(length);
        let lengths = lengths.collect();
        let choice = Choice {
            domains,
            lengths,
            weights: profile.weights.clone(),
            factors: profile.factors.clone(),
            asked,
            is_projects: self.profile.is_none(),
            target: self.target()?,
            is_target_only: false,
            limits: limits(self.effort.map_or(settings.analysis.effort.as_str(), |e| e.name())),
            with_first: false,
            tree: None,
            suite: None,
        };
        Ok(Asked { choice, profile })
    }
}

/// The profile of an option: a file, or one that the configuration has under this name.
fn option(path: &Path, settings: &Settings) -> Result<Profile, CliError> {
    let name = path.to_str().filter(|_| !path.exists());
    match name.and_then(|name| named(name, settings)) {
        Some(found) => found,
        None => profile::read(path),
    }
}

/// A profile that the configuration has under a name.
fn named(name: &str, settings: &Settings) -> Option<Result<Profile, CliError>> {
    let inputs = settings.profiles.get(name)?;
    let lines: Vec<String> = inputs.iter().flat_map(|(input, d)| d.lines(input)).collect();
    Some(profile::of_lines(&format!("'{name}' of {FILE_NAME}"), &lines.join("\n")))
}

/// The profile of the configuration. A file is one of the tree: what the project's file names is never read from
/// elsewhere.
fn configured(settings: &Settings, tree: Option<&dyn SourceTree>) -> Result<Option<Profile>, CliError> {
    let Some(name) = &settings.quantify.profile else { return Ok(None) };
    if let Some(found) = named(name, settings) {
        return found.map(Some);
    }
    match tree.and_then(|tree| tree.read(Path::new(name))) {
        Some(bytes) => profile::of_bytes(name, &bytes).map(Some),
        None => {
            let names: Vec<&str> = settings.profiles.keys().map(String::as_str).collect();
            let error = CliError::fatal(format!("quantify.profile '{name}' of {FILE_NAME} is not there"));
            Err(match nearest(name, names) {
                Some(near) => error.hint(format!("did you mean '{near}'?")),
                None => error.hint("it is a name below 'profiles', or a file of the newest version"),
            })
        }
    }
}

/// Reads `NAME=LOW..HIGH` or `NAME=LOW..HIGH:STEP`. Columns count from 1.
fn domain(text: &str) -> Result<(String, Interval), CliError> {
    let wrong = |column: usize, what: &str| {
        CliError::usage(format!("domain '{text}', column {column}: {what}"))
            .hint("a domain is NAME=LOW..HIGH, for example --domain x=-10..9")
    };
    let column = |bytes: usize| text.get(..bytes).map_or(bytes, |before| before.chars().count()) + 1;
    let (name, range) = text.split_once('=').ok_or_else(|| wrong(column(text.len()), "expected '='"))?;
    if !crate::cli::name::is_name(parameter(name).unwrap_or(name)) {
        return Err(wrong(1, "expected the name of an input"));
    }
    let start = name.len() + 1;
    let found = Span::parse(range).map_err(|(at, what)| wrong(column(start + at), what))?;
    let is_length = |(low, high): &(i128, i128)| *low >= 0 && *high <= LONGEST;
    if parameter(name).is_some() && found.as_whole().filter(is_length).is_none() {
        return Err(wrong(column(start), &format!("a string has 0..{LONGEST} bytes here")));
    }
    Ok((name.to_owned(), found))
}

/// The parameter of `len(PARAMETER)`.
fn parameter(name: &str) -> Option<&str> {
    name.strip_prefix("len(")?.strip_suffix(')')
}

/// A number that some type of at most 64 bits has.
pub(super) fn number(text: &str) -> Option<i128> {
    text.parse::<i128>().ok().filter(|n| i128::from(i64::MIN) <= *n && *n <= i128::from(u64::MAX))
}

fn target(text: &str) -> Result<TargetChoice, CliError> {
    let unknown = || CliError::usage(format!("unknown target '{text}'")).hint(TARGETS);
    if let Some(value) = text.strip_prefix("return=") {
        return number(value).map(TargetChoice::Return).ok_or_else(unknown);
    }
    let place = |rest: &str| {
        let (file, line) = rest.rsplit_once(':').filter(|(file, _)| !file.is_empty())?;
        Some((PathBuf::from(file), line.parse::<u32>().ok().filter(|n| *n > 0)?))
    };
    if let Some(rest) = text.strip_prefix("line:") {
        return place(rest).map(|(file, n)| TargetChoice::Line(file, n)).ok_or_else(unknown);
    }
    if let Some(rest) = text.strip_prefix("branch:") {
        return place(rest).map(|(file, n)| TargetChoice::Branch(file, n)).ok_or_else(unknown);
    }
    match text {
        "assertion" => Ok(TargetChoice::Assertion),
        "churn" => Ok(TargetChoice::Churn),
        _ => Err(unknown()),
    }
}
