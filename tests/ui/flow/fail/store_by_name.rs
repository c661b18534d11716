//! A file name instead of a store.
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
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow!(WriteEssay(Essay) { write });

fn main() {
    WriteEssay::new().store("threads.db");
}
