//! The trees of a function's versions, each beside those of its neighbours.

use super::words::naming;
use super::{Counted, Lineage};
use crate::count::{Count, Counter};
use crate::ir::{TermId, TermPool};
use crate::mvicfg::VersionId;
use crate::quantify::tree::{Maker, affected};
use crate::quantify::{Explored, Lines, Path, Trie};

/// Work of counts that a tree needs beside those of its paths.
const WORK: u64 = 200_000;

/// The paths of a version with their inputs, which were counted before.
pub(super) fn trie(explored: &Explored, pool: &TermPool, counter: &mut Counter) -> Trie {
    Trie::of(explored, &mut |p| p.count.or_else(|| counted(counter, pool, &p.conditions, &mut 0)))
}

fn counted(counter: &mut Counter, pool: &TermPool, conditions: &[TermId], work: &mut u64) -> Option<i128> {
    match counter.count(pool, conditions, work) {
        Count::Exact(n) => Some(n),
        _ => None,
    }
}

/// Makes the trees of all versions. `lines`: of each step.
pub(super) fn add(
    versions: &mut [Option<Counted>],
    explored: &[Option<Explored>],
    l: &Lineage,
    lines: &[Lines],
    limit: usize,
    pool: &mut TermPool,
    counter: &mut Counter,
) {
    let tries: Vec<Option<Trie>> =
        explored.iter().map(|e| e.as_ref().map(|e| trie(e, pool, counter))).collect();
    for (v, counted_version) in VersionId::first(versions.len()).zip(versions) {
        let (Some(counted_version), Some((own, trie)), Some(m)) =
            (counted_version, pair(explored, &tries, v), &l.members[v])
        else {
            continue;
        };
        let before = v.previous();
        let neighbours = [before, Some(v.next())];
        let others: Vec<(&Explored, &Trie)> =
            neighbours.into_iter().flatten().filter_map(|w| pair(explored, &tries, w)).collect();
        let comes = |p: &Path| {
            let to = before.and_then(|w| lines.get(w.index())).is_some_and(|l| !p.lines.is_disjoint(&l.new));
            to || lines.get(v.index()).is_some_and(|l| !p.lines.is_disjoint(&l.old))
        };
        let affected = affected(own, trie, &others, &comes);
        let naming = naming(m, pool);
        let size = counted_version.totals.size;
        let maker = Maker {
            explored: own,
            trie,
            affected: &affected,
            naming: &naming,
            ty: &m.function.ret,
            size,
            limit,
        };
        let mut work = WORK;
        counted_version.tree =
            Some(maker.tree(pool, &mut |pool, met| counted(counter, pool, met, &mut work)));
    }
}

fn pair<'a>(
    explored: &'a [Option<Explored>],
    tries: &'a [Option<Trie>],
    v: VersionId,
) -> Option<(&'a Explored, &'a Trie)> {
    Some((explored.get(v.index())?.as_ref()?, tries.get(v.index())?.as_ref()?))
}
