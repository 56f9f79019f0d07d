//! Facts that are stated in C sources as ACSL comments: `requires` and `ensures` before a function,
//! `loop invariant` directly before a loop. `fixtures/textbook/README.md` says how they are written:
//! one clause a line.

/// A function and what is stated of it.
pub struct Stated {
    pub name: String,
    pub requires: Vec<String>,
    pub ensures: Vec<String>,
    pub loops: Vec<StatedLoop>,
}

pub struct StatedLoop {
    /// Line of the loop statement.
    pub line: u32,
    pub invariants: Vec<String>,
}

/// Reads the functions that have a contract, in the order of the text. Panics on a clause of another
/// kind, so that no stated fact is passed over.
pub fn functions(text: &str) -> Vec<Stated> {
    let mut functions: Vec<Stated> = Vec::new();
    let mut contract: Option<Vec<String>> = None;
    let mut inside = false;
    let mut pending: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let begins = line.starts_with("/*@");
        if begins || inside {
            let clause = line.trim_start_matches("/*@").trim_end_matches("*/").trim();
            contract.get_or_insert_default().extend(clause.strip_suffix(';').map(str::to_owned));
            assert!(clause.is_empty() || clause.ends_with(';'), "line {number}: {clause}");
            inside = !line.ends_with("*/");
        } else if let Some(invariant) = line.trim_start().strip_prefix("//@ ") {
            let fact = invariant.strip_prefix("loop invariant ").and_then(|f| f.strip_suffix(';'));
            pending.push(fact.unwrap_or_else(|| panic!("line {number}: {invariant}")).to_owned());
        } else if !pending.is_empty() {
            let function = functions.last_mut().expect("a loop stands in a function");
            function.loops.push(StatedLoop { line: number, invariants: std::mem::take(&mut pending) });
        } else if let Some(clauses) = contract.take_if(|_| line.ends_with(')')) {
            functions.push(stated(line, &clauses));
        }
    }
    functions
}

/// A function's header line with its clauses.
fn stated(header: &str, clauses: &[String]) -> Stated {
    let before = header.split('(').next().unwrap_or_default();
    let name = before.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
    let all = |kind: &str| clauses.iter().filter_map(|c| Some(c.strip_prefix(kind)?.to_owned())).collect();
    let found = Stated { name, requires: all("requires "), ensures: all("ensures "), loops: Vec::new() };
    assert_eq!(found.requires.len() + found.ensures.len(), clauses.len(), "{header}: {clauses:?}");
    found
}
