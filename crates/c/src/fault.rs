//! Faults of our own: a panic costs what it was about, is said in one line, and says how to report it.
//!
//! The front end, one function's analysis and the command line each catch what goes wrong below them. What is
//! printed is the place and the message; a backtrace is for who sets [`ABORT`] and a debugger.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Environment variable: when it is set, any panic ends the process at once, caught or not.
pub const ABORT: &str = "INVDIFF_ABORT_ON_INTERNAL_ERROR";
/// How a process ends under [`ABORT`]; what a panic that nobody caught ends with, too.
const ABORTED: i32 = 101;
/// What to do about a fault.
pub const ADVICE: &str = "'git invdiff bugreport' makes a form for reporting it";

/// Whether faults are told in one line; otherwise as the language does.
static BRIEF: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Set while a panic on this thread is expected and reported otherwise.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic of this thread was.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From here on a fault is one line on standard error. For programs; libraries leave the hook alone.
pub fn be_brief() {
    BRIEF.store(true, Ordering::Relaxed);
    watch();
}

/// Puts our hook before the one that is there.
fn watch() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
            let aborts = std::env::var_os(ABORT).is_some();
            match (QUIET.get() && !aborts, BRIEF.load(Ordering::Relaxed)) {
                (true, _) => {}
                (false, true) => tell(place.as_deref().unwrap_or("?"), &message(info.payload())),
                (false, false) => before(info),
            }
            if aborts {
                std::process::exit(ABORTED);
            }
            PLACE.with(|p| *p.borrow_mut() = place);
        }));
    });
}

fn tell(place: &str, message: &str) {
    static ADVISED: Once = Once::new();
    let message = message.lines().next().unwrap_or_default();
    eprintln!("internal error: {place}: {message}");
    ADVISED.call_once(|| eprintln!("hint: {ADVICE}"));
}

/// What a panic said.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("unknown panic").to_owned()
}

/// Runs `work`; a panic in it becomes the words that reports say of it.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    watch();
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        // What another worker met is told where it was met.
        let place = PLACE.with(|p| p.borrow_mut().take()).map_or(String::new(), |p| format!(" at {p}"));
        format!("internal error{place}; {ADVICE}")
    })
}

/// Runs `work`, whose panics are expected and no faults of ours; a panic in it becomes what it said.
pub fn expected<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    watch();
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work)).map_err(|e| message(&*e));
    QUIET.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_place_and_what_to_do() {
        let said = expected(|| caught(|| -> u32 { panic!("out of order") })).unwrap().unwrap_err();
        assert!(said.starts_with("internal error at crates/c/src/fault.rs:"), "{said}");
        assert!(said.ends_with(ADVICE), "{said}");
    }

    #[test]
    fn what_is_expected_says_what_it_was() {
        assert_eq!(expected(|| -> u32 { panic!("as {}", "usual") }), Err("as usual".to_owned()));
        assert_eq!(expected(|| 7), Ok(7));
    }
}
