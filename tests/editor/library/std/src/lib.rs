//! See `core`.
#![no_std]

pub use core::*;
