//! Real histories: how long every commit takes from cold, how much memory, what stays undecided, and
//! how much of the source is understood.
//!
//! `cargo bench --bench histories [-- <history> [<commits>]]` runs the built program as a child on
//! `C^..C` for every commit C that touches C sources, with a limit of 60 s each, over the clones in
//! the folder that `INVDIFF_HISTORIES` names. Times are of this machine as it is; CPU time beside
//! them tells when it was busy with something else. Sums of nodes and queries are exact.

#[path = "support/commits.rs"]
mod commits;

use commits::commits;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Name and how many first-parent commits count.
const HISTORIES: [(&str, usize); 3] = [("kilo", usize::MAX), ("zlib", 200), ("cJSON", 200)];
const LIMIT: Duration = Duration::from_secs(60);
/// Workers: the targets are for two processors.
const JOBS: &str = "2";
const SLOWEST: usize = 5;

fn main() {
    let Some(folder) = std::env::var_os("INVDIFF_HISTORIES") else {
        println!("skipped: INVDIFF_HISTORIES not set");
        return;
    };
    // cargo adds options of its own, such as --bench.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let number = words.iter().find_map(|word| word.parse().ok());
    let names: Vec<&String> = words.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    for (name, all) in HISTORIES {
        let repository = Path::new(&folder).join(name);
        if !names.is_empty() && !names.iter().any(|n| *n == name) {
            continue;
        }
        if !repository.is_dir() {
            println!("{name}: skipped, {} is absent", repository.display());
            continue;
        }
        history(name, &repository, number.unwrap_or(all));
    }
}

/// One commit's run.
struct Run {
    commit: String,
    wall: Duration,
    /// Time on processors, where the system says.
    cpu: Option<Duration>,
    peak_kib: u64,
    outcome: Outcome,
    undecided: usize,
    functions: usize,
    queries: u64,
    nodes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Failed,
    Panicked,
    Hung,
}

fn history(name: &str, repository: &Path, number: usize) {
    let commits = commits(repository, number);
    let runs: Vec<Run> = commits.iter().map(|commit| run(repository, commit)).collect();
    let count = |outcome| runs.iter().filter(|r| r.outcome == outcome).count();
    println!("{name}: {} commits that touch C", runs.len());
    line("wall time", quantiles(runs.iter().map(|r| r.wall).collect()));
    line("CPU time", quantiles(runs.iter().filter_map(|r| r.cpu).collect()));
    let peak = runs.iter().map(|r| r.peak_kib).max().unwrap_or(0);
    println!("  peak memory        {:.0} MiB", peak as f64 / 1024.0);
    println!(
        "  panics {}, hangs {}, failures {}",
        count(Outcome::Panicked),
        count(Outcome::Hung),
        count(Outcome::Failed)
    );
    let sum = |part: fn(&Run) -> u64| runs.iter().map(part).sum::<u64>();
    println!(
        "  functions          {}, of which undecided in part {}",
        sum(|r| r.functions as u64),
        sum(|r| r.undecided as u64)
    );
    println!("  nodes visited      {}", sum(|r| r.nodes));
    println!("  solver queries     {}", sum(|r| r.queries));
    let mut slow: Vec<&Run> = runs.iter().collect();
    slow.sort_by_key(|r| std::cmp::Reverse(r.wall));
    for r in slow.iter().take(SLOWEST) {
        let cpu = r.cpu.map_or(String::new(), |cpu| format!(", CPU {:.2} s", cpu.as_secs_f64()));
        println!("  slow  {}  {:.2} s{cpu}", r.commit, r.wall.as_secs_f64());
    }
    coverage(repository);
}

fn line(label: &str, text: String) {
    println!("  {label:<18} {text}");
}

/// Median, 95th percentile and maximum.
fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        let rank = (share * times.len() as f64).ceil() as usize;
        times.get(rank.saturating_sub(1)).map_or(0.0, Duration::as_secs_f64)
    };
    format!("median {:.2} s, 95th percentile {:.2} s, max {:.2} s", at(0.5), at(0.95), at(1.0))
}

/// The built program with output and messages into files, so that no full pipe stops it.
fn start(repository: &Path, words: &[&str], output: &File, messages: &File) -> std::io::Result<Child> {
    Command::new(env!("CARGO_BIN_EXE_git-invdiff"))
        .args(["-q", "--no-pager", "--no-cache", "-j", JOBS, "--json", "-C"])
        .arg(repository)
        .args(words)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(messages.try_clone()?)
        .spawn()
}

fn run(repository: &Path, commit: &str) -> Run {
    let mut output = tempfile::tempfile().expect("a temporary file");
    let mut messages = tempfile::tempfile().expect("a temporary file");
    let range = format!("{commit}^..{commit}");
    let begin = Instant::now();
    let mut child = start(repository, &["diff", &range], &output, &messages).expect("the program starts");
    let (mut peak_kib, mut cpu, mut hung) = (0, None, false);
    let status = loop {
        // Read first: the numbers go when the process is reaped.
        peak_kib = peak_of(child.id()).unwrap_or(0).max(peak_kib);
        cpu = cpu_of(child.id()).or(cpu);
        if let Some(status) = child.try_wait().expect("a child that was started") {
            break status;
        }
        if begin.elapsed() > LIMIT && !hung {
            hung = true;
            child.kill().expect("a child that was started");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let wall = begin.elapsed();
    let report: Value = serde_json::from_str(&text(&mut output)).unwrap_or_default();
    let outcome = match () {
        () if hung => Outcome::Hung,
        () if text(&mut messages).contains("panicked") => Outcome::Panicked,
        () if !status.success() || report.is_null() => Outcome::Failed,
        () => Outcome::Done,
    };
    let functions = report["functions"].as_array().map_or(&[][..], Vec::as_slice);
    let is_open = |f: &&Value| {
        let points = f["points"].as_array().map_or(&[][..], Vec::as_slice);
        points.iter().any(|p| p["undecided"].as_array().is_some_and(|u| !u.is_empty()))
    };
    let cost = |name: &str| report["cost"][name].as_u64().unwrap_or(0);
    Run {
        commit: commit.chars().take(10).collect(),
        wall,
        cpu,
        peak_kib: peak_kib.max(cost("peak_rss_kib")),
        outcome,
        undecided: functions.iter().filter(is_open).count(),
        functions: functions.len(),
        queries: cost("solver_queries"),
        nodes: cost("nodes_visited"),
    }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("a temporary file");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Largest resident set so far, KiB.
fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Time on processors so far, of a process and the children it waited for.
fn cpu_of(process: u32) -> Option<Duration> {
    /// Length of a tick of `/proc/<pid>/stat`: USER_HZ is 100 wherever Linux runs.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold spaces; utime to cstime are fields 14 to 17.
    let (_, rest) = stat.rsplit_once(") ")?;
    let ticks: u32 = rest.split(' ').skip(11).take(4).filter_map(|t| t.parse::<u32>().ok()).sum();
    Some(TICK * ticks)
}

/// Functions found and fully lowered at HEAD.
fn coverage(repository: &Path) {
    let mut output = tempfile::tempfile().expect("a temporary file");
    let messages = tempfile::tempfile().expect("a temporary file");
    let child = start(repository, &["doctor", "--coverage"], &output, &messages);
    child.and_then(|mut child| child.wait()).expect("the program runs");
    let counts: Value = serde_json::from_str(&text(&mut output)).unwrap_or_default();
    let count = |name: &str| counts[name].as_f64().unwrap_or(0.0);
    let all = count("functions").max(1.0);
    println!(
        "  coverage at HEAD   {} functions, {:.1} % found, {:.1} % fully lowered",
        count("functions"),
        100.0 * (all - count("lost")) / all,
        100.0 * count("fully_lowered") / all
    );
    let reasons = counts["reasons"].as_object().into_iter().flatten();
    let mut reasons: Vec<(&String, u64)> = reasons.map(|(r, n)| (r, n.as_u64().unwrap_or(0))).collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (reason, n) in reasons.iter().take(SLOWEST) {
        println!("  not lowered {n:>5}  {reason}");
    }
}
