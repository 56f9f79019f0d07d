//! Declarations that define nothing: prototypes, `extern` objects.

use crate::analysis::request::Request;
use crate::frontend::c::extents::Words;
use crate::ir::{Expr, Function, Object};
use std::path::Path;

/// Whether a line of the older (0) or the newer (1) version of a step is of a declaration that defines nothing, and
/// that the other version has in its file, too, or has nothing else in the place of.
pub(in crate::analysis) fn is_mere_declaration(
    request: &Request,
    (step, side): (usize, usize),
    path: &Path,
    line: u32,
    name: &str,
) -> bool {
    let changes = request.changes.get(step).map(Vec::as_slice).unwrap_or_default();
    let change = changes.iter().find(|c| c.path(side).is_some_and(|p| p == path));
    let there = change.and_then(|c| c.path(1 - side));
    let words = |side: usize, path: &Path| {
        let tree = request.versions.get(step + side).map(|v| &v.tree);
        Words::of(&tree.and_then(|t| t.read(path)).unwrap_or_default())
    };
    let own = words(side, path);
    let there = there.map(|path| words(1 - side, path)).unwrap_or_default();
    let Some(statement) = own.statement_at(line) else { return false };
    let has = |word: &str| statement.iter().any(|w| w == word);
    let is_extern = statement.first().is_some_and(|w| w == "extern");
    // That there is a type says nothing of it.
    if let [word, _, end] = statement.as_slice()
        && matches!(word.as_str(), "struct" | "union")
        && end == ";"
    {
        return true;
    }
    let declares = !has("=") && !has("{") && (is_extern || has("("));
    // Another declaration of the name says something else.
    declares && (there.count(&statement) > 0 || !there.names(name))
}

/// Whether a body calls or names a function or an object.
pub(in crate::analysis) fn uses(f: &Function, name: &str) -> bool {
    f.nodes.iter().any(|n| {
        let mut found = n.instr.named_callees().iter().any(|callee| &***callee == name);
        n.instr.for_each_expr(&mut |e| {
            if let Expr::Addr(Object::Global(symbol) | Object::Function(symbol)) = e {
                found |= **symbol == *name;
            }
        });
        found
    })
}
