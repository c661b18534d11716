//! A node that runs on several items and writes a key that keeps one value.

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
async fn draft_part(#[item] topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow! {
    WriteEssay(Essay) {
        START -> plan -> each draft_part;
    }
}

fn main() {}
