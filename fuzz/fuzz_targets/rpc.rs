//! Messages to `/v2/rpc`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rpc::check(data));
