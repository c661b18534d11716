//! The misspelt source of a `catch` whose target has no other edge: one error.

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
async fn recover() {}

flow! {
    WriteEssay(Essay) {
        START -> write;
        catch wriet -> recover;
    }
}

fn main() {}
