//! Path patterns after `--`, with git's meaning (gitglossary, "pathspec").
//!
//! A pattern names a file, a folder with everything below it, or a glob whose `*` also crosses `/`. What
//! looks like a glob may also be the name of a file, letter by letter.
//! Magic: `:(top)` or `:/`, `:(exclude)` or `:!` or `:^`, `:(icase)`, `:(glob)` (`*` stops at `/`),
//! `:(literal)`. `:(attr)` and `:(prefix)` are refused by name. What `git --literal-pathspecs` and the like say
//! of all patterns reaches us as variables ([`PathspecManner`]).

use super::error::{Error, Result};
use super::names::bytes_of_utf8_path;
use super::object::bytes_of_path;
use glob::{MatchOptions, Pattern};
use std::path::{Component, Path, PathBuf};

/// A list of patterns. An empty list matches everything.
#[derive(Clone, Debug, Default)]
pub struct Pathspec {
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
struct Item {
    exclude: bool,
    icase: bool,
    /// The pattern as a name; a folder of this name matches with all it holds.
    literal: Vec<u8>,
    glob: Option<(Pattern, MatchOptions)>,
}

#[derive(Default)]
struct Magic {
    top: bool,
    exclude: bool,
    icase: bool,
    glob: bool,
    literal: bool,
}

/// Magic of all patterns of a command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathspecManner {
    literal: bool,
    glob: bool,
    noglob: bool,
    icase: bool,
}

impl PathspecManner {
    /// Reads `GIT_LITERAL_PATHSPECS`, `GIT_GLOB_PATHSPECS`, `GIT_NOGLOB_PATHSPECS`, `GIT_ICASE_PATHSPECS`.
    pub fn of_environment() -> PathspecManner {
        let is_set = |name: &str| {
            let value = std::env::var(format!("GIT_{name}_PATHSPECS")).unwrap_or_default().to_lowercase();
            matches!(value.as_str(), "true" | "yes" | "on") || value.parse::<i64>().is_ok_and(|n| n != 0)
        };
        PathspecManner {
            literal: is_set("LITERAL"),
            glob: is_set("GLOB"),
            noglob: is_set("NOGLOB"),
            icase: is_set("ICASE"),
        }
    }

    /// Reads a pattern's own magic and adds to it.
    fn read(self, pattern: &str) -> std::result::Result<(Magic, &str), String> {
        if self.glob && (self.noglob || self.literal) || self.icase && self.literal {
            return Err("it has settings of pathspecs that exclude each other".to_owned());
        }
        if self.literal {
            return Ok((Magic { literal: true, ..Magic::default() }, pattern));
        }
        let (mut magic, path) = parse_magic(pattern)?;
        magic.icase |= self.icase;
        magic.glob |= self.glob && !magic.literal;
        magic.literal |= self.noglob && !magic.glob;
        Ok((magic, path))
    }
}

impl Pathspec {
    /// Parses patterns that are relative to `prefix`, the folder that the command runs in. Bytes that are
    /// not UTF-8 are given as [`super::utf8_path`] writes them.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>, prefix: &Path) -> Result<Pathspec> {
        Pathspec::in_manner(patterns, prefix, PathspecManner::default())
    }

    /// As [`Pathspec::new`], of a command line.
    pub fn in_manner<S: AsRef<str>>(
        patterns: impl IntoIterator<Item = S>,
        prefix: &Path,
        manner: PathspecManner,
    ) -> Result<Pathspec> {
        let items = patterns.into_iter().map(|p| parse(p.as_ref(), prefix, manner)).collect::<Result<_>>()?;
        Ok(Pathspec { items })
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns whether a path from the top of the tree is meant. Exclusions win; when there are
    /// only exclusions, everything else is meant.
    pub fn matches(&self, path: &Path) -> bool {
        let bytes = bytes_of_path(path);
        let mut wanted = self.items.iter().filter(|i| !i.exclude).peekable();
        let included = wanted.peek().is_none() || wanted.any(|i| i.matches(&bytes));
        included && !self.items.iter().any(|i| i.exclude && i.matches(&bytes))
    }
}

impl Item {
    fn matches(&self, path: &[u8]) -> bool {
        self.names(path)
            || self
                .glob
                .as_ref()
                .is_some_and(|(pattern, options)| pattern.matches_with(&by_bytes(path), *options))
    }

    /// Whether the pattern, letter by letter, is the path or a folder above it.
    fn names(&self, path: &[u8]) -> bool {
        let name = &self.literal;
        let Some((head, rest)) = path.split_at_checked(name.len()) else { return false };
        let same = if self.icase { head.eq_ignore_ascii_case(name) } else { head == &name[..] };
        same && (name.is_empty() || rest.is_empty() || rest.starts_with(b"/"))
    }
}

fn parse(pattern: &str, prefix: &Path, manner: PathspecManner) -> Result<Item> {
    let bad = |reason: &str| Error::BadPathspec { pattern: pattern.to_owned(), reason: reason.to_owned() };
    let (magic, path) = manner.read(pattern).map_err(|reason| bad(&reason))?;
    let base = if magic.top { Path::new("") } else { prefix };
    // In the pattern `**/` of a glob no component is special, so lexical joining is safe.
    let mut joined = PathBuf::new();
    for part in base.components().chain(Path::new(path).components()) {
        match part {
            Component::Normal(name) => joined.push(name),
            Component::CurDir => {}
            Component::ParentDir if joined.pop() => {}
            _ => return Err(bad("it is outside the repository")),
        }
    }
    let literal = bytes_of_utf8_path(&joined);
    let text = by_bytes(&literal);
    let special = !magic.literal && text.contains(['*', '?', '[', '\\']);
    let glob = if special {
        let options = MatchOptions {
            case_sensitive: !magic.icase,
            require_literal_separator: magic.glob,
            require_literal_leading_dot: false,
        };
        let translated = translate(&text, magic.glob);
        Some((Pattern::new(&translated).map_err(|e| bad(e.msg))?, options))
    } else {
        None
    };
    Ok(Item { exclude: magic.exclude, icase: magic.icase, literal, glob })
}

/// Returns a text with a character for each byte: `?` and `[...]` stand for one byte, as in git.
fn by_bytes(path: &[u8]) -> String {
    path.iter().map(|&byte| char::from(byte)).collect()
}

/// Splits the magic off a pattern.
fn parse_magic(pattern: &str) -> std::result::Result<(Magic, &str), String> {
    let mut magic = Magic::default();
    let Some(rest) = pattern.strip_prefix(':') else { return Ok((magic, pattern)) };
    if let Some(long) = rest.strip_prefix('(') {
        let (words, path) = long.split_once(')').ok_or("')' is missing")?;
        for word in words.split(',').filter(|w| !w.is_empty()) {
            match word {
                "top" => magic.top = true,
                "exclude" => magic.exclude = true,
                "icase" => magic.icase = true,
                "glob" => magic.glob = true,
                "literal" => magic.literal = true,
                other => return Err(format!("the magic '{other}' is not supported")),
            }
        }
        if magic.glob && magic.literal {
            return Err("'glob' and 'literal' are incompatible".to_owned());
        }
        return Ok((magic, path));
    }
    let mut path = rest;
    loop {
        match path.chars().next() {
            Some('/') => magic.top = true,
            Some('!' | '^') => magic.exclude = true,
            Some(':') => return Ok((magic, &path[1..])),
            _ => return Ok((magic, path)),
        }
        path = &path[1..];
    }
}

/// Rewrites git's globs for the `glob` crate: `\x` is `[x]`, `[^` is `[!`, and `**` is only special
/// as a whole component of a `:(glob)` pattern.
fn translate(text: &str, whole_components: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut previous = '/';
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(quoted @ ('*' | '?' | '[' | ']')) => out.extend(['[', quoted, ']']),
                Some(quoted) => out.push(quoted),
                None => out.push('\\'),
            },
            '[' => {
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('!');
                }
            }
            '*' => {
                let mut stars = 1;
                while chars.next_if_eq(&'*').is_some() {
                    stars += 1;
                }
                let alone = previous == '/' && matches!(chars.peek(), None | Some('/'));
                out.push_str(if whole_components && stars > 1 && alone { "**" } else { "*" });
            }
            other => out.push(other),
        }
        previous = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &[&str], prefix: &str, expected: &[&str]) {
        let spec = Pathspec::new(patterns, Path::new(prefix)).expect("patterns");
        let all = ["Makefile", "a.c", "src/a.c", "src/b[1].h", "src/deep/a.c", "srcx/a.h"];
        let found: Vec<&str> = all.into_iter().filter(|p| spec.matches(Path::new(p))).collect();
        assert_eq!(found, expected, "{patterns:?}");
    }

    #[test]
    fn patterns_mean_what_git_means() {
        check(&["src"], "", &["src/a.c", "src/b[1].h", "src/deep/a.c"]);
        check(&["src/"], "", &["src/a.c", "src/b[1].h", "src/deep/a.c"]);
        check(&["*.c"], "", &["a.c", "src/a.c", "src/deep/a.c"]);
        check(&["a.c"], "src", &["src/a.c"]);
        check(&["../a.c"], "src", &["a.c"]);
        check(&["."], "src/deep", &["src/deep/a.c"]);
        check(&[":/a.c"], "src", &["a.c"]);
        check(&[":(glob)src/*.c"], "", &["src/a.c"]);
        check(&[":(glob)src/**/a.c"], "", &["src/a.c", "src/deep/a.c"]);
        check(&["src/**"], "", &["src/a.c", "src/b[1].h", "src/deep/a.c"]);
        check(&[":(icase)MAKEFILE"], "", &["Makefile"]);
        check(&[":(literal)src/b[1].h"], "", &["src/b[1].h"]);
        check(&["src/b\\[1].h"], "", &["src/b[1].h"]);
        check(&["src", ":!src/deep"], "", &["src/a.c", "src/b[1].h"]);
        check(&[":(exclude)*.c"], "", &["Makefile", "src/b[1].h", "srcx/a.h"]);
    }

    #[test]
    fn what_is_not_supported_is_said() {
        for (pattern, reason) in [
            ("../x", "it is outside the repository"),
            (":(attr:x)a", "the magic 'attr:x' is not supported"),
            (":(top", "')' is missing"),
        ] {
            let error = Pathspec::new([pattern], Path::new("")).expect_err("an error");
            assert_eq!(error.to_string(), format!("bad path pattern '{pattern}': {reason}"));
        }
    }
}
