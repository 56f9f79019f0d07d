//! The text of ours that stands before a unit's first line.
//!
//! It has three parts, by what they mean to the preprocessor. *Includes* may define macros, which the rest of the
//! prelude and the unit see; the unit sees the *macros* at the end, too. The *declarations* between them define nothing:
//! whatever they are, the unit is the same after preprocessing (`reading`).

use super::{Guesses, INVENTED, Kind, OBJECT, numbers, string_of, tokens};
use std::fmt;

/// Text to put before a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prelude {
    /// Lines that include headers.
    pub includes: String,
    /// Declarations, some of them under conditions that only the includes and the options decide. Nothing in it is
    /// defined or included.
    pub declarations: String,
    /// Lines that define macros.
    pub macros: String,
}

impl fmt::Display for Prelude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        [&self.includes, &self.declarations, &self.macros].into_iter().try_for_each(|part| f.write_str(part))
    }
}

impl Guesses {
    /// Returns the text to put before the unit's first line. `stands_for_itself`: whether a macro is defined as its own
    /// name, so that it is defined and has no value.
    pub fn prelude(&self, stands_for_itself: &dyn Fn(&str) -> bool) -> Prelude {
        Prelude {
            includes: self.headers.iter().map(|header| format!("#include <{header}>\n")).collect(),
            declarations: self.declarations(stands_for_itself),
            macros: self.definitions(),
        }
    }

    fn declarations(&self, stands_for_itself: &dyn Fn(&str) -> bool) -> String {
        let mut out = String::new();
        for text in self.prototypes.values() {
            out += &format!("{text}\n");
        }
        let kind = |kind: Kind, name: &str| match kind {
            Kind::Number => "int ".to_owned(),
            Kind::Constant => "const int ".to_owned(),
            Kind::Numbers => "long *".to_owned(),
            Kind::Record => format!("struct {INVENTED}{name} "),
            Kind::Pointer => format!("struct {INVENTED}{name} *"),
        };
        for tag in &self.enums {
            out += &format!("enum {tag} {{ {INVENTED}low_{tag} = -1, {INVENTED}high_{tag} = 1 }};\n");
        }
        for (name, is) in &self.types {
            let ty =
                if *is == Kind::Number { format!("{} ", numbers::of_name(name)) } else { kind(*is, name) };
            out += &format!("typedef {ty}{name};\n");
        }
        self.records.declare(&mut out);
        for (name, is) in self.objects.iter().filter(|(n, _)| !self.labels.contains(*n)) {
            let declaration = format!("{OBJECT}{}{name};\n", kind(*is, name));
            // A header that is read for something else may define it.
            out += &match stands_for_itself(name) {
                true => declaration,
                false => format!("#ifndef {name}\n{declaration}#endif\n"),
            };
        }
        for (name, is) in &self.results {
            match is {
                Kind::Numbers => out += &format!("char *{name}();\n"),
                Kind::Number => out += &format!("long {name}();\n"),
                _ => out += &format!("{}{name}();\n", kind(Kind::Pointer, name)),
            }
        }
        for at in 0..self.labels.len() {
            out += &format!("{OBJECT}const int {}{at};\n", tokens::LABEL);
        }
        out
    }

    fn definitions(&self) -> String {
        let mut out = String::new();
        for (name, arguments) in &self.strings {
            out += &format!("#define {name}{} {}\n", if *arguments { "(...)" } else { "" }, string_of(name));
        }
        for (name, shape) in &self.shapes {
            out += &shape.define(name);
        }
        for (name, operator) in &self.operators {
            out += &operator.define(name);
        }
        for (name, definer) in &self.definers {
            out += &definer.define(name);
        }
        for (name, arguments) in self.macros.iter().filter(|(name, _)| !self.definers.contains_key(*name)) {
            out += &format!("#define {name}{}\n", if *arguments { "(...)" } else { "" });
        }
        out
    }
}
