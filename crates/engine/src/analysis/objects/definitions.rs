//! The objects that a unit defines in files of its tree.

use super::value::type_text;
use crate::ir::{CType, Global, InitPiece, Linkage, RecordId, Unit};
use crate::mvicfg::members;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why names were made up (`crates/c/src/c/honesty.rs`).
const UNKNOWN_TYPE: &str = "unknown type";
const UNKNOWN_OBJECT: &str = "unknown macro or object";

/// One object and where it is defined.
#[derive(Clone)]
pub(super) struct Definition<'a> {
    pub unit: &'a Unit,
    pub global: &'a Global,
    pub file: PathBuf,
    pub line: u32,
    /// The function that has it, if it is `static` in one.
    pub function: Option<Arc<str>>,
}

/// The objects of a unit that have a name and stand in files of the tree, in their order.
pub(super) fn definitions(unit: &Unit) -> Vec<Definition<'_>> {
    let is_defined = |g: &&Global| matches!(g.linkage, Linkage::External | Linkage::Internal | Linkage::Weak);
    let functions: BTreeSet<&str> = unit.functions.iter().map(|f| &*f.name).collect();
    let of = |global| {
        let global: &Global = global;
        let file = unit.files.get(global.span.file.0 as usize)?;
        let is_own = global.span.line > 0 && !file.to_string_lossy().starts_with('<');
        let function = global.symbol.split_once('.').map(|(f, _)| f).filter(|f| functions.contains(f));
        (is_own && !global.name.is_empty()).then(|| Definition {
            unit,
            global,
            file: file.clone(),
            line: global.span.line,
            function: function.map(Arc::from),
        })
    };
    unit.globals.iter().filter(is_defined).filter_map(of).collect()
}

impl Definition<'_> {
    /// Its type as C writes it, without a name.
    pub fn ty(&self) -> String {
        type_text(self.unit, &self.global.ty)
    }

    /// Whether its initialiser is one of the definition at these lines of a file.
    pub fn is_initial_of(&self, file: &Path, lines: &RangeInclusive<u32>) -> bool {
        let initial = self.unit.written.initial.get(&self.global.symbol);
        initial.is_some_and(|i| {
            self.unit.files.get(i.file.0 as usize).is_some_and(|of| of == file)
                && i.values.iter().all(|v| lines.contains(&v.line))
        })
    }

    /// As [`Definition::ty`], with what else the head says of it.
    pub fn type_text(&self) -> String {
        format!("{}{}", if self.global.is_const { "const " } else { "" }, self.ty())
    }

    /// The type of its elements, if it is an array, and its own if not.
    pub fn element_text(&self) -> String {
        type_text(self.unit, element(&self.global.ty).0)
    }

    /// How it is written, with what typedefs stand for in their place.
    pub fn meant(&self, head: &[String]) -> Vec<String> {
        let of = |word: &String| match self.unit.written.typedefs.get(&**word) {
            Some(ty) if ty.contains('*') && **ty != **word => vec![format!("({ty})")],
            Some(ty) => ty.split_whitespace().map(str::to_owned).collect(),
            None => vec![word.clone()],
        };
        head.iter().flat_map(of).collect()
    }

    /// What makes the definition doubtful: that it has errors (true), or that nothing declares its type. `head`,
    /// `value`: how it is written; `lines`: where.
    pub fn doubt(&self, head: &[String], value: &[String], lines: &RangeInclusive<u32>) -> Option<bool> {
        let reason = |name: &str| self.unit.gaps.invented.get(name).map(|why| self.reason(why));
        let is_wrong = |why: &str| !matches!(why, UNKNOWN_TYPE | UNKNOWN_OBJECT);
        let own = reason(&self.global.name).filter(|_| self.function.is_none());
        // What does not fold has a text; a size or an enumerator that was made up has not.
        let used = value.iter().filter_map(|w| reason(w)).any(|why| why != UNKNOWN_OBJECT);
        let function = self.function.as_ref().and_then(|name| self.unit.function(name));
        let inside = function.is_some_and(|f| f.unknowns.iter().any(|u| lines.contains(&u.line)));
        if used || inside || own.is_some_and(is_wrong) {
            return Some(true);
        }
        let mut seen = BTreeSet::new();
        let is_made_up = own.is_some()
            || head.iter().any(|w| self.unit.gaps.invented.contains_key(&**w))
            || invented(self.unit, &self.global.ty, &mut seen);
        is_made_up.then_some(false)
    }

    /// Why what a declaration holds was made up, in the end.
    fn reason<'r>(&'r self, why: &'r str) -> &'r str {
        /// Types within each other.
        const DEPTH: usize = 16;
        let mut why = why;
        for _ in 0..DEPTH {
            let held = why.strip_prefix("holds ").and_then(|name| self.unit.gaps.invented.get(name));
            match held {
                Some(next) => why = next,
                None => break,
            }
        }
        why
    }

    /// Whether the pieces of two initial values are the same, where bytes can be compared.
    pub fn is_same_image(&self, other: &Definition) -> bool {
        let is_plain =
            |d: &Definition| !holds_records(&d.global.ty) || d.unit.layouts() == other.unit.layouts();
        if !is_plain(self) || !is_plain(other) {
            // By members where they lie elsewhere; what is no row of members is not known.
            let image = |d: &Definition| members::image(d.unit, d.global);
            return image(self).is_some() && image(self) == image(other) || bytes(self) == bytes(other);
        }
        self.global.size == other.global.size && bytes(self) == bytes(other)
    }
}

/// What is written at which place, but for names: these are compared where they are read.
fn bytes(d: &Definition) -> Vec<(u64, Option<Vec<u8>>)> {
    let of = |piece: &InitPiece| match piece {
        InitPiece::Bytes { offset, bytes } => (*offset, Some(bytes.clone())),
        InitPiece::Address { offset, .. } | InitPiece::Unknown { offset, .. } => (*offset, None),
    };
    let is_zero =
        |(_, bytes): &(u64, Option<Vec<u8>>)| bytes.as_ref().is_some_and(|b| b.iter().all(|b| *b == 0));
    d.global.init.iter().map(of).filter(|piece| !is_zero(piece)).collect()
}

fn holds_records(ty: &CType) -> bool {
    match ty {
        CType::Array(element, _) => holds_records(element),
        CType::Record(_) => true,
        _ => false,
    }
}

fn invented(unit: &Unit, ty: &CType, seen: &mut BTreeSet<RecordId>) -> bool {
    match ty {
        CType::Array(element, _) => invented(unit, element, seen),
        CType::Record(id) if seen.insert(*id) => {
            let record = unit.records.get(id.0 as usize);
            record.is_some_and(|r| r.invented || r.fields.iter().any(|f| invented(unit, &f.ty, seen)))
        }
        _ => false,
    }
}

/// What an array is one of, and in how many dimensions.
pub(super) fn element(ty: &CType) -> (&CType, usize) {
    let (mut at, mut depth) = (ty, 0);
    while let CType::Array(inner, _) = at {
        (at, depth) = (inner, depth + 1);
    }
    (at, depth)
}
