//! Helpers for testing flows and what they are made of.

mod reducer;

pub use reducer::check_reducer;
