//! How much memory a run that lasts holds on to.
//!
//! The C library of GNU systems gives threads heaps of their own, *arenas*, up to eight a processor, and what is free in
//! one is of no use to another. Each analysis has new threads, so that after some commits nearly twice as much is held
//! as one of them needs (cJSON, one commit again and again: 640 MB, and 440 MB with two arenas, in the same time). How
//! many there may be is read from the environment when a program starts, and nowhere else without unsafe code: so
//! the program starts itself again before it has done anything. Who has set the variable is left alone.

use std::ffi::OsString;

/// Whether these words may ask for a run over many commits.
fn may_last(words: &[OsString]) -> bool {
    let mut rest = words.iter();
    rest.any(|word| word == "notes") && rest.any(|word| word == "add")
}

/// Starts the program again with few arenas, if it may last; comes back where there is no need or no way.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn limit(words: &[OsString]) {
    use std::os::unix::process::CommandExt;
    /// See mallopt(3).
    const VARIABLE: &str = "MALLOC_ARENA_MAX";
    if !may_last(words) || std::env::var_os(VARIABLE).is_some() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut command = std::process::Command::new(program);
        command.args(words).env(VARIABLE, "2");
        if let Some(name) = std::env::args_os().next() {
            command.arg0(name);
        }
        // It comes back with an error only; then memory is what it is.
        let _ = command.exec();
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn limit(words: &[OsString]) {
    let _ = may_last(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_notes_are_added_for_long() {
        let of = |line: &str| may_last(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(of("notes add --all") && of("-C x notes --ref y add"));
        assert!(!of("notes show") && !of("add notes") && !of("diff HEAD~1..HEAD"));
    }
}
