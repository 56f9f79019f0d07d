//! Runs of a function as Daikon has them: a sample at its entry and one at its exit, with the same nonce.
//!
//! What is declared at the entry is declared at the exit, too: Daikon makes `orig(x)` of the two by itself, so no value
//! at entry stands at an exit. A run that does not return has no sample there. All returns are one exit, `EXIT0`, as
//! Kvasir has it.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats": program point declarations (what
//! an exit has to have), data trace records (nonces).

use super::declarations::{Declarations, Point};
use super::names::{FunctionPoint, PointName};
use super::trace::{refused, write_record};
use super::variables::Declared;
use crate::table::Variable;
use std::io::{self, Write};

/// A variable of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    pub variable: Variable,
    /// An object of the file, and no parameter that has its name.
    pub is_global: bool,
}

impl Traced {
    fn declared(&self) -> Declared {
        let mut declared = Declared::new(&self.variable, &|_| self.is_global);
        let is_result = self.variable.name == "\\result";
        let is_member = self.variable.name.contains("->") || self.variable.name.contains('.');
        if !self.is_global && !is_result && !is_member {
            declared.flags.push("is_param".to_owned());
        }
        declared
    }
}

/// The values at entry, and at the exit where the run came there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub entry: Vec<Option<i128>>,
    pub exit: Option<Vec<Option<i128>>>,
}

/// Runs of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub entry: Vec<Traced>,
    pub exit: Vec<Traced>,
    pub calls: Vec<Call>,
}

/// Runs of a function of a file.
#[derive(Clone, Copy, Debug)]
pub struct OfFunction<'a> {
    pub file: &'a str,
    pub function: &'a str,
    pub calls: &'a Calls,
}

impl OfFunction<'_> {
    fn point(&self, place: FunctionPoint) -> Point {
        let name = PointName::of(self.file, self.function, place);
        let variables = if place == FunctionPoint::Entry { &self.calls.entry } else { &self.calls.exit };
        let mut point = Point::new(name, &[], &|_| false);
        point.variables = variables.iter().map(Traced::declared).collect();
        // A member is one of what it lies in, where that is declared.
        let names: Vec<String> = point.variables.iter().map(|v| v.name.clone()).collect();
        for variable in &mut point.variables {
            if let Some((of, member)) = variable.name.rsplit_once("->")
                && names.iter().any(|n| n == of)
                && !member.contains('.')
            {
                variable.role = format!("field {member}");
                variable.enclosing = Some(of.to_owned());
            }
        }
        point
    }
}

/// The point at the entry of a function.
pub fn entry_point(file: &str, function: &str, variables: &[Traced]) -> Point {
    let calls = Calls { entry: variables.to_vec(), ..Calls::default() };
    OfFunction { file, function, calls: &calls }.point(FunctionPoint::Entry)
}

/// A point of a function that has no variables: that control comes there is all that a record says.
pub fn silent_point(file: &str, function: &str, place: &str) -> Point {
    let name = PointName::from(format!("{file}.{function}():::{place}").as_str());
    Point::new(name, &[], &|_| false)
}

/// The points of functions.
fn declarations(all: &[OfFunction]) -> io::Result<Declarations> {
    let mut declarations = Declarations::default();
    declarations.language = Some("C/C++".to_owned());
    declarations.comparability = Some("none".to_owned());
    for of in all {
        for place in [FunctionPoint::Entry, FunctionPoint::Exit(Some(0))] {
            declarations.add(of.point(place)).map_err(refused)?;
        }
    }
    Ok(declarations)
}

/// Writes `.decls`: the points of functions.
pub fn write_declarations(out: &mut impl Write, all: &[OfFunction]) -> io::Result<()> {
    declarations(all)?.write(out)
}

/// Writes `.dtrace`: the declarations, and all runs. Cost: linear in the values.
pub fn write_calls(out: &mut impl Write, all: &[OfFunction]) -> io::Result<()> {
    write_declarations(out, all)?;
    let mut nonce = 0;
    for of in all {
        let (entry, exit) = (of.point(FunctionPoint::Entry), of.point(FunctionPoint::Exit(Some(0))));
        for call in &of.calls.calls {
            write_record(out, &entry, Some(nonce), &call.entry)?;
            call.exit.iter().try_for_each(|row| write_record(out, &exit, Some(nonce), row))?;
            nonce += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daikon::read_tables;
    use crate::table::Kind;

    const INT: Kind = Kind::Integer { bits: 32, signed: true };

    fn traced(name: &str, kind: Kind, is_global: bool) -> Traced {
        Traced { variable: Variable { name: name.to_owned(), kind }, is_global }
    }

    fn calls() -> Calls {
        let entry = vec![traced("g", INT, false), traced("p", Kind::Pointer, false), traced("g", INT, true)];
        let exit = [&[traced("\\result", Kind::Truth, false)], &entry[..]].concat();
        let call = |n: i128, exit: bool| Call {
            entry: vec![Some(n), Some(n & 1), None],
            exit: exit.then(|| vec![Some(1), Some(n + 1), Some(n & 1), Some(-n)]),
        };
        Calls { entry, exit, calls: vec![call(1, true), call(2, false), call(3, true)] }
    }

    #[test]
    fn runs_come_back() {
        let calls = calls();
        let all = [OfFunction { file: "a b.c", function: "f", calls: &calls }];
        let mut written = Vec::new();
        write_calls(&mut written, &all).unwrap();
        let mut declarations = Declarations::default();
        let (tables, outcome) = read_tables(&written[..], &mut declarations);
        assert_eq!(outcome.unwrap(), 5);
        let [(entry, at_entry), (exit, at_exit)] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!((entry.place(), entry.function()), (Some(FunctionPoint::Entry), Some("f")));
        assert_eq!(exit.place(), Some(FunctionPoint::Exit(Some(0))));
        assert_eq!(at_entry.rows(), calls.calls.iter().map(|c| c.entry.clone()).collect::<Vec<_>>());
        assert_eq!(at_exit.rows(), calls.calls.iter().filter_map(|c| c.exit.clone()).collect::<Vec<_>>());
        // A parameter hides the object.
        let names: Vec<&str> = at_entry.variables.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["g", "p", "::g"]);
        let kinds: Vec<Kind> = at_exit.variables.iter().map(|v| v.kind).collect();
        assert_eq!(kinds, [Kind::Truth, INT, Kind::Pointer, INT]);
    }

    #[test]
    fn members_are_of_what_they_lie_in() {
        let entry = vec![
            traced("p", Kind::Pointer, false),
            traced("p->q", Kind::Pointer, false),
            traced("p->q->n", INT, false),
            traced("p->in.n", INT, false),
            traced("g.n", INT, true),
        ];
        let exit = entry.clone();
        let calls = Calls { entry, exit, calls: Vec::new() };
        let mut written = Vec::new();
        write_declarations(&mut written, &[OfFunction { file: "a.c", function: "f", calls: &calls }])
            .unwrap();
        let declarations = Declarations::read(&written[..]).unwrap();
        let told: Vec<(&str, &str, Option<&str>)> = declarations.points()[0]
            .variables
            .iter()
            .map(|v| (v.name.as_str(), v.role.as_str(), v.enclosing.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("p", "variable", None),
                ("p->q", "field q", Some("p")),
                ("p->q->n", "field n", Some("p->q")),
                ("p->in.n", "variable", None),
                ("::g.n", "variable", None),
            ]
        );
    }

    #[test]
    fn a_call_has_one_nonce_and_an_exit_has_all_of_the_entry() {
        let calls = calls();
        let all = [OfFunction { file: "a.c", function: "f", calls: &calls }];
        let mut written = Vec::new();
        write_calls(&mut written, &all).unwrap();
        let text = String::from_utf8(written).unwrap();
        let first = "\na.c.f():::ENTER\nthis_invocation_nonce\n0\ng\n1\n1\np\n1\n1\n::g\nnonsensical\n2\n\
            \na.c.f():::EXIT0\nthis_invocation_nonce\n0\nreturn\n1\n1\ng\n2\n1\np\n1\n1\n::g\n-1\n1\n";
        assert!(text.contains(first), "{text}");
        let mut only = Vec::new();
        write_declarations(&mut only, &all).unwrap();
        let declarations = Declarations::read(&only[..]).unwrap();
        let [entry, exit] = declarations.points() else { panic!("{declarations:?}") };
        assert_eq!((entry.role.as_str(), exit.role.as_str()), ("enter", "subexit"));
        assert!(entry.variables.iter().all(|v| exit.variables.contains(v)));
        assert!(text.starts_with(&String::from_utf8(only).unwrap()));
    }
}
