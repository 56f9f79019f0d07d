//! Counts as a page: what the text says as tables, and the trees.

use super::text::{self, Scale, paired, percent, title};
use super::{suite, tree};
use crate::analysis::VersionInput;
use crate::analysis::quantify::{Counted, Quantified};
use crate::cli::CliError;
use crate::quantify::{BranchCount, Comparison};
use crate::report::html::figures::{Part, Table, render};
use std::io::Write;

/// Writes the page.
pub(super) fn write(
    found: &[Quantified],
    versions: &[VersionInput],
    target: &str,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let name = |v: &VersionInput| v.info.name.clone();
    let names = match versions {
        [] => String::new(),
        [one] => name(one),
        [first, .., last] => format!("{}..{}", name(first), name(last)),
    };
    let parts: Vec<Part> = found.iter().map(|q| part(q, versions, target)).collect();
    let lead = match found.len() {
        0 => "No function is counted.".to_owned(),
        1 => "How many inputs of a domain do what, in one function.".to_owned(),
        n => format!("How many inputs of a domain do what, in {n} functions."),
    };
    render(&names, &[lead], &parts, out)?;
    Ok(())
}

fn part(q: &Quantified, versions: &[VersionInput], target: &str) -> Part {
    let mut tables = vec![counts(q, versions, target)];
    for (v, step) in q.steps.iter().enumerate() {
        if let Ok(c) = step {
            tables.push(change(q, v, c));
        }
        tables.extend(Some(branches(q, v)).filter(|t| !t.rows.is_empty()));
    }
    if q.steps.is_empty() {
        tables.extend(q.versions.iter().flatten().map(|c| alone(c, q)).filter(|t| !t.rows.is_empty()));
    }
    let mut sentences = vec![text::domain(q)];
    sentences.extend(text::verdict(q));
    sentences.extend(suite::lines(q).into_iter().map(|line| format!("Suite: {line}")));
    for (v, step) in q.steps.iter().enumerate() {
        sentences.extend(
            step.as_ref()
                .err()
                .map(|why| format!("Versions {} and {} are not compared: {why}.", v + 1, v + 2)),
        );
    }
    Part { title: format!("{}()", title(q)), sentences, tables, trees: tree::of_function(q, versions) }
}

fn table(title: String, head: &[&str], rows: Vec<Vec<String>>) -> Table {
    Table { title, head: head.iter().map(|h| (*h).to_owned()).collect(), rows }
}

/// The counts of each version.
fn counts(q: &Quantified, versions: &[VersionInput], target: &str) -> Table {
    let scale = Scale::of(q);
    let row = |(v, counted): (usize, &Option<Counted>)| {
        let name = versions.get(v).map_or("", |v| v.info.name.as_str());
        let first = format!("{}  {name}", v + 1);
        let Some(c) = counted else { return vec![first, "it is not there".to_owned()] };
        let t = &c.totals;
        let reasons: Vec<String> =
            t.reasons.iter().map(|(why, grey)| format!("{why}: {}", scale.share(grey.inputs))).collect();
        let mut row = vec![first, scale.share(t.success), scale.share(t.failure), scale.share(t.grey)];
        row.push(if t.grey > 0 { reasons.join("; ") } else { String::new() });
        if target != "assertion" {
            let least = if t.uncertain > 0 { "at least " } else { "" };
            row.push(format!("{least}{}", scale.share(t.target)));
        }
        row
    };
    let mut head = vec!["version", "success", "failure", "grey", "why"];
    head.extend(Some(target).filter(|t| *t != "assertion"));
    table("Inputs of each version".to_owned(), &head, q.versions.iter().enumerate().map(row).collect())
}

/// What a step changes.
fn change(q: &Quantified, v: usize, c: &Comparison) -> Table {
    let scale = Scale::of(q);
    let least = if c.open > 0 { "at least " } else { "" };
    let row = |what: &str, least: &str, n: i128| vec![what.to_owned(), format!("{least}{}", scale.share(n))];
    let rows = vec![
        row("reach the change", least, c.reaching),
        row("behave differently", least, c.differing),
        row("fail in one version alone", least, c.failing_differs),
        row("not known", "", c.open),
    ];
    table(format!("From version {} to {}", v + 1, v + 2), &["inputs that", "share"], rows)
}

fn shown(b: &BranchCount) -> String {
    format!("{} %", percent(b.taken, b.taken.saturating_add(b.not_taken)))
}

/// Branches before and after.
fn branches(q: &Quantified, v: usize) -> Table {
    let depends = q.steps.get(v).and_then(|s| s.as_ref().ok()).map(|c| &c.dependent);
    let row = |(old, new): (&BranchCount, &BranchCount)| {
        let line = match old.line == new.line {
            true => new.line.to_string(),
            false => format!("{} → {}", old.line, new.line),
        };
        let word = match depends.map(|d| d.contains(&new.line)) {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not compared",
        };
        vec![line, shown(old), shown(new), word.to_owned()]
    };
    let head = ["branch at line", "true before", "true after", "depends on the change"];
    table(
        format!("Branches, of the decisions that come there, from version {} to {}", v + 1, v + 2),
        &head,
        paired(q, v).into_iter().map(row).collect(),
    )
}

/// Branches of a version that is compared with no other.
fn alone(c: &Counted, q: &Quantified) -> Table {
    let scale = Scale::of(q);
    let row = |b: &BranchCount| vec![b.line.to_string(), shown(b), scale.share(b.taken)];
    let rows = c.totals.branches.iter().map(row).collect();
    table("Branches, of the decisions that come there".to_owned(), &["line", "true", "of all"], rows)
}
