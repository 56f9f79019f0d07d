//! The multiversion interprocedural control-flow graph: alignment, version sets, matched points.
