//! `git invdiff man`: manual pages, made from the definitions of the command line.

use crate::config::table;
use crate::report::escape;

use super::{CliError, Context, ExitCode};
use clap::Args;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes the manual pages: git-invdiff.1 and one a command
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// Folder to write the pages to; without it git-invdiff.1 goes to standard output
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

pub fn run(args: ManArgs, mut root: clap::Command, context: &mut Context) -> Result<ExitCode, CliError> {
    root.build();
    let Some(directory) = args.directory else {
        context.output.write_all(&page(&root)?)?;
        return Ok(ExitCode::Done);
    };
    std::fs::create_dir_all(&directory).map_err(|e| cannot_write(&directory, &e))?;
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        let path = directory.join(Man::new(command.clone()).get_filename());
        std::fs::write(&path, page(command)?).map_err(|e| cannot_write(&path, &e))?;
        if !context.globals.quiet {
            writeln!(context.output, "{}", escape::visible(path.to_string_lossy().as_bytes()))?;
        }
    }
    Ok(ExitCode::Done)
}

/// The generated page, but with the synopsis that `-h` prints: listing every option there helps
/// nobody.
fn page(command: &clap::Command) -> std::io::Result<Vec<u8>> {
    // The generator leaves out the help of options that `-h` does not show.
    let command = &command.clone().mut_args(|arg| arg.hide_short_help(false));
    let man = Man::new(command.clone())
        .manual("Git Manual")
        .source(concat!("git-invdiff ", env!("CARGO_PKG_VERSION")));
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    section(&mut out, "SYNOPSIS", &synopsis(command))?;
    man.render_description_section(&mut out)?;
    let is_root = command.get_name() == "git-invdiff";
    if is_root {
        man.render_subcommands_section(&mut out)?;
    } else if command.has_subcommands() {
        actions(&mut out, command)?;
    }
    man.render_options_section(&mut out)?;
    if is_root {
        for (heading, text) in SECTIONS {
            section(&mut out, heading, text)?;
            if heading == "CONFIGURATION" {
                section(&mut out, "KEYS", &table::plain())?;
            }
        }
    }
    Ok(out)
}

/// What `-h` shows after `Usage:`, one usage a line.
fn synopsis(command: &clap::Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim().strip_prefix("Usage:").unwrap_or(&usage).trim();
    usage.lines().map(|line| format!("{}\n", line.trim())).collect()
}

/// The commands below a command, which have no page of their own.
fn actions(out: &mut Vec<u8>, command: &clap::Command) -> std::io::Result<()> {
    let mut roff = Roff::default();
    roff.control("SH", ["COMMANDS"]);
    for action in command.get_subcommands() {
        roff.control("TP", []);
        roff.text([bold(action.get_name())]);
        roff.text([roman(action.get_about().map(ToString::to_string).unwrap_or_default())]);
        roff.control("RS", []);
        roff.control("nf", []);
        roff.text([roman(synopsis(action))]);
        roff.control("fi", []);
        roff.control("RE", []);
    }
    roff.to_writer(out)
}

/// A section whose lines stay lines.
fn section(out: &mut Vec<u8>, heading: &str, text: &str) -> std::io::Result<()> {
    let mut roff = Roff::default();
    roff.control("SH", [heading]);
    roff.control("nf", []);
    text.lines().for_each(|line| {
        roff.text([roman(line)]);
    });
    roff.control("fi", []);
    roff.to_writer(out)
}

const SECTIONS: [(&str, &str); 4] = [
    (
        "EXIT STATUS",
        "0    done, nothing to object to\n\
         1    a churn under --exit-code, a regression, or a hook that blocks\n\
         3    something could not be decided, under --strict\n\
         128  fatal: no repository, a bad revision, an unreadable object\n\
         129  the command line cannot be understood",
    ),
    (
        "CONFIGURATION",
        "git config invdiff.*, and .invdiff.yaml at the top of the tree.\n\
         color.invdiff, color.invdiff.<slot>, pager.invdiff are as git's.\n\
         Slots: commit, file, hunk, removed, added, status, heading, warning.",
    ),
    (
        "ENVIRONMENT",
        "GIT_PAGER, PAGER, LESS, NO_COLOR, TERM, COLUMNS as for git.\n\
         INVDIFF_CONFIG, INVDIFF_JOBS, INVDIFF_RLIMIT, INVDIFF_CACHE_DIR, INVDIFF_NO_CACHE are settings,\n\
         between git config and the command line.\n\
         INVDIFF_SKIP=1 makes the hooks do nothing.",
    ),
    (
        "EXAMPLES",
        "git invdiff                        the working tree against HEAD\n\
         git invdiff --staged               what is about to be committed\n\
         git invdiff HEAD~3..HEAD           the last three commits\n\
         git invdiff v1.0 v2.0 -- src       two releases, one folder\n\
         git invdiff HEAD~3.. --var n       only facts about n\n\
         git invdiff HEAD~3.. --hunk a.c:12 only facts that this line affects\n\
         git invdiff check --staged         which properties does the commit break?",
    ),
];

fn cannot_write(path: &Path, error: &std::io::Error) -> CliError {
    CliError::fatal(format!("cannot write '{}'", path.display())).caused_by(error)
}
