//! A change cannot loosen its own gate.
//!
//! The gate judges a change by the policy of its base and that of the change itself, joined so that
//! the stricter side counts: pins and blocks are the union; excludes and suppressions count only
//! where the base has them too; limits are the more patient ones. What the change did to the
//! policy is reported. From the next change on, the new policy is the base.

use super::file::ConfigFile;
use super::settings::Settings;
use std::collections::BTreeSet;

/// The policy that a change is judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedPolicy {
    pub file: ConfigFile,
    /// What the change would loosen and does not yet, and what else it changes, one line each.
    pub changes: Vec<String>,
}

/// Joins the policy files of the base and of the change; a missing file is one that says nothing.
pub fn join_policies(base: &ConfigFile, new: &ConfigFile) -> JoinedPolicy {
    let mut file = new.clone();
    let mut changes = Vec::new();
    join_gate(&mut file, base, new, &mut changes);
    join_analysis(&mut file, base, new, &mut changes);

    for pin in base.pinned.iter().filter(|p| !new.pinned.contains(p)) {
        changes.push(format!("pin removed, still checked: {}: {}", pin.function, pin.holds));
        file.pinned.push(pin.clone());
    }
    for pin in new.pinned.iter().filter(|p| !base.pinned.contains(p)) {
        changes.push(format!("pin added: {}: {}", pin.function, pin.holds));
    }
    for more in new.requires.iter().filter(|r| !base.requires.contains(r)) {
        changes.push(format!("requirement added, not yet in effect: {}: {}", more.function, more.holds));
    }
    file.requires.retain(|r| base.requires.contains(r));
    join_protocols(&mut file, base, &mut changes);
    join_suppressions(&mut file, base, &mut changes);
    for path in new.paths.exclude.iter().filter(|p| !base.paths.exclude.contains(p)) {
        changes.push(format!("path excluded, not yet in effect: {path}"));
    }
    file.paths.exclude.retain(|p| base.paths.exclude.contains(p));
    // An empty list includes everything, so it is the wider one.
    if base.paths.include != new.paths.include {
        changes.push("included paths changed; the wider choice is in effect".to_owned());
        if base.paths.include.is_empty() || new.paths.include.is_empty() {
            file.paths.include.clear();
        } else {
            file.paths.include = union(&base.paths.include, &new.paths.include);
        }
    }
    if base.c != new.c || base.configurations != new.configurations {
        changes.push("macros or include folders changed; the new ones are used for all versions".to_owned());
    }
    JoinedPolicy { file, changes }
}

fn join_gate(file: &mut ConfigFile, base: &ConfigFile, new: &ConfigFile, changes: &mut Vec<String>) {
    let default = Settings::default().gate;
    let of =
        |list: &Option<Vec<String>>, default: &[String]| list.clone().unwrap_or_else(|| default.to_vec());
    let (old_block, new_block) = (of(&base.gate.block, &default.block), of(&new.gate.block, &default.block));
    let (old_warn, new_warn) = (of(&base.gate.warn, &default.warn), of(&new.gate.warn, &default.warn));
    for name in old_block.iter().filter(|n| !new_block.contains(n)) {
        changes.push(format!("gate.block loses '{name}', still in effect"));
    }
    for name in new_block.iter().filter(|n| !old_block.contains(n)) {
        changes.push(format!("gate.block gains '{name}'"));
    }
    file.gate.block = Some(union(&old_block, &new_block));
    file.gate.warn = Some(union(&old_warn, &new_warn));
    let old_seconds = base.gate.timeout_seconds.unwrap_or(default.timeout_seconds);
    let new_seconds = new.gate.timeout_seconds.unwrap_or(default.timeout_seconds);
    if new_seconds < old_seconds {
        changes.push(format!("gate.timeout_seconds falls to {new_seconds}, still {old_seconds}"));
    }
    file.gate.timeout_seconds = Some(old_seconds.max(new_seconds));
    // Facts that held for fewer versions are more facts.
    let age = |gate: &super::file::GateSection| gate.age.unwrap_or(default.age);
    file.gate.age = Some(age(&base.gate).min(age(&new.gate)));
    if base.gate.rules != new.gate.rules {
        changes.push("gate.rules changed; for each file the stricter of both is in effect".to_owned());
    }
    if !base.gate.rules.is_empty() || !new.gate.rules.is_empty() {
        // Rules are read with what stands beside them, path by path.
        file.gate.block.clone_from(&new.gate.block);
        file.gate.warn.clone_from(&new.gate.warn);
        file.gate.age = new.gate.age;
        file.gate.base = Some(Box::new(base.gate.clone()));
    }
}

/// The base's protocols and templates count. One that is new would have calls of its functions stay calls, so that less
/// might be shown of what they do.
fn join_protocols(file: &mut ConfigFile, base: &ConfigFile, changes: &mut Vec<String>) {
    for ours in &base.protocols {
        match file.protocols.iter().find(|p| p.name == ours.name) {
            None => changes.push(format!("protocol removed, still in effect: {}", ours.name)),
            Some(theirs) if theirs != ours => {
                changes.push(format!("protocol changed, the old one is in effect: {}", ours.name));
            }
            Some(_) => {}
        }
    }
    for new in file.protocols.iter().filter(|p| base.protocols.iter().all(|b| b.name != p.name)) {
        changes.push(format!("protocol added, not yet in effect: {}", new.name));
    }
    file.protocols.clone_from(&base.protocols);
    // What is tried takes from what proofs may cost.
    for lost in base.templates.iter().filter(|t| !file.templates.contains(t)) {
        changes.push(format!("template removed, still in effect: {}", lost.text));
    }
    for new in file.templates.iter().filter(|t| !base.templates.contains(t)) {
        changes.push(format!("template added, not yet in effect: {}", new.text));
    }
    file.templates.clone_from(&base.templates);
}

/// A suppression counts if the base has it too, and until the earlier of both days.
fn join_suppressions(file: &mut ConfigFile, base: &ConfigFile, changes: &mut Vec<String>) {
    let earlier = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b).clone()),
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    let mut kept = Vec::new();
    for mut known in std::mem::take(&mut file.suppress) {
        // Of several entries for one finding, any that is not over counts: the latest day is the base's.
        let entries = base.suppress.iter().filter(|s| s.id == known.id);
        let Some(before) = entries.max_by_key(|s| (s.until.is_none(), &s.until)) else {
            changes.push(format!("suppression added, not yet in effect: {} ({})", known.id, known.reason));
            continue;
        };
        let until = earlier(&known.until, &before.until);
        if until != known.until {
            let day = until.as_deref().unwrap_or_default();
            changes.push(format!("suppression prolonged, not yet in effect: {} (until {day})", known.id));
            known.until = until;
        }
        kept.push(known);
    }
    file.suppress = kept;
}

fn join_analysis(file: &mut ConfigFile, base: &ConfigFile, new: &ConfigFile, changes: &mut Vec<String>) {
    let default = Settings::default();
    let (old, now) = (&base.analysis, &new.analysis);
    let mut larger = |name: &str, default: u64, old: Option<u64>, new: Option<u64>| {
        let (old, new) = (old.unwrap_or(default), new.unwrap_or(default));
        if new < old {
            changes.push(format!("analysis.{name} falls to {new}, still {old}"));
        }
        old.max(new)
    };
    let wide = |n: Option<u32>| n.map(u64::from);
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    file.analysis.rlimit = Some(larger("rlimit", default.analysis.rlimit, old.rlimit, now.rlimit));
    let unroll = larger("unroll", default.analysis.unroll.into(), wide(old.unroll), wide(now.unroll));
    file.analysis.unroll = Some(narrow(unroll));
    let depth = larger(
        "inline_depth",
        default.analysis.inline_depth.into(),
        wide(old.inline_depth),
        wide(now.inline_depth),
    );
    file.analysis.inline_depth = Some(narrow(depth));
    let of =
        |list: &Option<Vec<String>>, default: &[String]| list.clone().unwrap_or_else(|| default.to_vec());
    let mut both = |name: &str, old: Vec<String>, new: Vec<String>| {
        for lost in old.iter().filter(|n| !new.contains(n)) {
            changes.push(format!("analysis.{name} loses '{lost}', still in effect"));
        }
        union(&old, &new)
    };
    let templates = both(
        "templates",
        of(&old.templates, &default.analysis.templates),
        of(&now.templates, &default.analysis.templates),
    );
    let points =
        both("points", of(&old.points, &default.analysis.points), of(&now.points, &default.analysis.points));
    (file.analysis.templates, file.analysis.points) = (Some(templates), Some(points));
}

/// Sorted, without repetitions.
fn union(a: &[String], b: &[String]) -> Vec<String> {
    a.iter().chain(b).cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ConfigFile {
        ConfigFile::parse("f", text.as_bytes()).expect("a file")
    }

    #[test]
    fn what_loosens_waits_for_the_next_change() {
        let base = file(
            "{gate: {block: [assertion, pinned]}, pinned: [{function: f, holds: a}], paths: {exclude: [v]}, suppress: [{id: x, reason: r}]}",
        );
        let new = file(
            "{gate: {block: [safety], timeout_seconds: 1}, pinned: [{function: g, holds: b}], paths: {exclude: [v, src]}, suppress: [{id: x, reason: r}, {id: y, reason: s}]}",
        );
        let joined = join_policies(&base, &new);
        assert_eq!(
            joined.file.gate.block.as_deref(),
            Some(&["assertion", "pinned", "safety"].map(str::to_owned)[..])
        );
        assert_eq!(joined.file.gate.timeout_seconds, Some(20));
        assert_eq!(joined.file.pinned.len(), 2);
        assert_eq!(joined.file.paths.exclude, ["v"]);
        assert_eq!(joined.file.suppress.len(), 1);
        let expected = [
            "gate.block loses 'assertion', still in effect",
            "gate.block loses 'pinned', still in effect",
            "gate.block gains 'safety'",
            "gate.timeout_seconds falls to 1, still 20",
            "pin removed, still checked: f: a",
            "pin added: g: b",
            "suppression added, not yet in effect: y (s)",
            "path excluded, not yet in effect: src",
        ];
        assert_eq!(joined.changes, expected);
    }

    #[test]
    fn a_first_policy_cannot_be_weaker_than_the_defaults() {
        let new = file(
            "{gate: {block: [], warn: []}, paths: {include: [src]}, analysis: {rlimit: 1, points: [entry]}}",
        );
        let joined = join_policies(&ConfigFile::default(), &new).file;
        assert_eq!(joined.gate.block.map(|b| b.len()), Some(3));
        assert!(joined.paths.include.is_empty());
        assert_eq!(joined.analysis.rlimit, Some(Settings::default().analysis.rlimit));
        assert_eq!(joined.analysis.points.map(|p| p.join(" ")), Some("entry exit loop".to_owned()));
    }

    #[test]
    fn rules_of_both_sides_are_kept_apart_and_suppressions_end_as_before() {
        let base = file(
            "{gate: {block: [pinned], rules: [{paths: [t], block: []}]}, suppress: [{id: x, reason: r, until: 2027-01-31}]}",
        );
        let new = file(
            "{gate: {block: [], rules: [{paths: [\"*\"], block: []}]}, suppress: [{id: x, reason: other, until: 2028-01-31}]}",
        );
        let joined = join_policies(&base, &new);
        assert_eq!(joined.file.gate.base.as_deref(), Some(&base.gate));
        assert_eq!(joined.file.gate.block, Some(Vec::new()));
        assert_eq!(joined.file.suppress[0].until.as_deref(), Some("2027-01-31"));
        assert_eq!(joined.changes.len(), 3, "{:?}", joined.changes);
    }

    #[test]
    fn the_protocols_of_the_base_count() {
        let lock = |name: &str, call: &str| {
            format!(
                "{{name: {name}, start: locked, final: open, steps: [{{call: {call}, from: [locked], to: open}}]}}"
            )
        };
        let base = file(&format!("protocols: [{}, {}]", lock("a", "f"), lock("b", "f")));
        let new = file(&format!("protocols: [{}, {}]", lock("b", "g"), lock("c", "f")));
        let joined = join_policies(&base, &new);
        assert_eq!(joined.file.protocols, base.protocols);
        let expected = [
            "protocol removed, still in effect: a",
            "protocol changed, the old one is in effect: b",
            "protocol added, not yet in effect: c",
        ];
        assert_eq!(joined.changes, expected);
    }

    #[test]
    fn an_unchanged_policy_has_no_changes() {
        for text in [
            "{gate: {block: [pinned]}, analysis: {rlimit: 1}, paths: {include: [src], exclude: [v]}}",
            "{suppress: [{id: x, reason: r, until: 2027-01-31}, {id: x, reason: s, until: 2028-01-31}]}",
        ] {
            let joined = join_policies(&file(text), &file(text));
            assert_eq!(joined.changes, Vec::<String>::new());
            assert_eq!(joined.file.suppress, file(text).suppress);
        }
    }
}
