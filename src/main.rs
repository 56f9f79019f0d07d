//! The `git-invdiff` command: one call into the library.

fn main() {}
