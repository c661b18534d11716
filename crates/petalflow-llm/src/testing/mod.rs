//! Recorded answers of models, for tests.

mod cassette;

pub use cassette::Cassette;
