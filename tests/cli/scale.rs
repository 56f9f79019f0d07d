//! The recipes for many machines (`packaging/scale`): their files are what those who read them take, and their
//! scripts are run here, on a small history: all shares together are what one process writes, byte for byte.

use super::support::TempRepo;
use super::support::tier;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Shares that the scripts are run with.
const SHARES: usize = 3;

fn recipe(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/scale").join(name)
}

fn read(name: &str) -> Value {
    serde_yaml::from_str(&std::fs::read_to_string(recipe(name)).expect(name)).expect("YAML")
}

/// A program of Python packages: in the environment that `INVDIFF_VENV` names, or on the path. Says that the
/// test is skipped where there is none.
fn tool(name: &str, probe: &[&str], need: &str) -> Option<PathBuf> {
    let venv = std::env::var_os("INVDIFF_VENV").map(|venv| Path::new(&venv).join("bin").join(name));
    let program = venv.unwrap_or_else(|| name.into());
    let answer = Command::new(&program).args(probe).stdin(Stdio::null()).output();
    if answer.is_ok_and(|answer| answer.status.success()) {
        return Some(program);
    }
    tier::skipped(need, &format!("no {need} (INVDIFF_VENV names a Python environment that has it)"));
    None
}

#[track_caller]
fn check_file(tool_name: &str, words: &[&str], file: &str) {
    let Some(program) = tool(tool_name, &["--version"], tool_name) else { return };
    let run = |file: &Path| Command::new(&program).args(words).arg(file).output().expect("it runs");
    let output = run(&recipe(file));
    assert!(output.status.success(), "{file}: {}{}", said(&output.stdout), said(&output.stderr));
    // A checker that takes everything checks nothing.
    let folder = invdiff_testing::scratch();
    let wrong = folder.path().join("wrong.yaml");
    let text = std::fs::read_to_string(recipe(file)).expect(file);
    let text = text.replace("parallel:", "parallels:").replace("runs-on:", "runs-in:");
    std::fs::write(&wrong, text.replace("completions:", "completion:")).expect("written");
    assert!(!run(&wrong).status.success(), "{tool_name} takes what is wrong");
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_workflow_fits_its_schema() {
    check_file("check-jsonschema", &["--builtin-schema", "vendor.github-workflows"], "github-actions.yml");
}

#[test]
fn the_pipeline_fits_its_schema() {
    check_file("check-jsonschema", &["--builtin-schema", "vendor.gitlab-ci"], "gitlab-ci.yml");
}

#[test]
fn the_job_fits_its_schema() {
    check_file("kubernetes-validate", &["--strict"], "kubernetes-job.yaml");
}

/// A history of `count` commits in C.
fn history(count: usize) -> TempRepo {
    (0..count).fold(TempRepo::new(), |repo, n| {
        let text = format!("int f(int a)\n{{\n    return a / {};\n}}\n", n + 2);
        repo.file("a.c", text).commit(&format!("c{n}"))
    })
}

/// A command that finds the program as `git invdiff`.
fn command(repo: &TempRepo, folder: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = repo.command_of(program);
    let own = Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", own.display())).current_dir(folder);
    command
}

#[track_caller]
fn succeeds(command: &mut Command) -> Output {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}{}", said(&output.stdout), said(&output.stderr));
    output
}

/// Lines `blob commit` of the notes in a repository.
fn notes(repo: &TempRepo) -> BTreeSet<String> {
    repo.git(["notes", "--ref=invdiff", "list"]).lines().map(str::to_owned).collect()
}

/// What one process writes.
fn by_one_process(origin: &TempRepo) -> BTreeSet<String> {
    let clone = origin.clone_with(&[]);
    succeeds(
        command(&clone, clone.path(), "git").args(["invdiff", "notes", "add", "--all", "--effort", "quick"]),
    );
    notes(&clone)
}

/// Runs the script of each share, as `share` does, and then that of the merge.
#[track_caller]
fn check_scripts(share: impl Fn(&TempRepo, usize), merge: &str) {
    let origin = history(8).bare();
    let expected = by_one_process(&origin);
    assert_eq!(expected.len(), 8);
    for index in 1..=SHARES {
        share(&origin, index);
    }
    assert_eq!(notes(&origin).len(), 0, "nothing is joined yet");
    let clone = origin.clone_with(&[]);
    succeeds(command(&clone, clone.path(), "sh").args(["-ec", merge]));
    assert_eq!(notes(&origin), expected);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no script but {value}"))
}

fn last_script(workflow: &Value, job: &str) -> String {
    let steps = workflow["jobs"][job]["steps"].as_array().expect("steps");
    for step in steps {
        assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "what comes from outside is data");
    }
    text(&steps.last().expect("a step")["run"]).to_owned()
}

#[test]
fn the_workflow_writes_what_one_process_does() {
    let workflow = read("github-actions.yml");
    let (share, merge) = (last_script(&workflow, "share"), last_script(&workflow, "merge"));
    let indices = workflow["jobs"]["share"]["strategy"]["matrix"]["index"].as_array().expect("a matrix");
    assert_eq!(indices.iter().filter_map(Value::as_u64).collect::<Vec<_>>(), (1..=16).collect::<Vec<_>>());
    let run = |origin: &TempRepo, index: usize| {
        let clone = origin.clone_with(&[]);
        let mut command = command(&clone, clone.path(), "sh");
        succeeds(command.args(["-ec", &share]).env("SHARD", format!("{index}/{SHARES}")));
    };
    check_scripts(run, &merge);
}

#[test]
fn the_pipeline_writes_what_one_process_does() {
    let pipeline = read("gitlab-ci.yml");
    let lines = |job: &str| {
        let script = pipeline[job]["script"].as_array().expect("a script");
        script.iter().map(text).collect::<Vec<_>>().join("\n")
    };
    let indices = pipeline["share"]["parallel"]["matrix"][0]["INDEX"].as_array().expect("a matrix").len();
    assert_eq!(pipeline[".invdiff"]["variables"]["SHARDS"], indices.to_string());
    let share = lines("share");
    let run = |origin: &TempRepo, index: usize| {
        let clone = origin.clone_with(&[]);
        let mut command = command(&clone, clone.path(), "sh");
        command.args(["-ec", &share]).env("INDEX", index.to_string()).env("SHARDS", SHARES.to_string());
        succeeds(&mut command);
    };
    check_scripts(run, &lines("merge"));
}

#[test]
fn the_job_writes_what_one_process_does() {
    let job = read("kubernetes-job.yaml");
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let shares = container["env"].as_array().expect("an environment").iter().find(|v| v["name"] == "SHARDS");
    assert_eq!(shares.expect("it is there")["value"], job["spec"]["completions"].to_string());
    let script = text(&container["args"][0]);
    let run = |origin: &TempRepo, index: usize| {
        let work = origin.root().join(format!("work-{index}"));
        std::fs::create_dir(&work).expect("a folder");
        let mut command = command(origin, &work, "sh");
        command.args(["-ec", script]).env("WORK", &work).env("ORIGIN", origin.path());
        command.env("SHARDS", SHARES.to_string()).env("JOB_COMPLETION_INDEX", (index - 1).to_string());
        succeeds(&mut command);
    };
    let workflow = read("github-actions.yml");
    check_scripts(run, &last_script(&workflow, "merge"));
}

/// Processes whose command line begins with `name`, and which descend from `ancestor`.
#[cfg(target_os = "linux")]
fn descendants(ancestor: u32, name: &str) -> Vec<i32> {
    let parent = |id: i32| -> Option<i32> {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
    };
    let all = std::fs::read_dir("/proc").expect("it is there").flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &i32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let mut line_of = std::iter::successors(Some(*id), |id| parent(*id).filter(|id| *id > 1));
        line.starts_with(name.as_bytes()) && line_of.any(|id| u32::try_from(id) == Ok(ancestor))
    })
    .collect()
}

/// A head with two workers, one of which is killed at work.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_worker_of_ray_costs_nothing() {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(python) = tool("python3", &["-c", "import ray"], "ray") else { return };
    let repo = history(40);
    let expected = by_one_process(&repo);
    let work = repo.root().join("work");
    let mut script = command(&repo, repo.path(), python);
    script.arg(recipe("ray_notes.py")).args(["--shards", "3", "--cpus", "2", "--effort", "quick", "--work"]);
    script.arg(&work).arg(".").env("RAY_USAGE_STATS_ENABLED", "0");
    let mut head = script.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // Some commits are analysed, as the cache of this machine tells.
    let cache = repo.path().join(".git/invdiff/cache/v1");
    let entries = || {
        let folders = cache.read_dir().into_iter().flatten().flatten();
        folders.map(|folder| folder.path().read_dir().map_or(0, Iterator::count)).sum::<usize>()
    };
    let mut killed = 0;
    while head.try_wait().expect("it is ours").is_none() && killed == 0 {
        std::thread::sleep(std::time::Duration::from_millis(2));
        if entries() > 5 {
            for id in descendants(head.id(), "ray::annotate").into_iter().take(1) {
                let _ = Pid::from_raw(id).map(|id| kill_process(id, Signal::KILL));
                killed += 1;
            }
        }
    }
    let output = head.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}{}", said(&output.stdout), said(&output.stderr));
    assert_eq!(killed, 1, "no worker was at work");
    assert_eq!(notes(&repo), expected);
    assert_eq!(repo.git(["fsck", "--no-dangling", "--connectivity-only"]), "");
}
