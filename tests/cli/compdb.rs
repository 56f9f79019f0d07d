//! `--compdb`: macros and include folders of single files, from a database that is never trusted nor run.

use crate::support::TempRepo;

/// Two commits: what the second changes in `a.c` is active only with `FEATURE`, and needs a folder.
fn repo() -> TempRepo {
    let source = |text: &str| {
        format!(
            "#include <limit.h>\nint f(int x)\n{{\n#ifdef FEATURE\n    return x + {text};\n#else\n    return LIMIT;\n#endif\n}}\n"
        )
    };
    let repo = TempRepo::new()
        .file("src/a.c", source("1"))
        .file("headers/limit.h", "#define LIMIT 7\n")
        .file("other/limit.h", "#define LIMIT 8\n")
        .commit("one");
    repo.file("src/a.c", source("2")).commit("two")
}

/// A database in `build/`, whose first entry is `command` for `src/a.c`.
fn write(repo: &TempRepo, name: &str, command: &str, more: &str) {
    let build = repo.path().join("build");
    let entry = serde_json::json!({"directory": build, "file": "../src/a.c", "command": command});
    repo.write(format!("build/{name}"), format!("[{entry}{more}]"));
}

/// Runs the program, checks its exit code, and returns both streams.
#[track_caller]
fn run(repo: &TempRepo, words: &str, code: i32) -> (String, String) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.args(words.split_whitespace()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}\n{out}\n{err}");
    assert!(!err.chars().any(|c| c.is_control() && c != '\n'), "{words}\n{err}");
    (out, err)
}

#[test]
fn branches_are_active_as_the_compdb_says() {
    let repo = repo();
    let file = "--compdb build/compile_commands.json HEAD~1..HEAD";
    write(&repo, "compile_commands.json", "cc -DFEATURE -I../headers -c ../src/a.c", "");
    let (plain, _) = run(&repo, "HEAD~1..HEAD", 0);
    assert!(plain.contains("under FEATURE") && !plain.contains("\\result == x + 2"), "{plain}");
    let (out, err) = run(&repo, file, 0);
    assert!(!out.contains("under FEATURE") && out.contains("\\result == x + 2"), "{out}");
    assert_eq!(err, "");
    // From the cache, and then by another database at the same place.
    let cached =
        |out: &str| serde_json::from_str::<serde_json::Value>(out).unwrap()["cost"]["nodes_visited"] == 0;
    let json = format!("--json {file}");
    assert!(cached(&run(&repo, &json, 0).0));
    write(&repo, "compile_commands.json", "cc -DOTHER -c ../src/a.c", "");
    assert!(run(&repo, file, 0).0.contains("under FEATURE"));
    // What is said on the command line wins.
    write(&repo, "compile_commands.json", "cc -DFEATURE -c ../src/a.c", "");
    assert!(!run(&repo, &format!("-UFEATURE {file}"), 0).0.contains("x + 2"));
    // From elsewhere, where a relative path is the current directory's.
    let (out, _) = run(&repo, "-C src --compdb ../build/compile_commands.json HEAD~1..HEAD", 0);
    assert!(out.contains("\\result == x + 2"), "{out}");
}

#[test]
fn folders_of_the_compdb_count_for_blame_and_coverage_too() {
    let repo = repo();
    write(&repo, "db", "cc -DFEATURE -I../other -c ../src/a.c", "");
    let (out, _) = run(&repo, "--compdb build/db blame src/a.c:f", 0);
    assert!(out.contains("\\result == x + 2"), "{out}");
    let (out, _) = run(&repo, "--compdb build/db doctor --coverage --json", 0);
    let coverage: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&coverage["functions"], &coverage["rest_on_guesses"]), (&1.into(), &0.into()));
    // Without it, two folders are equally near.
    let (out, _) = run(&repo, "doctor --coverage --json", 0);
    let coverage: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(coverage["rest_on_guesses"], 1, "{out}");
}

#[test]
fn the_configuration_names_one_too() {
    let repo = repo();
    write(&repo, "db.json", "cc -DFEATURE -c ../src/a.c", "");
    let changed = "\\result == x + 2";
    assert!(run(&repo, "-C src HEAD~1..HEAD", 0).0.contains("under FEATURE"));
    repo.git(["config", "invdiff.compdb", "build/db.json"]);
    assert!(run(&repo, "-C src HEAD~1..HEAD", 0).0.contains(changed));
    repo.git(["config", "invdiff.compdb", "build/gone.json"]);
    let (_, err) = run(&repo, "HEAD~1..HEAD", 128);
    assert!(err.contains("build/gone.json: No such file or directory"), "{err}");
    repo.git(["config", "--unset", "invdiff.compdb"]);

    // The project's own: one that another machine lacks is no obstacle, one outside the tree is refused.
    let asked = |name: &str| {
        repo.write("policy.yaml", format!("c: {{compdb: {name}}}\n"));
        "--config policy.yaml HEAD~1..HEAD"
    };
    assert!(run(&repo, asked("build/db.json"), 0).0.contains(changed));
    let (_, err) = run(&repo, asked("build/gone.json"), 0);
    assert!(err.contains("warning: .invdiff.yaml: c.compdb: no such file: build/gone.json"), "{err}");
    for outside in ["/etc/passwd", "../db.json", "''"] {
        let (_, err) = run(&repo, asked(outside), 128);
        assert!(err.contains("is no path below the top of the tree"), "{err}");
    }
    std::os::unix::fs::symlink("/etc/passwd", repo.path().join("build/link.json")).unwrap();
    let (_, err) = run(&repo, asked("build/link.json"), 128);
    assert!(err.contains("a link leads out of the work tree") && !err.contains("root"), "{err}");
}

#[test]
fn a_broken_compdb_is_named_with_its_place() {
    let repo = repo();
    let broken = |text: &str, said: &str| {
        repo.write("db.json", text);
        let (out, err) = run(&repo, "--compdb db.json HEAD~1..HEAD", 128);
        assert_eq!(out, "");
        assert!(err.starts_with("fatal: --compdb: db.json: ") && err.contains(said), "{err}");
    };
    broken("[\n{\"file\": \"a.c\"\n", "line 3 column 0");
    broken("", "line 1 column 0");
    broken("{}", "line 1 column 0");
    broken("[{\"file\": [\"\u{1b}\"]}]", "line 1");
    broken("[3]", "line 1 column 2");
    let (_, err) = run(&repo, "--compdb gone.json HEAD~1..HEAD", 128);
    assert!(err.contains("gone.json: No such file or directory"), "{err}");
    let (_, err) = run(&repo, "--compdb src HEAD~1..HEAD", 128);
    assert!(err.contains("src: not a regular file"), "{err}");
    // Sparse: nothing is written, and no more than the bound is read.
    std::fs::File::create(repo.path().join("huge.json")).unwrap().set_len(8 << 30).unwrap();
    let (_, err) = run(&repo, "--compdb huge.json HEAD~1..HEAD", 128);
    assert!(err.contains("huge.json: more than 64 MB"), "{err}");
}

#[test]
fn entries_of_no_use_are_said_once() {
    let repo = repo();
    let more = r#", {"file": "/usr/src/x\u001b.c", "command": "touch /tmp/ran"}, {"file": "/usr/src/y.c"}, {"directory": "/"},
        {"file": "../src/./a.c", "arguments": ["cc", "-DFEATURE"]}"#;
    write(&repo, "db.json", "$(touch ran) `touch ran` @more -c ../src/a.c", more);
    let (out, err) = run(&repo, "--compdb build/db.json HEAD~1..HEAD", 0);
    let said = "warning: build/db.json: of 5 entries passed over: 2 outside the work tree (first: /usr/src/x\\x1b.c), \
                1 without a file\n";
    assert_eq!(err, said);
    assert!(out.contains("under FEATURE"), "{out}");
    let (_, err) = run(&repo, "-v --compdb build/db.json HEAD~1..HEAD", 0);
    assert!(
        err.contains("1 further entries for a file that has one: the first counts (first: ../src/./a.c)"),
        "{err}"
    );
    assert!(err.contains("1 response files, which are not read (first: @more)"), "{err}");
    let (_, err) = run(&repo, "-q --compdb build/db.json HEAD~1..HEAD", 0);
    assert_eq!(err, "");
    assert!(!repo.path().join("ran").exists());
}
