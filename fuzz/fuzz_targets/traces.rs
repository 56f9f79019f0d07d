//! Hands libFuzzer's bytes to [`invdiff_fuzz::traces`].
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invdiff_fuzz::traces(bytes));
