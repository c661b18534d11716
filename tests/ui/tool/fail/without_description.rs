//! A tool without a description is a warning, which is an error here.

#![deny(deprecated)]

use petalflow::prelude::*;

#[tool]
fn search(topic: String) -> String {
    topic
}

fn main() {}
