//! A misspelt attribute of a field. Its options are still read.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    #[keys(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

flow!(Write(Essay) { write });

fn main() {}
