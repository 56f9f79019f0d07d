//! Conditions of `#if`: what they are made of, and the macros that make them true or false.
//!
//! A condition is a Boolean formula over *atoms*: whether a macro is defined, how its value compares with a number,
//! and what else stands there, by its text. What is undefined counts as 0 (C11 6.10.1p4). One macro may stand in
//! several atoms, which then depend on each other: an [`Assignment`] gives macros values, not atoms. Of an atom that
//! is known by its text alone nothing is known but that it is one of two; so none of its macros may stand elsewhere
//! ([`Atoms::of`]).

use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a condition, and nesting, beyond which it is not read.
const MAX_CONDITION: usize = 2_000;
const MAX_NESTING: usize = 100;
/// Assignments that are gone through.
const MAX_ASSIGNMENTS: usize = 4_096;

/// Macros by name: whether they are defined, and as what.
pub(in crate::analysis) type Macros = BTreeMap<String, Option<String>>;

/// How a macro's value compares with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::analysis) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Relation {
    fn of(word: &str) -> Option<Relation> {
        Some(match word {
            "==" => Relation::Eq,
            "!=" => Relation::Ne,
            "<" => Relation::Lt,
            "<=" => Relation::Le,
            ">" => Relation::Gt,
            ">=" => Relation::Ge,
            _ => return None,
        })
    }

    /// The same with its sides changed.
    fn turned(self) -> Relation {
        match self {
            Relation::Lt => Relation::Gt,
            Relation::Le => Relation::Ge,
            Relation::Gt => Relation::Lt,
            Relation::Ge => Relation::Le,
            same => same,
        }
    }

    fn negated(self) -> Relation {
        match self {
            Relation::Eq => Relation::Ne,
            Relation::Ne => Relation::Eq,
            Relation::Lt => Relation::Ge,
            Relation::Le => Relation::Gt,
            Relation::Gt => Relation::Le,
            Relation::Ge => Relation::Lt,
        }
    }

    fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Relation::Eq => a == b,
            Relation::Ne => a != b,
            Relation::Lt => a < b,
            Relation::Le => a <= b,
            Relation::Gt => a > b,
            Relation::Ge => a >= b,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Relation::Eq => "==",
            Relation::Ne => "!=",
            Relation::Lt => "<",
            Relation::Le => "<=",
            Relation::Gt => ">",
            Relation::Ge => ">=",
        }
    }
}

/// A number, and how it is written: with so many hexadecimal digits, or as a decimal one.
#[derive(Clone, Copy, Debug)]
pub(in crate::analysis) struct Number {
    value: i64,
    hexadecimal: Option<usize>,
}

impl Number {
    fn plus(self, by: i64) -> Option<Number> {
        Some(Number { value: self.value.checked_add(by)?, ..self })
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number { value, hexadecimal: None }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.hexadecimal.filter(|_| self.value >= 0) {
            Some(digits) => write!(f, "0x{:0digits$x}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

// Numbers are equal however they are written.
impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.value == other.value
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> std::cmp::Ordering {
        self.value.cmp(&other.value)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::analysis) enum Condition {
    Constant(bool),
    Defined(String),
    Compares(String, Relation, Number),
    /// By its text, and the names in it.
    Text(String, BTreeSet<String>),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

/// Reads what stands behind `#if` or `#elif`.
pub(in crate::analysis) fn parse(text: &str) -> Condition {
    let words = words(text.get(..MAX_CONDITION).unwrap_or(text));
    if text.len() > MAX_CONDITION || words.is_empty() {
        return Condition::Text(text.trim().to_owned(), names(&words));
    }
    formula(&words, 0)
}

impl Condition {
    pub fn not(self) -> Condition {
        match self {
            Condition::Not(inner) => *inner,
            Condition::Constant(known) => Condition::Constant(!known),
            other => Condition::Not(Box::new(other)),
        }
    }

    /// Adds what gives the condition a value; whether that is possible.
    pub fn require(&self, value: bool, macros: &mut Macros) -> bool {
        let mut set = |name: &String, to: Option<String>| {
            let known = macros.entry(name.clone()).or_insert_with(|| to.clone());
            // Any definition will do where it only has to be there.
            *known == to || known.is_some() && to.as_deref() == Some("1")
        };
        match (self, value) {
            (Condition::Defined(name), value) => set(name, value.then(|| "1".to_owned())),
            (Condition::Compares(name, relation, number), value) => {
                let relation = if value { *relation } else { relation.negated() };
                let known = macros.get(name).cloned();
                let fits = |text: &Option<String>| {
                    text.as_deref()
                        .map_or(Some(0), |t| number_in(t).map(|n| n.value))
                        .is_some_and(|v| relation.holds(v, number.value))
                };
                match known {
                    Some(known) => fits(&known),
                    // Nothing is said of the macro so far.
                    None => {
                        let near = [Some(Number::from(1)), Some(*number), number.plus(1), number.plus(-1)];
                        let mut tried =
                            [None].into_iter().chain(near.into_iter().flatten().map(|n| Some(n.to_string())));
                        let Some(found) = tried.find(fits) else { return false };
                        macros.insert(name.clone(), found);
                        true
                    }
                }
            }
            (Condition::Constant(c), _) => *c == value,
            (Condition::Not(inner), _) => inner.require(!value, macros),
            (Condition::And(all), true) | (Condition::Or(all), false) => {
                all.iter().all(|c| c.require(value, macros))
            }
            (Condition::And(any), false) | (Condition::Or(any), true) => any.iter().any(|c| {
                let mut tried = macros.clone();
                let ok = c.require(value, &mut tried);
                if ok {
                    *macros = tried;
                }
                ok
            }),
            (Condition::Text(..), _) => false,
        }
    }

    /// The names of macros in the condition.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        self.for_each_atom(&mut |atom| match atom {
            Condition::Defined(name) | Condition::Compares(name, ..) => _ = found.insert(name.as_str()),
            Condition::Text(_, names) => found.extend(names.iter().map(String::as_str)),
            _ => {}
        });
        found
    }

    fn for_each_atom<'c>(&'c self, act: &mut impl FnMut(&'c Condition)) {
        match self {
            Condition::Constant(_) => {}
            Condition::Not(inner) => inner.for_each_atom(act),
            Condition::And(all) | Condition::Or(all) => all.iter().for_each(|c| c.for_each_atom(act)),
            atom => act(atom),
        }
    }

    /// The value under one of the truths of atoms.
    fn holds(&self, is_true: &impl Fn(&Condition) -> bool) -> bool {
        match self {
            Condition::Constant(known) => *known,
            Condition::Not(inner) => !inner.holds(is_true),
            Condition::And(all) => all.iter().all(|c| c.holds(is_true)),
            Condition::Or(any) => any.iter().any(|c| c.holds(is_true)),
            atom => is_true(atom),
        }
    }

    /// An atom, or that it is not so, as one writes it behind `#if`; that a macro is defined by its name alone,
    /// unless its value is asked for, too.
    fn words(&self, is_so: bool, is_compared: bool) -> String {
        match self {
            Condition::Defined(name) => {
                let name = if is_compared { format!("defined({name})") } else { name.clone() };
                if is_so { name } else { format!("!{name}") }
            }
            Condition::Compares(name, relation, number) => {
                let relation = if is_so { *relation } else { relation.negated() };
                format!("{name} {} {number}", relation.symbol())
            }
            Condition::Text(text, _) if is_so => text.clone(),
            Condition::Text(text, _) => format!("!({text})"),
            _ => String::new(),
        }
    }
}

/// The atoms of some conditions, and what they can be together.
pub(in crate::analysis) struct Atoms<'c> {
    atoms: Vec<&'c Condition>,
    /// By what macros may be: which atoms are true.
    truths: BTreeSet<Vec<bool>>,
}

/// What a macro may be.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Undefined,
    Is(i64),
}

impl<'c> Atoms<'c> {
    /// `None`: what the atoms can be together is not known, or is too much to go through.
    pub fn of(conditions: &[&'c Condition]) -> Option<Atoms<'c>> {
        let mut atoms: BTreeSet<&Condition> = BTreeSet::new();
        conditions.iter().for_each(|c| c.for_each_atom(&mut |atom| _ = atoms.insert(atom)));
        // A number matters by the numbers that it is compared with.
        let mut values: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let mut texts = Vec::new();
        for atom in &atoms {
            match atom {
                Condition::Defined(name) => {
                    values.entry(name).or_insert_with(|| vec![Value::Undefined, Value::Is(1)]);
                }
                Condition::Compares(name, _, number) => {
                    let known = values.entry(name).or_insert_with(|| vec![Value::Undefined, Value::Is(1)]);
                    let value = number.value;
                    let near = [Some(0), value.checked_sub(1), Some(value), value.checked_add(1)];
                    for value in near.into_iter().flatten().map(Value::Is) {
                        if !known.contains(&value) {
                            known.push(value);
                        }
                    }
                }
                text => texts.push(*text),
            }
        }
        let mut seen: BTreeSet<&str> = values.keys().copied().collect();
        for text in &texts {
            if !text.names().into_iter().all(|name| seen.insert(name)) {
                return None;
            }
        }
        let sizes = values.values().map(Vec::len).chain(texts.iter().map(|_| 2));
        let count = sizes.clone().try_fold(1usize, usize::checked_mul).filter(|n| *n <= MAX_ASSIGNMENTS)?;
        let atoms: Vec<&Condition> = atoms.into_iter().collect();
        let truth = |mut number: usize| -> Vec<bool> {
            let mut digit = |base: usize| {
                let digit = number % base;
                number /= base;
                digit
            };
            let macros: BTreeMap<&str, Value> =
                values.iter().map(|(name, all)| (*name, all[digit(all.len())])).collect();
            let texts: BTreeMap<&Condition, bool> = texts.iter().map(|t| (*t, digit(2) == 1)).collect();
            let of = |name: &str| macros.get(name).copied().unwrap_or(Value::Undefined);
            let is_true = |atom: &&Condition| match atom {
                Condition::Defined(name) => of(name) != Value::Undefined,
                Condition::Compares(name, relation, number) => match of(name) {
                    Value::Undefined => relation.holds(0, number.value),
                    Value::Is(value) => relation.holds(value, number.value),
                },
                text => texts.get(text).copied().unwrap_or(false),
            };
            atoms.iter().map(is_true).collect()
        };
        let truths = (0..count).map(truth).collect();
        Some(Atoms { atoms, truths })
    }

    fn holds(&self, condition: &Condition, truth: &[bool]) -> bool {
        let at = |atom: &Condition| self.atoms.iter().position(|a| *a == atom);
        condition.holds(&|atom| at(atom).and_then(|k| truth.get(k).copied()).unwrap_or(false))
    }

    /// When a condition holds, if another one does: as few and as short conjunctions as are easily found, each
    /// with nothing in it that can be left out. Empty if it never does; one that is empty: always.
    pub fn cubes(&self, condition: &Condition, given: &Condition) -> Vec<String> {
        let here: Vec<(&Vec<bool>, bool)> = self
            .truths
            .iter()
            .filter(|truth| self.holds(given, truth))
            .map(|truth| (truth, self.holds(condition, truth)))
            .collect();
        let agrees = |cube: &[(usize, bool)], truth: &[bool]| cube.iter().all(|(k, is)| truth[*k] == *is);
        let mut found: Vec<Vec<(usize, bool)>> = Vec::new();
        // Those that ask for the fewest definitions are what one writes first.
        let mut wanted: Vec<&Vec<bool>> = here.iter().filter(|(_, holds)| *holds).map(|(t, _)| *t).collect();
        wanted.sort_by_key(|truth| truth.iter().filter(|is| **is).count());
        for truth in wanted {
            if found.iter().any(|cube| agrees(cube, truth)) {
                continue;
            }
            let mut cube: Vec<(usize, bool)> = truth.iter().copied().enumerate().collect();
            // What is not so is left out first.
            let mut order = cube.clone();
            order.sort_by_key(|(_, is)| *is);
            for literal in order {
                let without: Vec<(usize, bool)> = cube.iter().copied().filter(|l| *l != literal).collect();
                if here.iter().all(|(t, holds)| *holds || !agrees(&without, t)) {
                    cube = without;
                }
            }
            found.push(cube);
        }
        let words = |cube: Vec<(usize, bool)>| {
            let mut literals = cube;
            literals.sort_by_key(|(_, is)| !*is);
            let is_compared = |atom: &Condition| match atom {
                Condition::Defined(name) => {
                    self.atoms.iter().any(|a| matches!(a, Condition::Compares(of, ..) if of == name))
                }
                _ => false,
            };
            let words = literals.into_iter().filter_map(|(k, is)| {
                let atom = self.atoms.get(k)?;
                Some(atom.words(is, is_compared(atom)))
            });
            words.collect::<Vec<_>>().join(" && ")
        };
        found.into_iter().map(words).collect()
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut word = c.to_string();
        if c.is_whitespace() {
            continue;
        }
        if c.is_ascii_alphanumeric() || c == '_' {
            while let Some(next) = chars.next_if(|n| n.is_ascii_alphanumeric() || *n == '_') {
                word.push(next);
            }
        } else if let Some(next) = chars.next_if(|n| {
            matches!(
                (c, *n),
                ('&', '&') | ('|', '|') | ('<', '<') | ('>', '>') | ('<' | '>' | '=' | '!', '=')
            )
        }) {
            word.push(next);
        }
        words.push(word);
    }
    words
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn names(words: &[String]) -> BTreeSet<String> {
    words.iter().filter(|w| is_name(w) && *w != "defined").cloned().collect()
}

/// The parts of some words between the places outside of all parentheses where an operator stands.
fn split<'w>(words: &'w [String], operator: &str) -> Vec<&'w [String]> {
    let (mut depth, mut parts, mut start) = (0i32, Vec::new(), 0);
    for (k, word) in words.iter().enumerate() {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            w if w == operator && depth == 0 => {
                parts.push(&words[start..k]);
                start = k + 1;
            }
            _ => {}
        }
    }
    parts.push(&words[start..]);
    parts
}

/// What stands between parentheses that belong together and hold all of the words.
fn within(words: &[String]) -> Option<&[String]> {
    let [first, inner @ .., last] = words else { return None };
    let mut depth = 0i32;
    let stays_inside = inner.iter().all(|word| {
        depth += i32::from(word == "(") - i32::from(word == ")");
        depth >= 0
    });
    (first == "(" && last == ")" && stays_inside && depth == 0).then_some(inner)
}

fn formula(words: &[String], depth: usize) -> Condition {
    let as_text = || Condition::Text(words.join(" ").replace("( ", "(").replace(" )", ")"), names(words));
    if depth >= MAX_NESTING || words.is_empty() || split(words, "?").len() > 1 || split(words, ",").len() > 1
    {
        return as_text();
    }
    let any = split(words, "||");
    if any.len() > 1 {
        return Condition::Or(any.into_iter().map(|part| formula(part, depth + 1)).collect());
    }
    let all = split(words, "&&");
    if all.len() > 1 {
        return Condition::And(all.into_iter().map(|part| formula(part, depth + 1)).collect());
    }
    if let Some(inner) = within(words) {
        return formula(inner, depth + 1);
    }
    match words {
        [not, rest @ ..] if not == "!" && is_primary(rest) => return formula(rest, depth + 1).not(),
        [defined, name] if defined == "defined" && is_name(name) => return Condition::Defined(name.clone()),
        [defined, open, name, close]
            if defined == "defined" && open == "(" && is_name(name) && close == ")" =>
        {
            return Condition::Defined(name.clone());
        }
        _ => {}
    }
    if let Some(number) = number(words) {
        return Condition::Constant(number.value != 0);
    }
    if let Some(name) = value(words) {
        return Condition::Compares(name, Relation::Ne, Number::from(0));
    }
    let at = words.iter().position(|w| Relation::of(w).is_some());
    let Some((at, relation)) = at.and_then(|k| Some((k, Relation::of(&words[k])?))) else { return as_text() };
    let (left, right) = (&words[..at], &words[at + 1..]);
    match (value(left), number(right), number(left), value(right)) {
        (Some(name), Some(n), ..) => Condition::Compares(name, relation, n),
        (.., Some(n), Some(name)) => Condition::Compares(name, relation.turned(), n),
        _ => as_text(),
    }
}

/// Whether some words are one operand: `!` binds nothing more.
fn is_primary(words: &[String]) -> bool {
    match words {
        [one] => is_name(one) || number(words).is_some(),
        [defined, name] if defined == "defined" => is_name(name),
        [defined, rest @ ..] if defined == "defined" => within(rest).is_some(),
        [not, rest @ ..] if not == "!" => is_primary(rest),
        [function, rest @ ..] if is_name(function) => within(rest).is_some(),
        _ => within(words).is_some(),
    }
}

/// The name of the macro whose value some words are: `NAME`, `(NAME)`, and `NAME-0`, `NAME + 0`, which are 0 where
/// it is defined as nothing.
fn value(words: &[String]) -> Option<String> {
    match words {
        [name] if is_name(name) && name != "defined" => Some(name.clone()),
        [name, sign, zero] if is_name(name) && (sign == "-" || sign == "+") && zero == "0" => {
            Some(name.clone())
        }
        _ => within(words).and_then(value),
    }
}

/// An integer constant.
fn number(words: &[String]) -> Option<Number> {
    match words {
        [digits] => number_in(digits),
        [minus, digits @ ..] if minus == "-" => {
            let number = number(digits)?;
            Some(Number { value: number.value.checked_neg()?, ..number })
        }
        _ => within(words).and_then(number),
    }
}

fn number_in(digits: &str) -> Option<Number> {
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = digits.to_ascii_lowercase();
    let digits = digits.trim_end_matches(['l', 'u']);
    if let Some(hex) = digits.strip_prefix("0x") {
        return Some(Number { value: i64::from_str_radix(hex, 16).ok()?, hexadecimal: Some(hex.len()) });
    }
    let value = match (digits.strip_prefix("0b"), digits.strip_prefix('0')) {
        (Some(binary), _) => i64::from_str_radix(binary, 2).ok(),
        (_, Some(octal)) if !octal.is_empty() => i64::from_str_radix(octal, 8).ok(),
        _ => digits.parse().ok(),
    };
    Some(Number { value: value?, hexadecimal: None })
}

#[cfg(test)]
mod tests {
    use super::{Atoms, Condition, parse};

    /// When the second condition holds and the first does not, and the other way round.
    #[track_caller]
    fn check(old: &str, new: &str, more: &[&str], less: &[&str]) {
        let (old, new) = (parse(old), parse(new));
        let atoms = Atoms::of(&[&old, &new]).expect("atoms");
        let only = |a: &Condition, b: &Condition| {
            let both = Condition::And(vec![a.clone(), b.clone().not()]);
            atoms.cubes(&both, &Condition::Constant(true))
        };
        assert_eq!((only(&new, &old), only(&old, &new)), (strings(more), strings(less)));
    }

    fn strings(all: &[&str]) -> Vec<String> {
        all.iter().map(|s| (*s).to_owned()).collect()
    }

    #[test]
    fn conditions_are_compared_for_all_values() {
        check("defined(A)", "defined A || defined(B)", &["B && !A"], &[]);
        check("defined(A)", "(defined A)", &[], &[]);
        check("A > 2", "A >= 3", &[], &[]);
        check("A > 2", "3 <= A && defined(A)", &[], &[]);
        check("A > 2", "A > 4", &[], &["A > 2 && A <= 4"]);
        check("defined(A)", "A", &[], &["defined(A) && A == 0"]);
        check("!(defined(A) && B == 0x10)", "!defined(A) || B != 16", &[], &[]);
        check("0", "1", &[""], &[]);
        check("X-0 == 0", "!X", &[], &[]);
        check("F(1) && A", "A", &["A != 0 && !(F (1))"], &[]);
        check("A < 0", "A <= -1", &[], &[]);
        check("V > 0x10001000L", "V >= 0x1010000fL", &[], &["V > 0x10001000 && V < 0x1010000f"]);
    }

    #[test]
    fn texts_that_share_names_are_not_compared() {
        let (old, new) = (parse("A & 1"), parse("A & 3"));
        assert!(Atoms::of(&[&old, &new]).is_none());
        let (old, new) = (parse("A & 1"), parse("A & 1"));
        assert!(Atoms::of(&[&old, &new]).is_some());
        let text = parse("A * A > 3");
        assert!(matches!(&text, Condition::Text(t, names) if t == "A * A > 3" && names.len() == 1));
    }

    #[test]
    fn what_is_no_condition_is_a_text() {
        for text in ["", "(", ")(", "A ==", "== 1", "defined", "A ? 1 : 0", "&& A", "!", "!A == 0", "\u{0}é"]
        {
            let nested = format!("{}{text}", "(".repeat(300));
            let _ = (parse(text), parse(&nested));
        }
        assert!(matches!(parse("A ? B : C"), Condition::Text(..)));
        assert!(matches!(parse("!A == 0"), Condition::Text(..)));
    }
}
