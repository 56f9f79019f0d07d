//! Source bytes to IR, one folder a language.

pub mod c;
