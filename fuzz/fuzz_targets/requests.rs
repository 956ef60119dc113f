//! Requests of any kind to any route.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::requests::check(data));
