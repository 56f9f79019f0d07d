//! Where the values of an object's initialiser stand and how they are written.

use super::unit::UnitCx;
use crate::ir::{Initial, InitialValue};
use rucc_sema::{DeclId, ExprKind};
use std::collections::BTreeMap;

/// Compound literals within each other.
const MAX_DEPTH: u32 = 6;

impl UnitCx<'_> {
    /// What the text has of an initialiser; `None` where it has none, and in headers that are ours.
    pub(super) fn written_initialiser(&mut self, id: DeclId) -> Option<Initial> {
        let mut found = Vec::new();
        self.collect_values(id, 0, MAX_DEPTH, &mut found);
        let first = found.first().map(|(.., at)| *at)?;
        let file = self.spans.file(first)?;
        let is_ours = |path: &std::path::PathBuf| path.to_string_lossy().starts_with('<');
        if self.spans.files.get(file.0 as usize).is_none_or(is_ours) {
            return None;
        }
        // A macro that stands for several values is none of them, nor is one that makes the declaration.
        let whole = self.tast.decl_span(id).lo;
        let mut uses: BTreeMap<u32, u32> = BTreeMap::new();
        for (.., at) in &found {
            *uses.entry(*at).or_default() += 1;
        }
        let value = |(offset, text, at): (u64, Option<String>, u32)| {
            let text = text.filter(|_| uses.get(&at) == Some(&1) && at != whole).map(Into::into);
            InitialValue { offset, line: self.spans.line(at), text }
        };
        let mut values: Vec<InitialValue> = found.into_iter().map(value).collect();
        // Of two for one place the later counts.
        values.sort_by_key(|v| v.offset);
        Some(Initial { file, values })
    }

    /// The values with their offsets, as the text has them, and where they stand.
    fn collect_values(&self, id: DeclId, base: u64, depth: u32, found: &mut Vec<(u64, Option<String>, u32)>) {
        let Some(list) = self.tast[id].init else { return };
        for entry in &self.tast[list] {
            let at = base + entry.offset;
            if let ExprKind::CompoundLiteral(inner) = self.tast[entry.value].kind
                && let Some(depth) = depth.checked_sub(1)
            {
                self.collect_values(inner, at, depth, found);
                continue;
            }
            let span = self.tast.expr_span(entry.value);
            if !span.is_dummy() {
                found.push((at, self.spans.named_text(span), span.lo));
            }
        }
    }
}
