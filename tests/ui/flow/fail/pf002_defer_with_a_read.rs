//! A misspelt `defer` on which a read depends: one error.

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
async fn polish(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

flow! {
    WriteEssay(Essay) {
        START -> write & polish;
        defer polsh;
    }
}

fn main() {}
