//! A name that only an unreadable edge contains is not reported. A name that does not exist is.
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

#[node(Essay)]
async fn report(notes: &[String]) {
    let _ = notes;
}

flow! {
    Write(Essay) {
        write --> critique -> report;
        defer report;
        with critique { retry: 3 };
        interrupt after critque;
    }
}

fn main() {
    let _ = Write::run("petals".to_string());
}
