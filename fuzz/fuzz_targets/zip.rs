//! Zip archives.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::zip::check(data));
