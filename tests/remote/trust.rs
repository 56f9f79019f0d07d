//! What is believed of a shared cache, what is said of it, and who writes it.

use super::*;
use invdiff_testing::server::{HttpServer, Manner};
use std::path::PathBuf;

/// A repository, a folder that is a shared cache, and what a clone has put there: the report, and its entries.
struct Shared {
    repo: TempRepo,
    folder: tempfile::TempDir,
    said: String,
    entries: Vec<PathBuf>,
}

impl Shared {
    fn new() -> Shared {
        let (repo, folder) = (two(), invdiff_testing::scratch());
        let mut shared = Shared { repo, folder, said: String::new(), entries: Vec::new() };
        shared.said = report(&shared.clone(), &[]).0;
        shared.entries = entries(shared.folder.path());
        assert!(!shared.entries.is_empty());
        shared
    }

    fn address(&self) -> String {
        format!("file://{}", self.folder.path().display())
    }

    fn clone(&self) -> TempRepo {
        clone(&self.repo, &self.address())
    }

    /// Changes what lies there; a clone then computes the same report, and says once why nothing was used.
    #[track_caller]
    fn check(&self, change: impl Fn(&[PathBuf]), why: &str) {
        let kept: Vec<Vec<u8>> = self.entries.iter().map(|e| std::fs::read(e).unwrap()).collect();
        change(&self.entries);
        let (said, cost, err) = report(&self.clone(), &[]);
        assert_eq!(said, self.said);
        assert!(asked(&cost).0 > 0, "{cost}");
        let start = format!("warning: shared cache {}: ", self.address());
        assert!(err.starts_with(&start) && err.contains(why) && err.lines().count() == 1, "{err}");
        // What was computed has taken the place of what was no good.
        assert_eq!(asked(&report(&self.clone(), &[]).1).0, 0);
        self.entries.iter().zip(kept).for_each(|(entry, bytes)| std::fs::write(entry, bytes).unwrap());
    }
}

#[test]
fn what_is_not_proved_is_not_used() {
    let shared = Shared::new();
    let each = |entries: &[PathBuf], change: &dyn Fn(&mut Vec<u8>)| {
        for entry in entries {
            let mut bytes = std::fs::read(entry).unwrap();
            change(&mut bytes);
            std::fs::write(entry, bytes).unwrap();
        }
    };
    shared.check(|entries| each(entries, &|bytes| bytes.truncate(bytes.len() / 2)), "cut, changed or moved");
    let last = |bytes: &mut Vec<u8>| {
        let end = bytes.len() - 1;
        bytes[end] ^= 1;
    };
    shared.check(|entries| each(entries, &last), "cut, changed or moved");
    // The letter before the version of the schema.
    shared.check(|entries| each(entries, &|bytes| bytes[20] ^= 1), "of another schema or engine");
    // A value with the MAC of another key.
    let strangers = invdiff_testing::scratch();
    let address = format!("file://{}", strangers.path().display());
    let stranger = clone(&shared.repo, &address).config("invdiff.cache.key", "the key of somebody else");
    report(&stranger, &[]);
    let foreign = |entries: &[PathBuf]| {
        for entry in entries {
            std::fs::copy(strangers.path().join(entry.file_name().unwrap()), entry).unwrap();
        }
    };
    shared.check(foreign, "with a MAC that the key does not make");
    // One written by nobody in particular.
    let unsigned = invdiff_testing::scratch();
    let address = format!("file://{}", unsigned.path().display());
    let nobody = clone(&shared.repo, &address).config("invdiff.cache.trust", "true");
    nobody.git(["config", "--unset", "invdiff.cache.key"]);
    report(&nobody, &[]);
    let copied = |entries: &[PathBuf]| {
        for entry in entries {
            std::fs::copy(unsigned.path().join(entry.file_name().unwrap()), entry).unwrap();
        }
    };
    shared.check(copied, "with a MAC that the key does not make");
}

#[test]
fn an_entry_that_is_empty_is_one_that_is_not_there() {
    // Not every service tells the two apart.
    let shared = Shared::new();
    shared.entries.iter().for_each(|entry| std::fs::write(entry, "").unwrap());
    let (said, cost, err) = report(&shared.clone(), &[]);
    assert_eq!((said.as_str(), err.as_str()), (shared.said.as_str(), ""));
    assert!(asked(&cost).0 > 0, "{cost}");
    assert_eq!(asked(&report(&shared.clone(), &[]).1).0, 0);
}

#[test]
fn an_entry_that_was_moved_is_not_used() {
    let shared = Shared::new();
    // Those of another commit take the place of these.
    let other =
        shared.repo.clone_with(&[]).file("a.c", "int f(int a)\n{\n    return a / 3;\n}\n").commit("three");
    let folder = invdiff_testing::scratch();
    let address = format!("file://{}", folder.path().display());
    let other = other.config("invdiff.cache.remote", &address).config("invdiff.cache.key", KEY);
    report(&other, &[]);
    let moved = entries(folder.path());
    let swap = |entries: &[PathBuf]| {
        for (k, entry) in entries.iter().enumerate() {
            std::fs::copy(&moved[k % moved.len()], entry).unwrap();
        }
    };
    shared.check(swap, "cut, changed or moved");
}

#[test]
fn a_hostile_value_is_no_more_than_a_miss() {
    let shared = Shared::new();
    let large = |entries: &[PathBuf]| {
        for entry in entries {
            std::fs::File::options().write(true).open(entry).unwrap().set_len(40 << 30).unwrap();
        }
    };
    shared.check(large, "too large");
}

#[test]
fn without_key_and_trust_nothing_is_read() {
    let shared = Shared::new();
    let reader = shared.clone();
    reader.git(["config", "--unset", "invdiff.cache.key"]);
    let (said, cost, err) = report(&reader, &[]);
    assert!(said == shared.said && asked(&cost).0 > 0, "{cost}");
    assert_eq!(
        err,
        "warning: invdiff.cache.remote is not used: there is neither invdiff.cache.key nor invdiff.cache.trust\n"
    );
    assert_eq!(entries(shared.folder.path()), shared.entries);
    // Whoever trusts reads what others have proved, too.
    let trusting = shared.clone().config("invdiff.cache.trust", "true");
    trusting.git(["config", "--unset", "invdiff.cache.key"]);
    let (said, cost, err) = report(&trusting, &[]);
    assert!(said == shared.said && asked(&cost).0 == 0 && err.is_empty(), "{cost} {err}");
    let guessable = shared.clone().config("invdiff.cache.key", "team");
    let (_, cost, err) = report(&guessable, &[]);
    assert!(asked(&cost).0 > 0 && err.contains("shorter than 16 characters"), "{cost} {err}");
}

#[test]
fn another_program_has_other_entries() {
    let shared = Shared::new();
    // The same program, with something behind its end that changes nothing but its content.
    let changed = shared.folder.path().join(".unfinished/git-invdiff");
    std::fs::copy(env!("CARGO_BIN_EXE_git-invdiff"), &changed).unwrap();
    let mut file = std::fs::File::options().append(true).open(&changed).unwrap();
    std::io::Write::write_all(&mut file, b"x").unwrap();
    drop(file);
    let reader = shared.clone();
    let output = reader.command_of(&changed).args(["--json", "HEAD~1..HEAD"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(asked(&report["cost"]).0 > 0, "{}", report["cost"]);
    assert!(entries(shared.folder.path()).len() > shared.entries.len());
    // And the same program in another place has the same.
    std::fs::copy(env!("CARGO_BIN_EXE_git-invdiff"), &changed).unwrap();
    let output = shared.clone().command_of(&changed).args(["--json", "HEAD~1..HEAD"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(asked(&report["cost"]).0, 0, "{}", report["cost"]);
}

#[test]
fn hooks_read_and_do_not_write() {
    let (repo, folder) = (two(), invdiff_testing::scratch());
    let address = format!("file://{}", folder.path().display());
    let hook = |repo: &TempRepo| {
        let run = invdiff(repo, &["-v", "hook", "run", "post-commit"]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.err
    };
    let err = hook(&clone(&repo, &address));
    assert!(err.contains("0 written"), "{err}");
    assert!(entries(folder.path()).is_empty());
    let err = hook(&clone(&repo, &address).config("invdiff.cache.hooksWrite", "true"));
    assert!(!err.contains(" 0 written"), "{err}");
    let written = entries(folder.path());
    assert!(!written.is_empty());
    let err = hook(&clone(&repo, &address));
    assert!(err.contains(": 1 hits"), "{err}");
    assert_eq!(entries(folder.path()), written);
}

#[test]
fn a_remote_that_is_away_or_silent_costs_a_line() {
    let repo = two();
    let said = report(&repo.clone_with(&[]), &[]).0;
    let silent = HttpServer::start(Manner::Silent);
    let endless = HttpServer::start(Manner::Endless);
    for (address, why) in [
        ("redis://127.0.0.1:1/0".to_owned(), "left alone for the rest of this run"),
        ("http://127.0.0.1:1/x".to_owned(), "connection refused; left alone"),
        (format!("http://me:hunter2@{}/x", silent.address()), "no answer within 1 s; left alone"),
        ("file:///nowhere/at/all".to_owned(), "the folder: entity not found; left alone"),
        (format!("http://{}/x", endless.address()), "too large"),
        ("gopher://hunter2/x".to_owned(), "invdiff.cache.remote is not used: the address is of no service"),
    ] {
        let (again, _, err) = report(&clone(&repo, &address), &[]);
        assert_eq!(again, said);
        assert!(err.contains(why) && !err.contains("hunter2"), "{err}");
        assert_eq!(err.lines().filter(|line| line.contains("cache")).count(), err.lines().count(), "{err}");
        let run = invdiff(&clone(&repo, &address), &["hook", "run", "post-commit"]);
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
    assert_eq!(silent.asked(), 2, "one question a run");
}

#[test]
fn a_server_that_only_reads_is_asked_to_write_once() {
    let server = HttpServer::start(Manner::ReadOnly);
    let address = format!("http://{}/x", server.address());
    let (_, _, err) = report(&clone(&two(), &address), &[]);
    assert!(err.contains("writing: access is refused") && err.lines().count() == 1, "{err}");
}

#[test]
fn the_projects_file_cannot_set_it() {
    let shared = Shared::new();
    for key in
        ["cache: {remote: 'file:///x', key: x}", "cache.trust: true", "invdiff.cache.remote: 'file:///x'"]
    {
        let repo = shared.repo.clone_with(&[]).file(".invdiff.yaml", format!("{key}\n")).commit("three");
        let run = invdiff(&repo, &["HEAD~1..HEAD"]);
        assert_eq!(run.code, Some(128), "{}", run.out);
        assert!(
            run.err.contains("unknown key") && run.err.contains("git config invdiff.cache.remote"),
            "{}",
            run.err
        );
    }
}

#[test]
fn secrets_are_not_shown() {
    let server = HttpServer::start(Manner::Closed);
    let repo = clone(&two(), &format!("http://me:hunter2@{}/cache", server.address()));
    let token = [("INVDIFF_CACHE_TOKEN", "hunter3"), ("AWS_SECRET_ACCESS_KEY", "hunter4")];
    for words in [
        &["cache", "info"][..],
        &["bugreport"],
        &["doctor"],
        &["-vv", "HEAD~1..HEAD"],
        &["-vv", "check"],
        &["--json", "HEAD~1..HEAD"],
        &["hook", "run", "pre-commit"],
    ] {
        let run = run(&repo, words, &token);
        for secret in ["hunter", KEY] {
            assert!(
                !run.out.contains(secret) && !run.err.contains(secret),
                "{words:?} {} {}",
                run.out,
                run.err
            );
        }
    }
    let info = invdiff(&repo, &["cache", "info"]).out;
    let lines: Vec<&str> = info.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            &*format!("shared: http://***@{}/cache", server.address()),
            "  read: yes, values whose MAC fits invdiff.cache.key",
            "  written: yes, with a MAC of invdiff.cache.key",
            "  written by hooks: no, invdiff.cache.hooksWrite is off",
        ]
    );
    let reader = repo.config("invdiff.cache.write", "no");
    assert!(invdiff(&reader, &["cache", "info"]).out.contains("  written: no, invdiff.cache.write is off\n"));
    reader.git(["config", "--unset", "invdiff.cache.key"]);
    let info = invdiff(&reader, &["cache", "info"]).out;
    assert!(
        info.contains("  read: no, there is neither invdiff.cache.key nor invdiff.cache.trust\n"),
        "{info}"
    );
}

#[test]
fn no_cache_is_no_shared_cache() {
    let shared = Shared::new();
    let run = invdiff(&shared.clone(), &["-v", "--no-cache", "--json", "HEAD~1..HEAD"]);
    let report: Value = serde_json::from_str(&run.out).expect("JSON");
    assert!(asked(&report["cost"]).0 > 0 && !run.err.contains("shared cache"), "{}", run.err);
}
