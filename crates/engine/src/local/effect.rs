//! What one version does from a point on, one thing at a time: a verb, what it is about, and what becomes of that. Effects
//! are compared, joined and left out by these parts; the words that a reader gets are made of them at the end.

use std::fmt;

/// What is written where no name leads.
pub(super) const SOMEWHERE: &str = "writes to memory";

/// What one version does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectKind {
    Undefined,
    Return,
    LeaveLoop,
    NextRound,
    Goto,
    End,
    Call,
    Write,
    Value,
}

impl EffectKind {
    /// The word of the contract.
    pub fn name(self) -> &'static str {
        match self {
            EffectKind::Undefined => "undefined",
            EffectKind::Return => "return",
            EffectKind::LeaveLoop => "leave-loop",
            EffectKind::NextRound => "next-round",
            EffectKind::Goto => "goto",
            EffectKind::End => "end",
            EffectKind::Call => "call",
            EffectKind::Write => "write",
            EffectKind::Value => "value",
        }
    }

    pub(super) fn importance(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub kind: EffectKind,
    pub words: Words,
    /// In that version.
    pub line: Option<u32>,
}

impl Effect {
    /// Whether it is that the version sets a place that has words.
    pub(super) fn sets(&self) -> bool {
        self.words.verb == Verb::Sets
    }

    /// The call that it is, or whose result it gives, or that does not return.
    pub(super) fn call(&self) -> Option<&str> {
        match self.words.verb {
            Verb::Calls | Verb::Returns | Verb::EndsIn => Some(&self.words.of),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    Calls,
    /// In a call that does not return.
    EndsIn,
    GoesOn,
    /// A place, as it is.
    Leaves,
    LeavesTheLoop,
    /// An object that may change by itself.
    Reads,
    Returns,
    Sets,
    /// None: the words say it themselves.
    Says,
}

/// What is said of an effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Words {
    pub verb: Verb,
    /// The call, the place or the value that it is about, as C text.
    pub of: String,
    /// What a place is set to, with how: ` to 1`, ` by SET(x)`.
    pub to: String,
    /// The line, in the newer version, that control goes to.
    pub at: Option<u32>,
    /// What is said behind it to tell it from other effects.
    pub remark: String,
}

impl Words {
    pub fn new(verb: Verb, of: impl Into<String>) -> Words {
        Words { verb, of: of.into(), to: String::new(), at: None, remark: String::new() }
    }

    pub fn says(text: impl Into<String>) -> Words {
        Words::new(Verb::Says, text)
    }

    /// That a place is set, with what is known of how.
    pub fn sets(place: impl Into<String>, to: impl Into<String>) -> Words {
        Words { to: to.into(), ..Words::new(Verb::Sets, place) }
    }

    /// That control goes on at a line, or leaves the loop to it.
    pub fn goes(verb: Verb, at: Option<u32>) -> Words {
        Words { at, ..Words::new(verb, "") }
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Words { verb, of, to, at, remark } = self;
        match verb {
            Verb::Calls => write!(f, "calls {of}")?,
            Verb::EndsIn => write!(f, "ends in {of}")?,
            Verb::GoesOn => f.write_str("goes on")?,
            Verb::Leaves => write!(f, "leaves {of} as it is")?,
            Verb::LeavesTheLoop => f.write_str("leaves the loop")?,
            Verb::Reads => write!(f, "reads {of}")?,
            Verb::Returns if of.is_empty() => f.write_str("returns")?,
            Verb::Returns => write!(f, "returns {of}")?,
            Verb::Sets => write!(f, "sets {of}{to}")?,
            Verb::Says => f.write_str(of)?,
        }
        match (verb, at) {
            (_, None) => {}
            (Verb::LeavesTheLoop, Some(line)) => write!(f, ", to line {line}")?,
            (_, Some(line)) => write!(f, " at line {line}")?,
        }
        f.write_str(remark)
    }
}

/// Leaves out what both versions set alike, by their words, where something else differs: it is set to what that gives.
/// So are calls with arguments that have no words, which come in one order, and writes that have none.
pub(super) fn leave_out_common(before: &mut Vec<Effect>, now: &mut Vec<Effect>) {
    let wordless = |e: &&Effect| e.words.verb == Verb::Calls && e.words.of.contains('…');
    let calls = |own: &[Effect], others: &[Effect]| -> Vec<Words> {
        let common = own.iter().filter(wordless).filter(|e| others.iter().any(|o| o.words == e.words));
        common.map(|e| e.words.clone()).collect()
    };
    let in_order = calls(before, now) == calls(now, before);
    let is_common = |e: &Effect, others: &[Effect]| {
        let says_little = || match e.kind {
            EffectKind::Call => in_order && wordless(&e),
            EffectKind::Value | EffectKind::Write => e.sets() || e.words == Words::says(SOMEWHERE),
            _ => false,
        };
        others.iter().any(|o| o.words == e.words) && says_little()
    };
    let [old, new] = [(&*before, &*now), (&*now, &*before)]
        .map(|(own, others)| own.iter().filter(|e| !is_common(e, others)).cloned().collect::<Vec<_>>());
    if !old.is_empty() && !new.is_empty() && !says_the_same(&old, &new) {
        (*before, *now) = (old, new);
    }
}

/// Leaves out that a version leaves as it is what the other one sets, where that is seen by what is told.
pub(super) fn leave_out_idle(before: &mut Vec<Effect>, now: &mut Vec<Effect>) {
    let is_set = |e: &Effect, others: &[Effect]| {
        e.words.verb == Verb::Leaves && others.iter().any(|o| o.sets() && o.words.of == e.words.of)
    };
    before.retain(|e| !is_set(e, now));
    let rest: Vec<Effect> = now.iter().filter(|e| !is_set(e, before)).cloned().collect();
    // That something is set no longer has no words but these.
    if !rest.is_empty() {
        *now = rest;
    }
}

/// Whether two lists of effects have the same words, whatever lines they stand at.
pub(super) fn says_the_same(before: &[Effect], now: &[Effect]) -> bool {
    before.iter().map(|e| &e.words).eq(now.iter().map(|e| &e.words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_words() {
        let told = |words: Words| words.to_string();
        assert_eq!(told(Words::new(Verb::Calls, "f(x)")), "calls f(x)");
        assert_eq!(told(Words::new(Verb::EndsIn, "die()")), "ends in die()");
        assert_eq!(told(Words::new(Verb::Returns, "")), "returns");
        assert_eq!(told(Words::new(Verb::Returns, "-1")), "returns -1");
        assert_eq!(told(Words::new(Verb::Leaves, "x")), "leaves x as it is");
        assert_eq!(told(Words::sets("p->n", " to 1")), "sets p->n to 1");
        assert_eq!(told(Words::sets("p->n", "")), "sets p->n");
        assert_eq!(told(Words::goes(Verb::GoesOn, None)), "goes on");
        assert_eq!(told(Words::goes(Verb::GoesOn, Some(7))), "goes on at line 7");
        assert_eq!(told(Words::goes(Verb::LeavesTheLoop, Some(7))), "leaves the loop, to line 7");
        assert_eq!(
            told(Words { remark: " (as long)".to_owned(), ..Words::sets("x", " to y") }),
            "sets x to y (as long)"
        );
        assert_eq!(told(Words::says("enters the loop")), "enters the loop");
    }

    #[test]
    fn kinds_have_words_of_the_contract_and_an_order() {
        assert_eq!(EffectKind::LeaveLoop.name(), "leave-loop");
        assert!(EffectKind::Return.importance() < EffectKind::Value.importance());
    }

    #[test]
    fn a_call_is_named_by_what_gives_its_result() {
        let effect = |verb| Effect { kind: EffectKind::Call, words: Words::new(verb, "f(x)"), line: None };
        assert_eq!(effect(Verb::EndsIn).call(), Some("f(x)"));
        assert_eq!(effect(Verb::Reads).call(), None);
        assert!(effect(Verb::Sets).sets() && !effect(Verb::Leaves).sets());
    }

    /// Found in lz4 6410f177.
    #[test]
    fn what_both_say_is_left_out_where_something_else_differs() {
        let effect = |kind, words| Effect { kind, words, line: None };
        let call = |text: &str| effect(EffectKind::Call, Words::new(Verb::Calls, text));
        let somewhere = || effect(EffectKind::Write, Words::says(SOMEWHERE));
        let left = |mut old: Vec<Effect>, mut new: Vec<Effect>| {
            leave_out_common(&mut old, &mut new);
            [old, new].map(|all| all.iter().map(|e| e.words.to_string()).collect::<Vec<_>>().join("; "))
        };
        let both = |k: &str| vec![call("release(…)"), call(&format!("show(…, {k})")), somewhere()];
        assert_eq!(left(both("1"), both("2")), ["calls show(…, 1)", "calls show(…, 2)"]);
        // What is said whole may come in another order; and nothing is left out where nothing would be left.
        assert_eq!(
            left(vec![call("f(1)"), call("g(1)")], vec![call("f(1)"), call("g(2)")])[1],
            "calls f(1); calls g(2)"
        );
        assert_eq!(left(vec![call("f(…)")], vec![call("f(…)"), call("g()")])[0], "calls f(…)");
        let [old, new] =
            [["f(…)", "g(…)", "h(1)"], ["g(…)", "f(…)", "h(2)"]].map(|all| all.map(call).to_vec());
        assert_eq!(left(old, new)[0], "calls f(…); calls g(…); calls h(1)");
    }
}
