//! An item in a tuple that cannot be stored: the error is about the item, and not about the tuple.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(append)]
    notes: Vec<String>,
}

struct Part {
    text: String,
}

#[node(Essay)]
async fn plan(topic: &str) -> petalflow::Result<(EssayNotes, Each<Part>)> {
    let text = topic.to_owned();
    Ok((EssayNotes(vec![]), Each(vec![Part { text }])))
}

fn main() {}
