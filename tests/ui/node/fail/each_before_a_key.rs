//! `Each` before a key: it comes last.
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

#[node(Essay)]
async fn plan(topic: &str) -> (Each<String>, EssayNotes) {
    (Each(vec![]), EssayNotes(vec![topic.into()]))
}

fn main() {}
