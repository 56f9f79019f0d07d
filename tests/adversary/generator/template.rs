//! Constructs as texts with places that change: the files of `fixtures/adversary`.
//!
//! A fixture is C in which
//! - `@{old@|new@}` is an edit: what stands there before and after, with further `@|` for other edits of the
//!   same place. A pair applies one edit; the other places keep what stands first;
//! - `@={old@|new@}` is an edit after which nothing differs, by the rules of C;
//! - `@&1{old@|new@}` and `@=&1{old@|new@}`, with one digit, are places that change together;
//! - `@#1` to `@#9` are numbers from 2 to 9 that the seed draws, each the same wherever it stands;
//! - `@;` takes statements of ordinary code over `int a, b, r`, equal in both versions, or none;
//! - `@assert` takes an assertion of `r`, or none;
//! - a line `@file b.c` begins another file; what stands before the first such line is `a.c`.
//!
//! `int work(int a, int b)` is the function that a change reaches. Where no `main` is defined, one that reads
//! two numbers and prints `work` of them is added to `a.c`.

use crate::support::Random;
use std::collections::BTreeMap;

/// A construct, taken apart.
pub struct Template {
    pub name: String,
    files: Vec<(String, Vec<Piece>)>,
    /// By edit: the place, which of its alternatives, and whether nothing differs.
    pub edits: Vec<Edit>,
}

#[derive(Clone, Copy, Debug)]
pub struct Edit {
    place: usize,
    alternative: usize,
    pub preserves: bool,
}

enum Piece {
    Text(String),
    /// Number of the place, and what may stand there.
    Place(usize, Vec<String>),
    Number(usize),
    Filler,
    Assertion,
}

const MAIN: &str = "\n#include <stdio.h>\nint work(int a, int b);\nint main(void)\n{\n    int a, b;\n    \
    if (scanf(\"%d %d\", &a, &b) != 2)\n        return 1;\n    printf(\"%d\\n\", work(a, b));\n    return 0;\n}\n";

/// Files of one version: path and text.
pub type Files = Vec<(String, String)>;

impl Template {
    /// Takes a fixture apart; the error says what is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Template, String> {
        let mut template = Template { name: name.to_owned(), files: Vec::new(), edits: Vec::new() };
        let (mut places, mut groups) = (0, BTreeMap::new());
        let mut path = "a.c".to_owned();
        let mut body = String::new();
        let mut files = Vec::new();
        for line in text.lines() {
            match line.strip_prefix("@file ") {
                Some(next) => {
                    files.push((
                        std::mem::replace(&mut path, next.trim().to_owned()),
                        std::mem::take(&mut body),
                    ));
                }
                None => {
                    body.push_str(line);
                    body.push('\n');
                }
            }
        }
        files.push((path, body));
        let has_main = files.iter().any(|(_, text)| text.contains("main("));
        for (path, mut text) in files {
            if path == "a.c" && !has_main {
                text.push_str(MAIN);
            }
            let pieces = template.pieces(&text, &mut places, &mut groups)?;
            template.files.push((path, pieces));
        }
        Ok(template)
    }

    fn pieces(
        &mut self,
        text: &str,
        places: &mut usize,
        groups: &mut BTreeMap<char, usize>,
    ) -> Result<Vec<Piece>, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('@') {
            pieces.push(Piece::Text(rest[..at].to_owned()));
            let mark = &rest[at + 1..];
            let (piece, after) = if let Some(after) = mark.strip_prefix(';') {
                (Piece::Filler, after)
            } else if let Some(after) = mark.strip_prefix("assert") {
                (Piece::Assertion, after)
            } else if let Some(after) = mark.strip_prefix('#') {
                let digit = after.bytes().next().filter(u8::is_ascii_digit).ok_or("a digit after @#")?;
                (Piece::Number(usize::from(digit - b'0')), &after[1..])
            } else {
                let (preserves, mark) = mark.strip_prefix('=').map_or((false, mark), |rest| (true, rest));
                let (group, mark) = match mark.strip_prefix('&') {
                    Some(rest) => (rest.chars().next(), rest.get(1..).unwrap_or("")),
                    None => (None, mark),
                };
                let inner = mark.strip_prefix('{');
                let inner = inner.ok_or_else(|| format!("{}: what is @{:.10}?", self.name, mark))?;
                let end = inner.find("@}").ok_or_else(|| format!("{}: no @}}", self.name))?;
                let alternatives: Vec<String> = inner[..end].split("@|").map(str::to_owned).collect();
                let known = group.and_then(|g| groups.get(&g).copied());
                let place = known.unwrap_or(groups.len() + *places);
                if known.is_none() {
                    let all = 1..alternatives.len();
                    self.edits.extend(all.map(|alternative| Edit { place, alternative, preserves }));
                    match group {
                        Some(group) => drop(groups.insert(group, place)),
                        None => *places += 1,
                    }
                }
                (Piece::Place(place, alternatives), &inner[end + 2..])
            };
            pieces.push(piece);
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(pieces)
    }

    /// The version before an edit and the one after it. `asserted`: the condition of the assertion, where there is
    /// one to be.
    pub fn pair(&self, edit: Edit, seed: u64, asserted: Option<&str>) -> [Files; 2] {
        [None, Some(edit)].map(|edit| self.version(edit, seed, asserted))
    }

    /// The version with the first alternative of every place, and the one with the second.
    pub fn all_places(&self) -> [Files; 2] {
        let chosen = |alternative: usize| self.filled(|_| alternative, 0, None);
        [chosen(0), chosen(1)]
    }

    fn version(&self, edit: Option<Edit>, seed: u64, asserted: Option<&str>) -> Files {
        let chosen = |place| edit.filter(|e| e.place == place).map_or(0, |e| e.alternative);
        self.filled(chosen, seed, asserted)
    }

    /// The text with what is chosen of each place.
    fn filled(&self, chosen: impl Fn(usize) -> usize, seed: u64, asserted: Option<&str>) -> Files {
        // Drawn in the same order in both versions, whatever the edit.
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 7);
        let numbers: Vec<u64> = (0..10).map(|_| 2 + random.below(8)).collect();
        let mut files = Files::new();
        for (path, pieces) in &self.files {
            let mut text = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(t) => text.push_str(&t.replace("@", "")),
                    Piece::Number(k) => text.push_str(&numbers[*k].to_string()),
                    Piece::Filler => text.push_str(&filler(&mut random)),
                    Piece::Assertion => {
                        if let Some(asserted) = asserted {
                            text.push_str(&format!("assert({asserted});"));
                        }
                    }
                    Piece::Place(place, alternatives) => {
                        text.push_str(&numbered(&alternatives[chosen(*place)], &numbers));
                    }
                }
            }
            if asserted.is_some() {
                text.insert_str(0, "#include <assert.h>\n");
            }
            // A file that an edit leaves with nothing but blanks is not there.
            if !text.trim().is_empty() {
                files.push((path.clone(), text));
            }
        }
        files
    }

    /// Whether the construct has a place for an assertion.
    pub fn has_assertion(&self) -> bool {
        self.files.iter().flat_map(|(_, p)| p).any(|p| matches!(p, Piece::Assertion))
    }
}

/// `@#k` inside of an edit.
fn numbered(text: &str, numbers: &[u64]) -> String {
    let mut text = text.to_owned();
    for (k, n) in numbers.iter().enumerate() {
        text = text.replace(&format!("@#{k}"), &n.to_string());
    }
    text
}

/// Ordinary statements over `a`, `b` and `r`, or none.
fn filler(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.below(3) {
        let k = 2 + random.below(9);
        let statement = match random.below(8) {
            0 => format!("if (a > {k}) r += b; else r ^= {k};"),
            1 => format!("for (int i = 0; i < {k}; i++) r += i;"),
            2 => format!("r = (int)((unsigned)r * {k}u);"),
            3 => format!("switch (b & 3) {{ case 0: r++; break; case 1: r -= {k}; default: r |= 1; }}"),
            4 => format!("{{ int t = a; if (t < {k}) t = -t; r = (int)((unsigned)r + (unsigned)t); }}"),
            5 => format!("if (b == {k}) return {k};"),
            6 => format!("{{ char s[{k}] = \"\"; s[(unsigned)a % {k}u] = 'x'; r += s[0] == 'x'; }}"),
            _ => format!("while (r > {k}00) r >>= 1;"),
        };
        text.push_str(&statement);
        text.push(' ');
    }
    text
}
