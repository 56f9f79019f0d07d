//! Candidates in order: by failures, then by what they change else. Where failures are estimated, candidates whose
//! intervals meet are ties.

use super::json::number;
use super::text::{Scale, fraction, heading};
use crate::analysis::VersionInput;
use crate::analysis::quantify::Quantified;
use crate::cli::CliError;
use crate::count::Estimate;
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
    /// The share that fails or is grey, where it is estimated.
    estimate: Option<Estimate>,
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

    /// The share that fails or is grey.
    fn failing(&self) -> Estimate {
        let share = fraction(self.failure.saturating_add(self.grey), self.size);
        self.estimate.unwrap_or(Estimate { share, low: share, high: share })
    }

    /// Whether it comes before another one.
    fn is_before(&self, other: &Ranked) -> bool {
        match self.estimate.is_some() || other.estimate.is_some() {
            true => self.failing().high < other.failing().low,
            false => self.key() < other.key(),
        }
    }

    /// By the contract.
    pub fn json(&self, q: &Quantified) -> Value {
        json!({
            "place": self.place, "revision": self.revision, "function": &*q.name, "tied": self.is_tied,
            "failure": number(self.failure, self.size), "grey": number(self.grey, self.size),
            "estimate": self.estimate.map(|e| json!({ "fraction": e.share, "interval": [e.low, e.high] })),
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
            estimate: c.totals.sampled.as_ref().map(|s| rest(s.success)),
            else_changed: if is_first { Some((0, 0)) } else { compared.map(|c| (c.disturbed, c.open)) },
            differing: if is_first { Some(0) } else { compared.map(|c| c.differing) },
            size: c.totals.size,
        });
    }
    let is_apart = |a: &Ranked, b: &Ranked| a.is_before(b) || b.is_before(a);
    let places: Vec<(usize, bool)> = all
        .iter()
        .map(|r| {
            let before = all.iter().filter(|other| other.is_before(r)).count();
            (1 + before, all.iter().filter(|other| !is_apart(r, other)).count() > 1)
        })
        .collect();
    for (r, (place, is_tied)) in all.iter_mut().zip(places) {
        (r.place, r.is_tied) = (place, is_tied);
    }
    all.sort_by(|a, b| {
        a.place
            .cmp(&b.place)
            .then(a.failing().share.total_cmp(&b.failing().share))
            .then(a.key().cmp(&b.key()))
    });
    all
}

/// The share of what is not so.
fn rest(e: Estimate) -> Estimate {
    Estimate { share: 1.0 - e.share, low: 1.0 - e.high, high: 1.0 - e.low }
}

/// Writes the order for people.
pub(super) fn write(ranking: &[Ranked], q: &Quantified, out: &mut impl Write) -> Result<(), CliError> {
    writeln!(out, "{}", heading(q))?;
    let scale = Scale::of(q);
    for r in ranking {
        let name = visible(r.revision.as_bytes());
        let grey = if r.grey > 0 { format!(", grey {}", scale.share(r.grey)) } else { String::new() };
        let changed = match r.else_changed {
            Some((n, 0)) => format!(", changes {} else", scale.share(n)),
            Some((n, _)) => format!(", changes at least {} else", scale.share(n)),
            None => ", what it changes else is not known".to_owned(),
        };
        let tie = match (r.is_tied, r.estimate) {
            (true, Some(_)) => "  not told apart from another one",
            (true, None) => "  tied",
            (false, _) => "",
        };
        if let Some(e) = r.estimate {
            let words = super::text::estimate(e);
            writeln!(out, "  {:>2}  {name}  fails on {words}, grey among them{tie}", r.place)?;
            continue;
        }
        let failure = scale.share(r.failure);
        writeln!(out, "  {:>2}  {name}  fails on {failure}{grey}{changed}{tie}", r.place)?;
    }
    if ranking.iter().any(|r| r.grey > 0) {
        writeln!(out, "  grey inputs count as failures for the order")?;
    }
    Ok(())
}
