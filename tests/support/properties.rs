//! Two versions of a function and their assertions, as the examples of the iProperty paper need them.

use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::Program;
use git_invdiff::ir::{Function, Op, TermId, TermPool, Unit};
use git_invdiff::property::{Comparison, Options, Version, compare};
use git_invdiff::smt;
use git_invdiff::symex::Limits;
use std::path::Path;
use std::sync::Arc;

/// A version's unit and its function `f`, or the one that it has.
pub fn load(text: &str) -> (Arc<Unit>, Arc<Function>) {
    let tree = MemoryTree::new([("a.c", text)]);
    let loaded = frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).expect("C");
    let named = loaded.unit.functions.iter().find(|f| &*f.name == "f");
    let f = named.or(loaded.unit.functions.first()).expect("a function").clone();
    (Arc::new(loaded.unit), f)
}

/// Every parameter is between these bounds.
pub fn bounded(pool: &mut TermPool, f: &Function, least: i128, most: i128) -> Vec<TermId> {
    let mut all = Vec::new();
    for p in &f.params {
        let var = f.var(*p);
        let (Some(sort), name) = (var.sort, var.name.clone()) else { continue };
        let x = pool.leaf(git_invdiff::ir::Leaf::Param { name, sort });
        let (a, b) = (pool.bv(32, least), pool.bv(32, most));
        all.push(pool.op(Op::Sle, &[a, x]));
        all.push(pool.op(Op::Sle, &[x, b]));
    }
    all
}

/// Compares two versions. `bound`: of all parameters, without their signs. `compare_full`: whether all of the newer
/// version is checked, too.
pub fn compared(old: &str, new: &str, bound: Option<i128>, compare_full: bool) -> Comparison {
    let ((old_unit, old), (new_unit, new)) = (load(old), load(new));
    let link = |unit: Arc<Unit>| Program::new(vec![unit]);
    let options = Options {
        solver: smt::Limits { rlimit: 2_000_000, pointer_bits: 64 },
        // The loops of the data structures are followed to their ends.
        limits: Limits { unroll: 40, queries: 20_000, ..Limits::default() },
        is_covered: &|_, _| false,
        compare_full,
    };
    let requires = |pool: &mut TermPool, f: &Function, _: &Unit| match bound {
        Some(b) => bounded(pool, f, -b, b),
        None => Vec::new(),
    };
    compare(
        Version { body: &old, written: &old, unit: &old_unit, link: &link },
        Version { body: &new, written: &new, unit: &new_unit, link: &link },
        &requires,
        &options,
        None,
    )
    .expect("assertions")
}

/// Bound of the sides of triangles: sums do not overflow.
pub const BOUND: i128 = 10_000;

/// Version `k` of a data structure: without what later versions add.
pub fn version(text: &str, k: usize) -> String {
    let later = (k + 1..=5).filter_map(|v| text.find(&format!("    /* V{v}:"))).min();
    let end = text.find("    return ").expect("an end");
    format!("{}{}", &text[..later.unwrap_or(end)], &text[end..])
}

/// A data structure of the fixtures.
pub fn structure(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/property").join(name);
    std::fs::read_to_string(path).expect("the fixture")
}
