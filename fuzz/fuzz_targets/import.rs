//! Exported snapshots that are taken in.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::import::check(data));
