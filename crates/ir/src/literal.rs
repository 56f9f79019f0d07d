//! Symbols of string literals.
//!
//! A literal's symbol is `.str:` and a hash of its bytes, so that equal literals are one object. A literal that holds
//! what `__LINE__` and `__FILE__` gave (`__FILE__ ":" TEXT(__LINE__)`) is *placed*: its bytes say where the text stands,
//! and are others wherever a line is added above. Its symbol says the line, too, and that of the literal with the words
//! `__LINE__` and `__FILE__` in place of what they gave, by which versions are compared.

use std::sync::Arc;

const PREFIX: &str = ".str:";
/// Before the line of a placed literal, and before the hash of what it is without.
const PLACED: char = '@';

/// The symbol of a literal with such a hash.
pub fn symbol(hash: &str) -> Arc<str> {
    format!("{PREFIX}{hash}").into()
}

/// The symbol of a literal that says where it stands: at a line, or 0. Without that it has the second hash.
pub fn placed_symbol(hash: &str, line: u32, unplaced: &str) -> Arc<str> {
    format!("{PREFIX}{hash}{PLACED}{line}{PLACED}{unplaced}").into()
}

/// Of the symbol of a placed literal its line, and the symbol of the literal without; `None` of all others.
pub fn placed(symbol: &str) -> Option<(u32, Arc<str>)> {
    let (_, rest) = symbol.strip_prefix(PREFIX)?.split_once(PLACED)?;
    let (line, unplaced) = rest.split_once(PLACED)?;
    Some((line.parse().ok()?, self::symbol(unplaced)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placed_symbol_says_its_line() {
        let made = placed_symbol("ab12", 27, "cd34");
        assert_eq!(placed(&made), Some((27, symbol("cd34"))));
        for other in ["", "x", "a@1@b", &symbol("ab12"), ".str:ab@x@cd", ".str:ab@1"] {
            assert_eq!(placed(other), None, "{other}");
        }
    }
}
