//! Files that went away and files that appeared, paired by how much content they share.
//!
//! The measure is git's (gitdiffcore, "diffcore-rename"): a file is cut into lines, longer ones
//! into pieces of 64 bytes; the similarity of two files is the number of bytes in pieces that both
//! have, relative to the larger file. As in git, identical content is paired first, then files of the
//! same unique name, then the most similar pairs of all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// Full similarity.
const FULL: u64 = 60_000;

/// Candidates that are remembered for a file that appeared.
const CANDIDATES: usize = 4;

/// Reads a file of the old version (`true`) or of the new one; `None` when it cannot be read.
pub(super) type Reader<'a> = dyn Fn(&Candidate<'_>, bool) -> Option<Arc<[u8]>> + 'a;

/// One file on either side.
pub(super) struct Candidate<'a> {
    pub path: &'a Path,
    /// Object id and whether it is a regular file; both must agree for an exact match.
    pub identity: (git2::Oid, bool),
    /// The file is still there in the new version, so it can be copied but not renamed.
    pub kept: bool,
}

/// A found pair: indices into the sources and the destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub source: usize,
    pub destination: usize,
    /// Percent, rounded down.
    pub similarity: u8,
    /// The source is also used by another pair, or is kept.
    pub copy: bool,
}

pub(super) struct Limits {
    /// Least similarity, percent.
    pub threshold: u8,
    /// Inexact pairs are looked for while sources times destinations is at most this, squared.
    pub files: usize,
    pub copies: bool,
}

/// Pairs sources with destinations. Cost: reads each file that has no exact partner once, and
/// compares every such source with every such destination.
pub(super) fn pair(
    sources: &[Candidate<'_>],
    destinations: &[Candidate<'_>],
    limits: &Limits,
    content: &Reader<'_>,
) -> Vec<Pair> {
    let mut search = Search { sources, destinations, limits, used: BTreeMap::new(), found: BTreeMap::new() };
    search.exact();
    let mut prints = Prints { sources, destinations, content, old: HashMap::new(), new: HashMap::new() };
    let least = u64::from(limits.threshold.min(100)) * FULL / 100;
    if !limits.copies {
        search.by_name(&mut prints, least + (FULL - least) / 2);
    }
    search.by_content(&mut prints, least);
    search.finish()
}

struct Search<'a> {
    sources: &'a [Candidate<'a>],
    destinations: &'a [Candidate<'a>],
    limits: &'a Limits,
    /// Times that a source was used.
    used: BTreeMap<usize, usize>,
    /// Destination to source and score.
    found: BTreeMap<usize, (usize, u64)>,
}

impl Search<'_> {
    fn record(&mut self, source: usize, destination: usize, score: u64) {
        *self.used.entry(source).or_default() += 1;
        self.found.insert(destination, (source, score));
    }

    fn is_free(&self, source: usize) -> bool {
        self.limits.copies || (!self.used.contains_key(&source))
    }

    fn exact(&mut self) {
        let mut by_identity: HashMap<_, Vec<usize>> = HashMap::new();
        for (i, source) in self.sources.iter().enumerate() {
            by_identity.entry(source.identity).or_default().push(i);
        }
        for (destination, new) in self.destinations.iter().enumerate() {
            let Some(same) = by_identity.get(&new.identity) else { continue };
            let free = same.iter().copied().filter(|&s| self.is_free(s));
            let score = |s: usize| {
                let old = self.sources.get(s);
                let named = old.is_some_and(|o| o.path.file_name() == new.path.file_name());
                u8::from(!self.used.contains_key(&s) && !old.is_some_and(|o| o.kept)) + u8::from(named)
            };
            // The first of the best, so ties go to the earliest path.
            let best = free.fold(None, |best: Option<(u8, usize)>, s| match best {
                Some((points, _)) if points >= score(s) => best,
                _ => Some((score(s), s)),
            });
            if let Some((_, source)) = best {
                self.record(source, destination, FULL);
            }
        }
    }

    /// Pairs files whose name occurs once among those that went and once among those that came.
    fn by_name(&mut self, prints: &mut Prints<'_>, least: u64) {
        let old = unique_names(
            self.open_sources().into_iter().filter_map(|s| Some((self.sources.get(s)?.path, s))),
        );
        let new = unique_names(
            self.open_destinations().into_iter().filter_map(|d| Some((self.destinations.get(d)?.path, d))),
        );
        for (name, source) in old {
            let Some(&destination) = new.get(name) else { continue };
            let score = prints.similarity(source, destination, least);
            if score >= least {
                self.record(source, destination, score);
            }
        }
    }

    fn by_content(&mut self, prints: &mut Prints<'_>, least: u64) {
        let (sources, destinations) = (self.open_sources(), self.open_destinations());
        if sources.len().saturating_mul(destinations.len())
            > self.limits.files.saturating_mul(self.limits.files)
        {
            return;
        }
        let mut matches = Vec::new();
        for &destination in &destinations {
            let mut best: Vec<(u64, bool, usize, usize)> = Vec::new();
            for &source in &sources {
                let score = prints.similarity(source, destination, least);
                if score < least {
                    continue;
                }
                best.push((score, prints.same_name(source, destination), destination, source));
            }
            best.sort_by_key(|m| Reverse((m.0, m.1)));
            best.truncate(CANDIDATES);
            matches.extend(best);
        }
        matches.sort_by_key(|m| Reverse((m.0, m.1)));
        // Renames before copies, as a file that is still free explains more.
        for copies in [false, true] {
            for &(score, _, destination, source) in &matches {
                let kept = self.sources.get(source).is_some_and(|s| s.kept);
                let taken = self.used.contains_key(&source) || kept;
                if !self.found.contains_key(&destination) && (!taken || copies && self.limits.copies) {
                    self.record(source, destination, score);
                }
            }
        }
    }

    fn open_sources(&self) -> Vec<usize> {
        let open = self.sources.iter().enumerate().filter(|(i, s)| s.identity.1 && self.is_free(*i));
        open.map(|(i, _)| i).collect()
    }

    fn open_destinations(&self) -> Vec<usize> {
        let open = self.destinations.iter().enumerate();
        open.filter(|(i, d)| d.identity.1 && !self.found.contains_key(i)).map(|(i, _)| i).collect()
    }

    /// Of the pairs that share a source, the last one is the rename and the others are copies.
    fn finish(self) -> Vec<Pair> {
        let mut left = self.used.clone();
        let mut pairs = Vec::new();
        for (&destination, &(source, score)) in &self.found {
            let kept = self.sources.get(source).is_some_and(|s| s.kept);
            let remaining = left.entry(source).or_default();
            *remaining = remaining.saturating_sub(1);
            let similarity = u8::try_from(score * 100 / FULL).unwrap_or(100);
            pairs.push(Pair { source, destination, similarity, copy: kept || *remaining > 0 });
        }
        pairs
    }
}

fn unique_names<'a>(files: impl Iterator<Item = (&'a Path, usize)>) -> BTreeMap<&'a OsStr, usize> {
    let (mut names, mut repeated) = (BTreeMap::new(), BTreeSet::new());
    for (path, file) in files {
        let Some(name) = path.file_name() else { continue };
        if names.insert(name, file).is_some() {
            repeated.insert(name);
        }
    }
    names.retain(|name, _| !repeated.contains(name));
    names
}

/// A file's size and the bytes of each distinct piece, by hash.
struct Print {
    size: u64,
    pieces: HashMap<u64, u64>,
}

/// Fingerprints, made once a file.
struct Prints<'a> {
    sources: &'a [Candidate<'a>],
    destinations: &'a [Candidate<'a>],
    content: &'a Reader<'a>,
    old: HashMap<usize, Option<Print>>,
    new: HashMap<usize, Option<Print>>,
}

impl Prints<'_> {
    fn same_name(&self, source: usize, destination: usize) -> bool {
        match (self.sources.get(source), self.destinations.get(destination)) {
            (Some(a), Some(b)) => a.path.file_name() == b.path.file_name(),
            _ => false,
        }
    }

    /// Returns the similarity; 0 stands for anything that cannot reach `least`.
    fn similarity(&mut self, source: usize, destination: usize, least: u64) -> u64 {
        let content = self.content;
        let (sources, destinations) = (self.sources, self.destinations);
        let old = self
            .old
            .entry(source)
            .or_insert_with(|| Some(fingerprint(&content(sources.get(source)?, true)?)));
        let new = self
            .new
            .entry(destination)
            .or_insert_with(|| Some(fingerprint(&content(destinations.get(destination)?, false)?)));
        let (Some(old), Some(new)) = (old, new) else { return 0 };
        let larger = old.size.max(new.size);
        if larger == 0 || larger * (FULL - least) < old.size.abs_diff(new.size) * FULL {
            return 0;
        }
        let shared: u64 =
            old.pieces.iter().map(|(hash, bytes)| new.pieces.get(hash).map_or(0, |b| *b.min(bytes))).sum();
        shared * FULL / larger
    }
}

fn fingerprint(bytes: &[u8]) -> Print {
    let text = !is_binary(bytes);
    let mut pieces: HashMap<u64, u64> = HashMap::new();
    let mut piece: Vec<u8> = Vec::with_capacity(64);
    let mut add = |piece: &mut Vec<u8>| {
        let mut hasher = DefaultHasher::new();
        piece.hash(&mut hasher);
        *pieces.entry(hasher.finish()).or_default() += piece.len() as u64;
        piece.clear();
    };
    let mut rest = bytes.iter().peekable();
    while let Some(&byte) = rest.next() {
        // A line that only changed its end is the same line.
        if text && byte == b'\r' && rest.peek() == Some(&&b'\n') {
            continue;
        }
        piece.push(byte);
        if byte == b'\n' || piece.len() == 64 {
            add(&mut piece);
        }
    }
    if !piece.is_empty() {
        add(&mut piece);
    }
    Print { size: bytes.len() as u64, pieces }
}

/// Returns whether git takes this for a binary file: a NUL among the first 8000 bytes.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8000).any(|&b| b == 0)
}
