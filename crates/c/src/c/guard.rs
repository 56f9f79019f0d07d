//! Guards against hostile or degenerate input: stack, caps, panics of the parser crates; why a unit is not parsed at all.

use super::scan::{Text, is_keyword};
use crate::fault;
use rucc_base::Symbol;
use rucc_lex::PpTokenKind;
use rucc_pp::Tok;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// Reserved, not committed: recursive descent needs 32 to 512 MiB for 100,000 nested constructs,
/// and a stack overflow cannot be caught.
const STACK_BYTES: usize = 512 << 20;
const MAX_TOKENS: u64 = 4_000_000;
const MAX_BRACKETS: u64 = 1_000;
/// Operators and keywords that nest syntax, summed over all open constructs. Later stages recurse
/// over expressions on ordinary stacks, so this is far below what the parser itself could take.
const MAX_NESTED: u64 = 3_000;

/// Why a unit was not parsed at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("No such file: {}", .0.display())]
    Missing(PathBuf),
    /// A cap was exceeded; the name is the one that reports show as `limit:<name>`.
    #[error("{}: more than {value} {name}", path.display())]
    Limit { path: PathBuf, name: &'static str, value: u64 },
    #[error("{}: the parser crashed: {message}", path.display())]
    Crashed { path: PathBuf, message: String },
}

/// Every cap by the name that reports show, so that a name can be read back.
pub const LIMITS: [&str; 8] = [
    "included-bytes",
    "includes",
    "memory",
    "nested-brackets",
    "nested-operators",
    "preprocessing",
    "source-bytes",
    "tokens",
];

thread_local! {
    static LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread with a large stack (this one, if it has one) and turns a panic in it
/// into [`Rejected::Crashed`]. Everything that recurses over a parsed unit should run in here.
pub fn on_large_stack<T: Send>(
    path: &Path,
    work: impl FnOnce() -> Result<T, Rejected> + Send,
) -> Result<T, Rejected> {
    let crashed = |message| Rejected::Crashed { path: path.to_path_buf(), message };
    let caught = |work: &mut dyn FnMut() -> Result<T, Rejected>| {
        fault::expected(work).unwrap_or_else(|message| Err(crashed(message)))
    };
    let mut work = Some(work);
    let mut once = || match work.take() {
        Some(work) => work(),
        None => Err(crashed("ran twice".into())),
    };
    if LARGE.get() {
        return caught(&mut once);
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
            LARGE.set(true);
            caught(&mut once)
        });
        match thread {
            Ok(handle) => handle.join().unwrap_or_else(|e| Err(crashed(fault::message(&*e)))),
            Err(e) => Err(crashed(e.to_string())),
        }
    })
}

/// Keywords that put what follows one level deeper.
const NESTING: [&str; 13] = [
    "if",
    "else",
    "while",
    "for",
    "do",
    "switch",
    "case",
    "default",
    "sizeof",
    "_Alignof",
    "__extension__",
    "__real__",
    "__imag__",
];

/// What the innermost open bracket holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Statements or members: a semicolon ends what nests.
    Block,
    /// Arguments, initialisers, enumerators: a comma ends what nests.
    List,
    /// A parenthesised or indexed expression: a comma nests.
    Group,
}

/// Fails when a preprocessed unit is too large or too deeply nested to be parsed.
///
/// The nesting of the syntax tree is bounded from above without parsing: every operator, and every
/// keyword that takes a statement or an operand, may put the rest of its statement or list element
/// one level deeper.
pub fn check_tokens(path: &Path, text: Text<'_>) -> Result<(), Rejected> {
    let tokens = text.tokens;
    let over = |name, value| Err(Rejected::Limit { path: path.to_path_buf(), name, value });
    if tokens.len() as u64 > MAX_TOKENS {
        return over("tokens", MAX_TOKENS);
    }
    // Words are compared by their numbers. Those of keywords come before those of a unit's own words.
    let nesting: Vec<Symbol> = NESTING.iter().filter_map(|word| text.interner.find(word)).collect();
    let last = nesting.iter().copied().max();
    let nests = |token: &Tok| token.value <= last && token.value.is_some_and(|word| nesting.contains(&word));
    let mut open: Vec<(Inside, u64)> = vec![(Inside::Block, 0)];
    let mut total = 0u64;
    for (at, token) in tokens.iter().enumerate() {
        let word = match token.kind {
            PpTokenKind::Punct(punct) => punct.as_str(),
            PpTokenKind::Ident if nests(token) => "nests",
            _ => continue,
        };
        let previous = at.checked_sub(1).and_then(|b| tokens.get(b));
        let after_operand = previous.is_some_and(|p| match p.kind {
            PpTokenKind::Punct(p) => matches!(p.as_str(), ")" | "]"),
            kind => kind == PpTokenKind::Ident && !is_keyword(text.at(at - 1)),
        });
        let else_follows = || text.at(at + 1) == "else";
        let mut reset = false;
        match word {
            "(" => open.push((if after_operand { Inside::List } else { Inside::Group }, 0)),
            "[" => open.push((Inside::Group, 0)),
            "{" => {
                let word = previous.map_or("", |_| text.at(at - 1));
                let block = matches!(word, ")" | ";" | "}" | ":" | "else" | "do" | "");
                let nested = word == "{" && open.last().is_some_and(|(i, _)| *i == Inside::Block);
                open.push((if block || nested { Inside::Block } else { Inside::List }, 0));
            }
            ")" | "]" | "}" => {
                if open.len() > 1 {
                    total -= open.pop().map_or(0, |(_, n)| n);
                }
                let block = open.last().is_some_and(|(i, _)| *i == Inside::Block);
                reset = word == "}" && block && !else_follows();
            }
            ";" => reset = open.last().is_some_and(|(i, _)| *i != Inside::Group) && !else_follows(),
            "," if open.last().is_some_and(|(i, _)| *i == Inside::List) => reset = true,
            _ => {
                total += 1;
                if let Some((_, count)) = open.last_mut() {
                    *count += 1;
                }
            }
        }
        if let Some((_, count)) = open.last_mut().filter(|_| reset) {
            total -= std::mem::take(count);
        }
        if open.len() as u64 > MAX_BRACKETS {
            return over("nested-brackets", MAX_BRACKETS);
        }
        if total > MAX_NESTED {
            return over("nested-operators", MAX_NESTED);
        }
    }
    Ok(())
}
