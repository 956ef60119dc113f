//! Ranges and conditions.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::headers::check(data));
