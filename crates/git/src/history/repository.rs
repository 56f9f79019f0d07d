//! Opening a repository the way git does, and asking it for revisions.
//!
//! libgit2 answers where it can. The git command line answers for repositories that libgit2 cannot
//! open (reftable, partial clones, unknown extensions) or would read differently (replace
//! references, grafts, object directories named by the environment), for indexes that it cannot read, and
//! for revision expressions that it does not know.

use super::command::{CommandSource, GitCommand};
use super::error::{Error, Result};
use super::libgit::LibgitSource;
use super::object::{Commit, IndexEntry, Kind, Object, ObjectSource, Objects, path_of_bytes};
use crate::store::grafts;
use git2::{ErrorCode, ObjectFormat, Oid, RepositoryOpenFlags};
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// What names the repository: the command line's options and the environment's variables.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Where the search starts and what relative paths are relative to.
    pub directory: PathBuf,
    /// `--git-dir` or `GIT_DIR`; no search then.
    pub git_dir: Option<PathBuf>,
    /// `GIT_WORK_TREE`.
    pub work_tree: Option<PathBuf>,
    /// `GIT_INDEX_FILE`; relative to the top of the work tree.
    pub index_file: Option<PathBuf>,
    /// `GIT_GRAFT_FILE`, in the place of `info/grafts`; relative to the top of the work tree. As with git, an
    /// empty name is a file without grafts.
    pub graft_file: Option<PathBuf>,
    /// Folders that the search does not leave (`GIT_CEILING_DIRECTORIES`).
    pub ceilings: Vec<PathBuf>,
    /// Objects come from elsewhere than the repository's own folder (`GIT_OBJECT_DIRECTORY`,
    /// `GIT_ALTERNATE_OBJECT_DIRECTORIES`), as in a hook that guards a push.
    pub foreign_objects: bool,
    /// Objects that a partial clone lacks may be fetched, as if `invdiff.lazyFetch` were set.
    pub lazy_fetch: bool,
    /// Variables for git processes on top of the inherited ones.
    pub variables: Vec<(OsString, OsString)>,
}

impl OpenOptions {
    /// Searches from `directory` upwards, whatever the environment says.
    pub fn at(directory: impl Into<PathBuf>) -> OpenOptions {
        OpenOptions { directory: directory.into(), ..OpenOptions::default() }
    }

    /// Searches from `directory` upwards unless the `GIT_*` variables that `variable` looks up say
    /// otherwise. An empty value counts as none.
    pub fn from_environment(
        directory: impl Into<PathBuf>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> OpenOptions {
        let path = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let ceilings = variable("GIT_CEILING_DIRECTORIES").unwrap_or_default();
        OpenOptions {
            git_dir: path("GIT_DIR"),
            work_tree: path("GIT_WORK_TREE"),
            index_file: path("GIT_INDEX_FILE"),
            graft_file: variable("GIT_GRAFT_FILE").map(PathBuf::from),
            ceilings: std::env::split_paths(&ceilings).filter(|p| p.is_absolute()).collect(),
            foreign_objects: ["GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR"]
                .iter()
                .any(|name| path(name).is_some()),
            ..OpenOptions::at(directory)
        }
    }
}

/// An opened repository. Cheap to share between threads; never writes.
pub struct Repository {
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_dir: Option<PathBuf>,
    index_file: PathBuf,
    directory: PathBuf,
    objects: Arc<Objects>,
    git: GitCommand,
    libgit: Option<LibgitSource>,
    shallow: BTreeSet<Oid>,
}

/// Where a repository's parts are.
struct Layout {
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_dir: Option<PathBuf>,
    format: ObjectFormat,
}

impl Repository {
    /// Searches for the repository that `directory` lies in, ignoring the environment.
    pub fn discover(directory: impl Into<PathBuf>) -> Result<Repository> {
        Repository::open(&OpenOptions::at(directory))
    }

    /// Opens a repository. Cost: under a millisecond with libgit2, some milliseconds with git.
    pub fn open(options: &OpenOptions) -> Result<Repository> {
        let directory = if options.directory.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            options.directory.clone()
        };
        let directory =
            directory.canonicalize().map_err(|source| Error::Io { path: directory.clone(), source })?;
        let git = GitCommand::new(directory.clone(), options.variables.clone(), options.lazy_fetch);
        let (layout, opened) = match open_libgit(&directory, options) {
            Ok((layout, repository)) => (layout, Some(repository)),
            Err(error) => (ask_layout(&git, &directory, options, error)?, None),
        };
        let top = layout.work_dir.as_ref().unwrap_or(&layout.git_dir);
        let index_file = match &options.index_file {
            Some(file) => top.join(file),
            None => layout.git_dir.join("index"),
        };
        let graft_file = match &options.graft_file {
            Some(file) if file.as_os_str().is_empty() => file.clone(),
            Some(file) => top.join(file),
            None => layout.common_dir.join("info/grafts"),
        };
        let git = match &options.graft_file {
            Some(_) => git.with("GIT_GRAFT_FILE", &graft_file),
            None => git,
        };
        let mut git = git.with("GIT_DIR", layout.git_dir.clone()).with("GIT_INDEX_FILE", &index_file);
        if let Some(work_dir) = &layout.work_dir {
            git = git.with("GIT_WORK_TREE", work_dir.clone()).within(work_dir.clone());
        }
        let partial = opened.as_ref().map_or_else(|| is_partial(&git), has_promisor);
        if partial && allows_fetch(&git) {
            git = git.with_lazy_fetch();
        }
        let commands = CommandSource::new(git.clone(), layout.format, partial);
        let grafts = read_grafts(&graft_file, layout.format);
        let is_plain = grafts.is_empty() && options.graft_file.is_none();
        let usable =
            opened.filter(|r| !options.foreign_objects && !partial && is_plain && !has_replacements(r));
        let libgit = usable.map(|r| LibgitSource::new(r, index_file.clone()));
        let source: Box<dyn ObjectSource> = match &libgit {
            Some(libgit) => Box::new(Both { libgit: libgit.clone(), commands }),
            None => Box::new(commands),
        };
        let shallow = read_shallow(&layout.common_dir, layout.format);
        Ok(Repository {
            objects: Arc::new(Objects::new(source, layout.format, grafts)?),
            git_dir: layout.git_dir,
            common_dir: layout.common_dir,
            work_dir: layout.work_dir,
            index_file,
            directory,
            git,
            libgit,
            shallow,
        })
    }

    /// Returns the git directory; that of the worktree if it is a linked one.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns the git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the top of the work tree.
    pub fn work_dir(&self) -> Option<&Path> {
        self.work_dir.as_deref()
    }

    /// Returns the top of the work tree, or an error in a bare repository.
    pub fn require_work_dir(&self) -> Result<&Path> {
        self.work_dir().ok_or_else(|| Error::NoWorkTree(self.git_dir.clone()))
    }

    /// Returns the index file, `GIT_INDEX_FILE` if that was given.
    pub fn index_file(&self) -> &Path {
        &self.index_file
    }

    pub fn format(&self) -> ObjectFormat {
        self.objects.format()
    }

    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// Returns how to run git in this repository.
    pub fn git(&self) -> &GitCommand {
        &self.git
    }

    pub(super) fn libgit(&self) -> Option<&LibgitSource> {
        self.libgit.as_ref()
    }

    /// Returns the starting folder relative to the top of the work tree; empty at the top.
    pub fn prefix(&self) -> PathBuf {
        let top = self.work_dir.as_deref().unwrap_or(&self.directory);
        self.directory.strip_prefix(top).map(Path::to_owned).unwrap_or_default()
    }

    /// Returns whether the history was cut by `git clone --depth`.
    pub fn is_shallow(&self) -> bool {
        !self.shallow.is_empty()
    }

    /// Returns whether a shallow clone lacks this commit's parents.
    pub fn is_shallow_edge(&self, commit: Oid) -> bool {
        self.shallow.contains(&commit)
    }

    /// Resolves a revision to a commit, or to the empty tree if that is what it names (`None`).
    pub fn resolve(&self, revision: &str) -> Result<Option<Oid>> {
        let Some(id) = self.objects.source().resolve(revision)? else {
            return Err(self.unresolved(revision));
        };
        match self.objects.peel(id).map_err(|e| self.beyond_the_cut(revision, id, e))? {
            (id, Kind::Commit) => Ok(Some(id)),
            (id, Kind::Tree) if id == self.objects.empty_tree() => Ok(None),
            (_, kind) => Err(Error::NotACommit { revision: revision.to_owned(), kind: kind.name() }),
        }
    }

    /// Resolves a revision that must be a commit.
    pub fn commit(&self, revision: &str) -> Result<Commit> {
        match self.resolve(revision)? {
            Some(id) => self.objects.commit(id),
            None => Err(Error::NotACommit { revision: revision.to_owned(), kind: "tree" }),
        }
    }

    /// Returns the commit that HEAD names; `None` on an unborn branch.
    pub fn head(&self) -> Result<Option<Oid>> {
        match self.objects.source().resolve("HEAD")? {
            Some(id) => Ok(Some(self.objects.peel(id)?.0)),
            None => Ok(None),
        }
    }

    /// Returns the branch that HEAD points to, without `refs/heads/`, as far as it is UTF-8.
    pub fn branch(&self) -> Option<String> {
        let output = self.git.output(&["symbolic-ref", "-q", "HEAD"]).ok()?;
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Some(name.strip_prefix("refs/heads/").map(str::to_owned).unwrap_or(name)).filter(|n| !n.is_empty())
    }

    /// Returns the error of an unborn HEAD.
    pub(super) fn unborn(&self) -> Error {
        Error::UnbornHead { branch: self.branch().unwrap_or_else(|| "HEAD".to_owned()) }
    }

    /// Says why a revision names nothing.
    fn unresolved(&self, revision: &str) -> Error {
        let base = revision.split(['~', '^', '@', ':']).next().unwrap_or_default();
        let of_head = matches!(base, "" | "HEAD");
        if of_head && matches!(self.objects.source().resolve("HEAD"), Ok(None)) {
            return self.unborn();
        }
        if self.is_shallow() && is_full_id(revision, self.format()) {
            return self.shallow_error(revision, revision.to_owned(), None);
        }
        self.walk_to_gap(revision).unwrap_or_else(|| Error::UnknownRevision(revision.to_owned()))
    }

    /// Follows `name~n` or `name^^` until a shallow clone's cut or a missing commit, and names it.
    fn walk_to_gap(&self, revision: &str) -> Option<Error> {
        let (base, steps) = super::range::split_ancestor(revision);
        let mut id = match self.objects.source().resolve(base) {
            Ok(Some(id)) => self.objects.peel(id).ok()?.0,
            _ => return None,
        };
        for done in 0..steps {
            let commit = match self.objects.commit(id) {
                Ok(commit) => commit,
                Err(gap @ (Error::MissingObject(_) | Error::NotFetched(_))) => return Some(gap),
                Err(_) => return None,
            };
            let parent = *commit.parents.first()?;
            if self.is_shallow_edge(id) {
                return Some(self.shallow_error(revision, parent.to_string(), Some(steps - done)));
            }
            id = parent;
        }
        None
    }

    fn beyond_the_cut(&self, revision: &str, id: Oid, error: Error) -> Error {
        match error {
            Error::MissingObject(missing) if self.is_shallow() && missing == id => {
                self.shallow_error(revision, id.to_string(), None)
            }
            other => other,
        }
    }

    /// Returns the error that names a commit beyond the cut and the command that gets it.
    pub(super) fn shallow_error(&self, wanted: &str, missing: String, deepen: Option<usize>) -> Error {
        let fetch = match deepen {
            Some(n) => format!("git fetch --deepen={n}"),
            None => "git fetch --unshallow".to_owned(),
        };
        Error::Shallow { missing, wanted: wanted.to_owned(), fetch }
    }
}

/// libgit2 first, git for what it does not know.
struct Both {
    libgit: LibgitSource,
    commands: CommandSource,
}

impl ObjectSource for Both {
    fn object(&self, id: Oid) -> Result<Object> {
        self.libgit.object(id)
    }

    fn resolve(&self, expression: &str) -> Result<Option<Oid>> {
        match self.libgit.resolve(expression) {
            Ok(Some(id)) => Ok(Some(id)),
            // The commonest miss needs no second opinion: an unborn HEAD.
            Ok(None) if expression == "HEAD" => Ok(None),
            Ok(None) => self.commands.resolve(expression),
            // Where only one of the objects with a short id is a commit, git takes that one.
            Err(error) => match self.commands.resolve(&format!("{expression}^{{commit}}")) {
                Ok(Some(id)) => Ok(Some(id)),
                _ => Err(error),
            },
        }
    }

    fn merge_base(&self, one: Oid, two: Oid) -> Result<Option<Oid>> {
        self.libgit.merge_base(one, two)
    }

    fn index(&self) -> Result<Vec<IndexEntry>> {
        match self.libgit.index() {
            Err(error @ Error::BadIndex { .. }) => self.commands.index().map_err(|_| error),
            other => other,
        }
    }
}

fn open_libgit(
    directory: &Path,
    options: &OpenOptions,
) -> std::result::Result<(Layout, git2::Repository), git2::Error> {
    let repository = match &options.git_dir {
        Some(git_dir) => {
            let none: [&OsStr; 0] = [];
            git2::Repository::open_ext(directory.join(git_dir), RepositoryOpenFlags::NO_SEARCH, none)?
        }
        None => git2::Repository::open_ext(directory, RepositoryOpenFlags::empty(), &options.ceilings)?,
    };
    match (&options.work_tree, &options.git_dir) {
        (Some(work_tree), _) => repository.set_workdir(&directory.join(work_tree), false)?,
        // As git has it: a repository that is named, not found, has the current folder as its work tree.
        (None, Some(_)) if !repository.is_bare() && !has_worktree_setting(&repository) => {
            repository.set_workdir(directory, false)?;
        }
        _ => {}
    }
    let layout = Layout {
        git_dir: canonical(repository.path()),
        common_dir: canonical(repository.commondir()),
        work_dir: repository.workdir().map(canonical),
        format: repository.object_format(),
    };
    Ok((layout, repository))
}

fn has_worktree_setting(repository: &git2::Repository) -> bool {
    repository.is_worktree()
        || repository.config().and_then(|c| c.get_entry("core.worktree").map(drop)).is_ok()
}

/// Asks git where the repository is, after libgit2 failed with `error`.
fn ask_layout(
    git: &GitCommand,
    directory: &Path,
    options: &OpenOptions,
    error: git2::Error,
) -> Result<Layout> {
    let mut git = git.clone();
    if let Some(git_dir) = &options.git_dir {
        git = git.with("GIT_DIR", directory.join(git_dir));
    }
    if let Some(work_tree) = &options.work_tree {
        git = git.with("GIT_WORK_TREE", directory.join(work_tree));
    }
    if let Ok(ceilings) = std::env::join_paths(&options.ceilings) {
        git = git.with("GIT_CEILING_DIRECTORIES", ceilings);
    }
    let place = || options.git_dir.clone().unwrap_or_else(|| directory.to_owned());
    let absolute = "--path-format=absolute";
    let arguments = [
        "rev-parse",
        "--is-bare-repository",
        "--show-object-format",
        absolute,
        "--git-dir",
        "--git-common-dir",
    ];
    let output = match git.output(&arguments) {
        Ok(output) => output,
        // Without git on PATH there is only libgit2's opinion.
        Err(_) if error.code() == ErrorCode::NotFound => return Err(Error::NotARepository(place())),
        Err(_) => return Err(error.into()),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(if said.contains("dubious ownership") {
            Error::DubiousOwnership(owner_path(&said).unwrap_or_else(place))
        } else if said.contains("not a git repository") {
            Error::NotARepository(place())
        } else {
            error.into()
        });
    }
    let mut lines = output.stdout.split(|&b| b == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let bare = line() == b"true";
    let format = if line() == b"sha256" { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 };
    let (git_dir, common_dir) = (path_of_bytes(line()), path_of_bytes(line()));
    let top = git.output(&["rev-parse", absolute, "--show-toplevel"])?;
    let work_dir = Some(path_of_bytes(top.stdout.trim_ascii_end())).filter(|_| !bare && top.status.success());
    Ok(Layout { git_dir, common_dir, work_dir, format })
}

/// Takes the path out of git's message on ownership, because it is not always the one asked for.
fn owner_path(said: &str) -> Option<PathBuf> {
    let (_, rest) = said.split_once("repository at '")?;
    Some(PathBuf::from(rest.split_once('\'')?.0))
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.components().filter(|c| *c != Component::CurDir).collect())
}

fn has_replacements(repository: &git2::Repository) -> bool {
    repository.references_glob("refs/replace/*").is_ok_and(|mut refs| refs.next().is_some())
}

fn has_promisor(repository: &git2::Repository) -> bool {
    let Ok(config) = repository.config() else { return false };
    config.entries(Some(r"remote\..*\.promisor")).is_ok_and(|mut entries| entries.next().is_some())
}

fn is_partial(git: &GitCommand) -> bool {
    let keys = [r"^(extensions\.partialclone|remote\..*\.promisor)$"];
    let mut arguments = vec!["config", "--get-regexp"];
    arguments.extend(keys);
    git.output(&arguments).is_ok_and(|o| o.status.success() && !o.stdout.is_empty())
}

/// Reads `invdiff.lazyFetch`; anything but a clear yes is a no.
fn allows_fetch(git: &GitCommand) -> bool {
    let answer = git.read(&["config", "--type=bool", "invdiff.lazyFetch"]);
    answer.is_ok_and(|text| text.trim_ascii() == b"true")
}

fn read_shallow(common_dir: &Path, format: ObjectFormat) -> BTreeSet<Oid> {
    let text = std::fs::read_to_string(common_dir.join("shallow")).unwrap_or_default();
    text.lines().filter_map(|l| Oid::from_str_ext(l.trim(), format).ok()).collect()
}

fn read_grafts(file: &Path, format: ObjectFormat) -> HashMap<Oid, Vec<Oid>> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let id = |text: &String| Oid::from_str_ext(text, format).ok();
    let graft = |(commit, parents): (String, Vec<String>)| {
        Some((id(&commit)?, parents.iter().map(id).collect::<Option<_>>()?))
    };
    grafts::parse(&text).into_iter().filter_map(graft).collect()
}

fn is_full_id(text: &str, format: ObjectFormat) -> bool {
    let digits = match format {
        ObjectFormat::Sha1 => 40,
        ObjectFormat::Sha256 => 64,
    };
    text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit())
}
