//! A guard that reads a key of another state.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[state]
struct Letter {
    #[key(input)]
    address: String,
    stamp: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow! {
    WriteEssay(Essay) {
        write;
        interrupt before write if |#[key(LetterStamp)] stamp: &str| stamp.is_empty();
    }
}

fn main() {}
