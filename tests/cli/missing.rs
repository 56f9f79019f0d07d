//! `doctor REVISION`: what a revision lacks, and advice that was tried.

use crate::support::TempRepo;

#[track_caller]
fn doctor(repo: &TempRepo, words: &str) -> String {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.args(["doctor", "HEAD"]).args(words.split_whitespace()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{words}\n{out}\n{err}");
    assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{out}");
    out.into_owned()
}

#[test]
fn doctor_names_the_folder_of_a_header_that_two_have() {
    let repo = TempRepo::new()
        .file("src/a.c", "#include <cfg.h>\nint f(T *t) { return t->a; }\nint g(void) { return 1; }\n")
        .file("one/cfg.h", "typedef struct { int b; } U;\n")
        .file("two/cfg.h", "typedef struct { int a; } T;\n")
        .commit("one");
    let out = doctor(&repo, "");
    assert!(out.contains("1 of 2 functions whole\n"), "{out}");
    let advice = "header cfg.h, of that name: one/cfg.h and 1 more\n           c: {include_dirs: [two]}\n           \
                  1 of 2 functions whole -> 2\n";
    assert!(out.contains(advice), "{out}");
    // The line does what it says.
    let repo = repo.file(".invdiff.yaml", "c: {include_dirs: [two]}\n").commit("two");
    assert!(doctor(&repo, "").ends_with(": 2 of 2 functions whole\n"));
}

#[test]
fn doctor_finds_macros_in_build_files() {
    let source = "#ifdef WITH_T\ntypedef struct { int a; } T;\n#endif\nint f(T *t) { return t->a; }\n\
                  const char *v(void) { return \"v\" VERSION; }\n";
    let repo = TempRepo::new()
        .file("a.c", source)
        .file("Makefile", "CFLAGS += -DWITH_T -DVERSION=\\\"$(V)\\\" -DOTHER\n")
        .commit("one");
    let json: serde_json::Value = serde_json::from_str(&doctor(&repo, "--json")).unwrap();
    let together = &json["together"];
    assert_eq!(together["line"], r#"c: {defines: {VERSION: "\"VERSION\"", WITH_T: 1}}"#, "{json}");
    assert_eq!((&together["before"]["whole"], &together["after"]["whole"]), (&0.into(), &2.into()), "{json}");
    assert_eq!(json["schema"], "invdiff/1");
}

#[test]
fn doctor_advises_nothing_that_does_not_help() {
    let repo = TempRepo::new()
        .file("a.c", "#include <gone\u{1b}.h>\nint f(T *t) { return t->a; }\n#ifdef ELSE\n#endif\n")
        .file("CMakeLists.txt", "add_definitions(-DELSE)\n")
        .commit("one");
    let out = doctor(&repo, "");
    assert!(
        out.contains("nowhere in the tree") && out.contains("no line of configuration that was tried helps"),
        "{out}"
    );
    assert!(!out.contains("c: {"), "{out}");
}
