//! A checkpoint, from any bytes.
#![no_main]

#[path = "../record.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::record(bytes));
