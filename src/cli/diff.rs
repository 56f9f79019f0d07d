//! `git invdiff [diff]`: version invariants and churns of a range.

use super::range::RangeArgs;
use super::{CliError, Context, ExitCode};
use clap::{Args, ValueEnum};

/// Version invariants and invariant churns of a range (the default command)
#[derive(Args, Clone, Debug, Default)]
pub struct DiffArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub function: Vec<String>,

    /// Only facts about this variable; \result and output are variables too
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub var: Vec<String>,

    /// Facts at this line of the newest version
    #[arg(long, value_name = "FILE:LINE", help_heading = "Filters")]
    pub at: Vec<String>,

    /// Facts that this source line affects
    #[arg(long, value_name = "FILE:LINE", help_heading = "Filters")]
    pub hunk: Vec<String>,

    /// Kinds of program points: exit, loop, entry, line, all
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Filters")]
    pub points: Vec<PointChoice>,

    /// Templates of invariants: constant, range, set, comparison, linear, congruence, non-null,
    /// functional, event
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Filters")]
    pub templates: Vec<String>,

    /// Facts established so well: proved, bounded, likely
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Filters")]
    pub status: Vec<StatusChoice>,

    /// Only churns, or only version invariants
    #[arg(long, value_name = "WHAT", help_heading = "Filters")]
    pub only: Option<Only>,

    /// Compare every pair of versions, not only neighbours
    #[arg(long)]
    pub all_pairs: bool,

    /// Also locals, implied facts and unchanged functions
    #[arg(long)]
    pub all: bool,

    /// Exit 1 if there is a churn
    #[arg(long)]
    pub exit_code: bool,

    /// Exit 3 if something could not be decided or analysed
    #[arg(long)]
    pub strict: bool,

    /// Limit of one solver query, in resource units (2 to 5 million take about a second)
    #[arg(long, value_name = "N")]
    pub rlimit: Option<u64>,

    /// Iterations up to which loops without a proved bound are unrolled
    #[arg(long, value_name = "K")]
    pub unroll: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PointChoice {
    Exit,
    Loop,
    Entry,
    Line,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatusChoice {
    Proved,
    Bounded,
    Likely,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    Churns,
    Invariants,
}

pub fn run(_args: DiffArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("the analysis is not connected yet"))
}
