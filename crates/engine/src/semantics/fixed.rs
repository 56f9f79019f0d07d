//! Objects whose value is known although nothing declares them `const`: `static`, and all that the unit does
//! with them is to read them.
//!
//! Nothing else can name such an object, and where its address goes nowhere but into variables and parameters
//! of the unit that are only read through or compared, nobody writes it. An address in an initialiser goes
//! where what is loaded from there goes. What cannot be read of a unit may do anything to it, so a unit with
//! gaps has none of them.

use super::library;
use crate::ir::{CType, Callee, Expr, Global, InitPiece, Instr, Linkage, Object, Op, Unit, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Marks these objects of a unit. Cost: one walk over the unit.
pub fn settle(unit: &mut Unit) {
    if !unit.is_whole || unit.functions.iter().any(|f| !f.unknowns.is_empty()) {
        return;
    }
    let touched = touched(unit);
    for g in &mut unit.globals {
        let is_own = g.linkage == Linkage::Internal && g.size > 0 && !g.is_const;
        g.is_fixed = is_own && !touched.contains(&g.symbol);
    }
}

/// A variable of the function of a number.
type Holder = (usize, VarId);

/// Where the addresses of objects go, and to which of them something else is done than reading. Objects go by
/// their numbers in the unit.
#[derive(Default)]
struct Flow {
    numbers: BTreeMap<Arc<str>, usize>,
    /// By object: those whose addresses are in its initialiser.
    inside: Vec<Vec<usize>>,
    /// By variable: those that get its value.
    given: BTreeMap<Holder, Vec<Holder>>,
    /// By variable: those that get what is loaded from where it leads to.
    loaded: BTreeMap<Holder, Vec<Holder>>,
    /// By variable: the objects whose addresses it may have.
    leads_to: BTreeMap<Holder, BTreeSet<usize>>,
    /// Variables that something is done to beside reading, and those whose targets are copied elsewhere.
    touched: BTreeSet<Holder>,
    passed_on: BTreeSet<Holder>,
    /// The same of objects that are named themselves.
    touched_objects: BTreeSet<usize>,
    passed_on_objects: BTreeSet<usize>,
    /// Which function of the unit a call by a name leads to, once it was asked.
    callees: BTreeMap<Arc<str>, Option<usize>>,
    work: Vec<(Holder, usize)>,
}

/// Symbols of objects that something is done to beside reading them, or may be. Inclusion-based, as Andersen's
/// analysis; what is stored anywhere counts as touched.
fn touched(unit: &Unit) -> BTreeSet<Arc<str>> {
    let mut flow = Flow::default();
    let numbers = unit.globals.iter().enumerate().map(|(i, g)| (g.symbol.clone(), i));
    flow.numbers = numbers.collect();
    let number = |symbol: &Arc<str>| flow.numbers.get(symbol).copied();
    let inside = |g: &Global| g.init.iter().flat_map(InitPiece::symbols).filter_map(number).collect();
    flow.inside = unit.globals.iter().map(inside).collect();
    for (i, g) in unit.globals.iter().enumerate() {
        // Other files may do anything with what they find there; what an initialiser says that is not
        // understood may be part of another address.
        let is_open = matches!(g.linkage, Linkage::External | Linkage::Weak)
            || g.init.iter().any(|piece| matches!(piece, InitPiece::Unknown { .. }));
        if is_open {
            flow.passed_on_objects.insert(i);
        }
    }
    for (at, f) in unit.functions.iter().enumerate() {
        f.nodes.iter().for_each(|n| flow.instr(unit, at, &n.instr));
    }
    let touched = flow.solved();
    unit.globals
        .iter()
        .enumerate()
        .filter(|(i, _)| touched.contains(i))
        .map(|(_, g)| g.symbol.clone())
        .collect()
}

impl Flow {
    /// Follows the addresses, and returns the objects that are touched.
    fn solved(mut self) -> BTreeSet<usize> {
        while let Some((holder, object)) = self.work.pop() {
            if !self.leads_to.entry(holder).or_default().insert(object) {
                continue;
            }
            let next = self.given.get(&holder).into_iter().flatten().map(|to| (*to, object));
            self.work.extend(next);
            for to in self.loaded.get(&holder).into_iter().flatten() {
                self.work.extend(self.inside[object].iter().map(|inner| (*to, *inner)));
            }
        }
        let targets = |holders: &BTreeSet<Holder>| -> BTreeSet<usize> {
            holders.iter().filter_map(|h| self.leads_to.get(h)).flatten().copied().collect()
        };
        let mut touched = &self.touched_objects | &targets(&self.touched);
        let passed_on = &self.passed_on_objects | &targets(&self.passed_on);
        let mut work: Vec<usize> = touched.iter().chain(&passed_on).copied().collect();
        while let Some(object) = work.pop() {
            work.extend(self.inside[object].iter().copied().filter(|inner| touched.insert(*inner)));
        }
        touched
    }

    fn instr(&mut self, unit: &Unit, at: usize, instr: &Instr) {
        match instr {
            Instr::Assign { dst, value } => self.give(at, value, (at, *dst)),
            Instr::Load { addr, access, .. } if access.volatile => self.touch(at, addr),
            Instr::Load { dst, addr, .. } => self.load(at, addr, (at, *dst)),
            Instr::Branch { .. } => {}
            Instr::Copy { dst, src, .. } => {
                self.touch(at, dst);
                self.pass_on(at, src);
            }
            Instr::Call { callee: Callee::Direct(name), args, ret, result_to, .. } => {
                let callee = self.callee(unit, name);
                for (k, arg) in args.iter().enumerate() {
                    match callee {
                        Some(callee) => match parameter(unit, callee, k) {
                            Some(to) => self.give(at, arg, to),
                            None => self.touch(at, arg),
                        },
                        None if is_read(unit, name, args, k, ret) => self.pass_on(at, arg),
                        None => self.touch(at, arg),
                    }
                }
                result_to.iter().for_each(|to| self.touch(at, to));
            }
            _ => instr.for_each_operand(&mut |e| self.touch(at, e)),
        }
    }

    fn callee(&mut self, unit: &Unit, name: &Arc<str>) -> Option<usize> {
        if let Some(known) = self.callees.get(name) {
            return *known;
        }
        let found = unit.callee(name).and_then(|f| unit.functions.iter().position(|g| std::ptr::eq(f, &**g)));
        self.callees.insert(name.clone(), found);
        found
    }

    fn touch(&mut self, at: usize, e: &Expr) {
        let carried = self.carried(at, e);
        self.touched_objects.extend(carried.objects);
        self.touched.extend(carried.holders);
    }

    /// What is behind an address goes somewhere, the address does not.
    fn pass_on(&mut self, at: usize, e: &Expr) {
        let carried = self.carried(at, e);
        self.passed_on_objects.extend(carried.objects);
        self.passed_on.extend(carried.holders);
    }

    fn give(&mut self, at: usize, e: &Expr, to: Holder) {
        let carried = self.carried(at, e);
        self.work.extend(carried.objects.into_iter().map(|object| (to, object)));
        carried.holders.into_iter().for_each(|from| self.given.entry(from).or_default().push(to));
    }

    fn load(&mut self, at: usize, addr: &Expr, to: Holder) {
        let carried = self.carried(at, addr);
        let inside = carried.objects.iter().flat_map(|object| &self.inside[*object]);
        self.work.extend(inside.map(|inner| (to, *inner)));
        carried.holders.into_iter().for_each(|from| self.loaded.entry(from).or_default().push(to));
    }

    /// Whose address the value of an expression may have.
    fn carried(&self, at: usize, e: &Expr) -> Carried {
        let mut found = Carried::default();
        found.add(self, at, e);
        found
    }
}

/// What the value of an expression may have an address from.
#[derive(Default)]
struct Carried {
    objects: Vec<usize>,
    holders: Vec<Holder>,
}

impl Carried {
    /// Comparisons keep no address.
    fn add(&mut self, flow: &Flow, at: usize, e: &Expr) {
        match e {
            Expr::Addr(Object::Global(symbol)) => self.objects.extend(flow.numbers.get(symbol)),
            Expr::Var(v) => self.holders.push((at, *v)),
            Expr::Op {
                op: Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FEq | Op::FLt | Op::FLe,
                ..
            } => {}
            Expr::Op { args, .. } => args.iter().for_each(|a| self.add(flow, at, a)),
            Expr::Const(_) | Expr::Addr(_) => {}
        }
    }
}

/// The parameter of a function of the unit that gets an argument; none where it has an address, too.
fn parameter(unit: &Unit, callee: usize, k: usize) -> Option<Holder> {
    let f = unit.functions.get(callee)?;
    let param = f.params.get(k).filter(|p| !f.var(**p).in_memory)?;
    Some((callee, *param))
}

/// Functions whose result leads to where their first argument does, and to no other.
const RESULT_IS_FIRST: [&str; 8] =
    ["memcpy", "memmove", "mempcpy", "strcpy", "strncpy", "stpcpy", "strcat", "strncat"];

/// Whether a function of the library only reads what an argument leads to, and keeps no pointer.
fn is_read(unit: &Unit, name: &str, args: &[Expr], k: usize, ret: &CType) -> bool {
    let Some(row) = library::row_of_call(unit, name, args) else { return false };
    let keeps = ret.is_pointer() && !(k > 0 && RESULT_IS_FIRST.contains(&row.name));
    row.reads_arg(k) && !row.writes_arg(k) && !keeps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{self, c};
    use crate::history::MemoryTree;

    /// Names of the objects of a unit that are known beside those that are declared so.
    #[track_caller]
    fn check(source: &str, expected: &str) {
        let tree = MemoryTree::new([("a.c", source)]);
        let loaded = frontend::load_unit(&tree, std::path::Path::new("a.c"), &c::Options::default());
        let mut unit = loaded.expect("a unit").unit;
        settle(&mut unit);
        let names: Vec<&str> = unit.globals.iter().filter(|g| g.is_fixed).map(|g| &*g.symbol).collect();
        assert_eq!(names.join(" "), expected, "{source}");
    }

    #[test]
    fn what_is_only_read_is_known() {
        check("static int a = 8, b; int f(int x) { return x > a ? b : 0; }", "a b");
        check("static int a = 8; int f(int x) { return a++; }", "");
        check("static int a = 8; int *f(void) { return &a; }", "");
        check("static int a[2] = {8}; int f(int i) { return a[i]; }", "a");
        check("static int a[2] = {8}; int f(int i) { int *p = a; return p[i]; }", "a");
        check("static int a[2] = {8}; int f(int i) { int *p = a; return p[i] = 1; }", "");
        check("static int a[2] = {8}; int f(int i) { int *p = a; int **q = &p; return **q; }", "");
        check("static int a[2] = {8}; int f(int *p) { return p == a ? *p : 0; }", "a");
        check("static int g(int *p) { return *p; } static int a = 8; int f(void) { return g(&a); }", "a");
        check("static int g(int *p) { return *p = 1; } static int a = 8; int f(void) { return g(&a); }", "");
        check("int g(int *p); static int a = 8; int f(void) { return g(&a); }", "");
        check("static int *g(int *p) { return p; } static int a = 8; int f(void) { return *g(&a); }", "");
        check("static int a = 8; static int *p = &a; int f(void) { return *p; }", "a p");
        check("static int a = 8; static int *const p = &a; int f(int x) { int r = *p + x; return r; }", "a");
        check("static int a = 8; static int *p = &a; int f(void) { return *p += 1; }", "p");
        check("static int a = 8; int *const p = &a; int f(void) { return *p; }", "");
        check("static int a = 8; static int *p = &a; int *f(void) { return p; }", "p");
        check("static int a = 8; static int *p = &a; int **f(void) { return &p; }", "");
        check(
            "static int a = 8; static int *p[] = {&a}; static int **q = p; int f(void) { return **q; }",
            "a p q",
        );
        check(
            "static int a = 8; static int *p[] = {&a}; static int **q = p; int f(void) { return **q = 1; }",
            "p q",
        );
        check(
            "static int a = 8; static int *p[] = {&a}; static int **q = p; int *f(void) { return q[0] = 0; }",
            "q",
        );
        check(
            "struct s { int *p; }; static int a = 8; static struct s s = {&a}; int f(struct s t) { t = s; return *t.p = 1; }",
            "s",
        );
        check(
            "static int a = 8; static int *p = &a; int g(int *); int f(void) { int *q = p; return g(q); }",
            "p",
        );
        check("static int a = 8; static int *p = &a, *r; int f(void) { r = p; return *r; }", "p");
        check("int a = 8; int f(void) { return a; }", "");
        check("static volatile int a = 8; int f(void) { return a; }", "");
        check("int f(void) { static int a = 8; return a; }", "f.a");
        check("int f(void) { static int a = 8; return a -= 1; }", "");
        check(
            "struct s { int x, y; }; static struct s a = {1, 2}; int f(void) { struct s b = a; return b.y; }",
            "a",
        );
        check("struct s { int x, y; }; static struct s a; int f(struct s b) { a = b; return a.y; }", "");
    }

    #[test]
    fn the_library_reads_what_it_does_not_format() {
        let stdio = "#include <stdio.h>\n#include <string.h>\n";
        check(&format!("{stdio}static char a[] = \"x\"; int f(void) {{ return puts(a) + strlen(a); }}"), "a");
        check(&format!("{stdio}static int a; int f(void) {{ return printf(\"%n\", &a); }}"), "");
        check(&format!("{stdio}static char a[] = \"x\"; int f(void) {{ return printf(\"%s\", a); }}"), "a");
        check(&format!("{stdio}static char a[] = \"%d\"; int f(int x) {{ return printf(a, x); }}"), "a");
        check(
            &format!(
                "{stdio}static int a[] = {{1, 2}}; int f(void) {{ int b[2]; memcpy(b, a, 8); return b[1]; }}"
            ),
            "a",
        );
        check(&format!("{stdio}static int a[2]; void f(int *b) {{ memcpy(a, b, 8); }}"), "");
        check(
            &format!(
                "{stdio}static int a; static int *p = &a; int f(void) {{ int *q; memcpy(&q, &p, 8); return *q = 1; }}"
            ),
            "p",
        );
        check(&format!("{stdio}static int a; int f(void) {{ return scanf(\"%d\", &a); }}"), "");
        check(&format!("{stdio}static char a[9]; int f(void) {{ return scanf(\"%8s\", a); }}"), "");
        check(&format!("{stdio}static char a[9]; char *f(void) {{ return strchr(a, 1); }}"), "");
    }

    #[test]
    fn gaps_hide_what_is_done() {
        check("static int a = 8; int f(void) { return a; } int g(void) { __asm__(\"nop\"); return 1; }", "");
    }

    mod by_hand {
        use super::super::*;
        use crate::by_hand::{assign, call, global, int, load, named, pointer, store, straight, unit, v};

        fn g() -> Expr {
            Expr::Addr(Object::Global("g".into()))
        }

        /// Whether `g` is known in a unit of a function of these instructions, which has a pointer `p` (0) and a
        /// number (1), and of one that writes through its argument.
        #[track_caller]
        fn check(instrs: &[Instr], expected: bool) {
            let vars = [(".p", pointer(int())), (".r", int())];
            let writer = straight("put", &[("q", pointer(int()))], &[store(v(0), Expr::bv(32, 1), &int())]);
            let functions = vec![straight("f", &vars, instrs), writer];
            let mut unit = unit(Vec::new(), vec![global("g", int(), 4, Vec::new())], functions);
            settle(&mut unit);
            assert_eq!(unit.globals[0].is_fixed, expected, "{instrs:?}");
        }

        #[test]
        fn an_object_that_is_read_by_name_or_pointer_is_known() {
            check(&[load(1, g(), &int())], true);
            check(&[assign(0, g()), load(1, v(0), &int())], true);
            check(&[Instr::Branch { cond: Expr::op(Op::Eq, vec![v(0), g()]) }], true);
        }

        #[test]
        fn an_object_that_is_written_or_goes_elsewhere_is_not() {
            check(&[store(g(), v(1), &int())], false);
            check(&[assign(0, g()), store(v(0), v(1), &int())], false);
            check(&[call(None, named("put"), vec![g()])], false);
            check(&[call(None, named("nobody_knows"), vec![g()])], false);
            check(&[Instr::Return { value: Some(g()) }], false);
        }

        #[test]
        fn an_object_of_other_files_or_of_a_unit_with_gaps_is_not() {
            let settled = |change: &dyn Fn(&mut Unit)| {
                let f = straight("f", &[(".r", int())], &[load(0, g(), &int())]);
                let mut unit = unit(Vec::new(), vec![global("g", int(), 4, Vec::new())], vec![f]);
                change(&mut unit);
                settle(&mut unit);
                unit.globals[0].is_fixed
            };
            assert!(settled(&|_| ()));
            assert!(!settled(&|u| u.is_whole = false));
            assert!(!settled(&|u| u.globals[0].linkage = Linkage::External));
            assert!(!settled(&|u| u.globals[0].is_const = true), "it is declared so");
            let gap = || crate::ir::Unknown { line: 1, reason: "asm".into() };
            assert!(!settled(&|u| Arc::make_mut(&mut u.functions[0]).unknowns.push(gap())));
        }
    }
}
