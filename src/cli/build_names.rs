//! Macros that the build files of a tree speak of: by `-D`, in templates of `config.h`, in `configure.ac` and
//! `meson.build`. Texts are searched, nothing is run.

use crate::history::SourceTree;
use std::collections::BTreeMap;
use std::path::Path;

/// Files that are read, their bytes, and names that are kept.
const MAX_FILES: usize = 300;
const MAX_BYTES: usize = 1 << 20;
const MAX_NAMES: usize = 4_000;

/// Returns the macros that a tree's build files may define, with what they define them as. Cost: reads these files.
pub fn macros(tree: &dyn SourceTree) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for path in tree.paths().iter().filter(|p| is_build_file(p)).take(MAX_FILES) {
        let Some(bytes) = tree.read(path).filter(|b| b.len() <= MAX_BYTES) else { continue };
        for (name, value) in macros_of(&String::from_utf8_lossy(&bytes)) {
            if found.len() < MAX_NAMES {
                found.entry(name).or_insert(value);
            }
        }
    }
    found
}

fn is_build_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let ends = [".cmake", ".mk", ".mak", ".am", ".h.in", ".h.cmake", ".h.meson"];
    let begins =
        ["Makefile", "makefile", "GNUmakefile", "CMakeLists", "meson.build", "configure.ac", "configure.in"];
    begins.iter().any(|b| name.starts_with(b)) || ends.iter().any(|e| name.ends_with(e))
}

/// What stands before a macro's name, blanks and brackets aside.
const BEFORE: [&str; 9] = [
    "AC_DEFINE_UNQUOTED(",
    "AC_DEFINE(",
    "#cmakedefine01",
    "#cmakedefine",
    "#mesondefine",
    "#undef",
    ".set10(",
    ".set(",
    "add_compile_definitions(",
];

fn macros_of(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find("-D") {
            let is_word =
                rest.get(..at).is_none_or(|b| !b.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-'));
            rest = rest.get(at + 2..).unwrap_or_default();
            let name = word(rest);
            if is_word && !name.is_empty() {
                let value = rest.get(name.len()..).and_then(|r| r.strip_prefix('='));
                // A string, whatever it says: the macro's name stands for it.
                let quotes = ["\\\"", "\"\\\"", "'\"", "\"\\\\\""];
                if value.is_some_and(|v| quotes.iter().any(|q| v.starts_with(q))) {
                    found.push((name.to_owned(), format!("\"{name}\"")));
                    continue;
                }
                // What a shell or a build system puts together is not known.
                let value =
                    value.map(|v| v.split([' ', '\t', ')', '"', '\'', ';', ',']).next().unwrap_or_default());
                let is_plain =
                    |v: &&str| v.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !v.is_empty();
                found.push((name.to_owned(), value.filter(is_plain).unwrap_or("1").to_owned()));
            }
        }
        for before in BEFORE {
            let Some((_, rest)) = line.split_once(before) else { continue };
            let name = word(rest.trim_start_matches([' ', '\t', '[', '\'', '"']));
            if !name.is_empty() {
                found.push((name.to_owned(), "1".to_owned()));
            }
        }
    }
    found
}

/// The name that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.get(..end).filter(|w| w.starts_with(|c: char| !c.is_ascii_digit())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_every_kind_of_file() {
        let text = "CFLAGS += -DA -DB=2 x-DNO --D NO -DV=\\\"$(V)\\\"\n#undef C\n# define NO\n#cmakedefine01 D 1\n\
                    AC_DEFINE([E], [1])\nconf.set10('F', true)\nadd_definitions(-DG)\n-D9 -D\n#mesondefine H\n";
        let found: Vec<_> = macros_of(text).into_iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(found, ["A=1", "B=2", "V=\"V\"", "C=1", "D=1", "E=1", "F=1", "G=1", "H=1"]);
    }
}
