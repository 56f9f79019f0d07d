//! Arrays of variable length and `alloca`.

use super::kit::Pair;
