//! How the paths of a version come: from the tree that an earlier run kept, with what an older version of the
//! range has of it, or anew.

use super::{Choice, Inputs, since};
use crate::analysis::lineage::Lineage;
use crate::count::{Counter, Questions};
use crate::ir::TermPool;
use crate::mvicfg::VersionId;
use crate::quantify::{
    Aim, Bounded, Candidate, Code, Explored, Explorer, Inputs as Asked, Keeper, Known, Limits, Memo, Pairing,
    Start, Ways, decoded, parts,
};
use std::collections::BTreeMap;

/// The paths of all versions.
pub(super) struct Explorations {
    pub explored: Vec<Option<Explored>>,
    /// What was asked for each.
    pub asked: Vec<Questions>,
    /// Where the trees are to be kept that were not.
    pub kept_under: Vec<Option<Vec<String>>>,
    /// Some tree was kept.
    pub is_known: bool,
}

/// Explores all versions of a function.
pub(super) fn all(
    l: &Lineage,
    choice: &Choice,
    inputs: &Inputs,
    aims: &[Option<Aim>],
    pool: &mut TermPool,
    keeper: &dyn Keeper,
) -> Explorations {
    // Answers serve all versions.
    let mut looking = Counter::new(inputs.domain(choice));
    let mut all =
        Explorations { explored: Vec::new(), asked: Vec::new(), kept_under: Vec::new(), is_known: false };
    for (v, (m, own)) in l.members.iter().zip(&inputs.by_version).enumerate() {
        let before = looking.questions();
        let (found, under) = match (m, own) {
            (Some(m), Some(own)) => {
                let aim = aims.get(v).and_then(Option::as_ref);
                let code = Code { function: &m.function, unit: &m.unit, candidates: own, aim };
                let under = parts(code, &looking.domain().inputs, &choice.limits);
                let older = older(l, inputs, aims, &all.explored);
                match keeper.get(&under).and_then(|bytes| decoded(&bytes)) {
                    Some(kept) => (Some(follow(code, &kept, pool, &mut looking, choice.limits)), None),
                    None => (Some(explore(code, older, pool, &mut looking, choice.limits)), Some(under)),
                }
            }
            _ => (None, None),
        };
        all.is_known |= found.is_some() && under.is_none();
        all.explored.push(found);
        all.kept_under.push(under);
        all.asked.push(since(before, looking.questions()));
    }
    all
}

/// The newest version that was explored, with its tree.
fn older<'a>(
    l: &'a Lineage,
    inputs: &'a Inputs,
    aims: &'a [Option<Aim>],
    explored: &'a [Option<Explored>],
) -> Option<(Code<'a>, &'a Explored)> {
    let (v, found) = VersionId::each(explored).rev().find_map(|(v, e)| Some((v, e.as_ref()?)))?;
    let (m, candidates) = (l.members[v].as_ref()?, inputs.by_version[v].as_ref()?);
    let aim = aims[v].as_ref();
    Some((Code { function: &m.function, unit: &m.unit, candidates, aim }, found))
}

/// Follows a version's tree that was kept.
fn follow(code: Code, known: &Known, pool: &mut TermPool, counter: &mut Counter, limits: Limits) -> Explored {
    let found = explored(code, Some(&Memo::same(&known.tree)), pool, counter, limits);
    Explored { counted_over: known.counted_over.clone(), is_by_input: known.is_by_input, ..found }
}

/// Explores a version, with what an older one has of its tree. Where a bound is met, nothing is taken over: what is found
/// does not depend on what was known. Where it is met with few inputs, their ways say what there is to follow.
fn explore(
    code: Code,
    older: Option<(Code, &Explored)>,
    pool: &mut TermPool,
    counter: &mut Counter,
    limits: Limits,
) -> Explored {
    if let Some((old, before)) = older.filter(|(_, before)| !before.is_cut && !before.is_by_input) {
        let pairing = Pairing::of(old, code);
        let place = |c: &Candidate| code.candidates.iter().position(|d| c == d)?.try_into().ok();
        let memo = Memo::new(&before.tree, &pairing, old.candidates.iter().map(place).collect());
        let found = explored(code, Some(&memo), pool, counter, limits);
        let is_below = found.tree.steps() <= limits.all_steps && found.paths.len() < limits.paths;
        if !found.is_cut && is_below {
            return Explored { counted_over: before.counted_over.clone(), ..found };
        }
    }
    let found = explored(code, None, pool, counter, limits);
    if !found.is_cut {
        return found;
    }
    let mut follow = |pool: &mut TermPool, inputs: &mut dyn Asked| followed(code, None, pool, inputs, limits);
    match Ways::of(pool, counter, limits, &mut follow) {
        Some(mut ways) => Explored { is_by_input: true, ..followed(code, None, pool, &mut ways, limits) },
        None => found,
    }
}

fn explored(
    code: Code,
    memo: Option<&Memo>,
    pool: &mut TermPool,
    counter: &mut Counter,
    limits: Limits,
) -> Explored {
    followed(code, memo, pool, &mut Bounded::new(counter, limits.work), limits)
}

/// Follows what some inputs may take.
fn followed(
    code: Code,
    memo: Option<&Memo>,
    pool: &mut TermPool,
    inputs: &mut dyn Asked,
    limits: Limits,
) -> Explored {
    let nothing = BTreeMap::new();
    let start = Start { candidates: code.candidates, contents: &nothing, is_initial: false, conditions: &[] };
    let explorer = Explorer::new(code.function, code.unit, pool, start, inputs, limits).toward(code.aim);
    match memo {
        Some(memo) => explorer.with(memo).explore(),
        None => explorer.explore(),
    }
}
