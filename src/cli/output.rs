//! The one place that results are written to: standard output, a pager, or a file.

use super::colour::{self, DisplayConfig, PagerConfig, Surroundings};
use super::error::CliError;
use super::globals::{ColourChoice, GlobalArgs};
use crate::report::palette::Palette;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Columns where nothing says how wide the output is, as git assumes.
const DEFAULT_WIDTH: usize = 80;

/// Where a command's result goes. Nothing else writes to standard output.
pub struct Output {
    sink: Sink,
    palette: Palette,
    width: usize,
    /// Pager to start at the first byte, if any.
    pager: Option<Command>,
}

enum Sink {
    Stdout(BufWriter<io::Stdout>),
    Pager {
        child: Child,
    },
    /// Kept in memory, and put in place when the command has succeeded: an interrupt leaves neither
    /// half a file nor a temporary one.
    NewFile {
        content: Vec<u8>,
        path: PathBuf,
    },
    /// A file that is no regular one (`/dev/null`, a pipe) and cannot be replaced.
    Special(BufWriter<File>),
    Captured(Vec<u8>),
}

impl Output {
    /// Opens what the options name, and decides on colours and pager.
    pub fn new(globals: &GlobalArgs, configured: impl FnOnce() -> DisplayConfig) -> Result<Output, CliError> {
        let sink = match &globals.output {
            Some(path) if path.as_os_str() != "-" => open_file(path)?,
            _ => Sink::Stdout(BufWriter::new(io::stdout())),
        };
        let to_terminal = matches!(sink, Sink::Stdout(_)) && io::stdout().is_terminal();
        let option = if globals.no_color { Some(ColourChoice::Never) } else { globals.color };
        let around = Surroundings::look(to_terminal);
        let machine = globals.json || globals.porcelain.is_some();
        // Git is asked only where its answer can matter.
        let config = if machine || matches!(option, Some(ColourChoice::Never)) && !to_terminal {
            DisplayConfig::default()
        } else {
            configured()
        };
        let palette = if machine { Palette::plain() } else { colour::palette(option, &config, around) };
        let pages = to_terminal && !around.pager_in_use && !globals.no_pager;
        let pager = if pages { pager_command(globals, &config) } else { None };
        Ok(Output { sink, palette, width: width(to_terminal), pager })
    }

    /// Keeps what is written, without colours; see [`Output::captured`].
    pub fn capturing() -> Output {
        Output {
            sink: Sink::Captured(Vec::new()),
            palette: Palette::plain(),
            width: DEFAULT_WIDTH,
            pager: None,
        }
    }

    /// What was written to an output made by [`Output::capturing`].
    pub fn captured(&self) -> &[u8] {
        match &self.sink {
            Sink::Captured(bytes) => bytes,
            _ => &[],
        }
    }

    /// The output is short or meant for a program: never start a pager.
    pub fn without_pager(&mut self) {
        self.pager = None;
    }

    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// Columns of the terminal, or what `COLUMNS` says.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether the first byte starts a pager.
    pub fn may_page(&self) -> bool {
        self.pager.is_some()
    }

    /// Writes out everything; waits for the pager; puts the file in place if `success`.
    pub fn finish(&mut self, success: bool) -> Result<(), CliError> {
        match std::mem::replace(&mut self.sink, Sink::Captured(Vec::new())) {
            Sink::Stdout(mut stdout) => stdout.flush()?,
            Sink::Special(mut file) => file.flush()?,
            Sink::Pager { mut child } => {
                drop(child.stdin.take());
                child.wait()?;
            }
            Sink::NewFile { content, path } if success => {
                put_in_place(&content, &path).map_err(|e| cannot_write(&path, &e))?;
            }
            Sink::NewFile { .. } => {}
            captured @ Sink::Captured(_) => self.sink = captured,
        }
        Ok(())
    }

    fn start_pager(&mut self) {
        let Some(mut command) = self.pager.take() else { return };
        // While the pager runs, Ctrl-C is the pager's: if it ended this process, the shell and the
        // pager would share the terminal. The flag is never read; that it is set is all that happens.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
        // A pager that cannot be started is no reason to show nothing.
        if let Ok(child) = command.stdin(Stdio::piped()).spawn() {
            self.sink = Sink::Pager { child };
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.start_pager();
        match &mut self.sink {
            Sink::Stdout(stdout) => stdout.write(bytes),
            Sink::Special(file) => file.write(bytes),
            Sink::NewFile { content, .. } => content.write(bytes),
            Sink::Captured(captured) => captured.write(bytes),
            Sink::Pager { child } => match &mut child.stdin {
                Some(stdin) => stdin.write(bytes),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(stdout) => stdout.flush(),
            Sink::Special(file) => file.flush(),
            Sink::NewFile { .. } | Sink::Captured(_) => Ok(()),
            Sink::Pager { child } => child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.flush()),
        }
    }
}

fn open_file(path: &Path) -> Result<Sink, CliError> {
    let special = std::fs::metadata(path).is_ok_and(|m| !m.is_file());
    if special {
        let file = File::options().write(true).open(path).map_err(|e| cannot_write(path, &e))?;
        return Ok(Sink::Special(BufWriter::new(file)));
    }
    // Better said now than after minutes of analysis.
    std::fs::read_dir(folder_of(path)).map_err(|e| cannot_write(path, &e))?;
    Ok(Sink::NewFile { content: Vec::new(), path: path.to_owned() })
}

/// Writes a whole file, with the folders that lead to it.
pub(super) fn write_file(path: &Path, content: &[u8]) -> Result<(), CliError> {
    std::fs::create_dir_all(folder_of(path)).map_err(|e| cannot_write(path, &e))?;
    put_in_place(content, path).map_err(|e| cannot_write(path, &e))
}

/// Writes beside the file and renames.
fn put_in_place(content: &[u8], path: &Path) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file; the umask takes its share. The default is a file for the owner alone.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".invdiff-").tempfile_in(folder_of(path))?;
    file.write_all(content)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    CliError::fatal(format!("cannot write '{}'", path.display())).caused_by(error)
}

/// Returns the pager that git would start; `None` for `cat`, for nothing, and if git cannot say.
fn pager_command(globals: &GlobalArgs, config: &DisplayConfig) -> Option<Command> {
    let line = match config.pager() {
        PagerConfig::Off if !globals.pager => return None,
        PagerConfig::Command(line) => line,
        PagerConfig::Default | PagerConfig::Off => {
            let answer = globals.git().args(["var", "GIT_PAGER"]).output().ok()?;
            String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned()
        }
    };
    if line.trim().is_empty() || line.trim() == "cat" {
        return None;
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    Some(command)
}

fn width(to_terminal: bool) -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|c| c.trim().parse().ok()).filter(|c| *c > 0);
    let measured =
        || terminal_size::terminal_size().filter(|_| to_terminal).map(|(width, _)| usize::from(width.0));
    named.or_else(measured).unwrap_or(DEFAULT_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globals(path: &Path) -> GlobalArgs {
        GlobalArgs { output: Some(path.to_owned()), ..GlobalArgs::default() }
    }

    #[test]
    fn a_file_appears_only_after_success() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for success in [false, true] {
            let mut output = Output::new(&globals(&path), DisplayConfig::default).unwrap();
            output.write_all(b"facts").unwrap();
            assert!(!path.exists());
            output.finish(success).unwrap();
            assert_eq!(std::fs::read(&path).ok(), success.then(|| b"facts".to_vec()));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named() {
        let error = Output::new(&globals(Path::new("/nonexistent/x")), DisplayConfig::default).err().unwrap();
        assert!(error.message.contains("/nonexistent/x"), "{error}");
    }
}
