//! Samples and inputs from files: Daikon's declarations and traces, comma-separated values.

use git_invdiff::infer::csv;
use git_invdiff::infer::daikon::{Declarations, read_tables, write_tables};

/// Reads bytes as a trace, as declarations and as comma-separated values. What a trace says can be written and
/// read again.
pub fn traces(bytes: &[u8]) {
    if let Ok(inputs) = csv::read(bytes) {
        assert!(inputs.rows.iter().all(|row| row.len() == inputs.names.len()));
    }
    let _ = Declarations::read(bytes);
    let mut declarations = Declarations::default();
    let (tables, outcome) = read_tables(bytes, &mut declarations);
    if outcome.is_err() {
        return;
    }
    let mut written = Vec::new();
    if write_tables(&mut written, &tables, &|_| false).is_ok() {
        let mut again = Declarations::default();
        let (read, outcome) = read_tables(written.as_slice(), &mut again);
        assert!(outcome.is_ok(), "{outcome:?}");
        let rows = |all: &[(_, git_invdiff::infer::Table)]| -> usize {
            all.iter().map(|(_, t)| t.rows().len()).sum()
        };
        assert_eq!(rows(&read), rows(&tables));
    }
}
