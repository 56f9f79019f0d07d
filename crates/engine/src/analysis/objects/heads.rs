//! What stands before the initial value of a definition: its *head*, word by word.

use super::words::Row;
use crate::frontend::c::extents::SELF;

/// A head without the calls of macros before it that are given strings: `RCSID("…")` stands there without a semicolon,
/// and is another declaration.
pub(super) fn without_calls(mut head: Vec<String>) -> Vec<String> {
    while let [name, open, text, close, _, ..] = head.as_slice()
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && (open.as_str(), close.as_str()) == ("(", ")")
        && text.starts_with('"')
    {
        head.drain(..4);
    }
    head
}

/// A head without what it says of how long the array is that it declares.
pub(super) fn without_length(mut head: Vec<String>) -> Vec<String> {
    let own = head.iter().position(|w| w == SELF);
    if let Some(open) = own.map(|at| at + 1).filter(|at| head.get(*at).is_some_and(|w| w == "["))
        && let Some(close) = head.iter().skip(open).position(|w| w == "]")
    {
        head.drain(open + 1..open + close);
    }
    head
}

/// Whether a head has the body of a function, whose own head a macro hides where its header is read alone.
pub(super) fn is_of_function(head: &[String]) -> bool {
    head.windows(2).any(|words| words == [")", "{"])
}

/// Two heads that are written differently.
pub(super) fn declared(old: &[String], new: &[String], name: &str) -> Row {
    /// Words around what differs.
    const AROUND: usize = 4;
    let common = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let behind =
        old[common..].iter().rev().zip(new[common..].iter().rev()).take_while(|(a, b)| a == b).count();
    let part = |head: &[String]| {
        let (from, to) = (common.saturating_sub(AROUND), (head.len() - behind + AROUND).min(head.len()));
        let word = |w: &String| if w == SELF { name.to_owned() } else { w.clone() };
        let words: Vec<String> = head.get(from..to).unwrap_or_default().iter().map(word).collect();
        let (first, last) = (if from > 0 { "… " } else { "" }, if to < head.len() { " …" } else { "" });
        format!("declared as {first}{}{last}", words.join(" "))
    };
    Row::both(part(old), part(new))
}
