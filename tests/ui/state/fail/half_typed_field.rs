//! An incomplete field: rustc reports it, and the other keys exist.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
    words
}

#[node(Essay)]
async fn write(topic: &str) -> (EssayDraft, EssayNotes) {
    (EssayDraft(topic.into()), EssayNotes(vec![]))
}

flow!(Write(Essay) { write });

fn main() {
    let _ = Write::run("petals".to_string());
}
