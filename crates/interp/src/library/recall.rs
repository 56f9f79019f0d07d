//! What a program did before decides what later calls of the library find: the environment, files by name,
//! handlers of signals, buffers that streams were lent.
//!
//! An answer of the input that contradicts these is none. What is easily known is answered from here, and
//! where it is not, the run ends without an answer.

use super::model::{Arguments, Model, NOTHING, row};
use super::{own, string};
use crate::ir::{Const, UndefinedKind};
use crate::machine::Machine;
use crate::stop::{Run, Stop};

const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;
const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;
const LAST_SIGNAL: i32 = 64;
/// Signals that do nothing to a program that does not ask for them.
const HARMLESS: [i32; 4] = [17, 18, 23, 28];

pub(super) const MODELS: &[Model] = &[
    row("signal", |m, a| {
        let (signal, handler) = (a.i32(0)?, a.word(1)?);
        if !(1..=LAST_SIGNAL).contains(&signal) || [SIGKILL, SIGSTOP].contains(&signal) {
            m.set_errno(22)?;
            return a.address(u64::MAX);
        }
        if m.left.signals_open {
            return open("a handler of a signal");
        }
        a.address(m.left.handlers.insert(signal, handler).unwrap_or(DEFAULT))
    }),
    row("raise", |m, a| {
        deliver(m, a.i32(0)?)?;
        a.integer(0)
    }),
    row("abort", |m, _| {
        if m.left.handlers.get(&SIGABRT).is_some_and(|h| *h > IGNORE) {
            deliver(m, SIGABRT)?;
        }
        Err(Stop::Abort)
    }),
    row("setbuf", |m, a| lend(m, a, 1, if a.word(1)? == 0 { 2 } else { 0 }, 8192).and(NOTHING)),
    row("setvbuf", |m, a| {
        lend(m, a, 1, a.i32(2)?, a.word(3)?)?;
        a.integer(0)
    }),
];

fn open<T>(what: &str) -> Run<T> {
    Err(Stop::Unsupported(format!("{what} that an earlier call decides")))
}

/// A signal arrives: its handler runs, or what happens to a program that has none.
fn deliver(m: &mut Machine<'_>, signal: i32) -> Run<()> {
    if m.left.signals_open || m.left.handling.contains(&signal) {
        return open("a signal");
    }
    match m.left.handlers.get(&signal).copied().unwrap_or(DEFAULT) {
        IGNORE => Ok(()),
        DEFAULT if HARMLESS.contains(&signal) => Ok(()),
        DEFAULT if signal == SIGABRT => Err(Stop::Abort),
        DEFAULT => Err(Stop::Unsupported("a signal that ends the program".into())),
        handler => {
            m.left.handling.insert(signal);
            m.callback(handler, &[Const::bv(32, signal as i128)])?;
            m.left.handling.remove(&signal);
            Ok(())
        }
    }
}

/// A stream gets a buffer: what it holds is nothing to read until the stream is closed.
fn lend(m: &mut Machine<'_>, a: &Arguments<'_>, buffer: usize, mode: i32, size: u64) -> Run<()> {
    let to = super::stdio::stream(m, a, 0)?;
    match (to, mode) {
        (super::stdio::Stream::Out, 2) => m.streams.unbuffer(),
        (super::stdio::Stream::Out, 1) => return Err(Stop::Unsupported("line buffering".into())),
        _ => {}
    }
    let addr = a.word(buffer)?;
    if let super::stdio::Stream::Own(stream) = to {
        let is_lent = own::with(m, stream, |s, memory| s.lend(memory, addr, size, mode))?;
        m.left.buffers_lent |= is_lent;
        return Ok(());
    }
    if addr != 0 && mode != 2 {
        m.memory.undefine(addr, size)?;
        m.left.buffers_lent = true;
    }
    Ok(())
}

/// Ends a run in which an assertion fails whose signal the program handles.
pub(super) fn before_failure(m: &Machine<'_>) -> Run<()> {
    match m.left.handlers.get(&SIGABRT) {
        Some(handler) if *handler != DEFAULT => open("a signal"),
        _ => Ok(()),
    }
}

/// Functions that give the same object in every call, by the object.
fn reused(name: &str) -> Option<&'static str> {
    Some(match name {
        "localtime" | "gmtime" => "tm",
        "asctime" | "ctime" => "asctime",
        "ttyname" => "ttyname",
        "inet_ntoa" => "inet_ntoa",
        "getpwnam" | "getpwuid" | "getpwent" => "passwd",
        "getgrnam" | "getgrgid" | "getgrent" => "group",
        "gethostbyname" | "gethostbyaddr" => "hostent",
        "localeconv" => "lconv",
        "readdir" => "dirent",
        _ => return None,
    })
}

/// Whether a function that nobody defines names a file by its argument, and which arguments do.
fn names_files(name: &str) -> &'static [usize] {
    match name {
        "fopen" | "open" | "creat" | "stat" | "lstat" | "access" | "unlink" | "remove" | "mkdir"
        | "rmdir" | "chdir" | "chmod" | "chown" | "truncate" | "utime" | "opendir" | "readlink"
        | "mkfifo" | "open64" | "fopen64" => &[0],
        "rename" | "link" | "symlink" => &[0, 1],
        "freopen" => &[0],
        _ => &[],
    }
}

fn text(m: &mut Machine<'_>, args: &[Const], k: usize) -> Run<Vec<u8>> {
    let addr = args.get(k).and_then(|c| c.unsigned()).ok_or(UndefinedKind::BadCall)? as u64;
    Ok(m.memory.string(addr, u64::MAX)?)
}

/// What the earlier calls say of a call of a function that nobody defines: its result, if they decide it;
/// nothing, where the input may.
///
/// Errors: the end of the run, where they decide it in a way that is not followed.
pub(crate) fn answered(m: &mut Machine<'_>, name: &str, args: &[Const]) -> Run<Option<Const>> {
    let bits = m.program.pointer_bits();
    match name {
        "getenv" | "secure_getenv" => {
            let variable = text(m, args, 0)?;
            let known = m.left.environment.get(&variable).copied();
            let known = known.or(m.left.cleared.then_some(None));
            return Ok(known.map(|address| Const::bv(bits, address.unwrap_or(0) as i128)));
        }
        "open_wmemstream" | "fopencookie" => m.left.streams_open = true,
        "alarm" | "ualarm" | "setitimer" | "pause" | "kill" | "killpg" | "pthread_kill" | "sigqueue"
        | "sigsuspend" | "sigwait" | "timer_create"
            if m.left.signals_open || !m.left.handlers.is_empty() =>
        {
            return open("a signal");
        }
        "sigaction" | "sigprocmask" | "sigset" | "siginterrupt" | "sigaltstack" | "pthread_sigmask" => {
            m.left.signals_open = true;
        }
        _ => {}
    }
    if m.left.streams_open {
        return open("a stream");
    }
    if let Some(known) = own::answered(m, name, args)? {
        return Ok(Some(known));
    }
    if let Some(object) = reused(name)
        && !m.left.reused.insert(object)
    {
        return open("an object");
    }
    for k in names_files(name) {
        let file = text(m, args, *k)?;
        if m.left.files_open || m.left.files.contains(&file) {
            return open("a file");
        }
    }
    Ok(None)
}

/// Takes down what a call left behind that nobody defines, and that gave this.
pub(crate) fn leave(m: &mut Machine<'_>, name: &str, args: &[Const], result: Option<Const>) -> Run<()> {
    let succeeded = result.is_none_or(|c| c.to_bits() == 0);
    match name {
        "setenv" if succeeded => {
            let (variable, value) = (text(m, args, 0)?, text(m, args, 1)?);
            let replaces = args.get(2).is_some_and(|c| c.to_bits() != 0);
            let is_set = match m.left.environment.get(&variable) {
                Some(known) => Some(known.is_some()),
                None if m.left.cleared => Some(false),
                None => None,
            };
            match (replaces, is_set) {
                (false, Some(true)) => {}
                (false, None) => return open("a variable of the environment"),
                _ => {
                    let address = string::place(m, &[value.as_slice(), b"\0"].concat())?;
                    m.left.environment.insert(variable, Some(address));
                }
            }
        }
        "unsetenv" if succeeded => {
            let variable = text(m, args, 0)?;
            m.left.environment.insert(variable, None);
        }
        "clearenv" if succeeded => {
            m.left.environment.clear();
            m.left.cleared = true;
        }
        "putenv" if succeeded => {
            let whole = text(m, args, 0)?;
            let start = args.first().map_or(0, |c| c.to_bits() as u64);
            match whole.iter().position(|b| *b == b'=') {
                // The string itself becomes part of the environment.
                Some(at) => {
                    let value = Some(start + at as u64 + 1);
                    m.left.environment.insert(whole.get(..at).unwrap_or(&[]).to_vec(), value);
                }
                None => _ = m.left.environment.insert(whole, None),
            }
        }
        "fopen" | "fopen64" | "freopen" if !succeeded => {
            let (file, mode) = (text(m, args, 0)?, text(m, args, 1)?);
            if mode.first() != Some(&b'r') || mode.contains(&b'+') {
                m.left.files.insert(file);
            }
        }
        // The descriptor is the result.
        "open" | "open64" if args.get(1).is_some_and(|flags| flags.to_bits() & 3 != 0) => {
            let file = text(m, args, 0)?;
            m.left.files.insert(file);
        }
        "chdir" | "fchdir" | "chroot" | "dup2" | "dup3" if result.is_none_or(|c| c.signed() >= Some(0)) => {
            m.left.files_open = true;
        }
        "creat" | "unlink" | "remove" | "rename" | "mkdir" | "rmdir" | "chmod" | "truncate" | "symlink"
        | "link" | "mkfifo" | "utime"
            if name == "creat" || succeeded =>
        {
            for k in names_files(name) {
                let file = text(m, args, *k)?;
                m.left.files.insert(file);
            }
        }
        _ => {}
    }
    Ok(())
}
