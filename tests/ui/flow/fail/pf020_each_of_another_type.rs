//! Items of a different type than the target takes.

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
async fn plan() -> Each<String> {
    Each(vec![])
}

#[node(Essay)]
async fn count(#[item] number: &u32) -> EssayNotes {
    EssayNotes(vec![number.to_string()])
}

flow! {
    WriteEssay(Essay) {
        START -> plan -> each count;
    }
}

fn main() {}
