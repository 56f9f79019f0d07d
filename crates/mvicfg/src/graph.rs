//! The multiversion control-flow graph of one function.
//!
//! Structure of Le and Pattison (ICSE 2014): the union of the versions' graphs, in which versions
//! share a node when they share the instruction and a statement-level diff aligns them; every edge
//! carries the set of versions that have it. Here the versions are *classes*: bodies that differ.
//! The subgraph of a class is exactly that body's control-flow graph, so sharing changes cost and
//! attribution of causes, never a result.
//!
//! Construction: class 0's graph first; each further body is aligned with its predecessor's
//! statements (longest common subsequence of statement keys), equal statements map to the nodes
//! that are there, others get new ones.

use super::alignment::{Algorithm, DiffOp, aligned};
use super::key::{self, SourceNames, rename};
use super::{ClassId, ClassSet};
use crate::ir::{Function, Instr, Node, NodeId, Var, VarId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Index into [`Mvicfg::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MvId(pub u32);

impl MvId {
    /// A node of a body in the graph of that body alone, which has its numbers.
    pub fn of_only(node: NodeId) -> MvId {
        MvId(node.0)
    }

    /// The node of the body, in a graph of one body.
    pub fn in_only(self) -> NodeId {
        NodeId(self.0)
    }
}

impl fmt::Display for MvId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Edge with the classes that have it.
#[derive(Clone, Debug)]
pub struct MvEdge {
    pub to: MvId,
    /// Position among the successors of the node: 0 is a branch's true edge, 1 its false edge.
    pub label: u8,
    pub classes: ClassSet,
}

/// Node that one or more classes share.
#[derive(Clone, Debug)]
pub struct MvNode {
    /// Instruction over the merged variables.
    pub instr: Instr,
    pub classes: ClassSet,
    pub succs: Vec<MvEdge>,
    /// `(class, node of that body)`, ascending.
    pub origins: Vec<(ClassId, NodeId)>,
}

/// Union of the control-flow graphs of a function's distinct bodies.
pub struct Mvicfg {
    /// Distinct bodies, by class, oldest first.
    pub bodies: Vec<Arc<Function>>,
    /// Merged variables: classes share one when name, occurrence, sort and storage agree.
    pub vars: Vec<Var>,
    pub nodes: Vec<MvNode>,
    /// `[class][local variable]`: the merged variable.
    pub var_map: Vec<Vec<VarId>>,
    /// `[class][local node]`: the merged node.
    pub node_map: Vec<Vec<MvId>>,
}

impl Mvicfg {
    pub const ENTRY: MvId = MvId(0);
    pub const EXIT: MvId = MvId(1);

    /// Builds the graph; `bodies` are in version order. Cost: linear in the sum of the bodies, plus
    /// a diff of statement keys for each further body.
    pub fn build(bodies: Vec<Arc<Function>>) -> Mvicfg {
        let _room = invdiff_cost::enter(invdiff_cost::Room::Mvicfg);
        let mut g = Mvicfg {
            bodies: Vec::new(),
            vars: Vec::new(),
            nodes: Vec::new(),
            var_map: vec![],
            node_map: vec![],
        };
        let mut merged_vars = HashMap::new();
        let mut previous_keys: Vec<String> = Vec::new();
        for body in bodies {
            previous_keys = g.add(body, &mut merged_vars, &previous_keys);
        }
        g
    }

    /// The classes, ascending.
    pub fn classes(&self) -> impl DoubleEndedIterator<Item = ClassId> + ExactSizeIterator + Clone + use<> {
        ClassId::first(self.bodies.len())
    }

    pub fn all_classes(&self) -> ClassSet {
        ClassSet::all(self.bodies.len())
    }

    fn add(
        &mut self,
        body: Arc<Function>,
        merged: &mut HashMap<String, VarId>,
        old_keys: &[String],
    ) -> Vec<String> {
        let class = ClassId::new(self.bodies.len());
        let names = SourceNames(&body);
        let var_map: Vec<VarId> = (0..body.vars.len() as u32)
            .map(|v| {
                let mut k = String::new();
                key::Names::var(&names, &mut k, VarId(v));
                k.push_str(if body.params.contains(&VarId(v)) { "p" } else { "" });
                *merged.entry(k).or_insert_with(|| {
                    self.vars.push(body.var(VarId(v)).clone());
                    VarId(self.vars.len() as u32 - 1)
                })
            })
            .collect();
        let stmt_nodes = key::nodes_by_stmt(&body);
        let keys: Vec<String> = stmt_nodes
            .iter()
            .enumerate()
            .map(|(i, nodes)| key::stmt(&body, crate::ir::StmtId(i as u32), nodes, &names))
            .collect();
        let mut node_map: Vec<Option<MvId>> = vec![None; body.nodes.len()];
        self.share_aligned(class, &body, &keys, old_keys, &stmt_nodes, &mut node_map);
        let node_map: Vec<MvId> = node_map
            .into_iter()
            .enumerate()
            .map(|(i, shared)| self.place(class, NodeId(i as u32), &body.nodes[i], shared, &var_map))
            .collect();
        for (i, node) in body.nodes.iter().enumerate() {
            for (label, s) in node.succs.iter().enumerate() {
                self.add_edge(class, node_map[i], label as u8, node_map[s.0 as usize]);
            }
        }
        self.bodies.push(body);
        self.var_map.push(var_map);
        self.node_map.push(node_map);
        keys
    }

    /// Maps the nodes of statements that the diff aligns with the previous body onto its nodes.
    fn share_aligned(
        &self,
        class: ClassId,
        body: &Function,
        keys: &[String],
        old_keys: &[String],
        stmt_nodes: &[Vec<NodeId>],
        node_map: &mut [Option<MvId>],
    ) {
        let Some(old_class) = class.previous() else { return };
        // Entry and exit are shared whatever their statements are.
        node_map[Function::ENTRY.0 as usize] = Some(Self::ENTRY);
        node_map[Function::EXIT.0 as usize] = Some(Self::EXIT);
        let old = &self.bodies[old_class];
        let old_nodes = key::nodes_by_stmt(old);
        let mut share = |o: NodeId, n: NodeId| {
            let reserved = |id: NodeId| id == Function::ENTRY || id == Function::EXIT;
            if !reserved(o) && !reserved(n) && body.node(n).succs.len() == old.node(o).succs.len() {
                node_map[n.0 as usize] = Some(self.node_map[old_class][o.0 as usize]);
            }
        };
        for op in aligned(Algorithm::Patience, old_keys, keys) {
            match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    for k in 0..len {
                        let both = old_nodes[old_index + k].iter().zip(&stmt_nodes[new_index + k]);
                        both.for_each(|(o, n)| share(*o, *n));
                    }
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    let olds = switches(old, old_index..old_index + old_len);
                    let news = switches(body, new_index..new_index + new_len);
                    for (o, n) in olds.into_iter().zip(news) {
                        let sides = [(&**old, &old_nodes[o][..]), (body, &stmt_nodes[n][..])];
                        shared_tests(sides).into_iter().for_each(|(o, n)| share(o, n));
                    }
                }
                _ => {}
            }
        }
    }

    fn place(
        &mut self,
        class: ClassId,
        id: NodeId,
        node: &Node,
        shared: Option<MvId>,
        vars: &[VarId],
    ) -> MvId {
        let mv = shared.unwrap_or_else(|| {
            self.nodes.push(MvNode {
                instr: rename(&node.instr, vars),
                classes: ClassSet::new(),
                succs: Vec::new(),
                origins: Vec::new(),
            });
            MvId(self.nodes.len() as u32 - 1)
        });
        let n = &mut self.nodes[mv.0 as usize];
        n.classes.insert(class);
        n.origins.push((class, id));
        mv
    }

    fn add_edge(&mut self, class: ClassId, from: MvId, label: u8, to: MvId) {
        let succs = &mut self.nodes[from.0 as usize].succs;
        match succs.iter_mut().find(|e| e.to == to && e.label == label) {
            Some(e) => e.classes.insert(class),
            None => succs.push(MvEdge { to, label, classes: ClassSet::single(class) }),
        }
    }

    /// All nodes.
    pub fn ids(&self) -> impl Iterator<Item = MvId> {
        (0..self.nodes.len() as u32).map(MvId)
    }

    pub fn node(&self, id: MvId) -> &MvNode {
        &self.nodes[id.0 as usize]
    }

    /// Returns the source line of a node in a class, 0 when it has none in the function's own file.
    pub fn line(&self, id: MvId, class: ClassId) -> u32 {
        let body = &self.bodies[class];
        let span = self.origin(id, class).map(|n| &body.node(n).span);
        span.filter(|s| s.file == body.span.file).map_or(0, |s| s.line)
    }

    pub fn origin(&self, id: MvId, class: ClassId) -> Option<NodeId> {
        let origins = &self.node(id).origins;
        origins.binary_search_by_key(&class, |o| o.0).ok().map(|i| origins[i].1)
    }
}

/// Instructions of a `switch` from which on its tests are shared one by one.
const LONG_SWITCH: usize = 12;

/// The `switch` statements among some statements of a body.
fn switches(body: &Function, statements: std::ops::Range<usize>) -> Vec<usize> {
    statements.filter(|s| body.stmts.get(*s).is_some_and(|stmt| stmt.kind == "switch")).collect()
}

/// The tests that two `switch` statements have in common, which differ in nothing but their labels: what is compared
/// is computed alike. One label more would else make all of a long one another statement.
fn shared_tests(sides: [(&Function, &[NodeId]); 2]) -> Vec<(NodeId, NodeId)> {
    let [old, new] = sides.map(|(body, nodes)| {
        let key = |n: &NodeId| {
            let mut out = String::new();
            key::instr(&mut out, &body.node(*n).instr, &SourceNames(body));
            (out, matches!(body.node(*n).instr, Instr::Branch { .. }))
        };
        nodes.iter().map(key).collect::<Vec<_>>()
    });
    let value = |of: &[(String, bool)]| of.iter().filter(|n| !n.1).map(|n| n.0.clone()).collect::<Vec<_>>();
    if old.len().min(new.len()) < LONG_SWITCH || value(&old) != value(&new) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for op in aligned(Algorithm::Patience, &old, &new) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        found.extend((0..len).map(|k| (sides[0].1[old_index + k], sides[1].1[new_index + k])));
    }
    found
}
