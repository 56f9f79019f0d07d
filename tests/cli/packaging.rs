//! What makes a release: the workflow, the formula and the scripts say what this project has. Nothing is built or
//! fetched here; `packaging/try-deb.sh` installs a package for real.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// Fails if a shell cannot read a script.
fn check_shell(script: &str) {
    let mut shell = Command::new("sh").arg("-n").stdin(Stdio::piped()).spawn().expect("a shell");
    std::io::Write::write_all(&mut shell.stdin.take().expect("its input"), script.as_bytes())
        .expect("written");
    assert!(shell.wait().expect("it ends").success(), "{script}");
}

/// The words of a text that name scripts of ours.
fn scripts(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`".contains(c));
    words.filter(|w| w.ends_with(".sh") && !w.contains(':')).map(|w| w.trim_start_matches("./")).collect()
}

#[test]
fn the_release_workflow_can_be_followed() {
    let workflow: Value = serde_yaml::from_str(&read(".github/workflows/release.yml")).expect("YAML");
    assert!(workflow["on"]["push"]["tags"].is_array(), "it begins with a tag");
    let jobs = workflow["jobs"].as_object().expect("jobs");
    let mut called = Vec::new();
    for (name, job) in jobs {
        assert!(job["runs-on"].is_string(), "{name} runs nowhere");
        let needs = match &job["needs"] {
            Value::Array(needs) => needs.clone(),
            Value::Null => Vec::new(),
            one => vec![one.clone()],
        };
        for need in &needs {
            assert!(need.as_str().is_some_and(|n| jobs.contains_key(n)), "{name} needs {need}");
        }
        for step in job["steps"].as_array().expect("steps") {
            match (&step["run"], &step["uses"]) {
                (Value::String(script), Value::Null) => {
                    check_shell(script);
                    // What an event brings is data: it comes by the environment and is no part of a script.
                    assert!(!script.contains("${{"), "{name}: {script}");
                    called.extend(scripts(script).into_iter().map(str::to_owned));
                }
                (Value::Null, Value::String(action)) => assert!(action.contains('@'), "{name}: {action}"),
                _ => panic!("{name}: {step}"),
            }
        }
    }
    for script in &called {
        check_shell(&read(script));
    }
    for script in ["install.sh", "packaging/deb.sh", "packaging/tarball.sh"] {
        assert!(called.iter().any(|c| c == script), "{script} is not called");
    }
}

#[test]
fn the_formula_is_of_this_version() {
    let formula = read("packaging/git-invdiff.rb");
    for line in [
        "class GitInvdiff < Formula".to_owned(),
        format!("desc \"{}\"", env!("CARGO_PKG_DESCRIPTION").replace("a range of commits", "a commit")),
        format!("/archive/refs/tags/v{}.tar.gz\"", env!("CARGO_PKG_VERSION")),
        "license \"Apache-2.0\"".to_owned(),
        "depends_on \"rust\" => :build".to_owned(),
        "depends_on \"z3\"\n".to_owned(),
        "system \"cargo\", \"install\", *std_cargo_args".to_owned(),
    ] {
        assert!(formula.contains(&line), "{line}");
    }
    let blocks =
        formula.lines().filter(|l| ["class ", "def ", "test do"].iter().any(|w| l.trim().starts_with(w)));
    assert_eq!(blocks.count(), formula.lines().filter(|l| l.trim() == "end").count());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/git-invdiff.rb");
    if let Ok(ruby) = Command::new("ruby").arg("-c").arg(file).output() {
        assert!(ruby.status.success(), "{}", String::from_utf8_lossy(&ruby.stderr));
    }
}

#[test]
fn every_package_has_the_program_with_its_pages_and_completions() {
    let folder = invdiff_testing::scratch();
    let root = folder.path().join("usr");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/stage.sh");
    let status = Command::new("sh")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_git-invdiff"))
        .arg(&root)
        .status()
        .expect("a shell");
    assert!(status.success());
    let mut found = Vec::new();
    walk(&root, &mut found);
    for file in [
        "bin/git-invdiff",
        "share/man/man1/git-invdiff.1",
        "share/man/man1/git-invdiff-check.1",
        "share/bash-completion/completions/git-invdiff",
        "share/zsh/vendor-completions/_git-invdiff",
        "share/fish/vendor_completions.d/git-invdiff.fish",
        "share/doc/git-invdiff/LICENSE",
        "share/doc/git-invdiff/CHANGELOG.md",
    ] {
        let path = root.join(file);
        assert!(found.contains(&path), "{file} of {found:?}");
        assert!(path.metadata().expect(file).len() > 0, "{file} is empty");
    }
    assert_eq!(
        read("Cargo.toml").matches(&format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"))).count(),
        1
    );
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() { walk(&entry, found) } else { found.push(entry) }
    }
}
