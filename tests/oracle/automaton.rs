//! The published grammar of CPAchecker's specification automata (`doc/SpecificationAutomata.md` there), read strictly:
//! what does not follow it to the letter is refused, and so are states that are not there.
//!
//! Only what describes matching and going on is taken: automata of conditions do and check nothing else.

use std::collections::BTreeSet;

/// Words that name no state.
const KEYWORDS: [&str; 14] = [
    "OBSERVER",
    "CONTROL",
    "AUTOMATON",
    "INITIAL",
    "STATE",
    "END",
    "USEFIRST",
    "USEALL",
    "MATCH",
    "TRUE",
    "FALSE",
    "GOTO",
    "STOP",
    "BREAK",
];

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text,
    Expression,
    Sign(&'static str),
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(found) };
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        let quoted = |end: char, barred: &[char]| {
            let length = rest[1..].find(end).ok_or(format!("{rest:.40}: no end"))?;
            let inner = &rest[1..=length];
            match inner.contains(['\n', '\r']) || inner.contains(barred) {
                true => Err(format!("{inner}: not in a literal")),
                false => Ok(length + 2),
            }
        };
        let is_letter = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$');
        let (token, length) = match first {
            '"' => (Token::Text, quoted('"', &[])?),
            '[' => (Token::Expression, quoted(']', &['['])?),
            ':' => (Token::Sign(":"), 1),
            ';' => (Token::Sign(";"), 1),
            _ if rest.starts_with("->") => (Token::Sign("->"), 2),
            _ if is_letter(first) => {
                let end = rest.find(|c: char| !is_letter(c) && !c.is_ascii_digit()).unwrap_or(rest.len());
                (Token::Word(rest[..end].to_owned()), end)
            }
            _ => return Err(format!("{rest:.40}: no token")),
        };
        found.push(token);
        rest = &rest[length..];
    }
}

struct Reader {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Reader {
    fn take(&mut self, word: &str) -> Result<(), String> {
        match self.tokens.next() {
            Some(Token::Word(w)) if w == word => Ok(()),
            Some(Token::Sign(s)) if s == word => Ok(()),
            other => Err(format!("{other:?} instead of {word}")),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.tokens.next() {
            Some(Token::Word(w)) if !KEYWORDS.contains(&w.as_str()) => Ok(w),
            other => Err(format!("{other:?} instead of a name")),
        }
    }

    fn is_next(&mut self, word: &str) -> bool {
        self.tokens.peek() == Some(&Token::Word(word.to_owned()))
    }

    /// `Trigger -> GOTO name;`
    fn transition(&mut self) -> Result<String, String> {
        if self.is_next("TRUE") {
            self.take("TRUE")?;
        } else {
            self.take("MATCH")?;
            match self.tokens.next() {
                Some(Token::Text | Token::Expression) => {}
                other => return Err(format!("{other:?} is matched")),
            }
        }
        self.take("->")?;
        self.take("GOTO")?;
        let to = self.name()?;
        self.take(";")?;
        Ok(to)
    }
}

/// Reads one automaton; returns how many states it has.
pub fn read(text: &str) -> Result<usize, String> {
    let mut reader = Reader { tokens: tokens(text)?.into_iter().peekable() };
    reader.take("OBSERVER")?;
    reader.take("AUTOMATON")?;
    reader.name()?;
    reader.take("INITIAL")?;
    reader.take("STATE")?;
    let mut targets = BTreeSet::from([reader.name()?]);
    reader.take(";")?;
    let mut states = BTreeSet::new();
    while reader.is_next("STATE") {
        reader.take("STATE")?;
        if reader.is_next("USEFIRST") {
            reader.take("USEFIRST")?;
        }
        let name = reader.name()?;
        reader.take(":")?;
        while reader.is_next("MATCH") || reader.is_next("TRUE") {
            targets.insert(reader.transition()?);
        }
        if !states.insert(name.clone()) {
            return Err(format!("{name} is there twice"));
        }
    }
    reader.take("END")?;
    reader.take("AUTOMATON")?;
    match reader.tokens.next() {
        Some(more) => Err(format!("{more:?} behind the end")),
        None => match targets.iter().find(|t| !states.contains(*t)) {
            Some(missing) => Err(format!("{missing} is no state")),
            None => Ok(states.len()),
        },
    }
}

#[test]
fn what_is_not_the_language_is_refused() {
    let of = |states: &str| format!("OBSERVER AUTOMATON A\nINITIAL STATE S;\n{states}\nEND AUTOMATON\n");
    assert_eq!(
        read(&of("STATE S :\n  MATCH \"[a[1] > 0]\" -> GOTO T;\nSTATE USEFIRST T :\n  TRUE -> GOTO T;")),
        Ok(2)
    );
    assert_eq!(read(&of("// f()\nSTATE S :\n  MATCH [puts\\(\"a\"\\)\\;] -> GOTO S;")), Ok(1));
    for wrong in [
        "STATE S :\n  MATCH \"puts(\\\"a\\\");\" -> GOTO S;",
        "STATE S :\n  MATCH [t[1]] -> GOTO S;",
        "STATE S :\n  MATCH \"a\nb\" -> GOTO S;",
        "STATE S :\n  TRUE -> GOTO T;",
        "STATE S :\n  TRUE -> GOTO S",
        "STATE S :\n  TRUE -> S;",
        "STATE T :\n  TRUE -> GOTO T;",
        "STATE S :\n  TRUE -> GOTO S;\nSTATE S :\n  TRUE -> GOTO S;",
        "STATE 1 :\n  TRUE -> GOTO 1;",
    ] {
        assert!(read(&of(wrong)).is_err(), "{wrong}");
    }
    assert!(read("OBSERVER AUTOMATON A\nINITIAL STATE S;\nSTATE S :\n TRUE -> GOTO S;\n").is_err());
}
