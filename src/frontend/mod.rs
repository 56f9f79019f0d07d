//! Source bytes to IR, one folder a language.
