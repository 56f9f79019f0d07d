//! The folder of cached results, `invdiff/cache` under the git directory that all worktrees share.
//!
//! Entries are plain files named by what they depend on, so removing any of them at any time costs
//! time and nothing else. An entry is a BLAKE3 checksum and the value; one that is damaged counts as
//! absent. Writers make a file under another name and rename it, so readers see all or nothing, and
//! two writers of one key write the same value. Files of another format version are never read.
//!
//! Behind the folder there may be a cache that machines share (`invdiff_remote`): what the folder lacks is looked up
//! there and kept here, and what is kept here is put there, if this run may. Its keys are of the inputs alone; which
//! program answers them is its own part of the name.

use invdiff_remote::Shared;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

/// Version of the format; part of every path.
const FORMAT: &str = "v1";

/// Bytes of the checksum in front of a value.
const CHECKSUM: usize = blake3::OUT_LEN;

/// What an entry depends on, hashed: the kind of result, the engine's version, and all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Of this program on this machine.
    local: [u8; blake3::OUT_LEN],
    /// Of the kind and the inputs, wherever.
    inputs: [u8; blake3::OUT_LEN],
}

impl Key {
    /// Hashes the parts, each with its length, so that no two lists of parts run together. The
    /// program's own version is always a part.
    pub fn new<P: AsRef<[u8]>>(kind: &str, parts: impl IntoIterator<Item = P>) -> Key {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(kind.as_bytes());
        parts.into_iter().for_each(|part| add(part.as_ref()));
        let inputs = *hasher.finalize().as_bytes();
        let mut hasher = blake3::Hasher::new();
        for part in [env!("CARGO_PKG_VERSION").as_bytes(), program().as_bytes(), &inputs] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key { local: *hasher.finalize().as_bytes(), inputs }
    }

    /// Two hexadecimal digits as a folder, the others as a file: folders stay small.
    fn path(self) -> PathBuf {
        let hex = blake3::Hash::from_bytes(self.local).to_hex();
        let (folder, file) = hex.split_at(2);
        Path::new(folder).join(file)
    }
}

/// Size and time of this program's file: while it is being worked on, its version stays.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let file = std::env::current_exe().and_then(std::fs::metadata);
        file.and_then(|f| Ok(format!("{} {:?}", f.len(), f.modified()?))).unwrap_or_default()
    })
}

/// Values by key. Every failure to read or write is a miss: a cache only saves time.
#[derive(Debug)]
pub struct Store {
    /// `None`: nothing can be kept anywhere.
    folder: Option<PathBuf>,
    /// Bytes that may be held.
    limit: u64,
    /// Bytes held, once counted.
    held: Mutex<Option<u64>>,
    /// The cache behind this one.
    shared: Option<Arc<Shared>>,
}

impl Store {
    /// Opens the cache of a repository, or `folder` instead if given. Where the repository cannot be
    /// written to, the cache is below `home` (the user's folder for caches) under a hash of the
    /// repository's path; without that, nothing is kept.
    pub fn open(common_dir: &Path, folder: Option<&Path>, home: Option<&Path>, limit: u64) -> Store {
        let name = blake3::hash(common_dir.as_os_str().as_encoded_bytes()).to_hex();
        let elsewhere = home.map(|home| home.join("git-invdiff").join(&name[..16]));
        let choices = match folder {
            Some(folder) => vec![folder.to_owned()],
            None => [Some(Cache::of(common_dir).folder), elsewhere].into_iter().flatten().collect(),
        };
        let folder = choices.into_iter().map(|c| c.join(FORMAT)).find(|c| is_writable(c));
        Store { folder, limit, held: Mutex::new(None), shared: None }
    }

    /// A store that keeps nothing (`--no-cache`).
    pub fn none() -> Store {
        Store { folder: None, limit: 0, held: Mutex::new(None), shared: None }
    }

    /// Returns where values are kept, if anywhere.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The same with a shared cache behind it.
    pub fn before(self, shared: Option<Arc<Shared>>) -> Store {
        Store { shared, ..self }
    }

    /// Returns a value, if it is here or in the cache behind this one.
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        if let Some(value) = self.held_here(key) {
            return Some(value);
        }
        let value = self.shared.as_ref()?.get(&key.inputs)?;
        self.keep(key, &value);
        Some(value)
    }

    /// Keeps a value, here and in the cache behind this one. Values larger than a quarter of the limit are not kept
    /// here.
    pub fn put(&self, key: Key, value: &[u8]) {
        self.keep(key, value);
        if let Some(shared) = &self.shared {
            shared.put(&key.inputs, value);
        }
    }

    /// A value of the folder, checked against its checksum.
    fn held_here(&self, key: Key) -> Option<Vec<u8>> {
        let mut bytes = std::fs::read(self.folder.as_ref()?.join(key.path())).ok()?;
        let value = bytes.get(CHECKSUM..)?;
        if bytes.get(..CHECKSUM)? != blake3::hash(value).as_bytes() {
            return None;
        }
        bytes.drain(..CHECKSUM);
        Some(bytes)
    }

    fn keep(&self, key: Key, value: &[u8]) {
        let size = (value.len() + CHECKSUM) as u64;
        if let Some(folder) = self.folder.as_ref().filter(|_| size <= self.limit / 4) {
            // Not kept is as good as never computed.
            if write_entry(&folder.join(key.path()), value).is_ok() {
                self.count(folder, size);
            }
        }
    }

    /// Adds to the bytes held and, beyond the limit, removes the oldest entries down to half of it.
    fn count(&self, folder: &Path, added: u64) {
        // A poisoned lock only means that another thread's count is lost.
        let Ok(mut held) = self.held.lock() else { return };
        let total = match *held {
            Some(bytes) => bytes + added,
            None => Cache { folder: folder.to_owned() }.usage().map_or(added, |u| u.bytes),
        };
        *held = Some(if total > self.limit { prune(folder, self.limit / 2) } else { total });
    }
}

fn is_writable(folder: &Path) -> bool {
    std::fs::create_dir_all(folder).is_ok() && tempfile::tempfile_in(folder).is_ok()
}

fn write_entry(path: &Path, value: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(blake3::hash(value).as_bytes())?;
    file.write_all(value)?;
    file.persist(path)?;
    Ok(())
}

/// Removes entries, oldest first, until at most `target` bytes are left; returns what is left.
fn prune(folder: &Path, target: u64) -> u64 {
    let mut entries: BTreeMap<(SystemTime, PathBuf), u64> = BTreeMap::new();
    let folders = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in folders.flat_map(|f| std::fs::read_dir(f.path()).into_iter().flatten().flatten()) {
        if let Ok(metadata) = entry.metadata() {
            let time = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            entries.insert((time, entry.path()), metadata.len());
        }
    }
    let mut left: u64 = entries.values().sum();
    for ((_, path), bytes) in entries {
        if left <= target {
            break;
        }
        if std::fs::remove_file(path).is_ok() {
            left -= bytes;
        }
    }
    left
}

/// Where a repository's cache is, existing or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub entries: usize,
    /// Bytes in files, not blocks on disk.
    pub bytes: u64,
}

impl Cache {
    /// The cache of the repository whose common git directory is given.
    pub fn of(common_dir: &Path) -> Cache {
        Cache { folder: common_dir.join("invdiff").join("cache") }
    }

    /// The cache in a folder that may hold other things, too.
    pub fn at(folder: &Path) -> Cache {
        Cache { folder: folder.join(FORMAT) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Counts the entries; a cache that was never written has none. Cost: one look at each file.
    pub fn usage(&self) -> io::Result<Usage> {
        let mut usage = Usage::default();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                // Of the link itself: the cache holds no links, and following one would lead away.
                let metadata = entry.metadata()?;
                if metadata.is_dir() {
                    folders.push(entry.path());
                } else {
                    usage.entries += 1;
                    usage.bytes += metadata.len();
                }
            }
        }
        Ok(usage)
    }

    /// Removes all entries; no error if there are none.
    pub fn clear(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use invdiff_remote::{Access, Opened, Remote, Seal, Secret, Trouble};

    #[test]
    fn values_come_back_and_damage_is_a_miss() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), None, None, 1 << 20);
        let (one, two) = (Key::new("terms", ["a", "bc"]), Key::new("terms", ["ab", "c"]));
        assert_ne!(one, two);
        assert_eq!(store.get(one), None);
        store.put(one, b"value");
        assert_eq!(store.get(one).as_deref(), Some(&b"value"[..]));
        assert_eq!(store.get(two), None);
        let path = store.folder().unwrap().join(one.path());
        assert!(path.starts_with(folder.path().join("invdiff/cache/v1")));
        for damage in [&b"short"[..], b"", &[7; 100]] {
            std::fs::write(&path, damage).unwrap();
            assert_eq!(store.get(one), None);
        }
        assert_eq!(Store::none().get(one), None);
    }

    /// Values by key, and how often one was asked for.
    type Held = (BTreeMap<String, Vec<u8>>, usize);

    /// A remote in memory, which counts what it is asked.
    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Held>>);

    impl Remote for Memory {
        fn get(&self, name: &str, _: usize) -> Result<Option<Vec<u8>>, Trouble> {
            let mut held = self.0.lock().unwrap();
            held.1 += 1;
            Ok(held.0.get(name).cloned())
        }

        fn put(&self, name: &str, value: &[u8]) -> Result<(), Trouble> {
            self.0.lock().unwrap().0.insert(name.to_owned(), value.to_vec());
            Ok(())
        }
    }

    /// A store in a folder of its own, before that remote.
    fn before(memory: &Memory, folder: &Path) -> Store {
        let access = Access { key: Some(Secret::new("a key of the team")), write: true, ..Access::default() };
        let (seal, memory) = (Seal::new("s/1", "0.1.0", access.key.as_ref()), memory.clone());
        let open = move || Ok(Opened { remote: Box::new(memory.clone()), engine: [1; 32] });
        let shared = Shared::new("memory".to_owned(), access, seal, Box::new(open));
        Store::open(folder, None, None, 1 << 20).before(Some(Arc::new(shared)))
    }

    #[test]
    fn what_the_folder_lacks_is_taken_from_the_shared_cache_once() {
        let (one, two, memory) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Memory::default());
        let key = Key::new("terms", ["a"]);
        before(&memory, one.path()).put(key, b"value");
        let store = before(&memory, two.path());
        assert_eq!(store.get(Key::new("terms", ["b"])), None);
        for _ in 0..3 {
            assert_eq!(store.get(key).as_deref(), Some(&b"value"[..]));
        }
        assert_eq!(memory.0.lock().unwrap().1, 2, "one question a value");
        assert_eq!(Store::open(two.path(), None, None, 1 << 20).get(key).as_deref(), Some(&b"value"[..]));
        // What is here is not asked for, and a value of another content is not kept.
        let before_it = before(&memory, one.path());
        memory.0.lock().unwrap().0.values_mut().for_each(|value| value.truncate(50));
        assert_eq!(before_it.get(key).as_deref(), Some(&b"value"[..]));
        std::fs::remove_dir_all(one.path().join("invdiff")).unwrap();
        assert_eq!(before(&memory, one.path()).get(key), None);
        assert_eq!(Cache::of(one.path()).usage().unwrap().entries, 0);
    }

    #[test]
    fn the_limit_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), None, None, 4000);
        for n in 0..20u8 {
            store.put(Key::new("k", [[n]]), &[n; 500]);
        }
        let usage = Cache::of(folder.path()).usage().unwrap();
        assert!(usage.bytes <= 4000 && usage.entries >= 3, "{usage:?}");
        store.put(Key::new("large", [""]), &[0; 3000]);
        assert_eq!(store.get(Key::new("large", [""])), None);
    }

    #[test]
    fn a_repository_that_cannot_be_written_has_its_cache_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        // A file in the way is refused to everybody, the superuser too.
        std::fs::write(folder.path().join("invdiff"), "").unwrap();
        let home = folder.path().join("home");
        let store = Store::open(folder.path(), None, Some(&home), 1 << 20);
        assert!(store.folder().is_some_and(|f| f.starts_with(&home)));
        assert_eq!(Store::open(folder.path(), None, None, 1 << 20).folder(), None);
        let chosen = Store::open(folder.path(), Some(&home), None, 1 << 20);
        assert_eq!(chosen.folder(), Some(&*home.join("v1")));
    }

    #[test]
    fn entries_are_counted_and_removed() {
        let git_dir = tempfile::tempdir().unwrap();
        std::fs::write(git_dir.path().join("HEAD"), "ref").unwrap();
        let cache = Cache::of(git_dir.path());
        assert_eq!(cache.usage().unwrap(), Usage::default());
        cache.clear().unwrap();
        std::fs::create_dir_all(cache.folder().join("ab")).unwrap();
        std::fs::write(cache.folder().join("ab/cd"), "12345").unwrap();
        std::fs::write(cache.folder().join("x"), "1").unwrap();
        assert_eq!(cache.usage().unwrap(), Usage { entries: 2, bytes: 6 });
        cache.clear().unwrap();
        assert_eq!(cache.usage().unwrap(), Usage::default());
        assert!(git_dir.path().join("HEAD").exists());
    }
}
