//! What was not looked at is said, in the last line and as data; advice that helps when followed.

use super::kit::Pair;
