//! Counts of all paths at once: where the domain has few inputs, each of them is run through the tree of paths.

use super::compare::{Comparer, Comparison, Shared};
use super::conditions::Tree;
use super::paths::{End, Explored, Path};
use crate::count::Counter;
use crate::ir::{TermId, TermPool};
use std::collections::BTreeMap;

/// How many inputs take each path, and how many of these meet the condition that it comes with. `None`: there are too
/// many inputs, or it is too much work.
pub(super) fn swept(
    pool: &TermPool,
    counter: &Counter,
    paths: &[(&Path, Option<TermId>)],
    work: &mut u64,
) -> Option<Vec<(i128, i128)>> {
    let tree = Tree::of(paths.iter().map(|(path, _)| &path.conditions));
    let mut roots: Vec<TermId> = paths.iter().flat_map(|(path, _)| &path.conditions).copied().collect();
    roots.extend(paths.iter().filter_map(|(_, met)| *met));
    let mut counts = vec![(0i128, 0i128); paths.len()];
    let mut points = counter.points(pool)?;
    points.terms.add(pool, &roots)?;
    points.each(work, &mut |weight, terms| {
        let Some(k) = tree.taken_by(pool, terms)? else { return Some(()) };
        let ((_, met), (n, of_them)) = (paths.get(k)?, counts.get_mut(k)?);
        *n = n.checked_add(weight)?;
        if let Some(met) = met
            && terms.holds(pool, *met)?
        {
            *of_them = of_them.checked_add(weight)?;
        }
        Some(())
    })?;
    Some(counts)
}

impl Comparer<'_> {
    /// Compares two versions input by input. `None`: there are too many, or it is too much work.
    pub(super) fn swept(&mut self, old: &Explored, new: &Explored) -> Option<Comparison> {
        let counted = |p: &&Path| p.count.is_some_and(|n| n > 0) && !matches!(p.end, End::Grey(_));
        let [before, after] = [old, new].map(|e| e.paths.iter().filter(counted).collect::<Vec<&Path>>());
        let mut work = self.limits.work;
        let (pairs, of_inputs) = self.pairs(&before, &after, &mut work)?;
        let is_program = old.is_program && new.is_program;
        let mut shared: Vec<Shared> = Vec::new();
        for (p, q) in pairs {
            let (p, q) = (*before.get(p)?, *after.get(q)?);
            shared.push(Shared { p, q, by: self.difference(p, q, is_program), n: 0, differing: 0, open: 0 });
        }
        let roots: Vec<TermId> = shared.iter().flat_map(|s| [s.by.differ, s.by.unknown]).collect();
        let mut inputs = of_inputs.into_iter();
        let mut points = self.counter.points(self.pool)?;
        points.terms.add(self.pool, &roots)?;
        let pool = &*self.pool;
        points.each(&mut work, &mut |weight, terms| {
            let Some(pair) = inputs.next()? else { return Some(()) };
            let of = shared.get_mut(pair)?;
            of.n = of.n.checked_add(weight)?;
            match (terms.holds(pool, of.by.differ), terms.holds(pool, of.by.unknown)) {
                (Some(true), _) => of.differing = of.differing.checked_add(weight)?,
                (Some(false), Some(false)) => {}
                _ => of.open = of.open.checked_add(weight)?,
            }
            Some(())
        })?;
        let mut found = Comparison::default();
        shared.into_iter().try_for_each(|s| self.add(s, &mut found))?;
        self.completed(found, old, new)
    }

    /// The pairs of paths that some input takes, and which of them each input takes.
    #[expect(clippy::type_complexity, reason = "two lists that belong together")]
    fn pairs(
        &self,
        before: &[&Path],
        after: &[&Path],
        work: &mut u64,
    ) -> Option<(Vec<(usize, usize)>, Vec<Option<usize>>)> {
        let trees = [before, after].map(|paths| Tree::of(paths.iter().map(|p| &p.conditions)));
        let roots: Vec<TermId> =
            before.iter().chain(after).flat_map(|path| &path.conditions).copied().collect();
        let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut of_inputs = Vec::new();
        let mut points = self.counter.points(self.pool)?;
        points.terms.add(self.pool, &roots)?;
        points.each(work, &mut |_, terms| {
            let [p, q] = &trees;
            let pair = p.taken_by(self.pool, terms)?.zip(q.taken_by(self.pool, terms)?);
            let next = known.len();
            of_inputs.push(pair.map(|pair| *known.entry(pair).or_insert(next)));
            Some(())
        })?;
        let mut pairs: Vec<((usize, usize), usize)> = known.into_iter().collect();
        pairs.sort_by_key(|(_, k)| *k);
        Some((pairs.into_iter().map(|(pair, _)| pair).collect(), of_inputs))
    }
}
