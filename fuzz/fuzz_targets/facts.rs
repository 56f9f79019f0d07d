//! Hands libFuzzer's bytes to [`invdiff_fuzz::facts`].
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invdiff_fuzz::facts(bytes));
