//! A node value of a type that is not a node.

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
        node stamp: u32 = 7;
        START -> stamp;
    }
}

fn main() {}
