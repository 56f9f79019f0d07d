//! The calls of a run that somebody waits for, in order: what an automaton over calls is run along.
//!
//! Taken down are calls of the functions that are named, whoever defines them, and those of functions that nobody
//! defines, which may do anything to what they are given.

use super::ids::DefinitionId;
use super::input::{Input, Limits, Value};
use super::machine::Machine;
use super::outcome::Outcome;
use super::program::Program;
use crate::ir::{CType, Const};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Calls of one run that are taken down; one that makes more is told as cut.
const MOST: usize = 10_000;

/// Where a call is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallSite {
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
}

/// A call that was waited for.
#[derive(Clone, Debug)]
pub struct WatchedCall {
    /// Without `__builtin_`.
    pub callee: Arc<str>,
    /// The program defines it.
    pub is_defined: bool,
    /// It was named; otherwise it is one that nobody defines.
    pub is_named: bool,
    pub arguments: Vec<Watched>,
    /// `None`: there is none, or the call did not return.
    pub result: Option<Const>,
    /// `None`: nothing says.
    pub site: Option<CallSite>,
}

/// A value of a run.
#[derive(Clone, Debug)]
pub struct Watched {
    /// As the machine has it; within one run equal for one object.
    pub word: Const,
    /// In terms of the input; `None`: an aggregate.
    pub named: Option<Value>,
}

/// What is waited for, and what came.
pub(crate) struct Watch<'p> {
    names: &'p BTreeSet<Arc<str>>,
    calls: Vec<WatchedCall>,
    is_cut: bool,
    /// Calls in progress: the frame's serial, and which of the calls.
    open: Vec<(u64, usize)>,
}

/// Runs as [`super::run`] does and takes down the calls of these functions; `None` in place of the calls: there
/// were too many.
pub fn run_watching(
    program: &Program,
    entry: &str,
    input: &Input,
    limits: &Limits,
    names: &BTreeSet<Arc<str>>,
) -> (Outcome, Option<Vec<WatchedCall>>) {
    let _room = invdiff_cost::enter(invdiff_cost::Room::Interp);
    let mut machine = Machine::new(program, input, limits);
    machine.watch = Some(Watch { names, calls: Vec::new(), is_cut: false, open: Vec::new() });
    let (outcome, watch) = machine.run_watched(entry);
    (outcome, watch.filter(|w| !w.is_cut).map(|w| w.calls))
}

impl Machine<'_> {
    /// Takes a call down, if it is waited for; returns which of the calls it is.
    pub(super) fn note_watched(
        &mut self,
        callee: &str,
        is_defined: bool,
        args: &[Const],
        types: &[CType],
    ) -> Option<usize> {
        let callee = callee.strip_prefix("__builtin_").unwrap_or(callee);
        let is_named = self.watch.as_ref()?.names.contains(callee);
        if !is_named && (is_defined || super::is_library(callee)) {
            return None;
        }
        let bits = self.program.pointer_bits();
        let arguments = args.iter().zip(types).map(|(&word, ty)| {
            let named = ty.sort(bits).map(|_| self.printable(word, ty));
            Watched { word, named }
        });
        let arguments = arguments.collect();
        let site = self.call_site();
        let watch = self.watch.as_mut()?;
        watch.is_cut |= watch.calls.len() >= MOST;
        if watch.is_cut {
            return None;
        }
        let callee = callee.into();
        watch.calls.push(WatchedCall { callee, is_defined, is_named, arguments, result: None, site });
        Some(watch.calls.len() - 1)
    }

    /// As [`Machine::note_watched`], of a function that the program defines.
    pub(super) fn note_defined(
        &mut self,
        definition: DefinitionId,
        args: &[Const],
        types: &[CType],
    ) -> Option<usize> {
        self.watch.as_ref()?;
        let callee = self.program.function_of(definition)?.name.clone();
        self.note_watched(&callee, true, args, types)
    }

    /// A call that was taken down is in progress in the innermost frame.
    pub(super) fn open_watched(&mut self, noted: Option<usize>) {
        if let (Some(watch), Some(at), Some(frame)) = (&mut self.watch, noted, self.stack.frames.last()) {
            watch.open.push((frame.serial, at));
        }
    }

    /// What a call gives that was taken down.
    pub(super) fn give_watched(&mut self, noted: Option<usize>, result: Option<Const>) {
        let call = self.watch.as_mut().zip(noted).and_then(|(watch, at)| watch.calls.get_mut(at));
        call.into_iter().for_each(|call| call.result = result);
    }

    /// The innermost frame ends with this result. Calls that a jump has left have none.
    pub(super) fn close_watched(&mut self, result: Option<Const>) {
        let Some(serial) = self.stack.frames.last().map(|f| f.serial) else { return };
        let ended = self.watch.as_mut().map(|watch| {
            let first = watch.open.partition_point(|(open, _)| *open < serial);
            watch.open.split_off(first)
        });
        for (open, at) in ended.into_iter().flatten() {
            self.give_watched((open == serial).then_some(at), result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend;
    use crate::history::MemoryTree;
    use std::path::Path;

    /// The calls that a run of `f` makes of functions by these names: name, whether it is defined, first argument
    /// and result, line.
    fn calls(body: &str, names: &[&str]) -> Vec<String> {
        let source = format!("#include <stdlib.h>\n#include <setjmp.h>\nint told(int);\n{body}");
        let tree = MemoryTree::new([("t.c", source.as_bytes())]);
        let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
        let program = Program::new(vec![Arc::new(loaded.unit)]);
        let names: BTreeSet<Arc<str>> = names.iter().map(|n| Arc::from(*n)).collect();
        let (input, limits) = (Input::default(), Limits::default());
        let (_, calls) = run_watching(&program, "f", &input, &limits, &names);
        let number = |c: Option<Const>| c.and_then(|c| c.signed()).map_or("-".into(), |n| n.to_string());
        let shown = |c: &WatchedCall| {
            let how = match (c.is_defined, c.is_named) {
                (true, _) => "own ",
                (_, false) => "unknown ",
                _ => "",
            };
            let first = number(c.arguments.first().map(|a| a.word));
            format!(
                "{how}{}({first}) = {} at {}",
                c.callee,
                number(c.result),
                c.site.as_ref().map_or(0, |s| s.line)
            )
        };
        calls.expect("few calls").iter().map(shown).collect()
    }

    #[test]
    fn calls_are_taken_down_in_order_with_what_they_give() {
        let body = "static int one(int k) { return k ? one(k - 1) + 1 : 7; }\n\
                    int f(void) { int a = one(1) + abs(-3) - 3; told(5);\n return a + abs(a); }";
        assert_eq!(
            calls(body, &["one", "abs"]),
            [
                "own one(1) = 8 at 5",
                "own one(0) = 7 at 4",
                "abs(-3) = 3 at 5",
                "unknown told(5) = 0 at 5",
                "abs(8) = 8 at 6"
            ]
        );
        // What is defined, or known, and not waited for, is passed over.
        assert_eq!(calls(body, &[]), ["unknown told(5) = 0 at 5"]);
    }

    #[test]
    fn calls_that_a_jump_leaves_give_nothing() {
        let body = "static jmp_buf b; static int out(int k) { if (k) longjmp(b, 1); return 4; }\n\
                    static int by(int k) { return out(k) + 1; }\n\
                    int f(void) { if (!setjmp(b)) return by(1); return by(0); }";
        let expected =
            ["own by(1) = - at 6", "own out(1) = - at 5", "own by(0) = 5 at 6", "own out(0) = 4 at 5"];
        assert_eq!(calls(body, &["by", "out"]), expected);
    }

    #[test]
    fn too_many_calls_are_no_list() {
        let body = "int f(void) { int s = 0; for (int i = 0; i < 20000; i++) s += abs(i) & 1; return s; }";
        let tree = MemoryTree::new([("t.c", format!("#include <stdlib.h>\n{body}").as_bytes())]);
        let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
        let program = Program::new(vec![Arc::new(loaded.unit)]);
        let limits = Limits { fuel: 10_000_000, ..Limits::default() };
        let names = BTreeSet::from([Arc::from("abs")]);
        let (outcome, calls) = run_watching(&program, "f", &Input::default(), &limits, &names);
        assert_eq!(outcome.end, crate::End::Return);
        assert!(calls.is_none());
    }
}
