//! Inputs (placeholder while the machine is brought up).

/// What a program asks of standard input.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Char,
    Line,
}

impl Request {
    pub fn is_starved(&self, unread: &[u8]) -> bool {
        unread.is_empty()
    }
}

/// How standard input is extended.
#[derive(Clone, Debug, PartialEq)]
pub struct StdinPlan {
    seed: u64,
}

impl StdinPlan {
    pub(crate) fn extend(&self, _at: usize, _request: &Request) -> Option<Vec<u8>> {
        let _ = self.seed;
        None
    }
}
