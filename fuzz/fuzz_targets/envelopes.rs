//! Hands libFuzzer's bytes to [`invdiff_fuzz::envelopes`].
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invdiff_fuzz::envelopes(bytes));
