//! The cache that machines share, of this run: opened by the settings, asked behind the repository's own, and spoken of
//! once, at the end.
//!
//! A process is one run, and what it does may look at several repositories and open their caches many times; how
//! long the remote may take, and what went wrong with it, are the run's. What makes an answer is told by the content of
//! this program's file and by the solver's version: they are part of every name, so that two machines share what the
//! same program found, and nothing else.

use super::Context;
use crate::config::{CacheSettings, Settings, variables};
use crate::report::SCHEMA;
use crate::smt;
use crate::store::cache::{Key, Store};
use invdiff_remote::{Access, Credentials, HAS_SERVICES, Location, Opened, Seal, Secret, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What this run knows of shared caches.
struct Run {
    is_hook: bool,
    caches: BTreeMap<(Location, Access), Arc<Shared>>,
    /// Why one that is set is not used.
    problems: BTreeSet<String>,
}

static RUN: Mutex<Run> =
    Mutex::new(Run { is_hook: false, caches: BTreeMap::new(), problems: BTreeSet::new() });

fn current() -> MutexGuard<'static, Run> {
    // A thread that panicked leaves nothing half done here.
    RUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that this run is one of a hook: nobody wants to wait for it, and it writes only where that is allowed.
pub fn in_hook() {
    current().is_hook = true;
}

/// Returns the shared cache that the settings name, if it can be used. `local` is where this machine keeps things.
pub fn of(settings: &CacheSettings, local: impl FnOnce() -> Option<Store>) -> Option<Arc<Shared>> {
    settings.remote.address.as_ref()?;
    let mut run = current();
    let access = access(settings, run.is_hook);
    let location = match location(settings).and_then(|found| access.reads().map(|_| found).map_err(unused)) {
        Ok(location) => location,
        Err(problem) => {
            run.problems.insert(problem);
            return None;
        }
    };
    let name = (location, access);
    if let Some(shared) = run.caches.get(&name) {
        return Some(shared.clone());
    }
    let (location, access) = name.clone();
    let (place, local) = (location.shown(), local()?);
    let seal = Seal::new(SCHEMA, env!("CARGO_PKG_VERSION"), access.key.as_ref());
    let open = move || {
        let engine = engine(&local).ok_or("the file of this program cannot be read")?;
        Ok(Opened { remote: invdiff_remote::open(&location, &credentials())?, engine })
    };
    let shared = Arc::new(Shared::new(place, access, seal, Box::new(open)));
    run.caches.insert(name, shared.clone());
    Some(shared)
}

/// Says at the end of a run what is to be warned of, and with `-v` what became of values.
pub fn tell(context: &mut Context) {
    let (is_hook, problems, caches) = {
        let mut run = current();
        (run.is_hook, std::mem::take(&mut run.problems), std::mem::take(&mut run.caches))
    };
    // Of what is wrong with the settings a hook does not speak at every commit.
    problems.iter().filter(|_| !is_hook).for_each(|problem| context.warn(problem));
    for shared in caches.values() {
        shared.said().iter().for_each(|line| context.warn(line));
        let (counts, place) = (shared.counts(), shared.place());
        if context.globals.verbose > 0 {
            context.say(&format!(
                "shared cache {place}: {} hits, {} misses, {} not used, {} written, {} ms",
                counts.hits,
                counts.misses,
                counts.rejected,
                counts.written,
                counts.waited.as_millis()
            ));
        }
    }
}

/// Lines on the shared cache that is set, for `git invdiff cache info`.
pub fn described(settings: &Settings) -> Vec<String> {
    let settings = &settings.cache;
    if settings.remote.address.is_none() {
        return Vec::new();
    }
    let location = match location(settings) {
        Ok(location) => location,
        Err(problem) => return vec![format!("shared: {problem}")],
    };
    let access = access(settings, false);
    let line = |what: &str, access: Result<&str, &str>| match access {
        Ok(how) => format!("{what}: yes, {how}"),
        Err(why) => format!("{what}: no, {why}"),
    };
    let of_hooks = Access { is_hook: true, ..access.clone() };
    vec![
        format!("shared: {}", location.shown()),
        line("  read", access.reads()),
        line("  written", access.writes()),
        line("  written by hooks", of_hooks.writes()),
    ]
}

fn access(settings: &CacheSettings, is_hook: bool) -> Access {
    let remote = &settings.remote;
    Access {
        key: remote.key.clone(),
        trust: remote.trust,
        write: remote.write,
        hooks_write: remote.hooks_write,
        is_hook,
    }
}

/// The address, where this program can ask there.
fn location(settings: &CacheSettings) -> Result<Location, String> {
    let address = settings.remote.address.as_ref().map_or("", Secret::reveal);
    if !HAS_SERVICES {
        return Err(
            "invdiff.cache.remote is set, but this program was built without shared caches; in its sources: \
                    cargo install --locked --path . --features remote-cache"
                .to_owned(),
        );
    }
    Location::parse(address).map_err(|why| format!("invdiff.cache.remote is not used: {why}"))
}

fn unused(why: &str) -> String {
    format!("invdiff.cache.remote is not used: {why}")
}

fn credentials() -> Credentials {
    let secret = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty()).map(Secret::new);
    Credentials {
        user: secret(variables::CACHE_USER),
        password: secret(variables::CACHE_PASSWORD),
        token: secret(variables::CACHE_TOKEN),
    }
}

/// What makes the answers of this program: its content, its version and the solver's.
fn engine(local: &Store) -> Option<[u8; blake3::OUT_LEN]> {
    // The file that runs, whatever has been put in its place since; elsewhere what has its name.
    let file = File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?)).ok()?;
    let content = content(file, local)?;
    let solver = smt::z3_version();
    let mut hasher = blake3::Hasher::new();
    for part in [env!("CARGO_PKG_VERSION").as_bytes(), &content, solver.as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Some(*hasher.finalize().as_bytes())
}

/// The hash of a file's content, computed once for each state of the file.
fn content(file: File, local: &Store) -> Option<Vec<u8>> {
    let key = Key::new("content of the program", [state(&file.metadata().ok()?)]);
    if let Some(known) = local.get(key).filter(|known| known.len() == blake3::OUT_LEN) {
        return Some(known);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file).ok()?;
    let content = hasher.finalize().as_bytes().to_vec();
    local.put(key, &content);
    Some(content)
}

/// What changes with a file's content, even where its size and its time are kept: who writes it changes its `ctime`.
fn state(file: &Metadata) -> String {
    let numbers = [file.len(), file.dev(), file.ino()];
    let times = [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()];
    format!("{numbers:?} {times:?}")
}
