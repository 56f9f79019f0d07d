//! Hands libFuzzer's bytes to [`invdiff_fuzz::git_config`].
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invdiff_fuzz::git_config(bytes));
