//! The `git-invdiff` command: one call into the library.

fn main() -> std::process::ExitCode {
    git_invdiff::cli::main()
}
