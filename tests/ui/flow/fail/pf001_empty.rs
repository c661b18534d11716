//! A flow without edges.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

flow! {
    WriteEssay(Essay) {
    }
}

fn main() {}
