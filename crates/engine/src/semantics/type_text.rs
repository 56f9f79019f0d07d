//! Types as C spells them.

use crate::ir::{CType, FloatKind};

/// Spells a scalar type that needs no declaration.
pub fn spelled(ty: &CType) -> Option<String> {
    Some(match ty {
        CType::Bool => "_Bool".into(),
        CType::Int { name, .. } if !name.starts_with("enum") && !name.is_empty() => name.to_string(),
        CType::Float(FloatKind::F32) => "float".into(),
        CType::Float(FloatKind::F64) => "double".into(),
        CType::Float(FloatKind::LongDouble) => "long double".into(),
        _ => return None,
    })
}
