//! Whether a shared cache is asked and told, and what became of it: one [`Shared`] a run.
//!
//! It is read where values can be proved (there is a key) or the user believes the remote anyway, and written where the
//! user lets this run write. Whatever goes wrong is a miss. A remote that gives no answer, or that has taken more time
//! than a run can spare, is left alone from then on. What happened is kept to be said once, at the end.

use crate::envelope::{Rejected, SHORTEST_KEY};
use crate::{Remote, Seal, Secret, Trouble};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of the largest value that is read or written.
pub const LARGEST: usize = 32 << 20;
/// Time that a run spends on its remote, all requests together.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for a hook, for which somebody waits.
const PATIENCE_OF_HOOKS: Duration = Duration::from_secs(2);

/// What the user lets a run do with the remote.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    pub key: Option<Secret>,
    /// Values are believed without a key.
    pub trust: bool,
    pub write: bool,
    pub hooks_write: bool,
    /// The run is one of a hook.
    pub is_hook: bool,
}

impl Access {
    /// Whether values are read, and why.
    ///
    /// Errors: why they are not.
    pub fn reads(&self) -> Result<&'static str, &'static str> {
        match &self.key {
            Some(key) if key.reveal().len() < SHORTEST_KEY => {
                Err("invdiff.cache.key is shorter than 16 characters")
            }
            Some(_) => Ok("values whose MAC fits invdiff.cache.key"),
            None if self.trust => Ok("any value, as invdiff.cache.trust says"),
            None => Err("there is neither invdiff.cache.key nor invdiff.cache.trust"),
        }
    }

    /// Whether values are written, and why.
    ///
    /// Errors: why they are not.
    pub fn writes(&self) -> Result<&'static str, &'static str> {
        self.reads()?;
        match () {
            () if !self.write => Err("invdiff.cache.write is off"),
            () if self.is_hook && !self.hooks_write => Err("invdiff.cache.hooksWrite is off"),
            () if self.key.is_some() => Ok("with a MAC of invdiff.cache.key"),
            () => Ok("without a MAC: who has a key does not believe them"),
        }
    }

    fn patience(&self) -> Duration {
        if self.is_hook { PATIENCE_OF_HOOKS } else { PATIENCE }
    }
}

/// What is needed to ask.
pub struct Opened {
    pub remote: Box<dyn Remote>,
    /// What makes the answers: the program's content and its solver, hashed.
    pub engine: [u8; blake3::OUT_LEN],
}

/// Opens the remote, when it is first needed.
pub type Open = Box<dyn Fn() -> Result<Opened, String> + Send + Sync>;

/// What became of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub hits: usize,
    pub misses: usize,
    pub rejected: usize,
    pub written: usize,
    /// Time spent on all of them.
    pub waited: Duration,
}

#[derive(Default)]
struct State {
    counts: Counts,
    rejected: BTreeMap<Rejected, usize>,
    /// Nothing more is asked.
    is_left: bool,
    /// Nothing more is written.
    is_read_only: bool,
    /// What is to be said.
    said: Vec<String>,
}

/// The shared cache of a run.
pub struct Shared {
    /// The address, as it may be shown.
    place: String,
    access: Access,
    seal: Seal,
    open: Open,
    opened: OnceLock<Option<Opened>>,
    state: Mutex<State>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Shared {
    /// A shared cache at `place`, which is opened when it is first asked. `seal` has the key of `access`.
    pub fn new(place: String, access: Access, seal: Seal, open: Open) -> Shared {
        Shared { place, access, seal, open, opened: OnceLock::new(), state: Mutex::default() }
    }

    /// Returns the value of a key, if the remote has one that may be believed.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.access.reads().ok()?;
        let opened = self.opened()?;
        let name = name(&opened.engine, key);
        let begin = Instant::now();
        let answer = opened.remote.get(&name, LARGEST);
        let mut state = self.took(begin);
        let rejected = match answer {
            Ok(None) => {
                state.counts.misses += 1;
                return None;
            }
            Ok(Some(bytes)) => match self.seal.open(&name, &bytes) {
                Ok(value) => {
                    state.counts.hits += 1;
                    return Some(value.to_vec());
                }
                Err(rejected) => rejected,
            },
            Err(Trouble::TooLarge) => Rejected::TooLarge,
            Err(trouble) => {
                self.leave(&mut state, &words(&trouble));
                return None;
            }
        };
        state.counts.rejected += 1;
        *state.rejected.entry(rejected).or_default() += 1;
        None
    }

    /// Puts a value, where this run may write.
    pub fn put(&self, key: &[u8], value: &[u8]) {
        if self.access.writes().is_err() || self.state().is_read_only {
            return;
        }
        let Some(opened) = self.opened() else { return };
        let name = name(&opened.engine, key);
        let bytes = self.seal.seal(&name, value);
        if bytes.len() > LARGEST {
            return;
        }
        let begin = Instant::now();
        let answer = opened.remote.put(&name, &bytes);
        let mut state = self.took(begin);
        match answer {
            Ok(()) => state.counts.written += 1,
            Err(Trouble::Unreachable(why)) => self.leave(&mut state, &why),
            Err(trouble) if !state.is_read_only => {
                state.is_read_only = true;
                let why = words(&trouble);
                state.said.push(format!(
                    "shared cache {}: writing: {why}; nothing more is written in this run (who only reads sets invdiff.cache.write=false)",
                    self.place
                ));
            }
            Err(_) => {}
        }
    }

    /// What is to be said of this run, each line once.
    pub fn said(&self) -> Vec<String> {
        let mut state = self.state();
        let mut said = std::mem::take(&mut state.said);
        let rejected = std::mem::take(&mut state.rejected);
        if !rejected.is_empty() {
            let total: usize = rejected.values().sum();
            let parts: Vec<String> = rejected.iter().map(|(r, n)| format!("{n} {}", r.words())).collect();
            let (values, they) = if total == 1 { ("value was", "it") } else { ("values were", "they") };
            said.push(format!(
                "shared cache {}: {total} {values} not used: {}; what {they} said was computed",
                self.place,
                parts.join(", ")
            ));
        }
        said
    }

    /// What became of values so far.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// The address, as it may be shown.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The remote, unless it is left alone.
    fn opened(&self) -> Option<&Opened> {
        if self.state().is_left {
            return None;
        }
        let open = || match (self.open)() {
            Ok(opened) => Some(opened),
            Err(why) => {
                self.leave(&mut self.state(), &why);
                None
            }
        };
        self.opened.get_or_init(open).as_ref()
    }

    /// Adds what a request has taken; leaves the remote alone when all together are too much.
    fn took(&self, begin: Instant) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.counts.waited += begin.elapsed();
        let patience = self.access.patience();
        if state.counts.waited > patience {
            self.leave(&mut state, &format!("slow: its answers took {} s in all", patience.as_secs()));
        }
        state
    }

    fn leave(&self, state: &mut State, why: &str) {
        if !state.is_left {
            state.is_left = true;
            state
                .said
                .push(format!("shared cache {}: {why}; left alone for the rest of this run", self.place));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counts of a thread that panicked are counts all the same.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn words(trouble: &Trouble) -> String {
    match trouble {
        Trouble::TooLarge => "the value is too large".to_owned(),
        Trouble::Refused => "access is refused".to_owned(),
        Trouble::Unreachable(why) => why.clone(),
    }
}

/// The name of an entry: the same on every machine that has the engine, and different for every other engine.
fn name(engine: &[u8; blake3::OUT_LEN], key: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("git-invdiff 2026-11-29 shared cache name");
    // Of fixed length, so that nothing runs together.
    hasher.update(engine);
    hasher.update(key);
    format!("v1-{}", hasher.finalize().to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A remote in memory, with a trouble to be met.
    #[derive(Clone, Default)]
    struct Memory {
        values: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
        trouble: Option<Trouble>,
        asked: Arc<Mutex<usize>>,
    }

    impl Remote for Memory {
        fn get(&self, name: &str, limit: usize) -> Result<Option<Vec<u8>>, Trouble> {
            *self.asked.lock().unwrap() += 1;
            let found = self.values.lock().unwrap().get(name).cloned();
            match self.trouble.clone() {
                Some(trouble) => Err(trouble),
                None if found.as_ref().is_some_and(|f| f.len() > limit) => Err(Trouble::TooLarge),
                None => Ok(found),
            }
        }

        fn put(&self, name: &str, value: &[u8]) -> Result<(), Trouble> {
            *self.asked.lock().unwrap() += 1;
            if let Some(trouble) = self.trouble.clone() {
                return Err(trouble);
            }
            self.values.lock().unwrap().insert(name.to_owned(), value.to_vec());
            Ok(())
        }
    }

    fn access(key: &str) -> Access {
        let key = Some(Secret::new(key)).filter(|k| !k.reveal().is_empty());
        Access { key, write: true, ..Access::default() }
    }

    fn shared(memory: &Memory, access: Access, engine: u8) -> Shared {
        let memory = memory.clone();
        let seal = Seal::new("s/1", "0.1.0", access.key.as_ref());
        let open = move || Ok(Opened { remote: Box::new(memory.clone()), engine: [engine; 32] });
        Shared::new("memory:".to_owned(), access, seal, Box::new(open))
    }

    const KEY: &str = "the key of the team";

    #[test]
    fn a_value_comes_back_to_who_has_the_same_engine_and_the_key() {
        let memory = Memory::default();
        shared(&memory, access(KEY), 1).put(b"k", b"value");
        assert_eq!(shared(&memory, access(KEY), 1).get(b"k").as_deref(), Some(&b"value"[..]));
        for (key, engine) in [(&b"l"[..], 1), (b"k", 2)] {
            let other = shared(&memory, access(KEY), engine);
            assert_eq!(other.get(key), None);
            assert_eq!((other.counts().misses, other.said()), (1, Vec::new()));
        }
        let stranger = shared(&memory, access("another key of others"), 1);
        assert_eq!((stranger.get(b"k"), stranger.get(b"k")), (None, None));
        let said = stranger.said();
        assert_eq!(
            said,
            ["shared cache memory:: 2 values were not used: 2 with a MAC that the key does not make; \
              what they said was computed"]
        );
        assert!(stranger.said().is_empty(), "said once");
    }

    #[test]
    fn without_key_and_trust_nothing_is_asked() {
        let memory = Memory::default();
        for access in [access(""), access("too short")] {
            let shared = shared(&memory, access, 1);
            shared.put(b"k", b"value");
            assert_eq!(shared.get(b"k"), None);
        }
        assert_eq!(*memory.asked.lock().unwrap(), 0);
        let trusting = Access { trust: true, ..access("") };
        shared(&memory, access(KEY), 1).put(b"k", b"value");
        assert!(shared(&memory, trusting.clone(), 1).get(b"k").is_some());
        // What is written without a key is believed by who believes everything, and by nobody else.
        shared(&memory, trusting.clone(), 1).put(b"m", b"value");
        assert!(shared(&memory, trusting, 1).get(b"m").is_some());
        assert_eq!(shared(&memory, access(KEY), 1).get(b"m"), None);
    }

    #[test]
    fn only_who_may_writes() {
        let memory = Memory::default();
        let reader = Access { write: false, ..access(KEY) };
        let hook = Access { is_hook: true, ..access(KEY) };
        for access in [reader, hook.clone()] {
            assert!(access.reads().is_ok() && access.writes().is_err());
            shared(&memory, access, 1).put(b"k", b"value");
        }
        assert_eq!(*memory.asked.lock().unwrap(), 0);
        shared(&memory, Access { hooks_write: true, ..hook }, 1).put(b"k", b"value");
        assert_eq!(*memory.asked.lock().unwrap(), 1);
    }

    #[test]
    fn a_remote_that_does_not_answer_is_left_alone() {
        let trouble = Trouble::Unreachable("connection refused".to_owned());
        for trouble in [trouble, Trouble::Refused] {
            let memory = Memory { trouble: Some(trouble.clone()), ..Memory::default() };
            let shared = shared(&memory, access(KEY), 1);
            assert_eq!((shared.get(b"k"), shared.get(b"l")), (None, None));
            shared.put(b"k", b"value");
            assert_eq!(*memory.asked.lock().unwrap(), 1);
            let said = shared.said().join("\n");
            let expected = format!("{}; left alone for the rest of this run", words(&trouble));
            assert!(said.ends_with(&expected) && said.lines().count() == 1, "{said}");
        }
        let closed = Shared::new(
            "x".to_owned(),
            access(KEY),
            Seal::new("s/1", "0.1.0", None),
            Box::new(|| Err("no".into())),
        );
        assert_eq!((closed.get(b"k"), closed.get(b"k")), (None, None));
        assert_eq!(closed.said(), ["shared cache x: no; left alone for the rest of this run"]);
    }

    #[test]
    fn one_who_may_not_write_goes_on_reading() {
        let memory = Memory { trouble: Some(Trouble::Refused), ..Memory::default() };
        let shared = shared(&memory, access(KEY), 1);
        shared.put(b"k", b"value");
        shared.put(b"k", b"value");
        assert_eq!(*memory.asked.lock().unwrap(), 1);
        assert_eq!(shared.said().len(), 1);
        let _ = shared.get(b"k");
        assert_eq!(*memory.asked.lock().unwrap(), 2);
    }

    #[test]
    fn what_is_too_large_is_neither_written_nor_read() {
        let memory = Memory::default();
        let shared = shared(&memory, access(KEY), 1);
        shared.put(b"k", &vec![0; LARGEST]);
        assert!(memory.values.lock().unwrap().is_empty());
        memory.values.lock().unwrap().insert(name(&[1; 32], b"k"), vec![0; LARGEST + 1]);
        assert_eq!(shared.get(b"k"), None);
        assert!(shared.said().join("").contains("1 value was not used: 1 too large"));
    }
}
