//! A failure that is caught after the name of the node.

use petalflow::prelude::*;

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(append)]
    notes: Vec<String>,
    draft: String,
}

#[node(Essay)]
async fn plan(topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.to_string()])
}

#[node(Essay)]
async fn write(notes: &[String]) -> EssayDraft {
    EssayDraft(notes.join(" "))
}


flow!(Write(Essay) { plan -> write; write catch => plan });

fn main() {}
