//! A tool with the name of a type of the language.

use petalflow::prelude::*;

/// Looks something up.
#[tool]
fn str(topic: String) -> String {
    topic
}

fn main() {}
