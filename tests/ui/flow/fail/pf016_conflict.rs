//! Two writers of one key in one superstep.

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
async fn rewrite() -> EssayDraft {
    EssayDraft(String::new())
}

flow! {
    WriteEssay(Essay) {
        START -> write & rewrite -> polish;
    }
}

fn main() {}
