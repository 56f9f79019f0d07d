//! Objects whose value is known although nothing declares them `const`: `static`, and all that the unit does
//! with them is to read them.
//!
//! Nothing else can name such an object, and where its address goes nowhere but into variables and parameters
//! of the unit that are only read through or compared, nobody writes it. What cannot be read of a unit may do anything to it, so a unit with gaps has none of them.

use super::library;
use crate::ir::{CType, Callee, Expr, InitPiece, Instr, Linkage, Object, Op, Unit, VarId};
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

/// What may hold the address of an object: the object's own name, or a variable of the function of a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Symbol(Arc<str>),
    Var(usize, VarId),
}

/// Where addresses go: who holds one that another one gets, and to whom something else is done than reading.
#[derive(Default)]
struct Flow {
    /// By who gets it: who gave it.
    given: BTreeMap<Holder, Vec<Holder>>,
    touched: BTreeSet<Holder>,
    /// Which function of the unit a call by a name leads to, once it was asked.
    callees: BTreeMap<Arc<str>, Option<usize>>,
}

/// Symbols of objects that something is done to beside reading them, or may be.
fn touched(unit: &Unit) -> BTreeSet<Arc<str>> {
    let mut flow = Flow::default();
    for symbol in unit.globals.iter().flat_map(|g| &g.init).flat_map(InitPiece::symbols) {
        flow.touched.insert(Holder::Symbol(symbol.clone()));
    }
    for (at, f) in unit.functions.iter().enumerate() {
        f.nodes.iter().for_each(|n| flow.instr(unit, at, &n.instr));
    }
    let mut work: Vec<Holder> = flow.touched.iter().cloned().collect();
    while let Some(holder) = work.pop() {
        for giver in flow.given.remove(&holder).into_iter().flatten() {
            if flow.touched.insert(giver.clone()) {
                work.push(giver);
            }
        }
    }
    let symbols = flow.touched.into_iter().filter_map(|holder| match holder {
        Holder::Symbol(symbol) => Some(symbol),
        Holder::Var(..) => None,
    });
    symbols.collect()
}

impl Flow {
    fn instr(&mut self, unit: &Unit, at: usize, instr: &Instr) {
        match instr {
            Instr::Assign { dst, value } => self.give(at, value, Holder::Var(at, *dst)),
            Instr::Load { addr, access, .. } if access.volatile => self.touch(at, addr),
            Instr::Load { .. } | Instr::Branch { .. } => {}
            Instr::Copy { dst, .. } => self.touch(at, dst),
            Instr::Call { callee: Callee::Direct(name), args, ret, result_to, .. } => {
                let callee = self.callee(unit, name);
                for (k, arg) in args.iter().enumerate() {
                    match callee {
                        Some(callee) => match parameter(unit, callee, k) {
                            Some(to) => self.give(at, arg, to),
                            None => self.touch(at, arg),
                        },
                        None if is_read(unit, name, k, ret) => {}
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
        let found = unit.callee(name).and_then(|f| unit.functions.iter().position(|g| std::ptr::eq(f, g)));
        self.callees.insert(name.clone(), found);
        found
    }

    fn touch(&mut self, at: usize, e: &Expr) {
        carried(at, e, &mut |holder| _ = self.touched.insert(holder));
    }

    fn give(&mut self, at: usize, e: &Expr, to: Holder) {
        carried(at, e, &mut |holder| self.given.entry(to.clone()).or_default().push(holder));
    }
}

/// The parameter of a function of the unit that gets an argument; none where it has an address, too.
fn parameter(unit: &Unit, callee: usize, k: usize) -> Option<Holder> {
    let f = unit.functions.get(callee)?;
    let param = f.params.get(k).filter(|p| !f.var(**p).in_memory)?;
    Some(Holder::Var(callee, *param))
}

/// Calls `f` with whom the value of an expression may have an address from: comparisons keep none.
fn carried(at: usize, e: &Expr, f: &mut impl FnMut(Holder)) {
    match e {
        Expr::Addr(Object::Global(symbol)) => f(Holder::Symbol(symbol.clone())),
        Expr::Var(v) => f(Holder::Var(at, *v)),
        Expr::Op {
            op: Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FEq | Op::FLt | Op::FLe, ..
        } => {}
        Expr::Op { args, .. } => args.iter().for_each(|a| carried(at, a, f)),
        Expr::Const(_) | Expr::Addr(_) => {}
    }
}

/// Whether a function of the library only reads what an argument leads to, and keeps no pointer.
fn is_read(unit: &Unit, name: &str, k: usize, ret: &CType) -> bool {
    let Some(row) = library::row(name).filter(|_| unit.function(name).is_none()) else { return false };
    // A format may ask for its arguments to be written to.
    row.reads_arg(k) && !row.writes_arg(k) && !ret.is_pointer() && !name.contains("printf")
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
        check("static int a = 8; static int *p = &a; int f(void) { return *p; }", "p");
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
        check(&format!("{stdio}static int a; int f(void) {{ return scanf(\"%d\", &a); }}"), "");
        check(&format!("{stdio}static char a[9]; int f(void) {{ return scanf(\"%8s\", a); }}"), "");
        check(&format!("{stdio}static char a[9]; char *f(void) {{ return strchr(a, 1); }}"), "");
    }

    #[test]
    fn gaps_hide_what_is_done() {
        check("static int a = 8; int f(void) { return a; } int g(void) { __asm__(\"nop\"); return 1; }", "");
    }
}
