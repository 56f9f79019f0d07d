//! An example in few words: what goes in, and what comes out of the old and of the new version.

use crate::escape::{shortened, visible};
use crate::witness::{CallResult, End, MemoryObject, Run, Storage, Value, Witness, WitnessKind};
use std::collections::{BTreeMap, BTreeSet};

/// What goes in: `a = -1, p = &{len: 0}`, `stdin "1 2\n"`. The entry is named if it is not
/// `function` itself.
pub(crate) fn input_text(witness: &Witness, function: &str) -> String {
    let mut parts = Vec::new();
    if let Some(argv) = &witness.argv {
        let words: Vec<String> = argv.iter().map(|w| quoted(w)).collect();
        parts.push(format!("argv {}", words.join(" ")));
    }
    if let Some(stdin) = &witness.stdin {
        parts.push(format!("stdin {}", quoted(stdin)));
    } else if let Some(base64) = &witness.stdin_base64 {
        parts.push(format!("stdin (base64) {}", visible(base64)));
    }
    parts.extend(argument_texts(witness));
    // Functions that nobody defines are taken to return zero; only other answers are spelled out.
    let plain = |c: &&CallResult| {
        matches!(c.returned.as_deref(), None | Some("0")) && c.errno.is_none() && c.writes.is_empty()
    };
    let memory = Memory { witness, in_place: shared_objects(witness) };
    let answers: Vec<(&CallResult, String)> = witness
        .calls
        .iter()
        .map(|c| (c, if plain(&c) { String::new() } else { memory.answer_text(c) }))
        .collect();
    let mut alike: BTreeSet<&str> = BTreeSet::new();
    for (call, answer) in answers.iter().filter(|(c, _)| !plain(c)) {
        let callee = call.callee.as_str();
        let same = answers.iter().filter(|(c, _)| c.callee == callee);
        let is_always = call.nth == 1 && same.clone().count() > 2 && same.clone().all(|(_, a)| a == answer);
        if alike.contains(callee) {
            continue;
        }
        parts.push(match call.nth {
            _ if is_always => {
                alike.insert(callee);
                format!("each call of {}(){answer}", visible(callee))
            }
            1 => format!("{}(){answer}", visible(callee)),
            nth => format!("call {nth} of {}(){answer}", visible(callee)),
        });
    }
    parts.extend(unknown_functions(witness.calls.iter().filter(plain)));
    parts.extend(unknown_names(witness));
    let text = parts.join(", ");
    match witness.kind {
        WitnessKind::Call if witness.entry != function && !witness.entry.is_empty() => {
            format!("{}({text})", visible(&witness.entry))
        }
        _ => text,
    }
}

/// What names without a meaning are taken for: `LIMIT taken for 0`.
fn unknown_names(witness: &Witness) -> Option<String> {
    let name = |what: &String| Some(visible(what.strip_prefix("guessed(")?.split_once(" = ")?.0));
    let names: Vec<String> = witness.relies_on.iter().filter_map(name).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("{name} taken for 0")),
        [name, others @ ..] => {
            let names = super::counted(others.len(), "other unknown name");
            Some(format!("{name} and {names} taken for 0"))
        }
    }
}

/// What is taken of functions that nobody defines: `fopen() gives NULL`.
fn unknown_functions<'w>(calls: impl Iterator<Item = &'w CallResult>) -> Option<String> {
    let mut unknown: Vec<(&str, Option<&str>)> =
        calls.map(|c| (c.callee.as_str(), c.returned.as_deref())).collect();
    unknown.sort();
    unknown.dedup_by_key(|(name, _)| *name);
    Some(match unknown.as_slice() {
        [] => return None,
        [(name, Some(zero))] => format!("{}() gives {}", visible(name), visible(zero)),
        [(name, None)] => format!("{}() does nothing", visible(name)),
        [(name, _), others @ ..] => {
            let functions = if others.len() == 1 { "function" } else { "functions" };
            format!(
                "{}() and {} other unknown {functions} do nothing and give 0",
                visible(name),
                others.len()
            )
        }
    })
}

/// Arguments with what they lead to in place, then the objects that are left: globals, and what
/// several pointers lead to.
fn argument_texts(witness: &Witness) -> Vec<String> {
    let memory = Memory { witness, in_place: shared_objects(witness) };
    let mut parts: Vec<String> = Vec::new();
    for argument in &witness.arguments {
        let name = visible(&argument.name);
        parts.push(match memory.pointee(&argument.value) {
            // `*p = 5` is plainer than a pointer to a nameless number.
            Some(object) if object.is_scalar() => format!("*{name} = {}", memory.object_text(object, 0)),
            _ => format!("{name} = {}", memory.value_text(&argument.value, 0)),
        });
    }
    for object in &witness.memory {
        if object.storage == Storage::Global || memory.in_place.get(object.id.as_str()) == Some(&false) {
            parts.push(format!("{} = {}", visible(&object.id), memory.object_text(object, 0)));
        }
    }
    parts
}

/// By object that something points to: whether it is shown where the pointer is.
fn shared_objects(witness: &Witness) -> BTreeMap<&str, bool> {
    let cells = witness.memory.iter().flat_map(|o| o.cells.values());
    let mut in_place = BTreeMap::new();
    let pointers = witness.arguments.iter().map(|a| &a.value).chain(cells).filter_map(|value| match value {
        Value::Pointer { object, offset } => Some((object.as_str(), *offset)),
        Value::Text(_) => None,
    });
    let results = witness.calls.iter().filter_map(|c| witness.object_given(c));
    for (object, offset) in pointers.chain(results.map(|(object, offset)| (object.id.as_str(), offset))) {
        let alone = !in_place.contains_key(object) && offset == 0;
        in_place.insert(object, alone);
    }
    // What comes out speaks of them by their names.
    let runs = [&witness.old, &witness.new];
    for text in runs.iter().flat_map(|run| run.returned.iter().chain(run.values.values())) {
        if let Some(shown) = text.strip_prefix('&').and_then(|name| in_place.get_mut(name)) {
            *shown = false;
        }
    }
    in_place
}

impl MemoryObject {
    fn is_scalar(&self) -> bool {
        !self.is_aggregate() && (self.cells.is_empty() || self.cells.keys().eq(["[0]"]))
    }

    fn is_aggregate(&self) -> bool {
        let record = self.ty.starts_with("struct ") || self.ty.starts_with("union ");
        self.ty.ends_with(']') || record && !self.ty.ends_with('*') || self.ty == "void" || self.ty.is_empty()
    }
}

struct Memory<'a> {
    witness: &'a Witness,
    in_place: BTreeMap<&'a str, bool>,
}

impl<'a> Memory<'a> {
    /// The object that a pointer alone leads to.
    fn pointee(&self, value: &Value) -> Option<&'a MemoryObject> {
        let Value::Pointer { object: id, offset: 0 } = value else { return None };
        let object = self.witness.memory.iter().find(|m| m.id == *id)?;
        let here = object.storage != Storage::Global && self.in_place.get(id.as_str()) == Some(&true);
        here.then_some(object)
    }

    /// What a call did: ` gives 3 with errno 2`.
    fn answer_text(&self, call: &CallResult) -> String {
        let returned = self.result_text(call).map(|text| format!(" gives {text}"));
        let errno = call.errno.as_ref().map(|errno| format!(" with errno {}", visible(errno)));
        returned.into_iter().chain(errno).collect()
    }

    /// What a function returned.
    fn result_text(&self, call: &CallResult) -> Option<String> {
        let returned = call.returned.as_deref()?;
        Some(match self.witness.object_given(call) {
            Some((object, offset)) => {
                self.value_text(&Value::Pointer { object: object.id.clone(), offset }, 0)
            }
            // `&*stdout` is no more than `stdout`.
            None => visible(returned.strip_prefix("&*").unwrap_or(returned)),
        })
    }

    fn value_text(&self, value: &Value, depth: usize) -> String {
        /// Objects inside one another; lists may be long.
        const NESTED: usize = 4;
        match value {
            Value::Text(text) => visible(text),
            pointer if self.pointee(pointer).is_some() && depth < NESTED => {
                let Some(object) = self.pointee(pointer) else { return String::new() };
                let text = self.object_text(object, depth + 1);
                // Texts and arrays are what a pointer to their first element means.
                if object.ty.ends_with(']') { text } else { format!("&{text}") }
            }
            Value::Pointer { object, offset: 0 } => format!("&{}", visible(object)),
            Value::Pointer { object, offset } => format!("&{} {offset:+} bytes", visible(object)),
        }
    }

    /// `{len: 3, text: "abc"}`, `{1, 2}`, `"abc"`; what is not named is zero.
    fn object_text(&self, object: &MemoryObject, depth: usize) -> String {
        if let Some(text) = object.cells.get("").or(object.cells.get("[0]").filter(|_| object.is_scalar())) {
            return self.value_text(text, depth);
        }
        if object.cells.is_empty() {
            return if object.is_aggregate() { "{0}" } else { "0" }.into();
        }
        if let Some(elements) = self.elements(object, depth) {
            return format!("{{{}}}", elements.join(", "));
        }
        let cells = object.cells.iter();
        let text = cells.map(|(name, value)| format!("{}: {}", visible(name), self.value_text(value, depth)));
        format!("{{{}}}", text.collect::<Vec<_>>().join(", "))
    }

    /// The elements of a short array of scalars.
    fn elements(&self, object: &MemoryObject, depth: usize) -> Option<Vec<String>> {
        const MOST: usize = 12;
        let index = |name: &str| name.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok();
        let mut elements = Vec::new();
        for (name, value) in &object.cells {
            let i = index(name).filter(|i| *i < MOST)?;
            if elements.len() <= i {
                elements.resize(i + 1, "0".to_owned());
            }
            elements[i] = self.value_text(value, depth);
        }
        Some(elements)
    }
}

/// What comes out: `-0.5 -> 0.5`, `prints "a\n" -> "b\n"`, `returns 0 -> aborts`. What the churn is
/// about comes alone if the runs tell of it.
pub(crate) fn effect_text(witness: &Witness, subject: &str, labelled: bool, room: usize) -> String {
    let (old, new) = (&witness.old, &witness.new);
    if old.end != new.end || old.undefined != new.undefined {
        return format!("{} -> {}", ending(old, room / 2), ending(new, room / 2));
    }
    let of_values = subject == "memory" || !matches!(subject, "\\result" | "output" | "end" | "");
    if of_values {
        let values = differing_values(old, new, |name| subject == "memory" || subject == name);
        if !values.is_empty() {
            return shortened(&values.join(", "), room);
        }
    }
    let mut parts = Vec::new();
    if let (Some(old), Some(new)) = (&old.stdout, &new.stdout)
        && old != new
    {
        let room = room.saturating_sub(12);
        // One that only goes on where the other ends is shown by what it says more.
        let more = |shorter: &str, longer: &str| {
            let rest = longer.strip_prefix(shorter).filter(|_| !shorter.is_empty())?;
            Some(quoted_part(rest, room))
        };
        parts.push(match (more(old, new), more(new, old)) {
            (Some(rest), _) => format!("also prints {rest}"),
            (_, Some(rest)) => format!("no longer prints {rest}"),
            _ => {
                let (old, new) = differing_parts(old, new, room / 2);
                format!("prints {old} -> {new}")
            }
        });
    } else if old.stdout != new.stdout || old.stdout_base64 != new.stdout_base64 {
        parts.push("prints other bytes".to_owned());
    }
    if parts.is_empty() && subject == "output" && old.stderr != new.stderr {
        let text = |run: &Run| quoted_part(run.stderr.as_deref().unwrap_or_default(), room / 2);
        parts.push(format!("prints {} -> {} to stderr", text(old), text(new)));
    }
    if old.returned != new.returned && (subject != "output" || parts.is_empty()) {
        let (old, new) = (or_nothing(old.returned.as_deref()), or_nothing(new.returned.as_deref()));
        // A call's result needs no label when it is all there is.
        let plain = !labelled && parts.is_empty() && witness.kind == WitnessKind::Call;
        let label = if plain { "" } else { "returns " };
        if subject == "\\result" {
            parts.clear();
        }
        parts.push(format!("{label}{old} -> {new}"));
    }
    if old.exit != new.exit && (old.returned == new.returned || witness.kind == WitnessKind::Program) {
        let text = |code: Option<i32>| code.map_or("nothing".to_owned(), |c| c.to_string());
        parts.retain(|p| !p.contains("returns"));
        parts.push(format!("exit status {} -> {}", text(old.exit), text(new.exit)));
    }
    // Values inside say little to someone who sees the effect outside, and nothing of one that is
    // seen only in memory.
    if parts.is_empty() && (of_values || subject.is_empty()) {
        parts = differing_values(old, new, |n| old.values.contains_key(n) && new.values.contains_key(n));
    }
    if parts.is_empty() && (old.end, new.end) == (End::Abort, End::Abort) {
        parts.push("aborts with another message".to_owned());
    }
    // It was replayed as a difference, so what is left is memory that no name here stands for.
    if parts.is_empty() { UNNAMED.to_owned() } else { shortened(&parts.join(", "), room) }
}

/// What is said of a difference that no name here stands for.
pub(crate) const UNNAMED: &str = "in memory that has no name here";

fn differing_values(old: &Run, new: &Run, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let names = old.values.keys().chain(new.values.keys().filter(|n| !old.values.contains_key(*n)));
    let value = |run: &Run, name: &String| or_nothing(run.values.get(name).map(String::as_str));
    names
        .filter(|n| wanted(n) && old.values.get(*n) != new.values.get(*n))
        .map(|n| format!("{}: {} -> {}", visible(n), value(old, n), value(new, n)))
        .collect()
}

fn or_nothing(text: Option<&str>) -> String {
    text.map_or("nothing".to_owned(), visible)
}

/// How a run ended, with what it printed.
pub(super) fn ending(run: &Run, room: usize) -> String {
    let end = match run.end {
        End::Return => match &run.returned {
            Some(value) => format!("returns {}", visible(value)),
            None => "returns".to_owned(),
        },
        End::Exit => match run.exit {
            Some(code) => format!("exits with {code}"),
            None => "exits".to_owned(),
        },
        End::Abort => "aborts".to_owned(),
        End::Signal => "is killed by a signal".to_owned(),
        End::Undefined => match &run.undefined {
            Some(event) => format!("undefined ({}, line {})", visible(&event.kind), event.line),
            None => "undefined".to_owned(),
        },
        End::Fuel => "does not end within the step limit".to_owned(),
    };
    match &run.stdout {
        // What is printed says more than an exit status, if there is any.
        Some(stdout) if run.end == End::Return && !stdout.is_empty() => {
            format!("prints {}", quoted_part(stdout, room))
        }
        Some(stdout) if !stdout.is_empty() && run.end != End::Undefined => {
            format!("{end} after {}", quoted_part(stdout, room))
        }
        _ => end,
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(text.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn quoted_part(text: &str, room: usize) -> String {
    let whole = quoted(text);
    if whole.chars().count() <= room { whole } else { format!("{}\"", shortened(&whole, room.max(12) - 1)) }
}

/// Both outputs in quotes; long ones without the lines that they begin with in common, and long lines
/// without the words.
fn differing_parts(old: &str, new: &str, room: usize) -> (String, String) {
    let room = room.max(16);
    if quoted(old).chars().count() <= room && quoted(new).chars().count() <= room {
        return (quoted(old), quoted(new));
    }
    let common = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let newline = old.as_bytes().get(..common).and_then(|same| same.iter().rposition(|b| *b == b'\n'));
    let mut start = newline.map_or(0, |newline| newline + 1);
    if common - start > room / 2 {
        let line = old.as_bytes().get(start..common).unwrap_or(&[]);
        let word = line.iter().rposition(|b| *b == b' ').filter(|space| line.len() - space <= room / 2);
        start = word.map_or(common, |space| start + space + 1);
        // A character has several bytes.
        while !(old.is_char_boundary(start) && new.is_char_boundary(start)) {
            start -= 1;
        }
    }
    let part = |text: &str| {
        let rest = text.get(start..).unwrap_or(text);
        let mark = if start > 0 { "…" } else { "" };
        format!("{mark}{}", quoted_part(rest, room - 1))
    };
    (part(old), part(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::{Argument, Undefined};

    fn call(arguments: &[(&str, Value)], old: &str, new: &str) -> Witness {
        let argument = |(name, value): &(&str, Value)| Argument {
            name: (*name).into(),
            ty: "int".into(),
            value: value.clone(),
        };
        let run = |value: &str| Run { returned: Some(value.into()), ..Run::default() };
        Witness {
            entry: "f".into(),
            arguments: arguments.iter().map(argument).collect(),
            old: run(old),
            new: run(new),
            ..Witness::default()
        }
    }

    fn program(stdin: &str, old: &str, new: &str) -> Witness {
        let run = |stdout: &str| Run { stdout: Some(stdout.into()), exit: Some(0), ..Run::default() };
        Witness {
            kind: WitnessKind::Program,
            entry: "main".into(),
            stdin: Some(stdin.into()),
            old: run(old),
            new: run(new),
            ..Witness::default()
        }
    }

    #[track_caller]
    fn check(witness: &Witness, input: &str, effect: &str) {
        assert_eq!(input_text(witness, "f"), input);
        assert_eq!(effect_text(witness, "", false, 60), effect);
    }

    #[test]
    fn calls_show_arguments_and_results() {
        check(&call(&[("a", "-1".into()), ("b", "1".into())], "-0.5", "0.5"), "a = -1, b = 1", "-0.5 -> 0.5");
        let mut other = call(&[("a", "1".into())], "1", "2");
        other.entry = "g".into();
        check(&other, "g(a = 1)", "1 -> 2");
    }

    #[test]
    fn memory_is_shown_where_it_is_pointed_to() {
        let pointer = |id: &str, offset| Value::Pointer { object: id.into(), offset };
        let object = |id: &str, ty: &str, cells: &[(&str, Value)]| MemoryObject {
            id: id.into(),
            ty: ty.into(),
            cells: cells.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            ..MemoryObject::default()
        };
        let mut witness = call(&[("p", pointer("m1", 0)), ("q", pointer("m2", 8))], "0", "1");
        let cells = [("len", Value::from("3")), ("next", pointer("m2", 0)), ("text", pointer("m3", 0))];
        witness.memory.push(object("m1", "struct list", &cells));
        witness.memory.push(object("m2", "struct list", &[]));
        witness.memory.push(object("m3", "char[4]", &[("", "\"abc\"".into())]));
        check(&witness, "p = &{len: 3, next: &m2, text: \"abc\"}, q = &m2 +8 bytes, m2 = {0}", "0 -> 1");
        let mut witness = call(&[("p", pointer("m1", 0)), ("a", pointer("m2", 0))], "0", "1");
        witness.memory.push(object("m1", "int", &[("[0]", "5".into())]));
        witness.memory.push(object("m2", "int[3]", &[("[0]", "1".into()), ("[2]", "2".into())]));
        check(&witness, "*p = 5, a = {1, 0, 2}", "0 -> 1");
    }

    #[test]
    fn results_of_unknown_functions_are_inputs() {
        let object = |id: &str, text: &str| MemoryObject {
            id: id.into(),
            ty: "char[2]".into(),
            cells: [(String::new(), text.into())].into(),
            ..MemoryObject::default()
        };
        let given = |callee: &str, nth, returned: &str| CallResult {
            callee: callee.into(),
            nth,
            returned: Some(returned.into()),
            ..CallResult::default()
        };
        let mut witness = call(&[("a", "1".into())], "0", "1");
        witness.memory = vec![object("m1", "\"a\""), object("m2", "\"a\""), object("m3", "\"a\"")];
        witness.calls = (1..4).map(|k| given("next", k, &format!("&m{k}"))).collect();
        check(&witness, "a = 1, each call of next() gives \"a\"", "0 -> 1");
        witness.memory[1] = object("m2", "\"b\"");
        witness.calls.push(given("last", 1, "7"));
        let others = "next() gives \"a\", call 2 of next() gives \"b\", call 3 of next() gives \"a\"";
        check(&witness, &format!("a = 1, {others}, last() gives 7"), "0 -> 1");
        (witness.calls, witness.memory) = (vec![given("fopen", 1, "&*stdout")], Vec::new());
        check(&witness, "a = 1, fopen() gives stdout", "0 -> 1");
    }

    #[test]
    fn programs_show_input_and_output() {
        check(
            &program("1 \"x\"\n", "-0.000\n", "0.000\n"),
            "stdin \"1 \\\"x\\\"\\n\"",
            "prints \"-0.000\\n\" -> \"0.000\\n\"",
        );
        let same = "the same line\n".repeat(5);
        check(
            &program("", &format!("{same}old\n"), &format!("{same}new\n")),
            "stdin \"\"",
            "prints …\"old\\n\" -> …\"new\\n\"",
        );
        check(&program("", "a\n", "a\nb\n"), "stdin \"\"", "also prints \"b\\n\"");
        let long = |word: &str| format!("{}Formatted {word} is wrong{}", "x ".repeat(40), " y".repeat(40));
        let text = effect_text(&program("", &long("ojbect"), &long("object")), "output", false, 60);
        assert!(text.starts_with("prints …\"ojbect is") && text.contains("-> …\"object is"), "{text}");
        let accents = |end: &str| format!("{}{end}", "é".repeat(60));
        let text = effect_text(&program("", &accents("è"), &accents("ê")), "output", false, 60);
        assert_eq!(text, "prints …\"è\" -> …\"ê\"");
        check(&program("", "a\nb\n", "a\n"), "stdin \"\"", "no longer prints \"b\\n\"");
        let mut witness = program("", "x\n", "x\n");
        witness.new.exit = Some(1);
        check(&witness, "stdin \"\"", "exit status 0 -> 1");
    }

    #[test]
    fn other_ends_are_named() {
        let mut witness = program("", "", "4\n");
        witness.old.end = End::Undefined;
        witness.old.undefined = Some(Undefined { line: 7, kind: "uninitialised".into() });
        check(&witness, "stdin \"\"", "undefined (uninitialised, line 7) -> prints \"4\\n\"");
        let mut witness = call(&[], "1", "");
        witness.new = Run { end: End::Abort, ..Run::default() };
        check(&witness, "", "returns 1 -> aborts");
    }

    #[test]
    fn values_show_when_nothing_else_differs() {
        let mut witness = call(&[], "1", "1");
        witness.old.values.insert("c".into(), "2".into());
        witness.new.values.insert("c".into(), "3\x1b".into());
        check(&witness, "", "c: 2 -> 3\\x1b");
    }

    #[test]
    fn names_without_a_meaning_are_said() {
        let mut witness = call(&[], "1", "0");
        witness.relies_on = vec!["layouts".into(), "guessed(LIMIT = 0)".into()];
        check(&witness, "LIMIT taken for 0", "1 -> 0");
        witness.relies_on.push("guessed(MOST = 0)".into());
        check(&witness, "LIMIT and 1 other unknown name taken for 0", "1 -> 0");
    }
}
