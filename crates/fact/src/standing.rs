//! How something that is to hold stands in a version: what every engine that judges says, in one type.

/// What is known of an obligation in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In all executions.
    Holds,
    /// A run shows it.
    Fails,
    Open,
}

/// How a standing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// An input on which it fails.
    Runs,
    /// The conditions of getting to its point, on all paths at once, with what is inductive at loop heads.
    Proof,
    /// The same with loops laid out that go on no further.
    Unrolling,
    KInduction,
}

impl Method {
    /// The word of reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Runs => "runs",
            Method::Proof => "proof",
            Method::Unrolling => "unrolling",
            Method::KInduction => "k-induction",
        }
    }
}
