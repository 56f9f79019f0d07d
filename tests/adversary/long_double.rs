//! Values of type `long double` (x87, 80 bits).

use super::kit::Pair;
