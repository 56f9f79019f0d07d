//! What is kept of a version of a function from run to run: which of its assertions hold, and what was asked on the
//! way, with the answers: path conditions with inputs that take them, and inputs on which assertions fail.
//!
//! It is kept under what it follows from: the function as it is analysed and all that it leads to, what is taken for
//! granted, the limits, and the versions of this program and of its solver. Where the function stands plays no part.
//! What cannot be read is as good as nothing.
//!
//! That an assertion holds is taken as it was found. That one fails is found again, from answers that are known.

use super::{Options, Version};
use crate::ir::{Function, TermId, TermPool, VarId};
use crate::mvicfg::key::{self, Names};
use crate::quantify::Keeper;
use crate::smt;
use crate::symex::{Answers, Entry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Version of what is written.
const FORMAT: u32 = 1;

/// Where outcomes are kept, and for which versions.
#[derive(Clone, Copy)]
pub struct Keeping<'a> {
    pub keeper: &'a dyn Keeper,
    /// By version: a text that is another one whenever the function or anything that it leads to is.
    pub around: [&'a str; 2],
}

/// What is known of a version.
#[derive(Default)]
pub(super) struct VersionKnowledge {
    /// Assertions that hold, by their numbers.
    pub holds: BTreeSet<usize>,
    pub answers: Answers,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u32,
    /// How many assertions there are.
    sites: usize,
    holds: BTreeSet<usize>,
    answers: Vec<Entry>,
}

/// What the outcomes of a version follow from.
pub(super) fn parts(
    version: Version,
    around: &str,
    pool: &TermPool,
    requires: &[TermId],
    options: &Options,
) -> Vec<String> {
    vec![
        "outcomes".into(),
        smt::z3_version(),
        around.into(),
        spelled(version.body),
        format!("{:?}", version.unit.data_model),
        requires.iter().map(|r| written(pool, *r)).collect::<Vec<_>>().join("\n"),
        format!("{:?} {:?}", options.solver, options.limits),
    ]
}

/// Reads what is kept of a version that has so many assertions.
pub(super) fn read(keeper: &dyn Keeper, parts: &[String], sites: usize) -> Option<VersionKnowledge> {
    let written: Written = serde_json::from_slice(&keeper.get(parts)?).ok()?;
    let fits = written.format == FORMAT && written.sites == sites && written.holds.iter().all(|h| *h < sites);
    let answers = Answers::of(&written.answers).filter(|_| fits)?;
    Some(VersionKnowledge { holds: written.holds, answers })
}

pub(super) fn write(
    keeper: &dyn Keeper,
    parts: &[String],
    sites: usize,
    holds: BTreeSet<usize>,
    answers: &Answers,
) {
    let written = Written { format: FORMAT, sites, holds, answers: answers.entries() };
    if let Ok(bytes) = serde_json::to_vec(&written) {
        keeper.put(parts, &bytes);
    }
}

/// A term as text, part by part.
fn written(pool: &TermPool, term: TermId) -> String {
    let parts = pool.reachable(&[term]);
    let of = |t: &TermId| parts.iter().position(|p| p == t);
    let part = |t: &TermId| {
        let args: Vec<Option<usize>> = pool.args(*t).iter().map(of).collect();
        match pool.get(*t) {
            crate::ir::Term::App(app, _) => format!("{app:?} {args:?}"),
            other => format!("{other:?}"),
        }
    };
    parts.iter().map(part).collect::<Vec<_>>().join("; ")
}

/// A function without its lines, with the texts of assertions that cannot fail.
fn spelled(f: &Function) -> String {
    let names = ByNumber(f);
    let mut out = format!("{} {:?} {}", f.name, f.ret, f.variadic);
    f.params.iter().for_each(|p| names.var(&mut out, *p));
    for node in &f.nodes {
        out.push('\n');
        key::instr(&mut out, &node.instr, &names);
        let _ = write!(out, " => {:?} {}", node.succs, node.stmt.0);
    }
    for settled in &f.settled {
        let _ = write!(out, "\n{} {}", settled.text, settled.compiled_out);
    }
    out
}

/// Spells variables by number and name.
struct ByNumber<'a>(&'a Function);

impl Names for ByNumber<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let v = self.0.var(var);
        let _ = write!(
            out,
            "{}:{}#{}:{:?} {} {} {:?}",
            var.0, v.name, v.ordinal, v.sort, v.in_memory, v.size, v.ty
        );
    }
}
