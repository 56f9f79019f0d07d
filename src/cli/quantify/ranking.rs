//! Candidates in order: by failures, then by what they change else.

use super::json::number;
use super::text::{Scale, heading};
use crate::analysis::VersionInput;
use crate::analysis::quantify::Quantified;
use crate::cli::CliError;
use crate::report::escape::visible;
use serde_json::{Value, json};
use std::io::Write;

/// A candidate with its place.
pub(super) struct Ranked {
    place: usize,
    is_tied: bool,
    revision: String,
    failure: i128,
    grey: i128,
    /// Inputs on which the first candidate does not fail and this one behaves differently, and inputs of which
    /// that is not known; none where the two were not compared.
    else_changed: Option<(i128, i128)>,
    /// Inputs that behave differently.
    differing: Option<i128>,
    size: i128,
}

impl Ranked {
    /// What is not known counts against a candidate.
    fn key(&self) -> (i128, i128) {
        let changed = self.else_changed.map_or(i128::MAX, |(n, open)| n.saturating_add(open));
        (self.failure.saturating_add(self.grey), changed)
    }

    /// By the contract.
    pub fn json(&self, q: &Quantified) -> Value {
        json!({
            "place": self.place, "revision": self.revision, "function": &*q.name, "tied": self.is_tied,
            "failure": number(self.failure, self.size), "grey": number(self.grey, self.size),
            "differing": self.differing.map(|n| number(n, self.size)),
            "changed_else": self.else_changed.map(|(n, _)| number(n, self.size))
        })
    }
}

/// The candidates that have the function, in order.
pub(super) fn of(q: &Quantified, versions: &[VersionInput]) -> Vec<Ranked> {
    let mut all: Vec<Ranked> = Vec::new();
    for (v, counted) in q.versions.iter().enumerate() {
        let (Some(c), Some(version)) = (counted, versions.get(v)) else { continue };
        let compared = v.checked_sub(1).and_then(|v| q.with_first.get(v)).and_then(|c| c.as_ref().ok());
        let is_first = v == 0;
        all.push(Ranked {
            place: 0,
            is_tied: false,
            revision: version.info.name.clone(),
            failure: c.totals.failure,
            grey: c.totals.grey,
            else_changed: if is_first { Some((0, 0)) } else { compared.map(|c| (c.disturbed, c.open)) },
            differing: if is_first { Some(0) } else { compared.map(|c| c.differing) },
            size: c.totals.size,
        });
    }
    all.sort_by_key(Ranked::key);
    let keys: Vec<(i128, i128)> = all.iter().map(Ranked::key).collect();
    for r in &mut all {
        let key = r.key();
        r.place = 1 + keys.iter().filter(|k| **k < key).count();
        r.is_tied = keys.iter().filter(|k| **k == key).count() > 1;
    }
    all
}

/// Writes the order for people.
pub(super) fn write(ranking: &[Ranked], q: &Quantified, out: &mut impl Write) -> Result<(), CliError> {
    writeln!(out, "{}", heading(q))?;
    let scale = Scale::of(q);
    for r in ranking {
        let grey = if r.grey > 0 { format!(", grey {}", scale.share(r.grey)) } else { String::new() };
        let changed = match r.else_changed {
            Some((n, 0)) => format!(", changes {} else", scale.share(n)),
            Some((n, _)) => format!(", changes at least {} else", scale.share(n)),
            None => ", what it changes else is not known".to_owned(),
        };
        let tie = if r.is_tied { "  tied" } else { "" };
        let (failure, name) = (scale.share(r.failure), visible(r.revision.as_bytes()));
        writeln!(out, "  {:>2}  {name}  fails on {failure}{grey}{changed}{tie}", r.place)?;
    }
    if ranking.iter().any(|r| r.grey > 0) {
        writeln!(out, "  grey inputs count as failures for the order")?;
    }
    Ok(())
}
