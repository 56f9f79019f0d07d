//! Names of points and variables: Daikon's, C's, and as files have them.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats": names of program
//! points, blanks and backslashes in names. "The Daikon Invariant Detector User Manual", section "Variable
//! names": `return` and `orig`. The colons before a global are what Kvasir, Daikon's front end for C, writes.

use std::borrow::Cow;
use std::fmt;

/// Where in a function a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionPoint {
    /// At its entry.
    Entry,
    /// At one of its returns, or, without a number, at all.
    Exit(Option<u32>),
}

/// The name of a program point: `file.c.func():::ENTER`, `file.c.func():::EXIT0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointName(String);

impl PointName {
    /// A place of a function.
    pub fn of(file: &str, function: &str, place: FunctionPoint) -> PointName {
        PointName(match place {
            FunctionPoint::Entry => format!("{file}.{function}():::ENTER"),
            FunctionPoint::Exit(None) => format!("{file}.{function}():::EXIT"),
            FunctionPoint::Exit(Some(n)) => format!("{file}.{function}():::EXIT{n}"),
        })
    }

    /// The whole name.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The function; `None` where the point is of none.
    pub fn function(&self) -> Option<&str> {
        let (function, _) = self.0.rsplit_once(":::")?;
        let (path, _) = function.split_once('(')?;
        let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
        (!name.is_empty()).then_some(name)
    }

    /// Where in its function; `None` for points of objects, classes and the like.
    pub fn place(&self) -> Option<FunctionPoint> {
        match self.0.rsplit_once(":::")?.1 {
            "ENTER" => Some(FunctionPoint::Entry),
            "EXIT" => Some(FunctionPoint::Exit(None)),
            place => Some(FunctionPoint::Exit(Some(place.strip_prefix("EXIT")?.parse().ok()?))),
        }
    }
}

impl From<&str> for PointName {
    fn from(text: &str) -> PointName {
        PointName(text.to_owned())
    }
}

impl fmt::Display for PointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What C calls a variable of Daikon's.
pub fn c_name(name: &str) -> String {
    translated(name, true)
}

/// As [`c_name`], but a global keeps its `::` if it is not `bare`.
pub(super) fn translated(name: &str, bare: bool) -> String {
    if let Some(inner) = name.strip_prefix("orig(").and_then(|rest| rest.strip_suffix(')')) {
        return format!("\\old({})", translated(inner, bare));
    }
    if let Some(rest) = name.strip_prefix("return").filter(|rest| !rest.starts_with(is_word)) {
        return format!("\\result{rest}");
    }
    // What has more of them is C++.
    let global = name.strip_prefix("::").filter(|g| bare && g.starts_with(is_word) && !g.contains("::"));
    global.unwrap_or(name).to_owned()
}

/// What Daikon calls a variable of C; `is_global` is asked about the identifier that it opens with.
pub fn daikon_name(name: &str, is_global: &dyn Fn(&str) -> bool) -> String {
    if let Some(inner) = name.strip_prefix("\\old(").and_then(|rest| rest.strip_suffix(')')) {
        return format!("orig({})", daikon_name(inner, is_global));
    }
    if let Some(rest) = name.strip_prefix("\\result") {
        return format!("return{rest}");
    }
    let end = name.find(|c| !is_word(c)).unwrap_or(name.len());
    let is_global = name.get(..end).is_some_and(|root| !root.is_empty() && is_global(root));
    if is_global { format!("::{name}") } else { name.to_owned() }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A name as a file has it, where a blank would end it.
pub(super) fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['\\', ' ']) {
        return name.replace('\\', "\\\\").replace(' ', "\\_").into();
    }
    name.into()
}

pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut name = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        name.push(match (c, chars.peek()) {
            ('\\', Some('_')) => ' ',
            ('\\', Some('\\')) => '\\',
            _ => {
                name.push(c);
                continue;
            }
        });
        chars.next();
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_global(_: &str) -> bool {
        false
    }

    #[test]
    fn names_have_a_form_in_c() {
        let both = [
            ("return", "\\result"),
            ("return->next", "\\result->next"),
            ("orig(x)", "\\old(x)"),
            ("orig(return)", "\\old(\\result)"),
            ("x", "x"),
            ("p->n", "p->n"),
            ("a[..]", "a[..]"),
            ("returned", "returned"),
            ("origin", "origin"),
        ];
        for (daikon, c) in both {
            assert_eq!(c_name(daikon), c);
            assert_eq!(daikon_name(c, &no_global), daikon);
        }
    }

    #[test]
    fn globals_have_colons() {
        let is_global = |root: &str| root == "g";
        for (daikon, c) in
            [("::g", "g"), ("::g.n", "g.n"), ("orig(::g)", "\\old(g)"), ("gg", "gg"), ("x", "x")]
        {
            assert_eq!(c_name(daikon), c);
            assert_eq!(daikon_name(c, &is_global), daikon);
        }
        assert_eq!(c_name("::space::g"), "::space::g");
        assert_eq!(daikon_name("::g", &is_global), "::g");
        assert_eq!(translated("orig(::g)", false), "\\old(::g)");
    }

    #[test]
    fn a_name_says_function_and_place() {
        let name = PointName::of("file.c", "func", FunctionPoint::Exit(Some(0)));
        assert_eq!(name.text(), "file.c.func():::EXIT0");
        assert_eq!((name.function(), name.place()), (Some("func"), Some(FunctionPoint::Exit(Some(0)))));
        assert_eq!(PointName::of("a.c", "f", FunctionPoint::Entry).to_string(), "a.c.f():::ENTER");
        assert_eq!(PointName::of("a.c", "f", FunctionPoint::Exit(None)).to_string(), "a.c.f():::EXIT");
    }

    #[test]
    fn names_of_other_front_ends_are_understood() {
        let check = |text: &str, function, place| {
            let name = PointName::from(text);
            assert_eq!((name.function(), name.place()), (function, place), "{text}");
        };
        check("..main():::ENTER", Some("main"), Some(FunctionPoint::Entry));
        check("..sum(int *, int):::EXIT", Some("sum"), Some(FunctionPoint::Exit(None)));
        check("Stack.push(java.lang.Object):::EXIT103", Some("push"), Some(FunctionPoint::Exit(Some(103))));
        check("Stack:::OBJECT", None, None);
        check("Stack.f():::EXITX", Some("f"), None);
        check("f", None, None);
        check("():::ENTER", None, Some(FunctionPoint::Entry));
    }

    #[test]
    fn blanks_and_backslashes_are_escaped() {
        for (name, text) in [("a b", "a\\_b"), ("a\\b", "a\\\\b"), ("a\\_b", "a\\\\_b"), ("ab", "ab")] {
            assert_eq!(escaped(name), text);
            assert_eq!(unescaped(text), name);
        }
        assert_eq!(unescaped("\\n\\"), "\\n\\");
    }
}
