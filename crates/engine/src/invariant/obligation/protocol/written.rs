//! A protocol as it is written, and whether it is an automaton.
//!
//! Terms: *mistake*: why it is none, with the line and column of the very word. An event is a call of one name;
//! two transitions for one event would leave open which is taken, so that every name stands for one. The texts
//! are a project's: names are held to those of C, and words to plain ones, because both become parts of facts,
//! which are read again.

use super::{Creation, Protocol, Step, Use, Values, stock};
use serde::Deserialize;
use serde_yaml::Spanned;
use std::collections::{BTreeMap, BTreeSet};

/// Most protocols of a project, and most steps, uses, ... of one.
pub const MOST: usize = 32;
const MOST_PARTS: usize = 64;
/// Letters of the longest name, and of the longest words.
const LONGEST: usize = 60;
/// The largest position of an argument.
const LAST_ARGUMENT: usize = 126;

/// A protocol as it is written, with the places of its words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    pub name: Spanned<String>,
    start: Option<Spanned<String>>,
    #[serde(rename = "final")]
    end: Option<Spanned<String>>,
    #[serde(default)]
    words: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    create: Vec<Spanned<Creation>>,
    #[serde(default)]
    steps: Vec<Spanned<WrittenStep>>,
    #[serde(default)]
    uses: Vec<Spanned<Use>>,
    #[serde(default)]
    dereferenced: bool,
    #[serde(default)]
    takes: Vec<Spanned<String>>,
    twice: Option<Spanned<String>>,
    late: Option<Spanned<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    call: Spanned<String>,
    argument: Option<Spanned<usize>>,
    from: Vec<Spanned<String>>,
    to: Spanned<String>,
    unless: Option<Values>,
    ignores: Option<Values>,
}

/// Why something is no automaton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct Mistake {
    pub line: u64,
    pub column: u64,
    /// Quotes the file; whoever prints it escapes control characters.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

type Checked<T> = Result<T, Mistake>;

impl Written {
    /// The automaton. `is_own`: a project's.
    ///
    /// Errors: why it is none.
    pub fn protocol(self, is_own: bool) -> Checked<Protocol> {
        self.check_name(is_own)?;
        let (start, end) = self.states()?;
        let words = self.words(&start, &end)?;
        self.check_steps(&start, &end, is_own)?;
        self.check_events()?;
        self.check_resource()?;
        for text in [&self.twice, &self.late].into_iter().flatten() {
            self.check_words(text)?;
        }
        let step = |s: Spanned<WrittenStep>| Step {
            call: s.value.call.value,
            argument: s.value.argument.map(|a| a.value),
            from: s.value.from.into_iter().map(|f| f.value).collect(),
            to: s.value.to.value,
            unless: s.value.unless,
            ignores: s.value.ignores,
        };
        Ok(Protocol {
            name: self.name.value,
            start,
            end,
            words,
            create: self.create.into_iter().map(|c| c.value).collect(),
            steps: self.steps.into_iter().map(step).collect(),
            uses: self.uses.into_iter().map(|u| u.value).collect(),
            dereferenced: self.dereferenced,
            takes: self.takes.into_iter().map(|t| t.value).collect(),
            twice: self.twice.map(|t| t.value),
            late: self.late.map(|t| t.value),
            is_own,
        })
    }

    fn mistake<T, S>(&self, at: &Spanned<T>, message: impl Into<String>, hint: S) -> Mistake
    where
        S: Into<String>,
    {
        let (place, of) = (at.referenced, &self.name.value);
        let message = format!("protocol '{of}': {}", message.into());
        Mistake { line: place.line(), column: place.column(), message, hint: hint.into() }
    }

    fn check_name(&self, is_own: bool) -> Checked<()> {
        if !is_name(&self.name.value) {
            let hint = "a protocol's name is one of C: letters, digits and '_', as in 'kernel_lock'";
            return Err(self.mistake(&self.name, "this is no name", hint));
        }
        if is_own && stock().iter().any(|p| p.name == self.name.value) {
            let names: Vec<&str> = stock().iter().map(|p| p.name.as_str()).collect();
            let hint = format!("choose another name; taken are {}", names.join(", "));
            return Err(self.mistake(&self.name, "a protocol of this name comes with git-invdiff", hint));
        }
        Ok(())
    }

    /// The state that a resource in use is in, and the one that it is to be left in.
    fn states(&self) -> Checked<(String, String)> {
        let Some(start) = &self.start else {
            let hint = "add 'start: STATE', the state of a resource that is in use, as in 'start: locked'";
            return Err(self.mistake(&self.name, "it has no start", hint));
        };
        let Some(end) = &self.end else {
            let hint = "add 'final: STATE', the state that a function should leave a resource in";
            return Err(self.mistake(&self.name, "it has no final state", hint));
        };
        for state in [start, end] {
            if !is_name(&state.value) {
                let hint = "a state is one word of letters, digits and '_'";
                return Err(self.mistake(state, format!("'{}' is no state", state.value), hint));
            }
        }
        if start.value == end.value {
            let hint = "name two states, as 'start: locked' and 'final: unlocked'";
            return Err(self.mistake(end, "start and final are the same state", hint));
        }
        Ok((start.value.clone(), end.value.clone()))
    }

    fn words(&self, start: &str, end: &str) -> Checked<BTreeMap<String, String>> {
        for (state, text) in &self.words {
            if state != start && state != end {
                return Err(self.unknown(text, "words are given for", state, (start, end)));
            }
            if text.value.is_empty() {
                let hint = format!("say what a report is to say, as '{state}: is {state}'");
                return Err(self.mistake(text, format!("no words for the state '{state}'"), hint));
            }
            self.check_words(text)?;
        }
        let word = |state: &str| match self.words.get(state) {
            Some(text) => text.value.clone(),
            None => format!("is {state}"),
        };
        Ok([start, end].into_iter().map(|s| (s.to_owned(), word(s))).collect())
    }

    /// Words are read again behind the name of a resource.
    fn check_words(&self, text: &Spanned<String>) -> Checked<()> {
        let plain = |c: char| c == ' ' || c == '_' || c.is_ascii_alphanumeric();
        let begins = text.value.starts_with(|c: char| c.is_ascii_alphabetic());
        if begins
            && text.value.len() <= LONGEST
            && !text.value.ends_with(' ')
            && text.value.chars().all(plain)
        {
            return Ok(());
        }
        let hint = format!("up to {LONGEST} letters, digits and spaces, as in 'stays locked'");
        Err(self.mistake(text, "these words cannot be part of a fact", hint))
    }

    fn unknown<T>(&self, at: &Spanned<T>, what: &str, state: &str, (start, end): (&str, &str)) -> Mistake {
        let hint = format!("the states are '{start}' (start) and '{end}' (final)");
        self.mistake(at, format!("{what} the unknown state '{state}'"), hint)
    }

    fn check_steps(&self, start: &str, end: &str, is_own: bool) -> Checked<()> {
        if self.steps.is_empty() {
            let hint = format!(
                "add a step, as 'steps: [{{call: unlock, argument: 0, from: [{start}], to: {end}}}]'"
            );
            return Err(self.mistake(&self.name, "it is empty: it has no steps", hint));
        }
        for step in self.steps.iter().map(|s| &s.value) {
            let call = &step.call.value;
            let known = |s: &&Spanned<String>| s.value == start || s.value == end;
            if let Some(from) = step.from.iter().find(|s| !known(s)) {
                let what = format!("step '{call}' is taken from");
                return Err(self.unknown(from, &what, &from.value, (start, end)));
            }
            if !known(&&step.to) {
                let what = format!("step '{call}' leads to");
                return Err(self.unknown(&step.to, &what, &step.to.value, (start, end)));
            }
            if step.from.is_empty() {
                let hint = format!("say from which states it may be taken, as 'from: [{start}]'");
                return Err(self.mistake(&step.call, format!("step '{call}' can never be taken"), hint));
            }
        }
        if is_own && !self.steps.iter().any(|s| s.value.to.value == end) {
            let hint = format!("add a step with 'to: {end}'");
            return Err(self.mistake(&self.name, format!("no step leads to the final state '{end}'"), hint));
        }
        Ok(())
    }

    /// Whether every event is one, and the name of a function.
    fn check_events(&self) -> Checked<()> {
        let steps = self.steps.iter().map(|s| (&s.value.call.value, s.value.call.referenced));
        let made = self.create.iter().map(|c| (&c.value.call, c.referenced));
        let used: BTreeSet<&String> = self.uses.iter().map(|u| &u.value.call).collect();
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let at = |place| Spanned::new((), place, place);
        for (call, place) in steps.chain(made) {
            if !seen.insert(call) {
                let hint = "one step for a call: list all states that it may be taken from in its 'from'";
                return Err(self.mistake(
                    &at(place),
                    format!("two transitions for one event: '{call}'"),
                    hint,
                ));
            }
            if used.contains(call) {
                let hint = "a step need not be listed under 'uses'";
                let message = format!("two transitions for one event: '{call}' is a use, too");
                return Err(self.mistake(&at(place), message, hint));
            }
        }
        let used = self.uses.iter().map(|u| (&u.value.call, u.referenced));
        let taken = self.takes.iter().map(|t| (&t.value, t.referenced));
        let steps = self.steps.iter().map(|s| (&s.value.call.value, s.value.call.referenced));
        let made = self.create.iter().map(|c| (&c.value.call, c.referenced));
        let mut count = 0;
        for (call, place) in steps.chain(made).chain(used).chain(taken) {
            count += 1;
            if !is_name(call) {
                let hint = "name the function alone, as in 'call: unlock_kernel'";
                return Err(self.mistake(&at(place), format!("'{call}' is no name of a function"), hint));
            }
            if count > MOST_PARTS {
                let hint = "split it into several protocols";
                return Err(self.mistake(&at(place), format!("more than {MOST_PARTS} calls"), hint));
            }
        }
        Ok(())
    }

    /// Whether all speak of one kind of resource: an argument or result, or the program's only one.
    fn check_resource(&self) -> Checked<()> {
        let steps = self.steps.iter().map(|s| &s.value);
        let (with, without): (Vec<_>, Vec<_>) = steps.partition(|s| s.argument.is_some());
        if let (Some(_), Some(step)) = (with.first(), without.first()) {
            let hint = "give 'argument: N' (from 0) to all steps, or to none where there is one resource";
            return Err(self.mistake(
                &step.call,
                format!("step '{}' names no argument", step.call.value),
                hint,
            ));
        }
        let too_far = with.iter().filter_map(|s| s.argument.as_ref()).find(|a| a.value > LAST_ARGUMENT);
        if let Some(argument) = too_far {
            let hint = "arguments are counted from 0";
            return Err(self.mistake(argument, format!("no call has an argument {}", argument.value), hint));
        }
        let is_single = with.is_empty();
        if let Some(made) = self.create.first().filter(|_| is_single) {
            let hint = "give 'argument: N' to the steps, or make the creating call a step";
            return Err(self.mistake(made, "calls create resources that no step takes as an argument", hint));
        }
        if let Some(used) = self.uses.iter().find(|u| u.value.argument.is_some() == is_single) {
            let hint = "uses have an 'argument' where the steps have one";
            let message = format!("use '{}' and the steps are not of one resource", used.value.call);
            return Err(self.mistake(used, message, hint));
        }
        if let Some(ignoring) = self.steps.iter().find(|s| is_single && s.value.ignores.is_some()) {
            let hint = "'ignores' is about the argument; leave it out";
            return Err(self.mistake(ignoring, "a step without argument ignores none", hint));
        }
        if is_single && self.dereferenced {
            let hint = "leave 'dereferenced' out";
            return Err(self.mistake(&self.name, "nothing leads to the program's one resource", hint));
        }
        Ok(())
    }
}

/// Whether a text is a name of C, and no longer than facts can bear.
fn is_name(text: &str) -> bool {
    let first = text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    first && text.len() <= LONGEST && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The protocols of a project.
///
/// Errors: the first that is no automaton, and why.
pub fn own(written: Vec<Written>) -> Checked<Vec<Protocol>> {
    let mut found: Vec<Protocol> = Vec::new();
    for (i, one) in written.into_iter().enumerate() {
        if i >= MOST {
            return Err(one.mistake(
                &one.name,
                format!("there are more than {MOST} protocols"),
                "leave some out",
            ));
        }
        if found.iter().any(|p| p.name == one.name.value) {
            let message = "a protocol of this name stands above";
            return Err(one.mistake(&one.name, message, "give each a name of its own"));
        }
        found.push(one.protocol(true)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
