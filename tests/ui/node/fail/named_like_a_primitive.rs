//! A node with the name of a type of the language.

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


#[node(Essay)]
async fn str(notes: &[String]) -> EssayDraft {
    EssayDraft(notes.concat())
}

fn main() {}
