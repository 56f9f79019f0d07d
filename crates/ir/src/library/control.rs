//! What calls of the library do to control: they do not come back, or they, or something later, call what they are
//! given.
//!
//! Functions that only compute, read or write are in the rows of [`super`]. Sources: C17 7.22.4 (`exit` and its kin),
//! 7.14 (signals), 7.13 (jumps), 7.26 (threads); POSIX for the rest.

/// How a call ends the program, or the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It reports a failed assertion.
    Failed,
    /// By `SIGABRT`, or as one that is no end of a program.
    Aborted,
    /// What `atexit` registered runs first.
    Exit,
    /// What `at_quick_exit` registered runs first.
    Quickly,
    /// Nothing else runs.
    AtOnce,
    /// Only the thread.
    Thread,
}

/// When something is called that a call is given, or that goes on beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Before the call is over.
    Now,
    /// When the program ends.
    AtEnd,
    /// When a thread ends.
    AtThreadEnd,
    /// When a signal arrives.
    OnSignal,
    /// When time is over, by a signal or in a thread.
    OnTime,
    /// Beside the program: another thread, another process, another stack.
    Beside,
}

/// What a call does to control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    Ends(Ends),
    /// It goes to a `setjmp`.
    Jumps,
    Calls(Calls),
}

use Control::{Calls as Has, Ends as By, Jumps};

static TABLE: &[(&str, Control)] = &[
    // Our own `assert.h`, glibc's, others', and those of verification tasks.
    ("__invdiff_assert_fail", By(Ends::Failed)),
    ("__assert_fail", By(Ends::Failed)),
    ("__assert", By(Ends::Failed)),
    ("__assert_perror_fail", By(Ends::Failed)),
    ("__assert_rtn", By(Ends::Failed)),
    ("reach_error", By(Ends::Failed)),
    ("__VERIFIER_error", By(Ends::Failed)),
    ("abort", By(Ends::Aborted)),
    ("__builtin_trap", By(Ends::Aborted)),
    ("exit", By(Ends::Exit)),
    ("quick_exit", By(Ends::Quickly)),
    ("_exit", By(Ends::AtOnce)),
    ("_Exit", By(Ends::AtOnce)),
    ("pthread_exit", By(Ends::Thread)),
    ("thrd_exit", By(Ends::Thread)),
    ("longjmp", Jumps),
    ("_longjmp", Jumps),
    ("siglongjmp", Jumps),
    ("qsort", Has(Calls::Now)),
    ("bsearch", Has(Calls::Now)),
    ("raise", Has(Calls::Now)),
    ("atexit", Has(Calls::AtEnd)),
    ("at_quick_exit", Has(Calls::AtEnd)),
    ("on_exit", Has(Calls::AtEnd)),
    ("__cxa_atexit", Has(Calls::AtEnd)),
    ("pthread_key_create", Has(Calls::AtThreadEnd)),
    ("tss_create", Has(Calls::AtThreadEnd)),
    ("signal", Has(Calls::OnSignal)),
    ("sigaction", Has(Calls::OnSignal)),
    ("bsd_signal", Has(Calls::OnSignal)),
    ("sysv_signal", Has(Calls::OnSignal)),
    ("sigset", Has(Calls::OnSignal)),
    ("setitimer", Has(Calls::OnTime)),
    ("timer_create", Has(Calls::OnTime)),
    ("pthread_create", Has(Calls::Beside)),
    ("thrd_create", Has(Calls::Beside)),
    ("fork", Has(Calls::Beside)),
    ("vfork", Has(Calls::Beside)),
    ("makecontext", Has(Calls::Beside)),
    ("swapcontext", Has(Calls::Beside)),
];

/// Returns what a call of a library function does to control, if it does anything, also under its `__builtin_` name.
pub fn control(name: &str) -> Option<Control> {
    let plain = |name: &str| TABLE.iter().find(|(n, _)| *n == name).map(|(_, c)| *c);
    plain(name).or_else(|| plain(name.strip_prefix("__builtin_")?))
}

/// Returns how a call of a library function ends the program, if it does.
pub fn ends(name: &str) -> Option<Ends> {
    match control(name)? {
        Control::Ends(how) => Some(how),
        _ => None,
    }
}

/// Returns whether a call ends all of the program, as far as anybody sees, and not only a thread.
pub fn ends_program(name: &str) -> bool {
    ends(name).is_some_and(|how| how != Ends::Thread)
}

/// Returns when something is called that a call of a library function is given, if anything is.
pub fn calls(name: &str) -> Option<Calls> {
    match control(name)? {
        Control::Calls(when) => Some(when),
        _ => None,
    }
}

/// Returns the names of functions whose calls have something called at such a time.
pub fn names_that_call(when: Calls) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |(_, c)| *c == Control::Calls(when)).map(|(n, _)| *n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        let names: std::collections::BTreeSet<&str> = TABLE.iter().map(|(n, _)| *n).collect();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn what_ends_has_no_row_of_effects() {
        for (name, control) in TABLE {
            let comes_back = matches!(control, Control::Calls(_));
            assert!(comes_back || super::super::row(name).is_none(), "{name}");
        }
    }

    #[test]
    fn builtins_do_as_their_functions() {
        assert_eq!(ends("__builtin_abort"), Some(Ends::Aborted));
        assert_eq!(ends("__builtin_exit"), Some(Ends::Exit));
        assert_eq!((ends("longjmp"), control("longjmp")), (None, Some(Control::Jumps)));
        assert_eq!((control("puts"), control("__builtin_puts")), (None, None));
        assert!(ends_program("exit") && !ends_program("pthread_exit") && !ends_program("atexit"));
        assert_eq!(calls("signal"), Some(Calls::OnSignal));
        assert!(names_that_call(Calls::Now).eq(["qsort", "bsearch", "raise"]));
    }
}
