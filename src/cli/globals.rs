//! The options that every command takes.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::Command;

/// Options that every command takes, before or after its name.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Common options")]
pub struct GlobalArgs {
    /// Run as if started in <DIR>
    #[arg(short = 'C', value_name = "DIR", global = true, action = clap::ArgAction::Append)]
    pub change_dir: Vec<PathBuf>,

    /// Path of the repository's git directory
    #[arg(long, value_name = "DIR", global = true, hide_short_help = true)]
    pub git_dir: Option<PathBuf>,

    /// Output format: text, json, yaml; `diff` and `check` also know html, sarif, gitlab and github, `graph` knows dot and svg, `condition` automaton and residual-c, `discover` daikon
    #[arg(long, value_name = "FORMAT", global = true)]
    pub format: Option<String>,

    /// Same as --format json
    #[arg(long, global = true, conflicts_with = "format")]
    pub json: bool,

    /// Stable line format for scripts
    #[arg(
        long, value_name = "VERSION", global = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "v1", value_parser = ["v1"], conflicts_with_all = ["format", "json"]
    )]
    pub porcelain: Option<String>,

    /// End records with NUL and write paths raw
    #[arg(short = 'z', global = true)]
    pub nul: bool,

    /// Write the result to <FILE>
    #[arg(short = 'o', long = "output", value_name = "FILE", global = true)]
    pub output: Option<PathBuf>,

    /// Colour: auto, always, never
    #[arg(
        long, value_name = "WHEN", global = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "always", overrides_with = "no_color"
    )]
    pub color: Option<ColourChoice>,

    /// Same as --color=never
    #[arg(long, global = true, overrides_with = "color", hide_short_help = true)]
    pub no_color: bool,

    /// Page the output even if `pager.invdiff` says not to
    #[arg(long, global = true, overrides_with = "no_pager", hide = true)]
    pub pager: bool,

    /// Do not page the output
    #[arg(long, global = true, overrides_with = "pager")]
    pub no_pager: bool,

    /// Show progress even if standard error is no terminal
    #[arg(long, global = true, overrides_with = "no_progress", hide = true)]
    pub progress: bool,

    /// Do not show progress
    #[arg(long, global = true, overrides_with = "progress", hide_short_help = true)]
    pub no_progress: bool,

    /// No progress and no warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Also assumptions, unknowns with reasons, and cost; twice, the time of each part of the program
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Define a preprocessor macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", global = true, action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Undefine a preprocessor macro
    #[arg(short = 'U', value_name = "NAME", global = true, action = clap::ArgAction::Append)]
    pub undefine: Vec<String>,

    /// Search for headers in <DIR>, relative to the top of the tree
    #[arg(short = 'I', value_name = "DIR", global = true, action = clap::ArgAction::Append)]
    pub include_dir: Vec<PathBuf>,

    /// Take macros and include directories of each file from a compile_commands.json
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub compdb: Option<PathBuf>,

    /// Sizes of the C types: LP64, ILP32
    #[arg(long, value_name = "MODEL", global = true, ignore_case = true, hide_short_help = true)]
    pub data_model: Option<DataModelChoice>,

    /// Worker threads; the result does not depend on them
    #[arg(short = 'j', long = "jobs", value_name = "N", global = true)]
    pub jobs: Option<std::num::NonZeroUsize>,

    /// Read and write the cache (default)
    #[arg(long, global = true, overrides_with = "no_cache", hide = true)]
    pub cache: bool,

    /// Neither read nor write the cache
    #[arg(long, global = true, overrides_with = "cache", hide_short_help = true)]
    pub no_cache: bool,

    /// Configuration file instead of the tree's .invdiff.yaml
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub config: Option<PathBuf>,
}

impl GlobalArgs {
    /// Returns a git command that works on the repository that the options name.
    pub fn git(&self) -> Command {
        let mut command = Command::new("git");
        if let Some(git_dir) = &self.git_dir {
            command.arg("--git-dir").arg(git_dir);
        }
        command
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColourChoice {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataModelChoice {
    #[value(name = "LP64")]
    Lp64,
    #[value(name = "ILP32")]
    Ilp32,
}
