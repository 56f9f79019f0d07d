//! The engine on a few lines of C: what holds, what a change does to it, which inputs show that. One file a
//! subject; the sources stand in the tests, and nothing is compiled.

#[allow(dead_code, reason = "the bench of the papers uses the rest")]
#[path = "../support/properties.rs"]
mod properties;
#[path = "../support/mod.rs"]
mod support;

mod calls;
mod coupled;
mod facts;
mod formulas;
mod fuzz;
mod h2_fig1;
mod iproperty;
mod k_induction;
mod loops;
mod memory_facts;
mod onwards;
mod points;
mod resource_states;
mod safety;
mod sharing;
mod subsets;
mod typestate;
mod verifier;
