//! What each room takes of a run's time: `cost.rooms` of a report, for users with a slow commit.
//!
//! A thread is in one room at a time: entering another one stops the clock of the one it comes from, and
//! leaving starts it again. Times of all threads are added, so that their sum may exceed what a clock on the
//! wall shows. Entering and leaving costs some 50 ns: rooms are entered by file, function, run and query, never
//! by term.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A room whose time is taken (`ARCHITECTURE.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Git,
    Frontend,
    Mvicfg,
    Analysis,
    Local,
    Invariant,
    Property,
    Difference,
    Verifier,
    Symex,
    Interp,
    Smt,
}

impl Room {
    pub const ALL: [Room; 12] = [
        Room::Git,
        Room::Frontend,
        Room::Mvicfg,
        Room::Analysis,
        Room::Local,
        Room::Invariant,
        Room::Property,
        Room::Difference,
        Room::Verifier,
        Room::Symex,
        Room::Interp,
        Room::Smt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Room::Git => "git",
            Room::Frontend => "frontend",
            Room::Mvicfg => "mvicfg",
            Room::Analysis => "analysis",
            Room::Local => "local",
            Room::Invariant => "invariant",
            Room::Property => "property",
            Room::Difference => "difference",
            Room::Verifier => "verifier",
            Room::Symex => "symex",
            Room::Interp => "interp",
            Room::Smt => "smt",
        }
    }
}

/// Nanoseconds of each room, of all threads since the process began.
static TAKEN: [AtomicU64; Room::ALL.len()] = [const { AtomicU64::new(0) }; Room::ALL.len()];

thread_local! {
    /// The room that this thread is in, and since when.
    static HERE: Cell<Option<(Room, Instant)>> = const { Cell::new(None) };
}

/// A thread's time in a room; it goes back to where it came from when this is dropped.
#[must_use]
pub struct Stay {
    before: Option<Room>,
    /// The clock is the thread's.
    of_thread: PhantomData<*const ()>,
}

/// Enters a room, until the answer is dropped.
pub fn enter(room: Room) -> Stay {
    Stay { before: go_to(Some(room)), of_thread: PhantomData }
}

impl Drop for Stay {
    fn drop(&mut self) {
        go_to(self.before);
    }
}

/// Goes to another room, and returns the one left.
fn go_to(room: Option<Room>) -> Option<Room> {
    let now = Instant::now();
    let (left, since) = HERE.replace(room.map(|r| (r, now)))?;
    let time = u64::try_from(now.duration_since(since).as_nanos()).unwrap_or(u64::MAX);
    if let Some(taken) = TAKEN.get(left as usize) {
        taken.fetch_add(time, Ordering::Relaxed);
    }
    Some(left)
}

/// Milliseconds of each room so far, of rooms that took any; without the stays that have not ended.
pub fn taken() -> Vec<(&'static str, u64)> {
    let of = |room: Room| TAKEN.get(room as usize).map_or(0, |t| t.load(Ordering::Relaxed)) / 1_000_000;
    Room::ALL.into_iter().map(|r| (r.name(), of(r))).filter(|(_, ms)| *ms > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the thread is while it goes in and out.
    #[test]
    fn one_is_in_one_room_at_a_time() {
        let here = || HERE.get().map(|(room, _)| room);
        assert_eq!(here(), None);
        let outer = enter(Room::Invariant);
        {
            let _inner = enter(Room::Smt);
            assert_eq!(here(), Some(Room::Smt));
        }
        assert_eq!(here(), Some(Room::Invariant));
        drop(outer);
        assert_eq!(here(), None);
    }

    #[test]
    fn names_are_different() {
        let names: std::collections::BTreeSet<_> = Room::ALL.iter().map(|r| r.name()).collect();
        assert_eq!(names.len(), Room::ALL.len());
    }
}
