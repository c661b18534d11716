//! An option of a key as a separate attribute. It keeps its meaning, so that there is no second error.
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
