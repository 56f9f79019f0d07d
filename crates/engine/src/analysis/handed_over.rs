//! Functions that hand their work over to a new one: `f` becomes a call of `g`, and `g` does what `f` did.
//!
//! So a limit comes in as a parameter, or a way to be called by others. What changes in the work itself is told where it
//! is now: the older `f` is compared with `g`, and of `f` it is said that it calls `g`.

use super::likeness;
use super::lineage::Lineage;
use crate::ir::{Callee, Function, Instr};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hundredths of the statements of the older function and of the new one that are the same, at least.
const ALIKE: usize = 50;
/// Statements of the older function that are left, in hundredths, at most.
const LEFT: usize = 30;

/// By lineage of the new function and step: the lineage of the one that hands over to it.
pub(super) type HandedOver = BTreeMap<(usize, usize), usize>;

/// The functions that hand over. Cost: for each function of which an edit leaves little, a look at the new ones of its
/// file that it calls.
pub(super) fn found(lineages: &[Lineage], steps: usize) -> HandedOver {
    let mut found = HandedOver::new();
    for step in 0..steps {
        let mut come: BTreeMap<(&std::path::Path, &Arc<str>), usize> = BTreeMap::new();
        for (l, lineage) in lineages.iter().enumerate() {
            if let Some([None, Some(new)]) = lineage.members.get(step..step + 2) {
                come.insert((&new.file, &new.function.name), l);
            }
        }
        if come.is_empty() {
            continue;
        }
        for (l, lineage) in lineages.iter().enumerate() {
            let Some([Some(old), Some(new)]) = lineage.members.get(step..step + 2) else { continue };
            if new.function.nodes.len() >= old.function.nodes.len() || old.is_written_as(new) {
                continue;
            }
            let takers = called(&new.function).filter_map(|name| come.get(&(new.file.as_path(), name)));
            let is_taker = |taker: &&usize| {
                let body = lineages.get(**taker).and_then(|t| t.members.get(step + 1)?.as_ref());
                body.is_some_and(|g| {
                    likeness::of(&old.function, &g.function) >= ALIKE
                        && likeness::of(&old.function, &new.function) <= LEFT
                })
            };
            if let Some(taker) = takers.filter(is_taker).min() {
                found.entry((*taker, step)).or_insert(l);
            }
        }
    }
    found
}

fn called(f: &Function) -> impl Iterator<Item = &Arc<str>> {
    f.nodes.iter().filter_map(|node| match &node.instr {
        Instr::Call { callee: Callee::Direct(name), .. } => Some(name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Effort, Options, diff, memory};
    use crate::frontend::c;
    use crate::report::{HunkVerdict, IdentityKind};

    const WORK: &str = "if (!t) return 0; if (t->n < 0) return -1; use(t->n); if (t->left && f(t->left) < 0) return -2; \
                        use(t->n + 1); return 1;";

    /// `function: now` of each delta, and whether every hunk is told.
    fn told(old: &str, new: &str) -> (Vec<String>, bool) {
        let head = "struct t { int n; struct t *left; };\nvoid use(int);\n";
        let texts = [old, new].map(|text| format!("{head}{text}\n"));
        let versions = [vec![("a.c", &*texts[0])], vec![("a.c", &*texts[1])]];
        let options = Options { effort: Effort::Quick, jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        let is_split = |name: &str| {
            let f = report.functions.iter().find(|f| f.name == name);
            f.is_some_and(|f| {
                f.identity.kind == IdentityKind::Split && f.identity.from.as_deref() == Some("a.c:f")
            })
        };
        let mut found = Vec::new();
        for f in &report.functions {
            let word = if is_split(&f.name) { " split" } else { "" };
            for d in f.changes.iter().flat_map(|c| &c.deltas) {
                let now: Vec<&str> = d.now.iter().map(|e| &*e.text).collect();
                found.push(format!("{}{word}: {}| {}", f.name, d.when.text, now.join("; ")));
            }
        }
        (found, report.hunks.iter().all(|h| h.verdict != HunkVerdict::NotAnalysed))
    }

    #[test]
    fn the_work_is_compared_where_it_is_now() {
        let old = format!("int f(struct t *t)\n{{\n{WORK}\n}}");
        let guarded = WORK.replace("use(t->n);", "\nif (depth > 9) return -3;\nuse(t->n);");
        let new = |work: &str| {
            format!(
                "static int g(struct t *t, int depth)\n{{\n{work}\n}}\nint f(struct t *t)\n{{\nreturn g(t, 0);\n}}"
            )
        };
        let calls = "f: | calls g(), split from it";
        let expected = [calls, "g split: depth > 9| returns -3"].map(str::to_owned).to_vec();
        assert_eq!(told(&old, &new(&guarded)), (expected, true));
        assert_eq!(told(&old, &new(WORK)), (vec![calls.to_owned()], true));
    }

    #[test]
    fn who_only_calls_something_new_does_its_own_work() {
        let old = format!("int f(struct t *t)\n{{\n{WORK}\n}}");
        // It keeps most of its work, or the new function does something else.
        let kept = format!(
            "static int g(int n)\n{{\nreturn n + 1;\n}}\nint f(struct t *t)\n{{\nuse(g(3));\n{WORK}\n}}"
        );
        let other = "static int g(struct t *t)\n{\nwhile (t) { use(3); t = t->left; }\nuse(4);\nreturn 7;\n}\n\
                     int f(struct t *t)\n{\nreturn g(t);\n}";
        for new in [kept.as_str(), other] {
            assert!(told(&old, new).0.iter().all(|row| !row.contains("split")), "{new}");
        }
    }
}
