//! The files that a unit may read: the tree's, the embedded headers, and, if asked for, the host's.
//!
//! Every question put to the tree is recorded with its answer, so that a later version of the tree
//! can be asked the same questions instead of being parsed again.
//!
//! An include that no folder has is looked for in the whole tree (`nearest`): a file whose path ends as it is named,
//! what such a header is made of, and last a header that a build copies to where it is named (`copied`).

use super::guard::Rejected;
use super::{headers, template};
use crate::history::SourceTree;
use rucc_diag::SourceBytes;
use rucc_session::FileSystem;
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Last folder of the include search: a name under it stands for the nearest file of the tree
/// whose path ends so. Only computed includes get here; the survey resolves the others before.
pub const ANYWHERE: &str = "<tree>";
/// Parts the folder that asks from the name it asks for, in a recorded question.
const FOR: &str = "<for>";
/// Begins a folder of the include search, `<copies>/FOLDER/<as>/NAME/<in>`, in which what the tree has in FOLDER is in
/// NAME: so a header that is found there finds those beside it.
const COPIES: &str = "<copies>";
const AS: &str = "<as>";
const IN: &str = "<in>";

/// Trees whose paths are kept by name.
const KEPT: usize = 16;

/// Most reads of one unit, found or not. A header without a guard that includes itself twice asks
/// 2^200 times.
const MAX_READS: u64 = 20_000;
/// Most bytes that one unit reads; the preprocessor needs about ten times as much memory.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Default)]
struct Log {
    answers: FxHashMap<PathBuf, Option<String>>,
    reads: u64,
    bytes: u64,
}

/// The files of one version as `rucc` sees them.
pub struct TreeFiles<'t> {
    tree: &'t dyn SourceTree,
    host: bool,
    /// Folder of the unit's source file.
    folder: PathBuf,
    log: Mutex<Log>,
    /// What was read, by the names that it was asked for by: another pass asks for the same.
    found: Mutex<FxHashMap<PathBuf, Option<SourceBytes>>>,
}

impl std::fmt::Debug for TreeFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeFiles").finish_non_exhaustive()
    }
}

/// Bytes of a file with an empty line at the end: `rucc-lex` panics when the last line ends with a
/// backslash.
fn terminated(bytes: &[u8]) -> SourceBytes {
    let mut out = Vec::with_capacity(bytes.len() + 2);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\n\n");
    SourceBytes::new(out)
}

/// Resolves `.` and `..` textually; a path that leaves the tree keeps none of its `..`.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Resolves a path of the include search to one of the tree, but for what is looked for [`ANYWHERE`].
pub fn in_tree(path: &Path) -> PathBuf {
    let Ok(rest) = path.strip_prefix(COPIES) else { return normal(path) };
    let parts: Vec<Component<'_>> = rest.components().collect();
    let mut pieces = parts.splitn(3, |c| c.as_os_str() == AS || c.as_os_str() == IN);
    let mut next = || pieces.next().unwrap_or_default().iter().collect::<PathBuf>();
    let (folder, name, asked) = (next(), next(), next());
    // Other names are in no tree.
    asked.strip_prefix(&name).map_or_else(|_| path.to_path_buf(), |inside| normal(&folder.join(inside)))
}

/// Returns the folder of the include search in which an include of `name` reads the file at `found`.
pub fn folder(name: &Path, found: &Path) -> Option<PathBuf> {
    let name = normal(name);
    match (name.parent(), found.parent()) {
        (Some(named), Some(real)) if is_below(&name) && !real.ends_with(named) => {
            Some(Path::new(COPIES).join(real).join(AS).join(named).join(IN))
        }
        _ => found.ancestors().nth(name.components().count()).map(Path::to_path_buf),
    }
}

/// Whether a name leads down from where it is looked up.
fn is_below(name: &Path) -> bool {
    name.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
}

/// The paths of a tree by their last component.
struct Names {
    paths: Arc<[PathBuf]>,
    /// Indices of `paths`.
    by_name: Vec<usize>,
}

impl Names {
    fn new(paths: Arc<[PathBuf]>) -> Names {
        let mut all: Vec<(&OsStr, usize)> =
            paths.iter().enumerate().filter_map(|(at, path)| Some((path.file_name()?, at))).collect();
        all.sort_unstable();
        let by_name = all.into_iter().map(|(_, at)| at).collect();
        Names { paths, by_name }
    }

    /// The paths that end with a name of one component, sorted.
    fn named<'s>(&'s self, name: &'s OsStr) -> impl Iterator<Item = &'s PathBuf> {
        let of = |at: &usize| self.paths.get(*at);
        let start = self.by_name.partition_point(|at| of(at).and_then(|p| p.file_name()) < Some(name));
        let rest = self.by_name.get(start..).unwrap_or_default();
        rest.iter().filter_map(move |at| self.paths.get(*at)).take_while(move |p| p.file_name() == Some(name))
    }
}

/// Returns the index of a tree's paths. The last few are kept: a tree is asked once for every unit,
/// and building the index takes time linear in the number of its files.
fn names(paths: Arc<[PathBuf]>) -> Arc<Names> {
    static RECENT: Mutex<Vec<Arc<Names>>> = Mutex::new(Vec::new());
    let mut recent = RECENT.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(found) = recent.iter().find(|n| Arc::ptr_eq(&n.paths, &paths)) {
        return found.clone();
    }
    let made = Arc::new(Names::new(paths));
    if recent.len() >= KEPT {
        recent.remove(0);
    }
    recent.push(made.clone());
    made
}

/// Steps from one folder to another in the tree.
fn distance(from: &Path, to: &Path) -> usize {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    from.components().count() + to.components().count() - 2 * shared
}

/// Returns the file of the tree that an include of `name` in folder `from` stands for when no
/// configured folder has it: of those whose path ends with the name, the nearest. A header that is made of another
/// file stands for that ([`template::sources`]), one that a build copies for what it is a copy of ([`copied`]). `None`
/// when there is none, when several are equally near, or when the name is one of the library's.
fn nearest(tree: &dyn SourceTree, from: &Path, asked: &Path) -> Option<PathBuf> {
    let name: PathBuf = asked.components().filter(|c| matches!(c, Component::Normal(_))).collect();
    if headers::is_library(name.to_str()?) {
        return None;
    }
    let names = names(tree.paths());
    let made_of = || template::sources(&name).find_map(|source| nearest_of(&names, from, &source));
    nearest_of(&names, from, &name)
        .or_else(made_of)
        .or_else(|| copied(&names, &name).filter(|_| is_below(asked)))
}

/// Returns the header of which a build makes the copy that an include names: where `yajl/yajl_gen.h` is wanted,
/// `src/api/yajl_gen.h`; or the only file that the header is made of, `src/api/yajl_version.h.cmake`.
///
/// That a tree has a file of the last name says little: `mach/task.h` and `openssl/rand.h` are other people's, whatever
/// the tree calls so. Such a name tells whose it is by itself, or nothing is taken: it begins with the folder's.
/// Of several files none is more likely; the settings of a build are no copies, and no folder of the system is one.
fn copied(names: &Names, asked: &Path) -> Option<PathBuf> {
    let (name, folder) = (asked.file_name()?, asked.parent()?.file_name()?.to_str()?);
    let first = asked.components().next()?.as_os_str().to_str()?;
    let text = name.to_str()?;
    let is_its = text.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder))
        && text
            .get(folder.len()..)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let is_other = headers::is_library(text) || headers::is_system_folder(first) || text.contains("conf");
    if !is_its || is_other || asked.extension().is_none_or(|e| e != "h") {
        return None;
    }
    let only = |name: &OsStr| {
        let mut found = names.named(name);
        let one = found.next()?;
        found.next().is_none().then(|| one.clone())
    };
    match names.named(name).next() {
        Some(_) => only(name),
        None => template::sources(Path::new(name)).find_map(|source| only(source.file_name()?)),
    }
}

/// Whether a tree answers what a parse asked of another as that did: then the parse is its own, too.
/// Cost: one look-up for each path.
pub fn is_alike(tree: &dyn SourceTree, reads: &[(PathBuf, Option<String>)]) -> bool {
    reads.iter().all(|(path, id)| answer(tree, path) == *id)
}

/// Returns the file of the tree that stands for an include that no path of the tree ends with.
pub fn copy_of(tree: &dyn SourceTree, name: &Path) -> Option<PathBuf> {
    copied(&names(tree.paths()), name).filter(|_| is_below(name))
}

/// As [`nearest`], of a name as it stands. Of several that are equally near the one in a folder of includes is meant.
fn nearest_of(names: &Names, from: &Path, name: &Path) -> Option<PathBuf> {
    let found: Vec<(usize, &PathBuf)> = names
        .named(name.file_name()?)
        .filter(|path| path.ends_with(name))
        .filter_map(|path| Some((distance(from, path.parent()?), path)))
        .collect();
    let least = found.iter().map(|(steps, _)| *steps).min()?;
    let near: Vec<&PathBuf> =
        found.into_iter().filter(|(steps, _)| *steps == least).map(|(_, path)| path).collect();
    let folder = |path: &Path| path.ancestors().nth(name.components().count()).map(Path::to_path_buf);
    let includes: Vec<&PathBuf> =
        near.iter().copied().filter(|p| folder(p).is_some_and(|f| f.ends_with("include"))).collect();
    match (near.as_slice(), includes.as_slice()) {
        ([only], _) | (_, [only]) => Some((*only).clone()),
        _ => None,
    }
}

/// Returns the path in the tree of what a unit has read under a name; `reads` is what it asked of the tree.
pub fn path_of(name: &str, unit: &Path, reads: &[(PathBuf, Option<String>)]) -> PathBuf {
    let path = in_tree(Path::new(name));
    let Ok(rest) = path.strip_prefix(ANYWHERE) else { return path };
    let question = Path::new(ANYWHERE).join(unit.parent().unwrap_or(Path::new(""))).join(FOR).join(rest);
    let asked = reads.binary_search_by(|(p, _)| p.cmp(&question)).ok().and_then(|at| reads.get(at));
    asked.and_then(|(_, answer)| answer.as_ref()).map_or(path, PathBuf::from)
}

/// Returns the identity of what `path` reads as in `tree`; `None` when there is no such file.
pub fn answer(tree: &dyn SourceTree, path: &Path) -> Option<String> {
    let Ok(rest) = path.strip_prefix(ANYWHERE) else { return tree.content_id(path) };
    let parts: Vec<_> = rest.components().collect();
    let at = parts.iter().position(|c| c.as_os_str() == FOR)?;
    let from: PathBuf = parts.get(..at)?.iter().collect();
    let name: PathBuf = parts.get(at + 1..)?.iter().collect();
    Some(nearest(tree, &from, &name)?.to_string_lossy().into_owned())
}

impl<'t> TreeFiles<'t> {
    pub fn new(tree: &'t dyn SourceTree, unit: &Path, host: bool) -> TreeFiles<'t> {
        let folder = unit.parent().unwrap_or(Path::new("")).to_path_buf();
        TreeFiles { tree, host, folder, log: Mutex::default(), found: Mutex::default() }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn found(&self) -> MutexGuard<'_, FxHashMap<PathBuf, Option<SourceBytes>>> {
        self.found.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the bytes of a file of the tree and their identity.
    pub fn content(&self, path: &Path) -> Option<(Arc<[u8]>, String)> {
        let id = self.tree.content_id(path);
        self.log().answers.insert(path.to_path_buf(), id.clone());
        Some((template::read(path, self.tree.read(path)?), id?))
    }

    /// Returns whether the tree has a file.
    pub fn has(&self, path: &Path) -> bool {
        let id = self.tree.content_id(path);
        let found = id.is_some();
        self.log().answers.insert(path.to_path_buf(), id);
        found
    }

    /// Returns the file that an include of `name` in folder `from` stands for when the configured
    /// folders do not have it.
    pub fn locate(&self, from: &Path, name: &Path) -> Option<PathBuf> {
        let found = nearest(self.tree, from, name);
        let question = Path::new(ANYWHERE).join(from).join(FOR).join(name);
        self.log().answers.insert(question, found.as_ref().map(|p| p.to_string_lossy().into_owned()));
        found
    }

    /// Returns the bytes of the unit's own file.
    pub fn source(&self, path: &Path) -> Option<SourceBytes> {
        self.content(path).map(|(bytes, _)| terminated(&bytes))
    }

    /// Returns the questions asked so far with their answers, sorted by path.
    pub fn reads(&self) -> Vec<(PathBuf, Option<String>)> {
        let mut all: Vec<_> = self.log().answers.iter().map(|(p, id)| (p.clone(), id.clone())).collect();
        all.sort_unstable();
        all
    }

    /// Notes questions, with their answers, that another process asked of the same tree.
    pub fn learn(&self, reads: Vec<(PathBuf, Option<String>)>) {
        self.log().answers.extend(reads);
    }

    /// Starts the count of reads anew, for another pass over the unit.
    pub fn restart(&self) {
        let mut log = self.log();
        (log.reads, log.bytes) = (0, 0);
    }

    /// Fails when a cap was hit, in which case what was read is not what the unit says.
    pub fn check(&self, path: &Path) -> Result<(), Rejected> {
        let log = self.log();
        let over = |name, value| Err(Rejected::Limit { path: path.to_path_buf(), name, value });
        if log.reads > MAX_READS {
            return over("includes", MAX_READS);
        }
        if log.bytes > MAX_BYTES {
            return over("included-bytes", MAX_BYTES);
        }
        Ok(())
    }

    fn bytes(&self, path: &Path) -> Option<SourceBytes> {
        if path.starts_with(headers::DIR) {
            return headers::at(path).map(SourceBytes::new);
        }
        if path.is_absolute() {
            let inside = self.host && headers::HOST_DIRS.iter().any(|d| path.starts_with(d));
            return if inside { std::fs::read(path).ok().map(|b| terminated(&b)) } else { None };
        }
        match path.strip_prefix(ANYWHERE) {
            Ok(name) => self.source(&self.locate(&self.folder, name)?),
            Err(_) => self.source(path),
        }
    }
}

impl FileSystem for TreeFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<SourceBytes> {
        {
            let mut log = self.log();
            log.reads += 1;
            if log.reads > MAX_READS || log.bytes > MAX_BYTES {
                return Err(io::ErrorKind::NotFound.into());
            }
        }
        let known = self.found().get(path).cloned();
        let bytes = known.unwrap_or_else(|| {
            let bytes = self.bytes(&in_tree(path));
            self.found().insert(path.to_path_buf(), bytes.clone());
            bytes
        });
        let bytes = bytes.ok_or(io::ErrorKind::NotFound)?;
        self.log().bytes += bytes.as_slice().len() as u64;
        Ok(bytes)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        let path = in_tree(path);
        match path.strip_prefix(ANYWHERE) {
            Ok(name) => nearest(self.tree, &self.folder, name).unwrap_or(path),
            Err(_) => path,
        }
    }
}

#[cfg(test)]
mod tests;
