//! Trial of a suspicious unit in a child process of the same program.
//!
//! The preprocessor has no budget, and neither running out of memory nor a stack overflow can be
//! caught. So a unit that looks explosive (see `survey`) is first parsed by a child whose memory and
//! processor time the system limits; only when that went well does this process parse it, too, in one
//! pass under what the child guessed. The child asks its parent for every file over its standard input and output, so it needs no access
//! to the repository.
//!
//! A frame is a byte that says what it is, a little-endian `u32` length and that many bytes.

use super::guard::Rejected;
use super::parse::{Options, Tried, try_here};
use super::{files, guard};
use crate::history::SourceTree;
use crate::ir::DataModel;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// First argument that makes the program a child; see [`child_main`].
pub const ARGUMENT: &str = "__parse-unit";

/// Address space of the child, the reserved stack included.
const MEMORY_BYTES: u64 = 3 << 30;
/// Processor time of the child; memory or a cap should stop it long before, on any machine.
const CPU_SECONDS: u64 = 120;
/// Longest wait for the child, should it hang without computing.
const WALL: Duration = Duration::from_secs(300);
/// Longest frame that is believed.
const MAX_FRAME: u32 = 1 << 30;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says which program to start as a child: one whose `main` calls [`child_main`] when its first
/// argument is [`ARGUMENT`]. Without one, suspicious units are rejected. Only the first call counts.
pub fn set_program(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

fn write_frame(to: &mut impl Write, kind: u8, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
    to.write_all(&[kind])?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(payload)?;
    to.flush()
}

fn read_frame(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0u8; 5];
    from.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut payload = vec![0; length as usize];
    from.read_exact(&mut payload)?;
    Ok((kind, payload))
}

/// Parses `path` in a child; `Ok` means that this process can safely do the same. `None`: the child was not asked
/// exactly what this process is, so what it guessed need not hold.
pub(super) fn trial(
    tree: &dyn SourceTree,
    path: &Path,
    options: &Options,
) -> Result<Option<Tried>, Rejected> {
    let limit = |name, value| Err(Rejected::Limit { path: path.to_path_buf(), name, value });
    let Some(program) = PROGRAM.get() else { return limit("preprocessing", 0) };
    let mut command = Command::new(program);
    command.arg(ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(child) = command.spawn() else { return limit("preprocessing", 0) };
    match serve(child, tree, path, options) {
        Ok(Some(verdict)) => Ok(verdict?.filter(|_| is_exact(tree, path, options))),
        // It died: the system took its memory or its time, or its stack overflowed.
        Ok(None) | Err(_) => limit("memory", MEMORY_BYTES),
    }
}

/// Whether the child learns of every path and option what it is: a frame has no room for names that are not text.
fn is_exact(tree: &dyn SourceTree, path: &Path, options: &Options) -> bool {
    let own = Options { files: Arc::default(), ..options.clone() };
    let arrives = decode(&encode(path, options)) == Some((path.to_path_buf(), own));
    arrives && tree.paths().iter().all(|path| path.to_str().is_some())
}

/// Answers the child's questions until it gives its verdict; `None` when it ended without one.
fn serve(
    mut child: Child,
    tree: &dyn SourceTree,
    path: &Path,
    options: &Options,
) -> io::Result<Option<Result<Option<Tried>, Rejected>>> {
    let (Some(mut to), Some(mut from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let child = Arc::new(Mutex::new(child));
    let over = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (watched, done) = (child.clone(), over.clone());
        let watch = scope.spawn(move || {
            let start = Instant::now();
            while !done.load(Ordering::Relaxed) {
                if start.elapsed() > WALL {
                    let _ = watched.lock().unwrap_or_else(|e| e.into_inner()).kill();
                    return;
                }
                std::thread::park_timeout(WALL.saturating_sub(start.elapsed()) + Duration::from_millis(1));
            }
        });
        let result = (|| {
            write_frame(&mut to, b'u', &encode(path, options))?;
            loop {
                let Ok((kind, payload)) = read_frame(&mut from) else { return Ok(None) };
                let asked = PathBuf::from(String::from_utf8_lossy(&payload).into_owned());
                let answer: Option<Vec<u8>> = match kind {
                    b'r' => tree.read(&asked).map(|b| b.to_vec()),
                    b'i' => tree.content_id(&asked).map(String::into_bytes),
                    b'p' => Some(join(tree.paths().iter().map(|p| p.to_string_lossy().into_owned()))),
                    _ => return Ok(Some(verdict(path, &String::from_utf8_lossy(&payload)))),
                };
                write_frame(&mut to, u8::from(answer.is_some()), &answer.unwrap_or_default())?;
            }
        })();
        over.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        let mut child = child.lock().unwrap_or_else(|e| e.into_inner());
        let _ = child.kill();
        let _ = child.wait();
        result
    })
}

/// Joins strings with the one byte that no path holds.
fn join(parts: impl Iterator<Item = String>) -> Vec<u8> {
    parts.collect::<Vec<_>>().join("\0").into_bytes()
}

fn split(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).split('\0').map(str::to_owned).collect()
}

/// What one unit is parsed under; other files' own options are no part of it.
fn encode(path: &Path, options: &Options) -> Vec<u8> {
    let mut parts = vec![path.to_string_lossy().into_owned()];
    parts.push(if options.data_model == DataModel::Ilp32 { "32" } else { "64" }.to_owned());
    parts.push(options.host_headers.to_string());
    for (name, value) in &options.defines {
        parts.push(match value {
            Some(value) => format!("D{name}={value}"),
            None => format!("D{name}"),
        });
    }
    parts.extend(options.undefines.iter().map(|n| format!("U{n}")));
    for (letter, folders) in
        [('I', &options.include_dirs), ('Q', &options.quote_dirs), ('S', &options.system_dirs)]
    {
        parts.extend(folders.iter().map(|d| format!("{letter}{}", d.display())));
    }
    join(parts.into_iter())
}

fn decode(bytes: &[u8]) -> Option<(PathBuf, Options)> {
    let mut parts = split(bytes).into_iter();
    let path = PathBuf::from(parts.next()?);
    let mut options = Options::default();
    if parts.next()? == "32" {
        options.data_model = DataModel::Ilp32;
    }
    options.host_headers = parts.next()? == "true";
    for part in parts {
        match (part.get(..1), part.get(1..)) {
            (Some("D"), Some(text)) => options.defines.push(match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (text.to_owned(), None),
            }),
            (Some("U"), Some(text)) => options.undefines.push(text.to_owned()),
            (Some("I"), Some(text)) => options.include_dirs.push(PathBuf::from(text)),
            (Some("Q"), Some(text)) => options.quote_dirs.push(PathBuf::from(text)),
            (Some("S"), Some(text)) => options.system_dirs.push(PathBuf::from(text)),
            _ => {}
        }
    }
    Some((path, options))
}

/// Reads the child's verdict: `ok` and what it came to, or a cap's name and value, or a crash's message.
fn verdict(path: &Path, text: &str) -> Result<Option<Tried>, Rejected> {
    if let Some(tried) = text.strip_prefix("ok ") {
        return Ok(serde_json::from_str(tried).ok());
    }
    let path = path.to_path_buf();
    let mut words = text.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some("missing"), ..) => Err(Rejected::Missing(path)),
        (Some("limit"), Some(name), Some(value)) => {
            let name = guard::LIMITS.iter().find(|n| **n == name).copied().unwrap_or("preprocessing");
            Err(Rejected::Limit { path, name, value: value.parse().unwrap_or(0) })
        }
        _ => Err(Rejected::Crashed { path, message: text.trim_start_matches("crashed ").to_owned() }),
    }
}

/// The parent's tree, asked over the pipes.
struct RemoteTree {
    pipes: Mutex<(io::Stdin, io::Stdout)>,
    paths: OnceLock<Arc<[PathBuf]>>,
}

impl RemoteTree {
    fn ask(&self, kind: u8, path: &Path) -> Option<Vec<u8>> {
        let mut pipes = self.pipes.lock().ok()?;
        let (from, to) = &mut *pipes;
        write_frame(to, kind, path.to_string_lossy().as_bytes()).ok()?;
        read_frame(from).ok().filter(|(found, _)| *found == 1).map(|(_, payload)| payload)
    }
}

impl SourceTree for RemoteTree {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.ask(b'r', path).map(Arc::from)
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        let ask = || {
            split(&self.ask(b'p', Path::new("")).unwrap_or_default()).into_iter().map(PathBuf::from).collect()
        };
        self.paths.get_or_init(ask).clone()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        self.ask(b'i', path).map(|b| String::from_utf8_lossy(&b).into_owned())
    }
}

/// The child's `main`: limits itself, reads what to parse, parses it, says how it went.
pub fn child_main() -> ExitCode {
    limit_resources();
    let mut pipes = (io::stdin(), io::stdout());
    let Ok((_, request)) = read_frame(&mut pipes.0) else { return ExitCode::FAILURE };
    let Some((path, options)) = decode(&request) else { return ExitCode::FAILURE };
    let tree = RemoteTree { pipes: Mutex::new(pipes), paths: OnceLock::new() };
    let text = match guard::on_large_stack(&path, || try_here(&tree, &path, &options)) {
        Ok(tried) => format!("ok {}", serde_json::to_string(&tried).unwrap_or_default()),
        Err(Rejected::Missing(_)) => "missing".to_owned(),
        Err(Rejected::Limit { name, value, .. }) => format!("limit {name} {value}"),
        Err(Rejected::Crashed { message, .. }) => format!("crashed {message}"),
    };
    match write_frame(&mut io::stdout(), b'v', text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(unix)]
fn limit_resources() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, most) in [(Resource::As, MEMORY_BYTES), (Resource::Cpu, CPU_SECONDS), (Resource::Core, 0)]
    {
        // A limit that cannot be set is one that the system already has lower.
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

#[cfg(not(unix))]
fn limit_resources() {}

/// Returns an identity of a unit under some options: two units with equal keys parse equally.
///
/// `reads` are those of an earlier parse ([`super::parse::Parsed::reads`]), asked again of `tree`;
/// no file is read. Cost: one look-up for each path.
pub fn unit_key(tree: &dyn SourceTree, reads: &[(PathBuf, Option<String>)], options: &Options) -> String {
    let mut hash = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(&encode(Path::new(env!("CARGO_PKG_VERSION")), options));
    for (path, _) in reads {
        add(path.to_string_lossy().as_bytes());
        // A missing file differs from one whose identity is empty.
        match files::answer(tree, path) {
            Some(id) => add(format!("+{id}").as_bytes()),
            None => add(b"-"),
        }
    }
    hash.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn a_child_is_believed_only_where_it_was_asked_the_same() {
        let tree = MemoryTree::new([("a.c", "")]);
        let mut options = Options {
            defines: vec![("A".into(), None), ("F(x)".into(), Some("x=1".into()))],
            include_dirs: vec![PathBuf::from("inc")],
            ..Options::default()
        };
        assert!(is_exact(&tree, Path::new("a.c"), &options));
        options.defines.push(("B".into(), Some("\0".into())));
        assert!(!is_exact(&tree, Path::new("a.c"), &options));
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let odd = Path::new(std::ffi::OsStr::from_bytes(b"\xff.c"));
            assert!(!is_exact(&tree, odd, &Options::default()));
            assert!(!is_exact(&MemoryTree::new([(odd, "")]), Path::new("a.c"), &Options::default()));
        }
    }
}
