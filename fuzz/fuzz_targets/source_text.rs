//! Hands libFuzzer's bytes to [`invdiff_fuzz::source_text`].
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invdiff_fuzz::source_text(bytes));
