//! The arms of a route that is not an enum are no further errors.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[derive(Route)]
struct Verdict;

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> Verdict {
    drop(draft.len());
    Verdict
}

flow! {
    WriteEssay(Essay) {
        START -> write -> critique;
        critique -> match { Revise => write, Publish => END };
    }
}

fn main() {}
