//! When a function runs although nobody calls it: before `main`, after it, and in which order.
//!
//! No region has it, since the text of no statement says it: `__attribute__((constructor))` and `((destructor))`.

use super::change::{Change, Delta};
use super::effect::{Effect, EffectKind, Words};
use crate::ir::{Binding, Function, Order};

/// What one version says of the run-up to `main` and of its end.
fn words(binding: &Binding) -> Vec<String> {
    let order = |order: Order| match order {
        Order::Numbered(n) => format!(" (priority {n})"),
        Order::Unnumbered => String::new(),
    };
    let before = binding.before_main.map(|o| format!("runs before main(){}", order(o)));
    let after = binding.after_main.map(|o| format!("runs after main() and in exit(){}", order(o)));
    let all: Vec<String> = before.into_iter().chain(after).collect();
    if all.is_empty() { vec!["runs only when it is called".to_owned()] } else { all }
}

/// Whether two versions of a function run at different times without being called.
pub fn run_otherwise(old: &Function, new: &Function) -> bool {
    let of = |f: &Function| (f.binding.before_main, f.binding.after_main);
    of(old) != of(new)
}

/// That, as a change; `None` where they run at the same times.
pub(super) fn change(old: &Function, new: &Function) -> Option<Change> {
    if !run_otherwise(old, new) {
        return None;
    }
    let line = |f: &Function| (f.span.line > 0).then_some(f.span.line);
    let effects = |f: &Function| {
        let effect = |text| Effect { kind: EffectKind::Call, words: Words::says(text), line: line(f) };
        words(&f.binding).into_iter().map(effect).collect()
    };
    let delta =
        Delta { when: String::new(), short: None, no_caller: false, before: effects(old), now: effects(new) };
    Some(Change::of_declaration([line(old), line(new)], delta))
}
