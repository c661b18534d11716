//! A flow that has the name of a key's type. The first error names the mistake.

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
