//! Assertions in generated programs, and small changes of them.

use std::fmt::Write;

/// Deterministic numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % (n.max(1) as u64)) as usize
    }
}

/// Puts assertions about variables and results into the functions of a generated program.
pub fn with_assertions(source: &str, random: &mut Random) -> String {
    let mut out = String::from("#include <assert.h>\n");
    let mut inside = false;
    for line in source.lines() {
        inside = (inside || line.contains(" f0(") && !line.starts_with(' ')) && !line.starts_with("int main");
        let asserted = if inside { asserted(line, random) } else { None };
        let _ = writeln!(out, "{}", asserted.unwrap_or_else(|| line.to_owned()));
    }
    out
}

fn asserted(line: &str, random: &mut Random) -> Option<String> {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    // Most of them hold on most inputs.
    let (comparison, number) = match random.below(8) {
        0 => (">=", -(random.below(200) as i64)),
        1 => ("<=", random.below(200) as i64),
        _ => ("!=", random.below(14) as i64 - 4),
    };
    if let Some(value) = text.strip_prefix("return ").and_then(|t| t.strip_suffix(';')) {
        let asserted = format!("{indent}{{ assert(({value}) {comparison} {number}); return {value}; }}");
        return (random.below(2) == 0).then_some(asserted);
    }
    let (left, _) = text.strip_suffix(';')?.split_once(" = ")?;
    let words: Vec<&str> = left.split(' ').collect();
    let name = words.last()?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    let declared = words.len() > 1;
    if !plain
        || random.below(3) > 0
        || name.ends_with("next")
        || text.starts_with("case")
        || text.contains('(') && declared && left.contains('*')
    {
        return None;
    }
    let integer = name.starts_with('v') || ["gs.len", "gs.tag", "count", "g0", "g1"].contains(name);
    let assertion = format!("assert({name} {comparison} {number});");
    match (integer, declared) {
        (false, _) => None,
        (true, true) => Some(format!("{line} {assertion}")),
        (true, false) => Some(format!("{indent}{{ {text} {assertion} }}")),
    }
}

/// Changes one or two places of a program.
pub fn mutant(source: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let first = lines.iter().position(|l| l.starts_with("static int clamp")).unwrap_or(0);
    let last = lines.iter().position(|l| l.starts_with("int main")).unwrap_or(lines.len());
    for _ in 0..1 + random.below(2) {
        for _ in 0..20 {
            let at = first + random.below(last.saturating_sub(first));
            if change(&mut lines, at, random) {
                break;
            }
        }
    }
    lines.join("\n") + "\n"
}

fn change(lines: &mut Vec<String>, at: usize, random: &mut Random) -> bool {
    let Some(line) = lines.get(at).cloned() else { return false };
    let simple =
        |l: &str| l.starts_with("    ") && l.ends_with(';') && l.contains(" = ") && !l.contains("int");
    let indented = line.starts_with("    ");
    match random.below(6) {
        0 => {
            let digits: Vec<usize> = (1..line.len())
                .filter(|i| {
                    let (before, here) = (line.as_bytes()[i - 1], line.as_bytes()[*i]);
                    here.is_ascii_digit() && matches!(before, b' ' | b'(' | b'-')
                })
                .collect();
            let Some(&i) = digits.get(random.below(digits.len())) else { return false };
            let end = line[i..]
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
                .map_or(line.len(), |e| i + e);
            lines[at] = format!("{}{}{}", &line[..i], random.below(10), &line[end..]);
            lines[at] != line
        }
        1 => {
            const OPERATORS: [(&str, &str); 10] = [
                (" + ", " - "),
                (" - ", " + "),
                (" < ", " <= "),
                (" > ", " >= "),
                (" <= ", " < "),
                (" >= ", " > "),
                (" == ", " != "),
                (" != ", " == "),
                (" & ", " | "),
                (" && ", " || "),
            ];
            let (old, new) = OPERATORS[random.below(OPERATORS.len())];
            let Some(i) = line.find(old) else { return false };
            lines[at] = format!("{}{new}{}", &line[..i], &line[i + old.len()..]);
            true
        }
        2 if simple(&line) => {
            lines[at] = "    ;".into();
            true
        }
        3 if indented && line.ends_with(';') && !line.contains("assert") => {
            let new =
                ["count++;", "gs.sum += 1;", "gd = 0.25;", "table[1] = 7;", "gs.len = 3;"][random.below(5)];
            let previous = lines[at.saturating_sub(1)].trim_end().to_owned();
            if !(previous.ends_with(';') || previous.ends_with('{')) {
                return false;
            }
            lines.insert(at, format!("    {new}"));
            true
        }
        4 if simple(&line) && lines.get(at + 1).is_some_and(|l| simple(l)) => {
            lines.swap(at, at + 1);
            true
        }
        5 if indented => {
            const NAMES: [&str; 6] = ["gs.len", "count", "g0", "g1", "gs.tag", "v1"];
            let (old, new) = (NAMES[random.below(6)], NAMES[random.below(5)]);
            let Some(i) = line.rfind(old) else { return false };
            lines[at] = format!("{}{new}{}", &line[..i], &line[i + old.len()..]);
            lines[at] != line
        }
        _ => false,
    }
}

/// The lines in which two programs differ.
pub fn difference(old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(30).to_string()
}
