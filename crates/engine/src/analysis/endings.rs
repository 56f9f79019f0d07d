//! Whether two versions end on the same inputs. What is said of the exit speaks of runs that come there; a loop
//! that one version leaves and the other does not is no fact of it.
//!
//! A loop *ends by itself* where each round counts one towards a bound that stays, takes steps in one direction
//! along memory that it accesses (to leave an object is undefined), or goes on only if it has read something:
//! input is finite. Of every other loop all that decides whether it is entered and left is spelled (a slice, which
//! follows variables one by one and takes memory as one), and where the versions spell it differently, nobody
//! knows.

use super::lineage::Member;
use crate::invariant::{FunctionDiff, OpenKind, Undecided};
use crate::ir::{Callee, Expr, Function, Instr, Op, Sort, VarId, VarKind};
use crate::mvicfg::key::{self, SourceNames};
use crate::mvicfg::{ClassId, VersionId};
use crate::semantics::library;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Variables through which a result is followed to the branch that asks for it.
const MAX_COPIES: usize = 4;

/// Nodes, by number.
type Part = BTreeSet<usize>;

/// Adds an open question for each pair of classes whose loops may end on other inputs, where nothing else tells of
/// the change.
pub(super) fn tell(members: &[(VersionId, &Member)], pairs: &[(ClassId, ClassId)], diff: &mut FunctionDiff) {
    for &(from, to) in pairs {
        let (old, new) = (members[from].1, members[to].1);
        let Some(point) = diff.points.first_mut() else { continue };
        let here = |c: &&crate::invariant::Churn| (c.from, c.to) == (from, to) && c.subject.is_observable();
        let is_shown = point.churns.iter().any(|c| here(&c) && c.witness.is_some());
        if is_shown || point.same.contains(&(from, to)) {
            continue;
        }
        if decisions(&old.inlined) != decisions(&new.inlined) {
            let reason = "its loops may end on other inputs";
            point.undecided.push(Undecided::all_runs(OpenKind::Endings, reason));
        }
    }
}

/// A function whose writers are listed by what they write: each question of a loop asks for them.
struct Body<'f> {
    f: &'f Function,
    writers: HashMap<VarId, Vec<usize>>,
}

impl<'f> Body<'f> {
    /// Cost: one pass over the function.
    fn new(f: &'f Function) -> Self {
        let mut writers: HashMap<VarId, Vec<usize>> = HashMap::new();
        for (i, n) in f.nodes.iter().enumerate() {
            n.instr.written().into_iter().for_each(|v| writers.entry(v).or_default().push(i));
        }
        Body { f, writers }
    }

    fn instr(&self, at: usize) -> &'f Instr {
        &self.f.nodes[at].instr
    }

    /// The nodes of a part that write a variable, from the first.
    fn writers<'a>(&'a self, part: &'a Part, var: VarId) -> impl Iterator<Item = usize> + 'a {
        self.writers.get(&var).into_iter().flatten().copied().filter(|i| part.contains(i))
    }
}

/// The parts of a function, among some of its nodes, in which control can go round. Cost: a search for strongly
/// connected parts among these.
pub(super) fn cycles(f: &Function, among: impl Iterator<Item = usize>) -> Vec<Part> {
    let mut graph = DiGraph::<usize, ()>::new();
    let names: BTreeMap<usize, NodeIndex> = among.map(|i| (i, graph.add_node(i))).collect();
    for (&i, &name) in &names {
        let next = f.nodes[i].succs.iter().filter_map(|s| names.get(&(s.0 as usize)));
        next.for_each(|&s| _ = graph.add_edge(name, s, ()));
    }
    let parts = petgraph::algo::kosaraju_scc(&graph).into_iter();
    let is_cycle = |p: &Vec<NodeIndex>| p.len() > 1 || p.iter().any(|n| graph.contains_edge(*n, *n));
    parts.filter(is_cycle).map(|p| p.into_iter().map(|n| graph[n]).collect()).collect()
}

/// What decides which runs end, as text; nothing where all do.
fn decisions(f: &Function) -> Vec<String> {
    let loops = cycles(f, 0..f.nodes.len());
    if loops.is_empty() {
        return Vec::new();
    }
    let body = Body::new(f);
    let open: Vec<Part> = loops.into_iter().filter(|part| !ends(&body, part)).collect();
    let within: Part = open.iter().flatten().copied().collect();
    if within.is_empty() {
        return Vec::new();
    }
    let before = leading_to(f, &within);
    let slice = slice(&body, &before);
    let text = |&i: &usize| {
        let mut out = String::new();
        key::instr(&mut out, &f.nodes[i].instr, &SourceNames(f));
        if matches!(f.nodes[i].instr, Instr::Branch { .. }) {
            let ways = f.nodes[i].succs.iter().map(|s| s.0 as usize);
            ways.for_each(|s| out.push_str(if before.contains(&s) { " on" } else { " off" }));
        }
        out
    };
    slice.iter().map(text).chain([format!("{} loops", open.len())]).collect()
}

/// The nodes from which some node can be reached. Cost: one pass over the edges.
fn leading_to(f: &Function, to: &Part) -> Part {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); f.nodes.len()];
    for (i, n) in f.nodes.iter().enumerate() {
        n.succs.iter().for_each(|s| before[s.0 as usize].push(i));
    }
    let mut is_found = vec![false; f.nodes.len()];
    to.iter().for_each(|&i| is_found[i] = true);
    let mut open: Vec<usize> = to.iter().copied().collect();
    while let Some(at) = open.pop() {
        for &i in &before[at] {
            if !std::mem::replace(&mut is_found[i], true) {
                open.push(i);
            }
        }
    }
    (0..f.nodes.len()).filter(|&i| is_found[i]).collect()
}

/// The branches among these nodes, and all that their conditions rest on. Cost: each node is looked at once, and
/// once more when memory comes to count.
fn slice(body: &Body, among: &Part) -> Part {
    // What counts whatever the conditions ask, and what does where they rest on memory.
    let counts = |i: &usize| {
        matches!(body.instr(*i), Instr::Branch { .. } | Instr::Unknown { .. } | Instr::Measure { .. })
    };
    let is_memory = |i: &usize| {
        use Instr::{Call, Copy, Store, Zero};
        matches!(body.instr(*i), Call { .. } | Store { .. } | Copy { .. } | Zero { .. })
    };
    let mut open: Vec<usize> = among.iter().copied().filter(counts).collect();
    let (mut found, mut vars, mut memory): (Part, _, _) = (Part::new(), BTreeSet::new(), false);
    while let Some(at) = open.pop() {
        if !found.insert(at) {
            continue;
        }
        let instr = body.instr(at);
        let reads = matches!(
            instr,
            Instr::Load { .. } | Instr::Call { .. } | Instr::Copy { .. } | Instr::Unknown { .. }
        );
        if reads && !std::mem::replace(&mut memory, true) {
            open.extend(among.iter().copied().filter(is_memory));
        }
        instr.for_each_expr(&mut |e| match e {
            Expr::Var(v) if vars.insert(*v) => {
                let gives = |i: &usize| {
                    matches!(body.instr(*i), Instr::Assign { .. } | Instr::Load { .. } | Instr::Call { .. })
                };
                open.extend(body.writers(among, *v).filter(gives));
            }
            _ => {}
        });
    }
    found
}

/// Whether control leaves a part whatever happens, or does something undefined.
fn ends(body: &Body, part: &Part) -> bool {
    part.iter().any(|&at| {
        let one = |at: usize| Part::from([at]);
        let counters: Vec<Part> = match body.instr(at) {
            Instr::Branch { cond } => match leaving(body, part, at, cond) {
                Some(exit) => {
                    bounded(body, part, exit).into_iter().chain(reading(body, part, exit)).map(one).collect()
                }
                None => return false,
            },
            Instr::Load { addr, .. } | Instr::Store { addr, .. } => {
                walked(body, part, addr).into_iter().collect()
            }
            _ => return false,
        };
        if counters.is_empty() {
            return false;
        }
        // Without this node, only rounds are left that end by themselves.
        let inner = cycles(body.f, part.iter().copied().filter(|i| *i != at));
        let goes_on = |steps: Part| {
            let others = cycles(body.f, part.iter().copied().filter(|i| !steps.contains(i)));
            inner.iter().all(|c| c.is_disjoint(&steps)) && !others.iter().any(|c| c.contains(&at))
        };
        counters.into_iter().any(goes_on) && inner.iter().all(|c| ends(body, c))
    })
}

/// The only node of a part that writes a variable.
fn writer(body: &Body, part: &Part, var: VarId) -> Option<usize> {
    let mut all = body.writers(part, var);
    all.next().filter(|_| all.next().is_none())
}

/// The variable of which a temporary keeps the value from before its step (`i++` as a value).
fn source(body: &Body, part: &Part, v: VarId) -> VarId {
    let kept = writer(body, part, v).filter(|_| body.f.var(v).kind == VarKind::Temp);
    match kept.map(|at| body.instr(at)) {
        Some(Instr::Assign { value: Expr::Var(own), .. }) => *own,
        _ => v,
    }
}

/// The only node of a part that writes a variable, where it adds a constant, and the constant.
fn step(body: &Body, part: &Part, var: VarId) -> Option<(usize, i128)> {
    let at = writer(body, part, var)?;
    Some((at, added(body, part, var, at)?))
}

/// The nodes of a part that write a variable, where all of them add constants of one sign.
fn steps(body: &Body, part: &Part, var: VarId) -> Option<Part> {
    let writers: Part = body.writers(part, var).collect();
    let by: Option<Vec<i128>> = writers.iter().map(|at| added(body, part, var, *at)).collect();
    let is_one_way = |by: &Vec<i128>| by.iter().all(|k| *k > 0) || by.iter().all(|k| *k < 0);
    by.is_some_and(|by| by.iter().all(|k| is_step(*k)) && is_one_way(&by)).then_some(writers)
}

/// The constant that a node adds to a variable.
fn added(body: &Body, part: &Part, var: VarId, at: usize) -> Option<i128> {
    let Instr::Assign { value: Expr::Op { op, args, .. }, .. } = body.instr(at) else { return None };
    let [Expr::Var(own), Expr::Const(by)] = args.as_slice() else { return None };
    let by = by.signed().filter(|_| source(body, part, *own) == var && !body.f.var(var).in_memory)?;
    match op {
        Op::Add => Some(by),
        Op::Sub => Some(-by),
        _ => None,
    }
}

fn stays(body: &Body, part: &Part, e: &Expr) -> bool {
    let mut stays = true;
    let written = |v: VarId| body.writers(part, v).next().is_some();
    e.for_each(&mut |x| stays &= !matches!(x, Expr::Var(v) if written(*v)));
    stays
}

/// What a branch asks that leads out of a part, and whether rounds go on while it holds; none of one that stays
/// inside whatever it finds.
fn leaving<'e>(body: &Body, part: &Part, at: usize, cond: &'e Expr) -> Option<(&'e Expr, bool)> {
    let inside = |k: usize| body.f.nodes[at].succs.get(k).is_some_and(|s| part.contains(&(s.0 as usize)));
    let (mut cond, mut while_true) = match (inside(0), inside(1)) {
        (true, false) => (cond, true),
        (false, true) => (cond, false),
        _ => return None,
    };
    while let Expr::Op { op: Op::Not, args, .. } = cond {
        (cond, while_true) = (args.first()?, !while_true);
    }
    Some((cond, while_true))
}

/// The steps by one that bring a branch out of a part. A signed counter that is widened overflows first, which C
/// leaves undefined.
fn bounded(body: &Body, part: &Part, (cond, while_true): (&Expr, bool)) -> Vec<usize> {
    let Expr::Op { op, args, .. } = cond else { return Vec::new() };
    let [a, b] = args.as_slice() else { return Vec::new() };
    // The round goes on while `low < high`, or, if it is not strict, `low <= high`.
    let (low, high, strict) = match (op, while_true) {
        (Op::Slt | Op::Ult, true) => (a, b, true),
        (Op::Sle | Op::Ule, true) => (a, b, false),
        (Op::Slt | Op::Ult, false) => (b, a, false),
        (Op::Sle | Op::Ule, false) => (b, a, true),
        (Op::Eq, false) => {
            return [(a, b), (b, a)].iter().filter_map(|(i, n)| unequal(body, part, i, n)).collect();
        }
        _ => return Vec::new(),
    };
    let is_signed = matches!(op, Op::Slt | Op::Sle);
    let counter = |e: &Expr, by: i128| {
        let var = match e {
            Expr::Var(v) => *v,
            Expr::Op { op: Op::Sext(_), args, .. } => match args.as_slice() {
                [Expr::Var(v)] => *v,
                _ => return None,
            },
            _ => return None,
        };
        step(body, part, source(body, part, var)).filter(|(_, k)| *k == by).map(|(at, _)| at)
    };
    let up =
        counter(low, 1).filter(|_| stays(body, part, high) && (strict || is_within(high, is_signed, true)));
    let down =
        counter(high, -1).filter(|_| stays(body, part, low) && (strict || is_within(low, is_signed, false)));
    up.into_iter().chain(down).collect()
}

/// Whether a bound is a constant that is not the last value.
fn is_within(bound: &Expr, is_signed: bool, up: bool) -> bool {
    let Expr::Const(c) = bound else { return false };
    let Some(bits) = c.sort().bits() else { return false };
    let value = if is_signed { c.signed() } else { c.unsigned().map(|u| u as i128) };
    let last = match (is_signed, up) {
        (true, true) => (1i128 << (bits - 1).min(126)) - 1,
        (true, false) => -(1i128 << (bits - 1).min(126)),
        (false, true) => (1i128 << bits.min(126)) - 1,
        (false, false) => 0,
    };
    value.is_some_and(|v| v != last)
}

/// The call that reads input, where a branch leaves a part unless it has read some.
fn reading(body: &Body, part: &Part, (cond, while_true): (&Expr, bool)) -> Option<usize> {
    let Expr::Op { op: Op::Eq, args, .. } = cond else { return None };
    let (mut var, value) = match args.as_slice() {
        [Expr::Var(v), Expr::Const(c)] | [Expr::Const(c), Expr::Var(v)] => (*v, c.signed()?),
        _ => return None,
    };
    let mut call = writer(body, part, var)?;
    // Variables may be assigned to each other in a circle.
    for _ in 0..MAX_COPIES {
        let Instr::Assign { value: Expr::Var(from), .. } = body.instr(call) else { break };
        if body.f.var(var).in_memory {
            return None;
        }
        var = *from;
        call = writer(body, part, var)?;
    }
    let Instr::Call { callee: Callee::Direct(name), args, .. } = body.instr(call) else { return None };
    let has_read = match &**name {
        "scanf" | "fscanf" => while_true && value > 0,
        "getchar" | "getc" | "fgetc" => !while_true && value == -1,
        "fgets" => {
            let room = args.get(1).and_then(|n| if let Expr::Const(c) = n { c.signed() } else { None });
            !while_true && value == 0 && room.is_some_and(|n| n > 1)
        }
        _ => return None,
    };
    // Nothing that the loop calls may put back what was read, or begin again.
    let keeps = |i: &usize| match body.instr(*i) {
        Instr::Call { callee: Callee::Direct(name), .. } => {
            library::row(name).is_some()
                && !["ungetc", "rewind", "fseek", "fsetpos", "freopen"].contains(&&**name)
        }
        Instr::Call { .. } | Instr::Unknown { .. } => false,
        _ => true,
    };
    Some(call).filter(|_| has_read && part.iter().all(keeps))
}

/// A step by one up or down towards a number that stays meets it, since numbers wrap.
fn unequal(body: &Body, part: &Part, counter: &Expr, bound: &Expr) -> Option<usize> {
    let Expr::Var(v) = counter else { return None };
    step(body, part, source(body, part, *v))
        .filter(|(_, by)| by.abs() == 1 && stays(body, part, bound))
        .map(|(at, _)| at)
}

/// The steps that bring an address out of every object: those of the one variable in it that moves.
fn walked(body: &Body, part: &Part, addr: &Expr) -> Option<Part> {
    let (mut vars, mut is_linear) = (Vec::new(), true);
    addr.for_each(&mut |e| match e {
        Expr::Var(v) => vars.push(source(body, part, *v)),
        Expr::Op { op: Op::Add | Op::Sub | Op::Sext(_) | Op::Zext(_), .. } => {}
        // What is multiplied by nothing stays where it is.
        Expr::Op { op: Op::Mul, args, .. } => is_linear &= args.iter().filter_map(constant).any(is_step),
        Expr::Op { op: Op::Shl, args, .. } => {
            is_linear &= args.get(1).and_then(constant).is_some_and(|bits| (0..31).contains(&bits));
        }
        Expr::Op { .. } => is_linear = false,
        _ => {}
    });
    vars.retain(|v| !stays(body, part, &Expr::Var(*v)));
    // Of one that stands there twice the steps may cancel.
    let [one] = vars.as_slice() else { return None };
    let is_wide = body.f.var(*one).sort.and_then(Sort::bits).is_some_and(|bits| bits >= 32);
    steps(body, part, *one).filter(|_| is_linear && is_wide)
}

fn constant(e: &Expr) -> Option<i128> {
    if let Expr::Const(c) = e { c.signed() } else { None }
}

/// Whether a number moves an address, and not so far that a product of two comes back to where it was.
fn is_step(k: i128) -> bool {
    k != 0 && k.abs() < 1 << 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{frontend, history::MemoryTree};
    use std::path::Path;

    fn function(body: &str) -> Function {
        let source = format!(
            "#include <stdio.h>\nstruct n {{ struct n *next; int v; }}; int f(int a, int b, char *s, struct n *p, volatile int *r) {{ {body} }}"
        );
        let tree = MemoryTree::new([("t.c", source.as_bytes())]);
        let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
        loaded.unit.function("f").expect("it is there").clone()
    }

    /// Whether every loop of the body ends by itself.
    #[track_caller]
    fn check(body: &str, expected: bool) {
        assert_eq!(decisions(&function(body)).is_empty(), expected, "{body}");
    }

    #[test]
    fn loops_that_count_or_walk_end() {
        for body in [
            "int n = 0; for (int i = 0; i < a; i++) n += i; return n;",
            "int n = 0; for (unsigned i = 0; i < 7u; i++) for (int j = a; j > b; j--) n++; return n;",
            "int n = 0; for (long i = 0; i <= 9; ++i) { if (i == b) continue; n++; } return n;",
            "int i = a; while (i != b) i++; return i;",
            "while (a--) b += 2; return b;",
            "while (*s) s++; return *s == a;",
            "int i = 0; while (s[i] != 'x') i++; return i;",
            "int i; for (i = 0; ; i++) if (s[i] == a) break; return i;",
            "char *e = s + b; while (s < e) { if (*s != 92) s++; else { s++; if (*s == 117) s += 4; s++; } } return a;",
            "while (*s) { if (a) s -= 2; else --s; } return a;",
            "int i = 0; while (p[2 * i].v) i += 3; return i;",
            "return a;",
            "while (scanf(\"%d\", &a) == 1) b += a; return b;",
            "while ((a = getchar()) != EOF) b += a; return b;",
            "while ((a = getchar()) != EOF && a != 10) { while (b-- > 0) putchar(a); } return b;",
            "char t[9]; while (fgets(t, 9, stdin)) b += t[0]; return b;",
            "char t[9]; while (fgets(t, sizeof t, stdin) != NULL) b += t[0]; return b;",
        ] {
            check(body, true);
        }
    }

    #[test]
    fn others_may_not() {
        for body in [
            "while (a == 3) ; return a;",
            "while (p) { a += p->v; p = p->next; } return a;",
            "for (int i = 0; i < a; i++) a++; return a;",
            "for (int i = 0; i < a; i++) if (b) i--; return a;",
            "for (int i = 0; i < a; ) { if (b) i++; } return a;",
            "for (int i = 0; i < a; i++) while (b == 1) ; return a;",
            "for (int i = 0; i <= a; i++) b++; return b;",
            "for (unsigned char c = 0; c < a; c++) b++; return b;",
            "while (*r) ; return a;",
            "while (*s) { if (a) s++; else s--; } return a;",
            "while (*s) { if (*s != 92) s++; else if (a) s += 2; } return a;",
            "char *e = s + b; while (s < e) { if (a) s++; else s += 2; } return a;",
            "int i = 0; while (s[i & 7]) i++; return i;",
            "int i = 0; while (s[i * b]) i++; return i;",
            "int i = 0; while (s[i - i]) i++; return i;",
            "unsigned long i = 0; while (s[i << 32]) i += 1UL << 32; return 0;",
            "int t = 1; for (;;) { if (b) t = a; if (t == 0) break; a--; } return a;",
            "for (;;) { if (a == 3) continue; break; } return a;",
            "while (scanf(\"%d\", &a) != EOF) b += a; return b;",
            "while (scanf(\"%d\", &a) == 0) b += a; return b;",
            "while ((a = getchar()) == EOF) b += a; return b;",
            "while ((a = getchar()) != EOF) ungetc(a, stdin); return b;",
            "while ((a = getchar()) != EOF) for (;;) if (b) break; return b;",
            "for (a = 1; a != EOF; ) if (b) a = getchar(); return b;",
            "int g(void); while ((a = getchar()) != EOF) b += g(); return b;",
            "char t[9]; while (fgets(t, a, stdin)) b += t[0]; return b;",
            "while (a == 1) { a = b; b = a; } return a;",
        ] {
            check(body, false);
        }
    }

    #[test]
    fn what_decides_is_compared() {
        let same = |a: &str, b: &str| decisions(&function(a)) == decisions(&function(b));
        assert!(!same("while (a == 3) ; return a;", "while (a == 4) ; return a;"));
        assert!(!same("while (*r) ; return a;", "while (!*r) ; return a;"));
        assert!(!same("if (b > 1) while (a == 3) ; return a;", "if (b > 2) while (a == 3) ; return a;"));
        assert!(!same("a += b; while (a == 3) ; return a;", "a -= b; while (a == 3) ; return a;"));
        assert!(same("while (a == 3) ; return a + b;", "while (a == 3) ; return b + a;"));
        let sum = |add: &str| format!("int n = 0; while (p) {{ {add} p = p->next; }} return n;");
        assert!(same(&sum("n += p->v;"), &sum("n = p->v + n;")));
    }

    mod by_hand {
        use super::super::*;
        use crate::by_hand::{assign, call, function, int, load, named, pointer, v};
        use crate::ir::CType;

        /// `i` (1) and `p` (2) move in a loop at 2, which node 3 goes back to; `n` (0) does not.
        fn looping(cond: Expr, round: Instr) -> Function {
            let vars = [("n", int()), (".i", int()), (".p", pointer(int())), (".x", int())];
            function("f", &vars, &[(Instr::Branch { cond }, &[3, 1]), (round, &[2])])
        }

        #[track_caller]
        fn check(cond: Expr, round: Instr, expected: bool) {
            let f = looping(cond, round);
            assert_eq!(decisions(&f).is_empty(), expected, "{:?}", f.nodes);
        }

        fn add(var: u32, by: i128) -> Instr {
            let width = if var == 2 { 64 } else { 32 };
            assign(var, Expr::signed(Op::Add, vec![v(var), Expr::bv(width, by)]))
        }

        fn is(op: Op, a: Expr, b: Expr) -> Expr {
            Expr::op(op, vec![a, b])
        }

        #[test]
        fn a_counter_by_one_meets_its_bound() {
            check(is(Op::Slt, v(1), v(0)), add(1, 1), true);
            check(is(Op::Slt, v(0), v(1)), add(1, -1), true);
            check(is(Op::Slt, v(1), v(0)), add(1, -1), false);
            check(is(Op::Slt, v(1), v(0)), add(1, 2), false);
            check(is(Op::Slt, v(1), v(0)), add(3, 1), false);
            check(is(Op::Slt, v(1), v(0)), add(0, 1), false);
        }

        #[test]
        fn a_bound_that_is_met_may_be_the_last_number() {
            let limit = |k: i128| is(Op::Sle, v(1), Expr::bv(32, k));
            check(limit(9), add(1, 1), true);
            check(limit(i32::MAX.into()), add(1, 1), false);
            check(is(Op::Sle, v(1), v(0)), add(1, 1), false);
        }

        #[test]
        fn a_counter_meets_a_number_that_it_is_to_differ_from() {
            let unequal = |by| (Expr::op(Op::Not, vec![is(Op::Eq, v(1), v(0))]), add(1, by));
            for (by, ends) in [(1, true), (-1, true), (2, false)] {
                let (cond, round) = unequal(by);
                check(cond, round, ends);
            }
            check(is(Op::Eq, v(1), v(0)), add(1, 1), false);
        }

        #[test]
        fn the_last_number_is_no_bound_within() {
            let within = |width, k, signed, up| is_within(&Expr::bv(width, k), signed, up);
            assert!(within(8, 126, true, true) && !within(8, 127, true, true));
            assert!(within(8, -127, true, false) && !within(8, -128, true, false));
            assert!(within(8, 254, false, true) && !within(8, 255, false, true));
            assert!(within(8, 1, false, false) && !within(8, 0, false, false));
            assert!(!is_within(&v(0), true, true));
        }

        /// A loop that goes round while what it reads at an address is not zero.
        #[track_caller]
        fn check_walk(addr: Expr, round: Instr, expected: bool) {
            let vars = [("n", int()), (".i", int()), (".p", pointer(int())), (".x", int())];
            let cond = Expr::op(Op::Not, vec![is(Op::Eq, v(3), Expr::bv(32, 0))]);
            let nodes: &[(Instr, &[u32])] =
                &[(load(3, addr, &int()), &[3]), (Instr::Branch { cond }, &[4, 1]), (round, &[2])];
            assert_eq!(decisions(&function("f", &vars, nodes)).is_empty(), expected, "{nodes:?}");
        }

        #[test]
        fn steps_along_memory_come_to_its_end() {
            check_walk(v(2), add(2, 4), true);
            check_walk(v(2), add(2, -4), true);
            check_walk(v(2), add(1, 1), false);
            let element = is(Op::Mul, Expr::op(Op::Sext(64), vec![v(1)]), Expr::bv(64, 4));
            check_walk(is(Op::Add, v(2), element), add(1, 3), true);
            let masked = is(Op::BitAnd, Expr::op(Op::Sext(64), vec![v(1)]), Expr::bv(64, 7));
            check_walk(is(Op::Add, v(2), masked), add(1, 1), false);
            check_walk(v(2), assign(2, v(2)), false);
        }

        #[test]
        fn input_is_finite() {
            let cond = |k| Expr::op(Op::Not, vec![is(Op::Eq, v(1), Expr::bv(32, k))]);
            let read = |name: &str| call(Some(1), named(name), vec![]);
            check(cond(-1), read("getchar"), true);
            check(cond(0), read("getchar"), false);
            check(cond(-1), read("nobody_knows"), false);
        }

        #[test]
        fn cycles_are_what_control_can_go_round_in() {
            let nop: &[(Instr, &[u32])] = &[(Instr::Nop, &[3]), (Instr::Nop, &[2, 4]), (Instr::Nop, &[4, 1])];
            let f = function("f", &[("n", CType::Bool)], nop);
            let mut found = cycles(&f, 0..f.nodes.len());
            found.sort();
            assert_eq!(found, [Part::from([2, 3]), Part::from([4])]);
            assert_eq!(cycles(&f, (0..f.nodes.len()).filter(|n| *n != 3)), [Part::from([4])]);
            assert_eq!(leading_to(&f, &Part::from([4])), Part::from([0, 2, 3, 4]));
        }

        #[test]
        fn steps_are_numbers_that_cannot_come_back() {
            assert!(is_step(1) && is_step(-4) && !is_step(0) && !is_step(1 << 31));
            assert_eq!((constant(&Expr::bv(8, -3)), constant(&v(0))), (Some(-3), None));
        }
    }
}
