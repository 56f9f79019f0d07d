//! What `discover` calls proved holds in compiled programs, on all inputs.
//!
//! Small functions of two bytes and an object of the file, without anything undefined; every input is tried in a
//! compiled program, where heads of loops have a check of their own (`HEAD1`, `HEAD2`, ... in front of their conditions, which are
//! nothing for the analysis). `INVDIFF_ORACLE_DISCOVERY=1000` tries so many functions, `INVDIFF_ORACLE_FROM` says from which.

use crate::support::tier::{has_compiler, rounds};
use git_invdiff::discovery::{Point, Points, Proof, Settings, Status, Subject, discover};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::Program;
use git_invdiff::ir::TermPool;
use invdiff_testing::Random;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A function; nothing in it is undefined, and no value leaves 16 bits.
fn function(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut body = String::new();
    for _ in 0..1 + random.below(4) {
        statement(&mut random, &mut body, 2);
    }
    let result = value(&mut random);
    // What a sum is depends on the types around it.
    let of_g = random.pick(&["int", "unsigned", "unsigned char", "unsigned long"]);
    let of_result =
        random.pick(&["int", "int", "unsigned char", "short", "unsigned", "long", "unsigned long"]);
    format!(
        "typedef {of_g} object;\nstatic object g;\n{of_result} f(signed char a, unsigned char b)\n{{\nint x = a, y = 3;\n{body}return {result};\n}}\n"
    )
}

fn value(random: &mut Random) -> String {
    let operand = |random: &mut Random| random.pick(&["a", "b", "x", "y", "g", "0", "1", "7", "-4", "100"]);
    let (p, q) = (operand(random), operand(random));
    let operator = random.pick(&["+", "-", "*", "&", "|", "^", "<", "=="]);
    match random.below(4) {
        0 => p.to_owned(),
        1 => format!("({p} < {q} ? {p} : {q})"),
        2 => format!("({p} / (({q} & 7) + 1))"),
        _ => format!("(({p} {operator} {q}) % 1000)"),
    }
}

fn statement(random: &mut Random, out: &mut String, depth: u32) {
    let place = random.pick(&["x", "y", "g"]);
    let value_of = value(random);
    match random.below(if depth == 0 { 2 } else { 6 }) {
        0 | 1 => _ = writeln!(out, "{place} = {value_of};"),
        2 => {
            let k = random.pick(&["0", "5", "-1", "99"]);
            let of = random.pick(&["a", "b", "x"]);
            let relation = random.pick(&["<", ">", "==", "!="]);
            let _ = writeln!(out, "if ({of} {relation} {k}) {{");
            statement(random, out, depth - 1);
            let _ = writeln!(out, "}} else {{");
            statement(random, out, depth - 1);
            let _ = writeln!(out, "}}");
        }
        3 => _ = writeln!(out, "if (a < b) return {value_of};"),
        4 => {
            let (n, head) = (1 + random.below(4), 1 + out.matches("HEAD").count());
            let end = random
                .pick(&["i < n", "i < (b & 3)", "i < n && x < 90", "i != n"])
                .replace('n', &n.to_string());
            let _ =
                writeln!(out, "for (int i = 0; HEAD{head} {end}; i++) {{ {place} = ({place} + i) % 500; }}");
        }
        _ => _ = writeln!(out, "if (b > 3) {place} = {value_of};"),
    }
}

/// An invariant as C: values at entry have names of their own.
fn as_c(text: &str) -> String {
    let text = text.replace("\\result", "r").replace("\\old(g)", "old_g").replace("\\old(a)", "a");
    let text = text.replace("\\old(b)", "b");
    match text.split_once(" ==> ") {
        Some((when, then)) => format!("!({when}) || ({then})"),
        None => text,
    }
}

/// The heads of loops in a text, each alone in its line.
fn heads(text: &str) -> Vec<usize> {
    text.lines().enumerate().filter(|(_, l)| l.contains("HEAD")).map(|(k, _)| k + 1).collect()
}

/// Definitions of what stands in front of the conditions of loops.
fn definitions(count: usize, of: impl Fn(usize) -> String) -> String {
    (1..=count).map(|k| format!("#define HEAD{k} {}\n", of(k))).collect()
}

/// The proved invariants of a function, in C: at its exit, and at the head of each of its loops.
fn proved(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let count = heads(text).len();
    let lines: Vec<usize> = heads(text).iter().map(|l| l + count).collect();
    let text = &*(definitions(count, |_| String::new()) + text);
    let tree = MemoryTree::new([("a.c", text)]);
    let unit = Arc::new(frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).unwrap().unit);
    let program = Program::new(vec![unit.clone()]);
    let mut pool = TermPool::new();
    let settings =
        Settings { points: Points { entry: true, exit: true, heads: true }, ..Settings::default() };
    let f = unit.function("f").unwrap();
    let mut subject = Subject::new(f, &unit, &program, None, settings.over, &mut pool).unwrap();
    subject.look_at_heads(settings.over);
    let mut nothing = |_: &[String]| -> Vec<Proof> { Vec::new() };
    let found = discover(&subject, &mut pool, &[], &settings, &mut |_| {}, &mut nothing);
    let at = |point: Point| -> Vec<String> {
        let all = found.invariants.iter().filter(|i| i.point == point && i.status == Status::Proved);
        all.map(|i| as_c(&i.text)).collect()
    };
    let of_line = |line: &usize| {
        let k = found.heads.iter().position(|h| h.line as usize == *line);
        k.map_or(Vec::new(), |k| at(Point::Head(k)))
    };
    (at(Point::Exit), lines.iter().map(of_line).collect())
}

#[test]
fn what_is_proved_holds_on_all_inputs() {
    if !has_compiler() {
        return;
    }
    let (count, from) = (rounds("INVDIFF_ORACLE_DISCOVERY", 10, 300), rounds("INVDIFF_ORACLE_FROM", 0, 0));
    let folder = invdiff_testing::scratch();
    let (mut checked, mut looped, mut with_some) = (0, 0, 0);
    for seed in from..from + count {
        let text = function(seed as u64);
        let (facts, at_heads) = proved(&text);
        checked += facts.len();
        looped += at_heads.iter().map(Vec::len).sum::<usize>();
        with_some += usize::from(!facts.is_empty());
        // A check in front of a condition says where it fails, and nothing more.
        let check = |k: usize| {
            let facts = at_heads.get(k - 1).map_or(&[][..], |f| f);
            let one = |fact: &String| format!("({fact}) || (failed = {k}),");
            facts.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        let checks = definitions(at_heads.len(), check);
        let (first, rest) = text.split_once('\n').unwrap();
        let mut source = format!(
            "#include <stdio.h>\n{checks}{first}\nstatic object old_g; static int failed;\n{rest}\nint main(void)\n{{\n"
        );
        source += "long starts[] = {0, 1, -1, 5, 99, 100, -32768, 30000};\n";
        source += "for (unsigned s = 0; s < sizeof starts / sizeof *starts; s++)\n";
        source += "for (int i = -128; i < 128; i++) for (int j = 0; j < 256; j++) {\n";
        source += "signed char a = i; unsigned char b = j; old_g = g = starts[s]; __typeof__(f(a, b)) r = f(a, b); (void)r; if (failed) { printf(\"head %d a=%d b=%d g=%ld\\n\", failed, i, j, starts[s]); return 1; }\n";
        for (k, fact) in facts.iter().enumerate() {
            let _ = writeln!(
                source,
                "if (!({fact})) {{ printf(\"{k} a=%d b=%d g=%ld\\n\", i, j, starts[s]); return 1; }}"
            );
        }
        source += "}\nreturn 0;\n}\n";
        let (file, program) = (folder.path().join("a.c"), folder.path().join("a.out"));
        std::fs::write(&file, &source).unwrap();
        let compiled = invdiff_testing::compiler()
            .args(["-O1", "-w", "-fwrapv", "-o"])
            .arg(&program)
            .arg(&file)
            .output();
        let compiled = compiled.unwrap();
        assert!(compiled.status.success(), "{}\n{source}", String::from_utf8_lossy(&compiled.stderr));
        let ran = Command::new(&program).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "seed {seed}: fact {said}\n{facts:#?}\n{at_heads:#?}\n{text}");
    }
    println!(
        "{count} functions, {with_some} with proved facts, {checked} facts, and {looped} at heads of loops, hold on all inputs tried"
    );
    assert!(looped > count / 2, "{looped} facts at heads of loops");
    assert!(checked > count && with_some * 2 > count, "{checked} facts of {with_some} of {count} functions");
}
