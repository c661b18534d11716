//! A checkpoint, from any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| petalflow::checkpoint::fuzz::record(bytes));
