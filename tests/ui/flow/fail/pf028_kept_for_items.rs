//! A sub-flow that runs once per item and keeps its state.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topics: Vec<String>,
    #[key(append)]
    notes: Vec<String>,
}

#[state]
struct Review {
    #[key(input)]
    text: String,
    #[key(append)]
    remarks: Vec<String>,
}

#[node(Review)]
async fn read(text: &str) -> ReviewRemarks {
    ReviewRemarks(vec![text.into()])
}

flow!(ReviewEssay(Review) { read });

#[node(Essay)]
async fn plan(topics: &[String]) -> Each<String> {
    Each(topics.to_vec())
}

flow! {
    WriteEssay(Essay) {
        plan -> each review;
        node review: ReviewEssay {
            in: |#[item] topic: &String| topic.clone(),
            out: |r: Review| EssayNotes(r.remarks),
            keep: thread,
        };
    }
}

fn main() {}
