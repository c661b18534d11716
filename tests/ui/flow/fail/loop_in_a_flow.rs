//! A loop over items.
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
async fn plan(topic: &str) -> Each<String> {
    Each(vec![topic.into()])
}

#[node(Essay)]
async fn dig(#[item] part: &String) -> EssayNotes {
    EssayNotes(vec![part.clone()])
}

flow! {
    WriteEssay(Essay) {
        START -> plan;
        for part in plan { dig };
    }
}

fn main() {}
