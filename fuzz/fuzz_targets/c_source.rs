//! Hands libFuzzer's bytes to [`invdiff_fuzz::c_source`].
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invdiff_fuzz::c_source(bytes));
