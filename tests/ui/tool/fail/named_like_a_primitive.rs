//! Tools with the names of types of the language.

use petalflow::prelude::*;

/// Looks something up.
#[tool]
fn str(topic: String) -> String {
    topic
}

/// Counts.
#[tool]
fn u64(start: u64) -> u64 {
    start + 1
}

fn main() {}
