//! Values of several types, from any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| petalflow::checkpoint::fuzz::values(bytes));
