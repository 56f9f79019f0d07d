//! Frames: which parts of memory a function may write, as its text and its callees' tell
//! (`docs/design/symbolic-evaluation.md`; the "assigns" clause of ACSL, inferred).
//!
//! A write goes to a local (which nobody else sees), to a global, or through a pointer; of a pointer
//! the type says what it leads to. Types can be deceived, and a pointer can lead into the middle of
//! something: who relies on a frame lists that none does (`no-interior-pointer(T)`).

use super::library;
use super::place::base_object;
use crate::ir::{CType, Callee, Expr, Function, InitPiece, Instr, Object, Op, RecordId, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A range of bytes: the first, and the one beyond the last.
pub type Bytes = (i128, i128);

/// All bytes of something.
const ALL: Bytes = (0, i128::MAX);

/// What may be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Of globals, by symbol.
    pub globals: BTreeSet<(Arc<str>, Bytes)>,
    /// Of records that pointers lead to.
    pub records: BTreeSet<(RecordId, Bytes)>,
    /// Scalars that pointers lead to.
    pub scalars: bool,
    /// What is not known.
    pub anything: bool,
}

impl Frame {
    pub fn join(&mut self, other: &Frame) {
        self.globals.extend(other.globals.iter().cloned());
        self.records.extend(other.records.iter().copied());
        self.scalars |= other.scalars;
        self.anything |= other.anything;
    }

    /// Adds a write of some bytes (all that follow, when it is not known how many) at an address that
    /// a function computes.
    pub fn add_write(&mut self, unit: &Unit, f: &Function, address: &Expr, bytes: Option<u64>) {
        if base_object(address).is_some() {
            return;
        }
        let mut sum = Sum { exact: true, ..Sum::default() };
        sum.add(f, address);
        let range = |from: i128| match (sum.exact, bytes) {
            (true, Some(n)) => (from, from + i128::from(n)),
            _ => ALL,
        };
        match (sum.global, sum.pointer) {
            (Some(symbol), None) => _ = self.globals.insert((symbol, range(sum.offset))),
            (None, Some(CType::Record(id))) => {
                let size = unit.records.get(id.0 as usize).map_or(0, |r| i128::from(r.size));
                let (low, high) = range(sum.offset);
                // Elements of an array of records are records of their own.
                let inside = 0 <= low && high <= size;
                self.records.insert((id, if inside { (low, high) } else { ALL }));
            }
            (None, Some(CType::Int { .. } | CType::Bool | CType::Float(_) | CType::Pointer(_))) => {
                self.scalars = true;
            }
            _ => self.anything = true,
        }
    }

    /// Adds what a call of a library function writes through its arguments.
    pub fn add_library_call(&mut self, unit: &Unit, f: &Function, row: &library::Row, args: &[Expr]) {
        for (_, a) in args.iter().enumerate().filter(|(k, a)| row.writes_through(*k, a)) {
            self.add_write(unit, f, a, None);
        }
    }
}

/// An address as a base and bytes from it.
#[derive(Default)]
struct Sum {
    global: Option<Arc<str>>,
    /// What the pointer leads to by its type.
    pointer: Option<CType>,
    offset: i128,
    /// The offset is all that there is.
    exact: bool,
}

impl Sum {
    fn add(&mut self, f: &Function, e: &Expr) {
        match e {
            Expr::Const(c) => self.offset += c.signed().unwrap_or(0),
            Expr::Addr(Object::Global(s)) if self.global.is_none() => self.global = Some(s.clone()),
            Expr::Var(v) => match &f.var(*v).ty {
                CType::Pointer(to) if self.pointer.is_none() => self.pointer = Some((**to).clone()),
                CType::Pointer(_) => self.pointer = Some(CType::Void),
                _ => self.exact = false,
            },
            Expr::Op { op: Op::Add, args, .. } => args.iter().for_each(|a| self.add(f, a)),
            _ => self.exact = false,
        }
    }
}

/// The frames of the functions of one unit.
pub struct Frames {
    known: BTreeMap<Arc<str>, Frame>,
}

impl Frames {
    /// Nothing is known yet; frames are found on demand.
    pub fn new() -> Frames {
        Frames { known: BTreeMap::new() }
    }

    /// Returns what a function of the unit and all that it calls may write. Cost: linear in these, once.
    pub fn of(&mut self, unit: &Unit, name: &str) -> Frame {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let mut all = Frame::default();
        let mut seen: BTreeSet<Arc<str>> = BTreeSet::from([name.into()]);
        let mut work: Vec<Arc<str>> = vec![name.into()];
        while let Some(next) = work.pop() {
            let Some(f) = unit.callee(&next) else {
                all.anything = true;
                break;
            };
            let (own, calls) = written_by(unit, f);
            all.join(&own);
            work.extend(calls.into_iter().filter(|c| seen.insert(c.clone())));
        }
        self.known.insert(name.into(), all.clone());
        all
    }
}

impl Default for Frames {
    fn default() -> Frames {
        Frames::new()
    }
}

/// What a function's own instructions write, and the functions of the unit that it calls.
fn written_by(unit: &Unit, f: &Function) -> (Frame, Vec<Arc<str>>) {
    let (mut frame, mut calls) = (Frame::default(), Vec::new());
    for node in &f.nodes {
        match &node.instr {
            Instr::Store { addr, access, .. } => frame.add_write(unit, f, addr, Some(access.bytes)),
            Instr::Copy { dst, bytes, .. } | Instr::Zero { dst, bytes } => {
                frame.add_write(unit, f, dst, Some(*bytes));
            }
            Instr::Call { callee: Callee::Direct(name), args, result_to, noreturn, .. } => {
                if let Some(to) = result_to {
                    frame.add_write(unit, f, to, None);
                }
                match library::row_of_call(unit, name, args) {
                    _ if *noreturn => {}
                    _ if unit.callee(name).is_some() => calls.push(name.clone()),
                    Some(row) => frame.add_library_call(unit, f, row, args),
                    None => frame.anything = true,
                }
            }
            Instr::Call { .. } => frame.anything = true,
            Instr::Unknown { anything, .. } => frame.anything |= *anything,
            _ => {}
        }
    }
    (frame, calls)
}

/// Returns the bytes of globals whose addresses are more than bases of accesses: a pointer may lead to
/// them. A pointer to a scalar leads to that scalar only.
pub fn exposed(unit: &Unit) -> &BTreeSet<(Arc<str>, Bytes)> {
    unit.answers.exposed.get_or_init(|| {
        let mut found = BTreeSet::new();
        for f in &unit.functions {
            f.nodes.iter().for_each(|n| add_exposed(unit, f, &n.instr, &mut found));
        }
        let pieces = unit.globals.iter().flat_map(|g| &g.init);
        found.extend(pieces.flat_map(InitPiece::symbols).map(|symbol| (symbol.clone(), ALL)));
        found
    })
}

fn add_exposed(unit: &Unit, f: &Function, instr: &Instr, found: &mut BTreeSet<(Arc<str>, Bytes)>) {
    let mut add = |e: &Expr, to: Option<&CType>| {
        let mut sum = Sum { exact: true, ..Sum::default() };
        sum.add(f, e);
        let scalar = match to {
            Some(CType::Pointer(to)) if !matches!(**to, CType::Record(_) | CType::Array(..)) => {
                unit.size_of(to)
            }
            _ => None,
        };
        e.for_each(&mut |x| {
            let Expr::Addr(Object::Global(s)) = x else { return };
            let bytes = match scalar {
                Some(n) if sum.exact && sum.pointer.is_none() => (sum.offset, sum.offset + i128::from(n)),
                _ => ALL,
            };
            found.insert((s.clone(), bytes));
        });
    };
    match instr {
        Instr::Assign { dst, value } => add(value, Some(&f.var(*dst).ty)),
        Instr::Store { value, access, .. } => add(value, Some(&access.ty)),
        Instr::Return { value: Some(value) } => add(value, Some(&f.ret)),
        Instr::Call { callee, args, arg_types, .. } => {
            let lent = match callee {
                // It keeps no pointer, unless its result is one.
                Callee::Direct(name) if unit.callee(name).is_none() => {
                    library::row(name).is_some_and(library::Row::has_effect)
                }
                _ => false,
            };
            if !lent {
                args.iter().enumerate().for_each(|(k, a)| add(a, arg_types.get(k)));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{self, c};
    use crate::history::MemoryTree;

    fn unit(source: &str) -> Unit {
        let tree = MemoryTree::new([("a.c", source)]);
        frontend::load_unit(&tree, std::path::Path::new("a.c"), &c::Options::default()).unwrap().unit
    }

    fn check(source: &str, function: &str, expected: &str) {
        let unit = unit(source);
        let frame = Frames::new().of(&unit, function);
        let mut words: Vec<String> =
            frame.globals.iter().map(|(s, (a, b))| format!("{s}[{a},{b})")).collect();
        for (id, (a, b)) in &frame.records {
            let name = &unit.record(*id).name;
            words.push(if *b == i128::MAX { format!("{name}[*]") } else { format!("{name}[{a},{b})") });
        }
        words.extend(frame.scalars.then(|| "scalars".to_owned()));
        words.extend(frame.anything.then(|| "anything".to_owned()));
        assert_eq!(words.join(" "), expected, "{source}");
    }

    #[test]
    fn writes_are_told_apart_by_what_they_go_to() {
        let types = "struct s { int a, b; char *t; }; int g; struct s e;\n";
        for (body, expected) in [
            ("int x; x = 1; int a[3]; a[x] = 2;", ""),
            ("g = 1;", "g[0,4)"),
            ("e.b = 1;", "e[4,8)"),
            ("p->b = 1;", "s[4,8)"),
            ("p->t[3] = 0;", "scalars"),
            ("p[1].a = 1;", "s[*]"),
            ("h(p);", "anything"),
            ("(*f)(p);", "anything"),
        ] {
            let source =
                format!("{types}void h(struct s *); void k(struct s *p, void (*f)(struct s *)) {{ {body} }}");
            check(&source, "k", expected);
        }
        let calls = format!(
            "{types}static void h(struct s *p) {{ p->a = 1; if (g) h(p); }} void k(struct s *p) {{ h(p); g++; }}"
        );
        check(&calls, "k", "g[0,4) s[0,4)");
    }

    #[test]
    fn a_global_is_exposed_when_its_address_gets_away() {
        let source = "struct { int x, y; } e; int a, b, c, d[3]; int *p = &c; void h(int *); \
                      void k(void) { h(&a); b = 1; d[b] = 2; h(&e.y); }";
        let unit = unit(source);
        let found: Vec<String> = exposed(&unit).iter().map(|(s, (from, _))| format!("{s}+{from}")).collect();
        assert_eq!(found, ["a+0", "c+0", "e+4"]);
    }

    mod by_hand {
        use super::super::*;
        use crate::by_hand::{call, int, named, pointer, record, store, straight, unit, v};

        fn s() -> CType {
            CType::Record(RecordId(0))
        }

        fn records() -> Vec<crate::ir::Record> {
            vec![record("s", &[("a", 0, int()), ("b", 4, int())], 8)]
        }

        fn plus(e: Expr, k: i128) -> Expr {
            Expr::op(Op::Add, vec![e, Expr::bv(64, k)])
        }

        /// What a write of four bytes at an address may change; `p` leads to a structure, `q` to a number.
        fn written(address: Expr, bytes: Option<u64>) -> Frame {
            let vars =
                [("p", pointer(s())), ("q", pointer(int())), (".i", crate::by_hand::integer(64, true))];
            let (f, unit) = (straight("f", &vars, &[]), unit(records(), Vec::new(), Vec::new()));
            let mut frame = Frame::default();
            frame.add_write(&unit, &f, &address, bytes);
            frame
        }

        fn of_record(bytes: Bytes) -> Frame {
            Frame { records: [(RecordId(0), bytes)].into(), ..Frame::default() }
        }

        #[test]
        fn a_write_through_a_pointer_is_of_its_type() {
            assert_eq!(written(plus(v(0), 4), Some(4)), of_record((4, 8)));
            assert_eq!(written(plus(v(0), 8), Some(4)), of_record(ALL), "of the next structure");
            assert_eq!(written(v(0), None), of_record(ALL));
            assert_eq!(written(v(1), Some(4)), Frame { scalars: true, ..Frame::default() });
            let moved = Expr::op(Op::Add, vec![v(0), v(2)]);
            assert_eq!(written(moved, Some(4)), of_record(ALL));
        }

        #[test]
        fn a_write_to_an_object_by_name_is_of_its_bytes() {
            let g = || Expr::Addr(Object::Global("g".into()));
            let of = |bytes| Frame { globals: [("g".into(), bytes)].into(), ..Frame::default() };
            assert_eq!(written(plus(g(), 8), Some(4)), of((8, 12)));
            assert_eq!(written(Expr::op(Op::Add, vec![g(), v(2)]), Some(4)), of(ALL));
            assert_eq!(written(Expr::Addr(Object::Local(crate::ir::VarId(2))), Some(4)), Frame::default());
        }

        #[test]
        fn a_write_that_is_based_on_two_things_may_be_anywhere() {
            let anything = Frame { anything: true, ..Frame::default() };
            assert_eq!(written(Expr::op(Op::Add, vec![v(0), v(1)]), Some(4)), anything);
            assert_eq!(written(v(2), Some(4)), anything, "a number is no pointer that we know");
        }

        #[test]
        fn frames_of_callees_are_joined_and_recursion_ends() {
            let g = |at| store(plus(Expr::Addr(Object::Global("g".into())), at), Expr::bv(32, 1), &int());
            let f = straight("f", &[], &[g(0), call(None, named("h"), vec![])]);
            let h = straight("h", &[], &[g(4), call(None, named("f"), vec![])]);
            let lost = straight("lost", &[], &[call(None, named("nobody_knows"), vec![])]);
            let unit = unit(Vec::new(), Vec::new(), vec![f, h, lost]);
            let all =
                Frame { globals: [("g".into(), (0, 4)), ("g".into(), (4, 8))].into(), ..Frame::default() };
            let mut frames = Frames::new();
            assert_eq!((frames.of(&unit, "f"), frames.of(&unit, "h")), (all.clone(), all));
            assert!(frames.of(&unit, "lost").anything && frames.of(&unit, "missing").anything);
        }

        #[test]
        fn joining_adds_what_either_writes() {
            let mut both = of_record((0, 4));
            both.join(&Frame { scalars: true, ..of_record((4, 8)) });
            assert_eq!(both.records, [(RecordId(0), (0, 4)), (RecordId(0), (4, 8))].into());
            assert!(both.scalars && !both.anything);
        }
    }
}
