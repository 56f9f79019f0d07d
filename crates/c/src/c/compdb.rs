//! A compilation database (`compile_commands.json`): macros and include folders, file by file.
//!
//! Commands are read as text and never run; of what a shell would do with one only quotes and backslashes are
//! understood. Of its options those count that decide what the preprocessor reads: `-D`, `-U`, `-I`, `-iquote` and
//! `-isystem`. Paths of the machine become paths of the tree: what is not below the work tree's top is passed over,
//! for no revision has it.

use super::parse::FileOptions;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Bytes of the largest database that is read.
pub const LARGEST: u64 = 64 << 20;

/// One command, as it is written; further members are nobody's here.
#[derive(Deserialize)]
struct Entry {
    file: Option<String>,
    directory: Option<String>,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Where a database stands.
pub struct Ground<'g> {
    /// Top of the work tree, absolute; without one nothing is in the tree.
    pub top: Option<PathBuf>,
    /// The database's own folder, absolute: what paths are relative to where no entry says.
    pub folder: PathBuf,
    /// Where a folder really is, links followed; `None` where there is none.
    pub real: &'g dyn Fn(&Path) -> Option<PathBuf>,
}

/// What a database says of the files of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compdb {
    pub files: BTreeMap<PathBuf, Arc<FileOptions>>,
    /// Entries, of whatever kind.
    pub entries: usize,
    /// Files outside the tree, with the first one's path.
    pub outside: Passed,
    /// Further entries for a file that has one: the first counts.
    pub repeated: Passed,
    /// Entries that name no file.
    pub nameless: usize,
    /// Response files (`@FILE`), which are not read.
    pub responses: Passed,
}

/// Things that were passed over: how many, and the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    pub count: usize,
    pub first: String,
}

impl Passed {
    fn add(&mut self, what: &str) {
        if self.count == 0 {
            what.clone_into(&mut self.first);
        }
        self.count += 1;
    }
}

/// Reads a database.
///
/// Errors: what is wrong with the JSON, with line and column. Cost: linear in the text.
pub fn read(text: &[u8], ground: &Ground<'_>) -> Result<Compdb, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let entries: Vec<Entry> = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    let mut found = Compdb { entries: entries.len(), ..Compdb::default() };
    let mut places = Places { ground, real: BTreeMap::new() };
    // Most files of a folder are compiled alike.
    let mut kept: BTreeMap<FileOptions, Arc<FileOptions>> = BTreeMap::new();
    for entry in entries {
        let Some(file) = entry.file.filter(|f| !f.is_empty()) else {
            found.nameless += 1;
            continue;
        };
        let directory = ground.folder.join(entry.directory.unwrap_or_default());
        let Some(path) = places.in_tree(&directory, &file).filter(|p| p.file_name().is_some()) else {
            found.outside.add(&file);
            continue;
        };
        if found.files.contains_key(&path) {
            found.repeated.add(&file);
            continue;
        }
        let words = entry.arguments.unwrap_or_else(|| words(&entry.command.unwrap_or_default()));
        words.iter().filter(|w| w.starts_with('@')).for_each(|w| found.responses.add(w));
        let options = options(&words, &mut |folder| places.in_tree(&directory, folder));
        let options = match kept.get(&options) {
            Some(known) => known.clone(),
            None => kept.entry(options.clone()).or_insert(Arc::new(options)).clone(),
        };
        found.files.insert(path, options);
    }
    Ok(found)
}

/// Paths of the machine as paths of the tree.
struct Places<'g> {
    ground: &'g Ground<'g>,
    /// Folders outside the tree, with where they really are.
    real: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Places<'_> {
    /// Returns the path in the tree of what `text` names in `directory`; `None` outside the tree. Its top is the
    /// empty path.
    fn in_tree(&mut self, directory: &Path, text: &str) -> Option<PathBuf> {
        let top = self.ground.top.as_deref()?;
        let path = absolute(&directory.join(text))?;
        if let Ok(inside) = path.strip_prefix(top) {
            return Some(inside.to_path_buf());
        }
        // A link may lead into the tree.
        let folder = path.parent()?;
        let ask = self.ground.real;
        let real = self.real.entry(folder.to_path_buf()).or_insert_with(|| ask(folder)).clone()?;
        let path = real.join(path.file_name()?);
        Some(path.strip_prefix(top).ok()?.to_path_buf())
    }
}

/// Resolves `.` and `..` textually; `None` for a path that is not absolute or holds a NUL.
fn absolute(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return None;
    }
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    Some(out)
}

/// Splits a command as a shell does, with quotes and backslashes; nothing is expanded. A quote that is never closed
/// ends with the text.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = command.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            // Between double quotes a backslash stands for itself, but before these.
            (Some(_), '\\') => match rest.next_if(|c| matches!(c, '"' | '\\' | '$' | '`' | '\n')) {
                Some('\n') => {}
                escaped => word.get_or_insert_default().push(escaped.unwrap_or('\\')),
            },
            (None, '\\') => match rest.next() {
                Some('\n') => {}
                escaped => word.get_or_insert_default().push(escaped.unwrap_or('\\')),
            },
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Options whose value is a word of its own that is no option, whatever it looks like.
const VALUED: [&str; 22] = [
    "-o",
    "-x",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-imacros",
    "-idirafter",
    "-isysroot",
    "-iprefix",
    "-arch",
    "-target",
    "-Xclang",
    "-Xpreprocessor",
    "-Xlinker",
    "-Xassembler",
    "-L",
    "-l",
    "-T",
    "-B",
    "-u",
    "--param",
];

/// Options with a folder or a macro, which is a part of the word or the next one; longer names first.
const READ: [(&str, Kind); 8] = [
    ("--include-directory", Kind::Folder),
    ("--define-macro", Kind::Define),
    ("--undefine-macro", Kind::Undefine),
    ("-isystem", Kind::System),
    ("-iquote", Kind::Quote),
    ("-I", Kind::Folder),
    ("-D", Kind::Define),
    ("-U", Kind::Undefine),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Define,
    Undefine,
    Folder,
    Quote,
    System,
}

/// Reads the options of one command, the compiler's name first. `in_tree` says which folder of the tree a name means.
fn options(words: &[String], in_tree: &mut dyn FnMut(&str) -> Option<PathBuf>) -> FileOptions {
    let mut options = FileOptions::default();
    let mut words = words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if VALUED.contains(&word) {
            words.next();
            continue;
        }
        // What the compiler hands on to its preprocessor.
        if let Some(handed) = word.strip_prefix("-Wp,") {
            let mut handed = handed.split(',');
            while let Some(word) = handed.next() {
                let next = &mut || handed.next();
                one(word, next, &mut options, in_tree);
            }
            continue;
        }
        one(word, &mut || words.next(), &mut options, in_tree);
    }
    options
}

/// Reads one option; `next` gives the word behind it.
fn one<'w>(
    word: &'w str,
    next: &mut dyn FnMut() -> Option<&'w str>,
    options: &mut FileOptions,
    in_tree: &mut dyn FnMut(&str) -> Option<PathBuf>,
) {
    let known = READ.iter().find_map(|(name, kind)| Some((*kind, name, word.strip_prefix(name)?)));
    let Some((kind, name, value)) = known else { return };
    let value = if name.starts_with("--") { value.strip_prefix('=').unwrap_or(value) } else { value };
    let Some(value) = (if value.is_empty() { next() } else { Some(value) }) else { return };
    let folders = match kind {
        Kind::Define => {
            let (name, text) = value.split_once('=').map_or((value, None), |(n, v)| (n, Some(v)));
            // The compiler, too, ends a macro with its line.
            let text = text.map(|t| t.split(['\n', '\r', '\0']).next().unwrap_or_default().to_owned());
            if is_macro(name) {
                options.define(name, text);
            }
            return;
        }
        Kind::Undefine => {
            if is_macro(value) {
                options.undefine(value);
            }
            return;
        }
        Kind::Folder => &mut options.include_dirs,
        Kind::Quote => &mut options.quote_dirs,
        Kind::System => &mut options.system_dirs,
    };
    // A folder that is named twice is searched where it is named first.
    if let Some(folder) = in_tree(value).filter(|f| !folders.contains(f)) {
        folders.push(folder);
    }
}

/// Returns whether a text is a macro's name, with or without parameters.
fn is_macro(text: &str) -> bool {
    let (name, parameters) = text.split_once('(').map_or((text, None), |(n, p)| (n, Some(p)));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let is_list = |p: &str| p.chars().all(|c| is_word(c) || matches!(c, ',' | '.' | ' '));
    name.starts_with(|c: char| !c.is_ascii_digit())
        && name.chars().all(is_word)
        && parameters.is_none_or(|p| p.strip_suffix(')').is_some_and(is_list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_words(command: &str, expected: &[&str]) {
        assert_eq!(words(command), expected, "{command}");
    }

    #[test]
    fn commands_are_split_as_a_shell_does() {
        check_words("", &[]);
        check_words("  cc  -c\ta.c\n", &["cc", "-c", "a.c"]);
        check_words(r#"cc "-DA=a b" '-DB=c d' -DC=e\ f"#, &["cc", "-DA=a b", "-DB=c d", "-DC=e f"]);
        check_words(r#"-DS=\"x\" -DT="\"y\"" '-DU="z"'"#, &["-DS=\"x\"", "-DT=\"y\"", "-DU=\"z\""]);
        check_words(r#""a\nb\\c" 'a\b' d""e '' "#, &["a\\nb\\c", "a\\b", "de", ""]);
        check_words("a\\\nb $HOME `id` $(id)", &["ab", "$HOME", "`id`", "$(id)"]);
        check_words("'never closed", &["never closed"]);
        check_words("ends\\", &["ends\\"]);
    }

    /// Reads a database of one entry in `/w/build` of the work tree `/w`.
    fn of(command: &str) -> FileOptions {
        let text = serde_json::json!([{"directory": "/w/build", "file": "../a.c", "command": command}]);
        let found = read(text.to_string().as_bytes(), &ground(&|_| None)).unwrap();
        (*found.files[Path::new("a.c")]).clone()
    }

    fn ground<'g>(real: &'g dyn Fn(&Path) -> Option<PathBuf>) -> Ground<'g> {
        Ground { top: Some("/w".into()), folder: "/w/build".into(), real }
    }

    #[track_caller]
    fn check_macros(command: &str, defines: &[(&str, Option<&str>)], undefines: &[&str]) {
        let found = of(command);
        let got: Vec<_> = found.defines.iter().map(|(n, v)| (n.as_str(), v.as_deref())).collect();
        assert_eq!(
            (got, found.undefines),
            (defines.to_vec(), undefines.iter().map(|u| u.to_string()).collect())
        );
    }

    #[test]
    fn macros_come_from_every_form_of_their_options() {
        check_macros(
            "cc -DA -D B=2 -DC= -DS=\\\"x\\\" ../a.c",
            &[("A", None), ("B", Some("2")), ("C", Some("")), ("S", Some("\"x\""))],
            &[],
        );
        check_macros(
            "cc -UA --define-macro=B=1 -U B '-DF(x, y)=x=y'",
            &[("F(x, y)", Some("x=y"))],
            &["A", "B"],
        );
        check_macros("cc -DA=1 -UA -UB -DB -DB=3", &[("B", Some("3"))], &["A"]);
        check_macros("cc -Wp,-DA=1,-MD,x.d", &[("A", Some("1"))], &[]);
        // Values of other options, and what is behind the options.
        check_macros("cc -o -DA -MF -DB -include -DC -- -DD", &[], &[]);
        check_macros("-DFIRST -D1 -D -DX -D'a b' -DOK '-DL=1\n2'", &[("OK", None), ("L", Some("1"))], &[]);
        check_macros("cc -D", &[], &[]);
    }

    #[test]
    fn folders_are_those_of_the_tree() {
        let found =
            of("cc -I.. -I ../include -I/w/lib/./x/.. -I/usr/include -I../.. -iquote../q -isystem /w/s \
                        -I../include --include-directory=/w/more");
        let paths = |of: &[&str]| of.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(found.include_dirs, paths(&["", "include", "lib", "more"]));
        assert_eq!((found.quote_dirs, found.system_dirs), (paths(&["q"]), paths(&["s"])));
    }

    #[test]
    fn entries_that_are_of_no_use_are_counted() {
        let text = r#"[{"file": "/w/a.c", "arguments": ["cc", "-DA", "@more"]},
            {"file": "/w/./a.c", "arguments": ["cc", "-DB"]}, {"directory": "/w"}, {"file": "/usr/b.c"},
            {"file": "b.c", "directory": "/link", "output": 3}, {"file": "c.c", "directory": "/gone"}, {"file": "/w"}]"#;
        let real = |folder: &Path| (folder == Path::new("/link")).then(|| PathBuf::from("/w/src"));
        let found = read(text.as_bytes(), &ground(&real)).unwrap();
        let names: Vec<_> = found.files.keys().map(|p| p.to_str().unwrap()).collect();
        assert_eq!(names, ["a.c", "src/b.c"]);
        assert_eq!(found.files[Path::new("a.c")].defines, [("A".to_owned(), None)]);
        let passed = |count, first: &str| Passed { count, first: first.to_owned() };
        assert_eq!(found.outside, passed(3, "/usr/b.c"));
        assert_eq!((found.repeated, found.responses), (passed(1, "/w/./a.c"), passed(1, "@more")));
        assert_eq!((found.entries, found.nameless), (7, 1));
    }

    #[test]
    fn what_is_no_database_is_refused_with_its_place() {
        let broken = |text: &str| read(text.as_bytes(), &ground(&|_| None)).unwrap_err();
        assert!(
            broken("[\n {\"file\": \"a.c\",}]").ends_with("at line 2 column 17"),
            "{}",
            broken("[\n {\"file\": \"a.c\",}]")
        );
        assert!(broken("").contains("line 1 column 0"));
        assert!(broken("{}").contains("line 1"));
        assert!(broken("[{\"file\": 3}]").contains("line 1 column 11"));
        assert!(broken(&"[".repeat(1000)).contains("line 1"));
        assert!(read(b"[{\"file\": \"\xff\"}]", &ground(&|_| None)).is_err());
    }
}
