//! A guard after a node reads a key that the node does not always write.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    score: u32,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn rate(draft: &str) -> Option<EssayScore> {
    draft.parse().ok().map(EssayScore)
}

#[node(Essay)]
async fn publish(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

flow! {
    WriteEssay(Essay) {
        START -> write -> rate -> publish;
        interrupt after rate if |score: &u32| *score > 3;
    }
}

fn main() {}
