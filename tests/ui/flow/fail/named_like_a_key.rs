//! A flow that has the name of a key's type is one error, which says so.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow!(EssayDraft(Essay) { START -> write });

fn main() {}
