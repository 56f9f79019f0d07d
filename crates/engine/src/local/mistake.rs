//! Mistakes on purpose: what the oracle of states puts into the comparison, to see that it is caught.

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    MemoryIgnored,
    CalleesIgnored,
    ArgumentsIgnored,
    ResultsIgnored,
    VariablesIgnored,
    DeltasLost,
    AllTheSame,
    AllOpen,
    BranchesExchanged,
    AccessesGranted,
    SumsGranted,
    TestsKept,
}

#[cfg(test)]
thread_local! {
    pub(super) static MISTAKE: std::cell::Cell<Option<Mistake>> = const { std::cell::Cell::new(None) };
}

/// Whether a mistake is made: outside of the oracle, never.
pub(super) fn is_made(mistake: Mistake) -> bool {
    #[cfg(test)]
    return MISTAKE.get() == Some(mistake);
    #[cfg(not(test))]
    {
        _ = mistake;
        false
    }
}
