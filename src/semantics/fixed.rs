//! Objects whose value is known although nothing declares them `const`: `static`, and all that the unit does
//! with them is to read them.
//!
//! Nothing else can name such an object, and where its address is never more than that of a read, no pointer
//! leads to it. What cannot be read of a unit may do anything to it, so a unit with gaps has none of them.

use super::library;
use crate::ir::{Callee, Expr, InitPiece, Instr, Linkage, Object, Unit};
use std::collections::BTreeSet;
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

/// Symbols of objects that something is done to beside reading them, or may be.
fn touched(unit: &Unit) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    let pieces = unit.globals.iter().flat_map(|g| &g.init);
    found.extend(pieces.filter_map(|p| match p {
        InitPiece::Address { symbol, .. } => Some(symbol.clone()),
        InitPiece::Bytes { .. } => None,
    }));
    for instr in unit.functions.iter().flat_map(|f| f.nodes.iter().map(|n| &n.instr)) {
        instr.for_each_operand(&mut |operand| {
            if !is_read(unit, instr, operand) {
                operand.for_each(&mut |e| {
                    if let Expr::Addr(Object::Global(symbol)) = e {
                        found.insert(symbol.clone());
                    }
                });
            }
        });
    }
    found
}

/// Whether an instruction only reads what an operand of it leads to, and keeps no pointer.
fn is_read(unit: &Unit, instr: &Instr, operand: &Expr) -> bool {
    match instr {
        Instr::Load { addr, access, .. } => std::ptr::eq(addr, operand) && !access.volatile,
        Instr::Copy { src, .. } => std::ptr::eq(src, operand),
        Instr::Call { callee: Callee::Direct(name), args, ret, .. } => {
            let Some(row) = library::row(name).filter(|_| unit.function(name).is_none()) else {
                return false;
            };
            let place = args.iter().position(|a| std::ptr::eq(a, operand));
            let reads = |k: usize| row.reads_arg(k) && !row.writes_arg(k);
            // A format may ask for its arguments to be written to.
            place.is_some_and(reads) && !ret.is_pointer() && !name.contains("printf")
        }
        _ => false,
    }
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
        check("static int a[2] = {8}; int f(int i) { int *p = a; return p[i]; }", "");
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
