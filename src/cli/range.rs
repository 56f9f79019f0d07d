//! Which versions and which files a command is about.

use clap::Args;
use std::ffi::OsString;

/// Revisions and paths, as git takes them.
#[derive(Args, Clone, Debug, Default)]
pub struct RangeArgs {
    /// A..B (A and every commit on the first-parent way to B), A...B (from the merge base), or
    /// single revisions; none: HEAD against the working tree
    #[arg(value_name = "REVISION")]
    pub revisions: Vec<OsString>,

    /// HEAD, or the revision given, against the index
    #[arg(long, visible_alias = "cached")]
    pub staged: bool,

    /// Only the first and the last version of the range
    #[arg(long)]
    pub endpoints: bool,

    /// Only files that match; pathspecs as git's
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<OsString>,
}
