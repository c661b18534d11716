//! The tests in the programs of the documents.

include!(concat!(env!("OUT_DIR"), "/testing.rs"));
