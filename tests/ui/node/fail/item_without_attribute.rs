//! An item without `#[item]`: rustc finds no such key, and the edge that delivers the item is not reported too.
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
async fn dig(part: &String) -> EssayNotes {
    EssayNotes(vec![part.clone()])
}

flow!(Write(Essay) { plan -> each dig });

fn main() {}
