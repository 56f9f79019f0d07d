//! Which files of a range are read, where it changes more of them than may be read in one invocation.
//!
//! What reading, lowering and comparing a file costs goes with its tokens behind the preprocessor, its headers'
//! among them; how many these are is known when it was read. So files are taken a few at a time, tests last, those
//! first of which most lines changed, until the tokens are spent. What is left out depends on the files alone, not on
//! the machine or the number of workers.

use super::lineage::VersionFiles;
use super::loaded::load;
use super::request::{Effort, FileChange, Request};
use super::units::Units;
use super::watch::Watch;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Most tokens of all units of all versions, where not everything is asked for.
const MAX_TOKENS: usize = 3_200_000;
/// Files that are read before the tokens are counted again.
const AT_ONCE: usize = 8;
/// The name of the limit, in the reason of a hunk.
const LIMIT: &str = "effort";

/// Files through the versions: by version, `None` where one does not have it.
type Paths = Vec<Option<PathBuf>>;

/// Whether a request is about all that changed, whatever that costs.
pub(super) fn is_whole(request: &Request) -> bool {
    let asked = &request.analysis;
    asked.effort == Effort::Deep || asked.properties_only || asked.whole || asked.function.is_some()
}

/// The units of files, by version and file, and how many files were left out.
pub(super) fn load_within(
    request: &Request,
    (units, watch): (&Units, &dyn Watch),
    files: &[Paths],
) -> (Vec<VersionFiles>, usize) {
    match files.len() <= AT_ONCE || is_whole(request) {
        true => (load(request, (units, watch), files), 0),
        false => load_until(request, (units, watch), files, MAX_TOKENS),
    }
}

fn load_until(
    request: &Request,
    (units, watch): (&Units, &dyn Watch),
    files: &[Paths],
    most: usize,
) -> (Vec<VersionFiles>, usize) {
    let sizes = Sizes::of(request);
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|k| (is_test(&files[*k]), Reverse(sizes.of_file(&files[*k])), *k));
    let left_out = |path: &Option<PathBuf>| path.clone().map(|p| (p, Err(Arc::from(LIMIT))));
    let versions = 0..request.versions.len();
    let mut by_version: Vec<VersionFiles> =
        versions.map(|v| files.iter().map(|f| left_out(f.get(v).unwrap_or(&None))).collect()).collect();
    let (mut tokens, mut counted, mut taken) = (0, BTreeSet::new(), 0);
    for portion in order.chunks(AT_ONCE) {
        if tokens >= most {
            break;
        }
        let paths: Vec<Paths> = portion.iter().map(|k| files[*k].clone()).collect();
        for (here, version) in load(request, (units, watch), &paths).into_iter().zip(&mut by_version) {
            for (file, k) in here.into_iter().zip(portion) {
                if let Some((_, Ok(unit))) = &file
                    && counted.insert(Arc::as_ptr(&unit.unit))
                {
                    tokens += unit.tokens;
                }
                version[*k] = file;
            }
        }
        taken += portion.len();
    }
    (by_version, files.len() - taken)
}

/// Whether a file is a test by its path: what it tests says more of a change.
fn is_test(paths: &Paths) -> bool {
    let is_word = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|word| matches!(word, "test" | "tests" | "testing"))
    };
    let newest = paths.iter().flatten().next_back();
    newest.is_some_and(|path| path.iter().any(|part| part.to_str().is_some_and(is_word)))
}

/// How many lines of files a range changes.
struct Sizes<'r>(BTreeMap<&'r PathBuf, u32>);

impl<'r> Sizes<'r> {
    fn of(request: &'r Request) -> Self {
        let mut lines: BTreeMap<&PathBuf, u32> = BTreeMap::new();
        let all = request.changes.iter().flatten();
        for FileChange { old_path, new_path, hunks, .. } in all {
            // What only one version has is told without being compared.
            let (Some(old), Some(new)) = (old_path, new_path) else { continue };
            let changed = hunks.iter().map(|h| h.old_lines.max(h.new_lines)).fold(0, u32::saturating_add);
            for path in BTreeSet::from([old, new]) {
                let of_file = lines.entry(path).or_default();
                *of_file = of_file.saturating_add(changed);
            }
        }
        Sizes(lines)
    }

    fn of_file(&self, paths: &Paths) -> u32 {
        let paths: BTreeSet<&PathBuf> = paths.iter().flatten().collect();
        paths.iter().filter_map(|p| self.0.get(p)).copied().fold(0, u32::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::watch::Unwatched;
    use crate::analysis::{Options, memory};
    use crate::frontend::c;

    /// A range that changes a line of each of some files, and several of the last, at an effort.
    fn request(files: usize, effort: Effort) -> (Request, Vec<Paths>) {
        let names: Vec<String> = (0..files).map(|i| format!("a{i:02}.c")).collect();
        let texts = ["1", "2"].map(|n| {
            let last = format!("int g(int k)\n{{\n    k += {n};\n    k *= {n};\n    return k;\n}}\n");
            let others = format!("int f(int k) {{ return k + {n}; }}\n");
            (0..files).map(|i| if i + 1 == files { last.clone() } else { others.clone() }).collect::<Vec<_>>()
        });
        let pairs = |texts: &'_ [String]| -> Vec<(String, String)> {
            names.iter().cloned().zip(texts.iter().cloned()).collect()
        };
        let versions = texts.each_ref().map(|t| pairs(t));
        let versions = versions.each_ref().map(|v| v.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect());
        let analysis = Options { jobs: 1, effort, ..Options::default() };
        let request = memory::request(&versions, c::Options::default(), analysis);
        (request, names.iter().map(|n| vec![Some(n.into()); 2]).collect())
    }

    /// The numbers of the files that are read, and how many are not.
    fn read(files: usize, most: usize) -> (Vec<usize>, usize) {
        let (request, paths) = request(files, Effort::Normal);
        let units = Units::new(request.options.clone(), 2);
        let (versions, left_out) = load_until(&request, (&units, &Unwatched), &paths, most);
        let is_read = |v: &VersionFiles, k: &usize| v[*k].as_ref().is_some_and(|(_, unit)| unit.is_ok());
        let why =
            |v: &VersionFiles, k: usize| v[k].as_ref().and_then(|(_, unit)| unit.as_ref().err().cloned());
        let [old, new] = [0, 1].map(|v| (0..files).filter(|k| is_read(&versions[v], k)).collect::<Vec<_>>());
        assert_eq!(old, new);
        let others = (0..files).filter(|k| !old.contains(k));
        others.for_each(|k| assert_eq!(why(&versions[0], k).as_deref(), Some(LIMIT)));
        (old, left_out)
    }

    #[test]
    fn those_that_change_most_are_read_while_tokens_are_left() {
        assert_eq!(read(12, usize::MAX), ((0..12).collect(), 0));
        assert_eq!(read(12, 1), ((0..AT_ONCE - 1).chain([11]).collect(), 12 - AT_ONCE));
        // The portion in which they run out is read to its end.
        let each = "int f ( int k ) { return k + 1 ; }".split(' ').count();
        assert_eq!(read(20, 2 * (AT_ONCE + 1) * each).0.len(), 2 * AT_ONCE);
    }

    #[test]
    fn tests_are_known_by_their_paths() {
        let found = ["tests/a.c", "src/a_test.c", "test_a.c", "src/attest.c", "src/latest/a.c"];
        assert_eq!(
            found.map(|p| is_test(&[None, Some(p.into())].to_vec())),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn who_asks_for_all_is_told_of_all() {
        let is_whole = |effort| super::is_whole(&request(2, effort).0);
        assert!(is_whole(Effort::Deep) && !is_whole(Effort::Normal) && !is_whole(Effort::Quick));
    }
}
