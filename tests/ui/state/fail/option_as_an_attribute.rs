//! An option of a key as an attribute of its own. It has its meaning, so that no second error follows.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[input]
    topic: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

flow!(Write(Essay) { write });

fn main() {}
