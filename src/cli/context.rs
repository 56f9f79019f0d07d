//! What every command gets: the common options and the one place to write to.

use super::colour::DisplayConfig;
use super::interrupt::{Asked, Interrupt};
use super::output::Output;
use super::{CliError, GlobalArgs};
use crate::config::{ConfigError, GitConfig, Listing};
use crate::history::Repository;
use crate::store::Git;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// The surroundings of one command.
pub struct Context {
    pub globals: GlobalArgs,
    pub output: Output,
    /// The command line has a `--`, which ends the revisions.
    pub separated: bool,
    /// Set while an interrupt only ends the work, and not what is shown of it.
    interrupt: Option<Interrupt>,
    /// An interrupt ended the work.
    is_interrupted: bool,
    known: Arc<Known>,
}

/// The surroundings of what runs within a command.
pub(super) struct Inner {
    globals: GlobalArgs,
    known: Arc<Known>,
}

impl Inner {
    /// A context in which all words are revisions, whatever files there are, and what git has said is not asked again.
    pub fn context(&self) -> Result<Context, CliError> {
        Context::of(self.globals.clone(), true, self.known.clone())
    }
}

/// What git was asked for: who looks at many versions asks once.
#[derive(Default)]
struct Known {
    listing: OnceLock<Option<Listing>>,
    config: OnceLock<GitConfig>,
    repository: OnceLock<Git>,
}

impl Known {
    /// All that git's configuration says; `None` where git is not there, or rejects its configuration.
    fn listing(&self, globals: &GlobalArgs) -> Option<&Listing> {
        let ask = || {
            let output = globals.git().args(Listing::ARGUMENTS).output().ok()?;
            output.status.success().then(|| Listing::new(output.stdout))
        };
        self.listing.get_or_init(ask).as_ref()
    }
}

/// Formats in which a result can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Yaml,
    Porcelain,
    Dot,
    Svg,
    Automaton,
    ResidualC,
    Daikon,
    Sarif,
    Gitlab,
    Github,
    Html,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Yaml => "yaml",
            Format::Porcelain => "porcelain",
            Format::Dot => "dot",
            Format::Svg => "svg",
            Format::Automaton => "automaton",
            Format::ResidualC => "residual-c",
            Format::Daikon => "daikon",
            Format::Sarif => "sarif",
            Format::Gitlab => "gitlab",
            Format::Github => "github",
            Format::Html => "html",
        }
    }
}

impl Context {
    /// Moves to the directory that `-C` names and gets the output ready.
    pub fn new(globals: GlobalArgs, separated: bool) -> Result<Context, CliError> {
        // Each -C is relative to the one before, as with git; an empty one changes nothing.
        for directory in globals.change_dir.iter().filter(|d| !d.as_os_str().is_empty()) {
            std::env::set_current_dir(directory).map_err(|e| {
                CliError::fatal(format!("cannot change to '{}'", directory.display())).caused_by(&e)
            })?;
        }
        Context::of(globals, separated, Arc::default())
    }

    fn of(globals: GlobalArgs, separated: bool, known: Arc<Known>) -> Result<Context, CliError> {
        let configured = || known.listing(&globals).map(DisplayConfig::of).unwrap_or_default();
        let output = Output::new(&globals, configured)?;
        Ok(Context { globals, output, separated, interrupt: None, is_interrupted: false, known })
    }

    /// Does work that an interrupt ends early, so that what was found until then can be shown.
    pub fn interruptible<T>(&mut self, work: impl FnOnce(&mut Context) -> T) -> T {
        // Where signals cannot be caught they do what they always do.
        self.interrupt = Interrupt::caught_once().ok();
        let done = work(self);
        if let Some(interrupt) = &mut self.interrupt {
            self.is_interrupted = interrupt.is_there();
            interrupt.work_is_over(self.output.may_page());
        }
        done
    }

    /// Whether what is being done is to end, for whoever does it.
    pub fn asked_to_end(&self) -> Asked {
        self.interrupt.as_ref().map(Interrupt::asked).unwrap_or_default()
    }

    /// Whether an interrupt ended the work.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Ends the process where an interrupt ended the work, as that would have.
    pub fn end_interrupted(&self) {
        if let Some(interrupt) = self.interrupt.as_ref().filter(|_| self.is_interrupted) {
            interrupt.end();
        }
    }

    /// What runs within this command gets.
    pub(super) fn inner(&self) -> Inner {
        let globals = GlobalArgs {
            // The process has moved there already.
            change_dir: Vec::new(),
            // Nothing is printed by it, so nobody needs to ask git about colours.
            output: None,
            quiet: true,
            no_color: true,
            no_pager: true,
            // Who compares many versions shows how far that is.
            progress: false,
            ..self.globals.clone()
        };
        Inner { globals, known: self.known.clone() }
    }

    /// Returns what git's configuration says.
    pub(super) fn git_config(&self, repository: &Repository) -> Result<&GitConfig, ConfigError> {
        if let Some(known) = self.known.config.get() {
            return Ok(known);
        }
        let found = match self.known.listing(&self.globals) {
            Some(listing) => GitConfig::of(listing)?,
            // What is wrong with it is said by git.
            None => GitConfig::load(repository.git())?,
        };
        Ok(self.known.config.get_or_init(|| found))
    }

    /// Whether a key of git's configuration, in lower case, is clearly true.
    pub(super) fn is_configured(&self, key: &str) -> bool {
        self.known.listing(&self.globals).is_some_and(|listing| listing.is_true(key))
    }

    /// Returns the repository that `find` finds, once.
    pub(super) fn repository(&self, find: impl FnOnce() -> Result<Git, CliError>) -> Result<Git, CliError> {
        if let Some(known) = self.known.repository.get() {
            return Ok(known.clone());
        }
        let found = find()?;
        Ok(self.known.repository.get_or_init(|| found).clone())
    }

    /// Returns the format that was asked for, the first of `known` if none was.
    pub fn format(&self, known: &[Format]) -> Result<Format, CliError> {
        let asked = match (&self.globals.format, self.globals.json, &self.globals.porcelain) {
            (Some(name), _, _) => name.as_str(),
            (None, true, _) => "json",
            (None, false, Some(_)) => "porcelain",
            (None, false, None) => known.first().map_or("text", |f| f.name()),
        };
        known.iter().copied().find(|f| f.name() == asked).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|f| f.name()).collect();
            CliError::usage(format!("unknown format '{asked}' for this command"))
                .hint(format!("formats: {}", names.join(", ")))
        })
    }

    /// Returns a git command that works on the same repository as this one.
    pub fn git(&self) -> Command {
        self.globals.git()
    }

    /// Prints a `warning:` line on standard error, unless `-q` was given.
    pub fn warn(&mut self, message: &str) {
        if !self.globals.quiet {
            let _ = write!(std::io::stderr(), "{}", prefixed("warning", message));
        }
    }

    /// Prints a line about what was done on standard error, unless `-q` was given.
    pub fn say(&mut self, message: &str) {
        if !self.globals.quiet {
            let _ = writeln!(std::io::stderr(), "{}", crate::report::escape::visible(message));
        }
    }

    /// Path of the git directory that the user named, if any.
    pub fn git_dir(&self) -> Option<&PathBuf> {
        self.globals.git_dir.as_ref()
    }
}

fn prefixed(word: &str, message: &str) -> String {
    message.lines().map(|line| format!("{word}: {}\n", crate::report::escape::visible(line))).collect()
}
