//! The decisions of a path: a list whose beginning paths share.

use crate::ir::NodeId;
use std::rc::Rc;
use std::sync::Arc;

/// A decision on a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    pub function: Arc<str>,
    pub node: NodeId,
    /// 0 for a line of another file.
    pub line: u32,
    pub taken: bool,
    /// Which of the path's conditions says so; none where the other side was not open.
    pub condition: Option<usize>,
}

/// Decisions, the newest first. A copy costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Turns(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    turn: Turn,
    before: Turns,
}

impl Turns {
    pub(super) fn push(&mut self, turn: Turn) {
        let before = Turns(self.0.take());
        self.0 = Some(Rc::new(Link { turn, before }));
    }

    /// From the newest to the oldest.
    pub fn iter(&self) -> impl Iterator<Item = &Turn> {
        let links = std::iter::successors(self.0.as_deref(), |link| link.before.0.as_deref());
        links.map(|link| &link.turn)
    }
}

impl Drop for Turns {
    /// Link by link: a long list would drop itself in as many calls.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut link) = next.and_then(|link| Rc::try_unwrap(link).ok()) {
            next = link.before.0.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_share_their_beginning_and_end_without_recursion() {
        let turn =
            |k: u32| Turn { function: "f".into(), node: NodeId(k), line: k, taken: true, condition: None };
        let mut one = Turns::default();
        (0..300_000).for_each(|k| one.push(turn(k)));
        let mut other = one.clone();
        other.push(turn(7));
        assert_eq!(other.iter().map(|t| t.line).take(2).collect::<Vec<_>>(), [7, 299_999]);
        assert_eq!(one.iter().count(), 300_000);
    }
}
