//! What may hold: shapes of facts with their unknowns read off the states that runs reach (Daikon's way; the
//! fourth paper's dynamic step). Nothing here is believed: [`super::proof`] judges.

pub(super) mod conditional;
pub(super) mod elements;
pub(super) mod fitted;
pub(super) mod guard;
pub(super) mod lengths;
pub(super) mod observed;
pub(super) mod polynomial;
pub(super) mod quantified;
pub(super) mod quantity;
pub(super) mod samples;
pub(super) mod series;
pub(super) mod templates;
pub(super) mod written;
