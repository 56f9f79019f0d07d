//! Places in source text.

use std::sync::Arc;

/// Index into [`super::Unit::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// Where an instruction is spelled. Lines and columns count from 1, columns in bytes; line 0 means
/// that the instruction has no place of its own (joins, implicit returns take their statement's).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub file: FileId,
    pub line: u32,
    pub col: u32,
    /// Last line of the construct, at least `line`.
    pub end_line: u32,
    /// The outermost macro call that the text came from, if any; `line` is then that of the call.
    pub expansion: Option<Arc<MacroUse>>,
}

/// A macro call that an instruction came out of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MacroUse {
    pub name: String,
    /// Place of the token inside the macro's definition, `(file, line)`, where known.
    pub spelled: Option<(FileId, u32)>,
}
