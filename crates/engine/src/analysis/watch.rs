//! Told how far the work is, and asked whether there is time left.

/// Told how far the work is, from any worker.
pub trait Watch: Sync {
    /// So many more functions are going to be analysed.
    fn more(&self, _functions: usize) {}
    /// One of them (`file: name()`) is begun.
    fn begins(&self, _function: &str) {}
    /// One of them is done.
    fn done(&self) {}
    /// Whether there is no time left: what is not begun then stays open.
    fn is_over(&self) -> bool {
        false
    }
}

/// Watches nothing.
pub(super) struct Unwatched;

impl Watch for Unwatched {}
