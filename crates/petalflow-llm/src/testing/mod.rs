//! Recorded model responses, for tests.

mod cassette;

pub use cassette::Cassette;
