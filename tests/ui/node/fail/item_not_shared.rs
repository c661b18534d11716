//! An item that threads cannot share: one error where it is taken, and one where it is sent.
use std::rc::Rc;

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
async fn plan(topic: &str) -> Each<Rc<String>> {
    Each(vec![Rc::new(topic.into())])
}

#[node(Essay)]
async fn dig(#[item] part: &Rc<String>) -> EssayNotes {
    EssayNotes(vec![part.to_string()])
}

flow!(Write(Essay) { plan -> each dig });

fn main() {}
