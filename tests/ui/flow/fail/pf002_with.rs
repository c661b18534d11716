//! `with` names a node that the flow does not have.

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

flow! {
    WriteEssay(Essay) {
        START -> write -> polish;
        with audit { retry: 3 };
    }
}

fn main() {}
