//! An example in few words: what goes in, and what comes out of the old and of the new version.

use crate::report::escape::{shortened, visible};
use crate::report::model::{End, MemoryObject, Run, Value, Witness, WitnessKind};

/// What goes in: `a = -1, *p = {len = 0}`, `stdin "1 2\n"`. The entry is named if it is not
/// `function` itself.
pub(in crate::report) fn input_text(witness: &Witness, function: &str, room: usize) -> String {
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
    for call in &witness.calls {
        let mut text = format!("call {} of {}()", call.nth, visible(&call.callee));
        if let Some(returned) = &call.returned {
            text.push_str(&format!(" gives {}", visible(returned)));
        }
        if let Some(errno) = &call.errno {
            text.push_str(&format!(" with errno {}", visible(errno)));
        }
        parts.push(text);
    }
    let text = parts.join(", ");
    let text = match witness.kind {
        WitnessKind::Call if witness.entry != function && !witness.entry.is_empty() => {
            format!("{}({text})", visible(&witness.entry))
        }
        _ => text,
    };
    shortened(&text, room)
}

/// Arguments, objects that they point to in place, then the other objects.
fn argument_texts(witness: &Witness) -> Vec<String> {
    let object = |id: &str| witness.memory.iter().find(|m| m.id == id);
    let mut in_place = Vec::new();
    let mut parts = Vec::new();
    for argument in &witness.arguments {
        let name = visible(&argument.name);
        match &argument.value {
            Value::Text(value) => parts.push(format!("{name} = {}", visible(value))),
            Value::Pointer { object: id, offset: 0 } if !in_place.contains(&id.as_str()) => {
                in_place.push(id.as_str());
                match object(id) {
                    Some(memory) => parts.push(format!("*{name} = {}", object_text(memory))),
                    None => parts.push(format!("{name} = &{}", visible(id))),
                }
            }
            pointer => parts.push(format!("{name} = {}", value_text(pointer))),
        }
    }
    for memory in witness.memory.iter().filter(|m| !in_place.contains(&m.id.as_str())) {
        parts.push(format!("{} = {}", visible(&memory.id), object_text(memory)));
    }
    parts
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Text(text) => visible(text),
        Value::Pointer { object, offset: 0 } => format!("&{}", visible(object)),
        Value::Pointer { object, offset } => format!("&{} {offset:+} bytes", visible(object)),
    }
}

fn object_text(object: &MemoryObject) -> String {
    let mut cells = object.cells.iter();
    if let (Some((name, value)), None) = (cells.next(), cells.next())
        && matches!(name.as_str(), "" | "[0]")
    {
        return value_text(value);
    }
    let cells = object.cells.iter().map(|(name, value)| format!("{} = {}", visible(name), value_text(value)));
    format!("{{{}}}", cells.collect::<Vec<_>>().join(", "))
}

/// What comes out: `-0.5 -> 0.5`, `prints "a\n" -> "b\n"`, `returns 0 -> aborts`.
pub(super) fn effect_text(witness: &Witness, room: usize) -> String {
    let (old, new) = (&witness.old, &witness.new);
    if old.end != new.end || old.undefined != new.undefined {
        return format!("{} -> {}", ending(old, room / 2), ending(new, room / 2));
    }
    let mut parts = Vec::new();
    if let (Some(old), Some(new)) = (&old.stdout, &new.stdout)
        && old != new
    {
        let (old, new) = differing_parts(old, new, room.saturating_sub(12) / 2);
        parts.push(format!("prints {old} -> {new}"));
    } else if old.stdout != new.stdout || old.stdout_base64 != new.stdout_base64 {
        parts.push("prints other bytes".to_owned());
    }
    if old.returned != new.returned {
        let (old, new) = (or_nothing(old.returned.as_deref()), or_nothing(new.returned.as_deref()));
        // A call's result needs no label when it is all there is.
        let label = if parts.is_empty() && witness.kind == WitnessKind::Call { "" } else { "returns " };
        parts.push(format!("{label}{old} -> {new}"));
    }
    if old.exit != new.exit && (old.returned == new.returned || witness.kind == WitnessKind::Program) {
        let text = |code: Option<i32>| code.map_or("nothing".to_owned(), |c| c.to_string());
        parts.retain(|p| !p.starts_with("returns"));
        parts.push(format!("exit status {} -> {}", text(old.exit), text(new.exit)));
    }
    // Values inside say little to someone who sees the effect outside.
    if parts.is_empty() {
        let names = old.values.keys().chain(new.values.keys().filter(|n| !old.values.contains_key(*n)));
        for name in names.filter(|n| old.values.get(*n) != new.values.get(*n)) {
            let value = |run: &Run| or_nothing(run.values.get(name).map(String::as_str));
            parts.push(format!("{}: {} -> {}", visible(name), value(old), value(new)));
        }
    }
    // It was replayed as a difference, so what is left is memory that no name here stands for.
    if parts.is_empty() { "other memory afterwards".to_owned() } else { shortened(&parts.join(", "), room) }
}

fn or_nothing(text: Option<&str>) -> String {
    text.map_or("nothing".to_owned(), visible)
}

/// How a run ended, with what it printed.
fn ending(run: &Run, room: usize) -> String {
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

/// Both outputs in quotes; long ones without the lines that they begin with in common.
fn differing_parts(old: &str, new: &str, room: usize) -> (String, String) {
    let room = room.max(16);
    if quoted(old).chars().count() <= room && quoted(new).chars().count() <= room {
        return (quoted(old), quoted(new));
    }
    let common = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let newline = old.as_bytes().get(..common).and_then(|same| same.iter().rposition(|b| *b == b'\n'));
    let line_start = newline.map_or(0, |newline| newline + 1);
    let part = |text: &str| {
        let rest = text.get(line_start..).unwrap_or(text);
        let mark = if line_start > 0 { "…" } else { "" };
        format!("{mark}{}", quoted_part(rest, room - 1))
    };
    (part(old), part(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{Argument, Undefined};

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
        assert_eq!(input_text(witness, "f", 60), input);
        assert_eq!(effect_text(witness, 60), effect);
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
        let pointer = |offset| Value::Pointer { object: "m1".into(), offset };
        let mut witness = call(&[("p", pointer(0)), ("q", pointer(8))], "0", "1");
        let cells = [("len", Value::from("0")), ("next", pointer(0))];
        witness.memory.push(MemoryObject {
            id: "m1".into(),
            cells: cells.map(|(name, value)| (name.to_owned(), value)).into(),
            ..MemoryObject::default()
        });
        check(&witness, "*p = {len = 0, next = &m1}, q = &m1 +8 bytes", "0 -> 1");
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
}
