//! A list of writes.
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
async fn write(topic: &str) -> Vec<EssayNotes> {
    vec![EssayNotes(vec![topic.into()])]
}

fn main() {}
