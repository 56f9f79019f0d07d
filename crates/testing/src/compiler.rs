//! The C compiler of oracles, which compile and link thousands of small programs.

use std::process::Command;
use std::sync::OnceLock;

/// The C compiler, with the quickest linker that it has: with the sanitizers' libraries GNU's default one takes three
/// times as long as gold, and longer than compiling does.
pub fn compiler() -> Command {
    static HAS_GOLD: OnceLock<bool> = OnceLock::new();
    let has_gold = HAS_GOLD.get_or_init(|| {
        let asked = Command::new("cc").args(["-fuse-ld=gold", "-Wl,--version"]).output();
        asked.is_ok_and(|o| o.status.success() && String::from_utf8_lossy(&o.stdout).contains("gold"))
    });
    let mut command = Command::new("cc");
    command.env("TMPDIR", crate::scratch::place());
    if *has_gold {
        command.arg("-fuse-ld=gold");
    }
    command
}
