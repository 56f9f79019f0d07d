//! Invariants from runs, refined until nothing refutes them.
//!
//! Runs suggest candidates ([`crate::infer`]); symbolic execution of the function with every candidate asserted
//! looks for inputs that break one, and for one input of every path; these are run, and the runs suggest candidates
//! again, until they stay the same. What is left and was seen to hold on every path of an exploration that nothing
//! cut is proved; the rest is likely.
//!
//! - [`Harness`]: the calls that come before, and what of the last call's arguments is free.
//! - [`Subject`]: the function, its inputs, and the variables that are looked at.
//! - `heads`: heads of loops as points.
//! - `members`: members of structures as variables.
//! - `sequences`: arrays and strings behind parameters as variables.
//! - `splitters`: conditions of branches, under which more may hold.
//! - `suite`: the tests, and what running them shows.
//! - `assertion`: a candidate as a condition over a path's values.
//! - `solver`: which paths there are; answers are kept.
//! - `search`: symbolic execution with assertions, in the four ways of the paper.
//! - `versions`: what versions share, and what one lost.
//! - `refinement`: the loop; `implied`: what others say, too.
//!
//! Source: Zhang, Yang, Rungta, Person and Khurshid, "Feedback-driven dynamic invariant discovery", ISSTA 2014,
//! algorithm 1 and section 4; answers that are kept: Visser, Geldenhuys and Dwyer, "Green", FSE 2012.

mod assertion;
mod harness;
mod heads;
mod implied;
mod members;
mod refinement;
mod search;
mod sequences;
mod solver;
mod splitters;
mod subject;
mod suite;
#[cfg(test)]
mod suites;
#[cfg(test)]
mod tests;
mod versions;

pub use harness::{Argument, Harness, HarnessError};
pub use heads::{HeadPlace, place};
pub use refinement::{Discovered, Invariant, Iteration, Proof, Refuted, Samples, Told, discover};
pub use search::Configuration;
pub use subject::{Free, Problem, Subject};
pub use versions::{Change, Held, Story, story};

use crate::infer;

/// Where an invariant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    Entry,
    /// Wherever the function returns.
    Exit,
    /// Whenever control comes to the head of a loop: which of them, in the order of the text.
    Head(usize),
}

impl Point {
    pub fn name(self) -> &'static str {
        match self {
            Point::Entry => "entry",
            Point::Exit => "exit",
            Point::Head(_) => "loop",
        }
    }
}

/// What is known of an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It holds on every run that does nothing undefined.
    Proved,
    /// On every run within the bounds of the exploration.
    Bounded,
    /// No run that was made refutes it.
    Likely,
}

/// Which variables are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    #[default]
    All,
    /// Objects of the file, and nothing else.
    Globals,
}

/// Where invariants are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points {
    pub entry: bool,
    pub exit: bool,
    pub heads: bool,
}

impl Default for Points {
    fn default() -> Points {
        Points { entry: true, exit: true, heads: false }
    }
}

/// How it is looked for.
#[derive(Clone, Debug)]
pub struct Settings {
    pub families: infer::Settings,
    pub configuration: Configuration,
    pub over: Over,
    pub points: Points,
    /// First runs, on random and boundary values, where none are given.
    pub runs: usize,
    /// Further ones, each time that nothing changes any more and runs alone say what holds.
    pub further: usize,
    /// They are made beside the runs that are given, too.
    pub is_adding_runs: bool,
    pub iterations: usize,
    /// Solver queries of one iteration.
    pub queries: u64,
    pub paths: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            families: infer::Settings::default(),
            configuration: Configuration::default(),
            over: Over::All,
            points: Points::default(),
            runs: 60,
            further: 1_000,
            is_adding_runs: false,
            iterations: 12,
            queries: 4_000,
            paths: 200,
        }
    }
}
