//! Values of several types, from any bytes.
#![no_main]

#[path = "../values.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::values(bytes));
