//! What runs before and after `main`, and which definition a name leads to: constructors, `atexit`,
//! aliases, weak definitions, cleanup, nested functions.

use super::kit::Pair;
