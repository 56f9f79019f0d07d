//! `.decls`: the program points of a trace and their variables.
//!
//! A record opens with `ppt` and the point's name; lines about the point follow, and for each variable a line
//! `variable` with its name and lines about it, each a *field* and what it says. What is of no use here is
//! kept as it is, and written again.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats": declarations of version
//! 2.0.

use super::lines::{Lines, is_comment};
use super::names::{FunctionPoint, PointName, c_name, escaped, translated, unescaped};
use super::variables::{Declared, Draft};
use super::{Error, Fault};
use crate::table::Variable;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};

const VERSION: &str = "2.0";
const POINT_FIELDS: [&str; 6] = ["ppt-type", "flags", "parent", "ppt-func", "ppt-length", "ppt-successors"];
/// A program point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its name.
    pub name: PointName,
    /// `ppt-type`: `enter`, `exit`, `subexit`, `point` and others.
    pub role: String,
    /// Its variables, in the order of the trace.
    pub variables: Vec<Declared>,
    /// Other fields.
    pub others: Vec<(String, String)>,
}

impl Point {
    /// A point with variables of C.
    pub fn new(name: PointName, variables: &[Variable], is_global: &dyn Fn(&str) -> bool) -> Point {
        let role = match name.place() {
            Some(FunctionPoint::Entry) => "enter",
            Some(FunctionPoint::Exit(Some(_))) => "subexit",
            Some(FunctionPoint::Exit(None)) => "exit",
            None => "point",
        };
        let variables = variables.iter().map(|v| Declared::new(v, is_global)).collect();
        Point { name, role: role.to_owned(), variables, others: Vec::new() }
    }

    /// Those of its variables whose values are read, by their place in a row, with their names in C.
    pub fn columns(&self) -> Vec<(usize, Variable)> {
        let is_plain = |v: &&Declared| !v.name.contains("::");
        let plain: HashSet<String> =
            self.variables.iter().filter(is_plain).map(|v| c_name(&v.name)).collect();
        let column = |(i, v): (usize, &Declared)| {
            let name = c_name(&v.name);
            let is_hidden = v.name.contains("::") && plain.contains(&name);
            let name = if is_hidden { translated(&v.name, false) } else { name };
            Some((i, Variable { name, kind: v.kind()? }))
        };
        self.variables.iter().enumerate().filter_map(column).collect()
    }

    fn add(&mut self, draft: Option<Draft>) -> Result<(), Error> {
        self.variables.extend(draft.map(Draft::finish).transpose()?);
        Ok(())
    }
}

/// The program points of a trace.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// `input-language`.
    pub language: Option<String>,
    /// `var-comparability`: `implicit` or `none`.
    pub comparability: Option<String>,
    points: Vec<Point>,
    places: HashMap<String, usize>,
}

impl Declarations {
    /// Reads a file of nothing but declarations.
    pub fn read<'a>(input: impl BufRead + 'a) -> Result<Declarations, Error> {
        let mut declarations = Declarations::default();
        let mut lines = Lines::new(input)?;
        while lines.advance_to_record()? {
            if !declarations.take(&mut lines)? {
                return Err(lines.error(Fault::Record(lines.text().to_owned())));
            }
        }
        Ok(declarations)
    }

    /// Writes a file of nothing but declarations, which may also be the start of a trace.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "decl-version {VERSION}")?;
        self.language.iter().try_for_each(|l| writeln!(out, "input-language {l}"))?;
        self.comparability.iter().try_for_each(|c| writeln!(out, "var-comparability {c}"))?;
        for point in &self.points {
            writeln!(out, "\nppt {}\nppt-type {}", escaped(point.name.text()), point.role)?;
            point.others.iter().try_for_each(|(field, text)| writeln!(out, "{field} {text}"))?;
            for variable in &point.variables {
                writeln!(out, "variable {}", escaped(&variable.name))?;
                variable.fields().try_for_each(|(field, text)| writeln!(out, "  {field} {text}"))?;
            }
        }
        Ok(())
    }

    /// The points, in the order in which they were declared.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The place of a point, by its name as it is or as a trace has it.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).or_else(|| self.places.get(&*unescaped(name))).copied()
    }

    /// Adds a point; one that is declared before has to be the same.
    pub fn add(&mut self, point: Point) -> Result<usize, Fault> {
        let name = point.name.text().to_owned();
        let mut seen = HashSet::new();
        if let Some(twice) = point.variables.iter().find(|v| !seen.insert(&v.name)) {
            return Err(Fault::Twice { variable: twice.name.clone(), point: name });
        }
        match self.places.get(&name) {
            Some(place) if self.points.get(*place) == Some(&point) => Ok(*place),
            Some(_) => Err(Fault::Otherwise(name)),
            None => {
                self.points.push(point);
                self.places.insert(name, self.points.len() - 1);
                Ok(self.points.len() - 1)
            }
        }
    }

    /// Reads the record that opens with this line, if it is about declarations.
    pub(super) fn take(&mut self, lines: &mut Lines) -> Result<bool, Error> {
        let (field, text) = split(lines.text());
        let text = text.to_owned();
        match field {
            "ppt" => {
                let line = lines.number;
                let point = read_point(lines, &unescaped(&text))?;
                self.add(point).map_err(|fault| Error { line, fault })?;
            }
            "decl-version" if text == VERSION => {}
            "decl-version" => return Err(lines.error(Fault::Version(text))),
            "DECLARE" | "VarComparability" if text.is_empty() => {
                return Err(lines.error(Fault::Version("1.0".to_owned())));
            }
            "input-language" => self.language = Some(text),
            "var-comparability" => self.comparability = Some(text),
            // Classes of Java.
            "ListImplementors" => while lines.advance_within()? {},
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A field, and what it says.
fn split(line: &str) -> (&str, &str) {
    let (field, text) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (field, text.trim())
}

fn read_point(lines: &mut Lines, name: &str) -> Result<Point, Error> {
    let mut point =
        Point { name: name.into(), role: "point".to_owned(), variables: Vec::new(), others: Vec::new() };
    let mut open: Option<Draft> = None;
    let empty = |field: &str| Fault::Empty { field: field.to_owned(), owner: name.to_owned() };
    if name.is_empty() {
        return Err(lines.error(empty("ppt")));
    }
    while lines.advance_within()? {
        let (field, text) = split(lines.text());
        match (field, &mut open) {
            (line, _) if is_comment(line) => {}
            ("ppt", _) => {
                lines.keep();
                break;
            }
            ("variable" | "ppt-type", _) if text.is_empty() => return Err(lines.error(empty(field))),
            ("variable", _) => {
                let name = unescaped(text).into_owned();
                point.add(open.replace(Draft::new(lines, name)))?;
            }
            (_, Some(draft)) => draft.add(lines, field, text)?,
            ("ppt-type", None) => text.clone_into(&mut point.role),
            (_, None) if POINT_FIELDS.contains(&field) => {
                point.others.push((field.to_owned(), text.to_owned()));
            }
            (_, None) => {
                return Err(lines.error(Fault::Field { field: field.to_owned(), owner: name.to_owned() }));
            }
        }
    }
    point.add(open)?;
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daikon::Element;
    use crate::table::Kind;

    const KVASIR: &str = "
input-language C/C++
decl-version 2.0
var-comparability implicit

ppt ..f():::ENTER
  ppt-type enter
  variable n
    var-kind variable
    rep-type int
    dec-type unsigned\\_int
    flags is_param
    comparability 1
  variable ::names[..]
    var-kind array
    enclosing-var ::names
    array 1
    rep-type java.lang.String[]
    dec-type char*[]
    comparability 2

# another

ppt ..f():::EXIT0
  ppt-type subexit
  variable return
    var-kind variable
    rep-type hashcode
    dec-type void*
    comparability 3
";

    fn refuse(text: &str, message: &str) {
        assert_eq!(Declarations::read(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
    }

    /// With a variable whose fields are these lines; they stand from line 3 on.
    fn variable(lines: &str) -> String {
        format!("ppt p\nvariable x\n{lines}\n")
    }

    const INT: &str = "var-kind variable\ndec-type int\nrep-type int\n";

    fn int(name: &str) -> Variable {
        Variable { name: name.to_owned(), kind: Kind::Integer { bits: 32, signed: true } }
    }

    #[test]
    fn declarations_of_kvasir_are_read() {
        let read = Declarations::read(KVASIR.as_bytes()).unwrap();
        assert_eq!(read.language.as_deref(), Some("C/C++"));
        assert_eq!(read.comparability.as_deref(), Some("implicit"));
        let [entry, exit] = read.points() else { panic!("{read:?}") };
        assert_eq!((entry.name.text(), entry.role.as_str()), ("..f():::ENTER", "enter"));
        let [n, names] = &entry.variables[..] else { panic!("{entry:?}") };
        assert_eq!((n.name.as_str(), n.declared.as_str()), ("n", "unsigned int"));
        assert_eq!((&n.flags[..], n.comparability.as_str()), (&["is_param".to_owned()][..], "1"));
        assert_eq!(names.enclosing.as_deref(), Some("::names"));
        assert_eq!(names.others, [("array".to_owned(), "1".to_owned())]);
        assert_eq!(exit.variables[0].representation.element, Element::Hashcode);
    }

    #[test]
    fn columns_are_what_is_read_in_words_of_c() {
        let read = Declarations::read(KVASIR.as_bytes()).unwrap();
        let n = Variable { name: "n".to_owned(), kind: Kind::Integer { bits: 32, signed: false } };
        assert_eq!(read.points()[0].columns(), [(0, n)]);
        let result = Variable { name: "\\result".to_owned(), kind: Kind::Pointer };
        assert_eq!(read.points()[1].columns(), [(0, result)]);
    }

    #[test]
    fn a_global_that_is_hidden_keeps_its_colons() {
        let names = ["g", "::g", "orig(g)", "orig(::g)", "::h"];
        let variables = names.map(int);
        let point = Point::new("p".into(), &variables, &|_| false);
        let columns: Vec<String> = point.columns().into_iter().map(|(_, v)| v.name).collect();
        assert_eq!(columns, ["g", "::g", "\\old(g)", "\\old(::g)", "h"]);
    }

    #[test]
    fn what_is_written_is_read() {
        let java = "decl-version 2.0\n\nppt S.f(a\\_b,\\_c\\\\):::EXIT7\nppt-type subexit\nflags static\n\
            parent parent S:::OBJECT 1\nparent parent T:::OBJECT 2\nvariable x\\_y\nvar-kind field y\n\
            enclosing-var x\\_\ndec-type const\\_char*\nrep-type double[..]\nflags nomod non_null\n\
            parent S:::OBJECT 1\nparent T:::OBJECT 2 z\nvariable k\nvar-kind variable\ndec-type int\n\
            rep-type int\nconstant 10\nmin-value 0\nvalid-values [1 2]\n";
        for text in [KVASIR, java] {
            let read = Declarations::read(text.as_bytes()).unwrap();
            let mut written = Vec::new();
            read.write(&mut written).unwrap();
            let again = Declarations::read(&written[..]).unwrap();
            assert_eq!(again.points(), read.points());
            assert_eq!((again.language, again.comparability), (read.language, read.comparability));
        }
    }

    #[test]
    fn variables_of_c_come_back() {
        let kind = |bits, signed| Kind::Integer { bits, signed };
        let variable = |name: &str, kind| Variable { name: name.to_owned(), kind };
        let variables = [
            variable("\\result", kind(64, true)),
            variable("\\old(g)", kind(8, false)),
            variable("g", kind(24, true)),
            variable("p", Kind::Pointer),
            variable("is_set", Kind::Truth),
        ];
        let mut declarations = Declarations::default();
        let name = PointName::of("a.c", "f", FunctionPoint::Exit(None));
        declarations.add(Point::new(name, &variables, &|root| root == "g")).unwrap();
        let mut written = Vec::new();
        declarations.write(&mut written).unwrap();
        let read = Declarations::read(&written[..]).unwrap();
        let point = &read.points()[0];
        assert_eq!(point.variables[1].name, "orig(::g)");
        assert_eq!((point.role.as_str(), point.variables[0].role.as_str()), ("exit", "return"));
        assert_eq!(point.columns().into_iter().map(|(_, v)| v).collect::<Vec<_>>(), variables);
    }

    #[test]
    fn points_are_known_by_name() {
        let text = "ppt f(int,\\_int)\n\nppt g\nvariable x\nvar-kind variable\ndec-type T\nrep-type hashcode";
        let read = Declarations::read(text.as_bytes()).unwrap();
        assert_eq!(read.position("f(int, int)"), Some(0));
        assert_eq!(read.position("f(int,\\_int)"), Some(0));
        assert_eq!((read.position("g"), read.position("h")), (Some(1), None));
        assert_eq!(read.points()[1].variables[0].comparability, "-1");
    }

    #[test]
    fn a_point_may_follow_without_a_blank_line() {
        let text = format!("decl-version 2.0\nppt p\nvariable x\n{INT}ppt q\n# note\nvariable y\n{INT}");
        let read = Declarations::read(text.as_bytes()).unwrap();
        assert_eq!((read.position("q"), read.points()[0].variables.len()), (Some(1), 1));
    }

    #[test]
    fn classes_of_lists_are_passed_over() {
        let read = Declarations::read(&b"ListImplementors\njava.util.List\n\nppt p\n"[..]).unwrap();
        assert_eq!(read.points().len(), 1);
    }

    #[test]
    fn other_versions_are_refused() {
        refuse("decl-version 3\n", "line 1: declarations of version 3, not 2.0");
        refuse("# old\n\nDECLARE\nf():::ENTER\n", "line 3: declarations of version 1.0, not 2.0");
        refuse("VarComparability\nimplicit\n", "line 1: declarations of version 1.0, not 2.0");
    }

    #[test]
    fn a_sample_is_no_declaration() {
        refuse("decl-version 2.0\n\nf():::ENTER\nx\n1\n1\n", "line 3: 'f():::ENTER' begins no declaration");
    }

    #[test]
    fn fields_are_known() {
        refuse("ppt p\nppt-tpye enter\n", "line 2: 'ppt-tpye' is no field of 'p'");
        refuse(&variable("rep-tpye int"), "line 3: 'rep-tpye' is no field of 'x'");
        refuse(&variable("var-kind"), "line 3: 'var-kind' of 'x' says nothing");
        refuse(&variable("rep-type int\nrep-type int"), "line 4: 'rep-type' of 'x' a second time");
        refuse("ppt p\nvariable\n", "line 2: 'variable' of 'p' says nothing");
        refuse("ppt\n", "line 1: 'ppt' of '' says nothing");
    }

    #[test]
    fn a_variable_has_all_fields_that_matter() {
        refuse(&variable("dec-type int\nrep-type int"), "line 2: 'x' has no 'var-kind'");
        refuse(&variable("var-kind array\nrep-type int"), "line 2: 'x' has no 'dec-type'");
        refuse(&variable("var-kind array\ndec-type int"), "line 2: 'x' has no 'rep-type'");
        refuse(&variable("rep-type integer"), "line 3: 'integer' is no rep-type for 'x'");
    }

    #[test]
    fn a_constant_has_its_type() {
        let text = variable("constant one\nvar-kind variable\ndec-type int\nrep-type int");
        refuse(&text, "line 3: 'one' is no value of 'x', declared as int");
        let text = variable("constant \"one\"\nvar-kind variable\ndec-type char*\nrep-type java.lang.String");
        assert!(Declarations::read(text.as_bytes()).is_ok());
    }

    #[test]
    fn a_name_is_declared_once_or_alike() {
        let x = format!("variable x\n{INT}");
        refuse(&format!("ppt p\n{x}{x}"), "line 1: 'x' is declared twice in 'p'");
        refuse(&format!("ppt p\n{x}\nppt p\n"), "line 7: 'p' was declared otherwise before");
        let read = Declarations::read(format!("ppt p\n{x}\nppt p\n{x}").as_bytes()).unwrap();
        assert_eq!(read.points().len(), 1);
    }
}
