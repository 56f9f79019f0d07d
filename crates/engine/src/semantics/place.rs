//! Places: everything that has a value at a program point.

use crate::ir::{Callee, Expr, Instr, Object, Sort, Var, VarId};
use crate::mvicfg::{MvId, Mvicfg};
use crate::semantics::{address, library};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The row of a call by name and arguments.
pub type RowOf<'r> = &'r dyn Fn(&str, &[Expr]) -> Option<&'static library::Row>;

/// What a query can ask the value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Variable held in a register, or in memory but promoted to one.
    Var(VarId),
    /// Bytes of a local object that no pointer leaves the function with (a memory of its own).
    Object(VarId),
    /// All other memory.
    Memory,
    Stdin,
    /// What was printed so far.
    Out,
    World,
    /// Value that the function returns.
    Result,
}

/// Where a local that lives in memory is kept by the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// As a scalar: every access reads or writes the whole of it, by name.
    Scalar,
    /// As bytes of its own.
    Private,
    /// In common memory, since its address may be known elsewhere.
    Shared,
}

/// Storage and definitions of every place of a graph.
pub struct Places {
    /// By merged variable; `Scalar` for registers.
    pub storage: Vec<Storage>,
    /// Places that each node may write.
    pub writes: Vec<Vec<Place>>,
    /// Places that each node reads.
    pub reads: Vec<Vec<Place>>,
    def_sites: FxHashMap<Place, BTreeSet<MvId>>,
}

/// Returns the local object that an address expression is based on, if that is evident.
pub fn base_object(e: &Expr) -> Option<VarId> {
    match address::object(e)? {
        (Object::Local(v), _) => Some(*v),
        _ => None,
    }
}

/// Returns the local whose exact address the expression is.
pub fn exact_object(e: &Expr) -> Option<VarId> {
    if let Expr::Addr(Object::Local(v)) = e { Some(*v) } else { None }
}

impl Places {
    /// Classifies the locals of a graph. `row_of(name, arguments)` is the row of a
    /// call that may be taken as one of the library's. Cost: linear in the graph.
    pub fn new(g: &Mvicfg, row_of: RowOf) -> Places {
        let mut storage: Vec<Storage> = g
            .vars
            .iter()
            .map(|v| match (v.in_memory, v.sort) {
                (false, _) | (true, Some(_)) => Storage::Scalar,
                (true, None) => Storage::Private,
            })
            .collect();
        for node in &g.nodes {
            classify(&node.instr, g, &mut storage, row_of);
        }
        let mut places = Places { storage, writes: vec![], reads: vec![], def_sites: FxHashMap::default() };
        for (i, node) in g.nodes.iter().enumerate() {
            let (reads, writes) = places.effects(&node.instr, &g.vars, row_of);
            for w in &writes {
                places.def_sites.entry(*w).or_default().insert(MvId(i as u32));
            }
            places.reads.push(reads.into_iter().collect());
            places.writes.push(writes.into_iter().collect());
        }
        places
    }

    /// Returns the nodes that may define a place.
    pub fn defs(&self, place: Place) -> Option<&BTreeSet<MvId>> {
        self.def_sites.get(&place)
    }

    pub fn defines(&self, node: MvId, place: Place) -> bool {
        self.writes[node.0 as usize].contains(&place)
    }

    /// Returns the place of a whole local.
    pub fn of_var(&self, v: VarId) -> Place {
        match self.storage[v.0 as usize] {
            Storage::Scalar => Place::Var(v),
            Storage::Private => Place::Object(v),
            Storage::Shared => Place::Memory,
        }
    }

    /// Returns the place that an access through this address reads or writes.
    pub fn region(&self, addr: &Expr) -> Place {
        match base_object(addr) {
            Some(v) => self.of_var(v),
            None => Place::Memory,
        }
    }

    fn effects(&self, i: &Instr, vars: &[Var], row_of: RowOf) -> (BTreeSet<Place>, BTreeSet<Place>) {
        let mut reads = BTreeSet::new();
        let mut writes = BTreeSet::new();
        let values = |e: &Expr, reads: &mut BTreeSet<Place>| {
            e.for_each_var(&mut |v| {
                reads.insert(Place::Var(v));
            })
        };
        match i {
            Instr::Nop | Instr::Unreachable => {}
            Instr::Declare(v) => {
                // In common memory the bytes keep what they were: reading them is an event anyway.
                if self.of_var(*v) != Place::Memory {
                    writes.insert(self.of_var(*v));
                }
            }
            Instr::Measure { var, lengths, .. } => {
                lengths.iter().for_each(|e| values(e, &mut reads));
                writes.extend(var.map(|v| self.of_var(v)).filter(|p| *p != Place::Memory));
            }
            Instr::Assign { dst, value } => {
                values(value, &mut reads);
                writes.insert(Place::Var(*dst));
            }
            Instr::Load { dst, addr, .. } => {
                values(addr, &mut reads);
                reads.insert(self.region(addr));
                writes.insert(Place::Var(*dst));
            }
            Instr::Store { addr, value, .. } => {
                values(addr, &mut reads);
                values(value, &mut reads);
                let region = self.region(addr);
                if !matches!(region, Place::Var(_)) {
                    reads.insert(region);
                }
                writes.insert(region);
            }
            Instr::Copy { dst, src, .. } => {
                values(dst, &mut reads);
                values(src, &mut reads);
                reads.insert(self.region(src));
                reads.insert(self.region(dst));
                writes.insert(self.region(dst));
            }
            Instr::Zero { dst, .. } => {
                values(dst, &mut reads);
                reads.insert(self.region(dst));
                writes.insert(self.region(dst));
            }
            Instr::Branch { cond } => values(cond, &mut reads),
            Instr::Return { value } => {
                if let Some(v) = value {
                    values(v, &mut reads);
                }
                writes.insert(Place::Result);
            }
            Instr::Call { dst, callee, args, result_to, .. } => {
                args.iter().chain(result_to).for_each(|a| values(a, &mut reads));
                if let Callee::Indirect(e) = callee {
                    values(e, &mut reads);
                }
                if let Some(d) = dst {
                    writes.insert(Place::Var(*d));
                }
                self.call_effects(callee, args, row_of, &mut reads, &mut writes);
                // Where an aggregate result goes is in memory, whatever the row says.
                if result_to.is_some() {
                    reads.extend(OUTSIDE);
                    writes.extend(OUTSIDE);
                }
            }
            Instr::Unknown { reads: of, writes: w, anything, .. } => {
                of.iter().for_each(|e| values(e, &mut reads));
                writes.extend(w.iter().map(|v| Place::Var(*v)));
                // All that lives in memory, wherever it is kept here.
                let in_memory = vars.iter().enumerate().filter(|(_, v)| v.in_memory || v.sort.is_none());
                let outside: Vec<Place> =
                    in_memory.map(|(i, _)| self.of_var(VarId(i as u32))).chain(OUTSIDE).collect();
                reads.extend(&outside);
                if *anything {
                    writes.extend(&outside);
                }
            }
        }
        (reads, writes)
    }

    /// Adds what a call touches beside its arguments and its result.
    fn call_effects(
        &self,
        callee: &Callee,
        args: &[Expr],
        row_of: RowOf,
        reads: &mut BTreeSet<Place>,
        writes: &mut BTreeSet<Place>,
    ) {
        let Some(row) = library_row(callee, args, row_of) else {
            reads.extend(OUTSIDE);
            writes.extend(OUTSIDE);
            return;
        };
        for (k, argument) in args.iter().enumerate() {
            let place = base_object(argument).map_or(Place::Memory, |v| self.of_var(v));
            if row.reads_arg(k) || row.writes_arg(k) {
                reads.insert(place);
            }
            if row.writes_through(k, argument) {
                writes.insert(place);
            }
        }
        let touched = [row.memory || row.errno, row.stdin, row.out, row.world];
        let touched =
            OUTSIDE.into_iter().zip(touched).filter(|(_, touched)| *touched).map(|(place, _)| place);
        if row.asks_streams {
            reads.extend([Place::Stdin, Place::Out]);
        }
        reads.extend(touched.clone());
        writes.extend(touched);
    }
}

/// What is neither a variable nor an object of the function.
const OUTSIDE: [Place; 4] = [Place::Memory, Place::Stdin, Place::Out, Place::World];

/// Returns the library's row for a direct call, if the call is one.
pub fn library_row(callee: &Callee, args: &[Expr], row_of: RowOf) -> Option<&'static library::Row> {
    match callee {
        Callee::Direct(name) => row_of(name, args),
        Callee::Indirect(_) => None,
    }
}

/// Lowers the storage of locals that an instruction uses in a way that their storage forbids.
fn classify(i: &Instr, g: &Mvicfg, storage: &mut [Storage], row_of: RowOf) {
    let mut at_most = |v: VarId, s: Storage| {
        let old = &mut storage[v.0 as usize];
        *old = match (*old, s) {
            (Storage::Shared, _) | (_, Storage::Shared) => Storage::Shared,
            (Storage::Private, _) | (_, Storage::Private) => Storage::Private,
            _ => Storage::Scalar,
        };
    };
    let leak = |e: &Expr, at_most: &mut dyn FnMut(VarId, Storage)| {
        e.for_each(&mut |x| {
            if let Expr::Addr(Object::Local(v)) = x {
                at_most(*v, Storage::Shared);
            }
        })
    };
    // An address used to access: the base stays private, anything else in it leaks.
    let access = |e: &Expr, sort: Option<(Sort, u64)>, at_most: &mut dyn FnMut(VarId, Storage)| match e {
        Expr::Addr(Object::Local(v)) => {
            let var = &g.vars[v.0 as usize];
            let whole = sort.is_some_and(|(s, b)| var.sort == Some(s) && var.value_bytes() == b);
            at_most(*v, if whole { Storage::Scalar } else { Storage::Private });
        }
        _ => match (base_object(e), e) {
            (Some(v), Expr::Op { .. }) => {
                at_most(v, Storage::Private);
                offsets(e, &mut |o| leak(o, at_most));
            }
            _ => leak(e, at_most),
        },
    };
    match i {
        Instr::Load { addr, access: a, .. } => {
            access(addr, (!a.volatile).then_some((a.sort, a.bytes)), &mut at_most);
        }
        Instr::Store { addr, value, access: a } => {
            access(addr, (!a.volatile).then_some((a.sort, a.bytes)), &mut at_most);
            leak(value, &mut at_most);
        }
        Instr::Copy { dst, src, .. } => {
            access(dst, None, &mut at_most);
            access(src, None, &mut at_most);
        }
        Instr::Zero { dst, .. } => access(dst, None, &mut at_most),
        Instr::Call { callee, args, result_to, .. } => {
            let row = library_row(callee, args, row_of);
            for (k, a) in args.iter().enumerate() {
                match row {
                    Some(r) if r.scans && exact_object(a).is_some() => {}
                    Some(r) if r.borrows(k) => access(a, None, &mut at_most),
                    _ => leak(a, &mut at_most),
                }
            }
            if let Some(r) = result_to {
                leak(r, &mut at_most);
            }
            if let Callee::Indirect(e) = callee {
                leak(e, &mut at_most);
            }
        }
        Instr::Assign { value, .. } => leak(value, &mut at_most),
        Instr::Branch { cond } => {
            // A comparison learns nothing that an access could use.
            let _ = cond;
        }
        Instr::Return { value: Some(v) } => leak(v, &mut at_most),
        _ => {}
    }
}

/// Calls `f` on the offset parts of an address whose base is an object.
fn offsets(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    if let Expr::Op { args, .. } = e
        && let [base, rest @ ..] = args.as_slice()
    {
        offsets(base, f);
        rest.iter().for_each(f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{access, array, assign, call, int, load, named, pointer, store, straight, v};
    use crate::ir::{CType, Op};
    use std::sync::Arc;

    fn at(k: u32) -> Expr {
        Expr::Addr(Object::Local(VarId(k)))
    }

    fn plus(e: Expr, by: Expr) -> Expr {
        Expr::op(Op::Add, vec![e, by])
    }

    /// A function of a parameter `p` (0), a number `i` (1), and two locals in memory, `x` (2) and `a` (3).
    fn places(instrs: &[Instr]) -> Places {
        let vars = [("p", pointer(int())), (".i", int()), (".x", int()), (".a", array(int(), 4))];
        let mut f = straight("f", &vars, instrs);
        (f.vars[2].in_memory, f.vars[3].in_memory, f.vars[3].size) = (true, true, 16);
        let graph = Mvicfg::build(vec![Arc::new(f)]);
        Places::new(&graph, &|name, _| library::row(name))
    }

    #[track_caller]
    fn check(instrs: &[Instr], x: Storage, a: Storage) {
        let places = places(instrs);
        assert_eq!(places.storage[..2], [Storage::Scalar; 2]);
        assert_eq!((places.storage[2], places.storage[3]), (x, a), "{instrs:?}");
    }

    #[test]
    fn an_address_is_based_on_the_object_that_is_in_it() {
        let inside = plus(at(3), v(1));
        assert_eq!((base_object(&inside), exact_object(&inside)), (Some(VarId(3)), None));
        assert_eq!((base_object(&at(3)), exact_object(&at(3))), (Some(VarId(3)), Some(VarId(3))));
        assert_eq!(base_object(&plus(v(0), at(3))), Some(VarId(3)), "a sum has no order");
        assert_eq!(base_object(&v(0)), None);
    }

    #[test]
    fn whole_accesses_keep_a_variable_a_scalar() {
        check(&[store(at(2), v(1), &int()), load(1, at(2), &int())], Storage::Scalar, Storage::Private);
        let half = CType::Int { bits: 16, signed: true, name: "short".into() };
        check(&[load(1, at(2), &half)], Storage::Private, Storage::Private);
        let mut volatile = access(&int());
        volatile.volatile = true;
        let read = Instr::Load { dst: VarId(1), addr: at(2), access: volatile };
        check(&[read], Storage::Private, Storage::Private);
    }

    #[test]
    fn an_object_whose_address_gets_away_is_shared() {
        check(&[assign(0, at(2))], Storage::Shared, Storage::Private);
        check(&[store(v(0), at(3), &pointer(int()))], Storage::Scalar, Storage::Shared);
        check(&[call(None, named("unknown"), vec![plus(at(3), v(1))])], Storage::Scalar, Storage::Shared);
        check(&[Instr::Return { value: Some(at(2)) }], Storage::Shared, Storage::Private);
        // An address that two take part in is based on neither.
        check(&[store(plus(at(3), at(2)), v(1), &int())], Storage::Shared, Storage::Shared);
    }

    #[test]
    fn the_library_borrows_what_it_only_looks_at() {
        check(&[call(Some(1), named("strlen"), vec![at(3)])], Storage::Scalar, Storage::Private);
        check(&[call(None, named("memset"), vec![at(3), v(1), v(1)])], Storage::Scalar, Storage::Private);
    }

    #[test]
    fn an_access_is_of_the_region_that_its_address_is_based_on() {
        let places = places(&[store(plus(at(3), v(1)), v(1), &int())]);
        assert_eq!(places.region(&plus(at(3), v(1))), Place::Object(VarId(3)));
        assert_eq!(places.region(&at(2)), Place::Var(VarId(2)));
        assert_eq!(places.region(&v(0)), Place::Memory);
    }

    /// What the first of some instructions reads and writes.
    #[track_caller]
    fn effects(instrs: &[Instr], reads: &[Place], writes: &[Place]) {
        let places = places(instrs);
        let sorted = |of: &[Place]| of.iter().copied().collect::<BTreeSet<Place>>();
        assert_eq!(sorted(&places.reads[2]), sorted(reads), "{instrs:?}");
        assert_eq!(sorted(&places.writes[2]), sorted(writes), "{instrs:?}");
    }

    #[test]
    fn instructions_read_and_write_places() {
        let [p, i] = [0, 1].map(|k| Place::Var(VarId(k)));
        let a = Place::Object(VarId(3));
        effects(&[assign(1, plus(v(1), v(0)))], &[p, i], &[i]);
        effects(&[load(1, v(0), &int())], &[p, Place::Memory], &[i]);
        // Of an object in parts what is not written stays.
        effects(&[store(plus(at(3), v(1)), v(0), &int())], &[p, i, a], &[a]);
        effects(&[store(at(2), v(1), &int())], &[i], &[Place::Var(VarId(2))]);
        effects(&[Instr::Return { value: Some(v(1)) }], &[i], &[Place::Result]);
        effects(&[Instr::Nop], &[], &[]);
    }

    #[test]
    fn unknown_calls_may_do_anything_outside() {
        effects(
            &[call(Some(1), named("unknown"), vec![v(0)])],
            &[&OUTSIDE[..], &[Place::Var(VarId(0))]].concat(),
            &[&OUTSIDE[..], &[Place::Var(VarId(1))]].concat(),
        );
        let strlen = call(Some(1), named("strlen"), vec![at(3)]);
        effects(&[strlen], &[Place::Object(VarId(3))], &[Place::Var(VarId(1))]);
    }

    #[test]
    fn definitions_are_found_by_place() {
        let places = places(&[assign(1, v(0)), store(v(0), v(1), &int()), assign(1, v(1))]);
        let defs = |p| places.defs(p).map(|d| d.iter().copied().collect::<Vec<_>>());
        assert_eq!(defs(Place::Var(VarId(1))), Some(vec![MvId(2), MvId(4)]));
        assert_eq!(defs(Place::Memory), Some(vec![MvId(3)]));
        assert_eq!(defs(Place::Stdin), None);
        assert!(places.defines(MvId(3), Place::Memory) && !places.defines(MvId(2), Place::Memory));
    }
}
