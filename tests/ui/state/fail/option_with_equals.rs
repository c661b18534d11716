//! An option of a key after `=` in place of parentheses. It keeps its meaning, so that there is no second error.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    #[key = append]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str, notes: &[String]) -> EssayNotes {
    EssayNotes(vec![topic.into(), notes.concat()])
}

flow!(Write(Essay) { write });

fn main() {}
