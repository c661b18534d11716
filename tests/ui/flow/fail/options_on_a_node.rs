//! An option written as a method.
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

#[node(Essay)]
async fn polish(draft: &str) -> EssayDraft {
    EssayDraft(draft.trim().into())
}

flow! {
    WriteEssay(Essay) {
        START -> write.retry(3) -> polish;
    }
}

fn main() {}
