//! Invariants of several versions: what all share, and what one has and the next has not.
//!
//! A change is claimed only where a run refutes the invariant in the version that lacks it: that its rows do not
//! justify it there says nothing. Loops correspond by their order, where both versions have as many, nested alike.

use super::refinement::{Discovered, Invariant};
use super::{Point, Status};
use crate::mvicfg::VersionId;

/// An invariant of all versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub point: Point,
    pub text: String,
    /// Of the version in which least is known.
    pub status: Status,
    pub samples: usize,
}

/// An invariant that one of two versions has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub from: VersionId,
    pub to: VersionId,
    pub point: Point,
    pub text: String,
    /// The newer version lost it; else it is new there.
    pub is_lost: bool,
    /// In the version that has it.
    pub status: Status,
    /// Rows of that version that it holds of.
    pub samples: usize,
    /// An input that refutes it in the other.
    pub input: String,
}

/// What became of invariants through the versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    pub held: Vec<Held>,
    pub changes: Vec<Change>,
}

/// Tells of versions in their order; `None` where the function is not there, or was not looked at.
pub fn story(versions: &[Option<&Discovered>]) -> Story {
    let present: Vec<(VersionId, &Discovered)> =
        VersionId::each(versions).filter_map(|(v, d)| Some((v, (*d)?))).collect();
    let mut story = Story::default();
    let Some((_, newest)) = present.last() else { return story };
    for i in newest.invariants.iter().filter(|i| !i.is_implied) {
        let of = present.iter().map(|(_, d)| find(d, i).filter(|_| is_shared(i.point, newest, d)));
        let all: Option<Vec<&Invariant>> = of.collect();
        let Some(all) = all else { continue };
        let status = all.iter().map(|i| i.status).max().unwrap_or(Status::Likely);
        let samples = all.iter().map(|i| i.samples).sum();
        story.held.push(Held { point: i.point, text: i.text.clone(), status, samples });
    }
    for pair in present.windows(2) {
        let &[(from, old), (to, new)] = pair else { continue };
        story.changes.extend(broken(old, new).map(|c| Change { from, to, is_lost: true, ..c }));
        story.changes.extend(broken(new, old).map(|c| Change { from, to, is_lost: false, ..c }));
    }
    story
}

/// Whether a point of one version is one of another, too.
fn is_shared(point: Point, one: &Discovered, other: &Discovered) -> bool {
    let depths = |d: &Discovered| d.heads.iter().map(|h| h.depth).collect::<Vec<_>>();
    !matches!(point, Point::Head(_)) || depths(one) == depths(other)
}

fn find<'d>(d: &'d Discovered, wanted: &Invariant) -> Option<&'d Invariant> {
    d.invariants.iter().find(|i| i.point == wanted.point && i.text == wanted.text)
}

/// What one version has and a run of the other refutes.
fn broken<'d>(has: &'d Discovered, lacks: &'d Discovered) -> impl Iterator<Item = Change> + 'd {
    has.invariants.iter().filter(|i| !i.is_implied && find(lacks, i).is_none()).filter_map(|i| {
        if !is_shared(i.point, has, lacks) {
            return None;
        }
        let ((own, _), (theirs, inputs)) = (has.samples.of(i.point)?, lacks.samples.of(i.point)?);
        let shape = i.shape.over(own, theirs)?;
        let row = theirs.rows().iter().position(|row| shape.holds(theirs, row) == Some(false))?;
        let (point, text, status, samples) = (i.point, i.text.clone(), i.status, i.samples);
        let input = inputs.get(row).cloned().unwrap_or_default();
        Some(Change {
            from: VersionId::OLD,
            to: VersionId::OLD,
            point,
            text,
            is_lost: true,
            status,
            samples,
            input,
        })
    })
}
