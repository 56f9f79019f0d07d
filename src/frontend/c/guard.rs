//! Guards against hostile or degenerate input: stack, caps, panics of the parser crates.

use super::parse::Rejected;
use rucc_lex::{PpTokenKind, Punct};
use rucc_pp::Tok;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Reserved, not committed: 100,000 nested constructs need 32 to 512 MiB in recursive descent, and
/// a stack overflow cannot be caught.
const STACK_BYTES: usize = 512 << 20;
const MAX_TOKENS: u64 = 4_000_000;
const MAX_BRACKETS: u64 = 1_000;
/// Operators between two points where an expression surely ends.
const MAX_CHAIN: u64 = 100_000;

thread_local! {
    static LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread with a large stack (this one, if it has one) and turns a panic in it
/// into [`Rejected::Crashed`].
pub fn on_large_stack<T: Send>(
    path: &Path,
    work: impl FnOnce() -> Result<T, Rejected> + Send,
) -> Result<T, Rejected> {
    let caught = |work: &mut dyn FnMut() -> Result<T, Rejected>| {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|e| Err(crashed(path, &*e)))
    };
    let mut work = Some(work);
    let mut once = || match work.take() {
        Some(work) => work(),
        None => Err(Rejected::Crashed { path: path.to_path_buf(), message: "ran twice".into() }),
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
            Ok(handle) => handle.join().unwrap_or_else(|e| Err(crashed(path, &*e))),
            Err(e) => Err(Rejected::Crashed { path: path.to_path_buf(), message: e.to_string() }),
        }
    })
}

fn crashed(path: &Path, payload: &(dyn Any + Send)) -> Rejected {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let message = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("unknown panic");
    Rejected::Crashed { path: path.to_path_buf(), message: message.to_owned() }
}

/// Fails when a preprocessed unit is too large or too deeply nested to be parsed.
pub fn check_tokens(path: &Path, tokens: &[Tok]) -> Result<(), Rejected> {
    let over = |name, value| Err(Rejected::Limit { path: path.to_path_buf(), name, value });
    if tokens.len() as u64 > MAX_TOKENS {
        return over("tokens", MAX_TOKENS);
    }
    let (mut depth, mut chain) = (0u64, 0u64);
    for token in tokens {
        let PpTokenKind::Punct(punct) = token.kind else { continue };
        match punct.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        chain = if matches!(punct, Punct::Semi | Punct::Comma | Punct::RBrace) { 0 } else { chain + 1 };
        if depth > MAX_BRACKETS {
            return over("nested-brackets", MAX_BRACKETS);
        }
        if chain > MAX_CHAIN {
            return over("operators", MAX_CHAIN);
        }
    }
    Ok(())
}
