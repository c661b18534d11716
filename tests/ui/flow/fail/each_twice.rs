//! `each each`.
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
async fn plan(topic: &str) -> Each<String> {
    Each(vec![topic.into()])
}

#[node(Essay)]
async fn dig(#[item] part: &str) -> EssayNotes {
    EssayNotes(vec![part.into()])
}

flow!(Write(Essay) { plan -> each each dig });

fn main() {}
