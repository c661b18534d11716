//! An item that threads cannot share: one error at the node that takes it, and one at the node that sends it.
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
