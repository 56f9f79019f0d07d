//! A command of the user's, run by the shell in a process group of its own.
//!
//! What it prints goes to standard error, line by line, with nothing in it that a terminal would act on. When it ends,
//! what it left running ends, too: a group that outlives it would go on writing into a folder that is gone. After the
//! time allowed, or on an interrupt, the whole group is killed. Processes that make themselves a session of their own
//! are no part of it.

use crate::cli::interrupt::Interrupt;
use crate::report::escape::visible;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Debug)]
pub(super) enum End {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
}

/// How often a command that runs is looked at for an interrupt.
const BREATH: Duration = Duration::from_millis(50);
/// How long is waited for the rest of what a command printed, should something outside its group hold the pipe.
const REST: Duration = Duration::from_secs(2);
/// Bytes of a line that are shown.
const LINE: u64 = 4096;

/// Runs a command in a folder. No process of its own can find the repository by git's variables.
pub(super) fn run(command: &str, folder: &Path, limit: Duration, is_quiet: bool) -> io::Result<End> {
    let interrupt = Interrupt::caught()?;
    let mut shell = Command::new("sh");
    // What git tells of one repository, and where the search for another one ends.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        shell.env_remove(name);
    }
    shell.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    shell.arg("-c").arg(command).current_dir(folder).stdin(Stdio::null());
    let over = match is_quiet {
        true => {
            shell.stdout(Stdio::null()).stderr(Stdio::null());
            None
        }
        false => {
            let (reader, writer) = io::pipe()?;
            shell.stdout(writer.try_clone()?).stderr(writer);
            Some(reader)
        }
    };
    own_group(&mut shell);
    let mut child = shell.spawn()?;
    // The ends of the pipe that are the shell's now.
    drop(shell);
    let over = over.map(|reader| shown(BufReader::new(reader)));
    let ended = wait(&mut child, limit, &interrupt);
    end_group(&child);
    let status = child.wait()?;
    if let Some(over) = over {
        let _ = over.recv_timeout(REST);
    }
    Ok(ended?.unwrap_or(End::Exited(status)))
}

/// Passes lines on to standard error from a thread, which says when there are no more.
fn shown(mut from: impl BufRead + Send + 'static) -> mpsc::Receiver<()> {
    let (over, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = Vec::new();
        loop {
            line.clear();
            match from.by_ref().take(LINE).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {
                    let text: Vec<u8> = line.strip_suffix(b"\n").unwrap_or(&line).to_vec();
                    let text = String::from_utf8_lossy(&text).replace('\t', "    ");
                    let _ = writeln!(io::stderr(), "{}", visible(text));
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = over.send(());
    });
    ended
}

/// Waits until a child ends; `None` if it did so by itself.
#[cfg(unix)]
fn wait(child: &mut Child, limit: Duration, interrupt: &Interrupt) -> io::Result<Option<End>> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let pid = Pid::from_child(child);
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        // It stays a process until its group is ended: its number is no other's.
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), how), Err(rustix::io::Errno::INTR)) {}
        let _ = ended.send(());
    });
    let start = Instant::now();
    loop {
        let left = limit.saturating_sub(start.elapsed());
        match end.recv_timeout(left.min(BREATH)) {
            Err(RecvTimeoutError::Timeout) if interrupt.is_there() => return Ok(Some(End::Interrupted)),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Ok(Some(End::TimedOut)),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // Nothing may be left of it.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// What is asked for elsewhere is refused before it comes here.
#[cfg(not(unix))]
fn wait(child: &mut Child, _: Duration, _: &Interrupt) -> io::Result<Option<End>> {
    child.wait().map(|_| None)
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

#[cfg(not(unix))]
fn end_group(_: &Child) {}
