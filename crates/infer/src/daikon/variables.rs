//! The variables of program points, as declarations tell of them: a name, and fields about it.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats": variable declarations.
//! It asks for a comparability; front ends leave it out, which is taken as -1, "comparable to every other".

use super::lines::Lines;
use super::names::{daikon_name, escaped, unescaped};
use super::values::{Element, Representation, kind_of, type_name, value};
use super::{Error, Fault};
use crate::table::{Kind, Variable};

const FIELDS: [&str; 17] = [
    "var-kind",
    "enclosing-var",
    "dec-type",
    "rep-type",
    "comparability",
    "constant",
    "flags",
    "reference-type",
    "array",
    "parent",
    "function-args",
    "lang-flags",
    "min-value",
    "max-value",
    "min-length",
    "max-length",
    "valid-values",
];

/// A variable of a point. If `constant` is given, it is not in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// As Daikon writes it.
    pub name: String,
    /// `var-kind`: `variable`, `return`, `field NAME`, `function NAME` or `array`.
    pub role: String,
    /// `enclosing-var`: what it is a part of.
    pub enclosing: Option<String>,
    /// `dec-type`: its type in the program.
    pub declared: String,
    /// `rep-type`: its type in the trace.
    pub representation: Representation,
    /// `comparability`: which others it may be compared with.
    pub comparability: String,
    /// `constant`: its only value.
    pub constant: Option<String>,
    /// `flags`.
    pub flags: Vec<String>,
    /// Other fields.
    pub others: Vec<(String, String)>,
}

impl Declared {
    /// A variable of C.
    pub fn new(variable: &Variable, is_global: &dyn Fn(&str) -> bool) -> Declared {
        let (element, declared) = match variable.kind {
            Kind::Truth | Kind::Condition => (Element::Boolean, "_Bool".to_owned()),
            Kind::Pointer => (Element::Hashcode, "void*".to_owned()),
            Kind::Integer { bits, signed } | Kind::Least { bits, signed } | Kind::Most { bits, signed } => {
                (Element::Integer, type_name(bits, signed))
            }
        };
        Declared {
            name: daikon_name(&variable.name, is_global),
            role: if variable.name == "\\result" { "return" } else { "variable" }.to_owned(),
            enclosing: None,
            declared,
            representation: Representation { element, is_array: false },
            comparability: "-1".to_owned(),
            constant: None,
            flags: Vec::new(),
            others: Vec::new(),
        }
    }

    /// What values it has; `None` for numbers with a fraction, strings and arrays.
    pub fn kind(&self) -> Option<Kind> {
        match self.representation {
            Representation { is_array: true, .. } => None,
            Representation { element: Element::Boolean, .. } => Some(Kind::Truth),
            Representation { element: Element::Hashcode, .. } => Some(Kind::Pointer),
            Representation { element: Element::Integer, .. } => Some(kind_of(&self.declared)),
            Representation { element: Element::Double | Element::Text, .. } => None,
        }
    }

    /// The value that a text says.
    pub(super) fn value(&self, kind: Kind, text: &str) -> Result<i128, Fault> {
        value(kind, text).ok_or_else(|| Fault::Value {
            variable: self.name.clone(),
            value: text.to_owned(),
            declared: match self.representation.element {
                Element::Integer => self.declared.clone(),
                _ => self.representation.text(),
            },
        })
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, String)> {
        let flags = (!self.flags.is_empty()).then(|| ("flags", self.flags.join(" ")));
        let enclosing = self.enclosing.as_ref().map(|e| ("enclosing-var", escaped(e).into_owned()));
        let fields = [
            Some(("var-kind", self.role.clone())),
            enclosing,
            Some(("dec-type", escaped(&self.declared).into_owned())),
            Some(("rep-type", self.representation.text())),
            self.constant.as_ref().map(|c| ("constant", c.clone())),
            flags,
            Some(("comparability", self.comparability.clone())),
        ];
        let others = self.others.iter().map(|(field, text)| (field.as_str(), text.clone()));
        fields.into_iter().flatten().chain(others)
    }
}

/// A variable whose record is being read.
pub(super) struct Draft {
    line: u64,
    name: String,
    fields: Vec<(u64, &'static str, String)>,
}

impl Draft {
    /// One whose first line this is.
    pub(super) fn new(lines: &Lines, name: String) -> Draft {
        Draft { line: lines.number, name, fields: Vec::new() }
    }

    fn take(&mut self, field: &str) -> Option<String> {
        let i = self.fields.iter().position(|(_, f, _)| *f == field)?;
        Some(self.fields.remove(i).2)
    }

    pub(super) fn add(&mut self, lines: &Lines, field: &str, text: &str) -> Result<(), Error> {
        let (known, owner) = (FIELDS.into_iter().find(|f| *f == field), self.name.clone());
        let Some(known) = known else {
            return Err(lines.error(Fault::Field { field: field.to_owned(), owner }));
        };
        if text.is_empty() && matches!(known, "var-kind" | "dec-type" | "rep-type" | "constant") {
            return Err(lines.error(Fault::Empty { field: field.to_owned(), owner }));
        }
        if known == "rep-type" && Representation::parse(text).is_none() {
            return Err(lines.error(Fault::Type { variable: owner, text: text.to_owned() }));
        }
        // A variable has a parent for each relation of its point.
        if known != "parent" && self.fields.iter().any(|(_, f, _)| *f == field) {
            return Err(lines.error(Fault::Again { field: field.to_owned(), owner }));
        }
        self.fields.push((lines.number, known, text.to_owned()));
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Declared, Error> {
        let line = self.line;
        let constant_line =
            self.fields.iter().find(|(_, f, _)| *f == "constant").map_or(line, |(line, ..)| *line);
        let mut need = |field| {
            let missing = |name: &String| Fault::Missing { variable: name.clone(), field };
            self.take(field).ok_or_else(|| Error { line, fault: missing(&self.name) })
        };
        let (role, declared, representation) = (need("var-kind")?, need("dec-type")?, need("rep-type")?);
        let representation = Representation::parse(&representation)
            .ok_or_else(|| Fault::Type { variable: self.name.clone(), text: representation })
            .map_err(|fault| Error { line, fault })?;
        let declared = Declared {
            role,
            enclosing: self.take("enclosing-var").map(|e| unescaped(&e).into_owned()),
            declared: unescaped(&declared).into_owned(),
            representation,
            comparability: self.take("comparability").unwrap_or_else(|| "-1".to_owned()),
            constant: self.take("constant"),
            flags: self.take("flags").iter().flat_map(|f| f.split_whitespace()).map(str::to_owned).collect(),
            others: self.fields.into_iter().map(|(_, f, text)| (f.to_owned(), text)).collect(),
            name: self.name,
        };
        if let (Some(kind), Some(constant)) = (declared.kind(), &declared.constant) {
            declared.value(kind, constant).map_err(|fault| Error { line: constant_line, fault })?;
        }
        Ok(declared)
    }
}
