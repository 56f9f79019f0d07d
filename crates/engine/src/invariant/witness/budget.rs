//! How long it is searched for witnesses.

use crate::interp::LONG_FUEL;

/// Bounds of the search for witnesses.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Inputs to try.
    pub inputs: usize,
    /// Instructions to execute, over all runs.
    pub steps: u64,
    /// Instructions more to go on where none of them shows a difference.
    pub guided: u64,
    /// Instructions that runs may take together, but for the last one, of those that took too long before; 0: they are
    /// not waited for.
    pub patience: u64,
    /// Functions that may cost so much each; more of them share what these may cost.
    pub functions: u64,
    /// Nodes of the largest graph whose facts are looked for; of larger ones runs alone tell.
    pub nodes: usize,
}

/// Nodes of the largest graph that is analysed.
pub(in crate::invariant) const MAX_NODES: usize = 6000;
/// Nodes up to which facts of the exit take about as long as everything else of a first look.
const FEW_NODES: usize = 160;

impl Budget {
    /// What a first look at everything that a commit changes may cost: about a second in all, however many functions
    /// it changes. 4,000,000 instructions at random are 2,000 runs of a small program, which a pair of Table II needs
    /// (270466).
    pub const CHEAP: Budget = Budget {
        inputs: 4000,
        steps: 4_000_000,
        guided: 4_000_000,
        patience: 2_000_000,
        functions: 1,
        nodes: FEW_NODES,
    };

    /// What a look in passing may cost, at a function of which all is told already: a few milliseconds.
    pub const GLANCE: Budget = Budget { steps: 100_000, guided: 100_000, patience: 0, ..Budget::CHEAP };

    /// What a look at properties may cost where somebody waits to commit: a fraction of a second for one function.
    pub const GATE: Budget =
        Budget { steps: 1_000_000, guided: 1_000_000, patience: 500_000, ..Budget::CHEAP };

    /// Whether it is that of a first look.
    pub fn is_first_look(self) -> bool {
        self.nodes < MAX_NODES
    }

    /// The budget of what is larger than [`Budget::nodes`]: a run of it is as long as many of a small one.
    pub fn of_large(self) -> Budget {
        let part = |all: u64| all / 2;
        Budget { steps: part(self.steps), guided: part(self.guided), patience: part(self.patience), ..self }
    }
}

impl Default for Budget {
    fn default() -> Budget {
        // Both versions to their ends on one input, or nearly so.
        let patience = 2 * LONG_FUEL;
        Budget {
            inputs: 4000,
            steps: 4_000_000,
            guided: 24_000_000,
            patience,
            functions: 8,
            nodes: MAX_NODES,
        }
    }
}
