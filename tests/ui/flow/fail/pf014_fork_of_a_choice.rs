//! A choice together with another edge.

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
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn audit() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn rewrite() -> EssayDraft {
    EssayDraft(String::new())
}

flow! {
    WriteEssay(Essay) {
        START -> write -> (polish | audit) & rewrite;
    }
}

fn main() {}
