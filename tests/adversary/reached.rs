//! Facts of points that no defined run comes to.

use super::kit::Pair;
