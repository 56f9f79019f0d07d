//! Structures whose layout differs between versions, narrowed types, sizes, line numbers, objects that
//! nobody writes.

use super::kit::Pair;
