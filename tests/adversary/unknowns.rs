//! Effects that are not understood: equal only if their text, operands, types and what they may read are
//! equal; builtins and atomics that are modelled.

use super::kit::Pair;
