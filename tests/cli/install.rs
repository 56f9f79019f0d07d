//! `install.sh` on machines that are made up of stand-ins: what it asks which package manager for, and
//! what it says where it cannot go on. Nothing is installed, built or fetched.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The only folder on the script's `PATH`, beside a copy of the script. Every call of a stand-in is a line
/// of `log`. The file `z3` holds the version of Z3 that the stand-in for `cc` links; it appears when a
/// package manager is run; with a file `offline` package managers fail, with `on-path` the folder that is
/// installed into comes last on the `PATH`.
struct Machine {
    folder: tempfile::TempDir,
    /// A process that another test starts while a program is written would keep it from being run.
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

/// What the script takes from any Unix.
const TOOLS: &str = "sh cat cp cut dirname env head mkdir mktemp mv rm sed sort uname";

impl Machine {
    /// Git, Rust and `programs`, run as the user `uid`.
    fn new(uid: u32, programs: &str) -> Machine {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = Machine { folder: invdiff_testing::scratch(), _alone: alone };
        for folder in ["bin", "home", "source"] {
            std::fs::create_dir(machine.path(folder)).unwrap();
        }
        for file in ["install.sh", "Cargo.toml"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            std::fs::copy(from, machine.path("source").join(file)).unwrap();
        }
        let path = std::env::var_os("PATH").unwrap();
        for tool in TOOLS.split(' ') {
            let found =
                std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.exists());
            symlink(found.expect(tool), machine.path("bin").join(tool)).unwrap();
        }
        machine.program("id", &format!("echo {uid}"));
        machine.program("rustc", "echo 'rustc 1.95.0 (59807616e 2026-04-14)'");
        let here = machine.path("source");
        machine.program(
            "cargo",
            &format!(
                "case $1 in\nbuild) mkdir -p target/release; cp ../bin/built target/release/git-invdiff;;\n\
                 metadata) echo '{{\"packages\":[],\"target_directory\":\"{}/target\",\"version\":1}}';;\nesac",
                here.display()
            ),
        );
        machine.program("built", "exit 0");
        for program in programs.split_whitespace() {
            machine.program(program, machine.stand_in(program));
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// What a program does beside being logged.
    fn stand_in(&self, program: &str) -> &'static str {
        match program {
            "git" => "[ \"$1\" != invdiff ] || { shift; exec git-invdiff \"$@\"; }",
            "pkg-config" => "[ -e \"$MACHINE/z3\" ] && echo -lz3",
            "cc" => {
                "read -r z3 <\"$MACHINE/z3\" || exit; case $* in *-lz3*c++) ;; *) exit 1;; esac\n\
                 while [ \"$1\" != -o ]; do shift; done\n\
                 case $z3 in 4.8.12) old=0;; *) old=1;; esac\n\
                 printf '#!/bin/sh\\necho %s\\nexit %s\\n' \"$z3\" $old >\"$2\" && /bin/chmod +x \"$2\""
            }
            "sudo" => "exec \"$@\"",
            // A package manager: brings everything but for `update`.
            _ => {
                "case $1 in update) exit 0;; esac\n[ -e \"$MACHINE/offline\" ] && exit 100\n\
                 cd \"$MACHINE/bin\"; for new in later-*; do cp \"$new\" \"${new#later-}\"; done\n\
                 echo 4.8.12 >../z3"
            }
        }
    }

    fn program(&self, name: &str, text: &str) {
        let file = self.path("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\necho ${{0##*/}} \"$@\" >>\"$MACHINE/log\"\n{text}\n"))
            .unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Has programs come with the packages instead of being there.
    fn without(self, programs: &str) -> Machine {
        for name in programs.split_whitespace() {
            self.program(&format!("later-{name}"), self.stand_in(name));
            let _ = std::fs::remove_file(self.path("bin").join(name));
        }
        self
    }

    fn file(self, name: &str, text: &str) -> Machine {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    /// Runs the script; returns whether it succeeded, what it printed, and what it called.
    fn install(&self, words: &[&str]) -> (bool, String, String) {
        let mut path = self.path("bin").into_os_string();
        if self.path("on-path").exists() {
            path.push(":");
            path.push(self.path("home/.local/bin"));
        }
        let output = Command::new("/bin/sh")
            .arg(self.path("source").join("install.sh"))
            .args(words)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("MACHINE", self.path(""))
            .current_dir("/")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        (output.status.success(), text(&output.stdout) + &text(&output.stderr), log)
    }
}

/// The script succeeds or not, and prints and calls all of these.
#[track_caller]
fn check(machine: Machine, succeeds: bool, printed: &[&str], called: &[&str]) {
    let (success, text, log) = machine.install(&[]);
    assert_eq!(success, succeeds, "{text}\n{log}");
    for part in printed {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for line in called {
        assert!(log.lines().any(|l| l == *line), "{line}\n{log}");
    }
    let built = log.contains("cargo build --release --locked --bin git-invdiff\n");
    assert!(built == succeeds, "builds only when all is there, and then does\n{log}");
}

const DEVELOPER: &str = "git cc pkg-config";
const ENDS: [&str; 3] =
    [".local/bin is not on your PATH", "git invdiff hook install", "git invdiff HEAD~3..HEAD"];

#[test]
fn nothing_is_installed_where_all_is_there() {
    let machine = Machine::new(1000, &format!("{DEVELOPER} apt-get sudo")).file("z3", "4.8.12\n");
    let pages = format!("git-invdiff --quiet man {}", machine.path("home/.local/share/man/man1").display());
    let (_, _, log) = machine.install(&[]);
    assert!(!log.contains("apt-get") && !log.contains("sudo"), "{log}");
    check(machine, true, &ENDS, &[&pages, "git-invdiff --no-pager demo"]);
}

#[test]
fn every_package_manager_is_asked_for_what_is_missing() {
    let asked = [
        ("apt-get", "apt-get install -y -qq git gcc g++ libc6-dev pkg-config libz3-dev"),
        ("dnf", "dnf install -y -q git gcc gcc-c++ pkgconf-pkg-config z3-devel"),
        ("pacman", "pacman -S --needed --noconfirm git gcc pkgconf z3"),
        ("zypper", "zypper --non-interactive install git gcc gcc-c++ pkg-config z3-devel"),
        ("apk", "apk add --quiet git gcc g++ musl-dev pkgconf z3-dev"),
        ("brew", "brew install git pkg-config z3"),
    ];
    for (manager, call) in asked {
        // Nothing but Z3 is missing; everything is; for a user as for root.
        for missing in ["", DEVELOPER] {
            let root = Machine::new(0, &format!("{DEVELOPER} {manager}")).without(missing);
            check(root, true, &ENDS, &[call]);
            let user = Machine::new(1000, &format!("{DEVELOPER} {manager} sudo")).without(missing);
            let through_sudo = format!("sudo sh -c {call}");
            let expected = if manager == "brew" { call.to_owned() } else { through_sudo };
            let expected = expected.replace("-c apt-get", "-c DEBIAN_FRONTEND=noninteractive apt-get");
            check(user, true, &ENDS, &[call, &expected]);
        }
    }
}

#[test]
fn without_a_way_to_install_it_says_what_to_do() {
    let unknown =
        ["install.sh: no package manager that this script knows (apt, dnf, pacman, zypper, apk, brew)"];
    check(Machine::new(0, DEVELOPER), false, &unknown, &[]);
    let no_root = [
        "this is neither root nor is there sudo; as root, run:\n  apt-get update -qq\n",
        "apt-get install -y -qq git gcc g++ libc6-dev pkg-config libz3-dev\n",
    ];
    check(Machine::new(1000, &format!("{DEVELOPER} apt-get")), false, &no_root, &[]);
    let offline = Machine::new(0, &format!("{DEVELOPER} dnf")).file("offline", "").without("cc");
    let said = ["the package manager failed", "compiler: missing", "Z3, 4.8.12 or later: not known"];
    check(offline, false, &said, &[]);
    let old = Machine::new(0, &format!("{DEVELOPER} dnf")).file("offline", "").file("z3", "4.8.7\n");
    check(old, false, &["Z3, 4.8.12 or later: 4.8.7\n"], &[]);
}

#[test]
fn a_rust_that_is_missing_or_old_is_named() {
    let machine = Machine::new(0, DEVELOPER).without("cargo").file("z3", "4.8.12\n");
    check(machine, false, &["install.sh: Rust is missing", "https://rustup.rs"], &[]);
    let machine = Machine::new(0, DEVELOPER).file("z3", "4.8.12\n");
    machine.program("rustc", "echo 'rustc 1.63.0 (4b91a6ea7 2022-08-08)'");
    check(machine, false, &["Rust 1.89 or later is needed, and this is 1.63.0", "rustup update stable"], &[]);
}

#[test]
fn another_program_of_the_name_is_pointed_out() {
    let machine = Machine::new(0, DEVELOPER).file("z3", "4.8.12\n").file("on-path", "");
    machine.program("git-invdiff", "exit 1");
    let said = format!("warning: {} comes first on your PATH", machine.path("bin/git-invdiff").display());
    check(machine, true, &[&said], &["git-invdiff --no-pager demo"]);
}

#[test]
fn packages_alone_can_be_asked_for() {
    let machine = Machine::new(0, "apt-get").without(DEVELOPER);
    let (success, text, log) = machine.install(&["--packages"]);
    assert!(success && log.contains("apt-get install") && !log.contains("cargo build"), "{text}\n{log}");
}
