//! The conditions of paths as a tree: those that paths begin with alike stand once.

use crate::ir::eval::Changing;
use crate::ir::{TermId, TermPool};

/// Paths by their conditions.
pub(super) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// Conditions, and where they lead.
    next: Vec<(TermId, usize)>,
    /// The path that ends here, by position.
    end: Option<usize>,
}

impl Tree {
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a Vec<TermId>>) -> Tree {
        let mut tree = Tree { nodes: vec![Node::default()] };
        paths.into_iter().enumerate().for_each(|(k, conditions)| tree.add(conditions, k));
        tree
    }

    /// Adds a path under a position.
    pub fn add(&mut self, conditions: &[TermId], position: usize) {
        let mut at = 0;
        for c in conditions {
            let known = self.nodes[at].next.iter().find(|(d, _)| c == d).map(|(_, to)| *to);
            let to = known.unwrap_or(self.nodes.len());
            if known.is_none() {
                self.nodes[at].next.push((*c, to));
                self.nodes.push(Node::default());
            }
            at = to;
        }
        self.nodes[at].end = Some(position);
    }

    /// The path all of whose conditions hold: there is one at most.
    pub fn taken(&self, holds: &mut dyn FnMut(TermId) -> bool) -> Option<usize> {
        let mut open = vec![0];
        while let Some(node) = open.pop().and_then(|at| self.nodes.get(at)) {
            if node.end.is_some() {
                return node.end;
            }
            open.extend(node.next.iter().filter(|(c, _)| holds(*c)).map(|(_, to)| *to));
        }
        None
    }

    /// The path that an input takes; inner `None`: none of them. Outer: that rests on something undefined.
    pub fn taken_by(&self, pool: &TermPool, terms: &mut Changing) -> Option<Option<usize>> {
        let mut is_defined = true;
        let path = self.taken(&mut |c| {
            let holds = terms.holds(pool, c);
            is_defined &= holds.is_some();
            holds == Some(true)
        });
        (path.is_some() || is_defined).then_some(path)
    }
}
