//! The one error type of the command line, and the exit codes.

use crate::report::escape;
use std::fmt;

/// How a command that did its work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// Nothing to object to.
    Done,
    /// A difference under `--exit-code`, a regression, or a hook that blocks.
    Objection,
    /// Could not decide, under `--strict`.
    Undecided,
}

impl ExitCode {
    pub fn code(self) -> u8 {
        match self {
            ExitCode::Done => 0,
            ExitCode::Objection => 1,
            ExitCode::Undecided => 3,
        }
    }
}

/// What kind of failure it was; decides the exit code and the first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line cannot be understood or asks for what does not exist: exit 129.
    Usage,
    /// No repository, bad revision, unreadable object, failed write: exit 128.
    Fatal,
    /// The reader of the output went away: exit 141 without a word, as if SIGPIPE had killed us.
    BrokenPipe,
    /// A signal asked for the end: 128 and its number, as shells have it.
    Stopped(u8),
}

impl ErrorKind {
    /// Whether a signal ended the run, which may have left threads behind.
    pub fn is_stopped(self) -> bool {
        matches!(self, ErrorKind::Stopped(_))
    }

    pub fn code(self) -> u8 {
        match self {
            ErrorKind::Usage => 129,
            ErrorKind::Fatal => 128,
            ErrorKind::BrokenPipe => 141,
            ErrorKind::Stopped(status) => status,
        }
    }
}

/// A failure as the user is told about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    pub kind: ErrorKind,
    /// What was wrong and where; no full stop at the end.
    pub message: String,
    /// What led to it, outermost first.
    pub causes: Vec<String>,
    /// What to do.
    pub hints: Vec<String>,
}

impl CliError {
    pub fn usage(message: impl Into<String>) -> CliError {
        CliError { kind: ErrorKind::Usage, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    pub fn fatal(message: impl Into<String>) -> CliError {
        CliError { kind: ErrorKind::Fatal, ..CliError::usage(message) }
    }

    /// A run that a signal ended; `status` is 128 and its number.
    pub fn stopped(status: u8, message: impl Into<String>) -> CliError {
        CliError { kind: ErrorKind::Stopped(status), ..CliError::usage(message) }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hints.push(hint.into());
        self
    }

    /// Adds `error` and what it was caused by.
    pub fn caused_by(mut self, error: &(dyn std::error::Error + 'static)) -> CliError {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            // Wrappers often repeat the text of what they wrap.
            if !self.message.contains(&text) && !self.causes.iter().any(|c| c.contains(&text)) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }
}

/// Lines for standard error: `fatal: ...`, `  because ...`, `hint: ...`. Control characters in names
/// that the messages quote are escaped.
impl fmt::Display for CliError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.kind {
            ErrorKind::Usage => "error",
            ErrorKind::Fatal | ErrorKind::BrokenPipe => "fatal",
            ErrorKind::Stopped(_) => "stopped",
        };
        // A usage error goes on with the usage, whose lines need no prefix.
        let (first, rest) = self.message.split_once('\n').unwrap_or((&self.message, ""));
        writeln!(out, "{word}: {}", escape::visible(first))?;
        rest.lines().try_for_each(|line| writeln!(out, "{}", escape::visible(line)))?;
        for cause in &self.causes {
            write_lines(out, "  because", cause)?;
        }
        self.hints.iter().try_for_each(|hint| write_lines(out, "hint", hint))
    }
}

fn write_lines(out: &mut fmt::Formatter<'_>, word: &str, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(out, "{word}: {}", escape::visible(line)))
}

impl std::error::Error for CliError {}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> CliError {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return CliError { kind: ErrorKind::BrokenPipe, ..CliError::fatal("output closed") };
        }
        CliError::fatal("cannot write the output").caused_by(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_and_what_to_do() {
        let error = CliError::fatal("bad revision 'a\x1b[31m'").hint("try\nthis");
        assert_eq!(error.to_string(), "fatal: bad revision 'a\\x1b[31m'\nhint: try\nhint: this\n");
    }

    #[test]
    fn causes_are_listed_once() {
        let inner = std::io::Error::other("disk full");
        let error = CliError::fatal("cannot write 'x'").caused_by(&inner);
        assert_eq!(error.to_string(), "fatal: cannot write 'x'\n  because: disk full\n");
    }
}
