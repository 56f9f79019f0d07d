//! Oracle: the interpreter against compiled programs, byte for byte.
//!
//! All subjects are compiled once and linked into one driver that forks for each input, so that
//! thousands of runs take seconds. Skipped where there is no C compiler or no shared data.

use crate::generate_c;
use crate::random_c;
use crate::support::oracle::shared;
use crate::support::tier;
use git_invdiff::frontend;
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::{End, Generator, Input, Limits, Program, run};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Generated inputs for each program.
const GENERATED: usize = 200;

/// Reads `(subject, length, bytes)` records from a file, runs each in a child whose standard input
/// is a pipe, and writes `(status, length, output)` records.
const DRIVER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>
extern int (*const subjects[])(int, char **);
int main(int argc, char **argv) {
    /* Read at once: a child's exit() would move the place in a shared stream. */
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    char *args[] = {"program", 0};
    struct stat asked;
    if (!in || !out || fstat(fileno(in), &asked)) return 1;
    char *all = malloc(asked.st_size + 1), *at = all;
    if (fread(all, 1, asked.st_size, in) != (unsigned long)asked.st_size) return 1;
    fclose(in);
    int file = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
    while (at < all + asked.st_size) {
        unsigned head[2];
        memcpy(head, at, sizeof head);
        char *text = at + sizeof head;
        at = text + head[1];
        int pipes[2];
        if (pipe(pipes)) return 1;
        if (write(pipes[1], text, head[1]) != (long)head[1]) return 1;
        close(pipes[1]);
        if (ftruncate(file, 0)) return 1;
        lseek(file, 0, SEEK_SET);
        fflush(out);
        int child = fork();
        if (child == 0) {
            dup2(pipes[0], 0);
            dup2(file, 1);
            freopen("/dev/null", "w", stderr);
            alarm(5);
            exit(subjects[head[0]](1, args));
        }
        int status;
        waitpid(child, &status, 0);
        close(pipes[0]);
        struct stat st;
        fstat(file, &st);
        char *output = malloc(st.st_size + 1);
        lseek(file, 0, SEEK_SET);
        if (read(file, output, st.st_size) != st.st_size) return 1;
        unsigned reply[2] = {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), st.st_size};
        fwrite(reply, 4, 2, out);
        fwrite(output, 1, st.st_size, out);
        free(output);
    }
    fclose(out);
    return 0;
}
"#;

struct Subject {
    name: String,
    source: Vec<u8>,
    inputs: Vec<Vec<u8>>,
}

struct Reply {
    status: u32,
    stdout: Vec<u8>,
}

fn tool(name: &str, args: &[&str], dir: &Path) -> bool {
    let done = Command::new(name).args(args).current_dir(dir).output();
    match done {
        Ok(o) if o.status.success() => true,
        Ok(o) => panic!("{name} {args:?}: {}", String::from_utf8_lossy(&o.stderr)),
        Err(_) => false,
    }
}

/// Compiles the subjects and runs every input; `None` without a compiler.
fn compiled(subjects: &[Subject]) -> Option<Vec<Vec<Reply>>> {
    let dir = invdiff_testing::scratch();
    let at = |name: &str| dir.path().join(name);
    let mut table = String::new();
    let mut objects = vec![];
    let mut sources = vec![];
    for (i, s) in subjects.iter().enumerate() {
        std::fs::write(at(&format!("s{i}.c")), &s.source).ok()?;
        table.push_str(&format!("int subject{i}(int, char **);\n"));
        sources.push(format!("s{i}.c"));
        objects.push(format!("s{i}.o"));
    }
    table.push_str("int (*const subjects[])(int, char **) = {");
    (0..subjects.len()).for_each(|i| table.push_str(&format!("subject{i}, ")));
    table.push_str("};\n");
    std::fs::write(at("driver.c"), format!("{DRIVER}{table}")).ok()?;
    let mut args = vec!["-c", "-O0", "-fwrapv", "-ffp-contract=off", "-w"];
    args.extend(sources.iter().map(String::as_str));
    if !tool("cc", &args, dir.path()) {
        return None;
    }
    for (i, o) in objects.iter().enumerate() {
        let (redefine, keep) = (format!("main=subject{i}"), format!("subject{i}"));
        if !tool("objcopy", &["--redefine-sym", &redefine, "--keep-global-symbol", &keep, o], dir.path()) {
            return None;
        }
    }
    let mut args = vec!["-w", "-O1", "driver.c", "-o", "driver"];
    args.extend(objects.iter().map(String::as_str));
    args.push("-lm");
    tool("cc", &args, dir.path());
    let mut requests = vec![];
    for (i, s) in subjects.iter().enumerate() {
        for input in &s.inputs {
            requests.extend_from_slice(&(i as u32).to_le_bytes());
            requests.extend_from_slice(&(input.len() as u32).to_le_bytes());
            requests.extend_from_slice(input);
        }
    }
    std::fs::File::create(at("requests")).ok()?.write_all(&requests).ok()?;
    assert!(tool("./driver", &["requests", "replies", "scratch"], dir.path()));
    let bytes = std::fs::read(at("replies")).ok()?;
    let mut rest = bytes.as_slice();
    let word = |rest: &mut &[u8]| {
        let (head, tail) = rest.split_at(4);
        *rest = tail;
        u32::from_le_bytes([head[0], head[1], head[2], head[3]])
    };
    let replies = subjects.iter().map(|s| {
        let one = s.inputs.iter().map(|_| {
            let (status, length) = (word(&mut rest), word(&mut rest));
            let (stdout, tail) = rest.split_at(length as usize);
            rest = tail;
            Reply { status, stdout: stdout.to_vec() }
        });
        one.collect()
    });
    Some(replies.collect())
}

fn load(source: &[u8]) -> Program {
    let tree = MemoryTree::new([("t.c", source)]);
    let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
    Program::new(vec![Arc::new(loaded.unit)])
}

/// Runs all subjects in both ways, prints what was compared, and panics on the first difference.
fn check(mut subjects: Vec<Subject>, generated: usize) {
    let programs: Vec<Program> = subjects.iter().map(|s| load(&s.source)).collect();
    for (s, p) in subjects.iter_mut().zip(&programs) {
        let mut generator = Generator::new(p, "main", 1);
        for _ in 0..generated {
            // What the program asks for is made while it runs.
            s.inputs.push(run(p, "main", &generator.next(), &Limits::default()).read.stdin);
        }
    }
    let Some(replies) = compiled(&subjects) else {
        tier::skipped("cc", "no C compiler");
        return;
    };
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let mut mismatches = vec![];
    for ((s, p), replies) in subjects.iter().zip(&programs).zip(replies) {
        for (stdin, reply) in s.inputs.iter().zip(replies) {
            let input = Input { stdin: stdin.clone(), ..Input::default() };
            let o = run(p, "main", &input, &Limits::default());
            let mut end = o.end.name().to_string();
            match &o.end {
                End::Undefined { kind, .. } => end = format!("undefined: {}", kind.name()),
                End::Unsupported { reason, .. } => end = format!("unsupported: {reason}"),
                _ => {}
            }
            if o.portability.platform_dependent || o.portability.open_sign {
                end.push_str(" (depends on platform)");
            } else if o.end.is_definite() {
                let status = o.ending.exit_code.unwrap_or(-1) as u32;
                let returns = p.function("main").is_some_and(|f| f.ret != git_invdiff::ir::CType::Void);
                if o.output.stdout != reply.stdout || (returns && status != reply.status) {
                    mismatches.push(format!(
                        "{} on {:?}: {:?} {status} instead of {:?} {}",
                        s.name,
                        String::from_utf8_lossy(stdin),
                        String::from_utf8_lossy(&o.output.stdout),
                        String::from_utf8_lossy(&reply.stdout),
                        reply.status
                    ));
                }
            }
            *ends.entry(end).or_default() += 1;
        }
    }
    println!("{} programs, {} runs: {ends:?}", subjects.len(), ends.values().sum::<usize>());
    assert!(
        mismatches.is_empty(),
        "{} mismatches\n{}",
        mismatches.len(),
        mismatches[..mismatches.len().min(20)].join("\n")
    );
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(dir).map(|d| d.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    all.sort();
    all
}

#[test]
fn student_programs_run_as_compiled() {
    let mut subjects = vec![];
    let Some(folder) = shared("subjects/itsp") else { return };
    let every = if tier::is_whole() { 1 } else { 4 };
    for pair in entries(&folder).iter().flat_map(|task| entries(task)).step_by(every) {
        let tests = std::fs::read(pair.join("tests.json")).unwrap_or_default();
        let tests: Vec<BTreeMap<String, String>> = serde_json::from_slice(&tests).unwrap_or_default();
        for version in ["v1.c", "v2.c"] {
            let Ok(source) = std::fs::read(pair.join(version)) else { continue };
            let inputs = tests.iter().filter_map(|t| Some(t.get("input")?.clone().into_bytes())).collect();
            subjects.push(Subject { name: pair.join(version).display().to_string(), source, inputs });
        }
    }
    assert!(!subjects.is_empty());
    check(subjects, GENERATED);
}

/// Programs of our own that go through the library and the language, on inputs of every shape.
#[test]
fn library_and_language_run_as_compiled() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/oracle");
    let numbers = [
        "",
        "1 2\n",
        "-7 3 0 0",
        "2147483647 -1",
        "-2147483648 5 97 98 1001 2",
        "3 4",
        "5 900\nrest",
        "6 1",
        "2 700 tail",
        "0 3",
        "4 0",
        "1 1",
        "12 13 14 15 16 17 18 19 20 -21 -22 3 3 1000000",
        "9 word 1.5 2.5 z 7 -8 9",
        "-5 3 0x1f a,b,c isa # 12ab 1e3\n A1 b2\n\n zz top aa is",
        "x",
        "255 256 65535 65536",
    ];
    let subjects = entries(&dir).into_iter().filter_map(|path| {
        let source = std::fs::read(&path).ok()?;
        let inputs = numbers.iter().map(|t| t.as_bytes().to_vec()).collect();
        Some(Subject { name: path.display().to_string(), source, inputs })
    });
    check(subjects.collect(), GENERATED);
}

/// Random programs; `INVDIFF_RANDOM_PROGRAMS` raises their number.
#[test]
fn random_programs_run_as_compiled() {
    let count = tier::rounds("INVDIFF_RANDOM_PROGRAMS", 12, 40) as u64;
    let inputs = ["1 2 -3 4 5 -6 7 8", "0 0 2147483647 -2147483648 -1 255 256 65535", "12 -7 100 1 1 1 3 9"];
    let subjects = (0..count).map(|seed| Subject {
        name: format!("random program {seed}"),
        source: random_c::program(seed).into_bytes(),
        inputs: inputs.iter().map(|t| t.as_bytes().to_vec()).collect(),
    });
    check(subjects.collect(), 4);
}

/// The programs of the oracle of facts; `INVDIFF_ORACLE` raises their number.
#[test]
fn generated_programs_run_as_compiled() {
    let count = tier::rounds("INVDIFF_ORACLE", 12, 60) as u64;
    let inputs =
        ["1 2 3 4 5 6", "0 0 0 0 0 0 7 -7 7 -7 7 -7", "-1 2147483647 -2147483648 255 256 3", "12 5 9"];
    let subjects = (0..count).map(|seed| {
        let program = generate_c::program(seed);
        Subject {
            name: format!("generated program {seed} ({})", program.class.name()),
            source: program.source.into_bytes(),
            inputs: inputs.iter().map(|t| t.as_bytes().to_vec()).collect(),
        }
    });
    check(subjects.collect(), 8);
}
