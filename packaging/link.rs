//! Build script: how the program is linked.
//!
//! An executable that may be loaded anywhere has a list of the words that its loader has to shift. Written out it takes
//! 860 kB of this one; packed (`DT_RELR`), 17 kB. The loader of glibc reads that since 2.36, so it is asked for only
//! where the program is linked for the machine that it is built on, and that one has it.

use std::process::Command;

/// The first glibc that loads packed relocations.
const PACKED: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=packaging/link.rs");
    let is_own = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    let is_gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if is_own && is_gnu && glibc().is_some_and(|version| version >= PACKED) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of the C library that runs here.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    // `2.36`, or `2.36.9000` of a development version.
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
