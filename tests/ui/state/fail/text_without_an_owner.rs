//! A key of type `str`.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: str,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn note(topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

flow!(Write(Essay) { note });

fn main() {}
