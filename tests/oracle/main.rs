//! What the engine says held against something that knows better: programs that are compiled and run, corpora
//! with verdicts, one way of computing against another.

#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/asserted.rs"]
mod asserted;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/compiled/mod.rs"]
mod compiled;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/edits.rs"]
mod edits;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/generate_c/mod.rs"]
mod generate_c;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/implication.rs"]
mod implication;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/implied.rs"]
mod implied;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/measure.rs"]
mod measure;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/mutants.rs"]
mod mutants;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/random_c.rs"]
mod random_c;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/stated.rs"]
mod stated;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/stops.rs"]
mod stops;
#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/survivors.rs"]
mod survivors;
#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/table1.rs"]
mod table1;
#[allow(dead_code, unused_imports, reason = "benchmarks use the rest")]
#[path = "../support/table2.rs"]
mod table2;
#[path = "../support/svcomp.rs"]
mod verified;

mod automaton;
mod difference;
mod discovered;
mod discovery;
mod enumerated;
mod facts;
mod floats;
mod frama_c;
mod histories;
mod interpreter;
mod itsp;
mod library_rows;
mod property;
mod quantify;
mod students;
mod svcomp;
mod textbook;
mod textbook_mutants;
mod truth;
