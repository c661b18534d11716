//! A flow that is declared like a node value: the note says what to write.
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

flow!(Inner(Essay) { write });

flow! {
    Write(Essay) {
        START -> critique -> inner;
        node inner: Inner = Inner;
    }
}

fn main() {}
