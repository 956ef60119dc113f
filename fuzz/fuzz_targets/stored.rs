//! Pages, records and sealed objects.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::stored::check(data));
