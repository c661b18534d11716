//! A node is a type, and so is a module: rustc reports the name at the function.
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
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

mod review {
    pub fn words(text: &str) -> usize {
        text.len()
    }
}

#[node(Essay)]
async fn review(draft: &str) -> EssayNotes {
    EssayNotes(vec![review::words(draft).to_string()])
}

flow! {
    Write(Essay) {
        write -> critique;
    }
}

fn main() {
    let _ = Write::run("petals".to_string());
}
