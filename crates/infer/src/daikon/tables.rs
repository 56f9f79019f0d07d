//! Tables of samples from traces, and back.
//!
//! A table has a column for each variable whose values are read, with its name in C.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats".

use super::Failure;
use super::declarations::{Declarations, Point};
use super::names::PointName;
use super::trace::{read_trace, refused, write_record};
use crate::table::{Table, Variable};
use std::io::{self, BufRead, Write};

/// A table without rows for each point, in the order of the declarations.
pub fn tables(declarations: &Declarations) -> Vec<(PointName, Table)> {
    let table = |point: &Point| {
        let variables: Vec<Variable> = point.columns().into_iter().map(|(_, variable)| variable).collect();
        (point.name.clone(), Table::new(variables))
    };
    declarations.points().iter().map(table).collect()
}

/// A table for each point, with all its samples, and what [`read_trace`] says: tables have what came before a
/// failure.
pub fn read_tables<'a>(
    input: impl BufRead + 'a,
    declarations: &mut Declarations,
) -> (Vec<(PointName, Table)>, Result<u64, Failure>) {
    let mut rows: Vec<Vec<Vec<Option<i128>>>> = Vec::new();
    let outcome = read_trace(input, declarations, |point, row| {
        rows.resize_with(rows.len().max(point + 1), Vec::new);
        rows.iter_mut().skip(point).take(1).for_each(|rows| rows.push(row.to_vec()));
    });
    let mut tables = tables(declarations);
    for ((point, (_, table)), rows) in declarations.points().iter().zip(&mut tables).zip(rows) {
        let columns = point.columns();
        for row in rows {
            table.push(columns.iter().map(|(i, _)| row.get(*i).copied().flatten()).collect());
        }
    }
    (tables, outcome)
}

/// Writes tables as a trace that has its declarations; `is_global` is asked about identifiers of C.
pub fn write_tables(
    out: &mut impl Write,
    tables: &[(PointName, Table)],
    is_global: &dyn Fn(&str) -> bool,
) -> io::Result<()> {
    let mut declarations = Declarations::default();
    declarations.language = Some("C/C++".to_owned());
    for (name, table) in tables {
        declarations.add(Point::new(name.clone(), &table.variables, is_global)).map_err(refused)?;
    }
    declarations.write(out)?;
    for (name, table) in tables {
        let point = declarations.position(name.text()).and_then(|p| declarations.points().get(p));
        let Some(point) = point else { continue };
        table.rows().iter().try_for_each(|row| write_record(out, point, None, row))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daikon::FunctionPoint;
    use crate::table::Kind;

    const TRACE: &str = "decl-version 2.0\n\nppt a.c.f():::ENTER\nvariable n\nvar-kind variable\n\
        dec-type int\nrep-type int\nvariable s\nvar-kind variable\ndec-type char*\n\
        rep-type java.lang.String\nvariable ::k\nvar-kind variable\ndec-type int\nrep-type int\n\
        constant 7\n\na.c.f():::ENTER\nn\n-3\n1\ns\n\"a\"\n1\n\n";

    #[test]
    fn tables_have_what_is_read() {
        let mut declarations = Declarations::default();
        let (tables, outcome) =
            read_tables(format!("{TRACE}a.c.f():::ENTER\nn\n5\n").as_bytes(), &mut declarations);
        assert_eq!(outcome.unwrap_err().records, 1);
        let [(name, table)] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!((name.function(), name.place()), (Some("f"), Some(FunctionPoint::Entry)));
        assert_eq!(table.variables.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["n", "k"]);
        assert_eq!(table.rows(), [[Some(-3), Some(7)]]);
    }

    #[test]
    fn a_point_without_samples_has_an_empty_table() {
        let mut declarations = Declarations::read("ppt f\n".as_bytes()).unwrap();
        let trace = "ppt g\nvariable m\nvar-kind variable\ndec-type int\nrep-type int\n\ng\nm\n4\n1\n";
        let (tables, outcome) = read_tables(trace.as_bytes(), &mut declarations);
        assert_eq!(outcome.unwrap(), 1);
        assert_eq!(tables.iter().map(|(_, t)| t.rows().len()).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn tables_come_back() {
        let variable = |name: &str, kind| Variable { name: name.to_owned(), kind };
        let long = Kind::Integer { bits: 64, signed: true };
        let mut exit =
            Table::new(vec![variable("\\result", long), variable("\\old(g)", long), variable("g", long)]);
        exit.push(vec![Some(i64::MIN.into()), None, Some(i64::MAX.into())]);
        let mut entry = Table::new(vec![variable("p", Kind::Pointer), variable("b", Kind::Truth)]);
        entry.push(vec![Some(1), Some(0)]);
        entry.push(vec![Some(0), Some(1)]);
        let place = |place| PointName::of("a.c", "f", place);
        let tables = [(place(FunctionPoint::Entry), entry), (place(FunctionPoint::Exit(Some(0))), exit)];
        let mut written = Vec::new();
        write_tables(&mut written, &tables, &|root| root == "g").unwrap();
        let mut declarations = Declarations::default();
        let (again, outcome) = read_tables(&written[..], &mut declarations);
        assert_eq!(outcome.unwrap(), 3);
        assert_eq!(declarations.points()[1].variables[1].name, "orig(::g)");
        for ((name, table), (other, same)) in tables.iter().zip(&again) {
            assert_eq!((name, &table.variables, table.rows()), (other, &same.variables, same.rows()));
        }
    }

    #[test]
    fn tables_of_one_name_have_the_same_variables() {
        let one = |name: &str| {
            let kind = Kind::Integer { bits: 32, signed: true };
            ("p".into(), Table::new(vec![Variable { name: name.to_owned(), kind }]))
        };
        assert!(write_tables(&mut Vec::new(), &[one("a"), one("a")], &|_| false).is_ok());
        let error = write_tables(&mut Vec::new(), &[one("a"), one("b")], &|_| false).unwrap_err();
        assert_eq!(error.to_string(), "'p' was declared otherwise before");
    }
}
