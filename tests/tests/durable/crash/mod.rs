//! Flows that crash wherever they can, and go on as if they had not.
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
