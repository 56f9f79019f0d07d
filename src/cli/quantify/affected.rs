//! The numbers of the default report: what each step of a function affects.

use super::choice::{Asked, ChoiceArgs};
use super::profile::Profile;
use super::refused;
use super::text::{Scale, percent};
use crate::analysis::quantify::{Choice, InputRange, Problem, Quantified};
use crate::cli::CliError;
use crate::config::Settings;
use crate::count::Interval;
use crate::history::SourceTree;
use crate::quantify::Comparison;
use crate::report::Affected;

/// What the configuration says is to be counted.
pub(in crate::cli) fn configured(
    settings: &Settings,
    tree: Option<&dyn SourceTree>,
) -> Result<(Choice, Profile), CliError> {
    let none = ChoiceArgs {
        function: Vec::new(),
        domain: Vec::new(),
        profile: None,
        target: "assertion".to_owned(),
        effort: None,
    };
    let Asked { choice, profile } = none.asked(settings, tree)?;
    Ok((choice, profile))
}

/// Why nothing is counted.
pub(in crate::cli) fn problem(problem: Problem, profile: &Profile) -> String {
    refused::said(problem, profile).to_string()
}

/// The steps that were compared, of a function that has an input of which something is configured.
pub(in crate::cli) fn of(q: &Quantified, choice: &Choice) -> Vec<Affected> {
    let is_configured = q.inputs.iter().any(|i| !i.is_usual || choice.is_weighted(&i.name));
    if !is_configured {
        return Vec::new();
    }
    let one = |(v, step): (usize, &Result<Comparison, &str>)| {
        let c = step.as_ref().ok()?;
        let from = u32::try_from(v + 1).ok()?;
        Some(Affected {
            from,
            to: from + 1,
            text: text(q, c),
            differing: c.differing.to_string(),
            open: c.open.to_string(),
            domain_size: q.size.to_string(),
            when: q.differ_when.get(v).cloned().flatten(),
        })
    };
    q.steps.iter().enumerate().filter_map(one).collect()
}

/// `affects 2.5 % of inputs (10 of 400; x, y in -10..9)`.
fn text(q: &Quantified, c: &Comparison) -> String {
    let least = if c.open > 0 { "at least " } else { "" };
    let counts = match q.is_weighted {
        true => "by profile".to_owned(),
        false => format!("{} of {}", c.differing, q.size),
    };
    let open = match c.open {
        0 => String::new(),
        n => format!(", {} % not known", percent(n, Scale::of(q).size)),
    };
    if let Some(s) = &c.sampled {
        let [share, low, high] = [s.differing.share, s.differing.low, s.differing.high].map(|x| x * 100.0);
        return format!(
            "affects an estimated {share:.2} % of inputs ({low:.2} % to {high:.2} %; {})",
            domain(q)
        );
    }
    let what = match (c.differing, c.open) {
        (0, 0) => "affects no input".to_owned(),
        (n, _) => format!("affects {least}{} % of inputs", percent(n, q.size)),
    };
    format!("{what} ({counts}; {}){open}", domain(q))
}

/// `x, y in -10..9, n in 0..5`.
fn domain(q: &Quantified) -> String {
    let mut ranges: Vec<(Interval, Vec<&str>)> = Vec::new();
    for InputRange { name, range, .. } in &q.inputs {
        match ranges.iter_mut().find(|(known, _)| known == range) {
            Some((_, names)) => names.push(name),
            None => ranges.push((*range, vec![name])),
        }
    }
    let one = |(range, names): &(Interval, Vec<&str>)| format!("{} in {range}", names.join(", "));
    ranges.iter().map(one).collect::<Vec<_>>().join(", ")
}
