//! Results of `strcmp`, `memcmp` and their like. C gives them a sign and no size (C17 7.24.4): C libraries return
//! differences of bytes or of words, compilers and sanitizers 1 and -1. A run that looks at more than the
//! sign is tried with each of these: where its outcome is another one, it is that of one machine, and no
//! difference between versions may rest on it.

use crate::ir::{Callee, Expr, Function, Instr, Op, VarId};
use std::collections::BTreeSet;

/// What the size of a result is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Magnitude {
    /// The difference of the bytes that differ first.
    #[default]
    Bytes,
    One,
    /// A difference of words: even, and a multiple of hardly anything else.
    Words,
}

impl Magnitude {
    /// What other machines give.
    pub const OTHERS: [Magnitude; 2] = [Magnitude::One, Magnitude::Words];

    /// The result for bytes with this difference.
    pub fn of(self, difference: i128) -> i128 {
        match self {
            Magnitude::Bytes => difference,
            Magnitude::One => difference.signum(),
            Magnitude::Words => difference * 65540,
        }
    }
}

/// The functions that compare.
const COMPARING: [&str; 7] = ["memcmp", "bcmp", "strcmp", "strcoll", "strncmp", "strcasecmp", "strncasecmp"];

/// Whether more than the sign of a call's result may be looked at, if what is called compares.
pub(super) fn is_sized(f: &Function, callee: &Callee, result: Option<VarId>) -> bool {
    let compares = match callee {
        Callee::Direct(name) => COMPARING.contains(&name.strip_prefix("__builtin_").unwrap_or(name)),
        Callee::Indirect(_) => true,
    };
    compares && result.is_some_and(|v| is_more_than_its_sign_used(f, v))
}

/// Whether anything but the sign of a variable is looked at, or may be: all that is done with it is a comparison
/// with zero. Cost: one walk over the function for each variable that it is copied to.
fn is_more_than_its_sign_used(f: &Function, result: VarId) -> bool {
    let mut copies = BTreeSet::from([result]);
    loop {
        let before = copies.len();
        for node in &f.nodes {
            if let Instr::Assign { dst, value: Expr::Var(v) } = &node.instr
                && copies.contains(v)
            {
                if f.vars.get(dst.0 as usize).is_none_or(|d| d.in_memory) {
                    return true;
                }
                copies.insert(*dst);
                continue;
            }
            let mut used = false;
            node.instr.for_each_operand(&mut |e| used |= uses_size(e, &copies));
            if used {
                return true;
            }
        }
        if copies.len() == before {
            return false;
        }
    }
}

/// Whether an expression reads one of these variables other than to compare it with zero.
fn uses_size(e: &Expr, vars: &BTreeSet<VarId>) -> bool {
    match e {
        Expr::Var(v) => vars.contains(v),
        Expr::Op { op: Op::Eq | Op::Slt | Op::Sle, args, .. } if args.iter().any(is_zero) => {
            args.iter().any(|a| !matches!(a, Expr::Var(_)) && uses_size(a, vars))
        }
        Expr::Op { args, .. } => args.iter().any(|a| uses_size(a, vars)),
        Expr::Const(_) | Expr::Addr(_) => false,
    }
}

fn is_zero(e: &Expr) -> bool {
    matches!(e, Expr::Const(c) if c.to_bits() == 0)
}

#[cfg(test)]
mod tests {
    use crate::{Comparison, Input, Limits, Program, run, run_pair};
    use crate::{frontend, history::MemoryTree};
    use std::path::Path;
    use std::sync::Arc;

    const START: &str =
        "#include <string.h>\n#include <stdio.h>\nchar a[] = \"a\", b[] = \"b\", c[] = \"c\", d[] = \"d\";\n";

    /// Whether the outcome of `f` is that of this machine, and whether only the sign of its result counts.
    fn program(source: &str) -> Program {
        let tree = MemoryTree::new([("t.c", source.as_bytes())]);
        let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
        Program::new(vec![Arc::new(loaded.unit)])
    }

    #[track_caller]
    fn check(body: &str, expected: (bool, bool)) {
        let p = program(&format!("{START}int f(void) {{ {body} }}"));
        let o = run(&p, "f", &Input::default(), &Limits::default());
        assert_eq!((o.portability.platform_dependent, o.portability.is_sign_only), expected, "{body}");
    }

    #[test]
    fn runs_that_look_at_more_than_the_sign_are_one_machines() {
        check("return memcmp(c, a, 1) < 0;", (false, false));
        check("if (strcmp(c, a)) return 3; return 4;", (false, false));
        check("int r = strcmp(c, a); return r > 0 ? 1 : r < 0 ? -1 : 0;", (false, false));
        check("return strcmp(c, a);", (false, true));
        check("return strcmp(a, a);", (false, false));
        check("return memcmp(b, a, 1) % 3 + 3;", (false, true));
        check("return memcmp(b, a, 1) % 3 == 1;", (true, false));
        check("printf(\"%d\", strncmp(c, a, 1)); return 0;", (true, false));
        check("int r, *p = &r; *p = strcmp(c, a); return *p == 1;", (true, false));
        check(
            "int (*compare)(const char *, const char *) = strcmp; return compare(c, a) == 2;",
            (true, false),
        );
    }

    #[test]
    fn versions_differ_in_the_signs_of_results() {
        let verdict = |old: &str, new: &str| {
            let of = |e: &str| program(&format!("{START}int f(void) {{ return {e}; }}"));
            let (a, b) = (of(old), of(new));
            run_pair((&a, "f"), (&b, "f"), &Input::default(), &Limits::default()).verdict
        };
        let different = |v| matches!(v, Comparison::Different(_));
        assert!(different(verdict("strcmp(a, c)", "strcmp(c, a)")));
        assert!(!different(verdict("strcmp(a, c)", "strcmp(a, d)")));
    }
}
