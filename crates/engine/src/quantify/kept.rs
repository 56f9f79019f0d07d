//! A version's tree as it is kept from run to run.
//!
//! Kept is the shape of the tree, the answers that it got, and the inputs that were counted for each path. The
//! terms come back when the tree is followed with those answers: nothing is asked, and nothing is counted.

use super::input::{Candidate, followed};
use super::output::Output;
use super::pairing::Code;
use super::paths::{End, Explored, Limits};
use super::stretches::{Leaf, Stretch, Stretches};
use crate::count::Input;
use crate::ir::{Expr, Function, Instr, Object, Unit, VarId};
use crate::mvicfg::key::{self, Names};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Where trees are kept; what cannot be kept or found is explored again.
pub trait Keeper: Sync {
    /// What was kept under these parts.
    fn get(&self, parts: &[String]) -> Option<Vec<u8>>;
    fn put(&self, parts: &[String], value: &[u8]);
}

/// Keeps nothing.
pub struct Nowhere;

impl Keeper for Nowhere {
    fn get(&self, _: &[String]) -> Option<Vec<u8>> {
        None
    }

    fn put(&self, _: &[String], _: &[u8]) {}
}

#[derive(Serialize, Deserialize)]
struct KeptTree {
    /// The inputs over which paths were counted.
    counted_over: String,
    #[serde(default)]
    is_by_input: bool,
    stretches: Vec<KeptStretch>,
}

/// Children, answers (`+` and `-`), and the inputs of the path that ends there (`?`: they are not known).
#[derive(Serialize, Deserialize)]
struct KeptStretch(Vec<u32>, String, Option<String>);

/// A tree as bytes; `None`: a bound cut it.
pub fn encoded(explored: &Explored) -> Option<Vec<u8>> {
    let count = |leaf: &Leaf| leaf.count.map_or_else(|| "?".to_owned(), |n| n.to_string());
    let stretch = |s: &Stretch| {
        let answers = s.answers.iter().map(|a| if *a { '+' } else { '-' }).collect();
        KeptStretch(s.children.clone(), answers, s.leaf.as_ref().map(count))
    };
    let stretches = explored.tree.stretches.iter().map(stretch).collect();
    let (counted_over, is_by_input) = (explored.counted_over.clone(), explored.is_by_input);
    let kept = KeptTree { counted_over, is_by_input, stretches };
    (!explored.is_cut).then(|| serde_json::to_vec(&kept).ok()).flatten()
}

/// A tree to be followed.
pub struct Known {
    pub tree: Stretches,
    /// What its paths were counted over.
    pub counted_over: String,
    /// It has just the paths that inputs take, as [`Explored::is_by_input`] says.
    pub is_by_input: bool,
}

/// The tree of some bytes.
pub fn decoded(bytes: &[u8]) -> Option<Known> {
    let kept: KeptTree = serde_json::from_slice(bytes).ok()?;
    let stretch = |s: KeptStretch| {
        let leaf = |count: String| Leaf {
            end: End::Return(None),
            at: None,
            stdout: Output::default(),
            stderr: Output::default(),
            written: Default::default(),
            count: count.parse().ok(),
        };
        let answers = s.1.chars().map(|c| c == '+').collect();
        Stretch { children: s.0, answers, leaf: s.2.map(leaf), ..Stretch::default() }
    };
    let stretches = kept.stretches.into_iter().map(stretch).collect();
    let tree = Stretches { functions: Vec::new(), stretches };
    Some(Known { tree, counted_over: kept.counted_over, is_by_input: kept.is_by_input })
}

/// What a tree depends on: the code that is followed, what it names, the inputs' ranges, the bounds.
pub fn parts(side: Code, inputs: &[Input], limits: &Limits) -> Vec<String> {
    let functions = followed(side.function, side.unit);
    let mut parts: Vec<String> = functions.iter().map(|f| spelled(f)).collect();
    let mut globals: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut named = |e: &Expr| {
        e.for_each(&mut |e| {
            if let Expr::Addr(Object::Global(symbol)) = e {
                globals.insert(symbol.clone());
            }
        })
    };
    functions.iter().flat_map(|f| &f.nodes).for_each(|node| node.instr.for_each_operand(&mut named));
    parts.extend(globals.iter().map(|symbol| content(side.unit, symbol)));
    let defined = |f: &&Function| {
        f.nodes
            .iter()
            .filter_map(|n| match &n.instr {
                Instr::Call { callee: crate::ir::Callee::Direct(name), .. } => Some(format!(
                    "{name} {} {}",
                    side.unit.callee(name).is_some(),
                    side.unit.meant(name).is_some()
                )),
                _ => None,
            })
            .collect::<BTreeSet<String>>()
    };
    parts.extend(functions.iter().map(|f| format!("{:?}", defined(f))));
    let domain = |c: &Candidate| {
        let input = inputs.iter().find(|i| i.term == c.term);
        format!(
            "{} {:?} {:?} {:?}",
            c.name,
            c.global,
            c.byte,
            input.map(|i| (i.range, &i.values, &i.weights))
        )
    };
    parts.extend(side.candidates.iter().map(domain));
    parts.push(format!("{:?} {limits:?} {:?}", side.unit.data_model, side.aim.map(|aim| &aim.target)));
    parts
}

/// A global as far as a path depends on it.
fn content(unit: &Unit, symbol: &Arc<str>) -> String {
    let of = unit.global(symbol).map(|g| (g.size, g.linkage, g.is_known_constant(), &g.init));
    let aliases: Vec<_> = unit.aliases.iter().filter(|a| a.name == *symbol || a.target == *symbol).collect();
    format!("{symbol} {of:?} {aliases:?}")
}

/// A function without its lines.
fn spelled(f: &Function) -> String {
    let names = ByNumber(f);
    let mut out = format!("{} {:?} {} {}", f.name, f.ret, f.variadic, f.unknowns.is_empty());
    f.params.iter().for_each(|p| names.var(&mut out, *p));
    for node in &f.nodes {
        out.push('\n');
        key::instr(&mut out, &node.instr, &names);
        let _ = write!(out, " => {:?}", node.succs);
    }
    out
}

/// Spells variables by number and name.
struct ByNumber<'a>(&'a Function);

impl Names for ByNumber<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let v = self.0.var(var);
        let _ = write!(out, "{}:{}#{}:{:?} {} {}", var.0, v.name, v.ordinal, v.sort, v.in_memory, v.size);
    }
}
