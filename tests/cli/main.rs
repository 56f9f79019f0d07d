//! The command as a user runs it: what it prints, writes, refuses and exits with, in repositories of its own.

#[allow(dead_code, unused_imports, reason = "other test programs use the rest")]
#[path = "../support/asserted.rs"]
mod asserted;
#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod c_hostile;
mod check;
mod command_line;
mod compdb;
mod compiled;
mod condition;
mod copies;
mod discover;
mod discover_run;
mod documentation;
mod first_look;
mod formats;
mod function_history;
mod gate;
mod house;
mod html;
mod install;
mod interrupt;
mod missing;
mod objects;
mod packaging;
mod policy;
mod protocols;
mod quantify;
mod quantify_floats;
mod quantify_profile;
mod quantify_text;
mod quantify_tree;
mod scale;
mod subsets;
mod templates;
mod weakened;
mod witness;
