//! How the house is built: files that import each other in a circle are few, and rooms never do; no structure has
//! many fields, but for those that are a command line's arguments.
//!
//! A *circle* is a strongly connected component of the files of a crate by their imports: `use` declarations, and
//! paths from `crate` or `super` in code; of what another file re-exports the file that has it is meant. Tests,
//! comments and literals are left out, and so is what a method call leads to. *Rooms* are the top-level modules of
//! [`HOUSES`]; every other crate is one room.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files that may be in one circle.
const MOST: usize = 5;
/// Fields that a structure may have.
const FIELDS: usize = 16;
/// Crates whose top-level modules are rooms.
const HOUSES: [&str; 4] = ["git-invdiff", "engine", "git", "c"];

/// A module, or a path, by the names that lead to it: of a module the crate's first.
type Names = Vec<String>;
type Sources = BTreeMap<Names, String>;
type Edges = BTreeMap<Names, BTreeSet<Names>>;

/// Reads the sources below a folder, by module.
fn read(folder: &Path, module: &[String], found: &mut Sources) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let below = |name: &str| [module, &[name.to_owned()]].concat();
        match name.strip_suffix(".rs") {
            _ if name == "tests" || name == "tests.rs" => {}
            None if path.is_dir() => read(&path, &below(&name), found),
            None => {}
            Some(stem) => {
                let own = if ["mod", "lib", "main"].contains(&stem) { module.to_vec() } else { below(stem) };
                *found.entry(own).or_default() += &std::fs::read_to_string(&path).expect("a text");
            }
        }
    }
}

/// Words, `::` and signs of a source, but for comments and literals.
fn tokens(text: &str) -> Names {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut rest) = (Names::new(), text);
    while let Some(first) = rest.chars().next() {
        let behind = |from: usize, end: &str| {
            rest.get(from..).and_then(|r| r.find(end)).map_or(rest.len(), |k| from + k + end.len())
        };
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let hashes = rest.get(1..).map_or(0, |r| r.len() - r.trim_start_matches('#').len());
        let is_escaped = |k: usize| rest[..k].bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
        let (end, is_token) = match first {
            '/' if rest.starts_with("//") => (behind(2, "\n"), false),
            '/' if rest.starts_with("/*") => (behind(2, "*/"), false),
            'r' if rest[1 + hashes..].starts_with('"') => {
                (behind(2 + hashes, &format!("\"{}", &rest[1..=hashes])), false)
            }
            '"' => {
                let end = rest.match_indices('"').map(|(k, _)| k).find(|k| *k > 0 && !is_escaped(*k));
                (end.map_or(rest.len(), |k| k + 1), false)
            }
            '\'' if rest.starts_with("'\\") => (behind(3, "'"), false),
            '\'' if rest.chars().nth(2) == Some('\'') => (behind(1, "'"), false),
            _ if word > 0 => (word, true),
            ':' if rest.starts_with("::") => (2, true),
            _ => (first.len_utf8(), !first.is_whitespace()),
        };
        found.extend(is_token.then(|| rest[..end].to_owned()));
        rest = &rest[end..];
    }
    found
}

/// Leaves out what follows `#[cfg(test)]`: up to its `;`, or to the end of its braces.
fn without_tests(tokens: &[String]) -> Names {
    let (mut found, mut at) = (Names::new(), 0);
    while let Some(token) = tokens.get(at) {
        if tokens[at..].iter().take(7).eq(["#", "[", "cfg", "(", "test", ")", "]"]) {
            let mut depth = 0;
            let ends = |t: &String| {
                depth += i32::from(t == "{") - i32::from(t == "}");
                depth == 0 && (t == ";" || t == "}")
            };
            at += tokens[at..].iter().position(ends).unwrap_or(tokens.len());
        } else {
            found.push(token.clone());
        }
        at += 1;
    }
    found
}

/// The paths of a tree of `use`.
fn expand(tree: &[String], before: &[String]) -> Vec<Names> {
    let is_name = |t: &&String| *t != "::" && (*t != "self" || before.is_empty());
    let words = |part: &[String]| part.iter().filter(is_name).cloned().collect::<Names>();
    let Some(open) = tree.iter().position(|t| t == "{") else {
        return vec![[before, &words(tree.split(|t| t == "as").next().unwrap_or_default())].concat()];
    };
    let before = [before, &words(&tree[..open])].concat();
    let mut depth = 0;
    let parts = tree[open + 1..tree.len() - 1].split(|t| {
        depth += i32::from(t == "{") - i32::from(t == "}");
        depth == 0 && t == ","
    });
    parts.filter(|part| !part.is_empty()).flat_map(|part| expand(part, &before)).collect()
}

/// The paths that a source imports, and those of what it gives to others.
fn imports(text: &str) -> (Vec<Names>, Vec<Names>) {
    let tokens = without_tests(&tokens(text));
    let (mut imported, mut given, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).map_or("", |k| &tokens[k]);
        let (rest, mut length) = (&tokens[at..], 1);
        // `impl Trait + use<>` imports nothing.
        if token == "use" && rest.get(1).is_some_and(|t| t != "<") {
            length = rest.iter().position(|t| t == ";").unwrap_or(rest.len());
            let paths = expand(&rest[1..length], &[]);
            if matches!(before, "pub" | ")") { given.extend(paths) } else { imported.extend(paths) }
        // Where something is visible (`pub(in crate::a)`) is no import.
        } else if (token == "crate" || token == "super") && before != "in" {
            let more = rest[1..].chunks(2).take_while(|c| c[0] == "::" && c.len() == 2).count();
            imported.extend((more > 0).then(|| rest.iter().step_by(2).take(more + 1).cloned().collect()));
            length += 2 * more;
        }
        at += length;
    }
    (imported, given)
}

/// A path from the crate on, if it leads into the crate.
fn absolute(path: &[String], me: &[String], sources: &Sources) -> Option<Names> {
    let supers = path.iter().take_while(|p| *p == "super").count();
    match path.first()?.as_str() {
        "crate" => Some([&me[..1], &path[1..]].concat()),
        "self" => Some([me, &path[1..]].concat()),
        "super" => Some([me.get(..me.len().checked_sub(supers)?)?, &path[supers..]].concat()),
        _ => Some([me, path].concat()).filter(|_| sources.contains_key(&[me, &path[..1]].concat())),
    }
}

/// Which files import which.
fn edges(sources: &Sources) -> Edges {
    let all: Vec<(&Names, _)> = sources.iter().map(|(me, text)| (me, imports(text))).collect();
    let mut given: BTreeMap<(&[String], &String), Names> = BTreeMap::new();
    for (me, path) in all.iter().flat_map(|(me, (_, paths))| paths.iter().map(|p| (*me, p))) {
        given.extend(absolute(path, me, sources).map(|to| ((me.as_slice(), &path[path.len() - 1]), to)));
    }
    let file_of = |mut path: Names| {
        // A re-export may lead to another.
        for _ in 0..8 {
            let file = (1..=path.len()).rev().find(|n| sources.contains_key(&path[..*n])).unwrap_or(1);
            match path.get(file).and_then(|name| given.get(&(&path[..file], name))) {
                Some(to) => path = [to, &path[file + 1..]].concat(),
                None => path.truncate(file),
            }
        }
        path
    };
    let of = |me: &Names, imported: &[Names]| {
        let to = imported.iter().filter_map(|path| absolute(path, me, sources)).map(&file_of);
        (me.clone(), to.filter(|to| to != me).collect())
    };
    all.iter().map(|(me, (imported, _))| of(me, imported)).collect()
}

/// The strongly connected components of more than one node.
fn circles<'e>(edges: &'e Edges) -> BTreeSet<Vec<&'e Names>> {
    let reached = |from: &'e Names| -> BTreeSet<&'e Names> {
        let (mut seen, mut work) = (BTreeSet::new(), vec![from]);
        while let Some(m) = work.pop() {
            work.extend(edges.get(m).into_iter().flatten().filter(|to| seen.insert(*to)));
        }
        seen
    };
    let all: BTreeMap<&'e Names, BTreeSet<&'e Names>> = edges.keys().map(|m| (m, reached(m))).collect();
    let is_back = |from: &Names, to: &Names| all.get(to).is_some_and(|reached| reached.contains(from));
    let of = |m: &Names| all[m].iter().copied().filter(|to| is_back(m, to)).collect::<Vec<_>>();
    all.keys().map(|m| of(m)).filter(|circle| circle.len() > 1).collect()
}

/// What is wrong with a crate.
fn faults(name: &str, sources: &Sources) -> Vec<String> {
    let edges = edges(sources);
    let said = |what: &str, circle: &[&Names]| {
        let names: Vec<String> = circle.iter().map(|m| m.join("/")).collect();
        format!("{} {what} in a circle: {}", names.len(), names.join(" "))
    };
    let mut rooms = Edges::new();
    for (from, to) in edges.iter().filter(|(from, _)| HOUSES.contains(&name) && from.len() > 1) {
        let others = to.iter().filter(|to| to.len() > 1 && to[1] != from[1]);
        rooms.entry(from[..2].to_vec()).or_default().extend(others.map(|to| to[..2].to_vec()));
    }
    let large = circles(&edges).into_iter().filter(|c| c.len() > MOST).map(|c| said("files", &c));
    large.chain(circles(&rooms).iter().map(|c| said("rooms", c))).collect()
}

/// How many fields a structure's body has, which begins with its brace.
fn fields(body: &[String]) -> usize {
    let (mut depth, mut count) = (0, 0);
    for token in body {
        depth += i32::from(["{", "(", "["].contains(&token.as_str()));
        depth -= i32::from(["}", ")", "]"].contains(&token.as_str()));
        count += usize::from(depth == 1 && token == ":");
        if depth == 0 {
            break;
        }
    }
    count
}

/// The structures of a source that have too many fields, those of arguments left out.
fn large_structures(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, t)| *t == "struct") {
        let before = tokens[..at].rsplit(|t| t == ";" || t == "}").next().unwrap_or_default();
        let has = |name: &str| before.iter().any(|t| t == name);
        let is_arguments = has("derive") && (has("Args") || has("Parser"));
        let opens = tokens[at..].iter().position(|t| t == "{" || t == ";").map(|k| at + k);
        let count = opens.map_or(0, |k| if tokens[k] == "{" { fields(&tokens[k..]) } else { 0 });
        let is_large = count > FIELDS && !is_arguments;
        found.extend(is_large.then(|| format!("{} has {count} fields", tokens[at + 1])));
    }
    found
}

/// The sources of every crate, by its name.
fn house() -> Vec<(String, Sources)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = std::fs::read_dir(root.join("crates")).expect("the crates").flatten();
    let crates = crates.map(|c| (c.file_name().to_string_lossy().into_owned(), c.path().join("src")));
    // Where there are none, the tests of another crate run.
    let crates = crates.filter(|(_, folder)| folder.is_dir());
    let all = crates.chain([("git-invdiff".to_owned(), root.join("src"))]);
    all.map(|(name, folder)| {
        let mut sources = Sources::new();
        read(&folder, std::slice::from_ref(&name), &mut sources);
        (name, sources)
    })
    .collect()
}

#[test]
fn circles_are_small_and_rooms_have_none() {
    let found: Vec<String> = house().iter().flat_map(|(name, sources)| faults(name, sources)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn structures_have_few_fields() {
    let house = house();
    let sources = house.iter().flat_map(|(_, sources)| sources);
    let of = |(file, text): (&Names, &String)| -> Vec<String> {
        large_structures(text).into_iter().map(|said| format!("{}: {said}", file.join("/"))).collect()
    };
    let found: Vec<String> = sources.flat_map(of).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_large_structure_is_found() {
    let fields =
        |n: usize| (0..n).map(|k| format!("/// One: two.\npub f{k}: a::B<C>,\n")).collect::<String>();
    let of = |derived: &str, n: usize| {
        let odd = "#[serde(rename = \"x: y\")] pub(super) g: Box<dyn Fn(u8, [i8; 3]) -> B>, h: (u8, u8)";
        let text = format!(
            "struct U; {derived} struct S<T: X> where T: Y {{ {}{odd} }} struct V {{ a: u8 }}",
            fields(n)
        );
        large_structures(&text)
    };
    assert_eq!(of("#[derive(Clone, Debug)]", FIELDS - 1), ["S has 17 fields"]);
    assert!(of("#[derive(Clone, Debug)]", FIELDS - 2).is_empty());
    for arguments in ["#[derive(Args)]", "#[derive(Debug, Parser)]\n#[command(about)]"] {
        assert!(of(arguments, FIELDS).is_empty());
    }
    assert_eq!(of("struct Args { a: u8 }", FIELDS).len(), 1);
}

/// An invented crate's files, and what is wrong with it.
#[track_caller]
fn check(name: &str, files: &[(&str, &str)], expected: &[&str]) {
    let module = |path: &str| format!("{name}/{path}").split_terminator('/').map(str::to_owned).collect();
    let sources: Sources = files.iter().map(|(path, text)| (module(path), (*text).to_owned())).collect();
    assert_eq!(faults(name, &sources), expected);
}

#[test]
fn a_large_circle_is_found() {
    let ring = [
        ("a", "use super::b::{self, c as d};"),
        ("b", "pub use crate::f::of_f; fn g() { super::c::h(); }"),
        ("b/x", "use super::super::f::{g::{h}, i};"),
        ("c", "use crate::{d::D, x};"),
        ("d", "pub(in crate::a) fn f<'a>(c: &'a crate::e::E) -> char { '\"' }"),
        ("e", "fn f() { let g = \"\\\"\"; crate::b::of_f() }"),
        ("f", "use super::a;"),
    ];
    check("x", &ring, &["6 files in a circle: x/a x/b x/c x/d x/e x/f"]);
    let open = |last| check("x", &[&ring[..6], &[("f", last)]].concat(), &[]);
    open("// use super::a;\nconst A: &str = \"use super::a;\"; const B: &str = r#\"use \"super::a\";\"#;");
    open("#[cfg(test)]\nmod tests { use super::super::a; fn f() { } }\n#[cfg(test)]\nuse crate::a;");
    open("pub(in crate::a) struct F; /* super::a::f() */");
}

#[test]
fn rooms_that_know_each_other_are_found() {
    let rooms = [("up", ""), ("up/x", "use crate::down::y;"), ("down/y", "use crate::up::g;")];
    check("engine", &rooms, &["2 rooms in a circle: engine/down engine/up"]);
    check("x", &rooms, &[]);
    check("engine", &rooms[..2], &[]);
}
