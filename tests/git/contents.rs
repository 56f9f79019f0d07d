//! What files may be called and hold: paths of any bytes, pathspecs, attributes, line ends, links, modes,
//! renames. The oracle is `git diff`.

use super::state::{Run, divide, json, program_in, three};
use super::*;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const ODD: [&[u8]; 18] = [
    b"sp ace.c",
    b"ta\tb.c",
    b"new\nline.c",
    b"quo\"te.c",
    b"apo's.c",
    b"back\\slash.c",
    b"-dash.c",
    b":colon.c",
    b"\xff\xfe.c",
    "\u{fc}.c".as_bytes(),
    b"*.c",
    b"[x].c",
    b" lead.c",
    b"$(touch x).c",
    b"%s.c",
    b"di r/\xe4.c",
    b"dir/#.c",
    b"~.c",
];

fn os(bytes: &[u8]) -> &std::ffi::OsStr {
    std::ffi::OsStr::from_bytes(bytes)
}

/// Files of odd names, all changed by the last commit.
fn odd() -> TempRepo {
    let mut repo = TempRepo::new();
    for divisor in [2, 4] {
        for name in ODD {
            repo.write(Path::new(os(name)), divide("f", divisor));
        }
        repo = repo.commit("next");
    }
    repo
}

/// The paths in the hunk records of a porcelain output.
fn hunk_paths(bytes: &[u8], end: u8) -> BTreeSet<Vec<u8>> {
    let records = bytes.split(|b| *b == end).filter(|record| record.starts_with(b"hunk\t"));
    records.map(|record| record.splitn(8, |b| *b == b'\t').nth(7).unwrap().to_vec()).collect()
}

fn listed(bytes: &[u8], end: u8) -> BTreeSet<Vec<u8>> {
    bytes.split(|b| *b == end).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

#[test]
fn paths_are_printed_as_git_prints_them() {
    let repo = odd();
    let ours = |z: &[&str]| {
        let output = invdiff(&repo, &[&["--porcelain", "HEAD~1..HEAD"], z].concat());
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        output.stdout
    };
    let git = |z: &[&str]| repo.git_bytes([&["diff", "--name-only", "HEAD~1..HEAD"], z].concat());
    assert_eq!(hunk_paths(&ours(&["-z"]), 0), listed(&git(&["-z"]), 0));
    assert_eq!(hunk_paths(&ours(&[]), b'\n'), listed(&git(&[]), b'\n'));
    assert_eq!(hunk_paths(&ours(&["-z"]), 0).len(), ODD.len());
    let text = invdiff(&repo, &["HEAD~1..HEAD"]);
    assert!(stdout(&text).contains("18 churns in 18 of 18"), "{}", stdout(&text));
}

#[test]
fn every_command_takes_odd_paths() {
    let repo = odd();
    for words in [
        &["notes", "add"][..],
        &["notes", "show"],
        &["check", "HEAD~1..HEAD"],
        &["check", "--format", "sarif", "HEAD~1..HEAD"],
        &["check", "--format", "github", "HEAD~1..HEAD"],
        &["check", "--format", "html", "HEAD~1..HEAD"],
        &["trailers", "HEAD"],
        &["graph", "HEAD~1..HEAD"],
        &["doctor", "--coverage"],
        &["--staged"],
        &["hook", "run", "pre-commit"],
    ] {
        let output = invdiff(&repo, words);
        assert_eq!(output.status.code(), Some(0), "{words:?} {}", stderr(&output));
    }
    for name in ODD {
        let mut place = name.to_vec();
        place.extend_from_slice(b":f");
        let output = program_in(&repo, repo.path(), &["blame", "--"]).arg(os(&place)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{:?} {}", os(name), stderr(&output));
        assert!(stdout(&output).contains("1 commit changed its facts"), "{}", stdout(&output));
        // Of what is both, the condition begins after the first two colons.
        let (stated, range) = (" \\result == \\result", "HEAD~1..HEAD");
        if !name.contains(&b':') {
            let whole = os(&[&place[..], b":", stated.as_bytes()].concat()).to_owned();
            let output = program_in(&repo, repo.path(), &["bisect", "--"]).arg(whole).arg(range).output();
            let output = output.unwrap();
            assert!(stdout(&output).contains("holds at the end"), "{}{}", stdout(&output), stderr(&output));
        }
        let mut command = program_in(&repo, repo.path(), &["bisect"]);
        let output = command
            .arg(os(&[b"--function=", &place[..]].concat()))
            .args(["--", stated, range])
            .output()
            .unwrap();
        assert!(stdout(&output).contains("holds at the end"), "{}{}", stdout(&output), stderr(&output));
    }
    let trailers = invdiff(&repo, &["trailers", "HEAD"]);
    repo.write("message", format!("title\n\n{}", stdout(&trailers)));
    let parsed = repo.git(["interpret-trailers", "--parse", "--no-divider", "message"]);
    assert_eq!(parsed, stdout(&trailers).trim_end());
}

#[test]
fn pathspecs_mean_what_they_mean_to_git() {
    let repo = odd();
    let mut specs: Vec<Vec<u8>> = ODD.iter().map(|name| name.to_vec()).collect();
    specs.extend(ODD.iter().map(|name| [b":(literal)", *name].concat()));
    specs.extend(ODD.iter().map(|name| [b":(top,literal)", *name].concat()));
    for spec in [
        "*ace.c",
        ":(glob)*.c",
        "dir",
        "dir/",
        "./dir",
        "di*",
        ":(glob)**/*.c",
        ":!dir",
        ":(exclude)*e*",
        ":^*.c",
        ":/",
        ":/dir",
        "*",
        ":(icase)DIR",
        ":(glob)dir/*",
        "dir/../*lead.c",
        "nowhere",
        "?.c",
        ":(icase,glob)SP*",
        "\\*.c",
        "dir/\\#.c",
        "[[]x].c",
    ] {
        specs.push(spec.as_bytes().to_vec());
    }
    for folder in ["", "dir"] {
        let folder = repo.path().join(folder);
        for spec in &specs {
            let words = ["diff", "-z", "--name-only", "HEAD~1..HEAD", "--"];
            let git = repo.command_of("git").current_dir(&folder).args(words).arg(os(spec)).output().unwrap();
            let words = ["--porcelain", "-z", "HEAD~1..HEAD", "--"];
            let ours = program_in(&repo, &folder, &words).arg(os(spec)).output().unwrap();
            let code = if git.status.success() { 0 } else { 128 };
            assert_eq!(ours.status.code(), Some(code), "{:?} {}", os(spec), stderr(&ours));
            assert_eq!(hunk_paths(&ours.stdout, 0), listed(&git.stdout, 0), "{:?} in {folder:?}", os(spec));
        }
    }
}

/// `git --literal-pathspecs invdiff` and the like.
#[test]
fn options_of_git_for_all_pathspecs_are_kept() {
    let repo = odd();
    let names = ["LITERAL", "GLOB", "NOGLOB", "ICASE"];
    for chosen in 0..16_usize {
        let variables: Vec<String> = names
            .iter()
            .enumerate()
            .filter(|(bit, _)| chosen >> bit & 1 == 1)
            .map(|(_, name)| format!("GIT_{name}_PATHSPECS"))
            .collect();
        for spec in [
            "*.c",
            ":(glob)*.c",
            ":(literal)dir",
            ":(icase)DIR",
            "DIR",
            ":!dir",
            ":/dir",
            "dir/../*lead.c",
            "*",
        ] {
            let values = variables.iter().map(|name| (name, if chosen % 2 == 0 { "1" } else { "true" }));
            let words = ["diff", "-z", "--name-only", "HEAD~1..HEAD", "--", spec];
            let git = repo.command_of("git").envs(values.clone()).args(words).output().unwrap();
            let words = ["--porcelain", "-z", "HEAD~1..HEAD", "--", spec];
            let ours = program_in(&repo, repo.path(), &words).envs(values).output().unwrap();
            let code = if git.status.success() { 0 } else { 128 };
            assert_eq!(ours.status.code(), Some(code), "{spec} {variables:?} {}", stderr(&ours));
            assert_eq!(hunk_paths(&ours.stdout, 0), listed(&git.stdout, 0), "{spec} {variables:?}");
        }
    }
    let off = program_in(&repo, repo.path(), &["--porcelain", "-z", "HEAD~1..HEAD", "--", "*.c"])
        .env("GIT_LITERAL_PATHSPECS", "off")
        .output()
        .unwrap();
    assert!(!hunk_paths(&off.stdout, 0).is_empty());
}

/// The divisor that each file's function has at the end of the last comparison, by file.
fn divisors(repo: &TempRepo, words: &[&str]) -> Vec<(String, String)> {
    let result = json(repo, words);
    let functions = result["functions"].as_array().unwrap().clone();
    let fact = |f: &serde_json::Value| {
        let added = f["points"][0]["churns"][0]["added"][0]["text"].as_str().unwrap_or("none");
        (f["file"].as_str().unwrap().to_owned(), added.to_owned())
    };
    functions.iter().map(fact).collect()
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

#[test]
fn line_ends_and_encodings_are_those_that_git_stores() {
    let attributes =
        "*.c text\nw.c text eol=crlf\nraw.c -text\nu.c text working-tree-encoding=UTF-16LE\nid.c ident\n";
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let write = |repo: &TempRepo, divisor: u32| {
        repo.write("w.c", crlf(&divide("w", divisor)));
        repo.write("raw.c", crlf(&divide("raw", divisor)));
        repo.write("lf.c", divide("lf", divisor));
        repo.write("u.c", utf16(&divide("u", divisor)));
        repo.write("id.c", format!("/* $Id$ */\n{}", divide("id", divisor)));
    };
    let repo = TempRepo::new().file(".gitattributes", attributes);
    write(&repo, 2);
    let repo = repo.commit("one");
    assert_eq!(divisors(&repo, &[]), []);
    // Other line ends on disk are no change where git stores the same.
    repo.write("lf.c", crlf(&divide("lf", 2)));
    assert_eq!(divisors(&repo, &[]), []);
    write(&repo, 4);
    let all = ["id", "lf", "raw", "u", "w"].map(|name| (format!("{name}.c"), "\\result == a / 4".to_owned()));
    assert_eq!(divisors(&repo, &[]), all);
    repo.git(["add", "-A"]);
    assert_eq!(divisors(&repo, &["--staged"]), all);
    let repo = repo.commit("two");
    assert_eq!(divisors(&repo, &["HEAD~1..HEAD"]), all);
    for setting in ["true", "input"] {
        repo.git(["config", "core.autocrlf", setting]);
        for name in ["w.c", "raw.c", "lf.c", "u.c", "id.c"] {
            std::fs::remove_file(repo.path().join(name)).unwrap();
        }
        repo.git(["checkout", "-q", "--", "."]);
        assert_eq!(divisors(&repo, &[]), [], "core.autocrlf={setting}");
    }
    // All line ends of a file: its text changed, nothing else did.
    let repo = repo.file("plain.h", "int x;\n").file("raw.c", divide("raw", 4)).commit("line ends");
    let run = Run::of(&mut program_in(&repo, repo.path(), &["HEAD~1..HEAD", "--", "raw.c"]));
    assert!(run.out.starts_with("no semantic change"), "{}", run.out);
}

#[test]
fn attributes_leave_files_out_and_are_counted() {
    let attributes =
        "gen.c linguist-generated\noff.c -invdiff\nbin.c binary\nno.c linguist-generated=false\nnd.c -diff\n";
    let mut repo = TempRepo::new().file(".gitattributes", attributes);
    for divisor in [2, 4] {
        for name in ["gen", "off", "bin", "no", "nd", "on"] {
            repo.write(format!("{name}.c"), divide(name, divisor));
        }
        repo = repo.commit("next");
    }
    let seen = ["no", "on"].map(|name| (format!("{name}.c"), "\\result == a / 4".to_owned()));
    assert_eq!(divisors(&repo, &["HEAD~1..HEAD"]), seen);
    let hunks = json(&repo, &["HEAD~1..HEAD"])["hunks"].as_array().unwrap().clone();
    let why = |h: &serde_json::Value| {
        let why = h["why"].as_str().unwrap_or("-");
        (h["file"].as_str().unwrap().to_owned(), why.to_owned())
    };
    let expected = [
        ("bin.c", "binary"),
        ("gen.c", "excluded:generated"),
        ("nd.c", "binary"),
        ("no.c", "-"),
        ("off.c", "excluded:attribute"),
        ("on.c", "-"),
    ];
    assert_eq!(
        hunks.iter().map(why).collect::<Vec<_>>(),
        expected.map(|(f, w)| (f.to_owned(), w.to_owned()))
    );
    let text = stdout(&invdiff(&repo, &["-v", "HEAD~1..HEAD"]));
    for part in ["binary content", "generated file", "excluded by .gitattributes", "2 of 6 hunks"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A change cannot hide itself: attributes that it brings along count, and so does that it brought them.
    let repo = repo.file("on.c", divide("on", 8)).file(".gitattributes", "on.c -invdiff\n").commit("hidden");
    let shown = stdout(&invdiff(&repo, &["HEAD~1..HEAD"]));
    assert!(!shown.starts_with("no change") && !shown.starts_with("no semantic change"), "{shown}");
}

#[test]
fn links_and_modes_are_no_source() {
    let repo = TempRepo::new().file("a.c", divide("f", 2)).link("l.c", "a.c").link("d.c", "/nowhere");
    let repo = repo.link("loop.c", "loop.c").link("folder", ".").commit("one");
    repo.git(["update-index", "--chmod=+x", "a.c"]);
    let shown = |repo: &TempRepo, words: &[&str]| stdout(&invdiff(repo, words));
    assert_eq!(shown(&repo, &["--staged"]), "no change; nothing undecided\n");
    repo.git(["commit", "-q", "-m", "mode"]);
    assert_eq!(shown(&repo, &["HEAD~1..HEAD"]), "no change; nothing undecided\n");
    let repo = repo.remove("l.c").link("l.c", "d.c").commit("another target");
    assert!(shown(&repo, &["HEAD~1..HEAD"]).contains("l.c  whole file  symbolic link"));
    let repo = repo.remove("l.c").file("l.c", divide("g", 3)).commit("a file now");
    assert!(shown(&repo, &["HEAD~1..HEAD"]).contains("1 function"), "{}", shown(&repo, &["HEAD~1..HEAD"]));
    let repo = repo.remove("a.c").link("a.c", "l.c").commit("a link now");
    assert!(
        shown(&repo, &["HEAD~1..HEAD"]).contains("1 function removed"),
        "{}",
        shown(&repo, &["HEAD~1..HEAD"])
    );
    // A pointer of a large file store is no C, and not more than that.
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12345\n";
    let repo = repo.file("big.c", pointer).commit("pointer");
    assert_eq!(invdiff(&repo, &["HEAD~1..HEAD"]).status.code(), Some(0));
}

#[test]
fn what_only_moves_has_no_churn() {
    let body = format!("{}{}{}", divide("f", 2), divide("g", 3), divide("h", 5));
    let churns = |repo: &TempRepo| json(repo, &["HEAD~1..HEAD"])["summary"]["churns"].clone();
    let repo = TempRepo::new().file("a.c", &body).commit("one").run(["mv", "a.c", "b.c"]).commit("moved");
    assert_eq!(churns(&repo), 0);
    let repo =
        repo.file("b.c", format!("{}{}{}", divide("h", 5), divide("f", 2), divide("g", 3))).commit("order");
    assert_eq!(churns(&repo), 0);
    let formatted = body.replace("    ", "\t").replace(")\n{", ") {").replace("a / ", "a/");
    let repo = repo.file("b.c", &formatted).commit("formatted");
    assert_eq!(churns(&repo), 0);
    // Split, merged, and renamed with an edit.
    let repo = repo
        .file("c.c", divide("h", 5))
        .file("b.c", format!("{}{}", divide("f", 2), divide("g", 3)))
        .commit("split");
    assert_eq!(churns(&repo), 0);
    let repo = repo.remove("c.c").file("b.c", &body).commit("merged");
    assert_eq!(churns(&repo), 0);
    let repo = repo
        .run(["mv", "b.c", "d.c"])
        .file("d.c", body.replace("a / 3", "a / 4"))
        .commit("renamed and edited");
    assert_eq!(churns(&repo), 1);
    let status = repo.git(["diff", "-M", "--name-status", "HEAD~1..HEAD"]);
    assert!(status.starts_with('R'), "{status}");
    let names = json(&repo, &["HEAD~1..HEAD"])["functions"][0]["identity"]["versions"].clone();
    assert_eq!((names["1"]["file"].as_str(), names["2"]["file"].as_str()), (Some("b.c"), Some("d.c")));
    // A copy is a new function.
    let repo = repo.file("e.c", divide("f", 2)).commit("copied");
    assert_eq!(churns(&repo), 0);
    // As the user has it, renames are not looked for; a function is followed all the same.
    let off = repo.config("diff.renames", "false");
    assert_eq!(json(&off, &["HEAD~2..HEAD~1"])["summary"]["churns"], 1);
}

#[test]
fn many_files_and_deep_folders_are_no_trouble() {
    let deep = format!("{}a.c", "d/".repeat(200));
    let repo = three(TempRepo::new()).file(&deep, divide("f", 2));
    (0..300).for_each(|n| repo.write(format!("many/{n}.txt"), n.to_string()));
    let repo = repo.commit("many").file(&deep, divide("f", 4)).commit("deep");
    assert_eq!(divisors(&repo, &["HEAD~1..HEAD"]), [(deep, "\\result == a / 4".to_owned())]);
}
