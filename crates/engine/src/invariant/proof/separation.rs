//! Facts for memory whose parts do not overlap (`docs/design/machine-semantics.md`: aliasing
//! assumptions are listed).
//!
//! A term is exact: a load after a write through another pointer stays open, since the two may lead to
//! the same bytes. What a reader of C expects is the value for pointers that lead to different
//! objects, and indices that stay inside their arrays. Here a term is rebuilt under such
//! assumptions, and those that were used are named with the fact: `\separated(p, q)`,
//! `in-bounds(r->buf)`.

use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::proof::regions::{ByTypes, LoopFrames, Regions, Written};
use crate::ir::{App, Callee, Expr, Instr, Leaf, Term, TermId};
use crate::mvicfg::{ClassId, ClassSet, MvId};
use crate::semantics::c_text::{self, Naming};
use crate::semantics::frames::Frames;
use crate::semantics::{Place, library};
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Assumptions of one fact; what needs more is left as it is.
const MAX_ASSUMPTIONS: usize = 6;
/// Terms of a value that is looked at.
const MAX_TERMS: usize = 2000;

impl FunctionAnalysis<'_> {
    /// Returns a term of a class for memory without overlaps, and the assumptions that this took: none
    /// when the term does not depend on them.
    pub(in crate::invariant) fn separated(
        &mut self,
        class: ClassId,
        term: TermId,
    ) -> (TermId, BTreeSet<String>) {
        let nothing = (term, BTreeSet::new());
        if self.task.options.aliases || !self.is_blurred(term) {
            return nothing;
        }
        let Some(regions) = self.regions(class) else { return nothing };
        let separation = Rc::new(ByTypes {
            regions,
            frames: RefCell::default(),
            loops: self.loop_frames(class),
            used: RefCell::default(),
        });
        let clear = self.e.pool.separated(term, separation.clone());
        let used = separation.used.take();
        if clear == term || used.len() > MAX_ASSUMPTIONS { nothing } else { (clear, used) }
    }

    /// What is known of the regions of a class, under the names that its values have at the point.
    fn regions(&mut self, class: ClassId) -> Option<Rc<Regions>> {
        let naming = self.namings.get(class.index())?;
        let is_current = |r: &&Rc<Regions>| {
            (r.naming.old_memory, r.naming.max_len) == (naming.old_memory, naming.max_len)
                && r.naming.old_params == naming.old_params
                && r.naming.types == naming.types
        };
        if let Some(known) = self.classes.regions.get(&class).filter(is_current) {
            return Some(known.clone());
        }
        let naming = Naming {
            unit: None,
            types: naming.types.clone(),
            names: Rc::default(),
            old_params: naming.old_params.clone(),
            old_memory: naming.old_memory,
            loops: BTreeMap::new(),
            whole: naming.whole,
            max_len: naming.max_len,
            ..Naming::default()
        };
        let unit = self.task.units[class].clone();
        let regions = Rc::new(Regions { unit, naming, extents: RefCell::default() });
        self.classes.regions.insert(class, regions.clone());
        Some(regions)
    }

    /// What the loops of a class write in common memory, by their hashes; nothing for those of which it
    /// is not known.
    fn loop_frames(&mut self, class: ClassId) -> Rc<LoopFrames> {
        if let Some(known) = self.classes.loop_frames.get(&class) {
            return known.clone();
        }
        // While it is being found out, nothing is known.
        self.classes.loop_frames.insert(class, Rc::default());
        let mut found = LoopFrames::default();
        for l in self.e.flow.classes[class].loops.clone() {
            let Some(hash) = self.e.loop_hash(class, l.head) else { continue };
            let written = self.written_in(class, l.body.iter().copied().collect());
            match found.entry(hash) {
                // Equal loops may start from other values.
                Entry::Occupied(mut e) => _ = e.insert(None),
                Entry::Vacant(e) => _ = e.insert(written),
            }
        }
        let found = Rc::new(found);
        self.classes.loop_frames.insert(class, found.clone());
        found
    }

    fn written_in(&mut self, class: ClassId, nodes: Vec<MvId>) -> Option<Written> {
        let graph = self.task.graph;
        let unit = self.task.units[class].clone();
        let body = graph.bodies[class].clone();
        let single = ClassSet::single(class);
        let (mut written, mut frames) = (Written::default(), Frames::new());
        let naming = Naming::of_function(&unit, &body);
        for node in nodes {
            if !self.e.places.writes[node.0 as usize].contains(&Place::Memory) {
                continue;
            }
            let origin = graph.origin(node, class)?;
            // Instructions of the class's own body: their variables have types.
            let mut targets: Vec<(Expr, Expr, Option<u64>)> = Vec::new();
            match (&graph.node(node).instr, &body.node(origin).instr) {
                (Instr::Store { addr, access, .. }, Instr::Store { addr: own, .. }) => {
                    targets.push((addr.clone(), own.clone(), Some(access.bytes)));
                }
                (Instr::Copy { dst, bytes, .. }, Instr::Copy { dst: own, .. })
                | (Instr::Zero { dst, bytes }, Instr::Zero { dst: own, .. }) => {
                    targets.push((dst.clone(), own.clone(), Some(*bytes)));
                }
                // Where an aggregate result goes is written, too.
                (Instr::Call { result_to: Some(_), .. }, _) => return None,
                (Instr::Call { callee: Callee::Direct(name), args, .. }, Instr::Call { args: own, .. }) => {
                    match library::row_of_call(&unit, name, args) {
                        _ if unit.callee(name).is_some() => written.frame.join(&frames.of(&unit, name)),
                        Some(row) => {
                            let args = args.iter().zip(own).enumerate();
                            let args = args.filter(|(k, (_, own))| row.writes_through(*k, own));
                            targets.extend(args.map(|(_, (a, b))| (a.clone(), b.clone(), None)));
                        }
                        None => return None,
                    }
                }
                _ => return None,
            }
            for (addr, own, bytes) in targets {
                let (_, at) = self.e.expr(&addr, node, &single).into_iter().next()?;
                let extent = c_text::extent(&self.e.pool, at.term, bytes.unwrap_or(0), &naming);
                match extent.filter(|x| self.is_stable(x.base)) {
                    Some(x) => written.at.push(x),
                    None => written.frame.add_write(&unit, &body, &own, bytes),
                }
            }
        }
        (!written.frame.anything).then_some(written)
    }

    /// Whether a term reads memory that something was written to.
    fn is_blurred(&self, term: TermId) -> bool {
        let pool = &self.e.pool;
        let parts = pool.reachable(&[term]);
        let written = |m: TermId| !matches!(pool.get(m), Term::Leaf(Leaf::Memory | Leaf::Param { .. }));
        parts.len() <= MAX_TERMS
            && parts.iter().any(|&t| match pool.get(t) {
                Term::App(App::Load { .. }, args) => args.first().is_some_and(|m| written(*m)),
                _ => false,
            })
    }
}
