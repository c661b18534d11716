//! A node with the name of a keyword.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn r#loop() {}

flow! {
    WriteEssay(Essay) {
        START -> loop;
    }
}

fn main() {}
