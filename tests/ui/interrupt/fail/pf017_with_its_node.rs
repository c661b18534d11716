//! A key that both a node and its guards lack is one error.

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
