//! A plain edge between a node that returns items and a node that takes them: one error.

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
    Each(vec![String::new()])
}

#[node(Essay)]
async fn research(#[item] subject: &str) -> EssayNotes {
    EssayNotes(vec![subject.into()])
}

flow! {
    WriteEssay(Essay) {
        START -> plan -> research;
    }
}

fn main() {}
