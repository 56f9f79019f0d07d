//! Assertions whose meaning changes with their text unchanged, that are removed or compiled out; witness
//! tests and asserted copies that are compiled and run.

use super::kit::Pair;
