//! One version of a function: as it is given, and as a class of the graph that both are in.

use super::sites::Tag;
use crate::ir::{CType, Function, Global, Instr, Linkage, MacroUse, Unit, VarId};
use crate::mvicfg::members::Fits;
use crate::mvicfg::{ClassFlow, ClassId, MvId, Mvicfg};
use crate::semantics::escapes::Escapes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A function in one version.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    pub body: &'a Arc<Function>,
    pub unit: &'a Unit,
}

/// One version, as a region is executed in it.
pub(super) struct Side<'a> {
    pub class: ClassId,
    pub version: Version<'a>,
    /// Records and objects as the body's offsets mean them.
    pub layout: &'a Unit,
    /// The same of the other version.
    pub beside: &'a Unit,
    pub flow: &'a ClassFlow,
    /// By node.
    pub tags: Vec<Option<Tag>>,
    /// Functions whose calls are values.
    pub pure: &'a BTreeSet<Arc<str>>,
    /// Variables of the class that are in memory in one version alone, where their address is taken.
    pub displaced: BTreeSet<VarId>,
    /// Where its locals get known to others.
    pub escapes: Escapes<'a>,
    /// Where members are read and written that the other version has by a wider type.
    pub fits: Fits,
}

impl Side<'_> {
    /// Whether nothing writes an object. One of another file may be taken for a constant in one version alone
    /// (`frontend`'s guesses): it is one where both say so, or else what both read of it would differ.
    pub fn is_constant(&self, symbol: &str) -> bool {
        let is_import = |g: &Global| g.linkage == Linkage::Import;
        let differs = |g: &Global| {
            is_import(g) && self.beside.global(symbol).is_some_and(|o| is_import(o) && !o.is_const)
        };
        self.layout.global(symbol).is_some_and(|g| g.is_const && !differs(g))
    }
}

/// Where an edge of a node leads in a class.
pub(super) fn successor(graph: &Mvicfg, class: ClassId, node: MvId, label: u8) -> Option<MvId> {
    let mut edges = graph.node(node).succs.iter();
    edges.find(|e| e.label == label && e.classes.contains(class)).map(|e| e.to)
}

/// The type that a function gives, as one version declares it, and the types of a call's arguments; the type of a
/// volatile object that is read.
pub(super) fn call_types(graph: &Mvicfg, class: ClassId, node: MvId) -> Option<(&CType, &[CType])> {
    let body = graph.bodies.get(class.index())?;
    match &body.node(graph.origin(node, class)?).instr {
        Instr::Call { ret, arg_types, .. } => Some((ret, arg_types)),
        Instr::Load { access, .. } if access.volatile => Some((&access.ty, &[])),
        _ => None,
    }
}

/// The macro that an instruction came out of.
pub(super) fn expansion(graph: &Mvicfg, class: ClassId, node: MvId) -> Option<&MacroUse> {
    let body = graph.bodies.get(class.index())?;
    body.node(graph.origin(node, class)?).span.expansion.as_deref()
}
