//! What an instruction does to a symbolic state: memory, floats, calls, library models, loops.
