//! Names of variables by which the versions of a function speak of the same thing.
//!
//! Any names will do, as long as no two variables of one version share one: where the choice is bad,
//! variables pass for changed. Parameters go by place, other variables by name; those that are left on
//! either side are paired in order, so that a renamed local is found again. A temporary goes by its
//! number, since none outlives its statement: its name means the last one written.

use crate::ir::{Function, Var, VarId, VarKind};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the names of a function's variables; `other` is the old version, when this is the new one.
pub(super) fn names(f: &Function, other: Option<&Function>) -> Vec<String> {
    let plain: Vec<String> = (0..f.vars.len()).map(|v| plain_name(f, v)).collect();
    let Some(other) = other else { return plain };
    let old: Vec<String> = (0..other.vars.len()).map(|v| plain_name(other, v)).collect();
    let (mine, theirs): (BTreeSet<&String>, BTreeSet<&String>) =
        (plain.iter().collect(), old.iter().collect());
    let mut left: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for (var, name) in other.vars.iter().zip(&old).rev() {
        if !mine.contains(name) && var.kind == VarKind::Local {
            left.entry(shape(var)).or_default().push(name);
        }
    }
    let renamed = |(var, name): (&Var, &String)| {
        if theirs.contains(name) || var.kind != VarKind::Local {
            return name.clone();
        }
        left.get_mut(&shape(var)).and_then(Vec::pop).unwrap_or(name).clone()
    };
    f.vars.iter().zip(&plain).map(renamed).collect()
}

fn plain_name(f: &Function, v: usize) -> String {
    let var = &f.vars[v];
    let shape = shape(var);
    match f.params.iter().position(|p| *p == VarId(v as u32)) {
        Some(k) => format!("p{k}:{shape}"),
        None if var.kind == VarKind::Temp => format!("{}:{shape}", var.name),
        None => format!("{}#{}:{shape}", var.name, var.ordinal),
    }
}

/// What instructions must agree on to be about the same kind of variable.
fn shape(var: &Var) -> String {
    format!(
        "{:?}{}{}",
        var.sort,
        if var.in_memory { "m" } else { "" },
        if var.in_memory { var.size } else { 0 }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{self, c};
    use crate::history::MemoryTree;

    fn function(source: &str) -> Function {
        let tree = MemoryTree::new([("a.c", source)]);
        let unit =
            frontend::load_unit(&tree, std::path::Path::new("a.c"), &c::Options::default()).unwrap().unit;
        (*unit.functions[0]).clone()
    }

    #[test]
    fn parameters_go_by_place_and_renamed_locals_are_found_again() {
        let old = function("int f(int a, int b) { int s = a, t = b; return s + t; }");
        let new = function("int f(int b, int c) { int s = b, u = c; return s + u; }");
        let (old_names, new_names) = (names(&old, None), names(&new, Some(&old)));
        assert_eq!(old_names, new_names);
        let distinct: BTreeSet<&String> = new_names.iter().filter(|n| !n.starts_with('%')).collect();
        assert_eq!(distinct.len(), 4);
    }
}
