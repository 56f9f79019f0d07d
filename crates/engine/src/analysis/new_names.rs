//! Functions and objects that a step gives other names: who uses one by its new name does what it did before.
//!
//! Before two versions of a function are compared, the older one gets the newer names for all that it calls, reads,
//! writes or takes the address of. Such functions are those that a lineage has under two names, and those of one unit
//! that come and go with equal bodies, as `static inline` ones of a header do; such objects are those that have another
//! name and begin with the same (`objects/`). A name is left alone where the older unit uses the new one for something
//! else, or the newer unit still uses the old one: what is left is a change of names throughout.

use super::lineage::{Lineage, Member};
use super::objects::Renaming;
use crate::ir::{Callee, Expr, Function, InitPiece, Instr, Linkage, Object, Unit};
use crate::local::Change;
use crate::mvicfg::key;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// New names by old ones.
type Names = BTreeMap<Arc<str>, Arc<str>>;
/// An older unit with the names that its functions get.
pub(super) type Renamed = (Names, Arc<Unit>);
/// A step and the addresses of both units, which the lineages keep alive.
type Pair = (usize, [usize; 2]);

/// Rounds in which callers are found equal once their callees have one name.
const ROUNDS: usize = 8;

/// The new names of every step, and the older units with them.
pub(super) struct NewNames<'l> {
    /// By step: both members of lineages that have two names there.
    linked: Vec<Vec<[&'l Member; 2]>>,
    objects: Vec<Renaming>,
    known: Mutex<BTreeMap<Pair, Option<Arc<Renamed>>>>,
}

impl<'l> NewNames<'l> {
    pub fn of(lineages: &'l [Lineage], steps: usize, objects: Vec<Renaming>) -> NewNames<'l> {
        let linked = |step: usize| {
            let pairs = lineages.iter().filter_map(|l| {
                let (old, new) = (l.members.get(step)?.as_ref()?, l.members.get(step + 1)?.as_ref()?);
                (old.function.name != new.function.name).then_some([old, new])
            });
            pairs.collect()
        };
        NewNames { linked: (0..steps).map(linked).collect(), objects, known: Mutex::default() }
    }

    /// The older member of a step with the newer names, and these by the old ones; `None` where no name of its unit
    /// changes. Cost: once for a pair of units a walk over them, where functions come and go.
    pub fn older(&self, step: usize, old: &Member, new: &Member) -> Option<(Member, Arc<Renamed>)> {
        let renamed = self.of_units(step, [&old.unit, &new.unit])?;
        let function = with_names(&old.function, &renamed.0).unwrap_or_else(|| old.function.clone());
        Some((Member { unit: renamed.1.clone(), function, ..old.clone() }, renamed))
    }

    /// Whether a function that one of two units of a step defines by this name is in the other one as well, by its new
    /// or its old name, with an equal body.
    pub fn is_only_renamed(&self, step: usize, [old, new]: [&Arc<Unit>; 2], name: &str) -> bool {
        let Some(renamed) = self.of_units(step, [old, new]) else { return false };
        let (names, older) = &*renamed;
        let is_one = |(from, to): (&Arc<str>, &Arc<str>)| {
            let bodies = [older, new].map(|u| u.function(to).map(key::body_hash));
            (**from == *name || **to == *name) && bodies[0].is_some() && bodies[0] == bodies[1]
        };
        names.iter().any(is_one)
    }

    fn of_units(&self, step: usize, units: [&Arc<Unit>; 2]) -> Option<Arc<Renamed>> {
        let key = (step, units.map(|u| Arc::as_ptr(u) as usize));
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let renamed = self.renamed(step, units).map(Arc::new);
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(key).or_insert(renamed).clone()
        })
    }

    fn renamed(&self, step: usize, [old, new]: [&Arc<Unit>; 2]) -> Option<Renamed> {
        let names = self.names(step, [old, new]);
        (!names.is_empty()).then(|| {
            let unit = Arc::new(unit_with_names(old, &names));
            (names, unit)
        })
    }

    fn names(&self, step: usize, [old, new]: [&Arc<Unit>; 2]) -> Names {
        let defined = [old, new].map(|u| u.functions.iter().map(|f| &f.name).collect::<BTreeSet<_>>());
        let mut names = Names::new();
        for [from, to] in self.linked.get(step).into_iter().flatten() {
            let (from, to) = (&from.function, &to.function);
            let is_here = defined[0].contains(&from.name) && defined[1].contains(&to.name);
            let is_elsewhere = !from.is_static
                && !to.is_static
                && !defined[0].contains(&from.name)
                && !defined[1].contains(&to.name);
            if is_here || is_elsewhere {
                names.insert(from.name.clone(), to.name.clone());
            }
        }
        for Renaming { from, to, file, .. } in self.objects.iter().filter(|r| r.step == step) {
            let (Some(a), Some(b)) = (old.global(from), new.global(to)) else { continue };
            let is_own = a.linkage == Linkage::Internal || b.linkage == Linkage::Internal;
            if !is_own || new.files.iter().any(|f| f.as_os_str() == file.as_os_str()) {
                names.insert(from.clone(), to.clone());
            }
        }
        add_equal_bodies([old, new], &defined, &mut names);
        if !names.is_empty() {
            let used = [old, new].map(|u| used(u));
            names.retain(|from, to| !used[0].contains(to) && !used[1].contains(from));
        }
        names
    }
}

/// Tells what the older version does by the names that it has for what it calls.
pub(super) fn call_by_old_names(changes: &mut [Change], renamed: &Renamed) {
    let before = changes.iter_mut().flat_map(|c| &mut c.deltas).flat_map(|d| &mut d.before);
    for words in before.map(|effect| &mut effect.words) {
        for text in [&mut words.of, &mut words.to, &mut words.remark] {
            *text = with_old_names(text, renamed);
        }
    }
}

fn with_old_names(text: &str, renamed: &Renamed) -> String {
    let mut told = String::new();
    let (mut rest, mut is_quoted) = (text, false);
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = if is_word(c) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
        let (word, behind) = rest.split_at(end);
        is_quoted ^= c == '"' && !told.ends_with('\\');
        // A member is none of the unit's names.
        let is_named = |new: &str| match renamed.1.global(new) {
            Some(_) => !told.ends_with(['.', '>']),
            None => behind.starts_with('('),
        };
        let is_it = |new: &str| new == word && !is_quoted && is_named(new);
        let old = renamed.0.iter().find(|(_, new)| is_it(new)).map(|(old, _)| &**old);
        told.push_str(old.unwrap_or(word));
        rest = behind;
    }
    told
}

/// Adds the functions that one unit alone has and that are one of the other's but for their names and those of what
/// they call. Of several that are alike nobody knows which is which.
fn add_equal_bodies([old, new]: [&Unit; 2], [before, after]: &[BTreeSet<&Arc<str>>; 2], names: &mut Names) {
    let only = |unit: &Unit, other: &BTreeSet<&Arc<str>>| -> Vec<Arc<Function>> {
        unit.functions.iter().filter(|f| !other.contains(&f.name)).cloned().collect()
    };
    let (mut gone, come) = (only(old, after), only(new, before));
    if gone.is_empty() || come.is_empty() {
        return;
    }
    let mut by_text: BTreeMap<String, Vec<&Arc<str>>> = BTreeMap::new();
    for f in &come {
        by_text.entry(key::body_hash(f)).or_default().push(&f.name);
    }
    for _ in 0..ROUNDS {
        let taken: BTreeSet<Arc<str>> = names.values().cloned().collect();
        gone.retain(|f| !names.contains_key(&f.name));
        let mut found: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
        for f in &gone {
            let text = key::body_hash(&with_names(f, names).unwrap_or_else(|| f.clone()));
            if let Some([to]) = by_text.get(&text).map(Vec::as_slice)
                && !taken.contains(*to)
            {
                found.entry((*to).clone()).or_default().push(f.name.clone());
            }
        }
        let before = names.len();
        for (to, from) in found {
            if let [from] = from.as_slice() {
                names.insert(from.clone(), to);
            }
        }
        if names.len() == before {
            return;
        }
    }
}

/// A function that is called, and calls others, by newer names; `None` where that is as before.
fn with_names(f: &Arc<Function>, names: &Names) -> Option<Arc<Function>> {
    let mut named = (**f).clone();
    let mut is_other = false;
    let mut rename = |name: &mut Arc<str>| {
        if let Some(to) = names.get(name) {
            (*name, is_other) = (to.clone(), true);
        }
    };
    for node in &mut named.nodes {
        if let Instr::Call { callee: Callee::Direct(name), .. } = &mut node.instr {
            rename(name);
        }
        node.instr.for_each_operand_mut(&mut |e| rename_expr(e, &mut rename));
    }
    rename(&mut named.name);
    is_other.then(|| Arc::new(named))
}

fn rename_expr(e: &mut Expr, rename: &mut impl FnMut(&mut Arc<str>)) {
    match e {
        Expr::Addr(Object::Function(name) | Object::Global(name)) => rename(name),
        Expr::Op { args, .. } => args.iter_mut().for_each(|a| rename_expr(a, rename)),
        _ => {}
    }
}

fn unit_with_names(unit: &Unit, names: &Names) -> Unit {
    let mut unit = unit.clone();
    for f in &mut unit.functions {
        if let Some(named) = with_names(f, names) {
            *f = named;
        }
    }
    let given = unit.prototypes.iter_mut().map(|p| &mut p.name);
    let initial = unit.globals.iter_mut().flat_map(|g| &mut g.init).filter_map(|piece| match piece {
        InitPiece::Address { symbol, .. } => Some(symbol),
        _ => None,
    });
    for name in given.chain(initial) {
        if let Some(to) = names.get(name) {
            *name = to.clone();
        }
    }
    for g in unit.globals.iter_mut().filter(|g| g.name == g.symbol) {
        if let Some(to) = names.get(&g.symbol) {
            (g.symbol, g.name) = (to.clone(), to.clone());
        }
    }
    // They name functions.
    unit.answers.named = Default::default();
    unit
}

/// The names that a unit defines, calls or takes the address of.
fn used(unit: &Unit) -> BTreeSet<Arc<str>> {
    let mut found: BTreeSet<Arc<str>> = unit.functions.iter().map(|f| f.name.clone()).collect();
    found.extend(unit.globals.iter().map(|g| g.symbol.clone()));
    for instr in unit.functions.iter().flat_map(|f| &f.nodes).map(|n| &n.instr) {
        if let Instr::Call { callee: Callee::Direct(name), .. } = instr {
            found.insert(name.clone());
        }
        instr.for_each_operand(&mut |e| {
            e.for_each(&mut |e| {
                if let Expr::Addr(Object::Global(name) | Object::Function(name)) = e {
                    found.insert(name.clone());
                }
            })
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Effort, Options, diff, memory};
    use crate::frontend::c;
    use crate::report::Report;

    /// What is told of two versions: `function: before | now`, a delta each; and `new from old` of renamed ones.
    fn told(old: &[(&str, &str)], new: &[(&str, &str)]) -> (Vec<String>, Report) {
        let versions = [old.to_vec(), new.to_vec()];
        let options = Options { jobs: 1, effort: Effort::Quick, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        let texts =
            |of: &[crate::report::Effect]| of.iter().map(|e| e.text.clone()).collect::<Vec<_>>().join("; ");
        let mut lines = Vec::new();
        for f in &report.functions {
            if let Some(from) = &f.identity.from {
                lines.push(format!("{} from {from}", f.name));
            }
            for d in f.changes.iter().flat_map(|c| &c.deltas) {
                lines.push(format!("{}: {} | {}", f.name, texts(&d.before), texts(&d.now)));
            }
        }
        (lines, report)
    }

    #[track_caller]
    fn check(old: &[(&str, &str)], new: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(told(old, new).0, expected, "{old:?}\n-->\n{new:?}");
    }

    const BODY: &str =
        "(int n)\n{\nfor (int i = 0; i < n; i++) note(i);\nif (n > 10) note(3);\nreturn n * 7;\n}\n";

    fn calls(name: &str, body: &str) -> String {
        format!(
            "void note(int);\nint {name}{body}int f(int n)\n{{\nif (n) return {name}(n);\nreturn 1;\n}}\n"
        )
    }

    #[test]
    fn who_uses_an_object_by_its_new_name_is_the_same() {
        let text = |name: &str, body: &str| {
            format!(
                "void log_it(const char *, int);\nstruct s {{ int bad; }};\nstatic int {name} = 0;\n\
                 int f(struct s *p)\n{{\n    {name}++;\n    {body}\n    p->bad = {name};\n    return {name} > 3;\n}}\n"
            )
        };
        let test = |name: &str| format!("if ({name}) log_it(\"bad\", {name});");
        let (found, report) =
            told(&[("a.c", &text("bad", &test("bad")))], &[("a.c", &text("worse", &test("worse")))]);
        assert_eq!(found, [] as [&str; 0]);
        assert!(
            report.hunks.iter().all(|h| h.verdict != crate::report::HunkVerdict::NotAnalysed),
            "{:?}",
            report.hunks
        );
        // Each version is told by its own name.
        let more = "if (worse) log_it(\"bad\", worse + 1);";
        let (found, _) = told(&[("a.c", &text("bad", &test("bad")))], &[("a.c", &text("worse", more))]);
        assert_eq!(found, ["f: calls log_it(\"bad\", bad) | calls log_it(\"bad\", worse + 1)"]);
    }

    #[test]
    fn who_calls_a_function_by_its_new_name_did_not_change() {
        check(&[("a.c", &calls("old", BODY))], &[("a.c", &calls("fresh", BODY))], &["fresh from a.c:old"]);
        // Elsewhere, and through a pointer.
        let user = |name: &str| {
            format!(
                "int {name}(int);\nvoid take(int (*)(int));\nint g(int n)\n{{\ntake({name});\nreturn {name}(n + 1);\n}}\n"
            )
        };
        let (old, new) = (calls("old", BODY), calls("fresh", BODY));
        check(
            &[("a.c", &old), ("b.c", &user("old"))],
            &[("a.c", &new), ("b.c", &user("fresh"))],
            &["fresh from a.c:old"],
        );
    }

    #[test]
    fn a_function_that_changes_with_its_name_is_one_function() {
        let other = BODY.replace("n > 10", "n > 12");
        let (old, new) = (calls("old", BODY), calls("fresh", &other));
        check(&[("a.c", &old)], &[("a.c", &new)], &["fresh from a.c:old", "fresh: calls note(3) | "]);
        // Two that have little in common are two.
        let other = "(int n)\n{\nnote(n);\nnote(4);\nnote(n + 3);\nreturn n;\n}\n";
        let (_, report) = told(&[("a.c", &old)], &[("a.c", &calls("fresh", other))]);
        assert!(report.functions.iter().all(|f| f.identity.from.is_none()), "{:?}", report.functions);
    }

    /// What the older version called had no other name then.
    #[test]
    fn what_was_called_is_told_by_its_old_name() {
        let g = |name: &str, n: u32| format!("int g(int n) {{ note({n}); return {name}(n + {n}); }}\n");
        let (old, new) = (calls("old", BODY) + &g("old", 1), calls("fresh", BODY) + &g("fresh", 2));
        check(
            &[("a.c", &old)],
            &[("a.c", &new)],
            &[
                "fresh from a.c:old",
                "g: calls note(1); returns old(n + 1) | calls note(2); returns fresh(n + 2)",
            ],
        );
    }

    #[test]
    fn a_name_that_is_used_for_something_else_is_no_new_one() {
        let g = |last: &str| format!("int g(int n) {{ return fresh(n) + {last}(n); }}\n");
        let old = format!("int fresh(int);\n{}{}", calls("old", BODY), g("old"));
        let new = format!("{}{}", calls("fresh", BODY), g("fresh"));
        let (lines, _) = told(&[("a.c", &old)], &[("a.c", &new)]);
        assert!(lines.iter().any(|l| l.starts_with("g: ")), "{lines:?}");
    }

    const READS: &str =
        "#include \"a.h\"\nint f(struct s *p, int n)\n{\nif (n > 3) return AT(p, n);\nreturn AT(p, 0);\n}\n";

    #[test]
    fn functions_of_headers_are_written_out_for_macros() {
        let head = "struct s { int v[8]; int base; };\n";
        let as_macro = format!("{head}#define AT(p, k) ((p)->v[(k) & 7] + (p)->base)\n");
        let function = |base: &str| {
            format!(
                "{head}static inline int base_of(struct s *p) {{ return {base}; }}\nstatic inline int AT(struct s *p, int k) {{ return p->v[k & 7] + base_of(p); }}\n"
            )
        };
        let (same, other) = (function("p->base"), function("p->base + 1"));
        check(&[("a.h", &as_macro), ("a.c", READS)], &[("a.h", &same), ("a.c", READS)], &[]);
        let (lines, _) = told(&[("a.h", &as_macro), ("a.c", READS)], &[("a.h", &other), ("a.c", READS)]);
        assert!(lines.len() == 2 && lines.iter().all(|l| l.contains("returns AT(p, ")), "{lines:?}");
    }

    #[test]
    fn functions_of_headers_get_other_names() {
        let header = |name: &str| {
            format!(
                "int note(int);\nstatic inline int {name}(int k) {{ while (k > 3) k = note(k); return k; }}\n"
            )
        };
        let source = |name: &str| {
            format!("#include \"a.h\"\nint f(int n)\n{{\nreturn {name}(n) + {name}(n + 1);\n}}\n")
        };
        let (_, report) = told(
            &[("a.h", &header("OLD")), ("a.c", &source("OLD"))],
            &[("a.h", &header("fresh")), ("a.c", &source("fresh"))],
        );
        assert!(report.functions.iter().all(|f| f.changes.is_empty()), "{:?}", report.functions);
        let neutral = |h: &crate::report::HunkReport| h.verdict == crate::report::HunkVerdict::Neutral;
        assert!(report.hunks.iter().all(neutral), "{:?}", report.hunks);
    }
}
