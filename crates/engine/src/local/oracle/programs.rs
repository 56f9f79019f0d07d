//! Programs that are generated, and edits of them.

use crate::testing::Random;

pub const HEAD: &str =
    "struct s { int n; int k; struct s *next; };\nint foreign(int);\nint other(int, int);\nvoid act(int);\n";

/// A function with one statement marked for the edit, as lines.
pub fn program(random: &mut Random) -> Vec<String> {
    let simple = |r: &mut Random| -> String {
        let v = r.pick(&["a", "b", "x", "y"]);
        let w = r.pick(&["a", "b", "x", "y"]);
        let k = r.pick(&["0", "1", "2", "3", "7", "-1"]);
        match r.below(12) {
            0 => format!("{v} = {w} + {k};"),
            1 => format!("{v} = {w} * 2 - {k};"),
            2 => format!("p->n = {v};"),
            3 => format!("{v} = p->k;"),
            4 => format!("act({v});"),
            5 => format!("{v} = foreign({w});"),
            6 => format!("p->k = {w} + {k};"),
            7 => format!("q = p->next;\nif (q) {v} = q->n;"),
            8 => format!("{v} = {w} & {k};"),
            9 => format!("u = (unsigned){v};\n{w} = (int)(u >> 1);"),
            10 => format!("if ({v} > {w}) {v} = {k};"),
            _ => format!("{v} = {k};"),
        }
    };
    let condition = |r: &mut Random| -> String {
        let v = r.pick(&["a", "b", "x", "y", "p->n"]);
        let w = r.pick(&["a", "b", "0", "1", "3", "p->k"]);
        let op = r.pick(&["<", "<=", "==", "!=", ">", ">="]);
        format!("{v} {op} {w}")
    };
    let mut lines = vec!["int x = 0, y = 1; unsigned u = 0; struct s *q = p;".to_owned()];
    for _ in 0..4 + random.below(5) {
        match random.below(8) {
            0 => lines.push(format!("if ({}) {{ {} }}", condition(random), simple(random))),
            1 => lines.push(format!("if ({}) return {};", condition(random), random.pick(&["-1", "x", "a"]))),
            2 => {
                let (c, s, t) = (condition(random), simple(random), simple(random));
                lines.push(format!("if ({c}) {{ {s} }} else {{ {t} }}"));
            }
            3 => {
                // Names say which variable is meant when a condition is read back.
                let (i, s) = (lines.len(), simple(random));
                lines.push(format!("for (int i{i} = 0; i{i} < 3; i{i}++) {{ {s} }}"));
            }
            4 => lines.push(format!("if ({} && {}) goto out;", condition(random), condition(random))),
            _ => lines.push(simple(random)),
        }
    }
    lines
}

/// One edit of one line.
pub fn edited(random: &mut Random, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    let at = 1 + random.below(lines.len() as u64 - 1) as usize;
    let swaps = [
        ("<=", "<"),
        ("<", "<="),
        ("==", "!="),
        (" + ", " - "),
        ("return -1", "return -2"),
        ("foreign(a)", "foreign(b)"),
        ("act(", "foreign("),
        ("&&", "||"),
        ("p->n", "p->k"),
        ("> ", ">= "),
        ("3", "4"),
        ("goto out", "return 9"),
        ("x", "y"),
        ("(unsigned)", "(unsigned char)"),
    ];
    match random.below(6) {
        0 => _ = lines.remove(at),
        1 => lines.insert(
            at,
            random
                .pick(&[
                    "act(x);",
                    "if (!p) return -3;",
                    "x = y;",
                    "if (a < b) return y;",
                    "p->n = 0;",
                    "for (int j = 0; j < 2; j++) { act(j); if (j == a) return 5; }",
                    "while (y > 3) y = y / 2;",
                    "if (p && a > 0) { do { p->n = p->n - 3; } while (p->n > 0); }",
                ])
                .to_owned(),
        ),
        2 if at + 1 < lines.len() => lines.swap(at, at + 1),
        _ => {
            let (from, to) = random.pick(&swaps);
            match lines[at].contains(from) {
                true => lines[at] = lines[at].replacen(from, to, 1),
                false => lines[at] = format!("{{ {} }}", lines[at]),
            }
        }
    }
    lines
}

/// A variable of its own that counts the rounds of a loop, and is looked at behind it.
pub fn counted(random: &mut Random, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    let Some(at) = lines.iter().position(|l| l.starts_with("for (")) else { return lines };
    let Some(end) = lines[at].rfind('}') else { return lines };
    lines[at].insert_str(end, random.pick(&["w = w + 1; ", "if (x > y) w = 1; ", "w = x; "]));
    lines.insert(at + 1, random.pick(&["if (w > 1) act(w);", "if (w) return -7;", "x = x + w;"]).to_owned());
    lines.insert(at, "int w = 0;".to_owned());
    lines
}

/// A long `switch`, and the same with other labels: one more, one less, two that changed places, another value.
pub fn switched(random: &mut Random, lines: &[String]) -> [Vec<String>; 2] {
    let of = random.pick(&["a", "b & 15", "p->k", "x + y"]);
    let case = |k: u64| {
        let done = ["x = x + 2;", "act(x);", "y = p->n;", "p->k = x;", "goto out;", "return 6;"];
        let ends = if k % 4 == 3 { "" } else { " break;" };
        format!("case {k}: {}{ends}\n", done[(k % 6) as usize])
    };
    let old: Vec<String> = (0..14).map(case).collect();
    let mut new = old.clone();
    let at = random.below(14) as usize;
    match random.below(5) {
        0 => _ = new.remove(at),
        1 => new.swap(at, random.below(14) as usize),
        2 => new[at] = case(20 + at as u64),
        3 => new.insert(at, case(20 + at as u64)),
        _ => new[at] = new[at].replacen(&format!("case {at}:"), &format!("case {}:", 30 + at), 1),
    }
    let place = 1 + random.below(lines.len() as u64) as usize;
    let mut both = [old, new].map(|cases| {
        let mut lines = lines.to_vec();
        let default = "default: y = 5;";
        lines.insert(place, format!("switch ({of}) {{\n{}{default}\n}}", cases.concat()));
        lines
    });
    if random.below(2) == 0 {
        both.swap(0, 1);
    }
    both
}

/// A variable that has another value from one line on, and the uses of which take that back.
pub fn scaled(random: &mut Random, lines: &[String]) -> Vec<String> {
    let v = random.pick(&["x", "y", "a", "b"]);
    let at = 1 + random.below(lines.len() as u64) as usize;
    let back = 1 + random.below(lines.len() as u64) as usize;
    let mut lines = lines.to_vec();
    lines.insert(at.max(back), format!("{v} = {v} - 1;"));
    let forth = match random.below(2) {
        0 => format!("{v} = {v} + 1;"),
        _ => format!("if (a > 0) {v} = {v} + 1; else {v} = 1 + {v};"),
    };
    lines.insert(at.min(back), forth);
    lines
}

/// A comparison of two numbers by a sum, the same but where that overflows.
pub fn summed(random: &mut Random, lines: &[String]) -> Vec<String> {
    let sums =
        [(" < ", " <= ", " - 1"), (" <= ", " < ", " + 1"), (" > ", " >= ", " + 1"), (" >= ", " > ", " - 1")];
    let mut lines = lines.to_vec();
    let tests: Vec<usize> = (1..lines.len()).filter(|&k| lines[k].starts_with("if (")).collect();
    let (from, to, sum) = random.pick(&sums);
    for at in tests {
        let Some((left, rest)) = lines[at].split_once(from) else { continue };
        let Some(end) = rest.find([')', ' ']) else { continue };
        lines[at] = format!("{left}{to}{}{sum}{}", &rest[..end], &rest[end..]);
        return lines;
    }
    lines.insert(1, "if (a < b) x = 2;".to_owned());
    lines
}

/// Variables by other types.
pub const RETYPED: [(&str, &str); 6] = [
    ("int x = 0, y = 1;", "long x = 0, y = 1;"),
    ("int x = 0, y = 1;", "signed char x = 0; int y = 1;"),
    ("unsigned u", "unsigned char u"),
    ("unsigned u", "unsigned long u"),
    ("int f(int a,", "int f(long a,"),
    ("int f(int a, int b,", "int f(int a, unsigned short b,"),
];
