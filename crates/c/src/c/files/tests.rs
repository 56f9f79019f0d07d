//! What an include stands for that no folder has.

use super::*;
use crate::c::Options;
use crate::c::parse::{Parsed, parse};
use crate::history::MemoryTree;

fn check(tree: &[&str], from: &str, asked: &str, found: Option<&str>) {
    let tree = MemoryTree::new(tree.iter().map(|path| (*path, "")));
    let answered = nearest(&tree, Path::new(from), Path::new(asked));
    assert_eq!(answered.as_deref(), found.map(Path::new), "{asked}");
}

#[test]
fn a_header_is_the_copy_of_the_only_file_of_its_name() {
    let api = "src/api/yajl_gen.h";
    check(&[api], "test", "yajl/yajl_gen.h", Some(api));
    check(&[api], "", "Yajl/yajl_gen.h", Some(api));
    check(&[api], "", "./yajl/yajl_gen.h", Some(api));
    check(&["src/lua.h", "src/lualib.h"], "", "lua/lua.h", Some("src/lua.h"));
    check(&["yajl_gen.h"], "src", "include/yajl/yajl_gen.h", Some("yajl_gen.h"));
    // A file whose path ends so comes first, however far away it is.
    check(
        &[api, "other/deep/yajl/yajl_gen.h"],
        "src/api",
        "yajl/yajl_gen.h",
        Some("other/deep/yajl/yajl_gen.h"),
    );
    check(&[api, "inc/yajl/yajl_gen.h.in"], "", "yajl/yajl_gen.h", Some("inc/yajl/yajl_gen.h.in"));
    // It may be made of a file, too.
    let made = "src/api/yajl_version.h.cmake";
    check(&[made], "src", "yajl/yajl_version.h", Some(made));
    check(&[made, "other/yajl_version.h.cmake"], "src", "yajl/yajl_version.h", None);
    // Of several none is.
    check(&[api, "test/yajl_gen.h"], "test", "yajl/yajl_gen.h", None);
}

#[test]
fn a_name_that_may_be_another_projects_is_no_copy() {
    let none = |file: &str, asked: &str| check(&[file], "src", asked, None);
    none("test/task.h", "mach/task.h");
    none("lib/rand.h", "openssl/rand.h");
    none("main/gpio.h", "driver/gpio.h");
    none("src/lualib.h", "lua/lualib.h");
    none("src/yajl_gen.h", "other/yajl_gen.h");
    none("src/yajl_gen.c", "yajl/yajl_gen.c");
    none("src/yajl_gen.h", "../yajl/yajl_gen.h");
    // Folders and headers of the system, whatever they are asked for by.
    none("compat/mach_time.h", "mach/mach_time.h");
    none("compat/sys.h", "sys/sys.h");
    none("compat/net_types.h", "net/net_types.h");
    none("compat/string.h", "string/string.h");
    none("compat/string.h", "string.h");
    none("compat/sys/types.h", "sys/types.h");
    none("compat/types.h", "sys/types.h");
    // What a build settles.
    none("win32/yajl_config.h", "yajl/yajl_config.h");
    none("win32/config.h", "config/config.h");
}

#[test]
fn folders_go_by_other_names() {
    let check = |name: &str, found: &str, asked: &str, expected: &str| {
        let folder = folder(Path::new(name), Path::new(found)).unwrap();
        assert_eq!(in_tree(&folder.join(asked)), Path::new(expected), "{}", folder.display());
    };
    check("b.h", "x/b.h", "c.h", "x/c.h");
    check("in/b.h", "x/in/b.h", "in/c.h", "x/in/c.h");
    check("../b.h", "x/b.h", "c.h", "x/c.h");
    check("lib/lib_b.h", "x/y/lib_b.h", "lib/lib_b.h", "x/y/lib_b.h");
    check("lib/lib_b.h", "x/y/lib_b.h", "lib/../c.h", "x/c.h");
    check("lib/lib_b.h", "x/y/lib_b.h", "lib/in/c.h", "x/y/in/c.h");
    check("lib/lib_b.h", "lib_b.h", "lib/c.h", "c.h");
    check("./lib/lib_b.h", "x/lib_b.h", "./lib/c.h", "x/c.h");
    check("a/lib/lib_b.h", "lib_b.h", "a/lib/c.h", "c.h");
    // Nothing else is there.
    let folder = folder(Path::new("lib/lib_b.h"), Path::new("x/lib_b.h")).unwrap();
    assert!(in_tree(&folder.join("other/lib_b.h")).starts_with(COPIES));
    assert!(in_tree(&folder.join("lib_b.h")).starts_with(COPIES));
}

fn parsed(files: &[(&str, &str)], path: &str) -> Parsed {
    parse(&MemoryTree::new(files.to_vec()), Path::new(path), &Options::default()).unwrap()
}

/// The file in which the unit's item of this number begins.
fn file_of(unit: &Parsed, item: usize) -> PathBuf {
    let token = &unit.tokens[unit.items[item].tokens.start];
    unit.place(token.report_span()).unwrap().file
}

#[test]
fn a_copied_header_finds_those_beside_it() {
    let source = "#include <lib/lib_b.h>\n#include \"../src/api/lib_b.h\"\nint f(struct s *p) { return p->x + p->y + LATE; }\n";
    let header = "#ifndef B\n#define B\n#include \"common.h\"\n#include <lib/lib_c.h>\n#include \"../late.h\"\nstruct s { INT x; int y; };\n#endif\n";
    let unit = parsed(
        &[
            ("test/a.c", source),
            ("test/common.h", "#error\n"),
            ("src/api/lib_b.h", header),
            ("src/api/common.h", "typedef int INT;\n"),
            ("src/api/lib_c.h", "int g(void);\n"),
            ("src/late.h", "#define LATE 1\n"),
            ("late.h", "#error\n"),
        ],
        "test/a.c",
    );
    assert!(unit.is_clean() && unit.invented.names.is_empty(), "{:?}", unit.diagnostics);
    let files = (0..4).map(|item| file_of(&unit, item)).collect::<Vec<_>>();
    assert_eq!(
        files,
        ["src/api/common.h", "src/api/lib_c.h", "src/api/lib_b.h", "test/a.c"].map(PathBuf::from)
    );
}

#[test]
fn a_copied_header_is_made_of_a_template() {
    // Found in yajl 5e3a785: `header yajl/yajl_version.h, nowhere in the tree`.
    let source = "#include <lib/lib_version.h>\nint f(void) { return g(); }\n";
    let header = "#define MAJOR ${LIB_MAJOR}\nint g(void);\n";
    let unit = parsed(&[("test/a.c", source), ("src/api/lib_version.h.cmake", header)], "test/a.c");
    assert_eq!(file_of(&unit, 0), Path::new("src/api/lib_version.h.cmake"));
}

#[test]
fn a_copied_header_that_a_macro_names_is_found() {
    let source = "#define HEADER <lib/lib_b.h>\n#include HEADER\nint f(INT x) { return x; }\n";
    let unit = parsed(&[("test/a.c", source), ("src/api/lib_b.h", "typedef int INT;\n")], "test/a.c");
    assert!(unit.is_clean() && unit.invented.names.is_empty(), "{:?}", unit.diagnostics);
    assert_eq!(file_of(&unit, 0), Path::new("src/api/lib_b.h"));
}

#[test]
fn what_was_found_elsewhere_is_asked_for_again() {
    let source = ("test/a.c", "#include <lib/lib_b.h>\nint f(void) { return B; }\n");
    let (here, there) = (("src/lib_b.h", "#define B 1\n"), ("old/lib_b.h", "#define B 2\n"));
    let trees: [&[(&str, &str)]; 5] =
        [&[source], &[source, here], &[source, here, there], &[source, there], &[source, here, ("c.h", "")]];
    for (i, one) in trees.iter().enumerate() {
        let reads = parsed(one, "test/a.c").reads;
        let alike = trees.map(|other| is_alike(&MemoryTree::new(other.to_vec()), &reads));
        let means = |k: usize| [0, 1, 0, 3, 1][k];
        assert_eq!(alike, [0, 1, 2, 3, 4].map(|k| means(k) == means(i)), "{i}");
    }
}

#[test]
fn all_paths_of_a_name_are_found() {
    let paths: Vec<PathBuf> =
        (0..1_000).map(|i| format!("d{}/e{}/f{}.h", i % 7, i % 90, i % 300).into()).collect();
    let mut sorted = paths.clone();
    sorted.sort();
    let names = Names::new(sorted.clone().into());
    for name in ["f0.h", "f299.h", "f300.h", "a.h", "z.h"] {
        let expected: Vec<&PathBuf> = sorted.iter().filter(|p| p.ends_with(name)).collect();
        assert_eq!(names.named(OsStr::new(name)).collect::<Vec<_>>(), expected);
    }
}
