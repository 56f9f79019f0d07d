//! Static locals of functions that get another name: their symbols have the function's name in them, and
//! an older version gets the newest one's, so that they are the same objects in all versions.

use super::lineage::VersionFiles;
use super::units::{LoadedUnit, Units};
use crate::ir::{Expr, Function, Global, InitPiece, Instr, Object, Unit};
use crate::mvicfg::{key, positions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Functions by the names that they get.
type Renames = BTreeMap<Arc<str>, Arc<str>>;

/// Gives static locals of renamed functions the symbols that they have in the newest version. Cost: hashes
/// of functions that come or go and have static locals.
pub(super) fn align(files: &mut [VersionFiles], units: &Units) {
    for v in (1..files.len()).rev() {
        let (older, newer) = files.split_at_mut(v);
        let (Some(older), Some(newer)) = (older.last_mut(), newer.first()) else { continue };
        for (old, new) in older.iter_mut().zip(newer) {
            let (Some((_, Ok(old))), Some((_, Ok(new)))) = (old, new) else { continue };
            if Arc::ptr_eq(old, new) {
                continue;
            }
            let renames = renames(&old.unit, &new.unit);
            if !renames.is_empty() {
                *old = Arc::new(renamed(old, &renames, units));
            }
        }
    }
}

/// The functions of one unit that another one lacks and that have static locals.
fn gone<'u>(unit: &'u Unit, other: &Unit) -> Vec<&'u Function> {
    let goes = |f: &&Function| other.function(&f.name).is_none() && statics(unit, f).next().is_some();
    unit.functions.iter().map(|f| &**f).filter(goes).collect()
}

fn statics<'u>(unit: &'u Unit, f: &'u Function) -> impl Iterator<Item = &'u Global> {
    unit.globals.iter().filter(|g| tail(&g.symbol, &f.name).is_some())
}

/// What a static local is called inside of its function.
fn tail<'s>(symbol: &'s str, function: &str) -> Option<&'s str> {
    symbol.strip_prefix(function)?.strip_prefix('.')
}

fn renames(old: &Unit, new: &Unit) -> Renames {
    let (before, after) = (gone(old, new), gone(new, old));
    let mut found = Renames::new();
    if before.is_empty() || after.is_empty() {
        return found;
    }
    let mut by_text: BTreeMap<String, Vec<Arc<str>>> = BTreeMap::new();
    for f in after {
        by_text.entry(text(new, f)).or_default().push(f.name.clone());
    }
    let mut taken = BTreeSet::new();
    for f in before {
        // Of several that are alike, nobody knows which is which.
        if let Some([name]) = by_text.get(&text(old, f)).map(Vec::as_slice)
            && taken.insert(name.clone())
        {
            found.insert(f.name.clone(), name.clone());
        }
    }
    found
}

/// A function with its static locals, without its own name.
fn text(unit: &Unit, f: &Function) -> String {
    let own = Renames::from([(f.name.clone(), "\\self".into())]);
    let mut body = f.clone();
    body.nodes.iter_mut().for_each(|n| rename_in(&mut n.instr, &own));
    let mut text = key::body_and_callees(&body, positions::are_compared(&body)).0;
    for g in statics(unit, f) {
        text.push_str(&format!(" {:?} {} {:?}", tail(&g.symbol, &f.name), g.size, g.init));
    }
    text
}

fn renamed(old: &LoadedUnit, renames: &Renames, units: &Units) -> LoadedUnit {
    let mut unit = (*old.unit).clone();
    for f in &mut unit.functions {
        Arc::make_mut(f).nodes.iter_mut().for_each(|n| rename_in(&mut n.instr, renames));
    }
    for g in &mut unit.globals {
        rename(&mut g.symbol, renames);
        for piece in &mut g.init {
            if let InitPiece::Address { symbol, .. } = piece {
                rename(symbol, renames);
            }
        }
    }
    // They name globals.
    (unit.answers.exposed, unit.answers.named, unit.answers.counts) = Default::default();
    units.again(unit)
}

fn rename_in(instr: &mut Instr, renames: &Renames) {
    instr.for_each_operand_mut(&mut |e| rename_expr(e, renames));
}

fn rename_expr(e: &mut Expr, renames: &Renames) {
    match e {
        Expr::Addr(Object::Global(symbol)) => rename(symbol, renames),
        Expr::Op { args, .. } => args.iter_mut().for_each(|a| rename_expr(a, renames)),
        _ => {}
    }
}

fn rename(symbol: &mut Arc<str>, renames: &Renames) {
    if let Some((function, rest)) = symbol.split_once('.')
        && let Some(new) = renames.get(function)
    {
        *symbol = format!("{new}.{rest}").into();
    }
}
