//! Headers that a build makes of other files of the tree: copies with the settings of a user (`config.def.h`,
//! `config.h.dist`, `config.h.sample`) or for those who have no `configure` (`config.h.generic`, `libconf.h.prebuilt`), and templates that `configure` and CMake
//! fill in (`config.h.in`, `krb5.hin`, `version.h.cmake`).
//!
//! A template is read with nothing filled in: a macro that may come to be defined (`#undef NAME`, `#cmakedefine NAME`)
//! is as it was, and a value (`@NAME@`, `${NAME}`) is a name that nobody declared, another one than its macro's. Every character stays where it is, so that
//! places are those of the template.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Endings behind the name of a header that is made of such a file, in the order in which they are looked for.
const ENDINGS: [&str; 9] =
    ["generic", "prebuilt", "dist", "default", "sample", "example", "in", "cmake", "cmake.in"];
/// Those of templates.
const TEMPLATES: [&[u8]; 4] = [b".h.in", b".hin", b".h.cmake", b".h.cmake.in"];

/// The names of the files of which a header may be made.
pub(super) fn sources(header: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    let is_header = header.extension().is_some_and(|e| e == "h");
    let settings = is_header.then(|| header.with_extension("def.h"));
    let short = is_header.then(|| header.with_extension("hin"));
    let others =
        ENDINGS.iter().filter(move |_| is_header).map(|end| header.with_extension(format!("h.{end}")));
    settings.into_iter().chain(others).chain(short)
}

/// A file's text as C: that of a template with nothing filled in, any other as it is.
pub(super) fn read(path: &Path, text: Arc<[u8]>) -> Arc<[u8]> {
    let ends = |with: &[u8]| path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(with));
    if !TEMPLATES.iter().any(|end| ends(end)) {
        return text;
    }
    let mut out = text.to_vec();
    for line in out.split_mut(|b| *b == b'\n') {
        match directive(line) {
            b"undef" | b"cmakedefine" | b"cmakedefine01" => blank(line),
            b"define" => {
                empty_values(line);
                tell_apart(line);
            }
            _ => empty_values(line),
        }
    }
    out.into()
}

/// Gives the value of a macro another name than the macro's where it is filled in by that (`#define INLINE @INLINE@`):
/// what it stands for is looked for by how its value is used, and a macro of that name would hide what is found.
fn tell_apart(line: &mut [u8]) {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let words: Vec<std::ops::Range<usize>> = {
        let mut found = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let length = line[at..].iter().take_while(|b| is_word(b)).count();
            found.extend((length > 0).then(|| at..at + length));
            at += length.max(1);
        }
        found
    };
    let [_, name, value, ..] = words.as_slice() else { return };
    let is_filled_in = |at: usize| line.get(at) == Some(&b' ');
    let (before, behind) = (value.start - 1, value.end);
    // Behind one blank stands what was a mark.
    if line[name.clone()] == line[value.clone()]
        && before > name.end
        && is_filled_in(before)
        && is_filled_in(behind)
    {
        (line[before], line[behind]) = (b'_', b'_');
    }
}

/// The word behind the `#` of a line.
fn directive(line: &[u8]) -> &[u8] {
    let Some(rest) = line.trim_ascii_start().strip_prefix(b"#") else { return b"" };
    let rest = rest.trim_ascii_start();
    let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    &rest[..length]
}

/// Leaves nothing of a line but its comments' ends: one may begin or end there.
fn blank(line: &mut [u8]) {
    let comment = line.windows(2).position(|pair| pair == b"/*").unwrap_or(line.len());
    let code = line[..comment].iter_mut().filter(|b| **b != b'\r');
    code.for_each(|b| *b = b' ');
}

/// Takes the marks away around the names of values, outside of texts.
fn empty_values(line: &mut [u8]) {
    let (mut at, mut quote) = (0, None);
    while let Some(&b) = line.get(at) {
        match (b, quote) {
            (b'\\', Some(_)) => at += 1,
            (b'"' | b'\'', None) => quote = Some(b),
            (_, Some(open)) if b == open => quote = None,
            (b'@', None) => at = emptied(line, at, b"@", b'@').unwrap_or(at),
            (b'$', None) => at = emptied(line, at, b"${", b'}').unwrap_or(at),
            _ => {}
        }
        at += 1;
    }
}

/// Takes away the marks around a name at a place, and returns where the last of them stood.
fn emptied(line: &mut [u8], at: usize, opens: &[u8], closes: u8) -> Option<usize> {
    let start = at + line[at..].starts_with(opens).then_some(opens.len())?;
    let is_word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
    let end = start + line[start..].iter().take_while(is_word).count();
    if end == start || line.get(end) != Some(&closes) {
        return None;
    }
    line[at..start].fill(b' ');
    line[end] = b' ';
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, expected: &str) {
        let made = read(Path::new("src/config.h.in"), template.as_bytes().into());
        assert_eq!(String::from_utf8_lossy(&made), expected);
        assert_eq!(made.len(), template.len());
    }

    #[test]
    fn nothing_of_a_template_is_filled_in() {
        check("#undef A\n# undef B /* why */\nint x;\n", "        \n          /* why */\nint x;\n");
        check("#cmakedefine A 1\r\n#cmakedefine01 B\n", "                \r\n                \n");
        check("#define A @A@\n", "#define A _A_\n");
        check("#  define A  @A@ // @A@\n", "#  define A  _A_ //  A \n");
        check("#define A @B@\n#define A A\n", "#define A  B \n#define A A\n");
        check("typedef @type@ t; /* a@b.c */\n", "typedef  type  t; /* a@b.c */\n");
        check(
            "char *s = \"@S@ \\\" @S@\", c = '@';\n@ @@ @x\n",
            "char *s = \"@S@ \\\" @S@\", c = '@';\n@ @@ @x\n",
        );
        check("#define A ${A}\nint x${y} = \"${S}\";\n", "#define A  _A_\nint x  y  = \"${S}\";\n");
        check("#define A $A ${} ${A ${b-c}\n", "#define A $A ${} ${A ${b-c}\n");
        check("#undefined A\n#define\n#\n", "#undefined A\n#define\n#\n");
    }

    #[test]
    fn what_is_no_template_stays_as_it_is() {
        for path in ["a.h", "config.h.generic", "a.in", "h.in"] {
            let text: Arc<[u8]> = b"#undef A\n@A@\n".as_slice().into();
            assert_eq!(read(Path::new(path), text.clone()), text, "{path}");
        }
    }

    #[test]
    fn sources_are_those_of_headers() {
        let empty: Arc<[u8]> = b"#undef A\n".as_slice().into();
        assert_eq!(&*read(Path::new("db.hin"), empty), b"        \n");
        for name in ["version.h.cmake", "version.h.cmake.in"] {
            assert_eq!(&*read(Path::new(name), b"#cmakedefine A\n".as_slice().into()), b"              \n");
        }
        let of = |name: &str| sources(Path::new(name)).map(|p| p.display().to_string()).collect::<Vec<_>>();
        assert_eq!(
            of("sys/config.h"),
            [
                "sys/config.def.h",
                "sys/config.h.generic",
                "sys/config.h.prebuilt",
                "sys/config.h.dist",
                "sys/config.h.default",
                "sys/config.h.sample",
                "sys/config.h.example",
                "sys/config.h.in",
                "sys/config.h.cmake",
                "sys/config.h.cmake.in",
                "sys/config.hin"
            ]
        );
        assert_eq!(of("table.inc"), Vec::<String>::new());
    }
}
