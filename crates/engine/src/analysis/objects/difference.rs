//! What differs between two definitions of one object: its type, who sees it, what it holds, how many elements it has.

use super::definitions::{Definition, element};
use super::value::Value;
use super::words::{self, Row};
use crate::ir::{CType, Linkage};

/// What differs between two definitions, and what keeps it open.
pub(super) struct Difference {
    pub rows: Vec<Row>,
    pub open: Option<String>,
}

impl Difference {
    pub fn of((old, new): (&Definition, &Definition), values: Option<&(Value, Value)>) -> Difference {
        let mut told = Difference { rows: Vec::new(), open: None };
        let (a, b) = (old.global, new.global);
        if element(&a.ty).1 != element(&b.ty).1 || old.element_text() != new.element_text() {
            told.both(format!("has type {}", old.ty()), format!("has type {}", new.ty()));
        }
        if old.function.is_none() && a.linkage != b.linkage {
            let word = |l: Linkage| match l {
                Linkage::Internal => "is static",
                Linkage::Weak => "is weak",
                _ => "is seen by other files",
            };
            told.both(word(a.linkage), word(b.linkage));
        }
        if a.is_const != b.is_const {
            let word = |is_const: bool| if is_const { "is const" } else { "is not const" };
            told.both(word(a.is_const), word(b.is_const));
        }
        let is_array = matches!(a.ty, CType::Array(..)) && matches!(b.ty, CType::Array(..));
        let before = told.rows.len();
        match values {
            Some((x, y)) => {
                let found = words::differences(x, y);
                told.rows.extend(found.rows);
                if found.has_unknown {
                    told.open = Some("an initial value that is not known".to_owned());
                }
            }
            None if a.init != b.init => told.both("has other contents", "has other contents"),
            None => {}
        }
        if is_array && told.rows.len() == before && length(&a.ty) != length(&b.ty) {
            let said = |ty: &CType| {
                length(ty).map_or("has no length of its own".to_owned(), |n| format!("has {n} elements"))
            };
            told.both(said(&a.ty), said(&b.ty));
        }
        // Bytes that no member has, and members that no name tells apart.
        if told.rows.is_empty() && told.open.is_none() && !old.is_same_image(new) {
            told.open = Some("an initial value that is not understood".to_owned());
        }
        told
    }

    fn both(&mut self, before: impl Into<String>, now: impl Into<String>) {
        self.rows.push(Row::both(before, now));
    }
}

fn length(ty: &CType) -> Option<u64> {
    match ty {
        CType::Array(_, n) => *n,
        _ => None,
    }
}
