//! Counts as text for people.

use super::fraction::gcd;
use crate::analysis::VersionInput;
use crate::analysis::quantify::{InputRange, Quantified};
use crate::cli::CliError;
use crate::count::Estimate;
use crate::quantify::{BranchCount, ChangeSample, Comparison, Sampled, Totals};
use crate::report::RepoPath;
use crate::report::escape::visible;
use std::collections::BTreeSet;
use std::io::Write;

/// Numbers of a domain: of inputs, or of shares where these have weights.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub size: i128,
    pub is_weighted: bool,
}

impl Scale {
    pub fn of(q: &Quantified) -> Scale {
        Scale { size: q.size, is_weighted: q.is_weighted }
    }

    /// `10 of 400 (2.5 %)`, or `1/40 (2.5 %)`.
    pub fn share(self, n: i128) -> String {
        part(n, self.size, self.is_weighted)
    }
}

fn part(n: i128, of: i128, is_weighted: bool) -> String {
    if !is_weighted {
        return format!("{n} of {of} ({} %)", percent(n, of));
    }
    match gcd(n, of) {
        0 => "0".to_owned(),
        d => format!("{}/{} ({} %)", n / d, of / d, percent(n, of)),
    }
}

/// Exact where four digits suffice, else rounded with `~` in front; what is some, but would be nothing, by its power of
/// ten.
pub(super) fn percent(n: i128, of: i128) -> String {
    let rounded = || match fraction(n, of) * 100.0 {
        small if small > 0.0 && small < 0.0001 => format!("~{small:.1e}"),
        share => format!("~{share:.4}"),
    };
    let Some(scaled) = n.checked_mul(1_000_000).filter(|_| of > 0) else { return rounded() };
    let (whole, rest) = (scaled / of, scaled % of);
    if rest != 0 {
        return rounded();
    }
    let text = format!("{}.{:04}", whole / 10_000, whole % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn fraction(n: i128, of: i128) -> f64 {
    if of == 0 { 0.0 } else { n as f64 / of as f64 }
}

/// A file and a function.
pub(super) fn title(q: &Quantified) -> String {
    format!("{}:{}", RepoPath::from(&q.file), visible(q.name.as_bytes()))
}

/// The inputs and their ranges.
pub(super) fn domain(q: &Quantified) -> String {
    let range = |i: &InputRange| {
        let of_it = match (i.is_usual, i.is_every_float) {
            (true, _) => " (default)",
            (false, true) => " (every float)",
            _ => "",
        };
        format!("{}={}{of_it}", visible(i.name.as_bytes()), i.range)
    };
    let inputs: Vec<String> = q.inputs.iter().map(range).collect();
    let domain = if inputs.is_empty() { "no inputs".to_owned() } else { inputs.join(", ") };
    let size = match (q.is_weighted, q.size) {
        (true, _) => "by profile".to_owned(),
        (false, 1) => "1 input".to_owned(),
        (false, n) => format!("{n} inputs"),
    };
    format!("domain   {size}: {domain}")
}

/// The function, what is proved of its change, and its domain.
pub(super) fn heading(q: &Quantified) -> String {
    let proved = if is_harmless(q) { format!("  {HARMLESS}") } else { String::new() };
    format!("{}(){proved}\n  {}", title(q), domain(q))
}

const HARMLESS: &str = "proved harmless on the domain";

/// Whether all versions behave alike on every input of the domain.
pub(super) fn is_harmless(q: &Quantified) -> bool {
    let is_same = |c: &Comparison| c.differing == 0 && c.open == 0;
    !q.steps.is_empty() && q.steps.iter().all(|s| s.as_ref().is_ok_and(is_same))
}

/// Whether some input behaves differently after a step.
pub(super) fn differs(q: &Quantified) -> bool {
    q.steps.iter().flatten().any(|c| c.differing > 0)
}

/// What is proved of the change, as a sentence.
pub(super) fn verdict(q: &Quantified) -> Option<String> {
    is_harmless(q).then(|| "The change is proved harmless on the domain.".to_owned())
}

/// Why nothing is known of any input of any version; `None` where something is.
fn all_grey(q: &Quantified) -> Option<String> {
    let versions: Vec<&Totals> = q.versions.iter().flatten().map(|c| &c.totals).collect();
    let is_grey = |t: &&Totals| t.grey == t.size && t.size > 0 && t.sampled.is_none();
    if versions.is_empty() || !versions.iter().all(is_grey) {
        return None;
    }
    let reasons: BTreeSet<&str> = versions.iter().flat_map(|t| t.reasons.keys().copied()).collect();
    Some(reasons.into_iter().collect::<Vec<_>>().join("; "))
}

/// Writes all counts.
pub(super) fn write(
    found: &[Quantified],
    versions: &[VersionInput],
    target: &str,
    out: &mut impl Write,
) -> Result<(), CliError> {
    for (i, q) in found.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        let scale = Scale::of(q);
        writeln!(out, "{}", heading(q))?;
        if let Some(reasons) = all_grey(q) {
            writeln!(out, "  all inputs are grey, in all versions: {reasons}")?;
            continue;
        }
        for (v, counted) in q.versions.iter().enumerate() {
            let name = versions.get(v).map_or(String::new(), |v| visible(v.info.name.as_bytes()));
            let Some(counted) = counted else {
                writeln!(out, "  version {}  {name}  it is not there", v + 1)?;
                continue;
            };
            writeln!(out, "  version {}  {name}", v + 1)?;
            if q.is_target_only {
                met(&counted.totals, scale, target, out)?;
                continue;
            }
            totals(&counted.totals, scale, target, out)?;
            if let Some(step) = q.steps.get(v) {
                writeln!(out, "  from version {} to {}", v + 1, v + 2)?;
                match step {
                    Ok(c) => comparison(c, q.differ_when.get(v).and_then(Option::as_deref), scale, out)?,
                    Err(why) => writeln!(out, "    not compared: {why}")?,
                }
                branches(q, v, out)?;
            }
        }
        super::suite::write(q, out)?;
    }
    Ok(())
}

/// A count, or the bound that it is with an estimate.
fn bounded(bound: &str, count: String, sampled: Option<Estimate>) -> String {
    match sampled {
        Some(e) if e.low < e.high => format!("{bound} {count}, {}", estimate(e)),
        _ => count,
    }
}

/// `estimated 62.1 % (60.9 % to 63.3 %)`.
pub(super) fn estimate(e: Estimate) -> String {
    let [share, low, high] = [e.share, e.low, e.high].map(|x| x * 100.0);
    format!("estimated {share:.2} % ({low:.2} % to {high:.2} %)")
}

fn totals(t: &Totals, scale: Scale, target: &str, out: &mut impl Write) -> Result<(), CliError> {
    let sampled = |of: &dyn Fn(&Sampled) -> Estimate| t.sampled.as_ref().map(of);
    writeln!(out, "    success  {}", bounded("at least", scale.share(t.success), sampled(&|s| s.success)))?;
    writeln!(out, "    failure  {}", bounded("at least", scale.share(t.failure), sampled(&|s| s.failure)))?;
    writeln!(out, "    grey     {}", bounded("at most", scale.share(t.grey), sampled(&|s| s.grey)))?;
    if let Some(s) = &t.sampled {
        writeln!(out, "             estimated by a sample of {} inputs, at 95 % confidence", s.inputs)?;
    }
    reasons(t, scale, out)?;
    if target != "assertion" {
        on_target(t, scale, target, out)?;
    }
    for b in &t.branches {
        let all = b.taken.saturating_add(b.not_taken);
        let share = part(b.taken, all, scale.is_weighted);
        writeln!(out, "    line {}  true on {share}, of those that come there", b.line)?;
    }
    Ok(())
}

/// What of a version meets the target, where nothing else is asked.
fn met(t: &Totals, scale: Scale, target: &str, out: &mut impl Write) -> Result<(), CliError> {
    on_target(t, scale, target, out)?;
    if t.uncertain > 0 {
        writeln!(out, "    grey     {}", scale.share(t.uncertain))?;
        reasons(t, scale, out)?;
    }
    Ok(())
}

/// How many inputs meet the target.
fn on_target(t: &Totals, scale: Scale, target: &str, out: &mut impl Write) -> Result<(), CliError> {
    let least = if t.uncertain > 0 { "at least " } else { "" };
    let estimate = t.sampled.as_ref().map_or(String::new(), |s| format!(", {}", estimate(s.target)));
    writeln!(out, "    {}  {least}{}{estimate}", visible(target.as_bytes()), scale.share(t.target))?;
    Ok(())
}

/// Why inputs are grey.
fn reasons(t: &Totals, scale: Scale, out: &mut impl Write) -> Result<(), CliError> {
    for (why, grey) in t.reasons.iter().filter(|_| t.grey > 0) {
        let paths = if grey.paths == 1 { "path" } else { "paths" };
        let inputs = if grey.inputs > 0 { format!("{}, ", scale.share(grey.inputs)) } else { String::new() };
        writeln!(out, "             {why}: {inputs}{} {paths}", grey.paths)?;
    }
    Ok(())
}

/// `when`: the condition on which they differ.
fn comparison(
    c: &Comparison,
    when: Option<&str>,
    scale: Scale,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let least = if c.open > 0 { "at least " } else { "" };
    let sampled = |of: &dyn Fn(&ChangeSample) -> Estimate| {
        c.sampled.as_ref().map_or(String::new(), |s| format!(", {}", estimate(of(s))))
    };
    writeln!(out, "    reach the change    {least}{}{}", scale.share(c.reaching), sampled(&|s| s.reaching))?;
    let when = when.map_or(String::new(), |when| format!(", when {}", visible(when.as_bytes())));
    let differing = format!("{}{}", scale.share(c.differing), sampled(&|s| s.differing));
    writeln!(out, "    behave differently  {least}{differing}{when}")?;
    writeln!(out, "    behave alike        {least}{}", scale.share(agreeing(c, scale.size)))?;
    if c.failing_differs > 0 {
        writeln!(out, "    fail in one alone   {least}{}", scale.share(c.failing_differs))?;
    }
    if c.open > 0 {
        writeln!(out, "    not known           {}", scale.share(c.open))?;
    }
    if !c.dependent.is_empty() {
        let lines: Vec<String> = c.dependent.iter().map(u32::to_string).collect();
        writeln!(out, "    branches that depend on it: line {}", lines.join(", "))?;
    }
    Ok(())
}

/// Inputs on which both versions are known to behave alike.
pub(super) fn agreeing(c: &Comparison, size: i128) -> i128 {
    size.saturating_sub(c.differing).saturating_sub(c.open)
}

/// Branches of both sides of a step, by line and by their place on it.
pub(super) fn paired(q: &Quantified, step: usize) -> Vec<(&BranchCount, &BranchCount)> {
    let of = |v: usize| q.versions.get(v).and_then(Option::as_ref).map_or(&[][..], |c| &c.totals.branches);
    let Some(lines) = q.lines.get(step) else { return Vec::new() };
    let mut found = Vec::new();
    let (old, new) = (of(step), of(step + 1));
    let mut seen = std::collections::BTreeSet::new();
    for line in old.iter().map(|b| b.line).filter(|l| seen.insert(*l)) {
        let Some(to) = lines.same.get(&line) else { continue };
        let before: Vec<&BranchCount> = old.iter().filter(|b| b.line == line).collect();
        let after: Vec<&BranchCount> = new.iter().filter(|b| b.line == *to).collect();
        if before.len() == after.len() {
            found.extend(before.into_iter().zip(after));
        }
    }
    found
}

/// How likely branches are before and after.
fn branches(q: &Quantified, step: usize, out: &mut impl Write) -> Result<(), CliError> {
    let depends = q.steps.get(step).and_then(|s| s.as_ref().ok()).map(|c| &c.dependent);
    for (old, new) in paired(q, step) {
        let of = |b: &BranchCount| percent(b.taken, b.taken.saturating_add(b.not_taken));
        let (before, after) = (of(old), of(new));
        let place = if old.line == new.line {
            format!("{}", new.line)
        } else {
            format!("{} -> {}", old.line, new.line)
        };
        let what = match depends.map(|d| d.contains(&new.line)) {
            Some(true) => "",
            Some(false) => ", does not depend on it",
            None => ", not compared",
        };
        if before == after {
            writeln!(out, "    line {place}  true on {before} % before and after{what}")?;
        } else {
            writeln!(out, "    line {place}  true on {before} % before, {after} % after{what}")?;
        }
    }
    Ok(())
}
