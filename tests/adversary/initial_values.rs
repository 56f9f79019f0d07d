//! Initial values of static objects, tables, enumerators; callees in other files and included sources;
//! renamed callees.

use super::kit::Pair;
