//! Files followed through the versions.

use super::mentions::{self, Includes, Taken};
use super::request::{Effort, FileChange, Request};
use super::units::{included_names, is_header, is_library, is_source};
use crate::frontend::c::lines::{code, joined};
use crate::history::SourceTree;
use crate::mvicfg::VersionId;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

/// One source file through the versions.
pub struct FileLineage {
    /// By version; `None` where the file does not exist.
    pub paths: Vec<Option<PathBuf>>,
}

/// Most files that are read for nothing but the layout of a structure, where not everything is asked for.
const MAX_LAID_OUT: usize = 12;

/// Most files that are read because a header changed, where not everything is asked for: each takes as long as
/// one that changed itself.
const MAX_READERS: usize = 32;
/// The same where a configuration is looked at that is not the one that was asked for.
const MAX_READERS_AGAIN: usize = 8;
/// The same of headers that define functions, which are units by themselves.
const MAX_READERS_OF_UNITS: usize = 1;

/// The files of a range.
pub struct Followed {
    pub files: Vec<FileLineage>,
    /// Steps at which not all files were taken that read a changed header.
    pub cut: BTreeSet<usize>,
    /// What a limit left out, for people.
    pub notices: Vec<String>,
}

/// Returns the C source files that the range touches: changed themselves, or by a header that they
/// include; or all of them, when the request is about everything. Headers that define functions are such
/// files where they change.
pub fn lineages(request: &Request, taken: &Taken) -> Followed {
    let n = request.versions.len();
    let mut left_out = LeftOut::default();
    let mut cut = BTreeSet::new();
    let mut all: Vec<FileLineage> = Vec::new();
    let mut current: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let oldest = request.versions.first().filter(|_| request.analysis.whole);
    for path in oldest.map(|v| v.tree.paths()).unwrap_or_default().iter().filter(|p| is_source(p)) {
        current.insert(path.clone(), all.len());
        all.push(FileLineage { paths: vec![None; n] });
    }
    for v in VersionId::first(n) {
        if let Some(before) = v.previous() {
            let here = step((request, taken), [before, v], &mut all, &mut current);
            left_out.laid_out += here.laid_out;
            left_out.readers += here.readers;
            cut.extend((here.readers > 0).then_some(before.index()));
        }
        for (path, &l) in &current {
            all[l].paths[v] = Some(path.clone());
        }
    }
    Followed { files: all, cut, notices: left_out.notices() }
}

/// How many files were not taken.
#[derive(Default)]
struct LeftOut {
    /// That only see the layout of a structure.
    laid_out: usize,
    /// That read a changed header.
    readers: usize,
}

impl LeftOut {
    fn notices(&self) -> Vec<String> {
        let one = |n: usize, which: &str| {
            (n > 0).then(|| format!("note: {n} more files{which} were not looked at; --effort deep does"))
        };
        let laid_out = one(self.laid_out, ", for which at most structures are laid out anew,");
        laid_out.into_iter().chain(one(self.readers, " that include changed headers")).collect()
    }
}

/// Takes the files from one version to the next.
fn step(
    (request, taken): (&Request, &Taken),
    [from, to]: [VersionId; 2],
    all: &mut Vec<FileLineage>,
    current: &mut BTreeMap<PathBuf, usize>,
) -> LeftOut {
    let mut left_out = LeftOut::default();
    let n = request.versions.len();
    let all_changes = request.changes.get(from.index()).map(Vec::as_slice).unwrap_or_default();
    let known = OnceLock::new();
    let is_by_line = || *known.get_or_init(|| has_header_that_decides_by_line(&*request.versions[to].tree));
    let changes: Vec<&FileChange> =
        all_changes.par_iter().filter(|c| !is_same_code(request, [from, to], c, &is_by_line)).collect();
    let start = |all: &mut Vec<FileLineage>, path: Option<&PathBuf>| {
        // Not touched before: the file was there under this path in all earlier versions, or in
        // none.
        let paths = VersionId::first(n).map(|v| path.filter(|_| v < to).cloned()).collect();
        all.push(FileLineage { paths });
        all.len() - 1
    };
    // A source may be included as well; its own text changes where it stands, whoever includes it.
    let is_local = request.analysis.is_local();
    let headers: Vec<mentions::Header> = changes
        .iter()
        .map(|c| (c.old_path.clone(), c.new_path.clone()))
        .filter(|(old, new)| old.iter().chain(new).any(|p| is_header(p)))
        .collect();
    let sources: BTreeSet<PathBuf> = changes
        .iter()
        .flat_map(|c| c.old_path.iter().chain(&c.new_path))
        .filter(|p| is_source(p) && !is_local)
        .cloned()
        .collect();
    if !headers.is_empty() || !sources.is_empty() {
        let (old, new) = (&*request.versions[from].tree, &*request.versions[to].tree);
        let includes = Includes::of(old);
        let is_whole = request.analysis.effort == Effort::Deep || request.analysis.properties_only;
        let most = if is_whole { usize::MAX } else { MAX_LAID_OUT };
        let mut reached = mentions::reached((old, new), &includes, &headers, (taken, most));
        left_out.laid_out = reached.left_out;
        if !is_whole {
            let is_unit = |(_, path): &mentions::Header| path.as_ref().is_some_and(|p| is_library(new, p));
            let most = match request.analysis.configurations {
                true => MAX_READERS,
                false if headers.iter().all(is_unit) => MAX_READERS_OF_UNITS,
                false => MAX_READERS_AGAIN,
            };
            left_out.readers = reached.keep(old, most);
        }
        reached.sources.extend(includes.sources(&sources));
        for path in reached.sources {
            current.entry(path).or_insert_with_key(|path| start(all, Some(path)));
        }
    }
    let mut arrived = Vec::new();
    for change in changes {
        let is_unit = |v: VersionId, p: &PathBuf| is_source(p) || is_library(&*request.versions[v].tree, p);
        let old = change.old_path.as_ref().filter(|p| is_unit(from, p));
        let new = change.new_path.as_ref().filter(|p| is_unit(to, p));
        if old.is_none() && new.is_none() {
            continue;
        }
        let l = match old.and_then(|p| current.remove(p)) {
            Some(l) => l,
            None => start(all, old),
        };
        if let Some(p) = new {
            arrived.push((p.clone(), l));
        }
    }
    current.extend(arrived);
    left_out
}

/// What gives the number of a line: the macro, and the function of compilers.
const LINE: &str = "__LINE__";
const BUILTIN: &str = "__builtin_LINE";

/// Whether a header computes with the numbers of lines: not only hands them on or makes names of them. Cost: reads
/// the headers of a tree.
fn has_header_that_decides_by_line(tree: &dyn SourceTree) -> bool {
    let headers = tree.paths();
    headers.par_iter().filter(|p| is_header(p)).any(|path| {
        let Some(bytes) = tree.read(path) else { return false };
        let text = String::from_utf8_lossy(&bytes);
        text.contains(BUILTIN)
            || text.match_indices(LINE).any(|(at, _)| {
                let (before, behind) = (text[..at].trim_end(), text[at + LINE.len()..].trim_start());
                let computes = |c: char| "<>=!+-*/%&|^?~".contains(c);
                before.ends_with(computes) || behind.starts_with(computes)
            })
    })
}

/// Whether a step changes nothing of a file but comments and white space. What is said of comments is asked for by
/// options that look at all of the file.
fn is_same_code(
    request: &Request,
    versions: [VersionId; 2],
    change: &FileChange,
    is_by_line: &(dyn Fn() -> bool + Sync),
) -> bool {
    let (Some(old), Some(new)) = (&change.old_path, &change.new_path) else { return false };
    let asked = &request.analysis;
    if old != new
        || asked.whole
        || asked.properties_only
        || asked.differencing.is_some()
        || asked.function.is_some()
    {
        return false;
    }
    let code = |version: VersionId| Some(code(&request.versions[version].tree.read(old)?));
    let is_c = is_source(old) || is_header(old);
    let (Some(before), Some(now)) = (code(versions[0]).filter(|_| is_c), code(versions[1])) else {
        return false;
    };
    if joined(&before) != joined(&now) {
        return false;
    }
    // Where lines move, what asks for their numbers may decide otherwise.
    before.keys().eq(now.keys())
        || !before.values().any(|line| line.contains(LINE) || line.contains(BUILTIN)) && !is_by_line()
}

/// The sources of a range that others in it include.
pub fn included(request: &Request, files: &[FileLineage]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for (v, version) in VersionId::each(&request.versions) {
        let here = || files.iter().filter_map(|f| f.paths[v].as_ref()).filter(|p| is_source(p));
        let names: BTreeSet<String> =
            here().flat_map(|p| version.tree.read(p)).flat_map(|t| included_names(&t)).collect();
        let is_named = |p: &PathBuf| p.file_name().is_some_and(|n| names.contains(&*n.to_string_lossy()));
        found.extend(here().filter(|p| is_named(p)).cloned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{MAX_LAID_OUT, MAX_READERS, Taken, lineages};
    use crate::analysis::{Effort, Options, diff, memory};
    use crate::frontend::c;
    use crate::report::unseen;

    /// What is said of `n` files that write a structure which gets a member, at an effort.
    fn notices(n: usize, effort: Effort) -> Vec<String> {
        let source = "#include \"h.h\"\nlong f(struct s *p) { return sizeof *p; }\n";
        let names: Vec<String> = (0..n).map(|i| format!("a{i}.c")).collect();
        let versions = ["struct s { int m; };", "struct s { int m; long k; };"].map(|header| {
            let sources = names.iter().map(|name| (name.as_str(), source));
            sources.chain([("h.h", header)]).collect::<Vec<_>>()
        });
        let options = Options { jobs: 1, effort, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        assert!(report.notices.is_empty() || !unseen::is_nothing(&report));
        report.notices.into_iter().filter(|n| n.contains("laid out anew")).collect()
    }

    #[test]
    fn files_that_are_left_out_are_said() {
        // One of them is read all the same, for the header.
        let many = MAX_LAID_OUT + 2;
        assert!(notices(many, Effort::Quick)[0].contains(&format!("{} more files", many - 1)));
        assert!(notices(MAX_LAID_OUT, Effort::Quick).is_empty());
        assert!(notices(many, Effort::Deep).is_empty());
    }

    #[test]
    fn a_header_that_builds_copy_is_read_where_it_is() {
        let source = "#include <lib/lib_b.h>\nint f(int k) { return k + MOST; }\n";
        let says = |headers: [&[(&'static str, &'static str)]; 2]| {
            let versions =
                headers.map(|h| [("test/a.c", source)].iter().chain(h).copied().collect::<Vec<_>>());
            let options = Options { jobs: 1, ..Options::default() };
            diff(&memory::request(&versions, c::Options::default(), options))
        };
        let main = ("src/api/lib_b.h", "#include <lib/lib_c.h>\n");
        let report = says([
            &[main, ("src/api/lib_c.h", "#define MOST 4\n")],
            &[main, ("src/api/lib_c.h", "#define MOST 5\n")],
        ]);
        let found: Vec<_> = report.functions.iter().map(|f| (&*f.name, f.file.to_string())).collect();
        assert_eq!(found, [("f", "test/a.c".to_owned())]);
        // One that comes to be there.
        let report = says([&[], &[main, ("src/api/lib_c.h", "#define MOST 5\n")]]);
        assert_eq!(report.functions.len(), 1, "{report:?}");
    }

    #[test]
    fn comments_and_white_space_are_not_read() {
        let read = |old: &str, new: &str, options: Options| {
            let source = ("a.c", "#include \"a.h\"\nint f(void) { return K; }\n");
            let versions = [vec![("a.h", old), source], vec![("a.h", new), source]];
            let request = memory::request(&versions, c::Options::default(), options);
            lineages(&request, &Taken::default()).files.len()
        };
        let header = "#define K 1\nint f(void);\n";
        let same = "/* of\n   f */\n#define K   1 // one\nint\nf(void);\n";
        let normal = || Options { jobs: 1, ..Options::default() };
        assert_eq!(read(header, same, normal()), 0);
        assert_eq!(read(header, &same.replace("1 //", "2 //"), normal()), 1);
        // A directive ends with its line.
        assert_eq!(read(header, "#define K 1 int f(void);\n", normal()), 1);
        assert_eq!(read(header, same, Options { properties_only: true, ..normal() }), 1);
        // Lines move.
        let deciding = |text: &str| text.replace("int", "#define L(x) x < __LINE__\nint");
        assert_eq!(read(&deciding(header), &deciding(same), normal()), 1);
    }

    #[test]
    fn of_very_many_readers_of_a_header_some_are_looked_at() {
        let report = |n: usize, effort: Effort| {
            let names: Vec<String> = (0..n).map(|i| format!("a{i}.c")).collect();
            let source = "#include \"h.h\"\nint f(int k) { return k + MOST; }\n";
            let versions = ["#define MOST 4\n", "#define MOST (2 + 2)\n"].map(|header| {
                let sources = names.iter().map(|name| (name.as_str(), source));
                sources.chain([("h.h", header)]).collect::<Vec<_>>()
            });
            let options = Options { jobs: 1, effort, ..Options::default() };
            diff(&memory::request(&versions, c::Options::default(), options))
        };
        let few = report(MAX_READERS, Effort::Quick);
        assert!(few.notices.is_empty() && few.hunks[0].why.is_none(), "{:?}", few.hunks);
        let many = report(MAX_READERS + 5, Effort::Quick);
        assert!(many.notices[0].contains("5 more files that include changed headers"), "{:?}", many.notices);
        // That those are the same says nothing of the others.
        assert_eq!(many.hunks[0].why.as_deref(), Some("limit:files"));
        let deep = report(MAX_READERS + 5, Effort::Deep);
        assert!(deep.notices.is_empty() && deep.hunks[0].why.is_none(), "{:?}", deep.hunks);
    }
}
