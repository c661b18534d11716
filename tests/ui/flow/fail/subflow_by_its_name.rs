//! A flow instead of a node.
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

#[state]
struct Review {
    #[key(input)]
    text: String,
    score: u32,
}

#[node(Review)]
async fn rate(text: &str) -> ReviewScore {
    ReviewScore(text.len() as u32)
}

flow!(RateText(Review) { rate });

flow! {
    WriteEssay(Essay) {
        START -> write -> RateText;
    }
}

fn main() {}
