//! Flows that crash at each possible point, and then resume with the same result.
#![allow(
    clippy::ref_option,
    reason = "a key is read by reference, whatever its type"
)]

mod effects;
mod gates;
mod mended;
mod people;
mod reducers;
mod shapes;
