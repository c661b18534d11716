//! Recorded model responses, for tests.

mod cassette;
mod differences;

pub use cassette::Cassette;
pub use differences::differences;
