//! A flow with two states. It can have only one.
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
async fn critique(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

#[state]
struct Review {
    #[key(input)]
    draft: String,
}

flow! {
    Write(Essay, Review) {
        write -> critique;
    }
}

fn main() {
    let _ = Write::run("petals".to_string());
}
