//! Protocols as data: what states a resource goes through, and which calls take it from one to the next.
//!
//! A protocol is an automaton of two states, written in YAML: those that come with the program (`protocols/`), and
//! a project's own (`protocols:` of `.invdiff.yaml`), in one form. Either calls create a resource as their
//! result, which then is in the state `start`, or the resource is an argument that was there before,
//! and in a state that nobody knows until the first step. Where steps name no argument, there is one resource,
//! the program's, which is called as the protocol is: `lock_kernel()`. Every step says from which states it may
//! be taken; `final` is where a function should leave what it began.
//!
//! What is read, and what is refused as no automaton, is in [`written`]. Source of the view of protocols as
//! automata: Strom and Yemini, Typestate, IEEE TSE 12(1), 1986.

pub mod written;

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// An automaton over the states of one kind of resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    pub name: String,
    /// The state of a resource that is in use.
    pub start: String,
    /// The state that it should be left in.
    pub end: String,
    /// What a report says of a resource in each of the two.
    pub words: BTreeMap<String, String>,
    pub create: Vec<Creation>,
    pub steps: Vec<Step>,
    /// Calls that need the resource in the state `start`.
    pub uses: Vec<Use>,
    /// Whether reading and writing through the resource are uses, too.
    pub dereferenced: bool,
    /// Functions that may keep the resource, or make another one of it.
    pub takes: Vec<String>,
    /// What a report says where a step is taken from a state that it may not be taken from.
    pub twice: Option<String>,
    /// What a report says of a use in another state than `start`.
    pub late: Option<String>,
    /// The project's, not the program's: its functions are events even where the project defines them.
    pub is_own: bool,
}

/// A call whose result is a new resource.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Creation {
    pub call: String,
    /// Results that are no resource.
    pub unless: Values,
}

/// A call that takes a resource to another state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub call: String,
    /// Position of the resource among the arguments, from 0; none: the program's one resource.
    pub argument: Option<usize>,
    /// States from which the step may be taken.
    pub from: Vec<String>,
    pub to: String,
    /// Results that say that nothing happened.
    pub unless: Option<Values>,
    /// Arguments of which the step does nothing.
    pub ignores: Option<Values>,
}

/// A call that needs the resource.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    pub call: String,
    #[serde(default)]
    pub argument: Option<usize>,
}

/// A set of numbers.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    Zero,
    Nonzero,
    Negative,
}

impl Protocol {
    /// Whether a resource that was left in the final state never leaves it again.
    pub(in crate::invariant) fn is_absorbing(&self) -> bool {
        self.steps.iter().all(|s| s.to == self.end)
    }

    /// Whether there is one resource, the program's.
    pub(in crate::invariant) fn is_single(&self) -> bool {
        self.steps.iter().any(|s| s.argument.is_none())
    }

    pub(in crate::invariant) fn creation(&self, call: &str) -> Option<&Creation> {
        self.create.iter().find(|c| c.call == call)
    }

    pub(in crate::invariant) fn step(&self, call: &str) -> Option<&Step> {
        self.steps.iter().find(|s| s.call == call)
    }

    pub(in crate::invariant) fn is_use(&self, call: &str) -> bool {
        self.uses.iter().any(|u| u.call == call)
    }

    /// The functions that it speaks of.
    pub fn calls(&self) -> BTreeSet<&str> {
        let made = self.create.iter().map(|c| &c.call);
        let taken = self.steps.iter().map(|s| &s.call).chain(self.uses.iter().map(|u| &u.call));
        made.chain(taken).chain(&self.takes).map(String::as_str).collect()
    }

    /// What a report says of a resource in a state.
    pub(in crate::invariant) fn word(&self, state: &str) -> &str {
        self.words.get(state).map_or("", String::as_str)
    }
}

/// The functions that protocols speak of: calls of them stay calls.
pub fn events(protocols: &[Protocol]) -> BTreeSet<Arc<str>> {
    protocols.iter().flat_map(Protocol::calls).map(Arc::from).collect()
}

/// The protocols that come with the program, by file.
const STOCK: [(&str, &str); 4] = [
    ("memory.yaml", include_str!("protocols/memory.yaml")),
    ("posix.yaml", include_str!("protocols/posix.yaml")),
    ("pthread.yaml", include_str!("protocols/pthread.yaml")),
    ("stdio.yaml", include_str!("protocols/stdio.yaml")),
];

/// Reads a list of protocols that come with the program.
///
/// Errors: text that is no such list, or something that is no automaton.
fn read(text: &str) -> Result<Vec<Protocol>, String> {
    let found: Vec<written::Written> = serde_yaml::from_str(text).map_err(|e| e.to_string())?;
    found.into_iter().map(|w| w.protocol(false).map_err(|mistake| mistake.to_string())).collect()
}

/// Returns the protocols that come with the program. (Their files are tested: none is left out.)
pub(in crate::invariant) fn stock() -> &'static [Protocol] {
    static READ: OnceLock<Vec<Protocol>> = OnceLock::new();
    READ.get_or_init(|| STOCK.iter().filter_map(|(_, text)| read(text).ok()).flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_protocols_are_read() {
        for (file, text) in STOCK {
            let protocols = read(text).unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(!protocols.is_empty(), "{file}");
        }
        let absorbing: Vec<&str> =
            stock().iter().filter(|p| p.is_absorbing()).map(|p| p.name.as_str()).collect();
        assert_eq!(absorbing, ["heap", "descriptor", "directory", "stream", "pipe"]);
    }

    #[test]
    fn mistakes_are_told() {
        let check = |from: &str, to: &str, expected: &str| {
            let text = STOCK[3].1.replacen(from, to, 1);
            assert_ne!(text, STOCK[3].1);
            let error = read(&text).expect_err(to);
            assert!(error.contains(expected), "{error}");
        };
        check("to: closed", "to: shut", "protocol 'stream': step 'fclose' leads to the unknown state 'shut'");
        check("open: stays open, ", "open: '', ", "protocol 'stream': no words for the state 'open'");
        check("twice:", "again:", "again");
    }

    fn stream() -> &'static Protocol {
        stock().iter().find(|p| p.name == "stream").expect("it comes with the program")
    }

    #[test]
    fn calls_are_looked_up_by_what_they_do() {
        let p = stream();
        assert_eq!(p.creation("fopen").map(|c| c.unless), Some(Values::Zero));
        assert_eq!(p.step("fclose").map(|s| (s.argument, s.to.as_str())), Some((Some(0), "closed")));
        assert!(p.creation("fclose").is_none() && p.step("fopen").is_none() && p.step("puts").is_none());
    }

    #[test]
    fn a_state_without_words_has_none() {
        assert_eq!(stream().word("open"), "stays open");
        assert_eq!(stream().word("shut"), "");
    }

    /// A protocol of one step, which may be taken from these states and leads to another.
    #[track_caller]
    fn made(from: &str, to: &str) -> Result<Vec<Protocol>, String> {
        read(&format!(
            "- name: door\n  start: open\n  final: shut\n  words: {{open: is open, shut: is shut}}\n  steps:\n    - {{call: turn, argument: 1, from: [{from}], to: {to}, unless: negative, ignores: nonzero}}\n"
        ))
    }

    #[test]
    fn a_step_says_when_nothing_happens() {
        let all = made("open", "shut").expect("a protocol");
        let step = all[0].step("turn").expect("a step");
        assert_eq!((step.unless, step.ignores), (Some(Values::Negative), Some(Values::Nonzero)));
        assert_eq!((step.argument, step.from.as_slice()), (Some(1), &["open".to_owned()][..]));
        assert!(all[0].create.is_empty() && all[0].uses.is_empty() && !all[0].dereferenced);
    }

    #[test]
    fn a_final_state_that_can_be_left_does_not_absorb() {
        let absorbs = |from, to| made(from, to).expect("a protocol")[0].is_absorbing();
        assert!(absorbs("open", "shut") && !absorbs("shut", "open"));
    }

    #[test]
    fn a_step_from_an_unknown_state_is_a_mistake() {
        let error = made("ajar", "shut").expect_err("no such state");
        assert!(error.contains("'turn' is taken from the unknown state 'ajar'"), "{error}");
        assert!(read("- name: x").is_err() && read("{").is_err());
    }

    #[test]
    fn every_protocol_has_a_way_to_end() {
        for p in stock() {
            assert!(p.steps.iter().any(|s| s.to == p.end), "{}", p.name);
            assert!(p.create.is_empty() || p.is_absorbing() || p.steps.iter().any(|s| s.to == p.start));
        }
    }
}
