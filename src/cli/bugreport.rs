//! `git invdiff bugreport`: what a report of a fault needs to say, ready to be filled in.
//!
//! It names versions, the shape of the repository and which keys are set. No path, no value of a key, no
//! text of a file or commit is in it.

use super::{CliError, Context, ExitCode, analyse};
use crate::config::GitConfig;
use crate::history::Repository;
use clap::Args;
use std::io::Write;

/// A form for reporting a fault, with what is to be known of this machine and repository
///
/// No path, value of a setting, or text of a file or commit is in it. -o FILE writes it to a file.
#[derive(Args, Clone, Debug)]
pub struct BugreportArgs {}

pub fn run(_args: BugreportArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let version = |program: &str, words: &[&str]| {
        let output = std::process::Command::new(program).args(words).output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
        text.lines().next().unwrap_or("unknown").trim().to_owned()
    };
    let mut lines = vec![
        ("git-invdiff", env!("CARGO_PKG_VERSION").to_owned()),
        ("z3", crate::smt::z3_version()),
        ("git", version("git", &["--version"])),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("kernel", version("uname", &["-sr"])),
        ("cores", std::thread::available_parallelism().map_or(0, usize::from).to_string()),
    ];
    match analyse::open(context) {
        Ok(repository) => lines.extend(shape(&repository)),
        Err(error) => lines.push(("repository", format!("none ({})", error.message))),
    }
    let out = &mut context.output;
    for question in [
        "What did you do? (commands, and if you can a small C example in two versions)",
        "What did you expect?",
        "What happened instead?",
    ] {
        writeln!(out, "{question}\n\n\n")?;
    }
    writeln!(out, "This machine and repository; take out what you do not want to tell.\n")?;
    for (name, value) in lines {
        writeln!(out, "{name:<12}{}", crate::report::escape::visible(&value))?;
    }
    Ok(ExitCode::Done)
}

/// What kind of repository it is, and which keys are set.
fn shape(repository: &Repository) -> Vec<(&'static str, String)> {
    let yes = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let git = |words: &[&str]| {
        let output = repository.git().output(words).ok().filter(|o| o.status.success());
        output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).filter(|text| !text.is_empty())
    };
    let config = |key: &str| git(&["config", "--get", key]);
    let mut lines = vec![
        ("objects", format!("{:?}", repository.format()).to_ascii_lowercase()),
        ("refs", config("extensions.refstorage").unwrap_or_else(|| "files".to_owned())),
        ("bare", yes(repository.work_dir().is_none())),
        ("worktree", yes(repository.git_dir() != repository.common_dir())),
        ("shallow", yes(repository.is_shallow())),
        ("partial", yes(config("extensions.partialclone").is_some())),
        ("sparse", yes(config("core.sparsecheckout").is_some_and(|v| v == "true"))),
    ];
    let keys = match GitConfig::load(repository.git()) {
        Ok(config) => config.keys().collect::<Vec<_>>().join(" "),
        Err(_) => "cannot be read".to_owned(),
    };
    lines.push(("keys set", if keys.is_empty() { "none".to_owned() } else { keys }));
    lines
}
