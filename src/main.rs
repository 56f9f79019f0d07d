//! The `git-invdiff` command: one call into the library.

use git_invdiff::frontend::c::child;

fn main() -> std::process::ExitCode {
    // The C front end tries units that look explosive in a child of this same program.
    if std::env::args_os().nth(1).is_some_and(|a| a == child::ARGUMENT) {
        return child::child_main();
    }
    if let Ok(program) = std::env::current_exe() {
        child::set_program(program);
    }
    git_invdiff::cli::main()
}
