//! A git that is watched: it counts how often it is called, and at one call ends the process that called. So a test
//! stops a program at a point that it names, however fast the machine is.

use super::*;
use rustix::process::Signal;
use std::path::PathBuf;

/// When a signal is sent.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// Before git does what it was called for. It does it then, if it is not ended itself.
    Before,
    /// When git has done it.
    After,
}

/// Who gets a signal.
#[derive(Clone, Copy, Debug)]
pub enum Whom {
    /// Who called git. A git that runs goes on, with the end of what it was to read.
    Caller,
    /// All of its process group, which is that of the caller too.
    Group,
}

/// One call of git, the first being 1, and what happens at it.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    pub call: usize,
    pub when: When,
    pub whom: Whom,
    pub signal: Signal,
}

/// A `git` in a folder of its own.
pub struct WatchedGit {
    folder: PathBuf,
}

impl WatchedGit {
    /// Puts it beside a repository.
    pub fn beside(repo: &TempRepo) -> Self {
        let folder = repo.root().join("watched");
        std::fs::create_dir_all(&folder).unwrap();
        WatchedGit { folder }
    }

    fn calls(&self) -> PathBuf {
        self.folder.join("calls")
    }

    /// The commands of git that the last command that was set up has called, in their order.
    pub fn called(&self) -> Vec<String> {
        let calls = (1..).map(|call| std::fs::read_to_string(self.calls().join(call.to_string())).ok());
        calls.map_while(|command| command).collect()
    }

    /// Waits until the git that was called when its caller was ended is over, too.
    pub fn await_orphan(&self) {
        while !self.folder.join("over").exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Makes it the git of a command, with the count at nothing. The command leads a process group.
    pub fn watch(&self, command: &mut Command, stop: Option<Stop>) {
        use std::os::unix::process::CommandExt;
        let _ = std::fs::remove_dir_all(self.calls());
        std::fs::create_dir(self.calls()).unwrap();
        let over = self.folder.join("over");
        let _ = std::fs::remove_file(&over);
        let path = std::env::var("PATH").unwrap_or_default();
        let at = match stop {
            None => String::new(),
            Some(Stop { call, when, whom, signal }) => {
                let whom = match whom {
                    Whom::Caller => "$PPID",
                    // Of the group that the caller leads.
                    Whom::Group => "-$PPID",
                };
                let kill = format!("kill -s {} -- \"{whom}\"", signal.as_raw());
                let [before, after] = match when {
                    When::Before => [kill.as_str(), ":"],
                    When::After => [":", kill.as_str()],
                };
                let over = over.display();
                format!(
                    "if [ $n = {call} ]; then {before}; git \"$@\"; c=$?; {after}; : > '{over}'; exit $c; fi\n"
                )
            }
        };
        // The file of a number is made by one caller only.
        let text = format!(
            "#!/bin/sh\nPATH='{path}'\nn=1\nset -C\n\
             while ! {{ printf %s \"$1\" > '{calls}/'$n; }} 2>/dev/null; do n=$((n + 1)); done\nset +C\n{at}exec git \"$@\"\n",
            calls = self.calls().display(),
        );
        let program = self.folder.join("git");
        std::fs::write(&program, text).unwrap();
        make_executable(&program);
        command.env("PATH", format!("{}:{path}", self.folder.display())).process_group(0);
    }
}
