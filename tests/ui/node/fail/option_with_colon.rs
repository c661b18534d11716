//! An option of an attribute is written with `=`, and an option of a flow with `:`.
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

#[node(Essay, retry: 3, timeout = 30s)]
async fn polish(draft: &str) -> EssayDraft {
    EssayDraft(draft.into())
}

#[node(Essay, cache(1h), retry = of(3 4))]
async fn check(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

fn main() {}
