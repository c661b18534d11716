//! An arm as in Rust.
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

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn critique(draft: &str) -> Verdict {
    if draft.is_empty() { Verdict::Revise } else { Verdict::Publish }
}

flow! {
    WriteEssay(Essay) {
        START -> write -> critique;
        critique -> match { Revise => { write }, Publish => END };
    }
}

fn main() {}
