//! A key that is missing for a node and for its guards is one mistake.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    score: u32,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn publish(draft: &str, score: &u32) {
    let _ = (draft, score);
}

flow! {
    WriteEssay(Essay) {
        write -> publish;
        interrupt before publish if |score: &u32| *score > 3;
        interrupt after publish if |score: &u32| *score > 3;
    }
}

fn main() {}
