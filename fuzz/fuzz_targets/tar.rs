//! Tar archives, plain and compressed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::tar::check(data));
