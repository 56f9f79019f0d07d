//! Where the address of a local may have got around: known to memory or to another function.
//!
//! A local whose address has not got around yet no call reads or writes, and no pointer leads there. An address gets
//! around at a *site*, which does anything else with it than to read or to write there, and has done so wherever
//! control comes to from a site (the *escape* of an object, as in: Choi, Gupta, Serrano, Sreedhar, Midkiff: Escape
//! analysis for Java, OOPSLA 1999; here within one function and by its flow).

use crate::ir::{Expr, Instr, Object, Op, VarId};
use crate::mvicfg::{ClassId, IdSet, MvId, Mvicfg};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The sites of one version of a function, and what lies behind them.
pub struct Escapes<'g> {
    graph: &'g Mvicfg,
    class: ClassId,
    sites: BTreeMap<MvId, BTreeSet<VarId>>,
    /// The sites at which a local's address gets around.
    of: BTreeMap<VarId, Vec<MvId>>,
    /// Nodes behind which a local's address may have got around, of those that were asked for.
    behind: RefCell<BTreeMap<VarId, IdSet<MvId>>>,
    /// Locals whose address gets around in the other version alone: what one of them says of a call's memory, the
    /// other says, too.
    elsewhere: BTreeSet<VarId>,
}

impl<'g> Escapes<'g> {
    /// Cost: one pass over the nodes.
    pub fn of(graph: &'g Mvicfg, class: ClassId) -> Escapes<'g> {
        let (sites, of, behind) = (BTreeMap::new(), BTreeMap::new(), RefCell::default());
        let mut found = Escapes { graph, class, sites, of, behind, elsewhere: BTreeSet::new() };
        let others = graph.nodes.iter().filter(|n| !n.classes.contains(class));
        found.elsewhere.extend(others.flat_map(|n| got_around(&n.instr)));
        for (k, n) in graph.nodes.iter().enumerate().filter(|(_, n)| n.classes.contains(class)) {
            let node = MvId(k as u32);
            let around = got_around(&n.instr);
            for v in &around {
                found.of.entry(*v).or_default().push(node);
            }
            if !around.is_empty() {
                found.sites.insert(node, around);
            }
        }
        found.elsewhere.retain(|v| !found.of.contains_key(v));
        found
    }

    /// The locals whose addresses get around at a node.
    pub fn at(&self, node: MvId) -> impl Iterator<Item = VarId> + '_ {
        self.sites.get(&node).into_iter().flatten().copied()
    }

    /// Whether a local's address may have got around once a node was executed, however control came there. Cost: of
    /// the first question about a local a pass over the nodes.
    pub fn is_around_behind(&self, node: MvId, v: VarId) -> bool {
        let Some(sites) = self.of.get(&v) else { return self.elsewhere.contains(&v) };
        let mut known = self.behind.borrow_mut();
        known.entry(v).or_insert_with(|| self.behind(sites)).contains(node)
    }

    /// Some nodes and all that control comes to from them.
    fn behind(&self, sites: &[MvId]) -> IdSet<MvId> {
        let (mut found, mut work) = (IdSet::new(), sites.to_vec());
        while let Some(node) = work.pop() {
            if !found.contains(node) {
                found.insert(node);
                let after = self.graph.node(node).succs.iter().filter(|e| e.classes.contains(self.class));
                work.extend(after.map(|e| e.to));
            }
        }
        found
    }
}

/// The locals whose addresses an instruction does anything else with than to read or to write there.
fn got_around(instr: &Instr) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let mut see = |e: &Expr| {
        e.for_each(&mut |e| {
            if let Expr::Addr(Object::Local(v)) = e {
                found.insert(*v);
            }
        })
    };
    match instr {
        Instr::Load { addr, .. } => see_place(addr, &mut see),
        Instr::Store { addr, value, .. } => {
            see_place(addr, &mut see);
            see(value);
        }
        Instr::Copy { dst, src, .. } => {
            see_place(dst, &mut see);
            see_place(src, &mut see);
        }
        Instr::Zero { dst, .. } => see_place(dst, &mut see),
        _ => instr.for_each_operand(&mut see),
    }
    found
}

/// What of a place that is read or written is not the place itself: an offset.
fn see_place(place: &Expr, see: &mut impl FnMut(&Expr)) {
    match place {
        Expr::Addr(_) => {}
        Expr::Op { op: Op::Add, args, .. } => {
            if let Some((base, rest)) = args.split_first() {
                see_place(base, see);
                rest.iter().for_each(see);
            }
        }
        other => see(other),
    }
}
