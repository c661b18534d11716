//! The attribute twice, from two edits.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
#[node(Essay, retry = 3)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow! {
    Write(Essay) {
        write;
    }
}

fn main() {}
