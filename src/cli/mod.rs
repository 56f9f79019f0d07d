//! Argument definitions and one file a subcommand; no analysis.
