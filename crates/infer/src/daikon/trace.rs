//! `.dtrace`: samples of program points, read one at a time and handed on.
//!
//! A record opens with the name of its point. Two lines may tell which call it belongs to (a *nonce*); then
//! there are three for each variable of the declaration: its name, its value, and whether it was modified, or
//! 2 where it has no value that makes sense. Declarations may stand between the records. Memory: one record
//! and the declarations.
//!
//! A *row* has a place for each declared variable. It is empty for values without sense, and for those that
//! are not read: numbers with a fraction, strings, arrays.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats": data trace records.

use super::declarations::{Declarations, Point};
use super::lines::Lines;
use super::names::{escaped, unescaped};
use super::quick::Pattern;
use super::values::value_text;
use super::variables::Declared;
use super::{Error, Failure, Fault};
use crate::table::Kind;
use std::io::{self, BufRead, Write};

const NONCE: &str = "this_invocation_nonce";
const NO_SENSE: &str = "nonsensical";

/// What is done with a variable's place in a row.
#[derive(Clone, Copy)]
pub(super) enum Column {
    /// It is not in the trace.
    Constant(Option<i128>),
    Read(Kind),
    Passed,
}

impl Column {
    fn of(variable: &Declared) -> Column {
        match (&variable.constant, variable.kind()) {
            (Some(text), kind) => Column::Constant(kind.and_then(|k| variable.value(k, text).ok())),
            (None, Some(kind)) => Column::Read(kind),
            (None, None) => Column::Passed,
        }
    }
}

/// Hands each sample of a trace to `sink`, with the place of its point in the declarations, which grow by
/// those that stand in the trace. How many samples there were; those before a failure have been handed on.
pub fn read_trace<'a>(
    input: impl BufRead + 'a,
    declarations: &mut Declarations,
    sink: impl FnMut(usize, &[Option<i128>]),
) -> Result<u64, Failure> {
    let mut records = 0;
    match read_records(input, declarations, sink, &mut records) {
        Ok(()) => Ok(records),
        Err(error) => Err(Failure { records, error }),
    }
}

fn read_records<'a>(
    input: impl BufRead + 'a,
    declarations: &mut Declarations,
    mut sink: impl FnMut(usize, &[Option<i128>]),
    records: &mut u64,
) -> Result<(), Error> {
    let mut lines = Lines::new(input)?;
    let mut columns: Vec<Vec<Column>> = Vec::new();
    let mut row = Vec::new();
    let mut patterns: Vec<Pattern> = Vec::new();
    // Calls are one record at the entry and one at the exit, mostly: what came behind a point last time may do so again.
    let (mut behind, mut last) = (Vec::new(), 0);
    loop {
        let next = behind.get(last).copied().unwrap_or(last);
        let quick = patterns.get(next).and_then(|pattern: &Pattern| pattern.read(lines.ahead(), &mut row));
        if let Some(read) = quick {
            lines.skip(read.bytes, read.lines);
            sink(next, &row);
            *records += 1;
            last = next;
            continue;
        }
        if !lines.advance_to_record()? {
            return Ok(());
        }
        if declarations.take(&mut lines)? {
            continue;
        }
        let point = declarations.position(lines.text());
        let point = point.ok_or_else(|| lines.error(Fault::Point(lines.text().to_owned())))?;
        let new = declarations.points().iter().skip(columns.len());
        for point in new {
            let of: Vec<Column> = point.variables.iter().map(Column::of).collect();
            patterns.push(Pattern::of(point, &of));
            columns.push(of);
        }
        let (Some(declared), Some(columns)) = (declarations.points().get(point), columns.get(point)) else {
            continue;
        };
        row.clear();
        read_record(&mut lines, declared, columns, &mut row)?;
        sink(point, &row);
        *records += 1;
        behind.resize(behind.len().max(last + 1), point);
        behind.iter_mut().skip(last).take(1).for_each(|next| *next = point);
        last = point;
    }
}

fn read_record(
    lines: &mut Lines,
    point: &Point,
    columns: &[Column],
    row: &mut Vec<Option<i128>>,
) -> Result<(), Error> {
    let ends = |lines: &Lines, variable: &str, part| {
        let (point, variable) = (point.name.text().to_owned(), variable.to_owned());
        lines.error(Fault::Ends { point, variable, part })
    };
    if lines.advance_within()? {
        if lines.text() != NONCE {
            lines.keep();
        } else if !lines.pass()? {
            return Err(ends(lines, NONCE, "number"));
        }
    } else {
        lines.keep();
    }
    for (variable, column) in point.variables.iter().zip(columns) {
        if let Column::Constant(value) = column {
            row.push(*value);
            continue;
        }
        if !lines.advance_within()? {
            return Err(ends(lines, &variable.name, "name"));
        }
        if lines.text() != variable.name && unescaped(lines.text()) != variable.name {
            let (point, expected) = (point.name.text().to_owned(), variable.name.clone());
            return Err(lines.error(Fault::Name { point, found: lines.text().to_owned(), expected }));
        }
        row.push(read_value(lines, variable, *column, &ends)?);
    }
    if lines.advance_within()? {
        let found = lines.text().to_owned();
        return Err(lines.error(Fault::More { point: point.name.text().to_owned(), found }));
    }
    Ok(())
}

/// The two lines under a variable's name.
fn read_value(
    lines: &mut Lines,
    variable: &Declared,
    column: Column,
    ends: &dyn Fn(&Lines, &str, &'static str) -> Error,
) -> Result<Option<i128>, Error> {
    let mut value = None;
    if let Column::Read(kind) = column {
        if !lines.advance_within()? {
            return Err(ends(lines, &variable.name, "value"));
        }
        // Whether it has to be one is only told by the next line.
        let said =
            if lines.text() == NO_SENSE { Ok(None) } else { variable.value(kind, lines.text()).map(Some) };
        value = Some(said.map_err(|fault| lines.error(fault)));
    } else if !lines.pass()? {
        return Err(ends(lines, &variable.name, "value"));
    }
    if !lines.advance_within()? {
        return Err(ends(lines, &variable.name, "modified bit"));
    }
    match lines.text() {
        "0" | "1" => value.transpose().map(Option::flatten),
        "2" => Ok(None),
        text => Err(lines.error(Fault::Modified { variable: variable.name.clone(), text: text.to_owned() })),
    }
}

/// Writes a sample; of a variable whose values are not read, that it makes no sense.
pub fn write_record(
    out: &mut impl Write,
    point: &Point,
    nonce: Option<u64>,
    row: &[Option<i128>],
) -> io::Result<()> {
    let (found, expected) = (row.len(), point.variables.len());
    if found != expected {
        return Err(refused(Fault::Row { point: point.name.text().to_owned(), found, expected }));
    }
    writeln!(out, "\n{}", escaped(point.name.text()))?;
    nonce.iter().try_for_each(|n| writeln!(out, "{NONCE}\n{n}"))?;
    for (variable, value) in point.variables.iter().zip(row) {
        let text = match (Column::of(variable), value) {
            (Column::Constant(_), _) => continue,
            (Column::Read(kind), Some(n)) => {
                let text = value_text(kind, *n);
                variable.value(kind, &text).map_err(refused)?;
                Some(text)
            }
            (Column::Read(_) | Column::Passed, _) => None,
        };
        let (text, modified) = text.as_ref().map_or((NO_SENSE, 2), |text| (text, 1));
        writeln!(out, "{}\n{text}\n{modified}", escaped(&variable.name))?;
    }
    Ok(())
}

/// A sample in pieces, for who writes it elsewhere: each value stands between two of them.
pub fn record_parts(point: &Point) -> Vec<String> {
    let mut parts = vec![format!("\n{}\n", escaped(point.name.text()))];
    for variable in &point.variables {
        if let Some(last) = parts.last_mut() {
            *last += &format!("{}\n", escaped(&variable.name));
        }
        parts.push("\n1\n".to_owned());
    }
    if let Some(last) = parts.last_mut() {
        last.push('\n');
    }
    parts
}

pub(super) fn refused(fault: Fault) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, fault.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fmt::Write as _;
    use std::io::{BufReader, Read};

    const DECLS: &str = "decl-version 2.0\n\nppt a.c.f():::ENTER\nppt-type enter\nvariable n\n\
        var-kind variable\ndec-type int\nrep-type int\nvariable p\nvar-kind variable\ndec-type char*\n\
        rep-type hashcode\nvariable s\nvar-kind variable\ndec-type char*\n\
        rep-type java.lang.String\nvariable k\nvar-kind variable\ndec-type int\nrep-type int\n\
        constant 7\nvariable b\nvar-kind variable\ndec-type _Bool\nrep-type boolean\n\n";
    const RECORD: &str = "a.c.f():::ENTER\nn\n-3\n1\np\nnull\n1\ns\n\"a \\\"b\\\"\"\n1\nb\ntrue\n0\n\n";
    const ROW: [Option<i128>; 5] = [Some(-3), Some(0), None, Some(7), Some(1)];

    type Rows = Vec<(usize, Vec<Option<i128>>)>;

    /// The rows, and how reading ended.
    fn rows(trace: impl BufRead) -> (Rows, Result<u64, Failure>) {
        let mut declarations = Declarations::read(DECLS.as_bytes()).unwrap();
        let mut rows = Vec::new();
        let sink = |point: usize, row: &[Option<i128>]| rows.push((point, row.to_vec()));
        let outcome = read_trace(trace, &mut declarations, sink);
        (rows, outcome)
    }

    fn check(trace: &str, expected: &[[Option<i128>; 5]]) {
        let (rows, outcome) = rows(trace.as_bytes());
        assert_eq!(outcome.unwrap(), expected.len() as u64, "{trace}");
        assert_eq!(rows, expected.iter().map(|row| (0, row.to_vec())).collect::<Vec<_>>(), "{trace}");
    }

    /// What comes after a whole record fails so, at a line counted from there.
    fn refuse(second: &str, line: u64, fault: &str) {
        let (rows, outcome) = rows(format!("{RECORD}{second}").as_bytes());
        assert_eq!(rows, [(0, ROW.to_vec())], "{second}");
        let failure = outcome.unwrap_err();
        assert_eq!((failure.records, failure.error.line), (1, 14 + line), "{second}");
        assert_eq!(failure.error.fault.to_string(), fault, "{second}");
    }

    /// A record with one line in the place of another, both from 1.
    fn changed(line: usize, text: &str) -> String {
        let lines = RECORD.lines().enumerate().map(|(i, old)| if i + 1 == line { text } else { old });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_record_is_a_row() {
        check(RECORD, &[ROW]);
        check(RECORD.trim_end(), &[ROW]);
        check("", &[]);
        check("\n\n", &[]);
    }

    #[test]
    fn blank_lines_and_comments_stand_between_records() {
        check(&format!("# one\n\n{RECORD}\n\n// two\n{RECORD}# EOF\n"), &[ROW, ROW]);
        check(&RECORD.replace('\n', "\r\n"), &[ROW]);
    }

    #[test]
    fn a_nonce_may_be_told() {
        check(&RECORD.replacen("\nn\n", "\nthis_invocation_nonce\n104\nn\n", 1), &[ROW]);
    }

    #[test]
    fn values_without_sense_are_none() {
        let row = [None, Some(0), None, Some(7), Some(1)];
        check(&RECORD.replacen("-3\n1", "nonsensical\n2", 1), &[row]);
        check(&RECORD.replacen("-3\n1", "nonsensical\n1", 1), &[row]);
        check(&RECORD.replacen("-3\n1", "uninit\n2", 1), &[row]);
    }

    #[test]
    fn values_have_many_forms() {
        let with = |n, p, b| [Some(n), Some(p), None, Some(7), Some(b)];
        check(&changed(3, "0x10"), &[with(16, 0, 1)]);
        check(&changed(6, "0xbeef"), &[with(-3, 1, 1)]);
        check(&changed(6, "140737"), &[with(-3, 1, 1)]);
        check(&changed(12, "0"), &[with(-3, 0, 0)]);
    }

    #[test]
    fn a_string_may_be_longer_than_a_line_that_is_read() {
        check(&changed(9, &"x".repeat(3 << 20)), &[ROW]);
    }

    #[test]
    fn names_may_be_escaped() {
        let decls =
            "ppt f(int,\\_int):::ENTER\nvariable a\\_b\nvar-kind variable\ndec-type int\nrep-type int\n\n";
        for trace in ["f(int,\\_int):::ENTER\na\\_b\n1\n1\n", "f(int, int):::ENTER\na b\n1\n1\n"] {
            let (rows, outcome) = rows(format!("{decls}{trace}").as_bytes());
            assert_eq!((rows, outcome.unwrap()), (vec![(1, vec![Some(1)])], 1));
        }
    }

    #[test]
    fn declarations_may_stand_in_the_trace() {
        let more = "ppt a.c.g():::ENTER\nvariable m\nvar-kind variable\ndec-type int\nrep-type int\n\n";
        let trace = format!("{DECLS}{RECORD}{more}a.c.g():::ENTER\nm\n4\n1\n");
        let (rows, outcome) = rows(trace.as_bytes());
        assert_eq!(outcome.unwrap(), 2);
        assert_eq!(rows, [(0, ROW.to_vec()), (1, vec![Some(4)])]);
    }

    #[test]
    fn a_point_may_have_no_variables() {
        let (rows, outcome) = rows(&b"ppt g\n\ng\n\ng\nthis_invocation_nonce\n1\n\ng"[..]);
        assert_eq!(outcome.unwrap(), 3);
        assert_eq!(rows, vec![(1, vec![]); 3]);
    }

    #[test]
    fn values_of_another_type_are_refused() {
        refuse(&changed(3, "x"), 3, "'x' is no value of 'n', declared as int");
        refuse(&changed(3, "2147483648"), 3, "'2147483648' is no value of 'n', declared as int");
        refuse(&changed(6, "\"a\""), 6, "'\"a\"' is no value of 'p', declared as hashcode");
        refuse(&changed(12, "2"), 12, "'2' is no value of 'b', declared as boolean");
    }

    #[test]
    fn another_programs_trace_is_refused() {
        let fault = "'b.c.f():::ENTER' is not declared: the trace may be another program's";
        refuse(&changed(1, "b.c.f():::ENTER"), 1, fault);
        refuse(&changed(5, "q"), 5, "'q' in a record of 'a.c.f():::ENTER', where 'p' is declared");
        let more = format!("{}\nz\n1\n1\n", RECORD.trim_end());
        refuse(&more, 14, "'z' after the last variable of 'a.c.f():::ENTER'");
    }

    #[test]
    fn a_record_that_is_cut_is_refused() {
        let cut = |lines: usize| RECORD.lines().take(lines).collect::<Vec<_>>().join("\n");
        let ends = |part: &str| format!("the record of 'a.c.f():::ENTER' ends before the {part}");
        refuse(&cut(1), 1, &ends("name of 'n'"));
        refuse(&cut(2), 2, &ends("value of 'n'"));
        refuse(&cut(3), 3, &ends("modified bit of 'n'"));
        refuse(&cut(8), 8, &ends("value of 's'"));
        refuse(&cut(10), 10, &ends("name of 'b'"));
        refuse(&format!("{}\n\n{RECORD}", cut(3)), 4, &ends("modified bit of 'n'"));
        let nonce = "a.c.f():::ENTER\nthis_invocation_nonce\n";
        refuse(nonce, 2, &ends("number of 'this_invocation_nonce'"));
    }

    #[test]
    fn modified_is_one_of_three() {
        refuse(&changed(4, "3"), 4, "'3' for whether 'n' was modified, which is 0, 1 or 2");
        refuse(&changed(10, "p"), 10, "'p' for whether 's' was modified, which is 0, 1 or 2");
    }

    #[test]
    fn a_failure_says_how_much_was_read() {
        let (_, outcome) = rows(format!("{RECORD}{RECORD}{}", changed(3, "x")).as_bytes());
        let message = "line 31: 'x' is no value of 'n', declared as int (after 2 records)";
        assert_eq!(outcome.unwrap_err().to_string(), message);
    }

    #[test]
    fn an_input_that_fails_is_told() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("no disk"))
            }
        }
        let (rows, outcome) = rows(BufReader::new(RECORD.as_bytes().chain(Broken)));
        assert_eq!(rows, [(0, ROW.to_vec())]);
        assert_eq!(outcome.unwrap_err().to_string(), "line 15: cannot be read: no disk (after 1 records)");
        let outcome = self::rows(BufReader::new(Broken)).1;
        assert_eq!(outcome.unwrap_err().to_string(), "line 1: cannot be read: no disk (after 0 records)");
    }

    #[test]
    fn gzip_is_inflated() {
        let (found, outcome) = rows(&packed(RECORD)[..]);
        assert_eq!((found, outcome.unwrap()), (vec![(0, ROW.to_vec())], 1));
        let two = [packed(RECORD), packed(RECORD)].concat();
        assert_eq!(rows(&two[..]).1.unwrap(), 2);
        assert_eq!(Declarations::read(&packed(DECLS)[..]).unwrap().points().len(), 1);
    }

    #[test]
    fn gzip_that_is_cut_gives_what_it_has() {
        let text: String = (0..20_000).map(|n| RECORD.replacen("-3", &(n * 7919).to_string(), 1)).collect();
        let whole = packed(&text);
        let (found, outcome) = rows(&whole[..whole.len() / 2]);
        let failure = outcome.unwrap_err();
        assert!(matches!(failure.error.fault, Fault::Read(_)), "{failure}");
        assert_eq!(failure.records, found.len() as u64);
        assert!((5_000..15_000).contains(&found.len()), "{failure}");
        assert_eq!(rows(&whole[..1]).1.unwrap_err().records, 0);
        assert_eq!(rows(&whole[..9]).1.unwrap_err().records, 0);
    }

    /// Makes up records as they are asked for.
    struct Endless {
        left: u64,
        text: Vec<u8>,
        at: usize,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.at == self.text.len() && self.left > 0 {
                (self.left, self.at) = (self.left - 1, 0);
                self.text = RECORD.replacen("-3", &self.left.to_string(), 1).into_bytes();
            }
            let n = (&self.text[self.at..]).read(buffer)?;
            self.at += n;
            Ok(n)
        }
    }

    #[test]
    fn many_records_go_by() {
        let input = BufReader::new(Endless { left: 100_000, text: Vec::new(), at: 0 });
        let mut declarations = Declarations::read(DECLS.as_bytes()).unwrap();
        let mut sum = 0;
        let outcome = read_trace(input, &mut declarations, |_: usize, row: &[Option<i128>]| {
            sum += row.iter().take(1).copied().flatten().sum::<i128>();
        });
        assert_eq!((outcome.unwrap(), sum), (100_000, 99_999 * 50_000));
    }

    #[test]
    fn what_is_written_is_read() {
        let declarations = Declarations::read(DECLS.as_bytes()).unwrap();
        let mut written = Vec::new();
        let none = [None, None, None, Some(7), None];
        write_record(&mut written, &declarations.points()[0], None, &ROW).unwrap();
        write_record(&mut written, &declarations.points()[0], Some(3), &none).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert!(
            text.starts_with("\na.c.f():::ENTER\nn\n-3\n1\np\nnull\n1\ns\nnonsensical\n2\nb\n1\n1\n"),
            "{text}"
        );
        check(&text, &[ROW, none]);
    }

    #[test]
    fn rows_that_do_not_fit_are_not_written() {
        let declarations = Declarations::read(DECLS.as_bytes()).unwrap();
        let mut message = String::new();
        for row in [&[Some(1)][..], &[Some(1 << 40), None, None, None, None]] {
            let error = write_record(&mut Vec::new(), &declarations.points()[0], None, row).unwrap_err();
            writeln!(message, "{error}").unwrap();
        }
        let expected = "a row of 1 values for the 5 variables of 'a.c.f():::ENTER'\n\
            '1099511627776' is no value of 'n', declared as int\n";
        assert_eq!(message, expected);
    }
}
