//! Paired: on every commit `git show`, difftastic and this program, cold and warm, one behind the other, so that
//! what slows the machine slows all of them.
//!
//! `cargo bench --bench paired [-- <history or folder>... [<commits>]]` takes the last `<commits>` (200 without a
//! number) first-parent commits that touch C of each history: `zlib`, `cJSON` and `kilo` in the folder that
//! `INVDIFF_HISTORIES` names, or the clones that are named. All are asked for the C files alone. Cold is with an empty
//! cache, warm the same question with what that run left there; both at the effort that is the default. difftastic is
//! git's external diff, if `difft` is on PATH.
//!
//! Times are what the system counts for a process and its children: elapsed, and on processors, which tells more of a
//! machine that does other things, too. A short program in Python asks the system (`wait4`), which this program cannot
//! without `unsafe`.

#[path = "support/commits.rs"]
mod commits;

use commits::commits;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HISTORIES: [&str; 3] = ["zlib", "cJSON", "kilo"];
const COMMITS: usize = 200;
/// Workers: the targets are for two processors.
const JOBS: &str = "2";
/// A run that takes longer is killed, and counts as this long.
const LIMIT_SECONDS: &str = "60";
const SLOWEST: usize = 5;
const PATHS: [&str; 3] = ["--", "*.c", "*.h"];

/// Runs what its arguments say, and prints seconds, seconds on processors, KiB at most, and whether it was killed.
const MEASURE: &str = r#"
import os, signal, sys, time
out = os.open(os.devnull, os.O_RDWR)
begin = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, setsid=True, file_actions=[
    (os.POSIX_SPAWN_DUP2, out, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)])
killed = [0]
def over(*_):
    killed[0] = 1
    os.killpg(child, signal.SIGKILL)
signal.signal(signal.SIGALRM, over)
signal.alarm(int(sys.argv[1]))
_, status, used = os.wait4(child, 0)
print(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss, killed[0])
"#;

/// What one run took.
#[derive(Clone, Copy, Default)]
struct Taken {
    wall: f64,
    cpu: f64,
    peak_kib: f64,
    killed: bool,
}

/// The programs, in the order in which they run on a commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    GitShow,
    Difftastic,
    Cold,
    Warm,
}

impl Program {
    const ALL: [Program; 4] = [Program::GitShow, Program::Difftastic, Program::Cold, Program::Warm];

    fn name(self) -> &'static str {
        match self {
            Program::GitShow => "git show",
            Program::Difftastic => "difftastic",
            Program::Cold => "invdiff, cold",
            Program::Warm => "invdiff, warm",
        }
    }

    /// Runs it on a commit; `cache` is where ours keeps what it found.
    fn run(self, repository: &Path, commit: &str, cache: &Path) -> Option<Taken> {
        let mut command = Command::new("python3");
        command.args(["-c", MEASURE, LIMIT_SECONDS]);
        match self {
            Program::GitShow | Program::Difftastic => {
                command.args(["git", "--no-pager", "-C"]).arg(repository);
                if self == Program::Difftastic {
                    command.args(["-c", "diff.external=difft"]);
                }
                let external = if self == Program::Difftastic { "--ext-diff" } else { "--no-ext-diff" };
                command.args(["show", external, commit]);
            }
            Program::Cold | Program::Warm => {
                let range = format!("{commit}^..{commit}");
                command.arg(env!("CARGO_BIN_EXE_git-invdiff")).args(["--no-pager", "-j", JOBS, "-C"]);
                command.arg(repository).args(["diff", &range]).env("INVDIFF_CACHE_DIR", cache);
            }
        }
        let output = command.args(PATHS).stdin(Stdio::null()).output().ok().filter(|o| o.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|w| w.parse().ok()).collect();
        let &[wall, cpu, peak_kib, killed] = numbers.as_slice() else { return None };
        Some(Taken { wall, cpu, peak_kib, killed: killed > 0.0 })
    }
}

fn main() {
    // cargo adds options of its own, such as --bench.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let number = words.iter().find_map(|word| word.parse().ok()).unwrap_or(COMMITS);
    let mut named: Vec<String> = words.into_iter().filter(|word| word.parse::<usize>().is_err()).collect();
    if named.is_empty() {
        named = HISTORIES.map(str::to_owned).to_vec();
    }
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !runs("python3") {
        println!("skipped: no python3, which asks the system what a process took");
        return;
    }
    let programs: Vec<Program> =
        Program::ALL.into_iter().filter(|p| *p != Program::Difftastic || runs("difft")).collect();
    if programs.len() < Program::ALL.len() {
        println!("difftastic: skipped, difft is not on PATH (cargo install difftastic --locked)");
    }
    for name in named {
        match folder(&name) {
            Some(repository) => history(&name, &repository, number, &programs),
            None => println!("{name}: skipped, there is no such folder, nor in INVDIFF_HISTORIES"),
        }
    }
}

/// The clone that a word names.
fn folder(name: &str) -> Option<PathBuf> {
    let below = std::env::var_os("INVDIFF_HISTORIES").map(|folder| Path::new(&folder).join(name));
    [below, Some(name.into())].into_iter().flatten().find(|folder| folder.is_dir())
}

fn history(name: &str, repository: &Path, number: usize, programs: &[Program]) {
    let commits = commits(repository, usize::MAX);
    let commits = commits.get(..number.min(commits.len())).unwrap_or_default();
    let mut taken: Vec<Vec<Taken>> = vec![Vec::new(); programs.len()];
    let mut slow: Vec<(f64, &str)> = Vec::new();
    for commit in commits {
        // A cache of its own: that of the commit before would answer a part.
        let Ok(cache) = tempfile::tempdir() else { continue };
        let runs = programs.iter().map(|p| p.run(repository, commit, cache.path()));
        // A commit counts for all or for none.
        let Some(runs) = runs.collect::<Option<Vec<Taken>>>() else {
            println!("{name}: {commit} left out, a program did not start");
            continue;
        };
        for (list, (run, program)) in taken.iter_mut().zip(runs.into_iter().zip(programs)) {
            list.push(run);
            if *program == Program::Cold {
                slow.push((run.wall, commit));
            }
        }
    }
    println!("{name}: {} commits that touch C", taken.first().map_or(0, Vec::len));
    println!("  {:<14} {:>33}   {:>33}", "", "elapsed, ms", "on processors, ms");
    println!(
        "  {:<14} {:>8} {:>8} {:>8} {:>6}   {:>8} {:>8} {:>8} {:>6}   {:>8} {:>6}",
        "", "median", "p95", "max", "ratio", "median", "p95", "max", "ratio", "peak MiB", "killed"
    );
    // Ratios of medians are to difftastic; without it to nothing.
    let base = programs.iter().position(|p| *p == Program::Difftastic).and_then(|at| taken.get(at));
    for (program, list) in programs.iter().zip(&taken) {
        let columns = |of: fn(&Taken) -> f64| {
            let at = |share| quantile(list.iter().map(of), share) * 1000.0;
            let ratio = base.map(|b| quantile(list.iter().map(of), 0.5) / quantile(b.iter().map(of), 0.5));
            let ratio = ratio.map_or("-".to_owned(), |r| format!("{r:.2}"));
            format!("{:>8.1} {:>8.1} {:>8.1} {ratio:>6}", at(0.5), at(0.95), at(1.0))
        };
        let peak = list.iter().map(|t| t.peak_kib).fold(0.0, f64::max) / 1024.0;
        let killed = list.iter().filter(|t| t.killed).count();
        let (wall, cpu) = (columns(|t| t.wall), columns(|t| t.cpu));
        println!("  {:<14} {wall}   {cpu}   {peak:>8.0} {killed:>6}", program.name());
    }
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (seconds, commit) in slow.iter().take(SLOWEST) {
        println!("  slow  {}  {seconds:.2} s", commit.get(..10).unwrap_or(commit));
    }
}

/// The smallest number that a share of all does not exceed; 0 of none.
fn quantile(numbers: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    let rank = (share * numbers.len() as f64).ceil() as usize;
    numbers.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}
