//! Objects that are volatile in one version and not in the other: both are compared as if they were not.
//!
//! Each access of a volatile object is an event, and one of another object is none: without this, whatever a function
//! reads or writes there would be told as done by one version alone. That the object was declared otherwise is told of
//! the object itself. A local is seen by nobody, as long as its address stays and no
//! `longjmp` comes back.

use crate::ir::{Expr, Function, Instr, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An object by its name in the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Global(Arc<str>),
    Local(Arc<str>, u32),
}

/// Both bodies without the accesses that are volatile in one of them alone.
pub(super) fn settled(bodies: [Arc<Function>; 2]) -> [Arc<Function>; 2] {
    let [old, new] = [&bodies[0], &bodies[1]].map(|body| accessed(body));
    let is_other = |place: &&Place| match (place, [old.get(*place), new.get(*place)]) {
        (_, [Some(before), Some(now)]) => before.contains(&true) != now.contains(&true),
        // One that is in no memory is not accessed.
        (Place::Local(name, _), [Some(kinds), None] | [None, Some(kinds)]) => {
            kinds.contains(&true) && bodies.iter().all(|body| body.vars.iter().any(|v| v.name == *name))
        }
        _ => false,
    };
    let is_seen = |place: &Place| match place {
        Place::Global(_) => false,
        Place::Local(..) => bodies.iter().any(|body| gets_around(body, place)),
    };
    let found = old.keys().chain(new.keys()).filter(is_other).filter(|place| !is_seen(place));
    let others: BTreeSet<Place> = found.cloned().collect();
    match others.is_empty() {
        true => bodies,
        false => bodies.map(|body| plain(&body, &others)),
    }
}

/// The objects that a body accesses by name, and whether as volatile ones.
fn accessed(body: &Function) -> BTreeMap<Place, BTreeSet<bool>> {
    let mut found: BTreeMap<Place, BTreeSet<bool>> = BTreeMap::new();
    for node in &body.nodes {
        let (Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. }) = &node.instr else {
            continue;
        };
        if let Some(place) = place(body, addr) {
            found.entry(place).or_default().insert(access.volatile);
        }
    }
    found
}

/// Whether the address of a local goes elsewhere than into accesses of it, or control may come back to the function.
fn gets_around(body: &Function, local: &Place) -> bool {
    let mut found = body.nodes.iter().any(|n| n.instr.is_second_return());
    for node in &body.nodes {
        let mut look = |e: &Expr| e.for_each(&mut |e| found |= place(body, e).as_ref() == Some(local));
        match &node.instr {
            Instr::Load { addr, .. } if place(body, addr).is_some() => {}
            Instr::Store { addr, value, .. } if place(body, addr).is_some() => look(value),
            other => other.for_each_operand(&mut look),
        }
    }
    found
}

fn plain(body: &Arc<Function>, of: &BTreeSet<Place>) -> Arc<Function> {
    let mut plain = body.clone();
    for (k, node) in body.nodes.iter().enumerate() {
        let mut instr = node.instr.clone();
        match &mut instr {
            Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. }
                if access.volatile && place(body, addr).is_some_and(|p| of.contains(&p)) =>
            {
                access.volatile = false;
            }
            _ => continue,
        }
        if let Some(node) = Arc::make_mut(&mut plain).nodes.get_mut(k) {
            node.instr = instr;
        }
    }
    plain
}

/// The object that an address is in.
fn place(body: &Function, addr: &Expr) -> Option<Place> {
    match addr {
        Expr::Addr(Object::Global(symbol)) => Some(Place::Global(symbol.clone())),
        Expr::Addr(Object::Local(v)) => Some(Place::Local(body.var(*v).name.clone(), body.var(*v).ordinal)),
        Expr::Op { args, .. } => args.first().and_then(|base| place(body, base)),
        _ => None,
    }
}
