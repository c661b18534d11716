//! A `catch` into a node that takes another item.

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
async fn research(#[item] topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

flow! {
    WriteEssay(Essay) {
        START -> write;
        catch write -> research;
    }
}

fn main() {}
