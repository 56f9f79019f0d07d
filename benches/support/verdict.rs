//! What the built program tells of an edit, put into a commit of a scratch repository.

use super::reports::report;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What is told of an edit as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Every hunk is neutral, and nothing is told of a function.
    Neutral,
    /// Not decided, and why.
    Open(String),
    /// Something differs, and what.
    Differs(String),
}

/// A repository whose first commit stays; each edit is one commit on top of it.
pub struct Scratch {
    folder: tempfile::TempDir,
    base: String,
}

impl Scratch {
    /// A clone of a repository.
    pub fn clone_of(repository: &Path) -> Scratch {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let from = repository.to_str().expect("a path that is text");
        git(folder.path(), &["clone", "-q", "--shared", from, "."]);
        Scratch { base: git(folder.path(), &["rev-parse", "HEAD"]), folder }
    }

    /// A repository of one file.
    pub fn of(name: &str, text: &str) -> Scratch {
        let folder = tempfile::tempdir().expect("a temporary folder");
        git(folder.path(), &["init", "-q"]);
        std::fs::write(folder.path().join(name), text).expect("a file");
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-q", "-m", "base"]);
        Scratch { base: git(folder.path(), &["rev-parse", "HEAD"]), folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What is told of a file that gets another text.
    pub fn told(&self, file: &str, text: &str, options: &[String]) -> Told {
        std::fs::write(self.path().join(file), text).expect("a file");
        git(self.path(), &["commit", "-q", "-a", "-m", "edit"]);
        let report = report(self.path(), "HEAD", options);
        git(self.path(), &["reset", "-q", "--hard", &self.base]);
        report.map_or(Told::Open("no answer in time".into()), |r| told(&r))
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let out = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"])
        .args(["-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .output()
        .expect("git");
    assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

fn items<'v>(of: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    of[name].as_array().into_iter().flatten()
}

fn told(report: &Value) -> Told {
    let functions = || items(report, "functions");
    let changes = || functions().flat_map(|f| items(f, "changes"));
    let mut differs: Vec<String> = changes().flat_map(|c| items(c, "deltas")).map(delta).collect();
    let churns = functions().flat_map(|f| items(f, "points")).flat_map(|p| items(p, "churns"));
    differs.extend(churns.map(|c| format!("churn {}", one_line(c))));
    differs.extend(items(report, "objects").map(|o| format!("object {}", one_line(o))));
    let verdict = |c: &Value, wanted: &str| c["verdict"] == wanted;
    if differs.is_empty() && changes().any(|c| verdict(c, "differs")) {
        differs.push("differs".into());
    }
    if !differs.is_empty() {
        return Told::Differs(differs.join(" | "));
    }
    let mut open: Vec<String> = changes()
        .filter(|c| verdict(c, "open"))
        .map(|c| c["reason"].as_str().unwrap_or("no reason").to_owned())
        .collect();
    // A hunk that is explained, where nothing is told: by a function that is new, or under a configuration.
    let hunks: Vec<&Value> = items(report, "hunks").filter(|h| h["why"] != "not-c").collect();
    let is_settled = |h: &&Value| verdict(h, "neutral") || verdict(h, "explained");
    open.extend(hunks.iter().filter(|h| !is_settled(h)).map(|h| {
        let why = h["why"].as_str().map_or(h["verdict"].to_string(), str::to_owned);
        format!("hunk {why}")
    }));
    open.dedup();
    match open.as_slice() {
        // What settles a whole function settles what is open of its parts.
        _ if !hunks.is_empty() && hunks.iter().all(|h| verdict(h, "neutral")) => Told::Neutral,
        [] if !hunks.is_empty() => Told::Neutral,
        [] => Told::Open("no hunk".into()),
        _ => Told::Open(open.join(" | ")),
    }
}

fn delta(d: &Value) -> String {
    let texts = |name: &str| {
        let all: Vec<&str> = items(d, name).filter_map(|e| e["text"].as_str()).collect();
        all.join(", ")
    };
    let when = d["when"]["text"].as_str().unwrap_or_default();
    format!("when {when}: before {}, now {}", texts("before"), texts("now"))
}

/// A value, cut where it is long.
fn one_line(v: &Value) -> String {
    v.to_string().chars().take(300).collect()
}
