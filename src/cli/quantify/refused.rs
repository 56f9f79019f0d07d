//! Why functions have no counts, in words: with the place in a profile, and the nearest name.

use super::profile::Profile;
use crate::analysis::quantify::Problem;
use crate::cli::CliError;
use crate::config::nearest;
use crate::count::NoFloats;

/// The error of a problem.
pub(super) fn said(problem: Problem, profile: &Profile) -> CliError {
    match problem {
        Problem::NoInput { name, known } => no_input(&name, &known, profile),
        Problem::OutOfType { name, whole: (low, high) } => {
            let leaves = format!("the domain of '{name}' leaves its type, which has {low}..{high}");
            match profile.place(&name, |range| range.0 < low || range.1 > high) {
                Some(place) => CliError::usage(format!("profile {place}: {leaves}")),
                None if profile.has_samples_of(&name) => {
                    CliError::usage(format!("profile {}: {leaves}", profile.name))
                }
                None => CliError::usage(leaves),
            }
        }
        Problem::TooLarge { function } => CliError::usage(format!(
            "the domain of {function}() is too large to count: more than 2^120 inputs"
        ))
        .hint("give smaller ranges with --domain NAME=LOW..HIGH, and floats in steps: NAME=LOW..HIGH:STEP"),
        Problem::NotWhole { name } => {
            CliError::usage(format!("'{name}' is an integer, and its domain has other numbers"))
                .hint("fractions and steps are for inputs that are floats")
        }
        Problem::NoFloats { name, why } => {
            let what = match why {
                NoFloats::Empty => "is empty",
                NoFloats::NoStep => "has a step that is not above 0, or an end that is infinite",
                NoFloats::TooFine => "has steps that are smaller than its type can tell apart there",
            };
            CliError::usage(format!("the domain of '{name}' {what}")).hint(format!(
                "for example --domain {name}=-10..9:0.5, or every float of a range: {name}=-10..9"
            ))
        }
        Problem::FloatProfile { name } => {
            let place = profile.place(&name, |_| true).unwrap_or_else(|| profile.name.clone());
            CliError::usage(format!("profile {place}: '{name}' is a float, whose values are counted evenly"))
                .hint(format!("give its range instead: --domain {name}=LOW..HIGH:STEP"))
        }
        Problem::NoCode { line, function, is_branch, nearest } => {
            let what = if is_branch { "branch" } else { "code" };
            let error = CliError::usage(format!("line {line} has no {what} of {function}()"));
            match nearest {
                Some(near) => error.hint(format!("the nearest line with one is {near}")),
                None => error,
            }
        }
        other => of_profile(other, profile),
    }
}

fn no_input(name: &str, known: &[String], profile: &Profile) -> CliError {
    let place = profile.place(name, |_| true).map(|place| format!("profile {place}: ")).unwrap_or_default();
    let error = CliError::usage(format!("{place}'{name}' is no input of a function that is counted"));
    match (nearest(name, known.iter().map(String::as_str)), known.is_empty()) {
        (Some(near), _) => error.hint(format!("did you mean '{near}'?")),
        (None, false) => error.hint(format!("inputs: {}", known.join(", "))),
        (None, true) => error.hint("inputs are parameters that are numbers, and such globals that are read"),
    }
}

/// What is wrong with a profile for a function.
fn of_profile(problem: Problem, profile: &Profile) -> CliError {
    let file = &profile.name;
    let at = |name: &str| profile.place(name, |_| true).unwrap_or_else(|| file.clone());
    match problem {
        Problem::NoSample { function } => {
            CliError::usage(format!("profile {file}: it has no call of {function}() with its inputs"))
                .hint("name the functions that are counted: -- FILE:FUNCTION")
        }
        Problem::Circle { name } => {
            CliError::usage(format!("profile {}: '{name}' depends on what depends on it", at(&name)))
        }
        Problem::NotCovered { name, given, value } => {
            let place = at(&name);
            CliError::usage(format!(
                "profile {place}: how '{name}' is distributed where '{given}' is {value} is not said"
            ))
            .hint(format!(
                "add lines '{name},LOW,HIGH,PROBABILITY,if {given},LOW,HIGH' for all values of '{given}'"
            ))
        }
        Problem::NoGiven { name, given, function } => CliError::usage(format!(
            "profile {}: '{name}' depends on '{given}', which is no input of {function}()",
            at(&name)
        )),
        Problem::ManyRows { most } => {
            CliError::usage(format!("profile {file}: its lines together make more than {most} boxes"))
        }
        _ => CliError::usage(format!("profile {file}: its probabilities have too many digits together")),
    }
}
