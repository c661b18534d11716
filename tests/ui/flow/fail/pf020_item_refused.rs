//! `each` into a node that takes no item.

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
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn plan() -> Each<String> {
    Each(vec![])
}

flow! {
    WriteEssay(Essay) {
        START -> plan -> each polish;
    }
}

fn main() {}
